"""Sources for fitted systems: a table is coded as in the fit, and scored with its own targets and weights."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import (
    AnyArray,
    Array,
    OffsetsLike,
    RowsLike,
    TargetsLike,
    WeightsLike,
    host_values,
    is_sparse,
    refuse_masked,
)
from adaline.block import Block
from adaline.coding import Coding, Column
from adaline.coding.frames import plain_terms
from adaline.coding.names import NumberedNames
from adaline.errors import AdalineError, InvalidData, InvalidParameter
from adaline.fitted import AnySystem, check_is_fitted, has_absorbed, has_classes
from adaline.input.system import coding_on, columns_on, names_on
from adaline.lazy import nw, sklearn
from adaline.sources import Source, is_table
from adaline.sources.tabular import target_values
from adaline.wording import plainly


class CodedRows(np.ndarray[Any, np.dtype[np.float64]]):
    """Rows (n, D) of numbers that the coding of a model has made already, so that their columns are not checked."""

    known: Array | None = None


def as_coded(x: AnyArray, known: Array | None = None) -> Any:
    """Return rows x (n, D), dense or CSR, marked as coded already, with the known part of their outputs, (n, 1)."""
    if is_sparse(x):  # which may be the caller's own
        x = type(x)((x.data, x.indices, x.indptr), shape=x.shape, copy=False)
        x.coded = True
        return x
    rows = np.asarray(x).view(CodedRows)
    rows.known = None if known is None else known[:, 0]
    return rows


def is_coded(x: AnyArray) -> bool:
    """Whether rows were coded already."""
    return isinstance(x, CodedRows) or (is_sparse(x) and getattr(x, "coded", False))


def coded(system: AnySystem, source: Source, targets: bool = True) -> Source:
    """Return the rows of a source in the columns (D,) of a fitted system; tables are coded, others must have D columns.

    With targets=False the rows are only to be predicted, and need none.
    """
    if is_table(source):
        from adaline.sources.tables.source import coded_by  # tables are slow to import

        coding = coding_of(system)
        if coding is not None:
            classes = getattr(system, "classes_", None)
            return coded_by(source, coding, targets, classes is not None and classes.dtype.kind in "UO")
    check_is_fitted(system, "n_features_in_")
    columns = columns_on(system)
    names = columns.names if columns.first is None else NumberedNames(columns.first, columns.count)
    source = source.in_columns(columns.count, names, columns.hashed)
    if source.shape.features != system.n_features_in_:
        raise InvalidData(
            f"X has {source.shape.features} features, but {type(system).__name__} is expecting "
            f"{system.n_features_in_} features as input"
        )
    return source


def offset_of(system: AnySystem, x: AnyArray) -> Array | None:
    """Return the offset that rows X bring with them, (n,) or (n, K): a source, or a frame for a table's model."""
    if isinstance(x, CodedRows):
        return x.known
    if is_table(x):
        found = coded(system, x, targets=False)
        assert is_table(found)
        return found.known_parts().read_targets()[:, 0] if found.learn_coding().known_part else None
    if isinstance(x, Source):
        given = x.read_targets()[:, x.targets.given :]
        return (given[:, 0] if x.targets.offset == 1 else given) if x.targets.offset else None
    coding: Coding | None = coding_on(system)
    frame = nw.from_native(x, pass_through=True, eager_only=True)
    return coding.read_offset(frame) if coding is not None and isinstance(frame, nw.DataFrame) else None


def effects_on(system: AnySystem, x: AnyArray) -> Array | None:
    """Return the sum of the effects of each row, (n,), that a model has absorbed; None where it has none."""
    coding: Coding | None = coding_on(system)
    if coding is None or not coding.effects:
        return None
    found = offset_of(system, x)
    if found is None:
        names = ", ".join(effect.name for effect in coding.effects)
        raise InvalidData(f"the model has absorbed effects of {names}: give a frame or a table with these columns")
    return found


def refuse_absorbed(system: AnySystem, what: str) -> None:
    """Refuse what would need the leverages of absorbed effects."""
    if has_absorbed(system):
        raise InvalidParameter(
            f"no {what} where effects are absorbed: leverages of their levels are not known. Code columns of few "
            "levels by categories= instead"
        )


def coding_of(system: AnySystem) -> Coding | None:
    """Return the coding of a fitted system; by names alone where it was fitted to numbers, None without names."""
    names = names_on(system)
    coding: Coding | None = coding_on(system)
    if coding is not None or names is None:
        return coding
    columns = [Column(str(name), "number") for name in names]
    return Coding(tuple(columns), plain_terms(columns))


def take_intercept(draft: AnySystem, coding: Coding | None) -> None:
    """Let a formula without a constant decide that a draft fits none; refuse it where the system always does."""
    if coding is None or coding.intercept:
        return
    if coding.effects:
        raise InvalidParameter("absorbed effects hold a constant: take '0 +' or '- 1' out of the formula")
    if "fit_intercept" not in draft.get_params(deep=False):
        raise InvalidParameter(
            "the formula has no constant, and this system does not let one choose that: take '0 +' or '- 1' out of the "
            "formula"
        )
    draft.fit_intercept = False


