"""Targets made from those of another source, block by block: no array of all rows is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from adaline.arrays import Array, host
from adaline.block import Block, Shape
from adaline.sources.base import Source
from adaline.sources.views import SourceView


class DerivedTargets(SourceView):
    """The rows of a source with a function of their targets (n, K) as targets, (n, m).

    The function is a method of a record, or one of a module, so that it can be sent to where the rows are.
    """

    def __init__(self, base: Source, function: Callable[[Array], Array], targets: int) -> None:
        super().__init__(base)
        self.function = function
        self.shape, self.flat = Shape(base.shape.features, targets), targets == 1

    def _transformed(self, block: Block) -> Block:
        return replace(block, t=self.function(host(block.t)))


def no_target(t: Array) -> Array:
    """Return a target of zeros, (n, 1)."""
    return np.zeros((len(t), 1))
