"""Is the system that `compare` recommends as good on new rows as any, and is the reason true? On real tables.

`python -m benchmarks.recommendations [FOLDER [SEED [TABLE ...]]]` splits each table once: systems are compared on 70 %
of the rows (of 20,000 at most) and all of them predict the other 30 %. The best one is the best on those very rows; the
recommended one should be no worse there by more than one standard error. Two are given:

simple  that of the error of the best system, as in the rule of Breiman et al. (1984, section 3.4.3);
paired  that of the difference of the two errors. A row counts with the difference of its losses: 0 or 1 for labels, for
        the root R of a mean square e^2 / (2 R), by the delta method. Much smaller where two systems err on the same
        rows, and the best of a dozen on a few hundred rows is often better by more than that, by chance.

Errors that differ by less than a millionth are the same. What the system with the lowest cross-validated error would
have reached is counted for comparison, and the reason is held against the results by `tests.comparison.reasons`. The
tables are not in the repository.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import adaline
from adaline.comparison.compare import Comparison
from adaline.comparison.result import Result
from benchmarks.report import Table
from tests.comparison.reasons import false_claims

FOLDER = Path("../shared/data/tabular")
MOST, HELD_OUT, SAME = 20_000, 0.3, 1e-6
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """A file without its endings, the column to predict, columns to leave out, and how to read and compare it.

    Columns of a file without a heading are x0, x1, ...; `skip` is how many lines come before the rows.
    """

    file: str
    target: str
    drop: tuple[str, ...] = ()
    missing: str | None = None
    task: str | None = None
    heading: bool = True
    skip: int = 0
    quote: str = '"'

    def read(self, folder: Path, seed: int) -> pd.DataFrame:
        """Return at most MOST rows in random order."""
        path = next(folder.glob(f"{self.file}.?sv.gz"))
        frame = pd.read_csv(
            path,
            sep="\t" if ".tsv" in path.name else ",",
            header=0 if self.heading else None,
            skiprows=self.skip,
            na_values="?",
            skipinitialspace=True,
            quotechar=self.quote,
        )
        if not self.heading:
            frame.columns = [f"x{j}" for j in range(frame.shape[1])]
        order = np.random.default_rng(seed).permutation(len(frame))[:MOST]
        return frame.iloc[order].reset_index(drop=True)


ROWS = ("rownames",)
TABLES = [
    Case("CPSSW8", "earnings", ROWS),
    Case("CreditCard", "card", (*ROWS, "share", "expenditure")),
    Case("Default", "default", ROWS),
    Case("Mroz", "lfp", ROWS),
    Case("Pima.te", "type", ROWS),
    Case("Pima.tr", "type", ROWS),
    Case("abalone", "x8", heading=False),
    Case("adult-test", "x14", missing="drop", heading=False),
    Case("adult-train", "x14", missing="drop", heading=False),
    Case("banknote", "x4", heading=False),
    Case("birthwt", "low", (*ROWS, "bwt")),
    Case("boston-housing", "x13", heading=False),
    Case("breast-cancer-wisconsin", "x10", ("x0",), missing="drop", heading=False),
    Case("california-housing", "median_house_value", missing="mean"),
    Case("covtype-first10000", "Cover_Type", task="classification"),
    Case("crabs", "sp", (*ROWS, "index")),
    Case("diamonds", "price"),
    Case("elec", "class"),
    Case("faithful", "waiting", ROWS),
    Case("german-credit", "x20", heading=False),
    Case("glass", "x9", task="classification", heading=False),
    Case("haberman", "x3", heading=False),
    Case("higgs-subset.test", "x0", heading=False),
    Case("higgs-subset.train", "x0", heading=False),
    Case("ionosphere", "x34", heading=False),
    Case("iris", "Species", ROWS),
    Case("mammography", "x6", heading=False, quote="'"),
    Case("penguins", "species", ROWS, missing="indicator"),
    Case("phoneme", "x5", heading=False),
    Case("pima", "x8", heading=False),
    Case("sklearn-breast_cancer", "x30", heading=False, skip=1),
    Case("sonar", "x60", heading=False),
    Case("spambase", "x57", heading=False),
    Case("synth.te", "yc", ROWS),
    Case("synth.tr", "yc", ROWS),
    Case("winequality-red", "x11", heading=False),
    Case("winequality-white", "x11", heading=False),
]


@dataclass(frozen=True)
class HeldOut:
    """A comparison, and the losses of its systems on rows that it never saw.

    Parameters
    ----------
    found : the comparison.
    losses : label -> (m,) squared errors, or 1 for a wrong label.
    seconds : that the comparison took.
    """

    found: Comparison
    losses: dict[str, Array]
    seconds: float

    def error(self, label: str) -> float:
        """Return the root mean squared error, or the share of wrong labels."""
        mean = float(self.losses[label].mean())
        return mean if self.found.task == "classification" else float(np.sqrt(mean))

    @property
    def best(self) -> str:
        """The system with the lowest error; the recommended one where several have it."""
        return min(self.losses, key=lambda label: (self.error(label), label != self.found.recommendation.system))

    def std_error(self, label: str, other: str | None = None) -> float:
        """Return the standard error of an error, or of its difference to that of another system."""
        apart = self._influence(label) - (0.0 if other is None else self._influence(other))
        return float(apart.std(ddof=1) / np.sqrt(len(apart)))

    def _influence(self, label: str) -> Array:
        if self.found.task == "classification":
            return self.losses[label]
        return self.losses[label] / max(2.0 * self.error(label), np.finfo(np.float64).tiny)


def measure(case: Case, folder: Path, seed: int = 0) -> HeldOut:
    """Compare systems on 70 % of the rows, and let them predict the others."""
    frame = case.read(folder, seed)
    if case.missing == "drop":
        frame = frame.dropna(ignore_index=True)
    cut = round(len(frame) * (1 - HELD_OUT))
    start = perf_counter()
    found = adaline.compare(
        frame[:cut],
        case.target,
        drop=case.drop,
        missing=case.missing,
        task=case.task,
        unseen="other",
        progress=False,
    )
    seconds = perf_counter() - start
    new = frame[cut:].reset_index(drop=True)
    assert found.source is not None
    coding = found.source.coding
    coded = coding.code(nw.from_native(new, eager_only=True))
    x = np.ascontiguousarray(coded[:, [coding.names.index(name) for name in found.data.names]])
    able = [result for result in found.results if not result.failure]
    truth = new[case.target].to_numpy()
    return HeldOut(found, {result.label: _losses(found, result, x, truth) for result in able}, seconds)


def _losses(found: Comparison, result: Result, x: Array, truth: NDArray[Any]) -> Array:
    predicted = result.model.predict(x)
    if found.task == "classification":
        wrong: Array = (predicted.astype(str) != truth.astype(str)).astype(np.float64)
        return wrong
    return np.asarray((predicted - truth) ** 2, dtype=np.float64)


def verdicts(one: HeldOut, label: str) -> list[bool]:
    """Return whether a system is within one standard error of the best, by the simple and by the paired one."""
    apart, best = one.error(label) - one.error(one.best), one.best
    sizes = one.std_error(best), one.std_error(label, best)
    return [apart <= max(size * (1 + 1e-9), SAME * one.error(best)) for size in sizes]


def main() -> None:
    """Measure every table of a folder and print what came of it."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    if not folder.is_dir():
        sys.exit(f"there is no folder {folder}: name the one that holds the tables")
    cases = [case for case in TABLES if case.file in sys.argv[3:]] or TABLES
    lines, counts, false = [], np.zeros((2, 2), dtype=int), []
    for case in cases:
        print(f"{case.file} ...", file=sys.stderr, flush=True)
        one = measure(case, folder, seed)
        advice, best = one.found.recommendation, one.best
        advised = str(advice.system)
        within = verdicts(one, advised)
        counts += [within, verdicts(one, one.found.results[0].label)]
        wrong = false_claims(advice, one.found.results, one.found.baseline)
        false += [f"{case.file}: {claim!r} is not true of: {advice}" for claim in wrong]
        lines.append(
            [
                case.file,
                f"{len(one.found.data.y) + len(one.losses[best]):,}",
                one.found.task,
                advised,
                f"{one.error(advised):.4g}",
                best,
                f"{one.error(best):.4g}",
                f"{one.std_error(best):.2g}",
                f"{one.std_error(advised, best):.2g}",
                *("yes" if yes else "no" for yes in within),
                f"{one.seconds:.1f} s",
            ]
        )
    heading = [
        "",
        "rows",
        "task",
        "recommended",
        "error",
        "best",
        "error",
        "simple",
        "paired",
        "within",
        "paired",
        "time",
    ]
    print(Table("", heading, lines))
    for (simple, paired), who in zip(counts, ("the recommended", "the lowest in cross-validation"), strict=True):
        print(f"\n{who}: {simple} of {len(cases)} within one standard error of the best; paired {paired}")
    print("\n".join(["", f"reasons that are not true: {len(false)}", *false]))


if __name__ == "__main__":
    main()
