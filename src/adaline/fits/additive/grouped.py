"""Additive models with one grouping of very many groups, whose effects are eliminated group by group.

With H_g = Z_g'Z_g + Omega for the q effects of group g, C_g = H_g^-1 Z_g'X, and X the constant and all other columns,

    S = X'X + P - sum_g X'Z_g C_g,     beta = S^-1 (X'y - sum_g X'Z_g H_g^-1 Z_g'y),     b_g = H_g^-1 Z_g'y - C_g beta
    log|X'X + P| of all columns = sum_g log|H_g| + log|S|

so that memory and time are those of the groups' q x (q + p) blocks. With K = S^-1, M_k = sum_g C_g' Omega_k C_g and
N_kl = sum_g C_g' Omega_k H_g^-1 Omega_l C_g the derivatives of log|H| in theta_k and theta_l of Omega are

    sum_g tr(H_g^-1 Omega_k) + tr(K M_k),
    sum_g tr(H_g^-1 Omega_kl) + tr(K M_kl) - sum_g tr(H_g^-1 Omega_k H_g^-1 Omega_l) - 2 tr(K N_kl) - tr(K M_k K M_l),

and with a parameter of P, -tr(K P_i K M_k). Criteria are those of `criteria`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, ThetaLike, as_dense, host
from adaline.block import Block, Shape
from adaline.fits.additive.criteria import Criterion, PenalisedSums, penalty_matrix, with_parameters
from adaline.fits.additive.penalties import BlockPenalty, CovariancePenalty
from adaline.sums import Moments, Sum

PIECE_ROWS = 2**13  # rows whose products with effects are held at a time


class GroupedDesign(Protocol):
    """What rows are in the columns of a model, and in the effects of its largest grouping."""

    @property
    def size(self) -> int:
        """Number of columns beside the grouping."""

    @property
    def group_shape(self) -> tuple[int, int]:
        """Number of groups, and of effects of each."""

    def of(self, x: Array) -> Array:
        """Return the columns of rows x."""

    def grouped(self, x: Array) -> tuple[NDArray[np.intp], Array]:
        """Return the group of each row x, and what its effects multiply, (n, q)."""


class GroupedMoments(Sum):
    """Moments of [phi(x) y], and for each group the sums of z z', z, z phi(x)' and z y, flat in one row."""

    uses_blas = True

    def __init__(self, design: GroupedDesign, moments: Moments, totals: Array) -> None:
        self.design, self.moments, self.totals = design, moments, totals

    @classmethod
    def zero(cls, shape: Shape, **config: object) -> Self:
        """Return the sums over no rows, for a `design`; `centred` as of moments."""
        design = cast("GroupedDesign", config["design"])
        groups, q = design.group_shape
        moments = Moments.zero(Shape(design.size, shape.targets), centred=config["centred"])
        return cls(design, moments, np.zeros((groups, q * (q + design.size + 2))))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in the rows of a block."""
        block = block.heavy()
        x, weight = np.asarray(host(as_dense(block.x)), dtype=np.float64), block.weights()
        t = host(block.t)
        for first in range(0, len(x), PIECE_ROWS):
            rows = slice(first, first + PIECE_ROWS)
            phi, w = self.design.of(x[rows]), weight[rows]
            self.moments.add(Block(phi, t[rows], w))
            group, z = self.design.grouped(x[rows])
            other = np.column_stack([z, np.ones(len(z)), phi, t[rows]])
            products = ((w[:, None] * z)[:, :, None] * other[:, None, :]).reshape(len(z), -1)
            order = np.argsort(group, kind="stable")
            starts = np.flatnonzero(np.diff(group[order], prepend=-1))
            self.totals[group[order][starts]] += np.add.reduceat(products[order], starts)

    def merge(self, other: Self) -> None:
        """Take in the sums over other rows."""
        self.moments.merge(other.moments)
        self.totals += other.totals


@dataclass(frozen=True)
class GroupedSums:
    """A penalised problem with one large grouping, as its second moments.

    Parameters
    ----------
    plain : X'X, X'y, y'y and the penalties of the columns beside the grouping, the constant among them.
    penalty : of the grouping.
    squares, along, target : Z_g'Z_g (G, q, q), Z_g'X (G, q, p) and Z_g'y (G, q).
    """

    plain: PenalisedSums
    penalty: CovariancePenalty
    squares: Array
    along: Array
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

    def at(self, theta: Array) -> GroupedFit:
        """Return the solution for these parameters."""
        return GroupedFit(self, theta)


