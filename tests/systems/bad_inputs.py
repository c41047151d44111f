"""Bad inputs by name: rows, targets and weights that are hostile, extreme or merely odd, for every system.

Each entry of BAD makes fresh inputs: rows X, numbers and labels as targets, and weights. The good rest of an entry is
always the same 12 rows of 3 columns, so that what is special about it is what its name says.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

N, D = 12, 3


class Given(NamedTuple):
    """What fit is given: rows, targets of a regression, targets of a classifier, weights."""

    X: Any
    numbers: Any
    labels: Any
    weight: Any = None


def good() -> Given:
    """Twelve rows of three columns, numbers that depend on them, and two classes that overlap."""
    return Given(X.copy(), NUMBERS.copy(), LABELS.copy())


_rng = np.random.default_rng(7)
X = np.round(_rng.normal(size=(N, D)), 3)
NUMBERS = np.round(X @ [1.0, -2.0, 0.5] + 1.0 + 0.1 * _rng.normal(size=N), 3)
LABELS = (X[:, 0] + _rng.normal(size=N) > 0).astype(int)


def _rows(make: Callable[[np.ndarray[Any, Any]], Any]) -> Callable[[], Given]:
    """Return an entry of bad rows; targets have as many rows, where that can be told."""

    def entry() -> Given:
        given = good()
        X = make(given.X)
        n = X.shape[0] if getattr(X, "shape", ()) else len(X) if isinstance(X, list | tuple | dict) else N
        again = np.arange(n) % N
        return Given(X, given.numbers[again], given.labels[again])

    return entry


def _targets(numbers: Any, labels: Any = None) -> Callable[[], Given]:
    """Return an entry of bad targets, given or made from the good ones; labels are the same unless given."""

    def entry() -> Given:
        given = good()
        bad = numbers(given.numbers) if callable(numbers) else numbers
        others = bad if labels is None else labels(given.labels) if callable(labels) else labels
        return Given(given.X, bad, others)

    return entry


def _weights(weight: Any) -> Callable[[], Given]:
    """Return an entry of bad weights."""
    return lambda: good()._replace(weight=weight() if callable(weight) else weight)


def _both(x: float, y: float, weight: float | None) -> Callable[[], Given]:
    """Return an entry of rows, numbers and weights of these sizes."""

    def entry() -> Given:
        X, numbers, labels, _ = good()
        weights = None if weight is None else np.full(N, weight)
        return Given(X / np.abs(X).max() * x, numbers / np.abs(numbers).max() * y, labels, weights)

    return entry


def _apart(size: float) -> Callable[[], Given]:
    """Return an entry of rows of this size, whose classes a plane separates."""
    return lambda: good()._replace(X=good().X * size, labels=(good().X @ [1.0, 0.5, 0.0] > 0).astype(int))


def _with(value: Any, row: int = 4, column: int = 1) -> Callable[[Any], Any]:
    """Return a function that puts a value at one place of the rows."""

    def put(X: Any) -> Any:
        X = X.astype(object) if isinstance(value, str | bytes | None.__class__ | complex) else X.copy()
        X[row, column] = value
        return X

    return put


def _csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, int] = (N, D)) -> sparse.csr_array:
    """Return CSR rows whose arrays are put in unchecked."""
    out = sparse.csr_array(shape)
    out.data, out.indices, out.indptr = np.asarray(data, float), np.asarray(indices), np.asarray(indptr)
    return out


def _broken(name: str, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function to CSR rows one of whose arrays is changed."""

    def rows(X: Any) -> Any:
        out = sparse.csr_array(X)
        setattr(out, name, change(getattr(out, name).copy()))
        return out

    return rows


def _put(place: int, value: Any) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        array[place] = value
        return array

    return change


def _frame(**columns: Any) -> Callable[[Any], Any]:
    """Return a function to a pandas frame with columns a, b, c of the good rows, some replaced or added."""
    return lambda X: pd.DataFrame({**{name: X[:, j] for j, name in enumerate("abc")}, **columns})


