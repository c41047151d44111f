"""Signals and what they should become, block by block, as an adaptive filter hears them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adaline.sources import Source
from adaline.systems.reading import open_rows, read_weights
from adaline.systems.signals import SignalSystem


def signal_blocks(
    system: SignalSystem, X: Any, y: Any, sample_weight: Any, *, reset: bool
) -> Iterator[tuple[Any, Any, Any, int]]:
    """Return blocks of x, t, weights and the number of the first row; before them the number of desired signals."""
    if isinstance(X, Source):
        source = open_rows(system, X, y, sample_weight, reset=reset)
        if reset:
            system._flat = source.flat
        yield None, source.shape.targets, None, 0
        for block in source.blocks():
            yield block.x, block.t, block.weight, block.first_row
    else:
        x = system._read_signals(X, reset=reset)
        t = system._read_desired(y, len(x))
        weight = None if sample_weight is None else read_weights(sample_weight, len(x))
        if reset:
            system._flat = t.ndim == 1
        t = t.reshape(len(t), -1)
        yield None, t.shape[1], None, 0
        yield x, t, weight, 0
