"""A progress line on the terminal while rows are read or fits are made: count, speed and time left."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from adaline.wording import visible

DELAY, PAUSE = 1.0, 0.2  # seconds before the line appears, and between its updates
WIDTH = 24


class ReadingProgress:
    """A count of rows, or of another unit; it is printed where `shown`, after a delay."""

    def __init__(self, title: str, total: int | None, shown: bool, unit: str = "rows") -> None:
        self.title = visible(title)
        self.total = total
        self.shown = shown
        self.unit = unit
        self.rows = 0
        self.start = perf_counter()
        self._next = self.start + DELAY
        self._lock = threading.Lock()
        self._printed = False

    def add(self, rows: int) -> None:
        """Count rows that have been read."""
        with self._lock:
            self.rows += rows
            now = perf_counter()
            if self.shown and now >= self._next:
                self._next = now + PAUSE
                self._printed = True
                print(f"\r{self.line(now - self.start)}\033[K", end="", file=sys.stderr, flush=True)

    def line(self, seconds: float) -> str:
        """Return the line after so many seconds."""
        speed = self.rows / max(seconds, 1e-9)
        text = f"{self.title}: {self.rows:,} {self.unit}, {_short(speed)} {self.unit}/s"
        if not self.total:
            return text
        share = min(self.rows / self.total, 1.0)
        full = int(WIDTH * share)
        left = max(self.total - self.rows, 0) / max(speed, 1e-9)
        return f"{text} [{'=' * full}{' ' * (WIDTH - full)}] {100 * share:.0f}%, {left:.0f} s left"

    def close(self) -> None:
        """Erase the line."""
        if self._printed:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


@contextmanager
def watched(title: str, total: int | None, shown: bool | None, unit: str = "rows") -> Iterator[ReadingProgress]:
    """Return a progress line that is erased at the end; it is shown if `shown`, or for None if stderr is a terminal."""
    progress = ReadingProgress(title, total, sys.stderr.isatty() if shown is None else shown, unit)
    try:
        yield progress
    finally:
        progress.close()


def _short(number: float) -> str:
    for unit in ("", " thousand"):
        if number < 1000:
            return f"{number:.3g}{unit}"
        number /= 1000
    return f"{number:.3g} million"
