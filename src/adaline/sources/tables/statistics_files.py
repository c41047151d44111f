"""Files of Stata, SPSS and SAS: copied as Parquet, values with a label by their label."""

from __future__ import annotations

from typing import Any

from adaline.errors import UnreadableTable

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
    import pyarrow as pa
    from pyarrow import parquet

    try:
        import pyreadstat
    except ImportError:
        raise UnreadableTable(
            f"{name} is a file of Stata, SPSS or SAS, which takes pyreadstat to read: pip install 'adaline[stata]', or "
            "save the table as CSV"
        ) from None
    read = getattr(pyreadstat, READERS[suffix])
    labels = {} if suffix in ("sas7bdat", "xpt") else {"apply_value_formats": True, "formats_as_category": False}
    if encoding is not None and suffix != "por":
        labels["encoding"] = encoding
    try:
        columns, _ = read(name, output_format="dict", **labels)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, UnicodeError) as error:
        raise UnreadableTable(f"{name} cannot be read: {error}; save the table as CSV") from None
    parquet.write_table(pa.table({name: _column(values) for name, values in columns.items()}), copy)


def _column(values: Any) -> Any:
    """Return values as an Arrow array; as texts where only some of them have a label."""
    import pyarrow as pa

    try:
        return pa.array(values, from_pandas=True)
    except pa.ArrowException:
        missing = [value is None or value != value or value == "" for value in values]
        shown = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
        return pa.array([None if gone else text for gone, text in zip(missing, shown, strict=True)])
