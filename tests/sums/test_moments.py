"""The digits of the moments, where textbook sums lose them all: far means, sorted rows, unlike scales, outliers.

Every law holds for the native kernels, on every instruction set, and for the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from adaline import kernels
from adaline.block import Block, Columns, Shape
from adaline.sources import ArraySource, SparseSource
from adaline.sums import Moments
from adaline.sums.columns import PILOT_ROWS
from adaline.sums.moments import FEW_PRODUCTS, SUM_ROUNDING, fill_reference, merge_reference, subtract_reference
from tests.sums.examples import exact, scaled
from tests.turns import ISAS, in_turn, instruction_set, on_every_isa

Array = NDArray[Any]

ROUNDING = 2.0**-53

pytestmark = [
    pytest.mark.every,
    pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="no long double on this machine"),
]


class Way:
    """Moments by the kernels on an instruction set, or by the reference."""

    def __init__(self, isa: str | None) -> None:
        self.isa = isa

    def __repr__(self) -> str:
        return self.isa or "reference"

    def run(self, native: Callable[..., None], reference: Callable[..., None], *given: Any) -> None:
        if self.isa is None:
            reference(*given)
        else:
            with instruction_set(self.isa):
                native(*given)

    def __call__(self, block: Block, centred: bool = True) -> Moments:
        out = Moments.zero(block.shape, centred=centred)
        self.run(Moments.add, fill_reference, out, block)
        return out

    def merge(self, a: Moments, b: Moments) -> None:
        self.run(Moments.merge, merge_reference, a, b)

    def subtract(self, a: Moments, b: Moments) -> None:
        self.run(Moments.subtract, subtract_reference, a, b)


WAYS = [*map(Way, ISAS), Way(None)]
every_way = in_turn("moments", WAYS)
either_form = pytest.mark.parametrize("centred", [True, False], ids=["centred", "raw"])
with_and_without_weights = pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])


def raw_units(m: Moments, origin: Any = 0.0) -> tuple[Array, Array]:
    """Return mean - origin (centred) or sum (raw) and S in raw units; long doubles hold even the squares of 1e300."""
    e = m.exponent.astype(np.int64)
    first = np.asarray(m.first_hi - origin, dtype=np.longdouble) + m.first_lo
    second = np.ldexp(m.second.astype(np.longdouble), e[:, None] + e)
    return (first if m.centred else np.ldexp(first, e)), second


def by_definition(z: Array, w: Array, centred: bool) -> tuple[Array, Array]:
    """Return the mean or the sum, and S, in two passes."""
    first = w @ z
    if not centred:
        return first, (z * w[:, None]).T @ z
    mean = first / w.sum()
    mean = mean + w @ (z - mean) / w.sum()
    return mean, ((z - mean) * w[:, None]).T @ (z - mean)


def in_long_double(x: Array, t: Array, weight: Array | None = None, centred: bool = True) -> tuple[Array, Array]:
    z = np.hstack([x, t]).astype(np.longdouble)
    return by_definition(z, np.ones(len(z), np.longdouble) if weight is None else weight.astype(np.longdouble), centred)


def in_fractions(x: Array, t: Array, weight: Array | None = None, centred: bool = True) -> tuple[Array, Array]:
    z = exact(np.hstack([x, t]).astype(np.float64))
    return by_definition(z, exact(np.ones(len(z)) if weight is None else weight), centred)


def assert_digits(m: Moments, sought: tuple[Array, Array], rounding: float, origin: Any = 0.0) -> None:
    """Assert errors below rounding, in units of each column's spread (or size, where raw)."""
    first, second = raw_units(m, origin)
    width = np.sqrt(np.diagonal(sought[1]).astype(np.longdouble))
    spread = width / np.sqrt(m.weight) if m.centred else width * np.sqrt(m.weight)
    assert np.all(np.abs(first - sought[0]) <= rounding * spread)
    assert np.all(np.abs(second - sought[1]) <= rounding * np.outer(width, width))


