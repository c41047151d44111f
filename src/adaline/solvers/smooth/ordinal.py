"""The problem of ordered classes: thresholds and slopes minimised together.

    F(theta) = sum over rows of weight x loss(threshold_t - w'v, threshold_(t-1) - w'v) + 1/2 sum_j ridge_j w_j^2

theta is (1, T + D), the T = K - 1 thresholds first, in the view of the columns. F is infinite where thresholds are out
of order, so that line searches keep them in it; within, it is convex. `to_machines` gives the T machines (T, 1 + D)
that separate the classes above each threshold from those below; their slopes are the same.

With the logistic function F is a sum of logistic losses and of -W_k ln(1 - exp(-width)), W_k the weight of class k and
width that between its thresholds. Third derivatives along a direction are at most |row| F'' for the first, and
|row| F'' + 2 F''^(3/2) / W_k^(1/2) for the second: in the bound on the gap 2 / min_k W_k^(1/2) is added to the length
of a row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np
from scipy import linalg

from adaline.arrays import Array
from adaline.attributes import own_attributes
from adaline.errors import InvalidData
from adaline.locks import cached_property
from adaline.losses import Loss, Offset
from adaline.losses.ordinal import CumulativeLink, Ordinal
from adaline.penalties import RidgePenalty
from adaline.solvers.smooth.problem import Evaluation, Problem, build_problem
from adaline.sources import Source
from adaline.sources.views import WithoutColumns
from adaline.sums import CurvatureDiagonal, OrdinalObjective, OrdinalProduct, Point, Spread, View

MOST_OUTPUT_CHANGE = 64.0  # change of an output that one step may make; doubling it lets first steps overshoot further
DAMPINGS = 10.0 ** np.arange(-12, 3)  # dampings tried in turn, as shares of the curvature of all rows


@dataclass(frozen=True)
class OrdinalProblem(Problem):
    """The objective of K ordered classes, whose rows have the index of their class as target.

    `cumulative` is the distribution function, `thresholds` their number T, and `rarest` the weight of the lightest of
    the classes between two thresholds, infinite where there is none.
    """

    cumulative: CumulativeLink | None = None
    thresholds: int = 1
    rarest: float = math.inf

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.thresholds + self.features

    @cached_property
    def ridges(self) -> Array:
        """The penalties of all parameters, (M,): zero for thresholds."""
        return np.concatenate([np.zeros(self.thresholds), self.ridge])

    def loss_at(self, theta: Array) -> Loss:
        """Return the loss of a row under the thresholds of theta, with its offset where it has one."""
        assert self.cumulative is not None
        own = Ordinal(self.cumulative, theta[0, : self.thresholds])
        return Offset(own) if self.source.targets.offset else own

    def evaluate(self, theta: Array, second: bool = False, regular: bool = True) -> Evaluation:
        """Return F at theta; its value is infinite where it overflows, or where thresholds are out of order."""
        w = theta[0, self.thresholds :]
        if not (np.diff(theta[0, : self.thresholds]) > 0).all():
            return Evaluation(np.inf, np.zeros_like(theta))
        with np.errstate(over="ignore", invalid="ignore"):
            sums = self.source.sum(OrdinalObjective, self._point(theta), thresholds=self.thresholds, second=second)
            value = sums.value + 0.5 * float((self.ridge * w**2).sum())
        gradient = sums.gradient.copy()[None, :]
        gradient[0, self.thresholds :] += self.ridge * w
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return Evaluation(np.inf, gradient)
        if not second:
            return Evaluation(value, gradient)
        sums.hessian[np.diag_indices(self.size)] += self.ridges
        return Evaluation(value, gradient, sums.hessian)

    def diagonal(self, theta: Array) -> Array:
        """Return about the diagonal of the second derivatives at theta, (1, T + D): thresholds share what z has."""
        point = self._point(theta)._replace(loss=self.loss_at(theta))
        out = self.source.sum(CurvatureDiagonal, point, outputs=1).sums[0]
        return np.concatenate([np.full(self.thresholds, out[0]), out[1:] + self.ridge])[None, :]

    def times(self, theta: Array, direction: Array) -> Array:
        """Return the second derivatives at theta times a direction, (1, T + D)."""
        point = self._point(theta)._replace(direction=direction)
        out = self.source.sum(OrdinalProduct, point, thresholds=self.thresholds).sums[None, :]
        out[0, self.thresholds :] += self.ridge * direction[0, self.thresholds :]
        return np.asarray(out)

    def penalised_by(self, penalty: RidgePenalty) -> OrdinalProblem:
        """Return the same objective with another penalty."""
        assert self.cumulative is not None
        known = (self.spread, self.sample, self.lightest, self.weight)
        return build_ordinal(self.source, self.cumulative, self.thresholds, self.rarest, penalty, *known)

    def without_columns(self) -> OrdinalProblem:
        """Return the objective of thresholds alone, beside the offsets of the rows."""
        none = np.zeros(0, dtype=np.intp)
        return replace(
            self,
            source=WithoutColumns(self.source),
            view=View(self.view.scale[none], self.view.offset[none]),
            ridge=self.ridge[none],
            spread=self.spread.of_columns(none),
            sample=None,
        )

    def refuse(self) -> NoReturn:
        """Raise where F is not finite: name the row that is not, or say that the columns are too large."""
        self.source.refuse_nonfinite()
        raise InvalidData("the likelihood is not a number: the columns are too large for float64. Rescale them.")

    def to_raw(self, theta: Array) -> Array:
        """Return thresholds and slopes in raw units, (n, T + D) of (n, T + D)."""
        out = super().to_raw(np.column_stack([np.zeros(len(theta)), theta[:, self.thresholds :]]))
        return np.column_stack([theta[:, : self.thresholds] - out[:, :1], out[:, 1:]])

    def from_raw(self, theta: Array) -> Array:
        """Return thresholds and slopes in the view from those in raw units, (n, T + D) of (n, T + D)."""
        out = super().from_raw(np.column_stack([np.zeros(len(theta)), theta[:, self.thresholds :]]))
        return np.column_stack([theta[:, : self.thresholds] - out[:, :1], out[:, 1:]])

    def shortened(self, theta: Array, step: Array, evaluation: Evaluation) -> Array | None:
        """Return a damped step if Newton's would move outputs by more than MOST_OUTPUT_CHANGE, or half of their size.

        A light row whose end was pushed far into a tail has a slope there but no curvature, so that its Newton step is
        unbounded. -(H + damping x metric)^-1 gradient is bounded, and hardly changes steps along other directions.
        """
        furthest = np.abs(self.view.offset) + self.spread.largest * self.view.scale

        def reach(v: Array) -> float:
            ends, slopes = np.split(np.abs(v[0]), [self.thresholds])
            return float(ends.max() + slopes @ furthest)

        most = max(MOST_OUTPUT_CHANGE, 0.5 * reach(theta))
        if reach(step) <= most or evaluation.hessian is None:
            return None
        second = (self.spread.root * self.view.scale) ** 2 + self.view.offset**2
        metric = self.weight * np.concatenate([np.ones(self.thresholds), np.where(second > 0, second, 1.0)])
        root = np.sqrt(metric)  # in units of the metric the matrix is conditioned by the damping, whatever the columns
        hessian, gradient = evaluation.hessian / np.outer(root, root), evaluation.gradient[0] / root
        for damping in DAMPINGS:
            damped = -linalg.solve(hessian + damping * np.eye(len(root)), gradient, assume_a="pos") / root
            if reach(damped[None, :]) <= most:
                break
        return np.asarray(damped[None, :])

    def bound_rows(self, root: float) -> float:
        """Return a bound on the length of any row, with what the widths between thresholds add."""
        return max(super().bound_rows(root), math.sqrt(2) * root) + 2 / math.sqrt(self.rarest)

    def steepness(self, gradient: Array) -> float:
        """Return the largest absolute derivative, for columns of unit standard deviation."""
        slopes = np.column_stack([[0.0], gradient[:, self.thresholds :]])
        return max(super().steepness(slopes), float(np.abs(gradient[:, : self.thresholds]).max()))

    def _point(self, theta: Array) -> Point:
        w = theta[:, self.thresholds :]
        return Point(self.loss_at(theta), np.column_stack([np.zeros(len(w)), w]), self.view)


def to_machines(theta: Array, thresholds: int) -> Array:
    """Return machines (T, 1 + D) with -threshold_k as constants, of thresholds and slopes (T + D).

    Of a root (T + D, M) it is that of the machines, (T, 1 + D, M).
    """
    slopes = np.broadcast_to(theta[thresholds:], (thresholds, *theta[thresholds:].shape))
    return np.concatenate([-theta[:thresholds, None], slopes], axis=1)


def from_machines(machines: Array) -> Array:
    """Return thresholds and slopes (T + D), or their root (T + D, M), of machines as `to_machines` gives them."""
    return np.concatenate([-machines[:, 0], machines[0, 1:]])


def build_ordinal(
    source: Source,
    cumulative: CumulativeLink,
    thresholds: int,
    rarest: float,
    penalty: RidgePenalty,
    spread: Spread | None = None,
    sample: Source | None = None,
    lightest: float | None = None,
    weight: float | None = None,
) -> OrdinalProblem:
    """Return the problem of a source, in the view of its columns; one pass where their spread is not given."""
    loss = Ordinal(cumulative, np.arange(float(thresholds)))
    known = build_problem(source, loss, 1, True, penalty, spread, sample, lightest, weight)
    return OrdinalProblem(**own_attributes(known), cumulative=cumulative, thresholds=thresholds, rarest=rarest)
