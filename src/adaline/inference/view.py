"""A fitted model together with the standard errors that its tables, tests, effects and intervals use.

A model keeps sums, not rows, so that robust errors need the rows again. `with_errors` reads them once, and `summary`,
`test`, `effects` and `predict` of the view that it returns share one covariance.

A system takes part with the methods that `Inferred` lists, and with `with_errors = view.with_errors` in its class. Its
own `summary` and `test` are short forms for one question: they take the arguments of `with_errors` as `**errors`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypedDict, TypeVar

from adaline import inference
from adaline.arrays import (
    AnyArray,
    Array,
    GroupsLike,
    HypothesisLike,
    LabelsLike,
    OffsetsLike,
    RowsLike,
    TargetsLike,
    WeightsLike,
)
from adaline.errors import InvalidParameter, SumsMissing
from adaline.fitted import AnyModel
from adaline.parameters import (
    COEFFICIENT_INTERVAL,
    LEVEL,
    CoefficientInterval,
    ErrorKind,
    OneOf,
    PredictedInterval,
    RobustErrorKind,
    StatisticDistribution,
)

if TYPE_CHECKING:  # what answers the questions is imported when one is asked
    from adaline.inference.classical import Interval
    from adaline.inference.covariance import ErrorOptions
    from adaline.inference.effects import Effects, EffectsAt, MeanModel
    from adaline.inference.means import Means
    from adaline.inference.simulation import CoefficientDraws, RandomState
    from adaline.inference.summary import CoefficientTable
    from adaline.inference.term_tests import TermTests, TestType

TableT = TypeVar("TableT", bound="CoefficientTable")
TestT = TypeVar("TestT")
JudgedT = TypeVar("JudgedT")
MethodT = TypeVar("MethodT", bound=Callable[..., Any])


CHOSEN = (
    "chosen from {candidates} candidates by its errors on these rows: standard errors, p values and intervals take the "
    "choice as given and are too small; adaline.bootstrap(chosen, X, y) of what select returned repeats the choice, or "
    "choose on some of the rows and fit the others"
)


class RowsAgain(NamedTuple):
    """The rows that were fitted, given again as `fit` takes them; all None where none are given."""

    X: RowsLike = None
    y: TargetsLike = None
    sample_weight: WeightsLike = None
    offset: OffsetsLike = None
    exposure: OffsetsLike = None

    def refuse_offset(self, model: AnyModel) -> None:
        """Refuse an offset that the model could not have been fitted with."""
        if self.offset is not None or self.exposure is not None:
            raise InvalidParameter(f"{type(model).__name__} takes no offset or exposure: GeneralizedLinear does")

    def refuse_exposure(self, model: AnyModel) -> None:
        """Refuse an exposure, of which no log odds are in proportion."""
        if self.exposure is not None:
            raise InvalidParameter(f"{type(model).__name__} takes no exposure, which is of counts: give offset=")


class ErrorArguments(TypedDict, total=False):
    """The arguments of `summary` and `test` that say which standard errors, and give the rows again for robust ones."""

    errors: ErrorKind | None
    X: RowsLike
    y: TargetsLike
    sample_weight: WeightsLike
    groups: GroupsLike
    lags: int | None
    distribution: StatisticDistribution | None


class RowArguments(TypedDict, total=False):
    """The rows again and what robust errors need besides, where errors and distribution are arguments of their own."""

    X: RowsLike
    y: TargetsLike
    sample_weight: WeightsLike
    groups: GroupsLike
    lags: int | None


class OffsetErrorArguments(ErrorArguments, total=False):
    """The same of a model that is fitted with an offset."""

    offset: OffsetsLike
    exposure: OffsetsLike


class Inferred(Protocol[TableT, TestT, JudgedT]):
    """The methods of a system that its view calls; `_summarise` and `_test` may take more arguments."""

    default_errors: ClassVar[ErrorKind | None]
    """The standard errors where none are named; None where they depend on the fit."""

    def _judge(self, options: ErrorOptions, rows: RowsAgain) -> JudgedT:
        """Return the fits with these errors; read the rows where the errors need them."""

    def _summarise(self, view: InferenceView[TableT, TestT, JudgedT], level: float) -> TableT:
        """Return the table of coefficients."""

    def _test(self, view: InferenceView[TableT, TestT, JudgedT], hypothesis: HypothesisLike, value: Any) -> TestT:
        """Return the test of linear hypotheses."""

    def _mean_model(self, judged: JudgedT | None = None) -> MeanModel:
        """Return the fit as a function from the design to the mean."""

    def _interval(
        self, X: RowsLike, given: RowsAgain, judged: JudgedT, interval: PredictedInterval, level: float
    ) -> Interval:
        """Return predictions and their intervals."""


@dataclass(frozen=True, repr=False)
class InferenceView(Generic[TableT, TestT, JudgedT]):
    """What `with_errors` returns: a model, as it was then, whose questions are all answered with the same errors.

    Parameters
    ----------
    model : the fitted system; what it learns later changes nothing here.
    options : which standard errors.
    rows : the rows that were given again.
    judged : the fits with these errors.
    """

    model: AnyModel
    options: ErrorOptions
    rows: RowsAgain
    judged: JudgedT

    def summary(
        self, level: float = 0.95, interval: CoefficientInterval = "wald", reference: LabelsLike = None
    ) -> TableT:
        """Return what `summary` of the model returns, with these errors.

        `interval` is of likelihoods, and "profile" needs the rows; `reference` is of LogisticRegression.
        """
        LEVEL.check("level", level)
        COEFFICIENT_INTERVAL.check("interval", interval)
        given = {"interval": None if interval == "wald" else interval, "reference": reference}
        found: TableT = self.model._summarise(self, level, **self._taken("summary", given))
        if self.model._state.chosen_from > 1:
            found.notes.append(CHOSEN.format(candidates=self.model._state.chosen_from))
        return found

    def test(
        self, hypothesis: HypothesisLike, value: Any = 0.0, target: LabelsLike = None, reference: LabelsLike = None
    ) -> TestT:
        """Return what `test` of the model returns, with these errors; `target`, `reference`: of LogisticRegression."""
        given = {"target": target, "reference": reference}
        named = inference.columns_named(self.model, hypothesis)
        found: TestT = self.model._test(self, named, value, **self._taken("test", given))
        return found

    def means(
        self,
        data: RowsLike = None,
        by: str | Sequence[str] | None = None,
        sample_weight: WeightsLike = None,
        **options: Any,
    ) -> Means:
        """Return what `adaline.means` of the model returns, with these errors; `options` are its other arguments.

        Without data the rows are those that were given again, with their weights.
        """
        if data is None:
            data = self.rows.X
            sample_weight = self.rows.sample_weight if sample_weight is None else sample_weight
        known, asked = self.model._mean_model(self.judged), inference.MeansAsked(by, **options)
        return inference.means_with(known, self.model, data, sample_weight, asked)

    def anova(self, type: TestType = 2) -> TermTests:
        """Return the tests of the terms of the model, as `adaline.anova` does, by Wald's statistic with these errors.

        Examples
        --------
        >>> from adaline import LinearRegression, datasets
        >>> data = datasets.load("penguins", target="body_mass_g")
        >>> model = LinearRegression().fit(data.X, data.y)
        >>> row = model.with_errors("HC3", data.X, data.y).anova().to_dict()["terms"][2]
        >>> row["term"], row["df"], round(row["F"], 2)
        ('x2', 1, 451.11)
        """
        inference.check_type(type)
        inference.check_testable(self.model, "anova")
        return inference.terms_tested(self, type)

    def drop1(self) -> TermTests:
        """Return the tests of the terms that no other contains, as `adaline.drop1` does, with these errors."""
        inference.check_testable(self.model, "drop1")
        return inference.dropped_terms(self)

    def draws(self, draws: int = 1000, random_state: RandomState = 0) -> Array:
        """Return draws of the coefficients, (draws, 1 + D), intercept first, of several outputs (draws, K, 1 + D).

        They come from the normal distribution about the estimate with the covariance of these errors. Of a column that
        was left out they are zero.

        Examples
        --------
        >>> from adaline import LinearRegression, datasets
        >>> data = datasets.load("penguins", target="body_mass_g")
        >>> model = LinearRegression().fit(data.X[:, :2], data.y)
        >>> found = model.with_errors("HC3", data.X[:, :2], data.y).draws(4000)
        >>> ratio = found[:, 1] / found[:, 2]
        >>> ratio.shape
        (4000,)
        """
        return inference.coefficient_draws(self.model._mean_model(self.judged), draws, random_state)

    def simulate(
        self,
        X: RowsLike,
        draws: int = 1000,
        coefficients: CoefficientDraws = "drawn",
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
        random_state: RandomState = 0,
    ) -> AnyArray:
        """Return what `adaline.simulate` of the model returns, coefficients drawn by these errors."""
        known = self.model._mean_model(self.judged)
        return inference.simulated(known, self.model, X, draws, coefficients, offset, exposure, random_state)

    def effects(
        self,
        X: RowsLike = None,
        at: EffectsAt = "average",
        columns: Sequence[str] | None = None,
        level: float = 0.95,
        sample_weight: WeightsLike = None,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
        pairwise: bool = False,
    ) -> Effects:
        """Return what `adaline.effects` of the model returns, with these errors.

        Without X the effects are taken at the rows that were given again, with their weights and offsets.
        """
        if X is None:
            rows, own = self.rows, (sample_weight, offset, exposure)
            if rows.X is None:
                raise SumsMissing("effects are taken at rows: give X, to effects or to with_errors")
            given = (rows.sample_weight, rows.offset, rows.exposure)
            X = rows.X
            sample_weight, offset, exposure = (a if b is None else b for a, b in zip(given, own, strict=True))
        known = self.model._mean_model(self.judged)
        return inference.effects_with(
            known, self.model, X, at, columns, level, sample_weight, offset, exposure, pairwise
        )

    def predict(
        self,
        X: RowsLike,
        interval: PredictedInterval = "confidence",
        level: float = 0.95,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
    ) -> Interval:
        """Return predictions with intervals by these errors, a named tuple (prediction, lower, upper).

        "confidence" covers the mean, or the probability of a class. "prediction" covers a new observation, whose
        distribution classical errors alone know; it is refused with others.
        """
        OneOf("confidence", "prediction").check("interval", interval)
        LEVEL.check("level", level)
        given = RowsAgain(offset=offset, exposure=exposure)
        found: Interval = self.model._interval(X, given, self.judged, interval, level)
        return found

    def __repr__(self) -> str:
        by = "" if self.options.distribution is None else f", distribution={self.options.distribution!r}"
        return f"<{type(self.model).__name__} with errors={self.options.errors!r}{by}>"

    def _taken(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments that were given; refuse those that this method of the model does not take."""
        given = {name: value for name, value in given.items() if value is not None}
        known = signature(getattr(type(self.model), method)).parameters
        unknown = [name for name in given if name not in known]
        if unknown:
            raise InvalidParameter(f"{method} of {type(self.model).__name__} takes no {unknown[0]}")
        return given


