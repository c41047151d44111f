"""Arguments of plots as NumPy arrays, from arrays, frames, sparse matrices and devices; and the names of columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, RowsLike, TargetsLike, host, is_device, is_sparse
from adaline.coding.frames import collected
from adaline.errors import InvalidData, InvalidParameter
from adaline.fitted import AnyModel
from adaline.lazy import nw
from adaline.plots.style import short
from adaline.wording import counted

Labels = NDArray[Any]


def numbers(values: AnyArray, name: str, ndim: int = 1, *, gaps: bool = False) -> Array:
    """Return finite numbers of one or two dimensions as float64; refuse others, by name, or let them be NaN (gaps)."""
    try:
        out = np.asarray(plain_array(values), dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidData(f"{name} must be numbers: a plot cannot place text on an axis") from None
    if ndim == 2 and out.ndim == 1:
        out = out[:, None]
    if ndim == 1 and out.ndim == 2 and out.shape[1] == 1:
        out = out[:, 0]
    if out.ndim != ndim:
        raise InvalidData(f"{name} must have ndim {ndim}, not {out.ndim}: draw one column or target at a time")
    if out.size == 0:
        raise InvalidData(f"{name} is empty: there is nothing to draw")
    if gaps:
        return np.where(np.isfinite(out), out, np.nan)
    if not np.isfinite(out).all():
        index = np.argwhere(~np.isfinite(out))[0]
        where = f"row {index[0]}" + (f", column {index[1]}" if ndim == 2 else "")
        raise InvalidData(f"{name} is not finite: first at {where}. Leave such rows out, or fill them in.")
    return out


def plane(X: RowsLike, plot: str) -> Array:
    """Return rows of two columns."""
    x = numbers(X, "X", 2)
    if x.shape[1] != 2:
        raise InvalidData(
            f"{plot} draws a plane, X has {counted(x.shape[1], 'column')}: choose two columns, and fit a model on them"
        )
    return x


def labels(y: TargetsLike, n: int) -> Labels:
    """Return labels of n rows."""
    out = np.asarray(plain_array(y))
    if out.ndim != 1:
        raise InvalidData(f"labels must be one-dimensional, got shape {out.shape}")
    same_length("X", n, "y", len(out))
    return out


def same_length(one: str, n: int, other: str, m: int) -> None:
    """Refuse lengths that differ."""
    if n != m:
        raise InvalidData(f"{one} has {counted(n)} and {other} has {m}: they must belong together, row by row")


def column_names(given: Sequence[Any] | None, X: RowsLike, model: AnyModel, count: int) -> list[str]:
    """Return names of the columns: those given, the frame's, the model's, or x0, x1, ..."""
    found: Any = given if given is not None else frame_names(X)
    found = getattr(model, "feature_names_in_", None) if found is None else found
    if found is None:
        found = [f"x{j}" for j in range(count)]
    if len(found) != count:
        raise InvalidParameter(f"names has {counted(len(found), 'name')} for {counted(count, 'column')}")
    return [short(name) for name in found]


def frame_names(X: RowsLike) -> list[str] | None:
    """Return the names of a frame's columns; None where X is no frame."""
    frame = nw.from_native(collected(X), pass_through=True, eager_only=True)
    return list(map(str, frame.columns)) if isinstance(frame, nw.DataFrame) else None


def method_values(method: Callable[[Any], Any], rows: Array) -> Labels:
    """Return method(rows) as an array, without the warning that the rows have no column names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return np.asarray(method(rows))


def need(model: AnyModel, attribute: str, plot: str, instead: str) -> Any:
    """Return a fitted attribute or method of a model; say what to draw instead where it has none."""
    if not hasattr(model, attribute):
        raise InvalidParameter(f"{plot} needs `{attribute}`, and {type(model).__name__} has none: {instead}")
    return getattr(model, attribute)


def refuse_basis(model: AnyModel, plot: str, instead: str) -> None:
    """Refuse a system with a basis: its weights, centres and spreads belong to phi(x), and the axes to x."""
    if getattr(model, "basis", None) is not None or getattr(model, "basis_", None) is not None:
        name = type(model).__name__
        raise InvalidParameter(f"{plot} draws columns as given, and {name} sees them by a basis: {instead}")


def plain_array(values: AnyArray) -> Any:
    """Return frames, series, sparse matrices and device arrays as NumPy arrays; other things as they are."""
    if is_sparse(values):
        return values.toarray()
    if is_device(values):
        return host(values)
    frame = nw.from_native(collected(values), pass_through=True, allow_series=True, eager_only=True)
    return frame.to_numpy() if isinstance(frame, nw.DataFrame | nw.Series) else values
