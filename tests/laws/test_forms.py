"""Rows are the same rows in whatever form they come: layouts, sparse rows, frames, other arrays, files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from adaline import open_table
from adaline.sources.tables import batches
from adaline.sources.tables import source as table_module
from tests.cases import Case, assert_same, cases, fitted, reading
from tests.layouts import lay

NAMES = ["a", "b (m)", "ä", "d"]
FORMS: dict[str, Callable[[Any], Any]] = {
    **{name: lambda X, name=name: lay(X, name) for name in ("float32", "columns", "strided")},
    "backwards": lambda X: X[::-1].copy()[::-1],
    "lists": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "arrow": lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))),
    "array API": array_api_strict.asarray,
}
SPARSE: dict[str, Callable[[Any], Any]] = {
    "csr": sparse.csr_array,
    "csr32": lambda X: lay(X, "csr32"),
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
}


def check_forms(case: Case, forms: dict[str, Callable[[Any], Any]], X: Any) -> None:
    """Fit a case to rows in all forms, and let the models predict rows in the same form."""
    given = case.rows()
    expected = case.fit(given.with_rows(lambda _: X))
    for name, form in forms.items():
        found = case.fit(given.with_rows(lambda _, form=form: form(X)))
        assert_same(found, expected, X)
        read = reading(found, form(X))
        np.testing.assert_allclose(read, reading(found, X), rtol=1e-6, atol=1e-6 * np.abs(read).max(), err_msg=name)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@cases()
def test_dense_rows(case: Case) -> None:
    check_forms(case, FORMS, case.rows().X)


@cases(law="sparse rows")
def test_sparse_rows(case: Case) -> None:
    X = case.rows().X
    check_forms(case, SPARSE, np.where(np.random.default_rng(3).random(X.shape) < 0.5, X, 0.0))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@cases(law="tables")
def test_a_streamed_file_is_an_array(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = case.rows(n=150)
    frame = pd.DataFrame(given.X, columns=NAMES)
    if given.y is not None:
        frame["y"] = given.y
    frame["w"] = np.random.default_rng(1).integers(1, 4, len(frame)).astype(float)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=64)
    expected = case.fit(given.with_weight(frame["w"].to_numpy()))
    held = case.fit(type(given)(open_table(tmp_path / "t.parquet", target=target(frame), weight="w")))
    monkeypatch.setattr(batches, "free_memory", lambda: 0.0)
    monkeypatch.setattr(table_module, "KEPT", 0)
    streamed = case.fit(type(given)(open_table(tmp_path / "t.parquet", target=target(frame), weight="w")))
    for found in (held, streamed):
        assert_same(found, expected, given.X)
        assert list(found.feature_names_in_) == NAMES


def target(frame: pd.DataFrame) -> str | None:
    """Return the target of a table, if it has one."""
    return "y" if "y" in frame else None


@pytest.mark.filterwarnings("error")
@cases(lambda case: "Filter" not in case.name)
def test_columns_are_known_by_their_names(case: Case) -> None:
    given = case.rows()
    frame = pd.DataFrame(given.X, columns=NAMES)
    model = case.fit(given.with_rows(lambda _: frame))
    assert list(model.feature_names_in_) == NAMES
    np.testing.assert_array_equal(reading(model, frame[NAMES[::-1]]), reading(model, frame))
    with pytest.raises(ValueError, match="feature names"):
        reading(model, frame.rename(columns={"a": "e"}))


@cases(law="one weight")
def test_a_fit_leaves_its_input_alone(case: Case) -> None:
    given = case.rows().with_weight(np.ones(60))
    kept = [np.copy(part) for part in (*given.arguments, given.weight)]
    read = fitted(case.name).predict(given.X)
    case.fit(given)
    for part, copy in zip((*given.arguments, given.weight), kept, strict=True):
        np.testing.assert_array_equal(part, copy)
    assert len(read) == len(given.X)
