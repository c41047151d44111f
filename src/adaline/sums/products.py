"""The product [z 1]'[z 1] of one block, z = [x t], in the array-API namespace of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.block import Block
from adaline.namespaces import beside, host, namespace
from adaline.sums.columns import weighted_columns

Array = NDArray[np.float64]

BATCH_ROWS = 2**14


def shifted_product(block: Block, shift: Array, exponent: Array) -> Array:
    """Return the weighted [z 1]'[z 1], z = (x - shift, t - shift) scaled."""
    z, root = weighted_columns(block, shift, exponent)
    xp = namespace(z)
    z = xp.concat([z, root], axis=1)
    return host(xp.matmul(xp.matrix_transpose(z), z))


def plain_product(block: Block) -> Array:
    """Return [x t 1]'[x t 1] without a copy of x, for columns that need neither shift nor scale."""
    xp = namespace(block.x)
    x = xp.astype(block.x, xp.float64, copy=False)
    ones = xp.ones((block.rows, 1), dtype=xp.float64, device=x.device)
    rest = xp.concat([beside(x, block.t), ones], axis=1)
    cross = _product(x, rest)
    above = xp.concat([_product(x, x), cross], axis=1)
    below = xp.concat([xp.matrix_transpose(cross), _product(rest, rest)], axis=1)
    return host(xp.concat([above, below], axis=0))


def _product(a: Any, b: Any) -> Any:
    """Return a'b by batches of rows: faster than one product on a device, and more exact."""
    xp = namespace(a)
    height = max(BATCH_ROWS, 4 * a.shape[1])
    whole = a.shape[0] // height * height
    out = xp.matmul(xp.matrix_transpose(a[whole:, :]), b[whole:, :])
    if whole:
        stacks = [xp.reshape(part[:whole, :], (-1, height, part.shape[1])) for part in (a, b)]
        out = out + xp.sum(xp.matmul(xp.matrix_transpose(stacks[0]), stacks[1]), axis=0)
    return out


def sparse_product(block: Block, exponent: Array) -> Array:
    """Return the weighted [z 1]'[z 1] of sparse rows, z scaled and not shifted."""
    d = block.shape.features
    scale = np.exp2(-exponent)
    parts: list[Any] = [
        sparse.csr_array(block.x.astype(np.float64)) @ sparse.diags_array(scale[:d]),
        sparse.csr_array(block.t * scale[d:]),
        sparse.csr_array(np.ones((block.rows, 1))),
    ]
    z: Any = sparse.hstack(parts, format="csr")
    weighted = z if block.weight is None else sparse.diags_array(block.weight) @ z
    return np.asarray((z.T @ weighted).toarray())
