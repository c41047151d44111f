"""Text files as they are opened: those that cannot be read as they are get copies, and notes say so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any

from adaline.errors import UnreadableTable
from adaline.sources.tables.boxes import is_boxed, write_unboxed
from adaline.sources.tables.copies import Copies
from adaline.sources.tables.database import Connection, Database
from adaline.sources.tables.encodings import is_utf8, write_utf8
from adaline.sources.tables.failures import Reporting
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.files import are_small, check_compressed, is_compressed
from adaline.sources.tables.fixed_width import write_fixed
from adaline.sources.tables.footers import find_footer, find_subtotals
from adaline.sources.tables.layout import FIXED, SPACES, Layout, OtherEncoding, read_layout
from adaline.sources.tables.notation import describe_conversions
from adaline.sources.tables.opened import Opened
from adaline.sources.tables.text import (
    MISFIT,
    MIXED_ENDS,
    UNCLOSED,
    check_layout,
    find_dialect,
    find_repeated_names,
    has_escaped_quotes,
    is_alike,
    is_cut,
    with_common_names,
    write_commas,
    write_doubled,
    write_emptied,
    write_like,
    write_line_feeds,
    write_padded,
    write_without_lines,
)
from adaline.sources.tables.text_files import TextFiles, malformed_lines
from adaline.wording import file_name


def integrity_of(files: Sequence[str]) -> Future[None] | None:
    """Start to check the compressed files among some; None where there are none."""
    compressed = [name for name in files if is_compressed(name)]
    return check_compressed(compressed) if compressed else None


class TextOpening:
    """Text files while they are opened: `files` are those given, or copies of them so far.

    A table that `keeps_totals` writes the lines of totals below it somewhere, so that no note speaks of them.
    """

    def __init__(
        self, title: str, files: Sequence[str], options: FileOptions, copies: Copies, keeps_totals: bool
    ) -> None:
        self.title, self.options, self.copies, self.keeps_totals = title, options, copies, keeps_totals
        self.files: list[str] = list(files)
        self.notes: tuple[str, ...] = ()
        self.totals: tuple[tuple[str, ...], ...] = ()
        self.layout: Layout | None = None
        self.integrity: Future[None] | None = None
        self.database = Database(Connection(files))

    def open(self, given: Sequence[str], notes: tuple[str, ...]) -> Opened:
        """Return the files as one table, with their names as given; those that are not UTF-8 are converted."""
        self.notes = notes
        if self.options.encoding is not None:
            self._convert()
        self.integrity = integrity_of(self.files)
        try:
            found = self._read(given)
        except UnreadableTable as error:
            other = isinstance(error, OtherEncoding) or (self.layout is not None and not all(map(is_utf8, self.files)))
            if other and self.options.encoding is None:
                self._convert()
            elif MIXED_ENDS in str(error) and not self.copies.given:
                self._rewrite(write_line_feeds)
            elif self._pad_short_rows(str(error)):
                pass
            elif UNCLOSED in str(error) and not self.copies.given and any(map(has_escaped_quotes, self.files)):
                self._rewrite(write_doubled)
            else:
                raise
            found = self._read(given)
        return Opened(
            self.title,
            self.title,
            found.sql,
            self.database,
            self.files,
            given,
            text=found,
            notes=(*self.notes, *found.layout.notes, *describe_conversions(found.dialect.conversions)),
            totals=self.totals,
            copies=self.copies,
            integrity=self.integrity,
        )

    def _read(self, given: Sequence[str]) -> TextFiles:
        """Return the files with their layout and the types of their columns."""
        if is_boxed(self.files[0]):
            self._rewrite(write_unboxed)
        layout = self.layout = read_layout(self.files[0])
        if layout.separator in (SPACES, FIXED):
            first, fixed = self.files[0], layout.separator == FIXED
            self._rewrite(partial(write_fixed, like=first) if fixed else write_commas)
            if fixed:
                self._note("read as columns of fixed width")
            layout = self.layout = read_layout(self.files[0])
        layout = self.layout = self._align(layout)
        if words := [word for word in self.options.na if is_cut(word, layout.separator)]:
            self._rewrite(partial(write_emptied, found=layout, words=words))
        below = {name: found for name in self.files if (found := find_footer(name, layout)) is not None}
        if below:
            for name, footer in below.items():
                self._replace_file(name, footer.write_without(name, self.copies.new(name, ".csv")))
            texts = read_layout(self.files[0]).texts  # without those of the lines below the table
            layout = self.layout = replace(layout, texts=texts)
            self.totals = tuple(total for footer in below.values() for total in footer.totals)
            told = (one.note for one in below.values() if not (self.keeps_totals and one.only_totals))
            self._note(*told)
        whole = are_small(self.files)
        if whole:
            self._leave_out_lines(layout)
        dialect = find_dialect(self.files, layout, partial(self._rows, given), whole, self.options)
        return TextFiles(self.title, self.files, given, self.copies, layout, dialect)

    def _rows(self, given: Sequence[str], sql: str) -> list[Any]:
        """Return the rows of the result of a query on the files."""
        with Reporting(self.title, partial(self._explain, given), self.copies.given):
            return self.database.rows(sql)

    def _explain(self, given: Sequence[str], known: str | None) -> str | None:
        """Return why files could not be read: they are damaged, or what is known, or their first malformed line."""
        if self.integrity is not None and (error := self.integrity.exception()) is not None:
            return str(error)
        if self.layout is None or not (known is None or are_small(self.files)):
            return known
        return malformed_lines(self.files, self.layout, given, self.copies) or known

    def _align(self, wanted: Layout) -> Layout:
        """Replace files that are written differently from the first by copies like it; return the layout of all.

        They may have another order of columns, another separator, and columns that others do not have: those that all
        have are read, with a note about the rest.
        """
        found = {name: wanted if name == self.files[0] else read_layout(name) for name in self.files}
        common = with_common_names(found, wanted)
        every = dict.fromkeys(name for one in found.values() for name in one.names)
        rest = [name for name in every if name not in common.names]
        if rest and all(is_alike(one, common) for one in found.values()):
            lacking = next(name for name, one in found.items() if rest[0] not in one.names)
            shown = ", ".join(map(repr, rest[:5])) + ", ..." * (len(rest) > 5)
            own = f"column{'s' * (len(rest) > 1)} {shown} {'are' if len(rest) > 1 else 'is'} left out"
            missing = self.copies.given.get(lacking, lacking)
            self._note(f"{own}: {missing} has no column {rest[0]!r}; open each file separately to use it")
        other = [name for name, one in found.items() if one.separator != common.separator]
        if other and self.options.decimal is None:
            shown = file_name(self.copies.given.get(other[0], other[0]))
            self._note(
                f"the values of {shown}{f' and {len(other) - 1:,} more' * (len(other) > 1)} are not separated as those "
                "of the first file, whose decimal separator is used for all; decimal= sets another"
            )
        for name, one in found.items():
            if one != common and is_alike(one, common):
                moved = one.skip + one.header - common.skip - common.header
                copy = write_like(name, one, common, self.copies.new(name, ".csv", moved=moved))
                self._replace_file(name, copy)
                name, one = copy, read_layout(copy)
            check_layout(self.files[0], common, name, one)
        return common

    def _pad_short_rows(self, error: str) -> bool:
        """Replace a file whose short rows lack values at their ends by a copy that has empty ones; False if not."""
        if self.layout is None or len(self.files) > 1 or not are_small(self.files) or not MISFIT.search(error):
            return False
        copy = self.copies.new(self.files[0], ".csv")
        lines = [self.copies.line(copy, one) for one in write_padded(self.files[0], self.layout, copy)]
        if not lines:
            del self.copies.given[copy]
            return False
        self._replace_files([copy])
        have = "has" if len(lines) == 1 else "have"
        self._note(f"{shown_lines(lines)} {have} no values at the end, which are read as missing")
        return True

    def _leave_out_lines(self, found: Layout) -> None:
        """Replace files in which the line of names occurs again, or that have subtotals, by copies without these."""
        for name in list(self.files):
            names = find_repeated_names(name, found)
            totals = [] if self.keeps_totals else find_subtotals(name, found)
            if not names and not totals:
                continue
            lines = sorted([*names, *totals])
            self._replace_file(name, write_without_lines(name, lines, self.copies.new(name, ".csv", without=lines)))
            if names:
                verbs = ("repeats", "is") if len(names) == 1 else ("repeat", "are")
                self._note(f"{shown_lines(names)} {verbs[0]} the names of the columns and {verbs[1]} left out")
            if totals:
                verbs = ("is a subtotal", "is") if len(totals) == 1 else ("are subtotals", "are")
                self._note(f"{shown_lines(totals)} {verbs[0]} of the rows above and {verbs[1]} left out")

    def _convert(self) -> None:
        """Replace files by copies in UTF-8."""
        copies = [self.copies.new(name, ".csv") for name in self.files]
        found = {write_utf8(name, self.options.encoding, copy) for name, copy in zip(self.files, copies, strict=True)}
        self._replace_files(copies)
        if self.options.encoding is None:
            self._note(f"the file is decoded as {' and '.join(sorted(found))}; encoding= overrides this")

    def _rewrite(self, write: Callable[[str, str], str]) -> None:
        """Replace all files by copies in plain CSV, as `write(file, copy)` makes and returns them."""
        self._replace_files([write(name, self.copies.new(name, ".csv")) for name in self.files])

    def _replace_file(self, name: str, copy: str) -> None:
        """Read a copy of a file instead of it."""
        self._replace_files([copy if one == name else one for one in self.files])

    def _replace_files(self, copies: list[str]) -> None:
        """Read copies of the files instead of them, by a connection that reads these alone."""
        self.files, self.integrity, self.database = copies, None, Database(Connection(copies))

    def _note(self, *notes: str) -> None:
        """Add notes on how the files were understood."""
        self.notes = (*self.notes, *notes)


def shown_lines(lines: Sequence[int]) -> str:
    """Return some lines, as in "lines 3, 7": the first five, and the number of the others."""
    more = f" and {len(lines) - 5} more" if len(lines) > 5 else ""
    return f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines[:5]))}{more}"
