"""The rows of a table as a source: coded block by block, so that memory does not grow with the table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.block import Block, Shape
from adaline.coding import Coding, Column
from adaline.coding.columns import ABSENT, UNKNOWN, is_missing, plain
from adaline.coding.expressions import evaluate
from adaline.coding.formula import targets_of
from adaline.errors import InvalidData, InvalidParameter, MissingValues, UnknownLabel, UnreadableTable
from adaline.lazy import nw
from adaline.locks import cached_property
from adaline.sources.array import ArraySource
from adaline.sources.base import Reader, Source, block_rows
from adaline.sources.progress import ReadingProgress, watched
from adaline.sources.tables.batches import Run, as_table
from adaline.sources.tables.coding import declared_order, learn_coding, missing_message, rows_filter, target_columns
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.spec import TableSpec, check_column, check_needed
from adaline.sources.tables.sql import quoted
from adaline.wording import counted, visible

ReadTargets = Callable[["nw.DataFrame[Any]", int], Array]
"""A function from a frame and the index of its first row to its targets, (n, K)."""

MOST_CLASSES = 1000
KEPT = 2**23  # numbers of a table up to which it is held in memory and read once
PEEKED = 2**11  # rows of a text file that are read for a look at the first ones
GUESS = 2**15  # rows of a text file from which labels are guessed
TEXTS = ("text", "category")


class TableSource(Source):
    """The coded rows of a table; opened by `open_table`.

    Targets are numbers for a regression, indices of classes (`encoded`) for a classifier, and none (`coded_by` without
    targets) for predictions.
    """

    def __init__(
        self,
        relation: Relation,
        spec: TableSpec,
        *,
        coding: Coding | None = None,
        read_targets: ReadTargets | None = None,
        n_targets: int | None = None,
        where: str | None = None,
        progress: bool | None = None,
    ) -> None:
        self.relation = relation
        self.spec = spec
        self.progress = progress
        self.reads = [0]
        self._coding = coding
        self._given_where = where
        self._given_targets = read_targets
        self._n_targets = n_targets
        self._blocks: list[Block] | None = None
        self._large = False
        self._with_offset: int | None = None
        self._encoded: tuple[NDArray[Any], TableSource] | None = None

    def learn_coding(self) -> Coding:
        """Return the coding of the columns; where it is unknown it is learned, in up to three reads."""
        if self._coding is None:
            before = self.relation.queries
            self._coding = learn_coding(self.relation, self.spec)
            self.reads[0] += self.relation.queries - before
        return self._coding

    @property
    def coding(self) -> Coding:  # type: ignore[override]
        """The coding of the columns of the table as columns of X, known after `learn_coding`."""
        if self._coding is None:
            raise RuntimeError("the coding was not learned yet: use learn_coding()")
        return self._coding

    @property
    def targets(self) -> tuple[str, ...]:
        """Names or expressions of the targets."""
        if self.spec.formula is None:
            return self.spec.targets
        return targets_of(self.coding.target) if self.coding.target is not None else ()

    @property
    def has_labels(self) -> bool:
        """Whether the target is a column of texts, so that only a classifier can learn it."""
        names = self.targets
        return len(names) == 1 and names[0] in self.relation.schema and self.relation.kind(names[0]) in TEXTS

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the columns of X."""
        return self.coding.names

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        """Columns of X, and targets."""
        own = len(self.targets) + self.offset if self._n_targets is None else self._n_targets
        return Shape(len(self.names), own)

    @property
    def offset(self) -> int:
        """How many of the last targets are offsets."""
        if self._with_offset is None:
            known = self.spec.offset if self._coding is None else self._coding.offset
            return int(self._given_targets is None and known is not None)
        return self._with_offset

    @offset.setter
    def offset(self, value: int) -> None:
        self._with_offset = value

    @property
    def flat(self) -> bool:  # type: ignore[override]
        """Whether one target was given, not a list of them."""
        return not isinstance(self.spec.target, tuple) and len(self.targets) < 2

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows that are used, known after the first read or `count_rows`."""
        if self.where not in self.relation.counted:
            raise RuntimeError("the rows were not counted yet: use count_rows()")
        return self.relation.counted[self.where]

    def count_rows(self) -> int:
        """Return the number of rows that are used; a read where it is unknown."""
        self.learn_coding()
        if self.where not in self.relation.counted:
            self.reads[0] += not self.relation.counts_without_reading(self.where)
        return self.relation.count(self.where)

    @property
    def streamed(self) -> bool:  # type: ignore[override]
        """Whether the table is too large to be held in memory."""
        return self._blocks is None

    @cached_property
    def where(self) -> str:
        """The SQL condition of the rows that are used."""
        if self._given_where is not None:
            return self._given_where
        spec = replace(self.spec, offset=self.coding.offset)
        return rows_filter(self.relation, spec, self.targets, self.coding.needed)

    @property
    def weighted(self) -> bool:
        """Whether the rows have weights."""
        return self.spec.weight is not None

    def read_weights(self) -> Array | None:
        """Return all weights, (N,), or None."""
        if self.spec.weight is None:
            return None
        rows = self if self._blocks is not None else self._read_by(no_targets, 0)
        return rows.map(lambda block: np.asarray(block.weight))

    def __repr__(self) -> str:
        shown = f", target={', '.join(self.targets)}" if self.targets else ""
        return f"TableSource({visible(self.relation.title)}, {counted(len(self.relation.schema), 'column')}{shown})"

    def keep(self) -> TableSource:
        """Hold a small table in memory, which also checks it; a large one stays streamed. Return self."""
        self.learn_coding()
        if self._large or self.relation.size() > 8 * KEPT:
            return self
        if self.has_labels and self._given_targets is None:
            self.encoded(self.find_labels())
            return self
        blocks: list[Block] = []
        size = 0
        for block in self.blocks():
            if not (np.isfinite(block.x).all() and np.isfinite(block.t).all()):
                self.refuse_nonfinite()
            blocks.append(block)
            size += block.rows * (sum(block.shape) + 1)
            if size > KEPT:
                self._large = True
                return self
        if self.spec.weight is not None and not any(np.any(block.weight) for block in blocks):
            raise InvalidData(f"all weights in column {self.spec.weight!r} are zero: there is nothing to fit")
        self._blocks = blocks
        return self

    def _readers(self) -> Iterator[Reader]:
        """Return readers of the blocks in order: from memory, or from the table with a progress line."""
        if self._blocks is not None:
            for block in self._blocks:
                yield partial(iter, [block])
            return
        columns = list(dict.fromkeys([*self.learn_coding().needed, *self._other_columns()]))
        self._refuse_change()
        runs = self.relation.runs(columns, self.where, block_rows(len(self.names)))
        first = 0
        likely = self.relation.counted.get(self.where) or self.relation.estimated_rows()
        with watched(self.relation.title, likely, self.progress) as progress:
            for rows, run in runs:
                yield partial(self._read, run, first, progress)
                first += rows
        if first == 0:
            raise InvalidData(f"{self.relation.title} has no rows{'' if self.where == 'TRUE' else ' without gaps'}")
        self._refuse_change()
        self.relation.counted[self.where] = first

    def peek(self) -> Block:
        """Return the first block; of a text file its first rows alone, as DuckDB would parse many more beside them."""
        if self._blocks is not None or self.relation.layout is None or self.where != "TRUE":
            return super().peek()
        head = copy(self)
        head.relation = self.relation.first_rows(PEEKED)
        return Source.peek(head)

    def read_targets(self) -> Array:
        """Return all targets, (N, K); the other columns of a large table are not read."""
        rows = self if self._blocks is not None else self._read_by(self._read_targets, self.shape.targets)
        if rows is not self:
            rows._coding = replace(self.coding, columns=(), terms=())
        return rows.map(lambda block: np.asarray(block.t))

    def target_values(self) -> NDArray[Any]:
        """Return the targets as they are in the table: numbers, or labels."""
        if not self.has_labels:
            targets = self.read_targets()[:, : self.shape.targets - self.offset]
            return targets[:, 0] if self.flat else targets
        classes = self.find_labels()
        return np.asarray(classes[self.encoded(classes).read_targets()[:, 0].astype(np.intp)])

    def read_column(self, name: str) -> NDArray[Any]:
        """Return a column of the table, (N,), in the rows that are used, such as groups of rows; refuse gaps."""
        check_column(self.relation, name, "column")
        self.learn_coding()
        found: list[Any] = []
        for _, run in self.relation.runs([name], self.where, block_rows(1)):
            for batch in run():
                found += as_table(batch).column(0).to_pylist()
        if any(map(is_missing, found)):
            raise MissingValues(f"column {name!r} has no value in some rows: leave those out, or fill them in")
        return np.asarray(found)

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets, held in memory."""
        return self._with(
            lambda frame, first: t[first : first + len(frame)], lambda b: t[b.first_row :][: b.rows], t.shape[1]
        )

    def unlabelled(self) -> TableSource:
        """Return the same rows without targets, held in memory where they are few."""
        return self._read_by(no_targets, 0).keep()

    def with_target(self, k: int) -> Source:
        """Return the same rows with target k alone, beside its offset where they have one."""
        columns = self.columns_of_target(k)
        out = self._derived(lambda t: np.ascontiguousarray(t[:, columns]), len(columns))
        out.offset = min(self.offset, 1)
        return out

    def recoded(self, values: Array) -> Source:
        """Return the same rows where target k, a class index, becomes values[k]."""
        return self._derived(lambda t: values[t[:, 0].astype(np.intp)], values.shape[1])

    def find_labels(self, guess: bool = False) -> NDArray[Any]:
        """Return the distinct values of the target, sorted; refuse fractions and too many of them.

        This takes a pass; with `guess`, only the first rows of a large text file are read.
        """
        if self._encoded is not None:
            return self._encoded[0]
        self.learn_coding()
        name = self._label_column()
        table = self.relation.sql
        if guess and not self.relation.parquet and self.relation.size() > 8 * KEPT:
            table = f"(SELECT * FROM {table} LIMIT {GUESS})"
        self.reads[0] += 1
        return distinct_labels(self.relation, name, table, self.where, self.spec.missing != "error")

    def label_order(self) -> list[Any] | None:
        """Return the levels of the target as categories= names them, or the table declares them; None elsewhere."""
        name = self._label_column()
        named = dict(self.spec.categories).get(name)
        return declared_order(self.relation, name) if named is None else list(named)

    @property
    def knows_labels(self) -> bool:
        """Whether the labels are known without a read."""
        return self._encoded is not None

    def numbered(self) -> tuple[TableSource, Codebook]:
        """Return the same rows with their labels numbered as they are met, and the codebook that one read fills."""
        book = Codebook(self._label_column())
        return self._read_by(book, 1), book

    def encoded(self, classes: NDArray[Any]) -> TableSource:
        """Return the same rows with the index of each label among the classes as target."""
        if self._encoded is not None and np.array_equal(self._encoded[0], classes):
            return self._encoded[1]
        out = self._read_by(label_indices(self.targets[0], classes), 1).keep()
        self._encoded = classes, out
        return out

    def refuse_nonfinite(self) -> None:
        """Raise, naming what is missing or infinite."""
        columns = [*self._other_columns(), *self.coding.needed]
        if self.spec.missing == "error" and self.relation.count(" OR ".join(map(self.relation.absent, columns))):
            raise MissingValues(missing_message(self.relation, columns))
        super().refuse_nonfinite()

    def _matrix(self) -> Source:
        return self._dense

    @cached_property
    def _dense(self) -> ArraySource:
        """All rows in memory, for solvers of wide data, which has few rows."""
        blocks = list(self.blocks())
        t = np.concatenate([block.t for block in blocks])
        out = ArraySource(np.concatenate([block.x for block in blocks]), t, self.read_weights(), self.names)
        if not self.streamed:  # else only reads of the table itself are counted
            out.reads = self.reads
        return out

    @cached_property
    def _read_targets(self) -> ReadTargets:
        if self._given_targets is not None:
            return self._given_targets
        targets = number_targets(self.relation, self.targets)
        return self._beside_offset(targets) if self.offset else targets

    def _beside_offset(self, targets: ReadTargets) -> ReadTargets:
        """Return a reader of targets with the offset as their last column."""

        def read(frame: nw.DataFrame[Any], first: int) -> Array:
            offset = self.coding.read_offset(frame)
            assert offset is not None
            return np.column_stack([targets(frame, first), offset])

        return read

    def read_offset(self) -> Array | None:
        """Return the offset of each row, (N,), whatever the targets; None where there is none."""
        if self.learn_coding().offset is None:
            return None
        return self._read_by(self._beside_offset(no_targets), 1).read_targets()[:, 0]

    def read_frame(self) -> nw.DataFrame[Any]:
        """Return the raw columns that X is made from, of all rows, as a frame of Arrow in memory."""
        self._refuse_change()
        runs = self.relation.runs(list(self.learn_coding().needed), self.where, block_rows(len(self.names)))
        return nw.concat([nw.from_native(as_table(batch), eager_only=True) for _, run in runs for batch in run()])

    def _read(self, run: Run, first: int, progress: ReadingProgress) -> Iterator[Block]:
        for batch in run():
            frame = nw.from_native(as_table(batch), eager_only=True)
            try:
                yield self._block(frame, first)
            except MissingValues:
                columns = [*self._other_columns(), *self.coding.needed]
                raise MissingValues(missing_message(self.relation, columns)) from None
            first += len(frame)
            progress.add(len(frame))

    def _block(self, frame: nw.DataFrame[Any], first: int) -> Block:
        name = self.spec.weight
        weight = None if name is None else weight_column(name, frame, first)
        return Block(self.coding.columns_of(frame, first), self._read_targets(frame, first), weight, first_row=first)

    def _other_columns(self) -> list[str]:
        """Return the raw columns that the targets and weights are read from."""
        targets = [] if self._n_targets == 0 else self.targets
        names = [name for target in targets for name in target_columns(self.relation, target)]
        offset = self.coding.offset
        names += [] if offset is None else target_columns(self.relation, offset)
        return [*names, *([] if self.spec.weight is None else [self.spec.weight])]

    def _label_column(self) -> str:
        if len(self.targets) != 1:
            raise InvalidParameter("a classifier needs one target: open the table with target='column'")
        if self.targets[0] not in self.relation.schema:
            raise InvalidData(f"a classifier needs a column as target, not the expression {self.targets[0]!r}")
        return self.targets[0]

    def _refuse_change(self) -> None:
        if self.relation.stamps() != self.relation.stamp:
            raise UnreadableTable(f"{self.relation.title} has changed since it was opened: open it again")

    def _read_by(self, read_targets: ReadTargets, n_targets: int) -> TableSource:
        """Return the same rows with targets by another reader."""
        out = TableSource(
            self.relation,
            self.spec,
            coding=self.learn_coding(),
            read_targets=read_targets,
            n_targets=n_targets,
            where=self.where,
            progress=self.progress,
        )
        out.reads, out._large = self.reads, self._large
        return out

    def _derived(self, function: Callable[[Array], Array], n_targets: int) -> Source:
        """Return the same rows with a function of the targets as targets."""
        return self._with(
            lambda frame, first: function(self._read_targets(frame, first)), lambda b: function(b.t), n_targets
        )

    def _with(self, read_targets: ReadTargets, from_block: Callable[[Block], Array], n_targets: int) -> Source:
        out = self._read_by(read_targets, n_targets)
        if self._blocks is not None:
            out._blocks = [Block(b.x, from_block(b), b.weight, first_row=b.first_row) for b in self._blocks]
        return out


