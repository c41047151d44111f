"""More columns than rows: the N x N dual system (XX' + 1) a = t, columns over sqrt(penalty), w = X'a.

Without penalty XX'a = t on the centred rows gives the interpolating solution of minimum norm. With an intercept the
centred rows add up to zero; that direction is filled in before the Cholesky factor, which changes nothing else.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lapack
from scipy.sparse.linalg import LinearOperator
from scipy.sparse.linalg import lsmr as scipy_lsmr

from adaline.arrays import Array
from adaline.penalties import RidgePenalty
from adaline.results import Solution, Status
from adaline.solvers.least_squares.factor import EPS, estimate_condition
from adaline.solvers.least_squares.fit import Fit, certificate, digits
from adaline.sources import Source

WELL_CONDITIONED = 1e5
STEPS = 2


def column_scale(ridge: Array) -> Array:
    """Return 1/ridge, or ones where nothing is penalised; an unpenalised constant column drops out."""
    if not ridge.any():
        return np.ones_like(ridge)
    return np.divide(1.0, ridge, out=np.zeros_like(ridge), where=ridge > 0)


def loss(spread: Array, mean: Array) -> float:
    """Return how much larger than their spread columns are: what subtracting the mean from sums and products costs."""
    return float((np.hypot(mean, spread)[spread > 0] / spread[spread > 0]).max(initial=1.0))


def solve_dual(source: Source, intercept: bool, penalty: RidgePenalty) -> Fit:
    """Solve least squares of minimum norm, or ridge, for few rows."""
    ridge = penalty.roots
    lift = float(penalty.any())
    scale = column_scale(ridge)
    gram, mean = source.dual_gram(intercept, scale)
    t = source.read_targets()
    if not (np.isfinite(gram).all() and np.isfinite(t).all()):
        source.refuse_nonfinite()
    given = source.read_weights()
    weight = np.ones(source.count_rows()) if given is None else given
    root = np.sqrt(weight)
    mean_t = weight @ t / weight.sum() * intercept
    rhs = root[:, None] * (t - mean_t)
    gram[np.diag_indices_from(gram)] += lift
    inverse, rank, condition, decided = _invert(gram, root / np.linalg.norm(root) if intercept and not lift else None)

    def back(a: Array) -> Array:
        u = root[:, None] * a
        return np.asarray((source.rmatvec(u) - np.outer(mean, u.sum(axis=0))) * (scale**2)[:, None])

    def missing(w: Array) -> Array:
        return np.asarray(rhs - root[:, None] * (source.matvec(w) - mean @ w))

    a = inverse(rhs)
    w = back(a)
    before = np.abs(a).max(axis=0)
    for _ in range(STEPS):
        step = inverse(missing(w) - lift * a)
        dw = back(step)
        rho = np.minimum(np.abs(step).max(axis=0) / np.maximum(before, np.finfo(float).tiny), 1.0)
        before = np.abs(step).max(axis=0)
        a, w = a + step, w + dw
    residual = missing(w)
    left = residual - lift * a
    squares = (residual**2).sum(axis=0)
    spread = source.spread(intercept)
    w[spread == 0] = 0.0  # a column that does not vary has no part in the solution
    blur = EPS * condition * (2 * loss(spread, mean) ** 2 if source.sparse else 8.0)
    error = rho * np.abs(dw).max(axis=0) + blur * np.abs(w).max(axis=0)
    theta = np.column_stack([mean_t - mean @ w, w.T])
    errors = np.column_stack([error * np.abs(mean).sum() + EPS * np.abs(mean_t), np.outer(error, spread > 0)])
    features = source.shape.features
    trace = source.count_rows() - np.trace(inverse(np.eye(source.count_rows()))) if lift else rank
    return Fit(
        Solution(
            theta,
            certificate(
                status=Status.SOLVED if lift else Status.RANK_DEFICIENT if decided else Status.RANK_UNCERTAIN,
                objective=float(0.5 * (squares + ((w.T * ridge) ** 2).sum(axis=1)).sum()),
                gradient=float(np.abs(back(left) / np.where(scale > 0, scale, 1.0)[:, None]).max(initial=0.0)),
                gap=float(0.5 * (left * (inverse(left) if lift else left)).sum()),
                digits=digits(errors, theta, np.ones(1 + features)) if decided else 0.0,
                condition=condition,
                rank=features if lift else rank,
                passes=5 + 2 * STEPS,
                solver="dual (N x N)",
            ),
        ),
        squares=squares,
        total=(rhs**2).sum(axis=0),
        unit=np.ones(len(theta)),
        factor=None,
        trace=np.full(t.shape[1], float(trace) + intercept),
        rows=source.count_rows(),
        weight=float(weight.sum()),
        penalty=penalty,
    )


def _invert(gram: Array, fill: Array | None) -> tuple[Callable[[Array], Array], int, float, bool]:
    """Return the (pseudo-)inverse of a positive semidefinite matrix as a function, its rank, sqrt(condition), and
    whether the rank is beyond doubt: eigenvalues cut off cannot be told from small ones, but for the one filled in.
    """
    n = len(gram)
    filled = gram if fill is None else gram + np.mean(gram.diagonal()) * np.outer(fill, fill)
    r, info = lapack.dpotrf(filled, lower=0, clean=1)
    if info == 0:
        condition = estimate_condition(filled, r)
        if condition < WELL_CONDITIONED:
            return lambda g: np.asarray(lapack.dpotrs(r, g)[0]), n - (fill is not None), condition, True
    values, vectors = np.linalg.eigh(gram)
    kept = values > 4 * n * EPS * max(values[-1], 0.0)
    values, vectors = values[kept], vectors[:, kept]
    condition = float(np.sqrt(values[-1] / values[0])) if len(values) else 1.0
    decided = len(values) >= n - (fill is not None)
    return lambda g: np.asarray(vectors @ ((vectors.T @ g) / values[:, None])), len(values), condition, decided


# Sparse data with too many rows and columns for any Gram matrix: LSMR on products X v and X'u (Fong and Saunders).
#
# Centring and column scaling are part of the operator; X itself is only multiplied with. A second run on the residual
# of
# the first refines it, and its size gives the digits.


TOLERANCE = 1e-14
MAX_STEPS = 20_000
RUNS = 2
SAME = 1e-6


def solve_lsmr(source: Source, intercept: bool, penalty: RidgePenalty) -> Fit:
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
