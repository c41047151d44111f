"""What the closed-form classifiers share: labels, class moments, streaming, merging, forgetting, predicting."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adaline import enclosures
from adaline.arrays import Array, LabelsLike, RowsLike, TargetsLike, WeightsLike, host, like_rows, to_device_of
from adaline.basis.base import BASIS
from adaline.construction import check_parameters
from adaline.errors import AdalineWarning, InvalidData, InvalidParameter, UnsafeForget, warn
from adaline.estimator import clone
from adaline.fitted import check_is_fitted
from adaline.forms import NOT_KEPT, ClassesOf, Finite, Floats, Slopes
from adaline.input import Meter, by_blocks, continuation, transaction
from adaline.input.basis import check_basis, columns_of
from adaline.input.columns import InputColumns
from adaline.input.drafts import snapshot
from adaline.input.labels import Labels, all_classes, too_few_classes
from adaline.input.open import LabelledRows, open_labelled, read_finite
from adaline.input.system import SystemState, check_same_columns, columns_on
from adaline.results import Certificate, Status, after_one_go, some, with_note, without_constants
from adaline.solvers.least_squares.choose import GRAM_BYTES
from adaline.solvers.least_squares.factor import Factor, varying
from adaline.solvers.least_squares.fit import certificate
from adaline.sources import Source
from adaline.sources.device import empty_on_device
from adaline.sources.totals import weight_totals
from adaline.state import FittedAttribute
from adaline.sums import ClassMoments, Moments
from adaline.systems.families.folds import FoldedRows, Unions, once, sum_folds
from adaline.systems.families.supervised import LinearClassifier
from adaline.systems.families.weights import finite_outputs
from adaline.wording import counted

if TYPE_CHECKING:
    from adaline.enclosures.discriminants import Discrimination
    from adaline.enclosures.enclosure import Enclosure

SAFE_DIGITS = 9.0  # that have to be left where rows are taken back out
ONE_CLASS = certificate(
    status=Status.FEW_DIGITS, digits=0.0, condition=1.0, passes=1, solver="none: rows of one class only"
)
"""The certificate of a model fitted to rows of a single class."""
WITHIN = "To tell classes apart by such a column, decide by its values, or use LeastSquaresClassifier"


NOT_JUDGED = certificate(status=Status.FEW_DIGITS, digits=0.0, condition=1.0, passes=0, solver="none: weights given")
"""The certificate of weights that are only tried, on rows held out."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClosedFormState(SystemState):
    """What a fit from class moments has learned; each learner adds its own.

    Parameters
    ----------
    classes : the labels, also those that have no rows.
    sums : the moments of each class.
    like : an empty array where the rows lie, on a device; None on the host.
    certificate : how good the solution is.
    coef, intercept : hyperplanes, (1, D) and (1,) for two classes, else (K, D) and (K,).
    """

    classes: Annotated[Labels, ClassesOf("C")]
    sums: ClassMoments
    like: Annotated[Any, NOT_KEPT]
    certificate: Certificate
    coef: Slopes | None = None
    intercept: Annotated[Array, Floats("K")] | None = None


@dataclass(frozen=True, kw_only=True)
class OpenedClasses:
    """The rows of a fit, as a solver takes them.

    Parameters
    ----------
    columns : of the input.
    classes : the labels.
    source : the rows with the indices of their labels; None where only their sums are at hand.
    like : as in the state.
    """

    columns: InputColumns
    classes: Labels
    source: Source | None
    like: Any

    def with_sums(self, sums: ClassMoments) -> dict[str, Any]:
        """Return what a state has beside the solution, by the names of its fields."""
        return {"columns": self.columns, "classes": self.classes, "sums": sums, "like": self.like}


@dataclass(frozen=True)
class ClassDensities:
    """Normal densities of K classes.

    Parameters
    ----------
    hi, lo : (K, D) means, as sums hi + lo; NaN for classes without rows.
    factors : of the scatter of each class, or None for those without rows.
    log_determinants : (K,) ln |Sigma_k|.
    """

    hi: Annotated[Array, Floats("C D")]
    lo: Annotated[Array, Floats("C D")]
    factors: list[Factor | None]
    log_determinants: Annotated[Array, Finite("C")]


