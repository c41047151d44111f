"""Rows as clients send them, made into what a model takes; every fault is named by its row and column.

    layout = RowLayout.of(model)                     # columns and targets by name, with what each holds
    batch = layout.batch(rows, target=True)          # an Arrow table: what the journal keeps
    decoded = layout.decoded(batch, target=True)     # x, y, weight: what `predict` and `partial_fit` take

`decode_rows` is all of it at once. The same code is used to predict, to learn, and to replay a journal, so that a row
has the same bits each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adaline.arrays import Array

MOST_COLUMNS = 10_000


@dataclass(frozen=True)
class RowColumn:
    """A raw column that clients send.

    Parameters
    ----------
    name : of the column.
    kind : "number", "boolean", "date" or "text".
    levels : of a category or of labels, those that are known; empty where there are none, or any will do.
    optional : whether a value may be missing.
    """

    name: str
    kind: str
    levels: tuple[Any, ...] = ()
    optional: bool = False


@dataclass(frozen=True)
class DecodedRows:
    """Rows as a model takes them.

    Parameters
    ----------
    x : (n, D) numbers, dense or CSR, coded: for `predict`, `partial_fit` and the like.
    y : (n,) or (n, K) targets or labels; None where rows are only to be predicted.
    weight : (n,) weights, where the model was fitted with a column of them; else None.
    """

    x: Any
    y: Any = None
    weight: Array | None = None


def decode_rows(model: Any, rows: Any, target: bool, *, most_columns: int = MOST_COLUMNS) -> DecodedRows:
    """Return rows as a model takes them; raise BadRows, with `row` and `column`, where one is not as it should be.

    Parameters
    ----------
    model : a fitted system.
    rows : a list of dicts by column names; a list of lists, the columns in the order of the model, targets last; or a
        pyarrow Table or RecordBatch. A model that was fitted to bare arrays has columns x0, x1, ..., and one without
        a name of its target has y (y0, y1, ... where there are several).
    target : whether the rows have targets, to learn from.
    most_columns : columns that a row of a client may have.
    """
    raise NotImplementedError
