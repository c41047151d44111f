"""Analysis of deviance of nested likelihood models: is the larger one worth its columns?

chi2 = 2 (ln L_1 - ln L_0),   degrees of freedom = parameters_1 - parameters_0

S. S. Wilks, Annals of Mathematical Statistics 9 (1938), 60-62.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special

from adaline.errors import InvalidData, InvalidParameter
from adaline.proof.tables import ModelTable, cell
from adaline.solvers.likelihood import LikelihoodFit

SAME = 1e-9  # how closely the likelihoods of the best constants must agree


class Likely(Protocol):
    """A fitted system with a likelihood, as far as analysis of deviance asks it."""

    fit_intercept: bool
    _fits: Sequence[LikelihoodFit]


class LikelihoodRatio(NamedTuple):
    """Twice the difference of log-likelihoods, its degrees of freedom, and the chance of as much if the small holds."""

    chi2: float
    freedom: int
    p_value: float


@dataclass(frozen=True, repr=False)
class Deviances(ModelTable):
    """The table that `anova` of likelihoods returns: arrays with one entry a model, NaN where one compares two.

    Parameters
    ----------
    columns, parameters : number of columns and of free coefficients of each model.
    log_likelihood, deviance : ln L, and -2 ln L.
    freedom_more, chi2, p_value : of the likelihood-ratio test against the model before.
    """

    TITLE: ClassVar[str] = "Analysis of deviance"
    HEADINGS: ClassVar[tuple[str, ...]] = ("model", "columns", "parameters", "-2 ln L", "df more", "chi²", "p")

    columns: tuple[int, ...]
    parameters: tuple[int, ...]
    log_likelihood: NDArray[np.float64]
    deviance: NDArray[np.float64]
    freedom_more: NDArray[np.float64]
    chi2: NDArray[np.float64]
    p_value: NDArray[np.float64]

    def _rows(self) -> list[list[str]]:
        return [
            [
                str(i + 1),
                str(self.columns[i]),
                str(self.parameters[i]),
                f"{self.deviance[i]:.6g}",
                cell(self.freedom_more[i]),
                cell(self.chi2[i], ".5g"),
                cell(self.p_value[i], "p"),
            ]
            for i in range(len(self.columns))
        ]


def likelihood_ratio(full: LikelihoodFit, small: LikelihoodFit) -> LikelihoodRatio:
    """Return the likelihood-ratio test of a model against one with fewer columns, fitted to the same rows."""
    for fit in (full, small):
        if fit.penalised or fit.firth:
            raise InvalidParameter("no likelihood-ratio test: a penalised fit is not where its likelihood is largest")
    if small.rows != full.rows or abs(small.weight - full.weight) > SAME * full.weight:
        raise InvalidData(
            f"the models were not fitted to the same rows: {small.rows} and {full.rows} rows of weight "
            f"{small.weight:g} and {full.weight:g}"
        )
    nulls = {full.null, _equal_odds(full)}  # the latter of a small model without an intercept
    if min(abs(small.null - null) for null in nulls) > SAME * abs(full.null) or small.coupled != full.coupled:
        raise InvalidData(
            "the models were not fitted to the same targets: the best constants have log-likelihoods "
            f"{small.null:.9g} and {full.null:.9g}"
        )
    freedom = full.parameters - small.parameters
    if freedom < 1:
        raise InvalidData(
            f"not nested: the models have {small.parameters} and {full.parameters} parameters; the smaller comes first"
        )
    more = full.log_likelihood - small.log_likelihood
    if more < -SAME * abs(full.null):
        raise InvalidData(
            f"not nested: the larger model is less likely, {full.log_likelihood:.9g} against {small.log_likelihood:.9g}"
        )
    chi2 = 2 * max(more, 0.0)
    return LikelihoodRatio(chi2, freedom, float(special.chdtrc(freedom, chi2)))


def deviances(models: Sequence[Likely]) -> Deviances:
    """Compare nested models, each with the one before it."""
    if any(len(model._fits) > 1 for model in models):
        raise InvalidParameter("anova: several machines fitted one by one have no likelihood in common; use softmax")
    fits = [model._fits[0] for model in models]
    for before, after in pairwise(models):
        check_columns(before, after)
    tests = [likelihood_ratio(after, before) for before, after in pairwise(fits)]
    chi2, more, p = (np.array([np.nan, *column]) for column in zip(*tests, strict=True))
    likelihood = np.array([fit.log_likelihood for fit in fits])
    return Deviances(
        tuple(fit.solution.theta.shape[1] - 1 for fit in fits),
        tuple(fit.parameters for fit in fits),
        likelihood,
        -2 * likelihood,
        more,
        chi2,
        p,
    )


def _equal_odds(fit: LikelihoodFit) -> float:
    return -fit.weight * float(np.log(len(fit.solution.theta) if fit.coupled else 2))


def check_columns(before: Any, after: Any) -> None:
    """Refuse models of which the later does not contain the columns of the one before."""
    if before.fit_intercept and not after.fit_intercept:
        raise InvalidData("anova: not nested: the smaller model has an intercept, the larger one has none")
    names = [_known_names(model) for model in (before, after)]
    extra = [name for name in names[0] if name not in names[1]] if all(names) else []
    if extra:
        raise InvalidData(f"anova: not nested: the larger model has no column {', '.join(map(repr, extra))}")


def _known_names(model: Any) -> list[str]:
    """Return the names of a model's columns, those that its basis gives where it has one; none where it has neither."""
    given, basis = getattr(model, "feature_names_in_", None), getattr(model, "basis_", None)
    if basis is not None:
        return list(basis.get_feature_names_out(given))
    return [] if given is None else list(given)
