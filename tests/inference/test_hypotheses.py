"""How hypotheses are read, and which are refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaline import LinearRegression, OrdinalRegression
from adaline.errors import AdalineError, InvalidParameter
from adaline.inference.hypotheses import parse
from tests.inference.against import ROWS

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
        ("`sex = 0", None, r"there are intercept, age, income, x1, x10, NEAR BAY, cut:Good, 2nd floor, \.\.\.\)"),
        *((text, None, r"beyond 1\.8e308") for text in ("x1 = 1e400", "1e400*x1 = 1", "1e200*1e200*x1 = 0")),
        *((text, None, "so many digits") for text in ("x1 = 1e1001", "x1 = 1e-99999", f"x1 = {'1' * 1001}")),
        ("x1 = 1e-1000", [row(x1=1)], [0]),
        (f"{'(' * 50}x1{')' * 50} = 0", [row(x1=1)], [0]),
        (f"{'(' * 51}x1{')' * 51} = 0", None, "more than 50 brackets inside each other"),
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
    matrix, _ = parse(text, NAMES)
    np.testing.assert_array_equal(matrix[0], row(**{name: float(q) for name, q in total.items()}))


def test_every_way_of_saying_it() -> None:
    frame = pd.DataFrame(ROWS.X, columns=["a", "b", "c d", "e"])
    model = LinearRegression().fit(frame, ROWS.y)
    sought = model.test(np.eye(5)[[2, 3]])
    lists: list[Any] = [["b", "c d"], ("b", "c d"), np.array(["b", "c d"]), ["b = 0", "c d"]]
    for hypothesis in ("b = 0, c d = 0", "b, `c d`", *lists):
        found = model.test(hypothesis)
        assert (found.statistic, found.p_value, found.freedom) == (sought.statistic, sought.p_value, sought.freedom)
        assert found.hypotheses == ("b = 0", "c d = 0")
    assert model.test([1, 0, 0, 0, 0], 2.0).statistic == model.test("intercept = 2").statistic
    assert model.test(["a", "b"], [1.0, 2.0]).statistic == model.test("a = 1, b = 2").statistic
    bare = LinearRegression(fit_intercept=False).fit(frame, ROWS.y)
    assert bare.test(np.eye(4)[:2]).statistic == bare.test(np.eye(5)[1:3]).statistic == bare.test(["a", "b"]).statistic


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
    with pytest.raises(AdalineError, match=message):
        LinearRegression().fit(ROWS.X, ROWS.y).test(hypothesis, value)


def test_an_intercept_that_there_is_not_is_not_offered() -> None:
    X, y = np.column_stack([np.sin(np.arange(30.0)), np.cos(np.arange(30.0))]), np.arange(30) % 3
    for model in (OrdinalRegression().fit(X, y), LinearRegression(fit_intercept=False).fit(X, y)):
        for asked in ("0 | 1 = 0", "q = 0", ["q"]):
            with pytest.raises(InvalidParameter) as caught:
                model.test(asked)
            assert "intercept" not in str(caught.value)
