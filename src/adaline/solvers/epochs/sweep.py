"""Epochs of a scan, until one is without a mistake, the error settles, or the scan diverges.

Rows come in their order, or in a permutation drawn for every epoch. A table too large for memory is read in its order,
and the rows are shuffled inside each block. The certificate needs no additional pass: an epoch is judged by the tallies
of the scan, of each row before its own step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from adaline.results import Status
from adaline.scans import Scan, State, Tally
from adaline.solvers.epochs.progressive import REPORT, ReportedScan
from adaline.sources import Source
from adaline.sources.progress import watched

# loss, relative to the energy of the targets, at which the rows are fitted exactly; 10x larger stops earlier
EXACT_LOSS = 1e-24


@dataclass(frozen=True)
class EpochOptions:
    """When epochs end, and in which order they take the rows.

    Parameters
    ----------
    epochs : most epochs.
    tol : the error has settled when an epoch changes it by no more than this share; negative for never. A rule that
        corrects mistakes ends at the first epoch that has no more of them than this share of the rows.
    draw : generator of the permutations; None for the order of the rows.
    title : name on the line of progress.
    mixing : rounds of parameter mixing in place of epochs; None for the rule in order.
    """

    epochs: int
    tol: float = -1.0
    draw: np.random.Generator | None = None
    title: str = "fit"
    mixing: int | None = None


@dataclass(frozen=True)
class SweepResult:
    """The tally of each epoch, and how they ended."""

    tallies: list[Tally]
    status: Status


def sweep(source: Source, scan: Scan, options: EpochOptions) -> SweepResult:
    """Run the scan over all rows for epochs, in place; a scan that diverges has its tally so far as the last."""
    tallies: list[Tally] = []
    rows = 0 if source.streamed else source.n_rows
    report = REPORT.get() if options.epochs == 1 else None
    reporting = None if report is None else ReportedScan(scan, report)
    with watched(options.title, rows * options.epochs, False if source.streamed else None) as progress:
        for _ in range(options.epochs):
            scan.begin(again=bool(tallies))
            _run_once(source, scan if reporting is None else cast(Scan, reporting), options.draw)
            if reporting is not None:
                reporting.finish()
            if scan.status is State.NOT_FINITE:
                source.refuse_nonfinite()
            if scan.status is not State.RUNNING:
                return SweepResult([*tallies, scan.tally], Status.DIVERGED)
            tallies.append(scan.tally)
            progress.add(rows)
            few_mistakes = tallies[-1].mistakes <= options.tol * source.n_rows
            if few_mistakes if scan.corrects else _settled(tallies, options.tol):
                return SweepResult(tallies, Status.SOLVED)
    return SweepResult(tallies, Status.NOT_CONVERGED)


def _run_once(source: Source, scan: Scan, draw: np.random.Generator | None) -> None:
    """Run the scan over all rows once, in their order or in a permutation that is drawn."""
    if draw is None:
        source.scan(scan)
    elif not source.streamed:
        source.scan(scan, draw.permutation(source.n_rows))
    else:
        for block in source.blocks():
            scan.run(block, draw.permutation(block.rows))
            if scan.status is not State.RUNNING:
                return


def _settled(tallies: list[Tally], tol: float) -> bool:
    """Whether the last epoch changed the progressive loss by at most a share tol of it, or fitted the rows exactly."""
    last = tallies[-1]
    if tol >= 0 and last.loss <= EXACT_LOSS * last.energy:
        return True
    return len(tallies) > 1 and abs(tallies[-2].loss - last.loss) <= tol * tallies[-2].loss
