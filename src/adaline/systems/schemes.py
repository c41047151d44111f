"""K classes from two-class machines: one against the rest, or each against each; and where they disagree (row A17).

    one against the rest   y_k(x) > 0 claims class k         K machines (S3); or K - 1, the last class for the rest (S2)
    one against one        y_ij(x) > 0 votes for j, else i   K (K - 1) / 2 machines, the most votes win (S2, S3)

Both leave regions where the signs alone give no answer: claimed by none or by several, or with the vote tied.
"""

from __future__ import annotations

from abc import abstractmethod
from copy import deepcopy
from dataclasses import replace
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from adaline.basis.base import BASIS
from adaline.construction import Configured
from adaline.errors import InvalidData
from adaline.parameters import NONE, AnyOf, Check, Having, OneOf
from adaline.results import Certificate, worst
from adaline.sources import Source
from adaline.systems.attempt import attempt
from adaline.systems.by_blocks import by_blocks
from adaline.systems.expanding import basis_of, check_basis
from adaline.systems.gaussian import GaussianClassifier
from adaline.systems.labels import Labels, encode, read_labels
from adaline.systems.meter import Meter
from adaline.systems.reading import read_finite, read_rows
from adaline.systems.relabelled import Relabelled
from adaline.systems.streaming import ScoredOnSources
from adaline.systems.teaching import open_encoded, seen_array
from adaline.systems.two_class import check_machine, decision, probability, taught, teach

Array = NDArray[np.float64]
Rows = NDArray[np.bool_]

MOST = 1e100  # decisions beyond it, such as those of a machine that saw one class only, count as much


def _goes_on(scheme: Any) -> bool:
    return hasattr(scheme._machine(), "partial_fit")


def _has_probabilities(scheme: Any) -> bool:
    return scheme.machines == "K" and hasattr(scheme._machine(), "predict_proba")


