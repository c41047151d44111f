"""Rows as clients send them: the same numbers as of a table, in whatever form; faults named by row and column."""

from __future__ import annotations

from copy import deepcopy
from datetime import date, timedelta
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from adaline import LMS, GaussianClassifier, GeneralizedLinear, LinearRegression, Ridge, open_table
from adaline.errors import BadRows, InvalidParameter
from adaline.serve.rows import RowLayout, decode_rows

N = 60


def table(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=N),
            "n": rng.integers(0, 9, N),
            "level": rng.choice(["x", "y", "z"], N),
            "flag": rng.random(N) < 0.5,
            "year": rng.choice([1999, 2001, 2010], N),
            "when": [pd.Timestamp(date(2024, 1, 1) + timedelta(days=k)) for k in range(N)],
            "text": rng.choice(["a good day", "bad day", "good night"], N),
            "w": rng.integers(1, 4, N).astype(float),
            "t": rng.normal(size=N) ** 2 + 0.1,
        }
    )


def as_dicts(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as JSON has them."""
    out = frame.copy()
    if "when" in out:
        out["when"] = out["when"].dt.strftime("%Y-%m-%dT%H:%M:%S")
    return [{name: None if value != value else value for name, value in row.items()} for row in out.to_dict("records")]


CASES: dict[str, tuple[Any, dict[str, Any], list[str]]] = {
    "numbers": (LMS(), {}, ["a", "n", "flag"]),
    "categories": (LMS(), {"categories": ["year"]}, ["a", "level", "flag", "year"]),
    "dates": (LinearRegression(), {"dates": ["when"]}, ["a", "when"]),
    "weights": (Ridge(penalty=1.0), {"weight": "w"}, ["a", "level", "w"]),
    "hashed": (LMS(), {"hashed": {"level": 8, "year": 8}}, ["a", "level", "year"]),
    "words": (LMS(), {"words": ["text"]}, ["a", "text"]),
    "formula": (LinearRegression(), {"formula": "log(t) ~ a * level + poly(n, 2)"}, ["a", "level", "n"]),
    "offset": (GeneralizedLinear(loss="poisson"), {"offset": "log(w)"}, ["a", "n", "w"]),
    "absorbed": (LinearRegression(), {"absorb": ["level"]}, ["a", "n", "level"]),
}


@cache
def model_of(name: str) -> Any:
    """Return the model of a case."""
    model, options, columns = CASES[name]
    more = options if "formula" in options else {"target": "t", **options}
    return model.fit(open_table(table()[[*columns, "t"]], **more))


def fitted(name: str) -> tuple[Any, pd.DataFrame, pd.DataFrame]:
    """Return a model fitted to a table, and other rows: as they are, and with the columns of the model alone."""
    other = table(1)
    return deepcopy(model_of(name)), other, other[CASES[name][2]]


@cache
def level_model() -> Any:
    """Return a model of a number and a category."""
    return LMS().fit(open_table(table()[["a", "level", "t"]], target="t"))


@pytest.mark.parametrize("name", CASES)
def test_rows_are_decoded_as_the_table_is(name: str) -> None:
    model, other, given = fitted(name)
    told = model.predict(other)
    layout = RowLayout.of(model)
    names = [column.name for column in layout.columns]
    dicts = as_dicts(given[names])
    forms = [
        dicts,
        [list(row.values()) for row in dicts],
        pa.Table.from_pandas(given),
        pa.RecordBatch.from_pandas(given),
    ]
    for rows in forms:
        assert np.array_equal(model.predict(layout.decode(rows, target=False).x), told)


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("offset", "absorbed")])
def test_rows_are_learned_as_the_table_is(name: str) -> None:
    model, other, given = fitted(name)
    rows = decode_rows(model, as_dicts(other[[*given, "t"]]), target=True)
    with_table, with_rows = deepcopy(model), deepcopy(model)
    t = np.log(other["t"]) if name == "formula" else other["t"]
    weight = other["w"] if name == "weights" else None
    with_table.partial_fit(other, t, sample_weight=weight)
    with_rows.partial_fit(rows.x, rows.y, sample_weight=rows.weight)
    assert (rows.weight is None) == (weight is None)
    assert np.allclose(with_table.coef_, with_rows.coef_, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_rows_that_are_cut_have_the_same_bits_where_that_is_said(name: str) -> None:
    model, _, given = fitted(name)
    layout = RowLayout.of(model)
    assert layout.by_rows == (name != "formula")
    whole = layout.decode(pa.Table.from_pandas(given), target=False).x
    for k in range(0, N, 7):
        part = layout.decode(pa.Table.from_pandas(given[k : k + 7]), target=False).x
        if layout.by_rows:
            assert (abs(part - whole[k : k + 7])).max() == 0


def test_labels_of_any_type_are_found() -> None:
    x = table()[["a", "n"]]
    for labels in (["p", "q", "r"], [1, 2, 5], [True, False], [1.0, 2.0]):
        y = np.array(labels)[np.arange(N) % len(labels)]
        model = GaussianClassifier().fit(x, y)
        rows = [{"a": 1.0, "n": 2, "y": label} for label in labels]
        found = decode_rows(model, rows, target=True).y
        assert found.tolist() == labels
        assert found.dtype == model.classes_.dtype
        with pytest.raises(BadRows, match=r"not among the classes|not true or false") as caught:
            decode_rows(model, [*rows, {"a": 1.0, "n": 2, "y": "other" if labels[0] == "p" else 7}], target=True)
        assert (caught.value.row, caught.value.column) == (len(labels), "y")


def test_models_of_bare_arrays_have_numbered_columns_and_targets() -> None:
    rng = np.random.default_rng(0)
    x, t = rng.normal(size=(9, 2)), rng.normal(size=(9, 2))
    model = LMS().fit(x, t)
    layout = RowLayout.of(model)
    assert [column.name for column in (*layout.columns, *layout.learned)] == ["x0", "x1", "y0", "y1"]
    rows = decode_rows(model, np.column_stack([x, t]).tolist(), target=True)
    assert np.array_equal(rows.x, x)
    assert np.array_equal(rows.y, t)
    y_taken = LMS().fit(pd.DataFrame(x, columns=["y", "z"]), t[:, 0])
    assert [column.name for column in RowLayout.of(y_taken).learned] == ["y_"]


BAD: dict[str, tuple[Any, int | None, str | None]] = {
    "no list": ("rows", None, None),
    "a text": ([{"a": "1.5", "level": "x", "t": 1}], 0, "a"),
    "a list": ([{"a": [1], "level": "x", "t": 1}], 0, "a"),
    "nothing": ([{"a": 1, "level": "x", "t": 1}, {"a": None, "level": "x", "t": 1}], 1, "a"),
    "not a number": ([{"a": float("nan"), "level": "x", "t": 1}], 0, "a"),
    "infinity": ([{"a": float("inf"), "level": "x", "t": 1}], 0, "a"),
    "too large": ([{"a": 10**400, "level": "x", "t": 1}], 0, "a"),
    "no level": ([{"a": 1, "level": None, "t": 1}], 0, "level"),
    "another level": ([{"a": 1, "level": "x", "t": 1}, {"a": 1, "level": "other", "t": 1}], 1, "level"),
    "a number as level": ([{"a": 1, "level": {}, "t": 1}], 0, "level"),
    "no column": ([{"a": 1, "level": "x", "t": 1}, {"level": "x", "t": 1}], 1, "a"),
    "no target": ([{"a": 1, "level": "x"}], 0, "t"),
    "an unknown column": ([{"a": 1, "level": "x", "t": 1, "b": 2}], 0, "b"),
    "a short list": ([[1, "x", 1], [1, "x"]], 1, None),
    "a mixture": ([[1, "x", 1], {"a": 1, "level": "x", "t": 1}], 1, None),
    "half a pair of surrogates": ([{"a": 1, "level": "\ud800", "t": 1}], None, "level"),
    "no rows": ([], None, None),
    "too many columns": ([{str(k): 1 for k in range(30)}], 0, None),
    "a table of texts": (pa.table({"a": ["1"], "level": ["x"], "t": [1]}), 0, "a"),
    "a table without a column": (pa.table({"a": [1.0], "t": [1]}), None, "level"),
    "a table of lists": (pa.table({"a": [[1.0]], "level": ["x"], "t": [1]}), None, "a"),
}


@pytest.mark.parametrize("name", BAD)
def test_faults_are_named_by_row_and_column(name: str) -> None:
    rows, row, column = BAD[name]
    model = level_model()
    with pytest.raises(BadRows) as caught:
        decode_rows(model, rows, target=True, most_columns=20)
    assert (caught.value.row, caught.value.column) == (row, column), caught.value


def test_missing_values_and_unseen_levels_follow_the_policy_of_the_model() -> None:
    frame = table()[["a", "level", "t"]]
    frame.loc[3, "a"] = None
    frame.loc[4, "level"] = None
    rows = [{"a": 1.0, "level": "x", "t": 1}, {"a": None, "level": "y", "t": 2}, {"level": None, "a": 3.0, "t": 3}]
    for missing in ("mean", "indicator"):
        model = LMS().fit(open_table(frame, target="t", missing=missing))
        decoded = decode_rows(model, rows, target=True)
        assert np.array_equal(
            decoded.x, model.coding_.code_of(rows) if hasattr(model.coding_, "code_of") else decoded.x
        )
        assert len(decoded) == 3
        assert np.isfinite(decoded.x).all()
    model = LMS().fit(open_table(frame, target="t", missing="drop"))
    assert decode_rows(model, rows, target=True).y.tolist() == [1.0]
    with pytest.raises(BadRows, match="missing"):
        decode_rows(model, [{"a": None, "level": "x"}], target=False)
    model = LMS().fit(open_table(table()[["a", "level", "t"]], target="t", unseen="other"))
    assert np.isfinite(decode_rows(model, [{"a": 1.0, "level": "other"}], target=False).x).all()


def test_rows_of_several_models_have_the_columns_of_all() -> None:
    frame = table()
    one = LMS().fit(open_table(frame[["a", "t"]], target="t"))
    two = LMS().fit(open_table(frame[["level", "a", "t"]], target="t"))
    layout = RowLayout.of(one).joined([RowLayout.of(two)])
    batch = layout.batch([{"a": 1.0, "level": "x", "t": 2.0}], target=True)
    assert RowLayout.of(one).decoded(batch, True).x.shape == (1, 1)
    assert RowLayout.of(two).decoded(batch, True).x.shape == (1, 3)
    other = LMS().fit(frame[["a"]], frame["t"])
    with pytest.raises(InvalidParameter, match="one target"):
        RowLayout.of(one).joined([RowLayout.of(other)])


def test_numbers_are_taken_at_once_to_the_same_bits() -> None:
    rng = np.random.default_rng(0)
    x, t = rng.normal(size=(30, 2)), rng.normal(size=30)
    for y in (t, np.column_stack([t, t]), np.where(t > 0, "p", "q"), t > 0, (t > 0).astype(int)):
        model = (LMS() if y.dtype == float else GaussianClassifier()).fit(x, y)
        layout = RowLayout.of(model)
        lists = [[*row, *np.atleast_1d(target).tolist()] for row, target in zip(x.tolist(), y, strict=True)]
        names = [column.name for column in (*layout.columns, *layout.learned)]
        for rows in (lists, [dict(zip(names, row, strict=True)) for row in lists]):
            numbers = layout.numbers(rows)
            assert numbers is not None
            batch = layout.batch(rows, target=True)
            assert layout.batch_of_numbers(numbers).equals(batch)
            one, two = layout.decoded_numbers(numbers, layout), layout.decoded(batch, True)
            assert np.array_equal(one.x, two.x)
            assert np.array_equal(one.y, two.y)
            assert one.y.dtype == two.y.dtype
            for wrong in ([], [*rows, rows[0] | {"other": 1} if isinstance(rows[0], dict) else [1.0]], [lists[0][:-1]]):
                assert layout.numbers(wrong) is None
        for value in (None, "text", float("nan"), 10**400, [1.0]):
            assert layout.numbers([[value, *lists[0][1:]]]) is None
            assert layout.numbers([[*lists[0][:-1], value if value != "text" else "other"]]) is None


def test_arrow_tables_that_would_grow_are_refused_before_they_do() -> None:
    model = level_model()
    layout, n = RowLayout.of(model), 100_000
    codes = pa.array(np.zeros(n, np.int8))
    before = pa.total_allocated_bytes()
    for text in (pa.string(), pa.large_string()):
        long = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 20_000], text))
        with pytest.raises(BadRows, match="more memory"):
            layout.decode(pa.table({"a": np.zeros(n), "level": long}), target=False)
    with pytest.raises(BadRows, match="more memory"):
        layout.decode(pa.table({"a": pa.nulls(2**27), "level": pa.nulls(2**27)}), target=False)
    assert pa.total_allocated_bytes() - before < 2**26
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array(["x"]))
    nested = pa.array([["x"], ["y"]])
    for strange in (runs, pa.array(["x", "y"], pa.string_view()), nested):
        with pytest.raises(BadRows) as caught:
            layout.decode(pa.table({"a": [1.0, 2.0], "level": strange}), target=False)
        assert caught.value.column == "level"
    good = pa.table({"a": [1.0, 2.0], "level": pa.array(["x", "y"]).dictionary_encode()})
    plain = pa.table({"a": [1.0, 2.0], "level": ["x", "y"]})
    assert np.array_equal(layout.decode(good, target=False).x, layout.decode(plain, target=False).x)


def test_labels_that_no_double_can_tell_apart_are_found() -> None:
    labels = [2**53, 2**53 + 1, 2**53 + 2]
    x = table()[["a", "n"]]
    model = GaussianClassifier().fit(x, np.array(labels)[np.arange(N) % 3])
    rows = [{"a": 1.0, "n": 2.0, "y": label} for label in labels]
    for given in (rows, pa.Table.from_pylist(rows)):
        assert decode_rows(model, given, target=True).y.tolist() == labels
