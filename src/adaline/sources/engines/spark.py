"""Spark as an engine: it schedules runs of parts, whose tables its Python workers hold from pass to pass.

Files are read by the workers themselves. What they have made they keep in their memory, as far as it has room, and
make again where it is not there: Spark does not say where a task runs. A data frame that has read Parquet files, and
nothing else, is these files. Any other one is written once, each partition to an Arrow file in the local folders of the
executor that computed it, which the workers map into memory in every pass. Where an executor is lost Spark computes its
partitions again from the lineage of the frame, elsewhere, and they must be the same bytes. Spark removes these folders
when the executor ends. States are merged by index alone.
"""

from __future__ import annotations

import gc
import os
import pickle
import random
import shutil
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, replace
from functools import cache, partial
from socket import gethostname
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit
from uuid import uuid4
from weakref import finalize

from adaline.errors import AdalineError, InvalidData, InvalidParameter, UnreadableTable
from adaline.sources.engine import (
    Engine,
    Held,
    MakePart,
    PartNumbers,
    RowsDone,
    check_version,
    merge_forests,
    pack,
    part_key,
    run_work,
    runs_of_parts,
)
from adaline.sources.tables.batches import (
    PIECE,
    SHARE,
    batch_table,
    free_memory,
    plain_batch,
    rechunked,
    without_missing,
)
from adaline.sources.tables.parts import FileParts, TableParts
from adaline.sources.tables.relation import Relation
from adaline.sources.threads import Forest

FIRST = 200_000  # first rows from which the kinds of columns are found; doubling it opens data frames more slowly
WAIT = 0.5  # seconds between updates of the progress of a job
TRIES = 4  # attempts at a pass whose files of partitions are lost; doubling it gives up later on unstable clusters
PARTITION = "partition of adaline"  # a column that tells the index of a partition

