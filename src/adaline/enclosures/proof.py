"""A proof as a file, which `adaline verify-proof` checks by rational arithmetic (`checker.py`): JSON, floats in full.

rows, columns, targets, ...   which numbers of a table the rows are made of
lower, upper                  what is proved: the bounds, (K, 1 + D)
solutions                     the loss, the penalty, and what helps to check: a centre (hi, lo), a matrix T ("map")
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from adaline.arrays import Array, RowsLike, WeightsLike
from adaline.coding import Coding
from adaline.coding.columns import MISSING_LEVEL
from adaline.coding.terms import TermFactor
from adaline.enclosures.linear import LinearEnclosure
from adaline.enclosures.softmax import StackedPreconditioner
from adaline.errors import InvalidParameter
from adaline.input.columns import InputColumns
from adaline.links import Power, name_of
from adaline.losses import Linked, Loss, NegativeBinomial, Offset, Softmax, Tweedie
from adaline.penalties import RidgePenalty
from adaline.sources import Source

FORMAT = "adaline proof 1"


@dataclass(frozen=True)
class ClassTargets:
    """Classes as targets: their labels, the targets (K, m) of each, and factors (K,) of the weights of its rows."""

    labels: Sequence[Any]
    codes: Array
    weights: Array | None = None


@dataclass(frozen=True)
class Statement:
    """What is proved, of which rows.

    Parameters
    ----------
    columns : how the columns of X are made.
    intercept : whether there is a constant.
    problems : the loss and the penalty of each solution; None is least squares.
    classes : where the targets are classes.
    rows : how many there are.
    weighted, shifted : whether the rows came with weights, and with offsets.
    target, weight, offset : names of columns, where the rows came from a table.
    drops_rows : whether rows with missing values were left out.
    """

    columns: InputColumns
    intercept: bool
    problems: Sequence[tuple[Loss | None, RidgePenalty]]
    classes: ClassTargets | None
    rows: int
    weighted: bool
    shifted: bool
    target: tuple[str, ...] = ("y",)
    weight: str | None = None
    offset: str | None = None
    drops_rows: bool = False

    @classmethod
    def of(
        cls,
        columns: InputColumns,
        given: RowsLike,
        sample_weight: WeightsLike,
        source: Source,
        intercept: bool,
        problems: Sequence[tuple[Loss | None, RidgePenalty]],
        classes: ClassTargets | None = None,
    ) -> Statement:
        """Return the statement about rows and weights as they were given, and the source that was made of them."""
        weighted = given.targets.weighted if isinstance(given, Source) else sample_weight is not None
        shifted = source.targets.offset > 0
        found = cls(columns, intercept, problems, classes, source.count_rows(), weighted, shifted)
        spec = getattr(given, "spec", None)
        if spec is None:
            return found
        names = {"target": tuple(given.target_names), "weight": spec.weight, "offset": spec.offset}
        return replace(found, **names, drops_rows=spec.missing == "drop")

    def document(self, found: Sequence[LinearEnclosure], bounds: tuple[Array, Array]) -> dict[str, Any]:
        """Return the proof as plain values."""
        for there, name, what in ((self.weighted, self.weight, "weight"), (self.shifted, self.offset, "offset")):
            if there and name is None:
                raise InvalidParameter(f"the rows have {what}s: name their column in the data, as in {what}='name'")
        of = self.classes
        return {
            "format": FORMAT,
            "rows": self.rows,
            "drops_rows": self.drops_rows,
            "intercept": self.intercept,
            "columns": columns_of_table(self.columns),
            "targets": list(self.target),
            "weight": self.weight if self.weighted else None,
            "offset": self.offset if self.shifted else None,
            "classes": None if of is None else [str(label) for label in of.labels],
            "codes": None if of is None else np.asarray(of.codes, dtype=float).tolist(),
            "class_weights": None if of is None or of.weights is None else of.weights.tolist(),
            "lower": np.atleast_2d(bounds[0]).tolist(),
            "upper": np.atleast_2d(bounds[1]).tolist(),
            "solutions": [
                one for own, problem in zip(found, self.problems, strict=True) for one in _solutions(own, *problem)
            ],
        }


def write_proof(document: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a proof to a file."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")


def columns_of_table(columns: InputColumns) -> list[list[dict[str, str]]]:
    """Return how each column is made, as a product of numbers and indicators of levels; refuse other columns."""
    if columns.basis is not None:
        raise InvalidParameter("proofs are not written for a basis: its columns are no columns of the data")
    if columns.coding is None:
        return [[{"column": str(name)}] for name in columns.given_names()]
    return [column for term in columns.coding._all_terms for column in _products(columns.coding, term)]


def _products(coding: Coding, term: Sequence[TermFactor]) -> list[list[dict[str, str]]]:
    found: list[list[dict[str, str]]] = [[]]
    for factor in term:
        found = [[*before, one] for before in found for one in _factor(coding, factor)]
    return found


def _factor(coding: Coding, factor: TermFactor) -> list[dict[str, str]]:
    """Return the columns of a factor."""
    column = None if factor.column is None else coding.column(factor.column, factor.category)
    filled = coding.missing in ("mean", "indicator")
    if column is None or filled or column.kind not in ("number", "boolean", "category"):
        raise InvalidParameter(f"proofs are of columns of numbers and of levels as they are, not of {factor.text!r}")
    if not factor.category:
        return [{"column": column.name}]
    table = coding.contrast_columns(factor)
    if column.gaps or MISSING_LEVEL in column.levels or not np.array_equal(np.sort(table, axis=0)[:-1], 0 * table[1:]):
        raise InvalidParameter(f"proofs are of indicators of levels, not of the contrasts of {factor.text!r}")
    return [{"column": column.name, "level": str(column.levels[k])} for k in table.argmax(axis=0).tolist()]


def _solutions(found: LinearEnclosure, loss: Loss | None, penalty: RidgePenalty) -> list[dict[str, Any]]:
    """Return the loss, the penalty, a centre and T of each target."""
    assert found.found is not None
    assert found.known is not None
    assert found.sizes is not None
    width, outputs = len(found.sizes.columns), len(found.found.hi)
    powers = np.append(0.0, found.sizes.exponent[: width - 1]).astype(np.int64)
    stacked = isinstance(found.known, StackedPreconditioner)
    size = len(found.known.matrix) if isinstance(found.known, StackedPreconditioner) else width
    active = np.flatnonzero((np.arange(size) % width > 0) | (found.known.constant > 0))
    matrix = found.known.push(np.eye(size)).values.T
    matrix = np.ldexp(matrix, -np.tile(powers, size // width)[:, None])[np.ix_(active, active)]
    own = {"loss": described_loss(loss), "penalty": float(penalty.value), "units": np.ravel(penalty.unit).tolist()}
    scale = (found.sizes.targets_exponent.astype(np.int64) * np.ones(outputs, dtype=np.int64))[:, None, None]
    centres = np.ldexp(np.stack([found.found.hi, found.found.lo], axis=2), scale - powers[:, None])
    each = [centres[:-1].reshape(-1, 2)] if stacked else list(centres)
    return [{**own, "centre": one[active].tolist(), "map": matrix.tolist()} for one in each]


def described_loss(loss: Loss | None) -> dict[str, Any]:
    """Return the name and the parameters of a loss."""
    row = loss.loss if isinstance(loss, Offset) else loss
    if row is None:
        return {"name": "squared"}
    if isinstance(row, Softmax):
        return {"name": "softmax"}
    linked = row.linked
    assert isinstance(linked, Linked)
    family, link = linked.family, linked.link
    if isinstance(family, NegativeBinomial):
        return {"name": "negative_binomial", "shape": float(family.shape)}
    if not isinstance(family, Tweedie):
        return {"name": "binomial", "link": name_of(link)}
    power = float(family.power)
    if not isinstance(link, Power):
        return {"name": "tweedie", "power": power}
    q = 1 / Fraction(float(link.exponent))
    if any((2 * q * (a - Fraction(power))).denominator != 1 for a in (1, 2)):  # the float 1/3 is no third
        raise InvalidParameter(f"proofs are not written for power={power:g} with link={name_of(link)!r}")
    return {"name": "tweedie", "power": power, "link": float(link.exponent)}
