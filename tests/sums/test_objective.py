"""The kernels of likelihoods equal their references, for every loss, layout and number of outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from adaline import kernels
from adaline.arrays import as_dense
from adaline.block import Block, Columns, Shape, UnitsApart
from adaline.losses import LOSSES, CustomLoss, Huber, Loss
from adaline.sums import HessianProduct, Objective, Point, Spread, ThinnedCurvature, Thinning, View
from adaline.sums.objective import objective_reference, product_reference
from adaline.sums.spread import spread_reference

needs_native = pytest.mark.skipif(kernels.native is None, reason="the native kernels could not be built")
every_loss = pytest.mark.parametrize("name", LOSSES)

LAYOUTS: dict[str, Any] = {
    "C": lambda x: x,
    "F": np.asfortranarray,
    "float32": lambda x: x.astype(np.float32),
    "every second": lambda x: np.repeat(np.repeat(x, 2, 0), 2, 1)[::2, ::2],
    "columns": lambda x: Columns([np.ascontiguousarray(c) for c in x.T]),
    "csr": sparse.csr_array,
    "csr float32": lambda x: sparse.csr_matrix(x.astype(np.float32)),
    "units apart": lambda x: UnitsApart.of(sparse.csr_array(x)),
}


def targets(loss: Loss, rng: Any, n: int, outputs: int) -> Any:
    if loss.coupled:
        return rng.integers(0, outputs, (n, 1)).astype(float)
    if loss.name in ("perceptron", "squared_hinge", "tanh_squared"):
        return np.sign(rng.normal(size=(n, outputs)))
    if loss.name in ("logistic", "sigmoid_squared"):
        return rng.integers(0, 2, (n, outputs)).astype(float)
    return np.abs(rng.normal(size=(n, outputs))) + 0.1


def problem(loss: Loss, n: int, D: int, outputs: int, layout: str = "C") -> tuple[Block, Point]:
    rng = np.random.default_rng(n + 7 * D)
    x = rng.normal(size=(n, D))
    x = np.where(rng.random(x.shape) < 0.3, 0.0, x).astype(np.float32).astype(float)
    x[np.abs(x) > 0.8] = np.sign(x[np.abs(x) > 0.8])
    theta, direction = rng.normal(size=(2, outputs, 1 + D)) / np.sqrt(1 + D)
    view = View(np.ldexp(1.0, rng.integers(-2, 3, D)), rng.normal(size=D))
    block = Block(LAYOUTS[layout](x), targets(loss, rng, n, outputs), rng.integers(0, 4, n).astype(float))
    return block, Point(loss, theta, view, direction)


def seconds(loss: Loss) -> tuple[str, ...]:
    """Return which second derivatives a loss has: those of all outputs too, where it couples them."""
    return ("alone", "all") if loss.coupled else ("alone",)


def reference(block: Block, point: Point, second: str) -> Any:
    return objective_reference(block.gathered(), point, second)


def assert_native(block: Block, point: Point, second: str) -> None:
    shape, outputs, coupled = block.shape, len(point.theta), point.loss.coupled
    out = Objective.zero(shape, outputs=outputs, coupled=coupled, second=second)
    out.add(block, point)
    wanted = reference(block, point, second)
    np.testing.assert_allclose(out.sums, wanted, rtol=1e-12, atol=1e-13 * (1 + np.abs(wanted).max()))
    out.add(block, point)
    np.testing.assert_allclose(out.sums, 2 * wanted, rtol=1e-12, atol=1e-13 * (1 + np.abs(wanted).max()))
    if second != "none":
        np.testing.assert_array_equal(out.hessian, out.hessian.swapaxes(-1, -2))
    if second == "none":
        product = HessianProduct.zero(shape, outputs=outputs)
        product.add(block, point)
        wanted = product_reference(block.gathered(), point)
        np.testing.assert_allclose(product.sums, wanted, rtol=1e-12, atol=1e-13 * (1 + np.abs(wanted).max()))


@needs_native
@every_loss
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout(name: str, layout: str) -> None:
    loss = LOSSES[name]()
    for n in (0, 1, 101):
        block, point = problem(loss, n, 5, 3, layout)
        for second in ("none", *seconds(loss)):
            assert_native(block, point, second)
            assert_native(Block(block.x, block.t), point, second)


@needs_native
@pytest.mark.parametrize("name", ["logistic", "softmax"])
@pytest.mark.parametrize("outputs", [1, 2, 4, 7, 9, 19, 41])
@pytest.mark.parametrize("D", [1, 7, 8, 9, 24, 65, 300, 1500])
def test_every_shape(name: str, outputs: int, D: int) -> None:
    for layout in ("C", "F", "csr", "units apart"):
        block, point = problem(LOSSES[name](), 205, D, outputs, layout)
        for second in ("none", *seconds(point.loss)) if outputs < 10 and D < 70 else ("none",):
            assert_native(block, point, second)


@needs_native
@every_loss
def test_nothing_hides_a_bad_number(name: str) -> None:
    for layout in LAYOUTS:
        block, point = problem(LOSSES[name](), 60, 3, 2, layout)
        rows = as_dense(block.gathered().x).copy()
        rows[50, 1] = np.nan
        weight = np.ones(60)
        weight[50] = 0.0
        for w in (None, weight):
            out = Objective.zero(block.shape, outputs=2, coupled=point.loss.coupled, second="none")
            out.add(Block(LAYOUTS[layout](rows), block.t, w), point)
            assert not out.finite


@needs_native
def test_padding_is_not_seen() -> None:
    loss = LOSSES["poisson"]()
    for layout in LAYOUTS:
        block, point = problem(loss, 3, 2, 1, layout)
        point.theta[:, 0] = 800.0  # a row of zeros would overflow
        point.view.offset[:] = 0.0
        far = Block(LAYOUTS[layout](np.full((3, 2), -1.0)), block.t)
        point.theta[:, 1:] = 400.0
        out = Objective.zero(block.shape, second="alone")
        out.add(far, Point(loss, point.theta, View(np.ones(2), np.zeros(2))))
        assert out.finite


class Own(Huber):
    """Huber's loss as a user would write it: without a kernel."""

    kernel = None


