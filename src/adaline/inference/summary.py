"""Tables of results: text in a terminal, HTML in a notebook."""

from __future__ import annotations

import html
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from adaline.attributes import own_attributes
from adaline.lazy import nw
from adaline.parameters import NONE, AnyOf, one_of
from adaline.results import Certificate, Status
from adaline.wording import counted, number, p_value, visible

STATISTICS = ("estimate", "std_error", "statistic", "p_value", "lower", "upper")
FrameBackend = Literal["pandas", "polars", "pyarrow"]
AnyFrame = Any
"""A frame of one of these packages."""
SEPARATED = (Status.SEPARATED, Status.QUASI_SEPARATED)


class Part(NamedTuple):
    """Coefficients of one target: a heading, rows with a name and numbers by column, and lines that follow them."""

    heading: str
    rows: list[dict[str, Any]]
    lines: list[str]


@dataclass(frozen=True)
class CoefficientTable(ABC):
    """Coefficients with their statistics, how well the model fits, and its certificate."""

    title: str
    names: list[str]
    targets: list[str]
    parts: Sequence[Any]
    level: float
    rows: int
    weight: float
    certificate: Certificate
    notes: list[str]
    intercept: bool
    left_out: dict[str, str] = field(default_factory=dict, kw_only=True)
    absorbed: dict[str, int] = field(default_factory=dict, kw_only=True)
    """Levels of each column whose effects were absorbed."""

    columns: ClassVar[tuple[str, ...]] = STATISTICS

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""

    def to_frame(self, backend: FrameBackend | None = None) -> AnyFrame:
        """Return the coefficients as a frame, one row each, intercept first, with columns as in `to_dict`.

        Of pandas where it is installed, else of polars or Arrow, or of `backend`: "pandas", "polars" or "pyarrow".

        Examples
        --------
        >>> from adaline import LinearRegression
        >>> model = LinearRegression().fit([[1.0], [2.0], [3.0]], [2.0, 4.1, 6.0])
        >>> frame = model.summary().to_frame()
        >>> frame["name"].to_list(), frame["estimate"].round(3).to_list()
        (['intercept', 'x0'], [0.033, 2.0])
        """
        return frame_of(self.to_dict()["coefficients"], backend)

    def _statistic(self) -> str:
        """Return the heading of the statistic that judges a coefficient."""
        return "z"

    def _heading(self, target: str) -> str:
        """Return what stands above the coefficients of a target."""
        return f"target {target}" if len(self.targets) > 1 else ""

    def _lines(self, part: Any) -> list[str]:
        """Return lines about the fit of one target."""
        return []

    def closing(self) -> list[str]:
        """Return lines about the model as a whole."""
        return []

    def groups(self) -> list[dict[str, str]]:
        """Return columns and their headings; in text each group is a table of its own."""
        headings = ("estimate", "std error", self._statistic(), "p", *self._ends())
        return [dict(zip(STATISTICS, headings, strict=True))]

    def sections(self) -> list[Part]:
        """Return the coefficients of each target."""
        return [
            Part(self._heading(target), self._rows(part), self._lines(part))
            for target, part in zip(self.targets, self.parts, strict=True)
        ]

    def _coefficients(self) -> list[dict[str, Any]]:
        """Return the rows of all targets, each with its target where there are several."""
        return [
            row | ({"target": target} if len(self.targets) > 1 else {})
            for target, part in zip(self.targets, self.parts, strict=True)
            for row in self._rows(part)
        ]

    def _rows(self, part: Any) -> list[dict[str, Any]]:
        constant = "intercept" if "intercept" not in self.names else "(intercept)"
        return [
            {"name": name}
            | {column: float(getattr(part, column)[j]) for column in self.columns}
            | ({"left_out": self.left_out[name]} if j and name in self.left_out else {})
            for j, name in enumerate([constant, *self.names])
            if j or self.intercept
        ]

    def _ends(self) -> tuple[str, str]:
        """Return the headings of both ends of an interval."""
        tail = 100 * (1 - self.level) / 2
        return f"{tail:g}%", f"{100 - tail:g}%"

    def _head(self) -> dict[str, Any]:
        absorbed = {"absorbed": dict(self.absorbed)} if self.absorbed else {}
        return {"title": self.title, "rows": self.rows, "weight": self.weight, "level": self.level, **absorbed}

    def _foot(self) -> dict[str, Any]:
        return {
            "certificate": {**own_attributes(self.certificate), "status": str(self.certificate.status)},
            "notes": list(self.notes),
        }

    def _caption(self) -> str:
        if not self.rows:
            return f"{self.title}, of weights that were given"
        weight = "" if self.weight == self.rows else f" (weight {self.weight:g})"
        return f"{self.title}, {counted(self.rows, form='d')}{weight}"

    def __str__(self) -> str:
        lines = [self._caption()]
        for part in self.sections():
            lines += ["", part.heading] if part.heading else []
            for group in (group for group in self.groups() if any(group.keys() <= row.keys() for row in part.rows)):
                body = [[row["name"], *(cell(row, c) for c in group)] for row in part.rows]
                lines += ["", *text_table(["", *group.values()], body)]
            lines += ["", *part.lines] if part.lines and self.rows else []
        lines += ["", *self.closing()] if self.closing() and self.rows else []
        lines += ["", *(f"note: {note}" for note in self.notes), f"certificate: {certificate_shown(self)}"]
        return visible("\n".join(lines))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        columns = {column: heading for group in self.groups() for column, heading in group.items()}
        body = ""
        for part in self.sections():
            if part.heading:
                body += f'<tr><th colspan="{1 + len(columns)}">{escaped(part.heading)}</th></tr>'
            for row in part.rows:
                body += html_row([cell(row, c) for c in columns], row["name"])
        below = [line for part in self.sections() for line in part.lines] + self.closing() if self.rows else []
        below += [*(f"note: {note}" for note in self.notes), f"certificate: {certificate_shown(self)}"]
        return html_table(self._caption(), ["", *columns.values()], body) + "".join(
            f"<p>{escaped(line)}</p>" for line in below
        )


