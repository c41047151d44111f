"""Commands on data: fit, predict, compare. What they do is in `adaline.faces.commands`.

Those modules are imported when a command runs, so that help and completion need neither NumPy nor scikit-learn.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer

from adaline.cli.app import (
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
    app,
    call,
    do,
    examples,
    option,
    system_names,
)
from adaline.comparison.request import CompareRequest, DataRequest, PredictRequest, SelectRequest, listed


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
        from adaline.cli import fit as fitting

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
        from adaline.cli import predict as predicting

        asked = PredictRequest(proba, interval, level, keep)
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
        from adaline.cli import compare as comparing

        wanted = wanted_of(data, table, target, features, drop, weight, categories, dates, missing, unseen, formula)
        trials = CompareRequest(folds, seed, listed(systems), task)
        comparing.run_compare(wanted, trials, output, save, json, shlex.join(["adaline", *call.words]))

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
        from adaline.cli import separable as separating

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
) -> DataRequest:
    """Return what the options that name rows and columns ask for."""
    return DataRequest(
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


# Commands on models: summary, update, merge, export; and the list of systems.


@app.command(
    short_help="Show what a model file holds.",
)
def summary(model: Model, json: Json = False) -> None:
    """Show what a model file holds: where it comes from, its coefficients, and its certificate."""

    def job() -> None:
        from adaline.cli import summary as listing

        listing.summary(model, json)

    do(job)


@app.command(
    short_help="Take more rows into a model.",
    epilog=examples("adaline update delay.adaline tomorrow.csv"),
)
def update(
    model: Model,
    data: Data,
    target: Target = None,
    weight: Weight = None,
    table: TableName = None,
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="FILE", help="Another file; without it, MODEL itself."),
    ] = None,
    json: Json = False,
) -> None:
    """Take more rows into a model: as if it had been fitted to all of them. Columns are coded as the model has it."""

    def job() -> None:
        from adaline.cli import fit as fitting

        fitting.update(model, DataRequest(data, table, target, weight=weight), output, json)

    do(job, "the model is as it was")


@app.command(
    short_help="Join models that were fitted apart.",
    epilog=examples("adaline merge north.adaline south.adaline -o both.adaline"),
)
def merge(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL MODEL...", help="Model files.", show_default=False)],
    output: Annotated[Path, option("--output", "-o", metavar="FILE", help="Where to save the result.")],
    json: Json = False,
) -> None:
    """Join models that were fitted apart: as if one had been fitted to the rows of all."""

    def job() -> None:
        from adaline.cli import fit as fitting

        fitting.merge(models, output, json)

    do(job)


@app.command(
    short_help="Write a model as ONNX.",
)
def export(
    model: Model,
    output: Annotated[Path, typer.Argument(metavar="OUT.onnx", help="The file to write.", show_default=False)],
    dtype: Annotated[
        Literal["float64", "float32"],
        typer.Option("--dtype", metavar="TYPE", help="Type of its numbers: float64 or float32."),
    ] = "float64",
) -> None:
    """Write a model as an ONNX file, for other runtimes and languages."""

    def job() -> None:
        from adaline.cli import fit as fitting

        fitting.export(model, output, dtype)

    do(job)


@app.command(
    short_help="List the systems, or the bundled data sets.",
)
def systems(
    data: Annotated[bool, typer.Option("--data", help="List the bundled data sets instead.")] = False,
    json: Json = False,
) -> None:
    """List the systems, or the bundled data sets."""

    def job() -> None:
        from adaline.cli import summary as listing

        (listing.data if data else listing.systems)(json)

    do(job)


# The command that chooses parameters: select.


@app.command(
    short_help="Choose parameters by the error on new rows.",
    epilog=examples(
        "adaline select longley -t Employed -s Ridge -p penalty=0.01,0.1,1,10",
        "adaline select penguins -t species -s LogisticRegression -p penalty=0.1,1,10 --rule one-standard-error",
    ),
)
def select(
    data: Data,
    target: Target = None,
    system: Annotated[
        str | None, option("--system", "-s", metavar="NAME", autocompletion=system_names, help="See adaline systems.")
    ] = None,
    parameters: Annotated[
        list[str] | None,
        option("--parameter", "-p", metavar="KEY=A,B,...", help="Values to choose from; may be repeated."),
    ] = None,
    settings: Annotated[
        list[str] | None, option("--set", metavar="KEY=VALUE", help="A parameter that stays; may be repeated.")
    ] = None,
    method: Annotated[
        Literal["auto", "loo", "gcv", "folds"],
        typer.Option("--method", metavar="HOW", help="auto, loo (exact leave-one-out), gcv or folds."),
    ] = "auto",
    rule: Annotated[
        Literal["best", "one-standard-error"],
        typer.Option("--rule", metavar="RULE", help="best, or one-standard-error: the simplest that is near it."),
    ] = "best",
    folds: Annotated[int, typer.Option("--folds", metavar="N", help="Folds where there is no formula.")] = 10,
    scoring: Annotated[
        str | None, option("--scoring", metavar="NAME", help="What the error is, as log_loss or mean_absolute_error.")
    ] = None,
    output: Annotated[Path | None, option("--output", "-o", metavar="FILE", help="Where to save the choice.")] = None,
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
    """Choose parameters of a system by its error on rows it has not seen, and fit the choice to all rows."""

    def job() -> None:
        from adaline.cli import select as selecting

        wanted = wanted_of(data, table, target, features, drop, weight, categories, dates, missing, unseen, formula)
        how = SelectRequest(method, rule, folds, scoring)
        selecting.run_select(wanted, system, settings or [], parameters or [], how, output, json)

    do(job)
