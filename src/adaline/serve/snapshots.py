"""Snapshots: model files in a folder, each with the number of rows of the journal that it contains.

A file is written beside its name, brought to the disk, and then given its name, which is brought to the disk too: after
a crash there is all of it or nothing. Model files have checksums: a damaged one is passed over, and set aside under
another name, so that it is not counted among those that are kept.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from adaline import storage
from adaline.errors import ModelFileError

NAME = re.compile(r"(\d{6,})-(\d+)\.adaline")
DAMAGED = ".damaged"  # at the end of the names of files that cannot be read


@dataclass(frozen=True, order=True)
class Snapshot:
    """A model file: `number` counts the snapshots of a model, `rows` are those of the journal that are in it."""

    number: int
    rows: int
    path: Path

    def load(self) -> Any:
        """Return the model."""
        return storage.load(self.path)


class SnapshotFolder:
    """The snapshots of one model, the last `keep` of them.

    Parameters
    ----------
    path : the folder.
    keep : how many are kept.
    new : whether the folder is made if it is not there.

    Examples
    --------
    >>> import tempfile
    >>> from adaline import LMS
    >>> from adaline.serve.snapshots import SnapshotFolder
    >>> with tempfile.TemporaryDirectory() as path:
    ...     folder = SnapshotFolder(path, keep=2)
    ...     for rows in (0, 100, 200):
    ...         _ = folder.write(LMS().fit([[1.0], [2.0]], [1.0, 2.0]), rows)
    ...     [(one.number, one.rows) for one in folder.list()]
    [(2, 100), (3, 200)]
    """

    def __init__(self, path: str | PathLike[str], keep: int = 5, new: bool = True) -> None:
        self.path, self.keep = Path(path), keep
        if new:
            self.path.mkdir(parents=True, exist_ok=True)

    def write(self, model: Any, rows: int) -> Snapshot:
        """Write a model that contains so many rows of the journal: all of it is on the disk, or nothing."""
        there = self.list()
        number = 1 + max((one.number for one in (*there, *self.list(DAMAGED))), default=0)
        made = Snapshot(number, rows, self.path / f"{number:06d}-{rows}.adaline")
        storage.save(model, made.path)
        _sync_folder(self.path)
        for old in there[: max(0, len(there) + 1 - self.keep)]:
            with suppress(OSError):
                old.path.unlink()
        return made

    def list(self, ending: str = "") -> list[Snapshot]:
        """Return the snapshots that are there, the oldest first; with `ending`, those whose names have it besides."""
        paths = self.path.glob(f"*.adaline{ending}")
        found = ((NAME.fullmatch(path.name.removesuffix(ending)), path) for path in paths)
        return sorted(Snapshot(int(name[1]), int(name[2]), path) for name, path in found if name)

    def latest_good(self) -> tuple[Snapshot, Any] | None:
        """Return the last snapshot that can be read, and its model; None where there is none."""
        for one in reversed(self.list()):
            with suppress(ModelFileError):
                return one, one.load()
        return None

    def set_aside(self, after: Snapshot) -> int:
        """Give another name to those after a snapshot, which cannot be read; return how many."""
        damaged = [one for one in self.list() if one.number > after.number]
        for one in damaged:
            one.path.rename(f"{one.path}{DAMAGED}")
        return len(damaged)


def _sync_folder(path: Path) -> None:
    """Bring the names in a folder to the disk, where the system knows how."""
    if os.name == "posix":
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
