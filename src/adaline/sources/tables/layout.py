"""The layout of a text file: its separator, the line of column names, and the lines above it that are no rows.

Files are often written by people and spreadsheets: with a title above the names, a line of units below them, a column
of row numbers without a name, or no names at all. The interpretation is reported in notes.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from adaline.coding.numerals import WORDS
from adaline.errors import UnreadableTable
from adaline.sources.tables.encodings import wide_encoding
from adaline.sources.tables.files import cut_short, open_compressed
from adaline.sources.tables.fixed_width import cut_columns
from adaline.wording import joined

HEAD = 2**20  # bytes in which the line of names must end
FIRST_LINES = 2**16  # bytes from which the layout is found
SEPARATORS = (",", "\t", ";", "|")
SPACES = " "  # the separator that stands for any run of spaces and tabs
FIXED = ""  # the separator that stands for positions that are blank in every line
ROWS = 50  # from which the layout is found
CELLS = 5000  # that are looked at to tell columns of text
MOST_ABOVE = 20  # rows above the names of columns
# rows below a first row of texts from which it is read as values, if all its texts occur again in their columns;
# doubling it reads the first row of short tables as names
RECURRING = 5
YEARS = range(1800, 2101)
MOSTLY_VALUES = 0.9  # share of the values of a column that may have a unit that are numbers, dates or times
MOST_UNIT_ROWS = 3  # rows below the names that may hold units and descriptions
LONGEST_UNIT = 6  # characters of a single word below the names that is read as a unit, as "mm" or "(kg)"
LINE_END = re.compile(b"[\r\n]")
HTML = re.compile(rb"(\xef\xbb\xbf)?\s*<(!doctype html|html|head|body|table)\b", re.IGNORECASE)
LINE = re.compile("\r\n|\n|\r")
COMMENT = re.compile(r"\s*(#|//|%)")
NUMBER = re.compile(
    r"[\s(+\-\u2212\u2013$\u20ac\u00a3\u00a5]*[.,]?\d[\d\s.,'\u2019]*([eE][-+]?\d+)?[\s%\u2030\u20ac$\u00a3\u00a5)\-]*"
)
DATE = re.compile(r"\s*\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T].*)?")
TIME = re.compile(r"\d{1,3}:\d{2}(:\d{2}([.,]\d+)?)?")
INDEX = "index"  # what a first column without a name is called
INDEX_NAMES = re.compile(rf"Unnamed: 0|\.\.\.1|__index_level_0__|rownames|{INDEX}", re.IGNORECASE)
"""Names that pandas, readr, R and Stata give to a column of row numbers or row labels that had none."""
DIGIT = re.compile(r"\d")
COMPACT_DATE = re.compile(r"\s*((19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01]))?\s*")  # or nothing
GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+")  # numbers whose points may be decimal, or for thousands
NOT_UTF8 = "not UTF-8 text; name its encoding, as in encoding='latin-1'"
FOREIGN = {
    b"\x1f\x8b": "is compressed by gzip: let its name end in .gz",
    b"\x28\xb5\x2f\xfd": "is compressed by zstd: let its name end in .zst",
    b"PAR1": "is a Parquet file: let its name end in .parquet",
    b"%PDF": "is a PDF document, not a table",
}

RowCells = list[str]


@dataclass(frozen=True)
class Layout:
    """How the lines of a text file make a table.

    Parameters
    ----------
    separator : between the values of a line; a space stands for any run of spaces and tabs, "" for fixed widths.
    skip : number of lines above the line of names, or above the first row where there is no such line to skip.
    header : whether a line of names follows, which is then skipped as well.
    names : of all columns, all different in SQL, which ignores case.
    left_out : columns without a name and without values.
    index : the first column, if it has no name: perhaps row numbers or row labels.
    texts : columns some of whose first values are texts without digits, and so neither numbers nor dates.
    decimals : columns some of whose first values have a decimal point that cannot be one for thousands.
    compact_dates : columns whose first values are whole numbers that may be dates, such as 20241231.
    notes : what was understood, in sentences.
    """

    separator: str
    skip: int
    header: bool
    names: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    index: str | None = None
    texts: frozenset[str] = field(default=frozenset(), compare=False)
    decimals: frozenset[str] = field(default=frozenset(), compare=False)
    compact_dates: frozenset[str] = field(default=frozenset(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class FirstRows:
    """The first rows of a file that are not blank, with the number of the line that each begins in."""

    cells: list[RowCells]
    lines: list[int]
    whole: bool  # whether these are all rows

    @property
    def every(self) -> bool:
        """Whether the file has no other rows."""
        return self.whole and len(self.cells) < ROWS

    def after(self, i: int) -> list[RowCells]:
        """Return the rows after row i that are known as a whole."""
        return self.cells[i + 1 :] if self.whole else self.cells[i + 1 : -1]

    def agree(self, i: int) -> bool:
        """Whether at least half of the rows after row i have as many values as it has."""
        wide, rows = len(self.cells[i]), self.after(i)
        agreeing = sum(_width(row, wide) == wide for row in rows)
        return 2 * agreeing >= len(rows) or self.labelled(i) or self.longer(i)

    def longer(self, i: int) -> bool:
        """Whether row i has a separator at its end, which the rows after it do not have."""
        wide, rows = len(self.cells[i]) - 1, self.after(i)
        return bool(rows) and not self.cells[i][-1].strip() and all(len(row) == wide for row in rows)

    def labelled(self, i: int) -> bool:
        """Whether the rows after row i have a row label and then as many values, as R's write.table writes them."""
        wide, rows = len(self.cells[i]) + 1, self.after(i)
        if not rows or any(len(row) != wide for row in rows) or any(map(is_value, self.cells[i])):
            return False
        return _labels_rows([row[0] for row in rows])


