"""Text files that are read as one table: the layout of their lines, the types of their columns, and their lines."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from adaline.coding.numerals import MISSING_WORDS, Notation
from adaline.locks import cached_property
from adaline.sources.tables.copies import Copies
from adaline.sources.tables.failures import Reporting
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.files import are_small, is_compressed
from adaline.sources.tables.layout import Layout
from adaline.sources.tables.sql import quoted, text
from adaline.sources.tables.text import (
    Dialect,
    Query,
    find_dialect,
    find_errors,
    lines_with,
    row_lines,
    text_words,
)


@dataclass(frozen=True)
class TextFiles:
    """Text files that are read as one table.

    Parameters
    ----------
    title : what messages call them.
    files : the files, or copies of those that cannot be read as they are.
    given : the files as the user named them.
    copies : what is a copy of what.
    layout : how the lines of all files are written.
    dialect : how DuckDB reads them.
    """

    title: str
    files: Sequence[str]
    given: Sequence[str]
    copies: Copies
    layout: Layout
    dialect: Dialect

    @property
    def sql(self) -> str:
        """SQL that reads the files as one table."""
        return self.dialect.sql(self.files)

    @property
    def small(self) -> bool:
        """Whether the files are so small that all their rows are looked at."""
        with Reporting(self.title):
            return are_small(self.files)

    def with_texts(self, names: Collection[str]) -> TextFiles:
        """Return the same files with some columns read as text."""
        return replace(self, dialect=self.dialect.with_texts(names))

    def reread(self, options: FileOptions, query: Query) -> TextFiles:
        """Return the same files, read by other options."""
        return replace(self, dialect=find_dialect(self.files, self.layout, query, self.small, options))

    def differs(self, options: FileOptions, notations: Iterable[Notation], query: Query) -> bool:
        """Whether other notations, or words for missing values in columns of text, would change what is read."""
        types = dict(zip(self.dialect.layout.names, self.dialect.types, strict=True))
        own = {name: (one.form, one.unit) for one in self.dialect.notations(list(types)) for name in one.columns}
        written_otherwise = any(
            (types.get(name) in ("VARCHAR", "DOUBLE") or (name in types and one.scaled))
            and own.get(name) != (one.form, one.unit)
            for one in notations
            for name in one.columns
        )
        return written_otherwise or text_words(self.dialect, self.files, query, options) != self.dialect.text_words

    def find_unreadable(self, names: Iterable[str], query: Query) -> list[str]:
        """Return the columns some of whose values are not of the type of the others.

        Such a value may be in another file than the first, or beyond the rows that types are found from.
        """
        if len(self.files) == 1 and self.small:
            return []
        kinds = dict(zip(self.dialect.layout.names, self.dialect.types, strict=True))
        failed = {one.name: one.failed for one in self.dialect.conversions}
        for name in names:
            if kinds.get(name, "VARCHAR") != "VARCHAR":
                failed[name] = f"{quoted(name)} IS NOT NULL AND TRY_CAST({quoted(name)} AS {kinds[name]}) IS NULL"
        chosen = [name for name in names if name in failed]
        if not chosen:
            return []
        asked = ", ".join(f"bool_or({failed[name]})" for name in chosen)
        found = query(f"SELECT {asked} FROM {self.with_texts(chosen).sql}")[0]
        return [name for name, wrong in zip(chosen, found, strict=True) if wrong]

    def gap_words(self, names: Iterable[str], query: Query) -> dict[str, dict[str, int]]:
        """Return the words that are read as missing values in columns of text, the most frequent first, and how often.

        These are the usual words, which might be levels of a category; of large files none are returned.
        """
        if not self.small:
            return {}
        table = self.dialect.as_written.sql(self.files)
        usual = [word for word in MISSING_WORDS if word and word in self.dialect.words]
        out: dict[str, dict[str, int]] = {}
        for name in names:
            words = ", ".join(map(text, [*usual, *self.dialect.text_words.get(name, ())]))
            if not words:
                continue
            one = quoted(name)
            rows = f"SELECT {one}, count(*) AS n FROM {table} WHERE {one} IN ({words})"
            found = query(f"{rows} GROUP BY 1 ORDER BY n DESC, 1")
            out |= {name: dict(found)} if found else {}
        return out

    @cached_property
    def _row_lines(self) -> list[tuple[str, Sequence[int]]]:
        """The files, and the line in which each row of them begins."""
        with Reporting(self.title, given=self.copies.given):
            return [(name, row_lines(name, self.layout)) for name in self.files]

    def line_name(self, row: int) -> str | None:
        """Return what to call the line in which a row of the files begins; None where there are fewer rows."""
        for name, lines in self._row_lines:
            if row < len(lines):
                of = f" of {self.copies.given.get(name, name)}" if len(self.files) > 1 else ""
                return f"line {self.copies.line(name, lines[row])}{of}"
            row -= len(lines)
        return None

    def lines_with(self, column: str, values: Collection[str], most: int) -> tuple[int, ...]:
        """Return the first lines of a file that have one of some values in a column; none where that is slow."""
        if len(self.files) > 1 or not self.small:
            return ()
        name = self.files[0]
        return tuple(self.copies.line(name, one) for one in lines_with(name, self.layout, column, values, most))

    def explain(self, known: str | None, query: Query) -> str | None:
        """Return why files could not be read: the first malformed line, a value that does not fit, or what is known."""
        damage = None
        if known is None or self.small:
            damage = malformed_lines(self.files, self.layout, self.given, self.copies)
        return damage or self._unconverted(query) or known

    def _unconverted(self, query: Query) -> str | None:
        """Return which value does not fit the notation that the first rows of its column have."""
        for one in self.dialect.conversions:
            table = self.with_texts([one.name]).sql
            found = next(iter(query(f"SELECT {quoted(one.name)} FROM {table} WHERE {one.failed} LIMIT 1")), None)
            if found is not None:
                where = "".join(f" in line {line}" for line in self.lines_with(one.name, found, 1))
                return (
                    f"{self.title}: column {one.name!r} holds {found[0]!r}{where}, not a "
                    f"value like {one.example!r}: name it in na= if it stands for a missing value, or the column in "
                    "categories="
                )
        return None


def malformed_lines(files: Sequence[str], layout: Layout, given: Collection[str], copies: Copies) -> str | None:
    """Return which lines of which file are malformed, or None. Reads all of the files."""
    for name in files:
        own = name in given and not is_compressed(name)
        if found := find_errors(name, layout, own, partial(copies.line, name)):
            return f"{name}{found}"
    return None
