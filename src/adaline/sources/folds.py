"""The rows of a source that take part in one fold of a cross-validation, or those held out, by weights of zero.

Which fold a row belongs to is a hash of its number: it needs no memory, and is the same for every pass and source.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.block import Block
from adaline.lots import lots
from adaline.namespaces import host
from adaline.sources.base import Source
from adaline.sources.through import Through

Array = NDArray[np.float64]


def fold_of(first: int, rows: int, folds: int) -> NDArray[np.int64]:
    """Return the fold of rows first, first + 1, ..., by lot."""
    return (lots(first, rows) % np.uint64(folds)).astype(np.int64)


class Fold(Through):
    """A source whose rows outside fold `number` of `folds`, or with `held` those inside, keep their weight."""

    def __init__(self, base: Source, number: int, folds: int, held: bool) -> None:
        super().__init__(base)
        self.number, self.folds, self.held = number, folds, held

    @property
    def weighted(self) -> bool:
        """Whether the rows have weights: those left out have zero."""
        return True

    def read_weights(self) -> Array:
        """Return all weights, (N,)."""
        base = self.base.read_weights()
        return self._kept(0, self.count_rows()) * (1.0 if base is None else host(base))

    def read_targets(self) -> Array:
        """Return all targets, (N, K)."""
        return self.base.read_targets()

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets."""
        return Fold(self.base.with_targets(t), self.number, self.folds, self.held)

    def find_labels(self, guess: bool = False) -> NDArray[Any]:
        """Return the different targets of all rows."""
        return self.base.find_labels(guess)

    def encoded(self, classes: NDArray[Any]) -> Source:
        """Return the same rows with the place of each target among the classes as target."""
        return Fold(self.base.encoded(classes), self.number, self.folds, self.held)

    def _kept(self, first: int, rows: int) -> Array:
        return np.asarray((fold_of(first, rows, self.folds) == self.number) == self.held, dtype=np.float64)

    def _seen(self, block: Block) -> Block:
        kept = self._kept(block.first_row, block.rows)
        return replace(block, weight=kept if block.weight is None else kept * host(block.weight))
