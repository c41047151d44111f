"""Sums over rows of groupings with many levels, kept only for the groups and pairs of groups that occur.

    for each grouping    sum of z z', z, z phi(x)' and z y in each group,     z what its effects multiply
    for each two         sum of z_k z_l' in each pair of their groups

Memory is that of the pairs that occur, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, ThetaLike, as_dense, host
from adaline.block import Block, Shape
from adaline.forms import Finite, Integers
from adaline.sums import Moments, Sum
from adaline.sums.keyed import add_products, joined_totals, numbered

PIECE_ROWS = 2**13  # rows whose products with effects are held at a time


class GroupedDesign(Protocol):
    """What rows are in the columns of a model, and in the effects of its groupings of many levels."""

    @property
    def size(self) -> int:
        """Number of columns beside these groupings."""

    @property
    def group_shapes(self) -> list[tuple[int, int]]:
        """For each grouping the number of groups, and of effects of each; the one that is eliminated last."""

    def of(self, x: Array) -> Array:
        """Return the columns of rows x."""

    def grouped(self, x: Array) -> list[tuple[NDArray[np.intp], Array]]:
        """Return for each grouping the group of each row x, -1 for none, and what its effects multiply, (n, q)."""


@dataclass(frozen=True, eq=False)
class KeyedTotals:
    """Sums of the rows of each key, ascending.

    Parameters
    ----------
    keys : (K,).
    values : (K, W).
    """

    keys: Annotated[NDArray[np.int64], Integers("K")]
    values: Annotated[Array, Finite("K W")]

    @classmethod
    def joined(cls, several: Sequence[KeyedTotals]) -> KeyedTotals:
        """Return the sums over all their rows."""
        first, *others = several
        for other in others:
            first = cls(*joined_totals(first.keys, first.values, other.keys, other.values))
        return first

    def of_all(self, size: int) -> Array:
        """Return the sums of keys 0 to size, (size, W); zeros for those that did not occur."""
        out = np.zeros((size, self.values.shape[1]))
        out[self.keys] = self.values
        return out


class GroupedMoments(Sum):
    """Moments of [phi(x) y], and the sums of each grouping and of pairs of them, as in the module's text.

    groups : for each grouping, by the group.
    pairs : for groupings k < l in the order (0, 1), (0, 2), (1, 2) ..., by the group of k x groups of l + that of l.
    """

    uses_blas = True

    def __init__(
        self, design: GroupedDesign, moments: Moments, groups: list[KeyedTotals], pairs: list[KeyedTotals]
    ) -> None:
        self.design, self.moments, self.groups, self.pairs = design, moments, groups, pairs

    @classmethod
    def zero(cls, shape: Shape, **config: object) -> Self:
        """Return the sums over no rows, for a `design`; `centred` as of moments."""
        design = cast("GroupedDesign", config["design"])
        sizes = [q for _, q in design.group_shapes]
        moments = Moments.zero(Shape(design.size, shape.targets), centred=config["centred"])
        groups = [_nothing(q * (q + design.size + 2)) for q in sizes]
        return cls(design, moments, groups, [_nothing(sizes[k] * sizes[m]) for k, m in pairs_of(len(sizes))])

    @property
    def finite(self) -> bool:
        """Whether all sums are finite."""
        return self.moments.finite and all(np.isfinite(one.values).all() for one in (*self.groups, *self.pairs))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in the rows of a block."""
        block = block.heavy()
        x, weight = np.asarray(host(as_dense(block.x)), dtype=np.float64), block.weights()
        t, found = host(block.t), self.design.grouped(x)
        sizes = [size for size, _ in self.design.group_shapes]
        keys = [(group, size) for (group, _), size in zip(found, sizes, strict=True)]
        for k, m in pairs_of(len(found)):
            one, other = found[k][0], found[m][0]
            keys.append((np.where((one < 0) | (other < 0), -1, one * sizes[m] + other), sizes[k] * sizes[m]))
        known = [numbered(key, size) for key, size in keys]
        before = [*self.groups, *self.pairs]
        totals = [
            np.zeros((len(occurred), one.values.shape[1])) for (occurred, _), one in zip(known, before, strict=True)
        ]
        for first in range(0, len(x), PIECE_ROWS):
            rows = slice(first, first + PIECE_ROWS)
            phi, w = self.design.of(x[rows]), weight[rows]
            self.moments.add(Block(phi, t[rows], w))
            effects = [z[rows] for _, z in found]
            others = [np.column_stack([z, np.ones(len(z)), phi, t[rows]]) for z in effects]
            factors = [*zip(effects, others, strict=True), *((effects[k], effects[m]) for k, m in pairs_of(len(found)))]
            for total, (_, codes), (z, y) in zip(totals, known, factors, strict=True):
                add_products(total, codes[rows], w, z, y)
        added = [KeyedTotals(occurred, total) for (occurred, _), total in zip(known, totals, strict=True)]
        joined = [KeyedTotals.joined(both) for both in zip(before, added, strict=True)]
        self.groups, self.pairs = joined[: len(sizes)], joined[len(sizes) :]

    def merge(self, other: Self) -> None:
        """Take in the sums over other rows."""
        self.moments.merge(other.moments)
        self.groups = [KeyedTotals.joined(both) for both in zip(self.groups, other.groups, strict=True)]
        self.pairs = [KeyedTotals.joined(both) for both in zip(self.pairs, other.pairs, strict=True)]


def pairs_of(count: int) -> list[tuple[int, int]]:
    """Return the pairs of groupings in the order of `GroupedMoments.pairs`."""
    return [(k, m) for m in range(count) for k in range(m)]


def _nothing(width: int) -> KeyedTotals:
    return KeyedTotals(np.empty(0, dtype=np.int64), np.empty((0, width)))
