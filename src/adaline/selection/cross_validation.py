"""The cross-validator: a system fitted without each fold of the rows in turn, and judged on it.

    error = sum_k W_k error_k / sum_k W_k,   error_k that of the fit without fold k on its rows, of weight W_k

`select`, `learning_curve` and `compare` use it. Arrays and frames are split by shuffled row, class by class; signals
into stretches, as their order matters; sources by a hash of the row's number. Signals and sources are not cut up:
held-out rows have weight zero. Errors and warnings of a candidate are kept as text, and the other candidates continue.
"""

from __future__ import annotations

import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, OffsetsLike, TargetsLike, WeightsLike, host, is_device
from adaline.errors import InvalidData, InvalidParameter
from adaline.estimator import clone, is_classifier
from adaline.fitted import AnyModel, AnySystem, sums_folds
from adaline.input.columns import InputColumns
from adaline.input.labels import read_labels
from adaline.input.open import read_offset
from adaline.input.taken import indexable, take_rows
from adaline.parameters import WholeNumber
from adaline.selection.folds import check_classes
from adaline.selection.measures import Measure, RowLoss, Score
from adaline.sources import Source
from adaline.sources.array import read_weights
from adaline.sources.progress import watched
from adaline.sources.tabular import target_values
from adaline.sources.views import Fold, assign_folds, fold_of, unlabelled
from adaline.sums import all_but_one, running
from adaline.systems.families.filter import SignalSystem
from adaline.systems.families.folds import FoldFits, fit_at_once, fit_folds, fit_unions, fits_as_we_do
from adaline.systems.families.linear_system import LinearSystem
from adaline.systems.families.near import NearFits
from adaline.wording import counted

Indices = NDArray[np.intp]
Filled = Sequence[tuple[int, int]]
"""Columns with gaps that were filled, and the columns that are 1 there."""

Progress = bool | Callable[[int, int, str], None] | None
"""Whether to show a line while it takes long (None: in a terminal), or a function (done, total, text)."""


