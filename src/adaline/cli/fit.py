"""Fitting a system to a table, going on with one, and joining several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adaline import storage
from adaline.cli.exit import check_output, note
from adaline.cli.open import FOR_NUMBERS, chosen_system, open_data
from adaline.cli.output import print_json, say, show
from adaline.cli.summary import MOST, certify, described, explain, rows_of, share
from adaline.comparison.open_data import Opened, known_as
from adaline.comparison.request import DataRequest
from adaline.comparison.table import MOST_CLASSES
from adaline.errors import InvalidData, InvalidParameter
from adaline.input.coded import CodedRows
from adaline.sources import TableSource
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.spec import TableSpec, read_spec
from adaline.wording import counted


def fit(wanted: DataRequest, system: str | None, settings: Sequence[str], output: Path | None, as_json: bool) -> None:
    """Fit a system to a table, show it, and save it."""
    check_output(output)
    opened = open_data(wanted)
    model = chosen_system(opened, system, settings)
    model.fit(opened.source)
    _note_amounts(model, opened)
    right = _training(model, opened)
    if output is not None:
        storage.save(model, output)
    if as_json:
        training = None if right is None else {"accuracy": right["accuracy"], "classes": right["classes"]}
        saved = None if output is None else str(output)
        left = opened.left_out
        print_json({**described(model), "left_out": left, "training": training, "saved": saved})
        return
    rows = opened.source.count_rows()
    say(f"{_label(model)}: {opened.target} of {known_as(wanted.data)}, {counted(rows)}", style="bold")
    say()
    if right is None:
        explain(model, MOST, f": adaline summary {output}" if output is not None else "")
    else:
        _show_training(right)
        say()
        certify(model.certificate_)
    say()
    if output is None:
        say("not saved: add -o model.adaline to keep it")
    else:
        say(f"saved: {output}")


def update(path: Path, wanted: DataRequest, output: Path | None, as_json: bool) -> None:
    """Take more rows into a saved model and save it again."""
    target = path if output is None else output
    model = storage.load(path)
    check_output(target)
    before = rows_of(model)
    relation = Relation(wanted.data, wanted.table)
    coding = vars(model).get("coding_")
    if wanted.target is None and (coding is None or coding.target is None):
        raise InvalidParameter("the model does not know the name of its target: say --target COLUMN")
    if not hasattr(model, "partial_fit"):
        raise InvalidParameter(f"{type(model).__name__} cannot go on from a saved model; fit all rows anew")
    if wanted.weight is not None and wanted.target is None:
        raise InvalidParameter("--weight goes with --target: name both columns, or neither to use the model's own")
    weight = wanted.weight or (None if coding is None else coding.weight)
    wish = TableSpec() if wanted.target is None else TableSpec(target=wanted.target, weight=weight)
    model.partial_fit(TableSource(relation, read_spec(relation, wish)))
    after = rows_of(model)
    there = relation.count("TRUE")
    if before is not None and after is not None and (gone := there - (after - before)) > 0:
        note(f"{gone:,} of {there:,} rows left out: something is missing in them")
    storage.save(model, target)
    if as_json:
        print_json({**described(model), "rows_before": before, "rows_after": after, "saved": str(target)})
        return
    say(f"{_label(model)}: {_count(before)} before, {_count(after)} after")
    certify(model.certificate_)
    say(f"saved: {target}")


def merge(paths: Sequence[Path], output: Path, as_json: bool) -> None:
    """Join models that were fitted apart: as if one had seen all rows."""
    if len(paths) < 2:
        raise InvalidParameter("merge joins two models or more: adaline merge A B -o C")
    check_output(output)
    model = storage.load(paths[0])
    counts = [rows_of(model)]
    for path in paths[1:]:
        other = storage.load(path)
        _check_alike(model, other, paths[0], path)
        counts.append(rows_of(other))
        model.merge(other)
    storage.save(model, output)
    if as_json:
        print_json({**described(model), "rows_before": counts, "saved": str(output)})
        return
    say(f"{_label(model)}: {' + '.join(map(_count, counts))} = {_count(rows_of(model))}")
    certify(model.certificate_)
    say(f"saved: {output}")


def export(path: Path, output: Path, dtype: str) -> None:
    """Write a saved model as ONNX."""
    check_output(output, (".onnx",))
    model = storage.load(path)
    storage.export_onnx(model, output, dtype=dtype)
    say(f"saved: {output}")


def _note_amounts(model: Any, opened: Opened) -> None:
    """Say so where a classifier was given what looks like amounts."""
    classes = vars(model).get("classes_", ())
    if len(classes) > MOST_CLASSES and classes.dtype.kind in "iuf":
        note(
            f"{opened.target} has {len(classes):,} different numbers, and each is taken for a class; if they are "
            f"amounts, name a regression, as in --system {FOR_NUMBERS}"
        )


def _training(model: Any, opened: Opened) -> dict[str, Any] | None:
    """Return, for a classifier, how many rows of each class it gets right among those it was fitted to."""
    if "classes_" not in vars(model):
        return None
    classes = model.classes_

    def right(block: Any) -> Any:
        place = block.t[:, 0].astype(np.intp)
        weight = np.ones(len(place)) if block.weight is None else block.weight
        hit = model.predict(block.x.view(CodedRows)) == classes[place]
        return np.column_stack([np.bincount(place, w, len(classes)) for w in (weight, weight * hit)])[None]

    total = opened.source.encoded(classes).map(right).sum(axis=0)
    each = [
        {"class": label, "rows": weight, "right": hit / weight if weight else np.nan}
        for label, (weight, hit) in zip(classes.tolist(), total.tolist(), strict=True)
    ]
    return {"accuracy": float(total[:, 1].sum() / total[:, 0].sum()), "classes": each}


def _show_training(right: dict[str, Any]) -> None:
    rows = [[str(one["class"]), f"{one['rows']:,.10g}", share(one["right"])] for one in right["classes"]]
    total = sum(one["rows"] for one in right["classes"])
    show(["class", "rows", "predicted right"], [*rows, ["all", f"{total:,.10g}", share(right["accuracy"])]])
    say()
    say("These are the rows it was fitted to; adaline compare tells how it does on rows it has not seen.", style="dim")


def _check_alike(one: Any, other: Any, first: Path, second: Path) -> None:
    """Refuse models whose targets differ; columns are compared by the systems themselves."""
    targets = [None if c is None else c.target for c in (vars(one).get("coding_"), vars(other).get("coding_"))]
    if None not in targets and targets[0] != targets[1]:
        raise InvalidData(f"cannot merge: {first} predicts {targets[0]!r} and {second} predicts {targets[1]!r}")
    if type(one) is type(other) and not hasattr(one, "merge"):
        raise InvalidParameter(f"{type(one).__name__} is learned row by row, in order: such models do not merge")


def _label(model: Any) -> str:
    text = " ".join(str(model).split()).removesuffix("()")
    return text if len(text) < 60 else type(model).__name__


def _count(rows: int | None) -> str:
    return "? rows" if rows is None else counted(rows)