@dataclass(frozen=True)
class GroupedFit:
    """The solution for one theta, those of the grouping last."""

    sums: GroupedSums
    theta: Array

    @cached_property
    def omega(self) -> Array:
        """Omega, (q, q)."""
        return self.sums.penalty.total(self.theta[-self.sums.penalty.parameters :])

    @cached_property
    def penalty(self) -> Array:
        """P, (p, p)."""
        return penalty_matrix(self.sums.plain, self.theta[: -self.sums.penalty.parameters])

    @cached_property
    def spread(self) -> Array:
        """H_g^-1, (G, q, q)."""
        return np.asarray(np.linalg.inv(self.sums.squares + self.omega))

    @cached_property
    def pull(self) -> Array:
        """C_g, (G, q, p)."""
        return np.asarray(self.spread @ self.sums.along)

    @cached_property
    def schur(self) -> Array:
        """S, (p, p)."""
        plain = self.sums.plain
        return plain.gram + self.penalty - _over_groups(self.sums.along, self.pull)

    @cached_property
    def inverse(self) -> Array:
        """K, (p, p)."""
        return _inverse(self.schur)

    @cached_property
    def coefficients(self) -> Array:
        """Beta, (p,)."""
        alone = np.einsum("gab,gb->ga", self.spread, self.sums.target)
        return np.asarray(self.inverse @ (self.sums.plain.cross - _over_groups(self.sums.along, alone)))

    @cached_property
    def effects(self) -> Array:
        """b, (G, q)."""
        left = self.sums.target - self.sums.along @ self.coefficients
        return np.asarray(np.einsum("gab,gb->ga", self.spread, left))

    @cached_property
    def squares(self) -> float:
        """D, the penalised sum of squared residuals."""
        plain = self.sums.plain
        explained = plain.cross @ self.coefficients + np.sum(self.sums.target * self.effects)
        return float(plain.square - explained)

    @property
    def residual(self) -> float:
        """The sum of squared residuals."""
        beta, b = self.coefficients, self.effects
        return float(self.squares - beta @ self.penalty @ beta - np.sum((b @ self.omega) * b))

    @cached_property
    def freedom(self) -> Array:
        """The part of (X'X + P)^-1 X'X of the columns beside the grouping, (p, p)."""
        return np.eye(len(self.inverse)) - self.inverse @ self.penalty

    @cached_property
    def group_freedom(self) -> float:
        """Effective degrees of freedom of the grouping."""
        left = np.sum(self.spread.sum(axis=0) * self.omega) + np.sum(
            self.inverse * _between(self._products, self.omega)
        )
        return float(self.effects.size - left)

    @cached_property
    def shared_freedom(self) -> Array:
        """What the grouping adds to the diagonal of the square of `freedom`, (p,)."""
        between = _between(self._products, self.omega)
        return np.diag(self.inverse @ between @ self.inverse @ self.penalty)

    def dispersion(self, criterion: Criterion) -> float:
        """Return phi: D / (N - M) under REML, D / N under ML."""
        return self.squares / self.sums.plain.divisor(criterion)

    def score(self, criterion: Criterion) -> float:
        """Return what is minimised."""
        plain, m = self.sums.plain, self.sums.plain.divisor(criterion)
        schur = self.schur if criterion == "reml" else self.schur[np.ix_(~plain.free, ~plain.free)]
        sign, logs = np.linalg.slogdet(schur) if len(schur) else (1.0, 0.0)
        if sign <= 0 or self.squares <= 0:
            return np.inf
        logs -= np.linalg.slogdet(self.spread)[1].sum()
        logs -= sum(one.log_determinant(own)[0] for one, own in with_parameters(self.sums.penalties, self.theta))
        return 0.5 * float(m * (np.log(2 * np.pi * self.squares / m) + 1) + logs - plain.log_weights)

    def used(self) -> Array:
        """Return for each parameter the degrees of freedom that its part of the penalty leaves."""
        out = np.concatenate(
            [one.log_determinant(own)[1] for one, own in with_parameters(self.sums.penalties, self.theta)]
        )
        return np.asarray(out - self._determinant(self.inverse)[0])

    def derivatives(self, criterion: Criterion) -> tuple[Array, Array]:
        """Return the gradient and the Hessian of the score in theta."""
        m = self.sums.plain.divisor(criterion)
        inverse = self.inverse
        if criterion == "ml":
            some = ~self.sums.plain.free
            inverse = np.zeros_like(inverse)
            inverse[np.ix_(some, some)] = _inverse(self.schur[np.ix_(some, some)])
        first, second = self._squares_derivatives()
        gradient, hessian = first / self.squares, second / self.squares
        hessian = m * (hessian - np.outer(gradient, gradient))
        slope, curve = self._determinant(inverse)
        gradient, hessian = m * gradient + slope, hessian + curve
        at = 0
        for one, own in with_parameters(self.sums.penalties, self.theta):
            block = slice(at, at := at + one.parameters)
            _, slope, curve = one.log_determinant(own)
            gradient[block] -= slope
            hessian[block, block] -= curve
        return gradient / 2, hessian / 2

    @cached_property
    def _products(self) -> Array:
        """Sums over groups of products of two entries of C_g, (q, p, q, p)."""
        _, q, p = self.pull.shape
        flat = self.pull.reshape(-1, q * p)
        return np.asarray(flat.T @ flat).reshape(q, p, q, p)

    def _squares_derivatives(self) -> tuple[Array, Array]:
        """Return the gradient and the Hessian of D."""
        beta, b, k = self.coefficients, self.effects, self.inverse
        plain, bends = plain_slopes(self.sums.plain, self.theta)
        omegas, curves = self.sums.penalty.slopes(self.theta[-self.sums.penalty.parameters :])
        pulled = [part @ beta for part in plain]
        own = [b @ part for part in omegas]
        shared = [_over_groups(self.pull, one) for one in own]
        along = np.array([*pulled, *(-one for one in shared)]).reshape(len(self.theta), len(beta))
        first = np.array([*(beta @ one for one in pulled), *(np.sum(b * one) for one in own)])
        second = -2 * along @ k @ along.T
        n = len(plain)
        inside = [np.einsum("gab,gb->ga", self.spread, one) for one in own]
        for i, one in enumerate(own):
            for j, other in enumerate(inside):
                second[n + i, n + j] -= 2 * np.sum(one * other)
        for i, j, part in bends:
            _add(second, i, j, float(beta @ part @ beta))
        for i, j, part in curves:
            _add(second, n + i, n + j, float(np.sum((b @ part) * b)))
        return first, second

    def _determinant(self, k: Array) -> tuple[Array, Array]:
        """Return the gradient and the Hessian of log|H|, K being that of its columns."""
        plain, bends = plain_slopes(self.sums.plain, self.theta)
        omegas, curves = self.sums.penalty.slopes(self.theta[-self.sums.penalty.parameters :])
        whole = self.spread.sum(axis=0)
        parts = [*plain, *(_between(self._products, part) for part in omegas)]
        products = [k @ part for part in parts]
        n, size = len(plain), len(parts)
        first = np.array([np.trace(one) for one in products])
        first[n:] += [np.sum(whole * part) for part in omegas]
        second = np.zeros((size, size))
        for i, one in enumerate(products):
            for j, other in enumerate(products):
                second[i, j] = -np.sum(one * other.T)
        q = self.sums.penalty.size  # tr(K N) = sum_g tr(Omega_k H_g^-1 Omega_l Q_g), Q_g = C_g K C_g'
        spread, shared = self.spread.reshape(-1, q * q), _images(self.pull, k).reshape(-1, q * q)
        twice = (spread.T @ (spread + 2 * shared)).reshape(q, q, q, q)
        for i, one in enumerate(omegas):
            for j, other in enumerate(omegas):
                second[n + i, n + j] -= float(np.einsum("bcda,ab,cd->", twice, one, other))
        for i, j, part in bends:
            _add(second, i, j, float(np.sum(k * part)))
        for i, j, part in curves:
            _add(second, n + i, n + j, float(np.sum(whole * part) + np.sum(k * _between(self._products, part))))
        return first, (second + second.T) / 2


