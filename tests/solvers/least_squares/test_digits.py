"""Digits: NIST's certified values, and the certificate's claim against the exact answer in rational arithmetic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from adaline import LinearRegression, Ridge
from adaline.arrays import Array
from tests import nist
from tests.solvers.least_squares import exact

CERTIFIED = {
    "Norris": 13.9,
    "Pontius": 13.0,
    "NoInt1": 14.0,
    "NoInt2": 14.0,
    "Longley": 14.0,
    "Filip": 7.5,
    **{f"Wampler{i}": 13.0 for i in range(1, 6)},
}
GROUPS, PER_GROUP = 10, 50
DEPENDENT = (10722, 11386, 20370, 20526, 21414)
FAR_TARGETS = (10624, 17454, 18725, 19290, 20696, 21571, 25064, 26574, 26768)  # the hardest of twenty thousand


@dataclass(frozen=True)
class Problem:
    """A small problem of known condition."""

    X: Array
    y: Array
    fit_intercept: bool


def draw(seed: int) -> Problem:
    """A design of condition 1 to 1e12, some of it shifted or in odd units, with a target that fits it more or less."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    n = int(rng.integers(d + 2, 15))
    fit_intercept, shifted, scaled = (bool(v) for v in rng.random(3) < (0.5, 0.4, 0.4))
    condition = 10 ** rng.uniform(0, 6 if shifted and not fit_intercept else 12)
    X = orthogonal(rng, n, d) * np.geomspace(1, 1 / condition, d) @ orthogonal(rng, d, d)
    if shifted:
        X = X + 10 ** rng.uniform(0, 6) * rng.normal(size=d)
    if scaled:
        X = X * 10 ** rng.uniform(-12, 12, size=d)
    y = X @ (rng.normal(size=d) / np.abs(X).max(axis=0))
    match rng.integers(4):
        case 1:
            y = y + 10 ** rng.uniform(-8, 0) * rng.normal(size=n)
        case 2:
            y = rng.normal(size=n)
        case 3:
            y = y + 10 ** rng.uniform(0, 8)
    return Problem(X, y, fit_intercept)


def orthogonal(rng: np.random.Generator, n: int, d: int) -> Array:
    """n x d with orthonormal columns."""
    return np.linalg.qr(rng.normal(size=(n, d)))[0]


def check_claim(model: Any, answer: list[list[Any]], X: Array) -> float:
    """Assert that a certificate claims at most one digit too many; return the claim."""
    claim = float(model.certificate_.digits)
    reached = exact.digits(exact.theta(model), answer, X)
    assert claim <= reached + 1, f"claims {claim:.2f} digits, has {reached:.2f}: {model.certificate_}"
    return claim


def fit_nist(name: str) -> Any:
    data = nist.read(name)
    return LinearRegression(fit_intercept=data.fit_intercept).fit(data.X, data.y)


def test_every_certified_set_has_its_floor() -> None:
    assert set(CERTIFIED) == set(nist.NAMES)


@pytest.mark.parametrize("name", nist.NAMES)
def test_certified_coefficients(name: str) -> None:
    assert nist.digits(exact.theta(fit_nist(name))[0], nist.read(name).coef) >= CERTIFIED[name]


@pytest.mark.parametrize("name", nist.NAMES)
def test_certified_standard_errors_residual_and_r_squared(name: str) -> None:
    data, summary = nist.read(name), fit_nist(name).summary().to_dict()
    found = [row["std_error"] for row in summary["coefficients"]]
    if name in ("Wampler1", "Wampler2"):  # an exact fit: NIST certifies zeros
        assert np.all(np.abs(found) < 1e-9)
        assert summary["sigma"] < 1e-9
        assert summary["r_squared"] == pytest.approx(1.0, abs=1e-15)
        return
    floor = 6.5 if name == "Filip" else 12.0  # the rounding of its powers leaves no more
    assert nist.digits(found, data.std_error) >= floor
    assert nist.digits([summary["sigma"]], [data.resid_sd]) >= floor
    assert nist.digits([summary["r_squared"]], [data.r2]) >= min(floor + 4, 12.0)


