"""Arrow tables as files, batch by batch: CSV, TSV or Parquet, whole or not at all; or as lines on stdout."""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from adaline.faces.commands.showing import plain
from adaline.storage.container import replacing

KINDS = (".csv", ".tsv", ".parquet")


class Writer(ABC):
    """Takes tables of one schema, one after the other."""

    @abstractmethod
    def write(self, table: Any) -> None:
        """Write the rows of a table after those before."""


class TextWriter(Writer):
    """Rows as text with a line of names; values are quoted only where they must be."""

    def __init__(self, file: BinaryIO, separator: str = ",") -> None:
        self.file = file
        self.separator = separator
        self.begun = False

    def write(self, table: Any) -> None:
        """Write rows; the first ones under a line of names."""
        if not self.begun:
            names = _quoted(pa.chunked_array([pa.array(table.column_names, pa.string())]), self.separator)
            self.file.write((self.separator.join(names.to_pylist()) + "\n").encode())
            self.begun = True
        if table.num_rows == 0:
            return
        cells = [_quoted(_text(column), self.separator) for column in table.columns]
        lines = pc.binary_join_element_wise(*cells, self.separator, null_handling="replace", null_replacement="")
        self.file.write(("\n".join(lines.to_pylist()) + "\n").encode())


class JsonWriter(Writer):
    """A JSON object a row, one a line."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def write(self, table: Any) -> None:
        """Write rows."""
        lines = (json.dumps(plain(row), ensure_ascii=False) for row in table.to_pylist())
        self.file.write("".join(line + "\n" for line in lines).encode())


class ParquetWriter(Writer):
    """A Parquet file, a row group a table."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.file: Any = None

    def write(self, table: Any) -> None:
        """Write rows."""
        if self.file is None:
            self.file = parquet.ParquetWriter(self.name, table.schema)
        self.file.write_table(table.cast(self.file.schema))

    def close(self) -> None:
        """Write the footer."""
        if self.file is not None:
            self.file.close()


@contextmanager
def writing(path: Path | None, as_json: bool = False) -> Iterator[Writer]:
    """Open where rows go; a file appears under its name when it is whole, and what was there stays until then."""
    if path is None:
        out = sys.stdout.buffer
        yield JsonWriter(out) if as_json else TextWriter(out)
        out.flush()
        return
    with replacing(path) as temporary:
        if path.name.lower().endswith(".parquet"):
            writer = ParquetWriter(temporary)
            try:
                yield writer
            finally:
                writer.close()
            return
        with open(temporary, "wb") as file:
            yield TextWriter(file, "\t" if path.name.lower().endswith(".tsv") else ",")


def _text(column: Any) -> Any:
    """Return a column as text; times without fractions of a second that are zero, NaN as nothing."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
    try:
        text = column.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        values = [None if value is None else str(value) for value in column.to_pylist()]
        return pa.chunked_array([pa.array(values, pa.string())])
    return pc.replace_substring_regex(text, r"\.0+(Z|[+-][0-9:]+)?$", r"\1") if pa.types.is_timestamp(kind) else text


def _quoted(column: Any, separator: str) -> Any:
    """Return text with quotes around what would be read amiss without them."""
    odd = pc.match_substring_regex(column, f'[{separator}"\r\n]|^ | $')
    if not pc.any(odd).as_py():
        return column
    doubled = pc.replace_substring(column, '"', '""')
    return pc.if_else(odd, pc.binary_join_element_wise('"', doubled, '"', ""), column)
