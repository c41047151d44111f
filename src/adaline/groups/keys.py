"""Rows sorted by the columns that say to which group they belong, and windows of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.coding.columns import texts_of
from adaline.errors import InvalidData
from adaline.lazy import nw, pa
from adaline.solvers.absorb.levels import put_order

SPARE_CODES = 4  # codes for each row up to which they are counted in a table; doubling it takes twice the memory
LONGEST_CODE = 2**62  # of the codes of several columns in one number


class Grouping(NamedTuple):
    """Rows by group, the groups sorted by their keys; or windows of such rows.

    Parameters
    ----------
    begins, ends : (G,) where the rows of each group begin in the order, and where they end.
    order : (N,) the rows sorted by group, those of a group in their order; None where they are so already.
    """

    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    order: NDArray[np.int32] | None

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.begins)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of rows of each group."""
        return np.asarray(self.ends - self.begins)

    @property
    def last_rows(self) -> NDArray[np.int64]:
        """The last row of each group."""
        last = self.ends - 1
        return last if self.order is None else self.order[last].astype(np.int64)

    def rows(self, group: int) -> NDArray[np.int64]:
        """Return the rows of a group."""
        own = slice(self.begins[group], self.ends[group])
        return np.arange(own.start, own.stop) if self.order is None else self.order[own].astype(np.int64)

    def windows(self, length: int | None, least: int) -> Grouping:
        """Return all windows of this length in each group; None: those from its first row, of at least so many rows."""
        shortest = least if length is None else length
        counts = np.maximum(self.sizes - shortest + 1, 0)
        group = np.repeat(np.arange(self.groups), counts)
        shift = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
        begins = self.begins[group]
        return Grouping(begins + (shift if length is not None else 0), begins + shift + shortest, self.order)


def sorted_rows(frame: nw.DataFrame[Any], by: str) -> nw.DataFrame[Any]:
    """Return a frame sorted by the values of a column, missing ones last; equal ones stay in their order."""
    codes, _ = _codes(frame[by])
    return frame if (codes[1:] >= codes[:-1]).all() else frame[np.argsort(codes, kind="stable")]


def group_rows(frame: nw.DataFrame[Any], by: Sequence[str]) -> Grouping:
    """Return the rows of a frame by the values of these columns; missing ones are a group of their own, the last.

    Without columns all rows are one group.
    """
    if not by:
        return Grouping(np.zeros(1, np.int64), np.full(1, len(frame), np.int64), None)
    codes, count = _codes(frame[by[0]])
    for name in by[1:]:
        more, levels = _codes(frame[name])
        if count * levels > LONGEST_CODE:
            codes, count = _ranks(codes)
        codes, count = codes * levels + more, count * levels
    if len(codes) and (codes[1:] >= codes[:-1]).all():
        begins = np.flatnonzero(codes[1:] != codes[:-1]) + 1
        starts = np.concatenate([[0], begins, [len(codes)]]).astype(np.int64)
        return Grouping(starts[:-1], starts[1:], None)
    codes, count = _ranks(codes)
    order, starts = np.empty(len(codes), dtype=np.int32), np.empty(count + 1, dtype=np.int64)
    put_order(order, starts, np.ascontiguousarray(codes[None], dtype=np.int32))
    return Grouping(starts[:-1], starts[1:], order)


def _ranks(values: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Return the place of each number among the different ones, sorted, and how many there are."""
    if values.dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < SPARE_CODES * len(values) and high < 2**63:
            near = values.astype(np.int64) - low
            there = np.zeros(high - low + 1, dtype=bool)
            there[near] = True
            return (np.cumsum(there) - 1)[near], int(np.count_nonzero(there))
    different, found = np.unique(values, return_inverse=True)
    return found.astype(np.int64), len(different)


def _codes(series: nw.Series[Any]) -> tuple[NDArray[np.int64], int]:
    """Return the place of each value of a series among the different ones, sorted, missing ones last."""
    if series.dtype == nw.Boolean or series.dtype.is_numeric() or series.dtype.is_temporal():
        gaps = np.asarray(series.is_null().to_numpy(), dtype=bool)
        if gaps.any():
            return _beside_gaps(series.filter(~nw.new_series("", gaps, backend=series.implementation)), gaps)
        return _ranks(np.asarray(series.to_numpy()))  # of which NaN is one, the last
    try:
        texts = texts_of(series if series.dtype != nw.Categorical else series.cast(nw.String))
        different, _, codes = texts.distinct()
    except (pa.ArrowException, OverflowError):
        raise InvalidData(
            f"column {series.name!r} holds neither texts nor numbers alone, and cannot say to which group a row belongs"
        ) from None
    place = np.empty(len(different.offsets) - 1, dtype=np.int64)
    place[different.order()] = np.arange(len(place))
    found = texts.spread(place[codes])
    if texts.absent is None:
        return found, len(place)
    return np.where(texts.absent, len(place), found), len(place) + 1


def _beside_gaps(present: nw.Series[Any], gaps: NDArray[np.bool_]) -> tuple[NDArray[np.int64], int]:
    codes = np.empty(len(gaps), dtype=np.int64)
    codes[~gaps], count = _ranks(np.asarray(present.to_numpy()))
    codes[gaps] = count
    return codes, count + 1
