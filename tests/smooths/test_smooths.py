"""Smooths: what every one of them is, whatever its basis."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from adaline.kernels import native
from adaline.smooths import CubicSpline, CyclicSpline, PenalizedSpline, Smooth, TensorProduct, ThinPlate, diagonal_form
from adaline.smooths.pieces import pieces_reference
from tests.turns import on_every_isa

KNOTS = (0.0, 1.0, 1.5, 4.0, 6.0)
POINTS = np.arange(7.0)[:, None]
SMOOTHS: dict[str, Smooth] = {
    "cubic": CubicSpline(KNOTS),
    "cubic of three knots": CubicSpline(KNOTS[1:4]),
    "cyclic": CyclicSpline(KNOTS),
    "penalized": PenalizedSpline(0.0, 6.0, 7),
    "thin plate": ThinPlate(POINTS, np.ones(7), 5),
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


def test_many_points_of_a_thin_plate_spline_have_the_eigenvectors_of_all() -> None:
    points = np.sort(np.random.default_rng(0).exponential(size=300))[:, None]
    smooth = ThinPlate(points, np.ones(300), 12)
    centred = smooth._centred[1]
    values, vectors = np.linalg.eigh(smooth._radial(centred, centred))
    kept = np.argsort(-np.abs(values))[:12]
    found, along = smooth._largest(centred)
    np.testing.assert_allclose(found, values[kept], rtol=0, atol=1e-14 * abs(values[kept[0]]))
    np.testing.assert_allclose(np.abs(np.sum(along * vectors[:, kept], axis=0)), 1, rtol=1e-13)


@on_every_isa
def test_native_columns_of_curves_are_those_of_the_reference() -> None:
    rng = np.random.default_rng(1)
    for columns, count, periodic, exponent in (
        (1, 2, False, 0),
        (9, 10, True, -3),
        (9, 200, False, 1010),
        (16, 3, False, 5),
    ):
        knots = np.sort(rng.normal(size=count))
        values, curvature = rng.normal(size=(2, count, columns))
        x = np.ldexp(np.concatenate([knots, rng.normal(size=21) * 2]), exponent)
        found, expected = np.full((2, len(x), columns + 2), 7.0)
        given = (exponent, knots, values, curvature, periodic)
        native.cubic_pieces(found[:, 1:-1], x, *given)
        pieces_reference(expected[:, 1:-1], x, *given)
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14 * np.abs(expected).max())
        assert (found[:, [0, -1]] == 7).all()
        lost = np.empty((3, columns))
        native.cubic_pieces(lost, np.array([np.nan, 0.0, np.nan]), *given)
        assert np.isnan(lost[[0, 2]]).all()
        assert np.isfinite(lost[1]).all()
