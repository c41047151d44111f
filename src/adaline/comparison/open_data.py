"""Opening data to compare or fit systems: columns that cannot be used are left out with a note, gaps are counted."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from adaline.arrays import DataLike, GroupsLike
from adaline.coding.columns import MISSING_LEVEL
from adaline.coding.formula import read_formula
from adaline.errors import InvalidData, InvalidParameter
from adaline.lazy import pa
from adaline.sources import TableSource
from adaline.sources.tables.altered import with_dates, with_texts
from adaline.sources.tables.batches import without_missing
from adaline.sources.tables.coding import (
    CODED_LEVELS,
    Mistyped,
    codable_categories,
    count_gaps,
    find_constants,
    find_identifiers,
    find_mistyped,
    find_ticked,
    gap_counts,
    gaps_of,
    refuse_unlike_levels,
    required_columns,
    target_columns,
    usable_columns,
    with_formula_lags,
)
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.notation import date_formats
from adaline.sources.tables.open_table import choose_engine
from adaline.sources.tables.parts import FileParts, TableParts
from adaline.sources.tables.pipes import Pipe, is_pipe, pipe_title
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.rows import TableRows
from adaline.sources.tables.source import KEPT
from adaline.sources.tables.sparse_files import open_sparse, refuse_options, sparse_suffix
from adaline.sources.tables.spec import TableSpec, check_column, names_of, read_spec, shown_columns
from adaline.sources.tables.sql import is_query, quoted
from adaline.wording import counted, file_name, joined, part_of

LABELS = ("text", "category", "boolean")
OPTION = re.compile(r"in (dates|categories|na|hash(?=ed)|words)(ed)?\b=?")
# rows of a text file that are searched for missing values; doubling it opens large files more slowly
SEARCHED_ROWS = 2**15
MOST_WHOLE_CLASSES = 10  # distinct whole numbers up to which they may be classes; doubling it asks about more targets
# share of rows that compare leaves out for missing values; beyond it they are filled in; doubling it fills in less
# often
MOST_LOST = 0.05
# share of missing values beyond which fit leaves a column out, if few rows are complete; doubling it leaves out none
MOSTLY_EMPTY = 0.5
CHECKED_TEXTS = 1000  # texts of a target that are checked for dates; doubling it takes twice as long
MOST_NAMED = 5  # columns that a note names; doubling it makes notes hard to read
HASHED_BITS = 8  # bits of the columns to which a note proposes to hash many levels: any system takes 256
MOST_WHOLE_LABELS = 20  # distinct whole numbers up to which they are labels, beyond that amounts


@dataclass(frozen=True)
class DataRequest:
    """Which data to open, and how.

    Parameters
    ----------
    data, cluster : as for `open_table`; on a cluster the data are files.
    spec : the options of `open_table` that say what the columns are.
    reading : those that say how files are read.
    drop : columns to leave out.
    choose_missing : whether no policy for missing values was named, so that `open_data` chooses one.
    shell : whether messages spell options as the command line does.
    aside : columns that are used for something else than learning, as the keys of groups, each with its option.
    """

    data: Any
    spec: TableSpec
    reading: FileOptions = field(default_factory=FileOptions)
    drop: tuple[str, ...] = ()
    choose_missing: bool = False
    shell: bool = False
    cluster: Any = None
    aside: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls,
        data: DataLike,
        *,
        drop: Any = (),
        missing: str | None = None,
        shell: bool = False,
        cluster: GroupsLike = None,
        aside: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Self:
        """Return a request from the options of `open_table`, where `missing` may be None, and `drop`."""
        reading = FileOptions.of(
            **{one.name: options.pop(one.name) for one in fields(FileOptions) if one.name in options}
        )
        spec = TableSpec.of(missing=missing or "drop", **options)
        return cls(data, spec, reading, names_of(drop), missing is None, shell, cluster, tuple((aside or {}).items()))

    @property
    def title(self) -> str:
        """What to call the data in a title: a file or a data set by its name, a query "the query", a frame ""."""
        if isinstance(self.data, Pipe):
            return self.data.title
        if not isinstance(self.data, str):
            return ""
        if is_pipe(self.data):
            return pipe_title(self.data)
        if is_query(self.data):
            return "the query"
        is_path = "/" in self.data and "\n" not in self.data and len(self.data) < 300
        title = Path(self.data).name if is_path else self.data
        return file_name(title) if Path(self.data).exists() else " ".join(title.split())

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
    """A table ready to be fitted, with notes on what was left out.

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
    gaps : what was done about missing values of features, in a few words for a title; "" where there are none.
    nearly_numbers : columns of numbers that a few texts, or different units, keep from being used as such, and why.
    many : categories that are left out for their many levels.
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
    gaps: str = ""
    nearly_numbers: dict[str, str] = field(default_factory=dict)
    many: tuple[str, ...] = ()

    @property
    def drops_gaps(self) -> bool:
        """Whether rows were left out for gaps in columns, which could be filled instead."""
        return bool(self.gaps) and self.spec.missing == "drop" and self.request.cluster is None