def coded_by(source: TableSource, coding: Coding, targets: bool = True, text_target: bool = False) -> TableSource:
    """Return a table with the coding of a fitted model; without targets for rows to predict.

    Where it was opened with a target, the same rows are used. Categories whose levels are texts, and with `text_target`
    the target, are read as texts even where this file has only numbers there.
    """
    check_needed(source.relation, coding)
    if source.spec.targets or source.spec.formula is not None:
        source.learn_coding()
    wanted = source.targets or (() if coding.target is None else targets_of(coding.target))
    relation = source.relation.with_texts([*coding.texts, *(wanted if text_target else ())])
    relation.add_lags(coding.needed)
    spec = TableSpec(missing="error" if coding.missing == "drop" else coding.missing, unseen=coding.unseen)
    where = source.where if source.targets else None
    if not targets:
        return TableSource(
            relation, spec, coding=coding, read_targets=no_targets, n_targets=0, where=where, progress=source.progress
        )
    target = source.spec.target if source.spec.formula is None else _one_or_several(source.targets)
    spec = replace(spec, target=target, weight=source.spec.weight, missing=coding.missing)
    if not source.targets and coding.target is not None:
        for name in (name for one in wanted for name in target_columns(source.relation, one)):
            check_column(source.relation, name, "target")
        spec = replace(spec, target=_one_or_several(wanted), weight=coding.weight)
    return TableSource(relation, spec, coding=coding, where=where, progress=source.progress).keep()


