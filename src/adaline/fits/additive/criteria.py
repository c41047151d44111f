"""What the ratios of variances minimise: a likelihood (REML, ML) or generalized cross-validation, with derivatives.

With H = X'X + P, beta = H^-1 X'y and D = y'y - y'X beta (the penalised sum of squares), N rows, M unpenalised columns,

    REML   1/2 [(N - M) (log(2 pi D / (N - M)) + 1) + log|H| - log|P|]
    ML     1/2 [N (log(2 pi D / N) + 1) + log|H_r| - log|P|],   H_r without the unpenalised columns
    GCV    log(N |y - X beta|^2 / (N - tr F)^2),   F = H^-1 X'X

Where P depends on theta, with P_i and P_ij its derivatives,

    D_i = beta' P_i beta                D_ij = beta' P_ij beta - 2 beta' P_i H^-1 P_j beta
    (log|H|)_i = tr(H^-1 P_i)           (log|H|)_ij = tr(H^-1 P_ij) - tr(H^-1 P_i H^-1 P_j).

H is scaled to a diagonal of ones before it is factored: penalties are diagonal or nearly so, and ratios between blocks
that differ by any power of ten cost no digits. Reference: S. Wood, Fast stable restricted maximum likelihood (2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from adaline.arrays import Array
from adaline.fits.additive.penalties import BlockPenalty, turned_penalties, turning
from adaline.solvers.lapack import cholesky, dtrtri

Criterion = Literal["reml", "ml", "gcv"]


@dataclass(frozen=True)
class PenalisedSums:
    """A penalised least squares problem, as its second moments.

    Parameters
    ----------
    gram, cross, square : X'X, X'y and y'y, without the intercept, about the mean where there is one.
    rows : N, the number of observations.
    weight : sum of the weights where there is an intercept, which X'X leaves out; None for no intercept.
    penalties : of blocks of coefficients; those in no block are free.
    log_weights : sum of the logarithms of weights that are precisions.
    means : of the columns, where there is an intercept; the likelihood of "ml" needs them.
    """

    gram: Array
    cross: Array
    square: float
    rows: float
    weight: float | None
    penalties: Sequence[BlockPenalty]
    log_weights: float = 0.0
    means: Array | None = None

    @cached_property
    def penalised(self) -> NDArray[np.bool_]:
        """Whether each coefficient is in a block, (p,)."""
        out = np.zeros(len(self.cross), dtype=bool)
        for one in self.penalties:
            out[one.start : one.stop] = True
        return out

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Whether no penalty sees a coefficient, (p,)."""
        out = ~self.penalised
        for one in self.penalties:
            at = np.full(one.parameters, 0.0)
            diagonal = one.total(at)
            if diagonal.ndim == 1:
                out[one.start : one.stop] = diagonal == 0
        return out

    @property
    def unpenalised(self) -> int:
        """M, the intercept included."""
        return int(self.free.sum()) + (self.weight is not None)

    def at(self, theta: Array) -> PenalisedFit:
        """Return the solution for these parameters."""
        return PenalisedFit(self, theta)

    def with_penalties(self, penalties: Sequence[BlockPenalty]) -> PenalisedSums:
        """Return the same sums with penalties of the same blocks."""
        return replace(self, penalties=penalties)

    def divisor(self, criterion: Criterion) -> float:
        """Return what D is divided by: N - M under REML, N under ML."""
        return self.rows - (self.unpenalised if criterion == "reml" else 0)

    def turned(self, turn: sp.csr_array) -> PenalisedSums:
        """Return the same problem of coordinates T^-1 beta, in which covariances are diagonal."""
        return replace(
            self,
            gram=np.asarray(turn.T @ (turn.T @ self.gram).T),
            cross=turn.T @ self.cross,
            means=None if self.means is None else turn.T @ self.means,
            penalties=turned_penalties(self.penalties),
        )

    @property
    def parameters(self) -> int:
        """Number of parameters theta."""
        return sum(one.parameters for one in self.penalties)


