"""Arguments and options that several commands share, and how they are read and completed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from adaline.errors import InvalidParameter
from adaline.systems import SYSTEMS

PART = re.compile(r'(?:\s*"((?:[^"]|"")*)")?([^,]*),?')
"""A part of a list: the text in quotes that it may begin with, and what follows up to a comma."""


def option(*names: str, help: str, **more: Any) -> Any:
    """Return an option whose default, if it has one, is said in its help."""
    return typer.Option(*names, help=help, show_default=False, **more)


def listed(text: str | None) -> tuple[str, ...] | None:
    """Return the names in "a, b, c", quoted as in CSV where they have commas; None for None.

    Examples
    --------
    >>> from adaline.cli.options import listed
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
    >>> from adaline.cli.options import unquoted
    >>> unquoted('"a,b"'), unquoted("a,b")
    ('a,b', 'a,b')
    """
    found = listed(text) if text is not None and text.startswith('"') else None
    return found[0] if found is not None and len(found) == 1 else text


def leveled(text: str | None) -> dict[str, tuple[str, ...] | None] | None:
    """Return the names in "a, size=low<mid<high" with their levels, in order, where these are given; None for None.

    Examples
    --------
    >>> from adaline.cli.options import leveled
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
    >>> from adaline.cli.options import widths
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


def word_options(text: str | None) -> dict[str, dict[str, str]] | None:
    """Return the names in "title, body=tfidf" with the weighting of their words, where it is given; None for None.

    Examples
    --------
    >>> from adaline.cli.options import word_options
    >>> word_options("title, body=tfidf")
    {'title': {}, 'body': {'weighting': 'tfidf'}}
    """
    if text is None:
        return None
    parts = [name.partition("=") for name in listed(text) or ()]
    return {name.strip(): {"weighting": how.strip()} if how else {} for name, _, how in parts}


def complete_data(incomplete: str) -> Iterator[str]:
    """Complete files, folders and bundled data sets."""
    from glob import escape, glob

    for path in sorted(glob(escape(incomplete) + "*")):
        yield path + "/" if Path(path).is_dir() else path
    yield from (name for name in bundled_names() if name.startswith(incomplete))


def bundled_names() -> tuple[str, ...]:
    """Return the names of the bundled data sets."""
    from adaline import datasets

    return datasets.names()


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
            callback=word_options,
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


FILE_OPTIONS = dict(inspect.signature(file_options, eval_str=True).parameters)
TABLE_OPTIONS = dict(inspect.signature(table_options, eval_str=True).parameters) | FILE_OPTIONS
