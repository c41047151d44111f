"""A net: its options, the path of penalties, the fitted weights, and the gap that proves them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.results import Certificate
from adaline.solvers.coordinates.corners import Corners, GroupCorners, PositiveCorners

# gap that proves a net, as a share of the loss of the best constants; 10x larger costs coefficients a digit
LARGEST_PROVEN_GAP = 1e-12
# gap that proves a net, as a share of its objective; doubling it accepts worse fits as solved
LARGEST_RELATIVE_GAP = 1e-3
# share of the loss of the best constants that is rounding; doubling it proves nets with gaps up to twice as large
GAP_ROUNDING = 64 * math.ulp(1.0)


@dataclass(frozen=True)
class NetOptions:
    """The penalties of a net, and the points of its path.

    Parameters
    ----------
    l1 : a number, or None for the one that predicts rows held out best.
    penalty : ridge penalties, a number or one a column (D,).
    mix : None, or the share of l1 in l1 + ridge penalty, which then follows l1 along the path.
    folds, points, ratio, rule : of the path; with no folds nothing is chosen, and the last point is the net.
    standardize : whether penalties act on columns of unit standard deviation.
    intercept : whether w0 is free.
    tol : bounds the gaps of the path as a share of the loss of the best constants.
    positive : whether coefficients are zero or more.
    groups : indices of the columns that enter together; every column is in one group.
    """

    l1: float | None
    penalty: Array
    mix: float | None
    folds: int
    points: int
    ratio: float
    rule: str
    standardize: bool
    intercept: bool
    tol: float
    positive: bool = False
    groups: tuple[NDArray[np.intp], ...] | None = None

    def corners(self, c: Array, alive: NDArray[np.bool_]) -> Corners:
        """Return the penalty with corners that costs c (D,) a coefficient; columns not alive are in no group."""
        if self.positive:
            return PositiveCorners(c)
        if self.groups is None or not c.any():
            return Corners(c)
        groups = (group[alive[group]] for group in self.groups)
        return GroupCorners(c, tuple(group for group in groups if len(group)))

    def ridge(self, l1: float) -> Array:
        """Return the ridge penalties beside l1, a number or (D,)."""
        return self.penalty if self.mix is None else np.asarray(l1 * (1 - self.mix) / self.mix)

    def ridges(self, l1: float, size: Array) -> Array:
        """Return the ridge penalties beside l1, (D,), of columns in a view where penalties act in units of `size`."""
        return np.broadcast_to(self.ridge(l1) * size**2, size.shape)


@dataclass(frozen=True)
class ElasticPath:
    """P points, the largest l1 first: (P,) penalties, gaps, and mean losses of rows held out with their errors.

    `theta` (P, K, 1 + D) has the weights in raw units, intercept first. Without folds there are no losses of rows held
    out, and a certificate for each point.
    """

    l1: Array
    theta: Array
    gaps: Array
    values: Array
    errors: Array
    certificates: tuple[Certificate, ...] = ()

    def in_units(self, unit: float) -> ElasticPath:
        """Return the path of targets times `unit` in the targets' own units; its weights are in these already."""
        gaps, values, errors = (part / unit / unit for part in (self.gaps, self.values, self.errors))
        return ElasticPath(self.l1 / unit, self.theta, gaps, values, errors, self.certificates)

    def chosen(self, rule: str) -> int:
        """Return the index of the least loss, or of the largest l1 whose loss is within a standard error of it."""
        best = int(np.argmin(self.values))
        if rule == "best":
            return best
        return int(np.argmax(self.values <= self.values[best] + self.errors[best]))


@dataclass(frozen=True)
class FittedNet:
    """Weights (K, 1 + D) in raw units, the penalty l1, the path where there is one, and the columns (D,).

    `varying` says which columns vary, `mean` what they are on average.
    """

    theta: Array
    l1: float
    path: ElasticPath | None
    certificate: Certificate
    varying: NDArray[np.bool_]
    mean: Array


def proven(gap: float, above: float, null: float, tol: float) -> bool:
    """Return whether a gap is small beside the loss of the best constants and the objective, both above the lowest."""
    return gap <= max(tol, LARGEST_PROVEN_GAP) * null and gap <= max(
        max(tol, LARGEST_RELATIVE_GAP) * above, GAP_ROUNDING * null
    )


def short_of(gap: float, above: float) -> str:
    """Return advice on a gap that proves too little, given the objective above its lower bound."""
    told = f" (the gap is {gap / above:.1g} of the objective)" if math.isfinite(gap) and above > 0 else ""
    return f"raise tol, or give a penalty beside l1{told}"