@dataclass(frozen=True)
class MissingCounts:
    """Counts of the missing values of a table.

    Parameters
    ----------
    rows : in all.
    without_target : rows that lack a target, a weight or an offset, which are never filled.
    features : missing values in the other rows, by column.
    complete : rows that lack nothing.
    few : as in OpenedData.
    """

    rows: int
    without_target: int
    features: dict[str, int]
    complete: int
    few: int

    @property
    def with_target(self) -> int:
        """Rows that have a target, a weight and an offset."""
        return self.rows - self.without_target

    @property
    def holes(self) -> dict[str, int]:
        """The columns with missing values and their counts, most first."""
        found = {name: count for name, count in self.features.items() if count}
        return dict(sorted(found.items(), key=lambda item: -item[1]))


def open_data(
    request: DataRequest,
    trusting: bool = False,
    named: bool = False,
    most_lost: float | None = None,
    penalised: bool = False,
) -> OpenedData:
    """Open a table with a target; its notes say what is left out.

    Where no features are named, columns that cannot be used as they are stay out, and so do categories of more levels
    than `codable_categories` allows, which are more where the system is `penalised`. Where no policy for missing values
    is named, rows with gaps are left out. If that would lose more than the share `most_lost` of the rows, gaps are
    filled and marked by indicators instead; for None, only if too few rows are complete to fit the columns, even
    without those that are mostly empty.

    Counting missing values takes a pass. A large file, of text or Parquet, that has none in its first rows is opened
    without it if `trusting`: what reads it then refuses the first missing value. If its target is a few whole numbers,
    they are counted nevertheless, unless the system is `named`, and need not be chosen by them.
    """
    relation = _described_table(request)
    parts = None if request.cluster is None else FileParts(choose_engine(request.cluster), relation)
    relation = with_dates(relation, request.spec.dates) if parts is None else relation
    spec = read_spec(relation, request.spec)
    for name, argument in request.aside:
        check_column(relation, name, request.option(argument))
    relation = with_formula_lags(relation, spec)
    left_out: dict[str, str] = {}
    explained: set[str] = set()
    nearly: dict[str, str] = {}
    many: list[str] = []
    notes: list[str] = []
    if spec.targets:
        _check_target(relation, str(spec.target))
    if spec.formula is None:
        spec, left_out, notes, nearly, many = _with_features(relation, spec, request, parts is None, penalised)
        explained = {*left_out}
        if request.choose_missing and parts is None:
            relation, spec, ticked = _with_ticked(relation, spec)
            notes += ticked
        if most_lost is None and parts is None and request.spec.features is None:
            spec, same = _without_constants(relation, spec)
            left_out |= dict.fromkeys(same, "holds the same value in every row")
    elif request.drop:
        raise InvalidParameter(f"a formula names the columns to use: leave {request.option('drop')} out")
    target, columns = _columns(relation, spec)
    plain_file = relation.text is not None or relation.parquet
    trusting = trusting and request.choose_missing and plain_file and relation.size() > 8 * KEPT
    required = required_columns(relation, replace(spec, missing="mean"), [target], ())

    def count_missing(columns: Sequence[str], trusting: bool = False) -> MissingCounts:
        columns = [name for name in columns if name not in spec.ticked]
        if parts is None:
            return _count_missing(relation, target, required, columns, trusting, named)
        return _count_in_parts(parts, target_columns(relation, target), required, columns)

    missing = count_missing(columns, trusting)
    if request.choose_missing or spec.missing != "error":
        spec, missing, empty = _settle_gaps(relation, spec, request, missing, most_lost, count_missing)
        left_out |= empty
    notes += [_left_out_note(name, left_out[name], request) for name in left_out if name not in explained]
    source = TableSource(TableRows(relation, parts), spec).keep()
    if spec.missing != "error" and missing.without_target:
        note = f"{part_of(missing.without_target, missing.rows)} left out: no value of {' or '.join(required)}"
        notes.append(note + _words_text(relation, required, request))
    gaps = ""
    if spec.missing != "error" and missing.holes:
        gaps, note = _gaps_text(spec.missing, missing, request)
        notes.append(note + _words_text(relation, list(missing.holes), request))
    categories = dict(spec.categories)
    is_column = target in relation.schema
    few = missing.few if is_column else 0
    labels = is_column and (
        relation.kind(target) in LABELS or target in categories or few == 2
    )  # two numbers are two classes
    order = source.labels.column.order() if labels and (categories.get(target) or relation.is_ordered(target)) else None
    few = 0 if labels else few
    notes = [*relation.notes, *notes]
    known = left_out, tuple(notes), gaps, nearly, tuple(many)
    return OpenedData(request, spec, source, target, labels, order, few, missing.rows, *known)


