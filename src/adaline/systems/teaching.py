"""How the machines of a scheme get to see rows: through its basis, each with the labels 0 and 1 of its classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import UnknownLabel
from adaline.sources import ArraySource, Source
from adaline.systems.expanding import basis_of, learn_basis, seen
from adaline.systems.labelled import coded_source
from adaline.systems.labels import Codes, Labels
from adaline.systems.reading import open_given, unlabelled_source
from adaline.systems.streaming import ScoredOnSources


def open_encoded(
    scheme: Any, source: Source, y: Any, sample_weight: Any, known: Labels | None, *, reset: bool
) -> tuple[Source, Labels, NDArray[np.intp]]:
    """Return the rows of a source with the indices of their labels, the labels (those known, or those found), and how
    many rows have each.
    """
    given = open_given(scheme, source, y, sample_weight, reset=reset)
    if reset:
        learn_basis(scheme, given)
    found = given.find_labels(guess=True) if known is None else known
    try:
        encoded = given.encoded(found)
        codes = encoded.read_targets()
    except UnknownLabel:
        if known is not None:
            raise
        found = given.find_labels()
        encoded = given.encoded(found)
        codes = encoded.read_targets()
    counts = np.bincount(codes[:, 0].astype(np.intp), minlength=len(found))
    return seen(scheme, encoded), found, counts


def seen_array(scheme: Any, rows: Any, codes: Codes, sample_weight: Any, *, reset: bool) -> Any:
    """Return rows in memory as the machines see them: an array, or where phi is large a source, if they take one."""
    if reset:
        learn_basis(scheme, unlabelled_source(scheme, rows, sample_weight))
    if basis_of(scheme) is None:
        return rows
    source = seen(scheme, coded_source(scheme, rows, codes, sample_weight))
    if isinstance(source, ArraySource):
        return source.x
    return source if isinstance(scheme._machine(), ScoredOnSources) else source.rows_at(np.arange(source.n_rows))
