"""Digits: NIST's certified values, and the certificate's claim against the exact answer in rational arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def test_every_certified_set_has_its_floor() -> None:
    assert set(CERTIFIED) == set(nist.NAMES)


@pytest.mark.parametrize("solver", ["auto", "normal", "qr", "svd"])
@pytest.mark.parametrize("name", nist.NAMES)
def test_certified_values_and_what_is_claimed_of_them(name: str, solver: str) -> None:
    data = nist.read(name)
    model = LinearRegression(fit_intercept=data.fit_intercept, solver=solver).fit(data.X, data.y)
    claim = check_claim(model, exact.solve(data.X, data.y, fit_intercept=data.fit_intercept), data.X)
    if solver != "auto":
        return
    assert claim >= 14
    assert nist.digits(exact.theta(model)[0], data.coef) >= CERTIFIED[name]
    summary = model.summary().to_dict()
    found = [row["std_error"] for row in summary["coefficients"]]
    if name in ("Wampler1", "Wampler2"):  # an exact fit: NIST certifies zeros
        assert np.all(np.abs([*found, summary["sigma"]]) < 1e-9)
        assert summary["r_squared"] == pytest.approx(1.0, abs=1e-15)
        return
    floor = 6.5 if name == "Filip" else 12.0  # the rounding of its powers leaves no more
    assert nist.digits(found, data.std_error) >= floor
    assert nist.digits([summary["sigma"]], [data.resid_sd]) >= floor
    assert nist.digits([summary["r_squared"]], [data.r2]) >= min(floor + 4, 12.0)


def least(p: Problem, **settings: Any) -> LinearRegression:
    return LinearRegression(fit_intercept=p.fit_intercept, **settings)


Fit = tuple[Any, Any, Any, dict[str, Any]]
"""A model, the rows and targets it is of, and what else the exact answer depends on."""


def by(**settings: Any) -> Callable[[Problem, int], Fit]:
    return lambda p, seed: (least(p, **settings).fit(p.X, p.y), p.X, p.y, {})


def several(p: Problem, seed: int) -> Fit:
    Y = np.column_stack([p.y, np.cos(np.arange(len(p.y))), p.X.sum(axis=1)])
    return least(p).fit(p.X, Y), p.X, Y, {}


def weighted(p: Problem, seed: int) -> Fit:
    weight = np.random.default_rng(seed).uniform(0.01, 3.0, len(p.y))
    return least(p).fit(p.X, p.y, sample_weight=weight), p.X, p.y, {"sample_weight": weight}


def ridge(p: Problem, seed: int) -> Fit:
    """A penalty that is rounded on its way, to a square root and back, moves small coefficients by some units."""
    penalty = float(10 ** np.random.default_rng(seed).uniform(-12, 2) * (p.X**2).sum(axis=0).mean())
    return Ridge(penalty=penalty, fit_intercept=p.fit_intercept).fit(p.X, p.y), p.X, p.y, {"penalty": penalty}


def float32(p: Problem, seed: int) -> Fit:
    X = p.X.astype(np.float32)
    return least(p).fit(X, p.y), X.astype(np.float64), p.y, {}


def dependent(solver: str) -> Callable[[Problem, int], Fit]:
    """Return fits to whole numbers, so that the columns depend on each other exactly."""

    def fit(p: Problem, seed: int) -> Fit:
        rng = np.random.default_rng(seed)
        X = rng.integers(-20, 20, size=(12, 5)).astype(float)
        X[:, 4] = (X[:, 0], X[:, :3].sum(axis=1), 2 * X[:, 1] - X[:, 3], np.zeros(12))[seed % 4]
        X *= 2.0 ** rng.integers(-3, 4, size=5)
        y = rng.normal(size=12)
        model = least(p, solver=solver).fit(X, y)
        assert model.rank_ == 4
        return model, X, y, {}

    return fit


def sparse_rows(p: Problem, seed: int) -> Fit:
    """Sparse rows are not centred, so that a column whose mean dwarfs its spread drowns in the rounding of the sums."""
    return least(p).fit(sparse.csr_array(p.X), p.y), p.X, p.y, {}


def sparse_sums(p: Problem, seed: int) -> Fit:
    return least(p).partial_fit(sparse.csr_array(p.X), p.y), p.X, p.y, {}


def parametrized() -> list[Any]:
    """Return ways to fit, seeds, and the least median of claims, with names."""
    night = pytest.mark.night
    cases: dict[str, tuple[Any, Sequence[int], float]] = {
        **{f"solver {name}": (by(solver=name), range(1000, 1040), 0.0) for name in ("normal", "qr", "svd")},
        "several targets": (several, range(3000, 3040), 0.0),
        "weighted": (weighted, range(4000, 4040), 12.0),
        "ridge": (ridge, range(5000, 5040), 12.0),
        "ridge, hard": (ridge, (40208, 40799, 50494, 50961), 12.0),
        "float32": (float32, range(6000, 6030), 0.0),
        "sparse": (sparse_rows, range(8000, 8040), 0.0),
        "sparse, large means": (sparse_rows, (20227, 21379), 0.0),
        "sparse sums": (sparse_sums, range(8000, 8040), 0.0),
        "sparse sums, large means": (sparse_sums, (10113, 11391, 20141), 0.0),
        # residuals of far targets cancel against the intercept, which costs digits even in double-double
        "far targets": (by(), FAR_TARGETS, 10.0),
    }
    for solver in ("auto", "normal", "qr", "svd"):
        cases[f"dependent, {solver}"] = (dependent(solver), range(7000, 7030), 9.0 * (solver == "auto"))
        cases[f"dependent, hard, {solver}"] = (dependent(solver), DEPENDENT, 9.0 * (solver == "auto"))
    groups = [
        pytest.param(by(), range(50 * k, 50 * k + 50), 12.0, id=f"random {k}", marks=[night] * (k > 1))
        for k in range(10)
    ]
    return [*groups, *(pytest.param(*case, id=name) for name, case in cases.items())]


@pytest.mark.every
@pytest.mark.parametrize(("fit", "seeds", "median"), parametrized())
def test_the_claim_is_honest_and_useful(fit: Any, seeds: Sequence[int], median: float) -> None:
    claims = []
    for seed in seeds:
        p = draw(seed)
        model, X, y, how = fit(p, seed)
        claims.append(check_claim(model, exact.solve(X, y, fit_intercept=p.fit_intercept, **how), X))
    assert np.median(claims) >= median


@pytest.mark.parametrize("way", ["partial_fit", "merge", "forget"])
def test_the_claim_is_honest_for_sums_that_cannot_be_refined(way: str) -> None:
    claims, conditions = [], []
    for seed in range(2000, 2060):
        p = draw(seed)
        half = len(p.X) // 2
        model, last = (least(p).partial_fit(p.X[part], p.y[part]) for part in (slice(half), slice(half, None)))
        if way == "merge":
            model = model.merge(last)
        else:
            model.partial_fit(p.X[half:], p.y[half:])
        if way == "forget":
            extra = 1.5 * p.X[:half], p.y[:half] - p.y[:1]
            try:
                model.partial_fit(*extra).forget(*extra)
            except ValueError:
                continue
        claims.append(check_claim(model, exact.solve(p.X, p.y, fit_intercept=p.fit_intercept), p.X))
        conditions.append(model.certificate_.condition)
    easy = np.array(claims)[np.array(conditions) < 1e3]
    assert len(easy) >= 5
    assert np.median(easy) >= 9


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