class CandidateErrors(NamedTuple):
    """The errors of a candidate on the rows learned from and on new rows, and the standard error of the latter, or NaN.

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


def by_folds(
    system: AnySystem, rows: Rows, folds: int, measure: Measure, before_fit: Callable[[], None]
) -> CandidateErrors:
    """Return the errors of a system: means over the folds, each held out once, weighted by their rows."""

    def judge(model: AnyModel, learned: Indices, held_out: Indices) -> tuple[float, ...]:
        return (*errors_on(model, rows, measure, learned, held_out), freedom_of(model))

    run = CrossValidation(system, rows, judge)
    start = perf_counter()
    for k in range(folds):
        before_fit()
        run.fold(k)
    if run.failure:
        return with_trial(run, None, start)
    weight = rows.fold_weights(folds)
    judged = np.array(run.judged)
    training, error = (judged[:, :2] * (weight / weight.sum())[:, None]).sum(axis=0)
    found = CandidateErrors(float(training), float(error), spread(judged[:, 1], weight), float(judged[:, 2].mean()))
    return with_trial(run, found, start)


class Trial:
    """Steps of one candidate, each attempted; after the first that fails no more are run.

    failure : one line where a step raised, else "". warnings : what its steps warned about, each once, by first line.
    """

    def __init__(self) -> None:
        self.failure = ""
        self._warned: dict[str, None] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of the steps."""
        return tuple(self._warned)

    def attempt(self, step: Callable[[], Any]) -> Any:
        """Return the result of a step; None if it, or one before it, raised."""
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
    stream : all rows, where `rows` are a sample of them and the system is a sum, which then learns from them all; None
        once it is found that it does not.
    """

    def __init__(
        self,
        system: AnySystem,
        rows: Rows,
        judge: Callable[[Any, Indices, Indices], Any],
        stream: StreamedFolds | None = None,
    ) -> None:
        super().__init__()
        self.system, self.rows, self.judge, self.stream = system, rows, judge, stream
        self.judged: list[Any] = []
        self._fits: list[FoldFits | None] = []

    def fold(self, k: int, learned: Indices | None = None, model: AnyModel = None) -> None:
        """Fit all folds but k, or the rows `learned` of these alone, and judge; or judge a model of these rows."""

        def step() -> None:
            if learned is None:
                fitted, indices = self._without(k), np.flatnonzero(self.rows.fold != k)
            else:
                assert isinstance(self.rows, ArrayRows)
                fitted, indices = model or self.rows.fitted_to(self.system, learned), learned
            self.judged.append(self.judge(fitted, indices, np.flatnonzero(self.rows.fold == k)))

        self.attempt(step)

    def whole(self) -> Any:
        """Return the system fitted to all rows of an array, None where that fails."""
        assert isinstance(self.rows, ArrayRows)
        rows = self.rows

        def step() -> Any:
            fits = self._all_fits()
            return rows.fitted_to(self.system, np.arange(len(rows.weight))) if fits is None else fits.whole

        return self.attempt(step)

    def _without(self, k: int) -> Any:
        """Return the system fitted to all folds but k."""
        fits = self._all_fits()
        model = None if fits is None else fits.without[k]
        return self.rows.fitted(self.system, k) if model is None else model

    def _all_fits(self) -> FoldFits | None:
        """Return the fits of a system that makes those of all folds at once, None of one that does not."""
        if not self._fits:
            streamed = None if self.stream is None else self.stream.fit_folds(self.system)
            self.stream = None if streamed is None else self.stream
            self._fits.append(self.rows.fit_folds(self.system) if streamed is None else streamed)
        return self._fits[0]


class Rows(ABC):
    """Rows x, targets y (None without), weights (n,), and the fold of each row, (n,).

    `shared` keeps what systems that are fitted to all folds at once have in common.
    """

    whole: ClassVar[bool] = False
    """Whether a model predicts all rows together: in their order, or as a source reads them."""
    x: Any
    y: Any
    weight: Array
    fold: Indices

    def __init__(self) -> None:
        self.shared: dict[Any, Any] = {}

    @abstractmethod
    def fitted(self, system: AnySystem, k: int) -> Any:
        """Return a clone of the system fitted to all folds but k."""

    @abstractmethod
    def fit_folds(self, system: AnySystem) -> FoldFits | None:
        """Return the fits to all rows and without each fold of a system that makes them at once, None of others."""

    def fold_weights(self, folds: int) -> Array:
        """Return the weight of the rows of each fold."""
        return np.bincount(self.fold, self.weight, folds).astype(np.float64)


class ArrayRows(Rows):
    """Rows in memory; those of weight zero take no part. With an offset (n,) systems are fitted that take one.

    `filled` : pairs of columns of x, the first of which was filled with its mean where the second, an indicator, is 1.
    A fit without fold k, and what it predicts, has these means from the other folds alone (see `fill_means`).
    """

    def __init__(
        self,
        x: AnyArray,
        y: TargetsLike,
        sample_weight: WeightsLike,
        classes: bool,
        offset: Array | None = None,
        filled: Filled = (),
    ) -> None:
        super().__init__()
        self.offset, self.filled = offset, filled
        self.x = x = indexable(x)
        n = x.shape[0]
        self.y = None if y is None else _on_host(read_labels(y) if classes else y)
        if self.y is not None and self.y.shape[0] != n:
            raise InvalidData(
                f"Found input variables with inconsistent numbers of samples: X has {n}, y has {self.y.shape[0]}"
            )
        self.given_weight = None if sample_weight is None else read_weights(sample_weight, n)
        self.weight = np.ones(n) if self.given_weight is None else self.given_weight
        self.classes = classes

    def split(self, folds: int, seed: int) -> ArrayRows:
        """Drop rows of weight zero and assign the others to folds."""
        if not self.weight.all():
            some = np.flatnonzero(self.weight)
            self.x, self.y = self.at(some)
            self.weight = self.given_weight = self.weight[some]
            self.offset = None if self.offset is None else self.offset[some]
        _check_folds(folds, len(self.weight))
        if self.classes:
            check_classes(self.y)
        self.fold = assign_folds(len(self.weight), folds, seed, self.y if self.classes else None)
        return self

    def sort_by_fold(self) -> Indices:
        """Put the rows of each fold together, those of fold 0 first; return the indices that the rows had."""
        order = np.argsort(self.fold, kind="stable")
        self.x, self.y = self.at(order)
        self.weight, self.fold = self.weight[order], self.fold[order]
        self.offset = None if self.offset is None else self.offset[order]
        if self.given_weight is not None:
            self.given_weight = self.given_weight[order]
        return order

    def sampled(self, count: int) -> ArrayRows:
        """Return so many of the rows, spread evenly over folds and targets."""
        key = ("sample", count)
        if key not in self.shared:
            order = np.lexsort((self.y, self.fold))
            indices = np.sort(order[np.arange(count) * len(order) // count])
            out = copy(self)
            out.x, out.y = self.at(indices)
            out.weight, out.fold, out.shared = self.weight[indices], self.fold[indices], {}
            out.given_weight = None if self.given_weight is None else out.weight
            out.offset = None if self.offset is None else self.offset[indices]
            self.shared[key] = out
        found: ArrayRows = self.shared[key]
        return found

    def with_columns(self, x: AnyArray, filled: Filled = ()) -> ArrayRows:
        """Return the rows with other columns, some of them `filled`, and without a known part of the outputs."""
        out = copy(self)
        out.x, out.offset, out.filled, out.shared = x, None, filled, {}
        return out

    def predicted(self, model: AnyModel, part: slice = slice(None)) -> Any:
        """Return the predictions of a model for a part of the rows, with their offsets."""
        return self.with_offset(model, part).predict(self.x[part])

    def with_offset(self, model: AnyModel, part: slice | Indices) -> Any:
        """Return the model as it predicts a part of the rows: with their offsets, where there are any."""
        if self.offset is None:
            return model
        out = copy(model)
        for name in ("predict", "predict_proba", "decision_function"):
            if hasattr(model, name):
                setattr(out, name, partial(getattr(model, name), offset=self.offset[part]))
        return out

    def at(self, indices: Indices) -> tuple[Any, Any]:
        """Return the rows with these indices, and their targets."""
        return take_rows(self.x, indices), None if self.y is None else self.y[indices]

    def fitted(self, system: AnySystem, k: int) -> Any:
        return self.fitted_to(system, np.flatnonzero(self.fold != k), k)

    def fitted_to(self, system: AnySystem, indices: Indices, k: int | None = None) -> Any:
        """Return a clone of the system fitted to the rows with these indices; gaps filled as for fold k."""
        weight = None if self.given_weight is None else self.given_weight[indices]
        offset = None if self.offset is None else self.offset[indices]
        x, y = self.at(indices)
        return fit(clone(system), x if k is None else self.filled_for(k, x), y, weight, offset)

    def filled_for(self, k: int, x: AnyArray) -> Any:
        """Return rows of x with their gaps filled by the means of all folds but k."""
        if not self.filled:
            return x
        if ("fill", k) not in self.shared:
            self.shared["fill", k] = fill_means(self.x, self.fold, self.filled, k)
        return fill(x, self.filled, self.shared["fill", k])

    def fit_growing(self, system: AnySystem, parts: Sequence[Indices]) -> list[Any] | None:
        """Return a system fitted to the first part of the rows, to the first two, ...; None of one that is no sum.

        An entry is None where the rows themselves are needed.
        """
        if self.offset is not None or not (sums_folds(system) and fits_as_we_do(system)):
            return None
        part = np.full(len(self.weight), -1)
        for i, indices in enumerate(parts):
            part[indices] = i
        rows = system._sum_folds(self.x, self.y, self.given_weight, part, {}, running)
        return None if rows is None else fit_unions(system, rows)

    def fit_folds(self, system: AnySystem) -> FoldFits | None:
        if self.offset is not None or (self.filled and not isinstance(system, NearFits)):
            return None  # the sums of a fold are those of one filling
        if self.classes and not sums_folds(system) and self._some_fold_has_all_others():
            return None
        given = (system, self.x, self.y, self.given_weight, self.fold, self.shared)
        return fit_at_once(*given, self.filled_for) if self.filled else fit_at_once(*given)

    def _some_fold_has_all_others(self) -> bool:
        """Whether the other folds have rows of the most frequent class alone, which classifiers refuse."""
        if "alone" not in self.shared:
            _, codes = np.unique(self.y, return_inverse=True)
            others = self.fold[codes != np.bincount(codes).argmax()]
            self.shared["alone"] = bool(np.all(others == others[:1]))
        return bool(self.shared["alone"])


def fill_means(x: Array, fold: Indices, filled: Filled, k: int) -> Array:
    """Return the means of columns over the rows of all folds but k that have a value there, (len(filled),).

    Where none has, the column is constant in these rows, and keeps what it was filled with.
    """
    out = np.empty(len(filled))
    for i, (column, mark) in enumerate(filled):
        gap = x[:, mark] != 0
        there = ~gap & (fold != k)
        out[i] = x[there, column].mean() if there.any() else x[gap, column][0]
    return out


def fill(x: Array, filled: Filled, means: Array) -> Array:
    """Return rows, (n, D), with these means where the indicators of columns say that a value is missing."""
    x = x.copy()
    for (column, mark), mean in zip(filled, means, strict=True):
        x[x[:, mark] != 0, column] = mean
    return x


class SignalRows(ArrayRows):
    """Samples of signals, held out in stretches; those of weight zero stay, as part of the past of others."""

    whole = True

    def split(self, folds: int, seed: int) -> SignalRows:
        """Assign samples to folds by stretches of an equal number of samples of positive weight."""
        some = int(np.count_nonzero(self.weight))
        _check_folds(folds, some)
        self.fold = np.maximum(np.cumsum(self.weight > 0) - 1, 0) * folds // some
        return self

    def fitted(self, system: AnySystem, k: int) -> Any:
        return fit(clone(system), self.x, self.y, self.weight * (self.fold != k))

    def fit_folds(self, system: AnySystem) -> FoldFits | None:
        return None


class SourceRows(Rows):
    """The rows of a source."""

    whole = True

    def __init__(self, source: Source, folds: int) -> None:
        super().__init__()
        _check_folds(folds, source.count_rows())
        self.source, self.folds = source, folds
        rows = unlabelled(source, offset=True)  # as they are coded already, for every model
        self.x = Fold(rows, 0, folds, held_out=True)
        self.y = None
        if source.shape.targets:
            self.y = target_values(source)
            self.y = self.y[:, 0] if source.targets.flat and self.y.ndim == 2 else self.y
        weight = source.read_weights()
        self.weight = np.ones(source.count_rows()) if weight is None else host(weight)
        self.fold = fold_of(0, source.count_rows(), folds)
        weights = self.fold_weights(folds)
        if not weights.all():
            raise InvalidParameter(
                f"fold {int(weights.argmin())} of {folds} has none of the {source.count_rows()} rows: use fewer folds"
            )

    def fitted(self, system: AnySystem, k: int) -> Any:
        return clone(system).fit(Fold(self.source, k, self.folds, held_out=False))

    def fit_folds(self, system: AnySystem) -> FoldFits | None:
        return fit_at_once(system, self.source, None, None, self.fold, self.shared)


class StreamedFolds:
    """All rows of a table that is not held in memory, and the fold of each, (N,); classes are given by their indices.

    `classes` : the labels, sorted; None for a regression.
    """

    def __init__(self, source: Source, fold: NDArray[np.int8], classes: NDArray[Any] | None) -> None:
        self.source, self.fold, self.classes = source, fold, classes
        self.shared: dict[Any, Any] = {}

    def fit_folds(self, system: AnySystem) -> FoldFits | None:
        """Return fits of a system that is a sum, to be used on coded rows; None where sums do not do."""
        if not (sums_folds(system) and fits_as_we_do(system)):
            return None
        rows = system._sum_folds(self.source, None, None, self.fold, self.shared, all_but_one)
        if rows is None or (self.classes is not None and not np.array_equal(rows.classes, self.classes)):
            return None
        codes = None if rows.classes is None else np.arange(len(rows.classes))
        return fit_folds(system, rows._replace(columns=InputColumns(rows.columns.count), classes=codes))


def refuse_absorbing(source: Source, what: str) -> None:
    """Refuse rows whose effects are absorbed where some of them are left out."""
    if source.absorb:
        raise InvalidParameter(f"{what} judges systems by folds, whose levels differ: leave out absorb=, and use fit")


def split_rows(
    system: AnySystem,
    x: AnyArray,
    y: TargetsLike,
    sample_weight: WeightsLike,
    folds: Any,
    seed: int,
    offset: OffsetsLike = None,
) -> ArrayRows | SourceRows:
    """Return the rows for a system, split into folds."""
    if isinstance(x, Source):
        if y is not None or sample_weight is not None or offset is not None:
            raise InvalidParameter("a source brings its own targets and weights: give neither y nor sample_weight")
        return SourceRows(x, folds)
    kind = SignalRows if isinstance(system, SignalSystem) else ArrayRows
    rows = kind(x, y, sample_weight, is_classifier(system))
    known = read_offset(offset, None, len(rows.weight))
    rows.offset = None if known is None else known[:, 0]
    return rows.split(folds, seed)


def refuse_offset(system: AnySystem, offset: OffsetsLike) -> None:
    """Refuse an offset for a system that takes none."""
    if offset is not None and not getattr(system, "takes_offset", False):
        raise InvalidParameter(f"{type(system).__name__} takes no offset: use GeneralizedLinear")


def fit(system: AnySystem, x: AnyArray, y: TargetsLike, weight: Array | None, offset: OffsetsLike = None) -> Any:
    """Fit a system, or a pipeline whose last step takes the weights."""
    name = f"{system.steps[-1][0]}__sample_weight" if _is_pipeline(system) else "sample_weight"
    given = {name: weight, "offset": offset}
    return system.fit(x, y, **{name: value for name, value in given.items() if value is not None})


def errors_on(model: AnyModel, rows: Rows, measure: Measure, *parts: Indices) -> list[float]:
    """Return the error of a model on each of some parts of the rows, given by their indices."""
    if rows.whole or not isinstance(rows, ArrayRows):
        assert isinstance(measure, RowLoss)
        losses = measure.losses(model, rows.x, rows.y)
        return [float(np.average(losses[part], weights=rows.weight[part])) for part in parts]
    each = [(rows.with_offset(model, part), *rows.at(part)) for part in parts]
    if isinstance(measure, RowLoss):
        weights = (rows.weight[part] for part in parts)
        return [float(np.average(measure.losses(*one), weights=w)) for one, w in zip(each, weights, strict=True)]
    assert isinstance(measure, Score)
    return [measure.error(*given) for given in each]


def spread(errors: Array, weight: Array) -> float:
    """Return the standard error of the weighted mean of the folds' errors."""
    share = weight / weight.sum()
    mean = share @ errors
    return float(np.sqrt(share @ (errors - mean) ** 2 / (len(errors) - 1)))


