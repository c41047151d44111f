"""The weights of linear systems: theta (K, 1 + D), intercept first, as `coef_` and `intercept_`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, host, is_device, namespace, to_device_of
from adaline.errors import AdalineWarning, warn
from adaline.fitted import AnySystem
from adaline.input.open import refuse_overflow
from adaline.solvers.least_squares.dependence import say_dependent
from adaline.solvers.least_squares.fit import Fit
from adaline.sums.outputs import linear_outputs


def split_theta(theta: Array, flat: bool, like: Any) -> tuple[Array, Any]:
    """Return `coef_` and `intercept_` of theta (K, 1 + D), where the array `like` lies, on the host if it is None.

    They are (D,) and a number where `flat`, else (K, D) and (K,).
    """
    coef, intercept = (theta[0, 1:], float(theta[0, 0])) if flat else (theta[:, 1:].copy(), theta[:, 0].copy())
    return (coef, intercept) if like is None else (to_device_of(like, coef), to_device_of(like, intercept))


def theta_of(system: AnySystem) -> Array:
    """Return the weights of a system as they stand, (K, 1 + D), so that edits to `coef_` are honoured."""
    coef, constant = np.atleast_2d(host(system.coef_)), np.atleast_1d(host(system.intercept_))
    machines = max(len(coef), len(constant))
    return np.column_stack([np.broadcast_to(constant, (machines,)), np.broadcast_to(coef, (machines, coef.shape[1]))])


def finite_outputs(x: AnyArray, coef: Array, constant: float | Array) -> Array:
    """Return w.x + w0 of finite rows, (n, K), where these lie; w.x must be finite, w0 of an absent class is not."""
    if is_device(x):
        values: Array = linear_outputs(x, coef)
        if not bool(namespace(values).all(namespace(values).isfinite(values))):
            refuse_overflow(host(values))
        values = values + to_device_of(values, host(constant))
        return values
    return refuse_overflow(host(linear_outputs(x, coef))) + host(constant)


class ColumnNotes(NamedTuple):
    """What a fit knows of its columns; None where it was solved without a factor and does not know.

    aliased : names of those that are constant or depend on columns before them; dependencies : how, as text.
    estimable : (D,) whether the rows identify a coefficient; constant : names of constant columns.
    """

    aliased: NDArray[np.object_] | None
    dependencies: list[str] | None
    estimable: NDArray[np.bool_] | None
    constant: Sequence[str] = ()


def column_notes(fit: Fit, names: Callable[[], list[str]], effects: bool = False) -> ColumnNotes:
    """Return what a least-squares fit knows of its columns, by their names (D,); `effects` : some were absorbed."""
    factor, columns = fit.factor, fit.solution.theta.shape[1] - 1
    if factor is None and fit.solution.certificate.rank < columns:
        return ColumnNotes(None, None, None)
    if factor is None or factor.rank == columns:
        return ColumnNotes(np.empty(0, dtype=object), [], np.invert(np.zeros(columns, dtype=bool)))
    named, depends = names(), factor.dependence
    constant = [named[j] for j in np.flatnonzero(depends.constant)] if factor.decided else []
    aliased = np.array([named[j] for j in factor.aliased()], dtype=object)
    return ColumnNotes(aliased, depends.texts(named, effects), depends.estimable, constant)


def warn_of_dependence(now: list[str] | None, before: list[str] | None = None) -> None:
    """Warn of columns that are combinations of others, unless that was known before."""
    if now and now != before:
        warn(say_dependent(now), AdalineWarning)
