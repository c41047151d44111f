"""Rows seen through a basis, block by block, give what the whole of phi(x) gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from adaline import set_threads
from adaline.basis import Polynomial, Radial
from adaline.block import Shape
from adaline.errors import InvalidData
from adaline.scans import SCANS
from adaline.sources import ArraySource, SparseSource, expanded
from adaline.sources.expanded import ExpandedRows
from adaline.sources.sample import draw_rows
from adaline.sources.targets import RowTargets
from adaline.sources.views import in_memory, of_class, of_target, recoded, total_weight, unlabelled
from adaline.sums import Moments

N = 500
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3)) * (RNG.uniform(size=(N, 3)) < 0.6)
T = np.column_stack([np.arange(N) % 3, RNG.normal(size=N)]).astype(float)
W = RNG.integers(0, 3, N).astype(float)
BASIS = Polynomial(degree=2).fit(X)


@pytest.fixture(params=["dense", "sparse"])
def source(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return rows that are expanded 64 at a time."""
    monkeypatch.setattr(expanded, "IN_MEMORY", 0)
    monkeypatch.setattr(expanded, "SPARSE", 0)
    monkeypatch.setattr(expanded, "PIECE", 1)
    base = ArraySource(X, T, W) if request.param == "dense" else SparseSource(sparse.csr_array(X), T, W)
    return expanded.expanded(base, BASIS)


@pytest.fixture
def whole() -> ArraySource:
    return ArraySource(np.ascontiguousarray(BASIS.transform(X)), T, W, tuple(BASIS.get_feature_names_out()))


def raw(sums: Moments) -> Any:
    """Return the sums of squares and products about the means, in raw units."""
    scale = np.exp2(sums.exponent)
    return sums.second * np.outer(scale, scale)


def test_small_ones_are_held() -> None:
    held = expanded.expanded(ArraySource(X, T, W), BASIS)
    assert type(held) is ArraySource
    np.testing.assert_array_equal(held.x, BASIS.transform(X))
    assert held.columns.names == ("x0", "x1", "x2", "x0^2", "x0 x1", "x0 x2", "x1^2", "x1 x2", "x2^2")


def test_blocks_are_small_and_in_order(source: Any, whole: ArraySource) -> None:
    assert isinstance(source, ExpandedRows)
    blocks = list(source.blocks())
    assert [block.first_row for block in blocks] == list(range(0, N, 64))
    for name, values in (("x", whole.x), ("t", T), ("weight", W)):
        np.testing.assert_array_equal(np.concatenate([getattr(block, name) for block in blocks]), values)
    assert (source.shape, source.n_rows, source.columns.names) == (whole.shape, N, whole.columns.names)


