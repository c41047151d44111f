"""Lines of text as sparse rows: "label index:value ..." of LIBSVM, "label |namespace name:value ..." of Vowpal Wabbit.

A native parser reads both; the references here are its specification, and explain the lines that it does not take.

LIBSVM: a label, which is one number, then entries in ascending order of their indices. What follows # is a comment, and
qid:3 before the entries is ignored. VW: `[label [importance [base]]] [tag]|namespace[:scale] name[:value] ...`, with
any number of namespaces; a tag begins with ' or touches the bar. A name has the XXH64 of its bytes, with the XXH64 of
its namespace as seed, for a hash: the last bits of that are its column, the first one tells whether its value is
negated, and entries that fall into one column are added up. In both, blanks and tabs separate words, lines without any
are no rows, and numbers must be finite.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.coding.texts import xxh64
from adaline.kernels import native

HIGHEST = 2**28  # the largest index, as coefficients of so many columns take 2 GiB
NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
WORD = re.compile(rb"[^ \t\r]+")
SHOWN = 40  # bytes of a word in a message

Row = tuple[tuple[float, float, float], list[tuple[int, float]]]
"""Label, weight and base of a row, NaN where it has none, and its entries: index or column, and value."""


class Lines(NamedTuple):
    """The rows of some lines of text.

    data (m,), indices (m,), starts (n + 1,) : their entries, as in a CSR matrix, with the indices of the text.
    labels (n, 3) : label, weight and base of each row; NaN where it has none.
    """

    data: Array
    indices: NDArray[np.int32]
    starts: NDArray[np.int64]
    labels: Array


class MalformedLine(ValueError):
    """A line that is not of its format; `offset` is where it begins in the text."""

    def __init__(self, offset: int, why: str) -> None:
        super().__init__(why)
        self.offset = offset


def parse_lines(text: bytes, width: int | None = None) -> Lines:
    r"""Return the rows of whole lines: of LIBSVM, or of VW with names hashed to `width` columns.

    Examples
    --------
    >>> from adaline.sources.tables.sparse_lines import parse_lines
    >>> found = parse_lines(b"+1 3:0.5 7:2 # good\n-1 1:1\n")
    >>> found.labels[:, 0].tolist(), found.indices.tolist(), found.data.tolist(), found.starts.tolist()
    ([1.0, -1.0], [3, 7, 1], [0.5, 2.0, 1.0], [0, 2, 3])
    """
    zero = text.find(b"\0")
    if zero >= 0:
        raise MalformedLine(text.rfind(b"\n", 0, zero) + 1, "it has a NUL byte: the file is no text, or not UTF-8")
    if native is None:
        return parse_reference(text, width)
    most = int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n"))) + 1
    room = len(text) // (4 if width is None else 2) + 1  # an entry and a blank have so many bytes at least
    out = Lines(np.empty(room), np.empty(room, np.int32), np.empty(most + 1, np.int64), np.empty((most, 3)))
    if width is None:
        rows, entries, wrong = native.parse_libsvm(text, HIGHEST, *out)
    else:
        rows, entries, wrong = native.parse_vw(text, width, *out)
    if wrong >= 0:
        end = text.find(b"\n", wrong)
        try:
            parse_reference(text[wrong : len(text) if end < 0 else end], width)
        except MalformedLine as error:
            raise MalformedLine(wrong, str(error)) from None
        raise AssertionError(f"the reference takes the line at byte {wrong}")
    return Lines(out.data[:entries], out.indices[:entries], out.starts[: rows + 1], out.labels[:rows])


def parse_reference(text: bytes, width: int | None = None) -> Lines:
    """Return what `parse_lines` does, line by line."""
    labels: list[Any] = []
    entries: list[tuple[int, float]] = []
    starts = [0]
    offset = 0
    for line in text.split(b"\n"):
        try:
            row = _libsvm_row(line) if width is None else _vw_row(line, width)
        except ValueError as error:
            raise MalformedLine(offset, str(error)) from None
        if row is not None:
            labels.append(row[0])
            entries += row[1]
            starts.append(len(entries))
        offset += len(line) + 1
    data = np.array([value for _, value in entries], dtype=np.float64)
    indices = np.array([index for index, _ in entries], dtype=np.int32)
    return Lines(data, indices, np.array(starts), np.array(labels, dtype=np.float64).reshape(-1, 3))


def _libsvm_row(line: bytes) -> Row | None:
    words = WORD.findall(line.partition(b"#")[0])
    if not words:
        return None
    if b"," in words[0]:
        raise ValueError(f"it has several labels, {_shown(words[0])}: give one target to a row")
    label = _number(words[0], "the label")
    entries: list[tuple[int, float]] = []
    for word in words[2:] if words[1:] and words[1].startswith(b"qid:") else words[1:]:
        index, colon, value = word.partition(b":")
        if not colon or re.fullmatch(rb"\d+", index) is None:
            raise ValueError(f"{_shown(word)} is no entry, index:value")
        if int(index) > HIGHEST:
            raise ValueError(f"index {_shown(index)} is beyond {HIGHEST:,}, the largest that is taken")
        if entries and int(index) <= entries[-1][0]:
            raise ValueError(f"index {int(index)} follows {entries[-1][0]}: indices of a row must ascend, each once")
        entries.append((int(index), _number(value, f"the value of index {int(index)},")))
    return (label, math.nan, math.nan), entries


def _vw_row(line: bytes, width: int) -> Row | None:
    before, bar, rest = line.partition(b"|")
    if not WORD.search(line):
        return None
    if not bar:
        raise ValueError("it has no bar: write label |namespace name:value ...")
    words = WORD.findall(before)
    if words and (words[-1].startswith(b"'") or WORD.fullmatch(before[-1:])):
        words.pop()  # a tag
    if len(words) > 3:
        raise ValueError("more than label, importance and base stand before the bar")
    numbers = [_number(word, f"the {what}") for word, what in zip(words, ("label", "importance", "base"), strict=False)]
    row: dict[int, float] = {}
    for column, value in (entry for space in rest.split(b"|") for entry in _vw_features(space, width)):
        row[column] = row[column] + value if column in row else value
    label, weight, base = [*numbers, math.nan, math.nan, math.nan][:3]
    return (label, weight, base), sorted(row.items())


def _vw_features(text: bytes, width: int) -> Iterator[tuple[int, float]]:
    """Yield columns and values of what follows a bar: a namespace that touches it, and its features."""
    words = WORD.findall(text)
    space, scale = b"", 1.0
    if words and text.startswith(words[0]):
        space, scale = _named(words.pop(0))
    seed = xxh64(space, 0)
    for word in words:
        name, value = _named(word)
        if not name:
            raise ValueError(f"{_shown(word)} has no name: write name:value")
        if not math.isfinite(value * scale):
            raise ValueError(f"{_shown(word)} times the scale of its namespace overflows")
        hashed = xxh64(name, seed)
        yield hashed % width, value * scale * (-1.0 if hashed >> 63 else 1.0)


def _named(word: bytes) -> tuple[bytes, float]:
    """Return the name, and the value or scale after it, 1 where there is none."""
    name, colon, value = word.partition(b":")
    return name, _number(value, f"the value in {_shown(word)},") if colon else 1.0


def _number(word: bytes, what: str) -> float:
    value = float(word) if NUMBER.fullmatch(word) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"{what} {_shown(word)} is not a finite number")
    return value


def _shown(word: bytes) -> str:
    text = word[:SHOWN].decode(errors="backslashreplace")
    return repr(text + ("..." if len(word) > SHOWN else ""))
