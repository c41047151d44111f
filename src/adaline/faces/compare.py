"""The main job: every system that suits the target, cross-validated side by side, ranked, and one recommended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor

from adaline import __version__
from adaline.errors import InvalidParameter
from adaline.faces.choice import amount, choose, with_error
from adaline.faces.findings import Finding, findings
from adaline.faces.table import REGRESSION, Table
from adaline.faces.trial import Result, Trial
from adaline.systems import SYSTEMS
from adaline.systems.choosing.rows import dealt

Progress = Callable[[int, int, str], None]

MEASURES = {"regression": ("RMSE", "R²"), "classification": ("error rate", "log loss")}


@dataclass(frozen=True, eq=False)
class Comparison:
    """What `compare` found.

    Parameters
    ----------
    table : the rows compared upon.
    task : "regression" or "classification".
    measure, second_measure : what `error` and `second` of a result are.
    folds, seed : how the rows were cut.
    results : best first, failures last.
    baseline : the mean, or the most frequent class, on the same folds.
    recommended : one of the results; None if every system failed.
    reason : why, in a sentence.
    findings : what was seen in the data and the fits that a user should know, gravest first.
    version : of adaline.
    """

    table: Table
    task: str
    measure: str
    second_measure: str
    folds: int
    seed: int
    results: list[Result]
    baseline: Result
    recommended: Result | None
    reason: str
    findings: list[Finding]
    version: str

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the rows and the models as plain values, for JSON."""
        n, d = self.table.X.shape
        return {
            "source": self.table.source,
            "target": self.table.target,
            "command": self.table.command,
            "task": self.task,
            "rows": n,
            "total_rows": max(n, self.table.total_rows),
            "columns": d,
            "folds": self.folds,
            "seed": self.seed,
            "measure": self.measure,
            "second_measure": self.second_measure,
            "results": [result.to_dict() for result in self.results],
            "baseline": self.baseline.to_dict(),
            "recommended": None if self.recommended is None else self.recommended.label,
            "reason": self.reason,
            "findings": [finding.to_dict() for finding in self.findings],
            "version": self.version,
        }

    def __str__(self) -> str:
        n, d = self.table.X.shape
        shown = [*self.results, self.baseline]
        head = ["", "system", self.measure, self.second_measure, "seconds", "certificate"]
        cells = [head, *(self._line(result) for result in shown)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells]
        where = f"{self.table.source}: " if self.table.source else ""
        return "\n".join(
            [
                f"{where}{self.table.target} from {d} column{'s' if d != 1 else ''}, {n} rows, {self.folds} folds",
                "",
                lines[0],
                "-" * max(map(len, lines)),
                *lines[1:],
                "",
                self.reason,
                *(f"{finding.severity}: {finding.title}. {finding.text}" for finding in self.findings),
            ]
        )

    def _line(self, result: Result) -> list[str]:
        mark = ">" if result is self.recommended else ""
        if result.failure:
            return [mark, result.label, "failed", "", "", result.failure]
        proof = result.certificate
        return [
            mark,
            result.label,
            with_error(result, self.measure),
            "-" if np.isnan(result.second) else f"{result.second:.4f}",
            f"{result.seconds:.2g}",
            "baseline" if proof is None else standing(proof),
        ]