def _named(names: Any) -> Callable[[Any], Any]:
    return lambda X: pd.DataFrame(X, columns=names)


def _scaled(*scales: float) -> Callable[[Any], Any]:
    return lambda X: X * np.array(scales)


SIZES = (1e308, 1e300, 1e200, 1e155, 1e-155, 1e-200, 1e-300, 1e-308, 5e-324)
DAYS = np.arange("2020-01-01", "2020-01-13", dtype="datetime64[D]")
TEXTS = ["a", "b", "c"] * 4
TINY = {f"all {size:g}": (lambda X, size=size: np.sign(X) * size) for size in SIZES}
SPREAD = {f"times {size:g}": (lambda X, size=size: X / np.abs(X).max() * size) for size in SIZES}
COLUMN = {f"one column times {size:g}": (lambda X, size=size: X / np.abs(X).max() * [1, size, 1]) for size in SIZES}
ROW = {f"one row of {size:g}": _with(size, 4, slice(None)) for size in SIZES}

ROWS: dict[str, Callable[[Any], Any]] = {
    "NaN": _with(np.nan),
    "infinity": _with(np.inf),
    "minus infinity": _with(-np.inf),
    "NaN in the last row": _with(np.nan, -1, -1),
    "all NaN": lambda X: np.full_like(X, np.nan),
    "infinities of both signs": lambda X: np.where(X > 0, np.inf, -np.inf),
    "minus zero": lambda X: np.where(X > 0, 0.0, -0.0),
    **TINY,
    **SPREAD,
    **COLUMN,
    **ROW,
    "columns of 1e200 and 1e-200": _scaled(1e200, 1.0, 1e-200),
    "mixed scales": _scaled(1e300, 1.0, 1e-300),
    "mixed rows": lambda X: X * np.logspace(-300, 300, N)[:, None],
    "a mean of 1e16": lambda X: X + 1e16,
    "the largest number of both signs": lambda X: np.where(X > 0, 1.0, -1.0) * np.finfo(float).max,
    "no rows": lambda X: X[:0],
    "no columns": lambda X: X[:, :0],
    "neither rows nor columns": lambda X: np.empty((0, 0)),
    "one row": lambda X: X[:1],
    "two rows": lambda X: X[:2],
    "one column": lambda X: X[:, :1],
    "one number": lambda X: X[:1, :1],
    "more columns than rows": lambda X: np.tile(X, (1, 20)) + np.arange(60) % 7 * X[:, :1] ** 2,
    "all constant": lambda X: np.full_like(X, 3.0),
    "all zero": np.zeros_like,
    "a constant column of 1e308": lambda X: np.column_stack([X, np.full(N, 1e308)]),
    "duplicated columns": lambda X: np.column_stack([X, X]),
    "duplicated rows": lambda X: np.repeat(X[:2], 6, axis=0),
    "equal rows": lambda X: np.repeat(X[:1], N, axis=0),
    "3-D": lambda X: X[:, :, None],
    "1-D": lambda X: X[:, 0],
    "0-D": lambda X: np.array(3.0),
    "a number": lambda X: 3.0,
    "ragged lists": lambda X: [*X.tolist()[:-1], [1.0]],
    "empty list": lambda X: [],
    "list of empty lists": lambda X: [[]] * N,
    "nested too deep": lambda X: [[[1.0]]] * N,
    "texts": lambda X: [["a", "b"]] * N,
    "numbers as texts": lambda X: X.astype(str),
    "bytes": lambda X: np.full((N, D), b"1.5"),
    "one text": lambda X: "rows",
    "a text among numbers": _with("x"),
    "None": lambda X: None,
    "None among numbers": _with(None),
    "objects": lambda X: [[object()] * D] * N,
    "numbers as objects": lambda X: X.astype(object),
    "whole numbers beyond float64": lambda X: np.array([[10**400] * D] * N, dtype=object),
    "decimals": lambda X: [[decimal.Decimal("1.5"), decimal.Decimal(i)] for i in range(N)],
    "decimal NaN": lambda X: [[decimal.Decimal("NaN")]] * N,
    "fractions": lambda X: [[fractions.Fraction(i, 3)] for i in range(N)],
    "dates": lambda X: np.column_stack([DAYS, DAYS]),
    "dates of Python": lambda X: [[datetime.date(2020, 1, 1 + i)] for i in range(N)],
    "timedeltas": lambda X: np.column_stack([DAYS - DAYS[0]] * 2),
    "complex": lambda X: X + 1j,
    "complex without imaginary part": lambda X: X + 0j,
    "a complex number as object": _with(1j),
    "bool": lambda X: X > 0,
    "uint8": lambda X: (X * 100).astype(np.int64).astype(np.uint8),
    "int8": lambda X: (X * 40).astype(np.int8),
    "int64 extremes": lambda X: np.where(X > 0, np.iinfo(np.int64).max, np.iinfo(np.int64).min),
    "uint64 extremes": lambda X: np.where(X > 0, np.uint64(2**64 - 1), np.uint64(0)),
    "longdouble": lambda X: X.astype(np.longdouble),
    "longdouble beyond float64": lambda X: X.astype(np.longdouble) * np.longdouble("1e4000"),
    "float16": lambda X: X.astype(np.float16),
    "float32 of 3e38": lambda X: (np.sign(X) * 3e38).astype(np.float32),
    "float32 of 1e-45": lambda X: (np.sign(X) * 1e-45).astype(np.float32),
    "big-endian": lambda X: X.astype(">f8"),
    "big-endian float32": lambda X: X.astype(">f4"),
    "negative strides": lambda X: X[::-1, ::-1],
    "no strides": lambda X: np.broadcast_to(X[0], (N, D)),
    "read-only": lambda X: (X.setflags(write=False), X)[1],
    "misaligned": lambda X: np.frombuffer(b"\0" + X.tobytes(), dtype=np.float64, count=N * D, offset=1).reshape(N, D),
    "masked": lambda X: np.ma.masked_array(X, mask=X > 1),
    "np.matrix": np.matrix,
    "record array": lambda X: np.rec.fromarrays(list(X.T), names="a,b,c"),
    "void": lambda X: np.zeros((N, D), dtype="V8"),
    "generator": lambda X: (row for row in X),
    "dict of lists": lambda X: {name: X[:, j].tolist() for j, name in enumerate("abc")},
    "list of dicts": lambda X: [{"a": 1.0}] * N,
    "set": lambda X: {1.0, 2.0, 3.0},
    "a function": lambda X: good,
    "a class": lambda X: Given,
    "CSR": sparse.csr_array,
    "CSR index beyond the columns": _broken("indices", _put(5, 99)),
    "CSR index far beyond": _broken("indices", _put(5, 2**30)),
    "CSR negative index": _broken("indices", _put(5, -1)),
    "CSR unsorted": lambda X: _csr(X[:, ::-1].ravel(), np.tile([2, 1, 0], N), np.arange(0, N * D + 1, D)),
    "CSR duplicate entries": lambda X: _csr(X.ravel(), np.tile([1, 1, 1], N), np.arange(0, N * D + 1, D)),
    "CSR duplicates that overflow": lambda X: _csr([1.7e308] * 36, [1] * 36, np.arange(0, 37, 3)),
    "CSR explicit zeros": lambda X: _csr(np.zeros(N * D), np.tile([0, 1, 2], N), np.arange(0, N * D + 1, D)),
    "CSR NaN": _broken("data", _put(5, np.nan)),
    "CSR infinity": _broken("data", _put(5, np.inf)),
    "CSR of 1e308": _broken("data", lambda data: np.sign(data) * 1e308),
    "CSR of 5e-324": _broken("data", lambda data: np.sign(data) * 5e-324),
    "CSR of 1e-200": _broken("data", lambda data: data * 1e-200),
    "CSR no entries": lambda X: sparse.csr_array((N, D)),
    "CSR no rows": lambda X: sparse.csr_array((0, D)),
    "CSR no columns": lambda X: sparse.csr_array((N, 0)),
    "CSR row pointers that fall": _broken("indptr", _put(3, 30)),
    "CSR row pointers beyond the data": _broken("indptr", _put(-1, 1000)),
    "CSR negative row pointer": _broken("indptr", _put(0, -3)),
    "CSR too few row pointers": _broken("indptr", lambda indptr: indptr[:-2]),
    "CSR too few data": _broken("data", lambda data: data[:-2]),
    "CSR of longdouble": _broken("data", lambda data: data.astype(np.longdouble)),
    "CSR of int8": lambda X: sparse.csr_array((X * 40).astype(np.int8)),
    "COO 1-D": lambda X: sparse.coo_array(X[:, 0]),
    "COO duplicates": lambda X: sparse.coo_array((X.ravel(), (np.arange(36) % N, np.ones(36, int))), shape=(N, D)),
    "CSR with 64-bit indices": _broken("indices", lambda indices: indices.astype(np.int64)),
    "BSR": lambda X: sparse.bsr_array(X, blocksize=(2, 3)),
    "pandas NaN": lambda X: pd.DataFrame(_with(np.nan)(X), columns=list("abc")),
    "pandas NA": _frame(b=pd.array([1, None, 3] * 4, dtype="Int64")),
    "pandas category": _frame(b=pd.Categorical(TEXTS)),
    "pandas category with gaps": _frame(b=pd.Categorical(["a", None, "c"] * 4)),
    "pandas category of one level": _frame(b=pd.Categorical(["a"] * N)),
    "pandas category of numbers": _frame(b=pd.Categorical([1.5, 2.5, np.nan] * 4)),
    "pandas unused levels": _frame(b=pd.Categorical(TEXTS, categories=["z", "a", "b", "c", "y"])),
    "pandas texts": _frame(b=TEXTS),
    "pandas mixed objects": _frame(b=["a", 1, None] * 4),
    "pandas lists in cells": _frame(b=[[1], [2], [3]] * 4),
    "pandas dates": _frame(b=DAYS),
    "pandas timedeltas": _frame(b=DAYS - DAYS[0]),
    "pandas periods": _frame(b=pd.period_range("2020-01", periods=N)),
    "pandas bool with NA": _frame(b=pd.array([True, False, None] * 4, dtype="boolean")),
    "pandas complex": _frame(b=np.full(N, 1j)),
    "pandas sparse": _frame(b=pd.arrays.SparseArray([0.0, 0.0, 1.0] * 4)),
    "pandas duplicate names": _named(["a", "a", "b"]),
    "pandas MultiIndex": _named(pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])),
    "pandas names that are numbers": _named([0, 1, 2]),
    "pandas names of mixed types": _named([0, "b", None]),
    "pandas names that are empty": _named(["", " ", "\0"]),
    "pandas no rows": lambda X: pd.DataFrame(X[:0], columns=list("abc")),
    "pandas no columns": lambda X: pd.DataFrame(index=range(N)),
    "pandas series": lambda X: pd.Series(X[:, 0]),
    "polars nulls": lambda X: pl.DataFrame({"a": X[:, 0], "b": [1, None, 3] * 4}),
    "polars all null": lambda X: pl.DataFrame({"a": X[:, 0], "b": [None] * N}),
    "polars lists": lambda X: pl.DataFrame({"a": X[:, 0], "b": [[1], [2]] * 6}),
    "polars lazy": lambda X: pl.DataFrame(X).lazy(),
    "polars decimals": lambda X: pl.DataFrame({"a": X[:, 0], "b": [decimal.Decimal(i) for i in range(N)]}),
    "Arrow nulls": lambda X: pa.table({"a": X[:, 0], "b": pa.array([1.0, None, 3.0] * 4)}),
    "Arrow nulls of no type": lambda X: pa.table({"a": X[:, 0], "b": pa.nulls(N)}),
    "Arrow binary": lambda X: pa.table({"a": X[:, 0], "b": [b"x", b"y"] * 6}),
}

