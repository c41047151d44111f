"""Data sets, and the numbers that statsmodels and rational arithmetic give for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np
import statsmodels.api as sm
from numpy.typing import NDArray

from adaline import datasets
from adaline.arrays import Array

ROBUST = ("HC0", "HC1", "HC2", "HC3", "cluster")


@dataclass(frozen=True)
class Rows:
    X: Array
    y: Array
    groups: NDArray[Any]


def generated(n: int = 400, features: int = 4, seed: int = 0) -> Rows:
    """Return rows whose variance grows with the first column, in groups that share an effect."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features)) + 1.0
    groups = rng.integers(0, 25, n)
    y = 2.0 + X @ np.linspace(1.0, -0.5, features)
    y += (0.5 + np.abs(X[:, 0])) * rng.normal(size=n) + rng.normal(size=25)[groups]
    return Rows(X, y, groups)


def penguins() -> Rows:
    data = datasets.load("penguins", target="body_mass_g")
    islands = datasets.load("penguins", target="island").y
    return Rows(data.X, data.y, islands)


def ill_scaled() -> Rows:
    """Return columns of unlike units and means, as far as statsmodels can follow."""
    rows = generated(seed=1)
    return Rows(rows.X * [1e3, 1e-2, 1.0, 10.0] + [1e3, 0.0, 50.0, -100.0], rows.y, rows.groups)


DATA = {"generated": generated(), "penguins": penguins(), "ill-scaled": ill_scaled(), "small": generated(30, 3, 2)}


def longley() -> Rows:
    data = datasets.load("longley")
    return Rows(data.X, data.y, np.arange(16) // 2)


def design(X: Array, intercept: bool = True) -> Array:
    return np.column_stack([np.ones(len(X)), X]) if intercept else X


def fitted(rows: Rows, errors: str = "classical", intercept: bool = True, weight: Array | None = None) -> Any:
    """Return what statsmodels makes of the rows; weights are precisions."""
    model = sm.OLS(rows.y, design(rows.X, intercept)) if weight is None else None
    model = model or sm.WLS(rows.y, design(rows.X, intercept), weights=weight)
    if errors == "classical":
        return model.fit()
    groups = np.unique(rows.groups, return_inverse=True)[1]
    return model.fit(cov_type=errors, cov_kwds={"groups": groups} if errors == "cluster" else {})


def given_again(rows: Rows, errors: str) -> dict[str, Any]:
    """Return the arguments that robust errors need."""
    if errors == "classical":
        return {"errors": errors}
    groups = {"groups": rows.groups} if errors == "cluster" else {}
    return {"errors": errors, "X": rows.X, "y": rows.y, **groups}


def exact_sandwich(rows: Rows, errors: str) -> tuple[list[Any], Any]:
    """Return theta and Cov(theta) in 60 digits."""
    with mp.workdps(60):
        a = mp.matrix(design(rows.X).tolist())
        t = mp.matrix(rows.y.tolist())
        n, p = a.rows, a.cols
        bread = (a.T * a) ** -1
        theta = bread * (a.T * t)
        r = t - a * theta
        meat = mp.zeros(p)
        power = {"HC0": 0, "HC1": 0, "HC2": 1, "HC3": 2}.get(errors)
        if errors == "classical":
            return list(theta), bread * (sum(v * v for v in r) / (n - p))
        if power is None:
            labels = np.unique(rows.groups)
            for label in labels:
                score = mp.zeros(p, 1)
                for i in np.flatnonzero(rows.groups == label):
                    score += a[int(i), :].T * r[int(i)]
                meat += score * score.T
            meat *= mp.mpf(len(labels)) / (len(labels) - 1) * (n - 1) / (n - p)
        else:
            for i in range(n):
                row = a[i, :]
                h = (row * bread * row.T)[0]
                meat += row.T * row * (r[i] ** 2 / (1 - h) ** power)
            if errors == "HC1":
                meat *= mp.mpf(n) / (n - p)
        return list(theta), bread * meat * bread