def assert_noise_known(m: Moments, sought: Array) -> None:
    """Assert that the errors of S are covered as solvers read the noise: 4 times it, and 8 roundings of S itself."""
    error = np.abs(np.diagonal(raw_units(m)[1] - sought))
    noise = np.ldexp(m.noise.astype(np.longdouble), 2 * m.exponent.astype(np.int64))
    assert np.all(error <= 4 * noise + 8 * ROUNDING * np.diagonal(sought))


def assert_bounded(m: Moments, sought: Array) -> None:
    """Assert that the error of every entry S_ij is at most sqrt(bound_i bound_j)."""
    width = np.sqrt(np.ldexp(m.bound, 2 * m.exponent.astype(np.int64)))
    error = np.abs(exact(np.array(raw_units(m)[1].astype(float).tolist(), dtype=object)) - sought)
    assert np.all(error.astype(float) <= np.outer(width, width))


def rows(n: int, seed: int = 0, features: int = 3) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, features)), rng.normal(size=(n, 1))


def some_weights(n: int) -> Array:
    return np.random.default_rng(1).random(n)


def sparsely(x: Array, t: Array, weight: Array | None = None) -> Block:
    return scaled(Block(sparse.csr_array(x), t, weight))


def cut_source(x: Array, t: Array, rows_per_block: int, weight: Array | None = None) -> ArraySource:
    source = ArraySource(x, t, weight)
    source.rows_per_block = rows_per_block
    return source


@either_form
@with_and_without_weights
@every_way
def test_small_blocks_against_fractions_and_the_bound_of_every_entry(
    moments: Any, centred: bool, weighted: bool
) -> None:
    """Blocks of few products are rounded once, and so is every merge; weights are over eight decades."""
    rng = np.random.default_rng(3)
    for n in (2, 3, 12, 40, 60, 90):
        x = rng.normal(size=(n, 3)) * [1.0, 1e-6, 1e3] + [5.0, 0.0, 1e6]
        t, weight = rng.normal(size=(n, 1)), 2.0 ** rng.integers(-13, 13, n) if weighted else None
        sought = in_fractions(x, t, weight, centred)
        m = moments(Block(x, t, weight), centred)
        assert (m.rows, m.weight) == (n, n if weight is None else weight.sum())
        assert_digits(m, sought, 1e-15)
        assert_noise_known(m, sought[1])
        parts = np.array_split(np.arange(n), min(n, 3))
        blocks = [Block(x[p], t[p], None if weight is None else weight[p]) for p in parts]
        m = moments(blocks[0], centred)
        assert np.all(m.noise <= (1 + 1e-9) * ROUNDING * np.diagonal(m.second))
        for block in blocks[1:]:
            moments.merge(m, moments(block, centred))
        assert np.all(m.noise <= 3.1 * ROUNDING * np.diagonal(m.second))
        assert_bounded(m, sought[1])


@every_way
def test_rounding_that_was_not_done_is_not_counted(moments: Any) -> None:
    """Sums of whole numbers, in two blocks of two rows: a quarter of what rounding could have done, each time."""
    x, t = np.array([[1.0, 3.0], [3.0, 9.0], [5.0, -1.0], [7.0, 1.0]]), np.array([[1.0], [5.0], [9.0], [17.0]])
    m, other = moments(Block(x[:2], t[:2])), moments(Block(x[2:], t[2:]))
    squares = np.diagonal(raw_units(m)[1]) + np.diagonal(raw_units(other)[1])
    moments.merge(m, other)
    second = raw_units(m)[1]
    np.testing.assert_array_equal(second, 4 * np.cov(np.column_stack([x, t]).T, bias=True))
    noise = np.ldexp(m.noise, 2 * m.exponent.astype(np.int64))
    assert np.all(noise <= (0.25 + 1e-9) * ROUNDING * (squares + np.diagonal(second)))


