"""Newton's method for the ratios of variances: safeguarded steps, and ratios at infinity noticed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from adaline.arrays import Array
from adaline.fits.additive.criteria import Criterion
from adaline.fits.additive.penalties import BlockPenalty, DiagonalPenalty

MOST_STEPS = 200
LARGEST_STEP = 5.0  # of a log ratio; doubling it risks a step into a flat region
# size of the gradient at which theta is solved for; ratios are then exact to about this, relative
SMALL_GRADIENT = 1e-9
# degrees of freedom below which a variance counts as zero; 10x larger drops terms whose effect is below 1e-3 errors
NO_FREEDOM = 1e-7
FARTHEST = 35.0  # a log ratio this far from its start is at infinity: e^35 is 1e15
# least curvature that a Newton step takes a direction to have, relative to the largest; 10x larger shortens steps along
# flat directions
FLAT = 1e-10
LEAST_SHARE = 2.0**-30  # of a Newton step that is tried


class RatioSums(Protocol):
    """A penalised problem."""

    @property
    def gram(self) -> Array:
        """X'X."""

    @property
    def rows(self) -> float:
        """N, the number of observations."""

    @property
    def square(self) -> float:
        """Y'y."""

    @property
    def penalties(self) -> Sequence[BlockPenalty]:
        """All penalties."""

    def at(self, theta: Array) -> RatioFit:
        """Return the solution for these parameters."""


class RatioFit(Protocol):
    """Its solution for one theta."""

    @property
    def theta(self) -> Array:
        """The parameters of all penalties, and what else is sought."""

    @property
    def sums(self) -> RatioSums:
        """The problem."""

    @property
    def squares(self) -> float:
        """What is left of y'y."""

    def score(self, criterion: Criterion) -> float:
        """Return what is minimised."""

    def dispersion(self, criterion: Criterion) -> float:
        """Return phi."""

    def derivatives(self, criterion: Criterion) -> tuple[Array, Array]:
        """Return its gradient and Hessian."""

    def used(self) -> Array:
        """Return the degrees of freedom that each part of the penalty leaves."""


@dataclass(frozen=True)
class SolvedRatios:
    """Where the criterion is least.

    Parameters
    ----------
    fit : the penalised fit there.
    score : the criterion.
    gradient, hessian : in theta.
    boundary : whether each parameter's variance is zero: its ratio grows without bound, (theta,).
    steps : Newton steps taken.
    solved : whether the gradient is zero up to rounding.
    """

    fit: RatioFit
    score: float
    gradient: Array
    hessian: Array
    boundary: NDArray[np.bool_]
    steps: int
    solved: bool

    @property
    def gap(self) -> float:
        """Estimate of the criterion above its minimum: half the Newton decrement."""
        inside = ~self.boundary
        if not inside.any():
            return 0.0
        step = np.linalg.lstsq(self.hessian[np.ix_(inside, inside)], self.gradient[inside])[0]
        return 0.5 * abs(float(self.gradient[inside] @ step))


def first_ratios(sums: RatioSums) -> Array:
    """Return theta at which penalties and X'X weigh alike on smooths, and random effects vary like residuals."""
    out, diagonal = [], sums.gram.diagonal()
    for one in sums.penalties:
        own = np.zeros(one.parameters)
        if isinstance(one, DiagonalPenalty):
            for j, weights in enumerate(one.weights):
                seen = weights > 0
                own[j] = np.log(max(diagonal[one.start : one.stop][seen].mean() / weights[seen].mean(), 1e-300))
        out.append(own)
    return np.concatenate(out) if out else np.zeros(0)


def solve_ratios(sums: RatioSums, criterion: Criterion, start: Array | None = None) -> SolvedRatios:
    """Minimise the criterion over theta by Newton's method, from `start` or where ratios are near those of the sums.

    Eigenvalues of the Hessian count by their absolute value, so that every step descends; it is halved until the
    criterion falls. A parameter whose part of the penalty leaves no degrees of freedom is at its boundary: its variance
    is zero, and it stays where it is.
    """
    origin = first_ratios(sums) if start is None else start
    fit = sums.at(origin)
    score = fit.score(criterion)
    boundary = np.zeros(len(origin), dtype=bool)
    for steps in range(MOST_STEPS):
        gradient, hessian = fit.derivatives(criterion)
        rising = (fit.used() < NO_FREEDOM) & (np.abs(gradient) < NO_FREEDOM)
        boundary = (rising & (fit.theta > origin)) | (np.abs(fit.theta - origin) > FARTHEST)
        active = ~boundary
        size = float(np.abs(gradient[active]).max(initial=0.0))
        rounding = 1e-15 * (sums.rows * sums.square / fit.squares + abs(score))
        if size <= max(SMALL_GRADIENT, rounding):
            return SolvedRatios(fit, score, gradient, hessian, boundary, steps, True)
        step = np.zeros(len(origin))
        step[active] = _newton_step(gradient[active], hessian[np.ix_(active, active)])
        found = _descended(fit, score, step, float(gradient @ step), criterion)
        if found is None:
            return SolvedRatios(fit, score, gradient, hessian, boundary, steps, size < 1e-4)
        fit, score = found
    gradient, hessian = fit.derivatives(criterion)
    return SolvedRatios(fit, score, gradient, hessian, boundary, MOST_STEPS, False)


def _newton_step(gradient: Array, hessian: Array) -> Array:
    values, vectors = np.linalg.eigh(hessian)
    size = np.maximum(np.abs(values), FLAT * np.abs(values).max())
    step = -vectors @ ((vectors.T @ gradient) / np.where(size > 0, size, 1.0))
    longest = np.abs(step).max(initial=0.0)
    return np.asarray(step * min(1.0, LARGEST_STEP / longest) if longest > 0 else step)


def _descended(
    fit: RatioFit, score: float, step: Array, slope: float, criterion: Criterion
) -> tuple[RatioFit, float] | None:
    """Return the fit after a share of the step at which the criterion has fallen, and the criterion; None for none."""
    share = 1.0
    lost = fit.sums.square / fit.squares  # the residuals are what is left of y'y
    rounding = 1e-15 * (10 * abs(score) + fit.sums.rows * (10 + lost))  # by which the criterion may seem to rise
    while share > LEAST_SHARE:
        there = fit.sums.at(fit.theta + share * step)
        try:
            value = there.score(criterion)
        except LinAlgError:
            value = np.inf
        if np.isfinite(value) and value <= score + 1e-4 * share * slope + rounding:
            return there, value
        share /= 2
    return None
