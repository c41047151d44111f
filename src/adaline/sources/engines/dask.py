"""Dask as an engine: parts are futures that live on the workers, from which lost ones are made again.

A pass is one task a worker, where its parts are, and a tree of tasks that merge forests of sums on the workers; this
process receives one state. Names of parts are made from what they hold, those of passes at random.
"""

from __future__ import annotations

import warnings
from asyncio import CancelledError
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from itertools import zip_longest
from typing import Any
from uuid import uuid4

import numpy as np

from adaline.arrays import AnyArray, DataLike, GroupsLike, TargetsLike
from adaline.errors import (
    AdalineError,
    AdalineWarning,
    InvalidData,
    InvalidParameter,
    UnreadableTable,
    warn,
    with_row,
)
from adaline.lazy import nw
from adaline.sources.engine import (
    Engine,
    Held,
    HeldHere,
    PartNumbers,
    RowsDone,
    check_version,
    merge_forests,
    pack,
    part_key,
    run_work,
    runs_of_parts,
)
from adaline.sources.tables.batches import plain_batch, without_missing
from adaline.sources.tables.frames import as_arrow
from adaline.sources.tables.parts import TableParts
from adaline.sources.tables.relation import Relation
from adaline.sources.threads import Forest

FIRST, FEW = 200_000, 8  # rows that tell what columns hold, and partitions they are taken from
FAN = 8  # forests that one task merges
WAIT = 60.0  # seconds that a cluster without workers is given for the first one


class DaskEngine(Engine):
    """A cluster of Dask, by its client."""

    def __init__(self, client: Any) -> None:
        self.client = client
        wait_for_workers(client)
        check_versions(client)

    @property
    def workers(self) -> int:  # type: ignore[override]
        """The number of workers that there are now."""
        return max(len(self._addresses()), 1)

    def hold(self, parts: Sequence[Any], rows: list[list[int]] | None = None) -> Held:
        """Return parts, functions or delayed values, as futures, runs of them on one worker each.

        Where they are made first is said only until they are there: a part that is lost is made again anywhere, also
        where no worker is left and others come (tasks that name a worker would wait for that one forever).
        """
        addresses = self._addresses()
        runs = runs_of_parts(len(parts), max(len(addresses), 1))
        with one_line_failures():
            if all(hasattr(part, "dask") for part in parts):  # delayed values, where their inputs are
                futures = self.client.compute(list(parts))
            else:
                futures = [
                    self.client.submit(parts[i], key=f"adaline-part-{part_key(parts[i])}", **_first_on(address))
                    for run, address in zip_longest(runs, addresses[: len(runs)])
                    for i in run
                ]
            counts = self.client.map(_rows, futures, pure=False)
            wait_for(self.client, counts)
            known = self.client.gather(counts)
            self.client.sync(self.client.scheduler.set_restrictions, worker={one.key: None for one in futures})
        return DaskHeld(self.client, futures, runs, known if rows is None else rows)

    def _addresses(self) -> list[Any]:
        return sorted(self.client.scheduler_info(n_workers=-1)["workers"])


