"""Hostile formulas: each is parsed within bounds, or refused with an error of one line that says why."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from adaline import LinearRegression, open_table
from adaline.coding.formula import read_formula
from adaline.coding.terms import MOST_CATEGORIES
from adaline.errors import AdalineError, InvalidParameter

LETTERS = [f"c{i}" for i in range(30)]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    out = pd.DataFrame(rng.normal(size=(40, 30)), columns=LETTERS)
    out["a"], out["b"], out["y"], out["größe"], out["two words"] = rng.normal(size=(5, 40))
    out["g"] = rng.choice(["p", "q"], size=40)
    for i in range(12):
        out[f"g{i}"] = rng.choice(["p", "q"], size=40)
    return out


WORK = {
    "y ~ (a+b)**20": 3,
    "y ~ (a+b)^20": 3,
    "y ~ (a+b)**1000000000": 3,
    "y ~ (a + b + c0)**2": 6,
    "y ~ a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a": 1,
    "y ~ ((a+b)**10)**10": 3,
    "y ~ " + ":".join(LETTERS): 1,
    "y ~ " + "+".join(LETTERS): 30,
    "y ~ größe": 1,
    "y ~ `two words`": 1,
    "y ~ ((((((((((a))))))))))": 1,
    "y ~ a + a + a": 1,
    "y ~ a**1": 1,
    "y ~ -a + b": 1,
    "y~a": 1,
    "y ~ 5:a": 1,
    "y ~ a**(1+1)": 1,
    "y ~ " + "(" * 3000 + "a" + ")" * 3000: 1,
    "\ty ~\n a": 1,
    "y ~ . - .": 0,
    "y ~ .": 47,
    "y ~ 1": 0,
    "y ~ Q('two words')": 1,
}
"""Formulas that mean something, by their number of terms."""

REFUSED = [
    "",
    " ",
    "~",
    "y",
    "y ~",
    "~ a",
    "y ~ -1",
    "y ~ 0",
    "y ~ poly(a, 10**9)",
    "y ~ poly(a, 1e9)",
    "y ~ poly(a, 2, 3, 4)",
    "y ~ poly(poly(a, 2), 2)",
    "y ~ poly(a)(b)",
    "y ~ bs(a, df=100000000)",
    "y ~ bs(a, knots=__import__('os'))",
    "y ~ bs(a, **b)",
    "y ~ bs(*a)",
    "y ~ ns(a, df=4, df=5)",
    "y ~ cut(a, 10**8)",
    "y ~ cut(a, 1)",
    "y ~ cut(g, 3)",
    "y ~ scale()",
    "y ~ scale(a, center='yes')",
    "y ~ pmin(a)",
    "y ~ lag(a, 99999999)",
    "y ~ lag(a + b, 1)",
    "y ~ lag(g, 1)",
    "y ~ lag()",
    "y ~ offset(g) + a",
    "y ~ offset() + a",
    "y ~ offset(poly(a, 2)) + a",
    "cbind() ~ a",
    "cbind(y, nothing) ~ a",
    "cbind(y, g) ~ a",
    "y ~ I(a < b < c0)",
    "y ~ I(g == 'b')",
    "y ~ C(g, Sum(1))",
    "y ~ C(g, Treatment(a))",
    "y ~ C(g, Treatment('p', 'q'))",
    "y ~ C(g, os.system)",
    "y ~ Q(a)",
    "y ~ Q('nothing')",
    "y ~ (1 | g)",
    "y ~ a | b | c0",
    "y | a ~ b",
    "y ~ a ~ b",
    "y ~ (a ~ b)",
    "y ~ [a ~ b]",
    "y ~ a**0",
    "y ~ a**1e9",
    "y ~ a**-1",
    "y ~ a**b",
    "y ~ a**1.5",
    "y ~ a**True",
    "y ~ (" + "+".join(LETTERS) + ")**30",
    "y ~ " + "*".join(LETTERS),
    "y ~ (" + "+".join(LETTERS) + "):(" + "+".join(LETTERS) + "):(" + "+".join(LETTERS) + "):(a+b)",
    "y ~ " + ":".join(f"g{i}" for i in range(12)),
    "y ~ " + "(" * 50,
    "y ~ a)",
    "y ~ " + "-" * 20000 + "a + nothing",
    "y ~ I(" + "-" * 3000 + "a)",
    "y ~ I(" + "+".join(["a"] * 3000) + ")",
    "y ~ " + "x" * 10_000,
    "y ~ a" + " " * 100_000,
    "y ~ unknown(a)",
    "y ~ eval('1')",
    "y ~ a.real",
    "y ~ a.__class__.__mro__",
    "y ~ __builtins__",
    "y ~ I(lambda: 0)",
    "y ~ {a for a in b}",
    "y ~ {(lambda: 1)()}",
    "y ~ I(a if b else a)",
    "y ~ I(a[0])",
    "y ~ I(a := b)",
    "y ~ I(f'{a}')",
    "y ~ 3",
    "y ~ 3a",
    "3 ~ a",
    "y ~ 'a'",
    'y ~ "a"',
    "y ~ `a",
    "y ~ ``",
    "y ~ a\0",
    "y\0 ~ a",
    "y ~ a\\b",
    "y ~ a %in%",
    "y ~ a %% b",
    "y ~ a ? b",
    "y ~ a; b",
    "y ~ a, b",
    "y ~ a &",
    "y ~ +",
    "y ~ a +* b",
    "y ~ /",
    "y ~ I()",
    "y ~ I(9**9**9**9 * a)",
    "y ~ C()",
    "y ~ C(a, b)",
    "y ~ C(C(g))",
    "y ~ log()",
    "y ~ \u202ea",
    "y, a ~ b",
    "I(g) ~ a",
    "y ~ 1e400:a",
]


@pytest.mark.parametrize("formula", WORK, ids=lambda formula: formula[:40])
def test_a_formula_that_is_odd_but_means_something(formula: str, frame: pd.DataFrame) -> None:
    columns = list(frame.columns)
    parsed = read_formula(formula, {"g", *(f"g{i}" for i in range(12))}, columns, everything=columns)
    assert len(parsed.terms) == WORK[formula]
    assert LinearRegression().fit(open_table(frame, formula=formula)).n_features_in_ == WORK[formula]


@pytest.mark.parametrize("formula", REFUSED, ids=lambda formula: formula[:40])
def test_a_formula_that_means_nothing_is_refused(formula: str, frame: pd.DataFrame) -> None:
    with pytest.raises(AdalineError) as caught:
        LinearRegression().fit(open_table(frame, formula=formula))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 2000


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ a | g:a", r"'\|' .* sets apart columns"),
        ("y ~ " + "*".join(LETTERS), "more than 10,000 terms"),
        ("y ~ (" + "+".join(LETTERS) + ")**30", "more than 10,000 terms"),
        ("y ~ " + ":".join(f"g{i}" for i in range(12)), f"at most {MOST_CATEGORIES} categories"),
        ("y ~ a**1.5", "whole number of 1 or more"),
    ],
)
def test_a_refusal_says_why(formula: str, message: str, frame: pd.DataFrame) -> None:
    with pytest.raises(InvalidParameter, match=message):
        open_table(frame, formula=formula).learn_coding()
