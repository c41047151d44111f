"""Threads: tasks on a pool, and sums merged in a fixed binary tree. No other module starts threads for arithmetic.

The tree is by block index, whichever thread finishes first, so the result has the same bits on 1 or 16 threads.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from itertools import count
from typing import Any, Generic, Protocol, TypeVar

from adaline.errors import AdalineWarning, InvalidParameter, warn
from adaline.locks import Lock

T = TypeVar("T")


class Mergeable(Protocol):
    """What `tree_sum` can add: a sum, or anything else that takes in another of its kind."""

    def merge(self, other: Any, /) -> None:
        """Take in another one."""


S = TypeVar("S", bound=Mergeable)

SMALL_SIDE = 1000  # of a matrix: up to it, threads of BLAS gain little, and lose much where cores are busy
# of a matrix: up to it, BLAS uses one thread in any case (OpenBLAS 0.3 up to 25); doubled, some routines use several
TINY_SIDE = 16

_chosen: int | None = None
_own = threading.local()
_limit_lock = Lock()
_limiting: list[int] = []  # the threads of the calls of `one_blas_thread` that have not ended
_unlimited: list[tuple[Any, int]] = []  # the libraries of BLAS and their threads, while they are limited


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


@contextmanager
def at_most(n: int | None) -> Iterator[None]:
    """Let the calling thread use n threads meanwhile, those that a worker of a cluster has; None changes nothing."""
    before, _own.threads = getattr(_own, "threads", None), n
    try:
        yield
    finally:
        _own.threads = before


def threads() -> int:
    """Return the number of threads in use."""
    own: int | None = getattr(_own, "threads", None)
    if own is not None:
        return own
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


class Forest(Generic[S]):
    """Sums of leaves 0, 1, ... in a fixed binary tree: neighbours of a level merge as soon as both are there.

    Leaves may come in any order, from several threads, and forests of other leaves may be taken in: the total has the
    same bits. `nodes` are the sums that wait for a neighbour, by level and index in it.
    """

    def __init__(self) -> None:
        self.nodes: dict[tuple[int, int], S] = {}
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Forest.of, (self.nodes,)

    @classmethod
    def of(cls, nodes: dict[tuple[int, int], S]) -> Forest[S]:
        """Return the forest of nodes, merged where they are neighbours."""
        out = cls()
        for (level, i), node in nodes.items():
            out.put(i, node, level)
        return out

    def put(self, i: int, node: S, level: int = 0) -> None:
        """Take in node i of a level, and merge it with its neighbour where that is there."""
        while True:
            with self._lock:
                other = self.nodes.pop((level, i ^ 1), None)
                if other is None:
                    self.nodes[level, i] = node
                    return
            left, right = (node, other) if i % 2 == 0 else (other, node)
            left.merge(right)
            node, level, i = left, level + 1, i >> 1

    def take_in(self, other: Forest[S]) -> None:
        """Take in the nodes of another forest."""
        for (level, i), node in other.nodes.items():
            self.put(i, node, level)

    def close(self) -> None:
        """Merge the nodes at the end of the tree, in a forest of neighbouring leaves up to the last one of all."""
        last, *others = sorted(self.nodes, key=lambda at: at[1] << at[0], reverse=True)
        for left in others:
            if left[1] % 2:  # it waits for the node to its left
                return
            self.nodes[left].merge(self.nodes.pop(last))
            last = left

    def total(self) -> S:
        """Return the sum of all leaves; at most one node a level has no neighbour, and these merge from the right."""
        nodes = self.nodes
        (_, total), *rest = nodes.items() if len(nodes) == 1 else sorted(nodes.items(), key=lambda item: item[0][0])
        for _, left in rest:
            left.merge(total)
            total = left
        return total


def done_ahead(tasks: Iterable[Callable[[], T]]) -> Iterator[T]:
    """Return task() of the tasks, in order; while the caller has one at hand, other threads do the next ones.

    Tasks are drawn one at a time by the thread that does them, as drawing may be work too, and at most as many as there
    are threads are ahead of the one at hand. A caller who would wait for one does the next one himself.
    """
    workers = threads()
    if workers <= 1:
        for task in tasks:
            yield task()
        return
    line, pool = _Line(tasks), _pool(workers - 1)
    steps = deque(pool.submit(line.step) for _ in range(workers))
    try:
        for i in count():
            while not line.knows(i):
                if steps and steps[-1].cancel():  # no thread has begun it
                    steps.pop()
                    line.step()
                else:
                    line.wait_for(i)
            if i not in line.done:
                return
            found = line.done.pop(i)
            steps = deque(one for one in steps if not one.done())
            steps.append(pool.submit(line.step))
            yield found.result()
    finally:  # of a caller that has had enough, too
        line.ended = True
        for one in steps:
            if not one.cancel():
                one.exception()


class _Line(Generic[T]):
    """Tasks that threads draw in order, one at a time, and what came out of them, by their number."""

    def __init__(self, tasks: Iterable[Callable[[], T]]) -> None:
        self.tasks, self.drawn, self.ended = iter(tasks), 0, False
        self.done: dict[int, Future[T]] = {}
        self._drawing, self._changed = threading.Lock(), threading.Condition()

    def step(self) -> None:
        """Draw the next task, if there is one, and do it."""
        with self._drawing:
            task = None if self.ended else self._draw()
            i = self.drawn
            if task is None:
                self.ended = True
            else:
                self.drawn += 1
        try:
            if task is not None:
                self._do(i, task)
        finally:
            with self._changed:
                self._changed.notify_all()

    def _draw(self) -> Callable[[], T] | None:
        try:
            return next(self.tasks, None)
        except BaseException as error:
            return partial(_raise, error)  # in the place of the task that would have come

    def _do(self, i: int, task: Callable[[], T]) -> None:
        out: Future[T] = Future()
        try:
            out.set_result(task())
        except BaseException as error:
            self.ended = True
            out.set_exception(error)
            if not isinstance(error, Exception):  # an interrupt, of the caller
                raise
        finally:
            self.done[i] = out

    def knows(self, i: int) -> bool:
        """Whether task i is done, or there is none."""
        return i in self.done or (self.ended and i >= self.drawn)

    def wait_for(self, i: int) -> None:
        """Wait until task i is known."""
        with self._changed:
            self._changed.wait_for(lambda: self.knows(i))


def _raise(error: BaseException) -> Any:
    raise error


def tree_sum(tasks: Iterable[T], make: Callable[[T], S], most: int | None = None) -> S:
    """Return make(first) + ... + make(last), merged in the fixed tree of a forest; their number need not be known."""
    forest: Forest[S] = Forest()
    run_tasks(tasks, lambda i, task: forest.put(i, make(task)), most)
    return forest.total()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while blocks run, in this thread or another."""
    caller = threading.get_ident()
    with _limit_lock:
        if not _limiting:
            _restore_blas()  # where a thread that a fork left behind did not
            _unlimited[:] = [(library, library.get_num_threads()) for library in _blas()]
            for library, _ in _unlimited:
                library.set_num_threads(1)
        _limiting.append(caller)
    try:
        yield
    finally:
        with _limit_lock:
            _limiting.remove(caller)
            if not _limiting:
                _restore_blas()


@contextmanager
def blas_threads_for(side: int) -> Iterator[None]:
    """Limit BLAS to one thread for matrices with a side of this length, if TINY_SIDE < side <= SMALL_SIDE.

    Threads of BLAS that share a small matrix wait for each other more than they compute. Where other programs use the
    cores, a factorisation of 250 x 126 took 0.5 s on two threads and 2 ms on one, and least squares of 800 columns
    1.4 s of processor time instead of 0.2 s.
    """
    if side > SMALL_SIDE or side <= TINY_SIDE:  # to limit it costs more than to solve ten columns
        yield
        return
    with one_blas_thread():
        yield


def _restore_blas() -> None:
    while _unlimited:
        library, threads = _unlimited.pop()
        library.set_num_threads(threads)


@cache
def _blas() -> list[Any]:
    """Return the libraries of BLAS in this process: the setters of threadpoolctl itself ask for all that it knows."""
    from threadpoolctl import ThreadpoolController  # slow to import

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


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
