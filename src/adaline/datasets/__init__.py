"""Small real data sets that ship with the package, for examples and tests.

Examples
--------
>>> from adaline import datasets
>>> datasets.names()
('abalone', 'breast_cancer', 'longley', 'norris', 'penguins', 'wine')
>>> print(datasets.describe("penguins"))
penguins: 333 rows, 8 columns; species from bill, flipper and weight, with island, sex and year (CC0 1.0)
>>> longley = datasets.load("longley")
>>> longley.X.shape, longley.target_name
((16, 6), 'Employed')
"""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import InvalidParameter

__all__ = ["Dataset", "describe", "load", "names", "path"]


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
    """The default target of a file and its description; `about` and `licence` are for the line of `describe`."""

    about: str
    licence: str
    target: str
    description: str
    unused: tuple[str, ...] = ()
    """Columns that `load` leaves out."""


_RECIPES = {
    "abalone": _Recipe(
        about="age of abalones, in rings of the shell, from size and weights, with their sex",
        licence="CC BY 4.0",
        target="rings",
        description=(
            "Size (of 200 mm), weights (of 200 g), sex (F, M or I for infant) and number of rings, which is the age in "
            "years less 1.5, of 4177 abalones from Tasmania. The weights nearly add up, and the variance grows with "
            "age.\n"
            "Origin: W. J. Nash, T. L. Sellers, S. R. Talbot, A. J. Cawthorn and W. B. Ford (1994), UCI Machine "
            "Learning Repository, doi 10.24432/C55C7W.\n"
            "Licence: CC BY 4.0."
        ),
    ),
    "breast_cancer": _Recipe(
        about="diagnosis of breast tumours from 30 measures of cell nuclei; linearly separable",
        licence="CC BY 4.0",
        target="diagnosis",
        description=(
            "Ten measures of the cell nuclei in an image of a fine needle aspirate of a breast mass, each as mean, "
            "standard error and mean of the three largest, for 569 patients in Wisconsin, 212 malignant and 357 "
            "benign. A hyperplane separates the two, and many columns measure nearly the same.\n"
            "Origin: W. H. Wolberg, O. L. Mangasarian, N. Street and W. Street (1993), Breast Cancer Wisconsin "
            "(Diagnostic), UCI Machine Learning Repository, doi 10.24432/C5DW2B; the file is that of scikit-learn.\n"
            "Licence: CC BY 4.0."
        ),
    ),
    "longley": _Recipe(
        about="employment from six economic series that nearly determine each other",
        licence="public domain",
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
        about="a reading y of an ozone monitor from a standard x; a straight line",
        licence="public domain",
        target="y",
        description=(
            "Calibration of ozone monitors: 36 readings y of a monitor against a standard x.\n"
            "Origin: J. Norris, NIST/ITL Statistical Reference Datasets.\n"
            "Licence: public domain (a work of the United States government)."
        ),
    ),
    "penguins": _Recipe(
        about="species from bill, flipper and weight, with island, sex and year",
        licence="CC0 1.0",
        target="species",
        description=(
            "Bill, flipper and weight of 333 penguins of three species, Palmer Archipelago, Antarctica, 2007 to 2009. "
            "Of the 344 birds observed, the 11 with a missing value are left out.\n"
            "Origin: K. B. Gorman, T. D. Williams, W. R. Fraser, PLoS ONE 9 (2014), e90081; collected in the R package "
            "palmerpenguins by A. M. Horst, A. P. Hill and K. B. Gorman.\n"
            "Licence: CC0 1.0."
        ),
        unused=("year",),
    ),
    "wine": _Recipe(
        about="quality of red wines, a mark of 3 to 8, from eleven chemical measures",
        licence="CC BY 4.0",
        target="quality",
        description=(
            "Eleven chemical measures of 1599 red vinho verde wines from Portugal, and their quality: the median mark "
            "of at least three tasters, from 0 to 10.\n"
            "Origin: P. Cortez, A. Cerdeira, F. Almeida, T. Matos and J. Reis, Decision Support Systems 47 (2009), "
            "547-553; UCI Machine Learning Repository, doi 10.24432/C56S3T.\n"
            "Licence: CC BY 4.0."
        ),
    ),
}


def names() -> tuple[str, ...]:
    """Return the names of the data sets.

    Examples
    --------
    >>> from adaline.datasets import names
    >>> "penguins" in names()
    True
    """
    return tuple(_RECIPES)


def path(name: str) -> Path:
    """Return the file of a data set: CSV with a line of column names, numbers and labels.

    Examples
    --------
    >>> from adaline.datasets import path
    >>> path("penguins").name
    'penguins.csv'
    """
    _recipe(name)
    return Path(__file__).with_name(f"{name}.csv")


def describe(name: str) -> str:
    """Return one line about a data set: rows, columns, what is predicted from what, and the licence.

    Examples
    --------
    >>> from adaline.datasets import describe
    >>> print(describe("norris"))
    norris: 36 rows, 2 columns; a reading y of an ozone monitor from a standard x; a straight line (public domain)
    """
    recipe = _recipe(name)
    head, *rows = path(name).read_text(encoding="utf-8").splitlines()
    columns = len(head.split(","))
    return f"{name}: {len(rows)} rows, {columns} columns; {recipe.about} ({recipe.licence})"


def load(name: str, *, target: str | None = None) -> Dataset:
    """Return a bundled data set.

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
    recipe = _recipe(name)
    rows = list(csv.DictReader(path(name).read_text(encoding="utf-8").splitlines()))
    known = [column for column in rows[0] if column not in recipe.unused]
    numbers = [column for column in known if _is_number(rows[0][column])]
    target_name = recipe.target if target is None else target
    if target_name not in known:
        columns = ", ".join(sorted(known, key=lambda column: column not in numbers))
        raise InvalidParameter(f"{name} has no column {target_name!r} to predict; there are: {columns}")
    feature_names = tuple(column for column in numbers if column != target_name)
    X = np.array([[float(row[column]) for column in feature_names] for row in rows])
    y = np.array([row[target_name] for row in rows])
    if target_name in numbers:
        y = y.astype(np.float64)
    return Dataset(name, X, y, feature_names, target_name, recipe.description)


def name_in(text: str) -> str | None:
    """Return the data set that a dotted name or the name of a loader stands for, `datasets.load_wine`, or None."""
    name = text.rpartition(".")[2].removeprefix("load_").removeprefix("fetch_")
    return name if name in _RECIPES else None


def __getattr__(name: str) -> Any:
    text = f"module {__name__!r} has no attribute {name!r}"
    if (found := name_in(name)) is not None:
        raise AttributeError(f"{text}: use {__name__}.load({found!r})")
    if name.startswith(("load_", "fetch_")):
        raise AttributeError(f"{text}: {__name__}.load(name) takes one of {', '.join(names())}")
    raise AttributeError(text, name=name, obj=sys.modules[__name__])  # so that Python suggests a close name


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _recipe(name: str) -> _Recipe:
    if name not in _RECIPES:
        raise InvalidParameter(f"no data set is called {name!r}; there are: {', '.join(names())}")
    return _RECIPES[name]
