"""Statistics of the targets: of numbers for a loss, and the total weight of each class."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from adaline.arrays import Array, host
from adaline.block import Block, Shape
from adaline.sums.base import Sum


class Targets(Sum):
    """Weight, sum of weight t (K,), of weight lowest(t) (K,), and the largest target, over rows of positive weight.

    Taken in for a loss, which must admit them.
    """

    def __init__(self, sums: Array, largest: float) -> None:
        self.sums, self.largest = sums, largest

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows."""
        return cls(np.zeros(1 + 2 * shape.targets), -np.inf)

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return float(self.sums[0])

    @property
    def mean(self) -> Array:
        """Means of the targets."""
        return np.asarray(np.split(self.sums[1:], 2)[0] / self.weight)

    @property
    def lowest(self) -> Array:
        """Lower bound of the cost of the rows, (K,); zero where the loss has none."""
        return np.where(np.isfinite(self.least), self.least, 0.0)

    @property
    def least(self) -> Array:
        """Lower bound of the cost of the rows, (K,); minus infinity where the loss has none."""
        return np.split(self.sums[1:], 2)[1]

    @property
    def finite(self) -> bool:
        """Whether all targets are finite."""
        return bool(np.isfinite(self.mean).all())

    def add(self, block: Block, theta: Any = None) -> None:
        """Take in the targets of a block for the loss theta; refuse those that it does not admit."""
        t, weight = host(block.t), block.weights()
        positive = weight > 0
        if not positive.any():
            return
        total = weight @ np.where(positive[:, None], t, 0.0)
        lowest = np.zeros_like(total)
        if np.isfinite(total).all():
            counted = np.where(positive[:, None], t, t[positive.argmax()])
            theta.check(counted, block.first_row)
            least = weight @ theta.lowest(counted)
            lowest[: len(least)] = least  # of K outputs; a row's targets may be more
            self.largest = max(self.largest, float(counted.max()))
        self.sums += np.concatenate([[weight.sum()], total, lowest])

    def merge(self, other: Self) -> None:
        """Add; keep the larger target."""
        self.sums = self.sums + other.sums
        self.largest = max(self.largest, other.largest)


class WeightTotals(Sum):
    """Sum of the weights, how many are positive, the sum of the logarithms of those, and the smallest of them.

    It is not in SUMS: a weight of 2 is one weight, not the row twice.
    """

    def __init__(self, weight: float, rows: int, logs: float, lightest: float) -> None:
        self.weight, self.rows, self.logs, self.lightest = weight, rows, logs, lightest

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the totals of no rows."""
        return cls(0.0, 0, 0.0, math.inf)

    def add(self, block: Block, theta: Any = None) -> None:
        """Take in the weights of a block."""
        weight = block.weights()
        positive = weight[weight > 0]
        lightest = float(positive.min(initial=math.inf))
        self.merge(type(self)(float(positive.sum()), len(positive), float(np.log(positive).sum()), lightest))

    def merge(self, other: Self) -> None:
        """Add the totals; keep the lighter row."""
        self.weight, self.rows, self.logs = self.weight + other.weight, self.rows + other.rows, self.logs + other.logs
        self.lightest = min(self.lightest, other.lightest)


class LargestTarget:
    """What `Ranks` reads of a row: the largest of its absolute targets."""

    def read(self, block: Block) -> Array:
        """Return the largest absolute target of each row, (n,)."""
        return np.asarray(np.abs(host(block.t)).max(axis=1))


class ClassWeights(Sum):
    """Total weights (C,) of the classes 0 .. C - 1, C - 1 the largest index met, and the smallest positive weight."""

    def __init__(self, weights: Array, lightest: float) -> None:
        self.weights, self.lightest = weights, lightest

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the weights of no rows."""
        return cls(np.zeros(0), math.inf)

    def of(self, classes: int) -> Array:
        """Return the weights of `classes` classes, (classes,); zero for those that were not met."""
        out = np.zeros(classes)
        out[: len(self.weights)] = self.weights
        return out

    def add(self, block: Block, theta: Any = None) -> None:
        """Take in rows whose first target is the index of their class."""
        if block.rows == 0:
            return
        codes = host(block.t)[:, 0]
        if block.weight is None:
            self.merge(type(self)(np.bincount(codes.astype(np.intp)).astype(np.float64), 1.0))
            return
        weight = host(block.weight)
        positive = weight > 0
        totals = np.bincount(codes[positive].astype(np.intp), weight[positive]).astype(np.float64)
        self.merge(type(self)(totals, float(weight[positive].min(initial=math.inf))))

    def merge(self, other: Self) -> None:
        """Add the weights class by class."""
        classes = max(len(self.weights), len(other.weights))
        self.weights = self.of(classes) + other.of(classes)
        self.lightest = min(self.lightest, other.lightest)
