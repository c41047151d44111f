"""Views of a source keep what the rows are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from adaline import open_table
from adaline.sources.views import in_memory


@pytest.mark.parametrize("targets", [["y"], ["y", "z"]], ids=len)
def test_a_small_table_as_arrays_keeps_its_targets_and_their_offset(targets: list[str], tmp_path: Path) -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 5)), columns=["a", "b", "y", "z", "known"])
    frame.to_parquet(tmp_path / "t.parquet")
    table = open_table(tmp_path / "t.parquet", target=targets, features=["a", "b"], offset="known")
    arrays = in_memory(table)
    assert arrays is not table
    for name in ("shape", "names", "n_rows", "offset", "flat", "weighted"):
        assert getattr(arrays, name) == getattr(table, name), name
    for k in range(len(targets)):
        expected = frame[[targets[k], "known"]].to_numpy()
        for source in (table, arrays):
            np.testing.assert_array_equal(source.with_target(k).read_targets(), expected)
    np.testing.assert_array_equal(arrays.to_predict().read_targets(), frame[["known"]].to_numpy())
