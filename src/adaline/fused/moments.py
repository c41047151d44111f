"""Moments: products of rows and targets, of all rows or of chosen ones, in one read.

    u = (x, 1, t) scale + offset - centre:  sum w u u'

The reference is `adaline.sums.moments`.
"""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from adaline.fused.tiles import Array, Tile, launch, on_device_of, program_count, sent_to

WIDEST_PRODUCT = 128  # columns and targets, the constant too; 256 make four times the sums, and registers have no room


@triton.jit
def rows_beside(
    x,
    t,
    weight,
    numbers,
    at,
    row,
    inside,
    columns,
    D: tl.constexpr,
    PITCH: tl.constexpr,
    K: tl.constexpr,
    SIDE: tl.constexpr,
    WEIGHTED: tl.constexpr,
    CENTRED: tl.constexpr,
):
    """Return some columns of (x, 1, t) scale + offset, times the root of the weight, of some rows."""
    of_x = inside[:, None] & (columns < D)[None, :]
    u = tl.load(x + at[:, None] * PITCH + columns[None, :], mask=of_x, other=0.0).to(tl.float64)
    if K > 0:
        of_t = inside[:, None] & ((columns > D) & (columns <= D + K))[None, :]
        u += tl.load(t + row.to(tl.int64)[:, None] * K + (columns - D - 1)[None, :], mask=of_t, other=0.0)
    u = u * tl.load(numbers + columns)[None, :] + tl.load(numbers + SIDE + columns)[None, :]
    if CENTRED:
        u -= tl.load(numbers + 2 * SIDE + columns)[None, :]
    u = tl.where(inside[:, None], u, 0.0)
    if WEIGHTED:
        u = u * tl.sqrt(tl.load(weight + row, mask=inside, other=0.0))[:, None]
    return u


@triton.jit
def moments_kernel(
    x,
    t,
    weight,
    chosen,
    numbers,
    out,
    rows,
    D: tl.constexpr,
    PITCH: tl.constexpr,
    K: tl.constexpr,
    STEP: tl.constexpr,
    SIDE: tl.constexpr,
    HALVES: tl.constexpr,
    WEIGHTED: tl.constexpr,
    CHOSEN: tl.constexpr,
    CENTRED: tl.constexpr,
):
    """Add up u u' of a program's share of the rows, u = (x, 1, t) scale + offset, the two of `numbers`.

    CENTRED subtracts the third of `numbers`, a centre. HALVES: columns are taken in two halves, and the products of the
    second with the first, which are those of the first with the second, are left out. Of chosen rows of x, targets and
    weights are in the order of the choice.
    """
    program = tl.program_id(0)
    PART: tl.constexpr = SIDE // 2 if HALVES else SIDE
    left = tl.arange(0, PART)
    total = tl.zeros((PART, PART), dtype=tl.float64)
    if HALVES:
        right = PART + tl.arange(0, PART)
        cross = tl.zeros((PART, PART), dtype=tl.float64)
        corner = tl.zeros((PART, PART), dtype=tl.float64)
    for first in range(program * STEP, rows, tl.num_programs(0) * STEP):
        row = first + tl.arange(0, STEP)
        inside = row < rows
        if CHOSEN:  # noqa: SIM108 - chosen when the kernel is compiled
            at = tl.load(chosen + row, mask=inside, other=0)
        else:
            at = row.to(tl.int64)
        u = rows_beside(x, t, weight, numbers, at, row, inside, left, D, PITCH, K, SIDE, WEIGHTED, CENTRED)
        total += tl.dot(tl.trans(u), u, out_dtype=tl.float64)
        if HALVES:
            v = rows_beside(x, t, weight, numbers, at, row, inside, right, D, PITCH, K, SIDE, WEIGHTED, CENTRED)
            cross += tl.dot(tl.trans(u), v, out_dtype=tl.float64)
            corner += tl.dot(tl.trans(v), v, out_dtype=tl.float64)
    here = out + program.to(tl.int64) * (SIDE * SIDE)
    tl.store(here + left[:, None] * SIDE + left[None, :], total)
    if HALVES:
        tl.store(here + left[:, None] * SIDE + right[None, :], cross)
        tl.store(here + right[:, None] * SIDE + left[None, :], tl.trans(cross))
        tl.store(here + right[:, None] * SIDE + right[None, :], corner)


def moments(x: Tensor, t: Tensor, weight: Tensor | None, chosen: Tensor | None, shift: Array, scale: Array) -> Array:
    """Return [z 1]'[z 1] of weighted rows z = ((x, t) - shift) scale, (D + K + 1, D + K + 1), D + K < WIDEST_PRODUCT.

    shift and scale are (D + K,). `chosen` are the indices of the rows of x, or None for all; targets (n, K) and weights
    (n,) are those of the chosen rows.
    """
    d, k = x.shape[1], t.shape[1]
    side = max(triton.next_power_of_2(d + k + 1), 16)
    tile = product_tile(side)
    numbers = np.zeros((2, side))
    numbers[1, d] = 1.0  # the constant
    numbers[0, :d], numbers[0, d + 1 : d + k + 1] = scale[:d], scale[d:]
    numbers[1, :d], numbers[1, d + 1 : d + k + 1] = -(shift * scale)[:d], -(shift * scale)[d:]
    with on_device_of(x):
        sums = moment_products(x, t.contiguous(), weight, chosen, sent_to(numbers.ravel(), x), tile).cpu().numpy()
    order = np.concatenate([np.arange(d), np.arange(d + 1, d + k + 1), [d]])
    return np.asarray(sums.reshape(side, side)[np.ix_(order, order)])


def moment_products(
    x: Tensor,
    t: Tensor,
    weight: Tensor | None,
    chosen: Tensor | None,
    numbers: Tensor,
    tile: Tile,
    centred: bool = False,
) -> Tensor:
    """Return the sums of `moments_kernel` on the device, (SIDE^2,)."""
    rows = t.shape[0]
    programs = program_count(x, rows, tile.rows, 4 if tile.columns <= 64 else 2)
    out = torch.empty((programs, tile.columns**2), dtype=torch.float64, device=x.device)
    given = (x, t, x if weight is None else weight, x if chosen is None else chosen, numbers, out, rows)
    constants = {"K": t.shape[1], "HALVES": tile.columns > 64, "CHOSEN": chosen is not None, "CENTRED": centred}
    launch(moments_kernel, (programs,), given, tile, x, weight, **constants)
    return out.sum(dim=0)


def product_tile(side: int) -> Tile:
    """Return the tile for products of rows with themselves, of so many columns."""
    narrow = {16: Tile(64, 16, 0, 4, 1), 32: Tile(32, 32, 0, 4, 1), 64: Tile(16, 64, 0, 4, 1)}
    return narrow.get(side, Tile(32, side, 0, 4, 1))
