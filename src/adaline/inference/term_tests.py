"""Wald tests of the terms of a model, for tables of types 1, 2 and 3 and with single terms dropped.

Least squares and Wald's statistic need no row: with b = C theta of the hypotheses and Cov = root root',

    W = |L^-1 b|^2,   L L' = C Cov C',   F = W / q

and for least squares W sigma^2 is the sum of squares by which the residuals grow without the term. The three types are
in `terms.py`; likelihood ratios, which need the rows, in `term_ratios.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from adaline.errors import InvalidData, InvalidParameter
from adaline.fitted import AnyModel, check_is_fitted
from adaline.inference.covariance import ErrorOptions, JudgedRegression
from adaline.inference.hypotheses import Hypotheses, HypothesisTest
from adaline.inference.summary import RowsTable
from adaline.inference.terms import (
    ModelTerm,
    by_marginality,
    dependence_of,
    in_sums_to_zero,
    sequential,
    terms_of,
)
from adaline.input.basis import columns_of
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.sources.threads import one_blas_thread
from adaline.wording import degrees, number

TestType = Literal[1, 2, 3]
"""What is assumed of other terms; see `terms.py`."""
TITLES = {
    1: "each given the terms before it (type 1)",
    2: "each given all other terms that do not contain it (type 2)",
    3: "each given all other terms (type 3)",
}

WHOLE = "(none)"


class JudgedModel(Protocol):
    """A model with the standard errors that judge it: an `InferenceView`."""

    @property
    def model(self) -> AnyModel:
        """The fitted system."""

    @property
    def options(self) -> ErrorOptions:
        """Which standard errors."""

    @property
    def judged(self) -> Any:
        """The fits with these errors."""


@dataclass(frozen=True, repr=False)
class TermTests(RowsTable):
    """What `anova` of one model and `drop1` return.

    Parameters
    ----------
    rows : one a term: `term`, `df`, `F` or `chi2`, `p_value`; `sum_of_squares` of least squares with classical errors;
        `drop1` also has the `rss` or `deviance`, and `aic`, of the model without the term.
    errors : which standard errors were used.
    residual : degrees of freedom and sum of squares of the residuals, of least squares with classical errors.
    """

    COLUMNS: ClassVar[dict[str, str]] = {
        "term": "",
        "df": "df",
        "sum_of_squares": "SS",
        "rss": "RSS",
        "deviance": "deviance",
        "aic": "AIC",
        "F": "F",
        "chi2": "chi²",
        "p_value": "p",
    }

    errors: str = "classical"
    residual: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        residual = {"residual": dict(self.residual)} if self.residual else {}
        return {"title": self.title, "errors": self.errors, "terms": [dict(row) for row in self.rows], **residual}


def check_testable(model: AnyModel, what: str) -> None:
    """Refuse a model whose terms have no tests."""
    if not hasattr(model, "_test") or not hasattr(model, "with_errors"):
        raise InvalidParameter(
            f"{what} needs a model with standard errors; got {type(model).__name__}: use LinearRegression, "
            "RobustRegression, LogisticRegression, GeneralizedLinear or OrdinalRegression"
        )
    check_is_fitted(model)
    if sum(len(getattr(fit, "squares", "1")) for fit in model._fits) > 1:
        raise InvalidParameter(f"{what}: the model has several targets; fit one model for each")


def check_type(kind: TestType) -> None:
    """Raise an error unless the type of test is 1, 2 or 3."""
    if isinstance(kind, bool) or kind not in TITLES:
        raise InvalidParameter(f"type must be 1, 2 or 3, got {kind!r}")


def terms_tested(view: JudgedModel, kind: TestType) -> TermTests:
    """Return the tests of all terms of a model with the errors of a view."""
    model = view.model
    rows: list[dict[str, Any]] = []
    refused: list[tuple[str, InvalidParameter]] = []
    for term, tested in hypotheses_of(model, kind):
        try:
            with one_blas_thread():  # matrices of many terms, each small for threads
                rows.append(tested_term(view, term, tested))
        except InvalidParameter as error:  # a few groups do not have errors for every term
            refused.append((term.name, error))
            rows.append({"term": term.name, "df": len(tested.matrix)})
    if len(refused) == len(rows):
        raise refused[0][1]
    return TermTests(
        f"{type(model).__name__}: tests of terms, {TITLES[kind]}",
        rows,
        errors=str(view.options.errors),
        residual=_residual(view),
        notes=(*_notes(view), *(f"{name} is not tested: {error}" for name, error in refused)),
    )


def hypotheses_of(model: AnyModel, kind: TestType) -> list[tuple[ModelTerm, Hypotheses]]:
    """Return the terms of a model and what is tested of each; refuse terms that the rows do not tell apart."""
    terms, dependence = terms_of(model), dependence_of(model)
    if not terms:
        raise InvalidData("the model has no terms to test")
    kept = dependence.kept
    if kind > 1 and len(dependence.left_out):
        combination = dependence.texts(columns_of(model))[0]
        raise InvalidData(
            f"the rows do not tell the terms apart, as {combination}: leave out a column of it, or use type=1, where "
            "the term that comes first has the effect"
        )
    if kind < 3:
        make: Callable[..., Hypotheses] = sequential if kind == 1 else by_marginality
        return [(term, make(terms, kept, k)) for k, term in enumerate(terms)]
    empty = [term for term in terms if not kept[term.columns].all()]
    if empty:
        name = columns_of(model)[int(empty[0].columns[~kept[empty[0].columns]][0])]
        raise InvalidData(
            f"no tests of type 3: the column {name!r} of the term {empty[0].name!r} is constant, as where a cell has "
            "no rows. Use type=2, or leave the column out"
        )
    return [(term, in_sums_to_zero(model, terms, k)) for k, term in enumerate(terms)]


def tested_term(view: JudgedModel, term: ModelTerm, tested: Hypotheses) -> dict[str, Any]:
    """Return the test of one term as a row of the table."""
    if not len(tested.matrix):
        return {"term": term.name, "df": 0}
    found = view.model._test(view, tested, 0.0)
    if isinstance(found, HypothesisTest):
        df, rest = found.freedom
        f, p = float(np.ravel(found.statistic)[0]), float(np.ravel(found.p_value)[0])
    else:
        df, rest, f, p = found.freedom, found.residual_freedom, found.statistic, found.p_value
    row: dict[str, Any] = {"term": term.name, "df": df}
    residual = _residual(view)
    if residual:
        row["sum_of_squares"] = f * df * residual["sum_of_squares"] / residual["df"]
    return row | ({"F": f} if np.isfinite(rest) else {"chi2": f * df}) | {"p_value": p}


def _residual(view: JudgedModel) -> dict[str, float]:
    """Return degrees of freedom and sum of squares of the residuals; nothing but of least squares."""
    judged = view.judged
    if not isinstance(judged, JudgedRegression) or judged.robust is not None:
        return {}
    fit = judged.fits[0]
    if fit.projected:  # whose residuals do not grow by what a test says
        return {}
    return {"df": judged.sample.n - float(fit.trace[0]), "sum_of_squares": float(fit.rss[0])}


def _notes(view: JudgedModel) -> tuple[str, ...]:
    residual = _residual(view)
    if residual:
        return (f"residuals: SS {number(residual['sum_of_squares'])} on {degrees(residual['df'])} degrees of freedom",)
    describe = getattr(view.judged, "describe", list)
    return (*describe(), "Wald tests") if isinstance(view.model._fits[0], LikelihoodFit) else tuple(describe())


def dropped_terms(view: JudgedModel) -> TermTests:
    """Return the tests of the terms that no other one contains, with AIC of least squares with classical errors."""
    found = hypotheses_of(view.model, 2)
    terms = [term for term, _ in found]
    rows = [tested_term(view, term, tested) for term, tested in found if not any(term.within(one) for one in terms)]
    residual = _residual(view)
    if isinstance(view.judged, JudgedRegression) and residual:
        part, rss = view.model.summary().parts[0], residual["sum_of_squares"]
        for row in rows:
            row["rss"] = rss + row.get("sum_of_squares", 0.0)
            row["aic"] = part.aic + view.judged.sample.n * float(np.log(row["rss"] / rss)) - 2 * row["df"]
        rows = [{"term": WHOLE, "rss": rss, "aic": part.aic}, *rows]
    title = f"{type(view.model).__name__}: single terms dropped"
    return TermTests(title, rows, errors=str(view.options.errors), residual=residual, notes=_notes(view))
