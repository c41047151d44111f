"""Paths of l1 penalties: each point is the fit under its penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Lasso

from adaline import LogisticRegression, l1_path
from adaline.errors import InvalidData, InvalidParameter
from adaline.results import Status


def made(classes: int = 2, n: int = 200) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 6)) * [1.0, 10.0, 0.1, 1.0, 1.0, 5.0] + 3.0
    z = X @ rng.standard_normal((6, classes)) * [0.3] + rng.gumbel(size=(n, classes))
    return X, np.array(["a", "b", "c"])[(z - z.mean(axis=0)).argmax(axis=1)]


@pytest.mark.parametrize("settings", [{}, {"penalty": 0.5}, {"standardize": True}, {"fit_intercept": False}], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_each_point_is_the_fit_under_its_penalty(kind: Any, classes: int, settings: dict[str, Any]) -> None:
    X, y = made(classes)
    found = l1_path(kind(X), y, points=4, ratio=0.05, tol=1e-12, **settings)
    assert (np.diff(found.l1) < 0).all()
    assert not found.coef[0].any()
    assert found.classes is not None
    assert found.classes.tolist() == ["a", "b", "c"][:classes]
    for l1, coef, intercept, proof in zip(found.l1, found.coef, found.intercept, found.certificates, strict=True):
        model = LogisticRegression(l1=float(l1), tol=1e-12, **settings).fit(X, y)
        np.testing.assert_allclose(np.atleast_2d(coef), model.coef_, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(np.atleast_1d(intercept), model.intercept_, rtol=1e-4, atol=1e-5)
        assert proof.objective == pytest.approx(model.certificate_.objective, rel=1e-9)
        assert proof.status is Status.SOLVED
        assert proof.gap <= 1e-10 * proof.objective


def test_squares_are_the_lasso() -> None:
    X, _ = made()
    y = X @ [1.0, 0.0, 0.0, 2.0, 0.0, -1.0] + np.random.default_rng(1).standard_normal(len(X))
    found = l1_path(X, y, loss="squared", points=3, ratio=0.01)
    for l1, coef in zip(found.l1[1:], found.coef[1:], strict=True):
        theirs = Lasso(alpha=l1 / len(X), tol=1e-10, max_iter=100_000).fit(X, y)
        np.testing.assert_allclose(coef, theirs.coef_, rtol=1e-3, atol=1e-5)
    assert found.classes is None
    assert sum(proof.passes for proof in found.certificates) == 1


def test_what_is_refused() -> None:
    X, y = made()
    with pytest.raises(InvalidParameter, match="ratio must be between 0 and 1, got 2"):
        l1_path(X, y, ratio=2)
    with pytest.raises(InvalidParameter, match="convex"):
        l1_path(X, X[:, 0], loss="tukey")
    with pytest.raises(InvalidData, match="2 classes"):
        l1_path(X, ["a"] * len(X))
    with pytest.raises(InvalidData, match="one target"):
        l1_path(X, X[:, :2], loss="squared")


@pytest.mark.parametrize("value", [0.0, 3.5, 0.1, 1e9 + 0.1])
@pytest.mark.parametrize("loss", ["squared", "huber", "poisson"])
def test_a_constant_target_has_one_point_without_coefficients(loss: str, value: float) -> None:
    X, _ = made()
    if loss == "poisson" and value == 0.0:
        return  # no rate is the best: there is no minimum
    found = l1_path(X, np.full(len(X), value), loss=loss)
    assert found.l1.tolist() == [0.0]
    np.testing.assert_array_equal(found.coef, np.zeros((1, 6)))
    expected = np.log(value) if loss == "poisson" else value
    assert found.intercept[0] == pytest.approx(expected, rel=1e-9)
    assert found.certificates[0].status is Status.SOLVED


@pytest.mark.parametrize("seed", range(4))
def test_the_first_point_has_exact_zeros(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((100, 40))
    y = X @ rng.normal(size=40) + rng.normal(size=100)
    for settings, target in (({"loss": "squared"}, y), ({}, y > 0)):
        found = l1_path(X, target, points=2, standardize=True, tol=1e-13, **settings)
        np.testing.assert_array_equal(found.coef[0], np.zeros(40))
        assert found.coef[1].any()
        assert found.certificates[0].status is Status.SOLVED
