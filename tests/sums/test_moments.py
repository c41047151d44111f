"""The digits of the moments, where textbook sums lose them all: far means, sorted rows, unlike scales, outliers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from adaline import kernels
from adaline.block import Block, Shape
from adaline.sources import ArraySource, SparseSource
from adaline.sums import Moments
from adaline.sums.columns import PILOT_ROWS
from adaline.sums.moments import FEW_PRODUCTS, SUM_ROUNDING, fill_reference, merge_reference

Array = NDArray[Any]

ROUNDING = 2.0**-53

long_double = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="no long double on this machine")


def native(block: Block, centred: bool = True) -> Moments:
    if kernels.native is None:
        pytest.skip("the native kernels could not be built")
    out = Moments.zero(block.shape, centred=centred)
    out.add(block)
    return out


def reference(block: Block, centred: bool = True) -> Moments:
    out = Moments.zero(block.shape, centred=centred)
    fill_reference(out, block)
    return out


both_ways = pytest.mark.parametrize("moments", [native, reference])

Fill = Callable[..., Moments]


def scaled(m: Moments, origin: Any = 0.0) -> tuple[Array, Array]:
    """Return mean - origin (centred) or sum (raw) and S in raw units; long doubles hold even the squares of 1e300."""
    e = m.exponent.astype(np.int64)
    first = np.asarray(m.first_hi - origin, dtype=np.longdouble) + m.first_lo
    second = np.ldexp(m.second.astype(np.longdouble), e[:, None] + e)
    return (first if m.centred else np.ldexp(first, e)), second


def in_long_double(x: Array, t: Array, weight: Array | None = None, centred: bool = True) -> tuple[Array, Array]:
    """Return the same in long doubles, in two passes."""
    z = np.hstack([x, t]).astype(np.longdouble)
    w = np.ones(len(z), dtype=np.longdouble) if weight is None else weight.astype(np.longdouble)
    first = w @ z
    if not centred:
        return first, (z * w[:, None]).T @ z
    mean = first / w.sum()
    mean = mean + w @ (z - mean) / w.sum()
    return mean, ((z - mean) * w[:, None]).T @ (z - mean)


def in_fractions(x: Array, t: Array, weight: Array | None = None, centred: bool = True) -> tuple[Array, Array]:
    """Return the same exactly."""
    exact = np.vectorize(Fraction, otypes=[object])
    z = exact(np.hstack([x, t]).astype(np.float64))
    w = exact(np.ones(len(z)) if weight is None else weight)
    first = w @ z
    if not centred:
        return first, (z * w[:, None]).T @ z
    mean = first / w.sum()
    return mean, ((z - mean) * w[:, None]).T @ (z - mean)


def assert_digits(m: Moments, sought: tuple[Array, Array], rounding: float, origin: Any = 0.0) -> None:
    """Assert errors below rounding, in units of each column's spread (or size, where raw)."""
    first, second = scaled(m, origin)
    width = np.sqrt(np.diagonal(sought[1]).astype(np.longdouble))
    spread = width / np.sqrt(m.weight) if m.centred else width * np.sqrt(m.weight)
    assert np.all(np.abs(first - sought[0]) <= rounding * spread)
    assert np.all(np.abs(second - sought[1]) <= rounding * np.outer(width, width))


def assert_noise_known(m: Moments, sought: Array) -> None:
    """Assert that the errors of S are covered as solvers read the noise: 4 times it, and 8 roundings of S itself."""
    error = np.abs(np.diagonal(scaled(m)[1] - sought))
    noise = np.ldexp(m.noise.astype(np.longdouble), 2 * m.exponent.astype(np.int64))
    assert np.all(error <= 4 * noise + 8 * ROUNDING * np.diagonal(sought))


def rows(n: int, seed: int = 0, features: int = 3) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, features)), rng.normal(size=(n, 1))


def assert_bounded(m: Moments, sought: Array) -> None:
    """Assert that the error of every entry S_ij is at most sqrt(bound_i bound_j)."""
    width = np.sqrt(np.ldexp(m.bound, 2 * m.exponent.astype(np.int64)))
    error = np.array(scaled(m)[1].astype(float).tolist(), dtype=object)
    error = np.abs(np.vectorize(Fraction, otypes=[object])(error) - sought)
    assert np.all(error.astype(float) <= np.outer(width, width))