def _one_or_several(targets: tuple[str, ...]) -> str | tuple[str, ...]:
    return targets[0] if len(targets) == 1 else targets


class Codebook:
    """A reader of labels that need not be known beforehand: they are numbered in the order in which they are met.

    Calling it returns the numbers of the labels of a frame, (n, 1); several threads may do so.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._numbers: dict[Any, int] = {}
        self._lock = Lock()

    def __call__(self, frame: nw.DataFrame[Any], first: int) -> Array:
        """Return the number of the label of each row, (n, 1)."""
        found = [plain(value) for value in frame[self.name].unique().to_list() if not is_missing(value)]
        with self._lock:
            for label in found:
                self._numbers.setdefault(label, len(self._numbers))
            check_labels(self.name, self._numbers)
            levels = np.array([*self._numbers, None], dtype=object)[:-1]
        return label_indices(self.name, levels)(frame, first)

    def sorted(self) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Return the labels met, sorted, and for each number the index of its label among them."""
        classes = np.unique(np.array(list(self._numbers))) if self._numbers else np.array([], dtype=object)
        return classes, np.searchsorted(classes, np.array(list(self._numbers), dtype=classes.dtype))


def no_targets(frame: nw.DataFrame[Any], first: int) -> Array:
    """Return no targets, (n, 0), for rows to predict."""
    return np.empty((len(frame), 0))


