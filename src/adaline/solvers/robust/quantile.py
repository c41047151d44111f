"""Quantile regression on any source, as a linear program over the few rows near the plane, proven over all rows.

    primal  min over theta  sum_n level r_n^+ + (1 - level) r_n^-,   r = t - A theta
    dual    max over d      t'd - (1 - level) sum t,   A'd = (1 - level) A'1,   0 <= d <= 1

A plane near the solution, from a sample, leaves most rows clearly above or below it. Those enter as two rows, the sums
of all above and of all below, and the linear program is solved for the others in memory (Portnoy and Koenker 1997). One
more pass checks whether every row lies on the side it was counted on; where not, it joins the others and they are
solved again. The dual solution then bounds the objective over all rows from below.

The program is solved by the Frisch-Newton interior point method, with Mehrotra's predictor and corrector. d_n is 1
above the plane, 0 below, and between on rows that the plane goes through; iterates satisfy the equations for A'd. At
the end each row is either on the plane at every solution, or off it: theta is moved onto those rows, which makes it
exact. Where steps get stuck at the boundary, as they may at levels near 0 or 1, the simplex method of HiGHS takes over.

Coded categories are mostly zeros. Such rows stay sparse in the program; their columns are then not centred, and the
constant absorbs the difference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import linalg

from adaline.arrays import AnyArray, Array, as_dense, is_sparse
from adaline.solvers import lapack
from adaline.solvers.robust.row_residuals import gather_rows, residuals, weighted_total
from adaline.solvers.smooth.problem import Problem

# rows up to which the program has all rows; doubling it takes twice as long for tables of that size
MOST_TOGETHER = 5000
WHOLE_SHARE = 0.5  # share of the rows in sample and band from which all are solved together; larger takes more passes
# width of the band in rows expected on the wrong side; smaller takes more corrections, with fewer rows in memory
BAND_WIDTH = 3.0
# rows near the plane for each row on the wrong side; doubling it takes more memory, and fewer corrections
ROWS_A_CORRECTION = 100
EPS = float(np.finfo(np.float64).eps)
ROUNDING = 64 * EPS  # residual, relative to its terms, that is rounding; 10x larger puts more rows on the plane
# ratio of squared singular values below which the rank is computed; larger computes it more often
DOUBTFUL_RANK = 1e-12
DUAL_ROUNDING = 1e-9  # by how much d may exceed 0 or 1; 10x larger hides wrong solutions of that size

# the interior point method
# share of the way to the boundary that a step takes; nearer to 1 takes fewer steps, and gets stuck more often
BOUNDARY_SHARE = 0.99995
FIRST_SLACK = 10.0  # slacks at the start, in mean residuals; 10x smaller, many tied rows shorten the first steps
# steps at most, and steps without progress; doubling both leaves stuck programs to HiGHS later
MOST_STEPS, STALLED_STEPS = 100, 8
# residual, in typical ones, beyond which targets are brought nearer; 10x larger leaves others fewer digits
FAR_RESIDUAL = 1e6
# gap, relative to all residuals, up to which steps without progress are rounding; beyond it they are stuck
STALLED_GAP = 1e-10
SINGULAR_GAP = 1e-6  # the same where the equations of a step become singular, as near solutions that are not unique
CHUNK_ROWS = 4096  # rows weighted at a time, which stay in the cache; doubling it may leave the cache
# condition of the rows on the plane beyond which outliers are looked for; 10x larger lets them cost a digit
OUTLIER_CONDITION = 1e6
# share of the numbers of rows that are not zero up to which they are sparse; doubling it is slower than dense products
SPARSE_SHARE = 0.15
# ratio of squared singular values down to which least squares are solved by products; smaller, refinement is slow
GOOD_RANK = 1e-7
# the same where the result is checked; smaller, factors fail
LEAST_RANK = 1e-13
# singular value, relative to the largest, that is zero up to rounding; 100x smaller, tied rows divide by rounding
ZERO_VALUE = 1e-11
ROUNDING_GAP = 1e-13  # gap per row, in typical residuals, at which the program ends; 10x larger loses a digit


@dataclass(frozen=True)
class QuantileFit:
    """Where quantile regression ended.

    Parameters
    ----------
    theta : (1, 1 + D) in the view.
    r : (N,) residuals, exactly zero on the rows that the plane was put through.
    objective, gap : sum of the losses, and a bound on its distance from the minimum.
    unique : whether there is no other minimum.
    condition : of the equations of the rows on the plane.
    history : objective after each round.
    steps : interior point steps of all rounds.
    """

    theta: Array
    r: Array
    objective: float
    gap: float
    unique: bool
    condition: float
    history: list[float]
    steps: int


def regression_quantile(
    problem: Problem,
    level: float,
    weight: Array,
    basis: Array,
    theta: Array,
    rounds: int,
    near_already: bool = False,
    proven: bool = True,
) -> QuantileFit:
    """Return the regression quantile of targets of size about one.

    `basis` (1 + D, p) spans the directions that the rows determine, `theta` is the start; at most `rounds` rounds.
    `near_already` says that the start is the solution of nearly the same rows, which needs no sample. Where it need not
    be `proven` the gap is infinite.
    """
    n, p = len(weight), basis.shape[1]
    positive = weight > 0
    rows = int(max(MOST_TOGETHER, n ** (2 / 3) * p ** (1 / 3)))  # that the first plane comes from
    together = positive.sum() <= MOST_TOGETHER or rows + BAND_WIDTH * n * np.sqrt(p / rows) >= WHOLE_SHARE * n
    if not (together or near_already):
        theta = _solve_near(problem, level, weight, _sampled(positive, rows), None, basis, theta)[0]
    r = residuals(problem, theta)
    band = n if together else BAND_WIDTH * n * np.sqrt(p / (n if near_already else rows))
    near, wrong = _nearest(r, positive, band), np.zeros(n, dtype=bool)
    t = problem.source.read_targets()[:, 0]
    history: list[float] = []
    steps = 0
    for i in range(rounds):
        if i == 1:  # the plane is all but there: what was in doubt before no longer is
            near = _nearest(r, positive, ROWS_A_CORRECTION * int(wrong.sum()))
        near = near | wrong | (positive & (r == 0))
        side = np.where(near | ~positive, 0.0, np.sign(r))
        theta, vertex, d = _solve_near(problem, level, weight, near, side, basis, theta)
        steps += vertex.steps
        r = residuals(problem, theta)
        on_plane = np.zeros(n, dtype=bool)
        on_plane[np.flatnonzero(near)] = vertex.on_plane[: int(near.sum())]
        rounding = ROUNDING * (1.0 + np.abs(t) + np.abs(t - r))
        zero = near & (np.abs(r) <= np.where(on_plane, 1e-9 * np.median(np.abs(r)) + rounding, rounding))
        r = np.where(zero, 0.0, r)
        history.append(_loss(r, weight, level))
        wrong = (side != 0) & (side * r <= rounding)  # on the plane is on neither side
        if not wrong.any():
            break
    gap = _gap(problem, level, weight, r, zero, d, near, theta) if proven else np.inf
    return QuantileFit(theta, r, history[-1], gap, vertex.unique and not wrong.any(), vertex.condition, history, steps)


@dataclass(frozen=True)
class Vertex:
    """A solution of the linear program.

    Parameters
    ----------
    theta, d : (p,) and (n,), primal and dual.
    on_plane : (n,) rows that every solution goes through.
    unique : whether these determine theta.
    condition : of their equations.
    steps : number of steps.
    """

    theta: Array
    d: Array
    on_plane: NDArray[np.bool_]
    unique: bool
    condition: float
    steps: int


def solve_program(a: AnyArray, t: Array, level: float, theta: Array) -> Vertex:
    """Solve for rows a (n, p) and targets t (n,), starting near theta; theta moves only where the rows determine it."""
    seen = _row_space(a)
    if seen is None:
        return _solve_full_rank(a, t, level, theta)
    found = _solve_full_rank(a @ seen, t - a @ theta, level, np.zeros(seen.shape[1]))
    return replace(found, theta=theta + seen @ found.theta, unique=False)


def _row_space(a: AnyArray) -> Array | None:
    """Return a basis (p, k) of the directions that rows determine; None where these are all."""
    values = np.linalg.eigvalsh(_products(a, _turned(a), None))
    if values[0] > DOUBTFUL_RANK * values[-1]:
        return None
    a = as_dense(a)
    size, vectors = np.linalg.svd(a, full_matrices=False)[1:]
    seen = size > len(a) * EPS * size[0]
    return None if seen.all() and len(size) == a.shape[1] else vectors[seen].T


def _solve_full_rank(a: AnyArray, t: Array, level: float, theta: Array) -> Vertex:
    """Solve for rows a (n, p) of full rank and targets t (n,), starting near theta.

    Where theta fits all rows up to rounding, no loss is left: every d of 1 - level satisfies the dual equations.
    The loss of a row far off has the same slope however far. Where such rows leave few digits for the others, their
    targets are brought nearer, if that changes no side.
    """
    if _fits_all(a, t, theta):
        return _through(a, t, theta, np.full(len(t), 1.0 - level), np.full(len(t), True), 0)
    found, end = _follow(a, t, level, theta)
    if not found.unique and _fits_all(a, t, found.theta):
        return _through(a, t, found.theta, np.full(len(t), 1.0 - level), np.full(len(t), True), found.steps)
    if end is End.CONVERGED and not (found.unique and found.condition > OUTLIER_CONDITION):
        return found
    r = t - a @ found.theta
    off_plane = ~found.on_plane & (np.abs(r) > ROUNDING * (np.abs(t) + np.abs(t - r)))
    far = FAR_RESIDUAL * float(np.median(np.abs(r[off_plane]))) if off_plane.any() else np.inf
    moved = np.abs(r) > far
    if moved.any():
        near = np.where(moved, t - r + np.clip(r, -far, far), t)
        other, end_near = _follow(a, near, level, found.theta)
        changed = (t - a @ other.theta) * (near - a @ other.theta) < 0
        if end_near is not End.STUCK and not (moved & (other.on_plane | changed)).any():
            return other
    doubted = end is End.STUCK or (end is End.CONVERGED and len(t) <= MOST_TOGETHER)
    return _simplex(a, t, level, found.theta) if doubted else found


def _fits_all(a: AnyArray, t: Array, theta: Array) -> bool:
    """Whether a plane goes through all rows, up to rounding."""
    size = np.abs(t) + abs(a) @ np.abs(theta)
    return bool((np.abs(t - a @ theta) <= ROUNDING * np.sqrt(len(theta)) * size).all())


def _solve_near(
    problem: Problem,
    level: float,
    weight: Array,
    near: NDArray[np.bool_],
    side: Array | None,
    basis: Array,
    theta: Array,
) -> tuple[Array, Vertex, Array]:
    """Return theta, the vertex, and d of the rows near the plane, from these and the sums of those on either side."""
    rows = gather_rows(problem, near) * weight[near][:, None]
    if side is not None:
        sums = [weighted_total(problem, side == one, weight) for one in (1.0, -1.0) if (side == one).any()]
        rows = np.concatenate([rows, *(one[None] for one in sums)])
    rows[:, 0] *= problem.intercept
    t, own = rows[:, -1], int(near.sum())
    if basis.shape[0] == basis.shape[1]:  # the rows determine all directions
        moved = np.append(0.0, problem.view.offset * problem.intercept)
        sparse = _sparse(rows[:, :-1], moved)
        start = theta[0].copy()
        if sparse is not None:
            start[0] += moved @ start
        vertex = solve_program(rows[:, :-1] if sparse is None else sparse, t, level, start)
        found = vertex.theta.copy()
        if sparse is not None:
            found[0] -= moved @ found
        return found[None], vertex, vertex.d[:own]
    start = np.linalg.lstsq(basis, theta[0])[0]
    vertex = solve_program(rows[:, :-1] @ basis, t, level, start)
    return (basis @ vertex.theta)[None], vertex, vertex.d[:own]


def _sparse(rows: Array, moved: Array) -> AnyArray:
    """Return rows (n, p) less their first column times `moved` (p,), which views add, as CSR; None if few are zero."""
    first = rows[:CHUNK_ROWS]
    if np.count_nonzero(first - first[:, :1] * moved) > SPARSE_SHARE * first.size:
        return None
    found = scipy.sparse.csr_array(rows - rows[:, :1] * moved)
    return found if found.nnz <= SPARSE_SHARE * rows.size else None


def _turned(a: AnyArray) -> AnyArray:
    """Return A', as CSR where rows are."""
    return a.T.tocsr() if is_sparse(a) else a.T


