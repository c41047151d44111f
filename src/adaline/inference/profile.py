"""Intervals of coefficients by their profile likelihood.

    F_b = min F over all theta with c'theta = b,   r(b) = sign(b - c'best) (2 (F_b - F_best) / dispersion)^(1/2)

The ends of the interval are where r is minus and plus the quantile of the normal distribution. r is nearly straight:
Newton's steps in b, by r' = lambda / (dispersion r) with lambda = d F_b / db, take three or four refits an end, each
begun along the tangent of the path of minima. A refit is a Newton descent among theta with c'theta = b. Where F never
rises so far, as where a plane separates the classes, the end is infinite. Firth's F* has its own gradient, and I for
second derivatives.

D. J. Venzon and S. H. Moolgavkar, Applied Statistics 37 (1988), 87-94; G. Heinze and M. Schemper, Statistics in
Medicine 21 (2002), 2409-2419, for Firth's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidParameter, SumsMissing
from adaline.inference.covariance import ErrorOptions, lengths
from adaline.inference.likelihood import check_maximum
from adaline.inference.sandwich import check_rows_cost, check_rows_weight
from adaline.losses import Loss
from adaline.penalties import RidgePenalty
from adaline.solvers.smooth.firth import evaluate_firth
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.solvers.smooth.newton import SHORTEST, factor_hessian
from adaline.solvers.smooth.problem import Evaluation, build_problem
from adaline.sources import Source

INTERVALS = ("wald", "profile")
CLOSE = 1e-11  # of r, relative, and squared decrements of refits
ROUNDING = 1e-13  # of F, relative
REFITS, STEPS = 40, 200  # at most, of an end, and of a refit
FURTHEST = 1e4  # standard errors beyond which an end is infinite

BY_PROFILE = "intervals are those of the profile likelihood"
NO_END = "some ends of profile intervals were not found, and are left open: interval='wald' has them all"


class _Held(NamedTuple):
    """The minimum of F at c'theta = b: theta (M,), F, lambda, and the tangent d theta / db, (M,)."""

    theta: Array
    value: float
    steepness: float
    tangent: Array


def check_profile(options: ErrorOptions, X: Any) -> None:
    """Refuse profiles without rows, or together with robust errors."""
    if options.errors != "classical":
        raise InvalidParameter(
            f"interval='profile' rests on the likelihood, errors={options.errors!r} do not: use interval='wald'"
        )
    if X is None:
        raise SumsMissing(
            "interval='profile' needs the rows: this model keeps only sums; give X and y again (and sample_weight, if "
            "it was fitted with one)"
        )


def profile_notes(fits: Sequence[LikelihoodFit], ends: Sequence[Array]) -> list[str]:
    """Return lines to put below intervals whose ends `profile_ends` gave."""
    roots = [fit.without_dependent().root for fit in fits]
    errors = [lengths(root[0]) for root in roots if root is not None]
    lost = any(np.isnan(own[:, error > 0]).any() for own, error in zip(ends, errors, strict=True))
    return [BY_PROFILE, NO_END] if lost else [BY_PROFILE]