@both_ways
@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_bound_holds_for_every_entry(moments: Fill, centred: bool, weighted: bool) -> None:
    """Blocks of few products are rounded once, and so is every merge; weights are over eight decades."""
    rng = np.random.default_rng(3)
    for n in (3, 12, 60):
        x = rng.normal(size=(n, 3)) * [1.0, 1e-6, 1e3] + [0.0, 0.0, 1e6]
        t, weight = rng.normal(size=(n, 1)), 2.0 ** rng.integers(-13, 13, n) if weighted else None
        parts = np.array_split(np.arange(n), 3)
        blocks = [Block(x[p], t[p], None if weight is None else weight[p]) for p in parts]
        m = moments(blocks[0], centred)
        assert np.all(m.noise <= (1 + 1e-9) * ROUNDING * np.diagonal(m.second))
        for block in blocks[1:]:
            (m.merge if moments is native else partial(merge_reference, m))(moments(block, centred))
        assert np.all(m.noise <= 3.1 * ROUNDING * np.diagonal(m.second))
        assert_bounded(m, in_fractions(x, t, weight, centred)[1])


@both_ways
def test_rounding_that_was_not_done_is_not_counted(moments: Fill) -> None:
    """Sums of whole numbers, in two blocks of two rows: a quarter of what rounding could have done, each time."""
    x, t = np.array([[1.0, 3.0], [3.0, 9.0], [5.0, -1.0], [7.0, 1.0]]), np.array([[1.0], [5.0], [9.0], [17.0]])
    m, other = moments(Block(x[:2], t[:2]), True), moments(Block(x[2:], t[2:]), True)
    squares = np.diagonal(scaled(m)[1]) + np.diagonal(scaled(other)[1])
    (m.merge if moments is native else partial(merge_reference, m))(other)
    second = scaled(m)[1]
    np.testing.assert_array_equal(second, 4 * np.cov(np.column_stack([x, t]).T, bias=True))
    noise = np.ldexp(m.noise, 2 * m.exponent.astype(np.int64))
    assert np.all(noise <= (0.25 + 1e-9) * ROUNDING * (squares + np.diagonal(second)))


@both_ways
def test_larger_blocks_have_a_bound_by_their_additions(moments: Fill) -> None:
    few = FEW_PRODUCTS // 16
    assert moments(Block(*rows(few)), True).excess == 1
    x, t = rows(few + 1)
    m = moments(Block(x, t), True)
    assert m.excess > 10
    np.testing.assert_allclose(m.noise, SUM_ROUNDING * np.diagonal(m.second), rtol=0.1)
    assert_bounded(m, in_fractions(x, t)[1])
    more = moments(Block(*rows(few + 1, seed=1)), True)
    both = m.copy()
    both.merge(more)
    both.merge(moments(Block(*rows(9, seed=2)), True))
    for part in (m, more):
        both.subtract(part)
    assert both.rows == 9
    assert both.excess == 1
    assert np.all(both.noise > m.excess * more.noise)


@both_ways
def test_a_light_block_does_not_move_the_mean(moments: Fill) -> None:
    x, t = rows(8)
    m = moments(Block(x[:4] + 1e6, t[:4], np.full(4, 2.0**-40)), True)
    m.merge(moments(Block(x[4:], t[4:]), True))
    weight = np.repeat([2.0**-40, 1.0], 4)
    both = np.vstack([x[:4] + 1e6, x[4:]])
    mean = in_fractions(both, t, weight)[0]
    error = [abs(Fraction(a) + Fraction(b) - c) for a, b, c in zip(m.first_hi, m.first_lo, mean, strict=True)]
    assert max(error) < 2.0**-70


