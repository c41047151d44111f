"""What a user should know about the data and the fits: what was seen, where, and what to do about it.

Each check returns nothing on clean data. Thresholds are those of the textbooks named beside them; tests of many rows
are corrected for their number, so that a thousand clean rows raise no alarm.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from adaline.errors import AdalineError, AdalineWarning
from adaline.faces import columns
from adaline.faces.finding import NOTE, SERIOUS, WARNING, Finding, percent, some
from adaline.faces.result import Result
from adaline.faces.table import REGRESSION, Table
from adaline.faces.targets import is_count, skewness
from adaline.proof.budget import Undecided
from adaline.results import Status
from adaline.systems import LinearRegression
from adaline.systems.separable import separability
from adaline.wording import counted

Array = NDArray[np.float64]

ROWS_A_PARAMETER = 10  # fewer and coefficients are mostly noise
MISSING = 0.3  # share of a column from which filling it in is guessing
IMBALANCE = 20  # rows of the largest class for one of the smallest
OUTLIER = 0.01  # probability of any alarm among clean rows
COOK = 1.0  # Cook and Weisberg (1982): a row that moves all coefficients to the edge of their joint interval
MOST_CLASSES = 10  # that are asked one by one whether a plane separates them

__all__ = ["Finding", "findings"]


def findings(table: Table, task: str, results: list[Result], recommended: Result | None) -> list[Finding]:
    """Return what was seen, gravest first."""
    seen = Seen(table, task, results, recommended)
    found = [
        *columns.look(table, task),
        *_few_rows(seen),
        *_missing(seen),
        *_sampled(seen),
        *(_of_numbers(seen) if task == REGRESSION else _of_classes(seen)),
        *_of_the_fit(seen),
    ]
    order = (SERIOUS, WARNING, NOTE)
    return sorted(found, key=lambda finding: order.index(finding.severity))


@dataclass(frozen=True, eq=False)
class Seen:
    """What the checks look at."""

    table: Table
    task: str
    results: list[Result]
    recommended: Result | None


def _few_rows(seen: Seen) -> Iterator[Finding]:
    n, d = seen.table.X.shape
    if d + 1 >= n:
        yield Finding(
            SERIOUS,
            "No more rows than columns",
            f"{d} columns and {n} rows: a linear model can fit any target exactly, so fits on the training rows mean "
            "nothing; trust the cross-validated error alone, drop columns or collect rows.",
        )
    elif n < ROWS_A_PARAMETER * (d + 1):
        yield Finding(
            WARNING,
            "Few rows for so many columns",
            f"{n} rows for {d + 1} coefficients, {n / (d + 1):.1f} each; below about {ROWS_A_PARAMETER} they are "
            "mostly noise. Drop columns, merge rare levels, or prefer a penalised system such as Ridge.",
        )


def _missing(seen: Seen) -> Iterator[Finding]:
    rows = max(seen.table.total_rows, len(seen.table.y)) + seen.table.dropped  # missing values were counted in all
    heavy = [
        (column["missing"] / rows, column["name"])
        for column in seen.table.columns
        if column["missing"] > MISSING * rows and column["role"] != "left out"
    ]
    if heavy:
        named = some([f"{name} ({percent(share)})" for share, name in sorted(heavy, reverse=True)])
        yield Finding(
            WARNING,
            "Much is missing",
            f"Missing in the data: {named}. What stands in for it is a guess, or its rows were dropped, which biases "
            "the rest unless values are missing at random. Consider leaving the column out.",
            tuple(name for _, name in heavy),
        )


def _sampled(seen: Seen) -> Iterator[Finding]:
    n, total, dropped = len(seen.table.y), seen.table.total_rows, seen.table.dropped
    if dropped:
        yield Finding(
            NOTE,
            "Rows were left out",
            f"{dropped:,} of {total + dropped:,} rows ({percent(dropped / (total + dropped))}) are left out, as "
            "something is missing in them. What was found holds for rows like the others.",
        )
    if n < total:
        yield Finding(
            NOTE,
            "Not all rows were compared",
            f"The comparison used a random sample, {n:,} of {total:,} rows. Fit the recommended system to all rows "
            "before using it.",
        )


def _of_numbers(seen: Seen) -> Iterator[Finding]:
    y = seen.table.y
    labels = {result.label for result in seen.results}
    poisson, gamma = (f"GeneralizedLinear(loss={loss!r})" for loss in ("poisson", "gamma"))
    if poisson in labels and is_count(y):
        yield Finding(
            NOTE,
            "The target may be a count",
            f"{seen.table.target} holds whole numbers, none of them negative. {poisson} was compared too: its "
            "predictions are never negative, columns multiply them, and errors may grow with them.",
            (seen.table.target,),
        )
    skew = skewness(y)
    if skew is not None:
        too = f" {gamma}, whose columns multiply the prediction, was compared too." if gamma in labels else ""
        yield Finding(
            NOTE,
            "The target is skewed",
            f"{seen.table.target} is positive with a long upper tail (skewness {skew.raw:.1f}; of its logarithm "
            f"{skew.log:.1f}).{too} A model of its logarithm may fit better and have more even errors.",
            (seen.table.target,),
        )
    n, d = seen.table.X.shape
    if n - d - 2 < 1:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AdalineWarning)  # dependent columns are a finding of their own
            model = LinearRegression().fit(seen.table.X, y, seen.table.weight)
        rows = model.influence(seen.table.X, y, seen.table.weight)
    except AdalineError:  # leverage of wide or degenerate rows: there is nothing to tell outliers by
        return
    freedom = n - model.rank_ - 2
    limit = float(special.stdtrit(freedom, 1 - OUTLIER / (2 * n))) if freedom >= 1 else np.inf
    far = _largest(np.abs(rows.studentized), limit)
    if len(far):
        named = some([f"row {i} ({rows.studentized[i]:+.1f})" for i in far])
        yield Finding(
            WARNING,
            "Outlying targets",
            f"{len(far)} of {n} rows lie further from the least-squares surface than chance allows, beyond "
            f"{limit:.1f} studentised residuals (counting rows from 0): {named}. Check them; one wrong value can move "
            "every coefficient, and intervals assume there is none.",
        )
    strong = _largest(rows.cooks_distance, COOK)
    if len(strong):
        named = some([f"row {i} ({rows.cooks_distance[i]:.1f})" for i in strong])
        yield Finding(
            WARNING,
            "Single rows decide the fit",
            f"Cook's distance exceeds {COOK:g} at {named}: without such a row the coefficients are other ones. Check "
            "the rows, and fit without them to see what changes.",
        )


def _of_classes(seen: Seen) -> Iterator[Finding]:
    y = seen.table.y
    labels, counts = np.unique(y, return_counts=True)
    if counts.max() > IMBALANCE * counts.min():
        least, most = int(counts.argmin()), int(counts.argmax())
        yield Finding(
            WARNING,
            "Classes of very unequal size",
            f"'{labels[least]}' has {counted(counts[least])}, '{labels[most]}' {counts[most]}. Always answering "
            f"'{labels[most]}' is wrong in only {100 * (1 - counts.max() / counts.sum()):.1f}% of the rows: judge by "
            "the confusion table, not by the error rate alone.",
        )
    folds = max((len(result.fold_errors) for result in seen.results), default=0)
    small = [str(label) for label, count in zip(labels, counts, strict=True) if count < folds]
    if small:
        yield Finding(
            WARNING,
            "Classes of very few rows",
            f"Fewer rows than folds: {some(small)}. How well they are recognised cannot be told; merge them or collect "
            "more.",
        )
    linear = [r.label for r in seen.results if len(labels) == 2 and r.train_error == 0 and hasattr(r.model, "coef_")]
    apart = [str(label) for label in labels] if linear else _apart(seen.table.X, y, labels)
    if apart:
        what = "Each class" if len(apart) == len(labels) else f"Class {some(apart)}"
        told = f"{linear[0]} makes no error on the rows it was fitted to" if linear else "proved by a plane"
        yield Finding(
            NOTE,
            "Classes are linearly separable",
            f"{what} can be told from the others by a hyperplane without error on these rows ({told}). Many planes do; "
            "logistic weights then grow without bound and posteriors near 0 and 1 are overconfident. Trust the error "
            "on rows held out.",
        )


def _apart(X: Array, y: NDArray[Any], labels: NDArray[Any]) -> list[str]:
    """Return the classes that a hyperplane separates from all others; none where that takes too long to know."""
    if len(labels) > MOST_CLASSES or X.shape[1] + 1 >= len(X):
        return []
    chosen = labels[1:] if len(labels) == 2 else labels
    try:
        found = [str(label) for label in chosen if separability(X, y == label).separable]
    except Undecided:
        return []
    return [str(label) for label in labels] if found and len(labels) == 2 else found


def _of_the_fit(seen: Seen) -> Iterator[Finding]:
    chosen = seen.recommended
    if chosen is None:
        return
    proof = chosen.certificate
    if proof is not None and proof.status is not Status.SOLVED:
        yield Finding(
            WARNING,
            f"The fit of {chosen.label} is {proof.status}",
            f"{proof.advice[:1].upper()}{proof.advice[1:]}.",
        )
    if chosen.warnings:
        yield Finding(NOTE, f"{chosen.label} warned", " ".join(chosen.warnings[:3]))


def _largest(values: Array, limit: float) -> NDArray[Any]:
    """Return the places of values beyond a limit, largest first."""
    beyond = np.flatnonzero(np.nan_to_num(values) > limit)
    return beyond[np.argsort(-values[beyond])]
