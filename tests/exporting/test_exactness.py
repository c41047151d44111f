"""All engines on a thousand hostile rows of each of 200 models: within 1e-13 of the size of the terms."""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline.arrays import Array
from adaline.errors import AdalineError
from adaline.exporting import expression
from tests.cases import CASES
from tests.exporting.engines import ENGINES, Found, is_there, plain
from tests.exporting.servers import SERVERS, has_server, without_overflow
from tests.exporting.sizes import sizes
from tests.exporting.test_engines import NO_FORM, TABLES

pytestmark = pytest.mark.night
ROWS, SEEDS = 1000, (0, 1)
NEAR = 1e-13
"""Largest difference, of the size of the terms that are summed, times what functions amplify (`sizes.py`)."""
WILD = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1e300, 1e-300, 5e-324, 1e8, -1e8, 1e16, 40.0, -40.0, 750.0, -750.0]
COLUMNS = ["x", "select", "\u00e4 b", "x'\""]
MODELS = [(name, seed) for name in CASES if not name.startswith(NO_FORM) for seed in SEEDS] + [(t, 0) for t in TABLES]
EVERY = {**ENGINES, **SERVERS}


def wild(X: Array, seed: int) -> Array:
    """Return rows near and far from those of the fit, a third of them with a value that few expect."""
    rng = np.random.default_rng(seed)
    rows = X[rng.integers(0, len(X), ROWS)] * rng.choice([1.0, 1.0, 0.1, 3.0], (ROWS, 1))
    rows += 0.3 * rng.normal(size=rows.shape)
    for i in np.flatnonzero(rng.random(ROWS) < 0.3):
        rows[i, rng.integers(X.shape[1])] = rng.choice(WILD)
    return rows


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
            except AdalineError:
                if high - low > 1:
                    parts += [(low, (low + high) // 2), ((low + high) // 2, high)]
        out |= {key: [row[k] for row in rows] for k, key in enumerate(keys)}
    return out


@lru_cache(maxsize=2)
def asked(name: str, seed: int) -> tuple[Any, pd.DataFrame, Found, dict[str, Array]]:
    """Return a model, hostile rows, what it says of them, and the sizes of its terms."""
    if name in TABLES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, rows = TABLES[name]()
        rows = pd.concat([rows] * (ROWS // len(rows)), ignore_index=True)
        rng = np.random.default_rng(seed)
        for column in rows.select_dtypes("float"):
            rows[column] *= rng.choice([1.0, 1.0, 0.3, 2.0], len(rows))
    else:
        given = CASES[name].rows(seed=seed)
        model = CASES[name].fit(given.with_rows(lambda X: pd.DataFrame(X, columns=COLUMNS)))
        rows = pd.DataFrame(wild(given.X, seed), columns=COLUMNS)
    return model, rows, said(model, rows), sizes(expression(model), rows)


def far(found: Found, wanted: Found, size: dict[str, Array]) -> dict[str, Any]:
    """Return what differs by more than it may: outputs, and rows of labels and gaps that differ."""
    out: dict[str, Any] = {}
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


@pytest.mark.parametrize("engine", EVERY)
@pytest.mark.parametrize(("name", "seed"), MODELS)
def test_hostile_rows(name: str, seed: int, engine: str, tmp_path: Path) -> None:
    if not (is_there(engine) if engine in ENGINES else has_server(engine)):
        pytest.skip(f"{engine} is not installed")
    model, rows, wanted, size = asked(name, seed)
    known = rows.index if engine != "postgres" else without_overflow(rows)
    wanted = {key: [values[i] for i in known] for key, values in wanted.items()}
    found = EVERY[engine](model, rows.loc[known], tmp_path)
    assert not far(found, wanted, {key: values[known] for key, values in size.items()})
