"""Functions of formulas that learn from the rows: means, scales, knots, breaks, orthogonal polynomials, all as in R.

What is learned is a tuple of numbers, kept in the coding and stored with the model; each class has the options of a
call as its fields. All of it is learned by sums over blocks that merge without rounding: center, scale and poly by
exact sums of numbers, cut by the range and counts, bs and ns by counting the values that begin with the same bits. So
what is learned does not depend on how the rows are cut, or where they lie.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.basis.polynomial import orthogonal, recurrence
from adaline.basis.spline import MOST_SPLINE_COLUMNS, b_splines, natural_splines
from adaline.errors import InvalidData, InvalidParameter
from adaline.values import Blocks, Values, exact_mean, exact_sum, reduce_blocks

Facts = tuple[float, ...]

HELD = 2**23  # values that are held in memory to find quantiles; of more they are found by passes over all rows
MOST_DEGREES = 30
RADIX = 16  # bits of a float that a pass over the rows fixes


class LearnedFunction(ABC):
    """A call of a function that learns: `kind` says whether it gives a number, several columns, or levels for a row."""

    kind: ClassVar[str] = "number"

    @abstractmethod
    def learn(self, blocks: Blocks) -> Facts:
        """Return what the function learns from the values of its argument."""

    @abstractmethod
    def of(self, x: Array, facts: Facts) -> Array:
        """Return the values at x (n,): (n,), (n, M), or the indices of levels, NaN where there is none."""

    def size(self, facts: Facts) -> int:
        """Return the number of columns, or of levels."""
        return 1

    @abstractmethod
    def fits(self, facts: Facts) -> bool:
        """Whether numbers, as from a model file, can be what the function has learned."""


@dataclass(frozen=True)
class Centering(LearnedFunction):
    """center(x): x less its mean."""

    def learn(self, blocks: Blocks) -> Facts:
        return (mean(blocks),)

    def of(self, x: Array, facts: Facts) -> Array:
        return x - facts[0]

    def fits(self, facts: Facts) -> bool:
        return len(facts) == 1


@dataclass(frozen=True)
class Scaling(LearnedFunction):
    """scale(x, center=TRUE, scale=TRUE): x less its mean, by its standard deviation (of n - 1, as in R)."""

    center: bool = True
    scale: bool = True

    def __post_init__(self) -> None:
        _check_flags("scale", center=self.center, scale=self.scale)

    def learn(self, blocks: Blocks) -> Facts:
        middle = mean(blocks) if self.center else 0.0
        if not self.scale:
            return middle, 1.0
        count, squares = reduce_blocks(blocks, partial(_squares, middle))
        if not squares or count < 2:
            raise InvalidData("scale() of a column that is constant has no unit: leave it out, or use center()")
        return middle, float(np.sqrt(exact_mean(squares, count - 1)))

    def of(self, x: Array, facts: Facts) -> Array:
        return (x - facts[0]) / facts[1]

    def fits(self, facts: Facts) -> bool:
        return len(facts) == 2 and facts[1] > 0


@dataclass(frozen=True)
class Poly(LearnedFunction):
    """poly(x, degree=1, raw=FALSE): polynomials that are orthonormal over the rows, or with raw=TRUE powers."""

    degree: int = 1
    raw: bool = False
    kind: ClassVar[str] = "columns"

    def __post_init__(self) -> None:
        _check_flags("poly", raw=self.raw)
        _check_count("poly", "degree", self.degree, 1, MOST_DEGREES)

    def learn(self, blocks: Blocks) -> Facts:
        if self.raw:
            return ()
        count, found = reduce_blocks(blocks, len), recurrence(blocks, self.degree)
        if not np.isfinite(found).all():
            raise InvalidData(f"poly() of degree {self.degree} needs more than {self.degree} different values")
        return (float(np.sqrt(count)), *found.ravel().tolist())

    def of(self, x: Array, facts: Facts) -> Array:
        if self.raw:
            return np.asarray(x[:, None] ** np.arange(1, self.degree + 1))
        steps = np.reshape(facts[1:], (1, self.degree, 3))
        return np.concatenate(orthogonal(x[:, None], steps)[1:], axis=1) / facts[0]

    def size(self, facts: Facts) -> int:
        return self.degree

    def fits(self, facts: Facts) -> bool:
        return len(facts) == (0 if self.raw else 1 + 3 * self.degree) and (self.raw or facts[0] > 0)


@dataclass(frozen=True)
class BSpline(LearnedFunction):
    """bs(x, df, knots, degree=3, intercept=FALSE, Boundary.knots): B-splines, knots at quantiles unless given."""

    df: int | None = None
    knots: tuple[float, ...] | None = None
    degree: int = 3
    intercept: bool = False
    Boundary_knots: tuple[float, ...] | None = None
    kind: ClassVar[str] = "columns"

    def __post_init__(self) -> None:
        _check_count("bs", "degree", self.degree, 1, MOST_DEGREES)
        _check_knots("bs", self, self.degree + self.intercept)

    def learn(self, blocks: Blocks) -> Facts:
        return _knots(blocks, self, self.degree + self.intercept)

    def of(self, x: Array, facts: Facts) -> Array:
        return b_splines(x, facts, self.degree)[:, 1 - self.intercept :]

    def size(self, facts: Facts) -> int:
        return len(facts) - 2 + self.degree + self.intercept

    def fits(self, facts: Facts) -> bool:
        return _are_knots(facts)


@dataclass(frozen=True)
class NaturalSpline(LearnedFunction):
    """ns(x, df, knots, intercept=FALSE, Boundary.knots): natural cubic splines, knots as of bs."""

    df: int | None = None
    knots: tuple[float, ...] | None = None
    intercept: bool = False
    Boundary_knots: tuple[float, ...] | None = None
    kind: ClassVar[str] = "columns"

    def __post_init__(self) -> None:
        _check_knots("ns", self, 1 + self.intercept)

    def learn(self, blocks: Blocks) -> Facts:
        return _knots(blocks, self, 1 + self.intercept)

    def of(self, x: Array, facts: Facts) -> Array:
        return natural_splines(x, facts, self.intercept)

    def size(self, facts: Facts) -> int:
        return len(facts) - 1 + self.intercept

    def fits(self, facts: Facts) -> bool:
        return _are_knots(facts)


@dataclass(frozen=True)
class Cut(LearnedFunction):
    """cut(x, breaks, right=TRUE, include.lowest=FALSE): levels by intervals, of equal width where breaks is a count."""

    breaks: int | tuple[float, ...] | None = None
    right: bool = True
    include_lowest: bool = False
    kind: ClassVar[str] = "levels"

    def __post_init__(self) -> None:
        _check_flags("cut", right=self.right, include_lowest=self.include_lowest)
        if isinstance(self.breaks, tuple):
            if not 2 <= len(self.breaks) <= MOST_SPLINE_COLUMNS or len(set(self.breaks)) < len(self.breaks):
                raise InvalidParameter(f"cut() takes 2 to {MOST_SPLINE_COLUMNS:,} different breaks")
        else:
            _check_count("cut", "breaks", self.breaks, 2, MOST_SPLINE_COLUMNS)

    def learn(self, blocks: Blocks) -> Facts:
        """Return the breaks, and the share of the rows in each interval."""
        if isinstance(self.breaks, tuple):
            breaks = np.sort(self.breaks)
        else:
            assert self.breaks is not None
            low, high = _range(blocks)
            breaks, beyond = np.linspace(low, high, self.breaks + 1), (high - low) / 1000
            if low == high:
                beyond = abs(low) / 1000 or 0.001
                breaks = np.linspace(low - beyond, high + beyond, self.breaks + 1)
            breaks[0], breaks[-1] = low - beyond, high + beyond
        counts = reduce_blocks(blocks, partial(self._count, tuple(breaks)))
        return (*breaks.tolist(), *(counts / max(counts.sum(), 1)).tolist())

    def _count(self, breaks: Facts, x: Array) -> NDArray[np.int64]:
        """Return how many values lie in each interval."""
        codes = self.of(x, (*breaks, *breaks[1:]))
        return np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=len(breaks) - 1)

    def of(self, x: Array, facts: Facts) -> Array:
        breaks = np.array(facts[: self.size(facts) + 1])
        out = np.asarray(
            np.searchsorted(breaks, x, side="left" if self.right else "right") - 1.0
        )  # x may be one number
        if self.include_lowest:
            out[x == breaks[0 if self.right else -1]] += 1 if self.right else -1
        out[(out < 0) | (out >= len(breaks) - 1) | np.isnan(x)] = np.nan
        return out

    def size(self, facts: Facts) -> int:
        return (len(facts) - 1) // 2

    def share(self, facts: Facts) -> Facts:
        """Return the share of the rows in each interval."""
        return facts[self.size(facts) + 1 :]

    def labels(self, facts: Facts) -> list[str]:
        """Return the intervals as R writes them, "(0.5,2]", with as many digits as tell the breaks apart."""
        breaks, last = facts[: self.size(facts) + 1], self.size(facts) - 1
        digits = next((d for d in range(3, 17) if len({f"{b:.{d}g}" for b in breaks}) == len(breaks)), 17)
        shown = [f"{b:.{digits}g}" for b in breaks]
        out = []
        for i, (low, high) in enumerate(pairwise(shown)):
            closed = self.include_lowest and i == (0 if self.right else last)
            left, right = ("[" if closed else "(", "]") if self.right else ("[", "]" if closed else ")")
            out.append(f"{left}{low},{high}{right}")
        return out

    def fits(self, facts: Facts) -> bool:
        breaks = facts[: self.size(facts) + 1]
        return len(facts) >= 3 and len(facts) % 2 == 1 and all(a < b for a, b in pairwise(breaks))


LEARNERS: dict[str, type[Any]] = {
    "bs": BSpline,
    "center": Centering,
    "cut": Cut,
    "ns": NaturalSpline,
    "poly": Poly,
    "scale": Scaling,
}


def mean(blocks: Blocks) -> float:
    """Return the mean of values."""
    count, total = reduce_blocks(blocks, _total)
    return exact_mean(total, count)


def _total(x: Array) -> NDArray[Any]:
    """Return the number of values, and their exact sum, (2,)."""
    return np.array([len(x), exact_sum(x)], dtype=object)


def _squares(middle: float, x: Array) -> NDArray[Any]:
    """Return the number of values, and the exact sum of the squares of their distances from the middle, (2,)."""
    return _total((x - middle) ** 2)


def quantiles(
    blocks: Blocks, shares: Sequence[float] | Array, within: tuple[float, float] = (-np.inf, np.inf)
) -> Array:
    """Return the quantiles of the values within two bounds, interpolated as by R's and numpy's default.

    They are exact, in bounded memory: by passes over the values where they are many, or lie elsewhere.
    """
    count = reduce_blocks(blocks, partial(_count_within, within))
    if not count:
        raise InvalidData(f"no value lies between {within[0]:g} and {within[1]:g}: give other bounds, or knots")
    if count <= HELD and not isinstance(blocks, Values):
        values = np.concatenate(list(blocks()))
        return np.asarray(np.quantile(values[(within[0] <= values) & (values <= within[1])], shares))
    position = np.asarray(shares) * (count - 1)
    below = np.floor(position).astype(np.int64)
    found = _order_statistics(blocks, np.concatenate([below, np.minimum(below + 1, count - 1)]), within)
    low, high = found[: len(below)], found[len(below) :]
    part, step = position - below, high - low
    return np.asarray(np.where(part < 0.5, low + step * part, high - step * (1 - part)))


def _count_within(within: tuple[float, float], x: Array) -> int:
    return int(np.count_nonzero((within[0] <= x) & (x <= within[1])))


def _order_statistics(blocks: Blocks, ranks: NDArray[np.int64], within: tuple[float, float]) -> Array:
    """Return the values of these ranks, 0 the smallest, by radix selection: each pass fixes the next bits of all."""
    prefix, left = np.zeros(len(ranks), dtype=np.uint64), ranks.copy()
    for shift in range(64 - RADIX, -1, -RADIX):
        known, which = np.unique(prefix, return_inverse=True)
        counts = reduce_blocks(blocks, partial(_count_digits, within, known, shift))
        for i, total in enumerate(np.cumsum(counts, axis=1)[which]):
            digit = int(np.searchsorted(total, left[i], side="right"))
            left[i] -= total[digit - 1] if digit else 0
            prefix[i] = (prefix[i] << np.uint64(RADIX)) | np.uint64(digit)
    negative = prefix < 2**63
    return np.where(negative, ~prefix, prefix ^ np.uint64(2**63)).view(np.float64)


def _count_digits(within: tuple[float, float], known: NDArray[np.uint64], shift: int, x: Array) -> NDArray[np.int64]:
    """Return how many of the values that begin with each of the known bits have each of the next digits, (K, 2^16)."""
    keys = _ordered(x[(within[0] <= x) & (x <= within[1])]) >> np.uint64(shift)
    above, digits = keys >> np.uint64(RADIX), (keys & np.uint64(2**RADIX - 1)).astype(np.intp)
    return np.stack([np.bincount(digits[above == one], minlength=2**RADIX) for one in known])


def _ordered(x: Array) -> NDArray[np.uint64]:
    """Return whole numbers in the order of floats."""
    bits = np.ascontiguousarray(x, dtype=np.float64).view(np.uint64)
    return np.where(bits >> np.uint64(63), ~bits, bits | np.uint64(2**63))


def _range(blocks: Blocks) -> tuple[float, float]:
    low, high = reduce_blocks(blocks, _ends, np.minimum)
    return float(low), -float(high)


def _ends(x: Array) -> Array:
    """Return the smallest value, and the largest one negated, (2,)."""
    return np.array([x.min(initial=np.inf), -x.max(initial=-np.inf)])


def _knots(blocks: Blocks, wanted: BSpline | NaturalSpline, least: int) -> Facts:
    """Return the knots of a spline, the ends of its range first and last."""
    low, high = sorted(wanted.Boundary_knots) if wanted.Boundary_knots else _range(blocks)
    if not low < high:
        raise InvalidData("a spline of a column that is constant means nothing: leave it out")
    if wanted.knots is not None:
        inner = sorted(wanted.knots)
    else:
        shares = np.linspace(0, 1, (wanted.df or least) - least + 2)[1:-1]
        inner = quantiles(blocks, shares, (low, high)).tolist()
    if inner and not low <= inner[0] <= inner[-1] <= high:
        raise InvalidData(f"the knots of a spline must lie between {low:g} and {high:g}, got {inner}")
    return (low, *inner, high)


def _are_knots(facts: Facts) -> bool:
    return 2 <= len(facts) <= 2 * MOST_SPLINE_COLUMNS and facts[0] < facts[-1] and list(facts) == sorted(facts)


def _check_knots(name: str, made: BSpline | NaturalSpline, least: int) -> None:
    _check_flags(name, intercept=made.intercept)
    for option in ("knots", "Boundary_knots"):
        value = getattr(made, option)
        if type(value) in (int, float):
            object.__setattr__(made, option, (float(value),))
        elif not isinstance(value, tuple | None):
            raise InvalidParameter(f"{name}() takes numbers as {option.replace('_', '.')}, got {value!r:.40}")
    if made.df is not None:
        _check_count(name, "df", made.df, least, MOST_SPLINE_COLUMNS)
    if made.knots is not None and len(made.knots) > MOST_SPLINE_COLUMNS:
        raise InvalidParameter(f"{name}() takes at most {MOST_SPLINE_COLUMNS:,} knots")
    if made.Boundary_knots is not None and len(set(made.Boundary_knots)) != 2:
        raise InvalidParameter(f"{name}() takes two different Boundary.knots")


def _check_count(name: str, option: str, value: Any, least: int, most: int) -> None:
    if type(value) is not int or not least <= value <= most:
        raise InvalidParameter(
            f"{name}() takes a whole number of {least} to {most:,} as {option} here, got {value!r:.40}"
        )


def _check_flags(name: str, **flags: Any) -> None:
    for option, value in flags.items():
        if type(value) is not bool:
            raise InvalidParameter(f"{name}() takes TRUE or FALSE as {option}, got {value!r:.40}")
