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
from tests.sums.examples import read_moments, read_triangle

Array = NDArray[Any]


def rows() -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 4)) * 10.0 ** np.arange(-2, 2) + 5.0
    return x, rng.normal(size=(600, 2)) + np.array([0.0, 100.0]), rng.random(600)


def over(x: Array, t: Array, weight: Array | None = None, rows_per_block: int = 100, centred: bool = True) -> Any:
    """Return the triangle over blocks of rows."""
    source = ArraySource(x, t, weight)
    source.rows_per_block = rows_per_block
    return source.sum(Triangle, centred=centred)


def assert_same(t: Triangle, m: Moments) -> None:
    """Assert that R'R is what the moments say: W, the mean and S (raw: S alone)."""
    theirs = read_moments(m)
    for what, reading in read_triangle(t).items():
        assert np.all(np.abs(reading.value - theirs[what].value) <= 1e-13 * theirs[what].size), what


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_r_is_a_root_of_the_moments(centred: bool, weighted: bool, layout: str) -> None:
    x, t, weight = rows()
    w = weight if weighted else None
    source: Any = ArraySource(x, t, w) if layout == "dense" else SparseSource(sparse.csr_array(x), t, w)
    triangle = source.sum(Triangle, centred=centred)
    assert triangle.rows == 600
    assert triangle.r.shape == (6 + centred, 6 + centred)
    np.testing.assert_array_equal(triangle.r, np.triu(triangle.r))
    assert_same(triangle, ArraySource(x, t, w).sum(Moments, centred=centred))


@pytest.mark.parametrize("centred", [True, False])
def test_r_is_a_root_of_the_moments_after_merges_of_unlike_shifts_and_scales(centred: bool) -> None:
    x, t, weight = rows()
    block = np.arange(600) // 100
    x[:, 0] += 1e6 * block  # a shift of each block's own
    x[:, 1] *= 100.0 ** (block % 3)  # and a scale
    t[:, 0] *= 2.0 ** (-30 * (block % 2))
    moments = ArraySource(x, t, weight).sum(Moments, centred=centred)
    assert_same(over(x, t, weight, centred=centred), moments)
    one_by_one = Triangle.zero(Shape(4, 2), centred=centred)
    for part in reversed(np.split(np.arange(600), 6)):
        one_by_one.add(Block(x[part], t[part], weight[part]))
    assert one_by_one.exponent.any()
    assert_same(one_by_one, moments)


def test_r_has_twice_the_digits_of_the_gram_matrix() -> None:
    """Two columns that differ in the 10th digit: S about their difference has none left, R has six."""
    rng = np.random.default_rng(0)
    a, difference = rng.integers(-1000, 1000, 300) * 2.0**-10, rng.integers(-1000, 1000, 300) * 2.0**-44
    triangle = over(np.column_stack([a, a + difference]), np.zeros((300, 1)), None, 77, centred=False)  # exact columns
    p, q = ([Fraction(v) for v in column] for column in (a, difference))
    aa, ad, dd = (sum(u * v for u, v in zip(*pair, strict=True)) for pair in ((p, p), (p, q), (q, q)))
    found = abs(np.ldexp(triangle.r[1, 1], int(triangle.exponent[1])))
    np.testing.assert_allclose(found, float(dd - ad * ad / aa) ** 0.5, rtol=1e-4)


def test_a_mean_of_1e9_costs_no_digit() -> None:
    x, t, weight = rows()
    moved = np.round(x * 1024) / 1024 + 2.0**30
    for rows_per_block in (600, 50):
        a, b = (read_triangle(over(part, t, weight, rows_per_block)) for part in (moved - 2.0**30, moved))
        assert np.all(np.abs(a["second"].value - b["second"].value) <= 1e-13 * a["second"].size)


def test_huge_and_tiny_columns_change_no_bit() -> None:
    x, t, weight = rows()
    power = np.array([990, -990, 3, 500])
    extreme, usual = over(np.ldexp(x, power), t, weight), over(x, t, weight)
    np.testing.assert_array_equal(extreme.r, usual.r)
    np.testing.assert_array_equal(extreme.exponent[:4], usual.exponent[:4] + power)


@pytest.mark.parametrize(("size", "outlier"), [(1.0, 1e120), (1e-200, 1e200)], ids=["unseen", "beyond the range"])
def test_an_outlier_that_the_pilot_does_not_see(size: float, outlier: float) -> None:
    x, t, _ = rows()
    x[:, 0] *= size
    x[7, 0] = outlier
    with np.errstate(over="ignore"):
        triangle = over(x, t, rows_per_block=600)
    found = np.ldexp(np.linalg.norm(triangle.r[1:, 1]), int(triangle.exponent[0]))
    np.testing.assert_allclose(found, outlier, rtol=1e-2)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_one_bad_number_shows_and_stays(bad: float) -> None:
    x, t, _ = rows()
    x[311, 2] = bad
    with np.errstate(invalid="ignore"):
        assert not np.isfinite(over(x, t).r).all()


def test_constant_columns_leave_nothing_below_the_row_of_ones() -> None:
    x, t, weight = rows()
    x[:, 1], x[:, 2] = 0.1, 0.0
    triangle = over(x, t, weight)
    np.testing.assert_allclose(triangle.r[1:, 2:4], 0.0, atol=1e-15 * np.sqrt(600))
    np.testing.assert_allclose(triangle.shift[1], 0.1, rtol=1e-15)


def test_zero_has_no_rows() -> None:
    assert Triangle.zero(Shape(3, 2)).r.shape == (0, 6)
    assert Triangle.zero(Shape(3, 2), centred=False).r.shape == (0, 5)
    triangle = Triangle.zero(Shape(3, 2))
    triangle.add(Block(np.ones((2, 3)), np.ones((2, 2)), np.zeros(2)))
    assert (triangle.rows, len(triangle.r)) == (2, 0)
