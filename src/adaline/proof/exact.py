"""Exact linear algebra: floats are rationals, and rationals with one common factor are Python integers.

A row may be multiplied by any positive number without changing on which side of a plane it lies, so each is brought to
integers by a power of two of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from adaline.proof.lifting import Whole, pivots, primes, solve

Array = NDArray[np.float64]

MANTISSA = 53
NEVER = 1 << 20  # an exponent above all others: that of zero


def whole_rows(x: Array, shift: Array, exponent: NDArray[np.int64]) -> tuple[Whole, NDArray[np.int64]]:
    """Return rows (1, (x - shift) 2^-exponent) 2^k as integers, (n, 1 + D), and the power k of each row."""
    m, e = _parts(x)
    m_shift, e_shift = _parts(np.broadcast_to(shift, x.shape[1:]))
    e, e_shift = e - exponent, e_shift - exponent
    least = np.minimum(np.minimum(e, e_shift).min(axis=1, initial=0), 0)
    out = np.empty((x.shape[0], x.shape[1] + 1), dtype=object)
    out[:, 0] = _times_power(np.ones(len(x), dtype=np.int64), -least)
    out[:, 1:] = _times_power(m, e - least[:, None])
    moved = np.flatnonzero(m_shift)
    if len(moved):
        out[:, 1 + moved] -= _times_power(
            np.broadcast_to(m_shift[moved], (len(x), len(moved))), e_shift[moved] - least[:, None]
        )
    return out, -least


def whole(values: Iterable[Any]) -> Whole:
    """Return numbers, floats or fractions, times one positive number that makes all of them integers."""
    fractions = [Fraction(value) for value in values]
    common = lcm(*(value.denominator for value in fractions))
    return objects(value.numerator * (common // value.denominator) for value in fractions)


def objects(values: Iterable[Any]) -> Whole:
    """Return numbers as an array of Python objects."""
    held = list(values)
    out = np.empty(len(held), dtype=object)
    out[:] = held
    return out


def rounded(values: Whole) -> Array:
    """Return integers as floats, each rounded once, divided by one power of two so that the largest is about one."""
    out = np.zeros(values.shape)
    at = np.nonzero(values)  # few, of rows of words
    held = [int(value) for value in values[at]]
    scale = 1 << max((abs(value).bit_length() for value in held), default=0)
    out[at] = [value / scale for value in held]
    return out


def signs(values: Whole) -> NDArray[np.int8]:
    """Return the sign of each integer."""
    return (values > 0).astype(np.int8) - (values < 0).astype(np.int8)


class Elimination(NamedTuple):
    """Rows in terms of the first ones that are independent: det rows[rest] = table' rows[independent], det > 0."""

    independent: list[int]
    rest: list[int]
    table: Whole  # (independent, rest)
    det: int

    def dependency(self, place: int) -> Whole:
        """Return integers lambda with sum lambda_i row_i = 0, positive for row rest[place], zero for others of rest."""
        out = np.zeros(len(self.independent) + len(self.rest), dtype=np.int64).astype(object)
        out[self.rest[place]] = self.det
        out[self.independent] = -self.table[:, place]
        return out


def eliminate(rows: Whole) -> Elimination:
    """Return which rows are independent and how the others depend on them."""
    for p in primes():
        independent, columns = pivots(rows, p)
        rest = [i for i in range(len(rows)) if i not in independent]
        base = rows[independent]
        table, det = solve(base[:, columns].T, rows[rest][:, columns].T, p)
        if not rest or (rows[rest] * det == table.T @ base).all():
            return Elimination(independent, rest, table, det)
    raise AssertionError("unreachable: only finitely many primes divide a determinant")


def spans(rows: Whole) -> bool:
    """Return whether rows span their whole space for certain; False may be bad luck with a prime."""
    return bool(len(pivots(rows, next(primes()))[0]) == rows.shape[1])


class Complement(NamedTuple):
    """The directions theta with rows . theta = 0: theta[free] = det phi, theta[pivots] = -table phi, any phi."""

    pivots: list[int]
    free: list[int]
    table: Whole  # (pivots, free)
    det: int  # positive

    def lift(self, phi: Whole) -> Whole:
        """Return theta for phi."""
        theta = np.empty(len(self.pivots) + len(self.free), dtype=object)
        theta[self.free] = phi * self.det
        if self.pivots:
            theta[self.pivots] = -(self.table @ phi)
        return theta

    def reduce(self, rows: Whole) -> Whole:
        """Return rows u with u . phi = row . theta for every phi; zero for rows that depend on those given."""
        out = rows[:, self.free] * self.det
        return np.asarray(out - rows[:, self.pivots] @ self.table) if self.pivots else out


def complement(rows: Whole, dimension: int) -> Complement:
    """Return the directions at right angles to some rows; pivots are chosen in floats, for a table of small ratios."""
    base = rows[eliminate(rows).independent]
    if not len(base):
        return Complement([], list(range(dimension)), np.empty((0, dimension), dtype=object), 1)
    order = linalg.qr(np.array([rounded(row) for row in base]), mode="r", pivoting=True)[1].tolist()
    for p in primes():
        places = pivots(base[:, order].T, p)[0]
        if len(places) == len(base):
            columns = [order[i] for i in places]
            free = [j for j in range(dimension) if j not in columns]
            return Complement(columns, free, *solve(base[:, columns], base[:, free], p))
    raise AssertionError("unreachable: only finitely many primes divide a determinant")


def _parts(x: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return odd integers m and powers e with x = m 2^e; zero has a power above all others."""
    mantissa, e = np.frexp(np.asarray(x, dtype=np.float64))
    m = np.ldexp(mantissa, MANTISSA).astype(np.int64)
    zeros = np.frexp((m & -m).astype(np.float64))[1].astype(np.int64) - 1
    m = np.where(m == 0, 0, m >> np.maximum(zeros, 0))
    return m, np.where(m == 0, NEVER, e.astype(np.int64) - MANTISSA + zeros)


def _times_power(m: NDArray[np.int64], power: NDArray[np.int64]) -> Whole:
    out = np.zeros(m.shape, dtype=np.int64).astype(object)
    at = np.nonzero(m)
    out[at] = np.left_shift(m[at].astype(object), np.broadcast_to(power, m.shape)[at].astype(object))
    return out
