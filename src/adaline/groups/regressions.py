"""Least squares, ridge and likelihoods of every group of rows: the kernel, its reference, and what is found.

minimise sum_n weight_n cost(w0 + w'x_n, t_n) + 1/2 sum_j pull_j w_j^2   over the rows n of a group
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline import twofold
from adaline.arrays import Array
from adaline.groups.keys import Grouping
from adaline.kernels import native, numbers_of
from adaline.losses import LOSSES, Loss
from adaline.sources.threads import run_blocks

STATES = numbers_of(
    "GroupState",
    (
        *("solved", "missing", "few_rows", "constant", "dependent", "no_freedom", "exact"),
        *("one_class", "separated", "unbounded", "undecided"),
    ),
)
KernelLoss = Literal["squared", "logistic", "poisson"]
ROUNDING = 2.0**-53
# condition beyond which the rank is for a single fit to decide; 10x larger leaves digits of standard errors to chance
MOST_CONDITION = 1e7
NEGLIGIBLE = 2.0**-70  # a coefficient that counts as zero next to the others
EXACT_RATIO = 1e-15  # residuals, relative to the largest term, that are rounding
STEPS = 3  # of refinement; the first is mostly the last
MOST_SLACK = 0.1  # by what a factor may be off relatively, so that a step bounds an error; 10x larger bounds none
MOST_INFLATION = (
    1e7  # of variances under a likelihood, by columns that nearly depend, beyond which a single fit decides
)
NEAR_DECREMENT = 1e-10  # squared length of Newton's step, in standard errors, from which it is the last
MOST_NEWTON, MOST_HALVINGS = 60, 30  # steps, and halvings of one; more serve likelihoods without a maximum
ENOUGH_DIGITS, LEAST_DIGITS = 15, 6  # from which refinement ends, and below which a single fit decides
TASK_ROWS = 2**15  # rows of a task; doubling it leaves threads idle at the end of a table of half as many


class GroupedRows(NamedTuple):
    """Rows in columns, with their targets, weights and groups.

    Parameters
    ----------
    columns : D vectors (N,).
    t : (N,) targets.
    weight : (N,) frequencies, or None for ones.
    grouping : which rows are of which group.
    """

    columns: list[Array]
    t: Array
    weight: Array | None
    grouping: Grouping


@dataclass(frozen=True)
class GroupRegressions:
    """What was found of G groups; NaN where it was not.

    Parameters
    ----------
    estimate, std_error, statistic : (G, 1 + D), intercept first.
    freedom, digits : (G,) degrees of freedom of the residuals, and correct digits of the worst coefficient.
    state, column : (G,) how each ended, one of STATES, and the column that this is about, D for the target.
    """

    estimate: Array
    std_error: Array
    statistic: Array
    freedom: Array
    digits: Array
    state: NDArray[np.int32]
    column: NDArray[np.int32]

    def p_values(self) -> Array:
        """Return the probabilities of statistics as large as these, (G, 1 + D), by t or normal."""
        out = np.empty_like(self.statistic)
        groups = max(TASK_ROWS // self.statistic.shape[1], 1)

        def work(i: int) -> None:
            own = slice(i * groups, (i + 1) * groups)
            freedom = np.where(self.freedom[own] > 0.5, self.freedom[own], np.nan)[:, None]
            np.multiply(2.0, scipy.special.stdtr(freedom, -np.abs(self.statistic[own])), out=out[own])

        run_blocks(-(-len(out) // groups), work)
        return out


def regress(
    rows: GroupedRows, intercept: bool, pull: Array | None = None, loss: KernelLoss = "squared"
) -> GroupRegressions:
    """Fit every group; pull (D,) is what the square of a coefficient costs, None for nothing."""
    groups, width = rows.grouping.groups, 1 + len(rows.columns)
    theta, error, statistic = (np.empty((groups, width)) for _ in range(3))
    facts, state, column = np.empty((2, groups)), np.empty(groups, np.int32), np.empty(groups, np.int32)
    bounds, kind = _tasks(rows.grouping), loss if native is None else native.Loss[loss]

    def work(i: int) -> None:
        found = (theta, error, statistic, facts, state, column)
        own = (rows.grouping.order, rows.grouping.begins, rows.grouping.ends)
        given = (rows.columns, rows.t, rows.weight, *own, pull, intercept, kind)
        group_regressions(*found, *given, bounds[i], bounds[i + 1])

    run_blocks(len(bounds) - 1, work)
    return GroupRegressions(theta, error, statistic, facts[0], facts[1], state, column)


def _tasks(grouping: Grouping) -> list[int]:
    """Return the groups at which tasks of about as many rows begin, and the number of all groups.

    Of a window that overlaps the one before, rows that it has besides count, so that long windows make long tasks.
    """
    if not grouping.groups:
        return [0]
    overlap = np.append(0, np.maximum(grouping.ends[:-1] - grouping.begins[1:], 0))
    new = np.cumsum(grouping.sizes - overlap)
    tasks = max(int(new[-1]) // max(TASK_ROWS, int(grouping.sizes.max()) if overlap.any() else 0), 1)
    cuts = np.searchsorted(new, np.linspace(0, int(new[-1]), tasks + 1)[1:-1])
    return [0, *np.unique(cuts[(cuts > 0) & (cuts < grouping.groups)]).tolist(), grouping.groups]


def group_regressions_reference(
    theta: Array,
    error: Array,
    statistic: Array,
    facts: Array,
    state: NDArray[np.int32],
    column: NDArray[np.int32],
    x: list[Array],
    t: Array,
    weight: Array | None,
    order: NDArray[np.int32] | None,
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    pull: Array | None,
    intercept: bool,
    loss: Any,
    first: int,
    last: int,
) -> None:
    """Set what is found of groups first .. last - 1, which begin and end there in the order, each on its own."""
    for g in range(first, last):
        rows: Any = slice(begins[g], ends[g])
        rows = rows if order is None else order[rows]
        own = np.column_stack([*(one[rows] for one in x), t[rows]])
        weights = np.ones(len(own)) if weight is None else weight[rows]
        with np.errstate(all="ignore"):
            name, about, found = _fit_group(_Group(own, weights, pull, intercept, getattr(loss, "name", loss)))
        statistics = np.full((3, own.shape[1]), np.nan) if found is None else found.statistics
        theta[g], error[g], statistic[g] = statistics
        facts[:, g] = (np.nan, np.nan) if found is None else (found.freedom, found.digits)
        state[g], column[g] = STATES[name], about


class _Group(NamedTuple):
    """One group of rows (n, D + 1), the target last, with their weights and what coefficients cost."""

    rows: Array
    weight: Array
    pull: Array | None
    intercept: bool
    loss: KernelLoss

    @property
    def features(self) -> int:
        return int(self.rows.shape[1]) - 1

    @property
    def costs(self) -> Array:
        return np.zeros(self.features) if self.pull is None else self.pull

    @property
    def total(self) -> float:
        return float(self.weight.sum())


class _Centred(NamedTuple):
    """Columns about their means, the roots of the costs below them: what they are, their lengths and rounding."""

    tall: Array
    mean: Array
    length: Array
    noise: float


class _Triangle(NamedTuple):
    """The columns kept, an orthonormal basis of them, the inverse of their triangle, and by what it may be off."""

    kept: NDArray[np.intp]
    basis: Array
    inverse: Array
    slack: float

    @property
    def unit(self) -> Array:
        """Lengths of the rows of the inverse."""
        return np.asarray(np.linalg.norm(self.inverse, axis=1))


class _Solved(NamedTuple):
    """Estimates, standard errors and statistics (3, 1 + D), degrees of freedom, and digits."""

    statistics: Array
    freedom: float
    digits: float


def _fit_group(group: _Group) -> tuple[str, int, _Solved | None]:
    """Return how the fit of a group ended, the column that this is about, and what was found."""
    missing = ~np.isfinite(group.rows).all(axis=0)
    if missing.any():
        return "missing", int(missing.argmax()), None
    if np.count_nonzero(group.weight) < (group.features if group.pull is None else 1) + group.intercept:
        return "few_rows", 0, None
    centred = _centre(group)
    name, about, triangle = _factor(group, centred)
    if triangle is None:
        return "undecided", about, None
    if group.loss != "squared":
        end, maximum = _maximise(group, centred, triangle)
        return (name, about, maximum) if end == "solved" else (end, 0, None)
    found = _solve(group, centred, triangle)
    if found is None:
        return "undecided", about, None
    if name == "solved" and not found.freedom > 0.5:
        return "no_freedom", about, found
    exact = np.isnan(found.statistics[2, 1:]).all()
    return "exact" if name == "solved" and exact else name, about, found


def _centre(group: _Group) -> _Centred:
    mean = np.zeros(group.features + 1)
    for _ in range(2 * group.intercept):
        mean = mean + group.weight @ (group.rows - mean) / group.total
    centred = np.sqrt(group.weight)[:, None] * (group.rows - mean)
    length = np.linalg.norm(centred, axis=0)
    varies = length[:-1] > 0
    pulled = np.where(varies, np.sqrt(group.costs), 0.0)
    noise = ROUNDING * np.abs(group.rows).max(axis=0)[:-1] * math.sqrt(group.total) / length[:-1]
    tall = np.vstack([centred, np.eye(group.features, group.features + 1) * np.append(pulled, 0.0)])
    length[:-1] = np.hypot(length[:-1], pulled)
    return _Centred(tall, mean, length, float(noise[varies & (pulled == 0)].max(initial=0.0)))


def _factor(group: _Group, centred: _Centred) -> tuple[str, int, _Triangle | None]:
    """Return the factor of the columns that do not depend on those before them; None where the rank is doubtful."""
    name, about, kept = "solved", 0, list[int]()
    basis = np.empty((len(centred.tall), 0))
    for j, length in enumerate(centred.length[:-1]):
        rest = centred.tall[:, j]
        for _ in range(2):
            rest = rest - basis @ (basis.T @ rest)
        left = float(np.linalg.norm(rest))
        if left <= 2 * (group.features + 10) * ROUNDING * length:
            found = "constant" if length == 0 else "dependent"
            if name not in ("dependent", found):
                name, about = found, j
            continue
        if left <= 4 * centred.noise * length:
            return name, about, None
        basis = np.column_stack([basis, rest / left])
        kept.append(j)
    own = np.array(kept, dtype=np.intp)
    inverse: Array = np.asarray(np.linalg.inv(np.triu(basis.T @ centred.tall[:, own])), dtype=np.float64)
    condition = math.sqrt(max(len(own), 1)) * float(np.linalg.norm(inverse * centred.length[own][:, None]))
    slack = 8 * (len(group.rows) + 10) * (group.features + 1) * ROUNDING * condition + centred.noise**2
    decided = condition <= MOST_CONDITION and slack <= MOST_SLACK
    return name, about, _Triangle(own, basis, inverse, slack) if decided else None


def _solve(group: _Group, centred: _Centred, triangle: _Triangle) -> _Solved | None:
    """Solve, refine and bound the error; None where fewer than six digits are proven."""
    kept, unit = triangle.kept, triangle.unit
    mean = centred.mean[kept]
    w = triangle.inverse @ (triangle.basis.T @ centred.tall[:, -1])
    theta = np.append(centred.mean[-1] - mean @ w, w)
    step, off, squares = _residual(group, centred, triangle, theta)
    digits = _digits(group, centred, kept, theta, off)
    for _ in range(STEPS):
        if digits > ENOUGH_DIGITS:
            break
        theta = theta + step
        step, off, squares = _residual(group, centred, triangle, theta)
        digits = _digits(group, centred, kept, theta, off)
    if not math.isfinite(squares) or digits < LEAST_DIGITS:
        return None
    freedom = group.total - group.intercept - float((1 - group.costs[kept] * unit**2).sum())
    sigma = math.sqrt(squares / freedom) if freedom > 0.5 else math.nan
    units = np.append(math.sqrt(1 / group.total + float(((mean @ triangle.inverse) ** 2).sum())), unit)
    out = np.full((3, 1 + group.features), np.nan)
    own = slice(0 if group.intercept else 1, None)
    at = np.append(0, 1 + kept)[own]
    out[0, at], out[1, at] = theta[own], sigma * units[own]
    size = np.hypot(centred.mean, centred.length / math.sqrt(group.total))
    largest = max(float((np.abs(theta) * np.append(1.0, size[kept])).max()), float(size[-1]))
    if math.sqrt(squares / group.total) > EXACT_RATIO * largest:
        out[2] = out[0] / out[1]
    return _Solved(out, freedom, digits)


class _Likelihood(NamedTuple):
    """The likelihood of a group in coordinates z, raw coefficients `to_raw` z, of rows q and raw rows x.

    `costs` are what the squares of raw coefficients cost, `slack` what q may be off by.
    """

    cost: Loss
    q: Array
    x: Array
    t: Array
    weight: Array
    to_raw: Array
    costs: Array
    slack: float

    @classmethod
    def of(cls, group: _Group, centred: _Centred, triangle: _Triangle) -> Self:
        """Return the likelihood of a group in the coordinates of its orthonormal columns."""
        x, mean, inverse = group.rows[:, triangle.kept], centred.mean[triangle.kept], triangle.inverse
        own = slice(None if group.intercept else 1, None)
        to_raw = np.block([[np.ones((1, 1)), -(mean @ inverse)[None]], [np.zeros((len(mean), 1)), inverse]])[own, own]
        q = np.column_stack([np.ones(len(x)), (x - mean) @ inverse])[:, own]
        costs = np.append(0.0, group.costs[triangle.kept])[own]
        x = np.column_stack([np.ones(len(x)), x])[:, own]
        cost = LOSSES[group.loss]()
        return cls(cost, q, x, group.rows[:, -1], group.weight, to_raw, costs, triangle.slack)

    def value(self, z: Array) -> float:
        """Return minus the log-likelihood at z, penalties included."""
        rows = self.cost.value(self.q @ z, self.t)
        return float(self.weight @ rows + 0.5 * self.costs @ (self.to_raw @ z) ** 2)

    def gradient(self, z: Array) -> Array:
        """Return its gradient."""
        pull = self.costs * (self.to_raw @ z)
        return np.asarray(self.q.T @ (self.weight * self.cost.slope(self.q @ z, self.t)) + self.to_raw.T @ pull)

    def root(self, outputs: Array) -> tuple[Array, float]:
        """Return L^-1 of H = L L', and by how much columns that nearly depend inflate variances."""
        bent = self.weight * self.cost.curvature(outputs, self.t)
        h = (self.q.T * bent) @ self.q + self.to_raw.T @ (self.costs[:, None] * self.to_raw)
        inverse = np.linalg.inv(np.linalg.cholesky(h))
        return inverse, float((inverse**2 @ h.diagonal()).sum())

    def separates(self, raw: Array) -> bool:
        """Whether these coefficients put every label on its side, rounding included."""
        margin, size = (2 * self.t - 1) * (self.x @ raw), np.abs(self.x) @ np.abs(raw)
        return bool((margin > 2 * (len(raw) + 1) * ROUNDING * size)[self.weight > 0].all())

    def refined(self, raw: Array) -> tuple[Array, Array, float]:
        """Return the step that is left to raw coefficients, their standard errors, and the rest of the proof."""
        outputs = sum((twofold.exact(x) * float(w) for x, w in zip(self.x.T, raw, strict=True)), twofold.exact(0.0))
        slope = self.cost.slope_twofold(outputs, self.t) * self.weight
        each = [twofold.sum_rows(*(slope * x)) for x in self.x.T]
        pull = [twofold.two_prod(cost, w) for cost, w in zip(self.costs, raw, strict=True)]
        g = self.to_raw.T @ np.array([twofold.add(*a, *b)[0] for a, b in zip(each, pull, strict=True)])
        inverse, inflation = self.root(outputs.hi)
        y, to_raw = inverse @ g, self.to_raw @ inverse.T
        bent = self.weight * self.cost.curvature(outputs.hi, self.t)
        off = 8 * ROUNDING * (np.abs(slope.hi) + bent)
        energy = np.divide(off**2, bent, out=off * 2.0**1000, where=bent > 0).sum()
        rounding = min(math.sqrt(energy), float(np.linalg.norm(off) * np.linalg.norm(inverse)))
        size = float(np.linalg.norm(y))
        longest = float(np.linalg.norm(self.q @ inverse.T, axis=1).max())
        tau = (ROUNDING * (len(self.t) + 10) * len(raw) + 2 * self.slack) * inflation
        share = tau + math.expm1(min(longest * 2 * (size + rounding), 1.0))
        left = share / (1 - share) * (size + rounding) + rounding + tau * size if share <= 0.5 else math.inf
        return to_raw @ y, np.asarray(np.linalg.norm(to_raw, axis=1)), left if inflation <= MOST_INFLATION else math.inf


