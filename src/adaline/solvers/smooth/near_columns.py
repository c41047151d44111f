"""Columns that nearly depend on those before them, replaced by their residuals on these.

    z = w0 + sum_i w_i x_i + w_a x_a,   r_a = x_a - m_a - sum_i c_ai x_i
      = (w0 + m_a w_a) + sum_i (w_i + c_ai w_a) x_i + w_a r_a

Second derivatives square the condition of the columns, and outputs add up large coefficients that nearly cancel; with
r_a, in double-double arithmetic, neither happens. Any numbers c and m will do, as long as r_a is computed with these:
they are those of least squares on a sample of the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from adaline import twofold
from adaline.arrays import Array
from adaline.basis.base import Basis
from adaline.penalties import RidgePenalty
from adaline.solvers.least_squares.dependence import Dependence
from adaline.solvers.smooth.problem import TYPICAL_ROWS, Problem, build_problem
from adaline.sources.expanded import expanded
from adaline.sums import Triangle
from adaline.twofold import Twofold

# residual of a column on the others, relative to it, below which it is replaced; 10x larger takes more reads
NEAR_RESIDUAL = 1e-2
# the same, below which the column depends on them; 10x larger counts columns that differ as dependent
ZERO_RESIDUAL = 1e-13
MOST_CHECKED_COLUMNS = 512  # columns up to which near dependence is checked; doubling it takes 8 times the work


class Combinations(NamedTuple):
    """The columns (A,) that are replaced, and of each what is taken off: weights (A, D) of others, and a number.

    `least` is the smallest share of a column that others leave of it.
    """

    columns: NDArray[np.intp]
    weights: Array
    constants: Array
    least: float


class Remainders(Basis):
    """Rows with columns replaced by their residuals on other columns."""

    def __init__(self, taken: Combinations) -> None:
        self.taken = taken
        self.n_features_in_ = taken.weights.shape[1]

    def of(self, x: Array) -> Array:
        """Return rows x (n, D) with the columns replaced, each sum in double-double arithmetic."""
        out = np.array(x, dtype=np.float64)
        raw = out.copy(order="F")
        for a, weights, constant in zip(*self.taken[:3], strict=True):
            hi, lo = twofold.two_sum(raw[:, a], -constant)
            for i in np.flatnonzero(weights).tolist():
                hi, lo = twofold.add(hi, lo, *twofold.two_prod(raw[:, i], -weights[i]))
            out[:, a] = hi + lo
        return out

    def names(self, given: list[str]) -> list[str]:
        """Return the names as they are."""
        return given


@dataclass(frozen=True, kw_only=True)
class TurnedProblem(Problem):
    """The objective of a problem over the rows of `Remainders`; `turn` (1 + D, 1 + D) makes raw coefficients of its.

    `condition` is about that of the raw columns.
    """

    original: Problem
    turn: Array
    condition: float

    def to_raw(self, theta: Array) -> Array:
        """Return coefficients of the raw columns, in raw units."""
        return np.asarray(super().to_raw(theta) @ self.turn.T)

    def to_scaled(self, theta: Array) -> Twofold:
        """Return coefficients of the raw columns times the scales of the original view, in double-double."""
        own, raw = super().to_scaled(theta), self.original.view.scale
        scale = np.concatenate([[1.0], self.view.scale])
        turn = self.turn * np.concatenate([[1.0], 1 / np.where(raw > 0, raw, np.inf)])[:, None]
        parts = []
        for hi, lo in zip(own.hi * scale, own.lo * scale, strict=True):
            terms = twofold.multiply(turn.T, np.zeros(turn.T.shape), hi[:, None], lo[:, None])
            parts.append(twofold.sum_rows(*terms))
        return Twofold(*(np.stack(side) for side in zip(*parts, strict=True)))

    def from_raw(self, theta: Array) -> Array:
        """Return coefficients in the view from those of the raw columns."""
        return super().from_raw(np.asarray(np.linalg.solve(self.turn, theta.T).T, dtype=np.float64))

    def in_original(self, theta: Array) -> Array:
        """Return coefficients in the view of the original problem."""
        return self.original.from_raw(self.to_raw(theta))

    def root_to_raw(self, root: Array) -> Array:
        """Return a root (K, 1 + D, M) of the covariance of the coefficients of the raw columns, in raw units."""
        return np.asarray(self.turn @ super().root_to_raw(root))

    def errors_to_raw(self, error: Array) -> Array:
        """Return bounds (K, 1 + D) on the errors of coefficients in raw units."""
        return np.asarray(super().errors_to_raw(error) @ np.abs(self.turn).T)

    @property
    def lengths(self) -> Array:
        """Root mean squares of the raw columns, (D,)."""
        return self.original.lengths

    def dependence(self, null: Array) -> Dependence:
        """Return the combinations among the raw columns."""
        each = (self.in_original(one.reshape(self.outputs, -1)).ravel() for one in null.T)
        return self.original.dependence(np.stack(list(each), axis=1))


def turned(problem: Problem) -> TurnedProblem | None:
    """Return the same objective without columns that nearly depend on others; None where none does.

    It takes a read for the spread of the columns, beside the sample.
    """
    taken = None if problem.source.sparse or problem.features > MOST_CHECKED_COLUMNS else nearly_dependent(problem)
    if taken is None:
        return None
    rows = expanded(problem.source, Remainders(taken))
    own = build_problem(
        *(rows, problem.loss, problem.outputs, problem.intercept, RidgePenalty(0.0, np.ones(problem.features)))
    )
    turn = np.eye(1 + problem.features)
    turn[1:, 1 + taken.columns] -= taken.weights.T
    turn[0, 1 + taken.columns] = -taken.constants
    known = {field.name: getattr(own, field.name) for field in fields(Problem)}
    return TurnedProblem(**known, original=problem, turn=turn, condition=1 / taken.least)


def nearly_dependent(problem: Problem) -> Combinations | None:
    """Return the columns that nearly depend on those before them, by the triangle of a sample; None where none does."""
    d, first = problem.features, int(problem.intercept)
    triangle = problem.drawn(TYPICAL_ROWS).sum(Triangle, centred=problem.intercept)
    r = np.zeros((first + d, first + d))
    r[: len(triangle.r)] = triangle.r[: first + d, : first + d]
    unit, inner = np.ldexp(1.0, triangle.exponent[:d].astype(np.int64)), r[first:, first:]
    mean = triangle.shift[:d] + unit * r[0, 1:] / r[0, 0] if first else np.zeros(d)
    size = np.hypot(np.linalg.norm(inner, axis=0), mean / unit * r[0, 0])
    columns, taken, least = [], [], math.inf
    basis, upper, alive = np.zeros((d, 0)), np.zeros((0, 0)), np.zeros(0, np.intp)
    for a in range(d):
        left, along = inner[:, a].copy(), np.zeros(len(alive))
        for _ in range(2):  # twice is enough
            more = basis.T @ left
            left, along = left - basis @ more, along + more
        weights = solve_triangular(upper, along) if len(alive) else along
        length = float(np.linalg.norm(left))
        if not length > ZERO_RESIDUAL * (size[a] + np.abs(weights) @ size[alive]):
            continue
        share = length / float(np.linalg.norm(inner[:, a]))
        if share < NEAR_RESIDUAL:
            columns.append(a)
            least = min(least, share)
            taken.append(np.zeros(d))
            taken[-1][alive] = weights * (unit[a] / unit[alive])
        upper = np.block([[upper, along[:, None]], [np.zeros((1, len(alive))), np.full((1, 1), length)]])
        basis, alive = np.column_stack([basis, left / length]), np.append(alive, a)
    if not columns or not np.isfinite(taken).all():
        return None
    return Combinations(np.array(columns), np.array(taken), mean[columns] - np.array(taken) @ mean, least)
