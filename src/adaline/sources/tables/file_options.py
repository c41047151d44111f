"""How files are to be read where they do not say it themselves: options of `open_table` and the command line."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Self

from adaline.coding import Coding
from adaline.coding.numerals import FORMS, Notation
from adaline.errors import InvalidParameter


@dataclass(frozen=True)
class FileOptions:
    """How to read a file; what is None, or empty, is found from its content.

    Parameters
    ----------
    table : which table of a database, or a query on it.
    sheet : which sheet of a spreadsheet, by its name or its number, 1 for the first.
    decimal : the decimal sign of numbers written as text, "," or ".".
    na : words that stand for missing values in every column, in addition to the usual ones; with "" among them,
        instead of these, which are then levels of a category like others.
    encoding : the encoding of text files, such as "latin-1".
    notations : how the files of a fit wrote columns, which decides what those of a prediction leave open.
    levels : those of the categories of a fit, which are no words for missing values.
    unreadable : columns of text files, and texts in them; rows with one of these are left out.

    Examples
    --------
    >>> from adaline.sources.tables.file_options import FileOptions
    >>> FileOptions.of(decimal=",", na="n.d.").given()
    {'decimal': ',', 'na': ('n.d.',)}
    """

    table: str | None = None
    sheet: str | int | None = None
    decimal: str | None = None
    na: tuple[str, ...] = ()
    encoding: str | None = None
    notations: tuple[Notation, ...] = ()
    unreadable: tuple[tuple[str, tuple[str, ...]], ...] = ()
    levels: tuple[tuple[str, tuple[Any, ...]], ...] = ()

    @classmethod
    def of(
        cls,
        table: str | None = None,
        sheet: str | int | None = None,
        decimal: str | None = None,
        na: Any = (),
        encoding: str | None = None,
    ) -> Self:
        """Return the options, checked; `na` is a word or a list of words."""
        if decimal not in (None, ",", "."):
            raise InvalidParameter(f"decimal is ',' or '.', not {decimal!r}")
        words = (na,) if isinstance(na, str) else na if isinstance(na, list | tuple | set | frozenset) else (na,)
        words = () if na is None else tuple(words)
        if not all(isinstance(word, str) for word in words):
            raise InvalidParameter(f"na is a word or a list of words, not {na!r}")
        if encoding is not None:
            try:
                "".encode(encoding)
            except (LookupError, TypeError):
                raise InvalidParameter(
                    f"encoding: {encoding!r} is unknown; known are utf-8, latin-1, cp1252, utf-16 and others of Python"
                ) from None
        return cls(table, sheet, decimal, words, encoding)

    def given(self) -> dict[str, Any]:
        """Return the options that were set, by name."""
        names = (one.name for one in fields(self) if one.name not in ("notations", "unreadable", "levels"))
        return {name: getattr(self, name) for name in names if getattr(self, name) not in (None, ())}

    def as_fitted(self, coding: Coding) -> Self:
        """Return the options with the words for missing values and the notations that the files of a fit had.

        Those that were set take precedence: words over words, a decimal sign over the notations of numbers.
        """
        notations = coding.notations_to_read()
        if self.decimal is not None:
            notations = tuple(one for one in notations if one.form not in FORMS)
        levels = tuple((one.name, one.levels) for one in coding.columns if one.has_levels)
        return replace(self, na=self.na or coding.na, notations=notations, levels=levels)