@both_ways
@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("n", [2, 5, 40, 90])
def test_small_blocks_against_fractions(moments: Fill, centred: bool, weighted: bool, n: int) -> None:
    x, t = rows(n, seed=n)
    x = x * [1.0, 1e-6, 1e5] + [5.0, 0.0, 1e7]
    weight = np.random.default_rng(1).integers(0, 3, n) + 0.25 if weighted else None
    sought = in_fractions(x, t, weight, centred)
    m = moments(Block(x, t, weight), centred)
    assert (m.rows, m.weight) == (n, n if weight is None else weight.sum())
    assert_digits(m, sought, 1e-15)
    assert_noise_known(m, sought[1])


@both_ways
@long_double
@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_large_blocks_against_long_double(moments: Fill, centred: bool, dtype: type) -> None:
    x, t = rows(60_000)
    x = x.astype(dtype)
    weight = np.random.default_rng(1).random(len(x))
    assert_digits(moments(Block(x, t, weight), centred), in_long_double(x, t, weight, centred), 1e-14)


@both_ways
@long_double
def test_a_mean_of_1e9_costs_no_digit(moments: Fill) -> None:
    origin = np.array([1e9, -1e9, 0.0, 1e9])
    x, t = rows(5000)
    x, t = x + origin[:3], t + origin[3:]
    m = moments(Block(x, t))
    sought = in_long_double(x - origin[:3], t - origin[3:])  # exact differences
    assert_digits(m, sought, 1e-14, origin)
    assert np.all(m.noise <= 1e-14 * np.diagonal(m.second))


@long_double
@pytest.mark.parametrize("order", ["ascending", "descending", "steps"])
def test_sorted_rows_over_many_blocks_cost_no_digit(order: str) -> None:
    n = 60_000
    x, t = rows(n)
    ramp = np.linspace(0.0, 1e6, n)
    x[:, 0] += {"ascending": ramp, "descending": ramp[::-1], "steps": np.round(ramp, -5)}[order]
    x[:, 1] += np.arange(n) // 500 * 1e8
    source = ArraySource(x, t)
    source.rows_per_block = 500
    assert source.n_blocks == 120
    m, sought = source.sum(Moments), in_long_double(x, t)
    assert m.rows == n
    assert_digits(m, sought, 1e-14)
    assert_noise_known(m, sought[1])


@long_double
def test_taking_out_a_far_block_costs_digits_and_noise_knows() -> None:
    x, t = rows(4000)
    x[2000:, 0] += 1e12
    source = ArraySource(x, t)
    source.rows_per_block = 2000
    m = source.sum(Moments)
    assert_digits(m, in_long_double(x, t), 1e-14)
    far = Moments.zero(source.shape)
    far.add(source.block(1))
    m.subtract(far)
    assert m.noise[0] > 1e6 * m.noise[1]
    assert_noise_known(m, in_long_double(x[:2000], t[:2000])[1])


@pytest.mark.parametrize(
    ("moments", "power"),
    [
        (native, [-40, 41, 100, -3]),
        (native, [-900, 41, 900, -3]),
        (reference, [-40, 41, 100, -3]),  # it scales extreme columns only
    ],
)
@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_powers_of_two_change_no_bit(moments: Fill, power: list[int], centred: bool, weighted: bool) -> None:
    x, t = rows(700)
    x += [1e3, 0.0, -1.0]
    weight = np.random.default_rng(1).random(len(x)) if weighted else None
    plain = moments(Block(x, t, weight), centred)
    other = moments(Block(np.ldexp(x, power[:3]), np.ldexp(t, power[3:]), weight), centred)
    assert_times_powers(other, plain, np.array(power))


def assert_times_powers(other: Moments, plain: Moments, power: Array) -> None:
    """Assert that every number in raw units is the other's times its power of two, to the bit."""
    np.testing.assert_array_equal(other.exponent % 1, 0)
    up = power + plain.exponent.astype(np.int64) - other.exponent.astype(np.int64)
    np.testing.assert_array_equal(other.second, np.ldexp(plain.second, up[:, None] + up))
    np.testing.assert_array_equal(other.noise, np.ldexp(plain.noise, 2 * up))
    np.testing.assert_array_equal(other.first_hi, np.ldexp(plain.first_hi, power if plain.centred else up))
    np.testing.assert_array_equal(other.first_lo, np.ldexp(plain.first_lo, power if plain.centred else up))


