"""Fits on clusters: ours on Dask and Spark, Spark's own MLlib, and dask-ml, from the same Parquet files.

Each engine is started, warmed by a run of each contender, measured and stopped before the next one. Processor seconds
are those of all processes that the benchmark started, the JVM and workers that ended included. `make bench` runs all
sections; one at a time they take some minutes each and less than 20 GB, and go on where they were interrupted, as what
was measured is kept beside the files:

    python -m benchmarks.clusters write --folder ROWS              1e7 rows x 20, 8 files, 2.2 GB
    python -m benchmarks.clusters here dask dask-ml --folder ROWS  ours in this process and on Dask; dask-ml, newton
    python -m benchmarks.clusters spark --folder ROWS              ours on Spark
    python -m benchmarks.clusters mllib --problem linear --folder ROWS    and logistic, softmax, poisson, k-means
    python -m benchmarks.clusters exact --folder ROWS              Newton's method in NumPy, for the errors
    python -m benchmarks.clusters passes --folder ROWS             1e8 rows x 20 of zeros and ones: the cost of a pass
    python -m benchmarks.clusters report --folder ROWS             the tables; --output FILE writes them into a report

With --quick there are a twentieth of the rows and fewer turns; --rows and --turns set them.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil

import adaline
from adaline.losses import Logistic
from adaline.sources.engine import Here
from adaline.sums import Moments, Objective, Point, View
from benchmarks import scale_model
from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, ratio, seconds, write

COLUMNS, FILES, GROUP = 20, 8, 2**17
NAMES = [f"x{j}" for j in range(COLUMNS)]
LINEAR, LOGISTIC, SOFTMAX, POISSON, KMEANS = scale_model.systems()
TARGETS = {LINEAR: "y", LOGISTIC: "b", SOFTMAX: "c", POISSON: "n", KMEANS: None}
PROBLEMS = {name.partition(",")[0]: name for name in TARGETS}
DASK = "adaline, Dask"
LONG = 180.0  # seconds from which one run is enough
Array = np.ndarray[Any, Any]


class Run(NamedTuple):
    """Medians of processor and wall seconds, and the coefficients, (K, 1 + D), or centres, (k, D)."""

    processor: float
    wall: float
    theta: Array


Contender = Callable[[], Array]
"""Fits, and returns coefficients or centres."""
Contenders = Iterable[tuple[str, str, Callable[[], Any]]]
"""Problem, name, and what makes a contender ready to run, which is called only where it is to be measured."""


@dataclass(frozen=True)
class Bench:
    """A folder with rows, what has been measured on them, and how much is to be.

    rows, long : of the fits, and of the table of zeros and ones whose passes are measured.
    problems : which ones are measured.
    """

    folder: Path
    rows: int
    long: int
    turns: int
    threads: int
    problems: Sequence[str] = tuple(TARGETS)

    @property
    def files(self) -> str:
        """The folder of the rows."""
        return str(self.folder / "rows")

    def measured(self) -> dict[str, Any]:
        """Return what has been measured: runs by problem and contender, and tables of passes."""
        path = self.folder / "measured.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def keep(self, *names: str, value: Any) -> None:
        """Keep a value under some names."""
        found = at = self.measured()
        for name in names[:-1]:
            at = at.setdefault(name, {})
        at[names[-1]] = value
        (self.folder / "measured.json").write_text(json.dumps(found))

    def runs(self, problem: str) -> dict[str, Run]:
        """Return the runs of a problem, by contender."""
        found = self.measured().get("runs", {}).get(problem, {})
        return {name: Run(processor, wall, np.array(theta)) for name, (processor, wall, theta) in found.items()}

    def measure(self, contenders: Contenders) -> None:
        """Run contenders that were not measured before, once to warm up and then in so many turns; keep medians.

        What takes more than LONG seconds is run once.
        """
        for problem, name, ready in contenders:
            if problem not in self.problems or name in self.runs(problem):
                continue
            with ready() as run:
                first = _spent(run)
                spent = [first] if first.wall > LONG else [_spent(run) for _ in range(self.turns)]
            medians = _medians(spent)
            self.keep("runs", problem, name, value=[*medians, np.asarray(spent[-1].theta).tolist()])
            say(f"{problem}, {name}: {medians[0]:.3g} s of processors, {medians[1]:.3g} s")


def say(text: str) -> None:
    """Tell how far it is."""
    print(f"  {text}", file=sys.stderr, flush=True)


@benchmark("clusters")
def clusters(settings: Settings) -> Section:
    """Linear machines and k-means on clusters."""
    with tempfile.TemporaryDirectory() as folder:
        turns = 2 if settings.quick else 5
        rows = settings.rows(10_000_000), settings.rows(100_000_000)
        bench = Bench(Path(folder), *rows, turns, settings.threads)
        for name, section in SECTIONS.items():
            if name == "write" or find_spec({"spark": "pyspark", "mllib": "pyspark"}.get(name, "distributed")):
                section(bench)
        return report(bench)


# Sections, each of which can be run alone.


def write_rows(bench: Bench) -> None:
    """Write the rows, and a target for each problem, as several Parquet files."""
    import pyarrow as pa
    from pyarrow import parquet

    Path(bench.files).mkdir(parents=True, exist_ok=True)
    for i in range(FILES):
        path = Path(bench.files, f"part-{i}.parquet")
        if path.exists():
            continue
        x, targets = scale_model.made(bench.rows // FILES, COLUMNS, seed=i)
        columns = dict(zip(NAMES, x.T, strict=True))
        columns |= {str(TARGETS[name]): t for name, t in targets.items() if TARGETS[name] is not None}
        parquet.write_table(pa.table(columns), path, row_group_size=GROUP)


def run_here(bench: Bench) -> None:
    """Measure our fits in this process."""
    bench.measure(ours(bench.files, "adaline, one process", None))


def run_dask(bench: Bench) -> None:
    """Measure our fits on Dask, and count the bytes that come to this process."""
    with dask_client(bench.threads) as client, counted_bytes() as sent:
        bench.measure(ours(bench.files, DASK, client))
        bench.measure(ours(bench.files, f"{DASK}, held", client, held=True))
    if sent.passes:
        bench.keep("bytes", value=[sent.bytes / sent.passes, sent.passes])


def run_dask_ml(bench: Bench) -> None:
    """Measure dask-ml, where it is installed."""
    if find_spec("dask_ml") is not None:
        with dask_client(bench.threads):
            bench.measure(dask_contenders(bench.files))


def run_spark(bench: Bench) -> None:
    """Measure our fits on Spark."""
    with spark_session(bench.threads) as spark:
        bench.measure(ours(bench.files, "adaline, Spark", spark))
        frame = spark.read.parquet(bench.files)
        bench.measure(ours(frame, "adaline, Spark, data frame of files", None))
        bench.measure(ours(frame.where("x0 = x0"), "adaline, Spark, computed data frame", None))


def run_mllib(bench: Bench) -> None:
    """Measure MLlib, from files and from rows that Spark holds."""
    with spark_session(bench.threads) as spark:
        bench.measure(spark_contenders(bench.files, spark))


def run_exact(bench: Bench) -> None:
    """Solve the problems by Newton's method in NumPy."""
    for problem in bench.problems:
        if problem != KMEANS and problem not in bench.measured().get("exact", {}):
            near = bench.runs(problem).get(DASK)
            bench.keep("exact", problem, value=exact(problem, bench.files, near and near.theta).tolist())
            say(f"{problem}: solved")


