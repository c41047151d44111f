"""What a fit costs on a cluster, to 1e12 rows of 100 columns: rates measured here, arithmetic for the rest.

`python -m benchmarks.scale_model` measures, in some minutes, on one core: to make rows of Parquet files, to take rows
that are held in parts into the sums of each system, to merge their states, to schedule a task of Dask; and counts
passes and bytes of states. It prints them, and what a fit takes on clusters of several sizes, and which of its terms
decides. With `--guide docs/guide/clusters.md` it rewrites the table of that page. `check` holds the model against
runs that were measured; `python -m benchmarks.clusters report` does so with its own, of 1e7 and 1e8 rows.
"""

from __future__ import annotations

import argparse
import math
import pickle
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import adaline
from adaline import GeneralizedLinear, KMeans, LinearRegression, LogisticRegression
from adaline.sources.engine import Here, merge_forests
from adaline.sources.tables.source import KEPT
from adaline.sources.threads import Forest
from benchmarks.report import Table, ratio, seconds

FAN = 8  # states that one task merges
TURNS = 3  # measurements of which the least counts
WIDTHS = (20, 100)
CLASSES = 5


@dataclass(frozen=True)
class Rates:
    """What was measured on one core.

    decode : bytes a second, from Parquet to rows of doubles that are held.
    task : seconds of the scheduler for each task.
    """

    decode: float
    task: float


@dataclass(frozen=True)
class Work:
    """What a system does for D columns: seconds a row and pass, bytes of a state, seconds to take one in, passes."""

    row: float
    state: int
    merge: float
    passes: int


@dataclass(frozen=True)
class Cluster:
    """Machines, each a worker: cores, bytes of memory for rows, bytes a second from storage and over the network."""

    nodes: int
    cores: int
    memory: float
    storage: float
    network: float


@dataclass(frozen=True)
class Cost:
    """Seconds of a fit by what they are spent on, and in all: reading overlaps with decoding and summing."""

    storage: float
    decode: float
    sums: float
    states: float
    tasks: float
    total: float = 0.0

    @property
    def terms(self) -> dict[str, float]:
        """Seconds by what they are spent on."""
        return {name: value for name, value in vars(self).items() if name != "total"}

    @property
    def decides(self) -> str:
        """The largest term."""
        return max(self.terms, key=lambda name: self.terms[name])


def cost(rows: float, columns: int, work: Work, cluster: Cluster, rates: Rates) -> Cost:
    """Return what a fit costs; rows that fit into the memory of the cluster are read once, others in every pass."""
    size = 8.0 * rows * (columns + 1)
    reads = 1 if size <= cluster.nodes * cluster.memory else work.passes
    cores = cluster.nodes * cluster.cores
    levels = math.ceil(math.log(max(cluster.nodes, 2), FAN))
    merges = math.ceil(cluster.nodes / (FAN - 1))
    found = Cost(
        storage=reads * size / (cluster.nodes * cluster.storage),
        decode=reads * size / (cores * rates.decode),
        sums=work.passes * rows * work.row / cores,
        states=work.passes * levels * FAN * (work.state / cluster.network + work.merge),
        tasks=work.passes * (cluster.nodes + merges) * rates.task,
    )
    share = reads / work.passes  # of the passes, that read from storage
    busy = max(found.storage, found.decode + share * found.sums) + (1 - share) * found.sums
    return replace(found, total=busy + found.states + found.tasks)


CLUSTERS = {
    "2 cores, local disk": Cluster(1, 2, 8e9, 2e9, 1e9),
    "10 machines, 10 Gb/s": Cluster(10, 32, 200e9, 1.25e9, 1.25e9),
    "100 machines, 25 Gb/s": Cluster(100, 32, 200e9, 3.1e9, 3.1e9),
    "1000 machines, 25 Gb/s": Cluster(1000, 32, 900e9, 3.1e9, 3.1e9),
}
"""Sizes of clusters that are assumed, not measured."""


def systems() -> dict[str, Callable[[], Any]]:
    """Return how systems are made, by name."""
    return {
        "linear": LinearRegression,
        "logistic": LogisticRegression,
        f"softmax, {CLASSES} classes": LogisticRegression,
        "poisson": lambda: GeneralizedLinear(loss="poisson"),
        "k-means, 8": lambda: KMeans(n_clusters=8, random_state=0),
    }