@both_ways
@pytest.mark.parametrize("centred", [True, False])
def test_columns_below_the_smallest_normal_number(moments: Fill, centred: bool) -> None:
    rng = np.random.default_rng(0)
    x, t = rng.integers(-1000, 1000, (200, 2)).astype(float), rng.normal(size=(200, 1))
    weight = rng.random(200)
    plain = moments(Block(x, t, weight), centred)
    other = moments(Block(np.ldexp(x, [-1074, 1012]), t, weight), centred)
    up = np.array([-1074, 1012, 0]) + plain.exponent.astype(np.int64) - other.exponent.astype(np.int64)
    np.testing.assert_allclose(other.second, np.ldexp(plain.second, up[:, None] + up), rtol=1e-2)
    assert other.exponent[0] < -1060


def sparse_source(x: Array, t: Array) -> SparseSource:
    source = SparseSource(sparse.csr_array(x), t)
    source.n_blocks = 8
    return source


@pytest.mark.parametrize(("make", "centred"), [(ArraySource, True), (ArraySource, False), (sparse_source, False)])
def test_powers_of_two_change_no_bit_of_merged_sums(make: Callable[..., Any], centred: bool) -> None:
    x, t = rows(700)
    x[np.random.default_rng(1).random(x.shape) < 0.5] = 0.0
    power = np.array([-400, 41, 900, -3] if kernels.native else [-40, 41, 100, -3])  # see above
    plain, other = make(x, t), make(np.ldexp(x, power[:3]), np.ldexp(t, power[3:]))
    if make is ArraySource:
        plain.rows_per_block = other.rows_per_block = 90
    assert plain.n_blocks > 3
    a, b = plain.sum(Moments, centred=centred), other.sum(Moments, centred=centred)
    assert_times_powers(b, a, power)


@both_ways
@long_double
@pytest.mark.parametrize(("layout", "centred"), [("C", True), ("F", True), ("C", False), ("F", False), ("csr", False)])
@pytest.mark.parametrize("t_scale", [1e300, 1e-300])
def test_columns_of_1e300_and_of_1e_minus_300(moments: Fill, layout: str, centred: bool, t_scale: float) -> None:
    x, t = rows(400)
    x, t = x * [1e300, 1e-300, 1.0], t * t_scale
    x[:, 1] += 3e-300
    block = Block(sparse.csr_array(x), t, None, sparse_source(x, t).exponent)
    if layout != "csr":
        block = Block(np.asarray(x, order=layout), t)
    m = moments(block, centred)
    assert m.finite
    assert_digits(m, in_long_double(x, t, centred=centred), 5e-15)


@long_double
@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("make", [ArraySource, sparse_source])
def test_columns_of_1e300_and_of_1e_minus_300_over_many_blocks(make: Callable[..., Any], centred: bool) -> None:
    x, t = rows(3000)
    x, t = x * [1e300, 1e-300, 1.0], t * 1e-300
    x[1000:2000] *= 1e-10
    source = make(x, t)
    if make is ArraySource:
        source.rows_per_block = 250
    else:
        centred = False
    m = source.sum(Moments, centred=centred)
    assert m.finite
    assert_digits(m, in_long_double(x, t, centred=centred), 1e-14)


@long_double
@pytest.mark.parametrize("centred", [True, False])
def test_a_tiny_column_that_is_zero_in_some_block(centred: bool) -> None:
    x, t = rows(1000)
    x[:, 0] *= 1e-200
    x[:500, 0] = 0.0
    source = ArraySource(x, t)
    source.rows_per_block = 500
    assert_digits(source.sum(Moments, centred=centred), in_long_double(x, t, centred=centred), 1e-14)


