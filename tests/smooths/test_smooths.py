"""Smooths: what every one of them is, whatever its basis."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from adaline.smooths import CubicSpline, CyclicSpline, PenalizedSpline, Smooth, TensorProduct, ThinPlate, diagonal_form

KNOTS = (0.0, 1.0, 1.5, 4.0, 6.0)
POINTS = tuple((float(x),) for x in range(7))
SMOOTHS: dict[str, Smooth] = {
    "cubic": CubicSpline(KNOTS),
    "cubic of three knots": CubicSpline(KNOTS[1:4]),
    "cyclic": CyclicSpline(KNOTS),
    "penalized": PenalizedSpline(0.0, 6.0, 7),
    "thin plate": ThinPlate(POINTS, (1.0,) * 7, 5),
    "tensor": TensorProduct((CubicSpline(KNOTS), PenalizedSpline(0.0, 6.0, 5))),
}


@pytest.mark.parametrize("name", SMOOTHS)
def test_penalties_see_neither_constants_nor_straight_lines_and_become_diagonal(name: str) -> None:
    smooth = SMOOTHS[name]
    x = np.linspace(-1, 8, 100)[:, None]
    x = np.column_stack([x, 7 * np.sin(9 * x) ** 2]) if name == "tensor" else x
    columns, penalty = smooth.columns(x), smooth.penalty()
    assert columns.shape == (100, smooth.width)
    for target in [np.ones(100)] if name == "cyclic" else [np.ones(100), x[:, 0]]:
        beta = np.linalg.lstsq(columns, target)[0]
        np.testing.assert_allclose(columns @ beta, target, atol=1e-10)
        np.testing.assert_allclose(penalty @ beta, 0, atol=1e-9)
    form = diagonal_form(smooth, columns.sum(axis=0))
    whole = form.transform.T @ penalty @ form.transform
    np.testing.assert_allclose(whole, np.diag(form.weights.sum(axis=0)), atol=1e-8)
    assert form.transform.shape == (smooth.width, smooth.width - 1)
    if name != "tensor":
        np.testing.assert_allclose((columns @ form.transform).sum(axis=0), 0, atol=1e-10)


@pytest.mark.parametrize("name", ["cubic", "cyclic", "thin plate"])
def test_a_penalty_is_the_integral_of_the_squared_second_derivative(name: str) -> None:
    smooth = SMOOTHS[name]
    beta, h = np.sin(np.arange(smooth.width)), 1e-3

    def curvature(x: float) -> float:
        low, mid, high = smooth.columns(np.array([[x - h], [x], [x + h]])) @ beta
        return float((high - 2 * mid + low) / h**2) ** 2

    breaks = sorted({*KNOTS, *map(float, range(7))})
    total = sum(quad(curvature, a + h, b - h, epsabs=1e-8)[0] for a, b in pairwise(breaks))
    assert total == pytest.approx(beta @ smooth.penalty() @ beta, rel=0.01)


def test_cyclic_curves_repeat_and_others_continue_as_lines() -> None:
    x = np.array([[-2.0], [-1.0], [7.0], [8.0], [9.0]])
    np.testing.assert_allclose(SMOOTHS["cyclic"].columns(x), SMOOTHS["cyclic"].columns(x + 6), atol=1e-12)
    for name in ("cubic", "penalized"):
        np.testing.assert_allclose(np.diff(SMOOTHS[name].columns(x[2:]), 2, axis=0), 0, atol=1e-12)


def test_terms_that_may_vanish_have_every_direction_penalised() -> None:
    form = diagonal_form(SMOOTHS["cubic"], SMOOTHS["cubic"].columns(np.arange(7.0)[:, None]).sum(axis=0), select=True)
    assert form.weights.shape == (2, 4)
    assert (form.weights.sum(axis=0) > 0).all()
