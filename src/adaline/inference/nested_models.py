"""Analysis of variance of nested least-squares models, and of deviance of nested likelihoods.

    F = ((RSS_0 - RSS_1) / (df_0 - df_1)) / (RSS / df),   RSS / df of the largest model
    chi2 = 2 (ln L_1 - ln L_0),   degrees of freedom = parameters_1 - parameters_0
    chi2 = (deviance_0 - deviance_1) / dispersion;   F = chi2 / degrees of freedom where the dispersion is estimated,
                                                     by the largest model

S. S. Wilks, Annals of Mathematical Statistics 9 (1938), 60-62.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.errors import InvalidData, InvalidParameter
from adaline.fitted import AnyModel, can_fit, is_ordinal
from adaline.inference.summary import ModelTable
from adaline.solvers.smooth.likelihood import LikelihoodFit

# relative difference of total sums of squares up to which two models have the same rows; 10x larger accepts rows that
# differ
SAME_ROWS = 1e-9


@dataclass(frozen=True, repr=False)
class Anova(ModelTable):
    """The table that `anova` returns: arrays with one entry a model, NaN for the first where it compares two.

    Parameters
    ----------
    columns : number of columns of each model.
    freedom : residual degrees of freedom.
    rss : residual sums of squares.
    freedom_more, squares_more : degrees of freedom and sums of squares by which a model differs from the one before.
    f_statistic, p_value : of that difference, against the residual variance of the largest model.
    """

    TITLE: ClassVar[str] = "Analysis of variance"
    COLUMNS: ClassVar[dict[str, tuple[str, str]]] = {
        "columns": ("columns", "d"),
        "df": ("freedom", "g"),
        "RSS": ("rss", ".6g"),
        "df more": ("freedom_more", ".6g"),
        "SS": ("squares_more", ".6g"),
        "F": ("f_statistic", ".5g"),
        "p": ("p_value", "p"),
    }

    columns: tuple[int, ...]
    freedom: NDArray[np.float64]
    rss: NDArray[np.float64]
    freedom_more: NDArray[np.float64]
    squares_more: NDArray[np.float64]
    f_statistic: NDArray[np.float64]
    p_value: NDArray[np.float64]


def compare_nested(models: Sequence[Any]) -> Anova | Deviances | FamilyDeviances:
    """Compare nested models, each with the one before it; see `anova`."""
    if all(isinstance(fit, LikelihoodFit) for model in models for fit in getattr(model, "_fits", None) or [None]):
        of_family = [model._fits[0].family is not None for model in models]
        if any(of_family) != all(of_family):
            raise InvalidParameter("anova compares models of one kind: likelihoods of classes, or of one family")
        return family_deviances(models) if all(of_family) else deviances(models)
    for model in models:
        _check(model)
    for before, after in pairwise(models):
        _check_nested(before, after)
    freedom = np.array([model._sample().n - float(model._fits[0].trace[0]) for model in models])
    rss = np.array([float(model._fits[0].rss[0]) for model in models])
    if not freedom[-1] > 0.5:
        raise InvalidData("anova: the largest model leaves no degrees of freedom to judge by")
    if models[-1]._fits[0].exact[0]:
        raise InvalidData("anova: the fit of the largest model is exact to rounding, so there is no error to judge by")
    fewer = np.concatenate([[np.nan], -np.diff(freedom)])
    squares = np.concatenate([[np.nan], np.maximum(-np.diff(rss), 0.0)])
    with np.errstate(divide="ignore", invalid="ignore"):
        f = squares / fewer / (rss[-1] / freedom[-1])
    p = scipy.special.fdtrc(fewer, freedom[-1], f)
    return Anova(
        tuple(model._fits[0].solution.theta.shape[1] - 1 for model in models), freedom, rss, fewer, squares, f, p
    )


def _check(model: AnyModel) -> None:
    if not hasattr(model, "_fits") or not hasattr(model, "_sample"):
        why = ", not fitted" if can_fit(model) and not hasattr(model, "n_features_in_") else ""
        raise InvalidParameter(
            f"anova compares models that are all linear or all logistic; got {type(model).__name__}{why}"
        )
    if any(fit.penalty.any() for fit in model._fits):
        raise InvalidParameter(
            "anova: a penalised fit has no residual degrees of freedom in the sense of an F test. Use LinearRegression."
        )
    if any(fit.projected for fit in model._fits):
        raise InvalidParameter(
            "anova: models with endogenous columns are not compared by their residuals: test the terms, by "
            "model.test or anova of one model"
        )
    if sum(len(fit.squares) for fit in model._fits) > 1:
        raise InvalidParameter("anova: the model has several targets; fit and compare them one at a time")


def _check_nested(before: Any, after: Any) -> None:
    a, b = before._fits[0], after._fits[0]
    if before._sample() != after._sample() or abs(a.weight - b.weight) > SAME_ROWS * b.weight:
        sizes = (before._sample().n, a.weight), (after._sample().n, b.weight)
        each = [f"{rows:g} rows of total weight {weight:g}" for rows, weight in sizes]
        raise InvalidData(
            f"anova: the models were not fitted to the same rows: one was fitted to {each[0]}, the other to {each[1]}"
        )
    about = before._fitted_with.fit_intercept and after._fitted_with.fit_intercept
    totals = [_total(model, about) for model in (before, after)]
    if abs(totals[0] - totals[1]) > SAME_ROWS * max(totals):
        raise InvalidData(
            "anova: the models were not fitted to the same targets: their total sums of squares are "
            f"{totals[0]:.9g} and {totals[1]:.9g}"
        )
    check_nested_columns(before, after)
    if not a.trace[0] < b.trace[0] - 0.5:
        raise InvalidData(
            f"anova: not nested: the models have {a.trace[0]:g} and {b.trace[0]:g} parameters; the smaller comes first"
        )
    if b.rss[0] > a.rss[0] * (1 + SAME_ROWS) + SAME_ROWS * SAME_ROWS * b.tss[0]:
        raise InvalidData(
            f"anova: not nested: the larger model leaves more residual, {b.rss[0]:.6g} against {a.rss[0]:.6g}"
        )


def _total(model: AnyModel, about_mean: bool) -> float:
    """Return the total sum of squares of the target, about its mean or about zero."""
    fit = model._fits[0]
    if about_mean or not model._fitted_with.fit_intercept or fit.factor is None:
        return float(fit.tss[0])
    return float(fit.tss[0] + fit.weight * fit.factor.scaling.mean_hi[-1] ** 2)


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
    COLUMNS: ClassVar[dict[str, tuple[str, str]]] = {
        "columns": ("columns", "d"),
        "parameters": ("parameters", "d"),
        "-2 ln L": ("deviance", ".6g"),
        "df more": ("freedom_more", ".6g"),
        "chi²": ("chi2", ".5g"),
        "p": ("p_value", "p"),
    }

    columns: tuple[int, ...]
    parameters: tuple[int, ...]
    log_likelihood: NDArray[np.float64]
    deviance: NDArray[np.float64]
    freedom_more: NDArray[np.float64]
    chi2: NDArray[np.float64]
    p_value: NDArray[np.float64]


def likelihood_ratio(full: LikelihoodFit, small: LikelihoodFit) -> LikelihoodRatio:
    """Return the likelihood-ratio test of a model against one with fewer columns, fitted to the same rows."""
    for fit in (full, small):
        if fit.penalised or fit.firth:
            raise InvalidParameter("no likelihood-ratio test: a penalised fit is not where its likelihood is largest")
    if small.rows != full.rows or abs(small.weight - full.weight) > SAME_ROWS * full.weight:
        raise InvalidData(
            f"the models were not fitted to the same rows: {small.rows} and {full.rows} rows of weight "
            f"{small.weight:g} and {full.weight:g}"
        )
    nulls = {full.null, _equal_odds(full)}  # the latter of a small model without an intercept
    if min(abs(small.null - null) for null in nulls) > SAME_ROWS * abs(full.null) or small.coupled != full.coupled:
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
    if more < -SAME_ROWS * abs(full.null) and not full.unbounded:
        raise InvalidData(
            f"not nested: the larger model is less likely, {full.log_likelihood:.9g} against {small.log_likelihood:.9g}"
        )
    chi2 = 2 * max(more, 0.0)
    return LikelihoodRatio(chi2, freedom, float(scipy.special.chdtrc(freedom, chi2)))


def deviances(models: Sequence[Any]) -> Deviances:
    """Compare nested models, each with the one before it."""
    if any(len(model._fits) > 1 for model in models):
        raise InvalidParameter("anova: several machines fitted one by one have no likelihood in common; use softmax")
    fits = [model._fits[0] for model in models]
    for before, after in pairwise(models):
        check_nested_columns(before, after)
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


@dataclass(frozen=True, repr=False)
class FamilyDeviances(ModelTable):
    """The table that `anova` of families returns: arrays with one entry a model, NaN where one compares two.

    Parameters
    ----------
    columns : number of columns of each model.
    freedom, deviance : residual degrees of freedom, and deviance.
    freedom_more, deviance_more : by how much a model differs from the one before.
    chi2, f_statistic : deviance_more over the dispersion, and that over freedom_more where the dispersion is estimated.
    p_value : of F, or of chi-squared where there is none.
    """

    TITLE: ClassVar[str] = "Analysis of deviance"
    COLUMNS: ClassVar[dict[str, tuple[str, str]]] = {
        "columns": ("columns", "d"),
        "df": ("freedom", "g"),
        "deviance": ("deviance", ".6g"),
        "df more": ("freedom_more", ".6g"),
        "less": ("deviance_more", ".6g"),
        "chi²": ("chi2", ".5g"),
        "F": ("f_statistic", ".5g"),
        "p": ("p_value", "p"),
    }

    columns: tuple[int, ...]
    freedom: NDArray[np.float64]
    deviance: NDArray[np.float64]
    freedom_more: NDArray[np.float64]
    deviance_more: NDArray[np.float64]
    chi2: NDArray[np.float64]
    f_statistic: NDArray[np.float64]
    p_value: NDArray[np.float64]


def family_deviances(models: Sequence[Any]) -> FamilyDeviances | Deviances:
    """Compare nested models of one family, each with the one before it; by -2 ln L where shapes were estimated."""
    if any(len(model._fits) > 1 for model in models):
        raise InvalidParameter("anova: the model has several targets; fit and compare them one at a time")
    fits = [model._fits[0] for model in models]
    for (before, after), (a, b) in zip(pairwise(models), pairwise(fits), strict=True):
        check_nested_columns(before, after)
        intercepts = {bool(model._fitted_with.fit_intercept) for model in (before, after)}
        _check_families(a, b, len(intercepts) == 1)
    families = [fit.family for fit in fits]
    last, nothing = families[-1], [np.nan]
    freedom, deviance = (np.array([getattr(part, name) for part in families]) for name in ("freedom", "deviance"))
    more = np.array([np.nan, *np.diff([fit.parameters for fit in fits])])
    columns = tuple(fit.solution.theta.shape[1] - 1 for fit in fits)
    if last.own_parameter:  # deviances of other shapes are not comparable
        likelihood = np.array([fit.log_likelihood for fit in fits])
        chi2 = np.array([np.nan, *np.maximum(2 * np.diff(likelihood), 0.0)])
        chance = np.asarray(scipy.special.chdtrc(more, chi2), dtype=np.float64)
        parameters = tuple(fit.parameters for fit in fits)
        return Deviances(columns, parameters, likelihood, -2 * likelihood, more, chi2, chance)
    less = np.array([np.nan, *np.maximum(-np.diff(deviance), 0.0)])
    chi2 = less / last.dispersion
    f = chi2 / more if last.estimated else np.array(nothing * len(fits))
    p = scipy.special.fdtrc(more, last.freedom, f) if last.estimated else scipy.special.chdtrc(more, chi2)
    return FamilyDeviances(columns, freedom, deviance, more, less, chi2, f, np.asarray(p, dtype=np.float64))


def _check_families(small: LikelihoodFit, full: LikelihoodFit, intercepts: bool) -> None:
    """Refuse fits of two families or of other rows, penalised ones, and those of which the second is no larger.

    `intercepts`: whether both have an intercept or neither has, so that their null deviances are the same.
    """
    a, b = small.family, full.family
    assert a is not None
    assert b is not None
    if (a.family, a.link) != (b.family, b.link):
        raise InvalidParameter(f"anova: the models are of {a.family} ({a.link}) and of {b.family} ({b.link})")
    if small.penalised or full.penalised:
        raise InvalidParameter("no likelihood-ratio test: a penalised fit is not where its likelihood is largest")
    if a.precision != b.precision:
        raise InvalidParameter("anova: the weights of one model are frequencies, those of the other are precisions")
    same = small.rows == full.rows and abs(small.weight - full.weight) <= SAME_ROWS * full.weight
    known = not (a.own_parameter or b.own_parameter)  # the deviance of other shapes is another one
    nulls = (a.null_deviance, b.null_deviance)
    alike = not known or not intercepts or not abs(nulls[0] - nulls[1]) > SAME_ROWS * abs(nulls[1])
    if not (same and alike):
        raise InvalidData(
            f"the models were not fitted to the same rows: {small.rows} and {full.rows} rows of weight "
            f"{small.weight:g} and {full.weight:g}, null deviances {nulls[0]:.9g} and {nulls[1]:.9g}"
        )
    if full.parameters <= small.parameters:
        raise InvalidData(
            f"not nested: the models have {small.parameters} and {full.parameters} parameters; the smaller comes first"
        )
    if known and not full.unbounded and b.deviance > a.deviance + SAME_ROWS * abs(b.null_deviance):
        raise InvalidData(f"not nested: the larger model has more deviance, {b.deviance:.9g} against {a.deviance:.9g}")


def _equal_odds(fit: LikelihoodFit) -> float:
    return -fit.weight * float(np.log(len(fit.solution.theta) if fit.coupled else 2))


def check_nested_columns(before: Any, after: Any) -> None:
    """Refuse models of which the later does not contain the columns of the one before."""
    small, large = (model._fitted_with for model in (before, after))
    if getattr(small, "fit_intercept", True) and not getattr(large, "fit_intercept", True):
        raise InvalidData("anova: not nested: the smaller model has an intercept, the larger one has none")
    if is_ordinal(before) and small.link != large.link:
        raise InvalidData(f"anova: not nested: the links differ, {small.link!r} and {large.link!r}")
    names = [_known_names(model) for model in (before, after)]
    extra = [name for name in names[0] if name not in names[1]] if all(names) else []
    if extra:
        missing = ", ".join(map(repr, extra))
        if _made_of_the_same(before, after, extra):
            raise InvalidData(
                f"anova: cannot tell by the names of the columns whether the models are nested: the larger has no "
                f"column {missing}, but others made of the same; add {missing} to the larger model, which leaves out "
                "what depends on the rest"
            )
        raise InvalidData(f"anova: not nested: the larger model has no column {missing}")


def _made_of_the_same(before: Any, after: Any, names: Sequence[str]) -> bool:
    """Whether the larger model reads all raw columns of which the smaller made these columns, by formulas."""
    small, large = getattr(before, "coding_", None), getattr(after, "coding_", None)
    if small is None or large is None:
        return False
    raw = dict(zip(small.names, small.origin, strict=True))
    return all(part in large.needed for name in names for part in raw.get(name, name).split(":"))


def _known_names(model: AnyModel) -> list[str]:
    """Return the names of a model's columns, those that its basis gives where it has one; none where it has neither."""
    given, basis = getattr(model, "feature_names_in_", None), getattr(model, "basis_", None)
    if basis is not None:
        return list(basis.get_feature_names_out(given))
    return [] if given is None else list(given)
