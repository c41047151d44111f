"""Private copies of what cannot be read as it is: pipes, other encodings, spreadsheets, archives."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path

from adaline.leftovers import temporary_folder
from adaline.locks import cached_property
from adaline.sources.tables.failures import PIPES


class Copies:
    """A folder of copies that nobody else can read; it is made when it is needed and lasts as long as this object.

    Examples
    --------
    >>> from adaline.sources.tables.copies import Copies
    >>> copies = Copies()
    >>> copy = copies.new("rows.csv", ".csv", without=[3])
    >>> [copies.line(copies.new(copy, ".csv"), line) for line in (2, 3)]
    [2, 4]
    """

    def __init__(self) -> None:
        self.given: dict[str, str] = {}  # what each copy is a copy of, as the user named it
        self._origins: dict[str, tuple[str, list[int], int]] = {}  # likewise, maybe a copy; lines left out; lines more

    @cached_property
    def folder(self) -> str:
        """The path of the folder."""
        self._folder = temporary_folder(PIPES)
        return self._folder.name

    def new(self, name: str, suffix: str, without: Collection[int] = (), moved: int = 0) -> str:
        """Return the path of a new copy of a file, or of another copy.

        It lacks some lines of that, counted from 1, and its rows may be some lines further up, or down if negative.
        """
        given = self.given.get(name, name)
        stem = re.sub(r"\W", "_", Path(given).stem.partition(".")[0]) or "copy"
        path = os.path.join(self.folder, stem + suffix)
        path = path if path not in self.given else os.path.join(self.folder, f"{stem}_{len(self.given)}{suffix}")
        self.given[path] = given
        self._origins[path] = name, sorted(without), moved
        return path

    def line(self, name: str, line: int) -> int:
        """Return the line, as the user's file has it, of a line of a copy; of other files the line itself."""
        while name in self._origins:
            name, without, moved = self._origins[name]
            line += moved
            for gone in without:
                line += gone <= line
        return line
