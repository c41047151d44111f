"""One candidate tried: its error on the rows it learned from, and on rows it did not see."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from adaline.errors import AdalineError
from adaline.sources.progress import watched
from adaline.systems.choosing.measures import Measure, RowLoss, Score
from adaline.systems.choosing.rows import ArrayRows, Places, Rows
from adaline.systems.linear import LinearSystem

Array = NDArray[np.float64]
Progress = bool | Callable[[int, int, str], None] | None

FAILURES = (AdalineError, ValueError)  # what a candidate may raise without ending the search


class Tried(NamedTuple):
    """Errors on the rows learned from and on new rows, the standard error of the latter; NaN where there is none.

    freedom : effective number of parameters, the trace of the hat matrix, where it is known.
    warning : what its fits warned about, one line, else "".
    failure : one line where the candidate could not be fitted, else "".
    """

    training: float = np.nan
    error: float = np.nan
    std_error: float = np.nan
    freedom: float = np.nan
    seconds: float = np.nan
    warning: str = ""
    failure: str = ""


def guarded(attempt: Callable[[], Tried]) -> Tried:
    """Try a candidate; what cannot be fitted is a line, not an end."""
    start = perf_counter()
    tried = Tried()
    with quiet() as said:
        try:
            tried = attempt()
        except FAILURES as error:
            tried = Tried(failure=first_line(error))
    if not tried.failure and not np.isfinite(tried.error):
        tried = tried._replace(failure=f"its error on new rows is {tried.error}")
    return tried._replace(seconds=perf_counter() - start, warning=said[0] if said else "")


@contextmanager
def quiet() -> Iterator[list[str]]:
    """Return a list that holds in the end what was warned about; many fits would warn many times."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield said
    ours = (w.message for w in caught if not issubclass(w.category, DeprecationWarning | FutureWarning))
    said += dict.fromkeys(map(first_line, ours))


def first_line(problem: Any) -> str:
    """Return the first line of what an exception or warning says."""
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0]


class Fits:
    """Fits begun, of a total that may grow: called before each with what it is of, it calls show(done, total, text)."""

    def __init__(self, total: int, show: Callable[[int, int, str], None]) -> None:
        self.done, self.total, self.show = 0, total, show

    def __call__(self, text: str) -> None:
        self.show(min(self.done, self.total - 1), self.total, text)
        self.done += 1

    def expect(self, more: int) -> None:
        """Let so many more be made."""
        self.total += more


@contextmanager
def reporting(progress: Progress, title: str, total: int) -> Iterator[Fits]:
    """Return what is called before each fit: it shows a line, or calls `progress` with (done, total, text)."""
    if callable(progress):
        fits = Fits(total, progress)
        yield fits
        progress(fits.total, fits.total, "done")
        return
    with watched(title, total, progress, "fits") as line:

        def show(done: int, total: int, text: str) -> None:
            line.total = total
            line.add(1)

        yield Fits(total, show)


def by_folds(system: Any, rows: Rows, folds: int, measure: Measure, tell: Callable[[], None]) -> Tried:
    """Return the mean over the folds, each held out once, weighted by their rows."""
    errors, freedom = np.empty((folds, 2)), np.empty(folds)
    for k in range(folds):
        tell()
        model = rows.fitted(system, k)
        errors[k] = errors_on(model, rows, measure, np.flatnonzero(rows.fold != k), np.flatnonzero(rows.fold == k))
        freedom[k] = freedom_of(model)
    held = rows.held_weights(folds)
    training, error = (errors * (held / held.sum())[:, None]).sum(axis=0)
    return Tried(float(training), float(error), spread(errors[:, 1], held), float(freedom.mean()))


def spread(errors: Array, weight: Array) -> float:
    """Return the standard error of the weighted mean of the folds' errors."""
    share = weight / weight.sum()
    mean = share @ errors
    return float(np.sqrt(share @ (errors - mean) ** 2 / (len(errors) - 1)))


def of_rows(losses: Array, weight: Array, n: float) -> tuple[float, float]:
    """Return the mean loss over rows and its standard error: of n observations, the sum of weights or their number."""
    share = weight / weight.sum()
    mean = share @ losses
    square = share @ (losses - mean) ** 2 / (n - 1) if n > 1 else np.nan
    return float(mean), float(np.sqrt(square))


def freedom_of(model: Any) -> float:
    """Return the effective number of parameters of a fitted model a target; NaN where it does not say."""
    last = model[-1] if isinstance(model, Pipeline) else model
    if not isinstance(last, LinearSystem):
        return np.nan
    return float(np.concatenate([fit.trace for fit in last._fits]).mean())


def errors_on(model: Any, rows: Rows, measure: Measure, *parts: Places) -> list[float]:
    """Return the error of a model on each of some parts of the rows, given by their places."""
    if rows.whole or not isinstance(rows, ArrayRows):
        assert isinstance(measure, RowLoss)
        losses = measure.losses(model, rows.x, rows.y)
        return [float(np.average(losses[part], weights=rows.weight[part])) for part in parts]
    if isinstance(measure, RowLoss):
        return [float(np.average(measure.losses(model, *rows.at(part)), weights=rows.weight[part])) for part in parts]
    assert isinstance(measure, Score)
    return [measure.error(model, *rows.at(part)) for part in parts]
