"""A loss: the cost of a row, a function of the output z = w'x + w0 and the target t.

Conventions
-----------
z is (n, K). t is (n, K); or (n, 1) class indices where the outputs are coupled (softmax); or wider than z where a row
has more than a target (an offset, numbers of successes and failures). Arrays may be of any namespace of the array API.
`value`, `slope` = d value / dz and `curvature` = d slope / dz are computed row by row and, unless the outputs are
coupled, output by output. Coupled outputs have one value per row, (n, 1), and the curvature of output k alone;
`product` gives the whole row matrix times a vector.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from adaline.activations import ACTIVATIONS
from adaline.arrays import AnyArray, Array, host, namespace, weighted
from adaline.errors import InvalidData
from adaline.twofold import Twofold

TWOFOLD = 2.0**-94  # rounding of functions in double-double


@dataclass(frozen=True)
class Loss(ABC):
    """Base of all losses; final classes are in `adaline.losses.LOSSES` under their name.

    Examples
    --------
    >>> from adaline.losses import LOSSES
    >>> LOSSES["squared"]().convex, LOSSES["tukey"]().convex
    (True, False)
    """

    name: ClassVar[str]
    coupled: ClassVar[bool] = False
    """Whether the outputs of a row have one loss together (softmax)."""
    convex: ClassVar[bool] = True
    corners: ClassVar[bool] = False
    """Whether the slope is piecewise constant, so that Newton's method has no curvature."""
    response: ClassVar[str] = "identity"
    """Name of the activation that maps an output to the mean of t."""
    kernel: ClassVar[str | None] = None
    """Name of the loss in the native kernels, or None: then the functions below are called."""
    steepest: ClassVar[float] = np.inf
    """The largest curvature; infinity where it has no bound."""
    concordance: ClassVar[float] = np.inf
    """c with |d curvature / dz| <= c curvature, by which gaps are bounded; infinity where there is none."""

    slope_rounding: ClassVar[float] = 2.0**-48
    """Relative rounding of `slope_twofold`: that of float64 functions, or TWOFOLD where it is in double-double."""

    of_classes: ClassVar[bool] = False
    """Whether targets that are 0 and 1 are two classes, which a plane may separate."""

    def native_rows(self, t: AnyArray, weight: AnyArray) -> tuple[Any, Any, float] | None:
        """Return targets and weights for the native kernel, and the constant to add to its sum of values.

        None where there is no kernel.
        """
        return None if self.kernel is None else (t, weight, 0.0)

    def without_offset(self, t: Array, offset: Array, weight: Array) -> tuple[Array, Array, float] | None:
        """Return targets, weights and a constant by which loss(z + offset, t) is the loss of z; None where none are.

        t is (n, K), offset (n, 1), weight (n,).
        """
        return None

    @property
    def linked(self) -> Likelihood | None:
        """The same loss as a family of distributions with a link; None where it is no likelihood."""
        return None

    @property
    def parameter(self) -> float:
        """The one number that the native kernel needs, if any."""
        return 0.0

    @abstractmethod
    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return the cost, (n, K)."""

    @abstractmethod
    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return d value / dz, (n, K)."""

    @abstractmethod
    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return d slope / dz, (n, K); zero or more where the loss is convex."""

    def slope_twofold(self, z: Twofold, t: Array) -> Twofold:
        """Return the slope at z = hi + lo, (n, K), on the host.

        Its error is at most `slope_rounding` of |slope| + (1 + |z|) |curvature|, times 1 + |z|.
        """
        return Twofold(self.slope(z.hi, t), self.curvature(z.hi, t) * z.lo)

    def product(self, z: AnyArray, t: AnyArray, q: Any) -> AnyArray:
        """Return the matrix of second derivatives of each row times q, (n, K)."""
        return self.curvature(z, t) * q

    def coupling(self, z: Array, t: Array, weight: Array) -> Array:
        """Return the matrices of second derivatives of the rows, times their weights (n, 1), added up: (K, K)."""
        return np.stack([weighted(weight, self.product(z, t, unit[None])).sum(axis=0) for unit in np.eye(z.shape[1])])

    def mean(self, z: AnyArray) -> AnyArray:
        """Return the prediction of output z: the mean of t, the probability, or z itself."""
        return ACTIVATIONS[self.response].value(z)

    def constant(self, mean: Array) -> Array:
        """Return the best constant output, or one near it, (K,), for targets of this mean: where solvers start."""
        return mean

    def lowest(self, t: AnyArray) -> AnyArray:
        """Return a lower bound of the cost over all outputs, for each target."""
        return 0.0 * t

    def check(self, t: Array, first_row: int = 0) -> None:  # noqa: B027 - most losses admit any number
        """Refuse targets that the loss does not admit; `first_row` is the index of the first row."""


class Likelihood(Loss):
    """A loss that is minus the log-likelihood of a family of distributions, with what inference needs of its rows.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import Poisson
    >>> Poisson().linked.deviance(np.array([[0.0]]), np.array([[1.0]]))
    array([[0.]])
    """

    family: Any
    link: Any

    @property
    def kernel(self) -> str | None:  # type: ignore[override]
        """That of the family through the link."""
        return self.family.kernels.get(self.link.name)  # type: ignore[no-any-return]

    @property
    def parameter(self) -> float:
        """That of the family, where a kernel needs it."""
        return float(getattr(self.family, self.family.parameter)) if self.kernel else 0.0

    @property
    def linked(self) -> Likelihood | None:
        """The loss itself."""
        return self

    @abstractmethod
    def expected(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return the expected curvature, Fisher's information of each row, (n, K)."""

    def predicted(self, z: AnyArray, t: AnyArray) -> Any:
        """Return the mean of t for each row, (n, K), whatever part of the output t brings."""
        return self.mean(z)

    @abstractmethod
    def deviance(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return twice the cost above the lowest, (n, K)."""

    @abstractmethod
    def pearson(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return the squared residuals over the variance, (n, K)."""

    @abstractmethod
    def saturated(self, t: Array, weight: Array) -> Array:
        """Return weight x log density of each row at mean = t, (n,), see `Family.saturated`."""

    def observed(self, t: Array) -> AnyArray:
        """Return which rows are observations, (n,), see `Family.observed`."""
        return self.family.observed(t)

    @abstractmethod
    def first(self, t: AnyArray, mean: Array) -> Any:
        """Return outputs to start from, (n, K), for targets whose mean is (T,)."""


def refuse_targets(t: AnyArray, good: Any, what: str, first_row: int) -> None:
    """Raise, naming the first target for which `good` is false."""
    if not bool(namespace(good).all(good)):
        row, column = (int(i) for i in np.argwhere(host(good) == 0)[0])
        raise InvalidData(f"the target is {float(t[row, column]):g} at row {first_row + row}: {what}")