def profile_ends(fit: LikelihoodFit, loss: Loss, source: Source, intercept: bool, reach: float) -> Array:
    """Return the ends of the profile intervals of one machine's coefficients, (2, 1 + D), NaN where there are none.

    Parameters
    ----------
    fit, loss, source : the fit of an unpenalised likelihood, what it minimised, and the rows again.
    intercept : whether the model has one.
    reach : the quantile that r reaches at the ends.
    """
    check_maximum(fit, "profile intervals")
    if fit.penalised or fit.coupled:
        why = "one machine, not K coupled ones" if fit.coupled else "a maximum of the likelihood, without penalty"
        raise InvalidParameter(f"interval='profile' needs {why}: use interval='wald'")
    if fit.root is None:
        raise SumsMissing("no profiles: the matrix of second derivatives was too large to form. Use fewer columns.")
    fit = fit.without_dependent()
    assert fit.root is not None
    check_rows_weight(fit, source)
    dispersion = 1.0 if fit.family is None else fit.family.dispersion
    none = RidgePenalty(0.0, np.ones(fit.solution.theta.shape[1] - 1))
    problem = build_problem(source, loss, 1, intercept, none)
    kept = fit.dependence.kept

    def evaluate(theta: Array) -> Evaluation:
        point = theta[None]
        found = evaluate_firth(problem, point).evaluation if fit.firth else problem.evaluate(point, second=True)
        hessian = None if found.hessian is None else found.hessian / dispersion
        if hessian is not None:  # columns left out stay out
            hessian[1:][~kept] = hessian[:, 1:][:, ~kept] = 0.0
        gradient = found.gradient[0] / dispersion
        gradient[1:][~kept] = 0.0
        return Evaluation(found.value / dispersion, gradient, hessian)

    best = problem.from_raw(fit.solution.theta)[0]
    least = evaluate(best).value
    if not fit.firth:
        lowest = float(source.read_all_weights() @ loss.lowest(source.read_targets())[:, 0])
        check_rows_cost(fit, source, np.array([least * dispersion - lowest]))
    errors = lengths(fit.root[0])
    out = np.full((2, len(best)), np.nan)
    for j in range(len(best)):
        if (j == 0 and not intercept) or (j and not kept[j - 1]) or not errors[j] > 0:
            continue
        contrast = np.zeros(len(best))  # c: a raw coefficient is a combination of those in the view
        contrast[j] = problem.view.scale[j - 1] if j else 1.0
        if j == 0:
            contrast[1:] = problem.view.offset
        for end, sign in enumerate((-1.0, 1.0)):
            out[end, j] = _end(evaluate, best, least, contrast, float(errors[j]), sign * reach)
    return out


def _end(
    evaluate: Callable[[Array], Evaluation], best: Array, least: float, c: Array, error: float, reach: float
) -> float:
    """Return b where r(b) = reach, up to the rounding of F; infinite where there is none, NaN where it is not found."""
    centre, b = float(c @ best), float(c @ best) + reach * error
    held = _Held(best, least, 0.0, _tangent(evaluate(best), c)[0])
    for _ in range(REFITS):
        found = _hold(evaluate, held.theta + (b - float(c @ held.theta)) * held.tangent, c)
        if found is None:  # too far for the tangent: half the way
            b = 0.5 * (b + float(c @ held.theta))
            continue
        held = found
        r = math.copysign(math.sqrt(max(2.0 * (held.value - least), 0.0)), reach)
        if abs(r - reach) <= max(CLOSE * abs(reach), ROUNDING * abs(held.value / reach)):
            return b
        step = (reach - r) * r / held.steepness if held.steepness * reach > 0 else math.copysign(math.inf, reach)
        most = abs(b - centre)
        b += math.copysign(min(abs(step), 2.0 * most), step)
        if abs(b - centre) > FURTHEST * error * abs(reach):
            return math.copysign(math.inf, reach)
        if abs(step) <= 1e-15 * max(abs(b), abs(b - centre)):
            return b
    return math.nan


def _hold(evaluate: Callable[[Array], Evaluation], theta: Array, c: Array) -> _Held | None:
    """Return the minimum of F with c'theta as it is, from theta; None where F is not finite there or none is found."""
    here = evaluate(theta)
    if here.hessian is None or not math.isfinite(here.value):
        return None
    last = math.inf
    for _ in range(STEPS):
        tangent, solve = _tangent(here, c)
        step = -solve(here.gradient)
        step -= tangent * float(c @ step)
        decrement = -float(step @ here.gradient)
        close = max(CLOSE, ROUNDING * abs(here.value))
        if decrement <= CLOSE * CLOSE or (decrement <= close and decrement >= 0.5 * last):
            return _Held(theta, here.value, float(tangent @ here.gradient), tangent)
        last, share = decrement, 1.0
        while share > SHORTEST:
            new = evaluate(theta + share * step)
            if new.hessian is not None and new.value <= here.value + ROUNDING * abs(here.value):
                break
            share /= 2
        else:
            return None
        theta, here = theta + share * step, new
    return None


def _tangent(here: Evaluation, c: Array) -> tuple[Array, Callable[[Array], Array]]:
    """Return H^-1 c / (c'H^-1 c), (M,), and the function g -> H^-1 g."""
    assert here.hessian is not None
    curvature = factor_hessian(here.hessian)
    along = curvature.solve(c)
    return along / float(c @ along), curvature.solve
