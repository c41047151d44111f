"""`LogisticRegression(solver="online")`: one pass over the rows, continued by more of them, or by one at a time.

The state is a scan of `CoordinateRule`. What the model shows of it (`coef_`, `certificate_`, ...) is made when it is
asked for, as a row may change it at any time. Rows that are dicts need not have all columns: those that are left out
are zero, and a key that is new is a new column, whose weights begin at zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from adaline.arrays import Array, is_sparse
from adaline.block import Block, Shape
from adaline.construction import check_parameters
from adaline.errors import AdalineWarning, InvalidData, InvalidParameter, UnknownLabel, warn
from adaline.fits.online import OnlineResult, run_epochs, scan_certificate
from adaline.input import Meter, set_columns
from adaline.input.basis import check_basis, rows_through_basis
from adaline.input.class_weights import class_weights
from adaline.input.columns import InputColumns
from adaline.input.first_pass import class_weights_of
from adaline.input.labels import Labels, all_classes
from adaline.input.open import open_labelled, refuse_overflow
from adaline.lazy import nw
from adaline.locks import lock_of
from adaline.results import Certificate, Status
from adaline.scans import CoordinateRule
from adaline.scans.tally import LOSS, RUNNING, STATUS, STEPS, WEIGHT
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.sources import Source
from adaline.sources.views import in_memory, recoded
from adaline.systems.families.online_classifier import signed

SOLVER = "online"
TALLIED = [LOSS, WEIGHT]
"""The numbers of a scan that `progressive_loss_` is made of."""
SHOWN = ("coef_", "intercept_", "certificate_", "history_", "n_iter_", "rows_seen_", "progressive_loss_")
"""What a model shows of its scan."""
OF_A_MAXIMUM = (
    *("coef_", "intercept_", "certificate_", "history_", "n_iter_", "rows_seen_", "penalty_", "path_"),
    *("separation_", "aliased_", "dependencies_", "_fits", "_typical"),
)
"""What a fit by another solver sets, which would hide what a scan shows."""


def fit_online(
    model: Any, X: Any, y: Any, sample_weight: Any, *, classes: Any = None, once: bool = False, goes_on: bool = False
) -> None:
    """Learn from rows, for `epochs` epochs or `once`, in their order; `goes_on` with the scan that there is."""
    meter = Meter(X)
    check_parameters(model)
    if goes_on:
        check_basis(model)
    given = open_labelled(model, X, y, sample_weight, reset=not goes_on)
    set_columns(model, given.columns)
    if goes_on:
        if classes is not None and not np.array_equal(all_classes(np.asarray(classes)), model.classes_):
            raise InvalidData(f"classes={list(classes)} are not the classes of the model, {model.classes_.tolist()}")
    else:
        for name in OF_A_MAXIMUM:
            model.__dict__.pop(name, None)
        plain = given.columns.names if given.columns.coding is None and given.columns.basis is None else None
        model._names = None if plain is None else {name: j for j, name in enumerate(plain)}
    epochs = 1 if once else int(model.epochs)

    def learn(labels: Labels) -> None:
        if not goes_on:
            _take_classes(model, labels)
        source = given.encoded(model.classes_)
        if epochs > 1 or isinstance(model.class_weight, str):
            source = in_memory(source)
        rows = recoded(source, class_targets(model), _class_weights(model, source, once))
        rows.refuse_parts()
        with model._scan.continued() if goes_on else nullcontext(_start(model, rows.shape)) as scan:
            if goes_on and not once:
                scan.begin(again=True)
            before = replace(model._result, rows=model.rows_seen_) if goes_on else None
            seen = scan.numbers[TALLIED] if goes_on and once else 0.0
            result = run_epochs(rows, scan, EpochOptions(epochs, title=type(model).__name__))
            scan.numbers[TALLIED] += seen
            _keep(model, scan, result, before, rows, meter)

    if goes_on or classes is not None:
        learn(model.classes_ if goes_on else all_classes(np.asarray(classes)))
    else:
        given.using_classes(learn)


def learn_row(model: Any, x: Any, y: Any, classes: Any) -> None:
    """Learn from one row, an array (D,) or a dict, whose keys may be new."""
    state = model.__dict__
    core: Any = state["_scan"]._native if "_scan" in state else None
    plain = core is not None and "basis_" not in state and model.class_weight is None
    if plain and core.take(x, target_of(model, y), state["_names"]):
        return
    with lock_of(model):
        if "_scan" not in model.__dict__:
            _begin(model, x, y, classes)
        target = target_of(model, y)
        weights = _class_weights(model, None, True)
        weight = None if weights is None else weights[list(model._targets).index(y)][None]
        if isinstance(x, Mapping) and model._names is not None:
            _take_names(model, x)
        at, values = row_entries(model, x)
        scan = model._scan
        scan.revive()
        row = csr_array((values, at, [0, len(at)]), shape=(1, scan.features))
        scan.run(Block(row, np.array(target, dtype=np.float64, ndmin=2), weight))


def row_outputs(model: Any, x: Any) -> Array:
    """Return w.x + w0 of one row, (K,); keys of a dict that the model does not know count nothing."""
    at, values = row_entries(model, x)
    theta = model._scan.theta
    return refuse_overflow(np.asarray(theta[:, 1 + at] @ values + theta[:, 0]))


def row_entries(model: Any, x: Any) -> tuple[NDArray[np.int64], Array]:
    """Return columns, in their order, and numbers of one row, an array or a dict; refuse what is not finite.

    Keys of a dict that are no columns are left out.
    """
    names, state = model._names, model.__dict__
    row: Any
    if not isinstance(x, Mapping):
        row = _array(model, x)
    elif names is not None:
        found = sorted((names[name], _number(name, value)) for name, value in x.items() if name in names)
        return _finite(np.array([j for j, _ in found], np.int64), np.array([value for _, value in found], np.float64))
    elif "coding_" in state:
        backend: Any = next(name for name in ("pyarrow", "pandas", "polars") if find_spec(name))
        row = state["coding_"].code(nw.from_dict({name: [value] for name, value in x.items()}, backend=backend))
    else:
        raise InvalidData("the model was fitted to columns without names: give rows as arrays")
    if "basis_" in state:
        row = rows_through_basis(model, np.atleast_2d(row))
    if is_sparse(row):
        row.sort_indices()
        return _finite(row.indices.astype(np.int64), row.data)
    row = np.ravel(row)
    at = np.flatnonzero(row)
    return _finite(at, row[at])


def _array(model: Any, x: Any) -> Array:
    """Return a row that is given as an array, (D,)."""
    try:
        row = np.ascontiguousarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidData(f"a row is an array of numbers or a dict by column names, got {x!r}") from None
    if row.shape != (model.n_features_in_,):
        raise InvalidData(
            f"a row must hold {model.n_features_in_} numbers, one for each column, got an array of shape {row.shape}"
        )
    return row


def _finite(at: NDArray[np.int64], values: Array) -> tuple[NDArray[np.int64], Array]:
    with np.errstate(all="ignore"):
        if not values @ values < np.inf:
            raise InvalidData(
                "Input X contains NaN, infinity or numbers too large to be squared: drop or fill such rows"
            )
    return at, values


def _take_names(model: Any, x: Mapping[Any, Any]) -> None:
    """Let the keys of a row that are new be columns, after those that there are."""
    names = model._names
    new = [name for name in x if name not in names]
    for name in new:
        if not isinstance(name, str):
            raise InvalidData(f"the columns of a row are named by text, got {name!r}")
    _finite(np.empty(0, np.int64), np.array([_number(name, value) for name, value in x.items()]))
    if new:
        names.update({name: len(names) + k for k, name in enumerate(new)})
        grown = model._scan.grown(len(names))
        state = {**model.__dict__, "_scan": grown, "n_features_in_": len(names)}
        state.pop("feature_names_in_", None)  # from now on made of `_names` when it is asked for
        model.__dict__ = state


def shown(model: Any, name: str) -> Any:
    """Return an attribute, one of SHOWN, of a model that has a scan."""
    scan, result = model.__dict__["_scan"], model.__dict__["_result"]
    match name:
        case "coef_":
            return scan.weights(1, None)
        case "intercept_":
            return scan.weights(0, 1)[:, 0]
        case "history_":
            return result.history
        case "n_iter_":
            return len(result.history)
        case "rows_seen_":
            return result.rows + scan.steps - result.steps
        case "progressive_loss_":
            weight = float(scan.numbers[WEIGHT])
            return float(scan.numbers[LOSS]) / weight if weight else np.nan
    return _certificate(scan, result)


def target_of(model: Any, y: Any) -> Any:
    """Return the target, or targets, of a label."""
    try:
        return model._targets[y]
    except (KeyError, TypeError):
        raise UnknownLabel(f"label {y!r} is not among the classes {model.classes_.tolist()}") from None


def check_online(model: Any) -> None:
    """Refuse parameters that have no meaning online."""
    for name, value in (("penalty", "auto"), ("scheme", "one-vs-one"), ("firth", True), ("standardize", True)):
        if getattr(model, name) == value:
            raise InvalidParameter(f"solver='online' takes the rows once, and cannot have {name}={value!r}")


def _start(model: Any, shape: Shape) -> CoordinateRule:
    """Return the scan before its first row."""
    classes = len(model.classes_)
    several = classes > 2 and model.scheme == "softmax"
    return CoordinateRule.start(
        Shape(shape.features, 1 if several or classes == 2 else classes),
        loss="softmax" if several else "logistic",
        classes=classes,
        intercept=bool(model.fit_intercept),
        init=model.init,
        penalty=float(model.penalty),
        l1=float(model.l1),
    )


def _begin(model: Any, x: Any, y: Any, classes: Any) -> None:
    """Start a new model with its first row and label."""
    check_parameters(model)
    if model.basis is not None:
        raise InvalidData("a basis is learned from rows: begin with fit or partial_fit")
    if classes is None and not isinstance(y, bool | np.bool_):
        raise InvalidData(
            f"a new {type(model).__name__} must know its classes: learn_one(x, y, classes=[...]), or partial_fit with "
            "classes=, or labels True and False"
        )
    names: dict[str, int] | None = {} if isinstance(x, Mapping) else None
    kind: Any = type(model)
    draft = kind.__new__(kind)
    draft.__dict__ = {k: v for k, v in model.__dict__.items() if k not in OF_A_MAXIMUM} | {"_names": names}
    _take_classes(draft, np.array([False, True]) if classes is None else all_classes(np.asarray(classes)))
    set_columns(draft, InputColumns(0 if names is not None else int(np.size(x))))
    draft._scan = _start(draft, Shape(draft.n_features_in_, 1))
    if isinstance(x, Mapping):
        _take_names(draft, x)
    else:
        row_entries(draft, x)  # refuses what is no row
    target_of(draft, y)
    _class_weights(draft, None, True)
    draft._result = OnlineResult([], scan_certificate(Status.ONGOING, np.nan, SOLVER))
    model.__dict__ = draft.__dict__


def _take_classes(model: Any, classes: Labels) -> None:
    """Keep the classes and their targets; refuse fewer than two."""
    if len(classes) < 2:
        shown_class = f"one class, '{classes[0]}'" if len(classes) else "none"
        raise InvalidData(
            f"{type(model).__name__} needs rows of at least 2 classes; there is {shown_class}. partial_fit can be told "
            "the others by classes="
        )
    model.classes_ = classes
    values = class_targets(model)
    each = values[:, 0].tolist() if values.shape[1] == 1 else list(values)
    model._targets = dict(zip(classes.tolist(), each, strict=True))


def class_targets(model: Any) -> Array:
    """Return the targets of each class, (C, 1) of two classes or of softmax, which takes their index, else (C, C)."""
    k = len(model.classes_)
    return np.arange(float(k))[:, None] if k > 2 and model.scheme == "softmax" else signed(k, 0.0)


def _class_weights(model: Any, source: Source | None, once: bool) -> Array | None:
    """Return the weight of each class, (C,); None where they have none."""
    if model.class_weight is None:
        return None
    balanced = isinstance(model.class_weight, str)
    if balanced and (once or source is None):
        raise InvalidParameter("class_weight='balanced' needs all rows at once: use fit, or name the weights")
    counts = class_weights_of(source).of(len(model.classes_)) if balanced and source is not None else None
    return class_weights(model.class_weight, model.classes_, counts)


def _keep(
    model: Any, scan: CoordinateRule, result: OnlineResult, before: OnlineResult | None, source: Source, meter: Meter
) -> None:
    """Keep the scan, and the result joined to that before."""
    history = [*(before.history if before else []), *result.history]
    rows = (before.rows if before else 0) + source.count_rows()
    passes = len(result.history)
    said = f"{SOLVER}, {'one pass' if passes == 1 else f'{passes} passes'}, each row's loss before its own step"
    diverged = result.certificate.status is Status.DIVERGED
    status = Status.DIVERGED if diverged else Status.ONGOING
    proof = scan_certificate(status, np.nan, said)
    model._scan = scan
    model._result = replace(result, history=history, certificate=meter.on(proof, source), rows=rows, steps=scan.steps)
    if diverged:
        warn(f"{type(model).__name__}: a row's loss is not finite, and no row was learned after it", AdalineWarning)


def _certificate(scan: CoordinateRule, result: OnlineResult) -> Certificate:
    """Return how the last fit ended; rows learned one at a time since then are taken into account."""
    numbers = scan.numbers
    if numbers[STEPS] == result.steps:
        return result.certificate
    status = Status.ONGOING if int(numbers[STATUS]) == RUNNING else Status.DIVERGED
    return replace(result.certificate, status=status, advice=status.advice)


def _number(name: Any, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidData(f"column {name!r} of the row holds {value!r}, not a number") from None
