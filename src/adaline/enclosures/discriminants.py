"""Enclosures of discriminants: u = N S^-1 (q_1 m_1 + ... + q_K m_K), m_k class means, S the scatter within the classes.

Let N_k be the weights of the classes, N their sum, and beside the columns x of a row let there be e_k, 1 in rows of
class k and else 0, for all classes but the first. The normal equations of rows z = (1, e, x), of numbers r that add up
to zero,

    sum w z z' theta = (0, r_1, ..., r_(K-1), 0),   theta = (c_0, d, u),   c_k = c_0 + d_k

say that N_k (c_k + m_k'u) = r_k and S u = - sum r_k m_k. They are those of least squares to targets of zero with r in
place of the gradient at zero, and are enclosed as such; c_k gives m_k'u = r_k / N_k - c_k, exactly. So

    two classes, r = (N, -N):  u = N S^-1 (m_1 - m_0),   - (m_0 + m_1)'u / 2 = (c_0 + c_1)/2 - N (1/N_0 - 1/N_1) / 2
    of class k, r_j = N_j - N [j = k]:  u = N S^-1 (m_k - m),   m the mean of all rows, m'u = - sum N_j c_j / N
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from adaline.arrays import Array, RowsLike, as_dense, host, like_rows
from adaline.block import Block, Shape
from adaline.enclosures.enclosure import Enclosure, Ends, RowReader
from adaline.enclosures.least_squares import DEPENDENT, Added, enclose_least_squares
from adaline.enclosures.linear import LinearEnclosure
from adaline.enclosures.rational import Between
from adaline.enclosures.rounding import ROUNDING
from adaline.penalties import no_penalty
from adaline.sources import Source
from adaline.sources.columns import number_columns
from adaline.sources.views import SourceView
from adaline.sums import Residual, Theta

WITHIN = (
    "uniqueness is not proved: within the classes, columns are constant, or linear combinations of others up to "
    "rounding; drop them"
)
EQUAL_MEANS = "it is not proved that the means of the classes differ"
UNKNOWN_WEIGHT = "the weight of a class is lost in the rounding of the others': use weights of similar size"


class WithClasses(SourceView):
    """The rows of a source whose targets are classes, with a column for each but the first, and targets of zero."""

    def __init__(self, base: Source, classes: int, targets: int) -> None:
        super().__init__(base)
        self.classes, self.sparse = classes, False
        self.shape = Shape(base.shape.features + classes - 1, targets)
        given = base.columns.names
        self.columns = number_columns((*(f"class {k}" for k in range(1, classes)), *given) if given else None)

    def _transformed(self, block: Block) -> Block:
        block = block.gathered()
        x, codes = np.asarray(host(as_dense(block.x)), dtype=np.float64), host(block.t)
        beside = (codes == np.arange(1, self.classes)).astype(np.float64)
        none = np.zeros((block.rows, self.shape.targets))
        return replace(block, x=np.hstack([beside, x]), t=none, exponent=None)


class ClassPriors(NamedTuple):
    """What is added to each discriminant: the logarithms of priors, of the weights of the classes, or nothing."""

    given: Array | None = None
    of_weights: bool = False

    def logs(self, weights: list[Between]) -> list[Between]:
        """Return them, up to what is the same for all classes."""
        if self.given is not None:
            return [Between.of(p).log() for p in self.given.tolist()]
        if not self.of_weights:
            return [Between.of(0.0)] * len(weights)
        total = _sum(weights).inverse()
        return [one.times(total).log() for one in weights]


@dataclass(frozen=True)
class Discriminants:
    """Discriminants scale (u_k'x + c_0 + sum q_kj d_j + rest_k) - cut of the solutions.

    Parameters
    ----------
    found : the solution, of one target for two classes, else of K.
    shares : (m, K - 1) q, in float64.
    rest : m intervals.
    scale : of two classes, an interval above zero; None is 1.
    cut : a number.
    rows : reads X as the model works on it.
    flat : whether there are two classes.
    """

    found: LinearEnclosure
    shares: Array
    rest: list[Between]
    scale: Between | None
    cut: float
    rows: RowReader
    flat: bool

    def __call__(self, X: RowsLike) -> Ends:
        x = np.asarray(host(as_dense(self.rows(X))), dtype=np.float64)
        each = []
        for k, (share, rest) in enumerate(zip(self.shares, self.rest, strict=True)):
            ends = self.found.outputs(np.hstack([np.tile(share, (len(x), 1)), x]))
            low, high = (end[:, k] + more for end, more in zip(ends, rest.floats(), strict=True))
            low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
            if self.scale is not None:
                products = np.array([end * factor for end in (low, high) for factor in self.scale.floats()])
                low, high = np.nextafter(products.min(axis=0), -np.inf), np.nextafter(products.max(axis=0), np.inf)
            if self.cut:
                low, high = np.nextafter(low - self.cut, -np.inf), np.nextafter(high - self.cut, np.inf)
            each.append((low, high))
        stacked = (np.stack([one[i] for one in each], axis=1) for i in range(2))
        return Ends(*(like_rows(X, end[:, 0] if self.flat else end) for end in stacked))


class Discrimination(NamedTuple):
    """What kind of discriminants a classifier has.

    Parameters
    ----------
    prior : what is added to them.
    of_unit_spread : whether u is scaled so that u' S u = N.
    cut : where the projection on it is cut, of two classes; None is halfway between the means, but for the prior.
    """

    prior: ClassPriors
    of_unit_spread: bool = False
    cut: float | None = None


@np.errstate(all="ignore")
def enclose_discriminants(
    source: Source, classes: int, kind: Discrimination, names: list[str], rows: RowReader
) -> Enclosure:
    """Return bounds on the discriminants for rows whose targets are the indices of classes that all have rows."""
    before, d, two = source.reads[0], source.shape.features, classes == 2
    beside = WithClasses(source, classes, 1 if two else classes)
    weights = _weights(beside, classes)
    found = _solved(beside, weights, two)
    reason = found.reason
    if not reason and min(one.low for one in weights) <= 0:
        reason = UNKNOWN_WEIGHT
    scale = None
    if not reason and two and kind.of_unit_spread:
        spread = _spread(found, weights)
        scale, reason = (spread.root().inverse(), "") if spread.low > 0 else (None, EQUAL_MEANS)
    passes = source.reads[0] - before
    if reason:
        far = np.full((1 + d,) if two else (classes, 1 + d), np.inf)
        return Enclosure(-far, far, names, WITHIN if reason == DEPENDENT else reason, passes)
    shares, rest = _thresholds(found, weights, kind.prior.logs(weights))
    constants = [
        _functional(found, k, [Fraction(1), *map(Fraction, own), *([Fraction(0)] * d)]) for k, own in enumerate(shares)
    ]
    if kind.cut is not None:  # that number alone is taken from u'x
        rest = [one.times(Fraction(-1)) for one in constants]
    solved = Discriminants(found, np.array(shares), rest, scale, kind.cut or 0.0, rows, two)
    each = [_coefficients(found, k, one, d, scale) for k, one in enumerate(constants)]
    for own, more in zip(each, rest, strict=True):
        start = own[0].plus(more)
        own[0] = Between.of(-kind.cut) if kind.cut is not None else start if scale is None else start.times(scale)
    ends = np.array([[value.floats() for value in own] for own in each])
    lower, upper = (ends[0] if two else ends)[..., 0], (ends[0] if two else ends)[..., 1]
    return Enclosure(lower, upper, names, "", passes, solved)


def _solved(beside: WithClasses, weights: list[Between], two: bool) -> LinearEnclosure:
    """Return the solutions of the normal equations, with r for the classes: of all, or of two their difference."""
    total, zero = _sum(weights), Between.of(0.0)
    chosen = [[total, total.times(Fraction(-1))]] if two else [_pulled(weights, total, k) for k in range(len(weights))]
    d = beside.shape.features - len(weights) + 1
    added = Added.of([[zero, *own[1:], *([None] * d)] for own in chosen])
    start = np.zeros((len(chosen), len(weights) + d))
    return enclose_least_squares(beside, True, no_penalty(beside.shape.features), start, added=added)


def _spread(found: LinearEnclosure, weights: list[Between]) -> Between:
    """Return u' S u / N = (m_1 - m_0)'u of two classes: it is - d - N (1/N_0 + 1/N_1)."""
    inverses = _sum([one.inverse() for one in weights])
    return _constants(found, 0, 2)[1].plus(_sum(weights).times(inverses)).times(Fraction(-1))


def _thresholds(
    found: LinearEnclosure, weights: list[Between], logs: list[Between]
) -> tuple[list[list[float]], list[Between]]:
    """Return q, in float64, and what is left of the constant of each discriminant beside c_0 + q'd."""
    shares, rest = [], []
    for k, _ in enumerate(found.bounds[0]):
        share, more = _halfway(weights, logs) if len(weights) == 2 else _from_the_mean(weights, logs, k)
        near = [float((one.low + one.high) / 2) for one in share]
        for one, q, constant in zip(share, near, _constants(found, k, len(weights))[1:], strict=True):
            more = more.plus(one.plus(-Fraction(q)).times(constant))
        shares.append(near)
        rest.append(more)
    return shares, rest


def _halfway(weights: list[Between], logs: list[Between]) -> tuple[list[Between], Between]:
    """Return q, and the rest of the constant: of two classes."""
    away = weights[0].inverse().plus(weights[1].inverse().times(Fraction(-1))).times(_sum(weights))
    return [Between.of(0.5)], logs[1].plus(logs[0].times(Fraction(-1))).plus(away.times(Fraction(-1, 2)))


def _from_the_mean(weights: list[Between], logs: list[Between], k: int) -> tuple[list[Between], Between]:
    """Return them of class k of more than two."""
    total = _sum(weights)
    share = [w.times(total.inverse()).plus(Fraction(j == k)).times(Fraction(1, 2)) for j, w in enumerate(weights)]
    return share[1:], logs[k].plus(weights[k].inverse().times(total).plus(Fraction(-1)).times(Fraction(1, 2)))


def _coefficients(found: LinearEnclosure, k: int, constant: Between, d: int, scale: Between | None) -> list[Between]:
    """Return a constant, as it is, and the slopes of a target, scaled."""
    rows = np.eye(len(found.bounds[0][k]))[-d:].tolist() if d else []
    slopes = [_functional(found, k, [Fraction(v) for v in row]) for row in rows]
    return [constant, *(one if scale is None else one.times(scale) for one in slopes)]


def _weights(beside: WithClasses, classes: int) -> list[Between]:
    """Return the weights of the classes: sums of weights in double-double, at coefficients that make residuals 1."""
    width = beside.shape.features
    ones = np.zeros((beside.shape.targets, 1 + width))
    ones[:, 0] = -1.0
    known = beside.sum(Residual, Theta(ones, np.zeros_like(ones), np.zeros(width + beside.shape.targets))).sums[0]
    if not np.isfinite(known).all():
        beside.base.refuse_nonfinite()
    exact = [Fraction(hi) + Fraction(lo) for hi, lo in known[:classes].tolist()]
    lost = Fraction((40 * beside.count_rows() + 200) * ROUNDING**2) if beside.targets.weighted else Fraction(0)
    first, *others = (Between.about(one, lost * one) for one in exact)  # sums of numbers above zero: relative errors
    return [first.plus(_sum(others).times(Fraction(-1))), *others]


def _pulled(weights: list[Between], total: Between, k: int) -> list[Between]:
    return [one.plus(total.times(Fraction(-(j == k)))) for j, one in enumerate(weights)]


def _sum(terms: list[Between]) -> Between:
    return Between(sum((one.low for one in terms), Fraction(0)), sum((one.high for one in terms), Fraction(0)))


def _constants(found: LinearEnclosure, k: int, classes: int) -> list[Between]:
    """Return c_0 and d of a target."""
    width = len(found.bounds[0][k])
    return [_functional(found, k, [Fraction(i == j) for i in range(width)]) for j in range(classes)]


def _functional(found: LinearEnclosure, k: int, v: list[Fraction]) -> Between:
    """Return v'theta of the solution of a target, raw."""
    here, known, sizes = found.found, found.known, found.sizes
    assert here is not None
    assert known is not None
    assert sizes is not None
    powers = [0, *(int(e) for e in sizes.exponent[: len(v) - 1])]
    scaled = [one / Fraction(2) ** power for one, power in zip(v, powers, strict=True)]
    near = np.array([[float(one) for one in scaled]])
    parts = zip(scaled, *(row[k].tolist() for row in (here.hi, here.lo, here.rounded)), strict=True)
    middle, radius = Fraction(0), Fraction(0)
    for one, hi, lo, off in parts:
        middle += one * (Fraction(hi) + Fraction(lo))
        radius += abs(one) * Fraction(off)
    rows = known.row_lengths().tolist()
    length = Fraction(float(known.pulled_lengths(near)[0]))
    for one, float_one, row in zip(scaled, near[0].tolist(), rows, strict=True):
        length += abs(one - Fraction(float_one)) * Fraction(row)
    radius += length * Fraction(float(here.reach[k]))
    return Between.about(middle, radius).times(Fraction(2) ** int(sizes.targets_exponent[k]))
