"""Rows on the host whose sums are taken on a CUDA device: blocks are copied to it while the one before is summed.

A block goes through one of two page-locked buffers, which a device reads by itself, into one of two places on the
device: however many rows there are, two blocks are there at a time. The pages of an array are locked themselves, which
takes less time than to copy it once, and it needs no buffers; one in another order does, and a file that is mapped.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import replace
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.block import Block
from adaline.errors import InvalidParameter
from adaline.sources.threads import run_blocks

NUMBERS = 2**24  # of a block of an array: large beside what a call of a kernel takes
COPIED = 2**17  # numbers that a thread copies at a time
ADVICE = "device is 'cuda', or one of several as 'cuda:1', not {!r}"


def read_device(device: Any) -> Any:
    """Return a CUDA device as torch has it; refuse others, and those that are not there."""
    try:
        import torch
    except ImportError:
        raise InvalidParameter("device= needs torch and Triton: pip install 'adaline[gpu]'") from None
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError):
        raise InvalidParameter(ADVICE.format(device)) from None
    if found.type != "cuda":
        raise InvalidParameter(ADVICE.format(device))
    if not torch.cuda.is_available() or (found.index or 0) >= torch.cuda.device_count():
        raise InvalidParameter(f"there is no device {device!r}: leave device= out, and sums are taken on the host")
    return found


def blocks_on_device(blocks: Iterator[Block], device: Any) -> Iterator[Block]:
    """Return blocks of dense rows on the host as blocks on a device; each is copied while the one before is in use.

    A block may be used until the next one is asked for.
    """
    places, before = cycle((_Place(device), _Place(device))), None
    for block in blocks:
        place = next(places)
        place.fill(block.packed())
        if before is not None:
            yield before.taken()
            before.release()
        before = place
    if before is not None:
        yield before.taken()


class PageLock:
    """Pages of an array that are locked, so that a device reads them by itself, until this is gone."""

    def __init__(self, array: NDArray[Any], device: Any) -> None:
        import torch

        if array.nbytes and _is_plain(array) and device.type == "cuda":
            cuda, start = torch.cuda.cudart(), array.ctypes.data
            if int(cuda.cudaHostRegister(start, array.nbytes, 0)) == 0:
                weakref.finalize(self, _unlock, cuda, array)
            else:  # as for a file that is mapped; the next call would tell of it
                with suppress(RuntimeError):
                    torch.empty(1, device=device).zero_()


def _unlock(cuda: Any, array: NDArray[Any]) -> None:
    cuda.cudaHostUnregister(array.ctypes.data)


class _Place:
    """Room for one block on a device, and page-locked room on the host that it comes through."""

    def __init__(self, device: Any) -> None:
        import torch

        self.torch, self.device = torch, device
        self.lane = torch.cuda.Stream(device) if device.type == "cuda" else None
        self.rooms: dict[Any, tuple[Any, Any]] = {}
        self.copied: Any = None
        self.used: Any = None
        self.block: Any = None

    def fill(self, block: Block) -> None:
        """Begin to copy a block, once the one that was here has been copied, and on the device, once it was used."""
        if self.copied is not None:
            self.copied.synchronize()
        with nullcontext() if self.lane is None else self.torch.cuda.stream(self.lane):
            if self.used is not None:
                self.lane.wait_event(self.used)
            x, t = self._sent("x", block.x), self._sent("t", np.asarray(block.t, dtype=np.float64))
            weight = None if block.weight is None else self._sent("weight", np.asarray(block.weight, np.float64))
            self.copied = None if self.lane is None else self.lane.record_event()
        self.block = replace(block, x=x, t=t, weight=weight)

    def taken(self) -> Block:
        """Return the block, for the current stream once it has been copied."""
        if self.copied is not None:
            self.torch.cuda.current_stream(self.device).wait_event(self.copied)
        out: Block = self.block
        return out

    def release(self) -> None:
        """Let the place be filled again after what the current stream has been given so far."""
        if self.lane is not None:
            self.used = self.torch.cuda.current_stream(self.device).record_event()

    def _sent(self, name: str, array: NDArray[Any]) -> Any:
        """Begin to copy an array to the device: from its own pages where they are locked, else through a buffer."""
        dtype = np.float32 if array.dtype == np.float32 else np.float64
        given = self.torch.from_numpy(array) if _is_plain(array) else None
        locked = given is not None and self.lane is not None and given.is_pinned()
        buffer, there = self._room(name, array.shape, dtype, not locked)
        if not locked:
            _copy(buffer.numpy(), array)
        return there.copy_(given if locked else buffer, non_blocking=True)

    def _room(self, name: str, shape: tuple[int, ...], dtype: Any, through: bool) -> tuple[Any, Any]:
        """Return room of a shape on the host, where rows go `through` it, and on the device."""
        size, kind = int(np.prod(shape)), self.torch.from_numpy(np.empty(0, dtype)).dtype
        buffer, there = self.rooms.get((name, dtype), (None, None))
        if there is None or there.numel() < size:
            there, buffer = self.torch.empty(size, dtype=kind, device=self.device), None
        if through and buffer is None:
            buffer = self.torch.empty(there.numel(), dtype=kind, pin_memory=self.lane is not None)
        self.rooms[name, dtype] = buffer, there
        return None if buffer is None else buffer[:size].view(shape), there[:size].view(shape)


def _is_plain(array: NDArray[Any]) -> bool:
    """Whether a tensor can have the memory of an array as it is."""
    return array.flags.c_contiguous and array.flags.writeable and array.dtype in (np.float32, np.float64)


def _copy(to: NDArray[Any], array: NDArray[Any]) -> None:
    """Copy an array, by all threads."""
    rows = max(COPIED // max(array[:1].size, 1), 1)

    def part(i: int) -> None:
        chosen = slice(i * rows, (i + 1) * rows)
        np.copyto(to[chosen], array[chosen])

    run_blocks(-(-len(array) // rows), part)
