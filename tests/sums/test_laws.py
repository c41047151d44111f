"""The laws of a monoid over rows, for every registered sum and every layout of the rows."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from adaline.arrays import as_dense
from adaline.block import Block
from adaline.sums import SUMS, Sum
from tests.layouts import lay
from tests.sums.examples import DENSE, EXAMPLES, FEATURES, SPARSE, Example, cut, rows_of, scaled
from tests.turns import in_turn

ROWS = 120

every_example = pytest.mark.parametrize("example", EXAMPLES, ids=str)
every_layout = in_turn("layout", lambda example: example.layouts)
dense_or_sparse = in_turn("layout", lambda example: {"float64", "csr"} & {*example.layouts})


def state(a: Any) -> list[Any]:
    """Return all that makes up a sum, as pickle sees it, down to numbers and arrays."""
    parts = a.__reduce__()[1] if isinstance(a, Sum) else a
    return [leaf for part in parts for leaf in (state(part) if isinstance(part, list | Sum) else [part])]


def assert_equal(a: Sum, b: Sum) -> None:
    """Assert that two sums hold equal numbers."""
    for mine, theirs in zip(state(a), state(b), strict=True):
        np.testing.assert_array_equal(mine, theirs, strict=isinstance(mine, np.ndarray))


def bits(a: Sum) -> list[Any]:
    """Return a sum's state down to the bits."""
    return [(p.dtype, p.shape, p.tobytes()) if isinstance(p, np.ndarray) else p for p in state(a)]


def merged(*parts: Any) -> Any:
    """Return the sum of sums, which stay as they are."""
    out = copy.deepcopy(parts[0])
    for part in parts[1:]:
        before = bits(part)
        out.merge(part)
        assert bits(part) == before
    return out


def test_every_registered_sum_has_an_example_and_is_final_and_reads_every_layout() -> None:
    missing = set(SUMS) - {e.kind.__name__ for e in EXAMPLES}
    assert not missing, f"{missing} in adaline.sums.SUMS: add an Example of it to tests/sums/examples.py"
    assert all(SUMS[e.kind.__name__] is e.kind for e in EXAMPLES)
    for kind in SUMS.values():
        assert not kind.__subclasses__()
        assert {layout for e in EXAMPLES if e.kind is kind for layout in e.layouts} == {*DENSE, *SPARSE}
    assert all(sparse.issparse(rows_of(3, layout).x) for layout in SPARSE)


@every_example
@dense_or_sparse
def test_merging_has_a_zero_is_associative_and_commutative_and_changes_no_other(example: Example, layout: str) -> None:
    block = example.rows(ROWS, layout)
    a, b, c = (example.over(cut(block, s)) for s in (slice(0, 30), slice(30, 37), slice(37, None)))
    example.assert_close(merged(a, b, c), merged(a, merged(b, c)))
    example.assert_close(merged(a, b), merged(b, a))
    for one in (a, example.zero()):
        assert_equal(merged(example.zero(), one), one)
        assert_equal(merged(one, example.zero()), one)
    for into in (copy.deepcopy(a), example.zero()):
        before = bits(b)
        into.merge(b)
        into.add(block, example.theta)
        assert bits(b) == before


@every_example
@given(cuts=st.lists(st.integers(0, ROWS), max_size=6).map(sorted), data=st.data())
@settings(max_examples=6)
def test_any_split_gives_the_same_answer(example: Example, cuts: list[int], data: st.DataObject) -> None:
    block = example.rows(ROWS, data.draw(st.sampled_from(example.layouts)), weights=data.draw(st.booleans()))
    whole = example.over(block)
    parts = [cut(block, slice(a, b)) for a, b in pairwise([0, *cuts, ROWS])]
    added = example.over(*parts)
    by_merging = merged(example.zero(), *map(example.over, parts))
    example.assert_close(added, whole)
    example.assert_close(by_merging, whole)
    if hasattr(whole, "rows"):
        assert added.rows == by_merging.rows == whole.rows == ROWS


