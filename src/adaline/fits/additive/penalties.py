"""Penalties of blocks of coefficients, as functions of parameters theta, with first and second derivatives.

- A smooth in diagonal coordinates: P = diag(sum_j e^(theta_j) d_j).
- Random effects of G groups with q coefficients each, independent between groups, precision matrix Omega within:

      Omega = L' diag(e^tau) L,   L unit lower triangular,   log|P| = G sum tau.

  Coefficient k, given those before it, has mean -sum_(l<k) L_kl b_l and variance phi e^(-tau_k). A variance of zero and
  a correlation of 1 are both tau_k = infinity, with all other parameters finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from adaline.arrays import Array

ROUNDING = 1e-14  # share of a variance that counts as none of it


class BlockPenalty(Protocol):
    """A penalty on consecutive coefficients."""

    @property
    def start(self) -> int:
        """Index of the first coefficient."""

    @property
    def stop(self) -> int:
        """One past the last coefficient."""

    @property
    def parameters(self) -> int:
        """Number of parameters theta."""

    @property
    def rank(self) -> int:
        """Number of coefficients, or combinations of them, that are penalised."""

    def slopes(self, theta: Array) -> tuple[list[Array], list[tuple[int, int, Array]]]:
        """Return dP/dtheta_i, and the d2P/dtheta_i dtheta_j that are not zero with i <= j, as `times` takes them."""

    def total(self, theta: Array) -> Array:
        """Return P, as `times` takes it."""

    def times(self, matrix: Array, part: Array) -> Array:
        """Return matrix (n, block) times a part of P or of its derivatives."""

    def log_determinant(self, theta: Array) -> tuple[float, Array, Array]:
        """Return log|P| over the penalised directions, its gradient and its Hessian."""


@dataclass(frozen=True)
class DiagonalPenalty:
    """The penalty of a smooth: P = diag(sum_j e^(theta_j) d_j).

    Parameters
    ----------
    start : index of the first coefficient.
    weights : d, (penalties, coefficients).
    """

    start: int
    weights: Array

    @property
    def stop(self) -> int:
        """One past the last coefficient."""
        return self.start + int(self.weights.shape[1])

    @property
    def parameters(self) -> int:
        """One log ratio for each penalty."""
        return len(self.weights)

    @property
    def rank(self) -> int:
        """Number of coefficients that are penalised."""
        return int(self.weights.any(axis=0).sum())

    def slopes(self, theta: Array) -> tuple[list[Array], list[tuple[int, int, Array]]]:
        """Return dP/dtheta_i and the nonzero d2P/dtheta_i dtheta_j, as diagonals."""
        each = list(np.exp(theta)[:, None] * self.weights)
        return each, [(i, i, one) for i, one in enumerate(each)]

    def total(self, theta: Array) -> Array:
        """Return the diagonal of P."""
        return np.asarray(np.exp(theta) @ self.weights)

    def times(self, matrix: Array, part: Array) -> Array:
        """Return matrix times diag(part)."""
        return np.asarray(matrix * part)

    def log_determinant(self, theta: Array) -> tuple[float, Array, Array]:
        """Return log|P| over the penalised directions, its gradient and its Hessian."""
        seen = self.weights[:, self.weights.any(axis=0)]
        top = theta.max()
        parts = np.exp(theta - top)[:, None] * seen
        whole = parts.sum(axis=0)
        share = parts / whole
        value = float(np.log(whole).sum() + top * len(whole))
        return value, share.sum(axis=1), np.diag(share.sum(axis=1)) - share @ share.T


@dataclass(frozen=True)
class CovariancePenalty:
    """The penalty of random effects: P = I_groups x Omega(theta), theta = (tau, L below its diagonal, row by row).

    Parameters
    ----------
    start : index of the first coefficient; those of a group are consecutive.
    groups : number of groups.
    size : number of coefficients a group, q.
    order : in which the coefficients of a group are given one another; None for their own. Theta is of this order.
    """

    start: int
    groups: int
    size: int
    order: tuple[int, ...] | None = None

    @property
    def stop(self) -> int:
        """One past the last coefficient."""
        return self.start + self.groups * self.size

    @property
    def parameters(self) -> int:
        """Number of parameters: a variance for each coefficient, a covariance for each pair."""
        return self.size * (self.size + 1) // 2

    @property
    def rank(self) -> int:
        """Number of coefficients, all penalised."""
        return self.groups * self.size

    def slopes(self, theta: Array) -> tuple[list[Array], list[tuple[int, int, Array]]]:
        """Return the derivatives of Omega, (q, q)."""
        q, lower, scale = self.size, self.lower(theta), np.exp(theta[: self.size])
        first = [scale[k] * np.outer(lower[k], lower[k]) for k in range(q)]
        second = [(k, k, first[k]) for k in range(q)]
        unit = self._reordered(np.eye(q))
        for i, (k, left) in enumerate(self._pairs, start=q):
            part = scale[k] * (np.outer(unit[left], lower[k]) + np.outer(lower[k], unit[left]))
            first.append(part)
            second.append((k, i, part))
        for i, (k, a) in enumerate(self._pairs, start=q):
            for j, (other, b) in enumerate(self._pairs, start=q):
                if other == k and j >= i:
                    both = np.outer(unit[a], unit[b])
                    second.append((i, j, scale[k] * (both + both.T)))
        return first, second

    def total(self, theta: Array) -> Array:
        """Return Omega, (q, q)."""
        lower = self.lower(theta)
        return np.asarray((lower.T * np.exp(theta[: self.size])) @ lower)

    def times(self, matrix: Array, part: Array) -> Array:
        """Return matrix times I x part."""
        return np.asarray((matrix.reshape(len(matrix), self.groups, self.size) @ part).reshape(len(matrix), -1))

    def log_determinant(self, theta: Array) -> tuple[float, Array, Array]:
        """Return log|P|, its gradient and its Hessian."""
        gradient = np.zeros(self.parameters)
        gradient[: self.size] = self.groups
        return float(self.groups * theta[: self.size].sum()), gradient, np.zeros((self.parameters, self.parameters))

    def lower(self, theta: Array) -> Array:
        """Return L, unit lower triangular, its columns in the places of the coefficients."""
        out = np.eye(self.size)
        for value, (k, left) in zip(theta[self.size :], self._pairs, strict=True):
            out[k, left] = value
        return self._reordered(out)

    def turn(self, theta: Array) -> Array:
        """Return L^-1, (q, q)."""
        return np.asarray(np.linalg.inv(self.lower(theta)))

    def covariance(self, theta: Array) -> Array:
        """Return Omega^-1, (q, q): the covariance of a group's coefficients divided by phi."""
        inverse = self.turn(theta)
        return np.asarray((inverse * np.exp(-theta[: self.size])) @ inverse.T)

    def parameters_of(self, covariance: Array) -> Array:
        """Return theta of a covariance divided by phi, (q, q)."""
        order = [*range(self.size)] if self.order is None else [*self.order]
        matrix, tau, lower = covariance[np.ix_(order, order)], np.empty(self.size), list[float]()
        for k in range(self.size):
            slopes = np.linalg.lstsq(matrix[:k, :k], matrix[:k, k], rcond=ROUNDING)[0]
            tau[k] = -np.log(max(matrix[k, k] - slopes @ matrix[:k, k], ROUNDING * matrix[k, k]))
            lower += (-slopes).tolist()
        return np.append(tau, lower)

    def _reordered(self, columns: Array) -> Array:
        """Return columns in the places of the coefficients that they are of."""
        return columns if self.order is None else columns[:, np.argsort(self.order)]

    @cached_property
    def _pairs(self) -> list[tuple[int, int]]:
        return [(k, left) for k in range(self.size) for left in range(k)]


