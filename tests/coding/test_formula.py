"""Formulas mean what they mean in statsmodels (patsy), and run nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import patsy
import pytest
import statsmodels.formula.api as smf

from adaline import LinearRegression, open_table
from adaline.basis import spline
from adaline.coding.contrasts import contrast_of
from adaline.coding.expressions import FUNCTIONS, MOST_COMPILED, compiled, evaluate, names_in
from adaline.coding.formula import MOST_TERMS
from adaline.errors import AdalineError, InvalidParameter


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    n = 400
    out = pd.DataFrame({"x": rng.normal(size=n), "z": rng.uniform(1, 3, size=n), "k": rng.integers(0, 4, size=n)})
    out["a"] = rng.choice(["p", "q", "r"], size=n)
    out["b"] = rng.choice(["no", "yes"], size=n)
    out["y"] = out.x + out.z**2 + (out.a == "q") * out.x + (out.b == "yes") + rng.normal(size=n)
    out["ok"] = rng.random(n) < 0.4
    out["two words"] = rng.normal(size=n)
    return out


FORMULAS = [
    "y ~ x",
    "y ~ x + z",
    "y ~ a",
    "y ~ a + b",
    "y ~ C(k)",
    "y ~ k + C(k)",
    "y ~ x + C(k) + x:z",
    "y ~ a:b",
    "y ~ a + a:b",
    "y ~ a * b",
    "y ~ a:x",
    "y ~ a * x",
    "y ~ x + a:x",
    "y ~ a:b:x",
    "y ~ a * b * x",
    "y ~ (a + b + x) ** 2",
    "y ~ 0 + a",
    "y ~ a - 1",
    "y ~ 0 + a:b",
    "y ~ 0 + x + a",
    "y ~ 0 + a + b",
    "y ~ 0 + a:x",
    "y ~ np.log(z) + I(x ** 2)",
    "y ~ np.sqrt(z) * a",
    "np.log(z) ~ x + a",
    "y ~ I(x + z) + I(x / z)",
    "y ~ a / x",
    "y ~ x*z*C(k) - x:z:C(k)",
    "y ~ ok",
    "y ~ ok:a",
    "y ~ ok:x",
    "y ~ 0 + ok",
    "y ~ ok * a + x",
    "y ~ C(ok) + x",
    "y ~ I(2 * ok) + x",
    "y ~ ok + I(x * ok)",
    "y ~ C(a, Sum) * C(b, Helmert)",
    "y ~ C(k, Poly) + x",
    "y ~ C(a, Treatment('q')) * x",
    "y ~ I(x > 0) * a",
    "y ~ I(a == 'q') + I((a != 'p') * x)",
    "y ~ 0 + I(a == 'q'):z",
    "y ~ 0 + I(x > 0):C(a, Sum)",
    "y ~ center(x) + I(center(z) ** 2)",
    "y ~ Q('two words') * a",
    "y ~ 1",
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_equal_statsmodels(formula: str, frame: pd.DataFrame) -> None:
    theirs = smf.ols(formula, frame).fit()
    source = open_table(frame, formula=formula)
    ours = LinearRegression(fit_intercept=source.coding.intercept).fit(source)
    mine = dict(zip(ours.feature_names_in_, ours.coef_, strict=True))
    if source.coding.intercept:
        mine["Intercept"] = ours.intercept_
    assert len(mine) == len(theirs.params)
    np.testing.assert_allclose(ours.predict(source), theirs.fittedvalues, rtol=1e-9, atol=1e-9)
    shared = [name for name in mine if name in theirs.params.index]
    assert shared or ":" in formula or "I(" in formula
    if set(shared) == set(mine):  # the same columns, not only the same space
        for name in shared:
            assert mine[name] == pytest.approx(theirs.params[name], rel=1e-8, abs=1e-9)


def test_booleans_are_categories_of_two_levels(frame: pd.DataFrame) -> None:
    source = open_table(frame, formula="y ~ ok:a")
    assert source.coding.names == tuple(patsy.dmatrix("ok:a", frame).design_info.column_names[1:])
    assert len(source.coding.names) == 5
    model = LinearRegression().fit(open_table(frame, formula="y ~ ok + x"))
    assert model.feature_names_in_.tolist() == ["ok[T.True]", "x"]
    np.testing.assert_array_equal(model.predict(frame.assign(ok=frame.ok.astype(int))), model.predict(frame))
    plain = open_table(frame[["ok", "x", "y"]], target="y")
    assert plain.coding.names == ("ok", "x")


@pytest.mark.parametrize("nested", ["y ~ a %in% b", "y ~ a + b %in% a", "y ~ x + a%in%ok", "y ~ `two words` %in% a"])
def test_a_in_b_is_their_product(nested: str, frame: pd.DataFrame) -> None:
    one, other = (open_table(frame, formula=text) for text in (nested, nested.replace("%in%", ":")))
    assert one.coding.names == other.coding.names
    np.testing.assert_array_equal(LinearRegression().fit(one).coef_, LinearRegression().fit(other).coef_)


def test_a_formula_is_kept_for_prediction(frame: pd.DataFrame) -> None:
    source = open_table(frame, formula="y ~ a * log(z) + I(x**2) + `two words`")
    model = LinearRegression().fit(source)
    assert model.feature_names_in_.tolist()[-1] != "`two words`"
    np.testing.assert_allclose(model.predict(frame[50:60]), model.predict(frame)[50:60], rtol=1e-13)
    np.testing.assert_allclose(model.predict(open_table(frame[50:60])), model.predict(frame)[50:60], rtol=1e-13)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ nothing", "'nothing', and there is no such column; there are: x, z"),
        ("x + z", "no target"),
        ("y ~ I(x + 1/0)", "infinity"),
        ("y ~ I(x * 10**400)", "infinity|NaN"),
        ("y ~ -1", "leaves nothing to fit"),
        ("y ~ x > 2", r"comparisons are written as I\(x > 2\)"),
        ("scale(y) ~ x", "more than numbers of its row"),
        ("y ~ x:offset(z)", "an offset is a term of its own"),
        ("y ~ scale(poly(x, 2))", "several columns, and must be its own term"),
        ("y ~ poly(x, 2, coefs=z)", r"poly\(\) in the formula has no option 'coefs'; there are: degree, raw"),
        ("y ~ poly(k, 4)", "needs more than 4 different values"),
        ("y ~ bs(x, df=2)", r"bs\(\) takes a whole number of 3 to 1,000 as df"),
        ("y ~ ns(x, knots=c(0, 99))", "knots of a spline must lie between"),
        ("y ~ cut(x, c(0, 1))", "outside all intervals"),
        ("y ~ I(a == 'nobody')", "no level 'nobody' to be compared with; there are: p, q, r"),
        ("y ~ scale(a == 'q')", "takes numbers, not"),
        ("y ~ lag(x, 0)", "whole number of 1 to 10,000 as k"),
        ("y ~ C(a, Treatment('nobody'))", "no level 'nobody' to be the reference"),
        ("y ~ smooth(x)", r"cannot read 'smooth\(x\)'.* poly, scale"),
        ("y ~ I(a**2)", "column 'a' is not a number"),
        ("y ~ C(a, b)", "C takes a column alone"),
        ("y ~ (x", "cannot read the formula"),
        ("y ~ as.factor(a)", r"write C\(a\) for as.factor\(a\)"),
        ("y ~ I(x%%2)", r"%% is not among the operators .* \+, -, \*, /"),
        ("y ~ x + (1 | a)", r"random effect, \(1 \| a\), which is not available: write C\(a\)"),
        ("y ~ (x]", "its brackets do not match"),
        ("y ~ __import__('os').system('true')", "cannot read"),
        ("y ~ I(x.__class__)", "cannot read"),
        ("y ~ I(open('f'))", "cannot read|no such column"),
        ("y + x ~ z", "one target"),
        ("y ~ I([i for i in x])", "cannot read|no such column"),
        ("y ~ log(x, 2)", "cannot read"),
        ("y ~ I(lambda: 1)", "cannot read"),
    ],
)
def test_what_formulas_cannot_say(formula: str, message: str, frame: pd.DataFrame) -> None:
    with pytest.raises(AdalineError, match=message) as caught:
        LinearRegression().fit(open_table(frame, formula=formula))
    assert "\n" not in str(caught.value)


def test_a_formula_without_constant_needs_a_system_without(frame: pd.DataFrame) -> None:
    with pytest.raises(InvalidParameter, match="fit_intercept=False"):
        LinearRegression().fit(open_table(frame, formula="y ~ 0 + x"))


def test_a_formula_stands_alone(frame: pd.DataFrame) -> None:
    with pytest.raises(InvalidParameter, match="neither target= nor features="):
        open_table(frame, target="y", formula="y ~ x")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_are_those_of_numpy(function: str) -> None:
    values = np.array([0.5, 1.0, 2.5])
    expected = values if function == "I" else getattr(np, function)(values)
    np.testing.assert_array_equal(evaluate(f"{function}(x)", {"x": values}), expected)


def test_expressions() -> None:
    columns: dict[str, Any] = {"x": np.array([1.0, 2.0]), "a b": np.array([3.0, 4.0])}
    np.testing.assert_array_equal(evaluate("-(x - 2) ** 2 / 4 + `a b` * 1e1", columns), [29.75, 40.0])
    assert names_in("log(x) + `a b` - x") == ["x", "a b"]


def test_what_is_kept_of_texts_has_a_bound_and_cannot_be_changed() -> None:
    assert MOST_TERMS < MOST_COMPILED
    assert all(kept.cache_info().maxsize is not None for kept in (compiled, contrast_of, spline._natural))
    assert not spline._natural((0.0, 1.0, 2.0), False).flags.writeable
