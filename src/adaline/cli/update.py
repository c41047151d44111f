"""`adaline update`: takes more rows into a saved model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from adaline import storage
from adaline.cli.exit import MODEL_START, check_output, note
from adaline.cli.open import (
    dropping_gaps,
    opened_pipe,
    readable_rows_for,
    reading_for,
    rows_for,
    shown_counts,
    sparse_rows_for,
    with_notes,
)
from adaline.cli.output import print_json, say
from adaline.cli.summary import certify, described, model_label, rows_text
from adaline.errors import InvalidParameter
from adaline.fitted import rows_of
from adaline.results import some
from adaline.sources import TableSource
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.sparse_files import sparse_suffix
from adaline.wording import file_name, part_of


def run_update(
    path: Path,
    data: str,
    reading: FileOptions,
    target: str | None,
    weight: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Take more rows into a saved model and save it again."""
    saved = path if output is None else output
    model = storage.load(path)
    check_output(saved, replaces=MODEL_START)
    before, classes = rows_of(model), _classes(model)
    if not hasattr(model, "partial_fit"):
        raise InvalidParameter(f"{type(model).__name__} cannot continue from a saved model: fit it again to all rows")
    given = opened_pipe(data)
    if sparse_suffix(given) is not None:
        source = sparse_rows_for(model, given, reading, target, weight)
        model.partial_fit(source)
        rows = source.count_rows()
    else:
        relation = with_notes(Relation(given, reading_for(model, reading)))
        given_rows = rows_for(model, relation, target, weight)
        readable = readable_rows_for(model, relation, given_rows)
        rows = readable.relation.count("TRUE")
        if readable.problems:
            total, why = relation.count("TRUE"), shown_counts(readable.counts(relation))
            note(f"{part_of(total - rows, total)} left out: {why}")
        with dropping_gaps(model) as policy:
            model.partial_fit(TableSource(readable.relation, replace(given_rows.spec, missing=policy)))
    after = rows_of(model)
    if before is not None and after is not None and (gone := rows - (after - before)) > 0:
        note(f"{part_of(gone, rows)} left out: missing values")
    if new := [label for label in _classes(model) if label not in classes]:
        shown, known = (some([repr(label) for label in labels]) for labels in (new, classes))
        note(f"new classes: {shown}; before, the model knew {known}")
    storage.save(model, saved)
    if as_json:
        print_json({**described(model), "rows_before": before, "rows_after": after, "saved": str(saved)})
        return
    say(f"{model_label(model)}: {rows_text(before)} before, {rows_text(after)} after")
    certify(model.certificate_)
    say(f"saved: {file_name(saved)}")


def _classes(model: Any) -> list[Any]:
    return vars(model)["classes_"].tolist() if "classes_" in vars(model) else []
