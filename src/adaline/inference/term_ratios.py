"""Tests of terms by ratios of likelihoods: each model without a term is fitted to the rows.

For types 1 and 2 the model with the term but without those assumed to be zero is fitted too (see `terms.py`).

S. S. Wilks, Annals of Mathematical Statistics 9 (1938), 60-62.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from adaline.arrays import Array
from adaline.attributes import replaced
from adaline.basis.base import Basis
from adaline.errors import AdalineWarning, ConvergenceWarning, InvalidParameter
from adaline.estimator import clone
from adaline.fitted import AnyModel, has_absorbed
from adaline.inference.hypotheses import Hypotheses
from adaline.inference.nested_models import Anova, FamilyDeviances, compare_nested
from adaline.inference.sandwich import check_rows_weight
from adaline.inference.term_tests import TITLES, WHOLE, TermTests, TestType, hypotheses_of
from adaline.inference.terms import ModelTerm
from adaline.inference.view import RowsAgain
from adaline.sources.columns import UNNAMED
from adaline.sources.expanded import expanded


class Refits:
    """The rows of a likelihood, and the models fitted to some of its columns.

    Parameters
    ----------
    model : fitted, without penalty.
    given : the rows that were fitted.
    """

    def __init__(self, model: AnyModel, given: RowsAgain) -> None:
        fit = model._fits[0]
        if fit.penalised or fit.firth:
            raise InvalidParameter(
                "no likelihood-ratio tests: a penalised fit is not where its likelihood is largest. Use penalty=0"
            )
        if has_absorbed(model):
            raise InvalidParameter(
                "likelihood ratios of terms are not computed where effects were absorbed: leave out X for Wald tests"
            )
        found = model._same_rows(*given)[0]
        check_rows_weight(fit, found)
        self.model, self.rows = model, found
        self.known: dict[bytes, AnyModel] = {b"": model}

    def under(self, constraints: Array) -> AnyModel:
        """Return the model fitted with combinations of its coefficients zero, (q, 1 + D), none of the intercept."""
        key = constraints.tobytes()
        if key not in self.known:
            self.known[key] = self._fitted(constraints[:, 1:])
        return self.known[key]

    def _fitted(self, constraints: Array) -> AnyModel:
        own = {"basis": None, "class_weight": None, "classes": None}  # the rows are those after these
        fresh = clone(self.model)
        fresh.set_params(**{name: value for name, value in own.items() if name in fresh.get_params()})
        source = replaced(expanded(self.rows, _Reduced(constraints)), columns=UNNAMED)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AdalineWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            return fresh.fit(source)


class _Reduced(Basis):
    """Columns that span those of the rows under C w = 0: without some of them, or combinations V'x where w = V v.

    Parameters
    ----------
    constraints : C (q, D).
    """

    def __init__(self, constraints: Array) -> None:
        self.constraints = constraints
        self.kept = ~constraints.any(axis=0)
        alone = (np.count_nonzero(constraints, axis=1) == 1).all()
        self.combined = None if alone else np.linalg.svd(constraints)[2][len(constraints) :]

    def of(self, x: Array) -> Array:
        return np.ascontiguousarray(x[:, self.kept] if self.combined is None else x @ self.combined.T)

    def names(self, given: list[str]) -> list[str]:
        return [f"x{j}" for j in range(self.kept.sum() if self.combined is None else len(self.combined))]


def likelihood_tests(rows: Refits, kind: TestType) -> TermTests:
    """Return likelihood-ratio tests of all terms, or those by F where the dispersion is estimated."""
    model = rows.model
    found = [compared_by_ratio(rows, term, tested) for term, tested in hypotheses_of(model, kind)]
    return TermTests(f"{type(model).__name__}: tests of terms, {TITLES[kind]}", found, notes=_by_ratios(found))


def dropped_likelihoods(rows: Refits) -> TermTests:
    """Return likelihood-ratio tests, deviance and AIC of the models without one of the terms that no other contains."""
    model = rows.model
    found = hypotheses_of(model, 2)
    terms, out = [term for term, _ in found], [{"term": WHOLE, **_measures(model)}]
    for term, tested in found:
        if not any(term.within(one) for one in terms):
            out.append(compared_by_ratio(rows, term, tested) | _measures(rows.under(tested.matrix)))
    return TermTests(f"{type(model).__name__}: single terms dropped", out, notes=_by_ratios(out))


def _by_ratios(rows: list[dict[str, Any]]) -> tuple[str, ...]:
    by_f = any("F" in row for row in rows)
    return ("F tests of deviances, by the dispersion of the model" if by_f else "likelihood-ratio tests",)


def compared_by_ratio(rows: Refits, term: ModelTerm, tested: Hypotheses) -> dict[str, Any]:
    """Return the test of a term by the ratio of the likelihoods without and with it as a row of the table."""
    if not len(tested.matrix):
        return {"term": term.name, "df": 0}
    larger = rows.under(tested.assumed) if len(tested.assumed) else rows.model
    models = [rows.under(np.concatenate([tested.assumed, tested.matrix])), larger]
    table = compare_nested(models if larger is rows.model else [*models, rows.model])
    f = table.f_statistic[1] if isinstance(table, FamilyDeviances) else np.nan
    assert not isinstance(table, Anova)
    row = {"term": term.name, "df": int(table.freedom_more[1])}
    statistic = {"chi2": float(table.chi2[1])} if np.isnan(f) else {"F": float(f)}
    return row | statistic | {"p_value": float(table.p_value[1])}


def _measures(model: AnyModel) -> dict[str, float]:
    found = model.summary().to_dict()
    return {"deviance": found.get("deviance", -2 * found["log_likelihood"]), "aic": found["aic"]}
