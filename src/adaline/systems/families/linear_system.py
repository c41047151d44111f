"""Regressions solved from second moments: fitting, streaming, merging, forgetting, predicting, inference."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, overload

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import (
    Array,
    GroupsLike,
    HypothesisLike,
    RowsLike,
    TargetsLike,
    WeightsLike,
    host,
    is_device,
    is_sparse,
    like_rows,
)
from adaline.basis.base import BASIS
from adaline.construction import check_parameters
from adaline.errors import AdalineWarning, ConvergenceWarning, InvalidData, InvalidParameter, SumsMissing, warn
from adaline.fitted import check_is_fitted
from adaline.inference.sample import Counted, Sample, WeightKind, count
from adaline.input import Meter, by_blocks, set_columns, transaction
from adaline.input.basis import check_basis, columns_of, rows_through_basis
from adaline.input.coded import effects_on, refuse_absorbed
from adaline.input.columns import check_same_columns
from adaline.input.drafts import snapshot
from adaline.input.open import open_rows, read_rows, refuse_nonfinite, refuse_overflow
from adaline.parameters import FLAG, LEVEL, PREDICTED_INTERVAL, PredictedInterval, one_of
from adaline.results import (
    CONSTANT,
    EXPLAINED,
    Certificate,
    Status,
    after_one_go,
    combine_certificates,
    without_constants,
)
from adaline.solvers.least_squares.choose import is_wide, sums
from adaline.solvers.least_squares.direct import output_digits
from adaline.solvers.least_squares.fit import Fit
from adaline.sources import ArraySource, Source
from adaline.sources.absorbed import AbsorbedSource, Absorption
from adaline.sums import Moments
from adaline.systems.families.closed_form import refuse_few_digits, without
from adaline.systems.families.folds import FoldedRows, Unions, once, sum_folds
from adaline.systems.families.supervised import LinearRegressor
from adaline.systems.families.weights import column_notes, linear_outputs, split_theta, warn_of_dependence

if TYPE_CHECKING:  # inference is imported by the methods that need it: a fit does not
    from adaline.inference.classical import Interval
    from adaline.inference.effects import MeanModel
    from adaline.inference.hypotheses import HypothesisTest
    from adaline.inference.influence import CoefficientInfluence, Influence
    from adaline.inference.regression import Summary

STALE = frozenset(
    ("absorbed_", "history_", "n_iter_", "path_", "penalty_", "noise_variance_", "prior_variance_")
)  # of an earlier fit


class LinearSystem(LinearRegressor):
    """A regression that is solved from second moments: it streams, merges and forgets, and has inference."""

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({},)  # the settings that compare tries
    basis: Annotated[Any, BASIS]
    coef_: Array
    intercept_: float | Array
    rank_: int
    aliased_: NDArray[np.object_] | None
    dependencies_: list[str] | None
    estimable_: NDArray[np.bool_] | None
    fit_intercept: Annotated[bool, FLAG]
    weights: Annotated[WeightKind, one_of(WeightKind)]
    n_features_in_: int
    certificate_: Certificate
    _fits: tuple[Fit, ...]
    _sums: Moments | None
    _counted: Counted | None
    _flat: bool
    _like: Any

    @abstractmethod
    def _solve(self, source: Source | None, moments: Moments) -> tuple[Fit, ...]:
        """Solve from sums, with the rows they came from where they are at hand."""

    @abstractmethod
    def _solve_wide(self, source: Source) -> tuple[Fit, ...]:
        """Solve without a D x D matrix."""

    @transaction
    def fit(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Fit to rows X (n, D) and targets y (n,) or (n, K); weights are frequencies unless weights="precision".

        X may be an array (float32 and float64 are never copied), a pandas, polars or Arrow frame, a SciPy sparse
        matrix, or a source, such as `open_table` returns, which brings its own targets and weights. Categories in a
        frame or table are coded, and `coding_` remembers how.
        """
        meter = Meter(X)
        check_parameters(self)
        for name in STALE & self.__dict__.keys():
            del self.__dict__[name]
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
        if source.absorption is not None:
            self._take_effects(source)
        self.certificate_ = after_one_go(self.certificate_)
        self._warn_of_dependence(None)
        return self

    @transaction
    def partial_fit(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Take in more rows: the result equals one fit on all rows, to the digits that the certificate states."""
        meter = Meter(X)
        check_parameters(self)
        if isinstance(X, Source) and "absorbed_" not in self.__dict__ and X.absorb:
            raise SumsMissing("effects are absorbed from all rows at once: use fit")
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
        other = snapshot(other)
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
    def forget(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Take rows back out, as if they had never been fitted; refused where too few digits would be left.

        A weight takes out as many of the row's copies. Under weights="precision" a row is forgotten with its whole
        weight; part of it is refused, as far as the weights that remain show it.
        """
        meter = Meter(X)
        mine = self._own_sums("forget")
        source = self._reopen(X, y, sample_weight, "forget")
        gone = sums(source, self.fit_intercept)
        left = without(mine, gone, source)
        fewer = self._count_alike(self._count(source))
        if fewer is not None and self._counted is not None:
            self._counted = self._counted.minus(fewer, mine.weight, left.weight)
        fits = self._solve(None, left) if left.weight > 0 else ()
        each = [left] if len(fits) == 1 else [left.target(k) for k in range(len(fits))]
        digits = min((fit.solution.certificate.digits for fit in fits), default=0.0)
        counts = [
            partial(output_digits, moments, self.fit_intercept, fit.penalty)
            for moments, fit in zip(each, fits, strict=True)
        ]
        refuse_few_digits(digits, counts, self.dependencies_)
        self._sums = left
        self._keep(fits, meter, source)
        return self

    @overload
    def predict(self, X: RowsLike, interval: None = None, level: float = 0.95) -> Array: ...
    @overload
    def predict(self, X: RowsLike, interval: PredictedInterval, level: float = 0.95) -> Interval: ...
    @by_blocks
    def predict(self, X: RowsLike, interval: PredictedInterval | None = None, level: float = 0.95) -> Array | Interval:
        """Return predictions (n,) or (n, K); with `interval` a named tuple (prediction, lower, upper).

        "confidence" covers the regression surface, "prediction" a new observation, each with probability `level`.
        """
        check_is_fitted(self, "coef_")
        given = read_rows(self, X)
        x = rows_through_basis(self, given)
        coef, constant = np.atleast_2d(host(self.coef_)), host(self.intercept_)
        values: Array
        effects = effects_on(self, X)
        if is_device(x) or is_sparse(x) or x.dtype == np.float64:
            values = linear_outputs(x, coef, constant)
        else:
            rows = ArraySource(x, np.empty((x.shape[0], 0)))
            values = rows.map(lambda block: linear_outputs(block.x, coef, constant))
        if interval is not None:
            refuse_absorbed(self, "intervals of predictions")
        if effects is not None:
            values = values + effects[:, None]
        if is_device(x):
            if interval is None:
                return values[:, 0] if self._flat else values
            x, values = host(x), host(values)
        if not np.isfinite(values).all():
            refuse_nonfinite(self, given)
            refuse_overflow(values)
        if interval is None:
            return like_rows(X, values[:, 0] if self._flat else values)
        from adaline.inference.classical import Interval, half_widths

        PREDICTED_INTERVAL.check("interval", interval)
        LEVEL.check("level", level)
        x = x.toarray() if is_sparse(x) else x
        half = half_widths(self._fits, x, interval == "prediction", level, self._sample())
        bands = (values, values - half, values + half)
        return Interval(*(band[:, 0] if self._flat else band for band in bands))

    def summary(
        self,
        level: float = 0.95,
        errors: str = "classical",
        X: RowsLike = None,
        y: TargetsLike = None,
        sample_weight: WeightsLike = None,
        groups: GroupsLike = None,
        lags: int | None = None,
        distribution: str | None = None,
    ) -> Summary:
        """Return coefficients with standard errors, tests and confidence intervals, R^2, F, AIC, and the certificate.

        Classical errors come from the sums of the fit: Cov = sigma^2 (X'X)^-1, judged by Student's t. Robust errors
        take one more pass over the rows, which have to be given again, as the model keeps only sums:

            Cov = (X'X)^-1 [sum_n w_n r_n^2 / (1 - h_n)^a x_n x_n'] (X'X)^-1,   a = 0, 1, 2 for HC0, HC2, HC3

        HC1 is HC0 times N/(N - p), and HC4 has a = min(4, h_n N/p). "cluster" adds the scores r_n x_n up by group
        before squaring them, times G/(G - 1) (N - 1)/(N - p) for G groups; "HAC" (Newey and West) takes rows in their
        order and adds products of scores l rows apart, times 1 - l/(lags + 1). As in statsmodels, z and p of robust
        errors and their intervals are those of the normal distribution, and the F line tests all slopes on the robust
        covariance, with N - p degrees of freedom in the denominator (cluster: G - 1). A weight of 2 is the row twice
        throughout; with weights="precision" the formulas are those of weighted least squares.

        Where effects were absorbed, p counts the rank of their dummies; for "cluster" without those columns whose
        levels lie within one group each, and with two columns of groups the smaller number of them is G: the defaults
        of fixest. R^2 is that of columns and effects, the within R^2 that of the columns beside the effects.

        Where columns are linear combinations of others, the table is that of the model without those that depend on
        columns before them, as in R: their rows say "left out", all others are determined by the rows fitted. `coef_`
        and predictions stay those of the fit, and `estimable_` says which coefficients are the same in every solution.

        Parameters
        ----------
        level : float
            Coverage of the intervals.
        errors : "classical", "HC0", "HC1", "HC2", "HC3", "HC4", "cluster" or "HAC"
            HC: unequal variances; cluster: also rows that belong together; HAC: also rows that follow each other.
        X, y, sample_weight
            The rows that were fitted, for robust errors only. Other rows are refused.
        groups : (n,) labels of any kind, or the name of a column of X, a table; or two of them, (n, 2) or two names
            Which rows belong together, for "cluster"; of two, those that agree in either.
        lags : int or None
            For "HAC"; None is 4 (N/100)^(2/9), rounded down.
        distribution : None, "normal" or "t"
            What judges single coefficients: t has N - p degrees of freedom, G - 1 with clusters. None: t for classical
            errors, the normal distribution for others.

        Examples
        --------
        >>> from adaline import LinearRegression, datasets
        >>> data = datasets.load("penguins", target="body_mass_g")
        >>> model = LinearRegression().fit(data.X, data.y)
        >>> robust = model.summary(errors="HC3", X=data.X, y=data.y)
        >>> row = robust.to_dict()["coefficients"][3]
        >>> print(f"{row['estimate']:.4f} +- {row['std_error']:.4f}")
        50.7621 +- 2.3900

        References
        ----------
        J. G. MacKinnon and H. White, J. Econometrics 29 (1985), 305-325; W. K. Newey and K. D. West, Econometrica 55
        (1987), 703-708; F. Cribari-Neto, Computational Statistics and Data Analysis 45 (2004), 215-233.
        """
        from adaline.inference.covariance import ErrorOptions
        from adaline.inference.regression import summarise_regression

        check_is_fitted(self, "coef_")
        options = ErrorOptions(errors, groups, lags, distribution)
        return summarise_regression(
            self._fits,
            columns_of(self),
            self._sample(),
            self._sources(X, y, sample_weight) if options.needs_rows(X) else None,
            title=type(self).__name__,
            intercept=self.fit_intercept,
            certificate=self.certificate_,
            level=level,
            options=options,
            notes=self._notes(errors),
        )

    def test(
        self,
        hypothesis: HypothesisLike,
        value: Any = 0.0,
        errors: str = "classical",
        X: RowsLike = None,
        y: TargetsLike = None,
        sample_weight: WeightsLike = None,
        groups: GroupsLike = None,
        lags: int | None = None,
        distribution: str | None = None,
    ) -> HypothesisTest:
        """Test linear hypotheses C theta = value: F = (C theta - value)' [C Cov C']^-1 (C theta - value) / q.

        F and its p value equal statsmodels' f_test, `chi2` and `chi2_p_value` of the result its wald_test: q F on q
        degrees of freedom. The denominator has N - p degrees of freedom, with clusters G - 1.

        Parameters
        ----------
        hypothesis : text, list of column names, or matrix (q, 1 + D)
            Text such as "x1 = x2", "x1 + 2*x2 = 3" or "age = 0, income = 0", with the names of the columns (x0, x1, ...
            where they have none) and `intercept`; names (all zero together); or C, intercept first.
        value : number or (q,)
            What C theta should be, for names and matrices.
        errors, X, y, sample_weight, groups, lags
            As for `summary`: robust errors need the rows again.
        distribution : None, "t" or "normal"
            Whether `p_value` is that of F, or ("normal") of chi-squared.

        Examples
        --------
        >>> from adaline import LinearRegression, datasets
        >>> data = datasets.load("longley")
        >>> model = LinearRegression().fit(data.X, data.y)
        >>> print(model.test("x1 = 0, x2 = 2*x3"))
        hypothesis: x1 = 0
                    x2 - 2*x3 = 0
        F 1.12844 on 2 and 9 degrees of freedom, p 0.3654 (classical errors)

        References
        ----------
        A. Wald, Trans. AMS 54 (1943), 426-482.
        """
        from adaline.inference.covariance import ErrorOptions
        from adaline.inference.regression import hypothesis_test

        check_is_fitted(self, "coef_")
        options = ErrorOptions(errors, groups, lags, distribution)
        return hypothesis_test(
            self._fits,
            columns_of(self),
            self._sample(),
            self._sources(X, y, sample_weight) if options.needs_rows(X) else None,
            hypothesis,
            value,
            intercept=self.fit_intercept,
            flat=self._flat,
            options=options,
        )

    @np.errstate(all="ignore")
    def influence(
        self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None, dfbetas: bool = False
    ) -> Influence | CoefficientInfluence:
        """Return what each row does to the fit: leverage, residuals, Cook's distance, DFFITS. One pass, n numbers each.

            h_n = x_n'(X'X)^-1 x_n,   standardized = r / (s sqrt(1 - h)),   studentized: the same, s without the row,
            cooks_distance = standardized^2 h / (1 - h) / p,   dffits = studentized sqrt(h / (1 - h))

        A weight of 2 is the row twice, and the numbers are those of one of the two; with weights="precision" they are
        those of weighted least squares (leverages times w, residuals times sqrt(w) where they are standardised).

        Parameters
        ----------
        X, y, sample_weight
            The rows that were fitted, in any order. Other rows are refused.
        dfbetas : bool
            Whether to say also how far each coefficient moves without each row, in standard errors.

        Returns
        -------
        Influence : named tuple of leverage (n,), residual, standardized, studentized, cooks_distance and dffits, each
            (n,) or (n, K); with dfbetas=True also dfbetas, (n, 1 + D) or (n, K, 1 + D), intercept first.

        Examples
        --------
        >>> from adaline import LinearRegression, datasets
        >>> data = datasets.load("longley")
        >>> rows = LinearRegression().fit(data.X, data.y).influence(data.X, data.y)
        >>> int(rows.cooks_distance.argmax()), round(float(rows.cooks_distance.max()), 4)
        (4, 0.6139)

        References
        ----------
        R. D. Cook and S. Weisberg, Residuals and Influence in Regression (1982).
        """
        from adaline.inference.influence import influence

        check_is_fitted(self, "coef_")
        refuse_absorbed(self, "influence")
        return influence(self._fits, self._sources(X, y, sample_weight), self._sample(), self._flat, dfbetas)

    def variance_inflation(self) -> Array:
        """Return by how much each coefficient's variance is inflated by the other columns, (D,): no pass.

            VIF_j = S_jj (S^-1)_jj = 1 / (1 - R_j^2),   R_j^2 of column j regressed on the others

        S is centred with an intercept and raw without. Infinite for columns that are combinations of others. It is a
        property of the columns alone: a penalty plays no part.

        Examples
        --------
        >>> from adaline import LinearRegression, datasets
        >>> data = datasets.load("longley")
        >>> model = LinearRegression().fit(data.X, data.y)
        >>> [round(float(v), 1) for v in model.variance_inflation()]
        [135.5, 1788.5, 33.6, 3.6, 399.2, 759.0]

        References
        ----------
        D. W. Marquardt, Technometrics 12 (1970), 591-612.
        """
        from adaline.inference.regression import variance_inflation

        check_is_fitted(self, "coef_")
        return variance_inflation(self._fits[0], self._sums, self.fit_intercept)

    def _sum_folds(
        self,
        X: RowsLike,
        y: TargetsLike,
        sample_weight: WeightsLike,
        fold: NDArray[np.intp],
        shared: dict[Any, Any],
        unions: Unions,
    ) -> FoldedRows | None:
        """Return the sums of the folds, shared with all systems that have the same; None where they do not do."""
        check_parameters(self)
        if not self._sums_suffice():
            return None
        intercept = bool(self.fit_intercept)

        def open_folds() -> FoldedRows | None:
            source, columns = open_rows(self, X, y, sample_weight, reset=True)
            if self._is_wide(source) or source.absorption is not None:
                return None
            centred = intercept and not source.sparse
            folded = sum_folds(source, columns, fold, unions, of=Moments, centred=centred)
            if folded is None or centred or not intercept:
                return folded
            return folded._replace(total=folded.total.about_mean(), unions=[one.about_mean() for one in folded.unions])

        return once(shared, (LinearSystem, intercept), open_folds)

    def _sums_suffice(self) -> bool:
        """Whether the system is determined by the moments of the rows."""
        return self.basis is None and self.weights == "frequency"

    @transaction
    def _fit_sums(self, rows: FoldedRows, total: Moments, source: Source | None) -> Self:
        meter = Meter(source)
        set_columns(self, rows.columns)
        self._remember(rows.source)
        self._sums, self._counted = total, None
        self._keep(self._solve(source, total), meter, source)
        if source is not None:
            self.certificate_ = after_one_go(self.certificate_)
            self._warn_of_dependence(None)
        return self

    def _is_wide(self, source: Source) -> bool:
        """Whether to do without a D x D matrix."""
        return is_wide(source)

    @property
    def effects_(self) -> dict[str, Any]:
        """The effects that a fit has absorbed: for each column a frame of its levels and their values.

        They are what is left of the outputs beside columns and intercept. The values of a column have a mean of zero
        over the rows fitted; the level of rows without a value, where there are such, is None.

        Examples
        --------
        >>> from adaline import LinearRegression, open_table
        >>> rows = {"y": [1.0, 2.0, 4.0, 6.0], "x": [0.0, 1.0, 0.0, 2.0], "firm": ["a", "a", "b", "b"]}
        >>> model = LinearRegression().fit(open_table(rows, target="y", absorb="firm"))
        >>> model.effects_["firm"]["value"].round(6).tolist()
        [-1.5, 1.5]
        """
        from adaline.inference.coefficients import absorbed_effects

        return absorbed_effects(self)

    def _beside_effects(self, fit: Fit, source: Source) -> Fit:
        """Return a fit with the digits and parameters that it has beside effects that were absorbed from its rows."""
        if not isinstance(source, AbsorbedSource):
            return fit
        from adaline.solvers.absorb.absorb import certified  # tables are slow to import

        return certified(fit, source)

    def _mean_model(self) -> MeanModel:
        """Return the fit as a function from the design to the means, for `effects`."""
        from adaline.inference.covariance import CLASSICAL, covariances
        from adaline.inference.effects import linear_means

        fits = [fit.without_dependent() for fit in self._fits]
        found = [one for fit in fits for one in covariances(fit, None, self._sample(), CLASSICAL)]
        theta = np.concatenate([fit.solution.theta for fit in fits])
        exact = all(fit.exact.all() for fit in fits)
        roots = [np.where(exact, np.nan, one.along(np.eye(theta.shape[1]))) for one in found]
        return linear_means(theta, roots, found[0].freedom, exact)

    def _notes(self, errors: str) -> list[str]:
        """Return lines of the summary that are about the system, not its fits."""
        absorbed: Absorption | None = self.__dict__.get("absorbed_")
        return [] if absorbed is None else [absorbed.describe()]

    def _take_effects(self, source: Source) -> None:
        """Take over the effects that were absorbed from the rows; sums of these are of no use to other rows."""
        self.absorbed_: Absorption = source.absorption
        assert isinstance(source, AbsorbedSource)
        effects = source.fitted_effects(self._fits[0].solution.theta[0])
        self.coding_ = replace(source.coding, effects=effects)
        self._sums = None
        if self.certificate_.status is Status.NOT_CONVERGED:
            warn(f"{Status.NOT_CONVERGED}: {self.certificate_.advice}", ConvergenceWarning)

    def _sources(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike) -> list[Source]:
        """Return the rows again, for each fit those of its targets; refuse others than the model could have."""
        from adaline.inference.classical import by_target
        from adaline.inference.covariance import factor_of

        for fit in self._fits:
            factor_of(fit)
        if "absorbed_" in self.__dict__ and not isinstance(X, Source):
            raise InvalidParameter("effects were absorbed from a table: give that again, as X=open_table(...)")
        source = open_rows(self, X, y, sample_weight, reset=False).source
        targets = len(by_target(self._fits))
        columns = self._fits[0].solution.theta.shape[1] - 1
        if source.shape != (columns, targets):
            raise InvalidData(
                f"the model has {columns} columns and {targets} targets, the rows {source.shape.features} and "
                f"{source.shape.targets}"
            )
        return [source] if len(self._fits) == 1 else [source.with_target(k) for k in range(targets)]

    def _sample(self) -> Sample:
        """Return how many observations the rows stand for."""
        if getattr(self, "positive", False):
            raise InvalidParameter(
                "there are no standard errors under positive=True: its estimates are cut off at zero"
            )
        weight, absorbed = self._fits[0].weight, self.__dict__.get("absorbed_")
        if self._counted is None:
            return Sample(weight, absorbed=absorbed)
        return Sample(self._observations(weight), self._counted.log_weight, True, absorbed)

    def _observations(self, weight: float) -> float:
        """Return the number of observations that rows of this total weight are."""
        return weight if self._counted is None else float(self._counted.rows)

    def _remember(self, source: Source) -> None:
        self._flat = source.flat
        self._like = source.empty_on_device()

    def _count(self, source: Source) -> Counted | None:
        return count(source) if self.weights == "precision" else None

    def _count_with(self, other: Counted | None) -> Counted | None:
        """Return the counts with others added."""
        other = self._count_alike(other)
        return None if self._counted is None or other is None else self._counted.plus(other)

    def _count_alike(self, other: Counted | None) -> Counted | None:
        """Refuse counts of rows whose weights mean something else."""
        if (self._counted is None) != (other is None):
            raise InvalidParameter(
                "rows fitted with weights='frequency' and with weights='precision' do not add up; refit to all of them"
            )
        return other

    def _reopen(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, verb: str) -> Source:
        source = open_rows(self, X, y, sample_weight, reset=False).source
        if source.shape != self._own_sums(verb).shape:
            raise InvalidData(
                f"cannot {verb}: the model has shape {self._own_sums(verb).shape}, the rows {source.shape}"
            )
        return source

    def _own_sums(self, verb: str) -> Moments:
        check_is_fitted(self, "coef_")
        if self._sums is not None and self._sums.centred != bool(self.fit_intercept):
            raise InvalidParameter(f"cannot {verb}: fit_intercept was changed since the model was fitted; refit")
        if "absorbed_" in self.__dict__:
            raise SumsMissing(f"cannot {verb}: effects were absorbed from the rows fitted; fit all rows at once")
        if self._sums is None:
            raise SumsMissing(
                f"cannot {verb}: this model was fitted to wide data without a D x D matrix, so it holds no sums"
            )
        return self._sums

    def _take(self, total: Moments, counted: Any, meter: Meter, source: Source | None) -> None:
        """Solve from new sums and take them over."""
        before = self.__dict__.get("dependencies_")
        self._sums, self._counted = total, counted
        self._keep(self._solve(None, total), meter, source)
        if total.rows > total.shape.features:  # with fewer rows columns depend on each other in any case
            self._warn_of_dependence(before)

    def _warn_of_dependence(self, before: list[str] | None) -> None:
        """Warn of columns that are combinations of others, unless that was known before."""
        if getattr(self, "rank", None) != "drop":
            warn_of_dependence(self.dependencies_, before)
        elif self.dependencies_ and self.dependencies_ != before:
            left_out = "; ".join(self.dependencies_)
            warn(f"left out, as combinations of columns before them: {left_out}", AdalineWarning)

    def _keep(self, fits: tuple[Fit, ...], meter: Meter, source: Source | None) -> None:
        theta = np.concatenate([fit.solution.theta for fit in fits]) if len(fits) > 1 else fits[0].solution.theta
        self._fits = fits
        self.coef_, self.intercept_ = split_theta(theta, self._flat, self._like)
        proof = combine_certificates([fit.solution.certificate for fit in fits])
        absorbed = source is not None and source.absorption is not None
        notes = column_notes(fits[0], lambda: columns_of(self), absorbed)
        self.aliased_, self.dependencies_, self.estimable_, constant = notes
        what = EXPLAINED if absorbed else CONSTANT
        self.certificate_ = without_constants(meter.on(proof, source), constant, what)
        self.rank_ = proof.rank
