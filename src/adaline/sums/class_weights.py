"""The weight of the rows of each class, and the lightest row: what a likelihood of classes starts from."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from adaline.arrays import Array, host
from adaline.block import Block, Shape
from adaline.sums.base import Sum


class ClassWeights(Sum):
    """Weights (C,) of the classes 0 .. C - 1, as many as were met, and the smallest positive weight of a row."""

    def __init__(self, weights: Array, lightest: float) -> None:
        self.weights, self.lightest = weights, lightest

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the weights of no rows."""
        return cls(np.zeros(0), math.inf)

    def of(self, classes: int) -> Array:
        """Return the weights of so many classes, (classes,); those that were not met have none."""
        return np.pad(self.weights, (0, classes - len(self.weights)))

    def add(self, block: Block, theta: Any = None) -> None:
        """Take in rows whose first target is the index of their class."""
        if block.rows == 0:
            return
        if block.weight is None:
            counts = np.bincount(host(block.t)[:, 0].astype(np.intp)).astype(np.float64)
            self.merge(type(self)(counts, 1.0))
            return
        weight = host(block.weight)
        heavy = weight > 0
        codes = host(block.t)[heavy, 0].astype(np.intp)
        counts = np.bincount(codes, weight[heavy]).astype(np.float64)
        self.merge(type(self)(counts, float(weight[heavy].min(initial=math.inf))))

    def merge(self, other: Self) -> None:
        """Add class by class."""
        classes = max(len(self.weights), len(other.weights))
        self.weights = self.of(classes) + other.of(classes)
        self.lightest = min(self.lightest, other.lightest)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.weights, self.lightest)
