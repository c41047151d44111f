"""Analysis of variance of nested models against statsmodels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.anova import anova_lm

import adaline
from adaline import GeneralizedLinear, LinearRegression, Ridge, anova, open_table
from adaline.errors import InvalidData, InvalidParameter
from tests.inference.against import Rows, fitted, generated


def models(rows: Rows, sizes: tuple[int, ...], **options: bool) -> list[LinearRegression]:
    return [LinearRegression(**options).fit(rows.X[:, :size], rows.y) for size in sizes]


@pytest.mark.parametrize("sizes", [(2, 4), (1, 2, 4)], ids=str)
@pytest.mark.parametrize("intercept", [True, False])
def test_table_is_that_of_statsmodels(sizes: tuple[int, ...], intercept: bool) -> None:
    rows = generated(60)
    theirs = anova_lm(*(fitted(Rows(rows.X[:, :size], rows.y, rows.groups), intercept=intercept) for size in sizes))
    table = anova(*models(rows, sizes, fit_intercept=intercept))
    for mine, column in (
        (table.freedom, "df_resid"),
        (table.rss, "ssr"),
        (table.freedom_more, "df_diff"),
        (table.squares_more, "ss_diff"),
        (table.f_statistic, "F"),
        (table.p_value, "Pr(>F)"),
    ):
        values = theirs[column].to_numpy(copy=True)
        values[0] = values[0] if column in ("df_resid", "ssr") else np.nan
        if column == "Pr(>F)":  # statsmodels takes each model's own degrees of freedom, R and we those of the variance
            mine, values = mine[-1:], values[-1:]
        np.testing.assert_allclose(mine, values, rtol=1e-9)


def test_it_is_the_wald_test_of_the_columns_left_out() -> None:
    rows = generated(60)
    small, large = models(rows, (2, 4))
    table, found = anova(small, large), large.test(["x2", "x3"])
    assert table.f_statistic[1] == pytest.approx(found.statistic, rel=1e-9)
    assert table.p_value[1] == pytest.approx(found.p_value, rel=1e-9)


def test_an_intercept_may_be_what_the_larger_model_adds() -> None:
    rows = generated(60)
    without, with_one = (
        LinearRegression(fit_intercept=False).fit(rows.X, rows.y),
        LinearRegression().fit(rows.X, rows.y),
    )
    assert anova(without, with_one).f_statistic[1] == pytest.approx(with_one.test("intercept = 0").statistic, rel=1e-9)
    with pytest.raises(InvalidData, match="smaller model has an intercept"):
        anova(LinearRegression().fit(rows.X[:, :1], rows.y), without)


def test_weights_are_repetitions_and_streams_are_fits() -> None:
    rows = generated(60)
    weight = np.random.default_rng(0).integers(1, 4, 60)
    again = np.repeat(np.arange(60), weight)
    sought = anova(*models(Rows(rows.X[again], rows.y[again], rows.groups), (2, 4)))
    weighted = [LinearRegression().fit(rows.X[:, :size], rows.y, weight) for size in (2, 4)]
    streamed = [
        LinearRegression()
        .partial_fit(rows.X[:9, :size], rows.y[:9], weight[:9])
        .partial_fit(rows.X[9:, :size], rows.y[9:], weight[9:])
        for size in (2, 4)
    ]
    for pair in (weighted, streamed):
        np.testing.assert_allclose(anova(*pair).p_value, sought.p_value, rtol=1e-9)
        np.testing.assert_allclose(anova(*pair).freedom, sought.freedom)


def test_precision_weights() -> None:
    rows = generated(60)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    theirs = [fitted(Rows(rows.X[:, :size], rows.y, rows.groups), weight=weight) for size in (2, 4)]
    pair = [LinearRegression(weights="precision").fit(rows.X[:, :size], rows.y, weight) for size in (2, 4)]
    sought = theirs[1].compare_f_test(theirs[0])
    table = anova(*pair)
    assert (table.f_statistic[1], table.p_value[1]) == pytest.approx(sought[:2], rel=1e-9)
    with pytest.raises(InvalidData, match="not fitted to the same rows"):
        anova(LinearRegression().fit(rows.X[:, :2], rows.y, weight), pair[1])


def test_rendering() -> None:
    rows = generated(60)
    table = adaline.anova(*models(rows, (2, 4)))
    lines = str(table).splitlines()
    assert lines[2].split() == ["model", "columns", "df", "RSS", "df", "more", "SS", "F", "p"]
    assert lines[4].split()[:3] == ["1", "2", "57"]
    assert "<table>" in table._repr_html_()
    assert table.to_dict()["freedom"] == [57.0, 55.0]


def test_refused() -> None:
    rows = generated(60)
    small, large = models(rows, (2, 4))
    with pytest.raises(InvalidData, match="not nested: the models have 5 and 3 parameters"):
        anova(large, small)
    with pytest.raises(InvalidData, match="not nested"):
        anova(small, small)
    with pytest.raises(InvalidData, match="same rows: 59 and 60"):
        anova(LinearRegression().fit(rows.X[1:, :2], rows.y[1:]), large)
    with pytest.raises(InvalidData, match="same targets"):
        anova(LinearRegression().fit(rows.X[:, :2], rows.y + rows.X[:, 0]), large)
    noise = np.random.default_rng(0).normal(size=(60, 3))
    with pytest.raises(InvalidData, match="larger model leaves more residual"):
        anova(LinearRegression().fit(rows.X[:, :1], rows.y), LinearRegression().fit(noise, rows.y))
    with pytest.raises(InvalidParameter, match="penalised fit"):
        anova(Ridge(penalty=1.0).fit(rows.X[:, :2], rows.y), large)
    with pytest.raises(InvalidParameter, match="several targets"):
        anova(LinearRegression().fit(rows.X[:, :2], np.column_stack([rows.y, rows.y])), large)
    with pytest.raises(InvalidParameter, match="not fitted"):
        anova(small, LinearRegression())
    with pytest.raises(InvalidParameter, match="got str"):
        anova("small", large)
    a, b = pd.DataFrame(rows.X[:, :2], columns=["a", "b"]), pd.DataFrame(rows.X, columns=list("acde"))
    with pytest.raises(InvalidData, match="larger model has no column 'b'"):
        anova(LinearRegression().fit(a, rows.y), LinearRegression().fit(b, rows.y))
    few = models(generated(5), (1, 4))
    with pytest.raises(InvalidData, match="no degrees of freedom"):
        anova(*few)


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


def test_shapes_that_were_estimated_are_compared_by_their_likelihoods() -> None:
    X = np.column_stack([np.sin(np.arange(60.0)), np.cos(np.arange(60.0))])
    y = np.array([0, 0, 1, 7, 2, 12] * 10)
    small, large = (GeneralizedLinear(loss="negative_binomial").fit(X[:, :k], y) for k in (1, 2))
    table = anova(small, large)
    likely = [model.summary().to_dict()["log_likelihood"] for model in (small, large)]
    np.testing.assert_allclose(table.deviance, -2 * np.array(likely))
    assert table.chi2[1] == pytest.approx(2 * (likely[1] - likely[0]), abs=1e-9)
    assert "-2 ln L" in str(table)
    assert " F " not in str(table)
    plain = anova(*(GeneralizedLinear(loss="poisson").fit(X[:, :k], y) for k in (1, 2)))
    assert " F " not in str(plain)
