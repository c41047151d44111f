"""Activations: derivatives against differences, inverses, and that nothing overflows."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.activations import ACTIVATIONS, Activation
from adaline.losses import LOSSES, Composed, SigmoidSquared, Squared, TanhSquared

EACH = pytest.mark.parametrize("g", ACTIVATIONS.values(), ids=ACTIVATIONS)


def bumped(z: np.ndarray, step: float) -> np.ndarray:
    """Return z with its first column moved."""
    out = z.copy()
    out[:, 0] += step
    return out


@EACH
def test_derivatives_are_those_of_the_value(g: Activation) -> None:
    z = np.random.default_rng(0).normal(size=(40, 2))
    z = z[np.abs(z[:, 0]) > 1e-3]
    h = 1e-5
    for f, derivative in ((g.value, g.slope), (g.slope, g.bend)):
        found = (f(bumped(z, h))[:, 0] - f(bumped(z, -h))[:, 0]) / (2 * h)
        np.testing.assert_allclose(derivative(z)[:, 0], found, atol=1e-9)


@EACH
def test_nothing_overflows_where_the_value_does_not(g: Activation) -> None:
    z = np.array([[-700.0, 0.0], [0.0, 700.0], [-30.0, 30.0]])
    with np.errstate(over="raise", invalid="raise"):
        assert all(np.isfinite(f(z)).all() for f in (g.value, g.slope, g.bend))


@pytest.mark.parametrize("name", ["identity", "tanh", "logistic", "exp", "softplus"])
def test_inverses(name: str) -> None:
    g, y = ACTIVATIONS[name], np.array([0.05, 0.5, 0.9])
    np.testing.assert_allclose(g.value(g.inverse(y)), y, rtol=1e-13)


@pytest.mark.parametrize(("name", "built_in"), [("logistic", SigmoidSquared()), ("tanh", TanhSquared())])
def test_the_squared_error_through_a_sigmoid_is_the_built_in_loss(name: str, built_in: SigmoidSquared) -> None:
    rng = np.random.default_rng(1)
    z, t = 4 * rng.normal(size=(100, 3)), rng.uniform(size=(100, 3))
    composed = Composed(Squared(), ACTIVATIONS[name])
    for f in ("value", "slope", "curvature"):
        np.testing.assert_allclose(getattr(composed, f)(z, t), getattr(built_in, f)(z, t), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(composed.mean(z), built_in.mean(z))


@pytest.mark.parametrize("name", ["identity", "tanh", "logistic", "exp", "softplus"])
@pytest.mark.parametrize("loss", ["squared", "huber", "tukey", "poisson", "logistic"])
def test_derivatives_of_composed_losses(loss: str, name: str) -> None:
    rng = np.random.default_rng(2)
    z, t, h = rng.normal(size=(50, 1)), rng.uniform(size=(50, 1)), 1e-5
    composed = Composed(LOSSES[loss](), ACTIVATIONS[name])
    for f, derivative in ((composed.value, composed.slope), (composed.slope, composed.curvature)):
        np.testing.assert_allclose(derivative(z, t), (f(z + h, t) - f(z - h, t)) / (2 * h), atol=2e-8)
