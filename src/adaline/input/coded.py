"""Sources for fitted systems: a table is coded as in the fit, and scored with its own targets and weights."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from adaline.arrays import Array, host
from adaline.block import Block
from adaline.coding import Coding, Column
from adaline.coding.frames import plain_terms
from adaline.errors import AdalineError, InvalidData, InvalidParameter
from adaline.lazy import nw
from adaline.sources import Source, TableSource
from adaline.sources.tables.source import coded_by


class CodedRows(np.ndarray[Any, np.dtype[np.float64]]):
    """Rows (n, D) of numbers that the coding of a model has made already, so that their columns are not checked."""


def coded(system: Any, source: Source, targets: bool = True) -> Source:
    """Return the rows of a source in the columns (D,) of a fitted system; tables are coded, others must have D columns.

    With targets=False the rows are only to be predicted, and need none.
    """
    if isinstance(source, TableSource):
        coding = coding_of(system)
        if coding is not None:
            classes = system.__dict__.get("classes_")
            return coded_by(source, coding, targets, classes is not None and classes.dtype.kind in "UO")
    source.learn_coding()
    if source.shape.features != system.n_features_in_:
        raise InvalidData(
            f"X has {source.shape.features} features, but {type(system).__name__} is expecting "
            f"{system.n_features_in_} features as input"
        )
    return source


def offset_of(system: Any, x: Any) -> Array | None:
    """Return the offset that rows X bring with them, (n,) or (n, K): a source, or a frame for a table's model."""
    if isinstance(x, TableSource):
        found = coded(system, x, targets=False)
        assert isinstance(found, TableSource)
        return found.read_offset()
    if isinstance(x, Source):
        known = x.read_targets()[:, x.shape.targets - x.offset :]
        return (known[:, 0] if x.offset == 1 else known) if x.offset else None
    coding: Coding | None = system.__dict__.get("coding_")
    frame = nw.from_native(x, pass_through=True, eager_only=True)
    return coding.read_offset(frame) if coding is not None and isinstance(frame, nw.DataFrame) else None


def coding_of(system: Any) -> Coding | None:
    """Return the coding of a fitted system; by names alone where it was fitted to numbers, None without names."""
    names = system.__dict__.get("feature_names_in_")
    coding: Coding | None = system.__dict__.get("coding_")
    if coding is not None or names is None:
        return coding
    columns = [Column(str(name), "number") for name in names]
    return Coding(tuple(columns), plain_terms(columns))


def check_intercept(system: Any, coding: Coding) -> None:
    """Refuse a formula without a constant where the system fits one."""
    if not coding.intercept and system.get_params().get("fit_intercept", True):
        raise InvalidParameter(
            "the formula has no constant, and this system fits one: use fit_intercept=False, or take '0 +' or '- 1' "
            "out of the formula"
        )


def scored(system: Any, score: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Return score(X, y, sample_weight), a method of scikit-learn that judges what `predict` returns.

    A source as X brings its own targets and weights.
    """
    if isinstance(X, Source):
        X = source = coded(system, X)
        if source.parts is not None:
            return _score_in_parts(system, source)
        t = source.target_values() if isinstance(source, TableSource) else source.read_targets()
        y, sample_weight = (t[:, 0] if source.flat and t.ndim == 2 else t), source.read_weights()
    return _judged(system, score.__func__, system.predict(X), X, y, sample_weight)


def _score_in_parts(system: Any, source: Source) -> float:
    """Return the accuracy of a classifier, R^2 of a regression (the mean of its targets), by sums over parts."""
    if system.__dict__.get("classes_") is not None:
        classes = source.find_labels()
        right, weight = np.sum(source.encoded(classes).each_block(partial(_count_right, system, classes)), axis=0)
        return float(right / weight)
    found = source.each_block(partial(_squares, system, source.shape.targets - source.offset))
    weight, mean, away, wrong = found[0]
    for w, m, a, e in found[1:]:  # sums of squares about the mean of all rows before, and about that of these
        both = max(weight + w, np.finfo(float).tiny)
        away, wrong = away + a + (m - mean) ** 2 * (weight * w / both), wrong + e
        weight, mean = weight + w, mean + (m - mean) * (w / both)
    with np.errstate(all="ignore"):
        out = float(np.where(away > 0, 1 - wrong / np.where(away > 0, away, 1.0), wrong == 0).mean())
    if not np.isfinite(out):
        raise InvalidData("the score overflows float64: targets or predictions are too large to be squared")
    return out


def _count_right(system: Any, classes: Any, block: Block) -> Array:
    """Return the weight of the rows of a block whose label is predicted, and that of all, (2,)."""
    weight = block.weights()
    right = system.predict(block.gathered().x.view(CodedRows)) == classes[host(block.t)[:, 0].astype(np.intp)]
    return np.array([weight[right].sum(), weight.sum()])


def _squares(system: Any, targets: int, block: Block) -> tuple[float, Array, Array, Array]:
    """Return weight, means (K,) of the targets of a block, and sums of squares about these and the predictions."""
    t, weight = host(block.t)[:, :targets], block.weights()
    total = float(weight.sum())
    mean = weight @ t / total if total else np.zeros(targets)
    found = np.reshape(system.predict(block.gathered().x.view(CodedRows)), t.shape)
    return total, mean, weight @ (t - mean) ** 2, weight @ (t - found) ** 2


def brought(values: Any) -> Any:
    """Return values of rows as an array, where they are a column of an engine."""
    return values.compute().to_numpy() if hasattr(values, "compute") else values


def score_predictions(system: Any, found: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Return R^2 of predictions of rows X that were made already."""
    from sklearn.base import RegressorMixin  # slow to import

    return _judged(system, RegressorMixin.score, found, X, y, sample_weight)


def _judged(system: Any, score: Any, found: Any, X: Any, y: Any, sample_weight: Any) -> float:
    predicted = SimpleNamespace(predict=lambda _: found)
    try:
        with np.errstate(all="ignore"):
            out = float(score(predicted, X, y, sample_weight))
    except AdalineError:
        raise
    except (ValueError, TypeError, OverflowError) as error:  # of scikit-learn's metrics
        raise InvalidData(f"{type(system).__name__} cannot be scored on these rows: {error}") from error
    if not np.isfinite(out) and len(y) > 1:  # of one row R^2 is not defined
        raise InvalidData("the score overflows float64: targets or predictions are too large to be squared")
    return out
