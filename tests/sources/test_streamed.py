"""Rows on the host that are summed on a device: the sums of an array, and what is refused."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import adaline
from adaline.errors import InvalidData, InvalidParameter
from adaline.sources import array as arrays
from adaline.sources.array import ArraySource
from adaline.sources.streamed import _Place
from adaline.sums import ClassMoments, Objective, Point, Spread, View

Array = NDArray[Any]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(1000, 4)) + 1.0
Z = X @ [1.0, -0.5, 0.3, 0.0] - 0.8
LABELS = (Z + RNG.logistic(size=1000) > 0).astype(np.int64)
WEIGHT = RNG.integers(0, 3, 1000).astype(float)


def test_an_array_is_opened_with_its_targets_and_weights() -> None:
    for own in (None, WEIGHT):
        found = adaline.LogisticRegression().fit(adaline.open_table(X, target=LABELS, weight=own))
        sought = adaline.LogisticRegression().fit(X, LABELS, own)
        np.testing.assert_array_equal(found.coef_, sought.coef_)
        assert found.classes_.dtype == LABELS.dtype
    found = adaline.LogisticRegression().fit(adaline.open_table(X, target=3 * LABELS - 1))
    assert found.classes_.tolist() == [-1, 2]
    two = np.column_stack([Z, -Z])
    assert adaline.LinearRegression().fit(adaline.open_table(X, target=two)).coef_.shape == (2, 4)
    assert adaline.KMeans(n_clusters=2).fit(adaline.open_table(X)).cluster_centers_.shape == (2, 4)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"target": "y"}, "array of numbers"),
        ({"target": LABELS[:5]}, "the rows are 1000"),
        ({"target": LABELS, "weight": -WEIGHT}, "Negative values in weight: first at row"),
        ({"target": LABELS, "weight": 0 * WEIGHT}, "weights are zero"),
        ({"target": LABELS, "features": ["x0"]}, "features= is for tables"),
        ({"target": LABELS, "device": "abacus"}, "device"),
    ],
)
def test_what_does_not_fit_an_array_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises((InvalidData, InvalidParameter), match=told):
        adaline.open_table(X, **given)
    with pytest.raises(InvalidData, match="an array of rows"):
        adaline.open_table(X[0], target=LABELS)


@pytest.mark.parametrize("order", ["C", "F", "read-only", "float32", "int64"])
def test_sums_of_blocks_on_a_device_are_those_of_the_array(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(arrays, "BLOCK_BYTES", 4000 if order == "float32" else 8000)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x: Array = np.asfortranarray(X) if order == "F" else X.astype(order) if order in ("float32", "int64") else X.copy()
    x.flags.writeable = order != "read-only"
    point = Point(adaline.losses.Logistic(), np.full((1, 5), 0.1), View(np.ones(4), np.zeros(4)))
    for own in (None, WEIGHT):
        found, sought = (
            ArraySource(x, LABELS[:, None] * 1.0, own, device=device),
            ArraySource(x, LABELS[:, None] * 1.0, own),
        )
        assert found.n_blocks == 4
        for _ in range(2):  # pages are locked in the first read
            got, wanted = (one.sum(Objective, point, outputs=1, second="alone").sums for one in (found, sought))
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-11)
        np.testing.assert_allclose(found.sum(Spread).mean, sought.sum(Spread).mean, rtol=1e-13)
        got, wanted = (one.sum(ClassMoments, classes=2).within() for one in (found, sought))
        np.testing.assert_allclose(got.first_hi, wanted.first_hi, rtol=1e-13)


@pytest.mark.parametrize("locked", [(0, 0), (0, 8000), (1024, 7168), (4096, 8000)])
def test_pages_that_are_not_locked_are_copied_too(locked: tuple[int, int]) -> None:
    torch = pytest.importorskip("torch")
    place = _Place(torch.device("cpu"), SimpleNamespace(of=lambda array: locked))  # type: ignore[arg-type]
    for array in (X[:250], X[250:500]):
        np.testing.assert_array_equal(place._sent("x", array).numpy(), array)


def test_fits_to_rows_that_are_streamed_to_a_device(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        with pytest.raises(InvalidParameter, match="there is no device"):
            adaline.open_table(X, target=LABELS, device="cuda")
        return
    pytest.importorskip("duckdb")
    table = {**{f"x{j}": column for j, column in enumerate(X.T)}, "y": Z}
    sought, file = adaline.LinearRegression().fit(X, Z), tmp_path / "rows.parquet"
    pytest.importorskip("pyarrow.parquet").write_table(pytest.importorskip("pyarrow").table(table), file)
    for source in (
        adaline.open_table(X, target=Z, device="cuda"),
        adaline.open_table(table, target="y", device="cuda"),
        adaline.open_table(str(file), target="y", device="cuda"),
    ):
        found = adaline.LinearRegression().fit(source)
        np.testing.assert_allclose(found.coef_, sought.coef_, rtol=1e-12, atol=1e-12)
        assert isinstance(found.predict(source), np.ndarray)
    again = [adaline.LogisticRegression().fit(adaline.open_table(X, target=LABELS, device="cuda")) for _ in range(2)]
    np.testing.assert_array_equal(again[0].coef_, again[1].coef_)
