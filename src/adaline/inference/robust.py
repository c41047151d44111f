"""Standard errors of robust fits, and their table.

M-estimates (Huber 1981, H1):  Cov = k^2 [s^2 sum w psi(u)^2 / (W - p)] / [mean psi'(u)]^2 (X'X)^-1,  u = r/s,
                               k = 1 + p/W var psi'(u) / [mean psi'(u)]^2
Quantiles (Koenker 2005):      Cov = q (1 - q) D^-1 X'X D^-1,  D = sum_n w_n f_n x_n x_n', where f_n is the density of
                               the target of row n at its quantile q:
    nid (Hendricks, Koenker 1992)  f_n = 2 h / d_n,  d_n = x_n'(b(q + h) - b(q - h)), the distance of two planes
    kernel (Powell 1991)           f_n = phi(r_n / g) / g
    iid                            f_n = the mean of those, the same for every row

h is Hall and Sheather's bandwidth, halved until q - h and q + h are quantiles; g the distance of these two in a normal
distribution as wide as the residuals. R's quantreg computes "nid" and "ker" so. Where two planes nearly meet, R divides
by a distance that is noise, and intervals become too short. Here d_n is at least half of its own standard error,
[2 h (1 - 2 h) x_n'(X'X)^-1 x_n]^(1/2) mean(d) / (2 h), which falls faster with the number of rows than d_n does.

The density of "nid" rests on the 2 h W rows between the planes (W the sum of weights), so that its relative variance is
1 / (2 h W), which is that of a standard error with h W degrees of freedom: intervals are Student's with as many, much
as Kaplan (2015) corrects those of a sample quantile. Bandwidth (Bofinger's), bound (none, half, one standard error) and
distribution were compared on eight designs (1 to 6 columns, equal and unequal spread, normal, heavy and skew errors,
discrete and skew columns; 100 to 1000 rows; quantiles 0.1 to 0.9), where the errors are 0.99 to 1.08 of the true
deviation on average, by number of rows and quantile. On seven other designs 95 % intervals of a coefficient cover 92.1
to 97.7 % at 300 rows, 95.1 % on average, and 89 % of them 93 to 97 %; by the normal distribution 90.3 to 96.8 % and
78 %, and without the bound 88.2 to 96.8 % and 58 %. Slopes among many columns are short (with five heavy-tailed ones
92 to 94 %, at 600 rows too); intercepts at 0.1 and 0.9 are long (up to 98 %), as the bandwidth already weighs the noise
of the density against its bias for a constant alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, get_args

import numpy as np
import scipy

from adaline.arrays import AnyArray, Array, HypothesisLike
from adaline.errors import InvalidParameter
from adaline.forms import Count, FiniteNumber, Floats
from adaline.inference.classical import CoefficientStatistics, judged, quantile
from adaline.inference.clusters import CLUSTERED
from adaline.inference.hypotheses import HypothesisTest, read_hypotheses, wald_chance, wald_squares
from adaline.inference.summary import CoefficientTable
from adaline.losses import Loss
from adaline.parameters import STATISTIC_DISTRIBUTION, QuantileErrorKind, SandwichKind
from adaline.results import Solution
from adaline.solvers.least_squares.dependence import Dependence
from adaline.solvers.robust.row_residuals import row_lengths
from adaline.solvers.smooth.newton import Curvature, factor_hessian
from adaline.solvers.smooth.problem import Problem
from adaline.sums import ResidualTotals
from adaline.wording import degrees

QUANTILE_ERRORS: tuple[str, ...] = get_args(QuantileErrorKind)
"""Standard errors of regression quantiles, the default first."""

SANDWICHES: tuple[str, ...] = get_args(SandwichKind)
"""Standard errors of M-estimates that take the rows again."""

ABOUT = {
    "nid": " (the density of every row, by the quantiles next to it)",
    "iid": " (the same density for all rows)",
    "kernel": " (the density of every row, by the residuals near zero)",
}

NO_PENALTY = "no standard errors under a penalty"
NOT_SOUGHT = "no standard errors: this is a fit of cross-validation, which does not need them"
FEW_ROWS = "no standard errors: there are no more rows than coefficients"
ON_PLANE = "no standard errors: at least half of the rows lie on the plane"
ALL_BEYOND = "no standard errors: no row lies within the threshold"
FEW_PER_COEFFICIENT = 5.0  # rows per coefficient; with fewer, some 95 % intervals of the simulations covered 89 to 91 %
SPARSE = "no {} standard errors: too few rows lie near the plane to tell the density of the residuals there"


@dataclass(frozen=True)
class StandardErrors:
    """A root (1 + D, M) of the covariance, NaN where there are no errors, degrees of freedom, and notes.

    Notes say why there are none, or what they rest on.
    """

    root: Annotated[Array, Floats("1+D .")]
    notes: tuple[str, ...] = ()
    freedom: float = np.inf

    @property
    def std_error(self) -> Array:
        """Standard errors (1 + D,)."""
        return np.asarray(np.linalg.norm(self.root, axis=1))


@dataclass(frozen=True)
class RobustFit:
    """A robust fit of one target.

    Parameters
    ----------
    solution : theta (1, 1 + D) in raw units, and the certificate.
    scale : of the residuals; NaN where the loss needs none.
    errors : standard errors by name, the default first.
    beyond : weight of the rows beyond the threshold, of those off the plane for an exact fit; NaN without threshold.
    rows, weight : number of rows, and the sum of their weights.
    dependence : the constant columns and combinations among columns; errors are those without the columns left out.
    """

    solution: Solution
    scale: float
    errors: dict[str, StandardErrors]
    beyond: float
    rows: Count
    weight: FiniteNumber
    dependence: Dependence


@dataclass(frozen=True)
class TargetAsCurvature(Loss):
    """A loss whose curvature is the target, to sum t x x' over the rows."""

    name: ClassVar[str] = "target as curvature"

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return 0."""
        return z * 0.0

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return 0."""
        return z * 0.0

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return t."""
        return t + 0.0 * z


def none(problem: Problem, note: str) -> StandardErrors:
    """Return that there are no standard errors, and why."""
    return StandardErrors(np.full((1 + problem.features, 1), np.nan), (note,))


def m_errors(problem: Problem, totals: ResidualTotals, gram: Curvature, p: int, depends: Dependence) -> StandardErrors:
    """Return the standard errors of (w0, w), in raw units of the columns, from totals of the residuals."""
    total = totals.weight
    if total - p < 0.5:
        return none(problem, FEW_ROWS)
    mean = totals.curvature
    if not mean > 0:
        return none(problem, ALL_BEYOND)
    k = 1.0 + p / total * totals.curvature_variance / mean**2
    pull = totals.slope_squares / (total - p)
    return StandardErrors(raw_root(problem, gram.root * (k * np.sqrt(pull) / mean), depends))


def quantile_errors(
    problem: Problem,
    level: float,
    r: Array,
    weight: Array,
    gram: Curvature,
    depends: Dependence,
    residuals_at: Callable[[float], Array],
) -> dict[str, StandardErrors]:
    """Return the standard errors of a regression quantile by name; `residuals_at` fits another level."""
    total, p = float(weight.sum()), gram.rank - (not problem.intercept)
    if total - p < 0.5:
        return dict.fromkeys(QUANTILE_ERRORS, none(problem, FEW_ROWS))
    h = bandwidth(level, total)
    square = _weighed(problem, np.ones_like(r))
    shares = row_lengths(problem, gram.root)
    densities = {
        "nid": _between_planes(residuals_at(level - h) - residuals_at(level + h), shares, h, weight),
        **_kernel(r, weight, level, h),
    }
    beyond = min(level, 1.0 - level) * total
    few = (
        f"about {beyond:.3g} rows lie beyond the plane, fewer than {FEW_PER_COEFFICIENT:g} for each of {p} "
        "coefficients: standard errors and intervals of such a quantile are rough",
    ) * (beyond < FEW_PER_COEFFICIENT * p)
    out = {}
    for name in QUANTILE_ERRORS:
        f, note = densities[name]
        matrix = None if f is None else _weighed(problem, f)
        bread = None if matrix is None or not np.isfinite(matrix).all() else factor_hessian(matrix)
        if bread is None or bread.rank < gram.rank:
            out[name] = none(problem, note or SPARSE.format(name))
            continue
        values, vectors = np.linalg.eigh(bread.root.T @ square @ bread.root)
        spread = np.sqrt(level * (1.0 - level) * np.maximum(values, 0.0))
        freedom = max(h * total, 1.0) if name == "nid" else np.inf
        notes = (*((note,) if note else ()), *few)
        out[name] = StandardErrors(raw_root(problem, bread.root @ (vectors * spread), depends), notes, freedom)
    return out


def bandwidth(level: float, total: float) -> float:
    """Return the distance from `level`, in quantiles, at which the density is taken (Hall and Sheather 1988)."""
    z = float(scipy.special.ndtri(level))
    density = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    h = total ** (-1 / 3) * scipy.special.ndtri(0.975) ** (2 / 3) * (1.5 * density**2 / (2 * z * z + 1)) ** (1 / 3)
    while not (0 < level - h and level + h < 1):
        h *= 0.5
    return float(h)


def _between_planes(distance: Array, shares: Array, h: float, weight: Array) -> tuple[Array | None, str]:
    """Return the density of each row, (N,), and a note; `shares` are the lengths of the rows, [x'(X'X)^-1 x]^(1/2)."""
    mean = float(weight @ distance / weight.sum())
    if not mean > 0:
        return None, (
            "no nid standard errors: the planes of the neighbouring quantiles, whose distance gives the density, do "
            "not lie apart; errors='iid' and errors='kernel' take it from the residuals"
        )
    noise = np.sqrt(2.0 * h * (1.0 - 2.0 * h)) * shares * mean / (2.0 * h)
    lifted = float(weight[distance < 0.5 * noise].sum())
    note = ""
    if lifted:
        note = (
            f"{lifted:g} of {weight.sum():g} rows lie where the planes of the neighbouring quantiles nearly meet: "
            "their distance, which gives the density, counts as half of its standard error there"
        )
    return 2.0 * h / np.maximum(distance, 0.5 * noise), note


def _kernel(r: Array, weight: Array, level: float, h: float) -> dict[str, tuple[Array | None, str]]:
    """Return densities of the rows by a normal kernel, one by one and the same for all, and notes."""
    total = float(weight.sum())
    quartiles = [percentile(r, weight, share) for share in (0.75, 0.25)]
    centre = float(weight @ r) / total
    with np.errstate(over="ignore"):
        deviation = float(np.sqrt(weight @ (r - centre) ** 2 / (total - 1.0)))
    spread = min(deviation, (quartiles[0] - quartiles[1]) / 1.34)
    if spread <= 0:
        return {"iid": (None, ON_PLANE), "kernel": (None, ON_PLANE)}
    width = spread * float(scipy.special.ndtri(level + h) - scipy.special.ndtri(level - h))
    with np.errstate(over="ignore", under="ignore"):
        f = np.exp(-0.5 * (r / width) ** 2) / (np.sqrt(2 * np.pi) * width)
    return {"iid": (np.full_like(r, weight @ f / total), ""), "kernel": (f, "")}


def _weighed(problem: Problem, f: Array) -> Array:
    """Return the sum of w f x x' over the rows, in the view."""
    rows = problem.source.with_targets(np.ascontiguousarray(f[:, None]))
    weighed = replace(problem, source=rows, loss=TargetAsCurvature(), ridge=np.zeros_like(problem.ridge))
    hessian = weighed.evaluate(np.zeros((1, 1 + problem.features)), second=True).hessian
    assert hessian is not None
    return hessian