def freedom_of(model: AnyModel) -> float:
    """Return the effective number of parameters of a fitted model a target; NaN where it does not say."""
    last = model[-1] if _is_pipeline(model) else model
    if not isinstance(last, LinearSystem):
        return np.nan
    return float(np.concatenate([fit.trace for fit in last._fits]).mean())


class Fits:
    """A count of fits, of a total that may grow: called with a text before each, it calls show(done, total, text)."""

    def __init__(self, total: int, show: Callable[[int, int, str], None]) -> None:
        self.done, self.total, self.show = 0, total, show

    def __call__(self, text: str) -> None:
        self.show(min(self.done, self.total - 1), self.total, text)
        self.done += 1

    def expect(self, more: int) -> None:
        """Add to the total."""
        self.total += more


@contextmanager
def reporting(progress: Progress, title: str, total: int) -> Iterator[Fits]:
    """Give the counter to call before each fit: it shows a line, or calls `progress` with (done, total, text)."""
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


def with_trial(trial: Trial, found: CandidateErrors | None, start: float) -> CandidateErrors:
    """Return the errors of a candidate with its time since `start`, its first warning, and its failure."""
    done = CandidateErrors(failure=trial.failure) if found is None else found
    if not done.failure and not np.isfinite(done.error):
        done = done._replace(failure=f"its error on new rows is {done.error}")
    return done._replace(seconds=perf_counter() - start, warning=(*trial.warnings, "")[0])


def first_line(problem: Any) -> str:
    """Return the first line of the message of an exception or warning."""
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0]


def _on_host(y: TargetsLike) -> Any:
    return host(y) if is_device(y) else np.asarray(y)


def _check_folds(folds: Any, rows: int) -> None:
    WholeNumber(2).check("folds", folds)
    if folds > rows:
        raise InvalidParameter(f"{counted(rows)} cannot be cut into {folds} folds: give more rows, or fewer folds")


def _is_pipeline(model: AnyModel) -> bool:
    """Whether a model is a Pipeline of scikit-learn, of which there is none where its module is not loaded."""
    module = sys.modules.get("sklearn.pipeline")
    return module is not None and isinstance(model, module.Pipeline)
