"""Least squares and ridge without a D x D matrix: the dual N x N system for few rows, LSMR for many.

Dual: (XX' + 1) a = t, columns over sqrt(penalty), w = X'a. Without penalty XX'a = t on the centred rows gives the
interpolating solution of minimum norm. With an intercept the centred rows add up to zero; a multiple of that direction
is added before the Cholesky factor, which changes nothing else.

LSMR (Fong and Saunders 2011): sparse data with too many rows and columns for any Gram matrix, on products X v and X'u.
Centring and column scaling are part of the operator; X itself is only multiplied with. A second run on the residual of
the first refines it, and the size of its correction gives the digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from adaline.arrays import Array
from adaline.penalties import RidgePenalty
from adaline.results import Solution, Status
from adaline.solvers import lapack
from adaline.solvers.least_squares.factor import EPS, estimate_condition
from adaline.solvers.least_squares.fit import Fit, certificate, digits
from adaline.sources import Source
from adaline.sources.views import weights_or_ones

WELL_CONDITIONED = 1e5  # condition of the dual matrix up to which Cholesky is used; 10x larger starts with a digit less
REFINEMENTS = 2  # refinement steps of the dual solution; doubling it doubles the products with X
TOLERANCE, MOST_STEPS = 1e-14, 20_000  # of LSMR; doubling the steps lets ill-conditioned data fail later
LSMR_RUNS = 2  # runs of LSMR, each on the residual of the one before; a single one cannot estimate its digits
# difference of a vector from that recovered from its product, below which columns are independent; 10x larger misses
# dependence
SAME_VECTOR = 1e-6


def solve_dual(source: Source, intercept: bool, penalty: RidgePenalty) -> Fit:
    """Return the least-squares fit of minimum norm, or ridge, for few rows."""
    ridge = penalty.roots
    lift = float(penalty.any())
    scale = column_scale(ridge)
    x, weight = source.matrix(), weights_or_ones(source)
    gram, mean = x.dual_gram(weight, intercept, scale)
    t = source.read_targets()
    if not (np.isfinite(gram).all() and np.isfinite(t).all()):
        source.refuse_nonfinite()
    root = np.sqrt(weight)
    mean_t = weight @ t / weight.sum() * intercept
    rhs = root[:, None] * (t - mean_t)
    gram[np.diag_indices_from(gram)] += lift
    subtracted = float(weight.max() * ((mean * scale) ** 2).sum()) if source.sparse else 0.0
    null = root / np.linalg.norm(root) if intercept and not lift else None
    inverse, rank, condition, decided = _invert(gram, null, subtracted)

    def back(a: Array) -> Array:
        u = root[:, None] * a
        return np.asarray((x.rmatvec(u) - np.outer(mean, u.sum(axis=0))) * (scale**2)[:, None])

    def missing(w: Array) -> Array:
        return np.asarray(rhs - root[:, None] * (x.matvec(w) - mean @ w))

    a = inverse(rhs)
    w = back(a)
    before = np.abs(a).max(axis=0)
    for _ in range(REFINEMENTS):
        step = inverse(missing(w) - lift * a)
        dw = back(step)
        rho = np.minimum(np.abs(step).max(axis=0) / np.maximum(before, np.finfo(float).tiny), 1.0)
        before = np.abs(step).max(axis=0)
        a, w = a + step, w + dw
    residual = missing(w)
    left = residual - lift * a
    squares = (residual**2).sum(axis=0)
    spread = x.spread(weight, intercept)
    w[spread == 0] = 0.0  # a column that does not vary has no part in the solution
    blur = EPS * condition * (2 * _cancellation(spread, mean) ** 2 if source.sparse else 8.0)
    error = rho * np.abs(dw).max(axis=0) + blur * np.abs(w).max(axis=0)
    theta = np.column_stack([mean_t - mean @ w, w.T])
    errors = np.column_stack([error * np.abs(mean).sum() + EPS * np.abs(mean_t), np.outer(error, spread > 0)])
    features = source.shape.features
    trace = max(source.count_rows() - np.trace(inverse(np.eye(source.count_rows()))), 0.0) if lift else rank
    proof = certificate(
        status=Status.SOLVED if lift else Status.RANK_DEFICIENT if decided else Status.RANK_UNCERTAIN,
        objective=_objective(squares, w.T, ridge),
        gradient=float(np.abs(back(left) / np.where(scale > 0, scale, 1.0)[:, None]).max(initial=0.0)),
        gap=float(0.5 * (left * (inverse(left) if lift else left)).sum()),
        digits=digits(errors, theta, np.ones(1 + features)) if decided else 0.0,
        condition=condition,
        rank=features if lift else rank,
        passes=5 + 2 * REFINEMENTS,
        solver="dual (N x N)",
    )
    return _fit(Solution(theta, proof), squares, (rhs**2).sum(axis=0), float(trace) + intercept, weight, penalty)


def solve_lsmr(source: Source, intercept: bool, penalty: RidgePenalty) -> Fit:
    """Return the least-squares fit of minimum norm, or ridge, on a sparse source."""
    ridge = penalty.roots
    n, d = source.count_rows(), source.shape.features
    x, weight = source.matrix(), weights_or_ones(source)
    root = np.sqrt(weight)
    total = weight.sum()
    first = x.rmatvec(weight)
    mean = first / total * intercept
    t = source.read_targets()
    mean_t = weight @ t / total * intercept
    if not (np.isfinite(first).all() and np.isfinite(t).all()):
        source.refuse_nonfinite()
    lift = float(penalty.any())
    scale = column_scale(ridge)

    def scaled(scale: Array) -> Any:
        return scipy.sparse.linalg.LinearOperator(
            (n, d),
            matvec=lambda v: root * (x.matvec(scale * v) - mean @ (scale * v)),
            rmatvec=lambda u: scale * (x.rmatvec(root * u) - mean * (root @ u)),
            dtype=np.float64,
        )

    spread = x.spread(weight, intercept)
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
        for _ in range(LSMR_RUNS):
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
    sensitivity = condition * (1.0 + condition * inconsistent) * _cancellation(spread, mean)
    error = error + 32 * EPS * sensitivity * np.abs(w).max(axis=1)
    theta = np.column_stack([mean_t - w @ mean, w])
    errors = np.column_stack([error * np.abs(mean).sum(), np.outer(error, spread > 0)])
    proof = certificate(
        status=Status.NOT_CONVERGED if not converged else Status.SOLVED if full else Status.RANK_DEFICIENT,
        objective=_objective(squares, w, ridge),
        gradient=left,
        gap=float(0.5 * left**2 * d) if lift else np.inf,
        digits=digits(errors, theta, np.ones(1 + d)) if full or n - intercept < d else 0.0,
        condition=condition,
        rank=d if full else min(n - intercept, d - 1),  # at most
        passes=passes,
        solver="LSMR on products",
    )
    return _fit(Solution(theta, proof), squares, (rhs**2).sum(axis=1), np.nan, weight, penalty)


def _fit(solution: Solution, squares: Array, total: Array, trace: float, weight: Array, penalty: RidgePenalty) -> Fit:
    """Return the fit of K targets, in raw units and without a factor."""
    k = len(solution.theta)
    return Fit(
        solution=solution,
        squares=squares,
        total=total,
        unit=np.ones(k),
        factor=None,
        trace=np.full(k, trace),
        rows=len(weight),
        weight=float(weight.sum()),
        penalty=penalty,
    )


def _objective(squares: Array, w: Array, ridge: Array) -> float:
    """Return half of the squared residuals (K,) and of the penalties of w (K, D), over all targets."""
    return float(0.5 * (squares + ((w * ridge) ** 2).sum(axis=1)).sum())


def column_scale(ridge: Array) -> Array:
    """Return 1/ridge, or ones where nothing is penalised; an unpenalised constant column drops out."""
    if not ridge.any():
        return np.ones_like(ridge)
    return np.divide(1.0, ridge, out=np.zeros_like(ridge), where=ridge > 0)


def _cancellation(spread: Array, mean: Array) -> float:
    """Return the largest ratio of a column's size to its spread: the digits that subtracting its mean costs."""
    return float((np.hypot(mean, spread)[spread > 0] / spread[spread > 0]).max(initial=1.0))


