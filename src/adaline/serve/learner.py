"""A model that learns from many clients: one thread writes rows to the journal, learns from them, and answers.

Rows that wait are written to the journal in one commit, then learned in that order, then acknowledged. Predictions use
`current` without waiting. The model is a function of the rows in their order, to the bit, and a restart from the last
good snapshot and the journal gives the model of a run without interruption.
"""

from __future__ import annotations

import atexit
import re
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from os import PathLike
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Any

import numpy as np

from adaline.errors import (
    AdalineError,
    AdalineWarning,
    BadRows,
    InvalidParameter,
    JournalError,
    JournalFull,
    ModelFileError,
    kept_warnings,
)
from adaline.fitted import AnyModel
from adaline.serve.journal import ErrorTotals, Journal, checksum
from adaline.serve.learning_model import CHAMPION, DIVERGED, NO_ERRORS, LearningModel, has_diverged, refuse_unlearned
from adaline.serve.progressive_error import ProgressiveError
from adaline.serve.queue import LearningQueue, Receipt, Request, Submission, joined_numbers, record_batches
from adaline.serve.replay import tables_since
from adaline.serve.rows import MOST_COLUMNS, DecodedRows, RowLayout, refuse_unlearnable
from adaline.serve.snapshots import Snapshot, SnapshotFolder
from adaline.wording import counted

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
"""Names of challengers, which are those of folders."""
# keys that are remembered without a journal; doubling it takes twice the memory, and recognises older repeats
MOST_KEYS = 100_000


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
        self._queue = LearningQueue(queue_rows)
        self.notes: deque[str] = deque(maxlen=20)
        self._snapshot_rows, self._solve_seconds, self._version = snapshot_rows, solve_seconds, 0
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
        return self._queue.waiting

    @property
    def failed(self) -> AdalineError | None:
        """The error that ended learning, or None."""
        return self._queue.failed

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
        item = Submission(given, count, layout, key, crc, decoded, version, Future())
        item.future.set_running_or_notify_cancel()
        self._queue.put(item)
        return item.future

    def trouble(self) -> AdalineError | None:
        """Return why rows cannot be learned now; None where they can. A full disk is tried again, for the next call."""
        if self.failed is not None or not self.full:
            return self.failed
        self._queue.ask_once(self._try_disk)
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
            return self._queue.ask(self._publish_champion)
        self._thread.join()
        return self.current

    def promote(self, name: str) -> None:
        """Let a challenger and the champion change places."""
        self._challenger(name)
        self._queue.ask(lambda: self._promote(name))

    def replace(self, model: AnyModel) -> Snapshot | None:
        """Replace the model by a new version, even if it has failed; the new one learns the following rows."""
        refuse_unlearned(model)
        return self._queue.ask(lambda: self._exchange({CHAMPION: model}))[CHAMPION]

    def snapshots(self) -> list[Snapshot]:
        """Return the snapshots that there are to roll back to, the oldest first."""
        folder = self._models[CHAMPION].folder
        return [] if folder is None else folder.list()

    def rollback(self, snapshot: Snapshot | int) -> None:
        """Restore the model of a snapshot (or its number), without the rows learned since."""
        number = snapshot.number if isinstance(snapshot, Snapshot) else snapshot
        found = [one for one in self.snapshots() if one.number == number]
        if not found:
            there = ", ".join(str(one.number) for one in self.snapshots()) or "none"
            raise InvalidParameter(f"there is no snapshot {number}; there are: {there}")
        model = found[0].load()
        refuse_unlearned(model)
        self._queue.ask(lambda: self._exchange({CHAMPION: model}))

    def close(self) -> None:
        """Learn from all rows that wait, and end; later rows are refused."""
        self._queue.close()
        self._thread.join()
        atexit.unregister(self.close)

    # -- the thread that writes and learns -----------------------------------------------------------------------

    def _run(self) -> None:
        """Take what waits, group after group, until the end."""
        try:
            while (group := self._queue.next_group(self._next_due)) is not None:
                if isinstance(group, Request):
                    group.answer()
                elif group:
                    self._take(group)
                self._publish([one for one in self._models.values() if one.due <= monotonic()])
        except BaseException as error:
            if self.failed is None:
                self._fail(error)
        finally:
            self._end()

    def _next_due(self) -> float:
        """Return when the next model is to be published; infinity where none is."""
        return min(one.due for one in self._models.values())

    def _take(self, group: list[Submission]) -> None:
        """Write the batches of a group in one commit, learn from them in their order, and answer."""
        began, count = monotonic(), sum(item.count for item in group)
        try:
            self._queue.answer(group, self._learned(group))
        except BadRows as error:  # nothing is written yet
            self._queue.answer(group, error) if len(group) == 1 else self._take_each(group)
        except JournalError as error:
            self.full = isinstance(error, JournalFull)
            self._refused_bytes = sum(int(item.given.nbytes) for item in group)
            self._queue.answer(group, error)
        except BaseException as error:
            self._fail(error)
            self._queue.answer(group, self.failed or JournalError("the learner has ended"))
            if not isinstance(error, AdalineError):
                raise
        self._queue.took(monotonic() - began, count)

    def _take_each(self, group: list[Submission]) -> None:
        """Take the batches of a group one by one, where the model cannot learn from all of them."""
        rest = deque(group)
        try:
            while rest and self.failed is None:
                self._take([rest.popleft()])
        finally:
            if rest:
                self._queue.answer(list(rest), self.failed or JournalError("the learner has ended"))

    def _learned(self, group: list[Submission]) -> list[Receipt]:
        """Return the answers to the batches of a group that are not answered yet, once they are learned."""
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

    def _written(self, group: list[Submission]) -> tuple[dict[str, DecodedRows], Any]:
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
                    self._queue.answer(
                        [item], BadRows(f"the key {item.key!r:.70} is that of other rows, learned before")
                    )
                    group.remove(item)
                continue
            if item.version != self._version:
                try:
                    item.decoded = _decoded(self._models, item.given, item.layout)
                except BadRows as error:
                    self._queue.answer([item], error)
                    group.remove(item)
                    continue
            if item.key is not None:
                counts[item.key] = item.count, item.crc
            fresh.append(item)
        together = joined_numbers(fresh)
        parts = [one.decoded or _decoded(self._models, one.given, one.layout) for one in together]
        rows = {name: DecodedRows.join([part[name] for part in parts]) for name in self._models} if fresh else {}
        after = self._models[CHAMPION].after(rows[CHAMPION]) if fresh else None
        if self._journal is not None and fresh:
            progress = {name: one.totals for name, one in self._models.items()}
            keys = {item.key: (item.count, item.crc) for item in fresh if item.key is not None}
            self._journal.append([(None, batch) for batch in record_batches(together)], progress, keys)
        elif self._journal is None:
            self._keys = dict(list({**self._keys, **counts}.items())[-MOST_KEYS:]) if named else self._keys
        for item in repeated:
            group.remove(item)
        self._queue.answer(repeated, [Receipt(counts[str(item.key)][0], self.rows_seen, True) for item in repeated])
        return rows, after

    def _learn(self, model: LearningModel, rows: DecodedRows, after: Any) -> None:
        """Let one model learn, and write a snapshot where it is time; `after` is it with these rows, where known."""
        model.judge(rows)
        with kept_warnings() as said:
            model.learn(rows, after)
        self.notes.extend(text for text, _ in said if text not in self.notes)
        if model.rows - model.stored >= self._snapshot_rows:
            self._store(model)

    def _store(self, model: LearningModel) -> Snapshot | None:
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

    def _publish(self, models: Sequence[LearningModel]) -> None:
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

    def _fail(self, error: BaseException) -> None:
        """End learning; rows that wait are refused, and later ones."""
        self._queue.fail(
            error if isinstance(error, AdalineError) else JournalError(f"the learner has ended: {error!r}")
        )

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
            self._queue.end()
            if self._journal is not None:
                self._journal.close()

    # -- from the folder, and to other versions ------------------------------------------------------------------

    def _opened(self, name: str, model: AnyModel, folder: Any, keep: int) -> LearningModel:
        """Return a model as its last good snapshot has it; a new one is stored."""
        if folder is None or self._journal is None:
            return LearningModel(name, model, None, 0)
        snapshots = SnapshotFolder(Path(folder) / "snapshots" / name, keep)
        begun = self._journal.begun(name)
        snapshots.settle(begun)
        found = snapshots.latest_good(begun)
        if found is not None:
            opened = LearningModel(name, found[1], snapshots, found[0].rows, self._journal.progress(name))
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
        made = LearningModel(name, model, snapshots, self._journal.end)
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
                        self._queue.failed = JournalError(f"rows of the journal cannot be learned: {error}")
                    else:
                        self._leave_out(name, str(error))

    def _begin_anew(self, given: Mapping[str, Any], folder: Any, keep: int) -> None:
        """Let challengers that could not learn the rows of the journal begin at its end, as they are given."""
        if self._journal is None or not given:
            return
        made = {}
        for name, model in given.items():
            snapshots = SnapshotFolder(Path(folder) / "snapshots" / name, keep)
            made[name] = LearningModel(name, model, snapshots, self._journal.end)
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
        """Replace some models from the present row on, and store the new ones; all or none."""
        new = {}
        for name, model in others.items():
            before = self._models[name]
            end = before.end if self._journal is None else self._journal.end  # one that failed has fewer rows
            new[name] = LearningModel(name, model, before.folder, end, (totals or {}).get(name, NO_ERRORS))
        models = {**self._models, **new}
        layouts = [one.layout for one in models.values()]
        layout = layouts[0].joined(layouts[1:])
        made = self._store_versions(new)
        self._models, self.layout, self._version = models, layout, self._version + 1
        self._queue.failed = None if CHAMPION in new else self.failed
        return made

    def _store_versions(self, new: Mapping[str, LearningModel]) -> dict[str, Snapshot | None]:
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

    def _challenger(self, name: str) -> LearningModel:
        if name == CHAMPION or name not in self._models:
            there = ", ".join(list(self._models)[1:]) or "none"
            raise InvalidParameter(f"there is no challenger {name!r:.70}; there are: {there}")
        return self._models[name]


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


def _decoded(models: Mapping[str, LearningModel], given: Any, layout: RowLayout) -> dict[str, DecodedRows]:
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
