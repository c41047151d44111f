"""A model that learns from many clients: one thread writes rows to the journal, learns from them, and answers.

Rows that wait are written to the journal in one commit, then learned in that order, then acknowledged. Models are
values: what learns makes another one, so that predictions use `current` without waiting. Rows are learned in blocks
that are counted from a snapshot, whatever the batches they came in: the model is a function of the rows in their order,
to the bit, and a restart from the last good snapshot and the journal gives the model of a run without interruption.
Rows beyond the last whole block are learned on top of it for `current`, and again when their block is whole.
"""

from __future__ import annotations

import atexit
import math
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from os import PathLike
from pathlib import Path
from threading import Condition, Thread
from time import monotonic
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy

from adaline.arrays import Array, is_sparse
from adaline.errors import (
    AdalineError,
    AdalineWarning,
    BadRows,
    Busy,
    InvalidParameter,
    JournalError,
    JournalFull,
    ModelFileError,
    kept_warnings,
)
from adaline.fitted import AnyModel, rows_of
from adaline.input.coded import as_coded
from adaline.input.columns import columns_on
from adaline.input.drafts import snapshot
from adaline.results import Status
from adaline.serve.journal import ErrorTotals, Journal, checksum
from adaline.serve.rows import MOST_COLUMNS, DecodedRows, RowLayout, has_basis, refuse_unlearnable
from adaline.serve.snapshots import Snapshot, SnapshotFolder
from adaline.wording import counted

CHAMPION = "champion"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
"""Names of challengers, which are those of folders."""
SCANNED, SUMMED, NUMBERS = 1024, 2**16, 2**20
"""Rows of a block of systems that learn row by row, the most of others, and numbers of X in a block of these."""
RECENT = 1000.0  # rows that the recent error is about: a row counts by exp(-age / RECENT)
WORST = 1e200  # the largest error that is counted, so that means are finite
LEAST = float(np.finfo(np.float64).eps)  # probability of a label that is counted, so that no row has an endless loss
SHARE = 4.0  # times that publishing took, which pass before the next
MOST_KEYS = 100_000  # that are remembered where there is no journal
NONE_YET = ErrorTotals()
REPLAYED = 4096  # rows of the journal that are decoded together
DIVERGED = f"the model diverges, and would learn no more ({Status.DIVERGED.advice})"
T = TypeVar("T")


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
    """The error of predictions of rows, each made before the row was learned, as a client would have got them.

    Parameters
    ----------
    measure : what `mean` and `recent` are: "mean squared error" for numbers, "error rate" (the share of wrong labels)
        for classes. A model and its challengers share it.
    rows : rows that were predicted so.
    mean : mean error of all of them. NaN without any row.
    recent : mean error of about the last 1,000.
    loss, recent_loss : the same by the model's own loss: squares of numbers, -log of the probability that was given to
        the label, at most 36; NaN for classifiers that give no probabilities.
    """

    measure: str
    rows: int
    mean: float
    recent: float
    loss: float
    recent_loss: float


