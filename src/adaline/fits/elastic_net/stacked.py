"""Paths of l1 penalties for several nets of few rows, with steps of all machines of all nets together.

`compare` fits a net to all rows and one without each of its folds. Each net has a machine for its rows, and one without
each of the folds by which its penalty is chosen. All these machines learn from parts of the same rows under penalties
of their own, and follow their paths side by side (`adaline.solvers.smooth.stacked`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.fits.elastic_net.net import ElasticPath, FittedNet, NetOptions
from adaline.fits.elastic_net.smooth import SmoothNet, raw_weights, smooth_net
from adaline.fits.elastic_net.steps import net_at
from adaline.fits.penalty_path import Losses
from adaline.losses import Loss
from adaline.solvers.smooth.problem import Problem
from adaline.solvers.smooth.proximal_newton import ROUNDING, ZEROING_PENALTY, points_near
from adaline.solvers.smooth.stacked import StackedMachines, StackedRows
from adaline.sources import Source
from adaline.sources.threads import one_blas_thread
from adaline.sources.views import fold_of

# share of the tolerance for the first net, whose gaps are proven; doubling it leaves more of them to further steps, as
# a gap is about the root of what a step promises
FIRST_NET_TOL = 1e-3
# further steps, as a gap is about the root of what a step promises


class FoldNet(NamedTuple):
    """A net of some of the rows of the first one.

    Parameters
    ----------
    net : the loss over its rows, in a view of its own.
    rows : (n,) indices of its rows among those of the first net.
    outputs : (K,) indices of its outputs among those of the first net, of which some classes may have no rows here.
    """

    net: SmoothNet
    rows: NDArray[np.intp]
    outputs: NDArray[np.intp]

    @classmethod
    def of_all(cls, net: SmoothNet) -> FoldNet:
        """Return the net of all rows and all outputs."""
        return cls(net, np.arange(net.problem.source.n_rows), np.arange(net.problem.outputs))


class StackedPath(NamedTuple):
    """P points of a net, the largest l1 first.

    `l1` (P,), weights `theta` (P, K, 1 + D) in the view of the net, and the losses (P, F) of the rows of each fold by a
    machine without it; `weights` (F,) are those of the folds.
    """

    l1: Array
    theta: Array
    losses: Array
    weights: Array


def _paths(nets: list[FoldNet], options: NetOptions) -> list[StackedPath] | None:
    """Return the paths of nets, the first of which is of all rows; None where rows are many or steps lead nowhere.

    The nets are of one loss, and all columns that vary in one vary in the first. Folds are by the index of a row among
    those of its net; the last step of a machine promises `tol` of the loss of the best constants, at most.
    """
    folds, whole = options.folds, nets[0].net.problem
    rows = StackedRows.of(whole, len(nets) * (1 + folds))
    largest = [_largest(one.net) for one in nets]
    if rows is None or not all(largest):
        return None
    inside, outside, owner = _machines(nets, folds, rows.weight)
    first = np.searchsorted(owner, np.arange(len(nets)))
    share = inside.sum(axis=1) / inside.sum(axis=1)[first][owner]
    if np.bincount(owner).min() < 3:  # one fold
        return None
    stack = StackedMachines(rows, inside, outside)
    l1s = np.array([np.geomspace(top, top * options.ratio, options.points) for top in largest])
    sizes = np.array([_in_view(one.net, whole) for one in nets])
    wanted = options.tol * share * np.array([one.net.null for one in nets])[owner]
    wanted[0] *= FIRST_NET_TOL
    found = []
    for penalties in l1s.T:
        ridges = np.array([options.ridges(l1, size) for l1, size in zip(penalties.tolist(), sizes, strict=True)])
        costs = np.where(sizes > 0, penalties[:, None] * sizes, ZEROING_PENALTY)
        if not stack.solve(ridges[owner] * share[:, None], wanted, costs[owner] * share[:, None]).all():
            return None
        found.append((stack.theta[first], stack.held_out.copy()))
    for one in nets:
        one.net.problem.source.reads[0] += stack.passes
    thetas, losses = (np.array(part) for part in zip(*found, strict=True))
    out = []
    for i, one in enumerate(nets):
        own = np.flatnonzero(owner == i)[1:]
        theta = np.array([one.net.problem.from_raw(whole.to_raw(w)[one.outputs]) for w in thetas[:, i]])
        out.append(StackedPath(l1s[i], theta, losses[:, own], stack.outside[own].sum(axis=1)))
    return out


def _largest(net: SmoothNet) -> float:
    """Return the smallest penalty under which all coefficients are zero; zero if the columns explain nothing."""
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


def _in_view(net: SmoothNet, whole: Problem) -> Array:
    """Return the units of a net in the view of the first one, (D,); zero for columns that are constant in its rows."""
    own = net.problem.view.scale
    return np.divide(net.size, own, out=np.zeros_like(own), where=own > 0) * whole.view.scale


@one_blas_thread()
def stacked_nets(nets: list[FoldNet], options: NetOptions) -> list[FittedNet] | None:
    """Return nets of few rows whose paths are found together; None where rows are many.

    Gaps along the path are proven for the first net, which is of all rows; the others are NaN.
    """
    paths = _paths(nets, options)
    if paths is None:
        return None
    out = []
    for i, ((net, *_), (l1s, thetas, losses, weights)) in enumerate(zip(nets, paths, strict=True)):
        problem, ridges = net.problem, partial(options.ridges, size=net.size)
        gaps = np.full(len(l1s), np.nan)
        if i == 0:
            points = points_near(problem, net.size, options.tol * net.null, l1s, thetas, ridges)
            thetas, gaps = np.array([p.found.theta for p in points]), np.array([p.found.gap for p in points])
        judged = Losses(weights)
        for values in losses:
            judged.add(values)
        raw = [raw_weights(replace(problem, ridge=ridges(l1)), w) for l1, w in zip(l1s.tolist(), thetas, strict=True)]
        path = ElasticPath(l1s, np.array(raw), gaps, np.array(judged.values), np.array(judged.errors))
        best = path.chosen(options.rule)
        out.append(net_at(net, float(l1s[best]), thetas[best], path, options))
    return out


def fit_stacked(
    sources: list[Source],
    rows: list[NDArray[np.intp]],
    outputs: list[NDArray[np.intp]],
    loss: Loss,
    options: NetOptions,
) -> list[FittedNet] | None:
    """Return the nets of a smooth loss of classes, of all rows and of some of them; None where rows are many.

    `rows` and `outputs` are the indices of the rows and classes of each source among those of the first one.
    """
    if options.l1 is not None or options.positive or options.groups is not None:
        return None
    nets = [smooth_net(source, loss, options.intercept, options.standardize) for source in sources]
    return stacked_nets([FoldNet(*one) for one in zip(nets, rows, outputs, strict=True)], options)
