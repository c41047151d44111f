"""Where a solution is proved to be: about a point, along the columns of a preconditioner; and the outputs it gives.

Let -g be the gradient of the objective at theta~, and B the mean of T'HT between theta~ and the solution, with
|| I - B || <= alpha < 1 (least squares: H does not change). Then

    theta = theta~ + T y + T z,   || z || <= (|| T'g - y || + alpha || y ||) / (1 - alpha)

for any y. With y the computed T'g, theta~ + T y is the next theta~, kept as hi + lo. All bounds that are found on the
way hold, and so does their intersection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from adaline import twofold
from adaline.arrays import Array
from adaline.enclosures.preconditioner import Pulled, Pushed, RowSizes
from adaline.enclosures.rounding import OUTWARDS, ROUNDING, TINY, ends, rounds_to_nearest, rows_length, scaled_outwards
from adaline.sources import Source

MOST_STEPS = 8  # passes over residuals; most problems need one or two
ROUNDING_MODE = "the rounding mode was changed: restore rounding to nearest"
TRAILING_ERROR = 2.0**-90  # relative error of columns in two parts, and more: of products of up to 2^13 factors
ENOUGH = ROUNDING / 8  # relative radius from which a further pass cannot make an interval shorter


class Stepped(NamedTuple):
    """T'g of each target, and how far outputs move along T.

    Parameters
    ----------
    pulled : T'g with bounds on its errors.
    wrong : bounds (K,) on the length of what is wrong beside them.
    farthest : the largest length of T'x of a row, where second derivatives depend on the outputs.
    """

    pulled: Pulled
    wrong: Array
    farthest: float = 0.0

    def lengths(self) -> Array:
        """Return upper bounds (K,) on || T'g ||."""
        return np.asarray(OUTWARDS * (rows_length(self.pulled.values) + self.lost()))

    def lost(self) -> Array:
        """Return upper bounds (K,) on || T'g - y ||."""
        return np.asarray(OUTWARDS * (self.wrong + rows_length(self.pulled.error)))


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


class AnyPreconditioner(Protocol):
    """A matrix T of which it is proved that || I - T'HT || is at most `defect`: see `Preconditioner`."""

    @property
    def defect(self) -> float: ...
    @property
    def constant(self) -> float: ...
    def push(self, y: Array) -> Pushed: ...
    def row_lengths(self) -> Array: ...
    def pulled_lengths(self, v: Array) -> Array: ...


class LinearEnclosure(NamedTuple):
    """What is proved of the solution of K targets.

    Parameters
    ----------
    bounds : lower and upper ends (K, 1 + D) in raw units; infinite where uniqueness is not proved.
    reason : why it is not; "" where it is.
    passes : times the rows were read.
    found, known, sizes : where the solution is, the preconditioner, and the sizes of the rows; None without a proof.
    """

    bounds: tuple[Array, Array]
    reason: str
    passes: int
    found: Location | None = None
    known: AnyPreconditioner | None = None
    sizes: RowSizes | None = None

    @np.errstate(all="ignore")
    def outputs(self, x: Array) -> tuple[Array, Array]:
        """Return bounds (n, K) on the outputs w0 + w'x of rows x (n, D) by the exact solution.

        Rows (n, 2 D) are leading and trailing parts of columns, which have an error of TRAILING_ERROR.
        """
        if self.found is None or self.known is None or self.sizes is None or not rounds_to_nearest():
            unbounded = np.full((len(x), len(self.bounds[0])), np.inf)
            return -unbounded, unbounded
        d, found = len(self.bounds[0][0]) - 1, self.found
        powers = self.sizes.exponent.astype(np.int64)
        v = np.column_stack([np.full(len(x), float(bool(self.known.constant))), np.ldexp(x[:, :d], -powers[:d])])
        below, parted = np.zeros_like(v), x.shape[1] > d
        if parted:
            below[:, 1:] = np.ldexp(x[:, d:], -powers[:d])
        size = np.abs(v)
        hi, lo = np.zeros((2, len(x), len(found.hi)))
        for j in range(1 + d):
            term = twofold.multiply(v[:, j, None], below[:, j, None], found.hi[:, j], found.lo[:, j])
            hi, lo = twofold.add(hi, lo, *term)
        made_of = size @ np.abs(found.hi).T
        radius = 8 * (d + 4) ** 2 * ROUNDING**2 * made_of + size @ found.rounded.T
        lengths = self.known.pulled_lengths(v)
        if parted:
            radius += TRAILING_ERROR * made_of
            lengths = lengths + 2 * ROUNDING * size @ self.known.row_lengths()
        radius += np.outer(lengths, found.reach) + TINY * (1 + d) * (1 + made_of + size.sum())
        lower, upper = scaled_outwards(*ends(hi, lo, OUTWARDS * radius), self.sizes.targets_exponent)
        lost = np.isnan(lower) | np.isnan(upper)  # beyond the range of float64
        return np.where(lost, -np.inf, lower), np.where(lost, np.inf, upper)


