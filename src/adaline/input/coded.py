"""Systems on sources: rows of a table are coded as the model has it, and scored with their own targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adaline.coding import Coding, Column
from adaline.coding.frames import plain_terms
from adaline.errors import InvalidData, InvalidParameter
from adaline.sources import Source, TableSource
from adaline.sources.tables.source import coded_by


class CodedRows(np.ndarray[Any, np.dtype[np.float64]]):
    """Rows that have been through the coding of the model: columns need no check by name."""


def coded(system: Any, source: Source, targets: bool = True) -> Source:
    """Return a source with the columns that a fitted system has; without targets it need not have any."""
    if isinstance(source, TableSource):
        coding = coding_of(system)
        if coding is not None:
            classes = system.__dict__.get("classes_")
            return coded_by(source, coding, targets, classes is not None and classes.dtype.kind in "UO")
    if source.shape.features != system.n_features_in_:
        raise InvalidData(
            f"X has {source.shape.features} features, but {type(system).__name__} is expecting "
            f"{system.n_features_in_} features as input"
        )
    return source


def coding_of(system: Any) -> Coding | None:
    """Return how a fitted system's columns are made: as it was coded, or by name where it was fitted to numbers."""
    names = system.__dict__.get("feature_names_in_")
    coding: Coding | None = system.__dict__.get("coding_")
    if coding is not None or names is None:
        return coding
    columns = [Column(str(name), "number") for name in names]
    return Coding(tuple(columns), plain_terms(columns))


def remember(system: Any, source: Source) -> None:
    """Keep on a system what its columns are called and how they are made."""
    system.n_features_in_ = source.shape.features
    system.__dict__.pop("feature_names_in_", None)
    system.__dict__.pop("coding_", None)
    if source.names is not None:
        system.feature_names_in_ = np.asarray(source.names, dtype=object)
    if source.coding is not None:
        system.coding_ = source.coding
        check_intercept(system, source.coding)


def check_intercept(system: Any, coding: Coding) -> None:
    """Refuse a constant where the formula says that there is none; without one, every level would need a column."""
    if not coding.intercept and system.get_params().get("fit_intercept", True):
        raise InvalidParameter(
            "the formula has no constant, and this system fits one: use fit_intercept=False, or take '0 +' or '- 1' "
            "out of the formula"
        )


def scored(system: Any, score: Callable[..., float], X: Any, y: Any, sample_weight: Any) -> float:
    """Return score(X, y, sample_weight) of rows; a source brings its own targets and weights."""
    if isinstance(X, Source):
        X = source = coded(system, X)
        t = source.target_values() if isinstance(source, TableSource) else source.read_targets()
        y, sample_weight = (t[:, 0] if source.flat and t.ndim == 2 else t), source.read_weights()
    return float(score(X, y, sample_weight))
