"""A query is one SELECT that reads the files given and nothing else; a database file cannot make it read more."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pytest

from adaline import open_table
from adaline.cli import main
from adaline.errors import AdalineError
from adaline.sources.tables import database
from adaline.sources.tables.relation import Relation

SECRET = "TOPSECRET"
ROWS = "a,b,y\n" + "".join(f"{i},{i % 3},{2 * i}\n" for i in range(12))

STATEMENTS = [
    "COPY (SELECT 42) TO 'written.csv'",
    "COPY (SELECT 42) TO 'written.parquet' (FORMAT parquet)",
    "EXPORT DATABASE 'written'",
    "ATTACH 'written.duckdb' AS w",
    "ATTACH ':memory:' AS w; CREATE TABLE w.t AS SELECT 1",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET threads = 1",
    "SET enable_external_access = true",
    "RESET lock_configuration",
    "PRAGMA database_list",
    "PRAGMA enable_profiling = 'json'",
    "CALL pragma_version()",
    "CREATE TABLE written AS SELECT 1 AS y",
    "CREATE VIEW written AS SELECT 1 AS y",
    "CREATE MACRO written() AS 1",
    "CREATE SECRET written (TYPE s3)",
    "PREPARE written AS SELECT 1",
    "SET VARIABLE written = 1",
    "CHECKPOINT",
    "BEGIN",
    "USE system",
    "EXPLAIN SELECT 1",
    "VACUUM",
    "COMMENT ON SCHEMA main IS 'written'",
]
"""Statements other than SELECT."""

SOURCES = [
    "glob('*')",
    "read_csv('secret.csv')",
    "read_csv('/etc/passwd')",
    "read_csv('secret.csv', columns={'s': 'INTEGER'}, auto_detect=false)",
    "read_csv_auto('secret.csv')",
    "read_json('secret.json')",
    "read_json_objects('secret.json')",
    "read_ndjson('secret.json')",
    "read_parquet('secret.parquet')",
    "parquet_metadata('secret.parquet')",
    "parquet_schema('secret.parquet')",
    "parquet_kv_metadata('secret.parquet')",
    "query('SELECT * FROM read_text(''secret.csv'')')",
    "query_table('secret.csv')",
    "json_execute_serialized_sql(json_serialize_sql('FROM read_text(''secret.csv'')'))",
    "'https://localhost:1/x.parquet'",
    "'s3://localhost/x.parquet'",
    "sqlite_scan('secret.db', 't')",
    "enable_logging(storage='file', storage_path='written')",
    "the_python_variable",
]
READS = [
    "SELECT 1 AS y, content FROM read_text('secret.csv')",
    "SELECT 1 AS y, content FROM read_text('/etc/passwd')",
    "SELECT 1 AS y, content FROM read_blob('secret.csv')",
    "SELECT 1 AS y, Delimiter AS a FROM sniff_csv('secret.csv')",
    "WITH s AS (SELECT * FROM read_text('secret.csv')) SELECT 1 AS y, * FROM s",
    "SELECT 1 AS y, (SELECT max(content) FROM read_text('secret.csv')) AS a",
    "SELECT 1 AS y, 2 AS a WHERE EXISTS (FROM read_text('secret.csv') WHERE content LIKE '%TOP%')",
    "SELECT 1 AS y, getenv('HOME') AS a",
    "SELECT 1 AS y, extension_name AS a FROM duckdb_extensions()",
    *(f"SELECT 1 AS y, * FROM {source}" for source in SOURCES),
]
"""Queries that reach outside: other files, the network, the environment, the settings, objects of Python."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows to learn from, and files that no test gives."""
    out = tmp_path_factory.mktemp("files")
    (out / "rows.csv").write_text(ROWS)
    (out / "secret.csv").write_text(f"s,y\n{SECRET},4\nx\n")
    (out / "secret.json").write_text(json.dumps({"s": SECRET}))
    duckdb.sql(f"SELECT '{SECRET}' AS s").write_parquet(str(out / "secret.parquet"))
    with duckdb.connect(str(out / "people.duckdb")) as database:
        database.execute("CREATE TABLE t AS SELECT range AS a, range % 3 AS b, 2 * range AS y FROM range(12)")
    return out


