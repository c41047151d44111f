"""Units: scaling columns by powers of two changes no bit of the predictions, by powers of ten next to nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn import linear_model
from sklearn.utils.fixes import parse_version

from adaline import LinearRegression
from tests.systems.cases import NEEDS_ROWS, OWN_UNITS, REGRESSIONS, Make, data, systems


@pytest.mark.parametrize("reach", [3, 40, 300])
@pytest.mark.parametrize("targets", [0, 2])
@pytest.mark.parametrize("make", systems(OWN_UNITS))
def test_powers_of_two_change_no_bit_of_the_predictions(make: Make, targets: int, reach: int) -> None:
    X, y = data(targets=targets)
    scale = np.exp2(np.random.default_rng(1).integers(-reach, reach + 1, size=X.shape[1]))
    plain, scaled = make().fit(X, y), make().fit(X * scale, y)
    np.testing.assert_array_equal(scaled.predict(X * scale), plain.predict(X))
    np.testing.assert_array_equal(scaled.coef_ * scale, plain.coef_)
    assert scaled.certificate_.digits == plain.certificate_.digits
    assert scaled.certificate_.condition == plain.certificate_.condition


@pytest.mark.parametrize("make", systems())
def test_the_unit_of_the_target_is_the_unit_of_the_predictions(make: Make) -> None:
    X, y = data()
    plain = make().fit(X, y)
    for unit in (2.0**40, 2.0**-40, 1e9, 1e-9):
        np.testing.assert_allclose(make().fit(X, y * unit).predict(X), plain.predict(X) * unit, rtol=1e-8)
    if isinstance(plain, LinearRegression):
        np.testing.assert_array_equal(make().fit(X, y * 2.0**40).predict(X), plain.predict(X) * 2.0**40)


@pytest.mark.parametrize("make", systems(OWN_UNITS + NEEDS_ROWS))
def test_powers_of_two_change_no_bit_of_streams(make: Make) -> None:
    X, y = data()
    scale = np.exp2([-30.0, 7.0, 0.0, 55.0])
    plain, scaled = make(), make()
    for rows in np.array_split(np.arange(len(y)), 4):
        plain.partial_fit(X[rows], y[rows])
        scaled.partial_fit(X[rows] * scale, y[rows])
    np.testing.assert_array_equal(scaled.predict(X * scale), plain.predict(X))


@pytest.mark.parametrize("make", systems(OWN_UNITS + NEEDS_ROWS))
def test_powers_of_two_change_no_bit_of_sparse_fits(make: Make) -> None:
    X, y = data()
    X *= np.random.default_rng(3).random(X.shape) < 0.5
    scale = np.exp2([-30.0, 7.0, 0.0, 55.0])
    plain = make().fit(sparse.csr_array(X), y)
    scaled = make().fit(sparse.csr_array(X * scale), y)
    np.testing.assert_array_equal(scaled.predict(X * scale), plain.predict(X))


@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", systems(OWN_UNITS))
def test_powers_of_ten_change_the_predictions_by_rounding_only(make: Make, seed: int, condition: float) -> None:
    """By less than 1e-14 times the condition number, relative to the largest: rounding X itself does as much.

    An automatic penalty is known to about the square root of rounding, which moves the predictions of an
    ill-conditioned design a little more.
    """
    rng = np.random.default_rng(seed)
    base, y = data(seed)
    u, _, vt = np.linalg.svd(base - base.mean(axis=0), full_matrices=False)
    X = u * np.geomspace(1, 1 / condition, 4) @ vt
    model = make()
    scale = 10.0 ** rng.uniform(-12, 12, size=4)
    plain = model.fit(X, y).predict(X)
    change = np.abs(make().fit(X * scale, y).predict(X * scale) - plain).max() / np.abs(plain).max()
    assert change < (1e-14 if isinstance(model, LinearRegression) else 1e-8) * max(condition, 10.0)


@pytest.mark.parametrize("system", REGRESSIONS.values(), ids=REGRESSIONS)
def test_columns_of_small_scale_are_not_dropped(system: type[Any]) -> None:
    """Two informative columns with scales 2e6 and 0.3: scikit-learn 1.9 loses one of them without a word."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2)) * [2e6, 0.3]
    y = X @ [1e-6, 5.0] + 0.01 * rng.normal(size=2000)
    assert system().fit(X, y).score(X, y) > 0.999


