"""Files of sparse rows, LIBSVM and Vowpal Wabbit text, as sources: held in memory where they are small, else streamed.

One pass over a file finds its number of columns, its labels and weights, which stay in memory, 8 bytes a row each, and
holds its entries while they are few. Those of a large file are parsed again in every pass, in pieces of whole lines,
each by one thread.
"""

from __future__ import annotations

import os
import shutil
import threading
import zlib
from abc import abstractmethod
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, pairwise
from typing import Any, Self, cast

import numpy as np
import scipy

from adaline.arrays import Array, DataLike
from adaline.attributes import own_attributes, replaced
from adaline.block import Block, Shape
from adaline.coding.columns import DEFAULT_WIDTH, check_width
from adaline.coding.names import NAMED, NumberedNames
from adaline.errors import InvalidData, InvalidParameter, UnreadableTable
from adaline.sources.array import SparseSource
from adaline.sources.base import Leaf, Source
from adaline.sources.columns import RowColumns
from adaline.sources.matrix import DualGram, RowMatrix, SparseMatrix
from adaline.sources.progress import ReadingProgress, watched
from adaline.sources.runners import Reader
from adaline.sources.tables.batches import file_stamp
from adaline.sources.tables.copies import Copies
from adaline.sources.tables.failures import Reporting
from adaline.sources.tables.files import check_zstd, cut_short, expand_glob, is_compressed, open_compressed
from adaline.sources.tables.pipes import Pipe, pipe_title, spool
from adaline.sources.tables.sparse_lines import HIGHEST, Lines, MalformedLine, parse_lines
from adaline.sources.tables.sql import is_query
from adaline.sources.targets import RowTargets, TargetChange
from adaline.sources.threads import run_tasks
from adaline.sources.views import ChangedTargets
from adaline.sums import Spread, Sum
from adaline.wording import file_name

SUFFIXES = (".libsvm", ".svm", ".svmlight", ".vw")
KEPT = 2**23  # entries up to which a file is held in memory
PIECE = 2**22  # bytes of a piece, about
LONGEST = 2**26  # bytes of a line
WINDOW = 2**16  # bytes that are searched at a time for the end of a line
LOTS = 64  # parts of a file that are summed by threads at a time


def sparse_suffix(data: DataLike) -> str | None:
    """Return how the name of a file of sparse rows ends, that of the first where there are several; None for others.

    Examples
    --------
    >>> from adaline.sources.tables.sparse_files import sparse_suffix
    >>> [sparse_suffix(name) for name in ("a9a.libsvm", "clicks.vw.gz", "rows.csv")]
    ['.libsvm', '.vw', None]
    """
    first = data[0] if isinstance(data, list | tuple) and data else data
    first = f"stdin{first.suffix}" if isinstance(first, Pipe) else first
    if not isinstance(first, str | os.PathLike) or is_query(os.fsdecode(first)):
        return None
    name = os.fsdecode(first).lower().removesuffix(".gz").removesuffix(".zst")
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)


def open_sparse(data: DataLike, *, hashed: Any = None, unseen: str = "error", progress: bool | None = None) -> Source:
    """Open files of sparse rows, the names of a VW file hashed to `hashed` columns.

    With unseen="other", entries of columns that a model does not know are left out, when it predicts these rows.
    """
    kind = sparse_suffix(data)
    names: list[Any] = [data] if isinstance(data, str | os.PathLike | Pipe) else list(data)
    if any(sparse_suffix(name) is None or (sparse_suffix(name) == ".vw") != (kind == ".vw") for name in names):
        raise UnreadableTable("files of different kinds; open one kind")
    if kind != ".vw" and hashed is not None:
        raise InvalidParameter("the columns of a LIBSVM file have indices: hashed= is for names, as in VW files")
    width = None if kind != ".vw" else DEFAULT_WIDTH if hashed is None else hashed
    if width is not None:
        check_width("hashed", width, HIGHEST, f", for the names of {pipe_title(names[0])}")
    copies = Copies()
    with Reporting("the file"):
        found = [path for name in names for path in _files_of(name, copies)]
    one = pipe_title(data) if isinstance(data, Pipe) else file_name(found[0])
    title = f"{len(found)} files" if len(found) > 1 else one
    with Reporting(title):
        return SparseFiles.of(title, found, copies, width, unseen, progress).opened()


