"""Parameter mixing: parallel scans over parts of the rows, which start from common weights; their weights are averaged.

The result differs from that of one scan over all rows: from sorted rows it learns less, however many rounds there are.
So the certificate names it, and an additional pass measures the distance from the optimum. With rate="auto" each part
ends at its own least squares, and rounds after the first gain nothing; with a given rate the schedule continues over
rounds. Mixed perceptrons end without a mistake if the classes are separable (McDonald, Hall and Mann, 2010).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any, Self

import numpy as np

from adaline.arrays import Array, ThetaLike
from adaline.block import Block, Shape
from adaline.fits.online import OnlineResult, scan_certificate
from adaline.losses import Loss
from adaline.results import Status, changed
from adaline.scans import Scan, State
from adaline.scans.tally import FIELDS, LARGEST, LOSS, MARGIN, MISTAKES, STEPS, UPDATES, WEIGHT
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.sources import Source
from adaline.sums import Objective, Sum, WrongRivals, WrongRows
from adaline.sums.objective import Point, View
from adaline.wording import counted

ADVICE = "parts were averaged, which is not the rule in order: {} reaches the optimum in few passes"
MeasureGap = Callable[[Source, Scan], tuple[float, float]]
"""Returns the objective at the weights of a scan, and how far above its least it is; a pass."""


class MixedScans(Sum):
    """Scans over runs of rows, each started from the scan theta: weights multiplied by numbers of rows, and tallies.

    Parameters
    ----------
    theta : (K, 1 + D), the sum over finished scans of weight of rows x weights.
    tally : those of finished scans: sums, but for the largest row and the smallest margin.
    parts : number of scans that have finished.
    worst : the State of a scan that ended early.
    scan : that over the rows of this run, which has not finished; None where there is none.
    """

    def __init__(self, theta: Array, tally: Array, parts: int, worst: State, scan: Scan | None) -> None:
        self.theta, self.tally, self.parts, self.worst, self.scan = theta, tally, parts, worst, scan

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sum over no rows of scans of `machines` weight vectors; one a target, unless that is given."""
        theta = np.zeros((int(config.get("machines", shape.targets)), 1 + shape.features))
        return cls(theta, first_tally(), 0, State.RUNNING, None)

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Continue the scan of this run, in the order of the rows."""
        if self.scan is None:
            self.scan = deepcopy(theta)
            self.scan.begin()
        self.scan.run(block)

    def merge(self, other: Self) -> None:
        """Add what has finished; both runs end."""
        for one in (self, other):
            one.finish()
        self._take(other.theta, other.tally, other.parts, other.worst)

    def finish(self) -> None:
        """End the scan of this run."""
        scan, self.scan = self.scan, None
        if scan is not None:
            tally = scan.numbers[: len(FIELDS)].copy()
            self._take(tally[WEIGHT] * scan.theta, tally, 1, scan.status)

    def _take(self, theta: Array, tally: Array, parts: int, worst: State) -> None:
        largest, margin = max(self.tally[LARGEST], tally[LARGEST]), min(self.tally[MARGIN], tally[MARGIN])
        self.theta, self.tally, self.parts = self.theta + theta, self.tally + tally, self.parts + parts
        self.tally[LARGEST], self.tally[MARGIN] = largest, margin
        self.worst = max(self.worst, worst, key=lambda state: state.value)


def first_tally() -> Array:
    """Return the tally of no rows."""
    out = np.zeros(len(FIELDS))
    out[MARGIN] = np.inf
    return out


def run_mixed(
    source: Source, scan: Scan, options: EpochOptions, rounds: int, measure: MeasureGap, better: str
) -> OnlineResult:
    """Run rounds of mixing, changing the scan in place; the history is the mean loss, or the mistakes, of each round.

    The steps of the scan are those of a part, so that a schedule falls as it does there. `better` is the system that
    the certificate advises.
    """
    history: list[float] = []
    worst, parts, corrections = State.RUNNING, 0, 0.0
    for _ in range(rounds):
        found = source.sum(MixedScans, scan, machines=len(scan.theta))
        found.finish()
        if found.worst is State.NOT_FINITE:
            source.refuse_nonfinite()
        weight, mistakes = float(found.tally[WEIGHT]), float(found.tally[MISTAKES])
        corrections += float(found.tally[UPDATES])
        if weight and (mistakes or not scan.corrects):
            scan.theta[:] = found.theta / weight
        for other in (scan.good, scan.lag):
            if other.size:
                other[:] = scan.theta
        found.tally[STEPS] = round(found.tally[STEPS] / max(found.parts, 1))
        scan.numbers[: len(FIELDS)] = found.tally
        history.append(mistakes if scan.corrects else float(found.tally[LOSS]) / weight if weight else 0.0)
        worst, parts = found.worst, found.parts
        if worst is not State.RUNNING or (scan.corrects and not mistakes):
            break
    objective, gap = measure(source, scan)
    status = Status.SOLVED if gap <= max(options.tol, 0.0) * objective else Status.NOT_CONVERGED
    solver = f"scan, mixed over {counted(parts, 'part')}, {counted(len(history), 'round')}, not the rule in order"
    proof = scan_certificate(Status.DIVERGED if worst is not State.RUNNING else status, objective, solver, gap)
    if proof.status is Status.NOT_CONVERGED:
        proof = changed(proof, advice=ADVICE.format(better))
    return OnlineResult(history, proof, corrections=corrections - float(scan.numbers[UPDATES]))


def measure_loss(loss: Loss) -> MeasureGap:
    """Return how the sum of a loss is measured; the gap is the gain of a Newton step, exact for squared errors."""
    return partial(_measure_loss, loss)


def _measure_loss(loss: Loss, source: Source, scan: Scan) -> tuple[float, float]:
    width = source.shape.features
    view = View(np.ones(width), np.zeros(width))
    sums = source.sum(Objective, Point(loss, scan.theta, view), outputs=len(scan.theta), second="alone")
    free = slice(0 if scan.intercept else 1, None)
    gap = 0.0
    for gradient, hessian in zip(sums.gradient[:, free], sums.hessian[:, free, free], strict=True):
        curvature, axes = np.linalg.eigh(hessian)
        size = np.abs(curvature)  # of a loss that is not convex some are negative
        kept = size > len(size) * np.finfo(float).eps * size.max(initial=0.0)
        gap += 0.5 * float(((axes.T @ gradient)[kept] ** 2 / size[kept]).sum())
    value = float(sums.value.sum())
    return value, min(gap, value)  # no loss is below zero


def measure_mistakes(source: Source, scan: Scan) -> tuple[float, float]:
    """Return the perceptron's criterion, whose least is 0; it is its own gap, unless rows lie on the plane itself."""
    wrong = source.sum(WrongRows, scan.theta)
    return _criterion_and_gap(float(wrong.criterion.sum()), float(wrong.count.sum()))


def measure_rivals(source: Source, scan: Scan) -> tuple[float, float]:
    """Return the criterion of Kesler's construction, and its gap, likewise."""
    return _criterion_and_gap(*source.sum(WrongRivals, scan.theta).sums.tolist())


def _criterion_and_gap(criterion: float, wrong: float) -> tuple[float, float]:
    return criterion, criterion if criterion or not wrong else np.inf
