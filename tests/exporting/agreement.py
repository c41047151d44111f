"""What a model says of rows, and whether an engine says the same: within 1e-13 of the size of the terms."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from adaline.arrays import Array
from adaline.errors import AdalineError
from adaline.exporting import expression
from tests.exporting.engines import Found, plain
from tests.exporting.sizes import sizes

NEAR = 1e-13
"""Largest difference, of the size of the terms that are summed, times what functions amplify (`sizes.py`)."""


class Asked(NamedTuple):
    """A model, rows, what it says of them, and the sizes of its terms."""

    model: Any
    rows: pd.DataFrame
    wanted: Found
    size: dict[str, Array]

    def of(self, known: pd.Index[Any]) -> Asked:
        """Return the same of some of the rows."""
        wanted = {key: [values[i] for i in known] for key, values in self.wanted.items()}
        return Asked(self.model, self.rows.loc[known], wanted, {key: v[known] for key, v in self.size.items()})


def said(model: Any, frame: pd.DataFrame) -> Found:
    """Return what the model itself says, None where it refuses a row; halves of what it refuses are asked again."""
    out: Found = {}
    methods = {"prediction": "predict", "score": "decision_function", "probability": "predict_proba"}
    for group, keys in expression(model).outputs.items():
        rows: list[list[Any]] = [[None] * len(keys)] * len(frame)
        parts = [(0, len(frame))]
        while parts:
            low, high = parts.pop()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    made = np.asarray(getattr(model, methods[group])(frame[low:high])).reshape(high - low, -1)
                rows[low:high] = [[plain(one) for one in row] for row in made]
            except (AdalineError, ValueError):
                if high - low > 1:
                    parts += [(low, (low + high) // 2), ((low + high) // 2, high)]
        out |= {key: [row[k] for row in rows] for k, key in enumerate(keys)}
    return out


def asked(model: Any, rows: pd.DataFrame) -> Asked:
    """Return a model, rows, what it says of them, and the sizes of its terms."""
    return Asked(model, rows, said(model, rows), sizes(expression(model), rows))


def far(found: Found, given: Asked) -> dict[str, Any]:
    """Return what differs by more than it may: outputs, and rows of labels and gaps that differ."""
    out: dict[str, Any] = {}
    wanted, size = given.wanted, given.size
    scores = [np.array(wanted[key], dtype=float) for key in wanted if key.startswith("score")]
    largest = np.max([size[key] for key in wanted if key.startswith("score")], axis=0) if scores else np.inf
    order = np.sort(np.abs(scores) if len(scores) == 1 else scores, axis=0) if scores else None
    lead = None if order is None else order[-1] if len(scores) == 1 else order[-1] - order[-2]
    for key, values in wanted.items():
        if key == "prediction" and (lead is not None or isinstance(next(iter(values)), int)):
            sure = range(len(values)) if lead is None else np.flatnonzero(~(lead <= 4 * NEAR * largest))
            wrong = [i for i in sure if found[key][i] != values[i]]
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
