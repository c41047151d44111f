"""Class labels as indices: 0 .. K - 1 in the sorted order of the labels."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import (
    LabelsLike,
    TargetsLike,
    has_float64,
    host,
    host_values,
    is_device,
    namespace,
    on_torch,
    refuse_masked,
)
from adaline.coding.frames import collected
from adaline.errors import InvalidData, InvalidType, MissingValues, UnknownLabel
from adaline.lazy import nw, sklearn

Labels = NDArray[Any]
Codes = NDArray[np.intp]

AMOUNT = " Use a regression, such as LinearRegression, or cut the target into classes."
ONE_COLUMN = " Labels are one column: fit a model to each column."
NARROW = 2**16  # integers within this range are counted instead of sorted
FEW = 64  # on a device


def too_few_classes(title: str, classes: Sequence[Any] | NDArray[Any], more: str = "") -> InvalidData:
    """Return the error of a learner whose rows have fewer than two classes, those given; `more`: what else to do."""
    found = f"there is one class, '{classes[0]}'" if len(classes) else "there is none"
    return InvalidData(
        f"{title} needs rows of at least 2 classes; {found}. Give rows of another class too, {more}or choose another "
        "target"
    )


def refuse_name(y: TargetsLike) -> None:
    """Refuse a text as targets: the name of a column, or a formula."""
    if isinstance(y, str):
        raise InvalidData(
            f"y is the text {y!r:.200}: give the targets themselves, or name their column in the table, as by "
            "fit(adaline.open_table(X, target=...)) or formula=..."
        )


def read_labels(y: TargetsLike) -> Any:
    """Return labels as a vector, (n,); refuse values that cannot be labels."""
    if y is None:
        raise InvalidData("requires y to be passed, but the target y is None: a classifier needs labels, fit(X, y)")
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iub":
        return y
    if is_device(y):
        y = on_torch(y)
        if y.ndim == 1 and has_float64(y) and (not namespace(y).isdtype(y.dtype, "real floating") or _are_few_whole(y)):
            return y
        y = host_values(y)
    refuse_name(y)
    refuse_masked(y, "y")
    try:
        labels = _vector(collected(y))
        _refuse_missing(y if isinstance(y, list | tuple) and labels.dtype.kind == "U" else labels)
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            row = int(np.argmin(np.isfinite(labels)))
            kind = "NaN" if np.isnan(labels[row]) else "infinity"
            raise InvalidData(f"Input y contains {kind}: first at row {row}. Drop or fill such rows.")
        if not (_are_labels(labels) and _are_few(labels)):
            from sklearn.utils.multiclass import check_classification_targets  # slow to import

            with np.errstate(invalid="ignore"):  # of labels beyond int64
                check_classification_targets(labels)
    except ValueError as error:
        message = str(error)
        advice = AMOUNT if "type: continuous" in message else ONE_COLUMN if "1d array" in message else ""
        raise InvalidData(message + advice) from None
    except TypeError as error:  # bytes
        raise InvalidType(str(error)) from None
    return np.asarray(labels)


def _are_few_whole(y: TargetsLike) -> bool:
    """Whether many floats on a device are plainly labels: whole numbers of a narrow range."""
    xp = namespace(y)
    return y.shape[0] >= 2 * FEW and bool(xp.all(y == xp.floor(y))) and float(xp.max(y)) - float(xp.min(y)) < FEW


def _vector(y: TargetsLike) -> Labels:
    """Return labels as an array (n,); what is no array, list or series of them is for scikit-learn to convert."""
    dtype = getattr(y, "dtype", None)
    plain = getattr(dtype, "numpy_dtype", None)  # of nullable and Arrow columns of pandas
    if isinstance(plain, np.dtype) and plain.kind in "iub":
        with suppress(ValueError, TypeError):  # where no label is missing
            return np.ascontiguousarray(y.to_numpy(dtype=plain))
    if isinstance(y, np.ndarray) or isinstance(dtype, np.dtype) or getattr(dtype, "kind", "O") not in "iufb":
        with suppress(ValueError, TypeError):
            found = np.asarray(y)
            if found.ndim == 1 and found.dtype.kind in "iubfUO":
                return np.ascontiguousarray(found)
    return np.asarray(sklearn.utils.validation.column_or_1d(y, warn=True))


def _are_labels(labels: Labels) -> bool:
    """Whether a vector (n,) is plainly one of labels: whole numbers or texts."""
    kind = labels.dtype.kind
    if labels.ndim != 1 or not len(labels) or kind not in "iubfUO":
        return False
    if kind == "f":
        with np.errstate(invalid="ignore"):  # of labels beyond int64
            return bool((labels == labels.astype(np.int64)).all())
    return kind != "O" or all(isinstance(label, str) for label in labels)


def _are_few(labels: Labels) -> bool:
    """Whether labels that are no integers are few enough among the rows to be classes."""
    return len(labels) <= 20 or labels.dtype.kind in "iub" or 2 * len(np.unique(labels)) <= len(labels)


def category_order(y: TargetsLike) -> list[Any] | None:
    """Return the categories of labels that are declared as such, in their order; None of other labels.

    A categorical of polars has no order of its own but the lexical one, unless it is an enum.
    """
    if isinstance(y, np.ndarray | list | tuple) or is_device(y):
        return None
    series = nw.from_native(y, pass_through=True, allow_series=True, eager_only=True)
    if isinstance(series, nw.DataFrame) and series.shape[1] == 1:
        series = series[series.columns[0]]
    if not isinstance(series, nw.Series):
        declared = getattr(y, "categories", None)  # a pandas Categorical alone
        return None if declared is None else list(declared)
    if series.dtype not in (nw.Categorical, nw.Enum):
        return None
    if series.implementation.is_pandas() or nw.is_ordered_categorical(series):
        return list(series.cat.get_categories().to_list())
    return None


def _refuse_missing(labels: LabelsLike) -> None:
    """Refuse None and NaN among labels that are Python objects."""
    if getattr(labels, "dtype", np.dtype(object)).kind != "O":
        return
    for row, label in enumerate(labels):
        if label is None or (isinstance(label, float) and label != label):
            raise MissingValues(f"Input y contains NaN: a missing label, first at row {row}. Drop or fill such rows.")


def encode_labels(labels: Labels, classes: Labels | None) -> tuple[Labels, Codes]:
    """Return the classes, sorted, and the class index of each label, (n,); with classes given, refuse others."""
    if is_device(labels):
        return _encode_on_device(labels, classes)
    if classes is None:
        return _classes(labels)
    if labels.dtype.kind in "iub" and classes.dtype.kind in "iub":
        found, codes = _classes(labels)
    else:
        found, codes = np.unique(labels, return_inverse=True)
    return classes, _indices(found, classes)[codes].astype(np.intp)


def places(labels: LabelsLike, classes: Labels) -> Codes:
    """Return the index of each label among the classes, in whatever order these are; any of one that is unknown."""
    order = np.argsort(classes, kind="stable")
    return np.asarray(order[np.minimum(np.searchsorted(classes, labels, sorter=order), len(classes) - 1)])


def _indices(found: Labels, classes: Labels) -> Codes:
    """Return the index of each label among the classes, which are sorted; refuse labels that are not among them."""
    try:
        index = np.searchsorted(classes, found)
    except TypeError:  # labels of another kind
        raise UnknownLabel(f"label '{found[0]}' is not among the classes {classes.tolist()}") from None
    unknown = (index == len(classes)) | (classes[np.minimum(index, len(classes) - 1)] != found)
    if unknown.any():
        raise UnknownLabel(f"label '{found[unknown][0]}' is not among the classes {classes.tolist()}")
    return index


def _encode_on_device(labels: LabelsLike, classes: Labels | None) -> tuple[Labels, Any]:
    """Encode labels on their device; only the classes come to the host."""
    xp = namespace(labels)
    whole = labels if xp.isdtype(labels.dtype, "integral") else xp.astype(labels, xp.int64)
    low, high = int(xp.min(whole)), int(xp.max(whole))
    counts = [bool(xp.any(whole == low + k)) for k in range(high - low + 1)] if high - low < FEW else [False]
    if all(counts):  # by counting, as to sort takes far longer
        found, codes = np.arange(low, high + 1), xp.astype(whole - low, xp.int64)
    else:
        values, codes = xp.unique_inverse(whole)
        found = host(values).astype(np.int64)
        codes = xp.reshape(codes, (-1,))
    if xp.isdtype(labels.dtype, "real floating"):
        found = found.astype(np.float64)
    if classes is None:
        return found, codes
    index = xp.asarray(_indices(found, classes), device=labels.device)
    return classes, xp.take(index, codes, axis=0)


def all_classes(*parts: Any) -> Labels:
    """Return the sorted union of labels."""
    parts = tuple(encode_labels(part, None)[0] if is_device(part) else part for part in parts)
    if all(map(_are_labels, parts)) and len({part.dtype.kind in "UO" for part in parts}) == 1:
        found = np.unique(np.concatenate(parts))
        return found.astype(str) if found.dtype.kind == "O" else found
    try:
        return np.asarray(sklearn.utils.multiclass.unique_labels(*parts))
    except (ValueError, TypeError) as error:
        raise InvalidData(str(error)) from None


def _classes(labels: Labels) -> tuple[Labels, Codes]:
    """Return the unique labels and the index of each; small integers by counting, in two passes over the labels."""
    if labels.dtype.kind in "iub" and len(labels):
        low, high = int(labels.min()), int(labels.max())
        if high - low < NARROW:
            wide = np.uint64 if labels.dtype.kind == "u" else np.int64
            shifted = (labels if low == 0 else labels.astype(wide) - wide(low)).astype(np.intp, copy=False)
            present = np.flatnonzero(np.bincount(shifted, minlength=high - low + 1))
            found = (present.astype(wide) + wide(low)).astype(labels.dtype)
            if len(present) == high - low + 1:
                return found, shifted
            index = np.zeros(high - low + 1, dtype=np.intp)
            index[present] = np.arange(len(present))
            return found, index[shifted]
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes
