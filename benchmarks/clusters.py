"""Fits on clusters: ours on Dask and Spark, Spark's own MLlib, and dask-ml, from the same Parquet files.

Each engine is started, warmed by a run of each contender, measured and stopped before the next one. Processor seconds
are those of all processes that the benchmark started, the JVM and workers that ended included.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil

import adaline
from benchmarks import scale_model
from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, ratio, seconds

COLUMNS, FILES, GROUP = 20, 8, 2**17
NAMES = [f"x{j}" for j in range(COLUMNS)]
LINEAR, LOGISTIC, SOFTMAX, POISSON, KMEANS = scale_model.systems()
TARGETS = {LINEAR: "y", LOGISTIC: "b", SOFTMAX: "c", POISSON: "n", KMEANS: None}
Array = np.ndarray[Any, Any]


class Run(NamedTuple):
    """Medians of processor and wall seconds, and the coefficients, (K, 1 + D), or centres, (k, D)."""

    processor: float
    wall: float
    theta: Array


Contender = Callable[[], Array]
"""Fits, and returns coefficients or centres."""


@benchmark("clusters")
def clusters(settings: Settings) -> Section:
    """Linear machines and k-means on clusters."""
    rows, turns = settings.rows(10_000_000), 2 if settings.quick else 5
    runs: dict[str, dict[str, Run]] = {name: {} for name in TARGETS}
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), rows)
        measure(runs, local_contenders(folder), turns)
        with dask_client(settings.threads) as client, counted_bytes() as sent:
            measure(runs, dask_contenders(folder, client), turns)
        if find_spec("pyspark") is not None:
            with spark_session(settings.threads) as spark:
                measure(runs, spark_contenders(folder, spark), turns)
        tables = [_table(name, found, folder) for name, found in runs.items()]
    ours = {name: found["adaline, Dask"].wall for name, found in runs.items()}
    machine = scale_model.Cluster(1, settings.threads, 8e9, 2e9, 1e9)
    text = f"{_TEXT}\nTo the driver came {sent.bytes / max(sent.passes, 1):,.0f} bytes a pass, {sent.passes} passes."
    return Section(
        f"Clusters: {rows} rows x {COLUMNS}", text, [*tables, scale_model.check(ours, rows, COLUMNS, machine)]
    )


def write(folder: Path, rows: int) -> None:
    """Write the rows, and a target for each problem, as several Parquet files."""
    import pyarrow as pa
    from pyarrow import parquet

    for i in range(FILES):
        x, targets = scale_model.made(rows // FILES, COLUMNS, seed=i)
        columns = dict(zip(NAMES, x.T, strict=True))
        columns |= {str(TARGETS[name]): t for name, t in targets.items() if TARGETS[name] is not None}
        parquet.write_table(pa.table(columns), folder / f"part-{i}.parquet", row_group_size=GROUP)


def measure(runs: dict[str, dict[str, Run]], contenders: Iterator[tuple[str, str, Contender]], turns: int) -> None:
    """Run contenders as they come, once to warm up and then in so many turns; medians go into `runs`."""
    for problem, name, run in contenders:
        run()
        spent = []
        for _ in range(turns):
            before, start = processor_seconds(), time.perf_counter()
            theta = run()
            spent.append((processor_seconds() - before, time.perf_counter() - start))
        medians = [statistics.median(one) for one in zip(*spent, strict=True)]
        runs[problem][name] = Run(medians[0], medians[1], theta)
        print(f"  {problem}, {name}: {medians[0]:.3g} s of processors, {medians[1]:.3g} s", file=sys.stderr, flush=True)


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
    import pickle

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


# Contenders: (problem, name, run).


def ours(data: Any, label: str, cluster: Any) -> Iterator[tuple[str, str, Contender]]:
    """Return fits of ours to files or a data frame, opening included."""
    for name, make in scale_model.systems().items():

        def run(name: str = name, make: Callable[[], Any] = make) -> Array:
            table = adaline.open_table(data, target=TARGETS[name], features=NAMES, progress=False, cluster=cluster)
            model = make().fit(table)
            return model.cluster_centers_ if name == KMEANS else theta_of(model.intercept_, model.coef_)

        yield name, label, run


def theta_of(intercept: Any, coef: Any) -> Array:
    """Return (K, 1 + D), the intercepts first; of all classes, about their mean."""
    rows = np.atleast_2d(np.asarray(coef, dtype=float))
    theta = np.column_stack([np.ravel(intercept), rows])
    return theta - theta.mean(axis=0) if len(theta) > 1 else theta


def local_contenders(folder: str) -> Iterator[tuple[str, str, Contender]]:
    """Return our fits in this process."""
    return ours(folder, "adaline, one process", None)


@contextmanager
def dask_client(workers: int) -> Iterator[Any]:
    """Start a cluster of Dask, of one process a worker."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(workers, processes=True, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def dask_contenders(folder: str, client: Any) -> Iterator[tuple[str, str, Contender]]:
    """Return our fits on Dask, and those of dask-ml where it is installed."""
    yield from ours(folder, "adaline, Dask", client)
    if find_spec("dask_ml") is None:
        return
    import dask.dataframe as dd
    from dask_ml import cluster, linear_model

    frame = dd.read_parquet(folder)
    x = frame[NAMES].to_dask_array(lengths=True).persist()
    made = {
        LINEAR: linear_model.LinearRegression,
        LOGISTIC: linear_model.LogisticRegression,
        POISSON: linear_model.PoissonRegression,
    }
    for name, cls in made.items():
        y = frame[TARGETS[name]].to_dask_array(lengths=True).persist()

        def run(cls: Any = cls, y: Any = y) -> Array:
            model = cls(solver="newton").fit(x, y)
            return theta_of(model.intercept_, model.coef_)

        yield name, "dask-ml, newton, held", run
    yield KMEANS, "dask-ml, held", lambda: np.asarray(cluster.KMeans(8, random_state=0).fit(x).cluster_centers_)


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


