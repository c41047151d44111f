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
from adaline.scans import SCANS, AdaptiveRule, CoordinateRule, Scan, State, base
from adaline.scans.lms import VARIANTS
from adaline.sources import ArraySource, SparseSource
from tests.layouts import lay
from tests.scans.examples import DENSE, EXAMPLES, FEATURES, SPARSE, Example
from tests.turns import ISAS, in_turn, instruction_set, needs_native

ROWS = 300

pytestmark = pytest.mark.every
every_example = pytest.mark.parametrize("example", EXAMPLES, ids=str)


def bits(scan: Scan) -> list[bytes]:
    return [getattr(scan, name).tobytes() for name in ("theta", "good", "numbers", "lag", "root")]


def part(block: Block, rows: Any) -> Block:
    return Block(block.x[rows], block.t[rows], None if block.weight is None else block.weight[rows])


def laid(block: Block, layout: str, **changes: Any) -> Block:
    return replace(block, x=lay(block.x, layout), **changes)


def assert_close(a: Any, b: Any, tolerance: float) -> None:
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * max(1.0, float(np.abs(b).max(initial=0.0))))


def over(example: Example, block: Block, **options: Any) -> Scan:
    scan = example.start()
    scan.run(block, **options)
    return scan


def outputs_of(example: Example, rows: int) -> Any:
    return np.full((rows, len(example.start().theta)), np.nan)


def learned(scan: Scan, block: Block) -> list[Any]:
    """Return what a scan says of rows that it learns one at a time."""
    return [scan.learn(x, t[0] if len(t) == 1 else t) for x, t in zip(block.x, block.t, strict=True)]


def test_every_registered_scan_has_an_example() -> None:
    assert {e.kind for e in EXAMPLES} == set(SCANS.values())
    assert all(not cls.__subclasses__() for cls in SCANS.values())


@every_example
@given(cuts=st.lists(st.integers(0, ROWS), max_size=6))
@settings(max_examples=4)
def test_chunks_change_no_bit(example: Example, cuts: list[int]) -> None:
    block = example.rows(ROWS)
    whole, chunked = over(example, block), example.start()
    for first, last in pairwise([0, *sorted(cuts), ROWS]):
        chunked.run(part(block, slice(first, last)))
    assert bits(chunked) == bits(whole)


@needs_native
@every_example
def test_native_equals_the_textbook_after_every_row(example: Example) -> None:
    block = example.rows(ROWS)
    for first, epochs in ((Example.first, (ROWS, 50)), (example.first, (20,))):
        block.x[:2] = first
        core, textbook = example.start(), example.start()
        for again, rows in enumerate(epochs):
            core.begin(bool(again))
            textbook.begin(bool(again))
            for i in range(rows):
                row = part(block, slice(i, i + 1))
                core.run(row)
                textbook.run_reference(row)
                # With fewer rows than columns, a row that depends on others adds rounding times the prior's variance.
                few = example.kind is AdaptiveRule and not again and i <= FEATURES
                assert_close(core.theta, textbook.theta, 1e-3 if few else example.tolerance)
        assert_close(core.good, textbook.good, example.tolerance)
        assert vars(core.tally) == pytest.approx(vars(textbook.tally), rel=max(1e-10, 1e3 * example.tolerance))


@needs_native
@every_example
def test_every_layout_on_every_instruction_set_agrees(example: Example) -> None:
    """Dense layouts give the same bits on one set, sparse rows and other sets the same numbers."""
    plain, rows = over(example, example.rows(ROWS)).theta, example.rows(ROWS, "csr")
    halves = sparse.csr_array((np.repeat(rows.x.data / 2, 2), np.repeat(rows.x.indices, 2), 2 * rows.x.indptr))
    assert_close(over(example, replace(rows, x=halves)).theta, plain, 10 * example.tolerance)
    for isa in ISAS:
        with instruction_set(isa):
            found = {layout: over(example, example.rows(ROWS, layout)) for layout in DENSE + SPARSE}
        for layout, scan in found.items():
            assert_close(scan.theta, plain, 10 * example.tolerance)
            assert_close(scan.theta, found["float64"].theta, example.tolerance)
            assert layout in SPARSE or bits(scan) == bits(found["float64"])


