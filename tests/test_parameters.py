"""Checks of parameters: what they accept, and how they say what they do not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline.errors import InvalidParameter
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
        [[1, 2], (3,), np.array([1]), range(1, 3)],
        [[], [0], "12", {1}, {1: 2}, 1],
    ),
    (Instance(dict, "a dict"), "a dict", [{}], [dict, []]),
    (Function(), "a function", [len, lambda t: t], ["len", 1]),
    (SEED, "None, a whole number or a generator", [None, 0, np.random.default_rng(0), [1, 2]], [-1, True, 1.5, "a"]),
    (
        CLASS_WEIGHT,
        "None, 'balanced' or a dict by labels of numbers of zero or more",
        [None, "balanced", {}, {"a": 0, "b": 2.5}],
        [{"a": -1}, {"a": "1"}, [1.0], "even"],
    ),
]


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


def test_long_values_are_cut_in_messages() -> None:
    with pytest.raises(InvalidParameter) as caught:
        Number().check("it", list(range(10_000)))
    assert len(str(caught.value)) < 300