class DaskHeld(Held):
    """Futures of the tables of each part, in runs that were made on one worker each."""

    def __init__(self, client: Any, futures: list[Any], runs: list[range], rows: list[list[int]]) -> None:
        self.client, self.futures, self.runs, self.rows = client, futures, runs, rows

    def results(self, work: bytes, numbers: Sequence[PartNumbers], done: RowsDone) -> Iterator[Any]:
        """Return the result of each worker, in the order of the parts."""
        with one_line_failures(), self._tasks(work, numbers) as tasks:
            for run, task in zip(self.runs, tasks, strict=True):
                wait_for(self.client, [task])
                yield task.result()
                done(self._rows(run))

    def totals(self, work: bytes, numbers: Sequence[PartNumbers], done: RowsDone) -> Forest[Any]:
        """Return a forest of one sum, that of all leaves, made on the workers: no other comes to this process."""
        with one_line_failures(), self._tasks(work, numbers) as tasks:
            merged = tasks
            while len(merged) > FAN:
                groups = [merged[first : first + FAN] for first in range(0, len(merged), FAN)]
                merged = [self.client.submit(_merge, group, key=_name("merge")) for group in groups]
            total = self.client.submit(_total, merged, key=_name("total"))
            for run, task in zip(self.runs, tasks, strict=True):
                wait_for(self.client, [task])
                done(self._rows(run))
            wait_for(self.client, [total])
            return Forest.of({(0, 0): total.result()})

    def column(self, work: bytes, numbers: Sequence[PartNumbers]) -> Any:
        """Return the values of the rows of each part as a series of Dask, or a frame; computed when it is asked for."""
        import dask
        import dask.dataframe as dd

        parts = [i for i, rows in enumerate(self.rows) if sum(rows)]
        made = dask.delayed(_part_column, pure=False)
        with one_line_failures():
            none = self.client.submit(_no_rows, work, self.futures[parts[0]], key=_name("meta"))
            wait_for(self.client, [none])
            meta = none.result()
        return dd.from_delayed([made(work, numbers[i], self.futures[i]) for i in parts], meta=meta, verify_meta=False)

    def tables(self) -> Iterator[list[Any]]:
        """Return the tables of each part, brought to this process."""
        with one_line_failures():
            for future in self.futures:
                yield future.result()

    def _rows(self, run: range) -> int:
        return sum(sum(self.rows[i]) for i in run)

    @contextmanager
    def _tasks(self, work: bytes, numbers: Sequence[PartNumbers]) -> Iterator[list[Any]]:
        """Return a task for each run of parts; what is not done when the caller leaves is cancelled."""
        tasks: list[Any] = []
        try:
            for run in self.runs:  # the scheduler sends a task where what it needs is
                at, tables = [one for i in run for one in numbers[i]], [self.futures[i] for i in run]
                tasks.append(self.client.submit(_run, work, at, tables, key=_name("pass")))
            yield tasks
        except BaseException:
            self.client.cancel(tasks)
            raise


def _first_on(address: str | None) -> dict[str, Any]:
    return {} if address is None else {"workers": [address], "allow_other_workers": True}


def _name(what: str) -> str:
    return f"adaline-{what}-{uuid4().hex}"


def _run(work: bytes, numbers: PartNumbers, parts: list[list[Any]]) -> Any:
    """Run a work on the parts of a worker, on all threads of the worker."""
    from distributed import get_worker

    return run_work(work, numbers, [table for part in parts for table in part], get_worker().state.nthreads)


def as_column(values: Any, index: Any) -> Any:
    """Return values of rows, (n,), (n, m) or a tuple of such, as a series of pandas, or a frame with a column each."""
    import pandas as pd

    if isinstance(values, tuple):
        named = zip(getattr(values, "_fields", range(len(values))), values, strict=True)
        each = [
            (name, one) if one.ndim == 1 else (f"{name}_{k}", one[:, k]) for name, one in named for k in _outputs(one)
        ]
        return pd.DataFrame(dict(each), index=index)
    return pd.Series(values, index=index) if values.ndim == 1 else pd.DataFrame(values, index=index)


def _outputs(values: Any) -> range:
    return range(1 if values.ndim == 1 else values.shape[1])


def _part_column(work: bytes, numbers: PartNumbers, tables: list[Any]) -> Any:
    """Return the values of the rows of a part, indexed by the numbers of the rows."""
    from distributed import get_worker

    first = min(at[1] for at in numbers if at is not None)
    rows = sum(table.num_rows for table in tables)
    return as_column(run_work(work, numbers, tables, get_worker().state.nthreads), range(first, first + rows))


def _no_rows(work: bytes, tables: list[Any]) -> Any:
    """Return the column of no rows of a part, made from its first one."""
    first = next(table for table in tables if table.num_rows).slice(0, 1)
    return as_column(run_work(work, [(0, 0)], [first], 1), None).iloc[:0]


def _merge(forests: list[Forest[Any]]) -> Forest[Any]:
    """Return the forest of all nodes; those given stay as they are, as they may be needed again."""
    return merge_forests(deepcopy(forests))


def _total(forests: list[Forest[Any]]) -> Any:
    """Return the sum of all leaves."""
    return _merge(forests).total()


def _rows(tables: list[Any]) -> list[int]:
    return [table.num_rows for table in tables]


@contextmanager
def one_line_failures() -> Iterator[None]:
    """Turn failures of the cluster into errors of one line."""
    try:
        yield
    except AdalineError:
        raise
    except ModuleNotFoundError as error:
        raise InvalidParameter(
            f"a worker of the cluster lacks {error.name}: install adaline-learn[dask] on all"
        ) from error
    except Exception as error:
        if type(error).__name__ in ("KilledWorker", "FutureCancelledError", "FuturesCancelledError", "CommClosedError"):
            raise UnreadableTable(
                f"the cluster lost a part of the table, and could not make it again: {error}"
            ) from error
        raise


