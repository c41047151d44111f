"""Text files of rows: their layout and the types of their columns, found once and given to DuckDB as options.

DuckDB's own detection skips lines of an unusual file, takes another separator, or reads everything as one column.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from adaline.errors import UnreadableTable
from adaline.sources.tables.files import cut_short, escaped, open_compressed
from adaline.sources.tables.sql import quoted, text

HEAD = 2**20  # bytes in which the line of names must end
FIRST_LINES = 2**16  # bytes from which the separator is found
SEPARATORS = (",", "\t", ";", "|")
LINE_END = re.compile(b"[\r\n]")
LINE = re.compile("\r\n|\n|\r")
NOT_UTF8 = "not UTF-8 text; convert it first, for example by iconv -f latin1 -t utf-8"
FOREIGN = {
    b"\x1f\x8b": "is compressed by gzip: let its name end in .gz",
    b"\x28\xb5\x2f\xfd": "is compressed by zstd: let its name end in .zst",
    b"PK\x03\x04": "is a ZIP archive or a spreadsheet: unpack it, or save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "is a spreadsheet: save the sheet as CSV",
    b"BZh": "is compressed by bzip2: unpack it first",
    b"\xfd7zXZ": "is compressed by xz: unpack it first",
    b"PAR1": "is a Parquet file: let its name end in .parquet",
    b"%PDF": "is a PDF document, not a table",
}


MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None", "?")
SAMPLE = 20480  # rows from which the types of columns are found, where not all rows are read for that
SIGNED = "' *[-+]?((0|[1-9][0-9]*)([.][0-9]*)?|[.][0-9]+)([eE][-+]?[0-9]+)? *'"
BOOLEAN = "lower({}) IN ('true', 'false')"

Query = Callable[[str], list[Any]]
"""A function from SQL to the rows of its result."""


@dataclass(frozen=True)
class Layout:
    """The separator of a text file, the number of blank lines before the names of its columns, and these names."""

    separator: str
    blank: int
    names: tuple[str, ...]


def layout(name: str) -> Layout:
    """Return the layout of a text file; refuse files that would be misread."""
    head, whole = _head(name)
    lines = LINE.split(head)
    blank = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    if blank == len(lines):
        raise UnreadableTable(f"{name} is empty: there is no line with the names of the columns")
    first = lines[blank].lstrip()
    beginning = "\n".join(lines[blank:])[: max(FIRST_LINES, 4 * len(first))]
    separator = _separator(name, beginning, whole and len(beginning) < FIRST_LINES)
    rows = _rows(beginning, separator, 2)
    if first.startswith(("#", "//", "%")) and (len(rows) < 2 or len(rows[0]) != len(rows[1]) or len(rows[0]) == 1):
        raise UnreadableTable(
            f"{name} begins with a comment (line {blank + 1}: {first[:30]!r}): take it out, so that the first line "
            "names the columns"
        )
    if not rows:
        raise UnreadableTable(f"{name}, line {blank + 1}: the line of column names has a quote that is never closed")
    names = tuple(word.strip() for word in rows[0])
    words = [len(row[0].split()) for row in rows if len(row) == 1]
    if len(words) == 2 and words[0] == words[1] > 1:
        raise UnreadableTable(f"{name}: columns seem to be separated by spaces: separate them by commas or tabs")
    check_names(name, names)
    return Layout(separator, blank, names)


def check_names(name: str, names: Sequence[str]) -> None:
    """Refuse columns without a name, and two of the same name in SQL, which ignores case."""
    known: dict[str, str] = {}
    for i, word in enumerate(names):
        if not word.strip():
            raise UnreadableTable(
                f"{name}: column {i + 1} of {len(names)} has no name (row numbers, or a separator at the end of the "
                "line?): name it, or write the file without it"
            )
        if word.lower() in known:
            other = known[word.lower()]
            if other == word:
                raise UnreadableTable(f"{name} has two columns called {word[:60]!r}: rename one of them")
            raise UnreadableTable(
                f"{name} has columns {other[:60]!r} and {word[:60]!r}, which differ in capitals only: rename one"
            )
        known[word.lower()] = word


def missing_words_in(name: str, words: Sequence[str]) -> list[str]:
    """Return the words for missing values that occur in the first lines, and "", NA and NULL, which may occur later.

    DuckDB compares every field with every word: a dozen of them cost a fifth of the time of reading a large file. Any
    other word that occurs later is an error that names its line.
    """
    with open_compressed(name) as file:
        fields = set(re.split(rb"[,;|\t\r\n\"]+", bytes(file.read(HEAD))))
    return [word for word in words if word in ("", "NA", "NULL") or word.encode() in fields]


def first_error(name: str, found: Layout) -> str | None:
    """Return the first malformed line of a file and what is wrong with it, or None. Reads all of the file."""
    wanted = len(found.names)
    ends: set[str] = set()
    line = 0
    try:
        with io.TextIOWrapper(open_compressed(name), encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(_lines(file, ends), delimiter=found.separator, strict=True)
            for row in reader:
                line = reader.line_num
                if row and len(row) != wanted:
                    shown = "1 value" if len(row) == 1 else f"{len(row)} values"
                    return f"line {line} has {shown}, but there are {wanted} columns: mend that line"
    except csv.Error as error:
        if "field larger" not in str(error):
            return f"line {line + 1}: a quote is not closed, or something follows it: mend that line"
    except UnicodeDecodeError:
        return NOT_UTF8
    except (OSError, EOFError):
        return None
    if len(ends) > 1:
        return "lines end in different ways (CR, LF): convert the file, for example by dos2unix"
    return None


def _lines(file: Iterable[str], ends: set[str]) -> Iterator[str]:
    """Yield lines as they are, and collect their ends in `ends`."""
    for line in file:
        if end := line[len(line.rstrip("\r\n")) :]:
            ends.add(end)
        yield line


def _head(name: str) -> tuple[str, bool]:
    """Return the first lines of a file as text, and whether they are the whole file."""
    try:
        with open_compressed(name) as file:
            head = bytes(file.read(FIRST_LINES))
            whole = len(head) < FIRST_LINES
            if not whole and not LINE_END.search(head):
                head += bytes(file.read(HEAD))
    except EOFError:
        raise cut_short(name) from None
    except OSError as error:
        if "Truncated" in str(error):
            raise cut_short(name) from None
        if isinstance(error, gzip.BadGzipFile):
            raise UnreadableTable(f"cannot read {name}: damaged, or no gzip file; get the file again") from None
        raise UnreadableTable(f"cannot read {name}: {error.strerror or error}") from None
    except Exception as error:  # zlib.error
        raise UnreadableTable(f"{name} is damaged: {error}; get the file again") from None
    for magic, what in FOREIGN.items():
        if head.startswith(magic):
            twice = "is compressed twice: unpack it once" if magic[0] == 0x1F and name.lower().endswith(".gz") else what
            raise UnreadableTable(f"{name} {twice}")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UnreadableTable(f"{name} is UTF-16 text: convert it first, for example by iconv -f utf-16 -t utf-8")
    head = head.removeprefix(codecs.BOM_UTF8)
    if b"\0" in head:
        line = head[: head.index(b"\0")].count(b"\n") + 1
        raise UnreadableTable(f"{name}, line {line}: a NUL byte: this is no text file, or a damaged one")
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(head, final=whole), whole
    except UnicodeDecodeError as error:
        line = head[: error.start].count(b"\n") + 1
        raise UnreadableTable(f"{name}, line {line}: {NOT_UTF8}") from None


def _separator(name: str, beginning: str, whole: bool) -> str:
    """Return the separator that cuts most lines into as many fields as there are names; of several, by most names."""
    best, most = ",", (False, 1)
    for separator in SEPARATORS:
        rows = _rows(beginning, separator, 50)
        if not rows or len(rows[0]) < 2:
            continue
        wide = len(rows[0])
        inner = rows[1:] if whole else rows[1:-1]
        agreeing = sum(len(row) == wide for row in inner)
        score = (2 * agreeing >= len(inner), wide)
        if score > most or (score == most and Path(name).suffix == ".tsv" and separator == "\t"):
            best, most = separator, score
    return best


def _rows(text: str, separator: str, most: int) -> list[list[str]]:
    """Return the first `most` rows of a text that are not empty, up to one that cannot be parsed."""
    rows: list[list[str]] = []
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True)
    try:
        for row in reader:
            if row:
                rows.append(row)
            if len(rows) == most:
                break
    except csv.Error:
        pass
    return rows


@dataclass(frozen=True)
class Dialect:
    """The options of DuckDB's `read_csv`: the layout of the lines, the type of each column, and others."""

    layout: Layout
    types: tuple[str, ...]
    options: str
    date_format: str = ""

    def sql(self, files: Sequence[str]) -> str:
        """Return SQL that reads the files as one table."""
        listed = ", ".join(text(escaped(name)) for name in files)
        columns = ", ".join(f"{text(n)}: {text(kind)}" for n, kind in zip(self.layout.names, self.types, strict=True))
        return (
            f"read_csv([{listed}], auto_detect=false, hive_partitioning=false, columns={{{columns}}}, {self.options})"
        )

    def with_texts(self, names: Collection[str]) -> Self:
        """Return the dialect with some columns read as text."""
        known = zip(self.layout.names, self.types, strict=True)
        return replace(self, types=tuple("VARCHAR" if name in names else kind for name, kind in known))


