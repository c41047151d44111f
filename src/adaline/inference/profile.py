"""Intervals of coefficients by their profile likelihood.

    F_b = min F over all theta with c'theta = b,   r(b) = sign(b - c'best) (2 (F_b - F_best) / dispersion)^(1/2)

The ends of the interval are where r equals minus and plus the quantile of the normal distribution. r is nearly a
straight line: Newton's steps in b, with r' = lambda / (dispersion r) and lambda = d F_b / db, take three or four refits
an end, each started along the tangent of the path of minima. A refit is a Newton descent over theta with c'theta = b.
If F never rises that far, as where a plane separates the classes, the end is infinite. Firth's F* has its own gradient
and uses I as second derivatives, corrected by the last steps and changes of the gradient as in L-BFGS: far out, where a
plane separates the classes, each step by I alone would leave nine tenths of the error. Such an end is always finite, as
F* rises without bound. F* is not convex and may have several minima at one b: at the end of a path the minimum is
compared with the one nearest to the other coefficients of the estimate, and the path continues from the lower one. Of
374 ends of small separated samples, 7 still belonged to a minimum that is not the lowest one found from random starts
(20 without the comparison).

D. J. Venzon and S. H. Moolgavkar, Applied Statistics 37 (1988), 87-94; G. Heinze and M. Schemper, Statistics in
Medicine 21 (2002), 2409-2419, for Firth's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, RowsLike
from adaline.errors import InvalidParameter, SumsMissing
from adaline.inference.covariance import ErrorOptions, lengths
from adaline.inference.likelihood import check_maximum
from adaline.inference.sandwich import check_rows_cost, check_rows_weight
from adaline.losses import Loss
from adaline.losses.ordinal import CumulativeLink
from adaline.penalties import RidgePenalty
from adaline.solvers.smooth.firth import PAIRS, evaluate_firth
from adaline.solvers.smooth.lbfgs import Pairs, inner, inverse_product
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.solvers.smooth.newton import SHORTEST_STEP, factor_hessian
from adaline.solvers.smooth.ordinal import build_ordinal, from_machines
from adaline.solvers.smooth.problem import Evaluation, Problem, build_problem
from adaline.sources import Source
from adaline.sums import Targets

# relative change of r, and squared decrement of refits, at which they stop; 10x larger loses a digit
PROFILE_TOL = 1e-11
ROUNDING = 1e-13  # rounding error of F, relative to F; 10x larger stops refits earlier and loses a digit
MOST_REFITS, MOST_STEPS = (
    40,
    200,
)  # refits per end, and steps of each; doubling both: failures take 4 times as long
# standard errors beyond which an end is infinite; 10x larger takes two more refits before that
MOST_STANDARD_ERRORS = 1e4


class _Held(NamedTuple):
    """The minimum of F at c'theta = b: theta (M,), F, lambda, and the tangent d theta / db, (M,)."""

    theta: Array
    value: float
    steepness: float
    tangent: Array


def check_profile(options: ErrorOptions, X: RowsLike) -> None:
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


def profile_ends(
    fit: LikelihoodFit, loss: Loss, source: Source, intercept: bool, reach: float, reference: int = 0
) -> list[Array]:
    """Return the ends of the profile intervals of coefficients, (2, 1 + D), NaN where there are none.

    One machine has those of its coefficients; of classes each has those against the reference.

    Parameters
    ----------
    fit, loss, source : the fit of an unpenalised likelihood, what it minimised, and the rows again.
    intercept : whether the model has one.
    reach : the quantile that r reaches at the ends.
    reference : index of the class that others are compared with.
    """
    fit, root = _checked(fit, source)
    none = RidgePenalty(0.0, np.ones(root.shape[1] - 1))
    problem = build_problem(source, loss, len(root), intercept, none)
    evaluate = _objective(fit, problem, np.tile(np.append(True, fit.dependence.kept), len(root)))
    best = problem.from_raw(fit.solution.theta).reshape(-1)
    if not fit.firth:
        lowest = float(source.sum(Targets, loss).least[0])
        check_rows_cost(fit, source, np.array([problem.evaluate(best.reshape(len(root), -1)).value - lowest]))
    raw = np.diag(np.append(1.0, problem.view.scale))  # a raw coefficient is a combination of those in the view
    raw[0, 1:] = problem.view.offset
    classes = len(root) if fit.coupled else 2
    picks = np.eye(classes) - np.eye(classes)[reference]
    picks = np.delete(picks, reference, axis=0) if fit.coupled else np.array([[1.0 - 2.0 * reference]])
    memory = PAIRS if fit.firth else 0
    return [
        _ends(evaluate, best, np.kron(pick, raw), lengths(np.tensordot(pick, root, 1)), reach, memory) for pick in picks
    ]


