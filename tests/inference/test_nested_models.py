"""Analysis of variance and of deviance of nested models, against statsmodels; which models are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.anova import anova_lm

from adaline import GeneralizedLinear, LinearRegression, LogisticRegression, OrdinalRegression, Ridge, anova, open_table
from adaline.errors import InvalidData, InvalidParameter
from adaline.inference import likelihood_ratio
from adaline.wording import p_value
from tests.inference.against import ROWS, Rows, classes, fitted

SIXTY = ROWS[:60]
X, Y = SIXTY.X, SIXTY.y
COUNTS = np.array([0, 0, 1, 7, 2, 12] * 10)


def linear(sizes: tuple[int, ...], rows: Rows = SIXTY, **options: Any) -> list[LinearRegression]:
    return [LinearRegression(**options).fit(rows.of(size).X, rows.y) for size in sizes]


@pytest.mark.parametrize("sizes", [(2, 4), (1, 2, 4)], ids=str)
@pytest.mark.parametrize("intercept", [True, False])
def test_variance_is_analysed_as_by_statsmodels(sizes: tuple[int, ...], intercept: bool) -> None:
    theirs = anova_lm(*(fitted(SIXTY.of(size), intercept=intercept) for size in sizes))
    models = linear(sizes, fit_intercept=intercept)
    table = anova(*models)
    for mine, name in (
        (table.freedom, "df_resid"),
        (table.rss, "ssr"),
        (table.freedom_more, "df_diff"),
        (table.squares_more, "ss_diff"),
        (table.f_statistic, "F"),
    ):
        np.testing.assert_allclose(
            mine, theirs[name].where((theirs.index > 0) | (name in ("df_resid", "ssr"))), rtol=1e-9
        )
    # statsmodels takes each model's own degrees of freedom for p, R and we those of the variance
    assert table.p_value[-1] == pytest.approx(theirs["Pr(>F)"].iloc[-1], rel=1e-9)
    assert np.isnan(table.p_value[0])
    test = models[-1].test(["x2", "x3"])
    assert (table.f_statistic[-1], table.p_value[-1]) == pytest.approx((test.statistic, test.p_value), rel=1e-9)
    lines = str(table).splitlines()
    assert lines[2].split() == ["model", "columns", "df", "RSS", "df", "more", "SS", "F", "p"]
    assert lines[4].split()[:3] == ["1", str(sizes[0]), str(60 - intercept - sizes[0])]
    assert "<table>" in table._repr_html_()
    assert table.to_dict()["freedom"] == [60.0 - intercept - size for size in sizes]


def test_an_intercept_may_be_what_the_larger_model_adds() -> None:
    without, whole = (LinearRegression(fit_intercept=some).fit(X, Y) for some in (False, True))
    assert anova(without, whole).f_statistic[1] == pytest.approx(whole.test("intercept = 0").statistic, rel=1e-9)
    X3, y3 = classes(classes=3)
    few, more = (LogisticRegression(fit_intercept=some).fit(X3, y3)._fits[0] for some in (False, True))
    found = likelihood_ratio(more, few)
    assert (found.freedom, found.chi2) == (2, pytest.approx(2 * (more.log_likelihood - few.log_likelihood), rel=1e-12))


def test_weights_are_repetitions_streams_are_fits_and_precisions_of_rows() -> None:
    weight = np.random.default_rng(0).integers(1, 4, 60)
    expected = anova(*linear((2, 4), SIXTY[np.repeat(np.arange(60), weight)]))
    weighted = [LinearRegression().fit(X[:, :size], Y, weight) for size in (2, 4)]
    streamed = [
        LinearRegression().partial_fit(X[:9, :k], Y[:9], weight[:9]).partial_fit(X[9:, :k], Y[9:], weight[9:])
        for k in (2, 4)
    ]
    for pair in (weighted, streamed):
        np.testing.assert_allclose(anova(*pair).p_value, expected.p_value, rtol=1e-9)
        np.testing.assert_allclose(anova(*pair).freedom, expected.freedom)
    theirs = [fitted(SIXTY.of(size), weight=weight) for size in (2, 4)]
    pair = [LinearRegression(weights="precision").fit(X[:, :size], Y, weight) for size in (2, 4)]
    table = anova(*pair)
    assert (table.f_statistic[1], table.p_value[1]) == pytest.approx(theirs[1].compare_f_test(theirs[0])[:2], rel=1e-9)
    with pytest.raises(InvalidData, match="not fitted to the same rows"):
        anova(weighted[0], pair[1])


def test_a_column_that_explains_nothing_leaves_the_residual_as_it_is() -> None:
    small = LinearRegression().fit(X[:, :1], Y)
    left = Y - small.predict(X[:, :1])
    useless = X[:, 1] - left * (left @ X[:, 1]) / (left @ left)
    table = anova(small, LinearRegression().fit(np.column_stack([X[:, 0], useless]), Y))
    assert table.rss[1] == pytest.approx(table.rss[0], rel=1e-12)
    assert table.p_value[1] == pytest.approx(1.0, abs=1e-5)


def test_names_that_cannot_tell_say_what_can() -> None:
    x = np.sin(np.arange(40.0))
    rows = pd.DataFrame({"x": x, "z": np.cos(np.arange(40.0)), "y": x**2 + np.arange(40) % 3})
    line, curve, both, other = (
        LinearRegression().fit(open_table(rows, formula=f"y ~ {right}"))
        for right in ("x", "poly(x, 2)", "x + poly(x, 2)", "z + I(z^2)")
    )
    with pytest.raises(InvalidData, match=r"cannot tell by the names .* add 'x' to the larger model"):
        anova(line, curve)
    table = anova(line, both)
    assert table.freedom_more[1] == 1
    assert table.squares_more[1] == pytest.approx(table.rss[0] - curve._fits[0].rss[0])
    with pytest.raises(InvalidData, match="not nested: the larger model has no column 'x'"):
        anova(line, other)


@pytest.mark.parametrize("count", [2, 3])
def test_deviance_is_analysed_as_by_statsmodels(count: int) -> None:
    X, y = classes(classes=count)
    models = [LogisticRegression().fit(X[:, :k], y) for k in (1, 2, 3)]
    kind = sm.Logit if count == 2 else sm.MNLogit
    likely = np.array([kind(y, sm.add_constant(X[:, :k])).fit(disp=0, tol=1e-12).llf for k in (1, 2, 3)])
    table, chi2 = anova(*models), 2 * np.diff(likely)
    np.testing.assert_allclose(table.log_likelihood, likely, rtol=1e-9)
    np.testing.assert_allclose(table.deviance, -2 * likely, rtol=1e-9)
    np.testing.assert_allclose(table.chi2, [np.nan, *chi2], rtol=1e-7)
    np.testing.assert_allclose(table.p_value, [np.nan, *stats.chi2.sf(chi2, count - 1)], rtol=1e-6)
    assert table.to_dict()["parameters"] == [k * (count - 1) for k in (2, 3, 4)]
    assert table.to_dict()["freedom_more"][1:] == [count - 1] * 2
    assert "Analysis of deviance" in str(table)
    cells = ["2", "2", f"{3 * (count - 1)}", f"{table.deviance[1]:.6g}", f"{count - 1}", f"{table.chi2[1]:.5g}"]
    assert str(table).splitlines()[5].split() == [*cells, p_value(table.p_value[1])]
    assert f"{table.deviance[0]:.6g}" in table._repr_html_()


def test_shapes_that_were_estimated_are_compared_by_their_likelihoods() -> None:
    small, large = (GeneralizedLinear(loss="negative_binomial").fit(X[:, :k], COUNTS) for k in (1, 2))
    table = anova(small, large)
    likely = [model.summary().to_dict()["log_likelihood"] for model in (small, large)]
    np.testing.assert_allclose(table.deviance, -2 * np.array(likely))
    chi2 = 2 * (likely[1] - likely[0])
    assert (table.chi2[1], table.p_value[1]) == pytest.approx((chi2, stats.chi2.sf(chi2, 1)), abs=1e-9)
    assert table.parameters == (2, 3)
    assert "-2 ln L" in str(table)
    assert " F " not in str(table)
    plain = anova(*(GeneralizedLinear(loss="poisson").fit(X[:, :k], COUNTS) for k in (1, 2)))
    assert " F " not in str(plain)


FRAME = pd.DataFrame(X, columns=list("acde"))
TWO = (Y > np.median(Y)).astype(int)
REFUSED: list[tuple[Any, Any, type[Exception], str]] = [
    ((X,), (X[:, :2],), InvalidData, "not nested: the models have 5 and 3 parameters"),
    ((X[:, :2],), (X[:, :2],), InvalidData, "not nested"),
    ((X[1:, :2], Y[1:]), (X,), InvalidData, "59 rows of total weight 59, the other to 60"),
    ((X[:, :2], Y + X[:, 0]), (X,), InvalidData, "same targets"),
    ((X[:, :1],), (np.cos(np.arange(180.0)).reshape(60, 3),), InvalidData, "larger model leaves more residual"),
    ((FRAME.rename(columns={"c": "b"})[["a", "b"]],), (FRAME,), InvalidData, "larger model has no column 'b'"),
    ((X[:5, :1], Y[:5]), (X[:5], Y[:5]), InvalidData, "no degrees of freedom"),
    ((X[:, :2], np.column_stack([Y, Y])), (X,), InvalidParameter, "several targets"),
]


@pytest.mark.parametrize(("small", "large", "error", "message"), REFUSED, ids=[case[-1] for case in REFUSED])
def test_linear_models_that_are_not_compared(small: Any, large: Any, error: type[Exception], message: str) -> None:
    one, other = (LinearRegression().fit(*given, *([Y] * (len(given) == 1))) for given in (small, large))
    with pytest.raises(error, match=message):
        anova(one, other)


def test_models_of_other_kinds_are_not_compared() -> None:
    whole, logistic = LinearRegression().fit(X, Y), LogisticRegression().fit(X, TWO)
    poisson = {k: GeneralizedLinear(loss="poisson").fit(X[:, :k], COUNTS) for k in (1, 2, 4)}
    close = GeneralizedLinear(loss="poisson").fit(COUNTS[:, None], COUNTS)
    gamma = GeneralizedLinear(loss="gamma").fit(X, COUNTS + 1.0)
    pairs = LogisticRegression(scheme="one-vs-rest").fit(X, COUNTS % 3)
    probit, logit = (OrdinalRegression(link=link).fit(X, COUNTS % 3) for link in ("probit", "logit"))
    named = LogisticRegression().fit(FRAME.rename(columns={"c": "d", "d": "x"})[["a", "x"]], TWO)
    for models, error, message in (
        ((Ridge(penalty=1.0).fit(X[:, :2], Y), whole), InvalidParameter, "penalised fit"),
        ((whole, LinearRegression()), InvalidParameter, "not fitted"),
        (("small", whole), InvalidParameter, "got str"),
        (
            (LinearRegression().fit(X[:, :1], Y), LinearRegression(fit_intercept=False).fit(X, Y)),
            InvalidData,
            "has an int",
        ),
        ((logistic, whole), InvalidParameter, "all linear or all logistic"),
        ((logistic, pairs), InvalidParameter, "several machines"),
        ((named, LogisticRegression().fit(FRAME, TWO)), InvalidData, "no column 'x'"),
        ((poisson[1], logistic), InvalidParameter, "models of one kind"),
        ((poisson[1], gamma), InvalidParameter, r"of poisson \(log\) and of gamma \(log\)"),
        ((poisson[2], poisson[1]), InvalidData, "not nested: the models have 3 and 2 parameters"),
        ((poisson[1], GeneralizedLinear(loss="poisson").fit(X, COUNTS + 1)), InvalidData, "null deviances"),
        ((poisson[1], GeneralizedLinear(loss="poisson", penalty=1.0).fit(X, COUNTS)), InvalidParameter, "penalised"),
        ((close, poisson[4]), InvalidData, "more deviance"),
        ((probit, logit), InvalidData, "the links differ, 'probit' and 'logit'"),
    ):
        with pytest.raises(error, match=message):
            anova(*models)


def test_likelihoods_that_are_not_comparable() -> None:
    X, y = classes()

    def fit(X: Any, y: Any, **options: Any) -> Any:
        return LogisticRegression(**options).fit(X, y)._fits[0]

    full, small = fit(X, y), fit(X[:, :1], y)
    turned = np.concatenate([1 - y[:30], y[30:]])
    for more, less, error, message in (
        (small, full, InvalidData, "the smaller comes first"),
        (full, fit(X[1:, :1], y[1:]), InvalidData, "same rows"),
        (full, fit(X[:, :1], turned), InvalidData, "same targets"),
        (replace(full, log_likelihood=small.log_likelihood - 1), small, InvalidData, "less likely"),
        (full, fit(X[:, :1], y, penalty=1.0), InvalidParameter, "penalised"),
        (full, fit(X[:, :1], y, firth=True), InvalidParameter, "penalised"),
    ):
        with pytest.raises(error, match=message):
            likelihood_ratio(more, less)
