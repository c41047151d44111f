"""The result of a least-squares solver: the solution, and what inference, prediction intervals and `partial_fit` need.

The certificate's digits are those of the worst coefficient, -log10 (error bound / |coefficient|).
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, all_finite
from adaline.block import Shape
from adaline.errors import InvalidData
from adaline.forms import Count, Floats, NotNegative, Positive, PositiveNumber
from adaline.kernels import native
from adaline.penalties import RidgePenalty
from adaline.results import Certificate, Solution, Status, made
from adaline.solvers.least_squares.factor import Factor, SpectralFactor
from adaline.solvers.least_squares.refine import NEGLIGIBLE_SIZE
from adaline.sums.moments import ROUNDING, Moments

MOST_DIGITS = -math.log10(ROUNDING)
# condition number from which a fit is reported as ill-conditioned: half of the digits of float64 are lost
ILL_CONDITIONED = 1e8
# residuals, relative to the largest term, that are rounding (R's summary.lm: to fitted values); 10x larger reports
# more exact fits
EXACT_RATIO = 1e-15


class Fit(NamedTuple):
    """A solved least-squares or ridge problem for K targets.

    Parameters
    ----------
    solution : theta in raw units, and its certificate.
    squares : (K,) sums of weighted squared residuals, targets taken in `unit`.
    total : (K,) sums of squares of the targets, likewise, about their means if there is an intercept.
    unit : (K,) powers of two near the spread of the targets, so that no square overflows.
    factor : of the penalised second moments; None for wide and iterative solvers.
    trace : (K,) trace of the hat matrix, intercept included: the effective number of parameters.
    rows, weight : number of rows, and the sum of their weights.
    penalty : what large coefficients cost.
    projected : whether the equations are those of projected columns, so that the residuals are not orthogonal to the
        columns.
    """

    solution: Solution
    squares: Annotated[Array, NotNegative("K")]
    total: Annotated[Array, Floats("K")]
    unit: Annotated[Array, Positive("K")]
    factor: Factor | None
    trace: Annotated[Array, NotNegative("K")]
    rows: Count
    weight: PositiveNumber
    penalty: RidgePenalty
    projected: bool = False

    @property
    def rss(self) -> Array:
        """Sums of squared residuals in raw units, infinite where they overflow."""
        with np.errstate(over="ignore"):
            return np.asarray(self.squares * self.unit * self.unit)

    @property
    def tss(self) -> Array:
        """Sums of squares of the targets in raw units."""
        with np.errstate(over="ignore"):
            return np.asarray(self.total * self.unit * self.unit)

    def term_sizes(self) -> Array:
        """Return the root mean squares of the terms w0, w_j x_j of each target, (K, 1 + D); NaN without a factor."""
        theta = np.abs(self.solution.theta)
        if self.factor is None:
            return np.full_like(theta, np.nan)
        scaling = self.factor.scaling
        spread = np.ldexp(self.factor.length, scaling.scale) / math.sqrt(scaling.weight)
        return np.asarray(theta * np.append(1.0, np.hypot(scaling.mean_hi[: scaling.features], spread)))

    @property
    def exact(self) -> NDArray[np.bool_]:
        """Whether the residuals of each target, (K,), are no larger than rounding of the rows' numbers makes them.

        Numbers rounded to float64 leave residuals of about EXACT_RATIO times the largest term, or the target. Such
        residuals do not measure errors, and statistics computed from them are meaningless.
        """
        return self._relative(self.squares) <= EXACT_RATIO

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Whether each target, (K,), has one value in all rows, up to rounding; with an intercept only."""
        return self._relative(self.total) <= EXACT_RATIO

    def _relative(self, squares: Array) -> Array:
        """Return the root mean square of what has these sums of squares, next to the largest term or the target."""
        if self.factor is None:
            return np.full(len(squares), np.inf)
        scaling = self.factor.scaling
        with np.errstate(all="ignore"):
            size, own = (np.sqrt(one / self.weight) * self.unit for one in (squares, self.total))
            target = np.hypot(scaling.mean_hi[scaling.features :], own)
            relative = size / np.where(size > 0, np.fmax(self.term_sizes().max(axis=1), target), 1.0)
        return np.where(squares == 0, 0.0, relative)  # the unit of targets near 1e308 overflows

    def without_dependent(self) -> Fit:
        """Return the same fit without the columns that are combinations of columns before them, as in R.

        Predictions of rows in which the combinations hold are the same; coefficients of those columns are zero, and all
        others are determined by the rows.
        """
        if not isinstance(self.factor, SpectralFactor) or not len(self.factor.dependence.left_out):
            return self
        theta = self.factor.dependence.drop(self.solution.theta)
        return self._replace(solution=self.solution._replace(theta=theta), factor=self.factor.kept())


