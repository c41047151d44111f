"""Layouts of the same rows in memory: element types, strides, separate columns, CSR."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from adaline.arrays import Array
from adaline.block import Columns


def lay(x: Array, layout: str) -> Any:
    """Return the rows of x in memory as the layout says."""
    match layout:
        case "float64":
            return x
        case "float32":
            return x.astype(np.float32)
        case "columns":
            return np.asfortranarray(x)
        case "strided":
            wide = np.full((2 * x.shape[0], 3 * x.shape[1]), np.nan, dtype=np.float32)
            wide[::2, ::3] = x
            return wide[::2, ::3]
        case "table":
            return Columns(np.ascontiguousarray(column) for column in x.T)
        case "csr":
            return sparse.csr_array(x)
        case "csr32":
            return sparse.csr_matrix(x.astype(np.float32))
    raise ValueError(layout)
