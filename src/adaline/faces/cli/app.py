"""The application that commands belong to, and how one is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

import typer

from adaline import __version__

EXAMPLES = """
\b
Examples:
  adaline compare penguins --target body_mass_g
  adaline fit flights.csv --target arr_delay -o delay.adaline
  adaline predict delay.adaline new.parquet -o predicted.csv
  adaline update delay.adaline tomorrow.csv

DATA is a file, a folder, a glob, a query or a bundled data set. Results go to stdout, notes to stderr, --json is for
machines. Exit codes: 0 done, 2 something to mend, 130 interrupted, 1 a fault of adaline.
"""


def examples(*lines: str) -> str:
    """Return the end of a command's help."""
    return "\n".join(["\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)])


@dataclass
class Call:
    """The command line being run: its words, and whether tracebacks are shown."""

    words: list[str] = field(default_factory=list)
    debug: bool = False


call = Call()

app = typer.Typer(
    name="adaline",
    help="Linear learning systems: fast, exact, and able to prove their answer.",
    epilog=EXAMPLES,
    rich_markup_mode=None,  # drawing help by rich takes as long again as all of typer
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"adaline {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks; may stand anywhere.")] = False,
) -> None:
    """Linear learning systems: fast, exact, and able to prove their answer."""


def do(job: Callable[[], None], unharmed: str = "nothing was written") -> None:
    """Run what a command does and leave with its exit code; `unharmed` is what an interrupt leaves true."""
    from adaline.faces.commands.ending import guarded

    raise typer.Exit(guarded(job, unharmed, call.debug))
