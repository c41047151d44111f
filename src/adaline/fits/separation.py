"""Whether the classes of a logistic or softmax regression are separated, decided while it is being fitted.

Where a plane separates the classes the likelihood has no maximum. This shows in two ways: the objective falls below
half of the ln 2 that the lightest row costs on the plane (then every row is on the right side), or the gains of whole
Newton steps shrink only by 1/e. Then `separability` decides, and the weights are those under a tiny penalty on
standardised columns.

`convergence_outlook` explains, where a proof is cheap, why a perceptron did not converge: no plane separates the
classes, or it needs more epochs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, as_dense, host
from adaline.block import Block
from adaline.errors import AdalineError
from adaline.forms import Finite, one_of_words
from adaline.locks import cached_property
from adaline.penalties import RidgePenalty
from adaline.results import Status
from adaline.scans import Scan
from adaline.separation.budget import Budget, Undecided
from adaline.separation.separability import decide_jointly, quasi_separating_weights, separating_weights
from adaline.solvers.smooth.newton import DescentResult
from adaline.solvers.smooth.problem import Problem, build_problem
from adaline.sources import ArraySource, Source
from adaline.sources.runners import each_block
from adaline.sources.totals import weight_totals
from adaline.sums.outputs import outputs

# penalty on standardised columns where the likelihood has no maximum; 10x larger returns shorter weights
TINY_PENALTY = 1e-6
PATIENCE = 8  # slow whole steps before separation is checked; doubling it costs separated fits eight more passes
# rows x columns x machines up to which a perceptron that did not converge is explained; doubling it doubles the time
MOST_EXPLAINED_NUMBERS = 2**22
# coordinates up to which it is explained, as exact arithmetic is cubic in these; doubling it takes 8 times as long
MOST_EXPLAINED_COORDINATES = 64
# rows x columns^2 x classes up to which each class is explained; doubling it takes up to twice as long
MOST_EXPLAINED_WORK = 2**21
# numbers of a problem without constants up to which separation is decided; doubling it takes twice the memory
MOST_MIRRORED_NUMBERS = 2**25
# margin of a row, relative to the largest, that counts as zero; 10x larger accepts planes that misclassify rows
# slightly
ON_PLANE = 1e-9
PROOF_WORK = 5e9  # products spent on a proof of separation; doubling it gives up after ten seconds instead of five
# the same for folds, of which there are many, and for advice; doubling it gives up after one second instead of half
SHORT_PROOF_WORK = 5e8


@dataclass(frozen=True)
class Separation:
    """That a plane separates the classes: "complete", "quasi" or "suspected", and its direction in raw units."""

    kind: Annotated[str, one_of_words("complete", "quasi", "suspected")]
    direction: Annotated[Array, Finite(". 1+D")]

    @property
    def status(self) -> Status:
        """The status of a certificate."""
        return Status.SEPARATED if self.kind == "complete" else Status.QUASI_SEPARATED

    def warning(self, names: Sequence[str], remedies: str | None = None) -> str:
        """Return a sentence with the columns that separate the classes most, and what to do."""
        size = np.abs(self.direction[:, 1:]).max(axis=0)
        shown = ", ".join(names[j] for j in np.argsort(-size, kind="stable")[:3] if size[j] > 0)
        how = {"complete": "are completely", "quasi": "are quasi-completely", "suspected": "seem to be"}[self.kind]
        unproven = " (to prove it would take too long)" if self.kind == "suspected" else ""
        advice = self.status.advise(self.status.remedies if remedies is None else remedies).partition(": ")[2]
        return (
            f"the classes {how} separated by a plane{unproven}, mostly along {shown} (see separation_.direction): the "
            f"likelihood has no maximum, and {advice}"
        )


class SeparationCheck:
    """Checks whether a fit without a penalty has a minimum; its targets are indices of `classes` classes."""

    def __init__(self, problem: Problem, classes: int, fold: bool = False) -> None:
        self.problem, self.classes, self.work = problem, classes, SHORT_PROOF_WORK if fold else PROOF_WORK
        self.offset = (
            problem.source.targets.offset > 0
        )  # which may put each row on the side of its class, without a plane
        self.found: Separation | None = None
        self.settled = False

    def give_up(self, here: DescentResult) -> bool:
        """Return whether there is no minimum; called with every iterate."""
        if self.settled:
            return self.found is not None
        if not self.offset and here.evaluation.value < 0.5 * math.log(2) * self._lightest:
            self.settled = True
            self.found = Separation("complete", _unit(self.problem.to_raw(here.theta)))
        elif here.slow >= PATIENCE:
            self.settle(here.theta)
        return self.found is not None

    def take(self, known: Separation) -> None:
        """Keep a plane that separates a superset of the rows, unless all of these lie on it.

        A suspected plane is kept unchecked: a proof would exceed the budget again.
        """
        if known.kind != "suspected":
            least, largest = _leads(self.problem.source, known.direction)
            if not (0 < largest < math.inf and least >= -ON_PLANE * largest):
                return
        self.found, self.settled = known, True

    def settle(self, theta: Array, likely: bool = True) -> None:
        """Decide separability within a budget; beyond it, where separation is likely, take the direction of theta."""
        if not self.settled:
            self.settled = True
            self.found = self._decide(theta, likely)

    @cached_property
    def _lightest(self) -> float:
        if self.problem.lightest is not None:
            return self.problem.lightest
        return weight_totals(self.problem.source).lightest if self.problem.source.targets.weighted else 1.0

    def _decide(self, theta: Array, likely: bool) -> Separation | None:
        raw, free, classes = self.problem.to_raw(theta), self.problem.intercept, self.classes
        suspected = Separation("suspected", _unit(raw)) if likely else None
        budget = Budget(self.work)  # of the guess and the decision together
        try:
            source = self.problem.source if free else _about_origin(self.problem.source, classes)
            guessed = likely and len(raw) == 1
            plane = quasi_separating_weights(source, raw[0], budget) if guessed else None
            if plane is not None:
                return Separation("quasi", _unit(np.column_stack([plane[:, :1] * free, plane[:, 1:]])))
            verdict = decide_jointly(source, np.arange(classes if free else 2), budget)
        except AdalineError:
            return suspected
        if verdict.kind == "none":
            return None
        assert verdict.coef is not None
        assert verdict.intercept is not None
        coef, constant = np.atleast_2d(verdict.coef), np.atleast_1d(verdict.intercept)
        if not free:
            coef = coef.reshape(classes - 1, -1)
            coef = coef if classes == 2 else np.concatenate([0.0 * coef[:1], coef])
            constant = np.zeros(len(coef))
        return Separation(verdict.kind, _unit(np.column_stack([constant, coef])))


def _about_origin(source: Source, classes: int) -> Source:
    """Return rows of two classes that a plane separates where weights without a constant separate the given classes.

    A row x of class k and a rival l become v = e_k (x) x - e_l (x) x and its mirror image -v, of the other class; the
    weights of class 0 are zero. Where w'v + b and w'v - b are positive, so is w'v.
    """
    size = 2 * source.n_rows * (classes - 1) ** 2 * source.shape.features
    if size > MOST_MIRRORED_NUMBERS:
        raise Undecided(f"separability was not asked about: {size} numbers, the limit is {MOST_MIRRORED_NUMBERS}")

    def contests(block: Block) -> Array:
        x, t = as_dense(host(block.x)).astype(np.float64), host(block.t)[:, 0].astype(np.intp)
        if block.weight is not None:
            x, t = x[host(block.weight) > 0], t[host(block.weight) > 0]
        own = (t[:, None] == np.arange(classes)).astype(np.float64)
        rivals = [own[t != rival] - np.eye(classes)[rival] for rival in range(classes)]
        rows = [x[t != rival] for rival in range(classes)]
        lifted = [one[:, 1:, None] * row[:, None] for one, row in zip(rivals, rows, strict=True)]
        return np.concatenate([one.reshape(len(one), -1) for one in lifted])

    v = np.concatenate(each_block(source, contests))
    return ArraySource(np.concatenate([v, -v]), np.repeat([[1.0], [0.0]], len(v), axis=0))


def with_tiny_penalty(problem: Problem) -> Problem:
    """Return a problem without a minimum under a tiny penalty on standardised columns, which gives it one."""
    unit = problem.spread.deviation if problem.intercept else problem.spread.root
    penalty = RidgePenalty(TINY_PENALTY, unit)
    return build_problem(
        problem.source, problem.loss, problem.outputs, problem.intercept, penalty, problem.spread, problem.sample
    )


def _unit(theta: Array) -> Array:
    return np.asarray(theta / np.linalg.norm(theta))


@dataclass(frozen=True)
class ConvergenceOutlook:
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

    def advice(self, made: int, standardize: bool, intercept: bool) -> str:
        """Return one line for a perceptron that made `made` corrections without a clean epoch."""
        scaling = "" if standardize else "set standardize=True, or "
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
        if not intercept:
            return "a plane separates the classes, but perhaps none through the origin: set fit_intercept=True"
        if self.bound == math.inf:
            return f"a plane separates the classes, so that there can be a clean epoch: {scaling}raise epochs"
        return (
            "a plane separates the classes, so that a clean epoch will come after at most "
            f"{self.bound:.3g} corrections, {made} are made: {scaling}raise epochs"
        )


def convergence_outlook(source: Source, labels: NDArray[Any], scan: Scan, theorem: bool = False) -> ConvergenceOutlook:
    """Decide whether the rows of a perceptron's source are separable, within a budget.

    Targets are above zero for the class of a machine, or class numbers where all machines learn together. `theorem`
    is whether the bound on corrections holds for rows without weights: it does from zero weights at a constant rate.
    """
    together = len(labels) if scan.classes else 2
    width = 1 + source.shape.features
    if source.streamed or source.n_rows * width * len(scan.theta) > MOST_EXPLAINED_NUMBERS:
        return ConvergenceOutlook()
    if (together - 1) * width > MOST_EXPLAINED_COORDINATES:
        return ConvergenceOutlook()
    if len(scan.theta) > 1 and source.n_rows * width**2 * len(scan.theta) > MOST_EXPLAINED_WORK:
        return ConvergenceOutlook()
    targets = source.read_targets() if scan.classes else (source.read_targets() > 0).astype(np.float64)
    bound = 0.0
    for name, t in zip(labels.tolist(), targets.T, strict=False):
        rows = source.with_targets(t[:, None])
        try:
            theta = separating_weights(rows, together, SHORT_PROOF_WORK)
        except AdalineError:  # too close to tell without long arithmetic, or rows of some classes only
            return ConvergenceOutlook()
        if theta is None:
            return ConvergenceOutlook(False, _reason(name, targets.shape[1], together))
        bound += _bound(rows, theta, scan.tally.radius)
    return ConvergenceOutlook(True, bound=bound if theorem and not source.targets.weighted else math.inf)


def _reason(name: Any, machines: int, together: int) -> str:
    if together > 2:
        return "no linear functions, one for each class, are largest on the rows of their class"
    label = repr(name) if isinstance(name, str) else name
    return "no plane separates " + ("the classes" if machines == 1 else f"class {label} from the rest")


def _bound(source: Source, theta: Array, radius: float) -> float:
    """Return R^2/M^2 in the space of Kesler's vectors, (1, x) for a row's class and -(1, x) for a rival."""
    lead = _leads(source, theta)[0]
    length = float(np.linalg.norm(theta - theta.mean(axis=0)))
    return float(2 * np.square(radius * length / lead)) if lead > 0 else math.inf


def _leads(source: Source, theta: Array) -> tuple[float, float]:
    """Return by how much the output of a row's class is above that of another, at least and at most.

    `theta` (K, 1 + D) in raw units has an output for each class, or one, which is above zero for the second of two.
    Rows without weight do not count.
    """

    def leads(block: Block) -> Array:
        block = block.packed()
        z = outputs(block.x, theta)
        every, own = np.arange(len(z)), host(block.t)[:, 0].astype(np.intp)
        if len(theta) == 1:
            lead = np.where(own == 1, z[:, 0], -z[:, 0])[:, None]
        else:
            lead = z[every, own][:, None] - z
            lead[every, own] = lead[every, own - 1]  # that of another class
        rows = np.stack([lead.min(axis=1), lead.max(axis=1)], axis=1)
        return rows if block.weight is None else rows[host(block.weight) > 0]

    each = np.asarray(source.map(leads))
    return float(each[:, 0].min()), float(each[:, 1].max())