def number_targets(relation: Relation, targets: Sequence[str]) -> ReadTargets:
    """Return a reader of targets, columns or expressions, as numbers."""

    def read(frame: nw.DataFrame[Any], first: int) -> Array:
        out = np.empty((len(frame), len(targets)))
        for k, target in enumerate(targets):
            columns = {name: number_column(relation, name, frame) for name in target_columns(relation, target)}
            out[:, k] = columns[target] if target in columns else evaluate(target, columns)
        return out

    return read


def number_column(relation: Relation, name: str, frame: nw.DataFrame[Any]) -> Array:
    """Return one column of a target as numbers, (n,); refuse missing values."""
    if relation.kind(name) in ("other", "date"):
        raise InvalidData(
            f"the target {name!r} holds {relation.schema[name]}, neither numbers nor texts. Turn it into numbers for a "
            f"regression or texts for a classifier, by a query: SELECT CAST({quoted(name)} AS VARCHAR) AS ..."
        )
    if relation.kind(name) not in ("number", "boolean"):
        raise InvalidData(
            f"the target {name!r} holds {relation.schema[name]}, not numbers. A regression needs numbers as targets; "
            "use a classifier"
        )
    values = Column(name, "number").numbers(frame)
    if np.isnan(values).any():
        raise MissingValues(f"the target {name!r} has missing values")
    return values


