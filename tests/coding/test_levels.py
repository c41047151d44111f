"""Levels are those that Python's dictionaries find: of every type, however rows are cut, dictionary-encoded or not."""

from __future__ import annotations

import pickle
from collections import Counter
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from adaline import open_table
from adaline.coding import learn as learn_module
from adaline.coding import levels as levels_module
from adaline.coding.columns import Column, is_missing, plain_level, plain_levels
from adaline.coding.frames import learn_from_frame
from adaline.coding.levels import LevelSummary, WordSummary
from adaline.coding.texts import ABSENT, UNKNOWN, Texts
from adaline.errors import InvalidData

MANY = [f"u{k % 900}" for k in range(2000)]
COLUMNS: dict[str, pa.Array] = {
    "texts": pa.array(["b", None, "", "é", "e\u0301", "b", "B", " b", "b\0", "x" * 40, "日本"]),
    "many texts": pa.array(MANY),
    "large texts": pa.array(["b", "a", None, "b"], pa.large_string()),
    "views": pa.array(["b", "a", None, "a longer text, which a view has beside it"], pa.string_view()),
    "whole": pa.array([3, -2, None, 2**60, 2**60 + 1, 3]),
    "short": pa.array([3, 250, None, 3], pa.uint8()),
    "unsigned": pa.array([1, 2**64 - 1, None, 2**63], pa.uint64()),
    "numbers": pa.array([0.5, -0.0, 0.0, 3.0, float("nan"), None, 1e300, -1e19, float("inf"), float("-inf")]),
    "single": pa.array([0.1, 7.0, None, float("nan")], pa.float32()),
    "booleans": pa.array([True, None, False, True]),
    "dates": pa.array([date(2024, 1, 1), None, date(1969, 12, 31), date(2024, 1, 1)]),
    "times": pa.array([datetime(2024, 1, 1) + timedelta(microseconds=k // 2) for k in range(9)]),
    "decimals": pa.array([Decimal("1.50"), None, Decimal("-0.25")]),
    "nothing": pa.nulls(3),
    "dictionary": pa.array(["b", "a", None, "b"]).dictionary_encode(),
    "dictionary of numbers": pa.array([2.5, 1.0, None, 2.5]).dictionary_encode(),
    "dictionary of dates": pa.array([date(2024, 1, 1), None, date(2023, 1, 1)]).dictionary_encode(),
    "odd dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3, None, 0]), ["a", None, "a", "unused"]),
}
EACH = pytest.mark.parametrize("name", COLUMNS)


def expected(values: list[Any]) -> dict[Any, int]:
    return dict(Counter(plain_level(value) for value in values if not is_missing(value)))


def summary_of(column: pa.Array, most: int = 10**6) -> LevelSummary:
    out = LevelSummary(most)
    out.add(pa.chunked_array([column]))
    return out


@EACH
@pytest.mark.parametrize("waiting", [0, 2**26])
def test_levels_are_those_of_dictionaries(name: str, waiting: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels_module, "WAITING", waiting)
    column, rng = COLUMNS[name], np.random.default_rng(3)
    counts = expected(column.to_pylist())
    ranked = sorted(counts, key=lambda level: (isinstance(level, str), level))
    for parts in (1, 3, 6):
        ends = [0, *sorted(rng.integers(0, len(column) + 1, parts - 1).tolist()), len(column)]
        each = [summary_of(column.slice(a, b - a)) for a, b in pairwise(ends)]
        whole = LevelSummary(10**6)
        for i in rng.permutation(parts):
            whole.merge(pickle.loads(pickle.dumps(each[i])))
        found = whole.levels()
        assert found is not None
        assert found[0] == ranked
        assert [*map(type, found[0])] == [*map(type, ranked)]
        assert found[1].tolist() == [counts[level] for level in ranked]
        assert whole.missing == len(column) - sum(counts.values())
        assert whole == summary_of(column)


@EACH
def test_rows_have_the_codes_of_their_levels(name: str) -> None:
    column = COLUMNS[name]
    if name in ("whole", "unsigned"):  # rows are float64
        column = pa.array([v for v in column.to_pylist() if v is None or v < 2**53], column.type)
    levels = tuple(summary_of(column).levels()[0])[1:]  # type: ignore[index]
    index = {level: i for i, level in enumerate(levels)}
    wanted = [ABSENT if is_missing(v) else index.get(plain_level(v), UNKNOWN) for v in column.to_pylist()]
    frame = nw.from_native(pa.table({"c": column}), eager_only=True)
    assert Column("c", "category", levels).codes(frame).tolist() == wanted


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("long", [1, 10**6])
def test_frames_have_the_codes_of_arrow(make: Any, long: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adaline.coding.columns.LONG", long)
    values = ["b", "a", None, "ü", "b", "zz"]
    frame = nw.from_native(make({"c": values}), eager_only=True)
    assert Column("c", "category", ("a", "b", "ü")).codes(frame).tolist() == [1, 0, ABSENT, 2, 1, UNKNOWN]
    learned = learn_from_frame(nw.from_native(make({"c": [v for v in values if v]}), eager_only=True))
    assert learned is not None
    assert learned.columns[0].levels == ("a", "b", "zz", "ü")
    assert learned.columns[0].share == (1 / 5, 2 / 5, 1 / 5, 1 / 5)
    numbers = nw.from_native(make({"c": [1, 20, 3]}), eager_only=True)
    assert Column("c", "category", ("1", "3")).codes(numbers).tolist() == [0, UNKNOWN, 1]


def test_levels_are_texts_numbers_or_booleans_of_python() -> None:
    found = plain_levels(["a", np.str_("b"), 2.0, np.int64(3), np.bool_(True), 0.5])
    assert [(type(level), level) for level in found] == [(type(one), one) for one in ("a", "b", 2, 3, True, 0.5)]


def test_lone_surrogates_are_levels_of_frames() -> None:
    frame = nw.from_native(pd.DataFrame({"c": pd.Series(["a", "\ud800"] * 2, dtype=object)}), eager_only=True)
    learned = learn_from_frame(frame)
    assert learned is not None
    assert learned.columns[0].levels == ("a", "\ud800")
    assert learned.columns[0].codes(frame).tolist() == [0, 1, 0, 1]


def test_levels_that_are_too_many_or_too_long_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    column = COLUMNS["many texts"]
    halves = column[:1000], column[1000:]
    for most in (899, 900):
        summary = summary_of(halves[0], most)
        summary.merge(summary_of(halves[1], most))
        assert (summary.levels() is None) == (most == 899)
    assert summary_of(pa.array(np.arange(30.0)), 29).counts is None
    table = pa.table({"id": MANY, "y": np.arange(2000.0)})
    monkeypatch.setattr(levels_module, "LONGEST_KEPT", 100)
    monkeypatch.setattr(learn_module, "LONGEST_KEPT", 100)
    with pytest.raises(InvalidData, match=r"or 100 bytes of them: leave it out, or hash them"):
        open_table(table, target="y", categories=["id"]).learn_coding()


def test_words_are_counted_once_a_text() -> None:
    values = ["red red cat", None, "Cat naïve", "", "red"] * 3
    for column in (pa.array(values), pa.array(values).dictionary_encode()):
        summary = WordSummary(100)
        for part in (column[:4], column[4:]):
            other = WordSummary(100)
            other.add(pa.chunked_array([part]))
            summary.merge(other)
        assert summary.counts == {"cat": 6, "naïve": 3, "red": 6}
        assert summary.missing == 3


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_whole_numbers_are_written_alike_whatever_their_type(kind: Any) -> None:
    whole = pa.array([3.0, -0.0, None, float("nan"), 2.0**60], kind)
    texts = Texts.of_column(whole)
    assert [t for t, gone in zip(texts.to_list(), texts.absent, strict=True) if not gone] == ["3", "0", str(2**60)]  # type: ignore[arg-type]
    for other in ([0.5, 2.0], [1e30, 2.0], [float("inf"), 2.0]):
        texts = Texts.of_column(pa.array(other, pa.float64()))
        assert texts.spread(np.array(texts.to_list(), dtype=object)).tolist() == [str(plain_level(v)) for v in other]


OBJECTS: dict[str, list[Any]] = {
    "texts": ["b", "a", " b", "a", "\tc"],
    "whole numbers": [3, 1, 3, 2, 1],
    "numbers": [0.5, 3.0, 3, -0.0, 0],
    "truths": [True, False, True, True, True],
    "numbers and texts": [1, "a", 2.5, "b", 1],
    "truths and texts": [True, "a", True, "b", "a"],
}


@pytest.mark.parametrize("name", OBJECTS)
def test_a_frame_and_a_table_learn_the_same_column(name: str) -> None:
    values = OBJECTS[name] * 3
    series = pd.Series(values, dtype=object if "and" in name else None, name="c").astype("category")
    learned = learn_from_frame(nw.from_native(series.to_frame(), eager_only=True))
    assert learned is not None
    counts = Counter(values)
    declared = sorted(counts, key=lambda one: (isinstance(one, str), one))
    assert learned.columns[0].levels == tuple(map(plain_level, declared))
    assert learned.columns[0].share == tuple(counts[one] / len(values) for one in declared)
    if "and" in name:
        return  # which Arrow does not hold
    frame = pd.DataFrame({"c": values, "y": np.arange(float(len(values)))})
    table = open_table(frame.assign(c=series), target="y").learn_coding()
    assert table.columns == learned.columns
    if name == "texts":  # which are not declared: blanks around them are no part of a level
        plain = learn_from_frame(nw.from_native(frame[["c"]], eager_only=True))
        assert plain is not None
        assert plain.columns == open_table(frame, target="y").learn_coding().columns
        assert plain.columns[0].levels == ("a", "b", "c")


def test_objects_that_are_numbers_are_numbers_as_in_a_table() -> None:
    frame = pd.DataFrame({"n": [1, 2.5, None] * 4, "t": [True, False, None] * 4, "c": ["a", "b", "b"] * 4}).astype(
        object
    )
    learned = learn_from_frame(nw.from_native(frame, eager_only=True))
    assert learned is not None
    assert [column.kind for column in learned.columns] == ["number", "boolean", "category"]