@pytest.fixture(autouse=True)
def folder(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder with a copy of these files and a folder `own` for a test's, and a home of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "own" / "home"))
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    (tmp_path / "own").mkdir()
    before = sorted(tmp_path.rglob("*"))
    yield tmp_path
    after = sorted(path for path in tmp_path.rglob("*") if tmp_path / "own" not in path.parents)
    assert after == before


def refused(*given: str, **options: str) -> str:
    """Return why a table is refused, in a line that shows nothing of a secret file."""
    with pytest.raises(AdalineError) as caught:
        list(open_table(*given, target="y", **options).blocks())
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None
    return str(caught.value)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_only_one_select_runs(statement: str) -> None:
    for query in (
        f"SELECT 1 AS y, 2 AS x); {statement}; SELECT * FROM (SELECT 1 AS y, 2 AS x",
        f"SELECT 1 AS y, 2 AS x; {statement}",
        f"SELECT 1 AS y, 2 AS x FROM (VALUES (1)) AS v; {statement}; --",
    ):
        assert "rror" in refused(query)
        assert "rror" in refused("people.duckdb", table=query)


@pytest.mark.parametrize("query", READS)
def test_a_query_reads_nothing_that_was_not_given(query: str) -> None:
    the_python_variable = duckdb.sql("SELECT 1 AS x").to_arrow_table()  # noqa: F841
    refused(query)
    refused("people.duckdb", table=query)


NOT_IN_VIEWS = ["python", "y, * FROM query", "getenv", "://", "sqlite_scan"]
"""What DuckDB puts into no view, or not without extensions."""
if duckdb.__version__.startswith("1."):
    NOT_IN_VIEWS.append("enable_logging")  # runs, and has no rows; what it would write is denied later


@pytest.mark.parametrize("query", [read for read in READS if not any(word in read for word in NOT_IN_VIEWS)])
def test_views_and_macros_that_reach_outside_are_refused_by_name(query: str, folder: Path) -> None:
    with duckdb.connect(str(folder / "people.duckdb")) as database:
        database.execute(f"CREATE VIEW tempting AS {query}")
        database.execute(f"CREATE MACRO luring() AS TABLE {query}")
    assert "'tempting'" in refused("people.duckdb", table="tempting")
    assert "'luring'" in refused("people.duckdb", table="SELECT * FROM luring()")


def test_views_on_views_are_refused_and_the_tables_beside_them_read(folder: Path) -> None:
    with duckdb.connect(str(folder / "people.duckdb")) as database:
        database.execute("CREATE VIEW tempting AS SELECT 7 AS y, * FROM read_text('sec' || 'ret.csv')")
        database.execute("CREATE VIEW deeper AS SELECT * FROM tempting")
        database.execute("CREATE VIEW good AS SELECT a, y FROM t WHERE a > 3")
    assert "view 'deeper': 'secret.csv' is not there, or was not given" in refused("people.duckdb", table="deeper")
    assert "'tempting'" in refused("people.duckdb", table="SELECT * FROM t JOIN tempting USING (y)")
    assert "several tables" in refused("people.duckdb")
    assert open_table("people.duckdb", table="t", target="y").n_rows == 12
    assert open_table("people.duckdb", table="good", target="y").n_rows == 8


def test_rows_in_the_log_of_a_database_are_read(folder: Path) -> None:
    with duckdb.connect("people.duckdb") as database:
        database.execute("INSERT INTO t VALUES (12, 0, 24)")
        (folder / "own/copy.duckdb").write_bytes((folder / "people.duckdb").read_bytes())
        (folder / "own/copy.duckdb.wal").write_bytes((folder / "people.duckdb.wal").read_bytes())
    assert open_table("own/copy.duckdb", target="y").n_rows == 13


def test_a_database_is_not_written_by_a_query() -> None:
    refused("people.duckdb", table="WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone")
    assert open_table("people.duckdb", target="y").n_rows == 12


def test_other_databases_are_not_attached_by_a_query(folder: Path) -> None:
    with duckdb.connect(str(folder / "own/other.duckdb")) as database:
        database.execute(f"CREATE TABLE t AS SELECT 1 AS y, '{SECRET}' AS s")
    for query in ("FROM 'own/other.duckdb'", "FROM other.t", "FROM read_duckdb('own/other.duckdb')"):
        refused("people.duckdb", table=query)
    refused("FROM read_duckdb('own/other.duckdb')")


SQLITE = [
    "SELECT 1 AS y, load_extension('x') AS a",
    "WITH s AS (SELECT 1) INSERT INTO t VALUES (1, 2)",
    "WITH s AS (SELECT 1) DELETE FROM t",
    "SELECT 1 AS y; ATTACH 'written.db' AS w",
    "SELECT 1 AS y, 2 AS a FROM t; DROP TABLE t",
    "SELECT 1 AS y, * FROM read_text('secret.csv')",
    "SELECT 1 AS y, readfile('secret.csv') AS a",
    "SELECT 1 AS y, * FROM pragma_database_list",
]


@pytest.mark.parametrize("query", SQLITE)
def test_sqlite_files_are_read_by_one_select(query: str) -> None:
    with contextlib.closing(sqlite3.connect("own/t.db")) as database, database:
        database.execute("CREATE TABLE t (a, y)")
        database.executemany("INSERT INTO t VALUES (?, ?)", [(i, i) for i in range(9)])
    refused("own/t.db", table=query)
    for table in ("t", "WITH s AS (SELECT * FROM t) SELECT a, y FROM s"):
        assert open_table("own/t.db", table=table, target="y").n_rows == 9


@pytest.mark.parametrize("words", [["fit"], ["compare"]])
def test_the_command_line_is_confined_too(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for query in ("SELECT 1 AS y, 2 AS x); COPY (SELECT 42) TO 'written'; SELECT * FROM (SELECT 1", READS[0]):
        assert main([*words, query, "-t", "y"]) == 2
        assert SECRET not in "".join(capsys.readouterr())


NAMES = ["o'brien", "100%", "%41", "a[1]", "st*r", "q?", "sp ace", "ünï", 'dq"', "{x}", "semi;colon", "back\\slash"]
NAMES += ["-- dashes", "file:x", "a#b"]


@pytest.mark.parametrize("name", NAMES)
def test_files_of_any_name_are_read(name: str, folder: Path) -> None:
    path = folder / "own" / f"{name}.csv"
    path.write_text(ROWS)
    literal = "'" + str(path).replace("'", "''") + "'"
    for given in (path, os.path.relpath(path), [path], f"SELECT * FROM {literal}"):
        np.testing.assert_array_equal(open_table(given, target="y").target_values(), np.arange(0.0, 24, 2))


def test_links_homes_globs_and_folders_are_read(folder: Path) -> None:
    home = folder / "own" / "home"
    (home / "k=1").mkdir(parents=True)
    (home / "k=1" / "part.csv").write_text(ROWS)
    (folder / "own" / "link.csv").symlink_to("home/k=1/part.csv")
    globs = (
        "own/link.csv",
        "~/k=1/part.csv",
        "own/home/*/*.csv",
        "own/home/**/part.csv",
        "./own/../own/home/k=1/part.csv",
    )
    for given in (*globs, "own/home", "~"):
        assert open_table(given, target="y").n_rows == 12
        if given in globs:
            assert open_table(f"SELECT a, b, y FROM '{given}'", target="y").n_rows == 12


@pytest.mark.parametrize(
    "query",
    [
        "VALUES (1, 2), (3, 4), (5, 7)",
        "SELECT * EXCLUDE (b) RENAME (y AS col1) FROM 'rows.csv'",
        "SELECT r.a, s.y AS col1 FROM 'rows.csv' AS r JOIN \"rows.csv\" AS s USING (a)",
        "SELECT rows.a, rows.y AS col1 FROM 'rows.csv'",
        "FROM 'rows.csv' SELECT a, (SELECT max(y) FROM 'rows.csv') + a AS col1",
        "SELECT range AS a, 2 * range AS col1 FROM range(5)",
        "SELECT unnest([1, 2, 3]) AS a, a AS col1;",
        "WITH r AS (SELECT * FROM 'rows.csv' UNION ALL FROM 'rows.csv') SELECT a, y AS col1 FROM r WHERE a > 0",
        "SELECT a, y AS col1 FROM rows.csv",
        "SELECT ';' AS b, a, y AS col1 FROM 'rows.csv'; -- all; of it\n ;; /* ; */",
        "PIVOT 'rows.csv' ON b IN (0, 1 AS col1) USING count(y) GROUP BY a",
        "UNPIVOT (SELECT a, b, y FROM rows.csv) ON a, b INTO NAME k VALUE col1",
    ],
)
def test_every_kind_of_select_is_read(query: str) -> None:
    assert open_table(query, target="col1").n_rows >= 3


def test_a_query_that_is_no_select_for_duckdb_says_what_to_write() -> None:
    for query in ("PIVOT 'rows.csv' ON b USING sum(y)", "FROM (PIVOT 'rows.csv' ON b USING sum(y) GROUP BY a)"):
        assert "ON column IN ('a', 'b')" in refused(query)
    assert "one SELECT statement, not SELECT and SELECT" in refused("SELECT 1 AS y; SELECT 2")
    assert "FROM 'rows.csv'" in refused("SELECT * FROM rows")
    assert "was not given" in refused("PIVOT (FROM read_text('secret.csv')) ON content IN ('s') USING count(*)")


def test_large_sorts_are_written_to_a_private_folder_that_is_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = folder / "own"
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    monkeypatch.setitem(database.SETTINGS, "memory_limit", "60MB")
    relation = Relation("SELECT range AS a, hash(range) AS y FROM range(3000000) ORDER BY y")
    seen = max(len(list(scratch.rglob("*/*"))) for _ in relation.runs(["a", "y"], "TRUE", 2**16))
    assert seen > 0
    [private] = scratch.iterdir()
    assert os.name == "nt" or private.stat().st_mode & 0o777 == 0o700
    del relation
    gc.collect()
    assert not list(scratch.iterdir())