def _products(a: AnyArray, turned: AnyArray, weight: Array | None) -> Array:
    """Return A' diag(weight) A, (p, p), of rows a (n, p) and A', sparse or not."""
    if is_sparse(a):
        data = turned.data if weight is None else turned.data * weight[turned.indices]
        return np.asarray((type(turned)((data, turned.indices, turned.indptr), turned.shape) @ a).toarray())
    out = np.zeros((a.shape[1], a.shape[1]))
    for first in range(0, len(a), CHUNK_ROWS):
        rows = a[first : first + CHUNK_ROWS]
        out += (rows if weight is None else rows * weight[first : first + CHUNK_ROWS, None]).T @ rows
    return out


def _solver(a: AnyArray, weight: Array, least: float = GOOD_RANK) -> tuple[AnyArray, float] | None:
    """Return what solves A' diag(weight) A x = b, and the condition of A; None where that is not clearly of full rank.

    The error of a solve is a small share of the solution, which refinement removes.
    """
    products = _products(a, _turned(a), weight)
    values = np.linalg.eigvalsh(products)
    if not values[0] > least * values[-1]:
        return None
    return linalg.cho_factor(products), float(np.sqrt(values[-1] / values[0]))


def _sampled(positive: NDArray[np.bool_], most: int) -> NDArray[np.bool_]:
    """Return a random choice of at most `most` rows, the same one every time."""
    rows = np.flatnonzero(positive)
    out = np.zeros(len(positive), dtype=bool)
    out[np.random.default_rng(0).choice(rows, min(most, len(rows)), replace=False)] = True
    return out


