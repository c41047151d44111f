"""The minimum of a quadratic with corners, which is what a step under an l1 penalty asks for.

    q(w) = g'(w - start) + 1/2 (w - start)' H (w - start) + sum_j l1_j |w_j|

Sweeps of coordinate descent find which weights are zero, and which sign the others have. On those q is smooth, and one
solve gives its minimum: where the signs hold, that is the answer; otherwise the step ends where the first weight
becomes zero, and sweeps go on. Nearly dependent columns, on which coordinate descent alone crawls, cost no more.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from adaline.kernels import native

Array = NDArray[np.float64]

NATIVE = hasattr(native, "descend")
SWEEPS = 4
ROUNDS = 200
HELD = 1e-11
FLOOR = 1e-14  # of the size of the residual at the start: nothing below it is met


def least(w: Array, g: Array, l1: Array) -> Array:
    """Return the least subgradient of smooth + sum l1 |w| where the smooth part has gradient g: zero at the minimum."""
    return np.where(w != 0, g + l1 * np.sign(w), np.sign(g) * np.maximum(np.abs(g) - l1, 0.0))


def minimum(hessian: Array, gradient: Array, start: Array, l1: Array, share: float) -> Array:
    """Return w, (M,), where the residual is at most a share of what it is at the start."""
    hessian = np.ascontiguousarray(hessian)
    w, g = start.copy(), gradient.copy()
    diagonal = hessian.diagonal()
    alive = diagonal > 0

    def size() -> float:
        return float((least(w, g, l1)[alive] ** 2 / diagonal[alive]).sum())

    wanted = max(share, FLOOR) ** 2 * size()
    last = math.inf
    for _ in range(ROUNDS):
        descend(hessian, g, w, l1, SWEEPS, wanted)
        if size() <= wanted:
            break
        _solve_support(hessian, g, w, l1)
        reached = 0.5 * float((gradient + g) @ (w - start)) + float(l1 @ np.abs(w))
        if size() <= wanted or not reached < last:
            break
        last = reached
    return w


def descend(hessian: Array, g: Array, w: Array, l1: Array, sweeps: int, enough: float) -> float:
    """Sweep over the coordinates, in place, natively where that can be."""
    return float((native.descend if NATIVE else descend_reference)(hessian, g, w, l1, sweeps, enough))


def descend_reference(hessian: Array, g: Array, w: Array, l1: Array, sweeps: int, enough: float) -> float:
    """Sweep over the coordinates, in place: the loop of native/descent.hpp."""
    moved = 0.0
    for _ in range(sweeps):
        moved = 0.0
        for j in np.flatnonzero(hessian.diagonal() > 0):
            h = hessian[j, j]
            a = h * w[j] - g[j]
            new = np.sign(a) * max(abs(a) - l1[j], 0.0) / h + 0.0
            change = new - w[j]
            g += change * hessian[j]
            w[j] = new
            moved += h * change**2
        if moved <= enough:
            break
    return moved


def _solve_support(hessian: Array, g: Array, w: Array, l1: Array) -> None:
    """Go to the minimum over the weights that are not zero, in place, or to where the first of them becomes zero."""
    support = np.flatnonzero(((w != 0) | (l1 == 0)) & (hessian.diagonal() > 0))
    if not len(support):
        return
    part = hessian[np.ix_(support, support)]
    step = -_solved(part, g[support] + l1[support] * np.sign(w[support]))
    before = w[support]
    crossing = np.flatnonzero((before * (before + step) < 0) & (l1[support] > 0))
    reaches = -before[crossing] / step[crossing]
    share = float(reaches.min(initial=1.0))
    after = before + share * step
    after[crossing[reaches <= share]] = 0.0
    w[support] = after
    g += hessian[:, support] @ (after - before)


def _solved(matrix: Array, right: Array) -> Array:
    """Return matrix^-1 right, a little held: along what the matrix does not see, l1 decides by a far step."""
    unit = 1.0 / np.sqrt(matrix.diagonal())
    even = matrix * unit[:, None] * unit
    even[np.diag_indices_from(even)] += HELD
    factored = linalg.cho_factor(even, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(unit * linalg.cho_solve(factored, unit * right, check_finite=False))
