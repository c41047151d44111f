"""Text files of rows: the types of their columns, found once and given to DuckDB as options.

DuckDB's own detection skips lines of an unusual file, takes another separator, or reads everything as one column.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Self

from adaline.coding.numerals import FORMS, MISSING_WORDS, WORDS, Notation
from adaline.errors import UnreadableTable
from adaline.lazy import pa
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.files import escaped_wildcards, is_compressed, open_compressed
from adaline.sources.tables.layout import (
    FIXED,
    HEAD,
    NOT_UTF8,
    SPACES,
    Layout,
    OtherEncoding,
    collapsed,
    is_value,
)
from adaline.sources.tables.notation import COMPACT, Conversion, FileSign, find_conversions, find_text_words
from adaline.sources.tables.sql import quoted, text
from adaline.wording import counted

MOST_LISTED = 5  # malformed lines that a message names
MOST_DELETED = 10  # malformed lines that a command in a message leaves out
FEW_SHORT = 0.1  # share of the rows that may lack values at their ends
SAMPLE = 20480  # rows from which the types of columns are found, where not all rows are read for that
WORD_ROWS = 100_000  # from which words for missing values in columns of text are found
WORD_FILES = 50  # the same, of files with as many rows from each
SIGNED = "' *[-+]?((0|[1-9][0-9]*)([.][0-9]*)?|[.][0-9]+)([eE][-+]?[0-9]+)? *'"
BOOLEAN = "lower({}) IN ('true', 'false')"

Query = Callable[[str], list[Any]]
"""A function from SQL to the rows of its result."""


def missing_words_in(name: str, words: Sequence[str]) -> list[str]:
    """Return the words for missing values that occur in the first lines, and "", NA and NULL, which may occur later.

    DuckDB compares every field with every word: a dozen of them cost a fifth of the time of reading a large file. Any
    other word that occurs later is an error that names its line.
    """
    with open_compressed(name) as file:
        fields = set(re.split(rb"[,;|\t\r\n\"]+", bytes(file.read(HEAD))))
    return [word for word in words if word in ("", "NA", "NULL") or word.encode() in fields]


UNCLOSED = "a quote is not closed, or something follows it"
MISFIT = re.compile(r"line \d+ has \d+ value")
MIXED_ENDS = "lines end in different ways (CR, LF)"


def find_errors(
    name: str, found: Layout, given: bool = False, shown: Callable[[int], int] = lambda line: line
) -> str | None:
    """Return the malformed lines of a file, the first of them by their numbers, or None. Reads all of the file.

    Of a file that the user has `given` as it is, the message ends with a command that leaves them out. Of a copy,
    `shown` returns the line of the user's file.
    """
    wanted = len(found.names)
    ends: set[str] = set()
    wrong: list[str] = []
    lines_of_wrong: list[tuple[int, int]] = []  # the first and the last of each malformed row
    longer = rows = 0
    line = found.skip
    try:
        with io.TextIOWrapper(open_compressed(name), encoding="utf-8-sig", newline="") as file:
            lines = _lines(file, ends)
            for _ in range(found.skip):
                next(lines, None)
            reader = csv.reader(lines, delimiter=found.separator, strict=True)
            for row in reader:
                first, line = line + 1, found.skip + reader.line_num
                rows += bool(row)
                if row and len(row) != wanted:
                    lines_of_wrong.append((first, line))
                    longer += len(row) == wanted + 1 and not row[-1]
                    wrong += [f"line {shown(first)} has {counted(len(row), 'value')}"] * (len(wrong) < MOST_LISTED)
    except csv.Error as error:
        if "field larger" not in str(error) and not wrong:
            return f", line {shown(line + 1)}: {UNCLOSED}: correct that line"
    except UnicodeDecodeError:
        return f": {NOT_UTF8}"
    except (OSError, EOFError):
        return None
    count = len(lines_of_wrong)
    remedy = ""
    if given and count <= MOST_DELETED:
        those = " ".join(f"-e {first}d" if first == last else f"-e {first},{last}d" for first, last in lines_of_wrong)
        remedy = f", or leave {'it' if count == 1 else 'them'} out: sed {those} -- {shlex.quote(name)} > corrected.csv"
    if count == 1:
        return f", {wrong[0]}, but there are {counted(wanted, 'column')}: correct that line{remedy}"
    if count and longer < rows - found.header:  # a separator at the end of every row is harmless
        more = ", ..." * (count > MOST_LISTED)
        told = f": {count:,} lines do not fit its {counted(wanted, 'column')}: {', '.join(wrong)}{more}"
        return f"{told}. Correct these lines{remedy}"
    if len(ends) > 1:
        return f": {MIXED_ENDS}: convert the file, for example by dos2unix"
    return None


def lines_with(name: str, found: Layout, column: str, values: Collection[str], most: int) -> list[int]:
    """Return the first lines of a file that have one of some values in a column."""
    at, lines = found.names.index(column), list[int]()
    with io.TextIOWrapper(open_compressed(name), encoding="utf-8-sig", newline="") as file:
        for _ in range(found.skip):
            next(file, None)
        there = ((line, cells) for line, cells in _rows(file, found) if cells[at : at + 1] and cells[at] in values)
        lines.extend(found.skip + line for line, _ in islice(there, most))
    return lines


def row_lines(name: str, found: Layout) -> Sequence[int]:
    """Return the line in which each row of a file begins, as far as the file can be parsed; reads all of it."""
    above = found.skip + found.header
    with open_compressed(name) as file:
        content = bytes(file.read()).rstrip(b"\r\n")
    if not re.search(rb'"|\n\r?\n|\r(?!\n)', content):  # every line is a row
        return range(above + 1, content.count(b"\n") + 2)
    with io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="", errors="replace") as text:
        for _ in range(above):
            next(text, None)
        return [above + line for line, _ in _rows(text, found)]


def _rows(file: Iterable[str], found: Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a text up to one that cannot be parsed, each with the line in which it begins, from 1 on."""
    reader = csv.reader(file, delimiter=found.separator)
    line = 1
    with suppress(csv.Error, OSError, EOFError):  # such as a field beyond its limit
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1


