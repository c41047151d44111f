"""The softmax loss: minus the log-likelihood of a row of K classes; t is the index of its class (S2, S3).

p_k = exp(z_k) / sum_j exp(z_j),   value = -ln p_t,   slope_k = p_k - [k = t]
row matrix = diag(p) - p p'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from adaline.arrays import AnyArray, Array, namespace, weighted
from adaline.losses.base import TWOFOLD, Loss, refuse_targets
from adaline.twofold import Twofold, exact


@dataclass(frozen=True)
class Softmax(Loss):
    """value ln sum_j exp(z_j) - z_t, slope p - [k = t], curvature p (1 - p) of each output alone.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import Softmax
    >>> z, t = np.array([[0.0, 0.0, 2.0]]), np.array([[2.0]])
    >>> Softmax().value(z, t).round(3).ravel().tolist()
    [0.24]
    >>> Softmax().slope(z, t).round(3).ravel().tolist()
    [0.107, 0.107, -0.213]
    """

    name: ClassVar[str] = "softmax"
    response: ClassVar[str] = "softmax"
    coupled: ClassVar[bool] = True
    kernel: ClassVar[str | None] = name
    steepest: ClassVar[float] = 0.5
    concordance: ClassVar[float] = float(np.sqrt(2.0))
    slope_rounding: ClassVar[float] = TWOFOLD

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return ln sum exp(z) - z_t, (n, 1)."""
        xp = namespace(z)
        own = xp.sum(xp.where(_own(z, t), z, 0.0 * z), axis=1, keepdims=True)
        top = xp.max(z, axis=1, keepdims=True)
        # ln sum exp(z - own) with the largest term taken out, which keeps the digits of a small value
        rest = xp.sum(xp.exp(z - top), axis=1, keepdims=True) - 1.0
        return (top - own) + xp.log1p(rest)

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return p - [k = t]."""
        xp = namespace(z)
        p = self.mean(z)
        return xp.where(_own(z, t), p - 1.0, p)

    def slope_twofold(self, z: Twofold, t: Array) -> Twofold:
        """Return p, less 1 for the class of a row: there minus the sum of the others' p."""
        e = (z - z.hi.max(axis=1, keepdims=True)).exp()
        columns = [Twofold(e.hi[:, k : k + 1], e.lo[:, k : k + 1]) for k in range(z.hi.shape[1])]
        total, others = columns[0], exact(np.zeros_like(t))
        for one in columns[1:]:
            total = total + one
        for k, one in enumerate(columns):
            others = others + one.where(t != k, 0.0)
        slopes = [(-others).where(t == k, one) / total for k, one in enumerate(columns)]
        return Twofold(np.concatenate([s.hi for s in slopes], axis=1), np.concatenate([s.lo for s in slopes], axis=1))

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return p (1 - p)."""
        p = self.mean(z)
        return p * (1.0 - p)

    def product(self, z: AnyArray, t: AnyArray, q: Any) -> AnyArray:
        """Return p (q - p'q)."""
        xp = namespace(z)
        p = self.mean(z)
        return p * (q - xp.sum(p * q, axis=1, keepdims=True))

    def coupling(self, z: Array, t: Array, weight: Array) -> Array:
        """Return the sum of weight (diag(p) - p p')."""
        p = self.mean(z)
        half = weighted(np.sqrt(weight), p)
        return np.asarray(np.diag(weighted(weight, p).sum(axis=0)) - half.T @ half)

    def constant(self, mean: Array) -> Array:
        """Return the logarithms of the class frequencies, minus their mean."""
        logs = np.log(np.maximum(mean, 1e-12))
        return np.asarray(logs - logs.mean())

    def check(self, t: Array, first_row: int = 0) -> None:
        """Refuse targets that are no class indices."""
        refuse_targets(
            t, (t >= 0) & (t == namespace(t).floor(t)), "the softmax loss takes class indices, 0, 1, ...", first_row
        )


def _own(z: AnyArray, t: AnyArray) -> Any:
    """Whether output k is that of the row's class, (n, K)."""
    xp = namespace(z)
    indices = xp.astype(xp.arange(z.shape[1], device=z.device), z.dtype)
    return xp.reshape(indices, (1, -1)) == t
