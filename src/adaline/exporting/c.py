"""C99: one header without dependencies or allocation."""

from __future__ import annotations

import math

from adaline.exporting.program import (
    ABSENT,
    UNKNOWN,
    WHITE,
    Program,
    distinct,
    input_notes,
)
from adaline.exporting.tree import Label, Node

FUNCTIONS = {
    "abs": "fabs",
    "min": "fmin",
    "max": "fmax",
    **{name: name for name in ("sqrt", "floor", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tanh")},
    "pow": "pow",
    "erfc": "erfc",
}
RESERVED = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long "
    "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile "
    "while bool true false asm typeof nullptr constexpr alignas alignof and or not xor class new delete this "
    "template typename namespace private public protected virtual friend operator using try catch throw "
    "explicit export mutable near far unix linux i386 errno signbit isnan isinf NAN INFINITY "
)


class CProgram(Program):
    """A header with a struct for a row, one for what is predicted, and the function between them."""

    missing = "NAN"

    def number(self, value: float) -> str:
        if math.isinf(value):
            return "INFINITY" if value > 0 else "-INFINITY"
        return repr(value)

    def field_names(self, names: list[str]) -> list[str]:
        return distinct(names, set(RESERVED.split()))

    def field(self, k: int) -> str:
        return f"row->{self.fields[k]}"

    def declare(self, name: str, kind: str, text: str) -> str:
        return f"const {'double' if kind in ('number', 'label') else 'int'} {name} = {text};"

    def function(self, name: str, given: list[str]) -> str:
        if name == "finite":
            return f"{self.name}_finite({given[0]})"
        if name in ("is_missing", "is_finite"):
            return f"{'isnan' if name == 'is_missing' else 'isfinite'}({given[0]})"
        return f"{FUNCTIONS[name]}({', '.join(given)})"

    def found_level(self, text: str, levels: tuple[Label, ...], verbatim: bool) -> str:
        table = f"levels{len(self.tables)}"
        entries = ", ".join(c_string(str(one)) for one in sorted(map(str, levels), key=str.encode))
        self.tables.append(f"static const char *const {table}[{len(levels)}] = {{{entries}}};")
        return f"{self.name}_{'exact' if verbatim else 'level'}({text}, {table}, {len(levels)})"

    def sorted(self, index: Node, options: list[Node]) -> list[Node]:
        levels = index.value
        if index.name != "level" or not isinstance(levels[0], str):
            return options
        order = sorted(range(len(levels)), key=lambda k: str(levels[k]).encode())
        return [*(options[k] for k in order), *options[-2:]]

    def table(self, name: str, numbers: list[str]) -> str:
        return f"static const double {name}[{len(numbers)}] = {{{', '.join(numbers)}}};"

    def best(self, scores: list[str], own: list[int]) -> str:
        """Return the index as a double, in a statement of its own: what gcc needs for several rows an instruction."""
        if len(scores) == 1 and len(own) == 2:
            return f"{scores[0]} > 0 ? {own[1]}.0 : {own[0]}.0"
        out = f"{own[-1]}.0"
        for k in reversed(range(len(own) - 1)):
            tests = " && ".join(f"{scores[k]} >= {scores[j]}" for j in range(len(scores)) if j > k)
            out = f"{tests} ? {own[k]}.0 : {out}"
        return out

    def source(self) -> str:
        name, guard = self.name, f"{self.name.upper()}_H"
        types = ["const char *" if one.is_text else "double " for one in self.inputs]
        fields = [
            f"    {t}{f}; /* {what} */" for t, f, what in zip(types, self.fields, input_notes(self.inputs), strict=True)
        ]
        results, assignments = [], []
        for group, keys in self.groups.items():
            label = group == "prediction" and self.kind(self.nodes[f"{group}/{keys[0]}"]) == "label"
            many = f"[{len(keys)}]" if len(keys) > 1 else ""
            results.append(f"    {'int' if label else 'double'} {group}{many};")
            for k, key in enumerate(keys):
                at = f"[{k}]" if many else ""
                value = self.of(self.nodes[f"{group}/{key}"], 0)
                assignments.append(f"    out->{group}{at} = {f'(int)({value})' if label else value};")
        body = "\n".join(
            ["    (void)row;", *(f"    {line}" for line in [*self.tables, *self.statements]), *assignments]
        )
        parts = [
            f"/* {name}_predict: what a fitted linear system predicts for a row; made by adaline. C99, no allocation.",
            "   A text that is NULL, or a number that is NAN, is missing. A row that the model refuses has NAN, or the",
            f"   class -1. {name}_column(k) is the name of column k of the rows{self._about_classes()}. */",
            f"#ifndef {guard}\n#define {guard}\n\n#include <math.h>\n#include <stddef.h>\n#include <string.h>\n",
            f"typedef struct {{\n{chr(10).join(fields) or '    char unused;'}\n}} {name}_row;\n",
            f"typedef struct {{\n{chr(10).join(results)}\n}} {name}_result;\n",
            self._names("column", [one.name for one in self.inputs]),
            self._classes(),
            self._helpers(),
            f"static inline void {name}_predict(const {name}_row *row, {name}_result *out) {{\n{body}\n}}\n",
        ]
        if len(self.groups.get("prediction", [])) == 1:
            parts.append(self._loops(types))
        return "\n".join(part for part in parts if part) + f"\n#endif /* {guard} */\n"

    def _loops(self, types: list[str]) -> str:
        """Return the predictions of many rows; of columns, compilers take several rows in one instruction."""
        name = self.name
        fields = [
            f"    {t}const *{f};" if "*" in t else f"    const {t}*{f};"
            for t, f in zip(types, self.fields, strict=True)
        ]
        gathered = ", ".join(f"from.{f}[i]" for f in self.fields) or "0"
        loop = (
            f"    for (size_t i = 0; i < count; ++i) {{\n        {name}_result found;\n%s"
            f"        {name}_predict(%s, &found);\n        out[i] = found.prediction;\n    }}\n}}\n"
        )
        return (
            f"static inline void {name}_predict_rows(const {name}_row *rows, size_t count, double *out) {{\n"
            + loop % ("", "rows + i")
            + f"\n/* Columns of rows, each an array. */\n"
            f"typedef struct {{\n{chr(10).join(fields) or '    char unused;'}\n}} {name}_columns;\n\n"
            f"static inline void {name}_predict_columns(\n"
            f"    const {name}_columns *columns, size_t count, double *__restrict out) {{\n"
            f"    const {name}_columns from = *columns;\n    (void)from;\n"
            + loop
            % (f"        const {name}_row row = {{{gathered}}};\n", "&row")
        )

    def _about_classes(self) -> str:
        return f", and {self.name}_class(k) label k" if self.classes else ""

    def _names(self, what: str, texts: list[str]) -> str:
        entries = ", ".join(map(c_string, texts)) or '""'
        return (
            f"static inline const char *{self.name}_{what}(int k) {{\n"
            f"    static const char *const names[] = {{{entries}}};\n"
            f"    return k >= 0 && k < {len(texts)} ? names[k] : NULL;\n}}\n"
        )

    def _classes(self) -> str:
        if not self.classes:
            return ""
        if all(isinstance(one, str) for one in self.classes):
            return self._names("class", [str(one) for one in self.classes])
        entries = ", ".join(self.number(float(one)) for one in self.classes)
        return (
            f"static inline double {self.name}_class(int k) {{\n    static const double labels[] = {{{entries}}};\n"
            f"    return k >= 0 && k < {len(self.classes)} ? labels[k] : NAN;\n}}\n"
        )

    def _helpers(self) -> str:
        """Return the functions of the header that the program calls."""
        text, out = "\n".join([*self.statements, *(one for one, _ in self.written.values())]), ""
        if f"{self.name}_finite(" in text:
            out += f"static inline double {self.name}_finite(double x) {{ return isfinite(x) ? x : NAN; }}\n"
        if f"{self.name}_level(" in text or f"{self.name}_exact(" in text:
            out += (
                LEVEL.replace("NAME", self.name)
                .replace("WHITE", ", ".join(c_string(one) for one in WHITE))
                .replace("COUNT", str(len(WHITE)))
            )
        return out


LEVEL = f"""static inline int NAME_search(const char *text, size_t size, const char *const *levels, int count) {{
    int low = 0, high = count - 1;
    while (low <= high) {{
        const int middle = low + (high - low) / 2;
        const int order = strncmp(levels[middle], text, size);
        if (order == 0 && levels[middle][size] == 0) return middle;
        if (order < 0) low = middle + 1; else high = middle - 1;
    }}
    return {UNKNOWN};
}}

/* The index of a text among levels, sorted by their bytes. */
static inline int NAME_exact(const char *text, const char *const *levels, int count) {{
    return text == NULL ? {ABSENT} : NAME_search(text, strlen(text), levels, count);
}}

/* The same; of the text without blanks around it where it is none. */
static inline int NAME_level(const char *text, const char *const *levels, int count) {{
    static const char *const blanks[COUNT] = {{WHITE}};
    size_t size;
    int found, k;
    if (text == NULL) return {ABSENT};
    size = strlen(text);
    found = NAME_search(text, size, levels, count);
    if (found >= 0) return found;
    for (k = 0; k < COUNT; ++k) {{
        const size_t n = strlen(blanks[k]);
        if (size >= n && memcmp(text, blanks[k], n) == 0) {{ text += n; size -= n; k = -1; }}
    }}
    for (k = 0; k < COUNT; ++k) {{
        const size_t n = strlen(blanks[k]);
        if (size >= n && memcmp(text + size - n, blanks[k], n) == 0) {{ size -= n; k = -1; }}
    }}
    return NAME_search(text, size, levels, count);
}}
"""


def c_string(text: str) -> str:
    """Return a text as a C string, its bytes in UTF-8; bytes that are not plain letters are escaped."""
    plain = "".join(
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}"
        for b in text.encode("utf-8", "surrogatepass")
    )
    return f'"{plain}"'
