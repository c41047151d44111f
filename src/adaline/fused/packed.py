"""Packed rows: value and gradient of one machine, several rows in one row of a tile.

    v = x scale + offset,  z = theta'(v, 1):  sum w loss(z),  sum w loss'(z) (v, 1)

A product of a tile with one column of weights would be seven parts padding, as tensor cores multiply by 8 columns. So
the tile has rows x_1 ... x_m side by side, and the weights are m columns, theta in other rows of each.
"""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from adaline.fused.losses import cost
from adaline.fused.tiles import PROGRAMS, Array, Tile, launch, on_device_of, program_count, sent_to


@triton.jit
def packed_kernel(
    x,
    t,
    weight,
    numbers,
    out,
    rows,
    D: tl.constexpr,
    PITCH: tl.constexpr,
    ROWS: tl.constexpr,
    STEP: tl.constexpr,
    SIDE: tl.constexpr,
    WIDTH: tl.constexpr,
    LOSS: tl.constexpr,
    NEAR: tl.constexpr,
    WEIGHTED: tl.constexpr,
):
    """Add up a program's share of the rows of one machine: ROWS of them that follow each other are one row of a tile.

    theta of `numbers`, which are those of `objective_kernel` with scale and offset repeated, has a column for each of
    the rows, so that no column of a product is padding but the last WIDTH - ROWS. Outputs are handed out to all
    threads, as after a product four of them have each.
    """
    program = tl.program_id(0)
    columns, outputs, entry = tl.arange(0, SIDE), tl.arange(0, WIDTH), tl.arange(0, STEP * WIDTH)
    parameter = tl.load(numbers)
    scale, offset = tl.load(numbers + 1 + columns), tl.load(numbers + 1 + SIDE + columns)
    theta = tl.load(numbers + 1 + 2 * SIDE + columns[:, None] * WIDTH + outputs[None, :])
    constant = tl.load(numbers + 1 + 2 * SIDE + SIDE * WIDTH)
    gradient = tl.zeros((SIDE, WIDTH), dtype=tl.float64)
    value = tl.zeros((STEP * WIDTH,), dtype=tl.float64)
    drift = tl.zeros((STEP * WIDTH,), dtype=tl.float64)
    size = rows.to(tl.int64) * PITCH
    for first in range(program * STEP, (rows + ROWS - 1) // ROWS, tl.num_programs(0) * STEP):
        at = (first + tl.arange(0, STEP)).to(tl.int64)[:, None] * (ROWS * PITCH) + columns[None, :]
        v = tl.load(x + at, mask=(at < size) & (columns < ROWS * D)[None, :], other=0.0).to(tl.float64)
        row = (first + entry // WIDTH) * ROWS + entry % WIDTH
        inside = (row < rows) & (entry % WIDTH < ROWS)
        own = tl.load(t + row, mask=inside, other=0.0)
        if WEIGHTED:
            w = tl.load(weight + row, mask=inside, other=0.0)
            inside = w > 0.0
        if not NEAR:
            v = v * scale[None, :] + offset[None, :]
        z = tl.reshape(tl.dot(v, theta, out_dtype=tl.float64), (STEP * WIDTH,))
        z = tl.gather(z, entry, 0) + constant
        costs, slopes, _ = cost(z, own, parameter, LOSS)
        if WEIGHTED:
            costs, slopes = w * costs, w * slopes
        value += tl.where(inside, costs, 0.0)
        slopes = tl.where(inside, slopes, 0.0)
        drift += slopes
        gradient += tl.dot(tl.trans(v), tl.reshape(slopes, (STEP, WIDTH)), out_dtype=tl.float64)
    here = out + program.to(tl.int64) * (2 + SIDE)
    tl.store(here, tl.sum(value, axis=0))
    tl.store(here + 1, tl.sum(drift, axis=0))
    own_row = outputs[None, :] == (columns // D)[:, None]
    tl.store(here + 2 + columns, tl.sum(tl.where(own_row, gradient, 0.0), axis=1))


def packed(
    x: Tensor,
    t: Tensor,
    weight: Tensor | None,
    loss: str,
    parameter: float,
    theta: Array,
    scale: Array,
    offset: Array,
    near: bool,
) -> tuple[Array, Array]:
    """Return value (1,) and gradient (1, 1 + D) of one machine; some rows together are one of a tile."""
    rows, d = x.shape
    together, side = (1, max(triton.next_power_of_2(d), 16)) if x.stride(0) != d else packing(d, x.element_size())
    tile = Tile(32 if side <= 128 else 16, side, 8, 2, 1)
    width, used = tile.outputs, together * d
    numbers = np.zeros(1 + 2 * side + side * width + 1)
    numbers[0] = parameter
    numbers[1 : 1 + used].reshape(together, d)[:] = scale
    numbers[1 + side : 1 + side + used].reshape(together, d)[:] = offset
    weights = numbers[1 + 2 * side : -1].reshape(side, width)
    for i in range(together):
        weights[i * d : (i + 1) * d, i] = theta[1:] * scale if near else theta[1:]
    numbers[-1] = theta[0] + (theta[1:] @ offset if near else 0.0)
    programs = program_count(x, triton.cdiv(rows, together), tile.rows, PROGRAMS // 2)
    out = torch.empty((programs, 2 + side), dtype=torch.float64, device=x.device)
    given = (x, t.contiguous(), x if weight is None else weight, sent_to(numbers, x), out, rows)
    constants = {"ROWS": together, "WIDTH": width, "LOSS": loss, "NEAR": near}
    with on_device_of(x):
        launch(packed_kernel, (programs,), given, tile, x, weight, **constants)
        sums = out.sum(dim=0).cpu().numpy()
    slopes = sums[2 : 2 + used].reshape(together, d).sum(axis=0)
    slopes = slopes * scale + sums[1] * offset if near else slopes
    return sums[:1], np.concatenate([sums[1:2], slopes])[None]


def packing(features: int, size: int) -> tuple[int, int]:
    """Return how many rows, of so many columns, are one of a tile, and its columns: those that they fill best.

    Numbers have `size` bytes; tiles of 256 columns are for float32, where they are better filled, and for wide rows.
    """
    if features > 128:
        return 1, 256
    sides = [side for side in (32, 64, 128, 256)[: 4 if size == 4 else 3] if side >= features]
    rows = {side: min(side // features, 8) for side in sides}
    side = max(sides, key=lambda side: (rows[side] * features / side, side <= 128, side))
    return rows[side], side
