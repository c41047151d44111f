"""Additive models with groupings of many levels: the largest is eliminated group by group, the others have columns.

With H_g = Z_g'Z_g + Omega for the q effects of group g of the largest, C_g = H_g^-1 Z_g'X, and X the constant, all
other columns, and the effects of the other groupings, of which Z_g'X is sparse,

    S = X'X + P - sum_g X'Z_g C_g,     beta = S^-1 (X'y - sum_g X'Z_g H_g^-1 Z_g'y),     b_g = H_g^-1 Z_g'y - C_g beta
    log|X'X + P| of all columns = sum_g log|H_g| + log|S|

so that memory and time are those of the groups' q x (q + p) blocks, of the pairs of groups that occur, and of the
matrix S, which is dense. With K = S^-1, M_k = sum_g C_g' Omega_k C_g and N_kl = sum_g C_g' Omega_k H_g^-1 Omega_l C_g
the derivatives of log|H| in theta_k and theta_l of Omega are

    sum_g tr(H_g^-1 Omega_k) + tr(K M_k),
    sum_g tr(H_g^-1 Omega_kl) + tr(K M_kl) - sum_g tr(H_g^-1 Omega_k H_g^-1 Omega_l) - 2 tr(K N_kl) - tr(K M_k K M_l),

and with a parameter of P, -tr(K P_i K M_k). Criteria are those of `criteria`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from adaline.arrays import Array
from adaline.fits.additive.criteria import Criterion, PenalisedSums, penalty_matrix, with_parameters
from adaline.fits.additive.group_columns import GroupColumns
from adaline.fits.additive.penalties import BlockPenalty, CovariancePenalty, TurnedCovariance, turning
from adaline.solvers.lapack import cholesky, dtrtri


@dataclass(frozen=True)
class GroupedSums:
    """A penalised problem with a grouping that is eliminated, as its second moments.

    Parameters
    ----------
    plain : X'X, X'y, y'y and the penalties of the columns beside the grouping, the constant among them.
    penalty : of the grouping.
    squares, along, target : Z_g'Z_g (G, q, q), Z_g'X and Z_g'y (G, q).
    """

    plain: PenalisedSums
    penalty: CovariancePenalty
    squares: Array
    along: GroupColumns
    target: Array

    @property
    def gram(self) -> Array:
        """X'X."""
        return self.plain.gram

    @property
    def rows(self) -> float:
        """N, the number of observations."""
        return self.plain.rows

    @property
    def square(self) -> float:
        """Y'y."""
        return self.plain.square

    @property
    def penalties(self) -> Sequence[BlockPenalty]:
        """All penalties, that of the grouping last."""
        return [*self.plain.penalties, self.penalty]

    def turned(self, theta: Array) -> GroupedSums:
        """Return the same problem in coordinates in which covariances are diagonal at theta."""
        own, q = theta[-self.penalty.parameters :], self.penalty.size
        turn = turning(self.plain.penalties, theta[: -self.penalty.parameters], len(self.plain.cross))
        if turn is None and q == 1:
            return self
        back, along = self.penalty.turn(own), self.along
        if turn is not None:
            p, sparse = along.dense.shape[2], along.sparse
            dense = (turn[:p, :p].T @ along.dense.reshape(-1, p).T).T.reshape(along.dense.shape)
            along = GroupColumns(dense, None if sparse is None else sp.csr_array(sparse @ turn[p:, p:]))
        return GroupedSums(
            self.plain if turn is None else self.plain.turned(turn),
            TurnedCovariance(self.penalty.start, self.penalty.groups, q, self.penalty.order),
            back.T @ self.squares @ back,
            along.after(np.broadcast_to(back.T, self.squares.shape)),
            self.target @ back,
        )

    def with_penalties(self, penalties: Sequence[BlockPenalty]) -> GroupedSums:
        """Return the same sums with penalties of the same blocks."""
        last = penalties[-1]
        assert isinstance(last, CovariancePenalty)
        return replace(self, plain=self.plain.with_penalties(penalties[:-1]), penalty=last)

    def at(self, theta: Array) -> GroupedFit:
        """Return the solution for these parameters."""
        return GroupedFit(self, theta, self.turned(theta))


class _PenaltyParts(NamedTuple):
    """Derivatives of P in its parameters with the penalty that has them, and those of Omega; no second ones of zero.

    slopes, curves : of P; curves with the indices of their parameters.
    omegas, bends : Omega_k, and Omega_kl with the indices among those of Omega.
    """

    slopes: list[tuple[BlockPenalty, Array]]
    curves: list[tuple[int, int, BlockPenalty, Array]]
    omegas: list[Array]
    bends: list[tuple[int, int, Array]]


