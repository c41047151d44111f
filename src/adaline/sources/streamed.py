"""Rows on the host whose sums are taken on a CUDA device: blocks are copied to it while the one before is summed.

A block goes through one of two page-locked buffers, which a device reads directly, into one of two places on the
device: however many rows there are, two blocks are there at a time. The pages of an array are locked themselves, where
that takes about as long as to copy it once, and need no buffers from then on.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import replace
from itertools import cycle
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.block import Block
from adaline.errors import InvalidParameter
from adaline.lazy import torch
from adaline.sources.threads import run_blocks

# bytes of a block of an array, so many that launching kernels and locking pages cost little beside it; doubling it
# takes twice the memory on the device
BLOCK_BYTES = 2**27
COPIED = 2**17  # numbers that a thread copies at a time; doubling it splits small blocks among fewer threads
PAGE = 4096  # bytes
SLOW = 1e10  # bytes a second below which locking pages costs more than copying through locked buffers
ADVICE = "device is 'cuda', or one of several as 'cuda:1', not {!r}"


def read_device(device: Any) -> Any:
    """Return a CUDA device as torch has it; refuse others, and those that are not there."""
    try:
        found = torch.device(device)
    except ImportError:
        raise InvalidParameter("device= needs torch and Triton: pip install 'adaline-learn[gpu]'") from None
    except (RuntimeError, TypeError):
        raise InvalidParameter(ADVICE.format(device)) from None
    if found.type != "cuda":
        raise InvalidParameter(ADVICE.format(device))
    if not torch.cuda.is_available() or (found.index or 0) >= torch.cuda.device_count():
        raise InvalidParameter(f"there is no device {device!r}: leave device= out, and sums are taken on the host")
    return found


def blocks_on_device(blocks: Iterator[Block], device: Any, locks: PageLocks | None = None) -> Iterator[Block]:
    """Return blocks of dense rows on the host as blocks on a device; each is copied while the one before is in use.

    A block may be used until the next one is asked for. `locks` are those of the array that the rows are views of.
    """
    places, before = cycle((_Place(device, locks), _Place(device, locks))), None
    for block in blocks:
        place = next(places)
        place.fill(block.packed())
        if before is not None:
            yield before.taken()
            before.release()
        before = place
    if before is not None:
        yield before.taken()


class PageLocks:
    """Pages of an array that are locked, a block at a time, so that a device reads them directly, until this is gone.

    Where locking takes longer than to copy a block to a buffer some times, no more are locked.
    """

    def __init__(self, array: NDArray[Any], device: Any) -> None:
        self.start, self.stop = array.ctypes.data, array.ctypes.data + array.nbytes
        self.useful = device.type == "cuda" and _is_plain(array)
        self.inner: dict[int, tuple[int, int]] = {}
        self.locked: list[int] = []
        self.device = device
        weakref.finalize(self, _unlock, self.locked, array)

    def of(self, block: NDArray[Any]) -> tuple[int, int]:
        """Return from which to which byte the pages of a block are locked; (0, 0) where they are not."""
        first = block.ctypes.data
        if not _is_plain(block) or first < self.start or first + block.nbytes > self.stop:
            return 0, 0
        if first not in self.inner:
            self.inner[first] = self._lock(first, block.nbytes) if self.useful else (0, 0)
        return self.inner[first]

    def _lock(self, first: int, size: int) -> tuple[int, int]:
        """Lock the pages that lie in a block as a whole."""
        start, stop = -(-first // PAGE) * PAGE, (first + size) // PAGE * PAGE
        if stop <= start:
            return 0, 0
        began = perf_counter()
        self.useful = int(torch.cuda.cudart().cudaHostRegister(start, stop - start, 0)) == 0
        if not self.useful:  # as for a file that is mapped; the next call would tell of it
            with suppress(RuntimeError):
                torch.empty(1, device=self.device).zero_()
            return 0, 0
        self.useful = stop - start > SLOW * (perf_counter() - began) or not self.locked  # the first one starts more up
        self.locked.append(start)
        return start - first, stop - first


def _unlock(locked: list[int], array: NDArray[Any]) -> None:
    """Unlock pages of an array, which is held until then."""
    if locked:
        for start in locked:
            torch.cuda.cudart().cudaHostUnregister(start)


class _Place:
    """Room for one block on a device, and page-locked room on the host that it comes through."""

    def __init__(self, device: Any, locks: PageLocks | None) -> None:
        self.torch, self.device, self.locks = torch, device, locks
        self.lane: Any = torch.cuda.Stream(device) if device.type == "cuda" else None
        self.rooms: dict[Any, Any] = {}
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
        """Begin to copy an array to the device: pages that are locked as they are, the rest through a buffer."""
        dtype = np.float32 if array.dtype == np.float32 else np.float64
        first, last = (0, 0) if self.locks is None else self.locks.of(array)
        first, last = first // array.itemsize, last // array.itemsize
        there = self._room(name, array.size, dtype, on_device=True)
        if first < last:
            flat = array.reshape(-1)
            there[first:last].copy_(self.torch.from_numpy(flat[first:last]), non_blocking=True)
            edge = self._room(name, 2 * PAGE, dtype, on_device=False)
            for part, at in ((flat[:first], 0), (flat[last:], last)):
                own = edge[PAGE * (at > 0) :][: len(part)]
                own.numpy()[:] = part
                there[at : at + len(part)].copy_(own, non_blocking=True)
        else:
            buffer = self._room(name, array.size, dtype, on_device=False)
            _copy(buffer.numpy().reshape(array.shape), array)
            there.copy_(buffer, non_blocking=True)
        return there.view(array.shape)

    def _room(self, name: str, size: int, dtype: Any, on_device: bool) -> Any:
        """Return room for so many numbers on the device, or page-locked on the host."""
        known = self.rooms.get((name, dtype, on_device))
        if known is None or len(known) < size:
            kind = self.torch.from_numpy(np.empty(0, dtype)).dtype
            options = {"device": self.device} if on_device else {"pin_memory": self.lane is not None}
            known = self.rooms[name, dtype, on_device] = self.torch.empty(size, dtype=kind, **options)
        return known[:size]


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
