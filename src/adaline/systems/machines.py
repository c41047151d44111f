"""Fitting the machines of a logistic or softmax regression: start, solver, separation, certificate."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import InvalidParameter
from adaline.losses import Logistic, Loss, Softmax
from adaline.penalties import RidgePenalty
from adaline.results import Certificate, Solution, Status
from adaline.solvers.curvature import Curvature
from adaline.solvers.dependence import Dependence, independent
from adaline.solvers.firth import firth, firth_ratios
from adaline.solvers.fit import certificate, digits
from adaline.solvers.likelihood import LikelihoodFit, raw_root
from adaline.solvers.newton import Descended
from adaline.solvers.problem import Problem, pose
from adaline.solvers.proximal import proximal
from adaline.solvers.smooth import Solved, solve
from adaline.sources import Source
from adaline.sums import Spread
from adaline.systems.penalty_path import Path, cross_validated
from adaline.systems.separation import Doubt, Separation, held

Array = NDArray[np.float64]

DEPENDENT = (
    "some columns are linear combinations of others: the weights of least norm are returned; drop columns, or give a "
    "penalty"
)
ROUNDING = 2.0**-52


@dataclass(frozen=True)
class Machine:
    """A fitted machine, or K coupled ones."""

    fit: LikelihoodFit
    history: list[float]
    separation: Separation | None
    path: Path | None = None


@dataclass(frozen=True)
class Wish:
    """How a machine is to be fitted."""

    penalty: RidgePenalty
    intercept: bool
    tol: float
    solver: str
    init: Array | None = None
    firth: bool = False
    l1: float = 0.0


class Fitting:
    """One machine on rows whose targets are 0 and 1, or coupled ones on rows whose targets are places of classes.

    Of K > 2 classes those without rows may be left out: `counts` are the weights of the others.
    """

    def __init__(self, source: Source, classes: int, counts: Array, wish: Wish, spread: Spread | None = None) -> None:
        self.source, self.wish, self.counts = source, wish, counts
        self.loss: Loss = Logistic() if classes == 2 else Softmax()
        outputs = 1 if classes == 2 else len(counts)
        self.problem = pose(source, self.loss, outputs, wish.intercept, wish.penalty, spread)
        self.free = not wish.penalty.any() and not wish.l1
        self.doubt = Doubt(self.problem, len(counts))

    def run(self) -> Machine:
        """Return the fitted machine."""
        start, before = self.problem.source.total_reads(), self._start()
        null = self._null()
        wanted = self.wish.tol * max(null, np.finfo(float).tiny)
        problem = self.problem
        if self.wish.firth:
            solved = Solved(firth(problem, np.zeros_like(before), wanted), "Firth's scoring")
        elif self.wish.l1:
            solved = Solved(proximal(problem, self._corners(), before, wanted), "proximal Newton")
        else:
            solved = solve(problem, before, wanted, self.wish.solver, self._give_up)
        if self.free and math.isinf(solved.found.gap) and not self.wish.firth:
            wide = self.problem.features >= self.source.n_rows  # rows in general position are separable then (S4)
            self.doubt.settle(solved.found.theta, likely=wide)
        history = solved.found.history
        separation = self.doubt.found
        if separation is not None:
            problem = held(problem)
            solved = solve(problem, solved.found.theta * 0.5, wanted, self.wish.solver)
            history = history + solved.found.history
        found = solved.found
        theta, depends = shortest(problem, found)
        if self.loss.coupled:  # what all machines have in common decides nothing
            shared = theta.mean(axis=0)
            shared[1:] *= self.free
            theta = theta - shared
        raw = problem.outside(theta)
        if self.loss.coupled:
            raw[:, 0] -= raw[:, 0].mean()
        proof = self._certificate(problem, found, raw, depends, solved.solver, problem.source.total_reads() - start)
        fit = LikelihoodFit(
            Solution(raw, proof),
            None if found.curvature is None else raw_root(problem, found.curvature),
            self._log_likelihood(problem, found),
            -null,
            self.source.n_rows,
            problem.spread.weight,
            max(problem.outputs - 1, 1) * (depends.rank + problem.intercept),
            not self.free or separation is not None,
            self.loss.coupled,
            depends,
            self.wish.firth,
            firth_ratios(problem, found, wanted) if self.wish.firth else None,
        )
        return Machine(fit, history, separation)

    def _log_likelihood(self, problem: Problem, found: Descended) -> float:
        if self.wish.firth:
            return -problem.at(found.theta).value
        w = found.theta[:, 1:]
        return 0.5 * float((problem.ridge * w**2).sum()) + float((self._corners() * np.abs(w)).sum()) - found.at.value

    def _corners(self) -> Array:
        """Return the l1 penalties of the coefficients in the view, (D,)."""
        return np.asarray(self.wish.l1 * self.wish.penalty.unit * self.problem.view.scale)

    def path(self, folds: int) -> Path:
        """Return the cross-validated path of penalties."""
        return cross_validated(self.source, self.problem, self.wish.penalty.unit, self._start(), self._null(), folds)

    def _start(self) -> Array:
        """Return the weights to start from, in the view."""
        problem = self.problem
        theta = np.zeros((problem.outputs, 1 + problem.features))
        if problem.intercept:
            shares = self.counts / self.counts.sum()
            theta[:, 0] = self.loss.constant(shares if problem.outputs > 1 else shares[1:])
        if self.wish.init is None:
            return theta
        given = problem.inside(self.wish.init)  # a start that costs more than constants is none
        return given if problem.at(given).value < problem.at(theta).value else theta

    def _null(self) -> float:
        """Return minus the log-likelihood of the best constants, or of none without an intercept."""
        total = float(self.counts.sum())
        if not self.problem.intercept:
            return total * math.log(len(self.counts))
        shares = self.counts[self.counts > 0] / total
        return -total * float((shares * np.log(shares)).sum())

    def _give_up(self, here: Descended) -> bool:
        return self.free and self.doubt.give_up(here)

    def _certificate(
        self, problem: Problem, found: Descended, raw: Array, depends: Dependence, solver: str, passes: int
    ) -> Certificate:
        status = Status.SOLVED
        condition = math.nan if found.curvature is None else found.curvature.condition
        if not found.converged:
            status = Status.NOT_CONVERGED
        elif self.doubt.found is not None:
            status = self.doubt.found.status
        elif len(depends.left_out) and self.free:
            status = Status.RANK_DEFICIENT
        elif condition > 1e8:
            status = Status.ILL_CONDITIONED
        proof = certificate(
            status=status,
            objective=found.at.value,
            gradient=problem.steepness(found.at.gradient),
            gap=found.gap,
            digits=known_digits(problem, found, raw),
            condition=condition,
            rank=depends.rank,
            passes=passes,
            solver=solver,
        )
        return replace(proof, advice=DEPENDENT) if status is Status.RANK_DEFICIENT else proof


def known_digits(problem: Problem, found: Descended, raw: Array, size: float = 1.0) -> float:
    """Return the correct digits of coefficients in raw units: what the next step would change, and rounding.

    `size` is that of the slopes of rows, which rounding is a share of.
    """
    if found.curvature is None:
        return math.nan
    error = np.abs(found.curvature.solve(found.at.gradient))
    spread = np.sqrt((found.curvature.root**2).sum(axis=1)).reshape(error.shape)
    error += ROUNDING * size * math.sqrt(problem.spread.weight) * spread
    outside = error * np.concatenate([[1.0], problem.view.scale])
    outside[:, 0] += np.abs(error[:, 1:]) @ np.abs(problem.view.offset)
    outside[:, 0] *= problem.intercept
    length = np.concatenate([[1.0], np.maximum(problem.spread.root, np.finfo(float).tiny)])
    return digits(outside, raw, length)


def shortest(problem: Problem, found: Descended) -> tuple[Array, Dependence]:
    """Return the weights of least norm in raw units among those that predict the same, and why there are several."""
    curvature: Curvature | None = found.curvature
    if curvature is None or problem.penalised or not curvature.null.shape[1]:
        return found.theta, independent(problem.constant)
    k, side = problem.outputs, 1 + problem.features
    null = curvature.null
    raw = np.stack([problem.outside(column.reshape(k, side))[:, 1:].ravel() for column in null.T], axis=1)
    share = np.linalg.lstsq(raw, problem.outside(found.theta)[:, 1:].ravel(), rcond=None)[0]
    theta = found.theta - (null @ share).reshape(k, side)
    return theta, problem.dependence(null)


def first_weights(given: Any, machines: int, columns: int) -> Array:
    """Return the weights to start from that a user gave, (machines, columns), intercept first."""
    try:
        theta = np.atleast_2d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        raise InvalidParameter(f"init must be None or weights, got {given!r}") from None
    if theta.shape != (machines, columns):
        raise InvalidParameter(f"init must be ({machines}, {columns}), intercept first, got {theta.shape}")
    if not np.isfinite(theta).all():
        raise InvalidParameter("init must be finite numbers")
    return theta