@dataclass(frozen=True, repr=False)
class TargetsTable(CoefficientTable):
    """Coefficients of each target, and whatever else its part of the statistics says.

    `to_dict()["coefficients"]` is a list of rows with name, estimate, std_error, statistic, p_value, lower, upper,
    intercept first; with several targets each row also names its target.
    """

    intercept: bool = True
    errors: str = "classical"
    student: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        return {
            **self._head(),
            "errors": self.errors,
            "coefficients": self._coefficients(),
            "targets": [{"target": t} | self._quality(p) for t, p in zip(self.targets, self.parts, strict=True)],
            **self._quality(self.parts[0]),
            **self._foot(),
        }

    def _statistic(self) -> str:
        return "t" if self.student else "z"

    def _quality(self, part: Any) -> dict[str, Any]:
        """Return the entries of a part other than the statistics of its coefficients."""
        said = {name: value for name, value in own_attributes(part).items() if name not in STATISTICS}
        return {name: value if isinstance(value, str | bool | int) else float(value) for name, value in said.items()}


def named_test(entries: dict[str, Any], freedom: float) -> dict[str, Any]:
    """Return entries with the test of all columns named as chi-squared, or, where `freedom` is finite, as an F test.

    The names are then those of LinearRegression.
    """
    if not np.isfinite(freedom):
        return entries
    chi2, q, p = (entries[name] for name in ("chi2", "chi2_freedom", "chi2_p_value"))
    kept = {name: value for name, value in entries.items() if not name.startswith("chi2")}
    f = {"f_statistic": chi2 / q if q else np.nan, "f_p_value": p, "f_freedom": freedom, "model_freedom": q}
    return kept | f


@dataclass(frozen=True, repr=False)
class RowsTable:
    """A table of rows that are dictionaries; prints as text, shows as HTML in a notebook.

    Parameters
    ----------
    title : what stands above the table.
    rows : of names and numbers, by column.
    notes : lines below the table.

    COLUMNS: the headings of columns by their names, texts first; columns that no row has are left out.
    """

    COLUMNS: ClassVar[dict[str, str]]

    title: str
    rows: list[dict[str, Any]]
    notes: tuple[str, ...] = field(default=(), kw_only=True)

    def to_frame(self, backend: FrameBackend | None = None) -> AnyFrame:
        """Return the rows as a frame: of pandas where it is installed, else of polars or Arrow, or of `backend`."""
        return frame_of(self.rows, backend)

    def _headings(self) -> dict[str, str]:
        return {name: text for name, text in self.COLUMNS.items() if any(name in row for row in self.rows)}

    def _cells(self) -> list[list[str]]:
        names = self._headings()
        return [[str(row[n]) if isinstance(row.get(n), str) else cell(row, n) for n in names] for row in self.rows]

    def __str__(self) -> str:
        texts = sum(any(isinstance(row.get(name), str) for row in self.rows) for name in self._headings())
        lines = text_table(list(self._headings().values()), self._cells(), left=texts)
        return visible("\n".join([self.title, "", *lines, *([""] if self.notes else []), *self.notes]))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        body = "".join(html_row(row) for row in self._cells())
        notes = "".join(f"<p>{escaped(note)}</p>" for note in self.notes)
        return html_table(self.title, list(self._headings().values()), body) + notes