def spark_contenders(folder: str, spark: Any) -> Iterator[tuple[str, str, Contender]]:
    """Return MLlib's fits from files and from rows that Spark holds, and ours where the engine is there."""
    from pyspark.ml.feature import VectorAssembler

    frame = VectorAssembler(inputCols=NAMES, outputCol="features").transform(spark.read.parquet(folder))
    for problem, label, fit in mllib():
        target = TARGETS[problem]
        rows = frame.select("features", *([frame[target].alias("label")] if target else []))
        yield problem, f"MLlib{label}, from files", lambda fit=fit, rows=rows: fit(rows)
        held = rows.cache()
        held.count()
        yield problem, f"MLlib{label}, cached", lambda fit=fit, held=held: fit(held)
        held.unpersist(blocking=True)
    if find_spec("adaline.sources.engines.spark") is not None:
        yield from ours(folder, "adaline, Spark", spark)
        yield from ours(spark.read.parquet(folder), "adaline, Spark, data frame", None)


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


def exact(problem: str, folder: str) -> Array:
    """Return the coefficients by Newton's method in NumPy, until a step changes nothing, (K, 1 + D)."""
    machines = scale_model.CLASSES - 1 if problem == SOFTMAX else 1
    theta = np.zeros((machines, 1 + COLUMNS))
    for _ in range(30):
        gradient, hessian = np.zeros(theta.size), np.zeros((theta.size, theta.size))
        for a, y in blocks(folder, TARGETS[problem]):
            mean, curvature = _rows(problem, a @ theta.T)
            wanted = (y[:, None] == np.arange(1, 1 + machines)).astype(float) if problem == SOFTMAX else y[:, None]
            gradient += ((wanted - mean).T @ a).ravel()
            for j in range(machines):
                for k in range(machines):
                    own = (slice(j * (1 + COLUMNS), (j + 1) * (1 + COLUMNS)), slice(k * (1 + COLUMNS), None))
                    hessian[own][:, : 1 + COLUMNS] += a.T @ (curvature(j, k)[:, None] * a)
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


def _table(problem: str, runs: dict[str, Run], folder: str) -> Table:
    if problem == KMEANS:
        cost = {name: distances(folder, run.theta) for name, run in runs.items()}
        least = min(cost.values())
        errors = {name: value / least - 1 for name, value in cost.items()}
    else:
        truth = exact(problem, folder)
        errors = {name: float(np.abs(run.theta / truth - 1).max()) for name, run in runs.items()}
    base = runs["adaline, Dask"]
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


_TEXT = """
Parquet files of eight groups of rows; opening is included, but for what is cached or held before. Medians, after a run
that warms the JVM. Errors are against Newton's method in NumPy on the same rows, run until a step changes nothing.
"""