T = TypeVar("T")

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
        return SparkHeld(self, parts, rows)

    def run(
        self, rdd: Any, partitions: Sequence[int] | None = None, done: RowsDone | None = None, rows: int = 0
    ) -> Any:
        """Return the values of a collection, or of some partitions of it, in order: a job.

        Meanwhile `done` receives the share of `rows` that is done; where this is interrupted the job is cancelled.
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
        known = range(rdd.getNumPartitions()) if partitions is None else partitions  # else it pickles the work twice
        return self.context.runJob(rdd, _caught, list(known))

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
            return InvalidParameter(
                f"a worker of the cluster lacks {self.given.name}: install adaline-learn[spark] on all"
            )
        return self.given


def _caught(found: Iterable[Any]) -> Iterator[Any]:
    """Return what a task finds; an error that is not of the cluster as the last of it."""
    try:
        yield from found
    except (AdalineError, ModuleNotFoundError, LostFile) as error:
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
    """Parts in runs, a task each, whose tables the workers make, and keep while they have room."""

    def __init__(self, engine: SparkEngine, parts: Sequence[MakePart], rows: list[list[int]] | None = None) -> None:
        self.engine, self.name = engine, uuid4().hex
        self.take(parts)
        if rows is None:
            counts = self._spread([[self.packed[i] for i in run] for run in self.runs])
            rows = [part for run in engine.run(counts.map(partial(_count, self.name))) for part in run]
        self.rows = rows

    def take(self, parts: Sequence[MakePart]) -> None:
        """Let these be the parts."""
        self.parts, self.packed = parts, [(part_key(part), pack(part)) for part in parts]
        self.runs = aligned_runs(len(parts), self.engine.workers)

    def opened(self, numbers: Sequence[PartNumbers]) -> Any:
        """Return a collection with the opened tables of one run of parts in each partition."""
        runs = [([one for i in run for one in numbers[i]], [self.packed[i] for i in run]) for run in self.runs]
        return self._spread(runs).map(partial(_open_run, self.name))

    def results(self, work: bytes, numbers: Sequence[PartNumbers], done: RowsDone) -> Iterator[Any]:
        """Return the result of each run, in the order of the parts."""
        return iter(self.engine.run(self._run(work, numbers), None, done, sum(map(sum, self.rows))))

    def column(self, work: bytes, numbers: Sequence[PartNumbers]) -> Any:
        """Return a data frame with the number of each row, `row`, and its values; computed when it is asked for."""
        chunks = self.opened(numbers).flatMap(partial(_column_chunks, work, self.engine.threads))
        frame = self.engine.session.createDataFrame(chunks, "chunk binary", verifySchema=False)
        return frame.mapInArrow(_batches, self._schema(work, numbers))

    def tables(self) -> Iterator[list[Any]]:
        """Return the tables of each part, made by this process."""
        return (part() for part in self.parts)

    def _schema(self, work: bytes, numbers: Sequence[PartNumbers]) -> Any:
        """Return the schema of the columns that a work makes of rows."""
        from pyspark.sql.pandas.types import from_arrow_schema

        opened, schema = self.opened(numbers), None
        for partition in range(opened.getNumPartitions()):
            (schema,) = self.engine.run(opened.map(partial(_schema, work, self.engine.threads)), [partition])
            if schema is not None:
                break
        return from_arrow_schema(schema)

    def _spread(self, runs: list[Any]) -> Any:
        return self.engine.context.parallelize(runs, len(runs))

    def _run(self, work: bytes, numbers: Sequence[PartNumbers]) -> Any:
        last = max((at[0] for part in numbers for at in part if at is not None), default=0)
        return self.opened(numbers).flatMap(partial(_run, work, self.engine.threads, last))


@dataclass(frozen=True)
class ArrowFile:
    """A partition of a data frame, as an Arrow file on a disk of a machine: a part, of one table or of none."""

    partition: int
    host: str = ""
    path: str = ""
    rows: int = 0
    digest: int = 0

    def __call__(self) -> list[Any]:
        """Return its table, which is read as it is used."""
        import pyarrow as pa

        if not self.rows:
            return []
        try:
            with pa.memory_map(self.path) as mapped:
                return [pa.ipc.open_stream(mapped).read_all()]
        except FileNotFoundError:
            raise LostFile(self.path) from None

    def check_same(self, other: ArrowFile) -> None:
        """Refuse what was computed again, and is not the same."""
        if (self.rows, self.digest) != (other.rows, other.digest):
            found = f"{other.rows} rows" if self.rows != other.rows else "other values"
            raise UnreadableTable(
                f"partition {self.partition} of the data frame was lost, and has {found} when it is computed again, "
                f"where it had {self.rows} rows: write the data frame to files, and open these"
            )


class LostFile(Exception):
    """A file of a partition is not where a task looks for it."""


class FrameHeld(SparkHeld):
    """Partitions of a data frame in files on the disks of the executors.

    `made` has the `ArrowFile` of each partition; Spark holds these few bytes where the file is, and computes them, and
    with them the file, again where the executor is lost.
    """

    def __init__(
        self, engine: SparkEngine, frame: Any, columns: Sequence[str], required: Sequence[str], indexed: Sequence[str]
    ) -> None:
        from pyspark import StorageLevel
        from pyspark.sql.functions import spark_partition_id

        super().__init__(engine, (), [])
        finalize(self, _gone.append, self.name)
        self.wanted, self.level = (list(columns), list(required), list(indexed)), StorageLevel.MEMORY_AND_DISK
        names = [f"`{name.replace('`', '``')}`" for name in dict.fromkeys([*columns, *required])]
        self.frame = frame.select(*names, spark_partition_id().alias(PARTITION))
        written = frame.select(*names).mapInArrow(
            partial(_write, self.name, *self.wanted),
            "host string, path string, rows bigint, digest bigint",
        )
        self.made = written.rdd.mapPartitionsWithIndex(_files).persist(self.level)
        self.take(engine.run(self.made))
        self.rows = [[file.rows] if file.rows else [] for file in self.files]

    @property
    def files(self) -> Sequence[Any]:
        """The file of each partition."""
        return self.parts

    @property
    def one_machine(self) -> bool:
        """Whether the files of all partitions are on one machine, where every task finds them."""
        return len({file.host for file in self.files if file.rows}) <= 1

    def opened(self, numbers: Sequence[PartNumbers]) -> Any:
        """Return runs of partitions that are on one machine; on several each partition alone."""
        return super().opened(numbers) if self.one_machine else self._by_partition(numbers)

    def results(self, work: bytes, numbers: Sequence[PartNumbers], done: RowsDone) -> Iterator[Any]:
        """Return the result of each run, in the order of the partitions."""
        return self._tried(partial(super().results, work, numbers, done))

    def totals(self, work: bytes, numbers: Sequence[PartNumbers], done: RowsDone) -> Forest[Any]:
        """Return the forest of all leaves; those of many tasks are merged on the cluster first."""
        return self._tried(partial(self._totals, work, numbers, done))

    def column(self, work: bytes, numbers: Sequence[PartNumbers]) -> Any:
        """Return a data frame with the number of each row, `row`, and its values, computed from the frame itself."""
        schema = self._tried(partial(self._schema, work, numbers))
        first = [next((at[1] for at in part if at is not None), 0) for part in numbers]
        predicted = partial(_predicted, work, self.engine.threads, first, self.files, *self.wanted)
        return self.frame.mapInArrow(predicted, schema)

    def tables(self) -> Iterator[list[Any]]:
        """Return the tables of each partition, brought to this process."""
        return (self._tried(partial(self._table, i)) for i in range(len(self.files)))

    def _table(self, i: int) -> list[Any]:
        numbers: list[PartNumbers] = [[(0, 0)] * len(part) for part in self.rows]
        return list(self.engine.run(self._by_partition(numbers), [i])[0][1])

    def _by_partition(self, numbers: Sequence[PartNumbers]) -> Any:
        """Return a collection with one opened partition in each of its own, mostly where its file is."""
        return self.made.map(partial(_open_file, self.name, list(numbers), self.files))

    def _totals(self, work: bytes, numbers: Sequence[PartNumbers], done: RowsDone) -> Forest[Any]:
        if self.one_machine or len(self.files) <= 2 * len(self.runs):
            return super().totals(work, numbers, done)
        forests = self._run(work, numbers).mapPartitions(_caught)
        named = forests.mapPartitionsWithIndex(partial(_named, [run.stop for run in self.runs]))
        merged = named.partitionBy(len(self.runs), int).mapPartitions(partial(_merge, len(self.runs) - 1))
        return merge_forests(self.engine.run(merged, None, done, sum(map(sum, self.rows))))

    def _tried(self, job: Callable[[], T]) -> T:
        """Return what a job returns; where it finds that files are lost they are written, and it is tried again."""
        for _ in range(TRIES):
            try:
                return job()
            except LostFile:
                found = self.engine.run(self.made)  # those of executors that are lost are written
                if found == self.files:
                    self.made = self.made.unpersist(blocking=True).persist(self.level)
                    found = self.engine.run(self.made)
                for before, now in zip(self.files, found, strict=True):
                    before.check_same(now)
                self.take(found)
        raise UnreadableTable(
            f"files of a data frame's partitions were lost {TRIES} times: write the frame to files, and open these"
        )


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


class Kept(NamedTuple):
    """Tables of a part in the memory of a worker, and the name of the `SparkHeld` that used them last."""

    owner: str
    tables: list[Any]
    bytes: int


_kept: dict[str, Kept] = {}
"""What this process keeps of parts, by their names."""

_gone: list[str] = []
"""Names of each `FrameHeld` of this process that is no more, which no worker knows yet."""


def forget(names: Sequence[str]) -> None:
    """Remove what this worker, and the disks of its executor, keep for each `FrameHeld` of some names."""
    for key in [key for key, one in _kept.items() if one.owner in names]:
        del _kept[key]
    for name in names:
        for folder in _folders(name):
            shutil.rmtree(folder, ignore_errors=True)


def _folders(name: str) -> list[str]:
    """Return the folders for files of a `FrameHeld`, one in each local folder of the executor."""
    return [os.path.join(one, f"adaline-{name}") for one in os.environ["SPARK_LOCAL_DIRS"].split(",")]


def _made(owner: str, key: str, packed: bytes) -> list[Any]:
    """Return the tables of a part: those that are kept, or made now, and kept if there is room.

    There is if all that is kept takes at most its share of the free memory; what others use no more makes room.
    """
    if key not in _kept:
        tables: list[Any] = pickle.loads(packed)()
        _kept[key] = Kept(owner, tables, sum(table.nbytes for table in tables))
        room = SHARE * free_memory() - (1 - SHARE) * sum(one.bytes for one in _kept.values())
        for name in [*(name for name, one in _kept.items() if one.owner != owner), key]:
            if room < 0:
                room += _kept.pop(name).bytes
        return tables
    _kept[key] = _kept[key]._replace(owner=owner)
    return _kept[key].tables


def _open_run(owner: str, run: tuple[PartNumbers, list[tuple[str, bytes]]]) -> OpenedRun:
    return run[0], [table for part in run[1] for table in _made(owner, *part)]


def _count(owner: str, run: list[tuple[str, bytes]]) -> list[list[int]]:
    return [[table.num_rows for table in _made(owner, *part)] for part in run]


@cache
def _freeze() -> None:
    """Leave what is loaded out of later collections of garbage: Spark makes one after each task."""
    gc.freeze()


def _run(work: bytes, threads: int, last: int, opened: OpenedRun) -> Iterator[Any]:
    """Return the result of a work for a run of parts, none where they have no rows; `last` is the table's last leaf."""
    if any(opened[0]):
        out = run_work(work, *opened, threads)
        _freeze()
        if isinstance(out, Forest) and any(at is not None and at[0] == last for at in opened[0]):
            out.close()
        yield out


