"""The first pass of a fit over its rows: sums of their targets, the spread of the columns, and a sample.

One read of a stream gives all of it; of rows in memory the spread alone is a read, and samples are taken when needed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adaline.arrays import ThetaLike
from adaline.block import Block
from adaline.solvers.smooth.choose import sample_rows
from adaline.solvers.smooth.problem import TYPICAL_ROWS, check_spread, column_spread
from adaline.sources import Source
from adaline.sources.sample import sampled
from adaline.sums import ClassWeights, JointSum, RowSample, Spread, Sum
from adaline.sums.sample import LEAST_SPARSE_COLUMNS

SAMPLE = 2**21  # numbers of a sample at most, as each part of a sum over a stream holds one


class FirstPass(NamedTuple):
    """A sum over the targets, mean and spread of the columns, and a sample of rows; None where rows lie in memory."""

    targets: Any
    spread: Spread
    sample: Source | None


def read_first_pass(source: Source, kind: type[Sum], theta: ThetaLike = None, **config: Any) -> FirstPass:
    """Return the sum `kind` over the targets of a stream, the spread of its columns, and a sample, in one read."""
    most = min(sample_rows(1 + source.shape.features), SAMPLE // (1 + source.shape.features))
    if source.sparse and source.shape.features >= LEAST_SPARSE_COLUMNS:  # rows stay sparse in a sample
        most = TYPICAL_ROWS
    kinds: tuple[tuple[type[Sum], dict[str, Any]], ...] = (
        *((kind, config), (Spread, {})),
        (RowSample, {"most": max(most, 1)}),
    )
    with np.errstate(over="ignore", invalid="ignore"):
        found, spread, some = source.sum(JointSum, (theta, None, None), kinds=kinds).parts
    assert isinstance(spread, Spread)
    assert isinstance(some, RowSample)
    return FirstPass(found, check_spread(spread, source), sampled(some, source))


def first_pass(source: Source, kind: type[Sum], theta: ThetaLike = None) -> FirstPass:
    """Return the sum `kind`, the spread, and a sample where passes are costly; other rows are read twice."""
    if source.costly:
        return read_first_pass(source, kind, theta)
    return FirstPass(source.sum(kind, theta), column_spread(source), None)


def class_weights_of(source: Source) -> ClassWeights:
    """Return the weights of the classes of an encoded source; a read where it is streamed."""
    if source.streamed:
        return source.sum(ClassWeights)
    out = ClassWeights.zero(source.shape)
    t, weight = source.targets.values, source.targets.weight
    if t is None:
        t, weight = source.read_targets(), source.read_weights()
    out.add(Block(t, t, weight))
    return out
