"""Sums against their definitions, row by row."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import losses
from adaline.block import Block, Shape
from adaline.sums import TwofoldObjective, WrongRows
from adaline.sums.targets import LargestTarget
from tests.sums.examples import FEATURES, rows_of, twofold_point


@pytest.mark.parametrize("targets", [1, 3])
def test_wrong_rows_are_those_beside_or_behind_their_plane(targets: int) -> None:
    rng = np.random.default_rng(targets)
    x, weight, theta = rng.normal(size=(40, 2)), rng.uniform(0.5, 2.0, 40), rng.normal(size=(targets, 3))
    own = rng.integers(0, max(targets, 2), 40)
    t = np.where(own == 1, 1.0, -1.0)[:, None] if targets == 1 else 2.0 * np.eye(targets)[own] - 1
    sums = WrongRows.zero(Shape(2, targets))
    sums.add(Block(x, t, weight), theta)
    rows = np.column_stack([np.ones(40), x])
    z = rows @ theta.T
    missed = (z[:, 0] > 0) != (own == 1) if targets == 1 else z.argmax(axis=1) != own
    assert 0 < missed.sum() < 40
    np.testing.assert_allclose(sums.missed, [weight[missed].sum()], rtol=1e-13)
    for k in range(targets):
        wrong = t[:, k] * z[:, k] <= 0
        np.testing.assert_allclose(sums.count[k], weight[wrong].sum(), rtol=1e-13)
        np.testing.assert_allclose(sums.criterion[k], weight[wrong] @ np.abs(z[wrong, k]), rtol=1e-13)
        np.testing.assert_allclose(sums.steps[k], (weight * t[:, k])[wrong] @ rows[wrong], rtol=1e-12, atol=1e-13)
    assert sums.finite
    for part in (sums.criterion, sums.steps):
        before, part[0] = part[0].copy(), np.nan
        assert not sums.finite
        part[0] = before


def test_the_largest_target_of_a_row_is_that_of_all_its_targets() -> None:
    t = np.array([[1.0, -5.0, 2.0], [0.5, 0.0, -0.25], [-3.0, 3.5, 0.0]])
    np.testing.assert_array_equal(LargestTarget().read(Block(np.zeros((3, 1)), t)), [5.0, 0.5, 3.5])


@pytest.mark.parametrize("loss", [losses.Logistic(), losses.Poisson(), losses.Squared()], ids=lambda loss: loss.name)
def test_the_rounding_of_a_gradient_has_an_energy_where_all_rows_curve(loss: losses.Loss) -> None:
    rows = rows_of(50)
    sums = TwofoldObjective.zero(Shape(FEATURES, 1))
    sums.add(Block(rows.x, np.abs(rows.t[:, :1]) > 0.5, rows.weight), twofold_point(loss))
    assert 0 < sums.energy < 1e-20 * max(1.0, sums.value)
