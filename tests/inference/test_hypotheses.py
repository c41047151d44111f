"""Tests of linear hypotheses against statsmodels and 60 digits; how hypotheses are read and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaline import GeneralizedLinear, LinearRegression, OrdinalRegression, Ridge, anova
from adaline.errors import AdalineError, InvalidData, InvalidParameter
from adaline.inference.hypotheses import parse
from tests.inference.against import DATA, ROBUST, Rows, exact_sandwich, fitted, generated, given_again, longley

NAMES = ("age", "income", "x1", "x10", "NEAR BAY", "cut:Good", "2nd floor", "total-rooms", "2")


def row(**coefficients: float) -> list[float]:
    """Return a row of C for NAMES; `_` is the intercept."""
    places = {"_": 0} | {name.replace(" ", "_"): j for j, name in enumerate(NAMES, start=1)}
    out = [0.0] * (1 + len(NAMES))
    for name, coefficient in coefficients.items():
        out[places[name]] = coefficient
    return out


@pytest.mark.parametrize(
    ("text", "matrix", "value"),
    [
        ("age = 0", [row(age=1)], [0]),
        ("age", [row(age=1)], [0]),
        ("age = income", [row(age=1, income=-1)], [0]),
        ("x1 + 2*x10 = 3", [row(x1=1, x10=2)], [3]),
        ("x1+2x10", None, "no column is called '2x10'"),
        ("x1*3/4 - -1 = 2", None, "expected a column or a number"),
        ("-x1*3/4 - (1 - income)/2 = 2 + age", [row(x1=-0.75, income=0.5, age=-1)], [2.5]),
        ("age = 0, income = 1e-3", [row(age=1), row(income=1)], [0, 1e-3]),
        ("age = income = x1", [row(age=1, income=-1), row(income=1, x1=-1)], [0, 0]),
        ("intercept = 0.1", [row(_=1)], [0.1]),
        ("0.1*age + 0.2*age = 0.3", [row(age=0.3)], [0.3]),
        ("NEAR BAY=cut:Good", [row(**{"NEAR_BAY": 1, "cut:Good": -1})], [0]),
        ("2*2nd floor = total-rooms", [row(**{"2nd_floor": 2, "total-rooms": -1})], [0]),
        ("`2` = 2", [row(**{"2": 1})], [2]),
        ("  age  -  2 * ( income + 1 ) ", [row(age=1, income=-2)], [2]),
        ("age*income = 0", None, "a product of coefficients is not linear"),
        ("age/income = 0", None, "can only divide by a number that is not zero"),
        ("age/0 = 0", None, "can only divide by a number"),
        ("age = ", None, "expected a column or a number"),
        ("age = 0,", None, "expected a column or a number, at character 9"),
        ("age == 0", None, "expected a column or a number"),
        ("agee = 0", None, r"no column is called 'agee' \(did you mean 'age'\?\)"),
        ("`sex` = 0", None, r"no column is called 'sex' \(there are intercept, age"),
        ("(age = 0", None, r"expected \)"),
        ("age) = 0", None, "expected .*, at character 4"),
        ("age ^ 2 = 0", None, "expected"),
        ("age - age = 0", None, "says nothing about a coefficient"),
        ("1 = 1", None, "says nothing about a coefficient"),
        ("", None, "expected a column or a number"),
        ("__import__('os') = 0", None, "no column is called"),
    ],
)
def test_reading(text: str, matrix: Any, value: Any) -> None:
    if matrix is None:
        with pytest.raises(InvalidParameter, match=value):
            parse(text, NAMES)
        return
    found = parse(text, NAMES)
    np.testing.assert_array_equal(found[0], matrix)
    np.testing.assert_array_equal(found[1], value)


@given(st.text(alphabet="agex10 +-*/=(),.`2e", max_size=25))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        matrix, value = parse(text, NAMES)
    except InvalidParameter:
        return
    assert matrix.shape == (len(value), 1 + len(NAMES))
    assert np.isfinite(matrix).all()


@given(
    st.lists(st.tuples(st.sampled_from(["age", "x1", "x10"]), st.fractions(max_denominator=99)), min_size=1, max_size=6)
)
def test_sums_are_exact(terms: list[tuple[str, Fraction]]) -> None:
    total = {name: sum(q for other, q in terms if other == name) for name in ("age", "x1", "x10")}
    if not any(total.values()):
        return
    text = " + ".join(f"({q.numerator})/{q.denominator}*{name}" for name, q in terms)
    matrix, _ = parse(text.replace("(-", "(-"), NAMES)
    np.testing.assert_array_equal(matrix[0], row(**{name: float(q) for name, q in total.items()}))


@pytest.mark.parametrize("errors", ["classical", *ROBUST])
@pytest.mark.parametrize("name", ["generated", "ill-scaled", "small"])
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "no-intercept"])
def test_equal_to_statsmodels(name: str, errors: str, intercept: bool) -> None:
    rows = DATA[name]
    rng = np.random.default_rng(5)
    theirs = fitted(rows, errors, intercept)
    model = LinearRegression(fit_intercept=intercept).fit(rows.X, rows.y)
    unit = np.concatenate([[1.0] if intercept else [], rows.X.std(axis=0)])
    near = np.concatenate([[model.intercept_] if intercept else [], model.coef_])
    for q in (1, 2, 3):
        matrix = rng.normal(size=(q, len(unit))) * unit
        value = matrix @ near + 0.1 * rng.normal(size=q)
        found = model.test(matrix, value, **given_again(rows, errors))
        f = theirs.f_test((matrix, value))
        wald = theirs.wald_test((matrix, value), use_f=False, scalar=True)
        assert found.statistic == pytest.approx(float(f.fvalue), rel=1e-8)
        assert found.p_value == pytest.approx(float(f.pvalue), rel=1e-8)
        assert found.freedom == (q, f.df_denom)
        assert found.chi2 == pytest.approx(float(wald.statistic), rel=1e-8)
        assert found.chi2_p_value == pytest.approx(float(wald.pvalue), rel=1e-8)


@pytest.mark.parametrize("errors", ["classical", *ROBUST])
def test_longley_to_ten_digits(errors: str) -> None:
    rows = longley()
    model = LinearRegression().fit(rows.X, rows.y)
    theta, covariance = exact_sandwich(rows, errors)
    found = model.test("x1 = 0, x2 = 2*x3, intercept + 1955*x5 = 1e5", **given_again(rows, errors))
    with mp.workdps(60):
        c = mp.matrix(3, 7)
        c[0, 2] = c[1, 3] = c[2, 0] = 1
        c[1, 4], c[2, 6] = -2, 1955
        d = c * mp.matrix(theta) - mp.matrix([0, 0, 100000])
        sought = (d.T * (c * covariance * c.T) ** -1 * d)[0] / 3
    assert found.statistic == pytest.approx(float(sought), rel=1e-10)


def test_every_way_of_saying_it() -> None:
    rows = generated()
    frame = pd.DataFrame(rows.X, columns=["a", "b", "c d", "e"])
    model = LinearRegression().fit(frame, rows.y)
    sought = model.test(np.eye(5)[[2, 3]])
    for hypothesis in (
        "b = 0, c d = 0",
        ["b", "c d"],
        ("b", "c d"),
        "b, `c d`",
        np.array(["b", "c d"]),
        ["b = 0", "c d"],
    ):
        found = model.test(hypothesis)
        assert (found.statistic, found.p_value, found.freedom) == (sought.statistic, sought.p_value, sought.freedom)
        assert found.hypotheses == ("b = 0", "c d = 0")
    assert model.test([1, 0, 0, 0, 0], 2.0).statistic == model.test("intercept = 2").statistic
    assert model.test(["a", "b"], [1.0, 2.0]).statistic == model.test("a = 1, b = 2").statistic
    bare = LinearRegression(fit_intercept=False).fit(frame, rows.y)
    assert bare.test(np.eye(4)[:2]).statistic == bare.test(np.eye(5)[1:3]).statistic == bare.test(["a", "b"]).statistic


def test_one_coefficient_is_the_square_of_its_t() -> None:
    rows = generated()
    model = LinearRegression().fit(rows.X, rows.y)
    for j, line in enumerate(model.summary().to_dict()["coefficients"]):
        found = model.test(np.eye(5)[j])
        assert found.statistic == pytest.approx(line["statistic"] ** 2, rel=1e-12)
        assert found.p_value == pytest.approx(line["p_value"], rel=1e-9)


def test_all_slopes_are_the_f_of_the_summary() -> None:
    rows = generated()
    model = LinearRegression().fit(rows.X, rows.y)
    for errors in ("classical", *ROBUST):
        again = given_again(rows, errors)
        found, summary = model.test(["x0", "x1", "x2", "x3"], **again), model.summary(**again).to_dict()
        assert found.statistic == pytest.approx(summary["f_statistic"], rel=1e-10)
        assert found.p_value == pytest.approx(summary["f_p_value"], rel=1e-8)


def test_a_prediction_far_from_zero_does_not_cancel() -> None:
    rows = generated()
    X = np.round(rows.X * 2.0**20) / 2.0**20
    plain, far = LinearRegression().fit(X, rows.y), LinearRegression().fit(X + 1e9, rows.y)
    at = X[7]
    sought = plain.test([1.0, *at], 2.5).statistic
    assert far.test([1.0, *(at + 1e9)], 2.5).statistic == pytest.approx(sought, rel=1e-9)


def test_several_targets() -> None:
    rows = generated()
    targets = np.column_stack([rows.y, rows.y**2])
    for errors in ("classical", "HC3"):
        both = LinearRegression().fit(rows.X, targets).test("x0 = x1", **(given_again(rows, errors) | {"y": targets}))
        assert both.statistic.shape == both.p_value.shape == (2,)
        assert "target y1: F" in str(both)
        for k in range(2):
            one = Rows(rows.X, targets[:, k], rows.groups)
            alone = LinearRegression().fit(one.X, one.y).test("x0 = x1", **given_again(one, errors))
            assert both.statistic[k] == pytest.approx(alone.statistic, rel=1e-10)


def test_weights_are_repetitions() -> None:
    rows = generated(100)
    weight = np.random.default_rng(0).integers(0, 4, 100)
    again = np.repeat(np.arange(100), weight)
    a = LinearRegression().fit(rows.X, rows.y, weight).test("x0 = x1, x2 = 0")
    b = LinearRegression().fit(rows.X[again], rows.y[again]).test("x0 = x1, x2 = 0")
    assert a.statistic == pytest.approx(b.statistic, rel=1e-10)
    assert a.freedom == b.freedom


def test_only_what_the_rows_can_tell() -> None:
    rows = generated(100)
    X = np.column_stack([rows.X, rows.X[:, 0] + rows.X[:, 1]])
    model = LinearRegression().fit(X, rows.y)
    with pytest.raises(InvalidData, match=r"the rows cannot tell whether x0 = 0.*aliased_"):
        model.test("x2 = 0, x0 = 0")
    sought = LinearRegression().fit(rows.X, rows.y)
    assert model.test("x2 = x3").statistic == pytest.approx(sought.test("x2 = x3").statistic, rel=1e-9)
    assert model.test("x0 + x4 = 0").statistic == pytest.approx(sought.test("x0 = 0").statistic, rel=1e-9)
    constant = LinearRegression().fit(np.column_stack([rows.X, np.full(100, 3.0)]), rows.y)
    assert constant.test("x0 = 0").statistic == pytest.approx(sought.test("x0 = 0").statistic, rel=1e-9)
    for text in ("x4 = 0", "intercept = 0"):
        with pytest.raises(InvalidData, match="cannot tell"):
            constant.test(text)
    assert constant.test("intercept + 3*x4 = 0").statistic == pytest.approx(
        sought.test("intercept = 0").statistic, rel=1e-9
    )


@pytest.mark.parametrize(
    ("hypothesis", "value", "message"),
    [
        ("x0 = 0, x1 = 0, x0 + x1 = 0", 0.0, "some follow from others"),
        ("x0 = 0, x0 = 1", 0.0, "some follow from others"),
        ("x0 = 0", 1.0, "write the value into the hypothesis"),
        ("x9 = 0", 0.0, "no column is called 'x9'"),
        (["x9"], 0.0, "no column is called 'x9'"),
        (np.eye(4), 0.0, r"it must be \(q, 5\)"),
        (np.zeros((1, 5)), 0.0, "hypothesis 1 says nothing"),
        (np.full((1, 5), np.nan), 0.0, "not finite"),
        ([], 0.0, r"it must be \(q, 5\)"),
        (None, 0.0, r"text such as|it must be|not finite"),
        ({"x0": 1}, 0.0, "text such as"),
        (np.eye(5)[1:], [1.0, 2.0], "one finite number for each of 4"),
        (np.eye(5)[1:], np.inf, "one finite number for each of 4"),
    ],
)
def test_refused(hypothesis: Any, value: Any, message: str) -> None:
    rows = generated(50)
    with pytest.raises(AdalineError, match=message):
        LinearRegression().fit(rows.X, rows.y).test(hypothesis, value)


def test_refused_models() -> None:
    rows = generated(50)
    with pytest.raises(InvalidParameter, match="no tests for a penalised fit"):
        Ridge().fit(rows.X, rows.y).test("x0 = 0")
    assert Ridge(penalty=0).fit(rows.X, rows.y).test("x0 = 0").p_value == pytest.approx(
        LinearRegression().fit(rows.X, rows.y).test("x0 = 0").p_value
    )
    with pytest.raises(InvalidParameter, match="the model has none"):
        LinearRegression(fit_intercept=False).fit(rows.X, rows.y).test("intercept = 0")
    with pytest.raises(InvalidData, match="no more rows than parameters"):
        LinearRegression().fit(rows.X[:5], rows.y[:5]).test("x0 = 0")
    with pytest.raises(InvalidParameter, match="fewer groups than hypotheses"):
        LinearRegression().fit(rows.X, rows.y).test(
            ["x0", "x1", "x2"], errors="cluster", X=rows.X, y=rows.y, groups=np.arange(50) % 2
        )


@pytest.mark.parametrize("slopes", [(0.0, 0.0), (1.0, 2.0)])
def test_an_exact_fit_has_no_tests(slopes: tuple[float, float]) -> None:
    X = np.arange(12.0).reshape(6, 2) ** 2
    y = X @ slopes
    model = LinearRegression().fit(X, y)
    with pytest.raises(InvalidData, match="the fit is exact to rounding"):
        model.test("x0 = 1")
    with pytest.raises(InvalidData, match="the fit of the largest model is exact to rounding"):
        anova(LinearRegression().fit(X[:, :1], y), model)
    if any(slopes):
        with pytest.raises(InvalidData, match="the fit is exact to rounding"):
            GeneralizedLinear(loss="gaussian").fit(X, y).test("x0 = 1")
    measures = model.influence(X, y)
    assert np.isfinite(measures.leverage).all()
    assert np.isnan(measures.cooks_distance).all()
    assert np.isnan(measures.studentized).all()


def test_rendering() -> None:
    rows = generated(50)
    text = str(LinearRegression().fit(rows.X, rows.y).test("x0 - 2*x1 = 0.5, -x3 = 1"))
    assert text.splitlines()[:2] == ["hypothesis: x0 - 2*x1 = 0.5", "            -x3 = 1"]
    assert "on 2 and 45 degrees of freedom" in text


@pytest.mark.parametrize("text", ["x0 = 1e400", "1e400*x0 = 1", "1e200*1e200*x0 = 0", "x0 = 1e99999", "x0 = 1e-99999"])
def test_numbers_that_float64_cannot_hold_are_refused(text: str) -> None:
    X = np.random.default_rng(0).standard_normal((20, 2))
    model = LinearRegression().fit(X, X[:, 0] + X[:, 1] ** 2)
    with pytest.raises(InvalidParameter, match=r"beyond 1\.8e308|so many digits"):
        model.test(text)
    assert 0 <= model.test("x0 = 1e-400").p_value <= 1


def test_brackets_have_a_limit() -> None:
    model = LinearRegression().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0])
    assert model.test("((x0)) = 0").p_value < 1
    with pytest.raises(InvalidParameter, match="more than 50 brackets inside each other"):
        model.test("(" * 400 + "x0" + ")" * 400 + " = 0")


def test_the_normal_distribution_judges_by_chi_squared_and_says_so() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 1)), rng.normal(size=8)
    found = LinearRegression().fit(X, y).test("x0 = 0", distribution="normal")
    assert found.freedom == (1, np.inf)
    assert found.p_value == pytest.approx(found.chi2_p_value, rel=1e-12)
    assert "chi²" in str(found)
    assert "F " not in str(found)


def test_an_intercept_that_there_is_not_is_not_offered() -> None:
    X, y = np.column_stack([np.sin(np.arange(30.0)), np.cos(np.arange(30.0))]), np.arange(30) % 3
    for model in (OrdinalRegression().fit(X, y), LinearRegression(fit_intercept=False).fit(X, y)):
        for asked in ("0 | 1 = 0", "q = 0", ["q"]):
            with pytest.raises(InvalidParameter) as caught:
                model.test(asked)
            assert "intercept" not in str(caught.value)
