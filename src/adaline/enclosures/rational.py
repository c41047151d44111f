"""Intervals between rational numbers: what is computed from a solution after it is enclosed, on a few numbers.

    ln x = k ln 2 + 2 artanh((m - 1) / (m + 1)),   x = m 2^k,   artanh s = s + s^3 / 3 + s^5 / 5 + ...

A series that is cut after terms in s^(2n - 1) lacks less than s^(2n + 1) / ((2n + 1) (1 - s^2)).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from adaline.errors import InvalidData

BITS = 200  # of roots and logarithms; half as many would still do
TERMS = 45  # of the series, whose terms fall by a ninth or faster; half as many leave 2^-75


class Between(NamedTuple):
    """The numbers from low to high."""

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, value: float) -> Between:
        """Return a number."""
        return cls(Fraction(value), Fraction(value))

    @classmethod
    def about(cls, middle: Fraction, radius: Fraction) -> Between:
        """Return the numbers around one."""
        return cls(middle - radius, middle + radius)

    def plus(self, other: Between | Fraction) -> Between:
        """Return the sums."""
        low, high = other if isinstance(other, Between) else (other, other)
        return Between(self.low + low, self.high + high)

    def times(self, other: Between | Fraction) -> Between:
        """Return the products."""
        ends = [a * b for a in self for b in (other if isinstance(other, Between) else (other,))]
        return Between(min(ends), max(ends))

    def inverse(self) -> Between:
        """Return 1 / x of numbers above zero."""
        self._check_positive()
        return Between(1 / self.high, 1 / self.low)

    def root(self) -> Between:
        """Return the square roots of numbers above zero."""
        self._check_positive()
        return Between(_root(self.low, 0), _root(self.high, 1))

    def log(self) -> Between:
        """Return the logarithms of numbers above zero."""
        self._check_positive()
        return Between(_log(self.low).low, _log(self.high).high)

    def _check_positive(self) -> None:
        if self.low <= 0:
            raise InvalidData(f"numbers from {float(self.low):g} to {float(self.high):g} are not all above zero")

    def floats(self) -> tuple[float, float]:
        """Return float64 numbers below and above."""
        return below(self.low), -below(-self.high)


def below(value: Fraction) -> float:
    """Return the largest float64 number that is not above a rational one."""
    try:
        near = float(value)
    except OverflowError:
        return -math.inf if value < 0 else float(np.finfo(float).max)
    return near if Fraction(near) <= value else math.nextafter(near, -np.inf)


def _root(value: Fraction, up: int) -> Fraction:
    shift = max(BITS + (value.denominator.bit_length() - value.numerator.bit_length()) // 2, 0)
    return Fraction(math.isqrt((value.numerator << 2 * shift) // value.denominator) + up, 1 << shift)


def _log(value: Fraction) -> Between:
    k = value.numerator.bit_length() - value.denominator.bit_length()
    m = value / Fraction(2) ** k
    return _artanh((m - 1) / (m + 1)).plus(_artanh(Fraction(1, 3)).times(Fraction(k))).times(Fraction(2))


def _artanh(s: Fraction) -> Between:
    """Return artanh of |s| up to 1/3, in whole multiples of 2^-2 BITS."""
    unit = 1 << 2 * BITS
    square, power, total = s * s, s, 0
    for i in range(1, 2 * TERMS, 2):
        total += math.floor(power / i * unit)
        power = Fraction(math.floor(power * square * unit), unit)
    lost = Fraction(8 * TERMS, unit) + Fraction(1, 9**TERMS)
    return Between.about(Fraction(total, unit), lost)