TARGETS: dict[str, Callable[[], Given]] = {
    "y None": _targets(lambda y: None),
    "y NaN": _targets(_put(4, np.nan), lambda y: _put(4, np.nan)(y.astype(float))),
    "y infinity": _targets(_put(4, np.inf), lambda y: _put(4, -np.inf)(y.astype(float))),
    "y None among others": _targets([None, *range(N - 1)], [None, *"ab" * 5, "a"]),
    "y constant": _targets(np.full(N, 3.0), np.full(N, 3)),
    "y all zero": _targets(np.zeros(N), np.zeros(N, int)),
    "y one row a class": _targets(np.arange(N)),
    "y one row of the second class": _targets(np.arange(N) == 3),
    **{f"y of {size:g}": _targets(lambda y, s=size: np.sign(y) * s, lambda y, s=size: y * s) for size in SIZES},
    **{f"y times {size:g}": _targets(lambda y, s=size: y / np.abs(y).max() * s) for size in SIZES},
    "y one of 1e308": _targets(_put(4, 1e308), lambda y: np.where(np.arange(N) == 4, 1e308, y)),
    "y the largest of both signs": _targets(lambda y: np.where(y > 0, 1.0, -1.0) * np.finfo(float).max),
    "y too short": _targets(lambda y: y[:-1]),
    "y too long": _targets(np.arange(N + 1) % 2),
    "y empty": _targets([]),
    "y 2-D of one column": _targets(lambda y: y[:, None]),
    "y 2-D of two columns": _targets(lambda y: np.column_stack([y, -y])),
    "y 2-D of no columns": _targets(np.empty((N, 0))),
    "y 3-D": _targets(np.ones((N, 1, 1))),
    "y one number": _targets(lambda y: 1.0),
    "y one text": _targets("ab" * 6),
    "y texts": _targets(TEXTS),
    "y bytes": _targets([b"a", b"b"] * 6),
    "y objects": _targets([object() for _ in range(N)]),
    "y mixed types": _targets(["a", 1, 2.5] * 4),
    "y complex": _targets(lambda y: y + 1j),
    "y dates": _targets(DAYS),
    "y ragged": _targets([[1.0], [1.0, 2.0]] * 6),
    "y dicts": _targets([{"a": 1}] * N),
    "y bool": _targets(lambda y: y > 0),
    "y as booleans and numbers": _targets([True, 1, 0, False] * 3),
    "y uint64 beyond int64": _targets(np.array([2**63 + 5, 2**64 - 1] * 6, dtype=np.uint64)),
    "y uint64 near 2^63": _targets(np.array([2**63 - 1, 2**63 + 1] * 6, dtype=np.uint64)),
    "y int64 extremes": _targets(np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max] * 6)),
    "y whole numbers beyond int64": _targets([2**70, 2**71] * 6),
    "y longdouble": _targets(lambda y: y.astype(np.longdouble)),
    "y longdouble beyond float64": _targets(lambda y: y.astype(np.longdouble) * np.longdouble("1e4000")),
    "y float16": _targets(lambda y: y.astype(np.float16)),
    "y big-endian": _targets(lambda y: y.astype(">f8"), lambda y: y.astype(">i4")),
    "y read-only with negative strides": _targets(lambda y: y[::-1]),
    "y masked": _targets(lambda y: np.ma.masked_array(y, mask=y > 0)),
    "y generator": _targets(lambda y: (value for value in y)),
    "y sparse": _targets(lambda y: sparse.csr_array(y[:, None])),
    "y pandas NA": _targets(lambda y: pd.Series([1, None, 0] * 4, dtype="Int64")),
    "y pandas category": _targets(lambda y: pd.Series(pd.Categorical(TEXTS))),
    "y pandas frame": _targets(lambda y: pd.DataFrame({"a": y, "b": y})),
    "y polars nulls": _targets(lambda y: pl.Series([1, None, 0] * 4)),
    "y empty texts": _targets(["", "\0", " "] * 4),
}

