"""How far a fit raises the peak memory of the process above the data, each in a process of its own.

`python -m benchmarks.memory PEER ROWS FEATURES` prints that number in bytes for one contender.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.peers import GLUM, INTELEX, LSTSQ, OURS, OURS_WITH_SUMMARY, SCIKIT_LEARN, STATSMODELS
from benchmarks.problems import regression
from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table
from benchmarks.timing import limit_threads

Array = np.ndarray[Any, Any]

CONTENDERS = {peer.name: peer for peer in (OURS, OURS_WITH_SUMMARY, INTELEX, SCIKIT_LEARN, STATSMODELS, GLUM, LSTSQ)}
QUADRATIC = "degree 2"


@benchmark("memory")
def memory(settings: Settings) -> Section:
    """Peak memory above X and y."""
    rows, features = settings.rows(1_000_000), 100
    lines = []
    for name in CONTENDERS:
        command = [sys.executable, "-m", "benchmarks.memory", name, str(rows), str(features), str(settings.threads)]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        lines.append((name, f"{int(output.split()[-1]) / 1e6:.0f} MB"))
    size = rows * features * 8 / 1e6
    table = Table(f"{rows} x {features} ({size:.0f} MB)", ("", "peak above the data"), lines)
    command = [sys.executable, "-m", "benchmarks.memory", QUADRATIC, str(rows), "20", str(settings.threads)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    quadratic = Table(
        f"LogisticRegression of degree 2, {rows} x 20: 231 columns, {rows * 231 * 8 / 1e6:.0f} MB if they were held",
        ("", "peak above the data"),
        [(OURS.name, f"{int(output.split()[-1]) / 1e6:.0f} MB")],
    )
    return Section("Memory", _TEXT, [table, quadratic])


def measure(name: str, rows: int, features: int, threads: int) -> int:
    """Bytes by which the peak of this process after a fit exceeds what it held before."""
    limit_threads(threads)
    prepare = _quadratic if name == QUADRATIC else CONTENDERS[name].prepare
    prepare(*regression(1000, 5), True)()  # libraries and thread pools are loaded now, not during the fit
    X, y = regression(rows, features)
    run = prepare(X, y, True)
    before = psutil.Process().memory_info().rss
    run()
    return max(0, peak() - before)


def _quadratic(X: Array, y: Array, fit_intercept: bool) -> Callable[[], Any]:
    from adaline import LogisticRegression, basis

    model = LogisticRegression(basis=basis.Polynomial(degree=2), fit_intercept=fit_intercept)
    above = y > np.median(y) + np.random.default_rng(1).normal(0, np.std(y), len(y))
    return lambda: model.fit(X, above)


def peak() -> int:
    """Largest resident memory so far, in bytes."""
    try:  # Linux: getrusage would carry over the parent's peak
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024


_TEXT = """
Resident memory at its peak, less that just before `fit`, when X and y were there and the library was loaded. An upper
bound: what making the data needed is counted, if it was more. statsmodels and lstsq hold their own copy of X with the
ones before the fit; it is not counted.
"""

if __name__ == "__main__":
    print(measure(sys.argv[1], *map(int, sys.argv[2:5])))
