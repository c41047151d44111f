"""How large residuals are, whatever a few of them do: the median of their sizes, or Huber's proposal 2.

    mad:    s = median |r_n| / Phi^-1(3/4),   Phi^-1(3/4) = 0.67448975...
    huber:  s with  sum_n w_n min((r_n/s)^2, d^2) = 2 (W - p) h,   d = 2.5,
            h = d^2 + (1 - d^2) Phi(d) - 1/2 - d phi(d)

Both are right for normal errors. A weight of 2 is the residual twice; W is the sum of the weights and p the number of
coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]
Scale = Callable[[Array, Array], float]

QUARTER = float(special.ndtri(0.75))
D = 2.5
H = D**2 + (1 - D**2) * float(special.ndtr(D)) - 0.5 - D * math.exp(-0.5 * D * D) / math.sqrt(2 * math.pi)


def median(values: Array, weight: Array) -> float:
    """Return the median of values that count `weight` times; the mean of both where it falls between two."""
    if (weight == weight[0]).all():
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    order = order[weight[order] > 0]
    below = np.cumsum(weight[order])
    half = 0.5 * below[-1]
    first = int(np.searchsorted(below, half * (1 - 1e-14)))
    second = first + 1 if below[first] <= half * (1 + 1e-14) else first
    return float(0.5 * (values[order[first]] + values[order[min(second, len(order) - 1)]]))


def mad(r: Array, weight: Array) -> float:
    """Return the median of |r| over the upper quartile of the standard normal distribution, 0.67449."""
    return median(np.abs(r), weight) / QUARTER


def proposal(parameters: int) -> Scale:
    """Return Huber's proposal 2 for so many coefficients."""

    def scale(r: Array, weight: Array) -> float:
        order = np.argsort(np.abs(r), kind="stable")
        size, w = np.abs(r)[order], weight[order]
        largest = size[-1]
        if largest == 0:
            return 0.0
        inside, squares = np.cumsum(w), np.cumsum(w * (size / largest) ** 2)
        room = 2 * (inside[-1] - parameters) * H - D**2 * (inside[-1] - inside)
        with np.errstate(divide="ignore", invalid="ignore"):
            s = largest * np.sqrt(squares / room)
        beyond = np.append(size[1:], np.inf)
        fits = np.flatnonzero((room > 0) & (size <= D * s) & (D * s <= beyond))
        return float(s[fits[0]]) if len(fits) else 0.0

    return scale