def open_sparse_data(request: DataRequest, width: int | None) -> OpenedData:
    """Open a file of sparse rows, which has neither gaps nor columns that cannot be used.

    The names of a VW file are hashed to `width` columns, 2^18 for None.
    """
    options = {**request.spec.options(), **({"drop": request.drop} if request.drop else {})}
    unseen = options.pop("unseen", "error")
    options.pop("missing", None)
    aside = {argument: name for name, argument in request.aside}
    refuse_options(**options, **aside, **request.reading.given(), cluster=request.cluster)
    source = open_sparse(request.data, hashed=width, unseen=unseen)
    labels = np.unique(source.read_targets()[:, 0]) if source.targets.given else np.zeros(0)
    few = len(labels) if len(labels) <= MOST_WHOLE_CLASSES and (labels == np.floor(labels)).all() else 0
    two = few == 2  # two numbers are two classes
    rows = source.count_rows()
    return OpenedData(request, request.spec, source, "label", two, None, 0 if two else few, rows, {}, ())


def _described_table(request: DataRequest) -> Relation:
    """Return the table of a request; refuse one without a target to predict, and files whose columns have no names."""
    spec = request.spec
    if sparse_suffix(request.data) is not None:
        raise InvalidParameter(
            f"{request.title} holds sparse rows, without names of columns to describe: fit a system to them, as in "
            f"adaline fit {request.title} --system LogisticRegression"
        )
    if isinstance(spec.target, tuple):
        raise InvalidParameter(f"target must be one column, got {list(spec.target)}: open_table takes several")
    relation = with_texts(Relation(request.data, request.reading), spec.whole)
    if spec.target is None and spec.formula is None:
        column, formula = request.option("target", "COLUMN"), request.option("formula", "target ~ columns")
        there = shown_columns(relation)
        raise InvalidParameter(f"say what to predict: {column}, or {formula}. Columns of {relation.title}: {there}")
    return relation


def _settle_gaps(
    relation: Relation,
    spec: TableSpec,
    request: DataRequest,
    missing: MissingCounts,
    most_lost: float | None,
    count_missing: Callable[[Sequence[str]], MissingCounts],
) -> tuple[TableSpec, MissingCounts, dict[str, str]]:
    """Return the spec without empty columns and with a policy for missing values, what is missing then, and why columns
    are left out; see `open_data`.
    """
    spec, empty = _without(spec, missing, request)
    left_out = dict.fromkeys(empty, "holds no values")
    missing = count_missing(_columns(relation, spec)[1]) if empty else missing
    if not request.choose_missing:
        return spec, missing, left_out
    if most_lost is None and _too_few(missing):
        spec, sparse = _without(spec, missing, request, MOSTLY_EMPTY)
        gaps = {name: f"has no value in {missing.features[name]:,} of {missing.with_target:,} rows" for name in sparse}
        left_out |= gaps
        missing = count_missing(_columns(relation, spec)[1]) if sparse else missing
    return replace(spec, missing=_policy(missing, most_lost)), missing, left_out


