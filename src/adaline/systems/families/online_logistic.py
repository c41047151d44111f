"""`LogisticRegression(solver="online")`: one pass over the rows, continued by more of them, or by one at a time.

What a model shows of its scan (`coef_`, `certificate_`, ...) is made when it is asked for, as a row may change it at
any time. Rows that are dicts need not have all columns: those that are left out are zero, and a key that is new is a
new column, whose weights begin at zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from adaline.arrays import AnyArray, Array, LabelsLike, TargetsLike, is_sparse
from adaline.basis.base import Basis
from adaline.block import Block, Shape
from adaline.errors import AdalineWarning, InvalidData, InvalidParameter, warn
from adaline.fits.online import OnlineResult, refuse_changes, run_epochs, scan_certificate
from adaline.input import Meter
from adaline.input.labels import Labels, all_classes
from adaline.input.open import LabelledRows, refuse_overflow
from adaline.results import Certificate, Status
from adaline.scans import CoordinateRule
from adaline.scans.tally import LOSS, WEIGHT
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.sources.expanded import phi
from adaline.sources.views import in_memory, recoded
from adaline.systems.families.online import FittedScan, by_name, coded_row, number_in, row_of_array
from adaline.systems.families.online_classifier import (
    classes_of_first,
    refuse_other_classes,
    signed,
    target_of,
    targets_by_label,
    weights_of_classes,
)

SOLVER = "online"
TALLIED = [LOSS, WEIGHT]
"""The numbers of a scan that `progressive_loss_` is made of."""


@dataclass(frozen=True)
class OnlineLogistic:
    """Labels and columns of a model, and the scan that learns it; what it learns is returned as another one.

    Parameters
    ----------
    classes : (C,) labels.
    targets : the target, or targets, of each label.
    fitted : the scan, with the result of its fits.
    names : the columns by name, which new keys of a row are added to; None where rows are arrays, or coded.
    """

    classes: Labels
    targets: dict[Any, Any]
    fitted: FittedScan[CoordinateRule]
    names: dict[str, int] | None

    @classmethod
    def start(cls, options: Any, classes: Labels, columns: int, names: dict[str, int] | None) -> Self:
        """Return what a model with these parameters is before its first row."""
        targets = targets_by_label(classes, class_targets(options, classes), type(options).__name__)
        scan = _start_scan(options, classes, columns, options.init)
        result = OnlineResult([], scan_certificate(Status.ONGOING, np.nan, SOLVER))
        return cls(classes, targets, FittedScan(scan, result), names)

    @classmethod
    def of_first_row(cls, options: Any, x: AnyArray, y: TargetsLike, classes: LabelsLike) -> Self:
        """Return what a model with these parameters is before one row, an array (D,) or a dict, and its label."""
        if options.basis is not None:
            raise InvalidData("a basis is learned from rows: begin with fit or partial_fit")
        known = classes_of_first(y, classes, type(options).__name__)
        x = by_name(x)
        named = isinstance(x, Mapping)
        return cls.start(options, known, 0 if named else int(np.size(x)), {} if named else None)

    @property
    def scan(self) -> CoordinateRule:
        """The state that rows change in place."""
        return self.fitted.scan

    def with_row(
        self, x: AnyArray, y: TargetsLike, coding: Any, basis: Basis | None, class_weight: Any
    ) -> OnlineLogistic:
        """Learn from one row and its label, in place; return itself, or what has the columns that are new."""
        x = x if self.names is None and coding is None else by_name(x)
        target = np.array(target_of(y, self.targets), dtype=np.float64, ndmin=2)
        weights = weights_of_classes(class_weight, self.classes, None)
        weight = None if weights is None else weights[list(self.targets).index(y)][None]
        new = self if self.names is None or not isinstance(x, Mapping) else self._with_names(x, self.names)
        at, values = new.entries(x, coding, basis)
        new.scan.revive()
        row = csr_array((values, at, [0, len(at)]), shape=(1, new.scan.features))
        new.scan.run(Block(row, target, weight))
        if basis is None:
            new.scan.read_rows_by(self.names, self.targets)
        return new

    def _with_names(self, x: Mapping[Any, Any], names: dict[str, int]) -> OnlineLogistic:
        """Let the keys of a row that are new be columns, after those that there are."""
        more = [name for name in x if name not in names]
        for name in more:
            if not isinstance(name, str):
                raise InvalidData(f"the columns of a row are named by text, got {name!r}")
        _finite(np.array([number_in(name, value) for name, value in x.items()]))
        if not more:
            return self
        grown = self.scan.grown(len(names) + len(more))
        names.update({name: len(names) + k for k, name in enumerate(more)})
        return replace(self, fitted=FittedScan(grown, self.fitted.result))

    def entries(self, x: AnyArray, coding: Any, basis: Basis | None) -> tuple[NDArray[np.int64], Array]:
        """Return columns, in their order, and numbers of one row, an array or a dict; refuse what is not finite.

        Keys of a dict that are no columns are left out.
        """
        names = self.names
        x = x if names is None and coding is None else by_name(x)
        row: Any
        if not isinstance(x, Mapping):
            row = row_of_array(x, self.scan.features if basis is None else basis.n_features_in_)
        elif names is not None:
            columns = self.scan.features  # `names` may have more, of a row that another thread is learning from
            known = ((names.get(name, columns), name) for name in x)
            found = sorted((j, number_in(name, x[name])) for j, name in known if j < columns)
            return np.array([j for j, _ in found], np.int64), _finite(np.array([v for _, v in found], np.float64))
        elif coding is not None:
            row = coded_row(x, coding)
        else:
            raise InvalidData("the model was fitted to columns without names: give rows as arrays")
        if basis is not None:
            row = phi(basis, np.atleast_2d(row))
        if is_sparse(row):
            row.sort_indices()
            return row.indices.astype(np.int64), _finite(row.data)
        row = np.ravel(row)
        at = np.flatnonzero(row)
        return at, _finite(row[at])

    def outputs(self, x: AnyArray, coding: Any, basis: Basis | None) -> Array:
        """Return w.x + w0 of one row, (K,); keys of a dict that the model does not know count nothing."""
        at, values = self.entries(x, coding, basis)
        theta = self.scan.weights(np.append(0, 1 + at))
        return refuse_overflow(np.asarray(theta[:, 1:] @ values + theta[:, 0]))

    def shown(self, name: str) -> Any:
        """Return an attribute of the model, one of SHOWN, as the scan has it now."""
        return SHOWN[name](self)

    def _progressive_loss(self) -> float:
        loss, weight = self.scan.numbers[TALLIED].tolist()
        return loss / weight if weight else np.nan


SHOWN = {
    "coef_": lambda online: online.scan.weights(slice(1, None)),
    "intercept_": lambda online: online.scan.weights(slice(1))[:, 0],
    "certificate_": lambda online: online.fitted.certificate,
    "history_": lambda online: online.fitted.result.history,
    "n_iter_": lambda online: len(online.fitted.result.history),
    "rows_seen_": lambda online: online.fitted.rows_seen,
    "progressive_loss_": OnlineLogistic._progressive_loss,
}
"""What a model shows of its scan."""


def follow_settings(scan: CoordinateRule, options: Any, classes: Labels) -> None:
    """Let a scan under way continue with the parameters of a model; refuse what it was not begun with."""
    changed = scan.follow(_start_scan(options, classes, 1))
    refuse_changes(["scheme" if name == "loss" else name for name in changed], type(options).__name__)


def learn_rows(
    options: Any, given: LabelledRows, before: OnlineLogistic | None, classes: LabelsLike, once: bool, meter: Meter
) -> OnlineLogistic:
    """Learn from rows in their order, for as many epochs as a model with these parameters has, or `once`.

    Continues what was `before`; None starts again, with the classes named, or those of the rows.
    """
    epochs = 1 if once else int(options.epochs)

    def learn(labels: Labels) -> OnlineLogistic:
        start = before or OnlineLogistic.start(options, labels, given.columns.width, _plain_names(given))
        source = given.encoded(labels)
        if epochs > 1 or isinstance(options.class_weight, str):
            source = in_memory(source)
        weights = weights_of_classes(options.class_weight, labels, None if once else source)
        rows = recoded(source, class_targets(options, labels), weights)
        rows.refuse_parts()
        with start.fitted.continued() if before else nullcontext(start.fitted) as fitted:
            if before:
                follow_settings(fitted.scan, options, labels)
            if before and not once:
                fitted.scan.begin(again=True)
            seen = fitted.scan.numbers[TALLIED] if before and once else 0.0
            result = run_epochs(rows, fitted.scan, EpochOptions(epochs, title=type(options).__name__))
            fitted.scan.numbers[TALLIED] += seen
            diverged, count = result.certificate.status is Status.DIVERGED, rows.count_rows()
            if diverged:
                title = type(options).__name__
                warn(f"{title}: a row's loss is not finite, and no row was learned after it", AdalineWarning)
            proof = meter.on(_certificate(diverged, len(result.history)), rows)
            return replace(start, fitted=fitted.joined(result, proof, count))

    if before is not None:
        refuse_other_classes(classes, before.classes)
        return learn(before.classes)
    return given.using_classes(learn) if classes is None else learn(all_classes(np.asarray(classes)))


def _start_scan(options: Any, classes: Labels, columns: int, init: Any = None) -> CoordinateRule:
    """Return the scan of a model with these parameters before its first row."""
    several = len(classes) > 2 and options.scheme == "softmax"
    return CoordinateRule.start(
        Shape(columns, 1 if several or len(classes) == 2 else len(classes)),
        loss="softmax" if several else "logistic",
        classes=len(classes),
        intercept=bool(options.fit_intercept),
        init=init,
        penalty=float(options.penalty),
        l1=float(options.l1),
        average=bool(options.average),
    )


def class_targets(options: Any, classes: Labels) -> Array:
    """Return the targets of each class, (C, 1) of two classes or of softmax, which takes their index, else (C, C)."""
    k = len(classes)
    return np.arange(float(k))[:, None] if k > 2 and options.scheme == "softmax" else signed(k, 0.0)


def check_online(options: Any) -> None:
    """Refuse parameters that have no meaning online."""
    for name, value in (("penalty", "auto"), ("scheme", "one-vs-one"), ("firth", True), ("standardize", True)):
        if getattr(options, name) == value:
            raise InvalidParameter(f"solver='online' takes the rows once, and cannot have {name}={value!r}")


def _plain_names(given: LabelledRows) -> dict[str, int] | None:
    """Return the columns by name where they are numbers as they are given, neither coded nor of a basis."""
    columns = given.columns
    if columns.names is None or columns.coding is not None or columns.basis is not None:
        return None
    return {name: j for j, name in enumerate(columns.names)}


def _certificate(diverged: bool, passes: int) -> Certificate:
    said = f"{SOLVER}, {'one pass' if passes == 1 else f'{passes} passes'}, each row's loss before its own step"
    return scan_certificate(Status.DIVERGED if diverged else Status.ONGOING, np.nan, said)


def _finite(values: Array) -> Array:
    """Return numbers whose squares have a sum; refuse others."""
    with np.errstate(all="ignore"):
        if not values @ values < np.inf:
            raise InvalidData(
                "Input X contains NaN, infinity or numbers too large to be squared: drop or fill such rows"
            )
    return values
