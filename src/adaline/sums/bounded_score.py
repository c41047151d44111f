"""Gradient of a likelihood in double-double on the raw rows, with a proven bound on its rounding.

    z = w0 + sum_j w_j v_j (+ offset),   v = x 2^-e       in double-double
    g = - sum weight slope(z, t) (1, v)                   in double-double
    size = sum weight |slope| |(1, v)|                    what the rounding of these sums is relative to
    wrong = sum weight e_i || T'(1, v_i) ||               e_i the rounding of the slope of row i: the length of what it
                                                          does to T'g is at most that
    farthest = max b_i || T'(1, v_i) ||                   outputs move along T z by at most || T'(1, v_i) || || z ||,
                                                          and curvatures by a factor up to exp of b_i times that

T is a matrix given by maps a = (v - m) Q, one after the other. With u = 2^-53 the rounding of an output is at most
8 (D + 4)^2 u^2 (|w0| + sum |w_j v_j| + |offset|), which the slope has times the curvature; of the rounding of the slope
itself see `bounded_slope.py`.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from adaline import twofold
from adaline.arrays import Array, ThetaLike, as_dense, host
from adaline.block import Block, Shape
from adaline.kernels import native
from adaline.losses.linked import Linked
from adaline.sums.base import Sum
from adaline.sums.bounded_slope import ROUNDING2, SAFE, bounded_slope
from adaline.sums.columns import times_power
from adaline.sums.residual import Residual, Theta
from adaline.twofold import Twofold

RUN_ROWS = 4096  # rows of a run; doubling it doubles the bound on the rounding of sums


class LinkedPoint(NamedTuple):
    """A likelihood with its canonical or its log link, and coefficients (1 + D,) as hi + lo, scaled.

    Parameters
    ----------
    loss : the likelihood of a row.
    offset : whether the last target is an offset.
    hi, lo : coefficients of columns times 2^-exponent.
    exponent : (D,) or more.
    """

    loss: Linked
    offset: bool
    hi: Array
    lo: Array
    exponent: Array

    def targets(self, t: Array) -> tuple[Array, Array]:
        """Return targets without the offsets, and the offsets (n, 1), zero where there are none."""
        return (t[:, :-1], t[:, -1:]) if self.offset else (t, np.zeros((len(t), 1)))


class BoundedScore(Sum):
    """The gradient (1 + D, 2) as hi and lo, size (1 + D,), wrong and farthest; theta is (LinkedPoint, preconditioner).

    The preconditioner has a method `pulled_lengths`, from rows (1, v) to bounds on the lengths of T'(1, v).
    """

    uses_blas: ClassVar[bool] = True

    def __init__(self, gradient: Array, size: Array, wrong: float, farthest: float) -> None:
        self.gradient, self.size, self.wrong, self.farthest = gradient, size, wrong, farthest

    @classmethod
    def zero(cls, shape: Shape, **config: object) -> Self:
        """Return the sums over no rows."""
        return cls(np.zeros((1 + shape.features, 2)), np.zeros(1 + shape.features), 0.0, 0.0)

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in the rows of a block."""
        point, known = theta
        with np.errstate(all="ignore"):
            for piece in block.heavy().pieces(RUN_ROWS * max(block.shape.features, 1)):
                if piece.rows:
                    self.merge(self._of(piece, point, known))

    def _of(self, block: Block, point: LinkedPoint, known: Any) -> Self:
        x, weight = host(as_dense(block.x)), block.weights()[:, None]
        t, offset = point.targets(host(block.t))
        d = x.shape[1]
        v = np.empty((1 + d, len(x)))
        v[0], v[1:] = 1.0, times_power(x, -point.exponent[:d]).T
        size = np.abs(v)
        z = outputs_twofold(v, point.hi, point.lo, offset[:, 0])
        made_of = SAFE * (np.abs(point.hi) @ size + np.abs(offset[:, 0]))[:, None]
        slope, error, curvature, change = bounded_slope(point.loss, z, t)
        wrong = 8 * (d + 4) ** 2 * ROUNDING2 * made_of * curvature + error
        length = known.pulled_lengths(v.T)
        apart = (weight * wrong)[:, 0]
        total = weighted_sums(x, slope, weight, point.exponent)
        terms = SAFE * (size @ np.abs(weight * slope.hi)[:, 0])
        return type(self)(total, terms, float(SAFE * (apart @ length)), float((SAFE * change[:, 0] * length).max()))

    def merge(self, other: Self) -> None:
        """Add in double-double, and take the larger distance; NaN stays NaN."""
        a, b = self.gradient, other.gradient
        a[:, 0], a[:, 1] = twofold.add(a[:, 0], a[:, 1], b[:, 0], b[:, 1])
        self.size += other.size
        self.wrong += other.wrong
        self.farthest = float(np.maximum(self.farthest, other.farthest))


def outputs_twofold(v: Array, hi: Array, lo: Array, offset: Array) -> Twofold:
    """Return the outputs (n, 1) of rows v, (1 + D, n): products with hi are exact, those with lo rounded."""
    if native is None:
        return outputs_by_arrays(v, hi, lo, offset)
    z = np.empty((2, v.shape[1], 1))
    native.twofold_outputs(z, v, hi, lo, np.ascontiguousarray(offset))
    return Twofold(*z)


def outputs_by_arrays(v: Array, hi: Array, lo: Array, offset: Array) -> Twofold:
    """Return the same by operations of arrays."""
    product, error = twofold.two_prod(v, hi[:, None])
    error += v * lo[:, None]
    total, rest = offset, np.zeros_like(offset)
    for own, left in zip(product, error, strict=True):
        total, lost = twofold.two_sum(total, own)
        rest += lost + left
    return Twofold(*(one[:, None] for one in twofold.two_sum(total, rest)))


def weighted_sums(x: Array, slope: Twofold, weight: Array, exponent: Array) -> Array:
    """Return - sum weight slope (1, v) as hi and lo, (1 + D, 2), v = x 2^-exponent.

    That of the leading parts of slopes is the sum of residuals of coefficients zero; that of the trailing parts is
    summed in float64, whose rounding is as far below them as they are below the leading ones.
    """
    none, d = np.zeros((1, 1 + x.shape[1])), x.shape[1]
    residual = Residual.zero(Shape(d, 1))
    residual.add(Block(x, -slope.hi, weight[:, 0]), Theta(none, none, np.append(exponent[:d], 0.0)))
    low = (weight * slope.lo)[:, 0]
    left = np.append(low.sum(), np.ldexp(low @ x, -exponent[:d].astype(np.int64)))
    return np.stack(twofold.add(residual.sums[0, :-1, 0], residual.sums[0, :-1, 1], -left, np.zeros(1 + d)), axis=1)
