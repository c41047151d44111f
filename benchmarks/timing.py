"""The clock: contenders take turns in one process, on the same data, and the best run of each counts."""

from __future__ import annotations

import gc
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

PAUSE = 0.25
"""Seconds between runs: thread pools that spin after their work would slow the next contender."""

SLOW = 2.0
"""A contender whose first run takes longer than this many seconds gets `FEW` runs."""

FEW = 2


@dataclass(frozen=True)
class Timing:
    """Best time of a run in seconds, how many runs it is the best of, and what the last one returned."""

    seconds: float
    runs: int
    result: Any


def race(contenders: Mapping[str, Callable[[], Any]], *, rounds: int, calls: int = 1) -> dict[str, Timing]:
    """Run all contenders in turn, `rounds` times, each time `calls` times in a row; a time is that of one call.

    First times go to stderr, for whoever waits.
    """
    best: dict[str, Timing] = {}
    for turn in range(rounds):
        for name, run in contenders.items():
            if turn >= FEW and best[name].seconds * calls > SLOW:
                continue
            gc.collect()
            time.sleep(PAUSE)
            seconds, result = _measure(run, calls)
            if name in best:
                seconds = min(seconds, best[name].seconds)
            best[name] = Timing(seconds, turn + 1, result)
            if turn == 0:
                print(f"  {name}: {seconds:.3g} s", file=sys.stderr, flush=True)
    return best


def _measure(run: Callable[[], Any], calls: int) -> tuple[float, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = None
        start = time.perf_counter()
        for _ in range(calls):
            result = run()
        return (time.perf_counter() - start) / calls, result


def limit_threads(threads: int) -> None:
    """Give every contender the same number of threads: BLAS, OpenMP, oneDAL, and adaline itself."""
    import daal4py

    import adaline

    threadpool_limits(threads)
    daal4py.daalinit(threads)
    adaline.set_threads(threads)
