"""More columns than rows: the N x N dual system (XX' + 1) a = t, columns over sqrt(penalty), w = X'a.

Without penalty XX'a = t on the centred rows gives the interpolating solution of minimum norm. With an intercept the
centred rows add up to zero; that direction is filled in before the Cholesky factor, which changes nothing else.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from adaline.results import Solution, Status
from adaline.solvers.factor import EPS, estimate_condition
from adaline.solvers.fit import Fit, certificate, digits
from adaline.sources import Source

Array = NDArray[np.float64]

WELL_CONDITIONED = 1e5
STEPS = 2


def column_scale(penalty: Array) -> Array:
    """Return 1/sqrt(penalty), or ones where nothing is penalised; an unpenalised constant column drops out."""
    if not penalty.any():
        return np.ones_like(penalty)
    return np.divide(1.0, np.sqrt(penalty), out=np.zeros_like(penalty), where=penalty > 0)


def solve(source: Source, intercept: bool, penalty: Array) -> Fit:
    """Solve least squares of minimum norm, or ridge with penalty (D,), for few rows."""
    ridge = float(penalty.any())
    scale = column_scale(penalty)
    gram, mean = source.outer(intercept, scale)
    t = source.target()
    if not (np.isfinite(gram).all() and np.isfinite(t).all()):
        source.refuse_nonfinite()
    weight = np.ones(source.n_rows) if source.weight is None else source.weight
    root = np.sqrt(weight)
    mean_t = weight @ t / weight.sum() * intercept
    rhs = root[:, None] * (t - mean_t)
    gram[np.diag_indices_from(gram)] += ridge
    inverse, rank, condition = _invert(gram, root / np.linalg.norm(root) if intercept and not ridge else None)

    def back(a: Array) -> Array:
        u = root[:, None] * a
        return np.asarray((source.rmatvec(u) - np.outer(mean, u.sum(axis=0))) * (scale**2)[:, None])

    def missing(w: Array) -> Array:
        return np.asarray(rhs - root[:, None] * (source.matvec(w) - mean @ w))

    a = inverse(rhs)
    w = back(a)
    before = np.abs(a).max(axis=0)
    for _ in range(STEPS):
        step = inverse(missing(w) - ridge * a)
        dw = back(step)
        rho = np.minimum(np.abs(step).max(axis=0) / np.maximum(before, np.finfo(float).tiny), 1.0)
        before = np.abs(step).max(axis=0)
        a, w = a + step, w + dw
    residual = missing(w)
    left = residual - ridge * a
    squares = (residual**2).sum(axis=0)
    error = rho * np.abs(dw).max(axis=0) + 8 * EPS * condition * np.abs(w).max(axis=0)
    theta = np.column_stack([mean_t - mean @ w, w.T])
    errors = np.column_stack([error * np.abs(mean).sum() + EPS * np.abs(mean_t), np.tile(error[:, None], len(mean))])
    features = source.shape.features
    trace = source.n_rows - np.trace(inverse(np.eye(source.n_rows))) if ridge else rank
    return Fit(
        Solution(
            theta,
            certificate(
                status=Status.SOLVED if ridge or rank == features else Status.RANK_DEFICIENT,
                objective=float(0.5 * (squares + (w.T**2) @ penalty).sum()),
                gradient=float(np.abs(back(left) / np.where(scale > 0, scale, 1.0)[:, None]).max(initial=0.0)),
                gap=float(0.5 * (left * (inverse(left) if ridge else left)).sum()),
                digits=digits(errors, theta, np.ones(1 + features)),
                condition=condition,
                rank=features if ridge else rank,
                passes=4 + 2 * STEPS,
                solver="dual (N x N)",
            ),
        ),
        squares=squares,
        total=(rhs**2).sum(axis=0),
        factor=None,
        trace=np.full(t.shape[1], float(trace) + intercept),
        rows=source.n_rows,
        weight=float(weight.sum()),
        penalty=penalty,
    )


def _invert(gram: Array, fill: Array | None) -> tuple[Callable[[Array], Array], int, float]:
    """Return the (pseudo-)inverse of a positive semidefinite matrix as a function, its rank and sqrt(condition)."""
    n = len(gram)
    filled = gram if fill is None else gram + np.mean(gram.diagonal()) * np.outer(fill, fill)
    r, info = lapack.dpotrf(filled, lower=0, clean=1)
    if info == 0:
        condition = estimate_condition(filled, r)
        if condition < WELL_CONDITIONED:
            return lambda g: np.asarray(lapack.dpotrs(r, g)[0]), n - (fill is not None), condition
    values, vectors = np.linalg.eigh(gram)
    kept = values > 4 * n * EPS * max(values[-1], 0.0)
    values, vectors = values[kept], vectors[:, kept]
    condition = float(np.sqrt(values[-1] / values[0])) if len(values) else 1.0
    return lambda g: np.asarray(vectors @ ((vectors.T @ g) / values[:, None])), len(values), condition
