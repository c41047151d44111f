"""The kernels of likelihoods and of the spread equal their references, on every instruction set, in every layout."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from adaline.arrays import as_dense
from adaline.block import Block, Columns, Shape, UnitsApart
from adaline.losses import LOSSES, CustomLoss, Huber, Loss
from adaline.sums import HessianProduct, Objective, Point, Spread, ThinnedCurvature, Thinning, View, objective
from adaline.sums.objective import objective_reference, product_reference
from adaline.sums.spread import spread_reference
from tests.sums.examples import KERNELS
from tests.turns import ISAS, in_turn, instruction_set, needs_native, on_every_isa

pytestmark = pytest.mark.every
EVERY_LOSS = {**LOSSES, **KERNELS}
every_loss = pytest.mark.parametrize("name", EVERY_LOSS)

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
DENSE = [layout for layout in LAYOUTS if layout[:3] not in ("csr", "uni")]
every_layout = in_turn("layout", LAYOUTS)


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


def assert_native(block: Block, point: Point, *seconds: str, isas: list[str] = ISAS) -> None:
    """Assert that objective and product are those of the references, on every instruction set, and add up."""
    outputs, coupled = len(point.theta), point.loss.coupled
    zeros = [Objective.zero(block.shape, outputs=outputs, coupled=coupled, second=one) for one in seconds]
    wanted = [objective_reference(block.gathered(), point, one) for one in seconds]
    if "none" in seconds:
        zeros.append(HessianProduct.zero(block.shape, outputs=outputs))
        wanted.append(product_reference(block.gathered(), point))
    for zero, sought in zip(zeros, wanted, strict=True):
        size = 1e-13 * (1 + np.abs(sought).max())
        for isa in isas:
            zero.sums[:] = 0.0
            for times in (1, 2):
                with instruction_set(isa):
                    zero.add(block, point)
                np.testing.assert_allclose(zero.sums, times * sought, rtol=1e-12, atol=size, err_msg=isa)
            if isinstance(zero, Objective) and zero.second != "none":
                np.testing.assert_array_equal(zero.hessian, zero.hessian.swapaxes(-1, -2))


def seconds(loss: Loss) -> tuple[str, ...]:
    """Return which second derivatives a loss has: those of all outputs too, where it couples them."""
    return ("none", "alone", "all") if loss.coupled else ("none", "alone")


@needs_native
@every_loss
@every_layout
def test_every_loss_in_every_layout(name: str, layout: str) -> None:
    loss = EVERY_LOSS[name]()
    for n, D, outputs in ((0, 5, 3), (1, 5, 3), (97, 11, 3), (203, 4, 2), (9, 33, 1)):
        block, point = problem(loss, n, D, outputs, layout)
        far = np.where(block.weight == 0, 2.0**12, 1.0)[:, None] * as_dense(block.gathered().x)  # where losses overflow
        assert_native(Block(LAYOUTS[layout](far), block.t, block.weight), point, *seconds(loss))
        if outputs == 3:
            assert_native(Block(block.x, block.t), point, *seconds(loss))


@needs_native
@pytest.mark.parametrize("name", ["logistic", "softmax"])
@pytest.mark.parametrize("outputs", [1, 2, 4, 7, 9, 19, 41])
@in_turn("D", [1, 7, 8, 9, 24, 65, 300, 1500])
def test_every_shape(name: str, outputs: int, D: int) -> None:
    for layout in ("C", "F", "csr", "units apart"):
        block, point = problem(LOSSES[name](), 205 if D < 100 else 41, D, outputs, layout)
        small = outputs < 10 and D < 30
        assert_native(block, point, *(seconds(point.loss) if small else ("none",)), isas=ISAS if D < 100 else ISAS[-1:])


@needs_native
@every_layout
@pytest.mark.parametrize(("D", "outputs"), [(1, 41), (4, 3), (11, 7), (20, 5), (33, 2), (70, 3), (5, 1)])
def test_second_derivatives_of_all_machines(layout: str, D: int, outputs: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(objective, "FULL_DENSITY", 1.0)  # sparse rows as they are, however many entries they have
        for n in (5, 203):
            assert_native(*problem(LOSSES["softmax"](), n, D, outputs, layout), "all")


@needs_native
@every_loss
def test_nothing_hides_a_bad_number(name: str) -> None:
    for layout in LAYOUTS:
        block, point = problem(EVERY_LOSS[name](), 60, 3, 2, layout)
        rows = as_dense(block.gathered().x).copy()
        rows[50, 1] = np.nan
        for w in (None, 1.0 - np.eye(60)[50]):
            out = Objective.zero(block.shape, outputs=2, coupled=point.loss.coupled, second="none")
            out.add(Block(LAYOUTS[layout](rows), block.t, w), point)
            assert not out.finite


@every_layout
@on_every_isa
def test_padding_is_not_seen(layout: str) -> None:
    """A row of zeros would overflow."""
    point = Point(LOSSES["poisson"](), np.array([[800.0, 400.0, 400.0]]), View(np.ones(2), np.zeros(2)))
    out = Objective.zero(Shape(2, 1), second="alone")
    out.add(Block(LAYOUTS[layout](np.full((3, 2), -1.0)), np.ones((3, 1))), point)
    assert out.finite


class Own(Huber):
    """Huber's loss as a user would write it: without a kernel."""

    kernel = None


