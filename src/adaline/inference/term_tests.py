"""Tests of the terms of a model: tables of types 1, 2 and 3, single terms dropped, and inflation by term.

Least squares and Wald's statistic need no row: with b = C theta of the hypotheses and Cov = root root',

    W = |L^-1 b|^2,   L L' = C Cov C',   F = W / q

and for least squares W sigma^2 is the sum of squares by which the residuals grow without the term. Given the rows
again, the terms of a likelihood are tested by its ratio: each model without a term is fitted, and for types 1 and 2
that with the term but without those that are zero too (see `terms.py`).

    GVIF = det R_T det R_rest / det R = det R_T det (R^-1)_T

with R the correlations of the coefficients, and T the columns of the term.

J. Fox and G. Monette, J. Amer. Statist. Assoc. 87 (1992), 178-183 (GVIF); S. S. Wilks, Annals of Mathematical
Statistics 9 (1938), 60-62.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from adaline.arrays import Array, OffsetsLike, RowsLike, TargetsLike, WeightsLike, as_dense, host
from adaline.errors import AdalineWarning, ConvergenceWarning, InvalidData, InvalidParameter
from adaline.estimator import clone
from adaline.fitted import AnyModel, check_is_fitted
from adaline.inference.covariance import ErrorOptions, JudgedRegression, coordinates, lengths
from adaline.inference.hypotheses import Hypotheses, HypothesisTest
from adaline.inference.nested_models import Anova, Deviances, FamilyDeviances, compare_nested
from adaline.inference.sandwich import check_rows_weight
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
from adaline.solvers.least_squares.fit import Fit
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.sources import ArraySource
from adaline.sources.threads import one_blas_thread
from adaline.wording import degrees, number

TestType = Literal[1, 2, 3]
"""What is assumed of other terms; see `terms.py`."""
TITLES = {
    1: "each after those before it (type 1)",
    2: "each beside all that do not contain it (type 2)",
    3: "each beside all others (type 3)",
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


@dataclass(frozen=True, repr=False)
class TermInflation(RowsTable):
    """What `term_inflation` returns.

    Parameters
    ----------
    rows : one a term: `term`, `df`, `gvif`, and `gvif_root`, gvif^(1/(2 df)), which compares terms of any `df`.
    """

    COLUMNS: ClassVar[dict[str, str]] = {"term": "", "df": "df", "gvif": "GVIF", "gvif_root": "GVIF^(1/(2 df))"}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        return {"title": self.title, "terms": [dict(row) for row in self.rows]}


def anova(
    model: AnyModel,
    *larger: AnyModel,
    type: TestType = 2,
    X: RowsLike = None,
    y: TargetsLike = None,
    sample_weight: WeightsLike = None,
    offset: OffsetsLike = None,
    exposure: OffsetsLike = None,
) -> TermTests | Anova | Deviances | FamilyDeviances:
    """Test the terms of a model, or compare nested models, each with the one before it.

    **One model.** A term is a factor of the formula or a product of some, with all of its columns; without a formula it
    is a column. Type 1 tests each term beside those before it, so that sums of squares add up to that of the model;
    type 2 beside all terms that do not contain it (`a:b` contains `a`); type 3 beside all others, as effects that add
    up to zero over the levels of each category, whatever the coding of these, as in SAS, and in R under `contr.sum`.
    The three agree where terms are orthogonal, types 2 and 3 also where no term contains another.

    Least squares are tested by F, exactly, and likelihoods by Wald's chi-squared, or by F where the dispersion is
    estimated: no pass over the rows. With the rows (`X`, `y`), likelihoods are tested by their ratio, with a fit for
    each model without a term. `model.with_errors(...).anova(type=...)` tests terms with robust errors.

    **Several models**, the smallest first: least squares by F with the residual variance of the last model, which is
    the largest, likelihoods by their ratio, or by F where the dispersion is estimated, by the last model. The rows must
    be the same for all and each model must contain the columns of the one before. No pass over the rows: models know
    the number and weight of their rows and how well constants fit their targets, and are refused where these differ;
    that the larger contains the columns of the smaller is checked by their names, and assumed where there are none.

    Parameters
    ----------
    model : a fitted model of one target, without penalty.
    *larger : further models, in order of size.
    type : 1, 2 or 3
        Of one model: what is assumed of the other terms.
    X, y, sample_weight, offset, exposure
        Of one model: the rows that were fitted, for tests by likelihood ratios. They are held in memory.

    Returns
    -------
    TermTests : of one model; `to_dict()["terms"]` has a row for each term: `term`, `df`, `F` or `chi2`, `p_value`.
    Anova, Deviances, FamilyDeviances : of several models of least squares, of classes, or of a family: `p_value`,
        `f_statistic` or `chi2`, `freedom_more` and more, with one entry for each model. All print as tables.

    Examples
    --------
    >>> import pandas as pd
    >>> from adaline import LinearRegression, anova, datasets
    >>> birds = pd.read_csv(datasets.path("penguins")).dropna()
    >>> model = LinearRegression().fit(birds[["species", "sex", "flipper_length_mm"]], birds.body_mass_g)
    >>> print(anova(model))
    LinearRegression: tests of terms, each beside all that do not contain it (type 2)
    <BLANKLINE>
                       df           SS        F        p
    ----------------------------------------------------
    species             2  1.31418e+07  75.2177  <0.0001
    sex                 1  1.71896e+07  196.771  <0.0001
    flipper_length_mm   1  4.32562e+06  49.5157  <0.0001
    <BLANKLINE>
    residuals: SS 2.86536e+07 on 328 degrees of freedom
    >>> small = LinearRegression().fit(birds[["flipper_length_mm"]], birds.body_mass_g)
    >>> print(f"F {anova(small, model).f_statistic[1]:.2f}")
    F 86.08

    References
    ----------
    R. A. Fisher, Statistical Methods for Research Workers (1925); S. S. Wilks, Annals of Mathematical Statistics 9
    (1938), 60-62; J. Fox and S. Weisberg, An R Companion to Applied Regression (2019), `Anova` of their car.
    """
    if larger:
        if type != 2 or any(given is not None for given in (X, y, sample_weight, offset, exposure)):
            raise InvalidParameter(
                "anova of several models compares each with the one before it: it takes no type or X"
            )
        return compare_nested([model, *larger])
    check_type(type)
    check_testable(model, "anova")
    if X is None or not isinstance(model._fits[0], LikelihoodFit):
        return terms_tested(view_of(model), type)
    return likelihood_tests(Refits(model, X, y, sample_weight, offset, exposure), type)


def drop1(
    model: AnyModel,
    X: RowsLike = None,
    y: TargetsLike = None,
    sample_weight: WeightsLike = None,
    offset: OffsetsLike = None,
    exposure: OffsetsLike = None,
) -> TermTests:
    """Return what each term adds to a model: tests and AIC of the models without one of the terms.

    Terms that others contain, such as `a` beside `a:b`, are not dropped. Least squares need no pass over the rows.
    Likelihoods are tested by Wald's statistic; with the rows the models without a term are fitted, and the table has
    likelihood ratios, deviances and AIC.

    Parameters
    ----------
    model : a fitted model of one target, without penalty.
    X, y, sample_weight, offset, exposure
        The rows that were fitted, for likelihoods.

    Returns
    -------
    TermTests : `to_dict()["terms"]` has a row for each term, the first, "(none)", for the model itself.

    Examples
    --------
    >>> from adaline import LinearRegression, datasets, drop1
    >>> data = datasets.load("penguins", target="body_mass_g")
    >>> for row in drop1(LinearRegression().fit(data.X, data.y)).rows:
    ...     print(f"{row['term']:8} {row['aic']:.1f}")
    (none)   4927.6
    x0       4925.9
    x1       4927.2
    x2       5196.5

    References
    ----------
    J. M. Chambers in J. M. Chambers and T. J. Hastie, Statistical Models in S (1992), chapter 4. AIC differs from that
    of R's `drop1` of least squares by the same constant in all rows.
    """
    check_testable(model, "drop1")
    if X is None or not isinstance(model._fits[0], LikelihoodFit):
        return dropped_terms(view_of(model))
    return dropped_likelihoods(Refits(model, X, y, sample_weight, offset, exposure))


def term_inflation(model: AnyModel) -> TermInflation:
    """Return by how much the other terms inflate the joint confidence region of each term's coefficients (GVIF).

    Of a term of one column this is the variance inflation factor. A factor of a term with `df` columns is compared with
    others by gvif^(1/(2 df)): by how much intervals are longer, on the whole. Infinite where the columns of a term
    depend on others. No pass over the rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from adaline import LinearRegression, datasets, term_inflation
    >>> birds = pd.read_csv(datasets.path("penguins")).dropna()
    >>> model = LinearRegression().fit(birds[["species", "flipper_length_mm", "sex"]], birds.body_mass_g)
    >>> for row in term_inflation(model).rows:
    ...     print(f"{row['term']:18} {row['df']} {row['gvif_root']:.2f}")
    species            2 1.54
    flipper_length_mm  1 2.46
    sex                1 1.17

    References
    ----------
    J. Fox and G. Monette, J. Amer. Statist. Assoc. 87 (1992), 178-183; `vif` of R's car.
    """
    check_testable(model, "term_inflation")
    fit, terms = model._fits[0], terms_of(model)
    dependence = dependence_of(model)
    if isinstance(fit, LikelihoodFit):
        kept = fit.without_dependent()
        if fit.root is None or fit.coupled:
            raise InvalidParameter("term_inflation is of one output whose matrix of second derivatives was formed")
        assert kept.root is not None
        root = kept.root[0][1:]
    elif isinstance(fit, Fit):
        root = coordinates(fit.without_dependent(), np.eye(fit.solution.theta.shape[1])[1:])
    else:
        raise InvalidParameter(f"term_inflation of {type(model).__name__} is not known: use LinearRegression")
    involved = (dependence.weights != 0).any(axis=0)
    involved[dependence.left_out] = True
    place, rows = np.cumsum(dependence.kept) - 1, []  # of a column among those that are kept
    root = root[dependence.kept] / lengths(root[dependence.kept])[:, None]
    with one_blas_thread():
        inverse = np.linalg.inv(np.linalg.qr(root.T, mode="r"))  # a root of that of the correlations
    for term in terms:
        own, gvif = place[term.columns[dependence.kept[term.columns]]], np.inf
        if not involved[term.columns].any():
            gvif = float(np.exp(_log_volume(root[own]) + _log_volume(inverse[own])))
        df = len(term.columns[~dependence.constant[term.columns]])
        if df:
            rows.append({"term": term.name, "df": df, "gvif": gvif, "gvif_root": gvif ** (0.5 / df)})
    return TermInflation(f"{type(model).__name__}: generalised variance inflation", rows)


def _log_volume(root: Array) -> float:
    """Return ln det of the matrix whose root has these rows."""
    with np.errstate(divide="ignore"):
        return 2.0 * float(np.log(np.linalg.svd(root, compute_uv=False)).sum())


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


def view_of(model: AnyModel) -> JudgedModel:
    """Return a model with the standard errors that it has by default."""
    default = signature(type(model).summary).parameters["errors"].default
    found: JudgedModel = model.with_errors(default)
    return found


def terms_tested(view: JudgedModel, kind: TestType) -> TermTests:
    """Return the tests of all terms of a model with the errors of a view."""
    model = view.model
    rows = [_row(view, term, tested) for term, tested in hypotheses_of(model, kind)]
    return TermTests(
        f"{type(model).__name__}: tests of terms, {TITLES[kind]}",
        rows,
        errors=str(view.options.errors),
        residual=_residual(view),
        notes=_notes(view),
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


def _row(view: JudgedModel, term: ModelTerm, tested: Hypotheses) -> dict[str, Any]:
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
    rows = [_row(view, term, tested) for term, tested in found if not any(term.within(one) for one in terms)]
    residual = _residual(view)
    if isinstance(view.judged, JudgedRegression) and residual:
        part, rss = view.model.summary().parts[0], residual["sum_of_squares"]
        for row in rows:
            row["rss"] = rss + row.get("sum_of_squares", 0.0)
            row["aic"] = part.aic + view.judged.sample.n * float(np.log(row["rss"] / rss)) - 2 * row["df"]
        rows = [{"term": WHOLE, "rss": rss, "aic": part.aic}, *rows]
    title = f"{type(view.model).__name__}: single terms dropped"
    return TermTests(title, rows, errors=str(view.options.errors), residual=residual, notes=_notes(view))


class Refits:
    """The rows of a likelihood, and the models fitted to some of its columns.

    Parameters
    ----------
    model : fitted, without penalty.
    X, y, sample_weight, offset, exposure : the rows that were fitted.
    """

    def __init__(
        self,
        model: AnyModel,
        X: RowsLike,
        y: TargetsLike,
        sample_weight: WeightsLike,
        offset: OffsetsLike,
        exposure: OffsetsLike,
    ) -> None:
        fit = model._fits[0]
        if fit.penalised or fit.firth:
            raise InvalidParameter(
                "no likelihood-ratio tests: a penalised fit is not where its likelihood is largest. Use penalty=0"
            )
        if hasattr(model, "absorbed_"):
            raise InvalidParameter(
                "likelihood ratios of terms are not computed where effects were absorbed: leave out X for Wald tests"
            )
        if model.takes_offset:
            found = model._same_rows(X, y, sample_weight, offset, exposure)[0]
        elif offset is not None or exposure is not None:
            raise InvalidParameter(f"{type(model).__name__} takes no offset or exposure: GeneralizedLinear does")
        else:
            found = model._same_rows(X, y, sample_weight)
        check_rows_weight(fit, found)
        self.model, self.rows = model, found
        self.x = np.concatenate([as_dense(host(block.gathered().x)) for block in found.blocks()])
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
        x = self.x[:, ~constraints.any(axis=0)]
        if (np.count_nonzero(constraints, axis=1) > 1).any():  # w = N v solves them
            x = self.x @ np.linalg.svd(constraints)[2][len(constraints) :].T
        targets = replace(self.rows.targets, values=self.rows.read_targets(), weight=self.rows.read_weights())
        source = ArraySource(np.ascontiguousarray(x), targets.values).retargeted(targets)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AdalineWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            return fresh.fit(source)


def likelihood_tests(rows: Refits, kind: TestType) -> TermTests:
    """Return likelihood-ratio tests of all terms, or those by F where the dispersion is estimated."""
    model = rows.model
    found = [_compared(rows, term, tested) for term, tested in hypotheses_of(model, kind)]
    return TermTests(f"{type(model).__name__}: tests of terms, {TITLES[kind]}", found, notes=_by_ratios(found))


def dropped_likelihoods(rows: Refits) -> TermTests:
    """Return likelihood-ratio tests, deviance and AIC of the models without one of the terms that no other contains."""
    model = rows.model
    found = hypotheses_of(model, 2)
    terms, out = [term for term, _ in found], [{"term": WHOLE, **_measures(model)}]
    for term, tested in found:
        if not any(term.within(one) for one in terms):
            out.append(_compared(rows, term, tested) | _measures(rows.under(tested.matrix)))
    return TermTests(f"{type(model).__name__}: single terms dropped", out, notes=_by_ratios(out))


def _by_ratios(rows: list[dict[str, Any]]) -> tuple[str, ...]:
    by_f = any("F" in row for row in rows)
    return ("F tests of deviances, by the dispersion of the model" if by_f else "likelihood-ratio tests",)


def _compared(rows: Refits, term: ModelTerm, tested: Hypotheses) -> dict[str, Any]:
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
