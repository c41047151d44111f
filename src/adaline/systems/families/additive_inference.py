"""What an additive model shares with all systems that have standard errors: tests, means, effects and `with_errors`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Unpack

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, HypothesisLike, RowsLike
from adaline.coding.columns import MISSING_LEVEL
from adaline.errors import InvalidParameter
from adaline.fits.additive.design import AdditiveDesign, LearnedGroups, LearnedSmooth, TermPlace, places_of
from adaline.inference import view
from adaline.inference.terms import PenalisedTerm
from adaline.inference.view import ErrorArguments, OffsetErrorArguments
from adaline.input.basis import columns_of
from adaline.input.columns import InputColumns
from adaline.losses import Likelihood
from adaline.parameters import CoefficientInterval, ErrorKind, PredictedInterval
from adaline.solvers.least_squares.dependence import Dependence, independent
from adaline.solvers.smooth.likelihood import FamilyFit
from adaline.systems.families.supervised import LinearRegressor

if TYPE_CHECKING:  # inference is imported by the methods that need it: a fit does not
    from adaline.inference.additive import AdditiveSummary, JudgedAdditive
    from adaline.inference.classical import Interval
    from adaline.inference.covariance import ErrorOptions
    from adaline.inference.effects import MeanModel
    from adaline.inference.hypotheses import HypothesisTest
    from adaline.inference.view import InferenceView, RowsAgain


class LearnedColumns(Protocol):
    """What a fit has learned of its columns."""

    @property
    def columns(self) -> InputColumns:
        """Those of the input."""

    @property
    def design(self) -> AdditiveDesign:
        """Those of the model."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of those that are left out."""


class AdditiveFit:
    """A fit as tests of terms know it: which of its columns depend on others."""

    def __init__(self, dependence: Dependence) -> None:
        self.dependence = dependence


