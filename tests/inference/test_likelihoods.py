"""Inference of logistic and softmax regression: every figure against statsmodels; penalties, Firth, and the table."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import sparse, stats

from adaline import AdalineWarning, LogisticRegression, datasets
from adaline.errors import InvalidData, InvalidParameter, SumsMissing
from adaline.inference.likelihood import (
    BY_RATIO,
    FIRTH,
    PENALISED,
    TOO_LARGE,
    infer_class,
    quality,
    summarise,
    wald_test,
)
from adaline.inference.summary import STATISTICS
from adaline.solvers.smooth.likelihood import LikelihoodFit
from tests.inference.against import classes, column, design

NAMES = ["a", "b", "c"]
WORDS = {2: ["no", "yes"], 3: ["red", "green", "blue"], 4: list("pqrs")}
QUALITY = {
    "log_likelihood": "llf",
    "null_log_likelihood": "llnull",
    "pseudo_r_squared": "prsquared",
    "chi2": "llr",
    "chi2_p_value": "llr_pvalue",
    "chi2_freedom": "df_model",
    "aic": "aic",
    "bic": "bic",
}
both = pytest.mark.parametrize("count", [2, 3])


@cache
def rows(count: int, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Return rows with the names of their columns and classes in the order of WORDS."""
    X, y = classes(classes=count, seed=seed)
    return pd.DataFrame(X, columns=NAMES), y


@cache
def model(count: int, seed: int = 0, **options: Any) -> LogisticRegression:
    X, y = rows(count, seed)
    return LogisticRegression(**options).fit(X, y)


def fit_of(count: int, **options: Any) -> LikelihoodFit:
    (fit,) = model(count, **options)._fits
    return fit


def penguins() -> tuple[pd.DataFrame, Any]:
    data = datasets.load("penguins")
    return pd.DataFrame(data.X[:, 2:4], columns=["a", "b"]), np.unique(data.y, return_inverse=True)[1]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    ("count", "seed", "reference"), [(2, 0, 0), (2, 1, 0), (2, 2, 1), (3, 0, 0), (3, 0, 1), (3, 0, 2), (3, -1, 0)]
)
def test_every_figure_is_that_of_statsmodels(count: int, seed: int, reference: int, intercept: bool) -> None:
    X, y = penguins() if seed < 0 else rows(count, seed)
    turned = (y - reference) % count  # statsmodels' reference is the first class
    kind = sm.Logit if count == 2 else sm.MNLogit
    exact = {"disp": 0, "tol": 1e-14, "maxiter": 100, "method": "newton"}
    theirs = kind(turned, design(X.to_numpy(), intercept)).fit(**exact)
    fitted = LogisticRegression(fit_intercept=intercept).fit(X, y)
    found = fitted.summary(level=0.9, reference=reference).to_dict()
    ends = np.asarray(theirs.conf_int(0.1)).reshape(-1, 2)
    expected = (
        *(np.asarray(part).T.ravel() for part in (theirs.params, theirs.bse, theirs.tvalues, theirs.pvalues)),
        *ends.T,
    )
    order = np.argsort([(k - reference) % count for k in range(count) if k != reference])
    for name, values in zip(STATISTICS, expected, strict=True):
        mine = column(found, name).reshape(count - 1, -1)[order]
        np.testing.assert_allclose(mine.ravel(), values, rtol=1e-8, atol=1e-10 * np.abs(values).max(), err_msg=name)
    for odds, end in (("odds_ratio", "estimate"), ("odds_lower", "lower"), ("odds_upper", "upper")):
        np.testing.assert_allclose(column(found, odds), np.exp(column(found, end)), rtol=1e-14)
    if intercept:
        for ours, their in QUALITY.items():
            assert found[ours] == pytest.approx(getattr(theirs, their), rel=1e-9), ours
    else:  # the null are equal odds
        null, chi2 = -len(y) * np.log(count), 2 * (theirs.llf + len(y) * np.log(count))
        assert (found["null_log_likelihood"], found["chi2"]) == pytest.approx((null, chi2), rel=1e-9)
        assert found["pseudo_r_squared"] == pytest.approx(1 - theirs.llf / null, rel=1e-9)
        assert found["chi2_freedom"] == found["parameters"] == theirs.params.size
        assert found["aic"] == pytest.approx(2 * theirs.params.size - 2 * theirs.llf, rel=1e-9)
        root = fitted._fits[0].root
        assert root is not None
        assert not root[:, 0].any()


