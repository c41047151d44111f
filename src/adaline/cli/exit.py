"""How a command ends: results on stdout, notes and one line for an error on stderr, and an exit code.

0    done                                2    invalid input: a wrong option, data, model, or file
1    internal error                      130  interrupted;  141  broken pipe;  143  terminated
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from adaline import interrupts
from adaline.cli.options import TABLE_OPTIONS
from adaline.errors import AdalineError, AdalineWarning, InvalidParameter
from adaline.systems import SYSTEMS
from adaline.wording import file_name, visible

DONE, INTERNAL, INVALID, INTERRUPTED, BROKEN_PIPE, TERMINATED = 0, 1, 2, 130, 141, 143

QUIET = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning, ImportWarning)
EXTRAS = {"serve": ("msgspec", "starlette", "uvicorn", "httptools"), "onnx": ("onnx",), "gpu": ("torch", "triton")}
OPTIONS = "|".join([*TABLE_OPTIONS, "interval", "level", "folds", "seed", "systems", "task"])


def note(text: str) -> None:
    """Say something on stderr that the user should know."""
    print(f"note: {visible(one_line(text))}", file=sys.stderr)


def guarded(job: Callable[[], None], unharmed: str = "nothing was written", debug: bool = False) -> int:
    """Do a job and return the exit code; whatever goes wrong is one line on stderr.

    Parameters
    ----------
    job : what to do.
    unharmed : what is true of the files if it is interrupted.
    debug : whether a traceback precedes the line.
    """
    signals: list[int] = []
    try:
        with _interruptible(unharmed) as signals:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("default")
                    for kind in QUIET:
                        warnings.simplefilter("ignore", kind)
                    warnings.simplefilter("default", AdalineWarning)  # also what adaline itself deprecates
                    warnings.showwarning = _as_note
                    job()
                    sys.stdout.flush()
            except BrokenPipeError as error:
                return unwritten(error)
            except Exception as error:
                if signals:  # a library that is interrupted may raise an error of its own
                    raise KeyboardInterrupt from None
                if debug:
                    print(visible(traceback.format_exc()), end="", file=sys.stderr)
                return _failed(error)
            return 128 + signals[0] if signals else DONE  # a comparison shows what it has found until then
    except KeyboardInterrupt:
        if signal.SIGTERM in signals:
            return say_error(f"terminated; {unharmed}", TERMINATED)
        return say_error(f"interrupted; {unharmed}", INTERRUPTED)


@contextmanager
def _interruptible(unharmed: str) -> Iterator[list[int]]:
    """Let SIGINT and SIGTERM raise KeyboardInterrupt; gives the list of those that came.

    In the process of a command such a signal ends the process with this block, or while it runs.
    """
    here = interrupts.current
    if not interrupts.taken_over():
        with _counting() as signals:
            yield signals
        return
    here.unharmed, here.raising = unharmed, True
    try:
        yield here.signals
        here.said = bool(here.signals)  # the command has shown its results until then
    except KeyboardInterrupt:
        if not here.signals:  # raised by a library for itself
            raise
    finally:
        here.raising = False
        if here.signals:
            here.end(here.signals[0])
        here.unharmed = ""


def one_line(text: str) -> str:
    """Return a message as one line, arguments written as the options they are here."""
    text = " ".join(text.split()).replace(" (open_table)", "")
    text = re.sub(rf"\b({OPTIONS})='([\w.,-]+)'", r"--\1 \2", text)
    text = re.sub(rf"(?<![\w-])({OPTIONS})=(?![\w'\"\[])", r"--\1", text)
    text = text.replace("--hashed", "--hash")
    text = re.sub(rf"\b([Uu]se|[Tt]ake) ({'|'.join(SYSTEMS)})\b(?![(.=])", r"\1 --system \2", text)
    return re.sub(r"(?<![\w-])(fit_intercept|solver)=(?=['\w])", r"--set \1=", text)


MODEL_START, REPORT_START = b'{"__metadata__"', b"adaline compare"
"""The first bytes of model files and of reports."""


def check_output(path: Path | None, kinds: tuple[str, ...] = (), replaces: bytes | None = None) -> None:
    """Refuse a name that cannot be written to, before the work and not after it.

    With `replaces` a file that is there is replaced only if it is called or begins as ours do: a table that was meant
    to be read is easily named as the output.
    """
    if path is None:
        return
    name = file_name(path)
    if replaces is not None and path.is_file() and path.suffix != ".adaline":
        with path.open("rb") as file:
            start = file.read(4096)
        if start and replaces not in start:
            what = "model" if replaces == MODEL_START else "report"
            raise InvalidParameter(f"{name} exists and is not an adaline {what}: choose another name with -o")
    folder = path.absolute().parent
    if kinds and not path.name.lower().endswith(kinds):
        raise InvalidParameter(f"cannot tell what to write from the name {name}: end it in {' or '.join(kinds)}")
    if path.is_dir():
        raise InvalidParameter(f"cannot write {name}: it is a folder")
    if not folder.is_dir():
        raise InvalidParameter(f"cannot write {name}: there is no folder {file_name(folder)}")
    if not os.access(folder, os.W_OK):
        raise InvalidParameter(f"cannot write {name}: permission denied in {file_name(folder)}")


@contextmanager
def _counting() -> Iterator[list[int]]:
    """Note signals in a program that runs commands, where the thread is its main one."""
    signals: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return

    def interrupt(number: int, frame: Any) -> None:
        signals.append(number)
        raise KeyboardInterrupt

    before = {signal.SIGINT: signal.signal(signal.SIGINT, interrupt)}
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        before[signal.SIGTERM] = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _failed(error: Exception) -> int:
    text, code = _reason(error)
    return say_error(one_line(text), code)


def _reason(error: Exception) -> tuple[str, int]:
    """Return why a command failed, and its exit code."""
    if isinstance(error, AdalineError):
        return str(error), INVALID
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename is not None else ""
        return f"{where}{error.strerror or error}", INVALID
    if isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith("adaline"):
        package = (error.name or "").partition(".")[0]
        extra = next((extra for extra, names in EXTRAS.items() if package in names), "app")
        return f"{error}; this command needs more packages: pip install 'adaline-learn[{extra}]'", INVALID
    if isinstance(error, MemoryError):
        return f"out of memory: {error}. Use fewer columns.", INVALID
    return f"internal error, please report it with the output of --debug: {type(error).__name__}: {error}", INTERNAL


def say_error(text: str, code: int) -> int:
    """Say on stderr why a command ends, and return its exit code."""
    try:
        print(f"adaline: {visible(text)}", file=sys.stderr)
    except OSError as error:
        unwritten(error)
    return code


def unwritten(error: OSError, code: int = DONE) -> int:
    """Return the exit code of a command whose output cannot be written; the rest of the output is discarded.

    It is 141 for a broken pipe; otherwise, as for a full disk, that of the command, or 2.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return BROKEN_PIPE if isinstance(error, BrokenPipeError) else code or _failed(error)


def _as_note(
    message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: str | None = None
) -> None:
    note(str(message))