def nowhere(targets: int, d: int, reason: str, passes: int) -> LinearEnclosure:
    """Return that nothing is proved, and why."""
    far = np.full((targets, 1 + d), np.inf)
    return LinearEnclosure((-far, far), reason, passes)


def narrow(
    step: Callable[[Array, Array], Stepped],
    source: Source,
    known: AnyPreconditioner,
    sizes: RowSizes,
    hi: Array,
    *,
    first: Stepped | None = None,
    within: float = np.inf,
) -> LinearEnclosure:
    """Return the bounds that steps from hi (K, 1 + D) lead to, the first of which may have been taken.

    The preconditioner is proved within a ball about hi: || T^-1 (theta~ - hi) || <= within.
    """
    before = source.reads[0]
    d = len(sizes.columns) - 1
    powers = sizes.targets_exponent[:, None] - np.append(0.0, sizes.exponent[:d])
    lo, lengths = np.zeros_like(hi), known.row_lengths()
    lower, upper = np.full(hi.shape, -np.inf), np.full(hi.shape, np.inf)
    last, away = np.full(len(hi), np.inf), np.zeros(len(hi))
    found: Location | None = None
    for _ in range(MOST_STEPS):
        taken = step(hi, lo) if first is None else first
        first, before_it = None, found
        found = _located(taken, known, hi, lo)
        if not all(np.isfinite(one).all() for one in found):
            reason = "numbers are out of the range of float64: rescale the columns"
            if before_it is None:
                return nowhere(len(hi), d, reason, source.reads[0] - before)
            found = before_it
            break
        hi, lo = found.hi, found.lo
        radius = OUTWARDS * (np.outer(found.reach, lengths) + found.rounded)
        low, high = ends(hi, lo, radius)
        lower, upper = np.fmax(lower, low), np.fmin(upper, high)
        short = (radius <= ENOUGH * np.abs(hi)).all(axis=1) | (found.reach > last / 2)
        last = found.reach
        back = np.sqrt(1 + known.defect) / (1 - known.defect) * (found.rounded @ sizes.columns)
        away = away + OUTWARDS * (taken.lengths() + back)
        if short.all() or (away > within).any():
            break
    bounds = scaled_outwards(lower, upper, powers)
    return LinearEnclosure(bounds, "", source.reads[0] - before, found, known, sizes)


def _located(taken: Stepped, known: AnyPreconditioner, hi: Array, lo: Array) -> Location:
    """Return where the solution is, about theta~ + T y."""
    y = taken.pulled.values
    reach = OUTWARDS * (taken.lost() + known.defect * rows_length(y)) / (1 - known.defect)
    pushed = known.push(y)
    hi, lo = twofold.add(hi, lo, pushed.values, np.zeros_like(hi))
    rounded = OUTWARDS * (pushed.error + 2.0**-100 * (np.abs(hi) + np.abs(pushed.values)))
    rounded[:, 0] *= bool(known.constant)
    return Location(hi, lo, np.asarray(rounded), np.asarray(reach))
