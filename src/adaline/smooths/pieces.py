"""Curves as cubics between knots: what every smooth of one column is, whatever its basis, once its knots are known.

Between knots x_j, x_(j+1) at distance h a column with values v and second derivatives c at the knots is

    a_- v_j + a_+ v_(j+1) + (h^2 / 6) [(a_-^3 - a_-) c_j + (a_+^3 - a_+) c_(j+1)],
    a_- = (x_(j+1) - x) / h,   a_+ = (x - x_j) / h.

A row costs about as much for two thousand knots as for ten. Columns are divided by a power of two, which is exact, so
that curves do not depend on units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from adaline.arrays import Array
from adaline.forms import Ascending, Finite, Int64
from adaline.kernels import native
from adaline.smooths.cubic import CubicSpline, CyclicSpline, natural_curvature
from adaline.smooths.penalized import PenalizedSpline
from adaline.smooths.smooth import Smooth


@dataclass(frozen=True, eq=False)
class CubicPieces:
    """Columns b_k(x), cubic between knots.

    Parameters
    ----------
    exponent : x is divided by 2 to this power.
    knots : (P,) in these units, two or more.
    values, curvature : values and second derivatives of the columns at the knots, (P, m).
    periodic : whether the ends are one point; otherwise columns are straight lines beyond them.
    """

    exponent: Int64
    knots: Annotated[Array, Ascending("P")]
    values: Annotated[Array, Finite("P W")]
    curvature: Annotated[Array, Finite("P W")]
    periodic: bool = False

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    def columns(self, x: Array) -> Array:
        """Return b_k(x) at x (n,), as (n, m)."""
        out = np.empty((len(x), self.width))
        self.fill(out, x)
        return out

    def fill(self, out: Array, x: Array) -> None:
        """Set out (n, m), whose rows may be longer in memory, to b_k(x) at x (n,)."""
        run = pieces_reference if native is None else native.cubic_pieces
        x = np.ascontiguousarray(x, dtype=np.float64)
        run(out, x, self.exponent, self.knots, self.values, self.curvature, self.periodic)


def pieces_reference(
    out: Array, x: Array, exponent: int, knots: Array, values: Array, curvature: Array, periodic: bool
) -> None:
    """Set out (n, m) to the columns at x (n,); in C++ `native/pieces.hpp`."""
    at = np.ldexp(x, -exponent)
    low, high = knots[0], knots[-1]
    inside = low + np.mod(at - low, high - low) if periodic else np.clip(at, low, high)
    j = np.clip(np.searchsorted(knots, inside, side="right") - 1, 0, len(knots) - 2)
    h = knots[j + 1] - knots[j]
    below, above = (knots[j + 1] - inside) / h, (inside - knots[j]) / h
    out[:] = below[:, None] * values[j] + above[:, None] * values[j + 1]
    out += (h**2 / 6 * (below**3 - below))[:, None] * curvature[j]
    out += (h**2 / 6 * (above**3 - above))[:, None] * curvature[j + 1]
    beyond = np.flatnonzero((inside != at) & (not periodic))
    if len(beyond):
        slopes = _end_slopes(knots, values, curvature)
        out[beyond] += (at - inside)[beyond, None] * slopes[(at[beyond] > high).astype(int)]


def _end_slopes(knots: Array, values: Array, curvature: Array) -> Array:
    """Return the first derivatives at the first and the last knot, (2, m)."""
    out = []
    for a, b, sign in ((0, 1, -1.0), (-2, -1, 1.0)):
        h = knots[b] - knots[a]
        own, other = (a, b) if sign < 0 else (b, a)
        bend = h / 6 * (2 * curvature[own] + curvature[other])
        out.append((values[b] - values[a]) / h + sign * bend)
    return np.array(out)


def as_pieces(smooth: Smooth, transform: Array, exponent: int, points: Array) -> CubicPieces:
    """Return the columns of a smooth times a matrix T (width, m) as cubics between knots.

    `points` are those of a thin plate spline, a natural cubic spline between them.
    """
    if isinstance(smooth, CyclicSpline):
        around = np.vstack([transform, transform[:1]])
        bends = smooth.curvature @ transform
        return CubicPieces(exponent, np.array(smooth.knots), around, np.vstack([bends, bends[:1]]), True)
    if isinstance(smooth, CubicSpline):
        return CubicPieces(exponent, np.array(smooth.knots), transform, smooth.curvature @ transform)
    if isinstance(smooth, PenalizedSpline):
        knots = smooth.knots()
        first, middle, last = transform[:-2], transform[1:-1], transform[2:]
        bends = (first - 2 * middle + last) / np.mean(np.diff(knots)) ** 2
        return CubicPieces(exponent, knots, (first + 4 * middle + last) / 6, bends)
    values = smooth.columns(points[:, None]) @ transform
    return CubicPieces(exponent, points, values, _natural_curvature(points, values))


def _natural_curvature(knots: Array, values: Array) -> Array:
    """Return the second derivatives at the knots of natural cubic splines through values, (P, m)."""
    h = np.diff(knots)
    out = np.zeros_like(values)
    if len(h) > 1:
        slopes = np.diff(values, axis=0) / h[:, None]
        out[1:-1] = natural_curvature(h, np.diff(slopes, axis=0))
    return out
