"""Spark as an engine: it schedules runs of parts, whose tables its Python workers hold from pass to pass.

Files are read by the workers themselves. What they have made they keep in their memory, as far as it has room, and
make again where it is not there: Spark does not say where a task runs. A data frame is written once as Arrow, on the
disks of the executors, and its lost partitions are computed again. States are merged by index alone.
"""

from __future__ import annotations

import os
import pickle
import sys
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from functools import partial
from typing import Any
from uuid import uuid4

from adaline.errors import AdalineError, InvalidData, InvalidParameter, UnreadableTable
from adaline.sources.engines.base import (
    Engine,
    Held,
    MakePart,
    PartNumbers,
    RowsDone,
    check_version,
    key_of,
    merge_forests,
    pack,
    run_work,
    runs_of_parts,
)
from adaline.sources.tables.batches import SHARE, as_table, free_memory, joined, plain_batch, without_missing
from adaline.sources.tables.parts import TableParts
from adaline.sources.tables.relation import Relation
from adaline.sources.threads import Forest

FIRST = 200_000  # rows that tell what columns hold
CHUNK = 2**25  # bytes of a partition that are written at a time
WAIT = 0.5  # seconds between two looks at how far a job is

OpenedRun = tuple[PartNumbers, list[Any]]
"""The tables of a run of parts, with their indices."""


class SparkEngine(Engine):
    """A cluster of Spark, by its session."""

    def __init__(self, session: Any) -> None:
        self.session, self.context = session, session.sparkContext
        self.threads = int(self.context.getConf().get("spark.task.cpus", "1"))
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="adaline-spark")
        check_versions(self)

    @property
    def workers(self) -> int:  # type: ignore[override]
        """The number of tasks that run at a time now."""
        return max(int(self.context.defaultParallelism), 1)

    def hold(self, parts: Sequence[MakePart], rows: list[list[int]] | None = None) -> Held:
        """Return parts whose tables the workers make in the first pass, and keep."""
        return FilesHeld(self, parts, rows)

    def run(
        self, rdd: Any, partitions: Sequence[int] | None = None, done: RowsDone | None = None, rows: int = 0
    ) -> Any:
        """Return the values of a collection, or of some partitions of it, in order: a job.

        Meanwhile `done` is told the share of `rows` that is done; where this is interrupted the job is cancelled.
        """
        group, told = f"adaline-{uuid4().hex}", 0
        job: Future[Any] = self._thread.submit(self._collect, group, rdd, partitions)
        try:
            while True:
                try:
                    found = job.result(WAIT if done else None)
                    break
                except NotYet:
                    if done and not job.done():
                        now = int(rows * self._share_done(group))
                        done(max(now - told, 0))
                        told = max(now, told)
        except Exception as error:
            raise _explained(error) from error
        except BaseException:
            self.context.cancelJobGroup(group)
            raise
        for one in found:
            if isinstance(one, Refusal):
                raise one.error()
        if done:
            done(rows - told)
        return found

    def _collect(self, group: str, rdd: Any, partitions: Sequence[int] | None) -> Any:
        self.context.setJobGroup(group, "adaline", True)
        return self.context.runJob(rdd, _caught, partitions)

    def _share_done(self, group: str) -> float:
        """Return the share of the tasks of a group of jobs that have ended."""
        tracker = self.context.statusTracker()
        jobs = filter(None, map(tracker.getJobInfo, tracker.getJobIdsForGroup(group)))
        stages = list(filter(None, (tracker.getStageInfo(stage) for job in jobs for stage in job.stageIds)))
        return float(sum(one.numCompletedTasks for one in stages) / max(sum(one.numTasks for one in stages), 1))


class Refusal:
    """An error of a worker as a value: what is wrong with the data is not tried again."""

    def __init__(self, error: Exception) -> None:
        self.given = error

    def error(self) -> Exception:
        """Return the error to be raised."""
        if isinstance(self.given, ModuleNotFoundError):
            return InvalidParameter(f"a worker of the cluster lacks {self.given.name}: install adaline[spark] on all")
        return self.given


def _caught(found: Iterable[Any]) -> Iterator[Any]:
    """Return what a task finds; an error that is not of the cluster as the last of it."""
    try:
        yield from found
    except (AdalineError, ModuleNotFoundError) as error:
        yield Refusal(error)


def _explained(error: Exception) -> Exception:
    """Return a failure of a job as an error of one line."""
    if isinstance(error, AdalineError) or type(error).__module__.partition(".")[0] not in ("py4j", "pyspark"):
        return error
    lines = [line.strip() for line in str(getattr(error, "java_exception", error)).splitlines()]
    lines = [line for line in lines if line and not line.startswith(("at ", "...", "Driver stacktrace"))]
    causes = [line for line in lines if "Error: " in line or "Exception: " in line]
    return UnreadableTable(f"the cluster could not do its part: {(causes or lines or [type(error).__name__])[-1]}")


