"""K classes from two-class machines of any system: the base of OneVsRest and OneVsOne.

Both leave regions where the signs of the machines alone give no answer: claimed by none or by several, or with the vote
tied. `ambiguous` says where.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, LabelsLike, RowsLike, TargetsLike, WeightsLike, host, like_rows
from adaline.basis.base import BASIS
from adaline.block import Block, Shape
from adaline.construction import check_parameters, is_system
from adaline.errors import InvalidParameter, kept_warnings, warn
from adaline.estimator import available_if, clone, is_regressor
from adaline.fits.online import refuse_changes
from adaline.fitted import (
    AnyModel,
    can_continue,
    can_fit,
    check_is_fitted,
    gives_decisions,
    gives_probabilities,
    has_certificate,
)
from adaline.forms import ClassesOf, Count
from adaline.input import Meter, by_blocks, continuation, transaction
from adaline.input.basis import basis_of, check_basis
from adaline.input.coded import CodedRows
from adaline.input.columns import SHOWN_NAMES
from adaline.input.labels import Codes, Labels, too_few_classes
from adaline.input.open import open_labelled, read_finite, read_rows, refuse_nonfinite_rows
from adaline.input.system import System, SystemState
from adaline.parameters import NONE, AnyOf, Having
from adaline.results import Certificate, some, worst
from adaline.sources import ArraySource, DeviceSource, Source, SparseSource
from adaline.sources.array import read_weights
from adaline.sources.columns import UNNAMED
from adaline.sources.expanded import Expanded
from adaline.sources.runners import Reader
from adaline.sources.views import SourceView
from adaline.state import FittedAttribute, as_fitted
from adaline.systems.families.filter import SignalSystem
from adaline.systems.families.supervised import LinearClassifier

Mask = NDArray[np.bool_]

MOST = 1e100  # larger decisions, such as those of a machine with rows of one class only, count as this


@dataclass(frozen=True, kw_only=True, eq=False)
class SchemeState(SystemState):
    """What the machines of a scheme have learned.

    Parameters
    ----------
    classes : the labels, sorted.
    estimators : the machines.
    rows_seen : rows of all calls so far.
    passes : of the last call over the rows of a source; None where rows were in memory.
    """

    classes: Annotated[Labels, ClassesOf("C")]
    estimators: list[System]
    rows_seen: Count
    passes: Count | None


class Scheme(LinearClassifier):
    """Several two-class machines, copies of `system`, each on the rows of its classes with the labels 0 and 1."""

    compared: ClassVar[tuple[dict[str, Any], ...]] = ()  # the systems that suit any number of classes are
    default_system: ClassVar[type[Any]]
    """The system of the machines where none is given."""
    basis: Annotated[Any, BASIS]
    system: Annotated[Any, AnyOf(NONE, Having("fit", what="a classifier for two classes"))]

    learns = SchemeState
    _state: SchemeState | None
    classes_ = FittedAttribute[Labels]()
    estimators_ = FittedAttribute[list[Any]]()
    rows_seen_ = FittedAttribute[int]()
    _passes = FittedAttribute[int | None]()

    @abstractmethod
    def _targets(self, classes: int) -> Array:
        """Return the target that each machine gives each class, (machines, K): 0, 1, or NaN if it is left out."""

    @abstractmethod
    def _scores(self, y: Array) -> Array:
        """Return discriminants (n, K) from the machines' decisions, (n, machines)."""

    @abstractmethod
    def _ambiguous(self, y: Array) -> Mask:
        """Return the rows for which the machines' signs alone give no answer."""

    @transaction
    def fit(self, X: RowsLike, y: TargetsLike = None, sample_weight: WeightsLike = None) -> Self:
        """Fit all machines to rows X (n, D) and labels y (n,), or to a source."""
        check_parameters(self)
        self._learn("fit", X, y, None, sample_weight, None)
        return self

    @available_if(lambda scheme: can_continue(scheme._kind()))
    @continuation
    def partial_fit(
        self, X: RowsLike, y: TargetsLike = None, classes: LabelsLike = None, sample_weight: WeightsLike = None
    ) -> Self:
        """Take in more rows. The classes are those named, or found, in the first call: others need a new fit."""
        check_parameters(self)
        self._learn("partial_fit", X, y, classes, sample_weight, self._state)
        return self

    def decision_function(self, X: RowsLike) -> Array:
        """Return (n,) for two classes, where classes_[1] is predicted if it is above zero; else (n, K)."""
        scores = self._scores(host(self.decisions(X)))
        return like_rows(X, scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores)

    def ambiguous(self, X: RowsLike) -> Mask:
        """Return, for each row, whether the signs of the machines alone give no answer."""
        return like_rows(X, self._ambiguous(host(self.decisions(X))))

    @by_blocks
    def decisions(self, X: RowsLike) -> Array:
        """Return the decision of each machine, (n, machines): above zero for its class 1."""
        check_is_fitted(self, "estimators_")
        rows = self._rows(X)
        return like_rows(X, np.column_stack([decision(machine, rows) for machine in self.estimators_]))

    def _rows(self, X: RowsLike) -> Any:
        """Return rows as the machines take them."""
        return read_rows(self, X) if basis_of(self) is None else read_finite(self, X)

    def _rows_in_memory(self, source: Source) -> Any:
        """Return rows in memory as the machines take them: an array; a source where phi is large, if they take one."""
        if isinstance(source, ArraySource | SparseSource | DeviceSource):
            return source.x
        return source if is_system(self._machine()) else source.rows_at(np.arange(source.n_rows))

    def questions(self) -> list[str]:
        """Return what each machine decides, such as 'b against a', or 'b against the rest'."""
        check_is_fitted(self, "estimators_")
        pairs = [
            (self.classes_[t == 1][0], self.classes_[t == 0]) for t in as_fitted(self)._targets(len(self.classes_))
        ]
        return [f"{one} against {rest[0] if len(rest) == 1 else 'the rest'}" for one, rest in pairs]

    @property
    def certificate_(self) -> Certificate:
        """The worst of the machines' certificates, where they have one: not solved first, then the fewest digits."""
        check_is_fitted(self, "estimators_")
        proofs: list[Certificate] = [machine.certificate_ for machine in self.estimators_ if is_fitted(machine)]
        passes = sum(proof.passes for proof in proofs) if self._passes is None else self._passes
        return replace(worst(proofs), passes=passes)

    def _machine(self) -> Any:
        return self.default_system() if self.system is None else self.system

    def _kind(self) -> Any:
        """Return one of the machines; before a fit, what they are to be copies of."""
        return self._machine() if self._state is None else self._state.estimators[0]

    def _check_together(self) -> None:
        check_machine(self._machine())

    def _learn(
        self,
        verb: str,
        X: RowsLike,
        y: TargetsLike,
        classes: LabelsLike,
        sample_weight: WeightsLike,
        begun: SchemeState | None,
    ) -> None:
        """Let machines learn from rows, new ones or copies of those begun."""
        meter = Meter(X)
        if begun is not None:
            check_basis(self)
            refuse_changes(list(begun.fitted_with.changed(self)), type(self).__name__)
        known = None if begun is None else begun.classes
        if known is None and classes is not None:
            known = np.unique(classes)
        given = open_labelled(self, X, y, sample_weight, reset=begun is None)

        def encoded(classes: Labels) -> tuple[Labels, Source, NDArray[np.intp]]:
            source = given.encoded(classes)
            count: Any = partial(_class_counts, len(classes))
            return (
                classes,
                source,
                source.map(count).sum(axis=0) if source.streamed else count(source.read_targets())[0],
            )

        found, source, counts = given.using_classes(encoded) if known is None else encoded(known)
        rows = source if isinstance(X, Source) else self._rows_in_memory(source)
        codes = None if isinstance(rows, Source) else host(source.read_targets())[:, 0].astype(np.intp)
        if len(found) < 2:
            raise too_few_classes(type(self).__name__, found)
        targets = self._targets(len(found))
        machines = [clone(self._machine()) for _ in targets] if begun is None else deepcopy(begun.estimators)
        if codes is not None and np.isnan(targets).any():  # a machine of some rows would count them anew
            refuse_nonfinite_rows(given.columns, rows)
        said: list[list[tuple[str, type[Warning]]]] = []
        token = SHOWN_NAMES.set(tuple(given.columns.coefficient_names()))
        try:
            for machine, values in zip(machines, targets, strict=True):
                with kept_warnings() as kept:
                    if codes is not None:
                        fit_machine(machine, verb, rows, values, codes, sample_weight)
                    elif (part := Relabelled(rows, values[:, None], counts)).n_rows:
                        getattr(machine, verb)(part)
                said.append(kept)
        finally:
            SHOWN_NAMES.reset(token)
        new = rows.n_rows if isinstance(rows, Source) else rows.shape[0]
        self._state = SchemeState(
            columns=given.columns,
            fitted_with=self._settings_of_fit(),
            classes=found,
            estimators=machines,
            rows_seen=new if begun is None else begun.rows_seen + new,
            passes=meter.passes(rows) if isinstance(X, Source) else None,
        )
        self._repeat(said)

    def _repeat(self, said: list[list[tuple[str, type[Warning]]]]) -> None:
        """Issue the warnings of each machine, each text once; those of some machines only say whose they are."""
        for message, category in dict.fromkeys(one for kept in said for one in kept):
            whose = [q for q, kept in zip(self.questions(), said, strict=True) if (message, category) in kept]
            warn(message if len(whose) == len(said) else f"{some(whose)}: {message}", category)


