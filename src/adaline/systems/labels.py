"""Class labels as indices: 0 .. K - 1 in the sorted order of the labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import column_or_1d

from adaline.errors import InvalidData

Labels = NDArray[Any]
Codes = NDArray[np.intp]

NARROW = 2**16  # integers within this range are counted instead of sorted


def read_labels(y: Any) -> Labels:
    """Return labels as a vector; refuse what are not labels."""
    if y is None:
        raise InvalidData("requires y to be passed, but the target y is None: a classifier needs labels")
    try:
        labels = column_or_1d(y, warn=True)
        if labels.dtype.kind not in "iub":
            check_classification_targets(labels)
    except ValueError as error:
        raise InvalidData(str(error)) from None
    return np.asarray(labels)


def encode(labels: Labels, classes: Labels | None) -> tuple[Labels, Codes]:
    """Return the classes, sorted, and the index of each label; with classes given, refuse others."""
    if classes is None:
        classes, codes = _classes(labels)
        return classes, codes
    if labels.dtype.kind in "iub" and classes.dtype.kind in "iub":
        found, codes = _classes(labels)
    else:
        found, codes = np.unique(labels, return_inverse=True)
    place = np.searchsorted(classes, found)
    unknown = (place == len(classes)) | (classes[np.minimum(place, len(classes) - 1)] != found)
    if unknown.any():
        raise InvalidData(f"label {found[unknown][0]!r} is not among the classes {list(classes)}")
    return classes, place[codes].astype(np.intp)


def all_classes(*parts: Any) -> Labels:
    """Return the sorted union of labels."""
    return np.asarray(unique_labels(*parts))


def _classes(labels: Labels) -> tuple[Labels, Codes]:
    """Return unique labels and codes; small integers by counting, in two passes over the labels."""
    if labels.dtype.kind in "iub" and len(labels):
        low, high = int(labels.min()), int(labels.max())
        if high - low < NARROW:
            shifted = (labels if low == 0 else labels.astype(np.int64) - low).astype(np.intp, copy=False)
            present = np.flatnonzero(np.bincount(shifted, minlength=high - low + 1))
            if len(present) == high - low + 1:
                return (present + low).astype(labels.dtype), shifted
            place = np.zeros(high - low + 1, dtype=np.intp)
            place[present] = np.arange(len(present))
            return (present + low).astype(labels.dtype), place[shifted]
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes
