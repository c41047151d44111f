"""Inference from a regression on ordered classes: slopes and thresholds with Wald's statistics, and odds ratios.

The fit has a machine for each threshold, of the same slopes and with minus the threshold as constant (T, 1 + D).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import scipy

from adaline.arrays import Array, HypothesisLike
from adaline.inference.classical import Interval, judged, quantile
from adaline.inference.covariance import lengths
from adaline.inference.effects import MeanFunction
from adaline.inference.left_out import left_out, left_out_notes
from adaline.inference.likelihood import (
    ODDS,
    PENALISED,
    TOO_LARGE,
    Quality,
    WaldInference,
    WaldTest,
    against,
    judged_quality,
    log_odds,
    quality,
    quality_lines,
    reach_at,
    wald_test,
    with_ends,
)
from adaline.inference.summary import STATISTICS, CoefficientTable, Part
from adaline.links import ShareLink
from adaline.losses.ordinal import CumulativeLink, Ordinal, OrdinalOutputs
from adaline.parameters import LEVEL
from adaline.results import Certificate
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.solvers.smooth.ordinal import from_machines

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
    errors: str = "classical"
    student: bool = False

    def _statistic(self) -> str:
        return "t" if self.student else "z"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        return {
            **self._head(),
            "errors": self.errors,
            "coefficients": [row for part in self.sections() for row in part.rows],
            **self.quality.entries(),
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
        return quality_lines(self.quality, "thresholds alone", self.errors)


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
    errors: str = "classical",
    described: Sequence[str] = (),
    freedom: float = np.inf,
    ends: Array | None = None,
) -> OrdinalSummary:
    """Return the table of a fit to `classes`, the lowest first; `odds` says whether exp(w) is an odds ratio.

    `errors` are those that the fit has, `described` lines about them, `freedom` the degrees of freedom of t, infinity
    for the normal distribution, `ends` (2, D + T) those of intervals of slopes and thresholds that are not Wald's.
    """
    LEVEL.check("level", level)
    notes = [
        (separated, SEPARATED),
        (fit.penalised and not separated, PENALISED),
        (fit.root is None, TOO_LARGE),
    ]
    fit = fit.without_dependent()
    cuts = len(classes) - 1
    theta = np.roll(from_machines(fit.solution.theta), -cuts)
    error = np.full(len(theta), np.nan)
    if fit.root is not None:
        error = lengths(np.roll(from_machines(fit.root), -cuts, axis=0))
    error[: len(names)][~fit.dependence.kept] = np.nan
    missing = left_out(fit.dependence, names)
    plain = WaldInference(**judged(theta, error, level, freedom))
    parts, profiled = with_ends([plain], None if ends is None else [ends])
    return OrdinalSummary(
        title=title,
        names=list(names),
        targets=[""],
        parts=parts,
        level=level,
        rows=fit.rows,
        weight=fit.weight,
        certificate=certificate,
        notes=[*described, *(note for holds, note in notes if holds), *profiled, *left_out_notes(missing)],
        intercept=False,
        between=[f"{low} | {high}" for low, high in pairwise(classes)],
        odds=odds,
        quality=judged_quality(quality(fit, len(classes), True), fit, [against(fit, 1, 0)], errors, freedom),
        left_out=missing,
        errors=errors,
        student=bool(np.isfinite(freedom)),
    )


def ordinal_test(
    fit: LikelihoodFit,
    hypothesis: HypothesisLike,
    value: Any,
    names: Sequence[str],
    errors: str = "classical",
    freedom: float = np.inf,
) -> WaldTest:
    """Test C w = value by Wald's chi-squared, or F, written as for `LinearRegression.test`."""
    options: dict[str, Any] = {"intercept": False, "errors": errors, "freedom": freedom}
    return replace(wald_test(fit, hypothesis, value, names, (0, 1), **options), about="")


def ordinal_means(link: ShareLink) -> MeanFunction:
    """Return the function from outputs w'x - threshold_k, (n, K - 1), to P of the classes (n, K) with derivatives."""

    def between(slope: Array) -> Array:
        each, nothing = slope[:, :, None] * np.eye(slope.shape[1]), np.zeros((len(slope), 1, slope.shape[1]))
        return np.asarray(np.concatenate([nothing, each], axis=1) - np.concatenate([each, nothing], axis=1))

    def mean(z: Array, along: Array) -> tuple[Array, Array, Array]:
        none, every = np.zeros((len(z), 1)), np.ones((len(z), 1))
        p = np.diff(np.concatenate([none, link.mean(-z), every], axis=1), axis=1)
        return p, between(link.density(-z)), between(-link.density_slope(-z) * along)

    return mean


def probability_interval(
    fit: LikelihoodFit,
    link: CumulativeLink,
    x: Array,
    level: float,
    freedom: float = np.inf,
    known: Array | float = 0.0,
) -> Interval:
    """Return probabilities (n, K) at rows x (n, D), with intervals made of log odds by the delta method.

    They come of log-probabilities, so that they keep their digits where probabilities are tiny. Rows that the fitted
    rows do not span have NaN. `known` is a known part of the outputs, (n, 1).
    """
    LEVEL.check("level", level)
    root = fit.known_root("intervals")
    z = x @ fit.solution.theta[:, 1:].T + fit.solution.theta[:, 0] + known
    loss = OrdinalOutputs(Ordinal(link, -fit.solution.theta[:, 0]))
    classes = [np.full((len(x), 1), k) for k in range(1 + z.shape[1])]
    log_p = -np.concatenate([loss.value(z, t) for t in classes], axis=1)
    slopes = -np.stack([loss.slope(z, t) for t in classes], axis=1)
    along = np.einsum("nd,kdm->nkm", x, root[:, 1:]) + root[:, 0]
    odds, along = log_odds(log_p, slopes @ along)
    reach = reach_at(fit, x, along, quantile(freedom, level))
    return Interval(np.exp(log_p), scipy.special.expit(odds - reach), scipy.special.expit(odds + reach))
