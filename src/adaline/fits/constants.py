"""The best constants: the machine without slopes, from which fits start and against which they are judged."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidData
from adaline.input.first_pass import class_weights_of
from adaline.links import name_of
from adaline.losses import (
    Loss,
    Working,
)
from adaline.solvers.smooth.newton import (
    factor_hessian,
)
from adaline.solvers.smooth.problem import Problem
from adaline.sources import Source
from adaline.sums import Targets

# gap that rounding leaves for any `tol`, relative to the objective; 100x larger costs the smallest `tol` a digit
ROUNDING_GAP = 1e-26


@dataclass(frozen=True)
class Constants:
    """The best machine without slopes.

    Parameters
    ----------
    theta : (K, 1 + D) weights in the view: the best constants, or zero without an intercept.
    loss : of the rows there.
    lowest : a lower bound on the loss of the rows.
    scale : size of the objective; its rounding error is a share of this.
    slope : typical size of the slopes of the loss at a row.
    inside : whether targets are known to lie on both sides of the constants, so that these cannot grow without bound.
    mean : of the targets, where they are numbers.
    """

    theta: Array
    loss: float
    lowest: float
    scale: float
    slope: float
    inside: bool
    mean: tuple[float, ...] = ()

    def gap(self, tol: float) -> float:
        """Return the gap that a tolerance allows."""
        return tol * max(self.loss - self.lowest, np.finfo(float).tiny) + ROUNDING_GAP * self.scale


def constants_of_classes(problem: Problem, counts: Array) -> Constants:
    """Return the best constants of a likelihood of classes, from the weight (C,) of each; no read of the rows."""
    total = float(counts.sum())
    shares = counts / total
    theta = np.zeros((problem.outputs, 1 + problem.features))
    if not problem.intercept:
        loss = total * math.log(len(counts))
    else:
        theta[:, 0] = problem.loss.constant(shares if problem.outputs > 1 else shares[1:])
        loss = -total * float((shares[shares > 0] * np.log(shares[shares > 0])).sum())
    return Constants(theta, loss, 0.0, loss, 1.0, True)


def constants_beside_offsets(problem: Problem) -> Constants:
    """Return constants near the best ones of two classes whose outputs have a known part, in three reads."""
    targets = problem.source.sum(Targets, problem.loss)
    if not targets.finite:
        problem.source.refuse_nonfinite()
    found = constants_of_targets(problem, problem.loss.constant(targets.mean), 0.0, targets.mean)
    return replace(found, inside=True)


def constants_of_targets(
    problem: Problem, constant: Array, lowest: float, mean: Array, init: Array | None = None
) -> Constants:
    """Return constants near the best ones, given as outputs (K,), in two reads; refuse a loss that is not finite there.

    Where the family allows no row the mean that constants give, other weights take their place: `init`, in raw units,
    or a least-squares fit to the outputs that the link gives for the targets, which have this mean (T,).
    """
    nothing = np.zeros((len(constant), 1 + problem.features))
    theta = nothing.copy()
    theta[:, 0] = constant * problem.intercept
    zero, loss = (problem.evaluate(point).value for point in (nothing, theta))
    if not math.isfinite(loss):
        theta, loss = nothing, zero
    likelihood = problem.loss.linked
    if not math.isfinite(loss) and likelihood is not None:
        asked = replace(problem, loss=Working(likelihood, tuple(mean.tolist()))).evaluate(nothing, second=True)
        if init is not None:
            theta = problem.from_raw(init)
        elif asked.hessian is not None:
            theta = nothing - factor_hessian(asked.hessian).solve(asked.gradient)
        loss = problem.evaluate(theta).value
        if not math.isfinite(loss):
            raise InvalidData(
                f"no weights are known under which every row has a mean that link={name_of(likelihood.link)!r} allows: "
                "give such weights as init, or use link='log'"
            )
    if not math.isfinite(loss):
        raise InvalidData("the loss is not finite where weights are zero: check its functions and the targets")
    scale = max(abs(loss - lowest), abs(zero - lowest) if math.isfinite(zero) else 0.0)
    slope = math.sqrt(2 * scale / problem.spread.weight)
    return Constants(theta, lowest + abs(loss - lowest), lowest, scale, slope, False, tuple(mean.tolist()))


def best_constants(source: Source, loss: Loss, targets: Targets) -> Array:
    """Return the outputs (K,) of constants near the best ones; coupled outputs take one read."""
    if not loss.coupled:
        return loss.constant(targets.mean)
    if source.shape.targets > 1:
        raise InvalidData(f"softmax takes one target, the index of a row's class; y has {source.shape.targets}")
    classes = int(targets.largest) + 1
    if classes < 2:
        raise InvalidData("softmax needs rows of at least 2 classes, 0, 1, ...; all targets are 0")
    return loss.constant(class_weights_of(source).of(classes) / targets.weight)
