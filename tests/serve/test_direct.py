"""Plain rows that are written straight into X have the bits of those that go through a table."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from adaline import LinearRegression, open_table
from adaline.errors import BadRows
from adaline.lazy import nw
from adaline.serve.direct import DirectRows
from adaline.serve.rows import RowLayout

rng = np.random.default_rng(3)
N = 60
DATA: dict[str, Any] = {
    "a": rng.normal(size=N),
    "n": rng.integers(0, 9, N),
    "flag": rng.integers(0, 2, N).astype(bool),
    "kind": np.array(["low", "mid", "high"])[rng.integers(0, 3, N)],
    "year": rng.integers(2007, 2010, N),
    "when": [datetime(2024, 1, 1 + k % 28) for k in range(N)],
    "y": rng.normal(size=N),
}
TABLE = pa.table(DATA)


def layout(*names: str, **options: Any) -> RowLayout:
    return RowLayout.of(LinearRegression().fit(open_table(TABLE.select([*names, "y"]), target="y", **options)))


def coded(layout: RowLayout, rows: list[dict[str, Any]]) -> Any:
    """Return X by the coding of the model itself."""
    assert layout.coding is not None
    table = pa.Table.from_batches([layout.batch(rows, False)])
    return layout.coding.code(nw.from_native(table, eager_only=True))


PLAIN = {
    "numbers": layout("a", "n"),
    "levels": layout("kind", "a"),
    "years": layout("year", "kind", categories=["year"]),
    "flags": layout("flag", "a", "kind"),
}
OTHERS = {
    "dates": layout("when", "a", dates=["when"]),
    "hashed": layout("kind", "a", hashed=["kind"]),
    "gaps": RowLayout.of(
        LinearRegression().fit(
            open_table(
                pa.table({"a": pa.array([1.0, None, 2.0, 4.0]), "y": [1.0, 2.0, 3.0, 5.0]}),
                target="y",
                missing="indicator",
            )
        )
    ),
    "formula": RowLayout.of(LinearRegression().fit(open_table(TABLE, formula="y ~ a + I(a**2) + a:kind"))),
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_rows_have_the_same_bits_either_way(name: str) -> None:
    one = PLAIN[name]
    direct = one.direct
    assert direct is not None
    names = [column.name for column in one.columns]
    table = TABLE.select(names)
    for count in (1, 2, N):
        rows = table.slice(0, count).to_pylist()
        expected = coded(one, rows)
        for given in (
            rows,
            [list(row.values()) for row in rows],
            table.slice(0, count),
            table.slice(0, count).to_batches()[0],
        ):
            found = direct.code(given)
            if found is not None:
                assert np.array_equal(found, expected)
                assert found.flags.f_contiguous == expected.flags.f_contiguous
        assert direct.code(rows) is not None
        assert direct.row_type is not None
        typed = msgspec.json.decode(msgspec.json.encode(rows), type=list[direct.row_type])  # type: ignore[name-defined]
        found = direct.code_typed(typed)
        assert np.array_equal(found, expected)
        assert found.flags.f_contiguous == expected.flags.f_contiguous


def test_rows_have_no_type_where_names_are_escaped_or_columns_are_many() -> None:
    for names in (['a"b', "c"], [f"x{k}" for k in range(300)]):
        direct = DirectRows.of(names, None)
        assert direct is not None
        assert direct.row_type is None
        assert direct.code([dict.fromkeys(names, 1.5)] * 2).tolist() == [[1.5] * len(names)] * 2


@pytest.mark.parametrize("name", OTHERS)
def test_other_columns_go_through_a_table(name: str) -> None:
    assert OTHERS[name].direct is None


GOOD = {"kind": "low", "a": 1.5}
ODD: list[dict[str, Any]] = [
    {"kind": "none", "a": 1.5},
    {"kind": "low"},
    {"kind": "low", "a": None},
    {"kind": "low", "a": "1.5"},
    {"kind": "low", "a": 10**400},
    {"kind": True, "a": 1.5},
    {"kind": "low", "a": 1.5, "b": 1},
    {"kind": "low", "b": 1.5},
]


@pytest.mark.parametrize("row", ODD, ids=str)
@pytest.mark.parametrize("count", [1, 3])
def test_rows_that_are_not_plain_are_left_to_the_table(row: dict[str, Any], count: int) -> None:
    one = PLAIN["levels"]
    direct = one.direct
    assert direct is not None
    rows = [*[GOOD] * (count - 1), row]
    assert direct.code(rows) is None
    with pytest.raises(BadRows):
        one.read(rows)


def test_whole_numbers_and_truths_are_numbers() -> None:
    for value in (3, True, 2.0, 2**60 + 1):
        for rows in ([{"kind": "low", "a": value}], [GOOD, {"kind": "mid", "a": value}]):
            found = PLAIN["levels"].read(rows)
            assert np.array_equal(found, coded(PLAIN["levels"], rows))


@pytest.mark.parametrize("name", PLAIN)
def test_rows_to_learn_from_are_numbers_first_to_the_same_bits(name: str) -> None:
    one = PLAIN[name]
    names = [column.name for column in one.columns]
    for count in (1, N):
        dicts = TABLE.select([*names, "y"]).slice(0, count).to_pylist()
        batch = one.batch(dicts, True)
        for rows in (dicts, [list(row.values()) for row in dicts]):
            numbers = one.numbers(rows)
            assert numbers is not None
            assert one.batch_of_numbers(numbers).equals(batch)
            short, long = one.decoded_numbers(numbers, one), one.decoded(batch, True)
            assert np.array_equal(short.x, long.x)
            assert np.array_equal(short.y, long.y)
    for k, wrong in ((0, None), (0, [1.0]), (0, "none"), (0, 10**400), (-1, "much"), (-1, None)):
        assert one.numbers([[*row[:k], wrong, *row[len(row) + k + 1 if k < 0 else 1 :]] for row in rows[:2]]) is None


def test_rows_of_models_with_other_levels_are_no_numbers_of_both() -> None:
    one, two = PLAIN["levels"], layout("kind", "a", categories={"kind": ["high", "low", "mid", "top"]})
    assert one.all_in(one)
    assert not one.all_in(two)
    assert not PLAIN["numbers"].all_in(one)
