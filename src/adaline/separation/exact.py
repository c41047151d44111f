"""Exact linear algebra on Python integers: elimination, complements, and linear systems by p-adic lifting.

Floats are rationals. A row may be multiplied by any positive number without changing on which side of a plane it lies,
so each is brought to integers by a power of two of its own.

Linear systems A X = B are solved by Dixon's lifting (1982). With C = A^-1 mod p, the digits of
X = A^-1 B = X_0 + X_1 p + X_2 p^2 + ... follow one after the other,

    X_i = C R_i mod p,   R_{i+1} = (R_i - A X_i) / p,   R_0 = B

each at the cost of a product of small integers. Enough digits determine the fractions (continued fractions), and
A X = B is checked at the end, so that nothing depends on a bound or on the choice of p.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import count
from math import gcd, isqrt, lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from adaline.arrays import Array

MANTISSA = 53
ZERO_EXPONENT = 1 << 20  # an exponent above all others: that of zero
PRIMES_BELOW = 2**25  # primes below this: sums of 4096 products of two residues fit into 63 bits; doubling it overflows
PIECE_BITS = 24  # bits of the pieces of A; doubling it overflows

Whole = NDArray[np.object_]
"""Integers of any size."""

Small = NDArray[np.int64]


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
    listed = list(values)
    out = np.empty(len(listed), dtype=object)
    out[:] = listed
    return out


def rounded(values: Whole) -> Array:
    """Return integers as floats, each rounded once, divided by one power of two so that the largest is about one."""
    out = np.zeros(values.shape)
    nonzero = np.nonzero(values)  # few, in rows of word counts
    integers = [int(value) for value in values[nonzero]]
    scale = 1 << max((abs(value).bit_length() for value in integers), default=0)
    out[nonzero] = [value / scale for value in integers]
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

    def dependency(self, i: int) -> Whole:
        """Return integers lambda with sum lambda_j row_j = 0, positive for row rest[i], zero for others of rest."""
        out = np.zeros(len(self.independent) + len(self.rest), dtype=np.int64).astype(object)
        out[self.rest[i]] = self.det
        out[self.independent] = -self.table[:, i]
        return out


def eliminate(rows: Whole) -> Elimination:
    """Return which rows are independent and how the others depend on them."""
    for p in primes():
        independent, columns = pivots(rows, p)
        rest = [i for i in range(len(rows)) if i not in independent]
        base = rows[independent]
        table, det = solve_integers(base[:, columns].T, rows[rest][:, columns].T, p)
        if not rest or (rows[rest] * det == table.T @ base).all():
            return Elimination(independent, rest, table, det)
    raise AssertionError("unreachable: only finitely many primes divide a determinant")


def spans(rows: Whole) -> bool:
    """Return whether rows certainly span their whole space; False may be due to the choice of a prime."""
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
    """Return the orthogonal complement of some rows; pivots are chosen in floats, for a table of small ratios."""
    base = rows[eliminate(rows).independent]
    if not len(base):
        return Complement([], list(range(dimension)), np.empty((0, dimension), dtype=object), 1)
    order = linalg.qr(np.array([rounded(row) for row in base]), mode="r", pivoting=True)[1].tolist()
    for p in primes():
        found = pivots(base[:, order].T, p)[0]
        if len(found) == len(base):
            columns = [order[i] for i in found]
            free = [j for j in range(dimension) if j not in columns]
            return Complement(columns, free, *solve_integers(base[:, columns], base[:, free], p))
    raise AssertionError("unreachable: only finitely many primes divide a determinant")


def primes() -> Iterator[int]:
    """Return primes below 2^25, the largest first: all but finitely many serve any system."""
    return filter(_is_prime, range(PRIMES_BELOW - 1, 2, -2))


@cache
def _is_prime(p: int) -> bool:
    """Whether an odd number is prime; few are ever asked for, and these often."""
    return all(p % q for q in range(3, isqrt(p) + 1, 2))


def pivots(rows: Whole, p: int) -> tuple[list[int], list[int]]:
    """Return the first rows that are independent modulo p, and as many columns in which they are.

    Rows that are independent modulo p are independent; others need not be dependent.
    """
    left = (rows % p).astype(np.int64) if rows.size else np.empty(rows.shape, dtype=np.int64)
    found: list[int] = []
    columns: list[int] = []
    for i in range(len(left)):
        at = np.flatnonzero(left[i])
        if not len(at):
            continue
        j = int(at[0])
        found.append(i)
        columns.append(j)
        row = left[i] * pow(int(left[i, j]), -1, p) % p
        left[i + 1 :] = (left[i + 1 :] - left[i + 1 :, j, None] * row) % p
    return found, columns


def solve_integers(a: Whole, b: Whole, p: int) -> tuple[Whole, int]:
    """Return integers N, (n, m), and d > 0 with A N = d B; A is (n, n) and not singular modulo p.

    Cost: about n (bits of A) / 12 steps of n^2 m products of small integers.
    """
    n, m = b.shape
    if n == 0 or m == 0:
        return np.empty((n, m), dtype=object), 1
    inverse = _inverse((a % p).astype(np.int64), p)
    pieces = _pieces(a)
    rest = b.copy()
    x: Whole = np.zeros((n, m), dtype=np.int64).astype(object)
    power, steps = 1, 2
    for step in count(1):
        digit = inverse @ (rest % p).astype(np.int64) % p
        rest = (rest - _product(pieces, digit)) // p
        x = x + digit.astype(object) * power
        power *= p
        if step >= steps or not rest.any():
            found = _fractions(x, power)
            if found is not None and (a @ found[0] == b * found[1]).all():
                return found
            steps = step + max(step // 2, 4)
    raise AssertionError("unreachable")


def _parts(x: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return odd integers m and powers e with x = m 2^e; zero has a power above all others."""
    mantissa, e = np.frexp(np.asarray(x, dtype=np.float64))
    m = np.ldexp(mantissa, MANTISSA).astype(np.int64)
    zeros = np.frexp((m & -m).astype(np.float64))[1].astype(np.int64) - 1
    m = np.where(m == 0, 0, m >> np.maximum(zeros, 0))
    return m, np.where(m == 0, ZERO_EXPONENT, e.astype(np.int64) - MANTISSA + zeros)


