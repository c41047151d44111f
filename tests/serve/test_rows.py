"""Rows as clients send them: the numbers of a table in whatever form, by either way; faults named by row and column."""

from __future__ import annotations

from copy import deepcopy
from datetime import date, timedelta
from functools import cache
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from adaline import LMS, GaussianClassifier, GeneralizedLinear, LinearRegression, Ridge, open_table
from adaline.errors import BadRows, InvalidParameter
from adaline.lazy import nw
from adaline.serve.direct import DirectRows, PlainColumn
from adaline.serve.rows import RowLayout, decode_rows

N = 60


@cache
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
    out = frame.assign(when=frame["when"].dt.strftime("%Y-%m-%dT%H:%M:%S")) if "when" in frame else frame
    return [{name: None if value != value else value for name, value in row.items()} for row in out.to_dict("records")]


def forms(frame: pd.DataFrame) -> list[Any]:
    """Return rows in all forms that clients send them in."""
    dicts = as_dicts(frame)
    return [
        dicts,
        [list(row.values()) for row in dicts],
        pa.Table.from_pandas(frame),
        pa.RecordBatch.from_pandas(frame),
    ]


CASES: dict[str, tuple[Any, dict[str, Any], list[str]]] = {
    "numbers": (LMS(), {}, ["a", "n"]),
    "flags": (LMS(), {}, ["a", "level", "flag"]),
    "levels": (LMS(), {}, ["level", "a"]),
    "years": (LMS(), {"categories": ["year"]}, ["year", "a", "level", "flag"]),
    "dates": (LinearRegression(), {"dates": ["when"]}, ["a", "when"]),
    "weights": (Ridge(penalty=1.0), {"weight": "w"}, ["a", "level", "w"]),
    "hashed": (LMS(), {"hashed": {"level": 8, "year": 8}}, ["a", "level", "year"]),
    "words": (LMS(), {"words": ["text"]}, ["a", "text"]),
    "gaps": (LMS(), {"missing": "indicator"}, ["a", "level"]),
    "formula": (LinearRegression(), {"formula": "log(t) ~ a * level + poly(n, 2)"}, ["a", "level", "n"]),
    "offset": (GeneralizedLinear(loss="poisson"), {"offset": "log(w)"}, ["a", "n", "w"]),
    "absorbed": (LinearRegression(), {"absorb": ["level"]}, ["a", "n", "level"]),
}
PLAIN = ("numbers", "flags", "levels", "years")  # that are written straight into X


@cache
def model_of(name: str) -> Any:
    """Return the model of a case, fitted to its table."""
    model, options, columns = CASES[name]
    more = options if "formula" in options else {"target": "t", **options}
    frame = table()[[*columns, "t"]]
    return model.fit(
        open_table(frame.assign(a=frame["a"].where(frame.index != 3)) if name == "gaps" else frame, **more)
    )


def layout_of(name: str) -> RowLayout:
    return RowLayout.of(model_of(name))


def given(name: str) -> pd.DataFrame:
    """Return other rows, with the columns of the model alone, in its order."""
    return table(1)[[column.name for column in layout_of(name).columns]]


def coded(layout: RowLayout, rows: Any) -> Any:
    """Return X by the coding of the model itself."""
    assert layout.coding is not None
    return layout.coding.code(nw.from_native(pa.Table.from_batches([layout.batch(rows, False)]), eager_only=True))


