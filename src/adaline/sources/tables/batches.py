"""Runs of rows: the Arrow batches of a table in order, each run read by one thread.

Parquet files are decoded by Arrow from a memory map, one row group a run; where there are few of them and they are
large, one batch a run, so that threads share what is done with it. 60 million rows of 20 columns take 2.7 s on
two cores, where DuckDB's own sum of the columns takes 3.7 s, and its stream of batches 5.0 s. Rows with gaps are left
out of each row group separately, so that a part of a file has the same runs wherever it is read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from itertools import chain
from math import inf
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from adaline.errors import UnreadableTable
from adaline.lazy import pa
from adaline.sources.tables.failures import Reporting
from adaline.sources.threads import run_tasks

PIECE = 2**16  # rows that are decoded at a time of a large row group
ROW_GROUP_BYTES = 2**25  # size of a row group above which it is decoded in pieces
# size of a dictionary above which texts are read one by one, as writers may store further texts outside it
DICTIONARY_BYTES = 3 * 2**17
FEW_GROUPS = 4  # row groups up to which each block is a run of its own, since whole groups would leave threads idle

SHARE = 0.25  # share of the free memory that decoded row groups are held in

PLAIN = {
    **{("BOOLEAN", "NONE"): "BOOLEAN", ("BYTE_ARRAY", "UTF8"): "VARCHAR"},
    **{("FLOAT", "NONE"): "FLOAT", ("DOUBLE", "NONE"): "DOUBLE"},
    **{("INT32", "NONE"): "INTEGER", ("INT32", "INT_32"): "INTEGER", ("INT32", "UINT_32"): "UINTEGER"},
    **{("INT64", "NONE"): "BIGINT", ("INT64", "INT_64"): "BIGINT", ("INT64", "UINT_64"): "UBIGINT"},
    **{("INT32", "INT_16"): "SMALLINT", ("INT32", "UINT_16"): "USMALLINT"},
    **{("INT32", "INT_8"): "TINYINT", ("INT32", "UINT_8"): "UTINYINT"},
}
"""DuckDB's names of the plain types of Parquet columns, by their physical and converted types."""

Run = Callable[[], Iterator[Any]]
Runs = Iterator[tuple[int, Run]]
Read = Callable[["RowGroup", int], Iterator[Any]]
"""From a row group and the rows of a piece to its batches."""


def rechunked(batches: Iterator[Any], size: int) -> Iterator[Any]:
    """Cut and join batches to `size` rows each, so that results do not depend on how DuckDB cuts them."""
    waiting: list[Any] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        while rows >= size:
            joined = pa.concat_tables(map(batch_table, waiting))
            yield joined.slice(0, size)
            waiting = [joined.slice(size)]
            rows -= size
    if rows:
        yield pa.concat_tables(map(batch_table, waiting))


def batch_table(batch: Any) -> Any:
    """Return a batch as an Arrow table."""
    return pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch


