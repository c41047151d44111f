"""Proof of quasi-separation of two classes from a logistic fit that does not converge.

Newton steps grow along a direction that is zero on a subspace L and wins each contest outside L by about one more with
each step. On L the probabilities of the wrong class converge to the shares of an overlap that spans L. Direction and
shares are first guessed. Then two systems of integer equations make them exact: the direction orthogonal to a basis of
L, and the shares of the basis such that the sum is zero. Signs are checked exactly. This takes a fraction of the time
of `decide`, which needs no guess.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special

from adaline.arrays import Array
from adaline.separation.budget import INTEGER_COST
from adaline.separation.contests import Contests
from adaline.separation.decision import MOST_EXACT_ROWS, Decision, Overlap
from adaline.separation.exact import Whole, objects, pivots, primes, rounded, solve_integers, whole

# rows x coordinates up to which a guess is confirmed; doubling it takes two seconds and 200 MB of integers
MOST_CONFIRMED_NUMBERS = 2**20
NEWTON_STEPS = 6  # steps that tell growing weights from converging ones; doubling it makes guesses surer and slower
# gain of a step up to which a contest counts as converging, where growing ones gain about one; nearer to 1 misses some
CONVERGED_GAIN = 0.01
# length of the rest of a row, relative to the longest, from which it is independent; 10x larger leaves out more rows
INDEPENDENT_ROW = 1e-9
GUESS_BITS = 40  # bits of guesses; doubling it makes guesses closer, and integers longer


def confirm(contests: Contests, theta: Array) -> Decision | None:
    """Return that two classes are quasi-separated, from weights theta of a logistic fit that grow without bound.

    None where the guess fails, or the rows are too many.
    """
    rows = contests.source.count_rows()
    if contests.k != 2 or rows * contests.dimension > MOST_CONFIRMED_NUMBERS or contests.dimension > MOST_EXACT_ROWS:
        return None
    contests.budget.spend(2.0 * NEWTON_STEPS * rows * contests.dimension**2)
    every = contests.sweep(whole(theta), rows).lowest
    v = contests.floats(every)
    direction = _growth(v, theta)
    if not np.isfinite(direction).all():
        return None
    inside = np.abs(v @ direction) < CONVERGED_GAIN
    if inside.all() or not inside.any():
        return None
    share = _shares(v[inside], theta)
    basis = _basis(v[inside] * np.sqrt(share)[:, None])
    if not len(basis):
        return None
    contests.budget.spend(INTEGER_COST * float(len(basis)) ** 3)
    chosen = every.of(np.flatnonzero(inside))
    vectors, power = contests.vectors(chosen)
    found = _orthogonal(vectors[basis], direction)
    if found is None:
        return None
    plane, columns, p = found
    swept = contests.sweep(plane, 1, zeros=True)
    if swept.worst < 0 or set(swept.zeros[:, 0].tolist()) != set(chosen.row.tolist()):
        return None
    whole_share = objects(int(one) for one in np.rint(share / share.max() * 2.0**GUESS_BITS))
    scaled = objects(int(one) << int(power.max() - k) for one, k in zip(whole_share, power, strict=True))
    scaled[basis] = 0
    rest = (scaled[:, None] * vectors).sum(axis=0)
    own, det = solve_integers(vectors[basis][:, columns].T, -rest[columns][:, None], p)
    if (own <= 0).any() or (own[:, 0] @ vectors[basis] + det * rest != 0).any():
        return None
    scaled = scaled * det
    scaled[basis] = own[:, 0]
    kept = np.flatnonzero(scaled > 0)
    overlap = Overlap(chosen.of(kept), scaled[kept], vectors[kept], power[kept])
    return Decision(plane, overlap, overlap)


def _growth(v: Array, theta: Array) -> Array:
    """Return the last of some Newton steps of the logistic loss sum ln(1 + exp(-v . theta))."""
    step = theta
    for _ in range(NEWTON_STEPS):
        step = _newton_step(v, theta)
        theta = theta + step
    return step


def _shares(v: Array, theta: Array) -> Array:
    """Return the probabilities (n,) of the wrong class where they balance, sum share v = 0."""
    for _ in range(NEWTON_STEPS):
        theta = theta + _newton_step(v, theta)
    return np.asarray(special.expit(-(v @ theta)))


def _newton_step(v: Array, theta: Array) -> Array:
    wrong = special.expit(-(v @ theta))
    hessian = v.T @ ((wrong * (1 - wrong))[:, None] * v)
    return np.asarray(np.linalg.lstsq(hessian, v.T @ wrong, rcond=1e-13)[0])


def _basis(rows: Array) -> NDArray[np.intp]:
    """Return which rows (n, p) span all of them, long ones first."""
    _, r, order = linalg.qr(rows.T, mode="economic", pivoting=True)
    size = np.abs(r.diagonal())
    return np.asarray(order[: int((size > INDEPENDENT_ROW * size[0]).sum())])


def _orthogonal(base: Whole, direction: Array) -> tuple[Whole, list[int], int] | None:
    """Return a direction near a given one that is orthogonal to independent rows, their pivots, and the prime used."""
    order = linalg.qr(np.array([rounded(row) for row in base]), mode="r", pivoting=True)[1].tolist()
    p = next(primes())
    found = pivots(base[:, order].T, p)[0]
    if len(found) < len(base):
        return None
    columns = [order[i] for i in found]
    free = np.setdiff1d(np.arange(base.shape[1]), columns)
    phi = whole(np.rint(direction[free] / np.abs(direction).max() * 2.0**GUESS_BITS))
    solved, det = solve_integers(base[:, columns], -(base[:, free] @ phi)[:, None], p)
    out = np.zeros(base.shape[1], dtype=np.int64).astype(object)
    out[free], out[columns] = phi * det, solved[:, 0]
    return out, columns, p
