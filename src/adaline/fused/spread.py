"""The spread of the columns about a row p near their middle, and the largest size of their numbers, in one read.

    sum w (x - p),  sum w (x - p)^2,  max |x|

The reference is `adaline.sums.spread`.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from adaline.fused.tiles import PROGRAMS, Array, Tile, launch, on_device_of, program_count


@triton.jit
def spread_kernel(
    x,
    weight,
    pilot,
    out,
    rows,
    D: tl.constexpr,
    PITCH: tl.constexpr,
    STEP: tl.constexpr,
    SIDE: tl.constexpr,
    WEIGHTED: tl.constexpr,
):
    """Add up a program's share of the rows for SIDE of the columns."""
    program = tl.program_id(0)
    columns = tl.program_id(1) * SIDE + tl.arange(0, SIDE)
    real = columns < D
    p = tl.load(pilot + columns, mask=real, other=0.0)
    first_moment = tl.zeros((STEP, SIDE), dtype=tl.float64)
    second_moment = tl.zeros((STEP, SIDE), dtype=tl.float64)
    top = tl.zeros((STEP, SIDE), dtype=tl.float64)
    for first in range(program * STEP, rows, tl.num_programs(0) * STEP):
        row = first + tl.arange(0, STEP)
        inside = (row < rows)[:, None] & real[None, :]
        found = tl.load(x + row.to(tl.int64)[:, None] * PITCH + columns[None, :], mask=inside, other=0.0)
        found = found.to(tl.float64)
        d = tl.where(inside, found - p[None, :], 0.0)
        if WEIGHTED:
            w = tl.load(weight + row, mask=row < rows, other=0.0)[:, None]
            first_moment += w * d
            second_moment += w * d * d
            found = tl.where(w > 0.0, tl.abs(found), 0.0 * found)
        else:
            first_moment += d
            second_moment += d * d
            found = tl.abs(found)
        top = tl.where((found > top) | (found != found), found, top)
    here = out + program.to(tl.int64) * 3 * D + columns
    tl.store(here, tl.sum(first_moment, axis=0), mask=real)
    tl.store(here + D, tl.sum(second_moment, axis=0), mask=real)
    tl.store(here + 2 * D, tl.max(top, axis=0), mask=real)


def spread(x: Tensor, weight: Tensor | None, pilot: Tensor) -> tuple[Array, Array, Array]:
    """Return sum w (x - pilot), sum w (x - pilot)^2 and max |x| of rows with a weight, (D,) each, for a pilot row."""
    rows, d = x.shape
    tile = Tile(32, min(max(triton.next_power_of_2(d), 16), 64), 0, 4, 3)
    programs = program_count(x, rows, tile.rows, PROGRAMS)
    out = torch.empty((programs, 3, d), dtype=torch.float64, device=x.device)
    given = (x, x if weight is None else weight, pilot, out, rows)
    with on_device_of(x):
        launch(spread_kernel, (programs, triton.cdiv(d, tile.columns)), given, tile, x, weight)
        sums = torch.cat([out[:, :2].sum(dim=0), out[:, 2:].amax(dim=0)]).cpu().numpy()
    return sums[0], sums[1], sums[2]