def unseen(n: int) -> Array:
    """Return the rows that the pilot does not look at."""
    return np.setdiff1d(np.arange(n), np.arange(PILOT_ROWS) * n // PILOT_ROWS)


@both_ways
@long_double
@pytest.mark.parametrize("centred", [True, False])
def test_outliers_that_the_pilot_does_not_see(moments: Fill, centred: bool) -> None:
    x, t = rows(1000)
    first, second = unseen(1000)[[3, 500]]
    x[[first, second], 0] = [1e12, -1e12]
    x[first, 1] = 1e100
    t[second] = 1e9
    assert_digits(moments(Block(x, t), centred), in_long_double(x, t, centred=centred), 1e-14)


@long_double
@pytest.mark.parametrize("moments", [native, reference])
@pytest.mark.parametrize("size", [1e160, 1e300, -1e300])
@pytest.mark.parametrize("centred", [True, False])
def test_outliers_beyond_the_range_of_the_pilot(moments: Fill, size: float, centred: bool) -> None:
    x, t = rows(1000)
    x[unseen(1000)[3], 0] = size
    x[unseen(1000)[4], 2] = 3.0
    with np.errstate(over="ignore", invalid="ignore"):
        m = moments(Block(x, t), centred)
        assert m.finite
        assert_digits(m, in_long_double(x, t, centred=centred), 1e-14)


@both_ways
@long_double
@pytest.mark.parametrize("centred", [True, False])
def test_columns_that_the_pilot_sees_as_zero_or_constant(moments: Fill, centred: bool) -> None:
    x, t = rows(1000)
    seen = np.arange(PILOT_ROWS) * 1000 // PILOT_ROWS
    x[seen, 0], x[seen, 1] = 0.0, 1e6
    assert_digits(moments(Block(x, t), centred), in_long_double(x, t, centred=centred), 1e-13)


@both_ways
@long_double
@pytest.mark.parametrize("place", ["seen", "unseen"])
@pytest.mark.parametrize("centred", [True, False])
def test_a_huge_number_without_weight_changes_nothing(moments: Fill, place: str, centred: bool) -> None:
    x, t = rows(1000)
    x[:, 0] *= 1e-10
    weight = np.ones(1000)
    row = 0 if place == "seen" else unseen(1000)[3]
    x[row, 0], weight[row] = 1e300, 0.0
    keep = weight > 0
    with np.errstate(over="ignore", invalid="ignore"):
        m = moments(Block(x, t, weight), centred)
        assert_digits(m, in_long_double(x[keep], t[keep], centred=centred), 1e-13)


@both_ways
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("value", [0.1, -1 / 3, 123.456, 1e9 + 0.3, 1e-300, 1e300, 0.0])
def test_a_constant_column_has_no_spread_beyond_its_noise(moments: Fill, weighted: bool, value: float) -> None:
    x, t = rows(5000)
    x[:, 1] = value
    weight = np.random.default_rng(1).random(len(x)) if weighted else None
    m = moments(Block(x, t, weight))
    assert abs(m.second[1, 1]) <= 4 * m.noise[1]
    np.testing.assert_allclose(m.first_hi[1], value, rtol=4 * ROUNDING)
    m.merge(moments(Block(x[:777], t[:777], None if weight is None else weight[:777])))
    assert abs(m.second[1, 1]) <= 4 * m.noise[1]


@pytest.mark.parametrize(
    ("layout", "n"),
    [
        ("dense", 1000),
        ("csr", 50),
        ("dense", 60_000),
        ("csr", 60_000),
    ],
)
def test_a_constant_column_of_raw_moments(layout: str, n: int) -> None:
    x, t = rows(n, features=6)
    x[:, :6] = [0.1, 1 / 3, 0.7, -0.9, 123.456, 1e9 + 0.3]
    block = Block(x, t)
    if layout == "csr":
        block = Block(sparse.csr_array(x), t, None, sparse_source(x, t).exponent)
    m = native(block, centred=False).about_mean()
    assert np.all(np.abs(np.diagonal(m.second)[:6]) <= 4 * m.noise[:6])


@both_ways
@long_double
@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("weighted", [True, False])
def test_raw_moments_about_their_mean_are_the_centred_ones(moments: Fill, layout: str, weighted: bool) -> None:
    x, t = rows(900)
    x[np.random.default_rng(1).random(x.shape) < 0.3] = 0.0
    x += [0.0, 100.0, -1.0]
    weight = np.random.default_rng(2).random(900) if weighted else None
    block = Block(x, t, weight)
    raw = Block(sparse.csr_array(x), t, weight, sparse_source(x, t).exponent) if layout == "csr" else block
    m, centred = moments(raw, centred=False), moments(block)
    before = m.buffer.copy()
    about = m.about_mean()
    np.testing.assert_array_equal(m.buffer, before)
    assert about.centred
    assert (about.rows, about.weight) == (centred.rows, centred.weight)
    np.testing.assert_allclose(about.first_hi, centred.first_hi, rtol=1e-13, atol=1e-15)
    sought = in_long_double(x, t, weight)
    assert_digits(about, sought, 2e-10)  # (mean / spread)^2 = 1e4 in column 1 costs four digits
    assert_noise_known(about, sought[1])
    assert about.noise[1] > 1e3 * ROUNDING * about.second[1, 1]
    assert centred.about_mean() is centred
    assert Moments.zero(block.shape, centred=False).about_mean().weight == 0


@both_ways
@long_double
def test_centred_moments_about_zero_are_the_raw_ones(moments: Fill) -> None:
    x, t = rows(900)
    x = x * [1.0, 1e-200, 1e200]
    x[:, 0] += 50.0
    weight = np.random.default_rng(2).random(900)
    m = moments(Block(x, t, weight))
    before = m.buffer.copy()
    raw = m.about_zero()
    np.testing.assert_array_equal(m.buffer, before)
    assert not raw.centred
    sought = in_long_double(x, t, weight, centred=False)
    assert_digits(raw, sought, 1e-14)
    assert_noise_known(raw, sought[1])
    assert raw.about_zero() is raw


@pytest.mark.parametrize("centred", [True, False])
def test_target_slices(centred: bool) -> None:
    x, _ = rows(300)
    t = np.random.default_rng(5).normal(size=(300, 3)) * [1.0, 1e5, 1e-5] + [0.0, 1.0, 2.0]
    weight = np.random.default_rng(1).random(300)
    m = Moments.zero(Shape(3, 3), centred=centred)
    m.add(Block(x, t, weight))
    for k in range(3):
        alone = Moments.zero(Shape(3, 1), centred=centred)
        alone.add(Block(x, np.ascontiguousarray(t[:, k : k + 1]), weight))
        sliced = m.target(k)
        assert sliced.shape == (3, 1)
        assert sliced.centred == centred
        assert m.excess > sliced.excess == 1
        np.testing.assert_array_equal(sliced.bound, m.bound[[0, 1, 2, 3 + k]])
        alone.noise[:] = sliced.noise
        np.testing.assert_allclose(sliced.buffer, alone.buffer, rtol=1e-12, atol=1e-13)
    before = m.buffer.copy()
    m.target(1).buffer[:] = 0.0
    np.testing.assert_array_equal(m.buffer, before)


def test_a_copy_is_independent() -> None:
    x, t = rows(50)
    m = Moments.zero(Shape(3, 1))
    m.add(Block(x, t))
    copy = m.copy()
    before = m.buffer.copy()
    copy.merge(m)
    np.testing.assert_array_equal(m.buffer, before)
    assert copy.rows == 100


@both_ways
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("place", ["x", "t"])
@pytest.mark.parametrize("row", [0, 777])
def test_one_bad_number_shows_and_stays(moments: Fill, bad: float, layout: str, place: str, row: int) -> None:
    x, t = rows(1000)
    good = Block(x, t)
    x, t = x.copy(), t.copy()
    (x if place == "x" else t)[row, 0] = bad
    block = Block(x, t)
    if layout == "csr":
        good = Block(sparse.csr_array(good.x), good.t, None, sparse_source(good.x, good.t).exponent)
        block = Block(sparse.csr_array(x), t, None, sparse_source(x, t).exponent)
    centred = layout == "dense"
    with np.errstate(all="ignore"):
        m, rest = moments(block, centred), moments(good, centred)
        assert rest.finite
        assert not m.finite
        assert (m.rows, m.weight) == (1000, 1000.0)
        rest.merge(m)
        assert not rest.finite