@dataclass(frozen=True)
class PenalisedFit:
    """The solution for one theta.

    Parameters
    ----------
    sums : the problem.
    theta : the parameters of all penalties, in their order.
    """

    sums: PenalisedSums
    theta: Array

    @cached_property
    def _scaled(self) -> tuple[Array, Array]:
        """1 / sqrt(diag H), and the lower Cholesky factor of H scaled by it."""
        h = self._turned.gram + penalty_matrix(self._turned, self.theta)
        scale = 1 / np.sqrt(h.diagonal())
        return scale, cholesky(h * scale * scale[:, None], lower=True)

    @cached_property
    def _turning(self) -> sp.csr_array | None:
        """T, of coordinates where penalties are diagonal."""
        return turning(self.sums.penalties, self.theta, len(self.sums.cross))

    @cached_property
    def _turned(self) -> PenalisedSums:
        """The problem in these coordinates."""
        return self.sums if self._turning is None else self.sums.turned(self._turning)

    @cached_property
    def _inverse(self) -> Array:
        scale, factor = self._scaled
        root = np.tril(dtrtri(factor, lower=1)[0]) * scale
        return np.asarray(root.T @ root)

    @cached_property
    def _coefficients(self) -> Array:
        scale, factor = self._scaled
        return np.asarray(scale * _solved(factor, scale * self._turned.cross))

    @cached_property
    def inverse(self) -> Array:
        """H^-1, (p, p)."""
        turn = self._turning
        return self._inverse if turn is None else np.asarray(turn @ (turn @ self._inverse).T)

    @cached_property
    def coefficients(self) -> Array:
        """Beta, (p,)."""
        return self._coefficients if self._turning is None else np.asarray(self._turning @ self._coefficients)

    @cached_property
    def squares(self) -> float:
        """D, the penalised sum of squared residuals."""
        return float(self._turned.square - self._turned.cross @ self._coefficients)

    @cached_property
    def freedom(self) -> Array:
        """F = H^-1 X'X, (p, p); its diagonal holds effective degrees of freedom."""
        return np.asarray(self.inverse @ self.sums.gram)

    @property
    def total_freedom(self) -> float:
        """Effective degrees of freedom, the intercept included."""
        return float(np.trace(self.freedom)) + (self._turned.weight is not None)

    def dispersion(self, criterion: Criterion) -> float:
        """Return phi: D / (N - M) under REML, D / N under ML, |y - X beta|^2 / (N - tr F) under GCV."""
        if criterion == "gcv":
            return float(np.exp(self._residual_squares())) / (self._turned.rows - self.total_freedom)
        return self.squares / self._turned.divisor(criterion)

    def score(self, criterion: Criterion) -> float:
        """Return what is minimised."""
        n = self._turned.rows
        if criterion == "gcv":
            return float(np.log(n) + self._residual_squares() - 2 * np.log(n - self.total_freedom))
        m = self._turned.divisor(criterion)
        logs = self._log_determinant(criterion) - sum(one.log_determinant(own)[0] for one, own in _blocks(self))
        return 0.5 * float(m * (np.log(2 * np.pi * self.squares / m) + 1) + logs - self._turned.log_weights)

    def derivatives(self, criterion: Criterion) -> tuple[Array, Array]:
        """Return the gradient and the Hessian of the score in theta."""
        if criterion == "gcv":
            return self._gcv_derivatives()
        first, second = self.squares_derivatives()
        m = self._turned.divisor(criterion)
        inverse = self._determinant_inverse(criterion)
        gradient, hessian = first / self.squares, second / self.squares
        hessian = m * (hessian - np.outer(gradient, gradient))
        gradient = m * gradient
        parts = _products(self, inverse)
        for i, (block, part) in enumerate(parts):
            gradient[i] += np.trace(part[block])
            for j, (other, rest) in enumerate(parts[: i + 1]):
                hessian[i, j] -= (cross := np.sum(part[other] * rest[block].T))
                if i != j:
                    hessian[j, i] -= cross
        for i, j, one, part in _curved(self):
            block = slice(one.start, one.stop)
            hessian[i, j] += (trace := np.trace(one.times(inverse[block, block], part)))
            if i != j:
                hessian[j, i] += trace
        at = 0
        for one, own in _blocks(self):
            own_slice = slice(at, at := at + one.parameters)
            _, slope, curve = one.log_determinant(own)
            gradient[own_slice] -= slope
            hessian[own_slice, own_slice] -= curve
        return gradient / 2, hessian / 2

    def used(self) -> Array:
        """Return tr(P^+ P_i) - tr(H^-1 P_i) for each parameter: the degrees of freedom that its part of P leaves."""
        out = np.concatenate([one.log_determinant(own)[1] for one, own in _blocks(self)])
        return np.asarray(out - [np.trace(part[block]) for block, part in _products(self, self._inverse)])

    def _residual_squares(self) -> float:
        """Return log |y - X beta|^2."""
        beta = self._coefficients
        return float(np.log(self.squares - beta @ _penalty_times(_blocks(self), beta)))

    def _log_determinant(self, criterion: Criterion) -> float:
        scale, factor = self._scaled
        value = 2 * float(np.sum(np.log(factor.diagonal())) - np.sum(np.log(scale)))
        if criterion == "reml":
            return value + (np.log(self._turned.weight) if self._turned.weight is not None else 0.0)
        columns = self._of_unpenalised  # |H_r| = |H| |(H^-1)_free|, the intercept among the free columns
        if self._turned.weight is not None:
            value += float(np.log(self._turned.weight))
        return value + float(np.linalg.slogdet(columns[1])[1])

    def _determinant_inverse(self, criterion: Criterion) -> Array:
        """Return H^-1, or under ML the inverse of H_r with zeros in the other places."""
        if criterion == "reml":
            return self._inverse
        columns, corner = self._of_unpenalised
        return np.asarray(self._inverse - columns @ np.linalg.solve(corner, columns.T))

    @cached_property
    def _of_unpenalised(self) -> tuple[Array, Array]:
        """The columns of H^-1 for the unpenalised coefficients, the intercept last, (p, M), and their rows, (M, M)."""
        free, sums = self._turned.free, self._turned
        columns = self._inverse[:, free]
        corner = columns[free]
        if sums.weight is not None:
            means = np.zeros(len(free)) if sums.means is None else sums.means
            along = -self._inverse @ means
            columns = np.column_stack([columns, along])
            last = np.append(along[free], 1 / sums.weight - means @ along)
            corner = np.block([[corner, last[:-1, None]], [last]])
        return columns, corner

    def squares_derivatives(self) -> tuple[Array, Array]:
        """Return the gradient and the Hessian of D."""
        beta = self._coefficients
        images = _images_of(self, beta)
        second = -2 * images @ self._inverse @ images.T
        for i, j, one, part in _curved(self):
            block = slice(one.start, one.stop)
            second[i, j] += (value := beta[block] @ one.times(beta[None, block], part)[0])
            if i != j:
                second[j, i] += value
        return images @ beta, second

    def _gcv_derivatives(self) -> tuple[Array, Array]:
        """Return the gradient and the Hessian of log |y - X beta|^2 - 2 log(N - tr F).

        With K = H^-1 X'X H^-1 and beta_i = -H^-1 P_i beta, |y - X beta|^2 has the slope -2 beta' P beta_i, and tr F

            (tr F)_i = -tr(K P_i),   (tr F)_ij = 2 tr(H^-1 P_j K P_i) - tr(K P_ij).
        """
        beta, inverse = self._coefficients, self._inverse
        moves = -_images_of(self, beta) @ inverse
        pull = _penalty_times(_blocks(self), beta)
        back = inverse @ pull
        pulled = _images_of(self, back) @ moves.T
        squares = np.exp(self._residual_squares())
        first = -2 * moves @ pull
        second = 2 * (moves @ self._turned.gram @ moves.T + pulled + pulled.T)
        k = inverse @ self._turned.gram @ inverse
        parts, shrunk = _products(self, inverse), _products(self, k)
        slope = np.array([-np.trace(part[block]) for block, part in shrunk])
        curve = np.array(
            [[2 * np.sum(part[block] * own[other].T) for other, part in parts] for block, own in shrunk]
        ).reshape(second.shape)
        for i, j, one, part in _curved(self):
            block = slice(one.start, one.stop)
            value = 2 * back[block] @ one.times(beta[None, block], part)[0]
            trace = np.trace(one.times(k[block, block], part))
            for a, b in {(i, j), (j, i)}:
                second[a, b] += value
                curve[a, b] -= trace
        left = self._turned.rows - self.total_freedom
        gradient = first / squares + 2 * slope / left
        hessian = second / squares - np.outer(first, first) / squares**2
        hessian += 2 * curve / left + 2 * np.outer(slope, slope) / left**2
        return gradient, hessian


