"""Checks of parameters: what they accept, and how they say what they do not."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier

import adaline
from adaline.basis import BASES, Basis, Radial
from adaline.construction import checks_of
from adaline.errors import AdalineWarning, InvalidParameter
from adaline.inference.coefficients import Coefficients
from adaline.inference.effects import Effects
from adaline.inference.summary import CoefficientTable
from adaline.inference.table import RegressionTable
from adaline.parameters import (
    CLASS_WEIGHT,
    FLAG,
    NONE,
    SEED,
    AnyOf,
    Check,
    Function,
    Having,
    Instance,
    ListOf,
    Number,
    Numbers,
    OneOf,
    WholeNumber,
)
from adaline.systems import LMS, SYSTEMS, UNSUPERVISED, LogisticRegression, Ridge, RobustRegression
from tests.turns import in_turn

CLASSES = [*SYSTEMS.values(), *UNSUPERVISED.values(), *BASES.values()]
PROJECT = Path(__file__).parents[1] / "pyproject.toml"
WEIGHTS = "None, 'balanced' or a dict by labels of numbers of zero or more"
CASES: list[tuple[Check, str, list[Any], list[Any]]] = [
    (Number(), "a number", [0, -1.5, np.float32(2), Fraction(1, 3)], [True, "1", None, np.nan, np.inf, [1.0], 1j]),
    (Number(least=0), "a number of zero or more", [0, 0.0, 3], [-1e-300, -1]),
    (Number(above=0), "a positive number", [1e-300, 1], [0, -1]),
    (Number(0, 1), "a number from 0 to 1", [0, 0.5, 1], [-0.1, 1.1]),
    (Number(above=0, below=1), "between 0 and 1", [0.5], [0, 1]),
    (Number(above=0, most=1), "a number above 0 and at most 1", [0.5, 1], [0, 1.5]),
    (WholeNumber(), "a whole number", [-3, np.int64(2)], [1.0, True, "2"]),
    (WholeNumber(2), "a whole number of 2 or more", [2], [1]),
    (OneOf("full", "tied"), "one of full, tied", ["full"], ["ful", None, 1, ["full"]]),
    (FLAG, "True or False", [True, np.False_], [0, 1, "yes", None]),
    (AnyOf(NONE, FLAG), "None, True or False", [None, True], [0]),
    (AnyOf(OneOf("auto"), Number(0)), "'auto' or a number of zero or more", ["auto", 1], ["aut", -1]),
    (Numbers("weights", (1,)), "weights", [[1, 2], pd.Series([1.0])], [1.0, [[1.0]], [], ["a"], [[1], [1, 2]]]),
    (Numbers("rates", (1, 2), positive=True), "rates", [[1.0], [[2.0]]], [[0.0], [1.0, -1.0]]),
    (
        ListOf(WholeNumber(1), "counts"),
        "counts",
        [[1], (3,), np.array([1]), range(1, 3)],
        [[], [0], "1", {1}, {1: 2}, 1],
    ),
    (Instance(dict, "a dict"), "a dict", [{}], [dict, []]),
    (Function(), "a function", [len, lambda t: t], ["len", 1]),
    (SEED, "None, a whole number or a generator", [None, 0, np.random.default_rng(0), [1, 2]], [-1, True, 1.5, "a"]),
    (CLASS_WEIGHT, WEIGHTS, [None, "balanced", {}, {"a": 0, "b": 2.5}], [{"a": -1}, {"a": "1"}, [1.0], "even"]),
]


@pytest.mark.every
@pytest.mark.parametrize(("check", "wanted", "good", "bad"), CASES, ids=lambda one: one if isinstance(one, str) else "")
def test_checks_accept_what_is_meant_and_name_what_is_not(
    check: Check, wanted: str, good: list[Any], bad: list[Any]
) -> None:
    assert check.wanted == wanted
    for value in good:
        check.check("it", value)
    for value in bad:
        with pytest.raises(InvalidParameter) as caught:
            check.check("it", value)
        assert str(caught.value).startswith(f"it must be {wanted}, got {value!r}")


@pytest.mark.parametrize(
    ("check", "value", "reason"),
    [
        (Numbers("weights"), [1.0, np.nan], "numbers must be finite"),
        (Numbers("weights", (1,)), np.ones((2, 3)), r"its shape is \(2, 3\)"),
        (Having("fit", "predict", what="a model"), object(), "it lacks fit, predict"),
        (Having("keys", what="a dict"), dict, "it is a class"),
        (WholeNumber(0, hint="delay d instead"), -1, "got -1; delay d instead"),
        (AnyOf(NONE, Numbers("a"), Numbers("b")), [np.inf], r"got \[inf\]; numbers must be finite$"),
    ],
)
def test_messages_say_why(check: Check, value: Any, reason: str) -> None:
    with pytest.raises(InvalidParameter, match=reason):
        check.check("it", value)
    with pytest.raises(InvalidParameter) as caught:  # which is cut
        Number().check("it", list(range(10_000)))
    assert len(str(caught.value)) < 300


def words_in(hint: Any) -> list[str]:
    """Return the words of all Literals in a type."""
    args = get_args(hint)
    return list(args) if get_origin(hint) is Literal else [word for one in args for word in words_in(one)]


def words_of(check: Check) -> list[str]:
    """Return the words that a check accepts."""
    parts = check.checks if isinstance(check, AnyOf) else (check,)
    return [word for one in parts if isinstance(one, OneOf) for word in one.words]


@pytest.mark.every
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_the_type_of_a_parameter_has_the_words_of_its_check(cls: Any) -> None:
    """Registries of losses, links and activations among them."""
    hints, checks = get_type_hints(cls), checks_of(cls)
    for name in cls._get_param_names():
        assert sorted(words_in(hints[name])) == sorted(words_of(checks[name])), name


WRONG = [
    'Ridge(penalty="foo")',
    'Ridge("foo")',
    "Ridge(1.0, 2.0)",
    'LinearRegression(solver="qrr")',
    'GaussianClassifier(covariance="ful")',
    'GeneralizedLinear(loss="poison")',
    'GeneralizedLinear(link="logg")',
    'GaussianMixture(covariance_type="ful")',
    'Perceptron(mode="on")',
    'select(Ridge(), [[1.0]], [1.0], method="lo")',
    'open_table("t.csv", target="y", missing="dorp")',
    'open_table("t.csv", target="y", unseen="others")',
    'open_table("t.csv", formula="y ~ x | f", singletons="dropped")',
    'compare("t.csv", task="guessing")',
    'LinearRegression().summary(errors="HC9")',
    'LogisticRegression().test("x0", distribution="chi2")',
    'RobustRegression().summary(errors="HC1")',
    'LinearRegression().summary().to_frame("arrow")',
    'effects(LinearRegression(), [[1.0]], at="median")',
    'regression_table(LinearRegression(), below="error")',
    'export_onnx(LinearRegression(), "m.onnx", dtype="int8")',
]
RIGHT = """LinearRegression().summary(errors="HC3", distribution="t"), open_table("t.csv", target="y", missing="drop")
Ridge(1.0), Ridge("auto"), Ridge([1.0, 2.0]), LinearRegression(solver="qr"), KMeans(3), GaussianMixture(4)
GeneralizedLinear("poisson", link="log"), Perceptron(mode="batch", class_weight="balanced"), basis.Polynomial(2)
"""


def public_calls() -> list[Any]:
    """Return the functions of the package, and the methods of systems and of what they return."""
    found = [one for name in adaline.__all__ if inspect.isfunction(one := getattr(adaline, name))]
    for cls in (*CLASSES, CoefficientTable, Coefficients, Effects, RegressionTable):
        found += [one for name, one in inspect.getmembers(cls, inspect.isfunction) if not name.startswith("_")]
    return found


def test_arguments_that_are_words_have_their_words_as_type() -> None:
    """Where the documentation of an argument names words, its type is not `str`."""
    for call in public_calls():
        for name, parameter in inspect.signature(call).parameters.items():
            listed = re.search(rf"^ +(?:\w+, )*{name}(?:, \w+)* : (.*)$", call.__doc__ or "", re.MULTILINE)
            if parameter.annotation in ("str", "str | None"):
                assert listed is None or not re.search(r'"\w', listed[1]), f"{call.__qualname__}({name}=): {listed[1]}"


@pytest.mark.night
def test_mypy_refuses_wrong_words(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    file = tmp_path / "calls.py"
    lines = ["from adaline import *", *RIGHT.splitlines()]
    file.write_text("\n".join([*lines, *WRONG]))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(PROJECT), str(file)],
        cwd=PROJECT.parent,
        capture_output=True,
        text=True,
    )
    refused = re.findall(r"calls\.py:(\d+): error", done.stdout)
    assert sorted(map(int, set(refused))) == [len(lines) + 1 + i for i in range(len(WRONG))], done.stdout


IGNORED = [(cls, name) for cls in CLASSES for name in getattr(cls, "used_with", {})]
OTHERWISE: dict[str, Any] = {
    **{"df": 7, "average": True, "rule": "one-standard-error", "points": 7, "ratio": 0.5, "scoring": "r2"},
    **{"quantile": 0.9, "threshold": 9.0, "scale": 7.0, "init": [1.0, 2.0, 3.0], "standardize": True, "folds": 9},
    **{"rate": 0.1, "tol": 0.5, "stop_error": 1e9, "epochs": 3, "schedule": "1/t", "shuffle": True},
    **{"criterion": "folds", "eps": 0.5, "forgetting": 0.5, "regularization": 9.0, "shrinkage": 0.5},
}
"""Values that are not the default, and would change a fit that uses them."""
UNUSED: dict[str, Any] = {
    **{"loss": "absolute", "penalty": 0.0, "l1": 0.0, "solver": "auto", "mode": "batch", "rule": "lms"},
    **{"rate": "auto", "mixing": 1, "covariance": "identity", "centres": np.eye(2), "knots": [0.1], "criterion": "gcv"},
}
"""Values of the other parameter with which none of them is used."""
MORE: dict[tuple[str, str], dict[str, Any]] = {
    ("SigmoidPerceptron", "stop_error"): {"mode": "online"},
    ("AdaptiveFilter", ""): {"rate": 0.01},
}


@pytest.mark.every
@pytest.mark.parametrize(("cls", "name"), IGNORED)
@pytest.mark.filterwarnings("ignore")
def test_a_parameter_that_has_no_effect_is_named(cls: Any, name: str) -> None:
    rng = np.random.default_rng(0)
    X, others = rng.normal(size=(40, 2)), {other: UNUSED[other] for other in cls.used_with[name]}
    others |= MORE.get((cls.__name__, name), MORE.get((cls.__name__, ""), {}))
    value = "random" if cls is Radial else OTHERWISE[name]
    y = (X[:, 0] > 0).astype(int) if is_classifier(cls()) else X @ [1.0, 2.0] + rng.standard_t(2, 40)
    plain, told = cls(**others), cls(**others, **{name: value})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plain.fit(X, y)
        assert not [one for one in caught if f"ignores {name}=" in str(one.message)]
        told.fit(X, y)
    assert [one for one in caught if f"{cls.__name__} ignores {name}=" in str(one.message)]
    act = "transform" if isinstance(plain, Basis) else "predict"
    np.testing.assert_array_equal(getattr(told, act)(X), getattr(plain, act)(X))


@in_turn("name", ["Adaline", "Perceptron", "SigmoidPerceptron"])
def test_mixing_is_of_the_rule_in_order(name: str) -> None:
    with pytest.raises(InvalidParameter, match="mixing=2 takes the place of epochs of mode='online'"):
        SYSTEMS[name](mode="batch", mixing=2).fit(np.arange(4.0)[:, None], [0, 1, 0, 1])


def test_a_parameter_that_has_an_effect_is_not_named() -> None:
    X, y = np.arange(3.0)[:, None], np.arange(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AdalineWarning)
        RobustRegression(loss="quantile", quantile=0.9).fit(np.arange(9.0)[:, None], np.arange(9.0) ** 2)
        Ridge(penalty=0.0, standardize=False).fit(X, y)
        LMS(rate=0.01, schedule="1/t").fit(X, y)
        LogisticRegression(l1=1.0, standardize=True).fit(np.arange(4.0)[:, None], [0, 1, 0, 1])
