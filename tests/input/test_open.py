"""What may be handed over: any layout, any number type, frames, sparse matrices; the same numbers give the same fit."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.utils import multiclass, validation

from adaline import (
    LMS,
    GeneralizedLinear,
    KMeans,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    WienerFilter,
    effects,
    open_table,
    select,
    separability,
)
from adaline.arrays import Array, as_dense
from adaline.errors import AdalineWarning, InvalidData, InvalidParameter, MissingValues
from adaline.input.open import read_rows
from adaline.input.snapshots import read_snapshots
from adaline.sources import ArraySource
from tests.cases import CASES

NAMES = ["height", "age", "mass", "width"]
RNG = np.random.default_rng(0)
X, y = CASES["LinearRegression"].rows().arguments
WEIGHT = np.linspace(0.5, 2.0, 60)
WHOLE = RNG.integers(1, 100, size=(60, 4)) * (RNG.random((60, 4)) < 0.4)
TRUE = y > np.median(y)


def frozen(X: Array) -> Array:
    """Read-only."""
    out = X.copy()
    out.setflags(write=False)
    return out


def rebuilt(X: Any, change: Callable[[Any], Any]) -> Any:
    """Sparse rows whose arrays are changed."""
    out = sparse.csr_array(X)
    out.data, out.indices, out.indptr = map(change, (out.data, out.indices, out.indptr))
    return out


def unsorted(X: Any) -> Any:
    """The entries of each row in reverse order."""
    rows = sparse.csr_array(X)
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)])
    return sparse.csr_array((rows.data[order], rows.indices[order], rows.indptr), shape=X.shape)


def doubled(X: Array) -> Any:
    """Each entry, also of zero, stored as two that add up to it."""
    n, d = X.shape
    values = np.stack([X / 4, 3 * X / 4], axis=2).ravel()
    return sparse.csr_array(
        (values, np.repeat(np.tile(np.arange(d), n), 2), np.arange(0, 2 * n * d + 1, 2 * d)), shape=X.shape
    )


def cleared(X: Array, *where: Any) -> Array:
    """Zeros in some rows or columns."""
    out = X.copy()
    out[where] = 0
    return out


FORMS: dict[str, Callable[[Array], Any]] = {
    "read-only": frozen,
    "byte-swapped": lambda X: X.astype(X.dtype.newbyteorder()),
    "object": lambda X: X.astype(object),
    "subclass": lambda X: X.view(np.ma.MaskedArray),
    "lists of columns": lambda X: [tuple(row) for row in X],
    "polars, lazy": lambda X: pl.LazyFrame(X, schema=NAMES),
    "frame of integers": lambda X: pd.DataFrame(X.astype(int), columns=NAMES),
    "truths": lambda X: X > 0,
    **{np.dtype(kind).name: lambda X, kind=kind: X.astype(kind) for kind in ["b", "h", "i", "l", "B", "L", "e"]},
    "csr_matrix": sparse.csr_matrix,
    "csc_matrix": sparse.csc_matrix,
    "lil_array": sparse.lil_array,
    "sparse integers": lambda X: sparse.csr_array(X.astype(int)),
    "unsorted": unsorted,
    "zeros that are stored and duplicates": doubled,
    "long indices": lambda X: rebuilt(X, lambda part: part.astype(np.int64) if part.dtype.kind == "i" else part),
    "strided parts": lambda X: rebuilt(X, lambda part: np.repeat(part, 2)[::2]),
    "empty rows": lambda X: sparse.csr_array(cleared(X, slice(5, 20))),
    "empty columns": lambda X: sparse.csr_array(cleared(X, slice(None), 2)),
}
"""Forms of rows, beside those of the laws of all systems."""
SYSTEMS = {
    "LinearRegression": LinearRegression,
    "gradient": partial(LinearRegression, solver="gradient", epochs=2000),
    "LMS": partial(LMS, rate=1e-5),
    "LogisticRegression": partial(LogisticRegression, penalty=1.0),
    "Perceptron": partial(Perceptron, epochs=3),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_form_of_rows_does_not_matter(system: str, form: str) -> None:
    make, rows = SYSTEMS[system], FORMS[form](WHOLE.astype(float))
    plain = rows.collect() if form == "polars, lazy" else rows.toarray() if sparse.issparse(rows) else rows
    plain = np.asarray(plain, dtype=np.float64)
    t = TRUE if hasattr(make(), "decision_function") else y
    model, expected = make().fit(rows, t), make().fit(plain, t)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8, atol=1e-12)
    assert model.coef_.dtype == np.float64
    found, read = model.predict(rows), expected.predict(plain)
    assert found.dtype == read.dtype
    if t is y:
        np.testing.assert_allclose(found, read, rtol=1e-8, atol=1e-10)
    else:
        np.testing.assert_array_equal(found, read)


VECTORS: dict[str, Callable[[Array], Any]] = {
    **{kind.__name__: kind for kind in (list, tuple, pd.Series, pl.Series)},
    "arrow": pa.array,
    "read-only": frozen,
    "byte-swapped": FORMS["byte-swapped"],
    "strided": lambda v: np.repeat(v, 2)[::2],
    "backwards": lambda v: v[::-1].copy()[::-1],
}


@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_the_form_of_targets_and_weights_does_not_matter(vector: Any) -> None:
    plain = LinearRegression().fit(X, y, sample_weight=WEIGHT)
    model = LinearRegression().fit(X, vector(y), sample_weight=vector(WEIGHT))
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    whole = np.rint(3 * y).astype(int)
    np.testing.assert_array_equal(
        LinearRegression().fit(X, vector(whole)).coef_, LinearRegression().fit(X, whole.astype(float)).coef_
    )


def test_sparse_equals_dense_with_weights_and_several_targets() -> None:
    Y, weight = np.column_stack([y, y[::-1]]), np.linspace(0.0, 2.0, 60)
    model, plain = (LinearRegression().fit(rows, Y, sample_weight=weight) for rows in (sparse.csr_array(WHOLE), WHOLE))
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-11)
    found, expected = model.summary().to_dict(), plain.summary().to_dict()
    for a, b in zip(found["coefficients"], expected["coefficients"], strict=True):
        assert a["std_error"] == pytest.approx(b["std_error"], rel=1e-7)


FRAMES: dict[str, Callable[[Any], Any]] = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "polars, lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "arrow": pa.Table.from_pandas,
}
FRAME = pd.DataFrame(X, columns=NAMES)


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_bring_their_names(kind: str) -> None:
    make, plain = FRAMES[kind], LinearRegression().fit(X, y)
    model = LinearRegression().fit(make(FRAME), y)
    assert (list(model.feature_names_in_), model.n_features_in_) == (NAMES, 4)
    assert [row["name"] for row in model.summary().to_dict()["coefficients"]][-4:] == NAMES
    found, expected = (m.predict(rows, interval="prediction") for m, rows in ((model, make(FRAME)), (plain, X)))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    aliased = LinearRegression().fit(make(FRAME.assign(mass=FRAME.height)), y)
    assert list(aliased.aliased_) == ["mass"]
    assert "mass" in str(aliased.summary())
    np.testing.assert_array_equal(LinearRegression().fit(X, make(FRAME)).coef_, LinearRegression().fit(X, X).coef_)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("system", [LinearRegression, LogisticRegression, partial(KMeans, n_clusters=2), Perceptron])
def test_columns_of_a_frame_in_another_order_are_put_in_order(system: Any, kind: str) -> None:
    make, labels = FRAMES[kind], (X[:, 0] > X[:, 0].mean()).astype(int)
    model = system().fit(make(FRAME), labels)
    assert np.array_equal(model.predict(make(FRAME[NAMES[::-1]])), model.predict(make(FRAME)))
    with pytest.raises(InvalidData, match="now missing:\n- height"):
        model.predict(make(FRAME[NAMES[1:]]))
    with pytest.raises(InvalidData, match="unseen at fit time:\n- d"):
        model.predict(make(FRAME.assign(d=1.0)))
    if hasattr(model, "partial_fit"):
        model.partial_fit(make(FRAME[NAMES[::-1]]), labels)
        assert model.feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_an_extra_or_mistyped_column_of_a_frame_is_named(library: Any) -> None:
    columns = {"a": [1.0, 2.0, 4.0], "b": [2.0, 1.0, 0.0]}
    model = LinearRegression().fit(library(columns), [1.0, 2.0, 3.0])
    with pytest.raises(InvalidData, match=r"unseen at fit time:\n- c\nLeave the other columns out"):
        model.predict(library({**columns, "c": ["x", "y", "z"]}))
    with pytest.raises(InvalidData, match="column 'b' of X holds text, such as 'q', and LinearRegression was fitted"):
        model.predict(library({**columns, "b": ["1", "q", "2"]}))
    without_names = LinearRegression().fit(np.array([[1.0], [2.0], [4.0]]), [1.0, 2.0, 3.0])
    with pytest.warns(UserWarning, match="fitted without"), pytest.raises(InvalidData, match="column 'c' of X holds"):
        without_names.predict(library({"c": ["x", "y", "z"]}))
    with pytest.raises(InvalidData, match="X holds text, and LinearRegression was fitted to numbers alone"):
        without_names.predict([["x"]])


def test_frames_of_other_columns_and_indices() -> None:
    """Of mixed types, with an index, which is left aside, and with numbers as names, which are none."""
    mixed = FRAME.assign(count=np.arange(60), flag=X[:, 0] > 0, small=X[:, 1].astype(np.float32))
    order = RNG.permutation(60)
    model, plain = LinearRegression().fit(mixed, y), LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(mixed.to_numpy(dtype=float), y).coef_, rtol=1e-9)
    assert list(model.feature_names_in_) == [*NAMES, "count", "flag", "small"]
    moved = LinearRegression().fit(FRAME.set_index(order), pd.Series(y, index=order[::-1]))
    numbered = LinearRegression().fit(pd.DataFrame(X), y)
    source = LinearRegression().fit(ArraySource(X, y[:, None]))
    for one in (moved, numbered, source):
        np.testing.assert_array_equal(np.ravel(one.coef_), plain.coef_)
    assert not hasattr(numbered, "feature_names_in_")


def test_categories_of_one_level_alone_are_nothing_to_learn_from() -> None:
    frame = pd.DataFrame({"kind": ["u"] * 4, "y": [1.0, 2.0, 3.0, 5.0]})
    for rows in ((frame[["kind"]], frame["y"]), (open_table(frame, target="y"),)):
        with pytest.raises(InvalidData, match="column 'kind' is 'u' in all rows, and there is no other column"):
            LinearRegression().fit(*rows)
    model = LinearRegression().fit(pd.DataFrame({"kind": ["u", "v", "u", "v"]}), frame["y"])
    assert model.predict(open_table(frame[["kind"]].head(1))) == pytest.approx([2.0])


def test_lazy_frames_are_collected() -> None:
    frame = pl.DataFrame(X, schema=NAMES)
    lazy, plain = frame.lazy(), LinearRegression().fit(frame, y)
    both = LinearRegression().fit(lazy, pl.LazyFrame({"y": y}))
    np.testing.assert_array_equal(both.predict(lazy)[:, 0], plain.predict(frame))
    classifier = LeastSquaresClassifier().fit(lazy, np.where(TRUE, "high", "low"))
    assert set(classifier.predict(lazy)) <= {"high", "low"}
    table = open_table(frame.with_columns(y=y).lazy(), target="y")
    np.testing.assert_array_equal(LinearRegression().fit(table).coef_, plain.coef_)
    one, other = (select(Ridge(), rows, y, penalty=[0.1, 1.0]) for rows in (lazy, frame))
    assert one.index == other.index


MASK = np.arange(60) == 3
GAPS, GAPPY = np.ma.array(np.ones(60), mask=MASK), np.ma.array(y, mask=MASK)
HOLEY = np.ma.array(X, mask=np.arange(240).reshape(60, 4) == 13)
LINE = LinearRegression().fit(X, y)
FILTER = WienerFilter(taps=2).fit(X[:, 0], y)


@pytest.mark.every
@pytest.mark.parametrize(
    "call",
    [
        lambda: LinearRegression().fit(HOLEY, y),
        lambda: LinearRegression().fit(X, GAPPY),
        lambda: LeastSquaresClassifier().fit(X, np.ma.array(TRUE, mask=MASK)),
        lambda: LinearRegression().fit(X, y, GAPS),
        lambda: GeneralizedLinear(loss="poisson").fit(X, np.abs(y), offset=GAPS),
        lambda: LINE.score(X, y, GAPS),
        lambda: LINE.score(X, GAPPY),
        lambda: LMS(rate=0.01).fit(X, y).score(X, y, GAPS),
        lambda: LeastSquaresClassifier().fit(X, TRUE).score(X, TRUE, GAPS),
        lambda: FILTER.score(X[:, 0], y, GAPS),
        lambda: FILTER.predict(np.ma.array(X[:, 0], mask=MASK)),
        lambda: FILTER.predict(np.ma.array(X[:, :1], mask=MASK[:, None])),
        lambda: LINE.partial_fit(X, y, GAPS),
        lambda: LINE.forget(X[:9], y[:9], GAPS[:9]),
        lambda: LINE.summary(errors="HC0", X=X, y=y, sample_weight=GAPS),
        lambda: LINE.summary(errors="cluster", X=X, y=y, groups=GAPS),
        lambda: LINE.summary(errors="cluster", X=X, y=y, groups=np.ma.column_stack([GAPS, GAPS])),
        lambda: separability(X, TRUE, sample_weight=GAPS),
        lambda: effects(LINE, X, sample_weight=GAPS),
        lambda: open_table(X, target=GAPPY),
        lambda: open_table(X, target=y, weight=GAPS),
        lambda: open_table(HOLEY, target=y),
    ],
)
def test_masked_values_are_missing_values(call: Callable[[], Any]) -> None:
    with pytest.raises(MissingValues, match="is a masked array, with masked values: drop or fill such rows"):
        call()


def test_messages_write_control_characters_out() -> None:
    frame = pd.DataFrame({"\x1b[31mA": X[:, 0], "\x1b[31mB": X[:, 0]})
    with pytest.warns(AdalineWarning) as caught:
        LinearRegression().fit(frame, X[:, 1])
    assert r"\x1b[31mA" in str(caught[0].message)
    assert "\x1b" not in str(caught[0].message)
    with pytest.raises(InvalidParameter) as error:
        open_table(frame, target="y")
    assert "\x1b" not in str(error.value)


@pytest.mark.parametrize("shape", [(60, 0), (60, 1, 1)])
def test_targets_have_one_column_or_more(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidData, match=r"y has shape .*; it must be \(n,\) or \(n, targets\)"):
        LinearRegression().fit(X, np.ones(shape))


def test_what_reads_a_model_sees_a_snapshot_and_what_changes_it_does_not() -> None:
    names = ("predict", "fit", "partial_fit", "_solve")
    functions = {name: lambda self: None for name in names}
    for one in functions.values():
        one.__module__ = "adaline.systems.ours"
    cls = type("Ours", (), functions)
    read_snapshots(cls)
    assert [name for name in names if vars(cls)[name] is not functions[name]] == ["predict"]


SMALL = np.arange(40).reshape(20, 2) % 7
PLAIN: dict[str, Any] = {
    "whole numbers": SMALL,
    "bytes": SMALL.astype(np.uint8),
    "flags": SMALL > 2,
    "half": (SMALL / 4).astype(np.float16),
    "list": (SMALL / 3).tolist(),
    "frame": pd.DataFrame(SMALL, columns=["a", "b"]),
    "csc": sparse.csc_array(SMALL),
}
LABELS: dict[str, Any] = {
    "whole": np.arange(20) % 2,
    "floats": np.arange(20) % 2 * 3.0,
    "texts": np.array(["no", "yes"] * 10),
    "objects": np.array(["no", "yes"] * 10, dtype=object),
    "list": ["no", "yes"] * 10,
    "flags": np.arange(20) % 2 > 0,
    "series": pd.Series(["no", "yes"] * 10, dtype="category"),
}


@pytest.mark.parametrize("name", PLAIN)
def test_numbers_are_read_as_scikit_learn_reads_them_but_without_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given, y = PLAIN[name], np.arange(20) % 5
    dtype = None if getattr(getattr(given, "dtype", None), "kind", "f") in "iub" or name == "frame" else np.float64
    expected = validation.check_array(given, accept_sparse="csr", dtype=dtype)
    forbid(monkeypatch)
    model = LinearRegression().fit(given, y.tolist())
    found = read_rows(model, given)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(as_dense(found), as_dense(expected))
    assert model.predict(given).shape == (20,)


@pytest.mark.parametrize("name", LABELS)
def test_labels_are_read_as_scikit_learn_reads_them_but_without_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.random.default_rng(0).normal(size=(20, 2)), LABELS[name]
    expected = multiclass.unique_labels(y)
    forbid(monkeypatch)
    whole = LeastSquaresClassifier().fit(X, y)
    np.testing.assert_array_equal(whole.classes_, expected)
    again = LeastSquaresClassifier().partial_fit(X[:10], y[:10]).partial_fit(X[10:], y[10:], classes=expected)
    assert again.classes_.dtype == expected.dtype
    np.testing.assert_array_equal(again.predict(X), whole.predict(X))


def forbid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the checks of scikit-learn fail wherever they are called."""
    checks = (validation.check_array, validation.column_or_1d, validation.check_is_fitted)
    checks += (multiclass.check_classification_targets, multiclass.unique_labels)
    for module in [one for name, one in sys.modules.items() if name.startswith(("adaline", "sklearn.utils"))]:
        for name, value in vars(module).copy().items():
            if any(value is check for check in checks):
                monkeypatch.setattr(module, name, None)


@pytest.mark.parametrize("dtype", ["boolean", "bool[pyarrow]", "Int64", "int64[pyarrow]", "UInt8"])
def test_labels_of_columns_that_may_have_gaps_keep_their_kind(dtype: str) -> None:
    rows = np.random.default_rng(0).normal(size=(40, 2))
    labels = pd.Series((rows[:, 0] > 0).astype(int), dtype=dtype)
    model = LogisticRegression(penalty=1.0).fit(rows, labels)
    assert model.classes_.tolist() == ([False, True] if "bool" in dtype else [0, 1])
    assert model.classes_.dtype.kind == ("b" if "bool" in dtype else dtype[0].lower())
    labels[3] = pd.NA
    with pytest.raises(InvalidData, match="NaN: first at row 3"):
        model.fit(rows, labels)
