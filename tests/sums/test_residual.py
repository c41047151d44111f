"""The gradient on raw rows against exact fractions, by the kernels on every instruction set and by the reference."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from adaline.block import Block
from adaline.sources import ArraySource, SparseSource
from adaline.sums import Residual, Theta
from adaline.sums.residual import residual_reference
from tests.layouts import lay
from tests.sums.examples import exact
from tests.turns import in_turn, on_every_isa

Array = NDArray[Any]

LAYOUTS = ("float64", "float32", "columns", "strided", "table", "csr", "csr32")

pytestmark = pytest.mark.every


def in_fractions(x: Array, t: Array, weight: Array | None, theta: Theta) -> tuple[Array, Array]:
    """Return the sums (K, D + 2) exactly, and the sums of the sizes of their terms."""
    n, d = x.shape
    unit = np.array([Fraction(1), *(Fraction(2) ** int(-e) for e in theta.exponent[:d])])
    v = exact(np.column_stack([np.ones(n), x]).astype(float)) * unit
    w = exact(np.ones(n) if weight is None else weight)
    sums, sizes = [], []
    for k in range(t.shape[1]):
        target = exact(t[:, k]) * Fraction(2) ** int(-theta.exponent[d + k])
        coefficients = exact(theta.hi[k]) + exact(theta.lo[k])
        r = target - v @ coefficients
        reach = np.abs(target) + np.abs(v) @ np.abs(coefficients)
        sums.append([*(w * r) @ v, (w * r) @ r])
        sizes.append([*(w * reach) @ np.abs(v), (w * reach) @ reach])
    return np.array(sums), np.array(sizes)


def problem(n: int, d: int, k: int, seed: int = 0) -> tuple[Array, Array, Array, Theta]:
    """Return rows of float32 whose targets the coefficients explain to 12 digits, so that the residual cancels."""
    rng = np.random.default_rng(seed)
    exponent = np.concatenate([rng.integers(-40, 40, d), rng.integers(-5, 5, k)]).astype(float)
    v = rng.normal(size=(n, d)).astype(np.float32).astype(float)
    v[rng.random(v.shape) < 0.3] = 0.0
    hi = rng.normal(size=(k, 1 + d))
    lo = hi * 2.0**-54 * rng.normal(size=hi.shape)
    t = hi[:, 0] + v @ hi[:, 1:].T + 1e-12 * rng.normal(size=(n, k))
    scaled = (np.ldexp(part, e.astype(int)) for part, e in ((v, exponent[:d]), (t, exponent[d:])))
    return *scaled, rng.random(n), Theta(hi, lo, exponent)


def assert_exact(sums: Array, sought: tuple[Array, Array]) -> None:
    error = np.abs(exact(sums[..., 0]) + exact(sums[..., 1]) - sought[0])
    assert np.all(error <= 2.0**-98 * sought[1])
    np.testing.assert_array_equal(sums[..., 0] + sums[..., 1], sums[..., 0])  # hi is the nearest double


SIZES = [(1, 1, 1), (5, 3, 2), (45, 13, 1), (65, 8, 2), (97, 11, 2), (130, 9, 1)]


@pytest.mark.parametrize(("n", "d", "k"), SIZES, ids=str)
@pytest.mark.parametrize("weighted", [True, False], ids=["weighted", "plain"])
def test_sums_are_right_to_thirty_digits(weighted: bool, n: int, d: int, k: int) -> None:
    x, t, weight, theta = problem(n, d, k)
    w = weight if weighted else None
    sought = in_fractions(x, t, w, theta)

    @in_turn("layout", LAYOUTS)
    @on_every_isa
    def natively(layout: str) -> None:
        residual = Residual(np.zeros((k, d + 2, 2)))
        for part in (slice(0, n // 2), slice(n // 2, n)):  # which add to what is there
            residual.add(Block(lay(x[part], layout), t[part], None if w is None else w[part]), theta)
        assert_exact(residual.sums, sought)

    natively()
    for rows in (x, sparse.csr_array(x)):
        assert_exact(residual_reference(Block(rows, t, w), theta), sought)


def test_sums_over_blocks_are_right_to_thirty_digits() -> None:
    x, t, weight, theta = problem(200, 4, 2)
    dense, csr = ArraySource(x, t, weight), SparseSource(sparse.csr_array(x), t, weight)
    dense.rows_per_block, csr.n_blocks = 30, 7
    for source in (dense, csr):
        assert_exact(source.sum(Residual, theta).sums, in_fractions(x, t, weight, theta))


def test_extreme_columns_change_no_bit() -> None:
    x, t, weight, theta = problem(40, 3, 1)
    power = np.array([-900, 900, 30, 100])
    moved = Block(np.ldexp(x, power[:3]), np.ldexp(t, power[3:]), weight)
    scale = theta._replace(exponent=theta.exponent + power)
    assert_exact(residual_reference(moved, scale), in_fractions(x, t, weight, theta))

    @on_every_isa
    def natively() -> None:
        usual, extreme = Residual(np.zeros((1, 5, 2))), Residual(np.zeros((1, 5, 2)))
        usual.add(Block(x, t, weight), theta)
        extreme.add(moved, scale)
        np.testing.assert_array_equal(extreme.sums, usual.sums)

    natively()


def test_readings() -> None:
    x, t, weight, theta = problem(50, 3, 2)
    residual = ArraySource(x, t, weight).sum(Residual, theta)
    scaled = np.ldexp(x, -theta.exponent[:3].astype(int))
    r = np.ldexp(t, -theta.exponent[3:].astype(int)) - theta.hi[:, 0] - scaled @ theta.hi[:, 1:].T
    hi, lo = residual.gradient
    assert hi.shape == lo.shape == (2, 4)
    np.testing.assert_allclose(hi, (r * weight[:, None]).T @ np.column_stack([np.ones(50), scaled]), atol=1e-12)
    np.testing.assert_allclose(residual.squares, weight @ r**2, atol=1e-20)
    assert np.all(np.abs(lo) <= 2.0**-52 * np.abs(hi))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_one_bad_number_shows(bad: float) -> None:
    x, t, weight, theta = problem(50, 3, 1)
    x[17, 1] = bad
    with np.errstate(invalid="ignore"):
        assert not np.isfinite(ArraySource(x, t, weight).sum(Residual, theta).squares).all()