def _check_target(relation: Relation, target: str) -> None:
    """Refuse a target that is neither a number nor a label, before more is read than its first rows."""
    kind = relation.kind(target)
    written = _date_format(relation, target) if kind == "text" else None
    if kind == "date" or written is not None:
        moment = quoted(target) if written is None else f"strptime({quoted(target)}, '{written}')"
        raise InvalidData(
            f"the target {target!r} holds dates, neither numbers nor labels: choose another column, or make a number "
            f"of it by a query, such as SELECT *, epoch({moment}) / 86400 AS days FROM ..., and predict that. There "
            f"are: {shown_columns(relation)}"
        )
    if kind not in (*LABELS, "number"):
        raise InvalidData(
            f"the target {target!r} holds {relation.schema[target]}, neither numbers nor labels: choose another "
            f"column. There are: {shown_columns(relation)}"
        )
    if mixed := relation.mixed_units(target):
        raise InvalidData(f"the target {target!r} {mixed}: convert them to one unit, or choose another column")
    if kind == "text":
        refuse_unlike_levels(relation, [], [target])


def _date_format(relation: Relation, column: str) -> str | None:
    """Return the notation of dates that the first texts of a column are all written in; None where there is none."""
    first = f"SELECT {relation.value(column)} AS t FROM {relation.sql} LIMIT {CHECKED_TEXTS}"
    present, longest = relation.rows(f"SELECT count(t), arg_max(t, length(t)) FROM ({first})")[0]
    formats = date_formats(longest or "")
    if not formats:
        return None
    each = ", ".join(f"count(try_strptime(t, '{one}'))" for one in formats)
    counts = relation.rows(f"SELECT {each} FROM ({first})")[0]
    return next((one for one, count in zip(formats, counts, strict=True) if count == present), None)


def _with_features(
    relation: Relation, spec: TableSpec, request: DataRequest, everywhere: bool, penalised: bool
) -> tuple[TableSpec, dict[str, str], list[str], dict[str, str], list[str]]:
    """Return the spec with its features named, why columns that nobody dropped are not among them, notes, columns
    that are nearly numbers, and categories of too many levels to be coded.

    Levels are counted `everywhere`, or in the first rows only.
    """
    for name in request.drop:
        check_column(relation, name, request.option("drop"))
    if spec.features is not None:
        spec = replace(spec, features=tuple(name for name in spec.features if name not in request.drop))
        return *_with_levels_of_numbers(relation, spec, request), {}, []
    drop = {*request.drop, *dict(request.aside)}
    features, reasons, levels = usable_columns(relation, spec, everywhere)
    reasons = {name: reason for name, reason in reasons.items() if name not in drop}
    features = [name for name in features if name not in drop]
    named = [*spec.whole, *(name for name, _ in spec.categories)]
    texts = [name for name in (*features, *reasons) if relation.kind(name) == "text" and name not in named]
    mistyped = find_mistyped(relation, texts)
    reasons |= {name: one.reason for name, one in mistyped.items() if name in reasons}
    identifiers, doubtful, repeated = find_identifiers(relation, [name for name in features if name not in named])
    reasons |= {name: f"{why}; name it in {request.option('features')} to use it" for name, why in identifiers.items()}
    features = [name for name in features if name not in identifiers]
    notes = [
        f"column {name!r} {why}: if it only names them, leave it out by {_dropping([name], request)}"
        for name, why in doubtful.items()
    ]
    notes += [
        f"column {name!r} {why}, but is used as a quantity: "
        f"{request.option('categories', name)} codes its numbers as levels"
        for name, why in repeated.items()
    ]
    notes += [_left_out_note(name, why, request) for name, why in reasons.items()]
    levels = {name: count for name, count in levels.items() if name in features}
    within, plainly = codable_categories(levels, penalised), codable_categories(levels, False)
    many = {name: levels[name] for name in levels if name not in within}
    reasons |= {name: f"has {count:,} levels, more than are coded by default" for name, count in many.items()}
    features = [name for name in features if name not in many]
    sparse = {name: levels[name] for name in within if name not in plainly}
    if sparse:
        spec = replace(spec, categories=(*spec.categories, *((name, None) for name in sparse)))
        notes.append(f"{_with_levels(sparse)} coded as sparse columns, which the penalty shrinks")
    if many:
        notes.append(_many_levels_note(many, penalised, request))
    coded = [name for name in features if name in mistyped]
    named = [name for name in coded if name not in sparse]
    spec = replace(spec, categories=(*spec.categories, *((name, None) for name in named)))
    notes += [_coded_note(name, mistyped[name], request) for name in coded]
    if not features:
        why = "".join(f"; {name!r} {_spelled(reason, request)}" for name, reason in reasons.items())
        raise InvalidData(f"{relation.title} has no column to learn from besides the target{why}")
    used = {True: "is coded by levels", False: "is left out"}
    nearly = {name: f"{used[name in coded]}: {one.brief}" for name, one in mistyped.items() if one.nearly}
    nearly |= {name: f"is left out: it {mixed}" for name in reasons if (mixed := relation.mixed_units(name))}
    return replace(spec, features=tuple(features)), reasons, notes, nearly, [*many]