def read_layout(name: str) -> Layout:
    """Return the layout of a text file; refuse files that would be misread."""
    head, whole = _head(name)
    lines = LINE.split(head)
    blank = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    if blank == len(lines):
        raise UnreadableTable(f"{name} is empty: there is no line with the names of the columns")
    first = blank
    while first < len(lines) - 1 and (COMMENT.match(lines[first]) or not lines[first].strip()):
        first += 1
    if not lines[first].strip():  # comments alone
        first = blank
    beginning = "\n".join(lines[first:])[: max(FIRST_LINES, 4 * len(lines[first]))]
    whole = whole and len(beginning) < FIRST_LINES
    separator, rows, start = _separator(name, beginning, first, whole)
    if not rows.cells:
        raise UnreadableTable(f"{name}, line {first + 1}: the line of column names has a quote that is never closed")
    found = _layout(rows, start, separator)
    comments = [i for i in range(first) if lines[i].strip()]
    if comments and not found.header:
        named = _cells(lines[comments[-1]].lstrip(f" #/%{separator}"), separator)
        if len(named) == len(found.names) and _names_columns(named):
            return _named(replace(found, notes=()), named, rows.cells, "", rows.every)
    if comments:
        shown = _lines([i + 1 for i in comments])
        return replace(found, notes=(f"{shown} above the names of the columns: a comment, left out", *found.notes))
    return found


def _layout(rows: FirstRows, start: int, separator: str) -> Layout:
    """Return the layout of a file whose names, or first values, are in row `start`."""
    if _is_above_names(rows.cells, start):
        start += 1
    cells, notes = rows.cells[start], []
    body = rows.after(start)
    above = list(range(start))
    group: RowCells = []
    if above and _is_group(rows.cells[start - 1], cells):
        group = rows.cells[above.pop()]
        how = "names that occur twice begin with its words" if _repeated(cells) else "left out"
        notes.append(f"line {rows.lines[start - 1]} groups columns: {how}")
    if above:
        lines = _lines([rows.lines[i] for i in above])
        notes.append(f"{lines} above the names of the columns: a title, left out")
    if _is_data(cells, body):
        names = [f"column_{i + 1}" for i in range(len(cells))]
        notes.append(
            f"line {rows.lines[start]} holds values, not names of columns: they are called {names[0]} to {names[-1]}"
        )
        skip = rows.lines[start] - 1
        found = Layout(separator, skip, False, tuple(names), notes=tuple(notes))
        return _with_kinds(found, body)
    if group and _repeated(cells):
        cells = _with_groups(group, cells)
    found = Layout(separator, rows.lines[start] - 1, True, ())
    if rows.labelled(start) or rows.longer(start):  # DuckDB takes no line of names that is longer or shorter
        cells = ["", *cells] if rows.labelled(start) else cells[:-1]
        found = replace(found, skip=rows.lines[start + 1] - 1, header=False)
    skipped = ""
    if units := _unit_rows(rows.cells, start):
        first, last = rows.lines[start + 1], rows.lines[start + units]
        shown = _shown(rows.cells[start + 1])
        skipped = f"line {first} holds units, not values ({shown}), and is left out"
        if units > 1:
            skipped = f"lines {first} to {last} describe the columns ({shown}) and are left out"
        found, body = replace(found, skip=last, header=False), body[units:]
    return _named(replace(found, notes=tuple(notes)), cells, body, skipped, rows.every)


