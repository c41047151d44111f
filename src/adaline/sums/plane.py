"""Residuals of a plane and their totals under a loss, which an M-estimate needs between its steps.

    r = t - w'v - w0,   v = x scale + offset
    sum w,   sum w rho(r),   sum w rho''(r),   sum w rho''(r)^2,   sum w rho'(r)^2,   sum w [|r| > c]

and the largest |r|, and the largest change of an output, of the rows of positive weight. c is the loss's parameter.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from adaline.arrays import AnyArray, Array, ThetaLike, host, is_device, namespace, to_device_of
from adaline.block import Block, Shape
from adaline.losses import Loss
from adaline.sums.base import Sum
from adaline.sums.objective import View, device_products, view_products

# mean in spreads up to which a column is not centred, which costs at most two digits; 10x larger costs three
NEAR_MEAN = 64.0


class RegressionPlane(NamedTuple):
    """Weights theta (1, 1 + D) in the coordinates of a view."""

    theta: Array
    view: View

    def read(self, block: Block) -> Array:
        """Return the residuals of the first target, (n,), on the host."""
        return host(self.residuals(block))

    def residuals(self, block: Block) -> Any:
        """Return the residuals of the first target, (n,), where the rows lie."""
        t = to_device_of(block.x, block.t) if is_device(block.x) else host(block.t)
        return self.distances(block, t[:, 0])

    def distances(self, block: Block, t: AnyArray) -> Any:
        """Return t - w'v - w0 of each row, (n,): w'x and a constant, unless large means would cost digits so."""
        scale, offset = self.view
        if is_device(block.x):
            return t - device_products(block, self.view, self.theta.T.copy())[:, 0]
        slopes = (self.theta[0, 1:] * scale)[:, None]
        if np.abs(offset).max(initial=0.0) <= NEAR_MEAN and np.isfinite(slopes).all():
            return np.asarray(t - (block.x @ slopes)[:, 0] - float(self.theta[0, 0] + self.theta[0, 1:] @ offset))
        return np.asarray(t - view_products(block, self.view, self.theta.T.copy())[:, 0])


class PlanePoint(NamedTuple):
    """Where totals are taken: a plane, a loss, and the plane of its difference from another one, or None."""

    plane: RegressionPlane
    loss: Loss
    moved: RegressionPlane | None = None


class ResidualTotals(Sum):
    """The totals above, (6,), and the largest |r| and change, (2,)."""

    uses_blas: ClassVar[bool] = True

    def __init__(self, sums: Array, largest: Array) -> None:
        self.sums, self.largest = sums, largest

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the totals of no rows."""
        return cls(np.zeros(6), np.zeros(2))

    @classmethod
    def of(cls, r: Any, weight: AnyArray, loss: Loss, moved: Any = None) -> Self:
        """Return the totals of residuals r (n,) of positive weight, given how much they moved; arrays of any kind."""
        xp = namespace(r)
        zero = xp.zeros_like(r)
        weight = xp.ones_like(r) if weight is None else weight
        with np.errstate(all="ignore"):
            bent, slope = loss.curvature(zero, r), loss.slope(zero, r)
            beyond = xp.astype(xp.abs(r) > loss.parameter, xp.float64)
            rows = (loss.value(zero, r), bent, bent**2, slope**2, beyond)
            sums = np.array([float(xp.sum(weight)), *(float(xp.vecdot(weight, row)) for row in rows)])
        parts = (r, zero if moved is None else moved)
        largest = [float(xp.max(xp.abs(part))) if r.shape[0] else 0.0 for part in parts]
        return cls(sums, np.array(largest))

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return float(self.sums[0])

    @property
    def value(self) -> float:
        """Sum of the losses."""
        return float(self.sums[1])

    @property
    def curvature(self) -> float:
        """Mean of rho''."""
        return float(self.sums[2] / self.sums[0])

    @property
    def curvature_variance(self) -> float:
        """Variance of rho''."""
        return max(float(self.sums[3] / self.sums[0]) - self.curvature**2, 0.0)

    @property
    def slope_squares(self) -> float:
        """Sum of the squares of rho'."""
        return float(self.sums[4])

    @property
    def beyond(self) -> float:
        """Weight of the rows whose residuals exceed the loss's parameter."""
        return float(self.sums[5])

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a PlanePoint."""
        point: PlanePoint = theta
        block = block.gathered()
        if block.rows == 0:
            return
        r = point.plane.read(block)
        moved = None if point.moved is None else host(point.moved.distances(block, 0.0))
        weight = None
        if block.weight is not None:
            counted = host(block.weight) > 0
            r, weight = r[counted], host(block.weight)[counted]
            moved = None if moved is None else moved[counted]
        self.merge(type(self).of(r, weight, point.loss, moved))

    def merge(self, other: Self) -> None:
        """Add the totals; keep the larger residual and change."""
        self.sums, self.largest = self.sums + other.sums, np.maximum(self.largest, other.largest)
