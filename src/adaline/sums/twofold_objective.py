"""Gradient of a likelihood or loss in double-double on the raw rows, with a bound on its rounding, and a root of H.

    z = w0 + sum_j w_j x_j (+ offset)            in double-double, from weights hi + lo
    g = sum weight slope(z, t) (1, x)            in double-double; slopes too, of the losses that know them
    noise = sum weight e |(1, x)|,   e_i         a bound on the rounding of the slope of row i
    energy = sum weight e^2 / curvature          at least the squared length of the rounding of g in the metric of H
    H = R'R = sum weight curvature (1, v)(1, v)'     v the columns in a view: by QR, so that the condition enters once

Columns are multiplied by the powers of two of the view, theta accordingly. A loss that is not convex has H itself,
not R.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from adaline import twofold
from adaline.arrays import Array, ThetaLike, as_dense, host
from adaline.block import Block, Shape
from adaline.losses import Loss, Offset
from adaline.sums.base import Sum
from adaline.sums.moments import PIECE_NUMBERS
from adaline.sums.objective import View
from adaline.sums.residual import Residual, Theta
from adaline.sums.triangle import reduce
from adaline.twofold import Twofold

PRODUCT_ROUNDING = 2.0**-94  # of sums of products in double-double, relative to the sum of their sizes
INTERVAL_PARTS = (-1.0, -0.5, 0.5, 1.0)  # parts of an interval of outputs at whose ends curvatures are compared
SAFETY_FACTOR = 2.0  # factor on the largest difference found there; doubling it proves fewer digits


class TwofoldPoint(NamedTuple):
    """Weights hi + lo, (K, 1 + D), of columns times the scales of a view."""

    loss: Loss
    hi: Array
    lo: Array
    view: View


class TwofoldObjective(Sum):
    """Value, gradient (K, 1 + D, 2), noise (K, 1 + D), energy, and R or H of the rows at a TwofoldPoint.

    `root` is "triangle" or "gram"; `matrix` is R (at most M, M), or H (M, M) and below it a row of the sizes of
    the terms on its diagonal, which may cancel; M = K (1 + D).
    """

    uses_blas: ClassVar[bool] = True

    def __init__(self, root: str, value: float, gradient: Array, noise: Array, energy: float, matrix: Array) -> None:
        self.root, self.value, self.gradient = root, value, gradient
        self.noise, self.energy, self.matrix = noise, energy, matrix

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows; `outputs` is the number of machines."""
        k, side, root = config.get("outputs", 1), 1 + shape.features, config.get("root", "triangle")
        matrix = np.zeros((k * side + 1 if root == "gram" else 0, k * side))
        return cls(root, 0.0, np.zeros((k, side, 2)), np.zeros((k, side)), 0.0, matrix)

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a TwofoldPoint."""
        with np.errstate(all="ignore"):
            for piece in block.heavy().pieces(PIECE_NUMBERS):
                if piece.rows:
                    self._add(piece, theta)

    def _add(self, block: Block, point: TwofoldPoint) -> None:
        loss, x, weight = without_offsets(point.loss), _dense(block), block.weights()[:, None]
        scaled = x * point.view.scale
        z, t, size = twofold_outputs(block, scaled, point)
        slope, curvature = loss.slope_twofold(z, t), loss.curvature(z.hi, t)
        far, bent = 1.0 + np.abs(z.hi), (1.0 + loss.coupled) * np.abs(curvature)
        error = loss.slope_rounding * far * (np.abs(slope.hi) + far * bent)
        error = error + PRODUCT_ROUNDING * (np.abs(slope.hi) + bent * size)
        part = type(self).zero(Shape(x.shape[1], t.shape[1]), outputs=len(point.hi), root=self.root)
        part.value = float((weight * loss.value(z.hi, t)).sum())
        part.noise = (weight * error).T @ np.column_stack([np.ones(len(x)), np.abs(scaled)])
        flat = (curvature == 0) & (error > 0)
        squares = np.where(flat, np.inf, error**2 / np.where(curvature == 0, 1.0, np.abs(curvature)))
        part.energy = math.inf if loss.coupled else float((weight * squares).sum())
        part.gradient = _gradient(scaled, slope, None if block.weight is None else host(block.weight))
        rows = np.column_stack([np.ones(len(x)), in_view(x, point.view)])
        if self.root == "gram":
            terms = np.abs(curvature) + np.abs(slope.hi) * (1.0 + 1.0 / np.abs(z.hi))
            part.matrix = np.concatenate([(rows * (weight * curvature)).T @ rows, (weight * terms).T @ rows**2])
        else:
            part.matrix = _triangle(loss, z.hi, curvature, weight, rows)
        self.merge(part)

    def merge(self, other: Self) -> None:
        """Add in double-double; triangles are stacked and reduced."""
        a, b = self.gradient, other.gradient
        a[..., 0], a[..., 1] = twofold.add(a[..., 0], a[..., 1], b[..., 0], b[..., 1])
        self.value += other.value
        self.noise += other.noise
        self.energy += other.energy
        if self.root == "gram":
            self.matrix = self.matrix + other.matrix
        elif len(other.matrix):
            self.matrix = reduce(np.concatenate([self.matrix, other.matrix])) if len(self.matrix) else other.matrix


def _gradient(x: Array, slope: Twofold, weight: Array | None) -> Array:
    """Return sum weight slope (1, x) in double-double, (K, 1 + D, 2): slopes are residuals of the weights zero."""
    d, k = x.shape[1], slope.hi.shape[1]
    sums, zero = Residual.zero(Shape(d, k)), np.zeros((k, 1 + d))
    sums.add(Block(x, slope.hi, weight), Theta(zero, zero, np.zeros(d + k)))
    low = slope.lo.T if weight is None else slope.lo.T * weight
    rest = np.concatenate([low.sum(axis=1, keepdims=True), low @ x], axis=1)
    return np.stack(twofold.add(*sums.gradient, rest, 0.0), axis=2)


def _dense(block: Block) -> Array:
    return np.asarray(host(as_dense(block.x)), dtype=np.float64)


def without_offsets(loss: Loss) -> Loss:
    """Return a loss of outputs that have their offsets in them."""
    return loss.loss if isinstance(loss, Offset) else loss


def twofold_outputs(block: Block, scaled: Array, point: TwofoldPoint) -> tuple[Twofold, Array, Array]:
    """Return the outputs (n, K) of scaled rows (n, D), offsets included, the targets, and the sizes of the terms."""
    parts, t = [], host(block.t)
    for hi, lo in zip(point.hi, point.lo, strict=True):
        terms = twofold.multiply(scaled.T, np.zeros(scaled.T.shape), hi[1:, None], lo[1:, None])
        first = (np.full((1, len(scaled)), part[0]) for part in (hi, lo))
        parts.append(twofold.sum_rows(*(np.concatenate(pair) for pair in zip(first, terms, strict=True))))
    z = Twofold(*(np.stack(side, axis=1) for side in zip(*parts, strict=True)))
    size = np.abs(scaled) @ np.abs(point.hi[:, 1:]).T + np.abs(point.hi[:, 0])
    if not isinstance(point.loss, Offset):
        return z, t, size
    offset, t = t[:, -point.loss.columns :], t[:, : -point.loss.columns]
    return z + offset, t, size + np.abs(offset)


def in_view(x: Array, view: View) -> Array:
    """Return v = x scale + offset of rows (n, D), each right to its last bit: x - mean is taken first."""
    mean = np.divide(-view.offset, view.scale, out=np.zeros_like(view.scale), where=view.scale > 0)
    return np.asarray((x - mean) * view.scale)


def _triangle(loss: Loss, z: Array, curvature: Array, weight: Array, rows: Array) -> Array:
    """Return R of rows (1, v) times roots of their curvature."""
    if not loss.coupled:
        return reduce(rows * np.sqrt(weight * np.maximum(curvature, 0.0)))
    p = loss.mean(z)  # diag(p) - p p' = A'A with A = diag(root p) (1 - 1 p')
    k = p.shape[1]
    a = np.sqrt(weight * p)[:, :, None] * (np.eye(k)[None] - p[:, None, :])
    return reduce((a[:, :, :, None] * rows[:, None, None, :]).reshape(len(rows) * k, -1))


class Ball(NamedTuple):
    """A ball about a point: the directions d with |R d| at most `radius`, `root` (1 + D, M) being R^-1 in the view."""

    point: TwofoldPoint
    root: Array
    radius: float


class CurvatureChange(Sum):
    """By how much H changes inside a Ball, relative to H; of one output.

    With l_i the length of row i in the metric of H its output changes by at most r = radius l_i there. `total` is
    sum weight |change of curvature| l_i^2, which bounds the change of H; `share`, the largest relative change of the
    curvature of a row, bounds it too.
    """

    def __init__(self, total: float, share: float) -> None:
        self.total, self.share = total, share

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the change over no rows."""
        return cls(0.0, 0.0)

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a Ball."""
        (point, root, radius), loss = theta, without_offsets(theta.point.loss)
        with np.errstate(all="ignore"):
            for piece in block.heavy().pieces(PIECE_NUMBERS):
                if not piece.rows:
                    continue
                x, weight = _dense(piece), piece.weights()
                rows = np.column_stack([np.ones(len(x)), in_view(x, point.view)])
                length = np.linalg.norm(rows @ root, axis=1)
                (z, _), t, _ = twofold_outputs(piece, x * point.view.scale, point)
                here, reach = loss.curvature(z, t)[:, 0], (radius * length)[:, None]
                if math.isfinite(loss.concordance):
                    change = np.abs(here) * np.expm1(loss.concordance * reach[:, 0])
                else:
                    there = [z + part * reach for part in INTERVAL_PARTS]
                    moved = [np.abs(loss.curvature(one, t)[:, 0] - here) for one in there]
                    change = SAFETY_FACTOR * np.max(moved, axis=0)
                    known = np.all([np.isfinite(loss.value(one, t))[:, 0] for one in there], axis=0)
                    change = np.where(known, change, np.inf)
                self.total += float((weight * change * length**2).sum())
                bent = np.where(here > 0, here, 1.0)
                share = np.where(here > 0, change / bent, np.where(change > 0, np.inf, 0.0))
                self.share = max(self.share, float(share.max()))

    def merge(self, other: Self) -> None:
        """Add totals, and take the larger share."""
        self.total += other.total
        self.share = max(self.share, other.share)
