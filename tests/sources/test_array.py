"""Rows in memory: every row in one block, products equal to NumPy's formulas, and no copy of X."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from adaline import kernels
from adaline.block import BLOCK_ELEMENTS, MAX_BLOCK_ROWS, MIN_BLOCK_ROWS, Shape, block_rows
from adaline.errors import AdalineError, InvalidData
from adaline.sources import ArraySource, SparseSource, set_threads
from adaline.sources.matrix import DenseMatrix
from adaline.sources.views import ChangedTargets, of_target, total_weight
from adaline.sums import LeaveOneOut, Moments, Residual, Ridges, Theta, Triangle
from tests.sums.examples import read_moments

Array = NDArray[Any]
Make = Callable[..., Any]


def in_blocks(source: Any) -> Any:
    """Let blocks have about 16 rows."""
    if source.sparse:
        source.n_blocks = max(-(-source.n_rows // 16), 1)
    else:
        source.rows_per_block = 16
    return source


def dense(x: Array, *more: Any, **named: Any) -> ArraySource:
    return in_blocks(ArraySource(x, *more, **named))


def by_columns(x: Array, *more: Any, **named: Any) -> ArraySource:
    return dense(np.asfortranarray(x, dtype=np.float32), *more, **named)


def csr_array(x: Array, *more: Any, **named: Any) -> SparseSource:
    return in_blocks(SparseSource(sparse.csr_array(x), *more, **named))


def csr_matrix(x: Array, *more: Any, **named: Any) -> SparseSource:
    return in_blocks(SparseSource(sparse.csr_matrix(x.astype(np.float32)), *more, **named))


every_kind = pytest.mark.parametrize("make", [dense, by_columns, csr_array, csr_matrix])


def rows(n: int = 100, d: int = 5, k: int = 2) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(n, d)) + 1.0).astype(np.float32).astype(float)
    x[rng.random((n, d)) < 0.4] = 0.0
    return x, rng.normal(size=(n, k)), rng.integers(0, 4, n).astype(float)


@every_kind
@pytest.mark.parametrize("n", [1, 15, 16, 17, 100, 160])
@pytest.mark.parametrize("weighted", [True, False])
def test_blocks_hold_every_row_once_and_in_order(make: Make, n: int, weighted: bool) -> None:
    x, t, weight = rows(n)
    source = make(x, t, weight if weighted else None)
    blocks = [source.block(i) for i in range(source.n_blocks)]
    assert n < 100 or len(blocks) > 1
    assert (source.n_rows, source.shape) == (n, Shape(5, 2))
    back = [b.x.toarray() if source.sparse else b.x for b in blocks]
    np.testing.assert_array_equal(np.concatenate(back), x.astype(back[0].dtype))
    np.testing.assert_array_equal(np.concatenate([b.t for b in blocks]), t)
    assert all((b.weight is None) != weighted for b in blocks)
    np.testing.assert_array_equal(source.read_weights() if weighted else weight, weight)
    assert [b.first_row for b in blocks] == [0, *np.cumsum([b.rows for b in blocks])[:-1]]
    assert all(b.rows > 0 and b.shape == source.shape for b in blocks)
    assert total_weight(source) == (weight.sum() if weighted else n)
    np.testing.assert_array_equal(source.read_targets(), t)


@every_kind
def test_no_rows_are_one_empty_block(make: Make) -> None:
    x, t, _ = rows(0)
    source = make(x, t)
    assert (source.n_blocks, source.block(0).rows) == (1, 0)
    assert source.sum(Moments, centred=False).rows == 0


@pytest.mark.parametrize("features", [0, 1, 2, 3, 16, 17, 100, 1023, 1024, 1025, 10**6, 10**9])
def test_the_rows_of_a_block_depend_on_the_columns_alone(features: int) -> None:
    n = block_rows(features)
    assert n & (n - 1) == 0
    assert MIN_BLOCK_ROWS <= n <= MAX_BLOCK_ROWS
    assert n == MIN_BLOCK_ROWS or n * features <= max(BLOCK_ELEMENTS, 8 * features**2)
    assert n == MAX_BLOCK_ROWS or 2 * n * features > BLOCK_ELEMENTS


@pytest.mark.parametrize("make", [dense, by_columns])
def test_dense_blocks_are_views(make: Make) -> None:
    x, t, weight = rows()
    source = make(x, t, weight)
    for i in range(source.n_blocks):
        block = source.block(i)
        assert np.shares_memory(block.x, source.x)
        assert np.shares_memory(block.t, source.targets.values)
        assert np.shares_memory(block.weight, source.targets.weight)


def test_sparse_blocks_have_the_scale_of_the_whole() -> None:
    x, t, weight = rows(400)
    x[:, 1] *= 1e6
    source = csr_array(x, t, weight)
    assert source.n_blocks > 3
    exponent = np.frexp(np.concatenate([np.abs(x).max(axis=0), np.abs(t).max(axis=0)]))[1]
    for i in range(source.n_blocks):
        block = source.block(i)
        assert isinstance(block.x, sparse.csr_array)
        np.testing.assert_array_equal(block.exponent, exponent)


def test_sparse_rows_are_scaled_only_for_sums() -> None:
    """A scan, and what looks at rows, pays no pass for the scales of columns."""
    x, t, weight = rows(400)
    source = csr_array(x, t, weight)
    seen = [source.peek(), *source.blocks()]
    assert "exponent" not in source.__dict__
    assert [block.exponent for block in seen] == [None] * len(seen)
    np.testing.assert_array_equal(np.concatenate([block.t for block in seen[1:]]), t)
    assert [block.first_row for block in seen[1:]] == [source.block(i).first_row for i in range(source.n_blocks)]


def test_sparse_blocks_are_few_where_columns_are_many() -> None:
    x = sparse.random_array((5000, 400), density=0.01, format="csr", random_state=np.random.default_rng(0))
    assert SparseSource(x, np.zeros((5000, 1))).n_blocks == 1
    full = sparse.csr_array(np.ones((20_000, 2)))
    assert SparseSource(full, np.zeros((20_000, 1))).n_blocks == 256


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint16, np.bool_, np.float16])
@pytest.mark.parametrize("make", [dense, lambda x, t: SparseSource(sparse.csr_array(x), t)], ids=["dense", "csr"])
def test_other_numbers_are_converted(dtype: type, make: Make) -> None:
    x, t = np.random.default_rng(0).integers(0, 2, (100, 3)).astype(dtype), np.ones((100, 1))
    if make is not dense and dtype is np.float16:
        pytest.skip("SciPy has no sparse float16")
    source, floats = make(x, t), make(x.astype(float), t)
    assert source.sparse or source.x is x  # block by block, not as a whole
    assert {source.block(i).x.dtype for i in range(source.n_blocks)} == {np.dtype(np.float64)}
    sums, sought = source.sum(Moments, centred=False), floats.sum(Moments, centred=False)
    np.testing.assert_array_equal(sums.buffer, sought.buffer)
    matrix, u = source.matrix(), np.arange(100.0)
    np.testing.assert_array_equal(matrix.matvec(u[:3]), x.astype(float) @ u[:3])
    np.testing.assert_allclose(matrix.rmatvec(u), x.astype(float).T @ u, rtol=1e-14)


@every_kind
def test_with_target_keeps_the_rows(make: Make) -> None:
    x, t, weight = rows()
    source = make(x, t, weight, names=("a", "b", "c", "d", "e"))
    for k in range(2):
        alone = of_target(source, k)
        assert type(alone) is type(source)
        assert alone.shape == Shape(5, 1)
        assert alone.x is source.x
        assert alone.targets.weight is source.targets.weight
        assert alone.columns == source.columns
        assert alone.targets.values.flags.c_contiguous
        np.testing.assert_array_equal(alone.read_targets(), t[:, k : k + 1])
        ours, theirs = alone.sum(Moments, centred=False), source.sum(Moments, centred=False).target(k)
        for what, reading in read_moments(ours).items():
            np.testing.assert_allclose(reading.value, read_moments(theirs)[what].value, rtol=1e-12, atol=1e-12)


@every_kind
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("shape", [(100, 5), (6, 400), (2, 1)], ids=str)
def test_products(make: Make, intercept: bool, weighted: bool, shape: tuple[int, int]) -> None:
    """The outputs, the products with residuals, the deviations of columns, and the Gram matrix of rows."""
    x, t, weight = rows(*shape)
    x[:, -1] = 1.5
    rng, before = np.random.default_rng(1), x.copy()
    v, u, scale = rng.normal(size=shape[1]), rng.normal(size=shape[0]), rng.random(shape[1])
    weight[0] = 1.0
    w = weight if weighted else np.ones(len(x))
    source = make(x, t, w if weighted else None)
    mean = np.average(x, axis=0, weights=w) if intercept else np.zeros(shape[1])
    z, gram = (x - mean) * scale * np.sqrt(w)[:, None], source.matrix().dual_gram(w, intercept, scale)
    deviation = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=w))
    digits = 1e-7 if make is csr_matrix else 1e-12  # sparse float32 is squared as such
    np.testing.assert_allclose(source.matrix().matvec(v), x @ v, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(source.matrix().rmatvec(u), x.T @ u, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(source.matrix().spread(w, intercept), deviation, rtol=digits, atol=3e-8 * intercept)
    np.testing.assert_allclose(gram.gram, z @ z.T, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(gram.mean, mean, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("make", [by_columns, csr_matrix])
def test_spread_of_huge_and_tiny_float32(make: Make) -> None:
    x, t, _ = rows()
    x = (x * [1e25, 1e-25, 1.0, 1.0, 1.0]).astype(np.float32).astype(float)
    with np.errstate(over="ignore"):
        found = make(x, t).matrix().spread(np.ones(len(x)), False)
        np.testing.assert_allclose(found, np.sqrt((x**2).mean(axis=0)), rtol=1e-6)


@pytest.mark.parametrize("width", [1, 2, 3, 7])
def test_strips_of_columns_cover_all(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, t, weight = rows(20, 7)

    def products() -> list[Array]:
        matrix = DenseMatrix(x, [0])
        return [matrix.rmatvec(t[:, 0]), matrix.spread(weight, True), *matrix.dual_gram(weight, True, np.ones(7))]

    sought = products()
    monkeypatch.setattr("adaline.sources.matrix.BLOCK_ELEMENTS", 20 * width)
    assert len(DenseMatrix(x, [0]).strips()) == -(-7 // width)
    for a, b in zip(products(), sought, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@every_kind
@pytest.mark.parametrize(("bad", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
@pytest.mark.parametrize("row", [0, 3, 83])
def test_the_first_bad_number_is_named(make: Make, bad: float, word: str, row: int) -> None:
    x, t, _ = rows()
    x[row, 3] = bad
    x[row, 4] = x[row + 1, 0] = np.nan
    with pytest.raises(InvalidData, match=f"X contains {word}: first at row {row}, column 'x3'"):
        make(x, t).refuse_nonfinite()
    with pytest.raises(InvalidData, match=f"row {row}, column 'width'"):
        make(x, t, names=("a", "b", "c", "width", "e")).refuse_nonfinite()
    t[row, 1], t[row + 1, 0] = bad, np.nan
    with pytest.raises(InvalidData, match=f"y contains {word}: first at row {row}"):
        make(rows()[0], t).refuse_nonfinite()


@every_kind
def test_sums_that_overflow_are_told_apart(make: Make) -> None:
    x, t, _ = rows()
    with pytest.raises(AdalineError, match="overflow"):
        make(x, t).refuse_nonfinite()


def test_bad_numbers_in_sparse_rows_are_found_without_a_dense_copy() -> None:
    n, d = 3000, 1000
    x = sparse.random_array((n, d), density=0.002, format="csr", random_state=np.random.default_rng(0))
    x.data[-1] = np.nan
    source = SparseSource(x, np.zeros((n, 1)))
    assert source.n_blocks == 1

    def refuse() -> None:
        with pytest.raises(InvalidData, match="X contains NaN"):
            source.refuse_nonfinite()

    assert peak(refuse) < n * d


@pytest.mark.filterwarnings("error")
def test_bad_numbers_in_sparse_rows_give_no_warning() -> None:
    x, t, _ = rows()
    x[3, 3] = np.nan
    assert not csr_array(x, t).sum(Moments, centred=False).finite


def peak(work: Callable[[], Any]) -> int:
    """Return the most bytes that Python and NumPy held while working, beyond what they had."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        work()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def tall() -> dict[str, ArraySource]:
    """100,000 x 50 numbers, 20 MB as float32."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((100_000, 50), dtype=np.float32)
    t = rng.standard_normal((100_000, 1))
    return {
        "float32": ArraySource(x, t),
        "columns": ArraySource(np.asfortranarray(x), t),
        "strided": ArraySource(x[::2, ::-1], t[::2].copy()),
        "int8": ArraySource((10 * x[:, :25]).astype(np.int8), t),
    }


def sums(d: int) -> dict[Any, Any]:
    """Return sums with their parameters."""
    theta = Theta(np.ones((1, 1 + d)), np.zeros((1, 1 + d)), np.zeros(d + 1))
    basis = np.eye(d)
    ridges = Ridges(np.zeros(d + 1), np.zeros(d + 1), basis, np.full(d, 1e6), np.ones((1, d)), np.ones((1, 1)), 0.0)
    return {Moments: None, Residual: theta, Triangle: None, LeaveOneOut: ridges}


@pytest.mark.parametrize("layout", ["float32", "columns", "strided", "int8"])
def test_blocks_are_copied_at_most(tall: dict[str, ArraySource], layout: str) -> None:
    set_threads(1)
    source = tall[layout]
    d, n = source.shape.features, source.n_rows
    for kind, theta in sums(d).items():
        in_place = kernels.native is not None and kind in (Moments, Residual) and layout != "int8"
        limit = 2**20 + (0 if in_place else 12 * 8 * source.rows_per_block * d)
        assert peak(lambda kind=kind, theta=theta: source.sum(kind, theta)) < limit, kind
    limit = 6 * 8 * BLOCK_ELEMENTS + 8 * n
    assert peak(lambda: source.matrix().matvec(np.ones(d))) < limit
    assert peak(lambda: source.matrix().rmatvec(np.ones(n))) < limit
    if layout == "float32":
        assert peak(lambda: source.matrix().spread(np.ones(n), True)) < 6 * 8 * BLOCK_ELEMENTS


@pytest.mark.parametrize("kind", [Moments, Residual])
def test_sparse_sums_copy_blocks_at_most(kind: Any) -> None:
    set_threads(1)
    x = sparse.csr_array(np.random.default_rng(0).random((50_000, 20)))
    source = SparseSource(x, np.ones((50_000, 1)))
    theta = Theta(np.ones((1, 21)), np.zeros((1, 21)), source.exponent)
    assert source.n_blocks == 256
    assert peak(lambda: source.sum(kind, theta, centred=False)) < (
        x.data.nbytes / 8 if kernels.native else x.data.nbytes
    )


def test_a_source_makes_no_copy(tall: dict[str, ArraySource]) -> None:
    x, t = tall["columns"].x, tall["columns"].targets.values
    assert peak(lambda: ArraySource(x, t)) < 2**12
    assert peak(lambda: of_target(ArraySource(x, t), 0)) < 2 * t.nbytes


def test_how_much_of_the_rows_is_held() -> None:
    x = sparse.csr_array(np.eye(4))
    t = np.zeros((4, 1))
    rows = SparseSource(x, t)
    assert ArraySource(np.eye(4), t).density == 1.0
    assert rows.density == 0.25
    assert ChangedTargets(rows, rows.targets.recoding(np.ones((1, 1)))).density == 0.25
