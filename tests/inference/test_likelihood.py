"""Inference of logistic and softmax regression against statsmodels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import sparse, stats

from adaline import AdalineWarning, LogisticRegression, datasets
from adaline.errors import InvalidParameter
from adaline.inference.likelihood import (
    BY_RATIO,
    FIRTH,
    PENALISED,
    SEPARATED,
    TOO_LARGE,
    against,
    infer_class,
    quality,
    summarise,
)
from adaline.inference.summary import STATISTICS
from adaline.solvers.smooth.likelihood import LikelihoodFit
from tests.inference.likelihoods import fitted, generated

NAMES = ["a", "b", "c"]
CLASSES = ["red", "green", "blue"]


def design(X: Any, intercept: bool = True) -> Any:
    return sm.add_constant(X) if intercept else X


def logit(X: Any, y: Any, intercept: bool = True) -> Any:
    return sm.Logit(y, design(X, intercept)).fit(disp=0, tol=1e-14, maxiter=100, method="newton")


def multinomial(X: Any, y: Any) -> Any:
    return sm.MNLogit(y, design(X)).fit(disp=0, tol=1e-14, maxiter=100, method="newton")


def summary(fit: LikelihoodFit, classes: Any = ("no", "yes"), **options: Any) -> Any:
    return summarise(fit, NAMES, classes, **{"title": "LogisticRegression", "intercept": True} | options)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_two_classes_are_those_of_statsmodels(intercept: bool, seed: int) -> None:
    X, y = generated(seed=seed)
    theirs = logit(X, y, intercept)
    mine = infer_class(fitted(X, y, intercept=intercept), 1, 0, 0.9)
    ends = theirs.conf_int(0.1)
    for own, other in (
        (mine.estimate, theirs.params),
        (mine.std_error, theirs.bse),
        (mine.statistic, theirs.tvalues),
        (mine.p_value, theirs.pvalues),
        (mine.lower, ends[:, 0]),
        (mine.upper, ends[:, 1]),
        (mine.odds_upper, np.exp(ends[:, 1])),
    ):
        np.testing.assert_allclose(own[0 if intercept else 1 :], other, rtol=1e-9)


@pytest.mark.parametrize("reference", [0, 1, 2])
def test_classes_against_any_reference_are_those_of_statsmodels(reference: int) -> None:
    X, y = generated(classes=3)
    theirs = multinomial(X, (y - reference) % 3)  # statsmodels' reference is the first class
    fit = fitted(X, y, classes=3)
    for column, k in enumerate([(reference + 1) % 3, (reference + 2) % 3]):
        mine = infer_class(fit, k, reference, 0.95)
        np.testing.assert_allclose(mine.estimate, theirs.params[:, column], rtol=1e-9)
        np.testing.assert_allclose(mine.std_error, theirs.bse[:, column], rtol=1e-9)
        np.testing.assert_allclose(mine.p_value, theirs.pvalues[:, column], rtol=1e-8)


def test_real_rows_of_three_species() -> None:
    data = datasets.load("penguins")
    X, y = data.X[:, 2:4], np.unique(data.y, return_inverse=True)[1]
    theirs = multinomial(X, y)
    fit = fitted(X, y, classes=3)
    for column, k in enumerate([1, 2]):
        np.testing.assert_allclose(infer_class(fit, k, 0, 0.95).std_error, theirs.bse[:, column], rtol=1e-8)


def test_the_covariance_is_that_of_machines_that_sum_to_zero() -> None:
    X, y = generated(classes=4)
    fit = fitted(X, y, classes=4)
    assert fit.root is not None
    np.testing.assert_allclose(fit.root.sum(axis=0), 0.0, atol=1e-13 * np.abs(fit.root).max())
    np.testing.assert_allclose(fit.solution.theta.sum(axis=0), 0.0, atol=1e-12)
    covariance, rows = fit.covariance, design(X)
    assert covariance is not None
    z = rows @ fit.solution.theta.T
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    blocks = p[:, :, None] * (np.eye(4) - p[:, None, :])
    information = np.einsum("nkl,ni,nj->kilj", blocks, rows, rows).reshape(covariance.shape)
    np.testing.assert_allclose(information @ covariance @ information, information, atol=1e-9 * information.max())
    np.testing.assert_allclose(covariance @ information @ covariance, covariance, atol=1e-9 * covariance.max())


@pytest.mark.parametrize("classes", [2, 3])
def test_a_penalty_is_in_the_covariance(classes: int) -> None:
    X, y = generated(classes=classes)
    X = X / X.std(axis=0)
    fit = fitted(X, y, classes=classes, penalty=3.0)
    assert fit.covariance is not None
    rows, theta = design(X), fit.solution.theta
    z = rows @ theta.T
    z = np.column_stack([np.zeros(len(z)), z]) if classes == 2 else z
    p = (np.exp(z) / np.exp(z).sum(axis=1, keepdims=True))[:, 1 if classes == 2 else 0 :]
    blocks = p[:, :, None] * (np.eye(p.shape[1]) - p[:, None, :])
    information = np.einsum("nkl,ni,nj->kilj", blocks, rows, rows).reshape(fit.covariance.shape)
    information += np.kron(np.eye(p.shape[1]), np.diag([0.0, 3, 3, 3]))
    expected = np.linalg.pinv(information, rcond=1e-12)
    if classes > 2:
        sum_to_zero = np.kron(np.eye(classes) - 1 / classes, np.eye(4))
        expected = sum_to_zero @ expected @ sum_to_zero
    np.testing.assert_allclose(fit.covariance, expected, atol=1e-9 * expected.max())


@pytest.mark.parametrize("classes", [2, 3])
def test_units_of_any_size_scale_the_errors(classes: int) -> None:
    X, y = generated(classes=classes)
    units = np.array([1e-200, 1e140, 1.0])
    plain, odd = fitted(X, y, classes=classes), fitted(X * units, y, classes=classes)
    mine, theirs = infer_class(odd, 1, 0, 0.95), infer_class(plain, 1, 0, 0.95)
    np.testing.assert_allclose(mine.std_error[1:], theirs.std_error[1:] / units, rtol=1e-9)
    np.testing.assert_allclose(mine.p_value, theirs.p_value, rtol=1e-7)


def test_large_means_cost_no_digits() -> None:
    X, y = generated()
    far = np.round(X * 2**20) / 2**20 + 2.0**30
    near = far - 2.0**30
    np.testing.assert_allclose(
        infer_class(fitted(far, y), 1, 0, 0.95).std_error[1:],
        infer_class(fitted(near, y), 1, 0, 0.95).std_error[1:],
        rtol=1e-8,
    )


def test_weights_are_repetitions_and_sparse_rows_are_rows() -> None:
    X, y = generated(classes=3)
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    once, repeated = fitted(X, y, weight, classes=3), fitted(X[again], y[again], classes=3)
    thin = fitted(sparse.csr_array(X), y, weight, classes=3)
    for fit in (once, thin):
        np.testing.assert_allclose(
            infer_class(fit, 2, 0, 0.95).std_error, infer_class(repeated, 2, 0, 0.95).std_error, rtol=1e-9
        )
        assert quality(fit, 3, True).bic == pytest.approx(quality(repeated, 3, True).bic, rel=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_quality_is_that_of_statsmodels(classes: int) -> None:
    X, y = generated(classes=classes)
    theirs = logit(X, y) if classes == 2 else multinomial(X, y)
    mine = quality(fitted(X, y, classes=classes), classes, intercept=True)
    for own, other in (
        (mine.log_likelihood, theirs.llf),
        (mine.null_log_likelihood, theirs.llnull),
        (mine.pseudo_r_squared, theirs.prsquared),
        (mine.chi2, theirs.llr),
        (mine.chi2_p_value, theirs.llr_pvalue),
        (mine.aic, theirs.aic),
        (mine.bic, theirs.bic),
    ):
        assert own == pytest.approx(other, rel=1e-9)
    assert mine.chi2_freedom == theirs.df_model


def test_without_an_intercept_the_null_is_equal_odds() -> None:
    X, y = generated(classes=3)
    mine = quality(fitted(X, y, classes=3, intercept=False), 3, intercept=False)
    assert mine.null_log_likelihood == pytest.approx(-len(y) * np.log(3))
    assert mine.chi2_freedom == mine.parameters == 6


def test_rows_of_the_summary() -> None:
    X, y = generated(classes=3)
    fit = fitted(X, y, classes=3)
    table = summary(fit, CLASSES, reference="green").to_dict()
    rows = table["coefficients"]
    assert [(row["target"], row["name"]) for row in rows] == [
        (c, n) for c in ("red", "blue") for n in ("intercept", *NAMES)
    ]
    assert table["reference"] == "green"
    blue = infer_class(fit, 2, 1, 0.95)
    for j, row in enumerate(rows[4:]):
        assert [row[c] for c in STATISTICS] == [getattr(blue, c)[j] for c in STATISTICS]
        assert row["odds_ratio"] == np.exp(row["estimate"])
    two = summary(fitted(*generated())).to_dict()["coefficients"]
    assert all("target" not in row for row in two)
    without = summary(fitted(*generated(), intercept=False), intercept=False).to_dict()["coefficients"]
    assert [row["name"] for row in without] == NAMES


def test_two_classes_the_other_way_round() -> None:
    fit = fitted(*generated())
    one, other = (summary(fit, reference=c).to_dict()["coefficients"] for c in ("no", "yes"))
    for a, b in zip(one, other, strict=True):
        assert (a["estimate"], a["std_error"], a["lower"]) == (-b["estimate"], b["std_error"], -b["upper"])


def test_text_and_html_show_names_numbers_and_certificate() -> None:
    X, y = generated(classes=3)
    found = summary(fitted(X, y, classes=3), ["<red>", "green", "blue"], level=0.9)
    row = found.to_dict()["coefficients"][1]
    text, page = str(found), found._repr_html_()
    for shown in (text, page):
        for part in (*NAMES, "5%", "95%", "odds ratio", f"{row['estimate']:.6g}", f"{row['odds_upper']:.6g}"):
            assert part in shown
        for part in ("AIC", "McFadden", "chi²", "certificate: solved"):
            assert part in shown
    assert "log odds of green against <red>" in text
    assert "log odds of green against &lt;red&gt;" in page
    assert "<red>" not in page
    assert repr(found) == text
    assert max(map(len, text.splitlines()[:-1])) <= 88


def test_notes_say_what_the_numbers_mean() -> None:
    X, y = generated()
    plain, held, corrected = fitted(X, y), fitted(X, y, penalty=1.0), fitted(X, y, corrected=True)
    assert summary(plain).notes == []
    assert summary(held).notes == [PENALISED]
    assert summary(corrected).notes == [FIRTH]
    for fit in (held, corrected):
        table = summary(fit).to_dict()
        assert all(np.isnan(table[name]) for name in ("chi2", "chi2_p_value", "aic", "bic"))
    assert summary(replace(plain, root=None)).notes == [TOO_LARGE]
    assert np.isnan(summary(replace(plain, root=None)).to_dict()["coefficients"][0]["std_error"])
    (note,) = summary(fitted(np.column_stack([X[:, :2], X[:, 0] - 2 * X[:, 1]]), y)).notes
    assert f"{NAMES[2]} = {NAMES[0]} - 2 {NAMES[1]}" in note
    assert summary(plain, notes=["look"]).notes == ["look"]
    assert summary(held, notes=[SEPARATED]).notes == [SEPARATED]
    assert "note: look" in str(summary(plain, notes=["look"]))


def test_penalised_likelihood_ratios_replace_wald_where_they_were_taken() -> None:
    X, y = generated()
    rough, fine = fitted(X, y, corrected=True), fitted(X, y, corrected=True, ratios=True)
    assert fine.ratios is not None
    a, b = infer_class(rough, 1, 0, 0.95), infer_class(fine, 1, 0, 0.95)
    np.testing.assert_array_equal(b.p_value[0], a.p_value[0])
    np.testing.assert_allclose(b.p_value[1:], stats.chi2.sf(fine.ratios[1:], 1), rtol=1e-12)
    assert (b.p_value[1:] != a.p_value[1:]).all()
    table = summary(fine).to_dict()
    assert table["chi2"] == fine.ratios[0]
    assert table["chi2_p_value"] == pytest.approx(stats.chi2.sf(fine.ratios[0], 3), rel=1e-9)
    assert summary(fine).notes == [FIRTH, BY_RATIO]


def test_an_intercept_that_is_not_there_has_no_error() -> None:
    X, y = generated(classes=3)
    fit = fitted(X, y, classes=3, intercept=False)
    assert fit.root is not None
    assert not fit.root[:, 0].any()
    assert np.isnan(infer_class(fit, 1, 0, 0.95).p_value[0])


def test_arguments_of_the_summary_are_checked() -> None:
    fit = fitted(*generated())
    with pytest.raises(InvalidParameter, match="reference must be one of the classes no, yes"):
        summary(fit, reference="maybe")
    with pytest.raises(InvalidParameter, match="level"):
        summary(fit, level=1.0)


def test_machines_of_two_classes() -> None:
    fit = fitted(*generated())
    ahead, back = against(fit, 1, 0)[0], against(fit, 0, 1)[0]
    np.testing.assert_array_equal(ahead, fit.solution.theta[0])
    np.testing.assert_array_equal(back, -ahead)


def test_a_summary_says_once_what_to_do_of_separated_classes() -> None:
    with pytest.warns(AdalineWarning):
        shown = str(LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).summary())
    assert shown.count("no maximum") == shown.count("firth=True") == 1
    assert "chi² -" not in shown
    assert "AIC -" not in shown
