"""The report: sections of tables, as Markdown that also reads well in a terminal."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import psutil

PACKAGES = ("adaline", "numpy", "scipy", "scikit-learn", "scikit-learn-intelex", "statsmodels", "glum")

INTRODUCTION = """\
# Benchmarks

Written by `make bench`. All contenders run in one process on the same data, in turns, with the same number of threads;
the best run of each counts. A ratio is the contender's time divided by ours: above 1 we are faster, below 1 slower.
Digits are the correct significant digits of the worst coefficient (16 at most).
"""


@dataclass(frozen=True)
class Table:
    """A caption, column headings, and rows of text; the first column is left-aligned."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __str__(self) -> str:
        cells = [list(self.columns), *(list(row) for row in self.rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
        lines = [_line(row, widths) for row in (cells[0], rule, *cells[1:])]
        return "\n".join(([f"**{self.caption}**", ""] if self.caption else []) + lines)


@dataclass(frozen=True)
class Section:
    """What was measured, what to know about it, and the tables."""

    title: str
    text: str
    tables: Sequence[Table] = field(default_factory=tuple)

    def __str__(self) -> str:
        return "\n\n".join([f"## {self.title}", self.text.strip(), *(str(table) for table in self.tables)])


def seconds(value: float) -> str:
    """Format a time with three digits and a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} us"


def ratio(value: float) -> str:
    """Format a ratio with two or three significant digits."""
    return f"{value:.2g}" if value < 1 else f"{value:.3g}"


def digits(value: float) -> str:
    """Format a number of digits; adding zero turns a rounded -0.0 into 0.0."""
    return f"{round(value, 1) + 0.0:.1f}"


def circumstances(threads: int) -> str:
    """Say when, on what and with which versions; never where."""
    lines = [
        f"- Date: {datetime.date.today().isoformat()}",
        f"- Machine: {processor()}, {os.cpu_count()} logical cores, "
        f"{psutil.virtual_memory().total / 2**30:.0f} GiB memory, {platform.system()}",
        f"- Threads: {threads}",
        f"- Python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in PACKAGES),
    ]
    return "\n".join(lines)


def write(path: Path, sections: Iterable[Section], threads: int, *, whole: bool = True) -> None:
    """Write the report; an existing one is replaced only once the new one is complete.

    Unless it is `whole`, sections that the existing report has beside these are kept.
    """
    parts = {section.title: str(section) for section in sections}
    if not whole and path.exists():
        before = path.read_text(encoding="utf-8").strip().split("\n\n## ")[1:]
        parts = {text.partition("\n")[0]: f"## {text}" for text in before} | parts
    text = "\n\n".join([INTRODUCTION.strip(), circumstances(threads), *parts.values()]) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".tmp")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
    return "| " + " | ".join(cells) + " |"


def processor() -> str:
    """Return the name of the processor."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()
