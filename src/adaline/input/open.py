"""Reading what users hand over: arrays, frames, sparse matrices, as rows, targets and weights.

Validation is not a pass: shapes and types are checked here, finiteness is read off the sums. Plain float arrays take a
short way; everything else goes through scikit-learn's own checks, so that messages are the ones people know.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_array

from adaline.arrays import Array, host, is_device, is_sparse, namespace, to_device_of
from adaline.coding.frames import collected, learn_from_frame
from adaline.errors import InvalidData, InvalidParameter, InvalidType
from adaline.input.basis import basis_of, learn_basis, rows_through_basis, through_basis
from adaline.input.coded import CodedRows, coded, remember
from adaline.input.labels import Labels, encode, read_labels
from adaline.sources import ArraySource, DeviceSource, Source, SparseSource, TableSource
from adaline.sources.array import FLOATS
from adaline.sources.base import IndexedSource
from adaline.sources.tables.source import Codebook


def open_rows(system: BaseEstimator, x: Any, y: Any, sample_weight: Any, *, reset: bool) -> Source:
    """Return the source of the rows X, y as the system sees them, through its basis if it has one.

    With `reset` remember the number and names of the columns on the system, and learn its basis.
    """
    source = open_given(system, x, y, sample_weight, reset=reset)
    if reset:
        learn_basis(system, source)
    return through_basis(system, source)


def open_given(system: BaseEstimator, x: Any, y: Any, sample_weight: Any, *, reset: bool) -> Source:
    """Return the source of the rows X, y as they are given, coded; with `reset` remember their columns."""
    if isinstance(x, Source):
        if y is not None or sample_weight is not None:
            raise InvalidParameter("a source brings its own targets and weights: give neither y nor sample_weight")
        if not reset:
            return coded(system, x)
        if x.shape.targets == 0:
            raise InvalidData(f"{type(system).__name__} requires y: open the table with target='column'")
        remember(system, x)
        return x
    rows = read_rows(system, x, reset=reset)
    targets = read_targets(system, y, rows.shape[0])
    weight = None if sample_weight is None else read_weights(sample_weight, rows.shape[0])
    table = namespace(targets).reshape(targets, (rows.shape[0], -1))
    source = source_of(rows, table, weight, given_names(system))
    source.flat = targets.ndim == 1
    return source


def unlabelled_source(system: Any, rows: Any, sample_weight: Any) -> Source:
    """Return the source of rows without targets."""
    weight = None if sample_weight is None else read_weights(sample_weight, rows.shape[0])
    return source_of(rows, np.empty((rows.shape[0], 0)), weight, given_names(system))


def source_of(rows: Any, targets: Any, weight: Array | None, names: tuple[str, ...] | None) -> Source:
    """Return the source for rows of this kind: sparse, dense, or on a device."""
    kind: type[IndexedSource] = DeviceSource if is_device(rows) else SparseSource if is_sparse(rows) else ArraySource
    return kind(rows, targets, weight, names)


def read_rows(system: BaseEstimator, x: Any, *, reset: bool) -> Any:
    """Return X as a 2-D array of numbers or a CSR matrix, without copying floats; code frames that hold categories."""
    if isinstance(x, CodedRows):
        return np.asarray(x)
    plain = type(x) is np.ndarray and x.ndim == 2 and x.dtype in FLOATS and x.size > 0
    if plain and not hasattr(system, "feature_names_in_"):
        if reset:
            system.n_features_in_ = x.shape[1]
        elif x.shape[1] != system.n_features_in_:
            _check_n_features(system, x, reset=False)
        return x
    if reset:
        system.__dict__.pop("coding_", None)
    if not (isinstance(x, np.ndarray) or is_sparse(x) or is_device(x)):
        x = collected(x)
        found = _coded_frame(system, x, reset)
        if found is not None:
            return found
    _check_feature_names(system, x, reset=reset)
    if is_device(x):
        x = _read_device(x)
        _check_n_features(system, x, reset=reset)
        return x
    if not (isinstance(x, np.ndarray) or is_sparse(x)):
        x = _from_frame(x)
    if not plain:
        if getattr(getattr(x, "dtype", None), "kind", "f") in "mM":
            raise InvalidData(f"could not convert {x.dtype} to float: give dates and times as numbers, explicitly")
        try:
            x = check_array(
                x,
                accept_sparse="csr",
                dtype=None if _has_numbers(x) else np.float64,
                ensure_all_finite=False,
                estimator=system,
                input_name="X",
            )
        except ValueError as error:
            raise InvalidData(str(error)) from None
        except TypeError as error:
            raise InvalidType(str(error)) from None
    _check_n_features(system, x, reset=reset)
    return x


def read_finite(system: BaseEstimator, x: Any) -> Any:
    """Return rows to predict as the system sees them: float64, or CSR, or a device array without a basis.

    The first number that is not finite is named.
    """
    x = read_rows(system, x, reset=False)
    if is_device(x) and basis_of(system) is None:
        return to_device_of(x, x)
    x = host(x) if is_device(x) else x
    if not is_sparse(x) and x.dtype != np.float64:
        x = x.astype(np.float64)
    refuse_nonfinite(system, x)
    return rows_through_basis(system, x)


def refuse_nonfinite(system: BaseEstimator, x: Any) -> None:
    """Name the first number of rows in memory that is not finite, if there is one."""
    if is_device(x) or np.isfinite(x.data if is_sparse(x) else x).all():
        return
    source_of(x, np.zeros((x.shape[0], 1)), None, given_names(system)).refuse_nonfinite()


def given_names(system: BaseEstimator) -> tuple[str, ...] | None:
    """Return the names of the columns as they were given, or None."""
    names = getattr(system, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def read_targets(system: BaseEstimator, y: Any, rows: int) -> Array:
    """Return targets as float64, (n,) or (n, K)."""
    if y is None:
        raise InvalidData(f"{type(system).__name__} requires y to be passed, but the target y is None")
    if is_device(y):
        y = to_device_of(y, y)
    elif not (type(y) is np.ndarray and y.dtype == np.float64):
        if not isinstance(y, np.ndarray):
            y = _from_frame(y)
        try:
            y = check_array(
                y, ensure_2d=False, dtype=np.float64, ensure_all_finite=False, estimator=system, input_name="y"
            )
        except (ValueError, TypeError) as error:
            raise InvalidData(f"{error} A regression needs numbers as targets.") from None
    if y.ndim not in (1, 2) or (y.ndim == 2 and y.shape[1] == 0):
        raise InvalidData(f"y has shape {y.shape}; it must be (n,) or (n, targets)")
    if y.shape[0] != rows:
        raise InvalidData(
            f"Found input variables with inconsistent numbers of samples: X has {rows}, y has {y.shape[0]}"
        )
    return y if is_device(y) else np.ascontiguousarray(y)


def read_weights(weight: Any, rows: int) -> Array:
    """Return weights as (n,) float64, non-negative, not all zero."""
    try:
        given = host(weight) if is_device(weight) else np.asarray(weight)
        out = given.astype(np.float64, casting="same_kind" if given.dtype.kind == "c" else "unsafe")
    except (TypeError, ValueError):
        raise InvalidType(f"sample_weight must be numbers, got {type(weight).__name__}") from None
    if out.ndim == 0:
        out = np.full(rows, float(out))
    if out.ndim != 1:
        raise InvalidData("Sample weights must be 1D array or scalar")
    if out.shape[0] != rows:
        raise InvalidData(f"sample_weight.shape == {out.shape}, expected {(rows,)}!")
    if not np.isfinite(out).all():
        row = int(np.flatnonzero(~np.isfinite(out))[0])
        kind = "NaN" if np.isnan(out[row]) else "infinity"
        raise InvalidData(f"Input sample_weight contains {kind}: first at row {row}")
    if (out < 0).any():
        row = int(np.flatnonzero(out < 0)[0])
        raise InvalidData(f"Negative values in sample_weight: first at row {row}. Weights are frequencies, 0 or more.")
    if not out.any():
        raise InvalidData("All sample weights are zero: there is nothing to fit. Give some row a positive weight.")
    return np.ascontiguousarray(out)


def _read_device(x: Any) -> Any:
    """Return a device array as (n, D) floats."""
    if x.ndim != 2 or 0 in x.shape:
        raise InvalidData(f"Expected 2D array with at least one row and column, got shape {tuple(x.shape)} instead")
    xp = namespace(x)
    if xp.isdtype(x.dtype, "complex floating"):
        raise InvalidData("Complex data not supported")
    return x if x.dtype in (xp.float32, xp.float64) else xp.astype(x, xp.float64)


def _has_numbers(x: Any) -> bool:
    return getattr(getattr(x, "dtype", None), "kind", "O") in "fiub" and x.dtype != np.float16


def _coded_frame(system: BaseEstimator, x: Any, reset: bool) -> Array | None:
    """Return the columns of X made from a frame with categories; None where x is no such frame.

    With `reset` the levels are learned; otherwise the coding is that of the model, if it has one.
    """
    frame = nw.from_native(x, pass_through=True, eager_only=True)
    if not isinstance(frame, nw.DataFrame) or len(frame) == 0:
        return None
    if not reset:
        coding = system.__dict__.get("coding_")
        return None if coding is None else coding.code(frame)
    coding = learn_from_frame(frame)
    if coding is None:
        return None
    system.coding_ = coding
    system.feature_names_in_ = np.asarray(coding.names, dtype=object)
    system.n_features_in_ = len(coding.names)
    return coding.code(frame)


def _from_frame(x: Any) -> Any:
    """Return a data frame of numbers or a series as a NumPy array; other things as they are."""
    frame = nw.from_native(collected(x), pass_through=True, allow_series=True, eager_only=True)
    return frame.to_numpy() if isinstance(frame, nw.DataFrame | nw.Series) else x


# Rows with labels, from arrays, frames or tables: the classes first, then the places of the labels among them.


class Labelled(NamedTuple):
    """Rows with labels.

    guess : returns the classes, or those of some rows where finding all costs a read of all.
    all_classes : returns the classes.
    encoded : the source of the rows, through the system's basis, with the places of their labels among classes given.
    numbered : the source of rows whose labels are numbered as they are met, and the book that one read fills; None
        where the classes are known without a read.
    """

    guess: Callable[[], Labels]
    all_classes: Callable[[], Labels]
    encoded: Callable[[Labels], Source]
    numbered: Callable[[], tuple[Source, Codebook]] | None = None


def open_labelled(system: Any, x: Any, y: Any, sample_weight: Any, *, reset: bool) -> Labelled:
    """Return the classes that rows have, and their source once it is known which classes there are in all."""
    if isinstance(x, Source):
        source = open_given(system, x, y, sample_weight, reset=reset)
        if reset:
            learn_basis(system, source)

        def numbered() -> tuple[Source, Codebook]:
            assert isinstance(source, TableSource)
            rows, book = source.numbered()
            return through_basis(system, rows), book

        unknown = isinstance(source, TableSource) and source.streamed and not source.knows_labels
        return Labelled(
            lambda: source.find_labels(guess=True),
            source.find_labels,
            lambda classes: through_basis(system, source.encoded(classes)),
            numbered if unknown else None,
        )
    rows = read_rows(system, x, reset=reset)
    if reset:
        learn_basis(system, unlabelled_source(system, rows, sample_weight))
    labels: Labels = read_labels(y)
    if labels.shape[0] != rows.shape[0]:
        raise InvalidData(
            f"Found input variables with inconsistent numbers of samples: X has {rows.shape[0]}, "
            f"y has {labels.shape[0]}"
        )
    found, codes = encode(labels, None)

    def encoded(classes: Labels) -> Source:
        places = codes if classes is found else encode(labels, classes)[1]
        return through_basis(system, coded_source(system, rows, places, sample_weight))

    return Labelled(lambda: found, lambda: found, encoded)


def coded_source(system: Any, rows: Any, codes: Any, sample_weight: Any) -> Source:
    """Return the source of rows whose targets are the places of their labels."""
    weight = None if sample_weight is None else read_weights(sample_weight, rows.shape[0])
    targets = to_device_of(codes, codes) if is_device(codes) else codes.astype(float)
    return source_of(rows, targets[:, None], weight, given_names(system))
