"""Sparse data with too many rows and columns for any Gram matrix: LSMR on products X v and X'u (Fong and Saunders).

Centring and column scaling are part of the operator; X itself is only multiplied with. A second run on the residual of
the first refines it, and its size gives the digits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator
from scipy.sparse.linalg import lsmr as scipy_lsmr

from adaline.penalties import RidgePenalty
from adaline.results import Solution, Status
from adaline.solvers.dual import column_scale, loss
from adaline.solvers.factor import EPS
from adaline.solvers.fit import Fit, certificate, digits
from adaline.sources import Source

Array = NDArray[np.float64]

TOLERANCE = 1e-14
MAX_STEPS = 20_000
RUNS = 2
SAME = 1e-6


def solve(source: Source, intercept: bool, penalty: RidgePenalty) -> Fit:
    """Solve least squares of minimum norm, or ridge."""
    ridge = penalty.roots
    n, d = source.count_rows(), source.shape.features
    given = source.read_weights()
    weight = np.ones(n) if given is None else given
    root = np.sqrt(weight)
    total = weight.sum()
    mean = source.rmatvec(weight) / total * intercept
    t = source.read_targets()
    mean_t = weight @ t / total * intercept
    if not (np.isfinite(mean).all() and np.isfinite(source.rmatvec(weight)).all() and np.isfinite(t).all()):
        source.refuse_nonfinite()
    lift = float(penalty.any())
    scale = column_scale(ridge)

    def scaled(scale: Array) -> LinearOperator:
        return LinearOperator(
            (n, d),
            matvec=lambda v: root * (source.matvec(scale * v) - mean @ (scale * v)),
            rmatvec=lambda u: scale * (source.rmatvec(root * u) - mean * (root @ u)),
            dtype=np.float64,
        )

    spread = source.spread(intercept)
    operator, full = scaled(scale), bool(lift)
    if not lift and n - intercept >= d:
        equal = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
        full = _independent(scaled(equal))
        if full:
            scale, operator = equal, scaled(equal)
    w = np.zeros((t.shape[1], d))
    squares, passes, condition, converged = np.zeros(len(w)), 0, 1.0, True
    error = np.zeros(len(w))
    rhs = (root[:, None] * (t - mean_t)).T
    left = 0.0
    for k in range(len(w)):
        v, before = np.zeros(d), 0.0
        for _ in range(RUNS):
            residual = rhs[k] - operator.matvec(v)
            step, stop, steps, found = _run(operator, residual, v, lift)
            v = v + step
            size = float(np.abs(scale * step).max())
            error[k] = size * min(size / before, 1.0) if before else size
            before = size
            passes += 2 * steps
            condition = max(condition, float(found))
            converged &= stop != 7
        w[k] = scale * v
        residual = rhs[k] - operator.matvec(v)
        squares[k] = residual @ residual
        left = max(left, float(np.abs(operator.rmatvec(residual) - lift * v).max()))
    inconsistent = np.sqrt(squares / np.maximum((rhs**2).sum(axis=1), np.finfo(float).tiny))
    sensitivity = condition * (1.0 + condition * inconsistent) * loss(spread, mean)
    error = error + 32 * EPS * sensitivity * np.abs(w).max(axis=1)
    theta = np.column_stack([mean_t - w @ mean, w])
    errors = np.column_stack([error * np.abs(mean).sum(), np.outer(error, spread > 0)])
    return Fit(
        Solution(
            theta,
            certificate(
                status=_status(converged, full),
                objective=float(0.5 * (squares + ((w * ridge) ** 2).sum(axis=1)).sum()),
                gradient=left,
                gap=float(0.5 * left**2 * d) if lift else np.inf,
                digits=digits(errors, theta, np.ones(1 + d)) if full or n - intercept < d else 0.0,
                condition=condition,
                rank=d if full else min(n - intercept, d - 1),
                passes=passes,
                solver="LSMR on products",
            ),
        ),
        squares=squares,
        total=(rhs**2).sum(axis=1),
        unit=np.ones(len(theta)),
        factor=None,
        trace=np.full(len(w), np.nan),
        rows=n,
        weight=float(total),
        penalty=penalty,
    )


def _run(operator: LinearOperator, residual: Array, v: Array, lift: float) -> tuple[Array, int, int, float]:
    """Solve for a correction of v; a penalty pulls on v + step, so it enters as extra rows."""
    n, d = operator.shape
    if not lift:
        step, stop, steps, *_, condition, _ = scipy_lsmr(
            operator, residual, atol=TOLERANCE, btol=TOLERANCE, conlim=0.0, maxiter=MAX_STEPS
        )
    else:
        stacked = LinearOperator(
            (n + d, d),
            matvec=lambda s: np.concatenate([operator.matvec(s), s]),
            rmatvec=lambda u: operator.rmatvec(u[:n]) + u[n:],
            dtype=np.float64,
        )
        step, stop, steps, *_, condition, _ = scipy_lsmr(
            stacked, np.concatenate([residual, -v]), atol=TOLERANCE, btol=TOLERANCE, conlim=0.0, maxiter=MAX_STEPS
        )
    return step, int(stop), int(steps), float(condition)


def _independent(operator: LinearOperator) -> bool:
    """Whether the columns are independent: a vector is found again from its product, which has no part cut off."""
    v = np.cos(np.arange(1.0, operator.shape[1] + 1.0))
    found = _run(operator, operator.matvec(v), np.zeros_like(v), 0.0)[0]
    return bool(np.abs(found - v).max() < SAME)


def _status(converged: bool, full: bool) -> Status:
    """Return how it ended; where columns depend on each other the rank is at most what is said."""
    if not converged:
        return Status.NOT_CONVERGED
    return Status.SOLVED if full else Status.RANK_DEFICIENT
