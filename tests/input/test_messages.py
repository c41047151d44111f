"""Messages about values of unusual types name them in words, not by the modules of the libraries they are from."""

from __future__ import annotations

import datetime
import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from adaline import AdalineError, LinearRegression, LogisticRegression, Perceptron, fit_groups

FOREIGN = re.compile(
    r"\bnp\.|numpy\.|datetime\.|dtype\(|NAType|<class|time_unit|object at 0x|(List|Struct|Duration)\(|\[\["
)
ROWS = 12
X = pd.DataFrame({"a": np.sin(np.arange(ROWS)), "b": np.cos(np.arange(ROWS) ** 2)})
ODD: dict[str, Any] = {
    "moments": pd.date_range("2024-01-01", periods=ROWS, tz="Europe/Berlin"),
    "spans": pd.to_timedelta(np.arange(ROWS), "D"),
    "days": [datetime.date(2024, 1, 1 + i) for i in range(ROWS)],
    "times": [datetime.time(1, i) for i in range(ROWS)],
    "texts of NumPy": np.array(["1", "x"] * (ROWS // 2)),
    "complex": np.arange(ROWS) * 1j,
    "absent": pd.array([True, None, False] * (ROWS // 3), "boolean"),
    "infinite": np.where(np.arange(ROWS) == 3, np.inf, 1.0),
    "lists": [[1, 2]] * ROWS,
    "mixed": [1, "a", None] * (ROWS // 3),
}


@pytest.mark.every
@pytest.mark.parametrize("kind", ODD)
def test_values_of_other_types_are_named_in_words(kind: str) -> None:
    odd = ODD[kind]
    y, labels = X["a"].to_numpy() + 1.0, np.where(X["a"] > 0, "u", "v")
    numbers, classes = LinearRegression().fit(X, y), LogisticRegression(penalty=1.0).fit(X, labels)
    objects = np.array([*zip(X["a"], odd, strict=True)], dtype=object)
    frame = X.assign(c=odd, y=y)
    tries = [
        lambda: LinearRegression().fit(X, odd),
        lambda: LinearRegression().fit(X, pd.Series(odd)),
        lambda: LinearRegression().fit(X.assign(c=odd), y),
        lambda: LinearRegression().fit(objects, y),
        lambda: numbers.score(X, odd),
        lambda: classes.score(X, odd),
        lambda: Perceptron(epochs=3).fit(X, odd),
        lambda: numbers.summary(errors="cluster", X=X, y=y, groups=odd),
        lambda: fit_groups(LinearRegression(), frame, target="y", by="c", features=["a"]),
    ]
    if kind == "lists":
        tries.append(lambda: LinearRegression().fit(pl.DataFrame({"a": y, "c": odd}), y))
    said = []
    for attempt in tries:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                attempt()
            except AdalineError as error:
                said.append(str(error))
        said += [str(one.message) for one in warned if issubclass(one.category, UserWarning)]
    assert said
    assert not [text for text in said if FOREIGN.search(text)]
