"""`compare`: every system that suits a target, cross-validated on the same folds, ranked, and one recommended."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline import __version__
from adaline.arrays import DataLike, TargetsLike
from adaline.comparison.budget import FitBudget, budget_of, takes_too_long
from adaline.comparison.classes import Costs
from adaline.comparison.findings import Finding, findings, mistyped_columns, nearly_numbers_text, varies_as_counts
from adaline.comparison.gaps import compare_policies
from adaline.comparison.open_data import DataRequest, OpenedData
from adaline.comparison.ranking import INTERRUPTED, Ranking, rank
from adaline.comparison.recommendation import recommend
from adaline.comparison.result import Result, SystemTrial, system_label
from adaline.comparison.suspects import ComparedSystem, inspect_rows
from adaline.comparison.table import (
    CLASSIFICATION,
    REGRESSION,
    ReadData,
    Table,
    Task,
    describe_columns,
    read_data,
    sample_table,
    suits,
    told_task,
    with_levels,
)
from adaline.errors import InvalidData, InvalidParameter, InvalidType
from adaline.estimator import is_classifier, is_regressor
from adaline.fitted import sums_folds
from adaline.results import some
from adaline.selection.cross_validation import ArrayRows, Progress, StreamedFolds, reporting
from adaline.selection.folds import fold_count
from adaline.sources import Source, TableSource
from adaline.sources.tables.rows import TableRows
from adaline.sources.threads import blas_threads_for
from adaline.sources.views import assign_folds
from adaline.systems import SYSTEMS, system_name
from adaline.wording import counted

OnResult = Callable[[Result, str], None]
"""Called with each result as it is found, and with the name of its error."""
SoFar = Callable[[], "Comparison | None"]
"""Returns the comparison of the systems finished so far, None before the first."""
OnStart = Callable[[SoFar], None]
# classes beyond which only systems given by name are compared; doubling it may take four times as long
MOST_COMPARED_CLASSES = 200
MANY_CLASSES, ROWS_A_CLASS = 50, 5  # the same beyond so many classes if they have fewer rows each than this
MEASURES = {"regression": ("RMSE", "R²"), "classification": ("error rate", "log loss")}


def compare(
    data: DataLike,
    target: str | None = None,
    *,
    drop: Sequence[str] = (),
    folds: int | None = None,
    systems: Sequence[str] | None = None,
    task: Task | None = None,
    random_state: int = 0,
    thorough: bool = False,
    progress: Progress = None,
    cost: Any = None,
    **options: Any,
) -> Comparison:
    """Cross-validate every system that suits the target on the same folds, rank them, and recommend one.

    Regressions are judged by the root mean squared error on rows held out, classifiers by their share of wrong labels.
    Each system is fitted to all folds but each one in turn, and to all rows; systems that are sums in one read. Columns
    that cannot be used as they are stay out, and the result says which; rows are sampled where there are too many for
    memory.

    Parameters
    ----------
    data : path, glob, SQL query, name of a bundled data set, pandas, polars or Arrow frame, or dict of columns
        As for `open_table`.
    target : name
        What to predict: numbers, or labels. Two different whole numbers are two classes.
    drop : list of names
        Columns to leave out.
    folds : int or None
        Number of folds; classes are dealt evenly among them. None: 5, or leave-one-out for fewer than 20 rows, where
        the errors of all rows held out are taken together.
    systems : list of names, or None
        Systems to compare, as "Ridge"; None: all that suit the target.
    task : "regression", "classification" or None
        None: as the target says.
    random_state : int
        Of the cut into folds, and of samples.
    thorough : bool
        Whether systems that learn row by row, or take many passes, are fitted to all rows for as many epochs as they
        ask for, and likelihoods that take long for many classes are included; otherwise the former are held to a
        budget, shown in the table, and the latter are left out, with a note.
    progress : bool, function or None
        Whether to show progress; a function is called as progress(done, total, text). None: where there is a terminal.
    cost : dict {"fp": a, "fn": b} or None
        Of two classes: what a false positive and a false negative cost. The result then has `threshold`, the one of the
        recommended system that costs least on rows held out. Positive is the rarer class, or the second in order.
    **options : those of `open_table`
        `features` (without it, all columns that can be used), `weight`, `categories`, `dates`, `unseen`, `formula`,
        `table`, and `missing`: "drop", "mean" or "indicator"; without it, rows with missing values are left out, or,
        where that would lose more than 5% of them, filled and marked as by "indicator". The means that "indicator"
        fills in are those of the training rows of each fold.

    Returns
    -------
    Comparison : `table`, `recommendation`, `findings`, `notes` (what was left out), `results`, `baseline`;
        `report(path)` writes an HTML file with pictures, `fit()` fits the recommended system to all rows.

    Examples
    --------
    >>> import adaline
    >>> found = adaline.compare("penguins", target="species", systems=["GaussianClassifier", "Perceptron"])
    >>> found.recommendation.headline
    'Use GaussianClassifier'
    >>> found.table[0]["error"] < 0.02 < found.baseline.error
    True
    >>> found.fit().score(adaline.open_table("penguins", target="species")) > 0.98
    True

    References
    ----------
    Lectures S0 to S4: the systems. L. Breiman et al., Classification and Regression Trees (1984), section 3.4.3 (one
    standard error). Cost: one read of the rows for all systems that are sums together, folds + 1 fits for each
    other one.
    """
    if isinstance(data, Source):
        raise InvalidType(
            f"compare opens the data itself, and {type(data).__name__} is open: give the path, the query or the frame, "
            "with the options of open_table"
        )
    request = DataRequest.of(data, target=target, drop=drop, **options)
    how = CompareOptions(folds, random_state, systems, task, thorough, cost)
    return compare_request(request, how, progress)


@dataclass(frozen=True)
class CompareOptions:
    """How to compare systems: the arguments of `compare` that do not concern the data."""

    folds: int | None = None
    seed: int = 0
    systems: Sequence[str] | None = None
    task: Task | None = None
    thorough: bool = False
    cost: Any = None


def compare_request(
    request: DataRequest,
    options: CompareOptions,
    progress: Progress = None,
    on_result: OnResult | None = None,
    reading: Future[ReadData] | None = None,
    on_start: OnStart | None = None,
) -> Comparison:
    """Open the data asked for and compare systems on them.

    `reading` : the data, where they are being read already. `on_start` : see `compare_table`.
    """
    costs = None if options.cost is None else Costs.of(options.cost)
    given = [options.systems] if isinstance(options.systems, str) else options.systems or ()
    names = [system_name(name) for name in given]
    asked = options.task or _task_of(names)

    def task_of(opened: OpenedData) -> Task:
        kind = told_task(opened, asked)
        if options.task is None and kind == CLASSIFICATION and not (opened.labels or opened.few):
            raise InvalidParameter(
                f"{names[0]} predicts labels, but {opened.target} holds numbers: name regression systems, or give "
                f"{request.option('task', 'classification')} if each number is a class"
            )
        return kind

    list(SYSTEMS.values())  # imports them while the data are read
    opened, table = read_data(request, task_of, options.seed, options.folds) if reading is None else reading.result()
    kind = task_of(opened)
    notes = list(opened.notes)
    if asked is None and opened.few:
        notes.append(
            f"{opened.target} has only {opened.few} different whole numbers and is treated as a quantity; if they "
            f"are classes, give {request.option('task', 'classification')}"
        )
    if kind == CLASSIFICATION and not names:
        _refuse_many_classes(table, request)
    if costs is not None:
        costs.check(kind, table.y)

    def whole(found: Comparison) -> Comparison:
        headline, known = found.recommendation.headline, list[Finding]()
        if nearly := nearly_numbers_text(opened.nearly_numbers):
            headline, known = f"{headline}; {nearly}", [mistyped_columns(opened.nearly_numbers)]
        return replace(
            found,
            notes=(*notes, *found.notes),
            source=opened.source,
            costs=costs,
            findings=[*known, *found.findings],
            recommendation=replace(found.recommendation, headline=headline),
        )

    def start(so_far: SoFar) -> None:
        if on_start is not None:
            on_start(lambda: None if (found := so_far()) is None else whole(found))

    found = compare_table(
        table,
        folds=options.folds,
        seed=options.seed,
        systems=names or None,
        task=kind,
        thorough=options.thorough,
        progress=progress,
        on_result=on_result,
        on_start=start,
        describe=partial(describe_columns, opened),
        read_filled=partial(_read_filled, opened, kind, options.seed) if opened.drops_gaps else None,
    )
    return whole(found)


def compare_table(
    table: Table,
    *,
    folds: int | None = None,
    seed: int = 0,
    systems: Sequence[str] | None = None,
    task: Task | None = None,
    thorough: bool = False,
    progress: Progress = False,
    on_result: OnResult | None = None,
    on_start: OnStart | None = None,
    describe: Callable[[], list[dict[str, Any]]] | None = None,
    read_filled: Callable[[], Table] | None = None,
) -> Comparison:
    """Compare systems on rows in memory; see `compare`.

    `describe` returns `Table.columns`, once the systems are compared; `read_filled` all rows with their gaps filled and
    marked, where those with gaps were left out. `on_start` is called before the first system, with a function that
    returns the comparison of the systems finished so far, without findings, or None; other threads may call it while
    systems are fitted.

    Examples
    --------
    >>> from adaline import datasets
    >>> from adaline.comparison.compare import compare_table
    >>> from adaline.comparison.table import Table
    >>> data = datasets.load("penguins")
    >>> found = compare_table(Table.of(data.X, data.y, names=data.feature_names, target="species"))
    >>> found.task, found.results[0].error < 0.02 < found.baseline.error
    ('classification', True)
    >>> found.recommended.label
    "LogisticRegression(penalty='auto')"
    """
    kind = table.task(task)
    table.check(kind)
    light = 0 if table.weight is None else int(np.count_nonzero(table.weight == 0))
    notes = [f"{counted(light)} of weight 0 {'is' if light == 1 else 'are'} left out"] if light else []
    table = _normalised(table, kind)
    folds = fold_count(folds, len(table.y))
    table, rows, classes, stream = _in_folds(table, kind, folds, seed)
    chosen, left_out = _candidates(table, kind, systems, thorough)
    notes += left_out
    results: list[Result] = []
    measure, second = MEASURES[kind]

    def comparison(done: list[Result], notes: Sequence[str]) -> Comparison:
        """Return the comparison of some systems, without findings."""
        ordered = sorted(done, key=rank)
        advice = recommend(ordered, baseline, measure, kind == REGRESSION and varies_as_counts(table, ordered))
        found = Comparison(table, kind, measure, second, folds, seed, ordered, baseline, advice, [], __version__)
        return replace(found, notes=tuple(notes))

    def so_far() -> Comparison | None:
        done = list(results)  # another thread may call this while results are added
        left = dict.fromkeys(one.name for one in chosen[len(done) :])
        note = f"{INTERRUPTED} {some([*left]) if left else 'the end'}"
        return comparison(done, [*notes, note]) if done else None

    with (
        blas_threads_for(min(table.X.shape)),
        reporting(progress, "compare", (1 + len(chosen)) * (folds + 1)) as report,
    ):
        baseline = SystemTrial.of_constant(rows, classes).run(None, report)
        if on_start is not None:
            on_start(so_far)
        try:
            for one in chosen:
                budget = None if thorough else budget_of(one.system, len(table.y), one.width(table))
                streamed = stream if sums_folds(one.system) else None
                if stream is not None and streamed is None:
                    budget = budget or FitBudget()
                    budget = replace(budget, rows=budget.rows or len(table.y))
                trial = one.trial(table, rows, classes, budget, streamed)
                results.append(trial.run(baseline.predicted, report))
                if on_result is not None:
                    on_result(results[-1], measure)
        except KeyboardInterrupt:
            if (found := so_far()) is None:
                raise
            return found
    found = comparison(results, notes)
    try:
        table = table if describe is None else replace(table, columns=describe())
        with blas_threads_for(min(table.X.shape)):
            seen = inspect_rows(table, kind, found.recommendation, chosen)
            advice = seen.amend(found.recommendation)
            known = findings(table, kind, found.results, advice.result, seen)
            for result, one in zip(results, chosen, strict=True):
                if result is advice.result and one.columns is None:
                    known += compare_policies(table, kind, result, one.system, read_filled)
    except KeyboardInterrupt:
        return replace(found, notes=(*notes, f"{INTERRUPTED} the data were examined"))
    return replace(found, data=table, recommendation=advice, findings=known)


def _in_folds(
    table: Table, kind: str, folds: int, seed: int
) -> tuple[Table, ArrayRows, NDArray[Any] | None, StreamedFolds | None]:
    """Return a table in folds, its rows, the classes of labels, and all rows where these are a sample."""
    classes, y = table.classes if kind == CLASSIFICATION else (None, table.y)
    rows = ArrayRows(table.X, y, table.weight, kind == CLASSIFICATION, table.offset, table.filled_columns)
    if table.fold is None:
        rows.fold = assign_folds(len(y), folds, seed, None if classes is None else y)
        table = table.in_folds(rows.sort_by_fold(), rows.x, rows.fold)
    else:
        rows.fold = table.fold
    if table.stream is None or table.X.shape[1] != table.stream[0].shape.features or rows.filled:
        return table, rows, classes, None
    return table, rows, classes, StreamedFolds(*table.stream, classes)


class Comparison(Ranking):
    """What `compare` found: a ranking that is written as a report, and whose best system is fitted to all rows."""

    def report(self, path: str | os.PathLike[str] = "report.html") -> Path:
        """Write the comparison as one HTML file with pictures, and return its path."""
        from adaline.comparison.report import write_report

        return write_report(self, path)

    def fit(self) -> Any:
        """Return the recommended system fitted to all rows of the data, where only a sample was compared too."""
        best = self.recommended
        if best is None:
            raise InvalidParameter("no system could be fitted: there is none to fit to all rows")
        system = SYSTEMS[best.system](**best.settings)
        if self.source is not None:
            return system.fit(self.source if best.columns is None else with_levels(self.source, best.columns.many))
        if best.columns is not None:
            return system.set_params(terms=best.columns.terms(own=True)).fit(
                best.columns.rows_of(self.data), self.data.y, sample_weight=self.data.weight
            )
        return system.fit(self.data.X, self.data.y, sample_weight=self.data.weight)


def systems_for(task: str) -> list[str]:
    """Return the names of the systems that `compare` tries for a task.

    Examples
    --------
    >>> from adaline.comparison.compare import systems_for
    >>> systems_for("regression")[:2]
    ['LinearRegression', 'Ridge']
    """
    return [name for name in SYSTEMS if task in _tasks_of(name)]


def _tasks_of(name: str) -> list[Task | None]:
    """Return the task of each of the settings that a system is compared in, None where it is neither."""
    systems = (SYSTEMS[name](**settings) for settings in SYSTEMS[name].compared)
    return [CLASSIFICATION if is_classifier(one) else REGRESSION if is_regressor(one) else None for one in systems]


def _ready(name: str, settings: dict[str, Any], ranked: list[int] | None) -> Any:
    """Return a system with its settings, and with the order of the classes where it takes one."""
    system = SYSTEMS[name](**settings)
    return system.set_params(classes=ranked) if ranked is not None and _takes_order(name) else system


def _suits_wide(name: str) -> bool:
    """Whether a system is worth comparing where there are no fewer columns than rows."""
    return getattr(SYSTEMS[name], "compared_wide", True)


def _takes_order(name: str) -> bool:
    """Whether a system is about classes that have an order."""
    return getattr(SYSTEMS[name], "compared_ordered", False)


def _chosen_systems(
    task: str, asked: Sequence[str] | None, y: TargetsLike, ordered: bool
) -> list[tuple[str, dict[str, Any]]]:
    """Return the systems to compare, with their settings; a system asked for by name is always among them."""
    names = systems_for(task)
    if asked is not None:
        for name in asked:
            if name not in names:
                why = f"does not suit {task}" if name in SYSTEMS else "is not known"
                raise InvalidParameter(f"system {name!r} {why}; there are: {', '.join(names)}")
        names = [name for name in names if name in asked]
    elif not ordered:
        names = [name for name in names if not _takes_order(name)]
    out = []
    for name in names:
        compared = zip(SYSTEMS[name].compared, _tasks_of(name), strict=True)
        fitting = [settings for settings, kind in compared if kind == task and suits(settings, y)]
        out += [(name, settings) for settings in (fitting or ([] if asked is None else [{}]))]
    return out


def _candidates(
    table: Table, task: str, asked: Sequence[str] | None, thorough: bool
) -> tuple[list[ComparedSystem], list[str]]:
    """Return the systems to compare, those that take least time first, and notes on the ones that are left out."""
    notes: list[str] = []
    (n, d), classes = table.X.shape, table.classes[0] if task == CLASSIFICATION else None
    ranked = None if classes is None else table.ranked
    chosen = [
        ComparedSystem(name, settings, _ready(name, settings, ranked))
        for name, settings in _chosen_systems(task, asked, table.y, ranked is not None)
    ]
    chosen = [posed for one in chosen if (posed := one.with_terms(table, asked is not None)) is not None]
    alone = [name for one in chosen if one.columns is not None for name in one.columns.many]
    if alone:
        notes.append(
            f"{some([repr(name) for name in alone])}: AdditiveModel alone uses it, by partial pooling of levels"
        )
    if table.offset is not None:
        chosen, others = _with_offset(chosen)
        notes.append(f"left out because they take no offset: {some(others)}")
    if asked is None and d >= n:
        unsuited = list(dict.fromkeys(one.name for one in chosen if not _suits_wide(one.name)))
        notes += [f"left out because there are at least as many columns as rows: {some(unsuited)}"] if unsuited else []
        chosen = [one for one in chosen if one.name not in unsuited]
    if asked is None and not thorough:
        count = 0 if classes is None else len(classes)
        long = [one for one in chosen if takes_too_long(one.system, n, one.width(table), count)]
        chosen = [one for one in chosen if one not in long]
        if long:
            labels = some([system_label(one.name, one.settings) for one in long])
            notes.append(
                f"left out because {f'{count} classes by ' if count else ''}{counted(d, 'column')} take too long: "
                f"{labels}; a thorough comparison includes them"
            )
    return sorted(chosen, key=lambda one: not sums_folds(one.system)), notes


def _with_offset(chosen: list[ComparedSystem]) -> tuple[list[ComparedSystem], list[str]]:
    """Return those of some systems that take an offset, and the names of the others; refuse where none does."""
    taking = [one for one in chosen if one.system.takes_offset]
    if not taking:
        raise InvalidParameter(
            "none of the systems for this target takes an offset: ElasticNet is compared on numbers, and "
            "GeneralizedLinear on counts and amounts of zero or more"
        )
    return taking, list(dict.fromkeys(one.name for one in chosen if not SYSTEMS[one.name].takes_offset))


def _normalised(table: Table, task: str) -> Table:
    """Return the table with y as numbers or labels, without rows of no weight and without constant columns."""
    y = table.y
    if task == REGRESSION:
        y = y.astype(np.float64)
    elif y.dtype.kind == "f":
        y = y.astype(np.int64) if (y == np.floor(y)).all() else y.astype(str)
    elif y.dtype.kind not in "iubU":
        y = y.astype(str)
    if table.weight is None or (table.weight > 0).all():
        return replace(table.varying(), y=y)
    kept = table.weight > 0
    indices = np.flatnonzero(kept) if table.indices is None else table.indices[kept]
    rows = max(table.total_rows - int(np.count_nonzero(~kept)), 0)
    offset = None if table.offset is None else table.offset[kept]
    found = replace(table, X=table.X[kept], y=y[kept], weight=table.weight[kept], offset=offset, coded=None)
    return replace(found, indices=indices, total_rows=rows).varying()


def _refuse_many_classes(table: Table, request: DataRequest) -> None:
    """Refuse a target of so many classes that no system learns them, or that all systems would take very long."""
    n, count = len(table.y), len(table.classes[0])
    if count > MOST_COMPARED_CLASSES or (count > MANY_CLASSES and n < ROWS_A_CLASS * count):
        some = request.option("systems", "GaussianClassifier") if request.shell else "systems=['GaussianClassifier']"
        raise InvalidData(
            f"the target {table.target!r} has {count:,} classes in {n:,} rows, too many to compare all systems on: "
            f"choose another column, merge rare classes, or name the systems to compare, as in {some}"
        )


def _read_filled(opened: OpenedData, task: str, seed: int) -> Table:
    """Return all rows that have a target, their gaps filled and marked."""
    spec = replace(opened.spec, missing="indicator")
    filled = replace(opened, spec=spec, source=TableSource(TableRows(opened.source.relation), spec))
    return _normalised(sample_table(filled, task, seed, None), task)


def _task_of(systems: Iterable[str]) -> Task | None:
    """Return "classification" or "regression" where all systems named are of that kind, None where any will do."""
    each: Iterable[set[Task | None]] = (
        set(_tasks_of(name)) or {CLASSIFICATION if is_classifier(SYSTEMS[name]()) else REGRESSION} for name in systems
    )
    kinds = {kind for own in each if len(own) == 1 for kind in own}
    if len(kinds) > 1:
        raise InvalidParameter("systems= names regressions and classifiers: compare one kind at a time")
    return kinds.pop() if kinds else None
