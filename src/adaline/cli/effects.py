"""`adaline effects`: marginal effects of each column by a saved model, averaged over the rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from adaline import storage
from adaline.cli.exit import note
from adaline.cli.open import reading_for, shown_counts
from adaline.cli.output import print_json, say
from adaline.cli.predict import UnalteredTable, coding_for
from adaline.errors import InvalidData, InvalidParameter
from adaline.inference.effects import EffectsAt, effects
from adaline.lazy import nw
from adaline.sources.tables.altered import with_columns_of
from adaline.sources.tables.batches import batch_table
from adaline.sources.tables.file_options import FileOptions
from adaline.storage.pipelines import is_pipeline
from adaline.wording import counted, part_of, plain

# rows over which effects are averaged; doubling it takes twice as long, for steadier effects
MOST_AVERAGED_ROWS = 2**17


def run_effects(
    path: Path,
    data: str,
    reading: FileOptions,
    columns: tuple[str, ...] | None,
    at: EffectsAt,
    level: float,
    as_json: bool,
) -> None:
    """Show what columns do to the mean of the answer, with standard errors, at the rows of a table."""
    model = storage.load(path)
    if is_pipeline(model):
        raise InvalidParameter("effects are those of one system: fit it to the table itself, without a pipeline")
    relation = UnalteredTable(data, reading_for(model, reading))
    coding = coding_for(model, relation)
    relation = with_columns_of(relation, coding)
    frame, total = _some_rows(relation)
    problems = coding.problems(frame)
    whole, frame = len(frame), coding.typed(frame).filter(problems.codable.tolist())
    offset = coding.read_offset(frame) if len(frame) else None
    if offset is not None and not np.isfinite(offset).all():  # of absorbed effects of minus infinity
        frame, offset = frame.filter(np.isfinite(offset).tolist()), offset[np.isfinite(offset)]
    if not len(frame):
        raise InvalidData(f"the model can predict no row of {relation.title}: {shown_counts(problems.counts)}")
    if whole < total:
        note(f"averages are taken over {counted(whole)} of {total:,}, evenly spread")
    if len(frame) < whole:
        note(f"{part_of(whole - len(frame), whole)} left out: {shown_counts(problems.counts)}")
    rows = frame.to_native() if getattr(model, "coding_", None) is not None else np.asarray(coding.code(frame))
    found = effects(model, rows, at, columns, level, offset=offset)
    if as_json:
        print_json(plain(found.to_dict()))
    else:
        say(str(found))


def _some_rows(relation: UnalteredTable) -> tuple[nw.DataFrame[Any], int]:
    """Return at most MOST_AVERAGED_ROWS rows of a table, evenly spread, and how many it has."""
    total = relation.count("TRUE")
    chosen = np.unique(np.linspace(0, total - 1, min(total, MOST_AVERAGED_ROWS)).astype(np.intp))
    first, parts = 0, []
    for _, run in relation.runs(list(relation.schema), "TRUE", MOST_AVERAGED_ROWS):
        for batch in map(batch_table, run()):
            own = chosen[(chosen >= first) & (chosen < first + len(batch))] - first
            parts.append(batch.take(pa.array(own)))
            first += len(batch)
    if not parts:
        raise InvalidData(f"{relation.title} has no rows")
    return nw.from_native(pa.concat_tables(parts), eager_only=True), total
