"""Native sums and products over levels against their references."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.kernels import native
from adaline.solvers.absorb import levels
from adaline.solvers.absorb.absorb import rank_of
from adaline.sources.tables.effects import Levels

pytestmark = pytest.mark.skipif(native is None, reason="there are no native kernels")


def codes(columns: int, rows: int = 500) -> np.ndarray:
    rng = np.random.default_rng(columns)
    return (rng.integers(0, 7, (columns, rows)) + 7 * np.arange(columns)[:, None]).astype(np.int32)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_kernels_equal_their_references(columns: int) -> None:
    given, rng = codes(columns), np.random.default_rng(0)
    n, size = given.shape[1], 7 * columns
    x, weight, effects = rng.normal(size=n), rng.random(n), rng.normal(size=size)
    for values in ((x, weight), (x, None), (None, weight), (None, None)):
        found, expected = np.zeros((2, size))
        native.level_sums(found, given, *values)
        levels.level_sums_reference(expected, given, *values)
        assert np.allclose(found, expected, rtol=1e-13, atol=1e-13)
    found, expected = x.copy(), x.copy()
    native.level_subtract(found, given, effects)
    levels.level_subtract_reference(expected, given, effects)
    assert np.allclose(found, expected, rtol=1e-14)
    order, own = np.empty((2, n), dtype=np.int32)
    starts, own_starts = np.empty((2, 8), dtype=np.int64)
    native.level_order(order, starts, given[:1])
    levels.level_order_reference(own, own_starts, given[:1])
    assert np.array_equal(order, own)
    assert np.array_equal(starts, own_starts)
    if columns == 1:
        return
    cells, v = np.take(given[1:] - np.int32(7), order, axis=1), rng.normal(size=size - 7)
    for own_weight in (weight[order], None):
        inverse = 1 / np.bincount(given[0][order], own_weight)
        found, expected = np.empty((2, size - 7))
        native.level_product(found, v, starts, cells, own_weight, inverse)
        levels.level_product_reference(expected, v, starts, cells, own_weight, inverse)
        assert np.allclose(found, expected, rtol=1e-12, atol=1e-13)
        both = np.empty((size - 7, 2))
        native.level_product(both, np.stack([effects[7:], v], axis=1), starts, cells, own_weight, inverse)
        assert np.array_equal(both[:, 1], found)  # whatever is beside it


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_that_share_both_levels_are_merged(weighted: bool) -> None:
    rng = np.random.default_rng(5)
    starts, cells = np.array([0, 0, 40, 41, 100]), rng.integers(0, 9, (1, 100)).astype(np.int32)
    weight = rng.random(100) if weighted else None
    found, expected = (
        native.level_pairs(starts, cells, weight, 9),
        levels.level_pairs_reference(starts, cells, weight, 9),
    )
    assert expected is not None
    for one, other in zip(found, expected, strict=True):
        assert np.allclose(one, other, rtol=1e-14)
    v, inverse = rng.normal(size=9), np.array([0.0, 1 / 40, 1.0, 1 / 59])
    merged, plain = np.empty((2, 9))
    native.level_product(merged, v, found[0], found[1][None], found[2], inverse)
    native.level_product(plain, v, starts, cells, weight, inverse)
    assert np.allclose(merged, plain, rtol=1e-12, atol=1e-13)
    several = rng.permutation(100).astype(np.int32)[None]
    assert native.level_pairs(starts, several, weight, 100) is None
    assert levels.level_pairs_reference(starts, several, weight, 100) is None
    with pytest.raises(ValueError, match="outside of the levels"):
        native.level_pairs(starts, cells, weight, 8)


def test_parts_of_a_graph() -> None:
    rng = np.random.default_rng(3)
    part = rng.integers(0, 4, 50)
    given = np.stack([part * 3 + rng.integers(0, 3, 50), 20 + part * 3 + rng.integers(0, 3, 50)]).astype(np.int32)
    assert native.level_components(given, 40) == levels.level_components_reference(given, 40)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", [45, 200])
def test_factors_of_graphs(weighted: bool, rows: int) -> None:
    rng = np.random.default_rng(4)
    given = np.stack([rng.integers(0, 30, rows), 30 + rng.integers(0, 12, rows)]).astype(np.int32)
    weight = rng.uniform(0.0, 2.0, rows) if weighted else None
    found, expected = native.level_factor(given, 43, weight), levels.level_factor_reference(given, 43, weight)
    for one, other in zip(found, expected, strict=True):
        assert np.allclose(one, other, rtol=1e-12)
    x = rng.normal(size=43)
    solved, wanted = x.copy(), x.copy()
    native.level_precondition(solved, *found)
    levels.level_precondition_reference(wanted, *expected)
    assert np.allclose(solved, wanted, rtol=1e-10, atol=1e-12)


def test_rows_without_weight_have_no_rank() -> None:
    one, two = (
        Levels(name, np.array(own, dtype=np.int32), np.arange(3))
        for name, own in (("a", [0, 1, 0, 1, 2]), ("b", [0, 0, 1, 1, 2]))
    )
    weight = np.array([1.0, 2.0, 1.0, 0.5, 0.0])
    assert rank_of([one], None) == rank_of([two], None) == (3, True)
    assert rank_of([one], weight) == (2, True)
    assert rank_of([one, two], None) == (4, True)
    assert rank_of([one, two], weight) == (3, True)


def test_the_factor_of_a_tree_is_exact() -> None:
    rng = np.random.default_rng(5)
    size = 60
    parent = np.array([rng.integers(0, max(node, 1)) for node in range(1, size)])
    edges, weight = np.stack([parent, np.arange(1, size)]).astype(np.int32), rng.uniform(0.1, 5.0, size - 1)
    laplacian = np.zeros((size, size))
    for (a, b), w in zip(edges.T, weight, strict=True):
        laplacian[[a, b], [a, b]] += w
        laplacian[[a, b], [b, a]] -= w
    b = rng.normal(size=size)
    b -= b.mean()
    x = b.copy()
    native.level_precondition(x, *native.level_factor(edges, size, weight))
    assert np.allclose(laplacian @ x, b, atol=1e-12)


def test_what_does_not_fit_is_refused() -> None:
    given = codes(2)
    order, starts, targets, shares, pivots = native.level_factor(given, 14, None)
    for call, message in (
        (lambda: native.level_precondition(np.zeros(13), order, starts, targets, shares, pivots), "does not fit"),
        (lambda: native.level_precondition(np.zeros(14), order, starts, targets + np.int32(14), shares, pivots), "fit"),
        (lambda: native.level_factor(given, 13, None), "outside of the levels"),
        (lambda: native.level_sums(np.zeros(13), given, None, None), "outside of the levels"),
        (lambda: native.level_subtract(np.zeros(500), given, np.zeros(13)), "outside of the levels"),
        (lambda: native.level_components(given, 13), "outside of the levels"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
