"""Small real data sets that ship with the package, for examples, tests and a first look.

Examples
--------
>>> from adaline import datasets
>>> datasets.names()
('longley', 'norris', 'penguins')
>>> longley = datasets.load("longley")
>>> longley.X.shape, longley.target_name
((16, 6), 'Employed')
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import InvalidParameter

__all__ = ["Dataset", "load", "names"]


@dataclass(frozen=True)
class Dataset:
    """A table ready to be learned from.

    Parameters
    ----------
    name : the name it was loaded by.
    X : (n, D) features, float64.
    y : (n,) target: float64, or strings where the target is a label.
    feature_names : names of the columns of X.
    target_name : name of y.
    description : what was observed, where it comes from, and its licence.

    Examples
    --------
    >>> from adaline.datasets import load
    >>> print(load("norris"))
    norris: 36 rows, y from x
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    target_name: str
    description: str

    def __str__(self) -> str:
        return f"{self.name}: {self.X.shape[0]} rows, {self.target_name} from {', '.join(self.feature_names)}"


@dataclass(frozen=True)
class _Recipe:
    """Which columns of the file are numbers, which are labels, which is the target unless asked otherwise."""

    numbers: tuple[str, ...]
    labels: tuple[str, ...]
    target: str
    description: str


_RECIPES = {
    "longley": _Recipe(
        numbers=("GNP_deflator", "GNP", "Unemployed", "Armed_Forces", "Population", "Year", "Employed"),
        labels=(),
        target="Employed",
        description=(
            "Employment in the United States, 1947 to 1962, and six economic series that nearly determine each other: "
            "a classic test for a least-squares program. GNP deflator (1954 = 100), GNP (million dollars); unemployed, "
            "armed forces, population over 14 and total employment in thousands.\n"
            "Origin: J. W. Longley, An Appraisal of Least Squares Programs for the Electronic Computer from the "
            "Viewpoint of the User, JASA 62 (1967), 819-841; the file is that of NIST/ITL Statistical Reference "
            "Datasets.\n"
            "Licence: public domain (a work of the United States government)."
        ),
    ),
    "norris": _Recipe(
        numbers=("x", "y"),
        labels=(),
        target="y",
        description=(
            "Calibration of ozone monitors: 36 readings y of a monitor against a standard x.\n"
            "Origin: J. Norris, NIST/ITL Statistical Reference Datasets.\n"
            "Licence: public domain (a work of the United States government)."
        ),
    ),
    "penguins": _Recipe(
        numbers=("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"),
        labels=("species", "island", "sex"),
        target="species",
        description=(
            "Bill, flipper and weight of 333 penguins of three species, Palmer Archipelago, Antarctica, 2007 to 2009. "
            "Of the 344 birds observed, the 11 with a missing value are left out.\n"
            "Origin: K. B. Gorman, T. D. Williams, W. R. Fraser, PLoS ONE 9 (2014), e90081; collected in the R package "
            "palmerpenguins by A. M. Horst, A. P. Hill and K. B. Gorman.\n"
            "Licence: CC0 1.0."
        ),
    ),
}


def names() -> tuple[str, ...]:
    """Names that `load` knows.

    Examples
    --------
    >>> from adaline.datasets import names
    >>> "penguins" in names()
    True
    """
    return tuple(_RECIPES)


def load(name: str, *, target: str | None = None) -> Dataset:
    """Load a bundled data set.

    Parameters
    ----------
    name : one of `names()`.
    target : the column to predict, where it is not the usual one; X holds the other columns that are numbers.

    Examples
    --------
    >>> from adaline.datasets import load
    >>> penguins = load("penguins")
    >>> penguins.feature_names
    ('bill_length_mm', 'bill_depth_mm', 'flipper_length_mm', 'body_mass_g')
    >>> sorted(set(penguins.y.tolist()))
    ['Adelie', 'Chinstrap', 'Gentoo']
    >>> print(load("penguins", target="body_mass_g"))
    penguins: 333 rows, body_mass_g from bill_length_mm, bill_depth_mm, flipper_length_mm
    """
    if name not in _RECIPES:
        raise InvalidParameter(f"no data set is called {name!r}; there are: {', '.join(names())}")
    recipe = _RECIPES[name]
    target_name = recipe.target if target is None else target
    if target_name not in recipe.numbers + recipe.labels:
        columns = ", ".join(recipe.numbers + recipe.labels)
        raise InvalidParameter(f"{name} has no column {target_name!r} to predict; there are: {columns}")
    feature_names = tuple(column for column in recipe.numbers if column != target_name)

    text = files(__name__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    X = np.array([[float(row[column]) for column in feature_names] for row in rows])
    y = np.array([row[target_name] for row in rows])
    if target_name in recipe.numbers:
        y = y.astype(np.float64)
    return Dataset(name, X, y, feature_names, target_name, recipe.description)
