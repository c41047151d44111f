"""Rows of a journal learned again, by a model that was saved before them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adaline.fitted import AnyModel
from adaline.lazy import pa
from adaline.serve.journal import Journal
from adaline.serve.learning_model import CHAMPION, LearningModel

REPLAYED_ROWS = 4096  # rows of the journal that are decoded together; doubling it takes twice the memory


def replayed(model: AnyModel, journal: Journal, rows: int) -> AnyModel:
    """Return a model, which contains so many rows of a journal, with the others, as a `Learner` would have it."""
    learning = LearningModel(CHAMPION, model, None, rows)
    for first, table in tables_since(journal, rows, learning.layout.by_rows):
        learning.replay(first, table)
    learning.publish(0.0)
    return learning.current


def tables_since(journal: Journal, row: int, together: bool) -> Iterator[tuple[int, Any]]:
    """Iterate over the rows of a journal from a number on: the number of the first, and an Arrow table.

    Batches of one schema are put `together` where rows are coded to the same bits however they are cut.
    """
    kept: list[Any] = []
    first = count = 0
    for batch in journal.since(row):
        fits = kept and together and batch.rows.schema == kept[0].schema and count < REPLAYED_ROWS
        if kept and not fits:
            yield first, pa.Table.from_batches(kept).combine_chunks()
            kept, count = [], 0
        first = first if kept else batch.first
        kept.append(batch.rows)
        count += int(batch.rows.num_rows)
    if kept:
        yield first, pa.Table.from_batches(kept).combine_chunks()
