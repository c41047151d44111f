"""One target fitted by a robust criterion, in units in which it is of order one.

The median is subtracted from the target, and the result divided by a power of two near its spread, so that neither a
large mean nor the unit costs digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from adaline.arrays import AnyArray, Array, host, is_device, namespace
from adaline.errors import InvalidParameter
from adaline.fits.linear_machine import DEPENDENT
from adaline.inference import robust
from adaline.inference.quantile import QUANTILE_ERRORS, percentile, quantile_errors
from adaline.inference.robust import RobustFit, StandardErrors, m_errors
from adaline.input import generator
from adaline.losses import Huber, Squared, Tukey
from adaline.penalties import RidgePenalty
from adaline.results import Certificate, Solution, Status
from adaline.solvers.least_squares.choose import GRAM_BYTES
from adaline.solvers.least_squares.dependence import Dependence
from adaline.solvers.least_squares.fit import ILL_CONDITIONED, certificate, digits
from adaline.solvers.robust.m_estimation import EPS, ROUNDING, MEstimate, least_squares, m_estimate, shortest_slopes
from adaline.solvers.robust.quantile import regression_quantile
from adaline.solvers.robust.scales import HuberScale, KnownScale, Mad, Scale, median, middle_of
from adaline.solvers.robust.trimmed import trimmed
from adaline.solvers.smooth.newton import Curvature
from adaline.solvers.smooth.problem import Problem, build_problem
from adaline.sources import Source
from adaline.sources.threads import one_blas_thread
from adaline.sources.views import weights_or_ones
from adaline.sums import Spread
from adaline.sums.columns import times_power

SAMPLE_ROWS = 40_000  # rows of a first M-estimate; doubling it takes twice as long, for a closer start
LEAST_SAMPLED = 4  # sources with so many times the rows of a sample get one; doubling it uses samples less
SAMPLE_TOL = 1e-4  # tol of the first estimate; 10x larger saves steps on the sample, and costs passes over all rows
START_TOL = 1e-2  # tol of Huber's estimate, from which another one starts; 10x larger gives a rougher start
HUBER = 1.345  # threshold of Huber's estimate: 95 % efficient for normal errors
FEW_STEPS = 10  # steps after which starts are compared; doubling it compares them more surely, for twice the time


@dataclass(frozen=True)
class RobustCriterion:
    """The criterion and its tolerance: `loss` is None for quantiles, `doubled` counts them twice (|r|).

    `near` says that the start is the fit of nearly the same rows; no standard errors are sought then.
    """

    loss: type[Huber] | type[Tukey] | None
    threshold: float
    level: float
    doubled: bool
    scale: Any
    intercept: bool
    tol: float
    most: int
    random_state: Any
    near: bool = False


@dataclass(frozen=True)
class Units:
    """The units of a target in computations: (t - middle) / 2^exponent."""

    middle: float
    exponent: int

    @classmethod
    def of(cls, t: AnyArray, weight: AnyArray, intercept: bool, largest: float = 0.0) -> Units:
        """Return the units of a target (n,), or of some rows of one whose absolute value is at most `largest`."""
        middle = median(t, weight) if intercept else 0.0
        away = abs(0.5 * t - 0.5 * middle)[weight > 0]
        largest = max(float(namespace(away).max(away)), 0.5 * largest)
        typical = middle_of(away) or largest
        return cls(middle, max(int(np.frexp(typical)[1]), int(np.frexp(largest)[1]) - 900) + 1)

    def from_raw(self, t: AnyArray) -> Any:
        """Return a target in these units."""
        if is_device(t):
            return times_power(0.5 * t - 0.5 * self.middle, np.array(1.0 - self.exponent))
        return np.asarray(np.ldexp(0.5 * t - 0.5 * self.middle, 1 - self.exponent))

    def to_raw(self, theta: Array) -> Array:
        """Return weights in the units of the target."""
        out = np.ldexp(theta, self.exponent)
        out[0, 0] += self.middle
        return np.asarray(out)


@dataclass(frozen=True)
class TargetInUnits:
    """A function of all targets (n, K): target k in its units, (n, 1)."""

    k: int
    units: Units

    def __call__(self, t: AnyArray) -> Any:
        """Return the target, (n, 1)."""
        own = self.units.from_raw(t[:, self.k : self.k + 1])
        return own if is_device(t) else np.ascontiguousarray(own)


@dataclass(frozen=True)
class RobustRows:
    """The rows of a robust fit, the spread of their columns, and statistics of their targets.

    Rows in memory have all targets t (N, K) and weights (N,), on their device if they lie on one. Of streamed rows
    there are a sample instead, whose targets and weights these are, and the largest absolute target of all rows.
    """

    source: Source
    spread: Spread
    t: Any
    weight: Any
    sample: Source | None = None
    largest: float = 0.0

    @classmethod
    def held(cls, source: Source, spread: Spread) -> RobustRows:
        """Return rows whose targets and weights are held in memory; refuse targets that are not finite."""
        t, weight = source.targets.values, source.targets.weight
        if t is None:
            t, weight = source.read_targets(), source.read_weights()
        xp = namespace(t)
        if not bool(xp.all(xp.isfinite(t))):
            source.refuse_nonfinite()
        return cls(source, spread, t, xp.ones_like(t[:, 0]) if weight is None else weight)


@one_blas_thread()  # many small problems: several threads wait for each other
def fit_target(
    rows: RobustRows, k: int, penalty: RidgePenalty, criterion: RobustCriterion, init: Any
) -> tuple[RobustFit, list[float]]:
    """Return the fit of target k, and the objective after each iteration."""
    source = rows.source
    if 8 * (1 + source.shape.features) ** 2 > GRAM_BYTES:
        raise InvalidParameter(
            f"{source.shape.features} columns: X'X exceeds the limit of {GRAM_BYTES >> 20} MiB. Drop columns."
        )
    units = Units.of(rows.t[:, k], rows.weight, criterion.intercept, rows.largest)
    target = TargetInUnits(k, units)
    sample = None
    if rows.sample is None:
        weight: Any = rows.weight
        own = source.with_targets(target(rows.t))
    else:
        weight, sample = None, rows.sample.with_targets(target(rows.t))
        own = source.changed(source.targets.mapping(target, 1))
    problem = build_problem(own, Squared(), 1, criterion.intercept, penalty, rows.spread, sample)
    start, gram = least_squares(problem)
    depends = problem.dependence(gram.null)
    if criterion.loss is None:
        assert weight is not None
        given = TargetProblem(problem, criterion, units, host(weight), gram, depends)
        return _quantile(given, _start(given, start, init) if criterion.near else start)
    given = TargetProblem(problem, criterion, units, weight, gram, depends)
    return _m_estimate(given, _start(given, start, init))


class TargetProblem(NamedTuple):
    """The fit to one target.

    Parameters
    ----------
    problem : the rows, scaled, with the target in `units`.
    criterion : what to minimise.
    weight : (n,) of the rows, None where they are streamed.
    gram, depends : the curvature of the squares, and columns that are combinations of others.
    """

    problem: Problem
    criterion: RobustCriterion
    units: Units
    weight: Any
    gram: Curvature
    depends: Dependence

    @property
    def coefficients(self) -> int:
        """How many coefficients the rows determine, that of the constant included where it is fitted."""
        return self.gram.rank - (not self.criterion.intercept)


def _start(given: TargetProblem, start: Array, init: Any) -> Array:
    """Return where to start in the view: least squares, a robust start (Tukey), or weights given in raw units.

    Of many rows, the M-estimate of a sample is where a trimmed start leads.
    """
    problem, criterion, units, weight, gram, _ = given
    if not isinstance(init, str):
        raw = init.copy()
        raw[0, 0] -= units.middle
        return problem.from_raw(np.ldexp(raw, -units.exponent))
    if criterion.loss is Huber or init == "least_squares":
        return start
    sample = problem.sample
    if weight is not None:
        if problem.source.n_rows <= LEAST_SAMPLED * SAMPLE_ROWS:
            return _robust_start(given, start)
        start = trimmed(problem, weight, generator(criterion.random_state))
        sample = problem.drawn(SAMPLE_ROWS)
    assert sample is not None
    some, counts = problem.on(sample), weights_or_ones(sample)
    if weight is None:
        start = trimmed(some, counts, generator(criterion.random_state))
        if problem.source.n_rows == sample.n_rows:
            return start
    assert criterion.loss is not None
    known = (criterion.loss, criterion.threshold, _scale(given), counts)
    return m_estimate(some, *known, start, _size(units), SAMPLE_TOL, criterion.most, gram.null).theta


def _robust_start(given: TargetProblem, start: Array) -> Array:
    """Return the better of two starts: least trimmed squares, and Huber's estimate from least squares.

    The first withstands nearly half of the rows. With many columns, such as those of a category of many levels, the
    half of the rows that it keeps hardly determines some of them, and it may end in a worse minimum than the second,
    which no row far out in y misleads. After a few steps the one of smaller scale leads.
    """
    problem, criterion, units, weight, gram, _ = given
    assert criterion.loss is not None
    scaled = (_scale(given), weight)
    huber = m_estimate(problem, Huber, HUBER, *scaled, start, _size(units), START_TOL, FEW_STEPS, gram.null).theta
    starts = trimmed(problem, weight, generator(criterion.random_state)), huber
    known = (criterion.loss, criterion.threshold, *scaled)
    each = [m_estimate(problem, *known, one, _size(units), SAMPLE_TOL, FEW_STEPS, gram.null) for one in starts]
    return min(each, key=lambda one: one.scale).theta


def _size(units: Units) -> float:
    """Return the magnitude whose rounding residuals carry."""
    return 1.0 + abs(math.ldexp(units.middle, -units.exponent))


def _m_estimate(given: TargetProblem, start: Array) -> tuple[RobustFit, list[float]]:
    problem, criterion, units, weight, gram, depends = given
    assert criterion.loss is not None
    found = m_estimate(
        problem,
        criterion.loss,
        criterion.threshold,
        _scale(given),
        weight,
        start,
        _size(units),
        criterion.tol,
        criterion.most,
        gram.null,
    )
    square = 2 * units.exponent
    error = np.abs(found.moved) + 16 * EPS * gram.condition * float(np.abs(found.theta).max())
    error[:, 1:][:, problem.constant] = 0.0
    theta = found.theta
    if found.scale == 0:  # as exact as rounding of the rows allows
        theta = _without_rounding(theta)
        error[theta == 0] = 0.0
    proof = certificate(  # without a gap, as the scale moves with the weights
        status=_status(found.converged, found.unique, depends, gram),
        objective=_ldexp(found.history[-1], square),
        gradient=_ldexp(problem.steepness(found.evaluation.gradient), units.exponent),
        digits=digits(error, theta, np.ones_like(theta[0])) if found.converged and found.unique else math.nan,
        condition=gram.condition,
        rank=depends.rank,
        solver=_called(found, criterion),
    )
    reach = criterion.threshold * found.scale
    totals = found.residuals.totals(criterion.loss(reach))
    least = max(1e-9 * float(totals.largest[0]), ROUNDING * _size(units))
    if problem.ridge.any():
        errors = robust.none(problem, robust.NO_PENALTY)
    elif criterion.near:
        errors = robust.none(problem, robust.NOT_SOUGHT)
    elif found.scale == 0:
        errors = robust.none(problem, robust.ON_PLANE)
    else:
        errors = m_errors(problem, totals, gram, given.coefficients, depends)
    beyond = totals.beyond if reach >= least else found.residuals.totals(criterion.loss(least)).beyond
    fit = _assembled(given, theta, proof, {"H1": errors}, totals.weight)
    return replace(fit, scale=_ldexp(found.scale, units.exponent), beyond=beyond), _histories(found.history, square)


def _quantile(given: TargetProblem, start: Array) -> tuple[RobustFit, list[float]]:
    problem, criterion, units, weight, gram, depends = given
    unseen = gram.null if problem.intercept else np.column_stack([gram.null, np.eye(1 + problem.features)[:, 0]])
    basis = np.linalg.qr(unseen, mode="complete")[0][:, unseen.shape[1] :]
    level, share = _within(criterion.level, weight, problem.intercept)
    found = regression_quantile(problem, level, weight, basis, start, criterion.most, criterion.near)
    theta = _without_rounding(found.theta)
    times = 2.0 if criterion.doubled else share
    error = np.where(theta != 0, 16 * EPS * found.condition * np.abs(theta).max(), 0.0)
    proof = certificate(
        status=_status(
            found.gap <= criterion.tol * found.objective + 64 * EPS * weight.sum(), found.unique, depends, gram
        ),
        objective=times * _ldexp(found.objective, units.exponent),
        gap=times * _ldexp(found.gap, units.exponent),
        digits=digits(error, theta, np.ones_like(theta[0])) if found.unique else math.nan,
        condition=gram.condition,
        rank=depends.rank,
        solver="interior point, onto the rows it meets",
    )

    def residuals_at(other: float) -> Array:
        start = theta.copy()
        start[0, 0] += problem.intercept * percentile(found.r, weight, other)
        other = _within(other, weight, problem.intercept)[0]
        given = (problem, other, weight, basis, start, criterion.most)
        next_to = regression_quantile(*given, near_already=True, proven=False)
        return off_plane(next_to.r)

    def off_plane(r: Array) -> Array:
        return np.where(np.abs(r) <= ROUNDING * _size(units), 0.0, r)

    if criterion.near:
        errors = dict.fromkeys(QUANTILE_ERRORS, robust.none(problem, robust.NOT_SOUGHT))
    else:
        errors = quantile_errors(problem, criterion.level, off_plane(found.r), weight, gram, depends, residuals_at)
    fit = _assembled(given, theta, proof, errors, float(weight.sum()))
    return fit, [times * value for value in _histories(found.history, units.exponent)]


def _without_rounding(theta: Array) -> Array:
    """Return coefficients of a target of about one, those that are rounding set to zero."""
    return np.where(np.abs(theta) <= ROUNDING, 0.0, theta)


def _within(level: float, weight: Array, intercept: bool) -> tuple[float, float]:
    """Return a level with the same solution that is not needlessly near 0 or 1, and the share of its cost to count.

    The duals of rows below the plane, and shares of those on it, add up to level x total weight. Where that is less
    than the lightest row, none lies below: the plane is the lowest one, whatever the level, and only rows above cost.
    """
    least = 0.5 * float(weight[weight > 0].min() / weight.sum()) if intercept else 0.0
    if level < least:
        return least, level / least
    if 1.0 - level < least:
        return 1.0 - least, (1.0 - level) / least
    return level, 1.0


def _assembled(
    given: TargetProblem, theta: Array, proof: Certificate, errors: dict[str, StandardErrors], weight: float
) -> RobustFit:
    """Return the fit in raw units."""
    problem, units = given.problem, given.units
    if proof.status is Status.RANK_DEFICIENT:
        proof = replace(proof, advice=DEPENDENT)
    errors = {name: replace(one, root=np.ldexp(one.root, units.exponent)) for name, one in errors.items()}
    raw = units.to_raw(shortest_slopes(problem, theta, given.gram.null))
    raw[0, 0] *= problem.intercept
    rows = problem.source.count_rows()
    return RobustFit(Solution(raw, proof), math.nan, errors, math.nan, rows, weight, given.depends)


def _scale(given: TargetProblem) -> Scale:
    criterion, units = given.criterion, given.units
    if criterion.scale == "mad":
        return Mad()
    if criterion.scale == "huber":
        return HuberScale(given.coefficients)
    return KnownScale(math.ldexp(float(criterion.scale), -units.exponent))


def _status(converged: bool, unique: bool, depends: Dependence, gram: Curvature) -> Status:
    if not converged:
        return Status.NOT_CONVERGED
    if len(depends.left_out):
        return Status.RANK_DEFICIENT
    if not unique:
        return Status.NOT_UNIQUE
    return Status.ILL_CONDITIONED if gram.condition > ILL_CONDITIONED else Status.SOLVED


def _called(found: MEstimate, criterion: RobustCriterion) -> str:
    if found.scale == 0:
        return "reweighting: more than half of the rows lie on a plane"
    return "Newton" if criterion.loss is Huber else "reweighting, then Newton: a minimum, of which there may be others"


def _histories(history: list[float], exponent: int) -> list[float]:
    return [_ldexp(value, exponent) for value in history]


def _ldexp(value: float, exponent: int) -> float:
    with np.errstate(over="ignore"):
        return float(np.ldexp(value, exponent))