def compare(
    table: Table,
    *,
    folds: int = 5,
    seed: int = 0,
    systems: Sequence[str] | None = None,
    task: str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Cross-validate the systems that suit the target on the same folds, rank them and recommend one.

    Regressions are judged by the root mean squared error on rows held out, classifiers by their share of wrong labels.
    Each system is fitted `folds` times on the other folds and once on all rows.

    Parameters
    ----------
    table : the rows.
    folds : number of folds; classes are dealt evenly among them.
    seed : of the cut.
    systems : names from SYSTEMS, where not all that suit are wanted.
    task : "regression" or "classification", where the type of the target does not say what is meant.
    progress : called as progress(done, total, text) before each fit, and once at the end.

    Examples
    --------
    >>> from adaline import datasets
    >>> from adaline.faces.compare import compare
    >>> from adaline.faces.table import Table
    >>> data = datasets.load("penguins")
    >>> found = compare(Table.of(data.X, data.y, names=data.feature_names, target="species"))
    >>> found.task, found.results[0].error < 0.02 < found.baseline.error
    ('classification', True)
    >>> found.recommended.label
    'GaussianClassifier'
    """
    kind = table.task(task)
    table.check(kind, folds)
    table = _normalised(table, kind)
    dummy = DummyRegressor if kind == REGRESSION else DummyClassifier
    name = "the mean" if kind == REGRESSION else "the most frequent class"
    trials = [Trial(name, {}, dummy, table, kind)]
    trials += [Trial(name, settings, SYSTEMS[name], table, kind) for name, settings in _suited(kind, systems)]
    fold = dealt(len(table.y), folds, seed, None if kind == REGRESSION else table.y)
    done, total = 0, len(trials) * (folds + 1)

    def tell(text: str) -> None:
        nonlocal done
        if progress is not None:
            progress(done, total, text)
        done += 1

    for k in range(folds):
        for trial in trials:
            tell(f"fold {k + 1} of {folds}: {trial.system}")
            trial.fold(fold == k)
    tell(f"all rows: {trials[0].system}")
    baseline = trials[0].finish(None)
    results = []
    for trial in trials[1:]:
        tell(f"all rows: {trial.system}")
        results.append(trial.finish(baseline.predicted))
    if progress is not None:
        progress(total, total, "done")
    results.sort(key=_rank)
    measure, second = MEASURES[kind]
    recommended, reason = choose(results, baseline, measure)
    seen = findings(table, kind, results, recommended)
    return Comparison(
        table, kind, measure, second, folds, seed, results, baseline, recommended, reason, seen, __version__
    )


def standing(proof: Any) -> str:
    """Return a certificate in three words: its status, and the digits where they are known."""
    return str(proof.status) + ("" if np.isnan(proof.digits) else f", {proof.digits:.1f} digits")


def suited(task: str) -> list[str]:
    """Return the names of the systems that `compare` tries for a task.

    Examples
    --------
    >>> from adaline.faces.compare import suited
    >>> suited("regression")[:2]
    ['LinearRegression', 'Ridge']
    """
    is_kind = is_regressor if task == REGRESSION else is_classifier
    return [name for name, cls in SYSTEMS.items() if cls.compared and is_kind(cls())]


def _suited(task: str, wanted: Sequence[str] | None) -> list[tuple[str, dict[str, Any]]]:
    names = suited(task)
    if wanted is not None:
        for name in wanted:
            if name not in names:
                why = f"does not suit {task}" if name in SYSTEMS else "is not known"
                raise InvalidParameter(f"system {name!r} {why}; there are: {', '.join(names)}")
        names = [name for name in names if name in wanted]
    return [(name, settings) for name in names for settings in SYSTEMS[name].compared]


def _normalised(table: Table, task: str) -> Table:
    """Return the table with y as numbers or labels, and without rows of no weight."""
    y = table.y
    if task == REGRESSION:
        y = y.astype(np.float64)
    elif y.dtype.kind == "f":
        y = y.astype(np.int64) if (y == np.floor(y)).all() else y.astype(str)
    elif y.dtype.kind not in "iubU":
        y = y.astype(str)
    if table.weight is None or (table.weight > 0).all():
        return replace(table, y=y)
    kept = table.weight > 0
    return replace(table, X=table.X[kept], y=y[kept], weight=table.weight[kept])


def _rank(result: Result) -> tuple[bool, float, float]:
    """Order by error, then by log loss where there is one; R^2 says nothing that the error has not said."""
    second = np.inf if np.isnan(result.second) else result.second
    return (bool(result.failure), np.inf if result.failure else result.error, second)


__all__ = [
    "Comparison",
    "Finding",
    "Progress",
    "Result",
    "Table",
    "amount",
    "compare",
    "standing",
    "suited",
    "with_error",
]
