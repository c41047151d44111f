"""From the rows of a family of distributions to a solved additive model: coefficients, covariance, degrees of freedom.

Coefficients are found in a view of the columns: linear columns are centred and scaled by powers of two. All other
columns are used as they are, since "ml" integrates over their effects while the constant is held fixed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from adaline.arrays import Array
from adaline.errors import InvalidData
from adaline.fits.additive.criteria import PenalisedSums
from adaline.fits.additive.design import LearnedGroups, LearnedSmooth, TermPlace, block_penalties
from adaline.fits.additive.likelihood import (
    FirstCoefficients,
    LaplaceFit,
    LaplaceProblem,
    log_and_inverse,
    penalised_mode,
)
from adaline.fits.additive.problem import (
    AdditiveProblem,
    AdditiveSolution,
    check_identified,
    components_of,
    dependent_columns,
    scaled_condition,
    too_few,
)
from adaline.fits.additive.ratios import SolvedRatios, first_ratios, solve_ratios
from adaline.links import Power, name_of
from adaline.losses import Loss
from adaline.results import some
from adaline.solvers.smooth.likelihood import FamilyFit
from adaline.sources import Source
from adaline.sums import FamilyPoint, FamilySums, Moments, View

# standard error of a column's part of the output from which coefficients are taken for infinite; 10x larger takes more
# steps to find that there is no maximum
ENDLESS = 1e3
LARGE = 0.1  # share of such an error by which a column is named


class FamilyRows(NamedTuple):
    """Rows of a family: their source, through the basis, what a row costs, the lowest cost of all, the best constant.

    dispersion : phi where it is known.
    precision : whether weights are inverse variances.
    """

    source: Source
    loss: Loss
    lowest: float
    constant: float
    dispersion: float | None
    precision: bool


class FamilySolution(NamedTuple):
    """A solved model of a family, of N observations; `weight` is the sum of the working weights."""

    solution: AdditiveSolution
    family: FamilyFit
    observations: float
    weight: float


class ScaledColumns(NamedTuple):
    """The columns of a model in the view that it is solved in.

    kept, left_out : indices of columns; those left out are combinations of others, or constant.
    raw : the power of two by which each column is multiplied, (p,).
    means : of the linear columns then, zeros for others and without an intercept.
    squares : their mean squares about these.
    """

    kept: NDArray[np.intp]
    left_out: list[int]
    constant: list[int]
    raw: NDArray[np.int64]
    means: Array
    squares: Array

    @property
    def view(self) -> View:
        """The view."""
        return View(np.ldexp(1.0, self.raw), -self.means)

    def placed(self, part: Array, rows: int, columns: int) -> Array:
        """Return a matrix of all columns in their own units: its sides are multiplied by units to these powers."""
        out = np.zeros((len(self.raw), len(self.raw)))
        out[np.ix_(self.kept, self.kept)] = part
        return np.asarray(np.ldexp(out, rows * self.raw[:, None] + columns * self.raw))


def solve_family(
    rows: FamilyRows,
    moments: Moments,
    places: Sequence[TermPlace],
    names: Sequence[str],
    labels: Sequence[str],
    asked: AdditiveProblem,
) -> FamilySolution:
    """Return the model of rows with these moments; other arguments as of `solve_additive`."""
    one, linear = int(asked.intercept), min((at.start for at in places), default=moments.shape.features)
    columns = _scaled(moments, places, names, labels, asked.intercept)
    shift, size = one - len(columns.left_out), one + len(columns.kept)
    moved = [at._replace(start=at.start + shift, stop=at.stop + shift) for at in places]
    own_names = [*["the constant"] * one, *(names[j] for j in columns.kept)]
    problem, null_deviance = _posed(rows, columns, moved, asked)
    squares = np.append(np.ones(one), columns.squares[columns.kept])
    ratios = _solved(problem, asked, squares, own_names, moved, labels)
    fit = ratios.fit
    assert isinstance(fit, LaplaceFit)
    b, information = fit.coefficients, fit.mode.cost.hessian
    if not problem.likelihood.family.canonical(problem.likelihood.link):
        information = problem.cost(b, expected=True).hessian
    whole = information + fit.penalty
    inverse = log_and_inverse(whole)[1]
    deviance, _, pearson, *_ = _family_sums(problem, b)
    # about their means under the working weights, columns are orthogonal to the constant
    weight = float(information[0, 0]) if one else 1.0
    away = information[0, 1:] / weight if one else np.zeros(size)
    means, about = columns.means[columns.kept] + away, np.eye(size)
    about[one:, :one] = -away[:, None]
    coef, raw_means = np.zeros(len(columns.raw)), np.zeros(len(columns.raw))
    own = columns.raw[columns.kept]
    coef[columns.kept], raw_means[columns.kept] = np.ldexp(b[one:], own), np.ldexp(means, -own)
    score = fit.score(asked.criterion) + sum(at.part.shift for at in places if isinstance(at.part, LearnedSmooth)) / 2
    if asked.criterion == "reml":
        score -= math.log(2) * float(own[columns.kept < linear].sum())
    solution = AdditiveSolution(
        coef=coef,
        intercept=float(b[0] - columns.means[columns.kept] @ b[1:]) if one else 0.0,
        means=raw_means,
        inverse=columns.placed(inverse[one:, one:], 1, 1),
        freedom=columns.placed((inverse @ information)[one:, one:], 1, -1),
        gram=columns.placed((about @ information @ about.T)[one:, one:], -1, -1),
        variance=fit.profiled.dispersion,
        score=score,
        left_out=columns.left_out,
        constant=columns.constant,
        ratios=ratios,
        condition=scaled_condition(whole),
        components=components_of(
            problem.penalties, ratios, fit.ratios, [at.part for at in places if isinstance(at.part, LearnedGroups)]
        ),
        total=null_deviance,
        residual=max(deviance, 0.0),
    )
    linked, estimated = problem.likelihood, rows.dispersion is None
    family = FamilyFit(
        family=linked.family.name,
        link=name_of(linked.link),
        dispersion=solution.variance,
        estimated=estimated,
        freedom=problem.rows,
        deviance=solution.residual,
        null_deviance=null_deviance,
        pearson=pearson,
        extra=int(linked.family.scaled),
        shape=float(getattr(linked.family, "shape", math.nan)),
        shape_error=math.nan,
        precision=rows.precision,
        power=float(getattr(linked.family, "power", math.nan)),
    )
    return FamilySolution(solution, family, problem.rows, weight)


def _scaled(
    moments: Moments, places: Sequence[TermPlace], names: Sequence[str], labels: Sequence[str], intercept: bool
) -> ScaledColumns:
    """Return the view of the columns; refuse terms that are combinations of others."""
    p = moments.shape.features
    linear = min((at.start for at in places), default=p)
    exponent = moments.exponent[:p].astype(np.int64)
    unit = np.where(np.arange(p) < linear, 0, exponent)
    second = np.ldexp(moments.second[:p, :p], unit + unit[:, None])
    left_out = dependent_columns(second[:linear, :linear])
    kept = np.setdiff1d(np.arange(p), left_out)
    moved = [at._replace(start=at.start - len(left_out), stop=at.stop - len(left_out)) for at in places]
    gram = second[np.ix_(kept, kept)]
    sums = PenalisedSums(gram, np.zeros(len(kept)), 0.0, 1.0, None, block_penalties(moved))
    check_identified(sums, moved, [names[j] for j in kept], labels)
    means = np.zeros(p)
    if intercept:
        means[:linear] = np.ldexp(moments.first_hi[:linear], -exponent[:linear])
    constant = [j for j in left_out if not second[j, j]]
    return ScaledColumns(kept, left_out, constant, unit - exponent, means, second.diagonal() / moments.weight)


def _posed(
    rows: FamilyRows, columns: ScaledColumns, places: Sequence[TermPlace], asked: AdditiveProblem
) -> tuple[LaplaceProblem, float]:
    """Return the problem, which starts from the best constant, and the deviance of that."""
    one = int(asked.intercept)
    active = np.append(np.zeros(one, np.intp), 1 + columns.kept)
    size = len(active)
    first = np.zeros(size)
    first[:one] = rows.constant
    problem = LaplaceProblem(
        source=rows.source,
        loss=rows.loss,
        view=columns.view,
        active=active,
        plain=PenalisedSums(np.eye(size), np.zeros(size), 0.0, 1.0, None, block_penalties(places)),
        lowest=rows.lowest,
        saturated=0.0,
        dispersion=rows.dispersion,
        precision=rows.precision,
        apart=False,
        start=FirstCoefficients(np.zeros(0), first, np.zeros((size, 0))),
    )
    try:
        null = penalised_mode(problem, first, np.arange(size) < one, np.zeros((size, size))).coefficients
        gram = problem.cost(null, expected=True).hessian
    except LinAlgError as error:
        raise InvalidData(
            f"no constant fits the targets under the {rows.loss.name} loss with this link: use one that takes every "
            "output, such as link='log'"
        ) from error
    deviance, _, _, saturated, observations = _family_sums(problem, null)
    plain = replace(problem.plain, gram=gram, rows=observations)
    if observations <= plain.unpenalised:
        raise too_few(observations, plain.unpenalised)
    start = problem.start._replace(coefficients=null)
    return replace(problem, plain=plain, saturated=saturated, apart=asked.criterion == "ml", start=start), deviance


def _family_sums(problem: LaplaceProblem, coefficients: Array) -> list[float]:
    """Return deviance, that of no model, chi-squared, log densities, and number of observations."""
    whole = problem.whole(coefficients)
    point = FamilyPoint(problem.likelihood, whole[None], problem.view, whole[0], problem.precision)
    found: list[float] = problem.source.sum(FamilySums, point).sums.tolist()
    return found


def _solved(
    problem: LaplaceProblem,
    asked: AdditiveProblem,
    squares: Array,
    names: Sequence[str],
    places: Sequence[TermPlace],
    labels: Sequence[str],
) -> SolvedRatios:
    """Return where the criterion is least; refuse rows for which coefficients without a penalty have no bound."""
    theta = first_ratios(problem)
    start = FirstCoefficients(theta, problem.start.coefficients, np.zeros((len(problem.active), len(theta))))
    try:
        first = replace(problem, apart=False, start=start).at(theta)
        _refuse_endless(first, squares, names, places, labels)
        if problem.apart:
            theta = np.append(theta, first.coefficients[~problem.inner])
        start = FirstCoefficients(theta, first.coefficients, np.zeros((len(problem.active), len(theta))))
        ratios = solve_ratios(replace(problem, start=start), asked.criterion, theta)
    except LinAlgError as error:
        raise InvalidData(
            f"the {problem.loss.name} likelihood was not maximised, as {error}: rescale columns that differ "
            "by many powers of ten, leave out terms, or use another link"
        ) from error
    assert isinstance(ratios.fit, LaplaceFit)
    _refuse_endless(ratios.fit, squares, names, places, labels)
    return ratios


def _refuse_endless(
    fit: LaplaceFit, squares: Array, names: Sequence[str], places: Sequence[TermPlace], labels: Sequence[str]
) -> None:
    """Refuse a fit whose coefficients without a penalty would grow without bound, by their standard errors."""
    problem = fit.problem
    if isinstance(problem.likelihood.link, Power):
        return
    free = problem.plain.free
    variance = np.where(free, log_and_inverse(fit.mode.cost.hessian + fit.penalty)[1].diagonal() * squares, 0.0)
    if not variance.max(initial=0.0) > ENDLESS**2:
        return
    large = variance > LARGE**2 * variance.max()
    linear = min((at.start for at in places), default=len(names))
    found = [names[j] for j in range(linear) if large[j]]
    found += [label for at, label in zip(places, labels, strict=True) if large[at.start : at.stop].any()]
    what = "rows of one outcome" if problem.loss.of_classes else "rows whose targets are all zero"
    raise InvalidData(
        f"the likelihood has no maximum: it rises as the coefficients of {some(found)} grow without bound, since they "
        f"tell {what} from all others. Leave the term out, or make it a random effect, '(1 | group)', whose variance "
        "keeps it finite"
    )
