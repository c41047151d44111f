"""The command that chooses parameters: select."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from adaline.faces.cli.app import app, do, examples
from adaline.faces.cli.on_data import wanted_of
from adaline.faces.cli.options import (
    Categories,
    Data,
    Dates,
    Drop,
    Features,
    Formula,
    Json,
    MissingValues,
    TableName,
    Target,
    UnseenLevels,
    Weight,
    option,
    system_names,
)
from adaline.faces.commands.asking import Chosen


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
        from adaline.faces.commands import selecting

        wanted = wanted_of(data, table, target, features, drop, weight, categories, dates, missing, unseen, formula)
        how = Chosen(method, rule, folds, scoring)
        selecting.run(wanted, system, settings or [], parameters or [], how, output, json)

    do(job)
