"""A step of k-means: the sums of the rows nearest to each centre, in one read.

    k(v) = argmin_k ||v - c_k||^2:  sum w,  sum w v,  sum w ||v - c_k||^2 of the rows of each centre

The reference is `adaline.sums.clusters`.
"""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from adaline.fused.tiles import (
    MOST_COMPARED,
    MOST_OUTPUTS,
    PROGRAMS,
    Array,
    Tile,
    head_of,
    launch,
    on_device_of,
    program_count,
    sent_to,
    tile_of,
    weights_of,
)


@triton.jit
def squares_to(v, member, points):
    """Return the squared distance of each row from the centre that its row of `member` marks."""
    d = v - tl.dot(member, tl.trans(points), out_dtype=tl.float64)
    return tl.sum(d * d, axis=1)


@triton.jit
def clusters_kernel(
    x,
    weight,
    numbers,
    out,
    index,
    squares,
    rows,
    D: tl.constexpr,
    PITCH: tl.constexpr,
    K: tl.constexpr,
    STEP: tl.constexpr,
    SIDE: tl.constexpr,
    WIDTH: tl.constexpr,
    WEIGHTED: tl.constexpr,
    MARKED: tl.constexpr,
):
    """Add up a program's share of the rows; `numbers` are scale, offset, centres' (SIDE, WIDTH) and their squares.

    The two nearest centres by |c|^2 - 2 v'c are compared by their squared differences, which decide. MARKED stores the
    index of the nearest centre of each row, and the squared difference.
    """
    program = tl.program_id(0)
    columns, outputs, scale, offset, at = head_of(numbers, SIDE, WIDTH)
    points = tl.load(at + columns[:, None] * WIDTH + outputs[None, :])
    size = tl.load(at + SIDE * WIDTH + outputs)
    error = tl.zeros((STEP, WIDTH), dtype=tl.float64)
    first_moment = tl.zeros((SIDE, WIDTH), dtype=tl.float64)
    for first in range(program * STEP, rows, tl.num_programs(0) * STEP):
        row = first + tl.arange(0, STEP)
        inside = row < rows
        v = tile_of(x, row, inside, columns, scale, offset, D, PITCH)
        w = weights_of(weight, row, inside, WEIGHTED)
        score = size[None, :] - 2.0 * tl.dot(v, points, out_dtype=tl.float64)
        best = tl.argmin(score, axis=1)
        is_best = outputs[None, :] == best[:, None]
        second = tl.argmin(tl.where(is_best, float("inf"), score), axis=1)
        is_second = outputs[None, :] == second[:, None]
        square = squares_to(v, is_best.to(tl.float64), points)
        next_square = squares_to(v, is_second.to(tl.float64), points)
        turned = (next_square < square) | ((next_square == square) & (second < best))
        square = tl.where(turned, next_square, square)
        if MARKED:
            tl.store(index + row, tl.where(turned, second, best), mask=inside)
            tl.store(squares + row, square, mask=inside)
        member = tl.where(tl.where(turned[:, None], is_second, is_best), w[:, None], 0.0)
        error += member * square[:, None]
        first_moment += tl.dot(tl.trans(v), member, out_dtype=tl.float64)
    here = out + program.to(tl.int64) * (WIDTH + SIDE * WIDTH)
    tl.store(here + outputs, tl.sum(error, axis=0))
    tl.store(here + WIDTH + columns[:, None] * WIDTH + outputs[None, :], first_moment)


def clusters(
    x: Tensor, weight: Tensor | None, points: Array, scale: Array, offset: Array, marked: bool = False
) -> tuple[Array, Tensor | None, Tensor | None] | None:
    """Return weight, error and the sum of v of the rows of each centre (K, D), (K, 2 + D); None where too many.

    If `marked`, also the index of each row's centre and the squared distance to it, (n,), on the device, else None.
    """
    k, d = points.shape
    if d > MOST_COMPARED or k > MOST_OUTPUTS or k < 2:
        return None
    tile = Tile(64, max(triton.next_power_of_2(d + 1), 16), 16, 4, 3)
    side, width = tile.columns, tile.outputs
    numbers = np.zeros(2 * side + side * width + width)
    numbers[:d], numbers[side : side + d], numbers[side + d] = scale, offset, 1.0
    centres = numbers[2 * side : 2 * side + side * width].reshape(side, width)
    centres[:d, :k], centres[d, :k] = points.T, 1.0  # centres have the constant of the rows: no distance comes of it
    numbers[-width:] = np.inf
    numbers[-width:][:k] = 1.0 + (points**2).sum(axis=1)
    rows = x.shape[0]
    programs = program_count(x, rows, tile.rows, PROGRAMS)
    out = torch.empty((programs, width + side * width), dtype=torch.float64, device=x.device)
    index = torch.empty(rows, dtype=torch.int32, device=x.device) if marked else None
    squares = torch.empty(rows, dtype=torch.float64, device=x.device) if marked else None
    marks = (index, squares) if marked else (x, x)
    given = (x, x if weight is None else weight, sent_to(numbers, x), out, *marks, rows)
    with on_device_of(x):
        launch(clusters_kernel, (programs,), given, tile, x, weight, K=k, WIDTH=width, MARKED=marked)
        sums = out.sum(dim=0).cpu().numpy()
    first = sums[width:].reshape(side, width)[:, :k].T
    return np.column_stack([first[:, d], sums[:k], first[:, :d]]), index, squares
