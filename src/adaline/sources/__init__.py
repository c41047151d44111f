"""Sources: where rows come from, cut into blocks of a fixed size that run in threads."""

from adaline.sources.array import ArraySource, SparseSource
from adaline.sources.base import DualGram, Source
from adaline.sources.device import DeviceSource
from adaline.sources.tables.open_table import open_table
from adaline.sources.tables.source import TableSource
from adaline.sources.threads import set_threads, threads

__all__ = [
    "ArraySource",
    "DeviceSource",
    "DualGram",
    "Source",
    "SparseSource",
    "TableSource",
    "open_table",
    "set_threads",
    "threads",
]