class SparkHeld(Held):
    """Parts on a cluster of Spark, in runs: one task each."""

    def __init__(self, engine: SparkEngine) -> None:
        self.engine = engine

    @abstractmethod
    def opened(self, numbers: Sequence[PartNumbers]) -> Any:
        """Return a collection with the opened tables of one run of parts in each partition."""

    def results(self, work: bytes, numbers: Sequence[PartNumbers], done: RowsDone) -> Iterator[Any]:
        """Return the result of each run, in the order of the parts."""
        return iter(self.engine.run(self._run(work, numbers), None, done, sum(map(sum, self.rows))))

    def column(self, work: bytes, numbers: Sequence[PartNumbers]) -> Any:
        """Return a data frame with the number of each row, `row`, and its values; computed when it is asked for."""
        from pyspark.sql.pandas.types import from_arrow_schema

        opened, threads = self.opened(numbers), self.engine.threads
        schema = None
        for partition in range(opened.getNumPartitions()):
            (schema,) = self.engine.run(opened.map(partial(_schema, work, threads)), [partition])
            if schema is not None:
                break
        chunks = opened.flatMap(partial(_column_chunks, work, threads))
        frame = self.engine.session.createDataFrame(chunks, "chunk binary", verifySchema=False)
        return frame.mapInArrow(_batches, from_arrow_schema(schema))

    def _run(self, work: bytes, numbers: Sequence[PartNumbers]) -> Any:
        last = max((at[0] for part in numbers for at in part if at is not None), default=0)
        return self.opened(numbers).flatMap(partial(_run, work, self.engine.threads, last))


class FilesHeld(SparkHeld):
    """Parts of files, which each worker makes, and keeps while it has room."""

    def __init__(self, engine: SparkEngine, parts: Sequence[MakePart], rows: list[list[int]] | None) -> None:
        super().__init__(engine)
        self.parts, self.packed = parts, [(key_of(part), pack(part)) for part in parts]
        self.runs, self.name = aligned_runs(len(parts), engine.workers), uuid4().hex
        if rows is None:
            counts = self._spread([[self.packed[i] for i in run] for run in self.runs])
            rows = [part for run in engine.run(counts.map(partial(_count, self.name))) for part in run]
        self.rows = rows

    def opened(self, numbers: Sequence[PartNumbers]) -> Any:
        """Return the runs of parts, opened where a task of each runs."""
        runs = [([one for i in run for one in numbers[i]], [self.packed[i] for i in run]) for run in self.runs]
        return self._spread(runs).map(partial(_open_run, self.name))

    def tables(self) -> Iterator[list[Any]]:
        """Return the tables of each part, made by this process."""
        return (part() for part in self.parts)

    def _spread(self, runs: list[Any]) -> Any:
        return self.engine.context.parallelize(runs, len(runs))


class FrameHeld(SparkHeld):
    """Partitions of a data frame as Arrow, on the disks of the executors."""

    def __init__(self, engine: SparkEngine, frame: Any, columns: Sequence[str], required: Sequence[str]) -> None:
        from pyspark import StorageLevel

        super().__init__(engine)
        names = [f"`{name.replace('`', '``')}`" for name in dict.fromkeys([*columns, *required])]
        chunks = frame.select(*names).mapInArrow(partial(_chunks, list(columns), list(required)), "chunk binary")
        self.written = chunks.rdd.map(_bytes).persist(StorageLevel.DISK_ONLY)
        self.rows = engine.run(self.written.mapPartitions(_count_chunks))

    def opened(self, numbers: Sequence[PartNumbers]) -> Any:
        """Return the partitions, opened where Spark runs their tasks: mostly where they were written."""
        return self.written.mapPartitionsWithIndex(partial(_open_chunks, list(numbers), self.rows))

    def totals(self, work: bytes, numbers: Sequence[PartNumbers], done: RowsDone) -> Forest[Any]:
        """Return the forest of all leaves; those of many partitions are merged on the cluster first."""
        runs = aligned_runs(len(self.rows), self.engine.workers)
        if len(self.rows) <= 2 * len(runs):
            return super().totals(work, numbers, done)
        forests = self._run(work, numbers).mapPartitions(_caught)
        forests = forests.mapPartitionsWithIndex(partial(_named, [run.stop for run in runs]))
        merged = forests.partitionBy(len(runs), int).mapPartitions(partial(_merge, len(runs) - 1))
        return merge_forests(self.engine.run(merged, None, done, sum(map(sum, self.rows))))

    def tables(self) -> Iterator[list[Any]]:
        """Return the tables of each partition, brought to this process."""
        opened = self.opened([[(0, 0)] * len(part) for part in self.rows])
        for partition in range(len(self.rows)):
            yield self.engine.run(opened, [partition])[0][1]


