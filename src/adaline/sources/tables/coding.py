"""Learning the coding of a table: from its first rows by SQL, and from a summary of all of them that merges.

Where there are neither categories, nor values to fill, nor functions that learn, no row is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np

from adaline.arrays import Array
from adaline.coding import Coding, Effect, Learned, Term
from adaline.coding.columns import FEW_LEVELS, nearly_unique
from adaline.coding.expressions import compiled, lag_of, names_in
from adaline.coding.formula import read_formula, targets_of
from adaline.coding.frames import plain_terms
from adaline.coding.learn import MOST_KEPT, TEXTS, ColumnPlan, check_coding, learn_column, refusal, refuse_prose
from adaline.coding.learned import HELD
from adaline.coding.numerals import parse_number
from adaline.coding.terms import without_repetition
from adaline.coding.units import without_unit
from adaline.errors import InvalidData, InvalidParameter, MissingValues
from adaline.lazy import nw
from adaline.sources.tables.altered import with_lags, with_texts
from adaline.sources.tables.batches import without_missing
from adaline.sources.tables.failures import shorten
from adaline.sources.tables.notation import TextColumn
from adaline.sources.tables.relation import TIMES_OF_DAY, Relation
from adaline.sources.tables.spec import TableSpec, check_absorbed, shown_columns
from adaline.sources.tables.sql import quoted
from adaline.sources.tables.summary import ReduceRows, TableSummary, Wanted, reduce_rows, summarize
from adaline.values import Blocks, Values

T = TypeVar("T")

SAMPLE = 200_000  # rows from which it is decided whether a text column is a category
FIRST_ROWS = 64  # read at first to find the columns that vary
SIGNS = "'[,%\u2030$\u20ac\u00a3\u00a5'' \u00a0_]'"  # signs in numbers written for people
IDENTIFIER = re.compile(r"(^|_|\b)(id|key|uuid|guid|index|no|nr)$|[a-z](Id|ID|Key)$", re.ASCII)
MOSTLY = 0.5  # fraction of numbers above which a text column is a column of numbers with errors
FEW_OTHERS = 0.1  # fraction of texts in a column of numbers up to which they look like mistakes
FEWEST = 2  # rows up to which texts that all differ may be the levels of a category; larger codes names as levels
# share of missing values from which they mean "no" in a column with one distinct text; larger reads fewer gaps as "no"
UNTICKED = 0.1
MOST_NAMED = 3  # values of a column that a message names
MOST_LINES = 5  # lines with such values that a message names
WHOLE = ("hashed", "words")
CODED_LEVELS = {False: 500, True: 1500}
"""Levels of all categories together that are coded unasked, without and with a penalty. Twice as many take eight times
as long where each step of a robust fit solves D x D equations; 4,000 take minutes in any system."""
SHOWN = 2**16  # the most frequent levels of a hashed column that are kept, to name its buckets


class UsableColumns(NamedTuple):
    """The columns that can be features, why each of the others cannot, and how many levels the categories have.

    `levels` are those of columns that nobody named as categories, hashed or words; estimated beyond SAMPLE rows.
    """

    features: list[str]
    reasons: dict[str, str]
    levels: dict[str, int]


def usable_columns(relation: Relation, spec: TableSpec, everywhere: bool = True) -> UsableColumns:
    """Return the columns that can be features; levels are counted in all rows, or only in the first ones."""
    named = {name for name, _ in spec.categories} | spec.whole.keys()
    others = (*spec.targets, spec.weight, relation.index, *spec.offset_columns(relation.schema), *spec.absorb)
    reasons: dict[str, str] = {}
    texts: list[str] = []
    declared: list[str] = []
    for name in relation.schema:
        kind = relation.kind(name)
        if name in others:
            continue
        if kind == "other" and relation.schema[name] in TIMES_OF_DAY:
            seconds = f"SELECT * REPLACE (epoch({quoted(name)}) AS {quoted(name)}) FROM ..."
            reasons[name] = f"holds times of day; a query turns them into seconds: {seconds}"
        elif kind == "other":
            reasons[name] = f"holds {relation.schema[name]}"
        elif kind == "date" and name not in spec.dates:
            reasons[name] = "holds dates; name it in dates to use it as days"
        elif name not in named and (mixed := relation.mixed_units(name)):
            reasons[name] = f"{mixed}: convert them to one unit, or name it in categories to code them as levels"
        elif kind in TEXTS and name not in named:
            (texts if kind == "text" else declared).append(name)
    levels: dict[str, int] = {}
    if texts or declared:
        levels, rows = _distinct(relation, [*texts, *declared])
        for name in texts:
            if nearly_unique(levels[name], rows) or levels[name] == rows > FEWEST:
                reasons[name] = (
                    f"holds {levels.pop(name):,} different texts; name it in categories to code them all, or in "
                    "hashed, or in words"
                )
        if everywhere and rows == SAMPLE:  # later rows may have more
            levels |= _estimate_distinct(relation, [name for name in levels if levels[name] > FEW_LEVELS], levels)
    features = [n for n in relation.schema if n not in reasons and n not in others]
    return UsableColumns(features, reasons, levels)


def codable_categories(levels: dict[str, int], penalised: bool) -> list[str]:
    """Return the categories that are coded by their levels unless the user says otherwise, chosen by what they cost.

    Every system solves D x D equations of the coded columns, and without a penalty it also has to find those that
    depend on others; a comparison does so many times. Only the numbers of levels decide, not the number of rows, so
    that a longer table is not coded differently. The columns with the fewest levels come first.

    Examples
    --------
    >>> from adaline.sources.tables.coding import codable_categories
    >>> codable_categories({"tail": 4043, "carrier": 16, "route": 700}, False)
    ['carrier']
    >>> codable_categories({"tail": 4043, "carrier": 16, "route": 700}, True)
    ['carrier', 'route']
    """
    fewest = sorted(levels, key=lambda name: levels[name])
    sums = accumulate(levels[name] for name in fewest)
    within = {name for name, total in zip(fewest, sums, strict=True) if total <= CODED_LEVELS[penalised]}
    return [name for name in levels if name in within]


class Identifiers(NamedTuple):
    """Columns of whole numbers that name things, each with why.

    They are `certain` beyond 2^53, where floats do not tell neighbours apart. Columns are `doubtful` if they number the
    rows, or if they are named like an identifier and differ in every row. They are `repeated` if they are named like an
    identifier and rows share their values: such a column names groups of rows.
    """

    certain: dict[str, str]
    doubtful: dict[str, str]
    repeated: dict[str, str]


def find_identifiers(relation: Relation, names: Iterable[str]) -> Identifiers:
    """Return which columns of whole numbers are identifiers, and which may be."""
    whole = [name for name in names if re.fullmatch(r"U?(BIG|HUGE)?INT(EGER)?", relation.schema[name])]
    if not whole:
        return Identifiers({}, {}, {})
    rows = f"(SELECT {', '.join(map(quoted, whole))} FROM {relation.sql} LIMIT {SAMPLE})"
    asked = [f"count({q}), min({q})::HUGEINT, max({q})::HUGEINT" for q in map(quoted, whole)]
    found = relation.rows(f"SELECT count(*), {', '.join(asked)} FROM {rows}")[0]
    bounds = {name: found[1 + 3 * i : 4 + 3 * i] for i, name in enumerate(whole)}
    wide = [n for n, (count, low, high) in bounds.items() if count == found[0] > FEW_LEVELS and high - low >= count - 1]
    wide += [n for n, (count, _, _) in bounds.items() if count > FEW_LEVELS and IDENTIFIER.search(n) and n not in wide]
    if not wide:
        return Identifiers({}, {}, {})
    distinct = relation.rows(f"SELECT {', '.join(f'count(DISTINCT {quoted(name)})' for name in wide)} FROM {rows}")[0]
    certain, doubtful, repeated = dict[str, str](), dict[str, str](), dict[str, str]()
    for name, different in zip(wide, distinct, strict=True):
        count, low, high = bounds[name]
        if different < count:
            if FEW_LEVELS < different and IDENTIFIER.search(name):
                repeated[name] = f"holds {different:,} different whole numbers and is named like an identifier"
        elif max(-low, high) > 2**53:
            certain[name] = "holds whole numbers beyond 2^53, different in every row: identifiers, not amounts"
        elif high - low == count - 1:
            doubtful[name] = "numbers the rows"
        elif IDENTIFIER.search(name):
            doubtful[name] = "is different in every row and named like an identifier"
    return Identifiers(certain, doubtful, repeated)


def find_constants(relation: Relation, names: Iterable[str]) -> list[str]:
    """Return the columns that hold one value in every row; the first rows rule out most of them, and others are read.

    Aggregates by SQL would take minutes to plan for some thousand columns.
    """
    found = list(names)
    if not found:
        return []
    texts = ", ".join(f"CAST({quoted(name)} AS VARCHAR)" for name in found)  # times with zones are no Python values
    first = relation.rows(f"SELECT {texts} FROM {relation.sql} LIMIT {FIRST_ROWS}")
    values = {name: column[0] for name, column in zip(found, zip(*first, strict=True), strict=False) if _same(column)}
    if values and len(first) == FIRST_ROWS:
        known: dict[str, Any] = {}
        for table in relation.arrow_tables(list(values)):
            for name in list(values):
                unique = table.column(name).unique()
                if len(unique) > 1 or not known.setdefault(name, unique[0]).equals(unique[0]):
                    del values[name]
            if not values:
                break
    return list(values)


def find_ticked(relation: Relation, names: Iterable[str]) -> dict[str, str]:
    """Return the columns that hold one text or nothing, such as boxes that are ticked or not, with that text.

    A value that is missing in few rows is unknown. Other types than text are looked at in text
    files, where they can be read as text.
    """
    kinds = ("text",) if relation.text is None else ("text", "number", "boolean")
    found = [name for name in names if relation.kind(name) in kinds]
    if not found:
        return {}
    texts = ", ".join(f"CAST({quoted(name)} AS VARCHAR)" for name in found)
    first = relation.rows(f"SELECT {texts} FROM {relation.sql} LIMIT {FIRST_ROWS}")
    columns = zip(found, zip(*first, strict=True), strict=False)
    likely = [name for name, values in columns if len({*values} - {None}) <= 1]
    if not likely:
        return {}
    counts: dict[str, dict[str | None, int]] = {name: {} for name in likely}
    rows = 0
    for table in with_texts(relation, likely).arrow_tables(likely):
        rows += table.num_rows
        for name in list(counts):
            for one in table.column(name).value_counts().to_pylist():
                counts[name][one["values"]] = counts[name].get(one["values"], 0) + one["counts"]
            if len(counts[name]) > 2:
                del counts[name]
        if not counts:
            break
    values = {name: [text for text in own if text is not None] for name, own in counts.items()}
    return {
        name: values[name][0]
        for name, own in counts.items()
        if len(values[name]) == 1 and own[values[name][0]] > 1 and own.get(None, 0) >= UNTICKED * rows
    }


def _same(values: Sequence[Any]) -> bool:
    """Whether values are all the same, and there are such."""
    return values[0] is not None and len({*values}) == 1


@dataclass(frozen=True)
class Design:
    """What a spec and the kinds of a table's columns say of its coding, before a row is read.

    features : how the raw columns are to be coded; some are so twice, as numbers and as categories.
    required : the columns that must have a value: rows without one are left out.
    endogenous, instruments : how many of the last terms are endogenous, and instruments.
    additive, arguments : smooths and random effects, and how many of the last terms only these are functions of.
    """

    title: str
    spec: TableSpec
    targets: tuple[str, ...]
    target: str | None
    features: tuple[ColumnPlan, ...]
    required: tuple[str, ...]
    terms: tuple[Term, ...] | None = None
    intercept: bool = True
    endogenous: int = 0
    instruments: int = 0
    additive: tuple[str, ...] = ()
    arguments: int = 0

    @property
    def wanted(self) -> Wanted:
        """What the coding is learned from: levels of categories, and means of numbers where they are filled."""
        fill = self.spec.missing in ("mean", "indicator")
        means = tuple((one.name, one.kind) for one in self.features if fill and one.kind not in (*TEXTS, *WHOLE))
        levels = tuple((one.name, MOST_KEPT) for one in self.features if one.kind in TEXTS)
        words = tuple((one.name, one.words.ngrams) for one in self.features if one.words and not one.words.width)
        if means or levels or words:  # hashed columns need no pass; where there is one, it tells what buckets hold
            levels += tuple((one.name, MOST_KEPT) for one in self.features if one.kind == "hashed")
        return Wanted(means=means, levels=levels, words=words, required=self.required)

    def coding(self, summary: TableSummary) -> Coding:
        """Return the coding, without what functions of a formula learn."""
        levels, means, rows, spec = summary.levels, summary.means, summary.rows, self.spec
        columns = tuple(learn_column(one, levels.get(one.name), means.get(one.name), rows) for one in self.features)
        terms = plain_terms(columns) if self.terms is None else self.terms
        policies = spec.weight, spec.missing, spec.unseen
        effects = tuple(map(Effect, spec.absorb))
        known = Coding(columns, terms, self.target, *policies, self.intercept, spec.offset, effects=effects)
        known = replace(known, additive=self.additive, arguments=self.arguments) if self.additive else known
        return replace(known, endogenous=self.endogenous, instruments=self.instruments) if self.endogenous else known

    def refuse_no_rows(self) -> NoReturn:
        """Refuse a table none of whose rows are used."""
        raise InvalidData(f"{self.title} has no rows{' without gaps' if self.required else ''}")

    def refuse_gaps(self, reduce: ReduceRows, names: Iterable[str]) -> NoReturn:
        """Refuse missing values, naming the columns that have some; one pass."""
        found = summarize(reduce, Wanted(gaps=tuple(dict.fromkeys(names)))).gaps
        raise MissingValues(describe_gaps(self.title, found))


def with_formula_lags(relation: Relation, spec: TableSpec) -> Relation:
    """Return a table with the columns of earlier rows that a formula names, as in "y ~ lag(y, 1)"."""
    if spec.formula is None or "lag(" not in spec.formula:
        return relation
    texts = [name for name in relation.schema if relation.kind(name) in TEXTS]
    formula = read_formula(spec.formula, texts, list(relation.schema), everything=_free_columns(relation, spec))
    return with_lags(relation, formula.columns())


def _free_columns(relation: Relation, spec: TableSpec) -> list[str]:
    """Return the columns that "." of a formula may stand for."""
    others = (spec.weight, spec.offset, relation.index)
    return [name for name in relation.schema if name not in others and lag_of(name) is None]


def design_of(relation: Relation, spec: TableSpec) -> Design:
    """Return what is known of the coding of a table's columns without its rows; refuse columns that have none."""
    kinds = {name: relation.kind(name) for name in relation.schema} | {name: "category" for name, _ in spec.categories}
    kinds |= spec.whole
    targets, target = spec.targets, spec.targets[0] if len(spec.targets) == 1 else None
    terms: tuple[Term, ...] | None = None
    intercept, twice = True, list[str]()
    endogenous = instruments = arguments = 0
    additive: tuple[str, ...] = ()
    if spec.formula is not None:
        formula = read_formula(
            spec.formula,
            [name for name, kind in kinds.items() if kind in (*TEXTS, *WHOLE)],
            list(relation.schema),
            booleans=[name for name, kind in kinds.items() if kind == "boolean"],
            everything=_free_columns(relation, spec),
        )
        target, targets, intercept = formula.target, targets_of(formula.target), formula.intercept
        if formula.offset is not None and spec.offset is not None:
            raise InvalidParameter("the formula has an offset: give none by offset=")
        if formula.absorb and spec.absorb:
            raise InvalidParameter("the formula absorbs effects after its bar: give none by absorb=")
        spec = replace(spec, offset=formula.offset or spec.offset, absorb=formula.absorb or spec.absorb)
        check_absorbed(spec, targets)
        features = formula.columns()
        terms = without_repetition(formula.terms, intercept, spec.whole)
        if formula.endogenous:
            last = len(formula.terms) - formula.instruments
            ends = [
                len(without_repetition(formula.terms[:k], intercept, spec.whole))
                for k in (last - formula.endogenous, last)
            ]
            endogenous, instruments = ends[1] - ends[0], len(terms) - ends[1]
        additive, arguments = formula.additive, len(formula.arguments)
        terms = (*terms, *formula.arguments)
        refuse_whole(terms, spec.whole)
        factors = [factor for term in terms for factor in term.factors]
        levels = {name for factor in factors for name in factor.categories()}
        numbers = {name for factor in factors for name in factor.numbers()}
        twice = [name for name in features if name in levels and name in numbers]
        kinds |= {name: "category" for name in features if name in levels and name not in numbers}
        kinds |= spec.whole
    elif spec.features is not None:
        features = list(spec.features)
    else:
        others = (*targets, spec.weight, relation.index, *spec.offset_columns(relation.schema), *spec.absorb)
        features = [name for name in relation.schema if name not in others]
    if not features and terms is None:
        raise InvalidData(f"{relation.title} has no column to learn from besides the target")
    for name in features:
        nested = kinds[name] == "category" and relation.opened.frame is not None and relation.has_no_levels(name)
        if kinds[name] == "other" or nested or (kinds[name] == "date" and name not in spec.dates):
            raise InvalidData(refusal(name, "other" if nested else kinds[name], relation.schema[name]))
        if kinds[name] == "category" and relation.schema[name] == "TIMESTAMP WITH TIME ZONE":
            raise InvalidData(f"column {name!r} holds times with a zone, no categories: name it in dates=")
    pairs = [*((name, kinds[name]) for name in features), *((name, "category") for name in twice)]
    return Design(
        relation.title,
        spec,
        targets,
        target,
        tuple(_plan(relation, spec, name, kind) for name, kind in pairs),
        tuple(required_columns(relation, spec, targets, [*features, *spec.absorb])),
        terms,
        intercept,
        endogenous,
        instruments,
        additive,
        arguments,
    )


