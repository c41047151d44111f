"""Regression by criteria that a few outliers cannot move far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from adaline import inference
from adaline.arrays import (
    Array,
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
from adaline.errors import AdalineWarning, ConvergenceWarning, InvalidData, InvalidParameter, warn
from adaline.fits.robust import RobustCriterion, RobustRows, fit_target
from adaline.fitted import check_is_fitted
from adaline.forms import NOT_KEPT, Count, Finite, Intercepts, PerTarget, Slopes, Strings
from adaline.inference import view
from adaline.inference.classical import Interval, refuse_prediction
from adaline.inference.covariance import ErrorOptions
from adaline.inference.effects import MeanModel, linear_means
from adaline.inference.hypotheses import HypothesisTest
from adaline.inference.left_out import left_out, left_out_notes
from adaline.inference.robust import (
    SANDWICHES,
    JudgedRobust,
    RobustFit,
    RobustSummary,
    check_errors,
    infer_target,
    judging_freedom,
    robust_test,
)
from adaline.inference.view import InferenceView, RowArguments, RowsAgain, spelled_out
from adaline.input import Meter, by_blocks, transaction
from adaline.input.basis import columns_of
from adaline.input.columns import InputColumns
from adaline.input.first_pass import read_first_pass
from adaline.input.open import open_rows, read_finite, read_targets, refuse_overflow
from adaline.input.system import SystemState
from adaline.losses import Huber, Loss, Tukey
from adaline.parameters import (
    CONFORMAL_INTERVAL,
    COUNT,
    FIRST_WEIGHTS,
    FLAG,
    LEVEL,
    NONE,
    POSITIVE,
    SEED,
    ZERO_OR_MORE,
    AnyOf,
    ErrorKind,
    Number,
    OneOf,
    PredictedInterval,
    RobustErrorKind,
    StatisticDistribution,
    UsedWith,
    one_of,
)
from adaline.penalties import RidgePenalty
from adaline.results import Certificate, Status, combine_certificates, without_constants
from adaline.solvers.least_squares.dependence import named, say_dependent
from adaline.solvers.smooth.problem import column_spread
from adaline.sources import Source
from adaline.sources.device import empty_on_device
from adaline.sources.totals import check_held
from adaline.sources.views import in_memory, weights_or_ones
from adaline.state import FitSettings, FittedAttribute, FittedWith
from adaline.sums import Ranks
from adaline.sums.outputs import linear_outputs
from adaline.sums.targets import LargestTarget
from adaline.systems.families.folds import FoldFits
from adaline.systems.families.named import named_system
from adaline.systems.families.near import FoldFilling, NearFits
from adaline.systems.families.supervised import LinearRegressor
from adaline.systems.families.weights import split_theta, theta_of
from adaline.wording import counted

RobustLoss = Literal["huber", "absolute", "quantile", "tukey"]
ScaleRule = Literal["mad", "huber"]
RobustStart = Literal["robust", "least_squares"]
THRESHOLDS = {"huber": 1.345, "tukey": 4.685}


@dataclass(frozen=True)
class RobustSettings(FitSettings):
    """The settings that a robust regression is read with."""

    loss: RobustLoss
    quantile: float
    threshold: float | None
    fit_intercept: bool

    @property
    def level(self) -> float:
        """The quantile that is fitted, the median unless it is another; of no meaning for M-estimates."""
        return float(self.quantile) if self.loss == "quantile" else 0.5

    @property
    def reach(self) -> float:
        """Scales beyond which a residual counts less; NaN for quantiles."""
        return THRESHOLDS.get(self.loss, np.nan) if self.threshold is None else float(self.threshold)


@dataclass(frozen=True, kw_only=True, eq=False)
class RobustState(SystemState):
    """What a robust fit has learned.

    Parameters
    ----------
    fitted_with : the loss, and whether there is an intercept.
    coef, intercept : (D,) and a number, or (K, D) and (K,).
    scale : of the residuals, a number or (K,).
    rank, aliased, dependencies : of the columns, as `LinearRegression` says.
    certificate : how good the solution is.
    history, n_iter : the objective after each iteration, one list or one for each target, and their number.
    fits : one for each target, with what inference needs.
    flat : whether the targets were one vector.
    typical : (D,) means of the columns; None of sparse rows.
    like : an empty array where the rows lie, on a device.
    """

    fitted_with: RobustSettings
    coef: Slopes
    intercept: Intercepts
    scale: PerTarget
    rank: Count
    aliased: Annotated[NDArray[np.object_], Strings(".")]
    dependencies: list[str]
    certificate: Certificate
    history: list[float] | list[list[float]]
    n_iter: Count
    fits: tuple[RobustFit, ...]
    flat: bool
    typical: Annotated[Array, Finite("D")] | None
    like: Annotated[Any, NOT_KEPT] = None


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class RobustRegression(NearFits, LinearRegressor):
    """Robust regression: minimises sum_n weight_n rho(y_n - w0 - w'x_n) + penalty/2 ||w||^2, rho growing slowly.

    "huber": half squares up to threshold x scale, straight lines beyond; "tukey": rows beyond threshold x scale count
    nothing; "absolute": |r|, the conditional median; "quantile": quantile x r above, (quantile - 1) x r below. The
    scale is that of the residuals, found together with the weights, so that units do not matter. The absolute and
    quantile losses are linear programs, solved exactly: the plane goes through as many rows as it has coefficients, and
    the certificate's gap comes from the dual. Of streamed rows, "huber" and "tukey" hold nothing in memory, and find
    the scale exactly by passes; "absolute" and "quantile" hold some eight numbers a row, and take up to 2^26 of them.

    Parameters
    ----------
    loss : "huber", "tukey", "absolute" or "quantile"
        What a residual costs.
    threshold : float or None
        In units of the scale; None is 1.345 for huber and 4.685 for tukey, 95 % efficient for normal errors.
    quantile : float
        The share of rows below the plane, for loss="quantile".
    scale : "mad", "huber" or number
        Median of |r| over 0.67449, the upper quartile of a standard normal distribution; Huber's proposal 2 (with
        d = 2.5); or a known one, in the units of y.
    penalty : float
        Ridge penalty on w, for huber and tukey; w0 is free.
    standardize : bool
        Whether the penalty acts on columns of unit standard deviation.
    fit_intercept : bool
        Whether the model has a constant w0.
    init : "robust", "least_squares" or array (1 + D,) or (K, 1 + D)
        Where tukey, which has several minima, starts: "robust" is least trimmed squares on a sample of rows, which
        withstands nearly half of them being outliers, or Huber's estimate where that leads to a smaller scale; or least
        squares, or weights, intercept first. The other losses have one minimum.
    tol : float
        A fit ends when no residual moves by more than this share of the scale, and once more.
    epochs : int
        Most iterations.
    random_state : int, generator or None
        Where the sample of init="robust" is drawn from.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    coef_, intercept_ : the weights. scale_ : of the residuals, zero where the plane goes through more than half of the
    rows, NaN for absolute and quantile. rank_ : of the design. aliased_ : names of the columns
    that are constant or depend on those before them. dependencies_ : how, as text. certificate_ : how good the weights
    are. n_iter_ : iterations. history_ : objective after each. rows_seen_ : number of rows.

    Examples
    --------
    >>> from adaline import LinearRegression, RobustRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.1, 0.9, 2.1, 2.9, 4.1, 50.0]
    >>> print(f"{LinearRegression().fit(X, y).coef_[0]:.2f} {RobustRegression(loss='tukey').fit(X, y).coef_[0]:.2f}")
    7.43 1.00
    >>> proof = RobustRegression(loss="absolute").fit(X, y).certificate_
    >>> bool(proof.gap < 1e-12 * proof.objective)
    True

    References
    ----------
    Lectures S1, S2, S3: robust criteria, "don't hesitate to reconsider the criterion". P. J. Huber, Robust Statistics
    (1981); R. Koenker, Quantile Regression (2005). Two passes an iteration, about ten iterations; quantiles about ten
    passes.
    """

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"loss": "absolute"}, {"loss": "tukey"})
    compared_wide: ClassVar[bool] = False  # every row is fitted exactly, and there are no residuals to weigh
    compared_numbers: ClassVar[int] = 2**22  # of X, that a fit learns from in a comparison: it takes many passes
    used_with: ClassVar[UsedWith] = {
        "quantile": {"loss": OneOf("quantile")},
        **{name: {"loss": OneOf(*THRESHOLDS)} for name in ("threshold", "scale", "init")},
        "standardize": {"penalty": POSITIVE},
    }
    loss: Annotated[RobustLoss, one_of(RobustLoss)] = "huber"
    threshold: Annotated[float | None, AnyOf(NONE, POSITIVE)] = None
    quantile: Annotated[float, Number(above=0, below=1)] = 0.5
    scale: Annotated[float | ScaleRule, AnyOf(one_of(ScaleRule), POSITIVE)] = "mad"
    penalty: Annotated[float, ZERO_OR_MORE] = 0.0
    standardize: Annotated[bool, FLAG] = False
    fit_intercept: Annotated[bool, FLAG] = True
    init: Annotated[RobustStart | Any, AnyOf(one_of(RobustStart), FIRST_WEIGHTS)] = "robust"
    tol: Annotated[float, ZERO_OR_MORE] = 1e-10
    epochs: Annotated[int, COUNT] = 200
    random_state: Annotated[Any, SEED] = 0
    basis: Annotated[Any, BASIS] = None

    learns = RobustState
    _fitted_with = FittedWith(RobustSettings)
    coef_ = FittedAttribute[Array]()
    intercept_ = FittedAttribute[float | Array]()
    scale_ = FittedAttribute[float | Array]()
    rank_ = FittedAttribute[int]()
    aliased_ = FittedAttribute[NDArray[np.object_]]()
    dependencies_ = FittedAttribute[list[str]]()
    certificate_ = FittedAttribute[Certificate]()
    history_ = FittedAttribute[list[Any]]()
    n_iter_ = FittedAttribute[int]()
    _fits = FittedAttribute[tuple[RobustFit, ...]]()
    _flat = FittedAttribute[bool]()
    _typical = FittedAttribute[Array | None]()
    _like = FittedAttribute[Any]()

    @transaction
    def fit(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Fit to rows X (n, D) and targets y (n,) or (n, K), each target separately; weights are frequencies.

        X may be an array, a frame, a SciPy sparse matrix, or a source, such as `open_table` returns.
        """
        return self._fit(X, y, sample_weight, None)

    @property
    def compared_products(self) -> int:
        """Products of columns in a pass of a fit that is compared; Tukey's weights take four times the passes."""
        return 2**26 if self.loss == "tukey" else 2**28

    @transaction
    def _fit_near(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, model: Self) -> Self:
        """Fit as `fit` does, starting from a model of nearly the same rows."""
        return self._fit(X, y, sample_weight, theta_of(model))

    def _fit_folds(
        self,
        X: RowsLike,
        y: TargetsLike,
        sample_weight: WeightsLike,
        fold: NDArray[np.intp],
        shared: dict[Any, Any],
        filled_for: FoldFilling | None = None,
    ) -> FoldFits | None:
        """Return fits to all rows and to all but those of each fold; None where they may end in different minima."""
        convex = self.loss != "tukey"
        return super()._fit_folds(X, y, sample_weight, fold, shared, filled_for) if convex else None

    def _fit(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, near: Array | None) -> Self:
        meter = Meter(X)
        check_parameters(self)
        source, columns = open_rows(self, X, y, sample_weight, reset=True)
        source = in_memory(source) if empty_on_device(source) is None else source
        rows = self._read(source)
        fits, histories = self._fit_targets(rows, near)
        typical = None if source.sparse else rows.spread.mean
        self._state = learned(fits, histories, source, columns, RobustSettings.of(self), typical, meter)
        self._warn()
        return self

    @overload
    def predict(self, X: RowsLike, interval: None = None, level: float = 0.95) -> Array: ...
    @overload
    def predict(self, X: RowsLike, interval: Literal["conformal"], level: float = 0.95) -> Interval: ...
    def predict(
        self, X: RowsLike, interval: Literal["conformal"] | None = None, level: float = 0.95
    ) -> Array | Interval:
        """Return predictions (n,) or (n, K), on the plane; with an interval a named tuple (prediction, lower, upper).

        "conformal" covers a new observation with probability `level`, for any distribution of the rows:
        `adaline.conformal`. Intervals of the plane: `with_errors(None).predict`.
        """
        if interval is not None:
            CONFORMAL_INTERVAL.check("interval", interval)
            from adaline.systems.families.conformal import conformal  # seldom needed

            return conformal(self).predict(X, level)
        return self._values(X)

    @by_blocks
    def _values(self, X: RowsLike) -> Array:
        check_is_fitted(self, "coef_")
        x = read_finite(self, X)
        values: Array = linear_outputs(x, np.atleast_2d(host(self.coef_)), self.intercept_)
        if not is_device(x):
            refuse_overflow(values)
        return like_rows(X, values[:, 0] if self._flat else values)

    def row_weights(self, X: RowsLike, y: TargetsLike) -> Array:
        """Return what each row counts, 0 to 1, for huber and tukey: 1 near the plane, little or nothing far from it.

        These are the weights of the least-squares fit that gives the same plane; of an exact fit, 1 on the plane and 0
        off it.
        """
        settings = self._fitted_with
        if settings.loss not in THRESHOLDS:
            raise InvalidParameter(f"loss={settings.loss!r} has no row weights: use 'huber' or 'tukey'")
        z = host(self.predict(X))
        t = host(read_targets(self, y, len(z)))
        if t.size != z.size:
            raise InvalidData(f"y has shape {t.shape}, the predictions {z.shape}: give the targets of these rows")
        t = t.reshape(z.shape)
        r = np.abs(t - z)
        if not np.isfinite(r).all():
            row = int(np.argwhere(~np.isfinite(r))[0, 0])
            raise InvalidData(f"Input y contains NaN or infinity, or numbers too large to subtract: first at row {row}")
        reach = settings.reach * np.asarray(self.scale_)
        u = np.where(reach > 0, r / reach, np.where(r <= 1e-9 * np.abs(t), 0.0, np.inf))
        near = np.where(u > 1, 1 / u, 1.0) if settings.loss == "huber" else np.where(u < 1, 1 - u**2, 0.0) ** 2
        return like_rows(X, np.asarray(near))

    @spelled_out(RowArguments)
    def summary(
        self,
        level: float = 0.95,
        errors: RobustErrorKind | None = None,
        distribution: StatisticDistribution | None = None,
        **rows: Unpack[RowArguments],
    ) -> RobustSummary:
        """Return coefficients with standard errors, tests and confidence intervals, the scale, and the certificate.

        All are judged by the normal distribution, "smoothed" and "nid" by Student's, as their density is that of few
        rows. Under a penalty there are no standard errors. A note says why where there are none, or where they are
        approximate.

        Parameters
        ----------
        level : float
            Coverage of the intervals.
        errors : None, or "H1" (huber, tukey), or "smoothed", "nid", "iid", "kernel" (absolute, quantile)
            H1 is Huber's covariance, which takes the noise to be the same for all rows. Those of
            `LinearRegression.summary`, HC0 to HC4, "cluster", CR1 to CR3 and "HAC", do not, and take the rows again
            (huber, tukey). For quantiles "smoothed", the default, takes the density of the targets at the plane from
            the residuals within the standard error of the plane at each row (induced smoothing): it allows for errors
            that are wider for some rows than for others, and for quantiles that are no plane. "nid" takes the density
            from the planes of the quantiles next to it (Hendricks and Koenker; R's figures, except in rows where these
            planes nearly meet, which a note counts), "kernel" from the residuals near zero (Powell; R's "ker"). "iid"
            takes the errors to be equally wide everywhere, and their density from the quantiles of the residuals.
        distribution : None, "normal" or "t"
            What judges coefficients; "t" has N - p degrees of freedom, of errors by groups their number less one. None
            is as said above, and "t" of errors by groups.
        X, y, sample_weight, groups, lags
            The rows that were fitted, for robust errors, and what those need: see `LinearRegression.summary`.

        Examples
        --------
        >>> import numpy as np
        >>> from adaline import RobustRegression
        >>> rng = np.random.default_rng(1)
        >>> x = rng.uniform(0, 3, 300)
        >>> y = 1 + x + (0.2 + x) * rng.normal(size=300)
        >>> model = RobustRegression(loss="quantile", quantile=0.9).fit(x[:, None], y)
        >>> for errors in ("smoothed", "nid", "iid"):
        ...     row = model.summary(errors=errors).to_dict()["coefficients"][1]
        ...     print(f"{errors} {row['estimate']:.2f} +- {row['std_error']:.2f}")
        smoothed 2.38 +- 0.20
        nid 2.38 +- 0.18
        iid 2.38 +- 0.12
        """
        LEVEL.check("level", level)
        return self.with_errors(errors, distribution=distribution, **rows).summary(level)

    default_errors: ClassVar[ErrorKind | None] = None  # "smoothed" of quantiles, else "H1"
    with_errors = view.with_errors

    def _judge(self, options: ErrorOptions, rows: RowsAgain) -> JudgedRobust:
        check_is_fitted(self, "coef_")
        rows.refuse_offset(self)
        settings, fits = self._fitted_with, self._fits
        kind, intercept = check_errors(fits[0], options.errors, settings.loss), bool(settings.fit_intercept)
        if kind in SANDWICHES:
            options.needs_rows(rows.X)
            fits = tuple(inference.judge_m_estimates(fits, self._same_rows(rows), self._minimised, options, intercept))
        elif options.groups is not None or options.lags is not None:
            raise InvalidParameter(f"errors={kind!r} take no groups or lags: errors='cluster' and 'HAC' do")
        freedom = min(judging_freedom(fit, kind, options.distribution, intercept) for fit in fits)
        return JudgedRobust(fits, kind, freedom)

    def _minimised(self, scale: float) -> Loss:
        """Return the loss that was minimised, at a scale of the residuals."""
        settings = self._fitted_with
        return (Tukey if settings.loss == "tukey" else Huber)(settings.reach * scale)

    def _same_rows(self, rows: RowsAgain) -> Source:
        """Return rows given again."""
        source = open_rows(self, rows.X, rows.y, rows.sample_weight, reset=False).source
        if source.targets.given != len(self._fits):
            raise InvalidData(f"the model has {counted(len(self._fits), 'target')}, the rows {source.targets.given}")
        return source

    @np.errstate(all="ignore")  # statistics that overflow are shown as they are
    def _summarise(
        self, asked: InferenceView[RobustSummary, HypothesisTest, JudgedRobust], level: float
    ) -> RobustSummary:
        kind, freedom, settings = asked.judged.errors, asked.judged.freedom, self._fitted_with
        fits, missing = asked.judged.fits, left_out(self._fits[0].dependence, columns_of(self))
        targets = [f"y{k}" for k in range(len(fits))]
        of_level = f", quantile={settings.quantile:g}" if settings.loss == "quantile" else ""
        notes = dict.fromkeys(note for fit in fits for note in fit.errors[kind].notes)
        return RobustSummary(
            title=f"RobustRegression(loss={settings.loss!r}{of_level})",
            names=columns_of(self),
            targets=targets,
            parts=[infer_target(fit, kind, level, freedom) for fit in fits],
            level=level,
            rows=self._fits[0].rows,
            weight=self._fits[0].weight,
            certificate=self.certificate_,
            notes=[*notes, *left_out_notes(missing)],
            intercept=bool(settings.fit_intercept),
            errors=kind,
            quantile=None if settings.loss in THRESHOLDS else settings.level,
            left_out=missing,
        )

    @spelled_out(RowArguments)
    def test(
        self,
        hypothesis: HypothesisLike,
        value: Any = 0.0,
        errors: RobustErrorKind | None = None,
        distribution: StatisticDistribution | None = None,
        **rows: Unpack[RowArguments],
    ) -> HypothesisTest:
        """Test linear hypotheses C theta = value by Wald's chi-squared, or F.

        The hypothesis is written as for `LinearRegression.test`; the other arguments are those of `summary`. Where
        t judges coefficients, F on q and as many degrees of freedom judges hypotheses, otherwise chi-squared on q.

        Examples
        --------
        >>> from adaline import RobustRegression, datasets
        >>> data = datasets.load("penguins", target="body_mass_g")
        >>> print(RobustRegression().fit(data.X, data.y).test("x0 = x1"))
        hypothesis: x0 - x1 = 0
        chi² 1.12171 on 1 degree of freedom, p 0.2896 (H1 errors)

        References
        ----------
        P. J. Huber, Robust Statistics (1981), chapter 7; R. Koenker, Quantile Regression (2005), chapter 3.
        """
        return self.with_errors(errors, distribution=distribution, **rows).test(hypothesis, value)

    def _test(
        self,
        asked: InferenceView[RobustSummary, HypothesisTest, JudgedRobust],
        hypothesis: HypothesisLike,
        value: Any,
    ) -> HypothesisTest:
        intercept, flat = bool(self._fitted_with.fit_intercept), self._flat
        return robust_test(asked.judged, columns_of(self), hypothesis, value, intercept=intercept, flat=flat)

    @by_blocks
    def _interval(
        self, X: RowsLike, given: RowsAgain, judged: JudgedRobust, interval: PredictedInterval, level: float
    ) -> Interval:
        given.refuse_offset(self)
        refuse_prediction(interval == "prediction", judged.errors, remedy="")
        x, value = read_finite(self, X), host(self.predict(X))
        half = judged.half_widths(x.toarray() if is_sparse(x) else host(x), level)
        half = half[:, 0] if self._flat else half
        return Interval(value, value - half, value + half)

    def _mean_model(self, judged: JudgedRobust | None = None) -> MeanModel:
        """Return the fit as a function from the design to the means, for `effects`."""
        judged = self.with_errors(None).judged if judged is None else judged
        errors = [fit.errors[judged.errors] for fit in judged.fits]
        if any(np.isnan(one.std_error).all() for one in errors):
            raise InvalidParameter(f"effects need standard errors, and there are none: {errors[0].notes[0]}")
        theta = np.concatenate([fit.dependence.drop(fit.solution.theta) for fit in judged.fits])
        return linear_means(theta, [one.root for one in errors], judged.freedom)

    @property
    def rows_seen_(self) -> int:
        """Number of rows fitted."""
        return self._fits[0].rows

    def _read(self, source: Source) -> RobustRows:
        """Return the rows with what a first read of them shows; of streams where an M-estimate is sought, a sample."""
        if not source.streamed or self.loss not in THRESHOLDS:
            what = f"loss={self.loss!r} is a linear program, which holds some eight numbers a row"
            check_held(
                source, what, "Draw a sample of the rows, or use loss='huber' or 'tukey', which take any number."
            )
            return RobustRows.held(source, column_spread(source))
        sizes, spread, sample = read_first_pass(source, Ranks, LargestTarget(), window=(0, 0))
        if not np.isfinite(sizes.largest):
            source.refuse_nonfinite()
        assert sample is not None
        return RobustRows(source, spread, sample.read_targets(), weights_or_ones(sample), sample, sizes.largest)

    def _fit_targets(self, rows: RobustRows, near: Array | None) -> tuple[tuple[RobustFit, ...], list[list[float]]]:
        """Return the fit of each target, and the objective after each of its iterations."""
        spread, (features, targets) = rows.spread, rows.source.shape
        size = spread.deviation if self.fit_intercept else spread.root
        penalty = RidgePenalty(float(self.penalty), size if self.standardize else np.ones_like(size))
        init, criterion = self._starts(targets, features), self._criterion()
        if near is not None and near.shape == (targets, 1 + features):
            init, criterion = [row[None] for row in near], replace(criterion, near=True)
        with np.errstate(over="ignore"):  # the squares of outliers
            found = [fit_target(rows, k, penalty, criterion, init[k]) for k in range(targets)]
        return tuple(fit for fit, _ in found), [history for _, history in found]

    def _warn(self) -> None:
        if self.certificate_.status is Status.NOT_CONVERGED:
            warn(
                f"RobustRegression did not converge in {self.n_iter_} iterations: {self.certificate_.advice}",
                ConvergenceWarning,
            )
        elif self.dependencies_:
            warn(say_dependent(self.dependencies_), AdalineWarning)

    def _criterion(self) -> RobustCriterion:
        kinds: dict[str, Any] = {"huber": Huber, "tukey": Tukey}
        settings = RobustSettings.of(self)
        return RobustCriterion(
            kinds.get(self.loss),
            settings.reach,
            settings.level,
            self.loss == "absolute",
            self.scale,
            bool(self.fit_intercept),
            float(self.tol),
            int(self.epochs),
            self.random_state,
        )

    def _starts(self, targets: int, features: int) -> list[Any]:
        """Return where each target starts: a word, or weights (1, 1 + D)."""
        if isinstance(self.init, str):
            return [self.init] * targets
        init = np.atleast_2d(np.asarray(self.init, dtype=np.float64))
        if init.shape not in ((1, 1 + features), (targets, 1 + features)) or not np.isfinite(init).all():
            raise InvalidParameter(
                f"init must hold {1 + features} finite numbers a target, intercept first: {init.shape}"
            )
        return [row[None] for row in np.broadcast_to(init, (targets, 1 + features))]

    def _check_together(self) -> None:
        if self.penalty and self.loss not in THRESHOLDS:
            raise InvalidParameter(f"loss={self.loss!r} takes no penalty: use 'huber' or 'tukey', or penalty=0")


def learned(
    fits: tuple[RobustFit, ...],
    histories: list[list[float]],
    source: Source,
    columns: InputColumns,
    settings: RobustSettings,
    typical: Array | None,
    meter: Meter,
) -> RobustState:
    """Return what was learned from the fits, one for each target, and the objective after each of their iterations."""
    flat, like = source.targets.flat, empty_on_device(source)
    coef, intercept = split_theta(np.concatenate([fit.solution.theta for fit in fits]), flat, like)
    scale = np.array([fit.scale for fit in fits])
    known = named([fit.dependence for fit in fits], columns.coefficient_names())
    proof = combine_certificates([fit.solution.certificate for fit in fits])
    certificate = meter.on(without_constants(proof, known.constant), source)
    return RobustState(
        columns=columns,
        fitted_with=settings,
        coef=coef,
        intercept=intercept,
        scale=float(scale[0]) if flat else scale,
        rank=certificate.rank,
        aliased=np.array(known.aliased, dtype=object),
        dependencies=known.combinations,
        certificate=certificate,
        history=histories[0] if flat else histories,
        n_iter=max(len(history) for history in histories),
        fits=fits,
        flat=flat,
        typical=typical,
        like=like,
    )
