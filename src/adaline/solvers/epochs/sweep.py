"""Epochs: a scan goes over the rows again and again, until an epoch is clean, the error settles, or it diverges.

Rows come in their order, or in an order drawn anew for every epoch. A table too large for memory is read in its order,
and the rows are shuffled inside each block. Nothing is read twice for the sake of the certificate: an epoch is judged
by what the scan tallied on the way, each row before its own step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adaline.results import Status
from adaline.scans import Scan, State, Tally
from adaline.sources import Source
from adaline.sources.progress import watched

NOTHING = 1e-24
"""Share of the loss of doing nothing below which rows count as fitted exactly."""


@dataclass(frozen=True)
class EpochOptions:
    """How long to go on.

    Parameters
    ----------
    epochs : most epochs.
    tol : the error has settled when an epoch changes it by no more than this share; negative for never.
    clean : whether to end instead at the first epoch without a mistake, or with no more than tol a row.
    draw : where orders are drawn from; None for the order of the rows.
    title : what the line of progress calls it.
    """

    epochs: int
    tol: float = -1.0
    clean: bool = False
    draw: np.random.Generator | None = None
    title: str = "fit"


@dataclass(frozen=True)
class SweepResult:
    """What the epochs showed: a tally each, and how they ended."""

    tallies: list[Tally]
    status: Status


def sweep(source: Source, scan: Scan, plan: EpochOptions) -> SweepResult:
    """Run the scan over all rows, epoch by epoch, in place."""
    tallies: list[Tally] = []
    rows = 0 if source.streamed else source.n_rows
    with watched(plan.title, rows * plan.epochs, False if source.streamed else None) as progress:
        for _ in range(plan.epochs):
            scan.begin()
            go_over(source, scan, plan.draw)
            if scan.status is State.NOT_FINITE:
                source.refuse_nonfinite()
            if scan.status is not State.RUNNING:
                return SweepResult([*tallies, scan.tally], Status.DIVERGED)
            tallies.append(scan.tally)
            progress.add(rows)
            if (tallies[-1].mistakes <= plan.tol * source.n_rows) if plan.clean else settled(tallies, plan.tol):
                return SweepResult(tallies, Status.SOLVED)
    return SweepResult(tallies, Status.NOT_CONVERGED)


def go_over(source: Source, scan: Scan, draw: np.random.Generator | None) -> None:
    """Run the scan over all rows once, in their order or in one that is drawn."""
    if draw is None:
        source.scan(scan)
    elif not source.streamed:
        source.scan(scan, draw.permutation(source.n_rows))
    else:
        for block in source.blocks():
            scan.run(block, draw.permutation(block.rows))
            if scan.status is not State.RUNNING:
                return


def settled(tallies: list[Tally], tol: float) -> bool:
    """Whether the last epoch left the progressive loss as it was."""
    last = tallies[-1]
    if tol >= 0 and last.loss <= NOTHING * last.energy:
        return True
    return len(tallies) > 1 and abs(tallies[-2].loss - last.loss) <= tol * tallies[-2].loss
