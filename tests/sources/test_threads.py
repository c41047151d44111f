"""Threads change no bit, keep the order, pass on exceptions and survive a fork."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from adaline import LogisticRegression
from adaline.block import Block, Shape
from adaline.errors import AdalineError, InvalidParameter
from adaline.sources import ArraySource, SparseSource, set_threads
from adaline.sources.threads import (
    SMALL_SIDE,
    TINY_SIDE,
    blas_threads_for,
    done_ahead,
    one_blas_thread,
    run_blocks,
    threads,
    tree_sum,
)
from adaline.sums import Moments, Sum
from tests.sums.examples import EXAMPLES, Example, rows_of

pytestmark = pytest.mark.usefixtures("blas_threads")

THREADS = (1, 2, 3, 8)


class Word(Sum):
    """A sum that is a monoid and no more: merging writes down who took in whom, in which order."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        return cls()

    def add(self, block: Block, theta: Any = None) -> None:
        time.sleep(0.001 * (block.first_row % 7))  # so that blocks do not end in order
        self.text = str(block.first_row)

    def merge(self, other: Self) -> None:
        self.text = f"({self.text} {other.text})"


def tree(first: int, last: int) -> str:
    """Return the word of blocks first .. last - 1: full binary trees from the left."""
    if last - first == 1:
        return str(first)
    half = 1 << ((last - first - 1).bit_length() - 1)
    return f"({tree(first, first + half)} {tree(first + half, last)})"


def in_blocks(n: int, rows: int = 1) -> ArraySource:
    """Return the numbers below n, in blocks of some rows."""
    source = ArraySource(np.arange(float(n))[:, None], np.zeros((n, 1)))
    source.rows_per_block = rows
    return source


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 23])
@pytest.mark.parametrize("n", THREADS)
def test_the_tree_is_fixed_by_the_number_of_blocks(count: int, n: int) -> None:
    set_threads(n)
    source = in_blocks(count)
    for _ in range(3):
        assert source.sum(Word).text == tree(0, count)


LAID = [(e, layout) for e in EXAMPLES for layout in ("float64", "csr") if layout in e.layouts]


@pytest.mark.parametrize(("example", "layout"), LAID, ids=lambda one: str(one))
def test_threads_change_no_bit(example: Example, layout: str) -> None:
    """Over the examples of tests/sums, which hold every registered sum."""
    block = example.rows(2_500, layout)
    source = (ArraySource if layout == "float64" else SparseSource)(block.x, block.t, block.weight)
    if isinstance(source, ArraySource):
        source.rows_per_block = 100
    assert source.n_blocks >= 4

    def bits() -> bytes:
        return pickle.dumps(source.sum(example.kind, example.theta, **example.config))

    set_threads(1)
    alone = bits()
    for n in THREADS:
        set_threads(n)
        assert bits() == alone, f"{n} threads"


@pytest.mark.parametrize("n", THREADS)
def test_map_keeps_the_order(n: int) -> None:
    set_threads(n)

    def slowly(block: Block) -> Any:
        time.sleep(0.001 * (block.first_row % 5))
        return block.x[:, 0] * 2

    np.testing.assert_array_equal(in_blocks(40, 3).map(slowly), 2.0 * np.arange(40))


class Refusal(Exception):
    pass


def refuse(*given: Any) -> Any:
    raise Refusal(given)


@pytest.mark.parametrize("n", THREADS)
@pytest.mark.parametrize(("at", "count"), [(0, 1000), (5, 1000), (29, 30)])
def test_an_exception_reaches_the_caller_and_stops_the_rest(n: int, at: int, count: int) -> None:
    set_threads(n)
    started: list[int] = []

    def work(i: int) -> None:
        started.append(i)
        if i == at:
            raise Refusal(f"block {i}")
        time.sleep(0.005 * (i > at))

    with pytest.raises(Refusal, match=f"block {at}"):
        run_blocks(count, work)
    assert len(started) <= min(count, 999)
    started.clear()
    run_blocks(10, started.append)  # and the pool lives on
    assert sorted(started) == list(range(10))


