"""Functions of vectors against mpmath, and the kernels of likelihoods against NumPy, on every instruction set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np
import pytest

from adaline.block import Block
from adaline.losses import LOSSES, Huber
from adaline.sums import Objective, Point, objective
from tests.sums.test_objective import LAYOUTS, assert_native, problem

native = pytest.importorskip("adaline._native")
NONE = native.Second.none


@pytest.fixture(autouse=True, params=native.isas())
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    before = native.isa()
    native.use_isa(request.param)
    yield request.param
    native.use_isa(before)


def values(loss: str, z: Any, row: int = 0, rows: int = 1) -> Any:
    """Return the loss at targets zero of as many machines as there are outputs z, from one row of some."""
    outputs, weight = len(z), np.zeros(rows)
    weight[row] = 1.0
    sums, theta = np.zeros(3 * outputs), np.stack([z, np.zeros(outputs)], axis=1)
    t, view = np.zeros((rows, outputs)), (np.ones(1), np.zeros(1))
    native.objective_dense(sums, np.ones((rows, 1)), native.Loss[loss], 0.0, t, weight, theta, *view, NONE)
    return sums[:outputs]


def assert_ulps(found: Any, exact: list[Any], ulps: float) -> None:
    for a, b in zip(found, exact, strict=True):
        assert abs(mpmath.mpf(float(a)) - b) <= ulps * np.spacing(abs(float(b))), (a, b)


@pytest.mark.parametrize("row", range(11))
def test_functions_within_ulps(row: int) -> None:
    rng = np.random.default_rng(row)
    small = rng.normal(size=100) * 10.0 ** rng.integers(-12, 1, 100)
    with mpmath.workdps(40):
        z = np.concatenate([small, rng.uniform(-700, 700, 200), rng.uniform(-1, 1, 200), [0.0, -0.0]])
        assert_ulps(values("poisson", z, row, 11), [mpmath.exp(float(a)) for a in z], 2)
        z = np.concatenate([-np.abs(small), rng.uniform(-40, 0, 200), rng.uniform(-700, 0, 100)])
        exact = [mpmath.log1p(mpmath.exp(float(a))) for a in z]
        assert_ulps(values("logistic", z, row, 11), exact, 4)  # of exp and log1p
        z = np.concatenate([small, rng.uniform(-3, 3, 200), rng.uniform(-800, 800, 50)])
        assert_ulps(values("tanh_squared", z, row, 11), [mpmath.tanh(float(a)) ** 2 / 2 for a in z], 8)  # a square


def test_functions_at_their_ends() -> None:
    z = np.array([709.78, 709.79, 1e9, np.inf, -745.13, -745.14, -1e9, -np.inf, np.nan])
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_allclose(values("poisson", z[:3]), np.exp(z[:3]), rtol=4e-16)
        np.testing.assert_array_equal(values("poisson", z[4:7]), np.exp(z[4:7]))
    subnormal = np.linspace(-744, -709, 50)
    np.testing.assert_allclose(values("poisson", subnormal), np.exp(subnormal), rtol=4e-16, atol=1e-323)
    for loss in ("poisson", "logistic", "tanh_squared", "sigmoid_squared", "huber"):
        assert np.isnan(values(loss, z[-1:])).all()


def test_the_sum_of_many_classes_keeps_small_values() -> None:
    for outputs in (2, 3, 17, 1000):
        z = np.full(outputs, -60.0)
        z[0] = 0.0
        sums, theta = np.zeros(1 + 2 * outputs), np.stack([z, np.zeros(outputs)], axis=1)
        one = np.ones((1, 1))
        native.objective_dense(sums, one, native.Loss.softmax, 0.0, 0 * one, None, theta, np.ones(1), np.zeros(1), NONE)
        exact = np.log1p((outputs - 1) * np.exp(-60.0))
        np.testing.assert_allclose(sums[0], exact, rtol=1e-13)
        np.testing.assert_allclose(sums[1::2][0], -exact, rtol=1e-13)
        np.testing.assert_allclose(sums[1::2][1:], np.exp(-60.0), rtol=1e-13)
        sums, common = np.zeros(1 + 2 * outputs + (2 * outputs) ** 2), np.exp(-60.0) * np.ones((outputs, outputs))
        native.objective_dense(
            sums, one, native.Loss.softmax, 0.0, 0 * one, None, theta, np.ones(1), np.zeros(1), native.Second.all
        )
        common[1:, 1:] **= 2
        np.fill_diagonal(common, -common[0])
        common[0, 0] = -exact
        np.testing.assert_allclose(sums[1 + 2 * outputs :].reshape(2 * outputs, -1)[::2, ::2], -common, rtol=1e-13)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", LOSSES)
def test_kernels_equal_references(layout: str, name: str) -> None:
    for n, D, outputs, second in ((97, 11, 3, "none"), (203, 4, 2, "alone"), (9, 33, 1, "none")):
        block, point = problem(LOSSES[name](), n, D, outputs, layout)
        assert_native(block, point, second)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("D", "outputs"), [(1, 41), (4, 3), (11, 7), (20, 5), (33, 2), (70, 3), (5, 1)])
def test_second_derivatives_of_all_machines(layout: str, D: int, outputs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objective, "FULL", 1.0)  # sparse rows as they are, however many entries they have
    for n in (5, 203):
        assert_native(*problem(LOSSES["softmax"](), n, D, outputs, layout), "all")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_losses_without_a_kernel(layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Huber, "kernel", None)
    for second in ("none", "alone"):
        block, point = problem(Huber(0.7), 203, 9, 2, layout)
        assert_native(block, point, second)


def test_rows_that_do_not_touch_and_repeated_rows() -> None:
    block, point = problem(LOSSES["logistic"](), 131, 10, 2)
    for x in (
        np.hstack([block.x, block.x])[:, :10],
        np.ascontiguousarray(block.x[::-1])[::-1],
        np.ascontiguousarray(block.x[:, ::-1])[:, ::-1],
        np.broadcast_to(block.x[0], block.x.shape),
    ):
        for second in ("none", "alone"):
            assert_native(Block(x, block.t, block.weight), point, second)


def test_wrong_shapes_are_refused() -> None:
    block, point = problem(LOSSES["logistic"](), 20, 3, 2)
    sums, view = np.zeros(2 + 2 * 4), point.view

    def run(
        sums: Any = sums, loss: str = "logistic", t: Any = block.t, theta: Any = point.theta, view: Any = view
    ) -> None:
        native.objective_dense(sums, block.x, native.Loss[loss], 0.0, t, None, theta, *view, NONE)

    run()
    for wrong in (
        {"sums": np.zeros(9)},
        {"loss": "softmax"},
        {"t": block.t[:, :1].copy()},
        {"t": block.t[:5].copy()},
        {"theta": np.zeros((2, 3))},
        {"theta": np.zeros((3, 4))},
        {"view": (np.ones(2), np.zeros(3))},
    ):
        with pytest.raises(ValueError, match=r"must|size"):
            run(**wrong)
    sparse, _ = problem(LOSSES["logistic"](), 20, 3, 2, "csr")
    indices = sparse.x.indices.copy()
    indices[5] = 3
    with pytest.raises(ValueError, match="outside"):
        native.objective_csr(
            sums,
            sparse.x.data,
            indices,
            sparse.x.indptr,
            native.Loss.logistic,
            0.0,
            block.t,
            None,
            point.theta,
            *view,
            NONE,
        )


def test_the_same_call_gives_the_same_bits() -> None:
    for layout in LAYOUTS:
        block, point = problem(LOSSES["softmax"](), 300, 20, 5, layout)
        first, second = (bits_of(block, point) for _ in range(2))
        assert first == second


def bits_of(block: Block, point: Point) -> bytes:
    out = Objective.zero(block.shape, outputs=5, coupled=True)
    out.add(block, point)
    return out.sums.tobytes()