def _write(
    name: str, columns: list[str], required: list[str], indexed: list[str], batches: Iterable[Any]
) -> Iterator[Any]:
    """Write the rows of a partition that have values in all required columns to a file; return it if there are any.

    A task that fails leaves its file, which is removed with its folder.
    """
    import pyarrow as pa

    folder = random.choice(_folders(name))
    os.makedirs(folder, exist_ok=True)
    path, writer, rows = os.path.join(folder, uuid4().hex), None, 0
    for table in rechunked((_plain(columns, required, indexed, batch) for batch in batches), PIECE):
        writer = writer or pa.ipc.new_stream(path, table.schema)
        writer.write_table(table.combine_chunks())
        rows += table.num_rows
    if writer is not None:
        writer.close()
        with pa.memory_map(path) as mapped:
            digest = zlib.crc32(mapped.read_buffer())
        yield pa.record_batch({"host": [gethostname()], "path": [path], "rows": [rows], "digest": [digest]})


def _plain(columns: list[str], required: list[str], indexed: list[str], batch: Any) -> Any:
    """Return some columns of the rows of a batch that have values in all required ones, as an Arrow table.

    Columns that are `indexed` stay as they are.
    """
    return batch_table(plain_batch(without_missing(batch, required).select(columns), indexed))


def _files(partition: int, written: Iterable[Any]) -> Iterator[ArrowFile]:
    """Return the file of a partition, from what `_write` returned."""
    (file,) = list(written) or [()]  # read to its end: Spark ends workers that leave something
    yield ArrowFile(partition, *file)


