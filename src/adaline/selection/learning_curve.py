"""`learning_curve`: how training errors and errors on new rows change with the number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, OffsetsLike, RowsLike, TargetsLike, WeightsLike
from adaline.errors import InvalidData, InvalidParameter
from adaline.fitted import AnyModel, AnySystem
from adaline.input.labels import Labels
from adaline.locks import cached_property
from adaline.selection.cross_validation import (
    ArrayRows,
    CrossValidation,
    Indices,
    Progress,
    Trial,
    errors_on,
    refuse_offset,
    reporting,
    split_rows,
    spread,
)
from adaline.selection.measures import InformationCriterion, measure_of, refuse_no_targets
from adaline.selection.table import ErrorTable, grouped_notes
from adaline.sources import Source
from adaline.systems.families.filter import SignalSystem
from adaline.wording import counted, number

CURVE_SIZES = 8  # training sizes of a curve, in equal ratios; doubling it takes twice as long
SMALLEST_SIZE = 10  # rows of the smallest training set; doubling it leaves out the steep start of a curve


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve:
    """Errors by number of rows learned from; prints as its table.

    Parameters
    ----------
    sizes : numbers of rows, ascending, (m,).
    training, validation : error on these rows, and on rows held out, means over the folds, (m,); NaN where one failed.
    training_std_error, std_error : standard errors of both.
    measure : what the error is. folds : how often each size was tried.
    failures, warnings : (m,) one line where a fit failed, or warned, else "".
    """

    sizes: NDArray[np.intp]
    training: Array
    validation: Array
    training_std_error: Array
    std_error: Array
    measure: str
    folds: int
    failures: Sequence[str]
    warnings: Sequence[str]

    @cached_property
    def table(self) -> ErrorTable:
        """One row a size."""
        names = ("training", "training_std_error", "validation", "std_error")
        columns = [getattr(self, name) for name in names]
        cells = [[f"{n:,}", *map(number, row)] for n, *row in zip(self.sizes.tolist(), *columns, strict=True)]
        rows = [
            {"rows": n, **dict(zip(names, map(float, row), strict=True)), "failure": failure}
            for n, failure, *row in zip(self.sizes.tolist(), self.failures, *columns, strict=True)
        ]
        title = f"{self.measure} by number of rows learned from, {self.folds} folds"
        texts = zip(self.sizes.tolist(), self.failures, self.warnings, strict=True)
        notes = grouped_notes([(counted(n), failed or warned) for n, failed, warned in texts])
        return ErrorTable(
            title, ["rows", "training", "std. error", "new rows", "std. error"], cells, rows, notes, left=0
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain values."""
        return {"measure": self.measure, "folds": self.folds, **self.table.to_dict()}

    def __str__(self) -> str:
        return str(self.table)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def learning_curve(
    system: AnySystem,
    X: RowsLike,
    y: TargetsLike = None,
    *,
    sizes: Any = None,
    sample_weight: WeightsLike = None,
    folds: int = 10,
    scoring: Any = None,
    random_state: int = 0,
    progress: Progress = None,
    offset: OffsetsLike = None,
) -> LearningCurve:
    """Fit a system to more and more rows and follow its error on them and on rows held out.

    Where both errors meet, more rows will not help, but a richer family may; where they are far apart, more rows or a
    poorer family (a larger penalty, fewer terms) will. Rows are held out fold by fold; of the others, which are
    shuffled, the first 10, 20, ... are learned from, each class by its share.

    Parameters
    ----------
    system : a system or any scikit-learn estimator.
    X, y : rows in memory and their targets, as for `fit`.
    sizes : numbers of rows, or shares of those not held out; None: 8 sizes from 10 rows to all, evenly on a log scale.
    sample_weight : weights of the rows.
    folds, scoring, random_state, progress : as for `select`.
    offset : a known part of each row's output, (n,), for systems that take one: see `GeneralizedLinear.fit`.

    Returns
    -------
    LearningCurve : `sizes`, `training`, `validation`, `training_std_error`, `std_error`, `table`.

    Examples
    --------
    >>> from adaline import LinearRegression, datasets, learning_curve
    >>> data = datasets.load("penguins", target="body_mass_g")
    >>> curve = learning_curve(LinearRegression(), data.X, data.y, sizes=[10, 30, 100, 290])
    >>> bool(curve.training[0] < curve.validation[0]), bool(curve.validation[-1] < curve.validation[0])
    (True, True)

    References
    ----------
    Lecture S4, a richer class of functions: overfitting. Cost: folds times sizes fits.
    """
    if isinstance(X, Source):
        raise InvalidParameter(
            "a learning curve needs rows in memory: give arrays or a frame instead of a source, "
            "and what it was opened with as y, sample_weight= and offset="
        )
    if isinstance(system, SignalSystem):
        raise InvalidParameter(f"{type(system).__name__} learns from signals in their order, not from some of the rows")
    refuse_no_targets(system, y)
    measure = measure_of(system, scoring)
    if isinstance(measure, InformationCriterion):
        raise InvalidParameter(f"{measure.name} judges the fit to all rows: use another scoring")
    refuse_offset(system, offset)
    rows = split_rows(system, X, y, sample_weight, folds, random_state, offset)
    assert isinstance(rows, ArrayRows)
    wanted = read_sizes(sizes, len(rows.fold) - int(np.bincount(rows.fold).max()))

    def judge(model: AnyModel, learned: Indices, held_out: Indices) -> list[float]:
        return errors_on(model, rows, measure, learned, held_out)

    runs, sums = [CrossValidation(system, rows, judge) for _ in wanted], Trial()
    with reporting(progress, "learning curve", folds * len(wanted)) as before_fit:
        for k in range(folds):
            order = shuffled(np.flatnonzero(rows.fold != k), rows.y if rows.classes else None, random_state)
            parts = np.split(order[: wanted[-1]], wanted[:-1])
            models = sums.attempt(partial(rows.fit_growing, system, parts))
            for i, (size, run) in enumerate(zip(wanted.tolist(), runs, strict=True)):
                before_fit(f"{counted(size)}, fold {k + 1} of {folds}")
                run.fold(k, order[:size], None if models is None else models[i])
    failures, warned = [run.failure for run in runs], [(*run.warnings, "")[0] for run in runs]
    if all(failures):
        raise InvalidData(f"no size could be fitted; {counted(int(wanted[-1]))}: {failures[-1]}")
    errors = np.array([np.full((folds, 2), np.nan) if run.failure else run.judged for run in runs])
    weight = rows.fold_weights(folds)
    mean = np.einsum("ikj,k->ji", errors, weight / weight.sum())
    spreads = [np.array([spread(one, weight) for one in errors[:, :, j]]) for j in (0, 1)]
    return LearningCurve(wanted, mean[0], mean[1], spreads[0], spreads[1], measure.name, folds, failures, warned)