def _files_of(name: Any, copies: Copies) -> list[str]:
    """Return the files that a name stands for; what comes through a pipe is copied."""
    return (
        [spool(name, copies.new(name.title, name.suffix))] if isinstance(name, Pipe) else expand_glob(os.fsdecode(name))
    )


def refuse_options(**given: Any) -> None:
    """Refuse options of a table that say what a file of sparse rows says itself: those that are not None."""
    for name, value in given.items():
        if value is not None:
            raise InvalidParameter(f"a file of sparse rows holds its own target and columns: leave {name}= out")


@dataclass(frozen=True)
class Piece:
    """Whole lines of a file: from byte `start` to byte `stop`."""

    file: int
    start: int
    stop: int


@dataclass(frozen=True)
class SparseFiles:
    """Files of sparse rows: LIBSVM, or VW with names hashed to `width` columns.

    `names` are those given, `paths` files of plain text: compressed ones are unpacked into a private folder, which
    lasts as long as this.
    """

    title: str
    names: tuple[str, ...]
    paths: tuple[str, ...]
    stamps: tuple[tuple[int, int], ...]
    pieces: tuple[Piece, ...]
    width: int | None
    unseen: str
    progress: bool | None
    copies: Copies

    @classmethod
    def of(
        cls,
        title: str,
        names: Sequence[str],
        copies: Copies,
        width: int | None,
        unseen: str,
        progress: bool | None,
    ) -> Self:
        """Return the files of these names, cut into pieces."""
        stamps = tuple(map(file_stamp, names))
        paths = tuple(_unpacked(n, copies.new(n, ".txt")) if is_compressed(n) else n for n in names)
        pieces = tuple(piece for i, path in enumerate(paths) for piece in _pieces(i, path, names[i]))
        return cls(title, tuple(names), paths, stamps, pieces, width, unseen, progress, copies)

    def parse(self, piece: Piece) -> Lines:
        """Return the rows of a piece; a malformed line is refused by its file and number."""
        path = self.paths[piece.file]
        try:
            return parse_lines(_bytes(path, piece.start, piece.stop), self.width)
        except MalformedLine as error:
            start = piece.start + error.offset
            before = sum(
                _bytes(path, one.start, min(one.stop, start)).count(b"\n")
                for one in self.pieces
                if one.file == piece.file and one.start < start
            )
            raise UnreadableTable(f"{self.names[piece.file]}, line {1 + before}: {error}; correct that line") from None

    def row_name(self, row: int) -> str:
        """Return what to call a row: its file and line."""
        for name, path in zip(self.names, self.paths, strict=True):
            with open(path, "rb") as file:
                for i, line in enumerate(file):
                    row -= bool((line if self.width is not None else line.partition(b"#")[0]).strip())
                    if row < 0:
                        return f"{name}, line {i + 1}"
        return self.title

    def refuse_change(self) -> None:
        """Refuse files that are not as they were."""
        with Reporting(self.title):
            if tuple(map(file_stamp, self.names)) != self.stamps:
                raise UnreadableTable(f"{self.title} has changed since it was opened: open it again")

    def opened(self) -> HeldFileRows | StreamedRows:
        """Return the source of the rows, after one pass over them."""
        found = FirstRead()
        with watched(self.title, None, self.progress) as progress:

            def work(i: int, piece: Piece) -> None:
                lines = self.parse(piece)
                found.add(i, lines)
                progress.add(len(lines.labels))

            run_tasks(self.pieces, work)
        self.refuse_change()
        labels = found.labels()
        if not len(labels):
            raise InvalidData(f"{self.title} has no rows")
        first = int(self.width is None and found.lowest > 0)
        columns = self.width or max(found.highest + 1 - first, 1)
        made = NumberedNames(first, columns)
        names = None if self.width else tuple(made) if columns <= NAMED else cast(tuple[str, ...], made)
        t, weight, offset = self._targets(labels)
        targets = replace(RowTargets.held(t, weight), offset=offset, flat=True)
        if t.shape[1] == offset:
            targets = replace(targets, advice=f"{self.row_name(int(np.isnan(labels[:, 0]).argmax()))} has no label")
        known = {"files": self, "first": first, "span": (found.lowest, found.highest), "reads": [1]}
        known |= {"targets": targets, "columns": RowColumns(names, hashed=self.width is not None)}
        if found.kept is not None:
            return replaced(HeldFileRows(_matrix(found.lines(), first, columns), t), **known)
        return replaced(StreamedRows(targets, columns, found), **known)

    def _targets(self, labels: Array) -> tuple[Array, Array | None, int]:
        """Return targets (n, K), weights (n,) or None, and how many of the targets are offsets.

        Where a row has no label, there are no targets but the offset.
        """
        label, weight, base = labels.T
        known = [] if np.isnan(label).any() else [label]
        offset = int(np.any(np.nan_to_num(base)))
        t = (
            np.column_stack([*known, *([np.nan_to_num(base)] * offset)])
            if known or offset
            else np.empty((len(label), 0))
        )
        if np.isnan(weight).all():
            return t, None, offset
        weight = np.where(np.isnan(weight), 1.0, weight)
        if (weight < 0).any() or not weight.any():
            wrong = f"{self.title}: the importance is zero in all rows"
            if weight.any():
                wrong = f"{self.row_name(int(weight.argmin()))}: the importance is {weight.min():g}"
            raise InvalidData(f"{wrong}; weights are 0 or more, and not all zero")
        return t, weight, offset

    def first_index(self, count: int, names: Sequence[str] | None, first: int) -> int:
        """Return which index the first of the columns (D,) of a model has: `first` where the model does not tell."""
        if names is None:
            return first
        known = {"x0": 0, "x1": 1}.get(names[0])
        if self.width is not None or known is None or names[-1] != f"x{known + count - 1}":
            kind = "hashed names" if self.width is not None else "indices"
            raise InvalidData(
                f"{self.title} has {kind} for columns, and the model was fitted to {names[0]!r} to {names[-1]!r}: "
                "predict a table that has these columns"
            )
        return known