def aligned_runs(parts: int, workers: int) -> list[range]:
    """Return contiguous runs of parts, at most one for each worker and as equal as their merged sums allow.

    Runs begin at multiples of 2^k parts, k the least for which the sums of all runs, merged in the tree of sums, are at
    most two a worker: what a pass sends to this process.
    """
    step, end = 1, 1 << parts.bit_length()  # the end of the tree is merged too
    while True:
        runs = runs_of_parts(-(-parts // step), workers)
        begins = [step * run.start for run in runs]
        if sum(map(_nodes, begins, [*begins[1:], end])) <= 2 * workers:
            return list(map(range, begins, [*begins[1:], parts]))
        step *= 2


def _nodes(first: int, last: int) -> int:
    """Return the number of nodes of the tree of sums that leaves first to last - 1 are merged to."""
    nodes = 0
    while first < last:
        nodes += (first & 1) + (last & 1)
        first, last = (first + 1) >> 1, last >> 1
    return nodes


# What follows runs on the workers.

_kept: dict[str, tuple[str, list[Any]]] = {}
"""Tables of parts that this process holds, by their names, with the name of the `FilesHeld` that used them last."""


def _made(owner: str, key: str, packed: bytes) -> list[Any]:
    """Return the tables of a part: those that are kept, or made now, and kept if there is room.

    There is if all that is kept takes at most its share of the free memory; what others use no more makes room.
    """
    tables = _kept[key][1] if key in _kept else pickle.loads(packed)()
    _kept[key] = owner, tables
    sizes = {name: sum(table.nbytes for table in found) for name, (_, found) in _kept.items()}
    room = SHARE * (free_memory() + sum(sizes.values())) - sum(sizes.values())
    for name in [*(name for name, (of, _) in _kept.items() if of != owner), key]:
        if room < 0:
            del _kept[name]
            room += sizes[name]
    return tables


def _open_run(owner: str, run: tuple[PartNumbers, list[tuple[str, bytes]]]) -> OpenedRun:
    return run[0], [table for part in run[1] for table in _made(owner, *part)]


def _count(owner: str, run: list[tuple[str, bytes]]) -> list[list[int]]:
    return [[table.num_rows for table in _made(owner, *part)] for part in run]


def _run(work: bytes, threads: int, last: int, opened: OpenedRun) -> Iterator[Any]:
    """Return the result of a work for a run of parts, none where they have no rows; `last` is the table's last leaf."""
    if any(opened[0]):
        out = run_work(work, *opened, threads)
        if isinstance(out, Forest) and any(at is not None and at[0] == last for at in opened[0]):
            out.close()
        yield out


def _chunks(columns: list[str], required: list[str], batches: Iterable[Any]) -> Iterator[Any]:
    """Return the rows of a partition that have values in all required columns, as Arrow streams of some size."""
    import pyarrow as pa

    waiting: list[Any] = []
    for batch in batches:
        waiting.append(as_table(plain_batch(without_missing(batch, required).select(columns))))
        if sum(one.nbytes for one in waiting) >= CHUNK:
            yield pa.record_batch({"chunk": [_written(joined(iter(waiting)))]})
            waiting = []
    if waiting:
        yield pa.record_batch({"chunk": [_written(joined(iter(waiting)))]})


def _written(table: Any) -> bytes:
    """Return a table as an Arrow stream."""
    import pyarrow as pa

    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)
    return bytes(out.getvalue())


def _read(chunk: bytes) -> Any:
    """Return the table in an Arrow stream."""
    import pyarrow as pa

    with pa.ipc.open_stream(chunk) as stream:
        return stream.read_all()


def _bytes(row: Any) -> bytes:
    return bytes(row[0])


def _count_chunks(chunks: Iterable[bytes]) -> Iterator[list[int]]:
    """Return the number of rows of a partition, a table; without rows it has none."""
    rows = sum(_read(chunk).num_rows for chunk in chunks)
    yield [rows] if rows else []


def _open_chunks(
    numbers: list[PartNumbers], rows: list[list[int]], partition: int, chunks: Iterable[bytes]
) -> Iterator[OpenedRun]:
    """Return a partition as one table; refuse another number of rows than it had."""
    import pyarrow as pa

    tables = [table for table in map(_read, chunks) if table.num_rows]
    found, known = sum(table.num_rows for table in tables), sum(rows[partition])
    if found != known:
        raise UnreadableTable(
            f"partition {partition} of the data frame was lost, and has {found} rows when it is computed again, where "
            f"it had {known}: write the data frame to files, and open these"
        )
    yield numbers[partition], [pa.concat_tables(tables)] if tables else []


def _named(ends: list[int], partition: int, forests: Iterable[Forest[Any]]) -> Iterator[tuple[int, Forest[Any]]]:
    """Return the forest of a partition with the index of the run that the partition is in."""
    return ((sum(end <= partition for end in ends), forest) for forest in forests)


def _merge(last: int, forests: Iterable[tuple[int, Any]]) -> Iterator[Any]:
    """Return the forest of all nodes of a run of partitions, of which `last` is the last one, or what was refused."""
    found = list(forests)
    refused = [one for _, one in found if isinstance(one, Refusal)]
    if found and not refused:
        out = merge_forests([forest for _, forest in found])
        if found[0][0] == last:
            out.close()
        yield out
    yield from refused[:1]


def _column_table(work: bytes, threads: int, numbers: PartNumbers, tables: list[Any]) -> Any:
    """Return the values of the rows of some parts, (n,), (n, m) or a tuple of such, as an Arrow table."""
    import numpy as np
    import pyarrow as pa

    values = run_work(work, numbers, tables, threads)
    first, rows = min(at[1] for at in numbers if at is not None), sum(table.num_rows for table in tables)
    if isinstance(values, tuple):
        named = dict(zip(getattr(values, "_fields", map(str, range(len(values)))), values, strict=True))
    elif values.ndim == 1:
        named = {"prediction": values}
    else:
        named = {f"prediction_{k}": values[:, k] for k in range(values.shape[1])}
    return pa.table(
        {
            "row": np.arange(first, first + rows),
            **{name: list(v) if v.dtype == object else v for name, v in named.items()},
        }
    )


def _column_chunks(work: bytes, threads: int, opened: OpenedRun) -> Iterator[tuple[bytes]]:
    if any(opened[0]):
        yield (_written(_column_table(work, threads, *opened)),)


def _schema(work: bytes, threads: int, opened: OpenedRun) -> Any:
    """Return the Arrow schema of the values of the rows of some parts; None where they have no rows."""
    for at, table in zip(*opened, strict=True):
        if at is not None:
            return _column_table(work, threads, [at], [table.slice(0, 1)]).schema
    return None


def _batches(chunks: Iterable[Any]) -> Iterator[Any]:
    """Return Arrow streams in the rows of batches as batches of their rows."""
    for batch in chunks:
        for chunk in batch.column(0):
            yield from _read(chunk.as_buffer()).to_batches()


# What follows opens tables.


def check_versions(engine: SparkEngine) -> None:
    """Refuse a cluster on which a worker has no adaline, or another version of it."""

    def version(_: int) -> Any:  # sent as it is, as a worker may not be able to import it
        try:
            import adaline
        except ImportError:
            return None
        return adaline.__version__

    rdd = engine.context.parallelize(range(engine.workers), engine.workers).map(version)
    for found in engine.context.runJob(rdd, list):
        check_version("a worker of the cluster", found)


def engine_of(cluster: Any) -> SparkEngine:
    """Return the engine of a session, or of one that is made for a master such as "local[2]" or "spark://host:7077"."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise InvalidParameter("clusters of Spark need pyspark: pip install 'adaline[spark]'") from None
    if isinstance(cluster, str):
        if cluster.startswith("local["):  # the same interpreter; tasks that fail are tried again, as on a cluster
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            cluster = cluster if "," in cluster else f"{cluster[:-1]},4]"
        try:
            cluster = SparkSession.builder.master(cluster).appName("adaline").getOrCreate()
        except (PySparkException, OSError, ValueError) as error:
            raise InvalidParameter(f"there is no session of Spark at {cluster!r} (it needs Java): {error}") from None
    if not hasattr(cluster, "sparkContext") or ".connect." in type(cluster).__module__:
        raise InvalidParameter(
            f"cluster is a SparkSession of this process, not {type(cluster).__name__} of {type(cluster).__module__}"
        )
    return SparkEngine(cluster)


class SparkFrameParts(TableParts):
    """A data frame of Spark: each partition is a part of one table."""

    def __init__(self, frame: Any, engine: SparkEngine) -> None:
        super().__init__("the frame")
        self.frame, self.engine = frame, engine

    def place(self, columns: Sequence[str], where: str, required: Sequence[str]) -> Held:
        """Return the partitions as Arrow, written once on the executors."""
        return FrameHeld(self.engine, self.frame, columns, required)


def open_data(data: Any, cluster: Any, target: Any) -> tuple[Relation, SparkFrameParts, Any]:
    """Return the first rows of a data frame as a relation, its partitions as parts, and the target."""
    frame = data.to_spark() if hasattr(data, "to_spark") else data
    if not hasattr(frame, "sparkSession"):
        raise InvalidData(f"a table of Spark is a DataFrame, not {type(data).__name__}")
    engine, first = engine_of(frame.sparkSession), frame.limit(FIRST).toArrow()
    if not first.num_rows:
        raise InvalidData("the frame has no rows")
    return Relation(first), SparkFrameParts(frame, engine), target