class Cutting(NamedTuple):
    """How a stretch of a table, a row group or a file of text, is cut into runs and these into blocks.

    A block has `size` rows where the stretch is large, or is text, else all of them; with `apart` each is its own run.
    """

    size: int
    columns: int
    apart: bool = False
    text: bool = False

    def step(self, rows: int) -> int:
        """Return the number of rows of a block in a stretch of so many rows."""
        return self.size if self.text or 8 * rows * self.columns > ROW_GROUP_BYTES else max(rows, 1)

    def runs(self, rows: int) -> int:
        """Return the number of runs in a stretch of so many rows."""
        return -(-rows // self.step(rows)) if self.apart else 1


class RowGroup(NamedTuple):
    """A row group of a Parquet file of this size and time of change, and the number of its rows that are used."""

    name: str
    stamp: tuple[int, int]
    group: int
    rows: int


def row_groups(files: Sequence[str]) -> list[RowGroup]:
    """Return the row groups of Parquet files that have rows, from their metadata."""
    out = []
    for name in files:
        with Reporting(name):
            stamp = file_stamp(name)
            meta = _metadata(name, stamp)
        rows = [meta.row_group(group).num_rows for group in range(meta.num_row_groups)]
        out += [RowGroup(name, stamp, group, n) for group, n in enumerate(rows) if n]
    return out


def file_stamp(name: str) -> tuple[int, int]:
    """Return the size of a file and the time of its last change, in nanoseconds."""
    found = os.stat(name)
    return found.st_size, found.st_mtime_ns


def check_stamp(name: str, stamp: tuple[int, int]) -> None:
    """Refuse a file that is not as it was."""
    if file_stamp(name) != stamp:
        raise UnreadableTable(f"{name} has changed since it was opened: open it again")


@lru_cache(maxsize=256)
def _metadata(name: str, stamp: tuple[int, int]) -> Any:
    """Return the metadata of a Parquet file; long to parse where row groups are many."""
    return pa.parquet.read_metadata(name)


def plain_types(name: str) -> dict[str, str] | None:
    """Return what DuckDB calls the types of the columns of a Parquet file; None where not all are plain, or none is."""
    meta = _metadata(name, file_stamp(name))
    columns = [meta.schema.column(i) for i in range(len(meta.schema))]
    types = {one.name: _plain_name(one) for one in columns}
    plain = {name: kind for name, kind in types.items() if kind}
    return plain if 0 < len(plain) == len(types) else None


def _plain_name(column: Any) -> str | None:
    """Return DuckDB's name of the type of a Parquet column; None where it is not plain."""
    flat = column.path == column.name and not column.max_repetition_level
    told = column.logical_type.type in ("NONE", "INT", "STRING")  # others, as of times, may have no converted type
    return PLAIN.get((column.physical_type, column.converted_type)) if flat and told else None


def without_gaps(groups: Sequence[RowGroup], required: Sequence[str]) -> list[RowGroup]:
    """Return the row groups that have rows with a value in all required columns, with the number of these."""
    rows = [0] * len(groups)

    def count(i: int, one: RowGroup) -> None:
        rows[i] = sum(batch.num_rows for batch in read_row_group(one, PIECE, required, required))

    run_tasks(groups, count)
    return [one._replace(rows=used) for one, used in zip(groups, rows, strict=True) if used]


def cutting_of(groups: Sequence[RowGroup], columns: Sequence[str], size: int) -> Cutting:
    """Return how row groups are cut: each block of a few groups is a run, so that threads share them."""
    return Cutting(size, len(columns), len(groups) <= FEW_GROUPS)


class DecodedGroups:
    """Row groups of a table that were decoded: held from the second pass over the same columns on, where they fit."""

    def __init__(self) -> None:
        self._of: Any = None
        self._passes = 0
        self._held = HeldGroups(0.0)

    def begin(
        self, groups: Sequence[RowGroup], columns: Sequence[str], required: Sequence[str], indexed: Sequence[str] = ()
    ) -> Read:
        """Begin a pass: return what reads a row group, from memory or from its file."""
        of = tuple(columns), tuple(required), tuple(indexed)
        if of != self._of:
            self._of, self._passes, self._held = of, 0, HeldGroups(0.0)
        self._passes += 1
        if self._passes == 2:
            room = SHARE * free_memory()
            if 8 * sum(one.rows for one in groups) * len(columns) <= room:  # texts are longer: see `HeldGroups.read`
                self._held = HeldGroups(room)
        return partial(self._held.read, columns, required, indexed)


class HeldGroups:
    """Decoded row groups, held until they take `room` bytes."""

    def __init__(self, room: float) -> None:
        self.room, self.tables, self._lock = room, dict[RowGroup, Any](), Lock()

    def read(
        self, columns: Sequence[str], required: Sequence[str], indexed: Sequence[str], one: RowGroup, size: int
    ) -> Iterator[Any]:
        """Return the batches of a row group, from memory or from its file; hold it if there is room."""
        if one in self.tables:
            check_stamp(one.name, one.stamp)
            return iter([self.tables[one]])
        batches, taken = read_row_group(one, size, columns, required, indexed), list[Any]()
        if self.room <= 0:
            return batches
        for batch in batches:
            taken.append(batch)
            with self._lock:
                self.room -= batch.nbytes
            if self.room < 0:  # for good: no other is held
                return chain(taken, batches)
        self.tables[one] = joined_batches(iter(taken))
        return iter([self.tables[one]])


def joined_batches(batches: Iterator[Any]) -> Any:
    """Return batches as one Arrow table, each column in one piece."""
    return pa.concat_tables(map(batch_table, batches)).combine_chunks()


def free_memory() -> float:
    """Return the bytes of memory that are free, for this machine and for the group of processes that this is in."""
    out = inf
    with suppress(OSError, ValueError), open("/proc/meminfo", encoding="ascii") as file:
        out = 1024.0 * next(int(line.split()[1]) for line in file if line.startswith("MemAvailable:"))
    with suppress(OSError, ValueError):  # "max" where there is no limit
        of_group = [int(Path(f"/sys/fs/cgroup/memory.{what}").read_text("ascii")) for what in ("max", "current")]
        out = min(out, of_group[0] - of_group[1])
    return out if out < inf else 2.0**30


def runs_of(groups: Sequence[RowGroup], columns: Sequence[str], read: Read, size: int) -> Runs:
    """Return the rows of row groups in order, as `read` reads them."""
    cutting = cutting_of(groups, columns, size)
    for one in groups:
        run = partial(_run, read, one, size, cutting.step(one.rows))
        if cutting.runs(one.rows) > 1:
            for batch in run():
                yield batch.num_rows, partial(iter, [batch])
        else:
            yield one.rows, run


def _run(read: Read, one: RowGroup, size: int, step: int) -> Iterator[Any]:
    """Return the blocks of a row group, of `step` rows each."""
    return rechunked(read(one, size), step)


def read_row_group(
    one: RowGroup, size: int, columns: Sequence[str], required: Sequence[str] = (), indexed: Sequence[str] = ()
) -> Iterator[Any]:
    """Decode one row group, in pieces of `size` rows where it is large; the file is mapped only meanwhile.

    Columns that are `indexed` are read as they are: texts as indices into a dictionary, where they lie so in the file
    and it is short.
    """
    names = list(dict.fromkeys([*columns, *required]))
    with Reporting(one.name):
        check_stamp(one.name, one.stamp)
        meta = _metadata(one.name, one.stamp)
        with pa.memory_map(one.name) as mapped:
            texts = [name for name in indexed if _repeats_texts(meta, one.group, name)]
            file = pa.parquet.ParquetFile(mapped, metadata=meta, pre_buffer=False, read_dictionary=texts)
            if 8 * meta.row_group(one.group).num_rows * len(names) > ROW_GROUP_BYTES:
                batches = file.iter_batches(size, row_groups=[one.group], columns=names, use_threads=False)
            else:
                batches = iter([file.read_row_group(one.group, columns=names, use_threads=False)])
            for batch in batches:
                yield plain_batch(without_missing(batch, required).select(list(columns)), indexed)


def _repeats_texts(meta: Any, group: int, name: str) -> bool:
    """Whether a column of a row group holds texts, few of them different, as a short dictionary."""
    place = meta.schema.names.index(name) if name in meta.schema.names else None
    if place is None or str(meta.schema.column(place).physical_type) != "BYTE_ARRAY":
        return False
    column = meta.row_group(group).column(place)
    if not column.has_dictionary_page:
        return False
    return bool(column.data_page_offset - column.dictionary_page_offset <= DICTIONARY_BYTES)


def without_missing(batch: Any, required: Iterable[str]) -> Any:
    """Return the rows of a batch that have a value, neither NULL nor NaN, in all required columns."""
    gaps = None
    for name in required:
        absent = pa.compute.is_null(batch.column(name), nan_is_null=True)
        if pa.compute.any(absent).as_py():
            gaps = absent if gaps is None else pa.compute.or_(gaps, absent)
    return batch if gaps is None else batch.filter(pa.compute.invert(gaps))


def plain_batch(batch: Any, indexed: Sequence[str] = ()) -> Any:
    """Return a batch with dictionaries as their values, and decimals, half floats and 64-bit integers as float64.

    The `indexed` columns stay as they are.
    """
    wanted = [field.type if field.name in indexed else _plain_type(field.type) for field in batch.schema]
    if wanted == batch.schema.types:
        return batch
    fields = [field.with_type(kind) for field, kind in zip(batch.schema, wanted, strict=True)]
    return batch_table(batch).cast(pa.schema(fields), safe=False)


def _plain_type(kind: Any) -> Any:
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_int64(kind) or pa.types.is_uint64(kind) or pa.types.is_decimal(kind) or pa.types.is_float16(kind):
        return pa.float64()
    return kind
