"""What goes wrong is said by the name of what the user gave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import GeneralizedLinear, KMeans, LeastSquaresClassifier, LinearRegression, compare, open_table
from adaline.errors import AdalineError, InvalidParameter, InvalidType

X = np.arange(40.0).reshape(20, 2) % 7
Y = np.arange(20.0) % 3


class BeforeFit(LinearRegression):
    """Keeps something of its own from the beginning."""

    def __init__(self) -> None:
        super().__init__()
        self._state: Any = "mine"


class AfterFit(LinearRegression):
    """Keeps something of its own after a fit."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        super().fit(X, y, sample_weight)
        self._state: Any = {"mine": 1}
        return self


@pytest.mark.parametrize("system", [BeforeFit, AfterFit])
def test_a_class_that_sets_the_attribute_of_the_state_is_told_so(system: Any) -> None:
    with pytest.raises(InvalidType, match=f"{system.__name__} has set the attribute _state"):
        system().fit(X, Y).predict(X)


def test_warm_start_on_other_columns_is_refused_by_its_name() -> None:
    model = GeneralizedLinear("poisson", warm_start=True).fit(X, Y)
    with pytest.raises(InvalidParameter, match=r"warm_start=True .* shape \(1, 3\), and these rows need \(1, 2\)"):
        model.fit(X[:, :1], Y)


@pytest.mark.parametrize("system", [LinearRegression, LeastSquaresClassifier])
@pytest.mark.parametrize("levels", ["ac", "acde"])
def test_models_of_other_levels_are_not_merged(system: Any, levels: str) -> None:
    one, other = (system().fit(pd.DataFrame({"k": [*known] * (20 // len(known))}), Y) for known in ("ab", levels))
    with pytest.raises(AdalineError, match="different levels: column 'k' has a, b in one of them and a, c"):
        one.merge(other)


def test_new_levels_name_what_opens_the_table() -> None:
    model = LinearRegression().fit(pd.DataFrame({"k": [*"ab"] * 10}), Y)
    with pytest.raises(AdalineError, match=r"open_table\(\.\.\., unseen='other'\)"):
        model.predict(pd.DataFrame({"k": ["c"]}))


def test_a_table_that_is_open_is_not_compared() -> None:
    table = open_table(pd.DataFrame({"x": X[:, 0], "y": Y}), target="y")
    with pytest.raises(InvalidType, match="compare opens the data itself"):
        compare(table)  # type: ignore[arg-type]


def test_systems_that_absorb_nothing_say_which_do() -> None:
    table = open_table(pd.DataFrame({"x": X[:, 0], "k": [*"ab"] * 10, "y": Y}), target="y", absorb="k")
    for system in (LeastSquaresClassifier(), KMeans()):
        with pytest.raises(InvalidParameter, match="does not absorb effects: use LinearRegression"):
            system.fit(table)