def _class_counts(classes: int, rows: Any) -> NDArray[np.intp]:
    """Return the number of rows of each class in a block, or among class indices (n, 1); (1, C)."""
    codes = rows.t if isinstance(rows, Block) else rows
    return np.bincount(host(codes)[:, 0].astype(np.intp), minlength=classes)[None]


def fit_machine(
    machine: AnyModel, verb: str, rows: Any, values: Array, codes: Codes, sample_weight: WeightsLike
) -> None:
    """Call `fit` or `partial_fit` of a machine with the rows of its classes, class k as target values[k], 0 or 1."""
    target = values[codes]
    kept = ~np.isnan(target)
    if not kept.any():
        return
    named = verb == "partial_fit" and not is_regressor(machine)
    more: dict[str, Any] = {"classes": np.array([0, 1])} if named else {}
    if sample_weight is not None:
        more["sample_weight"] = read_weights(sample_weight, rows.shape[0])[kept]
    if not kept.all():
        rows = Block(rows, rows, chosen=np.flatnonzero(kept)).gathered().x
    getattr(machine, verb)(rows, target[kept].astype(np.int64), **more)


def is_fitted(machine: AnyModel) -> bool:
    """Whether a machine has learned from any row."""
    return hasattr(machine, "n_features_in_" if is_regressor(machine) else "classes_")