def test_the_covariance_is_that_of_machines_that_sum_to_zero() -> None:
    X, fit = rows(4)[0].to_numpy(), fit_of(4)
    assert fit.root is not None
    np.testing.assert_allclose(fit.root.sum(axis=0), 0.0, atol=1e-13 * np.abs(fit.root).max())
    np.testing.assert_allclose(fit.solution.theta.sum(axis=0), 0.0, atol=1e-12)
    covariance, information = fit.covariance, informed(fit, design(X))
    assert covariance is not None
    np.testing.assert_allclose(information @ covariance @ information, information, atol=1e-9 * information.max())
    np.testing.assert_allclose(covariance @ information @ covariance, covariance, atol=1e-9 * covariance.max())


def informed(fit: LikelihoodFit, x: Any) -> Any:
    """Return the information of the coefficients of all machines."""
    z = x @ fit.solution.theta.T
    p = np.exp(z - z.max(axis=1, keepdims=True)) if fit.coupled else 1 / (1 + np.exp(-z))
    p = p / p.sum(axis=1, keepdims=True) if fit.coupled else p
    blocks = p[:, :, None] * (np.eye(p.shape[1]) - p[:, None, :])
    return np.einsum("nkl,ni,nj->kilj", blocks, x, x).reshape(fit.solution.theta.size, -1)


@both
def test_a_penalty_is_in_the_covariance(count: int) -> None:
    X, y = rows(count)
    X = (X / X.std()).to_numpy()
    (fit,) = LogisticRegression(penalty=3.0).fit(X, y)._fits
    k = len(fit.solution.theta)
    expected = np.linalg.pinv(informed(fit, design(X)) + np.kron(np.eye(k), np.diag([0.0, 3, 3, 3])), rcond=1e-12)
    if count > 2:
        sum_to_zero = np.kron(np.eye(count) - 1 / count, np.eye(4))
        expected = sum_to_zero @ expected @ sum_to_zero
    np.testing.assert_allclose(fit.covariance, expected, atol=1e-9 * expected.max())


@both
def test_units_means_weights_and_sparse_rows(count: int) -> None:
    frame, y = rows(count)
    X, plain = np.round(frame.to_numpy() * 2**20) / 2**20, model(count).summary()
    units = np.array([1e-200, 1e140, 1.0])
    odd = LogisticRegression().fit(frame.to_numpy() * units, y).summary()
    for mine, other in zip(odd.parts, plain.parts, strict=True):
        np.testing.assert_allclose(mine.std_error[1:] * units, other.std_error[1:], rtol=1e-9)
        np.testing.assert_allclose(mine.p_value, other.p_value, rtol=1e-7)
    far, near = (LogisticRegression().fit(x, y).summary().parts[0] for x in (X + 2.0**30, X))
    np.testing.assert_allclose(far.std_error[1:], near.std_error[1:], rtol=1e-8)
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    repeated = LogisticRegression().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).summary()
    for x in (X, sparse.csr_array(X)):
        once = LogisticRegression().fit(x, y, weight).summary()
        np.testing.assert_allclose(column(once, "std_error"), column(repeated, "std_error"), rtol=1e-8)
        assert vars(once.quality) == pytest.approx(vars(repeated.quality), rel=1e-9)


def test_rows_of_the_summary() -> None:
    X, y = rows(3)
    words = LogisticRegression().fit(X, np.array(WORDS[3])[y])
    table = words.summary(reference="green").to_dict()
    found = [(row["target"], row["name"]) for row in table["coefficients"]]
    assert found == [(target, name) for target in ("blue", "red") for name in ("intercept", *NAMES)]
    assert table["reference"] == "green"
    two, bare = (model(2, fit_intercept=some).summary().to_dict()["coefficients"] for some in (True, False))
    assert all("target" not in row for row in two)
    assert [row["name"] for row in bare] == NAMES
    for a, b in zip(two, model(2).summary(reference=1).to_dict()["coefficients"], strict=True):
        assert (a["estimate"], a["std_error"], a["lower"]) == (-b["estimate"], b["std_error"], -b["upper"])


def test_text_and_html_show_names_numbers_and_certificate() -> None:
    X, y = rows(3)
    found = LogisticRegression().fit(X, np.array(["<red>", "green", "blue"])[y]).summary(level=0.9, reference="<red>")
    row = found.to_dict()["coefficients"][1]
    text, page = str(found), found._repr_html_()
    figures = (f"{row['estimate']:.6g}", f"{row['odds_upper']:.6g}")
    for part in (*NAMES, "5%", "95%", "odds ratio", *figures, "AIC", "McFadden", "chi²", "certificate: solved"):
        assert part in text
        assert part in page
    assert "log odds of green against <red>" in text
    assert "log odds of green against &lt;red&gt;" in page
    assert "<red>" not in page
    assert repr(found) == text
    assert max(map(len, text.splitlines()[:-1])) <= 88


