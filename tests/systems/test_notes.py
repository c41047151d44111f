"""What fits say of columns: dependent, constant, constant within classes, of one name; and how they say it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import (
    LMS,
    Adaline,
    FisherDiscriminant,
    GaussianClassifier,
    KeslerPerceptron,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    OneVsOne,
    OneVsRest,
    Perceptron,
    Pocket,
    RobustRegression,
    SigmoidPerceptron,
    WienerFilter,
)
from adaline.errors import AdalineWarning, UnsafeForget

RNG = np.random.default_rng(0)
TWO = RNG.normal(size=(60, 2))
DEPENDENT = np.column_stack([TWO, TWO[:, 0] + 2 * TWO[:, 1]])
Y = RNG.normal(size=60)
LABELS = (TWO[:, 0] + 0.5 * Y > 0).astype(int)
SAID = r"linear combinations of others: x2 = x0 \+ 2 x1\."


def told(act: Callable[[], Any]) -> list[str]:
    """Return the texts of the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("system", [LinearRegression(), LeastSquaresClassifier(), WienerFilter()], ids=str)
def test_dependent_columns_are_told_however_rows_come(system: Any) -> None:
    y = Y if not isinstance(system, LeastSquaresClassifier) else LABELS
    with pytest.warns(AdalineWarning, match=SAID if not isinstance(system, WienerFilter) else "linear combinations"):
        assert len(system.fit(DEPENDENT, y).dependencies_) == len(system.aliased_) == 1
    model = type(system)()
    first = told(lambda: model.partial_fit(DEPENDENT[:30], y[:30]))
    assert len(first) == 1
    assert "linear combinations of others" in first[0]
    assert told(lambda: model.partial_fit(DEPENDENT[30:], y[30:])) == []  # nothing new
    other = type(system)().fit(TWO.repeat([1, 2], axis=1), y)
    assert len(other.dependencies_) == 1


def test_too_few_rows_yet_are_no_dependence() -> None:
    model = LinearRegression()
    for i in range(10):
        assert told(lambda i=i: model.partial_fit(TWO[i : i + 1], Y[i : i + 1])) == []
    assert model.dependencies_ == []


@pytest.mark.parametrize("system", [LinearRegression(), LeastSquaresClassifier()], ids=str)
def test_forgetting_blames_dependent_columns_and_not_rows(system: Any) -> None:
    y = Y if isinstance(system, LinearRegression) else LABELS
    with pytest.warns(AdalineWarning, match=SAID):
        system.partial_fit(DEPENDENT, y)
    with pytest.raises(UnsafeForget, match=r"x2 = x0 \+ 2 x1") as caught:
        system.forget(DEPENDENT[:5], y[:5])
    assert "too few rows" not in str(caught.value)


@pytest.mark.parametrize(
    "system",
    [Perceptron(epochs=5), Pocket(epochs=5), KeslerPerceptron(epochs=5), LMS(rate=0.01), LMS(), Adaline(),
     SigmoidPerceptron(), SigmoidPerceptron(mode="online"), Perceptron(epochs=5, standardize=True)],
    ids=str,
)  # fmt: skip
def test_a_constant_column_is_noted_by_online_systems(system: Any) -> None:
    X = np.column_stack([TWO, np.full(60, 3.0)])
    y = Y if isinstance(system, LMS) else LABELS
    told(lambda: system.fit(X, y))
    assert "column x2 is constant" in system.certificate_.advice
    told(lambda: system.fit(TWO, y))
    assert "constant" not in system.certificate_.advice


@pytest.mark.parametrize("scheme", [OneVsRest, OneVsOne])
def test_a_scheme_says_what_its_machines_say_once_and_by_name(scheme: Any) -> None:
    frame = pd.DataFrame(DEPENDENT, columns=["age", "size", "both"])
    y = np.digitize(Y, [-0.5, 0.5])
    said = told(lambda: scheme(LogisticRegression()).fit(frame, y))
    about = [one for one in said if "linear combinations" in one]
    assert len(about) == 1
    assert "both = age + 2 size" in about[0]
    apart = told(lambda: scheme(LogisticRegression()).fit(frame[["age"]], np.digitize(frame["age"], [-0.5, 0.5])))
    assert all("mostly along age" in one for one in apart)
    assert len(apart) == 1  # of two machines out of three, or of all
    assert (re.match(r"0 against the rest, 2 against the rest: ", apart[0]) is not None) == (scheme is OneVsRest)


@pytest.mark.parametrize(
    "system",
    [FisherDiscriminant(), *(GaussianClassifier(covariance=form) for form in ("shared", "full", "diag"))],
    ids=str,
)
def test_a_column_that_is_constant_within_classes_is_not_ignored_in_silence(system: Any) -> None:
    X = pd.DataFrame({"a": TWO[:, 0], "group": LABELS.astype(float)})
    with pytest.warns(AdalineWarning, match="nothing varies there within any class: group"):
        system.fit(X, LABELS)
    assert "nothing varies there within any class: group" in system.certificate_.advice
    assert "constant" not in system.certificate_.advice
    assert told(lambda: system.fit(X[["a"]], LABELS)) == []
    assert told(lambda: type(system)().partial_fit(X[:4], LABELS[:4], classes=[0, 1])) == []  # more rows can follow
    assert told(lambda: type(system)().fit(X[["a"]][:2], [0, 1])) == []


def test_separation_is_told_without_repetition() -> None:
    (said,) = told(lambda: LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]))
    assert said.count("no maximum") == said.count("plane") == 1
    assert "penalty='auto'" in said


def test_names_with_spaces_are_quoted_in_combinations() -> None:
    X = pd.DataFrame({"a b": TWO[:, 0], "2nd": TWO[:, 1], "c-d": 2 * TWO[:, 0] + TWO[:, 1]})
    with pytest.warns(AdalineWarning, match="`c-d` = 2 `a b` [+] `2nd`"):
        LinearRegression().fit(X, Y)


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("n", [100, 400])
def test_quantiles_of_zeros_and_ones_make_no_noise(n: int, quantile: float) -> None:
    rng = np.random.default_rng(n)
    for X in (rng.normal(size=(n, 3)), rng.integers(0, 2, (n, 3)).astype(float)):
        model = RobustRegression(loss="quantile", quantile=quantile)
        assert told(lambda X=X, model=model: model.fit(X, rng.integers(0, 2, n)).summary()) == []


def test_who_fitted_in_one_go_is_not_told_to() -> None:
    X = np.vander(np.linspace(0, 1, 200), 14) + 1e6
    model = LinearRegression()
    told(lambda: model.fit(X, np.linspace(0, 1, 200)))
    assert str(model.certificate_.status) == "rank uncertain"
    assert "one go" not in model.certificate_.advice
    told(lambda: model.partial_fit(X, np.linspace(0, 1, 200)))
    assert "one go" in model.certificate_.advice
