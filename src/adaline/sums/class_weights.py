"""The total weight of each class, and the smallest weight of a row: what the likelihood of classes starts from."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from adaline.arrays import Array, host
from adaline.block import Block, Shape
from adaline.sums.base import Sum


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
