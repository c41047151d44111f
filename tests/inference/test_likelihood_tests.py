"""Tests of hypotheses about likelihoods: Wald's, and likelihood ratios of nested models."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from adaline import LinearRegression, anova
from adaline.errors import InvalidData, InvalidParameter, SumsMissing
from adaline.inference import likelihood_ratio
from adaline.inference.likelihood import infer_class, wald_test
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.wording import p_value
from tests.inference.likelihoods import fitted, generated

NAMES = ["a", "b", "c"]
CLASSES = ["red", "green", "blue"]


def test_wald_is_that_of_statsmodels() -> None:
    X, y = generated()
    theirs = sm.Logit(y, sm.add_constant(pd.DataFrame(X, columns=NAMES))).fit(disp=0, tol=1e-12)
    mine = wald_test(fitted(X, y), "a = 2*b, c = 0.01", 0.0, NAMES, ["no", "yes"], intercept=True)
    other = theirs.wald_test("a = 2*b, c = 0.01", scalar=True)
    assert mine.chi2 == pytest.approx(float(other.statistic), rel=1e-9)
    assert mine.p_value == pytest.approx(float(other.pvalue), rel=1e-8)
    assert mine.freedom == 2
    assert str(mine).startswith("hypothesis: a - 2*b = 0\n            c = 0.01\nlog odds of yes against no: chi² ")


def test_a_column_is_tested_in_all_classes_whatever_the_reference() -> None:
    X, y = generated(classes=3)
    fit = fitted(X, y, classes=3)
    tests = [wald_test(fit, ["b"], 0.0, NAMES, CLASSES, intercept=True, reference=c) for c in CLASSES]
    assert tests[0].freedom == 2
    assert tests[0].chi2 == pytest.approx(tests[1].chi2, rel=1e-9)
    assert tests[0].chi2 == pytest.approx(tests[2].chi2, rel=1e-9)
    alone = wald_test(fit, "b", 0.0, NAMES, CLASSES, intercept=True, target="blue", reference="green")
    mine = infer_class(fit, 2, 1, 0.95)
    assert alone.freedom == 1
    assert alone.chi2 == pytest.approx(float(mine.statistic[2]) ** 2, rel=1e-9)
    assert alone.p_value == pytest.approx(float(mine.p_value[2]), rel=1e-8)


def test_hypotheses_that_cannot_be_tested() -> None:
    X, y = generated()
    fit, classes = fitted(X, y), ["no", "yes"]

    def ask(fit: LikelihoodFit, text: str = "a", **options: Any) -> None:
        wald_test(fit, text, 0.0, NAMES, classes, intercept=True, **options)

    with pytest.raises(InvalidParameter, match="penalised"):
        ask(fitted(X, y, penalty=1.0))
    with pytest.raises(InvalidParameter, match="some follow from others"):
        ask(fit, "a = 0, 2*a = 0")
    with pytest.raises(InvalidParameter, match="is the reference"):
        ask(fit, target="no")
    with pytest.raises(SumsMissing, match="too large"):
        ask(replace(fit, root=None))
    dependent = fitted(np.column_stack([X[:, :2], X[:, 0] - 2 * X[:, 1]]), y)
    with pytest.raises(InvalidData, match=r"whether a = 0: .* linear combinations"):
        ask(dependent)
    ask(dependent, "2*a + b = 0")  # the same in every solution


@pytest.mark.parametrize("classes", [2, 3])
def test_likelihood_ratio_of_nested_models(classes: int) -> None:
    X, y = generated(classes=classes)
    full, small = fitted(X, y, classes=classes), fitted(X[:, :1], y, classes=classes)
    theirs = sm.Logit if classes == 2 else sm.MNLogit
    both = [theirs(y, sm.add_constant(columns)).fit(disp=0, tol=1e-12).llf for columns in (X, X[:, :1])]
    chi2 = 2 * (both[0] - both[1])
    mine = likelihood_ratio(full, small)
    assert mine.chi2 == pytest.approx(chi2, rel=1e-9)
    assert mine.freedom == 2 * (classes - 1)
    assert mine.p_value == pytest.approx(stats.chi2.sf(chi2, mine.freedom), rel=1e-9)


def test_a_smaller_model_may_lack_the_intercept() -> None:
    X, y = generated(classes=3)
    full, small = fitted(X, y, classes=3), fitted(X, y, classes=3, intercept=False)
    assert likelihood_ratio(full, small).freedom == 2
    assert likelihood_ratio(full, small).chi2 == 2 * (full.log_likelihood - small.log_likelihood)


def test_likelihoods_that_are_not_comparable() -> None:
    X, y = generated()
    full, small = fitted(X, y), fitted(X[:, :1], y)
    with pytest.raises(InvalidData, match="the smaller comes first"):
        likelihood_ratio(small, full)
    with pytest.raises(InvalidData, match="same rows"):
        likelihood_ratio(full, fitted(X[1:, :1], y[1:]))
    with pytest.raises(InvalidData, match="same targets"):
        likelihood_ratio(full, fitted(X[:, :1], np.concatenate([1 - y[:30], y[30:]])))
    with pytest.raises(InvalidData, match="less likely"):
        likelihood_ratio(replace(full, log_likelihood=small.log_likelihood - 1), small)
    with pytest.raises(InvalidParameter, match="penalised"):
        likelihood_ratio(full, fitted(X[:, :1], y, penalty=1.0))
    with pytest.raises(InvalidParameter, match="penalised"):
        likelihood_ratio(full, fitted(X[:, :1], y, corrected=True))


def model(X: Any, y: Any, names: list[str], **options: Any) -> Any:
    return SimpleNamespace(
        _fits=[fitted(X, y)], n_features_in_=X.shape[1], fit_intercept=True, feature_names_in_=names, **options
    )


def test_anova_of_likelihoods() -> None:
    X, y = generated()
    models = [model(X[:, :k], y, NAMES[:k]) for k in (1, 2, 3)]
    table = anova(*models)
    for i in (1, 2):
        one = likelihood_ratio(models[i]._fits[0], models[i - 1]._fits[0])
        assert (table.chi2[i], table.freedom_more[i], table.p_value[i]) == (one.chi2, one.freedom, one.p_value)
    assert np.isnan(table.chi2[0])
    assert table.to_dict()["parameters"] == [2, 3, 4]
    assert table.to_dict()["freedom_more"][1:] == [1, 1]
    assert "Analysis of deviance" in str(table)
    assert str(table).splitlines()[5].split() == [
        *("2", "2", "3", f"{table.deviance[1]:.6g}", "1", f"{table.chi2[1]:.5g}", p_value(table.p_value[1]))
    ]
    assert f"{table.deviance[0]:.6g}" in table._repr_html_()
    with pytest.raises(InvalidData, match="no column 'd'"):
        anova(model(X[:, :1], y, ["d"]), models[1])
    with pytest.raises(InvalidParameter, match="all linear or all logistic"):
        anova(models[0], LinearRegression().fit(X, y))
    several = SimpleNamespace(**vars(models[2]) | {"_fits": 2 * models[2]._fits})
    with pytest.raises(InvalidParameter, match="several machines"):
        anova(models[0], several)
