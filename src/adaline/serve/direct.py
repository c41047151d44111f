"""The short way from rows to numbers: plain columns that are as they should be, without a table in between.

The coding of a frame handles every model, type and error, and takes half a millisecond a row. Most rows hold numbers,
booleans and known levels, none of them missing: these are written straight into X here, with the same bits. All other
rows are left to the coding. Rows to learn from are kept as numbers, levels by their indices, until they are put
together with others into one table, which is what the journal stores.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import isfinite
from operator import itemgetter
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adaline.arrays import Array, all_finite
from adaline.coding import Coding, Column
from adaline.coding.rows import put_levels
from adaline.input.coded import as_coded
from adaline.locks import cached_property

NUMBER_TYPES = {float, int, bool}
EXACT = 2**53  # integers up to this size are doubles too
MOST_FIELDS = 256  # columns of rows that have a type of their own


@dataclass(frozen=True)
class PlainColumn:
    """A raw column, or a label: its name, where its columns of X begin, and how its levels are found, if it has some.

    `known` are the levels as an Arrow array of texts or doubles.
    """

    name: str
    kind: str
    first: int
    levels: dict[Any, int]
    known: Any = None

    @property
    def is_number(self) -> bool:
        """Whether values are numbers as they are."""
        return self.kind == "number" and not self.levels

    @property
    def json_type(self) -> type:
        """The type of its values in JSON."""
        if self.levels:
            return str if pa.types.is_string(self.known.type) else float
        return float if self.kind == "number" else bool

    def numbers(self, values: Sequence[Any]) -> Sequence[Any] | None:
        """Return values as numbers, levels by their indices; None where some are not of the column."""
        if self.is_number:
            return values
        kinds = set(map(type, values))
        if not self.levels:
            return values if kinds == {bool} else None
        found = list(map(self.levels.get, values))
        return None if None in found or (bool in kinds) != (True in self.levels and self.kind == "boolean") else found

    def known_as(self, other: PlainColumn) -> bool:
        """Whether the indices of the levels of another column mean the same."""
        return self.levels == other.levels and (self.known is None or bool(self.known.equals(other.known)))

    def column(self, numbers: Any) -> Any:
        """Return an Arrow array of doubles, as `numbers` gives them, as the values that they stand for."""
        if self.levels:
            return self.known.take(numbers.cast(pa.int64()))
        return numbers if self.kind == "number" else numbers.cast(pa.bool_())


@dataclass(frozen=True)
class DirectRows:
    """The plain columns of a model.

    Parameters
    ----------
    columns : the raw columns, in the order of rows that are lists.
    width : the number of columns of X.
    """

    columns: tuple[PlainColumn, ...]
    width: int

    @classmethod
    def of(cls, names: Sequence[str], coding: Coding | None) -> DirectRows | None:
        """Return the plain columns of a model, whose raw columns have these names; None where it has others."""
        if coding is None:
            return cls(tuple(PlainColumn(name, "number", j, {}) for j, name in enumerate(names)), len(names))
        if coding.sparse or coding.known_part or coding.effects or coding.offset is not None:
            return None
        found: dict[str, PlainColumn] = {}
        first = 0
        for term in coding.terms:
            plain = _plain(coding, term.factors, first)
            if plain is None or plain.name in found:
                return None
            found[plain.name] = plain
            first += coding.term_width(term.factors)
        if first != coding.count or set(names) != set(found):
            return None
        return cls(tuple(found[name] for name in names), first)

    def code(self, rows: Any) -> Any:
        """Return X of rows as they were sent, marked as coded; None where some are not as plain as the columns."""
        if isinstance(rows, list):
            if len(rows) == 1:
                return self._one(rows[0])
            x = self._listed(rows)
        else:
            x = self._arrow(rows)
        return None if x is None or not all_finite(x) else as_coded(x)

    @cached_property
    def row_type(self) -> type[msgspec.Struct] | None:
        """The type of a row in JSON that is an object of all columns and no others, each of its kind, none missing.

        JSON is read into such rows in half the time that dicts take. None where there are many columns, or one has a
        name that JSON escapes.
        """
        return _row_type(tuple((column.name, column.json_type) for column in self.columns))

    def code_typed(self, rows: list[msgspec.Struct]) -> Any:
        """Return X of rows of the type `row_type`, marked as coded; None where one has a level that is not known."""
        if len(rows) == 1:
            return self._one(msgspec.structs.astuple(rows[0]))
        listed = map(msgspec.structs.astuple, rows)
        if self.in_order:
            count = len(rows) * self.width
            numbers = np.fromiter(chain.from_iterable(listed), np.float64, count)
            x: Array | None = np.asfortranarray(numbers.reshape(len(rows), self.width))
        else:
            x = self._by_columns(zip(*listed, strict=True), len(rows))
        return None if x is None or not all_finite(x) else as_coded(x)

    def of_numbers(self, numbers: Array) -> Any:
        """Return X of numbers (m, n), those of the m columns one below the other, marked as coded."""
        if self.in_order:
            return as_coded(numbers.T)
        x = np.zeros((numbers.shape[1], self.width), order="F")
        for column, values in zip(self.columns, numbers, strict=True):
            if column.levels:
                put_levels(x.T[column.first :], values.astype(np.intp), 0)
            else:
                x[:, column.first] = values
        return as_coded(x)

    @cached_property
    def _values_of(self) -> Callable[[dict[str, Any]], Sequence[Any]]:
        """What returns the values of a row that is a dict, in the order of the columns."""
        names = [column.name for column in self.columns]
        return itemgetter(*names) if len(names) > 1 else lambda row: [row[name] for name in names]

    @cached_property
    def in_order(self) -> bool:
        """Whether X is the raw columns, numbers as they are."""
        return all(column.is_number and column.first == k for k, column in enumerate(self.columns))

    @cached_property
    def _doubles(self) -> Any:
        """The schema of a table of the columns, in their order, numbers all of them."""
        return pa.schema([(column.name, pa.float64()) for column in self.columns])

    def _one(self, row: Any) -> Any:
        """Return X of one row: most requests have one, and a list of Python is made faster than an array."""
        if len(row) != len(self.columns):
            return None
        try:
            values: Any = self._values_of(row) if type(row) is dict else row
            if not self.in_order:
                values = self._numbers_of(values)
            elif not NUMBER_TYPES.issuperset(map(type, values)):
                return None
            known = values is not None and all(map(isfinite, values))
            return as_coded(np.array([values], dtype=np.float64)) if known else None
        except (KeyError, OverflowError, TypeError):
            return None

    def _numbers_of(self, values: Sequence[Any]) -> list[float] | None:
        """Return the columns of X of the values of a row; None where some are not of their column."""
        out = [0.0] * self.width
        for column, value in zip(self.columns, values, strict=True):
            kind = type(value)
            if column.levels:
                level = None if kind is bool else column.levels.get(value)
                if level is None:
                    return None
                if level:
                    out[column.first + level - 1] = 1.0
            elif kind in NUMBER_TYPES if column.kind == "number" else kind is bool:
                out[column.first] = value
            else:
                return None
        return out

    def _listed(self, rows: list[Any]) -> Array | None:
        """Return X of rows that are dicts, or lists."""
        count = len(self.columns)
        kinds = set(map(type, rows))
        if len(kinds) != 1 or set(map(len, rows)) != {count}:
            return None
        try:
            listed = map(self._values_of, rows) if kinds == {dict} else rows
            return self._by_columns(zip(*listed, strict=True), len(rows))
        except (KeyError, OverflowError, TypeError):
            return None

    def _by_columns(self, columns: Iterable[Sequence[Any]], count: int) -> Array | None:
        """Return X of the values of each column."""
        x = np.zeros((count, self.width), order="F")
        for column, given in zip(self.columns, columns, strict=True):
            values = column.numbers(given)
            if values is None:
                return None
            if column.levels:
                put_levels(x.T[column.first :], np.array(values), 0)
            else:
                x[:, column.first] = np.frombuffer(array("d", values))  # which takes no text for a number
        return x

    def _arrow(self, table: Any) -> Array | None:
        """Return X of an Arrow table or record batch."""
        if self.in_order and table.schema.equals(self._doubles):
            parts = [table] if isinstance(table, pa.RecordBatch) else table.combine_chunks().to_batches()
            if len(parts) == 1:
                try:
                    return np.asarray(parts[0].to_tensor(row_major=False).to_numpy())
                except pa.ArrowException:  # values are missing
                    return None
        names = table.schema.names
        if len(set(names)) != len(names):
            return None
        x = np.empty((table.num_rows, self.width), order="F")
        for column in self.columns:
            if column.name not in names or column.kind == "boolean":
                return None
            values = table.column(column.name)
            if hasattr(values, "chunks"):
                values = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
            kind = str(values.type)
            if values.null_count:
                return None
            if not column.levels:
                if kind != "double":
                    return None
                x[:, column.first] = np.from_dlpack(values)
                continue
            if not values.type.equals(column.known.type):
                return None
            codes = pc.index_in(values, value_set=column.known)
            if codes.null_count:
                return None
            x[:, column.first : column.first + len(column.levels) - 1] = 0.0
            put_levels(x.T[column.first :], np.from_dlpack(codes), 0)
        return x


@lru_cache(maxsize=64)
def _row_type(columns: tuple[tuple[str, type], ...]) -> type[msgspec.Struct] | None:
    """Return the type of a row by names and types of its columns, the same one for every version of a model."""
    if len(columns) > MOST_FIELDS:
        return None
    fields = [(f"column{k}", kind) for k, (_, kind) in enumerate(columns)]
    names = {f"column{k}": name for k, (name, _) in enumerate(columns)}
    try:
        return msgspec.defstruct("PlainRow", fields, rename=names, forbid_unknown_fields=True, gc=False)
    except ValueError:
        return None


def _is_double(level: Any) -> bool:
    return type(level) in (int, float) and abs(level) <= EXACT


def _plain(coding: Coding, factors: tuple[Any, ...], first: int) -> PlainColumn | None:
    """Return the plain column that a term is; None where it is more than that."""
    if len(factors) != 1 or factors[0].column is None or factors[0].text != factors[0].column or factors[0].full:
        return None
    column: Column = coding.column(factors[0].column, factors[0].category)
    if column.gaps or column.takes_gaps or column.kind not in ("number", "boolean", "category"):
        return None
    if column.has_levels and not (column.of_texts or all(map(_is_double, column.levels))):
        return None
    levels = {level: k for k, level in enumerate(column.levels)}
    known = pa.array(column.levels, pa.string() if column.of_texts else pa.float64()) if levels else None
    return PlainColumn(column.name, column.kind, first, levels, known)
