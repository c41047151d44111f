"""The table of an additive model: coefficients, smooths with their degrees of freedom, components of variance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from adaline.inference.classical import CoefficientStatistics
from adaline.inference.summary import CoefficientTable, TargetsTable, cell, html_row, html_table, text_table
from adaline.wording import degrees, number


@dataclass(frozen=True)
class AdditiveInference(CoefficientStatistics):
    """Statistics of the coefficients without a penalty, and of the fit."""

    r_squared: float
    adjusted_r_squared: float
    sigma: float
    freedom: float
    model_freedom: float
    log_likelihood: float


@dataclass(frozen=True, repr=False)
class AdditiveSummary(TargetsTable):
    """Coefficients, smooth terms, components of variance, and the certificate of an additive model.

    `to_dict()` has the lists `coefficients`, `terms` and `variance_components`, with rows as of `terms_` and
    `variance_components_`.
    """

    criterion: str = "reml"
    terms: tuple[dict[str, Any], ...] = ()
    components: tuple[dict[str, Any], ...] = ()
    levels: tuple[tuple[str, int], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        more = {"terms": [*map(dict, self.terms)], "variance_components": [*map(dict, self.components)]}
        return super().to_dict() | more

    def closing(self) -> list[str]:
        """Return the tables of terms and of components of variance."""
        out: list[str] = []
        for headings, rows in self._tables():
            out += ["", *text_table(headings, rows)] if out else text_table(headings, rows)
        if self.levels:
            out += ["", "groups: " + ", ".join(f"{name} {count:,}" for name, count in self.levels)]
        return out

    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        """Return headings and cells of the tables below the coefficients."""
        out: list[tuple[list[str], list[list[str]]]] = []
        if self.terms:
            columns = ("edf", "reference_df", "statistic", "p_value")
            rows = [[row["term"], *(cell(row, name) for name in columns)] for row in self.terms]
            out.append((["term", "edf", "reference df", "F", "p"], rows))
        if any(row["name"] is not None for row in self.components):
            out.append((["group", "effects of", "sd", "correlation"], [*map(_component_cells, self.components)]))
        return out

    def _repr_html_(self) -> str:
        tables = (html_table("", headings, "".join(map(html_row, rows))) for headings, rows in self._tables())
        whole = replace(self, terms=(), components=())
        return CoefficientTable._repr_html_(whole) + "".join(tables)

    def _lines(self, part: AdditiveInference) -> list[str]:
        first = f"R² {number(part.r_squared)}, adjusted {number(part.adjusted_r_squared)};  residual sd "
        first += f"{number(part.sigma)} on {degrees(part.freedom)} degrees of freedom"
        if math.isnan(part.log_likelihood):
            return [first]
        kind = "restricted log-likelihood" if self.criterion == "reml" else "log-likelihood"
        return [first, f"{kind} {number(part.log_likelihood, 8)}"]


def _component_cells(row: dict[str, Any]) -> list[str]:
    if row["name2"] is not None:
        return [row["group"], f"{row['name']}, {row['name2']}", "", number(row["correlation"], 4)]
    return [row["group"], row["name"] or "", number(row["sd"]), ""]