def write_commas(name: str, copy: str) -> str:
    """Write a copy of a file of values between spaces as CSV, line by line, and return its path."""
    with (
        io.TextIOWrapper(open_compressed(name), encoding="utf-8-sig") as file,
        open(copy, "w", encoding="utf-8", newline="\n") as out,
    ):
        writer = csv.writer(out, lineterminator="\n")
        try:
            writer.writerows(csv.reader(map(collapsed, file), delimiter=SPACES, skipinitialspace=True))
        except UnicodeDecodeError:
            raise OtherEncoding(f"{name}: {NOT_UTF8}") from None
        except csv.Error as error:
            raise UnreadableTable(f"{name}: {error}; separate its values by commas or tabs") from None
    return copy


def write_line_feeds(name: str, copy: str) -> str:
    """Write a copy of a file whose lines all end in a line feed, and return its path."""
    with (
        io.TextIOWrapper(open_compressed(name), encoding="utf-8-sig") as file,
        open(copy, "w", encoding="utf-8", newline="\n") as out,
    ):
        out.writelines(file)
    return copy


def with_common_names(found: Mapping[str, Layout], wanted: Layout) -> Layout:
    """Return a layout with the names that all files have; as it is where more than half of them have another name,
    which some file lacks, and where no file has these names alone.
    """
    names = [name for name in wanted.names if all(name in one.names for one in found.values())]
    counts = Counter(name for one in found.values() for name in one.names if name not in names)
    frequent = any(2 * count > len(found) for count in counts.values())
    nested = any(sorted(one.names) == sorted(names) for one in found.values())
    if frequent or not nested or len(names) < 2 or not all(one.header for one in found.values()):
        return wanted
    index = wanted.index if wanted.index in names else None
    return replace(wanted, names=tuple(names), left_out=tuple(n for n in wanted.left_out if n in names), index=index)


def is_alike(found: Layout, wanted: Layout) -> bool:
    """Whether a file has the columns of another, perhaps in another order, so that a copy may be written like it."""
    more = found.header and {*found.names} > {*wanted.names}
    same = more or sorted(found.names) == sorted(wanted.names)
    return same and not {found.separator, wanted.separator} & {SPACES, FIXED}