def _plan(relation: Relation, spec: TableSpec, name: str, kind: str) -> ColumnPlan:
    """Return how a column is to be coded."""
    given = dict(spec.categories).get(name) if kind in TEXTS else None
    declared = declared_order(relation, name) if kind == "category" else None
    width = dict(spec.hashed).get(name, 0) if kind == "hashed" else 0
    words = dict(spec.words).get(name) if kind == "words" else None
    return ColumnPlan(name, kind, spec.missing == "indicator", given, declared, width, words)


def refuse_whole(terms: Iterable[Term], whole: dict[str, str]) -> None:
    """Refuse products that cannot be hashed, or whose words cannot be counted."""
    for term in terms:
        kinds = [whole.get(factor.column or "", "") if factor.category else "" for factor in term.factors]
        name = ":".join(factor.text for factor in term.factors)
        if kinds.count("words") + ("hashed" in kinds) > 1:
            raise InvalidParameter(f"{name!r} in the formula multiplies words by words, or by a column that is hashed")
        several = [
            factor.text for factor in term.factors if factor.column is None and compiled(factor.text).kind == "columns"
        ]
        if "hashed" in kinds and several:
            raise InvalidParameter(f"{name!r} in the formula is hashed, and {several[0]!r} has more than one column")
        for factor, kind in zip(term.factors, kinds, strict=True):
            if kind and factor.text != factor.column:
                raise InvalidParameter(
                    f"{factor.text!r} in the formula: column {factor.column!r} is {kind}, not coded by levels"
                )


