"""The pocket: the best weights that a perceptron on rows drawn at random ever had (S2; Gallant's ratchet).

The weights of a perceptron change only at a mistake, so each stands for a streak of rows it gets right. The streaks of
all weights of an epoch are read off the outputs that the scan hands over; weights whose streak beats the record of the
pocket are brought back by running the scan again up to their mistake, and one sum counts the errors of them all. Every
machine of K has a pocket of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, host
from adaline.block import Block
from adaline.scans import Scan, State
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.sources import Source
from adaline.sources.progress import watched
from adaline.sums import ErrorCounts

Order = NDArray[np.int64]

MOST = 32
"""Weights of one epoch whose errors are counted, those with the longest streaks."""


@dataclass(frozen=True)
class Best:
    """What is in the pocket.

    Parameters
    ----------
    theta : (K, 1 + D) weights.
    record : (K,) rows in a row that they got right.
    streak : (K,) rows in a row that the running weights have got right so far.
    errors : (K,) weight of all rows they get wrong; None where that was not counted.
    """

    theta: Array
    record: Array
    streak: Array
    errors: Array | None = None

    @classmethod
    def first(cls, theta: Array) -> Best:
        """Return a pocket with the first weights."""
        return cls(theta.copy(), np.zeros(len(theta)), np.zeros(len(theta)))


@dataclass(frozen=True)
class PocketCandidate:
    """Weights of machine k, and how many rows in a row they got right."""

    k: int
    streak: float
    w: Array


def fill(source: Source, scan: Scan, best: Best, options: EpochOptions) -> tuple[Best, list[float]]:
    """Run the perceptron for epochs of random rows; return the pocket, and its errors after each epoch."""
    epochs, draw = options.epochs, options.draw
    assert draw is not None
    best = replace(best, errors=_count(source, best.theta[None])[0], streak=np.zeros(len(best.theta)))
    history: list[float] = []
    limit = options.tol * source.n_rows
    with watched(
        options.title, 0 if source.streamed else epochs * source.n_rows, False if source.streamed else None
    ) as progress:
        for epoch in range(epochs):
            candidates: list[PocketCandidate] = []
            streak = best.streak
            reads = source.reads[0]
            for lot in _lots(source):
                order = draw.integers(len(lot.t), size=len(lot.t))
                found, streak = _candidates(lot, order, scan, best.record, streak)
                candidates = sorted([*candidates, *found], key=lambda c: -c.streak)[:MOST]
            source.reads[0] = reads + (2 if candidates and not source.streamed else 1)  # the second brings weights back
            if scan.status is State.NOT_FINITE:
                source.refuse_nonfinite()
            if epoch == epochs - 1:  # never worse than the perceptron that it runs
                candidates += [PocketCandidate(k, float(streak[k]), w.copy()) for k, w in enumerate(scan.theta)]
            best = _ratchet(source, replace(best, streak=streak), candidates)
            assert best.errors is not None
            history.append(float(best.errors.sum()))
            progress.add(0 if source.streamed else source.n_rows)
            if history[-1] <= limit:
                break
    return best, history


def stream(source: Source, scan: Scan, best: Best) -> tuple[Best, float]:
    """Go over the rows once, in their order: the pocket takes the weights of the longest streak; count the mistakes."""
    scan.begin()
    streak = best.streak
    for block in source.blocks():
        found, streak = _candidates(_lot(block), np.arange(block.rows), scan, best.record, streak)
        found += [PocketCandidate(k, float(s), scan.theta[k].copy()) for k, s in enumerate(streak)]
        theta, record = best.theta.copy(), best.record.copy()
        for c in found:
            if c.streak > record[c.k]:
                theta[c.k], record[c.k] = c.w, c.streak
        best = replace(best, theta=theta, record=record, errors=None)
        if scan.status is State.NOT_FINITE:
            source.refuse_nonfinite()
    return replace(best, streak=streak), scan.tally.mistakes


def learn_rows(scan: Scan, best: Best, x: Any, t: Any, names: tuple[Any, ...] | None) -> bool:
    """Do what `stream` does with one row, in place, if the scan can take it as it is; say whether it did."""
    if best.errors is not None or not scan.take(x, t, names):
        return False
    for k, z in enumerate(scan.last):
        if z * (t if len(best.theta) == 1 else t[k]) <= 0:
            best.streak[k] = 0
            continue
        streak = best.streak[k] = best.streak[k] + 1
        if streak > best.record[k]:
            best.theta[k], best.record[k] = scan.theta[k], streak
    return True


@dataclass(frozen=True)
class Lot:
    """Rows to draw from: how to run a scan over some of them in an order, their targets (n, K) and weights (n,)."""

    run: Callable[[Scan, Order, Array | None], None]
    t: Array
    weight: Array | None


def _lots(source: Source) -> Iterator[Lot]:
    """Return all rows as one lot, or block by block where they are streamed."""
    if source.streamed:
        for block in source.blocks():
            yield _lot(block)
        return
    yield Lot(lambda scan, order, z: source.scan(scan, order, z), source.read_targets(), source.read_weights())


def _lot(block: Block) -> Lot:
    weight = None if block.weight is None else host(block.weight)
    return Lot(lambda scan, order, z: scan.run(block, order, z), host(block.t), weight)


def _candidates(
    lot: Lot, order: Order, scan: Scan, record: Array, streak: Array
) -> tuple[list[PocketCandidate], Array]:
    """Run the scan; return the weights whose streak, ended by a mistake, beats the record, and the last streaks."""
    before = scan.copy()
    z = np.empty((len(order), len(scan.theta)))
    lot.run(scan, order, z)
    if scan.status is not State.RUNNING:
        return [], streak
    here = np.ones(len(order), dtype=bool) if lot.weight is None else lot.weight[order] > 0
    wrong = (lot.t[order] * z <= 0) & here[:, None]
    right = np.cumsum(here)
    last = streak.copy()
    wanted: list[tuple[int, int, float]] = []  # position of the mistake, machine, streak
    for k in range(wrong.shape[1]):
        at = np.flatnonzero(wrong[:, k])
        if not len(at):
            last[k] += right[-1]
            continue
        runs = np.diff(right[at], prepend=0.0) - 1.0
        runs[0] += streak[k]
        last[k] = right[-1] - right[at[-1]]
        beats = np.flatnonzero(runs > record[k])
        beats = beats[np.argsort(-runs[beats], kind="stable")[:MOST]]
        wanted += [(int(at[i]), k, float(runs[i])) for i in beats]
    out, done = [], 0
    for position, k, run in sorted(wanted):
        if position > done:
            lot.run(before, order[done:position], None)
            done = position
        out.append(PocketCandidate(k, run, before.theta[k].copy()))
    return out, last


def _ratchet(source: Source, best: Best, candidates: list[PocketCandidate]) -> Best:
    """Count the errors of the candidates in one pass, and put the best of them into the pocket where they are fewer."""
    if not candidates:
        return best
    assert best.errors is not None
    theta, record, errors = best.theta.copy(), best.record.copy(), best.errors.copy()
    ranked: list[list[PocketCandidate]] = [[c for c in candidates if c.k == k] for k in range(len(theta))]
    tried = np.repeat(theta[None], max(map(len, ranked)), axis=0)
    for k, mine in enumerate(ranked):
        for i, c in enumerate(mine):
            tried[i, k] = c.w
    counts = _count(source, tried)
    for k, mine in enumerate(ranked):
        for i, c in enumerate(mine):
            if counts[i, k] < errors[k]:
                theta[k], record[k], errors[k] = c.w, c.streak, counts[i, k]
    return replace(best, theta=theta, record=record, errors=errors)


def _count(source: Source, theta: Array) -> Array:
    """Return the weight of wrong rows, (C, K)."""
    return source.sum(ErrorCounts, theta, candidates=len(theta)).count