@dataclass(frozen=True)
class GroupedFit:
    """The solution for one theta, those of the grouping last.

    Parameters
    ----------
    sums, theta : the problem, and its parameters.
    coordinates : the problem, or that in coordinates in which covariances are diagonal, which cost no digits.
    """

    sums: GroupedSums
    theta: Array
    coordinates: GroupedSums

    @cached_property
    def omega(self) -> Array:
        """Omega, (q, q)."""
        return self.coordinates.penalty.total(self.theta[-self.coordinates.penalty.parameters :])

    @cached_property
    def spread(self) -> Array:
        """H_g^-1, (G, q, q)."""
        return np.asarray(np.linalg.inv(self.coordinates.squares + self.omega))

    @cached_property
    def pull(self) -> GroupColumns:
        """C_g."""
        return self.coordinates.along.after(self.spread)

    def schur(self) -> Array:
        """Return S, (p, p)."""
        plain = self.coordinates.plain
        return (
            plain.gram
            + penalty_matrix(plain, self.theta[: -self.coordinates.penalty.parameters])
            - self.coordinates.along.gram(self.pull)
        )

    @cached_property
    def _scaled(self) -> tuple[Array, Array]:
        """1 / sqrt(diag S), and the lower Cholesky factor of S scaled by it."""
        schur = self.schur()
        scale = schur.diagonal() ** -0.5
        schur *= scale
        schur *= scale[:, None]
        return scale, cholesky(schur, lower=True)

    @cached_property
    def inverse(self) -> Array:
        """K, (p, p)."""
        scale, factor = self._scaled
        root = np.tril(dtrtri(factor, lower=1)[0]) * scale
        return np.asarray(root.T @ root)

    @cached_property
    def coefficients(self) -> Array:
        """Beta, (p,)."""
        alone = np.einsum("gab,gb->ga", self.spread, self.coordinates.target)
        return np.asarray(self.inverse @ (self.coordinates.plain.cross - self.coordinates.along.against(alone)))

    @cached_property
    def effects(self) -> Array:
        """b, (G, q)."""
        left = self.coordinates.target - self.coordinates.along.times(self.coefficients)
        return np.asarray(np.einsum("gab,gb->ga", self.spread, left))

    @cached_property
    def squares(self) -> float:
        """D, the penalised sum of squared residuals."""
        plain = self.coordinates.plain
        explained = plain.cross @ self.coefficients + np.sum(self.coordinates.target * self.effects)
        return float(plain.square - explained)

    def dispersion(self, criterion: Criterion) -> float:
        """Return phi: D / (N - M) under REML, D / N under ML."""
        return self.squares / self.coordinates.plain.divisor(criterion)

    def score(self, criterion: Criterion) -> float:
        """Return what is minimised."""
        plain, m = self.coordinates.plain, self.coordinates.plain.divisor(criterion)
        if not self.squares > 0:
            return np.inf
        scale, factor = self._scaled
        logs = 2 * float(np.sum(np.log(factor.diagonal())) - np.sum(np.log(scale)))
        if criterion == "ml":  # |S_r| = |S| |K_free|
            logs += float(np.linalg.slogdet(self.inverse[np.ix_(plain.free, plain.free)])[1])
        logs -= np.linalg.slogdet(self.spread)[1].sum()
        logs -= sum(one.log_determinant(own)[0] for one, own in with_parameters(self.coordinates.penalties, self.theta))
        return 0.5 * float(m * (np.log(2 * np.pi * self.squares / m) + 1) + logs - plain.log_weights)

    def used(self) -> Array:
        """Return for each parameter the degrees of freedom that its part of the penalty leaves."""
        out = np.concatenate(
            [one.log_determinant(own)[1] for one, own in with_parameters(self.coordinates.penalties, self.theta)]
        )
        return np.asarray(out - self._determinant_slopes(self.inverse))

    def derivatives(self, criterion: Criterion) -> tuple[Array, Array]:
        """Return the gradient and the Hessian of the score in theta."""
        m, inverse = self.coordinates.plain.divisor(criterion), self.inverse
        if criterion == "ml":
            free = self.coordinates.plain.free
            columns = inverse[:, free]
            inverse = inverse - columns @ np.linalg.solve(columns[free], columns.T)
        first, second = self.squares_derivatives()
        gradient, hessian = first / self.squares, second / self.squares
        hessian = m * (hessian - np.outer(gradient, gradient))
        gradient = m * gradient + self._determinant_slopes(inverse)
        hessian = hessian + self._determinant_curves(inverse)
        at = 0
        for one, own in with_parameters(self.coordinates.penalties, self.theta):
            block = slice(at, at := at + one.parameters)
            _, slope, curve = one.log_determinant(own)
            gradient[block] -= slope
            hessian[block, block] -= curve
        return gradient / 2, hessian / 2

    @property
    def blocks(self) -> list[tuple[BlockPenalty, Array]]:
        """The penalties of the columns with their parameters."""
        return with_parameters(self.coordinates.plain.penalties, self.theta[: -self.coordinates.penalty.parameters])

    @cached_property
    def _parts(self) -> _PenaltyParts:
        first, second = list[tuple[BlockPenalty, Array]](), list[tuple[int, int, BlockPenalty, Array]]()
        for one, own in self.blocks:
            slopes, curves = one.slopes(own)
            second += [(len(first) + i, len(first) + j, one, part) for i, j, part in curves]
            first += [(one, part) for part in slopes]
        return _PenaltyParts(
            first, second, *self.coordinates.penalty.slopes(self.theta[-self.coordinates.penalty.parameters :])
        )

    @cached_property
    def _products(self) -> dict[tuple[int, int], Array]:
        """Sums over groups of products of row a and row b of C_g, (p, p), by (a, b)."""
        rows = [self.pull.of_effect(k) for k in range(self.coordinates.penalty.size)]
        return {(a, b): rows[a].gram(rows[b]) for a in range(len(rows)) for b in range(a, len(rows))}

    def between(self, part: Array) -> Array:
        """Return sum_g C_g' part C_g for a symmetric part, (p, p)."""
        out = np.zeros_like(self.inverse)
        for (a, b), product in self._products.items():
            if part[a, b]:
                out += part[a, b] * (product if a == b else product + product.T)
        return out

    def squares_derivatives(self) -> tuple[Array, Array]:
        """Return the gradient and the Hessian of D."""
        beta, b = self.coefficients, self.effects
        omegas, curves = self._parts.omegas, self._parts.bends
        n, size = len(self._parts.slopes), len(self.theta)
        along, own = np.zeros((size, len(beta))), [b @ part for part in omegas]
        for i, (one, part) in enumerate(self._parts.slopes):
            block = slice(one.start, one.stop)
            along[i, block] = one.times(beta[None, block], part)[0]
        for i, values in enumerate(own, start=n):
            along[i] = -self.pull.against(values)
        first = np.append(along[:n] @ beta, [np.sum(b * values) for values in own])
        second = -2 * along @ self.inverse @ along.T
        inside = [np.einsum("gab,gb->ga", self.spread, values) for values in own]
        for i, values in enumerate(own):
            for j, other in enumerate(inside):
                second[n + i, n + j] -= 2 * np.sum(values * other)
        for i, j, one, part in self._parts.curves:
            block = slice(one.start, one.stop)
            _add(second, i, j, float(beta[block] @ one.times(beta[None, block], part)[0]))
        for i, j, part in curves:
            _add(second, n + i, n + j, float(np.sum((b @ part) * b)))
        return first, second

    def _determinant_slopes(self, k: Array) -> Array:
        """Return the gradient of log|H|, K being that of its columns."""
        whole, out = self.spread.sum(axis=0), []
        for one, part in self._parts.slopes:
            block = slice(one.start, one.stop)
            out.append(float(np.trace(one.times(k[block, block], part))))
        out += [float(np.sum(whole * part) + np.sum(k * self.between(part))) for part in self._parts.omegas]
        return np.array(out)

    def _determinant_curves(self, k: Array) -> Array:
        """Return the Hessian of log|H|."""
        omegas, curves = self._parts.omegas, self._parts.bends
        whole, every = self.spread.sum(axis=0), slice(0, len(k))
        products = [
            (slice(one.start, one.stop), one.times(k[:, one.start : one.stop], part))
            for one, part in self._parts.slopes
        ]
        n = len(products)
        products += [(every, k @ self.between(part)) for part in omegas]
        second = np.zeros((len(products), len(products)))
        for i, (block, one_product) in enumerate(products):
            for j, (other, rest) in enumerate(products[: i + 1]):
                second[i, j] = second[j, i] = -np.sum(one_product[other] * rest[block].T)
        q = self.coordinates.penalty.size  # tr(K N) = sum_g tr(Omega_k H_g^-1 Omega_l Q_g), Q_g = C_g K C_g'
        spread, shared = self.spread.reshape(-1, q * q), self.pull.images(k).reshape(-1, q * q)
        twice = (spread.T @ (spread + 2 * shared)).reshape(q, q, q, q)
        for i, left in enumerate(omegas):
            for j, right in enumerate(omegas):
                second[n + i, n + j] -= float(np.einsum("bcda,ab,cd->", twice, left, right))
        for i, j, one, part in self._parts.curves:
            block = slice(one.start, one.stop)
            _add(second, i, j, float(np.trace(one.times(k[block, block], part))))
        for i, j, part in curves:
            _add(second, n + i, n + j, float(np.sum(whole * part) + np.sum(k * self.between(part))))
        return (second + second.T) / 2


def _add(matrix: Array, i: int, j: int, value: float) -> None:
    matrix[i, j] += value
    if i != j:
        matrix[j, i] += value
