"""Enclosures of the minimum of a penalised likelihood: sum weight loss(z, t) + 1/2 theta'P theta, with |c'| <= b c.

c is the curvature of the loss; b, of each row, holds where its output moves by at most 1 / b (`bounded_slope.py`), so
that c(z + d) lies there between exp(-b |d|) c(z) and exp(b |d|) c(z). H is the matrix of second derivatives at theta~,
T a matrix with || I - T'HT || <= alpha (`preconditioner.py`), and L the largest b_i || T'x_i ||. In the ball
theta~ + T z, || z || <= r, where r L <= 1, the output of row i moves by at most r L / b_i, so that second derivatives
there have

    || I - T'H(theta)T || <= alpha(r) = alpha + (exp(r L) - 1) (1 + alpha)

alpha(r) < 1 implies r L < ln 2. If it holds, and || T'g || <= r (1 - alpha(r)), with -g the gradient at theta~, then
z + T'g(theta~ + T z) is a contraction of the ball into itself: there is a minimum in the ball, and as H is positive
definite there, and the objective convex, no other anywhere. Two points of the ball are the ends of a line inside it,
along which the mean of T'HT is as near to I: the bounds of `linear.py` hold about each of them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from adaline.arrays import Array
from adaline.block import MIN_BLOCK_ROWS
from adaline.enclosures.least_squares import draw_back, enclose_least_squares
from adaline.enclosures.linear import ENOUGH, ROUNDING_MODE, LinearEnclosure, Stepped, narrow, nowhere
from adaline.enclosures.preconditioner import Preconditioner, RowSizes, precondition, scaled_penalties
from adaline.enclosures.rounding import OUTWARDS, ROUNDING, TINY, rounds_to_nearest
from adaline.errors import InvalidParameter
from adaline.links import name_of
from adaline.losses import Linked, Loss, Offset, Squared
from adaline.penalties import RidgePenalty
from adaline.sources import Source
from adaline.sums import BoundedScore, LinkedPoint
from adaline.sums.bounded_score import RUN_ROWS
from adaline.sums.bounded_slope import is_enclosed

MOST_NEWTON_STEPS = 20  # before a ball is found that has the minimum in it; fits that have converged need none
ROOM = 4.0  # radius of the ball over the length of the first step; much larger, it does not map into itself
# length of a Newton step in float64 above which no proof is tried, and below which no further step is taken
FAR, NEAR = 0.01, 2.0**-36
MOST_LENGTH = 2.0**50  # of a row in the metric of H: a row whose curvature underflows is still negligible below it
MISSING = "it is not proved that there is a minimum, and only one: "
DEPENDENT = "columns may be constant or depend on others, or a hyperplane separate the classes; use a penalty"


def enclose_loss(source: Source, loss: Loss, intercept: bool, penalty: RidgePenalty, theta: Array) -> LinearEnclosure:
    """Return bounds on the minimum for the rows, of a loss as it is fitted; `theta` (1 + D,) is near it."""
    row = loss.loss if isinstance(loss, Offset) else loss
    refuse_loss(loss)
    if isinstance(row, Squared):
        return enclose_least_squares(source, intercept, penalty, theta[None])
    likelihood = row.linked
    assert isinstance(likelihood, Linked)
    point = LinkedPoint(likelihood, isinstance(loss, Offset), theta, np.zeros_like(theta), np.zeros(len(theta) - 1))
    return enclose_likelihood(source, point, intercept, penalty)


@np.errstate(all="ignore")
def enclose_likelihood(source: Source, point: LinkedPoint, intercept: bool, penalty: RidgePenalty) -> LinearEnclosure:
    """Return bounds on the minimum for the rows; `point` has the likelihood, and raw coefficients near the minimum."""
    before, d = source.reads[0], source.shape.features
    if not rounds_to_nearest():
        return nowhere(1, d, ROUNDING_MODE, 0)
    reason, last = MISSING + "Newton's method does not get near one", np.inf
    for _ in range(MOST_NEWTON_STEPS):
        known, sizes, gradient = precondition(source, intercept, penalty, point)
        if known is None:
            reason = MISSING + DEPENDENT
            break
        powers = np.append(0.0, sizes.exponent[:d]).astype(np.int64)
        hi = (np.ldexp(point.hi, powers) * np.append(float(intercept), np.ones(d)))[None]
        none = np.zeros_like(hi)
        rough = np.ldexp(gradient, -powers)[None]
        rough[:, 1:] -= scaled_penalties(penalty, sizes.exponent)[0] * hi[:, 1:]
        step = known.pull(rough, none, none).values
        size = float(np.sqrt(np.square(step).sum()))
        if size > FAR or max(NEAR, _near_enough(known, hi)) < size < last / 2:
            point, last = point._replace(hi=np.ldexp((hi + known.push(step).values)[0], -powers)), size
            continue
        first = _step(source, known, sizes, penalty, point, hi, none)
        length, farthest = float(first.lengths()[0]), first.farthest
        if not (math.isfinite(length) and farthest < MOST_LENGTH):
            reason = MISSING + "outputs lie beyond the range in which the rounding of slopes is proved"
            break
        radius = ROOM * length
        defect = known.defect + math.expm1(min(radius * farthest, 700.0)) * (1 + known.defect)
        defect = OUTWARDS * defect + TINY
        if defect < 1 and length <= radius * (1 - defect):
            near = replace(known, defect=defect)
            step_from = partial(_step, source, near, sizes, penalty, point)
            found = narrow(step_from, source, near, sizes, hi, first=first, within=radius)
            return found._replace(passes=source.reads[0] - before)
        break
    return nowhere(1, d, reason, source.reads[0] - before)


def refuse_loss(loss: Loss) -> None:
    """Refuse a loss that has no enclosures, and say why."""
    row = loss.loss if isinstance(loss, Offset) else loss
    if isinstance(row, Squared):
        if isinstance(loss, Offset):
            raise InvalidParameter("no enclosures of loss='squared' with offsets: subtract them from y")
        return
    if is_enclosed(row.linked):
        return
    link = f", link={name_of(row.linked.link)!r}" if isinstance(row.linked, Linked) else ""
    reason = "it is not known to be strictly convex, with a curvature that changes continuously"
    if row.name == "gaussian" and row.convex:
        reason = "use loss='squared', which is the same"
    elif row.coupled:
        reason = "use LogisticRegression, which encloses more than two classes too"
    elif row.corners:
        reason = "it has corners, where it has no slope"
    raise InvalidParameter(f"no enclosures of loss={row.name!r}{link}: {reason}")


def _near_enough(known: Preconditioner, hi: Array) -> float:
    """Return a length of Newton's step from which one step in double-double is likely to give the last place.

    After it, || z || is at most about ROOM L size^2, of rows whose lengths L are not far from what they are on average.
    """
    longest = 4 * np.sqrt(hi.shape[1]) * known.constant
    relative = (known.row_lengths() / np.abs(hi)).max(initial=0.0, where=known.row_lengths() > 0)
    return float(np.sqrt(ENOUGH / (2 * ROOM * longest * relative))) if longest > 0 else 0.0


def _step(
    source: Source,
    known: Preconditioner,
    sizes: RowSizes,
    penalty: RidgePenalty,
    point: LinkedPoint,
    hi: Array,
    lo: Array,
) -> Stepped:
    """Return T'g at hi + lo: one pass."""
    here = point._replace(hi=hi[0], lo=lo[0], exponent=sizes.exponent)
    sums = source.sum(BoundedScore, (here, known))
    gradient = sums.gradient[None, :, 0].copy(), sums.gradient[None, :, 1].copy()
    run = min(sizes.rows, RUN_ROWS)
    units = 40 * (run / 2 + 16) + run + 400 + 16 * (sizes.rows / MIN_BLOCK_ROWS + 64)
    lost = units * ROUNDING**2 * sums.size[None] + draw_back(gradient, penalty, sizes, hi, lo)
    below = 1 + sums.size.max() + np.abs(hi).max(initial=0.0) + sizes.columns.max()
    lost = OUTWARDS * lost + TINY * (sizes.rows + 1) * (hi.shape[1] + 4) * below**4
    return Stepped(known.pull(*gradient, lost), np.array([sums.wrong]), sums.farthest)
