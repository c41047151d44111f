"""Formulas make the columns that R makes, and predict new rows as R does; the figures were printed by R."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import pytest

from adaline import GeneralizedLinear, LinearRegression, load, open_table, save

FILE = Path(__file__).parents[1] / "data" / "formulas" / "formulas.csv"
LETTERS = np.array(["p", "q", "r", "s"])
NEW = pd.DataFrame({"x": [-4, -0.5, 0.3, 2, 6], "z": [1, 2.5, 7, 0.25, 3], "a": ["q", "s", "p", "r", "q"]})


def read() -> tuple[pd.DataFrame, dict[str, dict[str, Any]]]:
    """Return the rows, and by formula and part the columns, (n, M), that R made of them."""
    data: dict[str, Any] = {}
    found: dict[str, dict[str, Any]] = {}
    for line in FILE.read_text().splitlines():
        formula, part, _, *values = line.split(";")
        numbers = np.array(values, dtype=float)
        if formula == "data":
            data[part] = numbers
        else:
            found.setdefault(formula, {}).setdefault(part, []).append(numbers)
    data["a"] = LETTERS[np.arange(1, 17) % 4]
    return pd.DataFrame(data), {f: {p: np.array(v).T for p, v in parts.items()} for f, parts in found.items()}


ROWS, FOUND = read()
PRODUCTS = ("a * ns(x, df = 2)", "a:poly(x, 2) + z", "I(x > 0):z")
"""Formulas whose columns we have in another order than R: products of several columns, of which the first varies
slowest; a product with a number has all levels of a category."""


@pytest.mark.parametrize("formula", FOUND)
@pytest.mark.filterwarnings("ignore::adaline.errors.AdalineWarning")
def test_formulas_are_those_of_r(formula: str, tmp_path: Path) -> None:
    theirs = FOUND[formula]
    source = open_table(ROWS, formula=f"y ~ {formula}")
    if formula not in PRODUCTS:
        assert source.shape.features == theirs.get("rows", np.empty((16, 0))).shape[1]
        for part, frame in ("rows", ROWS), ("new", NEW):
            if part in theirs:
                mine = source.coding.code(nw.from_native(frame, eager_only=True))
                np.testing.assert_allclose(mine, theirs[part], rtol=1e-12, atol=1e-12)
    if "predicted" in theirs:
        system = LinearRegression if source.coding.offset is None else partial(GeneralizedLinear, loss="gaussian")
        model = system(fit_intercept=source.coding.intercept).fit(source)
        np.testing.assert_allclose(model.predict(NEW), theirs["predicted"][:, 0], rtol=1e-8, atol=1e-8)
        if source.coding.learned:
            save(model, tmp_path / "m")
            for rows in (NEW, open_table(NEW)):
                np.testing.assert_array_equal(load(tmp_path / "m").predict(rows), model.predict(NEW))