def _open_file(owner: str, numbers: list[PartNumbers], known: Sequence[ArrowFile], file: ArrowFile) -> OpenedRun:
    """Return a partition, opened where its file is; it may have been computed again."""
    known[file.partition].check_same(file)
    return _open_run(owner, (numbers[file.partition], [(file.path, pack(file))]))


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


def _predicted(
    work: bytes,
    threads: int,
    first: list[int],
    files: Sequence[ArrowFile],
    columns: list[str],
    required: list[str],
    indexed: list[str],
    batches: Iterable[Any],
) -> Iterator[Any]:
    """Return the values of the rows of a partition; `first` are the numbers of the first row of each one."""
    file, rows = None, 0
    for batch in filter(len, batches):
        file = file or files[batch.column(PARTITION)[0].as_py()]
        table = _plain(columns, required, indexed, batch)
        if table.num_rows:
            yield from _column_table(work, threads, [(0, first[file.partition] + rows)], [table]).to_batches()
        rows += table.num_rows
    if file is not None:
        file.check_same(replace(file, rows=rows))


def _batches(chunks: Iterable[Any]) -> Iterator[Any]:
    """Return Arrow streams in the rows of batches as batches of their rows."""
    for batch in chunks:
        for chunk in batch.column(0):
            yield from _read(chunk.as_buffer()).to_batches()


