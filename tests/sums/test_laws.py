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

from adaline.block import Block
from adaline.sums import SUMS, Sum
from tests.sums.examples import DENSE, EXAMPLES, FEATURES, SPARSE, Example, cut, rows_of
from tests.turns import in_turn

ROWS = 120

every_example = pytest.mark.parametrize("example", EXAMPLES, ids=str)

every_layout = in_turn("layout", lambda example: example.layouts)


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


def test_every_registered_sum_has_an_example() -> None:
    missing = set(SUMS) - {e.kind.__name__ for e in EXAMPLES}
    assert not missing, f"{missing} in adaline.sums.SUMS: add an Example of it to tests/sums/examples.py"
    assert all(SUMS[e.kind.__name__] is e.kind for e in EXAMPLES)


@pytest.mark.parametrize("name", SUMS)
def test_registered_sums_are_final_and_read_every_layout(name: str) -> None:
    assert not SUMS[name].__subclasses__()
    assert {layout for e in EXAMPLES if e.kind is SUMS[name] for layout in e.layouts} == {*DENSE, *SPARSE}


@every_example
@every_layout
def test_zero_is_neutral(example: Example, layout: str) -> None:
    a = example.over(example.rows(ROWS, layout))
    left, right = example.zero(), copy.deepcopy(a)
    left.merge(a)
    right.merge(example.zero())
    assert_equal(left, a)
    assert_equal(right, a)
    zero = example.zero()
    zero.merge(example.zero())
    assert_equal(zero, example.zero())


@every_example
@every_layout
def test_merging_leaves_the_other_as_it_was(example: Example, layout: str) -> None:
    block = example.rows(ROWS, layout)
    a, b = example.over(cut(block, slice(0, 50))), example.over(cut(block, slice(50, None)))
    before = bits(b)
    zero = example.zero()
    for into in (a, zero):
        into.merge(b)
        into.add(block, example.theta)
        assert bits(b) == before


@every_example
@every_layout
def test_merging_is_associative_and_commutative(example: Example, layout: str) -> None:
    block = example.rows(ROWS, layout)
    a, b, c = (example.over(cut(block, s)) for s in (slice(0, 30), slice(30, 37), slice(37, None)))

    def merged(*parts: Any) -> Any:
        out = copy.deepcopy(parts[0])
        for part in parts[1:]:
            out.merge(part)
        return out

    example.assert_close(merged(merged(a, b), c), merged(a, merged(b, c)))
    example.assert_close(merged(a, b), merged(b, a))


@every_example
@given(cuts=st.lists(st.integers(0, ROWS), max_size=6).map(sorted), data=st.data())
@settings(max_examples=25)
def test_any_split_gives_the_same_answer(example: Example, cuts: list[int], data: st.DataObject) -> None:
    block = example.rows(ROWS, data.draw(st.sampled_from(example.layouts)), weights=data.draw(st.booleans()))
    whole = example.over(block)
    parts = [cut(block, slice(a, b)) for a, b in pairwise([0, *cuts, ROWS])]
    added = example.over(*parts)
    merged = example.zero()
    for part in parts:
        merged.merge(example.over(part))
    example.assert_close(added, whole)
    example.assert_close(merged, whole)
    if hasattr(whole, "rows"):
        assert added.rows == merged.rows == whole.rows == ROWS


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
    again = np.repeat(np.arange(ROWS), block.weight.astype(int))
    repeated = cut(Block(block.x, block.t, None, block.exponent), again)
    ones = Block(block.x, block.t, np.ones(ROWS), block.exponent)
    example.assert_close(example.over(block), example.over(repeated))
    example.assert_close(example.over(ones), example.over(Block(block.x, block.t, None, block.exponent)))


@every_example
@every_layout
def test_rows_without_weight_only_count(example: Example, layout: str) -> None:
    block = example.rows(ROWS, layout)
    silent = Block(block.x, block.t, np.zeros(ROWS), block.exponent)
    counted = np.flatnonzero(block.weight)
    assert 0 < len(counted) < ROWS
    alone = example.over(cut(block, counted))
    example.assert_close(example.over(block), alone)

    before, after, nothing = example.over(silent, block), example.over(block, silent), example.over(silent)
    example.assert_close(before, example.over(block), rounding=0.0)
    example.assert_close(after, example.over(block), rounding=0.0)
    example.assert_close(nothing, example.zero(), rounding=0.0)
    if hasattr(alone, "rows"):
        assert (nothing.rows, alone.rows, before.rows, after.rows) == (ROWS, len(counted), 2 * ROWS, 2 * ROWS)


@every_example
@every_layout
def test_an_empty_block_changes_nothing(example: Example, layout: str) -> None:
    block = example.rows(ROWS, layout)
    for empty in (cut(block, slice(0, 0)), cut(Block(block.x, block.t, None, block.exponent), slice(0, 0))):
        assert empty.shape == (FEATURES, block.t.shape[1])
        assert empty.rows == 0
        assert_equal(example.over(empty), example.zero())
        assert_equal(example.over(empty, block), example.over(block))
        assert_equal(example.over(block, empty), example.over(block))


@every_example
@in_turn("n", [1, 2, 3])
@in_turn("layout", lambda example, n: example.layouts)
def test_fewer_rows_than_columns(example: Example, layout: str, n: int) -> None:
    block = example.rows(n, layout, seed=5, weights=False)
    one_by_one = example.over(*(cut(block, slice(i, i + 1)) for i in range(n)))
    example.assert_close(one_by_one, example.over(block))


@every_example
@every_layout
def test_pickling_keeps_every_bit(example: Example, layout: str) -> None:
    a = example.over(example.rows(ROWS, layout))
    for sums in (a, example.zero()):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            back = pickle.loads(pickle.dumps(sums, protocol))
            assert type(back) is example.kind
            assert bits(back) == bits(sums)
    back = pickle.loads(pickle.dumps(a))
    back.merge(a)
    twice = copy.deepcopy(a)
    twice.merge(a)
    assert bits(back) == bits(twice)


@pytest.mark.parametrize("example", [e for e in EXAMPLES if hasattr(e.kind, "subtract")], ids=str)
@every_layout
def test_subtracting_undoes_merging(example: Example, layout: str) -> None:
    block = example.rows(ROWS, layout)
    a, b = example.over(cut(block, slice(0, 70))), example.over(cut(block, slice(70, None)))
    both = copy.deepcopy(a)
    both.merge(b)
    back = copy.deepcopy(both)
    back.subtract(b)
    assert back.rows == a.rows
    example.assert_close(back, a, rounding=10 * example.rounding)
    back.subtract(example.zero())
    example.assert_close(back, a, rounding=10 * example.rounding)

    both.subtract(copy.deepcopy(both))
    assert_equal(both, example.zero())


def test_sparse_blocks_are_sparse() -> None:
    assert all(sparse.issparse(rows_of(3, layout).x) for layout in SPARSE)
