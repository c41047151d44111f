"""Likelihoods of columns that nearly depend on each other, against Newton's steps with 50 digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp
from sklearn.base import clone

from adaline import GeneralizedLinear, LogisticRegression, Status
from adaline.arrays import Array


def rows(apart: float, seed: int = 0) -> tuple[Array, Array]:
    """Three columns, the last of which is a combination of the others and a constant but for a share of it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3)) + np.array([1.0, 2.0, 0.0])
    X[:, 2] = 0.5 * X[:, 0] - 1.5 * X[:, 1] + 3.0 + apart * X[:, 2]
    return X, 0.7 * X[:, 0] - 0.4 * X[:, 1] + rng.normal(size=30)


def exact(X: Array, t: Array, loss: str) -> tuple[Array, Array]:
    """Return coefficients and their standard errors, intercept first."""
    with mp.workdps(50):
        A = mp.matrix(np.column_stack([np.ones(len(X)), X]).tolist())
        w, y = mp.matrix(A.cols, 1), [mp.mpf(float(one)) for one in t]
        for _ in range(40):
            mean = [mp.exp(z) if loss == "poisson" else 1 / (1 + mp.exp(-z)) for z in A * w]
            slope = mp.matrix([a - b for a, b in zip(mean, y, strict=True)])
            bend = mp.diag([m if loss == "poisson" else m * (1 - m) for m in mean])
            inverse = (A.T * bend * A) ** -1
            step = inverse * (A.T * slope)
            w -= step
            if mp.norm(step) < mp.mpf(10) ** -30 * mp.norm(w):
                break
        return np.array([float(one) for one in w]), np.array([float(mp.sqrt(inverse[i, i])) for i in range(A.cols)])


@pytest.mark.parametrize("apart", [1e-5, 1e-9, 1e-12])
@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_coefficients_and_errors_are_those_of_exact_arithmetic(loss: str, apart: float) -> None:
    X, z = rows(apart)
    t = np.round(np.exp(z / 2)) if loss == "poisson" else (z > 0).astype(float)
    w, errors = exact(X, t, loss)
    model: Any = GeneralizedLinear(loss=loss) if loss == "poisson" else LogisticRegression()
    model.fit(X, t)
    found = np.append(model.intercept_, model.coef_.ravel())
    np.testing.assert_allclose(found, w, rtol=1e-9)
    table = model.summary().to_dict()["coefficients"]
    np.testing.assert_allclose([row["std_error"] for row in table], errors, rtol=1e-8)
    assert model.certificate_.status is (Status.ILL_CONDITIONED if apart < 1e-8 else Status.SOLVED)
    assert model.certificate_.digits >= 8
    assert model.certificate_.rank == 3
    assert model.certificate_.gap <= 1e-8 * model.certificate_.objective  # the rounding of large weights is counted


@pytest.mark.parametrize(
    "system",
    [
        LogisticRegression(),
        LogisticRegression(fit_intercept=False),
        GeneralizedLinear(loss="negative_binomial"),
        GeneralizedLinear(loss="poisson", link="sqrt"),
    ],
    ids=str,
)
def test_they_are_what_the_columns_apart_give(system: Any) -> None:
    """Two columns nearly depend on others, one of them on the other; coefficients of what they add are known."""
    rng = np.random.default_rng(0)
    added = np.ldexp(rng.integers(-(2**20), 2**20, (120, 4)), -18)  # sums of these are exact
    X = added.copy()
    X[:, 1] = X[:, 0] + 2.0**-30 * added[:, 1]
    X[:, 3] = X[:, 1] - X[:, 2] + 2.0**-28 * added[:, 3]
    assert (X[:, 3] - X[:, 1] + X[:, 2] == 2.0**-28 * added[:, 3]).all()
    t = rng.negative_binomial(2, 0.4, 120) if isinstance(system, GeneralizedLinear) else np.arange(120) % 3
    near, apart = (clone(system).fit(rows, t) for rows in (X, added))
    w, v = np.atleast_2d(near.coef_), np.atleast_2d(apart.coef_)
    gained = np.column_stack([w[:, 0] + w[:, 1] + w[:, 3], 2.0**-30 * (w[:, 1] + w[:, 3]), w[:, 2] - w[:, 3]])
    np.testing.assert_allclose(2.0**-28 * w[:, 3], v[:, 3], rtol=1e-9)
    np.testing.assert_allclose(gained, v[:, :3], atol=1e-6)
    np.testing.assert_allclose(near.predict(X), apart.predict(added), rtol=1e-7)