@every_way
def test_sums_of_whole_numbers_are_exact(moments: Any) -> None:
    rng = np.random.default_rng(3)
    x, t = rng.integers(-50, 50, (777, 11)).astype(float), rng.integers(0, 9, (777, 2)).astype(float)
    z, (first, second) = np.hstack([x, t]), raw_units(moments(Block(x, t), False))
    np.testing.assert_array_equal(second, z.T @ z)
    np.testing.assert_array_equal(first, z.sum(axis=0))


@every_way
def test_larger_blocks_have_a_bound_by_their_additions(moments: Any) -> None:
    few = FEW_PRODUCTS // 16
    assert moments(Block(*rows(few))).excess == 1
    x, t = rows(few + 1)
    m = moments(Block(x, t))
    assert m.excess > 10
    np.testing.assert_allclose(m.noise, SUM_ROUNDING * np.diagonal(m.second), rtol=0.1)
    assert_bounded(m, in_fractions(x, t)[1])
    more = moments(Block(*rows(few + 1, seed=1)))
    both = m.copy()
    for part in (more, moments(Block(*rows(9, seed=2)))):
        both.merge(part)
    for part in (m, more):
        both.subtract(part)
    assert (both.rows, both.excess) == (9, 1)
    assert np.all(both.noise > m.excess * more.noise)


@every_way
def test_a_light_block_does_not_move_the_mean(moments: Any) -> None:
    x, t = rows(8)
    x[:4], t[:4], weight = x[:4] + 1e6, t[:4], np.repeat([2.0**-40, 1.0], 4)
    m = moments(Block(x[:4], t[:4], weight[:4]))
    moments.merge(m, moments(Block(x[4:], t[4:])))
    error = np.abs(exact(m.first_hi) + exact(m.first_lo) - in_fractions(x, t, weight)[0])
    assert max(error) < 2.0**-70


@pytest.mark.parametrize("features", [1, 2, 3, 6, 7, 8, 9, 15, 16, 17, 23, 24, 31, 40, 100])
@every_way
def test_blocks_of_every_shape(moments: Any, features: int) -> None:
    """Panels and tiles that are not full; the layout in memory changes no bit."""
    for n, centred in product((1, 5, 63, 64, 65, 96, 97, 500), (True, False)):
        if n * features**2 > 4 * 10**5:
            continue
        rng = np.random.default_rng((n, features))
        x = rng.normal(size=(n, features)) * 10.0 ** rng.integers(-3, 4, features) + 5 * rng.normal(size=features)
        t, last = rng.normal(size=(n, 1 + features % 3)) + 3, np.eye(n)[-1] * 2.0
        for weight in (None, 0.5 + rng.integers(0, 4, n) * rng.uniform(0.5, 2, n), last, np.zeros(n)):
            m = moments(Block(x, t, weight), centred)
            assert m.rows == n
            assert m.weight == pytest.approx(n if weight is None else weight.sum(), rel=1e-14)
            if m.weight == 0:
                assert not m.buffer[3:].any()
                continue
            assert_digits(m, in_long_double(x, t, weight, centred), 1e-14 + 1e-18 * (n == 1 or weight is last))
            if moments.isa is not None:
                np.testing.assert_array_equal(m.second, m.second.T)
                np.testing.assert_array_equal(moments(Block(np.asfortranarray(x), t, weight), centred).buffer, m.buffer)


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "F": np.asfortranarray,
    "columns of a wider C array": lambda x: np.hstack([x, x])[:, : x.shape[1]],
    "rows of a taller F array": lambda x: np.asfortranarray(np.vstack([x, x]))[: len(x)],
    "every second": lambda x: np.repeat(np.repeat(x, 2, 0), 2, 1)[::2, ::2],
    "rows reversed": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "columns reversed": lambda x: np.ascontiguousarray(x[:, ::-1])[:, ::-1],
    "one row repeated": lambda x: np.broadcast_to(x[0], x.shape),
    "columns apart": lambda x: Columns(map(np.ascontiguousarray, x.T)),  # type: ignore[dict-item]
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("features", [1, 5, 13])
@in_turn("layout", LAYOUTS)
@on_every_isa
def test_the_layout_changes_no_bit(layout: str, dtype: type, features: int) -> None:
    x, t = rows(131, features=features)
    x = x.astype(dtype)
    for weight in (None, some_weights(131)):
        given = LAYOUTS[layout](x)
        blocks = [Block(one, t, weight) for one in (given, np.array(given) if isinstance(given, np.ndarray) else x)]
        mine, theirs = (Moments.zero(blocks[0].shape) for _ in blocks)
        mine.add(blocks[0])
        theirs.add(blocks[1])
        np.testing.assert_array_equal(mine.buffer, theirs.buffer)


