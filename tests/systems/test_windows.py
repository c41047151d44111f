"""A window slides: a new row is learned, the oldest forgotten, for as long as the digits last that are claimed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier

from adaline import LinearRegression
from adaline.arrays import Array
from adaline.block import Block, Shape
from adaline.errors import UnsafeForget
from adaline.penalties import no_penalty
from adaline.solvers.least_squares.direct import output_digits, solve_sums
from adaline.sums import Moments
from adaline.systems import SYSTEMS
from tests.cases import reading

APART = {"WienerFilter", "AdditiveModel"}  # of signals; with knots of the first rows (test_additive_parts)
FORGETTING = [name for name, cls in SYSTEMS.items() if hasattr(cls, "forget") and name not in APART]
WINDOW, COLUMNS = 200, 3


class Window:
    """The last rows of a stream, all of columns about zero, so that the constant is near zero too."""

    def __init__(self, labels: bool, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.slopes = self.rng.normal(size=COLUMNS)
        self.labels = labels
        self.rows = [self.draw() for _ in range(WINDOW)]

    def draw(self, size: float = 1.0) -> tuple[Array, Array]:
        x = size * self.rng.normal(size=(1, COLUMNS))
        t = x @ self.slopes + 0.5 * self.rng.normal(size=1)
        return x, (t > 0).astype(float) if self.labels else t

    def slide(self, model: Any, size: float = 1.0) -> None:
        """Let the model learn one more row, and forget the oldest."""
        self.rows.append(self.draw(size))
        model.partial_fit(*self.rows[-1])
        model.forget(*self.rows[0])
        del self.rows[0]

    def table(self) -> tuple[Array, Array]:
        """Return the rows (n, D) and targets (n,)."""
        return np.concatenate([x for x, _ in self.rows]), np.concatenate([t for _, t in self.rows])


@pytest.mark.parametrize("name", FORGETTING)
def test_a_window_slides_without_being_refused(name: str) -> None:
    window = Window(is_classifier(SYSTEMS[name]()))
    model = SYSTEMS[name]().fit(*window.table())
    for cycle in range(120):
        window.slide(model)
        if cycle % 40 == 39:
            X, y = window.table()
            expected = reading(SYSTEMS[name]().fit(X, y), X)
            np.testing.assert_allclose(reading(model, X), expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(3))
def test_a_near_zero_constant_is_no_reason_to_refuse(seed: int) -> None:
    """It has few digits of its own, and predictions have many."""
    window = Window(labels=False, seed=seed)
    X, y = window.table()
    y = y - y.mean() + X.mean(axis=0) @ LinearRegression().fit(X, y).coef_  # the constant is zero but for rounding
    model = LinearRegression().fit(X, y)
    extra = window.draw()
    model.partial_fit(*extra).forget(*extra)
    assert model.certificate_.digits < 9
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), rtol=0, atol=1e-12)


def test_sums_of_a_window_that_slides_keep_the_digits_they_claim() -> None:
    """For a million cycles at least, by the growth of the bound; what is claimed holds at each checkpoint."""
    rng = np.random.default_rng(0)
    shape, none = Shape(COLUMNS, 1), no_penalty(COLUMNS)

    def draw(n: int) -> Array:
        x = rng.normal(size=(n, COLUMNS))
        return np.column_stack([x, x.sum(axis=1) + 0.1 * rng.normal(size=n)])

    def moments(rows: Array) -> Moments:
        out = Moments.zero(shape)
        out.add(Block(np.ascontiguousarray(rows[:, :COLUMNS]), np.ascontiguousarray(rows[:, COLUMNS:])))
        return out

    z = draw(WINDOW)
    total, cycles = moments(z), 10_000
    for cycle in range(cycles):
        k, new = cycle % WINDOW, draw(1)
        total.merge(moments(new))
        total.subtract(moments(z[[k]]))
        z[k] = new
        if cycle % 2500 == 2499:
            found, exact = (solve_sums(sums, True, none).solution.theta for sums in (total, moments(z)))
            claimed = 10 ** -output_digits(total, True, none)
            assert np.abs(found - exact).max() <= claimed * np.abs(exact).sum()
    assert output_digits(total, True, none) - math.log10(1e6 / cycles) >= 9


@pytest.mark.parametrize("size", [1e2, 1e6])
def test_large_rows_that_pass_through_cost_digits_or_are_refused(size: float) -> None:
    window = Window(labels=False)
    model = LinearRegression().fit(*window.table())
    refused = None
    try:
        for cycle in range(300):
            window.slide(model, size if cycle < 3 else 1.0)
    except UnsafeForget as error:
        refused = str(error)
    if size == 1e6:
        assert "Refit to the remaining rows" in str(refused)
        return
    assert refused is None
    X, y = window.table()
    expected = LinearRegression().fit(X, y).predict(X)
    np.testing.assert_allclose(model.predict(X), expected, rtol=0, atol=1e-9 * np.abs(expected).max())
