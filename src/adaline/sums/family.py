"""How well a likelihood of a family of distributions fits: sums over rows of their deviances and squared residuals."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from adaline.arrays import Array, ThetaLike, host, is_device, namespace, to_device_of
from adaline.block import Block, Shape
from adaline.losses import Likelihood, Linked, Tweedie
from adaline.sums.base import Totals
from adaline.sums.objective import Point, View, device_products, margins


class FamilyPoint(NamedTuple):
    """Where the sums are taken: weights (1, 1 + D) in a view, and the output of the model without columns.

    `precision` : whether each row of positive weight is one observation, not as many as its weight.
    """

    loss: Likelihood
    theta: Array
    view: View
    null: float
    precision: bool = False


class FamilySums(Totals):
    """Deviance, that of the model without columns, Pearson's chi-squared, `Family.saturated`, count of observations."""

    uses_blas: ClassVar[bool] = True
    reads_columns: ClassVar[bool] = True
    has_device_kernel: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows."""
        return cls(np.zeros(5))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a FamilyPoint."""
        if is_device(block.x) and block.weight is None and _is_plain(theta.loss):
            self._add_on_device(block.gathered(), theta)
            return
        loss, (z, t, weight) = theta.loss, _counted(block, theta)
        null = np.full_like(z, theta.null)
        with np.errstate(all="ignore"):
            parts = (loss.deviance(z, t), loss.deviance(null, t), loss.pearson(z, t))
            totals = [float(weight @ part[:, 0]) for part in parts]
            observed = weight[loss.observed(t)]
            count = len(observed) if theta.precision else float(observed.sum())
            self.sums += [*totals, float(loss.saturated(t, weight).sum()), count]

    def _add_on_device(self, block: Block, point: FamilyPoint) -> None:
        """Take in rows without weights on a device: a density is taken once for all equal targets."""
        z = device_products(block, point.view, point.theta.T.copy())
        xp, t, loss = namespace(z), to_device_of(z, block.t), point.loss
        null = xp.full_like(z, point.null)
        totals = [xp.sum(part) for part in (loss.deviance(z, t), loss.deviance(null, t), loss.pearson(z, t))]
        values, counts = xp.unique_counts(t[:, 0])
        with np.errstate(all="ignore"):
            saturated = float(loss.saturated(host(values)[:, None], host(counts)).sum())
        self.sums += [*host(xp.stack(totals)), saturated, float(block.rows)]


class NullScore(Totals):
    """Value, slope and expected curvature of a likelihood where all outputs are one number; columns are not read."""

    uses_blas: ClassVar[bool] = True
    reads_columns: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows."""
        return cls(np.zeros(3))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a pair: the likelihood and the output."""
        loss, output = theta
        t, weight = host(block.t), block.weights()
        z = np.full((len(t), 1), output)
        with np.errstate(all="ignore"):
            parts = (loss.value(z, t), loss.slope(z, t), loss.expected(z, t))
            self.sums += [float(weight @ np.where(weight > 0, part[:, 0], 0.0)) for part in parts]


class Densities(Totals):
    """Log densities of targets at mean = t, for each of some dispersions; columns are not read.

    A weight is a frequency, or, with `precision`, divides the dispersion of its row.
    """

    reads_columns: ClassVar[bool] = False

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows; `size` is the number of dispersions."""
        return cls(np.zeros(int(config["size"])))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a triple: the family, the dispersions, and whether weights are precisions."""
        family, dispersions, precision = theta
        weight = block.weights()
        t, weight = host(block.t)[weight > 0, 0], weight[weight > 0]
        times, shares = (np.ones_like(weight), weight) if precision else (weight, np.ones_like(weight))
        with np.errstate(all="ignore"):
            self.sums += [float(times @ family.log_density(t, phi / shares)) for phi in dispersions]


class ShapeScore(Totals):
    """First and second derivative of the log-likelihood by the shape of a negative binomial, and the size of the first.

    The size is the sum of what the first is the sum of without signs: rounding is a share of it.
    """

    uses_blas: ClassVar[bool] = True
    reads_columns: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows."""
        return cls(np.zeros(3))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a FamilyPoint."""
        z, t, weight = _counted(block, theta)
        first, second = theta.loss.family.shape_score(theta.loss.predicted(z, t), t[:, :1])
        self.sums += [float(weight @ part[:, 0]) for part in (first, second, np.abs(first))]


def _is_plain(loss: Likelihood) -> bool:
    """Whether a likelihood is of whole or positive amounts, whose deviance any array library can take."""
    return isinstance(loss, Linked) and isinstance(loss.family, Tweedie) and loss.family.power in (0, 1, 2)


def _counted(block: Block, point: FamilyPoint) -> tuple[Array, Array, Array]:
    """Return outputs (n, 1), targets (n, T) and weights (n,) of the rows of positive weight."""
    z, t, weight = margins(block, Point(point.loss, point.theta, point.view)), host(block.t), block.weights()
    heavy = weight > 0
    return (z, t, weight) if heavy.all() else (z[heavy], t[heavy], weight[heavy])
