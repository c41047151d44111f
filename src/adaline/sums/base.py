"""A sum: a statistic of rows that has a zero, adds blocks, and merges, whatever the order of the rows (a monoid).

Laws, tested for every class in SUMS: zero is neutral, merging is associative to rounding, any split into blocks
gives the same result, integer weights equal repeated rows, pickling keeps every bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from adaline.arrays import Array, ThetaLike
from adaline.attributes import own_attributes
from adaline.block import Block, Shape


class Sum(ABC):
    """Base of all sums; final classes are listed in `adaline.sums.SUMS`.

    The attributes of a sum are the arguments of its constructor, in their order: it is pickled by them.
    """

    uses_blas: ClassVar[bool] = False
    """Whether `add` calls BLAS, which is then limited to one thread while blocks run."""

    reads_columns: ClassVar[bool] = False
    """Whether `add` accepts a block whose x are Columns."""

    reads_units: ClassVar[bool] = False
    """Whether `add` accepts a block whose x are UnitsApart."""

    has_device_kernel: ClassVar[bool] = False
    """Whether a device adds rows up so fast that it pays to send them there."""

    @classmethod
    @abstractmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sum over no rows, for D features and K targets."""

    @abstractmethod
    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in the rows of a block, at parameters theta where the sum depends on them."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Take in another sum; `self` becomes the sum over both sets of rows. Some also `subtract` one again."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(own_attributes(self).values())


class Totals(Sum):
    """A sum whose numbers are one array of totals, `sums`: it merges by addition."""

    def __init__(self, sums: Array) -> None:
        self.sums = sums

    @property
    def finite(self) -> bool:
        """Whether all totals are finite."""
        return bool(np.isfinite(self.sums).all())

    def merge(self, other: Self) -> None:
        """Add the totals."""
        self.sums += other.sums


class JointSum(Sum):
    """Several sums over the same rows in one read: a product of sums is a sum.

    `zero` takes `kinds`, pairs of a sum's class and its configuration; theta has one entry for each kind, or is None.
    """

    uses_blas = True

    def __init__(self, parts: list[Sum]) -> None:
        self.parts = parts

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows."""
        return cls([kind.zero(shape, **own) for kind, own in config["kinds"]])

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Add the rows of a block to each sum."""
        for i, part in enumerate(self.parts):
            part.add(block, None if theta is None else theta[i])

    def merge(self, other: Self) -> None:
        """Merge each sum with its counterpart."""
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            mine.merge(theirs)