def _maximise(group: _Group, centred: _Centred, triangle: _Triangle) -> tuple[str, _Solved | None]:
    """Return how the fit of a likelihood ended, and what was found."""
    seen = group.rows[group.weight > 0, -1]
    if group.loss == "logistic" and (seen == seen[0]).all():
        return "one_class", None
    if group.loss == "poisson" and not (seen.max() > 0 <= seen.min()):
        return "unbounded" if (seen == 0).all() else "undecided", None
    try:
        return _near_maximum(group, centred, triangle, _Likelihood.of(group, centred, triangle))
    except np.linalg.LinAlgError:
        return "undecided", None


def _near_maximum(
    group: _Group, centred: _Centred, triangle: _Triangle, rows: _Likelihood
) -> tuple[str, _Solved | None]:
    """Return the same, by Newton's steps and refinement."""
    raw = _newton(rows, centred.mean[-1] if group.intercept else None)
    if raw is None:
        return "undecided", None
    if group.loss == "logistic" and group.pull is None and rows.separates(raw):
        return "separated", None
    at = np.append(0, 1 + triangle.kept)[slice(None if group.intercept else 1, None)]
    for steps in range(STEPS + 1):
        step, error, left = rows.refined(raw)
        theta = np.append(np.zeros(1 - group.intercept), raw)
        off = np.append(np.zeros(1 - group.intercept), np.abs(step) + error * left)
        digits = _digits(group, centred, triangle.kept, theta, off)
        if digits > ENOUGH_DIGITS or steps == STEPS:
            break
        raw = raw - step
    if not digits >= LEAST_DIGITS:
        return "undecided", None
    out = np.full((3, 1 + group.features), np.nan)
    out[:, at] = raw, error, raw / error
    return "solved", _Solved(out, math.inf, digits)


