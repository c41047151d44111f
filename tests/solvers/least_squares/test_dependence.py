"""Combinations of columns in words: fractions where weights are fractions, and no others."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from adaline.solvers.least_squares.dependence import neat


def test_weights_are_fractions_where_they_are_near_one() -> None:
    for value in (1 / 3, 22 / 7, 5 / 9, -100 / 3, 1.8, 0.001):
        assert neat(value * (1 + 1e-11)) == value


def test_no_weight_becomes_a_fraction_by_chance() -> None:
    values = np.random.default_rng(0).uniform(0.1, 1.0, 1000) * 10.0 ** np.arange(-3, 7)[:, None]
    assert np.mean(neat(values) != values) < 0.002


def test_the_smallest_numbers_are_kept() -> None:
    assert [neat(value) for value in (5e-324, -1e-316)] == [5e-324, -1e-316]


def test_many_numbers_give_the_fractions_that_exact_arithmetic_gives() -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(-5000, 5000, 2000) / rng.integers(1, 1100, 2000) * 10.0 ** rng.integers(-3, 6, 2000)
    values *= 1 + 1e-9 * rng.standard_normal(2000)
    tolerance = np.maximum(1e-9 * np.abs(values), 1e-300)
    most = np.clip(np.sqrt(1e-3 / tolerance), 1, 1000).astype(int)
    nearest = [Fraction(v).limit_denominator(int(d)) for v, d in zip(values.tolist(), most, strict=True)]
    exact = np.array([float(one) for one in nearest])
    assert np.array_equal(neat(values), np.where(np.abs(exact - values) <= tolerance, exact, values))
