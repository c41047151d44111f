"""Two-stage least squares and LIML from sums: against R (AER), by which tests/data/instruments was made, and laws."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from adaline.arrays import Array
from adaline.solvers.least_squares.choose import read_moments
from adaline.solvers.least_squares.k_class import KClassFit, Roles, solve_k_class
from adaline.sources import ArraySource
from tests.instruments import CASES, THEIRS, columns_of


def solved(
    x: Array, y: Array, roles: Roles, method: Any = "2sls", intercept: bool = True, weight: Any = None
) -> KClassFit:
    return solve_k_class(read_moments(ArraySource(x, y, weight), intercept), roles, intercept, method)


@pytest.mark.every
@pytest.mark.parametrize("case", CASES)
def test_coefficients_are_those_of_r(case: str) -> None:
    x, y, weight, roles, intercept = columns_of(case)
    found = solved(x, y[:, None], roles, "liml" if case.startswith("liml") else "2sls", intercept, weight)
    theirs = THEIRS[case, "estimate"]
    mine = found.fits[0].solution.theta[0, int(not intercept) :][: len(theirs)]
    if case == "absorbed":
        mine = found.fits[0].solution.theta[0, 1:3]
    assert mine == pytest.approx(theirs, rel=1e-9)
    if case.startswith("liml"):
        assert found.kappa[0] == pytest.approx(THEIRS[case, "kappa"][0], rel=1e-12)


def exactly(x: Array, z: Array, y: Array) -> Array:
    """Return the coefficients of two-stage least squares in rational arithmetic."""
    x, z, y = (np.vectorize(Fraction, otypes=[object])(one) for one in (x, z, y[:, None]))

    def solve(a: Any, b: Any) -> Any:
        rows = np.hstack([a, b])
        for i in range(len(rows)):
            rows[i] /= rows[i, i]
            others = np.arange(len(rows)) != i
            rows[others] -= np.outer(rows[others, i], rows[i])
        return rows[:, len(rows) :]

    first = x.T @ z @ solve(z.T @ z, z.T @ np.hstack([x, y]))
    return solve(first[:, :-1], first[:, -1:])[:, 0].astype(float)


@pytest.mark.every
@pytest.mark.parametrize("strength", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize("mean", [0.0, 1e5])
def test_digits_of_the_certificate_hold(strength: float, mean: float) -> None:
    rng = np.random.default_rng(3)
    n = 40
    x, z, error = rng.normal(size=(n, 1)), rng.normal(size=(n, 3)), rng.normal(size=n)
    d = strength * z.sum(axis=1) + error
    columns = np.column_stack([x, d, z]) + mean
    y = 2 * d + x[:, 0] + error
    found = solved(columns, y[:, None], Roles(2, np.array([1])))
    ones = np.ones((n, 1))
    exact = exactly(np.hstack([ones, columns[:, :2]]), np.hstack([ones, columns[:, [0, 2, 3, 4]]]), y)
    mine, proof = found.fits[0].solution.theta[0], found.fits[0].solution.certificate
    error = np.abs(mine / exact - 1).max()
    assert error <= 10.0**-proof.digits
    assert proof.digits >= -np.log10(error + 1e-16) - 4
    assert found.identified


def test_instruments_that_do_not_tell_columns_apart() -> None:
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(50, 1)), rng.normal(size=(50, 1))
    y = rng.normal(size=(50, 1))
    d = np.hstack([z, 2 * z]) + rng.normal(size=(50, 2))
    both = Roles(3, np.array([1, 2]))
    assert not solved(np.hstack([x, d, z, 3 * z]), y, both).identified
    assert solved(np.hstack([x, d, z, rng.normal(size=(50, 1))]), y, both).identified


def test_scaling_by_powers_of_two_changes_no_bit() -> None:
    x, y, _, roles, _ = columns_of("liml two")
    powers = np.exp2(np.array([40, -3, 7, 0, 12, -30]))
    for method in ("2sls", "liml"):
        one, two = (solved(rows, y[:, None], roles, method).fits[0].solution.theta[0] for rows in (x, x * powers))
        assert (one[1:] == two[1:] * powers[:3]).all()
