"""The cross-validator: candidates fitted without each fold in turn, and judged on it; `select`, `learning_curve` and
`compare` use it. What a candidate raises or warns about is kept as text, so that it stops no other.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from adaline.sources.progress import watched
from adaline.systems.choosing.measures import Measure, RowLoss, Score
from adaline.systems.choosing.rows import ArrayRows, Places, Rows
from adaline.systems.linear import LinearSystem

Array = NDArray[np.float64]
Progress = bool | Callable[[int, int, str], None] | None


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


class Trial:
    """One candidate on trial: after its first failure nothing more is asked of it.

    failure : one line where a step raised, else "". warnings : what its steps warned about, a line each, once each.
    """

    def __init__(self) -> None:
        self.failure = ""
        self._warned: dict[str, None] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the steps warned about."""
        return tuple(self._warned)

    def attempt(self, step: Callable[[], Any]) -> Any:
        """Return what a step returns; None where it, or one before it, raised."""
        if self.failure:
            return None
        done = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                done = step()
            except Exception as error:  # whatever a candidate raises must not stop the others
                self.failure = first_line(error)
        ours = (w.message for w in caught if not issubclass(w.category, DeprecationWarning | FutureWarning))
        self._warned |= dict.fromkeys(map(first_line, ours))
        return done


class CrossValidation(Trial):
    """A system fitted without each fold of some rows in turn, and judged.

    Parameters
    ----------
    system : not fitted; each fit takes a clone.
    rows : cut into folds.
    judge : function of the model, the indices of the rows it learned from and of those held out; `judged` keeps what it
        returns, one entry a fold.
    """

    def __init__(self, system: Any, rows: Rows, judge: Callable[[Any, Places, Places], Any]) -> None:
        super().__init__()
        self.system, self.rows, self.judge = system, rows, judge
        self.judged: list[Any] = []

    def fold(self, k: int, learned: Places | None = None) -> None:
        """Fit all folds but k, or the rows `learned` of these alone, and judge."""

        def step() -> None:
            if learned is None:
                model, places = self.rows.fitted(self.system, k), np.flatnonzero(self.rows.fold != k)
            else:
                assert isinstance(self.rows, ArrayRows)
                model, places = self.rows.fitted_to(self.system, learned), learned
            self.judged.append(self.judge(model, places, np.flatnonzero(self.rows.fold == k)))

        self.attempt(step)


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

    def judge(model: Any, learned: Places, held: Places) -> tuple[float, ...]:
        return (*errors_on(model, rows, measure, learned, held), freedom_of(model))

    run = CrossValidation(system, rows, judge)
    start = perf_counter()
    for k in range(folds):
        tell()
        run.fold(k)
    if run.failure:
        return tried(run, None, start)
    weight = rows.held_weights(folds)
    judged = np.array(run.judged)
    training, error = (judged[:, :2] * (weight / weight.sum())[:, None]).sum(axis=0)
    found = Tried(float(training), float(error), spread(judged[:, 1], weight), float(judged[:, 2].mean()))
    return tried(run, found, start)


def by_formula(formula: Callable[[], Tried]) -> Tried:
    """Return what a formula gives; a candidate that cannot be fitted is a line, not an end."""
    start, trial = perf_counter(), Trial()
    return tried(trial, trial.attempt(formula), start)


def tried(trial: Trial, found: Tried | None, start: float) -> Tried:
    """Return how a candidate did, with its time since `start`, its first warning, and its failure."""
    done = Tried(failure=trial.failure) if found is None else found
    if not done.failure and not np.isfinite(done.error):
        done = done._replace(failure=f"its error on new rows is {done.error}")
    return done._replace(seconds=perf_counter() - start, warning=(*trial.warnings, "")[0])


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