def raw_root(problem: Problem, root: Array, depends: Dependence) -> Array:
    """Return the root of Cov = root root' brought from the view to raw units, (1 + D, M).

    Without the columns that depend on others, as in R: they are NaN.
    """
    slopes = root[1:] * problem.view.scale[:, None]
    first = root[:1] + problem.view.offset[None] @ root[1:]
    out = depends.drop_root(np.concatenate([first, slopes])).copy()
    out[0] = out[0] if problem.intercept else np.nan
    out[1:][~depends.kept] = np.nan
    return np.asarray(out)


def percentile(values: Array, weight: Array, share: float) -> float:
    """Return the percentile of values that count `weight` times, with straight lines between them."""
    ascending = np.argsort(values, kind="stable")
    below = np.cumsum(weight[ascending])
    rank = share * (below[-1] - 1.0)
    low, high = (
        values[ascending[min(int(np.searchsorted(below, i, side="right")), len(ascending) - 1)]]
        for i in (np.floor(rank), np.ceil(rank))
    )
    return float(low + (rank - np.floor(rank)) * (high - low))


@dataclass(frozen=True)
class RobustEstimate(CoefficientStatistics):
    """Statistics of one target, the scale of its residuals, and the weight of the rows beyond the threshold."""

    scale: float
    beyond: float
    freedom: float


