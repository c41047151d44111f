"""The rows of a table for `fit_groups`: columns of X, targets, weights and keys, all rows in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adaline.arrays import Array, DataLike, framed
from adaline.block import Columns
from adaline.coding import Coding, Column
from adaline.coding.expressions import lag_of
from adaline.coding.frames import collected, learn_from_frame
from adaline.coding.reading import is_missing
from adaline.errors import InvalidData, InvalidParameter
from adaline.groups.keys import Grouping, group_rows, sorted_rows
from adaline.groups.regressions import GroupedRows
from adaline.lazy import nw, pa
from adaline.results import some
from adaline.sources.tables.batches import batch_table
from adaline.sources.tables.relation import ROWS, Relation
from adaline.sources.tables.rows import TableRows
from adaline.sources.tables.source import TableSource
from adaline.sources.tables.spec import TableSpec, check_column, names_of, read_spec
from adaline.sources.tables.targets import columns_as_targets


@dataclass(frozen=True)
class GroupTable:
    """A table whose rows are sorted by group.

    Parameters
    ----------
    names, target : of the columns of X, and of what is predicted.
    keys : the columns that say to which group a row belongs.
    rows : the columns themselves, targets, weights and groups.
    native : whether the table was given as a frame, so that results are one of the same kind.
    order : the column by which the rows of a group are sorted, one of the keys; None where they stay as they come.
    windows : whether the groups are windows of rows.
    intercept : whether there is a constant; False for formulas that say so.
    """

    names: list[str]
    target: str
    keys: nw.DataFrame[Any]
    rows: GroupedRows
    native: bool
    order: str | None
    windows: bool = False
    intercept: bool = True

    def of_windows(self, length: int | None, least: int) -> GroupTable:
        """Return the table of all windows of this length in each group, or of expanding ones from the least on."""
        windows = self.grouping.windows(length, least)
        if not windows.groups:
            shortest = least if length is None else length
            raise InvalidData(f"no window: the largest group has {int(self.grouping.sizes.max())} rows of {shortest}")
        return replace(self, rows=self.rows._replace(grouping=windows), windows=True)

    @property
    def grouping(self) -> Grouping:
        """Which rows are of which group."""
        return self.rows.grouping


def read_group_table(
    data: DataLike, spec: TableSpec, by: Sequence[str], labels: bool, order: str | None = None
) -> GroupTable:
    """Return the rows of a frame, a table of any kind, or one that is open, sorted by the column `order` if it is
    named; targets are numbers or labels of two classes.
    """
    frame = None if isinstance(data, TableSource) else framed(collected(data))
    if isinstance(frame, nw.DataFrame) and not spec.formula:
        return _of_frame(frame, spec, by, labels, order)
    return _of_table(data, spec, by, labels, order)


def _of_frame(
    frame: nw.DataFrame[Any], spec: TableSpec, by: Sequence[str], labels: bool, order: str | None
) -> GroupTable:
    """Return the rows of a frame in memory."""
    keys = [*by, *([] if order is None else [order])]
    weight, known = spec.weight, frame.columns
    target = _one_target(spec.targets)
    others = [target, *([] if weight is None else [weight])]
    for what, names in (
        ("by", by),
        ("order", keys[len(by) :]),
        ("target", others[:1]),
        ("weight", others[1:]),
        ("features", spec.features or ()),
    ):
        for name in names:
            if name not in known:
                raise InvalidParameter(f"{what}: the table has no column {name!r}; it has {some(known)}")
    if not len(frame):
        raise InvalidData("the table has no rows")
    frame = frame if order is None else sorted_rows(frame, order)
    names, columns = _columns(frame.select(features_of(spec.features, known, [*keys, *others], order)))
    t = _labels(frame[target], target) if labels else _numbers(frame, target)
    grouping = group_rows(frame, by)
    weights = None if weight is None else check_weights(_numbers(frame, weight), weight)
    return GroupTable(names, target, frame.select(keys), GroupedRows(columns, t, weights, grouping), True, order)


def _columns(frame: nw.DataFrame[Any]) -> tuple[list[str], list[Array]]:
    """Return the columns of X by name; texts and categories are coded by what all rows hold."""
    coding = learn_from_frame(frame)
    if coding is None:
        return list(frame.columns), [_numbers(frame, name) for name in frame.columns]
    return list(coding.names), _dense(coding.columns_of(frame))


def _of_table(data: DataLike, spec: TableSpec, by: Sequence[str], labels: bool, order: str | None) -> GroupTable:
    """Return the rows of a file, a query, or a table that is open."""
    keys = [*by, *([] if order is None else [order])]
    relation = data.relation if isinstance(data, TableSource) else Relation(data)
    spec = data.spec if isinstance(data, TableSource) else spec
    for i, name in enumerate(keys):
        check_column(relation, name, "by" if i < len(by) else "order")
    spec = read_spec(relation, spec)
    if spec.formula is None:
        others = [*keys, *spec.targets, *([] if spec.weight is None else [spec.weight])]
        spec = replace(spec, features=tuple(features_of(spec.features, list(relation.schema), others, order)))
    source = TableSource(TableRows(relation), spec)
    coding = source.learn_coding()
    _refuse_parts(coding)
    if not coding.count:
        raise InvalidData("there are no columns to learn from: the formula has none")
    target = _one_target(source.target_names)
    frame = _in_memory(source, keys)
    frame = frame if order is None else sorted_rows(frame, order)
    t = _labels(frame[target], target) if labels else columns_as_targets([target])(frame, 0)[:, 0]
    weight = None if spec.weight is None else check_weights(_numbers(frame, spec.weight), spec.weight)
    rows = GroupedRows(_dense(coding.columns_of(frame)), np.ascontiguousarray(t), weight, group_rows(frame, by))
    return GroupTable(list(coding.names), target, frame.select(keys), rows, False, order, intercept=coding.intercept)


def _refuse_parts(coding: Coding) -> None:
    """Refuse what a formula or an open table has besides columns and a constant."""
    for part, there in (
        ("an offset", coding.offset is not None),
        ("absorbed effects", bool(coding.effects)),
        ("instruments", bool(coding.endogenous or coding.instruments)),
        ("curves and random effects", bool(coding.additive)),
        ("lag(), which would cross from one group into the next", any(map(lag_of, coding.needed))),
    ):
        if there:
            raise InvalidParameter(f"groups of rows do not take {part}: leave it out, or fit each group alone")


def _in_memory(source: TableSource, by: Sequence[str]) -> nw.DataFrame[Any]:
    """Return the columns that a fit reads, and the keys, in the rows that are used."""
    columns = list(dict.fromkeys([*source.learned().columns, *by]))
    indexed = [*source.coding.raw_texts, *by]
    runs = source.relation.runs(columns, source.where, ROWS, indexed)
    tables = [batch_table(batch) for _, run in runs for batch in run()]
    tables = [table for table in tables if table.num_rows]
    if not tables:
        raise InvalidData(f"{source.relation.title} has no rows{'' if source.where == 'TRUE' else ' without gaps'}")
    kinds = pa.schema(
        [(one.name, one.type.value_type if pa.types.is_dictionary(one.type) else one.type) for one in tables[0].schema]
    )
    return nw.from_native(pa.concat_tables([table.cast(kinds) for table in tables]), eager_only=True)


def features_of(
    given: Sequence[str] | None, known: Sequence[str], others: Sequence[str], order: str | None = None
) -> list[str]:
    """Return the columns to learn from: those given, or all known ones but others; of these, only the order may be."""
    for i, name in enumerate(others):
        if name in others[:i]:
            raise InvalidParameter(f"{name!r} is named twice among target, keys and weight")
    if both := [name for name in given or () if name in others and name != order]:
        raise InvalidParameter(f"features names {some(both)}: leave out target, keys and weight")
    found = list(names_of(given)) if given is not None else [name for name in known if name not in others]
    if not found:
        raise InvalidData("there are no columns to learn from besides target, keys and weight")
    return found


def check_weights(weight: Array, name: str) -> Array:
    """Return weights; refuse those that are missing, infinite or negative."""
    wrong = ~(np.isfinite(weight) & (weight >= 0))
    if wrong.any():
        raise InvalidData(f"column {name!r}, row {int(wrong.argmax())}: weights must be finite and not negative")
    return weight


def _one_target(targets: Sequence[str]) -> str:
    if len(targets) != 1 or not isinstance(targets[0], str):
        raise InvalidParameter("groups of rows need one target: name it by target=, or in a formula")
    return targets[0]


def _numbers(frame: nw.DataFrame[Any], name: str) -> Array:
    return np.ascontiguousarray(Column(name, "number").numbers(frame))


def _dense(x: Any) -> list[Array]:
    """Return the columns of X one by one."""
    columns = x if isinstance(x, Columns) else x.toarray().T
    return [np.ascontiguousarray(one, dtype=np.float64) for one in columns]


def _labels(series: nw.Series[Any], name: str) -> Array:
    """Return the place of each label among the two different ones, sorted; NaN where it is missing."""
    values = series.to_list()
    gaps = np.array([is_missing(value) for value in values])
    classes = sorted({value for value, gap in zip(values, gaps, strict=True) if not gap})
    if len(classes) != 2:
        raise InvalidData(f"the target {name!r} has {len(classes)} classes, and groups of rows are fitted to two")
    return np.where(gaps, np.nan, [float(value == classes[1]) for value in values])
