"""JavaScript: a module with the function `predict(row)`, for browsers and servers."""

from __future__ import annotations

import json
import math

from adaline.exporting.program import ABSENT, UNKNOWN, WHITE, Program, input_notes
from adaline.exporting.tree import Label

HELPERS = {
    "finite": "const finite = (x) => (Number.isFinite(x) ? x : NaN);",
    "number": "const number = (x) => (typeof x === 'number' ? x : typeof x === 'boolean' ? Number(x) : NaN);",
    "trim": f"const blanks = new Set({json.dumps(list(WHITE))});\n"
    "const trim = (text) => {\n"
    "  const letters = Array.from(text);\n"
    "  let first = 0, last = letters.length;\n"
    "  while (first < last && blanks.has(letters[first])) first += 1;\n"
    "  while (first < last && blanks.has(letters[last - 1])) last -= 1;\n"
    "  return letters.slice(first, last).join('');\n};",
    "level": "const level = (value, levels) => {\n"
    f"  if (value === null || value === undefined || Number.isNaN(value)) return {ABSENT};\n"
    "  const text = String(value);\n"
    f"  return levels.get(text) ?? levels.get(trim(text)) ?? {UNKNOWN};\n}};",
    "exact": "const exact = (value, levels) => {\n"
    f"  if (value === null || value === undefined || Number.isNaN(value)) return {ABSENT};\n"
    f"  return levels.get(String(value)) ?? {UNKNOWN};\n}};",
    "largest": "const largest = (scores) => scores.indexOf(Math.max(...scores));",
}


class JavaScriptProgram(Program):
    """A module: `classes`, `columns` and `predict(row)`."""

    lacking = ("erfc",)

    missing = "NaN"
    equals = "==="

    def number(self, value: float) -> str:
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return repr(value)

    def field_names(self, names: list[str]) -> list[str]:
        return [f"x{k}" for k in range(len(names))]

    def field(self, k: int) -> str:
        return self.fields[k]

    def declare(self, name: str, kind: str, text: str) -> str:
        return f"const {name} = {text};"

    def function(self, name: str, given: list[str]) -> str:
        if name == "is_missing":
            return f"Number.isNaN({given[0]})"
        if name == "is_finite":
            return f"Number.isFinite({given[0]})"
        return f"finite({given[0]})" if name == "finite" else f"Math.{name}({', '.join(given)})"

    def found_level(self, text: str, levels: tuple[Label, ...], verbatim: bool) -> str:
        table = f"levels{len(self.tables)}"
        self.tables.append(f"const {table} = new Map({script_value([[one, k] for k, one in enumerate(levels)])});")
        return f"{'exact' if verbatim else 'level'}({text}, {table})"

    def table(self, name: str, numbers: list[str]) -> str:
        return f"const {name} = [{', '.join(numbers)}];"

    def best(self, scores: list[str], own: list[int]) -> str:
        if len(own) == 1:
            return str(own[0])
        if len(scores) == 1:
            return f"({scores[0]} > 0 ? {own[1]} : {own[0]})"
        found = f"largest([{', '.join(scores)}])"
        return found if own == list(range(len(scores))) else f"[{', '.join(map(str, own))}][{found}]"

    def source(self) -> str:
        reads = []
        for field, one in zip(self.fields, self.inputs, strict=True):
            value = f"row[{script_value(one.name)}]"
            reads.append(f"const {field} = {value if one.is_text else f'number({value})'};")
        results = []
        for group, keys in self.groups.items():
            values = [self.of(self.nodes[f"{group}/{key}"], 0) for key in keys]
            if group == "prediction" and self.kind(self.nodes[f"{group}/{keys[0]}"]) == "label":
                result = f"classes[{values[0]}] ?? null" if self.classes else f"({values[0]}) < 0 ? null : {values[0]}"
            elif len(values) == 1:
                result = f"known({values[0]})"
            else:
                result = f"[{', '.join(f'known({value})' for value in values)}]"
            results.append(f"{group}: {result}")
        body = "\n".join(f"  {line}" for line in [*reads, *self.statements, f"return {{ {', '.join(results)} }};"])
        columns = [
            {"name": one.name, "kind": what} for one, what in zip(self.inputs, input_notes(self.inputs), strict=True)
        ]
        written = "\n".join([*reads, *self.statements, *results])
        helpers = [
            text for name, text in HELPERS.items() if f"{name}(" in written or (name == "trim" and "level(" in written)
        ]
        return "\n".join(
            [
                "// What a fitted linear system predicts for a row, an object with the names in `columns`.",
                "// null, undefined and NaN are missing; what the model refuses is null.",
                f"export const columns = {script_value(columns)};",
                *([f"export const classes = {script_value(list(self.classes))};"] if self.classes else []),
                "",
                *helpers,
                "const known = (x) => (Number.isNaN(x) ? null : x);",
                *self.tables,
                "",
                f"export function predict(row) {{\n{body}\n}}\n",
            ]
        )


def script_value(value: object) -> str:
    """Return a value as JavaScript; no letter of a text can end a script or a line."""
    return json.dumps(value).replace("<", "\\u003c")
