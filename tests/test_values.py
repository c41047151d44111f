"""Exact sums: those of fractions, however the values are cut and ordered."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from adaline.errors import InvalidData
from adaline.values import UNIT_EXPONENT, exact_mean, exact_sum

RNG = np.random.default_rng(0)
CASES: dict[str, Any] = {
    "none": np.empty(0),
    "zeros": np.array([0.0, -0.0]),
    "normal": RNG.normal(3.0, 1e3, 20_000),
    "all magnitudes": np.ldexp(RNG.normal(size=3000), RNG.integers(-1074, 1023, 3000)),
    "subnormal": 5e-324 * RNG.integers(-9, 9, 100),
    "at the end of the range": np.full(50, np.finfo(float).max),
    "cancelling": np.concatenate([[1e308, 1e308, 1.0, -1e308], np.full(9000, 0.1), [-1e308]]),
}


@pytest.mark.parametrize("name", CASES)
def test_sums_are_those_of_fractions(name: str) -> None:
    x = CASES[name]
    exact = sum(map(Fraction, x.tolist()), Fraction(0))
    assert Fraction(exact_sum(x), 2**UNIT_EXPONENT) == exact
    assert exact_sum(RNG.permutation(x)[::-1]) == exact_sum(x) == sum(map(exact_sum, np.array_split(x, 7)))
    if len(x):
        assert exact_mean(exact_sum(x), len(x)) == float(exact / len(x))


def test_what_is_not_finite_has_no_sum() -> None:
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(InvalidData, match="not finite"):
            exact_sum(np.array([1.0, bad]))
