"""The command line, `adaline` and `python -m adaline`: runs a command and returns its exit code.

`commands.py` has the signatures of all commands; `run_<command>` in the file of its name runs it (`fit --by` in
`groups.py`). `app.py` registers them, `options.py` has the options that several share. Commands and options
follow from the registry of systems and the checks of their parameters, so that a new system needs no code here.

A command ends within two seconds of SIGINT or SIGTERM (`interrupts.py`). It runs in the main thread, which event loops
and libraries that install signal handlers require. The interpreter writes the number of each signal to a pipe at once
(`signal.set_wakeup_fd`); a thread reads the pipe, and ends the process if the main thread, busy in LAPACK or DuckDB,
does not. A signal wakes the main thread from locks and reads; an exception raised from outside would not wake a worker
thread.
Temporary files are registered in `leftovers.py`, to be removed when the process ends.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

try:
    import typer
except ModuleNotFoundError:  # the script of an installation without extras comes here first
    print("adaline: the command line needs more packages: pip install 'adaline-learn[app]'", file=sys.stderr)
    raise SystemExit(2) from None

from adaline import interrupts
from adaline.cli import commands
from adaline.cli.app import app, call

__all__ = ["commands", "main"]

# Newer typers carry their own click, so the base of usage errors is found by way of one of them.
UsageError: Any = typer.BadParameter.__mro__[1]
# new objects before the collector looks for cycles: imports make as many, and no cycles; halving it slows start-up
# down
COLLECTED_OBJECTS = 200_000
OTHER_NAMES = {"--model": "--system", "--models": "--systems"}
"""Options that other programs have, and what they are called here."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit code; nothing is raised.

    Examples
    --------
    >>> from adaline.cli import main
    >>> main(["--version"])
    adaline ...
    0
    """
    call.owns_process = arguments is None
    if call.owns_process:
        with suppress(OSError):
            tempfile.gettempdir()  # writes a file to try the folder, which an interrupt would leave behind
        interrupts.take_over()
    given = list(sys.argv[1:] if arguments is None else arguments)
    ahead = given[: given.index("--")] if "--" in given else given
    call.debug = "--debug" in ahead
    call.words = [word for word in ahead if word != "--debug"] + given[len(ahead) :]
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 (there is none where the shell has closed it, >&-)
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    before = gc.get_threshold()
    gc.set_threshold(COLLECTED_OBJECTS, *before[1:])
    done = 0
    try:
        done = _run()
        sys.stdout.flush()
    except OSError as error:
        from adaline.cli.exit import unwritten

        done = unwritten(error, done)
    finally:
        gc.set_threshold(*before)
    return done


def _run() -> int:
    """Run the words of the call and return the exit code; a mistake in them is one line on stderr."""
    streams = sys.stdout, sys.stderr
    try:
        return int(app(call.words or ["--help"], prog_name="adaline", standalone_mode=False) or 0)
    except UsageError as error:
        from adaline.cli.exit import say_error

        where = error.ctx.command_path if error.ctx is not None else "adaline"
        return say_error(f"{_mistake(error)} Try '{where} --help'.", int(error.exit_code))
    except typer.Abort:
        return 130
    except SystemExit as end:  # by which typer ends where help is not read, with streams that hide it
        if isinstance(end.__context__, BrokenPipeError):
            sys.stdout, sys.stderr = streams
            raise end.__context__ from None
        raise


def _mistake(error: Any) -> str:
    """Return what is wrong with a command line, as a sentence, and what may have been meant."""
    if getattr(error, "possibilities", None):
        meant = OTHER_NAMES.get(error.option_name, "")
        known = [] if error.ctx is None else [name for one in error.ctx.command.params for name in one.opts]
        likely = [meant] if meant in known else error.possibilities
        return f"{error.message}. Did you mean {' or '.join(likely)}?"
    message = " ".join(error.format_message().replace("Value error, ", "").split())
    if "unexpected extra argument" in message and any("," in (one.metavar or "") for one in error.ctx.command.params):
        message += "; several names are one word, with commas: a,b"
    return message if message.endswith((".", "?", "!")) else f"{message}."
