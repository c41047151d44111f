"""Texts by their bytes: 64-bit hashes, different ones, their order, indices among known texts, and words.

Texts are bytes of UTF-8 and offsets, straight from Arrow's buffers, so that there is no Python object for a row. Values
that are not texts are taken as Python writes them: whole numbers in decimal digits (3.0 as "3"), other numbers by their
shortest form, True and False, dates as in "2024-12-31". Texts that differ in case, in blanks or in their Unicode normal
form are different: bytes are compared.

The hash of a text is XXH64 (Y. Collet) of its bytes, with the XXH64 of the column's name as its seed; that of a product
is the XXH64 of the hashes of its factors, 8 bytes each, the first byte the least. Neither will change, as models depend
on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array
from adaline.kernels import native
from adaline.lazy import pa

Bytes = NDArray[np.uint8]
Offsets = NDArray[Any]
Hashes = NDArray[np.uint64]
Codes32 = NDArray[np.int32]
Starts = NDArray[np.int64]

ABSENT, UNKNOWN = -1, -2  # codes of a missing value, and of one that is not among the known ones
LONG = 2**31 - 1  # bytes of texts that offsets of 32 bits reach
WORD = re.compile(r"\w\w+")
NO_WORD = re.compile(r"\W+")

_MASK = 2**64 - 1
_PRIMES = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


@dataclass(frozen=True)
class Texts:
    """Texts as bytes (UTF-8) and offsets, (m + 1,).

    Where many are equal, `indices` (n,) has the text of each row; `absent` (n,) says which rows have none, or is None.
    """

    data: Bytes
    offsets: Offsets
    indices: NDArray[Any] | None = None
    absent: NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, values: Iterable[str]) -> Texts:
        """Return Python texts as bytes and offsets."""
        values = list(values)
        whole = "".join(values)
        each: list[Any] = values
        data = whole.encode("utf-8", "surrogatepass")
        if not whole.isascii():
            each = [value.encode("utf-8", "surrogatepass") for value in values]
        sizes = np.fromiter(map(len, each), dtype=np.int64, count=len(each))
        return cls(np.frombuffer(data, dtype=np.uint8), np.concatenate([[0], np.cumsum(sizes)]))

    @classmethod
    def joined(cls, parts: Sequence[Texts]) -> Texts:
        """Return the texts (m,) of several, one after the other."""
        if len(parts) == 1:
            return parts[0]
        sizes = np.concatenate([np.diff(part.offsets) for part in parts])
        data = np.concatenate([part._own_bytes() for part in parts])
        return cls(data, np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]))

    @classmethod
    def of_column(cls, column: Any) -> Texts:
        """Return the texts of an Arrow column, and of its other values as they are written."""
        column = joinable(column)
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        absent = _absent(array)
        if pa.types.is_dictionary(array.type):
            long = 2 * len(array.dictionary) > len(array)  # as of a slice of many rows
            if long and not _is_string(array.type.value_type):
                array = array.dictionary_decode()
        if not pa.types.is_dictionary(array.type):
            array = _as_integers(array)
            if pa.types.is_integer(array.type):
                array = array.cast(pa.string())
            elif not _is_string(array.type):
                array = array.cast(pa.large_string()) if is_view(array.type) else array.dictionary_encode()
        if not pa.types.is_dictionary(array.type):
            return cls(*_buffers(array), None, absent)
        indices, values = array.indices, array.dictionary
        if indices.null_count:
            indices = indices.fill_null(0)
        if not _is_string(values.type):
            values = pa.array([written(value) for value in values.to_pylist()] or [""], pa.large_string())
        data, offsets = _buffers(values if len(values) else pa.array([""]))
        if 2 * len(values) > len(array):
            return replace(cls(data, offsets).take(_whole_numbers(indices)), absent=absent)
        return cls(data, offsets, _whole_numbers(indices), absent)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.offsets) - 1 if self.indices is None else len(self.indices)

    def spread(self, found: NDArray[Any]) -> NDArray[Any]:
        """Return values of the texts (m,) as those of the rows, (n,)."""
        return found if self.indices is None else found[self.indices]

    def hashes(self, seed: int) -> Hashes:
        """Return the hash of the text of each row, (n,)."""
        return self.spread(self._hashes(seed))

    def buckets(self, seed: int, width: int) -> tuple[Codes32, Array]:
        """Return the bucket of each text, (m,), and its sign."""
        return signed_buckets(self._hashes(seed), width)

    def _hashes(self, seed: int) -> Hashes:
        out = np.empty(len(self.offsets) - 1, dtype=np.uint64)
        hash_texts(out, self.data, self.offsets, seed)
        return out

    def to_list(self) -> list[str]:
        """Return the texts, (m,)."""
        out: list[str] = list_texts(self.data, self.offsets)
        return out

    def take(self, which: NDArray[Any]) -> Texts:
        """Return some of the texts (m,), by their indices."""
        return Texts(*take_texts(self.data, self.offsets, np.ascontiguousarray(which, dtype=np.int64)))

    def order(self) -> NDArray[np.int64]:
        """Return the indices that sort the texts (m,) by their code points; equal ones stay in their order."""
        out = np.empty(len(self.offsets) - 1, dtype=np.int64)
        order_texts(out, self.data, self.offsets)
        return out

    def distinct(self, weights: NDArray[np.int64] | None = None) -> tuple[Texts, NDArray[np.int64], Codes32]:
        """Return the different texts, the sum of the weights of each, or how often it is there, and codes (m,)."""
        codes = np.empty(len(self.offsets) - 1, dtype=np.int32)
        firsts, counts = distinct_texts(codes, self.data, self.offsets, weights)
        return self.take(firsts), counts, codes

    def _own_bytes(self) -> Bytes:
        """Return the bytes of these texts alone, where they are some of those of a buffer."""
        return self.data[self.offsets[0] : self.offsets[-1]]

    def words(self, longest: int) -> tuple[Texts, Starts]:
        r"""Return the words of the text of each row, and up to `longest` neighbours; and where those of a row begin.

        Words are what the pattern \w\w+ finds in the text in lower case: two or more letters, digits or underscores
        of any alphabet.
        """
        plain = self._in_ascii()
        data, offsets, starts = words(plain.data, plain.offsets, longest)
        if self.indices is None and self.absent is None:
            return Texts(data, offsets), starts
        rows = np.arange(self.rows) if self.indices is None else self.indices
        counts = np.diff(starts)[rows] if self.absent is None else np.where(self.absent, 0, np.diff(starts)[rows])
        ends = np.concatenate([[0], np.cumsum(counts)])
        which = np.arange(ends[-1]) + np.repeat(starts[:-1][rows] - ends[:-1], counts)
        return Texts(data, offsets, which), ends

    def _in_ascii(self) -> Texts:
        """Return the texts such that bytes of other alphabets are letters, in lower case, as the kernel takes them."""
        own = self._own_bytes()
        if not len(own) or own.max() < 128:
            return self
        at = np.flatnonzero(own >= 128) + self.offsets[0]
        which = np.unique(np.searchsorted(self.offsets, at, side="right") - 1)
        lowered = Texts.of(NO_WORD.sub(" ", one.lower()) for one in self.take(which).to_list())
        indices = np.arange(len(self.offsets) - 1)
        indices[which] = len(indices) + np.arange(len(which))
        return Texts.joined([self, lowered]).take(indices)


@dataclass(frozen=True)
class TextIndex:
    """Known texts, and a table that finds them: the first half of a hash and 1 + an index, at the hash's last bits."""

    known: Texts
    table: Hashes

    @classmethod
    def of(cls, values: Sequence[str]) -> TextIndex:
        """Return the index of different texts."""
        known, table = Texts.of(values), _empty_table(len(values))
        if known.offsets[-1] < 2**31:  # half the memory to look at
            known = Texts(known.data, known.offsets.astype(np.int32))
        index_texts(table, known.data, known.offsets)
        return cls(known, table)

    def find(self, texts: Texts) -> Codes32:
        """Return the index of the text of each row, (n,), UNKNOWN where it is not known."""
        codes = np.empty(len(texts.offsets) - 1, dtype=np.int32)
        find_texts(codes, texts.data, texts.offsets, self.known.data, self.known.offsets, self.table)
        return texts.spread(codes)


