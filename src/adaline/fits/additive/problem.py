"""From second moments of [phi(x) y] to a solved additive model: coefficients, their covariance, degrees of freedom.

Linear columns and the target keep the power of two by which their moments are scaled, so that units change no bit;
columns of smooths and groups have none of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, solve_triangular

from adaline.arrays import Array
from adaline.errors import InvalidData
from adaline.fits.additive.additive_sums import AdditiveSums
from adaline.fits.additive.criteria import Criterion, PenalisedFit, PenalisedSums, penalty_matrix
from adaline.fits.additive.design import AdditiveDesign, LearnedGroups, LearnedSmooth, TermPlace, block_penalties
from adaline.fits.additive.group_columns import PIECE_NUMBERS, GroupColumns
from adaline.fits.additive.group_freedom import column_freedom, freedoms, residual_squares, shared_freedom
from adaline.fits.additive.grouped import GroupedFit, GroupedSums
from adaline.fits.additive.grouped_moments import KeyedTotals, pairs_of
from adaline.fits.additive.penalties import BlockPenalty, CovariancePenalty
from adaline.fits.additive.ratios import SolvedRatios, first_ratios, solve_ratios
from adaline.forms import Finite, Integers
from adaline.results import some
from adaline.solvers.lapack import cholesky
from adaline.sums import Moments
from adaline.wording import counted

# share of a column's squares beside those before it, or an eigenvalue of X'X + P scaled to a diagonal of ones, below
# which columns depend on each other; 100x larger refuses models that still have four digits
DEPENDENT = 1e-11
EXACT = 1e-13  # share of the target's squares below which residuals are those of rounding
LARGE = 0.1  # entry of a direction of length 1 that names its column


@dataclass(frozen=True)
class ComponentFit:
    """The covariance of the effects of a grouping, divided by the variance of the errors.

    Parameters
    ----------
    covariance : (q, q).
    zero : which of the variances are zero: the likelihood is largest there, (q,).
    """

    covariance: Array
    zero: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SparseRows:
    """A matrix in compressed rows.

    Parameters
    ----------
    values, columns : of the entries, (E,).
    starts : of rows among these, and the end, (R + 1,).
    """

    values: Annotated[Array, Finite("E")]
    columns: Annotated[NDArray[np.int64], Integers("E")]
    starts: Annotated[NDArray[np.int64], Integers(".")]

    @classmethod
    def of(cls, matrix: sp.csr_array) -> SparseRows:
        """Return a matrix of SciPy."""
        return cls(matrix.data, matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64))

    def matrix(self, columns: int) -> sp.csr_array:
        """Return it as a matrix of SciPy."""
        return sp.csr_array((self.values, self.columns, self.starts), shape=(len(self.starts) - 1, columns))


GroupsOfRows = Sequence[tuple[NDArray[np.intp], Array]]
"""For each grouping the group of each row, -1 for none, and what its effects multiply, (n, q)."""


@dataclass(frozen=True, eq=False)
class GroupedEffects:
    """Effects of groupings of many levels, and the covariances of their errors with those of the coefficients.

    Parameters
    ----------
    effects : b of the grouping that is eliminated, (G, q).
    spread, pull : H_g^-1 (G, q, q), and C_g of the constant, where there is one, and the coefficients, (G, q, p).
    inverse : K of the constant, the coefficients and the effects of the other groupings, (p + m, p + m).
    crossed : the effects of these groupings, (groups, effects) each.
    links : C_g of these effects, (G q, m); None where there are none.
    """

    effects: Annotated[Array, Finite("G Q")]
    spread: Annotated[Array, Finite("G Q Q")]
    pull: Annotated[Array, Finite("G Q .")]
    inverse: Annotated[Array, Finite("P P")]
    crossed: tuple[Annotated[Array, Finite(". .")], ...] = ()
    links: SparseRows | None = None

    @property
    def every(self) -> list[Array]:
        """The effects of all groupings, those eliminated last."""
        return [*self.crossed, self.effects]

    def variances(self, rows: Array, groups: GroupsOfRows) -> Array:
        """Return the variance, over that of the errors, of rows [1 x - mean] (n, p) in these groups, (n,)."""
        group, z = groups[-1]
        known = np.flatnonzero(group >= 0)
        rows, at, p = rows.copy(), group[known], rows.shape[1]
        rows[known] -= np.einsum("nq,nqp->np", z[known], self.pull[at])
        out = ((rows @ self.inverse[:p, :p]) * rows).sum(axis=1)
        out[known] += np.einsum("nq,nqr,nr->n", z[known], self.spread[at], z[known])
        if self.links is not None:
            thin = self._effects_of(groups, known)
            size = max(PIECE_NUMBERS // len(self.inverse), 1)
            for first in range(0, len(rows), size):
                piece = slice(first, first + size)
                image = thin[piece] @ self.inverse[p:]
                out[piece] += 2 * (image[:, :p] * rows[piece]).sum(axis=1)
                out[piece] += thin[piece].multiply(image[:, p:]).sum(axis=1)
        return np.asarray(out)

    def errors(self) -> list[Array]:
        """Return the standard errors of the effects, over that of the errors, as `every` has these."""
        m = len(self.inverse) - self.pull.shape[2]
        pull = GroupColumns(self.pull, None if self.links is None else self.links.matrix(m))
        own = np.einsum("gqq->gq", self.spread + pull.images(self.inverse))
        ends = np.cumsum([one.size for one in self.crossed])
        others = np.split(self.inverse.diagonal()[len(self.inverse) - m :], ends[:-1]) if m else []
        return [np.sqrt(v).reshape(e.shape) for v, e in zip([*others, own], self.every, strict=True)]

    def _effects_of(self, groups: GroupsOfRows, known: NDArray[np.intp]) -> sp.csr_array:
        """Return rows among the effects of crossed groupings, less what the grouping that is eliminated takes."""
        assert self.links is not None
        group, z = groups[-1]
        n, m, q = len(group), len(self.inverse) - self.pull.shape[2], z.shape[1]
        out, start = sp.csr_array((n, m)), 0
        for (own, multiplied), effects in zip(groups[:-1], self.crossed, strict=True):
            there, width = np.flatnonzero(own >= 0), effects.shape[1]
            columns = start + own[there][:, None] * width + np.arange(width)
            entries = (multiplied[there].ravel(), (np.repeat(there, width), columns.ravel()))
            out, start = out + sp.csr_array(entries, shape=(n, m)), start + effects.size
        links = self.links.matrix(m)
        for k in range(q):
            entries = (z[known, k], (known, group[known] * q + k))
            out = out - sp.csr_array(entries, shape=(n, links.shape[0])) @ links
        return sp.csr_array(out)


@dataclass(frozen=True)
class AdditiveSolution:
    """A solved additive model, of columns in their own units.

    Parameters
    ----------
    coef, intercept : of all columns of phi, and the constant; 0 for those that are left out.
    means : of the columns.
    inverse : (X'X + P)^-1, zero for columns that are left out; times `variance` the covariance of coefficients.
    freedom : (X'X + P)^-1 X'X.
    gram : X'X about the means.
    variance : phi, the variance of the errors.
    score : what was minimised, in the units of the target.
    left_out : linear columns that are constant, or combinations of those before them.
    constant : those of them that are constant.
    ratios : the solution of the outer problem; None where nothing was chosen.
    condition : of X'X + P, scaled to a diagonal of ones.
    components : for each place of a grouping.
    total : sum of squares of the target, about its mean where there is an intercept; of a family the deviance of the
        best constant.
    residual : sum of squared residuals, or the deviance.
    """

    coef: Array
    intercept: float
    means: Array
    inverse: Array
    freedom: Array
    gram: Array
    variance: float
    score: float
    left_out: list[int]
    constant: list[int]
    ratios: SolvedRatios | None
    condition: float
    components: list[ComponentFit]
    total: float
    residual: float


class GroupedSolution(NamedTuple):
    """A solution with groupings of many levels: their effects, degrees of freedom, and what they share of others.

    edf : of each of these groupings, that which is eliminated last.
    shared : what they add to the diagonal of the square of `freedom`, (M,).
    multiplied : for each the sum over the rows of z z', z what its effects multiply, (q, q), divided by powers of two.
    """

    solution: AdditiveSolution
    effects: GroupedEffects
    edf: list[float]
    shared: Array
    multiplied: list[Array]


class AdditiveProblem(NamedTuple):
    """What is minimised.

    criterion, intercept : as in the model.
    rows, log_weights : number of observations, and the sum of the logarithms of precisions.
    """

    criterion: Criterion
    intercept: bool
    rows: float
    log_weights: float


def solve_additive(
    moments: Moments,
    places: Sequence[TermPlace],
    names: Sequence[str],
    labels: Sequence[str],
    asked: AdditiveProblem,
) -> AdditiveSolution:
    """Return the model of rows with these moments.

    Parameters
    ----------
    moments : of [phi(x) y], one target; about the mean where there is an intercept.
    places : of curves and groupings among the columns.
    names, labels : of the columns, and of the places.
    asked : what is minimised for how many observations.
    """
    criterion, intercept, rows, log_weights = asked
    p = moments.shape.features
    linear = min((at.start for at in places), default=p)
    exponent = moments.exponent.astype(np.int64)
    unit = np.concatenate([np.zeros(linear, np.int64), exponent[linear:p], [0]])  # power of two of the units used
    second = np.ldexp(moments.second, unit + unit[:, None])
    means = np.ldexp(moments.first_hi, unit - exponent) if intercept else np.zeros(p + 1)
    left_out = dependent_columns(second[:linear, :linear])
    kept = np.setdiff1d(np.arange(p), left_out)
    moved = [at._replace(start=at.start - len(left_out), stop=at.stop - len(left_out)) for at in places]
    sums = PenalisedSums(
        gram=second[np.ix_(kept, kept)],
        cross=second[p, kept],
        square=float(second[p, p]),
        rows=rows,
        weight=moments.weight if intercept else None,
        penalties=block_penalties(moved),
        log_weights=log_weights,
        means=means[kept],
    )
    own_names = [names[j] for j in kept]
    condition = check_identified(sums, moved, own_names, labels)
    free = sums.unpenalised
    if rows <= free:
        raise too_few(rows, free)
    exact = not sums.square or _is_exact(sums)
    ratios = None if exact or not sums.parameters else solve_ratios(sums, criterion)
    fit = PenalisedFit(sums, first_ratios(sums)) if ratios is None else ratios.fit
    assert isinstance(fit, PenalisedFit)
    variance = 0.0 if exact else fit.dispersion(criterion)
    y, scale = int(exponent[p]), -exponent[:linear]
    raw = np.concatenate([scale, np.zeros(p - linear, np.int64)])
    coef, inverse, freedom, gram = np.zeros(p), np.zeros((p, p)), np.zeros((p, p)), np.zeros((p, p))
    coef[kept] = fit.coefficients
    inverse[np.ix_(kept, kept)] = fit.inverse
    freedom[np.ix_(kept, kept)] = fit.freedom
    gram[np.ix_(kept, kept)] = sums.gram
    centre = np.ldexp(means[p], y)
    coef = np.ldexp(coef, y + raw)
    raw_means = np.ldexp(means[:p], -raw)
    shift = sum(at.part.shift for at in places if isinstance(at.part, LearnedSmooth))
    own = exponent[kept[kept < linear]]
    score = -np.inf if exact else _score(fit.score(criterion), sums, criterion, y, own, shift)
    beta = fit.coefficients
    residual = float(sums.square - 2 * beta @ sums.cross + beta @ sums.gram @ beta)
    groupings = [at.part for at in places if isinstance(at.part, LearnedGroups)]
    return AdditiveSolution(
        coef=coef,
        intercept=float(centre - raw_means @ coef) if intercept else 0.0,
        means=raw_means,
        inverse=np.ldexp(inverse, raw + raw[:, None]),
        freedom=np.ldexp(freedom, raw[:, None] - raw),
        gram=np.ldexp(gram, -raw - raw[:, None]),
        variance=float(np.ldexp(variance, 2 * y)),
        score=score,
        left_out=left_out,
        constant=[j for j in left_out if not second[j, j]],
        ratios=ratios,
        condition=condition if ratios is None else _condition(fit),
        components=components_of(sums.penalties, ratios, fit.theta, groupings),
        total=float(np.ldexp(sums.square, 2 * y)),
        residual=float(np.ldexp(max(residual, 0.0), 2 * y)),
    )


def solve_grouped(
    total: AdditiveSums,
    places: Sequence[TermPlace],
    names: Sequence[str],
    labels: Sequence[str],
    asked: AdditiveProblem,
    design: AdditiveDesign,
) -> GroupedSolution:
    """Return the model of rows with these sums; arguments as of `solve_additive`."""
    criterion, intercept, rows, log_weights = asked
    moments = total.moments
    p, one = moments.shape.features, int(intercept)
    linear = min((at.start for at in places), default=p)
    exponent = moments.exponent.astype(np.int64)
    unit = np.concatenate([np.zeros(linear, np.int64), exponent[linear:p], [0]])
    second = np.ldexp(moments.second, unit + unit[:, None])
    means = np.ldexp(moments.first_hi, unit - exponent) if intercept else np.zeros(p + 1)
    left_out = dependent_columns(second[:linear, :linear])
    kept = np.setdiff1d(np.arange(p), left_out)
    grouped = [
        _of_grouping(one_grouping, shape, unit - exponent, means)
        for one_grouping, shape in zip(total.groups, design.group_shapes, strict=True)
    ]
    moved, size = one - len(left_out), one + len(kept)
    shifted = [at._replace(start=at.start + moved, stop=at.stop + moved) for at in places]
    crossed, penalties = grouped[:-1], block_penalties(shifted)
    starts = size + np.cumsum([0, *(own.target.size for own in crossed)])
    width = int(starts[-1])
    gram, cross = np.zeros((width, width)), np.zeros(width)
    gram[:one, :one], gram[one:size, one:size] = moments.weight, second[np.ix_(kept, kept)]
    cross[one:size] = second[p, kept]
    links = list[sp.coo_array]()
    for own, start in zip(crossed, starts, strict=False):
        block = slice(int(start), int(start) + own.target.size)
        groups, q = own.target.shape
        gram[block, :size] = own.beside(kept, one).reshape(-1, size)
        gram[:size, block] = gram[block, :size].T
        gram[block, block].reshape(groups, q, groups, q)[np.arange(groups), :, np.arange(groups)] = own.squares
        cross[block] = own.target.ravel()
        penalties.append(CovariancePenalty(block.start, groups, q))
    for (k, m), pairs in zip(pairs_of(len(grouped)), total.pairs, strict=True):
        between = _between(pairs, design.group_shapes[k], design.group_shapes[m])
        if m == len(grouped) - 1:
            links.append(between.T)
            continue
        rows_of, columns_of = between.row + starts[k], between.col + starts[m]
        gram[rows_of, columns_of] = gram[columns_of, rows_of] = between.data
    plain = PenalisedSums(gram, cross, float(second[p, p]), rows, None, penalties, log_weights)
    last = grouped[-1]
    penalty = CovariancePenalty(width, *last.target.shape)
    along = GroupColumns(last.beside(kept, one), sp.csr_array(sp.hstack(links)) if links else None)
    sums = GroupedSums(plain, penalty, last.squares, along, last.target)
    if rows <= plain.unpenalised:
        raise too_few(rows, plain.unpenalised)
    if not plain.square:
        raise InvalidData("the target is constant: there is no variance to divide between groups and rows")
    schur = _without_last(GroupedFit(sums, first_ratios(sums), sums).schur(), size)
    condition = _identified(schur, shifted, [*["intercept"] * one, *(names[j] for j in kept)], labels)
    ratios = solve_ratios(sums, criterion)
    fit = ratios.fit
    assert isinstance(fit, GroupedFit)
    fit = GroupedFit(sums, fit.theta, sums)
    y = int(exponent[p])
    raw = np.concatenate([-exponent[:linear], np.zeros(p - linear, np.int64)])
    scale = np.append(np.zeros(one, np.int64), raw[kept])
    coef, inverse, freedom = np.zeros(p), np.zeros((p, p)), np.zeros((p, p))
    coef[kept] = fit.coefficients[one:size]
    inverse[np.ix_(kept, kept)] = fit.inverse[one:size, one:size]
    freedom[np.ix_(kept, kept)] = column_freedom(fit, size)[one:, one:]
    shared = np.zeros(p)
    shared[kept] = shared_freedom(fit, size)[one:]
    coef, raw_means = np.ldexp(coef, y + raw), np.ldexp(means[:p], -raw)
    shift = sum(at.part.shift for at in places if isinstance(at.part, LearnedSmooth))
    constant = np.ldexp(means[p] + fit.coefficients[:one].sum(), y) - raw_means @ coef
    beside = width - size
    whole, pull = np.zeros((one + p + beside, one + p + beside)), np.zeros((*last.target.shape, one + p))
    places_kept = np.append(np.arange(one), one + kept)
    pull[:, :, places_kept] = np.ldexp(fit.pull.dense, -scale)
    places_kept, scale = (
        np.append(places_kept, one + p + np.arange(beside)),
        np.append(scale, np.zeros(beside, np.int64)),
    )
    whole[np.ix_(places_kept, places_kept)] = np.ldexp(fit.inverse, scale + scale[:, None])
    solution = AdditiveSolution(
        coef=coef,
        intercept=float(constant) if intercept else 0.0,
        means=raw_means,
        inverse=np.ldexp(inverse, raw + raw[:, None]),
        freedom=np.ldexp(freedom, raw[:, None] - raw),
        gram=np.ldexp(second[:p, :p], -raw - raw[:, None]),
        variance=float(np.ldexp(fit.dispersion(criterion), 2 * y)),
        score=_score(fit.score(criterion), plain, criterion, y, exponent[kept[kept < linear]], shift),
        left_out=left_out,
        constant=[j for j in left_out if not second[j, j]],
        ratios=ratios,
        condition=condition,
        components=components_of(sums.penalties, ratios, fit.theta, design.groupings),
        total=float(np.ldexp(second[p, p], 2 * y)),
        residual=float(np.ldexp(max(residual_squares(fit), 0.0), 2 * y)),
    )
    found = [
        np.ldexp(fit.coefficients[start : start + own.target.size], y).reshape(own.target.shape)
        for own, start in zip(crossed, starts, strict=False)
    ]
    sparse = fit.pull.sparse
    effects = GroupedEffects(
        *(np.ldexp(fit.effects, y), fit.spread, pull, whole),
        *(tuple(found), None if sparse is None else SparseRows.of(sparse)),
    )
    every = [own.squares.sum(axis=0) for own in grouped]
    return GroupedSolution(solution, effects, freedoms(fit, len(places)), shared, every)


class _GroupingSums(NamedTuple):
    """Sums of a grouping: Z_g'Z_g (G, q, q), Z_g'1 (G, q, 1), Z_g'(X - mean) (G, q, M), Z_g'(y - mean) (G, q)."""

    squares: Array
    ones: Array
    along: Array
    target: Array

    def beside(self, kept: NDArray[np.intp], one: int) -> Array:
        """Return the sums of z [1 X] of the columns that are kept, (G, q, 1 + M)."""
        return np.concatenate([self.ones[:, :, :one], self.along[:, :, kept]], axis=2)


def _of_grouping(
    totals: KeyedTotals, shape: tuple[int, int], exponent: NDArray[np.int64], means: Array
) -> _GroupingSums:
    groups, q = shape
    sums_of = totals.of_all(groups).reshape(groups, q, -1)
    ones, along = sums_of[:, :, q, None], np.ldexp(sums_of[:, :, q + 1 :], exponent)
    along -= ones * means
    return _GroupingSums(sums_of[:, :, :q], ones, along[:, :, :-1], along[:, :, -1])


def _between(pairs: KeyedTotals, one: tuple[int, int], other: tuple[int, int]) -> sp.coo_array:
    """Return Z_k'Z_m of two groupings."""
    (groups, q), (others, r) = one, other
    group, beside = np.divmod(pairs.keys, others)
    rows = np.repeat(group[:, None] * q + np.arange(q), r, axis=1)
    columns = np.tile(beside[:, None] * r + np.arange(r), (1, q))
    entries = (pairs.values.ravel(), (rows.ravel(), columns.ravel()))
    return sp.coo_array(entries, shape=(groups * q, others * r))


def _without_last(matrix: Array, size: int) -> Array:
    """Return the Schur complement of a positive definite matrix in its first rows and columns."""
    if size == len(matrix):
        return matrix
    block = matrix[size:, size:]
    scale = block.diagonal() ** -0.5
    factor = cholesky(block * scale * scale[:, None], lower=True)
    half = solve_triangular(factor, scale[:, None] * matrix[size:, :size], lower=True)
    return np.asarray(matrix[:size, :size] - half.T @ half)


def variance_parts(
    solved: AdditiveSolution,
    grouped: GroupedSolution | None,
    places: Sequence[TermPlace],
    apart: Sequence[LearnedGroups],
    weight: float,
    observations: float,
) -> tuple[float, float]:
    """Return the variances over the rows of what linear columns and curves explain, and of the effects of groups.

    The second is the mean over the rows of z' Sigma z, Sigma the covariance of the effects that z multiplies.
    """
    groups = [at for at in places if isinstance(at.part, LearnedGroups)]
    end = min((at.start for at in groups), default=len(solved.coef))
    beta = solved.coef[:end]
    fixed = float(beta @ solved.gram[:end, :end] @ beta) / (weight * max(1 - 1 / observations, 0.5))
    multiplied = []
    for at in groups:
        assert isinstance(at.part, LearnedGroups)
        block, means = slice(at.start, at.stop), solved.means[at.start : at.stop]
        whole = solved.gram[block, block] + weight * np.outer(means, means)
        q = len(at.part.slopes)
        multiplied.append((np.einsum("gagb->ab", whole.reshape(-1, q, len(whole) // q, q)), at.part))
    multiplied += [] if grouped is None else zip(grouped.multiplied, apart, strict=True)
    random = 0.0
    for (second, part), one in zip(multiplied, solved.components, strict=True):
        scale = np.array(part.exponents)
        random += float(np.sum(np.ldexp(second, scale + scale[:, None]) * one.covariance))
    return fixed, solved.variance * random / weight


def too_few(rows: float, free: int) -> InvalidData:
    """Return what is raised where there are no more rows than coefficients without a penalty."""
    return InvalidData(
        f"{counted(rows, 'sample', 'g')} cannot determine {counted(free, 'coefficient')} without a penalty: give more "
        "rows, or leave out columns or terms"
    )


def _score(
    found: float, sums: PenalisedSums, criterion: Criterion, y: int, exponents: NDArray[np.int64], shift: float
) -> float:
    """Return the criterion in the units of target and linear columns."""
    if criterion == "gcv":
        return float(np.ldexp(np.exp(found), 2 * y))
    found += sums.divisor(criterion) * y * np.log(2) + shift / 2
    return float(found + (exponents.sum() * np.log(2) if criterion == "reml" else 0.0))


def dependent_columns(gram: Array) -> list[int]:
    """Return the columns that are zero, or combinations of those before them."""
    out, kept = [], list[int]()
    for j in range(len(gram)):
        left = gram[j, j]
        if kept and left > 0:
            block, cross = gram[np.ix_(kept, kept)], gram[kept, j]
            scale = 1 / np.sqrt(block.diagonal())
            left -= cross @ (scale * np.linalg.lstsq(block * scale * scale[:, None], scale * cross)[0])
        if left > DEPENDENT * gram[j, j]:
            kept.append(j)
        else:
            out.append(j)
    return out


def _condition(fit: PenalisedFit) -> float:
    return scaled_condition(fit.sums.gram + penalty_matrix(fit.sums, fit.theta))


def scaled_condition(whole: Array) -> float:
    """Return the condition of a positive definite matrix, scaled to a diagonal of ones."""
    scale = whole.diagonal() ** -0.5
    values = np.linalg.eigvalsh(whole * scale * scale[:, None]) if len(whole) else np.ones(1)
    return float(values[-1] / max(values[0], 1e-300))


def check_identified(
    sums: PenalisedSums, places: Sequence[TermPlace], names: Sequence[str], labels: Sequence[str]
) -> float:
    """Return the condition of X'X + P for the first ratios; refuse terms that are combinations of others."""
    if not len(sums.cross):
        return 1.0
    fit = PenalisedFit(sums, first_ratios(sums))
    return _identified(sums.gram + penalty_matrix(sums, fit.theta), places, names, labels)


def _identified(whole: Array, places: Sequence[TermPlace], names: Sequence[str], labels: Sequence[str]) -> float:
    """Return the condition of a matrix scaled to a diagonal of ones; refuse columns that are combinations of others."""
    scale = whole.diagonal() ** -0.5
    values, vectors = np.linalg.eigh(whole * scale * scale[:, None])
    if values[0] > DEPENDENT:
        return float(values[-1] / values[0])
    along = np.abs(vectors[:, 0])
    linear = min((at.start for at in places), default=len(names))
    found = [names[j] for j in range(linear) if along[j] > LARGE]
    terms = [
        label for at, label in zip(places, labels, strict=True) if np.linalg.norm(along[at.start : at.stop]) > LARGE
    ]
    raise InvalidData(
        f"the rows do not tell {some([*found, *terms])} apart: they contain the same straight lines, as a curve does "
        "that of its column, and the curves of all levels the curve that these share. Leave one of them out"
    )


def _is_exact(sums: PenalisedSums) -> bool:
    """Whether columns without a penalty explain the target, but for rounding."""
    free = np.flatnonzero(sums.free)
    if not len(free):
        return False
    block, cross = sums.gram[np.ix_(free, free)], sums.cross[free]
    scale = 1 / np.sqrt(block.diagonal())
    try:
        beta = scale * np.linalg.solve(block * scale * scale[:, None], scale * cross)
    except LinAlgError:
        return False
    return bool(sums.square - cross @ beta <= EXACT * sums.square)


def components_of(
    penalties: Sequence[BlockPenalty], ratios: SolvedRatios | None, theta: Array, groupings: Sequence[LearnedGroups]
) -> list[ComponentFit]:
    """Return the covariance of the effects of each grouping."""
    out, start, left = [], 0, iter(groupings)
    for one in penalties:
        own = slice(start, start := start + one.parameters)
        if not isinstance(one, CovariancePenalty):
            continue
        zero = np.zeros(one.size, bool) if ratios is None else ratios.boundary[own][: one.size]
        at = theta[own].copy()
        at[: one.size][zero] = np.inf  # what is left of that effect is a multiple of those before it
        covariance = one.covariance(at)
        scale = -np.array(next(left).exponents)
        out.append(ComponentFit(np.ldexp(covariance, scale + scale[:, None]), zero))
    return out
