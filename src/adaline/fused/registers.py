"""Rows in registers: value and gradient of one machine over rows of some tens of columns, without tensor cores.

    v = x scale + offset,  z = theta'(v, 1):  sum w loss(z),  sum w loss'(z) (v, 1)

Each number of a row stays in the thread that reads it, takes part in z by one fused multiply-add, and in the gradient
by another: nothing goes through shared memory but one output a row. A warp adds up the parts of an output by shuffles,
which limit it; of wider rows a program would need more registers than there are.
"""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from adaline.fused.losses import cost
from adaline.fused.tiles import PROGRAMS, Array, Tile, launch, on_device_of, program_count, sent_to

FEWEST, MOST = 20, 64  # columns: fewer are packed faster, and more need more registers than a thread has
TOGETHER = 4  # rows of a gradient that a program adds up apart
FASTER = ("logistic",)  # losses; of others Triton computes the costs of a row in all threads that have a part of it


@triton.jit
def registers_kernel(
    x,
    t,
    weight,
    numbers,
    out,
    rows,
    D: tl.constexpr,
    PITCH: tl.constexpr,
    STEP: tl.constexpr,
    SIDE: tl.constexpr,
    APART: tl.constexpr,
    LOSS: tl.constexpr,
    NEAR: tl.constexpr,
    WEIGHTED: tl.constexpr,
    STAGES: tl.constexpr,
):
    """Add up a program's share of the rows; `numbers` are parameter, scale, offset, slopes and constant."""
    program = tl.program_id(0)
    columns, entry = tl.arange(0, SIDE), tl.arange(0, STEP)
    parameter = tl.load(numbers)
    scale, offset = tl.load(numbers + 1 + columns), tl.load(numbers + 1 + SIDE + columns)
    theta, constant = tl.load(numbers + 1 + 2 * SIDE + columns), tl.load(numbers + 1 + 3 * SIDE)
    gradient = tl.zeros((APART, SIDE), dtype=tl.float64)
    value = tl.zeros((STEP,), dtype=tl.float64)
    drift = tl.zeros((STEP,), dtype=tl.float64)
    for first in tl.range(program * STEP, rows, tl.num_programs(0) * STEP, num_stages=STAGES):
        row = first + entry
        inside = row < rows
        at = x + row.to(tl.int64)[:, None] * PITCH + columns[None, :]
        v = tl.load(at, mask=inside[:, None] & (columns < D)[None, :], other=0.0).to(tl.float64)
        own = tl.load(t + row, mask=inside, other=0.0)
        if WEIGHTED:
            w = tl.load(weight + row, mask=inside, other=0.0)
            inside = w > 0.0
        if not NEAR:
            v = v * scale[None, :] + offset[None, :]
        z = tl.gather(tl.sum(v * theta[None, :], axis=1), entry, 0) + constant
        costs, slopes, _ = cost(z, own, parameter, LOSS)
        if WEIGHTED:
            costs, slopes = w * costs, w * slopes
        value += tl.where(inside, costs, 0.0)
        slopes = tl.where(inside, slopes, 0.0)
        drift += slopes
        gradient += tl.sum(tl.reshape(v * slopes[:, None], (STEP // APART, APART, SIDE)), axis=0)
    here = out + program.to(tl.int64) * (2 + SIDE)
    tl.store(here, tl.sum(value, axis=0))
    tl.store(here + 1, tl.sum(drift, axis=0))
    tl.store(here + 2 + columns, tl.sum(gradient, axis=0))


def fits_registers(x: Tensor, loss: str) -> bool:
    """Whether this takes less time than packed rows: of an odd number of columns a thread reads one at a time."""
    even = x.shape[1] % 2 == 0 and x.stride(0) % 2 == 0 and x.data_ptr() % 16 == 0
    return loss in FASTER and even and FEWEST <= x.shape[1] <= MOST


def in_registers(
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
    """Return value (1,) and gradient (1, 1 + D) of one machine."""
    rows, d = x.shape
    side = max(triton.next_power_of_2(d), 16)
    tile = Tile(64, side, 0, 2, 3)
    numbers = np.zeros(2 + 3 * side)
    numbers[0], numbers[-1] = parameter, theta[0] + (theta[1:] @ offset if near else 0.0)
    numbers[1 : 1 + d], numbers[1 + side : 1 + side + d] = scale, offset
    numbers[1 + 2 * side : 1 + 2 * side + d] = theta[1:] * scale if near else theta[1:]
    programs = program_count(x, rows, tile.rows, PROGRAMS if side == MOST else 2 * PROGRAMS)
    out = torch.empty((programs, 2 + side), dtype=torch.float64, device=x.device)
    given = (x, t.contiguous(), x if weight is None else weight, sent_to(numbers, x), out, rows)
    constants = {"APART": TOGETHER * MOST // side, "LOSS": loss, "NEAR": near, "STAGES": tile.stages}
    with on_device_of(x):
        launch(registers_kernel, (programs,), given, tile, x, weight, **constants)
        sums = out.sum(dim=0).cpu().numpy()
    slopes = sums[2 : 2 + d]
    slopes = slopes * scale + sums[1] * offset if near else slopes
    return sums[:1], np.concatenate([sums[1:2], slopes])[None]