def wait_for(client: Any, tasks: list[Any]) -> None:
    """Wait until tasks are done, or lost; where the cluster has lost all its workers, for WAIT seconds."""
    from distributed import wait

    while True:
        try:
            wait(tasks, timeout=WAIT)
            return
        except CancelledError:  # which results tell more of
            return
        except TimeoutError:
            wait_for_workers(client)


def wait_for_workers(client: Any) -> None:
    """Wait for the first worker of a cluster that has none, saying so; after WAIT seconds refuse it."""
    if client.scheduler_info(n_workers=-1)["workers"]:
        return
    place = f"the cluster at {client.scheduler.address} has no workers"
    warn(f"{place}: waiting {WAIT:g} seconds for the first one", AdalineWarning)
    try:
        client.wait_for_workers(1, timeout=WAIT)
    except TimeoutError:
        raise UnreadableTable(
            f"{place}, and none came in {WAIT:g} seconds: start some, as by `dask worker {client.scheduler.address}`, "
            "and open the table again"
        ) from None


def check_versions(client: Any) -> None:
    """Refuse a cluster on which a worker has no adaline, or another version of it."""
    found = client.run(eval, "__import__('adaline').__version__", on_error="return")
    for worker, version in found.items():
        check_version(f"worker {worker}", None if isinstance(version, Exception) else version)


def engine_of(cluster: GroupsLike) -> DaskEngine:
    """Return the engine of a client, of a LocalCluster or its like, or of the scheduler at an address."""
    try:
        from distributed import Client, default_client
    except ImportError:
        raise InvalidParameter(
            "clusters of Dask need dask and distributed: pip install 'adaline-learn[dask]'"
        ) from None
    if not isinstance(cluster, str):
        return DaskEngine(cluster if isinstance(cluster, Client) else cluster.get_client())
    with suppress(ValueError):  # where this process has no client
        known = default_client()
        if known.scheduler.address == cluster:
            return DaskEngine(known)
    try:
        client = Client(cluster)
    except (OSError, ValueError) as error:
        raise InvalidParameter(f"there is no cluster at {cluster!r}: {error}") from None
    return DaskEngine(client)


class FrameParts(TableParts):
    """A data frame of Dask: each partition is a part of one table; `chunks` are their rows where it was an array."""

    def __init__(self, frame: Any, engine: DaskEngine | None, chunks: tuple[int, ...] | None = None) -> None:
        super().__init__("the frame" if chunks is None else "the array")
        self.frame, self.engine, self.chunks = frame, engine, chunks

    def place(self, columns: Sequence[str], where: str, required: Sequence[str], indexed: Sequence[str] = ()) -> Held:
        """Return the partitions as Arrow tables, on the cluster; without one they are computed here, in threads."""
        import dask

        names = list(dict.fromkeys([*columns, *required]))
        make = dask.delayed(partition_tables, pure=True)
        wanted = list(columns), list(required), list(indexed)
        parts = [make(one, *wanted) for one in self.frame[names].to_delayed()]
        if self.engine is None:
            return HeldHere(list(dask.compute(*parts)))
        return self.engine.hold(parts)

    def column(self, source: Any, function: Any) -> Any:
        """Return the values of the rows of each partition, computed when they are asked for.

        Of a data frame they are a series or frame with its index, of an array an array.
        """
        table = source.leaf.learned()
        columns, required = table.columns, table.relation.required(table.where)
        indexed = table.coding.raw_texts
        work, names = pack((source, function)), list(dict.fromkeys([*columns, *required]))
        rows = table.relation.opened.frame.slice(0, FIRST).to_pandas()
        rows = rows.assign(**{name: 1.0 for name in columns if name not in rows})  # given beside the table
        first = [one.slice(0, 1) for one in partition_tables(rows, columns, required, indexed)]
        values = run_work(work, [(0, 0)], first)
        none = as_column(values, None).iloc[:0]
        wanted = columns, required, indexed
        found = self.frame[names].map_partitions(_partition_column, work, *wanted, none, meta=none)
        if self.chunks is None:
            return found
        unknown = bool(required) or any(rows != rows for rows in self.chunks)
        found = found.to_dask_array(lengths=None if unknown else self.chunks)
        return found if isinstance(values, tuple) else found.astype(values.dtype)

    def beside(self, columns: Mapping[str, Any]) -> TableParts:
        """Return the same rows with more columns, series of the same partitions or arrays of the same chunks."""
        import dask.dataframe as dd

        found = {}
        for name, given in columns.items():
            if not hasattr(given, "dask") or given.ndim != 1:
                return super().beside(columns)
            if not hasattr(given, "chunks"):
                found[name] = given
                continue
            rows = (given.chunks[0] if self.chunks is None else self.chunks,)
            if len(rows[0]) != self.frame.npartitions or sum(rows[0]) != given.shape[0]:
                parts = f"{self.frame.npartitions} partitions" if self.chunks is None else f"{sum(self.chunks):,} rows"
                raise InvalidData(f"{name} is an array of {given.shape[0]:,} numbers in other chunks than {parts}")
            found[name] = dd.from_dask_array(given.rechunk(rows), index=self.frame.index)
        return FrameParts(self.frame.assign(**found), self.engine, self.chunks)


