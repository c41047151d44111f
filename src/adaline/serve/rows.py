"""Rows as clients send them, made into what a model takes; every fault is named by its row and column.

    layout = RowLayout.of(model)                     # columns and targets by name, and what each holds
    batch = layout.batch(rows, target=True)          # an Arrow record batch: what the journal keeps
    decoded = layout.decoded(batch, target=True)     # x, y, weight: what `predict` and `partial_fit` take

`layout.decode` and `decode_rows` do all of it. The same code is used to predict, to learn, and to replay a journal, so
that a row has the same bits each time. No level, label or column that a client sends is added to a model: those of the
first fit are known, and the policies of its table say what is done about others and about missing values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy
from numpy.typing import NDArray
from pyarrow import types

from adaline.arrays import Array, is_sparse
from adaline.coding import Coding, Column
from adaline.coding.expressions import evaluate, names_in
from adaline.coding.reading import read_values
from adaline.coding.texts import written
from adaline.errors import AdalineError, BadRows, InvalidParameter
from adaline.estimator import is_regressor
from adaline.fitted import AnyModel, check_is_fitted, uses_basis
from adaline.input.basis import rows_through_basis
from adaline.input.coded import as_coded
from adaline.input.system import columns_on
from adaline.lazy import nw
from adaline.locks import cached_property
from adaline.serve.direct import EXACT, DirectRows, PlainColumn

MOST_COLUMNS = 10_000
LARGEST, SMALLEST = 1e100, 1e-100
"""Sizes between which numbers are learned from: sums of their squares, and what is solved from these, are finite."""
NUMBERS = {float, int, bool, type(None)}
"""Types of the values of a row that are numbers, or missing."""
TEXTS = {str, type(None)}
OWN_TYPES: dict[str, Callable[[Any], bool]] = {
    "number": lambda kind: types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind),
    "boolean": types.is_boolean,
    "date": lambda kind: types.is_date(kind) or types.is_timestamp(kind),
    "text": lambda kind: types.is_string(kind) or types.is_large_string(kind),
}
"""Which types of Arrow the values of each kind have; others are looked at one by one."""
SHOWN = 40  # characters of a value in a message
EXPANDED = 2**28  # bytes that the columns of an Arrow table may take beyond eight times its own


@dataclass(frozen=True)
class RowColumn:
    """A raw column that clients send.

    Parameters
    ----------
    name : of the column.
    kind : "number", "boolean", "date" or "text".
    levels : of a category or of labels, those that are known; empty where there are none, or any will do.
    optional : whether a value may be missing.
    """

    name: str
    kind: str
    levels: tuple[Any, ...] = ()
    optional: bool = False

    @property
    def arrow_type(self) -> Any:
        """The type of the column in a record batch."""
        kinds = {"number": pa.float64(), "boolean": pa.bool_(), "date": pa.timestamp("us"), "text": pa.string()}
        return kinds[self.kind]


@dataclass(frozen=True)
class DecodedRows:
    """Rows as a model takes them.

    Parameters
    ----------
    x : (n, D) numbers, dense or CSR, coded: for `predict`, `partial_fit` and the like.
    y : (n,) or (n, K) targets or labels; None where rows are only to be predicted.
    weight : (n,) weights, where the model was fitted with a column of them; else None.
    """

    x: Any
    y: Any = None
    weight: Array | None = None

    def __len__(self) -> int:
        return int(self.x.shape[0])

    def cut(self, first: int, last: int) -> DecodedRows:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[first:last]
        return DecodedRows(as_coded(self.x[first:last]), self.y[first:last], weight)

    @classmethod
    def join(cls, parts: Sequence[DecodedRows]) -> DecodedRows:
        """Return rows one after the other."""
        if len(parts) == 1:
            return parts[0]
        if is_sparse(parts[0].x):
            x = scipy.sparse.vstack([part.x for part in parts], format="csr")
        else:
            x = np.concatenate([np.asarray(part.x) for part in parts])
        weights = [part.weight for part in parts if part.weight is not None]
        y = np.concatenate([part.y for part in parts])
        return cls(as_coded(x), y, np.concatenate(weights) if weights else None)


@dataclass(frozen=True)
class RowLayout:
    """What the rows of a model look like.

    Parameters
    ----------
    columns : the raw columns that outputs are computed from.
    targets : those that are learned: one of labels, or of the numbers that targets are made of; () where none are.
    weight : the column of weights of rows to learn from, or None.
    expressions : what is computed of the targets, as ("log(y)",); () for labels.
    classes : the labels, or None.
    flat : whether there is one target, (n,), and not a matrix of them.
    coding : how columns become numbers; None where they are numbers as they are sent.
    """

    columns: tuple[RowColumn, ...]
    targets: tuple[RowColumn, ...]
    weight: RowColumn | None = None
    expressions: tuple[str, ...] = ()
    classes: NDArray[Any] | None = None
    flat: bool = True
    coding: Coding | None = None

    @classmethod
    def of(cls, model: AnyModel) -> RowLayout:
        """Return what the rows of a fitted system look like."""
        check_is_fitted(model, "n_features_in_")
        coding: Coding | None = getattr(model, "coding_", None)
        columns = _raw_columns(coding) if coding is not None else _number_columns(model)
        weight = None if coding is None or coding.weight is None else RowColumn(coding.weight, "number")
        taken = {column.name for column in columns}
        classes = getattr(model, "classes_", None)
        if classes is not None:
            name = (coding and coding.target) or _free("y", taken)
            labels = RowColumn(name, *_label_kind(np.asarray(classes)))
            if any(type(label) is int and abs(label) > EXACT for label in labels.levels):
                labels = replace(labels, kind="text")
            return cls(columns, (labels,), weight, (), np.asarray(classes), True, coding)
        if not is_regressor(model):
            return cls(columns, (), coding=coding)
        expressions, flat = _target_expressions(model, coding, taken)
        numbers = dict.fromkeys(name for text in expressions for name in _names_of(text, coding))
        targets = tuple(RowColumn(name, "number") for name in numbers)
        return cls(columns, targets, weight, expressions, None, flat, coding)

    def joined(self, others: Iterable[RowLayout]) -> RowLayout:
        """Return the layout of rows that several models learn from: the columns of all; refuse other targets."""
        columns = {column.name: column for column in self.columns}
        for other in others:
            if [one.name for one in other.targets] != [one.name for one in self.targets]:
                mine, theirs = (", ".join(one.name for one in layout.targets) for layout in (self, other))
                raise InvalidParameter(f"models that learn from the same rows have one target: {mine}, not {theirs}")
            for column in (*other.columns, *([other.weight] if other.weight else [])):
                known = columns.setdefault(column.name, column)
                if known.kind != column.kind:
                    raise InvalidParameter(
                        f"column {column.name!r} is {known.kind} to one model, {column.kind} to another"
                    )
                columns[column.name] = replace(known, optional=known.optional and column.optional)
        return replace(self, columns=tuple(columns.values()))

    def decode(self, rows: Any, target: bool, *, most_columns: int = MOST_COLUMNS) -> DecodedRows:
        """Return rows as the model takes them, as `decode_rows` does."""
        return self.decoded(self.batch(rows, target, most_columns=most_columns), target)

    def batch(self, rows: Any, target: bool, *, most_columns: int = MOST_COLUMNS) -> Any:
        """Return rows, as `decode_rows` takes them, as a record batch of the raw columns, targets and weights.

        Values have the type of their column; what is missing and must not be is refused, as is what is not finite, and
        a column that the model does not know; targets and weights of rows to predict are left alone. Rows to learn from
        that have missing values are left out where the model's table did so.
        """
        drops = target and self.coding is not None and self.coding.missing == "drop"
        columns = tuple(replace(column, optional=True) for column in self.columns) if drops else self.columns
        known = (*columns, *self.learned) if target else columns
        if isinstance(rows, pa.Table | pa.RecordBatch):
            strange = next((name for name in rows.schema.names if name not in self._names), None)
            if strange is not None:
                raise BadRows(f"the model does not know the column {strange!r:.{SHOWN}}", column=strange)
            _refuse_expansion(rows, known)
            arrays = [_of_arrow(rows, column) for column in known]
        else:
            arrays = _of_rows(_by_column(rows, known, self._names, most_columns), known)
        if target and not len(rows):
            raise BadRows("there are no rows to learn from")
        batch = pa.RecordBatch.from_arrays(arrays, schema=self._schemas[target])
        if drops and self.coding is not None:
            whole = ~self.coding.problems(nw.from_native(pa.Table.from_batches([batch]), eager_only=True)).missing
            batch = batch if whole.all() else batch.filter(pa.array(whole))
        return batch

    def numbers(self, rows: Any) -> Array | None:
        """Return rows to learn from, (m, n), the columns of `batch`, where all of it is plain and can be learned.

        Levels and labels are their indices among those that are known. None where a row, or the layout, is of another
        kind: `batch` has those, and says what is wrong.
        """
        if not self._plain or type(rows) is not list or not rows:
            return None
        size, kind = len(self._plain), type(rows[0])
        if kind not in (dict, list) or any(type(row) is not kind or len(row) != size for row in rows):
            return None
        try:
            values: Any = list(map(self._values_of, rows)) if kind is dict else rows
            if self._indexed:
                columns: list[Any] = list(zip(*values, strict=True))
                for k, column in self._indexed:
                    columns[k] = column.numbers(columns[k])
                values = list(zip(*columns, strict=True))
            if not NUMBERS.issuperset(map(type, chain.from_iterable(values))):
                return None
            found = np.array(values, dtype=np.float64).T
        except (KeyError, TypeError, OverflowError):
            return None
        return found if _is_learnable(np.abs(found)).all() else None

    def batch_of_numbers(self, numbers: Array) -> Any:
        """Return the record batch of numbers (m, n), as `numbers` returns them."""
        arrays = _side_by_side(numbers)
        for k, column in self._indexed:
            arrays[k] = column.column(arrays[k])
        return pa.RecordBatch.from_arrays(arrays, schema=self._schemas[True])

    def decoded_numbers(self, numbers: Array, layout: RowLayout) -> DecodedRows:
        """Return rows as the model takes them, of numbers (m, n) in the columns of a layout that has all of its own."""
        assert self.direct is not None
        first, theirs = len(self.columns), list(layout._plain)
        if theirs != list(self._plain):
            numbers = numbers[[theirs.index(name) for name in self._plain]]
        x = self.direct.of_numbers(numbers[:first])
        if self.classes is not None:
            return DecodedRows(x, self.classes[numbers[first].astype(np.intp)])
        return DecodedRows(x, numbers[first] if self.flat else numbers[first:].T)

    def all_in(self, layout: RowLayout) -> bool:
        """Whether `decoded_numbers` can take the rows of a layout."""
        if self is layout or not self._plain or not self._plain.keys() <= layout._plain.keys():
            return self is layout
        theirs = layout._plain
        return all(theirs[name].known_as(column) for name, column in self._plain.items())

    @cached_property
    def _plain(self) -> dict[str, PlainColumn]:
        """The columns of rows to learn from, by their names, where all are plain, or labels; {} elsewhere."""
        as_sent = self.classes is not None or [column.name for column in self.targets] == list(self.expressions)
        known = self.coding is not None or all(column.kind == "number" for column in self.columns)
        if self.direct is None or not known or not as_sent or self.weight is not None:
            return {}
        labels = {label: k for k, label in enumerate(() if self.classes is None else self.classes.tolist())}
        targets = (PlainColumn(one.name, one.kind, 0, labels, self._known_labels) for one in self.targets)
        return {column.name: column for column in (*self.direct.columns, *targets)}

    @cached_property
    def _values_of(self) -> itemgetter[Any]:
        """What returns the values of a row that is a dict, in the order of the plain columns."""
        return itemgetter(*self._plain)

    @cached_property
    def _indexed(self) -> list[tuple[int, PlainColumn]]:
        """The plain columns that are not numbers as they are sent, by their indices."""
        return [(k, column) for k, column in enumerate(self._plain.values()) if not column.is_number]

    def read(self, rows: Any, *, most_columns: int = MOST_COLUMNS) -> Any:
        """Return rows to predict as the model takes them: as `decode` does, by the short way where there is one."""
        known = isinstance(rows, list) or self._names.issuperset(rows.schema.names)
        x = self.direct.code(rows) if known and self.direct is not None else None
        return self.decode(rows, False, most_columns=most_columns).x if x is None else x

    @cached_property
    def direct(self) -> DirectRows | None:
        """The short way from rows to X; None where the columns are not plain enough for one."""
        return DirectRows.of([column.name for column in self.columns], self.coding)

    @cached_property
    def _schemas(self) -> tuple[Any, Any]:
        """The schema of rows to predict, and of those to learn from."""
        known = self.columns, (*self.columns, *self.learned)
        one, two = (pa.schema([(column.name, column.arrow_type) for column in columns]) for columns in known)
        return one, two

    @cached_property
    def _names(self) -> frozenset[str]:
        """The columns that rows may have."""
        return frozenset(column.name for column in (*self.columns, *self.learned))

    @property
    def learned(self) -> tuple[RowColumn, ...]:
        """The columns that only rows to learn from have: targets, and weights."""
        return (*self.targets, *([] if self.weight is None else [self.weight]))

    @property
    def by_rows(self) -> bool:
        """Whether rows are coded to the same bits however they are cut: no function of a formula takes all at once."""
        if self.coding is None:
            return True
        return all(factor.column is not None for term in self.coding.terms for factor in term.factors)

    def decoded(self, batch: Any, target: bool) -> DecodedRows:
        """Return a record batch of these columns, or a table of several, as the model takes it."""
        there = set(batch.schema.names)
        for column in (*self.columns, *self.learned) if target else self.columns:
            if column.name not in there:
                raise BadRows(f"the rows have no column {column.name!r}", column=column.name)
        try:
            x, y = self._numbers(batch), self._targets(batch) if target else None
        except BadRows:
            raise
        except AdalineError as error:
            raise _located(error) from None
        weight = self._plain_numbers(batch, [self.weight])[:, 0] if target and self.weight is not None else None
        if weight is not None and not (weight >= 0).all():
            raise _bad("weights are numbers of zero or more", int((~(weight >= 0)).argmax()), self.weight)
        return DecodedRows(x, y, weight)

    def _plain_numbers(self, batch: Any, columns: Sequence[RowColumn]) -> Array:
        """Return columns of numbers, (n, m), taken at once."""
        names = [column.name for column in columns]
        if len(names) == 1 and not hasattr(batch.column(names[0]), "chunks"):
            return np.asarray(np.from_dlpack(batch.column(names[0])), dtype=np.float64)[:, None]
        if batch.schema.names != names:
            batch = batch.select(names)
        parts = [batch] if hasattr(batch, "to_tensor") else batch.combine_chunks().to_batches()
        return parts[0].to_tensor().to_numpy() if parts else np.empty((0, len(names)))

    def _numbers(self, batch: Any) -> Any:
        """Return the columns of X, (n, D), marked as coded."""
        x = None if self.direct is None else self.direct.code(batch)
        if x is not None:
            return x
        if self.coding is None:
            return as_coded(self._plain_numbers(batch, self.columns))
        table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
        frame = nw.from_native(table, eager_only=True)
        x = self.coding.code(frame)
        known = self.coding.read_offset(frame) if self.coding.known_part else None
        if known is not None and is_sparse(x):
            return table  # the model reads the offset from it
        return as_coded(x, None if known is None else known[:, None])

    def _targets(self, batch: Any) -> Any:
        """Return targets (n,) or (n, K), or labels (n,)."""
        if self.classes is not None:
            labels = batch.column(self.targets[0].name)
            found = pc.index_in(labels, value_set=self._known_labels)
            if found.null_count:
                row = found.to_pylist().index(None)
                what = f"{labels[row].as_py()!r:.{SHOWN}} is not among the classes {self.classes.tolist()}"
                raise _bad(what, row, self.targets[0])
            return self.classes[np.asarray(found)]
        given = self._plain_numbers(batch, self.targets)
        names = [column.name for column in self.targets]
        if names == list(self.expressions):
            return given[:, 0] if self.flat else given
        values = dict(zip(names, given.T, strict=True))
        t = np.column_stack([values[text] if text in values else evaluate(text, values) for text in self.expressions])
        if not np.isfinite(t).all():
            row = int(np.flatnonzero(~np.isfinite(t).all(axis=1))[0])
            raise _bad("the target is not finite", row, self.targets[0])
        return t[:, 0] if self.flat else t

    @cached_property
    def _known_labels(self) -> Any:
        """The classes as an Arrow array of the type of the labels; empty where there are none."""
        if self.classes is None:
            return pa.nulls(0)
        kind = self.targets[0].kind
        return pa.array([_label(one, kind) for one in self.classes.tolist()]).cast(self.targets[0].arrow_type)


def decode_rows(model: AnyModel, rows: Any, target: bool, *, most_columns: int = MOST_COLUMNS) -> DecodedRows:
    """Return rows as a model takes them; raise BadRows, with `row` and `column`, where one is not as it should be.

    Parameters
    ----------
    model : a fitted system.
    rows : a list of dicts by column names; a list of lists, the columns in the order of the model, then its targets
        and its weight; or a pyarrow Table or RecordBatch. A column that the model does not know is refused; targets and
        weights of rows to predict are left alone. A model that was fitted to bare arrays has columns x0, x1, ..., and
        one that does not know the name of its target has y (y0, y1, ... where there are several).
    target : whether the rows have targets, to learn from.
    most_columns : columns that a row of a client may have.

    Examples
    --------
    >>> from adaline import LMS
    >>> from adaline.serve.rows import decode_rows
    >>> model = LMS().fit([[1.0, 2.0], [2.0, 1.0]], [3.0, 4.0])
    >>> decode_rows(model, [{"x0": 1, "x1": 2.5}], target=False).x.tolist()
    [[1.0, 2.5]]
    >>> decode_rows(model, [[1.0, 2.0], [1.0, "much"]], target=False)
    Traceback (most recent call last):
        ...
    adaline.errors.BadRows: row 1, column 'x1': 'much' is not a number
    """
    return RowLayout.of(model).decode(rows, target, most_columns=most_columns)


def refuse_unlearnable(model: AnyModel, decoded: DecodedRows) -> None:
    """Refuse rows with numbers, in the columns that a model works on, whose squares are too large or too small."""
    for x in columns_within(model, decoded.x):
        for part in (x.data if is_sparse(x) else np.asarray(x), decoded.y, decoded.weight):
            if part is None or part.dtype.kind != "f":
                continue
            good = _is_learnable(np.abs(part))
            if not good.all():
                row = None if is_sparse(x) and part is x.data else int(np.argwhere(~good)[0, 0])
                shown = float(part[~good][0])
                raise BadRows(f"{shown:g} is not a number between {SMALLEST:g} and {LARGEST:g} in size, or zero", row)


def has_basis(model: AnyModel) -> bool:
    """Return whether a model, or a machine within it, works on functions of its columns."""
    return uses_basis(model) or any(has_basis(one) for one in getattr(model, "estimators_", ()))


def columns_within(model: AnyModel, x: Any) -> Iterator[Any]:
    """Yield rows as a model takes them, and as its machines do that have a basis of their own."""
    x = rows_through_basis(model, x)
    yield x
    for machine in getattr(model, "estimators_", ()):
        if has_basis(machine):
            yield from columns_within(machine, x)


def _is_learnable(size: Array) -> NDArray[np.bool_]:
    return np.asarray((size <= LARGEST) & ((size >= SMALLEST) | (size == 0.0)))


def _raw_columns(coding: Coding) -> tuple[RowColumn, ...]:
    """Return the columns that a coding reads, those of its offset and effects too."""
    optional = coding.missing in ("mean", "indicator")
    out: dict[str, RowColumn] = {}
    for column in coding.columns:
        out.setdefault(column.name, RowColumn(column.name, *_kind(column), optional or column.takes_gaps))
    for effect in coding.effects:
        kind = "text" if effect.texts else "number"
        out.setdefault(effect.name, RowColumn(effect.name, kind, (), not np.isnan(effect.missing)))
    if coding.offset is not None:
        for name in [coding.offset] if coding.offset in out else _names_of(coding.offset, coding):
            out.setdefault(name, RowColumn(name, "number"))
    return tuple(out.values())


def _kind(column: Column) -> tuple[str, tuple[Any, ...]]:
    """Return what clients send of a column, and the levels that are known."""
    if not column.is_category:
        return column.kind, ()
    if not column.has_levels:
        return "text", ()
    return _label_kind(np.array(column.levels, dtype=object))


def _label_kind(labels: NDArray[Any]) -> tuple[str, tuple[Any, ...]]:
    """Return the kind of levels or labels, and these themselves."""
    levels = tuple(labels.tolist())
    if all(isinstance(level, bool) for level in levels):
        return "boolean", levels
    if all(isinstance(level, int | float) for level in levels):
        return "number", levels
    return "text", levels


def _label(label: Any, kind: str) -> Any:
    return written(label) if kind == "text" else label


def _number_columns(model: AnyModel) -> tuple[RowColumn, ...]:
    return tuple(RowColumn(str(name), "number") for name in columns_on(model).given_names())


def _free(name: str, taken: set[str]) -> str:
    """Return a name for targets that no column has."""
    return name if name not in taken else _free(f"{name}_", taken)


def _target_expressions(model: AnyModel, coding: Coding | None, taken: set[str]) -> tuple[tuple[str, ...], bool]:
    """Return what a regression learns, columns or expressions of them, and whether it is one number for a row."""
    coef = getattr(model, "coef_", np.zeros(1))
    if coding is not None and coding.target is not None:
        from adaline.coding.formula import targets_of

        found = targets_of(coding.target)
        return found, len(found) == 1 and np.ndim(coef) < 2
    if np.ndim(coef) < 2:
        return (_free("y", taken),), True
    return tuple(_free(f"y{k}", taken) for k in range(len(coef))), False


def _names_of(text: str, coding: Coding | None) -> list[str]:
    """Return the raw columns of a target: itself, or those of its expression."""
    if coding is None or coding.target is None or text.isidentifier():
        return [text]
    try:
        return names_in(text) or [text]
    except AdalineError:  # the name of a column that is no expression, as "body mass"
        return [text]


def _by_column(rows: Any, known: Sequence[RowColumn], allowed: frozenset[str], most: int) -> list[list[Any]]:
    """Return the values of each column, of rows that are lists, or dicts of no other columns than those allowed."""
    if not isinstance(rows, list | tuple):
        raise BadRows(f"rows are a list of objects or of lists, not {type(rows).__name__}")
    names = [column.name for column in known]
    if all(type(row) is dict for row in rows):
        for i, row in enumerate(rows):
            if len(row) > most:
                raise BadRows(f"row {i} has {len(row)} columns, more than {most}", i)
            if len(row) != len(names) or not row.keys() <= allowed:
                strange = next((name for name in row if name not in allowed), None)
                if strange is not None:
                    raise BadRows(f"row {i}: the model does not know the column {strange!r:.{SHOWN}}", i, str(strange))
        return [_column_of(list(rows), column) for column in known]
    for i, row in enumerate(rows):
        if not isinstance(row, list | tuple):
            raise BadRows(f"row {i} is neither an object nor a list like the others: {row!r:.{SHOWN}}", i)
        if len(row) != len(names):
            shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
            raise BadRows(f"row {i} has {len(row)} values, not {len(names)}: {shown}", i)
    return [list(values) for values in zip(*rows, strict=True)] if len(rows) else [[] for _ in names]


def _column_of(rows: list[dict[str, Any]], column: RowColumn) -> list[Any]:
    """Return the values of a column; one that is not there is missing, where it may be."""
    name = column.name
    try:
        return [row[name] for row in rows]
    except KeyError:
        if column.optional:
            return [row.get(name) for row in rows]
        row = next(i for i, row in enumerate(rows) if name not in row)
        raise BadRows(f"row {row} has no column {name!r}", row, name) from None


def _of_rows(values: list[list[Any]], known: Sequence[RowColumn]) -> list[Any]:
    """Return values of columns as Arrow arrays; numbers are made and checked at once, where all of them are there."""
    numbers = [one for one, column in zip(values, known, strict=True) if column.kind == "number"]
    try:
        plain = NUMBERS.issuperset(map(type, chain.from_iterable(numbers)))
        every = np.array(numbers, dtype=np.float64) if plain and numbers else np.empty((0, 0))
    except OverflowError:
        plain = False
    if not plain or not np.isfinite(every).all():
        return [_of_values(one, column) for one, column in zip(values, known, strict=True)]
    parts = iter(_side_by_side(every))
    pairs = zip(values, known, strict=True)
    return [next(parts) if column.kind == "number" else _of_values(one, column) for one, column in pairs]


def _side_by_side(numbers: Array) -> list[Any]:
    """Return the rows of a matrix (m, n) of finite numbers as m Arrow arrays, which are not copied."""
    numbers = np.ascontiguousarray(numbers)
    double, buffer, count = pa.float64(), pa.py_buffer(numbers), numbers.shape[1]
    slices = (buffer.slice(8 * count * k, 8 * count) for k in range(len(numbers)))
    return [pa.Array.from_buffers(double, count, [None, one]) for one in slices]


def _of_values(values: list[Any], column: RowColumn) -> Any:
    """Return values of a column as an Arrow array; refuse others than its kind has."""
    if column.kind == "number":
        if not NUMBERS.issuperset(map(type, values)):
            allowed = (float, int, np.floating, np.integer, np.bool_, type(None))
            for i, value in enumerate(values):
                if not isinstance(value, allowed):
                    raise _bad(f"{value!r:.{SHOWN}} is not a number", i, column)
        try:
            numbers = np.array(values, dtype=np.float64)
        except OverflowError:
            row = next(i for i, value in enumerate(values) if isinstance(value, int) and abs(value) > LARGEST)
            raise _bad("the number is too large", row, column) from None
        return _checked_numbers(numbers, column)
    made = _read(values, column)
    try:
        return _checked_gaps(pa.array(made, type=column.arrow_type), column)
    except (UnicodeEncodeError, pa.ArrowException, OverflowError):
        raise BadRows(
            f"column {column.name!r} holds what cannot be written as {column.kind}", column=column.name
        ) from None


def _read(values: list[Any], column: RowColumn) -> list[Any]:
    """Return values of a column of texts, booleans or dates; of its own type but for dates, which are texts in JSON."""
    given = set(map(type, values))
    if column.kind == "text" and TEXTS.issuperset(given):
        return values
    if column.kind == "text":
        wrong = np.array([not isinstance(value, str | bool | int | float | None) for value in values])
        read = [value if value is None else written(value) for value in values]
    else:
        read, problems = read_values(values, column.kind)
        wrong = np.any([*problems.values(), np.zeros(len(values), dtype=bool)], axis=0)
        if column.kind == "boolean" and str in given:
            wrong |= [isinstance(value, str) for value in values]
    if wrong.any():
        row = int(wrong.argmax())
        what = {"boolean": "true or false", "text": "a text", "date": "a date as 2024-12-31 or 2024-12-31T12:00:00"}
        raise _bad(f"{values[row]!r:.{SHOWN}} is not {what[column.kind]}", row, column)
    return read


def _of_arrow(table: Any, column: RowColumn) -> Any:
    """Return a column of an Arrow table or record batch in the type of its kind."""
    if column.name not in table.schema.names:
        if column.optional:
            return pa.nulls(table.num_rows, column.arrow_type)
        raise BadRows(f"the rows have no column {column.name!r}", column=column.name)
    if table.schema.names.count(column.name) > 1:
        raise BadRows(f"the rows have several columns {column.name!r}", column=column.name)
    given = table.column(column.name)
    wrong = BadRows(f"column {column.name!r} holds {given.type!s:.{SHOWN}}, not {column.kind}", column=column.name)
    try:
        if isinstance(given, pa.ChunkedArray):
            given = given.combine_chunks() if given.num_chunks != 1 else given.chunk(0)
        if pa.types.is_dictionary(given.type):
            given = given.dictionary.take(given.indices)
        if not (pa.types.is_null(given.type) or OWN_TYPES[column.kind](given.type)):
            return _of_values(given.to_pylist(), column)
        made = given.cast(column.arrow_type, safe=False)
    except (pa.ArrowException, MemoryError):
        raise wrong from None
    return _checked_numbers(_doubles(made), column) if column.kind == "number" else _checked_gaps(made, column)


def _refuse_expansion(table: Any, known: Sequence[RowColumn]) -> None:
    """Refuse an Arrow table whose columns would take much more memory than it does, before any of them is read.

    Values are numbers, times or texts, or a dictionary of these: none that lie within others, views, or runs.
    """
    own = [column for column in known if table.schema.names.count(column.name) == 1]
    size = 8 * table.num_rows * len(known)
    for column in own:
        kind = table.schema.field(column.name).type
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        texts = pa.types.is_string(plain) or pa.types.is_large_string(plain)
        if not (texts or any(one(plain) for one in (pa.types.is_primitive, pa.types.is_decimal, pa.types.is_null))):
            raise BadRows(f"column {column.name!r} holds {kind!s:.{SHOWN}}, not {column.kind}", column=column.name)
        if texts and plain is not kind:
            size += _length_of_texts(table.column(column.name), column.name)
    if size > EXPANDED + 8 * sum(table.column(column.name).nbytes for column in own):
        raise BadRows("the rows would take much more memory than was sent: send fewer at once")


def _length_of_texts(given: Any, name: str) -> int:
    """Return how many bytes the texts of a column with a dictionary take, each as often as it occurs."""
    size = 0
    for part in given.chunks if hasattr(given, "chunks") else [given]:
        try:
            lengths = pc.binary_length(part.dictionary).take(part.indices)
        except pa.ArrowException:
            raise BadRows(f"column {name!r} is damaged", column=name) from None
        size += pc.sum(lengths.cast(pa.int64())).as_py() or 0
    return size


def _checked_numbers(numbers: Array, column: RowColumn) -> Any:
    """Return numbers as an Arrow array, NaN where they are missing; refuse infinity, and gaps that must not be."""
    if not np.isfinite(numbers).all():
        wrong = np.isinf(numbers) if column.optional else ~np.isfinite(numbers)
        if wrong.any():
            row = int(wrong.argmax())
            raise _bad("the value is missing" if np.isnan(numbers[row]) else "infinity is no number", row, column)
    return pa.Array.from_buffers(pa.float64(), len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))])


def _checked_gaps(values: Any, column: RowColumn) -> Any:
    """Return an Arrow array; refuse gaps that must not be."""
    if values.null_count and not column.optional:
        raise _bad("the value is missing", values.is_null().index(True).as_py(), column)
    return values


def _doubles(values: Any) -> Array:
    """Return an Arrow array of doubles, (n,), NaN where they are missing."""
    if values.null_count:
        values = values.fill_null(np.nan)
    return np.asarray(np.from_dlpack(values), dtype=np.float64)


def _bad(what: str, row: int, column: RowColumn | None) -> BadRows:
    assert column is not None
    return BadRows(f"row {row}, column {column.name!r}: {what}", row, column.name)


def _located(error: AdalineError) -> BadRows:
    """Return an error of a coding with the row and the column that its message names."""
    text = str(error)
    row, column = re.search(r"\brow (\d+)", text), re.search(r"\bcolumn '([^']*)'", text)
    return BadRows(text, int(row[1]) if row else None, column[1] if column else None)