def _named(found: Layout, cells: RowCells, body: Sequence[RowCells], note: str, every: bool) -> Layout:
    """Return the layout with names of columns: those without one, and those of one name, get a new one."""
    notes = [*found.notes, note] if note else list(found.notes)
    words = [word.strip() for word in cells]
    empty = [
        i
        for i, word in enumerate(words)
        if not word and every and body and not any("".join(row[i : i + 1]).strip() for row in body)
    ]
    names = unique_names([word or (INDEX if i == 0 else f"column_{i + 1}") for i, word in enumerate(words)])
    left_out = tuple(names[i] for i in empty)
    if left_out:
        notes.append(f"{_columns(empty)} neither a name nor values: left out")
    index = names[0] if 0 not in empty and not words[0] else None
    if unnamed := [i for i, word in enumerate(words) if not word and i and i not in empty]:
        called = joined([names[i] for i in unnamed], ", ")
        notes.append(f"{_columns(unnamed)} no name: called {called}")
    if renamed := [i for i, word in enumerate(words) if word and names[i] != word]:
        called = ", ".join(f"{words[i]!r} is called {names[i]!r}" for i in renamed[:5])
        notes.append(f"column names that occur twice, capitals aside: {called}{', ...' * (len(renamed) > 5)}")
    found = replace(found, names=tuple(names), left_out=left_out, index=index, notes=tuple(notes))
    return _with_kinds(found, body)


def _with_kinds(found: Layout, body: Sequence[RowCells]) -> Layout:
    """Return the layout with what the first values of columns tell about all of them."""
    names = found.names
    others = _columns_with(lambda cell: COMPACT_DATE.fullmatch(cell) is None, names, body)
    return replace(
        found,
        texts=_columns_with(_is_text, names, body),
        decimals=_columns_with(_has_decimals, names, body),
        compact_dates=_columns_with(lambda cell: bool(cell.strip()), names, body) - others,
    )