WEIGHTS: dict[str, Callable[[], Given]] = {
    "weights zero": _weights(np.zeros(N)),
    "weights zero but one": _weights(np.eye(N)[3]),
    "weights zero but two": _weights(np.eye(N)[3] + np.eye(N)[4]),
    "weights negative": _weights(-np.ones(N)),
    "one negative weight": _weights(np.where(np.arange(N) == 3, -1e-9, 1.0)),
    "weights minus zero": _weights(np.full(N, -0.0)),
    "weights NaN": _weights(np.where(np.arange(N) == 3, np.nan, 1.0)),
    "weights infinite": _weights(np.where(np.arange(N) == 3, np.inf, 1.0)),
    **{f"weights of {size:g}": _weights(np.full(N, size)) for size in (*SIZES, 1e-320, 9e139, 1e139, 1e-139, 2e-140)},
    **{
        f"one weight of {size:g}": _weights(np.where(np.arange(N) == 3, size, 1.0))
        for size in (*SIZES, 1e-320, 9e139, 2e-140)
    },
    "weights from 1e-139 to 1e139": _weights(np.logspace(-139, 139, N)),
    "weights from 1e-300 to 1e300": _weights(np.logspace(-300, 300, N)),
    "weights too short": _weights(np.ones(N - 1)),
    "weights empty": _weights([]),
    "weights 2-D": _weights(np.ones((N, 1))),
    "weights 3-D": _weights(np.ones((N, 1, 1))),
    "weights one number": _weights(2.5),
    "weights one infinite number": _weights(np.inf),
    "weights texts": _weights(["heavy"] * N),
    "weights numbers as texts": _weights(["1"] * N),
    "weights complex": _weights(np.full(N, 1j)),
    "weights bool": _weights(np.arange(N) % 2 == 0),
    "weights None among others": _weights([None, *[1.0] * (N - 1)]),
    "weights dates": _weights(DAYS),
    "weights ragged": _weights([[1.0], [1.0, 2.0]] * 6),
    "weights uint8": _weights(np.full(N, 255, dtype=np.uint8)),
    "weights longdouble beyond float64": _weights(lambda: np.full(N, np.longdouble("1e4000"))),
    "weights pandas NA": _weights(lambda: pd.Series([1, None, 2] * 4, dtype="Int64")),
    "weights sparse": _weights(lambda: sparse.csr_array(np.ones((N, 1)))),
    "weights dict": _weights({0: 1.0}),
    "weights whole numbers beyond float64": _weights([10**400] * N),
}

BOTH: dict[str, Callable[[], Given]] = {
    **{
        f"X times {x:g}, y times {y:g}, {weights} weights": _both(x, y, weight)
        for x, y, weight, weights in (
            (1e306, 1e-300, None, "no"),
            (1e306, 1e-300, 1e139, "large"),
            (1e306, 1e155, 1e-139, "small"),
            (1e200, 1e200, 1e-139, "small"),
            (1.0, 1e154, None, "no"),
            (1e-200, 1e-200, 1e-139, "small"),
            (1e-306, 1e-306, 1e139, "large"),
        )
    },
    **{f"two classes apart, X times {size:g}": _apart(size) for size in (1e160, 1e154, 1.0, 1e-154, 1e-200)},
}

BAD: dict[str, Callable[[], Given]] = {
    **{name: _rows(make) for name, make in ROWS.items()},
    **TARGETS,
    **WEIGHTS,
    **BOTH,
}
