"""`adaline learn`: learns from the lines of a pipe as they arrive, and prints progressive errors."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from select import select
from threading import current_thread, main_thread
from typing import Any

from adaline import storage
from adaline.cli.exit import MODEL_START, check_output, note
from adaline.cli.output import json_text, print_json, say
from adaline.cli.summary import certify, described, model_label, rows_text
from adaline.coding.numerals import plain_number
from adaline.errors import BadRows, Busy, InvalidData, InvalidParameter
from adaline.fitted import rows_of
from adaline.serve.learner import Learner
from adaline.serve.progressive_error import RECENT_ROWS, ProgressiveError
from adaline.serve.queue import Receipt
from adaline.serve.rows import RowColumn, RowLayout
from adaline.wording import counted, file_name

LINES_A_BATCH = 200  # lines that are learned together if they are there already; doubling it delays the first of them
MOST_PENDING = 16  # batches under way; doubling it takes twice the memory, and hides longer pauses of the service
SHOWN_FAULTS = 10  # lines left out that are named; doubling it makes the messages longer
LONGEST_LINE = 2**24  # characters of a line; doubling it takes twice the memory before a line is refused
TRUE, FALSE = ("true", "1", "yes"), ("false", "0", "no")


def run_learn(
    path: Path, data: str, every: int, journal: Path | None, form: str | None, output: Path | None, as_json: bool
) -> None:
    """Learn rows of a file or of standard input until its end, or until the command is interrupted; save the model."""
    saved = path if output is None else output
    model = storage.load(path)
    check_output(saved, replaces=MODEL_START)
    before = rows_of(model)
    if journal is not None and journal.exists() and not journal.is_dir():
        raise InvalidParameter(f"--journal {journal} is a file: name a folder")
    source = _Lines(data)
    learner = Learner(model, journal)
    feed = _Feed(learner, every, saved, as_json)
    try:
        with source.until_stopped():
            for line, row in _rows(source, form, learner.layout):
                feed.take(line, row)
                if not source.more:
                    feed.send()
            feed.finish()
            learner.close()
            _save(learner, saved, before, feed.left_out, as_json)
    finally:
        learner.close()


def _save(learner: Learner, saved: Path, before: int | None, left_out: int, as_json: bool) -> None:
    """Save the model, and print what it learned."""
    model = learner.latest()
    storage.save(model, saved)
    if left_out:
        note(f"{counted(left_out, 'line')} left out")
    error = learner.progressive
    if as_json:
        counts = {"rows_before": before, "rows_after": learner.rows_seen, "error_rows": error.rows}
        print_json({**described(model), **counts, **_as_json(error), "saved": str(saved)})
        return
    say(f"{model_label(model)}: {rows_text(before)} before, {rows_text(learner.rows_seen)} after")
    if error.rows:
        rows = counted(error.rows)
        say(f"progressive {error.measure}: {error.mean:.6g} over {rows}, each predicted before it was learned")
    certify(model.certificate_)
    say(f"saved: {file_name(saved)}")


def _without_row(error: BadRows) -> str:
    """Return a message without the number of the row in its batch: the user knows it as a line."""
    text = re.sub(rf"^row {error.row}(, |: )| at row {error.row}\b", "", str(error))
    return re.sub(rf"^row {error.row} ", "it ", text)


def _as_json(error: ProgressiveError) -> dict[str, Any]:
    """Return an error with its measure, for JSON."""
    return {"measure": error.measure, "progressive_error": error.mean, "recent_error": error.recent}


class _Feed:
    """Rows on their way to the learner, and the messages about them."""

    def __init__(self, learner: Learner, every: int, saved: Path, as_json: bool) -> None:
        self.learner, self.every, self.saved, self.as_json = learner, every, saved, as_json
        self.rows: list[tuple[int, dict[str, Any]]] = []
        self.under_way: deque[Future[Receipt]] = deque()
        self.left_out, self.until_report = 0, every - learner.rows_seen % every

    def take(self, line: int, row: dict[str, Any] | BadRows) -> None:
        """Take the row of a line, or the error in it."""
        if isinstance(row, BadRows):
            self._leave_out(line, row)
            return
        self.rows.append((line, row))
        if len(self.rows) >= min(LINES_A_BATCH, self.until_report):
            self.send()

    def send(self) -> None:
        """Hand the rows to the learner; lines that cannot be learned are left out and named."""
        rows, self.rows = self.rows, []
        while rows:
            try:
                self.under_way.append(self.learner.submit([row for _, row in rows]))
                self.until_report -= len(rows)
                break
            except Busy as busy:
                time.sleep(busy.retry_after)
            except BadRows as error:
                if error.row is None and len(rows) > 1:
                    for one in rows:
                        self.rows = [one]
                        self.send()
                    return
                line, _ = rows.pop(error.row or 0)
                self._leave_out(line, error)
        self._collect(MOST_PENDING if self.until_report else 0)
        if not self.until_report:
            self._report(self.learner.rows_seen)
            self.until_report = self.every

    def finish(self) -> None:
        """Send the remaining rows, and wait for all of them."""
        self.send()
        self._collect(0)

    def _collect(self, left: int) -> None:
        """Wait until no more than so many batches are under way."""
        while len(self.under_way) > left:
            self.under_way.popleft().result()

    def _report(self, seen: int) -> None:
        """Say how it goes, and save the model."""
        error = self.learner.progressive
        if self.as_json:
            print(json_text({"rows_seen": seen, **_as_json(error)}), file=sys.stderr)
        else:
            recent = f"{error.recent:.6g} recently (about the last {RECENT_ROWS:,.0f} rows)"
            means = f"{error.mean:.6g} over {counted(error.rows)}, {recent}"
            print(f"{seen:,} rows seen: progressive {error.measure} {means}", file=sys.stderr)
        storage.save(self.learner.latest(), self.saved)

    def _leave_out(self, line: int, error: BadRows) -> None:
        self.left_out += 1
        if self.left_out <= SHOWN_FAULTS:
            note(f"line {line} is left out: {_without_row(error)}")


class _Lines:
    """The lines of a file or of standard input as they come; `more` says whether another one is here already."""

    def __init__(self, data: str) -> None:
        self._own = data != "-"
        self.name = file_name(data) if self._own else "standard input"
        self.descriptor = os.open(data, os.O_RDONLY) if self._own else sys.stdin.fileno()
        self.more = False
        self._stop, self._stopped = os.pipe()

    def __iter__(self) -> Iterator[bytes]:
        rest = b""
        while part := self._read():
            *lines, rest = (rest + part).split(b"\n")
            if len(rest) > LONGEST_LINE:
                raise InvalidData(f"a line is longer than {LONGEST_LINE >> 20} MiB")
            for k, line in enumerate(lines):
                self.more = k + 1 < len(lines)
                yield line
        if rest:
            self.more = False
            yield rest

    def _read(self) -> bytes:
        """Return what comes next; nothing at the end, and once it is stopped."""
        if os.name == "posix" and self._stop in select([self.descriptor, self._stop], [], [])[0]:
            return b""
        return os.read(self.descriptor, 2**16)

    @contextmanager
    def until_stopped(self) -> Iterator[None]:
        """Let an interrupt end the lines instead of the command: it is passed on when all that was read is done."""
        number = 0

        def stop(signal_number: int, _: Any) -> None:
            nonlocal number
            number = signal_number
            os.write(self._stopped, b"x")

        kinds = (signal.SIGINT, signal.SIGTERM) if os.name == "posix" and current_thread() is main_thread() else ()
        before = {kind: signal.signal(kind, stop) for kind in kinds}
        try:
            yield
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)
            for end in (self._stop, self._stopped, *([self.descriptor] if self._own else [])):
                os.close(end)
        if number:
            signal.raise_signal(number)


def _rows(source: _Lines, form: str | None, layout: RowLayout) -> Iterator[tuple[int, dict[str, Any] | BadRows]]:
    """Iterate over the rows of JSON lines, or of CSV with a line of names, with the number of each line."""
    known = {column.name: column for column in (*layout.columns, *layout.learned)}
    names: list[str] | None = None
    for number, line in enumerate(source, 1):
        if number == 1 and b"\0" in line:
            raise InvalidData(
                f"{source.name} is not text: adaline learn reads JSON lines or CSV, adaline update other files"
            )
        text = line.decode("utf-8", "replace").strip("\r\ufeff")
        if not text.strip():
            continue
        if form is None:
            form = "jsonl" if text.lstrip().startswith("{") else "csv"
        try:
            if form == "jsonl":
                yield number, _of_json(text, known)
            elif names is None:
                names = next(csv.reader([text]))
                _refuse_other_names(names, layout)
            else:
                yield number, _of_csv(next(csv.reader([text])), names, known)
        except BadRows as error:
            yield number, error
        except csv.Error as error:
            yield number, BadRows(f"it is not CSV: {error}")


def _refuse_other_names(names: list[str], layout: RowLayout) -> None:
    """Refuse a table without the columns of the model: no line of it could be learned."""
    needed = (column for column in (*layout.columns, *layout.learned) if not column.optional)
    missing = [column.name for column in needed if column.name not in names]
    if missing:
        raise InvalidData(f"the first line has no column {missing[0]!r}; it has: {', '.join(names)}")


def _of_json(text: str, known: dict[str, RowColumn]) -> dict[str, Any]:
    """Return the row of a line of JSON, without what the model does not know."""
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRows(f"it is not JSON: {error}") from None
    if not isinstance(row, dict):
        raise BadRows("it is not a JSON object")
    return {name: value for name, value in row.items() if name in known}


def _of_csv(values: list[str], names: list[str], known: dict[str, RowColumn]) -> dict[str, Any]:
    """Return the row of a line of CSV, by the kinds of the columns, without what the model does not know."""
    if len(values) != len(names):
        raise BadRows(f"it has {len(values)} values, but there are {len(names)} columns")
    pairs = zip(names, values, strict=True)
    return {name: _value(value.strip(), known[name]) for name, value in pairs if name in known}


def _value(text: str, column: RowColumn) -> Any:
    """Return a value of CSV: nothing is a missing value."""
    if text in ("", "NA", "NULL"):
        return None
    if column.kind == "number":
        number = plain_number(text)
        return text if number is None else number  # a text is refused by the name of its column
    if column.kind == "boolean":
        return True if text.lower() in TRUE else False if text.lower() in FALSE else text
    return text
