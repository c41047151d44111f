"""Quantile and absolute losses: nets by linear programs over rows in memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from adaline.arrays import Array, as_dense
from adaline.fits.elastic_net.folds import numbered_folds
from adaline.fits.elastic_net.net import NetOptions
from adaline.fits.elastic_net.path import Nets
from adaline.losses import Absolute, Quantile
from adaline.penalties import RidgePenalty
from adaline.solvers.coordinates.corners import Corners
from adaline.solvers.coordinates.quantile_nets import QuantileLasso
from adaline.solvers.smooth.problem import build_problem, column_spread
from adaline.solvers.smooth.proximal_newton import ZEROING_PENALTY
from adaline.sources import Source
from adaline.sources.views import fold_of
from adaline.sums.objective import dense_in_view


class QuantileNets(Nets):
    """Nets of the quantile loss, by linear programs; fold (N,) is the fold of each row, or None."""

    solver = "interior point steps of a linear program"

    def __init__(self, source: Source, loss: Quantile | Absolute, options: NetOptions) -> None:
        spread = column_spread(source)
        unit = np.ones_like(spread.mean)
        if options.standardize:
            unit = spread.deviation if options.intercept else spread.root
        problem = build_problem(source, loss, 1, options.intercept, RidgePenalty(0.0, unit), spread)
        self.problem, self.scale, self.mean = problem, problem.view.scale, spread.mean
        self.size = unit * self.scale
        t, given = source.read_targets()[:, 0], source.read_weights()
        if not np.isfinite(t).all():
            source.refuse_nonfinite()
        self.z = np.concatenate([dense_in_view(as_dense(block.x), problem.view) for block in source.blocks()])
        high = int(np.frexp(np.abs(t).max())[1])
        self.t, self.high = np.ldexp(t, -high), high
        level = loss.level if isinstance(loss, Quantile) else 0.5
        self.weight = np.ones(len(t)) if given is None else np.asarray(given, dtype=np.float64)
        self.weight = self.weight * (1.0 if isinstance(loss, Quantile) else 2.0)
        self.rows = [self.weight > 0]
        if options.l1 is None and options.folds:
            fold = numbered_folds(fold_of(0, len(t), options.folds), given)
            self.rows += [(fold != k) & self.rows[0] for k in range(fold.max() + 1)]
        theta = np.zeros(1 + len(self.scale))
        self.machines = [
            QuantileLasso(self.z[k], self.t[k], self.weight[k], level, options.intercept, theta, np.zeros(int(k.sum())))
            for k in self.rows
        ]
        weights = np.array([one.weight.sum() for one in self.machines])
        self.share, self.outside = weights / weights[0], weights[0] - weights[1:]
        self.none = Corners(np.full(len(self.size), ZEROING_PENALTY))
        for one in self.machines:
            one.solve(self.none, self.none)
        self.null = self._raw(np.array([one.objective(self.none) for one in self.machines]))

    def largest(self, unity: Corners) -> float:
        """Return the smallest penalty under which all coefficients are zero."""
        return 1 / unity.room(self.machines[0].pull()) if self.null[0] > 0 else 0.0

    def solve(self, corners: Corners, last: Corners, ridge: Array, share: float) -> bool:
        """Solve the programs of all machines."""
        for machine, part in zip(self.machines, self.share.tolist(), strict=True):
            machine.solve(corners.times(part), last.times(part))
        return True

    def finish(self, corners: Corners, last: Corners, ridge: Array) -> bool:
        """Solve the program of all rows."""
        self.machines[0].solve(corners, last)
        return True

    def held_out(self) -> Array:
        """Return the losses of the rows held out."""
        pairs = zip(self.machines[1:], (self.rows[0] & ~rows for rows in self.rows[1:]), strict=True)
        return self._raw(np.array([one.loss(self.z[k], self.t[k], self.weight[k]) for one, k in pairs]))

    def raw(self) -> Array:
        """Return the weights in raw units."""
        return self.problem.to_raw(self._raw(self.machines[0].theta[None]))

    def keep(self) -> Callable[[], None]:
        """Return what brings the machine of all rows back to where it is."""
        one, theta, e = self.machines[0], self.machines[0].theta, self.machines[0].e

        def back() -> None:
            one.theta, one.e = theta, e

        return back

    def gap(self) -> float:
        """Return the gap of the machine of all rows."""
        return float(self._raw(np.array(self.machines[0].gap)))

    def measure(self, corners: Corners, ridge: Array) -> tuple[float, float]:
        """Return the objective, and how far the derivatives of the dual solution are from zero."""
        one = self.machines[0]
        left = np.concatenate([[float(one.weight @ one.e)], corners.subgradient(one.theta[1:], -one.pull())])
        return float(self._raw(np.array(one.objective(corners)))), self.problem.steepness(left[None])

    def _raw(self, numbers: Array) -> Array:
        """Return losses or weights in the units of the targets."""
        return np.asarray(np.ldexp(numbers, self.high))
