"""Formulas mean what they mean in statsmodels (patsy), run nothing, and are parsed within bounds or refused."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import patsy
import pytest
import statsmodels.formula.api as smf

from adaline import LinearRegression, open_table
from adaline.basis import spline
from adaline.coding.contrasts import contrast_of
from adaline.coding.expressions import FUNCTIONS, MOST_COMPILED, compiled, evaluate, names_in
from adaline.coding.formula import MOST_TERMS, read_formula
from adaline.coding.terms import MOST_CATEGORIES
from adaline.errors import AdalineError, InvalidParameter

LETTERS = [f"c{i}" for i in range(30)]
GROUPS = [f"g{i}" for i in range(12)]


def made(n: int = 400) -> pd.DataFrame:
    """Return numbers, categories, booleans and odd names."""
    rng = np.random.default_rng(5)
    out = pd.DataFrame({"x": rng.normal(size=n), "z": rng.uniform(1, 3, size=n), "k": rng.integers(0, 4, size=n)})
    out["a"] = rng.choice(["p", "q", "r"], size=n)
    out["b"] = rng.choice(["no", "yes"], size=n)
    out["y"] = out.x + out.z**2 + (out.a == "q") * out.x + (out.b == "yes") + rng.normal(size=n)
    out["ok"] = rng.random(n) < 0.4
    out["two words"] = rng.normal(size=n)
    return out


def many() -> pd.DataFrame:
    """Return many columns of numbers, and categories of two levels."""
    rng = np.random.default_rng(5)
    out = pd.DataFrame(rng.normal(size=(40, 30)), columns=LETTERS)
    out["a"], out["b"], out["y"], out["größe"], out["two words"] = rng.normal(size=(5, 40))
    return out.assign(**{name: rng.choice(["p", "q"], size=40) for name in ("g", *GROUPS)})


FRAME, MANY = made(), many()

FORMULAS = [
    *("y ~ x", "y ~ x + z", "y ~ a", "y ~ a + b", "y ~ C(k)", "y ~ k + C(k)", "y ~ x + C(k) + x:z", "y ~ a:b"),
    *("y ~ a + a:b", "y ~ a * b", "y ~ a:x", "y ~ a * x", "y ~ x + a:x", "y ~ a:b:x", "y ~ a * b * x"),
    *("y ~ (a + b + x) ** 2", "y ~ 0 + a", "y ~ a - 1", "y ~ 0 + a:b", "y ~ 0 + x + a", "y ~ 0 + a + b", "y ~ 0 + a:x"),
    *("y ~ np.log(z) + I(x ** 2)", "y ~ np.sqrt(z) * a", "np.log(z) ~ x + a", "y ~ I(x + z) + I(x / z)", "y ~ a / x"),
    *("y ~ x*z*C(k) - x:z:C(k)", "y ~ ok", "y ~ ok:a", "y ~ ok:x", "y ~ 0 + ok", "y ~ ok * a + x", "y ~ C(ok) + x"),
    *("y ~ I(2 * ok) + x", "y ~ ok + I(x * ok)", "y ~ C(a, Sum) * C(b, Helmert)", "y ~ C(k, Poly) + x"),
    *("y ~ C(a, Treatment('q')) * x", "y ~ I(x > 0) * a", "y ~ I(a == 'q') + I((a != 'p') * x)"),
    *("y ~ 0 + I(a == 'q'):z", "y ~ 0 + I(x > 0):C(a, Sum)", "y ~ center(x) + I(center(z) ** 2)"),
    *("y ~ Q('two words') * a", "y ~ 1"),
]


@pytest.mark.every
@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_equal_statsmodels(formula: str) -> None:
    theirs = smf.ols(formula, FRAME).fit()
    source = open_table(FRAME, formula=formula)
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


def test_booleans_are_categories_of_two_levels() -> None:
    source = open_table(FRAME, formula="y ~ ok:a")
    assert source.coding.names == tuple(patsy.dmatrix("ok:a", FRAME).design_info.column_names[1:])
    assert len(source.coding.names) == 5
    model = LinearRegression().fit(open_table(FRAME, formula="y ~ ok + x"))
    assert model.feature_names_in_.tolist() == ["ok[T.True]", "x"]
    np.testing.assert_array_equal(model.predict(FRAME.assign(ok=FRAME.ok.astype(int))), model.predict(FRAME))
    plain = open_table(FRAME[["ok", "x", "y"]], target="y")
    assert plain.coding.names == ("ok", "x")


@pytest.mark.parametrize("nested", ["y ~ a %in% b", "y ~ a + b %in% a", "y ~ x + a%in%ok", "y ~ `two words` %in% a"])
def test_a_in_b_is_their_product(nested: str) -> None:
    one, other = (open_table(FRAME, formula=text) for text in (nested, nested.replace("%in%", ":")))
    assert one.coding.names == other.coding.names
    np.testing.assert_array_equal(LinearRegression().fit(one).coef_, LinearRegression().fit(other).coef_)


def test_a_formula_is_kept_for_prediction() -> None:
    source = open_table(FRAME, formula="y ~ a * log(z) + I(x**2) + `two words`")
    model = LinearRegression().fit(source)
    assert model.feature_names_in_.tolist()[-1] != "`two words`"
    np.testing.assert_allclose(model.predict(FRAME[50:60]), model.predict(FRAME)[50:60], rtol=1e-13)
    np.testing.assert_allclose(model.predict(open_table(FRAME[50:60])), model.predict(FRAME)[50:60], rtol=1e-13)


MESSAGES = [
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
    ("y ~ (x", "cannot read the formula.* a bracket or a quotation mark is not closed"),
    ("y ~ `x", "a bracket or a quotation mark is not closed"),
    ("y ~ C(class)", "'class' is a word of Python.* rename the column"),
    ("y ~ log(`in`)", "'in' is a word of Python.* rename the column"),
    ("y ~ s(x, by=class)", "write `class` for the column"),
    ("y ~ s(x) * k", r"is no column: .* 's\(x, by=g\) \+ g'"),
    ("y ~ as.factor(a)", r"write C\(a\) for as.factor\(a\)"),
    ("y ~ I(x%%2)", r"%% is not among the operators .* \+, -, \*, /"),
    ("y ~ x + (1 | a)", r"has \(1 \| a\): use AdditiveModel; or write .* C\(group\)"),
    ("y ~ (x]", "its brackets do not match"),
    ("y ~ __import__('os').system('true')", "cannot read"),
    ("y ~ I(x.__class__)", "cannot read"),
    ("y ~ I(open('f'))", "cannot read|no such column"),
    ("y + x ~ z", "one target"),
    ("y ~ I([i for i in x])", "cannot read|no such column"),
    ("y ~ log(x, 2)", "cannot read"),
    ("y ~ I(lambda: 1)", "cannot read"),
]
LIMITS = [
    ("y ~ a | g:a", r"'\|' .* sets apart columns"),
    ("y ~ " + "*".join(LETTERS), "more than 10,000 terms"),
    ("y ~ (" + "+".join(LETTERS) + ")**30", "more than 10,000 terms"),
    ("y ~ " + ":".join(GROUPS), f"at most {MOST_CATEGORIES} categories"),
    ("y ~ a**1.5", "whole number of 1 or more"),
]


@pytest.mark.every
@pytest.mark.parametrize(
    ("frame", "formula", "message"),
    [*((FRAME, *one) for one in MESSAGES), *((MANY, *one) for one in LIMITS)],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_what_formulas_cannot_say(frame: pd.DataFrame, formula: str, message: str) -> None:
    with pytest.raises(AdalineError, match=message) as caught:
        LinearRegression().fit(open_table(frame, formula=formula))
    assert "\n" not in str(caught.value)


def test_a_formula_stands_alone() -> None:
    with pytest.raises(InvalidParameter, match="neither target= nor features="):
        open_table(FRAME, target="y", formula="y ~ x")


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


WORK = {
    **dict.fromkeys(("y ~ . - .", "y ~ 1"), 0),
    **dict.fromkeys(("y ~ größe", "y ~ `two words`", "y ~ ((((((((((a))))))))))", "y ~ a + a + a", "y ~ a**1"), 1),
    **dict.fromkeys(
        ("y~a", "y ~ 5:a", "y ~ a**(1+1)", "\ty ~\n a", "y ~ Q('two words')", "y ~ " + "*".join("a" * 31)), 1
    ),
    **dict.fromkeys(("y ~ -a + b", "y ~ " + "(" * 3000 + "a" + ")" * 3000, "y ~ " + ":".join(LETTERS)), 1),
    **dict.fromkeys(("y ~ (a+b)**20", "y ~ (a+b)^20", "y ~ (a+b)**1000000000", "y ~ ((a+b)**10)**10"), 3),
    **{"y ~ (a + b + c0)**2": 6, "y ~ " + "+".join(LETTERS): 30, "y ~ .": 47},
}
"""Formulas that mean something, by their number of terms."""

REFUSED = [
    *("", " ", "~", "y", "y ~", "~ a", "y ~ -1", "y ~ 0", "y ~ poly(a, 10**9)", "y ~ poly(a, 1e9)"),
    *("y ~ poly(a, 2, 3, 4)", "y ~ poly(poly(a, 2), 2)", "y ~ poly(a)(b)", "y ~ bs(a, df=100000000)"),
    *("y ~ bs(a, knots=__import__('os'))", "y ~ bs(a, **b)", "y ~ bs(*a)", "y ~ ns(a, df=4, df=5)"),
    *("y ~ cut(a, 10**8)", "y ~ cut(a, 1)", "y ~ cut(g, 3)", "y ~ scale()", "y ~ scale(a, center='yes')"),
    *("y ~ pmin(a)", "y ~ lag(a, 99999999)", "y ~ lag(a + b, 1)", "y ~ lag(g, 1)", "y ~ lag()", "y ~ offset(g) + a"),
    *("y ~ offset() + a", "y ~ offset(poly(a, 2)) + a", "cbind() ~ a", "cbind(y, nothing) ~ a", "cbind(y, g) ~ a"),
    *("y ~ I(a < b < c0)", "y ~ I(g == 'b')", "y ~ C(g, Sum(1))", "y ~ C(g, Treatment(a))"),
    *("y ~ C(g, Treatment('p', 'q'))", "y ~ C(g, os.system)", "y ~ Q(a)", "y ~ Q('nothing')", "y ~ (1 | g)"),
    *("y ~ a | b | c0", "y | a ~ b", "y ~ a ~ b", "y ~ (a ~ b)", "y ~ [a ~ b]", "y ~ a**0", "y ~ a**1e9", "y ~ a**-1"),
    *("y ~ a**b", "y ~ a**1.5", "y ~ a**True", "y ~ (" + "+".join(LETTERS) + ")**30", "y ~ " + "*".join(LETTERS)),
    "y ~ (" + "+".join(LETTERS) + "):(" + "+".join(LETTERS) + "):(" + "+".join(LETTERS) + "):(a+b)",
    *("y ~ " + ":".join(GROUPS), "y ~ " + "(" * 50, "y ~ a)", "y ~ " + "-" * 20000 + "a + nothing"),
    *("y ~ I(" + "-" * 3000 + "a)", "y ~ I(" + "+".join(["a"] * 3000) + ")", "y ~ " + "x" * 10_000),
    *("y ~ a" + " " * 100_000, "y ~ unknown(a)", "y ~ eval('1')", "y ~ a.real", "y ~ a.__class__.__mro__"),
    *("y ~ __builtins__", "y ~ I(lambda: 0)", "y ~ {a for a in b}", "y ~ {(lambda: 1)()}", "y ~ I(a if b else a)"),
    *("y ~ I(a[0])", "y ~ I(a := b)", "y ~ I(f'{a}')", "y ~ 3", "y ~ 3a", "3 ~ a", "y ~ 'a'", 'y ~ "a"', "y ~ `a"),
    *("y ~ ``", "y ~ a\0", "y\0 ~ a", "y ~ a\\b", "y ~ a %in%", "y ~ a %% b", "y ~ a ? b", "y ~ a; b", "y ~ a, b"),
    *("y ~ a &", "y ~ +", "y ~ a +* b", "y ~ /", "y ~ I()", "y ~ I(9**9**9**9 * a)", "y ~ C()", "y ~ C(a, b)"),
    *("y ~ poly(a, b, 2)", "y ~ I(poly(a, b, degree=2)^2)", "y ~ poly(a, b, c0, degree=30)", "y ~ ifelse(a > 0, 1)"),
    *("y ~ ifelse(a > 0, 'p', 'q')", "y ~ poly(a, g, degree=2)", "y ~ sin(pi(a))"),
    *("y ~ C(C(g))", "y ~ log()", "y ~ \u202ea", "y, a ~ b", "I(g) ~ a", "y ~ 1e400:a"),
]


@pytest.mark.parametrize("formula", WORK, ids=lambda formula: formula[:40])
def test_a_formula_that_is_odd_but_means_something(formula: str) -> None:
    columns = list(MANY.columns)
    parsed = read_formula(formula, {"g", *GROUPS}, columns, everything=columns)
    assert len(parsed.terms) == WORK[formula]
    assert LinearRegression().fit(open_table(MANY, formula=formula)).n_features_in_ == WORK[formula]


@pytest.mark.parametrize("formula", REFUSED, ids=lambda formula: formula[:40])
def test_a_formula_that_means_nothing_is_refused(formula: str) -> None:
    with pytest.raises(AdalineError) as caught:
        LinearRegression().fit(open_table(MANY, formula=formula))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 2000


def test_a_column_of_the_name_of_a_constant_is_quoted() -> None:
    """As `y ~ pi`, a name alone, it is the column too."""
    frame = pd.DataFrame({"y": [1.0, 2.0, 4.0], "pi": [1.0, 2.0, 3.0], "x": [0.5, 0.25, 1.0]})
    for formula, expected in (("y ~ pi", frame.pi), ("y ~ I(`pi` * 2)", 2 * frame.pi)):
        assert (
            open_table(frame, formula=formula).coding.code(nw.from_native(frame, eager_only=True))[:, 0].tolist()
            == expected.tolist()
        )
    with pytest.raises(InvalidParameter, match="there is a column of this name: write `pi`"):
        open_table(frame, formula="y ~ sin(pi * x)")
    frame = frame.drop(columns="pi")
    found = open_table(frame, formula="y ~ sin(pi * x) + ifelse(x > 0.3, x, 2)").coding.code(
        nw.from_native(frame, eager_only=True)
    )
    np.testing.assert_allclose(found, np.column_stack([np.sin(np.pi * frame.x), [0.5, 2.0, 1.0]]), rtol=1e-15)


def test_an_interaction_has_the_mean_of_every_pair_of_levels() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, 60), rng.choice(["p", "q", "r"], 60)
    frame = pd.DataFrame({"a": a, "b b": b, "y": rng.normal(size=60)})
    model = LinearRegression().fit(open_table(frame, formula="y ~ interaction(a, `b b`)"))
    means = frame.groupby(["a", "b b"])["y"].transform("mean")
    np.testing.assert_allclose(model.predict(frame), means, atol=1e-12)
    assert model.n_features_in_ == 5
    for wrong in ("interaction(a, b, drop=TRUE)", "interaction(a,)"):
        with pytest.raises(InvalidParameter, match=r"takes columns alone, as interaction\(a, b\)"):
            open_table(frame, formula=f"y ~ {wrong}")


def test_ordered_categories_are_coded_by_their_levels_and_by_polynomials_where_asked() -> None:
    rng = np.random.default_rng(1)
    size = rng.choice(["small", "medium", "large"], 40)
    frame = pd.DataFrame({"size": pd.Categorical(size, ["small", "medium", "large"], ordered=True)})
    frame["y"] = rng.normal(size=40) + frame["size"].cat.codes
    levels = LinearRegression().fit(open_table(frame, formula="y ~ size"))
    powers = LinearRegression().fit(open_table(frame, formula="y ~ C(size, Poly)"))
    assert levels.feature_names_in_.tolist() == ["size[T.medium]", "size[T.large]"]
    np.testing.assert_allclose(levels.predict(frame), powers.predict(frame), atol=1e-12)
    means = frame.groupby("size", observed=True)["y"].mean().to_numpy()
    trend = np.array([[-np.sqrt(0.5), 0.0, np.sqrt(0.5)], np.array([1.0, -2.0, 1.0]) / np.sqrt(6.0)])  # contr.poly(3)
    np.testing.assert_allclose(powers.coef_, trend @ means, atol=1e-12)