def test_sums_and_products(source: Any, whole: ArraySource) -> None:
    v, u = RNG.normal(size=9), RNG.normal(size=N)
    matrix, other = source.matrix(), whole.matrix()
    np.testing.assert_allclose(matrix.matvec(v), other.matvec(v), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(matrix.rmatvec(u), other.rmatvec(u), rtol=1e-12, atol=1e-12)
    assert source.reads[0] == whole.reads[0] == 2
    for intercept in (True, False):
        np.testing.assert_allclose(matrix.spread(W, intercept), other.spread(W, intercept), rtol=1e-13)
    ours, theirs = (raw(one.sum(Moments, centred=True)) for one in (source, whole))
    np.testing.assert_allclose(ours, theirs, atol=1e-12 * np.abs(theirs).max())
    assert total_weight(source) == total_weight(whole) == W.sum()
    assert source.reads[0] == 7  # the spread takes two


@pytest.mark.parametrize("strip", [2**24, 9 * 128])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_dual_gram_matrix(
    source: Any, whole: ArraySource, intercept: bool, strip: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expanded, "STRIP", strip)
    scale = np.linspace(0.5, 2.0, 9)
    ours, theirs = (one.matrix().dual_gram(W, intercept, scale) for one in (source, whole))
    np.testing.assert_allclose(ours.gram, theirs.gram, atol=1e-12 * np.abs(theirs.gram).max())
    np.testing.assert_allclose(ours.mean, theirs.mean, atol=1e-14)


@pytest.mark.parametrize("order", [None, RNG.permutation(N), RNG.integers(N, size=2 * N)], ids=["as is", "all", "some"])
def test_scans_in_any_order_give_the_same_bits(source: Any, whole: ArraySource, order: Any) -> None:
    found = []
    for rows in (of_target(source, 1), of_target(whole, 1)):
        scan = SCANS["LMS"].start(Shape(9, 1), rate=1e-3)
        outputs = np.full((N if order is None else len(order), 1), np.nan)
        rows.scan(scan, order, outputs)
        found.append((scan.theta, outputs))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_outputs_are_zero_after_the_row_that_ends_a_scan(source: Any) -> None:
    scan = SCANS["LMS"].start(Shape(9, 1), rate=1e6)
    outputs = np.full((N, 1), np.nan)
    of_target(source, 1).scan(scan, np.arange(N), outputs)
    assert not outputs[-64:].any()
    assert np.isfinite(outputs).all()


def test_other_targets_weights_and_rows(source: Any, whole: ArraySource) -> None:
    codes = of_target(source, 0)
    np.testing.assert_array_equal(codes.find_labels(), [0, 1, 2])
    np.testing.assert_array_equal(codes.encoded(np.array([0.0, 1.0, 2.0])).read_targets(), T[:, :1])
    np.testing.assert_array_equal(recoded(codes, np.array([[5.0], [6.0], [7.0]])).read_targets(), T[:, :1] + 5)
    assert unlabelled(source).shape.targets == 0
    places = np.array([3, 77, 499])
    np.testing.assert_array_equal(source.rows_at(places), whole.x[places])
    other = source.retargeted(RowTargets.held(T, W + 1))
    assert total_weight(other) == W.sum() + N
    assert total_weight(source) == W.sum()
    assert not hasattr(source, "weight")  # to be changed by with_weight alone
    assert in_memory(source) is source
    first = of_class(codes, 1, 3)
    np.testing.assert_array_equal(next(first.blocks()).x, whole.x[T[:, 0] == 1][:64])
    assert first.n_rows == (T[:, 0] == 1).sum()
    np.testing.assert_array_equal(
        np.concatenate([block.x for block in draw_rows(source, 100).blocks()]), draw_rows(whole, 100).x
    )


@pytest.mark.usefixtures("blas_threads")
def test_threads_change_no_bit(source: Any) -> None:
    found = []
    for threads in (1, 4):
        set_threads(threads)
        found.append((source.sum(Moments, centred=True).second, source.matrix().rmatvec(np.ones(N))))
    set_threads(None)
    for one, four in zip(*found, strict=True):
        np.testing.assert_array_equal(one, four)


def test_what_is_not_finite_is_named_as_it_was_given() -> None:
    bad = X.copy()
    bad[70, 2] = np.inf
    for basis in (BASIS, Radial(centres=3).fit(X)):
        rows = ExpandedRows(ArraySource(bad, T, names=("a", "b", "c")), basis)
        assert np.isnan(rows.rows_at(np.array([70]))).all()
        with pytest.raises(InvalidData, match="X contains infinity: first at row 70, column 'c'"):
            rows.refuse_nonfinite()
    bad[70, 2] = 1e200
    with pytest.raises(InvalidData, match=r"X contains infinity: first at row 70, column 'c\^2'"):
        ExpandedRows(ArraySource(bad, T, names=("a", "b", "c")), BASIS).refuse_nonfinite()
    with pytest.raises(InvalidData, match=r"column 'c\^2'"):
        expanded.expanded(ArraySource(bad, T, names=("a", "b", "c")), BASIS)


def test_wide_bases_have_short_blocks() -> None:
    for columns in (1, 50, 1000, 20_000):
        rows = expanded.piece_rows(columns)
        assert 64 <= rows <= 65536
        assert rows * columns <= max(expanded.PIECE, 64 * columns)
