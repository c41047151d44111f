"""Double-double arithmetic: a number as hi + lo, |lo| <= ulp(hi)/2, about 32 digits.

Error-free transforms (Knuth, Dekker): two_sum(a, b) = s + e and two_prod(a, b) = p + e hold exactly. Only + - * are
used, so that arrays of any array-API namespace can be operands. `Twofold` has operators and elementary functions of
NumPy arrays, each right to about 2^-98 of its value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from adaline.arrays import namespace
from adaline.kernels import native

SPLITTER = 134217729.0  # 2^27 + 1
LN2 = (0.6931471805599453, 2.3190468138462996e-17)
HALVINGS, EXACT_TERMS, TERMS = 5, 7, 12  # of the series of exp: the last terms are rounding of the first in float64
INVERSE_FACTORIALS = [
    (1 / math.factorial(k), float(Fraction(1, math.factorial(k)) - Fraction(1 / math.factorial(k))))
    for k in range(EXACT_TERMS + 1)
]
LARGEST_EXPONENT = 600.0  # exponents are cut at this size, so that products of splits do not overflow


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
    e = e + (a_hi * b_lo + a_lo * b_hi)  # smaller than p
    hi = p + e
    return hi, e - (hi - p)


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


@dataclass(frozen=True, slots=True)
class Twofold:
    """Numbers hi + lo, NumPy arrays of one shape.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.twofold import Twofold, exact
    >>> third = exact(np.ones(1)) / exact(np.full(1, 3.0))
    >>> bool(third.lo[0] != 0), float((third * 3.0 - 1.0).hi[0])
    (True, 0.0)
    """

    hi: Any
    lo: Any
    __array_ufunc__: ClassVar[None] = None  # arrays leave operations to this class

    def __iter__(self) -> Iterator[Any]:
        return iter((self.hi, self.lo))

    def __add__(self, other: Any) -> Twofold:
        return Twofold(*add(self.hi, self.lo, *_pair(other)))

    def __radd__(self, other: Any) -> Twofold:
        return self.__add__(other)

    def __neg__(self) -> Twofold:
        return Twofold(-self.hi, -self.lo)

    def __sub__(self, other: Any) -> Twofold:
        b_hi, b_lo = _pair(other)
        return Twofold(*add(self.hi, self.lo, -b_hi, -b_lo))

    def __rsub__(self, other: Any) -> Twofold:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> Twofold:
        return Twofold(*multiply(self.hi, self.lo, *_pair(other)))

    def __rmul__(self, other: Any) -> Twofold:
        return self.__mul__(other)

    def __truediv__(self, other: Any) -> Twofold:
        b = Twofold(*_pair(other))
        first = Twofold(self.hi / b.hi, 0.0 * self.hi)
        rest = self - b * first
        return first.__add__((rest.hi + rest.lo) / b.hi)

    def __rtruediv__(self, other: Any) -> Twofold:
        return exact(other + 0.0 * self.hi) / self

    def where(self, condition: Any, other: Any) -> Twofold:
        """Return these numbers where a condition holds, others elsewhere."""
        b_hi, b_lo = _pair(other)
        return Twofold(np.where(condition, self.hi, b_hi), np.where(condition, self.lo, b_lo))

    def expm1(self) -> Twofold:
        """Return exp - 1, without loss where the exponent is small."""
        near = np.abs(self.hi) < 0.3
        return _small_expm1(self.where(near, 0.0)).where(near, self.exp() - 1.0)

    def exp(self) -> Twofold:
        """Return the exponential; exponents are clipped to +-LARGEST_EXPONENT. In C++: `native/twofold.hpp`."""
        if native is None:
            return self.exp_reference()
        hi, lo = np.array(self.hi, dtype=np.float64, order="C"), np.array(self.lo, dtype=np.float64, order="C")
        native.twofold_exp(hi, lo)
        return Twofold(hi, lo)

    def exp_reference(self) -> Twofold:
        """Return the same by operations of arrays."""
        inside = np.abs(self.hi) < LARGEST_EXPONENT
        z = self.where(inside, np.clip(self.hi, -LARGEST_EXPONENT, LARGEST_EXPONENT))
        k = np.rint(z.hi / LN2[0])
        e = _small_expm1(z - Twofold(*multiply(k, 0.0 * k, *LN2))) + 1.0
        power = k.astype(np.int64)
        return Twofold(np.ldexp(e.hi, power), np.ldexp(e.lo, power))

    def log(self) -> Twofold:
        """Return the logarithm, by a step of Newton's method from that in float64."""
        first = exact(np.log(self.hi))
        return first + ((-first).exp() * self - 1.0)


def exact(a: Any) -> Twofold:
    """Return numbers as they are."""
    return Twofold(a, 0.0 * a)


def _pair(a: Any) -> tuple[Any, Any]:
    return (a.hi, a.lo) if isinstance(a, Twofold) else (a, 0.0 * a)


def _small_expm1(r: Twofold) -> Twofold:
    """Return exp(r) - 1 for |r| below 0.4: e of r / 2^n by its series, then e <- e^2 + 2 e, n times."""
    share = 2.0**-HALVINGS
    r = Twofold(r.hi * share, r.lo * share)
    tail = np.zeros_like(r.hi)
    for k in range(TERMS, EXACT_TERMS, -1):
        tail = (tail + 1.0 / math.factorial(k)) * r.hi
    out = exact(tail)
    for k in range(EXACT_TERMS, 0, -1):
        out = (out + Twofold(*INVERSE_FACTORIALS[k])) * r
    for _ in range(HALVINGS):
        out = out * (out + 2.0)
    return out
