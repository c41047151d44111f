"""Paths of l1 penalties of several nets of few rows, all machines of all nets stepped together.

`compare` fits a net to all rows and without each of its folds; each of them has a machine of its rows and one without
each of the folds that its penalty is chosen by. All these machines learn from some of the same rows, under penalties of
their own, and go down their paths side by side (`adaline.solvers.smooth.stacked`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.solvers.smooth.problem import Problem
from adaline.solvers.smooth.proximal_newton import NO_WEIGHT, ROUNDING
from adaline.solvers.smooth.stacked import StackedMachines, StackedRows
from adaline.sources.views import fold_of

TIGHTER = 1e-3  # share of the tolerance for the first net, whose gaps are to be proven: a gap is about the root of it


class FoldNet(NamedTuple):
    """A net of some of the rows of the first one.

    Parameters
    ----------
    problem : the loss over its rows, without penalties, in a view of its own.
    size : (D,) units that penalties act in, in that view.
    constant : (K,) best constants.
    null : their loss above the lowest that there is.
    rows : (n,) indices of its rows among those of the first net.
    outputs : (K,) indices of its outputs among those of the first net, of which some classes may have no rows here.
    """

    problem: Problem
    size: Array
    constant: Array
    null: float
    rows: NDArray[np.intp]
    outputs: NDArray[np.intp]


class StackedPath(NamedTuple):
    """P points of a net, the largest l1 first.

    `l1` (P,), weights `theta` (P, K, 1 + D) in the view of the net, and the losses (P, F) of the rows of each fold by a
    machine without it; `weights` (F,) are those of the folds.
    """

    l1: Array
    theta: Array
    losses: Array
    weights: Array


def stacked_paths(
    nets: list[FoldNet], folds: int, points: int, ratio: float, tol: float, ridge: Callable[[float], Array]
) -> list[StackedPath] | None:
    """Return the paths of nets, the first of which is of all rows; None where rows are many or steps lead nowhere.

    Parameters
    ----------
    nets : of one loss; all columns that vary in one vary in the first.
    folds : of every net, by the index of the row among its rows.
    points, ratio : how many penalties, in geometric progression, and the smallest over the largest.
    tol : share of the loss of the best constants that the last step of a machine promises, at most.
    ridge : the ridge penalties beside l1, in units of `size`.
    """
    whole = nets[0].problem
    rows = StackedRows.of(whole, len(nets) * (1 + folds))
    largest = [_largest(net) for net in nets]
    if rows is None or not all(largest):
        return None
    inside, outside, owner = _machines(nets, folds, rows.weight)
    first = np.searchsorted(owner, np.arange(len(nets)))
    share = inside.sum(axis=1) / inside.sum(axis=1)[first][owner]
    if np.bincount(owner).min() < 3:  # one fold
        return None
    stack = StackedMachines(rows, inside, outside)
    l1s = np.array([np.geomspace(top, top * ratio, points) for top in largest])
    sizes = np.array([_in_view(net, whole) for net in nets])
    wanted = tol * share * np.array([net.null for net in nets])[owner]
    wanted[0] *= TIGHTER
    found = []
    for penalties in l1s.T:
        ridges = np.array([ridge(l1) * size**2 for l1, size in zip(penalties.tolist(), sizes, strict=True)])
        costs = np.where(sizes > 0, penalties[:, None] * sizes, NO_WEIGHT)
        if not stack.solve(ridges[owner] * share[:, None], wanted, costs[owner] * share[:, None]).all():
            return None
        found.append((stack.theta[first], stack.held_out.copy()))
    for net in nets:
        net.problem.source.reads[0] += stack.passes
    thetas, losses = (np.array(part) for part in zip(*found, strict=True))
    out = []
    for i, net in enumerate(nets):
        own = np.flatnonzero(owner == i)[1:]
        theta = np.array([net.problem.from_raw(whole.to_raw(one)[net.outputs]) for one in thetas[:, i]])
        out.append(StackedPath(l1s[i], theta, losses[:, own], stack.outside[own].sum(axis=1)))
    return out


def _largest(net: FoldNet) -> float:
    """Return the least penalty that leaves no coefficient; zero where the columns explain nothing."""
    problem, unit = net.problem, net.size
    theta = np.zeros((problem.outputs, 1 + problem.features))
    slopes = np.abs(problem.evaluate(theta).gradient[:, 0]).max()
    theta[:, 0] = net.constant * problem.intercept
    pull = np.abs(problem.evaluate(theta).gradient[:, 1:]).max(axis=0)[unit > 0]
    slopes += problem.weight * np.abs(theta[:, 0]).max()
    return float((pull / unit[unit > 0]).max()) if pull.max(initial=0.0) > ROUNDING * slopes else 0.0


def _machines(nets: list[FoldNet], folds: int, weight: Array) -> tuple[Array, Array, NDArray[np.intp]]:
    """Return the weights (M, N) of rows that machines learn from and are judged on, and the net (M,) of each."""
    inside, outside, owner = [], [], []
    for i, net in enumerate(nets):
        fold = np.full(len(weight), -1)
        fold[net.rows] = fold_of(0, len(net.rows), folds)
        own = np.where(fold >= 0, weight, 0.0)
        parts = [np.where(fold == k, own, 0.0) for k in range(folds)]
        for part in (np.zeros_like(own), *(part for part in parts if 0 < part.sum() < own.sum())):
            inside.append(own - part)
            outside.append(part)
            owner.append(i)
    return np.array(inside), np.array(outside), np.array(owner)


def _in_view(net: FoldNet, whole: Problem) -> Array:
    """Return the units of a net in the view of the first one, (D,); zero for columns that are constant in its rows."""
    own = net.problem.view.scale
    return np.divide(net.size, own, out=np.zeros_like(own), where=own > 0) * whole.view.scale