LOWER, UPPER = "{lower}", "{upper}"  # headings that say which ends of an interval a column has


@dataclass(frozen=True, repr=False)
class IntervalTable(RowsTable):
    """A table of rows with intervals; `level` is their coverage."""

    level: float

    def _headings(self) -> dict[str, str]:
        tail = 100 * (1 - self.level) / 2
        ends = {LOWER: f"{tail:g}%", UPPER: f"{100 - tail:g}%"}
        return {name: ends.get(text, text) for name, text in super()._headings().items()}


class ModelTable:
    """A table with one row a model; a dataclass whose fields have one entry a model.

    COLUMNS: headings, each with its field and how a number is written, "p" for a p value; NaN is an empty cell,
    and a column of nothing else is left out.
    """

    TITLE: ClassVar[str]
    COLUMNS: ClassVar[dict[str, tuple[str, str]]]

    def _headings(self) -> list[str]:
        return [heading for heading, (name, _) in self.COLUMNS.items() if not np.isnan(getattr(self, name)).all()]

    def _rows(self) -> list[list[str]]:
        """Return the cells."""
        columns = [
            ["" if math.isnan(v) else p_value(v) if form == "p" else format(v, form) for v in getattr(self, name)]
            for name, form in (self.COLUMNS[heading] for heading in self._headings())
        ]
        return [[str(i + 1), *row] for i, row in enumerate(zip(*columns, strict=True))]

    def to_dict(self) -> dict[str, list[float]]:
        """Return the columns of the table as plain lists."""
        return {name: [float(value) for value in values] for name, values in own_attributes(self).items()}

    def __str__(self) -> str:
        return "\n".join([self.TITLE, "", *text_table(["model", *self._headings()], self._rows(), left=0)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self.TITLE, ["model", *self._headings()], "".join(html_row(row) for row in self._rows()))


def certificate_shown(table: CoefficientTable) -> Certificate:
    """Return the certificate of a table, without its advice where a note of the table says the same."""
    status = table.certificate.status
    told = table.left_out if status is Status.RANK_DEFICIENT else status in SEPARATED and table.notes
    return replace(table.certificate, advice=Status.SOLVED.advice) if told else table.certificate


def frame_of(rows: Sequence[dict[str, Any]], backend: FrameBackend | None = None) -> AnyFrame:
    """Return rows as a frame: of pandas where it is installed, else of polars or Arrow, or of the one named."""
    names = dict.fromkeys(name for row in rows for name in row)
    return frame_of_columns({name: [row.get(name) for row in rows] for name in names}, backend)


def frame_of_columns(columns: dict[str, Any], backend: FrameBackend | None = None) -> AnyFrame:
    """Return columns as a frame, of the kind that `frame_of` chooses."""
    AnyOf(NONE, one_of(FrameBackend)).check("backend", backend)
    kind: Any = backend or next(name for name in get_args(FrameBackend) if find_spec(name))
    return nw.from_dict(columns, backend=kind).to_native()


def text_table(headings: Sequence[str], body: Sequence[Sequence[str]], left: int = 1, ends: int = 0) -> list[str]:
    """Return the lines of a table; its first `left` and last `ends` columns are flush left, all others right."""
    cells = [[visible(cell, "") for cell in row] for row in (headings, *body)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headings))]
    lines = [
        "  ".join(
            c.ljust(w) if i < left or i >= len(headings) - ends else c.rjust(w)
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    return [lines[0], "-" * len(lines[0]), *lines[1:]]


def html_table(caption: str, headings: Sequence[str], body: str) -> str:
    """Return a table around rows that are HTML already."""
    head = "".join(f"<th>{escaped(heading)}</th>" for heading in headings)
    return f"<table><caption>{escaped(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_row(cells: Sequence[str], name: str | None = None) -> str:
    """Return one row, with a name in front where it has one."""
    first = "" if name is None else f"<th>{escaped(name)}</th>"
    return f"<tr>{first}{''.join(f'<td>{escaped(cell)}</td>' for cell in cells)}</tr>"


def escaped(text: str) -> str:
    """Return text for HTML, its control characters written out."""
    return html.escape(visible(text))


def cell(row: dict[str, Any], column: str, digits: int = 6) -> str:
    """Return a number of a row of coefficients as its column shows it, or that the column was left out."""
    if "left_out" in row:
        return "left out" if column == "estimate" else "-"
    if column not in row:
        return ""
    return p_value(row[column]) if column == "p_value" else number(row[column], 4 if column == "statistic" else digits)