def find_dialect(files: Sequence[str], first: Layout, query: Query, whole: bool) -> Dialect:
    """Return the dialect of files, from the first of them and its layout; types from all its rows if `whole`."""
    for name in files[1:]:
        check_layout(files[0], first, name, layout(name))
    words = MISSING_WORDS if whole else missing_words_in(files[0], MISSING_WORDS)
    options = (
        f"delim={text(first.separator)}, quote='\"', escape='\"', header=true, skip={first.blank}, comment='', "
        f"strict_mode=true, nullstr=[{', '.join(map(text, words))}]"
    )
    names = ", ".join(map(text, first.names))
    found, days, times = query(
        f"SELECT Columns, DateFormat, TimestampFormat FROM sniff_csv({text(escaped(files[0]))}, {options}, "
        f"names=[{names}], sample_size={-1 if whole else SAMPLE})"
    )[0]
    types = tuple(number_type(column["type"], whole) for column in found)
    dialect = Dialect(first, types, options)
    texts = [i for i, kind in enumerate(types) if kind == "VARCHAR"]
    dialect = _with_type_if(dialect, files[0], query, texts, f"regexp_full_match({{}}, {SIGNED})", "DOUBLE", whole)
    booleans = [i for i, column in enumerate(found) if column["type"] == "BOOLEAN"]
    dialect = _with_type_if(dialect, files[0], query, booleans, BOOLEAN, "BOOLEAN", whole)
    for option, form in (("dateformat", days), ("timestampformat", times)):
        if form:
            not_iso = "" if form.startswith("%Y") else form
            options = f"{dialect.options}, {option}={text(form)}"
            dialect = replace(dialect, options=options, date_format=dialect.date_format + not_iso)
    return dialect


