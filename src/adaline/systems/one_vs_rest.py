"""K classes from two-class machines: one against the rest, or each against each; and where they disagree.

    one against the rest   y_k(x) > 0 claims class k         K machines (S3); or K - 1, the last class for the rest (S2)
    one against one        y_ij(x) > 0 votes for j, else i   K (K - 1) / 2 machines, the most votes win (S2, S3)

Both leave regions where the signs alone give no answer: claimed by none or by several, or with the vote tied.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from adaline.arrays import Array, host
from adaline.basis.base import BASIS
from adaline.block import Block, Shape
from adaline.construction import check_parameters, configured, is_system
from adaline.errors import InvalidData, InvalidParameter, UnknownLabel
from adaline.input.basis import basis_of, check_basis
from adaline.input.by_blocks import by_blocks
from adaline.input.coded import CodedRows, scored
from adaline.input.columns import set_columns
from adaline.input.labels import Codes, Labels
from adaline.input.meter import Meter
from adaline.input.open import open_labelled, read_finite, read_rows, read_weights
from adaline.input.transaction import transaction
from adaline.parameters import NONE, AnyOf, Check, Having, OneOf
from adaline.results import Certificate, worst
from adaline.sources import ArraySource, DeviceSource, Source, SparseSource
from adaline.sources.base import Outer, Reader
from adaline.sources.expanded import Expanded
from adaline.systems.gaussian_classifier import GaussianClassifier


class Relabelled(Source):
    """Rows of an encoded source, whose target is the place k of a class: it becomes values[k], (m,).

    `counts` (C,) are the rows of each class. Rows of classes whose values are NaN are left out. Nothing is copied but
    the rows of a block, while it is read.
    """

    def __init__(self, source: Source, values: Array, counts: NDArray[np.intp]) -> None:
        self.source = source
        self.values = values
        self.shape = Shape(source.shape.features, values.shape[1])
        self.names = None
        self.replayable, self.sparse, self.parallel = source.replayable, source.sparse, source.parallel
        self.streamed = source.streamed or isinstance(source, Expanded)  # phi is too large to be held
        self.reads = source.reads
        self.counts = counts
        self.n_rows = int(counts[~np.isnan(values[:, 0])].sum())

    def _readers(self) -> Iterator[Reader]:
        """Return the blocks in order."""
        return (partial(self._run, read) for read in self.source._readers())

    def read_targets(self) -> Array:
        """Return all targets, (N, m)."""
        t = self.source.read_targets()
        return self._recode(t[self._kept(t)])

    @property
    def weighted(self) -> bool:
        """Whether the rows have weights."""
        return self.source.weighted

    def read_weights(self) -> Array | None:
        """Return all weights, (N,), or None."""
        weight = self.source.read_weights()
        return None if weight is None else weight[self._kept(self.source.read_targets())]

    def recoded(self, values: Array) -> Source:
        """Return the same rows where target j becomes values[j]."""
        places = self.values[:, 0]
        out = np.full((len(places), values.shape[1]), np.nan)
        there = ~np.isnan(places)
        out[there] = values[places[there].astype(np.intp)]
        return Relabelled(self.source, out, self.counts)

    def find_labels(self, guess: bool = False) -> NDArray[Any]:
        """Return the targets there are."""
        return np.unique(self.values[~np.isnan(self.values[:, 0]), 0]).astype(np.int64)

    def encoded(self, classes: NDArray[Any]) -> Source:
        """Return the same rows with the place of each target among the classes."""
        return self.recoded(np.searchsorted(classes, np.arange(int(np.nanmax(self.values)) + 1))[:, None].astype(float))

    def with_targets(self, t: Array) -> Source:
        """Refuse: targets are made from classes."""
        self._refuse()

    def matvec(self, v: Array) -> Array:
        """Refuse: products are for wide data."""
        self._refuse()

    def rmatvec(self, u: Array) -> Array:
        """Refuse: products are for wide data."""
        self._refuse()

    def outer(self, intercept: bool, scale: Array) -> Outer:
        """Refuse: products are for wide data."""
        self._refuse()

    def spread(self, intercept: bool) -> Array:
        """Refuse: products are for wide data."""
        self._refuse()

    def like(self) -> Any:
        """Return an empty array of the rows' namespace."""
        return self.source.like()

    def refuse_nonfinite(self) -> None:
        """Name what is not finite, by its place among all rows."""
        self.source.refuse_nonfinite()

    def _run(self, read: Reader) -> Iterable[Block]:
        for whole in read():
            block = whole.packed()
            kept = self._kept(block.t)
            t = self._recode(block.t)
            if kept.all():
                yield Block(block.x, t, block.weight, first_row=block.first_row)
            elif kept.any():
                weight = None if block.weight is None else block.weight[kept]
                yield Block(block.x[kept], t[kept], weight, first_row=block.first_row)

    def _kept(self, t: Any) -> NDArray[np.bool_]:
        return np.asarray(~np.isnan(self._recode(t)[:, 0]))

    def _recode(self, t: Any) -> Array:
        return self.values[np.asarray(t)[:, 0].astype(np.intp)]

    def _refuse(self) -> NoReturn:
        raise InvalidParameter("this system needs all rows of a table at once here: give arrays instead of a table")


