"""Linear regression by normal equations, pseudo-inverse or batch gradient descent."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from adaline.arrays import Array, host, is_device, is_sparse, namespace, to_device_of
from adaline.basis.base import BASIS
from adaline.construction import check_parameters, configured
from adaline.errors import AdalineWarning, ConvergenceWarning, InvalidData, InvalidParameter, SumsMissing, warn
from adaline.inference.classical import Interval, leverages, reach
from adaline.inference.regression import RegressionInference
from adaline.inference.sample import WEIGHTS, Counted, count
from adaline.input.basis import check_basis, columns_of, rows_through_basis
from adaline.input.by_blocks import by_blocks
from adaline.input.coded import scored
from adaline.input.columns import check_same_columns, set_columns
from adaline.input.meter import Meter
from adaline.input.open import open_rows, read_rows, refuse_nonfinite
from adaline.input.transaction import transaction
from adaline.parameters import (
    BATCH_RATE,
    COUNT,
    FIRST_WEIGHTS,
    FLAG,
    LEVEL,
    NONE,
    ZERO_OR_MORE,
    AnyOf,
    Check,
    Number,
    OneOf,
)
from adaline.penalties import no_penalty
from adaline.results import Status, together, without_constants
from adaline.solvers.least_squares import descent
from adaline.solvers.least_squares.choose import SOLVERS, gram_fits, is_wide, solve_least_squares, solve_wide, sums
from adaline.solvers.least_squares.dependence import say_dependent
from adaline.solvers.least_squares.direct import solve_sums
from adaline.solvers.least_squares.fit import Fit
from adaline.sources import ArraySource, Source
from adaline.sums import Moments
from adaline.systems.families.closed_form import refuse_few_digits, without

INTERVAL = AnyOf(OneOf("confidence", "prediction"), NONE)
STALE = ("history_", "n_iter_", "path_", "penalty_", "noise_variance_", "prior_variance_")  # of an earlier fit


class LinearSystem(RegressionInference, MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A regression that is solved from second moments: it streams, merges, forgets and explains itself."""

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({},)  # the settings that compare tries
    parameters: ClassVar[dict[str, Check]] = {"fit_intercept": FLAG, "weights": OneOf(*WEIGHTS), "basis": BASIS}
    coef_: Array
    intercept_: float | Array
    rank_: int
    _like: Any

    @abstractmethod
    def _solve(self, source: Source | None, moments: Moments) -> tuple[Fit, ...]:
        """Solve from sums, with the rows they came from where they are at hand."""

    @abstractmethod
    def _solve_wide(self, source: Source) -> tuple[Fit, ...]:
        """Solve without a D x D matrix."""

    @transaction
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows X (n, D) and targets y (n,) or (n, K); weights are frequencies unless weights="precision".

        X may be an array (float32 and float64 are never copied), a pandas, polars or Arrow frame, a SciPy sparse
        matrix, or a source, such as `open_table` returns, which brings its own targets and weights. Categories in a
        frame or table are coded, and `coding_` remembers how.
        """
        meter = Meter(X)
        check_parameters(self)
        for name in STALE:
            self.__dict__.pop(name, None)
        source, columns = open_rows(self, X, y, sample_weight, reset=True)
        set_columns(self, columns)
        self._remember(source)
        self._counted = self._count(source)
        if self._is_wide(source):
            self._sums = None
            self._keep(self._solve_wide(source), meter, source)
        else:
            self._sums = sums(source, self.fit_intercept)
            self._keep(self._solve(source, self._sums), meter, source)
        if self.dependencies_:
            warn(say_dependent(self.dependencies_), AdalineWarning)
        return self

    @transaction
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take in more rows: the result equals one fit on all rows, to the digits that the certificate states."""
        meter = Meter(X)
        check_parameters(self)
        if not hasattr(self, "_fits"):
            source, columns = open_rows(self, X, y, sample_weight, reset=True)
            set_columns(self, columns)
            self._remember(source)
            total, counted = sums(source, self.fit_intercept), self._count(source)
        else:
            check_basis(self)
            source = self._reopen(X, y, sample_weight, "continue")
            total = self._own_sums("continue").copy()
            counted = self._count_with(self._count(source))
            total.merge(sums(source, self.fit_intercept))
        self._take(total, counted, meter, source)
        return self

    @transaction
    def merge(self, other: Self) -> Self:
        """Take in another fitted model: as if fitted on both data sets."""
        meter = Meter()
        mine = self._own_sums("merge")
        if type(other) is not type(self):
            raise InvalidParameter(f"cannot merge {type(self).__name__} with {type(other).__name__}")
        theirs = other._own_sums("merge")
        if mine.shape != theirs.shape or self.fit_intercept != other.fit_intercept:
            raise InvalidData(
                f"cannot merge models of different shape: {mine.shape} with fit_intercept={self.fit_intercept} and "
                f"{theirs.shape} with fit_intercept={other.fit_intercept}"
            )
        check_same_columns(self, other)
        counted = self._count_with(other._counted)
        total = mine.copy()
        total.merge(theirs)
        self._take(total, counted, meter, None)
        return self

    @transaction
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take rows back out, as if they had never been fitted; refused where too few digits would be left."""
        meter = Meter(X)
        mine = self._own_sums("forget")
        source = self._reopen(X, y, sample_weight, "forget")
        gone = sums(source, self.fit_intercept)
        left = without(mine, gone)
        self._counted = self._count_with(self._count(source), -1)
        fits = self._solve(None, left) if left.weight > 0 else ()
        digits = min((fit.solution.certificate.digits for fit in fits), default=0.0)
        refuse_few_digits(digits)
        self._sums = left
        self._keep(fits, meter, source)
        return self

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R^2 for rows X (n, D) and y, or for a source."""
        return scored(self, super().score, X, y, sample_weight)

    @overload
    def predict(self, X: Any, interval: None = None, level: float = 0.95) -> Array: ...
    @overload
    def predict(self, X: Any, interval: Literal["confidence", "prediction"], level: float = 0.95) -> Interval: ...
    @by_blocks
    def predict(self, X: Any, interval: str | None = None, level: float = 0.95) -> Array | Interval:
        """Return predictions (n,) or (n, K); with `interval` a named tuple (prediction, lower, upper).

        "confidence" covers the regression surface, "prediction" a new observation, each with probability `level`.
        """
        check_is_fitted(self, "coef_")
        given = read_rows(self, X)
        x = rows_through_basis(self, given)
        theta = self._theta()
        values: Array
        if is_device(x):
            xp = namespace(x)
            slopes, constant = to_device_of(x, theta[:, 1:].T.copy()), to_device_of(x, theta[:, 0])
            values = xp.matmul(xp.astype(x, xp.float64, copy=False), slopes) + constant
            if interval is None:
                return values[:, 0] if self._flat else values
            x, values = host(x), host(values)
        elif is_sparse(x) or x.dtype == np.float64:
            values = np.asarray(x @ theta[:, 1:].T) + theta[:, 0]
        else:
            rows = ArraySource(x, np.empty((x.shape[0], 0)))
            values = rows.map(lambda block: block.x @ theta[:, 1:].T + theta[:, 0])
        if not np.isfinite(values).all():
            refuse_nonfinite(self, given)
        if interval is None:
            return values[:, 0] if self._flat else values
        INTERVAL.check("interval", interval)
        LEVEL.check("level", level)
        half = self._reach(x, interval == "prediction", level)
        bands = (values, values - half, values + half)
        return Interval(*(band[:, 0] if self._flat else band for band in bands))

    def _is_wide(self, source: Source) -> bool:
        """Whether to do without a D x D matrix."""
        return is_wide(source)

    def _theta(self) -> Array:
        """Return coefficients as they stand, (K, 1 + D), so that edits to coef_ are honoured."""
        coef = np.atleast_2d(host(self.coef_))
        return np.column_stack([np.broadcast_to(host(self.intercept_), (len(coef),)), coef])

    def _reach(self, x: Any, prediction: bool, level: float) -> Array:
        if any(fit.factor is None for fit in self._fits):
            raise SumsMissing(
                "no intervals: the solver for wide data keeps no D x D matrix. Use fewer columns than rows."
            )
        if is_sparse(x):
            x = x.toarray()
        return np.column_stack(
            [reach(fit, k, leverages(fit, x), prediction, level, self._sample()) for fit, k in self._by_target()]
        )

    def _remember(self, source: Source) -> None:
        self._flat = source.flat
        self._like = source.like()

    def _count(self, source: Source) -> Counted | None:
        return count(source) if self.weights == "precision" else None

    def _count_with(self, other: Counted | None, sign: int = 1) -> Counted | None:
        """Return the counts with others added or taken out."""
        if (self._counted is None) != (other is None):
            raise InvalidParameter(
                "rows fitted with weights='frequency' and with weights='precision' do not add up; fit all of them anew"
            )
        return None if self._counted is None or other is None else self._counted.plus(other, sign)

    def _reopen(self, X: Any, y: Any, sample_weight: Any, verb: str) -> Source:
        source = open_rows(self, X, y, sample_weight, reset=False).source
        if source.shape != self._own_sums(verb).shape:
            raise InvalidData(
                f"cannot {verb}: the model has shape {self._own_sums(verb).shape}, the rows {source.shape}"
            )
        return source

    def _own_sums(self, verb: str) -> Moments:
        check_is_fitted(self, "coef_")
        if self._sums is not None and self._sums.centred != bool(self.fit_intercept):
            raise InvalidParameter(f"cannot {verb}: fit_intercept was changed since the model was fitted; fit anew")
        if self._sums is None:
            raise SumsMissing(
                f"cannot {verb}: this model was fitted to wide data without a D x D matrix, so it holds no sums"
            )
        return self._sums

    def _take(self, total: Moments, counted: Any, meter: Meter, source: Source | None) -> None:
        """Solve from new sums and take them over."""
        self._sums, self._counted = total, counted
        self._keep(self._solve(None, total), meter, source)

    def _keep(self, fits: tuple[Fit, ...], meter: Meter, source: Source | None) -> None:
        theta = np.concatenate([fit.solution.theta for fit in fits]) if len(fits) > 1 else fits[0].solution.theta
        self._fits = fits
        self.coef_ = theta[0, 1:] if self._flat else theta[:, 1:]
        self.intercept_ = float(theta[0, 0]) if self._flat else theta[:, 0]
        if self._like is not None:
            self.coef_, self.intercept_ = (
                to_device_of(self._like, self.coef_),
                to_device_of(self._like, self.intercept_),
            )
        proof = together([fit.solution.certificate for fit in fits])
        self.certificate_ = meter.on(proof, source)
        self.rank_ = proof.rank
        factor, columns = fits[0].factor, theta.shape[1] - 1
        if factor is None and proof.rank < columns:
            self.aliased_ = self.dependencies_ = self.estimable_ = None
            return
        self.aliased_, self.dependencies_ = np.array([], dtype=object), []
        self.estimable_ = np.ones(columns, dtype=bool)
        if factor is not None and factor.rank < columns:
            names = columns_of(self)
            self.aliased_ = np.array([names[j] for j in factor.aliased()], dtype=object)
            self.dependencies_ = factor.dependence.texts(names)
            self.estimable_ = factor.dependence.estimable
            constant = [names[j] for j in np.flatnonzero(factor.dependence.constant)] if factor.decided else []
            self.certificate_ = without_constants(self.certificate_, constant)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags


