"""Fitted models side by side: one column a model, one row a coefficient, its standard error below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from adaline.errors import InvalidParameter
from adaline.fitted import AnyModel, has_summary
from adaline.inference.summary import (
    CoefficientTable,
    FrameBackend,
    escaped,
    frame_of,
    html_row,
    html_table,
    text_table,
)
from adaline.parameters import FLAG, WholeNumber, one_of
from adaline.wording import counted, number, p_value, visible

BelowCoefficients = Literal["std_error", "statistic", "p_value", "interval"]
STARS = {0.001: "***", 0.01: "**", 0.05: "*"}
QUALITY = {
    "rows": "rows",
    "r_squared": "R²",
    "adjusted_r_squared": "adjusted R²",
    "within_r_squared": "within R²",
    "pseudo_r_squared": "McFadden's R²",
    "sigma": "residual sd",
    "scale": "scale",
    "dispersion": "dispersion",
    "deviance": "deviance",
    "log_likelihood": "log-likelihood",
    "restricted_log_likelihood": "restricted log-likelihood",
    "aic": "AIC",
    "bic": "BIC",
}
"""The last rows of the table, by their names in `summary().to_dict()`, for models that have them."""
_LATEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "²": "$^2$",
}


@dataclass(frozen=True, repr=False)
class RegressionTable:
    """What `regression_table` returns; prints as text, shows as HTML in a notebook.

    Parameters
    ----------
    headings : one a model, or a target of it.
    rows : of coefficients, dictionaries with `model`, `name`, `estimate`, `std_error`, `statistic`, `p_value`, `lower`
        and `upper`.
    quality : of each model, by name.
    absorbed : of each model the columns whose effects it has absorbed, with the number of their levels.
    errors : which standard errors each model has.
    stars, below, digits : as given.
    """

    headings: list[str]
    rows: list[dict[str, Any]]
    quality: list[dict[str, float]]
    absorbed: list[dict[str, int]]
    errors: list[str]
    stars: bool
    below: str
    digits: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        return {
            "models": list(self.headings),
            "coefficients": [dict(row) for row in self.rows],
            "quality": self.quality,
            "absorbed": [dict(one) for one in self.absorbed],
            "errors": list(self.errors),
        }

    def to_frame(self, backend: FrameBackend | None = None) -> Any:
        """Return a frame with one row a coefficient and model; see `CoefficientTable.to_frame`."""
        return frame_of(self.rows, backend)

    def to_text(self) -> str:
        """Return the table as text."""
        return visible("\n".join([*text_table(["", *self.headings], self._cells()), *self._notes()]))

    __str__ = __repr__ = to_text

    def to_html(self) -> str:
        """Return the table as HTML."""
        body = "".join(html_row(row[1:], row[0]) for row in self._cells())
        notes = "".join(f"<p>{escaped(note)}</p>" for note in self._notes())
        return html_table("", ["", *self.headings], body).replace("<caption></caption>", "") + notes

    _repr_html_ = to_html

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        rows = [["", *self.headings], [":--", *["--:"] * len(self.headings)], *self._cells()]
        lines = [
            "| " + " | ".join(visible(c, "").replace("|", "\\|").replace("*", "\\*") for c in row) + " |"
            for row in rows
        ]
        return "\n".join([*lines, *(f"\n{note}".replace("*", "\\*") for note in self._notes())])

    def to_latex(self) -> str:
        """Return the table as LaTeX: a tabular, with lines as those of the package booktabs."""
        cells = self._cells()
        rows = [" & ".join(_latex(c) for c in row) + r" \\" for row in cells]
        ends = 2 * len({row["name"] for row in self.rows})
        lines = [
            rf"\begin{{tabular}}{{l{'r' * len(self.headings)}}}",
            r"\toprule",
            " & ".join(["", *map(_latex, self.headings)]) + r" \\",
            *(r"\midrule", *rows[:ends], r"\midrule", *rows[ends:], r"\bottomrule"),
            *(rf"\multicolumn{{{1 + len(self.headings)}}}{{l}}{{{_latex(note)}}} \\" for note in self._notes()),
            r"\end{tabular}",
        ]
        return "\n".join(lines)

    def _cells(self) -> list[list[str]]:
        """Return the table's cells: two lines a coefficient, then how well the models fit."""
        names = list(dict.fromkeys(row["name"] for row in self.rows))
        by = {(row["model"], row["name"]): row for row in self.rows}
        out = []
        for name in names:
            found = [by.get((heading, name)) for heading in range(len(self.headings))]
            out.append([name, *("" if row is None else self._estimate(row) for row in found)])
            out.append(["", *("" if row is None else self._below(row) for row in found)])
        for name in dict.fromkeys(name for one in self.absorbed for name in one):
            levels = [f"yes, {counted(one[name], 'level')}" if name in one else "no" for one in self.absorbed]
            out.append([f"absorbed {name}", *levels])
        if any(kind != "classical" for kind in self.errors):
            out.append(["std errors", *self.errors])
        for name, label in QUALITY.items():
            if any(name in one for one in self.quality):
                form = "d" if name == "rows" else f".{self.digits + 2}g"
                out.append([label, *(format(one[name], form) if name in one else "" for one in self.quality)])
        return out

    def _estimate(self, row: dict[str, Any]) -> str:
        if "left_out" in row:
            return "left out"
        star = next((mark for most, mark in STARS.items() if row["p_value"] < most), "") if self.stars else ""
        return _figure(row["estimate"], self.digits) + star

    def _below(self, row: dict[str, Any]) -> str:
        if "left_out" in row:
            return ""
        if self.below == "interval":
            return f"[{_figure(row['lower'], self.digits)}, {_figure(row['upper'], self.digits)}]"
        value = row[self.below]
        return f"({p_value(value) if self.below == 'p_value' else _figure(value, self.digits)})"

    def _notes(self) -> list[str]:
        return [", ".join(f"{mark} p < {most:g}" for most, mark in reversed(STARS.items()))] if self.stars else []


