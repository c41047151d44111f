"""A check of an installation: the native kernels against their references, certified answers, and what is in use.

`python -m adaline.selftest` and `adaline selftest` run it in a second or two, `--json` for machines, and exit with 0 if
all checks pass, else with 1. It needs none of the optional packages.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from adaline import __version__, datasets
from adaline.arrays import Array
from adaline.block import Block, Shape, UnitsApart
from adaline.coding import texts as coding_texts
from adaline.coding.texts import Texts
from adaline.groups.regressions import group_regressions_reference
from adaline.kernels import native
from adaline.losses import LOSSES, CustomLoss, Huber, Loss, NegativeBinomial, loss_of
from adaline.scans import SCANS, Scan, adaptive, lms, sigmoid
from adaline.smooths.pieces import pieces_reference
from adaline.solvers.absorb import levels
from adaline.solvers.least_squares import refine
from adaline.solvers.least_squares.direct import sums_residual_reference
from adaline.solvers.least_squares.factor import equilibrate_reference, put_row_lengths_reference
from adaline.solvers.least_squares.fit import digits_reference, raw_solution_reference
from adaline.solvers.smooth.proximal_newton import coordinate_descent, coordinate_descent_reference
from adaline.sources.tables.sparse_lines import Lines, parse_lines, parse_reference
from adaline.sums import (
    Centres,
    Clusters,
    Components,
    HessianProduct,
    MixtureMoments,
    Moments,
    Objective,
    Point,
    Residual,
    Spread,
    Theta,
    View,
)
from adaline.sums.bounded_score import outputs_by_arrays, outputs_twofold
from adaline.sums.clusters import clusters_reference
from adaline.sums.keyed import keyed_products_reference, merge_totals_reference
from adaline.sums.mixture import mixture_reference
from adaline.sums.moments import fill_reference, merge_reference, subtract_reference
from adaline.sums.objective import objective_reference, product_reference
from adaline.sums.residual import residual_reference
from adaline.sums.spread import spread_reference
from adaline.systems import LinearRegression
from adaline.twofold import Twofold

ROWS, FEATURES, OUTPUTS = 131, 11, 3  # no multiples of the kernels' tiles
PACKAGES = ("numpy", "scipy", "scikit-learn", "threadpoolctl", "narwhals", "safetensors")

TEXTS = ("", "a", "Ab_9 x, the THE cat", "y" * 32, "z" * 100, "\0 nul", "two words")
"""Values of a column, in ASCII, as the kernel of words takes them."""

CERTIFIED = {
    "longley": (
        *(-3482258.63459582, 15.0618722713733, -0.0358191792925910, -2.02022980381683, -1.03322686717359),
        *(-0.0511041056535807, 1829.15146461355),
    ),
    "norris": (-0.262323073774029, 1.00211681802045),
}
"""Intercept and coefficients of bundled data sets, as NIST certifies them."""


class Agreement(NamedTuple):
    """Two ways to the same numbers, and by how much they may differ, relative to the largest of each array."""

    family: str
    name: str
    allowed: float
    kernel: Callable[[], Sequence[Array]]
    reference: Callable[[], Sequence[Array]]


class Outcome(NamedTuple):
    """What a check found, on one instruction set; `difference` is not a number where it could not be done."""

    family: str
    name: str
    instruction_set: str
    difference: float
    allowed: float
    error: str = ""

    @property
    def passed(self) -> bool:
        """Whether the numbers agree."""
        return self.difference <= self.allowed


def checks() -> Iterator[Agreement]:
    """Yield a check of every native kernel, each for rows of several layouts in memory."""
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(ROWS, FEATURES))
    dense = np.where(rng.random(dense.shape) < 0.3, 0.0, dense).astype(np.float32).astype(np.float64)
    layouts = {"rows": dense, "columns": np.asfortranarray(dense, dtype=np.float32), "sparse": sparse.csr_array(dense)}
    score = dense[:, :OUTPUTS] + rng.normal(size=(ROWS, OUTPUTS))
    targets = {
        "numbers": score,
        "amounts": np.abs(score) + 0.125,
        "signs": np.where(score > 0, 1.0, -1.0),
        "bits": np.where(score > 0, 1.0, 0.0),
        "classes": np.argmax(score, axis=1)[:, None].astype(np.float64),
    }
    weight = rng.integers(0, 4, ROWS).astype(np.float64)
    view = View(np.ldexp(1.0, rng.integers(-2, 3, FEATURES)), rng.normal(size=FEATURES))
    theta, direction = rng.normal(size=(2, OUTPUTS, 1 + FEATURES)) / 4
    for layout, x in layouts.items():
        exponent = np.zeros(FEATURES + OUTPUTS) if layout == "sparse" else None
        blocks = {kind: Block(x, t, weight, exponent) for kind, t in targets.items()}
        block = blocks["numbers"]
        for centred in (False, True)[: 1 if layout == "sparse" else 2]:
            yield _moments(f"{'centred' if centred else 'raw'} {layout}", block, centred)
        yield _residual(layout, block, Theta(theta, theta * 2.0**-60, np.zeros(FEATURES + OUTPUTS)))
        for loss in (*(cls() for cls in LOSSES.values()), loss_of(NegativeBinomial(1.5)), _own_loss()):
            yield from _likelihood(layout, blocks[_targets_of(loss)], Point(loss, theta, view, direction))
        if layout != "sparse":
            yield _spread(layout, block)
            yield _clusters(layout, block, Centres(theta[:, 1:] * 4, view))
            for whole in (True, False):
                factors = np.eye(FEATURES) + np.triu(rng.normal(size=(OUTPUTS, FEATURES, FEATURES))) / 8
                factors = factors if whole else np.diagonal(factors, axis1=1, axis2=2).copy()
                at = Components(np.log([0.5, 0.3, 0.2]), theta[:, 1:].copy(), factors, view)
                yield _mixture(f"{'full' if whole else 'diagonal'} {layout}", block, at, whole)
        for start, kind in _scans():
            yield _scan(layout, blocks[kind], start)
    rounded = sparse.csr_array(np.where(np.abs(dense) > 1, np.sign(dense), dense))
    apart = Block(UnitsApart.of(rounded), targets["bits"][:, :1].copy(), weight)
    yield from _likelihood("units apart", apart, Point(LOSSES["logistic"](), theta[:1], view, direction[:1]))
    yield _spread("units apart", apart)
    yield _descent(dense, score[:, 0])
    yield from _refinement(Block(dense, score, weight, None), rng)
    yield from _twofold(rng)
    for width in (None, 64):
        yield _lines(dense, width)
    yield from _texts(rng)
    yield from _levels(rng)
    yield from _groups(rng)
    yield from _smooths(rng)


def _moments(name: str, block: Block, centred: bool) -> Agreement:
    """Fill, add the same rows once more, take them out again."""
    part = Block(block.x[:40], block.t[:40], None if block.weight is None else block.weight[:40], block.exponent)

    def numbers(m: Moments) -> list[Array]:
        e = m.exponent.astype(np.int64)
        first = np.ldexp(m.first_hi + m.first_lo, 0 if centred else e)
        return [np.array(m.weight), first, np.ldexp(m.second, e[:, None] + e)]

    def run(fill: Any, merge: Any, subtract: Any) -> list[Array]:
        whole, some = (Moments.zero(block.shape, centred=centred) for _ in range(2))
        fill(whole, block)
        fill(some, part)
        found = numbers(whole)
        merge(whole, some)
        found += numbers(whole)
        subtract(whole, some)
        return found + numbers(whole)

    return Agreement(
        *("moments", name, 1e-12),
        lambda: run(Moments.add, Moments.merge, Moments.subtract),
        lambda: run(fill_reference, merge_reference, subtract_reference),
    )


def _residual(name: str, block: Block, theta: Theta) -> Agreement:
    """Sums in twice the digits of a number: their difference is taken in the same, and is to be zero."""

    def run() -> list[Array]:
        found = Residual.zero(block.shape)
        found.add(block, theta)
        hi, lo = np.moveaxis(found.sums - residual_reference(block, theta), -1, 0)
        return [hi + lo]

    return Agreement("residual", name, 1e-25, run, lambda: [np.zeros((OUTPUTS, 2 + FEATURES))])


def _twofold(rng: np.random.Generator) -> Iterator[Agreement]:
    """Yield the checks of exponentials and outputs in double-double, whose differences are to be zero."""
    z = Twofold(20 * rng.normal(size=ROWS), 1e-16 * rng.normal(size=ROWS))
    v, offset = rng.normal(size=(1 + FEATURES, ROWS)), rng.normal(size=ROWS)
    hi = rng.normal(size=1 + FEATURES)
    lo = hi * 2.0**-55

    def exponentials() -> list[Array]:
        difference = z.exp() / z.exp_reference() - 1.0
        return [difference.hi + difference.lo]

    def outputs() -> list[Array]:
        difference = outputs_twofold(v, hi, lo, offset) - outputs_by_arrays(v, hi, lo, offset)
        return [difference.hi + difference.lo]

    yield Agreement("twofold", "exponentials", 1e-29, exponentials, lambda: [np.zeros(ROWS)])
    yield Agreement("twofold", "outputs", 1e-29, outputs, lambda: [np.zeros((ROWS, 1))])


def _lines(x: Array, width: int | None) -> Agreement:
    """Rows as text of LIBSVM, or of VW with names hashed to `width` columns."""
    bar = "" if width is None else "|"
    rows = [" ".join(f"{j}:{v!r}" for j, v in enumerate(row) if v) for row in x.tolist()]
    text = "".join(f"{i} {bar} {row}\n" for i, row in enumerate(rows)).encode()
    name = "libsvm" if width is None else "vw"

    def run(parse: Callable[[bytes, int | None], Lines]) -> list[Array]:
        found = parse(text, width)
        return [np.asarray(one, np.float64) for one in (found.data, found.indices, found.starts, found.labels[:, 0])]

    return Agreement("lines", name, 0.0, lambda: run(parse_lines), lambda: run(parse_reference))


def _spread(name: str, block: Block) -> Agreement:
    def run() -> list[Array]:
        found = Spread.zero(block.shape)
        found.add(block)
        return [np.array(found.weight), found.mean, found.second, found.largest]

    return Agreement(
        "spread", name, 1e-13, run, lambda: [np.asarray(a) for a in spread_reference(block, np.zeros(FEATURES))]
    )


def _clusters(name: str, block: Block, centres: Centres) -> Agreement:
    def run() -> list[Array]:
        found = Clusters.zero(block.shape, clusters=OUTPUTS)
        found.add(block, centres)
        return [found.sums]

    return Agreement("clusters", name, 1e-12, run, lambda: [clusters_reference(block, centres)])


def _mixture(name: str, block: Block, at: Components, whole: bool) -> Agreement:
    def run() -> list[Array]:
        found = MixtureMoments.zero(block.shape, components=OUTPUTS, whole=whole)
        found.add(block, at)
        return [found.sums]

    return Agreement("mixture", name, 1e-12, run, lambda: [mixture_reference(block, at, whole)])


def _likelihood(layout: str, block: Block, point: Point) -> Iterator[Agreement]:
    """Yield the checks of value, gradient and second derivatives, and of their product with a direction."""
    loss, seconds = point.loss, ("none", "alone", "all") if point.loss.coupled else ("none", "alone")

    def sums() -> list[Array]:
        found = []
        for second in seconds:
            out = Objective.zero(block.shape, outputs=len(point.theta), coupled=loss.coupled, second=second)
            out.add(block, point)
            found.append(out.sums)
        return found

    def product() -> list[Array]:
        out = HessianProduct.zero(block.shape, outputs=len(point.theta))
        out.add(block, point)
        return [out.sums]

    name = f"{'own loss' if loss.kernel is None else loss.name} {layout}"
    yield Agreement(
        *("objective", name, 1e-12, sums),
        lambda: [objective_reference(block.packed(), point, second) for second in seconds],
    )
    yield Agreement("product", name, 1e-12, product, lambda: [product_reference(block.packed(), point)])


def _own_loss() -> Loss:
    """Return a loss as users give one, without a kernel of its own."""
    huber = Huber()
    return CustomLoss(huber.value, huber.slope, huber.curvature)


def _targets_of(loss: Loss) -> str:
    if loss.coupled:
        return "classes"
    if loss.name in ("perceptron", "squared_hinge", "tanh_squared"):
        return "signs"
    return "bits" if loss.name in ("logistic", "sigmoid_squared") else "amounts"


def _scans() -> Iterator[tuple[Callable[[], Scan], str]]:
    """Yield every rule at its start, and the kind of targets it learns."""
    kinds = {"identity": "numbers", "tanh": "signs", "logistic": "bits", "softmax": "classes"}

    def started(rule: str, kind: str, **options: Any) -> tuple[Callable[[], Scan], str]:
        if kind == "classes":
            options["classes"] = OUTPUTS
        return lambda: SCANS[rule].start(Shape(FEATURES, 1 if kind == "classes" else OUTPUTS), **options), kind

    yield from (started("LMS", "numbers", rate=0.01, variant=variant) for variant in lms.VARIANTS)
    yield started("RLS", "numbers", forget=0.99, delta=0.1)
    yield started("Perceptron", "signs")
    yield started("Kesler", "classes")
    yield started("Softmax", "classes", rate=0.1)
    yield from (started("Sigmoid", kinds[name], rate=0.1, activation=name) for name in sigmoid.ACTIVATIONS)
    for name in adaptive.ACTIVATIONS:
        yield from (started("Adaptive", kinds[name], activation=name, wide=wide) for wide in (False, True))
    losses = {"squared": "identity", "tanh_squared": "tanh", "sigmoid_squared": "logistic", "softmax": "softmax"}
    yield from (started("Coordinate", kinds[name], loss=loss) for loss, name in losses.items())
    yield started("Coordinate", "bits", l1=0.5, average=True)


def _scan(layout: str, block: Block, start: Callable[[], Scan]) -> Agreement:
    def run(by: Any) -> list[Array]:
        scan = start()
        by(scan, block)
        return [scan.theta]

    rule = start().rule
    adapting = rule.startswith("adaptive")  # a tiny prior magnifies rounding until rows determine the weights
    return Agreement(
        *("adaptive scan" if adapting else "scan", f"{rule} {layout}", 1e-7 if adapting else 1e-11),
        lambda: run(Scan.run),
        lambda: run(Scan.run_reference),
    )


def _descent(x: Array, t: Array) -> Agreement:
    def run(by: Any) -> list[Array]:
        g, w = -x.T @ t, np.zeros(FEATURES)
        moved = by(x.T @ x, g, w, np.full(FEATURES, 20.0), 5, 0.0)
        return [w, g, np.array(moved)]

    return Agreement(
        "coordinate descent", "dense", 1e-11, lambda: run(coordinate_descent), lambda: run(coordinate_descent_reference)
    )


def _refinement(block: Block, rng: np.random.Generator) -> Iterator[Agreement]:
    """Yield the checks of what least squares does between its passes: functions that set the arrays they are given."""
    moments = Moments.zero(block.shape)
    moments.add(block)
    theta, mean, sums = (
        rng.normal(size=(OUTPUTS, 1 + FEATURES)),
        rng.normal(size=FEATURES + OUTPUTS),
        rng.normal(size=(OUTPUTS, 2 + FEATURES, 2)),
    )
    sums[..., 1] *= 2.0**-53
    step, data = rng.normal(size=(2, OUTPUTS, FEATURES))
    pull, length, reach = rng.uniform(0.5, 2.0, (3, FEATURES))
    each, squares, gradient, gap = rng.uniform(0.5, 2.0, (4, OUTPUTS))
    whole, error, columns = np.zeros_like(theta), np.abs(theta) * 1e-9, np.append(1.0, length)
    exponent = rng.integers(-3, 4, FEATURES + OUTPUTS).astype(np.float64)
    low, small, shape = mean * 2.0**-54, theta * 2.0**-54, (FEATURES, OUTPUTS)
    vary, square = np.zeros(FEATURES, dtype=np.bool_), np.zeros((FEATURES, FEATURES))
    progress = np.zeros((4, OUTPUTS)) + 10.0
    given: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "equilibrate": (
            equilibrate_reference,
            (moments.buffer, *shape, True, pull, columns, vary, length, reach, np.stack([mean, low]), square),
        ),
        "sums_residual": (sums_residual_reference, (data, moments.buffer, pull, step)),
        "row_lengths": (put_row_lengths_reference, (reach, np.asfortranarray(np.outer(length, pull)))),
        "refine_start": (_start_refinement, (whole, small, each, mean, low, length, step, True)),
        "refine_gradient": (_find_gradient, (sums, theta, small, mean, low, pull, data, step)),
        "refine_step": (
            _take_step,
            (
                *(theta, small, step, sums, data, step, mean, pull, length, 1 / length, reach, progress, error),
                *(float(ROWS), True, 1e-3, 10.0),
            ),
        ),
        "raw_solution": (
            raw_solution_reference,
            (
                *(whole, each, squares, moments.buffer, theta, error, exponent, columns, pull, squares),
                *(gradient, gap, float(ROWS)),
            ),
        ),
        "digits": (digits_reference, (error, theta, columns)),
    }
    yield from _calls("least squares", 1e-12, given)


def _start_refinement(hi: Array, lo: Array, size: Array, *given: Any) -> None:
    """Call the reference with the arguments of the kernel."""
    mean_hi, mean_lo, length, u, intercept = given
    hi[:], lo[:], size[:] = refine.put_intercept_reference((mean_hi, mean_lo), length, u, intercept)


def _find_gradient(sums: Array, *given: Array) -> None:
    """Call the reference with the arguments of the kernel."""
    hi, lo, mean_hi, mean_lo, pull, data, centred = given
    here: Any = SimpleNamespace(hi=hi, lo=lo, means=(mean_hi, mean_lo), pull=pull, data=data, centred=centred)
    refine.find_gradient_reference(here, sums)


def _take_step(hi: Array, lo: Array, step: Array, sums: Array, data: Array, centred: Array, *given: Any) -> bool:
    """Call the reference with the arguments of the kernel."""
    mean, *rest = given
    names = ("pull", "length", "down", "reach", "progress", "error", "weight", "intercept", "contraction", "condition")
    named = dict(zip(names, rest, strict=True))
    here: Any = SimpleNamespace(hi=hi, lo=lo, data=data, centred=centred, means=(mean, mean), **named)
    return refine.take_step_reference(here, sums, step)


def _texts(rng: np.random.Generator) -> Iterator[Agreement]:
    """Yield the checks of hashes, texts found among others, words, and rows put together from their entries."""
    texts, known = Texts.of(TEXTS), Texts.of(TEXTS[::2])
    each, n = (texts.data, texts.offsets), len(TEXTS)
    hashes, codes, table = rng.integers(0, 2**64, n, dtype=np.uint64), np.zeros(n, np.int32), np.zeros(16, np.uint64)
    coding_texts.REFERENCES["index_texts"](table, known.data, known.offsets)
    numbers, some, counts = np.array([0.0, 0.5, 1e300, 7.0]), np.array([7.0, -0.0, 1e300, 1.5]), np.zeros(5, np.int64)
    of_numbers = np.zeros(16, np.uint64)
    coding_texts.REFERENCES["index_numbers"](of_numbers, numbers)
    twice = Texts.of([*TEXTS, *TEXTS[::3]])
    starts, indices = np.array([0, 3, 3, 10]), np.zeros(16, np.int32)
    entries, values = rng.integers(-1, 4, 10).astype(np.int32), rng.normal(size=10)
    few, which = rng.integers(-1, 5, 3).astype(np.int32), np.array([1, 0, 1], np.int32)
    parts = (
        [None, starts, None],
        [None, None, which],
        [few, entries, few[:2]],
        [None, values, values[:2]],
        [0, 5, 9],
        14,
    )
    given: dict[str, tuple[Any, ...]] = {
        "hash_texts": (np.zeros_like(hashes), *each, 17),
        "hash_pairs": (np.zeros_like(hashes), hashes, hashes[::-1].copy()),
        "buckets": (codes, np.zeros(n), hashes, 64),
        "index_texts": (table, known.data, known.offsets.astype(np.int32)),
        "find_texts": (codes, *each, known.data, known.offsets, table),
        "index_numbers": (of_numbers * 0, numbers),
        "find_numbers": (np.zeros(4, np.int32), some, numbers, of_numbers),
        "distinct_texts": (np.zeros(len(twice.offsets) - 1, np.int32), twice.data, twice.offsets, None),
        "order_texts": (np.zeros(len(twice.offsets) - 1, np.int64), twice.data, twice.offsets),
        "take_texts": (*each, np.array([5, 0, 2, 2])),
        "list_texts": each,
        "words": (*each, 3),
        "count_rows": (counts, np.abs(entries), starts),
        "join_entries": (starts, entries, values),
        "join_parts": (np.zeros(4, np.int32), indices, np.zeros(16), *parts),
    }
    yield from _calls(
        "texts", 0.0, {name: (coding_texts.REFERENCES[name], arguments) for name, arguments in given.items()}
    )


def _levels(rng: np.random.Generator) -> Iterator[Agreement]:
    """Yield the checks of sums over the rows of levels, three columns of five levels each."""
    codes = (rng.integers(0, 5, (3, ROWS)) + 5 * np.arange(3)[:, None]).astype(np.int32)
    x, weight, effects = rng.normal(size=ROWS), rng.uniform(0.5, 2.0, ROWS), rng.normal(size=15)
    order, starts = np.zeros(ROWS, np.int32), np.zeros(6, np.int64)
    levels.level_order_reference(order, starts, codes[:1])
    cells, ordered = np.take(codes[1:] - np.int32(5), order, axis=1), weight[order]
    inverse = 1 / np.bincount(codes[0], weight)
    given: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "level_sums": (levels.level_sums_reference, (np.zeros(15), codes, x, weight)),
        "level_subtract": (levels.level_subtract_reference, (x, codes, effects)),
        "level_order": (levels.level_order_reference, (order * 0, starts * 0, codes[:1])),
        "level_pairs": (levels.level_pairs_reference, (starts, cells[:1], ordered, 15)),
        "level_product": (
            levels.level_product_reference,
            (np.zeros(10), effects[:10].copy(), starts, cells, ordered, inverse),
        ),
        "level_components": (levels.level_components_reference, (codes[:2], 15)),
        "level_factor": (levels.level_factor_reference, (codes[:2], 15, weight)),
        "level_precondition": (
            levels.level_precondition_reference,
            (effects, *levels.level_factor_reference(codes[:2], 15, weight)),
        ),
    }
    yield from _calls("levels", 1e-12, given)


def _groups(rng: np.random.Generator) -> Iterator[Agreement]:
    """Yield the checks of regressions of groups of rows: of estimates, standard errors, statistics and states."""
    x, y, weight = [*rng.normal(size=(3, ROWS))], rng.normal(size=ROWS), rng.uniform(0.5, 2.0, ROWS)
    order = rng.permutation(ROWS).astype(np.int32)
    begins, ends = np.array([0, 9, 12, 41]), np.array([9, 40, 43, ROWS])  # the third is a window after the second
    pull = np.array([0.0, 0.5, 2.0])

    def after(function: Callable[..., Any], t: Array, loss: Any) -> list[Array]:
        numbers, facts, marks = np.zeros((3, 4, 4)), np.zeros((2, 4)), np.zeros((2, 4), np.int32)
        function(*numbers, facts, *marks, x, t, weight, order, begins, ends, pull, True, loss, 0, 4)
        return [np.nan_to_num(numbers), np.nan_to_num(facts[0]), marks.astype(np.float64)]

    for loss, t in (("squared", y), ("logistic", (y > 0).astype(np.float64)), ("poisson", np.floor(np.abs(y)))):
        yield Agreement(
            "groups",
            f"group_regressions, {loss}",
            1e-12,
            lambda t=t, loss=loss: after(native.group_regressions, t, native.Loss[loss]),  # type: ignore[misc]
            lambda t=t, loss=loss: after(group_regressions_reference, t, loss),  # type: ignore[misc]
        )


def _smooths(rng: np.random.Generator) -> Iterator[Agreement]:
    """Yield the checks of the columns of curves, periodic or not, and of the union of distinct values."""
    knots, (values, curvature) = np.array([-1.0, -0.5, 0.25, 0.5, 2.0]), rng.normal(size=(2, 5, FEATURES))
    x = 8 * np.concatenate([knots, rng.uniform(-3, 4, ROWS - 5)])
    one, other = np.unique(rng.integers(0, 40, 30)) / 4.0, np.arange(3.0, 9.0)
    of_one, of_other, room = rng.normal(size=(len(one), 3)), rng.normal(size=(6, 3)), np.zeros((len(one) + 6, 3))
    codes, rows, sums = (
        rng.integers(-1, 4, ROWS),
        (rng.normal(size=(ROWS, 2)), rng.normal(size=(ROWS, 7))),
        np.zeros((4, 14)),
    )
    given: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "cubic_pieces": (pieces_reference, (np.zeros((ROWS, FEATURES)), x, 3, knots, values, curvature, False)),
        "merge_totals": (merge_totals_reference, (room[:, 0].copy(), room, one, of_one, other, of_other)),
        "keyed_products": (keyed_products_reference, (sums, codes, x, *rows)),
    }
    yield from _calls("smooths", 1e-14, given)
    around: tuple[Any, ...] = (np.zeros((ROWS, FEATURES)), x, 3, knots, values, curvature, True)
    yield from _calls("smooths, periodic", 1e-14, {"cubic_pieces": (pieces_reference, around)})


def _calls(
    family: str, allowed: float, given: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]
) -> Iterator[Agreement]:
    """Yield the checks of kernels that set the arrays they are given, by name, with reference and arguments."""
    for name, (reference, arguments) in given.items():
        yield Agreement(
            *(family, name, allowed),
            lambda name=name, arguments=arguments: _after(getattr(native, name), arguments),  # type: ignore[misc]
            lambda reference=reference, arguments=arguments: _after(reference, arguments),  # type: ignore[misc]
        )


def _after(function: Callable[..., Any], given: tuple[Any, ...]) -> list[Array]:
    """Return copies of the array arguments after a call, and its result."""
    own = [one.copy("K") if isinstance(one, np.ndarray) else one for one in given]
    told = function(*own)
    if isinstance(told, list):
        told = np.frombuffer("\n".join(told).encode("utf-8", "surrogatepass"), np.uint8)
    found = [
        *(one for one in own if isinstance(one, np.ndarray)),
        *(told if isinstance(told, tuple) else [0 if told is None else told]),
    ]
    halves = [one.view(np.uint32) if getattr(one, "dtype", None) == np.uint64 else one for one in found]
    return [np.asarray(one, dtype=np.float64) for one in halves]


def check_kernels() -> list[Outcome]:
    """Return the outcome of every check on every instruction set of this processor; none without native kernels."""
    if native is None:
        return []
    before, found = native.isa(), []
    try:
        for check in checks():
            wanted = check.reference()
            for name in native.isas():
                native.use_isa(name)
                found.append(_outcome(check, name, wanted))
    finally:
        native.use_isa(before)
    return found


def _outcome(check: Agreement, instruction_set: str, wanted: Sequence[Array]) -> Outcome:
    try:
        pairs = zip(check.kernel(), wanted, strict=True)
        differences = [np.abs(a - b).max() / max(1.0, np.abs(b).max()) for a, b in pairs]
        return Outcome(check.family, check.name, instruction_set, float(np.max(differences)), check.allowed)
    except Exception as error:  # whatever it is, the other checks continue
        told = f"{type(error).__name__}: {error}".splitlines()[0]
        return Outcome(check.family, check.name, instruction_set, np.nan, check.allowed, told)


def check_answers() -> list[Outcome]:
    """Return by how much coefficients differ from those that NIST certifies, in parts of each."""
    return [_outcome(check, "", check.reference()) for check in map(_answer, CERTIFIED)]


def _answer(name: str) -> Agreement:
    data, certified = datasets.load(name), np.array(CERTIFIED[name])

    def run() -> list[Array]:
        model = LinearRegression().fit(data.X, data.y)
        return [np.array([model.intercept_, *model.coef_]) / certified]

    return Agreement("certified by NIST", name, 1e-12, run, lambda: [np.ones(len(certified))])


def run_selftest(as_json: bool = False) -> int:
    """Print what was checked and found, as a table or as JSON; return the number of checks that failed."""
    outcomes = [*check_kernels(), *check_answers()]
    failed = [one for one in outcomes if not one.passed]
    about = {
        "versions": {
            "adaline": __version__,
            "Python": platform.python_version(),
            **{name: metadata.version(name) for name in PACKAGES},
        },
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "native": native is not None,
        "instruction_set": None if native is None else native.isa(),
        "instruction_sets": [] if native is None else native.isas(),
    }
    if as_json:
        rows = [
            {**one._asdict(), "difference": None if one.error else one.difference, "passed": one.passed}
            for one in outcomes
        ]
        print(json.dumps({"passed": not failed, **about, "checks": rows}, indent=2))
    else:
        print("\n".join(_report(about, outcomes)))
        for one in failed:
            told = one.error or f"differs by {one.difference:.1e}, {one.allowed:.0e} allowed"
            print(f"FAILED: {one.family}, {one.name} {one.instruction_set}: {told}")
        print(f"{len(failed)} of {len(outcomes)} checks failed" if failed else f"all {len(outcomes)} checks passed")
    return len(failed)


def _report(about: dict[str, Any], outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield what is in use, then a line for each family of checks: the largest difference on each instruction set."""
    sets = about["instruction_sets"]
    yield ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    yield f"{about['platform']}, {about['processors']} processors"
    if about["native"]:
        yield f"kernels: native, {about['instruction_set']} in use; this processor has {', '.join(sets)}"
    else:
        yield "kernels: none are native; reference implementations in use (same answers, slower)"
    yield ""
    head = f"{'largest difference':22} {'checks':>6} {'allowed':>8}"
    yield head + "".join(f" {name:>9}" for name in sets)
    for family in dict.fromkeys(one.family for one in outcomes):
        rows = [one for one in outcomes if one.family == family]
        by_set: dict[str, list[float]] = {}
        for one in rows:
            by_set.setdefault(one.instruction_set, []).append(one.difference)
        cells = "".join(f" {np.max(found):9.1e}" for found in by_set.values())
        yield f"{family:22} {len(rows):6} {rows[0].allowed:8.0e}{cells}"
    yield ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the check as a program; return the exit code: 0, 1, or 141 for a broken pipe."""
    parser = argparse.ArgumentParser(
        prog="python -m adaline.selftest", description="Check this installation of adaline."
    )
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    as_json = parser.parse_args(arguments).json
    try:
        failed = run_selftest(as_json)
        sys.stdout.flush()
    except BrokenPipeError:  # who reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # where the rest goes as Python ends
        return 141  # as of a program that the closed pipe ends
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
