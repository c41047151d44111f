"""Fisher's directions are those along which class means differ, whatever the units."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from adaline import FisherDiscriminant
from adaline.arrays import Array


def classes(means: Array, units: Array, seed: int = 0) -> tuple[Array, NDArray[np.int64]]:
    """Thirty rows about each mean, exactly: whole numbers, and each row with its mirror image."""
    rng = np.random.default_rng(seed)
    away = rng.integers(-3, 4, size=(15, means.shape[1])).astype(float)
    X = np.concatenate([mean + np.concatenate([away, -away]) for mean in means])
    return X * units, np.repeat(np.arange(len(means)), 30)


LINE = np.outer([0.0, 1.0, 3.0], [16.0, -32.0, 64.0])
CORNERS = np.array([[0.0, 0.0, 0.0], [64.0, 0.0, 0.0], [0.0, 32.0, 0.0], [64.0, 32.0, 0.0], [16.0, 16.0, 0.0]])


@pytest.mark.parametrize("covariance", ["within", "identity"])
@pytest.mark.parametrize("threshold", ["middle", "prior"])
@pytest.mark.parametrize("units", [(1.0, 1.0, 1.0), (1e-6, 1.0, 1e9)])
@pytest.mark.parametrize(("means", "span"), [(LINE, 1), (CORNERS, 2)], ids=["line", "plane"])
def test_null_directions_are_dropped(
    means: Array, span: int, units: tuple[float, ...], threshold: str, covariance: str
) -> None:
    X, y = classes(means, np.array(units))
    model = FisherDiscriminant(covariance=covariance, threshold=threshold).fit(X, y)
    assert model.directions_.shape == (span, 3)
    assert np.isfinite(model.directions_).all()
    assert np.isfinite(model.coef_).all()
    assert model.transform(X).shape == (len(X), span)
    assert len(model.criterion_) == len(model.get_feature_names_out()) == span
    if covariance == "within" or units[0] == 1.0:  # along raw differences, the unit of a column decides what is far
        assert model.score(X, y) == 1.0


def test_means_that_span_all_keep_all() -> None:
    X, y = classes(np.vstack([np.zeros(3), 40.0 * np.eye(3)]), np.ones(3))
    assert FisherDiscriminant().fit(X, y).directions_.shape == (3, 3)
    assert FisherDiscriminant(components=2).fit(X, y).transform(X).shape == (len(X), 2)


def test_equal_means_leave_no_direction() -> None:
    X, y = classes(np.zeros((3, 2)), np.ones(2))
    model = FisherDiscriminant().fit(X, y)
    assert model.transform(X).shape == (len(X), 0)
    assert set(model.predict(X)) == {0}


@pytest.mark.parametrize("covariance", ["within", "identity"])
@pytest.mark.parametrize("threshold", ["middle", "prior"])
@pytest.mark.parametrize("shares", [[4, 4], [8, 4], [4, 4, 4]])
@pytest.mark.parametrize("columns", [2, 6])
def test_equal_means_separate_nothing(covariance: str, threshold: str, shares: list[int], columns: int) -> None:
    """J(w) = 0 for every w; the certificate says so, and "prior" takes the more frequent class."""
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [2.0, 5.0], [6.0, 1.0]]) @ np.eye(2, columns)
    X = np.concatenate([np.tile(rows, (share // 4, 1)) for share in shares])
    y = np.repeat(np.arange(len(shares)), shares)
    model = FisherDiscriminant(covariance=covariance, threshold=threshold).fit(X, y)
    assert not np.any(model.criterion_)
    assert not model.coef_.any()
    assert "the means of the classes are equal" in model.certificate_.advice
    assert "shrinkage" not in model.certificate_.advice
    assert (model.predict(X) == 0).all()
