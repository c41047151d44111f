"""Quantile regression as a linear program, by the Frisch-Newton interior point method (Portnoy and Koenker 1997).

    primal  min over theta  sum_n level r_n^+ + (1 - level) r_n^-,   r = t - A theta
    dual    max over d      t'd - (1 - level) sum t,   A'd = (1 - level) A'1,   0 <= d <= 1

Rows may be scaled by their weights first, as both sums are. d_n is 1 above the plane, 0 below, and between on rows that
the plane goes through. Iterates keep A'd as it must be, and follow Mehrotra's predictor and corrector. At the end each
row is either on the plane at every solution, or off it: theta is moved onto those rows, which makes it exact. Where
steps get stuck at the boundary, as they may at levels near 0 or 1, the simplex method of HiGHS takes over.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.optimize import linprog

Array = NDArray[np.float64]

BACK = 0.99995  # share of the way to the boundary
MOST, STALLED = 100, 5
FAR = 1e6  # typical residuals
STUCK = 1e-10  # of all residuals, above which a gap that does not fall is no rounding
ENOUGH = 1e-13  # of a typical residual a row, at which the gap is rounding


@dataclass(frozen=True)
class Vertex:
    """A solution.

    Parameters
    ----------
    theta, d : (p,) and (n,), primal and dual.
    on_plane : (n,) which rows every solution goes through.
    unique : whether those leave no other solution.
    condition : of the equations that say so.
    steps : taken.
    """

    theta: Array
    d: Array
    on_plane: NDArray[np.bool_]
    unique: bool
    condition: float
    steps: int


def solve(a: Array, t: Array, level: float, theta: Array) -> Vertex:
    """Solve for rows a (n, p) of full rank and targets t (n,), starting near theta.

    A row far off pulls the same however far: such targets are brought nearer, as long as that changes no side.
    """
    r = t - a @ theta
    far = FAR * (float(np.median(np.abs(r))) or float(np.abs(r).mean()))
    near = np.where(np.abs(r) > far, t - r + np.clip(r, -far, far), t)
    found = _follow(a, near, level, theta)
    if ((t - a @ found.theta) * (near - a @ found.theta) < 0).any():
        return _follow(a, t, level, theta)
    return found


def _follow(a: Array, t: Array, level: float, theta: Array) -> Vertex:
    """Follow the central path to its end."""
    d, s = np.full(len(t), 1.0 - level), np.full(len(t), level)
    r = t - a @ theta
    size = float(np.abs(r).mean()) or 1.0
    r = r + np.where(np.abs(r) < 1e-3 * size, 1e-3 * size, 0.0)
    below, above = np.maximum(-r, 0.0) + 1e-3 * size, np.maximum(r, 0.0) + 1e-3 * size
    best, stalled, steps = np.inf, 0, 0
    while steps < MOST:
        gap = float(below @ d + above @ s)
        stalled = stalled + 1 if gap > 0.9 * best else 0
        if gap <= ENOUGH * len(t) * float(np.median(above + below)):
            break
        if stalled == STALLED and gap > STUCK * float(np.abs(t - a @ theta).sum()):
            return _walk(a, t, level, theta)
        if stalled == STALLED:
            break
        best = min(best, gap)
        moved = _step(a, t, theta, d, s, below, above)
        if moved is None:
            break
        theta, d, s, below, above = moved
        steps += 1
    return _onto_plane(a, t, theta, d, s, steps)


def _step(
    a: Array, t: Array, theta: Array, d: Array, s: Array, below: Array, above: Array
) -> tuple[Array, Array, Array, Array, Array] | None:
    """Take a predictor and a corrector step; None where rounding leaves no direction."""
    q = 1.0 / (below / d + above / s)
    gram = (a * q[:, None]).T @ a
    try:
        root = linalg.cho_factor(gram, check_finite=False)
    except linalg.LinAlgError:
        return None

    def direction(push: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Solve for the step where complementarity changes by push = (that of d, that of s)."""
        lean = t - a @ theta - (push[1] / s - push[0] / d)
        turn = linalg.cho_solve(root, a.T @ (q * lean), check_finite=False)
        dd = q * (lean - a @ turn)
        return turn, dd, -dd, push[0] / d - below - below / d * dd, push[1] / s - above + above / s * dd

    def reach(v: Array, dv: Array) -> float:
        falling = dv < 0
        return min(1.0, BACK * float((-v[falling] / dv[falling]).min(initial=np.inf)))

    zero = np.zeros((2, len(t)))
    turn, dd, ds, db, da = direction(zero)
    primal, dual = min(reach(d, dd), reach(s, ds)), min(reach(below, db), reach(above, da))
    gap = float(below @ d + above @ s)
    left = float((below + dual * db) @ (d + primal * dd) + (above + dual * da) @ (s + primal * ds))
    mu = gap * (left / gap) ** 3 / (2 * len(t))
    turn, dd, ds, db, da = direction(np.stack([mu - dd * db, mu - ds * da]))
    primal, dual = min(reach(d, dd), reach(s, ds)), min(reach(below, db), reach(above, da))
    if not (np.isfinite(turn).all() and np.isfinite(dd).all()):
        return None
    return theta + dual * turn, d + primal * dd, s + primal * ds, below + dual * db, above + dual * da


def _walk(a: Array, t: Array, level: float, theta: Array) -> Vertex:
    """Go from vertex to vertex of the dual; theta stands where there is none better."""
    found = linprog(-t, A_eq=a.T, b_eq=(1.0 - level) * a.sum(axis=0), bounds=(0.0, 1.0), method="highs-ds")
    if found.x is None:
        return Vertex(theta, np.full(len(t), 1.0 - level), np.zeros(len(t), dtype=bool), False, np.inf, 0)
    return _onto_plane(a, t, -found.eqlin.marginals, found.x, 1.0 - found.x, int(found.nit))


def _onto_plane(a: Array, t: Array, theta: Array, d: Array, s: Array, steps: int) -> Vertex:
    """Move theta onto the rows whose d lies between: those that every solution goes through."""
    r = t - a @ theta
    length = np.linalg.norm(a, axis=1) + np.abs(t)
    size = np.abs(r) / np.where(length > 0, length, 1.0)
    typical = max(float(np.median(size)), 1e-6 * float(size.mean()), 1e-300)
    on_plane = np.minimum(d, s) * typical > size
    rows = a[on_plane]
    if not len(rows):
        return Vertex(theta, d, on_plane, False, np.inf, steps)
    unit = np.where(length[on_plane] > 0, length[on_plane], 1.0)
    for _ in range(2):
        gain, _, rank, values = linalg.lstsq(rows / unit[:, None], (t - a @ theta)[on_plane] / unit, cond=1e-11)
        theta = theta + gain
    return Vertex(theta, d, on_plane, rank == a.shape[1], float(values[0] / values[rank - 1]), steps)
