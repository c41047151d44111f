"""Several sums over the same rows in one read: a product of sums is a sum."""

from __future__ import annotations

from typing import Any, Self

from adaline.block import Block, Shape
from adaline.sums.base import Sum


class JointSum(Sum):
    """A list of sums, each of which takes in every block.

    `zero` takes `kinds`, pairs of a sum's class and its configuration; theta has one entry for each kind, or is None.
    """

    uses_blas = True

    def __init__(self, parts: list[Sum]) -> None:
        self.parts = parts

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows."""
        return cls([kind.zero(shape, **own) for kind, own in config["kinds"]])

    def add(self, block: Block, theta: Any = None) -> None:
        """Add the rows of a block to each sum."""
        for i, part in enumerate(self.parts):
            part.add(block, None if theta is None else theta[i])

    def merge(self, other: Self) -> None:
        """Merge each sum with its counterpart."""
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            mine.merge(theirs)
