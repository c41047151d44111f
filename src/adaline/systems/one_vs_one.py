"""K classes from machines for every pair of them, which vote (S2, S3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.arrays import Array
from adaline.fitted import AnySystem
from adaline.systems.families.decisions import one_against_one, sum_of_pairs
from adaline.systems.families.named import named_system
from adaline.systems.families.scheme import MOST, Mask, Scheme
from adaline.systems.gaussian_classifier import GaussianClassifier


@named_system
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

    default_system = GaussianClassifier

    def __init__(self, system: AnySystem = None, *, basis: Any = None) -> None:
        self.system = system
        self.basis = basis

    def _targets(self, classes: int) -> Array:
        return one_against_one(classes)

    def _scores(self, y: Array) -> Array:
        limited = y.clip(-MOST, MOST)
        sums = sum_of_pairs(-limited, limited, len(self.classes_))
        return np.asarray(self._votes(y) + sums / (3 * (np.abs(sums) + 1)))

    def _ambiguous(self, y: Array) -> Mask:
        votes = self._votes(y)
        return np.asarray((votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1)

    def _votes(self, y: Array) -> Array:
        """Return how many machines vote for each class, (n, K)."""
        return sum_of_pairs((y <= 0).astype(float), (y > 0).astype(float), len(self.classes_))
