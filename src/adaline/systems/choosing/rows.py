"""Rows cut into folds: fitted on all folds but one, asked about all.

Arrays and frames are cut by shuffled row, class by class; signals into stretches, as their order matters; sources by a
hash of the row's number. Signals and sources are not cut up: rows held out have weight zero.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline

from adaline.coding.frames import collected
from adaline.errors import InvalidData, InvalidParameter
from adaline.namespaces import host, is_device, is_sparse, namespace
from adaline.parameters import Whole
from adaline.sources import Source, TableSource
from adaline.sources.folds import Fold, fold_of
from adaline.systems.labels import Labels, read_labels
from adaline.systems.reading import read_weights
from adaline.systems.signals import SignalSystem
from adaline.wording import counted

Array = NDArray[np.float64]
Places = NDArray[np.intp]


class Rows(ABC):
    """Rows x, answers y (None without targets), weights (n,), and the fold of each row."""

    whole: ClassVar[bool] = False
    """Whether a model is asked about all rows together: in their order, or as a source reads them."""
    x: Any
    y: Any
    weight: Array
    fold: Places

    @abstractmethod
    def fitted(self, system: Any, k: int) -> Any:
        """Return a clone of the system fitted to all folds but k."""

    def held_weights(self, folds: int) -> Array:
        """Return the weight of the rows of each fold."""
        return np.bincount(self.fold, self.weight, folds).astype(np.float64)


class ArrayRows(Rows):
    """Rows in memory; those of weight zero take no part."""

    def __init__(self, x: Any, y: Any, sample_weight: Any, classes: bool) -> None:
        self.x = x = _indexable(x)
        n = x.shape[0]
        self.y = None if y is None else _on_host(read_labels(y) if classes else y)
        if self.y is not None and self.y.shape[0] != n:
            raise InvalidData(
                f"Found input variables with inconsistent numbers of samples: X has {n}, y has {self.y.shape[0]}"
            )
        self.given_weight = None if sample_weight is None else read_weights(sample_weight, n)
        self.weight = np.ones(n) if self.given_weight is None else self.given_weight
        self.classes = classes

    def deal(self, folds: int, seed: int) -> ArrayRows:
        """Cut the rows."""
        if not self.weight.all():
            some = np.flatnonzero(self.weight)
            self.x, self.y = self.at(some)
            self.weight = self.given_weight = self.weight[some]
        _check_folds(folds, len(self.weight))
        if self.classes:
            _check_classes(self.y)
        self.fold = dealt(len(self.weight), folds, seed, self.y if self.classes else None)
        return self

    def at(self, places: Places) -> tuple[Any, Any]:
        """Return some rows and their answers."""
        return taken(self.x, places), None if self.y is None else self.y[places]

    def fitted(self, system: Any, k: int) -> Any:
        return self.fitted_to(system, np.flatnonzero(self.fold != k))

    def fitted_to(self, system: Any, places: Places) -> Any:
        """Return a clone of the system fitted to some rows."""
        weight = None if self.given_weight is None else self.given_weight[places]
        return fit(clone(system), *self.at(places), weight)


class SignalRows(ArrayRows):
    """Samples of signals, held out in stretches; those of weight zero stay, as others are heard with their past."""

    whole = True

    def deal(self, folds: int, seed: int) -> SignalRows:
        """Cut the signals into stretches with one number of samples of positive weight."""
        some = int(np.count_nonzero(self.weight))
        _check_folds(folds, some)
        self.fold = np.maximum(np.cumsum(self.weight > 0) - 1, 0) * folds // some
        return self

    def fitted(self, system: Any, k: int) -> Any:
        return fit(clone(system), self.x, self.y, self.weight * (self.fold != k))


class SourceRows(Rows):
    """The rows of a source."""

    whole = True

    def __init__(self, source: Source, folds: int) -> None:
        _check_folds(folds, source.count_rows())
        self.source, self.folds = source, folds
        self.x = Fold(source.unlabelled(), 0, folds, held=True)  # coded as it is: nothing is read anew for a model
        self.y = None
        if source.shape.targets:
            self.y = source.target_values() if isinstance(source, TableSource) else source.read_targets()
            self.y = self.y[:, 0] if source.flat and self.y.ndim == 2 else self.y
        weight = source.read_weights()
        self.weight = np.ones(source.count_rows()) if weight is None else host(weight)
        self.fold = fold_of(0, source.count_rows(), folds)
        held = self.held_weights(folds)
        if not held.all():
            raise InvalidParameter(
                f"fold {int(held.argmin())} of {folds} has none of the {source.count_rows()} rows: use fewer folds"
            )

    def fitted(self, system: Any, k: int) -> Any:
        return clone(system).fit(Fold(self.source, k, self.folds, held=False))


def cut(system: Any, x: Any, y: Any, sample_weight: Any, folds: Any, seed: int) -> Rows:
    """Return the rows for a system, cut into folds."""
    if isinstance(x, Source):
        if y is not None or sample_weight is not None:
            raise InvalidParameter("a source brings its own targets and weights: give neither y nor sample_weight")
        return SourceRows(x, folds)
    kind = SignalRows if isinstance(system, SignalSystem) else ArrayRows
    return kind(x, y, sample_weight, is_classifier(system)).deal(folds, seed)


def dealt(rows: int, folds: int, seed: int, labels: Labels | None) -> Places:
    """Return the fold of each row: shuffled rows are dealt like cards, class by class, so that no class misses out.

    A class of two rows or more is in every training set, as its rows go to different folds.
    """
    order = np.random.default_rng(seed).permutation(rows)
    if labels is not None:
        order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(rows, dtype=np.intp)
    fold[order] = np.arange(rows) % folds
    return fold


def taken(x: Any, places: Places) -> Any:
    """Return the rows of an array or frame at some places."""
    if is_device(x):
        xp = namespace(x)
        return xp.take(x, xp.asarray(places, device=x.device), axis=0)
    frame = nw.from_native(x, pass_through=True, eager_only=True)
    return frame[places].to_native() if isinstance(frame, nw.DataFrame) else x[places]


def fit(system: Any, x: Any, y: Any, weight: Array | None) -> Any:
    """Fit a system, or a pipeline whose last step takes the weights."""
    name = f"{system.steps[-1][0]}__sample_weight" if isinstance(system, Pipeline) else "sample_weight"
    return system.fit(x, y, **({} if weight is None else {name: weight}))


def _on_host(y: Any) -> Any:
    return host(y) if is_device(y) else np.asarray(y)


def _indexable(x: Any) -> Any:
    if is_sparse(x):
        return x.tocsr()
    x = x if is_device(x) else collected(x)
    if is_device(x) or isinstance(nw.from_native(x, pass_through=True, eager_only=True), nw.DataFrame):
        return x
    x = np.asarray(x)
    if x.ndim == 0:
        raise InvalidData(f"Expected 2D array, got {x.item()!r} instead")
    return x


def _check_folds(folds: Any, rows: int) -> None:
    Whole(2).check("folds", folds)
    if folds > rows:
        raise InvalidParameter(f"{counted(rows)} cannot be cut into {folds} folds: give more rows, or fewer folds")


def _check_classes(labels: Any) -> None:
    found, counts = np.unique(labels, return_counts=True)
    if len(found) < 2:
        raise InvalidData(f"y is '{found[0]}' in every row: there is nothing to learn")
    if np.count_nonzero(counts > 1) < 2:
        raise InvalidData(
            f"y has {len(found)} labels in {len(labels)} rows, fewer than two of them twice: folds need two classes of "
            "two rows or more"
        )
