"""One row, an array or a dict of columns, as the float64 numbers (D,) that a scan works in; others are refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np

from adaline.arrays import AnyArray, Array, as_dense
from adaline.errors import InvalidData
from adaline.lazy import nw
from adaline.scans import Scan
from adaline.sources.expanded import phi
from adaline.systems.families.online_state import PreparedState


def let_scan_read_rows(setup: PreparedState, scan: Scan) -> None:
    """Let the scan take single rows directly, where it works in the columns as they are given."""
    if setup.as_given:
        scan.read_rows_by(setup.names, setup.targets)


def finite_row(setup: PreparedState, x: AnyArray) -> Array:
    """Return one row in the columns that the scan works in, (D,); refuse one that has no finite square."""
    row = scanned_row(setup, x)
    with np.errstate(all="ignore"):
        square = row.dot(row)
    if not square < math.inf:
        refuse_row(row, setup.columns.coefficient_names())
    return row


def scanned_row(setup: PreparedState, x: AnyArray) -> Array:
    """Return one row, an array or a dict of columns, in the columns that the scan works in: float64 (D,)."""
    row, basis, standard = given_row(setup, x), setup.columns.basis, setup.standard
    if setup.as_given:
        return row
    if not np.isfinite(row).all():
        refuse_row(row, setup.columns.given_names())
    rows = row[None] if basis is None else phi(basis, row[None])
    return np.ascontiguousarray((rows if standard is None else standard.rows(rows))[0])


def given_row(setup: PreparedState, x: AnyArray) -> Array:
    """Return one row of the columns as given, float64 (D,); refuse other sizes."""
    columns, names = setup.columns, setup.names
    x = x if names is None else by_name(x)
    if isinstance(x, Mapping):
        if names is None and set(x) != set(range(columns.count)):
            raise InvalidData("the model was fitted to columns without names: give rows as arrays")
        return row_of_dict(x, tuple(range(columns.count) if names is None else names), columns.coding)
    return row_of_array(x, columns.count)


def row_of_dict(x: Mapping[Any, Any], names: tuple[Any, ...], coding: Any) -> Array:
    """Return the row (D,) of a dict by column names; refuse columns that are missing, unknown or no numbers.

    Where the model was fitted to a table, raw columns are coded as they were there.
    """
    try:
        if tuple(x) == names:
            return np.fromiter(x.values(), np.float64, len(names))
        if len(x) == len(names):
            return np.fromiter(map(x.__getitem__, names), np.float64, len(names))
    except (KeyError, TypeError, ValueError, OverflowError):
        pass
    if coding is not None:
        return np.ascontiguousarray(as_dense(coded_row(x, coding))[0])
    missing = [name for name in names if name not in x]
    if missing:
        raise InvalidData(f"the row has no column {missing[0]!r}; the model needs: {', '.join(map(str, names))}")
    strange = [name for name in x if name not in names]
    if strange:
        raise InvalidData(f"the model does not know the column {strange[0]!r}; leave it out of the row")
    return np.array([number_in(name, x[name]) for name in names])


def number_in(name: Any, value: Any) -> float:
    """Return a value of a row that is a dict as a number; refuse what is none, by the name of its column."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidData(f"column {name!r} of the row holds {value!r}, not a number") from None


def coded_row(x: Mapping[Any, Any], coding: Any) -> Any:
    """Return the row of a dict of raw columns as a table's coding has it, (1, D), dense or CSR."""
    backend: Any = next(name for name in ("pyarrow", "pandas", "polars") if find_spec(name))
    return coding.code(nw.from_dict({name: [value] for name, value in x.items()}, backend=backend))


def by_name(x: AnyArray) -> Any:
    """Return a row that has its names with it, a pandas Series, as a dict; any other as it is."""
    if type(x).__module__.startswith("pandas") and np.ndim(x) == 1 and hasattr(x, "index"):
        names = x.index.tolist()
        if all(isinstance(name, str) for name in names):
            return dict(zip(names, x.tolist(), strict=True))
    return x


def row_of_array(x: AnyArray, columns: int) -> Array:
    """Return one row that is given as an array, float64 (D,); refuse other sizes."""
    try:
        if np.iscomplexobj(x):
            raise TypeError
        with np.errstate(all="ignore"):
            row = np.ascontiguousarray(x, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidData(f"a row is an array of numbers or a dict by column names, got {x!r}") from None
    if row.shape != (columns,):
        raise InvalidData(f"a row must hold {columns} numbers, one for each column, got an array of shape {row.shape}")
    return row


def refuse_row(row: Array, names: list[str]) -> None:
    """Raise for a row (D,) that is not finite, or whose square is not; `names` are those of its columns."""
    wrong = np.flatnonzero(~np.isfinite(row))
    if not len(wrong):
        raise InvalidData("Input X holds numbers too large to be squared: infinity came out. Rescale that column.")
    kind = "NaN" if np.isnan(row[wrong[0]]) else "infinity"
    name = names[int(wrong[0])]
    raise InvalidData(f"Input X contains {kind}: column {name!r}. Drop or fill such rows before learning.")
