"""The duality gap: a bound on the distance from the minimum of a convex loss under l1 and ridge penalties.

A tangent plane lies below the loss L, and so does the sum of the lowest costs of the rows. A convex combination of such
planes lies below it too:

    L(y) >= a + G'y,   so   min over y of L(y) + sum_j (l1_j |y_j| + ridge_j/2 y_j^2)
                            >= a - sum_j max(|G_j| - l1_j, 0)^2 / (2 ridge_j)

The slope of the intercept must be zero, and |G_j| <= l1_j where there is no ridge. Combining with planes taken at other
intercepts gives the first, combining with the level plane of the lowest costs the second: this is the scaling of
residuals to a feasible point of the dual, but no row has to be read again for it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from adaline.arrays import Array
from adaline.solvers.smooth.problem import TYPICAL_ROWS, Evaluation, Problem
from adaline.sums import Targets

# multiples of a Newton step in the intercepts at which tangent planes are taken; more of them take more passes
FURTHER = (2.0, 4.0, 8.0)
# change of an intercept whose effect on the slopes exceeds rounding; 10x smaller gives noisier planes
LEAST_STEP = 1e-5
# change of an intercept at which a tangent plane is taken; 10x larger, exp may overflow
MOST_INTERCEPT_CHANGE = 2.0**12


class LowerPlane(NamedTuple):
    """constant + <slope, theta>, slope (K, 1 + D), at or below the loss everywhere."""

    constant: float
    slope: Array


def tangent(problem: Problem, theta: Array, evaluation: Evaluation) -> LowerPlane:
    """Return the tangent plane of the loss, ridge left out."""
    slope = evaluation.gradient.copy()
    slope[:, 1:] -= problem.ridge * theta[:, 1:]
    value = evaluation.value - 0.5 * float((problem.ridge * theta[:, 1:] ** 2).sum())
    return LowerPlane(value - float((slope * theta).sum()), slope)


class Planes:
    """Lower bounds of a problem; planes at other intercepts are taken when first needed and kept.

    `once` : whether one bound is asked for, not one after each step.
    """

    def __init__(self, problem: Problem, once: bool = False) -> None:
        self.problem, self.once = problem, once
        self.lowest = float(problem.source.sum(Targets, problem.loss).least[0])
        self.tilted: list[LowerPlane] = []

    def gap(self, theta: Array, evaluation: Evaluation, l1: Array) -> float:
        """Return a bound on how far the objective with penalties lies above its minimum; infinity where none is known.

        `evaluation` is F at theta, `l1` (D,).
        """
        if not (self.problem.loss.convex and math.isfinite(self.lowest) and math.isfinite(evaluation.value)):
            return math.inf
        level = self._level(tangent(self.problem, theta, evaluation), theta, evaluation)
        value = evaluation.value + float((l1 * np.abs(theta[:, 1:])).sum())
        return math.inf if level is None else max(value - self._bound(level, l1), 0.0)

    def _bound(self, plane: LowerPlane, l1: Array) -> float:
        """Return the best of the bounds that combinations of the plane with the lowest costs give."""
        steep, ridge = np.abs(plane.slope[:, 1:]), self.problem.ridge
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(steep > l1, l1 / steep, 1.0)
        best = -math.inf
        if steep[:, (l1 == 0) & (ridge == 0)].any():
            return best
        for share in {float(shares[:, ridge == 0].min(initial=1.0)), float(shares.min(initial=1.0))}:
            over = np.maximum(share * steep - l1, 0.0)[:, ridge > 0]
            rest = (1 - share) * self.lowest if share < 1 else 0.0
            best = max(best, share * plane.constant + rest - 0.5 * float((over**2 / ridge[ridge > 0]).sum()))
        return best

    def _level(self, plane: LowerPlane, theta: Array, evaluation: Evaluation) -> LowerPlane | None:
        """Return a combination with planes at other intercepts that is level in the intercepts; None where none is."""
        slope = plane.slope[:, 0]
        if not self.problem.intercept or not slope.any():
            return plane
        shares = self._shares(slope)
        if shares is None:
            if self.once:
                self._tilt_sample(theta, plane)
            else:
                self._tilt(theta, evaluation, slope)
            shares = self._shares(slope)
        if shares is None:
            return None
        constant, slopes = plane.constant, plane.slope
        for share, other in zip(shares.tolist(), self.tilted, strict=True):
            constant, slopes = constant + share * other.constant, slopes + share * other.slope
        part = 1.0 / (1.0 + float(shares.sum()))
        return LowerPlane(part * constant, part * slopes)

    def _shares(self, slope: Array) -> Any:
        """Return nonnegative shares of planes at other intercepts, whose slopes add up to -slope; None if none do."""
        if not self.tilted:
            return None
        others = np.array([one.slope[:, 0] for one in self.tilted])
        if self.problem.loss.coupled:  # slopes add up to zero over the machines, but for rounding
            others, slope = others - others.mean(axis=1, keepdims=True), slope - slope.mean()
        shares = nonnegative_shares(others.T, -slope)
        left = np.linalg.norm(others.T @ shares + slope)
        return shares if left <= 1e-8 * float(np.linalg.norm(slope)) else None

    def _tilt(self, theta: Array, evaluation: Evaluation, slope: Array) -> None:
        """Add planes at intercepts so far from theta that their slopes make up for any small slope."""
        outputs = self.problem.outputs
        step = min(math.sqrt(2 * abs(evaluation.value) / max(self.problem.spread.weight, 1e-300)) or 1.0, 1.0)
        for k in range(outputs):
            for sign in (1.0, -1.0) if outputs == 1 else (1.0,):
                self._tilt_one(theta, k, sign, step, abs(float(slope[k])))

    def _tilt_sample(self, theta: Array, plane: LowerPlane) -> None:
        """Add planes that differ from the one at theta in the rows of a sample: no other row is read for them.

        The intercepts of their rows are those of a Newton step that makes up for the slope, and beyond; what a plane
        lies below the loss at theta grows with the distance.
        """
        whole = self.problem
        part = whole.on(whole.drawn(TYPICAL_ROWS))
        coupling = whole.coupling(theta) * whole.share(part.source)
        step = -np.linalg.pinv(coupling, rcond=1e-10, hermitian=True) @ plane.slope[:, 0]
        apart = max(float(np.abs(step).max()), LEAST_STEP) / 4
        if whole.outputs == 1:  # one plane makes up for the slope, on the side of the step
            apart = math.copysign(apart, step[0])
        own = tangent(part, theta, part.evaluate(theta))
        for times in FURTHER:
            for k in range(whole.outputs):
                there = theta.copy()
                there[:, 0] += times * step
                there[k, 0] += times * apart
                with np.errstate(invalid="ignore"):  # far off, F may overflow
                    other = tangent(part, there, part.evaluate(there))
                constant = plane.constant - own.constant + other.constant
                tilted = LowerPlane(constant, plane.slope - own.slope + other.slope)
                if math.isfinite(tilted.constant) and np.isfinite(tilted.slope).all():
                    self.tilted.append(tilted)
            if self._shares(plane.slope[:, 0]) is not None:
                return

    def _tilt_one(self, theta: Array, k: int, sign: float, step: float, enough: float) -> None:
        """Add the tangent plane where intercept k is changed by sign x step, doubled until its slope is enough."""
        while step <= MOST_INTERCEPT_CHANGE:
            there = theta.copy()
            there[k, 0] += sign * step
            evaluation = self.problem.evaluate(there)
            if math.isfinite(evaluation.value) and sign * evaluation.gradient[k, 0] > enough:
                self.tilted.append(tangent(self.problem, there, evaluation))
                return
            step *= 2


def nonnegative_shares(columns: Array, aim: Array) -> Array:
    """Return shares (P,) of zero or more for which columns (K, P) add up to (K,) numbers, or come nearest.

    C. L. Lawson and R. J. Hanson, Solving Least Squares Problems (1974), chapter 23. scipy.optimize has it too, but
    importing that takes longer than a small net.
    """
    count = columns.shape[1]
    shares, used = np.zeros(count), np.zeros(count, dtype=bool)
    for _ in range(3 * count):
        pull = np.where(used, -math.inf, columns.T @ (aim - columns @ shares))
        if used.all() or not pull.max() > 1e-14 * np.abs(columns).max() * np.abs(aim).max():
            break
        used[int(np.argmax(pull))] = True
        while used.any():
            best = np.zeros(count)
            best[used] = np.linalg.lstsq(columns[:, used], aim, rcond=None)[0]
            low = used & (best <= 0)
            if not low.any():
                shares = best
                break
            shares += float((shares[low] / (shares[low] - best[low])).min()) * (best - shares)
            used &= shares > 1e-15 * shares.max()
            shares[~used] = 0.0
    return shares
