"""Inference of additive models: tests of coefficients and terms, means of the population, and the table of a model.

Errors are those of the posterior, Cov = phi (X'X + P)^-1. Effects and means are those of the population: the effects of
groups are set to zero. A simultaneous band of a curve is +- c standard errors, where the largest |t| over all points
exceeds c with probability 1 - level (`simultaneous`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cholesky

from adaline.arrays import Array
from adaline.errors import InvalidData, InvalidParameter
from adaline.inference.classical import CoefficientStatistics
from adaline.inference.covariance import ErrorOptions, quadratic
from adaline.inference.effects import MeanModel, linear_means
from adaline.inference.hypotheses import Hypotheses, HypothesisTest, wald_chance
from adaline.inference.simultaneous import joint_reach
from adaline.inference.summary import CoefficientTable, TargetsTable, cell, html_row, html_table, text_table
from adaline.solvers.smooth.likelihood import FamilyFit
from adaline.wording import degrees, number

RESTRICTED = "restricted_log_likelihood"
MOST_POINTS = 400  # of a curve or surface at which its largest error is looked for; twice as many change no digit shown


class TestedTerm(NamedTuple):
    """A smooth, or the effects of a grouping: its coefficients, `start` to `stop`, and the test that it is zero."""

    label: str
    start: int
    stop: int
    statistic: float
    reference_df: float
    p_value: float


@dataclass(frozen=True)
class JudgedAdditive:
    """An additive model with its standard errors.

    Parameters
    ----------
    options : which standard errors.
    theta : coefficients, the constant first, (1 + M,).
    inverse : (X'X + P)^-1 of the constant and the columns about their means, (1 + M, 1 + M); zero where left out.
    means : of the columns, (M,); zero without a constant.
    variance : of the errors.
    left : degrees of freedom of the errors.
    terms : of coefficients with a penalty, in their order.
    fixed : whether each of M coefficients is that of the population: no effect of a group.
    """

    options: ErrorOptions
    theta: Array
    inverse: Array
    means: Array
    variance: float
    left: float
    terms: Sequence[TestedTerm]
    fixed: Array

    @property
    def freedom(self) -> float:
        """Degrees of freedom of Student's t, infinity for the normal distribution."""
        return self.options.freedom(self.left, True)

    @cached_property
    def root(self) -> Array:
        """A root of the covariance of all coefficients, the constant first, (1 + M, 1 + M)."""
        if not self.variance > 0:
            return np.full_like(self.inverse, np.nan)
        scale = np.sqrt(self.inverse.diagonal())
        kept = np.flatnonzero(scale > 0)
        out = np.zeros_like(self.inverse)
        own = self.inverse[np.ix_(kept, kept)] / scale[kept] / scale[kept, None]
        out[np.ix_(kept, kept)] = cholesky(own, lower=True) * scale[kept, None]
        out[0] -= self.means @ out[1:]
        return np.asarray(out * math.sqrt(self.variance))

    def population(self) -> MeanModel:
        """Return the mean of the population as a function from the design."""
        held = np.append(True, self.fixed)
        theta = np.where(held, self.theta, 0.0)[None]
        exact = not self.variance > 0
        return linear_means(theta, [self.root * held[:, None]], self.freedom, exact)

    def test(self, tested: Hypotheses) -> HypothesisTest:
        """Return the test of hypotheses about coefficients without a penalty, or that a term is zero."""
        touched = np.flatnonzero(tested.matrix[:, 1:].any(axis=0))
        for term in self.terms:
            within = touched[(touched >= term.start) & (touched < term.stop)]
            if not len(within):
                continue
            if len(within) < len(touched) or len(tested.matrix) < term.stop - term.start or tested.values.any():
                raise InvalidParameter(
                    f"coefficients of {term.label} are drawn towards zero, and have no tests of their own: test "
                    f"{term.label!r} as a whole"
                )
            freedom: Any = term.reference_df, self.left
            return HypothesisTest((f"{term.label} = 0",), term.statistic, freedom, term.p_value, "classical")
        if not self.variance > 0:
            raise InvalidData("no tests: the fit is exact to rounding, so that residuals measure no error")
        squares, q = (
            quadratic(tested.along(self.root), tested.differences(self.theta), len(tested.assumed)),
            len(tested.matrix),
        )
        if np.isnan(squares):
            raise InvalidParameter(
                f"these {q} hypotheses cannot be tested together: some follow from others, or are about columns that "
                "are left out"
            )
        return HypothesisTest(
            tested.texts, squares / q, (q, self.freedom), wald_chance(squares, q, self.freedom), "classical"
        )


def simultaneous_reach(columns: Array, covariance: Array, freedom: float, level: float) -> float:
    """Return how many standard errors the band of a curve reaches that holds at all points together.

    Parameters
    ----------
    columns : of the curve at points, (n, m).
    covariance : of its coefficients, up to a factor, (m, m).
    freedom, level : of Student's t, and of the band.
    """
    every = np.unique(np.linspace(0, len(columns) - 1, MOST_POINTS).round().astype(int))
    values, vectors = np.linalg.eigh(covariance)
    root = columns[every] @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    size = np.linalg.norm(root, axis=1)
    there = size > 1e-9 * size.max()
    if not there.any():
        return math.nan
    return joint_reach(root[there], freedom, "mvt", int(there.sum()), level)


def variance_shares(fixed: float, random: float, errors: float, grouped: bool) -> tuple[float, float, float]:
    """Return the marginal and the conditional R^2 and the ICC, from variances; NaN without random effects.

    S. Nakagawa and H. Schielzeth, Methods in Ecology and Evolution 4 (2013), 133-142; P. C. D. Johnson, the same 5
    (2014), 944-946.
    """
    whole = fixed + random + errors
    known = grouped and whole > 0 and random + errors > 0
    if not known:
        return math.nan, math.nan, math.nan
    return fixed / whole, (fixed + random) / whole, random / (random + errors)


@dataclass(frozen=True)
class AdditiveInference(CoefficientStatistics):
    """Statistics of the coefficients without a penalty, and of the fit; shares of variance are of random effects."""

    r_squared: float
    adjusted_r_squared: float
    marginal_r_squared: float
    conditional_r_squared: float
    icc: float
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
    family: FamilyFit | None = None
    terms: tuple[dict[str, Any], ...] = ()
    components: tuple[dict[str, Any], ...] = ()
    levels: tuple[tuple[str, int], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        told = super().to_dict()
        if self.criterion == "reml":  # not to be compared with likelihoods of other columns
            for one in (told, *told["targets"]):
                one[RESTRICTED] = one.pop("log_likelihood")
        return told | {"terms": [*map(dict, self.terms)], "variance_components": [*map(dict, self.components)]}

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
            known = self.family is not None and not self.family.estimated
            out.append((["term", "edf", "reference df", "chi²" if known else "F", "p"], rows))
        if any(row["name"] is not None for row in self.components):
            ends = self._ends() if "lower" in self.components[0] else ()
            rows = [_component_cells(row) for row in self.components]
            out.append((["group", "effects of", "sd", "correlation", *ends], rows))
        return out

    def _repr_html_(self) -> str:
        tables = (html_table("", headings, "".join(map(html_row, rows))) for headings, rows in self._tables())
        whole = replace(self, terms=(), components=())
        return CoefficientTable._repr_html_(whole) + "".join(tables)

    def _lines(self, part: AdditiveInference) -> list[str]:
        if self.family is None:
            first = f"R² {number(part.r_squared)}, adjusted {number(part.adjusted_r_squared)};  residual sd "
            first += f"{number(part.sigma)} on {degrees(part.freedom)} degrees of freedom"
        else:
            how = "estimated" if self.family.estimated else "given"
            first = f"{self.family.family}, link {self.family.link}, dispersion {number(self.family.dispersion)} "
            first += f"({how});  deviance {number(self.family.deviance)}, explained {number(part.r_squared)}"
        out = [first]
        if not math.isnan(part.icc):
            marginal, conditional = number(part.marginal_r_squared), number(part.conditional_r_squared)
            out.append(f"R² marginal {marginal}, conditional {conditional};  ICC {number(part.icc)}")
        if not math.isnan(part.log_likelihood):
            kind = "restricted log-likelihood" if self.criterion == "reml" else "log-likelihood"
            out.append(f"{kind} {number(part.log_likelihood, 8)}")
        return out


def _component_cells(row: dict[str, Any]) -> list[str]:
    if row["name2"] is not None:
        out = [row["group"], f"{row['name']}, {row['name2']}", "", number(row["correlation"], 4)]
    else:
        out = [row["group"], row["name"] or "", number(row["sd"]), ""]
    return out + [number(row[end]) for end in ("lower", "upper") if end in row]