def test_the_trap_catches_scikit_learn() -> None:
    """scikit-learn loses the column since 1.9. If this fails, it has been mended, and the README should say so."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2)) * [2e6, 0.3]
    y = X @ [1e-6, 5.0] + 0.01 * rng.normal(size=2000)
    lost = linear_model.LinearRegression().fit(X, y).score(X, y) < 0.9
    assert lost == (parse_version(sklearn.__version__) >= parse_version("1.9"))


@pytest.mark.parametrize("system", REGRESSIONS.values(), ids=REGRESSIONS)
@pytest.mark.parametrize("mean", [1e6, 1e9, -1e12])
def test_a_mean_that_dwarfs_the_spread_does_no_harm(system: type[Any], mean: float) -> None:
    rng = np.random.default_rng(1)
    steps = rng.integers(-512, 512, size=(500, 2)) / 128.0  # exact next to the mean
    y = steps @ [1.0, -2.0] + 0.1 * rng.normal(size=500)
    plain, shifted = system().fit(steps, y), system().fit(steps + mean, y)
    np.testing.assert_allclose(shifted.coef_, plain.coef_, rtol=1e-8)
    np.testing.assert_allclose(shifted.predict(steps + mean), plain.predict(steps), atol=1e-3 * abs(mean) / 1e9 + 1e-6)
    assert shifted.certificate_.digits > 10


@pytest.mark.parametrize("system", REGRESSIONS.values(), ids=REGRESSIONS)
def test_a_mean_that_dwarfs_the_spread_does_little_harm_to_streams(system: type[Any]) -> None:
    rng = np.random.default_rng(1)
    steps = rng.integers(-512, 512, size=(500, 2)) / 128.0
    y = steps @ [1.0, -2.0] + 0.1 * rng.normal(size=500)
    whole, parts = system().fit(steps + 1e9, y), system()
    for rows in np.array_split(np.arange(500), 7):
        parts.partial_fit(steps[rows] + 1e9, y[rows])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9)


@pytest.mark.parametrize("size", [1e300, 1e-300, 1e150, 1e-150])
@pytest.mark.parametrize("make", systems(OWN_UNITS))
def test_columns_of_huge_and_tiny_magnitude_give_the_right_result(make: Make, size: float) -> None:
    """1e300 squared overflows and 1e-300 squared vanishes; scaled by a power of two they do neither."""
    X, y = data()
    X = X / np.abs(X).max()
    scale = np.array([size, 1.0, size, 1.0])
    plain, scaled = make().fit(X, y), make().fit(X * scale, y)
    np.testing.assert_allclose(scaled.predict(X * scale), plain.predict(X), rtol=1e-8)
    assert scaled.certificate_.digits > 10


@pytest.mark.parametrize("size", [1e300, 1e-300, 1e150, 1e-150])
@pytest.mark.parametrize("make", systems())
def test_targets_of_huge_and_tiny_magnitude_give_the_right_result(make: Make, size: float) -> None:
    X, y = data()
    X, y = X / np.abs(X).max(), y / np.abs(y).max()
    plain, scaled = make().fit(X, y), make().fit(X, y * size)
    np.testing.assert_allclose(scaled.predict(X) / size, plain.predict(X), rtol=1e-8)
    assert scaled.certificate_.digits > 10


@pytest.mark.parametrize("size", [1e300, 1e-300, 1e150, 1e-150])
@pytest.mark.parametrize("system", REGRESSIONS.values(), ids=REGRESSIONS)
def test_huge_and_tiny_magnitudes_are_summarised(system: type[Any], size: float) -> None:
    X, y = data()
    X, y = X / np.abs(X).max(), y / np.abs(y).max()
    plain = system().fit(X, y).summary().to_dict()
    for columns, targets in ((X * [size, 1.0, 1.0, 1.0], y), (X, y * size)):
        found = system().fit(columns, targets).summary().to_dict()
        assert found["r_squared"] == pytest.approx(plain["r_squared"], rel=1e-8)
        for a, b in zip(found["coefficients"], plain["coefficients"], strict=True):
            assert a["statistic"] == pytest.approx(b["statistic"], rel=1e-6)
