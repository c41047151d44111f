"""`adaline merge`: merges models that were fitted to different rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adaline import storage
from adaline.cli.exit import MODEL_START, check_output
from adaline.cli.output import print_json, say
from adaline.cli.summary import certify, described, model_label, rows_text
from adaline.errors import InvalidData, InvalidParameter
from adaline.fitted import rows_of
from adaline.storage.pipelines import is_pipeline
from adaline.wording import file_name


def run_merge(paths: Sequence[Path], output: Path, as_json: bool) -> None:
    """Join models that were fitted apart: as if one had been fitted to all rows."""
    if len(paths) < 2:
        raise InvalidParameter("merge takes two or more models: adaline merge A B -o C")
    check_output(output, replaces=MODEL_START)
    model = storage.load(paths[0])
    counts = [rows_of(model)]
    for path in paths[1:]:
        other = storage.load(path)
        _check_mergeable(model, other, paths[0], path)
        counts.append(rows_of(other))
        model.merge(other)
    storage.save(model, output)
    if as_json:
        print_json({**described(model), "rows_before": counts, "saved": str(output)})
        return
    say(f"{model_label(model)}: {' + '.join(map(rows_text, counts))} = {rows_text(rows_of(model))}")
    certify(model.certificate_)
    say(f"saved: {file_name(output)}")


def _check_mergeable(one: Any, other: Any, first: Path, second: Path) -> None:
    """Refuse models whose targets differ; columns are compared by the systems themselves."""
    targets = [
        None if c is None else c.target for c in (getattr(one, "coding_", None), getattr(other, "coding_", None))
    ]
    if None not in targets and targets[0] != targets[1]:
        raise InvalidData(f"cannot merge: {first} predicts {targets[0]!r} and {second} predicts {targets[1]!r}")
    if is_pipeline(one):
        raise InvalidParameter("pipelines cannot be merged: their steps were fitted to different rows")
    if type(one) is type(other) and not hasattr(one, "merge"):
        raise InvalidParameter(f"{type(one).__name__} learns row by row, in order: such models cannot be merged")
