"""What may be handed over: any layout, any number type, frames, sparse matrices; the same numbers give the same fit."""

from __future__ import annotations

import sys
from collections.abc import Callable
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
from tests.systems.cases import NEEDS_ROWS, Make, assert_same, data, systems, theta

NAMES = ["height", "age", "mass", "width"]
SERIES = ["pandas", "polars", "pyarrow", "list", "tuple"]


def padded(X: Array) -> Array:
    """A slice of a larger array, every other row and column of it."""
    out = np.full((2 * X.shape[0], 2 * X.shape[1]), np.nan)
    out[::2, 1::2] = X
    return out[::2, 1::2]


def backwards(X: Array) -> Array:
    """Negative strides in both directions."""
    return X[::-1, ::-1].copy()[::-1, ::-1]


def frozen(X: Array) -> Array:
    """Read-only."""
    out = X.copy()
    out.setflags(write=False)
    return out


def swapped(X: Array) -> Array:
    """The other byte order."""
    return X.astype(X.dtype.newbyteorder())


LAYOUTS: dict[str, Callable[[Array], Any]] = {
    "fortran": np.asfortranarray,
    "slice": padded,
    "negative strides": backwards,
    "transposed": lambda X: np.ascontiguousarray(X.T).T,
    "read-only": frozen,
    "byte-swapped": swapped,
    "list": lambda X: X.tolist(),
    "object": lambda X: X.astype(object),
    "matrix rows": lambda X: [list(row) for row in X],
    "subclass": lambda X: X.view(np.ma.MaskedArray),
}

FRAMES: dict[str, Callable[[Array], Any]] = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "polars, lazy": lambda X: pl.LazyFrame(X, schema=NAMES),
    "pyarrow": lambda X: pa.table({name: X[:, j] for j, name in enumerate(NAMES)}),
}

SPARSE: dict[str, Callable[[Array], Any]] = {
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc_array": sparse.csc_array,
    "csc_matrix": sparse.csc_matrix,
    "coo_array": sparse.coo_array,
    "lil_array": sparse.lil_array,
    "int64 indices": lambda X: with_long_indices(sparse.csr_array(X)),
    "unsorted": lambda X: unsorted(sparse.csr_array(X)),
    "explicit zeros": lambda X: with_zeros(X),
    "duplicates": lambda X: doubled(X),
}


def with_long_indices(X: Any) -> Any:
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def unsorted(X: Any) -> Any:
    """The entries of each row in reverse order."""
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)])
    return sparse.csr_array((X.data[order], X.indices[order], X.indptr), shape=X.shape)


def with_zeros(X: Array) -> Any:
    """Zeros that are stored."""
    n, d = X.shape
    return sparse.csr_array((X.ravel(), np.tile(np.arange(d), n), np.arange(0, n * d + 1, d)), shape=X.shape)


def doubled(X: Array) -> Any:
    """Each entry stored as two that add up to it."""
    n, d = X.shape
    values = np.stack([X / 4, 3 * X / 4], axis=2).ravel()
    return sparse.csr_array(
        (values, np.repeat(np.tile(np.arange(d), n), 2), np.arange(0, 2 * n * d + 1, 2 * d)), shape=X.shape
    )


def holes(seed: int = 0) -> tuple[Array, Array]:
    """Rows with many zeros."""
    X, y = data(seed)
    return X * (np.random.default_rng(seed).random(X.shape) < 0.4), y


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("make", systems())
def test_layout_does_not_matter(make: Make, layout: str) -> None:
    X, y = data()
    model = make().fit(LAYOUTS[layout](X), y)
    assert_same(model, make().fit(X, y), X, rtol=1e-12 if isinstance(model, LinearRegression) else 1e-8)
    np.testing.assert_allclose(model.predict(LAYOUTS[layout](X)), model.predict(X), rtol=1e-13)


