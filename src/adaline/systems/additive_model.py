"""Additive models: smooth curves and random effects, chosen by the restricted likelihood from second moments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self, overload

import numpy as np
import scipy

from adaline.arrays import (
    Array,
    OffsetsLike,
    RowsLike,
    TargetsLike,
    WeightsLike,
    as_dense,
    host,
    is_sparse,
    like_rows,
)
from adaline.coding import Coding
from adaline.coding.additive import AdditiveTerm, SmoothTerm, argument_terms, read_terms, without_backquotes
from adaline.construction import check_parameters
from adaline.errors import AdalineWarning, ConvergenceWarning, InvalidData, InvalidParameter, SumsMissing, warn
from adaline.estimator import available_if
from adaline.fits.additive.additive_sums import AdditiveSums, UnknownGroups, sums_of
from adaline.fits.additive.criteria import Criterion
from adaline.fits.additive.design import (
    AdditiveDesign,
    LearnedGroups,
    LearnedSmooth,
    TermPlace,
    learn_design,
    places_of,
)
from adaline.fits.additive.families import FamilyRows, FamilySolution, solve_family
from adaline.fits.additive.grouped_moments import GroupedMoments
from adaline.fits.additive.problem import (
    AdditiveProblem,
    AdditiveSolution,
    GroupedEffects,
    GroupedSolution,
    solve_additive,
    solve_grouped,
    variance_parts,
)
from adaline.fits.additive.profile import NOT_FOUND, Profile
from adaline.fitted import check_is_fitted
from adaline.forms import Count, Finite, FiniteNumber, Range
from adaline.inference.sample import WeightKind, count
from adaline.inference.smooth_terms import TermTest, effects_test, smooth_test
from adaline.input import Meter, by_blocks, continuation, transaction
from adaline.input.basis import rows_through_basis
from adaline.input.columns import InputColumns
from adaline.input.drafts import continued, snapshot
from adaline.input.open import open_rows, read_rows, refuse_nonfinite, refuse_overflow
from adaline.input.system import SystemState, check_same_columns
from adaline.links import LINK, Link, LinkName
from adaline.losses import FAMILIES, Likelihood, Loss, Squared, loss_of
from adaline.losses.families import Binomial, Family
from adaline.losses.registry import LOSS, LossName
from adaline.parameters import FLAG, LEVEL, NONE, POSITIVE, AnyOf, Check, PredictedInterval, one_of
from adaline.results import Certificate, Status, some
from adaline.solvers.least_squares.choose import read_moments
from adaline.solvers.least_squares.fit import certificate
from adaline.solvers.smooth.likelihood import FamilyFit
from adaline.sources import Source, is_table
from adaline.sources.threads import blas_threads_for
from adaline.state import FitSettings, FittedAttribute, FittedWith
from adaline.sums import JointSum, Moments
from adaline.systems.families.additive_inference import AdditiveInferred, level_names, term_labels
from adaline.systems.families.any_loss import PosedRows, mean_of, posed, score_means
from adaline.systems.families.closed_form import refuse_few_digits, without
from adaline.systems.families.named import named_system
from adaline.systems.families.offsets import add_offset, refuse_exposure
from adaline.wording import counted

if TYPE_CHECKING:  # inference is imported by the methods that need it: a fit does not
    from adaline.inference.additive import AdditiveSummary, JudgedAdditive
    from adaline.inference.classical import Interval
    from adaline.inference.covariance import ErrorOptions
    from adaline.inference.view import RowsAgain

AdditiveInterval = Literal["confidence", "prediction"]
CURVED = 10  # distinct values of a column from which it has a curve where no terms are given; mgcv's k needs as many
NO_ERRORS = "the fit is exact to rounding: no standard errors and tests, as the residuals measure no error"
ROUNDING_DIGITS = 15.0  # of float64, less what sums and factors lose


class TermTexts(Check):
    """Texts of smooths and random effects."""

    wanted = "a list of texts such as 's(x)', 'te(x, z)' or '(1 | group)'"

    def accepts(self, value: object) -> bool:
        listed = isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
        return listed and not self.reason(value)

    def reason(self, value: object) -> str:
        try:
            read_terms(list(value))  # type: ignore[call-overload]
        except (InvalidParameter, TypeError, AttributeError) as error:
            return str(error)
        return ""


class TermFit(NamedTuple):
    """A smooth, or the effects of a grouping: its degrees of freedom, and the test that it is zero."""

    term: str
    edf: FiniteNumber
    reference_df: float
    statistic: float
    p_value: float


class VarianceComponent(NamedTuple):
    """A standard deviation of effects between groups, or the correlation of two of them."""

    group: str
    name: str | None
    name2: str | None
    sd: float | None
    correlation: float | None


class AdditiveTotals(NamedTuple):
    """Numbers of a fit: what was minimised, degrees of freedom, sizes, sums of squares.

    score : the criterion.
    edf : effective degrees of freedom of the model, the intercept included.
    observations, weight, rows : N, the sum of the weights, and the number of rows.
    squares, residual : sums of squares of the target, and of what is left of it; of a family deviances.
    information : of the constant: the sum of the weights, or of the working weights.
    fixed, random : variances over the rows of linear columns and curves, and of the effects of groups.
    """

    score: float
    edf: FiniteNumber
    observations: FiniteNumber
    weight: FiniteNumber
    rows: Count
    squares: FiniteNumber
    residual: FiniteNumber
    information: FiniteNumber
    fixed: float = math.nan
    random: float = math.nan


class AdditiveFamily(NamedTuple):
    """The fit of a family of distributions, and whether the outputs had a known part."""

    fit: FamilyFit
    offset: bool


class Curve(NamedTuple):
    """The values of a smooth, whose mean over the rows fitted is zero, at points x (n, columns).

    lower, upper : the band that holds at each point with the probability `level`.
    all_lower, all_upper : the wider one that holds at all points together.
    """

    term: str
    columns: tuple[str, ...]
    x: Array
    value: Array
    std_error: Array
    lower: Array
    upper: Array
    all_lower: Array
    all_upper: Array


@dataclass(frozen=True)
class AdditiveSettings(FitSettings):
    """The settings that an additive model is read with, or continued; its terms are learned once."""

    loss: LossName | Loss | Family
    link: LinkName | Link | None
    fit_intercept: bool
    criterion: Criterion
    terms: Sequence[str] | None
    select: bool

    def of_row(self) -> Loss:
        """Return the loss of a row without its offset."""
        return loss_of(self.loss, link=self.link)


ResultRow = dict[str, Any]
"""A row of results: texts, numbers, and None, by name."""
FrameLike = Any
"""A frame of pandas, or polars or Arrow where that is not there."""
NOT_NEGATIVE = Range("zero or more", lambda value: value >= 0)


@dataclass(frozen=True, kw_only=True, eq=False)
class AdditiveModelState(SystemState):
    """What an additive model has learned.

    Parameters
    ----------
    fitted_with : the settings that it is read with.
    theta : coefficients of all columns of phi.
    intercept : the constant.
    means, inverse : of the columns of phi, and (X'X + P)^-1, zero for columns that are left out.
    variance : of the errors.
    group_covariances : those of the effects of each grouping, (q, q).
    terms, variance_components : as `AdditiveModel` says.
    totals : of the fit.
    left_out : names of linear columns that are constant, or combinations of those before them.
    certificate : how good the solution is.
    apart : the effects of groupings of very many levels.
    sums : of all rows, of least squares.
    family : of a likelihood that is not that of least squares.
    """

    fitted_with: AdditiveSettings
    theta: Annotated[Array, Finite("D")]
    intercept: FiniteNumber
    means: Annotated[Array, Finite("D")]
    inverse: Annotated[Array, Finite("D D")]
    variance: Annotated[float, NOT_NEGATIVE]
    group_covariances: tuple[Annotated[Array, Finite(". .")], ...]
    terms: tuple[TermFit, ...]
    variance_components: tuple[VarianceComponent, ...]
    totals: AdditiveTotals
    left_out: tuple[str, ...]
    certificate: Certificate
    apart: GroupedEffects | None = None
    sums: AdditiveSums | None = None
    family: AdditiveFamily | None = None

    @property
    def coef(self) -> Array:
        """The coefficients of linear columns."""
        return self.theta[: len(self.design.linear_)]

    @property
    def with_offset(self) -> bool:
        """Whether the outputs had a known part."""
        return self.family is not None and self.family.offset

    @property
    def design(self) -> AdditiveDesign:
        """The columns of the model."""
        assert isinstance(self.columns.basis, AdditiveDesign)
        return self.columns.basis

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the errors, infinite where their variance is known."""
        return math.inf if self.known else self.totals.observations - self.totals.edf

    @property
    def known(self) -> bool:
        """Whether the dispersion is known."""
        return self.family is not None and not self.family.fit.estimated


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class AdditiveModel(AdditiveInferred):
    """Smooth curves and random effects: minimises sum_n weight_n loss(w0 + w'x_n + sum_j f_j(x_n), t_n) + beta'P beta.

    A smooth is a sum of functions, f_j(x) = sum_k beta_k b_k(x), with the penalty lambda times the integral of f''^2.
    Random effects of groups are coefficients with the penalty that a normal distribution around zero is. Both are
    ridge regression in blocks, and the strengths in P are ratios of variances, which maximise the restricted likelihood

        -1/2 [(N - M)(log(2 pi D / (N - M)) + 1) + log|X'X + P| - log|P|],   D = y'y - y'X beta,

    M columns without a penalty. Of least squares everything is computed from the second moments of one pass, after one
    that finds knots and levels. Other likelihoods, of counts, shares and amounts, are integrated by Laplace's
    approximation, each of whose steps reads the rows about three times. Results are those of R's mgcv and lme4.

    Terms stand in a formula, `open_table(data, formula="y ~ x + s(age) + te(lon, lat) + (1 + x | school)")`, or in
    `terms`; other columns are linear.

    | term | meaning |
    |---|---|
    | `s(x)` | a thin plate spline; `bs="cr"` a cubic spline, "cc" a cyclic one, "ps" a P-spline; `k=20` coefficients |
    | `s(x, by=g)` | a curve for each level of g; g times a curve, where g is a number |
    | `te(x, z)` | a surface, smooth in each direction, whatever the units of these |
    | `(1 | g)` | an effect of each group; `(1 + x | g)` an intercept and a slope, correlated; `||` uncorrelated |
    | `(1 | a:b)`, `(1 | a/b)` | effects of combinations; those of a, and of b within a |

    Parameters
    ----------
    loss : name, or a family such as losses.NegativeBinomial(shape=2.0)
        The family of the target: "gaussian", "poisson", "binomial" (also "logistic"), "gamma", "inverse_gaussian",
        "tweedie", as in `GeneralizedLinear`. Of a negative binomial the shape is given.
    link : None, name, or links.Power(exponent)
        The link between the mean and the sum of the terms, as in `GeneralizedLinear`. None: that of the family.
    criterion : "reml", "ml" or "gcv"
        What the strengths of penalties minimise: minus the restricted log-likelihood, or minus the log-likelihood, or
        the generalised cross-validation criterion, which is for least squares without random effects. Beside "gaussian"
        the likelihoods are Laplace's approximations: "reml" is that of mgcv, "ml" that of lme4's glmer.
    dispersion : None or a number
        Of a family that has one. None: that of the largest likelihood.
    terms : list of texts, or None
        Smooths and random effects of the columns of X that they name; other columns are linear. None: those of the
        formula, and without a formula a curve for every column of ten distinct values or more.
    select : bool
        Whether smooths have a penalty on their straight lines too, so that terms which are not needed vanish.
    fit_intercept : bool
        Whether the model has a constant w0.
    weights : "frequency" or "precision"
        What sample_weight means, as in `LinearRegression`; weights in mgcv and lme4 are precisions.

    Attributes
    ----------
    coef_, intercept_ : of the linear columns, and the constant;
    `terms_` : a row each smooth and grouping with `term`, `edf` (effective degrees of freedom), `reference_df`,
    `statistic` and `p_value` of the test that it is zero;
    `variance_components_` : rows with `group`, `name` and `sd`, or with `name2` and `correlation`; the last is the
    residual, where the variance is not known;
    `random_effects_` : for each grouping a frame of its levels, their effects and the standard errors of these;
    `log_likelihood_` : restricted for "reml"; `edf_` : effective degrees of freedom of the whole model;
    `dispersion_`, `deviance_` : of families other than "gaussian";
    `basis_` : the columns of all terms, as learned; `rows_seen_` : number of rows;
    `certificate_` : its objective is the criterion, its gradient that with respect to the logarithms of ratios.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import AdditiveModel
    >>> rng = np.random.default_rng(0)
    >>> x, school = rng.uniform(0, 6, 300), rng.integers(0, 12, 300)
    >>> y = np.sin(x) + rng.normal(size=12)[school] + 0.3 * rng.normal(size=300)
    >>> model = AdditiveModel(terms=["s(x0)", "(1 | x1)"]).fit(np.column_stack([x, school]), y)
    >>> [(row["term"], round(row["edf"], 1)) for row in model.terms_]
    [('s(x0)', 7.2), ('(1 | x1)', 10.9)]
    >>> [(row["group"], row["name"], round(row["sd"], 2)) for row in model.variance_components_]
    [('x1', 'intercept', 0.67), ('residual', None, 0.29)]

    References
    ----------
    Lecture S0, section 5.2, (5.12)-(5.18): ridge regression and its prior; S3: basis functions. S. N. Wood, Generalized
    Additive Models (2nd ed., 2017); D. Bates et al., Fitting Linear Mixed-Effects Models Using lme4, J. Stat. Software
    67 (2015).
    """

    takes_additive: ClassVar[bool] = True
    compared: ClassVar[tuple[dict[str, Any], ...]] = ({},)  # with the terms that the table suggests
    compared_products: ClassVar[int] = 2**33  # products of columns that a fit sums in a comparison
    compared_numbers: ClassVar[int] = 2**26  # of X, that a fit learns from in a comparison

    takes_offset: ClassVar[bool] = True
    loss: Annotated[LossName | Loss | Family, LOSS] = "gaussian"
    link: Annotated[LinkName | Link | None, LINK] = None
    criterion: Annotated[Criterion, one_of(Criterion)] = "reml"
    dispersion: Annotated[float | None, AnyOf(NONE, POSITIVE)] = None
    terms: Annotated[Sequence[str] | None, AnyOf(NONE, TermTexts())] = None
    select: Annotated[bool, FLAG] = False
    fit_intercept: Annotated[bool, FLAG] = True
    weights: Annotated[WeightKind, one_of(WeightKind)] = "frequency"

    learns = AdditiveModelState
    _fitted_with = FittedWith(AdditiveSettings)
    coef_ = FittedAttribute[Array]()
    intercept_ = FittedAttribute[float]()
    certificate_ = FittedAttribute[Certificate]()
    _with_offset = FittedAttribute[bool]()

    @transaction
    def fit(
        self,
        X: RowsLike,
        y: TargetsLike = None,
        sample_weight: WeightsLike = None,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
    ) -> Self:
        """Fit to rows X (n, D) and a target y (n,); weights are frequencies unless weights="precision".

        X may be an array, a frame or a source, such as `open_table` returns, with or without a formula. Two passes, and
        one more where there are tensor products. Of a family y, weights, offset and exposure are as in
        `GeneralizedLinear.fit`: y of "binomial" may have two columns, successes and failures.
        """
        return self._begin(X, y, sample_weight, offset, exposure)

    def _begin(
        self,
        X: RowsLike,
        y: TargetsLike,
        sample_weight: WeightsLike,
        offset: OffsetsLike,
        exposure: OffsetsLike,
    ) -> Self:
        """Fit to the first rows, or to all."""
        meter = Meter(X)
        check_parameters(self)
        shape: tuple[int, ...] = getattr(y, "shape", ())
        if len(shape) == 2 and shape[1] == 1 and not is_sparse(y):
            from sklearn.utils.validation import column_or_1d  # slow to import

            y = column_or_1d(y, warn=True)
        settings = AdditiveSettings.of(self)
        refuse_exposure(settings.of_row(), exposure)
        rows, columns = open_rows(self, X, y, sample_weight, reset=True, offset=offset, exposure=exposure)
        least_squares = isinstance(settings.of_row(), Squared) and not rows.targets.offset and self.dispersion is None
        seen = None if least_squares else posed(rows, columns, settings.of_row())
        _refuse_targets(rows, settings)
        names = columns.given_names()
        linear, terms = _asked(self, columns, names, is_table(X) and X.spec.formula is not None)
        with blas_threads_for(len(names)):
            design = learn_design(
                rows, names, linear, terms, self.weights == "frequency", CURVED, self.select, least_squares
            )
        if self.criterion == "gcv" and (design.groupings or not least_squares):
            what = "the model has random effects" if least_squares else "the likelihood is another"
            raise InvalidParameter(f"criterion='gcv' is for smooths under least squares, and {what}: use 'reml'")
        columns = columns._replace(basis=design)
        state = self._of_squares(rows, columns, design) if seen is None else self._of_family(seen, columns, design)
        self._state = replace(state, certificate=meter.on(state.certificate, rows))
        return self

    @available_if(lambda model: model._adds_up())
    @continuation
    def partial_fit(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Take in more rows: the result is that of one fit on all rows, with the knots and levels of the first ones.

        Knots, the levels of groups and the columns of terms are learned from the rows of the first call, which should
        span the range of each curve and have every group; rows of other groups are refused. One pass over the rows, in
        memory that does not depend on their number. For least squares only.
        """
        if self._state is None:
            return self._begin(X, y, sample_weight, None, None)
        meter = Meter(X)
        mine = self._own_sums("continue")
        rows = self._reopened(X, y, sample_weight)
        return self._take(mine.plus(self._added(rows)), meter, rows)

    @available_if(lambda model: model._adds_up())
    @continuation
    def merge(self, other: Self) -> Self:
        """Take in another fitted model: as if fitted on both data sets. Both must have the same knots and levels.

        Copies of one model have these. The rows that it was fitted to are then in both: `b.forget` takes them out of
        `b = copy.deepcopy(a).partial_fit(X, y)` before the merge.
        """
        meter, mine = Meter(), self._own_sums("merge")
        if type(other) is not type(self):
            raise InvalidParameter(f"cannot merge {type(self).__name__} with {type(other).__name__}")
        other = continued(other)
        theirs = other._own_sums("merge")
        check_same_columns(self, other)
        if (mine.counted is None) != (theirs.counted is None) or mine.moments.centred != theirs.moments.centred:
            raise InvalidParameter("cannot merge models with other settings of weights or fit_intercept")
        return self._take(mine.plus(theirs), meter, None)

    @available_if(lambda model: model._adds_up())
    @continuation
    def forget(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Take rows back out, as if they had never been fitted; refused where too few digits would be left.

        Knots and levels stay. A weight of k takes out k copies of a row.
        """
        meter, mine = Meter(X), self._own_sums("forget")
        rows = self._reopened(X, y, sample_weight)
        gone = self._added(rows)
        effects = [q for _, q in self._learned().design.group_shapes]
        left = mine.minus(gone, without(mine.moments, gone.moments, rows), effects)
        linear = len(self._learned().coef)
        refuse_few_digits(left.digits(linear) if left.moments.weight > 0 else 0.0, [], None)
        return self._take(left, meter, rows)

    def _adds_up(self) -> bool:
        """Whether the model is determined by sums that add up: under least squares."""
        if self._state is not None:
            return self._learned().family is None
        return isinstance(AdditiveSettings.of(self).of_row(), Squared) and self.dispersion is None

    def _own_sums(self, verb: str) -> AdditiveSums:
        check_is_fitted(self, "coef_")
        check_parameters(self)
        state = self._learned()
        different = sorted({*self._fitted_with.changed(self)} - {"criterion"})
        if different or self.dispersion is not None:
            raise InvalidParameter(
                f"cannot {verb}: {some(different or ['dispersion'])} was changed since the model was fitted; refit"
            )
        if state.sums is None:
            raise SumsMissing(f"cannot {verb}: this model was fitted before version 0.4, or holds no sums; refit")
        if (state.sums.counted is None) != (self.weights == "frequency"):
            raise InvalidParameter(f"cannot {verb}: weights was changed since the model was fitted; refit")
        return state.sums

    def _reopened(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike) -> Source:
        """Return rows as the columns of X, before those of the design."""
        rows = open_rows(self._reader(), X, y, sample_weight, reset=False).source
        if rows.targets.offset:
            raise InvalidParameter("a model without an offset takes no rows that have one: refit")
        _refuse_targets(rows, self._fitted_with)
        return rows

    def _reader(self) -> Self:
        """Return a copy whose rows are those of X, before the columns of the design."""
        reader, state = snapshot(self), self._learned()
        reader._state = replace(state, columns=state.columns._replace(basis=None))
        return reader

    def _added(self, rows: Source) -> AdditiveSums:
        """Return the sums of rows for the design that was learned."""
        state = self._learned()
        design, names, centred = state.design, state.columns.given_names(), bool(self.fit_intercept)
        coded = frozenset(j for j, name in enumerate(names) if name.endswith("[index]"))
        kinds: Any = [
            (GroupedMoments, {"design": design, "centred": centred}),
            (UnknownGroups, {"design": design, "coded": coded}),
        ]
        total, unknown = rows.sum(JointSum, kinds=kinds).parts
        assert isinstance(total, GroupedMoments)
        assert isinstance(unknown, UnknownGroups)
        if not total.finite:
            rows.refuse_nonfinite()
        for one, lost in zip(design.groupings, unknown.rows, strict=True):
            if lost:
                raise InvalidData(
                    f"{counted(lost)} of {one.label} are of groups that the first rows do not have: begin with rows of "
                    "every group, or fit all rows at once"
                )
        return sums_of(total, count(rows) if self.weights == "precision" else None, centred)

    def _take(self, total: AdditiveSums, meter: Meter, rows: Source | None) -> Self:
        """Solve from new sums."""
        state = self._of_sums(total, self._learned().columns)
        self._state = replace(state, certificate=meter.on(state.certificate, rows))
        return self

    def _of_squares(self, rows: Source, columns: InputColumns, design: AdditiveDesign) -> AdditiveModelState:
        """Return what least squares learns."""
        intercept = bool(self.fit_intercept)
        observed = count(rows) if self.weights == "precision" else None
        if design.apart_:
            total = rows.sum(GroupedMoments, design=design, centred=intercept)
            if not total.finite:
                rows.refuse_nonfinite()
            return self._of_sums(sums_of(total, observed, intercept), columns)
        return self._of_sums(AdditiveSums(read_moments(columns.expand(rows), intercept), (), (), observed), columns)

    def _of_sums(self, total: AdditiveSums, columns: InputColumns) -> AdditiveModelState:
        """Return what least squares learns from sums."""
        design, moments = columns.basis, total.moments
        assert isinstance(design, AdditiveDesign)
        _refuse_too_many_groups(design, total.observations)
        with blas_threads_for(design.size):
            solved, grouped = _solved_sums(total, columns, AdditiveSettings.of(self))
            state = self._found(solved, columns, moments, total.observations, moments.weight, grouped)
        return replace(state, sums=total)

    def _of_family(self, seen: PosedRows, columns: InputColumns, design: AdditiveDesign) -> AdditiveModelState:
        """Return what a likelihood learns."""
        found, moments = self._solved_family(seen, columns, design)
        with blas_threads_for(design.size):
            state = self._found(found.solution, columns, moments, found.observations, found.weight, None, found.family)
        assert state.family is not None
        return replace(state, family=state.family._replace(offset=seen.with_offset))

    def _solved_family(
        self, seen: PosedRows, columns: InputColumns, design: AdditiveDesign
    ) -> tuple[FamilySolution, Moments]:
        """Return where a likelihood is largest, and the moments of the columns."""
        source, places = columns.expand(seen.source), places_of(design)
        linked = seen.loss.linked
        assert linked is not None
        shares = linked.family.name == "binomial" and seen.source.targets.given == 1
        lowest = float(seen.opening.targets.lowest[0])
        known = self.dispersion if linked.family.scaled else 1.0
        rows = FamilyRows(
            source,
            seen.loss,
            lowest,
            float(seen.constant[0]),
            None if known is None else float(known),
            self.weights == "precision" or (shares and lowest != 0),
        )
        moments = read_moments(source, bool(self.fit_intercept))
        if linked.family.scaled:
            _refuse_too_many_groups(design, moments.weight)
        with blas_threads_for(design.size):
            asked = AdditiveProblem(self.criterion, bool(self.fit_intercept), moments.weight, 0.0)
            names, labels = columns.coefficient_names(), term_labels(places, columns)
            return solve_family(rows, moments, places, names, labels, asked), moments

    def _found(
        self,
        solved: AdditiveSolution,
        columns: InputColumns,
        moments: Moments,
        observations: float,
        information: float,
        grouped: GroupedSolution | None,
        family: FamilyFit | None = None,
    ) -> AdditiveModelState:
        """Return what was learned, with the tests of terms; `information` is that of the constant."""
        design = columns.basis
        assert isinstance(design, AdditiveDesign)
        if not np.isfinite([solved.variance, solved.total, solved.residual]).all():
            raise InvalidData("the squares of the target overflow float64: divide the target by a power of ten")
        places, names = places_of(design), columns.coefficient_names()
        edf = (
            float(np.trace(solved.freedom)) + bool(self.fit_intercept) + (0.0 if grouped is None else sum(grouped.edf))
        )
        if not (np.isfinite(edf) and np.isfinite(solved.inverse).all()):
            raise InvalidData(
                "variances of coefficients overflow float64: multiply columns of tiny numbers by a power of ten"
            )
        shared = np.zeros(len(solved.coef)) if grouped is None else grouped.shared
        left_out = tuple(names[j] for j in solved.left_out)
        if left_out:
            warn(
                f"left out, as they are constant or combinations of columns before them: {some(left_out)}",
                AdalineWarning,
            )
        left = observations - edf
        if family is not None:
            left = left if family.estimated else math.inf
            family = replace(family, freedom=left)
        tested = [_tested(solved, at, places, left, shared, information) for at in places]
        terms = tuple(TermFit(label, *one) for label, one in zip(term_labels(places, columns), tested, strict=True))
        if grouped is not None:
            untested = zip(design.apart_, grouped.edf, strict=True)
            terms += tuple(TermFit(one.label, edf, math.nan, math.nan, math.nan) for one, edf in untested)
        state = AdditiveModelState(
            columns=columns,
            fitted_with=self._settings_of_fit(),
            theta=solved.coef,
            intercept=solved.intercept,
            means=solved.means,
            inverse=solved.inverse,
            variance=solved.variance,
            group_covariances=tuple(solved.variance * one.covariance for one in solved.components),
            terms=terms,
            variance_components=tuple(_components(design, solved, math.isfinite(left))),
            totals=AdditiveTotals(
                *(solved.score, edf, observations, moments.weight, moments.rows),
                *(solved.total, solved.residual, information),
                *(
                    ()
                    if family
                    else variance_parts(solved, grouped, places, design.apart_, moments.weight, observations)
                ),
            ),
            left_out=left_out,
            certificate=_certificate(
                solved,
                terms,
                [names[j] for j in solved.constant],
                "normal equations" if family is None else "reweighted least squares",
            ),
            apart=None if grouped is None else grouped.effects,
            family=None if family is None else AdditiveFamily(family, False),
        )
        if state.certificate.status is Status.NOT_CONVERGED:
            warn(f"{Status.NOT_CONVERGED}: {state.certificate.advice}", ConvergenceWarning)
        return state

    def _check_together(self) -> None:
        loss = loss_of(self.loss, link=self.link)
        if loss.linked is None:
            raise InvalidParameter(f"loss={loss.name!r} is no likelihood: use one of {', '.join(FAMILIES)}")
        family = loss.linked.family
        if family.parameter and getattr(family, family.parameter) == "auto":
            raise InvalidParameter(
                f"the {family.parameter} of {family.name} is given, such as losses.{type(family).__name__}"
                f"({family.parameter}={'2.0' if family.parameter == 'shape' else '1.5'}), which GeneralizedLinear finds"
            )
        if self.dispersion is not None and not family.scaled:
            raise InvalidParameter(f"the dispersion of {family.name} is 1: leave dispersion=None")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags

    def _learned(self) -> AdditiveModelState:
        """Return what the fit has learned."""
        check_is_fitted(self, "coef_")
        assert isinstance(self._state, AdditiveModelState)
        return self._state

    def _response(self) -> tuple[FamilyFit, Likelihood] | None:
        family, linked = self._learned().family, self._fitted_with.of_row().linked
        return None if family is None or linked is None else (family.fit, linked)

    def _recoded(self, coding: Coding) -> Coding:
        """Return the coding in which categories that group rows are indices of their levels."""
        if self.terms is None:
            return coding
        if coding.additive:
            raise InvalidParameter("the formula of the table has smooths or random effects: give none by terms=")
        terms = read_terms(self.terms)
        categories = [column.name for column in coding.columns if column.is_category]
        arguments = argument_terms(terms, categories)
        taken = _taken(terms)
        kept = tuple(term for term in coding.terms if not (len(term.factors) == 1 and term.factors[0].text in taken))
        arguments = tuple(term for term in arguments if term not in kept)
        return replace(coding, terms=(*kept, *arguments), additive=tuple(self.terms), arguments=len(arguments))

    @overload
    def predict(
        self,
        X: RowsLike,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
        interval: None = None,
        level: float = 0.95,
    ) -> Array: ...
    @overload
    def predict(
        self,
        X: RowsLike,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
        *,
        interval: AdditiveInterval,
        level: float = 0.95,
    ) -> Interval: ...
    def predict(
        self,
        X: RowsLike,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
        interval: AdditiveInterval | None = None,
        level: float = 0.95,
    ) -> Array | Interval:
        """Return predictions (n,), the means of y; with `interval` a named tuple (prediction, lower, upper).

        Groups that were not in the fit have the effect zero: predictions are those of the population. Intervals then
        contain the variance between groups, with the degrees of freedom that it was estimated with. "confidence" covers
        the mean of a row, "prediction" a new observation. A model fitted with offsets needs those of these rows, as in
        `GeneralizedLinear.predict`.
        """
        z = self._shifted(X, offset, exposure)
        loss = self._fitted_with.of_row()
        if interval is None:
            return like_rows(X, mean_of(loss, z)[:, 0])
        from adaline.inference.classical import Interval, quantile
        from adaline.inference.family_intervals import output_interval

        one_of(AdditiveInterval).check("interval", interval)
        LEVEL.check("level", level)
        state = self._learned()
        known, unseen, shares = self._variances(X).T
        noise = 0.0 if state.family is not None or interval == "confidence" else state.variance
        variance = known + unseen
        reach = np.full(len(variance), quantile(state.freedom, level))
        with np.errstate(invalid="ignore", divide="ignore"):  # rows of groups that were in the fit
            freedom = (variance + noise) ** 2 / (shares + (known + noise) ** 2 / state.freedom)
        new = np.flatnonzero(unseen > 0)
        if len(new):
            reach[new] = scipy.special.stdtrit(freedom[new], 0.5 + level / 2)
        if state.family is not None and loss.linked is not None:
            error = np.sqrt(variance)
            return Interval(
                *output_interval(state.family.fit, loss.linked, z[:, 0], error, interval == "prediction", level, reach)
            )
        half = reach * np.sqrt(variance + noise)
        return Interval(z[:, 0], z[:, 0] - half, z[:, 0] + half)

    @available_if(lambda model: not isinstance(model._fitted_with.of_row(), Squared))
    def decision_function(self, X: RowsLike, offset: OffsetsLike = None, exposure: OffsetsLike = None) -> Array:
        """Return the sum of the terms (n,), of which the mean is the inverse of the link."""
        return like_rows(X, refuse_overflow(self._shifted(X, offset, exposure))[:, 0])

    def score(
        self,
        X: RowsLike,
        y: TargetsLike = None,
        sample_weight: WeightsLike = None,
        offset: OffsetsLike = None,
        exposure: OffsetsLike = None,
    ) -> float:
        """Return R^2 of the predictions; of successes and failures that of the shares, weighted by the trials."""
        given = (X, y, sample_weight, offset, exposure)
        self._learned()
        return score_means(self, self._fitted_with.of_row(), *given, outputs=1, flat=True)

    def _shifted(self, X: RowsLike, offset: OffsetsLike, exposure: OffsetsLike) -> Array:
        """Return the sums of the terms of rows with their offsets, (n, 1)."""
        state = self._learned()
        refuse_exposure(self._fitted_with.of_row(), exposure)
        return add_offset(self._outputs(X), self, X, offset, exposure, fitted_so=state.with_offset)

    @by_blocks
    def _outputs(self, X: RowsLike) -> Array:
        """Return the sums of the terms of rows, (n, 1), without offsets."""
        state, given = self._learned(), read_rows(self, X)
        values = rows_through_basis(self, given) @ state.theta + state.intercept
        if state.apart is not None:
            found = state.design.grouped(np.asarray(host(as_dense(given)), dtype=np.float64))
            for (group, z), effects in zip(found, state.apart.every, strict=True):
                values += np.where(group >= 0, (z * effects[group]).sum(axis=1), 0.0)
        if not np.isfinite(values).all():
            refuse_nonfinite(self, given)
            refuse_overflow(values)
        return np.asarray(values[:, None])

    @by_blocks
    def _variances(self, X: RowsLike) -> Array:
        """Return the variances of the sums of the terms, (n, 3): see `_unseen` for the last two."""
        state, given = self._learned(), read_rows(self, X)
        x = np.asarray(host(as_dense(given)), dtype=np.float64)
        return np.column_stack([_variances(state, rows_through_basis(self, given), x), _unseen(state, x)])

    @property
    def dispersion_(self) -> float:
        """The dispersion, of families other than "gaussian"."""
        return self._family_fit("dispersion_").dispersion

    @property
    def deviance_(self) -> float:
        """The deviance, of families other than "gaussian"."""
        return self._family_fit("deviance_").deviance

    def _family_fit(self, name: str) -> FamilyFit:
        if not isinstance(self._state, AdditiveModelState) or self._state.family is None:
            raise AttributeError(f"{name} is of a fit to a family other than 'gaussian'")
        return self._state.family.fit

    @property
    def log_likelihood_(self) -> float:
        """The log-likelihood of the fit, restricted for criterion "reml"."""
        if self._state is None or self._fitted_with.criterion == "gcv":
            raise AttributeError("log_likelihood_ is what criterion='reml' and 'ml' find: fit by one of them")
        return -self._learned().totals.score

    @property
    def rows_seen_(self) -> int:
        """Number of rows fitted."""
        return self._learned().totals.rows

    @property
    def edf_(self) -> float:
        """Effective degrees of freedom of the model, the intercept included."""
        return self._learned().totals.edf

    @property
    def terms_(self) -> list[ResultRow]:
        """A row for each smooth and each grouping: its degrees of freedom, and the test that it is zero."""
        return [one._asdict() for one in self._learned().terms]

    @property
    def variance_components_(self) -> list[ResultRow]:
        """Standard deviations and correlations of effects between groups, and that of the errors, the last."""
        return [one._asdict() for one in self._learned().variance_components]

    @property
    def random_effects_(self) -> dict[str, FrameLike]:
        """The effects of groups: for each grouping a frame of its levels, their effects and standard errors."""
        from adaline.inference.summary import frame_of_columns

        return {name: frame_of_columns(columns) for name, columns in self._effects().items()}

    def _effects(self) -> dict[str, ResultRow]:
        """Return the effects of each grouping by columns."""
        state = self._learned()
        out: dict[str, ResultRow] = {}
        for at in places_of(state.design):
            if not isinstance(at.part, LearnedGroups):
                continue
            groups, size = at.part, len(at.part.slopes)
            scale = np.ldexp(1.0, -np.array(groups.exponents))
            effects = state.theta[at.start : at.stop].reshape(-1, size) * scale
            errors = np.sqrt(state.variance * state.inverse.diagonal()[at.start : at.stop]).reshape(-1, size) * scale
            own = out.setdefault(groups.grouping, {"level": level_names(groups, state.columns)})
            _enter(own, groups, effects, errors)
        if state.apart is not None:
            every = zip(state.design.apart_, state.apart.every, state.apart.errors(), strict=True)
            for groups, effects, errors in every:
                scale = np.ldexp(1.0, -np.array(groups.exponents))
                own = out.setdefault(groups.grouping, {"level": level_names(groups, state.columns)})
                _enter(own, groups, effects * scale, np.sqrt(state.variance) * errors * scale)
        return out

    def curves(self, points: int = 100, level: float = 0.95) -> list[Curve]:
        """Return the values of each smooth over the range of its columns, with bands of the posterior.

        One band holds at each point, the other at all points together: it reaches as many standard errors as the
        largest |t| over the points exceeds with the chance 1 - level, which is averaged over 2^15 directions of the
        coefficients that cover the sphere evenly, the same each time. Errors take the ratios of variances as given. A
        surface is evaluated on a grid, of about as many points in each direction as the square root of `points`.

        Examples
        --------
        >>> import numpy as np
        >>> from adaline import AdditiveModel
        >>> x = np.linspace(0, 6, 200)
        >>> (curve,) = AdditiveModel(terms=["s(x0)"]).fit(x[:, None], np.sin(x)).curves(points=3)
        >>> curve.x[:, 0].tolist(), curve.value.round(1).tolist()
        ([0.0, 3.0, 6.0], [-0.0, 0.1, -0.3])
        """
        from adaline.inference.additive import simultaneous_reach
        from adaline.inference.classical import quantile

        LEVEL.check("level", level)
        state = self._learned()
        reach, names = quantile(state.freedom, level), state.columns.given_names()
        out = []
        for label, at in zip(term_labels(places_of(state.design), state.columns), places_of(state.design), strict=True):
            if not isinstance(at.part, LearnedSmooth):
                continue
            x = _grid(at.part, points)
            columns, block = at.part.values(x), slice(at.start, at.stop)
            error = np.sqrt(state.variance * ((columns @ state.inverse[block, block]) * columns).sum(axis=1))
            value = columns @ state.theta[block]
            shown = tuple(names[j] for j in at.part.columns)
            every = simultaneous_reach(columns, state.inverse[block, block], state.freedom, level) * error
            bands = (value - reach * error, value + reach * error, value - every, value + every)
            out.append(Curve(label, shown, x, value, error, *bands))
        return out

    def _interval(
        self, X: RowsLike, given: RowsAgain, judged: JudgedAdditive, interval: PredictedInterval, level: float
    ) -> Interval:
        return self.predict(X, given.offset, given.exposure, interval=interval, level=level)

    def _component_rows(self, given: RowsAgain, level: float) -> list[ResultRow]:
        state, settings = self._learned(), self._fitted_with
        if settings.criterion == "gcv":
            raise InvalidParameter("interval='profile' is of a likelihood: fit by criterion='reml' or 'ml'")
        solved = self._solved_again(given)
        rows = self.variance_components_
        if solved.ratios is None:
            return [row | NOT_FOUND._asdict() for row in rows]
        known = state.variance if state.known else None
        profile = Profile(solved.ratios, settings.criterion, known, float(scipy.special.ndtri(0.5 + level / 2)))
        unit = math.sqrt(solved.variance / solved.ratios.fit.dispersion(settings.criterion))
        with blas_threads_for(state.design.size):
            each, errors = profile.groupings(), None if state.known else profile.errors().times(unit)
        ends = []
        for groups, own in zip(state.design.groupings, each, strict=True):
            scale = unit * np.ldexp(1.0, -np.array(groups.exponents))
            ends += [one.times(float(size)) for one, size in zip(own, scale, strict=False)] + own[len(scale) :]
        ends += [] if errors is None else [errors]
        return [row | one._asdict() for row, one in zip(rows, ends, strict=True)]

    def _solved_again(self, given: RowsAgain) -> AdditiveSolution:
        """Return the solution once more: of the sums, or of the rows where a likelihood needs them."""
        state = self._learned()
        if state.family is None:
            if state.sums is None:
                raise SumsMissing("interval='profile' needs the sums of the fit, which this model does not hold: refit")
            with blas_threads_for(state.design.size):
                return _solved_sums(state.sums, state.columns, self._fitted_with)[0]
        if not state.known:
            raise InvalidParameter(
                f"interval='profile' of {state.family.fit.family} needs a dispersion that is given: fit with "
                f"dispersion={state.variance:.6g}, that of this fit"
            )
        if given.X is None:
            raise SumsMissing(
                "interval='profile' needs the rows: this model keeps only sums; give X and y again (and sample_weight "
                "and offset, if it was fitted with them)"
            )
        again = {"offset": given.offset, "exposure": given.exposure}
        rows = open_rows(self._reader(), *given[:3], reset=False, **again).source
        seen = posed(rows, state.columns, self._fitted_with.of_row())
        found = self._solved_family(seen, state.columns, state.design)[0].solution
        if not math.isclose(found.score, state.totals.score, rel_tol=1e-6, abs_tol=1e-6):
            raise InvalidData("interval='profile' needs the rows that were fitted: these have another likelihood")
        return found

    def _judgement(self, options: ErrorOptions) -> JudgedAdditive:
        from adaline.inference.additive import JudgedAdditive, TestedTerm

        state, places = self._learned(), places_of(self._learned().design)
        named = {one.term: one for one in state.terms}
        tested = []
        fixed = np.ones(len(state.theta), dtype=bool)
        for label, at in zip(term_labels(places, state.columns), places, strict=True):
            own = named[label]
            f = own.statistic / (own.reference_df if state.known else 1.0)
            tested.append(TestedTerm(label, at.start, at.stop, f, own.reference_df, own.p_value))
            fixed[at.start : at.stop] = isinstance(at.part, LearnedSmooth)
        intercept = state.fitted_with.fit_intercept
        means = state.means if intercept else np.zeros(len(state.means))
        theta, whole = np.append(state.intercept, state.theta), _inverse_with_constant(state)
        return JudgedAdditive(options, theta, whole, means, state.variance, state.freedom, tested, fixed)

    def _table(self, judged: JudgedAdditive, level: float) -> AdditiveSummary:
        from adaline.inference.additive import AdditiveInference, AdditiveSummary, variance_shares
        from adaline.inference.classical import judged as statistics

        state, settings, totals = self._learned(), self._fitted_with, self._learned().totals
        own = 1 + len(state.coef)
        errors = np.linalg.norm(judged.root[:own], axis=1)
        if not settings.fit_intercept:
            errors[0] = np.nan
        share = totals.residual / totals.squares if totals.squares > 0 else math.nan
        adjusted = share * (totals.observations - settings.fit_intercept) / state.freedom
        names, lost = state.columns.coefficient_names()[: own - 1], "constant, or a combination of columns before it"
        grouped = bool(state.design.groupings) and state.family is None
        marginal, conditional, icc = variance_shares(totals.fixed, totals.random, state.variance, grouped)
        part = AdditiveInference(
            **statistics(judged.theta[:own], errors, level, judged.freedom),
            r_squared=1 - share,
            adjusted_r_squared=1 - adjusted,
            marginal_r_squared=marginal,
            conditional_r_squared=conditional,
            icc=icc,
            sigma=math.sqrt(state.variance),
            freedom=state.freedom,
            model_freedom=totals.edf,
            log_likelihood=math.nan if settings.criterion == "gcv" else -totals.score,
        )
        groups = {one.grouping: len(one.levels) for one in state.design.groupings}
        return AdditiveSummary(
            title="AdditiveModel",
            names=names,
            targets=["y0"],
            parts=[part],
            level=level,
            rows=totals.rows,
            weight=totals.weight,
            certificate=state.certificate,
            notes=[] if state.variance > 0 else [NO_ERRORS],
            intercept=bool(settings.fit_intercept),
            student=math.isfinite(judged.freedom),
            left_out=dict.fromkeys(state.left_out, lost),
            criterion=settings.criterion,
            family=None if state.family is None else state.family.fit,
            terms=tuple(self.terms_),
            components=tuple(self.variance_components_),
            levels=tuple(groups.items()),
        )


def _solved_sums(
    total: AdditiveSums, columns: InputColumns, settings: AdditiveSettings
) -> tuple[AdditiveSolution, GroupedSolution | None]:
    """Return the solution of least squares, and what it has of groupings of very many levels."""
    design = columns.basis
    assert isinstance(design, AdditiveDesign)
    places = places_of(design)
    names, labels = columns.coefficient_names(), term_labels(places, columns)
    asked = AdditiveProblem(settings.criterion, settings.fit_intercept, total.observations, total.log_weights)
    if not design.apart_:
        return solve_additive(total.moments, places, names, labels, asked), None
    grouped = solve_grouped(total, places, names, labels, asked, design)
    return grouped.solution, grouped


def _taken(terms: Sequence[AdditiveTerm]) -> set[str]:
    """Return the columns that are not linear: those of smooths, and those that group rows."""
    every = (name for one in terms for name in (one.columns if isinstance(one, SmoothTerm) else one.group))
    return {without_backquotes(name) for name in every}


def _refuse_targets(rows: Source, settings: AdditiveSettings) -> None:
    """Refuse several targets, but for successes and failures."""
    targets, linked = rows.targets.given, settings.of_row().linked
    assert linked is not None
    if targets != 1 and not (targets == 2 and isinstance(linked.family, Binomial)):
        raise InvalidData(f"AdditiveModel has one target, got {targets}: fit a model to each")


def _asked(
    model: AdditiveModel, columns: InputColumns, names: Sequence[str], formula: bool
) -> tuple[list[int], tuple[AdditiveTerm, ...] | None]:
    """Return the indices of the linear columns, and the terms; None for those that the rows suggest."""
    coding = columns.coding
    if coding is not None and coding.additive:
        terms, places = read_terms(coding.additive), coding.term_columns()
        only = {own[0] for own in places[len(places) - coding.arguments :]}
        linear = [j for j in range(len(names)) if j not in only]
        both = {names[j] for j in linear} & {
            without_backquotes(one) for term in terms if isinstance(term, SmoothTerm) for one in term.columns
        }
        if both:
            raise InvalidData(
                f"{min(both)!r} is linear and has a curve, which contains the straight line: leave {min(both)!r} out "
                "of the formula beside the curve"
            )
        return linear, terms
    if model.terms is not None:
        terms = read_terms(model.terms)
        return [j for j, name in enumerate(names) if name not in _taken(terms)], terms
    return (list(range(len(names))), ()) if formula else ([], None)


def _refuse_too_many_groups(design: AdditiveDesign, observations: float) -> None:
    for one in design.groupings:
        if one.width >= observations:
            alone = len(one.levels) == observations
            why = "every group has one row" if alone else f"there are {one.width:,} effects for {observations:g} rows"
            raise InvalidData(
                f"{one.label}: {why}, so that its variance cannot be told from that of the errors: leave the term out, "
                "or a slope in it, or give more rows of each group"
            )


def _enter(own: ResultRow, groups: LearnedGroups, effects: Array, errors: Array) -> None:
    """Add effects of groups and their standard errors, (G, q), to the columns of a frame."""
    for k, name in enumerate(groups.names):
        own[name], own[f"{name}_std_error"] = effects[:, k].tolist(), errors[:, k].tolist()


def _tested(
    solved: AdditiveSolution,
    at: TermPlace,
    places: Sequence[TermPlace],
    left: float,
    shared: Array,
    information: float,
) -> tuple[float, float, float, float]:
    """Return effective degrees of freedom of a term, those of its test, statistic and p value."""
    block = slice(at.start, at.stop)
    f = solved.freedom
    edf = float(np.trace(f[block, block]))
    if not solved.variance > 0 or left <= 0:
        return edf, math.nan, math.nan, math.nan
    found: TermTest
    if isinstance(at.part, LearnedSmooth) and not at.part.weights.any(axis=0).all():
        rank = 2 * edf - float((f[block] * f[:, block].T).sum()) - float(shared[block].sum())
        power = -int(np.frexp(np.sqrt(solved.variance))[1])  # of two: the units of the target change no test
        found = smooth_test(
            np.ldexp(solved.coef[block], power),
            float(np.ldexp(solved.variance, 2 * power)) * solved.inverse[block, block],
            solved.gram[block, block] + information * np.outer(solved.means[block], solved.means[block]),
            at.part.first,
            min(rank, at.stop - at.start),
            left,
        )
    else:
        others = [one for one in places if isinstance(one.part, LearnedGroups) and one is not at]
        fixed = np.ones(len(f), dtype=bool)
        for one in others:
            fixed[one.start : one.stop] = False
        # P (X'X + P)^-1 = (1 - F)', of which rows outside the blocks of other groupings count
        own = solved.inverse[block][:, fixed]
        pull = (np.eye(len(f)) - f.T)[:, block]
        sampling = solved.inverse[block, block] - own @ pull[fixed]
        if not edf > 1e-6:
            return edf, math.nan, math.nan, math.nan
        found = effects_test(solved.coef[block], solved.inverse[block, block], sampling, solved.variance, left)
    return edf, found.freedom, found.statistic / (found.freedom if math.isfinite(left) else 1.0), found.p_value


def _components(design: AdditiveDesign, solved: AdditiveSolution, estimated: bool) -> list[VarianceComponent]:
    """Return the standard deviations of effects, then their correlations; that of the errors last, if estimated."""
    out = []
    for groups, one in zip(design.groupings, solved.components, strict=True):
        sd = np.sqrt(solved.variance * one.covariance.diagonal())
        out += [
            VarianceComponent(groups.grouping, name, None, float(value), None)
            for name, value in zip(groups.names, sd, strict=True)
        ]
        for j in range(len(sd)):
            for i in range(j):
                both = sd[i] * sd[j]
                found = float(solved.variance * one.covariance[i, j] / both) if both > 0 else math.nan
                out.append(VarianceComponent(groups.grouping, groups.names[i], groups.names[j], None, found))
    return [*out, *[VarianceComponent("residual", None, None, math.sqrt(solved.variance), None)] * estimated]


def _certificate(
    solved: AdditiveSolution, terms: Sequence[TermFit], constant: Sequence[str], solver: str
) -> Certificate:
    ratios = solved.ratios
    digits = max(ROUNDING_DIGITS - math.log10(solved.condition) - 1, 0.0)
    status, advice = Status.SOLVED, Status.SOLVED.advice
    if ratios is not None:
        digits = min(digits, -math.log10(max(ratios.gap, 1e-30)) / 2)
        zero = [one.term for one in terms if one.edf < 1e-5]
        if not ratios.solved:
            status = Status.NOT_CONVERGED
            advice = (
                "the ratios of variances were not found: rescale columns that differ by many powers of ten, leave out "
                "terms, or lower k"
            )
        elif zero:
            advice = f"the likelihood is largest where {some(zero)} is zero: the term may be left out"
    if constant and status is Status.SOLVED:
        left = "; ".join(f"column {name} is constant and left out" for name in constant)
        advice = left if advice == Status.SOLVED.advice else f"{advice}; {left}"
    steps = 0 if ratios is None else ratios.steps
    steep = 0.0 if ratios is None else float(np.abs(ratios.gradient[~ratios.boundary]).max(initial=0.0))
    return replace(
        certificate(
            status=status,
            digits=digits,
            condition=math.sqrt(solved.condition),
            passes=0,
            solver=f"{solver}, and Newton's method for the ratios of variances in {steps} steps",
        ),
        objective=solved.score,
        gradient=steep,
        gap=0.0 if ratios is None else ratios.gap,
        rank=len(solved.coef) - len(solved.left_out),
        advice=advice,
    )


def _inverse_with_constant(state: AdditiveModelState) -> Array:
    """Return (X'X + P)^-1 of the constant and the columns about their means, (1 + M, 1 + M)."""
    if state.apart is not None:
        size = state.apart.pull.shape[2]
        inverse = state.apart.inverse[:size, :size]
        return inverse if state.fitted_with.fit_intercept else np.pad(inverse, ((1, 0), (1, 0)))
    out = np.zeros((1 + len(state.means), 1 + len(state.means)))
    out[0, 0], out[1:, 1:] = 1 / state.totals.information, state.inverse
    return out


def _variances(state: AdditiveModelState, phi: Array, x: Array) -> Array:
    """Return the variance of the sum of the terms at rows x, whose columns are phi, (n,)."""
    away = phi - state.means if state.fitted_with.fit_intercept else phi
    if state.apart is not None:
        whole = np.column_stack([np.ones(len(away)), away]) if state.fitted_with.fit_intercept else away
        return state.variance * state.apart.variances(whole, state.design.grouped(x))
    unit = ((away @ state.inverse) * away).sum(axis=1)
    return np.asarray(
        state.variance * (unit + (1 / state.totals.information if state.fitted_with.fit_intercept else 0.0))
    )


def _unseen(state: AdditiveModelState, x: Array) -> Array:
    """Return the variances u of effects of groups that were not in the fit, at rows x (n, D), and sum u^2 / df, (n, 2).

    A variance between G groups is estimated with G - 1 degrees of freedom where groups have many rows. With few rows
    its error is larger, as that of a difference of variances: of s^2 = V - sigma^2/n it is that of V, and s^2/V is the
    share edf / (G - 1) of the effects that is left, so that df = edf^2 / (G - 1). Variances add up to one of

        (sum u)^2 / sum(u^2 / df) degrees of freedom (Satterthwaite).
    """
    out, edf = np.zeros((len(x), 2)), {one.term: one.edf for one in state.terms}
    for groups, covariance in zip(state.design.groupings, state.group_covariances, strict=True):
        new = groups.find(x) < 0
        if new.any():
            z = np.ldexp(groups.effects_of(x[new]), np.array(groups.exponents))
            own = ((z @ covariance) * z).sum(axis=1)
            freedom = (edf[groups.label] / len(groups.slopes)) ** 2 / max(len(groups.levels) - 1, 1)
            out[new] += np.column_stack([own, own**2 / freedom if freedom > 0 else 0.0 * own])
    return out


def _grid(smooth: LearnedSmooth, points: int) -> Array:
    """Return points over the range of a smooth's columns, (n, columns)."""
    ends = [np.ldexp(one.knots[[0, -1]], one.exponent) for one in smooth.curves]
    each = points if len(ends) == 1 else max(round(points ** (1 / len(ends))), 2)
    axes = np.meshgrid(*(np.linspace(low, high, each) for low, high in ends), indexing="ij")
    return np.column_stack([one.ravel() for one in axes])