def _newton(rows: _Likelihood, mean: float | None) -> Array | None:
    """Return raw coefficients near the minimum, or such that separate labels; None where neither is found."""
    z, free = np.zeros(rows.q.shape[1]), not rows.costs.any()
    if mean is not None:
        z[0] = rows.cost.constant(np.array([mean]))[0]
    value = rows.value(z)
    for i in range(MOST_NEWTON):
        inverse, _ = rows.root(rows.q @ z)
        y = inverse @ rows.gradient(z)
        step, decrement = inverse.T @ y, float(y @ y)
        if i and free and rows.cost.of_classes and rows.separates(rows.to_raw @ z):
            return np.asarray(rows.to_raw @ z)
        if decrement <= NEAR_DECREMENT:
            return np.asarray(rows.to_raw @ (z - step))
        for halvings in range(MOST_HALVINGS + 1):
            share = 0.5**halvings
            then = rows.value(z - share * step)
            if then <= value - 1e-4 * share * decrement + 1e-13 * abs(value):
                break
        else:
            return None
        z, value = z - share * step, then
    return None


def _residual(group: _Group, centred: _Centred, triangle: _Triangle, theta: Array) -> tuple[Array, Array, float]:
    """Return the step that is left to theta, by what theta is off at most, and the sum of squares."""
    x, mean = group.rows[:, triangle.kept], centred.mean[triangle.kept]
    r = twofold.exact(group.rows[:, -1]) - float(theta[0])
    for j, w in enumerate(theta[1:]):
        r = r - twofold.exact(x[:, j]) * float(w)
    pulled = r * group.weight
    whole = twofold.sum_rows(*pulled)
    g = np.empty(len(mean))
    for j in range(len(g)):
        about = twofold.add(*twofold.sum_rows(*(pulled * x[:, j])), *twofold.multiply(*whole, -mean[j], 0.0))
        g[j] = twofold.add(*about, *twofold.two_prod(-group.costs[triangle.kept[j]], theta[1 + j]))[0]
    h = triangle.inverse.T @ g
    size, step = float(np.linalg.norm(h)), triangle.inverse @ h
    constant = float(whole[0]) / group.total if group.intercept else 0.0
    reach = abs(constant) + float(np.linalg.norm(mean @ triangle.inverse)) * size
    step = np.append(constant - group.intercept * (mean @ step), step)
    off = np.abs(step) + triangle.slack * np.append(reach, triangle.unit * size)
    return step, off, float(pulled.hi @ r.hi)


def _digits(group: _Group, centred: _Centred, kept: NDArray[np.intp], theta: Array, off: Array) -> float:
    """Return the correct digits of the worst coefficient, which is off by at most this."""
    own = slice(0 if group.intercept else 1, None)
    size, off = np.abs(theta[own]), off[own]
    length = np.append(math.sqrt(group.total), centred.length[kept])[own]
    counted = np.maximum(size, off) * length > NEGLIGIBLE * (size * length).max(initial=0.0)
    if not (size[counted] > off[counted]).all():
        return 0.0
    return -math.log10(float((off[counted] / size[counted]).max(initial=0.0)) + ROUNDING)


group_regressions: Any = group_regressions_reference if native is None else native.group_regressions
