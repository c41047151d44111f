"""The rows on which systems are compared: columns of numbers, a target, and a description of the raw columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, RowsLike, TargetsLike, as_dense, is_sparse
from adaline.block import Block
from adaline.coding.amounts import RangeSummary
from adaline.coding.columns import MISSING_LEVEL, Column, plain_level
from adaline.coding.learn import MOST_KEPT
from adaline.comparison.open_data import MOST_LOST, MOST_WHOLE_LABELS, DataRequest, OpenedData, open_data
from adaline.comparison.spellings import same_levels
from adaline.errors import InvalidData, InvalidParameter
from adaline.locks import cached_property
from adaline.parameters import one_of
from adaline.selection.cross_validation import refuse_absorbing
from adaline.selection.folds import fold_count
from adaline.solvers.least_squares.factor import LEAST_SPREAD
from adaline.sources import Source, TableSource
from adaline.sources.tables.coding import gap_counts, gaps_of, target_columns
from adaline.sources.tables.effects import Levels, read_levels
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.rows import TableRows
from adaline.sources.tables.spec import TableSpec
from adaline.sources.tables.sql import quoted
from adaline.sources.tables.summary import Wanted, summarize
from adaline.sources.threads import run_blocks
from adaline.sources.views import assign_folds

Task = Literal["regression", "classification"]
REGRESSION: Final = "regression"
CLASSIFICATION: Final = "classification"
LEAST_SKEWNESS = 1.0  # skewness from which a logarithm is considered: an exponential target has 2, a symmetric one 0
LEAST_DISTINCT = 20  # distinct values from which a skewness is meaningful; doubling it considers fewer targets
MOST_NUMBERS = 2**26  # numbers of X, or of probabilities, in memory; doubling it takes 1 GiB
# systems whose probabilities of held-out rows are kept; doubling it takes twice the memory, of fewer rows
KEPT_PROBABILITIES = 8
# numbers of X from which rows of many levels are held as a sparse matrix; doubling it holds more of them dense
LEAST_SPARSE_NUMBERS = 2**22
# share of stored numbers up to which a sparse matrix is quicker and smaller; at twice this share it is neither
MOST_SPARSE_SHARE = 0.2
SPARSE_BYTES = 12  # size of a stored number with its column
# mean^2 / variance up to which rows stay sparse: sums of sparse rows are not centred, and 100x larger loses a digit
MOST_SQUARED_MEAN = 1e6
BLOCK_ROWS = 2**12  # rows per task of a thread; doubling it splits small tables among fewer threads
MOST_COUNTED_ROWS = 10**5  # rows up to which distinct values are counted exactly; doubling it takes twice as long
MOST_QUERIED_COLUMNS = 50  # columns that one query describes; doubling it makes queries that DuckDB takes long to plan
MOST_LEVELS = 100  # levels kept of a category, the most frequent first; doubling it keeps more for the report


@dataclass(frozen=True, eq=False)
class Table:
    """Rows in memory, coded as numbers, with their names and where they came from.

    Parameters
    ----------
    X : (n, D) float64; a CSR array where there are many rows and most numbers are zeros of coded levels.
    y : (n,) the target: floats are regressed upon unless they are two whole numbers; text, booleans and few distinct
        integers are classes.
    names : of the columns of X, such as "distance" or "carrier[T.UA]".
    origin : the column of the data that each column of X was made from, such as "carrier".
    target : name of y.
    weight : (n,) or None; a weight of 2 is the row twice.
    total_rows : rows that could be used, of which these may be a random sample; 0: there are no others.
    dropped : rows of the data that could not, as something is missing in them.
    constant : columns that hold the same value in every row, and are not in X.
    columns : what the columns of the data hold, before coding; dictionaries with `name`, `role`, `kind`, `missing`,
        `distinct`, `low`, `mean`, `high`, `levels` ([level, count], most frequent first), `same` (levels in several
        spellings) and `note`.
    source : what the user typed: a file, or the name of a data set.
    indices : (n,) the index of each row in the data, those left out included; None: 0, 1, ...
    order : of the labels as texts, the lowest first, where they are declared to have one.
    offset : (n,) a known part of the output of each row, or None.
    coded : the different labels in y and the index of each row's label, where they are known.
    fold : (n,) the fold of each row, once the rows are cut into folds; those of fold 0 come first.
    stream : all rows, where these are a sample that was cut into folds as it was read, and the fold of each, (N,).
    gaps : what was done about missing values of features, in a few words; "" where there were none.
    filled : columns that were filled where values were missing, and the columns of X, by name, that are 1 there.
    line_name : from the index of a row in the data to its line in a text file; None where rows have no lines.
    plain : whether the columns are those of the data, and not terms of a formula.
    levels : columns of too many levels to be coded in X: the levels of all rows of the data.
    command : the command line that makes this comparison again, "" if there is none.
    opening : from names of further categories to the Python call that opens the table with them again.

    Examples
    --------
    >>> from adaline.comparison.table import Table
    >>> table = Table.of([[1.0], [2.0], [3.0]], [2.0, 4.0, 6.0], names=["x"], target="y")
    >>> table.task(), table.X.shape, table.names
    ('regression', (3, 1), ('x',))
    """

    X: Any
    y: NDArray[Any]
    names: tuple[str, ...]
    origin: tuple[str, ...]
    target: str
    weight: Array | None = None
    total_rows: int = 0
    dropped: int = 0
    constant: tuple[str, ...] = ()
    columns: list[dict[str, Any]] = field(default_factory=list)
    source: str = ""
    command: str = ""
    opening: Callable[[Sequence[str]], str] | None = None
    indices: NDArray[np.intp] | None = None
    order: tuple[str, ...] | None = None
    offset: Array | None = None
    coded: tuple[NDArray[Any], NDArray[np.intp]] | None = None
    fold: NDArray[np.intp] | None = None
    stream: tuple[Source, NDArray[np.int8]] | None = None
    gaps: str = ""
    filled: tuple[tuple[str, str], ...] = ()
    line_name: Callable[[int], str] | None = None
    plain: bool = True
    levels: tuple[Levels, ...] = ()

    @classmethod
    def of(
        cls,
        X: RowsLike,
        y: TargetsLike,
        *,
        names: Sequence[str] | None = None,
        target: str = "y",
        weight: AnyArray = None,
        source: str = "",
    ) -> Table:
        """Make a table of plain arrays: every column is a number and its own origin."""
        x = np.ascontiguousarray(X, dtype=np.float64)
        if x.ndim != 2:
            raise InvalidData(f"X must have rows and columns, got an array of {x.ndim} dimension(s)")
        known = tuple(f"x{j}" for j in range(x.shape[1])) if names is None else tuple(map(str, names))
        return cls(
            x,
            np.asarray(y),
            known,
            known,
            target,
            None if weight is None else np.asarray(weight, dtype=np.float64),
            len(x),
            source=source,
        )

    def task(self, asked: Task | None = None) -> Task:
        """Return "regression" or "classification": as the type of y says, unless one is asked for."""
        if asked is not None:
            one_of(Task).check("task", asked)
            return asked
        kind = self.y.dtype.kind
        if kind == "f":
            return CLASSIFICATION if is_two_valued(self.y) else REGRESSION
        if kind in "iu":
            return CLASSIFICATION if len(np.unique(self.y)) <= MOST_WHOLE_LABELS else REGRESSION
        return CLASSIFICATION

    @cached_property
    def classes(self) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """The different labels in y, sorted, and the index of each row's label, (n,)."""
        return np.unique(self.y, return_inverse=True) if self.coded is None else self.coded

    @property
    def ranked(self) -> list[int] | None:
        """The indices of the classes, the lowest first, of more than two that are declared to have an order."""
        names = [str(label) for label in self.classes[0]]
        if self.order is None or len(names) < 3 or not set(names) <= set(self.order):
            return None
        return [names.index(name) for name in self.order if name in names]

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """The smallest and the largest value of each column, (D,) each; NaN where a value is."""
        low, high = zip(*self.by_blocks(lambda x: (x.min(axis=0), x.max(axis=0))), strict=True)
        return np.min(low, axis=0), np.max(high, axis=0)

    @cached_property
    def spread(self) -> Array:
        """The standard deviation of each column, (D,)."""

        def block_moments(x: Array) -> tuple[int, Array, Array]:
            centre = x.mean(axis=0)
            return len(x), centre, np.square(x - centre).sum(axis=0)

        rows, centre, squares = (np.array(part) for part in zip(*self.by_blocks(block_moments), strict=True))
        mean = rows @ centre / rows.sum()
        return np.asarray(np.sqrt((squares.sum(axis=0) + rows @ (centre - mean) ** 2) / rows.sum()))

    def by_blocks(self, function: Callable[[Array], Any]) -> list[Any]:
        """Return a function of each block of rows, in order, by all threads."""
        found: dict[int, Any] = {}

        def work(i: int) -> None:
            with np.errstate(all="ignore"):
                found[i] = function(as_dense(self.X[i * BLOCK_ROWS : (i + 1) * BLOCK_ROWS]))

        run_blocks(-(-len(self.y) // BLOCK_ROWS), work)
        return [found[i] for i in range(len(found))]

    def column(self, j: int) -> Array:
        """Return a column of X, (n,)."""
        return self.dense([j])[:, 0] if is_sparse(self.X) else np.asarray(self.X[:, j])

    def dense(self, columns: Any = slice(None), rows: Any = slice(None)) -> Array:
        """Return some columns of X, of some rows, as a dense array."""
        if not is_sparse(self.X):
            return np.asarray(self.X[rows][:, columns])
        return np.asarray(self._by_columns[:, columns][rows].toarray())

    @cached_property
    def _by_columns(self) -> Any:
        """A sparse X in column-major order."""
        return self.X.tocsc()

    def groups(self) -> dict[str, list[int]]:
        """Return, for each column of the data, the columns of X that were made from it."""
        out: dict[str, list[int]] = {}
        for j, name in enumerate(self.origin):
            out.setdefault(name, []).append(j)
        return out

    @property
    def filled_columns(self) -> list[tuple[int, int]]:
        """The indices in X of each column that was filled and of its indicator, where both are there."""
        index = {name: j for j, name in enumerate(self.names)}
        return [(index[name], index[mark]) for name, mark in self.filled if name in index and mark in index]

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Whether a row had no missing values, (n,)."""
        marks = {mark for _, mark in self.filled}
        absent = self.dense([j for j, name in enumerate(self.names) if name in marks])
        return np.asarray(np.all(absent == 0, axis=1))

    def row_name(self, i: int) -> str:
        """Return the name of row i: its line in a text file, else its index in the data, counted from 0."""
        row = int(i if self.indices is None else self.indices[i])
        return f"row {row}" if self.line_name is None else self.line_name(row)

    def in_folds(self, order: NDArray[np.intp], X: RowsLike, fold: NDArray[np.intp]) -> Table:
        """Return the table with its rows in this order; X and their folds are in it already."""
        return replace(
            self,
            X=X,
            fold=fold,
            y=self.y[order],
            weight=None if self.weight is None else self.weight[order],
            offset=None if self.offset is None else self.offset[order],
            indices=order if self.indices is None else self.indices[order],
            coded=None if self.coded is None else (self.coded[0], self.coded[1][order]),
        )

    def with_names(self, text: str) -> str:
        """Return a message of a system that was fitted to X, where columns are x0, x1, ..., with their own names.

        Examples
        --------
        >>> from adaline.comparison.table import Table
        >>> table = Table.of([[1.0, 2.0]], [3.0], names=["hour", "minute"])
        >>> table.with_names("x1 = 60 x0")
        'minute = 60 hour'
        """
        names = dict(enumerate(self.names))
        return re.sub(r"\bx(\d+)\b", lambda found: names.get(int(found[1]), found[0]), text)

    def varying(self) -> Table:
        """Return the table without the columns that are the same in every row, up to rounding."""
        low, high = self.ends
        varies = high - low > LEAST_SPREAD * np.maximum(np.abs(low), np.abs(high))
        if varies.all():
            return self
        if not varies.any():
            raise InvalidData("every column holds the same value in all rows: there is nothing to predict from")
        kept = np.flatnonzero(varies)
        return replace(
            self,
            X=self.X[:, kept] if is_sparse(self.X) else np.ascontiguousarray(self.X[:, kept]),
            names=tuple(self.names[j] for j in kept),
            origin=tuple(self.origin[j] for j in kept),
            constant=(*self.constant, *(self.names[j] for j in np.flatnonzero(~varies))),
        )

    def check(self, task: str) -> None:
        """Refuse rows that systems cannot be compared on, saying why and where."""
        n, d = self.X.shape
        for what, length, right in (
            ("names", len(self.names), d),
            ("origin", len(self.origin), d),
            ("y", len(self.y), n),
            ("weight", n if self.weight is None else len(self.weight), n),
        ):
            if length != right:
                raise InvalidData(f"{what} has {length} entries where X of shape {self.X.shape} asks for {right}")
        fold_count(None, n)  # refuses one row and two
        if d == 0:
            raise InvalidData("there is no column to predict from")
        if self.weight is not None and not (np.isfinite(self.weight).all() and (self.weight >= 0).all()):
            row = int(np.flatnonzero(~(self.weight >= 0) | ~np.isfinite(self.weight))[0])
            raise InvalidData(f"the weight of {self.row_name(row)} is {self.weight[row]}: weights are zero or more")
        if not np.isfinite(self.ends).all():
            column = int(np.flatnonzero(~np.isfinite(self.ends).all(axis=0))[0])
            values = self.column(column)
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise InvalidData(
                f"column {self.names[column]} is {values[row]} in {self.row_name(row)}: drop or fill such rows"
            )
        if task == REGRESSION:
            self._check_numbers()
        else:
            self._check_labels()

    def _check_labels(self) -> None:
        classes = self.classes[0]
        if len(classes) < 2:
            raise InvalidData(f"target {self.target} is '{classes[0]}' in every row: choose another column")
        if len(classes) == len(self.y):
            raise InvalidData(
                f"target {self.target} has a different label in each of {len(self.y):,} rows: choose another target, "
                "whose labels occur in several rows"
            )

    def _check_numbers(self) -> None:
        try:
            y = self.y.astype(np.float64)
        except (TypeError, ValueError):
            raise InvalidData(
                f"target {self.target} holds labels: compare classifiers, task='classification'"
            ) from None
        if not np.isfinite(y).all():
            row = int(np.flatnonzero(~np.isfinite(y))[0])
            raise InvalidData(f"target {self.target} is {y[row]} in {self.row_name(row)}: leave such rows out")
        if y.min() == y.max():
            raise InvalidData(f"target {self.target} is {y[0]:g} in every row: choose another column")


def sample_table(opened: OpenedData, task: str, seed: int, folds: int | None) -> Table:
    """Return rows of opened data in memory, coded: all of them, or a random sample of MOST_NUMBERS numbers.

    Many rows whose columns are mostly levels of categories are held as a sparse matrix, in which the others are few.
    Rows without weights are dealt to folds and put in their order as they are read, which saves a copy of them all.
    `describe_columns` is left for later, as it reads the data again.
    """
    if _suits_sparse(opened):
        table = _sampled(opened, task, seed, folds, sparse=True)
        if _small_means(table.X):
            return table
    return _sampled(opened, task, seed, folds, sparse=False)


def _suits_sparse(opened: OpenedData) -> bool:
    """Whether to hold the rows as a sparse matrix: each column of the data is then about one number a row."""
    source = opened.source
    source.learn_coding()
    columns = len(source.names)
    filled = any(column.gaps for column in source.coding.columns)  # folds fill gaps in dense rows
    few = len(set(source.coding.origin)) <= MOST_SPARSE_SHARE * columns
    return few and not (source.sparse or filled) and source.count_rows() * columns >= LEAST_SPARSE_NUMBERS


def _small_means(x: AnyArray) -> bool:
    """Whether sums of sparse rows that are not centred are exact enough."""
    n, d = x.shape
    mean = np.bincount(x.indices, x.data, d) / n
    stored = np.bincount(x.indices, minlength=d)
    squares = np.bincount(x.indices, (x.data - mean[x.indices]) ** 2, d) + (n - stored) * mean**2
    varies = squares > n * (LEAST_SPREAD * mean) ** 2
    return bool((n * mean**2 <= MOST_SQUARED_MEAN * squares)[varies].all())


def _sampled(opened: OpenedData, task: str, seed: int, folds: int | None, sparse: bool) -> Table:
    source: Source = opened.source
    classes: NDArray[Any] | None = None
    if task == CLASSIFICATION and source.targets.offset:
        raise InvalidParameter(
            "no system for labels takes an offset in a comparison: leave it out, or fit LogisticRegression"
        )
    if task == CLASSIFICATION:
        classes = opened.source.find_labels()
        source = opened.source.encoded(classes)
    stored = len(set(opened.source.coding.origin)) * SPARSE_BYTES / 8 if sparse else len(opened.source.names)
    probabilities = 0 if classes is None else KEPT_PROBABILITIES * len(classes)
    rows, most = source.count_rows(), int(MOST_NUMBERS // max(stored, probabilities, 1))
    if source.sparse and len(opened.source.names) ** 2 > MOST_NUMBERS:
        raise InvalidParameter(
            f"{opened.request.title} has {len(opened.source.names):,} columns, most of them zero: too many for "
            "compare, which writes zeros out. Hash them to fewer, or fit a system to them"
        )
    drawn = None if rows <= most else np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
    indices = _used_rows(opened)
    levels = _many_levels(opened, indices) if task == REGRESSION else ()
    indices = indices if drawn is None else drawn if indices is None else indices[drawn]
    n = rows if drawn is None else len(drawn)
    fold = order = stream = None
    if not source.targets.weighted:
        folds = fold_count(folds, n)
        if drawn is None:
            small = None if classes is None else np.min_scalar_type(len(classes))  # sorted by their digits
            fold = assign_folds(n, folds, seed, None if small is None else source.read_targets()[:, 0].astype(small))
        else:
            every = np.random.default_rng(seed).integers(folds, size=rows, dtype=np.int8)
            stream, fold = (opened.source, every), every[drawn].astype(np.intp)
        order = np.argsort(fold.astype(np.min_scalar_type(folds)), kind="stable")  # a radix sort
        fold, indices = fold[order], order if indices is None else indices[order]
    x, t, weight = (_read_sparse if sparse else _read_rows)(source, drawn, order)
    coded = None
    if classes is not None:
        codes = t[:, 0].astype(np.intp)
        coded = (classes, codes) if np.bincount(codes, minlength=len(classes)).all() else None  # a sample may lack one
    return Table(
        x,
        t[:, 0] if classes is None else classes[codes],
        opened.source.names,
        opened.source.coding.origin,
        opened.target,
        weight,
        rows,
        opened.rows - rows,
        source=opened.request.title,
        opening=lambda names: opened.request.call(spec_with_levels(opened.spec, names)),
        indices=indices,
        order=None if opened.order is None else tuple(str(plain_level(label)) for label in opened.order),
        offset=t[:, 1] if source.targets.offset else None,
        coded=coded,
        fold=fold,
        stream=stream,
        gaps=opened.gaps,
        filled=tuple((one.name, _mark(one)) for one in opened.source.coding.columns if one.gaps),
        constant=tuple(
            one.name for one in opened.source.coding.columns if one.is_category and len(one.shown_levels()) == 1
        ),
        line_name=relation.row_name if (relation := opened.source.relation).has_lines else None,
        plain=opened.spec.formula is None,
        levels=levels,
    )


def _many_levels(opened: OpenedData, used: NDArray[np.intp] | None) -> tuple[Levels, ...]:
    """Return the levels of the columns that have too many to be coded, of all rows of the data; 0 in rows left out.

    Those of rows elsewhere, on a cluster, are not brought here.
    """
    if not opened.many or opened.source.runner.apart:
        return ()
    found = read_levels(opened.source, opened.many)
    if used is None:
        return found
    codes = np.zeros((len(found), opened.rows), dtype=np.int32)
    codes[:, used] = [one.codes for one in found]
    return tuple(replace(one, codes=own) for one, own in zip(found, codes, strict=True))


def with_levels(source: TableSource, names: Sequence[str]) -> TableSource:
    """Return the rows of a table with more categories among their columns; values that are missing are a level."""
    if not names:
        return source  # with what it knows of its rows
    return TableSource(TableRows(source.relation), spec_with_levels(source.spec, names))


def spec_with_levels(spec: TableSpec, names: Sequence[str]) -> TableSpec:
    """Return the spec of a table with more categories among its features."""
    if not names:
        return spec
    return replace(
        spec,
        features=(*(spec.features or ()), *names),
        categories=(*spec.categories, *((name, None) for name in names)),
        missing="indicator" if spec.missing == "error" else spec.missing,
    )


def _mark(column: Column) -> str:
    """Return the name of the column of X that is 1 where a value of a column is missing."""
    return f"{column.name}[T.{MISSING_LEVEL}]" if column.is_category else f"{column.name}[missing]"


class ReadData(NamedTuple):
    """Opened data, and their rows in memory."""

    opened: OpenedData
    table: Table


def read_data(request: DataRequest, task_of: Callable[[OpenedData], str], seed: int, folds: int | None) -> ReadData:
    """Open data and read their rows for the task that `task_of` says."""
    opened = open_data(request, most_lost=MOST_LOST)
    refuse_absorbing(opened.source, "compare")
    if terms := opened.source.coding.additive:
        raise InvalidParameter(
            f"compare takes no {terms[0]} in a formula: give the target instead, and it tries curves and random "
            "effects where the data need them; or fit AdditiveModel to this formula"
        )
    return ReadData(opened, sample_table(opened, task_of(opened), seed, folds))


def told_task(opened: OpenedData, asked: Task | None = None) -> Task:
    """Return the task that is asked for, or that the target says."""
    return asked or (CLASSIFICATION if opened.labels else REGRESSION)


def _used_rows(opened: OpenedData) -> NDArray[np.intp] | None:
    """Return the index of each row that is used, counting those left out; None where none is."""
    if opened.rows == opened.source.count_rows():
        return None
    relation, where = opened.source.relation, opened.source.where
    numbered = f"(SELECT row_number() OVER () - 1 AS i, ({where}) AS used FROM {relation.sql})"
    gone = np.array([row[0] for row in relation.rows(f"SELECT i FROM {numbered} WHERE NOT used")], dtype=np.intp)
    return np.setdiff1d(np.arange(opened.rows), gone)


def _read_rows(
    source: Source, drawn: NDArray[np.intp] | None, order: NDArray[np.intp] | None
) -> tuple[Array, Array, Array | None]:
    """Return x, t and weights of all rows, or of those drawn, ascending indices; in this order where one is given."""
    rows = source.count_rows() if drawn is None else len(drawn)
    x, t = np.empty((rows, source.shape.features)), np.empty((rows, source.shape.targets))
    weight = np.empty(rows) if source.targets.weighted else None
    place = np.arange(rows)
    if order is not None:
        place[order] = np.arange(rows)

    def read(block: Block) -> Array:
        low, high = block.first_row, block.first_row + block.rows
        indices: Any = slice(None)
        if drawn is not None:
            low, high = np.searchsorted(drawn, [low, high])
            indices = drawn[low:high] - block.first_row
        where = place[low:high]
        x[where], t[where] = as_dense(block.x[indices]), block.t[indices]
        if weight is not None:
            weight[where] = block.weights()[indices]
        return np.empty(0)

    if not source.runner.apart:
        source.map(read)
    elif drawn is None:
        for block in source.blocks():
            read(block)
    else:  # cut out where the parts are
        first = 0
        for found in source.runner.over(source, partial(_rows_drawn, drawn)):
            here = place[first : first + len(found[0])]
            x[here], t[here] = found[0], found[1]
            if weight is not None:
                weight[here] = found[2]
            first += len(here)
    return x, t, weight


def _read_sparse(
    source: Source, drawn: NDArray[np.intp] | None, order: NDArray[np.intp] | None
) -> tuple[Any, Array, Array | None]:
    """Return what `_read_rows` does, with x as a CSR array."""
    found: list[tuple[Any, Array, Array | None]] = []
    for block in source.blocks():
        indices: Any = slice(None)
        if drawn is not None:
            low, high = np.searchsorted(drawn, [block.first_row, block.first_row + block.rows])
            indices = drawn[low:high] - block.first_row
        weight = block.weights()[indices] if source.targets.weighted else None
        found.append((scipy.sparse.csr_array(np.asarray(block.x)[indices]), np.array(block.t[indices]), weight))
    parts, targets, weights = zip(*found, strict=True)
    x, t = scipy.sparse.vstack(parts, format="csr"), np.concatenate(targets)
    weight = np.concatenate(weights) if source.targets.weighted else None
    if order is None:
        return x, t, weight
    return x[order], t[order], None if weight is None else weight[order]


def _rows_drawn(drawn: NDArray[np.intp], source: Source) -> tuple[Array, Array, Array]:
    """Return x, t and weights of the rows of some parts that are drawn, ascending indices."""
    found: list[tuple[Array, Array, Array]] = []
    for block in source.blocks():
        low, high = np.searchsorted(drawn, [block.first_row, block.first_row + block.rows])
        indices = drawn[low:high] - block.first_row
        x = block.x if is_sparse(block.x) else np.asarray(block.x)
        found.append((as_dense(x[indices]), block.t[indices], block.weights()[indices]))
    x, t, weight = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return x, t, weight


def describe_columns(opened: OpenedData) -> list[dict[str, Any]]:
    """Return descriptions of the raw columns, in one scan of those that are used; others have the reason.

    On an engine their summaries are made where the rows are; of many columns they are made here, since SQL that counts
    the distinct values of many columns takes the cube of their number to plan.
    """
    relation = opened.source.relation
    weight = opened.spec.weight
    used = {
        **dict.fromkeys(target_columns(relation, opened.target), "target"),
        **dict.fromkeys(opened.source.coding.needed, "feature"),
        **({} if weight is None else {weight: "weight"}),
        **dict.fromkeys(opened.spec.offset_columns(relation.schema), "offset"),
    }
    categories = {column.name for column in opened.source.coding.columns if column.is_category}
    if opened.source.rows.on_engine or len(used) > MOST_QUERIED_COLUMNS:
        found = _summarized(opened.source, {name: _has_levels(relation, name, name in categories) for name in used})
    else:
        exact = opened.source.count_rows() <= MOST_COUNTED_ROWS
        found = _query(relation, {name: _column_sql(relation, name, name in categories, exact) for name in used})
        hidden = [name for name in used if found[name][3:] and found[name][3] != found[name][3]]  # by NaN, no NULL
        found |= _query(relation, {name: _column_sql(relation, name, False, exact, gaps=True) for name in hidden})
    out = [_queried(relation, name, role, name in categories, found[name]) for name, role in used.items()]
    for name, reason in opened.left_out.items():
        out.append(_description(name, "left out", relation.kind(name), note=reason))
    return out


def _has_levels(relation: Relation, name: str, category: bool) -> bool:
    return category or relation.kind(name) in ("text", "category", "boolean")


def _summarized(source: TableSource, levels: dict[str, bool]) -> dict[str, list[Any]]:
    """Return what `_query` does, by summaries of the parts of a table."""
    means = tuple((name, source.relation.kind(name)) for name in levels if not levels[name])
    wanted = Wanted(means, tuple((name, MOST_KEPT) for name in levels if levels[name]), ranges=True)
    found, out = summarize(source.rows.reduce(), wanted), dict[str, list[Any]]()
    for name, one in found.levels.items():
        counts = dict(sorted((one.counts or {}).items()))
        out[name] = [one.missing, len(counts), counts]
    for name, numbers in found.means.items():
        assert isinstance(numbers, RangeSummary)
        ends = (numbers.low, numbers.mean, numbers.high) if numbers.present else (None, None, None)
        out[name] = [numbers.missing, numbers.different.count, *ends]
    return out


def _query(relation: Relation, asked: dict[str, list[str]]) -> dict[str, list[Any]]:
    """Return the number of missing values of each column, then what is asked of it, in SQL; by one scan."""
    if not asked:
        return {}
    texts = [gap_counts(relation, asked), *(sql for own in asked.values() for sql in own)]
    values = relation.rows(f"SELECT {', '.join(texts)} FROM {relation.sql}")[0]
    missing, rest = gaps_of(values[: 1 + 2 * len(asked)]), iter(values[1 + 2 * len(asked) :])
    return {name: [gaps, *(next(rest) for _ in own)] for gaps, (name, own) in zip(missing, asked.items(), strict=True)}


def _column_sql(relation: Relation, name: str, category: bool, exact: bool, gaps: bool = False) -> list[str]:
    """Return SQL for how many values differ, then for levels, or for low, mean and high; with `gaps` of values alone.

    The latter takes ten times as long.
    """
    column = quoted(name)
    distinct = f"count(DISTINCT {column})" if exact else f"approx_count_distinct({column})"
    if _has_levels(relation, name, category):
        return [distinct, f"histogram({relation.value(name)})"]
    here = f" FILTER (NOT {relation.absent(name)})" if gaps else ""
    number = f"epoch({column}) / 86400" if relation.kind(name) == "date" else f"CAST({column} AS DOUBLE)"
    return [distinct, *(f"{how}({number}){here}" for how in ("min", "avg", "max"))]


def _queried(relation: Relation, name: str, role: str, category: bool, found: list[Any]) -> dict[str, Any]:
    missing, distinct, *rest = found
    if len(rest) == 1:
        kind = "boolean" if relation.kind(name) == "boolean" and not category else "category"
        rows: dict[str, int] = {}
        for level, count in dict(rest[0] or {}).items():
            text = str(plain_level(level))
            own = text.strip() or text if role == "feature" else text  # a level has no blanks around it
            rows[own] = rows.get(own, 0) + int(count)
        rows = dict(sorted(rows.items(), key=lambda item: -item[1]))
        levels = [[level, count] for level, count in rows.items()][:MOST_LEVELS]
        same = [] if kind == "boolean" else same_levels(rows)
        known = {"missing": missing, "distinct": len(rows), "levels": levels, "same": same}
        return _description(name, role, kind, **known)
    low, mean, high = (None if value is None else float(value) for value in rest)
    return _description(
        name, role, relation.kind(name), missing=missing, distinct=distinct, low=low, mean=mean, high=high
    )


def _description(name: str, role: str, kind: str, **known: Any) -> dict[str, Any]:
    """Return the description of a column, with all keys of `Table.columns`."""
    unknown = dict.fromkeys(("distinct", "low", "mean", "high"))
    return {
        "name": name,
        "role": role,
        "kind": kind,
        "missing": 0,
        **unknown,
        "levels": [],
        "same": [],
        "note": "",
        **known,
    }


# Targets: two classes, counts, amounts with a long tail.


class Skewness(NamedTuple):
    """Skewness of a target and of its logarithm."""

    raw: float
    log: float


def is_two_valued(y: NDArray[Any]) -> bool:
    """Whether a target holds exactly two different whole numbers, which then are classes.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.comparison.table import is_two_valued
    >>> is_two_valued(np.array([0.0, 1.0, 1.0])), is_two_valued(np.array([0.5, 1.0, 1.0]))
    (True, False)
    """
    if not len(y) or not np.isfinite(y).all():
        return False
    low, high = y.min(), y.max()
    return bool(low < high and low == np.floor(low) and high == np.floor(high) and ((y == low) | (y == high)).all())


def is_count(y: NDArray[Any]) -> bool:
    """Whether a target holds counts: whole numbers, none negative, more than two different ones, no common divisor.

    Amounts that were rounded, to 25 g say, are multiples of 25 and no counts.
    """
    if not (y.min() >= 0 and y.max() < 2**53 and (y == np.floor(y)).all()) or is_two_valued(y):
        return False
    return bool(np.gcd.reduce(y.astype(np.int64)) == 1)


def skewness(y: NDArray[Any]) -> Skewness | None:
    """Return the skewness of a positive target with a long upper tail that a logarithm shortens; None for others."""
    if not y.min() > 0 or len(np.unique(y)) <= LEAST_DISTINCT:
        return None
    found = Skewness(_skew(y), _skew(np.log(y)))
    return found if found.raw > LEAST_SKEWNESS and abs(found.log) < found.raw / 2 else None


def _skew(y: Array) -> float:
    """Return the third moment about the mean in units of the standard deviation; 0 of a constant."""
    apart = (y - y.mean()) / (np.abs(y).max() or 1.0)
    square = float((apart**2).mean())
    return float((apart**3).mean()) / square**1.5 if square > 0 else 0.0


LOSSES: dict[Any, Callable[[NDArray[Any]], bool]] = {
    "poisson": is_count,
    "gamma": lambda y: skewness(y) is not None,
}
"""Losses that are compared where the target suits them."""


def suits(settings: dict[str, Any], y: NDArray[Any]) -> bool:
    """Whether a target is one that the loss among the settings of a system is meant for.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.comparison.table import suits
    >>> suits({"loss": "poisson"}, np.array([0.0, 3.0, 1.0])), suits({"loss": "poisson"}, np.array([0.5, 3.0, 1.0]))
    (True, False)
    """
    suitable = LOSSES.get(settings.get("loss"))
    return suitable is None or suitable(y)
