"""Regressions solved from second moments: fitting, streaming, merging, forgetting, predicting, inference."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from adaline import enclosures, inference
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
from adaline.basis import Polynomial
from adaline.basis.base import BASIS
from adaline.construction import check_parameters
from adaline.errors import AdalineWarning, InvalidData, InvalidParameter, SumsMissing, warn
from adaline.fitted import check_is_fitted, has_absorbed
from adaline.inference import view
from adaline.inference.sample import Counted, Sample, WeightKind, count
from adaline.inference.view import ErrorArguments
from adaline.input import Meter, by_blocks, continuation, transaction
from adaline.input.basis import check_basis, columns_of, rows_through_basis
from adaline.input.blockwise import in_blocks
from adaline.input.coded import effects_on, refuse_absorbed
from adaline.input.columns import InputColumns
from adaline.input.drafts import continued, snapshot
from adaline.input.open import open_rows, read_rows, refuse_nonfinite, refuse_overflow
from adaline.input.system import check_same_columns, columns_on
from adaline.parameters import FLAG, LEVEL, PREDICTED_INTERVAL, AnyInterval, ErrorKind, PredictedInterval, one_of
from adaline.results import CONSTANT, EXPLAINED, Certificate, combine_certificates, made, without_constants
from adaline.solvers.least_squares.choose import is_wide, read_moments
from adaline.solvers.least_squares.direct import output_digits
from adaline.solvers.least_squares.fit import Fit
from adaline.sources import ArraySource, Source
from adaline.sources.absorbed import AbsorbedSource, Absorption
from adaline.sources.device import empty_on_device
from adaline.sources.views import of_target
from adaline.state import FittedAttribute, FittedWith, change_state
from adaline.sums import Moments
from adaline.sums.outputs import linear_outputs
from adaline.systems.families.closed_form import refuse_few_digits, without
from adaline.systems.families.folds import FoldedRows, Unions, once, sum_folds
from adaline.systems.families.least_squares_state import (
    LeastSquaresState,
    LinearSettings,
    OpenedRegression,
    SolvedRegression,
    observations,
    of_all_rows,
    with_effects,
)
from adaline.systems.families.supervised import LinearRegressor
from adaline.systems.families.weights import column_notes, split_theta, warn_of_dependence

if TYPE_CHECKING:  # inference is imported by the methods that need it: a fit does not
    from adaline.enclosures.enclosure import Enclosure
    from adaline.inference.bootstrap import RowsOfFit
    from adaline.inference.classical import Interval
    from adaline.inference.conformal import LeftOut
    from adaline.inference.covariance import ErrorOptions, JudgedRegression
    from adaline.inference.effects import MeanModel
    from adaline.inference.hypotheses import HypothesisTest
    from adaline.inference.influence import CoefficientInfluence, Influence
    from adaline.inference.regression import Summary
    from adaline.inference.view import InferenceView, RowsAgain
    from adaline.sums import FittedDesign


class LinearSystem(LinearRegressor):
    """A regression that is solved from second moments: it streams, merges and forgets, and has inference."""

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({},)  # the settings that compare tries
    basis: Annotated[Any, BASIS]
    fit_intercept: Annotated[bool, FLAG]
    positive: Annotated[bool, FLAG]
    weights: Annotated[WeightKind, one_of(WeightKind)]

    learns: ClassVar[type[LeastSquaresState]]
    _fitted_with: FittedWith[Any] = FittedWith(LinearSettings)
    _state: LeastSquaresState | None
    coef_ = FittedAttribute[Array]()
    intercept_ = FittedAttribute[float | Array]()
    rank_ = FittedAttribute[int]()
    aliased_ = FittedAttribute[NDArray[np.object_] | None]()
    dependencies_ = FittedAttribute[list[str] | None]()
    estimable_ = FittedAttribute[NDArray[np.bool_] | None]()
    certificate_ = FittedAttribute[Certificate]()
    absorbed_ = FittedAttribute[Absorption]()
    _fits = FittedAttribute[tuple[Fit, ...]]()
    _sums = FittedAttribute[Moments | None]()
    _counted = FittedAttribute[Counted | None]()
    _flat = FittedAttribute[bool]()
    _like = FittedAttribute[Any]()

    @abstractmethod
    def _solve(self, rows: OpenedRegression, moments: Moments) -> SolvedRegression:
        """Solve from sums, with the rows they came from where they are at hand."""

    @abstractmethod
    def _solve_wide(self, rows: OpenedRegression, source: Source) -> SolvedRegression:
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
        source, columns = open_rows(self, X, y, sample_weight, reset=True)
        rows = self._opened(source, columns)
        if self._is_wide(source):
            state = self._found(rows, self._solve_wide(rows, source), None, meter)
        else:
            total = read_moments(source, self.fit_intercept)
            state = self._found(rows, self._solve(rows, total), total, meter)
        if isinstance(source, AbsorbedSource):
            state = self._with_effects(state, source)
        self._state = of_all_rows(state)
        self._warn_of_dependence(None)
        return self

    @continuation
    def partial_fit(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Take in more rows: the result equals one fit on all rows, to the digits that the certificate states."""
        meter = Meter(X)
        check_parameters(self)
        if isinstance(X, Source) and not has_absorbed(self) and X.absorb:
            raise SumsMissing("effects are absorbed from all rows at once: use fit")
        if self._state is None:
            source, columns = open_rows(self, X, y, sample_weight, reset=True)
            rows = self._opened(source, columns)
            total = read_moments(source, self.fit_intercept)
        else:
            check_basis(self)
            source = self._reopen(X, y, sample_weight, "continue")
            rows = self._counting(self._count_with(self._count(source)))
            total = self._own_sums("continue").copy()
            total.merge(read_moments(source, self.fit_intercept))
        self._take(rows, total, meter, source)
        return self

    @continuation
    def merge(self, other: Self) -> Self:
        """Take in another fitted model: as if fitted on both data sets."""
        meter = Meter()
        mine = self._own_sums("merge")
        if type(other) is not type(self):
            raise InvalidParameter(f"cannot merge {type(self).__name__} with {type(other).__name__}")
        other = continued(other)
        theirs = other._own_sums("merge")
        check_same_columns(self, other)
        self._check_alike(other)
        if mine.shape != theirs.shape or self.fit_intercept != other.fit_intercept:
            raise InvalidData(
                f"cannot merge models of different shape: {mine.shape} with fit_intercept={self.fit_intercept} and "
                f"{theirs.shape} with fit_intercept={other.fit_intercept}"
            )
        total = mine.copy()
        total.merge(theirs)
        self._take(self._counting(self._count_with(other._counted)), total, meter, None)
        return self

    @continuation
    def forget(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Take rows back out, as if they had never been fitted; refused where too few digits would be left.

        A weight takes out as many of the row's copies. Under weights="precision" a row is forgotten with its whole
        weight; part of it is refused, as far as the weights that remain show it.
        """
        meter = Meter(X)
        mine = self._own_sums("forget")
        source = self._reopen(X, y, sample_weight, "forget")
        gone = read_moments(source, self.fit_intercept)
        left = without(mine, gone, source)
        counted = fewer = self._count_alike(self._count(source))
        if fewer is not None and self._counted is not None:
            counted = self._counted.minus(fewer, mine.weight, left.weight)
        rows = self._counting(counted)
        solved = self._solve(rows, left) if left.weight > 0 else None
        fits = () if solved is None else solved.fits
        each = self._solved_sums(left, len(fits))
        digits = min((fit.solution.certificate.digits for fit in fits), default=0.0)
        counts = [
            partial(output_digits, moments, self.fit_intercept, fit.penalty)
            for moments, fit in zip(each, fits, strict=True)
        ]
        refuse_few_digits(digits, counts, self.dependencies_)
        assert solved is not None  # nothing has no digits
        self._state = self._found(rows, solved, left, meter, source)
        return self

    @overload
    def predict(self, X: RowsLike, interval: None = None, level: float = 0.95) -> Array: ...
    @overload
    def predict(self, X: RowsLike, interval: AnyInterval, level: float = 0.95) -> Interval: ...
    def predict(self, X: RowsLike, interval: AnyInterval | None = None, level: float = 0.95) -> Array | Interval:
        """Return predictions (n,) or (n, K); with `interval` a named tuple (prediction, lower, upper).

        "confidence" covers the regression surface, "prediction" a new observation, each with probability `level`;
        "conformal" a new observation for any distribution of the rows, which are read again (see `adaline.conformal`).
        """
        if interval == "conformal":
            from adaline.systems.families.conformal import conformal  # seldom needed

            return conformal(self).predict(X, level)
        return self._values(self._regressors(X), interval, level)

    @in_blocks
    def _values(self, X: RowsLike, interval: PredictedInterval | None, level: float) -> Array | Interval:
        return self._predict(X, interval, level)

    @by_blocks
    def _coordinates(self, X: RowsLike, k: int) -> Array:
        """Return rows X in the coordinates of target k where (X'X + P)^-1 is the identity, (n, m)."""
        x = rows_through_basis(self, read_rows(self, X))
        x = host(x).astype(np.float64) if not is_sparse(x) else x.toarray()
        return inference.coordinates(self._fits[k if len(self._fits) > 1 else 0], np.column_stack([np.ones(len(x)), x]))

    def _leave_rows_out(
        self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None
    ) -> list[LeftOut] | None:
        """Return for each target the models without each row, where these have a closed form."""
        basis = self._state.columns.basis if self._state is not None else None
        if not self._has_fixed_design() or (basis is not None and basis.learns) or self._fits[0].factor is None:
            return None
        sample = self._sample()
        each = zip(self._fits, self._sources(X, y, sample_weight), strict=True)
        return [one for fit, source in each for one in inference.without_rows(fit, source, sample)]

    def _bootstrap_rows(self, given: RowsAgain, groups: GroupsLike) -> list[RowsOfFit] | None:
        """Return each fit with its rows, where a fit to other weights solves the same equations with them."""
        check_is_fitted(self, "coef_")
        given.refuse_offset(self)
        refuse_absorbed(self, "bootstrap")
        basis = self._state.columns.basis if self._state is not None else None
        if not self._has_fixed_design() or (basis is not None and basis.learns) or self._fits[0].factor is None:
            return None
        each = zip(self._fits, self._sources(*given[:3]), strict=True)
        return [inference.regression_rows(fit, source, self._sample(), groups) for fit, source in each]

    @abstractmethod
    def _has_fixed_design(self) -> bool:
        """Whether a fit to fewer rows solves the same equations without them."""

    @by_blocks
    def _interval(
        self, X: RowsLike, given: RowsAgain, judged: JudgedRegression, interval: PredictedInterval, level: float
    ) -> Interval:
        given.refuse_offset(self)
        found = self._predict(X, interval, level, judged)
        assert isinstance(found, tuple)
        return found

    def _predict(
        self,
        X: RowsLike,
        interval: PredictedInterval | None,
        level: float,
        judged: JudgedRegression | None = None,
    ) -> Array | Interval:
        """Return predictions, with intervals of the fits as they are judged, or by classical errors."""
        check_is_fitted(self, "coef_")
        state = self._state
        assert state is not None
        given = read_rows(self, X)
        x = rows_through_basis(self, given)
        coef, constant = np.atleast_2d(host(state.coef)), host(state.intercept)
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
                return values[:, 0] if state.flat else values
            x, values = host(x), host(values)
        if not np.isfinite(values).all():
            refuse_nonfinite(self, given)
            refuse_overflow(values)
        if interval is None:
            return like_rows(X, values[:, 0] if state.flat else values)
        PREDICTED_INTERVAL.check("interval", interval)
        LEVEL.check("level", level)
        x = x.toarray() if is_sparse(x) else x
        judged = inference.JudgedRegression(state.fits, self._sample()) if judged is None else judged
        half = inference.half_widths(judged, x, interval == "prediction", level)
        bands = (values, values - half, values + half)
        return inference.Interval(*(band[:, 0] if state.flat else band for band in bands))

    @view.spelled_out(ErrorArguments)
    def summary(
        self,
        level: float = 0.95,
        **errors: Unpack[ErrorArguments],
    ) -> Summary:
        """Return coefficients with standard errors, tests and confidence intervals, R^2, F, AIC, and the certificate.

        Classical errors come from the sums of the fit: Cov = sigma^2 (X'X)^-1, judged by Student's t. Robust errors
        take one more pass over the rows, which have to be given again, as the model keeps only sums:

            Cov = (X'X)^-1 [sum_n w_n r_n^2 / (1 - h_n)^a x_n x_n'] (X'X)^-1,   a = 0, 1, 2 for HC0, HC2, HC3

        HC1 is HC0 times N/(N - p), and HC4 has a = min(4, h_n N/p). "HAC" (Newey and West) takes rows in their order
        and adds products of scores l rows apart, times 1 - l/(lags + 1). As in statsmodels, z and p of these errors and
        their intervals are those of the normal distribution, and the F line tests all slopes on the robust covariance,
        with N - p degrees of freedom in the denominator. A weight of 2 is the row twice throughout; with
        weights="precision" the formulas are those of weighted least squares.

        Clustered errors add the scores r_n x_n up by group before squaring them, with leverages of groups H_g:

            s_g = sum_n in g w_n r_n x_n (CR1, times G/(G - 1) (N - 1)/(N - p) for G groups),
            X_g' W_g (1 - H_g)^(-1/2) r_g (CR2),   X_g' W_g (1 - H_g)^-1 r_g (CR3)

        "cluster" is CR3, the jackknife that leaves out one group at a time, but CR1 with thousands of groups, where the
        two hardly differ. CR1 is what Stata, fixest and statsmodels use. All of them are judged by Student's t and F
        with G - 1 degrees of freedom; with two columns of groups G is the smaller number.

        With about 5 to 15 groups, "wild" is more exact: standard errors are CR1, and p values and intervals come from
        9,999 draws in which the residuals of each group get a random factor (restricted wild cluster bootstrap: Stata's
        boottest). Draws need the sums of the groups alone, no rows; with 5 groups or fewer intervals are often open.

        Where effects were absorbed, p counts the rank of their dummies; for CR1 without those columns whose levels lie
        within one group each: the defaults of fixest. R^2 is that of columns and effects, the within R^2 that of the
        columns beside the effects.

        Where columns are linear combinations of others, the table is that of the model without those that depend on
        columns before them, as in R: their rows say "left out", all others are determined by the rows fitted. `coef_`
        and predictions stay those of the fit, and `estimable_` says which coefficients are the same in every solution.

        For several questions with the same errors, tests, effects and intervals of predictions, see `with_errors`.

        Parameters
        ----------
        level : float
            Coverage of the intervals.
        errors : "classical", "HC0", "HC1", "HC2", "HC3", "HC4", "cluster", "CR1", "CR2", "CR3", "wild" or "HAC"
            HC: unequal variances; cluster, CR and wild: also rows that belong together; HAC: also rows that follow each
            other.
        X, y, sample_weight
            The rows that were fitted, for robust errors only. Other rows are refused.
        groups : (n,) labels of any kind, or the name of a column of X, a table; or two of them, (n, 2) or two names
            Which rows belong together, for "cluster", CR1 to CR3 and "wild"; of two (not for "wild"), those that agree
            in either.
        lags : int or None
            For "HAC"; None is as many as Newey and West (1994) find in the rows, as R's `NeweyWest(prewhite=FALSE)`.
        distribution : None, "normal" or "t"
            What judges single coefficients: t has N - p degrees of freedom, G - 1 with clusters. None: t for classical
            and clustered errors, the normal distribution for others.

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
        (1987), 703-708; F. Cribari-Neto, Computational Statistics and Data Analysis 45 (2004), 215-233; R. M. Bell and
        D. F. McCaffrey, Survey Methodology 28 (2002), 169-181 (CR2 and CR3); A. C. Cameron, J. B. Gelbach and D. L.
        Miller, Review of Economics and Statistics 90 (2008), 414-427 (wild cluster bootstrap).
        """
        LEVEL.check("level", level)
        return self.with_errors(**errors).summary(level)

    @view.spelled_out(ErrorArguments)
    def test(
        self,
        hypothesis: HypothesisLike,
        value: Any = 0.0,
        **errors: Unpack[ErrorArguments],
    ) -> HypothesisTest:
        """Test linear hypotheses C theta = value: F = (C theta - value)' [C Cov C']^-1 (C theta - value) / q.

        F and its p value equal statsmodels' f_test, `chi2` and `chi2_p_value` of the result its wald_test: q F on q
        degrees of freedom. The denominator has N - p degrees of freedom, with clusters G - 1.

        Parameters
        ----------
        hypothesis : text, list of names, or matrix (q, 1 + D)
            Text such as "x1 = x2", "x1 + 2*x2 = 3" or "age = 0, income = 0", with the names of the columns (x0, x1, ...
            where they have none) and `intercept`; or the name of a term, "race", "race:sex" or "poly(age, 2)", of which
            all columns are tested; names of columns and terms (all zero together); or C, intercept first.
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
        return self.with_errors(**errors).test(hypothesis, value)

    default_errors: ClassVar[ErrorKind | None] = "classical"
    with_errors = view.with_errors

    def _judge(self, options: ErrorOptions, rows: RowsAgain) -> JudgedRegression:
        check_is_fitted(self, "coef_")
        rows.refuse_offset(self)
        sources = self._sources(rows.X, rows.y, rows.sample_weight) if options.needs_rows(rows.X) else None
        return inference.judge_regression(self._fits, sources, self._sample(), options, self._design_of)

    def _design_of(self, k: int, fit: Fit, precision: bool) -> FittedDesign:
        """Return fit k in the form in which sums over its rows take it."""
        return inference.lens(fit, precision)

    def _summarise(self, asked: InferenceView[Summary, HypothesisTest, JudgedRegression], level: float) -> Summary:
        return inference.summarise_regression(
            asked.judged,
            columns_of(self),
            title=type(self).__name__,
            intercept=bool(self._fitted_with.fit_intercept),
            certificate=self.certificate_,
            level=level,
            notes=self._notes(asked.options.errors),
        )

    def _test(
        self,
        asked: InferenceView[Summary, HypothesisTest, JudgedRegression],
        hypothesis: HypothesisLike,
        value: Any,
    ) -> HypothesisTest:
        intercept, flat = bool(self._fitted_with.fit_intercept), self._flat
        return inference.hypothesis_test(
            asked.judged, columns_of(self), hypothesis, value, intercept=intercept, flat=flat
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
        check_is_fitted(self, "coef_")
        refuse_absorbed(self, "influence")
        if any(fit.projected for fit in self._fits):
            raise InvalidParameter("no influence with endogenous columns: leverages are those of least squares")
        from adaline.inference.influence import influence  # the package's name is that of the module

        return influence(self._fits, self._sources(X, y, sample_weight), self._sample(), self._flat, dfbetas)

    def enclose(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Enclosure:
        """Return bounds that are proved to contain the exact coefficients for these rows; two passes, or up to a dozen.

        The exact solution is that of the real numbers that the float64 numbers X, y and weights are, at the penalty of
        the model. Every rounding error is accounted for: the bounds hold whatever the condition, and are as narrow as
        one unit in the last place where it is moderate. Where it cannot be proved that there is exactly one solution,
        as with fewer rows than coefficients or dependent columns, they are infinite, and `reason` says why.

        Parameters
        ----------
        X, y, sample_weight
            The rows, as for `fit`. The columns of `basis.Polynomial` are the exact products of the numbers X, but for
            orthogonal=True; other bases are applied in float64, and the solution is that for their columns.

        Returns
        -------
        Enclosure : named tuple of `lower` and `upper`, each (1 + D) or (K, 1 + D), intercept first, with `width` in
            units in the last place, `proved`, `reason`, and `predict(X)` for bounds on the outputs of rows.

        Examples
        --------
        >>> from adaline import LinearRegression
        >>> X, y = [[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0]
        >>> model = LinearRegression().fit(X, y)
        >>> print(model.enclose(X, y))
        name                     lower               upper  width (ulp)
        ---------------------------------------------------------------
        intercept  0.49999999999999994  0.5000000000000001          1.5
        x0          0.6428571428571428  0.6428571428571429            1
        proved: exactly one solution, within these bounds (2 passes)

        References
        ----------
        S. M. Rump, Verification methods: rigorous results using floating-point arithmetic, Acta Numerica 19 (2010),
        287-449, sections 10 and 11.
        """
        check_is_fitted(self, "coef_")
        refuse_absorbed(self, "enclosures")
        if self._fitted_with.positive or any(fit.projected for fit in self._fits):
            raise InvalidParameter("enclosures are of least squares and ridge: not with positive=True or instruments")
        basis, degree, read = columns_on(self).basis, 0, self
        if isinstance(basis, Polynomial) and not basis.orthogonal:
            degree = basis.degrees[1]
            read = snapshot(self)
            change_state(read, columns=columns_on(self)._replace(basis=enclosures.ExactProducts(basis)))
        sources = read._sources_of_fits(X, y, sample_weight)
        each = zip(self._fits, sources, strict=True)
        intercept = bool(self._fitted_with.fit_intercept)
        found = [
            enclosures.enclose_least_squares(source, intercept, fit.penalty, fit.solution.theta, degree=degree)
            for fit, source in each
        ]
        problems = [(None, fit.penalty) for fit in self._fits]
        statement = enclosures.Statement.of(columns_on(self), X, sample_weight, sources[0], intercept, problems)
        proved = enclosures.enclosure_of(found, columns_of(self), self._flat, read._design, statement)
        claimed = min(self.certificate_.digits, 1.0) if degree else self.certificate_.digits  # of powers in float64
        return proved.beside(self.intercept_, self.coef_, claimed)

    def _design(self, X: RowsLike) -> Any:
        """Return rows X as the model works on them."""
        return rows_through_basis(self, read_rows(self, X))

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
        check_is_fitted(self, "coef_")
        return inference.variance_inflation(self._fits[0], self._sums, self._fitted_with.fit_intercept)

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
            source, columns = open_rows(snapshot(self), X, y, sample_weight, reset=True)
            without_constant = columns.coding is not None and not columns.coding.intercept
            if self._is_wide(source) or source.absorption is not None or (intercept and without_constant):
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
        meter, like = Meter(source), empty_on_device(rows.source)
        opened = OpenedRegression(
            columns=rows.columns, source=source, flat=rows.source.targets.flat, like=like, counted=None
        )
        self._state = self._found(opened, self._solve(opened, total), total, meter)
        if source is not None:
            self._state = of_all_rows(self._state)
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
        return inference.absorbed_effects(self)

    def _beside_effects(self, fit: Fit, source: Source) -> Fit:
        """Return a fit with the digits and parameters that it has beside effects that were absorbed from its rows."""
        if not isinstance(source, AbsorbedSource):
            return fit
        from adaline.solvers.absorb.absorb import certified  # tables are slow to import

        return certified(fit, source, source.removal)

    def _mean_model(self, judged: JudgedRegression | None = None) -> MeanModel:
        """Return the fit as a function from the design to the means, for `effects`."""
        judged = inference.JudgedRegression(self._fits, self._sample()) if judged is None else judged
        judged.options.refuse_wild("effects, means or draws of coefficients")
        fits, found = [fit.without_dependent() for fit in self._fits], judged.covariances()
        theta = np.concatenate([fit.solution.theta for fit in fits])
        exact = all(fit.exact.all() for fit in fits)
        roots = [np.where(exact, np.nan, one.along(np.eye(theta.shape[1]))) for one in found]
        sigma = np.array(
            [
                fit.unit[k] * np.sqrt(fit.squares[k] / (judged.sample.n - fit.trace[k]))
                for fit in fits
                for k in range(len(fit.squares))
            ]
        )
        known = inference.linear_means(theta, roots, judged.freedom, exact, judged.describe())
        return replace(known, answers=inference.NormalAnswers(sigma))

    def _notes(self, errors: str) -> list[str]:
        """Return lines of the summary that are about the system, not its fits."""
        absorbed: Absorption | None = getattr(self, "absorbed_", None)
        return [] if absorbed is None else [absorbed.describe()]

    def _sources(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike) -> list[Source]:
        """Return the rows again, for each fit those of its targets; refuse others than the model could have."""
        for fit in self._fits:
            inference.factor_of(fit)
        return self._sources_of_fits(X, y, sample_weight)

    def _sources_of_fits(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike) -> list[Source]:
        """Return rows for the fits, for each those of its targets."""
        if has_absorbed(self) and not isinstance(X, Source):
            raise InvalidParameter("effects were absorbed from a table: give that again, as X=open_table(...)")
        reader = self._reader()
        source = open_rows(reader, X, y, sample_weight, reset=False).source
        targets = len(inference.by_target(self._fits))
        columns = columns_on(reader).width
        if source.shape != (columns, targets):
            raise InvalidData(
                f"the model has {columns} columns and {targets} targets, the rows {source.shape.features} and "
                f"{source.shape.targets}"
            )
        return [source] if len(self._fits) == 1 else [of_target(source, k) for k in range(targets)]

    def _regressors(self, X: RowsLike) -> RowsLike:
        """Return rows without columns that only the fit needs, where they have these."""
        return X

    def _reader(self) -> LinearSystem:
        """Return the model as it reads rows with targets."""
        return self

    def _solved_sums(self, total: Moments, fits: int) -> list[Moments]:
        """Return the moments that each of so many fits was solved from, by the sums of all columns."""
        return [total] if fits == 1 else [total.target(k) for k in range(fits)]

    def _check_alike(self, other: Self) -> None:
        """Refuse to merge models whose columns mean something else."""

    def _with_effects(self, state: LeastSquaresState, source: AbsorbedSource) -> LeastSquaresState:
        """Return what was learned with the effects that were absorbed from the rows."""
        return with_effects(state, source.coding, source.fitted_effects(state.fits[0].solution.theta[0]), source)

    def _sample(self) -> Sample:
        """Return how many observations the rows stand for."""
        if self._fitted_with.positive:
            raise InvalidParameter(
                "there are no standard errors under positive=True: its estimates are cut off at zero"
            )
        weight, absorbed = self._fits[0].weight, getattr(self, "absorbed_", None)
        if self._counted is None:
            return Sample(weight, absorbed=absorbed)
        return Sample(observations(self._counted, weight), self._counted.log_weight, True, absorbed)

    def _opened(self, source: Source, columns: InputColumns) -> OpenedRegression:
        """Return the rows of a fit that begins with them."""
        counted, like = self._count(source), empty_on_device(source)
        return OpenedRegression(columns=columns, source=source, flat=source.targets.flat, like=like, counted=counted)

    def _counting(self, counted: Counted | None) -> OpenedRegression:
        """Return the rows of the model with others added or taken out, of which only sums are at hand."""
        assert self._state is not None
        return OpenedRegression(
            columns=self._state.columns, source=None, flat=self._flat, like=self._like, counted=counted
        )

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
        source = open_rows(self._reader(), X, y, sample_weight, reset=False).source
        if source.shape != self._own_sums(verb).shape:
            raise InvalidData(
                f"cannot {verb}: the model has shape {self._own_sums(verb).shape}, the rows {source.shape}"
            )
        return source

    def _own_sums(self, verb: str) -> Moments:
        check_is_fitted(self, "coef_")
        if self._sums is not None and self._sums.centred != bool(self.fit_intercept):
            raise InvalidParameter(f"cannot {verb}: fit_intercept was changed since the model was fitted; refit")
        if has_absorbed(self):
            raise SumsMissing(f"cannot {verb}: effects were absorbed from the rows fitted; fit all rows at once")
        if self._sums is None:
            raise SumsMissing(
                f"cannot {verb}: this model was fitted to wide data without a D x D matrix, so it holds no sums"
            )
        return self._sums

    def _take(self, rows: OpenedRegression, total: Moments, meter: Meter, source: Source | None) -> None:
        """Solve from new sums and take them over; `source` are rows that were added."""
        before = getattr(self, "dependencies_", None)
        self._state = self._found(rows, self._solve(replace(rows, source=None), total), total, meter, source)
        if total.rows > total.shape.features:  # with fewer rows columns depend on each other in any case
            self._warn_of_dependence(before)

    def _warn_of_dependence(self, before: list[str] | None) -> None:
        """Warn of columns that are combinations of others, unless that was known before."""
        if getattr(self, "rank", None) != "drop":
            warn_of_dependence(self.dependencies_, before)
        elif self.dependencies_ and self.dependencies_ != before:
            left_out = "; ".join(self.dependencies_)
            warn(f"left out, as combinations of columns before them: {left_out}", AdalineWarning)

    def _found(
        self,
        rows: OpenedRegression,
        solved: SolvedRegression,
        total: Moments | None,
        meter: Meter,
        read: Source | None = None,
    ) -> LeastSquaresState:
        """Return what was learned, from what a solver found and the sums; `read`: the rows that were read for it."""
        fits, read = solved.fits, rows.source if read is None else read
        theta = np.concatenate([fit.solution.theta for fit in fits]) if len(fits) > 1 else fits[0].solution.theta
        coef, intercept = split_theta(theta, rows.flat, rows.like)
        proof = combine_certificates([fit.solution.certificate for fit in fits])
        absorbed = read is not None and read.absorption is not None
        notes = column_notes(fits[0], rows.columns.coefficient_names, absorbed)
        return made(
            self.learns,
            **solved.by_name(),
            columns=rows.columns,
            fitted_with=self._settings_of_fit(),
            coef=coef,
            intercept=intercept,
            rank=proof.rank,
            aliased=notes.aliased,
            dependencies=notes.dependencies,
            estimable=notes.estimable,
            certificate=without_constants(meter.on(proof, read), notes.constant, EXPLAINED if absorbed else CONSTANT),
            sums=total,
            counted=rows.counted,
            flat=rows.flat,
            like=rows.like,
            absorbed=None,
        )