def label_indices(name: str, classes: NDArray[Any]) -> ReadTargets:
    """Return a reader of labels as their indices among the classes."""
    column = Column(name, "category", tuple(plain(label) for label in classes))

    def read(frame: nw.DataFrame[Any], first: int) -> Array:
        codes = column.codes(frame)
        if (codes == ABSENT).any():
            raise MissingValues(f"the target {name!r} is missing at row {first + int((codes == ABSENT).argmax())}")
        if (codes == UNKNOWN).any():
            label = frame[name].to_list()[int((codes == UNKNOWN).argmax())]
            raise UnknownLabel(f"label '{label}' is not among the classes {list(column.levels)}")
        return codes.astype(np.float64)[:, None]

    return read


def check_labels(name: str, labels: Collection[Any]) -> None:
    """Refuse values that are no labels: fractions, or too many distinct values."""
    if len(labels) > MOST_CLASSES or any(isinstance(label, float) for label in labels):
        raise InvalidData(
            f"Unknown label type: the target {name!r} has fractions, or more than {MOST_CLASSES} different values, so "
            "it is no label; use a regression, or cut it into classes"
        )


def weight_column(name: str, frame: nw.DataFrame[Any], first: int) -> Array:
    """Return a column of weights, (n,); refuse negative and missing ones."""
    out = Column(name, "number").numbers(frame)
    good = np.isfinite(out) & (out >= 0)
    if not good.all():
        row = int((~good).argmax())
        raise InvalidData(
            f"the weight in column {name!r} is {out[row]:g} at row {first + row}: weights are numbers of zero or more"
        )
    return out


def distinct_labels(relation: Relation, name: str, table: str, where: str, gaps: bool) -> NDArray[Any]:
    """Return the distinct values of a column of labels, sorted; refuse missing ones unless `gaps`."""
    rows = relation.rows(f"SELECT DISTINCT {relation.value(name)} FROM {table} WHERE {where} LIMIT {MOST_CLASSES + 1}")
    found = [plain(row[0]) for row in rows if not is_missing(row[0])]
    if len(found) < len(rows) and not gaps:
        raise MissingValues(missing_message(relation, [name]))
    check_labels(name, found)
    return np.unique(np.array(found)) if found else np.array([], dtype=object)
