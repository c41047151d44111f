"""Counts in messages agree with their nouns and verbs, and control characters are written out."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import LinearRegression, Ridge, datasets, open_table, select
from adaline.selection.probabilities import wilson
from adaline.wording import counted, part_of, percentage, visible


def test_one_thing_is_written_in_the_singular() -> None:
    assert (counted(1, "row"), counted(1200, "row")) == ("1 row", "1,200 rows")
    assert (counted(2, "class"), counted(1, "pass")) == ("2 classes", "1 pass")
    assert (part_of(1, 80), part_of(3, 80, "have")) == ("1 of 80 rows is", "3 of 80 rows have")
    data = datasets.load("longley")
    assert str(select(Ridge(), data.X, data.y, penalty=[1.0]).table).startswith("1 candidate, ")
    assert "1 column" in repr(open_table({"x": [1.0, 2.0]}))
    assert "1 columns" not in repr(open_table({"x": [1.0, 2.0]}))
    assert "1 parameters" not in str(LinearRegression().fit(data.X, data.y).summary())


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("bell\x07, delete\x7f, C1 \x9b", "bell\\x07, delete\\x7f, C1 \\x9b"),
        ("turned \u202eeman\u2069", "turned \\u202eeman\\u2069"),
        ("two\nlines and a\ttab", "two\nlines and a\ttab"),
        ("Grüße, R² ± 1 … 日本", "Grüße, R² ± 1 … 日本"),
    ],
)
def test_control_characters_are_written_out(given: str, shown: str) -> None:
    assert visible(given) == shown


def test_no_share_is_below_zero_or_above_one() -> None:
    assert [percentage(share) for share in (-1e-9, -0.0, 0.123456, 1.0)] == ["0.00%", "0.00%", "12.35%", "100.00%"]
    n = np.arange(1, 50)
    assert min(wilson(np.zeros(49), n)[0]) == 0
    assert max(wilson(np.ones(49), n)[1]) == 1
