"""Why a perceptron did not end: no plane separates the classes, or it needs more epochs. Proved where that is cheap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.block import Block
from adaline.errors import AdalineError
from adaline.namespaces import host
from adaline.proof.separability import separating
from adaline.scans import Scan
from adaline.sources import Source
from adaline.sums.wrong import outputs

Array = NDArray[np.float64]

MOST_NUMBERS = 2**22  # of all rows, once for each machine: tenths of a second
MOST_COORDINATES = 64  # beyond, exact arithmetic can take longer


@dataclass(frozen=True)
class Outlook:
    """Whether a perceptron can end.

    Parameters
    ----------
    separable : None where the question was left open, because the answer would cost more than the fit.
    reason : why not, where it is not.
    bound : R^2/M^2 of a plane that separates, summed over the machines: most corrections from zero weights.
    """

    separable: bool | None = None
    reason: str = ""
    bound: float = math.inf

    def advice(self, system: Any, made: int) -> str:
        """Return one line for a perceptron that made so many corrections without a clean epoch."""
        scaling = "" if system.standardize else "set standardize=True, or "
        if self.separable is None:
            return (
                "no epoch was free of mistakes: perhaps no plane separates the classes (adaline.separability decides "
                f"that); {scaling}raise epochs, or use Pocket(standardize=True) or another classifier"
            )
        if not self.separable:
            return (
                f"{self.reason} (adaline.separability proves such things), so that no epoch will ever be free of "
                "mistakes: use Pocket(standardize=True) or another classifier"
            )
        if not system.fit_intercept:
            return "a plane separates the classes, but perhaps none through the origin: set fit_intercept=True"
        if self.bound == math.inf:
            return f"a plane separates the classes, so that there can be a clean epoch: {scaling}raise epochs"
        return (
            "a plane separates the classes, so that a clean epoch will come after at most "
            f"{self.bound:.3g} corrections, {made} are made: {scaling}raise epochs"
        )


def outlook(source: Source, labels: NDArray[Any], scan: Scan, theorem: bool = False) -> Outlook:
    """Decide whether the rows of a perceptron's source are separable, within a budget.

    Targets are above zero for the class of a machine, or class numbers where all machines learn together. `theorem`
    says whether the bound on corrections holds for rows without weights: it does from zero weights at a constant rate.
    """
    together = len(labels) if scan.classes else 2
    width = 1 + source.shape.features
    if source.streamed or source.n_rows * width * len(scan.theta) > MOST_NUMBERS:
        return Outlook()
    if (together - 1) * width > MOST_COORDINATES:
        return Outlook()
    targets = source.read_targets() if scan.classes else (source.read_targets() > 0).astype(np.float64)
    bound = 0.0
    for name, t in zip(labels.tolist(), targets.T, strict=False):
        rows = source.with_targets(t[:, None])
        try:
            theta = separating(rows, together)
        except AdalineError:  # too close to tell without long arithmetic, or rows of some classes only
            return Outlook()
        if theta is None:
            return Outlook(False, _reason(name, targets.shape[1], together))
        bound += _bound(rows, theta, scan.tally.radius)
    return Outlook(True, bound=bound if theorem and not source.weighted else math.inf)


def _reason(name: Any, machines: int, together: int) -> str:
    if together > 2:
        return "no linear functions, one for each class, are largest on the rows of their class"
    return "no plane separates " + ("the classes" if machines == 1 else f"class {name!r} from the rest")


def _bound(source: Source, theta: Array, radius: float) -> float:
    """Return R^2/M^2 in the space of Kesler's vectors, (1, x) for a row's class and -(1, x) for a rival."""

    def leads(block: Block) -> Array:
        block = block.packed()
        z = outputs(block.x, theta)
        every, own = np.arange(len(z)), host(block.t)[:, 0].astype(np.intp)
        mine = z[every, own].copy()
        z[every, own] = -math.inf
        lead = mine - z.max(axis=1)
        return lead if block.weight is None else np.where(host(block.weight) > 0, lead, math.inf)

    lead = float(source.map(leads).min())
    length = float(np.linalg.norm(theta - theta.mean(axis=0)))
    return 2 * (radius * length / lead) ** 2 if lead > 0 else math.inf
