"""Second derivatives that are not positive: turned round, or left out where they are zero."""

from __future__ import annotations

import numpy as np

from adaline.solvers.smooth.newton import factor_hessian


def test_negative_curvature_is_turned_round() -> None:
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    for values in ([-2.0, 3.0, 0.5], [-2.0, -3.0, -0.5]):
        hessian = turned @ np.diag(values) @ turned.T
        g = np.array([[1.0, -2.0, 0.3]])
        assert (factor_hessian(hessian).solve(g) * g).sum() > 0
    np.testing.assert_allclose(factor_hessian(np.diag([-2.0, 4.0])).solve(np.array([2.0, 4.0])), [1.0, 1.0], rtol=1e-12)


def test_no_curvature_at_all_gives_no_step() -> None:
    found = factor_hessian(np.zeros((2, 2)))
    assert found.rank == 0
    assert found.null.shape == (2, 2)
    np.testing.assert_array_equal(found.solve(np.array([1.0, 2.0])), [0.0, 0.0])