@pytest.mark.parametrize("n", [1, 4])
def test_an_exception_in_a_sum_or_a_map(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    set_threads(n)
    source = in_blocks(8)
    with pytest.raises(Refusal):
        source.map(refuse)
    with monkeypatch.context() as patched:
        patched.setattr(Word, "merge", refuse)
        with pytest.raises(Refusal):
            source.sum(Word)
    assert source.sum(Word).text == tree(0, 8)


@pytest.mark.parametrize("n", THREADS)
def test_tasks_are_done_ahead_in_order_by_all_threads(n: int) -> None:
    set_threads(n)
    drawn: list[int] = []

    def task(i: int) -> tuple[int, int]:
        time.sleep(0.0005 * (i % 5))
        return i, threading.get_ident()

    def tasks() -> Any:
        for i in range(60):
            drawn.append(i)
            yield lambda i=i: task(i)

    found = []
    for i, one in enumerate(done_ahead(tasks())):
        assert len(drawn) <= i + 1 + n  # the one at hand, and n ahead
        found.append(one)
        time.sleep(0.0005 * (i % 7 == 0))
    assert [i for i, _ in found] == drawn == list(range(60))
    assert len({thread for _, thread in found}) <= n
    assert list(done_ahead(iter(()))) == []


@pytest.mark.parametrize("n", THREADS)
@pytest.mark.parametrize("drawing", [False, True])
def test_what_fails_ahead_is_raised_in_its_place(n: int, drawing: bool) -> None:
    set_threads(n)

    def tasks() -> Any:
        for i in range(40):
            if i == 7 and drawing:
                raise Refusal("task 7")
            yield lambda i=i: refuse("task 7") if i == 7 else i

    found: list[int] = []
    with pytest.raises(Refusal, match="task 7"):
        found.extend(done_ahead(tasks()))
    assert found == list(range(7))
    for one in done_ahead(tasks()):
        if one == 3:
            break
    assert list(done_ahead([lambda: 1, lambda: 2])) == [1, 2]  # and the pool lives on


@pytest.mark.parametrize("n", THREADS)
def test_every_block_runs_once_on_n_threads(n: int) -> None:
    set_threads(n)
    together = threading.Barrier(n)
    seen: list[int] = []
    names: set[int] = set()

    def work(i: int) -> None:
        names.add(threading.get_ident())
        if i < n:
            together.wait(30)  # passes only if n blocks run at once
        seen.append(i)

    run_blocks(50, work)
    assert sorted(seen) == list(range(50))
    assert len(names) == n
    run_blocks(0, work)
    assert len(seen) == 50


def test_threads_of_the_caller_do_not_mix() -> None:
    """Several threads of a program may fit at once."""
    block = rows_of(200_000)
    source = ArraySource(block.x, block.t, block.weight)
    set_threads(3)
    sought = source.sum(Moments).buffer
    with ThreadPoolExecutor(4) as callers:
        for found in callers.map(lambda _: source.sum(Moments).buffer, range(4)):
            np.testing.assert_array_equal(found, sought)


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, False, "2", 2.0])
def test_set_threads_refuses(bad: Any) -> None:
    set_threads(2)
    with pytest.raises(InvalidParameter, match=str(bad)):
        set_threads(bad)
    assert threads() == 2


@pytest.mark.parametrize("bad", ["0", "-1", "1.5", "", "two", " ", "²"])
def test_the_environment_is_validated(bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADALINE_THREADS", bad)
    with pytest.raises(AdalineError, match="ADALINE_THREADS"):
        threads()


def test_an_environment_that_means_nothing_is_told_once_at_the_first_use() -> None:
    code = "from adaline import LinearRegression as L; L().fit([[1.0], [2.0]], [1.0, 2.0]); L().fit([[1.0]], [1.0])"
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code],
        **{"env": {**os.environ, "ADALINE_THREADS": "abc"}, "capture_output": True, "text": True, "check": True},
    )
    assert done.stderr.count("AdalineWarning: ADALINE_THREADS must be a positive whole number, got 'abc'") == 1


def test_the_choice_wins_over_the_environment_and_that_over_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = threads()
    assert machine >= 1
    monkeypatch.setenv("ADALINE_THREADS", str(machine + 3))
    assert threads() == machine + 3
    set_threads(machine + 1)
    assert threads() == machine + 1
    set_threads(None)
    assert threads() == machine + 3


