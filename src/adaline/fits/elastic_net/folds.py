"""Folds: held-out parts of the rows, by which the penalty is chosen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.fits.elastic_net.memory import copy_fits
from adaline.fits.ridge_folds import few_folds
from adaline.sources import Source
from adaline.sources.base import InMemory
from adaline.sources.views import Fold, fold_of


def numbered_folds(fold: NDArray[np.int64], weight: Array | None) -> NDArray[np.int64]:
    """Return the folds (N,) that have any weight, numbered 0, 1, ..."""
    mass = np.bincount(fold, weight)
    if (mass > 0).sum() < 2:
        raise few_folds("l1='auto'", len(fold))
    number = np.cumsum(mass > 0) - 1
    return np.asarray(np.maximum(number, 0)[fold])


def train_and_test(source: Source, folds: int) -> list[tuple[Source, Source]]:
    """Return the rows to learn from and those held out, of each fold."""
    if isinstance(source, InMemory) and copy_fits(source):
        fold = fold_of(0, source.n_rows, folds)
        rows = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds)]
        return [(source.take_rows(train), source.take_rows(test)) for train, test in rows if len(train) and len(test)]
    return [(Fold(source, k, folds, held_out=False), Fold(source, k, folds, held_out=True)) for k in range(folds)]