def _with_levels_of_numbers(
    relation: Relation, spec: TableSpec, request: DataRequest
) -> tuple[TableSpec, dict[str, str], list[str]]:
    """Return the spec with named features that hold numbers as text as categories, no reasons, and notes about these.

    Columns of which most texts occur once are no categories.
    """
    named = {*spec.whole, *(name for name, _ in spec.categories)}
    texts = [n for n in spec.features or () if n not in named and relation.kind(n) == "text"]
    levels = usable_columns(relation, spec, everywhere=False).levels if texts else {}
    found = find_mistyped(relation, [name for name in texts if name in levels])
    spec = replace(spec, categories=(*spec.categories, *((name, None) for name in found)))
    return spec, {}, [_coded_note(name, one, request) for name, one in found.items()]


def _coded_note(name: str, found: Mistyped, request: DataRequest) -> str:
    """Return the note that a column of numbers is coded by its levels, and how to use it as numbers."""
    return f"column {name!r} is coded by levels: it {_spelled(found.reason_of_levels, request)}"


def _with_ticked(relation: Relation, spec: TableSpec) -> tuple[Relation, TableSpec, list[str]]:
    """Return the table and the spec with columns that hold one text or nothing as categories of two levels, and notes
    about them.
    """
    named = {*spec.whole, *(name for name, _ in spec.categories)}
    found = find_ticked(relation, [name for name in spec.features or () if name not in named])
    levels = tuple((name, (MISSING_LEVEL, text)) for name, text in found.items())
    notes = [f"column {name!r} holds {text!r} or nothing and is read as yes or no" for name, text in found.items()]
    return with_texts(relation, found), replace(spec, categories=(*spec.categories, *levels)), notes


def _without_constants(relation: Relation, spec: TableSpec) -> tuple[TableSpec, list[str]]:
    """Return the spec without the features that hold one value in every row, and these; all stay if all are such."""
    features = spec.features or ()
    same = find_constants(relation, features)
    if len(same) == len(features):
        return spec, []
    return replace(spec, features=tuple(name for name in features if name not in same)), same


def _left_out_note(name: str, reason: str, request: DataRequest) -> str:
    """Return the note that a column is left out, with the options of its reason as the user types them."""
    return f"column {name!r} is left out: it {_spelled(reason, request)}"


def _with_levels(levels: dict[str, int]) -> str:
    """Return columns with their numbers of levels, and a verb: "column 'a' (700 levels) is"."""
    named = ", ".join(f"{name!r} ({count:,} levels)" for name, count in list(levels.items())[:MOST_NAMED])
    more = f" and {len(levels) - MOST_NAMED} more" if len(levels) > MOST_NAMED else ""
    return f"column {named} is" if len(levels) == 1 else f"columns {named}{more} are"


def _many_levels_note(many: dict[str, int], penalised: bool, request: DataRequest) -> str:
    """Return the note for categories that are left out for their many levels, with the ways to use them."""
    names = list(many)[:MOST_NAMED]
    if request.shell:
        own = shlex.quote(joined(names))
        hashed = shlex.quote(joined(f"{name}=2^{HASHED_BITS}" for name in names))
        ways = f"fit --absorb {own}", f"--hash {hashed}", f"--categories {own}"
    else:
        hashed = repr(dict.fromkeys(names, 2**HASHED_BITS))
        ways = f"open_table(..., absorb={names!r})", f"hashed={hashed}", f"categories={names!r}"
    return (
        f"{_with_levels(many)} left out: by default at most {CODED_LEVELS[penalised]:,} levels of all columns are "
        f"coded. {ways[0]} absorbs effects, {ways[1]} hashes levels, {ways[2]} codes them all"
    )