@pytest.mark.parametrize("layout", ["fortran", "slice", "negative strides", "read-only", "byte-swapped", "list"])
@pytest.mark.parametrize("targets", [0, 2])
def test_layout_of_targets_and_weights_does_not_matter(layout: str, targets: int) -> None:
    X, y = data(targets=targets)
    weight = np.linspace(0.5, 2.0, len(y))

    def bend(array: Array) -> Any:
        return LAYOUTS[layout](array.reshape(len(array), -1)) if array.ndim == 2 else LAYOUTS[layout](array[:, None])

    plain = LinearRegression().fit(X, y, sample_weight=weight)
    bent = bend(y)
    if targets == 0:
        bent = [row[0] for row in bent] if isinstance(bent, list) else bent[:, 0]
    thick = bend(weight)
    thin = [row[0] for row in thick] if isinstance(thick, list) else thick[:, 0]
    assert_same(LinearRegression().fit(X, bent, sample_weight=thin), plain, X)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.bool_, np.float16])
@pytest.mark.parametrize("make", systems(NEEDS_ROWS))
def test_whole_numbers_and_truths_are_numbers(make: Make, kind: Any) -> None:
    X = (np.random.default_rng(0).integers(0, 2 if kind is np.bool_ else 100, size=(60, 4))).astype(kind)
    y = data()[1]
    model, plain = make().fit(X, y), make().fit(X.astype(np.float64), y)
    assert_same(model, plain, X, rtol=1e-12 if isinstance(model, LinearRegression) else 1e-8)
    np.testing.assert_allclose(model.predict(X), plain.predict(X.astype(np.float64)), rtol=1e-12)
    assert model.predict(X).dtype == np.float64


@pytest.mark.parametrize("make", systems(NEEDS_ROWS))
def test_whole_numbers_as_targets(make: Make) -> None:
    X, _ = data()
    y = np.random.default_rng(0).integers(0, 3, size=60)
    np.testing.assert_array_equal(theta(make().fit(X, y)), theta(make().fit(X, y.astype(float))))


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("make", systems())
def test_single_precision_rows_are_read_exactly(make: Make, layout: Any) -> None:
    X, y = data(n=500)
    single = np.asarray(X, dtype=np.float32, order=layout)
    model, plain = make().fit(single, y), make().fit(single.astype(np.float64), y)
    assert_same(model, plain, single.astype(np.float64), rtol=1e-12 if isinstance(model, LinearRegression) else 1e-8)
    np.testing.assert_allclose(model.predict(single), plain.predict(single.astype(np.float64)), rtol=1e-12)
    assert model.coef_.dtype == np.float64


@pytest.mark.parametrize("make", systems(NEEDS_ROWS))
def test_single_precision_sparse_rows_are_read_exactly(make: Make) -> None:
    X, y = holes()
    single = sparse.csr_array(X.astype(np.float32))
    model = make().fit(single, y)
    assert_same(model, make().fit(single.toarray().astype(np.float64), y), X, rtol=1e-8)


@pytest.mark.parametrize("form", SPARSE)
@pytest.mark.parametrize("make", systems())
def test_sparse_equals_dense(make: Make, form: str) -> None:
    X, y = holes()
    rows = SPARSE[form](X)
    model, plain = make().fit(rows, y), make().fit(X, y)
    assert_same(model, plain, X, rtol=1e-12 if isinstance(model, LinearRegression) else 1e-8)
    np.testing.assert_allclose(model.predict(rows), plain.predict(X), rtol=1e-8)


@pytest.mark.parametrize("make", systems())
def test_sparse_equals_dense_with_weights_and_several_targets(make: Make) -> None:
    X, Y = holes()[0], data(targets=2)[1]
    weight = np.linspace(0.0, 2.0, 60)
    model, plain = (make().fit(rows, Y, sample_weight=weight) for rows in (sparse.csr_array(X), X))
    assert_same(model, plain, X, rtol=1e-12 if isinstance(model, LinearRegression) else 1e-8)
    sparse_summary, summary = model.summary().to_dict(), plain.summary().to_dict()
    for a, b in zip(sparse_summary["coefficients"], summary["coefficients"], strict=True):
        assert a["std_error"] == pytest.approx(b["std_error"], rel=1e-7)