def _invert(gram: Array, null: Array | None, subtracted: float) -> tuple[Callable[[Array], Array], int, float, bool]:
    """Return the (pseudo-)inverse of a positive semidefinite matrix as a function, its rank, sqrt(condition), and
    whether the rank is certain.

    `null` (N,) is a direction of length one known to be in the null space; a multiple of it is added to the matrix.
    `subtracted` is the size of what was taken from its entries to centre the rows: its rounding is in them too.
    Where another eigenvalue is cut off the rank is not certain, as rounding hides whether it is zero or small.
    """
    n = len(gram)
    regular = gram if null is None else gram + np.mean(gram.diagonal()) * np.outer(null, null)
    largest = float(gram.diagonal().max(initial=0.0))
    r, info = lapack.dpotrf(regular, lower=0, clean=1)
    if info == 0:
        condition = estimate_condition(regular, r)
        if condition < WELL_CONDITIONED and largest > 4 * n * EPS * condition**2 * (largest + subtracted):
            return lambda g: np.asarray(lapack.dpotrs(r, g)[0]), n - (null is not None), condition, True
    values, vectors = np.linalg.eigh(gram)
    kept = values > 4 * n * EPS * (max(values[-1], 0.0) + subtracted)
    values, vectors = values[kept], vectors[:, kept]
    condition = float(np.sqrt(values[-1] / values[0])) if len(values) else 1.0
    decided = len(values) >= n - (null is not None)
    return lambda g: np.asarray(vectors @ ((vectors.T @ g) / values[:, None])), len(values), condition, decided


def _run(operator: Any, residual: Array, v: Array, lift: float) -> tuple[Array, int, int, float]:
    """Return a correction of v, why LSMR stopped, its steps, and the condition; a penalty on v + step is extra rows."""
    n, d = operator.shape
    rows = operator
    if lift:
        residual = np.concatenate([residual, -v])
        rows = scipy.sparse.linalg.LinearOperator(
            (n + d, d),
            matvec=lambda s: np.concatenate([operator.matvec(s), s]),
            rmatvec=lambda u: operator.rmatvec(u[:n]) + u[n:],
            dtype=np.float64,
        )
    step, stop, steps, *_, condition, _ = scipy.sparse.linalg.lsmr(
        rows, residual, atol=TOLERANCE, btol=TOLERANCE, conlim=0.0, maxiter=MOST_STEPS
    )
    return step, int(stop), int(steps), float(condition)


def _independent(operator: Any) -> bool:
    """Return whether the columns are independent: then a vector is found again from its product."""
    v = np.cos(np.arange(1.0, operator.shape[1] + 1.0))
    found = _run(operator, operator.matvec(v), np.zeros_like(v), 0.0)[0]
    return bool(np.abs(found - v).max() < SAME_VECTOR)