@pytest.mark.every
@pytest.mark.parametrize("name", CASES)
def test_rows_are_decoded_and_learned_as_the_table_is(name: str) -> None:
    model, other, layout = model_of(name), table(1), layout_of(name)
    for rows in forms(given(name)):
        assert np.array_equal(model.predict(layout.decode(rows, target=False).x), model.predict(other))
    if name in ("offset", "absorbed"):
        return
    rows = decode_rows(model, as_dicts(other[[*CASES[name][2], "t"]]), target=True)
    with_table, with_rows = deepcopy(model), deepcopy(model)
    weight = other["w"] if name == "weights" else None
    with_table.partial_fit(other, np.log(other["t"]) if name == "formula" else other["t"], sample_weight=weight)
    with_rows.partial_fit(rows.x, rows.y, sample_weight=rows.weight)
    assert (rows.weight is None) == (weight is None)
    assert np.allclose(with_table.coef_, with_rows.coef_, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_rows_that_are_cut_have_the_same_bits_where_that_is_said(name: str) -> None:
    layout, rows = layout_of(name), given(name)
    assert layout.by_rows == (name != "formula")
    whole = layout.decode(pa.Table.from_pandas(rows), target=False).x
    for k in range(0, N if layout.by_rows else 0, 7):
        part = layout.decode(pa.Table.from_pandas(rows[k : k + 7]), target=False).x
        assert (abs(part - whole[k : k + 7])).max() == 0


# -- the short way ---------------------------------------------------------------------------------------------------


@pytest.mark.every
@pytest.mark.parametrize("name", CASES)
def test_plain_rows_have_the_same_bits_either_way_and_others_go_through_a_table(name: str) -> None:
    layout, frame = layout_of(name), given(name)
    direct = layout.direct
    assert (direct is not None) == (name in (*PLAIN, "weights"))
    for count in (1, 2, N) if direct is not None else ():
        rows = forms(frame[:count])
        expected = coded(layout, rows[0])
        typed = msgspec.json.decode(msgspec.json.encode(rows[0]), type=list[direct.row_type])  # type: ignore
        codes = [direct.code(rows[0]), direct.code(rows[1]), direct.code_typed(typed)]
        arrow = pa.Table.from_pylist(rows[0])
        tables = [found for found in map(direct.code, (arrow, arrow.to_batches()[0])) if found is not None]
        assert len(tables) == 2 * (name in ("levels", "weights"))  # integers and booleans go through a table
        for found in (*codes, *tables):
            assert np.array_equal(found, expected)
            assert found.flags.f_contiguous == expected.flags.f_contiguous


@pytest.mark.parametrize(
    ("names", "typed"),
    [(['a"b', "c"], False), ([f"x{k}" for k in range(257)], False), ([f"x{k}" for k in range(256)], True)],
)
def test_rows_have_no_type_where_names_are_escaped_or_columns_are_many(names: list[str], typed: bool) -> None:
    direct = DirectRows.of(names, None)
    assert direct is not None
    assert (direct.row_type is not None) == typed
    assert direct.code([dict.fromkeys(names, 1.5)] * 2).tolist() == [[1.5] * len(names)] * 2


GOOD = {"level": "x", "a": 1.5}


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(
    "row",
    [
        {"level": "none", "a": 1.5},
        {"level": "x"},
        *({"level": "x", "a": value} for value in (None, "1.5", 10**400)),
        {"level": True, "a": 1.5},
        {"level": "x", "a": 1.5, "b": 1},
        {"level": "x", "b": 1.5},
    ],
    ids=str,
)
def test_rows_that_are_not_plain_are_left_to_the_table(row: dict[str, Any], count: int) -> None:
    layout, rows = layout_of("levels"), [*[GOOD] * (count - 1), row]
    assert layout.direct is not None
    assert layout.direct.code(rows) is None
    with pytest.raises(BadRows):
        layout.read(rows)


def test_whole_numbers_and_truths_are_numbers() -> None:
    layout = layout_of("levels")
    for value in (3, True, 2.0, 2**60 + 1):
        for rows in ([{"level": "y", "a": value}], [GOOD, {"level": "y", "a": value}]):
            assert np.array_equal(layout.read(rows), coded(layout, rows))


T = table()["t"].to_numpy()
X = table()[["a", "w"]].to_numpy()
TARGETS = {
    "a number": T,
    "two numbers": np.column_stack([T, T]),
    "labels": np.where(T > 1, "p", "q"),
    "truths": T > 1,
    "whole numbers": (T > 1).astype(int),
}


@pytest.mark.parametrize("name", [*PLAIN, *TARGETS])
def test_rows_to_learn_from_are_numbers_first_to_the_same_bits(name: str) -> None:
    if name in PLAIN:
        layout = layout_of(name)
        dicts = as_dicts(given(name).assign(t=T))
    else:
        y = TARGETS[name]
        layout = RowLayout.of((LMS() if y.dtype == float else GaussianClassifier()).fit(X, y))
        names = [column.name for column in (*layout.columns, *layout.learned)]
        values = [[*row, *np.atleast_1d(target).tolist()] for row, target in zip(X.tolist(), y, strict=True)]
        dicts = [dict(zip(names, row, strict=True)) for row in values]
    lists = [list(row.values()) for row in dicts]
    for rows in (dicts, lists, dicts[:1], lists[:1]):
        numbers = layout.numbers(rows)
        assert numbers is not None
        batch = layout.batch(rows, target=True)
        assert layout.batch_of_numbers(numbers).equals(batch)
        short, long = layout.decoded_numbers(numbers, layout), layout.decoded(batch, True)
        assert np.array_equal(short.x, long.x)
        assert np.array_equal(short.y, long.y)
        assert short.y.dtype == long.y.dtype
    for wrong in ([], [*dicts, {**dicts[0], "other": 1}], [*lists, [1.0]], [lists[0][:-1]], [lists[0], dicts[0]]):
        assert layout.numbers(wrong) is None
    for value in (None, "other", float("nan"), 10**400, 1.1e100, 0.9e-100, [1.0]):
        assert layout.numbers([[value, *lists[0][1:]]]) is None
        assert layout.numbers([[*lists[0][:-1], value]]) is None


def test_numbers_stand_for_the_values_of_a_plain_column() -> None:
    numbers, levels = pa.array([0.0, 1.0]), {"v": 0, "u": 1}
    cases: list[tuple[str, dict[str, int], list[Any]]] = [
        ("number", {}, [0.0, 1.0]),
        ("boolean", {}, [False, True]),
        ("category", levels, ["v", "u"]),
    ]
    for kind, known, expected in cases:
        found = PlainColumn("c", kind, 0, known, pa.array([*known])).column(numbers).to_pylist()
        assert [(type(one), one) for one in found] == [(type(one), one) for one in expected]


def test_rows_of_models_with_other_levels_are_no_numbers_of_both() -> None:
    one, frame = layout_of("levels"), table()[["level", "a", "t"]]
    levels = {"level": ["x", "y", "z", "top"]}
    two = RowLayout.of(LMS().fit(open_table(frame, target="t", categories=levels)))
    assert one.all_in(one)
    assert not one.all_in(two)
    assert not layout_of("numbers").all_in(one)


# -- targets, labels, policies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels", [["p", "q", "r"], [1, 2, 5], [True, False], [1.0, 2.0], [2**53, 2**53 + 1, 2**53 + 2]], ids=str
)
def test_labels_of_any_type_are_found(labels: list[Any]) -> None:
    model = GaussianClassifier().fit(table()[["a", "n"]], np.array(labels)[np.arange(N) % len(labels)])
    rows = [{"a": 1.0, "n": 2.0, "y": label} for label in labels]
    for given in (rows, pa.Table.from_pylist(rows)):  # also those that no double can tell apart
        found = decode_rows(model, given, target=True).y
        assert (found.tolist(), found.dtype) == (labels, model.classes_.dtype)
    with pytest.raises(BadRows, match=r"not among the classes|not true or false") as caught:
        decode_rows(model, [*rows, {"a": 1.0, "n": 2, "y": "other" if labels[0] == "p" else 7}], target=True)
    assert (caught.value.row, caught.value.column) == (len(labels), "y")


