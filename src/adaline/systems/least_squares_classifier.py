"""Classification by least squares on coded targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from adaline import enclosures
from adaline.arrays import Array, RowsLike, TargetsLike, WeightsLike, host
from adaline.errors import InvalidData, InvalidParameter, SumsMissing
from adaline.fits.ridge_folds import RidgeFolds
from adaline.forms import Count, Curves, Strings
from adaline.input.basis import columns_of
from adaline.input.columns import InputColumns
from adaline.input.labels import Labels
from adaline.input.system import columns_on
from adaline.parameters import AUTO, FLAG, NONE, PENALTY, AnyOf, Number, OneOf, UsedWith, WholeNumber, one_of
from adaline.penalties import RidgePenalty
from adaline.solvers.least_squares.choose import is_wide, solve_least_squares, solve_wide
from adaline.solvers.least_squares.direct import output_digits, solve_sums
from adaline.solvers.least_squares.ridge import choose_penalty
from adaline.sources import Source
from adaline.state import MISSING, FitSettings, FittedAttribute, FittedWith, Missing, as_fitted
from adaline.sums import ClassMoments, Moments
from adaline.systems.families.closed_form import (
    NOT_JUDGED,
    ClosedFormClassifier,
    ClosedFormState,
    OpenedClasses,
)
from adaline.systems.families.named import named_system
from adaline.systems.families.weights import column_notes, warn_of_dependence
from adaline.systems.ridge import ScoringCheck, eigenbasis, spread_of

if TYPE_CHECKING:
    from adaline.enclosures.enclosure import Enclosure

TargetCoding = Literal["one-of-k", "signed", "fisher"]
FoldCriterion = Literal["gcv", "folds"]


@dataclass(frozen=True)
class LeastSquaresClassesSettings(FitSettings):
    """The settings that a least-squares classifier is read with."""

    coding: TargetCoding
    threshold: float
    penalty: float | Literal["auto"]
    fit_intercept: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class LeastSquaresClassesState(ClosedFormState):
    """What a least-squares classifier has learned; until two classes have rows, only its sums.

    Parameters
    ----------
    rank, aliased, dependencies : of the columns, as `LinearRegression` says.
    penalty, path : the penalty used, and the criterion that chose it.
    """

    rank: Count | None = None
    aliased: Annotated[NDArray[np.object_], Strings(".")] | Missing | None = MISSING
    dependencies: list[str] | Missing | None = MISSING
    penalty: float | None = None
    path: Curves | None = None


@named_system
@dataclass(kw_only=True, eq=False, repr=False)
class LeastSquaresClassifier(ClosedFormClassifier):
    """Least squares on coded labels: minimises 1/2 sum_n weight_n ||T(class_n) - W'(1, x_n)||^2 + penalty/2 ||W||^2.

    Parameters
    ----------
    coding : "one-of-k", "signed" or "fisher"
        Targets: 1 for the class and 0 for the others; +1 for the class and -1 for the others; or, for two classes,
        N/N_1 for C1 = classes_[1] and -N/N_0, which gives Fisher's discriminant.
    threshold : number
        Two classes: C1 is predicted where its output exceeds the other's by more than this (one-of-k), or where the
        output exceeds it (signed, fisher).
    penalty : number or "auto"
        Ridge penalty on the weights, constants free. A number acts in the columns' own units; "auto" minimises a
        criterion of all targets together, on columns of unit standard deviation.
    criterion : "gcv" or "folds"
        What "auto" minimises: generalised cross-validation, or the error of rows held out, one fold after the other,
        which takes one more pass.
    folds : int
        How many parts "folds" has; the rows are in them by their index, with `scoring` shuffled class by class.
    scoring : None, a name of scikit-learn's scores, or a function (model, X, y)
        What "folds" measures, the larger the better, on rows in memory, such as "accuracy"; None is the squared error
        of the outputs.
    fit_intercept : bool
        Whether the machines have a constant.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    classes_ : labels. coef_, intercept_ : (1, D) and (1,) for two classes, else (K, D) and (K,).
    rank_ : of the design. certificate_ : digits, condition, rank. aliased_ : names of the columns that are constant or
    depend on those before them (None for wide data). dependencies_ : how, as text. penalty_ : penalty used.
    path_ : for "auto", a dictionary with `penalties` and `values` of the criterion.

    Examples
    --------
    >>> from adaline import LeastSquaresClassifier, datasets
    >>> data = datasets.load("penguins", target="species")
    >>> model = LeastSquaresClassifier().fit(data.X, data.y)
    >>> model.coef_.shape
    (3, 4)

    References
    ----------
    Lectures S2 and S3, least-squares classifiers; S1 and S4, classification by regression. Passes as LinearRegression.
    """

    coding: Annotated[TargetCoding, one_of(TargetCoding)] = "one-of-k"
    threshold: Annotated[float, Number()] = 0.0
    used_with: ClassVar[UsedWith] = {
        "criterion": {"penalty": AUTO},
        **{name: {"criterion": OneOf("folds")} for name in ("folds", "scoring")},
    }
    penalty: Annotated[float | Literal["auto"], PENALTY] = 0.0
    criterion: Annotated[FoldCriterion, one_of(FoldCriterion)] = "gcv"
    folds: Annotated[int, WholeNumber(2)] = 5
    scoring: Annotated[Any, AnyOf(NONE, ScoringCheck())] = None
    fit_intercept: Annotated[bool, FLAG] = True
    basis: Any = None

    learns = LeastSquaresClassesState
    _fitted_with = FittedWith(LeastSquaresClassesSettings)
    rank_ = FittedAttribute[int]()
    aliased_ = FittedAttribute[NDArray[np.object_] | None]()
    dependencies_ = FittedAttribute[list[str] | None]()
    penalty_ = FittedAttribute[float]()
    path_ = FittedAttribute[dict[str, Array]]()

    def _solve(self, rows: OpenedClasses, sums: ClassMoments) -> LeastSquaresClassesState:
        targets, source = self._targets(sums.weights), rows.source
        recoded = None if source is None else source.changed(source.targets.recoding(targets))
        moments = self._coded(sums, targets)
        penalty, path = self._ridge(moments, rows, sums, recoded)
        of_both = targets.shape == (2, 2)
        if of_both:  # one fit to their difference: that of two fits has fewer digits
            targets = _difference_and_sum(targets, self.fit_intercept)
            recoded = None if source is None else source.changed(source.targets.recoding(targets))
            moments = self._coded(sums, targets)
        if recoded is None:
            fit = solve_sums(moments, self.fit_intercept, penalty)
        elif is_wide(recoded):
            fit = solve_wide(recoded, self.fit_intercept, penalty)
        else:
            fit = solve_least_squares(recoded, moments, self.fit_intercept, penalty)
        proof = fit.solution.certificate
        theta, share = (fit.solution.theta[:1], 0.5) if of_both else (fit.solution.theta, 1.0)
        coef, intercept = self._discriminants(theta, len(rows.classes))
        notes = column_notes(fit, rows.columns.coefficient_names)
        if source is not None or sums.rows > sums.features:
            before = None if source is not None else getattr(self, "dependencies_", None)
            warn_of_dependence(notes.dependencies, before)
        return LeastSquaresClassesState(
            **rows.with_sums(sums),
            fitted_with=self._settings_of_fit(),
            certificate=replace(proof, objective=share * proof.objective, gap=share * proof.gap),
            rank=proof.rank,
            aliased=notes.aliased,
            dependencies=notes.dependencies,
            penalty=penalty.value,
            path=path,
            coef=coef,
            intercept=intercept,
        )

    def _discriminants(self, theta: Array, classes: int) -> tuple[Array, Array]:
        """Return coefficients and intercepts of the weights (m, 1 + D) of coded targets; of two classes it is one."""
        if classes == 2:
            theta = theta[1:] - theta[:1] if len(theta) == 2 else theta
            theta = theta - np.append(self.threshold, np.zeros(theta.shape[1] - 1))
        return theta[:, 1:], theta[:, 0]

    def _coded(self, sums: ClassMoments, targets: Array) -> Moments:
        """Return the moments of the rows with the targets of their classes."""
        moments = sums.coded(targets)
        return moments if self.fit_intercept else moments.about_zero()

    def _dependencies(self, state: ClosedFormState) -> list[str] | None:
        known = state.dependencies if isinstance(state, LeastSquaresClassesState) else None
        return None if isinstance(known, Missing) else known

    def _output_digits(self, state: ClosedFormState) -> float:
        sums = state.sums
        if not (sums.weights > 0).all():
            return super()._output_digits(state)
        moments = self._coded(sums, self._targets(sums.weights))
        rows = OpenedClasses(columns=state.columns, classes=state.classes, source=None, like=state.like)
        return output_digits(moments, bool(self.fit_intercept), self._ridge(moments, rows, sums)[0])

    def _sums_suffice(self) -> bool:
        return not (self.penalty == "auto" and self.criterion == "folds") and super()._sums_suffice()

    def _ridge(
        self, moments: Moments, rows: OpenedClasses, sums: ClassMoments, recoded: Source | None = None
    ) -> tuple[RidgePenalty, dict[str, Array] | None]:
        """Return the penalty given, or what "auto" finds with its path; `recoded` are the rows with coded targets."""
        if not isinstance(self.penalty, str):
            return RidgePenalty(float(self.penalty), np.ones(moments.shape.features)), None
        unit = spread_of(moments)
        spectrum = eigenbasis(moments, unit, self.fit_intercept, moments.weight, False).spectrum
        scale = np.exp2(2 * (spectrum.exponent - spectrum.exponent.max()))

        def error(penalty: Array) -> Array:
            return sum((share * spectrum.gcv(k, penalty) for k, share in enumerate(scale)), np.zeros(len(penalty)))

        largest = float(spectrum.d.max(initial=0.0)) or 1.0
        if self.criterion == "folds":
            found = choose_penalty(self._held_out(rows, sums, recoded), largest)
        else:
            found = choose_penalty(error, largest)
            with np.errstate(over="ignore"):
                found = replace(found, values=np.ldexp(found.values, 2 * int(spectrum.exponent.max())))
        return RidgePenalty(found.penalty, unit), {"penalties": found.penalties, "values": found.values}

    def _held_out(self, rows: OpenedClasses, sums: ClassMoments, recoded: Source | None) -> Callable[[Array], Array]:
        """Return the error of rows held out as a function of penalties."""
        if rows.source is None or recoded is None:
            raise SumsMissing("criterion='folds' needs the rows, and only sums are at hand; use 'gcv'")

        def model(theta: Array, index: Array) -> tuple[LeastSquaresClassifier, Labels]:
            one = LeastSquaresClassifier(coding=self.coding, threshold=self.threshold)
            coef, intercept = one._discriminants(theta, len(rows.classes))
            one._state = LeastSquaresClassesState(
                columns=InputColumns(theta.shape[1] - 1),
                fitted_with=one._settings_of_fit(),
                classes=rows.classes,
                certificate=NOT_JUDGED,
                sums=sums,
                like=None,
                coef=coef,
                intercept=intercept,
            )
            return one, rows.classes[index[:, 0].astype(np.intp)]

        options = (bool(self.fit_intercept), True, int(self.folds), self.scoring)
        folds = RidgeFolds(recoded, *options, rows.source, model)
        return partial(folds.errors, range(recoded.shape.targets))

    def _enclosed(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike) -> Enclosure:
        fitted, weights, two = as_fitted(self), self._sums.weights, len(self.classes_) == 2
        if fitted.threshold or not (weights > 0).all():
            raise InvalidParameter("enclosures are of classes that all have rows, and of threshold=0")
        targets = fitted._targets(weights)
        unit = np.ones(self._sums.features)
        if fitted.penalty == "auto":
            unit = spread_of(fitted._coded(self._sums, targets))
        if two:
            targets = _difference(targets)
        source = self._open(X, y, sample_weight, reset=False).encoded(self.classes_)
        source = source.changed(source.targets.recoding(targets))
        theta = np.column_stack([host(self.intercept_), host(self.coef_)])
        penalty = RidgePenalty(float(self.penalty_), unit)
        found = enclosures.enclose_least_squares(source, bool(fitted.fit_intercept), penalty, theta)
        classes = enclosures.ClassTargets(self.classes_.tolist(), targets)
        statement = enclosures.Statement.of(
            columns_on(self), X, sample_weight, source, bool(fitted.fit_intercept), [(None, penalty)], classes
        )
        return enclosures.enclosure_of([found], columns_of(self), two, self._read, statement)

    def _targets(self, weights: Array) -> Array:
        """Return the targets of each class, (K, m)."""
        k = len(weights)
        if k > 2 and self.coding == "fisher":
            raise InvalidData(f"coding='fisher' needs two classes, y has {k}; use 'one-of-k' or FisherDiscriminant")
        if k > 2 and self.threshold:
            raise InvalidData(f"a threshold needs two classes, y has {k}")
        if self.coding == "one-of-k":
            return np.eye(k)
        if k > 2:
            return 2 * np.eye(k) - 1
        if self.coding == "signed":
            return np.array([[-1.0], [1.0]])
        return np.asarray(np.array([[-1.0], [1.0]]) * weights.sum() / weights[:, None])


def _difference_and_sum(targets: Array, intercept: bool) -> Array:
    """Return the difference of the targets of two classes, (2, 1), and without an intercept also their sum, (2, 2).

    Half the sum of their squared errors is that of the two targets. With an intercept the sum, 1, has no error.
    """
    return _difference(targets) if intercept else np.column_stack([_difference(targets), targets.sum(axis=1)])


def _difference(targets: Array) -> Array:
    """Return the targets (2, 1) of two classes whose output is that of the second less that of the first."""
    return targets[:, 1:] - targets[:, :1] if targets.shape[1] == 2 else targets
