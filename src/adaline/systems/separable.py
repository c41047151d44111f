"""`separability`: can a hyperplane tell the classes apart? Decided, with a proof either way."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from adaline.errors import InvalidData
from adaline.namespaces import beside, is_device
from adaline.proof.separability import settle
from adaline.proof.verdict import ManyClasses, Separability
from adaline.sources import Source
from adaline.systems.labels import encode, read_labels
from adaline.systems.reading import open_rows, read_rows, read_weights, source_of


def separability(X: Any, y: Any = None, sample_weight: Any = None) -> Separability | ManyClasses:
    """Decide whether a hyperplane separates the classes, and prove it.

    The perceptron finds a plane w.x + w0 with t (w.x + w0) > 0 for every row if there is one, and otherwise never
    stops: "we will only know that the data are separable once the algorithm converges". Here both answers end in a
    proof: a plane, or a convex combination of the rows of each class that meet in one point. `verify()` checks it in
    exact arithmetic; the answer is right for the numbers as they are given, however small the margin.

    Parameters
    ----------
    X : rows (n, D): array, frame (categories are coded as in `fit`), sparse matrix, or a source with its own targets.
    y : labels of at least two classes.
    sample_weight : rows of weight zero take no part; otherwise weights do not matter.

    Returns
    -------
    Separability : `separable`, `kind` ("complete", "quasi", "none"), `coef`, `intercept`, `margin`, `weights` and
        `verify()`; prints as a sentence. For K > 2 classes a `ManyClasses`: `pairs` and `joint` (Kesler), and the same
        names for the joint question, which is asked up to 200 coordinates (K - 1)(D + 1) and 2 million comparisons
        (K - 1) N. Rows of one class only are refused: there is nothing to separate.

    Examples
    --------
    >>> from adaline.systems.separable import separability
    >>> xor = separability([[0, 0], [1, 1], [0, 1], [1, 0]], ["same", "same", "other", "other"])
    >>> print(xor)
    The classes 'other' and 'same' are not separable: they overlap on every hyperplane; a convex combination of 4 rows
    proves it.
    >>> [str(value) for value in xor.weights.values], xor.verify()
    (['1/4', '1/4', '1/4', '1/4'], True)
    >>> apart = separability([[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> apart.separable, round(apart.margin, 9)
    (True, 1.0)

    References
    ----------
    Lecture S2, the perceptron convergence theorem; S4, which problems are linearly separable. P. Gordan (1873): either
    a plane or a combination exists. P. Wolfe, Finding the nearest point in a polytope (1976). J. D. Dixon, Exact
    solution of linear equations using p-adic expansions (1982).

    Cost: three passes over the rows, and one or two for each round of the search, mostly 3 to 20 rounds; then integers
    of some thousand digits on at most D + 2 rows, about a second for D = 100. Where there is no separating plane and
    the proof needs more than 400 rows, it is refused (`Undecided`).
    """
    source, labels = _opened(X, y, sample_weight)
    return settle(source, labels)


class _Rows(BaseEstimator):
    """Who the rows are read for, where there is no system."""


def _opened(X: Any, y: Any, sample_weight: Any) -> tuple[Source, Any]:
    """Return rows with the places of their labels as targets, and the labels."""
    reader = _Rows()
    if isinstance(X, Source):
        source = open_rows(reader, X, y, sample_weight, reset=True)
        labels = source.find_labels()
        return source.encoded(labels), labels
    rows = read_rows(reader, X, reset=True)
    given = read_labels(y)
    if given.shape[0] != rows.shape[0]:
        raise InvalidData(
            f"Found input variables with inconsistent numbers of samples: X has {rows.shape[0]}, y has {given.shape[0]}"
        )
    labels, codes = encode(given, None)
    weight = None if sample_weight is None else read_weights(sample_weight, rows.shape[0])
    names = getattr(reader, "feature_names_in_", None)
    targets = beside(codes, codes) if is_device(codes) else codes.astype(np.float64)
    return source_of(rows, targets[:, None], weight, None if names is None else tuple(map(str, names))), labels