def _nearest(r: Array, among: NDArray[np.bool_], rows: float) -> NDArray[np.bool_]:
    """Return which of the rows are nearest to the plane: about so many, at least MOST_TOGETHER, or all."""
    n = int(among.sum())
    most = int(min(n, max(rows, MOST_TOGETHER)))
    if most == n:
        return among
    size = np.where(among, np.abs(r), np.inf)
    return np.asarray(size <= np.partition(size, most - 1)[most - 1])


def _loss(r: Array, weight: Array, level: float) -> float:
    return float(weight @ np.where(r > 0, level * r, (level - 1.0) * r))


def _gap(
    problem: Problem,
    level: float,
    weight: Array,
    r: Array,
    zero: NDArray[np.bool_],
    d: Array,
    near: NDArray[np.bool_],
    theta: Array,
) -> float:
    """Return the distance of the objective from a dual value: d is 1 above, 0 below, and corrected on the plane.

    With r = t - A theta and A'(w d) = (1 - level) A'w, the dual value is the sum of w (d - 1 + level) r: off the plane
    what the loss is, on it nothing. d is corrected by the least amount relative to its distance from 0 and 1, so that
    it stays between them. What d then lacks to satisfy the equations costs about that times theta.
    """
    full = (r > 0).astype(np.float64)
    full[near] = np.where(zero[near], d, full[near])
    rows = gather_rows(problem, zero)[:, :-1] * weight[zero][:, None]
    rows[:, 0] *= problem.intercept
    lack = -weighted_total(problem, np.ones(len(r), dtype=bool), weight * (full - 1.0 + level))[:-1]
    lack[0] *= problem.intercept
    if zero.any():
        room = np.minimum(full[zero], 1.0 - full[zero]).clip(0.0)
        more, before = np.zeros(len(rows)), np.abs(lack).max()
        solver = _solver(rows, room**2, LEAST_RANK)
        if solver is not None:
            for _ in range(3):
                more += room**2 * (rows @ linalg.cho_solve(solver[0], lack - rows.T @ more))
        if not np.abs(lack - rows.T @ more).max() <= DUAL_ROUNDING * before:
            more = room * linalg.lstsq(rows.T * room, lack, cond=ZERO_VALUE)[0]
        full[zero] += more
        lack = lack - rows.T @ more
    if np.maximum(-full, full - 1.0).max(initial=0.0) > DUAL_ROUNDING:
        return np.inf
    return float(np.abs(lack) @ np.abs(theta[0]))


