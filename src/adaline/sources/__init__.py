"""Sources: where rows come from, cut into blocks of a fixed size that run in threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline.lazy import lazily
from adaline.sources.threads import set_threads, threads

if TYPE_CHECKING:
    from adaline.sources.array import ArraySource, SparseSource
    from adaline.sources.base import DualGram, Source
    from adaline.sources.device import DeviceSource
    from adaline.sources.tables.open_table import open_table
    from adaline.sources.tables.source import TableSource

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

__getattr__ = lazily(
    __name__,
    {
        "array": "ArraySource SparseSource",
        "base": "DualGram Source",
        "device": "DeviceSource",
        "tables.open_table": "open_table",
        "tables.source": "TableSource",
    },
)
