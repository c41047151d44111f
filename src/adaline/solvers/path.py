"""All l1 penalties from the one that leaves no coefficient down: each point starts from the one before.

Sequential strong rule (Tibshirani et al. 2012): a column whose |dF/dw_j| at the last point lies below
(2 l1 - last l1) unit_j will most likely stay zero, so it is left out, and looked at again in the pass that proves the
gap.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.solvers.newton import Descended
from adaline.solvers.planes import Planes
from adaline.solvers.problem import Problem
from adaline.solvers.proximal import Penalised, ended, solve

Array = NDArray[np.float64]

ENDLESS = 1e300  # a penalty that no coefficient can pay
EXACT = 1e-14
ROUNDING = 64 * float(np.finfo(np.float64).eps)


class PathPoint(NamedTuple):
    """A penalty and the minimum under it."""

    l1: float
    found: Descended


def largest_l1(problem: Problem, unit: Array) -> float:
    """Return the smallest l1 under which all coefficients with a penalty are zero; that of column j is l1 unit_j."""
    return _largest(problem, unit, _without(problem, unit, Planes(problem), np.zeros(problem.outputs)))


def path(
    problem: Problem, unit: Array, constant: Array, wanted: float, points: int = 20, ratio: float = 1e-3
) -> list[PathPoint]:
    """Return the minima under falling penalties, each with a gap of at most `wanted`.

    Parameters
    ----------
    problem : F.
    unit : (D,) column j is penalised by l1 unit_j |w_j|, in the coordinates of the view.
    constant : (K,) intercepts to start from.
    wanted : bound on the gap to be proven at each point.
    points : how many penalties, in geometric progression from the largest.
    ratio : smallest penalty over largest.

    Returns
    -------
    The first point is the minimum without penalised columns. It is the only one, with a penalty of zero, where these
    explain nothing of the target, as of a constant one.
    """
    planes = Planes(problem)
    here = _without(problem, unit, planes, constant)
    if _explains_nothing(problem, unit, here):
        return [PathPoint(0.0, here)]
    largest = last = _largest(problem, unit, here)
    first = Penalised(problem, np.concatenate([[0.0], largest * unit]), planes)
    gap = first.gap(here.theta, here.at)
    here = replace(here, gap=gap, converged=here.converged or gap <= wanted)
    if not here.converged:
        here = solve(first, here.theta, here.at, wanted, 100)
    out = [PathPoint(largest, ended(first, here))]
    for l1 in np.geomspace(largest, largest * ratio, points).tolist()[1:]:
        pull = np.abs(here.at.gradient[:, 1:]).max(axis=0)
        start = np.flatnonzero(pull >= (2 * l1 - last) * unit)
        penalised = Penalised(problem, np.concatenate([[0.0], l1 * unit]), planes)
        here = solve(penalised, here.theta, here.at, wanted, 100, start)
        out.append(PathPoint(l1, ended(penalised, here)))
        last = l1
    return out


def _without(problem: Problem, unit: Array, planes: Planes, constant: Array) -> Descended:
    """Return the minimum over the intercepts, which start from `constant`, and the columns that have no penalty."""
    theta = np.zeros((problem.outputs, 1 + problem.features))
    theta[:, 0] = constant * problem.intercept
    at = problem.at(theta)
    penalised = Penalised(problem, np.concatenate([[0.0], np.where(unit > 0, ENDLESS, 0.0)]), planes)
    return solve(penalised, theta, at, EXACT * abs(at.value), 100)


def _explains_nothing(problem: Problem, unit: Array, without: Descended) -> bool:
    """Whether no penalised column pulls by more than the rounding of what the intercepts make up for."""
    slopes = np.abs(problem.at(np.zeros_like(without.theta)).gradient[:, 0]).max()
    slopes += problem.source.total_weight() * np.abs(without.theta[:, 0]).max()
    pull = np.abs(without.at.gradient[:, 1:]).max(axis=0)
    return bool(pull[unit > 0].max(initial=0.0) <= ROUNDING * slopes)


def _largest(problem: Problem, unit: Array, without: Descended) -> float:
    pull = np.abs(without.at.gradient[:, 1:]).max(axis=0)
    some = unit > 0
    return float((pull[some] / unit[some]).max(initial=0.0))
