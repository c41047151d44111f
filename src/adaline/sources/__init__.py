"""Sources: where rows come from, cut into fixed blocks, summed in threads."""

from adaline.sources.array import ArraySource, SparseSource
from adaline.sources.base import Outer, Source
from adaline.sources.device import DeviceSource
from adaline.sources.threads import set_threads, threads

__all__ = ["ArraySource", "DeviceSource", "Outer", "Source", "SparseSource", "set_threads", "threads"]