def write_like(name: str, found: Layout, wanted: Layout, copy: str) -> str:
    """Write a copy of a file with the separator, the order of columns and the lines above the rows of another layout.

    Rows that lack values, or have more, stay as they are, and are refused later. Returns the path of the copy.
    """
    places = [found.names.index(one) for one in wanted.names]
    with (
        io.TextIOWrapper(open_compressed(name), encoding="utf-8-sig", newline="") as file,
        open(copy, "w", encoding="utf-8", newline="") as out,
    ):
        writer = csv.writer(out, delimiter=wanted.separator, lineterminator="\n")
        out.write("\n" * wanted.skip)
        writer.writerows([wanted.names] * wanted.header)
        for _ in range(found.skip + found.header):
            next(file, None)
        try:
            reader = csv.reader(file, delimiter=found.separator, strict=True)
            for row in reader:
                fits = len(row) == len(found.names)
                if not fits and len(row) == len(places):  # which would be read as a row
                    where = f"line {found.skip + found.header + reader.line_num} has {counted(len(row), 'value')}"
                    columns = counted(len(found.names), "column")
                    raise UnreadableTable(f"{name}, {where}, but there are {columns}: correct that line")
                writer.writerow([row[i] for i in places] if fits else row)
        except UnicodeDecodeError:
            raise OtherEncoding(f"{name}: {NOT_UTF8}") from None
        except csv.Error as error:
            raise UnreadableTable(f"{name}: {error}; write it like the other files") from None
    return copy


def is_cut(word: str, separator: str) -> bool:
    """Whether a word has the separator, a quote or a line end in it, which DuckDB does not allow for missing values."""
    return any(sign in word for sign in (separator, '"', "\n", "\r"))


def write_emptied(name: str, copy: str, found: Layout, words: Collection[str]) -> str:
    """Write a copy of a file in which the values that are one of some words are empty, and return its path."""
    with (
        io.TextIOWrapper(open_compressed(name), encoding="utf-8-sig", newline="") as file,
        open(copy, "w", encoding="utf-8", newline="") as out,
    ):
        out.writelines(islice(file, found.skip + found.header))
        writer = csv.writer(out, delimiter=found.separator, lineterminator="\n")
        try:
            for row in csv.reader(file, delimiter=found.separator, strict=True):
                writer.writerow(["" if cell in words else cell for cell in row])
        except UnicodeDecodeError:
            raise OtherEncoding(f"{name}: {NOT_UTF8}") from None
        except csv.Error as error:
            raise UnreadableTable(f"{name}: {error}; correct the file") from None
    return copy


def write_padded(name: str, found: Layout, copy: str) -> list[int]:
    """Write a copy of a file whose short rows are filled up with empty values, and return the lines of these.

    Nothing is written, and no line returned, unless all lack values at their ends for certain: their values fit the
    first columns, and no other choice of columns. The last line must be whole, as a file may have been cut.
    """
    with io.TextIOWrapper(open_compressed(name), encoding="utf-8-sig", newline="") as file:
        above = list(islice(file, found.skip + found.header))
        rest = file.read()
    reader = csv.reader(io.StringIO(rest, newline=""), delimiter=found.separator, strict=True)
    every, lines, wide = list[list[str]](), list[int](), len(found.names)
    try:
        for row in reader:
            every.append(row)
            lines += [len(above) + reader.line_num] if row else []
    except csv.Error:
        return []
    rows = [row for row in every if row]
    short = [i for i, row in enumerate(rows) if len(row) < wide]
    full = [row for row in rows if len(row) == wide]
    if not 0 < len(short) <= FEW_SHORT * len(rows) or len(full) + len(short) < len(rows):
        return []
    if short[-1] == len(rows) - 1 and not rest.endswith(("\n", "\r")):
        return []
    columns = [ColumnValues.of(values) for values in zip(*full, strict=True)]
    if not all(_is_prefix(rows[i], columns) for i in short):
        return []
    with open(copy, "w", encoding="utf-8", newline="") as out:
        out.writelines(above)
        writer = csv.writer(out, delimiter=found.separator, lineterminator="\n")
        writer.writerows([*row, *[""] * (wide - len(row))] if row else [] for row in every)  # blank lines stay
    return [lines[i] for i in short]


@dataclass(frozen=True)
class ColumnValues:
    """The values of a column in rows that are whole, and whether all of them are numbers or dates."""

    values: frozenset[str]
    numeric: bool

    @classmethod
    def of(cls, values: Iterable[str]) -> Self:
        """Return those of a column."""
        found = frozenset(value.strip() for value in values)
        return cls(found, all(is_value(value) for value in found if value and value.lower() not in WORDS))

    def takes(self, cell: str) -> bool:
        """Whether a cell may be a value of the column."""
        cell = cell.strip()
        return cell in self.values or not cell or (is_value(cell) == self.numeric) or cell.lower() in WORDS