@either_form
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@every_way
def test_large_blocks_against_long_double(moments: Any, centred: bool, dtype: type) -> None:
    x, t = rows(20_000)
    x, weight = x.astype(dtype), some_weights(20_000)
    assert_digits(moments(Block(x, t, weight), centred), in_long_double(x, t, weight, centred), 1e-14)


@every_way
def test_a_mean_of_1e9_costs_no_digit(moments: Any) -> None:
    origin = np.array([1e9, -1e9, 0.0, 1e9])
    x, t = rows(5000)
    x, t = x + origin[:3], t + origin[3:]
    m = moments(Block(x, t))
    assert_digits(m, in_long_double(x - origin[:3], t - origin[3:]), 1e-14, origin)  # exact differences
    assert np.all(m.noise <= 1e-14 * np.diagonal(m.second))


@pytest.mark.parametrize("order", ["ascending", "descending", "steps"])
def test_sorted_rows_over_many_blocks_cost_no_digit(order: str) -> None:
    n = 12_000
    x, t = rows(n)
    ramp = np.linspace(0.0, 1e6, n)
    x[:, 0] += {"ascending": ramp, "descending": ramp[::-1], "steps": np.round(ramp, -5)}[order]
    x[:, 1] += np.arange(n) // 100 * 1e8
    source = cut_source(x, t, 100)
    assert source.n_blocks == 120
    m, sought = source.sum(Moments), in_long_double(x, t)
    assert m.rows == n
    assert_digits(m, sought, 1e-14)
    assert_noise_known(m, sought[1])


@every_way
def test_taking_out_a_far_block_costs_digits_and_noise_knows(moments: Any) -> None:
    x, t = rows(4000)
    x[2000:, 0] += 1e12
    m, far = (moments(Block(x[part], t[part])) for part in (slice(2000), slice(2000, None)))
    moments.merge(m, far)
    assert_digits(m, in_long_double(x, t), 1e-14)
    moments.subtract(m, far)
    assert m.noise[0] > 1e6 * m.noise[1]
    assert_noise_known(m, in_long_double(x[:2000], t[:2000])[1])


@either_form
@with_and_without_weights
@pytest.mark.parametrize("features", [1, 4, 21])
@every_way
def test_merging_gives_the_whole_and_subtracting_takes_back(
    moments: Any, centred: bool, weighted: bool, features: int
) -> None:
    rng = np.random.default_rng(features)
    x, t = rng.normal(size=(900, features)) + 2, rng.normal(size=(900, 2)) + 3
    x[500:] = x[500:] * 64 + 100
    weight = rng.integers(0, 4, 900) * rng.uniform(0.5, 2, 900) if weighted else None
    parts = (slice(0, 500), slice(500, 900))
    a, b = (moments(Block(x[s], t[s], None if weight is None else weight[s]), centred) for s in parts)
    whole = a.copy()
    moments.merge(whole, b)
    assert_digits(whole, in_long_double(x, t, weight, centred), 1e-14)
    moments.subtract(whole, b)
    np.testing.assert_array_equal(whole.second, whole.second.T)
    assert (whole.rows, whole.weight) == (500, pytest.approx(a.weight, rel=1e-13))
    unit = np.ldexp(1.0, (whole.exponent - a.exponent).astype(int))
    assert np.all(
        np.abs(whole.second - a.second / np.outer(unit, unit)) <= 8 * np.sqrt(np.outer(whole.noise, whole.noise))
    )
    moments.subtract(whole, a)
    assert (whole.rows, whole.centred) == (0, centred)
    assert not whole.buffer[3:].any()


