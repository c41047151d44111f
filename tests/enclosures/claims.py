"""python -m tests.enclosures.claims FOLDER: digits that certificates claim, against enclosures, over the tables there.

Every CSV file with a heading (also .csv.gz), and every .npz with X and y, is a regression of each of its columns of
numbers on the others, and a classification of each column of a few labels.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from adaline import (
    FisherDiscriminant,
    GaussianClassifier,
    GeneralizedLinear,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    Ridge,
)
from adaline.errors import AdalineError, AdalineWarning
from tests.certificates.cases import MOST, NEGLIGIBLE

MOST_NUMBERS = 600_000  # of a table; of larger ones the first rows are taken
MOST_TARGETS, MOST_CLASSES, MOST_COEFFICIENTS = 3, 10, 200
OF_NUMBERS = (
    *(LinearRegression(), Ridge(penalty=1.0)),
    *(GeneralizedLinear(loss="gamma"), GeneralizedLinear(loss="poisson")),
)
OF_CLASSES = (
    *(LogisticRegression(), LogisticRegression(penalty=1.0), GeneralizedLinear(loss="binomial", link="probit")),
    *(LeastSquaresClassifier(), FisherDiscriminant(), GaussianClassifier()),
)


class Claim(NamedTuple):
    """What was claimed of a fit, and what is true at least, and at most."""

    what: str
    claimed: float
    least: float
    most: float


def claim(what: str, model: Any, x: Any, t: Any) -> Claim | None:
    """Return the claim of a fit beside the truth; None where there is none, or nothing is proved."""
    try:
        model.fit(x, t)
        found = model.enclose(x, t)
    except AdalineError:
        return None
    claimed = float(model.certificate_.digits)
    if not found.proved or not claimed > 0:
        return None
    theta = np.column_stack([np.atleast_1d(model.intercept_), np.atleast_2d(model.coef_)])
    lower, upper = np.atleast_2d(found.lower), np.atleast_2d(found.upper)
    near, far = np.maximum(np.maximum(lower - theta, theta - upper), 0), np.maximum(theta - lower, upper - theta)
    size = np.maximum(np.abs(lower), np.abs(upper))
    length = np.append(1.0, np.sqrt((x**2).mean(axis=0)))
    counted = size * length > NEGLIGIBLE * (size * length).max(axis=1, keepdims=True)
    least, most = (_digits((wrong[counted] / size[counted]).max()) for wrong in (far, near))
    return Claim(what, claimed, least, most)


def _digits(wrong: float) -> float:
    return MOST if wrong == 0 else float(min(-np.log10(wrong), MOST))


def claims(folder: Path) -> Iterator[Claim]:
    """Return the claims over all tables below a folder."""
    for path in sorted(folder.rglob("*")):
        try:
            tables = list(_tables(path))
        except (ValueError, OSError, KeyError):
            continue
        for name, x, t in tables:
            few = np.unique(t).size <= MOST_CLASSES
            for model in OF_CLASSES if few else OF_NUMBERS:
                one = claim(f"{path.name} {name} {model!r}", model, x, t)
                if one is not None:
                    yield one


def _tables(path: Path) -> Iterator[tuple[str, Any, Any]]:
    """Return the designs of a file, with their targets."""
    if path.suffix == ".npz":
        data = np.load(path)
        x, t = np.asarray(data["X"], dtype=float), np.asarray(data["y"]).ravel()
        if x.shape[1] <= MOST_COEFFICIENTS and np.isfinite(x).all():
            yield "y", x[: MOST_NUMBERS // x.shape[1]], t[: MOST_NUMBERS // x.shape[1]]
    elif path.name.endswith((".csv", ".csv.gz")):
        frame = pd.read_csv(path).dropna()
        numbers = frame.select_dtypes("number")
        few = [name for name in frame if 2 <= frame[name].nunique() <= MOST_CLASSES]
        targets = [*few[-MOST_TARGETS:], *[name for name in numbers if name not in few][-MOST_TARGETS:]]
        for name in targets:
            x = numbers.drop(columns=name, errors="ignore").to_numpy(dtype=float)
            rows = slice(MOST_NUMBERS // max(x.shape[1], 1))
            yield name, x[rows], frame[name].to_numpy()[rows]


def main() -> int:
    """Print all claims, and how many are too much or too modest; return 1 where one is too much."""
    warnings.simplefilter("ignore", AdalineWarning)
    found = []
    for one in claims(Path(sys.argv[1])):
        found.append(one)
        print(f"{one.claimed:5.1f} claimed, {one.least:5.1f} to {one.most:5.1f} true: {one.what}", flush=True)
    over = [one for one in found if one.claimed > one.most]
    modest = [one for one in found if one.least - one.claimed > 2]
    print(f"{len(found)} claims, {len(over)} beyond the truth, {len(modest)} too modest by more than 2 digits")
    return int(bool(over))


if __name__ == "__main__":
    sys.exit(main())
