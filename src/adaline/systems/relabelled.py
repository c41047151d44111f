"""The rows of some classes with other targets: what one machine of several gets to see of a source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from adaline.block import Block, Shape
from adaline.errors import InvalidParameter
from adaline.sources import Source
from adaline.sources.base import Outer, Reader
from adaline.sources.expanded import Expanded

Array = NDArray[np.float64]


class Relabelled(Source):
    """Rows of an encoded source, whose target is the place k of a class: it becomes values[k], (m,).

    `counts` (C,) are the rows of each class. Rows of classes whose values are NaN are left out. Nothing is copied but
    the rows of a block, while it is read.
    """

    def __init__(self, source: Source, values: Array, counts: NDArray[np.intp]) -> None:
        self.source = source
        self.values = values
        self.shape = Shape(source.shape.features, values.shape[1])
        self.names = None
        self.replayable, self.sparse, self.parallel = source.replayable, source.sparse, source.parallel
        self.streamed = source.streamed or isinstance(source, Expanded)  # phi is too large to be held
        self.reads = source.reads
        self.counts = counts
        self.n_rows = int(counts[~np.isnan(values[:, 0])].sum())

    def _readers(self) -> Iterator[Reader]:
        """Return the blocks in order."""
        return (partial(self._run, read) for read in self.source._readers())

    def read_targets(self) -> Array:
        """Return all targets, (N, m)."""
        t = self.source.read_targets()
        return self._recode(t[self._kept(t)])

    @property
    def weighted(self) -> bool:
        """Whether the rows have weights."""
        return self.source.weighted

    def read_weights(self) -> Array | None:
        """Return all weights, (N,), or None."""
        weight = self.source.read_weights()
        return None if weight is None else weight[self._kept(self.source.read_targets())]

    def recoded(self, values: Array) -> Source:
        """Return the same rows where target j becomes values[j]."""
        places = self.values[:, 0]
        out = np.full((len(places), values.shape[1]), np.nan)
        there = ~np.isnan(places)
        out[there] = values[places[there].astype(np.intp)]
        return Relabelled(self.source, out, self.counts)

    def find_labels(self, guess: bool = False) -> NDArray[Any]:
        """Return the targets there are."""
        return np.unique(self.values[~np.isnan(self.values[:, 0]), 0]).astype(np.int64)

    def encoded(self, classes: NDArray[Any]) -> Source:
        """Return the same rows with the place of each target among the classes."""
        return self.recoded(np.searchsorted(classes, np.arange(int(np.nanmax(self.values)) + 1))[:, None].astype(float))

    def with_targets(self, t: Array) -> Source:
        """Refuse: targets are made from classes."""
        self._refuse()

    def matvec(self, v: Array) -> Array:
        """Refuse: products are for wide data."""
        self._refuse()

    def rmatvec(self, u: Array) -> Array:
        """Refuse: products are for wide data."""
        self._refuse()

    def outer(self, intercept: bool, scale: Array) -> Outer:
        """Refuse: products are for wide data."""
        self._refuse()

    def spread(self, intercept: bool) -> Array:
        """Refuse: products are for wide data."""
        self._refuse()

    def like(self) -> Any:
        """Return an empty array of the rows' namespace."""
        return self.source.like()

    def refuse_nonfinite(self) -> None:
        """Name what is not finite, by its place among all rows."""
        self.source.refuse_nonfinite()

    def _run(self, read: Reader) -> Iterable[Block]:
        for whole in read():
            block = whole.packed()
            kept = self._kept(block.t)
            t = self._recode(block.t)
            if kept.all():
                yield Block(block.x, t, block.weight, first_row=block.first_row)
            elif kept.any():
                weight = None if block.weight is None else block.weight[kept]
                yield Block(block.x[kept], t[kept], weight, first_row=block.first_row)

    def _kept(self, t: Any) -> NDArray[np.bool_]:
        return np.asarray(~np.isnan(self._recode(t)[:, 0]))

    def _recode(self, t: Any) -> Array:
        return self.values[np.asarray(t)[:, 0].astype(np.intp)]

    def _refuse(self) -> NoReturn:
        raise InvalidParameter("this system needs all rows of a table at once here: give arrays instead of a table")
