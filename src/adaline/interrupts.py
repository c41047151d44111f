"""Ctrl-C and SIGTERM in the process of a command: it ends within two seconds, whatever it is doing.

Python runs the handler of a signal between byte codes of the main thread, so a call of LAPACK or DuckDB that takes
minutes delays it for as long. The interpreter also writes the number of each signal into a pipe at once, which a thread
reads. What happens after a signal:

    at once    the handler raises KeyboardInterrupt in the main thread, and the command ends in an orderly way
    SHOWN s    results that the command has not shown yet, as those of `compare`, are shown by the thread
    ENDED s    the thread removes temporary files and ends the process

A second signal ends the process at once. A command that installs handlers of its own, as a server does, keeps them.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, NoReturn

from adaline.leftovers import remove_leftovers

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SHOWN, ENDED = 0.5, 1.2  # seconds after a signal until results are shown, and until the process is ended
CLEANING, SAYING = 0.3, 0.1  # seconds that removing temporary files, and printing the last line, may take
ECHO_SECONDS = 0.3  # seconds within which a second signal is an echo of the first, passed on by a shell or a library
SHOW_CURSOR = "\x1b[?25h"


class Interrupts:
    """The signals of the process of a command.

    Parameters
    ----------
    signals : those that the handler has seen.
    raising : whether a signal raises KeyboardInterrupt in the main thread; otherwise it ends the process.
    unharmed : what is true of files when the command is interrupted, for its last line.
    """

    def __init__(self) -> None:
        self.signals: list[int] = []
        self.raising = False
        self.unharmed = ""
        self.said = False
        self._results: _Results | None = None
        self._ending = threading.Lock()

    def handle(self, number: int, frame: Any) -> None:
        """Handle a signal in the main thread; after the first one the end is under way."""
        if self.signals:
            return
        self.signals.append(number)
        if not self.raising:
            self.end(number)
        raise KeyboardInterrupt

    def watch(self, pipe: int) -> None:
        """Read the numbers of signals from a pipe, and end the process when the main thread does not end it in time."""
        first, began = 0, 0.0
        while True:
            results = self._results  # which the main thread may take away meanwhile
            limit = SHOWN if results is not None and not results.claimed else ENDED
            timeout = max(began + limit - monotonic(), 0) if first else None
            if select.select([pipe], [], [], timeout)[0]:
                received = os.read(pipe, 64)
                if not received:
                    return
                for number in received:
                    if number not in SIGNALS or signal.getsignal(number) != self.handle:
                        continue
                    if not first:
                        first, began = number, monotonic()
                    elif monotonic() - began > ECHO_SECONDS:
                        self.end(first)
            elif limit == ENDED:
                self.end(first)
            elif results is not None and results.claim(wait=False):
                self.said = _in_time(results.show, began + ENDED - monotonic()) or self.said
                self.end(first)

    def end(self, number: int) -> NoReturn:
        """End the process: remove temporary files, flush the output, say why.

        A second caller blocks until the process exits.
        """
        self._ending.acquire()
        _in_time(remove_leftovers, CLEANING)
        _in_time(lambda: _flush(sys.stdout), SAYING)
        if not self.said:
            _in_time(lambda: _say_last(self.reason(number)), SAYING)
        os._exit(128 + number)

    def reason(self, number: int) -> str:
        """Return why the command ends, and what is true of its files."""
        word = "terminated" if number == signal.SIGTERM else "interrupted"
        return f"{word}; {self.unharmed}" if self.unharmed else word

    @contextmanager
    def showing(self, show: Callable[[], bool]) -> Iterator[Callable[[], bool]]:
        """Let results be shown when the command has to be ended; gives what the command calls before it shows them.

        `show` runs in another thread, and returns whether there was anything to show.
        """
        self._results = _Results(show)
        try:
            yield self._results.claim
        finally:
            self._results = None


class _Results:
    """Results that are shown once: by the command, or by the thread that ends it."""

    def __init__(self, show: Callable[[], bool]) -> None:
        self.show, self._claimed = show, threading.Lock()

    @property
    def claimed(self) -> bool:
        return self._claimed.locked()

    def claim(self, wait: bool = True) -> bool:
        """Claim the results; a second caller waits for the end of the process, or gets False."""
        return self._claimed.acquire(blocking=wait)


current = Interrupts()
"""The signals of this process; its handler is installed by `take_over`."""
_taken = False


def taken_over() -> bool:
    """Whether signals of this process are those of a command."""
    return _taken and threading.current_thread() is threading.main_thread()


def take_over() -> None:
    """Let signals end this process as those of a command, from now on."""
    global _taken
    if _taken:
        return
    _taken = True
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):  # not ignored, as under nohup
            signal.signal(number, current.handle)
    sys.unraisablehook = _unraisable
    if os.name != "posix":  # without a pipe that can be waited for, the handler is all there is
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    os.register_at_fork(after_in_child=_in_child)
    threading.Thread(target=current.watch, args=(reading,), name="signals", daemon=True).start()


def _in_child() -> None:
    """Leave signals of a forked child to Python: the pipe is that of its parent."""
    global _taken
    _taken = False
    with suppress(ValueError):  # the child of another thread has none of our handlers to restore
        signal.set_wakeup_fd(-1)
        for number in SIGNALS:
            if signal.getsignal(number) == current.handle:
                signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def _unraisable(error: Any) -> None:
    """Say nothing of an interrupt that met a finalizer, where Python cannot raise it."""
    if not (current.signals and error.exc_type is KeyboardInterrupt):
        sys.__unraisablehook__(error)


def _in_time(work: Callable[[], Any], seconds: float) -> bool:
    """Do something in a thread that is abandoned when it takes too long; return whether it was done, and not False."""
    outcome: list[Any] = []

    def run() -> None:
        with suppress(BaseException):
            outcome.append(work())

    thread = threading.Thread(target=run, daemon=True)
    with suppress(RuntimeError):  # of an interpreter that is ending already
        thread.start()
        thread.join(max(seconds, 0))
    return bool(outcome) and outcome[0] is not False


def _flush(stream: Any) -> None:
    stream.flush()


def _say_last(text: str) -> None:
    """Write a line to stderr past its buffer, whose lock the interrupted thread may hold."""
    before = f"{SHOW_CURSOR}\n" if sys.stderr.isatty() else ""
    os.write(sys.stderr.fileno(), f"{before}adaline: {text}\n".encode(errors="replace"))
