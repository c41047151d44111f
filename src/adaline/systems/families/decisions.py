"""Decisions of classifiers: linear discriminants, the label of the largest, and K classes from two-class machines.

one against the rest   y_k(x) > 0 claims class k         K machines (S3); or K - 1, the last class for the rest (S2)
one against one        y_ij(x) > 0 votes for j, else i   K (K - 1) / 2 machines, the most votes win (S2, S3)

Probabilities are those of one likelihood (the log odds of two classes, or the softmax of K outputs), or the outputs of
K machines, scaled to add up to one.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from adaline.arrays import Array, beside, host, is_device, namespace
from adaline.input.labels import Labels
from adaline.losses import Logistic, Softmax


def label_of_largest(scores: Any, classes: Labels) -> Labels:
    """Return the label of each row, (n,), from discriminants (n, K), or (n,) for two classes: above zero the second.

    Of discriminants on a device labels that are numbers lie there too; texts do not.
    """
    if is_device(scores):
        xp = namespace(scores)
        index = xp.astype(scores > 0, xp.int64) if scores.ndim == 1 else xp.argmax(scores, axis=1)
        if classes.dtype.kind not in "iuf":
            return np.asarray(classes[host(index).astype(np.intp)])
        found: Labels = xp.take(beside(scores, classes), index, axis=0)
        return found
    best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
    return np.asarray(classes[best])


def one_against_one(classes: int) -> Array:
    """Return the target that each machine gives each class, (pairs, K): 0 and 1 for its two, NaN for those left out.

    The pairs are in the order (0, 1), (0, 2), ..., (1, 2), ...
    """
    pairs = list(combinations(range(classes), 2))
    targets = np.full((len(pairs), classes), np.nan)
    for row, pair in zip(targets, pairs, strict=True):
        row[list(pair)] = 0.0, 1.0
    return targets


def coupled_probabilities(z: Array) -> Array:
    """Return the probability of each class, (n, C), where the outputs lie: of log odds (n, 1), or of K outputs."""
    if z.shape[1] == 1:
        both: Array = namespace(z).stack([Logistic().mean(-z[:, 0]), Logistic().mean(z[:, 0])], axis=1)
        return both
    softmax: Array = Softmax().mean(z)
    return softmax


def coupled_log_probabilities(z: Array) -> Array:
    """Return the logarithms of the probabilities of `coupled_probabilities`, (n, C), without underflow."""
    if z.shape[1] == 1:
        return -np.column_stack([np.logaddexp(0.0, z[:, 0]), np.logaddexp(0.0, -z[:, 0])])
    top = z - z.max(axis=1, keepdims=True)
    return np.asarray(top - np.log(np.exp(top).sum(axis=1, keepdims=True)))


def shares(each: Array) -> Array:
    """Return numbers (n, K), of a machine each, divided by their sum over the classes."""
    return np.asarray(each / np.maximum(each.sum(axis=1, keepdims=True), np.finfo(float).tiny))


def sum_of_pairs(first: Array, second: Array, classes: int) -> Array:
    """Return what each class gets from all pairs, (n, K), where pair m gives `first` (n, pairs) and `second`."""
    out = np.zeros((len(second), classes))
    for m, (i, j) in enumerate(combinations(range(classes), 2)):
        out[:, j] += second[:, m]
        out[:, i] += first[:, m]
    return out