@pytest.mark.parametrize("solver", ["auto", "normal", "qr", "svd"])
@pytest.mark.parametrize("name", nist.NAMES)
def test_the_claim_is_honest_on_certified_sets(name: str, solver: str) -> None:
    data = nist.read(name)
    model = LinearRegression(fit_intercept=data.fit_intercept, solver=solver).fit(data.X, data.y)
    answer = exact.solve(data.X, data.y, fit_intercept=data.fit_intercept)
    claim = check_claim(model, answer, data.X)
    if solver == "auto":
        assert claim >= 14


@pytest.mark.parametrize("group", range(GROUPS))
def test_the_claim_is_honest_and_useful_on_random_problems(group: int) -> None:
    claims = []
    for seed in range(group * PER_GROUP, (group + 1) * PER_GROUP):
        p = draw(seed)
        model = LinearRegression(fit_intercept=p.fit_intercept).fit(p.X, p.y)
        claims.append(check_claim(model, exact.solve(p.X, p.y, fit_intercept=p.fit_intercept), p.X))
    assert np.median(claims) >= 12


@pytest.mark.parametrize("solver", ["normal", "qr", "svd"])
def test_the_claim_is_honest_whatever_the_solver(solver: str) -> None:
    for seed in range(1000, 1040):
        p = draw(seed)
        model = LinearRegression(fit_intercept=p.fit_intercept, solver=solver).fit(p.X, p.y)
        check_claim(model, exact.solve(p.X, p.y, fit_intercept=p.fit_intercept), p.X)


@pytest.mark.parametrize("seed", FAR_TARGETS)
def test_the_claim_is_honest_for_targets_far_from_zero(seed: int) -> None:
    """The residual of such a target cancels against the intercept, which costs digits even in double-double."""
    p = draw(seed)
    model = LinearRegression(fit_intercept=p.fit_intercept).fit(p.X, p.y)
    assert check_claim(model, exact.solve(p.X, p.y, fit_intercept=p.fit_intercept), p.X) >= 10


@pytest.mark.parametrize("way", ["partial_fit", "merge", "forget"])
def test_the_claim_is_honest_for_sums_that_cannot_be_refined(way: str) -> None:
    claims, conditions = [], []
    for seed in range(2000, 2060):
        p = draw(seed)
        half = len(p.X) // 2
        first, second = (
            LinearRegression(fit_intercept=p.fit_intercept).partial_fit(p.X[rows], p.y[rows])
            for rows in (slice(half), slice(half, None))
        )
        if way == "partial_fit":
            model = first.partial_fit(p.X[half:], p.y[half:])
        elif way == "merge":
            model = first.merge(second)
        else:
            extra = 1.5 * p.X[:half], p.y[:half] - p.y[:1]
            model = first.partial_fit(p.X[half:], p.y[half:]).partial_fit(*extra)
            try:
                model.forget(*extra)
            except ValueError:
                continue
        claims.append(check_claim(model, exact.solve(p.X, p.y, fit_intercept=p.fit_intercept), p.X))
        conditions.append(model.certificate_.condition)
    easy = np.array(claims)[np.array(conditions) < 1e3]
    assert len(easy) >= 5
    assert np.median(easy) >= 9


def test_the_claim_is_honest_for_several_targets() -> None:
    for seed in range(3000, 3040):
        p = draw(seed)
        Y = np.column_stack([p.y, np.cos(np.arange(len(p.y))), p.X.sum(axis=1)])
        model = LinearRegression(fit_intercept=p.fit_intercept).fit(p.X, Y)
        check_claim(model, exact.solve(p.X, Y, fit_intercept=p.fit_intercept), p.X)


def test_the_claim_is_honest_for_weighted_rows() -> None:
    claims = []
    for seed in range(4000, 4040):
        p = draw(seed)
        weight = np.random.default_rng(seed).uniform(0.01, 3.0, len(p.y))
        model = LinearRegression(fit_intercept=p.fit_intercept).fit(p.X, p.y, sample_weight=weight)
        answer = exact.solve(p.X, p.y, fit_intercept=p.fit_intercept, sample_weight=weight)
        claims.append(check_claim(model, answer, p.X))
    assert np.median(claims) >= 12


