"""Snapshots: model files in a folder, each with the number of rows of the journal that it contains.

A file is written under a temporary name, synced, renamed, and the rename is synced too: after a crash it is whole or
absent. Model files have checksums: a damaged one is skipped, and renamed, so that it does not count among those that
are kept.

A model that replaces another is written under a name of its own, and takes effect once the journal has the number of
its snapshot: no restart goes back before that, and several models are replaced together or not at all.
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
from adaline.fitted import AnyModel

NAME = re.compile(r"(\d{6,})-(\d+)\.adaline")
DAMAGED, PREPARED = ".damaged", ".prepared"
"""At the end of the names of files that cannot be read, and of those that the journal does not have yet."""


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
            make_folder(self.path)

    def write(self, model: AnyModel, rows: int) -> Snapshot:
        """Write a model that contains so many rows of the journal: all of it is on the disk, or nothing."""
        made = self._next(rows)
        storage.save(model, made.path)
        self._named()
        return made

    def prepare(self, model: AnyModel, rows: int) -> Snapshot:
        """Write a model as `write` does, under a name that does not count until `admit` or `settle`."""
        made = self._next(rows)
        storage.save(model, _prepared(made))
        sync_folder(self.path)
        return made

    def admit(self, prepared: Snapshot) -> None:
        """Let a snapshot that was prepared count."""
        _prepared(prepared).rename(prepared.path)
        self._named()

    def discard(self, prepared: Snapshot) -> None:
        """Remove a snapshot that was prepared."""
        _prepared(prepared).unlink(missing_ok=True)

    def settle(self, begun: int) -> None:
        """Admit what was prepared under the number that the journal has, after a crash; remove what it has not."""
        for one in self.list(PREPARED):
            known = Snapshot(one.number, one.rows, one.path.with_suffix(""))
            self.admit(known) if one.number == begun else self.discard(known)

    def _next(self, rows: int) -> Snapshot:
        """Return the snapshot that is written next."""
        there = (*self.list(), *self.list(DAMAGED), *self.list(PREPARED))
        number = 1 + max((one.number for one in there), default=0)
        return Snapshot(number, rows, self.path / f"{number:06d}-{rows}.adaline")

    def _named(self) -> None:
        """Bring a new name to the disk, and remove the snapshots before the last ones."""
        sync_folder(self.path)
        there = self.list()
        for old in there[: max(0, len(there) - self.keep)]:
            with suppress(OSError):
                old.path.unlink()

    def list(self, ending: str = "") -> list[Snapshot]:
        """Return the snapshots that are there, the oldest first; with `ending`, those whose names have it besides."""
        paths = self.path.glob(f"*.adaline{ending}")
        found = ((NAME.fullmatch(path.name.removesuffix(ending)), path) for path in paths)
        return sorted(Snapshot(int(name[1]), int(name[2]), path) for name, path in found if name)

    def latest_good(self, begun: int = 0) -> tuple[Snapshot, Any] | None:
        """Return the last snapshot that can be read, and its model; None where there is none.

        Those before number `begun` are of a model that another has taken the place of.
        """
        prepared = [one for one in self.list(PREPARED) if begun and one.number == begun]
        for one in sorted([*self.list(), *prepared], reverse=True):
            if one.number < begun:
                return None
            with suppress(ModelFileError):
                return one, one.load()
        return None

    def set_aside(self, after: Snapshot) -> int:
        """Give another name to those after a snapshot, which cannot be read; return how many."""
        damaged = [one for one in self.list() if one.number > after.number]
        for one in damaged:
            one.path.rename(f"{one.path}{DAMAGED}")
        return len(damaged)


def _prepared(snapshot: Snapshot) -> Path:
    return Path(f"{snapshot.path}{PREPARED}")


def make_folder(path: Path) -> None:
    """Make a folder, for its owner alone, and those above it that are not there; bring all their names to the disk."""
    missing = [one for one in (path, *path.parents) if not one.exists()]
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    for one in missing:
        sync_folder(one.parent)


def sync_folder(path: Path) -> None:
    """Bring the names in a folder to the disk, where the system knows how."""
    if os.name == "posix":
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
