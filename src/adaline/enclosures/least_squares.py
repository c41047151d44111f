"""Enclosures of the solution of least squares and ridge: (X'WX + P) theta = X'Wt.

With the preconditioner T (`preconditioner.py`), B = T'(X'WX + P)T and || I - B || <= alpha < 1, the solution is

    theta = theta~ + T B^-1 T'g,   g = X'W(t - X theta~) - P theta~

for any theta~, and || B^-1 T'g - y || <= (|| T'g - y || + alpha || y ||) / (1 - alpha) for any y. With y the computed
T'g, coefficient j lies within its T_j y of theta~_j, up to || T_j || times that. theta~ is kept as hi + lo, and g is
computed in double-double, so that what is left is far below a unit in the last place; each further pass moves theta~.

The rounding of g, per target (`native/residual.hpp`; the reference rounds less):

    r~_i - r_i  is at most  8 (D + 4)^2 u^2 a_i,   a_i = |t_i| + |theta_0| + sum_j |v_ij theta_j|
    g~_j - sum_i w_i v_ij r~_i  is at most  (40 m + 200) u^2 || v_j || || r~ ||,   m terms of a lane, and of merges

The first passes through X'W, so that T'X'W(r~ - r) is at most || X T || times its length, sqrt(1 + alpha) times that of
(a_i), which is at most || t || + |theta_0| sqrt(W) + sum_j || v_j || |theta_j|.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adaline import twofold
from adaline.arrays import Array
from adaline.enclosures.preconditioner import Preconditioner, RowSizes, precondition, scaled_penalties
from adaline.enclosures.rounding import OUTWARDS, ROUNDING, TINY, ends, rows_length, scaled_outwards
from adaline.penalties import RidgePenalty
from adaline.sources import Source
from adaline.sums import Residual, Theta

PIECE_ROWS = 2048  # rows of a piece; doubling it doubles the bound on rounding, halving it takes longer
MOST_STEPS = 8  # passes over residuals; most problems need one or two
ENOUGH = ROUNDING / 8  # relative radius from which a further pass cannot make an interval shorter


class Location(NamedTuple):
    """Where a solution is: theta = hi + lo + e + T z with || z || <= reach, scaled; for each target, (K, 1 + D).

    Parameters
    ----------
    hi, lo : centres.
    rounded : (K, 1 + D) bounds on e, what rounding did to the centres.
    reach : (K,) bounds on the length of z.
    """

    hi: Array
    lo: Array
    rounded: Array
    reach: Array


class LeastSquaresEnclosure(NamedTuple):
    """What is proved of the solution of K targets.

    Parameters
    ----------
    bounds : lower and upper ends (K, 1 + D) in raw units; infinite where uniqueness is not proved.
    reason : why it is not; "" where it is.
    passes : times the rows were read.
    ball, known, sizes : where the solution is, the preconditioner, and the sizes of the rows; None without a proof.
    """

    bounds: tuple[Array, Array]
    reason: str
    passes: int
    ball: Location | None = None
    known: Preconditioner | None = None
    sizes: RowSizes | None = None

    @np.errstate(all="ignore")
    def outputs(self, x: Array) -> tuple[Array, Array]:
        """Return bounds (n, K) on the outputs w0 + w'x of rows x (n, D) by the exact solution."""
        if self.ball is None or self.known is None or self.sizes is None:
            nowhere = np.full((len(x), len(self.bounds[0])), np.inf)
            return -nowhere, nowhere
        d, ball = x.shape[1], self.ball
        powers = self.sizes.exponent.astype(np.int64)
        v = np.column_stack([np.full(len(x), float(bool(self.known.constant))), np.ldexp(x, -powers[:d])])
        size = np.abs(v)
        hi, lo = np.zeros((2, len(x), len(ball.hi)))
        for j in range(1 + d):
            term = twofold.multiply(v[:, j, None], np.zeros((len(x), 1)), ball.hi[:, j], ball.lo[:, j])
            hi, lo = twofold.add(hi, lo, *term)
        made_of = size @ np.abs(ball.hi).T
        radius = 8 * (d + 4) ** 2 * ROUNDING**2 * made_of + size @ ball.rounded.T
        radius += np.outer(self.known.pulled_lengths(v), ball.reach) + TINY * (1 + d) * (1 + made_of + size.sum())
        return scaled_outwards(*ends(hi, lo, OUTWARDS * radius), powers[d:])


