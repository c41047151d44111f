"""Run targets for a time, several processes side by side.

A process that dies, or takes over a minute for a case, fails that case and is replaced.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
import time
import traceback
from collections import Counter
from multiprocessing.connection import Connection, wait

from tests.fuzz.targets import SEEDS, kept_seeds, run_case

MOST_SECONDS = 60
MOST_MEMORY = 4 * 2**30  # of a process, in bytes; a sanitizer reserves more than there is


def work(pipe: Connection, memory: bool) -> None:
    """Run the cases that come through a pipe, and send back what came of each."""
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    with open(os.devnull, "w") as nowhere:
        sys.stdout = nowhere
        while True:
            name, seed = pipe.recv()
            try:
                outcome, text = run_case(name, seed), ""
            except BaseException:
                outcome, text = "failed", traceback.format_exc(limit=-6)
            pipe.send((outcome, text))


class Worker:
    """A process and the case that it is at."""

    def __init__(self, memory: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, memory), daemon=True)
        self.process.start()
        theirs.close()
        self.case: tuple[str, int] | None = None
        self.since = time.monotonic()

    def give(self, case: tuple[str, int]) -> None:
        """Begin a case."""
        self.case, self.since = case, time.monotonic()
        self.pipe.send(case)

    def outcome(self) -> tuple[str, str] | None:
        """Return what came of the case; None where it still runs."""
        if self.pipe.poll():
            try:
                return self.pipe.recv()  # type: ignore[no-any-return]
            except (EOFError, OSError):
                self.process.join(10)
                return "failed", f"the process died with exit code {self.process.exitcode}"
        if time.monotonic() - self.since > MOST_SECONDS:
            self.process.kill()
            return "failed", f"no answer within {MOST_SECONDS} seconds"
        return None


def fuzz(names: list[str], seconds: float, first: int, processes: int, memory: bool) -> int:
    """Run cases of the targets in turn, those kept first; print counts and failures, and return the number of these."""
    counts: Counter[tuple[str, str]] = Counter()
    waiting = [case for case in kept_seeds() if case[0] in names]
    number, end = 0, time.monotonic() + seconds
    workers: list[Worker] = [Worker(memory) for _ in range(processes)]
    while workers:
        for worker in list(workers):
            if worker.case is not None:
                found = worker.outcome()
                if found is None:
                    continue
                outcome, text = found
                counts[worker.case[0], outcome] += 1
                if outcome == "failed":
                    _report(worker.case, text)
                worker.case = None
            if not worker.process.is_alive():
                workers[workers.index(worker)] = worker = Worker(memory)
            if time.monotonic() > end:
                worker.process.kill()
                workers.remove(worker)
                continue
            case = waiting.pop(0) if waiting else (names[number % len(names)], first + number // len(names))
            number += 1
            worker.give(case)
        wait([worker.pipe for worker in workers], timeout=1.0)
    for name in names:
        row = {outcome: counts[name, outcome] for outcome in ("worked", "refused", "failed")}
        print(f"{name:12s}" + "".join(f"  {count:8,d} {outcome}" for outcome, count in row.items()))
    return sum(count for (_, outcome), count in counts.items() if outcome == "failed")


def _report(case: tuple[str, int], text: str) -> None:
    """Print a failure, and keep its seed."""
    print(f"FAILED {case[0]} {case[1]}\n{text}", flush=True)
    if case not in kept_seeds():
        last = text.strip().splitlines()[-1][:100]
        with SEEDS.open("a", encoding="utf-8") as file:
            file.write(f"{case[0]} {case[1]}  # {last!a}\n")