def judging_freedom(fit: RobustFit, errors: str, distribution: str | None, intercept: bool) -> float:
    """Return the degrees of freedom of what judges coefficients, infinity for the normal distribution.

    Those of the errors, unless a distribution is named: "t" has the weight less the coefficients, of errors by groups
    their number less one.
    """
    STATISTIC_DISTRIBUTION.check("distribution", distribution)
    if distribution == "normal":
        return np.inf
    known = fit.errors[errors].freedom
    return known if distribution is None or errors in CLUSTERED else fit.weight - fit.dependence.rank - intercept


def check_errors(fit: RobustFit, errors: str | None, loss: str) -> str:
    """Return the name of the errors, the default for None; refuse those that the loss has not."""
    known = [*fit.errors, *(SANDWICHES if loss in ("huber", "tukey") else ())]
    if errors is not None and errors not in known:
        raise InvalidParameter(f"errors must be one of {', '.join(known)} for loss={loss!r}, got {errors!r}")
    return known[0] if errors is None else errors


def infer_target(fit: RobustFit, errors: str, level: float, freedom: float | None = None) -> RobustEstimate:
    """Return the statistics of one target, p and intervals by Student's distribution or the normal one."""
    theta, judge = fit.dependence.drop(fit.solution.theta)[0], fit.errors[errors]
    freedom = judge.freedom if freedom is None else freedom
    statistics = judged(theta, judge.std_error, level, freedom)
    return RobustEstimate(**statistics, scale=fit.scale, beyond=fit.beyond, freedom=freedom)


