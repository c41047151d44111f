"""Reads data while the rest of the program is still being imported, which takes as long."""

from __future__ import annotations

import os
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

from adaline.comparison.open_data import DataRequest
from adaline.comparison.table import ReadData, Task, read_data, told_task
from adaline.sources.tables.database import import_readers

# seconds after which imports make way for a read that waits for the interpreter; 10x larger starts the read later
SWITCH_SECONDS = 1e-4
MOST_READ_AHEAD = 2**30  # bytes of a file that is read ahead; doubling it makes an interrupt wait twice as long


def read_ahead(request: DataRequest, task: Task | None, seed: int, folds: int | None) -> Future[ReadData] | None:
    """Start to read a file on a thread of its own and return where its rows will be; None of what may be too large."""
    name = request.data
    if not (isinstance(name, str) and os.path.isfile(name) and Path(name).stat().st_size <= MOST_READ_AHEAD):
        return None
    import_readers(name)  # here, so that the thread imports nothing that is being imported already
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    thread = ThreadPoolExecutor(1, thread_name_prefix="reading")
    found = thread.submit(read_data, request, partial(told_task, asked=task), seed, folds)
    found.add_done_callback(lambda _: sys.setswitchinterval(before))
    thread.shutdown(wait=False)
    return found