def with_errors(
    self: Inferred[TableT, TestT, JudgedT],
    errors: ErrorKind | RobustErrorKind | None = None,
    X: RowsLike = None,
    y: TargetsLike = None,
    sample_weight: WeightsLike = None,
    *,
    groups: GroupsLike = None,
    lags: int | None = None,
    distribution: StatisticDistribution | None = None,
    offset: OffsetsLike = None,
    exposure: OffsetsLike = None,
) -> InferenceView[TableT, TestT, JudgedT]:
    """Return the model with these standard errors: `summary`, `test`, `effects` and `predict` of it all use them.

    Robust errors need the rows that were fitted. They are read once, here, however many questions follow; `effects` is
    taken at them where it is given no others. `summary(errors=..., X=..., ...)` is the short form for one question.

    Parameters
    ----------
    errors, groups, lags, distribution
        As for `summary` of the model; errors=None are those that it shows by default.
    X, y, sample_weight, offset, exposure
        The rows that were fitted, for robust errors and profile intervals. Other rows are refused.

    Examples
    --------
    >>> from adaline import LinearRegression, datasets
    >>> data = datasets.load("penguins", target="body_mass_g")
    >>> islands = datasets.load("penguins", target="island").y
    >>> model = LinearRegression().fit(data.X, data.y)
    >>> clustered = model.with_errors("cluster", data.X, data.y, groups=islands)
    >>> print(clustered.test("x1 = 0"))
    hypothesis: x1 = 0
    F 0.0159169 on 1 and 2 degrees of freedom, p 0.9111 (cluster errors)
    >>> prediction, lower, upper = clustered.predict(data.X[:1])
    >>> print(f"{prediction[0]:.0f}, from {lower[0]:.0f} to {upper[0]:.0f}")
    3205, from 1398 to 5012

    References
    ----------
    A. Zeileis, J. Statistical Software 16 (2006), 9: covariances as objects that tests and tables take.
    """
    kind: Any = self.default_errors if errors is None else errors  # which of them there are is for the model to say
    options = inference.ErrorOptions(kind, groups, lags, distribution)
    rows = RowsAgain(X, y, sample_weight, offset, exposure)
    return InferenceView(self, options, rows, self._judge(options, rows))  # a copy: public methods read one


def spelled_out(arguments: type[ErrorArguments] | type[RowArguments]) -> Callable[[MethodT], MethodT]:
    """Show the arguments that a method takes as `**errors` one by one, in `help` and where editors ask for them."""
    defaults = dict.fromkeys(arguments.__annotations__) | {"errors": "classical"}
    more = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=defaults[name], annotation=hint.__forward_arg__)
        for name, hint in arguments.__annotations__.items()
    ]

    def shown(method: MethodT) -> MethodT:
        own = signature(method)
        first = [one for one in own.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        method.__signature__ = own.replace(parameters=[*first, *more])  # type: ignore[attr-defined]
        return method

    return shown