@dataclass(frozen=True)
class NumberIndex:
    """Known numbers, and a table that finds them, as that of a `TextIndex`."""

    known: Array
    table: Hashes

    @classmethod
    def of(cls, values: Sequence[float]) -> NumberIndex:
        """Return the index of numbers; of equal ones the first is found."""
        known, table = np.array(values, dtype=np.float64), _empty_table(len(values))
        index_numbers(table, known)
        return cls(known, table)

    def find(self, values: Array) -> Codes32:
        """Return the index of each number, (n,), UNKNOWN where it is not known, ABSENT where it is NaN."""
        codes = np.empty(len(values), dtype=np.int32)
        find_numbers(codes, np.ascontiguousarray(values), self.known, self.table)
        return codes


def _empty_table(keys: int) -> Hashes:
    return np.empty(2 << max(keys, 1).bit_length(), dtype=np.uint64)


def written(value: Any) -> str:
    """Return a value as text: whole numbers in decimal digits, others as Python writes them."""
    if isinstance(value, Decimal):
        value = int(value) if value == int(value) else float(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else value if isinstance(value, str) else str(value)


def seed_of(name: str) -> int:
    """Return the hash of the name of a column, the seed of the hashes of its texts."""
    return xxh64(name.encode("utf-8", "surrogatepass"), 0)


def signed_buckets(hashes: Hashes, width: int) -> tuple[Codes32, Array]:
    """Return the bucket of each hash, its last bits, and 1 or -1 by its first one."""
    codes, signs = np.empty(len(hashes), dtype=np.int32), np.empty(len(hashes))
    buckets(codes, signs, hashes, width)
    return codes, signs


def joined_hashes(each: Sequence[Hashes]) -> Hashes:
    """Return the hashes of products, (n,), from those of their factors."""

    def pair(first: Hashes, second: Hashes) -> Hashes:
        out = np.empty_like(first)
        hash_pairs(out, np.ascontiguousarray(first), np.ascontiguousarray(second))
        return out

    return reduce(pair, each)


def expected_collisions(distinct: int, width: int) -> float:
    """Return how many of so many different texts are expected to share a bucket with another one."""
    return float(distinct * -np.expm1((max(distinct, 1) - 1) * np.log1p(-1 / width))) if width > 1 else float(distinct)


def joinable(column: Any) -> Any:
    """Return an Arrow column whose chunks Arrow can join and encode, and whose missing values it counts.

    It neither joins nor counts those that dictionaries hold, it does not join texts that are too long for their
    offsets, and does not encode runs and the types of extensions, such as UUID. Times are those of a table: of UTC,
    to the microsecond.
    """
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us", None if column.type.tz is None else "UTC"), safe=False)
    if pa.types.is_run_end_encoded(column.type) or isinstance(column.type, pa.BaseExtensionType):
        return pa.array([None if value is None else written(value) for value in column.to_pylist()], pa.large_string())
    if pa.types.is_dictionary(column.type):
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        gaps = any(_absent(one.dictionary) is not None for one in chunks)
        return column.cast(column.type.value_type) if gaps else column
    return column.cast(pa.large_string()) if pa.types.is_string(column.type) and column.nbytes > LONG else column


def _absent(array: AnyArray) -> NDArray[np.bool_] | None:
    """Return which values of an Arrow array are NULL or NaN; None where none is."""
    if not array.null_count and not pa.types.is_floating(array.type):
        return None
    found = np.asarray(np.from_dlpack(pa.compute.is_null(array, nan_is_null=True).cast(pa.uint8()))).astype(bool)
    return found if found.any() else None


def _as_integers(array: AnyArray) -> Any:
    """Return an Arrow array of floats as whole numbers, where all that are present are; others as they are."""
    if not (pa.types.is_float32(array.type) or pa.types.is_float64(array.type)):
        return array
    present = pa.compute.if_else(pa.compute.is_nan(array), pa.scalar(None, array.type), array)
    low, high = (bound or 0.0 for bound in pa.compute.min_max(present).as_py().values())
    if not -(2.0**63) <= low <= high < 2.0**63:
        return array
    whole = present.cast(pa.int64(), safe=False)
    return array if pa.compute.any(pa.compute.not_equal(whole.cast(array.type, safe=False), present)).as_py() else whole


def _is_string(kind: Any) -> bool:
    return str(kind) in ("string", "large_string")


def is_view(kind: Any) -> bool:
    """Whether an Arrow type is that of texts as views, which few of its functions take."""
    return str(kind) == "string_view"


def _buffers(array: AnyArray) -> tuple[Bytes, Offsets]:
    """Return the bytes and offsets of an Arrow array of texts, without a copy."""
    _, offsets, data = array.buffers()
    wide = str(array.type) == "large_string"
    if offsets is None:
        return np.empty(0, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    ends = np.frombuffer(offsets, dtype=np.int64 if wide else np.int32)[array.offset : array.offset + len(array) + 1]
    return (np.empty(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)), ends


def _whole_numbers(array: AnyArray) -> NDArray[Any]:
    return np.asarray(np.from_dlpack(array))  # Arrow's own to_numpy imports pandas


def xxh64(data: bytes, seed: int) -> int:
    """Return XXH64 of some bytes.

    Examples
    --------
    >>> from adaline.coding.texts import xxh64
    >>> f"{xxh64(b'', 0):016x}", f"{xxh64(b'abc', 0):016x}"
    ('ef46db3751d8e999', '44bc2cf5ad770999')
    """
    one, two, three, four, five = _PRIMES
    size, at, out = len(data), 0, seed + five

    def number(bytes_: int) -> int:
        return int.from_bytes(data[at : at + bytes_], "little")

    if size >= 32:
        lanes = [seed + one + two, seed + two, seed, seed - one]
        while size - at >= 32:
            for k in range(4):
                lanes[k] = _round(lanes[k], number(8))
                at += 8
        out = sum(_rotated(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True))
        for lane in lanes:
            out = (out & _MASK ^ _round(0, lane)) * one + four
    out += size
    while size - at >= 8:
        out = _rotated(out & _MASK ^ _round(0, number(8)), 27) * one + four
        at += 8
    if size - at >= 4:
        out = _rotated(out & _MASK ^ (number(4) * one & _MASK), 23) * two + three
        at += 4
    for byte in data[at:]:
        out = _rotated(out & _MASK ^ (byte * five & _MASK), 11) * one
    out &= _MASK
    out = (out ^ out >> 33) * two & _MASK
    out = (out ^ out >> 29) * three & _MASK
    return out ^ out >> 32


def _rotated(x: int, bits: int) -> int:
    x &= _MASK
    return (x << bits | x >> (64 - bits)) & _MASK


def _round(lane: int, data: int) -> int:
    return _rotated(lane + data * _PRIMES[1], 31) * _PRIMES[0] & _MASK


def _each(data: Bytes, offsets: Offsets) -> list[bytes]:
    raw, ends = data.tobytes(), offsets.tolist()
    return [raw[a:b] for a, b in pairwise(ends)]


def hash_texts_reference(out: Hashes, data: Bytes, offsets: Offsets, seed: int) -> None:
    """Write the XXH64 of each text, with a seed, to `out` (m,)."""
    out[:] = [xxh64(one, seed) for one in _each(data, offsets)]


def hash_pairs_reference(out: Hashes, first: Hashes, second: Hashes) -> None:
    """Write the XXH64 of the 16 bytes of two hashes each to `out` (n,)."""
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    out[:] = [xxh64(a.to_bytes(8, "little") + b.to_bytes(8, "little"), 0) for a, b in pairs]


def buckets_reference(codes: Codes32, signs: Array, hashes: Hashes, width: int) -> None:
    """Write the last bits of hashes to `codes`, 1 or -1 by the first bit to `signs`; the width is a power of two."""
    codes[:] = hashes & np.uint64(width - 1)
    signs[:] = np.where(hashes >> np.uint64(63), -1.0, 1.0)


def index_texts_reference(table: Hashes, data: Bytes, offsets: Offsets) -> None:
    """Fill the table of known texts, the first of equal ones."""
    _index(table, _each(data, offsets))


def index_numbers_reference(table: Hashes, known: Array) -> None:
    """Fill the table of known numbers, the first of equal ones."""
    _index(table, _each_number(known))


def _each_number(values: Array) -> list[bytes]:
    return [one.tobytes() for one in (values + 0.0).astype("<f8")]  # of which -0 is 0


def _index(table: Hashes, known: list[bytes]) -> None:
    size, met = len(table), set[bytes]()
    table[:] = 0
    for i, one in enumerate(known):
        found = xxh64(one, 0)
        at = found % size
        while table[at] and one not in met:
            at = (at + 1) % size
        if one not in met:
            table[at] = found >> 32 << 32 | i + 1
        met.add(one)


def find_texts_reference(
    codes: Codes32, data: Bytes, offsets: Offsets, known_data: Bytes, known_offsets: Offsets, table: Hashes
) -> None:
    """Write the index of each text among the known ones to `codes` (m,), UNKNOWN where it is not among them."""
    codes[:] = _find(_each(data, offsets), _each(known_data, known_offsets))


def find_numbers_reference(codes: Codes32, values: Array, known: Array, table: Hashes) -> None:
    """Write the index of each number among the known ones to `codes` (n,), UNKNOWN for others, ABSENT for NaN."""
    found = _find(_each_number(values), _each_number(known))
    codes[:] = np.where(np.isnan(values), ABSENT, found)


def _find(keys: list[bytes], known: list[bytes]) -> list[int]:
    index: dict[bytes, int] = {}
    for i, one in enumerate(known):
        index.setdefault(one, i)
    return [index.get(one, UNKNOWN) for one in keys]


def distinct_texts_reference(
    codes: Codes32, data: Bytes, offsets: Offsets, weights: Starts | None
) -> tuple[Starts, Starts]:
    """Return where each different text is first, and the sum of its weights, or how often it is there; write codes."""
    each = _each(data, offsets)
    index = {one: k for k, one in enumerate(dict.fromkeys(each))}
    codes[:] = [index[one] for one in each]
    counts, firsts = np.zeros((2, len(index)), dtype=np.int64)
    np.add.at(counts, codes, 1 if weights is None else weights)
    firsts[codes[::-1]] = np.arange(len(each))[::-1]
    return firsts, counts


def order_texts_reference(order: Starts, data: Bytes, offsets: Offsets) -> None:
    """Write the indices that sort texts by their bytes to `order` (m,); equal ones stay in their order."""
    each = _each(data, offsets)
    order[:] = sorted(range(len(each)), key=each.__getitem__)


def take_texts_reference(data: Bytes, offsets: Offsets, which: Starts) -> tuple[Bytes, Starts]:
    """Return some of the texts, by their indices, as bytes and offsets."""
    each = _each(data, offsets)
    taken = [each[i] for i in which.tolist()]
    ends = np.cumsum([0, *map(len, taken)], dtype=np.int64)
    return np.frombuffer(b"".join(taken), dtype=np.uint8), ends


def list_texts_reference(data: Bytes, offsets: Offsets) -> list[str]:
    """Return texts as Python has them: lone surrogates are kept, what is no UTF-8 is replaced."""
    return [_decoded(one) for one in _each(data, offsets)]


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace")


def count_rows_reference(counts: Starts, codes: Codes32, starts: Starts) -> None:
    """Add to `counts` (m,) in how many rows, of entries codes[starts[i] : starts[i + 1]], each code is."""
    for begin, end in pairwise(starts.tolist()):
        counts[np.unique(codes[begin:end])] += 1


def words_reference(data: Bytes, offsets: Offsets, longest: int) -> tuple[Bytes, Starts, Starts]:
    """Return the words of texts, and up to `longest` neighbours joined by blanks, and where those of a text begin."""
    out: list[str] = []
    starts = [0]
    for one in _each(data, offsets):
        found = WORD.findall(one.decode("utf-8").lower())
        out += found
        for length in range(2, longest + 1):
            out += [" ".join(found[k : k + length]) for k in range(len(found) - length + 1)]
        starts.append(len(out))
    texts = Texts.of(out)
    return texts.data, np.asarray(texts.offsets), np.array(starts, dtype=np.int64)


def join_entries_reference(starts: Starts, codes: Codes32, values: Array) -> int:
    """Sort the entries of each row by code, add those of equal codes, leave out negative ones; return how many stay."""
    ends, out = starts.tolist(), 0
    for i, (begin, end) in enumerate(pairwise(ends)):
        row: dict[int, float] = {}
        for code, value in zip(codes[begin:end].tolist(), values[begin:end].tolist(), strict=True):
            if code >= 0:
                row[code] = row[code] + value if code in row else value
        stop = out + len(row)
        codes[out:stop], values[out:stop] = sorted(row), [row[code] for code in sorted(row)]
        starts[i + 1] = out = stop
    return out


def join_parts_reference(
    indptr: Codes32,
    indices: Codes32,
    data: Array,
    starts: Sequence[Starts | None],
    which: Sequence[Codes32 | None],
    codes: Sequence[Codes32],
    values: Sequence[Array | None],
    bases: Sequence[int],
    columns: int,
) -> int:
    """Write rows in CSR from parts side by side, each with a code for a row or several; return how many entries.

    Of a part whose rows share codes, `which` has the index of the code of each row.
    """
    rows, entries = len(indptr) - 1, []
    for part, (begin, at, one, value, base) in enumerate(zip(starts, which, codes, values, bases, strict=True)):
        row = np.arange(rows) if begin is None else np.repeat(np.arange(rows), np.diff(begin))
        worth = np.ones(len(one)) if value is None else value
        one, worth = (one, worth) if at is None else (one[at], worth[at])
        kept = one >= 0
        entries.append((row[kept], np.full(kept.sum(), part), one[kept] + base, worth[kept]))
    of, parts, columns_of, worths = (np.concatenate(each) for each in zip(*entries, strict=True))
    order = np.lexsort((parts, of))
    count = len(order)
    indices[:count], data[:count] = columns_of[order], worths[order]
    indptr[:] = np.searchsorted(of[order], np.arange(rows + 1))
    return count


REFERENCES: dict[str, Callable[..., Any]] = {
    "hash_texts": hash_texts_reference,
    "hash_pairs": hash_pairs_reference,
    "buckets": buckets_reference,
    "index_texts": index_texts_reference,
    "find_texts": find_texts_reference,
    "index_numbers": index_numbers_reference,
    "find_numbers": find_numbers_reference,
    "distinct_texts": distinct_texts_reference,
    "order_texts": order_texts_reference,
    "take_texts": take_texts_reference,
    "list_texts": list_texts_reference,
    "words": words_reference,
    "count_rows": count_rows_reference,
    "join_entries": join_entries_reference,
    "join_parts": join_parts_reference,
}
"""The kernels of native/text_module.cpp, by name."""

(
    hash_texts,
    hash_pairs,
    buckets,
    index_texts,
    find_texts,
    index_numbers,
    find_numbers,
    distinct_texts,
    order_texts,
    take_texts,
    list_texts,
    words,
    count_rows,
    join_entries,
    join_parts,
) = (getattr(native, name, reference) for name, reference in REFERENCES.items())