def learn_coding(relation: Relation, spec: TableSpec, reduce: ReduceRows | None = None) -> Coding:
    """Return the coding of a table's columns.

    Where the rows lie elsewhere `reduce` goes over them, and the relation holds their first ones.
    """
    reduce = partial(reduce_rows, relation) if reduce is None else reduce
    design = design_of(relation, spec)
    named = dict(spec.categories)
    labels = [n for n in design.targets if n in relation.schema and n not in named and relation.kind(n) == "text"]
    refuse_unlike_levels(relation, [one.name for one in design.features if one.kind == "text"], labels)
    wanted = design.wanted
    summary = TableSummary.zero(wanted)
    if wanted.means or wanted.levels or wanted.words:
        summary = summarize(reduce, wanted)
        if not summary.rows:
            design.refuse_no_rows()
    holes = [name for name, levels in summary.levels.items() if levels.missing and name not in spec.ticked]
    if spec.missing == "error" and holes:
        of_targets = [column for target in design.targets for column in target_columns(relation, target)]
        design.refuse_gaps(reduce, [*of_targets, *(one.name for one in design.features)])
    coding = _learn_functions(reduce, design, design.coding(summary), relation.estimated_rows() or 0)
    if relation.text is None:
        coding = replace(coding, notations=tuple(one for one in relation.notations if one.columns[0] in coding.needed))
    else:
        used = [*coding.needed, *required_columns(relation, replace(spec, missing="mean"), design.targets, ())]
        notations = relation.text.dialect.notations(list(dict.fromkeys(used)))
        local = tuple(one for one in notations if not one.plain)  # so that older versions read files of ordinary fits
        coding = replace(coding, na=relation.options.na, notations=local)
    check_coding(coding)
    return coding


