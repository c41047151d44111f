"""Plain Python: a module that needs the standard library alone, with the function `predict(row)`."""

from __future__ import annotations

from adaline.exporting.program import ABSENT, UNKNOWN, Program, input_notes
from adaline.exporting.tree import Label

HELPERS = {
    "finite": "def finite(x):\n    return x if math.isfinite(x) else nan",
    "number": "def number(x):\n    return nan if x is None else float(x)",
    "level": "def level(value, levels):\n"
    f"    if value is None or value != value:\n        return {ABSENT}\n"
    "    text = str(value)\n"
    f"    return levels.get(text, levels.get(text.strip(), {UNKNOWN}))",
    "exact": "def exact(value, levels):\n"
    f"    return {ABSENT} if value is None or value != value else levels.get(str(value), {UNKNOWN})",
    "divided": "def divided(x, y):\n"
    "    if y:\n        return x / y\n"
    "    return nan if x != x or x == 0 else math.copysign(inf, x) * math.copysign(1.0, y)",
    "exp": "def exp(x):\n    return inf if x > 709.7827128933841 else math.exp(x)",
    "expm1": "def expm1(x):\n    return inf if x > 709.7827128933841 else math.expm1(x)",
    "log": "def log(x):\n    return math.log(x) if x > 0 else -inf if x == 0 else nan",
    "log2": "def log2(x):\n    return math.log2(x) if x > 0 else -inf if x == 0 else nan",
    "log10": "def log10(x):\n    return math.log10(x) if x > 0 else -inf if x == 0 else nan",
    "log1p": "def log1p(x):\n    return math.log1p(x) if x > -1 else -inf if x == -1 else nan",
    "sqrt": "def sqrt(x):\n    return math.sqrt(x) if x >= 0 else nan",
    "sin": "def sin(x):\n    return math.sin(x) if math.isfinite(x) else nan",
    "cos": "def cos(x):\n    return math.cos(x) if math.isfinite(x) else nan",
    "floor": "def floor(x):\n    return float(math.floor(x)) if math.isfinite(x) else x",
    "power": "def power(x, y):\n"
    "    try:\n        return math.pow(x, y)\n"
    "    except ValueError:\n        return nan\n"
    "    except OverflowError:\n        return inf",
    "largest": "def largest(scores):\n    return scores.index(max(scores))",
}
NAMES = {"abs": "abs", "tanh": "math.tanh", "erfc": "math.erfc", "is_finite": "math.isfinite", "pow": "power"}


class PythonProgram(Program):
    """A module: COLUMNS, CLASSES and `predict(row)`."""

    missing = "nan"
    conjunction = "and"

    def number(self, value: float) -> str:
        return repr(value)

    def field_names(self, names: list[str]) -> list[str]:
        return [f"x{k}" for k in range(len(names))]

    def field(self, k: int) -> str:
        return self.fields[k]

    def declare(self, name: str, kind: str, text: str) -> str:
        return f"{name} = {text}"

    def operation(self, sign: str, left: str, right: str, strength: int) -> tuple[str, int]:
        if sign == "/" and not right.replace(".", "").replace("e", "").replace("-", "").replace("+", "").isdigit():
            return f"divided({left}, {right})", 9
        return super().operation(sign, left, right, strength)

    def function(self, name: str, given: list[str]) -> str:
        if name == "is_missing":
            return f"({given[0]} != {given[0]})"
        if name in ("min", "max"):
            sign = "<" if name == "min" else ">"
            one, other = given
            return f"(({one}) if ({one}) {sign} ({other}) or ({one}) != ({one}) else ({other}))"
        return f"{NAMES.get(name, name)}({', '.join(given)})"

    def choice(self, condition: str, yes: str, no: str) -> str:
        return f"{yes} if {condition} else {no}"

    def found_number(self, text: str, levels: tuple[Label, ...]) -> str:
        table = f"LEVELS{len(self.tables)}"
        self.tables.append(f"{table} = {{{', '.join(f'{one!r}: {k}' for k, one in enumerate(levels))}}}")
        return f"({ABSENT} if {text} != {text} else {table}.get({text}, {UNKNOWN}))"

    def found_level(self, text: str, levels: tuple[Label, ...], verbatim: bool) -> str:
        table = f"LEVELS{len(self.tables)}"
        self.tables.append(f"{table} = {{{', '.join(f'{one!a}: {k}' for k, one in enumerate(levels))}}}")
        return f"{'exact' if verbatim else 'level'}({text}, {table})"

    def table(self, name: str, numbers: list[str]) -> str:
        return f"{name} = [{', '.join(numbers)}]"

    def best(self, scores: list[str], own: list[int]) -> str:
        if len(own) == 1:
            return str(own[0])
        if len(scores) == 1:
            return f"({own[1]} if {scores[0]} > 0 else {own[0]})"
        found = f"largest([{', '.join(scores)}])"
        return found if own == list(range(len(scores))) else f"{own}[{found}]"

    def source(self) -> str:
        reads = []
        for field, one in zip(self.fields, self.inputs, strict=True):
            value = f"row.get({one.name!a})"
            reads.append(f"{field} = {value if one.is_text else f'number({value})'}")
        results = []
        for group, keys in self.groups.items():
            values = [self.of(self.nodes[f"{group}/{key}"], 0) for key in keys]
            if group == "prediction" and self.kind(self.nodes[f"{group}/{keys[0]}"]) == "label":
                reads_best = f"best = {values[0]}"
                self.statements.append(reads_best)
                result = f"None if best < 0 else {'CLASSES[best]' if self.classes else 'best'}"
            elif len(values) == 1:
                result = f"known({values[0]})"
            else:
                result = f"[{', '.join(f'known({value})' for value in values)}]"
            results.append(f'"{group}": {result}')
        lines = [*reads, *self.statements, f"return {{{', '.join(results)}}}"]
        written = "\n".join(lines)
        helpers = [text for name, text in HELPERS.items() if f"{name}(" in written]
        columns = [(one.name, what) for one, what in zip(self.inputs, input_notes(self.inputs), strict=True)]
        shown = ", ".join(f"({name!a}, {what!a})" for name, what in columns)
        return "\n".join(
            [
                '"""What a fitted linear system predicts for a row, a dict by the names in COLUMNS; made by adaline.',
                "",
                "None and NaN are missing; what the model refuses is None.",
                '"""',
                "",
                "import math",
                "",
                "inf, nan = math.inf, math.nan",
                f"COLUMNS = [{shown}]",
                *([f"CLASSES = [{', '.join(map(ascii, self.classes))}]"] if self.classes else []),
                *self.tables,
                "\n",
                "\n\n\n".join([*helpers, "def known(x):\n    return x if x == x else None"]),
                "\n",
                "def predict(row):",
                *(f"    {line}" for line in lines),
                "",
            ]
        )
