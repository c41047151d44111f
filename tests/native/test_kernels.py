"""The kernels against NumPy in long double and against exact fractions, on every instruction set."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse

native = pytest.importorskip("adaline._native")

ROUNDOFF = 2.0**-53


@pytest.fixture(autouse=True, params=native.isas())
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    before = native.isa()
    native.use_isa(request.param)
    yield request.param
    native.use_isa(before)


@dataclass
class Moments:
    """The flat state, with names."""

    buffer: np.ndarray
    D: int
    K: int

    @classmethod
    def zero(cls, D: int, K: int) -> Moments:
        q = D + K
        return cls(np.zeros(3 + (4 + q) * q), D, K)

    def part(self, k: int) -> np.ndarray:
        q = self.D + self.K
        return self.buffer[3 + k * q : 3 + (k + 1) * q]

    rows = property(lambda self: self.buffer[0])
    W = property(lambda self: self.buffer[1])
    mode = property(lambda self: self.buffer[2])
    hi = property(lambda self: self.part(0))
    lo = property(lambda self: self.part(1))
    exponent = property(lambda self: self.part(2))
    noise = property(lambda self: self.part(3))

    @property
    def S(self) -> np.ndarray:
        q = self.D + self.K
        return self.buffer[3 + 4 * q :].reshape(q, q)

    def copy(self) -> Moments:
        return Moments(self.buffer.copy(), self.D, self.K)


def moments(
    x: np.ndarray,
    t: np.ndarray,
    weight: np.ndarray | None = None,
    centred: bool = True,
    exponent: np.ndarray | None = None,
) -> Moments:
    m = Moments.zero(x.shape[1], t.shape[1])
    assert native.moments_dense(m.buffer, m.D, m.K, x, t, weight, centred, exponent)
    return m


def block(n: int, D: int, K: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng((seed, n, D, K))
    x = rng.standard_normal((n, D)) * 10.0 ** rng.integers(-3, 4, D) + rng.standard_normal(D) * 5
    t = rng.standard_normal((n, K)) + 3
    weight = rng.integers(0, 4, n) * rng.uniform(0.5, 2, n)
    return x, t, weight


def assert_moments(m: Moments, x: np.ndarray, t: np.ndarray, weight: np.ndarray | None) -> None:
    """Against a two-pass computation in long double."""
    z = np.hstack([x.astype(np.longdouble), t])
    w = np.ones(len(z), np.longdouble) if weight is None else weight.astype(np.longdouble)
    W = w.sum()
    assert m.rows == len(z)
    assert m.W == pytest.approx(float(W), rel=1e-14, abs=0)
    np.testing.assert_array_equal(m.S, m.S.T)
    if W == 0:
        assert not m.buffer[3:].any()
        return
    unit = np.ldexp(np.longdouble(1), -m.exponent.astype(int))
    if m.mode == 0:
        mean = w @ z / W
        deviation = (z - mean) * unit
        error = np.abs((m.hi.astype(np.longdouble) + m.lo) - mean) * unit
        assert (error <= 1e-14 * np.abs(deviation).max(axis=0) + 1e-17 * np.abs(z * unit).max(axis=0)).all()
    else:
        deviation = z * unit
        first = w @ deviation
        assert (np.abs(m.hi - first) <= 1e-14 * (w @ np.abs(deviation)) + 1e-300).all()
    S = (deviation * w[:, None]).T @ deviation
    bound = np.sqrt(np.outer(m.noise, m.noise)) + 1e-25
    assert (np.abs(m.S - S) <= 4 * bound * (1 + len(z) / 64)).all()


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "columns of a wider C array": lambda x: np.hstack([x, x])[:, : x.shape[1]],
    "rows of a taller F array": lambda x: np.asfortranarray(np.vstack([x, x]))[: len(x)],
    "every second": lambda x: np.repeat(np.repeat(x, 2, 0), 2, 1)[::2, ::2],
    "rows reversed": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "columns reversed": lambda x: np.ascontiguousarray(x[:, ::-1])[:, ::-1],
}


@pytest.mark.parametrize("n", [0, 1, 5, 63, 64, 65, 1000])
@pytest.mark.parametrize("D", [1, 2, 3, 6, 7, 8, 9, 15, 16, 17, 23, 24, 31, 40, 100])
def test_moments_of_every_shape(n: int, D: int) -> None:
    x, t, weight = block(n, D, 1 + D % 3)
    for w in (None, weight):
        for centred in (True, False):
            m = moments(x, t, w, centred)
            assert_moments(m, x, t, w)
            np.testing.assert_array_equal(m.buffer, moments(np.asfortranarray(x), t, w, centred).buffer)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("D", [1, 5, 13])
def test_moments_of_every_layout(layout: str, dtype: type, D: int) -> None:
    x, t, weight = block(131, D, 2)
    x = x.astype(dtype)
    same = LAYOUTS[layout](x)
    np.testing.assert_array_equal(same, x)
    for w in (None, weight):
        m = moments(same, t, w)
        assert_moments(m, x, t, w)
        np.testing.assert_array_equal(m.buffer, moments(np.ascontiguousarray(x), t, w).buffer)


def test_repeated_row_with_stride_zero() -> None:
    x = np.broadcast_to(np.arange(5.0), (70, 5))
    m = moments(x, np.ones((70, 1)))
    np.testing.assert_array_equal(m.hi, [0, 1, 2, 3, 4, 1])
    assert not m.S.any()


def test_far_mean_keeps_its_digits() -> None:
    x, t, _ = block(5000, 6, 1)
    far = 1e9 + np.random.default_rng(1).standard_normal(x.shape)
    m = moments(far, t)
    assert_moments(m, far, t, None)
    z = np.hstack([far.astype(np.longdouble), t])
    spread = ((z - z.mean(0)) ** 2).sum(0) * np.ldexp(np.longdouble(1), -2 * m.exponent.astype(int))
    np.testing.assert_allclose(np.diag(m.S), spread.astype(float), rtol=1e-13)


def test_integer_sums_are_exact() -> None:
    rng = np.random.default_rng(3)
    x, t = rng.integers(-50, 50, (777, 11)).astype(float), rng.integers(0, 9, (777, 2)).astype(float)
    z = np.hstack([x, t])
    m = moments(x, t, centred=False, exponent=np.zeros(13))
    np.testing.assert_array_equal(m.S, z.T @ z)
    np.testing.assert_array_equal(m.hi, z.sum(0))


def test_weights_are_repetitions() -> None:
    x, t, _ = block(300, 7, 1)
    weight = np.random.default_rng(5).integers(0, 4, 300).astype(float)
    a, times = moments(x, t, weight), weight.astype(int)
    b = moments(np.repeat(x, times, 0), np.repeat(t, times, 0))
    unit = np.ldexp(1.0, (a.exponent - b.exponent).astype(int))
    np.testing.assert_allclose(a.S * np.outer(unit, unit), b.S, atol=1e-12 * np.diag(b.S).max())
    np.testing.assert_allclose(a.hi, b.hi, rtol=1e-12)


def test_power_of_two_columns_change_no_bit() -> None:
    x, t, weight = block(500, 9, 1)
    powers = np.array([-900, -300, -31, -1, 0, 1, 29, 300, 900])
    a, b = moments(x, t, weight), moments(np.ldexp(x, powers), t, weight)
    np.testing.assert_array_equal(a.S, b.S)
    np.testing.assert_array_equal(a.noise, b.noise)
    np.testing.assert_array_equal(b.exponent[:9] - a.exponent[:9], powers)
    np.testing.assert_array_equal(np.ldexp(a.hi[:9], powers), b.hi[:9])


@pytest.mark.parametrize("layout", ["C", "F"])
def test_huge_and_tiny_columns(layout: str) -> None:
    x, t, _ = block(200, 6, 1)
    x = np.random.default_rng(2).uniform(-1, 1, x.shape) + 0.25
    factors = np.array([1e300, 1e-300, 1.2e308, 1e-306, 1, 1e-320])
    huge = LAYOUTS[layout](x * factors)
    m = moments(huge, t)
    unit = np.ldexp(np.longdouble(1), -m.exponent.astype(int))
    z = np.hstack([huge.astype(np.longdouble), t]) * unit
    z -= z.mean(0)
    np.testing.assert_allclose(m.S, (z.T @ z).astype(float), rtol=1e-12, atol=1e-12)
    raw = moments(huge, t, centred=False)
    assert np.isfinite(raw.buffer).all()


@pytest.mark.parametrize("size", [1e-250, 1e250])
def test_a_column_that_the_pilot_finds_empty(size: float) -> None:
    x = np.zeros((1000, 2))
    x[[333, 777], 1] = size, 2 * size
    m = moments(x, np.ones((1000, 1)))
    unit = 2.0 ** -m.exponent[1]
    exact = (size * unit) ** 2 * (5 - 9 / 1000)
    assert m.S[1, 1] == pytest.approx(exact, rel=1e-14)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("layout", ["C", "F", "every second"])
@pytest.mark.parametrize("centred", [True, False])
def test_one_bad_number_shows(bad: float, layout: str, centred: bool) -> None:
    for row, column in [(0, 0), (57, 9), (130, 4)]:
        x, t, weight = block(131, 10, 1)
        x[row, column] = bad
        weight[row] = 0
        for w in (None, weight):
            m = Moments.zero(10, 1)
            assert not native.moments_dense(m.buffer, 10, 1, LAYOUTS[layout](x), t, w, centred, None)
    x, t, _ = block(131, 10, 1)
    t[99] = bad
    m = Moments.zero(10, 1)
    assert not native.moments_dense(m.buffer, 10, 1, x, t, None, centred, None)


def test_rows_without_weight_only_count() -> None:
    x, t, _ = block(40, 3, 1)
    m = moments(x, t, np.zeros(40))
    assert m.rows == 40
    assert not m.buffer[1:].any()
    late = np.zeros(40)
    late[39] = 2.0
    m = moments(x, t, late)
    np.testing.assert_array_equal(m.hi, [*x[39], *t[39]])
    assert not m.S.any()


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("D", [1, 4, 21])
def test_merge_equals_the_whole_and_subtract_takes_back(centred: bool, D: int) -> None:
    x, t, weight = block(900, D, 2)
    x[500:] = x[500:] * 64 + 100
    for w in (None, weight):

        def part(s: slice, w: np.ndarray | None = w) -> Moments:
            return moments(x[s], t[s], None if w is None else w[s], centred)

        whole, a, b = Moments.zero(D, 2), part(slice(0, 500)), part(slice(500, 900))
        before = a.copy()
        native.moments_merge(whole.buffer, a.buffer, D, 2)
        np.testing.assert_array_equal(whole.buffer, a.buffer)
        native.moments_merge(whole.buffer, b.buffer, D, 2)
        native.moments_merge(whole.buffer, Moments.zero(D, 2).buffer, D, 2)
        assert_moments(whole, x, t, w)
        native.moments_subtract(whole.buffer, b.buffer, D, 2)
        np.testing.assert_array_equal(whole.S, whole.S.T)
        assert whole.rows == 500
        assert whole.W == pytest.approx(before.W, rel=1e-13)
        unit = np.ldexp(1.0, (whole.exponent - before.exponent).astype(int))
        bound = np.sqrt(np.outer(whole.noise, whole.noise)) * 8
        assert (np.abs(whole.S - before.S / np.outer(unit, unit)) <= bound).all()
        native.moments_subtract(whole.buffer, before.buffer, D, 2)
        assert whole.rows == 0
        assert not whole.buffer[3:].any()
        assert whole.mode == (0 if centred else 1)


def test_merging_nothing_counts_rows() -> None:
    x, t, _ = block(30, 2, 1)
    nothing, m = moments(x, t, np.zeros(30)), moments(x, t)
    a, b = nothing.copy(), m.copy()
    native.moments_merge(a.buffer, m.buffer, 2, 1)
    native.moments_merge(b.buffer, nothing.buffer, 2, 1)
    np.testing.assert_array_equal(a.buffer, b.buffer)
    assert a.rows == 60
    assert a.W == 30


def csr_of(x: np.ndarray, seed: int = 0) -> scipy.sparse.csr_array:
    x = x.copy()
    x[np.random.default_rng(seed).random(x.shape) < 0.6] = 0
    return scipy.sparse.csr_array(x)


@pytest.mark.parametrize("indices", [np.int32, np.int64])
@pytest.mark.parametrize("indptr", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_moments_equal_dense(indices: type, indptr: type, dtype: type) -> None:
    x, t, weight = block(90, 12, 2)
    s = csr_of(x).astype(dtype)
    dense = s.toarray()
    exponent = moments(dense, t, centred=False).exponent.copy()
    for w in (None, weight):
        m = Moments.zero(12, 2)
        parts = s.data, s.indices.astype(indices), s.indptr.astype(indptr)
        assert native.moments_csr(m.buffer, 12, 2, *parts, t, w, exponent)
        assert m.mode == 1
        assert_moments(m, dense, t, w)


def test_sparse_rows_out_of_order_and_with_repetitions() -> None:
    indptr = np.array([0, 4, 4, 7])
    columns = np.array([3, 0, 3, 1, 2, 2, 2])
    data = np.array([1.0, 2, 4, 8, 1, 1, 16])
    x = np.array([[2.0, 8, 0, 5], [0, 0, 0, 0], [0, 0, 18, 0]])
    t = np.array([[1.0], [2], [3]])
    m, z = Moments.zero(4, 1), np.hstack([x, t])
    assert native.moments_csr(m.buffer, 4, 1, data, columns, indptr, t, None, np.zeros(5))
    np.testing.assert_array_equal(m.S, z.T @ z)
    np.testing.assert_array_equal(m.hi, z.sum(0))
    data[2] = np.nan
    assert not native.moments_csr(Moments.zero(4, 1).buffer, 4, 1, data, columns, indptr, t, None, np.zeros(5))
    columns[0] = 4
    with pytest.raises(ValueError, match="outside"):
        native.moments_csr(m.buffer, 4, 1, data, columns, indptr, t, None, np.zeros(5))


def exact_residual(
    x: np.ndarray, t: np.ndarray, weight: np.ndarray | None, hi: np.ndarray, lo: np.ndarray, exponent: np.ndarray
) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """The sums, and the sums of absolute values that bound their rounding."""
    (n, D), K = x.shape, t.shape[1]
    unit = [Fraction(2) ** -int(e) for e in exponent]
    v = [[Fraction(1)] + [Fraction(float(x[i, j])) * unit[j] for j in range(D)] for i in range(n)]
    sums, sizes = [], []
    for k in range(K):
        theta = [Fraction(a) + Fraction(b) for a, b in zip(hi[k], lo[k], strict=True)]
        g, size = [Fraction(0)] * (D + 2), [Fraction(0)] * (D + 2)
        for i in range(n):
            w = Fraction(1) if weight is None else Fraction(weight[i])
            terms = [a * b for a, b in zip(v[i], theta, strict=True)]
            target = Fraction(t[i, k]) * unit[D + k]
            r, s = target - sum(terms), abs(target) + sum(map(abs, terms))
            for c, a in enumerate(v[i]):
                g[c] += w * a * r
                size[c] += w * abs(a) * s
            g[D + 1] += w * r * r
            size[D + 1] += w * s * s
        sums.append(g)
        sizes.append(size)
    return sums, sizes


def problem(n: int, D: int, K: int, dtype: Any = np.float64) -> tuple[np.ndarray, ...]:
    """Targets that a model nearly reaches, so that residuals cancel."""
    x, _, weight = block(n, D, K)
    rng = np.random.default_rng(9)
    x = x.astype(dtype)
    exponent = rng.integers(-3, 4, D + K).astype(float)
    v = np.hstack([np.ones((n, 1)), x * np.ldexp(1.0, -exponent[:D].astype(int))])
    hi = rng.standard_normal((K, 1 + D))
    lo = hi * ROUNDOFF * rng.uniform(-1, 1, hi.shape)
    t = (v @ hi.T) * np.ldexp(1.0, exponent[D:].astype(int))
    return x, t, weight, hi, lo, exponent


def assert_residual(g: np.ndarray, exact: tuple[list[list[Fraction]], list[list[Fraction]]]) -> None:
    for k, (sums, sizes) in enumerate(zip(*exact, strict=True)):
        for c, (a, size) in enumerate(zip(sums, sizes, strict=True)):
            error = abs(Fraction(g[k, c, 0]) + Fraction(g[k, c, 1]) - a)
            assert error <= Fraction(1, 10**28) * size, (k, c, float(error / size))


@pytest.mark.parametrize("n", [1, 5, 32, 65])
@pytest.mark.parametrize(("D", "K"), [(1, 1), (3, 2), (8, 1), (13, 3)])
def test_residual_is_exact_to_double_double(n: int, D: int, K: int) -> None:
    x, t, weight, hi, lo, exponent = problem(n, D, K)
    for w in (None, weight):
        exact = exact_residual(x, t, w, hi, lo, exponent)
        for layout in "CF":
            g = np.zeros((K, D + 2, 2))
            native.residual_dense(g, LAYOUTS[layout](x), t, w, hi, lo, exponent)
            assert_residual(g, exact)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_residual_of_every_layout_adds_to_what_is_there(layout: str, dtype: type) -> None:
    x, t, weight, hi, lo, exponent = problem(97, 11, 2, dtype)
    g = np.zeros((2, 13, 2))
    native.residual_dense(g, x, t, weight, hi, lo, exponent)
    halves = np.zeros((2, 13, 2))
    same = LAYOUTS[layout](x)
    for s in (slice(0, 50), slice(50, 97)):
        native.residual_dense(halves, same[s], t[s], weight[s], hi, lo, exponent)
    assert_residual(halves, exact_residual(x, t, weight, hi, lo, exponent))
    np.testing.assert_allclose(halves[..., 0], g[..., 0], rtol=1e-12, atol=1e-25)


def test_residual_of_extreme_columns() -> None:
    x, t, _, hi, lo, exponent = problem(40, 4, 1)
    powers = np.array([1015, -1015, 0, 700])
    x = np.random.default_rng(1).integers(1, 99, x.shape) / 8.0
    g, scaled = np.zeros((1, 6, 2)), np.zeros((1, 6, 2))
    native.residual_dense(g, x, t, None, hi, lo, exponent)
    shifted = exponent + np.array([*powers, 0])
    native.residual_dense(scaled, np.ldexp(x, powers), t, None, hi, lo, shifted)
    np.testing.assert_allclose(g.sum(-1), scaled.sum(-1), rtol=1e-13, atol=1e-25)


def test_sparse_residual_is_exact_too() -> None:
    x, t, weight, hi, lo, exponent = problem(40, 9, 2)
    s = csr_of(x)
    for w in (None, weight):
        g = np.zeros((2, 11, 2))
        native.residual_csr(g, s.data, s.indices, s.indptr, t, w, hi, lo, exponent)
        assert_residual(g, exact_residual(s.toarray(), t, w, hi, lo, exponent))


def test_wrong_types_and_shapes_are_refused() -> None:
    x, t, _ = block(10, 3, 1)
    state = Moments.zero(3, 1).buffer
    for bad in (x.astype(int), x.astype(">f8"), x.astype(np.float16), x.tolist()):
        with pytest.raises(TypeError):
            native.moments_dense(state, 3, 1, bad, t, None, True, None)
    with pytest.raises(TypeError):
        native.moments_dense(state, 3, 1, x, t.astype(np.float32), None, True, None)
    with pytest.raises(ValueError, match="state"):
        native.moments_dense(state[:-1].copy(), 3, 1, x, t, None, True, None)
    with pytest.raises(ValueError, match="row"):
        native.moments_dense(state, 3, 1, x, t[:5].copy(), None, True, None)
    with pytest.raises(ValueError, match="usable"):
        native.use_isa("mmx")


def test_the_environment_can_force_a_set(isa: str) -> None:
    code = "from adaline import _native; print(_native.isa())"
    environment = {**os.environ, "ADALINE_ISA": isa}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == isa
