"""The record of a system's input: what opens rows returns it and changes nothing; one function sets it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import KMeans, LinearRegression, LogisticRegression, basis
from adaline.input.columns import InputColumns
from adaline.input.open import open_labelled, open_rows, open_unlabelled, read_rows
from adaline.input.system import System, SystemState, columns_on
from adaline.state import attributes_of

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0.0, 1.0, 0.0, 1.0, 1.0, 0.0])
FRAME = pd.DataFrame({"a": X[:, 0], "kind": list("uvuvvu")})
INPUTS = {
    "array": (X, InputColumns(2)),
    "names": (pd.DataFrame(X, columns=["a", "b"]), InputColumns(2, ("a", "b"))),
    "categories": (FRAME, InputColumns(2, ("a", "kind[T.v]"))),
}


def opened(system: Any, x: Any) -> InputColumns:
    if isinstance(system, LogisticRegression):
        return open_labelled(system, x, Y, None, reset=True).columns
    if isinstance(system, KMeans):
        return open_unlabelled(system, x, None, reset=True).columns
    return open_rows(system, x, Y, None, reset=True).columns


@pytest.mark.parametrize("given", INPUTS)
@pytest.mark.parametrize("cls", [LinearRegression, LogisticRegression, KMeans])
@pytest.mark.parametrize("phi", [None, basis.Polynomial(degree=2)])
def test_opening_rows_returns_the_columns_and_leaves_the_system_alone(cls: Any, given: str, phi: Any) -> None:
    x, wanted = INPUTS[given]
    system = cls(basis=phi)
    before = dict(attributes_of(system))
    columns = opened(system, x)
    assert attributes_of(system) == before
    assert (columns.count, columns.names) == (wanted.count, wanted.names)
    assert (columns.coding is not None) == (given == "categories")
    assert (columns.width, len(columns.coefficient_names())) == ((2, 2) if phi is None else (5, 5))
    fitted = System()
    fitted._state = SystemState(columns=columns)
    assert columns_on(fitted) == columns
    assert read_rows(fitted, x).shape == (6, 2)


def test_what_the_new_columns_do_not_have_is_absent() -> None:
    model = LinearRegression(basis=basis.Polynomial(degree=2)).fit(FRAME, Y)
    assert {"feature_names_in_", "coding_", "basis_"} <= attributes_of(model).keys()
    model.set_params(basis=None).fit(X, Y)
    assert not {"feature_names_in_", "coding_", "basis_"} & attributes_of(model).keys()
    assert columns_on(model) == InputColumns(2)