@pytest.mark.parametrize("seeds", [range(5000, 5040), (40208, 40799, 50494, 50961)], ids=["random", "hard"])
def test_the_claim_is_honest_for_ridge(seeds: Iterable[int]) -> None:
    """A penalty that is rounded on its way, to a square root and back, moves small coefficients by some units."""
    claims = []
    for seed in seeds:
        p = draw(seed)
        penalty = float(10 ** np.random.default_rng(seed).uniform(-12, 2) * (p.X**2).sum(axis=0).mean())
        model = Ridge(penalty=penalty, fit_intercept=p.fit_intercept).fit(p.X, p.y)
        answer = exact.solve(p.X, p.y, fit_intercept=p.fit_intercept, penalty=penalty)
        claims.append(check_claim(model, answer, p.X))
    assert np.median(claims) >= 12


def test_the_claim_is_honest_for_float32_rows() -> None:
    for seed in range(6000, 6030):
        p = draw(seed)
        X = p.X.astype(np.float32)
        answer = exact.solve(X, p.y, fit_intercept=p.fit_intercept)
        check_claim(LinearRegression(fit_intercept=p.fit_intercept).fit(X, p.y), answer, X.astype(np.float64))


@pytest.mark.parametrize("seeds", [range(8000, 8040), (20227, 21379)], ids=["random", "large means"])
def test_the_claim_is_honest_for_sparse_rows(seeds: Iterable[int]) -> None:
    """Sparse rows are not centred, so that a column whose mean dwarfs its spread drowns in the rounding of the sums."""
    for seed in seeds:
        p = draw(seed)
        model = LinearRegression(fit_intercept=p.fit_intercept).fit(sparse.csr_array(p.X), p.y)
        check_claim(model, exact.solve(p.X, p.y, fit_intercept=p.fit_intercept), p.X)


@pytest.mark.parametrize("seeds", [range(8000, 8040), (10113, 11391, 20141)], ids=["random", "large means"])
def test_the_claim_is_honest_for_sums_of_sparse_rows(seeds: Iterable[int]) -> None:
    for seed in seeds:
        p = draw(seed)
        model = LinearRegression(fit_intercept=p.fit_intercept).partial_fit(sparse.csr_array(p.X), p.y)
        check_claim(model, exact.solve(p.X, p.y, fit_intercept=p.fit_intercept), p.X)


@pytest.mark.parametrize("seeds", [range(7000, 7030), DEPENDENT], ids=["random", "hard"])
@pytest.mark.parametrize("solver", ["auto", "normal", "qr", "svd"])
def test_the_claim_is_honest_for_dependent_columns(solver: str, seeds: Iterable[int]) -> None:
    """Whole numbers, so that the columns depend on each other exactly."""
    claims = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = rng.integers(-20, 20, size=(12, 5)).astype(float)
        X[:, 4] = (X[:, 0], X[:, :3].sum(axis=1), 2 * X[:, 1] - X[:, 3], np.zeros(12))[seed % 4]
        X *= 2.0 ** rng.integers(-3, 4, size=5)
        fit_intercept, y = draw(seed).fit_intercept, rng.normal(size=12)
        model = LinearRegression(fit_intercept=fit_intercept, solver=solver).fit(X, y)
        assert model.rank_ == 4
        claims.append(check_claim(model, exact.solve(X, y, fit_intercept=fit_intercept), X))
    assert solver != "auto" or np.median(claims) >= 9


@pytest.mark.parametrize("ratio", [1e3, 1e6, 1e9, 1e15])
@pytest.mark.parametrize("solver", ["auto", "normal", "qr", "svd"])
def test_dependent_columns_in_large_units_do_not_disturb_those_in_small_ones(solver: str, ratio: float) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(-20, 20, size=(2, 12)).astype(float)
    X = np.column_stack([a, 2 * a, b / ratio])
    y = rng.normal(size=12)
    answer = exact.solve(X, y)
    model = LinearRegression(solver=solver).fit(X, y)
    assert model.rank_ == 2
    assert list(model.aliased_) == ["x1"]
    assert exact.digits(exact.theta(model), answer, X) >= 12
    check_claim(model, answer, X)
