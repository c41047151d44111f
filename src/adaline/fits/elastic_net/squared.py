"""The squared loss: nets from second moments of the rows, or from products of the columns that matter."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.fits.elastic_net.folds import numbered_folds
from adaline.fits.elastic_net.memory import copy_fits, products_fit
from adaline.fits.elastic_net.net import LARGEST_PROVEN_GAP, FittedNet, NetOptions, proven
from adaline.fits.elastic_net.path import Nets, chosen_net, required
from adaline.fits.ridge_folds import part_moments, without_each
from adaline.results import Certificate
from adaline.solvers.coordinates.corners import Corners
from adaline.solvers.coordinates.lasso import Lasso, Together, solve_all
from adaline.solvers.coordinates.quadratics import Quadratics, of_moments, of_rows
from adaline.solvers.smooth.problem import column_spread
from adaline.sources import ArraySource, Source
from adaline.sources.array import SparseSource
from adaline.sources.runners import HERE
from adaline.sources.threads import one_blas_thread
from adaline.sources.views import fold_of
from adaline.sums import Moments, all_but_one, running

# coefficients of all machines up to which one matrix holds them; doubling it sweeps over up to four times the zeros
MOST_SWEPT_COEFFICIENTS = 256
# ratio of successive l1 on the way to one that is not reached at once; nearer to 1, the way takes more steps
PENALTY_STEP = 0.5


def squared_nets(source: Source, options: NetOptions) -> list[FittedNet] | None:
    """Return the net of each target under the squared loss, from products of columns; None where there is no memory."""
    by_moments = fit_net_folds(source, options)
    return _by_rows(source, options) if by_moments is None else next(by_moments)


def fit_net_folds(
    source: Source, options: NetOptions, fold: NDArray[np.intp] | None = None
) -> Iterator[list[FittedNet]] | None:
    """Return the nets of squared losses for all rows, then without each fold (N,); None where columns are too many.

    Moments of the rows of every fold and every part that the penalty is chosen by are taken in one read.
    """
    if not products_fit(source):
        return None
    inner = options.folds if options.l1 is None and options.folds else 1
    outer = 1 if fold is None else int(fold.max()) + 1

    def cells(first: int, rows: int) -> NDArray[np.int64]:
        own = fold_of(first, rows, inner)
        return own if fold is None else own + inner * fold[first : first + rows]

    sums = part_moments(source, options.intercept, cells, inner * outer)
    each = [sums[j::inner] for j in range(inner)]
    if outer == 1:
        return iter([_of_moments(sums, source, options)])
    rows = [[running(one)[-1] for one in each], *zip(*map(all_but_one, each), strict=True)]
    return (_of_moments(list(parts), source, options) for parts in rows)


@one_blas_thread()
def _of_moments(parts: list[Moments], source: Source, options: NetOptions) -> list[FittedNet]:
    """Return the net of each target from the moments of the parts that the penalty is chosen by, or of all rows."""
    if options.l1 is None and options.folds:
        _, total, others = without_each(parts, source, options.intercept, "l1='auto'")
    else:
        total, others = running(parts)[-1], []
        total = total.about_mean() if options.intercept else total
    nets = (SquaredNets(of_moments(total, others, k), options) for k in range(source.shape.targets))
    return [required(chosen_net(one, options)) for one in nets]


def _by_rows(source: Source, options: NetOptions) -> list[FittedNet] | None:
    """Fit squared losses from products of columns of rows in memory; None where that takes too much memory."""
    if not (type(source) is ArraySource or isinstance(source, SparseSource)) or source.runner is not HERE:
        return None
    if not copy_fits(source):
        return None
    spread = column_spread(source)
    targets = source.read_targets()
    if not np.isfinite(targets).all():
        source.refuse_nonfinite()
    fold = None
    weight = source.read_weights()
    if options.l1 is None and options.folds:
        fold = numbered_folds(fold_of(0, source.n_rows, options.folds), weight)
    found = []
    for t in targets.T:
        quadratics = of_rows(source.x, t, weight, spread, options.intercept, fold)
        net = chosen_net(SquaredNets(quadratics, options), options)
        if net is None:
            return None
        found.append(net)
    return found


class SquaredNets(Nets):
    """Nets of the squared loss, from its quadratics."""

    solver = "coordinate descent on second moments"

    def __init__(self, quadratics: Quadratics, options: NetOptions) -> None:
        alive = quadratics.scale > 0
        self.quadratics, self.scale, self.unit = quadratics, quadratics.scale, quadratics.unit
        self.size = np.where(alive, quadratics.deviation if options.standardize else quadratics.scale, 1.0)
        self.intercept = options.intercept
        self.null, self.outside = quadratics.total, quadratics.weight[0] - quadratics.weight[1:]
        self.mean = np.divide(quadratics.offset, quadratics.scale, out=np.zeros(len(alive)), where=alive)
        self.machines = [Lasso(quadratics, m) for m in range(len(quadratics.weight))]
        self.whole = self.machines[0]
        self.together: Together | None = None

    def largest(self, unity: Corners) -> float:
        """Return the smallest penalty under which all coefficients are zero."""
        found = 1 / unity.room(-self.whole.c)
        d = len(self.scale)
        if (
            type(unity) is Corners
            and len(self.machines) * d <= MOST_SWEPT_COEFFICIENTS
            and len(self.quadratics.known) == d
            and found
        ):
            self.together = Together(self.machines)
        return found

    def solve(self, corners: Corners, last: Corners, ridge: Array, share: float) -> bool:
        """Step all machines to minima under a penalty."""
        wanted = 0.5 * share * self.null
        left = self.machines if self.together is None else self.together.solve(corners, ridge, wanted)
        return not left or solve_all(left, corners, last, ridge, wanted)

    def finish(self, corners: Corners, last: Corners, ridge: Array) -> bool:
        """Solve for the coefficients of the machine of all rows; by way of larger penalties where it stops short."""
        share = float(corners.c.max(initial=0.0) / last.c.max(initial=1e-300))
        if not self._reach(corners, last, ridge):
            return False
        if self._enough(corners, ridge, 0.0) or not 0 < share < PENALTY_STEP:
            return True
        stopped, back = self.whole.objective(corners, ridge), self.keep()
        self.whole.v, self.whole.g = np.zeros_like(self.whole.c), -self.whole.c
        for part in np.geomspace(1.0, share, math.ceil(math.log(share, PENALTY_STEP)) + 1)[1:-1].tolist():
            here = last.times(part)
            last, before = here, last
            if not self._reach(here, before, ridge):
                return False
        if not self._reach(corners, last, ridge):
            return False
        if not self.whole.objective(corners, ridge) <= stopped:
            back()
        return True

    def _reach(self, corners: Corners, last: Corners, ridge: Array) -> bool:
        """Step the machine of all rows to its minimum from that under `last`; False where memory is short."""
        if not solve_all([self.whole], corners, last, ridge, LARGEST_PROVEN_GAP * self.null):
            return False
        self.whole.polish(corners, ridge)
        return True

    def _enough(self, corners: Corners, ridge: Array, tol: float) -> bool:
        """Return whether the gap is proven small, by second derivatives too where l1 is too small to."""
        whole, null = self.whole, self.null[0]
        objective = whole.objective(corners, ridge)
        if not proven(whole.gap, objective, null, tol):
            whole.gap = min(whole.gap, whole.curved(corners, ridge))
        return proven(whole.gap, objective, null, tol)

    def proof(self, corners: Corners, ridge: Array, tol: float) -> Certificate:
        """Return how good the machine of all rows is."""
        self._enough(corners, ridge, tol)
        return super().proof(corners, ridge, tol)

    def held_out(self) -> Array:
        """Return the losses of the rows held out."""
        others = self.machines[1:]
        v, g = np.stack([one.v for one in others]), np.stack([one.g for one in others])
        return self.quadratics.held_out(np.arange(1, len(self.machines)), v, g)

    def raw(self) -> Array:
        """Return the weights in raw units."""
        return self.quadratics.raw(0, self.whole.v, self.intercept)[None]

    def keep(self) -> Callable[[], None]:
        """Return what brings the machine of all rows back to where it is."""
        whole, v, g, gap = self.whole, self.whole.v.copy(), self.whole.g.copy(), self.whole.gap

        def back() -> None:
            whole.v, whole.g, whole.gap = v, g, gap

        return back

    def gap(self) -> float:
        """Return the gap of the machine of all rows."""
        return self.whole.gap

    def measure(self, corners: Corners, ridge: Array) -> tuple[float, float]:
        """Return the objective and its steepest derivative."""
        alive = self.scale > 0
        deviation = np.where(alive, self.quadratics.deviation, 1.0)
        steep = np.where(alive, self.whole.subgradient(corners, ridge), 0.0) / deviation
        return self.whole.objective(corners, ridge), float(np.abs(steep).max(initial=0.0))
