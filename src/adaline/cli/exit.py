"""How a command ends: results on stdout, notes and one line for an error on stderr, and an exit code.

0    done                                2    the user can mend it: wrong option, data, model, or file
1    a fault of adaline                  130  interrupted;  141  nobody reads the output any more;  143  terminated
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

from adaline.cli.app import TABLE_OPTIONS
from adaline.errors import AdalineError, InvalidParameter
from adaline.wording import visible

DONE, FAULT, MISTAKE, INTERRUPTED, UNREAD, TERMINATED = 0, 1, 2, 130, 141, 143

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
        with _counting(signals), warnings.catch_warnings():
            warnings.simplefilter("default")
            for kind in QUIET:
                warnings.simplefilter("ignore", kind)
            warnings.showwarning = _as_note
            job()
            sys.stdout.flush()
    except KeyboardInterrupt:
        return _stopped(signals, unharmed)
    except BrokenPipeError as error:
        return unwritten(error)
    except Exception as error:
        if signals:
            return _stopped(signals, unharmed)
        if debug:
            print(visible(traceback.format_exc()), end="", file=sys.stderr)
        return _failed(error)
    return 128 + signals[0] if signals else DONE  # a comparison shows what it has found until then


def one_line(text: str) -> str:
    """Return a message as one line, arguments written as the options they are here."""
    text = " ".join(text.split()).replace(" (open_table)", "")
    text = re.sub(rf"\b({OPTIONS})='(\w+)'", r"--\1 \2", text)
    text = re.sub(rf"(?<![\w-])({OPTIONS})=(?![\w'\"\[])", r"--\1", text)
    text = text.replace("--hashed", "--hash")
    return re.sub(r"(?<![\w-])(fit_intercept|solver)=(?=['\w])", r"--set \1=", text)


MODEL_START, REPORT_START = b'{"__metadata__"', b"adaline compare"
"""What is found at the beginning of model files and of reports."""


def check_output(path: Path | None, kinds: tuple[str, ...] = (), replaces: bytes | None = None) -> None:
    """Refuse a name that cannot be written to, before the work and not after it.

    With `replaces` a file that is there is replaced only if it is called or begins as ours do: a table that was meant
    to be read is easily named as the output.
    """
    if path is None:
        return
    if replaces is not None and path.is_file() and path.suffix != ".adaline":
        with path.open("rb") as file:
            start = file.read(4096)
        if start and replaces not in start:
            what = "model" if replaces == MODEL_START else "report"
            raise InvalidParameter(f"{path} is there and is not a {what} of adaline: name another by -o")
    folder = path.absolute().parent
    if kinds and not path.name.lower().endswith(kinds):
        raise InvalidParameter(f"cannot tell what to write from the name {path}: end it in {' or '.join(kinds)}")
    if path.is_dir():
        raise InvalidParameter(f"cannot write {path}: it is a folder")
    if not folder.is_dir():
        raise InvalidParameter(f"cannot write {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise InvalidParameter(f"cannot write {path}: permission denied in {folder}")


@contextmanager
def _counting(signals: list[int]) -> Iterator[None]:
    """Note interrupts: a library that is interrupted may raise an error of its own instead of KeyboardInterrupt.

    A command that is terminated ends in the same way, so that what it kept in files is removed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: Any) -> None:
        signals.append(number)
        raise KeyboardInterrupt

    before = {signal.SIGINT: signal.signal(signal.SIGINT, interrupt)}
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        before[signal.SIGTERM] = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:  # a library may pass an interrupt on once more: the end is on its way already
        for number, handler in before.items():
            signal.signal(number, signal.SIG_IGN if signals else handler)


def _stopped(signals: list[int], unharmed: str) -> int:
    if signal.SIGTERM in signals:
        return say_error(f"terminated; {unharmed}", TERMINATED)
    return say_error(f"interrupted; {unharmed}", INTERRUPTED)


def _failed(error: Exception) -> int:
    text, code = _reason(error)
    return say_error(one_line(text), code)


def _reason(error: Exception) -> tuple[str, int]:
    """Return why a command failed, and its exit code."""
    if isinstance(error, AdalineError):
        return str(error), MISTAKE
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename is not None else ""
        return f"{where}{error.strerror or error}", MISTAKE
    if isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith("adaline"):
        package = (error.name or "").partition(".")[0]
        extra = next((extra for extra, names in EXTRAS.items() if package in names), "app")
        return f"{error}; this command needs more packages: pip install 'adaline[{extra}]'", MISTAKE
    if isinstance(error, MemoryError):
        return f"out of memory: {error}. Use fewer columns.", MISTAKE
    return f"a fault of adaline, please report it with what --debug prints: {type(error).__name__}: {error}", FAULT


def say_error(text: str, code: int) -> int:
    """Say on stderr why a command ends, and return its exit code."""
    try:
        print(f"adaline: {visible(text)}", file=sys.stderr)
    except OSError as error:
        unwritten(error)
    return code


def unwritten(error: OSError, code: int = DONE) -> int:
    """Return the exit code of a command whose output cannot be written; what is left of it goes nowhere, quietly.

    It is 141 where nobody reads the output; else, as where a disk is full, that of the command, or of a mistake.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return UNREAD if isinstance(error, BrokenPipeError) else code or _failed(error)


def _as_note(
    message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: str | None = None
) -> None:
    note(str(message))
