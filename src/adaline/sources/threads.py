"""Threads: tasks on a pool, and sums merged in a fixed binary tree. No other module starts threads for arithmetic.

The tree is by block index, whichever thread finishes first, so the result has the same bits on 1 or 16 threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol, TypeVar

from adaline.errors import AdalineWarning, InvalidParameter, warn
from adaline.locks import Lock

T = TypeVar("T")


class Mergeable(Protocol):
    """What `tree_sum` can add: a sum, or anything else that takes in another of its kind."""

    def merge(self, other: Any, /) -> None:
        """Take in another one."""


S = TypeVar("S", bound=Mergeable)

_chosen: int | None = None
_limit_lock = Lock()
_limiting: list[int] = []  # the threads of the calls of `one_blas_thread` that have not ended
_limit: Any = None  # what restores the numbers of threads of BLAS; None where they are not limited


def set_threads(n: int | None) -> None:
    """Set the number of threads for all fits; None returns to ADALINE_THREADS, or all cores.

    The results do not depend on it, to the last bit.

    Examples
    --------
    >>> import adaline
    >>> adaline.set_threads(2)
    >>> adaline.set_threads(None)
    """
    global _chosen
    if n is not None and (type(n) is not int or n < 1):
        raise InvalidParameter(f"set_threads takes a positive whole number or None, got {n!r}")
    _chosen = n


def threads() -> int:
    """Return the number of threads in use."""
    if _chosen is not None:
        return _chosen
    wanted = os.environ.get("ADALINE_THREADS")
    if wanted is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if wrong := _wrong(wanted):
        raise InvalidParameter(wrong)
    return int(wanted)


def _wrong(wanted: str) -> str:
    """Return what is wrong with the value of ADALINE_THREADS; "" where nothing is."""
    positive = wanted.isdecimal() and int(wanted) > 0
    return "" if positive else f"ADALINE_THREADS must be a positive whole number, got {wanted!r}"


def run_blocks(count: int, work: Callable[[int], None]) -> None:
    """Call work(i) for i = 0 .. count - 1 on all threads; an exception stops the rest."""
    run_tasks(range(count), lambda i, _: work(i), count)


def run_tasks(tasks: Iterable[T], work: Callable[[int, T], None], most: int | None = None) -> None:
    """Call work(i, task) for the tasks on all threads, or on at most `most`; an exception stops the rest.

    Tasks are drawn one at a time, in order, by the next free thread.
    """
    workers = threads() if most is None else 1 if most == 1 else min(threads(), most)
    numbered = iter(enumerate(tasks))
    if workers <= 1:
        for i, task in numbered:
            work(i, task)
        return
    lock = threading.Lock()
    failed = threading.Event()

    def worker() -> None:
        try:
            while not failed.is_set():
                with lock:
                    drawn = next(numbered, None)
                if drawn is None:
                    return
                work(*drawn)
        except BaseException:
            failed.set()
            raise

    helpers = [_pool(workers - 1).submit(worker) for _ in range(workers - 1)]
    try:
        worker()
    finally:
        failed.set()
        errors = [None if one.cancel() else one.exception() for one in helpers]
    for error in errors:
        if error is not None:
            raise error


def tree_sum(tasks: Iterable[T], make: Callable[[T], S], most: int | None = None) -> S:
    """Return make(first) + ... + make(last), merged left to right in a fixed binary tree.

    Neighbours of a level merge as soon as both are there. The number of tasks need not be known: at the end at most one
    node a level is left without a neighbour, and these are merged from the right.
    """
    waiting: dict[tuple[int, int], S] = {}
    lock = threading.Lock()

    def work(i: int, task: T) -> None:
        node, level = make(task), 0
        while True:
            with lock:
                other = waiting.pop((level, i ^ 1), None)
                if other is None:
                    waiting[level, i] = node
                    return
            left, right = (node, other) if i % 2 == 0 else (other, node)
            left.merge(right)
            node, level, i = left, level + 1, i >> 1

    run_tasks(tasks, work, most)
    (_, total), *rest = waiting.items() if len(waiting) == 1 else sorted(waiting.items(), key=lambda item: item[0][0])
    for _, left in rest:
        left.merge(total)
        total = left
    return total


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while blocks run, in this thread or another."""
    global _limit
    caller = threading.get_ident()
    with _limit_lock:
        if not _limiting:
            if _limit is not None:  # of a thread that a fork left behind
                _limit.restore_original_limits()
            _limit = _blas().limit(limits=1)
        _limiting.append(caller)
    try:
        yield
    finally:
        with _limit_lock:
            _limiting.remove(caller)
            if not _limiting:
                _limit.restore_original_limits()
                _limit = None


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController  # slow to import

    return ThreadpoolController().select(user_api="blas")


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="adaline")


def _drop_other_threads() -> None:
    """Forget, in a forked child, the pools, and the calls of `one_blas_thread` by threads that are not there."""
    _pool.cache_clear()
    _limiting[:] = [thread for thread in _limiting if thread == threading.get_ident()]


if wrong := _wrong(os.environ.get("ADALINE_THREADS", "1")):  # said at once: fits of few rows use no threads
    warn(f"{wrong}: fits in threads will refuse it", AdalineWarning)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_other_threads)