def summary(fit: LikelihoodFit, **options: Any) -> Any:
    return summarise(fit, NAMES, WORDS[2], title="LogisticRegression", intercept=True, **options)


def test_notes_say_what_the_numbers_mean() -> None:
    plain, held, corrected = fit_of(2), fit_of(2, penalty=1.0), fit_of(2, firth=True)
    rough = replace(corrected, ratios=None)
    for fit, notes in ((plain, []), (held, [PENALISED]), (rough, [FIRTH]), (corrected, [FIRTH, BY_RATIO])):
        assert summary(fit).notes == notes
        assert summary(fit, notes=["look"]).notes[0] == "look"
    for fit in (held, rough):
        table = summary(fit).to_dict()
        assert np.isnan([table[name] for name in ("chi2", "chi2_p_value", "aic", "bic")]).all()
    assert summary(replace(plain, root=None)).notes == [TOO_LARGE]
    assert np.isnan(column(summary(replace(plain, root=None)), "std_error")).all()
    assert "note: look" in str(summary(plain, notes=["look"]))
    with pytest.raises(InvalidParameter, match="reference must be one of the classes 0, 1"):
        model(2).summary(reference="maybe")
    with pytest.raises(InvalidParameter, match="level"):
        model(2).summary(level=1.0)


def test_penalised_likelihood_ratios_replace_wald() -> None:
    fine = fit_of(2, firth=True)
    a, b = (infer_class(fit, 1, 0, 0.95) for fit in (replace(fine, ratios=None), fine))
    assert fine.ratios is not None
    assert b.p_value[0] == a.p_value[0]
    np.testing.assert_allclose(b.p_value[1:], stats.chi2.sf(fine.ratios[1:], 1), rtol=1e-12)
    assert (b.p_value[1:] != a.p_value[1:]).all()
    found = quality(fine, 2, True)
    assert (found.chi2, found.chi2_freedom) == (fine.ratios[0], 3)
    assert found.chi2_p_value == pytest.approx(stats.chi2.sf(fine.ratios[0], 3), rel=1e-9)


def test_a_summary_says_once_what_to_do_of_separated_classes() -> None:
    with pytest.warns(AdalineWarning):
        shown = str(LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).summary())
    assert shown.count("no maximum") == shown.count("firth=True") == 1
    assert "chi² -" not in shown
    assert "AIC -" not in shown


# Wald's tests.


def test_wald_is_that_of_statsmodels() -> None:
    X, y = rows(2)
    theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-12)
    mine = model(2).test("a = 2*b, c = 0.01")
    other = theirs.wald_test("a = 2*b, c = 0.01", scalar=True)
    assert mine.chi2 == pytest.approx(float(other.statistic), rel=1e-9)
    assert mine.p_value == pytest.approx(float(other.pvalue), rel=1e-8)
    assert mine.freedom == 2
    assert str(mine).startswith("hypothesis: a - 2*b = 0\n            c = 0.01\nlog odds of 1 against 0: chi² ")


def test_a_column_is_tested_in_all_classes_whatever_the_reference() -> None:
    each = [model(3).test(["b"], reference=k) for k in range(3)]
    assert [test.freedom for test in each] == [2, 2, 2]
    assert [test.chi2 for test in each] == pytest.approx([each[0].chi2] * 3, rel=1e-9)
    alone, mine = model(3).test("b", target=2, reference=1), infer_class(fit_of(3), 2, 1, 0.95)
    assert alone.freedom == 1
    assert alone.chi2 == pytest.approx(float(mine.statistic[2]) ** 2, rel=1e-9)
    assert alone.p_value == pytest.approx(float(mine.p_value[2]), rel=1e-8)


@pytest.mark.filterwarnings("ignore::adaline.AdalineWarning")
def test_hypotheses_that_cannot_be_tested() -> None:
    X, y = rows(2)
    depends = LogisticRegression().fit(X.assign(c=X.a - 2 * X.b), y)
    assert "c = a - 2 b" in depends.summary().notes[0]
    depends.test("2*a + b = 0")  # the same in every solution
    plain = model(2)
    for call, error, message in (
        (lambda: model(2, penalty=1.0).test("a"), InvalidParameter, "penalised"),
        (lambda: plain.test("a = 0, 2*a = 0"), InvalidParameter, "some follow from others"),
        (lambda: plain.test("a", target=0), InvalidParameter, "is the reference"),
        (lambda: wald(replace(fit_of(2), root=None)), SumsMissing, "too large"),
        (lambda: depends.test("a"), InvalidData, r"whether a = 0: .* linear combinations"),
    ):
        with pytest.raises(error, match=message):
            call()


def wald(fit: LikelihoodFit) -> Any:
    return wald_test(fit, "a", 0.0, NAMES, WORDS[2], intercept=True)