# One two-class machine of a scheme, of adaline or scikit-learn: taught, and asked how sure it is.
#
# A regression is fitted to 0 and 1, and decides at 1/2.


def teach(machine: Any, verb: str, rows: Any, values: Array, codes: Codes, sample_weight: Any) -> None:
    """Let a machine learn from the rows of its classes, as 0 and 1."""
    side = values[codes]
    kept = ~np.isnan(side)
    if not kept.any():
        return
    named = verb == "partial_fit" and not is_regressor(machine)
    more: dict[str, Any] = {"classes": np.array([0, 1])} if named else {}
    if sample_weight is not None:
        more["sample_weight"] = read_weights(sample_weight, rows.shape[0])[kept]
    getattr(machine, verb)(rows if kept.all() else rows[kept], side[kept].astype(np.int64), **more)


def taught(machine: Any) -> bool:
    """Whether a machine has learned from any row."""
    return hasattr(machine, "n_features_in_" if is_regressor(machine) else "classes_")


def check_machine(machine: Any) -> None:
    """Refuse a system that is neither a classifier that tells how sure it is, nor a regression."""
    sure = hasattr(machine, "decision_function") or hasattr(machine, "predict_proba")
    if not hasattr(machine, "fit") or not (sure or is_regressor(machine)):
        raise InvalidParameter(
            "system must be a classifier for two classes with decision_function or predict_proba, such as "
            f"LogisticRegression(), or a regression, got {machine!r}"
        )


def decision(machine: Any, rows: Any) -> Array:
    """Return a machine's decision values, (n,); zero before its first row."""
    if not taught(machine):
        return np.zeros(rows.shape[0])
    given = _given(machine, rows)
    if is_regressor(machine):
        return np.asarray(machine.predict(given), dtype=np.float64).reshape(rows.shape[0]) - 0.5
    if hasattr(machine, "decision_function"):
        return np.asarray(machine.decision_function(given), dtype=np.float64)
    return np.asarray(machine.predict_proba(given)[:, 1] - 0.5)


def probability(machine: Any, rows: Any) -> Array:
    """Return a machine's probability of its class 1, (n,); even odds before its first row."""
    if not taught(machine):
        return np.full(rows.shape[0], 0.5)
    return np.asarray(machine.predict_proba(_given(machine, rows))[:, 1], dtype=np.float64)


def _given(machine: Any, rows: Any) -> Any:
    """Return rows as a machine takes them: those of adaline need not be read again."""
    return rows.view(CodedRows) if type(rows) is np.ndarray and hasattr(machine, "certificate_") else rows


Rows = NDArray[np.bool_]

MOST = 1e100  # decisions beyond it, such as those of a machine that saw one class only, count as much


def _goes_on(scheme: Any) -> bool:
    return hasattr(scheme._machine(), "partial_fit")


def _has_probabilities(scheme: Any) -> bool:
    return scheme.machines == "K" and hasattr(scheme._machine(), "predict_proba")


class Scheme(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
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

    @transaction
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit all machines to rows X (n, D) and labels y (n,), or to a source."""
        check_parameters(self)
        self.__dict__.pop("estimators_", None)
        self._learn("fit", X, y, None, sample_weight, reset=True)
        return self

    @available_if(_goes_on)  # type: ignore[untyped-decorator]
    @transaction
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Take in more rows. The classes are those named, or found, in the first call: others need a new fit."""
        check_parameters(self)
        self._learn("partial_fit", X, y, classes, sample_weight, reset=not hasattr(self, "estimators_"))
        return self

    def decision_function(self, X: Any) -> Array:
        """Return (n,) for two classes, where classes_[1] is predicted if it is above zero; else (n, K)."""
        scores = self._scores(self.decisions(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of labels predicted for rows X (n, D) and y, or for a source."""
        return scored(self, super().score, X, y, sample_weight)

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
        return read_rows(self, X) if basis_of(self) is None else read_finite(self, X)

    def _rows_in_memory(self, source: Source) -> Any:
        """Return rows in memory as the machines take them: an array; a source where phi is large, if they take one."""
        if isinstance(source, ArraySource | SparseSource | DeviceSource):
            return source.x
        return source if is_system(self._machine()) else source.rows_at(np.arange(source.n_rows))

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
        given = open_labelled(self, X, y, sample_weight, reset=reset)
        set_columns(self, given.columns)
        found = given.guess() if known is None else known
        try:
            source = given.encoded(found)
            targets = source.read_targets()
        except UnknownLabel:  # the rows read for the guess did not show all labels
            if known is not None:
                raise
            found = given.all_classes()
            source = given.encoded(found)
            targets = source.read_targets()
        codes = host(targets)[:, 0].astype(np.intp)
        counts = np.bincount(codes, minlength=len(found))
        rows = source if isinstance(X, Source) else self._rows_in_memory(source)
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


@configured
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
