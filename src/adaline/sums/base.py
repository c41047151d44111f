"""A sum is a monoid over rows: it has a zero, takes in blocks, and merges.

Laws, tested for every class in SUMS: zero is neutral, merging is associative to rounding, any split into blocks
gives the same answer, integer weights equal repeated rows, pickling keeps every bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from adaline.block import Block, Shape


class Sum(ABC):
    """Base of all sums; a final class registers itself in `adaline.sums.SUMS`."""

    invertible: ClassVar[bool] = False
    """Whether `subtract` exists."""

    uses_blas: ClassVar[bool] = False
    """Whether `add` calls BLAS, which must then be held to one thread while blocks run."""

    reads_columns: ClassVar[bool] = False
    """Whether `add` takes a block whose x are Columns."""

    @classmethod
    @abstractmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the neutral element for D features and K targets."""

    @abstractmethod
    def add(self, block: Block, theta: Any = None) -> None:
        """Take in the rows of a block, at parameters theta where the sum depends on them."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Take in another sum; `self` becomes the sum over both sets of rows."""
