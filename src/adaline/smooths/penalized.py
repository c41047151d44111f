"""P-splines: B-splines with evenly spaced knots, and a penalty on differences of neighbouring coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adaline.arrays import Array

MARGIN = 1e-3  # share of the range by which knots lie beyond it, as in mgcv; the fit hardly depends on it


@dataclass(frozen=True)
class PenalizedSpline:
    """Cubic B-splines over a range, with squared second differences as penalty (mgcv's `ps`).

    Parameters
    ----------
    low, high : the range of the rows.
    width : number of coefficients, four or more.
    """

    low: float
    high: float
    width: int

    def columns(self, x: Array) -> Array:
        """Return the B-splines at rows x (n, 1); beyond the range they continue as straight lines."""
        span = (self.high - self.low) * (1 + 2 * MARGIN)
        at = (np.asarray(x, dtype=np.float64)[:, 0] - self.low) / span + MARGIN / (1 + 2 * MARGIN)
        at = at * (self.width - 3)  # in distances of knots from the first one inside
        inside = np.clip(at, 0, self.width - 3)
        first = np.minimum(inside.astype(np.intp), self.width - 4)
        u = inside - first
        local = np.stack([(1 - u) ** 3, 3 * u**3 - 6 * u**2 + 4, -3 * u**3 + 3 * u**2 + 3 * u + 1, u**3]) / 6
        slope = np.stack([-((1 - u) ** 2), 3 * u**2 - 4 * u, -3 * u**2 + 2 * u + 1, u**2]) / 2
        out = np.zeros((len(at), self.width))
        np.put_along_axis(out, first[:, None] + np.arange(4), (local + (at - inside) * slope).T, axis=1)
        return out

    def knots(self) -> Array:
        """Return the knots inside, the ends of the range moved out by the margin, (width - 2,)."""
        beyond = (self.high - self.low) * MARGIN
        return np.linspace(self.low - beyond, self.high + beyond, self.width - 2)

    def penalty(self) -> Array:
        """Return the sum of squared second differences of the coefficients, (width, width)."""
        second = np.diff(np.eye(self.width), 2, axis=0)
        return np.asarray(second.T @ second)
