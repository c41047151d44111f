"""Regression on ordered classes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import (
    Array,
    HypothesisLike,
    OffsetsLike,
    RowsLike,
    TargetsLike,
    WeightsLike,
    host,
    is_sparse,
    like_rows,
)
from adaline.basis.base import BASIS
from adaline.construction import check_parameters
from adaline.errors import AdalineWarning, ConvergenceWarning, warn
from adaline.estimator import ClassifierMixin
from adaline.fits.ordinal import REMEDIES, OrdinalOptions, fit_ordinal
from adaline.fits.separation import Separation
from adaline.fitted import check_is_fitted
from adaline.forms import Ascending, Count, Finite, LabelsOf, Strings
from adaline.inference import view
from adaline.inference.classical import Interval, quantile
from adaline.inference.covariance import ErrorOptions
from adaline.inference.effects import MeanModel, likelihood_means
from adaline.inference.influence import ClassInfluence, class_influence
from adaline.inference.likelihood import WaldTest
from adaline.inference.ordinal import (
    OrdinalSummary,
    ordinal_means,
    ordinal_test,
    probability_interval,
    summarise_ordinal,
)
from adaline.inference.profile import check_profile, ordinal_profile_ends
from adaline.inference.sandwich import JudgedLikelihoods, judge_likelihoods
from adaline.inference.simulation import ClassAnswers
from adaline.inference.view import InferenceView, OffsetErrorArguments, RowsAgain
from adaline.input import Meter, by_blocks, transaction
from adaline.input.basis import columns_of
from adaline.input.class_weights import ClassifiedRows, in_order, open_classes
from adaline.input.coded import scored
from adaline.input.labels import Labels
from adaline.input.open import open_labelled, read_finite
from adaline.input.system import SystemState
from adaline.losses import Loss, Offset
from adaline.losses.ordinal import CUMULATIVE_LINKS, CumulativeLink, CumulativeLinkName, Ordinal, OrdinalOutputs
from adaline.parameters import (
    COEFFICIENT_INTERVAL,
    FLAG,
    LEVEL,
    NONE,
    ZERO_OR_MORE,
    AnyOf,
    Check,
    CoefficientInterval,
    ErrorKind,
    OneOf,
    PredictedInterval,
)
from adaline.penalties import RidgePenalty
from adaline.results import Certificate, Status, without_constants
from adaline.solvers.least_squares.dependence import named, say_dependent
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.solvers.smooth.ordinal import build_ordinal
from adaline.sources import Source
from adaline.sources.device import empty_on_device
from adaline.sources.views import recoded
from adaline.state import FitSettings, FittedAttribute, FittedWith, read_only
from adaline.systems.families.decisions import label_of_largest
from adaline.systems.families.named import named_system
from adaline.systems.families.near import NearFits
from adaline.systems.families.offsets import add_offset, refuse_other_rows
from adaline.systems.families.supervised import LinearClassifier
from adaline.systems.families.weights import finite_outputs, split_theta


class _Labels(Check):
    """Two or more different labels in a list, or another ordered collection."""

    wanted = "a list of two or more different labels, the lowest first"

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, Collection) or isinstance(value, str | bytes | Mapping | Set):
            return False
        labels = list(value)
        return (
            len(labels) > 1
            and all(isinstance(one, str | int | float | np.generic) for one in labels)
            and (len(set(labels)) == len(labels))
        )


@dataclass(frozen=True)
class OrdinalSettings(FitSettings):
    """The settings that a regression on ordered classes is read with."""

    link: CumulativeLinkName

    @property
    def cumulative(self) -> CumulativeLink:
        """The link, as a function."""
        return CUMULATIVE_LINKS[self.link]


@dataclass(frozen=True, kw_only=True, eq=False)
class OrdinalState(SystemState):
    """What a fit of cumulative probabilities has learned.

    Parameters
    ----------
    fitted_with : the link.
    classes : labels, the lowest first.
    coef : (1, D) slopes. thresholds : (K - 1,), ascending.
    certificate : how good the solution is.
    separation : what separates the classes, or None.
    aliased, dependencies : of the columns, as `LinearRegression` says.
    history, n_iter : the objective after each step, and their number.
    rows_seen : number of rows.
    fits : what inference needs: one fit, of the classes that have rows.
    typical : (D,) means of the columns.
    """

    fitted_with: OrdinalSettings
    classes: Annotated[Labels, LabelsOf("C")]
    coef: Annotated[Array, Finite("1 D")]
    thresholds: Annotated[Array, Ascending(".")]
    certificate: Certificate
    separation: Separation | None
    aliased: Annotated[NDArray[np.object_], Strings(".")]
    dependencies: list[str]
    history: list[float]
    n_iter: Count
    rows_seen: Count
    fits: list[LikelihoodFit]
    typical: Annotated[Array, Finite("D")] | None


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class OrdinalRegression(NearFits, LinearClassifier):
    """Regression on ordered classes: minimises minus the log-likelihood of the labels + penalty/2 ||w||^2.

    P(y <= k) = g(threshold_k - w'x): one line w'x, which K - 1 thresholds cut into K classes. With the logit, a step
    along it multiplies the odds of being above class k by the same number for every k (proportional odds). The
    objective is convex in thresholds and slopes together, and Newton steps keep the thresholds in order. Two classes
    are logistic (or probit, or complementary log-log) regression, with minus the threshold as constant. Where some w'x
    can be cut so that every row lies in its class there is no maximum: `separation_` says so, and the weights under a
    tiny penalty are returned.

    Parameters
    ----------
    link : "logit", "probit" or "cloglog"
        g: the logistic function, the normal distribution function, or 1 - exp(-exp(z)).
    classes : list of labels, or None
        Their order, the lowest first; it may name labels that have no rows. None: the order of the categories where the
        labels are declared as such (pandas, polars enums, `open_table`), else the sorted one.
    penalty : number
        Of the slopes, in the columns' own units; thresholds are free.
    tol : float
        Bounds the distance to the optimum, as a share of minus the log-likelihood of thresholds alone.
    standardize : bool
        Whether the penalty acts on columns of unit standard deviation.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    classes_ : labels, the lowest first.
    coef_ : (1, D) slopes w; larger w'x makes higher classes likelier.
    thresholds_ : (K - 1,), ascending. Those of a class without rows are equal, or infinite at either end.
    intercept_ : minus the thresholds: with the logit, w'x + intercept_[k] are the log odds of the classes above k.
    certificate_ : how good the solution is. n_iter_, history_ : steps, and the objective after each.
    rows_seen_ : number of rows.
    aliased_ : names of the columns that are constant or depend on those before them. dependencies_ : how, as text.
    separation_ : None, or `kind` and `direction` (K - 1, 1 + D) of what separates the classes: -threshold_k and w.

    Examples
    --------
    >>> from adaline import OrdinalRegression
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]]
    >>> y = ["low", "low", "mid", "low", "mid", "high", "mid", "high"]
    >>> model = OrdinalRegression(classes=["low", "mid", "high"]).fit(X, y)
    >>> model.predict([[1.0], [5.0], [9.0]]).tolist()
    ['low', 'mid', 'high']
    >>> model.thresholds_.round(2).tolist(), model.coef_.round(2).tolist()
    ([4.14, 7.91], [[1.2]])

    References
    ----------
    Lecture S2: IRLS, for two classes. P. McCullagh, J. R. Statist. Soc. B 42 (1980), 109-142. The same as polr of R's
    MASS, clm of its ordinal, and OrderedModel of statsmodels. Passes over the rows: 6 to 12.
    """

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({},)
    compared_ordered: ClassVar[bool] = True
    takes_offset: ClassVar[bool] = True
    compared_numbers: ClassVar[int] = 2**24  # of X, that a fit learns from in a comparison
    link: Annotated[CumulativeLinkName, OneOf(*CUMULATIVE_LINKS)] = "logit"
    classes: Annotated[Any, AnyOf(NONE, _Labels())] = None
    penalty: Annotated[float, ZERO_OR_MORE] = 0.0
    tol: Annotated[float, ZERO_OR_MORE] = 1e-10
    standardize: Annotated[bool, FLAG] = False
    basis: Annotated[Any, BASIS] = None

    learns = OrdinalState
    _fitted_with = FittedWith(OrdinalSettings)
    classes_ = FittedAttribute[Labels]()
    coef_ = FittedAttribute[Array]()
    thresholds_ = FittedAttribute[Array]()
    certificate_ = FittedAttribute[Certificate]()
    separation_ = FittedAttribute[Separation | None]()
    aliased_ = FittedAttribute[NDArray[np.object_]]()
    dependencies_ = FittedAttribute[list[str]]()
    history_ = FittedAttribute[list[float]]()
    n_iter_ = FittedAttribute[int]()
    rows_seen_ = FittedAttribute[int]()
    _fits = FittedAttribute[list[LikelihoodFit]]()
    _typical = FittedAttribute[Array | None]()

    @transaction
    def fit(
        self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None, *, offset: OffsetsLike = None
    ) -> Self:
        """Fit to rows X (n, D) and labels y (n,), or to a source; weights are frequencies.

        An offset (n,) is a known part of the output, w'x + offset, which the thresholds cut, as of R's polr.
        """
        self._fit(X, y, sample_weight, None, offset)
        return self

    @transaction
    def _fit_near(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, model: Self) -> Self | None:
        """Fit as `fit` does, starting from a model of nearly the same rows; None where a class has no weight here."""
        return self._fit(X, y, sample_weight, model)

    def _fit(
        self,
        X: RowsLike,
        y: TargetsLike,
        sample_weight: WeightsLike,
        model: Self | None,
        offset: OffsetsLike = None,
    ) -> Self | None:
        meter, settings = Meter(X), OrdinalSettings.of(self)
        check_parameters(self)
        given = open_labelled(self, X, y, sample_weight, reset=True, offset=offset)
        every = open_classes(given, None, type(self).__name__)
        order = list(self.classes) if self.classes is not None else given.order()
        every = every if order is None else in_order(every, order)
        if model is not None and not (every.counts > 0).all():
            return None
        self._warn_of_absent(every)
        if order is None and len(every.classes) > 2 and every.classes.dtype.kind in "UO":
            shown = " < ".join(map(str, every.classes))
            warn(
                f"the labels are taken in the order of the alphabet, {shown}: give classes=[...], the lowest first, or "
                "declare them as ordered categories",
                AdalineWarning,
            )
        rows = every.with_rows()
        unit = rows.spread.deviation if self.standardize else np.ones(len(rows.spread.mean))
        penalty = RidgePenalty(float(self.penalty), unit)
        ends = len(rows.counts) - 1
        rarest = float(rows.counts[1:-1].min(initial=np.inf))
        known = (rows.spread, rows.sample, rows.lightest)
        problem = build_ordinal(rows.source, settings.cumulative, ends, rarest, penalty, *known)
        near = model._fits[0] if model is not None and _is_near(model, every, problem.features) else None
        found = fit_ordinal(problem, rows.counts, OrdinalOptions(penalty, float(self.tol), near))
        theta = found.fit.solution.theta
        columns = named([found.fit.dependence], given.columns.coefficient_names())
        proof = without_constants(found.fit.solution.certificate, columns.constant)
        self._state = OrdinalState(
            columns=given.columns,
            fitted_with=settings,
            classes=every.classes,
            coef=split_theta(theta[:1], False, empty_on_device(every.source))[0],
            thresholds=_with_absent(-theta[:, 0], every.counts),
            certificate=meter.on(proof, every.source),
            separation=found.separation,
            aliased=np.array(columns.aliased, dtype=object),
            dependencies=columns.combinations,
            history=found.history,
            n_iter=len(found.history),
            rows_seen=every.source.n_rows,
            fits=[found.fit],
            typical=every.spread.mean,
        )
        self._warn()
        return self

    @property
    def intercept_(self) -> Array:
        """Minus the thresholds, (K - 1,): the constants of the machines that tell higher classes from lower ones."""
        return read_only(np.asarray(-self.thresholds_))

    @by_blocks
    def latent(self, X: RowsLike, offset: OffsetsLike = None) -> Array:
        """Return w'x of each row, (n,), which the thresholds cut into classes; with the offset where there is one."""
        check_is_fitted(self, "classes_")
        z = host(finite_outputs(read_finite(self, X), self.coef_, np.zeros(1)))
        return like_rows(X, add_offset(z, self, X, offset, fitted_so=self._with_offset)[:, 0])

    @by_blocks
    def decision_function(self, X: RowsLike, offset: OffsetsLike = None) -> Array:
        """Return (n,) for two classes, where classes_[1] is predicted if it is above zero; else P, (n, K)."""
        check_is_fitted(self, "classes_")
        if len(self.classes_) == 2:
            middle = self._fitted_with.cumulative.link.quantile(np.array(0.5))
            return like_rows(X, np.asarray(host(self.latent(X, offset)) - self.thresholds_[0] + middle))
        return self.predict_proba(X, offset)

    @by_blocks
    def predict_proba(self, X: RowsLike, offset: OffsetsLike = None) -> Array:
        """Return the probability of each class, (n, K)."""
        return like_rows(X, np.asarray(np.exp(host(self.predict_log_proba(X, offset)))))

    @by_blocks
    def predict_log_proba(self, X: RowsLike, offset: OffsetsLike = None) -> Array:
        """Return the logarithms of the probabilities, (n, K)."""
        z = host(self.latent(X, offset))
        return like_rows(X, Ordinal(self._fitted_with.cumulative, host(self.thresholds_)).log_probabilities(z))

    @overload
    def predict(
        self, X: RowsLike, interval: None = None, level: float = 0.95, offset: OffsetsLike = None
    ) -> Labels: ...
    @overload
    def predict(
        self, X: RowsLike, interval: Literal["confidence"], level: float = 0.95, offset: OffsetsLike = None
    ) -> Interval: ...
    def predict(
        self,
        X: RowsLike,
        interval: Literal["confidence"] | None = None,
        level: float = 0.95,
        offset: OffsetsLike = None,
    ) -> Labels | Interval:
        """Return the most probable label of each row; with interval="confidence" probabilities and their intervals.

        These are a named tuple (prediction, lower, upper), each (n, K): intervals of the log odds of each class, by the
        delta method, brought to probabilities. A model fitted with an offset needs that of these rows.
        """
        if interval is None:
            return label_of_largest(self.decision_function(X, offset), self.classes_)
        OneOf("confidence").check("interval", interval)
        return self._mean_interval(X, level, offset=offset)

    @by_blocks
    def _mean_interval(
        self, X: RowsLike, level: float, judged: JudgedLikelihoods | None = None, offset: OffsetsLike = None
    ) -> Interval:
        check_is_fitted(self, "classes_")
        x = read_finite(self, X)
        known = add_offset(np.zeros((x.shape[0], 1)), self, X, offset, fitted_so=self._with_offset)
        x, link = x.toarray() if is_sparse(x) else host(x), self._fitted_with.cumulative
        if judged is None:
            return probability_interval(self._fits[0], link, x, level, known=known)
        return probability_interval(judged.at_all_columns()[0], link, x, level, judged.freedom, known)

    def _interval(
        self, X: RowsLike, given: RowsAgain, judged: JudgedLikelihoods, interval: PredictedInterval, level: float
    ) -> Interval:
        given.refuse_exposure(self)
        OneOf("confidence").check("interval", interval)
        return self._mean_interval(X, level, judged, given.offset)

    @np.errstate(all="ignore")  # statistics that overflow are shown as they are
    @view.spelled_out(OffsetErrorArguments)
    def summary(
        self,
        level: float = 0.95,
        interval: CoefficientInterval = "wald",
        **errors: Unpack[OffsetErrorArguments],
    ) -> OrdinalSummary:
        """Return slopes and thresholds with standard errors, z, p and intervals, and how well the model fits.

        With the logit, exp(w) is the odds ratio: by what the odds of "above class k" are multiplied when a column grows
        by one, whichever k. Standard errors are from the inverse of the observed information; with a penalty they are
        posterior ones; robust ones, and the other arguments, are those of `LogisticRegression.summary`. In
        `to_dict()["coefficients"]` thresholds come last, named "low | mid" after the classes that they are between.

        Examples
        --------
        >>> from adaline import OrdinalRegression
        >>> model = OrdinalRegression().fit([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 1, 0, 2, 1, 2])
        >>> [row["name"] for row in model.summary().to_dict()["coefficients"]]
        ['x0', '0 | 1', '1 | 2']
        """
        LEVEL.check("level", level)
        COEFFICIENT_INTERVAL.check("interval", interval)
        return self.with_errors(**errors).summary(level, interval)

    @view.spelled_out(OffsetErrorArguments)
    def test(
        self,
        hypothesis: HypothesisLike,
        value: Any = 0.0,
        **errors: Unpack[OffsetErrorArguments],
    ) -> WaldTest:
        """Test linear hypotheses about the slopes by Wald's chi-squared, written as for `LinearRegression.test`.

        The other arguments are those of `summary`; distribution="t" takes F. Nested models are compared by `anova`.

        Examples
        --------
        >>> from adaline import OrdinalRegression
        >>> model = OrdinalRegression().fit([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 1, 0, 2, 1, 2])
        >>> round(model.test("x0 = 0").p_value, 3)
        0.11
        """
        return self.with_errors(**errors).test(hypothesis, value)

    default_errors: ClassVar[ErrorKind | None] = "classical"
    with_errors = view.with_errors

    def _judge(self, options: ErrorOptions, rows: RowsAgain) -> JudgedLikelihoods:
        check_is_fitted(self, "classes_")
        rows.refuse_exposure(self)
        sources = self._same_rows(*rows) if options.needs_rows(rows.X) else None
        return judge_likelihoods(self._fits, [self._outputs_loss()], sources, options)

    @np.errstate(all="ignore")  # statistics that overflow are shown as they are
    def _summarise(
        self,
        asked: InferenceView[OrdinalSummary, WaldTest, JudgedLikelihoods],
        level: float,
        interval: CoefficientInterval = "wald",
    ) -> OrdinalSummary:
        judged, ends = asked.judged, None
        if interval == "profile":
            check_profile(asked.options, asked.rows.X)
            rows, reach = self._same_rows(*asked.rows)[0], quantile(judged.freedom, level)
            ends = ordinal_profile_ends(judged.fits[0], self._fitted_with.cumulative, rows, reach)
        return summarise_ordinal(
            judged.fits[0],
            columns_of(self),
            self._fitted_classes(),
            title=f"{type(self).__name__}, {self._fitted_with.link}",
            odds=self._fitted_with.link == "logit",
            level=level,
            separated=self.separation_ is not None,
            certificate=self.certificate_,
            errors=asked.options.errors,
            described=judged.describe(),
            freedom=judged.freedom,
            ends=ends,
        )

    def _test(
        self,
        asked: InferenceView[OrdinalSummary, WaldTest, JudgedLikelihoods],
        hypothesis: HypothesisLike,
        value: Any,
    ) -> WaldTest:
        fit, errors, freedom = asked.judged.fits[0], asked.options.errors, asked.judged.freedom
        return ordinal_test(fit, hypothesis, value, columns_of(self), errors, freedom)

    @np.errstate(all="ignore")
    def influence(
        self,
        X: RowsLike,
        y: TargetsLike = None,
        sample_weight: WeightsLike = None,
        offset: OffsetsLike = None,
    ) -> ClassInfluence:
        """Return what each row does to the fit: leverage, residuals, Cook's distance and DFBETAS.

        They are those of `LogisticRegression.influence` with K > 2 classes: of one Newton step without the row. DFBETAS
        are (n, D + K - 1), slopes first, then thresholds. Rows are given again; others are refused.

        Examples
        --------
        >>> from adaline import OrdinalRegression
        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 1, 0, 2, 1, 2]
        >>> OrdinalRegression().fit(X, y).influence(X, y).leverage.round(2).tolist()
        [0.4, 0.83, 0.27, 0.27, 0.83, 0.4]
        """
        check_is_fitted(self, "classes_")
        fit, thresholds = self._fits[0], len(self._fits[0].solution.theta)
        side = fit.solution.theta.shape[1]
        own = np.zeros((side - 1 + thresholds, thresholds, side))  # slopes are those of any machine
        own[np.arange(side - 1), 0, np.arange(1, side)] = 1.0
        own[side - 1 + np.arange(thresholds), np.arange(thresholds), 0] = -1.0
        return class_influence(fit, self._outputs_loss(), self._same_rows(X, y, sample_weight, offset)[0], own)

    def _outputs_loss(self) -> Loss:
        """Return the loss of a row as a function of w'x - threshold_k, for inference."""
        thresholds = -self._fits[0].without_dependent().solution.theta[:, 0]
        loss = OrdinalOutputs(Ordinal(self._fitted_with.cumulative, thresholds))
        return Offset(loss) if self._with_offset else loss

    @property
    def _with_offset(self) -> bool:
        """Whether the model was fitted with an offset."""
        return self._fits[0].offset

    def _same_rows(
        self,
        X: RowsLike,
        y: TargetsLike,
        sample_weight: WeightsLike,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
    ) -> list[Source]:
        """Return rows given again as they were fitted: the index of a class is that among those with rows."""
        RowsAgain(X, y, sample_weight, offset, exposure).refuse_exposure(self)
        ascending = np.argsort(self.classes_)
        source = open_labelled(self, X, y, sample_weight, reset=False, offset=offset).encoded(self.classes_[ascending])
        refuse_other_rows(self, source)
        present = np.isin(self.classes_, self._fitted_classes())
        index = np.where(present, np.cumsum(present) - 1.0, 0.0)[ascending]
        return [recoded(source, index[:, None], present[ascending].astype(np.float64))]

    def score(
        self,
        X: RowsLike,
        y: TargetsLike = None,
        sample_weight: WeightsLike = None,
        offset: OffsetsLike = None,
    ) -> float:
        """Return the share of labels predicted for rows X (n, D) and y, or for a source."""
        return scored(self, ClassifierMixin.score, X, y, sample_weight, offset=offset)

    def _mean_model(self, judged: JudgedLikelihoods | None = None) -> MeanModel:
        """Return the fit as a function from the design to the probabilities, for `effects`."""
        check_is_fitted(self, "classes_")
        means = ordinal_means(self._fitted_with.cumulative.link)
        odds = self._fitted_with.link == "logit"
        found = likelihood_means(self._fits, means, self._fitted_classes(), odds, judged)
        return replace(found, answers=ClassAnswers(np.asarray(self._fitted_classes())))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on classes that have no order
        return tags

    def _warn_of_absent(self, rows: ClassifiedRows) -> None:
        absent = rows.classes[rows.counts == 0]
        if len(absent):
            warn(f"no row of class {absent[0]!s} has a weight: its probability is zero everywhere", AdalineWarning)

    def _warn(self) -> None:
        if self.separation_ is not None:
            warn(self.separation_.warning(columns_of(self), REMEDIES), AdalineWarning)
        elif self.certificate_.status is Status.NOT_CONVERGED:
            warn(f"not converged: {self.certificate_.advice}", ConvergenceWarning)
        elif self.dependencies_:
            warn(say_dependent(self.dependencies_), AdalineWarning)

    def _fitted_classes(self) -> list[Any]:
        """Return the labels of the classes that have rows."""
        ends = np.concatenate([[-np.inf], host(self.thresholds_), [np.inf]])
        return list(self.classes_[ends[1:] > ends[:-1]].tolist())


def _with_absent(thresholds: Array, counts: Array) -> Array:
    """Return the thresholds (K - 1,) of all classes, of which those of weight zero are given no room."""
    ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
    return ends[np.cumsum(counts > 0)[:-1]]


def _is_near(model: OrdinalRegression, rows: ClassifiedRows, features: int) -> bool:
    """Whether a fit can start from a model: of the same classes, and with a maximum that is unique."""
    return (
        model.separation_ is None
        and not model.dependencies_
        and np.array_equal(model.classes_, rows.classes)
        and model._fits[0].solution.theta.shape == (len(rows.classes) - 1, 1 + features)
    )