class FirstRead:
    """What the first pass over files finds, piece by piece, from several threads.

    kept : the rows of each piece, while they are few; else None.
    lowest, highest : of all indices; highest is -1 where there are none.
    counts : of each piece, the numbers of its rows and entries, and the pairs of entries within a row.
    """

    def __init__(self) -> None:
        self.kept: dict[int, Lines] | None = {}
        self.lowest, self.highest = 0, -1
        self.counts: dict[int, tuple[int, int, float]] = {}
        self._labels: dict[int, Array] = {}
        self._entries = 0
        self._lock = threading.Lock()

    def add(self, i: int, lines: Lines) -> None:
        """Take in the rows of piece i."""
        entries = len(lines.indices)
        span = (int(lines.indices.min()), int(lines.indices.max())) if entries else None
        pairs = float(np.square(np.diff(lines.starts), dtype=np.float64).sum())
        with self._lock:
            if span is not None:
                self.lowest = span[0] if self.highest < 0 else min(self.lowest, span[0])
                self.highest = max(self.highest, span[1])
            self.counts[i], self._labels[i] = (len(lines.labels), entries, pairs), lines.labels
            if self.kept is not None:
                self.kept[i] = lines
                self._entries += entries
                if self._entries > KEPT:
                    self.kept = None

    def labels(self) -> Array:
        """Return label, weight and base of all rows, (N, 3)."""
        return np.concatenate([np.empty((0, 3)), *(self._labels[i] for i in range(len(self._labels)))])

    def lines(self) -> list[Lines]:
        """Return the rows that were kept, in order."""
        assert self.kept is not None
        return [self.kept[i] for i in range(len(self.kept))]


class FileRows(Leaf):
    """What rows of such files have in common, held or streamed: where they are from, and which indices they have.

    files : where they are from; None of rows that were taken out of others.
    first : the index of the first column.
    span : the lowest and the highest index of all entries.
    """

    files: SparseFiles | None = None
    first: int = 0
    span: tuple[int, int] = (0, -1)

    def in_columns(self, count: int, names: Sequence[str] | None, hashed: bool) -> Source:
        """Return the same rows in the columns of a model: their number D, (D,) names or None; hashed or not."""
        files = self.files
        if files is None:
            return self
        if hashed and files.width is None:
            raise InvalidData(
                f"{files.title} has indices for columns, and the model was fitted to hashed names: predict a .vw file"
            )
        first = files.first_index(count, names, self.first)
        if (first, count) == (self.first, self.shape.features):
            return self
        if files.width is not None:
            check_width("hashed", count, HIGHEST, f", for the names of {files.title}")
            return replace(files, width=count).opened()
        drops = self.span[0] < first or self.span[1] >= first + count
        if drops and files.unseen == "error":
            index, row = self._first_outside(first, count)
            raise InvalidData(
                f"{files.row_name(row)}: index {index}, and the model knows {first} to {first + count - 1}; open it "
                "with unseen='other' to leave such entries out"
            )
        return self._in(first, count, drops)

    def _first_outside(self, first: int, count: int) -> tuple[int, int]:
        """Return the first index that is not one of the columns of a model, and its row."""
        for block in self.blocks():
            indices = block.x.indices + self.first
            outside = np.flatnonzero((indices < first) | (indices >= first + count))
            if len(outside):
                row = int(np.searchsorted(block.x.indptr, outside[0], side="right")) - 1
                return int(indices[outside[0]]), block.first_row + row
        raise AssertionError("all indices are columns of the model")

    @abstractmethod
    def _in(self, first: int, count: int, drops: bool) -> Source:
        """Return the same rows in `count` columns, of which the first has index `first`; other entries are dropped."""


