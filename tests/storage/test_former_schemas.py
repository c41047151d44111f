"""Model files of every schema from 6 on: they load as what they were, and are written again in the present schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline.storage import load, read_header, save
from adaline.storage.container import SCHEMA

MODELS = Path(__file__).parents[1] / "data" / "models"
FILES = sorted(MODELS.glob("schema*/*.adaline"))
EXPECTED: dict[str, Any] = {path.parent.name: json.loads(path.read_text()) for path in MODELS.glob("schema*/*.json")}


@pytest.mark.every
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_of_a_former_schema_says_what_it_said(path: Path, tmp_path: Path) -> None:
    expected = dict(EXPECTED[path.parent.name][path.stem])
    rows = expected.pop("rows")
    X: Any = pd.DataFrame(rows) if isinstance(rows, dict) else np.array(rows)
    assert read_header(path)["schema"] == int(path.parent.name.removeprefix("schema"))
    model = load(path)
    save(model, tmp_path / "model")
    assert read_header(tmp_path / "model")["schema"] == SCHEMA
    again = load(tmp_path / "model")
    for name, values in expected.items():
        found = np.asarray(getattr(model, name)(X))
        np.testing.assert_array_equal(getattr(again, name)(X), found)
        if found.dtype.kind == "f":
            np.testing.assert_allclose(found, values, rtol=1e-10, atol=1e-12)
        else:
            assert found.tolist() == values
