"""Least squares of columns in any units: powers of ten change next to nothing, nor do means that dwarf the spread.

(That powers of two change no bit, nor huge and tiny magnitudes the result, are laws of tests/laws.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn import linear_model
from sklearn.utils.fixes import parse_version

from adaline import LinearRegression, Ridge
from tests.cases import Case, cases

EACH = pytest.mark.parametrize("system", [LinearRegression, Ridge])
RNG = np.random.default_rng(0)
SMALL = RNG.normal(size=(2000, 2)) * [2e6, 0.3]
OF_SMALL = SMALL @ [1e-6, 5.0] + 0.01 * RNG.normal(size=2000)


@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6])
@cases(lambda case: case.linear and not {"basis", "epochs"} & {*case.settings}, law="units of columns")
def test_powers_of_ten_change_the_predictions_by_rounding_only(case: Case, condition: float) -> None:
    """By less than 1e-14 times the condition number, relative to the largest: rounding X itself does as much.

    An automatic penalty is known to about the square root of rounding, which moves the predictions of an
    ill-conditioned design a little more.
    """
    given, scale = case.rows(), 10.0 ** np.random.default_rng(1).uniform(-12, 12, size=4)
    u, _, vt = np.linalg.svd(given.X - given.X.mean(axis=0), full_matrices=False)
    X = u * np.geomspace(1, 1 / condition, 4) @ vt
    plain, scaled = (case.make().fit(rows, given.y).predict(rows) for rows in (X, X * scale))
    near = 1e-14 if case.name.startswith("LinearRegression") else 1e-8
    np.testing.assert_allclose(scaled, plain, rtol=0, atol=near * max(condition, 10.0) * np.abs(plain).max())


@EACH
def test_columns_of_small_scale_are_not_dropped(system: type[Any]) -> None:
    """Two informative columns with scales 2e6 and 0.3: scikit-learn 1.9 loses one of them without a word."""
    assert system().fit(SMALL, OF_SMALL).score(SMALL, OF_SMALL) > 0.999


def test_the_trap_catches_scikit_learn() -> None:
    """scikit-learn loses the column since 1.9. If this fails, it has been mended, and the README should say so."""
    lost = linear_model.LinearRegression().fit(SMALL, OF_SMALL).score(SMALL, OF_SMALL) < 0.9
    assert lost == (parse_version(sklearn.__version__) >= parse_version("1.9"))


@EACH
@pytest.mark.parametrize("mean", [1e6, 1e9, -1e12])
@pytest.mark.parametrize("order", ["drawn", "sorted"])
def test_a_mean_that_dwarfs_the_spread_does_no_harm(system: type[Any], mean: float, order: str) -> None:
    rng = np.random.default_rng(1)
    steps = rng.integers(-512, 512, size=(500, 2)) / 128.0  # exact next to the mean
    steps = steps[np.argsort(steps[:, 0])] if order == "sorted" else steps
    y = steps @ [1.0, -2.0] + 0.1 * rng.normal(size=500)
    plain, shifted, parts = system().fit(steps, y), system().fit(steps + mean, y), system()
    np.testing.assert_allclose(shifted.coef_, plain.coef_, rtol=1e-8)
    np.testing.assert_allclose(shifted.predict(steps + mean), plain.predict(steps), atol=1e-3 * abs(mean) / 1e9 + 1e-6)
    assert shifted.certificate_.digits > 10
    for rows in np.array_split(np.arange(500), 7):
        parts.partial_fit(steps[rows] + mean, y[rows])
    np.testing.assert_allclose(parts.coef_, shifted.coef_, rtol=1e-9 if abs(mean) < 1e12 else 1e-6)


@EACH
@pytest.mark.parametrize("size", [1e300, 1e-300, 1e150, 1e-150])
def test_huge_and_tiny_magnitudes_are_summarised(system: type[Any], size: float) -> None:
    X, y = SMALL[:60] / np.abs(SMALL).max(axis=0), OF_SMALL[:60] / np.abs(OF_SMALL).max()
    plain = system().fit(X, y).summary().to_dict()
    for columns, targets in ((X * [size, 1.0], y), (X, y * size)):
        found = system().fit(columns, targets).summary().to_dict()
        assert found["r_squared"] == pytest.approx(plain["r_squared"], rel=1e-8)
        for a, b in zip(found["coefficients"], plain["coefficients"], strict=True):
            assert a["statistic"] == pytest.approx(b["statistic"], rel=1e-6)
