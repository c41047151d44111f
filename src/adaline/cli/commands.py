"""The signatures of the commands. Each is implemented in the module of its name, which is imported when it runs."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Literal

import typer

from adaline.cli.app import call, command
from adaline.cli.options import (
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
    complete_data,
    complete_system,
    listed,
    option,
)


@command(
    "Fit a model to a table and save it.",
    "adaline fit penguins --target body_mass_g -o mass.adaline",
    "adaline fit flights.csv -t arr_delay --drop year,flight --dates time_hour",
    "adaline fit penguins -t species --system FisherDiscriminant --json",
    'adaline fit data.csv --formula "log(y) ~ x1 * x2 + C(x3)" -s Ridge --set penalty=1',
    "adaline fit wages.csv -t wage --errors HC3",
    "adaline fit flights.parquet -t arr_delay --features distance --absorb carrier,tailnum --cluster-errors carrier",
    "adaline fit claims.csv -t claims -s GeneralizedLinear --set loss=poisson --offset 'log(years)'",
    "adaline fit clicks.csv -t click -s OnlineLogistic --passes 1 -o clicks.adaline",
    "adaline fit sales.parquet -t sold --by store,item -o coefficients.parquet",
)
def fit(
    options: Options,
    system: SystemName = None,
    settings: Annotated[
        list[str] | None,
        option(
            "--set",
            metavar="KEY=VALUE",
            help="Set a parameter of the model, such as penalty=1; may be repeated. To set a parameter of "
            "a basis (functions of the columns), put basis__ before its name: --set basis=Polynomial --set "
            "basis__degree=3.",
        ),
    ] = None,
    link: Annotated[
        str | None,
        option(
            "--link",
            metavar="NAME",
            help="Link function of GeneralizedLinear or OrdinalRegression, such as log or probit.",
        ),
    ] = None,
    passes: Annotated[
        int | None,
        option(
            "--passes", metavar="N", help="Number of passes over the rows (epochs), for models that learn row by row."
        ),
    ] = None,
    errors: Annotated[
        str | None,
        option(
            "--errors",
            metavar="KIND",
            help="Type of standard errors: HC0 to HC4 (heteroscedasticity-consistent), HAC "
            "(Newey-West), or CR1 to CR3 or wild with --cluster-errors; default: classical.",
        ),
    ] = None,
    cluster_errors: Annotated[
        str | None,
        option(
            "--cluster-errors",
            metavar="A,B",
            help="One or two columns by which to cluster the standard errors (CR3, or the --errors kind).",
        ),
    ] = None,
    by: Annotated[
        str | None,
        option(
            "--by",
            metavar="A,B",
            help="Fit one model to each group of rows that share these columns, and write a row for each coefficient: "
            "CSV, or JSON lines with --json, to stdout, or to the .csv, .tsv or .parquet file of -o.",
        ),
    ] = None,
    prove: Annotated[
        bool,
        option(
            "--prove",
            help="Also print bounds that are proved to contain the exact coefficients; with -o, the proof is saved "
            "beside the model, as .proof, for adaline verify-proof. Takes more passes.",
        ),
    ] = False,
    output: Annotated[
        Path | None, option("--output", "-o", metavar="FILE", help="File to save the model to; default: not saved.")
    ] = None,
    json: Json = False,
) -> None:
    """Fit a model to a table and print its coefficients and certificate; with -o, save it.

    The certificate reports the numerical accuracy of the fit, such as the number of correct digits.
    """
    from adaline.cli.fit import run_fit

    given = [*(settings or []), *([] if link is None else [f"link={link}"])]
    if by is not None:
        from adaline.cli.groups import run_groups

        others = {"--passes": passes, "--errors": errors, "--cluster-errors": cluster_errors, "--prove": prove}
        run_groups(options, system, given, listed(by) or (), output, json, others)
        return
    run_fit(options, system, given, output, json, passes=passes, errors=errors, groups=cluster_errors, prove=prove)


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
            help="A .csv, .tsv or .parquet file, or with --cluster a folder; default: stdout.",
        ),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also write the probability of each class.")] = False,
    interval: Annotated[
        Literal["confidence", "prediction"] | None,
        option(
            "--interval",
            metavar="KIND",
            help="Also write lower and upper limits: confidence (of the mean) or prediction (of a new row).",
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
        bool,
        option("--strict", help="Stop with an error at a row that cannot be predicted; no reason column is written."),
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
    "Compare all suitable models and recommend one.",
    "adaline compare penguins --target species",
    "adaline compare flights.csv -t arr_delay -o flights.html --save best.adaline",
    "adaline compare titanic.csv -t survived --task classification --missing mean",
    unharmed="no report was written",
    hidden=("absorb", "singletons"),
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
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Random seed of the folds and of samples.")] = 0,
    systems: Annotated[
        str | None,
        option(
            "--systems",
            metavar="A,B",
            autocompletion=complete_system,
            help="Models to compare; default: all that suit the target.",
        ),
    ] = None,
    task: Annotated[
        Literal["regression", "classification"] | None,
        option("--task", metavar="KIND", help="regression or classification; default: by the target."),
    ] = None,
    output: Annotated[
        Path | None, option("--output", "-o", metavar="FILE", help="The report; default: report.html.")
    ] = None,
    save: Annotated[
        Path | None,
        option("--save", metavar="FILE", help="Fit the recommended model to all rows and save it to this file."),
    ] = None,
    cost: Annotated[
        str | None,
        option(
            "--cost",
            metavar="fp=A,fn=B",
            help="Costs of false positives and false negatives, to choose the threshold between two classes.",
        ),
    ] = None,
    thorough: Annotated[
        bool, option("--thorough", help="Give every model all its epochs and rows, however long it takes.")
    ] = False,
    json: Annotated[bool, option("--json", help="Print JSON; no report without -o.")] = False,
) -> None:
    """Cross-validate all models that suit the target, recommend one with the reasons, and write a report."""
    from adaline.comparison.drawing import DrawingProcess

    drawn = output is not None or not json
    apart = drawn and call.owns_process and "matplotlib" not in sys.modules and (os.cpu_count() or 1) > 1
    with DrawingProcess() if apart else nullcontext() as drawing:
        from adaline.cli.reading import read_ahead
        from adaline.comparison.open_data import DataRequest

        request = DataRequest.of(**options, shell=True)
        reading = read_ahead(request, task, seed, folds) if systems is None else None

        from adaline.cli.compare import run_compare
        from adaline.comparison.compare import CompareOptions

        words = shlex.join(["adaline", *call.words])
        how = CompareOptions(folds, seed, listed(systems), task, thorough, cost)
        run_compare(request, how, reading, report=output, save=save, as_json=json, words=words, drawing=drawing)


@command(
    "Decide whether a hyperplane separates the classes.",
    "adaline separable penguins --target species",
    "adaline separable breast_cancer -t diagnosis --json",
    hidden=("offset", "absorb", "singletons"),
)
def separable(options: Options, json: Json = False) -> None:
    """Decide whether a hyperplane separates the classes, with a proof that is checked in exact arithmetic."""
    from adaline.cli.separable import run_separable

    run_separable(options, json)


@command(
    "Choose parameters by cross-validation.",
    "adaline select longley -t Employed -s Ridge -p penalty=0.01,0.1,1,10",
    "adaline select penguins -t species -s LogisticRegression -p penalty=0.1,1,10 --rule one-standard-error",
    hidden=("absorb", "singletons"),
)
def select(
    options: Options,
    system: SystemName = None,
    parameters: Annotated[
        list[str] | None,
        option("--parameter", "-p", metavar="KEY=A,B,...", help="Values to choose from; may be repeated."),
    ] = None,
    settings: Annotated[
        list[str] | None, option("--set", metavar="KEY=VALUE", help="A parameter that is kept fixed; may be repeated.")
    ] = None,
    method: Annotated[
        Literal["auto", "loo", "gcv", "folds"],
        typer.Option("--method", metavar="HOW", help="auto, loo (exact leave-one-out), gcv or folds."),
    ] = "auto",
    rule: Annotated[
        Literal["best", "one-standard-error"],
        typer.Option(
            "--rule",
            metavar="RULE",
            help="best, or one-standard-error: the simplest model within one standard error of the best.",
        ),
    ] = "best",
    folds: Annotated[
        int,
        typer.Option("--folds", metavar="N", help="Folds of the cross-validation, where no formula gives the error."),
    ] = 10,
    scoring: Annotated[
        str | None,
        option("--scoring", metavar="NAME", help="The error to minimise, such as log_loss or mean_absolute_error."),
    ] = None,
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="FILE", help="Where to save the model with the chosen parameters."),
    ] = None,
    json: Json = False,
) -> None:
    """Choose parameters of a model by its estimated error on unseen rows, then refit on all rows."""
    from adaline.cli.select import run_select

    how = {"method": method, "rule": rule, "folds": folds, "scoring": scoring}
    run_select(options, system, settings or [], parameters or [], how, output, json)


@command(
    "Evaluate a model on rows with known targets.",
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
    """Evaluate a model on rows with known targets: errors of a regression; accuracy, recall, AUC and calibration of a
    classifier.

    Rows without a target, and rows that the model cannot predict, are left out with a note. Scores on training rows
    are optimistic: use rows that the model has not seen.
    """
    from adaline.cli.score import run_score

    run_score(model, data, reading, target, weight, json)


@command(
    "Show the effect of each column on the mean.",
    "adaline effects mass.adaline penguins",
    "adaline effects ill.adaline patients.csv --columns age,sex --at mean",
)
def effects(
    model: Model,
    data: Data,
    reading: Reading,
    columns: Annotated[str | None, option("--columns", metavar="A,B", help="Columns to show; default: all.")] = None,
    at: Annotated[
        Literal["average", "mean"],
        typer.Option("--at", metavar="WHERE", help="average (over the rows) or mean (at the mean row)."),
    ] = "average",
    level: Annotated[float, typer.Option("--level", metavar="P", help="Coverage of the intervals.")] = 0.95,
    json: Json = False,
) -> None:
    """Show the effect of each column on the predicted mean: slopes of numbers, contrasts of levels, with intervals.

    Effects are on the scale of the target, or of the probability of a class, whatever the link function.
    """
    from adaline.cli.effects import run_effects

    run_effects(model, data, reading, listed(columns), at, level, json)


@command("Show a saved model.", "adaline summary delay.adaline")
def summary(model: Model, json: Json = False) -> None:
    """Show a saved model: its origin, coefficients and certificate."""
    from adaline.cli.summary import run_summary

    run_summary(model, json)


@command(
    "Show the coefficients of several models side by side.",
    "adaline table small.adaline large.adaline --stars",
    "adaline table small.adaline large.adaline -o table.tex",
)
def table(
    models: Models,
    stars: Annotated[bool, option("--stars", help="Mark p < 0.05, 0.01 and 0.001 with stars.")] = False,
    below: Annotated[
        Literal["std-error", "statistic", "p-value", "interval"],
        typer.Option(
            "--below",
            metavar="WHAT",
            help="What to show below each estimate: std-error, statistic, p-value or interval.",
        ),
    ] = "std-error",
    form: Annotated[
        Literal["text", "html", "markdown", "latex"],
        typer.Option("--format", metavar="FORMAT", help="Format on stdout: text, html, markdown or latex."),
    ] = "text",
    output: Annotated[
        Path | None, option("--output", "-o", metavar="FILE", help="A .txt, .html, .md or .tex file.")
    ] = None,
    json: Json = False,
) -> None:
    """Show the coefficients of saved models side by side, with their measures of fit."""
    from adaline.cli.table import run_table

    run_table(models, stars, below, form, output, json)


@command(
    "Update a model with more rows.", "adaline update delay.adaline tomorrow.csv", unharmed="the model is as it was"
)
def update(
    model: Model,
    data: Data,
    reading: Reading,
    target: Target = None,
    weight: Weight = None,
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="FILE", help="Where to save the model; default: MODEL itself."),
    ] = None,
    strict: Annotated[
        bool, option("--strict", help="Stop with an error at a row that cannot be learned from.")
    ] = False,
    new_classes: Annotated[
        bool, option("--new-classes", help="Add labels that the model does not know as new classes.")
    ] = False,
    json: Json = False,
) -> None:
    """Update a model with more rows; the result equals a fit to all rows. Columns are coded as in the first fit.

    Rows with missing values that the model does not fill, with levels or labels that it does not know, and with values
    that cannot be read are left out, with a note.
    """
    from adaline.cli.update import run_update

    run_update(model, data, reading, target, weight, output, json, strict, new_classes)


@command(
    "Serve models over HTTP.",
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
        bool, option("--learn", help="Accept rows to learn from; each is on disk before it is acknowledged.")
    ] = False,
    port: Annotated[
        int, option("--port", metavar="N", help="Port; 0 picks a free one (8000).", min=0, max=65535)
    ] = 8000,
    host: Annotated[str, option("--host", metavar="NAME", help="Address to listen on (127.0.0.1).")] = "127.0.0.1",
    journal: Annotated[
        Path | None,
        option(
            "--journal", metavar="DIR", help="Folder of the journal and its snapshots (NAME.journal next to the model)."
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        option("--token-file", metavar="FILE", help="Lines 'read TOKEN', 'learn TOKEN' or 'admin TOKEN'."),
    ] = None,
    challenger: Annotated[
        list[Path] | None,
        option(
            "--challenger", metavar="MODEL", help="A model that learns the same rows for comparison; may be repeated."
        ),
    ] = None,
    workers: Annotated[int, option("--workers", metavar="N", help="Processes that predict (1).", min=1, max=64)] = 1,
    most_bytes: Annotated[
        int, option("--most-bytes", metavar="N", help="Largest size of a request, in bytes (16777216).", min=1)
    ] = 2**24,
    certificate: Annotated[
        Path | None, option("--tls-certificate", metavar="FILE", help="Certificate for HTTPS.")
    ] = None,
    key: Annotated[Path | None, option("--tls-key", metavar="FILE", help="Private key of the certificate.")] = None,
) -> None:
    """Serve models over HTTP: predictions, and learning that survives a crash.

    The first line on stdout is the address. SIGTERM stops the server after pending requests have been answered and
    learned.
    """
    from adaline.cli.serve import run_serve
    from adaline.serve.requests import Limits
    from adaline.serve.server import Address

    address = Address(host, port, certificate, key)
    run_serve(models, address, learn, journal, token_file, challenger or [], Limits(body=most_bytes), workers)


@command(
    "Merge models that were fitted to different rows.", "adaline merge north.adaline south.adaline -o both.adaline"
)
def merge(
    models: Models,
    output: Annotated[Path, option("--output", "-o", metavar="FILE", help="Where to save the result.")],
    json: Json = False,
) -> None:
    """Merge models that were fitted to different rows; the result equals a fit to all rows."""
    from adaline.cli.merge import run_merge

    run_merge(models, output, json)


@command(
    "Learn from a stream of rows.",
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
        option("--every", metavar="N", help="Print the error and save the model after every N rows (1000).", min=1),
    ] = 1000,
    journal: Annotated[
        Path | None,
        option(
            "--journal",
            metavar="DIR",
            help="Folder to which rows are written before the model learns from them, with snapshots.",
        ),
    ] = None,
    form: Annotated[
        Literal["jsonl", "csv"] | None,
        option("--format", metavar="FORMAT", help="jsonl or csv; default: detected from the first line."),
    ] = None,
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="FILE", help="Where to save the model; default: MODEL itself."),
    ] = None,
    json: Json = False,
) -> None:
    """Learn from rows as they arrive, each predicted before it is used; the progressive error is printed on stderr.

    The error is the mean squared error of numbers or the error rate of classes, over all rows of the stream so far and
    over about the last 1,000; since each row is predicted before the model learns from it, this estimates the
    error on unseen rows.

    Lines that the model cannot learn from are skipped and reported. At the end of the stream, on Ctrl-C and on
    SIGTERM, the rows read so far are used and the model is saved. With a journal, an interrupted run resumes with the
    model of the journal, and MODEL is ignored.
    """
    from adaline.cli.learn import run_learn

    run_learn(model, data, every, journal, form, output, json)


@command(
    "Replay, compact or export the journal of a served model.",
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
        option("--model", metavar="FILE", help="replay: the model to start from; default: the last snapshot."),
    ] = None,
    output: Annotated[Path | None, option("--output", "-o", metavar="FILE", help="The file to write.")] = None,
) -> None:
    """Replay, compact or export the journal of a model. Only compact requires the server to be stopped."""
    from adaline.cli.journal import run_journal

    run_journal(action, folder, model, output)


@command(
    "Write a model in SQL, C, JavaScript, Python or ONNX.",
    "adaline export delay.adaline delay.sql --dialect postgres --table flights",
    "adaline export delay.adaline delay.h",
    "adaline export delay.adaline delay.onnx",
)
def export(
    model: Model,
    output: Annotated[
        Path | None,
        typer.Argument(
            metavar="OUT",
            help="The file to write: .sql, .h, .js, .py or .onnx; default: the text is printed.",
            show_default=False,
        ),
    ] = None,
    to: Annotated[
        Literal["sql", "c", "javascript", "python", "onnx"] | None,
        option("--to", metavar="LANGUAGE", help="sql, c, javascript, python or onnx; default: by the ending of OUT."),
    ] = None,
    dialect: Annotated[
        Literal["duckdb", "postgres", "sqlite", "spark", "bigquery"],
        typer.Option("--dialect", metavar="SQL", help="Of SQL: duckdb, postgres, sqlite, spark or bigquery."),
    ] = "duckdb",
    table: Annotated[
        str,
        typer.Option("--table", metavar="NAME", help="Of SQL: the table that the SELECT reads, as in sales.orders."),
    ] = "t",
    keep: Annotated[
        str | None, option("--keep", metavar="A,B,...", help="Of SQL: columns to select as they are, such as a key.")
    ] = None,
    outputs: Annotated[
        str | None,
        option(
            "--outputs",
            metavar="A,B,...",
            help="Which of prediction, score and probability; default: the prediction in SQL, all elsewhere.",
        ),
    ] = None,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="Of C: the beginning of all names in the header.")
    ] = "model",
    dtype: Annotated[
        Literal["float64", "float32"],
        typer.Option("--dtype", metavar="TYPE", help="Of ONNX: the type of the numbers, float64 or float32."),
    ] = "float64",
) -> None:
    """Write the prediction of a model in a language that needs no adaline where it runs.

    The table is read as it is: categories, dates, gaps and formulas are part of the text. What `adaline predict` cannot
    predict is NULL in SQL, NaN in C, null in JavaScript and None in Python. ONNX takes the columns of numbers that the
    table becomes.
    """
    from adaline.cli.export import run_export

    run_export(model, output, to, dtype, dialect=dialect, table=table, keep=keep, outputs=outputs, name=name)


@command("Write a model card.", "adaline card delay.adaline -o delay.md")
def card(
    model: Model,
    output: Annotated[
        Path | None, option("--output", "-o", metavar="FILE", help="A .md or .html file; default: Markdown is printed.")
    ] = None,
) -> None:
    """Write what a model knows of itself on one page: data, coefficients, certificate and findings.

    Intended use and risks are left to be filled in.
    """
    from adaline.cli.export import run_card

    run_card(model, output)


@command("List the models (systems), or the bundled data sets.")
def systems(
    data: Annotated[bool, typer.Option("--data", help="List the bundled data sets instead.")] = False,
    lectures: Annotated[
        bool, typer.Option("--lectures", help="Also show where the lectures describe each model.")
    ] = False,
    json: Json = False,
) -> None:
    """List the models (systems), or the bundled data sets."""
    from adaline.cli.systems import list_data, list_systems

    if data:
        list_data(json)
    else:
        list_systems(lectures, json)


@command(
    "Open the playground in the browser.",
    "adaline play",
    "adaline play penguins --target species",
    unharmed="the playground is closed",
)
def play(
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]",
            help="A table to start with, together with --target; default: an empty board.",
            autocompletion=complete_data,
            show_default=False,
        ),
    ] = None,
    target: Target = None,
    port: Annotated[int, typer.Option("--port", metavar="N", help="Port; 0 picks a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    scene: Annotated[
        str | None, option("--scene", metavar="ID", help="The guided scene to open, such as perceptron.")
    ] = None,
) -> None:
    """Serve the playground on this machine and open it in the browser, to watch the models learn.

    The address of the page is printed on a line of its own. Ctrl-C stops the server.
    """
    from adaline.playground.launch import run_until_interrupted

    run_until_interrupted(data, target, port, browser, scene)


@command(
    "Check a proof of exact coefficients.",
    "adaline fit longley.csv -t employed --prove -o longley.adaline",
    "adaline verify-proof longley.proof longley.csv",
)
def verify_proof(
    proof: Annotated[Path, typer.Argument(metavar="PROOF", help="A file that fit --prove wrote, or enclosure.save.")],
    data: Data,
    json: Json = False,
) -> None:
    """Check that the bounds of a proof contain the exact coefficients for the rows of a table.

    The check computes with rational numbers and intervals of them, and shares no code with the fit; comma-separated
    files are read by the checker too, other tables as fit reads them. It takes minutes for a million rows. A proof that
    is not confirmed ends with exit code 2.
    """
    from adaline.cli.verify_proof import run_verify_proof

    run_verify_proof(proof, data, json)


@command("Check this installation.", "adaline selftest")
def selftest(json: Json = False) -> None:
    """Check this installation: native kernels against their references, NIST's certified results, optional packages."""
    from adaline.selftest import run_selftest

    failed = run_selftest(json)
    if failed:
        raise RuntimeError(f"{failed} checks of the installation failed")
