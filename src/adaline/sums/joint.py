"""Several sums in one read of the rows: the product of monoids is a monoid."""

from __future__ import annotations

from typing import Any, Self

from adaline.block import Block, Shape
from adaline.sums.base import Sum


class JointSum(Sum):
    """Sums that take in the same blocks side by side.

    `zero` takes `kinds`, pairs of a sum's class and its configuration; theta is one for each kind, or None.
    """

    uses_blas = True

    def __init__(self, parts: list[Sum]) -> None:
        self.parts = parts

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows."""
        return cls([kind.zero(shape, **own) for kind, own in config["kinds"]])

    def add(self, block: Block, theta: Any = None) -> None:
        """Take in the rows of a block by each sum."""
        for i, part in enumerate(self.parts):
            part.add(block, None if theta is None else theta[i])

    def merge(self, other: Self) -> None:
        """Merge each sum with its counterpart."""
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            mine.merge(theirs)