def refuse_overflowing(theta: Array) -> None:
    """Raise where a coefficient in raw units is not finite."""
    if not all_finite(theta):
        column = int(np.argwhere(~np.isfinite(theta))[0, 1]) - 1
        raise InvalidData(
            f"the coefficient of column {column} overflows: the column is too small, or the target too large, for "
            "float64. Rescale one of them."
        )


@np.errstate(over="ignore")
def raw_solution_reference(
    raw: Array,
    unit: Array,
    total: Array,
    state: Array,
    theta: Array,
    error: Array,
    exponent: Array,
    length: Array,
    pull: Array,
    squares: Array,
    gradient: Array,
    gap: Array,
    weight: float,
) -> tuple[float, float, float, float]:
    """Set raw (K, 1 + D) to scaled coefficients theta in raw units, unit (K,) to those of the targets, and total (K,)
    to the sums of squares of the targets in these units, from the state of moments.

    Return the correct digits, and objective, gradient and gap in raw units.
    """
    d = len(pull)
    scale, target_scale = np.split(exponent.astype(np.int64), [d])
    moments = Moments(Shape(d, len(unit)), state)
    shift = 2 * (moments.exponent[d:].astype(np.int64) - target_scale)
    total[:] = np.ldexp(moments.second.diagonal()[d:], shift)
    raw[:] = np.ldexp(theta, target_scale[:, None] - np.append(0, scale))
    unit[:] = np.ldexp(1.0, target_scale)
    objective = float((0.5 * (squares + theta[:, 1:] ** 2 @ pull) * unit * unit).sum())
    steepest = float((gradient * unit).max() * np.sqrt(weight))
    return digits(error, theta, length), objective, steepest, float((gap * unit * unit).sum())


raw_solution: Any = raw_solution_reference if native is None else native.raw_solution


def digits(error: Array, theta: Array, length: Array) -> float:
    """Return the correct digits of the worst coefficient of theta (K, 1 + D), given bounds on their absolute errors.

    `length` (1 + D) makes coefficients comparable: one that is negligible next to the others, and so is its error,
    counts as zero.
    """
    if native is None:
        return digits_reference(error, theta, length)
    return float(native.digits(*map(np.ascontiguousarray, (error, theta, length))))


def digits_reference(error: Array, theta: Array, length: Array) -> float:
    """Return the same in NumPy operations."""
    size = np.abs(theta)
    if not (np.isfinite(error).all() and np.isfinite(size).all()):
        return 0.0
    counted = np.maximum(size, error) * length > NEGLIGIBLE_SIZE * (size * length).max(axis=1, keepdims=True)
    if not counted.any():
        return MOST_DIGITS
    if not (size[counted] > error[counted]).all():
        return 0.0
    return -math.log10(float((error[counted] / size[counted]).max()) + ROUNDING)


def judge(factor: Factor, found: float, varying: int | None = None) -> Status:
    """Return the status of a direct solution with `found` correct digits.

    `varying` is the number of columns that are not constant, where the factor does not know it.
    """
    if factor.rank < factor.scaling.features:
        if not factor.decided:
            return Status.RANK_UNCERTAIN
        if factor.rank < (factor.varying if varying is None else varying):
            return Status.RANK_DEFICIENT
    if factor.condition > ILL_CONDITIONED:
        return Status.ILL_CONDITIONED
    return Status.SOLVED if found >= 6 else Status.FEW_DIGITS


def certificate(
    *,
    status: Status,
    solver: str,
    objective: float = math.nan,
    gradient: float = math.nan,
    gap: float = math.inf,
    digits: float = math.nan,
    condition: float = math.nan,
    rank: int = 0,
    passes: int = 0,
    advice: str | None = None,
) -> Certificate:
    """Return a certificate, by default with the advice of its status; what is not given is unknown.

    The system sets the seconds.
    """
    return made(
        Certificate,
        objective=objective,
        gradient=gradient,
        gap=gap,
        digits=digits,
        condition=condition,
        rank=rank,
        passes=passes,
        seconds=math.nan,
        solver=solver,
        status=status,
        advice=advice or status.advice,
    )
