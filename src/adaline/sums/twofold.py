"""Double-double arithmetic: a number as hi + lo, |lo| <= ulp(hi)/2, about 32 digits.

Error-free transforms (Knuth, Dekker): two_sum(a, b) = s + e and two_prod(a, b) = p + e hold exactly. Only + - * are
used, so that arrays of any array-API namespace can be operands.
"""

from __future__ import annotations

from typing import Any

from adaline.arrays import namespace

SPLITTER = 134217729.0  # 2^27 + 1


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return s, e with s = fl(a + b) and s + e = a + b."""
    s = a + b
    v = s - a
    return s, (a - (s - v)) + (b - v)


def two_prod(a: Any, b: Any) -> tuple[Any, Any]:
    """Return p, e with p = fl(a b) and p + e = a b (no overflow below 2^996)."""
    p = a * b
    a_hi, a_lo = _split(a)
    b_hi, b_lo = _split(b)
    return p, ((a_hi * b_hi - p) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo


def add(a_hi: Any, a_lo: Any, b_hi: Any, b_lo: Any) -> tuple[Any, Any]:
    """Return a + b as hi, lo."""
    s, e = two_sum(a_hi, b_hi)
    return two_sum(s, e + (a_lo + b_lo))


def multiply(a_hi: Any, a_lo: Any, b_hi: Any, b_lo: Any) -> tuple[Any, Any]:
    """Return a b as hi, lo."""
    p, e = two_prod(a_hi, b_hi)
    return two_sum(p, e + (a_hi * b_lo + a_lo * b_hi))


def sum_rows(hi: Any, lo: Any) -> tuple[Any, Any]:
    """Return the sum over the first axis, added in pairs."""
    while hi.shape[0] > 1:
        half = hi.shape[0] // 2
        odd_hi, odd_lo = hi[2 * half :, ...], lo[2 * half :, ...]
        hi, lo = add(hi[:half, ...], lo[:half, ...], hi[half : 2 * half, ...], lo[half : 2 * half, ...])
        if odd_hi.shape[0]:
            xp = namespace(hi)
            first_hi, first_lo = add(hi[:1, ...], lo[:1, ...], odd_hi, odd_lo)
            hi, lo = xp.concat([first_hi, hi[1:, ...]]), xp.concat([first_lo, lo[1:, ...]])
    return hi[0, ...], lo[0, ...]


def _split(a: Any) -> tuple[Any, Any]:
    c = a * SPLITTER
    hi = c - (c - a)
    return hi, a - hi
