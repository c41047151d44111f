"""Wide sparse rows held in memory, compactly: in the columns that have entries, units without their values.

Many of the columns that ids are hashed to have no entries: their coefficients are zero under any penalty, so the
vectors of a solver leave them out. Columns are ordered by their counts, most frequent first: the columns that most rows
use lie side by side in memory, and products with them stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from threading import Lock
from typing import Any, cast

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, host
from adaline.attributes import replaced
from adaline.block import MAX_BLOCK_ROWS, Block, Shape, UnitsApart
from adaline.coding.names import ChosenNames
from adaline.sources.array import SparseSource
from adaline.sources.base import InMemory, Leaf, Source
from adaline.sources.columns import RowColumns
from adaline.sources.runners import Reader, each_block
from adaline.sources.targets import RowTargets, TargetChange, taken_targets
from adaline.sources.threads import run_blocks
from adaline.sums.sample import LEAST_SPARSE_COLUMNS

HELD = 2**30  # bytes of rows at most
STRETCH = 2**26  # bytes of memory that arrays of rows lie in one after the other while they are read
# stored entries per column in a lot of rows that share one sum, and most lots; doubling the first halves the lots, and
# the sums in memory
LOT, MOST_LOTS = 4, 16


class CompactRows(InMemory, Leaf):
    """Sparse rows (N, D') of another source, held in memory in lots, each with one sum.

    Parameters
    ----------
    lots : the rows, in the columns that have entries.
    chosen : (D',) the indices of those columns among all.
    t, weight : targets (N, K), and weights (N,) or None.
    origin : the source that the rows were read from.
    """

    sparse = True

    def __init__(
        self, lots: list[UnitsApart], chosen: NDArray[np.intp], t: Array, weight: Array | None, origin: Source
    ) -> None:
        self.lots_of_rows, self.chosen, self.origin = lots, chosen, origin
        self.columns = RowColumns(cast(tuple[str, ...], ChosenNames(origin.columns.names, chosen)))
        self.targets, self.reads = RowTargets.held(t, weight), origin.reads
        self.most_threads = len(lots)
        self.ends = np.cumsum([0, *(lot.shape[0] for lot in lots)])
        self.n_rows = int(self.ends[-1])
        self.shape = Shape(lots[0].shape[1], t.shape[1])

    @property
    def density(self) -> float:
        """The fraction of the numbers of X that are stored."""
        return sum(lot.nnz for lot in self.lots_of_rows) / max(self.n_rows * self.shape.features, 1)

    def with_targets(self, t: Array) -> CompactRows:
        """Return the same rows with other targets, (N, K), and the same weights."""
        return self.retargeted(RowTargets.held(t, self.targets.weight))

    def changed(self, change: TargetChange) -> CompactRows:
        """Return the same rows with a change of their targets and weights."""
        return self.retargeted(self.targets.changed(change))

    def retargeted(self, targets: RowTargets) -> CompactRows:
        """Return the same rows with other targets and weights in memory."""
        return replaced(self, targets=targets, shape=Shape(self.shape.features, targets.count))

    def take_rows(self, rows: NDArray[np.intp]) -> CompactRows:
        """Return the source of the rows with these indices, copied, in the order given."""
        order = np.argsort(rows, kind="stable")
        cuts = np.searchsorted(rows[order], self.ends)
        parts = [
            lot.taken(rows[order[first:last]] - start)
            for lot, start, first, last in zip(self.lots_of_rows, self.ends, cuts[:-1], cuts[1:], strict=False)
        ]
        some = _stacked(parts)
        if (order[1:] < order[:-1]).any():
            some = some.taken(np.argsort(order))
        t, weight = taken_targets(rows, self.targets.values, self.targets.weight)
        return replaced(CompactRows([some], self.chosen, t, weight, self.origin), reads=[0])

    def take_columns(self, columns: NDArray[np.intp]) -> SparseSource:
        """Return some columns, copied, in the order given."""
        index = np.full(self.shape.features, -1, dtype=np.int32)
        index[columns] = np.arange(len(columns), dtype=np.int32)
        return self._in_one_matrix(lambda lot: _columns_of(lot, index, len(columns)))

    def packed(self) -> SparseSource:
        """Return all rows as one CSR matrix, of three times the memory where most entries are units."""
        return self._in_one_matrix(UnitsApart.packed)

    def refuse_nonfinite(self) -> None:
        """Raise, naming what is not finite or missing where the rows were read from."""
        self.origin.refuse_nonfinite()

    def _in_one_matrix(self, rows_of: Callable[[UnitsApart], Any]) -> SparseSource:
        """Return the CSR rows that a function makes of each lot, one after the other."""
        found: list[Any] = [None] * len(self.lots_of_rows)

        def work(i: int) -> None:
            found[i] = rows_of(self.lots_of_rows[i])

        run_blocks(len(found), work)
        x = scipy.sparse.vstack(found).tocsr()
        return replaced(SparseSource(x, self.targets.values, self.targets.weight), reads=self.reads)

    def readers(self) -> Iterator[Reader]:
        """Return a reader of each lot."""
        for i in range(len(self.lots_of_rows)):
            yield partial(self._run, i)

    def _run(self, i: int) -> tuple[Block]:
        rows = slice(self.ends[i], self.ends[i + 1])
        t, weight = self.targets.of_rows(rows)
        return (Block(self.lots_of_rows[i], t, weight, first_row=int(self.ends[i])),)


class Stretches:
    """Arrays one after the other in long stretches of memory.

    The system has a stretch back once all its arrays are let go; of arrays of a few megabytes each it would have holes.
    """

    def __init__(self) -> None:
        self._lock, self._stretch, self._used = Lock(), np.empty(0, dtype=np.uint8), 0

    def moved(self, rows: UnitsApart) -> UnitsApart:
        """Return the same rows, their arrays copied into stretches."""
        x = rows.numbers
        numbers = type(x)(tuple(self.put(part) for part in (x.data, x.indices, x.indptr)), shape=x.shape, copy=False)
        return UnitsApart(numbers, self.put(rows.units), self.put(rows.starts))

    def put(self, a: Any) -> Any:
        """Return a copy of a one-dimensional array in a stretch."""
        with self._lock:
            if self._used + a.nbytes > len(self._stretch):
                self._stretch, self._used = np.empty(max(STRETCH, a.nbytes), dtype=np.uint8), 0
            own = self._stretch[self._used : self._used + a.nbytes].view(a.dtype)
            self._used += -(-a.nbytes // 8) * 8
        own[:] = a
        return own


class BeyondLimit(Exception):
    """Rows take more memory than is allowed."""


def hold_rows(source: Source) -> CompactRows | None:
    """Return wide sparse rows in memory, in one read; None where they are not, or take too much of it.

    Rows that lie in memory already are left as they are where most columns have entries.
    """
    if not source.sparse or source.shape.features < LEAST_SPARSE_COLUMNS or source.runner.apart:
        return None
    if isinstance(source, InMemory) and not (isinstance(source, SparseSource) and _mostly_empty(source.x)):
        return None
    total, stretches = 0, Stretches()

    def compact(block: Block) -> tuple[list[UnitsApart], Array, Array | None]:
        nonlocal total
        x = _canonical(block.x)
        cuts = range(0, max(block.rows, 1), MAX_BLOCK_ROWS)
        parts = (x[first : first + MAX_BLOCK_ROWS] if len(cuts) > 1 else x for first in cuts)
        rows = [stretches.moved(UnitsApart.of(part)) for part in parts]
        total += sum(part.nbytes for part in rows)
        if total > HELD:
            raise BeyondLimit
        t, weight = stretches.put(host(block.t).ravel()), block.weight
        return rows, t.reshape(block.t.shape), None if weight is None else stretches.put(host(weight))

    try:
        found = each_block(source, compact)
    except BeyondLimit:
        return None
    t = np.concatenate([part for _, part, _ in found])
    weight = np.concatenate([part for _, _, part in found if part is not None]) if source.targets.weighted else None
    pieces = [part for rows, _, _ in found for part in rows]
    del found
    columns = _renumber(pieces, source.shape.features)
    return CompactRows(_lots(pieces, len(columns)), columns, t, weight, source)


def _canonical(x: AnyArray) -> Any:
    """Return CSR rows with one entry for each column of a row."""
    if x.has_canonical_format:
        return x
    x = x.copy()
    x.sum_duplicates()
    return x


def _mostly_empty(x: AnyArray) -> bool:
    """Whether at most half of the columns of a CSR matrix have entries."""
    met = np.zeros(x.shape[1], dtype=np.bool_)
    met[x.indices] = True
    return 2 * int(met.sum()) <= len(met)


def _renumber(pieces: list[UnitsApart], features: int) -> NDArray[np.intp]:
    """Number the columns of rows by their counts, most first, in place; return their indices before, (D',)."""
    counts = np.zeros(features, dtype=np.int64)
    for part in pieces:
        for indices in (part.columns, part.numbers.indices):
            np.add.at(counts, indices, 1)
    columns = np.flatnonzero(counts)
    columns = columns[np.argsort(-counts[columns], kind="stable")]
    index = np.zeros(features, dtype=np.int32)
    index[columns] = np.arange(len(columns), dtype=np.int32)

    def work(i: int) -> None:
        units, indices = pieces[i].units, pieces[i].numbers.indices
        np.bitwise_xor(index[pieces[i].columns], units >> 31, out=units)
        indices[:] = index[indices]

    run_blocks(len(pieces), work)
    for i, part in enumerate(pieces):
        x = part.numbers
        x = type(x)((x.data, x.indices, x.indptr), shape=(x.shape[0], len(columns)), copy=False)
        pieces[i] = part._replace(numbers=x)
    return columns


def _lots(pieces: list[UnitsApart], features: int) -> list[UnitsApart]:
    """Return rows stacked to lots of about LOT entries a column, whatever the threads; the pieces are let go."""
    entries = np.cumsum([0, *(part.nnz for part in pieces)])
    lots = int(min(max(entries[-1] / (LOT * max(features, 1)), 2), MOST_LOTS, len(pieces)))
    cuts = np.searchsorted(entries, entries[-1] * np.arange(1, lots) / lots)
    out = []
    for count in np.diff([0, *cuts, len(pieces)]).tolist():
        if count:
            out.append(_stacked(pieces[:count]))
            del pieces[:count]
    return out


def _stacked(parts: list[UnitsApart]) -> UnitsApart:
    """Return the rows of some parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    numbers = [part.numbers for part in parts]
    arrays = (np.concatenate([x.data for x in numbers]), np.concatenate([x.indices for x in numbers]))
    x = type(numbers[0])(
        (*arrays, _joined([x.indptr for x in numbers])),
        shape=(sum(x.shape[0] for x in numbers), numbers[0].shape[1]),
        copy=False,
    )
    return UnitsApart(x, np.concatenate([part.units for part in parts]), _joined([part.starts for part in parts]))


def _joined(starts: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return where rows begin, given where those of each part do in its own entries."""
    before = np.cumsum([0, *(part[-1] for part in starts[:-1])])
    return np.concatenate(
        [np.zeros(1, np.int32), *(part[1:] + np.int32(first) for part, first in zip(starts, before, strict=True))]
    )


def _columns_of(rows: UnitsApart, index: NDArray[np.int32], count: int) -> Any:
    """Return CSR rows of `count` columns, index[j] of column j, which is left out below zero."""
    x = rows.numbers
    parts = []
    for data, indices, ends in ((x.data, x.indices, x.indptr), (rows.signs, rows.columns, rows.starts)):
        own = index[indices]
        kept = own >= 0
        before = np.concatenate([np.zeros(1, np.int32), np.cumsum(kept, dtype=np.int32)])
        parts.append(type(x)((data[kept], own[kept], before[ends]), shape=(x.shape[0], count)))
    return parts[0] + parts[1]