class End(Enum):
    """How the interior point method ended: STUCK far from the solution, STALLED near it."""

    CONVERGED = auto()
    STALLED = auto()
    STUCK = auto()


def _follow(a: AnyArray, t: Array, level: float, theta: Array) -> tuple[Vertex, End]:
    """Return a solution by the interior point method: d and 1 - d, times how far rows lie below and above, go to 0."""
    share = np.repeat([[1.0 - level], [level]], len(t), axis=1)
    turned = _turned(a)
    total = turned @ share[0]
    r = t - a @ theta
    size = float(np.abs(r).mean()) or 1.0
    slack = np.maximum([-r, r], 0.0) + FIRST_SLACK * size
    best, stalled, steps = np.inf, 0, 0
    while not _is_rounding(gap := float(np.vdot(slack, share)), slack):
        stalled = stalled + 1 if gap > 0.9 * best else 0
        best = min(best, gap)
        goes_on = stalled < STALLED_STEPS and steps < MOST_STEPS
        moved = _step(a, turned, t, total - turned @ share[0], theta, share, slack) if goes_on else None
        if moved is None:
            least = SINGULAR_GAP if goes_on else STALLED_GAP
            left = least * float(np.abs(t - a @ theta).sum()) + ROUNDING * float(np.abs(t).sum())
            end = End.STUCK if gap > left else End.STALLED
            break
        theta, share, slack = moved
        steps += 1
    else:
        end = End.CONVERGED
    return _onto_plane(a, t, theta, share[0], share[1], steps), end


