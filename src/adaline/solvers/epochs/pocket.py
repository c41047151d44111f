"""The pocket algorithm: the best weights that a perceptron on rows drawn at random ever had (S2; Gallant's ratchet).

The weights of a perceptron change only at a mistake, so each stands for a streak of rows that it gets right. The
streaks of all weights of an epoch follow from the outputs of the scan; weights whose streak beats the record of the
pocket are computed again by running the scan up to their mistake, and one sum counts the errors of them all. It also
counts those of the weights that the epoch ended with, so that the pocket is never worse than the perceptron, and more
epochs never end with more errors. Every machine of K has a pocket of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, host
from adaline.block import Block
from adaline.forms import Finite
from adaline.scans import Scan, State
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.sources import Source
from adaline.sources.progress import watched
from adaline.sources.threads import one_blas_thread
from adaline.sums import ErrorCounts

Order = NDArray[np.int64]

# weights with the longest streaks, whose errors are counted; doubling it takes twice the time for that
MOST_CANDIDATES = 32


@dataclass(frozen=True)
class BestWeights:
    """The weights in the pocket, and the streaks that decide which weights replace them.

    Parameters
    ----------
    theta : (K, 1 + D) weights.
    record : (K,) rows in a row that they got right.
    streak : (K,) rows in a row that the running weights have got right so far.
    errors : (K,) weight of all rows they get wrong; None where that was not counted.
    """

    theta: Annotated[Array, Finite("K 1+D")]
    record: Annotated[Array, Finite("K")]
    streak: Annotated[Array, Finite("K")]
    errors: Annotated[Array, Finite("K")] | None = None

    @classmethod
    def first(cls, theta: Array) -> BestWeights:
        """Return a pocket of the first weights, (K, 1 + D)."""
        return cls(theta.copy(), np.zeros(len(theta)), np.zeros(len(theta)))


@dataclass(frozen=True)
class PocketCandidate:
    """Weights of machine k, and how many rows in a row they got right."""

    k: int
    streak: float
    w: Array


@one_blas_thread()  # one small count after another
def run_pocket(source: Source, scan: Scan, best: BestWeights, options: EpochOptions) -> tuple[BestWeights, list[float]]:
    """Run the perceptron for epochs of random rows; return the pocket, and its errors after each epoch."""
    source.runner.refuse_parts()
    epochs, draw = options.epochs, options.draw
    assert draw is not None
    best = replace(best, errors=_count(source, best.theta[None])[0], streak=np.zeros(len(best.theta)))
    history: list[float] = []
    limit = options.tol * source.n_rows
    rows = 0 if source.streamed else source.n_rows
    owed: list[PocketCandidate] = []  # the weights that a streamed epoch ended with, counted as the next one reads
    with watched(options.title, rows * epochs, False if source.streamed else None) as progress:
        for epoch in range(epochs):
            candidates: list[PocketCandidate] = []
            streak = best.streak
            reads = source.reads[0]
            counts = ErrorCounts.zero(source.shape)
            for pool in _pools(source, owed, counts):
                order = draw.integers(len(pool.t), size=len(pool.t))
                found, streak = _candidates(pool, order, scan, best.record, streak)
                candidates = sorted([*candidates, *found], key=lambda c: -c.streak)[:MOST_CANDIDATES]
            again = bool(candidates) and not source.streamed  # a second reading computed their weights
            source.reads[0] = reads + 1 + again
            if scan.status is State.NOT_FINITE:
                source.refuse_nonfinite()
            best = replace(best, streak=streak)
            if owed:
                best = _with_fewer_errors(best, [[c] for c in owed], counts.sums)
            # the running weights too: never worse than the perceptron after this epoch, however many follow
            owed = [PocketCandidate(k, float(streak[k]), w.copy()) for k, w in enumerate(scan.theta)]
            if not source.streamed or epoch == epochs - 1:
                candidates, owed = [*candidates, *owed], []
            best = _ratchet(source, best, candidates)
            assert best.errors is not None
            history.append(float(best.errors.sum()))
            progress.add(rows)
            if history[-1] <= limit:
                break
    if owed and history[-1]:  # they ended few errors before the last epoch, but not without any
        best = _ratchet(source, best, owed)
        assert best.errors is not None
        history[-1] = float(best.errors.sum())
    return best, history


def stream_pocket(source: Source, scan: Scan, best: BestWeights) -> tuple[BestWeights, float]:
    """Go over the rows once, in their order; return the pocket of the longest streaks, and the number of mistakes."""
    scan.begin()
    streak = best.streak
    for block in source.blocks():
        found, streak = _candidates(_pool_of(block), np.arange(block.rows), scan, best.record, streak)
        found += [PocketCandidate(k, float(s), scan.theta[k].copy()) for k, s in enumerate(streak)]
        theta, record = best.theta.copy(), best.record.copy()
        for c in found:
            if c.streak > record[c.k]:
                theta[c.k], record[c.k] = c.w, c.streak
        best = replace(best, theta=theta, record=record, errors=None)
        if scan.status is State.NOT_FINITE:
            source.refuse_nonfinite()
    return replace(best, streak=streak), scan.tally.mistakes


@dataclass(frozen=True)
class RowPool:
    """Rows to draw from: how to run a scan over some of them in an order, their targets (n, K) and weights (n,)."""

    run: Callable[[Scan, Order, Array | None], None]
    t: Array
    weight: Array | None


def _pools(source: Source, owed: list[PocketCandidate], counts: ErrorCounts) -> Iterator[RowPool]:
    """Return all rows as one pool, or where they are streamed one for each block, counting errors of `owed` there."""
    if source.streamed:
        for block in source.blocks():
            if owed:
                counts.add(block, np.array([[c.w for c in owed]]))
            yield _pool_of(block)
        return
    yield RowPool(lambda scan, order, z: source.scan(scan, order, z), source.read_targets(), source.read_weights())


def _pool_of(block: Block) -> RowPool:
    weight = None if block.weight is None else host(block.weight)
    return RowPool(lambda scan, order, z: scan.run(block, order, z), host(block.t), weight)


def _candidates(
    pool: RowPool, order: Order, scan: Scan, record: Array, streak: Array
) -> tuple[list[PocketCandidate], Array]:
    """Run the scan over rows in an order; return weights whose streak beats the record, and the last streaks (K,)."""
    before = scan.copy()
    z = np.empty((len(order), len(scan.theta)))
    pool.run(scan, order, z)
    if scan.status is not State.RUNNING:
        return [], streak
    z *= pool.t[order]
    wrong = z <= 0
    visited = None
    if pool.weight is not None:  # rows of weight zero are not there
        here = pool.weight[order] > 0
        wrong &= here[:, None]
        visited = np.cumsum(here)
    rows = len(order) if visited is None else visited[-1]
    last = streak.copy()
    wanted: list[tuple[int, int, float]] = []  # position of the mistake, machine, streak
    for k in range(wrong.shape[1]):
        at = np.flatnonzero(wrong[:, k])
        if not len(at):
            last[k] += rows
            continue
        until = at + 1 if visited is None else visited[at]
        runs = until - 1.0
        runs[1:] -= until[:-1]
        runs[0] += streak[k]
        last[k] = rows - until[-1]
        beats = np.flatnonzero(runs > record[k])
        if len(beats) > 1:
            beats = beats[np.argsort(-runs[beats], kind="stable")[:MOST_CANDIDATES]]
        wanted += [(int(at[i]), k, float(runs[i])) for i in beats]
    out, done = [], 0
    for position, k, run in sorted(wanted):
        if position > done:
            pool.run(before, order[done:position], None)
            done = position
        out.append(PocketCandidate(k, run, before.theta[k].copy()))
    return out, last


def _ratchet(source: Source, best: BestWeights, candidates: list[PocketCandidate]) -> BestWeights:
    """Count the errors of the candidates in one pass, and put the best of them into the pocket where they are fewer."""
    if not candidates:
        return best
    ranked: list[list[PocketCandidate]] = [[c for c in candidates if c.k == k] for k in range(len(best.theta))]
    tried = np.repeat(best.theta[None], max(map(len, ranked)), axis=0)
    for k, mine in enumerate(ranked):
        for i, c in enumerate(mine):
            tried[i, k] = c.w
    return _with_fewer_errors(best, ranked, _count(source, tried))


def _with_fewer_errors(best: BestWeights, ranked: list[list[PocketCandidate]], counts: Array) -> BestWeights:
    """Return the pocket with the candidates of each machine that make fewer errors; counts are (C, K)."""
    assert best.errors is not None
    theta, record, errors = best.theta.copy(), best.record.copy(), best.errors.copy()
    for k, mine in enumerate(ranked):
        for i, c in enumerate(mine):
            if counts[i, k] < errors[k]:
                theta[k], record[k], errors[k] = c.w, c.streak, counts[i, k]
    return replace(best, theta=theta, record=record, errors=errors)


def _count(source: Source, theta: Array) -> Array:
    """Return the weight of the rows that candidates theta (C, K, 1 + D) get wrong, (C, K)."""
    return source.sum(ErrorCounts, theta, candidates=len(theta)).sums