@dataclass(frozen=True)
class TurnedCovariance(CovariancePenalty):
    """The same penalty at theta in coordinates L b of a group's coefficients b, where Omega is diagonal.

    However large its entries are, they then cost no digits of the other coefficients, as in a diagonal penalty. With
    f_l the row l of L^-1 the derivatives in L_kl are e^(tau_k) (e_k f_l' + f_l e_k').
    """

    def slopes(self, theta: Array) -> tuple[list[Array], list[tuple[int, int, Array]]]:
        """Return the derivatives of Omega, (q, q)."""
        q, scale, unit, back = self.size, np.exp(theta[: self.size]), np.eye(self.size), self.turn(theta)
        back = back if self.order is None else back[[*self.order]]
        first = [scale[k] * np.outer(unit[k], unit[k]) for k in range(q)]
        second = [(k, k, first[k]) for k in range(q)]
        for i, (k, left) in enumerate(self._pairs, start=q):
            part = scale[k] * (np.outer(back[left], unit[k]) + np.outer(unit[k], back[left]))
            first.append(part)
            second.append((k, i, part))
        for i, (k, a) in enumerate(self._pairs, start=q):
            for j, (other, b) in enumerate(self._pairs, start=q):
                if other == k and j >= i:
                    both = np.outer(back[a], back[b])
                    second.append((i, j, scale[k] * (both + both.T)))
        return first, second

    def total(self, theta: Array) -> Array:
        """Return Omega, (q, q)."""
        return np.diag(np.exp(theta[: self.size]))


def turned_penalties(penalties: Sequence[BlockPenalty]) -> list[BlockPenalty]:
    """Return penalties in the coordinates where they are diagonal."""
    return [
        TurnedCovariance(one.start, one.groups, one.size, one.order) if isinstance(one, CovariancePenalty) else one
        for one in penalties
    ]


def turning(penalties: Sequence[BlockPenalty], theta: Array, size: int) -> sp.csr_array | None:
    """Return T, beta = T (coordinates where penalties are diagonal), (size, size); None for the identity."""
    if not any(isinstance(one, CovariancePenalty) and one.size > 1 for one in penalties):
        return None
    out, at, start = list[sp.sparray](), 0, 0
    for one in penalties:
        own = theta[start : (start := start + one.parameters)]
        if isinstance(one, CovariancePenalty) and one.size > 1:
            out += [sp.eye_array(one.start - at), sp.kron(sp.eye_array(one.groups), one.turn(own))]
            at = one.stop
    return sp.csr_array(sp.block_diag([*out, sp.eye_array(size - at)]))