@every_example
@in_turn("weights", [True, False])
def test_every_layout_gives_the_same_answer(example: Example, weights: bool) -> None:
    whole = example.over(example.rows(ROWS, weights=weights))
    for layout in example.layouts:
        example.assert_close(example.over(example.rows(ROWS, layout, weights=weights)), whole)


@every_example
@every_layout
def test_whole_weights_are_repetitions(example: Example, layout: str) -> None:
    block = example.rows(ROWS, layout)
    plain = Block(block.x, block.t, None, block.exponent)
    repeated = cut(plain, np.repeat(np.arange(ROWS), block.weight.astype(int)))
    example.assert_close(example.over(block), example.over(repeated))
    ones = Block(block.x, block.t, np.ones(ROWS), block.exponent)
    example.assert_close(example.over(ones), example.over(plain))


@every_example
@every_layout
def test_rows_without_weight_only_count(example: Example, layout: str) -> None:
    block = example.rows(ROWS, layout)
    far = np.where(block.weight == 0, 2.0**12, 1.0)[:, None] * as_dense(block.x)  # where losses overflow
    block = scaled(Block(lay(far, layout), block.t, block.weight))
    silent = Block(block.x, block.t, np.zeros(ROWS), block.exponent)
    counted = np.flatnonzero(block.weight)
    assert 0 < len(counted) < ROWS
    alone, whole = example.over(cut(block, counted)), example.over(block)
    example.assert_close(whole, alone)
    before, after, nothing = example.over(silent, block), example.over(block, silent), example.over(silent)
    example.assert_close(before, whole, rounding=0.0)
    example.assert_close(after, whole, rounding=0.0)
    example.assert_close(nothing, example.zero(), rounding=0.0)
    if hasattr(alone, "rows"):
        assert (nothing.rows, alone.rows, before.rows, after.rows) == (ROWS, len(counted), 2 * ROWS, 2 * ROWS)


@every_example
@every_layout
def test_an_empty_block_changes_nothing(example: Example, layout: str) -> None:
    block = example.rows(ROWS, layout)
    whole, none = example.over(block), slice(0, 0)
    for empty in (cut(block, none), cut(Block(block.x, block.t, None, block.exponent), none)):
        assert (empty.shape, empty.rows) == ((FEATURES, block.t.shape[1]), 0)
        assert_equal(example.over(empty), example.zero())
        assert_equal(example.over(empty, block), whole)
        assert_equal(example.over(block, empty), whole)


@every_example
@in_turn("n", [1, 2, 3])
@in_turn("layout", lambda example, n: example.layouts)
def test_fewer_rows_than_columns(example: Example, layout: str, n: int) -> None:
    block = example.rows(n, layout, seed=5, weights=False)
    one_by_one = example.over(*(cut(block, slice(i, i + 1)) for i in range(n)))
    example.assert_close(one_by_one, example.over(block))


@every_example
@dense_or_sparse
def test_pickling_keeps_every_bit(example: Example, layout: str) -> None:
    a = example.over(example.rows(ROWS, layout))
    for sums in (a, example.zero()):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            back = pickle.loads(pickle.dumps(sums, protocol))
            assert type(back) is example.kind
            assert bits(back) == bits(sums)
    assert bits(merged(pickle.loads(pickle.dumps(a)), a)) == bits(merged(a, a))


@pytest.mark.parametrize("example", [e for e in EXAMPLES if hasattr(e.kind, "subtract")], ids=str)
@every_layout
def test_subtracting_undoes_merging(example: Example, layout: str) -> None:
    block = example.rows(ROWS, layout)
    a, b = example.over(cut(block, slice(0, 70))), example.over(cut(block, slice(70, None)))
    both = merged(a, b)
    back = copy.deepcopy(both)
    back.subtract(b)
    assert back.rows == a.rows
    example.assert_close(back, a, rounding=10 * example.rounding)
    back.subtract(example.zero())
    example.assert_close(back, a, rounding=10 * example.rounding)
    both.subtract(copy.deepcopy(both))
    assert_equal(both, example.zero())
