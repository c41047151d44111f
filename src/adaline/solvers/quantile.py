"""Quantile regression on any source: few rows matter, and which ones is proved afterwards.

A plane near the solution, from a sample, leaves most rows clearly above or below it. Those enter as two rows, the sums
of all above and of all below, and the linear program is solved for the others in memory (Portnoy and Koenker 1997). One
more pass shows whether every row lies on the side it was counted on; where not, it joins the others and they are solved
again. The dual solution then bounds the objective over all rows from below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from adaline.solvers import frisch
from adaline.solvers.outputs import gather, residuals, total
from adaline.solvers.problem import Problem

Array = NDArray[np.float64]

FEW = 5000  # rows that are solved all together
BAND = 3.0  # how many rows to hold, in those that the sample's plane may err by
ROUNDING = 64 * float(np.finfo(np.float64).eps)
SURE = 1e-9  # a d that is beyond 0 or 1 by less than this is there by rounding


@dataclass(frozen=True)
class Crossing:
    """Where quantile regression ended.

    Parameters
    ----------
    theta : (1, 1 + D) in the view.
    r : (N,) residuals, exactly zero on the rows that the plane was put through.
    objective, gap : sum of the losses, and a bound on its distance from the minimum.
    unique : whether there is no other minimum.
    condition : of the equations of the rows on the plane.
    history : objective after each round.
    steps : interior point steps of all rounds.
    """

    theta: Array
    r: Array
    objective: float
    gap: float
    unique: bool
    condition: float
    history: list[float]
    steps: int


def cross(problem: Problem, level: float, weight: Array, basis: Array, theta: Array, most: int) -> Crossing:
    """Return the regression quantile of targets of about one.

    `basis` (1 + D, p) spans what the rows can tell, theta is where to start, `most` how many rounds to go.
    """
    n, p = len(weight), basis.shape[1]
    there = weight > 0
    if there.sum() > FEW:
        chosen = _every(there, int(max(FEW, n ** (2 / 3) * p ** (1 / 3))))
        theta = _inside(problem, level, weight, chosen, None, basis, theta)[0]
    r = residuals(problem, theta)
    held, wrong = _nearest(r, there, p), np.zeros(n, dtype=bool)
    t = problem.source.read_targets()[:, 0]
    history: list[float] = []
    steps = 0
    for _ in range(most):
        held = held | wrong | (there & (r == 0))
        side = np.where(held | ~there, 0.0, np.sign(r))
        theta, vertex, d = _inside(problem, level, weight, held, side, basis, theta)
        steps += vertex.steps
        r = residuals(problem, theta)
        on_plane = np.zeros(n, dtype=bool)
        on_plane[np.flatnonzero(held)] = vertex.on_plane[: int(held.sum())]
        rounding = ROUNDING * (1.0 + np.abs(t) + np.abs(t - r))
        zero = held & (np.abs(r) <= np.where(on_plane, 1e-9 * np.median(np.abs(r)) + rounding, rounding))
        r = np.where(zero, 0.0, r)
        history.append(_loss(r, weight, level))
        wrong = (side != 0) & (side * r <= rounding)  # on the plane is on neither side
        if not wrong.any():
            break
    gap = _gap(problem, level, weight, r, zero, d, held, theta)
    return Crossing(theta, r, history[-1], gap, vertex.unique and not wrong.any(), vertex.condition, history, steps)


def _inside(
    problem: Problem,
    level: float,
    weight: Array,
    held: NDArray[np.bool_],
    side: Array | None,
    basis: Array,
    theta: Array,
) -> tuple[Array, frisch.Vertex, Array]:
    """Solve for the held rows, and the sums of those on either side; return theta, the solution, and d of held rows."""
    rows = gather(problem, held) * weight[held][:, None]
    if side is not None:
        sums = [total(problem, side == one, weight) for one in (1.0, -1.0) if (side == one).any()]
        rows = np.concatenate([rows, *(one[None] for one in sums)])
    rows[:, 0] *= problem.intercept
    a, t = rows[:, :-1] @ basis, rows[:, -1]
    start = np.linalg.lstsq(basis, theta[0])[0]
    vertex = frisch.solve(a, t, level, start)
    return (basis @ vertex.theta)[None], vertex, vertex.d[: int(held.sum())]


def _every(there: NDArray[np.bool_], most: int) -> NDArray[np.bool_]:
    """Return a random choice of so many rows, the same one every time."""
    places = np.flatnonzero(there)
    out = np.zeros(len(there), dtype=bool)
    out[np.random.default_rng(0).choice(places, min(most, len(places)), replace=False)] = True
    return out


def _nearest(r: Array, there: NDArray[np.bool_], p: int) -> NDArray[np.bool_]:
    """Return the rows to hold: all of few, of many those whose side the sample's plane does not settle."""
    n = int(there.sum())
    if n <= FEW:
        return there
    sample = max(FEW, n ** (2 / 3) * p ** (1 / 3))
    most = int(min(n, max(BAND * n * np.sqrt(p / sample), FEW)))
    size = np.where(there, np.abs(r), np.inf)
    return np.asarray(size <= np.partition(size, most - 1)[most - 1])


def _loss(r: Array, weight: Array, level: float) -> float:
    return float(weight @ np.where(r > 0, level * r, (level - 1.0) * r))


def _gap(
    problem: Problem,
    level: float,
    weight: Array,
    r: Array,
    zero: NDArray[np.bool_],
    d: Array,
    held: NDArray[np.bool_],
    theta: Array,
) -> float:
    """Return the distance of the objective from a dual value: d is 1 above, 0 below, and put right on the plane.

    With r = t - A theta and A'(w d) = (1 - level) A'w, the dual value is the sum of w (d - 1 + level) r: off the plane
    what the loss is, on it nothing. What d lacks to fulfil the condition costs about itself times theta.
    """
    full = (r > 0).astype(np.float64)
    full[held] = np.where(zero[held], d, full[held])
    rows = gather(problem, zero)[:, :-1] * weight[zero][:, None]
    rows[:, 0] *= problem.intercept
    lack = -total(problem, np.ones(len(r), dtype=bool), weight * (full - 1.0 + level))[:-1]
    lack[0] *= problem.intercept
    if zero.any():
        more = linalg.lstsq(rows.T, lack)[0]
        full[zero] += more
        lack = lack - rows.T @ more
    if np.maximum(-full, full - 1.0).max(initial=0.0) > SURE:
        return np.inf
    return float(np.abs(lack) @ np.abs(theta[0]))
