"""The eleven linear sets of NIST's Statistical Reference Datasets, with their answers to 30 digits.

`NAMES` lists them, `read` gives one, and `digits` counts how many digits of an answer are right.
"""

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_DATA = Path(__file__).parent / "data"
_REFERENCE = json.loads((_DATA / "nist_strd.json").read_text(encoding="utf-8"))["datasets"]
_DEGREE = {"Pontius": 2, "Filip": 10, **{f"Wampler{i}": 5 for i in range(1, 6)}}

NAMES = tuple(_REFERENCE)


@dataclass(frozen=True)
class Nist:
    """A set: the raw design (powers rounded to float64, no column of ones), the target, and the exact answer.

    `coef` and `std_error` are decimal strings, intercept first where there is one; `r2` is about the mean, or about
    zero where there is no intercept.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.float64]
    fit_intercept: bool
    coef: tuple[str, ...]
    std_error: tuple[str, ...]
    resid_sd: str
    r2: str


@cache
def read(name: str) -> Nist:
    """The set of that name."""
    lines = (_DATA / "nist" / f"{name}.dat").read_text(encoding="ascii").splitlines()
    found = re.search(r"^ +Data +\(lines (\d+) to (\d+)\)", "\n".join(lines[:10]), re.MULTILINE)
    assert found is not None, f"{name}.dat does not say where its data are"
    first, last = int(found[1]), int(found[2])
    table = np.array([[float(field) for field in line.split()] for line in lines[first - 1 : last]])
    y, X = table[:, 0].copy(), table[:, 1:].copy()
    if name in _DEGREE:
        # Each power is the float64 nearest to the exact power of the float64 x: the same bits on every machine.
        X = np.array([[float(Fraction(x) ** k) for k in range(1, _DEGREE[name] + 1)] for x in X[:, 0].tolist()])
    exact = _REFERENCE[name]["exact30"]
    assert X.shape[0] == _REFERENCE[name]["n"]
    return Nist(
        name=name,
        X=X,
        y=y,
        fit_intercept=not name.startswith("NoInt"),
        coef=tuple(exact["coef"]),
        std_error=tuple(exact["se"]),
        resid_sd=exact["resid_sd"],
        r2=exact["r2"],
    )


def digits(estimate: Iterable[float], exact: Iterable[str | Fraction]) -> float:
    """Log relative error, the minimum over the numbers given (absolute where the exact one is zero), 16 at most."""
    return min(_digits(float(a), Fraction(b)) for a, b in zip(estimate, exact, strict=True))


def _digits(estimate: float, exact: Fraction) -> float:
    if not math.isfinite(estimate):
        return -math.inf
    error = abs(Fraction(estimate) - exact) / (abs(exact) or 1)
    return 16.0 if error == 0 else min(16.0, -math.log10(error))
