"""Tables, text and JSON on stdout: as wide as the terminal, and never cut where there is none."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from adaline.comparison.result import plain
from adaline.selection.table import ErrorTable
from adaline.wording import CONTROL, visible

ENDLESS = 100_000  # columns of a page that is no terminal
NARROWEST = 12  # columns that a text may be folded into


def console() -> Console:
    """Return where results go: stdout, plain and of any width where it is no terminal."""
    return Console(width=None if sys.stdout.isatty() else ENDLESS, highlight=False, markup=False, emoji=False)


def say(text: str = "", style: str = "") -> None:
    """Print a line or a paragraph, wrapped at words where the terminal ends."""
    console().print(Text(visible(text), style=style), soft_wrap=False)


def show_errors(table: ErrorTable, chosen: str) -> None:
    """Print a table of errors; the row whose value of `chosen` is true stands out."""
    bold = [i for i, row in enumerate(table.rows) if row[chosen]]
    show(table.headings, table.cells, left=table.left, ends=table.ends, bold=bold)


def show(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    left: int = 1,
    ends: int = 0,
    bold: Collection[int] = (),
    widest: int | None = None,
) -> None:
    """Print a table; its first `left` and last `ends` columns hold text, which folds where it must, others numbers.

    It is as wide as the terminal, at most `widest` columns.
    """
    head, *cells = [[visible(cell, "") for cell in row] for row in (head, *rows)]
    numbers = range(left, len(head) - ends)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    least = 0
    for j, title in enumerate(head):
        number = j in numbers
        width = max(map(len, [title, *(row[j] for row in cells)]))
        least += 2 + (width if number else min(width, NARROWEST))
        table.add_column(title, justify="right" if number else "left", overflow="fold", no_wrap=number)
    for i, row in enumerate(cells):
        table.add_row(*map(Text, row), style="bold green" if i in bold else "")
    _print(table, least, widest or ENDLESS)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json_text(value, indent=2))


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON: numbers that are not finite become null, control characters are escaped."""
    text = json.dumps(plain(value), ensure_ascii=False, indent=indent)
    return CONTROL.sub(lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text)


def facts(pairs: Iterable[tuple[str, str]]) -> None:
    """Print names and what they stand for, one pair a line."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in pairs:
        table.add_row(Text(name), Text(visible(value, "")))
    _print(table)


@contextmanager
def progress() -> Iterator[Callable[[int, int | None, str], None]]:
    """Give a function of what is done, the total and a text, shown on stderr where that is a terminal."""
    screen = Console(stderr=True, highlight=False)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        line = bar.add_task("reading", total=None)
        yield lambda done, total, text: bar.update(line, completed=done, total=total, description=text)


def _print(table: Table, least: int = 0, widest: int = ENDLESS) -> None:
    """Print a table without blanks at the ends of its lines, in at least and at most so many columns."""
    screen = console()
    screen.width = max(min(screen.width, widest), least)
    with screen.capture() as captured:
        screen.print(table)
    for line in captured.get().splitlines():
        print(line.rstrip())
