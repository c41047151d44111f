"""`adaline score`: evaluates a saved model on the rows of a table with known targets.

Rows without a target, and rows that the model cannot predict, are left out with a note.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline import storage
from adaline.arrays import Array, DataLike
from adaline.cli.exit import note
from adaline.cli.open import (
    opened_pipe,
    readable_rows_for,
    reading_for,
    rows_for,
    shown_counts,
    sparse_rows_for,
    unseen_levels,
    with_notes,
)
from adaline.cli.output import print_facts, print_json, say, show
from adaline.cli.summary import model_label
from adaline.coding.formula import targets_of
from adaline.comparison.classes import decisions, recalls
from adaline.errors import InvalidData, InvalidParameter
from adaline.estimator import is_classifier, is_regressor
from adaline.fitted import AnyModel, gives_decisions, gives_probabilities, has_classes
from adaline.input.coded import coded, coding_of
from adaline.results import some
from adaline.selection.measures import SMALLEST
from adaline.selection.probabilities import reliability
from adaline.sources import Source, TableSource
from adaline.sources.tables.altered import with_columns_of, without_values
from adaline.sources.tables.coding import count_gaps, required_columns
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.pipes import pipe_title
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.rows import TableRows
from adaline.sources.tables.source import coded_by
from adaline.sources.tables.sparse_files import sparse_suffix
from adaline.sources.tables.spec import check_needed
from adaline.storage.pipelines import is_pipeline
from adaline.systems.generalized_linear import GeneralizedLinear
from adaline.wording import counted, number, part_of, percentage

MOST_CLASSES = 40  # classes that are listed; --json lists all


def run_score(
    path: Path, data: str, reading: FileOptions, target: str | None, weight: str | None, as_json: bool
) -> None:
    """Evaluate a saved model on the rows of a table, and print the result."""
    model = storage.load(path)
    if is_pipeline(model) or not (is_classifier(model) or is_regressor(model)):
        raise InvalidParameter(
            f"{type(model).__name__} predicts no target to be compared with: use adaline predict for its output"
        )
    rows = _rows_to_judge(model, opened_pipe(data), reading, target, weight)
    if rows.left_out:
        note(f"{part_of(rows.left_out, len(rows.y) + rows.left_out)} left out: {shown_counts(rows.reasons)}")
    if has_classes(model):
        _check_labels(model.classes_, rows)
    found = (judge_classes if has_classes(model) else judge_numbers)(model, rows)
    if as_json:
        print_json({"system": type(model).__name__, "rows": len(rows.y), "left_out": rows.left_out, **found})
        return
    say(f"{model_label(model)}: {', '.join(rows.targets)} from {rows.title}, {counted(len(rows.y))}", style="bold")
    say()
    _show(found)


@dataclass(frozen=True)
class RowsToJudge:
    """Rows in the columns of a model, with their targets and weights.

    Parameters
    ----------
    source : the rows.
    y, weight : (n,) or (n, K) targets, and (n,) weights.
    targets : the names of the targets.
    title : what the rows are called.
    left_out : how many rows were left out, because they have no target or the model cannot predict them.
    reasons : how many rows have each of the reasons.
    """

    source: Source
    y: NDArray[Any]
    weight: Array
    targets: tuple[str, ...]
    title: str
    left_out: int = 0
    reasons: dict[str, int] = field(default_factory=dict)


def _rows_to_judge(
    model: AnyModel, data: DataLike, reading: FileOptions, target: str | None, weight: str | None
) -> RowsToJudge:
    """Return the rows of a table that have a target and can be predicted, or those of a file of sparse rows."""
    if sparse_suffix(data) is not None:
        rows = sparse_rows_for(model, data, reading, target, weight)
        return RowsToJudge(rows, rows.read_targets()[:, 0], _weights(rows), ("label",), pipe_title(data))
    relation = with_notes(Relation(data, reading_for(model, reading)))
    coding, classes = coding_of(model), getattr(model, "classes_", None)
    given, unseen = rows_for(model, relation, target, weight), dict[str, list[Any]]()
    readable = readable_rows_for(model, relation, given)
    known = readable.relation
    if coding is None:
        source = coded(model, TableSource(TableRows(relation), replace(given.spec, missing="drop")))
        assert isinstance(source, TableSource)
    else:
        coding = replace(coding, missing="drop" if coding.missing == "error" else coding.missing)
        text_target = classes is not None and classes.dtype.kind in "UO"
        targets = given.target_names or targets_of(coding.target or "")
        check_needed(relation, coding)
        known = with_columns_of(known, coding, targets if text_target else ())
        unseen = unseen_levels(known, coding)
        kept = without_values(known, unseen)
        if any(unseen.values()) and kept.count("TRUE") == 0:
            shown = ", ".join(name for name, levels in unseen.items() if levels)
            raise InvalidData(f"the model can predict no row of {relation.title}: unseen levels of {shown}")
        spec = replace(given.spec, missing=coding.missing)
        source = coded_by(TableSource(TableRows(kept), spec), coding, text_target=text_target)
    y, total = source.target_values(), relation.count("TRUE")
    if classes is not None and y.dtype.kind == "f" and (y == np.floor(y)).all():
        y = y.astype(np.int64)  # labels as the table has them
    reasons: dict[str, int] = {}
    if len(y) < total:
        needed = () if source.spec.missing != "drop" else source.coding.required
        gaps = count_gaps(known, required_columns(known, source.spec, source.target_names, needed))
        reasons = {f"missing value of {name}": count for name, count in gaps.items() if count}
        reasons |= readable.counts()
        reasons |= {
            f"unseen level of {name}": known.count("TRUE") - without_values(known, {name: levels}).count("TRUE")
            for name, levels in unseen.items()
            if levels
        }
    return RowsToJudge(source, y, _weights(source), tuple(source.target_names), relation.title, total - len(y), reasons)


def _weights(source: Source) -> Array:
    """Return the weights of the rows, (n,); ones where they have none."""
    found = source.read_weights()
    return np.ones(source.count_rows()) if found is None else found


def _check_labels(classes: NDArray[Any], rows: RowsToJudge) -> None:
    """Report the labels that are unknown to the model; refuse a table that has no others."""
    unknown = ~np.isin(rows.y, classes)
    if not unknown.any():
        return
    labels = np.unique(rows.y[unknown]).tolist()
    new, known = (some([repr(label) for label in one]) for one in (labels, classes.tolist()))
    if unknown.all():
        same = {str(one).casefold() for one in labels} <= {str(one).casefold() for one in classes.tolist()}
        found = "differ from the classes of the model only in capitals" if same else "are not classes of the model"
        raise InvalidData(
            f"{rows.title}: the labels of {rows.targets[0]!r}, {new}, {found}, {known}. Write them as in the fit, or "
            "name another target with --target"
        )
    note(
        f"{part_of(int(unknown.sum()), len(rows.y), 'have')} labels unknown to the model, {new}, and count as errors. "
        f"Its classes are {known}"
    )


def judge_numbers(model: AnyModel, rows: RowsToJudge) -> dict[str, Any]:
    """Return R^2, errors and bias of the predictions of each target, as plain values.

    Successes and failures are judged as shares, weighted by the trials, as `GeneralizedLinear.score` does.
    """
    y, weight, targets = rows.y, rows.weight, list(rows.targets)
    predicted = np.asarray(model.predict(rows.source), dtype=np.float64).reshape(len(y), -1)
    if np.asarray(y).dtype.kind not in "buif":
        raise InvalidData(
            f"{type(model).__name__} predicts numbers, but the target {targets[0]!r} of these rows holds texts; if the "
            "target is another column, name it with --target"
        )
    true = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    out: list[dict[str, Any]] = []
    losses = model._row_losses() if isinstance(model, GeneralizedLinear) else []
    if losses and losses[0].linked is not None and true.shape[1] > predicted.shape[1]:
        trials, targets = true.sum(axis=1), [f"cbind({', '.join(targets)})"]
        true, weight = true[:, :1] / np.where(trials > 0, trials, 1.0)[:, None], weight * trials
    for k, name in enumerate(targets):
        error = predicted[:, k] - true[:, k]
        away = true[:, k] - np.average(true[:, k], weights=weight)
        spread = float(weight @ away**2)
        out.append(
            {
                "target": name,
                "r_squared": 1 - float(weight @ error**2) / spread if spread > 0 else np.nan,
                "rmse": float(np.sqrt(np.average(error**2, weights=weight))),
                "mae": float(np.average(np.abs(error), weights=weight)),
                "bias": float(np.average(error, weights=weight)),
            }
        )
        if losses and (linked := losses[min(k, len(losses) - 1)].linked) is not None:
            deviance = linked.family.deviance(predicted[:, k : k + 1], true[:, k : k + 1])
            out[-1]["mean_deviance"] = float(np.average(deviance[:, 0], weights=weight))
    return {"targets": out}


def judge_classes(model: AnyModel, rows: RowsToJudge) -> dict[str, Any]:
    """Return accuracy, recall, ranking and calibration of a classifier, as plain values; new labels count as wrong."""
    source, y, weight = rows.source, rows.y, rows.weight
    order = np.argsort(model.classes_)
    known, labels = model.classes_[order], np.unique(y)
    predicted = model.predict(source)
    own = np.searchsorted(known, y).clip(max=len(known) - 1)
    is_known = known[own] == y
    given = np.asarray(model.predict_proba(source))[:, order] if gives_probabilities(model) else None
    scores = given
    if scores is None and gives_decisions(model):
        scores = decisions(model, source)[:, order]
    if scores is not None:
        column = np.searchsorted(known, labels).clip(max=len(known) - 1)
        scores = np.where(known[column] == labels, scores[:, column], 0.0)  # unknown ones: no ranking
    out: dict[str, Any] = {"accuracy": float(np.average(predicted == y, weights=weight))}
    if given is not None:
        right = given[np.arange(len(y)), own] * is_known
        truth = (known == y[:, None]) & is_known[:, None]
        out["log_loss"] = float(np.average(-np.log(np.clip(right, SMALLEST, 1.0)), weights=weight))
        squares = ((given - truth) ** 2).sum(axis=1) + ~is_known  # of an unknown label the probability is zero
        out["brier"] = float(np.average(squares, weights=weight)) / (1 + (len(known) == 2))
    each = recalls(y, predicted, scores if len(labels) > 1 else None, weight)
    if len(labels) == 2 and scores is not None:
        out["auc"], out["average_precision"] = each[-1].auc, each[-1].average_precision
    out["classes"] = [one._asdict() for one in each]
    if given is not None and len(known) == 2 and is_known.all():
        found = reliability(given[:, 1], y == known[1], weight)
        out["calibration"] = [
            dict(zip(("probability", "share", "lower", "upper"), map(float, row), strict=True))
            for row in zip(found.probability, found.share, found.lower, found.upper, strict=True)
        ]
    return out


FIGURES = {
    "accuracy": "accuracy",
    "auc": "AUC",
    "average_precision": "average precision",
    "log_loss": "log loss",
    "brier": "Brier score",
}


def _show(found: dict[str, Any]) -> None:
    if "targets" in found:
        heads = {
            "r_squared": "R²",
            "rmse": "RMSE",
            "mae": "MAE",
            "bias": "mean error",
            "mean_deviance": "mean deviance",
        }
        heads = {key: head for key, head in heads.items() if key in found["targets"][0]}
        rows = [[one["target"], *(number(one[key]) for key in heads)] for one in found["targets"]]
        show(["", *heads.values()], rows)
        return
    figures = {name: found[key] for key, name in FIGURES.items() if key in found}
    print_facts([(name, percentage(value) if name == "accuracy" else number(value)) for name, value in figures.items()])
    say()
    each = found["classes"]
    rows = [
        [one["label"], f"{one['rows']:,}", _with_ends(one, "recall"), percentage(one["precision"]), number(one["auc"])]
        for one in each[:MOST_CLASSES]
    ]
    show(["class", "rows", "recall (95%)", "precision", "AUC"], rows)
    if len(each) > MOST_CLASSES:
        say(f"... and {len(each) - MOST_CLASSES} more: --json lists them")
    if found.get("calibration"):
        say()
        rows = [[percentage(one["probability"]), _with_ends(one, "share")] for one in found["calibration"]]
        show([f"probability of {each[-1]['label']}", "observed (95%)"], rows)


def _with_ends(one: dict[str, Any], key: str) -> str:
    """Return a share with its interval."""
    return f"{percentage(one[key])} ({percentage(one['lower'])} to {percentage(one['upper'])})"
