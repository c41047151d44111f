"""The application that commands belong to, and how one is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from adaline import _HOMES, __version__

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
    from adaline.cli.exit import guarded

    raise typer.Exit(guarded(job, unharmed, call.debug))


# The options of the command line that several commands share, and how they are completed.


Missing = Literal["error", "drop", "mean", "indicator"]
Unseen = Literal["error", "other"]


def data_names(incomplete: str) -> Iterator[str]:
    """Complete files, folders and bundled data sets."""
    from glob import escape, glob

    from adaline import datasets

    for path in sorted(glob(escape(incomplete) + "*")):
        yield path + "/" if Path(path).is_dir() else path
    yield from (name for name in datasets.names() if name.startswith(incomplete))


def system_names(incomplete: str) -> Iterator[str]:
    """Complete systems, without importing them."""
    yield from (name for name, home in _HOMES.items() if home == "adaline.systems" and name.startswith(incomplete))


def option(*names: str, help: str, **more: Any) -> Any:
    """Return an option whose default, if it has any to speak of, is told by its help."""
    return typer.Option(*names, help=help, show_default=False, **more)


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file (CSV, TSV, JSON lines, Parquet, DuckDB, SQLite; also .gz), a folder, a glob, a query "
        '"SELECT ...", or the name of a bundled data set (adaline systems --data).',
        autocompletion=data_names,
        show_default=False,
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.", show_default=False)]
Target = Annotated[str | None, option("--target", "-t", metavar="COLUMN", help="What to predict: numbers or labels.")]
Features = Annotated[
    str | None,
    option("--features", metavar="A,B,C", help="Columns to learn from; without it, all that can be used."),
]
Drop = Annotated[str | None, option("--drop", metavar="A,B", help="Columns to leave out.")]
Weight = Annotated[str | None, option("--weight", metavar="COLUMN", help="Weights of rows: 2 is the row twice.")]
Categories = Annotated[
    str | None,
    option("--categories", metavar="A,B", help="Columns to code by levels, whatever they hold."),
]
Dates = Annotated[str | None, option("--dates", metavar="A,B", help="Date columns to use, as days since 1970.")]
MissingValues = Annotated[
    Missing | None,
    option(
        "--missing",
        metavar="POLICY",
        help="Missing values: error refuses them, drop leaves such rows out, mean fills it in, indicator also marks "
        "it in a column. Without it, rows without a target are left out and other gaps refused.",
    ),
]
UnseenLevels = Annotated[
    Unseen,
    option(
        "--unseen",
        metavar="POLICY",
        help="Levels met later: error (default) refuses them, other takes them for average.",
    ),
]
Formula = Annotated[
    str | None,
    option("--formula", metavar="TEXT", help='In place of target and features: "y ~ x1 + C(x2) + x1:x3".'),
]
TableName = Annotated[
    str | None, option("--table", metavar="NAME", help="Which table of a database (or a query on it).")
]
Json = Annotated[bool, option("--json", help="Print JSON for machines.")]
