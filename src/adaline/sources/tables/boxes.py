"""Tables drawn with bars and lines of dashes, as psql, mysql, SAP and Markdown write them."""

from __future__ import annotations

import re
import zlib

from adaline.sources.tables.files import open_compressed

FIRST_BYTES = 2**16  # from which a drawn table is recognised
RULE = re.compile(rb"[|+ ]*:?[-=]{3,}:?([|+ ]+:?[-=]{3,}:?)*[|+ ]*")  # a line between rows, without blanks around it
BAR = re.compile(rb"(?<!\\)\|")  # not that of Markdown inside a value


def is_boxed(name: str) -> bool:
    """Whether a file has lines of dashes, and bars in most of its other lines, by its first bytes."""
    try:
        with open_compressed(name) as file:
            head = bytes(file.read(FIRST_BYTES))
    except (OSError, EOFError, zlib.error):  # damaged, which others report
        return False
    if b"|" not in head or b"--" not in head:
        return False
    lines = [line.strip() for line in head.splitlines() if line.strip()]
    rows = [line for line in lines if not RULE.fullmatch(line)]
    return len(rows) < len(lines) and 2 * sum(b"|" in line for line in rows) > len(rows)


def write_unboxed(name: str, copy: str) -> str:
    """Write a copy of a file with bars between trimmed values and blank lines for rules, and return its path."""
    framed = None  # whether rows begin and end with bars, as the first one does
    with open_compressed(name) as file, open(copy, "wb") as out:
        for line in file:
            row = line.strip()
            if RULE.fullmatch(row):
                row = b""
            elif b"|" in row:
                framed = row.startswith(b"|") and row.endswith(b"|") if framed is None else framed
                cells = BAR.split(row)[1:-1] if framed else BAR.split(line.rstrip(b"\r\n"))
                row = b"|".join(_cell(one) for one in cells)
            out.write(row + b"\n")
    return copy


def _cell(text: bytes) -> bytes:
    """Return a value without blanks around it, quoted where it holds a bar."""
    text = text.strip().replace(rb"\|", b"|")
    return b'"' + text + b'"' if b"|" in text else text