def number_type(kind: str, whole: bool) -> str:
    """Return the type to read a column as: integers that are too long, or not all of which were read, are DOUBLE.

    What DuckDB takes for booleans stays text unless it is true and false, as F alone may be a name.
    """
    if kind == "BOOLEAN":
        return "VARCHAR"
    return "DOUBLE" if kind == "BIGNUM" or (kind in ("BIGINT", "HUGEINT") and not whole) else kind


def _with_type_if(
    dialect: Dialect, file: str, query: Query, tried: list[int], condition: str, kind: str, whole: bool
) -> Dialect:
    """Return the dialect where the columns in `tried` have type `kind` if all their values meet a condition."""
    names, table = dialect.layout.names, dialect.sql([file])
    for limit in (2048, 2**62 if whole else SAMPLE):  # a few rows rule out most columns
        if not tried:
            return dialect
        asked = ", ".join(f"bool_and({condition.format(quoted(names[i]))})" for i in tried)
        found = query(f"SELECT {asked} FROM (SELECT * FROM {table} LIMIT {limit})")[0]
        tried = [i for i, holds in zip(tried, found, strict=True) if holds]
    return replace(dialect, types=tuple(kind if i in tried else old for i, old in enumerate(dialect.types)))


def arrow_kind(kind: Any) -> str:
    """Return "numbers", "texts" or the name of an Arrow type."""
    import pyarrow as pa

    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_integer(value) or pa.types.is_floating(value) or pa.types.is_decimal(value):
        return "numbers"
    return "texts" if pa.types.is_string(value) or pa.types.is_large_string(value) else str(value)


def check_layout(first: str, wanted: Layout, name: str, found: Layout) -> None:
    """Refuse a text file whose layout is not that of the first, or whose columns are not the same in the same order."""
    if found.names != wanted.names:
        check_columns(first, dict.fromkeys(wanted.names, ""), name, dict.fromkeys(found.names, ""))
        raise UnreadableTable(f"{name} has the columns of {first} in another order: write them in one order")
    if found != wanted:
        raise UnreadableTable(f"{name} is written differently from {first} (separator, blank lines): write them alike")


def check_columns(first: str, wanted: dict[str, str], name: str, found: dict[str, str]) -> None:
    """Refuse a file whose columns, names to kinds, are not those of the first."""
    for column in wanted:
        if column not in found:
            raise UnreadableTable(f"{name} has no column {column!r}, which {first} has: open files of one kind")
        if wanted[column] != found[column]:
            raise UnreadableTable(
                f"column {column!r} holds {wanted[column]} in {first}, but {found[column]} in {name}: write them alike"
            )
    for column in found:
        if column not in wanted:
            raise UnreadableTable(f"{name} has a column {column!r}, which {first} has not: open files of one kind")
