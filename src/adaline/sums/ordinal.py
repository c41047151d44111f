"""The objective of ordered classes: value, gradient and second derivatives by thresholds and slopes together.

    z = w'v,   v = x scale + offset,   a = threshold_t - z,   b = threshold_(t-1) - z,   value = sum weight loss(a, b)
    d/d threshold_k = sum over t = k of weight loss_a + sum over t = k + 1 of weight loss_b
    d/dw            = -sum weight (loss_a + loss_b) v

A threshold is an end of two classes alone, so that the second derivatives by thresholds are tridiagonal, and those by
threshold k and w a sum of rows of the classes k and k + 1. Parameters are thresholds (T) first, then w (D).

There is no kernel in C++ for the sums themselves, only for the outputs and the second derivatives that `Objective` has.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, ThetaLike, host, weighted
from adaline.block import Block, Shape
from adaline.losses import Offset
from adaline.losses.ordinal import IntervalTerms, Ordinal
from adaline.sums.base import Totals
from adaline.sums.objective import Point, gather, margins, second_moments


class OrdinalObjective(Totals):
    """Value, gradient (T + D) and, if asked for, the second derivatives (T + D, T + D), at a Point of an Ordinal loss.

    The point's theta is (1, 1 + D), with zero as intercept.
    """

    uses_blas: ClassVar[bool] = True
    reads_columns: ClassVar[bool] = True

    def __init__(self, size: int, second: bool, sums: Array) -> None:
        self.size, self.second, self.sums = size, second, sums

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows; `thresholds` is their number, `second` whether the matrix is added up too."""
        size, second = config["thresholds"] + shape.features, config.get("second", False)
        return cls(size, second, np.zeros(1 + size + size**2 * second))

    @property
    def value(self) -> float:
        """The sum of weight x loss."""
        return float(self.sums[0])

    @property
    def gradient(self) -> Array:
        """Its derivatives, (T + D)."""
        return self.sums[1 : 1 + self.size]

    @property
    def hessian(self) -> Array:
        """Its second derivatives, (T + D, T + D)."""
        return self.sums[1 + self.size :].reshape(self.size, self.size)

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a Point."""
        point: Point = theta
        t, weight, terms = _terms(block, point)
        slope = -weight * (terms.upper + terms.lower)
        self.sums[0] += weight @ terms.value
        ends = len(_loss(point).thresholds)
        self.gradient[:ends] += _by_end(t, weight * terms.upper, weight * terms.lower, ends)
        if not self.second:
            self.gradient[ends:] += gather(block, slope[:, None], point.view)[0, 1:]
            return
        at_upper, at_lower, across = (weight * part for part in terms[3:])
        columns = np.zeros((block.rows, ends + 2))  # one for each end, the first and the last of which are none
        rows = np.arange(block.rows)
        columns[rows, t] = -at_lower
        columns[rows, t + 1] -= at_upper
        columns[:, 0] = slope
        moved = gather(block, columns[:, :-1], point.view)[:, 1:]
        self.gradient[ends:] += moved[0]
        hessian, own = self.hessian, np.arange(ends)
        hessian[own, own] += _by_end(t, at_upper - across, at_lower - across, ends)
        between = np.bincount(t, across, ends + 1)[1:-1]
        hessian[own[:-1], own[1:]] += between
        hessian[own[1:], own[:-1]] += between
        hessian[:ends, ends:] += moved[1:]
        hessian[ends:, :ends] += moved[1:].T
        hessian[ends:, ends:] += second_moments(block, at_upper + at_lower, point.view)[1:, 1:]


class OrdinalProduct(Totals):
    """The second derivatives at a Point times its direction (1, T + D), as (T + D); no matrix is formed."""

    uses_blas: ClassVar[bool] = True
    reads_columns: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows; `thresholds` is their number."""
        return cls(np.zeros(config["thresholds"] + shape.features))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a Point with a direction."""
        point: Point = theta
        assert point.direction is not None
        ends = len(_loss(point).thresholds)
        t, weight, terms = _terms(block, point)
        moved, slopes = np.split(point.direction[0], [ends])
        z = margins(block, point._replace(theta=np.concatenate([[0.0], slopes])[None, :]))[:, 0]
        padded = np.concatenate([[0.0], moved, [0.0]])
        # where an end is infinite its terms are zero
        inner_a, inner_b = (t < ends).astype(float), (t > 0).astype(float)
        a, b = inner_a * (padded[t + 1] - z), inner_b * (padded[t] - z)
        by_a = weighted(weight, (terms.at_upper - terms.across) * a + terms.across * b)
        by_b = weighted(weight, (terms.at_lower - terms.across) * b + terms.across * a)
        self.sums[:ends] += _by_end(t, by_a, by_b, ends)
        self.sums[ends:] -= gather(block, (by_a + by_b)[:, None], point.view)[0, 1:]


def _loss(point: Point) -> Ordinal:
    loss = point.loss.loss if isinstance(point.loss, Offset) else point.loss
    assert isinstance(loss, Ordinal)
    return loss


def _terms(block: Block, point: Point) -> tuple[NDArray[np.intp], Array, IntervalTerms]:
    """Return class, weight and terms of each row; terms of rows of weight zero are zero."""
    own = host(block.t)
    t, known = own[:, 0].astype(np.intp), own[:, -1] if isinstance(point.loss, Offset) else 0.0
    weight, terms = block.weights(), _loss(point).terms(margins(block, point)[:, 0] + known, t)
    return t, weight, IntervalTerms(*(np.where(weight > 0, part, 0.0) for part in terms))


def _by_end(t: NDArray[np.intp], upper: Array, lower: Array, ends: int) -> Array:
    """Return what each threshold gets, (T,), as upper end of one class and as lower end of the next."""
    return np.asarray(np.bincount(t, upper, ends + 1)[:-1] + np.bincount(t, lower, ends + 1)[1:])