def _learn_functions(reduce: ReduceRows, design: Design, coding: Coding, rows: int) -> Coding:
    """Return the coding with what functions in a formula learn: one pass for each depth of calls, more beyond HELD."""
    texts = [factor.text for term in coding.terms for factor in term.factors if factor.column is None]
    pending = {call.text: call for text in texts for call in compiled(text).calls}
    while pending:
        ready = [c for c in pending.values() if all(one.text not in pending for one in compiled(c.argument).calls)]
        try:
            blocks = _values(reduce, design, coding, list(dict.fromkeys(call.argument for call in ready)), rows)
            found = [Learned(call.text, call.learner.learn(blocks[call.argument])) for call in ready]
        except MissingValues:
            design.refuse_gaps(reduce, coding.needed)
        coding = replace(coding, learned=(*coding.learned, *found))
        pending = {text: call for text, call in pending.items() if call not in ready}
    return coding


def _values(
    reduce: ReduceRows, design: Design, coding: Coding, arguments: Sequence[str], rows: int
) -> dict[str, Blocks]:
    """Return the values of expressions, to be gone over repeatedly: held in memory where they are few."""
    if rows * len(arguments) <= HELD:
        every = Expressions(coding, tuple(arguments), design.required)
        held = reduce(every.columns, partial(_hold, every), _join)
        if held is not None:
            if not sum(map(len, held[0])):
                design.refuse_no_rows()
            whole = {text: np.concatenate(parts) for text, parts in zip(arguments, held, strict=True)}
            return {text: partial(list, [values]) for text, values in whole.items()}
    each = {text: Expressions(coding, (text,), design.required) for text in arguments}
    return {text: ExpressionValues(reduce, design, one) for text, one in each.items()}


