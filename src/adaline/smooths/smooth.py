"""What every smooth is: columns b_k(x) and a penalty on their coefficients."""

from __future__ import annotations

from typing import Protocol

from adaline.arrays import Array


class Smooth(Protocol):
    """A function of one or more columns, linear in its coefficients."""

    @property
    def width(self) -> int:
        """Number of coefficients."""

    def columns(self, x: Array) -> Array:
        """Return b_k(x) at rows x (n, m), as (n, width)."""

    def penalty(self) -> Array:
        """Return S, (width, width): beta' S beta measures how wiggly the function is."""
