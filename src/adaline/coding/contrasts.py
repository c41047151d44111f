"""Contrasts: the columns by which the levels of a category are coded, as in R and patsy."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from adaline.arrays import Array
from adaline.basis.polynomial import orthogonal, recurrence
from adaline.coding.expressions import MOST_COMPILED, dotted, syntax_tree
from adaline.errors import InvalidData, InvalidParameter

NAMES = {
    "Treatment": "Treatment",
    "Sum": "Sum",
    "Poly": "Poly",
    "Helmert": "Helmert",
    "contr.treatment": "Treatment",
    "contr.sum": "Sum",
    "contr.poly": "Poly",
    "contr.helmert": "Helmert",
}
INDEX = "level_index"  # the function of a category that is the index of its level, not a set of contrasts
MOST_POLYNOMIAL = 95  # levels, as in R: beyond, powers are too close to dependent
POWERS = (".Linear", ".Quadratic", ".Cubic")


@dataclass(frozen=True)
class Contrast:
    """A category in a formula: its column, the kind of its contrasts, and the reference level where it is named."""

    column: str
    kind: str = "Treatment"
    reference: Any = None

    def names(self, text: str, levels: list[str]) -> list[str]:
        """Return the names of the L - 1 columns."""
        if self.kind == INDEX:
            return [f"{self.column}[index]"]
        if self.kind == "Poly":
            return [f"{text}{POWERS[p] if p < len(POWERS) else f'^{p + 1}'}" for p in range(len(levels) - 1)]
        out = self.base(levels) if self.kind != "Sum" else len(levels) - 1
        return [f"{text}[{self.kind[0]}.{level}]" for i, level in enumerate(levels) if i != out]

    def columns(self, count: int) -> Iterator[Array]:
        """Yield the values of each column for each of L levels, (L,); reference coding is left to the caller."""
        if self.kind == INDEX:
            yield np.arange(float(count))
            return
        if self.kind == "Poly":
            if count > MOST_POLYNOMIAL:
                raise InvalidData(f"polynomial contrasts of {self.column!r} need at most {MOST_POLYNOMIAL} levels")
            scores = np.arange(float(count)) - (count - 1) / 2
            found = orthogonal(scores[:, None], recurrence(partial(list, [scores]), count - 1)[None])[1:]
            yield from (column[:, 0] / np.sqrt(count) for column in found)
            return
        for j in range(count - 1):
            column = np.zeros(count)
            if self.kind == "Sum":
                column[[j, -1]] = 1.0, -1.0
            else:
                column[: j + 1], column[j + 1] = -1.0, j + 1.0
            yield column

    def base(self, levels: list[str]) -> int:
        """Return the index of the reference level."""
        if self.reference is None:
            return 0
        if str(self.reference) not in levels:
            raise InvalidData(f"column {self.column!r} has no level {str(self.reference)!r} to be the reference")
        return levels.index(str(self.reference))


@lru_cache(maxsize=MOST_COMPILED)
def contrast_of(text: str) -> Contrast | None:
    """Return the category that a factor of a formula is, C(x, Sum) or factor(x); None where it is an expression."""
    tree, quoted = syntax_tree(text)
    if not (isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in ("C", "factor", INDEX)):
        return None
    match tree.args:
        case [column, *options] if not tree.keywords and len(options) <= (tree.func.id == "C"):
            name = dotted(column)
            name = quoted.get(column.id) if isinstance(column, ast.Name) and column.id in quoted else name
            if name is not None:
                if tree.func.id == INDEX:
                    return Contrast(name, INDEX)
                return Contrast(name) if not options else _of_options(name, text, options[0])
    raise _refusal(text)


def _of_options(column: str, text: str, node: ast.expr) -> Contrast:
    reference = None
    if isinstance(node, ast.Call):
        values = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "reference")]
        if len(values) != 1 or len(node.args) + len(node.keywords) != 1 or not isinstance(values[0], ast.Constant):
            raise _refusal(text)
        node, reference = node.func, values[0].value
    kind = NAMES.get(dotted(node) or "")
    if (
        kind is None
        or not isinstance(reference, str | int | float | None)
        or (reference is not None and kind != "Treatment")
    ):
        raise _refusal(text)
    return Contrast(column, kind, reference)


def _refusal(text: str) -> InvalidParameter:
    return InvalidParameter(
        f"cannot read {text!r:.200} in the formula: C takes a column alone, or with Treatment('reference'), Sum, Poly "
        "or Helmert; the order of the levels is named by categories={'column': [...]}"
    )