@dataclass(frozen=True)
class JudgedRobust:
    """Robust fits with the standard errors that judge them.

    Parameters
    ----------
    fits : one for each target.
    errors : the name of the errors.
    freedom : degrees of freedom of what judges coefficients, infinity for the normal distribution.
    """

    fits: Sequence[RobustFit]
    errors: str
    freedom: float

    def roots(self, what: str) -> list[Array]:
        """Return a root (1 + D, M) of the covariance of each target, zero where a column is left out; refuse none."""
        found = [fit.errors[self.errors] for fit in self.fits]
        for one in found:
            if np.isnan(one.std_error).all():
                raise InvalidParameter(f"no {what}: {one.notes[0].removeprefix('no standard errors: ')}")
        return [np.nan_to_num(one.root) for one in found]

    def half_widths(self, x: Array, level: float) -> Array:
        """Return half the widths of the intervals of the plane at rows x (n, D), (n, K); NaN where it is not known."""
        out, reach, ones = [], quantile(self.freedom, level), np.ones(len(x))
        for fit, root in zip(self.fits, self.roots("intervals"), strict=True):
            half = reach * np.linalg.norm(x @ root[1:] + root[0], axis=1)
            varying = np.where(fit.dependence.constant, 0.0, x)
            half[~fit.dependence.determines(np.column_stack([ones, varying]))] = np.nan
            out.append(half)
        return np.column_stack(out)


def robust_test(
    judged: JudgedRobust,
    names: Sequence[str],
    hypothesis: HypothesisLike,
    value: Any,
    *,
    intercept: bool,
    flat: bool,
) -> HypothesisTest:
    """Return Wald's test of C theta = value for each target, or, where `flat`, for the only one.

    The hypothesis is read as for least squares.
    """
    tested = read_hypotheses(hypothesis, value, names, intercept)
    q, freedom, tests = len(tested.matrix), judged.freedom, []
    for fit, root in zip(judged.fits, judged.roots("tests"), strict=True):
        squares = wald_squares(fit, tested, [fit.dependence.drop(fit.solution.theta)[0]], [root])
        tests.append((squares / q, wald_chance(squares, q, freedom)))
    f, p = (column[0] if flat else np.array(column) for column in zip(*tests, strict=True))
    return HypothesisTest(tested.texts, f, (q, freedom), p, judged.errors)


@dataclass(frozen=True, repr=False)
class RobustSummary(CoefficientTable):
    """Coefficients of a robust fit with their statistics, its scale, and the certificate."""

    errors: str = "H1"
    quantile: float | None = None

    def _statistic(self) -> str:
        return "t" if np.isfinite(self.parts[0].freedom) else "z"

    def closing(self) -> list[str]:
        """Return how the standard errors were made, in a line, where there are some."""
        if all(np.isnan(part.std_error).all() for part in self.parts):
            return []
        judge = self.parts[0].freedom
        by = (
            f"Student's t with {degrees(judge)} degrees of freedom" if np.isfinite(judge) else "the normal distribution"
        )
        by = f"; {self._statistic()}, p and intervals by {by}" if self.quantile is None else ""
        return [f"{self.errors} standard errors{ABOUT.get(self.errors, '')}{by}"]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        return {
            **self._head(),
            "errors": self.errors,
            "quantile": self.quantile,
            "freedom": self.parts[0].freedom,
            "coefficients": self._coefficients(),
            "targets": [
                {"target": target, "scale": part.scale, "beyond": part.beyond}
                for target, part in zip(self.targets, self.parts, strict=True)
            ],
            "scale": self.parts[0].scale,
            "beyond": self.parts[0].beyond,
            **self._foot(),
        }

    def _lines(self, part: RobustEstimate) -> list[str]:
        if self.quantile is not None:
            few = np.isfinite(part.freedom)
            by = f"t with {degrees(part.freedom, 3)} degrees of freedom" if few else "the normal distribution"
            errors = f";  standard errors {self.errors!r}, judged by {by}" if np.isfinite(part.std_error).any() else ""
            return [f"quantile {self.quantile:g}{errors}"]
        if part.scale == 0 and part.beyond == 0:
            return [f"scale 0;  all {self.weight:g} rows lie on the plane: the fit is exact"]
        where = "off the plane that more than half of them lie on" if part.scale == 0 else "beyond the threshold"
        return [f"scale {part.scale:.6g};  {part.beyond:g} of {self.weight:g} rows {where}"]
