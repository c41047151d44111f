"""Richness chosen by `select` against the best on fresh rows (S3: square wave, radial functions; S4: overfitting)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from adaline import LinearRegression, Ridge, basis, learning_curve, select
from adaline.arrays import Array

Draw = Callable[[np.random.Generator, int], tuple[Array, Array]]


def square_wave(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    x = rng.uniform(-np.pi, np.pi, (n, 1))
    return x, np.sign(x[:, 0]) + rng.normal(0, 0.4, n)


def bumps(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    x = rng.uniform(-3, 3, (n, 1))
    return x, np.sin(2 * x[:, 0]) * np.exp(-(x[:, 0] ** 2) / 4) + rng.normal(0, 0.2, n)


FOURIER = LinearRegression(basis=basis.Fourier())
RADIAL = Ridge(penalty=1e-3, basis=basis.Radial())


DOUBLING = [1, 2, 4, 8, 16, 32]


def steps_apart(system: Any, draw: Draw, name: str, seed: int) -> int:
    """How many doublings the choice is from the smallest error on fresh rows."""
    rng = np.random.default_rng(seed)
    X, y = draw(rng, 150)
    fresh, answers = draw(rng, 20_000)
    models = [clone(system).set_params(**{name: value}).fit(X, y) for value in DOUBLING]
    errors = [np.mean((answers - model.predict(fresh)) ** 2) for model in models]
    return abs(select(system, X, y, {name: DOUBLING}).index - int(np.argmin(errors)))


@pytest.mark.parametrize("seed", range(6))
def test_a_square_wave_gets_about_the_best_number_of_frequencies(seed: int) -> None:
    assert steps_apart(FOURIER, square_wave, "basis__terms", seed) <= 1


@pytest.mark.parametrize("seed", range(4))
def test_noisy_bumps_get_about_the_best_number_of_centres(seed: int) -> None:
    assert steps_apart(RADIAL, bumps, "basis__centres", seed) <= 1


def test_the_training_error_falls_and_the_error_on_new_rows_has_a_minimum_within() -> None:
    X, y = square_wave(np.random.default_rng(0), 150)
    curve = select(FOURIER, X, y, terms=DOUBLING).curve
    assert (np.diff(curve.training) < 0).all()
    assert 0 < curve.chosen < len(DOUBLING) - 1
    assert (curve.validation > curve.training).all()


@pytest.mark.slow
def test_a_learning_curve_closes_the_gap() -> None:
    X, y = bumps(np.random.default_rng(0), 400)
    curve = learning_curve(RADIAL, X, y, sizes=[20, 60, 180, 320], folds=5)
    gap = curve.validation - curve.training
    assert (np.diff(gap) < 0).all()
    assert curve.training[0] < curve.training[-1] < curve.validation[-1] < curve.validation[0]