class AdditiveInferred(LinearRegressor):
    """An additive model with the standard errors of the posterior, and what is asked of them."""

    default_errors: ClassVar[ErrorKind | None] = "classical"
    with_errors = view.with_errors

    @abstractmethod
    def _judgement(self, options: ErrorOptions) -> JudgedAdditive:
        """Return the fit with these errors."""

    @abstractmethod
    def _table(self, judged: JudgedAdditive, level: float) -> AdditiveSummary:
        """Return the table of the model."""

    @abstractmethod
    def _interval(
        self, X: RowsLike, given: RowsAgain, judged: JudgedAdditive, interval: PredictedInterval, level: float
    ) -> Interval:
        """Return predictions and their intervals."""

    @abstractmethod
    def _component_rows(self, given: RowsAgain, level: float) -> list[dict[str, Any]]:
        """Return the components of variance with their profile intervals."""

    @abstractmethod
    def _learned(self) -> LearnedColumns:
        """Return what the fit has learned."""

    @abstractmethod
    def _response(self) -> tuple[FamilyFit, Likelihood] | None:
        """Return the fit of the family and its likelihood; None of least squares."""

    @view.spelled_out(OffsetErrorArguments)
    def summary(
        self, level: float = 0.95, interval: CoefficientInterval = "wald", **errors: Unpack[OffsetErrorArguments]
    ) -> AdditiveSummary:
        """Return coefficients, tests of smooths, components of variance and the certificate.

        Coefficients are judged by Student's t with N - edf degrees of freedom; smooths by Wood's test (2013). R^2 is
        the share of the squares that the model explains. Of models with random effects the marginal R^2 is the share
        of the variance that curves and linear columns have, the conditional one that of the random effects too, and
        the ICC that of the random effects beside the errors (Nakagawa and Schielzeth, 2013; Johnson, 2014).

        Parameters
        ----------
        level : float
            Coverage of the intervals.
        distribution : None, "normal" or "t"
            What judges single coefficients; None is t.
        errors : "classical"
            Those of the posterior, phi (X'X + P)^-1; there are no others.
        interval : "wald" or "profile"
            "profile" adds intervals of the components of variance, which their estimates and errors do not give: the
            values where twice the criterion, least over all others, is no more above its minimum than chi-squared with
            one degree of freedom allows. Under "ml" they are those of `confint` of R's lme4; under "reml" the criterion
            is the restricted likelihood. An interval may begin at 0. Coefficients keep their intervals.
        X, y, sample_weight, offset, exposure
            The rows once more, for "profile" of families other than "gaussian".

        Examples
        --------
        >>> import numpy as np
        >>> from adaline import AdditiveModel
        >>> rng = np.random.default_rng(0)
        >>> group = np.repeat(np.arange(10), 6)
        >>> y = rng.normal(size=10)[group] + rng.normal(size=60)
        >>> table = AdditiveModel(terms=["(1 | x0)"]).fit(group[:, None], y).summary(interval="profile")
        >>> row = table.to_dict()["variance_components"][0]
        >>> row["group"], round(row["sd"], 2), round(row["lower"], 2), round(row["upper"], 2)
        ('x0', 0.96, 0.57, 1.74)

        References
        ----------
        D. Bates et al., J. Stat. Software 67 (2015), section 5.1: profiles of components of variance.
        """
        return self.with_errors(**errors).summary(level, interval)

    @view.spelled_out(ErrorArguments)
    def test(
        self, hypothesis: HypothesisLike, value: float | Array = 0.0, **errors: Unpack[ErrorArguments]
    ) -> HypothesisTest:
        """Test linear hypotheses about coefficients without a penalty, or that a term is zero.

        Hypotheses are written as for `LinearRegression.test`, and tested by F. "s(x)" is Wood's test of the curve, as
        in `terms_`; "(1 | g)" that of the variance between groups.

        Examples
        --------
        >>> import numpy as np
        >>> from adaline import AdditiveModel
        >>> x = np.linspace(0, 6, 200)
        >>> y = np.sin(x) + 0.3 * np.cos(50 * x)
        >>> print(AdditiveModel(terms=["s(x0)"]).fit(x[:, None], y).test("s(x0)"))
        hypothesis: s(x0) = 0
        F 263.304 on 8.39639 and 191.568 degrees of freedom, p <0.0001 (classical errors)
        """
        return self.with_errors(**errors).test(hypothesis, value)

    def _judge(self, options: ErrorOptions, rows: RowsAgain) -> JudgedAdditive:
        options.needs_rows(rows.X)
        if options.errors != "classical":
            raise InvalidParameter(
                f"errors must be 'classical' for an additive model, got {options.errors!r}: coefficients with a "
                "penalty have the errors of the posterior"
            )
        return self._judgement(options)

    def _summarise(
        self,
        asked: InferenceView[AdditiveSummary, HypothesisTest, JudgedAdditive],
        level: float,
        interval: CoefficientInterval = "wald",
    ) -> AdditiveSummary:
        table = self._table(asked.judged, level)
        if interval == "wald":
            return table
        rows = self._component_rows(asked.rows, level)
        note = "intervals of components of variance are those of the profile likelihood"
        return replace(table, components=tuple(rows), notes=[*table.notes, note])

    def _test(
        self,
        asked: InferenceView[AdditiveSummary, HypothesisTest, JudgedAdditive],
        hypothesis: HypothesisLike,
        value: Any,
    ) -> HypothesisTest:
        from adaline.inference.hypotheses import read_hypotheses

        intercept = bool(self._fitted_with.fit_intercept)
        return asked.judged.test(read_hypotheses(hypothesis, value, columns_of(self), intercept))

    def _mean_model(self, judged: JudgedAdditive | None = None) -> MeanModel:
        """Return the mean of the population as a function from the design, for `effects`."""
        from adaline.inference.covariance import CLASSICAL
        from adaline.inference.effects import linked_means
        from adaline.inference.family import ratio_of

        found = (self._judgement(CLASSICAL) if judged is None else judged).population()
        response = self._response()
        if response is None:
            return found
        fit, linked = response
        name, link, border = fit.family, fit.link, linked.family.range(linked.link)
        ratio, odds = ratio_of(name, link), link == "logit"
        return replace(found, mean=linked_means(linked), log_odds=odds, link=link, border=border, ratio=ratio)

    @property
    def _fits(self) -> tuple[AdditiveFit, ...]:
        """What tests of terms know of the fit."""
        return (AdditiveFit(independent(self._constant())),)

    def _constant(self) -> NDArray[np.bool_]:
        state = self._learned()
        return np.isin(state.columns.coefficient_names(), state.left_out)

    def _penalised_terms(self) -> list[PenalisedTerm]:
        """Return the curves and groupings, as tests of terms know them."""
        state, out = self._learned(), []
        places = places_of(state.design)
        for label, at in zip(term_labels(places, state.columns), places, strict=True):
            by = at.part.by if isinstance(at.part, LearnedSmooth) else None
            out.append(PenalisedTerm(label, at.start, at.stop, at.part.columns + (() if by is None else (by,))))
        return out

    def _grouping_columns(self) -> frozenset[str]:
        """Return the names of raw columns that group rows, and are nothing else."""
        state = self._learned()
        design, names = state.design, [shown_name(state.columns, j) for j in range(state.columns.count)]
        smooth = {j for one in design.smooths_ for j in (*one.columns, one.by)}
        slopes = {j for one in design.groupings for j in one.slopes}
        grouping = {j for one in design.groupings for j in one.columns} - smooth - slopes - {*design.linear_}
        others = {shown_name(state.columns, j) for j in range(state.columns.count) if j not in grouping}
        return frozenset(names[j] for j in grouping) - others


def term_labels(places: Sequence[TermPlace], columns: InputColumns) -> list[str]:
    """Return the names of curves and groupings, "s(x):g[a]" for the curve of a level."""
    out = []
    for at in places:
        label = at.part.label
        if isinstance(at.part, LearnedSmooth) and at.part.by is not None:
            label += f":{shown_name(columns, at.part.by)}"
            label += "" if at.level is None else f"[{_level(columns, at.part.by, at.level)}]"
        out.append(label)
    return out


def shown_name(columns: InputColumns, j: int) -> str:
    """Return the name of a column of X, of a grouping's that of the category."""
    return columns.given_names()[j].removesuffix("[index]")


def _level(columns: InputColumns, j: int, value: float) -> Any:
    """Return the level of a column of X that a number stands for."""
    name = columns.given_names()[j]
    if columns.coding is not None and name.endswith("[index]"):
        levels = columns.coding.column(name.removesuffix("[index]"), True).levels
        return levels[int(value)] if value < len(levels) else MISSING_LEVEL
    return int(value) if value.is_integer() else value


def level_names(groups: LearnedGroups, columns: InputColumns) -> list[Any]:
    """Return the levels of a grouping, of combinations as "a:b"."""
    if len(groups.columns) == 1:
        return [_level(columns, groups.columns[0], float(value)) for value in groups.levels[:, 0]]
    return [
        ":".join(str(_level(columns, j, float(value))) for j, value in zip(groups.columns, row, strict=True))
        for row in groups.levels
    ]
