"""The short way from rows to numbers: plain columns that are as they should be, without a table in between.

The coding of a frame knows every model, every type and every error, and takes half a millisecond for a row. Most rows
are numbers, booleans and known levels, none of them missing; these are written into X here, to the same bits, and all
others are left to it.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adaline.arrays import Array
from adaline.coding import Coding, Column
from adaline.input.coded import as_coded

NUMBER_TYPES = {float, int, bool}


@dataclass(frozen=True)
class PlainColumn:
    """A raw column: its name, where its columns of X begin, and how its levels are found, where it has some.

    `known` are levels that are texts as an Arrow array.
    """

    name: str
    kind: str
    first: int
    levels: dict[Any, int]
    known: Any = None


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
        return None if x is None or not np.isfinite(x).all() else as_coded(x)

    def _one(self, row: Any) -> Any:
        if len(row) != len(self.columns):
            return None
        values = row.get if type(row) is dict else dict(zip((one.name for one in self.columns), row, strict=True)).get
        x = np.zeros((1, self.width))
        for column in self.columns:
            value = values(column.name)
            if column.levels:
                level = column.levels.get(value) if type(value) is not bool else None
                if level is None:
                    return None
                if level:
                    x[0, column.first + level - 1] = 1.0
            elif type(value) in NUMBER_TYPES if column.kind == "number" else type(value) is bool:
                try:
                    x[0, column.first] = value
                except OverflowError:
                    return None
            else:
                return None
        return as_coded(x) if np.isfinite(x).all() else None

    def _listed(self, rows: list[Any]) -> Array | None:
        """Return X of rows that are dicts, or lists."""
        count = len(self.columns)
        kinds = set(map(type, rows))
        if len(kinds) != 1 or set(map(len, rows)) != {count}:
            return None
        x = np.zeros((len(rows), self.width), order="F")
        by_position = None if kinds == {dict} else list(zip(*rows, strict=True))
        try:
            for k, column in enumerate(self.columns):
                name = column.name
                values = [row[name] for row in rows] if by_position is None else by_position[k]
                if column.levels:
                    codes = list(map(column.levels.get, values))
                    if None in codes or bool in set(map(type, values)):
                        return None
                    _put_levels(x, column, np.array(codes))
                else:
                    if column.kind == "boolean" and set(map(type, values)) != {bool}:
                        return None
                    x[:, column.first] = np.frombuffer(array("d", values))  # which takes no text for a number
        except (KeyError, OverflowError, TypeError):
            return None
        return x

    def _arrow(self, table: Any) -> Array | None:
        """Return X of an Arrow table or record batch."""
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
            if kind != "string" or column.known is None:
                return None
            codes = pc.index_in(values, value_set=column.known)
            if codes.null_count:
                return None
            codes = np.from_dlpack(codes)
            x[:, column.first : column.first + len(column.levels) - 1] = 0.0
            _put_levels(x, column, codes)
        return x


def _put_levels(x: Array, column: PlainColumn, codes: Any) -> None:
    at = np.flatnonzero(codes)
    x[at, column.first + codes[at] - 1] = 1.0


def _plain(coding: Coding, factors: tuple[Any, ...], first: int) -> PlainColumn | None:
    """Return the plain column that a term is; None where it is more than that."""
    if len(factors) != 1 or factors[0].column is None or factors[0].text != factors[0].column or factors[0].full:
        return None
    column: Column = coding.column(factors[0].column, factors[0].category)
    if column.gaps or column.kind not in ("number", "boolean", "category"):
        return None
    if column.has_levels and not (column.of_texts or all(type(level) in (int, float) for level in column.levels)):
        return None
    levels = {level: k for k, level in enumerate(column.levels)}
    known = pa.array(column.levels, pa.string()) if levels and column.of_texts else None
    return PlainColumn(column.name, column.kind, first, levels, known)
