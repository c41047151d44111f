"""Least squares with absorbed effects against pyfixest with each of its demeaners, and the memory of a large table.

`python -m benchmarks.fixed_effects FILE THREADS` prints by how much a fit raises the peak of its process, in bytes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.memory import peak
from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, ratio, seconds
from benchmarks.timing import limit_threads, race

OURS = "adaline"


@benchmark("fixed_effects")
def fixed_effects(settings: Settings) -> Section:
    """Two columns of levels: a frame in memory, then a file of ten times the rows."""
    import pandas as pd

    frame = pd.DataFrame(_columns(settings.rows(1_000_000)))
    out = [_table("least squares", frame, _least_squares(frame)), _table("poisson", frame, _poisson(frame))]
    seldom = pd.DataFrame(_seldom_moving(settings.rows(1_000_000)))
    out.append(_table("workers that seldom move", seldom, _least_squares(seldom)))
    with tempfile.TemporaryDirectory() as folder:
        rows = settings.rows(10_000_000)
        out.append(_memory(Path(folder) / "rows.parquet", _columns(rows), settings))
        out.append(_memory(Path(folder) / "levels.parquet", _columns(6 * rows // 5, rows), settings))
    return Section("Fixed effects", _TEXT, out)


def _table(kind: str, frame: Any, contenders: dict[str, Callable[[], Any]]) -> Table:
    able, failed = _tried(contenders)
    found = race(able, rounds=5)
    ours = found[OURS].result
    lines = []
    for name, one in found.items():
        own = name == OURS
        coef = np.asarray(one.result.coef_ if own else one.result.coef().to_numpy())
        away = float(np.abs(coef / ours.coef_ - 1).max())
        digits = f"{ours.certificate_.digits:.1f} certified" if own else f"{-np.log10(max(away, 1e-16)):.1f} found"
        times = "-" if own else ratio(one.seconds / found[OURS].seconds)
        lines.append((name, seconds(one.seconds), times, digits, str(one.runs)))
    lines += [(name, "gives up", "-", "-", "1") for name in failed]
    levels = " and ".join(str(frame[name].nunique()) for name in ("worker", "firm"))
    return Table(
        f"{kind}: {len(frame)} rows, 3 columns, {levels} levels", ("", "time", "ratio", "digits", "best of"), lines
    )


def _tried(contenders: dict[str, Callable[[], Any]]) -> tuple[dict[str, Callable[[], Any]], list[str]]:
    """Run each contender once; return those that came to an end, and the names of those whose demeaner gave up."""
    able, failed = {}, []
    for name, run in contenders.items():
        try:
            run()
            able[name] = run
        except ValueError as error:
            print(f"  {name}: {error}", file=sys.stderr)
            failed.append(name)
    return able, failed


def _least_squares(frame: Any) -> dict[str, Callable[[], Any]]:
    from adaline import LinearRegression, open_table

    options: dict[str, Any] = {"target": "y", "features": ["a", "b", "c"], "absorb": ["worker", "firm"]}
    return {
        OURS: lambda: LinearRegression().fit(open_table(frame, **options)),
        **_peers("feols", "y ~ a + b + c | worker + firm", frame),
    }


def _poisson(frame: Any) -> dict[str, Callable[[], Any]]:
    from adaline import GeneralizedLinear, open_table

    options: dict[str, Any] = {"target": "count", "features": ["a", "b", "c"], "absorb": ["worker", "firm"]}
    return {
        OURS: lambda: GeneralizedLinear(loss="poisson").fit(open_table(frame, **options)),
        **_peers("fepois", "count ~ a + b + c | worker + firm", frame),
    }


def _peers(function: str, formula: str, frame: Any) -> dict[str, Callable[[], Any]]:
    """Return pyfixest with each of the demeaners that run on a processor, at its own tolerances."""
    try:
        import pyfixest
        from pyfixest.demeaners import LsmrDemeaner, MapDemeaner
    except ImportError:
        print("  pyfixest is not installed", file=sys.stderr)
        return {}
    demeaners = {"numba": MapDemeaner(backend="numba"), "rust": MapDemeaner(), "within": LsmrDemeaner()}
    run = getattr(pyfixest, function)
    return {
        f"pyfixest, {name}": lambda one=one: run(
            formula, frame, vcov="iid", demeaner=one, fixef_rm="none", store_data=False, copy_data=False, lean=True
        )
        for name, one in demeaners.items()
    }


def _memory(path: Path, columns: dict[str, Any], settings: Settings) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), path)
    rows, levels = len(columns["y"]), [int(columns[name].max()) + 1 for name in ("worker", "firm")]
    command = [sys.executable, "-m", "benchmarks.fixed_effects", str(path), str(settings.threads)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    line = (OURS, seconds(float(output[-3])), f"{int(output[-2]) / 1e6:.0f} MB", output[-1])
    return Table(
        f"Parquet, {rows} rows, {levels[0]} and {levels[1]} levels",
        ("", "time", "peak above the libraries", "digits certified"),
        [line],
    )


def _columns(rows: int, workers: int | None = None) -> dict[str, Any]:
    """Return rows of workers and firms that are drawn at random, a tenth as many workers as rows by default."""
    rng = np.random.default_rng(0)
    worker = rng.integers(0, max(rows // 10, 2) if workers is None else workers, rows)
    return _targets(rng, worker, rng.integers(0, max(rows // 1000, 2), rows))


def _seldom_moving(rows: int) -> dict[str, Any]:
    """Return ten rows for each worker, of whom one in ten moves once, to the next of the firms, which form a ring."""
    rng = np.random.default_rng(0)
    workers, firms = max(rows // 10, 2), max(rows // 200, 2)
    worker = np.arange(rows) // 10 % workers
    home, moves = rng.integers(0, firms, workers), rng.random(workers) < 0.1
    firm = (home[worker] + (moves[worker] & (np.arange(rows) % 10 > 4))) % firms
    return _targets(rng, worker, firm)


def _targets(rng: np.random.Generator, worker: Any, firm: Any) -> dict[str, Any]:
    rows = len(worker)
    effect = rng.normal(size=worker.max() + 1)[worker] + rng.normal(size=firm.max() + 1)[firm]
    a, b, c = rng.normal(size=(3, rows)) + 0.5 * effect
    y = a - 2 * b + 0.5 * c + effect + rng.normal(size=rows)
    count = rng.poisson(np.exp(0.2 * a - 0.1 * b + 0.05 * c + 0.2 * effect)).astype(np.float64)
    return {"y": y, "count": count, "a": a, "b": b, "c": c, "worker": worker, "firm": firm}


_TEXT = """
`LinearRegression().fit(open_table(frame, absorb=["worker", "firm"]))` and `GeneralizedLinear(loss="poisson")`, opening
included, beside `pyfixest.feols` and `fepois` with classical errors, for each of its demeaners, at its own tolerances,
from the same pandas frame. The digits of pyfixest are those that its worst coefficient shares with ours. Workers that
seldom move hang together by few rows; a demeaner that does not come to an end there within its own limit of iterations
gives up. Then Parquet files of ten times the rows and levels, and of nearly as many levels
as rows: by how much the fit raises the peak of a process above what libraries take.
"""

if __name__ == "__main__":
    import time

    from adaline import LinearRegression, open_table

    limit_threads(int(sys.argv[2]))
    small = {name: values[:1000] for name, values in _columns(1000).items()}
    wanted: dict[str, Any] = {"target": "y", "features": ["a", "b", "c"], "absorb": ["worker", "firm"]}
    LinearRegression().fit(open_table(small, **wanted))
    before, start = psutil.Process().memory_info().rss, time.perf_counter()
    model = LinearRegression().fit(open_table(sys.argv[1], progress=False, **wanted))
    print(time.perf_counter() - start, peak() - before, f"{model.certificate_.digits:.1f}")
