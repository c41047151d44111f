"""Rounding errors of float64, bounded a priori.

u = 2^-53 is the largest relative error of one operation, rounded to nearest, and k of them in a row make at most
gamma(k) = k u / (1 - k u). A sum of products of n terms, in whatever order, with or without fused operations, is off by
at most gamma(n) times the same sum of absolute values (Higham 2002, section 3.1). Numbers below 2^-1022 may be lost
altogether; TINY is far above what a fit of less than 2^60 operations can lose in that way.
"""

from __future__ import annotations

import numpy as np

from adaline.arrays import Array

ROUNDING = 2.0**-53
OUTWARDS = 1 + 2.0**-20  # factor that covers the rounding of up to 2^30 operations in which a bound itself is computed
UNDERFLOW = 2.0**-1000  # more than what underflow can take from a term of a sum, of factors of ordinary size
TINY = 2.0**-900  # what underflow can do, in units in which columns and coefficients are of ordinary size


def rounds_to_nearest() -> bool:
    """Return whether this thread rounds to nearest: upwards, 1 + u/128 is not 1; downwards, it is not for -1; to zero,
    1 + 3/2 u is 1.
    """
    one, small = np.ones(1), np.full(1, 2.0**-60)
    near = (one + small == 1) & (-one - small == -1) & (one + 192 * small > 1)
    return bool(near[0])


def gamma(k: int) -> float:
    """Return an upper bound on k u / (1 - k u)."""
    return OUTWARDS * k * ROUNDING


def length(a: Array) -> float:
    """Return an upper bound on the root sum of squares of all entries, which bounds the 2-norm of a matrix."""
    return float(OUTWARDS * np.sqrt(np.square(a).sum()) + TINY)


def rows_length(a: Array) -> Array:
    """Return upper bounds on the lengths of the rows."""
    return np.asarray(OUTWARDS * np.sqrt(np.square(a).sum(axis=1)) + TINY)


def ends(hi: Array, lo: Array, radius: Array) -> tuple[Array, Array]:
    """Return float64 numbers below and above hi + lo -+ radius, as near as they can be.

    hi + b is known exactly by its rounded sum and the rest, whose sign says on which side of it the sum is.
    """
    found = []
    for sign in (-1.0, 1.0):
        rest = np.where(radius > 0, np.nextafter(lo + sign * radius, sign * np.inf), lo)
        total = hi + rest
        back = total - hi
        left = (hi - (total - back)) + (rest - back)
        beyond = np.nextafter(total, sign * np.inf)
        found.append(np.where(sign * left > 0, beyond, total))
    return found[0], found[1]


def scaled_outwards(lower: Array, upper: Array, powers: Array) -> tuple[Array, Array]:
    """Return bounds times 2^powers, rounded outwards where they underflow or overflow."""
    out = []
    for end, towards in ((lower, -np.inf), (upper, np.inf)):
        scaled = np.ldexp(end, powers.astype(np.int64))
        exact = np.ldexp(scaled, -powers.astype(np.int64)) == end
        out.append(np.where(exact, scaled, np.nextafter(scaled, towards)))
    return out[0], out[1]
