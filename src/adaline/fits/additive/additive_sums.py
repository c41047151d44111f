"""The sums that an additive model is solved from: they add up over rows, merge, and give rows back.

Knots and levels are fixed before: sums of two models add up where these are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from adaline.arrays import ThetaLike, as_dense, host
from adaline.block import Block, Shape
from adaline.coding.texts import ABSENT
from adaline.errors import UnsafeForget
from adaline.fits.additive.design import AdditiveDesign
from adaline.fits.additive.grouped_moments import GroupedMoments, KeyedTotals
from adaline.inference.sample import Counted
from adaline.sums import Moments, Sum

NOT_FITTED = "cannot forget rows that were not fitted: the model holds no such rows of some groups"
LEFT_OVER = 1e-9  # sum of squares of a group below zero, relative to what is taken out, that is more than rounding


@dataclass(frozen=True, eq=False)
class AdditiveSums:
    """Sums over the rows of an additive model of least squares.

    Parameters
    ----------
    moments : of [phi(x) y].
    groups, pairs : as of `GroupedMoments`; none without groupings of many levels.
    counted : the rows, where weights are precisions.
    """

    moments: Moments
    groups: tuple[KeyedTotals, ...]
    pairs: tuple[KeyedTotals, ...]
    counted: Counted | None

    @property
    def observations(self) -> float:
        """N: the number of rows where weights are precisions, otherwise their sum."""
        return self.moments.weight if self.counted is None else float(self.counted.rows)

    @property
    def log_weights(self) -> float:
        """Sum of the logarithms of precisions."""
        return 0.0 if self.counted is None else self.counted.log_weight

    def plus(self, other: AdditiveSums) -> AdditiveSums:
        """Return the sums over both sets of rows."""
        moments = self.moments.copy()
        moments.merge(other.moments)
        groups, pairs = (
            tuple(KeyedTotals.joined(both) for both in zip(mine, theirs, strict=True))
            for mine, theirs in ((self.groups, other.groups), (self.pairs, other.pairs))
        )
        counted = None if self.counted is None or other.counted is None else self.counted.plus(other.counted)
        return AdditiveSums(moments, groups, pairs, counted)

    def minus(self, other: AdditiveSums, left: Moments, effects: Sequence[int]) -> AdditiveSums:
        """Return the sums without the other's rows, which leave these moments; refuse rows that were not fitted.

        `effects` : number of effects of a group, for each of the groupings.
        """
        if (left.second.diagonal() < -left.bound).any():
            raise UnsafeForget(NOT_FITTED)
        counted = None
        if self.counted is not None and other.counted is not None:
            counted = self.counted.minus(other.counted, self.moments.weight, left.weight)
        groups = _without(self.groups, other.groups)
        for one, gone, q in zip(groups, other.groups, effects, strict=True):
            squares = np.arange(q) * (gone.values.shape[1] // q + 1)  # of z z', which comes first in each row of sums
            places = np.searchsorted(one.keys, gone.keys)
            if (one.values[places][:, squares] < -LEFT_OVER * gone.values[:, squares]).any():
                raise UnsafeForget(NOT_FITTED)
        return AdditiveSums(left, groups, _without(self.pairs, other.pairs), counted)

    def digits(self, columns: int) -> float:
        """Return how many digits the sums of squares of the first columns, and of the target, have."""
        places = [*range(columns), self.moments.columns - 1]
        noise, squares = self.moments.noise[places], self.moments.second.diagonal()[places]
        worst = max((n / s if s > 0 else np.inf for n, s in zip(noise, squares, strict=True) if n > 0), default=0.0)
        return float(-np.log10(max(worst, 1e-16)))


class UnknownGroups(Sum):
    """For each grouping the number of rows whose group is not among those of a `design`, but has a value."""

    def __init__(self, design: AdditiveDesign, coded: frozenset[int], rows: list[int]) -> None:
        self.design, self.coded, self.rows = design, coded, rows

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return none; `coded` are the columns in which ABSENT stands for a missing value."""
        return cls(config["design"], config["coded"], [0] * len(config["design"].groupings))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in the rows of a block."""
        x = np.asarray(host(as_dense(block.heavy().x)), dtype=np.float64)
        for k, one in enumerate(self.design.groupings):
            missing = np.zeros(len(x), dtype=bool)
            for j in self.coded & {*one.columns}:
                missing |= x[:, j] == ABSENT
            self.rows[k] += int(np.sum((one.find(x) < 0) & ~missing))

    def merge(self, other: Self) -> None:
        """Take in other rows."""
        self.rows = [a + b for a, b in zip(self.rows, other.rows, strict=True)]


def sums_of(total: GroupedMoments, counted: Counted | None, centred: bool) -> AdditiveSums:
    """Return sums as a model keeps them."""
    moments = total.moments.about_mean() if centred else total.moments
    return AdditiveSums(moments, tuple(total.groups), tuple(total.pairs), counted)


def _without(mine: Sequence[KeyedTotals], gone: Sequence[KeyedTotals]) -> tuple[KeyedTotals, ...]:
    out = []
    for one, other in zip(mine, gone, strict=True):
        if not np.isin(other.keys, one.keys).all():
            raise UnsafeForget(NOT_FITTED)
        out.append(KeyedTotals.joined([one, KeyedTotals(other.keys, -other.values)]))
    return tuple(out)