def run_passes(bench: Bench) -> None:
    """Measure passes over rows of zeros and ones, held in this process and by the workers of Dask."""
    folder = write_bits(bench)
    spent: dict[str, dict[str, list[float]]] = {}
    for label in ("one process", "Dask"):
        with dask_client(bench.threads) if label == "Dask" else here() as cluster:
            table = adaline.open_table(folder, target="y", features=NAMES, progress=False, cluster=cluster)
            for name, run in passes(table).items():
                run()
                found = [_spent(run) for _ in range(bench.turns)]
                medians = spent.setdefault(name, {})[label] = _medians(found)
                say(f"a pass, {name}, {label}: {medians[0]:.3g} s of processors, {medians[1]:.3g} s")
    bench.keep("passes", value=[bench.long, spent])


@contextmanager
def here() -> Iterator[Any]:
    """Return an engine that is this process."""
    yield Here(1)


def _spent(run: Callable[[], Any]) -> Run:
    """Return processor and wall seconds of a run, and what it returns."""
    before, start = processor_seconds(), time.perf_counter()
    found = run()
    return Run(processor_seconds() - before, time.perf_counter() - start, found)


def _medians(runs: Sequence[Run]) -> list[float]:
    """Return the medians of processor and wall seconds."""
    return [statistics.median(one) for one in ([run.processor for run in runs], [run.wall for run in runs])]