def ordinal_profile_ends(fit: LikelihoodFit, link: CumulativeLink, source: Source, reach: float) -> Array:
    """Return the ends of the profile intervals of slopes, then thresholds, (2, D + T), of ordered classes."""
    fit, root = _checked(fit, source)
    thresholds, side = root.shape[:2]
    none = RidgePenalty(0.0, np.ones(side - 1))
    problem = build_ordinal(source, link, thresholds, math.inf, none)
    evaluate = _objective(fit, problem, np.append(np.ones(thresholds, dtype=bool), fit.dependence.kept))
    best = problem.from_raw(from_machines(fit.solution.theta)[None])[0]
    check_rows_cost(fit, source, np.array([problem.evaluate(best[None]).value]))
    raw = np.diag(np.append(np.ones(thresholds), problem.view.scale))
    raw[:thresholds, thresholds:] = -problem.view.offset
    ends = _ends(evaluate, best, raw, lengths(from_machines(root)), reach)
    return np.roll(ends, -thresholds, axis=1)


def _checked(fit: LikelihoodFit, source: Source) -> tuple[LikelihoodFit, Array]:
    """Return a fit without dependent columns, and its root, zero for them; refuse one that has no profiles."""
    check_maximum(fit, "profile intervals")
    if fit.penalised:
        raise InvalidParameter(
            "interval='profile' needs a maximum of the likelihood, without penalty: use interval='wald'"
        )
    if fit.root is None:
        raise SumsMissing("no profiles: the matrix of second derivatives was too large to form. Use fewer columns.")
    check_rows_weight(fit, source)
    fit = fit.without_dependent()
    assert fit.root is not None
    root = fit.root.copy()
    root[:, 1:][:, ~fit.dependence.kept] = 0.0
    return fit, root


def _objective(fit: LikelihoodFit, problem: Problem, free: NDArray[np.bool_]) -> Callable[[Array], Evaluation]:
    """Return F over the dispersion as a function of all parameters (M,); only those `free` (M,) are moved."""
    dispersion = 1.0 if fit.family is None else fit.family.dispersion

    def evaluate(theta: Array) -> Evaluation:
        point = theta.reshape(problem.outputs, -1)
        found = evaluate_firth(problem, point).evaluation if fit.firth else problem.evaluate(point, second=True)
        hessian = None if found.hessian is None else found.hessian / dispersion
        if hessian is not None:  # columns left out stay out
            hessian[~free] = hessian[:, ~free] = 0.0
        return Evaluation(found.value / dispersion, found.gradient.reshape(-1) / dispersion * free, hessian)

    return evaluate


def _ends(
    evaluate: Callable[[Array], Evaluation], best: Array, contrasts: Array, errors: Array, reach: float, memory: int = 0
) -> Array:
    """Return both ends (2, q) of combinations (q, M) of parameters, NaN where the error (q,) is none.

    The second derivatives that `evaluate` gives are corrected by the last `memory` steps, where they are not exact.
    """
    least, out = evaluate(best).value, np.full((2, len(errors)), np.nan)
    for j in np.flatnonzero(errors > 0):
        for end, sign in enumerate((-1.0, 1.0)):
            out[end, j] = _end(evaluate, best, least, contrasts[j], float(errors[j]), sign * reach, memory)
    return out