def test_models_of_bare_arrays_have_numbered_columns_and_targets() -> None:
    x, t = X[:9], np.column_stack([T, -T])[:9]
    model = LMS().fit(x, t)
    layout = RowLayout.of(model)
    assert [column.name for column in (*layout.columns, *layout.learned)] == ["x0", "x1", "y0", "y1"]
    rows = decode_rows(model, np.column_stack([x, t]).tolist(), target=True)
    assert np.array_equal(rows.x, x)
    assert np.array_equal(rows.y, t)
    y_taken = LMS().fit(pd.DataFrame(x, columns=["y", "z"]), t[:, 0])
    assert [column.name for column in RowLayout.of(y_taken).learned] == ["y_"]


GIVEN = {"a": 1, "level": "x", "t": 1}
BAD: dict[str, tuple[Any, int | None, str | None]] = {
    "no list": ("rows", None, None),
    "a text": ([{**GIVEN, "a": "1.5"}], 0, "a"),
    "a list": ([{**GIVEN, "a": [1]}], 0, "a"),
    "nothing": ([GIVEN, {**GIVEN, "a": None}], 1, "a"),
    "not a number": ([{**GIVEN, "a": float("nan")}], 0, "a"),
    "infinity": ([{**GIVEN, "a": float("inf")}], 0, "a"),
    "too large": ([GIVEN, {**GIVEN, "a": 10**400}], 1, "a"),
    "no level": ([{**GIVEN, "level": None}], 0, "level"),
    "another level": ([GIVEN, {**GIVEN, "level": "other"}], 1, "level"),
    "an object as level": ([{**GIVEN, "level": {}}], 0, "level"),
    "no column": ([GIVEN, {"level": "x", "t": 1}], 1, "a"),
    "no target": ([{"a": 1, "level": "x"}], 0, "t"),
    "an unknown column": ([{**GIVEN, "b": 2}], 0, "b"),
    "an unknown column for another": ([{"b": 1, "level": "x", "t": 1}], 0, "b"),
    "a short list": ([["x", 1, 1], ["x", 1]], 1, None),
    "a mixture": ([["x", 1, 1], GIVEN], 1, None),
    "half a pair of surrogates": ([{**GIVEN, "level": "\ud800"}], None, "level"),
    "no rows": ([], None, None),
    "too many columns": ([{str(k): 1 for k in range(21)}], 0, None),
    "a table of texts": (pa.table({"a": [None, "1"], "level": ["x", "x"], "t": [1, 1]}), 1, "a"),
    "a table without a column": (pa.table({"a": [1.0], "t": [1]}), None, "level"),
    "a table of lists": (pa.table({"a": [[1.0]], "level": ["x"], "t": [1]}), None, "a"),
    "a table with a column twice": (pa.table([[1.0], [1.0], ["x"], [1]], ["a", "a", "level", "t"]), None, "a"),
}


