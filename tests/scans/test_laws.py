"""The laws of scans, for every registered one and every layout of the rows."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from adaline.block import Block, Shape
from adaline.kernels import native
from adaline.scans import SCANS, CoordinateRule, Scan, State, base
from adaline.scans.lms import VARIANTS
from adaline.sources import ArraySource, SparseSource
from tests.layouts import lay
from tests.scans.examples import DENSE, EXAMPLES, SPARSE, Example
from tests.turns import in_turn

ROWS = 300

every_example = pytest.mark.parametrize("example", EXAMPLES, ids=str)
every_layout = in_turn("layout", DENSE + SPARSE)
with_native = pytest.mark.skipif(native is None, reason="the native core is not built")


def bits(scan: Scan) -> list[bytes]:
    return [getattr(scan, name).tobytes() for name in ("theta", "good", "numbers", "lag", "root")]


def part(block: Block, rows: slice) -> Block:
    weight = None if block.weight is None else block.weight[rows]
    return Block(block.x[rows], block.t[rows], weight)


def assert_close(a: Any, b: Any, tolerance: float) -> None:
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * max(1.0, float(np.abs(b).max(initial=0.0))))


def over(example: Example, block: Block, **options: Any) -> Scan:
    scan = example.start()
    scan.run(block, **options)
    return scan


def test_every_registered_scan_has_an_example() -> None:
    assert {e.kind for e in EXAMPLES} == set(SCANS.values())
    assert all(not cls.__subclasses__() for cls in SCANS.values())


@every_example
@given(cuts=st.lists(st.integers(0, ROWS), max_size=6))
@settings(max_examples=8)
def test_chunks_change_no_bit(example: Example, cuts: list[int]) -> None:
    block = example.rows(ROWS)
    whole, chunked = over(example, block), example.start()
    edges = [0, *sorted(cuts), ROWS]
    for first, last in pairwise(edges):
        chunked.run(part(block, slice(first, last)))
    assert bits(chunked) == bits(whole)


@with_native
@every_example
def test_native_equals_the_textbook_after_every_row(example: Example) -> None:
    block = example.rows(ROWS)
    block.x[:2] = example.first
    core, textbook = example.start(), example.start()
    for i in range(ROWS):
        row = part(block, slice(i, i + 1))
        core.run(row)
        textbook.run_reference(row)
        assert_close(core.theta, textbook.theta, example.tolerance)
    assert_close(core.good, textbook.good, example.tolerance)
    mine, theirs = vars(core.tally), vars(textbook.tally)
    assert mine == pytest.approx(theirs, rel=max(1e-10, 1e3 * example.tolerance))


@with_native
@every_example
@in_turn("layout", ["float32", "strided", "csr"])
def test_every_instruction_set_agrees(example: Example, layout: str) -> None:
    block = example.rows(ROWS, layout)
    before, found = native.isa(), []
    try:
        for isa in native.isas():
            native.use_isa(isa)
            found.append(over(example, block).theta)
    finally:
        native.use_isa(before)
    for theta in found[1:]:
        assert_close(theta, found[0], 10 * example.tolerance)


@every_example
@in_turn("layout", [layout for layout in DENSE if layout != "float64"])
def test_dense_layouts_give_the_same_bits(example: Example, layout: str) -> None:
    assert bits(over(example, example.rows(ROWS, layout))) == bits(over(example, example.rows(ROWS)))


@every_example
@in_turn("layout", SPARSE)
def test_csr_agrees_with_dense(example: Example, layout: str) -> None:
    a, b = over(example, example.rows(ROWS, layout)), over(example, example.rows(ROWS))
    assert_close(a.theta, b.theta, example.tolerance)


@every_example
@every_layout
def test_an_order_equals_permuted_rows(example: Example, layout: str) -> None:
    block = example.rows(ROWS)
    order = np.random.default_rng(1).permutation(ROWS)[: ROWS - 20]
    moved = Block(lay(block.x[order], layout), block.t[order], block.weight[order])
    outputs, expected = (np.empty((len(order), len(example.start().theta))) for _ in range(2))
    visited = over(example, replace(block, x=lay(block.x, layout)), order=order, outputs=outputs)
    assert bits(visited) == bits(over(example, moved, outputs=expected))
    np.testing.assert_array_equal(outputs, expected)
    chosen = replace(moved, x=lay(block.x, layout), chosen=order)
    assert bits(over(example, chosen)) == bits(visited)


@every_example
def test_sources_run_scans(example: Example) -> None:
    block = example.rows(ROWS)
    order = np.random.default_rng(1).permutation(ROWS)
    for source, layout in ((ArraySource, "float64"), (ArraySource, "columns"), (SparseSource, "csr")):
        scan = example.start()
        rows = source(lay(block.x, layout), block.t, block.weight)
        rows.scan(scan)
        rows.scan(scan, order)
        expected = over(example, replace(block, x=lay(block.x, layout)))
        expected.run(replace(block, x=lay(block.x, layout)), order)
        assert bits(scan) == bits(expected)


@every_example
def test_a_weight_of_zero_is_no_row(example: Example) -> None:
    block = example.rows(ROWS)
    there = block.weight > 0
    assert bits(over(example, block)) == bits(over(example, Block(block.x[there], block.t[there], block.weight[there])))


@every_example
def test_a_pickle_and_a_copy_go_on_to_the_bit(example: Example) -> None:
    block = example.rows(ROWS)
    scan = over(example, block)
    others = [scan.copy(), pickle.loads(pickle.dumps(scan))]
    before = bits(scan)
    for other in others:
        assert bits(other) == before
        other.run(block)
    assert bits(scan) == before
    scan.run(block)
    assert all(bits(other) == bits(scan) for other in others)


@every_example
def test_one_row_at_a_time_equals_a_run(example: Example) -> None:
    block = example.rows(50, weights=False)
    scan = example.start()
    outputs = np.empty((50, len(scan.theta)))
    whole = over(example, block, outputs=outputs)
    said = [scan.learn(x, t[0] if len(t) == 1 else t) for x, t in zip(block.x, block.t, strict=True)]
    assert bits(scan) == bits(whole)
    np.testing.assert_array_equal(said, outputs[:, 0])


@every_example
def test_outputs_are_those_before_the_step(example: Example) -> None:
    block = example.rows(60)
    scan, outputs = example.start(), np.empty((60, len(example.start().theta)))
    over(example, block, outputs=outputs)
    for i in range(60):
        one = np.concatenate([[float(scan.intercept)], block.x[i]])
        np.testing.assert_allclose(outputs[i], scan.theta @ one, rtol=1e-12, atol=1e-12)
        scan.run(part(block, slice(i, i + 1)))


@every_example
def test_tallies(example: Example) -> None:
    block = example.rows(ROWS)
    scan = over(example, block)
    there = block.weight > 0
    square = (block.x**2).sum(axis=1) + float(scan.intercept)
    assert scan.steps == there.sum()
    assert scan.tally.weight == pytest.approx(block.weight.sum())
    assert scan.tally.squares == pytest.approx(block.weight @ square)
    assert scan.tally.bound == pytest.approx(2 * block.weight.sum() / (block.weight @ square))
    assert scan.tally.radius == pytest.approx(np.sqrt(square[there].max()))
    scan.begin()
    assert (scan.tally.weight, scan.tally.loss, scan.steps) == (0.0, 0.0, there.sum())


@every_example
@in_turn("bad", [np.nan, np.inf, -np.inf, 1e200])
@in_turn("where", ["x", "t"])
def test_rows_that_are_not_finite_end_it(example: Example, bad: float, where: str) -> None:
    if where == "t" and bad == 1e200 and example.targets != "classes":
        return  # a target may be as large
    block = example.rows(80, weights=False)
    getattr(block, where)[57, 0] = bad
    for run, layout in (
        (Scan.run, "float64"),
        (Scan.run, "columns"),
        (Scan.run, "csr"),
        (Scan.run_reference, "float64"),
    ):
        scan, outputs = example.start(), np.full((80, len(example.start().theta)), np.nan)
        run(scan, replace(block, x=lay(block.x, layout)), outputs=outputs)
        assert scan.status is State.NOT_FINITE
        assert (scan.stopped, scan.steps) == (57, 57)
        assert np.isfinite(scan.theta).all()
        assert np.isfinite(outputs).all()
        before = bits(scan)
        scan.run(block)
        assert bits(scan) == before


@every_example
def test_a_scan_that_has_ended_says_nothing(example: Example) -> None:
    block = example.rows(80, weights=False)
    block.x[57, 0] = np.nan
    scan, outputs = example.start(), np.empty((80, len(example.start().theta)))
    over(example, block, outputs=outputs)
    said = [scan.learn(x, t[0] if len(t) == 1 else t) for x, t in zip(block.x, block.t, strict=True)]
    np.testing.assert_array_equal(said, outputs[:, 0])
    assert not any(said[57:])


@every_example
@in_turn("size", [1e-300, 1e-150, 1e-30, 1e30, 1e100, 1e150])
def test_no_size_of_numbers_gives_nan(example: Example, size: float) -> None:
    block = example.rows(ROWS)
    for x, t in ((block.x * size, block.t), (block.x * [size, 1, 1, 1, 1 / size], block.t)):
        scan = over(example, Block(x, t, block.weight))
        assert np.isfinite(scan.theta).all()
        assert not np.isnan(scan.numbers).any()


@every_example
def test_the_reference_runs_where_there_is_no_native_core(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    block = example.rows(40)
    expected = over(example, block).theta
    monkeypatch.setattr(base, "native", None)
    for layout in ("float64", "table", "csr"):
        scan = over(example, replace(block, x=lay(block.x, layout)))
        assert_close(scan.theta, expected, example.tolerance)
    assert np.isfinite(scan.learn(block.x[0], block.t[0] if len(block.t[0]) > 1 else block.t[0, 0]))


@with_native
@pytest.mark.parametrize(
    ("rule", "options"),
    [
        *(("LMS", {"variant": variant}) for variant in VARIANTS),
        ("Perceptron", {}),
        ("Sigmoid", {"activation": "tanh"}),
        ("Sigmoid", {"activation": "logistic"}),
    ],
)
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_the_quick_loops_give_the_bits_of_the_general_one(rule: str, options: dict[str, Any], kind: str) -> None:
    for columns, dtype in product((3, 8, 31, 32, 60), (np.float32, np.float64)):
        rng = np.random.default_rng(columns)
        x: Any = rng.standard_normal((600, columns)) * (rng.random((600, columns)) < rng.random((600, 1)))
        t = np.where(rng.random((600, 1)) < 0.5, 1.0, -1.0)
        x = (sparse.csr_array(x) if kind == "csr" else x).astype(dtype)
        for order in (None, rng.permutation(600)):
            quick, general, known = (SCANS[rule].start(Shape(columns, 1), rate=0.01, **options) for _ in range(3))
            seen, outputs = np.empty((2, 600, 1))
            quick.run(Block(x, t), order)
            known.run(Block(x, t), order, seen)
            general.run(Block(x, t, np.ones(600)), order, outputs)  # rows with weights: the general loop
            for scan in (quick, known):
                np.testing.assert_array_equal(scan.theta, general.theta)
                np.testing.assert_array_equal(scan.numbers, general.numbers)
            np.testing.assert_array_equal(seen, outputs)


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.kind is CoordinateRule], ids=str)
def test_steps_of_coordinates_know_no_units_and_no_zeros(example: Example) -> None:
    block = example.rows(ROWS)
    outputs = [np.empty((ROWS, len(example.start().theta))) for _ in range(3)]
    over(example, block, outputs=outputs[0])
    sparse_scan = over(example, replace(block, x=lay(block.x, "csr")), outputs=outputs[1])
    np.testing.assert_array_equal(outputs[1], outputs[0])
    if "l1" not in example.config and "init" not in example.config:  # which are in the units of the columns
        units = 2.0 ** np.array([-200, 3, 0, 77, 150])
        scaled = over(example, replace(block, x=block.x * units), outputs=outputs[2])
        np.testing.assert_array_equal(outputs[2], outputs[0])
        np.testing.assert_array_equal(scaled.theta[:, 1:] * units, sparse_scan.theta[:, 1:])


def test_a_scan_that_grows_is_one_that_had_all_columns() -> None:
    rng = np.random.default_rng(0)
    x, t = np.tril(rng.normal(size=(40, 40))), (rng.random((40, 1)) < 0.5).astype(float)
    whole, grown = CoordinateRule.start(Shape(40, 1), l1=0.5), CoordinateRule.start(Shape(1, 1), l1=0.5)
    whole.run(Block(x, t))
    for i in range(40):
        grown = grown.grown(i + 1)
        grown.run(Block(np.ascontiguousarray(x[i : i + 1, : i + 1]), t[i : i + 1]))
    np.testing.assert_array_equal(grown.theta, whole.theta)
    assert (whole.theta == 0).any()
