"""What opening data notices before it reads at length: identifiers among the columns, targets that are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import compare
from adaline.comparison import open_data as opening
from adaline.comparison.open_data import DataRequest, open_data
from adaline.errors import InvalidData, InvalidParameter

RNG = np.random.default_rng(0)
N = 400
X, Y = RNG.normal(size=N), RNG.normal(size=N)


def opened(name: str, column: Any, **options: Any) -> Any:
    return open_data(DataRequest.of({"x": X, name: column, "y": Y}, target="y", shell=True, **options))


def test_whole_numbers_that_floats_cannot_tell_apart_are_left_out_as_identifiers() -> None:
    keys = 2**61 + RNG.choice(10**6, N, replace=False)
    found = opened("serial", keys)
    assert found.spec.features == ("x",)
    (said,) = found.notes
    assert said.startswith("column 'serial' is left out: it holds whole numbers beyond 2^53, different in every row")
    assert "--features" in said
    assert opened("serial", keys, features=["x", "serial"]).spec.features == ("x", "serial")
    assert opened("serial", keys, drop=["serial"]).notes == ()


@pytest.mark.parametrize(
    ("name", "column", "said"),
    [
        ("count", np.arange(N) + 1, "column 'count' numbers the rows"),
        ("count", RNG.permutation(N), "column 'count' numbers the rows"),
        ("customer_id", RNG.choice(10**6, N, replace=False), "named like an identifier"),
        ("customerId", RNG.choice(10**6, N, replace=False), "named like an identifier"),
    ],
)
def test_what_may_be_an_identifier_stays_with_a_note(name: str, column: Any, said: str) -> None:
    found = opened(name, column)
    assert found.spec.features == ("x", name)
    assert said in found.notes[0]
    assert f"--drop {name}" in found.notes[0]


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("income", RNG.choice(10**6, N, replace=False)),
        ("customer_id", RNG.integers(0, 50, N)),
        ("big", 2**60 * RNG.integers(1, 4, N)),
        ("id", RNG.normal(size=N)),
        ("paid", RNG.choice(10**6, N, replace=False)),
    ],
)
def test_amounts_and_repeated_keys_are_no_identifiers(name: str, column: Any) -> None:
    found = opened(name, column)
    assert found.spec.features == ("x", name)
    assert found.notes == ()


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pd.date_range("2024-01-01", periods=N), "holds dates: it is neither a number nor a label. Choose another"),
        ([f"text {i}" for i in range(N)], "holds 400 different texts in 400 rows, so it is no label; turn it into"),
        ([[1, 2]] * N, "neither a number nor a label"),
    ],
)
def test_a_target_that_is_none_is_refused_first(column: Any, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("read before the target was looked at")

    for later in ("usable_columns", "_count_missing", "TableSource"):
        monkeypatch.setattr(opening, later, never)
    with pytest.raises(InvalidData, match=said):
        open_data(DataRequest.of(pd.DataFrame({"x": X, "y": pd.Series(list(column))}), target="y"))


def test_a_typo_among_numbers_is_refused_and_does_not_cost_the_column() -> None:
    column = X.astype(str).astype(object)
    column[5] = "oops"
    with pytest.raises(InvalidData, match=r"column 'a' holds numbers, but also 'oops' \(1 such value\): mend"):
        opened("a", column)
    assert opened("a", column, drop=["a"]).spec.features == ("x",)
    column[::4] = [f"ticket {i}" for i in range(N // 4)]  # names, some of which are numbers
    assert "'a' is left out" in opened("a", column).notes[0]


def test_hashed_columns_are_compared_where_they_are_few() -> None:
    rows = {"y": np.arange(60.0) % 7, "x": np.arange(60.0) % 5, "g": [f"l{i % 4}" for i in range(60)]}
    found = compare(rows, target="y", hashed={"g": 16}, systems=["LinearRegression"])
    assert len(found.results) == 1
    assert not found.results[0].failure
    with pytest.raises(InvalidParameter, match="too many for compare"):
        compare(rows, target="y", hashed=["g"])
