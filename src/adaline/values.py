"""Values that come in blocks: reduced block by block, and added exactly, so that no bit depends on how they are cut.

A float64 is a whole number of 2^-1074, and so is a sum of them; Python's integers hold it. A chunk of values is split
into a high part, whose sum is free of rounding in any order, and the rest, until nothing is left (S. Rump, T. Ogita and
S. Oishi 2008): about 5 ns a value.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import reduce
from math import frexp, ldexp
from typing import TypeVar

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidData

T = TypeVar("T")

UNIT_EXPONENT = 1074  # the unit of exact sums is 2^-1074, the smallest float64
CHUNK_VALUES = 2**14  # values processed at a time, in the cache; doubling it may leave the cache
SUM_BITS = 15  # bits by which the sum of so many values may exceed the largest of them
LEAST_SCALED = 2.0**960  # size from which a chunk is scaled before it is split; doubling it overflows in sums


class Values(ABC):
    """Values that lie elsewhere, in a file or on other machines: what is asked of them is done there."""

    @abstractmethod
    def reduce(self, function: Callable[[Array], T], merge: Callable[[T, T], T]) -> T:
        """Return function(x) of all blocks x (n,), merged; `merge` is associative and commutes, both can be pickled."""


Blocks = Callable[[], Iterable[Array]] | Values
"""A function that returns values, (n,), block by block, from the first each time; or values that lie elsewhere."""


def reduce_blocks(blocks: Blocks, function: Callable[[Array], T], merge: Callable[[T, T], T] = operator.add) -> T:
    """Return function(x) of all blocks x (n,), merged: added, unless told otherwise. Large blocks are cut."""
    if isinstance(blocks, Values):
        return blocks.reduce(function, merge)
    pieces = (x[start : start + CHUNK_VALUES] for x in blocks() for start in range(0, max(len(x), 1), CHUNK_VALUES))
    return reduce(merge, map(function, pieces))


def exact_sum(x: Array) -> int:
    """Return the sum of finite numbers, (n,), as a whole number of 2^-1074; refuse those that are not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.values import exact_mean, exact_sum
    >>> exact_mean(exact_sum(np.array([1e300, 3.0, -1e300])), 3)
    1.0
    """
    return sum(_sum_chunk(x[start : start + CHUNK_VALUES]) for start in range(0, len(x), CHUNK_VALUES))


def exact_mean(total: int, count: int) -> float:
    """Return an exact sum over a count, rounded once; 0 where nothing was counted."""
    return total / (max(count, 1) << UNIT_EXPONENT)


def _sum_chunk(x: Array) -> int:
    largest = float(max(x.max(), -x.min()))
    if not largest < LEAST_SCALED:
        return _sum_huge(x)
    total, unit, high, rest = 0, frexp(largest)[1] + SUM_BITS, np.empty_like(x), x
    while rest.any():
        step = ldexp(1.0, max(unit, -1022))
        np.add(rest, step, out=high)
        high -= step
        numerator, denominator = float(high.sum()).as_integer_ratio()
        total += numerator << (UNIT_EXPONENT + 1 - denominator.bit_length())
        rest = rest - high if rest is x else np.subtract(rest, high, out=rest)
        unit += SUM_BITS - 53  # the rest is below 2^(unit - 53)
    return total


def _sum_huge(x: Array) -> int:
    """Return the sum of a chunk with numbers so large that their sum may overflow."""
    if not np.isfinite(x).all():
        raise InvalidData("numbers that are to be added are not finite, or too large to be squared: rescale the column")
    large = np.abs(x) > 1.0
    return exact_sum(x[~large]) + (exact_sum(np.ldexp(x[large], -128)) << 128)
