"""The triangle: a root of the moments, with twice their digits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from adaline.block import Block, Shape
from adaline.sources import ArraySource, SparseSource
from adaline.sums import Moments, Triangle
from tests.sums.examples import EXAMPLES, read_moments, read_triangle

Array = NDArray[Any]

CENTRED = next(e for e in EXAMPLES if e.kind is Triangle)


def rows(n: int = 600, features: int = 4, targets: int = 2, seed: int = 0) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, features)) * 10.0 ** np.arange(-2, features - 2) + 5.0
    return x, rng.normal(size=(n, targets)) + [0.0, 100.0][:targets], rng.random(n)


def assert_same(t: Triangle, m: Moments, rounding: float = 1e-13) -> None:
    """Assert that R'R is what the moments say: W, the mean and S (raw: S alone)."""
    ours, theirs = read_triangle(t), read_moments(m)
    for what, reading in ours.items():
        assert np.all(np.abs(reading.value - theirs[what].value) <= rounding * theirs[what].size), what


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_r_is_a_root_of_the_moments(centred: bool, weighted: bool, layout: str) -> None:
    x, t, weight = rows()
    source: Any = ArraySource(x, t, weight if weighted else None)
    moments = source.sum(Moments, centred=centred)
    if layout == "csr":
        source = SparseSource(sparse.csr_array(x), t, weight if weighted else None)
    triangle = source.sum(Triangle, centred=centred)
    assert triangle.rows == 600
    assert triangle.r.shape == (6 + centred, 6 + centred)
    np.testing.assert_array_equal(triangle.r, np.triu(triangle.r))
    assert_same(triangle, moments)


@pytest.mark.parametrize("centred", [True, False])
def test_r_is_a_root_of_the_moments_after_merges_of_unlike_shifts_and_scales(centred: bool) -> None:
    x, t, weight = rows()
    block = np.arange(600) // 100
    x[:, 0] += 1e6 * block  # a shift of each block's own
    x[:, 1] *= 100.0 ** (block % 3)  # and a scale
    t[:, 0] *= 2.0 ** (-30 * (block % 2))
    source = ArraySource(x, t, weight)
    source.rows_per_block = 100
    parts = [source.block(i) for i in range(6)]
    moments, triangle = source.sum(Moments, centred=centred), source.sum(Triangle, centred=centred)
    assert_same(triangle, moments)
    one_by_one = Triangle.zero(source.shape, centred=centred)
    for part in reversed(parts):
        one_by_one.add(part)
    assert len({tuple(Triangle.zero(source.shape).exponent)} | {tuple(one_by_one.exponent)}) == 2
    assert_same(one_by_one, moments)


def test_r_has_twice_the_digits_of_the_gram_matrix() -> None:
    """Two columns that differ in the 10th digit: S about their difference has none left, R has six."""
    rng = np.random.default_rng(0)
    n = 300
    a = rng.integers(-1000, 1000, n) * 2.0**-10
    difference = rng.integers(-1000, 1000, n) * 2.0**-44
    x = np.column_stack([a, a + difference])  # exact
    t = np.zeros((n, 1))
    source = ArraySource(x, t)
    source.rows_per_block = 77
    triangle = source.sum(Triangle, centred=False)
    exact_a, exact_d = ([Fraction(v) for v in column] for column in (a, difference))
    aa, ad, dd = (
        sum(u * v for u, v in zip(p, q, strict=True))
        for p, q in ((exact_a, exact_a), (exact_a, exact_d), (exact_d, exact_d))
    )
    left_over = float(dd - ad * ad / aa) ** 0.5
    found = abs(np.ldexp(triangle.r[1, 1], int(triangle.exponent[1])))
    np.testing.assert_allclose(found, left_over, rtol=1e-4)


def test_a_mean_of_1e9_costs_no_digit() -> None:
    x, t, weight = rows()
    x = np.round(x, 3)
    moved = np.round(x * 1024) / 1024 + 2.0**30
    x = moved - 2.0**30
    for rows_per_block in (600, 50):
        plain, far = ArraySource(x, t, weight), ArraySource(moved, t, weight)
        plain.rows_per_block = far.rows_per_block = rows_per_block
        a, b = read_triangle(plain.sum(Triangle)), read_triangle(far.sum(Triangle))
        assert np.all(np.abs(a["second"].value - b["second"].value) <= 1e-13 * a["second"].size)


def test_huge_and_tiny_columns() -> None:
    x, t, weight = rows()
    power = np.array([990, -990, 3, 500])
    source, plain = ArraySource(np.ldexp(x, power), t, weight), ArraySource(x, t, weight)
    source.rows_per_block = plain.rows_per_block = 100
    extreme, usual = source.sum(Triangle), plain.sum(Triangle)
    np.testing.assert_array_equal(extreme.r, usual.r)
    np.testing.assert_array_equal(extreme.exponent[:4], usual.exponent[:4] + power)


def test_an_outlier_that_the_pilot_does_not_see() -> None:
    x, t, _ = rows()
    x[7, 0] = 1e120
    triangle = ArraySource(x, t).sum(Triangle)
    assert np.isfinite(triangle.r).all()
    np.testing.assert_allclose(np.ldexp(np.linalg.norm(triangle.r[1:, 1]), int(triangle.exponent[0])), 1e120, rtol=1e-2)


def test_an_outlier_beyond_the_range_of_the_pilot() -> None:
    x, t, _ = rows()
    x[:, 0] *= 1e-200
    x[7, 0] = 1e200
    with np.errstate(over="ignore"):
        assert np.isfinite(ArraySource(x, t).sum(Triangle).r).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_one_bad_number_shows_and_stays(bad: float) -> None:
    x, t, _ = rows()
    x[311, 2] = bad
    source = ArraySource(x, t)
    source.rows_per_block = 100
    with np.errstate(invalid="ignore"):
        triangle = source.sum(Triangle)
    assert not np.isfinite(triangle.r).all()


def test_constant_columns_leave_nothing_below_the_row_of_ones() -> None:
    x, t, weight = rows()
    x[:, 1], x[:, 2] = 0.1, 0.0
    source = ArraySource(x, t, weight)
    source.rows_per_block = 100
    triangle = source.sum(Triangle)
    np.testing.assert_allclose(triangle.r[1:, 2:4], 0.0, atol=1e-15 * np.sqrt(600))
    np.testing.assert_allclose(triangle.shift[1], 0.1, rtol=1e-15)


def test_zero_has_no_rows() -> None:
    assert Triangle.zero(Shape(3, 2)).r.shape == (0, 6)
    assert Triangle.zero(Shape(3, 2), centred=False).r.shape == (0, 5)
    triangle = Triangle.zero(Shape(3, 2))
    triangle.add(Block(np.ones((2, 3)), np.ones((2, 2)), np.zeros(2)))
    assert (triangle.rows, len(triangle.r)) == (2, 0)
