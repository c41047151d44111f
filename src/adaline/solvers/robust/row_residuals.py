"""Residuals r = t - w'x - w0 of all rows, held in memory or read again, and rows chosen by them.

Of rows in memory the residuals are kept, so that the line search and the scale read no rows; of streamed rows their
totals are (`sums/plane.py`), and the scale takes one pass more while it still moves (`scales.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, host, namespace, to_device_of
from adaline.block import Block
from adaline.losses import Loss
from adaline.solvers.robust.scales import RankedScale, Scale, scale_by_passes
from adaline.solvers.smooth.problem import Problem
from adaline.sources.device import empty_on_device
from adaline.sources.runners import each_block
from adaline.sums import JointSum, PlanePoint, Ranks, RegressionPlane, ResidualTotals
from adaline.sums.objective import gather, rows_in_view, view_products
from adaline.sums.ranks import INFINITY_KEY, key_of

# width of the window for a scale, in its last changes; doubling it makes cells coarser, and misses rarer
WINDOW_CHANGES = 4.0
LEAST_WINDOW = 1e-9  # the same, relative to the scale, at least; 10x larger makes cells coarser


class RowResiduals(ABC):
    """The residuals of all rows at theta (1, 1 + D) in the view of a problem, as an M-estimate needs them."""

    problem: Problem
    theta: Array

    @abstractmethod
    def moved(self, step: Array, share: float, whole: Any = None) -> Any:
        """Return those at theta + share x step; `whole` are those at theta + step, where they are known."""

    @abstractmethod
    def totals(self, loss: Loss) -> ResidualTotals:
        """Return their totals under a loss."""

    @abstractmethod
    def value(self, loss: Loss) -> float:
        """Return the sum of the losses."""

    @abstractmethod
    def change(self, before: Any, reach: float = np.inf) -> float:
        """Return by how much the residuals of rows that count differ from those before a step at most.

        Rows in memory whose residuals were and are beyond `reach` do not count: they pull at nothing.
        """

    @abstractmethod
    def scale(self, kind: Scale) -> float:
        """Return their scale."""

    def objective(self, loss: Loss) -> float:
        """Return F: the sum of the losses and the penalty."""
        return self.value(loss) + 0.5 * float((self.problem.ridge * self.theta[:, 1:] ** 2).sum())


@dataclass(frozen=True)
class HeldResiduals(RowResiduals):
    """Residuals r (N,) and weights (N,) in memory, on the host or on the device of the rows."""

    problem: Problem
    theta: Array
    r: Any
    weight: Any

    def moved(self, step: Array, share: float, whole: HeldResiduals | None = None) -> HeldResiduals:
        """Return those at theta + share x step, on the way to those at theta + step."""
        theta = self.theta + share * step
        r = residuals_beside(self.problem, theta) if whole is None else self.r + share * (whole.r - self.r)
        return replace(self, theta=theta, r=r)

    def totals(self, loss: Loss) -> ResidualTotals:
        """Return their totals under a loss."""
        counted = self.weight > 0
        return ResidualTotals.of(self.r[counted], self.weight[counted], loss)

    def value(self, loss: Loss) -> float:
        """Return the sum of the losses."""
        return float(self.weight @ loss.value(0.0 * self.r, self.r))

    def change(self, before: HeldResiduals, reach: float = np.inf) -> float:
        """Return the largest difference from the residuals before."""
        xp = namespace(self.r)
        counts = (self.weight > 0) & (xp.minimum(xp.abs(self.r), xp.abs(before.r)) <= reach)
        return float(xp.max(xp.where(counts, xp.abs(self.r - before.r), 0.0 * self.weight)))

    def scale(self, kind: Scale) -> float:
        """Return their scale."""
        return kind.of(self.r, self.weight)


class StreamedResiduals(RowResiduals):
    """Residuals of rows that are read again: a pass for totals, with what the scale needs where it is known nearly.

    `size` is where the size that decides the scale was before, and `spread` how far from there it is looked for.
    """

    def __init__(self, problem: Problem, theta: Array, size: float = 0.0, spread: float = np.inf) -> None:
        self.problem, self.theta, self.size, self.spread = problem, theta, size, spread
        self._before: Array | None = None  # theta before the step that led here
        self._known: tuple[Loss, ResidualTotals] | None = None
        self._ranks: Ranks | None = None

    def moved(self, step: Array, share: float, whole: Any = None) -> StreamedResiduals:
        """Return those at theta + share x step."""
        out = StreamedResiduals(self.problem, self.theta + share * step, self.size, self.spread)
        out._before = self.theta
        return out

    def totals(self, loss: Loss) -> ResidualTotals:
        """Return their totals under a loss: a pass, unless they are those of the last one."""
        if self._known is None or self._known[0] != loss:
            view, before = self.problem.view, self._before
            plane = RegressionPlane(self.theta, view)
            step = None if before is None else RegressionPlane(self.theta - before, view)
            low, high = (min(max(self.size + way * self.spread, 0.0), np.finfo(float).max) for way in (-1, 1))
            known = self.size > 0 and self._ranks is None
            window = (key_of(low), key_of(high) + 1) if known else (INFINITY_KEY, INFINITY_KEY)
            kinds: tuple[Any, ...] = ((ResidualTotals, {}), (Ranks, {"window": window}))
            found, ranks = self.problem.source.sum(JointSum, (PlanePoint(plane, loss, step), plane), kinds=kinds).parts
            assert isinstance(found, ResidualTotals)
            assert isinstance(ranks, Ranks)
            self._known = loss, found
            self._ranks = ranks if window[0] < INFINITY_KEY else self._ranks
        return self._known[1]

    def value(self, loss: Loss) -> float:
        """Return the sum of the losses."""
        return self.totals(loss).value

    def change(self, before: StreamedResiduals, reach: float = np.inf) -> float:
        """Return the largest difference from the residuals before the step that led here."""
        return 0.0 if before is self or self._known is None else float(self._known[1].largest[1])

    def scale(self, kind: Scale) -> float:
        """Return their scale, by passes."""
        if not isinstance(kind, RankedScale):
            return kind.of(np.empty(0), np.empty(0))
        plane = RegressionPlane(self.theta, self.problem.view)
        found = scale_by_passes(self.problem.source, plane, kind, self._ranks)
        before, self.size = self.size, kind.reach * found
        self.spread = (
            max(WINDOW_CHANGES * abs(self.size - before), LEAST_WINDOW * self.size) if before else 0.5 * self.size
        )
        return found


def residuals_at(problem: Problem, theta: Array, weight: AnyArray) -> RowResiduals:
    """Return the residuals at theta; without weights (N,) those of rows that are not held."""
    if weight is None:
        return StreamedResiduals(problem, theta)
    r = residuals_beside(problem, theta)
    return HeldResiduals(problem, theta, r, to_device_of(r, weight))


def residuals(problem: Problem, theta: Array) -> Array:
    """Return t - w'x - w0 of every row, (N,), for theta (1, 1 + D) in the view, on the host."""
    return problem.source.map(RegressionPlane(theta, problem.view).read)