RANKS = ("minimum-norm", "drop")


@configured
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
        or those that depend on columns before them are left out (coefficient zero), as in R. Predictions are the same.
    weights : "frequency" or "precision"
        What sample_weight means: how often a row was seen (2 is the row twice, degrees of freedom included), or the
        inverse of its variance up to a factor (weighted least squares: as many observations as rows of positive
        weight). The coefficients are the same; standard errors, tests and likelihoods are not.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    coef_, intercept_ : the solution; `certificate_` : how good it is; `rank_` : of the design, intercept not counted;
    `aliased_` : names of the columns that are constant or depend on those before them; `dependencies_` : how, as text
    such as "sched = 100 hour + minute"; `estimable_` : (D,) whether the rows determine a coefficient by itself (these
    three are None for wide data solved in the dual);
    `history_`, `n_iter_` : error after each step and number of steps, gradient solver only.

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

    parameters: ClassVar[dict[str, Check]] = {
        "solver": OneOf(*SOLVERS),
        "rate": BATCH_RATE,
        "init": AnyOf(NONE, FIRST_WEIGHTS),
        "tol": ZERO_OR_MORE,
        "stop_error": AnyOf(NONE, Number()),
        "epochs": COUNT,
        "rank": OneOf(*RANKS),
    }

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        solver: str = "auto",
        rate: Any = "auto",
        init: Any = None,
        tol: float = 1e-10,
        stop_error: float | None = None,
        epochs: int = 100_000,
        rank: str = "minimum-norm",
        weights: str = "frequency",
        basis: Any = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.rate = rate
        self.init = init
        self.tol = tol
        self.stop_error = stop_error
        self.epochs = epochs
        self.rank = rank
        self.weights = weights
        self.basis = basis

    def _check_together(self) -> None:
        if self.rank == "drop" and self.solver == "gradient":
            raise InvalidParameter("rank='drop' needs the columns to be solved for: use solver='auto'")

    def _solve(self, source: Source | None, moments: Moments) -> tuple[Fit, ...]:
        none = no_penalty(moments.shape.features)
        if self.solver == "gradient":
            return (self._descend(moments),)
        if source is None or not source.replayable:
            return (solve_sums(moments, self.fit_intercept, none, self.rank == "drop"),)
        return (solve_least_squares(source, moments, self.fit_intercept, none, self.solver, self.rank == "drop"),)

    def _is_wide(self, source: Source) -> bool:
        free = self.solver == "auto" and self.rank != "drop"
        return is_wide(source) and (free or not gram_fits(source))

    def _solve_wide(self, source: Source) -> tuple[Fit, ...]:
        if self.rank == "drop":
            raise InvalidParameter("rank='drop' works on the D x D sums, which are too large here; leave rank as it is")
        if self.solver != "auto":
            raise InvalidParameter(
                f"solver={self.solver!r} works on the D x D sums, which are too large here; use solver='auto'"
            )
        return (solve_wide(source, self.fit_intercept, no_penalty(source.shape.features)),)

    def _descend(self, moments: Moments) -> Fit:
        rule = descent.Rule(self.rate, self.init, self.tol, self.stop_error, self.epochs)
        fit, histories, bound = descent.solve_by_descent(moments, self.fit_intercept, rule)
        self.history_ = histories[0] if self._flat else histories
        self.n_iter_ = max(len(history) for history in histories) - 1
        status = fit.solution.certificate.status
        if status in (Status.NOT_CONVERGED, Status.DIVERGED):
            warn(
                f"gradient descent {status} after {self.n_iter_} steps: {status.advice}. A number as rate must stay "
                f"below {bound:.3g} on these columns.",
                ConvergenceWarning,
            )
        return fit
