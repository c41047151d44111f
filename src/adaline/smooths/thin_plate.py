"""Thin plate regression splines: the best basis of a given size for the full thin plate spline.

With a radial function at every distinct point, f(x) = sum_i delta_i eta(|x - x_i|) + alpha' phi(x), phi the polynomials
of low degree and phi' delta = 0, the penalty is delta' E delta. The basis keeps the eigenvectors of E with the largest
eigenvalues (S. Wood, Thin plate regression splines, 2003).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
import scipy

from adaline.arrays import Array

FEW = 0.1  # share of all eigenvectors up to which Lanczos finds them sooner; at twice it takes as long as all of them
MOST_POINTS = 2000  # radial functions, as in mgcv; the eigenvectors of 4000 take eight times as long


class _Parts(NamedTuple):
    functions: Array
    """(points, width - M): radial coefficients of the wiggly columns."""
    scale: Array
    """(width,): columns are divided by these, so that their mean square over the points given is 1."""
    penalty: Array


@dataclass(frozen=True)
class ThinPlate:
    """A thin plate regression spline (mgcv's `tp`).

    Parameters
    ----------
    points : distinct points in the order of mgcv, sorted; each a tuple of m numbers.
    counts : how many rows lie at each point, by which columns are scaled.
    width : number of coefficients; more than the polynomials and at most the points.
    """

    points: tuple[tuple[float, ...], ...]
    counts: tuple[float, ...]
    width: int

    def columns(self, x: Array) -> Array:
        """Return b_k(x) at rows x (n, m)."""
        parts = self._parts
        return np.asarray(self._raw(np.asarray(x, dtype=np.float64), parts.functions) / parts.scale)

    def penalty(self) -> Array:
        """Return S, (width, width)."""
        return self._parts.penalty

    @property
    def order(self) -> int:
        """The derivative that is penalised: the smallest m with 2 m > d + 1."""
        return (len(self.points[0]) + 1) // 2 + 1

    def _raw(self, x: Array, functions: Array) -> Array:
        centre, points = self._centred
        given = x - centre
        return np.column_stack([self._radial(given, points) @ functions, self._polynomials(given)])

    @cached_property
    def _centred(self) -> tuple[Array, Array]:
        points = np.array(self.points)
        centre = np.average(points, axis=0, weights=self.counts)
        return centre, points - centre

    @cached_property
    def _parts(self) -> _Parts:
        _, points = self._centred
        values, vectors = _largest(self._radial(points, points), self.width)
        kept = np.argsort(-np.abs(values))[: self.width]
        kept = kept[np.argsort(-values[kept])]
        values, vectors = values[kept], vectors[:, kept]
        low = self._polynomials(points)
        free = np.linalg.qr(vectors.T @ low, mode="complete")[0][:, low.shape[1] :]  # delta = U z with phi' U z = 0
        functions = vectors @ free
        raw = self._raw(np.array(self.points), functions)
        scale = np.sqrt(np.average(raw**2, axis=0, weights=self.counts))
        penalty = np.zeros((self.width, self.width))
        wiggly = functions.shape[1]
        penalty[:wiggly, :wiggly] = (free.T * values) @ free
        penalty /= np.outer(scale, scale)
        return _Parts(functions, scale, (penalty + penalty.T) / 2)

    def _radial(self, x: Array, points: Array) -> Array:
        d, m = points.shape[1], self.order
        square = sum(np.subtract.outer(x[:, j], points[:, j]) ** 2 for j in range(d))
        if d % 2:
            constant = math.gamma(d / 2 - m) / (2 ** (2 * m) * math.pi ** (d / 2) * math.factorial(m - 1))
            return np.asarray(constant * np.sqrt(square) * square ** (m - (d + 1) // 2))
        constant = (-1) ** (m + 1 + d // 2) / (
            2 ** (2 * m - 1) * math.pi ** (d / 2) * math.factorial(m - 1) * math.factorial(m - d // 2)
        )
        logs = np.log(square, out=np.zeros_like(square), where=square > 0) / 2
        return np.asarray(constant * square ** (m - d // 2) * logs)

    def _polynomials(self, x: Array) -> Array:
        powers = [p for p in product(range(self.order), repeat=x.shape[1]) if sum(p) < self.order]
        return np.column_stack([np.prod(x ** np.array(p), axis=1) for p in sorted(powers, key=sum)])


def _largest(matrix: Array, count: int) -> tuple[Array, Array]:
    """Return eigenvalues and eigenvectors of a symmetric matrix, at least `count` of those of largest magnitude."""
    if count > FEW * len(matrix):
        values, vectors = np.linalg.eigh(matrix)
        return values, vectors
    start = np.cos(np.arange(len(matrix)) ** 2.0)  # along no eigenvector, and the same each time
    values, vectors = scipy.sparse.linalg.eigsh(matrix, k=count, which="LM", v0=start, tol=0.0)
    return values, vectors
