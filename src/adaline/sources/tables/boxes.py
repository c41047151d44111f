"""Tables drawn with bars and lines of dashes, as psql, mysql, SAP and Markdown write them."""

from __future__ import annotations

import re
import zlib

from adaline.sources.tables.files import open_compressed

FIRST_BYTES = 2**16  # from which a drawn table is recognised
RULE = re.compile(rb"[-=:+| ]*(--|==)[-=:+| ]*")  # a line between rows, without the blanks around it


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
    with open_compressed(name) as file, open(copy, "wb") as out:
        for line in file:
            row = line.strip()
            if b"|" in row and not RULE.fullmatch(row):
                inner = row[1:-1] if row.startswith(b"|") and row.endswith(b"|") else row
                row = b"|".join(cell.strip() for cell in inner.split(b"|"))
            out.write((b"" if RULE.fullmatch(row) else row) + b"\n")
    return copy