@needs_native
@every_layout
def test_losses_without_a_kernel(layout: str) -> None:
    built_in, own = Huber(0.7), Own(0.7)
    custom = CustomLoss(built_in.value, built_in.slope, built_in.curvature)
    for loss, n in product((own, custom), (0, 1, 203)):
        assert_native(*problem(loss, n, 9, 2, layout), "none", "alone")


@needs_native
def test_rows_that_do_not_touch_and_repeated_rows() -> None:
    block, point = problem(LOSSES["logistic"](), 131, 10, 2)
    for x in (
        np.hstack([block.x, block.x])[:, :10],
        np.ascontiguousarray(block.x[::-1])[::-1],
        np.ascontiguousarray(block.x[:, ::-1])[:, ::-1],
        np.broadcast_to(block.x[0], block.x.shape),
    ):
        assert_native(Block(x, block.t, block.weight), point, "none", "alone")


@needs_native
@pytest.mark.parametrize("outputs", [1, 3])
def test_sparse_rows_out_of_order_and_with_repetitions(outputs: int) -> None:
    indptr, columns = np.array([0, 4, 4, 7]), np.array([3, 0, 3, 1, 2, 2, 2])
    x = sparse.csr_array((np.array([1.0, 2, 4, 8, 1, 1, 16]) / 16, columns, indptr), shape=(3, 4))
    _, point = problem(LOSSES["logistic"](), 3, 4, outputs)
    assert_native(Block(x, np.ones((3, outputs))), point, "alone", "none")


@needs_native
def test_machines_of_the_intercept_alone() -> None:
    _, point = problem(LOSSES["logistic"](), 3, 0, 2)
    assert_native(Block(np.zeros((30, 0)), np.ones((30, 2))), point, "none", "alone")
    assert_native(*problem(LOSSES["softmax"](), 30, 0, 3), "all")
    out = Spread.zero(Shape(0, 1))
    out.add(Block(np.zeros((30, 0)), np.ones((30, 1))))
    assert out.weight == 30


@every_layout
@on_every_isa
def test_the_same_call_gives_the_same_bits(layout: str) -> None:
    block, point = problem(LOSSES["softmax"](), 300, 20, 5, layout)
    found = []
    for _ in range(2):
        out = Objective.zero(block.shape, outputs=5, coupled=True)
        out.add(block, point)
        found.append(out.sums.tobytes())
    assert found[0] == found[1]


@in_turn("layout", [*DENSE, "units apart"])
@pytest.mark.parametrize("D", [1, 8, 21])
@on_every_isa
def test_spread(layout: str, D: int) -> None:
    rng = np.random.default_rng(D)
    for n in (1, 5, 300):
        x = (1e6 + rng.normal(size=(n, D))).astype(np.float32).astype(float)
        weight = rng.integers(0, 3, n).astype(float)
        weight[0] = 1.0
        x[weight == 0] *= 128
        if layout == "units apart":
            x = rng.normal(size=x.shape).astype(np.float32).astype(float) * (rng.random(x.shape) < 0.8)
            x = np.where(rng.random(x.shape) < 0.5, np.sign(x), x)
        for w in (None, weight):
            block = Block(LAYOUTS[layout](x), np.zeros((n, 1)), w)
            out = Spread.zero(Shape(D, 1))
            out.add(block)
            total, mean, second, largest = spread_reference(Block(x, block.t, w), np.zeros(D))
            assert out.weight == total
            np.testing.assert_allclose(out.mean, mean, rtol=1e-15, atol=1e-15)
            np.testing.assert_allclose(out.second, second, rtol=1e-12, atol=1e-18 * (mean**2).max())
            np.testing.assert_array_equal(out.largest, largest)


@on_every_isa
def test_spread_of_constant_columns_and_bad_numbers() -> None:
    out = Spread.zero(Shape(2, 1))
    out.add(Block(np.full((500, 2), 0.1), np.zeros((500, 1))))
    np.testing.assert_array_equal(out.second, 0.0)
    np.testing.assert_array_equal(out.mean, 0.1)
    for bad, w in product((np.nan, np.inf), (None, 1.0 - np.eye(500)[100])):
        x = np.ones((500, 2))
        x[100, 1] = bad
        block, out = Block(x, np.zeros((500, 1)), w), Spread.zero(Shape(2, 1))
        with np.errstate(invalid="ignore"):
            out.add(block)
            _, mean, _, largest = spread_reference(block, np.zeros(2))
        assert not out.finite
        np.testing.assert_array_equal(out.mean, mean)
        np.testing.assert_array_equal(out.largest, largest)


@every_layout
def test_thinned_curvature_is_that_of_all_rows_on_average_and_of_the_numbers_of_rows(layout: str) -> None:
    block, point = problem(LOSSES["logistic"](), 40_000, 3, 2, layout)
    thinning, whole = Thinning(point, np.full(2, 2.0)), Objective.zero(block.shape, outputs=2, second="alone")
    thinned, parts = (ThinnedCurvature.zero(block.shape, outputs=2) for _ in range(2))
    whole.add(block, point)
    thinned.add(block, thinning)
    scale = np.sqrt(np.einsum("kii->ki", whole.hessian))
    error = np.abs(thinned.sums - whole.hessian) / (scale[:, :, None] * scale[:, None, :])
    assert 1e-4 < error.max() < 0.06  # some rows were left out, and the others stand for them
    for piece in block.pieces(40_000):
        parts.add(piece, thinning)
    np.testing.assert_allclose(parts.sums, thinned.sums, rtol=1e-12, atol=1e-7)
