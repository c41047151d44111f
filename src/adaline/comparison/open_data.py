"""Opening data to compare or fit systems: columns that cannot be used are left out with a note, gaps are counted."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from adaline.coding.formula import read_formula
from adaline.errors import InvalidData, InvalidParameter, MissingValues
from adaline.sources import TableSource
from adaline.sources.tables.batches import without_missing
from adaline.sources.tables.coding import (
    count_gaps,
    find_identifiers,
    gap_counts,
    gaps_of,
    refuse_mistyped,
    refuse_prose,
    target_columns,
    usable_columns,
)
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.open_table import engine_of
from adaline.sources.tables.parts import FileParts, TableParts
from adaline.sources.tables.pipes import Pipe, is_pipe, pipe_title
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.source import KEPT
from adaline.sources.tables.sparse_files import open_sparse, refuse_options, sparse_suffix
from adaline.sources.tables.spec import TableSpec, check_column, names_of, read_spec, shown_columns
from adaline.sources.tables.sql import quoted
from adaline.wording import counted, joined

LABELS = ("text", "category", "boolean")
OPTION = re.compile(r"in (dates|categories|hash(?=ed)|words)(ed)?\b")
GUESS = 2**15  # rows of a text file that are looked at for what is missing
FEW = 10  # whole numbers with no more different values than this may be classes
MOST_CLASSES = 20  # whole numbers with more distinct values than this are amounts, not labels


@dataclass(frozen=True)
class DataRequest:
    """Which data to open, and how.

    Parameters
    ----------
    data, cluster : as for `open_table`; on a cluster the data are files.
    spec : the options of `open_table` that say what the columns are.
    reading : those that say how files are read.
    drop : columns to leave out.
    choose_missing : whether nobody named a policy for missing values, so that rows without a target are left out and
        other missing values refused.
    shell : whether messages spell options as the command line does.
    """

    data: Any
    spec: TableSpec
    reading: FileOptions = field(default_factory=FileOptions)
    drop: tuple[str, ...] = ()
    choose_missing: bool = False
    shell: bool = False
    cluster: Any = None

    @classmethod
    def of(
        cls,
        data: Any,
        *,
        drop: Any = (),
        missing: str | None = None,
        shell: bool = False,
        cluster: Any = None,
        table: str | None = None,
        sheet: str | int | None = None,
        decimal: str | None = None,
        na: Any = (),
        encoding: str | None = None,
        **options: Any,
    ) -> Self:
        """Return a request from the options of `open_table`, where `missing` may be None, and `drop`."""
        spec = TableSpec.of(missing=missing or "drop", **options)
        reading = FileOptions.of(table, sheet, decimal, na, encoding)
        return cls(data, spec, reading, names_of(drop), missing is None, shell, cluster)

    @property
    def title(self) -> str:
        """What to call the data in a title: a file or a data set by its name; "" where they are a frame."""
        if isinstance(self.data, Pipe):
            return self.data.title
        if not isinstance(self.data, str):
            return ""
        if is_pipe(self.data):
            return pipe_title(self.data)
        is_path = "/" in self.data and "\n" not in self.data and len(self.data) < 300
        return Path(self.data).name if is_path else self.data

    def option(self, name: str, value: str = "") -> str:
        """Return an option as the user types it.

        Examples
        --------
        >>> from adaline.comparison.open_data import DataRequest
        >>> [DataRequest.of("x.csv", shell=shell).option("missing", "drop") for shell in (True, False)]
        ['--missing drop', "missing='drop'"]
        """
        if self.shell:
            return f"--{name} {shlex.quote(value) if value else value}".rstrip()
        return f"{name}={value!r}" if value else name

    def call(self, spec: TableSpec) -> str:
        """Return the Python call that opens the same rows, given the spec with its features settled."""
        cluster = {"cluster": self.cluster} if isinstance(self.cluster, str) else {}
        options = {**spec.options(), **self.reading.given(), **cluster}
        data = repr(self.data) if isinstance(self.data, str) else "data"
        lines = [data, *(f"{name}={value!r}" for name, value in options.items())]
        return "adaline.open_table(\n    " + ",\n    ".join(lines) + ",\n)"


@dataclass(frozen=True)
class OpenedData:
    """A table ready to be fitted, and what was left out of it.

    Parameters
    ----------
    request : what was asked for.
    spec : the options that the table was opened by, with the features and the policy for missing values settled.
    source : the rows: a TableSource, or those of a file of sparse rows.
    target : column or expression to be predicted.
    labels : whether that is a column of labels, so that a classifier is meant.
    order : of labels that are declared to have one, the lowest first; else None.
    few : how many values a target of a few different whole numbers has, else 0.
    rows : number of rows of the data, those left out included; 0 where they were not counted.
    left_out : columns that are not used, and why.
    notes : what was left out, in sentences.
    """

    request: DataRequest
    spec: TableSpec
    source: Any
    target: str
    labels: bool
    order: list[Any] | None
    few: int
    rows: int
    left_out: dict[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class MissingCounts:
    """Rows in all, rows without a target, missing values of the others by column; and `few` of OpenedData."""

    rows: int
    without_target: int
    features: dict[str, int]
    few: int


def open_data(request: DataRequest, trusting: bool = False, named: bool = False) -> OpenedData:
    """Open a table with a target; its notes say what is left out.

    Where no features are named, columns that cannot be used as they are stay out. Where no policy for missing values
    is named, rows without a target stay out, and other missing values are refused with their counts. To count them
    takes a pass. A large file, of text or Parquet, that has none in its first rows is opened without it if `trusting`:
    what reads it then refuses the first missing value. If its target is a few whole numbers, they are counted
    nevertheless, unless the system is `named`, and need not be chosen by them.
    """
    spec = request.spec
    if sparse_suffix(request.data) is not None:
        raise InvalidParameter(
            f"{request.title} holds sparse rows, without names of columns to describe: fit a system to them, as in "
            f"adaline fit {request.title} --system LogisticRegression"
        )
    if isinstance(spec.target, tuple):
        raise InvalidParameter(f"target must be one column, got {list(spec.target)}: open_table takes several")
    relation = Relation(request.data, request.reading).with_texts(spec.whole)
    if spec.target is None and spec.formula is None:
        column, formula = request.option("target", "COLUMN"), request.option("formula", "target ~ columns")
        there = shown_columns(relation)
        raise InvalidParameter(f"say what to predict: {column}, or {formula}. Columns of {relation.title}: {there}")
    parts = None if request.cluster is None else FileParts(engine_of(request.cluster), relation)
    spec = read_spec(relation, spec)
    left_out: dict[str, str] = {}
    notes: list[str] = []
    if spec.targets:
        _check_target(relation, str(spec.target))
    if spec.formula is None:
        spec, left_out, notes = _with_features(relation, spec, request)
    elif request.drop:
        raise InvalidParameter(f"a formula names the columns to use: leave {request.option('drop')} out")
    target, columns = _columns(relation, spec)
    counted_columns = columns if spec.weight is None else [*columns, spec.weight]
    plain_file = relation.layout is not None or relation.parquet
    trusting = trusting and request.choose_missing and plain_file and relation.size() > 8 * KEPT
    targets = target_columns(relation, target)
    if parts is None:
        missing = _count_missing(relation, targets, counted_columns, trusting, named)
    else:
        missing = _count_in_parts(parts, targets, counted_columns)
    if request.choose_missing or spec.missing != "error":
        spec, empty = _without_empty(spec, missing, request)
        left_out |= dict.fromkeys(empty, "holds no values")
        if request.choose_missing:
            spec = _with_policy(relation, spec, missing, request, empty)
    for name, reason in left_out.items():
        why = OPTION.sub(r"in --\1", reason) if request.shell else reason
        notes.append(f"column {name!r} is left out: it {why}")
    source = TableSource(relation, spec, parts=parts)
    source.keep()
    if spec.missing != "error" and (gone := missing.rows - source.count_rows()):
        drops = spec.missing == "drop" and not request.choose_missing
        what = "with something missing" if drops else f"without {target}"
        notes.append(f"{counted(gone)} of {missing.rows:,} {'is' if gone == 1 else 'are'} left out: {what}")
    categories = dict(spec.categories)
    is_column = target in relation.schema
    few = missing.few if is_column else 0
    labels = is_column and (
        relation.kind(target) in LABELS or target in categories or few == 2
    )  # two numbers are two classes
    order = source.label_order() if labels and (categories.get(target) or relation.is_ordered(target)) else None
    few = 0 if labels else few
    notes = [*relation.notes, *notes]
    return OpenedData(request, spec, source, target, labels, order, few, missing.rows, left_out, tuple(notes))


def open_sparse_data(request: DataRequest, width: int | None) -> OpenedData:
    """Open a file of sparse rows, which has neither gaps nor columns that cannot be used.

    The names of a VW file are hashed to `width` columns, 2^18 for None.
    """
    options = {**request.spec.options(), **({"drop": request.drop} if request.drop else {})}
    unseen = options.pop("unseen", "error")
    options.pop("missing", None)
    refuse_options(**options, **request.reading.given(), cluster=request.cluster)
    source = open_sparse(request.data, hashed=width, unseen=unseen)
    labels = np.unique(source.read_targets()[:, 0]) if source.shape.targets > source.offset else np.zeros(0)
    few = len(labels) if len(labels) <= FEW and (labels == np.floor(labels)).all() else 0
    two = few == 2  # two numbers are two classes
    rows = source.count_rows()
    return OpenedData(request, request.spec, source, "label", two, None, 0 if two else few, rows, {}, ())


def _check_target(relation: Relation, target: str) -> None:
    """Refuse a target that is neither a number nor a label, before more is read than its first rows."""
    kind = relation.kind(target)
    if kind == "date":
        raise InvalidData(
            f"the target {target!r} holds dates: it is neither a number nor a label. Choose another column, or make a "
            f"number of it by a query, such as SELECT *, epoch({quoted(target)}) / 86400 AS days FROM ..., and predict "
            "that"
        )
    if kind not in (*LABELS, "number"):
        raise InvalidData(
            f"the target {target!r} holds {relation.schema[target]}: it is neither a number nor a label. Choose "
            "another column"
        )
    if kind == "text":
        refuse_prose(relation, [], [target])


def _with_features(
    relation: Relation, spec: TableSpec, request: DataRequest
) -> tuple[TableSpec, dict[str, str], list[str]]:
    """Return the spec with its features named, why columns that nobody dropped are not among them, and notes."""
    drop = request.drop
    for name in drop:
        check_column(relation, name, request.option("drop"))
    if spec.features is not None:
        return replace(spec, features=tuple(name for name in spec.features if name not in drop)), {}, []
    features, reasons = usable_columns(relation, spec)
    reasons = {name: reason for name, reason in reasons.items() if name not in drop}
    refuse_mistyped(relation, [name for name in reasons if relation.kind(name) == "text"])
    features = [name for name in features if name not in drop]
    named = [*spec.whole, *(name for name, _ in spec.categories)]
    identifiers, doubtful = find_identifiers(relation, [name for name in features if name not in named])
    reasons |= {name: f"{why}; name it in {request.option('features')} to use it" for name, why in identifiers.items()}
    features = [name for name in features if name not in identifiers]
    notes = [
        f"column {name!r} {why}: if it only names them, leave it out by {_dropping([name], request)}"
        for name, why in doubtful.items()
    ]
    if not features:
        why = "".join(f"; {name!r} {reason}" for name, reason in reasons.items())
        raise InvalidData(f"{relation.title} has no column to learn from besides the target{why}")
    return replace(spec, features=tuple(features)), reasons, notes


def _columns(relation: Relation, spec: TableSpec) -> tuple[str, list[str]]:
    """Return the target, a column or an expression, and the raw columns that X is made of."""
    if spec.formula is None:
        return str(spec.target), [*(spec.features or ()), *spec.absorb]
    texts = [name for name in relation.schema if relation.kind(name) in ("text", "category")]
    everything = [name for name in relation.schema if name not in (spec.weight, relation.index)]
    formula = read_formula(spec.formula, texts, list(relation.schema), everything=everything)
    relation.add_lags(formula.columns())
    return formula.target, [*formula.columns(), *formula.absorb, *spec.absorb]


def _count_missing(
    relation: Relation, targets: Sequence[str], columns: Sequence[str], trusting: bool = False, named: bool = False
) -> MissingCounts:
    """Count what is missing: in one scan, or in two where rows have no target.

    If `trusting`, and nothing is missing in the first rows, nor are their targets a few whole numbers, which is nothing
    to who has `named` a system, no more is read.
    """
    no_target = " OR ".join(map(relation.absent, targets))
    first = [f"count_if({no_target})", "0", "FALSE"]
    if len(targets) == 1 and relation.kind(targets[0]) == "number":
        column = quoted(targets[0])
        first[1:] = f"approx_count_distinct({column})", f"bool_and({column} = floor({column}))"
    asked = ", ".join([*first, gap_counts(relation, columns)])
    table = f"(SELECT * FROM {relation.sql} LIMIT {GUESS})" if trusting else relation.sql
    without, values, whole, rows, *each = relation.rows(f"SELECT {asked} FROM {table}")[0]
    without, gaps = int(without or 0), dict(zip(columns, gaps_of([rows, *each]), strict=True))
    if trusting:
        if rows and not (without or any(gaps.values()) or (whole and values <= 2 * FEW and not named)):
            return MissingCounts(0, 0, gaps, 0)
        return _count_missing(relation, targets, columns)
    _refuse_none(relation.title, rows, without, targets)
    if without and any(gaps.values()):
        gaps = count_gaps(relation, columns, f"NOT ({no_target})")
    few = _distinct(relation, targets[0]) if whole and values <= FEW else 0
    return MissingCounts(int(rows), without, gaps, few)


def _refuse_none(title: str, rows: int, without: int, targets: Sequence[str]) -> None:
    if rows == without:
        what = "no rows" if rows == 0 else f"no row with a value of {' and '.join(targets)}"
        raise InvalidData(f"{title} has {what}")


def _count_in_parts(parts: TableParts, targets: Sequence[str], columns: Sequence[str]) -> MissingCounts:
    """Count what is missing where the parts of a table are; a read."""
    names = list(dict.fromkeys([*targets, *columns]))
    counted = partial(_counts_of, tuple(targets), tuple(columns))
    rows, without, gaps, values = parts.reduce(names, counted, _with_counts) or (0, 0, (), None)
    _refuse_none(parts.title, rows, without, targets)
    return MissingCounts(rows, without, dict(zip(columns, gaps, strict=True)), len(values or ()))


Counts = tuple[int, int, list[int], set[float] | None]
"""Rows, those without a target, missing values of the others by column, and the targets if few and whole numbers."""


def _counts_of(targets: tuple[str, ...], columns: tuple[str, ...], table: Any) -> Counts:
    """Return the counts of an Arrow table."""
    from pyarrow import compute, types

    there = without_missing(table, targets)
    absent = [compute.is_null(there.column(name), nan_is_null=True) for name in columns]
    values = None
    kind = there.column(targets[0]).type
    if len(targets) == 1 and (types.is_floating(kind) or types.is_integer(kind)):
        values = _few_whole(set(compute.unique(there.column(targets[0])).to_pylist()))
    gaps = [int(compute.sum(one).as_py() or 0) for one in absent]
    return table.num_rows, table.num_rows - there.num_rows, gaps, values


def _few_whole(values: set[float]) -> set[float] | None:
    return values if len(values) <= FEW and all(value == value // 1 for value in values) else None


def _with_counts(one: Counts, other: Counts) -> Counts:
    """Return the counts of the rows of both."""
    values = None if one[3] is None or other[3] is None else _few_whole(one[3] | other[3])
    gaps = [a + b for a, b in zip(one[2], other[2], strict=True)]
    return one[0] + other[0], one[1] + other[1], gaps, values


def _without_empty(spec: TableSpec, missing: MissingCounts, request: DataRequest) -> tuple[TableSpec, list[str]]:
    """Return the spec without the features that hold no values, and these; with all of them where they were named."""
    with_target = missing.rows - missing.without_target
    empty = [name for name, count in missing.features.items() if count == with_target and name != spec.weight]
    named = request.spec.features is not None or request.spec.formula is not None
    if named or len(empty) >= len(spec.features or ()):
        return spec, []
    return replace(spec, features=tuple(name for name in spec.features or () if name not in empty)), empty


def _with_policy(
    relation: Relation, spec: TableSpec, missing: MissingCounts, request: DataRequest, empty: Collection[str]
) -> TableSpec:
    """Return the spec with a policy where none was named; refuse missing values that need a decision.

    Those of `empty` columns, which are left out, need none.
    """
    with_target = missing.rows - missing.without_target
    holes = {name: count for name, count in missing.features.items() if count and name not in empty}
    if holes:
        worst = sorted(holes, key=lambda name: -holes[name])
        shown = ", ".join(f"{name!r} ({holes[name]:,})" for name in worst[:6]) + (", ..." if len(worst) > 6 else "")
        raise MissingValues(
            f"{relation.title} has missing values in {shown} of {with_target:,} rows. Say what to do: "
            f"{request.option('missing', 'drop')} leaves such rows out, mean fills them in, indicator fills them in "
            f"and marks them; or leave columns out by {_dropping(worst[:6], request)}"
        )
    policy = "drop" if missing.without_target else "error"
    return replace(spec, missing=policy)


def _distinct(relation: Relation, column: str) -> int:
    """Return how many different values a column has."""
    here = f"NOT {relation.absent(column)}"
    return int(relation.rows(f"SELECT count(DISTINCT {quoted(column)}) FROM {relation.sql} WHERE {here}")[0][0])


def _dropping(columns: Sequence[str], request: DataRequest) -> str:
    """Return the option that leaves columns out, as the user types it."""
    return f"--drop {shlex.quote(joined(columns))}" if request.shell else f"drop={list(columns)!r}"