def _columns_with(condition: Callable[[str], bool], names: Sequence[str], body: Sequence[RowCells]) -> frozenset[str]:
    """Return the columns some of whose first values meet a condition."""
    rows = [row for row in body[: max(5, CELLS // len(names))] if len(row) == len(names)]
    columns = zip(names, zip(*rows, strict=True), strict=True) if rows else ()
    return frozenset(name for name, cells in columns if any(map(condition, cells)))


def _has_decimals(cell: str) -> bool:
    return "." in cell and DIGIT.search(cell) is not None and GROUPED.fullmatch(cell.strip()) is None


def _is_text(cell: str) -> bool:
    """Whether a text has no digits and is no word for a missing value."""
    return DIGIT.search(cell) is None and cell.strip().lower() not in WORDS


def unique_names(names: Sequence[str]) -> list[str]:
    """Return names that differ in SQL, which ignores case: a second x becomes x_2.

    Examples
    --------
    >>> from adaline.sources.tables.layout import unique_names
    >>> unique_names(["x", "X", "x_2", "y"])
    ['x', 'X_3', 'x_2', 'y']
    """
    taken = {name.lower() for name in names}
    seen: set[str] = set()
    out = []
    for name in names:
        new, k = name, 2
        while new.lower() in seen or (new != name and new.lower() in taken):
            new, k = f"{name}_{k}", k + 1
        seen.add(new.lower())
        out.append(new)
    return out


def _is_group(above: RowCells, names: RowCells) -> bool:
    """Whether a row above the names groups columns, as merged cells do, and is no title."""
    filled = sum(bool(word.strip()) for word in above)
    return len(above) == len(names) and (
        not above[0].strip() or (_repeated(names) and filled > 1) or 1 < filled < len(names)
    )


def _repeated(names: RowCells) -> bool:
    return len({name.strip().lower() for name in names}) < len(names)


def _is_above_names(rows: Sequence[RowCells], start: int) -> bool:
    """Whether a row with empty cells stands above the row that names the columns, as where cells were merged."""
    if start + 1 >= len(rows):
        return False
    upper, lower = rows[start : start + 2]
    named = all(word.strip() for word in lower) and not _repeated(lower) and not any(map(is_value, lower))
    return (
        len(upper) == len(lower) > 2
        and named
        and not all(word.strip() for word in upper)
        and _is_units(lower, len(lower), rows[start + 2 :])
    )


def _with_groups(group: RowCells, names: RowCells) -> RowCells:
    """Return names with the word of their group before them; merged cells write it above their first column alone."""
    out, current = [], ""
    for above, name in zip(group, names, strict=True):
        current = above.strip() or current
        out.append("_".join(word for word in (current, name.strip()) if word))
    return out


def _is_title(row: RowCells, wide: int) -> bool:
    """Whether a row above a table of so many columns may be a title: few values, or not in its columns."""
    filled = sum(bool(cell.strip()) for cell in row)
    return len(row) < wide or filled <= (max(1, wide // 2) if wide > 2 else int(bool(row[0].strip())))


def _is_header(row: RowCells, body: Sequence[RowCells]) -> bool:
    """Whether a row below titles names columns: words alone, in nearly all columns, and not again in the rows below."""
    filled = [cell for cell in row if cell.strip()]
    return (
        len(filled) >= max(2, len(row) - 1)
        and not any(map(is_value, filled))
        and (not body or not _is_title(body[0], len(row)) or len(row) == 2)
        and not _is_data(row, body)
    )


def is_value(cell: str) -> bool:
    """Whether a text is a number or a date, in any notation."""
    return "\n" not in cell and (NUMBER.fullmatch(cell) is not None or DATE.fullmatch(cell) is not None)


def _is_data(first: RowCells, body: Sequence[RowCells]) -> bool:
    """Whether the first row of a table holds values, and no names of columns."""
    body = [row for row in body if len(row) == len(first) and row != first]  # names may be repeated further down
    columns = [[row[i] for row in body if row[i].strip()] for i in range(len(first))]
    numeric = [bool(column) and all(map(is_value, column)) for column in columns]
    labels = not first[0].strip() and len(columns[0]) == len(body) >= RECURRING
    if labels and len(set(first)) == len(first):
        return False  # the column of row labels alone has no name
    values = [is_value(cell) for cell in first]
    named = [i for i, cell in enumerate(first) if cell.strip() and not values[i]]
    recurring = all(first[i] in columns[i] for i in named)
    if not any(values):
        return len(body) >= RECURRING and len(named) == len(first) and recurring
    if any(numeric[i] for i in named):
        return False
    numbers = [cell.strip() for cell, one in zip(first, values, strict=True) if one]
    if not any(one and below for one, below in zip(values, numeric, strict=True)):
        return not named and not body
    return not _are_names(numbers, bool(named) and not recurring)


def _are_names(numbers: Sequence[str], beside_words: bool) -> bool:
    """Whether numbers in a first row are names: years, or 0, 1, 2 as pandas writes, or any series beside words."""
    if not all(number.isdecimal() for number in numbers):
        return False
    whole = list(map(int, numbers))
    rising = all(a < b for a, b in pairwise(whole))
    if all(one in YEARS for one in whole):
        return rising and (len(whole) > 1 or beside_words)
    return rising and len(whole) > 1 and (beside_words or whole == list(range(len(whole))))


def _names_columns(words: RowCells) -> bool:
    return not any(map(is_value, words)) and all(word.strip() for word in words)


def _unit_rows(rows: Sequence[RowCells], start: int) -> int:
    """Return how many rows below the names hold units or descriptions of the columns."""
    for count in range(MOST_UNIT_ROWS, 0, -1):
        below, body = rows[start + 1 : start + 1 + count], rows[start + 1 + count :]
        if len(below) == count and all(_is_units(row, len(rows[start]), body) for row in below):
            return count
    return 0


def _is_units(units: RowCells, wide: int, rows: Sequence[RowCells]) -> bool:
    """Whether a row below the names holds units: words where the rows after it have numbers."""
    body = [row for row in rows if len(row) == wide]
    if len(body) < 2 or len(units) != wide:
        return False
    columns = ([row[i] for row in body if row[i].strip()] for i in range(wide))
    numeric = [i for i, column in enumerate(columns) if _are_mostly_values(column)]
    words = [i for i in numeric if units[i].strip() and not is_value(units[i])]
    plain = [i for i in words if units[i].strip().lower() not in WORDS]
    checked = [i for i in range(wide) if i in plain or (i not in numeric and units[i].strip())]
    others = [i for i in checked if units[i] in {row[i] for row in body}]
    return (
        2 * len(numeric) >= wide
        and 2 * len(plain) >= len(numeric)
        and (len(plain) == 1 or len({units[i].strip() for i in plain}) > 1)  # n.d., n.d., n.d. describe nothing
        and (len(plain) > 1 or all(len(units[i].strip()) <= LONGEST_UNIT for i in plain))
        and not others
        and not any(_is_value_or_time(units[i]) for i in numeric)
    )


def _are_mostly_values(cells: RowCells) -> bool:
    """Whether cells are numbers, dates or times, a few words for errors aside."""
    return bool(cells) and sum(map(_is_value_or_time, cells)) >= MOSTLY_VALUES * len(cells)


def _is_value_or_time(cell: str) -> bool:
    return is_value(cell) or TIME.fullmatch(cell.strip()) is not None


def _labels_rows(values: Sequence[str]) -> bool:
    """Whether values are different row numbers or row labels."""
    numbers = [value.strip() for value in values if is_value(value)]
    whole = all(number.isdecimal() for number in numbers)
    return (
        len(values) > 0 and len(set(values)) == len(values) and (not numbers or (whole and len(numbers) == len(values)))
    )


def _width(row: RowCells, wide: int) -> int:
    """Return the number of values of a row; a separator at its end counts as none."""
    return wide if len(row) == wide + 1 and not row[-1].strip() else len(row)


def _columns(places: Sequence[int]) -> str:
    shown = ", ".join(str(i + 1) for i in places[:5]) + ", ..." * (len(places) > 5)
    return f"column {shown} has" if len(places) == 1 else f"columns {shown} have"


def _lines(lines: Sequence[int]) -> str:
    return f"line {lines[0]}" if len(lines) == 1 else f"lines {lines[0]} to {lines[-1]}"


def _shown(cells: RowCells) -> str:
    words = [cell.strip() for cell in cells if cell.strip()]
    return ", ".join(words[:5]) + ", ..." * (len(words) > 5)


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
    if HTML.match(head):
        raise UnreadableTable(f"{name} is an HTML page: open it in a spreadsheet program and save it as CSV")
    for magic, what in FOREIGN.items():
        if head.startswith(magic):
            twice = "is compressed twice: unpack it once" if magic[0] == 0x1F and name.lower().endswith(".gz") else what
            raise UnreadableTable(f"{name} {twice}")
    if wide := wide_encoding(head):
        raise OtherEncoding(f"{name} is {wide.upper()} text")
    head = head.removeprefix(codecs.BOM_UTF8)
    if b"\0" in head:
        line = head[: head.index(b"\0")].count(b"\n") + 1
        raise UnreadableTable(f"{name}, line {line}: a NUL byte: this is no text file, or a damaged one")
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(head, final=whole), whole
    except UnicodeDecodeError as error:
        line = head[: error.start].count(b"\n") + 1
        raise OtherEncoding(f"{name}, line {line}: {NOT_UTF8}") from None


class OtherEncoding(UnreadableTable):
    """A file is not UTF-8 text, but may be text in another encoding."""


def _separator(name: str, beginning: str, first: int, whole: bool) -> tuple[str, FirstRows, int]:
    """Return the separator, the first rows that it makes, and which of them has the names, or the first values.

    It cuts most lines into as many values as there are names; of several, it is one that cuts the first line too, which
    is a title otherwise, and then the one that makes most columns.
    """
    best, most = ",", (False, False, 1)
    rows, start = parsed_rows(beginning, ",", first, whole), 0
    for separator in SEPARATORS:
        found = parsed_rows(beginning, separator, first, whole)
        if not found.cells:
            continue
        at = _start(found)
        score = (found.agree(at), at == 0, len(found.cells[at]))
        if score[2] > 1 and (score > most or (score == most and Path(name).suffix == ".tsv" and separator == "\t")):
            best, most, rows, start = separator, score, found, at
    if most == (False, False, 1) and len(rows.cells) > 1:
        found = parsed_rows(beginning, SPACES, first, whole)
        wide = len(found.cells[0])
        if wide > 1 and all(len(row) == wide for row in found.after(0)):
            return SPACES, found, 0
        fixed = _fixed_rows(name)
        if fixed is not None and (not found.labelled(0) or all(fixed.cells[0])):
            return FIXED, fixed, 0
        if found.labelled(0) and (wide > 1 or all(is_value(row[1]) for row in found.after(0))):  # not x above 12 kg
            return SPACES, found, 0
    return best, rows, start


def _fixed_rows(name: str) -> FirstRows | None:
    """Return the first rows of a file of fixed width, where one of its columns holds numbers; None of others."""
    try:
        cells = cut_columns(name)
    except (UnicodeDecodeError, OSError, EOFError, zlib.error):  # damaged, which others report
        return None
    rows = [(row, i + 1) for i, row in enumerate(cells) if row]
    columns = zip(*(row for row, _ in rows[1:]), strict=True)
    if not any(all(is_value(cell) for cell in column if cell) for column in columns):
        return None
    first = rows[:ROWS]
    return FirstRows([row for row, _ in first], [line for _, line in first], len(rows) < ROWS)


def _start(rows: FirstRows) -> int:
    """Return which row has the names of columns: the first, or the first below titles that names them."""
    widths = Counter(len(row) for row in rows.cells if len(row) > 1).most_common(1)
    if not widths or rows.labelled(0):
        return 0
    wide = widths[0][0]
    for i, row in enumerate(rows.cells[:MOST_ABOVE]):
        fits = _width(row, wide) == wide
        if fits and _is_header(row[:wide], rows.after(i)) and rows.agree(i):
            return i
        if not _is_title(row, wide):
            return 0
    return 0


def parsed_rows(text: str, separator: str, first: int, whole: bool = True) -> FirstRows:
    """Return the first rows of a text that are not blank, up to one that cannot be parsed; it begins after `first`
    lines.
    """
    cells: list[RowCells] = []
    lines: list[int] = []
    source = io.StringIO(text)
    spaces = separator == SPACES
    reader = csv.reader(map(collapsed, source) if spaces else source, delimiter=separator, skipinitialspace=True)
    before = 0
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                cells.append(row)
                lines.append(first + before + 1)
            before = reader.line_num
            if len(cells) == ROWS:
                whole = True
                break
    except csv.Error:
        pass
    return FirstRows(cells, lines, whole)


def collapsed(line: str) -> str:
    """Return a line of values between runs of spaces and tabs, without those at its ends."""
    return line.replace("\t", " ").strip() + "\n"


def _cells(line: str, separator: str) -> RowCells:
    return next(iter(parsed_rows(line, separator, 0).cells), [])


def check_names(name: str, names: Sequence[str]) -> None:
    """Refuse columns without a name, and two of the same name in SQL, which ignores case."""
    known: dict[str, str] = {}
    for i, word in enumerate(names):
        if not word.strip():
            raise UnreadableTable(f"{name}: column {i + 1} of {len(names)} has no name: name it")
        if word.lower() in known:
            other = known[word.lower()]
            if other == word:
                raise UnreadableTable(f"{name} has two columns called {word[:60]!r}: rename one of them")
            raise UnreadableTable(
                f"{name} has columns {other[:60]!r} and {word[:60]!r}, which differ in capitals only: rename one"
            )
        known[word.lower()] = word