def scored(
    system: AnySystem,
    score: Any,
    X: RowsLike,
    y: TargetsLike,
    sample_weight: WeightsLike,
    by_rows: bool = True,
    **given: OffsetsLike,
) -> float:
    """Return score(X, y, sample_weight), a method of scikit-learn that judges what `predict` returns.

    A source as X brings its own targets and weights. That of a streamed table is added up block by block, unless
    predictions are not made row by row. `given` are further arguments of `predict`, such as offsets.
    """
    if isinstance(X, Source):
        X = source = coded(system, X)
        if by_rows and is_added_up(source) and all(one is None for one in given.values()):
            return streamed_score(system, source)
        t = target_values(source)
        y, sample_weight = (t[:, 0] if source.targets.flat and t.ndim == 2 else t), source.read_weights()
    elif y is None:
        raise InvalidData("score needs y, or a table with its target: score(open_table(rows, target=...))")
    refuse_masked(y, "y")
    refuse_masked(sample_weight, "sample_weight")
    given = {name: one for name, one in given.items() if one is not None}
    score = getattr(score, "__func__", score)
    return _judged(system, score, brought(system.predict(X, **given)), X, y, sample_weight)


def is_added_up(source: Source) -> bool:
    """Whether rows are scored block by block: of a stream, and of a table on an engine, where predictions stay."""
    return source.streamed or (is_table(source) and source.rows.on_engine)


def brought(values: Any) -> Any:
    """Return values of rows as an array on the host, where they are a column of an engine or lie on a device."""
    return np.asarray(values) if hasattr(values, "compute") else host_values(values)


def score_predictions(system: AnySystem, found: Any, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike) -> float:
    """Return R^2 of predictions of rows X that were made already."""
    return _judged(system, sklearn.base.RegressorMixin.score, found, X, y, sample_weight)


def _judged(
    system: AnySystem, score: Any, found: Any, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike
) -> float:
    predicted, y, sample_weight = SimpleNamespace(predict=lambda _: found), host_values(y), host_values(sample_weight)
    try:
        with np.errstate(all="ignore"):
            out = float(score(predicted, X, y, sample_weight))
    except AdalineError:
        raise
    except (ValueError, TypeError, OverflowError) as error:  # of scikit-learn's metrics
        raise InvalidData(f"{type(system).__name__} cannot be scored on these rows: {plainly(error)}") from error
    return _checked(out, len(y))


def _checked(score: float, rows: int) -> float:
    if not np.isfinite(score) and rows > 1:  # of one row R^2 is not defined
        raise InvalidData("the score overflows float64: targets or predictions are too large to be squared")
    return score


def streamed_score(system: AnySystem, source: Source) -> float:
    """Return the accuracy of a classifier on the rows of a coded source, R^2 of a regression, added up by blocks."""
    labels = source.find_labels() if has_classes(system) else None
    found = _determination(system, source) if labels is None else _accuracy(system, source.encoded(labels), labels)
    return _checked(found, source.count_rows())


def _accuracy(system: AnySystem, source: Source, labels: NDArray[Any]) -> float:
    """Return the share of the rows whose label is predicted; targets are their indices among the labels."""
    right = source.map(partial(_right, system, labels)).sum(axis=0)
    return float(right[1] / right[0])


def _right(system: AnySystem, labels: NDArray[Any], block: Block) -> Array:
    """Return the weight of the rows of a block, and of those whose label is predicted, (1, 2)."""
    weight = block.weights()
    known = block.t[:, 1:]
    hit = system.predict(as_coded(block.x, known if known.size else None)) == labels[block.t[:, 0].astype(np.intp)]
    return np.array([[weight.sum(), weight @ hit]])


def predict_blocks(system: AnySystem, source: Source) -> Array:
    """Return the predictions of all rows of a coded source, (N, ...), in this process wherever the rows are."""
    return source.map(partial(_predicted, system, source.targets.given))


def _predicted(system: AnySystem, targets: int, block: Block) -> Array:
    """Return the predictions of the rows of a block; what follows its targets is the known part of their outputs."""
    known = block.t[:, targets:]
    return np.asarray(system.predict(as_coded(block.x, known if known.size else None)))


def _determination(system: AnySystem, source: Source) -> float:
    """Return R^2 of the predictions of the rows, the mean of that of each target."""
    targets = source.targets.given
    parts = source.map(partial(_squares, system, targets))
    weight, (mean, within, missed) = parts[:, :1], np.split(parts[:, 1:], 3, axis=1)
    away = within.sum(axis=0) + (weight * (mean - (weight * mean).sum(axis=0) / weight.sum()) ** 2).sum(axis=0)
    missed = missed.sum(axis=0)
    share = np.divide(missed, away, out=(missed > 0).astype(np.float64), where=away > 0)
    return float(1.0 - share.mean()) if source.count_rows() > 1 else np.nan


def _squares(system: AnySystem, targets: int, block: Block) -> Array:
    """Return of a block the weight, and of each target the mean, the squares about it and about predictions, (1, m)."""
    weight, t = block.weights(), block.t[:, :targets]
    if not weight.any():
        return np.zeros((1, 1 + 3 * targets))
    with np.errstate(all="ignore"):
        found = _predicted(system, targets, block).reshape(t.shape)
        mean = weight @ t / weight.sum()
        return np.concatenate([[weight.sum()], mean, weight @ (t - mean) ** 2, weight @ (t - found) ** 2])[None]