def check_machine(machine: AnyModel) -> None:
    """Refuse a system that is neither a classifier with decisions or probabilities, nor a regression."""
    if isinstance(machine, SignalSystem):
        raise InvalidParameter(
            f"system is {type(machine).__name__}, a filter of signals in time, and classes are of rows: use a "
            "classifier, such as LogisticRegression()"
        )
    sure = gives_decisions(machine) or gives_probabilities(machine)
    if not can_fit(machine) or not (sure or is_regressor(machine)):
        raise InvalidParameter(
            "system must be a classifier for two classes with decision_function or predict_proba, such as "
            f"LogisticRegression(), or a regression, got {machine!r}"
        )


def decision(machine: AnyModel, rows: Any) -> Array:
    """Return a machine's decision values, (n,), zero before its first row; a regression of 0 and 1 decides at 1/2."""
    if not is_fitted(machine):
        return np.zeros(rows.shape[0])
    given = _given(machine, rows)
    if is_regressor(machine):
        return host(machine.predict(given)).reshape(rows.shape[0]) - 0.5
    if gives_decisions(machine):
        return host(machine.decision_function(given))
    return host(machine.predict_proba(given))[:, 1] - 0.5


def probability(machine: AnyModel, rows: Any) -> Array:
    """Return a machine's probability of its class 1, (n,); even odds before its first row."""
    if not is_fitted(machine):
        return np.full(rows.shape[0], 0.5)
    return host(machine.predict_proba(_given(machine, rows)))[:, 1]