def _times_power(m: NDArray[np.int64], power: NDArray[np.int64]) -> Whole:
    out = np.zeros(m.shape, dtype=np.int64).astype(object)
    at = np.nonzero(m)
    out[at] = np.left_shift(m[at].astype(object), np.broadcast_to(power, m.shape)[at].astype(object))
    return out


def _inverse(a: Small, p: int) -> Small:
    n = len(a)
    both = np.concatenate([a, np.eye(n, dtype=np.int64)], axis=1)
    for k in range(n):
        pivot = k + int(np.flatnonzero(both[k:, k])[0])
        both[[k, pivot]] = both[[pivot, k]]
        both[k] = both[k] * pow(int(both[k, k]), -1, p) % p
        factor = both[:, k].copy()
        factor[k] = 0
        both = (both - factor[:, None] * both[k]) % p
    return both[:, n:]


def _pieces(a: Whole) -> list[Small]:
    """Return A as a sum of A_k 2^(24 k), signs in every piece."""
    out = []
    sign = np.where(a < 0, -1, 1).astype(np.int64)
    size = np.frompyfunc(abs, 1, 1)(a)
    while size.any():
        out.append((size & (2**PIECE_BITS - 1)).astype(np.int64) * sign)
        size = size >> PIECE_BITS
    return out


def _product(pieces: list[Small], digit: Small) -> Any:
    out: Any = 0
    for k, piece in enumerate(pieces):
        out = out + ((piece @ digit).astype(object) << (PIECE_BITS * k))
    return out


def _fractions(x: Whole, modulus: int) -> tuple[Whole, int] | None:
    """Return numerators and one denominator d with d x = numerators modulo the modulus; None where there are none."""
    bound = isqrt(modulus // 2)
    d = 1
    for value in x.flat:
        scaled = int(value) * d % modulus
        if min(scaled, modulus - scaled) > bound // max(d, 1) and min(scaled, modulus - scaled) > 2**60:
            found = _fraction(scaled, modulus, bound)
            if found is None:
                return None
            d *= found
            if d > bound:
                return None
    scaled_all = x * d % modulus
    return np.where(scaled_all > modulus // 2, scaled_all - modulus, scaled_all), d


def _fraction(x: int, modulus: int, bound: int) -> int | None:
    """Return the smallest denominator d with d x small modulo the modulus."""
    r0, r1, s0, s1 = modulus, x, 0, 1
    while r1 > bound:
        q, r = divmod(r0, r1)
        r0, r1 = r1, r
        s0, s1 = s1, s0 - q * s1
    return abs(s1) if 0 < abs(s1) <= bound and gcd(r1, s1) == 1 else None