def made(rows: int, columns: int, seed: int = 0) -> tuple[np.ndarray[Any, Any], dict[str, np.ndarray[Any, Any]]]:
    """Return X (rows, columns), eight groups of rows, and a target for each system, by its name."""
    truth, rng = np.random.default_rng(0), np.random.default_rng([1, seed])
    x = rng.normal(size=(rows, columns)) + truth.normal(size=(8, columns))[rng.integers(8, size=rows)]
    z = x @ (truth.normal(size=columns) / math.sqrt(columns))
    several = x @ truth.normal(size=(columns, CLASSES)) / math.sqrt(columns) + rng.gumbel(size=(rows, CLASSES))
    targets = (
        z + rng.normal(size=rows),
        (z + rng.logistic(size=rows) > 0).astype(float),
        several.argmax(axis=1).astype(float),
        rng.poisson(np.exp(0.5 * z)).astype(float),
        np.zeros(rows),
    )
    return x, dict(zip(systems(), targets, strict=True))


def least(run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least processor time of several runs, in seconds, and what the last one returned."""
    best, result = math.inf, None
    for _ in range(TURNS):
        start = time.process_time()
        result = run()
        best = min(best, time.process_time() - start)
    return best, result


@cache
def measured_rates(rows: int = 1_000_000, columns: int = 20, tasks: int = 500) -> Rates:
    """Measure how fast Parquet becomes held rows, and how long the scheduler of Dask takes for a task.

    The former is what a fit from files takes more than one to rows that are held.
    """
    adaline.set_threads(1)
    with in_parts("linear", rows, columns) as (opened, _):
        held = opened()
        within, _ = least(lambda: LinearRegression().fit(held))
        spent, _ = least(lambda: LinearRegression().fit(opened()))
    adaline.set_threads(None)
    return Rates(8.0 * rows * (columns + 1) / max(spent - within, 1e-9), _seconds_of_a_task(tasks))


def _seconds_of_a_task(tasks: int) -> float:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.gather(client.map(_nothing, range(tasks), pure=False))
        start = time.perf_counter()
        client.gather(client.map(_nothing, range(tasks), pure=False))
        return (time.perf_counter() - start) / tasks


def _nothing(_: int) -> None:
    """Do what costs nothing but its scheduling."""


@cache
def measured_work(columns: int) -> dict[str, Work]:
    """Measure each system on one thread over a table in parts that is held, and count its passes and its bytes."""
    rows = 2 * KEPT // columns  # twice what one process would hold as an array, and more than caches have room for
    out = {}
    adaline.set_threads(1)
    for name, make in systems().items():
        with in_parts(name, rows, columns) as (opened, engine):
            table = opened()
            make().fit(table)  # from here on the rows are held
            engine.states, engine.bytes, engine.spent = 0, 0, 0.0
            passes = make().fit(table).certificate_.passes
            state, merge = engine.bytes // engine.states, engine.spent / engine.states
            engine.counts = False
            spent, _ = least(lambda make=make, table=table: make().fit(table))
        out[name] = Work(spent / (rows * passes), state, merge, passes)
    adaline.set_threads(None)
    return out


class Counting(Here):
    """Two pretended workers, whose states are counted: bytes, and the seconds to send and take in one, of all."""

    def __init__(self) -> None:
        super().__init__(2)
        self.states, self.bytes, self.spent, self.counts = 0, 0, 0.0, True

    def hold(self, parts: Any, rows: Any = None) -> Any:
        """Return the parts, which tell of the states that are made of them."""
        held: Any = super().hold(parts, rows)
        held.results = partial(self._counted, held.results)
        return held

    def _counted(self, results: Callable[..., Iterator[Any]], *arguments: Any) -> Iterator[Any]:
        for result in results(*arguments):
            if not self.counts:
                yield result
                continue
            sent = pickle.dumps(result)
            self.states, self.bytes = self.states + 1, self.bytes + len(sent)
            if isinstance(result, Forest):
                self.spent += least(lambda sent=sent: merge_forests([pickle.loads(sent)]).total())[0]
            yield result


@contextmanager
def in_parts(name: str, rows: int, columns: int) -> Iterator[tuple[Callable[[], Any], Counting]]:
    """Write rows for a system as a file of eight parts; return how it is opened, and the engine that counts."""
    import pyarrow as pa
    from pyarrow import parquet

    x, targets = made(rows, columns)
    known = {f"x{j}": column for j, column in enumerate(x.T)}
    target = None if name.startswith("k-means") else "y"
    if target is not None:
        known[target] = targets[name]
    with tempfile.TemporaryDirectory() as folder:
        path, engine = Path(folder, "rows.parquet"), Counting()
        parquet.write_table(pa.table(known), path, row_group_size=rows // 8)
        yield lambda: adaline.open_table(path, target=target, cluster=engine, progress=False), engine


def duration(value: float) -> str:
    """Format a time of any length."""
    for unit, size in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if value >= 2 * size:
            return f"{value / size:.3g} {unit}"
    return seconds(value)


def inputs() -> list[Table]:
    """Return what was measured, as tables."""
    rates = measured_rates()
    rows = [
        ["Parquet to rows that are held, a core", f"{rates.decode / 1e9:.2f} GB/s"],
        ["a task of Dask", seconds(rates.task)],
    ]
    out = [Table("Rates", ["", "measured"], rows)]
    for columns in WIDTHS:
        lines = [
            [name, f"{1e-6 / work.row:.2f}", f"{work.passes}", f"{work.state / 1e3:.1f} kB", seconds(work.merge)]
            for name, work in measured_work(columns).items()
        ]
        heading = ["", "million rows/s, a core and pass", "passes", "state", "to receive"]
        out.append(Table(f"Systems, {columns} columns", heading, lines))
    return out


def forecasts(rows: float, columns: int) -> Table:
    """Return what each system takes on each cluster, and what decides."""
    lines = []
    for name, work in measured_work(columns).items():
        for title, cluster in CLUSTERS.items():
            found = cost(rows, columns, work, cluster, measured_rates())
            terms = [duration(value) for value in found.terms.values()]
            lines.append([name, title, duration(found.total), *terms, found.decides])
    heading = ["", "cluster", "fit", "storage", "decode", "sums", "states", "tasks", "decides"]
    return Table(f"{rows:.0e} rows x {columns} columns", heading, lines)


def check(measured: Mapping[str, float], rows: float, columns: int, cluster: Cluster) -> Table:
    """Return the model beside measured seconds of fits, by name of the system."""
    rates, known = measured_rates(), measured_work(columns)
    lines = []
    for name, found in measured.items():
        expected = cost(rows, columns, known[name], cluster, rates).total
        lines.append([name, seconds(found), seconds(expected), ratio(found / expected)])
    return Table(f"The model at {rows:.0e} rows x {columns}", ["", "measured", "model", "measured / model"], lines)


def guide_table() -> Table:
    """Return the table of the guide: passes, rates, and the time of a fit on clusters of three sizes."""
    sizes = [
        ("10 machines, 10 Gb/s", 1e9, 20),
        ("100 machines, 25 Gb/s", 1e11, 100),
        ("100 machines, 25 Gb/s", 1e12, 100),
        ("1000 machines, 25 Gb/s", 1e12, 100),
    ]
    narrow, wide = (measured_work(columns) for columns in WIDTHS)
    lines = []
    for name, work in narrow.items():
        low, high = sorted((work.passes, wide[name].passes))
        rates = ", ".join(f"{1e-6 / one.row:.2g} M" for one in (work, wide[name]))
        times = [
            duration(cost(rows, columns, measured_work(columns)[name], CLUSTERS[title], measured_rates()).total)
            for title, rows, columns in sizes
        ]
        lines.append([name, f"{low}" if low == high else f"{low} to {high}", rates, *times])
    heads = [
        f"{rows:.0e} x {columns}, {title}".replace("e+0", "e").replace("e+", "e") for title, rows, columns in sizes
    ]
    return Table("", ["", "passes", f"rows/s, a core and pass ({WIDTHS[0]}, {WIDTHS[1]} columns)", *heads], lines)


def write_guide(path: Path) -> None:
    """Write the table of the guide anew, in the place of the one that begins with passes."""
    lines = path.read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("|") and " passes " in line)
    last = next(i for i in range(first, len(lines)) if not lines[i].startswith("|"))
    path.write_text("\n".join([*lines[:first], str(guide_table()), *lines[last:]]) + "\n")


def main() -> None:
    """Measure, and print the tables; with --guide write that of the guide."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale_model", description=__doc__.partition("\n")[0])
    parser.add_argument("--guide", type=Path, help="the page whose table is written anew")
    path = parser.parse_args().guide
    for table in [*inputs(), forecasts(1e9, 20), forecasts(1e11, 100), forecasts(1e12, 100)]:
        print(table, end="\n\n", flush=True)
    if path is not None:
        write_guide(path)


if __name__ == "__main__":
    main()
