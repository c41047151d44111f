"""The results of a least-squares fit: `summary`, `test` and `variance_inflation`.

Classical errors need only the fit. Robust errors read the rows once more, and refuse rows other than those fitted.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from adaline import inference
from adaline.arrays import Array, HypothesisLike
from adaline.inference.classical import EXACT_FIT, Inference, by_target, infer
from adaline.inference.covariance import Covariance, JudgedRegression, factor_of, why_no_factor
from adaline.inference.hypotheses import HypothesisTest, read_hypotheses, wald
from adaline.inference.left_out import left_out, left_out_notes
from adaline.inference.summary import TargetsTable
from adaline.parameters import LEVEL
from adaline.penalties import no_penalty
from adaline.results import CONSTANT, EXPLAINED, Certificate, Status, made, some
from adaline.solvers.least_squares.factor import gram_factor
from adaline.solvers.least_squares.fit import EXACT_RATIO, Fit
from adaline.sums import Moments
from adaline.wording import degrees, number, p_value


@dataclass(frozen=True, repr=False)
class Summary(TargetsTable):
    """Coefficients with their statistics, how well the model fits, and its certificate."""

    parts: list[Inference]

    def _quality(self, part: Inference) -> dict[str, Any]:
        found = super()._quality(part)
        if math.isnan(part.within_r_squared):
            found.pop("within_r_squared")
        return found

    def _lines(self, part: Inference) -> list[str]:
        within = "" if math.isnan(part.within_r_squared) else f", within {number(part.within_r_squared)}"
        first = (
            f"R² {number(part.r_squared)}, adjusted {number(part.adjusted_r_squared)}{within};  residual sd "
            f"{number(part.sigma)} on {degrees(part.freedom)} degrees of freedom"
        )
        if math.isnan(part.log_likelihood):  # no residuals, or residuals of rounding
            return [first]
        return [
            first,
            f"F {number(part.f_statistic)} on {degrees(part.model_freedom)} and {degrees(part.f_freedom)} "
            f"(p {p_value(part.f_p_value)})",
            f"log-likelihood {number(part.log_likelihood)}, AIC {number(part.aic)}, BIC {number(part.bic)}",
        ]


def summarise_regression(
    judged: JudgedRegression,
    names: Sequence[str],
    *,
    title: str,
    intercept: bool,
    certificate: Certificate,
    level: float = 0.95,
    notes: Sequence[str] = (),
) -> Summary:
    """Return the table of a regression.

    Parameters
    ----------
    judged : the fits with their standard errors.
    names : of the D columns.
    title, intercept, certificate : of the model.
    level : coverage of the intervals.
    notes : lines to put before those that the fits give rise to.
    """
    LEVEL.check("level", level)
    fits, sample, options = judged.fits, judged.sample, judged.options
    kept = [fit.without_dependent() for fit in fits]
    targets = by_target(kept)
    robust: Sequence[Covariance | None] = [None] * len(targets) if judged.robust is None else judged.robust
    factor = fits[0].factor
    constant = CONSTANT if sample.absorbed is None else EXPLAINED
    missing = {} if factor is None or factor.rank == len(names) else left_out(factor.dependence, names, constant)
    found = judged.describe()
    if sample.precision:
        found.append(f"weights are precisions: every row is one observation, {sample.n:.0f} in all")
    if missing:
        found += left_out_notes(missing, shared=kept[0] is not fits[0])
    if factor is None:
        given = fits[0].solution.certificate.status is Status.GIVEN  # then the certificate gives the reason
        found += [] if given else [f"no standard errors: {why_no_factor(fits[0])}"]
    elif any(sample.n - float(fit.trace[k]) <= 0.5 for fit, k in targets):
        found.append("no standard errors: there are no more rows than parameters")
    elif sample.absorbed is not None and not fits[0].total.any():
        found.append("no standard errors: the absorbed effects explain the target, up to rounding")
    else:
        which = [f" of y{k}" if len(targets) > 1 else "" for k in range(len(targets))]
        exact = [(fit, k, own) for (fit, k), own in zip(targets, which, strict=True) if fit.exact[k]]
        found += [_exact_note(fit, k, names, missing, own) for fit, k, own in exact]
    return made(
        Summary,
        title=title,
        names=list(names),
        targets=[f"y{k}" for k in range(len(robust))],
        parts=[
            infer(fit, k, intercept, level, sample, one, options) for (fit, k), one in zip(targets, robust, strict=True)
        ],
        level=level,
        rows=fits[0].rows,
        weight=fits[0].weight,
        certificate=certificate,
        notes=[*notes, *found],
        intercept=intercept,
        errors=options.errors,
        student=math.isfinite(judged.freedom),
        left_out=missing,
        absorbed={} if sample.absorbed is None else sample.absorbed.by_name(),
    )


def _exact_note(fit: Fit, k: int, names: Sequence[str], missing: Collection[str], which: str) -> str:
    """Return the line about a fit whose residuals are rounding, with the columns that take no part in it.

    Columns that are `missing` from the table, as they depend on others, are not named again.
    """
    if fit.constant[k]:
        return f"the target{which} has the same value in every row: there is nothing to explain, and tests are left out"
    size = fit.term_sizes()[k]
    zero = [n for n, own in zip(names, size[1:], strict=True) if own <= EXACT_RATIO * size.max() and n not in missing]
    more = f"; the coefficients of {some(zero)} are zero to rounding" if len(zero) > 1 else ""
    more = f"; the coefficient of {zero[0]} is zero to rounding" if len(zero) == 1 else more
    return EXACT_FIT.replace("the fit", f"the fit{which}", 1) + more


def hypothesis_test(
    judged: JudgedRegression,
    names: Sequence[str],
    hypothesis: HypothesisLike,
    value: Any,
    *,
    intercept: bool,
    flat: bool,
) -> HypothesisTest:
    """Return the F test of C theta = value for each target, or, where `flat`, for the only one.

    The second freedom is infinite where the normal distribution was asked for, and the test chi-squared.
    The other arguments are those of `summarise_regression`.
    """
    tested = read_hypotheses(hypothesis, value, names, intercept)
    found, options = judged.covariances(), judged.options
    each = zip(by_target(judged.fits), found, strict=True)
    tests = np.array([wald(fit, covariance, tested) for (fit, _), covariance in each])
    q, freedom = len(tested.matrix), found[0].freedom
    if options.distribution == "normal":
        freedom, tests[:, 1] = np.inf, scipy.special.chdtrc(q, q * tests[:, 0])
    f, p = (float(column[0]) if flat else column for column in tests.T)
    return HypothesisTest(tested.texts, f, (q, freedom), p, options.errors)


def variance_inflation(fit: Fit, sums: Moments | None, intercept: bool) -> Array:
    """Return VIF_j of each column, (D,), from a fit, or, where it has a penalty, from the sums it was solved from."""
    if fit.penalty.any() and sums is not None:
        return inference.inflation(gram_factor(sums, intercept, no_penalty(sums.shape.features))[0])
    return inference.inflation(factor_of(fit))
