"""Thin plate regression splines: the best basis of a given size for the full thin plate spline.

With a radial function at every distinct point, f(x) = sum_i delta_i eta(|x - x_i|) + alpha' phi(x), phi the polynomials
of low degree and phi' delta = 0, the penalty is delta' E delta. The basis keeps the eigenvectors of E with the largest
eigenvalues (S. Wood, Thin plate regression splines, 2003).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import NamedTuple

import numpy as np
import scipy

from adaline.arrays import Array

# share of all eigenvectors up to which they are found by Lanczos' method; doubled, a full decomposition is quicker. It
# must stay below 1/3, as a third more vectors than that are iterated
FEW = 0.1
ROUNDING = 2.0**-52  # residual of an eigenvector, relative to the largest eigenvalue
RADIAL_LINE = 1 / 12  # eta(r) / r^3 for one column
MOST_POINTS = 2000  # radial functions, as in mgcv; the eigenvectors of 4000 take eight times as long


class _Parts(NamedTuple):
    functions: Array
    """(points, width - M): radial coefficients of the wiggly columns."""
    scale: Array
    """(width,): columns are divided by these, so that their mean square over the points given is 1."""
    penalty: Array


@dataclass(frozen=True, eq=False)
class ThinPlate:
    """A thin plate regression spline (mgcv's `tp`).

    Parameters
    ----------
    points : distinct points in the order of mgcv, sorted, (P, m).
    counts : how many rows lie at each point, by which columns are scaled, (P,).
    width : number of coefficients; more than the polynomials and at most the points.
    """

    points: Array
    counts: Array
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
        return (int(self.points.shape[1]) + 1) // 2 + 1

    def _raw(self, x: Array, functions: Array) -> Array:
        centre, points = self._centred
        given = x - centre
        return np.column_stack([self._radial_sums(given, points, functions), self._polynomials(given)])

    @cached_property
    def _centred(self) -> tuple[Array, Array]:
        centre = np.average(self.points, axis=0, weights=self.counts)
        return centre, self.points - centre

    @cached_property
    def _parts(self) -> _Parts:
        _, points = self._centred
        values, vectors = self._largest(points)
        kept = np.argsort(-np.abs(values))[: self.width]
        kept = kept[np.argsort(-values[kept])]
        values, vectors = values[kept], vectors[:, kept]
        low = self._polynomials(points)
        free = np.linalg.qr(vectors.T @ low, mode="complete")[0][:, low.shape[1] :]  # delta = U z with phi' U z = 0
        functions = vectors @ free
        raw = self._raw(self.points, functions)
        scale = np.sqrt(np.average(raw**2, axis=0, weights=self.counts))
        penalty = np.zeros((self.width, self.width))
        wiggly = functions.shape[1]
        penalty[:wiggly, :wiggly] = (free.T * values) @ free
        penalty /= np.outer(scale, scale)
        return _Parts(functions, scale, (penalty + penalty.T) / 2)

    def _largest(self, points: Array) -> tuple[Array, Array]:
        """Return eigenvalues and eigenvectors of E, at least as many as columns of those of largest magnitude."""
        size = len(points)
        if self.width > FEW * size:
            values, vectors = np.linalg.eigh(self._radial(points, points))
            return values, vectors
        if points.shape[1] == 1:
            return _lanczos(partial(self._radial_sums, points, points), size, self.width)
        return _lanczos(self._radial(points, points).__matmul__, size, self.width)

    def _radial_sums(self, x: Array, points: Array, functions: Array) -> Array:
        """Return sum_i eta(|x - x_i|) f_i at rows x for functions f (points,) or (points, functions).

        Of one column eta is a cubic on each side of x, whose sums follow from those of f_i x_i^k over the points below.
        """
        if points.shape[1] > 1:
            return np.asarray(self._radial(x, points) @ functions)
        at, x = points[:, 0], x[:, 0]
        if functions.ndim == 2:
            at, x = at[:, None], x[:, None]
        below = np.searchsorted(points[:, 0], x.ravel(), side="right")
        sums = np.zeros((4, len(points) + 1, *functions.shape[1:]))
        sums[0, 1:] = functions
        for k in range(3):
            sums[k + 1, 1:] = sums[k, 1:] * at
        np.cumsum(sums, axis=1, out=sums)
        turned = 2 * sums[:, below] - sums[:, -1:]  # the points above x count the other way round
        return np.asarray(RADIAL_LINE * (((turned[0] * x - 3 * turned[1]) * x + 3 * turned[2]) * x - turned[3]))

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


def _lanczos(times: Callable[[Array], Array], size: int, count: int) -> tuple[Array, Array]:
    """Return the eigenvalues of largest magnitude of a symmetric matrix, and eigenvectors, by products with it.

    All directions are kept and made orthogonal. SciPy's eigsh takes ten times as long for 2,000 points.
    """
    start = np.cos(np.arange(size) ** 2.0)  # along no eigenvector, and the same each time
    basis, diagonal, beside = [start / np.linalg.norm(start)], list[float](), list[float]()
    steps = 3 * count
    while True:
        while len(diagonal) < steps:
            step, known = times(basis[-1]), np.array(basis)
            diagonal.append(float(basis[-1] @ step))
            for _ in range(2):  # the second time takes out what rounding left
                step = step - (known @ step) @ known
            beside.append(float(np.linalg.norm(step)))
            basis.append(step / beside[-1])
        values, vectors = scipy.linalg.eigh_tridiagonal(diagonal, beside[:-1])
        kept = np.argsort(-np.abs(values))[:count]
        if (np.abs(beside[-1] * vectors[-1, kept]) <= ROUNDING * np.abs(values).max()).all() or steps == size:
            return np.asarray(values[kept]), np.array(basis[:-1]).T @ vectors[:, kept]
        steps = min(steps + count, size)
