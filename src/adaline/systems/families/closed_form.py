"""What the closed-form classifiers share: labels, class moments, streaming, merging, forgetting, predicting."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from adaline.arrays import Array, to_device_of
from adaline.basis.base import BASIS
from adaline.construction import check_parameters
from adaline.errors import InvalidData, InvalidParameter, UnknownLabel, UnsafeForget
from adaline.input.basis import check_basis, columns_of
from adaline.input.by_blocks import by_blocks
from adaline.input.coded import scored
from adaline.input.columns import check_same_columns, set_columns
from adaline.input.labels import Labels, all_classes
from adaline.input.meter import Meter
from adaline.input.open import LabelledRows, open_labelled, read_finite
from adaline.input.transaction import transaction
from adaline.parameters import Check
from adaline.results import Certificate, Status, without_constants
from adaline.solvers.least_squares.choose import GRAM_BYTES
from adaline.solvers.least_squares.factor import varying
from adaline.solvers.least_squares.fit import certificate
from adaline.sources import Source
from adaline.sums import ClassMoments, Moments
from adaline.systems.families.decisions import label_of_largest, linear_outputs
from adaline.wording import counted

SAFE_DIGITS = 9.0  # that have to be left where rows are taken back out
ONE_CLASS = certificate(
    status=Status.FEW_DIGITS,
    objective=np.nan,
    gradient=np.nan,
    gap=np.inf,
    digits=0.0,
    condition=1.0,
    rank=0,
    passes=1,
    solver="none: rows of one class only",
)
"""The certificate of a model fitted to rows of a single class."""


class ClosedFormClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that is solved from class moments."""

    compared: ClassVar[tuple[dict[str, Any], ...]] = ({},)  # the settings that compare tries
    parameters: ClassVar[dict[str, Check]] = {"basis": BASIS}
    classes_: Labels
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
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows X (n, D) and labels y (n,), or to a source; weights are frequencies."""
        meter = Meter(X)
        check_parameters(self)
        given = self._open(X, y, sample_weight, reset=True)
        self.classes_, source, self._sums = self._gathered(given, lambda classes: classes)
        if len(self.classes_) < 2:
            raise InvalidData(
                f"{type(self).__name__} needs rows of at least 2 classes; there is one class, '{self.classes_[0]}'"
            )
        self._finish(source, meter, source)
        return self

    @transaction
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
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
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take rows back out, as if they had never been fitted; refused where too few digits would be left."""
        meter = Meter(X)
        check_is_fitted(self, "classes_")
        source = self._open(X, y, sample_weight, reset=False).encoded(self.classes_)
        gone = self._collect(source, len(self.classes_))
        if (gone.weights > self._sums.weights * (1 + 1e-12)).any() or gone.rows > self._sums.rows:
            raise UnsafeForget("cannot forget rows that were not fitted: the model holds fewer rows of their class")
        self._sums = self._sums.copy()
        self._sums.subtract(gone)
        if not self._sums.weights.any():
            raise UnsafeForget("cannot forget all rows: a model without any has no classes. Fit anew instead")
        self._finish(None, meter, source)
        refuse_few_digits(self.certificate_.digits)
        return self

    @by_blocks
    def decision_function(self, X: Any) -> Array:
        """Return (n,) for two classes, where classes_[1] is predicted if it is above zero; else (n, K)."""
        check_is_fitted(self, "classes_")
        values = linear_outputs(self._read(X), self.coef_, self.intercept_)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> Labels:
        """Return the label of the largest discriminant for each row."""
        return label_of_largest(self.decision_function(X), self.classes_)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of labels predicted for rows X (n, D) and y, or for a source."""
        return scored(self, super().score, X, y, sample_weight)

    def _read(self, X: Any) -> Any:
        return read_finite(self, X)

    def _open(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> LabelledRows:
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
        classes = union(given.guess())
        try:
            source = given.encoded(classes)
            return classes, source, self._collect(source, len(classes))
        except UnknownLabel:  # the first rows did not have all labels
            classes = union(given.all_classes())
            source = given.encoded(classes)
            return classes, source, self._collect(source, len(classes))

    def _collect(self, source: Source, classes: int) -> ClassMoments:
        sums = source.sum(ClassMoments, classes=classes, centred=not source.sparse)
        if not sums.finite:
            source.refuse_nonfinite()
        return sums.about_means()

    def _arranged(self, classes: Labels, union: Labels) -> ClassMoments:
        return self._sums.copy().arranged([int(i) for i in np.searchsorted(union, classes)], len(union))

    def _finish(self, source: Source | None, meter: Meter, counted: Source | None) -> None:
        """Solve over the classes that have rows; the others, named beforehand or forgotten, are never predicted."""
        every, present = self.classes_, np.flatnonzero(self._sums.weights > 0)
        if len(present) == len(every):
            proof = self._solve(source, self._sums)
            if not np.isfinite(self.__dict__.get("intercept_", 0.0)).all():
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
            self.coef_, self.intercept_ = (
                to_device_of(self._like, self.coef_),
                to_device_of(self._like, self.intercept_),
            )
        self.certificate_ = meter.on(without_constants(proof, self._constant()), counted)

    def _constant(self) -> list[str]:
        """Return the names of columns that are constant beside an intercept."""
        if not getattr(self, "fit_intercept", True):
            return []
        return [columns_of(self)[j] for j in np.flatnonzero(~varying(self._sums.total().about_mean()))]

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def without(mine: Moments, gone: Moments) -> Moments:
    """Return the moments with rows taken out; refuse more rows or weight than they hold."""
    if gone.rows > mine.rows or gone.weight > mine.weight * (1 + 1e-12):
        raise UnsafeForget(
            f"cannot forget {counted(gone.rows)} of weight {gone.weight:g}: the model holds {counted(mine.rows)} of "
            f"weight {mine.weight:g}. Forget only rows that were fitted."
        )
    left = mine.copy()
    left.subtract(gone)
    return left


def refuse_few_digits(digits: float) -> None:
    """Refuse a model that would be left with fewer digits than is safe."""
    if digits < SAFE_DIGITS:
        raise UnsafeForget(
            f"forgetting these rows would leave {digits:.1f} correct digits, below {SAFE_DIGITS:g}: too few rows "
            "remain, or they say too little next to those taken out. Fit the remaining rows anew."
        )
