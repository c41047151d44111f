"""Fused passes over rows on a CUDA device, in Triton: what a sum needs of the rows in one read of them.

    objective   v = x scale + offset,  z = theta'(v, 1):  sum w loss, sum w slope (v, 1), sum w curvature (v, 1)(v, 1)'
    moments     u = (x, 1, t) scale + offset - centre:  sum w u u', of all rows or of chosen ones
    mixture     l_k = c_k - 1/2 ||(v - mean_k)' P_k||^2:  sum w ln sum exp l_k, gamma_k; moments with weights gamma_k
    spread      about a row p near the middle:  sum w, sum w (x - p), sum w (x - p)^2, max |x|
    clusters    k(v) = argmin_k ||v - c_k||^2:  sum w, sum w v, sum w ||v - c_k||^2 of the rows of each centre
    residual    r = t - theta'(v, 1) in double-double:  sum w r (v, 1), sum w r^2, as pairs hi + lo

Numbers are those of the references in `adaline.sums`, which the tests hold the kernels against, by Triton's interpreter
too. Rows may be float32, sums and products are float64. Products of a tile of rows with a few columns of weights are
matrix products (`tl.dot`), which use the tensor cores in float64 and round as usual; the constant 1 is one more column
of the tile. Each program adds up its tiles in their order, and the partial sums of the programs are added in theirs:
two runs give the same bits. A scalar given to a kernel would become float32: numbers come in a tensor.

This module imports torch and Triton: `adaline.kernels.fused_kernels` imports it where rows ask for it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl
from numpy.typing import NDArray

Array = NDArray[np.float64]

LOSSES = (
    *("squared", "logistic", "softmax", "poisson", "gamma", "huber", "tukey", "absolute", "quantile", "perceptron"),
    *("squared_hinge", "sigmoid_squared", "tanh_squared"),
)
NOT_CONVEX = ("tukey", "sigmoid_squared", "tanh_squared")
WIDEST = 255  # columns of a tile beside the constant
WIDEST_CLUSTERED = 63
WIDEST_PRODUCT = 128  # columns and targets of rows whose products are summed, the constant among them
WIDEST_MATRIX = 64  # the same where rows are multiplied in the pass that finds their curvature
MOST_OUTPUTS = 16
HELD, LEAST = 2**27, 2**12  # numbers of rows that are held for a matrix of them, and rows at least
PARTS = 8  # programs a multiprocessor
TWOFOLD, TWOFOLD_SIDE = 2**10, 256  # numbers of a tile in double-double, and its columns at most
SPLITTER = tl.constexpr(134217729.0)  # 2^27 + 1


class Tile(NamedTuple):
    """How a kernel cuts rows: rows of a tile, columns and outputs as powers of two, warps, stages."""

    rows: int
    columns: int
    outputs: int
    warps: int
    stages: int


@triton.jit
def log1p(y):
    """Return ln(1 + y) for y >= 0 to the last digits."""
    u = 1.0 + y
    return tl.where(u == 1.0, y, tl.log(u) * (y / tl.where(u == 1.0, 1.0, u - 1.0)))


@triton.jit
def log1p_of_share(y):
    """Return ln(1 + y) for 0 <= y <= 1 to the last digits: 2 artanh(s), s = y / (2 + y), by a polynomial of s^2."""
    s = y / (2.0 + y)
    u = s * s
    p = 0.08522081781390699 * u + 0.0416225325593041
    p = p * u + 0.06055084364034609
    p = p * u + 0.06650187016337313
    p = p * u + 0.07693307021152004
    p = p * u + 0.09090870416252403
    p = p * u + 0.11111112040373837
    p = p * u + 0.14285714272727057
    p = p * u + 0.20000000000092874
    p = p * u + 0.33333333333333076
    return 2.0 * (s + s * (u * p))


@triton.jit
def minus_expm1(a):
    """Return 1 - exp(-a) for a >= 0 to the last digits."""
    u = tl.exp(-a)
    ordinary = (u < 1.0) & (u > 0.0)
    exact = (1.0 - u) * a / -tl.log(tl.where(ordinary, u, 0.5))
    return tl.where(u == 1.0, a, tl.where(u == 0.0, 1.0, exact))


@triton.jit
def sign(r):
    """Return the sign of r, 0 of 0, NaN of NaN."""
    return tl.where(r > 0.0, 1.0, tl.where(r < 0.0, -1.0, r))


@triton.jit
def cost(z, t, parameter, LOSS: tl.constexpr):
    """Return value, slope and curvature of a loss of single outputs, by the formulas of `adaline.losses`."""
    if LOSS == "squared":
        r = z - t
        return 0.5 * r * r, r, 1.0 + 0.0 * r
    elif LOSS == "logistic":
        y = tl.exp(-tl.abs(z))
        inverse = 1.0 / (1.0 + y)  # and not one division for both: that rounds more, and certificates claimed too much
        near = tl.where(z > 0.0, 1.0 - t, -t)
        far = tl.where(z > 0.0, -t, 1.0 - t)
        return near * z + log1p_of_share(y), (far * y + near) * inverse, y * inverse * inverse
    elif LOSS == "poisson":
        mean = tl.exp(z)
        return mean - t * z, mean - t, mean
    elif LOSS == "gamma":
        ratio = t * tl.exp(-z)
        return z + ratio, 1.0 - ratio, ratio
    elif LOSS == "huber":
        r = z - t
        size = tl.abs(r)
        inside = size <= parameter
        value = tl.where(inside, 0.5 * r * r, parameter * (size - 0.5 * parameter))
        return value, tl.where(inside, r, parameter * sign(r)), tl.where(inside, 1.0 + 0.0 * r, 0.0 * r)
    elif LOSS == "tukey":
        r = z - t
        rest = 1.0 - (r / parameter) * (r / parameter)
        left = tl.where(rest > 0.0, rest, 0.0 * t)
        value = parameter * parameter / 6.0 * (1.0 - left * left * left)
        return value, r * left * left, left * (5.0 * left - 4.0)
    elif LOSS == "absolute":
        return tl.abs(z - t), sign(z - t), 0.0 * z
    elif LOSS == "quantile":
        r = t - z
        value = tl.where(r > 0.0, parameter * r, (parameter - 1.0) * r)
        return value, 0.5 - parameter - 0.5 * sign(r), 0.0 * z
    elif LOSS == "perceptron":
        wrong = t * z <= 0.0
        return tl.where(wrong, -t * z, 0.0 * z), tl.where(wrong, -t + 0.0 * z, 0.0 * z), 0.0 * z
    elif LOSS == "squared_hinge":
        within = t * z < 1.0
        lack = tl.where(within, 1.0 - t * z, 0.0 * z)
        return 0.5 * lack * lack, -t * lack, tl.where(within, 1.0 + 0.0 * z, 0.0 * z)
    elif LOSS == "sigmoid_squared":
        y = tl.exp(-tl.abs(z))
        inverse = 1.0 / (1.0 + y)
        small = y * inverse
        e = tl.where(z > 0.0, inverse, small) - t
        bend = inverse * small
        turn = tl.where(z > 0.0, small - inverse, inverse - small)
        return 0.5 * e * e, e * bend, bend * (bend + e * turn)
    else:
        tl.static_assert(LOSS == "tanh_squared")
        far = minus_expm1(2.0 * tl.abs(z))
        y = sign(z) * far / (2.0 - far)
        e = y - t
        bend = 1.0 - y * y
        return 0.5 * e * e, e * bend, bend * (bend - 2.0 * y * e)


@triton.jit
def tile_of(x, row, inside, columns, scale, offset, D: tl.constexpr, PITCH: tl.constexpr):
    """Return (v, 1) of some rows: column D is the constant, as its scale is 0 and its offset 1."""
    at = x + row.to(tl.int64)[:, None] * PITCH + columns[None, :]
    found = tl.load(at, mask=inside[:, None] & (columns < D)[None, :], other=0.0)
    return found.to(tl.float64) * scale[None, :] + offset[None, :]


@triton.jit
def weights_of(weight, row, inside, WEIGHTED: tl.constexpr):
    """Return the weight of each row, 1 where they have none, 0 beyond the last."""
    if WEIGHTED:
        return tl.load(weight + row, mask=inside, other=0.0)
    else:
        return tl.where(inside, 1.0, 0.0).to(tl.float64)


@triton.jit
def head_of(numbers, SIDE: tl.constexpr, WIDTH: tl.constexpr):
    """Return the columns and outputs of a tile, scale and offset, the first of `numbers`, and where the rest begins."""
    columns = tl.arange(0, SIDE)
    scale, offset = tl.load(numbers + columns), tl.load(numbers + SIDE + columns)
    return columns, tl.arange(0, WIDTH), scale, offset, numbers + 2 * SIDE


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
    if K == 1 or LOSS == "softmax":
        value = tl.zeros((STEP,), dtype=tl.float64)
    else:
        value = tl.zeros((STEP, WIDTH), dtype=tl.float64)
    if K == 1:  # noqa: SIM108 - chosen when the kernel is compiled
        drift = tl.zeros((STEP,), dtype=tl.float64)
    else:
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
        if LOSS == "softmax":
            own = tl.load(t + row, mask=inside, other=0.0)
            real = outputs[None, :] < K
            top = tl.max(tl.where(real, z, float("-inf")), axis=1)
            e = tl.where(real, tl.exp(z - top[:, None]), 0.0)
            total = tl.sum(e, axis=1)
            mine = outputs[None, :].to(tl.float64) == own[:, None]
            lost = top - tl.sum(tl.where(mine, z, 0.0), axis=1)
            p = e / total[:, None]
            value += tl.where(inside, w * (lost + log1p(tl.maximum(total - 1.0, 0.0))), 0.0)
            slope = tl.where(inside[:, None], w[:, None] * tl.where(mine, p - 1.0, p), 0.0)
        elif K == 1:
            own = tl.load(t + row, mask=inside, other=0.0)
            output = tl.sum(z, axis=1)
            costs, slopes, curvature = cost(output, own, parameter, LOSS)
            value += tl.where(inside, w * costs, 0.0)
            slopes = tl.where(inside, w * slopes, 0.0)
            slope = tl.where(outputs[None, :] == 0, slopes[:, None], 0.0)
            if SECOND == "rows":
                tl.store(bent + row, w * curvature, mask=inside)
            if SECOND == "matrix" or SECOND == "held":
                root = tl.sqrt(tl.where(inside, w * curvature, 0.0))
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
            real = inside[:, None] & (outputs[None, :] < K)
            own = tl.load(t + row.to(tl.int64)[:, None] * K + outputs[None, :], mask=real, other=0.0)
            costs, slopes, curvature = cost(z, own, parameter, LOSS)
            value += tl.where(real, w[:, None] * costs, 0.0)
            slope = tl.where(real, w[:, None] * slopes, 0.0)
        gradient += tl.dot(tl.trans(v), slope, out_dtype=tl.float64)
        if NEAR:
            if K == 1:
                drift += slopes
            else:
                drift += slope
    here = out + program.to(tl.int64) * (2 * WIDTH + SIDE * WIDTH + (SIDE * SIDE if SECOND == "matrix" else 0))
    if K == 1 or LOSS == "softmax":
        tl.store(here + outputs, tl.where(outputs == 0, tl.sum(value, axis=0), 0.0))
    else:
        tl.store(here + outputs, tl.sum(value, axis=0))
    if K == 1:
        tl.store(here + WIDTH + outputs, tl.where(outputs == 0, tl.sum(drift, axis=0), 0.0))
    else:
        tl.store(here + WIDTH + outputs, tl.sum(drift, axis=0))
    tl.store(here + 2 * WIDTH + columns[:, None] * WIDTH + outputs[None, :], gradient)
    if SECOND == "matrix":
        there = here + 2 * WIDTH + SIDE * WIDTH
        tl.store(there + columns[:, None] * SIDE + columns[None, :], matrix)


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


def objective(
    x: Any,
    t: Any,
    weight: Any,
    loss: str,
    parameter: float,
    theta: Array,
    scale: Array,
    offset: Array,
    second: str,
    near: bool = False,
    held: int = HELD,
) -> tuple[Array, Array, Array | None, Any] | None:
    """Return value (K,) or (1,), gradient (K, 1 + D), intercept first, and what `second` asks for; None: no kernel.

    `second` is "none", "alone" (the matrix of one machine, (1, 1 + D, 1 + D)) or "rows": the curvature of each row
    times its weight, (n,), on the device. `near` says that the offset may be taken into the weights, which takes less
    time. The matrix of a convex loss is summed in the same read; of more columns rows (v, 1) times the root of their
    curvature are held, `held` numbers at a time, and multiplied by cuBLAS, whose products of large matrices are faster.
    """
    k, (rows, d) = len(theta), x.shape
    alone = second != "none"
    if loss not in LOSSES or d > WIDEST or k > MOST_OUTPUTS or (alone and (k > 1 or loss == "softmax")):
        return None
    if second == "alone":
        if loss in NOT_CONVEX:
            return None
        second = "matrix" if d < WIDEST_MATRIX else "held"
    if k == 1 and second == "none" and loss != "softmax" and x.stride(0) >= d:  # rows that do not overlap
        return *_packed(x, t, weight, loss, parameter, theta[0], scale, offset, near), None, None
    tile = _tile(d, k, second)
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
    t, sent = t.contiguous(), _sent(numbers, x)
    bent_columns = 8 * (1 + d // 8) if second == "held" else 1
    step = max(min(max(held // bent_columns, LEAST), rows) if second == "held" else rows, 1)
    starts = range(0, max(rows, 1), step)
    programs = _programs(x, step, tile.rows, _parts(tile, second))
    first_sums = 2 * width + side * width
    size = first_sums + (side * side if second == "matrix" else 0)
    out = torch.empty((len(starts) * programs, size), dtype=torch.float64, device=x.device)
    pitch = min(max(triton.next_power_of_2(max(step // 256, 1)), 256), 4096)  # rows of one matrix product
    bent, matrix = x, None
    if second in ("rows", "held"):
        length = rows if second == "rows" else triton.cdiv(step, pitch) * pitch * bent_columns
        bent = torch.empty(length, dtype=torch.float64, device=x.device)
    constants = {"K": k, "WIDTH": width, "BENT": bent_columns, "LOSS": loss, "NEAR": near, "SECOND": second}
    with _device(x):
        for i, first in enumerate(starts):
            last = min(first + step, rows)
            own = (x, t, x if weight is None else weight)
            if len(starts) > 1:
                own = tuple(part[first:last] for part in own)
            given = (*own, sent, out[i * programs :], bent, last - first)
            _launch(objective_kernel, (programs,), given, tile, x, weight, **constants)
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


def _packed(
    x: Any,
    t: Any,
    weight: Any,
    loss: str,
    parameter: float,
    theta: Array,
    scale: Array,
    offset: Array,
    near: bool,
) -> tuple[Array, Array]:
    """Return value (1,) and gradient (1, 1 + D) of one machine; some rows together are one of a tile."""
    rows, d = x.shape
    together, side = (1, max(triton.next_power_of_2(d), 16)) if x.stride(0) != d else _packed_rows(d, x.element_size())
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
    programs = _programs(x, triton.cdiv(rows, together), tile.rows, PARTS // 2)
    out = torch.empty((programs, 2 + side), dtype=torch.float64, device=x.device)
    given = (x, t.contiguous(), x if weight is None else weight, _sent(numbers, x), out, rows)
    constants = {"ROWS": together, "WIDTH": width, "LOSS": loss, "NEAR": near}
    with _device(x):
        _launch(packed_kernel, (programs,), given, tile, x, weight, **constants)
        sums = out.sum(dim=0).cpu().numpy()
    slopes = sums[2 : 2 + used].reshape(together, d).sum(axis=0)
    slopes = slopes * scale + sums[1] * offset if near else slopes
    return sums[:1], np.concatenate([sums[1:2], slopes])[None]


def _packed_rows(features: int, size: int) -> tuple[int, int]:
    """Return how many rows, of so many columns, are one of a tile, and its columns: those that they fill best.

    Numbers have `size` bytes; tiles of 256 columns are for float32, where they are better filled, and for wide rows.
    """
    if features > 128:
        return 1, 256
    sides = [side for side in (32, 64, 128, 256)[: 4 if size == 4 else 3] if side >= features]
    rows = {side: min(side // features, 8) for side in sides}
    side = max(sides, key=lambda side: (rows[side] * features / side, side <= 128, side))
    return rows[side], side


def moments(x: Any, t: Any, weight: Any, chosen: Any, shift: Array, scale: Array) -> Array:
    """Return [z 1]'[z 1] of weighted rows z = ((x, t) - shift) scale, (D + K + 1, D + K + 1), D + K < WIDEST_PRODUCT.

    shift and scale are (D + K,). `chosen` are the indices of the rows of x, or None for all; targets (n, K) and weights
    (n,) are those of the chosen rows.
    """
    d, k = x.shape[1], t.shape[1]
    side = max(triton.next_power_of_2(d + k + 1), 16)
    tile = _moments_tile(side)
    numbers = np.zeros((2, side))
    numbers[1, d] = 1.0  # the constant
    numbers[0, :d], numbers[0, d + 1 : d + k + 1] = scale[:d], scale[d:]
    numbers[1, :d], numbers[1, d + 1 : d + k + 1] = -(shift * scale)[:d], -(shift * scale)[d:]
    with _device(x):
        sums = _moments(x, t.contiguous(), weight, chosen, _sent(numbers.ravel(), x), tile).cpu().numpy()
    order = np.concatenate([np.arange(d), np.arange(d + 1, d + k + 1), [d]])
    return np.asarray(sums.reshape(side, side)[np.ix_(order, order)])


def _moments(x: Any, t: Any, weight: Any, chosen: Any, numbers: Any, tile: Tile, centred: bool = False) -> Any:
    """Return the sums of `moments_kernel` on the device, (SIDE^2,)."""
    rows = t.shape[0]
    programs = _programs(x, rows, tile.rows, 4 if tile.columns <= 64 else 2)
    out = torch.empty((programs, tile.columns**2), dtype=torch.float64, device=x.device)
    given = (x, t, x if weight is None else weight, x if chosen is None else chosen, numbers, out, rows)
    constants = {"K": t.shape[1], "HALVES": tile.columns > 64, "CHOSEN": chosen is not None, "CENTRED": centred}
    _launch(moments_kernel, (programs,), given, tile, x, weight, **constants)
    return out.sum(dim=0)


def mixture(
    x: Any, weight: Any, constants: Array, means: Array, factors: Array, scale: Array, offset: Array
) -> Array | None:
    """Return the log-likelihood, then the moments (D + 1, D + 1) of each of K components, as one vector, or None.

    As `adaline.sums.mixture` has them, with whole matrices; None where there are too many columns or components.
    """
    k, d = means.shape
    if factors.ndim != 3 or d > WIDEST_CLUSTERED or k > MOST_OUTPUTS:
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
    programs = _programs(x, rows, tile.rows, PARTS // 2)
    out = torch.empty((programs, 1), dtype=torch.float64, device=x.device)
    gamma = torch.empty((k, rows), dtype=torch.float64, device=x.device)
    sent = _sent(np.concatenate([numbers, about.ravel()]), x)
    none = torch.empty((rows, 0), dtype=torch.float64, device=x.device)
    with _device(x):
        given = (x, x if weight is None else weight, sent, out, gamma, rows)
        _launch(mixture_kernel, (programs,), given, tile, x, weight, K=k, WIDTH=width)
        own = sent[len(numbers) :].view(k, -1)
        parts = [_moments(x, none, gamma[i], None, own[i], _moments_tile(side), True) for i in range(k)]
        sums = torch.cat([out.sum(dim=0), *parts]).cpu().numpy()
    return np.concatenate([sums[:1], sums[1:].reshape(k, side, side)[:, : d + 1, : d + 1].ravel()])


def spread(x: Any, weight: Any, pilot: Any) -> tuple[Array, Array, Array]:
    """Return sum w (x - pilot), sum w (x - pilot)^2 and max |x| of rows with a weight, (D,) each, for a pilot row."""
    rows, d = x.shape
    tile = Tile(32, min(max(triton.next_power_of_2(d), 16), 64), 0, 4, 3)
    programs = _programs(x, rows, tile.rows, PARTS)
    out = torch.empty((programs, 3, d), dtype=torch.float64, device=x.device)
    given = (x, x if weight is None else weight, pilot, out, rows)
    with _device(x):
        _launch(spread_kernel, (programs, triton.cdiv(d, tile.columns)), given, tile, x, weight)
        sums = torch.cat([out[:, :2].sum(dim=0), out[:, 2:].amax(dim=0)]).cpu().numpy()
    return sums[0], sums[1], sums[2]


def clusters(
    x: Any, weight: Any, points: Array, scale: Array, offset: Array, marked: bool = False
) -> tuple[Array, Any, Any] | None:
    """Return weight, error and the sum of v of the rows of each centre (K, D), (K, 2 + D); None where too many.

    If `marked`, also the index of each row's centre and the squared distance to it, (n,), on the device, else None.
    """
    k, d = points.shape
    if d > WIDEST_CLUSTERED or k > MOST_OUTPUTS or k < 2:
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
    programs = _programs(x, rows, tile.rows, PARTS)
    out = torch.empty((programs, width + side * width), dtype=torch.float64, device=x.device)
    index = torch.empty(rows, dtype=torch.int32, device=x.device) if marked else None
    squares = torch.empty(rows, dtype=torch.float64, device=x.device) if marked else None
    marks = (index, squares) if marked else (x, x)
    given = (x, x if weight is None else weight, _sent(numbers, x), out, *marks, rows)
    with _device(x):
        _launch(clusters_kernel, (programs,), given, tile, x, weight, K=k, WIDTH=width, MARKED=marked)
        sums = out.sum(dim=0).cpu().numpy()
    first = sums[width:].reshape(side, width)[:, :k].T
    return np.column_stack([first[:, d], sums[:k], first[:, :d]]), index, squares


def residual(x: Any, t: Any, weight: Any, hi: Array, lo: Array, exponent: Array) -> Array:
    """Return sum w r, sum w v r and sum w r^2 as pairs hi, lo, (K, D + 2, 2), as `adaline.sums.residual` has them.

    theta is hi + lo, (K, 1 + D), intercept first; v and t are x and t times 2^-exponent, (D + K,). More columns than a
    tile has are summed a tile of them at a time, each of which reads all columns for the residuals.
    """
    rows, d = x.shape
    k = len(hi)
    side = min(max(triton.next_power_of_2(d + 1), 16), TWOFOLD_SIDE)
    shares = triton.cdiv(d + 1, side)
    wide, tile = shares * side, Tile(TWOFOLD // side, side, 0, 4, 1)
    half = np.floor(-exponent / 2)
    factors = np.exp2([half, -exponent - half])
    columns, targets = np.zeros((2, wide)), np.zeros((k, 2 * wide + 2))
    columns[:, :d] = factors[:, :d]
    for at, own in ((0, hi), (wide, lo)):
        targets[:, at : at + d], targets[:, at + d] = own[:, 1:], own[:, 0]
    targets[:, -2:] = factors[:, d:].T
    programs, size = _programs(x, rows, tile.rows, PARTS // 2), k * (wide + 1)
    parts = torch.empty((programs, 2 * size), dtype=torch.float64, device=x.device)
    out = torch.empty((2, k, wide + 1), dtype=torch.float64, device=x.device)
    sent = _sent(np.concatenate([columns.ravel(), targets.ravel()]), x)
    given = (x, t.contiguous(), x if weight is None else weight, sent, parts, rows)
    exactly = {"enable_fp_fusion": False}  # what is to be rounded is not fused with what follows
    with _device(x):
        constants = {"K": k, "SHARES": shares, "FUSED": bool(x.is_cuda), **exactly}
        _launch(residual_kernel, (programs, shares, k), given, tile, x, weight, **constants)
        twofold_total_kernel[(size,)](parts, out, programs, SIZE=size, STEP=128, num_warps=4, **exactly)
        sums = out.cpu().numpy()
    order = np.concatenate([[d], np.arange(d), [wide]])
    return np.ascontiguousarray(sums[:, :, order].transpose(1, 2, 0))


def _launch(
    kernel: Any, grid: tuple[int, ...], given: tuple[Any, ...], tile: Tile, x: Any, weight: Any, **constants: Any
) -> None:
    """Start a kernel on rows x, which are cut by a tile; `given` are its arguments, `constants` those of its own."""
    kernel[grid](
        *given,
        **constants,
        D=x.shape[1],
        PITCH=x.stride(0),
        STEP=tile.rows,
        SIDE=tile.columns,
        WEIGHTED=weight is not None,
        num_warps=tile.warps,
        num_stages=tile.stages,
    )


def _tile(features: int, outputs: int, second: str) -> Tile:
    """Return the tile for rows of so many columns: the fastest of some dozens on one H200."""
    side, width = max(triton.next_power_of_2(features + 1), 16), max(triton.next_power_of_2(outputs), 8)
    if second == "matrix":
        return Tile(64, side, width, 4, 1 if side == 64 else 3)
    if second == "held":
        return Tile(64 if side <= 128 else 32, side, width, 4, 3 if side <= 64 else 2)
    if side > 64:
        return Tile(32, side, width, 2, 4 if side == 128 else 2)
    return Tile(64, side, width, 2 if side == 64 else 1, 1)


def _moments_tile(side: int) -> Tile:
    """Return the tile for products of rows with themselves, of so many columns."""
    narrow = {16: Tile(64, 16, 0, 4, 1), 32: Tile(32, 32, 0, 4, 1), 64: Tile(16, 64, 0, 4, 1)}
    return narrow.get(side, Tile(32, side, 0, 4, 1))


def _parts(tile: Tile, second: str) -> int:
    """Return how many programs a multiprocessor has: the smaller they are, the more."""
    if second == "matrix":
        return 2
    return {1: 2 * PARTS, 2: PARTS}.get(tile.warps, PARTS // 2)


def _programs(x: Any, rows: int, step: int, parts: int) -> int:
    """Return the number of programs: some for each multiprocessor, and no more than there are tiles."""
    return max(min(parts * _processors(x.device), triton.cdiv(rows, step)), 1)


@lru_cache
def _processors(device: Any) -> int:
    """Return the number of multiprocessors of a device."""
    return 2 if device.type != "cuda" else int(torch.cuda.get_device_properties(device).multi_processor_count)


def _sent(numbers: Array, x: Any) -> Any:
    """Return numbers as a tensor on the device of x; the kernels before need not have ended."""
    own = torch.from_numpy(numbers)
    return own.pin_memory().to(x.device, non_blocking=True) if x.is_cuda else own


def _device(x: Any) -> Any:
    """Return the context in which kernels run on the device of x."""
    return torch.cuda.device(x.device) if x.is_cuda else torch.no_grad()
