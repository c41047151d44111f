"""`adaline fit`: fits a system to a table, shows it, and saves it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from adaline import storage
from adaline.cli.exit import MODEL_START, check_output, note
from adaline.cli.open import FOR_NUMBERS, chosen_system, is_penalised, open_with_notes
from adaline.cli.options import Options, listed
from adaline.cli.output import print_json, say, show
from adaline.cli.summary import MOST_SHOWN, described, explain, model_label
from adaline.comparison.open_data import MOST_WHOLE_LABELS, OpenedData
from adaline.enclosures.enclosure import Enclosure
from adaline.errors import InvalidParameter, MissingValues
from adaline.fitted import AnyModel, AnySystem, has_classes, has_enclosure, has_progressive_loss
from adaline.inference.clusters import CLUSTERED
from adaline.inference.summary import CoefficientTable
from adaline.input.coded import as_coded
from adaline.scans import Tally
from adaline.solvers.epochs.progressive import reported
from adaline.sources import TableSource
from adaline.sources.tables.open_table import is_address
from adaline.systems import SYSTEMS
from adaline.wording import counted, file_name, number, percentage

MOST_CLUSTERINGS = 2  # columns by which errors are clustered


def run_fit(
    options: Options,
    system: str | None,
    settings: Sequence[str],
    output: Path | None,
    as_json: bool,
    *,
    passes: int | None = None,
    errors: str | None = None,
    groups: str | None = None,
    prove: bool = False,
) -> None:
    """Fit a system to a table and save it; standard errors are those of a kind, or clustered by columns (groups).

    With `prove`, also show bounds that contain the exact coefficients.
    """
    check_output(output, replaces=MODEL_START)
    if options["cluster"] is not None and not is_address(options["cluster"]):
        given = options["cluster"]
        raise InvalidParameter(
            f"--cluster takes the address of a cluster, such as tcp://host:8786, not {given!r}; "
            f"to cluster the standard errors by a column, write --cluster-errors {given}"
        )
    clusters = listed(groups) or ()
    if len(clusters) > MOST_CLUSTERINGS:
        raise InvalidParameter(f"--cluster-errors takes one or two columns, not {len(clusters)}")
    if clusters and options["features"] is None and options["formula"] is None:
        note(f"{', '.join(clusters)} only clusters the errors: name it in --features to use it as a column too")
    options = {**options, "aside": dict.fromkeys(clusters, "cluster-errors")}
    penalised = is_penalised(system, settings)
    opened = open_with_notes(options, trusting=True, named=system is not None, penalised=penalised)
    model = chosen_system(opened, system, settings, passes)
    check_error_option(model, errors, groups)
    if prove and not has_enclosure(model):
        provers = [name for name, kind in SYSTEMS.items() if has_enclosure(kind)]
        raise InvalidParameter(f"--prove: {type(model).__name__} proves no bounds; {', '.join(provers)} do")
    with nullcontext() if as_json else reported(ProgressiveTable()):
        try:
            model.fit(opened.source)
        except MissingValues:
            if opened.rows:
                raise
            opened = open_with_notes(options, penalised=penalised)  # with a pass that counts them
            model.fit(opened.source)
    summary = summary_with(model, opened.source, errors, groups)
    enclosure = model.enclose(opened.source) if prove else None
    _note_amounts(model, opened)
    training = None if has_progressive_loss(model) else _training_accuracy(model, opened)
    if output is not None:
        storage.save(model, output)
    proof = None
    if output is not None and enclosure is not None and enclosure.proved:
        proof = _saved_proof(enclosure, output.with_suffix(".proof"))
    if as_json:
        saved = None if output is None else str(output)
        known = {"left_out": opened.left_out, "gaps": opened.gaps, "training": training, "saved": saved}
        if enclosure is not None:
            known["enclosure"] = {**enclosure.to_dict(), "proof": None if proof is None else str(proof)}
        print_json({**described(model, summary), **known})
        return
    rows = opened.source.count_rows()
    gaps = f" ({opened.gaps})" if opened.gaps else ""
    say(f"{model_label(model)}: {opened.target} from {opened.request.title}, {counted(rows)}{gaps}", style="bold")
    say()
    if training is not None:
        _show_training(training)
        say()
    elif has_progressive_loss(model):
        say(f"progressive loss: {number(model.progressive_loss_)}, the mean loss on each row before learning from it")
        say()
    explain(model, MOST_SHOWN, f": adaline summary {output}" if output is not None else "", summary)
    if enclosure is not None:
        say()
        say(str(enclosure))
    say()
    say("not saved: add -o model.adaline to keep it" if output is None else f"saved: {file_name(output)}")
    if proof is not None:
        say(f"proof: {file_name(proof)}")
    if output is not None and summary is not None:
        kind, own = (found.to_dict()["errors"] for found in (summary, model.summary()))
        if kind != own:
            say(f"{kind} errors are not saved with the model: adaline summary shows {own} errors")


def _saved_proof(enclosure: Enclosure, path: Path) -> Path | None:
    """Save a proof, and return the file; None, with a note, where proofs are not written for such columns."""
    try:
        enclosure.save(path)
    except InvalidParameter as error:
        note(f"no proof was saved: {error}")
        return None
    return path


class ProgressiveTable:
    """Prints the progressive loss on stderr: the mean over all rows so far, and since the previous line."""

    def __init__(self) -> None:
        self.weight, self.loss = 0.0, 0.0

    def __call__(self, rows: int, tally: Tally) -> None:
        """Print a line, below a heading if it is the first."""
        if rows == 1:
            self.weight, self.loss = 0.0, 0.0
            print(f"{'rows':>14}  {'average loss':>12}  {'since last':>12}", file=sys.stderr)
        since = (tally.loss - self.loss) / max(tally.weight - self.weight, sys.float_info.min)
        print(f"{rows:>14,}  {tally.mean_loss:>12.6f}  {since:>12.6f}", file=sys.stderr, flush=True)
        self.weight, self.loss = tally.weight, tally.loss


def check_error_option(model: AnyModel, errors: str | None, groups: str | None) -> None:
    """Refuse standard errors that the system does not have."""
    if errors is None and groups is None:
        return
    if groups is not None and errors is not None and errors not in CLUSTERED:
        raise InvalidParameter(
            f"--cluster-errors and --errors {errors} exclude each other: leave out --errors {errors}"
        )
    if errors in CLUSTERED and groups is None:
        raise InvalidParameter(f"--errors {errors} needs the column to cluster by: write --cluster-errors COLUMN")
    if not _takes_errors(type(model)):
        able = [name for name, cls in SYSTEMS.items() if _takes_errors(cls)]
        raise InvalidParameter(
            f"{type(model).__name__} has no choice of standard errors; these have: {', '.join(able)}"
        )


def _takes_errors(system: AnySystem) -> bool:
    return hasattr(system, "default_errors")


def summary_with(
    model: AnyModel, source: TableSource, errors: str | None, groups: str | None
) -> CoefficientTable | None:
    """Return the summary of a model with errors of a kind; None where none was asked for."""
    found: CoefficientTable | None = None
    if groups is not None:
        names = listed(groups) or ()
        found = model.summary(errors=errors or "cluster", X=source, groups=names if len(names) == 2 else groups)
    elif errors is not None:
        takes_rows = errors != "classical" and model.default_errors is not None  # else fit has computed them
        found = model.summary(errors=errors, **({"X": source} if takes_rows else {}))
    return found


def _note_amounts(model: AnyModel, opened: OpenedData) -> None:
    """Note that a classifier was given numbers that look like amounts."""
    classes: Any = getattr(model, "classes_", ())
    if len(classes) > MOST_WHOLE_LABELS and classes.dtype.kind in "iuf":
        note(
            f"{opened.target} has {len(classes):,} different numbers, and each is treated as a class; if they are "
            f"quantities, choose a regression, such as --system {FOR_NUMBERS}"
        )


def _training_accuracy(model: AnyModel, opened: OpenedData) -> dict[str, Any] | None:
    """Return the share of rows that a classifier gets right, in all and by class, among those it was fitted to."""
    if not has_classes(model):
        return None
    classes = model.classes_

    def count_right(block: Any) -> Any:
        index = block.t[:, 0].astype(np.intp)
        weight = np.ones(len(index)) if block.weight is None else block.weight
        hit = model.predict(as_coded(block.x)) == classes[index]
        return np.column_stack([np.bincount(index, w, len(classes)) for w in (weight, weight * hit)])[None]

    total = opened.source.encoded(classes).map(count_right).sum(axis=0)
    each = [
        {"class": label, "rows": weight, "right": hit / weight if weight else np.nan}
        for label, (weight, hit) in zip(classes.tolist(), total.tolist(), strict=True)
    ]
    return {"accuracy": float(total[:, 1].sum() / total[:, 0].sum()), "classes": each}


def _show_training(training: dict[str, Any]) -> None:
    whole = {"class": "all", "rows": sum(one["rows"] for one in training["classes"]), "right": training["accuracy"]}
    shown = [*training["classes"], whole]
    rows = [[str(one["class"]), f"{one['rows']:,.10g}", percentage(one["right"])] for one in shown]
    show(["class", "rows", "predicted right"], rows)
    say()
    say("These are the training rows; adaline compare estimates the error on unseen rows.", style="dim")