@every_example
@in_turn("layout", DENSE + SPARSE)
def test_an_order_equals_permuted_rows(example: Example, layout: str) -> None:
    block = example.rows(ROWS)
    order = np.random.default_rng(1).permutation(ROWS)[: ROWS - 20]
    moved = part(block, order)
    outputs, expected = outputs_of(example, len(order)), outputs_of(example, len(order))
    visited = over(example, laid(block, layout), order=order, outputs=outputs)
    assert bits(visited) == bits(over(example, laid(moved, layout), outputs=expected))
    np.testing.assert_array_equal(outputs, expected)
    assert bits(over(example, replace(moved, x=lay(block.x, layout), chosen=order))) == bits(visited)


@every_example
def test_sources_run_scans(example: Example) -> None:
    block = example.rows(ROWS)
    order = np.random.default_rng(1).permutation(ROWS)
    for source, layout in ((ArraySource, "float64"), (ArraySource, "columns"), (SparseSource, "csr")):
        scan, rows = example.start(), laid(block, layout)
        given = source(rows.x, rows.t, rows.weight)
        given.scan(scan)
        given.scan(scan, order)
        expected = over(example, rows)
        expected.run(rows, order)
        assert bits(scan) == bits(expected)


@every_example
def test_a_weight_of_zero_is_no_row(example: Example) -> None:
    block = example.rows(ROWS)
    assert bits(over(example, block)) == bits(over(example, part(block, block.weight > 0)))


@every_example
def test_a_pickle_and_a_copy_go_on_to_the_bit(example: Example) -> None:
    block = example.rows(ROWS)
    scan = over(example, block)
    others, before = [scan.copy(), pickle.loads(pickle.dumps(scan))], bits(scan)
    for other in others:
        assert bits(other) == before
        other.run(block)
    assert bits(scan) == before
    scan.run(block)
    assert all(bits(other) == bits(scan) for other in others)


@every_example
def test_outputs_are_those_before_the_step_and_one_row_at_a_time_equals_a_run(example: Example) -> None:
    block = example.rows(60, weights=False)
    scan, single, outputs = example.start(), example.start(), outputs_of(example, 60)
    whole = over(example, block, outputs=outputs)
    for i in range(60):
        one = np.concatenate([[float(scan.intercept)], block.x[i]])
        np.testing.assert_allclose(outputs[i], scan.theta @ one, rtol=1e-12, atol=1e-12)
        scan.run(part(block, slice(i, i + 1)))
    said = learned(single, block)
    assert bits(single) == bits(whole)
    np.testing.assert_array_equal(said, outputs[:, 0])


@every_example
def test_tallies(example: Example) -> None:
    block = example.rows(ROWS)
    scan, there = over(example, block), block.weight > 0
    square = (block.x**2).sum(axis=1) + float(scan.intercept)
    assert scan.steps == there.sum()
    assert scan.tally.weight == pytest.approx(block.weight.sum())
    assert scan.tally.squares == pytest.approx(block.weight @ square)
    assert scan.tally.bound == pytest.approx(2 * block.weight.sum() / (block.weight @ square))
    assert scan.tally.radius == pytest.approx(np.sqrt(square[there].max()))
    scan.begin()
    assert (scan.tally.weight, scan.tally.loss, scan.steps) == (0.0, 0.0, there.sum())


