"""`class_weight`: weights of the classes, by name or balanced."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import InvalidData, InvalidParameter, UnknownLabel
from adaline.namespaces import host
from adaline.sources import Source
from adaline.sources.recoded import recoded
from adaline.systems.labelled import Labelled
from adaline.systems.labels import Labels

Array = NDArray[np.float64]


def class_weights(given: Any, classes: Labels, source: Source | None) -> Array:
    """Return the weight of each class, (C,); "balanced" counts the rows of an encoded source."""
    if isinstance(given, str) and given == "balanced":
        if source is None:
            raise InvalidParameter("class_weight='balanced' needs all rows at once: use fit, or name the weights")
        counts = class_counts(source, len(classes))
        there = counts > 0
        return np.where(there, counts.sum() / (there.sum() * np.where(there, counts, 1.0)), 0.0)
    labels = classes.tolist()
    strange = [label for label in given if label not in labels]
    if strange:
        raise InvalidParameter(f"class_weight names {strange[0]!r}, which is no class: {labels}")
    return np.array([given.get(label, 1.0) for label in labels], dtype=np.float64)


def class_counts(source: Source, classes: int) -> Array:
    """Return the weight of the rows of each class of an encoded source."""
    if not source.streamed:
        weight = None if source.weight is None else host(source.weight)
        return np.bincount(host(source.target())[:, 0].astype(np.intp), weight, classes).astype(np.float64)
    counts = np.zeros(classes)
    for block in source.blocks():
        codes = host(block.t)[:, 0].astype(np.intp)
        counts += np.bincount(codes, None if block.weight is None else host(block.weight), classes)
    return counts


def with_rows(source: Source, counts: Array) -> tuple[Source, Array]:
    """Return the rows with the places of their labels among the classes that have a weight, and those weights."""
    there = counts > 0
    if there.all():
        return source, counts
    places = np.where(there, np.cumsum(there) - 1.0, 0.0)
    return recoded(source, places[:, None], there.astype(np.float64)), counts[there]


def weighed(given: Labelled, class_weight: Any) -> tuple[Labels, Source, Array]:
    """Return the classes, rows with the places of their classes as targets, weighed by class, and their weights."""
    try:
        classes, source = given.classes, given.encoded(given.classes)
        counts = class_counts(source, len(classes))
    except UnknownLabel:  # the rows looked at did not show all labels
        classes = given.all_classes()
        source = given.encoded(classes)
        counts = class_counts(source, len(classes))
    if len(classes) < 2 or (counts > 0).sum() < 2:
        shown = f"one class, '{classes[int(counts.argmax())]}'" if len(classes) else "none"
        raise InvalidData(f"LogisticRegression needs rows of at least 2 classes; there is {shown}")
    if class_weight is not None:
        weights = class_weights(class_weight, classes, source)
        source = recoded(source, np.arange(len(classes), dtype=float)[:, None], weights)
        counts = counts * weights
        if (counts > 0).sum() < 2:
            raise InvalidData("class_weight leaves rows of one class only")
    return classes, source, counts