def _is_rounding(gap: float, slack: Array) -> bool:
    """Whether a gap is rounding beside the median residual; that is at most twice the mean, which is known sooner."""
    n = slack.shape[1]
    return gap <= 2 * ROUNDING_GAP * float(slack.sum()) and gap <= ROUNDING_GAP * n * float(
        np.median(slack.sum(axis=0))
    )


@np.errstate(all="ignore")  # where many rows tie, shares underflow; what is not finite is refused at the end
def _step(
    a: AnyArray, turned: AnyArray, t: Array, lack: Array, theta: Array, share: Array, slack: Array
) -> tuple[Array, Array, Array] | None:
    """Take a predictor and a corrector step; None where rounding leaves no direction.

    `turned` is A'. `share` and `slack` are (2, n): d and 1 - d, and how far rows lie below and above. `lack` (p,) is
    what rounding has left of the equations for A'd.
    """
    ratio, away = slack / share, t - a @ theta
    q = 1.0 / (ratio[0] + ratio[1])
    root, failed = lapack.dpotrf(_products(a, turned, q))
    if failed:
        return None

    def direction(lean: Array) -> tuple[Array, Array]:
        """Return the steps of theta and of d where d leans as it does."""
        turn = lapack.dpotrs(root, turned @ (q * lean) - lack)[0]
        return turn, q * (lean - a @ turn)

    def reach(v: Array, dv: Array) -> float:
        """Return the share of a step that leaves all of v above zero."""
        steepest = float(np.fmin.reduce(dv / v, axis=None))
        return min(1.0, -BOUNDARY_SHARE / steepest) if steepest < 0 else 1.0

    dd = direction(away)[1]
    more = np.stack([dd, -dd])
    move = -slack - ratio * more
    gap = float(np.vdot(slack, share))
    left = float(np.vdot(slack + reach(slack, move) * move, share + reach(share, more) * more))
    mu = gap * (left / gap) ** 3 / (2 * slack.shape[1])
    push = (mu - more * move) / share  # complementarity is to change by its product with share
    turn, dd = direction(away - (push[1] - push[0]))
    more = np.stack([dd, -dd])
    move = push - slack - ratio * more
    if not (np.isfinite(turn).all() and np.isfinite(dd).all()):
        return None
    dual = reach(slack, move)
    return theta + dual * turn, share + reach(share, more) * more, slack + dual * move