@every_example
@in_turn("where", [("x", np.nan), ("x", np.inf), ("x", 1e200), ("t", np.nan), ("t", -np.inf), ("t", 1e200)])
def test_rows_that_are_not_finite_end_it(example: Example, where: tuple[str, float]) -> None:
    if where == ("t", 1e200) and example.targets != "classes":
        return  # a target may be as large
    block = example.rows(80, weights=False)
    getattr(block, where[0])[57, 0] = where[1]
    for run, layout in (
        (Scan.run, "float64"),
        (Scan.run, "columns"),
        (Scan.run, "csr"),
        (Scan.run_reference, "float64"),
    ):
        scan, outputs = example.start(), outputs_of(example, 80)
        run(scan, laid(block, layout), outputs=outputs)
        assert scan.status is State.NOT_FINITE
        assert (scan.stopped, scan.steps) == (57, 57)
        assert np.isfinite(scan.theta).all()
        assert np.isfinite(outputs).all()
        before = bits(scan)
        scan.run(block)
        assert bits(scan) == before
    scan, outputs = example.start(), outputs_of(example, 80)
    over(example, block, outputs=outputs)
    said = learned(scan, block)
    np.testing.assert_array_equal(said, outputs[:, 0])
    assert not any(said[57:])


@every_example
@in_turn("size", [1e-300, 1e-150, 1e-30, 1e30, 1e100, 1e150])
def test_no_size_of_numbers_gives_nan(example: Example, size: float) -> None:
    block = example.rows(ROWS)
    for factors in ([size] * 5, [size, 1, 1, 1, 1 / size]):
        scan = over(example, replace(block, x=block.x * factors))
        assert np.isfinite(scan.theta).all()
        assert not np.isnan(scan.numbers).any()


@every_example
def test_the_reference_runs_where_there_is_no_native_core(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    block = example.rows(40)
    expected = over(example, block).theta
    monkeypatch.setattr(base, "native", None)
    for layout in ("float64", "table", "csr"):
        scan = over(example, laid(block, layout))
        assert_close(scan.theta, expected, example.tolerance)
    assert np.isfinite(learned(scan, part(block, slice(1)))).all()


@needs_native
@pytest.mark.parametrize(
    ("rule", "options"),
    [
        *(("LMS", {"variant": variant}) for variant in VARIANTS),
        ("Perceptron", {}),
        ("Sigmoid", {"activation": "tanh"}),
        ("Sigmoid", {"activation": "logistic"}),
    ],
)
@in_turn("kind", ["dense", "csr"])
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
    block, outputs = example.rows(ROWS), [outputs_of(example, ROWS) for _ in range(3)]
    over(example, block, outputs=outputs[0])
    sparse_scan = over(example, laid(block, "csr"), outputs=outputs[1])
    np.testing.assert_array_equal(outputs[1], outputs[0])
    if "l1" not in example.config and "init" not in example.config:  # which are in the units of the columns
        units = 2.0 ** np.array([-200, 3, 0, 77, 150])
        scaled = over(example, replace(block, x=block.x * units), outputs=outputs[2])
        np.testing.assert_array_equal(outputs[2], outputs[0])
        np.testing.assert_array_equal(scaled.theta[:, 1:] * units, sparse_scan.theta[:, 1:])


@pytest.mark.parametrize("options", [{"l1": 0.5}, {"average": True}], ids=str)
def test_a_scan_that_grows_is_one_that_had_all_columns(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    x, t = np.tril(rng.normal(size=(40, 40))), (rng.random((40, 1)) < 0.5).astype(float)
    whole, grown = (CoordinateRule.start(Shape(d, 1), **options) for d in (40, 1))
    whole.run(Block(x, t))
    for i in range(40):
        grown = grown.grown(i + 1)
        grown.run(Block(np.ascontiguousarray(x[i : i + 1, : i + 1]), t[i : i + 1]))
    np.testing.assert_array_equal(grown.weights(slice(None)), whole.weights(slice(None)))
    np.testing.assert_array_equal(grown.theta, whole.theta)
    assert (whole.theta == 0).any() == ("l1" in options)