class Scheme(ScoredOnSources, MetaEstimatorMixin, ClassifierMixin, Configured):
    """Several two-class machines, copies of `system`, each on the rows of its classes with the labels 0 and 1."""

    compared: ClassVar[tuple[dict[str, Any], ...]] = ()  # the systems that suit any number of classes are
    parameters: ClassVar[dict[str, Check]] = {
        "system": AnyOf(NONE, Having("fit", what="a classifier for two classes")),
        "basis": BASIS,
    }
    system: Any
    classes_: Labels
    estimators_: list[Any]
    n_features_in_: int
    rows_seen_: int

    @abstractmethod
    def _sides(self, classes: int) -> Array:
        """Return the label that each machine gives each class, (machines, K): 0, 1, or NaN if it is left out."""

    @abstractmethod
    def _scores(self, y: Array) -> Array:
        """Return discriminants (n, K) from the machines' decisions, (n, machines)."""

    @abstractmethod
    def _unclear(self, y: Array) -> Rows:
        """Return the rows for which the machines' signs alone give no answer."""

    @attempt
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit all machines to rows X (n, D) and labels y (n,), or to a source."""
        self._check_parameters()
        self.__dict__.pop("estimators_", None)
        self._learn("fit", X, y, None, sample_weight, reset=True)
        return self

    @available_if(_goes_on)  # type: ignore[untyped-decorator]
    @attempt
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Take in more rows. The classes are those named, or found, in the first call: others need a new fit."""
        self._check_parameters()
        self._learn("partial_fit", X, y, classes, sample_weight, reset=not hasattr(self, "estimators_"))
        return self

    def decision_function(self, X: Any) -> Array:
        """Return (n,) for two classes, where classes_[1] is predicted if it is above zero; else (n, K)."""
        scores = self._scores(self.decisions(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Labels:
        """Return the label of the largest discriminant for each row, also where the machines are ambiguous."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def ambiguous(self, X: Any) -> Rows:
        """Return, for each row, whether the signs of the machines alone give no answer."""
        return self._unclear(self.decisions(X))

    @by_blocks
    def decisions(self, X: Any) -> Array:
        """Return what each machine says, (n, machines): above zero for its class 1."""
        check_is_fitted(self, "estimators_")
        rows = self._rows(X)
        return np.column_stack([decision(machine, rows) for machine in self.estimators_])

    def _rows(self, X: Any) -> Any:
        """Return rows as the machines see them."""
        return read_rows(self, X, reset=False) if basis_of(self) is None else read_finite(self, X)

    def questions(self) -> list[str]:
        """Return what each machine decides, such as 'b against a', or 'b against the rest'."""
        check_is_fitted(self, "estimators_")
        sides = [(self.classes_[s == 1][0], self.classes_[s == 0]) for s in self._sides(len(self.classes_))]
        return [f"{one} against {rest[0] if len(rest) == 1 else 'the rest'}" for one, rest in sides]

    @property
    def certificate_(self) -> Certificate:
        """The worst of the machines' certificates, where they have one: not solved first, then the fewest digits."""
        check_is_fitted(self, "estimators_")
        proofs: list[Certificate] = [machine.certificate_ for machine in self.estimators_ if taught(machine)]
        passes = sum(proof.passes for proof in proofs) if self._passes is None else self._passes
        return replace(worst(proofs), passes=passes)

    def _machine(self) -> Any:
        return GaussianClassifier() if self.system is None else self.system

    def _check_together(self) -> None:
        check_machine(self._machine())

    def _learn(self, verb: str, X: Any, y: Any, classes: Any, sample_weight: Any, *, reset: bool) -> None:
        meter = Meter(X)
        if not reset:
            check_basis(self)
        known = None if reset else self.classes_
        if known is None and classes is not None:
            known = np.unique(classes)
        rows: Any
        codes: Any = None
        if isinstance(X, Source):
            rows, found, counts = open_encoded(self, X, y, sample_weight, known, reset=reset)
        else:
            rows = read_rows(self, X, reset=reset)
            labels = read_labels(y)
            if len(labels) != rows.shape[0]:
                raise InvalidData(
                    f"Found input variables with inconsistent numbers of samples: X has {rows.shape[0]}, "
                    f"y has {len(labels)}"
                )
            found, codes = encode(np.asarray(labels), known)
            counts = np.bincount(codes, minlength=len(found))
            rows = seen_array(self, rows, codes, sample_weight, reset=reset)
        if len(found) < 2:
            raise InvalidData(f"{type(self).__name__} needs rows of at least 2 classes, not one class, '{found[0]}'")
        sides = self._sides(len(found))
        machines = [clone(self._machine()) for _ in sides] if reset else deepcopy(self.estimators_)
        for machine, values in zip(machines, sides, strict=True):
            if isinstance(rows, Source):
                part = Relabelled(rows, values[:, None], counts)
                if part.n_rows:
                    getattr(machine, verb)(part)
            else:
                teach(machine, verb, rows, values, codes, sample_weight)
        new = rows.n_rows if isinstance(rows, Source) else rows.shape[0]
        self.rows_seen_ = new if reset else self.rows_seen_ + new
        self.classes_, self.estimators_ = found, machines
        self._passes = meter.passes(rows) if isinstance(X, Source) else None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class OneVsRest(Scheme):
    """Machines that tell one class from all others; each minimises what its system does, class k as 1, the rest as 0.

    Parameters
    ----------
    system : a classifier for two classes, of adaline or scikit-learn; None for GaussianClassifier()
        It is copied for each machine, and must tell how sure it is (`decision_function` or `predict_proba`). A
        regression is fitted to 0 and 1, and says yes above 1/2.
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
    Three classes in a row: the middle one cannot be told from both others by a line, and nothing claims its rows.

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

    parameters: ClassVar[dict[str, Check]] = {"machines": OneOf("K", "K-1")}

    def __init__(self, system: Any = None, *, machines: str = "K", basis: Any = None) -> None:
        self.system = system
        self.machines = machines
        self.basis = basis

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    @by_blocks
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, (n, K): those of the machines, divided by their sum.

        There for machines="K" whose system has `predict_proba`.
        """
        check_is_fitted(self, "estimators_")
        rows = self._rows(X)
        each = np.column_stack([probability(machine, rows) for machine in self.estimators_])
        return np.asarray(each / np.maximum(each.sum(axis=1, keepdims=True), np.finfo(float).tiny))

    def _sides(self, classes: int) -> Array:
        return np.eye(classes)[: classes if self.machines == "K" else -1]

    def _scores(self, y: Array) -> Array:
        return y if y.shape[1] == len(self.classes_) else np.column_stack([y, np.zeros(len(y))])

    def _unclear(self, y: Array) -> Rows:
        claims = (y > 0).sum(axis=1)
        return np.asarray(claims != 1 if y.shape[1] == len(self.classes_) else claims > 1)


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
