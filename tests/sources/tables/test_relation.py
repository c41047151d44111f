"""One table in many forms: the same coefficients and rows, wherever it lies."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from adaline import LeastSquaresClassifier, LinearRegression, open_table
from adaline.errors import InvalidData, InvalidParameter
from adaline.sources import engine
from adaline.sources.tables import batches, parts
from adaline.sources.tables.altered import without_values
from adaline.sources.tables.batches import plain_types
from adaline.sources.tables.coding import find_constants
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.spec import shown_columns

N = 3000
RNG = np.random.default_rng(5)
X = np.column_stack([RNG.normal(size=N), RNG.integers(-50, 50, N), 1e6 + RNG.normal(size=N), RNG.random(N) < 0.3])
T = X @ [1.5, -0.25, 3.0, 2.0] + RNG.normal(size=N)
GAPS = RNG.random(N) < 0.2
COLUMNS = {"a": X[:, 0], "n": X[:, 1].astype(int), "large": X[:, 2], "flag": X[:, 3].astype(bool), "y": T}
FULL = pa.table(COLUMNS)
"""Rows without gaps, and those of which a fifth has NaN or nothing in a."""
GAPPED = FULL.set_column(0, "a", pa.array(np.where(GAPS, np.nan, X[:, 0]), mask=GAPS & (X[:, 1] > 0)))


def text(separator: str, suffix: str, compression: str | None = None) -> Callable[[pa.Table, Path], Any]:
    def write(table: pa.Table, folder: Path) -> Path:
        table.to_pandas().to_csv(folder / f"t{suffix}", sep=separator, index=False, compression=compression)
        return folder / f"t{suffix}"

    return write


def in_parquet(table: pa.Table, folder: Path, name: str = "t") -> Path:
    parquet.write_table(table, folder / f"{name}.parquet", row_group_size=300)
    return folder / f"{name}.parquet"


def in_parts(table: pa.Table, folder: Path) -> list[Path]:
    return [in_parquet(table.slice(1000 * i, 1000), folder, str(i)) for i in range(3)]


def in_json(table: pa.Table, folder: Path) -> Path:
    (folder / "t.jsonl").write_text("\n".join(map(json.dumps, table.to_pylist())).replace("NaN", "null"))
    return folder / "t.jsonl"


def in_sqlite(table: pa.Table, folder: Path) -> Path:
    with contextlib.closing(sqlite3.connect(folder / "t.sqlite")) as database:
        table.to_pandas().to_sql("t", database, index=False)
    return folder / "t.sqlite"


def in_duckdb(table: pa.Table, folder: Path) -> Path:
    with duckdb.connect(str(folder / "t.duckdb")) as database:
        database.register("given", table)
        database.execute("CREATE TABLE t AS FROM given")
    return folder / "t.duckdb"


FORMS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "csv": text(",", ".csv"),
    "tsv": text("\t", ".tsv"),
    "semicolons": text(";", ".csv"),
    "csv.gz": text(",", ".csv.gz", "gzip"),
    "parquet": in_parquet,
    "parquet in parts": in_parts,
    "json lines": in_json,
    "sqlite": in_sqlite,
    "duckdb": in_duckdb,
    "query of csv": lambda table, folder: f"SELECT * FROM '{text(',', '.csv')(table, folder)}'",
    "query of parquet": lambda table, folder: f"FROM '{in_parquet(table, folder)}'",
    "pandas": lambda table, folder: table.to_pandas(),
    "polars": lambda table, folder: pl.from_arrow(table),
    "arrow": lambda table, folder: table,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("missing", ["error", "drop", "mean"])
def test_the_same_coefficients_from_every_form(form: str, missing: str, tmp_path: Path) -> None:
    gaps = np.zeros(N, dtype=bool) if missing == "error" else GAPS
    x, t = X.copy(), T
    x[gaps, 0] = x[~gaps, 0].mean()
    if missing == "drop":
        x, t = x[~gaps], T[~gaps]
    table = open_table(FORMS[form](FULL if missing == "error" else GAPPED, tmp_path), target="y", missing=missing)
    right, model = LinearRegression().fit(x, t), LinearRegression().fit(table)
    assert table.n_rows == len(t)
    assert model.feature_names_in_.tolist() == ["a", "n", "large", "flag"]
    np.testing.assert_allclose(model.coef_, right.coef_, rtol=1e-11)
    np.testing.assert_allclose(model.intercept_, right.intercept_, rtol=1e-11)


def test_declared_levels_of_frames_keep_their_order() -> None:
    levels = ["low", "middle", "high", "never"]
    values = [levels[i % 3] for i in range(30)]
    frame = pd.DataFrame(
        {"c": pd.Categorical(values, levels), "k": pd.Categorical([i % 2 for i in range(30)]), "y": 1.0}
    )
    table = open_table(frame, target="y")
    assert table.names == ("c[T.middle]", "c[T.high]", "k[T.1]")


def test_sqlite_values_do_not_depend_on_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adaline.sources.tables.sqlite.ROWS", 2)
    with contextlib.closing(sqlite3.connect(tmp_path / "t.sqlite")) as database, database:
        database.execute("CREATE TABLE t (c, y REAL)")
        database.executemany("INSERT INTO t VALUES (?, ?)", zip([1, 2.5, 1, "a", 1, "a", 2.5], range(7), strict=True))
    assert open_table(tmp_path / "t.sqlite", target="y", categories=["c"]).coding.columns[0].levels == ("1", "2.5", "a")


def test_a_dictionary_of_columns_is_a_table() -> None:
    columns = {"x": [1.0, 2.0, 4.0], "kind": ["a", "b", "a"], "y": [1.0, 3.0, 7.0]}
    assert open_table(columns, target="y").names == ("x", "kind[T.b]")
    with pytest.raises(InvalidData, match="give each name a list of one length"):
        open_table({"x": [1.0, 2.0], "y": [1.0]}, target="y")


def test_a_duckdb_that_is_too_old_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb, "__version__", "1.4.5")
    with pytest.raises(InvalidParameter, match=r"duckdb 1\.5 or newer, not 1\.4\.5: pip install"):
        open_table("penguins")


NUMBERS = ["2 * range::HUGEINT", "range::UHUGEINT", "range::BIGNUM", "range::DECIMAL(38, 2)", "range::DECIMAL(9, 3)"]
TEXTS = [
    "format('0000000{}-0000-0000-0000-000000000000', range % 3)::UUID",
    "format('{}', 'abc'[range % 3 + 1])::ENUM('a', 'b', 'c')",
]
OTHERS = [
    "to_days((range % 3)::INT)",
    "make_time(range % 3, 0, 0)",
    "format('10:00:0{}+01', range % 3)::TIMETZ",
    "encode(format('{}', range % 3))",
    "[range % 3]",
    "[format('{}', 'abc'[range % 3 + 1])::ENUM('a', 'b', 'c')]",
    "[(range % 3)::DECIMAL(4, 1), 1]",
    "[range % 3, 1]::INT[2]",
    "{'a': range % 3}",
    "MAP {'a': range % 3}",
    "(range % 3)::TINYINT::BIT",
    "format('[{}]', range % 3)::JSON",
    "union_value(n := range % 3)",
]


@pytest.mark.parametrize("kind", [*NUMBERS, *TEXTS, *OTHERS])
def test_a_column_of_any_type_is_used_or_refused_by_name(kind: str) -> None:
    """Numbers are numbers, texts are categories and labels; others are refused, or coded where `categories` says so."""
    query = f"SELECT {kind} AS v, range AS x, range % 5 + 0.5 AS y FROM range(30)"
    if kind in NUMBERS:
        assert open_table(query, target="y").learn_coding().names == ("v", "x")
        assert open_table(query, target="v", features=["x"]).keep().n_rows == 30
        return
    coded = open_table(query, target="y", categories=["v"]).keep()
    assert coded.coding.columns[0].share == pytest.approx([1 / 3] * 3)
    assert coded.map(lambda block: np.asarray(block.x))[:, :2].sum(axis=0).tolist() == [10.0, 10.0]
    if kind in TEXTS:
        assert open_table(query, target="y").keep().shape.features == 3
        assert len(LeastSquaresClassifier().fit(open_table(query, target="v", features=["x"])).classes_) == 3
        return
    with pytest.raises(InvalidData, match=r"column 'v' of type .*[Ll]eave it out"):
        open_table(query, target="y").keep()
    with pytest.raises(InvalidData, match=r"'v' holds .*neither numbers nor texts.*CAST"):
        LeastSquaresClassifier().fit(open_table(query, target="v", features=["x"]))


def test_times_with_a_zone_are_no_categories() -> None:
    query = "SELECT TIMESTAMPTZ '2020-01-01' + to_days((range % 3)::INT) AS v, range AS y FROM range(30)"
    for options in ({"target": "y", "categories": "v"}, {"formula": "y ~ C(v)"}):
        with pytest.raises(InvalidData, match=r"column 'v' .*dates="):
            open_table(query, **options).keep()


NUMBER_TYPES = (
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    *(pa.float32(), pa.float64()),
)
PLAIN_TYPES = {
    **{str(kind): pa.array([1, 2, None], kind) for kind in NUMBER_TYPES},
    "bool": pa.array([True, None, False]),
    "string": pa.array(["a", "b", None]),
    "large_string": pa.array(["a", "b", None], pa.large_string()),
    "dictionary": pa.array(["a", "b", None]).dictionary_encode(),
}
OTHER_TYPES = {
    "half": pa.array(np.array([1.0, 2.0], dtype=np.float16)),
    "decimal": pa.array([Decimal("1.2")]),
    "date": pa.array([datetime(2020, 1, 1).date()]),
    "timestamp": pa.array([datetime(2020, 1, 1)]),
    "time": pa.array([datetime(2020, 1, 1, 2).time()]),
    "list": pa.array([[1]]),
    "struct": pa.array([{"a": 1}]),
    "binary": pa.array([b"x"]),
    "null": pa.nulls(1),
}


def test_plain_columns_of_parquet_have_the_types_that_duckdb_gives_them(tmp_path: Path) -> None:
    def described(path: str) -> list[tuple[str, str]]:
        return [(name, kind) for name, kind, *_ in duckdb.sql(f"DESCRIBE FROM read_parquet('{path}')").fetchall()]

    path = str(tmp_path / "plain.parquet")
    parquet.write_table(pa.table(PLAIN_TYPES), path)
    plain = plain_types(path)
    assert plain is not None
    assert list(plain.items()) == described(path) == list(Relation(path).schema.items())
    assert "connection" not in vars(Relation(path))  # no query was needed
    for name, column in OTHER_TYPES.items():
        path = str(tmp_path / f"{name}.parquet")
        parquet.write_table(pa.table({name: column, "x": pa.array([1.0] * len(column))}), path)
        assert plain_types(path) is None, name
        assert list(Relation(path).schema.items()) == described(path)


def test_memory_that_nothing_tells_is_a_gibibyte(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr(batches, "open", refuse, raising=False)
    monkeypatch.setattr(batches.Path, "read_text", refuse)
    assert batches.free_memory() == 2.0**30


def test_arrays_of_more_numbers_than_one_process_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    part: Any = SimpleNamespace(map=lambda function: function(10), leaf=SimpleNamespace(n_rows=10))
    monkeypatch.setattr(engine, "SENT", 200)
    assert parts._map(lambda n: np.ones((n, 2)), 100, part).shape == (10, 2)
    with pytest.raises(InvalidData, match="101 rows in one process"):
        parts._map(lambda n: np.ones((n, 2)), 101, part)


@pytest.mark.parametrize(("free", "held"), [(64_000, True), (62_000, False)])
def test_row_groups_are_held_where_their_numbers_have_room(
    free: float, held: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "free_memory", lambda: free / batches.SHARE)
    path = str(tmp_path / "t.parquet")
    parquet.write_table(pa.table({name: np.ones(2000) for name in "abcd"}), path, row_group_size=500)
    decoded, groups = batches.DecodedGroups(), batches.row_groups([path])
    for rooms in (0.0, free if held else 0.0):
        assert decoded.begin(groups, [*"abcd"], ()).func.__self__.room == rooms  # type: ignore[attr-defined]


def test_the_columns_in_a_message_are_cut_once() -> None:
    for count, width in ((30, 2), (30, 30), (1, 300), (3, 2)):
        names = [f"c{i}".ljust(width, "x") for i in range(count)]
        shown = shown_columns(Relation({name: [1.0] for name in names}))
        assert shown.count("...") == (count > 3) + (width == 300)
        assert all(part in names or part.startswith("...") or width == 300 for part in shown.split(", "))
        assert (f"({count} in all)" in shown) == (count > 3)


def test_many_unwanted_values_are_no_text_of_a_query() -> None:
    found = Relation({"k": [f"k{i}" for i in range(5000)], "x": list(range(5000))})
    kept = without_values(found, {"k": [f"k{i}" for i in range(4990)], "x": [4991.0]})
    assert [k for (k,) in kept.rows(f"SELECT k FROM {kept.sql}")] == [f"k{i}" for i in (4990, *range(4992, 5000))]
    assert len(kept.sql) < 500


def test_constant_columns_are_those_of_all_rows() -> None:
    n = 200
    columns = {"late": [1.0] * (n - 1) + [2.0], "same": [3.0] * n, "text": ["a"] * n, "gap": ["b"] * (n - 1) + [None]}
    assert find_constants(Relation({**columns, "x": list(range(n))}), [*columns, "x"]) == ["same", "text"]
    assert find_constants(Relation({"same": [1.0], "gap": [None]}), ["same", "gap"]) == ["same"]
