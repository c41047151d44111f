"""Columns as no one would design them: each is learned exactly, or refused in one line that names it.

What is learned is the same from a table and from a frame, with a saved model, and online.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from adaline import LinearRegression, LogisticRegression, open_table
from adaline.coding import texts as texts_module
from adaline.coding.texts import Texts
from adaline.errors import AdalineError, InvalidData
from adaline.storage import load, save

N = 60
Y = np.random.default_rng(0).random(N) > 0.5
UTF8 = ["é", "e\u0301", "E", "e", "e\0", "", "ﬁ", "fi", "a\nb", "\x1b[31m"]


def repeated(values: Sequence[Any]) -> list[Any]:
    return [values[i % len(values)] for i in range(N)]


def arrow(values: Sequence[Any], kind: Any = None) -> pa.Table:
    return pa.table({"id": pa.array(repeated(values), kind), "y": Y})


def indexed(indices: Sequence[Any], dictionary: Sequence[Any]) -> pa.Table:
    column = pa.DictionaryArray.from_arrays(pa.array(repeated(indices), pa.int8()), pa.array(dictionary))
    return pa.table({"id": pa.chunked_array([column.slice(0, N // 2), column.slice(N // 2)]), "y": Y})


def not_utf8() -> pa.Table:
    buffers = pa.array(repeated([b"\xff\xfe", b"ok"]), pa.binary()).buffers()
    return pa.table({"id": pa.Array.from_buffers(pa.string(), N, buffers), "y": Y})


LEARNED: dict[str, tuple[Callable[[], Any], int]] = {
    "alike": (lambda: arrow(UTF8), len(UTF8)),
    "alike, pandas": (lambda: pd.DataFrame({"id": repeated(UTF8), "y": Y}), len(UTF8)),
    "alike, polars": (lambda: pl.DataFrame({"id": repeated(UTF8), "y": Y}), len(UTF8)),
    "empty beside missing": (lambda: arrow(["", "a", None]), 3),
    "string dtype of pandas": (lambda: pd.DataFrame({"id": pd.array(repeated(["", "a", None]), "string"), "y": Y}), 3),
    "NA among objects": (lambda: pd.DataFrame({"id": pd.Series(repeated(["a", pd.NA]), dtype=object), "y": Y}), 2),
    "numbers as texts": (lambda: arrow(["1", "01", "1.0", "a1"]), 4),
    "booleans": (lambda: arrow([True, False, None]), 3),
    "dates": (lambda: arrow([dt.date(1, 1, 1), dt.date(2024, 1, 1), dt.date(9999, 12, 31)]), 3),
    "nanoseconds": (lambda: arrow([1, 1000, 10**9], pa.timestamp("ns")), 3),
    "dictionary": (lambda: indexed([0, 1, 2], ["a", "b", "a"]), 2),
    "gaps in a dictionary": (lambda: indexed([0, 1, 2, None], ["a", None, "b"]), 3),
    "categories, some unused": (
        lambda: pd.DataFrame({"id": pd.Categorical(repeated(["b", "a"]), categories=["z", "b", "a"]), "y": Y}),
        2,
    ),
    "categories that are numbers": (lambda: pd.DataFrame({"id": pd.Categorical(repeated([3, 1])), "y": Y}), 2),
    "categories that are booleans": (lambda: pd.DataFrame({"id": pd.Categorical(repeated([True, False])), "y": Y}), 2),
    "enum": (lambda: pl.DataFrame({"id": pl.Series(repeated(["b", "a"]), dtype=pl.Enum(["z", "b", "a"])), "y": Y}), 2),
    "categorical": (
        lambda: pl.DataFrame({"id": pl.Series(repeated(["b", None]), dtype=pl.Categorical), "y": Y}),
        2,
    ),
    "decimals": (lambda: arrow([Decimal("1.10"), Decimal("2.00"), None], pa.decimal128(10, 2)), 3),
    "runs": (
        lambda: pa.table(
            {"id": pa.RunEndEncodedArray.from_arrays(pa.array([N // 2, N]), pa.array(["a", "b"])), "y": Y}
        ),
        2,
    ),
    "uuid": (lambda: arrow([b"0" * 16, b"1" * 16], pa.uuid()), 2),
    "views": (lambda: arrow(["a", "b" * 20], pa.string_view()), 2),
}
"""A table, and the number of its different values, a missing one among them."""
WAYS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("auto", {"categories": ["id"]}),
    ("online", {"hashed": {"id": 2**12}}),
)


def without_target(table: Any) -> Any:
    return table[["id"]] if isinstance(table, pd.DataFrame) else table.select(["id"])


@pytest.mark.parametrize("name", LEARNED)
def test_a_table_a_frame_and_a_model_file_agree(name: str, tmp_path: Path) -> None:
    make, different = LEARNED[name]
    table = make()
    for solver, options in WAYS:
        source = open_table(table, target="y", missing="indicator", unseen="other", **options)
        model = LogisticRegression(solver=solver, penalty=1.0).fit(source)
        assert len(np.unique(dense(source), axis=0)) == different
        save(model, tmp_path / "model.adaline")
        again = load(tmp_path / "model.adaline")
        found = model.predict_proba(source)
        np.testing.assert_allclose(again.predict_proba(without_target(table)), found, rtol=1e-14)
        assert np.isfinite(again.predict_proba(pa.table({"id": ["never seen"]}))).all()


def test_blanks_around_a_text_are_part_of_hashed_ids_but_of_no_level() -> None:
    table = arrow(["e", " e", "e ", "f"])
    for (_, options), different in zip(WAYS, (2, 4), strict=True):
        assert len(np.unique(dense(open_table(table, target="y", **options)), axis=0)) == different


def dense(source: Any) -> Any:
    return np.concatenate(
        [block.gathered().x.toarray() if source.sparse else block.gathered().x for block in source.blocks()]
    )


REFUSED: dict[str, tuple[Callable[[], Any], dict[str, Any], str]] = {
    "lists": (lambda: arrow([[1, 2], [3]]), {"categories": ["id"]}, r"column 'id' of type BIGINT\[\]"),
    "lists, hashed": (lambda: arrow([[1, 2], [3]]), {"hashed": ["id"]}, r"'id' holds BIGINT\[\], neither texts nor"),
    "structs": (lambda: arrow([{"a": 1}, {"a": 2}]), {"categories": ["id"]}, "column 'id' of type STRUCT"),
    "bytes": (lambda: arrow([b"\xff", b"a"]), {"categories": ["id"]}, "column 'id' of type BLOB"),
    "durations": (lambda: arrow([1, 2], pa.duration("us")), {"categories": ["id"]}, "column 'id' of type INTERVAL"),
    "not UTF-8": (not_utf8, {"categories": ["id"]}, "column 'id' holds texts that are not UTF-8"),
    "intervals": (lambda: pd.DataFrame({"id": pd.cut(np.arange(N), 3), "y": Y}), {}, "column 'id' holds .*interval"),
    "half a character": (
        lambda: pd.DataFrame({"id": pd.Series(repeated(["a", "\ud800"]), dtype=object), "y": Y}),
        {},
        r"a text holds '\\ud800', half a character",
    ),
    "wide decimals": (
        lambda: arrow([Decimal(10**60)], pa.decimal256(70, 0)),
        {"hashed": ["id"]},
        "column 'id' holds decimal256",
    ),
    "beyond 2^53": (
        lambda: arrow([2**53, 2**53 + 1]),
        {"categories": ["id"]},
        r"'id' has levels of 2\^53 or more, where float64 merges neighbours: hash it, hashed=\{'id': 2\*\*20\}",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_levels_is_refused_by_name(name: str) -> None:
    make, options, message = REFUSED[name]
    with pytest.raises(AdalineError, match=message) as caught:
        open_table(make(), target="y", **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("values", [[[1], [2]], [{"a": 1}, {"a": 2}], [b"\xff", b"a"]])
def test_effects_of_what_has_no_levels_are_refused(values: list[Any]) -> None:
    table = pa.table({"id": repeated(values), "x": np.arange(N), "y": np.arange(N) % 7.0})
    with pytest.raises(InvalidData, match=r"column 'id' holds .*, no levels"):
        LinearRegression().fit(open_table(table, target="y", absorb=["id"]))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([2**53, 2**53 + 1, -(2**60), 2**63 - 1], pa.int64()),
        ([2**64 - 1, 2**64 - 2], pa.uint64()),
        ([Decimal(10**37), Decimal(10**37 + 1)], pa.decimal128(38, 0)),
        ([1, 1000, 10**9], pa.timestamp("us", "Europe/Berlin")),
    ],
)
def test_ids_are_hashed_exactly(values: list[Any], kind: Any, tmp_path: Path) -> None:
    table = arrow(values, kind)
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    rows = [dense(open_table(one, target="y", hashed={"id": 2**12})) for one in (table, str(tmp_path / "t.parquet"))]
    assert len(np.unique(rows[0], axis=0)) == len(values)
    np.testing.assert_array_equal(rows[0], rows[1])
    model = LogisticRegression(penalty=1.0).fit(open_table(table, target="y", hashed={"id": 2**10}))
    np.testing.assert_array_equal(
        model.predict_proba(table.select(["id"])), model.predict_proba(open_table(table.select(["id"])))
    )


def test_whole_numbers_beyond_floats_are_rounded_alike() -> None:
    table = arrow([2**53, 2**53 + 1, 2**60])
    model = LogisticRegression(penalty=1.0).fit(open_table(table, target="y", features=["id"]))
    np.testing.assert_array_equal(model.predict(table.select(["id"])), model.predict(open_table(table)))


def test_messages_show_levels_on_one_line() -> None:
    model = LogisticRegression(penalty=1.0).fit(open_table(arrow(["a\nb", "x" * 10**5]), target="y"))
    with pytest.raises(InvalidData, match=r"has the level 'new\\nline'") as caught:
        model.predict(pa.table({"id": ["new\nline"]}))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_texts_too_long_for_their_offsets_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    column = pa.chunked_array([["a", "bc"], ["d"]])
    monkeypatch.setattr(texts_module, "LONG", 1)
    found = Texts.of_column(column)
    assert found.offsets.dtype == np.int64
    assert found.to_list() == ["a", "bc", "d"]


@pytest.mark.parametrize("width", [2**10, 2**14])
def test_expected_collisions_are_those_found(width: int) -> None:
    different = 3000
    names = Texts.of(f"user-{i}" for i in range(different))
    found = [np.bincount(names.buckets(seed, width)[0], minlength=width) for seed in range(20)]
    shared = np.mean([counts[counts > 1].sum() for counts in found])
    assert abs(shared / texts_module.expected_collisions(different, width) - 1) < 0.02
