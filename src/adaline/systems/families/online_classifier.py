"""What the online classifiers share: labels as targets of one or K machines, class weights, decisions."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import Annotated, Any, Self

import numpy as np

from adaline.arrays import (
    AnyArray,
    Array,
    LabelsLike,
    RowLike,
    RowsLike,
    TargetLike,
    TargetsLike,
    WeightsLike,
    like_rows,
)
from adaline.block import Block
from adaline.construction import check_parameters
from adaline.errors import InvalidData, TooLarge, UnknownLabel
from adaline.estimator import ClassifierMixin
from adaline.input import Meter, by_blocks, continuation, transaction
from adaline.input.basis import check_basis
from adaline.input.class_weights import class_weights
from adaline.input.coded import scored
from adaline.input.first_pass import class_weights_of
from adaline.input.labels import Labels, all_classes, too_few_classes
from adaline.input.open import LabelledRows, open_labelled
from adaline.locks import lock_of
from adaline.parameters import CLASS_WEIGHT
from adaline.sources import Source
from adaline.sources.views import in_memory, recoded
from adaline.state import FittedAttribute, read_only
from adaline.systems.families.decisions import label_of_largest
from adaline.systems.families.online import OnlineSystem
from adaline.systems.families.online_state import OnlineState
from adaline.systems.families.single_row import finite_row
from adaline.systems.families.supervised import LinearClassifier


class OnlineClassifier(ClassifierMixin, OnlineSystem):
    """A classifier that learns row by row: one machine for two classes, one for each of K > 2 classes."""

    class_weight: Annotated[Any, CLASS_WEIGHT]
    classes_ = FittedAttribute[Labels]()
    _targets = FittedAttribute[dict[Any, Any]]()

    def _class_targets(self, classes: int) -> Array:
        """Return the targets of each class, (C, machines)."""
        return signed(classes)

    @transaction
    def fit(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Fit to rows X (n, D) and labels y (n,), or to a source, for up to `epochs` epochs.

        A weight multiplies the rate of its row's step. With `warm_start` learning continues from the present weights.
        """
        self._learn_labels(X, y, sample_weight, None, self._state if self.warm_start else None)
        return self

    @continuation
    def partial_fit(
        self, X: RowsLike, y: TargetsLike = None, classes: LabelsLike = None, sample_weight: WeightsLike = None
    ) -> Self:
        """Go over more rows once, in their order; rows in chunks give the same bits as all at once.

        With mode="batch" a call is one step on the sum over its rows instead. The first call must know all classes:
        from its rows, or from `classes`.
        """
        self._learn_labels(X, y, sample_weight, classes, self._state, once=True)
        return self

    def learn_one(self, x: RowLike, y: TargetLike, classes: LabelsLike = None) -> Self:
        """Learn from one row: an array (D,), or a dict by column names.

        A new model must know its classes: from `classes`, or because the label is True or False.
        """
        if classes is not None:
            self._check_named(classes)
        try:
            if self.class_weight is None and self._state.scan._native.take(x, y):  # type: ignore[union-attr]
                return self  # at once, from the second row on
        except AttributeError:  # there is no scan, or no native one yet
            pass
        with lock_of(self):
            self._learn_next(x, y, classes)
        return self

    def _learn_next(self, x: RowLike, y: TargetLike, classes: LabelsLike) -> None:
        """Learn from one row, with the lock of the model; the first row begins it."""
        state = self._state or self._begin_with(x, y, classes)
        if self.class_weight is None:
            self._learn_row(x, self._target(y))
            return
        row, t, weight = self._weighted_row(x, y)
        self._follow_settings(state, state.scan)
        scan = state.scan.copy()  # other threads may read it while it runs
        scan.run(Block(row[None, :], t, weight))
        self._state = replace(state, scan=scan)

    def predict_one(self, x: RowLike) -> TargetLike:
        """Return the label of one row: an array (D,), or a dict by column names."""
        state, z = self._still_outputs(x)
        best = int(z[0] > 0) if len(z) == 1 else int(z.argmax())
        return state.labels[best]

    @by_blocks
    def decision_function(self, X: RowsLike) -> Array:
        """Return (n,) for two classes, where classes_[1] is predicted if it is above zero; else (n, K)."""
        values = self._outputs(X)
        return like_rows(X, values[:, 0] if values.shape[1] == 1 else values)

    predict_set = LinearClassifier.predict_set

    def score(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> float:
        """Return the share of labels predicted for rows X (n, D) and y, or for a source."""
        return scored(self, super().score, X, y, sample_weight)

    def predict(self, X: RowsLike) -> Labels:
        """Return the label of the largest output for each row."""
        return label_of_largest(self.decision_function(X), self.classes_)

    @property
    def coef_(self) -> Array:
        """The weights, (1, D) for two classes, else (K, D)."""
        return read_only(self._raw_weights()[:, 1:].copy())

    @property
    def intercept_(self) -> Array:
        """The constants, (1,) or (K,)."""
        return read_only(self._raw_weights()[:, 0].copy())

    def _check_named(self, classes: LabelsLike) -> None:
        """Refuse classes named with a row to a model that has others."""
        if classes is not None and self._state is not None:
            refuse_other_classes(classes, self._state.labels)

    def _learn_labels(
        self,
        X: RowsLike,
        y: TargetsLike,
        sample_weight: WeightsLike,
        classes: LabelsLike,
        before: OnlineState | None,
        *,
        once: bool = False,
    ) -> None:
        """Learn from labelled rows; the classes are those of the state before, those named, or the rows'."""
        meter = Meter(X)
        check_parameters(self)
        if before is not None:
            check_basis(self)
        given = open_labelled(self, X, y, sample_weight, reset=before is None)

        def learn(classes: Labels) -> None:
            known = self._with_classes(classes) if before is None else {}
            source = self._with_targets(given, classes, balance=not once)
            setup = self._setup(source, given.columns, **known) if before is None else before
            self._learn(setup, source, meter, once=once)

        if before is not None:
            refuse_other_classes(classes, self.classes_)
            learn(self.classes_)
        elif classes is None:
            given.using_classes(learn)
        else:
            learn(all_classes(np.asarray(classes)))

    def _with_classes(self, classes: Labels) -> dict[str, Any]:
        """Return the classes and their targets, as a setup has them; refuse fewer than two."""
        targets = targets_by_label(classes, self._class_targets(len(classes)), type(self).__name__)
        return {"classes": classes, "targets": targets}

    def _begin_with(self, x: AnyArray, y: TargetsLike, classes: LabelsLike) -> OnlineState:
        """Start a new model with its first row and label; return its state."""
        known = self._with_classes(classes_of_first(y, classes, type(self).__name__))
        self._begin(x, self._class_targets(len(known["classes"])).shape[1], **known)
        assert self._state is not None
        return self._state

    def _target(self, y: TargetsLike) -> Any:
        """Return the target, or targets, of a label."""
        return target_of(y, self._targets)

    def _weighted_row(self, x: AnyArray, y: TargetsLike) -> tuple[Array, Array, Array | None]:
        """Return one row (D,), its targets (1, K) and its class weight (1,), None where classes have no weights."""
        assert self._state is not None
        row, t = finite_row(self._state, x), np.atleast_2d(np.asarray(self._target(y), dtype=np.float64))
        weights = weights_of_classes(self.class_weight, self.classes_, None)
        return row, t, None if weights is None else weights[list(self._targets).index(y)][None]

    def _with_targets(self, given: LabelledRows, classes: Labels, balance: bool) -> Source:
        """Return the rows with the targets of the machines, weighted by class."""
        source = in_memory(given.encoded(classes))
        weights = weights_of_classes(self.class_weight, classes, source if balance else None)
        return recoded(source, self._class_targets(len(classes)), weights)


def weights_of_classes(class_weight: Any, classes: Labels, source: Source | None) -> Array | None:
    """Return the weight of each class, (C,), or None; "balanced" ones are those of a source, all rows of a fit."""
    if class_weight is None:
        return None
    counted = source is not None and isinstance(class_weight, str)
    counts = class_weights_of(source).of(len(classes)) if source is not None and counted else None
    return class_weights(class_weight, classes, counts)


def targets_by_label(classes: Labels, values: Array, title: str) -> dict[Any, Any]:
    """Return the target, or targets, of each label, of values (C, T); refuse fewer than two classes."""
    if len(classes) < 2:
        raise too_few_classes(title, classes, "tell partial_fit the others by classes=, ")
    each = values[:, 0].tolist() if values.shape[1] == 1 else list(values)
    return dict(zip(classes.tolist(), each, strict=True))


def physical_memory() -> int:
    """Return the bytes of memory of this computer; without bound where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return sys.maxsize


def target_of(y: TargetsLike, targets: dict[Any, Any]) -> Any:
    """Return the target, or targets, of a label; refuse one that is none of a model's."""
    try:
        return targets[y]
    except (KeyError, TypeError):
        raise UnknownLabel(f"label {y!r} is not among the classes {list(targets)}") from None


def classes_of_first(y: TargetsLike, classes: LabelsLike, title: str) -> Labels:
    """Return the classes of a new model that begins with one row: those named, or those of a label True or False."""
    if classes is not None:
        return all_classes(np.asarray(classes))
    if not isinstance(y, bool | np.bool_):
        raise InvalidData(
            f"a new {title} must know its classes: learn_one(x, y, classes=[...]), or partial_fit with classes=, or "
            "labels True and False"
        )
    return np.array([False, True])


def refuse_other_classes(named: Any, classes: Labels) -> None:
    """Refuse classes named to a model that has others."""
    if named is not None and not np.array_equal(all_classes(np.asarray(named)), classes):
        raise InvalidData(f"classes={list(named)} are not the classes of the model, {classes.tolist()}")


def signed(classes: int, low: float = -1.0) -> Array:
    """Return targets `low` and 1: (2, 1) for two classes, else (K, K), each machine's class against the rest."""
    if classes == 2:
        return np.array([[low], [1.0]])
    if (needed := 8 * classes * classes) > (there := physical_memory()):
        raise TooLarge(
            f"{classes:,} classes need {needed:,} bytes for the targets of as many machines, and this computer has "
            f"{there:,}. Join rare classes, or use KeslerPerceptron, which keeps no targets."
        )
    return np.asarray(low + (1.0 - low) * np.eye(classes))
