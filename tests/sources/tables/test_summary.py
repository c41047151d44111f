"""Laws of summaries: the same however the rows are cut and merged, and what DuckDB counts; codings are learned from
them to the bit, wherever the rows lie.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adaline import open_table, set_threads
from adaline.coding import learned
from adaline.coding.columns import plain_level
from adaline.errors import MissingValues
from adaline.sources.tables import coding
from adaline.sources.tables.batches import without_missing
from adaline.sources.tables.coding import learn_coding
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.spec import TableSpec
from adaline.sources.tables.summary import TableSummary, Wanted, reduce_rows, summarize

ROWS = 700
KINDS = {
    "x": "number",
    "f": "number",
    "n": "number",
    "money": "number",
    "ok": "boolean",
    "day": "date",
    "moment": "date",
}
LEVELS = ("town", "code", "ok", "day", "n", "f", "kind")
FORMULA = "y ~ scale(x) + center(n) + poly(x, 3) + bs(x, df=5) + ns(w, df=4) + cut(w, 3) + I(scale(log(w))^2) + town"


def some(rng: np.random.Generator, values: Sequence[Any], share: float = 0.1) -> list[Any]:
    return [None if gone else value for value, gone in zip(values, rng.random(len(values)) < share, strict=True)]


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(1)
    x = rng.normal(1e3, 1.0, ROWS)
    towns = some(rng, rng.choice(["Ulm", "Bonn", "", "Köln"], ROWS).tolist())
    return pa.table(
        {
            "x": pa.array(some(rng, np.where(rng.random(ROWS) < 0.1, np.nan, x).tolist())),
            "f": pa.array(some(rng, rng.choice([0.5, -0.0, 0.0, np.nan, 3.0], ROWS).tolist()), pa.float32()),
            "n": pa.array(some(rng, rng.integers(-3, 3, ROWS).tolist()), pa.int64()),
            "money": pa.array(some(rng, [Decimal(v) / 100 for v in range(ROWS)]), pa.decimal128(9, 2)),
            "ok": pa.array(some(rng, (rng.random(ROWS) < 0.3).tolist())),
            "day": pa.array(some(rng, [date(2024, 1, 1) + timedelta(int(d)) for d in rng.integers(0, 9, ROWS)])),
            "moment": pa.array(some(rng, [datetime(2024, 1, 1) + timedelta(seconds=float(s)) for s in x])),
            "town": pa.array(towns),
            "code": pa.array(rng.choice(["a7", "a8"], ROWS).tolist()),
            "kind": pa.array(some(rng, rng.choice(["a", "b"], ROWS).tolist())).dictionary_encode(),
            "w": pa.array(rng.uniform(1, 5, ROWS)),
            "y": pa.array(some(rng, rng.normal(size=ROWS).tolist(), 0.05)),
        }
    )


def cut(rng: np.random.Generator, table: pa.Table, parts: int) -> list[pa.Table]:
    ends = [0, *sorted(rng.integers(0, len(table) + 1, parts - 1).tolist()), len(table)]
    return [table.slice(a, b - a) for a, b in pairwise(ends)]


@pytest.mark.parametrize("most", [3, 1000])
def test_summaries_do_not_depend_on_cuts_or_on_the_order_of_merges(table: pa.Table, most: int) -> None:
    wanted = Wanted(tuple(KINDS.items()), tuple((name, most) for name in LEVELS), ("y", "x"), ("y", "w", "f"))
    whole = TableSummary.zero(wanted)
    whole.add(table)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        waiting = [TableSummary.zero(wanted)]
        for part in cut(rng, table, seed + 1):
            waiting.append(TableSummary.zero(wanted))
            waiting[-1].add(part)
        while len(waiting) > 1:
            left, right = (waiting.pop(int(rng.integers(len(waiting)))) for _ in range(2))
            left.merge(pickle.loads(pickle.dumps(right)))
            waiting.append(left)
        assert waiting == [whole]


def test_summaries_are_what_duckdb_counts(table: pa.Table, tmp_path: Path) -> None:
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=100)
    wanted = Wanted(tuple(KINDS.items()), tuple((name, 1000) for name in LEVELS), ("y",), ("w", "y"))
    for relation in (Relation(tmp_path / "t.parquet"), Relation(table)):
        found = summarize(lambda *asked, of=relation: reduce_rows(of, *asked), wanted)
        where = "y IS NOT NULL"
        assert found.rows == relation.count(where)
        assert found.missing("y") == 0
        for name, kind in KINDS.items():
            number = f"epoch({name}) / 86400" if kind == "date" else f"CAST({name} AS DOUBLE)"
            present, mean = relation.rows(
                f"SELECT count(v), avg(v) FROM (SELECT {number} AS v FROM {relation.sql} WHERE {where} AND NOT "
                f"{relation.absent(name)})"
            )[0]
            assert (found.means[name].present, found.means[name].missing) == (present, found.rows - present)
            assert found.means[name].mean == pytest.approx(mean, rel=1e-13)
        for name in LEVELS:
            theirs = f"SELECT {relation.value(name)} AS v, count(*) FROM {relation.sql} WHERE {where} GROUP BY v"
            counts: dict[Any, int] = {}
            for value, count in relation.rows(theirs):
                if value is not None and value == value:
                    counts[plain_level(value)] = counts.get(plain_level(value), 0) + count
            assert found.levels[name].counts == counts
            assert found.missing(name) == found.rows - sum(counts.values())


def test_infinite_numbers_and_too_many_levels_are_said(table: pa.Table) -> None:
    wanted = Wanted((("x", "number"),), (("x", 5),))
    summary = TableSummary.zero(wanted)
    assert np.isnan(summary.means["x"].mean)
    summary.add(pa.table({"x": [1.0, np.inf, None, np.nan, 2.0, -np.inf]}))
    assert summary.means["x"].mean == np.inf
    assert (summary.means["x"].present, summary.means["x"].missing, summary.means["x"].infinite) == (4, 2, 2)
    assert (summary.levels["x"].missing, summary.levels["x"].counts) == (2, {1: 1, np.inf: 1, 2: 1, -np.inf: 1})
    summary.add(pa.table({"x": [5.0, 6.0, None]}))
    assert (summary.levels["x"].missing, summary.levels["x"].counts) == (3, None)


def elsewhere(table: pa.Table, seed: int) -> Any:
    """Return what reduces the rows of a table as a cluster does: parts in any order, everything pickled on its way."""

    def rows(names: Sequence[str], function: Callable[[Any], Any], merge: Callable[[Any, Any], Any], /) -> Any:
        rng = np.random.default_rng(seed)
        parts = cut(rng, table.select(names), 5)
        function, merge = pickle.loads(pickle.dumps((function, merge)))
        found = [pickle.dumps(function(parts[i])) for i in rng.permutation(len(parts))]
        return reduce(merge, map(pickle.loads, found))

    return rows


@pytest.mark.parametrize(("missing", "held"), [("mean", 2**23), ("indicator", 10), ("drop", 10)])
def test_codings_are_the_same_wherever_the_rows_lie(
    table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str, held: int
) -> None:
    for module in (learned, coding):
        monkeypatch.setattr(module, "HELD", held)
    table = table.drop(["kind"])  # whose levels a frame declares, and a file does not
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=100)
    specs = [
        TableSpec.of(formula=FORMULA, missing=missing),
        TableSpec.of(target="y", dates=["day", "moment"], categories={"n": range(-3, 3)}, missing=missing),
    ]
    for spec in specs:
        codings = [learn_coding(Relation(data), spec) for data in (tmp_path / "t.parquet", table)]
        codings += [learn_coding(Relation(table.slice(0, 50)), spec, elsewhere(table, seed)) for seed in range(3)]
        try:
            set_threads(1)
            codings.append(learn_coding(Relation(tmp_path / "t.parquet"), spec))
        finally:
            set_threads(None)
        assert all(one == codings[0] for one in codings)
    with pytest.raises(MissingValues, match=r"'f' \(\d+\), 'x' \(\d+\)"):
        learn_coding(
            Relation(table.slice(0, 50)), TableSpec.of(target="y", dates=["day", "moment"]), elsewhere(table, 0)
        )


def test_codings_have_the_target_and_marks_of_gaps_alone() -> None:
    rows = {
        "y": [1.0, 2.0, 4.0, 3.0],
        "k": ["a", "b", "a", "b"],
        "g": ["u", None, "v", "u"],
        "x": [1.0, None, 2.0, 0.0],
    }
    found = learn_coding(Relation(rows), TableSpec.of(target="y", missing="indicator"))
    assert (found.target, {one.name: one.gaps for one in found.columns}) == ("y", {"k": False, "g": True, "x": True})
    both = learn_coding(Relation({"z": rows["y"], "y": rows["y"], "k": rows["k"]}), TableSpec.of(target=["y", "z"]))
    assert both.target is None


def test_levels_that_are_given_keep_their_blanks() -> None:
    spec = TableSpec.of(target="y", categories={"k": ["a", " a", "b"]})
    found = learn_coding(Relation({"k": ["a", " a", " a", "b"], "y": [1.0, 2.0, 3.0, 5.0]}), spec).columns[0]
    assert (found.levels, found.share) == (("a", " a", "b"), (0.25, 0.5, 0.25))


def test_identifiers_beside_a_column_with_gaps() -> None:
    rows = {"n": [None, *range(40)], "id": [2**60 + 3 * i for i in range(41)], "row": list(range(7, 48))}
    found = coding.find_identifiers(Relation(rows), [*rows])
    assert ([*found.certain], found.doubtful, found.repeated) == (["id"], {"row": "numbers the rows"}, {})


def test_rows_without_a_required_value_are_left_out(table: pa.Table) -> None:
    used = without_missing(table, ["f", "town", "y"])
    frame = table.to_pandas()
    assert len(used) == len(frame.dropna(subset=["f", "town", "y"]))
    assert open_table(table, target="y", features=["w"], missing="drop").count_rows() == frame.y.notna().sum()