def residuals_beside(problem: Problem, theta: Array) -> Any:
    """Return t - w'x - w0 of every row, (N,), where the rows lie."""
    if empty_on_device(problem.source) is None:
        return residuals(problem, theta)
    parts = each_block(problem.source, RegressionPlane(theta, problem.view).residuals)
    return parts[0] if len(parts) == 1 else namespace(parts[0]).concat(parts)


def row_lengths(problem: Problem, root: Array) -> Array:
    """Return |root'(1, v)| of every row, (N,), for root (1 + D, M) in the view; without an intercept 0 stands for 1."""
    root = root.copy()
    root[0] *= problem.intercept
    return problem.source.map(lambda block: np.linalg.norm(view_products(block, problem.view, root), axis=1))


def gather_rows(problem: Problem, chosen: NDArray[np.bool_]) -> Array:
    """Return the chosen rows as (1, v, t) in the view, (m, 2 + D), in memory."""

    def of(block: Block) -> Array:
        some = block.taken(np.flatnonzero(chosen[block.first_row : block.first_row + block.rows]))
        return np.concatenate([host(rows_in_view(some, problem.view)), host(some.t)], axis=1)

    return problem.source.map(of)


def weighted_total(problem: Problem, chosen: NDArray[np.bool_], weight: Array) -> Array:
    """Return the sum of weight (1, v, t) over the chosen rows, (2 + D,)."""
    share = weight * chosen

    def of(block: Block) -> Array:
        w = share[block.first_row : block.first_row + block.rows]
        return np.concatenate([gather(block, w[:, None], problem.view)[0], w @ host(block.t)])[None]

    return np.asarray(problem.source.map(of).sum(axis=0))
