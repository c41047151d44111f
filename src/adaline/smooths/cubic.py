"""Cubic regression splines: their coefficients are the function's values at the knots.

Between knots x_j, x_(j+1) at distance h the curve is a cubic with values beta and second derivatives F beta,

    f(x) = a_- beta_j + a_+ beta_(j+1) + c_- (F beta)_j + c_+ (F beta)_(j+1),
    a_- = (x_(j+1) - x) / h,   a_+ = (x - x_j) / h,   c = (h^2 / 6) (a^3 - a),

and the integral of f''^2 is beta' D' B^-1 D beta, F = B^-1 D.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solveh_banded

from adaline.arrays import Array
from adaline.errors import InvalidData


@dataclass(frozen=True)
class CubicSpline:
    """A natural cubic spline with these knots, two or more that rise; straight lines beyond them (mgcv's `cr`)."""

    knots: tuple[float, ...]

    @property
    def width(self) -> int:
        """Number of coefficients, one a knot."""
        return len(self.knots)

    def columns(self, x: Array) -> Array:
        """Return b_k(x) at rows x (n, 1)."""
        knots, at = np.array(self.knots), np.asarray(x, dtype=np.float64)[:, 0]
        inside = np.clip(at, knots[0], knots[-1])
        j = np.clip(np.searchsorted(knots, inside, side="right") - 1, 0, len(knots) - 2)
        out = _pieces(inside, j, j + 1, knots[j], knots[j + 1], self.curvature)
        beyond = np.flatnonzero(inside != at)
        if len(beyond):
            out[beyond] += (at - inside)[beyond, None] * self._slopes[(at[beyond] > knots[-1]).astype(int)]
        return out

    def penalty(self) -> Array:
        """Return the integral of the squared second derivative, (width, width)."""
        second = _natural_differences(np.diff(self.knots))
        return np.asarray(second.T @ self.curvature[1:-1])

    @cached_property
    def curvature(self) -> Array:
        """F: second derivatives at the knots."""
        h = np.diff(self.knots)
        out = np.zeros((len(self.knots), len(self.knots)))
        if len(h) > 1:
            out[1:-1] = natural_curvature(h, _natural_differences(h))
        return out

    @cached_property
    def _slopes(self) -> Array:
        """First derivatives at the first and the last knot, (2, width)."""
        h, curvature = np.diff(self.knots), self.curvature
        out = np.zeros((2, len(self.knots)))
        out[0, :2], out[1, -2:] = (-1 / h[0], 1 / h[0]), (-1 / h[-1], 1 / h[-1])
        out[0] -= h[0] / 6 * curvature[1]
        out[1] += h[-1] / 6 * curvature[-2]
        return out


@dataclass(frozen=True)
class CyclicSpline:
    """A periodic cubic spline: the ends of the knots are one point (mgcv's `cc`)."""

    knots: tuple[float, ...]

    @property
    def width(self) -> int:
        """Number of coefficients, one less than knots."""
        return len(self.knots) - 1

    def columns(self, x: Array) -> Array:
        """Return b_k(x) at rows x (n, 1)."""
        knots = np.array(self.knots)
        at = knots[0] + np.mod(np.asarray(x, dtype=np.float64)[:, 0] - knots[0], knots[-1] - knots[0])
        j = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(knots) - 2)
        return _pieces(at, j, (j + 1) % self.width, knots[j], knots[j + 1], self.curvature)

    def penalty(self) -> Array:
        """Return the integral of the squared second derivative, (width, width)."""
        return np.asarray(self._matrices[0].T @ self.curvature)

    @cached_property
    def _matrices(self) -> tuple[Array, Array]:
        h = np.diff(self.knots)
        m = self.width
        differences, products = np.zeros((2, m, m))
        for i in range(m):  # knot i lies between pieces i - 1 and i
            before, after = h[i - 1], h[i]
            differences[i, i - 1] += 1 / before
            differences[i, i] -= 1 / before + 1 / after
            differences[i, (i + 1) % m] += 1 / after
            products[i, i - 1] += before / 6
            products[i, i] += (before + after) / 3
            products[i, (i + 1) % m] += after / 6
        return differences, products

    @cached_property
    def curvature(self) -> Array:
        differences, products = self._matrices
        return np.asarray(np.linalg.solve(products, differences))


def natural_curvature(h: Array, differences: Array) -> Array:
    """Return the second derivatives at the inner knots of natural splines, of the differences of slopes there."""
    if len(h) == 2:  # one equation, which LAPACK's banded solver does not take
        return np.asarray(3 * differences / h.sum())
    band = np.zeros((2, len(h) - 1))
    band[0, 1:], band[1] = h[1:-1] / 6, (h[:-1] + h[1:]) / 3
    if not (np.isfinite(band).all() and np.isfinite(differences).all()):
        raise InvalidData(
            "a curve overflows float64: values of its column are too far apart, or too close beside their range; "
            "give its logarithm, or leave the column out"
        )
    return np.asarray(solveh_banded(band, differences))


def _natural_differences(h: Array) -> Array:
    """Return D, (knots - 2, knots): second divided differences times the mean distance."""
    out = np.zeros((len(h) - 1, len(h) + 1))
    row = np.arange(len(h) - 1)
    out[row, row], out[row, row + 2] = 1 / h[:-1], 1 / h[1:]
    out[row, row + 1] = -(1 / h[:-1] + 1 / h[1:])
    return out


def _pieces(
    x: Array, left: NDArray[np.intp], right: NDArray[np.intp], low: Array, high: Array, curvature: Array
) -> Array:
    """Return columns at x between the knots left and right, which lie at low and high."""
    h = high - low
    below, above = (high - x) / h, (x - low) / h
    out = (h**2 / 6 * (below**3 - below))[:, None] * curvature[left]
    out += (h**2 / 6 * (above**3 - above))[:, None] * curvature[right]
    row = np.arange(len(x))
    out[row, left] += below
    out[row, right] += above
    return np.asarray(out)