def _end(
    evaluate: Callable[[Array], Evaluation],
    best: Array,
    least: float,
    c: Array,
    error: float,
    reach: float,
    memory: int,
) -> float:
    """Return b where r(b) = reach, up to the rounding of F; infinite where there is none, NaN where it is not found.

    `memory` is above zero where F is not convex.
    """
    centre, b = float(c @ best), float(c @ best) + reach * error
    held = _Held(best, least, 0.0, _tangent(evaluate(best), c)[0])
    for _ in range(MOST_REFITS):
        found = _hold(evaluate, held.theta + (b - float(c @ held.theta)) * held.tangent, c, memory)
        if found is None:  # too far for the tangent: half the way
            b = 0.5 * (b + float(c @ held.theta))
            continue
        held = found
        r = math.copysign(math.sqrt(max(2.0 * (held.value - least), 0.0)), reach)
        if abs(r - reach) <= max(PROFILE_TOL * abs(reach), ROUNDING * abs(held.value / reach)):
            other = _hold(evaluate, best + (b - centre) * c / float(c @ c), c, memory) if memory else None
            if other is None or other.value >= held.value - ROUNDING * abs(held.value):
                return b
            held = other
            r = math.copysign(math.sqrt(max(2.0 * (held.value - least), 0.0)), reach)
        step = (reach - r) * r / held.steepness if held.steepness * reach > 0 else math.copysign(math.inf, reach)
        most = abs(b - centre)
        b += math.copysign(min(abs(step), 2.0 * most), step)
        if abs(b - centre) > MOST_STANDARD_ERRORS * error * abs(reach):
            return math.copysign(math.inf, reach)
        if abs(step) <= 1e-15 * max(abs(b), abs(b - centre)):
            return b
    return math.nan


def _hold(evaluate: Callable[[Array], Evaluation], theta: Array, c: Array, memory: int = 0) -> _Held | None:
    """Return the minimum of F from theta at fixed c'theta; None if F is not finite there, or no minimum is found."""
    here = evaluate(theta)
    if here.hessian is None or not math.isfinite(here.value):
        return None
    last, pairs = math.inf, Pairs(maxlen=memory)
    for _ in range(MOST_STEPS):
        tangent, solve = _tangent(here, c)
        gradient = _across(here.gradient, tangent, c)
        step = -_along(inverse_product(solve, pairs, gradient, rescale=False), tangent, c)
        decrement = -float(step @ gradient)
        close = max(PROFILE_TOL, ROUNDING * abs(here.value))
        if decrement <= PROFILE_TOL * PROFILE_TOL or (decrement <= close and decrement >= 0.5 * last):
            return _Held(theta, here.value, float(tangent @ here.gradient), tangent)
        last, share = decrement, 1.0
        while share > SHORTEST_STEP:
            new = evaluate(theta + share * step)
            if new.hessian is not None and new.value <= here.value + ROUNDING * abs(here.value):
                break
            share /= 2
        else:
            return None
        step *= share
        change = _across(new.gradient - here.gradient, tangent, c)
        if (curvature := inner(step, change)) > 0:
            pairs.append((step, change, curvature))
        theta, here = theta + step, new
    return None


def _along(step: Array, tangent: Array, c: Array) -> Array:
    """Return the part of a step that leaves c'theta as it is."""
    return step - tangent * float(c @ step)


def _across(gradient: Array, tangent: Array, c: Array) -> Array:
    """Return a gradient without lambda c, its part that steps with c'step = 0 do not feel."""
    return gradient - c * float(tangent @ gradient)


def _tangent(here: Evaluation, c: Array) -> tuple[Array, Callable[[Array], Array]]:
    """Return H^-1 c / (c'H^-1 c), (M,), and the function g -> H^-1 g."""
    assert here.hessian is not None
    curvature = factor_hessian(here.hessian)
    along = curvature.solve(c)
    return along / float(c @ along), curvature.solve
