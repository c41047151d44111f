"""Activations: derivatives against differences, inverses, and that nothing overflows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adaline.activations import ACTIVATIONS, Activation
from adaline.losses import LOSSES, Composed, SigmoidSquared, Squared, TanhSquared
from tests.turns import in_turn

STEP = 1e-5
MONOTONE = ["identity", "tanh", "logistic", "exp", "softplus"]


def slope_of(f: Any, z: Any, *rest: Any) -> Any:
    """Return the derivative of a function by the first column."""
    step = np.eye(z.shape[1])[:1] * STEP
    return ((f(z + step, *rest) - f(z - step, *rest)) / (2 * STEP))[:, 0]


@pytest.mark.parametrize("g", ACTIVATIONS.values(), ids=ACTIVATIONS)
def test_derivatives_are_those_of_the_value_and_nothing_overflows_where_it_does_not(g: Activation) -> None:
    z = np.random.default_rng(0).normal(size=(40, 2))
    z = z[np.abs(z[:, 0]) > 1e-3]
    for f, derivative in ((g.value, g.slope), (g.slope, g.bend)):
        np.testing.assert_allclose(derivative(z)[:, 0], slope_of(f, z), atol=1e-9)
    far = np.array([[-700.0, 0.0], [0.0, 700.0], [-30.0, 30.0]])
    with np.errstate(over="raise", invalid="raise"):
        assert all(np.isfinite(f(far)).all() for f in (g.value, g.slope, g.bend))


@in_turn("name", MONOTONE)
def test_inverses(name: str) -> None:
    g, y = ACTIVATIONS[name], np.array([0.05, 0.5, 0.9])
    np.testing.assert_allclose(g.value(g.inverse(y)), y, rtol=1e-13)


@pytest.mark.parametrize(("name", "built_in"), [("logistic", SigmoidSquared()), ("tanh", TanhSquared())])
def test_the_squared_error_through_a_sigmoid_is_the_built_in_loss(name: str, built_in: SigmoidSquared) -> None:
    rng = np.random.default_rng(1)
    z, t, composed = 4 * rng.normal(size=(100, 3)), rng.uniform(size=(100, 3)), Composed(Squared(), ACTIVATIONS[name])
    for f in ("value", "slope", "curvature"):
        np.testing.assert_allclose(getattr(composed, f)(z, t), getattr(built_in, f)(z, t), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(composed.mean(z), built_in.mean(z))


@in_turn("name", MONOTONE)
@in_turn("loss", ["squared", "huber", "tukey", "poisson", "logistic"])
def test_derivatives_of_composed_losses(loss: str, name: str) -> None:
    rng = np.random.default_rng(2)
    z, t, composed = rng.normal(size=(50, 1)), rng.uniform(size=(50, 1)), Composed(LOSSES[loss](), ACTIVATIONS[name])
    for f, derivative in ((composed.value, composed.slope), (composed.slope, composed.curvature)):
        np.testing.assert_allclose(derivative(z, t)[:, 0], slope_of(f, z, t), atol=2e-8)
