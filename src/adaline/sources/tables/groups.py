"""Groups of rows by a column of their table, read block by block as one more target."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from adaline.arrays import AnyArray, Array
from adaline.coding import Column
from adaline.errors import InvalidData, InvalidParameter, MissingValues
from adaline.lazy import nw
from adaline.sources.base import Source
from adaline.sources.expanded import Expanded
from adaline.sources.tables.source import TableSource
from adaline.sources.tables.spec import check_column
from adaline.sources.tables.summary import Wanted, summarize
from adaline.sources.tables.targets import ReadTargets
from adaline.sources.targets import TargetChange
from adaline.sources.views import ChangedTargets


@dataclass(frozen=True)
class BesideGroup:
    """A reader of targets with the group of each row beside them: its number in the table, or that of its level."""

    targets: ReadTargets
    column: Column

    def __call__(self, frame: nw.DataFrame[Any], first: int) -> Array:
        """Return the targets and the group of each row, (n, K + 1)."""
        numbers = self.column.kind == "number"
        group = self.column.numbers(frame) if numbers else self.column.codes(frame).astype(np.float64)
        if np.isnan(group).any() if numbers else (group < 0).any():
            raise MissingValues(_gaps(self.column.name))
        if numbers and np.abs(group).max(initial=0.0) >= 2.0**53:
            raise InvalidData(
                f"column {self.column.name!r} has groups of 2^53 or more, where float64 merges neighbours: "
                "give them as texts, or as an array with a label for each row"
            )
        return np.column_stack([self.targets(frame, first), group])


def with_group(source: Source, name: str) -> Source:
    """Return the rows of a table with the group of each, which column `name` holds, as one more target.

    A column of numbers is read with the rows; of one of texts the different ones are looked up first.
    """
    if isinstance(source, Expanded):
        return source._with(with_group(source.base, name))
    if isinstance(source, ChangedTargets):
        known = replace(source.targets, count=source.targets.count + 1, offset=0)
        change = TargetChange(partial(_beside_last, source.change), known, source.change.reweighs)
        return ChangedTargets(with_group(source.base, name), change)
    if not isinstance(source, TableSource):
        raise InvalidParameter(f"groups={name!r} names a column, and X is no table: give a label for each row")
    check_column(source.relation, name, "groups")
    column = Column(name, "number")
    if source.relation.kind(name) != "number":
        source.reads[0] += 1
        wanted = Wanted(levels=((name, sys.maxsize),), required=source.relation.required(source.where))
        found = summarize(source.rows.reduce(), wanted).levels[name]
        if found.missing:
            raise MissingValues(_gaps(name))
        column = Column(name, "category", tuple(sorted(found.counts or (), key=str)))
    spec = replace(source.spec, target=(*source.target_names, name), formula=None)
    return source.reading(BesideGroup(source.learned().read_targets, column), source.targets.count + 1, spec=spec)


def _beside_last(change: TargetChange, t: Array, weight: AnyArray) -> tuple[Array, Any]:
    """Return a change of all targets t (n, K + 1) but the last one, and that one beside them."""
    own, weight = change.of(t[:, :-1], weight)
    return np.column_stack([own, t[:, -1]]), weight


def _gaps(name: str) -> str:
    return f"column {name!r} has no value in some rows: leave those out, or fill them in"
