"""Rows of many kinds, and what statsmodels and 60 digits make of them by least squares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pandas as pd
import statsmodels.api as sm
from numpy.typing import NDArray

from adaline import datasets
from adaline.arrays import Array

ROBUST = ("HC0", "HC1", "HC2", "HC3", "CR1", "CR2", "CR3")
THEIRS = {"CR1": "cluster"}  # what statsmodels calls the errors that it has by another name


@dataclass(frozen=True)
class Rows:
    X: Array
    y: Array
    groups: NDArray[Any]

    def __getitem__(self, rows: Any) -> Rows:
        return Rows(self.X[rows], self.y[rows], self.groups[rows])

    def of(self, columns: int) -> Rows:
        """Return the same rows with their first columns alone."""
        return Rows(self.X[:, :columns], self.y, self.groups)


def generated(n: int = 400, features: int = 4, seed: int = 0) -> Rows:
    """Return rows whose variance grows with the first column, in groups that share an effect; whole 2^-20s."""
    rng = np.random.default_rng(seed)
    X = np.round((rng.normal(size=(n, features)) + 1.0) * 2.0**20) / 2.0**20
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


ROWS = generated()
DATA = {"generated": ROWS, "penguins": penguins(), "ill-scaled": ill_scaled(), "small": generated(30, 3, 2)}
WEIGHT = np.random.default_rng(7).uniform(0.1, 5.0, 400)


def longley() -> Rows:
    data = datasets.load("longley")
    return Rows(data.X, data.y, np.arange(16) // 2)


def classes(n: int = 200, features: int = 3, classes: int = 2, seed: int = 0) -> tuple[Array, NDArray[np.intp]]:
    """Return rows of unlike columns, and places of classes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features)) * 10.0 ** rng.integers(-2, 3, features) + rng.normal(size=features)
    z = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=(features, classes)) + rng.gumbel(size=(n, classes))
    return X, z.argmax(axis=1)


def design(X: Array, intercept: bool = True) -> Array:
    return np.column_stack([np.ones(len(X)), X]) if intercept else X


def fitted(rows: Rows, errors: str = "classical", intercept: bool = True, weight: Array | None = None) -> Any:
    """Return what statsmodels makes of the rows; weights are precisions."""
    given = rows.y, design(rows.X, intercept)
    model = sm.OLS(*given) if weight is None else sm.WLS(*given, weights=weight)
    if errors == "classical":
        return model.fit()
    groups = np.unique(rows.groups, return_inverse=True)[1]
    return model.fit(cov_type=THEIRS.get(errors, errors), cov_kwds={"groups": groups} if errors == "CR1" else {})


def given_again(rows: Rows, errors: str, weight: Array | None = None) -> dict[str, Any]:
    """Return the arguments that robust errors need."""
    if errors == "classical":
        return {"errors": errors}
    more = ({"groups": rows.groups} if errors[:2] == "CR" else {}) | (
        {} if weight is None else {"sample_weight": weight}
    )
    return {"errors": errors, "X": rows.X, "y": rows.y, **more}


def table(path: str) -> dict[str, dict[str, Any]]:
    """Return R's numbers in a file of the test data, by case and by what they are."""
    read = pd.read_csv(Path(__file__).parents[1] / "data" / path, comment="#")
    out: dict[str, dict[str, Any]] = {}
    for (case, what), values in read.groupby(["case", "what"], sort=False)["value"]:
        out.setdefault(case, {})[what] = values.to_numpy()
    return out


def column(summary: Any, name: str) -> Array:
    """Return a column of the table of coefficients, of a summary or of its dictionary."""
    table = summary if isinstance(summary, dict) else summary.to_dict()
    return np.array([row[name] for row in table["coefficients"]])


def _group_score(a: Any, r: Any, bread: Any, rows: list[int], errors: str) -> Any:
    """Return X_g' M r_g of rows of a group; M is 1, (1 - H_g)^(-1/2) or (1 - H_g)^-1, zero where 1 - H_g is."""
    own, residual = mp.matrix([list(a[i, :]) for i in rows]), mp.matrix([r[i] for i in rows])
    values, vectors = mp.eigsy(mp.eye(len(rows)) - own * bread * own.T)
    power = {"CR1": 0, "CR2": mp.mpf(-0.5), "CR3": -1}[errors]
    along = vectors.T * residual
    factors = [v**power if v > 1e-30 else mp.mpf(0) for v in values]
    return own.T * (vectors * mp.matrix([f * z for f, z in zip(factors, along, strict=True)]))


def exact_sandwich(rows: Rows, errors: str) -> tuple[list[Any], Any]:
    """Return theta and Cov(theta) in 60 digits."""
    with mp.workdps(60):
        a = mp.matrix(design(rows.X).tolist())
        t = mp.matrix(rows.y.tolist())
        n, p = a.rows, a.cols
        bread = (a.T * a) ** -1
        theta = bread * (a.T * t)
        r = t - a * theta
        if errors == "classical":
            return list(theta), bread * (sum(v * v for v in r) / (n - p))
        scores, scale = [a[i, :].T * r[i] for i in range(n)], mp.mpf(1)
        if errors[:2] == "CR":
            each = [[int(i) for i in np.flatnonzero(rows.groups == label)] for label in np.unique(rows.groups)]
            if errors == "CR1":
                scale = mp.mpf(len(each)) / (len(each) - 1) * (n - 1) / (n - p)
            scores = [_group_score(a, r, bread, some, errors) for some in each]
        elif errors == "HC1":
            scale = mp.mpf(n) / (n - p)
        elif errors in ("HC2", "HC3"):
            rest = [1 - (a[i, :] * bread * a[i, :].T)[0] for i in range(n)]
            scores = [s / (h if errors == "HC3" else mp.sqrt(h)) for s, h in zip(scores, rest, strict=True)]
        meat = sum((s * s.T for s in scores), mp.zeros(p))
        return list(theta), bread * (scale * meat) * bread
