"""Sums that are one array of totals: they merge by adding."""

from __future__ import annotations

from typing import Any, Self

from adaline.arrays import Array
from adaline.sums.base import Sum


class Totals(Sum):
    """A sum held as the array `sums`."""

    def __init__(self, sums: Array) -> None:
        self.sums = sums

    def merge(self, other: Self) -> None:
        """Add."""
        self.sums += other.sums

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.sums,)
