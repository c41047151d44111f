"""Tapped delay lines: the same rows, sums and outputs as the matrix written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adaline
from adaline.errors import InvalidData
from adaline.sources import ArraySource
from adaline.sources.signal import CHUNK, CHUNKS, SignalSource
from adaline.sources.views import of_target
from adaline.sums import Moments, Residual, Theta, Triangle
from tests.sources.tapped import design

FEW = [((1,), 0), ((5,), 0), ((5,), 3), ((5,), -2), ((1, 1, 1), 0), ((3, 3), 1), ((4, 2), -1), ((2, 5, 1), 2)]
LINES = [*FEW, ((70,), 0), ((60, 65), -70), ((3,), 80)]


def signals(taps: tuple[int, ...], n: int = 50, dtype: Any = np.float64) -> tuple[Any, Any]:
    rng = np.random.default_rng(len(taps) + n)
    return rng.standard_normal((n, len(taps))).astype(dtype), rng.standard_normal((n, 2))


def raw(moments: Moments) -> Any:
    return moments.second * np.exp2(moments.exponent[:, None] + moments.exponent)


@pytest.mark.parametrize(("taps", "delay"), LINES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_block_holds_the_rows(taps: tuple[int, ...], delay: int, dtype: Any) -> None:
    x, t = signals(taps, dtype=dtype)
    block = SignalSource(x, t, taps, delay).block(0)
    assert block.x.dtype == dtype
    np.testing.assert_array_equal(block.x, design(x, taps, delay))


def test_a_block_of_one_signal_is_a_view() -> None:
    x, t = signals((8,), n=400_000)
    source = SignalSource(x, t, (8,))
    assert source.n_blocks > 2
    assert np.shares_memory(source.block(1).x, x)
    assert not np.shares_memory(source.block(0).x, x)


@pytest.mark.parametrize(("taps", "delay"), LINES)
def test_moments_by_shifts_are_those_of_the_rows(taps: tuple[int, ...], delay: int) -> None:
    x, t = signals(taps)
    source, rows = SignalSource(x, t, taps, delay), design(x, taps, delay)
    for first, last in ((0, 50), (7, 31), (0, 1), (49, 50)):
        mine = source.rows(first, last).sum(Moments, centred=False)
        theirs = ArraySource(rows[first:last], t[first:last]).sum(Moments, centred=False)
        np.testing.assert_allclose(raw(mine), raw(theirs), rtol=0, atol=1e-13)
        np.testing.assert_allclose(
            mine.first_hi * np.exp2(mine.exponent), theirs.first_hi * np.exp2(theirs.exponent), atol=1e-13
        )
        assert (mine.rows, mine.weight, mine.centred) == (last - first, last - first, False)


@pytest.mark.parametrize(("taps", "delay"), FEW)
def test_noise_bounds_the_error_of_the_moments(taps: tuple[int, ...], delay: int) -> None:
    x, t = signals(taps, n=3000)
    found = SignalSource(x, t, taps, delay).sum(Moments, centred=False)
    z = np.column_stack([design(x, taps, delay), t]).astype(np.longdouble) / np.exp2(found.exponent)
    error = np.abs(found.second - z.T @ z).astype(float)
    assert (error <= np.sqrt(np.outer(found.noise, found.noise))).all()


@pytest.mark.parametrize("centred", [True, False])
def test_other_sums_take_the_rows(centred: bool) -> None:
    x, t = signals((4, 2), n=200)
    weight = np.arange(200) % 3.0
    source = SignalSource(x, t, (4, 2), 1, weight=weight)
    plain = ArraySource(design(x, (4, 2), 1), t, weight)
    np.testing.assert_array_equal(
        source.sum(Moments, centred=centred).buffer, plain.sum(Moments, centred=centred).buffer
    )
    np.testing.assert_array_equal(source.sum(Triangle, centred=centred).r, plain.sum(Triangle, centred=centred).r)
    theta = Theta(np.ones((2, 7)), np.zeros((2, 7)), np.zeros(8))
    np.testing.assert_array_equal(source.sum(Residual, theta).sums, plain.sum(Residual, theta).sums)


@pytest.mark.usefixtures("blas_threads")
def test_the_same_bits_on_any_number_of_threads() -> None:
    x, t = signals((3, 2), n=3 * CHUNK * CHUNKS + 17)
    source = SignalSource(x, t, (3, 2), -1)
    found = []
    for threads in (1, 3):
        adaline.set_threads(threads)
        found.append((source.sum(Moments, centred=False).buffer, source.filtered(np.ones((1, 5)))))
    for one, three in zip(*found, strict=True):
        np.testing.assert_array_equal(one, three)


def test_many_chunks_add_up() -> None:
    x, t = signals((6,), n=2 * CHUNK * CHUNKS + 5)
    source = SignalSource(x, t, (6,))
    rows = np.lib.stride_tricks.sliding_window_view(np.concatenate([np.zeros(5), x[:, 0]]), 6)[:, ::-1]
    expected = ArraySource(rows, t).sum(Moments, centred=False)
    np.testing.assert_allclose(raw(source.sum(Moments, centred=False)), raw(expected), rtol=1e-13, atol=1e-9)


@pytest.mark.parametrize("size", [1e300, 1e-300, 5e-324])
def test_magnitudes_neither_overflow_nor_vanish(size: float) -> None:
    x = np.array([1.0, -1.0, 1.0, 1.0, -1.0])[:, None] * size
    found = SignalSource(x, x.copy(), (2,)).sum(Moments, centred=False)
    scaled = found.second / found.second[0, 0]
    np.testing.assert_allclose(scaled, [[1.0, -0.4, 1.0], [-0.4, 0.8, -0.4], [1.0, -0.4, 1.0]], atol=1e-15)


@pytest.mark.parametrize(("taps", "delay"), LINES)
def test_filtering_is_multiplying_by_the_rows(taps: tuple[int, ...], delay: int) -> None:
    x, t = signals(taps)
    w = np.random.default_rng(1).standard_normal((2, sum(taps)))
    output = SignalSource(x, t, taps, delay).filtered(w)
    np.testing.assert_allclose(output, design(x, taps, delay) @ w.T, atol=1e-13)


def test_products_for_wide_data() -> None:
    x, t = signals((30, 40))
    source, plain = SignalSource(x, t, (30, 40)), ArraySource(design(x, (30, 40)), t)
    ones, u = np.ones(70), np.ones(50)
    ours, others = source.matrix(), plain.matrix()
    pairs = [
        (ours.matvec(ones), others.matvec(ones)),
        (ours.rmatvec(u), others.rmatvec(u)),
        (ours.dual_gram(u, True, ones).gram, others.dual_gram(u, True, ones).gram),
        (ours.spread(u, True), others.spread(u, True)),
    ]
    for mine, theirs in pairs:
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(of_target(source, 1).read_targets(), t[:, 1:])


@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_numbers_that_are_not_finite_are_named(value: float, name: str) -> None:
    x, t = signals((2, 2))
    x[7, 1] = value
    with pytest.raises(InvalidData, match=f"X contains {name}: first at row 7, column 'x1'"):
        SignalSource(x, t, (2, 2)).refuse_nonfinite()
    with pytest.raises(InvalidData, match="first at row 4, column 'x1'"):
        SignalSource(x, t[3:], (2, 2), origin=3, history=3).refuse_nonfinite()
    x[7, 1] = 0.0
    t[9, 0] = value
    with pytest.raises(InvalidData, match=f"y contains {name}: first at row 9"):
        SignalSource(x, t, (2, 2)).refuse_nonfinite()
    with pytest.raises(InvalidData, match="first at row 6"):
        SignalSource(x, t[3:], (2, 2), origin=3, history=3).refuse_nonfinite()
