"""How often each level of a column occurs, counted in parts that merge: texts by their bytes, numbers and booleans.

There is no Python object for a row, and none for a level before levels are asked for.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.attributes import own_attributes
from adaline.coding.columns import plain_level, texts_of
from adaline.coding.reading import is_missing
from adaline.coding.texts import Texts, count_rows, is_view
from adaline.lazy import nw, pa

RowCounts = NDArray[np.int64]

# bytes of the levels of a column that a summary keeps; beyond, it records only that there are too many; doubling it
# takes twice the memory
LONGEST_KEPT = 2**28
# bytes of counted values beyond which equal ones are joined; doubling it joins less often, in more memory
WAITING = 2**26


@dataclass(eq=False)
class LevelSummary:
    """Of a category: how many values are missing, and how often each other one occurs.

    A level is a text, a whole number, another number or a boolean; values of other types, as dates, are taken as Python
    writes them. Levels are forgotten where they are more than `most`, or take more than LONGEST_KEPT bytes, in whatever
    order values come and summaries merge. A summary takes at most 2^26 bytes, or three times what its levels do.
    """

    most: int
    missing: int = 0
    _texts: list[tuple[Texts, RowCounts]] = field(default_factory=list)
    _numbers: dict[str, list[tuple[NDArray[Any], RowCounts]]] = field(default_factory=dict)  # by the kind of their type
    _size: int = 0
    _joined: int = 0  # size of what was joined last
    _many: bool = False

    def add(self, column: Any) -> None:
        """Take in an Arrow column."""
        for chunk in column.chunks:
            if not pa.types.is_dictionary(chunk.type):
                self._take(chunk, None)
                continue
            indices = chunk.indices.drop_null() if chunk.indices.null_count else chunk.indices
            counts = np.bincount(np.from_dlpack(indices).astype(np.intp), minlength=len(chunk.dictionary))
            used = np.flatnonzero(counts)
            self.missing += len(chunk) - len(indices)
            self._take(chunk.dictionary.take(pa.array(used)), counts[used])

    def add_series(self, series: nw.Series[Any]) -> str | None:
        """Take in a series of any frame; return the name of a type of values that are no levels, which are left out."""
        if series.implementation.is_pyarrow():
            self.add(series.to_native())
            return None
        if series.dtype == nw.String:
            texts = texts_of(series)
            there = np.ones(texts.rows, dtype=bool) if texts.absent is None else ~texts.absent
            self.missing += texts.rows - int(np.count_nonzero(there))
            self._take_texts(texts.take(np.flatnonzero(there)), None)
            return None
        counts = Counter(series.to_list())
        found: dict[Any, dict[Any, int]] = {bool: {}, float: {}, str: {}}
        for value, count in counts.items():
            plain = value.item() if isinstance(value, np.generic) else value
            kind = next((one for one in ((bool,), (int, float), (str,)) if isinstance(plain, one)), None)
            if is_missing(value):
                self.missing += count
            elif kind is None:
                return type(value).__name__
            else:
                found[kind[-1]][plain] = count
        for kind, values in found.items():
            weights = np.array([*values.values()], dtype=np.int64)
            if kind is str:
                self._take_texts(Texts.of(values), weights)
            elif values:
                numbers = np.array([*values])
                self._take_numbers(numbers if numbers.dtype.kind in "biuf" else numbers.astype(np.float64), weights)
        return None

    def merge(self, other: Self) -> None:
        """Take in another summary."""
        self.missing += other.missing
        self._many |= other._many
        for texts in other._texts:
            self._keep(self._texts, *texts)
        for kind, parts in other._numbers.items():
            for numbers in parts:
                self._keep(self._numbers.setdefault(kind, []), *numbers)

    def levels(self) -> tuple[list[Any], RowCounts] | None:
        """Return the levels, numbers before texts, each sorted, and how often each occurs; None if they are many."""
        self._join()
        if self._many:
            return None
        parts = [part for parts in self._numbers.values() for part in parts]
        values = [value for found, _ in parts for value in found.tolist()]
        values = [*map(plain_level, values)] if "f" in self._numbers else values  # whole numbers of more than 64 bits
        counts = [count for _, count in parts]
        if len(parts) > 1:
            order = sorted(range(len(values)), key=values.__getitem__)
            values, counts = [values[i] for i in order], [np.concatenate(counts)[order]]
        for texts, count in self._texts:
            by_text = texts.order()
            values += texts.take(by_text).to_list()
            counts.append(count[by_text])
        return values, np.concatenate([np.empty(0, dtype=np.int64), *counts])

    @property
    def counts(self) -> dict[Any, int] | None:
        """How often each level occurs; None where they are many."""
        found = self.levels()
        return None if found is None else dict(zip(found[0], found[1].tolist(), strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LevelSummary) and all(
            getattr(self, name) == getattr(other, name) for name in ("most", "missing", "counts")
        )

    def __getstate__(self) -> dict[str, Any]:
        self._join()
        return own_attributes(self)

    def _take(self, values: Any, weights: RowCounts | None) -> None:
        """Take in an Arrow array, each value as often as its weight says, or once."""
        values = values.cast(pa.large_string()) if is_view(values.type) else values
        if values.null_count:
            there = np.asarray(np.from_dlpack(values.is_valid().cast(pa.uint8()))).astype(bool)
            self.missing += int(np.sum(~there) if weights is None else weights[~there].sum())
            values, weights = values.drop_null(), None if weights is None else weights[there]
        kind = values.type
        if pa.types.is_boolean(kind):
            self._take_numbers(np.asarray(np.from_dlpack(values.cast(pa.uint8()))).astype(bool), weights)
        elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
            self._take_numbers(np.asarray(np.from_dlpack(values)), weights)
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            self._take_texts(Texts.of_column(values), weights)
        elif len(values):
            if weights is None:
                found = values.value_counts()
                values, weights = found.field("values"), np.asarray(np.from_dlpack(found.field("counts")))
            self._take_others(values.to_pylist(), weights)

    def _take_others(self, values: list[Any], weights: RowCounts) -> None:
        """Take in values that are neither texts nor numbers, each as it is written."""
        there = np.array([not is_missing(value) for value in values])  # a decimal may be NaN
        self.missing += int(weights[~there].sum())
        self._take_texts(Texts.of(str(plain_level(value)) for value in values if not is_missing(value)), weights[there])

    def _take_texts(self, texts: Texts, weights: RowCounts | None) -> None:
        if not self._many and len(texts.offsets) > 1:
            found, counts, _ = texts.distinct(weights)
            self._keep(self._texts, found, counts)

    def _take_numbers(self, values: NDArray[Any], weights: RowCounts | None) -> None:
        if values.dtype.kind == "f":
            there = ~np.isnan(values)
            self.missing += int(np.sum(~there) if weights is None else weights[~there].sum())
            values = values.astype(np.float64)[there]
            weights = None if weights is None else weights[there]
        if self._many or not len(values):
            return
        found, counts = _counted(values, weights)
        for kind, own in _kinds(found):
            if own.any():
                kept = found[own].astype(np.int64) if kind == "i" else found[own]
                self._keep(self._numbers.setdefault(kind, []), kept, counts[own])

    def _keep(self, parts: list[tuple[Any, RowCounts]], values: Any, counts: RowCounts) -> None:
        """Keep different values and their counts beside others; join equal ones now and then."""
        if self._many:
            return
        parts.append((values, counts))
        self._size += counts.nbytes + _bytes(values)
        if len(counts) > self.most or self._size > max(WAITING, 3 * self._joined):
            self._join()

    def _join(self) -> None:
        """Join equal values; forget all where there are too many."""
        for parts in self._numbers.values():
            if len(parts) > 1:
                values = np.concatenate([values for values, _ in parts])
                parts[:] = [_counted(values, np.concatenate([counts for _, counts in parts]))]
        if len(self._texts) > 1:
            weights = np.concatenate([counts for _, counts in self._texts])
            found, counts, _ = Texts.joined([texts for texts, _ in self._texts]).distinct(weights)
            self._texts[:] = [(found, counts)]
        numbers = [part for parts in self._numbers.values() for part in parts]
        every: list[tuple[Any, RowCounts]] = [*self._texts, *numbers]
        long = sum(len(texts.data) for texts, _ in self._texts) > LONGEST_KEPT
        if self._many or long or sum(len(counts) for _, counts in every) > self.most:
            self._many, every = True, []
            self._texts, self._numbers = [], {}
        self._size = self._joined = sum(counts.nbytes + _bytes(values) for values, counts in every)


@dataclass(eq=False)
class WordSummary(LevelSummary):
    """Of a column of texts: in how many of them each word occurs."""

    ngrams: int = 1

    def add(self, column: Any) -> None:
        """Take in an Arrow column."""
        texts = Texts.of_column(column)
        self.missing += 0 if texts.absent is None else int(np.count_nonzero(texts.absent))
        if self._many:
            return
        words, starts = texts.words(self.ngrams)
        found, _, codes = words.distinct()
        counts = np.zeros(len(found.offsets) - 1, dtype=np.int64)
        count_rows(counts, words.spread(codes), starts)
        used = np.flatnonzero(counts)  # others are of rows without a text
        if len(used):
            self._keep(self._texts, found.take(used), counts[used])


def _counted(values: NDArray[Any], weights: RowCounts | None) -> tuple[NDArray[Any], RowCounts]:
    """Return the different values, sorted, and the sum of the weights of each, or how often it is there."""
    if weights is None:
        found, counts = np.unique(values, return_counts=True)
        return found, counts.astype(np.int64)
    found, at = np.unique(values, return_inverse=True)
    return found, np.bincount(at, weights, len(found)).astype(np.int64)


def _kinds(numbers: NDArray[Any]) -> list[tuple[str, NDArray[np.bool_]]]:
    """Return which numbers are kept as int64, "i", and which as they are; 3.0 and 3 are one level."""
    kind = numbers.dtype.kind
    if kind == "f":
        whole = (np.abs(numbers) < 2.0**63) & (numbers == np.rint(numbers))
    else:
        whole = (numbers <= np.iinfo(np.int64).max) if kind == "u" else np.full(len(numbers), kind == "i")
    return [("i", whole), (kind, ~whole)]


def _bytes(values: Any) -> int:
    return int(values.data.nbytes + values.offsets.nbytes if isinstance(values, Texts) else values.nbytes)
