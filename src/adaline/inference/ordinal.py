"""Inference from a regression on ordered classes: slopes and thresholds with Wald's statistics, and odds ratios.

The fit has a machine for each threshold, of the same slopes and with minus the threshold as constant (T, 1 + D).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from adaline.inference.classical import judged
from adaline.inference.covariance import lengths
from adaline.inference.left_out import left_out, left_out_notes
from adaline.inference.likelihood import (
    ODDS,
    PENALISED,
    TOO_LARGE,
    Quality,
    WaldInference,
    WaldTest,
    quality,
    quality_lines,
    wald_test,
)
from adaline.inference.summary import STATISTICS, CoefficientTable, Part
from adaline.parameters import LEVEL
from adaline.results import Certificate
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.solvers.smooth.ordinal import from_machines
from adaline.wording import counted, p_value, visible

SEPARATED = (
    "the classes are separated: the likelihood has no maximum, the coefficients are those of a tiny penalty, and their "
    "errors, z, p and intervals mean nothing; give a number as penalty"
)


@dataclass(frozen=True, repr=False)
class OrdinalSummary(CoefficientTable):
    """Slopes and thresholds with their statistics, and how likely the model makes the rows.

    `to_dict()["coefficients"]` is a list of rows with name, estimate, std_error, statistic (z), p_value, lower, upper:
    the slopes, with the logit also odds_ratio, odds_lower and odds_upper, then the thresholds. `parts` has the
    statistics of all of them in this order, `between` the names of the thresholds.
    """

    between: list[str]
    odds: bool
    quality: Quality

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        return {
            **self._head(),
            "coefficients": [row for part in self.sections() for row in part.rows],
            **vars(self.quality),
            **self._foot(),
        }

    def groups(self) -> list[dict[str, str]]:
        """Return columns and their headings, the odds ratios in a group of their own."""
        odds = [dict(zip(ODDS, ("odds ratio", *self._ends()), strict=True))] if self.odds else []
        return [*super().groups(), *odds]

    def sections(self) -> list[Part]:
        """Return the slopes, and the thresholds."""
        found = self.parts[0]
        columns = STATISTICS + ODDS * self.odds
        slopes = [
            {"name": name}
            | {column: float(getattr(found, column)[j]) for column in columns}
            | ({"left_out": self.left_out[name]} if name in self.left_out else {})
            for j, name in enumerate(self.names)
        ]
        thresholds = [
            {"name": name} | {column: float(getattr(found, column)[len(self.names) + k]) for column in STATISTICS}
            for k, name in enumerate(self.between)
        ]
        return [Part("slopes", slopes, []), Part("thresholds", thresholds, [])]

    def closing(self) -> list[str]:
        """Return how likely the model makes the rows, in lines."""
        return quality_lines(self.quality, "thresholds alone")


class OrdinalTest(WaldTest):
    """The result of `ordinal_test`: a Wald test about slopes."""

    def __str__(self) -> str:
        what = "\n            ".join(self.hypotheses)
        test = f"chi² {self.chi2:.6g} on {counted(self.freedom, 'degree')} of freedom, p {p_value(self.p_value)}"
        return visible(f"hypothesis: {what}\n{test}")

    __repr__ = __str__


def summarise_ordinal(
    fit: LikelihoodFit,
    names: Sequence[str],
    classes: Sequence[Any],
    *,
    title: str,
    odds: bool,
    level: float,
    separated: bool,
    certificate: Certificate,
) -> OrdinalSummary:
    """Return the table of a fit to `classes`, the lowest first; `odds` says whether exp(w) is an odds ratio."""
    LEVEL.check("level", level)
    notes = [(separated, SEPARATED), (fit.penalised and not separated, PENALISED), (fit.root is None, TOO_LARGE)]
    fit = fit.without_dependent()
    ends = len(classes) - 1
    theta = np.roll(from_machines(fit.solution.theta), -ends)
    error = np.full(len(theta), np.nan)
    if fit.root is not None:
        error = lengths(np.roll(from_machines(fit.root), -ends, axis=0))
    error[: len(names)][~fit.dependence.kept] = np.nan
    missing = left_out(fit.dependence, names)
    return OrdinalSummary(
        title=title,
        names=list(names),
        targets=[""],
        parts=[WaldInference(**judged(theta, error, level))],
        level=level,
        rows=fit.rows,
        weight=fit.weight,
        certificate=certificate,
        notes=[*(note for holds, note in notes if holds), *left_out_notes(missing)],
        intercept=False,
        between=[f"{low} | {high}" for low, high in pairwise(classes)],
        odds=odds,
        quality=quality(fit, len(classes), True),
        left_out=missing,
    )


def ordinal_test(fit: LikelihoodFit, hypothesis: Any, value: Any, names: Sequence[str]) -> OrdinalTest:
    """Test C w = value by Wald's chi-squared, written as for `LinearRegression.test`."""
    return OrdinalTest(**vars(wald_test(fit, hypothesis, value, names, (0, 1), intercept=False)))
