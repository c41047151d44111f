"""Residuals in double-double: pairs hi + lo of float64, of about 30 digits.

    r = t - theta'(v, 1):  sum w r (v, 1),  sum w r^2

The reference is `adaline.sums.residual`.
"""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from adaline.fused.tiles import PROGRAMS, Array, Tile, launch, on_device_of, program_count, sent_to

TILE_NUMBERS = 2**10  # numbers of a tile, each a pair in registers; twice as many need twice the registers
TILE_COLUMNS = 256  # at most; of wider rows each tile reads all columns for r, so that 512 would halve these reads
SPLITTER = tl.constexpr(134217729.0)  # 2^27 + 1: halves of 26 bits, whose products are exact


@triton.jit
def two_sum(a, b):
    """Return s, e with s = fl(a + b) and s + e = a + b."""
    s = a + b
    v = s - a
    return s, (a - (s - v)) + (b - v)


@triton.jit
def two_prod(a, b, FUSED: tl.constexpr):
    """Return p, e with p = fl(a b) and p + e = a b; by halves of a and b where a product is not FUSED with a sum."""
    p = a * b
    if FUSED:
        return p, tl.fma(a, b, -p)
    else:
        c, d = a * SPLITTER, b * SPLITTER
        a_hi, b_hi = c - (c - a), d - (d - b)
        a_lo, b_lo = a - a_hi, b - b_hi
        return p, ((a_hi * b_hi - p) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo


@triton.jit
def add_twofold(a_hi, a_lo, b_hi, b_lo):
    """Return a + b as hi, lo."""
    s, e = two_sum(a_hi, b_hi)
    return two_sum(s, e + (a_lo + b_lo))


@triton.jit
def times_twofold(a_hi, a_lo, b_hi, b_lo, FUSED: tl.constexpr):
    """Return a b as hi, lo."""
    p, e = two_prod(a_hi, b_hi, FUSED)
    return two_sum(p, e + (a_hi * b_lo + a_lo * b_hi))


@triton.jit
def scaled_tile(x, row, inside, columns, numbers, D: tl.constexpr, PITCH: tl.constexpr, WIDE: tl.constexpr):
    """Return (v, 1) of some rows and columns: x times a power of two, which is two factors, as one may overflow."""
    at = x + row.to(tl.int64)[:, None] * PITCH + columns[None, :]
    v = tl.load(at, mask=inside[:, None] & (columns < D)[None, :], other=0.0).to(tl.float64)
    v = v * tl.load(numbers + columns)[None, :] * tl.load(numbers + WIDE + columns)[None, :]
    return v + tl.where(columns == D, 1.0, 0.0)[None, :]


@triton.jit
def less_outputs(hi, lo, v, theta, WIDE: tl.constexpr, FUSED: tl.constexpr):
    """Return hi + lo - v theta of rows, theta hi and, WIDE numbers further on, lo."""
    p_hi, p_lo = times_twofold(v, 0.0 * v, tl.load(theta)[None, :], tl.load(theta + WIDE)[None, :], FUSED)
    z_hi, z_lo = tl.reduce((p_hi, p_lo), 1, add_twofold)
    return add_twofold(hi, lo, -z_hi, -z_lo)


@triton.jit
def residual_kernel(
    x,
    t,
    weight,
    numbers,
    out,
    rows,
    D: tl.constexpr,
    PITCH: tl.constexpr,
    K: tl.constexpr,
    STEP: tl.constexpr,
    SIDE: tl.constexpr,
    SHARES: tl.constexpr,
    WEIGHTED: tl.constexpr,
    FUSED: tl.constexpr,
):
    """Add up a program's share of the rows for one target and SIDE of the columns, of which there are SHARES.

    `numbers` are two factors for each column, then of each target theta hi, theta lo and two factors. A program's
    sums are (2, K, SHARES SIDE + 1): hi, then lo, of w r (v, 1), and of w r^2.
    """
    program, share, target = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    WIDE: tl.constexpr = SHARES * SIDE
    columns = share * SIDE + tl.arange(0, SIDE)
    theta = numbers + 2 * WIDE + target * (2 * WIDE + 2)
    factor, other_factor = tl.load(theta + 2 * WIDE), tl.load(theta + 2 * WIDE + 1)
    g_hi = tl.zeros((STEP, SIDE), dtype=tl.float64)
    g_lo = tl.zeros((STEP, SIDE), dtype=tl.float64)
    e_hi = tl.zeros((STEP,), dtype=tl.float64)
    e_lo = tl.zeros((STEP,), dtype=tl.float64)
    for first in range(program * STEP, rows, tl.num_programs(0) * STEP):
        row = first + tl.arange(0, STEP)
        inside = row < rows
        hi = tl.load(t + row.to(tl.int64) * K + target, mask=inside, other=0.0) * factor * other_factor
        lo = tl.zeros((STEP,), dtype=tl.float64)
        v = scaled_tile(x, row, inside, columns, numbers, D, PITCH, WIDE)
        if SHARES == 1:
            hi, lo = less_outputs(hi, lo, v, theta + columns, WIDE, FUSED)
        else:
            for j in range(SHARES):
                some = j * SIDE + tl.arange(0, SIDE)
                u = scaled_tile(x, row, inside, some, numbers, D, PITCH, WIDE)
                hi, lo = less_outputs(hi, lo, u, theta + some, WIDE, FUSED)
        hi, lo = tl.where(inside, hi, 0.0), tl.where(inside, lo, 0.0)
        w_hi, w_lo = hi, lo
        if WEIGHTED:
            w = tl.load(weight + row, mask=inside, other=0.0)
            w_hi, w_lo = times_twofold(hi, lo, w, 0.0 * w, FUSED)
        p_hi, p_lo = times_twofold(w_hi[:, None], w_lo[:, None], v, 0.0 * v, FUSED)
        g_hi, g_lo = add_twofold(g_hi, g_lo, p_hi, p_lo)
        p_hi, p_lo = times_twofold(w_hi, w_lo, hi, lo, FUSED)
        e_hi, e_lo = add_twofold(e_hi, e_lo, p_hi, p_lo)
    LO: tl.constexpr = K * (WIDE + 1)
    here = out + program.to(tl.int64) * (2 * LO) + target * (WIDE + 1)
    g_hi, g_lo = tl.reduce((g_hi, g_lo), 0, add_twofold)
    tl.store(here + columns, g_hi)
    tl.store(here + LO + columns, g_lo)
    e_hi, e_lo = tl.reduce((e_hi, e_lo), 0, add_twofold)
    if share == 0:
        tl.store(here + WIDE, e_hi)
        tl.store(here + LO + WIDE, e_lo)


@triton.jit
def twofold_total_kernel(parts, out, count, SIZE: tl.constexpr, STEP: tl.constexpr):
    """Add up pairs hi, lo (count, 2, SIZE) over the first axis: one of the SIZE sums a program."""
    column = tl.program_id(0)
    hi = tl.zeros((STEP,), dtype=tl.float64)
    lo = tl.zeros((STEP,), dtype=tl.float64)
    for first in range(0, count, STEP):
        part = first + tl.arange(0, STEP)
        at = parts + part.to(tl.int64) * (2 * SIZE) + column
        more_hi, more_lo = tl.load(at, mask=part < count, other=0.0), tl.load(at + SIZE, mask=part < count, other=0.0)
        hi, lo = add_twofold(hi, lo, more_hi, more_lo)
    hi, lo = tl.reduce((hi, lo), 0, add_twofold)
    tl.store(out + column, hi)
    tl.store(out + SIZE + column, lo)


def residual(x: Tensor, t: Tensor, weight: Tensor | None, hi: Array, lo: Array, exponent: Array) -> Array:
    """Return sum w r, sum w v r and sum w r^2 as pairs hi, lo, (K, D + 2, 2), as `adaline.sums.residual` has them.

    theta is hi + lo, (K, 1 + D), intercept first; v and t are x and t times 2^-exponent, (D + K,). More columns than a
    tile has are summed a tile of them at a time, each of which reads all columns for the residuals.
    """
    rows, d = x.shape
    k = len(hi)
    side = min(max(triton.next_power_of_2(d + 1), 16), TILE_COLUMNS)
    shares = triton.cdiv(d + 1, side)
    wide, tile = shares * side, Tile(TILE_NUMBERS // side, side, 0, 4, 1)
    half = np.floor(-exponent / 2)
    factors = np.exp2([half, -exponent - half])
    columns, targets = np.zeros((2, wide)), np.zeros((k, 2 * wide + 2))
    columns[:, :d] = factors[:, :d]
    for at, own in ((0, hi), (wide, lo)):
        targets[:, at : at + d], targets[:, at + d] = own[:, 1:], own[:, 0]
    targets[:, -2:] = factors[:, d:].T
    programs, size = program_count(x, rows, tile.rows, PROGRAMS // 2), k * (wide + 1)
    parts = torch.empty((programs, 2 * size), dtype=torch.float64, device=x.device)
    out = torch.empty((2, k, wide + 1), dtype=torch.float64, device=x.device)
    sent = sent_to(np.concatenate([columns.ravel(), targets.ravel()]), x)
    given = (x, t.contiguous(), x if weight is None else weight, sent, parts, rows)
    exactly = {"enable_fp_fusion": False}  # what is to be rounded is not fused with what follows
    with on_device_of(x):
        constants = {"K": k, "SHARES": shares, "FUSED": bool(x.is_cuda), **exactly}
        launch(residual_kernel, (programs, shares, k), given, tile, x, weight, **constants)
        twofold_total_kernel[(size,)](parts, out, programs, SIZE=size, STEP=128, num_warps=4, **exactly)
        sums = out.cpu().numpy()
    order = np.concatenate([[d], np.arange(d), [wide]])
    return np.ascontiguousarray(sums[:, :, order].transpose(1, 2, 0))
