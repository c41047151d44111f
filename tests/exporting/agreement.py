"""What a model says of rows, and whether an engine says the same: within 1e-13 of the size of the terms."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from adaline import KMeans
from adaline.arrays import Array
from adaline.errors import AdalineError
from adaline.exporting import expression
from tests.exporting.engines import Found, plain
from tests.exporting.sizes import sizes

NEAR = 1e-13
"""Largest difference, of the size of the terms that are summed, times what functions amplify (`sizes.py`)."""


class Asked(NamedTuple):
    """A model, rows, what it says of them, the sizes of its terms, and how far each label is from the best."""

    model: Any
    rows: pd.DataFrame
    wanted: Found
    size: dict[str, Array]
    behind: dict[Any, Array]

    def of(self, known: pd.Index[Any]) -> Asked:
        """Return the same of some of the rows."""
        wanted = {key: [values[i] for i in known] for key, values in self.wanted.items()}
        size, behind = ({key: v[known] for key, v in given.items()} for given in (self.size, self.behind))
        return Asked(self.model, self.rows.loc[known], wanted, size, behind)


def said(model: Any, frame: pd.DataFrame) -> Found:
    """Return what the model itself says, None where it refuses a row."""
    out: Found = {}
    methods = {"prediction": "predict", "score": "decision_function", "probability": "predict_proba"}
    for group, keys in expression(model).outputs.items():
        rows = rows_asked(getattr(model, methods[group]), frame, len(keys))
        out |= {key: [row[k] for row in rows] for k, key in enumerate(keys)}
    return out


def rows_asked(method: Callable[[pd.DataFrame], Any], frame: pd.DataFrame, width: int) -> list[list[Any]]:
    """Return what a method says of rows, None where it refuses one; halves of what it refuses are asked again."""
    rows: list[list[Any]] = [[None] * width] * len(frame)
    parts = [(0, len(frame))]
    while parts:
        low, high = parts.pop()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = np.asarray(method(frame[low:high])).reshape(high - low, -1)
            rows[low:high] = [[plain(one) for one in row] for row in made]
        except (AdalineError, ValueError):
            if high - low > 1:
                parts += [(low, (low + high) // 2), ((low + high) // 2, high)]
    return rows


def asked(model: Any, rows: pd.DataFrame) -> Asked:
    """Return a model, rows, what it says of them, the sizes of its terms, and how far each label is from the best."""
    wanted, size = said(model, rows), sizes(expression(model), rows)
    return Asked(model, rows, wanted, size, behind(model, rows, wanted, size))


def behind(model: Any, rows: pd.DataFrame, wanted: Found, size: dict[str, Array]) -> dict[Any, Array]:
    """Return by how much the score of each label is below the best, of the size of the terms; none of numbers.

    The scores of clusters are the squares of what `transform` returns, of the size of the smallest.
    """
    keys = [key for key in wanted if key.startswith("score")]
    with np.errstate(all="ignore"):
        if isinstance(model, KMeans):
            squares = np.array(rows_asked(model.transform, rows, model.n_clusters), dtype=float).T ** 2
            return dict(enumerate((squares - squares.min(axis=0)) / squares.min(axis=0)))
        if not keys:
            return {}
        scores = np.array([wanted[key] for key in keys], dtype=float)
        scores = np.vstack([np.zeros(len(rows)), scores]) if len(keys) == 1 else scores
        below = (scores.max(axis=0) - scores) / np.max([size[key] for key in keys], axis=0)
    return dict(zip(model.classes_.tolist(), below, strict=True))


def far(found: Found, given: Asked) -> dict[str, Any]:
    """Return what differs by more than it may: outputs, and rows of labels and gaps that differ.

    Another label is one whose score ties with the best, to the rounding of the scores.
    """
    out: dict[str, Any] = {}
    wanted, size, tie = given.wanted, given.size, 4 * NEAR
    for key, values in wanted.items():
        if key == "prediction" and given.behind:
            differ = [i for i in range(len(values)) if found[key][i] != values[i]]
            wrong = [i for i in differ if not (found[key][i] in given.behind and given.behind[found[key][i]][i] <= tie)]
        else:
            ours, theirs = (np.array(one, dtype=float) for one in (found[key], values))
            with np.errstate(all="ignore"):
                off = np.abs(ours - theirs) / np.fmax(np.fmax(size[key], np.abs(theirs)), 1e-290)
            off[(ours == theirs) | (np.isnan(ours) & np.isnan(theirs))] = 0.0
            wrong = np.flatnonzero(~(off <= NEAR)).tolist()
        if wrong:
            i = wrong[0]
            out[key] = len(wrong), i, found[key][i], values[i]
    return out
