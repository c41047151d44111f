"""Groups of a Dask or Spark data frame: rows travel to the partition of their key, and are fitted there.

Only coefficients come back. A partition is fitted as a table of its own, so that columns have to be numbers: a coding
of texts, labels and formulas are learned from all rows, and frames with these are collected by this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from adaline.arrays import DataLike, framed
from adaline.lazy import nw, pd

FitPart = Callable[[Any], Any]
SAMPLED_ROWS = 100  # rows fitted beforehand, which show the columns of the result; doubling it takes longer
OTHERS = {"name": "string", "rows": "long", "status": "string"}  # columns of the result that are not float64, to Spark


def fit_partitions(data: DataLike, by: Sequence[str], columns: Sequence[str] | None, fit: FitPart) -> Any:
    """Return the coefficients of the groups of a frame on a cluster, as a pandas frame; None of any other table.

    `fit` returns those of a pandas frame with some of the groups, from these columns besides the keys; None: from all.
    """
    frame = framed(data)
    if not by or not isinstance(frame, nw.LazyFrame) or not (_is_spark(frame) or frame.implementation.is_dask()):
        return None
    known = frame.collect_schema()
    read = [*by, *(name for name in (known if columns is None else columns) if name not in by)]
    numbers = [name for name in read if name in known and (name in by or known[name].is_numeric())]
    if numbers != read:
        return None
    found = (_on_spark if _is_spark(frame) else _on_dask)(frame.select(read).to_native(), list(by), fit)
    return found.sort_values(list(by), kind="stable", ignore_index=True)


def _is_spark(frame: nw.LazyFrame[Any]) -> bool:
    return bool(frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect())


def _on_dask(rows: Any, by: list[str], fit: FitPart) -> Any:
    none = fit(rows.head(SAMPLED_ROWS, npartitions=-1)).iloc[:0]

    def work(own: Any) -> Any:
        return fit(own) if len(own) else none

    return rows.shuffle(on=by).map_partitions(work, meta=none).compute()


def _on_spark(rows: Any, by: list[str], fit: FitPart) -> Any:
    kinds = {name: rows.schema[name].dataType.simpleString() for name in by} | OTHERS
    names = fit(rows.limit(SAMPLED_ROWS).toPandas()).columns
    schema = ", ".join(f"`{name}` {kinds.get(name, 'double')}" for name in names)

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        own = [batch for batch in batches if len(batch)]
        if own:
            yield fit(pd.concat(own, ignore_index=True))

    return rows.repartition(*by).mapInPandas(work, schema).toPandas()
