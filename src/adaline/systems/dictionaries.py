"""One row as a dict from column names to values, in the order of the model's columns."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from adaline.errors import InvalidData

Array = NDArray[np.float64]


def row_of(system: Any, x: Mapping[Any, Any]) -> Array:
    """Return the row of a fitted system; refuse columns that are missing, unknown or no numbers."""
    known = system.__dict__
    names = known.get("_names") or names_of(system, x)
    try:
        if tuple(x) == names:
            return np.fromiter(x.values(), np.float64, len(names))
        if len(x) == len(names):
            return np.fromiter(map(x.__getitem__, names), np.float64, len(names))
    except (KeyError, TypeError, ValueError):
        pass
    if "coding_" in known:
        return _coded(known["coding_"], x)
    missing = [name for name in names if name not in x]
    if missing:
        raise InvalidData(f"the row has no column {missing[0]!r}; the model needs: {', '.join(map(str, names))}")
    strange = [name for name in x if name not in names]
    if strange:
        raise InvalidData(f"the model does not know the column {strange[0]!r}; leave it out of the row")
    bad = next(name for name in names if not _is_number(x[name]))
    raise InvalidData(f"column {bad!r} of the row holds {x[bad]!r}, not a number")


def names_of(system: Any, x: Mapping[Any, Any]) -> tuple[Any, ...]:
    """Return the names of a system's columns, and remember them; a new system takes those of its first row.

    Columns of arrays have no names: dicts with the keys 0, 1, ... stand for such rows.
    """
    known = system.__dict__
    if "feature_names_in_" in known:
        system._names = tuple(map(str, known["feature_names_in_"]))
    elif "n_features_in_" not in known:
        system._names, system.n_features_in_ = tuple(x), len(x)
        if not x:
            raise InvalidData("a row must have at least one column")
        if all(isinstance(name, str) for name in x):
            system.feature_names_in_ = np.asarray(tuple(x), dtype=object)
    elif set(x) == set(range(known["n_features_in_"])):
        return tuple(range(known["n_features_in_"]))
    else:
        raise InvalidData("the model was fitted to columns without names: give rows as arrays")
    return tuple(system._names)


def _coded(coding: Any, x: Mapping[Any, Any]) -> Array:
    """Return the row that raw columns become, categories and all."""
    backend: Any = next(name for name in ("pyarrow", "pandas", "polars") if find_spec(name))
    frame = nw.from_dict({name: [value] for name, value in x.items()}, backend=backend)
    return np.ascontiguousarray(coding.code(frame)[0])


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
