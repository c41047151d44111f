"""Richness chosen by `select` against the best on fresh rows (S3: square wave, radial functions; S4: overfitting)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from adaline import LeastSquaresClassifier, LinearRegression, Ridge, basis, learning_curve, select

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], tuple[Array, Array]]


def square_wave(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    x = rng.uniform(-np.pi, np.pi, (n, 1))
    return x, np.sign(x[:, 0]) + rng.normal(0, 0.4, n)


def bumps(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    x = rng.uniform(-3, 3, (n, 1))
    return x, np.sin(2 * x[:, 0]) * np.exp(-(x[:, 0] ** 2) / 4) + rng.normal(0, 0.2, n)


FOURIER = make_pipeline(basis.Fourier(), LinearRegression())
RADIAL = make_pipeline(basis.Radial(), Ridge(penalty=1e-3))


def steps_apart(system: Any, draw: Draw, name: str, values: list[int], seed: int, **how: Any) -> int:
    """How many steps of the list the choice is from the smallest error on fresh rows, of those within a hundredth."""
    rng = np.random.default_rng(seed)
    X, y = draw(rng, 150)
    fresh, answers = draw(rng, 20_000)
    chosen = select(system, X, y, {name: values}, **how).index
    errors = []
    for value in values:
        model = clone(system).set_params(**{name: value}).fit(X, y)
        errors.append(np.mean((answers - model.predict(fresh)) ** 2))
    near = np.flatnonzero(np.array(errors) <= 1.01 * min(errors))
    return int(np.abs(near - chosen).min())


@pytest.mark.parametrize("seed", range(8))
def test_a_square_wave_gets_about_the_best_number_of_frequencies(seed: int) -> None:
    assert steps_apart(FOURIER, square_wave, "fourier__terms", [1, 2, 3, 5, 7, 9, 13, 17, 25, 35], seed) <= 1


@pytest.mark.parametrize("seed", range(8))
def test_noisy_bumps_get_about_the_best_number_of_centres(seed: int) -> None:
    assert steps_apart(RADIAL, bumps, "radial__centres", [2, 4, 6, 8, 12, 16, 24, 40], seed) <= 1
