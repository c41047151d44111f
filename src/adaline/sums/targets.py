"""Statistics of the targets: of numbers for a loss, and the total weight of each class."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, ThetaLike, host, is_device, namespace, to_device_of
from adaline.block import Block, Shape
from adaline.errors import InvalidData
from adaline.losses import Loss
from adaline.sums.base import Sum

FEW_CLASSES = 64  # classes up to which a device counts each in a pass; doubling it takes up to twice as long


class Targets(Sum):
    """Weight, sum of weight t (K,), of weight lowest(t) (K,), and the largest target, over rows of positive weight.

    Taken in for a loss, which must admit them.
    """

    reads_units: ClassVar[bool] = True

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

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in the targets of a block for the loss theta; refuse those that it does not admit."""
        if is_device(block.t) and block.rows and block.weight is None and theta.kernel is not None:
            self._add_on_device(block, theta)
            return
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

    def _add_on_device(self, block: Block, loss: Loss) -> None:
        """Take in targets on a device, of rows without weights."""
        t, xp = block.t, namespace(block.t)
        total = host(xp.sum(t, axis=0))
        lowest = np.zeros_like(total)
        if np.isfinite(total).all():
            loss.check(t, block.first_row)
            least = host(xp.sum(loss.lowest(t), axis=0))
            lowest[: len(least)] = least
            self.largest = max(self.largest, float(xp.max(t)))
        self.sums += np.concatenate([[float(block.rows)], total, lowest])

    def merge(self, other: Self) -> None:
        """Add; keep the larger target."""
        self.sums = self.sums + other.sums
        self.largest = max(self.largest, other.largest)


class WeightTotals(Sum):
    """Sum of the weights, how many are positive, the sum of the logarithms of those, and the smallest of them.

    It is not in SUMS: a weight of 2 is one weight, not the row twice.
    """

    reads_units: ClassVar[bool] = True

    def __init__(self, weight: float, rows: int, logs: float, lightest: float) -> None:
        self.weight, self.rows, self.logs, self.lightest = weight, rows, logs, lightest

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the totals of no rows."""
        return cls(0.0, 0, 0.0, math.inf)

    def add(self, block: Block, theta: ThetaLike = None) -> None:
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

    reads_units: ClassVar[bool] = True

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

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in rows whose first target is the index of their class."""
        if block.rows == 0:
            return
        if is_device(block.t):
            few = self._add_on_device(block)
            if few:
                return
        codes = host(block.t)[:, 0]
        if block.weight is None:
            self.merge(type(self)(np.bincount(codes.astype(np.intp)).astype(np.float64), 1.0))
            return
        weight = host(block.weight)
        positive = weight > 0
        totals = np.bincount(codes[positive].astype(np.intp), weight[positive]).astype(np.float64)
        self.merge(type(self)(totals, float(weight[positive].min(initial=math.inf))))

    def _add_on_device(self, block: Block) -> bool:
        """Add rows on a device, class by class; return False and add nothing if there are many classes."""
        codes = block.t[:, 0]
        xp = namespace(codes)
        classes = int(xp.max(codes)) + 1
        if classes > FEW_CLASSES:
            return False
        weight = xp.ones_like(codes) if block.weight is None else to_device_of(codes, block.weight)
        each = [xp.sum(xp.where(codes == k, weight, 0.0 * weight)) for k in range(classes)]
        lightest = 1.0 if block.weight is None else float(xp.min(xp.where(weight > 0, weight, math.inf + weight)))
        self.merge(type(self)(host(xp.stack(each)), lightest))
        return True

    def merge(self, other: Self) -> None:
        """Add the weights class by class."""
        classes = max(len(self.weights), len(other.weights))
        self.weights = self.of(classes) + other.of(classes)
        self.lightest = min(self.lightest, other.lightest)


class LabelWeights(Sum):
    """Total weights of labels, by the codes that a codebook gives them, the labels, and the smallest positive weight.

    It is not in SUMS: its targets are codes, which the codebook that has read them tells the labels of.
    """

    reads_units: ClassVar[bool] = True

    def __init__(self, weights: dict[float, float], labels: dict[float, Any], lightest: float, book: Any) -> None:
        self.weights, self.labels, self.lightest, self.book = weights, labels, lightest, book

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the weights of no rows; `book` is the codebook of the rows."""
        return cls({}, {}, math.inf, config["book"])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.weights, self.labels, self.lightest, None)

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in rows whose first target is the code of their label."""
        if block.rows == 0:
            return
        labels, weight = self.book.labels(), None if block.weight is None else host(block.weight)
        codes = np.sort(np.array(list(labels)))
        index = np.searchsorted(codes, host(block.t)[:, 0])
        met = codes[np.bincount(index, minlength=len(codes)) > 0].tolist()
        found = dict(zip(codes.tolist(), np.bincount(index, weight, len(codes)).tolist(), strict=True))
        lightest = 1.0 if weight is None else float(weight[weight > 0].min(initial=math.inf))
        own = {code: float(found[code]) for code in met}
        self.merge(type(self)(own, {code: labels[code] for code in met}, lightest, None))

    def merge(self, other: Self) -> None:
        """Add the weights label by label."""
        for code, label in other.labels.items():
            if self.labels.setdefault(code, label) != label:
                raise InvalidData(f"the labels {self.labels[code]!r} and {label!r} have the same code: rename one")
            self.weights[code] = self.weights.get(code, 0.0) + other.weights[code]
        self.lightest = min(self.lightest, other.lightest)

    def sorted(self) -> tuple[NDArray[Any], Array, Array]:
        """Return the labels, sorted, and the weight and the code of each, (C,)."""
        labels = np.array(list(self.labels.values())) if self.labels else np.array([], dtype=object)
        order = np.argsort(labels, kind="stable")
        codes = np.array(list(self.labels))[order]
        return labels[order], np.array([self.weights[code] for code in codes.tolist()]), codes
