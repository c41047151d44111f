"""Who computes: sums of the blocks of rows, and functions of them, in the threads of this process or elsewhere.

A source has a runner, and hands it the rows. What a runner asks of rows is `RowsToRun`; it knows nothing else of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, nullcontext
from functools import partial
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from adaline.arrays import Array, ThetaLike
from adaline.block import MIN_BLOCK_ROWS, Block, Shape, UnitsApart
from adaline.errors import InvalidData, with_row
from adaline.sources.streamed import PageLocks, blocks_on_device
from adaline.sources.threads import Forest, done_ahead, one_blas_thread, run_tasks
from adaline.sums import Sum

S = TypeVar("S", bound=Sum)
T = TypeVar("T")
Reader = Callable[[], Iterable[Block]]
Config = dict[str, Any]


class RowsToRun(Protocol):
    """What runners ask of the rows of a source, which are described in `adaline.sources.base`."""

    @property
    def sparse(self) -> bool: ...
    @property
    def costly(self) -> bool: ...
    @property
    def parallel(self) -> bool: ...
    @property
    def reads(self) -> list[int]: ...
    @property
    def shape(self) -> Shape: ...
    @property
    def leaf(self) -> Any: ...
    @property
    def runner(self) -> Runner: ...
    @property
    def most_threads(self) -> int | None: ...
    def readers(self) -> Iterator[Reader]: ...
    def blocks(self) -> Iterator[Block]: ...
    def count_rows(self) -> int: ...


R = TypeVar("R", bound=RowsToRun)


class Runner(ABC):
    """Who computes; `apart` : whether the rows lie in parts on an engine, and not in this process."""

    apart: ClassVar[bool] = False

    @abstractmethod
    def sum(self, rows: RowsToRun, kind: type[S], theta: ThetaLike, config: Config) -> S:
        """Return the sum over all rows; blocks are merged in a fixed tree."""

    @abstractmethod
    def over(self, rows: R, function: Callable[[R], T]) -> list[T]:
        """Return function(rows) of runs of rows, in their order: of all rows at once where they are in this process."""

    @abstractmethod
    def map(self, rows: RowsToRun, function: Callable[[Block], Array]) -> list[Array]:
        """Return function(block) of all blocks, or of several together, in the order of the rows."""

    @abstractmethod
    def each_block(self, rows: RowsToRun, function: Callable[[Block], T], packed: bool) -> list[T]:
        """Return function(block) of all blocks, in the order of the rows; unless packed, x may be in parts."""

    @abstractmethod
    def blocks(self, rows: RowsToRun) -> Iterator[Block]:
        """Return the blocks in order."""

    @abstractmethod
    def peek(self, rows: RowsToRun) -> Block:
        """Return the first block, or some of its rows; where passes are costly that is a read."""

    @abstractmethod
    def in_order(self, rows: RowsToRun) -> Generator[Block, None, None]:
        """Return the blocks for a rule that takes rows one after the other."""

    @abstractmethod
    def refuse_parts(self) -> None:
        """Refuse rows that lie in parts, for rules that take them one after the other."""

    @abstractmethod
    def column(self, rows: RowsToRun, function: Callable[[Any], Any]) -> Any:
        """Return function(rows), values of the rows of each part, as a column of the engine; None where it has none."""


class Threads(Runner):
    """The threads of this process."""

    def sum(self, rows: RowsToRun, kind: type[S], theta: ThetaLike, config: Config) -> S:
        """Return the sum over all rows."""
        return self.forest(rows, kind, theta, config).total()

    def forest(self, rows: RowsToRun, kind: type[S], theta: ThetaLike, config: Config) -> Forest[S]:
        """Return the sums of the rows that each reader reads, merged where they are neighbours in the tree."""
        forest: Forest[S] = Forest()

        def work(_: int, task: tuple[int, Reader]) -> None:
            out = kind.zero(rows.shape, **config)
            for block in task[1]():
                out.add(block.read_by(kind), theta)
            forest.put(task[0], out)

        with one_blas_thread() if kind.uses_blas and rows.parallel else nullcontext():
            leaves = rows.leaf.leaves(begin_read(rows), partial(kind.zero, rows.shape, **config))
            _run(rows, leaves, work)
        return forest

    def over(self, rows: R, function: Callable[[R], T]) -> list[T]:
        """Return function(rows) of all rows."""
        return [function(rows)]

    def map(self, rows: RowsToRun, function: Callable[[Block], Array]) -> list[Array]:
        """Return function(block) of all blocks."""
        return self.each_block(rows, function, packed=True)

    def each_block(self, rows: RowsToRun, function: Callable[[Block], T], packed: bool) -> list[T]:
        """Return function(block) of all blocks, which are read in threads."""
        found: dict[int, list[T]] = {}

        def work(i: int, read: Reader) -> None:
            found[i] = [function(block.packed() if packed else block) for block in read()]

        with one_blas_thread():
            _run(rows, begin_read(rows), work)
        return [value for i in range(len(found)) for value in found[i]]

    def blocks(self, rows: RowsToRun) -> Iterator[Block]:
        """Return the blocks in order."""
        return (block.packed() for read in begin_read(rows) for block in read())

    def peek(self, rows: RowsToRun) -> Block:
        """Return the first block."""
        read = next(begin_read(rows) if rows.costly else rows.readers())
        return next(iter(read())).packed()

    def in_order(self, rows: RowsToRun) -> Generator[Block, None, None]:
        """Return the blocks; other threads read and parse the next ones meanwhile, where that is costly."""
        reads = (partial(_as_list, read) for read in begin_read(rows))
        for lot in done_ahead(reads) if rows.costly else (read() for read in reads):
            yield from (block.packed() if isinstance(block.x, UnitsApart) else block for block in lot)

    def refuse_parts(self) -> None:
        """Refuse nothing."""

    def column(self, rows: RowsToRun, function: Callable[[Any], Any]) -> None:
        """Return None: there is no engine."""


class SentToDevice(Threads):
    """The threads of this process; dense rows are sent to a device for sums that have a kernel there.

    `locks` : what locks the pages of the array that the rows are views of, if they are.
    """

    def __init__(self, device: Any, locks: PageLocks | None = None) -> None:
        self.device, self.locks = device, locks

    def forest(self, rows: RowsToRun, kind: type[S], theta: ThetaLike, config: Config) -> Forest[S]:
        """Return the sums of the rows of each block."""
        if rows.sparse or not kind.has_device_kernel:
            return super().forest(rows, kind, theta, config)
        forest: Forest[S] = Forest()
        with closing(self.in_order(rows)) as blocks:
            for i, block in enumerate(blocks_on_device(blocks, self.device, self.locks)):
                own = kind.zero(rows.shape, **config)
                own.add(block, theta)
                forest.put(i, own)
        return forest


HERE = Threads()


def begin_read(rows: RowsToRun) -> Iterator[Reader]:
    """Count one read; return functions that each read the next few blocks, in order."""
    rows.reads[0] += 1
    return rows.readers()


def each_block(rows: RowsToRun, function: Callable[[Block], T], packed: bool = True) -> list[T]:
    """Return function(block) of all blocks, in the order of the rows; blocks are read in threads, or in parts.

    Unless `packed`, x may be Columns or UnitsApart.
    """
    return rows.runner.each_block(rows, function, packed)


def first_rows(rows: RowsToRun) -> Block | None:
    """Return some of the first rows; None where there are none."""
    first = next(rows.blocks(), None)
    return None if first is None else first.taken(np.arange(min(first.rows, MIN_BLOCK_ROWS)))


def _run(rows: RowsToRun, tasks: Iterable[T], work: Callable[[int, T], None]) -> None:
    """Do work(i, task) in threads; a row that an error names by its index is named as the user knows it."""
    try:
        run_tasks(tasks, work, rows.most_threads)
    except InvalidData as error:
        raise with_row(error, lambda row: str(rows.leaf.place_of(row, 0).row)) from None


def _as_list(read: Reader) -> list[Block]:
    return list(read())
