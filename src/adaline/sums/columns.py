"""The columns z = [x t] of a block, shifted and scaled, in the array-API namespace of its rows.

A column is scaled by 2^-e, which is exact; shift and exponents are those of a few pilot rows spread over the block, so
that no extra pass is needed. As the pilot rows belong to the block, the sum of squares about their mean is at most
rows/pilot rows times the one about the mean of the block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.arrays import AnyArray, Array, as_dense, host, namespace, to_device_of
from adaline.block import Block

# rows whose mean is the shift of a column; doubling it gives shifts closer to the mean of the block, for more time
PILOT_ROWS = 32
# largest ratio of magnitude to spread of a column that needs no shift; doubling it loses up to two bits
MILD_RATIO = 4.0


def pilot(block: Block, centred: bool) -> tuple[Array, Array, bool]:
    """Return shift (zero if not centred) and exponents of a dense block with some positive weight, both (D + K,), and
    whether its columns need neither: they lie within a few spreads of zero and far from overflow.
    """
    n = block.rows
    some = np.arange(PILOT_ROWS) * n // PILOT_ROWS if n > PILOT_ROWS else np.arange(n)
    share = np.ones(len(some))
    if block.weight is not None:
        share = host(_taken(block.weight, some))
        if not share.any():
            some = np.flatnonzero(host(block.weight))[:1]
            share = np.ones(1)
        some, share = some[share > 0], share[share > 0]
    rows = some if block.chosen is None else block.chosen[some]
    z = host(_taken(block.x, rows))
    if block.t.shape[1]:
        z = np.concatenate([z, host(_taken(block.t, some))], axis=1)
    share = share / share.sum()
    shift = z[0] + share @ (z - z[0]) if centred else np.zeros(z.shape[1])  # exact for a constant column
    spread, size = np.abs(z - shift).max(axis=0), np.abs(z).max(axis=0)
    exponent = exponents(spread, size)
    mild = (np.abs(exponent) < 300).all() and (size <= MILD_RATIO * spread).all()
    return shift, exponent, bool(mild)


def _taken(array: AnyArray, rows: Any) -> Any:
    """Return the rows of an array with these indices, where it lies."""
    return Block(array, array, chosen=rows).gathered().x


def largest_magnitudes(block: Block) -> Array:
    """Return the largest magnitude in each column [x t] of a dense block, (D + K,), among rows of positive weight.

    Numbers that are not finite count in rows of weight zero too.
    """
    found = []
    for rows in (block.gathered(), block.heavy()):
        xp = namespace(rows.x)
        parts = [xp.astype(rows.x, xp.float64), to_device_of(rows.x, rows.t)]
        if rows.rows == 0:  # no row has a weight
            found.append(np.zeros(sum(part.shape[1] for part in parts)))
            continue
        found.append(np.concatenate([host(xp.max(xp.abs(part), axis=0)) for part in parts if part.shape[1]]))
    return np.where(np.isfinite(found[0]), found[1], found[0])


def exponents(spread: Array, size: Array) -> Array:
    """Return the exponent of the power of two above the spread of each column, or above its size if it is constant."""
    magnitude = np.where(spread > 0, spread, size)
    return np.where(np.isfinite(magnitude), np.frexp(magnitude)[1], 0).astype(np.float64)


def sparse_exponents(x: AnyArray, t: AnyArray) -> Array:
    """Return the exponents of the columns of CSR rows x and of targets t, (D + K,), from their largest magnitudes."""
    largest = np.zeros(x.shape[1], dtype=x.data.dtype)  # of another type, `at` takes 20 times as long
    with np.errstate(invalid="ignore"):
        np.maximum.at(largest, x.indices, np.abs(x.data))
    magnitude = np.concatenate([largest, np.abs(t).max(axis=0, initial=0.0)])
    return exponents(magnitude, magnitude)


def weighted_columns(block: Block, shift: Array, exponent: Array) -> tuple[Any, Any]:
    """Return sqrt(w) (z - shift) 2^-e, (n, q), and sqrt(w), (n, 1)."""
    x = as_dense(block.x)
    xp = namespace(x)
    z = xp.concat([xp.astype(x, xp.float64), to_device_of(x, block.t)], axis=1)
    z = times_power(z - to_device_of(z, shift), -exponent)
    root = xp.ones((block.rows, 1), dtype=xp.float64, device=x.device)
    if block.weight is not None:
        root = xp.reshape(xp.sqrt(to_device_of(x, block.weight)), (-1, 1))
        z = z * root
    return z, root


def times_power(array: AnyArray, exponent: Any) -> Any:
    """Return array 2^exponent, by two factors since one alone may overflow."""
    half = np.floor(np.asarray(exponent) / 2)
    return array * to_device_of(array, np.exp2(half)) * to_device_of(array, np.exp2(exponent - half))
