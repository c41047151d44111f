"""SQL: one SELECT over a table, with common table expressions for what is used more than once."""

from __future__ import annotations

from collections.abc import Sequence

from adaline.errors import InvalidParameter
from adaline.exporting.dialects import LANGUAGES, SQLDialect, SQLWriter
from adaline.exporting.graph import CONDITIONS, by_dependence, shared_parts, uses
from adaline.exporting.prediction import Prediction
from adaline.exporting.program import ATOM, SIGNED
from adaline.exporting.tree import COMPARED, SIGNS, STRENGTH, Node

DEEPEST = 150  # operations within each other in one expression; engines refuse a thousand, some less
LONGEST = 20_000  # letters of an expression that is written where it is used
LACKING = ("log1p", "expm1", "tanh", "erfc", "log2", "log10")


class Select:
    """The text of a SELECT.

    Parameters
    ----------
    prediction : the trees.
    dialect : of the database.
    table : the name of the table; dots part it from a schema.
    keep : columns of the table that are selected too, before the others.
    outputs : which of "prediction", "score" and "probability" are selected.
    """

    def __init__(
        self, prediction: Prediction, dialect: SQLDialect, table: str, keep: Sequence[str], outputs: Sequence[str]
    ) -> None:
        self.dialect, self.language = dialect, LANGUAGES[dialect]
        self.table, self.keep = table, list(keep)
        flat: dict[str, Node] = {}
        for group, nodes in prediction.outputs.items():
            if group in outputs:
                flat |= nodes
        self.names = list(flat)
        self._refuse_twice()
        self.nodes = shared_parts(flat, LACKING)
        self.order = by_dependence(self.nodes.values())
        found = [one for one in self.order if one.name == "level" and isinstance(one.value[0], str)]
        self.write = SQLWriter(
            dialect, {one.arguments[0].value for one in found if any(each != each.strip() for each in one.value)}
        )
        self.counts = uses(self.nodes, self._repeats)
        self.layer: dict[int, int] = {}  # of a node that is a column of a table expression, which
        self.column: dict[int, str] = {}
        self.written: dict[int, tuple[str, int]] = {}

    def text(self) -> str:
        """Return the SELECT."""
        self._place()
        layers = 1 + max(self.layer.values(), default=-1)
        kept = [self.write.name(one) for one in self.keep]
        parts, source, known = [], self._table(), kept
        kind = (
            "AS MATERIALIZED" if layers > 2 and self.dialect in ("sqlite", "postgres") else "AS"
        )  # they inline others
        for k in range(layers):
            own = [one for one in self.order if self.layer.get(id(one)) == k]
            passed = [one for one in self.order if self.layer.get(id(one), layers) < k and self._needed(one, k)]
            columns = [*known, *(self.column[id(one)] for one in passed)]
            columns += [f"{self._write(one, k)} AS {self.column[id(one)]}" for one in own]
            parts.append(f"layer{k} {kind} (\n  SELECT\n    {self._listed(columns)}\n  FROM {source}\n)")
            source, known = f"layer{k}", kept
        outputs = [f"{self._write(one, layers)} AS {self.write.name(name)}" for name, one in self.nodes.items()]
        head = f"WITH {', '.join(parts)}\n" if parts else ""
        return f"{head}SELECT\n  {self._listed([*kept, *outputs], 2)}\nFROM {source}\n"

    def _refuse_twice(self) -> None:
        seen: set[str] = set()
        for name in (*self.keep, *self.names):
            if name.lower() in seen:
                raise InvalidParameter(f"two columns of the result are called {name!r}: rename the one that is kept")
            seen.add(name.lower())

    def _table(self) -> str:
        return ".".join(self.write.name(part) for part in self.table.split("."))

    @staticmethod
    def _listed(columns: Sequence[str], indent: int = 4) -> str:
        return f",\n{' ' * indent}".join(columns) if columns else "1 AS one"

    # -- table expressions ------------------------------------------------------------------------------------------

    def _repeats(self, one: Node, k: int) -> int:
        """Return how often a node writes its argument k."""
        name = one.name
        if name in ("label",):
            return 2 * len(one.arguments)
        if name == "choose":
            return 0 if k == 0 else 1
        if name == "interval":
            return 2
        if name == "level":
            return 1
        if name == "is_missing":
            return 1 if self.language.nan is None else 2
        if name in ("log", "sqrt") and self.language.domains:
            return 2
        if name == "div" and k == 1 and self.language.strict:
            return 2
        if name == "exp" and self.language.strict:
            return 3
        if name == "finite" and self.dialect in ("bigquery", "duckdb"):
            return 2
        return 1

    def _place(self) -> None:
        """Find which nodes are columns of table expressions: those that are used more than once, or lie deep."""
        deep: dict[int, int] = {}
        layer: dict[int, int] = {}
        shared: list[Node] = []
        sizes: dict[int, int] = {}
        for one in self.order:
            own = 1 + max((deep[id(part)] for part in one.arguments), default=0)
            below = max((layer[id(part)] for part in one.arguments), default=0)
            size = 8 + sum(sizes[id(part)] * self._repeats(one, k) for k, part in enumerate(one.arguments))
            number = one.name not in (*CONDITIONS, "level", "interval", "number", "missing")
            often = self.counts[id(one)] > 1 and one.name != "input"
            if number and one.name != "input" and (often or own > DEEPEST or size > LONGEST):
                shared.append(one)
                layer[id(one)], deep[id(one)], sizes[id(one)] = below + 1, 0, 8
            else:
                layer[id(one)], deep[id(one)], sizes[id(one)] = below, own, size
        often_read = (one for one in self.order if one.name == "input" and self.counts[id(one)] > 1)
        if not shared and not any(one.value.is_text or self.counts[id(one)] > 2 for one in often_read):
            return
        for one in self.order:
            if one.name == "input":
                self.layer[id(one)] = 0
        for one in shared:
            self.layer[id(one)] = layer[id(one)]
        used: dict[int, int] = {}
        for one in self.order:
            if id(one) in self.layer:
                k = used.get(self.layer[id(one)], 0)
                used[self.layer[id(one)]] = k + 1
                self.column[id(one)] = self._free(
                    f"{'x' if one.name == 'input' else 't'}{self.layer[id(one)] or ''}_{k}"
                )
        self.readers: dict[int, int] = {}
        last = 1 + max(self.layer.values())
        at: dict[int, int] = {}  # the latest layer that writes a node
        for one in self.nodes.values():
            at[id(one)] = last
        for one in reversed(self.order):
            where = self.layer.get(id(one), at.get(id(one), 0))
            if id(one) in self.layer:
                self.readers[id(one)] = at.get(id(one), 0)
            for part in one.arguments:
                at[id(part)] = max(at.get(id(part), 0), where)

    def _free(self, name: str) -> str:
        taken = {one.lower() for one in self.keep}
        while name in taken:
            name += "_"
        return name

    def _needed(self, one: Node, k: int) -> bool:
        """Whether a column of an earlier layer is read in layer k or later ones."""
        return self.readers[id(one)] >= k

    # -- expressions -------------------------------------------------------------------------------------------------

    def _write(self, one: Node, layer: int) -> str:
        """Return the text of a node in a layer; columns of earlier layers are called by their names."""
        written: dict[int, tuple[str, int]] = {}
        stack = [(one, False)]
        while stack:
            node, ready = stack.pop()
            if id(node) in written:
                continue
            if (node is not one and id(node) in self.layer) or (
                node is one and self.layer.get(id(node), layer) < layer
            ):
                written[id(node)] = self.column[id(node)], ATOM
            elif ready:
                written[id(node)] = self._text(node, written)
            else:
                stack.append((node, True))
                stack += [(part, False) for part in node.arguments]
        return written[id(one)][0]

    def _text(self, one: Node, written: dict[int, tuple[str, int]]) -> tuple[str, int]:
        def of(part: Node, least: int = ATOM) -> str:
            text, strength = written[id(part)]
            return text if strength >= least else f"({text})"

        name, given, language = one.name, one.arguments, self.language
        if name == "number":
            return self.write.number(one.value), SIGNED if one.value < 0 else ATOM
        if name == "missing":
            return "NULL", ATOM
        if name == "input":
            return self.write.read(one.value), ATOM if self.dialect != "sqlite" else 0
        if name == "div" and language.strict and given[1].name != "number":
            return f"CASE WHEN {of(given[1])} <> 0 THEN {of(given[0], 2)} / {of(given[1])} END", 0
        if name in SIGNS:
            strength, sign = STRENGTH[name], SIGNS[name]
            right = of(given[1], strength + 1)
            if strength == 1 and right.startswith("-"):
                sign, right = "-" if sign == "+" else "+", right[1:]
            return f"{of(given[0], strength)} {sign} {right}", strength
        if name == "neg":
            return f"-{of(given[0])}", 0
        if name in COMPARED:
            sign = {"==": "=", "!=": "<>"}.get(COMPARED[name], COMPARED[name])
            return f"{of(given[0], 1)} {sign} {of(given[1], 1)}", 0
        if name == "is_missing":
            value = of(given[0])
            return (f"{value} IS NULL" if language.nan is None else f"({value} IS NULL OR {value} = {language.nan})"), 0
        if name == "is_finite" and given[0].name == "finite":
            return f"{of(given[0])} IS NOT NULL", 0
        if name == "is_finite":
            return f"abs({of(given[0], 0)}) < {language.infinity}", 0
        if name == "and":
            return " AND ".join(of(part, 1) for part in given), 0
        if name == "where":
            otherwise = "" if given[2].name == "missing" else f" ELSE {of(given[2], 0)}"
            if given[1].name == "missing":
                return f"CASE WHEN {of(given[0], 0)} THEN NULL{otherwise} END", ATOM
            return f"CASE WHEN {of(given[0], 0)} THEN {of(given[1], 0)}{otherwise} END", ATOM
        if name in ("level", "interval"):
            return "", 0  # written by what is chosen by it
        if name == "choose":
            index = given[0]
            options = [of(part, 0) for part in given[1:]]
            if index.name == "level":
                return self.write.by_level(index.arguments[0].value, of(index.arguments[0]), index.value, options), ATOM
            return self.write.by_interval(of(index.arguments[0]), index.value, options), ATOM
        if name == "label":
            return self.write.best([of(part) for part in given], one.value), ATOM
        return self.write.function(name, of(given[0], 0), *(of(part, 0) for part in given[1:])), ATOM