def regression_table(
    *models: Any,
    names: Sequence[str] | None = None,
    stars: bool = False,
    below: BelowCoefficients = "std_error",
    digits: int = 4,
) -> RegressionTable:
    """Return fitted models side by side: coefficients, the numbers below them, and goodness of fit.

    No pass over the rows. With several targets or classes a model has a column for each. Effects that a model has
    absorbed are a line for each of their columns.

    Parameters
    ----------
    *models : fitted systems that have a `summary`, or the summaries themselves, as with robust errors.
    names : headings of the models; their number and kind by default.
    stars : whether to mark p < 0.05, 0.01 and 0.001.
    below : "std_error", "statistic", "p_value" or "interval"
        What stands below an estimate.
    digits : significant digits.

    Returns
    -------
    RegressionTable : prints as text; `to_text()`, `to_html()`, `to_markdown()`, `to_latex()`, `to_frame()`,
        `to_dict()`.

    Examples
    --------
    >>> from adaline import LinearRegression, datasets, regression_table
    >>> data = datasets.load("penguins", target="body_mass_g")
    >>> small, large = (LinearRegression().fit(data.X[:, 3 - k :], data.y) for k in (1, 2))
    >>> table = regression_table(small, large, names=["small", "large"], stars=True)
    >>> for line in table.to_text().splitlines()[2:4]:
    ...     print(line)
    intercept       -5872***  -6538***
                     (310.3)   (545.3)

    References
    ----------
    M. Hlavac, stargazer: Well-formatted regression and summary statistics tables (2022).
    """
    FLAG.check("stars", stars)
    one_of(BelowCoefficients).check("below", below)
    WholeNumber(1).check("digits", digits)
    if not models:
        raise InvalidParameter("regression_table needs at least one fitted model")
    if names is not None and (isinstance(names, str) or len(names) != len(models)):
        raise InvalidParameter(f"names must be one heading for each of {len(models)} models, got {names!r}")
    headings: list[str] = []
    rows: list[dict[str, Any]] = []
    quality: list[dict[str, float]] = []
    absorbed: list[dict[str, int]] = []
    errors: list[str] = []
    for i, model in enumerate(models):
        table = _summary(model)
        told = table.to_dict()
        own = f"({i + 1}) {table.title}" if names is None else str(names[i])
        for k, target in enumerate(table.targets):
            several = len(table.targets) > 1
            mine = [row for row in told["coefficients"] if not several or row["target"] == target]
            rows += [{"model": len(headings)} | {key: v for key, v in row.items() if key != "target"} for row in mine]
            targets = told.get("targets", [])
            per_target = targets[k] if targets and isinstance(targets[k], dict) else {}
            fit = {name: (told | per_target)[name] for name in QUALITY if name in told or name in per_target}
            quality.append({name: v for name, v in fit.items() if v == v})
            absorbed.append(told.get("absorbed", {}))
            errors.append(told.get("errors", "classical"))
            headings.append(f"{own}: {target}" if several else own)
    return RegressionTable(headings, rows, quality, absorbed, errors, stars, below, digits)


def _summary(model: AnyModel) -> CoefficientTable:
    if isinstance(model, CoefficientTable):
        return model
    if not has_summary(model):
        raise InvalidParameter(
            f"regression_table takes fitted models that have a summary, or summaries; got {type(model).__name__}"
        )
    found = model.summary()
    if not isinstance(found, CoefficientTable):
        raise InvalidParameter(f"regression_table: the summary of {type(model).__name__} has no coefficients")
    return found


def _figure(value: float, digits: int) -> str:
    """Return a number with so many digits, and all of those before the point of one below ten millions."""
    return f"{value:.0f}" if 10.0**digits <= abs(value) < 1e7 else number(value, digits)


def _latex(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in visible(text, ""))
