"""The journal: one commit for a group, order, keys, compaction, export; and what its files promise."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from adaline import LMS
from adaline.errors import InvalidParameter, JournalError
from adaline.serve import Journal
from adaline.serve import snapshots as snapshots_module
from adaline.serve.journal import checksum
from adaline.serve.snapshots import SnapshotFolder

MODEL = LMS().fit([[1.0], [2.0]], [1.0, 2.0])


def batch(first: int, count: int) -> Any:
    a = [float(k) for k in range(first, first + count)]
    return pa.record_batch({"a": a, "b": [f"row {k}" for k in range(count)]})


def batches(first: int, count: int, size: int) -> list[tuple[None, Any]]:
    """Return so many batches of a size, as `append` takes them."""
    return [(None, batch(first + size * k, size)) for k in range(count)]


def numbers(journal: Journal, row: int = 0) -> list[float]:
    return [value for one in journal.since(row) for value in one.rows.column("a").to_pylist()]


def test_rows_come_back_in_their_order_and_from_any_row_on(tmp_path: Path) -> None:
    with Journal(tmp_path, writes=True) as journal:
        first = 0
        for sizes in ([1], [3, 1, 2], [600]):
            made = []
            for size in sizes:
                made.append((None, batch(first, size)))
                first += size
            ids = journal.append(made)
            assert ids == sorted(ids)
        journal.append([(f"key {k}", batch(first + k, 1)) for k in range(700)])  # more than are read at once
        assert journal.end == 1307
        assert numbers(journal) == [float(k) for k in range(1307)]
        for row in (1, 2, 3, 300, 607, 1000):
            found = list(journal.since(row))
            assert found[0].first <= row < found[0].end
            assert found[-1].end == 1307
        assert numbers(journal, 1307) == []
        assert journal.known([f"key {k}" for k in range(-5, 700)]).keys() == {f"key {k}" for k in range(700)}
        assert journal._base.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert journal._base.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL: on the disk before it returns
        with Journal(tmp_path) as reader:  # while it is written
            journal.append([(None, batch(1307, 2))])
            assert numbers(reader, 1306) == [1306.0, 1307.0, 1308.0]
    with Journal(tmp_path) as journal:
        assert journal.end == 1309


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """Return the folder of a journal as a killed writer leaves it: 30 rows, a change of the model."""
    with Journal(tmp_path / "writer", writes=True) as journal:
        for one in batches(0, 10, 3):
            journal.append([one])
        journal.append([], versions={"champion": 2})
        shutil.copytree(tmp_path / "writer", tmp_path / "killed")
    return tmp_path / "killed"


def test_what_a_killed_writer_leaves_is_whole(killed: Path) -> None:
    with (killed / "journal.sqlite-wal").open("ab") as log:
        log.write(b"a torn frame of a commit that never returned")
    with Journal(killed) as journal:
        assert numbers(journal) == [float(k) for k in range(30)]
    with Journal(killed, writes=True) as journal:
        journal.append([(None, batch(30, 1))])
        assert (journal.begun("champion"), journal.begun("rival")) == (2, 0)
    with Journal(killed) as journal:
        assert len(numbers(journal)) == 31


@pytest.mark.parametrize("writes", [False, True])
def test_a_bit_that_flips_in_the_log_loses_nothing_without_a_word(killed: Path, writes: bool) -> None:
    log = killed / "journal.sqlite-wal"
    whole, base = log.read_bytes(), (killed / "journal.sqlite").read_bytes()
    for at in range(40, len(whole), len(whole) // 25):
        damaged = whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :]
        log.write_bytes(damaged)
        told = r"damaged, and (\d+ rows|a change of the model).* remove journal\.count"
        with pytest.raises(JournalError, match=told):
            Journal(killed, writes=writes)
        assert (log.read_bytes(), (killed / "journal.sqlite").read_bytes()) == (damaged, base)  # to be restored
    log.write_bytes(whole)
    with Journal(killed, writes=writes) as journal:
        assert len(numbers(journal)) == 30


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM batches WHERE id = 3",
        "UPDATE batches SET rows = 2 WHERE id = 3",
        "UPDATE batches SET payload = (SELECT payload FROM batches WHERE id = 2) WHERE id = 3",
        "UPDATE batches SET crc = 0 WHERE id = 3",
        "DELETE FROM batches WHERE id = 5",
        "UPDATE batches SET chain = 0 WHERE id = 5",
    ],
)
def test_batches_that_were_changed_or_removed_are_found(tmp_path: Path, change: str) -> None:
    with Journal(tmp_path, writes=True) as journal:
        journal.append(batches(0, 5, 3))
        journal._base.execute(change)
    with pytest.raises(JournalError, match=r"damaged|differ from the rows"), Journal(tmp_path) as journal:
        numbers(journal)


def test_the_count_may_be_behind_and_is_checked_itself(killed: Path) -> None:
    count = killed / "journal.count"
    with Journal(killed, writes=True) as journal:
        behind = count.read_bytes()
        journal.append([(None, batch(30, 3))])
    count.write_bytes(behind)  # after a power failure
    with Journal(killed, writes=True) as journal:
        assert len(numbers(journal)) == 33
    for damaged in (behind[:-1] + b"x", b"x" + behind[1:], behind[:-1]):
        count.write_bytes(damaged)
        with pytest.raises(JournalError, match=r"journal\.count is damaged. Remove it"):
            Journal(killed)
    for nothing in (count.unlink, count.touch):
        nothing()
        with Journal(killed, writes=True) as journal:
            assert len(numbers(journal)) == 33
        assert count.stat().st_size > 0
        count.unlink()


def test_a_journal_of_the_version_before_is_chained(tmp_path: Path) -> None:
    with Journal(tmp_path, writes=True) as journal:
        journal.append(batches(0, 5, 3))
        journal._base.execute("ALTER TABLE batches DROP COLUMN chain")
        journal._base.execute("PRAGMA user_version = 3")
    (tmp_path / "journal.count").unlink()
    with Journal(tmp_path) as journal:
        assert (journal.end, numbers(journal, 7)[0]) == (15, 6.0)
        assert journal.export(tmp_path / "rows.csv") == 15
    with Journal(tmp_path, writes=True) as journal:
        journal.append([(None, batch(15, 3))])
        assert len(numbers(journal)) == 18
        journal._base.execute("PRAGMA user_version = 2")
    (tmp_path / "journal.count").unlink()
    with pytest.raises(JournalError, match="no journal of this version"):
        Journal(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="modes of files are of POSIX")
def test_only_the_owner_reads_a_journal(tmp_path: Path) -> None:
    before, folder = os.umask(0o022), tmp_path / "journal"
    try:
        with Journal(folder, writes=True) as journal:
            journal.append([(None, batch(0, 3))])
            SnapshotFolder(folder / "snapshots")
            modes = {path.name: path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())}
        assert (modes.pop("journal"), modes.pop("snapshots")) == (0o700, 0o700)
        assert list(modes.values()) == [0o600] * 5
        (folder / "journal.sqlite").chmod(0o644)  # as older versions left it
        with Journal(folder, writes=True):
            assert (folder / "journal.sqlite").stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


@pytest.mark.skipif(os.name != "posix", reason="links are of POSIX")
@pytest.mark.parametrize("name", ["journal.sqlite", "journal.sqlite-wal", "journal.count", "journal.lock"])
def test_no_file_of_a_journal_is_a_link(tmp_path: Path, name: str) -> None:
    other, folder = tmp_path / "other", tmp_path / "journal"
    other.touch(mode=0o644)
    folder.mkdir()
    (folder / name).symlink_to(other)
    with pytest.raises(JournalError, match="cannot be opened"):
        Journal(folder, writes=True)
    assert (other.stat().st_mode & 0o777, other.stat().st_size) == (0o644, 0)


def test_a_group_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with Journal(tmp_path, writes=True) as journal:
        journal.append([("k", batch(0, 1))])
        with pytest.raises(JournalError, match="UNIQUE"):
            journal.append([(None, batch(1, 1)), ("k", batch(2, 1))])
        assert numbers(journal) == [0.0]
        journal.append([(None, batch(1, 1))])
        assert (journal.end, [one.first for one in journal.since(0)]) == (2, [0, 1])


def test_compacting_keeps_numbers_and_keys(tmp_path: Path) -> None:
    with Journal(tmp_path, writes=True) as journal:
        for k in range(10):
            journal.append([(f"key {k}", batch(10 * k, 10))])
        assert [journal.compact(55), journal.compact(55)] == [50, 0]
        assert (journal.begin, journal.end, numbers(journal, 55)[0]) == (50, 100, 50.0)
        with pytest.raises(JournalError, match="were removed"):
            next(journal.since(49))
        assert journal.compact(100) == 50
        assert journal.known(["key 3"]) == {"key 3": (10, checksum(batch(30, 10)))}
    with Journal(tmp_path, writes=True) as journal:
        assert (journal.begin, journal.end, numbers(journal, 100)) == (100, 100, [])
        journal.append([(None, batch(100, 1))])
        assert numbers(journal, 100) == [100.0]


@pytest.mark.parametrize("stale", [False, True])
def test_a_journal_is_whole_after_each_of_several_compactions(tmp_path: Path, stale: bool) -> None:
    with Journal(tmp_path, writes=True) as journal:
        for first, end, upto in ((0, 30, 30), (30, 80, 60), (80, 100, 100)):
            journal.append(batches(first, (end - first) // 10, 10))
            journal.append([], versions={"champion": end})  # a batch without rows
            kept = journal._base.execute("SELECT * FROM batches WHERE payload IS NULL").fetchall()
            journal.compact(upto)
            if stale:  # earlier versions kept the last batch of each compaction
                journal._base.executemany("INSERT OR IGNORE INTO batches VALUES (?, ?, ?, ?, ?, ?, ?)", kept)
            assert numbers(journal, journal.begin) == [float(k) for k in range(upto, end)]
            assert numbers(journal, end) == []
            if upto < end:
                assert journal.export(tmp_path / "rows.csv") == end - upto
        assert stale or journal._base.execute("SELECT count(*) FROM batches").fetchone() == (1,)


def test_rows_are_exported_whole(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal", writes=True) as journal:
        with pytest.raises(InvalidParameter, match="no rows to export"):
            journal.export(tmp_path / "rows.csv")
        journal.append(batches(0, 600, 2))
        for ending in ("jsonl", "csv", "parquet"):
            assert journal.export(tmp_path / f"rows.{ending}") == 1200
        lines = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
        tables = [
            pa.Table.from_pylist(lines),
            pyarrow.csv.read_csv(tmp_path / "rows.csv").cast(batch(0, 1).schema),
            pyarrow.parquet.read_table(tmp_path / "rows.parquet"),
        ]
        assert all(one.equals(tables[0]) for one in tables)
        assert tables[0].column("a").to_pylist() == [float(k) for k in range(1200)]
        with pytest.raises(InvalidParameter, match="cannot tell"):
            journal.export(tmp_path / "rows.xls")
        journal.append([(None, pa.record_batch({"c": [1]}))])
        with pytest.raises(InvalidParameter, match="different columns"):
            journal.export(tmp_path / "other.csv")
        assert not (tmp_path / "other.csv").exists()


def test_what_is_no_journal_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="there is no journal"):
        Journal(tmp_path)
    (tmp_path / "journal.sqlite").write_text("something else, and long enough to be one page of a database" * 100)
    with pytest.raises(JournalError, match="cannot be used"):
        Journal(tmp_path)


def test_checksums_are_of_values_however_they_lie_in_memory() -> None:
    whole = batch(0, 9)
    assert checksum(whole.slice(2, 3)) == checksum(pa.RecordBatch.from_pylist(whole.slice(2, 3).to_pylist()))
    assert len({checksum(whole.slice(k, n)) for k in range(3) for n in (1, 2)}) == 6


# -- snapshots -------------------------------------------------------------------------------------------------------


def test_snapshots_are_numbered_and_the_last_are_kept(tmp_path: Path) -> None:
    folder = SnapshotFolder(tmp_path, keep=3)
    assert folder.latest_good() is None
    models = [LMS().fit([[1.0], [float(k)]], [1.0, 2.0]) for k in range(5)]
    for k, model in enumerate(models):
        made = folder.write(model, 100 * k)
        assert (made.number, made.rows) == (k + 1, 100 * k)
    (tmp_path / "other.adaline").write_text("not one of them")
    assert [one.rows for one in folder.list()] == [200, 300, 400]
    found = folder.latest_good()
    assert found is not None
    assert (found[0].rows, found[1].coef_) == (400, models[4].coef_)
    found[0].path.write_bytes(found[0].path.read_bytes()[:-1])
    again = folder.latest_good()
    assert again is not None
    assert again[0].rows == 300


def test_names_of_new_folders_are_brought_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Path] = []
    monkeypatch.setattr(snapshots_module, "sync_folder", seen.append)
    folder = SnapshotFolder(tmp_path / "a" / "b")
    assert {tmp_path, tmp_path / "a"} <= set(seen)
    for act in (folder.write, folder.prepare):
        seen.clear()
        act(MODEL, 1)
        assert seen == [tmp_path / "a" / "b"]


def test_what_was_prepared_counts_once_the_journal_has_it(tmp_path: Path) -> None:
    folder = SnapshotFolder(tmp_path)
    folder.write(MODEL, 0)
    made = folder.prepare(MODEL, 5)
    assert [one.number for one in folder.list()] == [1]
    found = folder.latest_good(made.number)  # for one who only reads
    assert found is not None
    assert found[0].number == 2
    folder.settle(made.number)
    assert [one.number for one in folder.list()] == [1, 2]
    folder.prepare(MODEL, 6)
    folder.settle(made.number)  # a crash before the commit
    assert [one.number for one in folder.list()] == [1, 2]
    assert not list(tmp_path.glob("*.prepared"))
    made.path.write_bytes(b"")
    assert folder.latest_good(made.number) is None
