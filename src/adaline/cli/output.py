"""Tables, text and JSON on stdout: as wide as the terminal, and never truncated without one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any, Self

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from adaline.selection.table import ErrorTable
from adaline.wording import CONTROL, plain, visible

PAGE_COLUMNS = 100_000  # columns of output that is no terminal, more than any line has
NARROWEST_TEXT = 12  # columns that a text may be folded into


class Screen(Console):
    """A console that leaves a broken pipe to the command."""

    def on_broken_pipe(self) -> None:
        """Keep raising BrokenPipeError; rich would end the process, with exit code 1."""
        raise


def console() -> Screen:
    """Return where results go: stdout, plain and of any width where it is no terminal."""
    return Screen(width=None if sys.stdout.isatty() else PAGE_COLUMNS, highlight=False, markup=False, emoji=False)


def say(text: str = "", style: str = "") -> None:
    """Print a line or a paragraph, wrapped at words where the terminal ends."""
    console().print(Text(visible(text), style=style), soft_wrap=False)


def show_errors(table: ErrorTable, chosen: str) -> None:
    """Print a table of errors; the row whose value of `chosen` is true stands out."""
    lines = table.lines
    bold = [i for i, (row, _) in enumerate(lines) if row is not None and row[chosen]]
    show(table.headings, [cells for _, cells in lines], left=table.left, ends=table.ends, bold=bold)


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
        least += 2 + (width if number else min(width, NARROWEST_TEXT))
        table.add_column(title, justify="right" if number else "left", overflow="fold", no_wrap=number)
    for i, row in enumerate(cells):
        table.add_row(*map(Text, row), style="bold green" if i in bold else "")
    _print(table, least, widest or PAGE_COLUMNS)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json_text(value, indent=2))


def json_text(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON: numbers that are not finite become null, control characters are escaped."""
    text = json.dumps(plain(value), ensure_ascii=False, indent=indent)
    return CONTROL.sub(lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text)


def print_facts(pairs: Iterable[tuple[str, str]]) -> None:
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
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # slow to import

    screen = Screen(stderr=True, highlight=False)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        line = bar.add_task("reading", total=None)
        yield lambda done, total, text: bar.update(line, completed=done, total=total, description=text)


class LiveTable:
    """A table that grows while systems run: a line a system as it finishes, the best on top, and what is running.

    On a terminal it is redrawn on stderr and removed at the end, so that the final table can follow on stdout.
    Elsewhere stderr gets a line with the first cell of each row when it is added: progress in a log, and no second
    table. Whatever ends the block, an interrupt too, leaves the cursor in order.

    Parameters
    ----------
    columns : names of the cells to their headings; the first holds text, as does the last, the others numbers.
    order : from the cells of a row to what rows are sorted by, least first; None: as they come.

    Examples
    --------
    >>> from adaline.cli.output import LiveTable
    >>> with LiveTable({"system": "system", "error": "RMSE"}) as table:
    ...     table.status("Ridge", 0, 2)
    ...     table.add({"system": "Ridge", "error": "0.51"})
    """

    def __init__(self, columns: Mapping[str, str], order: Callable[[Mapping[str, Any]], Any] | None = None) -> None:
        from rich.live import Live  # slow to import

        self.columns = dict(columns)
        self.order = order
        self.rows: list[Mapping[str, Any]] = []
        self.running, self.done, self.total = "", 0.0, 0.0
        self._began = monotonic()
        self.screen = Screen(stderr=True, highlight=False, markup=False, emoji=False)
        self.live = Live(
            console=self.screen, get_renderable=self._drawn, refresh_per_second=8, transient=True, screen=False
        )

    def __enter__(self) -> Self:
        if self.screen.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.screen.is_terminal:
            self.live.stop()

    def add(self, cells: Mapping[str, Any]) -> None:
        """Take a finished row: texts by the names of the columns, and whatever `order` asks for."""
        rows = [*self.rows, cells]
        self.rows = rows if self.order is None else sorted(rows, key=self.order)  # at once: a thread draws them
        if self.screen.is_terminal:
            return
        print(f"done: {self._texts(cells)[0]}", file=sys.stderr, flush=True)

    def status(self, text: str, done: float = 0, total: float = 0) -> None:
        """Show what is running, and how much of it is done."""
        self.running, self.done, self.total = text, done, total

    def _texts(self, cells: Mapping[str, Any]) -> list[str]:
        return [visible(str(cells.get(name, "")), "") for name in self.columns]

    def _drawn(self) -> Group:
        """Return the table and the line below it, no higher than the terminal."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
        cells = [[*self.columns.values()], *map(self._texts, self.rows)]
        widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
        texts = {0, len(widths) - 1}  # which give way where the terminal is too narrow; numbers never do
        free = self.screen.width - sum(w for j, w in enumerate(widths) if j not in texts) - 2 * (len(widths) - 1)
        first = max(min(widths[0], max(free - widths[-1], free * 2 // 3)), NARROWEST_TEXT)
        for j, title in enumerate(self.columns.values()):
            width = first if j == 0 else min(widths[j], max(free - first, 1)) if j in texts else widths[j]
            justify = "left" if j in texts else "right"
            table.add_column(title, justify=justify, no_wrap=True, overflow="ellipsis", width=width)  # type: ignore[arg-type]
        room = max(self.screen.height - 5, 1)
        for i, row in enumerate(cells[1 : room + 1]):
            table.add_row(*map(_one_line_text, row), style="bold green" if i == 0 else "")
        more = len(self.rows) - room
        lines = [table] if self.rows else []
        return Group(*lines, *([Text(f"and {more} more", style="dim")] if more > 0 else []), self._status_line())

    def _status_line(self) -> Text:
        passed = monotonic() - self._began
        parts = [f"{self.done:.0f} of {self.total:.0f}"] if self.total else []
        left = passed * (self.total - self.done) / self.done if self.total and self.done else None
        parts += [duration(passed) if left is None else f"about {duration(left)} left", visible(self.running, "")]
        return Text(" · ".join(filter(None, parts)), style="dim", no_wrap=True, overflow="ellipsis")


def _one_line_text(text: str) -> Text:
    return Text(text, no_wrap=True, overflow="ellipsis")


def duration(seconds: float) -> str:
    """Return a time in words, a second at least.

    Examples
    --------
    >>> from adaline.cli.output import duration
    >>> duration(7.2), duration(100)
    ('7 s', '1 min 40 s')
    """
    minutes, rest = divmod(max(round(seconds), 1), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _print(table: Table, least: int = 0, widest: int = PAGE_COLUMNS) -> None:
    """Print a table without blanks at the ends of its lines, in at least and at most so many columns."""
    screen = console()
    screen.width = max(min(screen.width, widest), least)
    with screen.capture() as captured:
        screen.print(table)
    for line in captured.get().splitlines():
        print(line.rstrip())
