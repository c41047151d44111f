"""Files of Stata, SPSS and SAS: copied as Parquet, values with a label by their label."""

from __future__ import annotations

from typing import Any

from adaline.errors import UnreadableTable
from adaline.lazy import pa

READERS = {
    "dta": "read_dta",
    "sav": "read_sav",
    "zsav": "read_sav",
    "por": "read_por",
    "sas7bdat": "read_sas7bdat",
    "xpt": "read_xport",
}
"""Functions of pyreadstat by the suffix of a file."""


def write_statistics_file(name: str, suffix: str, encoding: str | None, copy: str) -> None:
    """Write a file of a statistics program as a Parquet file."""
    try:
        import pyreadstat
    except ImportError:
        raise UnreadableTable(
            f"{name} is a file of Stata, SPSS or SAS, which takes pyreadstat to read: "
            "pip install 'adaline-learn[stata]', or save the table as CSV"
        ) from None
    read = getattr(pyreadstat, READERS[suffix])
    given = {} if encoding is None or suffix == "por" else {"encoding": encoding}
    try:
        columns, meta = read(name, output_format="dict", **given)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, UnicodeError) as error:
        raise UnreadableTable(f"{name} cannot be read: {error}; save the table as CSV") from None
    known = meta.variable_value_labels
    pa.parquet.write_table(pa.table({name: _column(column, known.get(name)) for name, column in columns.items()}), copy)


def _column(values: Any, labels: dict[Any, str] | None) -> Any:
    """Return values as an Arrow array: as texts where all of them have a label, which they have in a survey's codes."""
    values = [None if value is None or value != value or value == "" else value for value in values]
    if labels and all(value in labels for value in values if value is not None):
        values = [None if value is None else str(labels[value]) for value in values]
    return pa.array(values)
