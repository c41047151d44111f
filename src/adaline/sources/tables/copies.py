"""Private copies of what cannot be read as it is: pipes, other encodings, spreadsheets, archives."""

from __future__ import annotations

import os
import re
from pathlib import Path

from adaline.leftovers import temporary_folder
from adaline.locks import cached_property
from adaline.sources.tables.failures import PIPES


class Copies:
    """A folder of copies that nobody else can read; it is made when it is needed and lasts as long as this object."""

    def __init__(self) -> None:
        self.given: dict[str, str] = {}  # what each copy is a copy of, as the user named it

    @cached_property
    def folder(self) -> str:
        """The path of the folder."""
        self._folder = temporary_folder(PIPES)
        return self._folder.name

    def new(self, name: str, suffix: str) -> str:
        """Return the path of a new copy of a file, or of another copy."""
        given = self.given.get(name, name)
        stem = re.sub(r"\W", "_", Path(given).stem.partition(".")[0]) or "copy"
        path = os.path.join(self.folder, stem + suffix)
        path = path if path not in self.given else os.path.join(self.folder, f"{stem}_{len(self.given)}{suffix}")
        self.given[path] = given
        return path