def _blocks(fit: PenalisedFit) -> list[tuple[BlockPenalty, Array]]:
    return with_parameters(fit._turned.penalties, fit.theta)


def _products(fit: PenalisedFit, inverse: Array) -> list[tuple[slice, Array]]:
    """Return for each parameter the block and the columns of inverse P_i, (p, block)."""
    out = []
    for one, own in _blocks(fit):
        block = slice(one.start, one.stop)
        out += [(block, one.times(inverse[:, block], part)) for part in one.slopes(own)[0]]
    return out


def _curved(fit: PenalisedFit) -> list[tuple[int, int, BlockPenalty, Array]]:
    """Return the second derivatives of P that are not zero, with the indices of their parameters."""
    out, at = [], 0
    for one, own in _blocks(fit):
        out += [(at + i, at + j, one, part) for i, j, part in one.slopes(own)[1]]
        at += one.parameters
    return out


def _images_of(fit: PenalisedFit, vector: Array) -> Array:
    """Return P_i vector for each parameter, (theta, p)."""
    out = np.zeros((fit._turned.parameters, len(vector)))
    at = 0
    for one, own in _blocks(fit):
        block = slice(one.start, one.stop)
        for part in one.slopes(own)[0]:
            out[at, block] = one.times(vector[None, block], part)[0]
            at += 1
    return out


def penalty_matrix(sums: PenalisedSums, theta: Array) -> Array:
    """Return P, (p, p)."""
    out = np.zeros_like(sums.gram)
    for one, own in with_parameters(sums.penalties, theta):
        block = slice(one.start, one.stop)
        out[block, block] = one.times(np.eye(one.stop - one.start), one.total(own))
    return out


def with_parameters(penalties: Sequence[BlockPenalty], theta: Array) -> list[tuple[BlockPenalty, Array]]:
    """Return each penalty with its parameters."""
    ends = np.cumsum([one.parameters for one in penalties])
    return list(zip(penalties, np.split(theta, ends[:-1]), strict=True)) if len(ends) else []


def _solved(factor: Array, b: Array) -> Array:
    """Return the solution for a lower Cholesky factor."""
    return np.asarray(solve_triangular(factor, solve_triangular(factor, b, lower=True), lower=True, trans="T"))


def _penalty_times(blocks: list[tuple[BlockPenalty, Array]], beta: Array) -> Array:
    """Return P beta, (p,)."""
    out = np.zeros_like(beta)
    for one, own in blocks:
        block = slice(one.start, one.stop)
        out[block] = one.times(beta[None, block], one.total(own))[0]
    return out
