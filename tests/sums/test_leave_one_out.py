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


def by_refits(x: Array, t: Array, weight: Array, intercept: bool) -> Array:
    """Return the sums of squares with every row left out once: of w copies, one, w times; by the normal equations."""
    phi = np.hstack([np.ones((len(x), int(intercept))), x])
    mask, out = np.diag([0.0] * int(intercept) + [1.0] * x.shape[1]), np.zeros(PENALTIES.shape)
    for i, k, m in np.ndindex(len(x), *out.shape):
        less = weight - np.eye(len(x))[i]
        w = np.linalg.solve(phi.T @ (less[:, None] * phi) + PENALTIES[k, m] * mask, phi.T @ (less * t[:, k]))
        out[k, m] += weight[i] * (t[i, k] - phi[i] @ w) ** 2
    return out


def fits(x: Array, t: Array, weight: Array, intercept: bool) -> Ridges:
    """Return the fits in the eigenbasis of S, for columns scaled by powers of two."""
    exponent = np.array([3.0, -1.0, 0.0, 2.0, 0.0, 0.0])
    z = np.hstack([x, t])
    mean = weight @ z / weight.sum() * intercept
    centred = z - mean
    d, v = np.linalg.eigh(centred[:, :4].T @ (weight[:, None] * centred[:, :4]))
    c = (centred[:, 4:] * weight[:, None]).T @ centred[:, :4] @ v
    rotation = np.ldexp(1.0, exponent[:4].astype(int))[:, None] * v
    return Ridges(mean, exponent, rotation, d, c, PENALTIES, intercept / float(weight.sum()))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("layout", ["dense", "blocks", "csr"])
def test_errors_equal_refits(intercept: bool, weighted: bool, layout: str) -> None:
    x, t, weight = problem()
    w, kept = (weight, weight) if weighted else (np.ones(len(x)), None)
    source: Any = SparseSource(sparse.csr_array(x), t, kept) if layout == "csr" else ArraySource(x, t, kept)
    if layout == "blocks":
        source.rows_per_block = 4
    found = source.sum(LeaveOneOut, fits(x, t, w, intercept), penalties=3)
    np.testing.assert_allclose(found.sums, by_refits(x, t, w, intercept), rtol=1e-8)


def test_a_large_penalty_leaves_the_mean_of_the_others() -> None:
    x, t, _ = problem()
    theta = fits(x, t, np.ones(len(x)), True)._replace(penalties=np.full((2, 1), 1e14))
    found = ArraySource(x, t).sum(LeaveOneOut, theta, penalties=1).sums[:, 0]
    n = len(x)
    np.testing.assert_allclose(found, ((t - t.mean(axis=0)) ** 2).sum(axis=0) * (n / (n - 1)) ** 2, rtol=1e-9)
