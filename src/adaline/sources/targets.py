"""The targets and weights of rows: numbers in memory, or what is known of those that are read with the rows.

A source has targets; the same rows with other ones are `source.with_targets(t)` or `source.changed(...)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, LabelsLike, TargetsLike, host
from adaline.block import Block

NARROW = 2**16  # range of whole numbers that are counted instead of sorted


@dataclass(frozen=True)
class RowTargets:
    """The targets (N, K) and the weights (N,) of rows.

    Parameters
    ----------
    count : number of targets K, offsets included.
    values, weight : those in memory; None of targets that are read with the rows, and of rows without weights.
    weighted : whether the rows have weights.
    offset : how many of the last targets are offsets, known parts of the outputs: none, one for all, or one each.
    flat : whether the targets were given as one vector (N,), so that results are vectors too.
    labels : the type in which the targets were given, for those who take them as labels.
    advice : what to do, or what is wrong, where rows have no targets and a system needs them.
    """

    count: int
    values: Any = None
    weight: Any = None
    weighted: bool = False
    offset: int = 0
    flat: bool = True
    labels: LabelsLike = np.float64
    advice: str = "open the table with target='column'"

    @classmethod
    def held(cls, t: AnyArray, weight: AnyArray = None) -> RowTargets:
        """Return targets (N, K) and weights (N,) or None in memory."""
        count = int(t.shape[1])
        return cls(count, t, weight, weight is not None, flat=count == 1)

    @property
    def given(self) -> int:
        """The number of targets that are no offsets."""
        return self.count - self.offset

    def changed(self, change: TargetChange) -> RowTargets:
        """Return targets in memory after a change."""
        t, weight = change.of(self.values, self.weight)
        return replace(change.known, count=int(t.shape[1]), values=t, weight=weight, weighted=weight is not None)

    def of_rows(self, rows: slice) -> tuple[Any, Any]:
        """Return the targets and the weights in memory of a run of rows; weights are None where there are none."""
        return self.values[rows, :], None if self.weight is None else self.weight[rows]

    def described(self) -> RowTargets:
        """Return what is known of the targets without their numbers."""
        return replace(self, values=None, weight=None)

    def choosing(self, columns: Sequence[int], offset: int) -> TargetChange:
        """Return the change to some of the targets, of which so many of the last are offsets."""
        flat = len(columns) - offset < 2
        known = replace(self.described(), count=len(columns), offset=offset, flat=flat)
        return TargetChange(partial(chosen_targets, columns), known)

    def mapping(self, function: Callable[[Array], Array], count: int) -> TargetChange:
        """Return the change to a function from targets (n, K) to others, (n, count), none of which is an offset."""
        known = replace(self.described(), count=count, offset=0, flat=count == 1, labels=np.float64)
        return TargetChange(partial(mapped_targets, function), known)

    def recoding(self, values: Array, class_weight: Array | None = None) -> TargetChange:
        """Return the change of class indices k to values[k], (K, m), and of weights by class_weight[k], (K,).

        Offsets stay beside them.
        """
        known = replace(self._beside_offset(no_target, values.shape[1]).known, flat=self.flat)
        of = partial(recoded_targets, values, class_weight, self.offset)
        if class_weight is None:
            return TargetChange(of, known)
        return TargetChange(of, replace(known, weighted=True), reweighs=True)

    def labelling(self, classes: NDArray[Any]) -> TargetChange:
        """Return the change of labels, numbers, to their indices among the classes; offsets stay beside them."""
        return self._beside_offset(partial(class_indices, classes), 1)

    def _beside_offset(self, function: Callable[[Array], Array], count: int) -> TargetChange:
        """Return the change to a function of the targets but the offsets, (n, count), which stay beside it."""
        if not self.offset:
            return self.mapping(function, count)
        known = replace(self.mapping(function, count).known, count=count + self.offset, offset=self.offset)
        return TargetChange(partial(mapped_targets, partial(_of_given, function, self.offset)), known)

    def reweighing(self, factor: float) -> TargetChange:
        """Return the change of weights, which there are, to a multiple of them."""
        return TargetChange(partial(scaled_weights, factor), self.described(), reweighs=True)

    def sharing(self) -> TargetChange:
        """Return the change of successes and failures, two targets, to shares of successes, weighted by the trials.

        An offset stays beside them.
        """
        known = replace(self._beside_offset(no_target, 1).known, flat=True, weighted=True)
        return TargetChange(partial(shares_as_target, self.offset), known, reweighs=True)

    def without_offset(self) -> TargetChange:
        """Return the change of targets to what is left of them without their offsets, which there are."""
        known = replace(self.mapping(no_target, self.given).known, flat=self.flat)
        return TargetChange(partial(mapped_targets, partial(_less_offset, self.offset)), known)

    def columns_of(self, k: int) -> list[int]:
        """Return the indices of target k, and of its offset, among all targets."""
        return [k, self.given + (k if self.offset > 1 else 0)] if self.offset else [k]


class TargetChange(NamedTuple):
    """A change of targets and weights, row by row; it can be pickled, as it is made where the rows are.

    Parameters
    ----------
    of : from targets (n, K) and weights (n,) or None to other ones.
    known : what the targets are then, but for their numbers.
    reweighs : whether the weights are other ones too.
    """

    of: Callable[[Array, Any], tuple[Array, Any]]
    known: RowTargets
    reweighs: bool = False


def targets_of_block(block: Block) -> Array:
    """Return the targets of a block, (n, K)."""
    return np.asarray(block.t)


def weights_of_block(block: Block) -> Array:
    """Return the weights of a block, (n,)."""
    return np.asarray(block.weight)


def chosen_targets(columns: Sequence[int], t: Array, weight: AnyArray) -> tuple[Array, Any]:
    """Return some of the targets t (n, K), (n, m)."""
    return np.ascontiguousarray(host(t)[:, columns]), weight


def recoded_targets(
    values: Array, class_weight: Array | None, offset: int, t: Array, weight: AnyArray
) -> tuple[Array, Any]:
    """Return values[k], (n, m), for targets k (n, 1), class indices, and weights times class_weight[k].

    The last `offset` columns of the targets stay beside the values.
    """
    codes = host(t)[:, 0].astype(np.intp)
    if class_weight is not None:
        weight = class_weight[codes] if weight is None else host(weight) * class_weight[codes]
    found = np.take(values, codes, axis=0, mode="clip")
    return (np.column_stack([found, host(t)[:, -offset:]]) if offset else found), weight


def _of_given(function: Callable[[Array], Array], offset: int, t: Array) -> Array:
    """Return a function of the targets but their last columns, the offsets, with these beside it."""
    return np.column_stack([function(t[:, :-offset]), t[:, -offset:]])


def mapped_targets(function: Callable[[Array], Array], t: Array, weight: AnyArray) -> tuple[Array, Any]:
    """Return a function of the targets."""
    return function(host(t)), weight


def scaled_weights(factor: float, t: Array, weight: AnyArray) -> tuple[Array, Any]:
    """Return the targets as they are, and a multiple of the weights."""
    return t, weight * factor


def taken_targets(rows: NDArray[np.intp], t: Array, weight: AnyArray) -> tuple[Array, Any]:
    """Return the targets of the rows with these indices, copied."""
    return t[rows], None if weight is None else weight[rows]


def shares_of(y: TargetsLike, weight: AnyArray) -> tuple[Array, Array]:
    """Return the shares (n,) of successes and failures y (n, 2), and their weights: the trials, times those given."""
    t = np.asarray(y, dtype=np.float64)
    trials = t.sum(axis=1)
    return t[:, 0] / np.where(trials > 0, trials, 1.0), trials if weight is None else trials * np.asarray(weight)


def shares_as_target(offset: int, t: Array, weight: AnyArray) -> tuple[Array, Array]:
    """Return the shares of successes as the one target, (n, 1), beside offsets, weighted by the trials."""
    t = host(t)
    share, weight = shares_of(t[:, :2], None if weight is None else host(weight))
    return np.column_stack([share, t[:, 2:]]) if offset else share[:, None], weight


def _less_offset(offset: int, t: Array) -> Array:
    """Return targets (n, K) less their offsets, the last columns of t."""
    return t[:, :-offset] - t[:, -offset:]


def no_target(t: Array) -> Array:
    """Return a target of zeros, (n, 1)."""
    return np.zeros((len(t), 1))


def labels_among(t: Array, labels: LabelsLike) -> NDArray[Any]:
    """Return the distinct targets of t (N,), sorted, in the type of labels; few whole numbers are counted."""
    low, high = t.min(initial=np.inf), t.max(initial=-np.inf)
    if np.dtype(labels).kind in "iub" and high - low < NARROW:
        return np.asarray(np.flatnonzero(np.bincount((t - low).astype(np.intp))) + low).astype(labels)
    return np.asarray(np.unique(t).astype(labels))


def class_indices(classes: NDArray[Any], t: Array) -> Array:
    """Return the index of each target (n, 1) among the classes, in whatever order these are."""
    order = np.argsort(classes, kind="stable")
    return np.asarray(order[np.searchsorted(classes, t, sorter=order)].astype(np.float64))