def _simplex(a: AnyArray, t: Array, level: float, theta: Array) -> Vertex:
    """Return a solution by the simplex method on the dual, or theta where that finds none."""
    found = scipy.optimize.linprog(
        -t, A_eq=a.T, b_eq=(1.0 - level) * a.sum(axis=0), bounds=(0.0, 1.0), method="highs-ds"
    )
    if found.x is None:
        return Vertex(theta, np.full(len(t), 1.0 - level), np.zeros(len(t), dtype=bool), False, np.inf, 0)
    return _onto_plane(a, t, -found.eqlin.marginals, found.x, 1.0 - found.x, int(found.nit))


def _onto_plane(a: AnyArray, t: Array, theta: Array, d: Array, s: Array, steps: int) -> Vertex:
    """Return the solution with theta moved onto the rows whose d lies between 0 and 1: every solution fits them."""
    r = t - a @ theta
    length = _lengths(a) + np.abs(t)
    size = np.abs(r) / np.where(length > 0, length, 1.0)
    typical = max(float(np.median(size)), 1e-6 * float(size.mean()), 1e-300)
    return _through(a, t, theta, d, np.minimum(d, s) * typical > size, steps)


def _through(a: AnyArray, t: Array, theta: Array, d: Array, on_plane: NDArray[np.bool_], steps: int) -> Vertex:
    """Return the solution with theta moved onto these rows."""
    rows = a[np.flatnonzero(on_plane)]
    if not on_plane.any():
        return Vertex(theta, d, on_plane, False, np.inf, steps)
    length = _lengths(rows) + np.abs(t[on_plane])
    unit = np.where(length > 0, length, 1.0)
    solver = _solver(rows, unit**-2.0)
    if solver is not None:
        for _ in range(3):
            theta = theta + linalg.cho_solve(solver[0], rows.T @ ((t - a @ theta)[on_plane] / unit**2))
        return Vertex(theta, d, on_plane, True, solver[1], steps)
    rows = as_dense(rows)
    for _ in range(2):
        gain, _, rank, values = linalg.lstsq(rows / unit[:, None], (t - a @ theta)[on_plane] / unit, cond=ZERO_VALUE)
        theta = theta + gain
    return Vertex(theta, d, on_plane, rank == a.shape[1], float(values[0] / values[rank - 1]), steps)


def _lengths(a: AnyArray) -> Array:
    """Return the lengths of rows, (n,), sparse or not."""
    return np.asarray(scipy.sparse.linalg.norm(a, axis=1) if is_sparse(a) else np.linalg.norm(a, axis=1))
