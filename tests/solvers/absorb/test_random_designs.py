"""Random small tables: fits that absorb effects against dummy variables solved by an SVD, and graphs that are hard."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy

from adaline import ElasticNet, LinearRegression, Ridge, open_table
from adaline.errors import InvalidParameter
from adaline.results import Status
from adaline.solvers.absorb import projection
from adaline.solvers.absorb.projection import Projection, SortedRows
from adaline.sources.tables.effects import Levels


def table_of(seed: int) -> dict[str, Any]:
    """Return 30 to 90 rows of two numbers and three columns of levels; c may be nested in a."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 90))
    a, b = rng.integers(0, rng.integers(2, 12), n), rng.integers(0, rng.integers(2, 8), n)
    c = a // 2 if seed % 3 == 0 else rng.integers(0, 3, n)
    x = rng.normal(size=n) + 0.5 * a
    z = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4) + b
    y = x - z + a + 0.3 * b + rng.normal(size=n)
    return {"y": y, "x": x, "z": z, "w": rng.integers(1, 4, n).astype(np.float64), "a": a, "b": b, "c": c}


def dummies(data: dict[str, Any], names: str) -> Any:
    return np.hstack([(data[name][:, None] == np.unique(data[name])).astype(float) for name in names])


@pytest.mark.parametrize("seed", range(30))
def test_least_squares_is_that_with_dummy_variables(seed: int) -> None:
    data, names = table_of(seed), "abc"[: 1 + seed % 3]
    weighted = seed % 2 == 1
    root = np.sqrt(data["w"]) if weighted else np.ones(len(data["y"]))
    design = np.hstack([np.stack([data["x"], data["z"]]).T, dummies(data, names)]) * root[:, None]
    inverse = np.linalg.pinv(design, rcond=1e-11)
    theta, rank = inverse @ (root * data["y"]), int(np.linalg.matrix_rank(design, tol=1e-9))
    rss = float(((root * data["y"] - design @ theta) ** 2).sum())
    table = open_table(data, target="y", features=["x", "z"], absorb=list(names), weight="w" if weighted else None)
    model = LinearRegression().fit(table)
    assert np.allclose(model.coef_, theta[:2], rtol=1e-9)
    summary = model.summary().to_dict()
    freedom = root @ root - rank
    assert summary["freedom"] == pytest.approx(freedom)
    errors = [row["std_error"] for row in summary["coefficients"][1:]]
    assert np.allclose(errors, np.sqrt(rss / freedom * (inverse @ inverse.T).diagonal()[:2]), rtol=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_penalties_leave_the_effects_alone(seed: int) -> None:
    data = table_of(seed)
    n, few = len(data["y"]), np.stack([data["x"], data["z"]]).T
    levels = dummies(data, "ab")
    within = np.eye(n) - levels @ np.linalg.pinv(levels)
    design, target, table = within @ few, within @ data["y"], open_table(data, formula="y ~ x + z | a + b")
    ridge = Ridge(penalty=3.0).fit(table)
    assert np.allclose(ridge.coef_, np.linalg.solve(design.T @ design + 3.0 * np.eye(2), design.T @ target), rtol=1e-9)
    assert ridge.certificate_.digits > 9
    assert "absorbed: a" in str(ridge.summary())
    net = ElasticNet(l1=2.0).fit(table)
    slope = design.T @ (target - design @ net.coef_)
    assert np.allclose(slope[net.coef_ != 0], 2.0 * np.sign(net.coef_[net.coef_ != 0]), atol=1e-6)
    assert (np.abs(slope) <= 2.0 + 1e-6).all()
    for model in (ridge, net):
        rest = data["y"] - model.predict(table)
        assert np.allclose(levels.T @ rest, 0.0, atol=1e-8)
        assert len(model.effects_["a"]) == len(np.unique(data["a"]))


def test_penalties_that_are_found_do_not_count_effects() -> None:
    table = open_table(table_of(1), formula="y ~ x + z | a")
    with pytest.raises(InvalidParameter, match="give a number as penalty"):
        Ridge().fit(table)
    for net in (ElasticNet(), ElasticNet(l1=1.0, loss="huber"), ElasticNet(l1=1.0, loss="logistic")):
        with pytest.raises(InvalidParameter, match="ElasticNet absorbs effects under the squared loss"):
            net.fit(table)


def movers(workers: int, firms: int, share: float) -> tuple[Levels, Levels]:
    """Return levels of workers, of five rows each, and of firms on a ring: few workers move, and these to the next."""
    rng = np.random.default_rng(0)
    worker = np.repeat(np.arange(workers), 5)
    home = rng.integers(0, firms, workers)
    moved = (rng.random(workers) < share)[worker] & (np.arange(5 * workers) % 5 > 2)
    firm = (home[worker] + moved) % firms
    found = []
    for name, column in (("worker", worker), ("firm", firm)):
        values, codes = np.unique(column, return_inverse=True)
        found.append(Levels(name, codes.astype(np.int32), values))
    return found[0], found[1]


@pytest.mark.parametrize("weighted", [False, True])
def test_levels_that_hang_together_by_few_rows(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "PATIENCE", 30)  # so that a small graph is a hard one
    levels = movers(1000, 400, 0.3)
    rng = np.random.default_rng(1)
    n = len(levels[0].codes)
    weight = rng.uniform(0.1, 3.0, n) if weighted else None
    x = rng.normal(size=(2, n)) + np.linspace(0, 5, 400)[levels[1].codes]
    w, rows = np.ones(n) if weight is None else weight, np.arange(n)
    first, second = (
        scipy.sparse.csr_array((np.ones(n), (rows, one.codes)), shape=(n, len(one.values))).toarray() for one in levels
    )
    means = (first * (w / (w @ first)[levels[0].codes])[:, None]).T
    within = second - (means @ second)[levels[0].codes]
    inverse = np.linalg.pinv(second.T @ (w[:, None] * within), rcond=1e-12, hermitian=True)
    expected = []
    for u in x:
        left = u - (means @ u)[levels[0].codes]
        expected.append(left - within @ (inverse @ (second.T @ (w * left))))
    root = np.sqrt(w)
    removal = Projection(SortedRows.of(levels), weight).remove_from(x, centre=False)
    assert removal.converged
    assert projection.PATIENCE < removal.iterations < projection.PATIENCE + 100
    for found, wanted, left in zip(x, expected, removal.left, strict=True):
        assert np.linalg.norm(root * (found - wanted)) <= left + 1e-9 * np.linalg.norm(wanted)


def test_a_long_chain_is_solved() -> None:
    size = 20_000
    left, right = np.repeat(np.arange(size), 2), np.repeat(np.arange(size + 1), 2)[1:-1]
    x, noise = np.random.default_rng(0).normal(size=(2, 4 * size))
    data = {"y": 0.5 * x + noise, "x": x, "left": np.tile(left, 2), "right": np.tile(right, 2)}
    model = LinearRegression().fit(open_table(data, target="y", absorb=["left", "right"]))
    assert model.certificate_.status is Status.SOLVED
    assert model.certificate_.digits > 8
    within = x.reshape(2, -1) - x.reshape(2, -1).mean(axis=0)  # every pair of levels has an effect of its own, but one
    assert abs(model.coef_[0] - (within.ravel() @ data["y"]) / (within**2).sum()) < 1e-3