def _columns(relation: Relation, spec: TableSpec) -> tuple[str, list[str]]:
    """Return the target, a column or an expression, and the raw columns that X is made of."""
    if spec.formula is None:
        return str(spec.target), [*(spec.features or ()), *spec.absorb]
    texts = [name for name in relation.schema if relation.kind(name) in ("text", "category")]
    everything = [name for name in relation.schema if name not in (spec.weight, relation.index)]
    formula = read_formula(spec.formula, texts, list(relation.schema), everything=everything)
    return formula.target, [*formula.columns(), *formula.absorb, *spec.absorb]


def _count_missing(
    relation: Relation,
    target: str,
    required: Sequence[str],
    columns: Sequence[str],
    trusting: bool = False,
    named: bool = False,
) -> MissingCounts:
    """Count missing values, in one scan, or in a few if there are any.

    If `trusting`, and nothing is missing in the first rows, nor are their targets a few whole numbers, which is nothing
    to who has `named` a system, no more is read.
    """
    no_target = " OR ".join(map(relation.absent, required))
    first = [f"count_if({no_target})", "0", "FALSE"]
    if relation.schema.get(target) is not None and relation.kind(target) == "number":
        column = quoted(target)
        first[1:] = f"approx_count_distinct({column})", f"bool_and({column} = floor({column}))"
    asked = ", ".join([*first, gap_counts(relation, columns)])
    table = f"(SELECT * FROM {relation.sql} LIMIT {SEARCHED_ROWS})" if trusting else relation.sql
    without, values, whole, rows, *each = relation.rows(f"SELECT {asked} FROM {table}")[0]
    without, gaps = int(without or 0), dict(zip(columns, gaps_of([rows, *each]), strict=True))
    if trusting:
        if rows and not (without or any(gaps.values()) or (whole and values <= 2 * MOST_WHOLE_CLASSES and not named)):
            return MissingCounts(0, 0, gaps, 0, 0)
        return _count_missing(relation, target, required, columns)
    _refuse_none(relation.title, rows, without, required)
    complete = int(rows) - without
    if any(gaps.values()):
        gaps = count_gaps(relation, columns, f"NOT ({no_target})") if without else gaps
        complete = relation.count(relation.present(list(dict.fromkeys([*required, *columns]))))
    few = _distinct(relation, target) if whole and values <= MOST_WHOLE_CLASSES else 0
    return MissingCounts(int(rows), without, gaps, complete, few)


def _refuse_none(title: str, rows: int, without: int, targets: Sequence[str]) -> None:
    if rows == without:
        what = "no rows" if rows == 0 else f"no row with a value of {' and '.join(targets)}: choose another column"
        raise InvalidData(f"{title} has {what}")


def _count_in_parts(
    parts: TableParts, targets: Sequence[str], required: Sequence[str], columns: Sequence[str]
) -> MissingCounts:
    """Count missing values where the parts of a table are; one read."""
    names = list(dict.fromkeys([*required, *columns]))
    counted = partial(_counts_of, tuple(targets), tuple(required), tuple(columns))
    rows, without, gaps, complete, values = parts.reduce(names, counted, _with_counts) or (0, 0, (), 0, None)
    _refuse_none(parts.title, rows, without, required)
    return MissingCounts(rows, without, dict(zip(columns, gaps, strict=True)), complete, len(values or ()))


Counts = tuple[int, int, list[int], int, set[float] | None]
"""Rows, those without a target, missing values of the others by column, complete rows, and the targets if they are few
whole numbers."""


