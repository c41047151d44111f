"""Sparse rows of a coding, put together from the parts of its terms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.coding.texts import Codes32, Starts, join_parts
from adaline.errors import InvalidData

MOST_COLUMNS = 2**30
# numbers that average levels may take in a block of rows; beyond, the rows are refused; doubling it takes twice the
# memory
AVERAGED = 2**25


class Entries(NamedTuple):
    """Columns of X that have one entry for a row, or codes[starts[i] : starts[i + 1]] for row i.

    codes : the columns of the entries, from zero, below it where there is no entry.
    values : those of the entries; None for ones.
    starts : (n + 1,), or None for one entry in each of n rows.
    which : (n,) the index of the entry of each row, where rows share entries; a part of a term on its own.
    """

    codes: Codes32
    values: Array | None = None
    starts: Starts | None = None
    which: Codes32 | None = None

    @classmethod
    def of_column(cls, column: Array, j: int) -> Entries:
        """Return a column of numbers, (n,), as column j; zeros are no entries."""
        return cls(np.where(column != 0, np.int32(j), np.int32(-1)), np.ascontiguousarray(column, dtype=np.float64))

    def with_average(self, which: NDArray[np.bool_], average: Array) -> Entries:
        """Return a part of one entry a row in which some rows have all the numbers of an average, (m,), instead."""
        counts = np.where(which, len(average), 1)
        starts = np.concatenate([[0], np.cumsum(counts)])
        codes, values = np.repeat(self.codes, counts), np.ones(starts[-1])
        inside = np.repeat(which, counts)
        codes[inside] = np.tile(np.arange(len(average), dtype=np.int32), int(which.sum()))
        values[inside] = np.tile(average, int(which.sum()))
        return Entries(codes, values, starts)

    def rows(self) -> NDArray[Any]:
        """Return the row of each entry."""
        return (
            np.arange(len(self.codes))
            if self.starts is None
            else np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        )


FactorEntries = tuple[list[Entries], int]
"""The parts of a factor, and the number of its columns."""


def product_of(left: FactorEntries, right: FactorEntries) -> FactorEntries:
    """Return the parts of a product of two factors; the columns of the first vary slowest."""
    return [_product(one, other, right[1]) for one in left[0] for other in right[0]], left[1] * right[1]


def _product(left: Entries, right: Entries, width: int) -> Entries:
    starts = left.starts if right.starts is None else right.starts
    of_left: Any = slice(None)  # which entry of each side makes one of the product
    of_right: Any = slice(None)
    if left.starts is not None and right.starts is not None:
        starts, of_left, of_right = _each_with_each(left.starts, right.starts)
    elif left.starts is not None:
        of_right = left.rows()
    elif right.starts is not None:
        of_left = right.rows()
    a, b = left.codes[of_left], right.codes[of_right]
    codes = np.where((a < 0) | (b < 0), np.int32(-1), a * np.int32(width) + b)
    values = None
    for part, of in ((left, of_left), (right, of_right)):
        if part.values is not None:
            values = part.values[of] if values is None else values * part.values[of]
    return Entries(codes, values, starts)


def _each_with_each(left: Starts, right: Starts) -> tuple[Starts, NDArray[Any], NDArray[Any]]:
    """Return where the pairs of entries of each row begin, (n + 1,), and the left and the right entry of each pair."""
    across = np.diff(right)
    counts = np.diff(left) * across
    starts = np.concatenate([[0], np.cumsum(counts)])
    if starts[-1] > AVERAGED:
        raise InvalidData(
            f"a product with average levels takes {starts[-1]:,} numbers in {len(counts):,} rows, "
            "too many for one block: leave out rows of missing or new levels, or hash one of the columns (hashed=)"
        )
    rows = np.repeat(np.arange(len(counts)), counts)
    above, beside = np.divmod(np.arange(starts[-1]) - starts[rows], across[rows])
    return starts, left[rows] + above, right[rows] + beside


def put_levels(out: Array, codes: NDArray[Any], base: int) -> None:
    """Write 1 into the columns (M, n) of the levels that rows have, (n,), but for those of the reference, `base`.

    The columns of the levels beyond the reference come one place earlier.
    """
    at = np.flatnonzero(codes != base if base else codes)
    own = codes[at]
    out[own - (own > base) if base else own - 1, at] = 1.0


def as_csr(rows: int, terms: list[tuple[int, list[Entries]]]) -> Any:
    """Return the rows of terms, each its number of columns and its parts, side by side, in CSR with sorted columns."""
    import scipy

    columns = sum(width for width, _ in terms)
    check_columns(columns)
    placed: list[tuple[int, Entries]] = []
    base = 0
    for width, parts in terms:
        placed += [(base, part) for part in parts]
        base += width
    size = sum(len(part.codes if part.which is None else part.which) for _, part in placed)
    if size >= 2**31:
        raise InvalidData(f"{rows:,} rows have {size:,} entries, too many for one block: the texts are too long")
    indptr, indices, data = np.empty(rows + 1, dtype=np.int32), np.empty(size, dtype=np.int32), np.empty(size)
    used = join_parts(
        indptr,
        indices,
        data,
        [part.starts for _, part in placed],
        [part.which for _, part in placed],
        [np.ascontiguousarray(part.codes, dtype=np.int32) for _, part in placed],
        [part.values for _, part in placed],
        [base for base, _ in placed],
        columns,
    )
    out = scipy.sparse.csr_array((data[:used], indices[:used], indptr), shape=(rows, columns), copy=False)
    if all(part.starts is None for _, part in placed):
        out.has_canonical_format = True  # known without a look at the entries
    elif any(len(parts) > 1 and any(part.starts is not None for part in parts) for _, parts in terms):
        out.sort_indices()  # the columns of a part that has several entries a row lie between those of the next part
    return out


def check_columns(columns: int) -> None:
    """Refuse more columns than sparse rows may have."""
    if columns > MOST_COLUMNS:
        raise InvalidData(
            f"the table would be coded by {columns:,} columns, of which there are {MOST_COLUMNS:,} at most: name the "
            "columns with the most levels in hashed="
        )