@pytest.mark.parametrize("make", systems())
def test_sparse_integers_are_numbers(make: Make) -> None:
    X = np.random.default_rng(1).integers(0, 3, size=(60, 4))
    y = data()[1]
    assert_same(make().fit(sparse.csr_array(X), y), make().fit(X, y), X.astype(float), rtol=1e-8)


@pytest.mark.parametrize("empty", ["rows", "columns"])
@pytest.mark.parametrize("make", systems())
def test_sparse_with_empty_rows_or_columns(make: Make, empty: str) -> None:
    X, y = holes()
    if empty == "rows":
        X[5:20] = 0.0
    else:
        X[:, 2] = 0.0
    assert_same(make().fit(sparse.csr_array(X), y), make().fit(X, y), X, rtol=1e-8)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("make", systems())
def test_frames_bring_their_names(make: Make, frame: str) -> None:
    X, y = data()
    rows = FRAMES[frame](X)
    model, plain = make().fit(rows, y), make().fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-12 if isinstance(model, LinearRegression) else 1e-8)
    np.testing.assert_array_equal(model.predict(rows), model.predict(FRAMES[frame](X)))
    assert list(model.feature_names_in_) == NAMES
    assert model.n_features_in_ == 4
    names = [row["name"] for row in model.summary().to_dict()["coefficients"]]
    assert names[-4:] == NAMES


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_name_aliased_columns(frame: str) -> None:
    X, y = data()
    X[:, 2] = X[:, 0]
    model = LinearRegression().fit(FRAMES[frame](X), y)
    assert list(model.aliased_) == ["mass"]
    assert "mass" in str(model.summary())


@pytest.mark.parametrize("series", [pd.Series, pl.Series, pa.array, list, tuple], ids=SERIES)
def test_series_are_targets_and_weights(series: Any) -> None:
    X, y = data()
    weight = np.linspace(0.5, 2.0, 60)
    plain = LinearRegression().fit(X, y, sample_weight=weight)
    model = LinearRegression().fit(X, series(y), sample_weight=series(weight))
    np.testing.assert_array_equal(theta(model), theta(plain))
    assert model.coef_.shape == (4,)


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_are_targets(frame: str) -> None:
    X, Y = data(targets=4)
    np.testing.assert_array_equal(
        theta(LinearRegression().fit(X, FRAMES[frame](Y))), theta(LinearRegression().fit(X, Y))
    )


def test_frames_of_mixed_number_types() -> None:
    X, y = data()
    frame = pd.DataFrame(X, columns=NAMES).assign(
        count=np.arange(60), flag=X[:, 0] > 0, small=X[:, 1].astype(np.float32)
    )
    model = LinearRegression().fit(frame, y)
    assert_same(model, LinearRegression().fit(frame.to_numpy(dtype=np.float64), y), frame.to_numpy(dtype=np.float64))
    assert list(model.feature_names_in_) == [*NAMES, "count", "flag", "small"]


def test_frames_with_an_index_are_read_by_position() -> None:
    X, y = data()
    order = np.random.default_rng(0).permutation(60)
    frame = pd.DataFrame(X, columns=NAMES, index=order)
    target = pd.Series(y, index=order[::-1])
    np.testing.assert_array_equal(theta(LinearRegression().fit(frame, target)), theta(LinearRegression().fit(X, y)))


def test_frames_with_numbers_as_names_have_none() -> None:
    X, y = data()
    model = LinearRegression().fit(pd.DataFrame(X), y)
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(theta(model), theta(LinearRegression().fit(X, y)))


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_predict_with_intervals(frame: str) -> None:
    X, y = data()
    found = LinearRegression().fit(FRAMES[frame](X), y).predict(FRAMES[frame](X), interval="prediction")
    expected = LinearRegression().fit(X, y).predict(X, interval="prediction")
    np.testing.assert_allclose(found.upper, expected.upper, rtol=1e-12)