@np.errstate(all="ignore")
def enclose_least_squares(
    source: Source, intercept: bool, penalty: RidgePenalty, start: Array
) -> LeastSquaresEnclosure:
    """Return bounds on the exact solution for the rows; `start` (K, 1 + D) is near it, in raw units."""
    before = source.reads[0]
    d, targets = source.shape

    def refused(reason: str) -> LeastSquaresEnclosure:
        nowhere = np.full((targets, 1 + d), np.inf)
        return LeastSquaresEnclosure((-nowhere, nowhere), reason, source.reads[0] - before)

    if not penalty.any() and source.count_rows() < d + intercept:
        return refused(f"{source.count_rows()} rows cannot determine {d + intercept} coefficients")
    found, sizes = precondition(source, intercept, penalty)
    if found is None:
        return refused(
            "uniqueness is not proved: columns are constant, or linear combinations of others up to rounding; "
            "drop them, or use a penalty"
        )
    powers = sizes.exponent[d:, None] - np.append(0.0, sizes.exponent[:d])
    hi = np.ldexp(start, -powers.astype(np.int64)) * np.append(float(intercept), np.ones(d))
    hi = np.where(np.isfinite(hi), hi, 0.0)
    lo = np.zeros_like(hi)
    lower, upper = np.full(hi.shape, -np.inf), np.full(hi.shape, np.inf)
    last, lengths = np.full(len(hi), np.inf), found.row_lengths()
    for _ in range(MOST_STEPS):
        ball = _step(source, found, sizes, penalty, (hi, lo))
        if not all(np.isfinite(one).all() for one in ball):
            return refused("numbers are out of the range of float64: rescale the columns")
        hi, lo = ball.hi, ball.lo
        radius = OUTWARDS * (np.outer(ball.reach, lengths) + ball.rounded)
        low, high = ends(hi, lo, radius)
        lower, upper = np.fmax(lower, low), np.fmin(upper, high)
        short = (radius <= ENOUGH * np.abs(hi)).all(axis=1) | (ball.reach > last / 2)
        last = ball.reach
        if short.all():
            break
    bounds = scaled_outwards(lower, upper, powers)
    return LeastSquaresEnclosure(bounds, "", source.reads[0] - before, ball, found, sizes)


def _step(
    source: Source, known: Preconditioner, sizes: RowSizes, penalty: RidgePenalty, theta: tuple[Array, Array]
) -> Location:
    """Return the ball about theta~ + T y, from the residuals at theta~: one pass."""
    hi, lo = theta
    d = source.shape.features
    sums = source.sum(Residual, Theta(hi, lo, sizes.exponent), most_rows=PIECE_ROWS).sums
    gradient = sums[:, :-1, 0].copy(), sums[:, :-1, 1].copy()
    norms, size = sizes.columns, OUTWARDS * (np.abs(hi) + np.abs(lo))
    missing = OUTWARDS * np.sqrt(sums[:, -1, 0]) + TINY
    chains = min(sizes.rows, PIECE_ROWS) / 2 + 16 + sizes.rows / PIECE_ROWS
    lost = (40 * chains + 200) * ROUNDING**2 * missing[:, None] * norms
    pull = scaled_penalties(penalty, sizes.exponent)
    drawn = twofold.multiply(-pull[0], -pull[1], hi[:, 1:], lo[:, 1:])
    lost[:, 1:] += 32 * ROUNDING**2 * (np.abs(gradient[0][:, 1:]) + np.abs(drawn[0]))
    for part, total in zip(gradient, twofold.add(*(one[:, 1:] for one in gradient), *drawn), strict=True):
        part[:, 1:] = total
    below = 1 + norms.max() + size.max(initial=0.0) + sizes.targets.max(initial=0.0)
    lost = OUTWARDS * lost + TINY * (sizes.rows + 1) * (d + 4) * below**4
    pulled = known.pull(*gradient, lost)
    made_of = sizes.targets + size @ norms
    through = 8 * (d + 4) ** 2 * ROUNDING**2 * np.sqrt(1 + known.defect) * made_of
    wrong = OUTWARDS * through + rows_length(pulled.error)
    reach = OUTWARDS * (wrong + known.defect * rows_length(pulled.values)) / (1 - known.defect)
    pushed = known.push(pulled.values)
    hi, lo = twofold.add(hi, lo, pushed.values, np.zeros_like(hi))
    rounded = OUTWARDS * (pushed.error + 2.0**-100 * (np.abs(hi) + np.abs(pushed.values)))
    rounded[:, 0] *= bool(known.constant)
    return Location(hi, lo, np.asarray(rounded), np.asarray(reach))