def assert_times_powers(other: Moments, plain: Moments, power: Array) -> None:
    """Assert that every number in raw units is the other's times its power of two, to the bit."""
    np.testing.assert_array_equal(other.exponent % 1, 0)
    up = power + plain.exponent.astype(np.int64) - other.exponent.astype(np.int64)
    np.testing.assert_array_equal(other.second, np.ldexp(plain.second, up[:, None] + up))
    np.testing.assert_array_equal(other.noise, np.ldexp(plain.noise, 2 * up))
    np.testing.assert_array_equal(other.first_hi, np.ldexp(plain.first_hi, power if plain.centred else up))
    np.testing.assert_array_equal(other.first_lo, np.ldexp(plain.first_lo, power if plain.centred else up))


@either_form
@with_and_without_weights
@every_way
def test_powers_of_two_change_no_bit(moments: Any, centred: bool, weighted: bool) -> None:
    x, t = rows(700)
    x += [1e3, 0.0, -1.0]
    weight = some_weights(700) if weighted else None
    for power in ([-40, 41, 100, -3], *([[-900, 41, 900, -3]] if moments.isa else [])):  # the reference scales extremes
        plain = moments(Block(x, t, weight), centred)
        other = moments(Block(np.ldexp(x, power[:3]), np.ldexp(t, power[3:]), weight), centred)
        assert_times_powers(other, plain, np.array(power))


def sparse_source(x: Array, t: Array) -> SparseSource:
    source = SparseSource(sparse.csr_array(x), t)
    source.n_blocks = 8
    return source


