"""Enclosures of the solution of least squares and ridge: (X'WX + P) theta = X'Wt.

g = X'W(t - X theta~) - P theta~ is computed in double-double, so that what is left is far below a unit in the last
place. Its rounding, per target (`native/residual.hpp`; the reference rounds less):

    r~_i - r_i  is at most  8 (D + 4)^2 u^2 a_i,   a_i = |t_i| + |theta_0| + sum_j |v_ij theta_j|
    g~_j - sum_i w_i v_ij r~_i  is at most  (40 m + 200) u^2 || v_j || || r~ ||,   m terms of a lane, and of merges

The first passes through X'W, so that T'X'W(r~ - r) is at most || X T || times its length, sqrt(1 + alpha) times that of
(a_i), which is at most || t || + |theta_0| sqrt(W) + sum_j || v_j || |theta_j|.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from adaline import twofold
from adaline.arrays import Array
from adaline.enclosures.linear import ROUNDING_MODE, LinearEnclosure, Stepped, narrow, nowhere
from adaline.enclosures.polynomial import Leading, with_trailing
from adaline.enclosures.preconditioner import Preconditioner, RowSizes, precondition, scaled_penalties
from adaline.enclosures.rational import Between
from adaline.enclosures.rounding import OUTWARDS, ROUNDING, TINY, rounds_to_nearest
from adaline.penalties import RidgePenalty
from adaline.sources import Source
from adaline.sums import Residual, Theta

DEPENDENT = (
    "uniqueness is not proved: columns are constant, or linear combinations of others up to rounding; drop them, or "
    "use a penalty"
)
PENALISED = (
    "uniqueness is not proved: beside this penalty float64 does not tell the columns from combinations of others, or "
    "from zero; rescale the columns, or use another penalty"
)
PIECE_ROWS = 2048  # rows of a piece; doubling it doubles the bound on rounding, halving it takes longer


class Added(NamedTuple):
    """Numbers (K, 1 + D) as hi + lo, raw, with bounds on their errors."""

    hi: Array
    lo: Array
    error: Array

    @classmethod
    def of(cls, values: list[list[Between | None]]) -> Added:
        """Return intervals as such numbers; None is zero."""
        hi, lo, error = np.zeros((3, len(values), len(values[0])))
        for k, row in enumerate(values):
            for j, one in enumerate(row):
                if one is not None:
                    middle = (one.low + one.high) / 2
                    hi[k, j] = float(middle)
                    lo[k, j] = float(middle - Fraction(hi[k, j]))
                    left = abs(middle - Fraction(hi[k, j]) - Fraction(lo[k, j])) + (one.high - one.low) / 2
                    error[k, j] = OUTWARDS * float(left)
        return cls(hi, lo, error)

    def into(self, gradient: tuple[Array, Array], sizes: RowSizes) -> Array:
        """Add them to a gradient, hi and lo, and return bounds on the errors of that."""
        width = self.hi.shape[1]
        powers = -(np.append(0.0, sizes.exponent[: width - 1]) + sizes.targets_exponent[:, None]).astype(np.int64)
        hi, lo, error = (np.ldexp(one, powers) for one in self)
        lost = error + 32 * ROUNDING**2 * (np.abs(gradient[0]) + np.abs(hi))
        for part, total in zip(gradient, twofold.add(*gradient, hi, lo), strict=True):
            part[...] = total
        return np.asarray(OUTWARDS * lost)


@np.errstate(all="ignore")
def enclose_least_squares(
    source: Source,
    intercept: bool,
    penalty: RidgePenalty,
    start: Array,
    *,
    added: Added | None = None,
    degree: int = 0,
) -> LinearEnclosure:
    """Return bounds on the exact solution for the rows; `start` (K, 1 + D) is near it, in raw units.

    With `added`, that of the normal equations with these numbers added to X'Wt. With a `degree` columns are products
    of so many factors at most, as leading and trailing parts (`polynomial.py`).
    """
    before = source.reads[0]
    d, targets = source.shape
    d = d // 2 if degree else d
    if not rounds_to_nearest():
        return nowhere(targets, d, ROUNDING_MODE, 0)
    if not penalty.any() and source.count_rows() < d + intercept:
        reason = f"{source.count_rows()} rows cannot determine {d + intercept} coefficients"
        return nowhere(targets, d, reason, source.reads[0] - before)
    known, sizes, _ = precondition(Leading(source) if degree else source, intercept, penalty)
    if degree and known is not None:
        known = with_trailing(known, sizes)
    if known is None:
        return nowhere(targets, d, PENALISED if penalty.any() else DEPENDENT, source.reads[0] - before)
    powers = sizes.targets_exponent[:, None] - np.append(0.0, sizes.exponent[:d])
    hi = np.ldexp(start, -powers.astype(np.int64)) * np.append(float(intercept), np.ones(d))
    hi = np.where(np.isfinite(hi), hi, 0.0)
    found = narrow(partial(_step, source, known, sizes, penalty, added, degree), source, known, sizes, hi)
    return found._replace(passes=source.reads[0] - before)


def _step(
    source: Source,
    known: Preconditioner,
    sizes: RowSizes,
    penalty: RidgePenalty,
    added: Added | None,
    degree: int,
    hi: Array,
    lo: Array,
) -> Stepped:
    """Return T'g from the residuals at hi + lo: one pass."""
    d, width = source.shape.features, hi.shape[1]
    point = Theta(hi, lo, sizes.exponent)
    if degree:
        twice = np.r_[0:width, 1:width]
        point = Theta(hi[:, twice], lo[:, twice], sizes.exponent[np.r_[0 : width - 1, 0 : len(sizes.exponent)]])
    sums = source.sum(Residual, point, most_rows=PIECE_ROWS).sums
    norms, size = sizes.columns, OUTWARDS * (np.abs(hi) + np.abs(lo))
    missing = OUTWARDS * np.sqrt(sums[:, -1, 0]) + TINY
    chains = min(sizes.rows, PIECE_ROWS) / 2 + 16 + sizes.rows / PIECE_ROWS
    lost = (40 * chains + 200) * ROUNDING**2 * missing[:, None] * norms
    gradient = sums[:, :width, 0].copy(), sums[:, :width, 1].copy()
    if degree:  # trailing parts are summed beside leading ones, and are as much smaller as they are rounded
        for part, total in zip(gradient, _with_trailing_sums(sums, width), strict=True):
            part[:, 1:] = total
        lost += 16 * degree * ROUNDING**2 * missing[:, None] * norms + 32 * ROUNDING**2 * np.abs(gradient[0])
    if added is not None:
        lost += added.into(gradient, sizes)
    lost += draw_back(gradient, penalty, sizes, hi, lo)
    below = 1 + norms.max() + size.max(initial=0.0) + sizes.targets.max(initial=0.0)
    lost = OUTWARDS * lost + TINY * (sizes.rows + 1) * (d + 4) * below**4
    made_of = sizes.targets + size @ norms
    through = (8 * (d + 4) ** 2 + 16 * degree) * ROUNDING**2 * np.sqrt(1 + known.defect) * made_of
    return Stepped(known.pull(*gradient, lost), np.asarray(OUTWARDS * through))


def _with_trailing_sums(sums: Array, width: int) -> tuple[Array, Array]:
    leading, trailing = sums[:, 1:width], sums[:, width:-1]
    return twofold.add(leading[..., 0], leading[..., 1], trailing[..., 0], trailing[..., 1])


def draw_back(gradient: tuple[Array, Array], penalty: RidgePenalty, sizes: RowSizes, hi: Array, lo: Array) -> Array:
    """Take P theta from the gradient (K, 1 + D), hi and lo, and return bounds on the rounding of that."""
    pull = scaled_penalties(penalty, sizes.exponent)
    drawn = twofold.multiply(-pull[0], -pull[1], hi[:, 1:], lo[:, 1:])
    lost = np.zeros_like(hi)
    lost[:, 1:] = 32 * ROUNDING**2 * (np.abs(gradient[0][:, 1:]) + np.abs(drawn[0]))
    for part, total in zip(gradient, twofold.add(gradient[0][:, 1:], gradient[1][:, 1:], *drawn), strict=True):
        part[:, 1:] = total
    return lost
