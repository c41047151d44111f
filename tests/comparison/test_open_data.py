"""What opening data notices before it reads at length: identifiers among the columns, targets that are none."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from adaline import compare
from adaline.comparison import open_data as opening
from adaline.comparison.open_data import DataRequest, MissingCounts, _count_in_parts, open_data
from adaline.errors import InvalidData, InvalidParameter
from adaline.sources.tables import coding

RNG = np.random.default_rng(0)
N = 400
X, Y = RNG.normal(size=N), RNG.normal(size=N)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Oct", "Dec")


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


def test_repeated_numbers_that_are_named_like_identifiers_may_be_levels() -> None:
    column = np.resize(np.arange(100, 150), N)
    (said,) = opened("shop_id", column).notes
    assert said.startswith("column 'shop_id' holds 50 different whole numbers and is named like an identifier")
    assert "--categories shop_id codes its numbers as levels" in said
    assert opened("shop_id", column, categories=["shop_id"]).notes == ()


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("income", RNG.choice(10**6, N, replace=False)),
        ("customer_id", RNG.integers(0, 10, N)),
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
        (pd.date_range("2024-01-01", periods=N), "holds dates, neither numbers nor labels: choose another column"),
        (
            [f"{m} 1 20{i:02}" for i in range(40) for m in MONTHS],
            r"such as SELECT \*, epoch\(strptime\(\"y\", '%b %d %Y'",
        ),
        ([f"text {i}" for i in range(N)], "holds 400 different texts in 400 rows, too many to be classes. Choose"),
        ([[1, 2]] * N, "neither numbers nor labels: choose another column. There are: x, y"),
    ],
)
def test_a_target_that_is_none_is_refused_first(column: Any, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("read before the target was looked at")

    for later in ("usable_columns", "_count_missing", "TableSource"):
        monkeypatch.setattr(opening, later, never)
    with pytest.raises(InvalidData, match=said):
        open_data(DataRequest.of(pd.DataFrame({"x": X, "y": pd.Series(list(column))}), target="y"))


def test_a_typo_among_numbers_is_named_in_a_note() -> None:
    column = X.astype(str).astype(object)
    column[5] = "oops"
    assert "'oops'" in next(note for note in opened("a", column).notes if "column 'a'" in note)
    assert opened("a", column, drop=["a"]).spec.features == ("x",)
    column[::4] = [f"ticket {i}" for i in range(N // 4)]  # names, some of which are numbers
    assert "'a' is left out" in opened("a", column).notes[0]


def counted_in_parts(table: pa.Table, *cuts: int) -> MissingCounts:
    """Return what is missing in a table of y, a and b, counted in its parts between cuts."""
    parts = [table.slice(start, stop - start) for start, stop in pairwise(cuts)]

    def over_parts(_: Any, counts: Any, merge: Any) -> Any:
        return reduce(merge, map(counts, parts)) if parts else None

    return _count_in_parts(SimpleNamespace(title="t.csv", reduce=over_parts), ["y"], ["y"], ["a", "b"])  # type: ignore[arg-type]


def test_what_is_missing_is_counted_in_parts_as_in_the_whole() -> None:
    y, a = [1.0, None, 2.0, 3.0, 2.0, None], [None, 1.0, None, 2.0, 1.0, 3.0]
    table = pa.table({"y": y, "a": a, "b": ["u", "v", "w", None, "v", "u"]})
    for cuts in ((0, 6), (0, 2, 6), (0, 3, 4, 6)):
        assert counted_in_parts(table, *cuts) == MissingCounts(6, 2, {"a": 2, "b": 1}, 1, 3)
    for cuts, message in (((0,), r"t\.csv has no rows"), ((1, 2), "no row with a value of y: choose another column")):
        with pytest.raises(InvalidData, match=message):
            counted_in_parts(table, *cuts)


def test_hashed_columns_are_compared_where_they_are_few() -> None:
    rows = {"y": np.arange(60.0) % 7, "x": np.arange(60.0) % 5, "g": [f"l{i % 4}" for i in range(60)]}
    found = compare(rows, target="y", hashed={"g": 16}, systems=["LinearRegression"])
    assert len(found.results) == 1
    assert not found.results[0].failure
    with pytest.raises(InvalidParameter, match="too many for compare"):
        compare(rows, target="y", hashed=["g"])


def test_many_classes_of_few_rows_are_compared_by_systems_that_are_named() -> None:
    rows = {"x": X[:240], "y": [f"class {i % 60}" for i in range(240)]}
    with pytest.raises(InvalidData, match=r"has 60 classes in 240 rows.*as in systems=\['GaussianClassifier'\]"):
        compare(rows, "y")
    assert not compare(rows, "y", systems=["FisherDiscriminant"], folds=2).results[0].failure


@pytest.mark.parametrize(
    ("missing", "policy", "used"),
    [([], "error", 400), ([3], "drop", 399), (range(300), "drop", 100), (range(399), "indicator", 400)],
)
def test_rows_with_gaps_are_left_out_unless_too_few_are_complete(missing: Any, policy: str, used: int) -> None:
    a = X.copy()
    a[list(missing)] = np.nan
    found = open_data(DataRequest.of({"x": X, "a": a, "y": Y}, target="y", features=["x", "a"]))
    assert found.spec.missing == policy
    assert found.source.count_rows() == used
    assert bool(found.gaps) is bool(missing)


@pytest.mark.parametrize("least", [None, 0.05])
def test_rows_without_a_target_or_a_weight_are_left_out_and_no_gaps(least: float | None) -> None:
    y, w = Y.copy(), np.ones(N)
    y[:30] = w[20:50] = np.nan
    found = open_data(DataRequest.of({"x": X, "y": y, "w": w}, target="y", weight="w"), most_lost=least)
    assert (found.spec.missing, found.gaps, found.source.count_rows()) == ("drop", "", 350)
    assert found.notes == ("50 of 400 rows are left out: no value of y or w",)


def with_levels(n: int, penalised: bool = False, **levels: int) -> Any:
    """Open rows of a number and of columns with so many levels each, given to the rows in turn."""
    texts = {name: [f"{name}{i % count}" for i in range(n)] for name, count in levels.items()}
    x = np.arange(n) % 7.5
    return open_data(DataRequest.of({"x": x, **texts, "y": x}, target="y", shell=True), penalised=penalised)


@pytest.mark.parametrize("n", [1200, 12_000])
def test_categories_of_many_levels_are_left_out_whatever_the_number_of_rows(n: int) -> None:
    found = with_levels(n, carrier=16, tail=510)
    assert found.spec.features == ("x", "carrier")
    assert found.left_out == {"tail": "has 510 levels, more than are coded by default"}
    (said,) = found.notes
    assert said.startswith("column 'tail' (510 levels) is left out: by default at most 500 levels of all")
    for way in ("--absorb tail ", "--hash 'tail=2^8' ", "--categories tail "):
        assert way in said


def test_categories_with_the_fewest_levels_are_coded_up_to_a_sum() -> None:
    found = with_levels(1000, a=300, b=140, c=50, d=400)
    assert found.spec.features == ("x", "a", "b", "c")
    assert "column 'd' (400 levels)" in found.notes[0]


def test_a_penalty_takes_more_levels_as_sparse_columns() -> None:
    found = with_levels(1600, True, tail=700)
    assert found.source.sparse
    assert found.source.shape.features == 700
    assert found.notes == ("column 'tail' (700 levels) is coded as sparse columns, which the penalty shrinks",)
    assert with_levels(4000, True, tail=1600).spec.features == ("x",)


def test_levels_are_counted_in_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coding, "SAMPLE", 100)
    texts = [f"t{i // 3}" for i in range(2400)]  # 34 levels in the first 100 rows
    found = open_data(DataRequest.of({"x": np.arange(2400.0) % 7, "t": texts, "y": np.arange(2400.0) % 3}, target="y"))
    assert found.spec.features == ("x",)
    assert "open_table(..., absorb=['t']) absorbs effects, hashed={'t': 256} hashes levels" in found.notes[0]


@pytest.mark.parametrize("options", [{"categories": ["t"]}, {"hashed": {"t": 256}}, {"features": ["x", "t"]}])
def test_many_levels_that_are_asked_for_are_used(options: dict[str, Any]) -> None:
    declared = pd.Categorical([f"t{i % 600}" for i in range(1300)])
    frame = pd.DataFrame({"x": np.arange(1300) % 7.5, "t": declared, "y": np.arange(1300) % 3.5})
    assert open_data(DataRequest.of(frame, target="y")).spec.features == ("x",)
    found = open_data(DataRequest.of(frame, target="y", **options))
    assert found.spec.features == ("x", "t")
    assert found.notes == ()
