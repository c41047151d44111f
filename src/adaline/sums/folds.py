"""A sum for each fold of the rows, in one read: the sum over all folds but one is the merge of the others.

    without k  =  (fold 0 + ... + fold k-1) + (fold k+1 + ... + fold K-1)

Every side is one merge longer than its neighbour, so that K folds take 3 K merges, and nothing is subtracted.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Self, TypeVar

import numpy as np

from adaline.arrays import ThetaLike, host, namespace
from adaline.block import Block, Shape
from adaline.sums.base import Sum

S = TypeVar("S", bound=Sum)


class FoldSums(Sum):
    """Sums of a class that accepts chosen rows, Moments or ClassMoments, over the rows of each fold.

    `zero` takes `of`, their class, `folds` and its configuration; theta is the fold of each row of the source,
    (N,), negative for rows that are left out, or a function that gives those of rows first, first + 1, ...
    """

    uses_blas = True
    reads_columns = True

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows."""
        of, folds = config.pop("of"), config.pop("folds")
        return cls([of.zero(shape, **config) for _ in range(folds)])

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Add each row of a block to the sum of its fold."""
        first, rows = block.first_row, block.rows
        fold = theta(first, rows) if callable(theta) else theta[first : first + rows]
        xp = namespace(block.t)
        for k in np.unique(fold[fold >= 0]).tolist():
            own = np.flatnonzero(fold == k)
            if len(own) == rows:
                self.parts[k].add(block)
                return
            weight = None if block.weight is None else host(block.weight)[own]
            chosen = xp.asarray(own, device=block.t.device)
            t = xp.take(block.t, chosen, axis=0)
            self.parts[k].add(Block(block.x, t, weight, block.exponent, block.first_row, chosen))

    def merge(self, other: Self) -> None:
        """Merge the sums of each fold."""
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            mine.merge(theirs)


def running(parts: list[S]) -> list[S]:
    """Return the sum of the first 1, 2, ... of some sums."""
    out = [deepcopy(parts[0])]
    for part in parts[1:]:
        out.append(deepcopy(out[-1]))
        out[-1].merge(part)
    return out


def all_but_one(parts: list[S]) -> list[S]:
    """Return, for each of two or more sums, the sum of all others."""
    before, after = running(parts[:-1]), running(parts[:0:-1])[::-1]
    middle = [deepcopy(one) for one in before[:-1]]
    for left, right in zip(middle, after[1:], strict=True):
        left.merge(right)
    return [after[0], *middle, before[-1]]