@dataclass(frozen=True)
class Expressions:
    """Expressions of a formula whose functions have learned: from an Arrow table to their values in the rows used."""

    coding: Coding
    texts: tuple[str, ...]
    required: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The columns of numbers that they read."""
        return list(dict.fromkeys(name for text in self.texts for name in names_in(text)))

    @property
    def columns(self) -> list[str]:
        """The columns to read."""
        return list(dict.fromkeys([*self.names, *self.required]))

    def of(self, table: Any) -> list[Array]:
        """Return the values of each, (n,); refuse missing ones, and those that are not finite."""
        names, frame = self.names, nw.from_native(without_missing(table, self.required), eager_only=True)
        read = (column for column in self.coding.columns if column.name in names and not column.is_category)
        known = replace(self.coding, columns=tuple(read), effects=())
        values = [known.value(text, frame) for text in self.texts]
        if not all(np.isfinite(one).all() for one in values):
            if any(np.isnan(known.value(f"(`{name}`)", frame)).any() for name in names):
                raise MissingValues(f"{', '.join(self.texts)} in the formula has missing values")
            raise InvalidData(f"{', '.join(self.texts)} in the formula is not finite for all rows")
        return values


@dataclass(frozen=True)
class ExpressionValues(Values):
    """The values of one expression over the rows of a table, computed in every pass."""

    rows: ReduceRows
    design: Design
    expression: Expressions

    def reduce(self, function: Callable[[Array], T], merge: Callable[[T, T], T]) -> T:
        """Return a function of the values of each part of the rows, merged."""
        found = self.rows(self.expression.columns, partial(_apply, self.expression, function), merge)
        return self.design.refuse_no_rows() if found is None else found


def _apply(expression: Expressions, function: Callable[[Array], T], table: Any) -> T:
    return function(expression.of(table)[0])


def _hold(expressions: Expressions, table: Any) -> list[list[Array]] | None:
    return [[values] for values in expressions.of(table)]


def _join(left: list[list[Array]] | None, right: list[list[Array]] | None) -> list[list[Array]] | None:
    """Return the values of both; None, for too many, where they are."""
    if left is None or right is None or sum(len(part) for parts in (*left, *right) for part in parts) > HELD:
        return None
    return [mine + theirs for mine, theirs in zip(left, right, strict=True)]


def rows_filter(relation: Relation, spec: TableSpec, targets: Sequence[str], features: Iterable[str]) -> str:
    """Return the SQL condition of the rows that are used."""
    return relation.present(required_columns(relation, spec, targets, features))


def required_columns(relation: Relation, spec: TableSpec, targets: Sequence[str], features: Iterable[str]) -> list[str]:
    """Return the columns that must have a value in the rows that are used: unless missing="error", those of target,
    weight and offset, and for missing="drop" all features but those of which a missing value is a level.
    """
    if spec.missing == "error":
        return []
    required = [name for text in targets for name in target_columns(relation, text)]
    required += [spec.weight] if spec.weight is not None else []
    required += spec.offset_columns(relation.schema)
    complete = [name for name in features if name not in spec.ticked] if spec.missing == "drop" else []
    return list(dict.fromkeys([*required, *complete]))


def target_columns(relation: Relation, text: str) -> list[str]:
    """Return the raw columns of a target: itself, or those of its expression; of cbind(a, b) those of both.

    What is no expression is the name of a column that the table does not have.
    """
    if text in relation.schema:
        return [text]
    try:
        return [name for one in targets_of(text) for name in ([one] if one in relation.schema else names_in(one))]
    except InvalidParameter:
        return [text]


def missing_message(relation: Relation, names: Iterable[str], targets: Collection[str] = ()) -> str:
    """Return a message that names the columns with missing values and their counts, by one scan, and what to do."""
    return describe_gaps(relation.title, count_gaps(relation, names), targets)


def describe_gaps(title: str, found: dict[str, int], targets: Collection[str] = ()) -> str:
    """Return a message that names the columns with missing values and their counts, and what to do.

    Targets are never filled in.
    """
    worst = sorted((n for n in found if found[n]), key=lambda name: -found[name])
    shown = ", ".join(f"{name!r} ({found[name]:,})" for name in worst[:5]) + (", ..." if len(worst) > 5 else "")
    fill = ", 'mean' to fill them, or 'indicator' to fill them and say so in a column"
    return (
        f"{title} has missing values in column {shown}. Choose missing='drop' to leave such rows out"
        f"{'' if set(worst) <= set(targets) else fill}"
    )


def count_gaps(relation: Relation, names: Iterable[str], where: str = "TRUE") -> dict[str, int]:
    """Return the number of missing values of each column in the rows that meet a condition, by one scan."""
    names = list(dict.fromkeys(names))
    counts = relation.rows(f"SELECT {gap_counts(relation, names)} FROM {relation.sql} WHERE {where}")[0]
    return dict(zip(names, gaps_of(counts), strict=True))


def gap_counts(relation: Relation, names: Iterable[str]) -> str:
    """Return SQL of the 1 + 2 m counts of m columns that `gaps_of` takes; FILTER takes 20 times as long."""
    counts = ["count(*)"]
    for name in names:
        floating = relation.schema[name] in ("DOUBLE", "FLOAT")
        column = quoted(name)
        counts.append(f"count_if(isfinite({column})), count_if(isinf({column}))" if floating else f"count({column}), 0")
    return ", ".join(counts)


def gaps_of(counts: Sequence[int | None]) -> list[int]:
    """Return the number of missing values of each column, NULL or NaN, from the counts of `gap_counts`."""
    rows, *present = (count or 0 for count in counts)
    return [rows - finite - infinite for finite, infinite in zip(present[::2], present[1::2], strict=True)]


def declared_order(relation: Relation, name: str) -> list[Any] | None:
    """Return the levels of a column in the order in which the table declares them; None where it does not."""
    if name in relation.opened.declared:
        return list(relation.opened.declared[name])
    if relation.kind(name) != "category":
        return None
    return list(relation.rows(f"SELECT enum_range(CAST(NULL AS {relation.schema[name]}))")[0][0])


def _distinct(relation: Relation, names: list[str]) -> tuple[dict[str, int], int]:
    """Return the number of distinct values of text columns in the first rows, and the number of those rows."""
    asked = ", ".join(f"count(DISTINCT trim({relation.value(name)}))" for name in names)
    rows, *counts = relation.rows(f"SELECT count(*), {asked} FROM (SELECT * FROM {relation.sql} LIMIT {SAMPLE})")[0]
    return dict(zip(names, counts, strict=True)), rows


def _estimate_distinct(relation: Relation, names: list[str], least: dict[str, int]) -> dict[str, int]:
    """Return about how many distinct values columns have in all rows, at least those that were counted; a read."""
    if not names:
        return {}
    asked = ", ".join(f"approx_count_distinct(trim({relation.value(name)}))" for name in names)
    counts = relation.rows(f"SELECT {asked} FROM {relation.sql}")[0]
    return {name: max(int(count), least[name]) for name, count in zip(names, counts, strict=True)}


def find_mistyped(relation: Relation, names: Sequence[str]) -> dict[str, Mistyped]:
    """Return the text columns most of whose texts are numbers, and what keeps them from being read as numbers."""
    counts = _number_counts(relation, names)
    found = [name for name, one in counts.items() if one.present and one.bare > MOSTLY * one.present]
    return {name: _mistyped(relation, name) for name in found}


@dataclass(frozen=True)
class NumberCounts:
    """Of the first rows of a text column: rows, labels (different texts), levels (the same, blanks around them aside),
    texts, how many of these are numbers, how many are without the signs that people write in numbers, and whether all
    that are numbers are whole.
    """

    rows: int
    labels: int
    levels: int
    present: int
    numeric: int
    bare: int
    whole: bool


def _number_counts(relation: Relation, columns: Sequence[str]) -> dict[str, NumberCounts]:
    """Return how many texts of some columns are numbers; of no rows, nothing."""
    if not columns:
        return {}
    values = f"unnest(range({len(columns)})) AS i, unnest([{', '.join(map(relation.value, columns))}]) AS value"
    first = f"SELECT {values} FROM (SELECT * FROM {relation.sql} LIMIT {SAMPLE})"
    different = f"SELECT i, value, count(*) AS n FROM ({first}) GROUP BY ALL"  # each is looked at once
    numbers = "TRY_CAST(value AS DOUBLE)"
    unsigned = f"TRY_CAST(regexp_replace(value, {SIGNS}, '', 'g') AS DOUBLE)"
    counted = (f"sum(n) FILTER ({one} IS NOT NULL)" for one in ("value", numbers, unsigned))
    asked = [
        "sum(n)",
        "count(value)",
        "count(DISTINCT trim(value))",
        *counted,
        f"bool_and({numbers} = floor({numbers}))",
    ]
    found = relation.rows(f"SELECT i, {', '.join(asked)} FROM ({different}) GROUP BY i ORDER BY i")
    return {
        columns[i]: NumberCounts(
            *(int(rows), int(labels), int(levels)), *(int(present or 0), int(numeric or 0), int(bare or 0)), bool(whole)
        )
        for i, rows, labels, levels, present, numeric, bare, whole in found
    }


def refuse_unlike_levels(relation: Relation, names: list[str], targets: list[str]) -> None:
    """Refuse text columns that are not categories: too many distinct texts, or numbers written as text.

    Labels of targets may be many, and whole numbers.
    """
    for name, one in _number_counts(relation, [*names, *targets]).items():
        labels = name in targets and one.numeric == one.present and one.whole
        if one.present and one.bare > MOSTLY * one.present and not labels:
            raise InvalidData(f"column {name!r} {_mistyped(relation, name).reason}")
        if name in names:
            refuse_prose(name, one.levels, one.rows)
        if name in targets and FEW_LEVELS < one.labels and one.labels > one.rows / 2:
            raise InvalidData(
                f"Unknown label type: the target {name!r} holds {one.labels:,} different texts in {one.rows:,} rows, "
                f"too many to be classes. Choose another column; there are: {shown_columns(relation)}"
            )


@dataclass(frozen=True)
class Mistyped:
    """Why a text column of numbers is not read as numbers, in a clause that follows its name.

    `problem` and `remedy` are such clauses, and `as_levels` the other remedy, that of a column which is not coded by
    its levels yet. `present` texts are there, of which `others` are not numbers, the first in these `lines` of the
    file.
    """

    problem: str
    remedy: str = ""
    as_levels: str = "name it in categories= to code them"
    present: int = 0
    others: int = 0
    lines: tuple[int, ...] = ()

    @property
    def reason(self) -> str:
        """The problem, and both remedies."""
        return f"{self.problem}: {self.remedy}, or {self.as_levels}"

    @property
    def reason_of_levels(self) -> str:
        """The problem of a column that is coded by its levels, and how to use it as numbers."""
        return f"{self.problem}: {self.remedy}"

    @property
    def nearly(self) -> bool:
        """Whether nearly all texts are numbers, so that the others look like mistakes."""
        return 0 < self.others <= FEW_OTHERS * self.present

    @property
    def brief(self) -> str:
        """How many texts are no numbers, and where: "3 of 353 values are not numbers (lines 7, 12, 40)"."""
        be = "is not a number" if self.others == 1 else "are not numbers"
        return f"{self.others:,} of {self.present:,} values {be}{self.places(' ({})')}"

    def places(self, form: str) -> str:
        """Return the lines in a form of words, "" where they are not known."""
        if not self.lines:
            return ""
        shown = ", ".join(map(str, self.lines)) + ", ..." * (self.others > len(self.lines))
        return form.format(f"line{'s' * (len(self.lines) > 1)} {shown}")


def _mistyped(relation: Relation, name: str) -> Mistyped:
    """Return why a text column of numbers is not read as numbers."""
    one = TextColumn("t")
    sample = f"(SELECT {relation.value(name)} AS t FROM (SELECT {quoted(name)} FROM {relation.sql} LIMIT {SAMPLE}))"
    texts = f"(SELECT t, count(*) AS n FROM {sample} WHERE t IS NOT NULL AND NOT {one.is_word} GROUP BY t)"
    is_number = {".": f"({one.fits('.')} OR TRY_CAST(t AS DOUBLE) IS NOT NULL)", ",": one.fits(",")}
    percent = f"regexp_matches({one.trimmed}, '[%\u2030]$')"
    asked = (f"coalesce(sum(n) FILTER ({condition}), 0)" for condition in ("TRUE", *is_number.values(), percent))
    present, points, commas, percents = map(int, relation.rows(f"SELECT {', '.join(asked)} FROM {texts}")[0])
    sign = "," if commas > points else "."
    plainly = "regexp_full_match(t, '-?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?')"
    others = present - max(points, commas)
    wanted = f"NOT {is_number[sign]}" if others else percent if percents else f"NOT {plainly}"
    found = [str(t) for (t,) in relation.rows(f"SELECT t FROM {texts} WHERE {wanted} ORDER BY t LIMIT {MOST_LINES}")]
    if not found:
        return Mistyped("holds numbers as text", "turn them into numbers if they are amounts")
    lines = relation.lines_with(name, found, MOST_LINES)
    shown = ", ".join(repr(shorten(value, 40)) for value in found[:MOST_NAMED]) + ", ..." * (len(found) > MOST_NAMED)
    if percents and not others:
        where = Mistyped("", others=percents, lines=lines).places(" ({})")
        return Mistyped(
            f"holds numbers with different percent signs, or with and without one, as {shown}{where}, and 5 beside 12% "
            "may mean 5% or 500%",
            "write them all in one notation",
        )
    if others and others < (1 - MOSTLY) * present:
        where = Mistyped("", others=others, lines=lines).places(" in {}")
        measured = all(parse_number(bare, sign) is not None for bare, unit in map(without_unit, found) if unit)
        if measured and all(without_unit(value)[1] for value in found):
            return Mistyped(
                f"holds numbers, but also {shown} with a unit ({others:,} such value{'s' * (others > 1)}{where})",
                "write all values in one unit, or without it, or name typing errors in na=",
                "name the column in categories= if they are names",
                *(present, others, lines),
            )
        return Mistyped(
            f"holds numbers, but also {shown} ({others:,} such value{'s' * (others > 1)}{where})",
            "name these words in na= if they stand for missing values",
            "the column in categories= if its numbers are names",
            *(present, others, lines),
        )
    return Mistyped(f"holds numbers written as {shown}", "write them all in one notation, as 1234.5")
