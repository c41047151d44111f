"""The objective of K machines: value, gradient and, of one machine, second derivatives, in one read of the rows.

    v = x scale + offset,  z = theta'(v, 1):  sum w loss(z),  sum w loss'(z) (v, 1),  sum w loss''(z) (v, 1)(v, 1)'

The reference is `adaline.sums.objective`. Rows of one machine without second derivatives stay in registers, in
`registers.py`, or are packed, in `packed.py`; rows of more than WIDEST columns are read twice, in `wide.py`.
"""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from adaline.fused.losses import LOSSES, NOT_CONVEX, cost, costs_of_outputs
from adaline.fused.packed import packed
from adaline.fused.registers import fits_registers, in_registers
from adaline.fused.tiles import (
    MOST_OUTPUTS,
    PROGRAMS,
    Array,
    Tile,
    launch,
    on_device_of,
    program_count,
    sent_to,
    weights_of,
)
from adaline.fused.wide import wide

WIDEST = 255  # columns beside the constant; tiles of 512 columns exceed what a program can hold
WIDEST_OUTPUTS = (
    127  # the same of several machines: with tiles of 256 columns it took 2 to 6 times as long as in two reads
)
WIDEST_MATRIX = 64  # columns, the constant too, whose matrix a program holds; one of 128 columns is four times as large
HELD = 2**27  # numbers of rows held for cuBLAS, 1 GiB; twice as many take twice the memory, for half the calls


@triton.jit
def objective_kernel(
    x,
    t,
    weight,
    numbers,
    out,
    bent,
    rows,
    D: tl.constexpr,
    PITCH: tl.constexpr,
    K: tl.constexpr,
    STEP: tl.constexpr,
    SIDE: tl.constexpr,
    WIDTH: tl.constexpr,
    BENT: tl.constexpr,
    LOSS: tl.constexpr,
    NEAR: tl.constexpr,
    WEIGHTED: tl.constexpr,
    SECOND: tl.constexpr,
):
    """Add up a program's share of the rows; `numbers` are parameter, scale, offset, theta' (SIDE, WIDTH), constants.

    Where means are near zero (NEAR) products are with x itself, and the caller brings weights and sums to the view.
    """
    program = tl.program_id(0)
    columns, outputs = tl.arange(0, SIDE), tl.arange(0, WIDTH)
    parameter = tl.load(numbers)
    scale, offset = tl.load(numbers + 1 + columns), tl.load(numbers + 1 + SIDE + columns)
    theta = tl.load(numbers + 1 + 2 * SIDE + columns[:, None] * WIDTH + outputs[None, :])
    constant = tl.load(numbers + 1 + 2 * SIDE + SIDE * WIDTH + outputs)
    gradient = tl.zeros((SIDE, WIDTH), dtype=tl.float64)
    if SECOND == "matrix":
        matrix = tl.zeros((SIDE, SIDE), dtype=tl.float64)
    if K == 1:
        value = tl.zeros((STEP,), dtype=tl.float64)
        drift = tl.zeros((STEP,), dtype=tl.float64)
    else:
        value = tl.zeros((STEP, WIDTH), dtype=tl.float64)
        drift = tl.zeros((STEP, WIDTH), dtype=tl.float64)
    for first in range(program * STEP, rows, tl.num_programs(0) * STEP):
        row = first + tl.arange(0, STEP)
        inside = row < rows
        at = x + row.to(tl.int64)[:, None] * PITCH + columns[None, :]
        v = tl.load(at, mask=inside[:, None] & (columns < D)[None, :], other=0.0).to(tl.float64)
        if not NEAR:
            v = v * scale[None, :] + offset[None, :]
        z = tl.dot(v, theta, out_dtype=tl.float64) + constant[None, :]
        w = weights_of(weight, row, inside, WEIGHTED)
        if K == 1:
            own = tl.load(t + row, mask=inside, other=0.0)
            output = tl.sum(z, axis=1)
            costs, slopes, curvature = cost(output, own, parameter, LOSS)
            value += tl.where(w > 0.0, w * costs, 0.0)
            slopes = tl.where(w > 0.0, w * slopes, 0.0)
            slope = tl.where(outputs[None, :] == 0, slopes[:, None], 0.0)
            if SECOND == "rows":
                tl.store(bent + row, tl.where(w > 0.0, w * curvature, 0.0), mask=inside)
            if SECOND == "matrix" or SECOND == "held":
                root = tl.sqrt(tl.where(w > 0.0, w * curvature, 0.0))
                if NEAR:  # noqa: SIM108 - chosen when the kernel is compiled
                    u = (v * scale[None, :] + offset[None, :]) * root[:, None]
                else:
                    u = v * root[:, None]
            if SECOND == "matrix":
                matrix += tl.dot(tl.trans(u), u, out_dtype=tl.float64)
            if SECOND == "held":
                to = bent + row.to(tl.int64)[:, None] * BENT + columns[None, :]
                tl.store(to, u, mask=inside[:, None] & (columns < BENT)[None, :])
        else:
            costs, slope = costs_of_outputs(z, t, row, inside, outputs, w, parameter, K, LOSS)
            value += costs
        gradient += tl.dot(tl.trans(v), slope, out_dtype=tl.float64)
        if NEAR:
            if K == 1:
                drift += slopes
            else:
                drift += slope
    here = out + program.to(tl.int64) * (2 * WIDTH + SIDE * WIDTH + (SIDE * SIDE if SECOND == "matrix" else 0))
    if K == 1:
        tl.store(here + outputs, tl.where(outputs == 0, tl.sum(value, axis=0), 0.0))
        tl.store(here + WIDTH + outputs, tl.where(outputs == 0, tl.sum(drift, axis=0), 0.0))
    else:
        tl.store(here + outputs, tl.sum(value, axis=0))
        tl.store(here + WIDTH + outputs, tl.sum(drift, axis=0))
    tl.store(here + 2 * WIDTH + columns[:, None] * WIDTH + outputs[None, :], gradient)
    if SECOND == "matrix":
        there = here + 2 * WIDTH + SIDE * WIDTH
        tl.store(there + columns[:, None] * SIDE + columns[None, :], matrix)


