"""The rows of a table as a source: coded block by block, so that memory does not grow with the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, is_sparse
from adaline.block import Block, Shape
from adaline.coding import Coding
from adaline.coding.formula import targets_of
from adaline.errors import InvalidData, MissingValues
from adaline.locks import cached_property
from adaline.sources.array import joined_rows
from adaline.sources.base import Leaf, Place, Source
from adaline.sources.columns import RowColumns
from adaline.sources.engine import refuse_many
from adaline.sources.matrix import DenseMatrix, RowMatrix, SparseMatrix
from adaline.sources.progress import ReadingProgress, watched
from adaline.sources.runners import Reader
from adaline.sources.tables.altered import read_as_fitted, with_columns_of
from adaline.sources.tables.coded_table import CodedTable, targets_of_columns
from adaline.sources.tables.coding import target_columns, with_formula_lags
from adaline.sources.tables.labels import Codebook, label_indices, number_indices
from adaline.sources.tables.parts import PartRows
from adaline.sources.tables.rows import TableRows
from adaline.sources.tables.spec import TableSpec, check_column, check_needed
from adaline.sources.tables.target_labels import TargetLabels, holds_labels
from adaline.sources.tables.targets import (
    ReadTargets,
    beside_offset,
    columns_as_targets,
    given_targets,
    no_targets,
)
from adaline.sources.targets import RowTargets, TargetChange, targets_of_block, weights_of_block
from adaline.sources.views import ChangedTargets
from adaline.wording import counted, visible

KEPT = 2**23  # numbers of a table up to which it is held in memory and read once


class TableSource(Leaf):
    """The coded rows of a table; opened by `open_table`.

    Targets are numbers for a regression, indices of classes (`encoded`) for a classifier, and none (`coded_by` without
    targets) for predictions.
    """

    tabular = True

    def __init__(
        self,
        rows: TableRows,
        spec: TableSpec,
        known: CodedTable | None = None,
        blocks: tuple[Block, ...] | None = None,
        large: bool = False,
    ) -> None:
        self.relation = with_formula_lags(rows.relation, spec)
        self.rows, self.reads = rows.altered(self.relation), rows.reads
        self.spec, self._known, self._blocks, self._large = spec, known, blocks, large
        self.streamed = self.costly = blocks is None
        self.runner = rows.here if rows.parts is None or blocks is not None else rows.parts

    def learned(self) -> CodedTable:
        """Return the table with its coding; where it is unknown it is learned, in up to three reads."""
        return self._coded

    @cached_property
    def _coded(self) -> CodedTable:
        return self._known or CodedTable.learned(self.rows, self.spec)

    def learn_coding(self) -> Coding:
        """Return the coding of the columns; where it is unknown it is learned, in up to three reads."""
        return self.learned().coding

    @cached_property
    def columns(self) -> RowColumns:
        """What the columns of X mean, as `learn_coding` tells; of very many, each name is made when it is asked for."""
        coding = self.learn_coding()
        return RowColumns(cast(tuple[str, ...], coding.names), coding)

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns of X, (D,)."""
        return self.columns.names

    @property
    def coding(self) -> Coding:
        """The coding of the columns of the table as columns of X."""
        return self.learn_coding()

    @property
    def notes(self) -> tuple[str, ...]:
        """How files were understood, in sentences: columns of row numbers, titles, notations of numbers, encodings."""
        return self.relation.notes

    @property
    def targets(self) -> RowTargets:  # type: ignore[override]
        """What is known of the targets, which are read with the rows."""
        if self._known is None and self.spec.formula is None:  # the columns need not be known
            return targets_of_columns(self.spec, self.spec.targets, self.spec.offset is not None)
        return self.learned().targets

    @property
    def target_names(self) -> tuple[str, ...]:
        """Names or expressions of the targets."""
        return self.spec.targets if self.spec.formula is None else self.learned().target_names

    @property
    def sparse(self) -> bool:  # type: ignore[override]
        """Whether blocks are CSR."""
        return self.coding.sparse

    @property
    def density(self) -> float:
        """The fraction of the numbers of X that are stored, about, where rows are sparse."""
        return self.coding.entries / max(self.coding.count, 1) if self.sparse else 1.0

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        """Columns of X, and targets."""
        return Shape(self.coding.count, self.targets.count)

    @property
    def absorb(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the columns whose effects are to be absorbed: those of the coding that are not known yet."""
        if self._known is None and self.spec.formula is None:
            return self.spec.absorb
        return tuple(effect.name for effect in self.learn_coding().effects if not effect.fitted)

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows that are used, known after the first read or `count_rows`."""
        if self.where not in self.rows.counted:
            raise RuntimeError("the rows were not counted yet: use count_rows()")
        return self.rows.counted[self.where]

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A table on an engine travels as the rows of a part, which they are where the parts are."""
        return super().__reduce_ex__(protocol) if not self.runner.apart else (identity, (self.learned().of_part(),))

    def count_rows(self) -> int:
        """Return the number of rows that are used; a read where it is unknown."""
        if self.where not in self.rows.counted and self.rows.parts is not None:
            self.learned().placed()
        elif self.where not in self.rows.counted:
            self.reads[0] += not self.relation.counts_without_reading(self.where)
            self.relation.count(self.where)
        return self.n_rows

    @property
    def where(self) -> str:
        """The SQL condition of the rows that are used."""
        return self.learned().where

    def read_weights(self) -> Array | None:
        """Return all weights, (N,), or None."""
        if self.spec.weight is None:
            return None
        rows = self if self._blocks is not None else self.reading(no_targets, 0)
        return rows.map(weights_of_block)

    def __repr__(self) -> str:
        shown = f", target={', '.join(self.target_names)}" if self.target_names else ""
        return f"TableSource({visible(self.relation.title)}, {counted(len(self.relation.schema), 'column')}{shown})"

    def keep(self) -> TableSource:
        """Return the same rows held in memory, which also checks them, where they are few; others stay streamed.

        Where the targets are labels these are found, and the rows are held with the indices of their labels.
        """
        table = self.learned()
        if self._large or self.absorb or self.relation.size() > 8 * KEPT:
            return self
        if self.rows.parts is not None:
            large = sum(map(sum, table.placed().rows)) * sum(self.shape) > KEPT
        else:
            large = self.relation.counts_without_reading(self.where)
            large = large and self.relation.count(self.where) * table.numbers_of_a_row > KEPT
        if not large and holds_labels(table) and table.given is None:
            self.encoded(self.find_labels())
            return self
        blocks = None if large else self._few_blocks()
        if blocks is None:
            return TableSource(self.rows, self.spec, table, large=True)
        if self.spec.weight is not None and not any(np.any(block.weight) for block in blocks):
            raise InvalidData(f"all weights in column {self.spec.weight!r} are zero: there is nothing to fit")
        return self._of(table, blocks)

    def _few_blocks(self) -> tuple[Block, ...] | None:
        """Return all blocks, whose numbers are finite; None where they are too large to be held."""
        blocks: list[Block] = []
        size = 0
        for block in self.blocks():
            numbers = block.x.data if self.sparse else block.x
            if not (np.isfinite(numbers).all() and np.isfinite(block.t).all()):
                self.refuse_nonfinite()
            blocks.append(block)
            size += (
                2 * numbers.size + block.rows * (block.shape.targets + 1)
                if self.sparse
                else (block.rows * (sum(block.shape) + 1))
            )
            if size > KEPT:
                return None
        return tuple(blocks)

    def readers(self) -> Iterator[Reader]:
        """Return readers of the blocks in order: from memory, or from the table with a progress line."""
        if self._blocks is not None:
            for block in self._blocks:
                yield partial(iter, [block])
            return
        runs = self.rows.runs(self.learned().request)
        first = 0
        likely = self.relation.counted.get(self.where) or self.relation.estimated_rows()
        with watched(self.relation.title, likely, self.rows.progress) as progress:
            for rows, run in runs:
                yield partial(self.learned().blocks_of, run, first, progress)
                first += rows
        self.rows.set_count(self.where, first)
        self.rows.refuse_change()

    def peek(self) -> Block:
        """Return the first block; of a large table in a read that the next one continues."""
        if self._blocks is not None or self.runner.apart:
            return super().peek()
        looked = self.rows.begin(self.learned().request, lambda tables: True)
        if not looked:
            self.rows.set_count(self.where, 0)
        return next(self.learned().blocks_of(looked[0][1], 0, ReadingProgress("", None, False))).packed()

    def read_targets(self) -> Array:
        """Return all targets, (N, K); the other columns of a large table are not read."""
        if self._blocks is not None:
            return self.map(targets_of_block)
        alone = replace(self.coding, columns=(), terms=())
        return self._of(replace(self.learned(), coding=alone, given=self.learned().read_targets)).map(targets_of_block)

    def target_values(self) -> NDArray[Any]:
        """Return the targets as they are in the table: numbers, or labels."""
        if not holds_labels(self.learned()):
            targets = self.read_targets()[:, : self.targets.given]
            return targets[:, 0] if self.targets.flat else targets
        classes = self.find_labels()
        return np.asarray(classes[self.encoded(classes).read_targets()[:, 0].astype(np.intp)])

    def read_column(self, name: str) -> NDArray[Any]:
        """Return a column of the table, (N,), in the rows that are used, such as groups of rows; refuse gaps."""
        return self.learned().read_column(name)

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets, held in memory."""
        if self.runner.apart:
            refuse_many(t.size, self.count_rows())
        return self._with(given_targets(t), lambda b: t[b.first_row :][: b.rows], t.shape[1])

    def changed(self, change: TargetChange) -> Source:
        """Return the same rows with a change of their targets and weights, made block by block.

        Rows that have no targets then are read without, and held in memory where they are few.
        """
        return ChangedTargets(self, change) if change.known.count else self.reading(no_targets, 0).keep()

    @cached_property
    def labels(self) -> TargetLabels:
        """The labels of the target."""
        numbers = None if self._blocks is None else partial(_targets_held, self._blocks, self.reads)
        return TargetLabels(self.learned(), numbers, begins=self.streamed and not self.runner.apart)

    def find_labels(self, guess: bool = False) -> NDArray[Any]:
        """Return the distinct values of the target, sorted; refuse fractions and too many of them."""
        return self.labels.find(guess)

    def numbered(self) -> tuple[TableSource, Codebook]:
        """Return the same rows with the codes of their labels as targets, and the codebook that reads them."""
        book = Codebook(self.labels.column.name)
        return self.reading(book, 1), book

    def encoded(self, classes: NDArray[Any]) -> Source:
        """Return the same rows with the index of each label among the classes as target."""
        made = self.labels.coded(classes)
        if made is None:
            made = self._encoded(classes)
            self.labels.remember(classes, made)
        return made

    def _encoded(self, classes: NDArray[Any]) -> TableSource:
        read, known = label_indices(self.target_names[0], classes), self.targets.offset
        if known:
            return self.reading(beside_offset(read, self.coding), 1 + known, known).keep()
        if self._blocks is not None and self.labels.are_read_numbers and classes.dtype.kind in "iuf":
            return self._with(read, lambda b: number_indices(classes, b.t[:, :1]), 1)
        return self.reading(read, 1).keep()

    def refuse_nonfinite(self) -> None:
        """Raise, naming what is missing or infinite."""
        if self.spec.missing == "error" and any((found := self.learned().count_gaps()).values()):
            raise MissingValues(self.learned().gaps_found(found))
        super().refuse_nonfinite()

    def matrix(self) -> RowMatrix:
        """Return X, whose rows are held in memory from now on: wide data has few of them."""
        return self._dense

    @cached_property
    def _dense(self) -> RowMatrix:
        x = joined_rows(list(self.blocks()))
        reads = [0] if self.streamed else self.reads  # of a stream only reads of the table itself are counted
        return SparseMatrix(x, reads) if is_sparse(x) else DenseMatrix(x, reads)

    def known_parts(self) -> TableSource:
        """Return the same rows with the known part of their outputs, offset and effects, as the one target."""
        return self.reading(beside_offset(no_targets, self.coding), 1, offset=1)

    def beside(self, columns: Mapping[str, Any]) -> TableSource:
        """Return the same rows, as they are read, with some columns as their targets, by the names of arguments.

        Each is a column of the table, or an expression of such, or values beside the table on its engine.
        """
        own = {name: f"given_{name}" for name, column in columns.items() if not isinstance(column, str)}
        texts = tuple(own.get(name, column) for name, column in columns.items())
        for name, column in columns.items():
            for needed in () if name in own else target_columns(self.relation, column):
                check_column(self.relation, needed, name)
        rows = self.rows.beside({own[name]: columns[name] for name in own})
        spec = replace(self.spec, target=texts, formula=None)
        return self.reading(columns_as_targets(texts), len(texts), spec=spec, rows=rows)

    def place_of(self, row: int, target: int) -> Place:
        """Return how messages name a row and a target, and the table."""
        name = self.relation.row_name(row, self.where)
        left_out = " without the rows left out" * (name.startswith("row") and self.where != "TRUE")
        of_text = ", or read infinity as missing: --na inf,-inf, na=['inf', '-inf'] in Python"
        return Place(
            name,
            target=self.target_names[target] if target < len(self.target_names) else None,
            table=f" of {self.relation.title}{left_out}",
            of_infinity="" if self.relation.text is None else of_text,
        )

    def reading(
        self,
        read: ReadTargets,
        count: int,
        offset: int = 0,
        spec: TableSpec | None = None,
        rows: TableRows | None = None,
    ) -> TableSource:
        """Return the same rows with so many targets by another reader, the last ones of which may be offsets."""
        targets = replace(self.targets, count=count, offset=offset)
        table = self.learned().reading(read, targets)
        return self._of(replace(table, spec=spec or self.spec, rows=rows or self.rows))

    def _of(self, table: CodedTable, blocks: tuple[Block, ...] | None = None) -> TableSource:
        """Return the same rows, read in another way."""
        return TableSource(table.rows, table.spec, table, blocks, self._large)

    def _with(self, read_targets: ReadTargets, from_block: Callable[[Block], Array], n_targets: int) -> TableSource:
        blocks = self._blocks
        if blocks is not None:
            blocks = tuple(Block(b.x, from_block(b), b.weight, first_row=b.first_row) for b in blocks)
        return self._of(self.reading(read_targets, n_targets).learned(), blocks)


def _targets_held(blocks: Sequence[Block], reads: list[int]) -> Array:
    """Return the targets of blocks in memory, (N, K); a read."""
    reads[0] += 1
    return np.concatenate([targets_of_block(block) for block in blocks])


def identity(rows: PartRows) -> PartRows:
    """Return the rows themselves."""
    return rows


def in_fitted_notation(source: TableSource, coding: Coding) -> TableSource:
    """Return the same rows with text files read in the notation of those that a model was fitted to."""
    relation = read_as_fitted(source.relation, coding)
    return source if relation is source.relation else TableSource(source.rows.of(relation), source.spec)


def coded_by(source: TableSource, coding: Coding, targets: bool = True, text_target: bool = False) -> TableSource:
    """Return a table with the coding of a fitted model; without targets for rows to predict.

    Where it was opened with a target, the same rows are used. Text files are read in the notation of the fit.
    Categories whose levels are texts, and with `text_target` the target, are read as texts even where this file has
    only numbers there.
    """
    check_needed(source.relation, coding)
    source = in_fitted_notation(source, coding)
    if source.spec.targets or source.spec.formula is not None:
        source.learn_coding()
    wanted = source.target_names or (() if coding.target is None else targets_of(coding.target))
    rows = source.rows.of(with_columns_of(source.relation, coding, wanted if text_target else ()))
    kind = "error" if coding.missing == "drop" else coding.missing
    spec = TableSpec(missing=kind, unseen=coding.unseen, singletons=source.spec.singletons)
    where = source.where if source.target_names else None
    if not targets:
        table = CodedTable.of(rows, spec, coding, where)
        return TableSource(rows, spec, table.reading(no_targets, RowTargets(0)))
    target = source.spec.target if source.spec.formula is None else _one_or_several(source.target_names)
    spec = replace(spec, target=target, weight=source.spec.weight, missing=coding.missing)
    if not source.target_names and coding.target is not None:
        for name in (name for one in wanted for name in target_columns(source.relation, one)):
            check_column(source.relation, name, "target")
        spec = replace(spec, target=_one_or_several(wanted), weight=coding.weight)
    out = TableSource(rows, spec, CodedTable.of(rows, spec, coding, where), large=source._large)
    return out.keep()


def _one_or_several(targets: tuple[str, ...]) -> str | tuple[str, ...]:
    return targets[0] if len(targets) == 1 else targets