# What follows opens tables.


def check_versions(engine: SparkEngine) -> None:
    """Refuse a cluster on which a worker has no adaline, or another version of it; others forget what is no more."""
    from adaline import __version__ as own

    gone = [_gone.pop() for _ in range(len(_gone))]

    def version(_: int) -> Any:  # sent as it is, as a worker may not be able to import it
        try:
            import adaline
        except ImportError:
            return None
        if gone and adaline.__version__ == own:
            from adaline.sources.engines.spark import forget

            forget(gone)
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
        raise InvalidParameter("clusters of Spark need pyspark: pip install 'adaline-learn[spark]'") from None
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

    def place(self, columns: Sequence[str], where: str, required: Sequence[str], indexed: Sequence[str] = ()) -> Held:
        """Return the partitions as Arrow, written once on the executors."""
        return FrameHeld(self.engine, self.frame, columns, required, indexed)


def parquet_files(frame: Any) -> list[str]:
    """Return the Parquet files that a data frame has read and nothing else was done with, by name; none if it is more.

    They are files in folders that all workers see, of the types that the frame has, and without columns from the names
    of folders.
    """
    from pyarrow import parquet
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import from_arrow_schema

    plan = frame._jdf.queryExecution().analyzed()
    if plan.getClass().getSimpleName() != "LogicalRelation":
        return []
    relation, names = plan.relation(), [urlsplit(name) for name in frame.inputFiles()]
    if (
        relation.getClass().getSimpleName() != "HadoopFsRelation"
        or relation.fileFormat().toString() != "Parquet"
        or not relation.partitionSchema().isEmpty()
        or any(name.scheme != "file" or name.netloc or not name.path.endswith(".parquet") for name in names)
    ):
        return []
    files, types = sorted(unquote(name.path) for name in names), [(one.name, one.dataType) for one in frame.schema]
    try:
        found = [[(one.name, one.dataType) for one in from_arrow_schema(parquet.read_schema(file))] for file in files]
    except (OSError, ValueError, PySparkException):
        return []
    return files if all(one == types for one in found) else []


def open_frame(data: Any, cluster: Any, target: Any) -> tuple[Relation, TableParts, Any]:
    """Return a data frame as a relation, its partitions as parts, and the target.

    Of a frame that is Parquet files the files are the parts, which workers read themselves. Of others the relation has
    the first rows.
    """
    frame = data.to_spark() if hasattr(data, "to_spark") else data
    if not hasattr(frame, "sparkSession"):
        raise InvalidData(f"a table of Spark is a DataFrame, not {type(data).__name__}")
    engine, files = engine_of(frame.sparkSession), parquet_files(frame)
    if files:
        relation = Relation(files)
        return relation, FileParts(engine, relation), target
    first = frame.limit(FIRST).toArrow()
    if not first.num_rows:
        raise InvalidData("the frame has no rows")
    return Relation(first), SparkFrameParts(frame, engine), target
