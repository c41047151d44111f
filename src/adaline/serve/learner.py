"""A model that learns from many clients: one thread writes rows to the journal, learns from them, and answers.

Rows that wait are written to the journal in one commit, then learned in that order, then acknowledged. Models are
values: what learns makes another one, so that predictions use `current` without waiting. Rows are learned in blocks
that are counted from a snapshot, whatever the batches they came in: the model is a function of the rows in their order,
to the bit, and a restart from the last good snapshot and the journal gives the model of a run without interruption.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from os import PathLike
from typing import Any

from adaline.serve.snapshots import Snapshot


@dataclass(frozen=True)
class Receipt:
    """What is said of rows once they are in the journal and learned.

    Parameters
    ----------
    learned : rows of the batch (without those left out, where the model drops rows with missing values).
    rows_seen : rows that the model has learned from in all, those of its first fit included.
    repeated : whether a batch of the same key was learned before, and this one was not.
    """

    learned: int
    rows_seen: int
    repeated: bool = False


@dataclass(frozen=True)
class ProgressiveError:
    """The error of predictions of rows, each made before the row was learned.

    Squared errors of numbers, wrong labels of classes.

    Parameters
    ----------
    rows : rows that were predicted so.
    mean : mean error of all of them; NaN without any.
    recent : mean error of about the last 1,000.
    """

    rows: int
    mean: float
    recent: float


class Learner:
    """A fitted model that goes on learning, with challengers that learn the same rows.

    Parameters
    ----------
    model : a fitted system with `partial_fit`. Where the folder has a snapshot, the model is that and the journal's
        rows since instead.
    folder : of the journal and the snapshots; None keeps nothing on disk.
    snapshot_rows : rows after which a snapshot is written.
    solve_seconds : how often systems in closed form are solved, at most, for `current`.
    queue_rows : rows that may wait; more are refused by Busy.
    challengers : other fitted systems by name, with the same target, for rows that have the columns of all.

    Attributes
    ----------
    current : the model for predictions, never changed in place: another object after it has learned.
    rows_seen : rows that the model has learned from, those of its first fit included.
    progressive : the ProgressiveError of the model.
    full : whether the last commit found no room on the disk.
    failed : the error that ended learning, or None. Predictions go on.
    waiting : rows in the queue.
    """

    def __init__(
        self,
        model: Any,
        folder: str | PathLike[str] | None = None,
        *,
        snapshot_rows: int = 100_000,
        solve_seconds: float = 1.0,
        queue_rows: int = 100_000,
        challengers: Mapping[str, Any] | None = None,
    ) -> None:
        raise NotImplementedError

    @property
    def current(self) -> Any:
        """The model for predictions; it may not have the rows of the last moments yet."""
        raise NotImplementedError

    def latest(self) -> Any:
        """Return the model with all rows acknowledged before the call; waits until it has learned them."""
        raise NotImplementedError

    def submit(self, rows: Any, key: str | None = None) -> Future[Receipt]:
        """Take rows with targets, as `decode_rows` does; the future is set once they are durable and learned.

        Raises BadRows for rows that cannot be learned from (nothing of the batch is taken), Busy where the queue is
        full. The future raises JournalFull where the disk has no room. A batch whose key was there before is not
        learned again.
        """
        raise NotImplementedError

    def scores(self) -> dict[str, ProgressiveError]:
        """Return the progressive error of the model, as "champion", and of each challenger, on the same rows."""
        raise NotImplementedError

    def challenger(self, name: str) -> Any:
        """Return the model of a challenger, as `current`."""
        raise NotImplementedError

    def promote(self, name: str) -> None:
        """Let a challenger and the champion change places."""
        raise NotImplementedError

    def replace(self, model: Any) -> Snapshot | None:
        """Let a new version take the place of the model; rows acknowledged later are learned by it."""
        raise NotImplementedError

    def snapshots(self) -> list[Snapshot]:
        """Return the snapshots that there are to roll back to, the oldest first."""
        raise NotImplementedError

    def rollback(self, snapshot: Snapshot | int) -> None:
        """Let the model be what it was at a snapshot (or its number); rows learned since are not in it."""
        raise NotImplementedError

    def close(self) -> None:
        """Learn from all rows that wait, and end; later rows are refused."""
        raise NotImplementedError