def read_sizes(sizes: Any, most: int) -> Indices:
    """Return numbers of rows from numbers or shares, ascending and different.

    Examples
    --------
    >>> from adaline.selection.learning_curve import read_sizes
    >>> read_sizes([0.5, 1.0, 20], 90).tolist()
    [20, 45, 90]
    """
    if sizes is None:
        return np.unique(np.geomspace(min(SMALLEST_SIZE, most), most, CURVE_SIZES).round().astype(np.intp))
    try:
        given = list(sizes)
    except TypeError:
        raise InvalidParameter(f"sizes must be a list of numbers or shares of rows, got {sizes!r}") from None
    out = []
    for one in given:
        if one is not True and isinstance(one, Integral) and 1 <= int(one) <= most:
            out.append(int(one))
        elif isinstance(one, Real) and not isinstance(one, Integral) and 0 < float(one) <= 1:
            out.append(max(1, int(float(one) * most)))
        else:
            raise InvalidParameter(
                f"sizes must be whole numbers from 1 to {most}, the rows not held out, or shares of them, got {one!r}"
            )
    if not out:
        raise InvalidParameter("sizes is empty: give numbers of rows, or shares")
    return np.unique(np.array(out, dtype=np.intp))


def shuffled(indices: Indices, labels: Labels | None, seed: int) -> Indices:
    """Return indices shuffled such that every first part of them has the classes by their shares."""
    order = np.random.default_rng(seed).permutation(indices)
    if labels is None:
        return order
    _, codes, counts = np.unique(labels[order], return_inverse=True, return_counts=True)
    share = np.empty(len(order))
    for k, count in enumerate(counts):
        share[codes == k] = (np.arange(count) + 0.5) / count
    return order[np.argsort(share, kind="stable")]