def _partition_column(
    frame: Any, work: bytes, columns: list[str], required: Sequence[str], indexed: Sequence[str], none: Any
) -> Any:
    """Return the values of the rows of a partition that have values in all required columns, with their index."""
    frame = frame[~frame[list(required)].isna().any(axis=1)] if required else frame
    tables = partition_tables(frame, columns, (), indexed)
    try:
        return as_column(run_work(work, [(0, 0)], tables, 1), frame.index) if tables[0].num_rows else none
    except InvalidData as error:  # which partitions there are before this one is not known
        raise with_row(error, lambda row: f"row {row} of its partition (index {frame.index[row]})") from None


def partition_tables(
    frame: Any, columns: Sequence[str], required: Sequence[str], indexed: Sequence[str] = ()
) -> list[Any]:
    """Return a partition of a data frame as a list of one Arrow table, of rows with values in all required columns.

    Columns that are `indexed` stay as they are.
    """
    table = as_arrow(nw.from_native(frame, eager_only=True))
    return [plain_batch(without_missing(table, required).select(list(columns)), indexed).combine_chunks()]


def open_frame(data: DataLike, cluster: GroupsLike, target: Any) -> tuple[Relation, FrameParts, Any]:
    """Return the first rows of a frame or array as a relation, its partitions as parts, and the target's name."""
    chunks = None
    if hasattr(data, "chunks"):
        own = hasattr(target, "chunks")
        chunks = data.chunks[0]
        data, target = frame_of_array(data, target if own else None), "y" if own else target
    if cluster is None:
        with suppress(ImportError, ValueError):  # where there is none
            from distributed import default_client

            cluster = default_client()
    engine = None if cluster is None else engine_of(cluster)
    data = data.rename(columns=str)
    unknown = [name for name, of in data.dtypes.items() if str(of) == "category" and not data[name].cat.known]
    data = data.astype(dict.fromkeys(unknown, "string"))  # what levels there are is learned from all partitions
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Insufficient elements")  # for as many first rows
        first = data.head(FIRST, npartitions=-1 if data.npartitions < FEW else FEW)
    return Relation(first), FrameParts(data, engine, chunks), target


def frame_of_array(x: AnyArray, y: TargetsLike = None) -> Any:
    """Return a Dask array (N, D), with targets (N,), as a data frame with columns x0, x1, ... and y."""
    import dask.dataframe as dd

    if x.ndim != 2:
        raise InvalidData(f"a table is an array of two dimensions, (rows, columns), not of {x.ndim}")
    if y is not None and y.ndim != 1:
        raise InvalidData(f"a target array has one dimension, (rows,), not {y.ndim}: open a data frame for several")
    if np.isnan((x.shape[1],) if y is None else (*x.shape, *y.shape)).any():
        raise InvalidData("the sizes of the chunks of an array are unknown: call its compute_chunk_sizes() first")
    if y is not None and x.shape[0] != y.shape[0]:
        raise InvalidData(f"X has {x.shape[0]:,} rows and the target {y.shape[0]:,}")
    frame = dd.from_dask_array(x.rechunk({1: -1}), columns=[f"x{j}" for j in range(x.shape[1])])
    return frame if y is None else frame.assign(y=dd.from_dask_array(y.rechunk((x.chunks[0],)), index=frame.index))
