"""The queue of the learning thread: batches of rows, and requests to be answered between them, in their order."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import groupby
from threading import Condition
from time import monotonic
from typing import Any, NamedTuple, TypeVar

import numpy as np

from adaline.errors import AdalineError, Busy, JournalError
from adaline.lazy import pa
from adaline.serve.rows import DecodedRows, RowLayout

FIRST_PACE = 1e-5  # seconds that a row takes, before any was learned; later the measured pace replaces it
T = TypeVar("T")


@dataclass(frozen=True)
class Receipt:
    """The receipt of rows that are in the journal and learned.

    Parameters
    ----------
    learned : rows of the batch (without those left out, where the model drops rows with missing values).
    rows_seen : rows that the model has learned from in all, those of its first fit included.
    repeated : whether a batch of the same key was learned before, and this one was not.
    """

    learned: int
    rows_seen: int
    repeated: bool = False


@dataclass(eq=False)
class Submission:
    """A batch that waits: its rows as a record batch, or numbers (m, n) of the layout.

    `decoded` has them as each model takes them; None for numbers that are decoded together with those of others.
    """

    given: Any
    count: int
    layout: RowLayout
    key: str | None
    crc: int
    decoded: dict[str, DecodedRows] | None
    version: int
    future: Future[Receipt]


class Request(NamedTuple):
    """Something that the thread that learns is asked to do between two groups."""

    function: Callable[[], Any]
    future: Future[Any]

    def answer(self) -> None:
        """Do it, and set the future."""
        try:
            self.future.set_result(self.function())
        except BaseException as error:
            self.future.set_exception(error)


class LearningQueue:
    """Batches and requests of any threads, for the one thread that learns.

    Parameters
    ----------
    most_rows : rows that may wait; more are refused by Busy.

    Attributes
    ----------
    failed : the error that ended learning, by which rows are refused, or None.
    waiting : rows in the queue, and rows that are being learned.
    """

    def __init__(self, most_rows: int) -> None:
        self.failed: AdalineError | None = None
        self.waiting = 0
        self._most_rows, self._pace, self._closing = most_rows, FIRST_PACE, False
        self._work: deque[Submission | Request] = deque()
        self._changed = Condition()

    # -- what other threads ask for ------------------------------------------------------------------------------

    def put(self, item: Submission) -> None:
        """Let a batch wait; refuse it where learning has ended, or too many rows wait."""
        with self._changed:
            if self.failed is not None:
                raise self.failed
            self._refuse_closed()
            if self.waiting and self.waiting + item.count > self._most_rows:
                again = min(60.0, max(0.05, self.waiting * self._pace))
                raise Busy(f"{self.waiting} rows are waiting to be learned: try again later", again)
            self.waiting += item.count
            self._work.append(item)
            self._changed.notify()

    def ask(self, function: Callable[[], T]) -> T:
        """Return the result of a function, called by the learning thread after everything that waits now."""
        request = Request(function, Future())
        with self._changed:
            self._refuse_closed()
            self._work.append(request)
            self._changed.notify()
        found: T = request.future.result()
        return found

    def ask_once(self, function: Callable[[], Any]) -> None:
        """Have a function called, unless a request waits already; do not wait for it."""
        with self._changed:
            if not self._closing and not any(isinstance(one, Request) for one in self._work):
                self._work.append(Request(function, Future()))
                self._changed.notify()

    def close(self) -> None:
        """Refuse new entries from now on; waiting ones are still processed."""
        with self._changed:
            self._closing = True
            self._changed.notify()

    def _refuse_closed(self) -> None:
        if self._closing:
            raise JournalError("the learner is closed: it takes no more rows")

    # -- what the thread that learns asks for --------------------------------------------------------------------

    def next_group(self, due: Callable[[], float]) -> list[Submission] | Request | None:
        """Return what waits: batches up to the next request; [] at the time that is due; None at the end."""
        with self._changed:
            while not self._work:
                if self._closing:
                    return None
                at = due()
                wait = None if math.isinf(at) else at - monotonic()
                if wait is not None and wait <= 0:
                    return []
                self._changed.wait(wait)
            if isinstance(self._work[0], Request):
                return self._work.popleft()  # type: ignore[return-value]
            group: list[Submission] = []
            while self._work and isinstance(item := self._work[0], Submission):
                group.append(item)
                self._work.popleft()
            return group

    def answer(self, group: Sequence[Submission], answers: Sequence[Receipt] | AdalineError) -> None:
        """Set the futures of a group: to a receipt each, or to an error for all."""
        with self._changed:
            self.waiting -= sum(item.count for item in group)
        for k, item in enumerate(group):
            if isinstance(answers, AdalineError):
                item.future.set_exception(answers)
            else:
                item.future.set_result(answers[k])

    def took(self, seconds: float, rows: int) -> None:
        """Count the time that rows took, which is when others may try again."""
        self._pace = 0.9 * self._pace + 0.1 * seconds / max(rows, 1)

    def fail(self, error: AdalineError) -> None:
        """Refuse the rows that wait, and later ones; requests are still answered."""
        self.failed = error
        with self._changed:
            waiting = [item for item in self._work if isinstance(item, Submission)]
            self._work = deque(item for item in self._work if isinstance(item, Request))
        self.answer(waiting, error)

    def end(self) -> None:
        """Refuse all waiting and new entries."""
        with self._changed:
            self._closing = True
            left, self._work = list(self._work), deque()
        for item in left:
            item.future.set_exception(JournalError("the learner has ended"))


def joined_numbers(items: Sequence[Submission]) -> list[Submission]:
    """Return submissions, those of numbers that come one after the other as one."""
    out: list[Submission] = []
    for (_, apart), run in groupby(items, lambda item: (id(item.layout), item.decoded is not None)):
        some = list(run)
        if not apart and len(some) > 1:
            numbers = np.concatenate([item.given for item in some], axis=1)
            some = [replace(some[0], given=numbers, count=numbers.shape[1])]
        out += some
    return out


def record_batches(items: Sequence[Submission]) -> list[Any]:
    """Return the rows of submissions as record batches, those one after the other together where cuts change no bit."""
    out: list[Any] = []
    for _, run in groupby(items, lambda item: id(item.layout)):
        some = list(run)
        layout, given = some[0].layout, [item.given for item in some]
        batches = [layout.batch_of_numbers(one) if isinstance(one, np.ndarray) else one for one in given]
        joins = layout.by_rows and len(batches) > 1
        out += pa.Table.from_batches(batches).combine_chunks().to_batches() if joins else batches
    return out
