"""Dask as an engine: parts are futures that live on the workers, from which lost ones are made again.

A pass is one task a worker, where its parts are, and a tree of tasks that merge forests of sums on the workers; this
process receives one state. Names of parts are made from what they hold, those of passes at random.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from itertools import zip_longest
from typing import Any
from uuid import uuid4

import numpy as np

from adaline.errors import AdalineError, InvalidData, InvalidParameter, UnreadableTable
from adaline.lazy import nw
from adaline.sources.engines.base import (
    Engine,
    Held,
    HeldHere,
    PartNumbers,
    RowsDone,
    check_version,
    key_of,
    merge_forests,
    pack,
    run_work,
    runs_of_parts,
)
from adaline.sources.tables.batches import plain_batch, without_missing
from adaline.sources.tables.parts import TableParts
from adaline.sources.tables.relation import Relation, as_arrow
from adaline.sources.threads import Forest

FIRST, FEW = 200_000, 8  # rows that tell what columns hold, and partitions they are taken from
FAN = 8  # forests that one task merges


class DaskEngine(Engine):
    """A cluster of Dask, by its client."""

    def __init__(self, client: Any) -> None:
        self.client = client
        check_versions(client)

    @property
    def workers(self) -> int:  # type: ignore[override]
        """The number of workers that there are now."""
        return max(len(self._addresses()), 1)

    def hold(self, parts: Sequence[Any], rows: list[list[int]] | None = None) -> Held:
        """Return parts, functions or delayed values, as futures, runs of them on one worker each.

        Where they are made first is said only until they are there: a part that is lost is made again anywhere, also
        where no worker is left and others come (tasks that name a worker would wait for that one for ever).
        """
        addresses = self._addresses()
        runs = runs_of_parts(len(parts), max(len(addresses), 1))
        with reporting():
            if all(hasattr(part, "dask") for part in parts):  # delayed values, where their inputs are
                futures = self.client.compute(list(parts))
            else:
                futures = [
                    self.client.submit(parts[i], key=f"adaline-part-{key_of(parts[i])}", **_first_on(address))
                    for run, address in zip_longest(runs, addresses[: len(runs)])
                    for i in run
                ]
            known = self.client.gather(self.client.map(_rows, futures, pure=False))
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
        with reporting(), self._tasks(work, numbers) as tasks:
            for run, task in zip(self.runs, tasks, strict=True):
                yield task.result()
                done(self._rows(run))

    def totals(self, work: bytes, numbers: Sequence[PartNumbers], done: RowsDone) -> Forest[Any]:
        """Return the forest of all leaves, merged on the workers."""
        from distributed import as_completed

        with reporting(), self._tasks(work, numbers) as tasks:
            merged = tasks
            while len(merged) > 1:
                groups = [merged[first : first + FAN] for first in range(0, len(merged), FAN)]
                merged = [self.client.submit(_merge, group, key=_name("merge")) for group in groups]
            sizes = {task.key: self._rows(run) for run, task in zip(self.runs, tasks, strict=True)}
            for task in as_completed(tasks):
                done(sizes[task.key])
            out: Forest[Any] = merged[0].result()
            return out

    def column(self, work: bytes, numbers: Sequence[PartNumbers]) -> Any:
        """Return the values of the rows of each part as a series of Dask, or a frame of several columns."""
        import dask.dataframe as dd

        with reporting():
            parts = [i for i, rows in enumerate(self.rows) if sum(rows)]
            futures = [
                self.client.submit(_part_column, work, numbers[i], self.futures[i], key=_name("column")) for i in parts
            ]
            none = self.client.submit(_no_rows, futures[0], key=_name("meta")).result()
        return dd.from_delayed(futures, meta=none, verify_meta=False)

    def tables(self) -> Iterator[list[Any]]:
        """Return the tables of each part, brought to this process."""
        with reporting():
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
        names = getattr(values, "_fields", range(len(values)))
        return pd.DataFrame(dict(zip(names, values, strict=True)), index=index)
    return pd.Series(values, index=index) if values.ndim == 1 else pd.DataFrame(values, index=index)


def _part_column(work: bytes, numbers: PartNumbers, tables: list[Any]) -> Any:
    """Return the values of the rows of a part, indexed by the numbers of the rows."""
    from distributed import get_worker

    first = min(at[1] for at in numbers if at is not None)
    rows = sum(table.num_rows for table in tables)
    return as_column(run_work(work, numbers, tables, get_worker().state.nthreads), range(first, first + rows))


def _no_rows(column: Any) -> Any:
    return column.iloc[:0]


def _merge(forests: list[Forest[Any]]) -> Forest[Any]:
    """Return the forest of all nodes; those given stay as they are, as they may be needed again."""
    return merge_forests(deepcopy(forests))


def _rows(tables: list[Any]) -> list[int]:
    return [table.num_rows for table in tables]


@contextmanager
def reporting() -> Iterator[None]:
    """Turn failures of the cluster into errors of one line."""
    try:
        yield
    except AdalineError:
        raise
    except ModuleNotFoundError as error:
        raise InvalidParameter(f"a worker of the cluster lacks {error.name}: install adaline[dask] on all") from error
    except Exception as error:
        if type(error).__name__ in ("KilledWorker", "FutureCancelledError", "FuturesCancelledError", "CommClosedError"):
            raise UnreadableTable(
                f"the cluster lost a part of the table, and could not make it again: {error}"
            ) from error
        raise


def check_versions(client: Any) -> None:
    """Refuse a cluster on which a worker has no adaline, or another version of it."""
    found = client.run(eval, "__import__('adaline').__version__", on_error="return")
    for worker, version in found.items():
        check_version(f"worker {worker}", None if isinstance(version, Exception) else version)


def engine_of(cluster: Any) -> DaskEngine:
    """Return the engine of a client, of a LocalCluster or its like, or of the scheduler at an address."""
    try:
        from distributed import Client, default_client
    except ImportError:
        raise InvalidParameter("clusters of Dask need dask and distributed: pip install 'adaline[dask]'") from None
    if not isinstance(cluster, str):
        return DaskEngine(cluster if isinstance(cluster, Client) else cluster.get_client())
    with suppress(ValueError):  # where this process has no client
        known = default_client()
        if known.scheduler.address == cluster:
            return DaskEngine(known)
    try:
        return DaskEngine(Client(cluster))
    except (OSError, ValueError) as error:
        raise InvalidParameter(f"there is no cluster at {cluster!r}: {error}") from None


class FrameParts(TableParts):
    """A data frame of Dask: each partition is a part of one table."""

    def __init__(self, frame: Any, engine: DaskEngine | None, title: str = "the frame") -> None:
        super().__init__(title)
        self.frame, self.engine = frame, engine

    def place(self, columns: Sequence[str], where: str, required: Sequence[str]) -> Held:
        """Return the partitions as Arrow tables, on the cluster; without one they are computed here, in threads."""
        import dask

        names = list(dict.fromkeys([*columns, *required]))
        make = dask.delayed(partition_tables, pure=True)
        parts = [make(one, list(columns), list(required)) for one in self.frame[names].to_delayed()]
        if self.engine is None:
            return HeldHere(list(dask.compute(*parts)))
        return self.engine.hold(parts)

    def column(self, source: Any, function: Any) -> Any:
        """Return the values of the rows of each partition, with their index, as they are computed when asked for."""
        table = source.leaf
        columns, required = table.columns_read(), table.relation.required(table.where)
        work = pack((source, function))
        first = partition_tables(table.relation.frame.slice(0, FIRST).to_pandas(), columns, required)
        none = as_column(run_work(work, [(0, 0)], first), None).iloc[:0]
        return self.frame[list(dict.fromkeys([*columns, *required]))].map_partitions(
            _partition_column, work, columns, required, none, meta=none
        )


def _partition_column(frame: Any, work: bytes, columns: list[str], required: Sequence[str], none: Any) -> Any:
    """Return the values of the rows of a partition that have values in all required columns, with their index."""
    kept = ~frame[list(required)].isna().any(axis=1) if required else slice(None)
    tables = partition_tables(frame[kept], columns, ())
    return as_column(run_work(work, [(0, 0)], tables, 1), frame[kept].index) if tables[0].num_rows else none


def partition_tables(frame: Any, columns: Sequence[str], required: Sequence[str]) -> list[Any]:
    """Return a partition of a data frame as a list of one Arrow table, of rows with values in all required columns."""
    table = as_arrow(nw.from_native(frame, eager_only=True))
    return [plain_batch(without_missing(table, required).select(list(columns))).combine_chunks()]


def open_data(data: Any, cluster: Any, target: Any) -> tuple[Relation, FrameParts, Any]:
    """Return the first rows of a frame or array as a relation, its partitions as parts, and the target's name."""
    if hasattr(data, "chunks"):
        own = hasattr(target, "chunks")
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
    return Relation(first), FrameParts(data, engine), target


def frame_of_array(x: Any, y: Any = None) -> Any:
    """Return a Dask array (N, D), with targets (N,), as a data frame with columns x0, x1, ... and y."""
    import dask.array as da
    import dask.dataframe as dd

    if x.ndim != 2:
        raise InvalidData(f"a table is an array of two dimensions, (rows, columns), not of {x.ndim}")
    if y is not None and y.ndim != 1:
        raise InvalidData(f"a target array has one dimension, (rows,), not {y.ndim}: open a data frame for several")
    if np.isnan((x.shape[1],) if y is None else (*x.shape, *y.shape)).any():
        raise InvalidData("the sizes of the chunks of an array are unknown: call its compute_chunk_sizes() first")
    if y is not None and x.shape[0] != y.shape[0]:
        raise InvalidData(f"X has {x.shape[0]:,} rows and the target {y.shape[0]:,}")
    names = [f"x{j}" for j in range(x.shape[1])]
    x = x.rechunk({1: -1})
    if y is not None:
        x, names = (
            da.concatenate([x, y.reshape((-1, 1)).rechunk({0: x.chunks[0]})], axis=1).rechunk({1: -1}),
            [*names, "y"],
        )
    return dd.from_dask_array(x, columns=names)
