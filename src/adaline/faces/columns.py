"""What the columns give away by themselves: constants, repetitions, single values far off, answers in disguise."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import AdalineError, AdalineWarning
from adaline.faces.finding import NOTE, SERIOUS, WARNING, Finding, some
from adaline.faces.table import REGRESSION, Table
from adaline.systems import LinearRegression

Array = NDArray[np.float64]

INFLATED = 10.0  # Marquardt (1970): the variance of a coefficient is ten times what it were without the other columns
DETERMINED = 0.999  # R^2 of one column alone from which it looks like the target itself
FAR = 10.0  # interquartile ranges beyond the quartiles; a normal column has values up to about 3 beyond
MOST_COLUMNS = 1000  # up to which their correlations are looked at
ENOUGH = 20  # rows from which a column that tells the target exactly is no accident


def look(table: Table, task: str) -> Iterator[Finding]:
    """Return what the columns give away."""
    yield from _constant(table)
    yield from _dependent(table)
    yield from _far(table)
    yield from _leaking(table, task)


def _constant(table: Table) -> Iterator[Finding]:
    if table.constant:
        it, them = ("It says", "was") if len(table.constant) == 1 else ("They say", "were")
        yield Finding(
            NOTE,
            "Constant columns",
            f"The same value in every row: {some(table.constant)}. {it} nothing about {table.target} and {them} left "
            "out of the comparison.",
            table.constant,
        )


def _dependent(table: Table) -> Iterator[Finding]:
    """Find columns that are combinations of others, exactly and nearly."""
    n, d = table.X.shape
    if d > MOST_COLUMNS or d + 1 >= n or d < 2:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AdalineWarning)  # the finding says it with the names of the columns
            model = LinearRegression().fit(table.X, table.X[:, 0], table.weight)
    except AdalineError:
        return
    aliased = [] if model.aliased_ is None else [int(str(name)[1:]) for name in model.aliased_]  # "x3"
    if aliased:
        names = tuple(table.names[j] for j in aliased)
        yield Finding(
            WARNING,
            "Columns that repeat others",
            f"Exact linear combinations of the columns before them: {some(names)}. Their coefficients are not unique, "
            "predictions are; drop them.",
            names,
        )
    inflated = _inflation(table, np.setdiff1d(np.arange(d), aliased))
    if inflated:
        ordered = sorted(inflated.items(), key=lambda item: -item[1])
        named = some([f"{name} (VIF {value:,.0f})" for name, value in ordered])
        yield Finding(
            WARNING,
            "Collinear columns",
            f"Nearly determined by the other columns: {named}. A variance inflation beyond {INFLATED:g} leaves single "
            "coefficients loose, though predictions may be good: drop one of them, or use a penalised "
            "system such as Ridge.",
            tuple(name for name, _ in ordered),
        )


def _inflation(table: Table, places: NDArray[np.intp]) -> dict[str, float]:
    """Return columns of the data whose generalised variance inflation is beyond the limit.

    GVIF = det C_aa det (C^-1)_aa for the correlations C and the columns a made of one: the same whichever level of a
    category is left out, so that coding raises no alarm. GVIF^(1/size) is comparable with the VIF of one column.
    J. Fox and G. Monette, JASA 87 (1992), 178-183.
    """
    correlation = np.atleast_2d(np.corrcoef(table.X[:, places], rowvar=False))
    try:
        inverse = np.linalg.inv(correlation)
    except np.linalg.LinAlgError:
        return {}
    out = {}
    for name, members in table.groups().items():
        own = np.flatnonzero(np.isin(places, members))
        if len(own):
            logs = [np.linalg.slogdet(m[np.ix_(own, own)])[1] for m in (correlation, inverse)]
            inflation = float(np.exp(sum(logs) / len(own)))
            if inflation > INFLATED:
                out[name] = inflation
    return out


def _far(table: Table) -> Iterator[Finding]:
    """Find single values far outside the bulk of a column of numbers."""
    found = []
    for name, members in table.groups().items():
        x = table.X[:, members[0]]
        if len(members) > 1 or len(np.unique(x[:1000])) <= 2:
            continue
        low, high = np.quantile(x, [0.25, 0.75])
        reach = FAR * (high - low)
        if reach > 0:
            outside = (x < low - reach) | (x > high + reach)
            if outside.any():
                worst = x[outside][np.argmax(np.abs(x[outside] - (low + high) / 2))]
                found.append((name, int(outside.sum()), float(worst)))
    if found:
        named = some([f"{name} ({count} row{'s' if count > 1 else ''}, up to {v:.4g})" for name, count, v in found])
        yield Finding(
            WARNING,
            "Values far from all others",
            f"More than {FAR:g} interquartile ranges from the middle half of the column: {named}. A typing error, a "
            "code for missing (such as 9999), or a long tail: check them, or take logarithms.",
            tuple(name for name, _, _ in found),
        )


def _leaking(table: Table, task: str) -> Iterator[Finding]:
    """Find columns that alone determine the target, where there are others."""
    groups = table.groups()
    if len(groups) < 2 or len(table.y) < ENOUGH:
        return
    tells = _fits if task == REGRESSION else _sorts
    names = tuple(name for name, members in groups.items() if tells(table.X[:, members], table.y))
    if names:
        how = f"R² above {DETERMINED:g}" if task == REGRESSION else "without a single error"
        yield Finding(
            SERIOUS,
            "A column that gives the target away",
            f"{some(names)} alone predict{'s' if len(names) == 1 else ''} {table.target} {how}. Is it known before the "
            "target is, or is it the target in other words? If the latter, leave it out and compare again.",
            names,
        )


def _fits(X: Array, y: NDArray[Any]) -> bool:
    """Whether one column of the data alone leaves a thousandth of the target's variance at most (adjusted for size)."""
    n, d = X.shape
    if n < 5 * (d + 1):
        return False
    left = (y - y.mean()) / np.abs(y - y.mean()).max()
    total = float(left @ left)
    centred = X - X.mean(axis=0)
    centred /= np.abs(centred).max(axis=0)
    slopes, *_ = np.linalg.lstsq(centred, left)
    rest = left - centred @ slopes
    return bool(1 - (float(rest @ rest) / total) * (n - 1) / (n - d - 1) > DETERMINED)


def _sorts(X: Array, y: NDArray[Any]) -> bool:
    """Whether one column of the data alone tells the classes apart: intervals that do not meet, pure levels."""
    labels, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if counts.min() < 5:
        return False
    if X.shape[1] > 1:
        levels, level = np.unique(X, axis=0, return_inverse=True)
        pure = all(len(np.unique(codes[level.ravel() == i])) == 1 for i in range(len(levels)))
        return pure and len(levels) <= len(y) / 5
    x = X[:, 0]
    ends = sorted((float(x[codes == k].min()), float(x[codes == k].max())) for k in range(len(labels)))
    return all(before[1] < after[0] for before, after in pairwise(ends))
