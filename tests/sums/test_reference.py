"""The native kernels equal the references, which are written in array-API operations and run on any namespace."""

from __future__ import annotations

from itertools import product
from typing import Any

import array_api_strict as xp
import numpy as np
import pytest

from adaline import kernels
from adaline.arrays import as_dense
from adaline.block import Block
from adaline.sums import Moments, Residual
from adaline.sums.moments import fill_reference, merge_reference, subtract_reference
from adaline.sums.residual import residual_reference
from tests.sums.examples import DENSE, EXAMPLES, SHAPE, SPARSE, Example, cut, read_moments, rows_of
from tests.turns import in_turn, on_every_isa

pytestmark = pytest.mark.every


def moments(block: Block, centred: bool) -> Moments:
    out = Moments.zero(SHAPE, centred=centred)
    out.add(block)
    return out


def reference(block: Block, centred: bool) -> Moments:
    out = Moments.zero(SHAPE, centred=centred)
    fill_reference(out, block)
    return out


def assert_as_sure(a: Moments, b: Moments) -> None:
    """Assert that two states say the same in raw units, and are as sure of it."""
    np.testing.assert_array_equal(a.buffer[:3], b.buffer[:3])
    next(e for e in EXAMPLES if e.kind is Moments).assert_close(a, b)
    ours, theirs = (np.ldexp(m.noise, 2 * m.exponent.astype(int)) for m in (a, b))
    about_zero = np.diagonal(read_moments(b)["second"].value) + b.weight * b.first_hi**2 * b.centred
    assert np.all(ours <= 1.01 * theirs)
    assert np.all(theirs <= 100 * ours + 1e-14 * about_zero)  # the reference may take zero for a good shift


@pytest.mark.parametrize("layout", [*DENSE, *SPARSE])
@in_turn("centred", lambda layout: {False, layout in DENSE})
@in_turn("weights", lambda layout, centred: [True, False])
@on_every_isa
def test_moments_are_those_of_the_reference_with_their_noise(layout: str, centred: bool, weights: bool) -> None:
    for n in (1, 7, 33, 500):
        block = rows_of(n, layout, weights=weights, seed=3)
        assert_as_sure(moments(block, centred), reference(block, centred))
    whole, some = moments(block, centred), moments(cut(block, slice(0, 200)), centred)
    silent = moments(Block(block.x, block.t, np.zeros(500), block.exponent), centred)
    far = as_dense(block.x) * [1e5, 1e-5, 1.0, 1e100] + [0.0, 1e7, 1.0, 0.0]
    unlike = moments(Block(far, block.t / 2**40), centred)
    merges = (kernels.native.moments_merge, merge_reference)
    subtracts = (kernels.native.moments_subtract, subtract_reference)
    pairs = [(whole, other) for other in (some, Moments.zero(SHAPE, centred=centred), silent, whole)]
    unlikes = [(whole, unlike), (unlike, whole)]
    for (a, b), (kernel, by_reference) in (*product(pairs, (merges, subtracts)), *product(unlikes, (merges,))):
        ours, theirs = a.copy(), a.copy()
        kernel(ours.buffer, b.buffer, *ours.shape)
        by_reference(theirs, b)
        assert_as_sure(ours, theirs)
    for chosen in ([3], [5, 2, 2, 60], list(range(1, 99, 2))):
        rows, copied = np.array(chosen, dtype=np.int64), cut(block, chosen)
        own = Block(block.x, copied.t, copied.weight, block.exponent, chosen=rows)
        assert own.rows == len(chosen)
        np.testing.assert_array_equal(moments(own, centred).buffer, moments(copied, centred).buffer)


# --- any namespace -------------------------------------------------------------------------------------------------


def strict(block: Block, device: str, weight_too: bool) -> Block:
    """Return the block as arrays that allow only what the array API promises."""
    where = xp.Device(device)
    weight = xp.asarray(block.weight, device=where) if weight_too and block.weight is not None else block.weight
    return Block(xp.asarray(block.x, device=where), xp.asarray(block.t, device=where), weight)


def by_reference(example: Example, block: Block) -> Any:
    """Return the sum over a NumPy block without native kernels."""
    if example.kind is Moments:
        return reference(block, example.config["centred"])
    if example.kind is Residual:
        return Residual(residual_reference(block, example.theta))
    return example.over(block)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
@in_turn(
    "case",
    [("CPU_DEVICE", np.float64, "none"), ("device1", np.float64, "numpy"), ("device1", np.float32, "strict")],
)
def test_every_sum_runs_on_any_array_namespace(example: Example, case: tuple[str, type, str]) -> None:
    device, dtype, weights = case
    block = example.rows(101, weights=weights != "none")
    block = Block(block.x.astype(dtype), block.t, block.weight)
    there = strict(block, device, weights == "strict")
    rounding = max(example.rounding, 1e-30) if example.kind is Residual else 1e-12
    theirs = by_reference(example, block)
    example.assert_close(example.over(there), theirs, rounding=rounding)
    theirs.merge(by_reference(example, block))
    example.assert_close(example.over(there, there), theirs, rounding=rounding)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
@in_turn("n", [0, 1, 3])
def test_few_rows_in_any_array_namespace(example: Example, n: int) -> None:
    block = example.rows(n, weights=False)
    example.assert_close(example.over(strict(block, "CPU_DEVICE", False)), example.over(block), rounding=1e-12)
