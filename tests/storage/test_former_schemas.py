"""Model files of every schema from 6 on: they load as what they were, and are written again in the present schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import Ridge
from adaline.basis import Polynomial
from adaline.errors import InvalidType
from adaline.state import attributes_of
from adaline.storage import container, load, read_header, save
from adaline.storage.container import SCHEMA
from tests.storage.forge import Forgery, altered, failures, without_each

MODELS = Path(__file__).parents[1] / "data" / "models"
FILES = sorted(MODELS.glob("schema*/*.adaline"))
EXPECTED: dict[str, Any] = {path.parent.name: json.loads(path.read_text()) for path in MODELS.glob("schema*/*.json")}

FORGERIES = 3  # of each file, drawn at random


def rows(path: Path) -> Any:
    """Return the rows that the model of a file was asked about."""
    found = EXPECTED[path.parent.name][path.stem]["rows"]
    return pd.DataFrame(found) if isinstance(found, dict) else np.array(found)


@pytest.mark.every
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_of_a_former_schema_says_what_it_said(path: Path, tmp_path: Path) -> None:
    X, expected = rows(path), EXPECTED[path.parent.name][path.stem]
    assert read_header(path)["schema"] == int(path.parent.name.removeprefix("schema"))
    model = load(path)
    save(model, tmp_path / "model")
    assert read_header(tmp_path / "model")["schema"] == SCHEMA
    again = load(tmp_path / "model")
    for name, values in ((name, values) for name, values in expected.items() if name != "rows"):
        found = np.asarray(getattr(model, name)(X))
        np.testing.assert_array_equal(getattr(again, name)(X), found)
        if found.dtype.kind == "f":
            np.testing.assert_allclose(found, values, rtol=1e-10, atol=1e-12)
        else:
            assert found.tolist() == values


@pytest.mark.parametrize("path", [path for path in FILES if path.stem != "pipeline"], ids=lambda path: path.stem)
def test_a_forged_file_of_a_former_schema_loads_and_works_or_is_refused(path: Path, tmp_path: Path) -> None:
    X, rng = rows(path), np.random.default_rng(len(path.stem))
    head, tensors = container.read(path)
    y = np.asarray(EXPECTED[path.parent.name][path.stem].get("predict", np.zeros(len(X))))
    file = Forgery(path.stem, {name: value for name, value in head.items() if name != "data"}, tensors, (X, y))
    for forgery in [*without_each(file), *(altered(rng, file) for _ in range(FORGERIES))]:
        assert failures(file, forgery, tmp_path / "m") == [], forgery.name


@pytest.mark.parametrize("made", [Ridge(), Polynomial(degree=2)], ids=repr)
def test_a_pickle_of_attributes_by_name_is_refused(made: Any) -> None:
    """As adaline 0.3.0 pickled models, before they had a state."""
    X = np.arange(6.0).reshape(3, 2)
    attributes = attributes_of(made.fit(X, X[:, 0]))
    with pytest.raises(InvalidType, match=f"pickle of {type(made).__name__} is of another version"):
        type(made)().__setstate__(attributes)
