"""Parameter mixing: a scan over every part of the rows at once, from common weights, which are then averaged.

It is not the rule in order: it learns less of rows that come sorted, and more rounds do not mend that. So the
certificate names it, and tells how far from the optimum it ended, by a pass of its own. With rate="auto" each part
ends at its own least squares, and rounds beyond the first gain nothing; with a rate the schedule goes on over rounds.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Self

import numpy as np

from adaline.arrays import Array
from adaline.block import Block, Shape
from adaline.fits.online import OnlineResult, scan_certificate
from adaline.losses import Squared
from adaline.results import Status, changed
from adaline.scans import Scan, State
from adaline.scans.tally import LOSS, SQUARES, STEPS, WEIGHT
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.sources import Source
from adaline.sums import Objective, Sum
from adaline.sums.objective import Point, View
from adaline.wording import counted

TALLIED = [WEIGHT, LOSS, SQUARES, STEPS]
ADVICE = "parts were averaged, which is not the rule in order: LinearRegression takes one pass and reaches the optimum"


class MixedScans(Sum):
    """Scans over runs of rows, each begun from the scan that is theta: their weights times rows, and their tallies.

    Parameters
    ----------
    theta : (K, 1 + D), the sum over finished scans of weight of rows x weights.
    tallied : (4,), the sums of their tallies, see TALLIED.
    parts : number of scans that have finished.
    worst : the State of a scan that ended early.
    scan : that over the rows of this run, which has not finished; None where there is none.
    """

    def __init__(self, theta: Array, tallied: Array, parts: int, worst: State, scan: Scan | None) -> None:
        self.theta, self.tallied, self.parts, self.worst, self.scan = theta, tallied, parts, worst, scan

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sum over no rows."""
        theta = np.zeros((shape.targets, 1 + shape.features))
        return cls(theta, np.zeros(len(TALLIED)), 0, State.RUNNING, None)

    def add(self, block: Block, theta: Any = None) -> None:
        """Go on with the scan of this run, in the order of the rows."""
        if self.scan is None:
            self.scan = deepcopy(theta)
            self.scan.begin()
        self.scan.run(block)

    def merge(self, other: Self) -> None:
        """Add what has finished; both runs end."""
        for one in (self, other):
            one.finish()
        self.theta += other.theta
        self.tallied += other.tallied
        self.parts += other.parts
        self.worst = max(self.worst, other.worst, key=lambda state: state.value)

    def finish(self) -> None:
        """End the scan of this run."""
        if self.scan is not None:
            found = self.scan.numbers[TALLIED]
            self.theta += found[0] * self.scan.theta
            self.tallied += found
            self.parts += 1
            self.worst = max(self.worst, self.scan.status, key=lambda state: state.value)
            self.scan = None


def run_mixed(source: Source, scan: Scan, options: EpochOptions, rounds: int) -> OnlineResult:
    """Run rounds of mixing, changing the scan in place; the history is the mean loss of each round.

    The steps of the scan are those of a part, so that a schedule falls as it does there.
    """
    history: list[float] = []
    worst, parts = State.RUNNING, 0
    for _ in range(rounds):
        found = source.sum(MixedScans, scan)
        found.finish()
        if found.worst is State.NOT_FINITE:
            source.refuse_nonfinite()
        weight, loss, squares, steps = found.tallied.tolist()
        scan.theta[:] = found.theta / weight if weight else scan.theta
        for other in (scan.good, scan.lag):
            if other.size:
                other[:] = scan.theta
        scan.numbers[TALLIED] = weight, loss, squares, round(steps / max(found.parts, 1))
        history.append(loss / weight if weight else 0.0)
        worst, parts = found.worst, found.parts
        if worst is not State.RUNNING:
            break
    objective, gap = measure_gap(source, scan)
    status = Status.SOLVED if gap <= options.tol * objective else Status.NOT_CONVERGED
    solver = f"scan, mixed over {counted(parts, 'part')}, {counted(len(history), 'round')}, not the rule in order"
    proof = scan_certificate(Status.DIVERGED if worst is not State.RUNNING else status, objective, solver, gap)
    if proof.status is Status.NOT_CONVERGED:
        proof = changed(proof, advice=ADVICE)
    return OnlineResult(history, proof)


def measure_gap(source: Source, scan: Scan) -> tuple[float, float]:
    """Return the sum of half squared errors, and how far above its least it is; a pass."""
    width = source.shape.features
    view = View(np.ones(width), np.zeros(width))
    sums = source.sum(Objective, Point(Squared(), scan.theta, view), outputs=len(scan.theta), second="alone")
    free = slice(0 if scan.intercept else 1, None)
    gap = 0.0
    for gradient, hessian in zip(sums.gradient[:, free], sums.hessian[:, free, free], strict=True):
        gap += 0.5 * float(gradient @ np.linalg.lstsq(hessian, gradient, rcond=None)[0])
    return float(sums.value.sum()), gap
