"""How each command is called; what it does is in the module of its name, which is imported when the command runs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer

from adaline.cli.app import (
    Cluster,
    Data,
    Json,
    Model,
    Models,
    Options,
    Reading,
    SystemName,
    Target,
    Weight,
    call,
    command,
    complete_data,
    complete_system,
    listed,
    option,
)


@command(
    "Fit a system to a table and save it.",
    "adaline fit penguins --target body_mass_g -o mass.adaline",
    "adaline fit flights.csv -t arr_delay --drop year,flight --dates time_hour",
    "adaline fit penguins -t species --system FisherDiscriminant --json",
    'adaline fit data.csv --formula "log(y) ~ x1 * x2 + C(x3)" -s Ridge --set penalty=1',
    "adaline fit wages.csv -t wage --errors HC3",
    "adaline fit flights.parquet -t arr_delay --features dep_delay,distance --absorb carrier,tailnum --cluster carrier",
    "adaline fit claims.csv -t claims -s GeneralizedLinear --set loss=poisson --offset 'log(years)'",
    "adaline fit clicks.csv -t click -s LogisticRegression --set solver=online --passes 1 -o clicks.adaline",
)
def fit(
    options: Options,
    system: SystemName = None,
    settings: Annotated[
        list[str] | None,
        option(
            "--set",
            metavar="KEY=VALUE",
            help="A parameter of the system; may be repeated: --set basis=Polynomial --set basis__degree=3.",
        ),
    ] = None,
    link: Annotated[
        str | None,
        option("--link", metavar="NAME", help="Link of a GeneralizedLinear or OrdinalRegression: log, probit, ..."),
    ] = None,
    passes: Annotated[
        int | None,
        option("--passes", metavar="N", help="Systems that learn row by row: how often to go over the rows (epochs)."),
    ] = None,
    errors: Annotated[
        str | None,
        option("--errors", metavar="KIND", help="Standard errors that are robust: HC0 to HC4, HAC; see the summary."),
    ] = None,
    output: Annotated[Path | None, option("--output", "-o", metavar="FILE", help="Where to save the model.")] = None,
    json: Json = False,
) -> None:
    """Fit a system to a table, show it with its certificate, and save it."""
    from adaline.cli.fit import run_fit

    given = [*(settings or []), *([] if link is None else [f"link={link}"])]
    run_fit(options, system, given, output, json, passes=passes, errors=errors)


@command(
    "Predict the rows of a table.",
    "adaline predict mass.adaline penguins | head",
    'adaline predict delay.adaline "flights/*.parquet" -o out.parquet --keep flight',
    "adaline predict delay.adaline new.csv --interval prediction -o out.csv",
    "zcat new.csv.gz | adaline predict delay.adaline - > out.csv",
)
def predict(
    model: Model,
    data: Data,
    reading: Reading,
    output: Annotated[
        Path | None,
        option(
            "--output",
            "-o",
            metavar="FILE",
            help="A .csv, .tsv or .parquet file, of --cluster a folder; stdout without it.",
        ),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also the probability of each class.")] = False,
    interval: Annotated[
        Literal["confidence", "prediction"] | None,
        option(
            "--interval",
            metavar="KIND",
            help="Also lower and upper ends: confidence (of the mean) or prediction (of a new row).",
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
    strict: Annotated[
        bool, option("--strict", help="Refuse rows that cannot be predicted; no reason column is written.")
    ] = False,
    cluster: Cluster = None,
    json: Annotated[bool, option("--json", help="JSON lines; with --output, a JSON summary of what was done.")] = False,
) -> None:
    """Predict every row of a table; predictions are written after its columns.

    Rows are streamed, in order. A row with a missing value or an unseen level that the model does not handle gets an
    empty prediction; the last column, reason, says why.
    """
    from adaline.cli.predict import PredictOptions, predict_on_cluster, run_predict

    options = PredictOptions(proba, interval, level, keep, strict)
    if cluster is not None:
        predict_on_cluster(model, data, cluster, options, output, json)
    else:
        run_predict(model, data, reading, options, output, json)


@command(
    "Try every system that suits, recommend one, report.",
    "adaline compare penguins --target species",
    "adaline compare flights.csv -t arr_delay -o flights.html --save best.adaline",
    "adaline compare titanic.csv -t survived --task classification --missing mean",
    unharmed="no report was written",
)
def compare(
    options: Options,
    folds: Annotated[
        int | None,
        option(
            "--folds",
            metavar="N",
            help="Folds of the cross-validation; default: 5, or leave-one-out for fewer than 20 rows.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the cut into folds, and of samples.")] = 0,
    systems: Annotated[
        str | None,
        option(
            "--systems",
            metavar="A,B",
            autocompletion=complete_system,
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
    cost: Annotated[
        str | None,
        option("--cost", metavar="fp=A,fn=B", help="Two classes: costs of the two errors, to choose a threshold by."),
    ] = None,
    thorough: Annotated[
        bool, option("--thorough", help="Let systems that go row by row take all their epochs over all rows.")
    ] = False,
    json: Annotated[bool, option("--json", help="Print JSON for machines; no report without -o.")] = False,
) -> None:
    """Cross-validate every system that suits the target, recommend one, say why, and write a report."""
    from adaline.cli.reading import read_ahead
    from adaline.comparison.open_data import DataRequest

    request = DataRequest.of(**options, shell=True)
    reading = read_ahead(request, task, seed, folds) if systems is None else None

    from adaline.cli.compare import run_compare
    from adaline.comparison.compare import CompareOptions

    words = shlex.join(["adaline", *call.words])
    how = CompareOptions(folds, seed, listed(systems), task, thorough, cost)
    run_compare(request, how, reading, report=output, save=save, as_json=json, words=words)


@command(
    "Can a hyperplane tell the classes apart?",
    "adaline separable penguins --target species",
    "adaline separable breast_cancer -t diagnosis --json",
)
def separable(options: Options, json: Json = False) -> None:
    """Decide whether a hyperplane separates the classes, with a proof either way, checked in exact arithmetic."""
    from adaline.cli.separable import run_separable

    run_separable(options, json)


@command(
    "Choose parameters by the error on new rows.",
    "adaline select longley -t Employed -s Ridge -p penalty=0.01,0.1,1,10",
    "adaline select penguins -t species -s LogisticRegression -p penalty=0.1,1,10 --rule one-standard-error",
)
def select(
    options: Options,
    system: SystemName = None,
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
    json: Json = False,
) -> None:
    """Choose parameters of a system by its error on rows it has not seen, and fit the choice to all rows."""
    from adaline.cli.select import run_select

    how = {"method": method, "rule": rule, "folds": folds, "scoring": scoring}
    run_select(options, system, settings or [], parameters or [], how, output, json)


@command(
    "Judge a model by rows whose target is known.",
    "adaline score mass.adaline penguins",
    "adaline score delay.adaline tomorrow.parquet --json",
)
def score(
    model: Model,
    data: Data,
    reading: Reading,
    target: Target = None,
    weight: Weight = None,
    json: Json = False,
) -> None:
    """Judge a model by the rows of a table: errors of numbers; accuracy, recall, ranking and calibration of classes.

    Columns are coded as the model has it. Rows that the model was fitted to flatter it: give rows it has not seen.
    """
    from adaline.cli.score import run_score

    run_score(model, data, reading, target, weight, json)


@command(
    "What each column does to the answer.",
    "adaline effects mass.adaline penguins",
    "adaline effects ill.adaline patients.csv --columns age,sex --at mean",
)
def effects(
    model: Model,
    data: Data,
    reading: Reading,
    columns: Annotated[str | None, option("--columns", metavar="A,B", help="Which columns; without it, all.")] = None,
    at: Annotated[
        Literal["average", "mean"],
        typer.Option("--at", metavar="WHERE", help="average over the rows, or at their mean."),
    ] = "average",
    level: Annotated[float, typer.Option("--level", metavar="P", help="Coverage of the intervals.")] = 0.95,
    json: Json = False,
) -> None:
    """Show what each column does to the mean of the answer: slopes of numbers, contrasts of levels, with intervals.

    The mean is that of the target, or the probability of a class, whatever the link and the coding in between.
    """
    from adaline.cli.effects import run_effects

    run_effects(model, data, reading, listed(columns), at, level, json)


@command("Show what a model file holds.", "adaline summary delay.adaline")
def summary(model: Model, json: Json = False) -> None:
    """Show what a model file holds: where it comes from, its coefficients, and its certificate."""
    from adaline.cli.summary import run_summary

    run_summary(model, json)


@command(
    "Coefficients of models side by side.",
    "adaline table small.adaline large.adaline --stars",
    "adaline table small.adaline large.adaline -o table.tex",
)
def table(
    models: Models,
    stars: Annotated[bool, option("--stars", help="Mark p < 0.05, 0.01 and 0.001 by stars.")] = False,
    below: Annotated[
        Literal["std-error", "statistic", "p-value", "interval"],
        typer.Option("--below", metavar="WHAT", help="Below an estimate: std-error, statistic, p-value or interval."),
    ] = "std-error",
    form: Annotated[
        Literal["text", "html", "markdown", "latex"],
        typer.Option("--format", metavar="FORMAT", help="On stdout: text, html, markdown or latex."),
    ] = "text",
    output: Annotated[
        Path | None, option("--output", "-o", metavar="FILE", help="A .txt, .html, .md or .tex file.")
    ] = None,
    json: Json = False,
) -> None:
    """Set the coefficients of saved models side by side, with what is known of how well they fit."""
    from adaline.cli.table import run_table

    run_table(models, stars, below, form, output, json)


@command("Take more rows into a model.", "adaline update delay.adaline tomorrow.csv", unharmed="the model is as it was")
def update(
    model: Model,
    data: Data,
    reading: Reading,
    target: Target = None,
    weight: Weight = None,
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="FILE", help="Another file; without it, MODEL itself."),
    ] = None,
    json: Json = False,
) -> None:
    """Take more rows into a model: as if it had been fitted to all of them. Columns are coded as the model has it."""
    from adaline.cli.update import run_update

    run_update(model, data, reading, target, weight, output, json)


@command(
    "Serve models over HTTP, and go on learning.",
    "adaline serve mass.adaline",
    "adaline serve mass.adaline --learn --journal mass.journal --token-file tokens.txt",
    "adaline serve models/ --port 0",
    unharmed="what was acknowledged is in the journal",
)
def serve(
    models: Annotated[
        list[Path],
        typer.Argument(metavar="MODEL...", help="Model files, or folders of them.", show_default=False),
    ],
    learn: Annotated[
        bool, option("--learn", help="Take rows to learn from; they are on disk before the answer.")
    ] = False,
    port: Annotated[
        int, option("--port", metavar="N", help="Port; 0 for any that is free (8000).", min=0, max=65535)
    ] = 8000,
    host: Annotated[str, option("--host", metavar="NAME", help="Address to listen on (127.0.0.1).")] = "127.0.0.1",
    journal: Annotated[
        Path | None,
        option("--journal", metavar="DIR", help="Folder of journal and snapshots (NAME.journal beside the model)."),
    ] = None,
    token_file: Annotated[
        Path | None,
        option("--token-file", metavar="FILE", help="Lines 'read TOKEN', 'learn TOKEN' or 'admin TOKEN'."),
    ] = None,
    challenger: Annotated[
        list[Path] | None,
        option("--challenger", metavar="MODEL", help="A model that learns the same rows, to compare; may be repeated."),
    ] = None,
    workers: Annotated[int, option("--workers", metavar="N", help="Processes that predict (1).", min=1, max=64)] = 1,
    most_bytes: Annotated[int, option("--most-bytes", metavar="N", help="Bytes of a request (16777216).", min=1)] = 2
    ** 24,
    certificate: Annotated[Path | None, option("--tls-certificate", metavar="FILE", help="For https.")] = None,
    key: Annotated[Path | None, option("--tls-key", metavar="FILE", help="The key of the certificate.")] = None,
) -> None:
    """Serve models over HTTP: predictions, and learning that survives a crash.

    The first line on stdout has the address. SIGTERM ends the service once all that was begun is answered and learned.
    """
    from adaline.cli.serve import run_serve
    from adaline.serve.requests import Limits
    from adaline.serve.server import Address

    address = Address(host, port, certificate, key)
    run_serve(models, address, learn, journal, token_file, challenger or [], Limits(body=most_bytes), workers)


@command("Join models that were fitted apart.", "adaline merge north.adaline south.adaline -o both.adaline")
def merge(
    models: Models,
    output: Annotated[Path, option("--output", "-o", metavar="FILE", help="Where to save the result.")],
    json: Json = False,
) -> None:
    """Join models that were fitted apart: as if one had been fitted to the rows of all."""
    from adaline.cli.merge import run_merge

    run_merge(models, output, json)


@command(
    "Learn from a pipe, row after row.",
    "tail -f log.jsonl | adaline learn model.adaline - --every 1000",
    "adaline learn model.adaline - --journal model.journal < today.csv",
    unharmed="what was learned until then is saved",
)
def learn(
    model: Model,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="- for standard input, or a file of JSON lines or CSV.", show_default=False
        ),
    ],
    every: Annotated[
        int,
        option("--every", metavar="N", help="Rows after which errors are printed and the model saved (1000).", min=1),
    ] = 1000,
    journal: Annotated[
        Path | None,
        option("--journal", metavar="DIR", help="Folder where rows are kept before they are learned, with snapshots."),
    ] = None,
    form: Annotated[
        Literal["jsonl", "csv"] | None,
        option("--format", metavar="FORMAT", help="jsonl or csv; without it, by the first line."),
    ] = None,
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="FILE", help="Another file; without it, MODEL itself."),
    ] = None,
    json: Json = False,
) -> None:
    """Learn rows as they come, each predicted before it is learned: the progressive error is printed on stderr.

    Lines that cannot be learned are left out and named. At the end of the rows, on Ctrl-C and when it is terminated,
    what was read is learned and the model saved. With a journal, what was interrupted goes on where it was: the model
    is that of the journal, whatever MODEL holds.
    """
    from adaline.cli.learn import run_learn

    run_learn(model, data, every, journal, form, output, json)


@command(
    "Replay, compact or export the rows that a model has learned in service.",
    "adaline journal replay mass.journal -o mass.adaline",
    "adaline journal export mass.journal -o rows.parquet",
    "adaline journal compact mass.journal",
)
def journal(
    action: Annotated[
        Literal["replay", "compact", "export"],
        typer.Argument(
            metavar="ACTION",
            help="replay: save the model with all rows. compact: remove rows that are in every snapshot. export: write "
            "the rows to a .jsonl, .csv or .parquet file.",
            show_default=False,
        ),
    ],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the journal.", show_default=False)],
    model: Annotated[
        Path | None,
        option("--model", metavar="FILE", help="replay: begin with this model; without it, with the last snapshot."),
    ] = None,
    output: Annotated[Path | None, option("--output", "-o", metavar="FILE", help="The file to write.")] = None,
) -> None:
    """Work on the journal of a model while it is not in service (replay and export also while it is)."""
    from adaline.cli.journal import run_journal

    run_journal(action, folder, model, output)


@command("Write a model as ONNX.", "adaline export delay.adaline delay.onnx")
def export(
    model: Model,
    output: Annotated[Path, typer.Argument(metavar="OUT.onnx", help="The file to write.", show_default=False)],
    dtype: Annotated[
        Literal["float64", "float32"],
        typer.Option("--dtype", metavar="TYPE", help="Type of its numbers: float64 or float32."),
    ] = "float64",
) -> None:
    """Write a model as an ONNX file, for other runtimes and languages."""
    from adaline.cli.export import run_export

    run_export(model, output, dtype)


@command("List the systems, or the bundled data sets.")
def systems(
    data: Annotated[bool, typer.Option("--data", help="List the bundled data sets instead.")] = False,
    lectures: Annotated[bool, typer.Option("--lectures", help="Also where the lectures have each system.")] = False,
    json: Json = False,
) -> None:
    """List the systems, or the bundled data sets."""
    from adaline.cli.systems import list_data, list_systems

    if data:
        list_data(json)
    else:
        list_systems(lectures, json)


@command(
    "Watch the systems learn, in the browser.",
    "adaline play",
    "adaline play penguins --target species",
    unharmed="the playground is closed",
)
def play(
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]",
            help="A table whose rows are put on the board, with --target; without it, the board is free.",
            autocompletion=complete_data,
            show_default=False,
        ),
    ] = None,
    target: Target = None,
    port: Annotated[int, typer.Option("--port", metavar="N", help="Where to listen; 0 picks a free port.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    scene: Annotated[
        str | None, option("--scene", metavar="ID", help="The guided scene to open, as perceptron.")
    ] = None,
) -> None:
    """Serve the playground on this machine and open it: the systems of the lectures learn before one's eyes.

    Prints the address of the page on a line of its own. Ctrl-C ends it.
    """
    from adaline.playground.launch import run_until_interrupted

    run_until_interrupted(data, target, port, browser, scene)


@command("Check this installation.", "adaline selftest")
def selftest(json: Json = False) -> None:
    """Check this installation: every native kernel against its reference, answers certified by NIST, what is in use."""
    from adaline.selftest import run_selftest

    failed = run_selftest(json)
    if failed:
        raise RuntimeError(f"{failed} checks of the installation failed")
