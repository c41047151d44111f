"""Standard errors of robust fits, and their table.

M-estimates (Huber 1981, H1):  Cov = k^2 [s^2 sum w psi(u)^2 / (W - p)] / [mean psi'(u)]^2 (X'X)^-1,  u = r/s,
                               k = 1 + p/W var psi'(u) / [mean psi'(u)]^2

Those of quantiles are in quantile.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_args

import numpy as np

from adaline.arrays import Array, HypothesisLike
from adaline.errors import InvalidParameter
from adaline.forms import Count, FiniteNumber, Floats
from adaline.inference.classical import CoefficientStatistics, judged, quantile
from adaline.inference.clusters import CLUSTERED
from adaline.inference.hypotheses import HypothesisTest, read_hypotheses, wald_chance, wald_squares
from adaline.inference.summary import CoefficientTable
from adaline.parameters import STATISTIC_DISTRIBUTION, SandwichKind
from adaline.results import Solution
from adaline.solvers.least_squares.dependence import Dependence
from adaline.solvers.smooth.newton import Curvature
from adaline.solvers.smooth.problem import Problem
from adaline.sums import ResidualTotals
from adaline.wording import degrees

SANDWICHES: tuple[str, ...] = get_args(SandwichKind)
"""Standard errors of M-estimates that take the rows again."""

ABOUT = {
    "smoothed": " (the density of every row, by the residuals within the standard error of the plane)",
    "nid": " (the density of every row, by the quantiles next to it)",
    "iid": " (the same density for all rows)",
    "kernel": " (the density of every row, by the residuals near zero)",
}

NO_PENALTY = "no standard errors under a penalty"
NOT_SOUGHT = "no standard errors: this is a fit of cross-validation, which does not need them"
FEW_ROWS = "no standard errors: there are no more rows than coefficients"
ON_PLANE = "no standard errors: at least half of the rows lie on the plane"
ALL_BEYOND = "no standard errors: no row lies within the threshold"


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
        squares = wald_squares(
            fit, tested, [fit.dependence.drop(fit.solution.theta)[0]], [root], judged.errors, freedom
        )
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
