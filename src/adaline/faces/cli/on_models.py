"""Commands on models: summary, update, merge, export; and the list of systems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from adaline.faces.cli.app import app, do, examples
from adaline.faces.cli.options import (
    Data,
    Json,
    Model,
    TableName,
    Target,
    Weight,
    option,
)
from adaline.faces.commands.asking import Wanted


@app.command(
    short_help="Show what a model file holds.",
)
def summary(model: Model, json: Json = False) -> None:
    """Show what a model file holds: where it comes from, its coefficients, and its certificate."""

    def job() -> None:
        from adaline.faces.commands import listing

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
        from adaline.faces.commands import fitting

        fitting.update(model, Wanted(data, table, target, weight=weight), output, json)

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
        from adaline.faces.commands import fitting

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
        from adaline.faces.commands import fitting

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
        from adaline.faces.commands import listing

        (listing.data if data else listing.systems)(json)

    do(job)