def blas_threads() -> set[int]:
    """Return the numbers of threads of NumPy's and SciPy's BLAS; torch may have one of its own."""
    found = (module for module in threadpool_info() if module["user_api"] == "blas")
    return {module["num_threads"] for module in found if "torch" not in module["filepath"]}


def test_blas_is_held_to_one_thread_while_blocks_run() -> None:
    before = blas_threads()
    source = in_blocks(8)
    seen: list[set[int]] = []

    class Watch(Word):
        uses_blas = True

        def add(self, block: Block, theta: Any = None) -> None:
            seen.append(blas_threads())

    def watch(block: Block) -> Any:
        seen.append(blas_threads())
        return block.t[:, 0]

    source.sum(Watch)
    source.map(watch)
    assert seen == [{1}] * 16
    assert blas_threads() == before


def test_blas_is_given_back_after_fits_that_overlap() -> None:
    before = blas_threads()
    if before == {1}:
        pytest.skip("BLAS has one thread here anyway")
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    within = blas_threads()
    second.__exit__(None, None, None)
    after = blas_threads()
    threadpool_limits(max(before), "blas")  # this test, at least, leaves BLAS as it was
    assert (within, after) == ({1}, before)


def test_small_factorisations_run_on_one_thread_of_blas() -> None:
    with threadpool_limits(2, "blas"):
        with blas_threads_for(SMALL_SIDE):
            small = blas_threads()
        with blas_threads_for(SMALL_SIDE + 1):
            large = blas_threads()
        with blas_threads_for(TINY_SIDE):  # where BLAS uses one thread without being told
            tiny = blas_threads()
    assert (small, large, tiny) == ({1}, {2}, {2})


def test_the_refinement_of_a_likelihood_follows_the_same_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    sides: list[int] = []

    def noted(side: int) -> Any:
        sides.append(side)
        return blas_threads_for(side)

    monkeypatch.setattr("adaline.solvers.smooth.refine.blas_threads_for", noted)
    LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    assert sides == [2]


SETUP = """
import os, threading
import multiprocessing
import numpy as np
from adaline.sources import ArraySource, set_threads
from adaline.sums import Moments, Triangle

rng = np.random.default_rng(0)
source = ArraySource(rng.standard_normal((20_000, 3)), rng.standard_normal((20_000, 1)))
source.rows_per_block = 1000
set_threads(3)

def bits():
    return source.sum(Moments).buffer.tobytes() + source.sum(Triangle).r.tobytes()
"""


FORKED = """
before = bits()
child = os.fork()
if child == 0:
    os._exit(0 if bits() == before else 1)
status = os.waitpid(child, 0)[1]
context = multiprocessing.get_context("fork")
with context.Pool(2) as pool:
    parts = [pool.apply(bits) for _ in range(3)]
print(os.waitstatus_to_exitcode(status), all(part == before for part in parts), bits() == before)
"""
SUM_WITHIN_A_MAP = """
def nested():
    source.map(lambda block: source.sum(Moments).buffer[:1])
    print("done", flush=True)

caller = threading.Thread(target=nested, daemon=True)
caller.start()
caller.join(3)
os._exit(0)
"""
# A caller whose tasks no thread takes does all of them himself: as within a task, of which the pool is full.
TASKS_WITHIN_TASKS = """
from adaline.sources.threads import done_ahead
def nested(i):
    return lambda: sum(done_ahead([lambda: i, lambda: sum(done_ahead([lambda: i] * 3))] * 3))
print(list(done_ahead(map(nested, range(5)))) == [12 * i for i in range(5)], flush=True)
os._exit(0)
"""


PROGRAMS = {"forks": FORKED, "a sum within a map": SUM_WITHIN_A_MAP, "tasks within tasks": TASKS_WITHIN_TASKS}


@pytest.mark.parametrize(("name", "printed"), [*zip(PROGRAMS, ("0 True True", "done", "True"), strict=True)])
def test_programs(name: str, printed: str) -> None:
    code = SETUP + PROGRAMS[name]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == printed


def test_one_block_runs_where_it_was_asked_for() -> None:
    set_threads(8)
    names: list[str] = []

    def make(i: int) -> Word:
        names.append(threading.current_thread().name)
        return Word(str(i))

    assert tree_sum([0], make, 1).text == "0"
    assert names == [threading.current_thread().name]