class HeldFileRows(SparseSource, FileRows):
    """Rows of a file in memory."""

    def _in(self, first: int, count: int, drops: bool) -> Source:
        lines = Lines(self.x.data, self.x.indices + np.int32(self.first), self.x.indptr, np.empty((self.n_rows, 0)))
        x, shape = _matrix([lines], first, count, drops), Shape(count, self.shape.targets)
        return replaced(self, x=x, shape=shape, first=first, columns=replace(self.columns, names=None))


class StreamedRows(FileRows):
    """Rows of a file that are parsed again for every pass; targets (N, K) and weights (N,) are in memory."""

    sparse = streamed = costly = True

    def __init__(self, targets: RowTargets, columns: int, found: FirstRead) -> None:
        self.targets, self.n_rows, self.shape = targets, len(targets.values), Shape(columns, targets.count)
        self.counts = np.array([found.counts[i] for i in range(len(found.counts))])
        self.drops = False

    @property
    def density(self) -> float:
        """The fraction of the numbers of X that are stored."""
        return float(self.counts[:, 1].sum()) / (self.n_rows * self.shape.features)

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets, (N, K), and the same weights."""
        targets = RowTargets.held(t, self.targets.weight)
        return replaced(self, targets=targets, shape=Shape(self.shape.features, targets.count))

    def changed(self, change: TargetChange) -> Source:
        """Return the same rows with a change of their targets and weights, made block by block."""
        return ChangedTargets(self, change)

    def _in(self, first: int, count: int, drops: bool) -> Source:
        shape = Shape(count, self.shape.targets)
        return replaced(self, first=first, shape=shape, columns=replace(self.columns, names=None), drops=drops)

    def readers(self) -> Iterator[Reader]:
        """Return a reader for each piece, so that few pieces are in memory at a time."""
        assert self.files is not None
        self.files.refuse_change()
        ends = np.concatenate([[0], np.cumsum(self.counts[:, 0])]).astype(np.intp).tolist()
        with watched(self.files.title, self.n_rows, self.files.progress) as progress:
            for piece, (start, stop) in zip(self.files.pieces, pairwise(ends), strict=True):
                yield partial(self._read, piece, slice(start, stop), progress)
        self.files.refuse_change()

    def _read(self, piece: Piece, rows: slice, progress: ReadingProgress) -> Iterator[Block]:
        assert self.files is not None
        x = _matrix([self.files.parse(piece)], self.first, self.shape.features, self.drops)
        t, weight = self.targets.of_rows(rows)
        progress.add(x.shape[0])
        if x.shape[0]:
            yield Block(x, t, weight, first_row=rows.start)

    def leaves(self, readers: Iterator[Reader], zero: Callable[[], Sum]) -> Iterator[tuple[int, Reader]]:
        """Return numbered readers of some pieces each: LOTS or more; of sums with D x D numbers, as `SparseSource` has.

        Their number does not depend on that of the threads, so that results do not.
        """
        pieces, square = len(self.counts), float(self.shape.features) ** 2
        work = self.counts[:, 2].sum() / (64.0 * square)
        lots = int(min(max(work, 1 if _numbers(zero()) >= square / 2 else LOTS), pieces))
        for i in range(lots):
            yield i, partial(_read_each, list(islice(readers, pieces * (i + 1) // lots - pieces * i // lots)))
        yield from enumerate(readers, lots)  # none is left: this ends the pass

    def matrix(self) -> RowMatrix:
        """Return X."""
        return FileMatrix(self)


class FileMatrix(RowMatrix):
    """The rows of a file, parsed again for each product."""

    def __init__(self, source: StreamedRows) -> None:
        self.source = source

    def matvec(self, v: Array) -> Array:
        """Return X v, block by block."""
        return self.source.map(lambda block: np.asarray(block.x @ v))

    def rmatvec(self, u: Array) -> Array:
        """Return X' u, block by block."""
        out = np.zeros(self.source.shape.features)
        for block in self.source.blocks():
            out += block.x.T @ u[block.first_row : block.first_row + block.rows]
        return out

    def spread(self, weight: Array, intercept: bool) -> Array:
        """Return the root mean square of each column, about its mean if there is an intercept."""
        found = self.source.sum(Spread)
        return found.deviation if intercept else found.root

    def dual_gram(self, weight: Array, intercept: bool, scale: Array) -> DualGram:
        """Return the dual Gram matrix from all rows in memory: they are few."""
        x = scipy.sparse.vstack([block.x for block in self.source.blocks()]).tocsr()
        return SparseMatrix(x, [0]).dual_gram(weight, intercept, scale)


