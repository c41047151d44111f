"""K classes from two-class machines: one against the rest, or each against each; and where they disagree.

    one against the rest   y_k(x) > 0 claims class k         K machines (S3); or K - 1, the last class for the rest (S2)
    one against one        y_ij(x) > 0 votes for j, else i   K (K - 1) / 2 machines, the most votes win (S2, S3)

Both leave regions where the signs alone give no answer: claimed by none or by several, or with the vote tied.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from adaline.arrays import Array
from adaline.construction import configured
from adaline.systems.families.scheme import MOST, Rows, Scheme


@configured
class OneVsOne(Scheme):
    """Machines for every pair of classes, which vote; each minimises what its system does, on the rows of two.

    The class with the most votes wins. Ties are broken by the sum of a class's decision values over its machines: the
    discriminants are the votes plus that sum s squashed to s / (3 (|s| + 1)), less than half a vote.

    Parameters
    ----------
    system : a classifier for two classes, of adaline or scikit-learn; None for GaussianClassifier()
        It is copied for each of K (K - 1) / 2 machines, in the order (0, 1), (0, 2), ..., (1, 2), ...
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    estimators_ : the machines; `classes_` : the labels, sorted; `rows_seen_` : rows of all calls so far;
    `certificate_` : the worst of the machines'.

    Examples
    --------
    >>> from adaline import GaussianClassifier, OneVsOne, datasets
    >>> data = datasets.load("penguins", target="species")
    >>> model = OneVsOne(GaussianClassifier()).fit(data.X, data.y)
    >>> len(model.estimators_), int(model.ambiguous(data.X).sum())
    (3, 0)

    References
    ----------
    Lecture S2, K > 2 classes, idea 2; S3, extension to multiple classes. As many fits as pairs, each on two classes.
    """

    def __init__(self, system: Any = None, *, basis: Any = None) -> None:
        self.system = system
        self.basis = basis

    def _sides(self, classes: int) -> Array:
        pairs = list(combinations(range(classes), 2))
        sides = np.full((len(pairs), classes), np.nan)
        for values, (i, j) in zip(sides, pairs, strict=True):
            values[i], values[j] = 0.0, 1.0
        return sides

    def _scores(self, y: Array) -> Array:
        votes, sums = self._votes(y)
        return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))

    def _unclear(self, y: Array) -> Rows:
        votes, _ = self._votes(y)
        return np.asarray((votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1)

    def _votes(self, y: Array) -> tuple[Array, Array]:
        """Return votes and summed decision values, (n, K)."""
        votes, sums = np.zeros((2, len(y), len(self.classes_)))
        for said, (i, j) in zip(y.T, combinations(range(len(self.classes_)), 2), strict=True):
            votes[:, j] += said > 0
            votes[:, i] += said <= 0
            sums[:, j] += said.clip(-MOST, MOST)
            sums[:, i] -= said.clip(-MOST, MOST)
        return votes, sums