@pytest.mark.every
@pytest.mark.parametrize("name", BAD)
def test_faults_are_named_by_row_and_column(name: str) -> None:
    rows, row, column = BAD[name]
    with pytest.raises(BadRows) as caught:
        decode_rows(model_of("levels"), rows, target=True, most_columns=20)
    assert (caught.value.row, caught.value.column) == (row, column), caught.value


@pytest.mark.parametrize(("weight", "row"), [(0.0, None), (-1.0, 0), (None, 0)])
def test_weights_are_numbers_of_zero_or_more(weight: Any, row: int | None) -> None:
    rows = [{**GIVEN, "w": weight}]
    if row is None:
        assert decode_rows(model_of("weights"), rows, target=True).weight.tolist() == [0.0]  # type: ignore[union-attr]
        return
    with pytest.raises(BadRows) as caught:
        decode_rows(model_of("weights"), rows, target=True)
    assert (caught.value.row, caught.value.column) == (0, "w")


def test_missing_values_and_unseen_levels_follow_the_policy_of_the_model() -> None:
    frame = table()[["a", "level", "t"]].copy()
    frame.loc[3, "a"] = frame.loc[4, "level"] = None
    rows = [{"a": 1.0, "level": "x", "t": 1}, {"a": None, "level": "y", "t": 2}, {"level": None, "a": 3.0, "t": 3}]
    for missing in ("mean", "indicator"):
        model = LMS().fit(open_table(frame, target="t", missing=missing))
        decoded = decode_rows(model, rows, target=True)
        assert np.array_equal(decoded.x, coded(RowLayout.of(model), [{**row, "t": 1} for row in rows]))
        assert len(decoded) == 3
        assert np.isfinite(decoded.x).all()
    model = LMS().fit(open_table(frame, target="t", missing="drop"))
    assert decode_rows(model, rows, target=True).y.tolist() == [1.0]
    with pytest.raises(BadRows, match="missing"):
        decode_rows(model, [{"a": None, "level": "x"}], target=False)
    model = LMS().fit(open_table(table()[["a", "level", "t"]], target="t", unseen="other"))
    assert np.isfinite(decode_rows(model, [{"a": 1.0, "level": "other"}], target=False).x).all()


def test_rows_of_several_models_have_the_columns_of_all() -> None:
    one, two = RowLayout.of(LMS().fit(open_table(table()[["a", "t"]], target="t"))), layout_of("levels")
    batch = one.joined([two]).batch([{"a": 1.0, "level": "x", "t": 2.0}], target=True)
    assert one.decoded(batch, True).x.shape == (1, 1)
    assert two.decoded(batch, True).x.shape == (1, 3)
    with pytest.raises(InvalidParameter, match="one target"):
        one.joined([RowLayout.of(LMS().fit(table()[["a"]], T))])
    renamed = table()[["n", "t"]].rename(columns={"n": "level"})
    with pytest.raises(InvalidParameter, match="is text to one model, number to another"):
        two.joined([RowLayout.of(LMS().fit(open_table(renamed, target="t")))])


def test_arrow_tables_that_would_grow_are_refused_before_they_do() -> None:
    layout, n = layout_of("levels"), 100_000
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
    for strange in (runs, pa.array(["x", "y"], pa.string_view()), pa.array([["x"], ["y"]])):
        with pytest.raises(BadRows) as caught:
            layout.decode(pa.table({"a": [1.0, 2.0], "level": strange}), target=False)
        assert caught.value.column == "level"
    good = pa.table({"a": [1.0, 2.0], "level": pa.array(["x", "y"]).dictionary_encode()})
    plain = pa.table({"a": [1.0, 2.0], "level": ["x", "y"]})
    assert np.array_equal(layout.decode(good, target=False).x, layout.decode(plain, target=False).x)
