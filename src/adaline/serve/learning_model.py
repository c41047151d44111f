"""A model that learns rows in blocks, and the model of all rows so far, which predicts.

Models are values: learning returns a new one. Rows are learned in blocks counted from a snapshot, whatever batches they
came in. Rows after the last whole block are learned on top of it for `current`, and again when their block is whole.
"""

from __future__ import annotations

import math
from time import monotonic
from typing import Any

import numpy as np
import scipy

from adaline.arrays import is_sparse
from adaline.errors import AdalineError, BadRows, InvalidParameter, kept_warnings
from adaline.fitted import AnyModel, can_continue, learns_by_row, rows_of
from adaline.input.coded import as_coded
from adaline.input.drafts import snapshot
from adaline.input.system import columns_on
from adaline.results import Status
from adaline.serve.journal import ErrorTotals
from adaline.serve.progressive_error import ProgressiveError, prediction_errors, progressive_error, totals_with
from adaline.serve.rows import DecodedRows, RowLayout, has_basis
from adaline.serve.snapshots import SnapshotFolder

CHAMPION = "champion"
"""The name of the model that predicts, beside those of its challengers."""
SCANNED, SUMMED, NUMBERS = 1024, 2**16, 2**20
"""Rows of a block for systems that learn row by row; for other systems, most rows of a block and most numbers of X in
it."""
# time between publications, in the time of one; doubling it lets predictions lag longer, for more time to learn
PUBLISH_PAUSE = 4.0
NO_ERRORS = ErrorTotals()
DIVERGED = f"the model diverges, and would learn no more ({Status.DIVERGED.advice})"


class LearningModel:
    """A model, the rows since its last whole block, and its progressive error.

    Attributes
    ----------
    kept : the model with the first `rows` rows of the journal: a snapshot, and whole blocks since.
    pending, end : rows since then, and the number of rows with them.
    current : the model with these too, or with some of them; `due` is when it is to be rebuilt.
    exact : whether `current` was made of the last whole block and the rows since. If not, these came to it in batches:
        then it has the same weights, and a history of its own.
    stored : the rows of the last snapshot; negative where one is due.
    expands : whether it works on functions of its columns.
    """

    def __init__(
        self,
        name: str,
        model: AnyModel,
        folder: SnapshotFolder | None,
        rows: int,
        totals: ErrorTotals = NO_ERRORS,
    ) -> None:
        self.name, self.folder, self.layout = name, folder, RowLayout.of(model)
        self.kept = self.current = model
        self.rows = self.end = self.stored = rows
        self.totals = totals
        self.seen = rows_of(model) or 0
        self.pending: list[DecodedRows] = []
        self.due, self.exact = math.inf, True
        self.expands = has_basis(model)
        self._scans = learns_by_row(model)
        width = max(1, columns_on(model).width)
        self.block = SCANNED if self._scans else max(1, min(SUMMED, NUMBERS // width))
        self._published, self._cost = 0.0, 0.0

    @property
    def error(self) -> ProgressiveError:
        """The error of predictions, each made before its row was learned."""
        return progressive_error(self.current, self.totals)

    def judge(self, rows: DecodedRows) -> None:
        """Predict rows that are not learned yet, and count the errors."""
        if not len(rows):
            return
        try:
            with np.errstate(all="ignore"):
                errors, losses = prediction_errors(self.current, rows)
        except AdalineError:  # outputs overflow, of a model that has diverged
            return
        self.totals = totals_with(self.totals, errors, losses)

    def learn(self, rows: DecodedRows, after: AnyModel = None) -> None:
        """Take rows: those of whole blocks into the model, others until theirs is whole.

        The model after them for predictions is given, or made when it is due.
        """
        self.pending.append(rows)
        self.end += len(rows)
        self.seen += len(rows)
        blocks = (self.end - self.rows) // self.block
        for _ in range(blocks):
            whole = DecodedRows.join(self.pending)
            self.kept = learned_model(self.kept, whole.cut(0, self.block))
            self.rows += self.block
            self.pending = [whole.cut(self.block, len(whole))]
        if after is not None:
            self.current, self.exact = after, False
            if blocks:
                self.publish(0.0)  # which ends the history of the batches
        elif math.isinf(self.due):
            self.due = self._published + PUBLISH_PAUSE * self._cost

    def replay(self, first: int, table: Any) -> None:
        """Take those rows of a table of the journal, whose number is `first`, that are not in the model yet."""
        start = max(0, self.end - first)
        if start < table.num_rows:
            rows = self.layout.decoded(table, True)  # all of it: some formulas code a row by those it came with
            self.learn(rows.cut(start, len(rows)) if start else rows)

    def after(self, rows: DecodedRows) -> AnyModel:
        """Return what `current` would be with more rows; refuse those that the model cannot learn, or diverges by.

        None for systems that do not learn row by row.
        """
        if not self._scans:
            return None
        try:
            with kept_warnings():
                if not math.isinf(self.due):
                    self.publish(0.0)
                found = learned_model(self.current, rows)
                again = learned_model(found, rows)  # a step that was too far shows in the error of the next one
        except AdalineError as error:
            raise BadRows(f"these rows cannot be learned: {error}") from None
        if has_diverged(again):
            raise BadRows(f"these rows are not learned, as by them {DIVERGED}")
        return found

    def publish(self, seconds: float) -> None:
        """Make `current` of all rows, where some have come; systems in closed form not again for so many seconds."""
        if math.isinf(self.due) and self.exact:
            return
        self.due, self.exact, began = math.inf, True, monotonic()
        rest = DecodedRows.join(self.pending)
        try:
            self.current = learned_model(self.kept, rest) if len(rest) else self.kept
        finally:
            self._published = monotonic()
            self._cost = max(self._published - began, 0.0 if self._scans else seconds / PUBLISH_PAUSE)


def refuse_unlearned(model: AnyModel) -> None:
    """Refuse a model that cannot learn from more rows, before any row is taken."""
    if not can_continue(model):
        raise InvalidParameter(f"{type(model).__name__} cannot continue from a saved model: fit it again to all rows")
    if has_diverged(model):
        raise InvalidParameter(f"{type(model).__name__} cannot continue: {DIVERGED}")
    layout, columns = RowLayout.of(model), columns_on(model)
    wide = columns.count > NUMBERS // 16 or (columns.coding is not None and columns.coding.sparse)
    x = scipy.sparse.csr_array((1, columns.count)) if wide else np.zeros((1, columns.count))
    y = layout.classes[:1] if layout.classes is not None else np.zeros((1, len(layout.expressions)))
    with kept_warnings():
        learned_model(model, DecodedRows(as_coded(x), y[:, 0] if layout.classes is None and layout.flat else y))


def has_diverged(model: AnyModel) -> bool:
    """Return whether a model keeps its last good weights, whatever it is given."""
    return getattr(getattr(model, "certificate_", None), "status", None) is Status.DIVERGED


def learned_model(model: AnyModel, rows: DecodedRows) -> AnyModel:
    """Return a model that has learned more rows; the one given stays as it is."""
    other = snapshot(model)
    x = rows.x if is_sparse(rows.x) else as_coded(np.ascontiguousarray(rows.x))  # by rows, whatever they came from
    weights = {} if rows.weight is None else {"sample_weight": rows.weight}
    other.partial_fit(x, rows.y, **weights)
    return other