def _is_prefix(row: Sequence[str], columns: Sequence[ColumnValues]) -> bool:
    """Whether the cells of a row fit the first columns in their order, and no other choice of columns."""
    ways = [1, *[0] * len(row)]  # in how many choices of the columns so far the first k cells fit
    for column in columns:
        for k in range(len(row), 0, -1):
            ways[k] += ways[k - 1] if column.takes(row[k - 1]) else 0
    return ways[-1] == 1 and all(column.takes(cell) for column, cell in zip(columns, row, strict=False))


def has_escaped_quotes(name: str) -> bool:
    """Whether a file has backslashes before quotes, which CSV doubles instead."""
    with open_compressed(name) as file:
        return any(b'\\"' in line for line in file)


def write_doubled(name: str, copy: str) -> str:
    """Write a copy of a file whose quotes in texts are doubled instead of preceded by a backslash; return its path."""
    with open_compressed(name) as file, open(copy, "wb") as out:
        out.writelines(line.replace(b'\\"', b'""') for line in file)
    return copy


def find_repeated_names(name: str, found: Layout) -> list[int]:
    """Return the lines, counted from 1, in which the names of the columns occur again, as where files were joined."""
    if not found.header or len(found.names) < 2 or is_compressed(name):
        return []
    content = Path(name).read_bytes()
    names = content[:HEAD].splitlines()[found.skip].strip().removeprefix(BOM_UTF8)
    if content.count(names) == 1:
        return []
    return [i + 1 for i, line in enumerate(content.splitlines()) if line.strip() == names and i > found.skip]


def write_without_lines(name: str, lines: Collection[int], copy: str) -> str:
    """Write a copy of a file without some of its lines, counted from 1, and return its path."""
    content = Path(name).read_bytes().splitlines(keepends=True)
    Path(copy).write_bytes(b"".join(line for i, line in enumerate(content) if i + 1 not in lines))
    return copy


def _lines(file: Iterable[str], ends: set[str]) -> Iterator[str]:
    """Yield lines as they are, and collect their ends in `ends`."""
    for line in file:
        if end := line[len(line.rstrip("\r\n")) :]:
            ends.add(end)
        yield line


@dataclass(frozen=True)
class Dialect:
    """The options of DuckDB's `read_csv`: the layout of the lines, the type of each column, and others; the columns
    that are converted from text; two values of each column of numbers in different units; by column, texts whose rows
    are left out; words for missing values; which infinities, "inf" or "-inf", are missing values; the decimal sign; and
    words for missing values in columns of text.
    """

    layout: Layout
    types: tuple[str, ...]
    options: str
    conversions: tuple[Conversion, ...] = ()
    mixed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unreadable: tuple[tuple[str, tuple[str, ...]], ...] = ()
    words: tuple[str, ...] = ("",)
    infinities: tuple[str, ...] = ()
    sign: FileSign = field(default_factory=FileSign)
    text_words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def sql(self, files: Sequence[str]) -> str:
        """Return SQL that reads the files as one table."""
        listed = ", ".join(text(escaped_wildcards(name)) for name in files)
        columns = ", ".join(f"{text(n)}: {text(kind)}" for n, kind in zip(self.layout.names, self.types, strict=True))
        read = (
            f"read_csv([{listed}], auto_detect=false, hive_partitioning=false, columns={{{columns}}}, {self.options}, "
            f"nullstr=[{', '.join(map(text, self.words))}])"
        )
        if self.unreadable:
            read = f"(SELECT * FROM {read} WHERE {self.kept})"
        replaced = {
            name: f"CASE WHEN {quoted(name)} NOT IN ({', '.join(map(text, words))}) THEN {quoted(name)} END"
            for name, words in self.text_words.items()
        }
        replaced |= {one.name: one.sql for one in self.conversions}
        known = zip(self.layout.names, self.types, strict=True)
        numbers = [name for name, kind in known if kind == "DOUBLE" and self.infinities]
        numbers += [one.name for one in self.conversions if one.form in FORMS and self.infinities]
        for name in numbers:
            for infinity in self.infinities:
                replaced[name] = f"nullif({replaced.get(name, quoted(name))}, '{infinity}'::DOUBLE)"
        if not replaced:
            return read
        return f"(SELECT * REPLACE ({', '.join(f'{sql} AS {quoted(n)}' for n, sql in replaced.items())}) FROM {read})"

    @property
    def kept(self) -> str:
        """SQL that is true of the rows, read as text, that are not left out for an unreadable text."""
        return " AND ".join(
            f"({quoted(n)} IN ({', '.join(map(text, texts))})) IS NOT TRUE" for n, texts in self.unreadable
        )

    @property
    def as_written(self) -> Self:
        """The dialect with every column as the text of its file; only empty fields have no value."""
        found = self.with_texts(self.layout.names)
        return replace(found, words=("",), infinities=(), unreadable=(), text_words={})

    def notations(self, names: Collection[str]) -> tuple[Notation, ...]:
        """Return how columns are written, those that have decimals or dates, in groups of one notation."""
        found = {name: (".", "") for name, kind in zip(self.layout.names, self.types, strict=True) if kind == "DOUBLE"}
        found |= {one.name: (one.form, one.unit) for one in self.conversions}
        groups: dict[tuple[str, str], list[str]] = {}
        for name in names:
            if name in found:
                groups.setdefault(found[name], []).append(name)
        return tuple(Notation(*key, tuple(members)) for key, members in groups.items())

    def with_texts(self, names: Collection[str]) -> Self:
        """Return the dialect with some columns read as text."""
        known = zip(self.layout.names, self.types, strict=True)
        types = tuple("VARCHAR" if name in names else kind for name, kind in known)
        return replace(self, types=types, conversions=tuple(c for c in self.conversions if c.name not in names))

    def converted(self, conversions: Sequence[Conversion]) -> Self:
        """Return the dialect with some columns read as text and converted."""
        found = self.with_texts([one.name for one in conversions])
        return replace(found, conversions=tuple(conversions))


