"""Whether the products of all columns, or copies of the rows, fit into memory."""

from __future__ import annotations

from adaline.sources import Source
from adaline.sources.base import InMemory

# columns of dense rows in memory up to which all their products are formed; doubling it takes up to four times as long
MOST_DENSE_COLUMNS = 512
# the same of other rows, which would have to be read again; doubling it takes up to four times the memory
MOST_PRODUCT_COLUMNS = 1500
MOST_COPIED_BYTES = 2**31  # size of rows that are copied fold by fold; doubling it takes up to twice the memory


def products_fit(source: Source) -> bool:
    """Return whether the second moments of all columns are formed."""
    dense = isinstance(source, InMemory) and not source.sparse
    return source.shape.features <= (MOST_DENSE_COLUMNS if dense else MOST_PRODUCT_COLUMNS)


def copy_fits(source: InMemory) -> bool:
    """Return whether rows in memory may be copied."""
    return 8 * source.n_rows * source.shape.features * source.density <= MOST_COPIED_BYTES


def dense_copy_fits(source: Source) -> bool:
    """Return whether rows may be copied as dense numbers, with a constant."""
    return not source.streamed and 8 * source.n_rows * (1 + source.shape.features) <= MOST_COPIED_BYTES