def _counts_of(targets: tuple[str, ...], required: tuple[str, ...], columns: tuple[str, ...], table: Any) -> Counts:
    """Return the counts of an Arrow table."""
    there = without_missing(table, required)
    absent = [pa.compute.is_null(there.column(name), nan_is_null=True) for name in columns]
    values = None
    kind = there.column(targets[0]).type
    if len(targets) == 1 and (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        values = _few_whole(set(pa.compute.unique(there.column(targets[0])).to_pylist()))
    gaps = [int(pa.compute.sum(one).as_py() or 0) for one in absent]
    complete = without_missing(there, columns).num_rows
    return table.num_rows, table.num_rows - there.num_rows, gaps, complete, values


def _few_whole(values: set[float]) -> set[float] | None:
    return values if len(values) <= MOST_WHOLE_CLASSES and all(value == value // 1 for value in values) else None


def _with_counts(one: Counts, other: Counts) -> Counts:
    """Return the counts of the rows of both."""
    values = None if one[4] is None or other[4] is None else _few_whole(one[4] | other[4])
    gaps = [a + b for a, b in zip(one[2], other[2], strict=True)]
    return one[0] + other[0], one[1] + other[1], gaps, one[3] + other[3], values


def _without(
    spec: TableSpec, missing: MissingCounts, request: DataRequest, share: float = 1.0
) -> tuple[TableSpec, list[str]]:
    """Return the spec without the features that are missing in all rows, or in more than a share of them, and these.

    Features that were named stay, and so do all of them where there would be none left.
    """
    least = missing.with_target if share == 1.0 else share * missing.with_target
    empty = [name for name, count in missing.holes.items() if count >= least and name in (spec.features or ())]
    named = request.spec.features is not None or request.spec.formula is not None
    if named or len(empty) >= len(spec.features or ()):
        return spec, []
    return replace(spec, features=tuple(name for name in spec.features or () if name not in empty)), empty


def _too_few(missing: MissingCounts) -> bool:
    """Whether gaps leave too few rows for a fit: none, or less than half of the rows and less than two a column."""
    return missing.complete == 0 or missing.complete < min(2 * len(missing.features), missing.with_target / 2)


def _policy(missing: MissingCounts, most_lost: float | None) -> str:
    """Return the policy for missing values where none was named; see `open_data`."""
    if not missing.holes:
        return "drop" if missing.without_target else "error"
    lost = missing.with_target - missing.complete
    fills = _too_few(missing) if most_lost is None else lost > most_lost * missing.with_target
    return "indicator" if fills else "drop"


def _gaps_text(policy: str, missing: MissingCounts, request: DataRequest) -> tuple[str, str]:
    """Return what is done about gaps: in a few words for a title, and in a note that names columns and other ways."""
    holes, lost = missing.holes, missing.with_target - missing.complete
    named = ", ".join(f"{name!r} ({count:,})" for name, count in list(holes.items())[:MOST_NAMED])
    named += f" and {len(holes) - MOST_NAMED} more columns" if len(holes) > MOST_NAMED else ""
    if policy == "drop":
        note = f"{part_of(lost, missing.rows)} left out for gaps in {named}"
        if request.choose_missing and lost > MOST_LOST * missing.with_target:
            worst = [name for name, count in holes.items() if 4 * count > missing.with_target] or list(holes)
            fill, drop = request.option("missing", "indicator"), _dropping(worst[:MOST_NAMED], request)
            half = ", more than half" if 2 * lost > missing.with_target else ""
            note += f"{half}: {fill} keeps them by filling the gaps, {drop} by leaving columns out"
        return f"{counted(lost)} with gaps left out", note
    marks = " and marked" if policy == "indicator" else ""
    own = " and marked in an added 0/1 column; in columns of text they become a level" if marks else ""
    note = f"missing values in {named} are replaced by the mean of their column{own}"
    if request.choose_missing and not missing.complete:
        note += "; no row is complete"
    elif request.choose_missing:
        rows = f"the {counted(lost)} with missing values ({lost / missing.with_target:.0%})"
        note += f"; {request.option('missing', 'drop')} would leave out {rows}"
    return f"gaps in {counted(len(holes), 'column')} filled{marks}", note


def _words_text(relation: Relation, columns: Sequence[str], request: DataRequest) -> str:
    """Return which words were read as missing values in columns of text, as the end of a note; "" where none were."""
    texts = [name for name in columns[:MOST_NAMED] if relation.kind(name) == "text"]
    found = {} if relation.text is None else relation.text.gap_words(texts, relation.rows)
    if not found:
        return ""
    each = (
        f"{' and '.join(f'{word!r} ({count:,})' for word, count in words.items())} in {name!r}"
        for name, words in found.items()
    )
    option = "--na ''" if request.shell else "na=''"
    return f"; {', '.join(each)} counted as missing, {option} keeps such words as levels"


def _distinct(relation: Relation, column: str) -> int:
    """Return how many different values a column has."""
    here = f"NOT {relation.absent(column)}"
    return int(relation.rows(f"SELECT count(DISTINCT {quoted(column)}) FROM {relation.sql} WHERE {here}")[0][0])


def _spelled(reason: str, request: DataRequest) -> str:
    """Return a reason with the options in it as the user types them."""
    return OPTION.sub(r"in --\1", reason) if request.shell else reason


def _dropping(columns: Sequence[str], request: DataRequest) -> str:
    """Return the option that leaves columns out, as the user types it."""
    return f"--drop {shlex.quote(joined(columns))}" if request.shell else f"drop={list(columns)!r}"
