"""The sums of one step of EM: the responsibilities of normal densities for each row, and their moments (S3, EM).

    v = x scale + offset,   d_k = v - mean_k,   l_k = ln pi_k + ln N(x; mean_k, Sigma_k),   Sigma_k^-1 = P_k P_k'
    value = sum w ln sum_k exp l_k,   gamma_k = w exp(l_k) / sum_j exp l_j
    moments_k = sum gamma_k (d_k, 1)(d_k, 1)'                       whole matrices
              = sum gamma_k (d_k, d_k^2, 1)                         variances alone

Densities are those of x, in raw units; the view only keeps numbers of order one. Moments are taken about the means
before the step: where EM has nearly converged, the shift is small and no digits cancel. Exponentials are taken about
the largest l_k of the row.

In C++: `native/mixture.hpp`.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np

from adaline.arrays import AnyArray, Array, ThetaLike, as_dense, host, is_device, namespace, to_device_of
from adaline.block import Block, Columns, Shape
from adaline.forms import Finite, Floats
from adaline.kernels import fused_kernels, native
from adaline.sums.base import Totals
from adaline.sums.moments import batched_product
from adaline.sums.objective import View, dense_in_view, row_weights, weights_on_device

PIECE_NUMBERS = 2**22  # numbers of a block that are copied at a time; doubling it doubles the memory of a thread
DEVICE_PIECE_NUMBERS = 2**27  # the same on a device; doubling it takes another gigabyte there


class Components(NamedTuple):
    """K normal densities in the coordinates of a view.

    log_weights (K,), means (K, D), factors: P upper triangular, (K, D, D), or the roots of the precisions, (K, D).
    """

    log_weights: Annotated[Array, Floats("M")]
    means: Annotated[Array, Finite("M D")]
    factors: Annotated[Array, Finite("M D D", "M D")]
    view: View

    @property
    def constants(self) -> Array:
        """Ln pi_k + ln N(mean_k; mean_k, Sigma_k) in raw units, (K,)."""
        whole = self.factors.ndim == 3
        roots = np.diagonal(self.factors, axis1=1, axis2=2) if whole else self.factors
        unit = np.log(self.view.scale).sum() - 0.5 * self.means.shape[1] * np.log(2 * np.pi)
        return np.asarray(self.log_weights + np.log(np.abs(roots)).sum(axis=1) + unit)


class MixtureMoments(Totals):
    """The log-likelihood, then the moments of each component: (K, 1 + D, 1 + D), or (K, 1 + 2 D) for variances."""

    uses_blas: ClassVar[bool] = True
    reads_columns: ClassVar[bool] = True
    has_device_kernel: ClassVar[bool] = True

    def __init__(self, features: int, whole: bool, sums: Array) -> None:
        self.features, self.whole, self.sums = features, whole, sums

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows, for `components` densities; `whole` covariance matrices, or variances alone."""
        d, whole = shape.features, config["whole"]
        return cls(d, whole, np.zeros(1 + config["components"] * ((1 + d) ** 2 if whole else 1 + 2 * d)))

    @property
    def value(self) -> float:
        """The log-likelihood."""
        return float(self.sums[0])

    @property
    def moments(self) -> Array:
        """The moments of each component."""
        side = 1 + self.features
        return self.sums[1:].reshape((-1, side, side) if self.whole else (-1, side + self.features))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at Components."""
        at: Components = theta
        alike = (at.factors.ndim == 3) == self.whole
        if native is not None and alike and isinstance(block.x, np.ndarray | Columns) and block.chosen is None:
            native.mixture_dense(self.sums, block.x, block.weight, at.constants, at.means, at.factors, *at.view)
            return
        fused = fused_kernels(block.x)
        if fused is not None and alike and block.chosen is None:
            weight = weights_on_device(block.x, block.weight)
            found = fused.mixture(block.x, weight, at.constants, at.means, at.factors, *at.view)
            if found is not None:
                self.sums += found
                return
        for piece in block.pieces(DEVICE_PIECE_NUMBERS if is_device(block.x) else PIECE_NUMBERS):
            self.sums += mixture_reference(piece, at, self.whole)


def log_joint(x: AnyArray, at: Components) -> Any:
    """Return ln pi_k + ln N(x; mean_k, Sigma_k) of dense rows, (n, K), in their namespace."""
    v = dense_in_view(x, at.view)
    xp = namespace(v)
    squares = []
    for mean, factor in zip(at.means, at.factors, strict=True):
        d = v - to_device_of(v, mean)
        y = xp.matmul(d, to_device_of(v, factor)) if factor.ndim == 2 else d * to_device_of(v, factor)
        squares.append(xp.sum(y * y, axis=1))
    return to_device_of(v, at.constants) - 0.5 * xp.stack(squares, axis=1)


def log_total(joint: Any) -> Any:
    """Return ln sum_k exp l_k of each row, (n, 1); minus infinity where no component has a weight."""
    xp = namespace(joint)
    largest = xp.max(joint, axis=1, keepdims=True)
    largest = xp.where(xp.isfinite(largest), largest, xp.zeros_like(largest))
    return largest + xp.log(xp.sum(xp.exp(joint - largest), axis=1, keepdims=True))


def mixture_reference(block: Block, at: Components, whole: bool) -> Array:
    """Return sum w ln sum_k exp l_k, then sum gamma_k (d_k, 1)(d_k, 1)' of one block as one vector, in array-API
    operations.
    """
    x = as_dense(block.x)
    joint = log_joint(x, at)
    xp = namespace(joint)
    total = log_total(joint)
    weight = row_weights(block, joint)
    gamma = weight * xp.exp(joint - total)
    v = dense_in_view(x, at.view)
    parts = [xp.reshape(xp.sum(weight * total), (1,))]
    for k, mean in enumerate(at.means):
        d, gamma_k = v - to_device_of(v, mean), gamma[:, k : k + 1]
        if whole:
            d1 = xp.concat([d, xp.ones_like(gamma_k)], axis=1)
            parts.append(xp.reshape(batched_product(d1 * gamma_k, d1), (-1,)))
        else:
            parts += [xp.sum(gamma_k * part, axis=0) for part in (d, d * d, xp.ones_like(gamma_k))]
    return host(xp.concat(parts))
