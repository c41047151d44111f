"""The leave-one-out error against refits without each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from adaline.sources import ArraySource, SparseSource
from adaline.sums import LeaveOneOut, Ridges

Array = NDArray[Any]

PENALTIES = np.array([[1e-3, 0.5, 40.0], [2.0, 1e-6, 300.0]])


def problem(n: int = 25, d: int = 4) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, d)) * [1.0, 3.0, 0.2, 1.0] + [10.0, 0.0, -1.0, 0.0]
    t = x @ rng.normal(size=(d, 2)) + rng.normal(size=(n, 2)) + 7.0
    return x, t, rng.integers(1, 4, n).astype(float)


def refit(x: Array, t: Array, weight: Array, penalty: float, intercept: bool, at: Array) -> float:
    """Return the ridge prediction at one row, the intercept not penalised, from the normal equations."""
    ones = np.ones((len(x), int(intercept)))
    phi = np.hstack([ones, x])
    mask = np.diag([0.0] * int(intercept) + [penalty] * x.shape[1])
    w = np.linalg.solve(phi.T @ (weight[:, None] * phi) + mask, phi.T @ (weight * t))
    return float(np.concatenate([np.ones(int(intercept)), at]) @ w)


def by_refits(x: Array, t: Array, weight: Array, intercept: bool) -> Array:
    """Return the sums of squares with every row left out once: of w copies, one, w times."""
    out = np.zeros(PENALTIES.shape)
    for k, row in enumerate(PENALTIES):
        for m, penalty in enumerate(row):
            for i in range(len(x)):
                less = weight.copy()
                less[i] -= 1.0
                out[k, m] += weight[i] * (t[i, k] - refit(x, t[:, k], less, penalty, intercept, x[i])) ** 2
    return out


def fits(x: Array, t: Array, weight: Array, intercept: bool) -> Ridges:
    """Return the fits in the eigenbasis of S, for columns scaled by powers of two."""
    exponent = np.array([3.0, -1.0, 0.0, 2.0, 0.0, 0.0])
    z = np.hstack([x, t])
    mean = weight @ z / weight.sum() * intercept
    centred = z - mean
    s = centred[:, :4].T @ (weight[:, None] * centred[:, :4])
    d, v = np.linalg.eigh(s)
    c = (centred[:, 4:] * weight[:, None]).T @ centred[:, :4] @ v
    rotation = np.ldexp(1.0, exponent[:4].astype(int))[:, None] * v
    return Ridges(mean, exponent, rotation, d, c, PENALTIES, intercept / float(weight.sum()))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_errors_equal_refits(intercept: bool, weighted: bool, layout: str) -> None:
    x, t, weight = problem()
    w = weight if weighted else np.ones(len(x))
    kept = weight if weighted else None
    source: Any = ArraySource(x, t, kept) if layout == "dense" else SparseSource(sparse.csr_array(x), t, kept)
    found = source.sum(LeaveOneOut, fits(x, t, w, intercept), penalties=3)
    np.testing.assert_allclose(found.sums, by_refits(x, t, w, intercept), rtol=1e-8)


def test_errors_over_blocks_equal_errors_over_all() -> None:
    x, t, weight = problem()
    theta = fits(x, t, weight, True)
    source = ArraySource(x, t, weight)
    whole = source.sum(LeaveOneOut, theta, penalties=3)
    source.rows_per_block = 4
    np.testing.assert_allclose(source.sum(LeaveOneOut, theta, penalties=3).sums, whole.sums, rtol=1e-13)


def test_a_large_penalty_leaves_the_mean_of_the_others() -> None:
    x, t, _ = problem()
    ones = np.ones(len(x))
    theta = fits(x, t, ones, True)._replace(penalties=np.full((2, 1), 1e14))
    found = ArraySource(x, t).sum(LeaveOneOut, theta, penalties=1).sums[:, 0]
    n = len(x)
    np.testing.assert_allclose(found, ((t - t.mean(axis=0)) ** 2).sum(axis=0) * (n / (n - 1)) ** 2, rtol=1e-9)
