"""Linear regression by normal equations, pseudo-inverse or batch gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from adaline.errors import ConvergenceWarning, InvalidParameter, warn
from adaline.forms import Count
from adaline.inference.sample import WeightKind
from adaline.parameters import (
    BATCH_RATE,
    COUNT,
    FIRST_WEIGHTS,
    NONE,
    ZERO_OR_MORE,
    AnyOf,
    Number,
    OneOf,
    UsedWith,
    one_of,
)
from adaline.penalties import no_penalty
from adaline.results import Status
from adaline.solvers.least_squares import descent
from adaline.solvers.least_squares.choose import LeastSquaresSolver, gram_fits, is_wide, solve_least_squares, solve_wide
from adaline.solvers.least_squares.direct import solve_sums
from adaline.sources import Source
from adaline.sources.absorbed import AbsorbedSource
from adaline.state import FittedAttribute
from adaline.sums import Moments
from adaline.systems.families.least_squares_state import LeastSquaresState, OpenedRegression, SolvedRegression
from adaline.systems.families.linear_system import LinearSystem
from adaline.systems.families.named import named_system

if TYPE_CHECKING:  # tables are slow to import
    from adaline.sources import TableSource

RankRule = Literal["minimum-norm", "drop"]


@dataclass(frozen=True, kw_only=True, eq=False)
class SolvedBySteps(SolvedRegression):
    """What gradient descent finds.

    Parameters
    ----------
    history, n_iter : errors after each step, one list or one for each target, and the number of steps.
    """

    history: list[float] | list[list[float]] | None = None
    n_iter: Count | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearRegressionState(LeastSquaresState, SolvedBySteps):
    """What a linear regression has learned."""


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class LinearRegression(LinearSystem):
    """Least squares: minimises 1/2 sum_n weight_n (y_n - w0 - w'x_n)^2, exactly, in any units.

    The solution is unique where the columns are independent, and the one of minimum norm (the pseudo-inverse) where
    they are not. One pass over the rows; small or ill-conditioned data are refined by passes in double-double.

    Parameters
    ----------
    fit_intercept : bool
        Whether the model has a constant w0.
    solver : "auto", "normal", "qr", "svd" or "gradient"
        "auto" chooses and says so in `certificate_.solver`. The result does not depend on it beyond rounding.
    rate : "auto", number, vector or matrix
        Step of the gradient solver: eta of w += eta sum_n e(n) x(n), acting on (w0, w); "auto" is safe in any units.
    init : array (1 + D,) or (K, 1 + D), or None
        Where the gradient solver starts, intercept first; None is zero.
    tol : float
        The gradient solver stops when every derivative, on standardised columns, is at most tol times the largest
        it can be.
    stop_error : float or None
        It also stops when the error 1/2 sum e^2 is at most this.
    epochs : int
        Most steps of the gradient solver.
    rank : "minimum-norm" or "drop"
        What becomes of columns that are linear combinations of others: all of them share the solution of minimum norm,
        or those that depend on columns before them are left out (coefficient zero), as in R. Predictions are
        the same for rows in which the combinations hold.
    positive : bool
        Whether coefficients have to be zero or more (nonnegative least squares); the intercept is free. Solved from the
        sums, with a gap in the certificate, and without standard errors.
    weights : "frequency" or "precision"
        What sample_weight means: how often a row was observed (2 is the row twice, degrees of freedom included), or the
        inverse of its variance up to a factor (weighted least squares: as many observations as rows of positive
        weight). The coefficients are the same; standard errors, tests and likelihoods are not.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    coef_, intercept_ : the solution; `certificate_` : how good it is; `rank_` : of the design, intercept not counted;
    `aliased_` : names of the columns that are constant or depend on those before them; `dependencies_` : how, as text
    such as "sched = 100 hour + minute"; `estimable_` : (D,) whether the rows identify a coefficient (these
    three are None for wide data solved in the dual);
    `history_`, `n_iter_` : error after each step and number of steps, gradient solver only;
    `absorbed_`, `effects_` : of a table opened with absorb=, what was absorbed, and the effect of each level.

    Examples
    --------
    >>> from adaline import LinearRegression, datasets
    >>> data = datasets.load("longley")
    >>> model = LinearRegression().fit(data.X, data.y)
    >>> print(f"{model.intercept_:.9g}")
    -3482258.63
    >>> model.certificate_.digits > 14
    True

    References
    ----------
    Lecture S0, section 5.1, (5.3)-(5.8); section 5.3 for the gradient solver. S1, S4: direct solution.
    """

    fit_intercept: bool = True
    used_with: ClassVar[UsedWith] = {
        name: {"solver": OneOf("gradient")} for name in ("rate", "init", "tol", "stop_error", "epochs")
    }
    solver: Annotated[LeastSquaresSolver, one_of(LeastSquaresSolver)] = "auto"
    rate: Annotated[Literal["auto"] | Any, BATCH_RATE] = "auto"
    init: Annotated[Any, AnyOf(NONE, FIRST_WEIGHTS)] = None
    tol: Annotated[float, ZERO_OR_MORE] = 1e-10
    stop_error: Annotated[float | None, AnyOf(NONE, Number())] = None
    epochs: Annotated[int, COUNT] = 100_000
    rank: Annotated[RankRule, one_of(RankRule)] = "minimum-norm"
    positive: bool = False
    weights: WeightKind = "frequency"
    basis: Any = None

    learns = LinearRegressionState
    history_ = FittedAttribute[list[Any]]()
    n_iter_ = FittedAttribute[int]()

    def _check_together(self) -> None:
        if self.positive and (self.solver != "auto" or self.rank == "drop"):
            raise InvalidParameter("positive=True has a solver of its own: leave solver and rank as they are")
        if self.rank == "drop" and self.solver == "gradient":
            raise InvalidParameter("rank='drop' needs the columns to be solved for: use solver='auto'")

    def _solve(self, rows: OpenedRegression, moments: Moments) -> SolvedRegression:
        none, source = no_penalty(moments.shape.features), rows.source
        if self.solver == "gradient":
            return self._descend(moments, rows.flat)
        if self.positive:
            from adaline.solvers.coordinates.positive import solve_positive  # seldom needed

            fit = solve_positive(moments, self.fit_intercept, none)
        elif source is None:
            fit = solve_sums(moments, self.fit_intercept, none, self.rank == "drop")
        else:
            fit = solve_least_squares(source, moments, self.fit_intercept, none, self.solver, self.rank == "drop")
            fit = self._beside_effects(fit, source)
        return SolvedRegression(fits=(fit,))

    def _absorb(self, table: TableSource) -> AbsorbedSource:
        """Return the rows of a table without the effects that it absorbs."""
        from adaline.solvers.absorb.absorb import absorb  # tables are slow to import

        if not self.fit_intercept or self.positive or self.solver == "gradient":
            raise InvalidParameter(
                "absorbed effects hold a constant, and their coefficients are solved for: leave fit_intercept=True, "
                "positive=False, and solver as it is"
            )
        return absorb(table, self.weights == "frequency")

    def _has_fixed_design(self) -> bool:
        return self.solver != "gradient" and not self.positive

    def _sums_suffice(self) -> bool:
        return self.solver == "auto" and super()._sums_suffice()

    def _is_wide(self, source: Source) -> bool:
        free = self.solver == "auto" and self.rank != "drop"
        return is_wide(source) and not self.positive and (free or not gram_fits(source))

    def _solve_wide(self, rows: OpenedRegression, source: Source) -> SolvedRegression:
        if self.rank == "drop":
            raise InvalidParameter("rank='drop' works on the D x D sums, which are too large here; leave rank as it is")
        if self.solver != "auto":
            raise InvalidParameter(
                f"solver={self.solver!r} works on the D x D sums, which are too large here; use solver='auto'"
            )
        fit = solve_wide(source, self.fit_intercept, no_penalty(source.shape.features))
        return SolvedRegression(fits=(fit,))

    def _descend(self, moments: Moments, flat: bool) -> SolvedBySteps:
        options = descent.DescentOptions(self.rate, self.init, self.tol, self.stop_error, self.epochs)
        fit, histories, bound = descent.solve_by_descent(moments, self.fit_intercept, options)
        steps = max(len(history) for history in histories) - 1
        status = fit.solution.certificate.status
        if status in (Status.NOT_CONVERGED, Status.DIVERGED):
            warn(
                f"gradient descent {status} after {steps} steps: {status.advice}. A number as rate must stay "
                f"below {bound:.3g} on these columns.",
                ConvergenceWarning,
            )
        return SolvedBySteps(fits=(fit,), history=histories[0] if flat else histories, n_iter=steps)
