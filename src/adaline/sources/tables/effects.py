"""The rows of a table in memory with the levels of the columns whose effects are absorbed, read in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, is_sparse
from adaline.block import Block, Columns
from adaline.coding import Column
from adaline.errors import InvalidData, InvalidParameter, MissingValues
from adaline.lazy import nw, pa
from adaline.sources.engine import SENT
from adaline.sources.runners import Reader, begin_read
from adaline.sources.tables.source import TableSource
from adaline.sources.tables.spec import check_column
from adaline.sources.tables.sql import quoted
from adaline.sources.tables.targets import ReadTargets
from adaline.sources.threads import run_tasks

LevelCodes = NDArray[np.int32]
TABLE = 2**20  # numbers that a table of levels may have beside two for each row


@dataclass(frozen=True)
class Levels:
    """The levels of one column: of each row its number among them.

    Parameters
    ----------
    name : of the column.
    codes : (N,) numbers of the levels 0, 1, ..., in the order in which the rows have them.
    values : (L,) the levels: whole numbers, numbers, or texts; that of missing values, if there is one, is the last.
    gaps : whether the last level is that of missing values.
    """

    name: str
    codes: LevelCodes
    values: NDArray[Any]
    gaps: bool = False

    def take(self, rows: NDArray[np.intp]) -> Levels:
        """Return the levels of some rows; those that none of them has are left out."""
        found, codes = np.unique(self.codes[rows], return_inverse=True)
        gaps = self.gaps and len(found) > 0 and found[-1] == len(self.values) - 1
        return Levels(self.name, codes.astype(np.int32), self.values[found], gaps)


@dataclass(frozen=True)
class EffectRows:
    """The rows of a table in memory, with the levels of the columns whose effects are absorbed.

    Parameters
    ----------
    table : where they come from.
    columns : (D + K, N) columns of X and targets, each contiguous; offsets, where there are some, are the last.
    weight : (N,) or None.
    levels : of each column to be absorbed, the one with the most levels first.
    kept : indices of these rows among those of the table, where some were left out; else None.
    """

    table: TableSource
    columns: Array
    weight: Array | None
    levels: tuple[Levels, ...]
    kept: NDArray[np.intp] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.columns.shape[1])

    def take(self, rows: NDArray[np.intp]) -> EffectRows:
        """Return some of the rows, copied."""
        weight = None if self.weight is None else self.weight[rows]
        kept = rows if self.kept is None else self.kept[rows]
        taken = tuple(one.take(rows) for one in self.levels)
        return EffectRows(self.table, np.take(self.columns, rows, axis=1), weight, by_size(taken), kept)

    def read_levels(self, name: str) -> Levels:
        """Return the levels of any column of the table, such as groups of rows; one that is absorbed is known."""
        known = next((one for one in self.levels if one.name == name), None)
        if known is not None:
            return known
        check_column(self.table.relation, name, "groups")
        (found,) = read_levels(self.table, [name])
        if found.gaps:
            raise MissingValues(f"column {name!r} has no value in some rows: leave those out, or fill them in")
        return found if self.kept is None else found.take(self.kept)


def read_levels(source: TableSource, names: Sequence[str]) -> tuple[Levels, ...]:
    """Return the levels of any columns of a table, of the rows that it uses; one read."""
    parts = []
    for table in source.learned().tables(list(names)):
        frame = nw.from_native(table, eager_only=True)
        parts.append([encode_column(frame, name) for name in names])
    return tuple(merged(name, [part[q] for part in parts]) for q, name in enumerate(names))


class LevelReader:
    """A reader of targets that also gathers the levels of columns, in the order of the rows; threads may call it."""

    def __init__(self, read: ReadTargets, names: Sequence[str]) -> None:
        self.read, self.names = read, names
        self._parts: dict[int, list[Any]] = {}
        self._lock = Lock()

    def __call__(self, frame: nw.DataFrame[Any], first: int) -> Array:
        """Return the targets of a frame whose first row has this index, (n, K)."""
        found = [encode_column(frame, name) for name in self.names]
        with self._lock:
            self._parts[first] = found
        return self.read(frame, first)

    def levels(self) -> tuple[Levels, ...]:
        """Return the levels of all rows read."""
        parts = [self._parts[first] for first in sorted(self._parts)]
        self._parts = {}
        return tuple(merged(name, [part[q] for part in parts]) for q, name in enumerate(self.names))


def read_effect_rows(source: TableSource) -> EffectRows:
    """Return the rows of a table in memory with the levels of the columns that it absorbs; one read."""
    names = list(dict.fromkeys(effect.name for effect in source.coding.effects))
    for name in names:
        if source.relation.has_no_levels(name):
            kind = source.relation.schema[name]
            raise InvalidData(f"column {name!r} holds {kind}, no levels: turn it into texts or numbers by a query")
    reader = LevelReader(source.learned().read_targets, names)
    shape = source.shape
    if source.targets.given != 1:
        raise InvalidParameter("effects are absorbed for one target at a time: open the table with one")
    rows, weighted = source.reading(reader, shape.targets), source.spec.weight is not None
    if source.runner.apart:
        _refuse_many(source, len(names) + sum(shape) + weighted)
    held = HeldColumns(sum(shape) + weighted, source.relation.estimated_rows() or 0)

    def work(_: int, read: Reader) -> None:
        for block in read():
            held.put(block)

    run_tasks(readers_of_parts(rows) if source.runner.apart else begin_read(rows), work)
    columns, levels = held.values[:, : held.rows], reader.levels()
    if source.spec.missing == "error" and any(one.gaps for one in levels):
        source.refuse_nonfinite()
    if not all(np.isfinite(column).all() for column in columns):
        source.refuse_nonfinite()
    return EffectRows(rows, columns[: sum(shape)], columns[-1] if weighted else None, by_size(levels))


def _refuse_many(source: TableSource, columns: int) -> None:
    """Refuse more numbers on a cluster than one process is sent."""
    rows = source.count_rows()
    if rows * columns > SENT:
        raise InvalidData(
            f"effects are absorbed from rows in the memory of this process, and a cluster sends it at most {SENT:,} "
            f"numbers, not {rows:,} rows of {columns}: leave out columns, or open the rows as files, without cluster=, "
            "on a machine that has the memory"
        )


def readers_of_parts(rows: TableSource) -> Iterator[Reader]:
    """Return readers of the blocks of a table whose parts a cluster sends to this process one after the other."""
    rows.reads[0] += 1
    first = 0
    for table in rows.learned().tables(rows.learned().columns):
        yield partial(_block, rows, table, first)
        first += table.num_rows


def _block(rows: TableSource, table: Any, first: int) -> Iterator[Block]:
    yield rows.learned().reader.block(table, first)


class HeldColumns:
    """Columns of X, targets and weights, (M, N), put together from blocks that come in any order, from any thread."""

    def __init__(self, columns: int, likely: int) -> None:
        self.values = np.empty((columns, likely))
        self.rows = 0
        self._lock = Lock()

    def put(self, block: Block) -> None:
        """Take in the rows of a block."""
        if is_sparse(block.x):
            raise InvalidParameter(
                "effects are absorbed from columns of numbers: leave out those that make rows sparse"
            )
        end = block.first_row + block.rows
        with self._lock:
            if end > self.values.shape[1]:
                more = np.empty((len(self.values), 2 * end))
                more[:, : self.rows] = self.values[:, : self.rows]
                self.values = more
            self.rows = max(self.rows, end)
            x = block.x if isinstance(block.x, Columns) else block.x.T
            for out, column in zip(self.values, (*x, *block.t.T, block.weight), strict=False):
                out[block.first_row : end] = column


def by_size(levels: Sequence[Levels]) -> tuple[Levels, ...]:
    """Return columns with the one of most levels first."""
    return tuple(sorted(levels, key=lambda one: -len(one.values)))


def encode_column(frame: nw.DataFrame[Any], name: str) -> Any:
    """Return a column of an Arrow frame: numbers (n,), int32 where they are, or texts as arrays of a dictionary."""
    column = frame.to_native().column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return column.cast(pa.string()).dictionary_encode()
    if pa.types.is_temporal(column.type):
        raise InvalidData(f"column {name!r} holds {column.type}, no levels: turn it into texts or numbers by a query")
    numbers = Column(name, "number").numbers(frame)
    with np.errstate(invalid="ignore"):
        short = numbers.astype(np.int32)
    return short if (short == numbers).all() else numbers.copy()


def merged(name: str, parts: Sequence[Any]) -> Levels:
    """Return the levels of all rows from those of parts of them, as `encode_column` returns them."""
    if isinstance(parts[0], np.ndarray):
        return number_levels(name, np.concatenate(parts))
    chunks = [chunk for part in parts for chunk in part.chunks]
    whole = pa.chunked_array(chunks, type=parts[0].type).unify_dictionaries()
    values, missing = whole.chunk(0).dictionary.to_pylist(), whole.null_count > 0
    codes = np.empty(len(whole), dtype=np.int32)
    first = 0
    for chunk in whole.chunks:
        codes[first : first + len(chunk)] = np.from_dlpack(_indices(chunk, len(values)))
        first += len(chunk)
    return Levels(name, codes, np.array([*values, *[None] * missing], dtype=object), missing)


def number_levels(name: str, values: NDArray[Any]) -> Levels:
    """Return the levels of a column of numbers (N,), int32 or float64, NaN where missing.

    Whole numbers of a range not much longer than the rows are many are numbered by a table, others by hashing.
    """
    whole_numbers = values.dtype == np.int32
    gaps = np.zeros(0, dtype=bool) if whole_numbers else np.isnan(values)
    missing = bool(gaps.any())
    present = values[~gaps] if missing else values
    low, high = (float(end(present, initial=0.0 if not len(present) else present[0])) for end in (np.min, np.max))
    if max(-low, high) >= 2.0**53:
        raise InvalidData(
            f"column {name!r} has levels of 2^53 or more, where float64 merges neighbours: give them as texts, by a "
            f"query such as SELECT CAST({quoted(name)} AS VARCHAR) AS ..."
        )
    levels: NDArray[Any]
    codes: LevelCodes
    near = high - low < min(2 * len(values) + TABLE, 2**31)
    steps = np.empty(0, dtype=np.int32)
    if near:
        steps = present - np.int32(low) if whole_numbers else (present - low).astype(np.int32)
    if near and (whole_numbers or bool((steps == present - low).all())):
        met = np.zeros(int(high - low) + 1, dtype=bool)
        met[steps] = True
        levels, codes = np.flatnonzero(met) + low, (np.cumsum(met, dtype=np.int32) - np.int32(1))[steps]
    else:
        encoded = pa.array(present.astype(np.float64)).dictionary_encode()
        levels, codes = np.from_dlpack(encoded.dictionary), np.asarray(np.from_dlpack(encoded.indices), dtype=np.int32)
    if not missing:
        return Levels(name, codes, levels)
    whole = np.full(len(values), len(levels), dtype=np.int32)
    whole[~gaps] = codes
    return Levels(name, whole, np.append(levels, np.nan), True)


def _indices(chunk: Any, absent: int) -> Any:
    """Return the indices of an Arrow array of a dictionary; `absent` where it has no value."""
    return chunk.indices.fill_null(absent) if chunk.null_count else chunk.indices
