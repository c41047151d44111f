"""Rows drawn at random, folds of a cross-validation, tables taken into memory: what they keep of every source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from adaline.sources import ArraySource, SparseSource, open_table
from adaline.sources.sample import draw_rows
from adaline.sources.views import Fold, fold_of, in_memory, of_target, recoded, total_weight, unlabelled
from adaline.sums import Moments

X = np.random.default_rng(0).normal(size=(3000, 3))
T = X[:, :1] + 1.0
W = np.random.default_rng(1).integers(0, 3, 3000).astype(float)


@pytest.fixture(params=["array", "csr", "table"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "array":
        return ArraySource(X, T, W)
    if request.param == "csr":
        return SparseSource(sparse.csr_array(X), T, W)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(t=T[:, 0], w=W)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=700)
    return open_table(tmp_path / "t.parquet", target="t", weight="w")


def test_a_sample_is_the_same_rows_from_every_source(source: Any) -> None:
    found = draw_rows(source, 100, seed=3)
    ends = np.arange(0, 3001, 30)
    some = np.random.default_rng(3).integers(ends[:-1], ends[1:])
    x = found.x.toarray() if sparse.issparse(found.x) else found.x
    for ours, theirs in ((x, X), (found.targets.values, T), (found.targets.weight, W)):
        np.testing.assert_array_equal(ours, theirs[some])
    assert draw_rows(source, 10**6).n_rows == 3000


def test_folds_have_about_equal_shares_and_follow_the_number_of_the_row() -> None:
    folds = fold_of(0, 100_000, 5)
    assert np.abs(np.bincount(folds) / 20_000 - 1).max() < 0.03
    np.testing.assert_array_equal(fold_of(700, 50, 5), folds[700:750])
    assert abs(np.corrcoef(folds[:-1], folds[1:])[0, 1]) < 0.02


def raw(sums: Moments) -> Any:
    """Return the sums of squares and products, in raw units."""
    scale = np.exp2(sums.exponent)
    return sums.second * np.outer(scale, scale)


def test_a_fold_is_the_rows_with_their_weight(source: Any) -> None:
    inside = fold_of(0, 3000, 4) == 2
    for held, kept in ((True, inside), (False, ~inside)):
        fold = Fold(source, 2, 4, held)
        expected = ArraySource(X[kept], T[kept], W[kept]).sum(Moments, centred=False)
        found = fold.sum(Moments, centred=False)
        assert found.weight == expected.weight == total_weight(fold)
        np.testing.assert_allclose(raw(found), raw(expected), rtol=1e-10, atol=1e-9)


def test_rows_with_other_targets_keep_the_weights_that_a_view_added(tmp_path: Path) -> None:
    label, given = (X[:, 0] > 1).astype(int), X[:, 1:2] + 2.0
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(t=label, w=W)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=700)
    for weight in (None, "w"):
        table = open_table(tmp_path / "t.parquet", target="t", weight=weight, features=["a", "b", "c"])
        view = recoded(table.encoded(np.array([0, 1])), np.array([[-1.0], [1.0]]), np.array([0.5, 3.0]))
        for rows in (view, view.with_targets(given), in_memory(view).with_targets(given)):
            expected = np.array([0.5, 3.0])[label] * (W if weight else 1.0)
            np.testing.assert_array_equal(rows.read_weights(), expected)
            np.testing.assert_array_equal(rows.map(lambda block: np.asarray(block.weight)), expected)
            assert total_weight(rows) == expected.sum()
        found = view.with_targets(given)
        np.testing.assert_array_equal(found.map(lambda block: np.asarray(block.t)), given)
        np.testing.assert_array_equal(found.read_targets(), given)
        assert found.targets.described() == view.targets


def test_a_sample_has_no_row_twice_and_all_rows_where_there_are_no_more() -> None:
    source = ArraySource(np.arange(1000.0)[:, None], np.zeros((1000, 1)))
    for rows in (1, 7, 333, 667, 999, 1000, 5000):
        found = draw_rows(source, rows)
        assert isinstance(found, ArraySource)
        assert len(np.unique(found.x)) == found.n_rows == min(rows, 1000)


@pytest.mark.parametrize("targets", [["y"], ["y", "z"]], ids=len)
def test_a_small_table_as_arrays_keeps_its_targets_and_their_offset(targets: list[str], tmp_path: Path) -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 5)), columns=["a", "b", "y", "z", "known"])
    frame.to_parquet(tmp_path / "t.parquet")
    table = open_table(tmp_path / "t.parquet", target=targets, features=["a", "b"], offset="known")
    arrays = in_memory(table)
    assert arrays is not table
    assert (arrays.shape, arrays.columns.names, arrays.n_rows) == (table.shape, table.names, table.n_rows)
    assert arrays.targets.described() == table.targets
    for k in range(len(targets)):
        expected = frame[[targets[k], "known"]].to_numpy()
        for source in (table, arrays):
            np.testing.assert_array_equal(of_target(source, k).read_targets(), expected)
    np.testing.assert_array_equal(unlabelled(arrays, offset=True).read_targets(), frame[["known"]].to_numpy())
