"""The outputs of a linear machine: z = w'x + w0.

Rows x are (n, D), dense, sparse or on a device. Weights are theta (K, 1 + D), intercept first, or w (K, D) and w0, a
number or (K,).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.arrays import AnyArray, Array, host, is_device, is_sparse, namespace, to_device_of


def linear_outputs(x: AnyArray, w: Array, w0: float | Array = 0.0) -> Any:
    """Return z, (n, K), where the rows lie."""
    w = host(w)
    if is_device(x):
        xp = namespace(x)
        rows = xp.astype(x, xp.float64, copy=False)
        return xp.matmul(rows, to_device_of(x, w.T.copy())) + to_device_of(x, host(w0))
    return np.asarray(x @ w.T) + host(w0)


def outputs(x: AnyArray, theta: Array) -> Array:
    """Return z, (n, K), on the host; infinity or NaN where it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return host(linear_outputs(x, theta[:, 1:], theta[:, 0]))


def outputs_by_machine(x: AnyArray, theta: Array) -> Array:
    """Return z of each machine side by side, (K, n), on the host."""
    if is_device(x) or is_sparse(x):
        return np.ascontiguousarray(outputs(x, theta).T)
    with np.errstate(over="ignore", invalid="ignore"):
        z = np.asarray(theta[:, 1:] @ x.T)
        z += theta[:, :1]
        return z
