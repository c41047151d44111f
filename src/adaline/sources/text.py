"""Text files of rows: how one is written is read from its first lines, so that DuckDB need not guess it.

Where DuckDB's sniffer meets an odd file it skips lines, takes another separator, or makes one column of all.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from adaline.errors import UnreadableTable
from adaline.sources.compressed import cut, opened

HEAD = 2**20  # bytes in which the line of names must end
LOOK = 2**16  # bytes from which the separator is told
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


@dataclass(frozen=True)
class Layout:
    """How a text file is written: its separator, blank lines ahead, and the names of its columns."""

    separator: str
    blank: int
    names: tuple[str, ...]


def layout(name: str) -> Layout:
    """Return how a text file is written; refuse what would be read in a way that nobody means."""
    text, whole = _head(name)
    lines = LINE.split(text)
    blank = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    if blank == len(lines):
        raise UnreadableTable(f"{name} is empty: there is no line with the names of the columns")
    first = lines[blank].lstrip()
    looked = "\n".join(lines[blank:])[: max(LOOK, 4 * len(first))]
    separator = _separator(name, looked, whole and len(looked) < LOOK)
    rows = _rows(looked, separator, 2)
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
    """Refuse columns without a name, and two of one name; SQL does not tell capital from small letters."""
    seen: dict[str, str] = {}
    for i, word in enumerate(names):
        if not word.strip():
            raise UnreadableTable(
                f"{name}: column {i + 1} of {len(names)} has no name (row numbers, or a separator at the end of the "
                "line?): name it, or write the file without it"
            )
        if word.lower() in seen:
            other = seen[word.lower()]
            if other == word:
                raise UnreadableTable(f"{name} has two columns called {word[:60]!r}: rename one of them")
            raise UnreadableTable(
                f"{name} has columns {other[:60]!r} and {word[:60]!r}, which differ in capitals only: rename one"
            )
        seen[word.lower()] = word


def seen_words(name: str, words: Sequence[str]) -> list[str]:
    """Return the words for missing values that the first lines hold, and the three that may come later.

    DuckDB compares every field with every word: a dozen of them cost a fifth of the time of reading a large file. A
    word that turns up later stops the reading by its line.
    """
    with opened(name) as file:
        fields = set(re.split(rb"[,;|\t\r\n\"]+", bytes(file.read(HEAD))))
    return [word for word in words if word in ("", "NA", "NULL") or word.encode() in fields]


def what_is_wrong(name: str, found: Layout) -> str | None:
    """Return the first line of a file that is amiss, and how; None where there is none. Reads all of it."""
    wanted = len(found.names)
    ends: set[str] = set()
    line = 0
    try:
        with io.TextIOWrapper(opened(name), encoding="utf-8-sig", newline="") as file:
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
    """Return lines as they are, and note how they end."""
    for line in file:
        if end := line[len(line.rstrip("\r\n")) :]:
            ends.add(end)
        yield line


def _head(name: str) -> tuple[str, bool]:
    """Return the first lines of a file as text, and whether that is all of it."""
    try:
        with opened(name) as file:
            head = bytes(file.read(LOOK))
            whole = len(head) < LOOK
            if not whole and not LINE_END.search(head):
                head += bytes(file.read(HEAD))
    except EOFError:
        raise cut(name) from None
    except OSError as error:
        if "Truncated" in str(error):
            raise cut(name) from None
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


def _separator(name: str, looked: str, whole: bool) -> str:
    """Return the separator that cuts the first lines into as many pieces as there are names; most names win."""
    best, most = ",", (False, 1)
    for separator in SEPARATORS:
        rows = _rows(looked, separator, 50)
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
    """Return the first rows of a text that are not empty, as far as they can be told."""
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
