"""All engines on a thousand hostile rows of each of 200 models: within 1e-13 of the size of the terms."""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from adaline.arrays import Array
from tests.cases import CASES
from tests.exporting.agreement import Asked, asked, far
from tests.exporting.engines import ENGINES, is_there
from tests.exporting.servers import SERVERS, has_server, without_overflow
from tests.exporting.test_engines import NO_FORM, TABLES

pytestmark = pytest.mark.night
ROWS, SEEDS = 1000, (0, 1)
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


@lru_cache(maxsize=2)
def questions(name: str, seed: int) -> Asked:
    """Return a model and hostile rows."""
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
    return asked(model, rows)


@pytest.mark.parametrize("engine", EVERY)
@pytest.mark.parametrize(("name", "seed"), MODELS)
def test_hostile_rows(name: str, seed: int, engine: str, tmp_path: Path) -> None:
    if not (is_there(engine) if engine in ENGINES else has_server(engine)):
        pytest.skip(f"{engine} is not installed")
    given = questions(name, seed)
    if engine == "postgres":
        given = given.of(without_overflow(given.rows))
    found = EVERY[engine](given.model, given.rows, tmp_path)
    assert not far(found, given)
