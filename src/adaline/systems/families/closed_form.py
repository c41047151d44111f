"""What the closed-form classifiers share: labels, class moments, streaming, merging, forgetting, predicting."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, LabelsLike, RowsLike, TargetsLike, WeightsLike, host, like_rows, to_device_of
from adaline.basis.base import BASIS
from adaline.construction import check_parameters
from adaline.errors import AdalineWarning, InvalidData, InvalidParameter, UnsafeForget, warn
from adaline.estimator import clone
from adaline.fitted import check_is_fitted
from adaline.input import Meter, by_blocks, set_columns, transaction
from adaline.input.basis import check_basis, columns_of
from adaline.input.columns import check_same_columns
from adaline.input.drafts import snapshot
from adaline.input.labels import Labels, all_classes, too_few_classes
from adaline.input.open import LabelledRows, open_labelled, read_finite
from adaline.results import Certificate, Status, after_one_go, some, with_note, without_constants
from adaline.solvers.least_squares.choose import GRAM_BYTES
from adaline.solvers.least_squares.factor import varying
from adaline.solvers.least_squares.fit import certificate
from adaline.sources import Source
from adaline.sources.totals import weight_totals
from adaline.sums import ClassMoments, Moments
from adaline.systems.families.folds import FoldedRows, Unions, once, sum_folds
from adaline.systems.families.supervised import LinearClassifier
from adaline.systems.families.weights import finite_outputs
from adaline.wording import counted

SAFE_DIGITS = 9.0  # that have to be left where rows are taken back out
ONE_CLASS = certificate(
    status=Status.FEW_DIGITS, digits=0.0, condition=1.0, passes=1, solver="none: rows of one class only"
)
"""The certificate of a model fitted to rows of a single class."""
WITHIN = "To tell classes apart by such a column, decide by its values, or use LeastSquaresClassifier"


class ClosedFormClassifier(LinearClassifier):
    """A classifier that is solved from class moments."""

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({},)  # the settings that compare tries
    basis: Annotated[Any, BASIS]
    coef_: Array
    intercept_: Array
    n_features_in_: int
    certificate_: Certificate
    _sums: ClassMoments
    _like: Any

    @abstractmethod
    def _solve(self, source: Source | None, sums: ClassMoments) -> Certificate:
        """Set the solution from the sums, with the rows they came from where they are at hand."""

    @transaction
    def fit(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Fit to rows X (n, D) and labels y (n,), or to a source; weights are frequencies."""
        meter = Meter(X)
        check_parameters(self)
        given = self._open(X, y, sample_weight, reset=True)
        self.classes_, source, self._sums = self._gathered(given, lambda classes: classes)
        self._refuse_one_class()
        self._finish(source, meter, source)
        self.certificate_ = after_one_go(self.certificate_)
        return self

    @transaction
    def partial_fit(
        self, X: RowsLike, y: TargetsLike = None, classes: LabelsLike = None, sample_weight: WeightsLike = None
    ) -> Self:
        """Take in more rows: equals one fit on all rows. New labels open classes; `classes` may name them first."""
        meter = Meter(X)
        first = not hasattr(self, "_sums")
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
        self.classes_, self._sums = every, total
        self._finish(None, meter, source)
        return self

    @transaction
    def merge(self, other: Self) -> Self:
        """Take in another fitted model: as if fitted on both data sets."""
        meter = Meter()
        check_is_fitted(self, "classes_")
        if type(other) is not type(self):
            raise InvalidParameter(f"cannot merge {type(self).__name__} with {type(other).__name__}")
        other = snapshot(other)
        check_is_fitted(other, "classes_")
        if self.n_features_in_ != other.n_features_in_:
            raise InvalidData(f"cannot merge models of {self.n_features_in_} and {other.n_features_in_} columns")
        check_same_columns(self, other)
        union = all_classes(self.classes_, other.classes_)
        total = self._arranged(self.classes_, union)
        total.merge(other._arranged(other.classes_, union))
        self.classes_, self._sums = union, total
        self._finish(None, meter, None)
        return self

    @transaction
    def forget(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Take rows back out, as if they had never been fitted; refused where too few digits would be left.

        A weight takes out as many of the row's copies.
        """
        meter = Meter(X)
        check_is_fitted(self, "classes_")
        source = self._open(X, y, sample_weight, reset=False).encoded(self.classes_)
        gone = self._collect(source, len(self.classes_))
        if (gone.weights > self._sums.weights * (1 + 1e-12)).any():
            raise UnsafeForget("cannot forget rows that were not fitted: the model holds fewer rows of their class")
        self._sums = self._sums.copy()
        self._sums.subtract(gone, self._weighted_rows(source))
        if not self._sums.weights.any():
            raise UnsafeForget("cannot forget all rows: a model without any has no classes. Refit instead")
        self._finish(None, meter, source)
        refuse_few_digits(self.certificate_.digits, [self._output_digits], getattr(self, "dependencies_", None))
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
        set_columns(self, rows.columns)
        self._like = rows.source.empty_on_device()
        present = np.flatnonzero(total.weights > 0)
        assert rows.classes is not None
        self.classes_, self._sums = rows.classes[present], ClassMoments([total.parts[k] for k in present])
        self._refuse_one_class()
        self._finish(source, meter, source)
        if source is not None:
            self.certificate_ = after_one_go(self.certificate_)
        return self

    def _refuse_one_class(self) -> None:
        if len(self.classes_) < 2:
            raise too_few_classes(type(self).__name__, self.classes_)

    def _output_digits(self) -> float:
        """Return the correct digits of the discriminants, as far as they are known to exceed those of coefficients."""
        return self.certificate_.digits

    @by_blocks
    def decision_function(self, X: RowsLike) -> Array:
        """Return (n,) for two classes, where classes_[1] is predicted if it is above zero; else (n, K)."""
        check_is_fitted(self, "classes_")
        values = finite_outputs(self._read(X), self.coef_, self.intercept_)
        return like_rows(X, values[:, 0] if values.shape[1] == 1 else values)

    def _read(self, X: RowsLike) -> Any:
        return read_finite(self, X)

    def _open(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, *, reset: bool) -> LabelledRows:
        given = open_labelled(self, X, y, sample_weight, reset=reset)
        set_columns(self, given.columns)
        return given._replace(encoded=lambda classes: self._checked(given.encoded(classes), len(classes)))

    def _checked(self, source: Source, classes: int) -> Source:
        """Refuse a source whose sums are too large, and remember where its arrays live."""
        columns = source.shape.features
        if 8 * classes * columns**2 > GRAM_BYTES:
            raise InvalidData(
                f"{type(self).__name__} needs a matrix of {columns} x {columns} numbers for each of {classes} classes, "
                f"beyond the limit of {GRAM_BYTES >> 20} MiB. Use fewer columns."
            )
        self._like = source.empty_on_device()
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

    def _finish(self, source: Source | None, meter: Meter, counted: Source | None) -> None:
        """Solve over the classes that have rows; the others, named beforehand or forgotten, are never predicted."""
        every, present = self.classes_, np.flatnonzero(self._sums.weights > 0)
        if len(present) == len(every):
            proof = self._solve(source, self._sums)
            if not np.isfinite(getattr(self, "intercept_", 0.0)).all():
                raise InvalidData(
                    "intercept_ overflows float64: some columns are too large or too small. Rescale them."
                )
        else:
            self.classes_ = every[present]
            proof = (
                self._solve(None, ClassMoments([self._sums.parts[k] for k in present]))
                if len(present) > 1
                else ONE_CLASS
            )
            self.classes_ = every
            self._spread_out(present)
        if self._like is not None and hasattr(self, "coef_"):
            self.coef_, self.intercept_ = (to_device_of(self._like, one) for one in (self.coef_, self.intercept_))
        constant = self._constant()
        lost = self._constant_within_classes() if proof.rank < self._sums.features - len(constant) else []
        if lost:
            note = f"left out, as nothing varies there within any class: {some(lost)}. {WITHIN}"
            proof = with_note(proof, note)
            if source is not None:  # all rows are here, more will not follow
                warn(note, AdalineWarning)
        self.certificate_ = meter.on(without_constants(proof, constant), counted)

    def _constant(self) -> list[str]:
        """Return the names of columns that are constant beside an intercept."""
        if not getattr(self, "fit_intercept", True):
            return []
        return [columns_of(self)[j] for j in np.flatnonzero(~varying(self._sums.total().about_mean()))]

    def _constant_within_classes(self) -> list[str]:
        """Return the names of columns that vary between classes alone, where the system can make no use of them."""
        return []

    def _varying_between_classes_alone(self) -> list[str]:
        """Return the names of columns that are constant within every class, and not in all rows."""
        if not 2 <= (self._sums.weights > 0).sum() < self._sums.rows:
            return []
        alone = varying(self._sums.total().about_mean()) & ~varying(self._sums.within())
        return [columns_of(self)[j] for j in np.flatnonzero(alone)]

    def _spread_out(self, present: NDArray[np.intp]) -> None:
        """Spread the coefficients of the classes present over all classes; the others score minus infinity."""
        k, d = len(self.classes_), self._sums.features
        coef, constant = np.zeros((k, d)), np.full(k, -np.inf)
        constant[present] = 0.0
        if len(present) == 2:
            coef[present[1]], constant[present[1]] = self.coef_[0], self.intercept_[0]
        elif len(present) > 2:
            coef[present], constant[present] = self.coef_, self.intercept_
        if k == 2:
            coef, constant = coef[1:] - coef[:1], np.array([np.inf if present[0] == 1 else -np.inf])
        self.coef_, self.intercept_ = coef, constant


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