def _spellings(words: Sequence[str]) -> list[str]:
    """Return words for missing values, those for infinity in every usual spelling."""
    infinite = {word[:-3].lower() for word in words if word.lower() in ("inf", "+inf", "-inf")}
    others = ("inf", "Inf", "INF", "infinity", "Infinity", "INFINITY")
    return list(dict.fromkeys([*words, *(sign + one for sign in sorted(infinite) for one in others)]))


def find_dialect(
    files: Sequence[str], first: Layout, query: Query, whole: bool, reading: FileOptions | None = None
) -> Dialect:
    """Return the dialect of files, from the first of them and its layout; types from all its rows if `whole`."""
    reading = reading or FileOptions()
    words = _spellings([word for word in reading.na if not is_cut(word, first.separator)])
    if "" not in reading.na:
        words = [*(MISSING_WORDS if whole else missing_words_in(files[0], MISSING_WORDS)), *words]
    options = (
        f"delim={text(first.separator)}, quote='\"', escape='\"', header={str(first.header).lower()}, "
        f"skip={first.skip}, comment='', strict_mode=true"
    )
    infinities = tuple(word for word in ("inf", "-inf") if {word, f"+{word}"} & {*words})
    names = ", ".join(map(text, first.names))
    name = text(escaped_wildcards(files[0]))
    found, times = query(
        f"SELECT Columns, TimestampFormat FROM sniff_csv({name}, {options}, names=[{names}], "
        f"nullstr=[{', '.join(map(text, words))}], "
        f"dateformat='%Y-%m-%d', sample_size={-1 if whole else SAMPLE})"
    )[0]
    types = tuple(number_type(column["type"], whole) for column in found)
    others = ("TIME", "TIMESTAMP") if times else ("TIME",)  # other formats, and times of day, are found by column
    types = tuple("VARCHAR" if kind in others else kind for kind in types)
    read = {name for name, _ in reading.unreadable}  # by value, as a later file may have other texts than the first
    types = tuple("VARCHAR" if name in read else kind for name, kind in zip(first.names, types, strict=True))
    if reading.na or reading.unreadable:  # words that are missing values here, or whose rows are left out
        first = replace(first, texts=frozenset())
    dialect = Dialect(first, types, options, (), {}, reading.unreadable, tuple(words), infinities)
    converted = {*first.texts, *(name for name, _ in reading.unreadable)}
    texts = [i for i, kind in enumerate(types) if kind == "VARCHAR" and first.names[i] not in converted]
    dialect = _with_type_if(dialect, files[0], query, texts, f"regexp_full_match({{}}, {SIGNED})", "DOUBLE", whole)
    booleans = [i for i, column in enumerate(found) if column["type"] == "BOOLEAN"]
    dialect = _with_type_if(dialect, files[0], query, booleans, BOOLEAN, "BOOLEAN", whole)
    dialect = _with_notations(dialect, files[0], query, 2**62 if whole else SAMPLE, reading)
    return replace(dialect, text_words=text_words(dialect, files, query, reading))


