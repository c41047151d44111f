"""Scales of residuals, both right for normal errors; a weight of 2 is the residual twice.

    mad:    s = median |r_n| / Phi^-1(3/4),   Phi^-1(3/4) = 0.67448975...
    huber:  s with  sum_n w_n min((r_n/s)^2, d^2) = 2 (W - p) h,   d = 2.5,
            h = d^2 + (1 - d^2) Phi(d) - 1/2 - d phi(d),   W the sum of the weights, p the number of coefficients

Residuals in memory give the scale directly. For streamed rows, passes count weights by size within a window
(`sums/ranks.py`), without holding residuals; the next window is the cell that contains the answer, until every size in
it is known. Two passes are enough, or one if the scale is nearly known. The result is that of residuals in memory, not
an estimate.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, host, is_device, namespace
from adaline.sources import Source
from adaline.sums import Ranks
from adaline.sums.ranks import INFINITY_KEY, size_of

# the upper quartile of the normal distribution: a MAD divided by it estimates the standard deviation
NORMAL_QUARTILE = float(scipy.special.ndtri(0.75))
# d of Huber's proposal 2: residuals beyond d scales count as d; smaller resists more outliers, at less efficiency
REACH = 2.5
# half of the expected squared residual, cut at d, of a normal distribution: it makes the scale consistent
_DENSITY = math.exp(-0.5 * REACH**2) / math.sqrt(2 * math.pi)
EXPECTED = REACH**2 + (1 - REACH**2) * float(scipy.special.ndtr(REACH)) - 0.5 - REACH * _DENSITY
# share of the weight by which rounding may miss one half of it; 10x larger averages two middle values more often
HALF_ROUNDING = 1e-14


class Scale(ABC):
    """A scale of residuals."""

    @abstractmethod
    def of(self, r: Any, weight: AnyArray) -> float:
        """Return the scale of residuals (N,) that count `weight` times, both on the host or both on a device."""


@dataclass(frozen=True)
class KnownScale(Scale):
    """A scale that is given."""

    scale: float

    def of(self, r: Any, weight: AnyArray) -> float:
        """Return it."""
        return self.scale


class RankedScale(Scale):
    """A scale that is decided by one size: by what lies below it."""

    reach: float
    """The deciding size, in units of the scale."""

    @abstractmethod
    def reaches(self, ranks: Ranks, sizes: Array, below: Array) -> NDArray[np.bool_]:
        """Return whether the deciding size is each of these sizes (m,) or more, given the totals below them, (m, 2)."""

    @abstractmethod
    def from_ranks(self, ranks: Ranks, cell: int) -> float:
        """Return the scale from totals whose cells are single sizes: the deciding size is from `cell` on."""


@dataclass(frozen=True)
class Mad(RankedScale):
    """The median of |r| over the upper quartile of the standard normal distribution, 0.67449."""

    reach = NORMAL_QUARTILE

    def of(self, r: Any, weight: AnyArray) -> float:
        """Return the scale."""
        return median(abs(r), weight) / NORMAL_QUARTILE

    def reaches(self, ranks: Ranks, sizes: Array, below: Array) -> NDArray[np.bool_]:
        """Return whether less than half of the weight lies below."""
        return np.asarray(below[:, 0] < 0.5 * ranks.weight * (1 - HALF_ROUNDING))

    def from_ranks(self, ranks: Ranks, cell: int) -> float:
        """Return the scale: the mean of two sizes where half of the weight lies up to the first."""
        sizes = ranks.keys.view(np.float64)
        first = second = float(sizes[cell])
        if ranks.cumulative()[cell + 1, 0] <= 0.5 * ranks.weight * (1 + HALF_ROUNDING):
            above = [] if ranks.ends[0] == INFINITY_KEY else [size_of(int(ranks.ends[0]))]
            second = [*sizes[cell + 1 : cell + 2].tolist(), *above, first][0]
        return 0.5 * (first + second) / NORMAL_QUARTILE


@dataclass(frozen=True)
class HuberScale(RankedScale):
    """Huber's proposal 2 for a number of coefficients."""

    parameters: int
    reach = REACH

    def of(self, r: Any, weight: AnyArray) -> float:
        """Return the scale."""
        if is_device(r) and equal_weights(weight):
            return self._of_alike(namespace(r).sort(abs(r)), float(weight[0]))
        r, weight = host(r), host(weight)
        order = np.argsort(np.abs(r), kind="stable")
        size, w = np.abs(r)[order], weight[order]
        inside = np.cumsum(w)
        total = inside[-1]

        def within(k: int) -> float:
            """Return the squares up to that of size k, in units of it: of a far outlier they would be lost."""
            return float(w[: k + 1] @ (size[: k + 1] / size[k]) ** 2) if size[k] > 0 else 0.0

        def falls_short(k: int) -> bool:
            """Return whether sum w min((r/s)^2, d^2), which falls with s, is too small at s = size / d."""
            enough = REACH**2 * (within(k) + total - inside[k]) >= 2 * (total - self.parameters) * EXPECTED
            return bool(not enough and size[k] > 0)

        last = bisect_left(range(len(size)), True, key=falls_short) - 1
        room = 2 * (total - self.parameters) * EXPECTED - REACH**2 * (total - inside[last])
        return float(size[last] * math.sqrt(within(last) / room)) if last >= 0 and room > 0 else 0.0

    def _of_alike(self, size: Any, weight: float) -> float:
        """Return the scale of sizes on a device, ascending, of one weight; as above, without sums of all of them."""
        total, xp = weight * size.shape[0], namespace(size)

        def within(k: int) -> float:
            return weight * float(xp.sum((size[: k + 1] / size[k]) ** 2)) if float(size[k]) > 0 else 0.0

        def falls_short(k: int) -> bool:
            enough = REACH**2 * (within(k) + total - weight * (k + 1)) >= 2 * (total - self.parameters) * EXPECTED
            return not enough and float(size[k]) > 0

        last = bisect_left(range(size.shape[0]), True, key=falls_short) - 1
        room = 2 * (total - self.parameters) * EXPECTED - REACH**2 * (total - weight * (last + 1))
        return float(size[last]) * math.sqrt(within(last) / room) if last >= 0 and room > 0 else 0.0

    def reaches(self, ranks: Ranks, sizes: Array, below: Array) -> NDArray[np.bool_]:
        """Return whether sum w min((r/s)^2, d^2), which falls with s, is not yet too small at s = size / d."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            within = np.where(below[:, 1] > 0, below[:, 1] / sizes / sizes, 0.0)
        total = ranks.weight
        return np.asarray(REACH**2 * (within + total - below[:, 0]) >= 2 * (total - self.parameters) * EXPECTED)

    def from_ranks(self, ranks: Ranks, cell: int) -> float:
        """Return the scale where the sizes up to that of the cell are within d s, and no others."""
        (inside, squares), total = ranks.cumulative()[cell + 1], ranks.weight
        room = 2 * (total - self.parameters) * EXPECTED - REACH**2 * (total - inside)
        return math.sqrt(squares / room) if room > 0 else 0.0


def scale_by_passes(source: Source, sizes: Any, scale: RankedScale, ranks: Ranks | None = None) -> float:
    """Return the scale of the numbers that `sizes.read` returns for the rows of a source; one or more passes.

    `ranks` are totals of a window where the answer probably lies; all sizes are looked at where there are none.
    """
    ranks = source.sum(Ranks, sizes) if ranks is None else ranks
    low, high = 0, INFINITY_KEY
    while ranks.weight > 0:
        edges = np.concatenate([[ranks.low], ranks.keys, [ranks.high]]).astype(np.uint64)
        below = ranks.cumulative()
        reached = scale.reaches(ranks, edges.view(np.float64), np.concatenate([below[:1], below]))
        if not reached[0]:
            high = ranks.low
        elif reached[-1] and ranks.high < high:
            low = ranks.high
        else:
            cell = int(np.flatnonzero(reached[:-1])[-1]) - 1
            if ranks.shift == 0 or cell < 0:
                return scale.from_ranks(ranks, cell)
            low = int(ranks.keys[cell])
            high = min(low + (1 << ranks.shift), ranks.high)
        ranks = source.sum(Ranks, sizes, window=(low, high))
    return 0.0


def equal_weights(weight: AnyArray) -> bool:
    """Whether all weights of rows on a device are one number."""
    xp = namespace(weight)
    return bool(xp.min(weight) == xp.max(weight))


def middle_of(values: AnyArray) -> float:
    """Return the median of values that count alike, of any namespace; NaN of none, and where one of them is NaN."""
    n = values.shape[0]
    if n == 0:
        return np.nan
    low, high = (n - 1) // 2, n // 2
    # np.median takes five times as long as np.partition for a hundred values.
    ascending = namespace(values).sort(values) if is_device(values) else np.partition(values, (low, high, n - 1))
    return np.nan if np.isnan(float(ascending[-1])) else 0.5 * (float(ascending[low]) + float(ascending[high]))


def median(values: AnyArray, weight: AnyArray) -> float:
    """Return the median of values that count `weight` times; the mean of both where it falls between two."""
    if is_device(values):
        if equal_weights(weight):
            return middle_of(values)
        values, weight = host(values), host(weight)
    if not len(weight) or (weight[0] > 0 and (weight == weight[0]).all()):
        return middle_of(values)
    positive = weight > 0
    if not positive.any() or np.ptp(weight[positive]) == 0:
        return middle_of(values[positive])
    order = np.argsort(values, kind="stable")
    order = order[weight[order] > 0]
    below = np.cumsum(weight[order])
    half = 0.5 * below[-1]
    first = int(np.searchsorted(below, half * (1 - HALF_ROUNDING)))
    second = first + 1 if below[first] <= half * (1 + HALF_ROUNDING) else first
    return float(0.5 * (values[order[first]] + values[order[min(second, len(order) - 1)]]))
