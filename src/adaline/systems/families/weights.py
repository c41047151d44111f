"""The weights of linear systems: theta (K, 1 + D), intercept first, as `coef_` and `intercept_`, and their outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.arrays import Array, host, is_device, namespace, to_device_of


def split_theta(theta: Array, flat: bool, like: Any) -> tuple[Array, Any]:
    """Return `coef_` and `intercept_` of theta (K, 1 + D), where the array `like` lies, on the host if it is None.

    They are (D,) and a number where `flat`, else (K, D) and (K,).
    """
    coef, intercept = (theta[0, 1:], float(theta[0, 0])) if flat else (theta[:, 1:].copy(), theta[:, 0].copy())
    return (coef, intercept) if like is None else (to_device_of(like, coef), to_device_of(like, intercept))


def theta_of(system: Any) -> Array:
    """Return the weights of a system as they stand, (K, 1 + D), so that edits to `coef_` are honoured."""
    coef = np.atleast_2d(host(system.coef_))
    return np.column_stack([np.broadcast_to(host(system.intercept_), (len(coef),)), coef])


def linear_outputs(x: Any, theta: Array) -> Any:
    """Return w.x + w0 of rows x (n, D), dense, sparse or on a device, (n, K), where the rows lie."""
    if is_device(x):
        xp = namespace(x)
        slopes, constant = to_device_of(x, theta[:, 1:].T.copy()), to_device_of(x, theta[:, 0])
        return xp.matmul(xp.astype(x, xp.float64, copy=False), slopes) + constant
    return np.asarray(x @ theta[:, 1:].T) + theta[:, 0]
