"""`adaline update`: updates a saved model with more rows."""

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
    unseen_levels,
    with_notes,
)
from adaline.cli.output import print_json, say
from adaline.cli.summary import certify, described, model_label, rows_text
from adaline.coding.expressions import lag_of
from adaline.coding.formula import targets_of
from adaline.errors import InvalidData, InvalidParameter
from adaline.fitted import AnyModel, can_continue, has_classes, rows_of
from adaline.input.coded import coding_of
from adaline.results import some
from adaline.sources import TableSource
from adaline.sources.tables.altered import with_texts, without_values
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.rows import TableRows
from adaline.sources.tables.sparse_files import sparse_suffix
from adaline.sources.tables.spec import check_needed
from adaline.sources.tables.unreadable import counted_rows
from adaline.wording import file_name, part_of

UNKNOWN_LABEL = "unknown label"


def run_update(
    path: Path,
    data: str,
    reading: FileOptions,
    target: str | None,
    weight: str | None,
    output: Path | None,
    as_json: bool,
    strict: bool = False,
    new_classes: bool = False,
) -> None:
    """Take more rows into a saved model and save it again.

    Rows with values that cannot be read, with levels, or with labels that the fit did not have are left out with a
    note, or refused if `strict`; with `new_classes` such labels become classes.
    """
    saved = path if output is None else output
    model = storage.load(path)
    check_output(saved, replaces=MODEL_START)
    before, classes = rows_of(model), _classes(model)
    if not can_continue(model):
        raise InvalidParameter(f"{type(model).__name__} cannot continue from a saved model: fit it again to all rows")
    given = opened_pipe(data)
    if sparse_suffix(given) is not None:
        source = sparse_rows_for(model, given, reading, target, weight)
        model.partial_fit(source)
        rows = source.count_rows()
    else:
        relation = with_notes(Relation(given, reading_for(model, reading)))
        given_rows = rows_for(model, relation, target, weight)
        kept, reasons = _known_rows(model, relation, given_rows, new_classes)
        rows = kept.count("TRUE")
        if reasons and strict:
            raise InvalidData(f"{relation.title}: {shown_counts(reasons)}. Drop --strict to leave such rows out")
        if reasons:
            total, labels = relation.count("TRUE"), any(one.startswith(UNKNOWN_LABEL) for one in reasons)
            adds = "; --new-classes adds such labels" if labels else ""
            outcome = "it is an error" if total - rows == 1 else "they are errors"
            left_out = f"{part_of(total - rows, total)} left out: {shown_counts(reasons)}"
            note(f"{left_out}{adds}; with --strict {outcome}")
        with dropping_gaps(model, strict) as policy:
            model.partial_fit(TableSource(TableRows(kept), replace(given_rows.spec, missing=policy)))
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


def _known_rows(
    model: AnyModel, relation: Relation, given: TableSource, new_classes: bool
) -> tuple[Relation, dict[str, int]]:
    """Return the rows that a model can learn, and how many of the others there are for each reason."""
    readable = readable_rows_for(model, relation, given)
    reasons = readable.counts() if readable.problems else {}
    coding, classes = coding_of(model), getattr(model, "classes_", None)
    if coding is None or any(map(lag_of, coding.needed)):
        return readable.relation, reasons
    targets = given.target_names or targets_of(coding.target or "")
    texts = targets if classes is not None and classes.dtype.kind in "UO" else ()
    known = with_texts(readable.relation, [*coding.texts, *texts])
    check_needed(known, coding)
    unknown = {name: ("unseen level", levels) for name, levels in unseen_levels(known, coding).items()}
    if classes is not None and not new_classes and targets and targets[0] in known.schema:
        found = known.rows(f"SELECT DISTINCT {known.value(targets[0])} FROM {known.sql}")
        labels = [label for (label,) in found if label is not None and label not in classes.tolist()]
        unknown[targets[0]] = UNKNOWN_LABEL, labels
    for name, (problem, values) in unknown.items():
        reasons |= counted_rows(known, problem, name, values) if values else {}
    kept = without_values(known, {name: values for name, (_, values) in unknown.items()})
    if reasons and not kept.count("TRUE"):
        raise InvalidData(f"the model can learn no row of {relation.title}: {shown_counts(reasons)}")
    return kept, reasons


def _classes(model: AnyModel) -> list[Any]:
    return model.classes_.tolist() if has_classes(model) else []