def test_a_source_is_fitted_as_it_is() -> None:
    from adaline.sources import ArraySource

    X, y = data()
    model = LinearRegression().fit(ArraySource(X, y[:, None]))
    np.testing.assert_array_equal(theta(model), theta(LinearRegression().fit(X, y)))


def test_categories_of_one_level_alone_are_nothing_to_learn_from() -> None:
    frame = pd.DataFrame({"kind": ["u"] * 4, "y": [1.0, 2.0, 3.0, 5.0]})
    for rows in ((frame[["kind"]], frame["y"]), (open_table(frame, target="y"),)):
        with pytest.raises(InvalidData, match="column 'kind' is 'u' in all rows, and there is no other column"):
            LinearRegression().fit(*rows)
    model = LinearRegression().fit(pd.DataFrame({"kind": ["u", "v", "u", "v"]}), frame["y"])
    assert model.predict(open_table(frame[["kind"]].head(1))) == pytest.approx([2.0])


def test_lazy_frames_are_collected() -> None:
    X, y = data()
    frame = pl.DataFrame(X, schema=NAMES)
    lazy, target = frame.lazy(), pl.LazyFrame({"y": y})
    plain = LinearRegression().fit(frame, y)
    np.testing.assert_array_equal(LinearRegression().fit(lazy, target).predict(lazy)[:, 0], plain.predict(frame))
    classifier = LeastSquaresClassifier().fit(lazy, np.where(y > np.median(y), "high", "low"))
    assert set(classifier.predict(lazy)) <= {"high", "low"}
    table = open_table(frame.with_columns(y=y).lazy(), target="y")
    np.testing.assert_array_equal(LinearRegression().fit(table).coef_, plain.coef_)
    one, other = (select(Ridge(), rows, y, penalty=[0.1, 1.0]) for rows in (lazy, frame))
    assert one.index == other.index


def test_masked_values_are_missing_values() -> None:
    X, y = data()
    mask = np.zeros(X.shape, dtype=bool)
    mask[3, 1] = True
    labels = (y > np.median(y)).astype(int)
    for system, rows, targets in (
        (LinearRegression, np.ma.array(X, mask=mask), y),
        (LinearRegression, X, np.ma.array(y, mask=mask[:, 1])),
        (LeastSquaresClassifier, X, np.ma.array(labels, mask=mask[:, 1])),
    ):
        with pytest.raises(MissingValues, match="is a masked array, with masked values: drop or fill such rows"):
            system().fit(rows, targets)
    np.testing.assert_array_equal(theta(LinearRegression().fit(np.ma.array(X), y)), theta(LinearRegression().fit(X, y)))
    weight = np.ma.array(np.ones(len(y)), mask=mask[:, 1])
    with pytest.raises(MissingValues, match="sample_weight is a masked array"):
        LinearRegression().fit(X, y, weight)
    with pytest.raises(MissingValues, match="offset is a masked array"):
        GeneralizedLinear(loss="poisson").fit(X, np.abs(y), offset=weight)


def test_masked_values_are_refused_wherever_values_of_rows_are_given() -> None:
    X, y = data()
    labels = (y > np.median(y)).astype(int)
    masked = np.ma.array(np.ones(len(y)), mask=np.arange(len(y)) == 3)
    signals = np.ma.array(X[:, :1], mask=np.arange(len(y))[:, None] == 3)
    line, sort, filtered = LinearRegression().fit(X, y), LMS().fit(X, y), WienerFilter(taps=2).fit(X[:, 0], y)
    for call in (
        lambda: line.score(X, y, masked),
        lambda: line.score(X, np.ma.array(y, mask=masked.mask)),
        lambda: sort.score(X, y, masked),
        lambda: LeastSquaresClassifier().fit(X, labels).score(X, labels, masked),
        lambda: filtered.score(X[:, 0], y, masked),
        lambda: filtered.predict(signals[:, 0]),
        lambda: filtered.predict(signals),
        lambda: line.partial_fit(X, y, masked),
        lambda: line.forget(X[:9], y[:9], masked[:9]),
        lambda: line.summary(errors="HC0", X=X, y=y, sample_weight=masked),
        lambda: line.summary(errors="cluster", X=X, y=y, groups=masked),
        lambda: line.summary(errors="cluster", X=X, y=y, groups=np.ma.column_stack([masked, masked])),
        lambda: separability(X, labels, sample_weight=masked),
        lambda: effects(line, X, sample_weight=masked),
        lambda: open_table(X, target=np.ma.array(y, mask=masked.mask)),
        lambda: open_table(X, target=y, weight=masked),
        lambda: open_table(np.ma.array(X, mask=X > 1), target=y),
    ):
        with pytest.raises(MissingValues, match="is a masked array"):
            call()


