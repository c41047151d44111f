"""Whether the classes of a logistic or softmax regression are separated, asked while it is being fitted.

Where a plane separates the classes the likelihood has no maximum. It shows in two ways: the objective falls below the
ln 2 that the lightest row costs on the plane (then every row is on its side), or whole Newton steps keep gaining at the
pace 1/e. Then `separability` decides, and the weights are those under a tiny penalty on standardised columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from adaline.errors import AdalineError
from adaline.penalties import RidgePenalty
from adaline.proof.separability import jointly
from adaline.results import Status
from adaline.solvers.newton import Descended
from adaline.solvers.problem import Problem, pose

Array = NDArray[np.float64]

TINY = 1e-6  # penalty on standardised columns where the likelihood has no maximum
PATIENCE = 8  # slow whole steps before separation is asked about
PROOF = 5e9  # work of a proof of separation, in products: seconds


@dataclass(frozen=True)
class Separation:
    """That a plane separates the classes: "complete", "quasi" or "suspected", and its direction in raw units."""

    kind: str
    direction: Array

    @property
    def status(self) -> Status:
        """As a certificate says it."""
        return Status.SEPARATED if self.kind == "complete" else Status.QUASI_SEPARATED

    def told(self, names: Sequence[str]) -> str:
        """Return it as a sentence, with the names of the columns that the plane leans on most."""
        size = np.abs(self.direction[:, 1:]).max(axis=0)
        shown = ", ".join(names[j] for j in np.argsort(-size, kind="stable")[:3] if size[j] > 0)
        how = {"complete": "are completely", "quasi": "are quasi-completely", "suspected": "seem to be"}[self.kind]
        doubt = " (to prove it would take too long)" if self.kind == "suspected" else ""
        return (
            f"the classes {how} separated by a plane{doubt}, mostly along {shown} (see separation_.direction): the "
            f"likelihood has no maximum. {self.status.advice}"
        )


class Doubt:
    """Whether a fit without a penalty has anything to converge to; its targets are places of so many classes."""

    def __init__(self, problem: Problem, classes: int) -> None:
        self.problem, self.classes = problem, classes
        self.found: Separation | None = None
        self.settled = False

    def give_up(self, here: Descended) -> bool:
        """Whether there is nothing to converge to: asked of every iterate."""
        if self.settled:
            return False
        if here.at.value < 0.5 * math.log(2) * self._lightest:
            self.settled = True
            self.found = Separation("complete", _unit(self.problem.outside(here.theta)))
        elif here.slow >= PATIENCE:
            self.settle(here.theta)
        return self.found is not None

    def settle(self, theta: Array, likely: bool = True) -> None:
        """Find what separability says, within a budget; beyond, where it is likely, the direction of theta."""
        if not self.settled:
            self.settled = True
            self.found = self._asked(theta, likely)

    @cached_property
    def _lightest(self) -> float:
        if self.problem.lightest is not None:
            return self.problem.lightest
        weight = self.problem.source.read_weights()
        return 1.0 if weight is None else float(weight[weight > 0].min(initial=np.inf))

    def _asked(self, theta: Array, likely: bool) -> Separation | None:
        try:
            verdict = jointly(self.problem.source, np.arange(self.classes), PROOF)
        except AdalineError:
            return Separation("suspected", _unit(self.problem.outside(theta))) if likely else None
        if verdict.kind == "none":
            return None
        assert verdict.coef is not None
        assert verdict.intercept is not None
        coef, constant = np.atleast_2d(verdict.coef), np.atleast_1d(verdict.intercept)
        return Separation(verdict.kind, _unit(np.column_stack([constant, coef])))


def held(problem: Problem) -> Problem:
    """Return a problem without a minimum under a tiny penalty on standardised columns, which gives it one."""
    unit = problem.spread.deviation if problem.intercept else problem.spread.root
    penalty = RidgePenalty(TINY, unit)
    return pose(
        problem.source, problem.loss, problem.outputs, problem.intercept, penalty, problem.spread, problem.sample
    )


def _unit(theta: Array) -> Array:
    return np.asarray(theta / np.linalg.norm(theta))
