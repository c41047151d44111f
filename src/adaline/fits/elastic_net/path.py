"""A path of l1 penalties: machines that follow it together, and the penalty that predicts held-out rows best."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidData
from adaline.fits.elastic_net.net import ElasticPath, FittedNet, NetOptions, proven, short_of
from adaline.fits.penalty_path import Losses
from adaline.results import Certificate, Status
from adaline.solvers.coordinates.corners import Corners
from adaline.solvers.least_squares.fit import certificate
from adaline.solvers.smooth.proximal_newton import ZEROING_PENALTY

# penalties are cut here, so that sums of a few of them stay finite; 10x larger, they overflow
LARGEST_PENALTY = np.finfo(np.float64).max / 8


class Nets(ABC):
    """The machine of all rows and those without each fold, which follow a path of penalties together.

    Until the end penalties and losses are those of targets times `unit`: in raw units they may overflow. `scale` (D,)
    is zero for columns that do not vary, `size` (D,) the units that penalties act in, `null` (M,) the losses of the
    best constants, `outside` (M - 1,) the weights of the rows held out, `mean` (D,) that of the columns.
    """

    solver: ClassVar[str]
    unit: float = 1.0
    lowest: float = 0.0  # bound of the loss
    settled: bool = False  # whether no step is left, where a loss allows no proof of a gap
    scale: Array
    size: Array
    null: Array
    outside: Array
    mean: Array

    @abstractmethod
    def largest(self, unity: Corners) -> float:
        """Return the smallest penalty under which all coefficients are zero; zero if the columns explain nothing."""

    @abstractmethod
    def solve(self, corners: Corners, last: Corners, ridge: Array, share: float) -> bool:
        """Step all machines to minima under a penalty, from those under `last`, to gaps of a share of the losses.

        False where there is no memory for it.
        """

    @abstractmethod
    def finish(self, corners: Corners, last: Corners, ridge: Array) -> bool:
        """Bring the machine of all rows as near to its minimum as numbers allow; False as in `solve`."""

    @abstractmethod
    def held_out(self) -> Array:
        """Return the losses of the rows held out, (M - 1,)."""

    @abstractmethod
    def raw(self) -> Array:
        """Return the weights of the machine of all rows in raw units, (1, 1 + D)."""

    @abstractmethod
    def keep(self) -> Callable[[], None]:
        """Return what brings the machine of all rows back to where it is."""

    @abstractmethod
    def gap(self) -> float:
        """Return the gap of the machine of all rows."""

    @abstractmethod
    def measure(self, corners: Corners, ridge: Array) -> tuple[float, float]:
        """Return the objective of the machine of all rows, and its steepest derivative for columns of unit spread."""

    def proof(self, corners: Corners, ridge: Array, tol: float) -> Certificate:
        """Return how good the machine of all rows is."""
        objective, steepest = self.measure(corners, ridge)
        solved = self.settled or proven(self.gap(), objective - self.lowest, self.null[0], tol)
        return certificate(
            status=Status.SOLVED if solved else Status.NOT_CONVERGED,
            objective=objective / self.unit / self.unit,
            gradient=steepest / self.unit,
            gap=self.gap() / self.unit / self.unit,
            rank=int((self.scale > 0).sum()),
            solver=self.solver,
            advice=None if solved else short_of(self.gap(), objective - self.lowest),
        )


def chosen_net(nets: Nets, options: NetOptions) -> FittedNet | None:
    """Return the net under the penalty given, or under the one of the path that rows held out choose.

    None where memory is short. Without folds the last point of the path is the net.
    """
    alive, unit, size = nets.scale > 0, nets.unit, nets.size

    def ridge(l1: float) -> Array:
        return np.broadcast_to(np.minimum(options.ridge(l1 / unit) * size * size, LARGEST_PENALTY), size.shape)

    unity = options.corners(size, alive)
    largest = (1 + 4 * math.ulp(1.0)) * nets.largest(unity)  # no coefficient, whatever the rounding
    if options.l1 is not None:
        l1 = min(options.l1 * unit, LARGEST_PENALTY)
        corners = options.corners(np.minimum(l1 * size, LARGEST_PENALTY), alive)
        if not nets.finish(corners, corners if l1 > largest else unity.times(largest), ridge(l1)):
            return None
        return FittedNet(nets.raw(), options.l1, None, nets.proof(corners, ridge(l1), options.tol), alive, nets.mean)
    if options.mix is not None and not math.isfinite(largest / unit):
        raise InvalidData("the penalties of the path overflow float64: divide the targets by a power of ten")
    losses = Losses(nets.outside)
    l1s = np.geomspace(largest, largest * options.ratio, options.points) if largest else np.zeros(1)
    last, points, proofs = float(l1s[0]), [], []
    for l1 in l1s.tolist():
        corners = options.corners(l1 * size, alive) if largest else Corners(np.full(len(size), ZEROING_PENALTY))
        if not nets.solve(corners, options.corners(last * size, alive), ridge(l1), options.tol):
            return None
        if len(nets.outside):
            losses.add(nets.held_out())
        else:
            proofs.append(nets.proof(corners, ridge(l1), options.tol))
        points.append((nets.raw(), nets.gap(), nets.keep()))
        last = l1
    thetas, gaps, keeps = zip(*points, strict=True)
    judged = np.array(losses.values), np.array(losses.errors)
    path = ElasticPath(l1s, np.array(thetas), np.array(gaps), *judged, tuple(proofs))
    if not len(nets.outside):
        return FittedNet(nets.raw(), last / unit, path.in_units(unit), proofs[-1], alive, nets.mean)
    best = path.chosen(options.rule)
    keeps[best]()
    corners = options.corners(l1s[best] * size, alive) if largest else Corners(np.full(len(size), ZEROING_PENALTY))
    if not nets.finish(corners, corners, ridge(float(l1s[best]))):
        return None
    proof = nets.proof(corners, ridge(float(l1s[best])), options.tol)
    return FittedNet(nets.raw(), float(l1s[best]) / unit, path.in_units(unit), proof, alive, nets.mean)


def required(net: FittedNet | None) -> FittedNet:
    """Return a net of machines whose memory never runs short."""
    assert net is not None
    return net
