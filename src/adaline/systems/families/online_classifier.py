"""What the online classifiers share: labels as targets of one or K machines, class weights, decisions."""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np

from adaline.arrays import Array
from adaline.block import Block
from adaline.construction import check_parameters
from adaline.errors import InvalidData, InvalidParameter, UnknownLabel
from adaline.estimator import ClassifierMixin
from adaline.input import Meter, by_blocks, set_columns, transaction
from adaline.input.basis import check_basis
from adaline.input.class_weights import class_weights
from adaline.input.coded import scored
from adaline.input.first_pass import class_weights_of
from adaline.input.labels import Labels, all_classes
from adaline.input.open import LabelledRows, open_labelled
from adaline.locks import lock_of
from adaline.parameters import CLASS_WEIGHT
from adaline.scans import Scan
from adaline.sources import Source
from adaline.sources.views import in_memory, recoded
from adaline.systems.families.decisions import label_of_largest
from adaline.systems.families.online import OnlineSystem


class OnlineClassifier(ClassifierMixin, OnlineSystem):
    """A classifier that learns row by row: one machine for two classes, one for each of K > 2 classes."""

    class_weight: Annotated[Any, CLASS_WEIGHT]
    classes_: Labels
    _targets: dict[Any, Any]  # the target, or targets, of each label

    def _class_targets(self, classes: int) -> Array:
        """Return the targets of each class, (C, machines)."""
        return signed(classes)

    @transaction
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows X (n, D) and labels y (n,), or to a source, for up to `epochs` epochs.

        A weight multiplies the rate of its row's step. With `warm_start` learning goes on from the present weights.
        """
        meter = Meter(X)
        check_parameters(self)
        goes_on = bool(self.warm_start) and hasattr(self, "_scan")
        given = open_labelled(self, X, y, sample_weight, reset=not goes_on)
        set_columns(self, given.columns)

        def learn(classes: Labels) -> None:
            if not goes_on:
                self._take_classes(classes)
            self._learn(self._with_targets(given, balance=True), meter, goes_on=goes_on)

        if goes_on:
            learn(self.classes_)
        else:
            given.using_classes(learn)
        return self

    @transaction
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go over more rows once, in their order; rows in chunks give the same bits as all at once.

        The first call must know all classes: from its rows, or from `classes`.
        """
        meter = Meter(X)
        check_parameters(self)
        goes_on = hasattr(self, "_scan")
        if goes_on:
            check_basis(self)
        given = open_labelled(self, X, y, sample_weight, reset=not goes_on)
        set_columns(self, given.columns)
        if not goes_on:
            self._take_classes(given.all_classes() if classes is None else all_classes(np.asarray(classes)))
        elif classes is not None and not np.array_equal(all_classes(np.asarray(classes)), self.classes_):
            raise InvalidData(f"classes={list(classes)} are not the classes of the model, {self.classes_.tolist()}")
        self._learn(self._with_targets(given, balance=False), meter, goes_on=goes_on, once=True)
        return self

    def learn_one(self, x: Any, y: Any, classes: Any = None) -> Self:
        """Learn from one row: an array (D,), or a dict by column names.

        A new model must know its classes: from `classes`, or because the label is True or False.
        """
        state = self.__dict__
        core: Any = state["_scan"]._native if "_scan" in state else None  # `Scan.take` is a call more
        plain = core is not None and state["_standard"] is None and "basis_" not in state
        if plain and self.class_weight is None and core.take(x, self._target(y), state["_names"]):
            return self
        with lock_of(self):
            if "_scan" not in self.__dict__:
                self._begin_with(x, y, classes)
            if self.class_weight is None:
                self._learn_row(x, self._target(y))
            else:
                row, t, weight = self._weighted_row(x, y)
                scan = self._scan.copy()  # other threads may read it while it runs
                scan.run(Block(row[None, :], t, weight))
                self._scan = scan
        return self

    def predict_one(self, x: Any) -> Any:
        """Return the label of one row: an array (D,), or a dict by column names."""
        state, z = self._still_outputs(x)
        best = int(z[0] > 0) if len(z) == 1 else int(z.argmax())
        return state["classes_"][best]

    @by_blocks
    def decision_function(self, X: Any) -> Array:
        """Return (n,) for two classes, where classes_[1] is predicted if it is above zero; else (n, K)."""
        values = self._outputs(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of labels predicted for rows X (n, D) and y, or for a source."""
        return scored(self, super().score, X, y, sample_weight)

    def predict(self, X: Any) -> Labels:
        """Return the label of the largest output for each row."""
        return label_of_largest(self.decision_function(X), self.classes_)

    @property
    def coef_(self) -> Array:
        """The weights, (1, D) for two classes, else (K, D)."""
        return self._raw_weights()[:, 1:].copy()

    @property
    def intercept_(self) -> Array:
        """The constants, (1,) or (K,)."""
        return self._raw_weights()[:, 0].copy()

    def _take_classes(self, classes: Labels) -> None:
        """Keep the classes and their targets; refuse fewer than two."""
        if len(classes) < 2:
            shown = f"one class, '{classes[0]}'" if len(classes) else "none"
            raise InvalidData(
                f"{type(self).__name__} needs rows of at least 2 classes; there is {shown}. partial_fit can be told "
                "the others by classes="
            )
        self.classes_ = classes
        values = self._class_targets(len(classes))
        each = values[:, 0].tolist() if values.shape[1] == 1 else list(values)
        self._targets = dict(zip(classes.tolist(), each, strict=True))

    @transaction
    def _begin_with(self, x: Any, y: Any, classes: Any) -> Scan:
        """Start a new model with its first row and label; return its scan."""
        if classes is None and not isinstance(y, bool | np.bool_):
            raise InvalidData(
                f"a new {type(self).__name__} must know its classes: learn_one(x, y, classes=[...]), or partial_fit "
                "with classes=, or labels True and False"
            )
        self._take_classes(np.array([False, True]) if classes is None else all_classes(np.asarray(classes)))
        return self._begin(x, self._class_targets(len(self.classes_)).shape[1])

    def _target(self, y: Any) -> Any:
        """Return the target, or targets, of a label."""
        try:
            return self._targets[y]
        except (KeyError, TypeError):
            raise UnknownLabel(f"label {y!r} is not among the classes {self.classes_.tolist()}") from None

    def _weighted_row(self, x: Any, y: Any) -> tuple[Array, Array, Array | None]:
        """Return one row (D,), its targets (1, K) and its class weight (1,), None where classes have no weights."""
        row, t = self._finite_row(x), np.atleast_2d(np.asarray(self._target(y), dtype=np.float64))
        if self.class_weight is None:
            return row, t, None
        return row, t, self._class_weights(None)[list(self._targets).index(y)][None]

    def _with_targets(self, given: LabelledRows, balance: bool) -> Source:
        """Return the rows with the targets of the machines, weighted by class."""
        source = in_memory(given.encoded(self.classes_))
        weights = None
        if self.class_weight is not None:
            if self.class_weight == "balanced" and not balance:
                raise InvalidParameter("class_weight='balanced' needs all rows at once: use fit, or name the weights")
            weights = self._class_weights(source)
        return recoded(source, self._class_targets(len(self.classes_)), weights)

    def _class_weights(self, source: Source | None) -> Array:
        """Return the weight of each class, (C,)."""
        balanced = source is not None and isinstance(self.class_weight, str)
        counts = class_weights_of(source).of(len(self.classes_)) if source is not None and balanced else None
        return class_weights(self.class_weight, self.classes_, counts)


def signed(classes: int, low: float = -1.0) -> Array:
    """Return targets `low` and 1: (2, 1) for two classes, else (K, K), each machine's class against the rest."""
    if classes == 2:
        return np.array([[low], [1.0]])
    return np.asarray(low + (1.0 - low) * np.eye(classes))
