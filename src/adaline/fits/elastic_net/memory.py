"""What of the rows fits into memory: products of all columns, and copies of the rows."""

from __future__ import annotations

from adaline.sources import Source
from adaline.sources.base import InMemory

WIDEST_DENSE = 512  # columns whose products are all formed, of dense rows in memory; 4 times the time where doubled
WIDEST = 1500  # the same of other rows, which would be read again for products; twice as many take 4 times the memory
COPIED = 2**31  # bytes of rows that are copied, fold by fold; twice as many take twice the memory


def products_fit(source: Source) -> bool:
    """Return whether the second moments of all columns are formed."""
    dense = isinstance(source, InMemory) and not source.sparse
    return source.shape.features <= (WIDEST_DENSE if dense else WIDEST)


def copy_fits(source: InMemory) -> bool:
    """Return whether rows in memory may be copied."""
    return 8 * source.n_rows * source.shape.features * source.density <= COPIED


def dense_copy_fits(source: Source) -> bool:
    """Return whether rows may be copied as dense numbers, with a constant."""
    return not source.streamed and 8 * source.n_rows * (1 + source.shape.features) <= COPIED
