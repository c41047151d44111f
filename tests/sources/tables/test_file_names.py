"""Files that cannot be read, by name, kind, rights or time, end in a line that says what to do."""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from adaline import LinearRegression, open_table
from adaline.cli import main
from adaline.errors import AdalineError, UnreadableTable
from adaline.sources.tables.source import TableSource

ROWS = "a,y\n" + "".join(f"{i},{2 * i}\n" for i in range(50))
TABLE = pa.table({"a": np.arange(50.0), "y": 2 * np.arange(50.0)})

WRITERS: dict[str, Callable[[Path], Any]] = {
    ".csv": lambda path: path.write_text(ROWS),
    ".csv.gz": lambda path: path.write_bytes(gzip.compress(ROWS.encode())),
    ".jsonl": lambda path: path.write_text("".join(f'{{"a": {i}, "y": {2 * i}}}\n' for i in range(50))),
    ".parquet": lambda path: parquet.write_table(TABLE, path),
}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="names, pipes and rights as in POSIX")


def refused(given: Any, **options: Any) -> str:
    with pytest.raises(UnreadableTable) as caught:
        open_table(given, **options)
    message = str(caught.value)
    message.encode()  # can be printed
    assert message.isprintable()
    assert ": " in message  # what is wrong, and what to do
    return message


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_name_that_is_not_utf8(suffix: str, tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9" + suffix.encode()))
    WRITERS[suffix](tmp_path / "written")
    (tmp_path / "written").rename(path)
    literal = f"SELECT * FROM '{path}'"
    for given in (path, str(path), [path], str(path.parent / f"*{suffix}"), literal, f"SELECT * FROM '{tmp_path}/*'"):
        assert "rename the file" in refused(given)
    if suffix in (".csv", ".parquet"):
        assert "rename the file" in refused(tmp_path)


def test_a_path_of_bytes(tmp_path: Path) -> None:
    class Named:
        def __fspath__(self) -> bytes:
            return os.fsencode(tmp_path / "rows.csv")

    WRITERS[".csv"](tmp_path / "rows.csv")
    assert open_table(Named(), target="y").n_rows == 50


@pytest.mark.parametrize("name", ["a\0b.csv", "a\0/*.csv", "\0", "FROM 'a\0b.csv'"])
def test_a_name_with_a_nul(name: str, tmp_path: Path) -> None:
    for given in (name, [name], f"{tmp_path}/{name}"):
        assert "NUL byte" in refused(given)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl", ".parquet", ".duckdb", ".sqlite"])
def test_a_pipe_is_refused_without_waiting(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{suffix}"
    os.mkfifo(path)
    for given in (path, [path], tmp_path, str(tmp_path / "*"), f"SELECT * FROM '{path}'"):
        refused(given)
    assert "copy what it holds into a file" in refused(path)
    assert main(["fit", str(path), "-t", "y"]) == 2


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_a_device_is_refused_and_left_out_of_globs(device: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").symlink_to(device)
    for given in (device, tmp_path / "a.csv"):
        assert "copy what it holds into a file" in refused(given)
        refused(f"SELECT * FROM '{given}'")
    WRITERS[".csv"](tmp_path / "rows.csv")
    for given in (tmp_path / "*.csv", tmp_path):
        assert open_table(given, target="y").n_rows == 50


def test_folders_without_tables(tmp_path: Path) -> None:
    (tmp_path / "inner" / "deep.csv").mkdir(parents=True)
    assert "name them by a glob" in refused(tmp_path)
    (tmp_path / "notes.txt").write_text(ROWS)
    (tmp_path / "away.csv").symlink_to("nowhere.csv")
    assert "name them by a glob" in refused(tmp_path)
    refused(tmp_path / "away.csv")
    refused(f"SELECT * FROM '{tmp_path}'")


def test_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "round.csv").symlink_to("round.csv")
    refused(tmp_path / "round.csv")
    (tmp_path / "circle").symlink_to(".")
    WRITERS[".csv"](tmp_path / "rows.csv")
    assert open_table(tmp_path / "rows.csv", target="y").n_rows == 50


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without the rights of root, who may read everything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("suffix", WRITERS)
def test_what_may_not_be_read(suffix: str, tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents):  # which others may enter
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    closed = tmp_path / "closed"
    closed.mkdir()
    for path in (tmp_path / f"rows{suffix}", closed / f"rows{suffix}"):
        WRITERS[suffix](path)
    (tmp_path / f"rows{suffix}").chmod(0)
    closed.chmod(0)
    with as_nobody():
        for given in (tmp_path / f"rows{suffix}", f"SELECT * FROM '{tmp_path}/rows{suffix}'"):
            assert "Permission denied: ask for the right to read it" in refused(given)
        assert "ask for the right to read it" in refused(closed)
        refused(closed / f"rows{suffix}")
        refused(f"{closed}/*{suffix}")
    closed.chmod(0o700)


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("form", ["file", "query"])
def test_a_file_that_goes_away_or_changes(suffix: str, form: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{suffix}"

    def opened() -> Any:
        WRITERS[suffix](path)
        return open_table(path if form == "file" else f"SELECT * FROM '{path}'")  # rows to predict are not held

    model = LinearRegression().fit(open_table(TABLE, target="y"))
    assert model.predict(opened()).shape == (50,)
    for change, said in (
        (path.unlink, "is not there any more: open it again"),
        (lambda: path.write_bytes(b""), "has changed since it was opened: open it again"),
        (lambda: os.utime(path, (1, 1)), "has changed since it was opened: open it again"),
        (lambda: (path.unlink(), path.mkdir()), "has changed|rows"),
    ):
        rows = opened()
        change()
        with pytest.raises(UnreadableTable, match=said):
            model.predict(rows)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("form", ["file", "query"])
def test_a_file_that_grows_while_it_is_read(suffix: str, form: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{suffix}"
    WRITERS[suffix](path)
    rows = open_table(path if form == "file" else f"SELECT * FROM '{path}'", target="y")
    blocks = rows.relation.runs(["a", "y"], "TRUE", 16)
    next(blocks)
    stamp = rows.relation.stamp
    with path.open("ab") as file:
        file.write(path.read_bytes())
    list(blocks)
    assert rows.relation.stamps() != stamp
    rows = TableSource(rows.rows, rows.spec, rows.learned())  # as if the table were too large to be held
    with pytest.raises(UnreadableTable, match="has changed since it was opened: open it again"):
        LinearRegression().fit(rows)


@pytest.mark.parametrize("suffix", [*WRITERS, ".tsv", ".json", ".duckdb", ".sqlite"])
def test_an_empty_file(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{suffix}"
    path.touch()
    assert "is empty: " in refused(path)
    with pytest.raises(AdalineError):
        open_table(f"SELECT * FROM '{path}'", target="y")
