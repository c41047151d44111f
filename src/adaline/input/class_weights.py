"""`class_weight`: rows of classes, weighted by class, by label or balanced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.errors import InvalidData, InvalidParameter, UnknownLabel
from adaline.input.first_pass import class_weights_of, read_first_pass
from adaline.input.labels import Labels, too_few_classes
from adaline.input.open import LabelledRows
from adaline.solvers.smooth.problem import column_spread
from adaline.sources import Source
from adaline.sources.held import CompactRows, hold_rows
from adaline.sources.views import recoded
from adaline.sums import ClassWeights, LabelWeights, Spread


def class_weights(given: Any, classes: Labels, counts: Array | None) -> Array:
    """Return the weight of each class, (C,); "balanced" needs counts, (C,), the weight of the rows of each."""
    if isinstance(given, str) and given == "balanced":
        if counts is None:
            raise InvalidParameter("class_weight='balanced' needs all rows at once: use fit, or name the weights")
        present = counts > 0
        return np.where(present, counts.sum() / (present.sum() * np.where(present, counts, 1.0)), 0.0)
    labels = classes.tolist()
    unknown = [label for label in given if label not in labels]
    if unknown:
        raise InvalidParameter(f"class_weight names {unknown[0]!r}, which is no class: {labels}")
    return np.array([given.get(label, 1.0) for label in labels], dtype=np.float64)


@dataclass(frozen=True)
class ClassifiedRows:
    """Rows with labels, weighted by class, and what one or two reads have shown of them.

    Parameters
    ----------
    classes : (C,) labels.
    source : the rows, with the class index of each as target.
    counts : (C,) weight of the rows of each class.
    spread : mean and spread of the columns of `source`.
    sample : some rows where they are streamed, else None.
    lightest : the smallest positive weight of a row; None where it is not known.
    columns : the indices of the columns of `source` among all, where it has only those with entries; None: all.
    """

    classes: Labels
    source: Source
    counts: Array
    spread: Spread
    sample: Source | None
    lightest: float | None
    columns: NDArray[np.intp] | None = None

    def with_rows(self) -> ClassifiedRows:
        """Return the same without the classes whose rows have no weight."""
        present = self.counts > 0
        if present.all():
            return self
        index = np.where(present, np.cumsum(present) - 1.0, 0.0)
        source = recoded(self.source, index[:, None], present.astype(np.float64))
        return replace(self, classes=self.classes[present], source=source, counts=self.counts[present], sample=None)


def in_order(rows: ClassifiedRows, order: Sequence[Any]) -> ClassifiedRows:
    """Return the same with the classes in an order, which may name more of them; refuse one that is not named."""
    index = {label: k for k, label in enumerate(order)}
    labels = rows.classes.tolist()
    unknown = [label for label in labels if label not in index]
    if unknown:
        raise UnknownLabel(f"label {unknown[0]!r} is not among the classes {list(order)}")
    places = np.array([index[label] for label in labels], dtype=np.intp)
    if np.array_equal(places, np.arange(len(order))):
        return rows
    counts, values = np.zeros(len(order)), places.astype(np.float64)[:, None]
    counts[places] = rows.counts
    classes = np.array([*order, None], dtype=object)[:-1]
    if rows.classes.dtype.kind != "O":
        classes = np.array(list(order), dtype=None if rows.classes.dtype.kind == "U" else rows.classes.dtype)
    sample = None if rows.sample is None else rows.sample.changed(rows.sample.targets.recoding(values))
    return replace(rows, classes=classes, source=recoded(rows.source, values), counts=counts, sample=sample)


def _indexed(rows: Source, codes: Array) -> Source:
    """Return rows whose targets are codes of labels with the index of each among the codes, (C,), as target."""
    order = np.argsort(codes)
    found = order[np.searchsorted(codes, rows.read_targets(), sorter=order)]
    return rows.with_targets(found.astype(np.float64))


def open_classes(
    given: LabelledRows, class_weight: Any, system: str = "LogisticRegression", hold: bool = False
) -> ClassifiedRows:
    """Return rows with the class index of each as target, weighted by class; one read, two with class weights.

    `system` is the name that messages say; `hold` : whether wide sparse rows are held in the columns that have entries.
    """
    spread: Spread | None
    sample: Source | None
    held = None
    if given.numbered is not None:
        rows, book = given.numbered()
        held = hold_rows(rows) if hold else None
        if held is None:
            weights, spread, sample = read_first_pass(rows, LabelWeights, book=book)
        else:
            weights, spread, sample = held.sum(LabelWeights, book=book), None, None
        classes, counts, codes = weights.sorted()
        if sample is not None and len(classes):
            sample = _indexed(sample, codes)
        source = given.encoded(classes) if held is None else _indexed(held, codes)
    else:
        classes = given.all_classes()
        source = given.encoded(classes)
        held = hold_rows(source) if hold else None
        source = source if held is None else held
        if source.costly:
            weights, spread, sample = read_first_pass(source, ClassWeights)
        else:
            weights, spread, sample = class_weights_of(source), None, None
        counts = weights.of(len(classes))
    if len(classes) < 2 or (counts > 0).sum() < 2:
        raise too_few_classes(system, classes[counts > 0])
    columns = None if held is None else held.chosen
    if isinstance(source, CompactRows) and len(classes) > 2:  # several outputs have no sums over units apart
        source = source.packed()
    if class_weight is None:
        spread = column_spread(source) if spread is None else spread
        return ClassifiedRows(classes, source, counts, spread, sample, weights.lightest, columns)
    own = class_weights(class_weight, classes, counts)
    source = recoded(source, np.arange(len(classes), dtype=float)[:, None], own)
    if (counts * own > 0).sum() < 2:
        raise InvalidData("class_weight leaves rows of one class only")
    return ClassifiedRows(classes, source, counts * own, column_spread(source), None, None, columns)
