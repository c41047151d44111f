"""Least trimmed squares on a sample: the start of M-estimates, which outliers do not influence.

    theta = argmin sum of the h smallest (t_n - w'x_n - w0)^2,   h just over half of the rows

Many planes through as many random rows as there are coefficients; the best by the median of their residuals are
improved by steps that fit the h rows nearest to them, each of which lowers the sum: two steps for all of these, the
rest for the best of them (Rousseeuw and Van Driessen 2006). Of many rows, the M-estimate of a larger sample comes next.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from adaline.arrays import AnyArray, Array, host
from adaline.solvers import lapack
from adaline.solvers.robust.m_estimation import UNIDENTIFIED
from adaline.solvers.robust.row_residuals import gather_rows
from adaline.solvers.smooth.problem import Problem

# planes drawn for least trimmed squares; doubling it is right among more outliers, in twice the time
PLANES_DRAWN = 500
# drawn planes that are improved; doubling it takes twice as long, and sometimes finds a better minimum
PLANES_KEPT = 25
LAST_STEPS = 50  # steps that improve a plane to the end; doubling it makes slow starts more exact
FIRST_STEPS = 2  # steps of each plane before the best are chosen; doubling it takes twice as long, for a surer choice
PLANES_IMPROVED = 5  # planes that are improved to the end; doubling it takes twice as long
SLIGHT_GAIN = 1e-3  # relative gain of a trimmed step below which it is the last; 10x larger makes starts less exact
# ratio of the factor's diagonal entries from which normal equations keep enough digits; 10x smaller loses a digit or
# two
LEAST_DIAGONAL_RATIO = 1e-3
# added to a matrix that may be singular, relative to its largest diagonal entry; larger makes steps shorter
DIAGONAL_LIFT = 1e-11
# columns^3, summed over the planes drawn; doubling it draws twice as many planes of wide rows
MOST_DRAWING_WORK = 2**24
# rows x columns^2, summed over the planes improved; doubling it improves twice as many of large data
MOST_IMPROVING_WORK = 2**28
# rows of a sample at least, and for each column; doubling both makes the start take twice as long
SAMPLE_ROWS, SAMPLE_ROWS_A_COLUMN = 2000, 20


def trimmed(problem: Problem, weight: AnyArray, rng: np.random.Generator) -> Array:
    """Return theta (1, 1 + D) in the view of least trimmed squares on a sample of the rows."""
    weight = host(weight)
    sample = _sample(problem, weight, max(SAMPLE_ROWS, SAMPLE_ROWS_A_COLUMN * (1 + problem.features)), rng)
    rows, t = sample[:, :-1], sample[:, -1]
    rows[:, 0] = problem.intercept
    rows, to_view = _orthonormal(rows)
    n, p = rows.shape
    if p == 0:
        return np.zeros((1, 1 + problem.features))
    h = min(n, (n + p + 1) // 2)
    count = min(PLANES_DRAWN, max(MOST_DRAWING_WORK // p**3, PLANES_KEPT))
    draws = rng.random((count, n)).argpartition(min(p, n) - 1, axis=1)[:, : min(p, n)]
    some, across = rows[draws], rows[draws].transpose(0, 2, 1)
    gram = across @ some
    gram += (
        UNIDENTIFIED * np.trace(gram, axis1=1, axis2=2)[:, None, None] * np.eye(p)
    )  # a draw may not determine a plane
    planes = np.linalg.solve(gram, across @ t[draws][:, :, None])[:, :, 0]
    size = np.median(np.abs(t - planes @ rows.T), axis=1)
    kept = min(PLANES_KEPT, max(MOST_IMPROVING_WORK // (h * p**2), 2))
    first = [_improve(rows, t, planes[i], h, FIRST_STEPS) for i in np.argsort(size, kind="stable")[:kept]]
    first.sort(key=lambda pair: pair[0])
    found = [
        _improve(rows, t, plane, h, LAST_STEPS) for _, plane in first[: max(kept * PLANES_IMPROVED // PLANES_KEPT, 1)]
    ]
    return np.asarray(to_view @ min(found, key=lambda pair: pair[0])[1])[None]


def _orthonormal(rows: Array) -> tuple[Array, Array]:
    """Return Q (n, r) of orthonormal columns that span those of the rows (n, P), and C (P, r) with rows C = Q.

    Fits to some of the rows are then ill-conditioned only along directions that those rows hardly determine.
    """
    q, r, order = linalg.qr(rows, mode="economic", pivoting=True, check_finite=False)
    size = np.abs(r.diagonal())
    rank = int((size > UNIDENTIFIED * size[0]).sum())
    back = np.zeros((rows.shape[1], rank))
    back[order[:rank]] = linalg.solve_triangular(r[:rank, :rank], np.eye(rank), check_finite=False)
    return np.ascontiguousarray(q[:, :rank]), back


def _improve(rows: Array, t: Array, theta: Array, h: int, steps: int) -> tuple[float, Array]:
    """Return the sum of the h smallest squares and the plane, refitted to the h nearest rows until it hardly falls."""
    best, r = np.inf, t - rows @ theta
    for _ in range(steps):
        near = np.argpartition(np.abs(r), h - 1)[:h]
        new = _fitted(rows[near], t[near])
        r = t - rows @ new
        squares = np.partition(r**2, h - 1)[:h].sum()
        slight = squares > (1 - SLIGHT_GAIN) * best
        if squares < best:
            best, theta = float(squares), new
        if slight:
            break
    return best, theta


def _fitted(rows: Array, t: Array) -> Array:
    """Return the plane (P,) of least squares by normal equations, zero along directions these rows do not determine.

    Up to rounding: a lift of the diagonal takes the place of eigenvalues, which take ten times as long.
    """
    gram, moment = rows.T @ rows, rows.T @ t
    lower, failed = lapack.dpotrf(gram, lower=1)
    size = lower.diagonal()
    if not failed and size.min() > LEAST_DIAGONAL_RATIO * size.max():
        return np.asarray(lapack.dpotrs(lower, moment, lower=1)[0])
    lifted = gram + DIAGONAL_LIFT * gram.diagonal().max() * np.eye(len(gram))
    return np.asarray(lapack.dpotrs(lapack.dpotrf(lifted, lower=1)[0], moment, lower=1)[0])


def _sample(problem: Problem, weight: Array, most: int, rng: np.random.Generator) -> Array:
    """Return sampled rows (1, v, t); drawn by their weights, with repetition, where these differ."""
    positive = weight > 0
    if (weight[positive] == weight[positive][0]).all():
        if positive.sum() > most:
            positive[rng.choice(np.flatnonzero(positive), positive.sum() - most, replace=False)] = False
        return gather_rows(problem, positive)
    drawn = np.sort(rng.choice(len(weight), most, p=weight / weight.sum()))
    chosen = np.zeros(len(weight), dtype=bool)
    chosen[drawn] = True
    return gather_rows(problem, chosen)[np.searchsorted(np.flatnonzero(chosen), drawn)]
