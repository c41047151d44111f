"""Wide rows: value and gradient of some machines in two reads, of the outputs and of the products with the slopes.

    z = x A + b:  sum w loss(z),  S = w loss'(z);  sum S,  X'S

A program cannot hold the sums of all columns, so the slopes of all rows are stored, (n, WIDTH), between the reads.
"""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from adaline.fused.losses import costs_of_outputs
from adaline.fused.tiles import (
    PROGRAMS,
    Array,
    Tile,
    launch,
    multiprocessors,
    on_device_of,
    program_count,
    sent_to,
    weights_of,
)

COLUMNS = 64  # of a tile; of 32 and of 128 it took up to a fifth longer


@triton.jit
def outputs_kernel(
    x,
    t,
    weight,
    numbers,
    out,
    slopes,
    rows,
    D: tl.constexpr,
    PITCH: tl.constexpr,
    K: tl.constexpr,
    STEP: tl.constexpr,
    SIDE: tl.constexpr,
    WIDTH: tl.constexpr,
    LOSS: tl.constexpr,
    WEIGHTED: tl.constexpr,
):
    """Add up value and slopes of a program's share of the rows, and store slopes (n, WIDTH).

    `numbers` are the parameter of the loss, b (WIDTH,) and A (columns, WIDTH), zero beyond D and K.
    """
    program = tl.program_id(0)
    columns, outputs = tl.arange(0, SIDE), tl.arange(0, WIDTH)
    parameter, constant = tl.load(numbers), tl.load(numbers + 1 + outputs)
    value = tl.zeros((STEP, WIDTH), dtype=tl.float64)
    drift = tl.zeros((STEP, WIDTH), dtype=tl.float64)
    for first in range(program * STEP, rows, tl.num_programs(0) * STEP):
        row = first + tl.arange(0, STEP)
        inside = row < rows
        z = tl.zeros((STEP, WIDTH), dtype=tl.float64)
        for begin in range(0, D, SIDE):
            here = begin + columns
            at = x + row.to(tl.int64)[:, None] * PITCH + here[None, :]
            v = tl.load(at, mask=inside[:, None] & (here < D)[None, :], other=0.0).to(tl.float64)
            weights = tl.load(numbers + 1 + WIDTH + here[:, None] * WIDTH + outputs[None, :])
            z += tl.dot(v, weights, out_dtype=tl.float64)
        w = weights_of(weight, row, inside, WEIGHTED)
        costs, slope = costs_of_outputs(z + constant[None, :], t, row, inside, outputs, w, parameter, K, LOSS)
        value += costs
        drift += slope
        to = slopes + row.to(tl.int64)[:, None] * WIDTH + outputs[None, :]
        tl.store(to, slope, mask=inside[:, None])
    here = out + program.to(tl.int64) * (2 * WIDTH) + outputs
    tl.store(here, tl.sum(value, axis=0))
    tl.store(here + WIDTH, tl.sum(drift, axis=0))


@triton.jit
def gradient_kernel(
    x,
    slopes,
    out,
    rows,
    D: tl.constexpr,
    PITCH: tl.constexpr,
    STEP: tl.constexpr,
    SIDE: tl.constexpr,
    WIDTH: tl.constexpr,
):
    """Add up X'S of a program's share of the rows and of the columns, (SIDE, WIDTH) of (columns, WIDTH)."""
    columns, outputs = tl.program_id(0) * SIDE + tl.arange(0, SIDE), tl.arange(0, WIDTH)
    gradient = tl.zeros((SIDE, WIDTH), dtype=tl.float64)
    for first in range(tl.program_id(1) * STEP, rows, tl.num_programs(1) * STEP):
        row = (first + tl.arange(0, STEP)).to(tl.int64)
        inside = (row < rows)[:, None]
        v = tl.load(x + row[:, None] * PITCH + columns[None, :], mask=inside & (columns < D)[None, :], other=0.0)
        slope = tl.load(slopes + row[:, None] * WIDTH + outputs[None, :], mask=inside, other=0.0)
        gradient += tl.dot(tl.trans(v.to(tl.float64)), slope, out_dtype=tl.float64)
    here = out + tl.program_id(1).to(tl.int64) * (tl.num_programs(0) * SIDE * WIDTH)
    tl.store(here + columns[:, None] * WIDTH + outputs[None, :], gradient)


def wide(
    x: Tensor,
    t: Tensor,
    weight: Tensor | None,
    loss: str,
    parameter: float,
    theta: Array,
    scale: Array,
    offset: Array,
) -> tuple[Array, Array]:
    """Return value (K,), of a coupled loss (1,), and gradient (K, 1 + D) of machines whose offsets are near zero."""
    k, (rows, d) = len(theta), x.shape
    width, chunks = max(triton.next_power_of_2(k), 8), triton.cdiv(d, COLUMNS)
    single = x.element_size() == 4
    tile = Tile(64 if single else 32, COLUMNS, width, 2, 3)
    numbers = np.zeros(1 + (1 + chunks * COLUMNS) * width)
    numbers[0] = parameter
    weights = numbers[1:].reshape(-1, width)
    weights[0, :k], weights[1 : 1 + d, :k] = theta[:, 0] + theta[:, 1:] @ offset, (theta[:, 1:] * scale).T
    programs = program_count(x, rows, tile.rows, PROGRAMS)
    shares = max(min(PROGRAMS * multiprocessors(x.device) // chunks, triton.cdiv(rows, 64)), 1)
    slopes = torch.empty((rows, width), dtype=torch.float64, device=x.device)
    out = torch.empty((programs, 2 * width), dtype=torch.float64, device=x.device)
    products = torch.empty((shares, chunks * COLUMNS * width), dtype=torch.float64, device=x.device)
    given = (x, t.contiguous(), x if weight is None else weight, sent_to(numbers, x), out, slopes, rows)
    with on_device_of(x):
        launch(outputs_kernel, (programs,), given, tile, x, weight, K=k, WIDTH=width, LOSS=loss)
        sizes = {"D": d, "PITCH": x.stride(0), "STEP": 64, "SIDE": COLUMNS, "WIDTH": width}
        gradient_kernel[(chunks, shares)](
            x, slopes, products, rows, **sizes, num_warps=2, num_stages=3 if single else 1
        )
        sums = torch.cat([out.sum(dim=0), products.sum(dim=0)]).cpu().numpy()
    drift, raw = sums[width : width + k], sums[2 * width :].reshape(-1, width)[:d, :k].T
    gradient = np.column_stack([drift, raw * scale + drift[:, None] * offset])
    return sums[: 1 if loss == "softmax" else k], gradient
