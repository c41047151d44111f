"""The columns in which separability is decided: those that vary, scaled by powers of two, shifted if far from zero.

Both maps are exact, so a plane found here is brought back to the columns as they are given without rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.namespaces import is_sparse
from adaline.proof.exact import rounded
from adaline.proof.lifting import Whole
from adaline.sums.columns import times_power

Array = NDArray[np.float64]

UNIT = 2.0**-53
FLOOR = 2.0**-700  # what underflow may hide in a product
EXTREME = 300  # powers of two beyond which the columns themselves are scaled, not the weights
FAR = 16.0  # a mean of more than so many spreads is shifted away


@dataclass(frozen=True)
class Frame:
    """Columns c = (x - shift) 2^-exponent of the columns in use.

    Parameters
    ----------
    features : number of columns that the rows have.
    columns : those in use.
    shift, exponent : of the columns in use.
    reach : the largest |x - shift|.
    """

    features: int
    columns: NDArray[np.intp]
    shift: Array
    exponent: NDArray[np.int64]
    reach: Array

    @classmethod
    def of(cls, low: Array, high: Array, mean: Array, spread: Array, sparse: bool) -> Frame:
        """Return the frame for columns with these extremes, means and spreads; sparse columns are not shifted."""
        columns = np.flatnonzero(low < high)
        features = len(low)
        low, high, mean, spread = (values[columns] for values in (low, high, mean, spread))
        spread = np.where((spread > 0) & np.isfinite(spread), spread, high / 2 - low / 2)
        exponent = np.frexp(spread)[1].astype(np.int64)
        far = (np.abs(mean) > FAR * spread) & (not sparse)
        with np.errstate(over="ignore", invalid="ignore"):
            even = times_power(np.rint(times_power(mean, -exponent)), exponent)  # few digits: x - shift is often exact
            shift = np.where(far, np.where(np.isfinite(even), even, mean), 0.0)
            reach = np.maximum(np.abs(high - shift), np.abs(low - shift))
        return cls(features, columns, shift, exponent, reach)

    def inside(self, x: Array) -> Array:
        """Return the columns c of rows that hold the columns in use."""
        with np.errstate(over="ignore"):
            return np.asarray(times_power(x - self.shift, -self.exponent))

    def used(self, x: Any) -> Any:
        """Return the columns in use."""
        return x if len(self.columns) == self.features else x[:, self.columns]

    def outside(self, theta: Whole) -> list[Fraction]:
        """Return intercept and weights of the columns as they are given, from weights of (1, c); exact."""
        out = [Fraction(0)] * (1 + self.features)
        out[0] = Fraction(theta[0])
        for j, value, shift, e in zip(self.columns, theta[1:], self.shift, self.exponent.tolist(), strict=True):
            w = Fraction(value) * _power(-e)
            out[1 + int(j)] = w
            out[0] -= w * Fraction(float(shift))
        return out

    def back(self, plane: list[Fraction]) -> list[Fraction]:
        """Return weights of (1, c) from intercept and weights of the columns as they are given; exact."""
        out = [plane[0]]
        for j, shift, e in zip(self.columns, self.shift, self.exponent.tolist(), strict=True):
            w = plane[1 + int(j)]
            out.append(w * _power(e))
            out[0] += w * Fraction(float(shift))
        return out


class Scores:
    """Scores (1, c) . theta of rows for several theta at once, (m, 1 + columns in use), with bounds on their errors."""

    def __init__(self, frame: Frame, theta: Whole) -> None:
        self.frame = frame
        floats = rounded(theta)
        self.constant = floats[:, 0]
        self.present = theta != 0
        self.scaled = bool((np.abs(frame.exponent) > EXTREME).any())
        self.shifted = bool(frame.shift.any())
        self.w = floats[:, 1:] if self.scaled else np.ldexp(floats[:, 1:], -frame.exponent)
        self.direct = not (self.scaled or self.shifted)
        self.every = self.w
        if self.direct and len(frame.columns) < frame.features:
            self.every = np.zeros((len(theta), frame.features))
            self.every[:, frame.columns] = self.w
        reach = times_power(frame.reach, -frame.exponent) if self.scaled else frame.reach
        self.share = (self.w.shape[1] + 8) * UNIT
        with np.errstate(invalid="ignore", over="ignore"):
            self.limit = (np.abs(self.constant) + np.abs(self.w) @ reach) * self.share * (1 + self.share)
        self.limit = np.where(self.present.any(axis=1), self.limit + FLOOR * self.w.shape[1], 0.0)

    def scores(self, x: Any) -> Array:
        """Return the scores in floats, (n, m), of rows with all columns."""
        with np.errstate(invalid="ignore", over="ignore"):
            if self.direct:
                return np.asarray(x @ self.every.T + self.constant)
            return np.asarray(self._columns(x) @ self.w.T + self.constant)

    def bound(self, x: Any) -> Array:
        """Return bounds on the errors of the scores, (n, m); zero where every term is zero."""
        c = np.abs(self._columns(x))
        with np.errstate(invalid="ignore", over="ignore"):
            size = c @ np.abs(self.w).T + np.abs(self.constant)
            terms = (c != 0).astype(np.float64) @ self.present[:, 1:].T.astype(np.float64) + self.present[:, 0]
            return np.asarray(size * (self.share * (1 + self.share)) + FLOOR * terms)

    def _columns(self, x: Any) -> Array:
        part = self.frame.used(x)
        c = np.asarray(part.toarray() if is_sparse(part) else part, dtype=np.float64)
        if self.scaled:
            return self.frame.inside(c)
        return np.asarray(c - self.frame.shift) if self.shifted else c


def _power(e: int) -> Fraction:
    return Fraction(2**e) if e >= 0 else Fraction(1, 2**-e)