def _between(products: Array, part: Array) -> Array:
    """Return sum_g C_g' part C_g, (p, p), from the sums of products of C_g."""
    return np.asarray(np.einsum("ab,aibj->ij", part, products))


def plain_slopes(plain: PenalisedSums, theta: Array) -> tuple[list[Array], list[tuple[int, int, Array]]]:
    """Return dP/dtheta_i and the second derivatives that are not zero, (p, p) each."""
    size, first, second = len(plain.cross), list[Array](), list[tuple[int, int, Array]]()
    for one, own in with_parameters(plain.penalties, theta[: plain.parameters]):
        at, block, eye = len(first), slice(one.start, one.stop), np.eye(one.stop - one.start)

        def whole(part: Array, one: BlockPenalty = one, block: slice = block, eye: Array = eye) -> Array:
            out = np.zeros((size, size))
            out[block, block] = one.times(eye, part)
            return out

        slopes, curves = one.slopes(own)
        first += [whole(part) for part in slopes]
        second += [(at + i, at + j, whole(part)) for i, j, part in curves]
    return first, second


def _images(pull: Array, k: Array) -> Array:
    """Return Q_g = C_g k C_g', (G, q, q)."""
    groups, q, p = pull.shape
    return np.asarray(np.einsum("gaj,gbj->gab", (pull.reshape(-1, p) @ k).reshape(groups, q, p), pull))


def _over_groups(one: Array, other: Array) -> Array:
    """Return sum_g one_g' other_g, of arrays (G, q, ...)."""
    left = one.reshape(-1, one.shape[2])
    return np.asarray(left.T @ other.reshape(len(left), *other.shape[2:]))


def _add(matrix: Array, i: int, j: int, value: float) -> None:
    matrix[i, j] += value
    if i != j:
        matrix[j, i] += value


def _inverse(matrix: Array) -> Array:
    """Return the inverse of a positive definite matrix, scaled to a diagonal of ones on the way."""
    scale = matrix.diagonal() ** -0.5
    return np.asarray(np.linalg.inv(matrix * scale * scale[:, None]) * scale * scale[:, None])
