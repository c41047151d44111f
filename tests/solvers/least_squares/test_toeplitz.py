"""Levinson's recursion against dense matrices, and its bounds against the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import solve_toeplitz, toeplitz
from scipy.signal import lfilter

from adaline.penalties import RidgePenalty, no_penalty
from adaline.solvers.least_squares import choose
from adaline.solvers.least_squares.direct import solve_sums
from adaline.solvers.least_squares.toeplitz import solve_wiener, toeplitz_factor
from adaline.sources.signal import SignalSource
from adaline.sums import Moments

COLOURS = {"white": [1.0], "pink": [1.0, -0.9], "resonant": [1.0, -1.8, 0.9], "drifting": [1.0, -0.999]}


def windowed(colour: list[float], taps: int, n: int = 4000) -> SignalSource:
    rng = np.random.default_rng(taps)
    x = lfilter([1.0], colour, rng.standard_normal(n))
    d = lfilter(rng.standard_normal(taps), [1.0], x) + rng.standard_normal(n)
    return SignalSource(x[:, None], np.concatenate([d, np.zeros(taps - 1)])[:, None], (taps,))


def correlations(source: SignalSource) -> tuple[Any, Any]:
    """r_xx and r_xy as sums, in 80 bits."""
    x, d = source.x[:, 0].astype(np.longdouble), source.targets.values[:, 0].astype(np.longdouble)
    n = len(x)
    lags = range(source.longest)
    return tuple(np.array([y[k:n] @ x[: n - k] for k in lags]).astype(float) for y in (x, d))


@pytest.mark.parametrize("taps", [1, 2, 17, 64])
@pytest.mark.parametrize("colour", COLOURS.values(), ids=COLOURS)
def test_the_factor_is_that_of_the_dense_matrix(colour: list[float], taps: int) -> None:
    source = windowed(colour, taps)
    moments = source.sum(Moments, centred=False)
    factor = toeplitz_factor(moments, 3.0)
    assert factor is not None
    dense = toeplitz(correlations(source)[0]) + 3.0 * np.eye(taps)
    unit = 2.0 ** -moments.exponent[0]
    inverse = np.linalg.inv(dense * unit**2)
    g = np.random.default_rng(0).standard_normal((3, taps))
    loose = {"rtol": 1e-14 * factor.condition**2 + 1e-12, "atol": 1e-13 * np.abs(inverse).max()}
    np.testing.assert_allclose(factor.solve(g), g @ inverse, **loose)
    np.testing.assert_allclose(factor.inverse_lengths() ** 2, inverse.diagonal(), **loose)
    half = factor.half(g)
    np.testing.assert_allclose(half @ half.T, g @ inverse @ g.T, **loose)
    np.testing.assert_allclose(factor.log_determinant(), np.linalg.slogdet(dense)[1], rtol=1e-10)
    true = np.sqrt(np.linalg.cond(dense))
    assert 0.999 * true <= factor.condition <= 3 * true
    assert factor.aliased() == []
    assert not factor.undetermined(g).any()


@pytest.mark.parametrize("taps", [1, 2, 17, 64])
@pytest.mark.parametrize("colour", COLOURS.values(), ids=COLOURS)
@pytest.mark.parametrize("penalty", [0.0, 10.0])
def test_it_solves_the_wiener_equations(colour: list[float], taps: int, penalty: float) -> None:
    source = windowed(colour, taps)
    fit = solve_wiener(source, source.sum(Moments, centred=False), penalty)
    proof = fit.solution.certificate
    assert "Levinson" in proof.solver
    assert proof.digits > 14
    r, cross = correlations(source)
    r[0] += penalty
    w = fit.solution.theta[0, 1:]
    np.testing.assert_allclose(w, solve_toeplitz(r, cross), rtol=1e-14 * proof.condition**2, atol=1e-12)
    dense = choose.solve_least_squares(
        source, source.sum(Moments, centred=False), False, RidgePenalty(penalty, np.ones(taps))
    )
    np.testing.assert_allclose(w, dense.solution.theta[0, 1:], rtol=1e-13)
    np.testing.assert_allclose(proof.objective, dense.solution.certificate.objective, rtol=1e-12)


@pytest.mark.parametrize("taps", [2, 17, 64, 200])
@pytest.mark.parametrize("colour", COLOURS.values(), ids=COLOURS)
def test_the_digits_of_sums_are_not_overstated(colour: list[float], taps: int) -> None:
    source = windowed(colour, taps)
    moments = source.sum(Moments, centred=False)
    exact = choose.solve_least_squares(source, moments, False, no_penalty(taps)).solution.theta[0, 1:]
    fit = solve_wiener(None, moments, 0.0)
    assert fit.solution.certificate.solver.endswith("on sums")
    error = np.abs(fit.solution.theta[0, 1:] / exact - 1).max()
    assert error <= 10**-fit.solution.certificate.digits
    assert fit.solution.certificate.digits > 7


def test_a_nearly_singular_matrix_goes_to_the_general_solver() -> None:
    n = np.arange(500.0)
    x = np.sin(0.01 * n) * np.hanning(500)
    source = SignalSource(x[:, None], np.concatenate([np.cos(n), np.zeros(29)])[:, None], (30,))
    moments = source.sum(Moments, centred=False)
    assert toeplitz_factor(moments, 0.0) is None
    fit = solve_wiener(source, moments, 0.0)
    assert "Levinson" not in fit.solution.certificate.solver
    np.testing.assert_array_equal(
        solve_wiener(None, moments, 0.0).solution.theta, solve_sums(moments, False, no_penalty(30)).solution.theta
    )


def test_sums_that_hold_their_digits_are_not_refined(monkeypatch: pytest.MonkeyPatch) -> None:
    source = windowed([1.0], 4)
    moments = source.sum(Moments, centred=False)
    for small, how in ((1e6, ", refined"), (0.0, "")):
        monkeypatch.setattr(choose, "SMALL_NUMBERS", small)
        proof = solve_wiener(source, moments, 0.0).solution.certificate
        assert proof.solver == "Toeplitz equations (Levinson)" + how


def test_silence_has_the_zero_filter() -> None:
    source = SignalSource(np.zeros((20, 1)), np.ones((22, 1)), (3,))
    fit = solve_wiener(source, source.sum(Moments, centred=False), 0.0)
    np.testing.assert_array_equal(fit.solution.theta, np.zeros((1, 4)))
    assert fit.solution.certificate.rank == 0
