"""Solving with a matrix of second derivatives that may be singular, and the gap it proves.

    step = H^-1 g,   decrement^2 = g' H^-1 g

H is brought to a unit diagonal, then Cholesky; where that fails, eigenvalues below `CUT` times the largest are left
out, and negative ones (losses that are not convex) turned round.

The gap of a convex loss whose curvature changes by at most a factor exp(c |dz|): let R bound the length of a row in the
metric of H and d = c R decrement. Where d < 1 the minimum lies within -ln(1 - d)/(c R) of here in that metric, and so
F - min F <= decrement (-ln(1 - d)) / (c R)  (Bach 2010; Sun and Tran-Dinh 2019).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from adaline.sources.threads import one_blas_thread

Array = NDArray[np.float64]

CUT = 1e-13


@dataclass(frozen=True)
class Curvature:
    """A factored H: H^-1 = root root' with root (M, rank); `smallest` eigenvalue of H at unit diagonal."""

    root: Array
    smallest: float
    largest: float
    null: Array
    """Directions that H does not see, (M, M - rank)."""

    @property
    def rank(self) -> int:
        """Number of directions that H sees."""
        return int(self.root.shape[1])

    @property
    def condition(self) -> float:
        """Square root of the ratio of the eigenvalues: that of the design whose Gram matrix H is."""
        return math.sqrt(self.largest / self.smallest) if self.smallest > 0 else math.inf

    def solve(self, g: Array) -> Array:
        """Return H^-1 g in the shape of g."""
        return np.asarray((self.root @ (self.root.T @ g.ravel())).reshape(g.shape))

    def length(self, g: Array) -> float:
        """Return (g' H^-1 g)^(1/2)."""
        return float(np.linalg.norm(self.root.T @ g.ravel()))

    def covariance(self) -> Array:
        """Return H^-1."""
        return np.asarray(self.root @ self.root.T)


def factor(hessian: Array) -> Curvature:
    """Return H factored; on one thread, as BLAS with several takes seconds for small matrices on a busy machine."""
    with one_blas_thread():
        return _factor(hessian)


def _factor(hessian: Array) -> Curvature:
    diagonal = hessian.diagonal()
    alive = diagonal != 0
    unit = np.where(alive, 1.0 / np.sqrt(np.abs(np.where(alive, diagonal, 1.0))), 0.0)
    even = hessian * unit[:, None] * unit
    places = np.flatnonzero(alive)
    even = even[np.ix_(places, places)]
    m = len(hessian)
    dead = np.eye(m)[:, ~alive]
    if not len(places):
        return Curvature(np.zeros((m, 0)), 1.0, 1.0, dead)
    try:
        lower = linalg.cholesky(even, lower=True, check_finite=False)
        inverse = linalg.lapack.dtrtri(lower, lower=1)[0]
        # the smallest eigenvalue, from the norm of the inverse; within a factor of the size
        small, large = 1.0 / float((inverse**2).sum()), float(np.abs(even).sum(axis=1).max(initial=1.0))
        if small > CUT * large * 10:
            root = np.zeros((m, len(places)))
            root[places] = inverse.T * unit[places, None]
            return Curvature(root, small, large, dead)
    except linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(even)
    size = np.abs(values)
    largest = float(size.max(initial=1.0))
    kept = size > CUT * largest * max(len(places), 1)
    root, null = np.zeros((m, int(kept.sum()))), np.zeros((m, int((~kept).sum())))
    root[places] = vectors[:, kept] / np.sqrt(size[kept]) * unit[places, None]
    null[places] = vectors[:, ~kept] * unit[places, None]
    return Curvature(root, float(size[kept].min(initial=1.0)), largest, np.concatenate([null, dead], axis=1))


def gap(decrement: float, reach: float, concordance: float) -> float:
    """Return a bound on F - min F from the decrement; `reach` bounds the rows in the metric of H."""
    if decrement == 0:
        return 0.0
    if not math.isfinite(concordance):
        return math.inf
    c = concordance * reach
    if c * decrement >= 1:
        return math.inf
    return decrement * (-math.log1p(-c * decrement) / c if c > 0 else decrement)