@needs_native
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("second", ["none", "alone"])
def test_losses_without_a_kernel(layout: str, second: str) -> None:
    built_in, own = Huber(0.7), Own(0.7)
    custom = CustomLoss(built_in.value, built_in.slope, built_in.curvature)
    for loss in (own, custom):
        for n in (0, 1, 333):
            block, point = problem(loss, n, 6, 2, layout)
            assert_native(block, point, second)


@needs_native
@pytest.mark.parametrize("layout", [layout for layout in LAYOUTS if "csr" not in layout])
@pytest.mark.parametrize("D", [1, 8, 21])
def test_spread(layout: str, D: int) -> None:
    rng = np.random.default_rng(D)
    for n in (1, 5, 300):
        x = (1e6 + rng.normal(size=(n, D))).astype(np.float32).astype(float)
        weight = rng.integers(0, 3, n).astype(float)
        weight[0] = 1.0
        x[weight == 0] *= 100
        for w in (None, weight):
            block = Block(LAYOUTS[layout](x), np.zeros((n, 1)), w)
            out = Spread.zero(Shape(D, 1))
            out.add(block)
            total, mean, second, largest = spread_reference(block, np.zeros(D))
            assert out.weight == total
            np.testing.assert_allclose(out.mean, mean, rtol=1e-15)
            np.testing.assert_allclose(out.second, second, rtol=1e-12, atol=1e-18 * (mean**2).max())
            np.testing.assert_array_equal(out.largest, largest)


@needs_native
def test_spread_of_constant_columns_and_bad_numbers() -> None:
    out = Spread.zero(Shape(2, 1))
    out.add(Block(np.full((500, 2), 0.1), np.zeros((500, 1))))
    np.testing.assert_array_equal(out.second, 0.0)
    np.testing.assert_array_equal(out.mean, 0.1)
    weight = np.ones(500)
    weight[100] = 0.0
    for bad in (np.nan, np.inf):
        for w in (None, weight):
            x = np.ones((500, 2))
            x[100, 1] = bad
            block = Block(x, np.zeros((500, 1)), w)
            out = Spread.zero(Shape(2, 1))
            with np.errstate(invalid="ignore"):
                out.add(block)
                _, mean, _, largest = spread_reference(block, np.zeros(2))
            assert not out.finite
            np.testing.assert_array_equal(out.mean, mean)
            np.testing.assert_array_equal(out.largest, largest)


@needs_native
@pytest.mark.parametrize("outputs", [1, 3])
def test_sparse_rows_out_of_order_and_with_repetitions(outputs: int) -> None:
    indptr, columns = np.array([0, 4, 4, 7]), np.array([3, 0, 3, 1, 2, 2, 2])
    x = sparse.csr_array((np.array([1.0, 2, 4, 8, 1, 1, 16]) / 16, columns, indptr), shape=(3, 4))
    _, point = problem(LOSSES["logistic"](), 3, 4, outputs)
    assert_native(Block(x, np.ones((3, outputs))), point, "alone")
    assert_native(Block(x, np.ones((3, outputs))), point, "none")


@needs_native
def test_machines_of_the_intercept_alone() -> None:
    _, point = problem(LOSSES["logistic"](), 3, 0, 2)
    for second in ("none", "alone"):
        assert_native(Block(np.zeros((30, 0)), np.ones((30, 2))), point, second)
    assert_native(*problem(LOSSES["softmax"](), 30, 0, 3), "all")
    out = Spread.zero(Shape(0, 1))
    out.add(Block(np.zeros((30, 0)), np.ones((30, 1))))
    assert out.weight == 30


@pytest.mark.parametrize("layout", LAYOUTS)
def test_thinned_curvature_is_that_of_all_rows_on_average(layout: str) -> None:
    block, point = problem(LOSSES["logistic"](), 40_000, 3, 2, layout)
    whole = Objective.zero(block.shape, outputs=2, second="alone")
    whole.add(block, point)
    thinned = ThinnedCurvature.zero(block.shape, outputs=2)
    thinned.add(block, Thinning(point, np.full(2, 2.0)))
    scale = np.sqrt(np.einsum("kii->ki", whole.hessian))
    error = np.abs(thinned.sums - whole.hessian) / (scale[:, :, None] * scale[:, None, :])
    assert 1e-4 < error.max() < 0.06  # some rows were left out, and the others stand for them


def test_rows_that_count_are_fixed_by_their_numbers() -> None:
    block, point = problem(LOSSES["logistic"](), 500, 3, 2)
    thinning = Thinning(point, np.full(2, 2.0))
    whole, parts = (ThinnedCurvature.zero(block.shape, outputs=2) for _ in range(2))
    whole.add(block, thinning)
    for piece in block.pieces(150):
        parts.add(piece, thinning)
    np.testing.assert_allclose(parts.sums, whole.sums, rtol=1e-12, atol=1e-9)