def _given(machine: AnyModel, rows: Any) -> Any:
    """Return rows as a machine takes them: those of adaline need not be read again."""
    return rows.view(CodedRows) if type(rows) is np.ndarray and has_certificate(machine) else rows


class Relabelled(SourceView):
    """Rows of an encoded source, whose target is the index k of a class: it becomes values[k], (m,).

    `counts` (C,) are the rows of each class. Rows of classes whose values are NaN are left out. Nothing is copied but
    the rows of a block, while it is read.
    """

    def __init__(self, base: Source, values: Array, counts: NDArray[np.intp]) -> None:
        super().__init__(base)
        self.values, self.counts = values, counts
        self.targets = replace(self.targets, count=values.shape[1])
        self.shape = Shape(base.shape.features, values.shape[1])
        self.columns = UNNAMED
        self.streamed = base.streamed or isinstance(base, Expanded)  # phi is too large to keep

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows that are not left out."""
        return int(self.counts[~np.isnan(self.values[:, 0])].sum())

    def count_rows(self) -> int:
        return self.n_rows

    def read_targets(self) -> Array:
        t = self.base.read_targets()
        return self._recode(t[self._kept(t)])

    def read_weights(self) -> Array | None:
        weight = self.base.read_weights()
        return None if weight is None else weight[self._kept(self.base.read_targets())]

    def recoded(self, values: Array) -> Source:
        """Return the same rows where target j becomes values[j]."""
        index = self.values[:, 0]
        out = np.full((len(index), values.shape[1]), np.nan)
        there = ~np.isnan(index)
        out[there] = values[index[there].astype(np.intp)]
        return Relabelled(self.base, out, self.counts)

    def find_labels(self, guess: bool = False) -> NDArray[Any]:
        return np.unique(self.values[~np.isnan(self.values[:, 0]), 0]).astype(np.int64)

    def encoded(self, classes: NDArray[Any]) -> Source:
        return self.recoded(np.searchsorted(classes, np.arange(int(np.nanmax(self.values)) + 1))[:, None].astype(float))

    def with_targets(self, t: Array) -> Source:
        return self.matrix()

    def matrix(self) -> NoReturn:
        """Refuse other targets, and products with X, which are for wide data."""
        raise InvalidParameter("this system needs all rows of a table at once here: give arrays instead of a table")

    def _read(self, read: Reader) -> Iterator[Block]:
        return (block for block in super()._read(read) if block.rows)

    def _transformed(self, block: Block) -> Block:
        block = block.packed()
        kept = self._kept(block.t)
        t = self._recode(block.t)
        if kept.all():
            return replace(block, t=t)
        weight = None if block.weight is None else block.weight[kept]
        return Block(block.x[kept], t[kept], weight, first_row=block.first_row)

    def _kept(self, t: AnyArray) -> NDArray[np.bool_]:
        return np.asarray(~np.isnan(self._recode(t)[:, 0]))

    def _recode(self, t: AnyArray) -> Array:
        return self.values[np.asarray(t)[:, 0].astype(np.intp)]
