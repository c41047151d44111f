"""A loss with an offset: a known part of each output, z = w'x + w0 + offset, the last column of a row's targets.

Several outputs share one offset, or have one each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from adaline.arrays import AnyArray, Array, is_device
from adaline.losses.base import Likelihood, Loss

# largest offset of the native kernel: exp of it, and its squares, are finite; doubling it overflows
MOST_KERNEL_OFFSET = 300.0


@dataclass(frozen=True)
class Offset(Likelihood):
    """loss(z + offset, t), for targets (n, T + 1) whose last column is the offset, or (n, 2 K) with one for each.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import Offset, Squared
    >>> Offset(Squared()).slope(np.array([[1.0]]), np.array([[5.0, 3.0]]))
    array([[-1.]])
    """

    loss: Any
    columns: int = 1
    response: ClassVar[str] = ""

    def __post_init__(self) -> None:
        assert isinstance(self.loss, Loss)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the loss."""
        return str(self.loss.name)

    @property
    def coupled(self) -> bool:  # type: ignore[override]
        """Whether the outputs of the loss are."""
        return bool(self.loss.coupled)

    @property
    def convex(self) -> bool:  # type: ignore[override]
        """Whether the loss is."""
        return bool(self.loss.convex)

    @property
    def corners(self) -> bool:  # type: ignore[override]
        """Whether the loss has."""
        return bool(self.loss.corners)

    @property
    def steepest(self) -> float:  # type: ignore[override]
        """That of the loss."""
        return float(self.loss.steepest)

    @property
    def concordance(self) -> float:  # type: ignore[override]
        """That of the loss."""
        return float(self.loss.concordance)

    @property
    def parameter(self) -> float:
        """That of the loss."""
        return float(self.loss.parameter)

    @property
    def kernel(self) -> str | None:  # type: ignore[override]
        """That of the loss, for rows that take in the offset."""
        return self.loss.kernel  # type: ignore[no-any-return]

    def native_rows(self, t: AnyArray, weight: AnyArray) -> tuple[Any, Any, float] | None:
        """Return rows that have the offset in their targets and weights, where the loss has a kernel and allows it.

        None on a device.
        """
        if self.loss.kernel is None or self.columns > 1 or is_device(t):
            return None
        if np.abs(t[:, -1]).max(initial=0.0) > MOST_KERNEL_OFFSET:
            return None
        weight = np.ones(len(t)) if weight is None else weight
        return self.loss.without_offset(np.ascontiguousarray(t[:, : -self.columns]), t[:, -self.columns :], weight)  # type: ignore[no-any-return]

    @property
    def linked(self) -> Likelihood | None:
        """The likelihood with the offset."""
        inner = self.loss.linked
        return None if inner is None else Offset(inner, self.columns)

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return loss(z + offset)."""
        return self.loss.value(z + t[:, -self.columns :], t[:, : -self.columns])

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return its derivative."""
        return self.loss.slope(z + t[:, -self.columns :], t[:, : -self.columns])

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return the derivative of that."""
        return self.loss.curvature(z + t[:, -self.columns :], t[:, : -self.columns])

    def product(self, z: AnyArray, t: AnyArray, q: AnyArray) -> AnyArray:
        """Return the matrix of second derivatives of each row times q."""
        return self.loss.product(z + t[:, -self.columns :], t[:, : -self.columns], q)

    def mean(self, z: AnyArray) -> AnyArray:
        """Return the prediction of an output that has the offset in it."""
        return self.loss.mean(z)

    def constant(self, mean: Array) -> Array:
        """Return that of the loss, less the mean offset."""
        return np.asarray(self.loss.constant(mean[: -self.columns]) - mean[-self.columns :])

    def lowest(self, t: Array) -> Array:
        """Return that of the loss, which is over all outputs."""
        return self.loss.lowest(t[:, : -self.columns])  # type: ignore[no-any-return]

    def check(self, t: Array, first_row: int = 0) -> None:
        """Refuse targets that the loss does not admit."""
        self.loss.check(t[:, : -self.columns], first_row)

    @property
    def family(self) -> Any:
        """That of the likelihood."""
        return self.loss.family

    @property
    def link(self) -> Any:
        """That of the likelihood."""
        return self.loss.link

    def expected(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return the expected curvature, (n, K)."""
        return self.loss.expected(z + t[:, -self.columns :], t[:, : -self.columns])

    def predicted(self, z: AnyArray, t: AnyArray) -> Any:
        """Return the mean of t for each row, (n, K)."""
        return self.loss.mean(z + t[:, -self.columns :])

    def deviance(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return twice the cost above the lowest, (n, K)."""
        return self.loss.deviance(z + t[:, -self.columns :], t[:, : -self.columns])

    def pearson(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return squared residuals over the variance, (n, K)."""
        return self.loss.pearson(z + t[:, -self.columns :], t[:, : -self.columns])

    def saturated(self, t: Array, weight: Array) -> Array:
        """Return weight x log density at mean = t, (n,)."""
        return np.asarray(self.loss.saturated(t[:, : -self.columns], weight))

    def observed(self, t: Array) -> AnyArray:
        """Return which rows are observations, (n,)."""
        return self.loss.observed(t[:, : -self.columns])

    def first(self, t: AnyArray, mean: Array) -> Any:
        """Return outputs to start from, (n, K), the offset taken off."""
        return self.loss.first(t[:, : -self.columns], mean[: -self.columns]) - t[:, -self.columns :]
