"""Tiles: how kernels cut rows, read them, and are started on them.

A kernel runs as many programs side by side. Program p of P takes tiles p, p + P, p + 2 P, ... of STEP rows, adds up
what it needs of them in that order, and stores one partial sum; the caller adds the partial sums in the order of the
programs.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl
from numpy.typing import NDArray
from torch import Tensor

Array = NDArray[np.float64]

PROGRAMS = 8  # for each multiprocessor; twice as many take half the rows each, and leave twice the partial sums to add
MOST_COMPARED = 63  # columns of rows compared with centres; twice as many double the matrices that a program holds
MOST_OUTPUTS = 16  # machines, centres or components in one read; twice as many double a program's sums in registers


class Tile(NamedTuple):
    """How a kernel cuts rows: rows of a tile, columns and outputs as powers of two, warps, stages."""

    rows: int
    columns: int
    outputs: int
    warps: int
    stages: int


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


def launch(
    kernel: triton.JITFunction,
    grid: tuple[int, ...],
    given: tuple[Any, ...],
    tile: Tile,
    x: Tensor,
    weight: Tensor | None,
    **constants: object,
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


def program_count(x: Tensor, rows: int, step: int, parts: int) -> int:
    """Return the number of programs: some for each multiprocessor, and no more than there are tiles."""
    return max(min(parts * multiprocessors(x.device), triton.cdiv(rows, step)), 1)


@lru_cache
def multiprocessors(device: torch.device) -> int:
    """Return the number of multiprocessors of a device."""
    return 2 if device.type != "cuda" else int(torch.cuda.get_device_properties(device).multi_processor_count)


def sent_to(numbers: Array, x: Tensor) -> Tensor:
    """Return numbers as a tensor on the device of x; the kernels before need not have ended."""
    own = torch.from_numpy(numbers)
    return own.pin_memory().to(x.device, non_blocking=True) if x.is_cuda else own


def on_device_of(x: Tensor) -> AbstractContextManager[object]:
    """Return the context in which kernels run on the device of x."""
    return torch.cuda.device(x.device) if x.is_cuda else torch.no_grad()