def _matrix(parts: Sequence[Lines], first: int, columns: int, drops: bool = False) -> Any:
    """Return rows as a CSR matrix, (n, D), of which index `first` is column 0; if `drops`, without other indices."""
    data, indices = (
        np.concatenate(list(each)) for each in zip(*((one.data, one.indices) for one in parts), strict=True)
    )
    ends = np.cumsum([0, *(len(one.data) for one in parts)])
    starts = np.concatenate([[0], *(one.starts[1:] + end for one, end in zip(parts, ends, strict=False))])
    if drops:
        inside = (indices >= first) & (indices < first + columns)
        starts = np.concatenate([[0], np.cumsum(inside)])[starts]
        data, indices = data[inside], indices[inside]
    out = scipy.sparse.csr_matrix((data, indices - np.int32(first), starts), shape=(len(starts) - 1, columns))
    out.has_canonical_format = True
    return out


def _read_each(readers: list[Reader]) -> Iterator[Block]:
    for read in readers:
        yield from read()


def _numbers(found: Any) -> int:
    """Return how many numbers the arrays of a sum hold, or those of its parts."""
    if isinstance(found, list):
        return sum(map(_numbers, found))
    if isinstance(found, np.ndarray):
        return found.size
    return sum(map(_numbers, own_attributes(found).values())) if isinstance(found, Sum) else 0


def _unpacked(name: str, path: str) -> str:
    """Write the text of a compressed file into another, and return its path; refuse one that is cut short."""
    if name.lower().endswith(".zst"):
        check_zstd(name)
    try:
        with open_compressed(name) as file, open(path, "wb") as out:
            shutil.copyfileobj(file, out, PIECE)
    except EOFError:
        raise cut_short(name) from None
    except (OSError, zlib.error) as error:
        raise UnreadableTable(
            f"cannot unpack {name}: {error}; get the file again, or let TMPDIR name a folder with room"
        ) from None
    return path


def _pieces(number: int, path: str, name: str) -> Iterator[Piece]:
    """Yield the pieces of a file of plain text, each of whole lines; refuse a line that is too long."""
    size = os.path.getsize(path)
    start = len(BOM_UTF8) if _bytes(path, 0, len(BOM_UTF8)) == BOM_UTF8 else 0
    while start < size:
        stop = start + PIECE
        while stop < size:
            window = _bytes(path, stop - 1, stop - 1 + WINDOW)
            if not window:
                raise UnreadableTable(f"{name} has changed while it was read: open it again")
            end = window.find(b"\n")
            if end >= 0:
                stop += end
                break
            stop += len(window)
            if stop - start > LONGEST:
                raise UnreadableTable(f"{name} has a line of more than {LONGEST} bytes, from byte {start}: is it text?")
        stop = min(stop, size)
        yield Piece(number, start, stop)
        start = stop


def _bytes(path: str, start: int, stop: int) -> bytes:
    """Return the bytes of a file from `start` to before `stop`."""
    with open(path, "rb", buffering=0) as file:
        file.seek(start)
        found = b""
        while len(found) < stop - start and (more := file.read(stop - start - len(found))):
            found += more
        return found
