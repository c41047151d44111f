"""The application that commands belong to: how one is registered and run, and the options that several share.

Nothing slow is imported here, so that help and completion need neither NumPy nor scikit-learn.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from adaline import __version__
from adaline.errors import InvalidParameter
from adaline.systems import SYSTEMS

EXAMPLES = """
\b
Examples:
  adaline compare penguins --target body_mass_g
  adaline fit flights.csv --target arr_delay -o delay.adaline
  adaline predict delay.adaline new.parquet -o predicted.csv
  adaline update delay.adaline tomorrow.csv

DATA is a file, - for standard input, a folder, a glob, a query or a bundled data set. Results go to stdout, notes to
stderr, --json is for machines. Exit codes: 0 done, 1 internal error, 2 invalid input, 130 interrupted, 141 broken pipe,
143 terminated. Ctrl-C ends a command within two seconds, a second Ctrl-C at once.
"""

PART = re.compile(r'(?:\s*"((?:[^"]|"")*)")?([^,]*),?')
"""A part of a list: the text in quotes that it may begin with, and what follows up to a comma."""
CALLED = {
    **dict.fromkeys(("data", "datasets", "dataset"), "adaline systems --data"),
    **dict.fromkeys(("models", "list"), "adaline systems"),
    "train": "adaline fit",
    "evaluate": "adaline score",
    "tune": "adaline select",
    "show": "adaline summary",
    "help": "adaline --help",
    "version": "adaline --version",
}
"""Commands by the names that people try."""


@dataclass
class Call:
    """The command line being run: its words, whether tracebacks are shown, and whether it is that of the process."""

    words: list[str] = field(default_factory=list)
    debug: bool = False
    owns_process: bool = False


call = Call()


def taken_as_given(parameters: list[Any], texts: Collection[str] = ()) -> list[Any]:
    """Return the parameters of a command; they take texts, those of these names, and defaults as they are.

    To check that a text is a text typer imports pydantic, which takes as long as to fit a small table.
    """
    for one in parameters:
        if not isinstance(one.process_value, partial):
            one.process_value = partial(_processed, one, one.process_value, one.name in texts)
    return parameters


def _processed(parameter: Any, convert: Callable[[Any, Any], Any], text: bool, context: Any, value: Any) -> Any:
    """Return the value of a parameter after its callback, by typer unless it is a text, or a default."""
    source = context.get_parameter_source(parameter.name)
    several = parameter.multiple or parameter.nargs == -1
    if source is not None and source.name == "DEFAULT":
        plain = (value is None and not parameter.required) or isinstance(value, str | int | float)
    else:
        plain = text and isinstance(value, str) and not several
    if not plain:
        return convert(context, value)
    value = () if several and value is None else value
    return value if parameter.callback is None else parameter.callback(context, parameter, value)


class Group(TyperGroup):
    """All commands, with the options before them."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options."""
        return taken_as_given(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is named; of a name that other tools have for one, say which it is here."""
        if args[0] in CALLED:
            ctx.fail(f"No such command '{args[0]}'. It is '{CALLED[args[0]]}' here.")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="adaline",
    cls=Group,
    help="Linear models, fast and accurate, with a report on the numerical accuracy of each fit.",
    epilog=EXAMPLES,
    rich_markup_mode=None,  # drawing help by rich takes as long again as all of typer
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"adaline {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks; allowed anywhere on the line.")] = False,
) -> None:
    """Linear models, fast and accurate, with a report on the numerical accuracy of each fit."""


# Arguments and options that several commands share, and how they are completed.


def option(*names: str, help: str, **more: Any) -> Any:
    """Return an option whose default, if it has one, is said in its help."""
    return typer.Option(*names, help=help, show_default=False, **more)


def listed(text: str | None) -> tuple[str, ...] | None:
    """Return the names in "a, b, c", quoted as in CSV where they have commas; None for None.

    Examples
    --------
    >>> from adaline.cli.app import listed
    >>> listed('a, b,"c, d"')
    ('a', 'b', 'c, d')
    """
    if text is None:
        return None
    parts = (quoted.replace('""', '"') + rest if quoted else rest for quoted, rest in PART.findall(text))
    return tuple(name for name in (part.strip() for part in parts) if name)


def missing_words(text: str | None) -> tuple[str, ...] | None:
    """Return the words for missing values in "a, b"; an empty text stands for empty fields alone."""
    return listed(text) or (None if text is None else ("",))


def unquoted(text: str | None) -> str | None:
    """Return one name, which may be quoted as in a list of them.

    Examples
    --------
    >>> from adaline.cli.app import unquoted
    >>> unquoted('"a,b"'), unquoted("a,b")
    ('a,b', 'a,b')
    """
    found = listed(text) if text is not None and text.startswith('"') else None
    return found[0] if found is not None and len(found) == 1 else text


def leveled(text: str | None) -> dict[str, tuple[str, ...] | None] | None:
    """Return the names in "a, size=low<mid<high" with their levels, in order, where these are given; None for None.

    Examples
    --------
    >>> from adaline.cli.app import leveled
    >>> leveled("a, size=low<mid<high")
    {'a': None, 'size': ('low', 'mid', 'high')}
    """
    if text is None:
        return None
    parts = [name.partition("=") if "<" in name else (name, "", "") for name in listed(text) or ()]
    return {name: tuple(level.strip() for level in levels.split("<")) if levels else None for name, _, levels in parts}


def widths(text: str | None) -> dict[str, int] | None:
    """Return the names in "user, item=2^20" with the number of columns that each is hashed to; None for None.

    Examples
    --------
    >>> from adaline.cli.app import widths
    >>> widths("user, item=2^20")
    {'user': 262144, 'item': 1048576}
    """
    if text is None:
        return None
    parts = [name.partition("=") for name in listed(text) or ()]
    from adaline.coding.columns import DEFAULT_WIDTH

    try:
        return {name.strip(): power(width) if width.strip() else DEFAULT_WIDTH for name, _, width in parts}
    except InvalidParameter as error:
        raise typer.BadParameter(str(error)) from None


def power(text: str) -> int:
    """Return a number of columns, "1048576", "2^20" or "2**20"."""
    base, _, exponent = text.replace("**", "^").partition("^")
    try:
        return int(base) ** min(int(exponent), 64) if exponent else int(base)
    except ValueError:
        raise InvalidParameter(f"a number of columns is 1048576 or 2^20, not {text!r}") from None


def weighted(text: str | None) -> dict[str, dict[str, str]] | None:
    """Return the names in "title, body=tfidf" with the weighting of their words, where it is given; None for None.

    Examples
    --------
    >>> from adaline.cli.app import weighted
    >>> weighted("title, body=tfidf")
    {'title': {}, 'body': {'weighting': 'tfidf'}}
    """
    if text is None:
        return None
    parts = [name.partition("=") for name in listed(text) or ()]
    return {name.strip(): {"weighting": how.strip()} if how else {} for name, _, how in parts}


def complete_data(incomplete: str) -> Iterator[str]:
    """Complete files, folders and bundled data sets."""
    from glob import escape, glob

    from adaline import datasets

    for path in sorted(glob(escape(incomplete) + "*")):
        yield path + "/" if Path(path).is_dir() else path
    yield from (name for name in datasets.names() if name.startswith(incomplete))


def complete_system(incomplete: str) -> Iterator[str]:
    """Complete systems, without importing them."""
    yield from (name for name in sorted(SYSTEMS) if name.startswith(incomplete))


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file (CSV, TSV, JSON lines, Parquet, Arrow, DuckDB, SQLite or a spreadsheet; may be compressed, "
        'such as .csv.gz), - for standard input, a folder or glob of files, an SQL query such as "SELECT * '
        "FROM 'rows.csv'\", or the name of a bundled data set ('adaline systems --data' lists them).",
        autocompletion=complete_data,
        show_default=False,
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.", show_default=False)]
Models = Annotated[list[Path], typer.Argument(metavar="MODEL MODEL...", help="Model files.", show_default=False)]
Target = Annotated[
    str | None,
    option("--target", "-t", metavar="COLUMN", callback=unquoted, help="Column to predict: numbers or class labels."),
]
Weight = Annotated[
    str | None,
    option(
        "--weight",
        metavar="COLUMN",
        callback=unquoted,
        help="Column of row weights. By default they are frequencies: a weight of 2 counts as two identical rows.",
    ),
]
Cluster = Annotated[
    str | None,
    option(
        "--cluster",
        metavar="ADDRESS",
        help="Address of a compute cluster to run on: tcp://host:8786 for Dask, spark://host:7077 or local[2] for "
        "Spark.",
    ),
]
SystemName = Annotated[
    str | None,
    option(
        "--system",
        "-s",
        metavar="NAME",
        autocompletion=complete_system,
        help="Type of model; run 'adaline systems' for a list. Default: LinearRegression for a numeric target, "
        "GaussianClassifier for class labels.",
    ),
]
Json = Annotated[bool, option("--json", help="Print the result as JSON.")]

Options = dict[str, Any]
"""The values of the options of `table_options`, by name."""

Reading = Any
"""The values of the options of `file_options`, as FileOptions."""


def file_options(
    table: Annotated[
        str | None,
        option(
            "--table",
            metavar="NAME",
            help="Table to read from a database, or a query on that database; required if it has several tables.",
        ),
    ] = None,
    sheet: Annotated[
        str | None,
        option(
            "--sheet",
            metavar="NAME",
            help="Sheet to read from a spreadsheet, by name or number (starting at 1); default: the first that "
            "contains a table.",
        ),
    ] = None,
    decimal: Annotated[
        str | None,
        option(
            "--decimal",
            metavar="SIGN",
            help="Decimal separator of numbers in text files, ',' or '.'; default: inferred from the data.",
        ),
    ] = None,
    na: Annotated[
        str | None,
        option(
            "--na",
            metavar="A,B",
            callback=missing_words,
            help="Values to treat as missing, in addition to NA, NULL, ? and the like. An empty list, "
            "--na '', turns these defaults off for text columns: NA and the like are then ordinary values there.",
        ),
    ] = None,
    encoding: Annotated[
        str | None,
        option(
            "--encoding",
            metavar="NAME",
            help="Character encoding of text files, such as latin-1; default: detected (UTF-8 or UTF-16, otherwise "
            "Windows-1252).",
        ),
    ] = None,
) -> None:
    """Declare the options that say how a file is read."""


def table_options(
    data: Data,
    target: Target = None,
    features: Annotated[
        str | None,
        option(
            "--features",
            metavar="A,B,C",
            callback=listed,
            help="Columns to predict from; default: all suitable columns. In any list of column names, quote a name "
            "that contains a comma, as in CSV: '\"a,b\",c'.",
        ),
    ] = None,
    drop: Annotated[str | None, option("--drop", metavar="A,B", callback=listed, help="Columns to exclude.")] = None,
    weight: Weight = None,
    offset: Annotated[
        str | None,
        option(
            "--offset",
            metavar="COLUMN",
            help="For GeneralizedLinear: a term added to the linear predictor with coefficient 1, as a column or "
            "an expression such as 'log(years)'.",
        ),
    ] = None,
    categories: Annotated[
        str | None,
        option(
            "--categories",
            metavar="A,B",
            callback=leveled,
            help="Columns to treat as categorical, even if they contain numbers; 'size=low<mid<high' also sets the "
            "order of the levels. Categorical columns not named here are used too, those with the fewest levels first, "
            "as long as their levels total at most 500 (1,500 if penalty is set to a number); the rest are left out.",
        ),
    ] = None,
    hashed: Annotated[
        str | None,
        option(
            "--hash",
            metavar="A,B=2^20",
            callback=widths,
            help="Columns with very many distinct values, such as ids. Each column is hashed to 2^18 features; "
            "COLUMN=N sets another number for that column. For a Vowpal Wabbit file, give only a number, such as "
            "2^20: all its feature names are hashed to that many features.",
        ),
    ] = None,
    words: Annotated[
        str | None,
        option(
            "--words",
            metavar="A,B=tfidf",
            callback=weighted,
            help="Text columns to split into words; each distinct word becomes a feature. Its value is the word's "
            "count, or 0/1 with COLUMN=binary, or the TF-IDF weight with COLUMN=tfidf.",
        ),
    ] = None,
    dates: Annotated[
        str | None,
        option(
            "--dates",
            metavar="A,B",
            callback=listed,
            help="Date columns to use, as days since 1 January 1970; date columns not named here are left out.",
        ),
    ] = None,
    missing: Annotated[
        Literal["error", "drop", "mean", "indicator"] | None,
        option(
            "--missing",
            metavar="POLICY",
            help="How to treat missing values. drop: leave out rows that contain one; mean: replace each with its "
            "column's mean; indicator: like mean, and also add a 0/1 column that marks the replaced values; error: "
            "stop with an error. Default: drop, except that 'adaline compare' uses indicator if drop would lose "
            "more than 5% of the rows.",
        ),
    ] = None,
    unseen: Annotated[
        Literal["error", "other"],
        option(
            "--unseen",
            metavar="POLICY",
            help="How 'adaline predict' treats category levels that were not in the training data. error (default): "
            "make no prediction for the row and give the reason; other: use the average effect of the known levels.",
        ),
    ] = "error",
    formula: Annotated[
        str | None,
        option(
            "--formula",
            metavar="TEXT",
            help='Model formula as in R, instead of --target and --features: "y ~ x1 + C(x2) + x1:x3".',
        ),
    ] = None,
    absorb: Annotated[
        str | None,
        option(
            "--absorb",
            metavar="A,B",
            callback=listed,
            help="Columns to include as fixed effects, with any number of levels, such as firm,year. They are "
            "partialled out, so no coefficients are printed for their levels.",
        ),
    ] = None,
    singletons: Annotated[
        Literal["keep", "drop"],
        option(
            "--singletons",
            metavar="POLICY",
            help="With --absorb: keep (default) or drop rows whose level in an absorbed column occurs in no other row.",
        ),
    ] = "keep",
    cluster: Cluster = None,
) -> None:
    """Declare DATA and the options of every command that learns from a table: those of `open_table`, and --drop."""


TEXTS = ((str,), (str | None,))

FILE_OPTIONS = dict(inspect.signature(file_options, eval_str=True).parameters)
TABLE_OPTIONS = dict(inspect.signature(table_options, eval_str=True).parameters) | FILE_OPTIONS


def _call(body: Callable[..., None], given: dict[str, Any]) -> None:
    """Run the body of a command."""
    if "reading" in given:
        from adaline.sources.tables.file_options import FileOptions

        given = {**given, "reading": FileOptions.of(**given["reading"])}
    body(**given)


def _hidden(option: inspect.Parameter) -> inspect.Parameter:
    """Return an option that the help does not show."""
    kind, shown = get_args(option.annotation)
    unseen = copy(shown)
    unseen.hidden = True
    return option.replace(annotation=Annotated[kind, unseen])


def command(
    short_help: str, *examples: str, unharmed: str = "nothing was written", hidden: Sequence[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command; its arguments are its options, its body runs guarded and ends in an exit code.

    Parameters
    ----------
    short_help : a line for the list of commands; the docstring is the help of the command itself.
    examples : command lines for the end of its help.
    unharmed : what is true of files if it is interrupted.
    hidden : options of `table_options` that the command refuses with a message of its own, and its help does not show.

    An argument called `options` stands for DATA and all of `table_options` and `file_options`, and receives their
    values as a dictionary; one called `reading` stands for those of `file_options`, and receives them as FileOptions.
    """

    def register(body: Callable[..., None]) -> Callable[..., None]:
        parameters = dict(inspect.signature(body, eval_str=True).parameters)
        shared = TABLE_OPTIONS if parameters.pop("options", None) is not None else {}
        shared = {name: _hidden(one) if name in hidden else one for name, one in shared.items()}
        files = FILE_OPTIONS if parameters.pop("reading", None) is not None else {}

        def run(**given: Any) -> None:
            from adaline.cli.exit import guarded

            if shared:
                given["options"] = {name: given.pop(name) for name in shared}
            if files:
                given["reading"] = {name: given.pop(name) for name in files}
            raise typer.Exit(guarded(partial(_call, body, given), unharmed, call.debug))

        ahead: dict[str, inspect.Parameter] = {name: shared[name] for name in ("data", "target") if name in shared}
        end = {"json": parameters.pop("json")} if "json" in parameters else {}
        ordered = {**ahead, **parameters, **files, **shared, **end}
        run.__doc__ = body.__doc__
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in ordered.values()]
        )
        head = ["\b", "Examples:" if len(examples) > 1 else "Example:"] if examples else []
        epilog = "\n".join([*head, *(f"  {line}" for line in examples)]) or None
        texts = [name for name, one in ordered.items() if get_args(one.annotation)[:1] in TEXTS]

        class Command(TyperCommand):
            def get_params(self, ctx: Any) -> list[Any]:
                return taken_as_given(super().get_params(ctx), texts)

        app.command(body.__name__, cls=Command, short_help=short_help, epilog=epilog)(run)
        return body

    return register
