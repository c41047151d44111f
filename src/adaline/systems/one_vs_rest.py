"""K classes from machines for one class against all others (S2, S3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from adaline.arrays import Array, RowsLike, like_rows
from adaline.estimator import available_if
from adaline.fitted import AnySystem, check_is_fitted, gives_probabilities
from adaline.input import by_blocks
from adaline.parameters import one_of
from adaline.state import FitSettings, FittedWith
from adaline.systems.families.named import named_system
from adaline.systems.families.scheme import Mask, Scheme, probability
from adaline.systems.gaussian_classifier import GaussianClassifier

Machines = Literal["K", "K-1"]


@dataclass(frozen=True)
class OneVsRestSettings(FitSettings):
    """The settings that machines of one class against the rest are read with."""

    machines: Machines


@named_system
class OneVsRest(Scheme):
    """Machines for one class against all others; each minimises what its system does, class k as 1, the rest as 0.

    Parameters
    ----------
    system : a classifier for two classes, of adaline or scikit-learn; None for GaussianClassifier()
        It is copied for each machine, and must have `decision_function` or `predict_proba`. A regression is
        fitted to 0 and 1, and decides at 1/2.
    machines : "K" or "K-1"
        "K" (S3): a machine for every class; the largest y_k wins, so that every row has an answer. "K-1" (S2): none for
        the last class, which takes what no machine claims; among several claims the largest wins.
    basis : a basis of `adaline.basis`, or None
        phi: the system works on the columns phi(x) instead of x, made block by block; `basis_` is as learned.

    Attributes
    ----------
    estimators_ : the machines; `classes_` : the labels, sorted; `rows_seen_` : rows of all calls so far;
    `certificate_` : the worst of the machines'.

    Examples
    --------
    Three classes in a row: no line separates the middle one from both others, and no machine claims its rows.

    >>> import numpy as np
    >>> from adaline import LeastSquaresClassifier, OneVsRest
    >>> x = np.linspace(0, 3, 31)[:, None]
    >>> model = OneVsRest(LeastSquaresClassifier()).fit(x, np.floor(x[:, 0]).clip(0, 2))
    >>> model.ambiguous([[0.2], [1.5], [2.8]])
    array([False,  True, False])

    Machines that give probabilities have them divided by their sum:

    >>> from adaline import LogisticRegression, datasets
    >>> data = datasets.load("penguins", target="species")
    >>> OneVsRest(LogisticRegression(penalty=1.0)).fit(data.X, data.y).predict_proba(data.X[:1]).round(2)
    array([[1., 0., 0.]])

    References
    ----------
    Lecture S2, K > 2 classes, idea 1; S3, extension to multiple classes. As many fits as machines.
    """

    default_system = GaussianClassifier
    _fitted_with = FittedWith(OneVsRestSettings)
    machines: Annotated[Machines, one_of(Machines)]

    def __init__(self, system: AnySystem = None, *, machines: Machines = "K", basis: Any = None) -> None:
        self.system = system
        self.machines = machines
        self.basis = basis

    @available_if(lambda scheme: scheme._fitted_with.machines == "K" and gives_probabilities(scheme._kind()))
    @by_blocks
    def predict_proba(self, X: RowsLike) -> Array:
        """Return the probability of each class, (n, K): those of the machines, divided by their sum.

        There for machines="K" whose system has `predict_proba`.
        """
        check_is_fitted(self, "estimators_")
        rows = self._rows(X)
        each = np.column_stack([probability(machine, rows) for machine in self.estimators_])
        return like_rows(X, np.asarray(each / np.maximum(each.sum(axis=1, keepdims=True), np.finfo(float).tiny)))

    def _targets(self, classes: int) -> Array:
        return np.eye(classes)[: classes if self.machines == "K" else -1]

    def _scores(self, y: Array) -> Array:
        return y if y.shape[1] == len(self.classes_) else np.column_stack([y, np.zeros(len(y))])

    def _ambiguous(self, y: Array) -> Mask:
        claims = (y > 0).sum(axis=1)
        return np.asarray(claims != 1 if y.shape[1] == len(self.classes_) else claims > 1)