@pytest.mark.parametrize("system", [LinearRegression, LMS])
def test_sparse_rows_whose_arrays_are_strided_are_rows_like_others(system: Any) -> None:
    X, y = data()
    rows = sparse.csr_array(X)
    strided = rows.copy()
    strided.data, strided.indices, strided.indptr = (
        np.repeat(part, 2)[::2] for part in (rows.data, rows.indices, rows.indptr)
    )
    np.testing.assert_array_equal(theta(system().fit(strided, y)), theta(system().fit(rows, y)))


def test_messages_write_control_characters_out() -> None:
    X, _ = data()
    frame = pd.DataFrame({"\x1b[31mA": X[:, 0], "\x1b[31mB": X[:, 0]})
    with pytest.warns(AdalineWarning) as caught:
        LinearRegression().fit(frame, X[:, 1])
    assert r"\x1b[31mA" in str(caught[0].message)
    assert "\x1b" not in str(caught[0].message)
    with pytest.raises(InvalidParameter) as error:
        open_table(frame, target="y")
    assert "\x1b" not in str(error.value)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("cls", [LinearRegression, LogisticRegression, KMeans, Perceptron])
def test_columns_of_a_frame_in_another_order_are_put_in_order(cls: Any, kind: str) -> None:
    numbers = np.random.default_rng(0).normal(size=(40, 3))
    frame = pd.DataFrame(numbers, columns=["a", "b", "c"])
    make = {"pandas": lambda f: f, "polars": pl.from_pandas, "arrow": pa.Table.from_pandas}[kind]
    model = cls(**({"n_clusters": 2} if cls is KMeans else {})).fit(make(frame), (numbers[:, 0] > 0).astype(int))
    assert np.array_equal(model.predict(make(frame[["c", "a", "b"]])), model.predict(make(frame)))
    with pytest.raises(InvalidData, match="now missing:\n- a"):
        model.predict(make(frame[["c", "b"]]))
    with pytest.raises(InvalidData, match="unseen at fit time:\n- d"):
        model.predict(make(frame.assign(d=1.0)))
    if hasattr(model, "partial_fit"):
        model.partial_fit(make(frame[["b", "c", "a"]]), (numbers[:, 0] > 0).astype(int))
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]


PLAIN: dict[str, Any] = {
    "whole numbers": np.arange(40).reshape(20, 2) % 7,
    "bytes": (np.arange(40).reshape(20, 2) % 7).astype(np.uint8),
    "flags": np.arange(40).reshape(20, 2) % 3 > 0,
    "half": (np.arange(40).reshape(20, 2) % 7 / 4).astype(np.float16),
    "list": (np.arange(40).reshape(20, 2) % 7 / 3).tolist(),
    "frame": pd.DataFrame(np.arange(40).reshape(20, 2) % 7, columns=["a", "b"]),
    "csc": sparse.csc_array(np.arange(40).reshape(20, 2) % 7),
}
LABELS: dict[str, Any] = {
    "whole": np.arange(20) % 2,
    "floats": np.arange(20) % 2 * 3.0,
    "texts": np.array(["no", "yes"])[np.arange(20) % 2],
    "objects": np.array(["no", "yes"], dtype=object)[np.arange(20) % 2],
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
