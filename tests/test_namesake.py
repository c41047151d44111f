"""The distribution of another project beside ours."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from adaline.namesake import warn_of_namesake


def test_another_distribution_of_the_name_is_reported_and_our_own_alone_is_not(tmp_path: Path) -> None:
    (tmp_path / "adaline_learn-0.2.0.dist-info").mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_namesake(str(tmp_path))
        warn_of_namesake(str(tmp_path / "absent"))
    for name in ("adaline", "adaline-0.1.0.dist-info"):
        (tmp_path / name).mkdir()
    with pytest.warns(UserWarning, match="pip uninstall adaline adaline-learn; pip install adaline-learn"):
        warn_of_namesake(str(tmp_path))
