"""What rows come to under given weights, as vectors over all rows: 8 bytes a row are held in memory, X is not.

Outputs are taken in the view, where columns lie about zero, unless the means are small enough not to cost digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.block import Block
from adaline.namespaces import beside, host, is_device, is_sparse, namespace
from adaline.solvers.problem import Problem
from adaline.sums.moments import PIECE
from adaline.sums.objective import seen

Array = NDArray[np.float64]

NEAR = 64.0  # means of this many spreads cost two digits of rounding at most


def residuals(problem: Problem, theta: Array) -> Array:
    """Return t - w'x - w0 of every row, (N,), for theta (1, 1 + D) in the view."""
    slopes = (theta[0, 1:] * problem.view.scale)[:, None]
    constant = float(theta[0, 0] + theta[0, 1:] @ problem.view.offset)
    straight = float(np.abs(problem.view.offset).max(initial=0.0)) <= NEAR and bool(np.isfinite(slopes).all())

    def of(block: Block) -> Array:
        if straight and not is_device(block.x):
            return np.asarray(block.t[:, 0] - (block.x @ slopes)[:, 0] - constant)
        parts = []
        for piece in block.pieces(PIECE):
            rows = seen(piece, problem.view)
            z = namespace(rows).matmul(rows, beside(rows, theta.T.copy()))
            parts.append(host(piece.t)[:, 0] - host(z)[:, 0])
        return np.concatenate(parts)

    return problem.source.map(of)


def row_lengths(problem: Problem, root: Array) -> Array:
    """Return |root'(1, v)| of every row, (N,), for root (1 + D, M) in the view; without an intercept 0 stands for 1."""
    problem.source.reads[0] += 1
    root = root.copy()
    root[0] *= problem.intercept

    def of(block: Block) -> Array:
        parts = []
        for piece in block.pieces(PIECE):
            rows = seen(piece, problem.view)
            parts.append(np.linalg.norm(host(namespace(rows).matmul(rows, beside(rows, root))), axis=1))
        return np.concatenate(parts)

    return problem.source.map(of)


def gather(problem: Problem, chosen: NDArray[np.bool_]) -> Array:
    """Return the chosen rows as (1, v, t) in the view, (m, 2 + D), in memory."""

    def of(block: Block) -> Array:
        places = np.flatnonzero(chosen[block.first_row : block.first_row + block.rows])
        t = host(block.t)[places]
        x: Any = Block(block.x, t, chosen=places).gathered().x
        rows = host(seen(Block(x, t), problem.view))
        return np.concatenate([rows, t], axis=1)

    return problem.source.map(of)


def total(problem: Problem, chosen: NDArray[np.bool_], weight: Array) -> Array:
    """Return the sum of weight (1, v, t) over the chosen rows, (2 + D,)."""
    share = weight * chosen

    def of(block: Block) -> Array:
        w = share[block.first_row : block.first_row + block.rows]
        if is_sparse(block.x):
            v = np.asarray(block.x.T @ w) * problem.view.scale
            return np.concatenate([[w.sum()], v, w @ block.t])[None]
        out = np.zeros(2 + problem.features)
        for piece in block.pieces(PIECE):
            first = piece.first_row - block.first_row
            part = w[first : first + piece.rows]
            out[:-1] += part @ host(seen(piece, problem.view))
            out[-1] += float(part @ host(piece.t)[:, 0])
        return out[None]

    return np.asarray(problem.source.map(of).sum(axis=0))