def passes(table: Any) -> dict[str, Callable[[], Any]]:
    """Return passes over a table by what they sum: a matrix of squares, or a gradient."""
    point = Point(Logistic(), np.zeros((1, 1 + COLUMNS)), View(np.ones(COLUMNS), np.zeros(COLUMNS)))
    return {
        LINEAR: lambda: table.sum(Moments),
        LOGISTIC: lambda: table.sum(Objective, point, outputs=1, second="none"),
    }


def write_bits(bench: Bench) -> str:
    """Write zeros and ones, a byte each in memory, as Parquet files; return their folder."""
    import pyarrow as pa
    from pyarrow import parquet

    folder = bench.folder / "bits"
    folder.mkdir(parents=True, exist_ok=True)
    step = min(2**20, -(-bench.long // FILES))
    for i in range(FILES):
        path = folder / f"part-{i}.parquet"
        if path.exists():
            continue
        rng, writer = np.random.default_rng(i), None
        for _ in range(max(bench.long // FILES // step, 1)):
            bits = np.unpackbits(rng.integers(256, size=(COLUMNS + 1, -(-step // 8)), dtype=np.uint8), axis=1)[:, :step]
            table = pa.table(dict(zip([*NAMES, "y"], bits, strict=True)))
            writer = writer or parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
        assert writer is not None
        writer.close()
    return str(folder)


def report(bench: Bench) -> Section:
    """Return what was measured, as tables."""
    known, tables = bench.measured(), []
    for problem in TARGETS:
        if DASK in bench.runs(problem):
            tables.append(_table(problem, bench.runs(problem), bench))
    machine = scale_model.Cluster(1, bench.threads, 8e9, 2e9, 1e9)
    walls = {problem: bench.runs(problem)[DASK].wall for problem in TARGETS if DASK in bench.runs(problem)}
    if walls:
        tables.append(scale_model.check(walls, bench.rows, COLUMNS, machine))
    if "passes" in known:
        tables += _pass_tables(*known["passes"], bench.threads)
    text = _TEXT
    if "bytes" in known:
        text += "\nTo the driver came {:,.0f} bytes a pass, {} passes.".format(*known["bytes"])
    return Section(f"Clusters: {bench.rows} rows x {COLUMNS}", text, tables)


SECTIONS: dict[str, Callable[[Bench], None]] = {
    "write": write_rows,
    "here": run_here,
    "dask": run_dask,
    "dask-ml": run_dask_ml,
    "spark": run_spark,
    "mllib": run_mllib,
    "exact": run_exact,
    "passes": run_passes,
}


def main() -> None:
    """Read the command line and run the sections it names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.clusters", description=__doc__.partition("\n")[0])
    parser.add_argument("sections", nargs="+", choices=[*SECTIONS, "report"])
    parser.add_argument("--folder", type=Path, required=True, help="where the rows and what is measured are kept")
    parser.add_argument("--problem", action="append", choices=list(PROBLEMS), help="measure this one, not all")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the rows, two turns")
    parser.add_argument("--rows", type=int, help="of the fits (1e7)")
    parser.add_argument("--turns", type=int, help="of which the median counts (5)")
    parser.add_argument("--threads", type=int, default=2, help="workers, or threads, of every contender (2)")
    parser.add_argument("--output", type=Path, help="a report to write the section into, such as docs/benchmarks.md")
    given = parser.parse_args()
    settings = Settings(given.quick, given.threads)
    adaline.set_threads(given.threads)
    rows = given.rows or settings.rows(10_000_000)
    turns = given.turns or (2 if given.quick else 5)
    bench = Bench(given.folder, rows, 10 * rows, turns, given.threads)
    bench = replace(bench, problems=[PROBLEMS[name] for name in given.problem or PROBLEMS])
    given.folder.mkdir(parents=True, exist_ok=True)
    for name in given.sections:
        if name != "report":
            SECTIONS[name](bench)
            continue
        print(found := report(bench), flush=True)
        if given.output is not None:
            write(given.output, [found], given.threads, whole=False)


def processor_seconds() -> float:
    """Return the processor time of this process and all that descend from it, those that ended included."""
    own = psutil.Process()
    total = 0.0
    for one in [own, *own.children(recursive=True)]:
        try:
            used = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += used.user + used.system + used.children_user + used.children_system
    return total


@dataclass
class Sent:
    """Bytes that came to the driver from passes over Dask."""

    bytes: int = 0
    passes: int = 0


@contextmanager
def counted_bytes() -> Iterator[Sent]:
    """Count what comes back from passes over Dask."""
    from adaline.sources.engines.dask import DaskHeld

    sent, totals = Sent(), DaskHeld.totals

    def counting(*arguments: Any) -> Any:
        out = totals(*arguments)
        sent.bytes, sent.passes = sent.bytes + len(pickle.dumps(out)), sent.passes + 1
        return out

    DaskHeld.totals = counting  # type: ignore[method-assign]
    try:
        yield sent
    finally:
        DaskHeld.totals = totals  # type: ignore[method-assign]


# Contenders.


def ours(data: Any, label: str, cluster: Any, held: bool = False) -> Contenders:
    """Return fits of ours to files or a data frame, opening included unless the rows are held."""
    for problem, make in scale_model.systems().items():

        def opened(problem: str = problem) -> Any:
            return adaline.open_table(data, target=TARGETS[problem], features=NAMES, progress=False, cluster=cluster)

        @contextmanager
        def ready(
            problem: str = problem, make: Callable[[], Any] = make, opened: Callable[[], Any] = opened
        ) -> Iterator[Contender]:
            before = opened() if held else None

            def run() -> Array:
                model = make().fit(opened() if before is None else before)
                return model.cluster_centers_ if problem == KMEANS else theta_of(model.intercept_, model.coef_)

            yield run

        yield problem, label, ready


def theta_of(intercept: Any, coef: Any) -> Array:
    """Return (K, 1 + D), the intercepts first; of all classes, about their mean."""
    rows = np.atleast_2d(np.asarray(coef, dtype=float))
    theta = np.column_stack([np.ravel(intercept), rows])
    return theta - theta.mean(axis=0) if len(theta) > 1 else theta


@contextmanager
def dask_client(workers: int) -> Iterator[Any]:
    """Start a cluster of Dask, of one process a worker."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, processes=True, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def dask_contenders(folder: str) -> Contenders:
    """Return the fits of dask-ml to rows that the workers hold."""
    import dask.dataframe as dd
    from dask_ml import cluster, linear_model
    from distributed import wait

    made = {
        LINEAR: linear_model.LinearRegression,
        LOGISTIC: linear_model.LogisticRegression,
        POISSON: linear_model.PoissonRegression,
    }

    @contextmanager
    def held(name: str) -> Iterator[Contender]:
        frame = dd.read_parquet(folder).persist()  # after which partitions stay as they are
        x = frame[NAMES].to_dask_array(lengths=True).persist()
        if name == KMEANS:
            wait(x)
            del frame
            yield lambda: np.asarray(cluster.KMeans(8, random_state=0, max_iter=50).fit(x).cluster_centers_)
            return
        y = frame[TARGETS[name]].to_dask_array(lengths=True).persist()
        wait([x, y])
        del frame

        def run() -> Array:
            model = made[name](solver="newton").fit(x, y)
            return theta_of(model.intercept_, model.coef_)

        yield run

    for name in made:
        yield name, "dask-ml, newton, held", lambda name=name: held(name)
    yield KMEANS, "dask-ml, at most 50 steps, held", lambda: held(KMEANS)


@contextmanager
def spark_session(cores: int) -> Iterator[Any]:
    """Start Spark in one JVM."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.memory", "6g").config("spark.driver.maxResultSize", "2g").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()


def spark_contenders(folder: str, spark: Any) -> Contenders:
    """Return MLlib's fits from files and from rows that Spark holds."""
    from pyspark.ml.feature import VectorAssembler

    frame = VectorAssembler(inputCols=NAMES, outputCol="features").transform(spark.read.parquet(folder))

    @contextmanager
    def ready(problem: str, fit: Callable[[Any], Array], cached: bool) -> Iterator[Contender]:
        target = TARGETS[problem]
        rows = frame.select("features", *([frame[target].alias("label")] if target else []))
        if cached:
            rows = rows.cache()
            rows.count()
        yield lambda: fit(rows)
        if cached:
            rows.unpersist(blocking=True)

    for problem, label, fit in mllib():
        for cached, how in ((False, "from files"), (True, "cached")):
            made = partial(ready, problem, fit, cached)
            yield problem, f"MLlib{label}, {how}", made


def mllib() -> Iterator[tuple[str, str, Callable[[Any], Array]]]:
    """Return problem, what to say of the method, and a fit of MLlib."""
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.regression import GeneralizedLinearRegression, LinearRegression

    def regression(make: Callable[[], Any]) -> Callable[[Any], Array]:
        def fit(rows: Any) -> Array:
            model = make().fit(rows)
            return theta_of(model.intercept, model.coefficients.toArray())

        return fit

    yield LINEAR, ", normal equations", regression(lambda: LinearRegression(solver="normal"))
    yield LINEAR, ", l-bfgs", regression(lambda: LinearRegression(solver="l-bfgs"))
    yield LOGISTIC, "", _logistic("binomial")
    yield LOGISTIC, ", GLM", regression(lambda: GeneralizedLinearRegression(family="binomial"))
    yield SOFTMAX, "", _logistic("multinomial")
    yield POISSON, ", GLM", regression(lambda: GeneralizedLinearRegression(family="poisson"))
    yield KMEANS, "", lambda rows: np.array(KMeans(k=8, seed=1).fit(rows).clusterCenters())


def _logistic(family: str) -> Callable[[Any], Array]:
    from pyspark.ml.classification import LogisticRegression

    def fit(rows: Any) -> Array:
        model = LogisticRegression(family=family).fit(rows)
        return theta_of(model.interceptVector.toArray(), model.coefficientMatrix.toArray())

    return fit


# How exact they are.


def blocks(folder: str, target: str | None) -> Iterator[tuple[Array, Array]]:
    """Return a column of ones with X, and the target, of each file."""
    from pyarrow import parquet

    for path in sorted(Path(folder).glob("*.parquet")):
        table = parquet.read_table(path, columns=NAMES if target is None else [*NAMES, target])
        x = np.column_stack([np.ones(table.num_rows), *(table[name].to_numpy() for name in NAMES)])
        yield x, np.zeros(len(x)) if target is None else table[target].to_numpy()


def exact(problem: str, folder: str, near: Array | None) -> Array:
    """Return the coefficients by Newton's method in NumPy, until a step changes nothing, (K, 1 + D).

    Where it starts saves steps: near the coefficients of a fit, if there is one.
    """
    machines = scale_model.CLASSES - 1 if problem == SOFTMAX else 1
    theta = np.zeros((machines, 1 + COLUMNS))
    if near is not None:
        theta += near[1:] - near[0] if problem == SOFTMAX else near
    for _ in range(30):
        gradient, hessian = np.zeros(theta.size), np.zeros((theta.size, theta.size))
        for a, y in blocks(folder, TARGETS[problem]):
            mean, curvature = _rows(problem, a @ theta.T)
            wanted = (y[:, None] == np.arange(1, 1 + machines)).astype(float) if problem == SOFTMAX else y[:, None]
            gradient += ((wanted - mean).T @ a).ravel()
            for j in range(machines):
                for k in range(j + 1):
                    own = [slice(i * (1 + COLUMNS), (i + 1) * (1 + COLUMNS)) for i in (j, k)]
                    hessian[own[0], own[1]] += a.T @ (curvature(j, k)[:, None] * a)
        hessian = np.tril(hessian) + np.tril(hessian, -1).T
        step = np.linalg.solve(hessian, gradient).reshape(theta.shape)
        theta += step
        if np.abs(step).max() < 1e-14 * np.abs(theta).max():
            break
    return theta_of(*_split(np.vstack([np.zeros(1 + COLUMNS), theta]) if problem == SOFTMAX else theta))


def _split(theta: Array) -> tuple[Array, Array]:
    return theta[:, 0], theta[:, 1:]


def _rows(problem: str, z: Array) -> tuple[Array, Callable[[int, int], Array]]:
    """Return the means of rows under outputs z, (n, K), and their covariances as a function of two machines."""
    if problem == LINEAR:
        return z, lambda j, k: np.ones(len(z))
    if problem == POISSON:
        mean = np.exp(z)
        return mean, lambda j, k: mean[:, 0]
    grown = np.exp(z - np.maximum(z.max(axis=1, keepdims=True), 0.0))
    zero = np.exp(-np.maximum(z.max(axis=1, keepdims=True), 0.0))
    mean = grown / (zero + grown.sum(axis=1, keepdims=True))
    return mean, lambda j, k: mean[:, j] * ((j == k) - mean[:, k])


def distances(folder: str, centres: Array) -> float:
    """Return the sum of squared distances of the rows to the nearest of some centres."""
    total = 0.0
    for a, _ in blocks(folder, None):
        x = a[:, 1:]
        square = (x**2).sum(axis=1)[:, None] - 2 * x @ centres.T + (centres**2).sum(axis=1)
        total += float(square.min(axis=1).sum())
    return total


def _table(problem: str, runs: dict[str, Run], bench: Bench) -> Table:
    solved = bench.measured().get("exact", {})
    if problem == KMEANS:
        cost = {name: distances(bench.files, run.theta) for name, run in runs.items()}
        errors = {name: value / min(cost.values()) - 1 for name, value in cost.items()}
    elif problem in solved:
        errors = {name: float(np.abs(run.theta / np.array(solved[problem]) - 1).max()) for name, run in runs.items()}
    else:
        errors = dict.fromkeys(runs, np.nan)
    base = runs[DASK]
    lines = [
        [
            name,
            seconds(run.processor),
            seconds(run.wall),
            ratio(run.processor / base.processor),
            ratio(run.wall / base.wall),
            f"{errors[name]:.1e}",
        ]
        for name, run in runs.items()
    ]
    last = "distances over the least" if problem == KMEANS else "worst coefficient's error"
    heading = ["", "processors", "wall", "processors / ours on Dask", "wall / ours", last]
    return Table(problem, heading, lines)


def _pass_tables(rows: int, spent: dict[str, dict[str, list[float]]], threads: int) -> list[Table]:
    lines, expected = [], []
    for name, found in spent.items():
        (processor, wall), (there, wall_there) = found["one process"], found["Dask"]
        shown = [seconds(one) for one in (processor, wall, there, wall_there)]
        lines.append([name, *shown, f"{there / processor - 1:+.0%}", f"{wall_there / wall - 1:+.0%}"])
        model = rows * scale_model.measured_work(COLUMNS)[name].row / threads
        expected.append([name, seconds(wall_there), seconds(model), ratio(wall_there / model)])
    columns = ["", "processors", "wall", "Dask, processors", "Dask, wall", "overhead, processors", "overhead, wall"]
    return [
        Table(f"A pass over {rows:.0e} rows x {COLUMNS} that are held", columns, lines),
        Table(
            f"The model at {rows:.0e} rows x {COLUMNS}, a pass", ["", "measured", "model", "measured / model"], expected
        ),
    ]


_TEXT = """
Parquet files of eight groups of rows; opening is included, but for what is cached or held before. Medians, after a run
that warms the JVM; of what takes minutes, a single run. Errors are against Newton's method in NumPy on the same rows,
run until a step changes nothing. What was measured is kept, so that runs may be of different days.
Passes are over zeros and ones, a byte each, that this process holds in threads, or workers of Dask.
"""

if __name__ == "__main__":
    main()