def text_words(
    dialect: Dialect, files: Sequence[str], query: Query, reading: FileOptions
) -> Mapping[str, tuple[str, ...]]:
    """Return the words for missing values in columns of text; none where the user keeps such words as levels.

    They are looked for in the first rows of every file, or of some of very many.
    """
    if "" in reading.na:
        return {}
    converted = {one.name for one in dialect.conversions}
    kinds = zip(dialect.layout.names, dialect.types, strict=True)
    names = [name for name, kind in kinds if kind == "VARCHAR" and name not in converted]
    if not names:
        return {}
    plain, some = replace(dialect, conversions=(), text_words={}), files[:: -(-len(files) // WORD_FILES)]
    columns, rows = ", ".join(map(quoted, names)), WORD_ROWS // len(some)
    parts = " UNION ALL ".join(f"(SELECT {columns} FROM {plain.sql([file])} LIMIT {rows})" for file in some)
    return find_text_words(names, f"({parts})", query, dict(reading.levels))


def _with_notations(dialect: Dialect, file: str, query: Query, rows: int, reading: FileOptions) -> Dialect:
    """Return the dialect with columns of text converted that hold numbers or dates in a notation of their own."""
    known = dict(zip(dialect.layout.names, dialect.types, strict=True))
    decimal, fitted = reading.decimal, {name: one for one in reading.notations for name in one.columns}
    others = {*dialect.layout.left_out, *dialect.layout.texts}
    texts = [name for name, kind in known.items() if kind == "VARCHAR" and name not in others]
    scaled = {name for name, one in fitted.items() if one.scaled}
    numbers = [n for n, kind in known.items() if kind == "DOUBLE" or (n in scaled and kind == "BIGINT")]
    local = {name for name, one in fitted.items() if one.form == ","} | scaled
    plain = [n for n in numbers if n in dialect.layout.decimals and decimal != "," and n not in local]
    separator = dialect.layout.separator
    compact = [
        name
        for name in dialect.layout.compact_dates
        if known[name] == "BIGINT" and (name not in fitted or fitted[name].form == COMPACT)
    ]
    if not texts and not compact and len(plain) == len(numbers):
        return replace(dialect, sign=FileSign.of((), bool(plain), decimal, separator))
    table = dialect.with_texts([*texts, *numbers, *compact]).sql([file])
    found = find_conversions(texts, numbers, table, query, rows, decimal, separator, fitted, plain, compact)
    return replace(dialect.converted(found.columns), mixed=found.mixed, sign=found.sign)


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
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_integer(value) or pa.types.is_floating(value) or pa.types.is_decimal(value):
        return "numbers"
    return "texts" if pa.types.is_string(value) or pa.types.is_large_string(value) else str(value)


def check_layout(first: str, wanted: Layout, name: str, found: Layout) -> None:
    """Refuse a text file whose layout is not that of the first, or whose columns are not the same in the same order."""
    if found.names != wanted.names:
        check_same_kinds(first, dict.fromkeys(wanted.names, ""), name, dict.fromkeys(found.names, ""))
        raise UnreadableTable(f"{name} has the columns of {first} in another order: write them in one order")
    if found != wanted:
        raise UnreadableTable(
            f"{name} is written differently from {first} (separator, lines above the names): write them alike"
        )


def check_same_kinds(first: str, wanted: dict[str, str], name: str, found: dict[str, str]) -> None:
    """Refuse a file whose columns, names to kinds, are not those of the first."""
    remedy = (
        "open each file separately, or name the columns that all have in a query, such as SELECT a, b FROM '*.parquet'"
    )
    for column in wanted:
        if column not in found:
            raise UnreadableTable(f"{name} has no column {column!r}, which {first} has: {remedy}")
        if wanted[column] != found[column]:
            raise UnreadableTable(
                f"column {column!r} holds {wanted[column]} in {first}, but {found[column]} in {name}: write them alike"
            )
    for column in found:
        if column not in wanted:
            raise UnreadableTable(f"{name} has a column {column!r}, which {first} has not: {remedy}")
