"""What can be run: a benchmark is a function from settings to a section of the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.report import Section


@dataclass(frozen=True)
class Settings:
    """How much to run.

    `quick` divides the rows by 20 and takes fewer turns, to see that everything works; its ratios mean little.
    """

    quick: bool = False
    threads: int = 2

    @property
    def rounds(self) -> int:
        """Turns that each contender gets."""
        return 3 if self.quick else 7

    def rows(self, full: int) -> int:
        """Rows to use where a full run has `full`."""
        return full // 20 if self.quick else full


Benchmark = Callable[[Settings], Section]
BENCHMARKS: dict[str, Benchmark] = {}


def benchmark(name: str) -> Callable[[Benchmark], Benchmark]:
    """Register a benchmark under the name that `--only` takes; a name that is taken is refused."""

    def register(run: Benchmark) -> Benchmark:
        if name in BENCHMARKS:
            raise ValueError(f"the benchmark {name!r} of {run.__module__} is in {BENCHMARKS[name].__module__} already")
        BENCHMARKS[name] = run
        return run

    return register
