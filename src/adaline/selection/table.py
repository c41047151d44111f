"""`ErrorTable`: errors of candidates as a table, printed as text or HTML, or as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any

from adaline.inference.summary import escaped, frame_of, html_row, html_table, text_table
from adaline.wording import visible

LONGEST_NOTE = 120  # characters of a note; doubling it makes the table wider


@dataclass(frozen=True)
class ErrorTable:
    """Rows of errors.

    Parameters
    ----------
    title : what the rows are.
    headings, cells : as they are printed; the first `left` and the last `ends` columns are text.
    rows : the same as plain values by name; iterating and indexing give these.
    notes : lines below.
    sections : headings between the rows, by the index of the row that each stands above.
    """

    title: str
    headings: Sequence[str]
    cells: Sequence[Sequence[str]]
    rows: Sequence[dict[str, Any]]
    notes: Sequence[str] = ()
    left: int = 2
    ends: int = 0
    sections: Mapping[int, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return title, rows and notes as plain values."""
        return {"title": self.title, "rows": [dict(row) for row in self.rows], "notes": list(self.notes)}

    def to_frame(self) -> Any:
        """Return the rows as a frame: of pandas where it is installed, else of polars or Arrow."""
        return frame_of(self.rows)

    @property
    def lines(self) -> list[tuple[dict[str, Any] | None, Sequence[str]]]:
        """The row and the cells of every line; a heading of a section has no row and one cell that is not empty."""
        out: list[tuple[dict[str, Any] | None, Sequence[str]]] = []
        for i, (row, cells) in enumerate(zip(self.rows, self.cells, strict=True)):
            if i in self.sections:
                name = f"{self.sections[i]}:"
                out.append((None, [name if j == self.left - 1 else "" for j in range(len(cells))]))
            out.append((row, cells))
        return out

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __getitem__(self, i: int) -> dict[str, Any]:
        return self.rows[i]

    def __str__(self) -> str:
        cells = [cells for _, cells in self.lines]
        lines = [line.rstrip() for line in text_table(self.headings, cells, self.left, self.ends)]
        return visible("\n".join([self.title, "", *lines, *([""] if self.notes else []), *self.notes]))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        body = "".join(html_row(row) for _, row in self.lines)
        notes = "".join(f"<p>{escaped(note)}</p>" for note in self.notes)
        return html_table(self.title, self.headings, body) + notes


def grouped_notes(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return a line for each different text, with the names of the candidates that it is about; "" is left out.

    Examples
    --------
    >>> from adaline.selection.table import grouped_notes
    >>> grouped_notes([("a", "slow"), ("b", ""), ("c", "slow")])
    ['a; c: slow']
    """
    by_text: dict[str, list[str]] = {}
    for name, text in pairs:
        if text:
            by_text.setdefault(shorten(text, LONGEST_NOTE, placeholder=" ..."), []).append(name)
    return [f"{'; '.join(names)}: {text}" for text, names in by_text.items()]
