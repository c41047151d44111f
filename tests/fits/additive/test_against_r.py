"""Additive models against mgcv and lme4: likelihood, variance components, coefficients, degrees of freedom."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.fits.additive.criteria import PenalisedFit
from adaline.fits.additive.penalties import CovariancePenalty, DiagonalPenalty
from adaline.fits.additive.ratios import first_ratios, solve_ratios
from tests.fits.additive.models import CASES, assemble


@pytest.mark.every
@pytest.mark.parametrize("name", CASES)
def test_ratios_and_what_follows_from_them_are_those_of_r(name: str) -> None:
    case, model = CASES[name], assemble(CASES[name])
    criterion, sums = case["method"], model.sums
    found = solve_ratios(sums, criterion)
    fit = found.fit  # under ML, mgcv divides the residual squares by N - tr F, lme4 by N
    phi = fit.dispersion("gcv" if case["by"] == "mgcv" and criterion == "ml" else criterion)
    assert found.solved
    score = np.exp(found.score) if criterion == "gcv" else found.score + model.shift / 2
    beta = fit.coefficients
    errors = np.sqrt(phi * fit.inverse.diagonal()[: model.free])
    assert score == pytest.approx(case["score"], rel=1e-7)
    assert np.sqrt(phi) == pytest.approx(case["sigma"], rel=1e-5)
    intercept = model.mean - model.centres @ beta
    np.testing.assert_allclose([intercept, *beta[: model.free]], case["coef"], rtol=1e-6)
    np.testing.assert_allclose(errors, case["error"][1:], rtol=1e-5)
    np.testing.assert_allclose((model.mean + model.x @ beta)[case["row"]], case["fitted"], rtol=1e-6)
    if case["by"] == "lme4":
        sd = []
        starts = np.cumsum([0, *(one.parameters for one in sums.penalties)])
        for one, start in zip(sums.penalties, starts, strict=False):
            assert isinstance(one, CovariancePenalty)
            covariance = phi * one.covariance(found.fit.theta[start : start + one.parameters])
            zero = found.boundary[start : start + one.size]
            covariance[zero], covariance[:, zero] = 0.0, 0.0
            root = np.sqrt(covariance.diagonal())
            correlation = covariance / np.maximum(np.outer(root, root), 1e-300)
            sd.append([*root, *(correlation[i, j] for j in range(one.size) for i in range(j + 1, one.size))])
        known = np.array(case["sd"])
        mine = np.concatenate(sd)
        np.testing.assert_allclose(np.sort(mine), np.sort(known), rtol=1e-5, atol=1e-5 * case["sigma"])
    else:
        parts = fit.freedom.diagonal()
        edf = [parts[one.start : one.stop].sum() for one in sums.penalties]
        np.testing.assert_allclose(np.sort(edf), np.sort(case["edf"]), rtol=1e-5)
        assert fit.total_freedom == pytest.approx(case["total"], rel=1e-5)


@pytest.mark.parametrize("criterion", ["reml", "ml", "gcv"])
@pytest.mark.parametrize("name", ["sleepstudy", "machines_slopes", "ozone_surface", "plants"])
def test_derivatives_are_those_of_the_score(name: str, criterion: str) -> None:
    sums = assemble(CASES[name]).sums
    theta = first_ratios(sums) + np.sin(np.arange(sums.parameters))
    gradient, hessian = PenalisedFit(sums, theta).derivatives(criterion)
    step = 1e-5
    for i in range(sums.parameters):
        move = step * np.eye(sums.parameters)[i]
        low, high = PenalisedFit(sums, theta - move), PenalisedFit(sums, theta + move)
        slope = (high.score(criterion) - low.score(criterion)) / (2 * step)
        assert gradient[i] == pytest.approx(slope, rel=1e-5, abs=1e-6)
        curve = (high.derivatives(criterion)[0] - low.derivatives(criterion)[0]) / (2 * step)
        np.testing.assert_allclose(hessian[i], curve, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("exponent", [-30.0, 30.0])
def test_extreme_ratios_cost_no_digits(exponent: float) -> None:
    """With one ratio at e^30 its term has no freedom left, with e^-30 all of it; the others do not change."""
    sums = assemble(CASES["ozone"]).sums
    theta = first_ratios(sums)
    theta[1] += exponent
    fit = PenalisedFit(sums, theta)
    block = next(one for one in sums.penalties[1:])
    assert isinstance(block, DiagonalPenalty)
    parts = fit.freedom.diagonal()[block.start : block.stop].sum()
    assert parts == pytest.approx(1.0 if exponent > 0 else 9.0, rel=1e-9)
    assert np.isfinite(fit.derivatives("reml")[1]).all()