def objective(
    x: Tensor,
    t: Tensor,
    weight: Tensor | None,
    loss: str,
    parameter: float,
    theta: Array,
    scale: Array,
    offset: Array,
    second: str,
    near: bool = False,
) -> tuple[Array, Array, Array | None, Tensor | None] | None:
    """Return value (K,) or (1,), gradient (K, 1 + D), intercept first, and what `second` asks for; None: no kernel.

    `second` is "none", "alone" (the matrix of one machine, (1, 1 + D, 1 + D)) or "rows": the curvature of each row
    times its weight, (n,), on the device. `near` says that the offset may be taken into the weights, which takes less
    time. The matrix of a convex loss is summed in the same read; of more columns rows (v, 1) times the root of their
    curvature are held, HELD numbers at a time, and multiplied by cuBLAS, whose products of large matrices are faster.
    """
    k, (rows, d) = len(theta), x.shape
    alone = second != "none"
    if loss not in LOSSES or k > MOST_OUTPUTS or (alone and (k > 1 or loss == "softmax")):
        return None
    if d > (WIDEST if k == 1 else WIDEST_OUTPUTS):
        return (*wide(x, t, weight, loss, parameter, theta, scale, offset), None, None) if near and not alone else None
    if second == "alone":
        if loss in NOT_CONVEX:
            return None
        second = "matrix" if d < WIDEST_MATRIX else "held"
    if k == 1 and second == "none" and loss != "softmax" and x.stride(0) >= d:  # rows that do not overlap
        found_by = in_registers if fits_registers(x, loss) else packed
        return *found_by(x, t, weight, loss, parameter, theta[0], scale, offset, near), None, None
    tile = objective_tile(d, k, second)
    side, width = tile.columns, tile.outputs
    numbers = np.zeros(1 + 2 * side + side * width + width)
    numbers[0] = parameter
    numbers[1 : 1 + d], numbers[1 + side : 1 + side + d], numbers[1 + side + d] = scale, offset, 1.0
    weights = numbers[1 + 2 * side : 1 + 2 * side + side * width].reshape(side, width)
    if near:
        weights[:d, :k] = (theta[:, 1:] * scale).T
        numbers[-width:][:k] = theta[:, 0] + theta[:, 1:] @ offset
    else:
        weights[:d, :k], weights[d, :k] = theta[:, 1:].T, theta[:, 0]
    t, sent = t.contiguous(), sent_to(numbers, x)
    bent_columns = 8 * (1 + d // 8) if second == "held" else 1
    step = max(min(HELD // bent_columns, rows) if second == "held" else rows, 1)
    starts = range(0, max(rows, 1), step)
    programs = program_count(x, step, tile.rows, programs_each(tile, second))
    first_sums = 2 * width + side * width
    size = first_sums + (side * side if second == "matrix" else 0)
    out = torch.empty((len(starts) * programs, size), dtype=torch.float64, device=x.device)
    pitch = min(max(triton.next_power_of_2(max(step // 256, 1)), 256), 4096)  # rows of one matrix product
    bent, matrix = x, None
    if second in ("rows", "held"):
        length = rows if second == "rows" else triton.cdiv(step, pitch) * pitch * bent_columns
        bent = torch.empty(length, dtype=torch.float64, device=x.device)
    constants = {"K": k, "WIDTH": width, "BENT": bent_columns, "LOSS": loss, "NEAR": near, "SECOND": second}
    with on_device_of(x):
        for i, first in enumerate(starts):
            last = min(first + step, rows)
            own = (x, t, x if weight is None else weight)
            if len(starts) > 1:
                own = tuple(part[first:last] for part in own)
            given = (*own, sent, out[i * programs :], bent, last - first)
            launch(objective_kernel, (programs,), given, tile, x, weight, **constants)
            if second == "held":
                count = triton.cdiv(last - first, pitch)
                held_rows = bent[: count * pitch * bent_columns].view(count * pitch, bent_columns)
                held_rows[last - first :] = 0.0
                stack = held_rows.view(count, pitch, bent_columns)
                product = torch.bmm(stack.transpose(1, 2), stack).sum(dim=0)
                matrix = product if matrix is None else matrix + product
        total = out.sum(dim=0)
        sums = (total if matrix is None else torch.cat([total, matrix.view(-1)])).cpu().numpy()
    drift, raw = sums[width : width + k], sums[2 * width : first_sums].reshape(side, width)[: d + 1, :k].T
    slopes = raw[:, :d] * scale + drift[:, None] * offset if near else raw[:, :d]
    gradient = np.column_stack([drift if near else raw[:, d], slopes])
    found = None
    if second in ("matrix", "held"):
        order = np.concatenate([[d], np.arange(d)])
        square = sums[first_sums:].reshape(side if second == "matrix" else bent_columns, -1)
        found = square[np.ix_(order, order)][None]
    return sums[:1] if loss == "softmax" else sums[:k], gradient, found, bent if second == "rows" else None


def objective_tile(features: int, outputs: int, second: str) -> Tile:
    """Return the tile for rows of so many columns: the fastest of some dozens on one H200."""
    side, width = max(triton.next_power_of_2(features + 1), 16), max(triton.next_power_of_2(outputs), 8)
    if second == "matrix":
        return Tile(64, side, width, 4, 1 if side == 64 else 3)
    if second == "held":
        return Tile(64 if side <= 128 else 32, side, width, 4, 3 if side <= 64 else 2)
    if side > 64:
        return Tile(32, side, width, 2, 4 if side == 128 else 2)
    return Tile(64, side, width, 2 if side == 64 else 1, 1)


def programs_each(tile: Tile, second: str) -> int:
    """Return how many programs a multiprocessor has: the smaller they are, the more."""
    if second == "matrix":
        return 2
    return {1: 2 * PROGRAMS, 2: PROGRAMS}.get(tile.warps, PROGRAMS // 2)
