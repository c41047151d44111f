"""A step of a Gaussian mixture: log-likelihood and responsibilities in one read, then the moments of each component.

    l_k = c_k - 1/2 ||(v - mean_k)' P_k||^2:  sum w ln sum_k exp l_k,  gamma_k;  moments with weights gamma_k

The reference is `adaline.sums.mixture`.
"""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from adaline.fused.moments import moment_products, product_tile
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
def mixture_kernel(
    x,
    weight,
    numbers,
    out,
    gamma,
    rows,
    D: tl.constexpr,
    PITCH: tl.constexpr,
    K: tl.constexpr,
    STEP: tl.constexpr,
    SIDE: tl.constexpr,
    WIDTH: tl.constexpr,
    WEIGHTED: tl.constexpr,
):
    """Add up the log-likelihood of a program's share of the rows, and store gamma (K, n) of each.

    `numbers` are scale, offset, constants (WIDTH,), means (WIDTH, SIDE) and factors (K, SIDE, SIDE).
    """
    program = tl.program_id(0)
    columns, outputs, scale, offset, rest = head_of(numbers, SIDE, WIDTH)
    constant = tl.load(rest + outputs)
    means = rest + WIDTH
    factors = means + WIDTH * SIDE
    value = tl.zeros((STEP,), dtype=tl.float64)
    for first in range(program * STEP, rows, tl.num_programs(0) * STEP):
        row = first + tl.arange(0, STEP)
        inside = row < rows
        v = tile_of(x, row, inside, columns, scale, offset, D, PITCH)
        square = tl.zeros((STEP, WIDTH), dtype=tl.float64)
        for k in range(K):
            d = v - tl.load(means + k * SIDE + columns)[None, :]
            factor = tl.load(factors + k * SIDE * SIDE + columns[:, None] * SIDE + columns[None, :])
            y = tl.dot(d, factor, out_dtype=tl.float64)
            square = tl.where(outputs[None, :] == k, tl.sum(y * y, axis=1)[:, None], square)
        joint = constant[None, :] - 0.5 * square
        top = tl.max(joint, axis=1)
        top = tl.where(tl.abs(top) < float("inf"), top, 0.0 * square.sum(axis=1))
        e = tl.exp(joint - top[:, None])
        total = top + tl.log(tl.sum(e, axis=1))
        w = weights_of(weight, row, inside, WEIGHTED)
        value += tl.where(inside, w * total, 0.0)
        share = w[:, None] * tl.exp(joint - total[:, None])
        there = gamma + outputs[None, :].to(tl.int64) * rows + row[:, None]
        tl.store(there, share, mask=inside[:, None] & (outputs < K)[None, :])
    tl.store(out + program, tl.sum(value, axis=0))


def mixture(
    x: Tensor, weight: Tensor | None, constants: Array, means: Array, factors: Array, scale: Array, offset: Array
) -> Array | None:
    """Return the log-likelihood, then the moments (D + 1, D + 1) of each of K components, as one vector, or None.

    As `adaline.sums.mixture` has them, with whole matrices; None where there are too many columns or components.
    """
    k, d = means.shape
    if factors.ndim != 3 or d > MOST_COMPARED or k > MOST_OUTPUTS:
        return None
    side, width = max(triton.next_power_of_2(d + 1), 16), max(triton.next_power_of_2(k), 2)
    tile, rows = Tile(64, side, width, 4, 1), x.shape[0]
    numbers = np.zeros(2 * side + width + width * side + k * side * side)
    head, tail = np.split(numbers, [2 * side + width + width * side])
    head[:d], head[side : side + d] = scale, offset
    head[2 * side :][:width] = -np.inf
    head[2 * side :][:k] = constants
    head[2 * side + width :].reshape(width, side)[:k, :d] = means
    tail.reshape(k, side, side)[:, :d, :d] = factors
    about = np.zeros((k, 3, side))
    about[:, 0, :d], about[:, 1, :d], about[:, 1, d], about[:, 2, :d] = scale, offset, 1.0, means
    programs = program_count(x, rows, tile.rows, PROGRAMS // 2)
    out = torch.empty((programs, 1), dtype=torch.float64, device=x.device)
    gamma = torch.empty((k, rows), dtype=torch.float64, device=x.device)
    sent = sent_to(np.concatenate([numbers, about.ravel()]), x)
    none = torch.empty((rows, 0), dtype=torch.float64, device=x.device)
    with on_device_of(x):
        given = (x, x if weight is None else weight, sent, out, gamma, rows)
        launch(mixture_kernel, (programs,), given, tile, x, weight, K=k, WIDTH=width)
        own = sent[len(numbers) :].view(k, -1)
        parts = [moment_products(x, none, gamma[i], None, own[i], product_tile(side), True) for i in range(k)]
        sums = torch.cat([out.sum(dim=0), *parts]).cpu().numpy()
    return np.concatenate([sums[:1], sums[1:].reshape(k, side, side)[:, : d + 1, : d + 1].ravel()])