class Learner:
    """A fitted model that keeps learning, with challengers that learn the same rows.

    Parameters
    ----------
    model : a fitted system with `partial_fit`. Where the folder has a snapshot, the model is that and the journal's
        rows since instead.
    folder : of the journal and the snapshots; None keeps nothing on disk.
    snapshot_rows : rows after which a snapshot is written.
    solve_seconds : how often systems in closed form are solved, at most, for `current`.
    queue_rows : rows that may wait; more are refused by Busy.
    challengers : other fitted systems by name, with the same target, for rows that have the columns of all.
    keep : snapshots that are kept.

    Attributes
    ----------
    layout : what rows look like, for all models together.
    full : whether the last commit found no room on the disk.
    failed : the error that ended learning, or None. Predictions continue.
    notes : what the models warned of, and snapshots that could not be written; the last ones.

    Examples
    --------
    >>> from adaline import LMS
    >>> from adaline.serve import Learner
    >>> model = LMS(rate=0.1).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> with Learner(model) as learner:
    ...     receipt = learner.submit([{"x0": 1.0, "y": 3.0}, {"x0": 2.0, "y": 5.0}], key="order 17").result()
    ...     again = learner.submit([{"x0": 1.0, "y": 3.0}, {"x0": 2.0, "y": 5.0}], key="order 17").result()
    >>> receipt.learned, receipt.rows_seen, again.rows_seen, again.repeated
    (2, 5, 5, True)
    """

    def __init__(
        self,
        model: AnyModel,
        folder: str | PathLike[str] | None = None,
        *,
        snapshot_rows: int = 100_000,
        solve_seconds: float = 1.0,
        queue_rows: int = 100_000,
        challengers: Mapping[str, Any] | None = None,
        keep: int = 5,
    ) -> None:
        given = {CHAMPION: model, **(challengers or {})}
        for name, one in given.items():
            if not NAME.fullmatch(name) or (name == CHAMPION and one is not model):
                raise InvalidParameter(f"{name!r:.70} is no name of a challenger: letters, digits, - and _ are")
            refuse_unlearned(one)
        self.full, self._refused_bytes = False, 0
        self.failed: AdalineError | None = None
        self.notes: deque[str] = deque(maxlen=20)
        self._snapshot_rows, self._solve_seconds, self._queue_rows = snapshot_rows, solve_seconds, queue_rows
        self._journal = None if folder is None else Journal(folder, writes=True)
        self._keys: dict[str, tuple[int, int]] = {}  # where there is no journal
        try:
            self._models = {name: self._opened(name, one, folder, keep) for name, one in given.items()}
            self.layout = self._joined_layout()
            self._replay()
            self._publish(list(self._models.values()))
            self._begin_anew({name: one for name, one in given.items() if name not in self._models}, folder, keep)
        except BaseException:
            if self._journal is not None:
                self._journal.close()
            raise
        for one in self._models.values():
            if one.rows - one.stored >= snapshot_rows:
                self._store(one)
        self._work: deque[_Submission | _Request] = deque()
        self._waiting, self._version, self._closing = 0, 0, False
        self._pace = 1e-5  # seconds a row
        self._changed = Condition()
        self._thread = Thread(target=self._run, name="learner", daemon=True)
        self._thread.start()
        atexit.register(self.close)  # a program that ends learns what waits

    def __enter__(self) -> Learner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- what clients ask for ------------------------------------------------------------------------------------

    @property
    def current(self) -> Any:
        """The model for predictions, never changed in place; it may not have the rows of the last moments yet."""
        return self._models[CHAMPION].current

    @property
    def rows_seen(self) -> int:
        """Rows that the model has learned from, those of its first fit included."""
        return self._models[CHAMPION].seen

    @property
    def progressive(self) -> ProgressiveError:
        """The error of the model on rows before it learned them."""
        return self._models[CHAMPION].error

    @property
    def waiting(self) -> int:
        """Rows in the queue."""
        return self._waiting

    def scores(self) -> dict[str, ProgressiveError]:
        """Return the progressive error of the model, as "champion", and of each challenger, on the same rows."""
        return {name: one.error for name, one in self._models.items()}

    def challenger(self, name: str) -> Any:
        """Return the model of a challenger, as `current`."""
        return self._challenger(name).current

    def submit(self, rows: Any, key: str | None = None, *, most_columns: int = MOST_COLUMNS) -> Future[Receipt]:
        """Take rows with targets, as `decode_rows` does; the future is set once they are durable and learned.

        Raises BadRows for rows that cannot be learned from (nothing of the batch is taken), Busy where the queue is
        full. The future raises JournalFull where the disk has no room, BadRows where the model would diverge or the key
        is that of other rows. A batch whose key was there before is not learned again.
        """
        _refuse_key(key)
        version, layout, models = self._version, self.layout, self._models
        numbers = layout.numbers(rows)
        given: Any = layout.batch(rows, True, most_columns=most_columns) if numbers is None else numbers
        count = int(given.num_rows if numbers is None else numbers.shape[1])
        crc = 0 if key is None else checksum(given if numbers is None else layout.batch_of_numbers(numbers))
        plain = numbers is not None and not any(one.expands for one in models.values())
        decoded = None if plain else _decoded(models, given, layout)
        item = _Submission(given, count, layout, key, crc, decoded, version, Future())
        item.future.set_running_or_notify_cancel()
        with self._changed:
            if self.failed is not None:
                raise self.failed
            self._refuse_closed()
            if self._waiting and self._waiting + count > self._queue_rows:
                raise Busy(f"{self._waiting} rows are waiting to be learned: try again later", self._retry_after())
            self._waiting += count
            self._work.append(item)
            self._changed.notify()
        return item.future

    def trouble(self) -> AdalineError | None:
        """Return why rows cannot be learned now; None where they can. A full disk is tried again, for the next call."""
        if self.failed is not None or not self.full:
            return self.failed
        with self._changed:
            if not self._closing and not any(isinstance(one, _Request) for one in self._work):
                self._work.append(_Request(self._try_disk, Future()))
                self._changed.notify()
        return JournalFull("there is no room on the disk for more rows")

    def _try_disk(self) -> None:
        """Write as many bytes to the journal as the rows that were last refused; if that works, it is not full."""
        if self._journal is not None:
            self._journal.check_room(self._refused_bytes)
        self.full = False

    def latest(self) -> Any:
        """Return the model with all rows acknowledged before the call; waits until it has learned them.

        After the end it is `current`; where learning has failed, what could be learned.
        """
        with suppress(JournalError):
            return self._asked(self._publish_champion)
        self._thread.join()
        return self.current

    def promote(self, name: str) -> None:
        """Let a challenger and the champion change places."""
        self._challenger(name)
        self._asked(lambda: self._promote(name))

    def replace(self, model: AnyModel) -> Snapshot | None:
        """Let a new version take the place of the model, also of one that has failed; it learns what comes then."""
        refuse_unlearned(model)
        return self._asked(lambda: self._exchange({CHAMPION: model}))[CHAMPION]

    def snapshots(self) -> list[Snapshot]:
        """Return the snapshots that there are to roll back to, the oldest first."""
        folder = self._models[CHAMPION].folder
        return [] if folder is None else folder.list()

    def rollback(self, snapshot: Snapshot | int) -> None:
        """Let the model be what it was at a snapshot (or its number); rows learned since are not in it."""
        number = snapshot.number if isinstance(snapshot, Snapshot) else snapshot
        found = [one for one in self.snapshots() if one.number == number]
        if not found:
            there = ", ".join(str(one.number) for one in self.snapshots()) or "none"
            raise InvalidParameter(f"there is no snapshot {number}; there are: {there}")
        model = found[0].load()
        refuse_unlearned(model)
        self._asked(lambda: self._exchange({CHAMPION: model}))

    def close(self) -> None:
        """Learn from all rows that wait, and end; later rows are refused."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()
        atexit.unregister(self.close)

    # -- the thread that writes and learns -----------------------------------------------------------------------

    def _run(self) -> None:
        """Take what waits, group after group, until the end."""
        try:
            while (group := self._next_group()) is not None:
                if isinstance(group, _Request):
                    group.answer()
                elif group:
                    self._take(group)
                self._publish([one for one in self._models.values() if one.due <= monotonic()])
        except BaseException as error:
            if self.failed is None:
                self._fail(error)
        finally:
            self._end()

    def _next_group(self) -> list[_Submission] | _Request | None:
        """Return what waits: batches up to the next request; [] when a model is to be published; None at the end."""
        with self._changed:
            while not self._work:
                if self._closing:
                    return None
                due = min(one.due for one in self._models.values())
                wait = None if math.isinf(due) else due - monotonic()
                if wait is not None and wait <= 0:
                    return []
                self._changed.wait(wait)
            if isinstance(self._work[0], _Request):
                return self._work.popleft()  # type: ignore[return-value]
            group: list[_Submission] = []
            while self._work and isinstance(item := self._work[0], _Submission):
                group.append(item)
                self._work.popleft()
            return group

    def _take(self, group: list[_Submission]) -> None:
        """Write the batches of a group in one commit, learn from them in their order, and answer."""
        began, count = monotonic(), sum(item.count for item in group)
        try:
            self._answer(group, self._learned(group))
        except BadRows as error:  # nothing is written yet
            self._answer(group, error) if len(group) == 1 else self._take_each(group)
        except JournalError as error:
            self.full = isinstance(error, JournalFull)
            self._refused_bytes = sum(int(item.given.nbytes) for item in group)
            self._answer(group, error)
        except BaseException as error:
            self._fail(error)
            self._answer(group, self.failed or JournalError("the learner has ended"))
            if not isinstance(error, AdalineError):
                raise
        self._pace = 0.9 * self._pace + 0.1 * (monotonic() - began) / max(count, 1)

    def _take_each(self, group: list[_Submission]) -> None:
        """Take the batches of a group one by one, where the model cannot learn from all of them."""
        rest = deque(group)
        try:
            while rest and self.failed is None:
                self._take([rest.popleft()])
        finally:
            if rest:
                self._answer(list(rest), self.failed or JournalError("the learner has ended"))

    def _learned(self, group: list[_Submission]) -> list[Receipt]:
        """Return what is answered to the batches of a group that are not answered yet, once they are learned."""
        rows, after = self._written(group)
        self.full = False
        failed: AdalineError | None = None
        for name, model in self._models.items() if rows else ():
            try:
                self._learn(model, rows[name], after if name == CHAMPION else None)
            except AdalineError as error:
                if name == CHAMPION:
                    failed = error
                else:
                    self._leave_out(name, str(error))
        if failed is not None:
            raise failed
        return [Receipt(item.count, self.rows_seen) for item in group]

    def _leave_out(self, name: str, why: str) -> None:
        """Let a challenger learn no more."""
        self._models = {other: one for other, one in self._models.items() if other != name}
        self.notes.append(f"challenger {name!r} was left out: {why}")

    def _written(self, group: list[_Submission]) -> tuple[dict[str, DecodedRows], Any]:
        """Write the batches of a group whose keys are new; return their rows as each model takes them.

        Also returned is the model that has learned them, None where only the solution of sums would tell it. The other
        batches are answered.
        """
        named = [item.key for item in group if item.key is not None]
        known = {} if not named else self._keys if self._journal is None else self._journal.known(named)
        fresh, repeated, counts = [], [], dict(known)
        for item in list(group):
            if item.key is not None and item.key in counts:
                if counts[item.key][1] == item.crc:
                    repeated.append(item)
                else:
                    self._answer([item], BadRows(f"the key {item.key!r:.70} is that of other rows, learned before"))
                    group.remove(item)
                continue
            if item.version != self._version:
                try:
                    item.decoded = _decoded(self._models, item.given, item.layout)
                except BadRows as error:
                    self._answer([item], error)
                    group.remove(item)
                    continue
            if item.key is not None:
                counts[item.key] = item.count, item.crc
            fresh.append(item)
        together = _together(fresh)
        parts = [one.decoded or _decoded(self._models, one.given, one.layout) for one in together]
        rows = {name: joined([part[name] for part in parts]) for name in self._models} if fresh else {}
        after = self._models[CHAMPION].after(rows[CHAMPION]) if fresh else None
        if self._journal is not None and fresh:
            progress = {name: one.totals for name, one in self._models.items()}
            keys = {item.key: (item.count, item.crc) for item in fresh if item.key is not None}
            self._journal.append([(None, batch) for batch in _batches(together)], progress, keys)
        elif self._journal is None:
            self._keys = dict(list({**self._keys, **counts}.items())[-MOST_KEYS:]) if named else self._keys
        for item in repeated:
            group.remove(item)
        self._answer(repeated, [Receipt(counts[str(item.key)][0], self.rows_seen, True) for item in repeated])
        return rows, after

    def _learn(self, model: _LearningModel, rows: DecodedRows, after: Any) -> None:
        """Let one model learn, and write a snapshot where it is time; `after` is it with these rows, where known."""
        model.judge(rows)
        with kept_warnings() as said:
            model.learn(rows, after)
        self.notes.extend(text for text, _ in said if text not in self.notes)
        if model.rows - model.stored >= self._snapshot_rows:
            self._store(model)

    def _store(self, model: _LearningModel) -> Snapshot | None:
        """Write a snapshot; one that cannot be written is tried again later."""
        if model.folder is None:
            return None
        try:
            made = model.folder.write(model.kept, model.rows)
        except ModelFileError as error:
            self.notes.append(str(error))
            return None
        model.stored = model.rows
        return made

    def _publish(self, models: Sequence[_LearningModel]) -> None:
        """Let models have all rows; one that cannot be made of them stays what it was, until the next ones.

        One that diverges learns no more: the champion has failed then, a challenger is left out.
        """
        for model in models:
            with kept_warnings() as said:
                try:
                    model.publish(self._solve_seconds)
                except AdalineError as error:
                    said.append((str(error), AdalineWarning))
            self.notes.extend(text for text, _ in said if text not in self.notes)
            if has_diverged(model.current) and model.name != CHAMPION:
                self._leave_out(model.name, DIVERGED)
            elif has_diverged(model.current) and self.failed is None:
                self._fail(JournalError(DIVERGED))

    def _publish_champion(self) -> Any:
        model = self._models[CHAMPION]
        self._publish([model])
        return model.current

    def _answer(self, group: Sequence[_Submission], answers: Sequence[Receipt] | AdalineError) -> None:
        """Set the futures of a group: to a receipt each, or to an error for all."""
        with self._changed:
            self._waiting -= sum(item.count for item in group)
        for k, item in enumerate(group):
            if isinstance(answers, AdalineError):
                item.future.set_exception(answers)
            else:
                item.future.set_result(answers[k])

    def _fail(self, error: BaseException) -> None:
        """End learning; rows that wait are refused, and later ones."""
        self.failed = error if isinstance(error, AdalineError) else JournalError(f"the learner has ended: {error!r}")
        with self._changed:
            waiting = [item for item in self._work if isinstance(item, _Submission)]
            self._work = deque(item for item in self._work if isinstance(item, _Request))
        self._answer(waiting, self.failed)

    def _end(self) -> None:
        """Publish and store what was learned, and close the journal."""
        try:
            if self.failed is None:
                self._publish(list(self._models.values()))
                for model in self._models.values():
                    if model.rows > model.stored:
                        self._store(model)
                if self._journal is not None:
                    self._journal.append([], {name: one.totals for name, one in self._models.items()})
        except AdalineError as error:
            self.notes.append(str(error))
        finally:
            with self._changed:
                self._closing = True
                left, self._work = list(self._work), deque()
            for item in left:
                item.future.set_exception(JournalError("the learner has ended"))
            if self._journal is not None:
                self._journal.close()

    # -- from the folder, and to other versions ------------------------------------------------------------------

    def _opened(self, name: str, model: AnyModel, folder: Any, keep: int) -> _LearningModel:
        """Return a model as its last good snapshot has it; a new one is stored."""
        if folder is None or self._journal is None:
            return _LearningModel(name, model, None, 0)
        snapshots = SnapshotFolder(Path(folder) / "snapshots" / name, keep)
        begun = self._journal.begun(name)
        snapshots.settle(begun)
        found = snapshots.latest_good(begun)
        if found is not None:
            opened = _LearningModel(name, found[1], snapshots, found[0].rows, self._journal.progress(name))
            damaged = snapshots.set_aside(found[0])
            opened.stored = -self._snapshot_rows if damaged else found[0].rows  # another one is written soon
            if damaged:
                self.notes.append(
                    f"{counted(damaged, 'snapshot')} of {name} cannot be read: learning resumes from {found[0].path}"
                )
            return opened
        if name == CHAMPION and (self._journal.end or snapshots.list()):
            raise JournalError(
                f"{folder}: no snapshot of the model can be read, and without one rows of the journal would be lost. "
                "Restore one from a copy, or replay the journal into the model that it was begun with: adaline journal "
                "replay"
            )
        made = _LearningModel(name, model, snapshots, self._journal.end)
        snapshots.write(model, made.rows)
        return made

    def _joined_layout(self) -> RowLayout:
        layouts = [one.layout for one in self._models.values()]
        return layouts[0].joined(layouts[1:])

    def _replay(self) -> None:
        """Learn the rows of the journal that are not in the snapshots."""
        if self._journal is None:
            return
        models = dict(self._models)
        since = min(one.rows for one in models.values())
        for first, table in tables_since(self._journal, since, self.layout.by_rows):
            for name, model in list(models.items()):
                try:
                    with kept_warnings():
                        model.replay(first, table)
                except AdalineError as error:
                    del models[name]
                    if name == CHAMPION:
                        self.failed = JournalError(f"rows of the journal cannot be learned: {error}")
                    else:
                        self._leave_out(name, str(error))

    def _begin_anew(self, given: Mapping[str, Any], folder: Any, keep: int) -> None:
        """Let challengers that could not learn the rows of the journal begin at its end, as they are given."""
        if self._journal is None or not given:
            return
        made = {}
        for name, model in given.items():
            snapshots = SnapshotFolder(Path(folder) / "snapshots" / name, keep)
            made[name] = _LearningModel(name, model, snapshots, self._journal.end)
            self.notes.append(f"challenger {name!r} starts again")
        self._store_versions(made)
        self._models = {**self._models, **made}
        self.layout = self._joined_layout()

    def _promote(self, name: str) -> None:
        champion, other = self._models[CHAMPION], self._challenger(name)
        self._publish([champion, other])
        mine, theirs = champion.current, other.current
        self._exchange({CHAMPION: theirs, name: mine}, {CHAMPION: other.totals, name: champion.totals})

    def _exchange(
        self, others: Mapping[str, Any], totals: Mapping[str, ErrorTotals] | None = None
    ) -> dict[str, Snapshot | None]:
        """Put models in the places of some, from the present row on, and store them; all or nothing."""
        new = {}
        for name, model in others.items():
            before = self._models[name]
            end = before.end if self._journal is None else self._journal.end  # one that failed has fewer rows
            new[name] = _LearningModel(name, model, before.folder, end, (totals or {}).get(name, NONE_YET))
        models = {**self._models, **new}
        layouts = [one.layout for one in models.values()]
        layout = layouts[0].joined(layouts[1:])
        made = self._store_versions(new)
        self._models, self.layout, self._version = models, layout, self._version + 1
        self.failed = None if CHAMPION in new else self.failed
        return made

    def _store_versions(self, new: Mapping[str, _LearningModel]) -> dict[str, Snapshot | None]:
        """Store models that take the places of others: all of them from one commit of the journal on, or none."""
        folders = {name: one.folder for name, one in new.items() if one.folder is not None}
        made: dict[str, Snapshot] = {}
        try:
            for name, folder in folders.items():
                made[name] = folder.prepare(new[name].kept, new[name].rows)
            if self._journal is not None:
                numbers = {name: one.number for name, one in made.items()}
                self._journal.append([], {name: one.totals for name, one in new.items()}, versions=numbers)
        except BaseException:
            for name, one in made.items():
                folders[name].discard(one)
            raise
        for name, one in made.items():
            try:
                folders[name].admit(one)
            except OSError as error:  # a restart will
                self.notes.append(f"snapshot {one.path} has no name yet: {error}")
        return {name: made.get(name) for name in new}

    def _challenger(self, name: str) -> _LearningModel:
        if name == CHAMPION or name not in self._models:
            there = ", ".join(list(self._models)[1:]) or "none"
            raise InvalidParameter(f"there is no challenger {name!r:.70}; there are: {there}")
        return self._models[name]

    # -- how threads speak to the one that learns ----------------------------------------------------------------

    def _asked(self, function: Callable[[], T]) -> T:
        """Return what a function returns, called by the thread that learns, after all that waits now."""
        request = _Request(function, Future())
        with self._changed:
            self._refuse_closed()
            self._work.append(request)
            self._changed.notify()
        found: T = request.future.result()
        return found

    def _refuse_closed(self) -> None:
        if self._closing:
            raise JournalError("the learner is closed: it takes no more rows")

    def _retry_after(self) -> float:
        return min(60.0, max(0.05, self._waiting * self._pace))


@dataclass(eq=False)
class _Submission:
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


class _Request(NamedTuple):
    """Something that the thread that learns is asked to do between two groups."""

    function: Callable[[], Any]
    future: Future[Any]

    def answer(self) -> None:
        """Do it, and set the future."""
        try:
            self.future.set_result(self.function())
        except BaseException as error:
            self.future.set_exception(error)


class _LearningModel:
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
        totals: ErrorTotals = NONE_YET,
    ) -> None:
        self.name, self.folder, self.layout = name, folder, RowLayout.of(model)
        self.kept = self.current = model
        self.rows = self.end = self.stored = rows
        self.totals = totals
        self.seen = rows_of(model) or 0
        self.pending: list[DecodedRows] = []
        self.due, self.exact = math.inf, True
        self.expands = has_basis(model)
        self._scans = hasattr(model, "learn_one")
        width = max(1, columns_on(model).width)
        self.block = SCANNED if self._scans else max(1, min(SUMMED, NUMBERS // width))
        self._published, self._cost = 0.0, 0.0

    @property
    def error(self) -> ProgressiveError:
        """The error of predictions, each made before its row was learned."""
        rows, error, recent_error, loss, recent_loss = self.totals
        measure = "error rate" if hasattr(self.current, "classes_") else "mean squared error"
        if not rows:
            return ProgressiveError(measure, 0, math.nan, math.nan, math.nan, math.nan)
        losses = (loss / rows, recent_loss) if gives_loss(self.current) else (math.nan, math.nan)
        return ProgressiveError(measure, rows, error / rows, recent_error, *losses)

    def judge(self, rows: DecodedRows) -> None:
        """Predict rows that are not learned yet, and count the errors."""
        if not len(rows):
            return
        try:
            with np.errstate(all="ignore"):
                errors, losses = row_errors(self.current, rows)
        except AdalineError:  # outputs overflow, of a model that has diverged
            return
        before, error, recent_error, loss, recent_loss = self.totals
        share = math.expm1(-len(errors) / RECENT) / math.expm1(-(before + len(errors)) / RECENT)
        self.totals = ErrorTotals(
            before + len(errors),
            error + float(errors.sum()),
            recent_error + share * (float(errors.mean()) - recent_error),
            loss + float(losses.sum()),
            recent_loss + share * (float(losses.mean()) - recent_loss),
        )

    def learn(self, rows: DecodedRows, after: Any = None) -> None:
        """Take rows: those of whole blocks into the model, others until theirs is whole.

        The model after them for predictions is given, or made when it is due.
        """
        self.pending.append(rows)
        self.end += len(rows)
        self.seen += len(rows)
        blocks = (self.end - self.rows) // self.block
        for _ in range(blocks):
            whole = joined(self.pending)
            self.kept = learned(self.kept, cut(whole, 0, self.block))
            self.rows += self.block
            self.pending = [cut(whole, self.block, len(whole))]
        if after is not None:
            self.current, self.exact = after, False
            if blocks:
                self.publish(0.0)  # which ends the history of the batches
        elif math.isinf(self.due):
            self.due = self._published + SHARE * self._cost

    def replay(self, first: int, table: Any) -> None:
        """Take those rows of a table of the journal, whose number is `first`, that are not in the model yet."""
        start = max(0, self.end - first)
        if start < table.num_rows:
            rows = self.layout.decoded(table, True)  # all of it: some formulas code a row by those it came with
            self.learn(cut(rows, start, len(rows)) if start else rows)

    def after(self, rows: DecodedRows) -> Any:
        """Return what `current` would be with more rows; refuse those that the model cannot learn, or diverges by.

        None for systems that do not learn row by row.
        """
        if not self._scans:
            return None
        try:
            with kept_warnings():
                if not math.isinf(self.due):
                    self.publish(0.0)
                found = learned(self.current, rows)
                again = learned(found, rows)  # a step that was too far shows in the error of the next one
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
        rest = joined(self.pending)
        try:
            self.current = learned(self.kept, rest) if len(rest) else self.kept
        finally:
            self._published = monotonic()
            self._cost = max(self._published - began, 0.0 if self._scans else seconds / SHARE)


def refuse_unlearned(model: AnyModel) -> None:
    """Refuse a model that cannot learn from more rows, before any row is taken."""
    if not hasattr(model, "partial_fit"):
        raise InvalidParameter(f"{type(model).__name__} cannot continue from a saved model: fit it again to all rows")
    if has_diverged(model):
        raise InvalidParameter(f"{type(model).__name__} cannot continue: {DIVERGED}")
    layout, columns = RowLayout.of(model), columns_on(model)
    wide = columns.count > NUMBERS // 16 or (columns.coding is not None and columns.coding.sparse)
    x = scipy.sparse.csr_array((1, columns.count)) if wide else np.zeros((1, columns.count))
    y = layout.classes[:1] if layout.classes is not None else np.zeros((1, len(layout.expressions)))
    with kept_warnings():
        learned(model, DecodedRows(as_coded(x), y[:, 0] if layout.classes is None and layout.flat else y))


def has_diverged(model: AnyModel) -> bool:
    """Return whether a model keeps its last good weights, whatever it is given."""
    return getattr(getattr(model, "certificate_", None), "status", None) is Status.DIVERGED


def learned(model: AnyModel, rows: DecodedRows) -> Any:
    """Return a model that has learned more rows; the one given stays as it is."""
    other = snapshot(model)
    x = rows.x if is_sparse(rows.x) else as_coded(np.ascontiguousarray(rows.x))  # by rows, whatever they came from
    weights = {} if rows.weight is None else {"sample_weight": rows.weight}
    other.partial_fit(x, rows.y, **weights)
    return other


def row_errors(model: AnyModel, rows: DecodedRows) -> tuple[Array, Array]:
    """Return the error of a model on each row, (n,), squared, or 1 for a wrong label; and its own loss of each, (n,).

    The loss of classifiers that give no probabilities is zero.
    """
    found = np.asarray(model.predict(rows.x))
    if not hasattr(model, "classes_"):
        squares = np.square(found - rows.y)
        squares = squares if squares.ndim == 1 else squares.mean(axis=1)
        errors = np.minimum(np.nan_to_num(squares, nan=WORST, posinf=WORST), WORST)
        return errors, errors
    errors = np.asarray(found != rows.y, dtype=np.float64)
    if not gives_loss(model):
        return errors, np.zeros(len(rows))
    shares = np.asarray(model.predict_proba(rows.x))
    given = shares[np.arange(len(rows)), np.searchsorted(model.classes_, rows.y)]
    return errors, -np.log(np.maximum(np.nan_to_num(given), LEAST))


def gives_loss(model: AnyModel) -> bool:
    """Return whether a model has a loss of its own for each row: a regression, or probabilities of classes."""
    return not hasattr(model, "classes_") or hasattr(model, "predict_proba")


def joined(parts: Sequence[DecodedRows]) -> DecodedRows:
    """Return rows one after the other."""
    if len(parts) == 1:
        return parts[0]
    if is_sparse(parts[0].x):
        x = scipy.sparse.vstack([part.x for part in parts], format="csr")
    else:
        x = np.concatenate([np.asarray(part.x) for part in parts])
    weights = [part.weight for part in parts if part.weight is not None]
    y = np.concatenate([part.y for part in parts])
    return DecodedRows(as_coded(x), y, np.concatenate(weights) if weights else None)


def cut(rows: DecodedRows, first: int, last: int) -> DecodedRows:
    """Return some of the rows."""
    weight = None if rows.weight is None else rows.weight[first:last]
    return DecodedRows(as_coded(rows.x[first:last]), rows.y[first:last], weight)


def replayed(model: AnyModel, journal: Journal, rows: int) -> Any:
    """Return a model, which contains so many rows of a journal, with the others, as a `Learner` would have it."""
    learning = _LearningModel(CHAMPION, model, None, rows)
    for first, table in tables_since(journal, rows, learning.layout.by_rows):
        learning.replay(first, table)
    learning.publish(0.0)
    return learning.current


def tables_since(journal: Journal, row: int, together: bool) -> Any:
    """Iterate over the rows of a journal from a number on: the number of the first, and an Arrow table.

    Batches of one schema are put `together` where rows are coded to the same bits however they are cut.
    """
    import pyarrow as pa

    kept: list[Any] = []
    first = count = 0
    for batch in journal.since(row):
        fits = kept and together and batch.rows.schema == kept[0].schema and count < REPLAYED
        if kept and not fits:
            yield first, pa.Table.from_batches(kept).combine_chunks()
            kept, count = [], 0
        first = first if kept else batch.first
        kept.append(batch.rows)
        count += int(batch.rows.num_rows)
    if kept:
        yield first, pa.Table.from_batches(kept).combine_chunks()


def _refuse_key(key: Any) -> None:
    """Refuse a key that the journal cannot hold."""
    if key is None:
        return
    if not isinstance(key, str):
        raise InvalidParameter(f"a key is a text, not {type(key).__name__}")
    try:
        key.encode()
    except UnicodeEncodeError:
        raise InvalidParameter("a key is a text that UTF-8 can write") from None


def _decoded(models: Mapping[str, _LearningModel], given: Any, layout: RowLayout) -> dict[str, DecodedRows]:
    """Return rows as each of the models takes them; refuse what one of them cannot learn.

    They are a record batch, or numbers (m, n) in the columns of a layout.
    """
    out = {}
    for name, model in models.items():
        if not isinstance(given, np.ndarray):
            out[name] = model.layout.decoded(given, True)
        elif model.layout.all_in(layout):
            out[name] = model.layout.decoded_numbers(given, layout)
        else:
            out[name] = model.layout.decoded(layout.batch_of_numbers(given), True)
        refuse_unlearnable(model.kept, out[name])
    return out


def _together(items: Sequence[_Submission]) -> list[_Submission]:
    """Return submissions, those of numbers that come one after the other as one."""
    out: list[_Submission] = []
    for (_, apart), run in groupby(items, lambda item: (id(item.layout), item.decoded is not None)):
        some = list(run)
        if not apart and len(some) > 1:
            numbers = np.concatenate([item.given for item in some], axis=1)
            some = [replace(some[0], given=numbers, count=numbers.shape[1])]
        out += some
    return out


def _batches(items: Sequence[_Submission]) -> list[Any]:
    """Return the rows of submissions as record batches, those one after the other together where cuts change no bit."""
    import pyarrow as pa

    out: list[Any] = []
    for _, run in groupby(items, lambda item: id(item.layout)):
        some = list(run)
        layout, given = some[0].layout, [item.given for item in some]
        batches = [layout.batch_of_numbers(one) if isinstance(one, np.ndarray) else one for one in given]
        joins = layout.by_rows and len(batches) > 1
        out += pa.Table.from_batches(batches).combine_chunks().to_batches() if joins else batches
    return out
