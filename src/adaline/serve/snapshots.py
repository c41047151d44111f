"""Snapshots: model files in the folder of a journal, each with the number of rows of the journal that it contains."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any


@dataclass(frozen=True, order=True)
class Snapshot:
    """A model file: `number` counts the snapshots of a model, `rows` are those of the journal that are in it."""

    number: int
    rows: int
    path: Path


class SnapshotFolder:
    """The snapshots of one model, the last `keep` of them.

    Parameters
    ----------
    path : the folder, made if it is not there.
    keep : how many are kept.
    """

    def __init__(self, path: str | PathLike[str], keep: int = 5) -> None:
        raise NotImplementedError

    def write(self, model: Any, rows: int) -> Snapshot:
        """Write a model that contains so many rows of the journal: all of it is on the disk, or nothing."""
        raise NotImplementedError

    def list(self) -> list[Snapshot]:
        """Return the snapshots that are there, the oldest first."""
        raise NotImplementedError

    def latest_good(self) -> tuple[Snapshot, Any] | None:
        """Return the last snapshot that can be read, and its model; None where there is none."""
        raise NotImplementedError
