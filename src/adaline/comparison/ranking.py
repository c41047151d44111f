"""A ranking: systems compared on the same folds, best first, with notes on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from adaline.comparison.classes import Costs, Threshold, cheapest_threshold, held_out_scores
from adaline.comparison.findings import Finding
from adaline.comparison.recommendation import Recommendation, with_error
from adaline.comparison.result import Result
from adaline.comparison.table import Table
from adaline.inference.summary import escaped
from adaline.locks import cached_property
from adaline.results import Certificate
from adaline.selection.table import ErrorTable
from adaline.sources import TableSource
from adaline.wording import counted, four_places, plain, visible

INTERRUPTED = "interrupted before"


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """Systems ranked, one recommended, and findings; prints as its table, the recommendation and the findings.

    Parameters
    ----------
    data : the rows compared on.
    task : "regression" or "classification".
    measure, second_measure : what `error` and `second` of a result are.
    folds, seed : how the rows were cut.
    results : best first, those fitted to a sample after the others, failures last.
    baseline : the mean, or the most frequent class, on the same folds.
    recommendation : which system to use, and why: `headline`, `text`, `system`, `model`.
    findings : what a user should know about the data and the fits, gravest first.
    version : of adaline.
    notes : columns and rows that were left out when the data were opened, in sentences.
    source : the table that was opened, None where there was none.
    costs : of a false positive and a false negative, None where nobody named them.
    """

    data: Table
    task: str
    measure: str
    second_measure: str
    folds: int
    seed: int
    results: list[Result]
    baseline: Result
    recommendation: Recommendation
    findings: list[Finding]
    version: str
    notes: tuple[str, ...] = ()
    source: TableSource | None = None
    costs: Costs | None = None

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the comparison before its end."""
        return any(text.startswith(INTERRUPTED) for text in self.notes)

    @property
    def recommended(self) -> Result | None:
        """How the recommended system did; None if every system failed."""
        return self.recommendation.result

    @property
    def title(self) -> str:
        """One line on the comparison."""
        (n, d), groups = self.data.X.shape, len(self.data.groups())
        source = f"{self.data.source}: " if self.data.source else ""
        columns = counted(groups, "column") + (f" ({d} coded)" if d != groups else "")
        cut = "leave-one-out" if self.folds == n else f"{self.folds} folds"
        gaps = f"; {self.data.gaps}" if self.data.gaps else ""
        return f"{source}{self.data.target} from {columns}, {n:,} rows, {cut}{gaps}"

    @cached_property
    def table(self) -> ErrorTable:
        """One row per system, in the order of `results`, the baseline last; the one recommended is marked >."""
        shown = [*self.results, self.baseline]
        head = ["", "system", self.measure, self.second_measure, "fit", "certificate"]
        rows = [
            {
                "system": result.label,
                "error": result.error,
                "std_error": result.std_error,
                self.second_measure.replace(" ", "_"): result.second,
                "train_error": result.train_error,
                "seconds": result.seconds,
                "certificate": "" if result.certificate is None else status_text(result.certificate),
                "recommended": result is self.recommended and self.recommendation.useful,
                "judged_rows": result.judged_rows,
                "budget": result.budget,
                "failure": result.failure,
            }
            for result in shown
        ]
        notes = [f"{result.label} failed: {result.failure}" for result in shown if result.failure]
        lines = [self._line(result) for result in shown]
        return ErrorTable(self.title, head, lines, rows, notes, ends=1, sections=self.sections)

    @property
    def sections(self) -> dict[int, str]:
        """Headings in `table` by the index of the row that each stands above; none where all systems are comparable."""
        own = sections(self.results, self.baseline.judged_rows)
        return {**own, len(self.results): "baseline"} if set(own.values()) - {"failed"} else {}

    @cached_property
    def threshold(self) -> Threshold | None:
        """The threshold of the recommended system that costs least on rows held out; None where no costs were named."""
        best = self.recommended
        if self.costs is None or best is None:
            return None
        scores = held_out_scores(best, self.data)
        if scores is None or best.predicted is None:
            return None
        known = best.probability is not None
        return cheapest_threshold(self.costs, self.data.y, best.predicted, scores, self.data.weight, known)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the rows and the models as plain values, for JSON."""
        n, d = self.data.X.shape
        return {
            "source": self.data.source,
            "target": self.data.target,
            "command": self.data.command,
            "task": self.task,
            "rows": n,
            "total_rows": max(n, self.data.total_rows),
            "dropped_rows": self.data.dropped,
            "columns": d,
            "features": list(dict.fromkeys(self.data.origin)),
            "left_out": {
                **dict.fromkeys(self.data.constant, "holds the same value in every row"),
                **{one["name"]: one["note"] for one in self.data.columns if one["role"] == "left out"},
            },
            "folds": self.folds,
            "gaps": self.data.gaps,
            "seed": self.seed,
            "measure": self.measure,
            "second_measure": self.second_measure,
            "results": [result.to_dict() for result in self.results],
            "baseline": self.baseline.to_dict(),
            "headline": self.recommendation.headline,
            "recommended": self.recommendation.system,
            "useful": self.recommendation.useful,
            "reason": self.recommendation.text,
            "findings": [finding.to_dict() for finding in self.findings],
            "notes": list(self.notes),
            "threshold": None if self.threshold is None else plain(self.threshold._asdict()),
            "version": self.version,
        }

    def __str__(self) -> str:
        notes = [f"note: {text}" for text in self.notes]
        cheapest = [] if self.threshold is None else [str(self.threshold)]
        told = [str(self.recommendation), *cheapest, *map(str, self.findings), *notes]
        return visible("\n".join([str(self.table), "", *told]))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        advice = self.recommendation
        lines = [
            f"<p><b>{escaped(advice.headline)}.</b> {escaped(advice.text)}</p>",
            *([] if self.threshold is None else [f"<p>{escaped(str(self.threshold))}</p>"]),
            *(f"<p><b>{f.severity}: {escaped(f.title)}.</b> {escaped(f.text)}</p>" for f in self.findings),
            *(f"<p>note: {escaped(text)}</p>" for text in self.notes),
        ]
        return self.table._repr_html_() + "".join(lines)

    def _line(self, result: Result) -> list[str]:
        mark = ">" if result is self.recommended and self.recommendation.useful else ""
        if result.failure:
            return [mark, result.label, "failed", "", "", ""]
        return [
            mark,
            result.label,
            with_error(result, self.measure),
            four_places(result.second),
            f"{result.seconds:.2g} s",
            "baseline" if result.certificate is None else certificate_text(result),
        ]


def status_text(proof: Certificate) -> str:
    """Return the status of a certificate, with the digits where they are known: "solved, 13.8 digits"."""
    return str(proof.status) + ("" if np.isnan(proof.digits) else f", {proof.digits:.1f} digits")


def certificate_text(result: Result) -> str:
    """Return the status of a result, and its budget: "not converged, after 1 epoch of 289,262 rows"."""
    assert result.certificate is not None
    return status_text(result.certificate) + (f", {result.budget}" if result.budget else "")


def rank(result: Result) -> tuple[bool, int, bool, float, float]:
    """Order by error, then by log loss where there is one; R^2 says nothing that the error has not said.

    Systems judged on fewer rows, or fitted to a sample, come after the others, as their errors are not comparable.
    """
    if result.failure:
        return (True, 0, False, np.inf, np.inf)
    second = np.inf if np.isnan(result.second) else result.second
    return (False, -result.judged_rows, result.sampled, result.error, second)


def section_of(result: Result, rows: int) -> str:
    """Return the heading in the table that a result stands under, "" for systems fitted to and judged on all rows."""
    if result.failure:
        return "failed"
    if result.judged_rows < rows:
        return f"judged on {result.judged_rows:,} of {counted(rows)}"
    return "fitted to a sample, judged on the same rows" if result.sampled else ""


def sections(results: Sequence[Result], rows: int) -> dict[int, str]:
    """Return the headings between sorted results, by the index of the result that each stands above."""
    names = ["", *(section_of(result, rows) for result in results)]
    return {i: name for i, (before, name) in enumerate(pairwise(names)) if name != before}
