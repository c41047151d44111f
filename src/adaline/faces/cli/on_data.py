"""Commands on data: fit, predict, compare. What they do is in `adaline.faces.commands`.

Those modules are imported when a command runs, so that help and completion need neither NumPy nor scikit-learn.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer

from adaline.faces.cli.app import app, call, do, examples
from adaline.faces.cli.options import (
    Categories,
    Data,
    Dates,
    Drop,
    Features,
    Formula,
    Json,
    Missing,
    MissingValues,
    Model,
    TableName,
    Target,
    Unseen,
    UnseenLevels,
    Weight,
    option,
    system_names,
)
from adaline.faces.commands.asking import Asked, Trials, Wanted, listed


@app.command(
    short_help="Fit a system to a table and save it.",
    epilog=examples(
        "adaline fit penguins --target body_mass_g -o mass.adaline",
        "adaline fit flights.csv -t arr_delay --drop year,flight --dates time_hour",
        "adaline fit penguins -t species --system FisherDiscriminant --json",
        'adaline fit data.csv --formula "log(y) ~ x1 * x2 + C(x3)" -s Ridge --set penalty=1',
    ),
)
def fit(
    data: Data,
    target: Target = None,
    system: Annotated[
        str | None,
        option(
            "--system",
            "-s",
            metavar="NAME",
            autocompletion=system_names,
            help="See adaline systems. Without it, LinearRegression for numbers, GaussianClassifier for labels.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        option(
            "--set",
            metavar="KEY=VALUE",
            help="A parameter of the system; may be repeated: --set basis=Polynomial --set basis__degree=3.",
        ),
    ] = None,
    output: Annotated[Path | None, option("--output", "-o", metavar="FILE", help="Where to save the model.")] = None,
    features: Features = None,
    drop: Drop = None,
    weight: Weight = None,
    categories: Categories = None,
    dates: Dates = None,
    missing: MissingValues = None,
    unseen: UnseenLevels = "error",
    formula: Formula = None,
    table: TableName = None,
    json: Json = False,
) -> None:
    """Fit a system to a table, show it with its certificate, and save it."""

    def job() -> None:
        from adaline.faces.commands import fitting

        wanted = wanted_of(data, table, target, features, drop, weight, categories, dates, missing, unseen, formula)
        fitting.fit(wanted, system, settings or [], output, json)

    do(job)


@app.command(
    short_help="Predict the rows of a table.",
    epilog=examples(
        "adaline predict mass.adaline penguins | head",
        'adaline predict delay.adaline "flights/*.parquet" -o out.parquet --keep flight',
        "adaline predict delay.adaline new.csv --interval prediction -o out.csv",
    ),
)
def predict(
    model: Model,
    data: Data,
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="FILE", help="A .csv, .tsv or .parquet file; stdout without it."),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also the probability of each class.")] = False,
    interval: Annotated[
        Literal["confidence", "prediction"] | None,
        typer.Option(
            "--interval",
            metavar="KIND",
            help="Also lower and upper ends: confidence (of the mean) or prediction (of a new row).",
            show_default=False,
        ),
    ] = None,
    level: Annotated[float, typer.Option("--level", metavar="P", help="Coverage of the interval.")] = 0.95,
    keep: Annotated[
        str,
        option(
            "--keep",
            metavar="COLUMNS",
            help="Input columns to write as well: all (default), none, or A,B.",
        ),
    ] = "all",
    table: TableName = None,
    json: Annotated[bool, option("--json", help="JSON lines; with --output, what was done as JSON.")] = False,
) -> None:
    """Predict the rows of a table; predictions are written next to its columns.

    Rows are streamed. Where a value is missing that the model needs, the prediction stays empty.
    """

    def job() -> None:
        from adaline.faces.commands import predicting

        asked = Asked(proba, interval, level, keep)
        predicting.predict(model, data, table, asked, output, json)

    do(job)


@app.command(
    short_help="Try every system that suits, recommend one, report.",
    epilog=examples(
        "adaline compare penguins --target species",
        "adaline compare flights.csv -t arr_delay -o flights.html --save best.adaline",
        "adaline compare titanic.csv -t survived --task classification --missing mean",
    ),
)
def compare(
    data: Data,
    target: Target = None,
    folds: Annotated[int, typer.Option("--folds", metavar="N", help="Folds of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the cut into folds, and of samples.")] = 0,
    systems: Annotated[
        str | None,
        option(
            "--systems",
            metavar="A,B",
            autocompletion=system_names,
            help="Those to try; default: all that suit.",
        ),
    ] = None,
    task: Annotated[
        Literal["regression", "classification"] | None,
        option("--task", metavar="KIND", help="regression or classification, where the target does not tell."),
    ] = None,
    output: Annotated[
        Path | None, option("--output", "-o", metavar="FILE", help="The report; default: report.html.")
    ] = None,
    save: Annotated[
        Path | None,
        option("--save", metavar="FILE", help="Fit the recommended system to all rows and save it."),
    ] = None,
    features: Features = None,
    drop: Drop = None,
    weight: Weight = None,
    categories: Categories = None,
    dates: Dates = None,
    missing: MissingValues = None,
    unseen: UnseenLevels = "error",
    formula: Formula = None,
    table: TableName = None,
    json: Annotated[bool, option("--json", help="Print JSON for machines; no report without -o.")] = False,
) -> None:
    """Cross-validate every system that suits the target, recommend one, say why, and write a report."""

    def job() -> None:
        from adaline.faces.commands import comparing

        wanted = wanted_of(data, table, target, features, drop, weight, categories, dates, missing, unseen, formula)
        trials = Trials(folds, seed, listed(systems), task)
        comparing.run(wanted, trials, output, save, json, shlex.join(["adaline", *call.words]))

    do(job)


@app.command(
    short_help="Can a hyperplane tell the classes apart?",
    epilog=examples(
        "adaline separable penguins --target species", "adaline separable breast_cancer -t diagnosis --json"
    ),
)
def separable(
    data: Data,
    target: Target = None,
    features: Features = None,
    drop: Drop = None,
    weight: Weight = None,
    categories: Categories = None,
    dates: Dates = None,
    missing: MissingValues = None,
    table: TableName = None,
    json: Json = False,
) -> None:
    """Decide whether a hyperplane separates the classes, with a proof either way, checked in exact arithmetic."""

    def job() -> None:
        from adaline.faces.commands import separating

        separating.separable(
            wanted_of(data, table, target, features, drop, weight, categories, dates, missing, "error", None), json
        )

    do(job)


def wanted_of(
    data: str,
    table: str | None,
    target: str | None,
    features: str | None,
    drop: str | None,
    weight: str | None,
    categories: str | None,
    dates: str | None,
    missing: Missing | None,
    unseen: Unseen,
    formula: str | None,
) -> Wanted:
    """Return what the options that name rows and columns ask for."""
    return Wanted(
        data=data,
        table=table,
        target=target,
        features=None if features is None else listed(features),
        drop=listed(drop),
        weight=weight,
        categories=listed(categories),
        dates=listed(dates),
        missing=missing,
        unseen=unseen,
        formula=formula,
    )
