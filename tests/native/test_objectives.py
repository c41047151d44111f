"""Functions of vectors against mpmath on every instruction set, and what the kernels of likelihoods refuse."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from adaline.losses import LOSSES
from tests.sums.test_objective import problem
from tests.turns import in_turn, on_every_isa

native = pytest.importorskip("adaline._native")
NONE = native.Second.none


def values(loss: str, z: Any, row: int = 0, rows: int = 1) -> Any:
    """Return the loss at targets zero of as many machines as there are outputs z, from one row of some."""
    outputs, weight = len(z), np.zeros(rows)
    weight[row] = 1.0
    sums, theta = np.zeros(3 * outputs), np.stack([z, np.zeros(outputs)], axis=1)
    t, view = np.zeros((rows, outputs)), (np.ones(1), np.zeros(1))
    native.objective_dense(sums, np.ones((rows, 1)), native.Loss[loss], 0.0, t, weight, theta, *view, NONE)
    return sums[:outputs]


def some(row: int) -> tuple[tuple[str, Any, Any, float], ...]:
    """Return losses with outputs, the functions that they are, and how many ulps these are off."""
    rng = np.random.default_rng(row)
    small, draw = rng.normal(size=60) * 10.0 ** rng.integers(-12, 1, 60), rng.uniform
    return (
        ("poisson", [*small, *draw(-700, 700, 100), *draw(-1, 1, 100), 0.0, -0.0], mpmath.exp, 2),
        (
            "logistic",
            [*-np.abs(small), *draw(-40, 0, 100), *draw(-700, 0, 50)],
            lambda z: mpmath.log1p(mpmath.exp(z)),
            4,
        ),
        ("tanh_squared", [*small, *draw(-3, 3, 100), *draw(-800, 800, 30)], lambda z: mpmath.tanh(z) ** 2 / 2, 8),
    )


@pytest.mark.every
@pytest.mark.parametrize("row", range(11))
def test_functions_within_ulps(row: int) -> None:
    for loss, z, function, ulps in some(row):
        with mpmath.workdps(40):
            exact = [function(mpmath.mpf(float(a))) for a in z]

            @on_every_isa
            def natively(loss: str = loss, z: Any = z, exact: Any = exact, ulps: float = ulps) -> None:
                for a, b in zip(values(loss, np.array(z), row, 11), exact, strict=True):
                    assert abs(mpmath.mpf(float(a)) - b) <= ulps * np.spacing(abs(float(b))), (a, b)

            natively()


@on_every_isa
def test_functions_at_their_ends() -> None:
    z = np.array([709.78, 709.79, 1e9, np.inf, -745.13, -745.14, -1e9, -np.inf, np.nan])
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_allclose(values("poisson", z[:3]), np.exp(z[:3]), rtol=4e-16)
        np.testing.assert_array_equal(values("poisson", z[4:7]), np.exp(z[4:7]))
    subnormal = np.linspace(-744, -709, 50)
    np.testing.assert_allclose(values("poisson", subnormal), np.exp(subnormal), rtol=4e-16, atol=1e-323)
    for loss in ("poisson", "logistic", "tanh_squared", "sigmoid_squared", "huber"):
        assert np.isnan(values(loss, z[-1:])).all()


@in_turn("outputs", [2, 3, 17, 200])
@on_every_isa
def test_the_sum_of_many_classes_keeps_small_values(outputs: int) -> None:
    """One class has the output 0, the others -60: all derivatives are sums of e^-60."""
    theta, one, small = np.full((outputs, 2), [-60.0, 0.0]), np.ones((1, 1)), np.exp(-60.0)
    theta[0] = 0.0
    first, side = np.log1p((outputs - 1) * small), 2 * outputs
    sums = np.zeros(1 + side + side**2)
    at = one, native.Loss.softmax, 0.0, 0 * one, None, theta, np.ones(1), np.zeros(1)
    native.objective_dense(sums, *at, native.Second.all)
    np.testing.assert_allclose(sums[0], first, rtol=1e-13)
    np.testing.assert_allclose(sums[1 : 1 + side : 2], [-first, *[small] * (outputs - 1)], rtol=1e-13)
    common = np.full((outputs, outputs), small)
    common[1:, 1:] **= 2
    np.fill_diagonal(common, -small)
    common[0, 0] = -first
    np.testing.assert_allclose(sums[1 + side :].reshape(side, -1)[::2, ::2], -common, rtol=1e-13)


@pytest.mark.parametrize(
    "wrong",
    [
        {"sums": np.zeros(9)},
        {"loss": native.Loss.softmax},
        {"t": np.ones((20, 1))},
        {"t": np.ones((5, 2))},
        {"theta": np.zeros((2, 3))},
        {"theta": np.zeros((3, 4))},
        {"scale": np.ones(2)},
    ],
    ids=lambda wrong: f"{next(iter(wrong))}",
)
def test_wrong_shapes_are_refused(wrong: dict[str, Any]) -> None:
    block, point = problem(LOSSES["logistic"](), 20, 3, 2)
    given = {"sums": np.zeros(2 + 2 * 4), "loss": native.Loss.logistic, "t": block.t, "theta": point.theta}

    def run(**changed: Any) -> None:
        now = given | {"scale": point.view.scale} | changed
        rest = now["loss"], 0.0, now["t"], None, now["theta"], now["scale"], point.view.offset, NONE
        native.objective_dense(now["sums"], block.x, *rest)

    run()
    with pytest.raises(ValueError, match=r"must|size"):
        run(**wrong)


def test_a_sparse_column_that_is_not_there_is_refused() -> None:
    block, point = problem(LOSSES["logistic"](), 20, 3, 2, "csr")
    x, indices = block.x, block.x.indices.copy()
    indices[5] = 3
    rest = native.Loss.logistic, 0.0, block.t, None, point.theta, *point.view, NONE
    with pytest.raises(ValueError, match="outside"):
        native.objective_csr(np.zeros(2 + 2 * 4), x.data, indices, x.indptr, *rest)
