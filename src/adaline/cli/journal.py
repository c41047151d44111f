"""`adaline journal`: the rows that a model in service has acknowledged, replayed, exported, or removed once stored."""

from __future__ import annotations

from pathlib import Path

from adaline import storage
from adaline.cli.exit import MODEL_START, check_output
from adaline.cli.output import say
from adaline.cli.summary import certify, model_label, rows_text
from adaline.errors import InvalidParameter, JournalError
from adaline.fitted import rows_of
from adaline.serve.journal import WRITERS, Journal
from adaline.serve.learning_model import CHAMPION
from adaline.serve.replay import replayed
from adaline.serve.snapshots import SnapshotFolder
from adaline.wording import counted, file_name

COMPACT = "journal compact writes no file: leave out -o"


def run_journal(action: str, folder: Path, model: Path | None, output: Path | None) -> None:
    """Replay, compact or export the journal of a folder."""
    if (output is None) != (action == "compact"):
        raise InvalidParameter(COMPACT if output else f"name a file for {action}: -o")
    if model is not None and action != "replay":
        raise InvalidParameter(f"--model goes with replay, not with {action}")
    if action == "replay":
        check_output(output, replaces=MODEL_START)
        _replay(folder, model, Path(str(output)))
    elif action == "export":
        check_output(output, tuple(WRITERS))
        with Journal(folder) as journal:
            say(f"{counted(journal.export(str(output)))} written to {file_name(output)}")
    else:
        with Journal(folder, writes=True, new=False) as journal:
            stored = min((_stored(path) for path in (folder / "snapshots").glob("*")), default=0)
            say(f"{counted(journal.compact(stored))} removed, which are in the oldest snapshot")


def _replay(folder: Path, path: Path | None, output: Path) -> None:
    """Save the model with all rows: the last good snapshot, or a model that is given, and the rows since."""
    with Journal(folder) as journal:
        if path is not None:
            model, rows = storage.load(path), journal.begin
        else:
            snapshots = SnapshotFolder(folder / "snapshots" / CHAMPION, new=False)
            found = snapshots.latest_good(journal.begun(CHAMPION))
            if found is None:
                raise JournalError(f"{folder}: no snapshot can be read: give the model it was started with as --model")
            rows, model = found[0].rows, found[1]
        before = rows_of(model)
        model = replayed(model, journal, rows)
    storage.save(model, output)
    say(f"{model_label(model)}: {rows_text(before)} before, {rows_text(rows_of(model))} after")
    certify(model.certificate_)
    say(f"saved: {file_name(output)}")


def _stored(path: Path) -> int:
    """Return the rows of the oldest snapshot of a model."""
    return min((one.rows for one in SnapshotFolder(path, new=False).list()), default=0)