class ClosedFormClassifier(LinearClassifier):
    """A classifier that is solved from class moments."""

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({},)  # the settings that compare tries
    basis: Annotated[Any, BASIS]

    learns: ClassVar[type[ClosedFormState]]
    _state: ClosedFormState | None
    classes_ = FittedAttribute[Labels]()
    coef_ = FittedAttribute[Array]()
    intercept_ = FittedAttribute[Array]()
    certificate_ = FittedAttribute[Certificate]()
    _sums = FittedAttribute[ClassMoments]()
    _like = FittedAttribute[Any]()

    @abstractmethod
    def _solve(self, rows: OpenedClasses, sums: ClassMoments) -> ClosedFormState:
        """Solve from the sums of classes that all have rows, with the rows themselves where they are at hand."""

    @transaction
    def fit(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Fit to rows X (n, D) and labels y (n,), or to a source; weights are frequencies."""
        meter = Meter(X)
        check_parameters(self)
        given = self._open(X, y, sample_weight, reset=True)
        classes, source, total = self._gathered(given, lambda classes: classes)
        self._refuse_one_class(classes)
        state = self._found(_with_rows(given.columns, classes, source), total, meter, source)
        self._state = replace(state, certificate=after_one_go(state.certificate))
        return self

    @continuation
    def partial_fit(
        self, X: RowsLike, y: TargetsLike = None, classes: LabelsLike = None, sample_weight: WeightsLike = None
    ) -> Self:
        """Take in more rows: equals one fit on all rows. New labels open classes; `classes` may name them first."""
        meter = Meter(X)
        first = self._state is None
        check_parameters(self)
        if not first:
            check_basis(self)
        given = self._open(X, y, sample_weight, reset=first)
        known = [] if first else [self.classes_]
        named = [] if classes is None else [np.asarray(classes)]

        def union(found: Labels) -> Labels:
            every = all_classes(found, *known, *named)
            if named and len(all_classes(*named, *known)) < len(every):
                raise InvalidData(f"y has labels that are not among the classes {list(named[0])}")
            return every

        every, source, total = self._gathered(given, union)
        if not first:
            total.merge(self._arranged(self.classes_, every))
        rows = _with_rows(given.columns, every, source)
        self._state = self._found(replace(rows, source=None), total, meter, source)
        return self

    @continuation
    def merge(self, other: Self) -> Self:
        """Take in another fitted model: as if fitted on both data sets."""
        meter = Meter()
        check_is_fitted(self, "classes_")
        if type(other) is not type(self):
            raise InvalidParameter(f"cannot merge {type(self).__name__} with {type(other).__name__}")
        other = snapshot(other)
        check_is_fitted(other, "classes_")
        check_same_columns(self, other)
        if self.n_features_in_ != other.n_features_in_:
            raise InvalidData(f"cannot merge models of {self.n_features_in_} and {other.n_features_in_} columns")
        union = all_classes(self.classes_, other.classes_)
        total = self._arranged(self.classes_, union)
        total.merge(other._arranged(other.classes_, union))
        rows = OpenedClasses(columns=columns_on(self), classes=union, source=None, like=self._like)
        self._state = self._found(rows, total, meter, None)
        return self

    @continuation
    def forget(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Take rows back out, as if they had never been fitted; refused where too few digits would be left.

        A weight takes out as many of the row's copies.
        """
        meter = Meter(X)
        check_is_fitted(self, "classes_")
        given = self._open(X, y, sample_weight, reset=False)
        source = given.encoded(self.classes_)
        gone = self._collect(source, len(self.classes_))
        if (gone.weights > self._sums.weights * (1 + 1e-12)).any():
            raise UnsafeForget("cannot forget rows that were not fitted: the model holds fewer rows of their class")
        total = self._sums.copy()
        total.subtract(gone, self._weighted_rows(source))
        if not total.weights.any():
            raise UnsafeForget("cannot forget all rows: a model without any has no classes. Refit instead")
        rows = _with_rows(given.columns, self.classes_, source)
        state = self._found(replace(rows, source=None), total, meter, source)
        refuse_few_digits(state.certificate.digits, [partial(self._output_digits, state)], self._dependencies(state))
        self._state = state
        return self

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

        def open_folds() -> FoldedRows | None:
            given = clone(self)._open(X, y, sample_weight, reset=True)
            classes = given.all_classes()
            source = given.encoded(classes)
            config = {"of": ClassMoments, "classes": len(classes), "centred": not source.sparse}
            folded = sum_folds(source, given.columns, fold, unions, **config)
            if folded is None or len(classes) < 2:
                return None
            merged = [one.about_means() for one in folded.unions]
            return folded._replace(total=folded.total.about_means(), unions=merged, classes=classes)

        return once(shared, ClosedFormClassifier, open_folds)

    def _sums_suffice(self) -> bool:
        """Whether the system is determined by the moments of the classes."""
        return self.basis is None

    @transaction
    def _fit_sums(self, rows: FoldedRows, total: ClassMoments, source: Source | None) -> Self:
        meter = Meter(source)
        present = np.flatnonzero(total.weights > 0)
        assert rows.classes is not None
        classes, total = rows.classes[present], ClassMoments([total.parts[k] for k in present])
        self._refuse_one_class(classes)
        opened = replace(_with_rows(rows.columns, classes, rows.source), source=source)
        state = self._found(opened, total, meter, source)
        self._state = state if source is None else replace(state, certificate=after_one_go(state.certificate))
        return self

    def _refuse_one_class(self, classes: Labels) -> None:
        if len(classes) < 2:
            raise too_few_classes(type(self).__name__, classes)

    def _dependencies(self, state: ClosedFormState) -> list[str] | None:
        """Return how columns depend on others, as far as the system finds out."""
        return None

    def _output_digits(self, state: ClosedFormState) -> float:
        """Return the correct digits of the discriminants, as far as they are known to exceed those of coefficients."""
        return state.certificate.digits

    @by_blocks
    def decision_function(self, X: RowsLike) -> Array:
        """Return (n,) for two classes, where classes_[1] is predicted if it is above zero; else (n, K)."""
        check_is_fitted(self, "classes_")
        values = finite_outputs(self._read(X), self.coef_, self.intercept_)
        return like_rows(X, values[:, 0] if values.shape[1] == 1 else values)

    def enclose(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Enclosure:
        """Return bounds that are proved to contain the exact coefficients for these rows, as `LinearRegression` does.

        They are of `LeastSquaresClassifier` (the targets of coding="fisher" are those in float64); of
        `FisherDiscriminant` with covariance="within" and, of more than two classes, all directions that the class means
        can span, as the discriminants then do not depend on eigenvectors; and of `GaussianClassifier` with a shared
        covariance without shrinkage. `predict` of the result has bounds on the decision function, and `certain` says of
        which rows the class is certain.

        Parameters
        ----------
        X, y, sample_weight
            The rows, as for `fit`, of the classes that were fitted.

        Returns
        -------
        Enclosure : named tuple of `lower` and `upper`, each (1 + D,) for two classes, else (K, 1 + D), intercept first.

        Examples
        --------
        >>> from adaline import FisherDiscriminant, GaussianClassifier, LeastSquaresClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [4.0], [6.0]], [0, 0, 0, 1, 1]
        >>> for kind in (FisherDiscriminant, GaussianClassifier, LeastSquaresClassifier):
        ...     found = kind().fit(X, y).enclose(X, y)
        ...     print(found.proved, found.certain([[1.0], [4.0]]))
        True [ True  True]
        True [ True  True]
        True [ True  True]
        """
        check_is_fitted(self, "classes_")
        return self._enclosed(X, y, sample_weight).beside(self.intercept_, self.coef_, self.certificate_.digits)

    @abstractmethod
    def _enclosed(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike) -> Enclosure:
        """Return bounds on the coefficients for these rows."""

    def _enclose_discriminants(
        self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, kind: Discrimination
    ) -> Enclosure:
        """Return bounds on discriminants of this kind."""
        if not (self._sums.weights > 0).all():
            raise InvalidParameter("enclosures are of classes that all have rows")
        source = self._open(X, y, sample_weight, reset=False).encoded(self.classes_)
        return enclosures.enclose_discriminants(
            source, len(self.classes_), kind, ["intercept", *columns_of(self)], self._read
        )

    def _read(self, X: RowsLike) -> Any:
        return read_finite(self, X)

    def _open(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, *, reset: bool) -> LabelledRows:
        given = open_labelled(self, X, y, sample_weight, reset=reset)
        return given._replace(encoded=lambda classes: self._checked(given.encoded(classes), len(classes)))

    def _checked(self, source: Source, classes: int) -> Source:
        """Refuse a source whose sums are too large."""
        columns = source.shape.features
        if 8 * classes * columns**2 > GRAM_BYTES:
            raise InvalidData(
                f"{type(self).__name__} needs a matrix of {columns} x {columns} numbers for each of {classes} classes, "
                f"beyond the limit of {GRAM_BYTES >> 20} MiB. Use fewer columns."
            )
        return source

    def _gathered(self, given: LabelledRows, union: Callable[[Labels], Labels]) -> tuple[Labels, Source, ClassMoments]:
        """Return all classes, the rows with the indices of their labels, and the sums."""

        def gathered(found: Labels) -> tuple[Labels, Source, ClassMoments]:
            source = given.encoded(classes := union(found))
            return classes, source, self._collect(source, len(classes))

        return given.using_classes(gathered)

    def _collect(self, source: Source, classes: int) -> ClassMoments:
        sums = source.sum(ClassMoments, classes=classes, centred=not source.sparse)
        if not sums.finite:
            source.refuse_nonfinite()
        return sums.about_means()

    def _weighted_rows(self, source: Source) -> list[int] | None:
        """Return how many rows of each class have a weight above zero; None where all have."""
        weight = source.read_weights()
        if weight is None:
            return None
        codes = host(source.read_targets())[host(weight) > 0, 0]
        return list(np.bincount(codes.astype(np.intp), minlength=len(self.classes_)))

    def _arranged(self, classes: Labels, union: Labels) -> ClassMoments:
        return self._sums.copy().arranged([int(i) for i in np.searchsorted(union, classes)], len(union))

    def _found(self, rows: OpenedClasses, total: ClassMoments, meter: Meter, read: Source | None) -> ClosedFormState:
        """Solve over the classes that have rows; the others, named beforehand or forgotten, are never predicted.

        `read`: the rows that were read for it.
        """
        present = np.flatnonzero(total.weights > 0)
        if len(present) == len(rows.classes):
            solved = self._solve(rows, total)
            if solved.intercept is not None and not np.isfinite(solved.intercept).all():
                raise InvalidData(
                    "intercept_ overflows float64: some columns are too large or too small. Rescale them."
                )
        else:
            solved = self.learns(**rows.with_sums(total), fitted_with=self._settings_of_fit(), certificate=ONE_CLASS)
            if len(present) > 1:
                some_rows = replace(rows, classes=rows.classes[present], source=None)
                solved = self._solve(some_rows, ClassMoments([total.parts[k] for k in present]))
                solved = replace(solved, classes=rows.classes, sums=total)
            solved = self._spread_out(solved, total, present)
        if rows.like is not None and solved.coef is not None:
            coef, intercept = (to_device_of(rows.like, one) for one in (solved.coef, solved.intercept))
            solved = replace(solved, coef=coef, intercept=intercept)
        proof, constant = solved.certificate, self._constant(rows, total)
        lost = self._constant_within_classes(rows, total) if proof.rank < total.features - len(constant) else []
        if lost:
            note = f"left out, as nothing varies there within any class: {some(lost)}. {WITHIN}"
            proof = with_note(proof, note)
            if rows.source is not None:  # all rows are here, more will not follow
                warn(note, AdalineWarning)
        return replace(solved, certificate=meter.on(without_constants(proof, constant), read))

    def _constant(self, rows: OpenedClasses, total: ClassMoments) -> list[str]:
        """Return the names of columns that are constant beside an intercept."""
        if not getattr(self, "fit_intercept", True):
            return []
        return _named(rows, ~varying(total.total().about_mean()))

    def _constant_within_classes(self, rows: OpenedClasses, total: ClassMoments) -> list[str]:
        """Return the names of columns that vary between classes alone, where the system can make no use of them."""
        return []

    def _spread_out(self, solved: ClosedFormState, total: ClassMoments, present: NDArray[np.intp]) -> ClosedFormState:
        """Spread the coefficients of the classes present over all classes; the others score minus infinity."""
        k, d = len(total.parts), total.features
        coef, constant = np.zeros((k, d)), np.full(k, -np.inf)
        constant[present] = 0.0
        if len(present) > 1:
            assert solved.coef is not None
            assert solved.intercept is not None
            if len(present) == 2:
                coef[present[1]], constant[present[1]] = solved.coef[0], solved.intercept[0]
            else:
                coef[present], constant[present] = solved.coef, solved.intercept
        if k == 2:
            coef, constant = coef[1:] - coef[:1], np.array([np.inf if present[0] == 1 else -np.inf])
        return replace(solved, coef=coef, intercept=constant)


def varying_between_classes_alone(rows: OpenedClasses, total: ClassMoments) -> list[str]:
    """Return the names of columns that are constant within every class, and not in all rows."""
    if not 2 <= (total.weights > 0).sum() < total.rows:
        return []
    return _named(rows, varying(total.total().about_mean()) & ~varying(total.within()))


def _named(rows: OpenedClasses, chosen: NDArray[np.bool_]) -> list[str]:
    """Return the names of the columns chosen, (D,); names are made only where one is."""
    return [rows.columns.coefficient_names()[j] for j in np.flatnonzero(chosen)] if chosen.any() else []


def _with_rows(columns: InputColumns, classes: Labels, source: Source) -> OpenedClasses:
    return OpenedClasses(columns=columns, classes=classes, source=source, like=empty_on_device(source))


def without(mine: Moments, gone: Moments, source: Source) -> Moments:
    """Return the moments without those of the rows of a source; refuse more weight than they hold."""
    if gone.weight > mine.weight * (1 + 1e-12):
        raise UnsafeForget(
            f"cannot forget {counted(gone.rows)} of weight {gone.weight:g}: the model holds {counted(mine.rows)} of "
            f"weight {mine.weight:g}. Forget only rows that were fitted."
        )
    left = mine.copy()
    left.subtract(gone, weight_totals(source).rows)
    return left


def refuse_few_digits(digits: float, of_outputs: Sequence[Callable[[], float]], dependencies: list[str] | None) -> None:
    """Refuse a model that would be left with fewer digits than is safe: of its coefficients, or else of each output.

    A coefficient near zero has few digits of its own, and need not have more where outputs have them. `dependencies`
    are those of the columns.
    """
    if digits < SAFE_DIGITS:
        digits = max(digits, min((count() for count in of_outputs), default=0.0))
    if digits < SAFE_DIGITS and dependencies:
        raise UnsafeForget(
            f"cannot forget rows: some columns are linear combinations of others, {some(dependencies, '; ', 3)}, and "
            "sums alone leave no digits of their coefficients. Leave out a column of each combination, and refit."
        )
    if digits < SAFE_DIGITS:
        raise UnsafeForget(
            f"forgetting these rows would leave {digits:.1f} correct digits, below {SAFE_DIGITS:g}: too few rows "
            "remain, or they say too little next to those taken out. Refit to the remaining rows."
        )
