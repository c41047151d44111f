"""First and second moments of each class: all that Gaussian, Fisher and least-squares classifiers need (5.33)-(5.34).

    N_k = sum w,   mean_k = sum w x / N_k,   S_k = sum w (x - mean_k)(x - mean_k)',   rows of class k

One `Moments` a class, without targets. The within scatter is the sum of the S_k, the total scatter Chan's merge of all,
and the moments of [x t] for targets that depend on the class alone follow from the class means: no further pass.

In C++: `native/moments.hpp`, which reads the rows of a class by index.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from adaline.arrays import Array, ThetaLike, host, is_device, namespace
from adaline.block import Block, Shape
from adaline.sums.base import Sum
from adaline.sums.columns import exponents
from adaline.sums.moments import ROUNDING, Moments


class ClassMoments(Sum):
    """Moments of the rows of each class; the target of a row is the index of its class."""

    uses_blas: ClassVar[bool] = Moments.uses_blas
    reads_columns: ClassVar[bool] = True
    has_device_kernel: ClassVar[bool] = True
    parts: list[Moments]

    def __init__(self, parts: list[Moments]) -> None:
        self.parts = parts

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the moments of no rows for `classes` classes; `centred=False` for sparse rows."""
        features_only = Shape(shape.features, 0)
        centred, classes = config.get("centred", True), config.get("classes", 1)
        return cls([Moments.zero(features_only, centred=centred) for _ in range(classes)])

    @property
    def features(self) -> int:
        """Number of columns D."""
        return self.parts[0].shape.features

    @property
    def rows(self) -> int:
        """Number of rows taken in."""
        return sum(part.rows for part in self.parts)

    @property
    def weights(self) -> Array:
        """Total weight of each class, (K,)."""
        return np.array([part.weight for part in self.parts])

    @property
    def finite(self) -> bool:
        """Whether every number taken in was finite."""
        return all(part.finite for part in self.parts)

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block whose targets are class indices."""
        xp = namespace(block.t)
        codes = block.t[:, 0]
        for k, part in enumerate(self.parts):
            rows = xp.nonzero(codes == k)[0]
            n = int(rows.shape[0])
            if n == 0:
                continue
            if block.weight is None:
                weight = None
            elif is_device(block.weight):
                weight = xp.take(block.weight, rows, axis=0)
            else:
                weight = block.weight[host(rows).astype(np.intp)]
            exponent = None if block.exponent is None else block.exponent[: self.features]
            none = xp.empty((n, 0), dtype=xp.float64, device=codes.device)
            chosen = block.chosen if n == block.rows else rows if block.chosen is None else block.chosen[rows]
            part.add(Block(block.x, none, weight, exponent, chosen=chosen))

    def merge(self, other: Self) -> None:
        """Take in other moments, class by class."""
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            mine.merge(theirs)

    def subtract(self, other: Self, weighted_rows: list[int] | None = None) -> None:
        """Take out rows that were taken in before, class by class; `weighted_rows` have a weight above zero, or all."""
        for k, (mine, theirs) in enumerate(zip(self.parts, other.parts, strict=True)):
            mine.subtract(theirs, None if weighted_rows is None else weighted_rows[k])

    def copy(self) -> ClassMoments:
        """Return an independent copy."""
        return type(self)([part.copy() for part in self.parts])

    def about_means(self) -> ClassMoments:
        """Return these moments in centred form."""
        return type(self)([part.about_mean() for part in self.parts])

    def arranged(self, indices: list[int], classes: int) -> ClassMoments:
        """Return the moments of `classes` classes, where class i has become class indices[i]."""
        out = type(self).zero(Shape(self.features, 1), classes=classes)
        for index, part in zip(indices, self.parts, strict=True):
            out.parts[index] = part
        return out

    def total(self) -> Moments:
        """Return the moments of the rows of all classes."""
        out = self.parts[0].copy()
        for part in self.parts[1:]:
            out.merge(part)
        return out

    def within(self) -> Moments:
        """Return the scatter about the class means, with the mean and weight of all rows."""
        out = self.total()
        exponents_of = [(part.exponent - out.exponent).astype(np.int64) for part in self.parts]
        pairs = list(zip(self.parts, exponents_of, strict=True))
        out.second[:] = sum(np.ldexp(part.second, e[:, None] + e) for part, e in pairs if part.weight > 0)
        out.noise[:] = sum(np.ldexp(part.noise, 2 * e) for part, e in pairs) + ROUNDING * out.second.diagonal()
        return out

    def means(self) -> tuple[Array, Array]:
        """Return the class means as hi and lo, (K, D)."""
        return np.stack([part.first_hi for part in self.parts]), np.stack([part.first_lo for part in self.parts])

    def differences(self, centre: Moments) -> Array:
        """Return the class means minus the overall mean, (K, D), in the scale of `centre`; zero for empty classes."""
        hi, lo = self.means()
        difference = np.ldexp((hi - centre.first_hi) + (lo - centre.first_lo), -centre.exponent.astype(np.int64))
        return np.asarray(np.where(self.weights[:, None] > 0, difference, 0.0))

    def coded(self, targets: Array) -> Moments:
        """Return the moments of [x t] where a row of class k has targets[k], (K, m)."""
        x = self.total()
        d, m = self.features, targets.shape[1]
        out = Moments.zero(Shape(d, m))
        out.buffer[:3] = x.buffer[:3]
        mean = self.weights @ targets / x.weight
        centred = targets - mean
        exponent = exponents(np.abs(centred).max(axis=0), np.abs(targets).max(axis=0))
        centred = np.ldexp(centred, -exponent.astype(np.int64))
        weighted = self.weights[:, None] * centred
        units = (len(self.parts) + 4) ** 2  # products with x are rounded once a class, and their factors by 4 units
        for part, of_x, of_t in (
            (out.first_hi, x.first_hi, mean),
            (out.first_lo, x.first_lo, 0.0),
            (out.exponent, x.exponent, exponent),
            (out.noise, x.noise, ROUNDING * units * (weighted * centred).sum(axis=0)),
        ):
            part[:d], part[d:] = of_x, of_t
        out.second[:d, :d] = x.second
        out.second[d:, :d] = weighted.T @ self.differences(x)
        out.second[:d, d:] = out.second[d:, :d].T
        out.second[d:, d:] = weighted.T @ centred
        return out
