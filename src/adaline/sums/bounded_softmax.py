"""Gradient of the softmax loss in double-double, and its second derivatives, with proven bounds on their rounding.

The last of K classes has minus the sum of the coefficients phi of the others, so that (K - 1)(1 + D) are unknown:

    z_k = phi_k'(1, v),   z_K = - sum_k z_k,   p = softmax(z),   v = x 2^-e
    gradient_k = - sum weight (p_k - [k = t]) (1, v)         of all K classes, in double-double
    metric = sum weight S a a',   S = E'(diag p - p p')E,    E = (1, -1')',   a = T'(1, v) as float64 computes it
    mass = sum weight || |E|' |diag p - p p'| |E| || ||a||^2   what the rounding of the metric is relative to
    skew = sum weight || ... || (2 ||a|| e + e^2)            e the rounding of a
    size, wrong, farthest                                    as in `BoundedScore`
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Self

import numpy as np

from adaline import twofold
from adaline.arrays import Array, ThetaLike, as_dense, host
from adaline.block import Block, Shape
from adaline.losses.softmax import Softmax
from adaline.sums.base import Sum
from adaline.sums.bounded_score import RUN_ROWS, outputs_twofold, weighted_sums
from adaline.sums.bounded_slope import MOST_OUTPUT, ROUNDING2, SAFE
from adaline.twofold import Twofold


class SoftmaxPoint(NamedTuple):
    """Coefficients (K - 1, 1 + D) as hi + lo, of columns times 2^-exponent."""

    hi: Array
    lo: Array
    exponent: Array

    def all_classes(self) -> tuple[Array, Array]:
        """Return the coefficients of all K classes; those of the last are rounded by 2^-100 of their sizes."""
        hi, lo = twofold.sum_rows(-self.hi, -self.lo)
        return np.vstack([self.hi, hi]), np.vstack([self.lo, lo])


class BoundedSoftmax(Sum):
    """Sums over rows whose target is the index of a class; theta is (SoftmaxPoint, preconditioner of the columns)."""

    uses_blas: ClassVar[bool] = True

    def __init__(self, gradient: Array, size: Array, metric: Array, scalars: Array) -> None:
        self.gradient, self.size, self.metric, self.scalars = gradient, size, metric, scalars

    @classmethod
    def zero(cls, shape: Shape, *, classes: int = 2, **config: object) -> Self:
        """Return the sums over no rows."""
        width, unknowns = 1 + shape.features, (classes - 1) * (1 + shape.features)
        return cls(
            np.zeros((classes, width, 2)), np.zeros((classes, width)), np.zeros((unknowns, unknowns)), np.zeros(4)
        )

    @property
    def mass(self) -> float:
        """See above."""
        return float(self.scalars[0])

    @property
    def skew(self) -> float:
        """See above."""
        return float(self.scalars[1])

    @property
    def wrong(self) -> float:
        """See `BoundedScore`."""
        return float(self.scalars[2])

    @property
    def farthest(self) -> float:
        """See `BoundedScore`."""
        return float(self.scalars[3])

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in the rows of a block."""
        with np.errstate(all="ignore"):
            for piece in block.heavy().pieces(RUN_ROWS * max(block.shape.features, 1)):
                if piece.rows:
                    self.merge(self._of(piece, *theta))

    def _of(self, block: Block, point: SoftmaxPoint, known: object) -> Self:
        x, weight = host(as_dense(block.x)), block.weights()
        t, d, classes = host(block.t), x.shape[1], len(point.hi) + 1
        v = np.empty((1 + d, len(x)))
        v[0], v[1:] = 1.0, np.ldexp(x.T, -point.exponent[:d, None].astype(np.int64))
        hi, lo = point.all_classes()
        each = [outputs_twofold(v, *one, np.zeros(len(x))) for one in zip(hi, lo, strict=True)]
        z = Twofold(*(np.concatenate(parts, axis=1) for parts in zip(*each, strict=True)))
        loss, made_of = Softmax(), 2 * SAFE * (np.abs(point.hi).sum(axis=0) @ np.abs(v))
        p = loss.mean(z.hi)
        rest = np.stack([np.delete(p, k, axis=1).sum(axis=1) for k in range(classes)], axis=1)
        second = -p[:, :, None] * p[:, None, :]
        second[:, range(classes), range(classes)] = p * rest
        contrast = np.vstack([np.eye(classes - 1), -np.ones(classes - 1)])
        bulk = SAFE * np.sqrt(np.square(np.abs(contrast.T) @ np.abs(second) @ np.abs(contrast)).sum(axis=(1, 2)))
        second = contrast.T @ second @ contrast
        slope = loss.slope_twofold(z, t)
        widest = np.abs(z.hi).max(axis=1)
        wrong = 8 * (d + 4) ** 2 * ROUNDING2 * np.sqrt(classes) * made_of * bulk
        relative = (2.0**10 + 2.0**8 * widest + 2.0**6 * classes) * ROUNDING2
        wrong += relative * np.sqrt(np.square(slope.hi).sum(axis=1))
        rows, off = known.mapped(v.T)  # type: ignore[attr-defined]
        length = np.sqrt(np.square(rows).sum(axis=1))
        apart = np.where(widest < MOST_OUTPUT / 2, weight * wrong, np.inf)
        metric = np.block(
            [
                [(rows * (weight * second[:, k, q])[:, None]).T @ rows for q in range(classes - 1)]
                for k in range(classes - 1)
            ]
        )
        parts = [Twofold(slope.hi[:, k : k + 1], slope.lo[:, k : k + 1]) for k in range(classes)]
        gradient = np.stack([weighted_sums(x, one, weight[:, None], point.exponent) for one in parts])
        size = SAFE * (np.abs(weight[:, None] * slope.hi).T @ np.abs(v).T)
        mass, skew = (SAFE * float((weight * bulk) @ one) for one in (length**2, 2 * length * off + off**2))
        scalars = np.array([mass, skew, SAFE * float(apart @ (length + off)), float((length + off).max()) * SAFE])
        return type(self)(gradient, size, metric, scalars)

    def merge(self, other: Self) -> None:
        """Add, the gradient in double-double, and take the larger distance."""
        a, b = self.gradient, other.gradient
        a[..., 0], a[..., 1] = twofold.add(a[..., 0], a[..., 1], b[..., 0], b[..., 1])
        self.size += other.size
        self.metric += other.metric
        self.scalars[:3] += other.scalars[:3]
        self.scalars[3] = np.maximum(self.scalars[3], other.scalars[3])