def dense_source(x: Array, t: Array) -> ArraySource:
    return cut_source(x, t, len(x) // 8)


MERGED = pytest.mark.parametrize(
    ("make", "centred"),
    [(dense_source, True), (dense_source, False), (sparse_source, False)],
    ids=["centred", "raw", "sparse"],
)


@MERGED
def test_powers_of_two_change_no_bit_of_merged_sums(make: Callable[..., Any], centred: bool) -> None:
    x, t = rows(700)
    x[np.random.default_rng(1).random(x.shape) < 0.5] = 0.0
    power = np.array([-400, 41, 900, -3] if kernels.native else [-40, 41, 100, -3])  # see above
    plain, other = make(x, t), make(np.ldexp(x, power[:3]), np.ldexp(t, power[3:]))
    assert plain.n_blocks > 3
    assert_times_powers(other.sum(Moments, centred=centred), plain.sum(Moments, centred=centred), power)


@either_form
@every_way
def test_columns_below_the_smallest_normal_number(moments: Any, centred: bool) -> None:
    rng = np.random.default_rng(0)
    x, t, weight = rng.integers(-1000, 1000, (200, 2)).astype(float), rng.normal(size=(200, 1)), some_weights(200)
    plain = moments(Block(x, t, weight), centred)
    other = moments(Block(np.ldexp(x, [-1074, 1012]), t, weight), centred)
    up = np.array([-1074, 1012, 0]) + plain.exponent.astype(np.int64) - other.exponent.astype(np.int64)
    np.testing.assert_allclose(other.second, np.ldexp(plain.second, up[:, None] + up), rtol=1e-2)
    assert other.exponent[0] < -1060


SEEN = np.arange(PILOT_ROWS) * 1000 // PILOT_ROWS
UNSEEN = np.setdiff1d(np.arange(1000), SEEN)  # rows that the pilot does not look at


def extreme(case: str) -> tuple[Array, Array, Array | None]:
    """Return a thousand rows with numbers of one extreme."""
    x, t = rows(1000)
    weight = None
    a, b = UNSEEN[[3, 500]]
    match case:
        case "huge and tiny":
            x, t = x * [1e300, 1e-300, 1.0], t * 1e300
            x[:, 1] += 3e-300
        case "largest and smallest":
            x = np.random.default_rng(2).uniform(-0.75, 1.25, x.shape) * [1.2e308, 1e-306, 1.0]
        case "empty for the pilot":
            x[:, :2] = 0.0
            x[[a, b], :2] = [[1e250, 1e-250], [2e250, 2e-250]]
        case "tiny targets":
            x, t = x * [1e300, 1e-300, 1.0], t * 1e-300
            x[250:500] *= 1e-10
        case "zero in some blocks":
            x[:, 0] *= 1e-200
            x[:500, 0] = 0.0
        case "unseen outliers":
            x[[a, b], 0], x[a, 1], t[b] = [1e12, -1e12], 1e100, 1e9
        case "constant for the pilot":
            x[SEEN, 0], x[SEEN, 1] = 0.0, 1e6
        case "weightless, seen" | "weightless, unseen":
            x[:, 0] *= 1e-10
            weight = np.ones(1000)
            row = 0 if case.endswith(" seen") else a
            x[row, 0], weight[row] = 1e300, 0.0
        case _:  # a size beyond the range of the pilot
            x[a, 0], x[b, 2] = float(case), 3.0
    return x, t, weight


EXTREMES = pytest.mark.parametrize(
    "case",
    [
        *("huge and tiny", "largest and smallest", "empty for the pilot", "tiny targets", "zero in some blocks"),
        *("unseen outliers", "constant for the pilot", "weightless, seen", "weightless, unseen"),
        *("1e160", "1e300", "-1e300", "1e-250"),
    ],
)


@EXTREMES
@either_form
@every_way
def test_extreme_numbers_cost_no_digit(moments: Any, case: str, centred: bool) -> None:
    x, t, weight = extreme(case)
    keep = slice(None) if weight is None else weight > 0
    blocks = [Block(x, t, weight), Block(np.asfortranarray(x), t, weight)]
    if not centred and weight is None:
        blocks.append(sparsely(x, t))
    with np.errstate(over="ignore", invalid="ignore"):
        for block in blocks:
            m = moments(block, centred)
            assert m.finite
            assert_digits(m, in_long_double(x[keep], t[keep], centred=centred), 1e-13)


@EXTREMES
@MERGED
def test_extreme_numbers_cost_no_digit_over_many_blocks(case: str, make: Callable[..., Any], centred: bool) -> None:
    x, t, weight = extreme(case)
    if weight is None:
        with np.errstate(over="ignore", invalid="ignore"):
            m = make(x, t).sum(Moments, centred=centred)
        assert m.finite
        assert_digits(m, in_long_double(x, t, centred=centred), 2e-14)


@with_and_without_weights
@pytest.mark.parametrize("value", [0.1, -1 / 3, 123.456, 1e9 + 0.3, 1e-300, 1e300, 0.0])
@every_way
def test_a_constant_column_has_no_spread_beyond_its_noise(moments: Any, weighted: bool, value: float) -> None:
    x, t = rows(3000)
    x[:, 1] = value
    weight = some_weights(3000) if weighted else None
    m = moments(Block(x, t, weight))
    assert abs(m.second[1, 1]) <= 4 * m.noise[1]
    np.testing.assert_allclose(m.first_hi[1], value, rtol=4 * ROUNDING)
    m.merge(moments(Block(x[:777], t[:777], None if weight is None else weight[:777])))
    assert abs(m.second[1, 1]) <= 4 * m.noise[1]


@pytest.mark.parametrize(("layout", "n"), [("dense", 1000), ("csr", 50), ("dense", 60_000), ("csr", 60_000)])
def test_a_constant_column_of_raw_moments(layout: str, n: int) -> None:
    x, t = rows(n, features=6)
    x[:, :6] = [0.1, 1 / 3, 0.7, -0.9, 123.456, 1e9 + 0.3]
    m = WAYS[len(ISAS) // 2](sparsely(x, t) if layout == "csr" else Block(x, t), centred=False).about_mean()
    assert np.all(np.abs(np.diagonal(m.second)[:6]) <= 4 * m.noise[:6])


@pytest.mark.parametrize("layout", ["dense", "csr"])
@with_and_without_weights
@every_way
def test_raw_moments_about_their_mean_are_the_centred_ones(moments: Any, layout: str, weighted: bool) -> None:
    x, t = rows(900)
    x[np.random.default_rng(1).random(x.shape) < 0.3] = 0.0
    x += [0.0, 100.0, -1.0]
    weight = some_weights(900) if weighted else None
    m = moments(sparsely(x, t, weight) if layout == "csr" else Block(x, t, weight), centred=False)
    centred, before = moments(Block(x, t, weight)), m.buffer.copy()
    about = m.about_mean()
    np.testing.assert_array_equal(m.buffer, before)
    assert (about.centred, about.rows, about.weight) == (True, centred.rows, centred.weight)
    np.testing.assert_allclose(about.first_hi, centred.first_hi, rtol=1e-13, atol=1e-15)
    sought = in_long_double(x, t, weight)
    assert_digits(about, sought, 2e-10)  # (mean / spread)^2 = 1e4 in column 1 costs four digits
    assert_noise_known(about, sought[1])
    assert 1e3 < about.noise[1] / (ROUNDING * about.second[1, 1]) < 1e9
    assert centred.about_mean() is centred
    assert Moments.zero(Shape(3, 1), centred=False).about_mean().weight == 0


@every_way
def test_centred_moments_about_zero_are_the_raw_ones(moments: Any) -> None:
    x, t = rows(900)
    x, weight = x * [1.0, 1e-200, 1e200] + [50.0, 0.0, 0.0], some_weights(900)
    m = moments(Block(x, t, weight))
    before, raw = m.buffer.copy(), m.about_zero()
    np.testing.assert_array_equal(m.buffer, before)
    assert not raw.centred
    sought = in_long_double(x, t, weight, centred=False)
    assert_digits(raw, sought, 1e-14)
    assert_noise_known(raw, sought[1])
    assert raw.about_zero() is raw


@either_form
def test_target_slices_and_copies_are_independent(centred: bool) -> None:
    x, _ = rows(300)
    t = np.random.default_rng(5).normal(size=(300, 3)) * [1.0, 1e5, 1e-5] + [0.0, 1.0, 2.0]
    m, weight = Moments.zero(Shape(3, 3), centred=centred), some_weights(300)
    m.add(Block(x, t, weight))
    for k in range(3):
        alone, sliced = Moments.zero(Shape(3, 1), centred=centred), m.target(k)
        alone.add(Block(x, np.ascontiguousarray(t[:, k : k + 1]), weight))
        assert (sliced.shape, sliced.centred) == ((3, 1), centred)
        assert m.excess > sliced.excess == 1
        np.testing.assert_array_equal(sliced.bound, m.bound[[0, 1, 2, 3 + k]])
        alone.noise[:] = sliced.noise
        np.testing.assert_allclose(sliced.buffer, alone.buffer, rtol=1e-12, atol=1e-13)
    before, copy = m.buffer.copy(), m.copy()
    m.target(1).buffer[:] = 0.0
    copy.merge(m)
    assert copy.rows == 600
    np.testing.assert_array_equal(m.buffer, before)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("layout", ["centred", "raw", "csr"])
@every_way
def test_one_bad_number_shows_and_stays(moments: Any, bad: float, layout: str) -> None:
    good = Block(*rows(1000))
    for place, row, weightless in product((0, 2, 3), (0, 777, 999), ("none", "its own", "all")):
        z, weight = np.hstack([good.x, good.t]), np.ones(1000)
        z[row, place] = bad
        weight[{"none": [], "its own": row, "all": slice(None)}[weightless]] = 0.0
        with np.errstate(all="ignore"):
            whole, rest = (
                moments((sparsely if layout == "csr" else Block)(b.x, b.t, b.weight), layout == "centred")
                for b in (Block(z[:, :3], z[:, 3:].copy(), weight), good)
            )
            assert rest.finite
            assert (whole.finite, whole.rows, whole.weight) == (False, 1000, weight.sum())
            moments.merge(rest, whole)
            assert rest.finite == (whole.weight == 0)
