"""Learning the coding of a table by SQL: one pass for levels, means and missing values; none for numbers alone."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from adaline.arrays import Array
from adaline.coding import Coding, Column, Learned, Term
from adaline.coding.columns import FEW_LEVELS, is_missing, is_text, learn_category, plain
from adaline.coding.expressions import compiled, names_in
from adaline.coding.formula import read_formula, targets_of
from adaline.coding.frames import plain_terms, refusal
from adaline.coding.learned import HELD, Blocks
from adaline.coding.terms import without_repetition
from adaline.errors import InvalidData, InvalidParameter, MissingValues
from adaline.lazy import nw
from adaline.sources.base import block_rows
from adaline.sources.tables.batches import as_table
from adaline.sources.tables.failures import shorten
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.spec import TableSpec
from adaline.sources.tables.sql import quoted

SAMPLE = 200_000  # rows from which it is decided whether a text column is a category
SIGNS = "'[,%$\u20ac\u00a3\u00a5'' \u00a0_]'"  # signs in numbers written for people
IDENTIFIER = re.compile(r"(^|_|\b)(id|key|uuid|guid|index|no|nr)$|[a-z](Id|ID|Key)$", re.ASCII)
MOSTLY = 0.5  # fraction of numbers above which a text column is a column of numbers with errors
NEARLY = 0.95  # fraction above which the others are errors even where texts are left out


def usable_columns(relation: Relation, spec: TableSpec) -> tuple[list[str], dict[str, str]]:
    """Return the columns that can be features, and the reason for each of the others why it cannot."""
    named = {name for name, _ in spec.categories}
    others = (*spec.targets, spec.weight, *spec.offset_columns(relation.schema))
    reasons: dict[str, str] = {}
    texts = []
    for name in relation.schema:
        kind = relation.kind(name)
        if name in others:
            continue
        if kind == "other":
            reasons[name] = f"holds {relation.schema[name]}"
        elif kind == "date" and name not in spec.dates:
            reasons[name] = "holds dates; name it in dates to use it as days"
        elif kind == "text" and name not in named:
            texts.append(name)
    if texts:
        counts, rows = _distinct(relation, texts)
        for name in texts:
            if is_text(counts[name], rows):
                reasons[name] = f"holds {counts[name]:,} different texts; name it in categories to code them all"
    features = [n for n in relation.schema if n not in reasons and n not in others]
    return features, reasons


def find_identifiers(relation: Relation, names: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return which columns of whole numbers, different in every row, are identifiers, and which may be, each with why.

    They are beyond 2^53, where floats do not tell neighbours apart; they may be where they number the rows, or where
    their name says so.
    """
    whole = [name for name in names if re.fullmatch(r"U?(BIG|HUGE)?INT(EGER)?", relation.schema[name])]
    if not whole:
        return {}, {}
    rows = f"(SELECT {', '.join(map(quoted, whole))} FROM {relation.sql} LIMIT {SAMPLE})"
    asked = [f"count({q}), min({q})::HUGEINT, max({q})::HUGEINT" for q in map(quoted, whole)]
    found = relation.rows(f"SELECT count(*), {', '.join(asked)} FROM {rows}")[0]
    bounds = {name: found[1 + 3 * i : 4 + 3 * i] for i, name in enumerate(whole)}
    wide = [n for n, (count, low, high) in bounds.items() if count == found[0] > FEW_LEVELS and high - low >= count - 1]
    if not wide:
        return {}, {}
    distinct = relation.rows(f"SELECT {', '.join(f'count(DISTINCT {quoted(name)})' for name in wide)} FROM {rows}")[0]
    certain, doubtful = {}, {}
    for name, different in zip(wide, distinct, strict=True):
        count, low, high = bounds[name]
        if different < count:
            continue
        if max(-low, high) > 2**53:
            certain[name] = "holds whole numbers beyond 2^53, different in every row: identifiers, not amounts"
        elif high - low == count - 1:
            doubtful[name] = "numbers the rows"
        elif IDENTIFIER.search(name):
            doubtful[name] = "is different in every row and named like an identifier"
    return certain, doubtful


def learn_coding(relation: Relation, spec: TableSpec) -> Coding:
    """Return the coding of a table's columns."""
    named = dict(spec.categories)
    kinds = {name: "category" if name in named else relation.kind(name) for name in relation.schema}
    terms: tuple[Term, ...] | None = None
    targets, intercept, offset = spec.targets, True, spec.offset
    twice: list[str] = []
    if spec.formula is not None:
        formula = read_formula(
            spec.formula,
            [name for name, kind in kinds.items() if kind in ("text", "category")],
            list(relation.schema),
            booleans=[name for name, kind in kinds.items() if kind == "boolean"],
            everything=[name for name in relation.schema if name not in (spec.weight, spec.offset)],
        )
        targets, intercept, offset = targets_of(formula.target), formula.intercept, formula.offset or offset
        if formula.offset is not None and spec.offset is not None:
            raise InvalidParameter("the formula has an offset: give none by offset=")
        spec = replace(spec, offset=offset)
        features = formula.columns()
        relation.add_lags(features)
        kinds |= {name: relation.kind(name) for name in features if name not in kinds}
        terms = without_repetition(formula.terms, intercept)
        factors = [factor for term in terms for factor in term.factors]
        levels = {name for factor in factors for name in factor.categories()}
        numbers = {name for factor in factors for name in factor.numbers()}
        twice = [name for name in features if name in levels and name in numbers]
        kinds |= {name: "category" for name in features if name in levels and name not in numbers}
    elif spec.features is not None:
        features = list(spec.features)
    else:
        others = (*targets, spec.weight, *spec.offset_columns(relation.schema))
        features = [name for name in relation.schema if name not in others]
    if not features and terms is None:
        raise InvalidData(f"{relation.title} has no column to learn from besides the target")
    for name in features:
        if kinds[name] == "other" or (kinds[name] == "date" and name not in spec.dates):
            raise InvalidData(refusal(name, kinds[name], relation.schema[name]))
        if kinds[name] == "category" and relation.schema[name] == "TIMESTAMP WITH TIME ZONE":
            raise InvalidData(f"column {name!r} holds times with a zone, no categories: name it in dates=")
    texts = [name for name in features if kinds[name] == "text"]
    refuse_prose(relation, texts, [name for name in targets if kinds.get(name) == "text"])
    kinds |= dict.fromkeys(texts, "category")
    columns = _columns(relation, spec, targets, features, kinds, named)
    if twice:
        columns += _columns(relation, spec, targets, twice, dict.fromkeys(twice, "category"), named)
    coding = Coding(
        columns,
        plain_terms(columns) if terms is None else terms,
        formula.target if terms is not None else targets[0] if len(targets) == 1 else None,
        spec.weight,
        spec.missing,
        spec.unseen,
        intercept,
        offset,
    )
    coding = _learn_functions(relation, coding, rows_filter(relation, spec, targets, coding.needed))
    _refuse_collisions(coding)
    return coding


def _learn_functions(relation: Relation, coding: Coding, where: str) -> Coding:
    """Return the coding with what functions in a formula learn: one pass for each depth of calls, more beyond HELD."""
    texts = [factor.text for term in coding.terms for factor in term.factors if factor.column is None]
    pending = {call.text: call for text in texts for call in compiled(text).calls}
    while pending:
        ready = [c for c in pending.values() if all(one.text not in pending for one in compiled(c.argument).calls)]
        blocks = _values(relation, coding, where, [call.argument for call in ready])
        found = [Learned(call.text, call.learner.learn(blocks[call.argument])) for call in ready]
        coding = replace(coding, learned=(*coding.learned, *found))
        pending = {text: call for text, call in pending.items() if call not in ready}
    return coding


def _values(relation: Relation, coding: Coding, where: str, arguments: Sequence[str]) -> dict[str, Blocks]:
    """Return the values of expressions, to be read repeatedly: held in memory where they are few."""
    columns = {text: names_in(text) for text in arguments}

    def read(texts: Sequence[str]) -> Iterator[list[Array]]:
        names = list(dict.fromkeys(name for text in texts for name in columns[text]))
        known = replace(coding, columns=tuple(c for c in coding.columns if c.name in names and not c.is_category))
        relation.queries += 1
        for _, run in relation.runs(names, where, block_rows(len(names))):
            for batch in run():
                frame = nw.from_native(as_table(batch), eager_only=True)
                values = [known.value(text, frame) for text in texts]
                if not all(np.isfinite(one).all() for one in values):
                    if any(np.isnan(known.value(f"(`{name}`)", frame)).any() for name in names):
                        raise MissingValues(missing_message(relation, coding.needed))
                    raise InvalidData(f"{', '.join(texts)} in the formula is not finite for all rows")
                yield values

    held: list[list[Array]] = []
    for values in read(arguments):
        held.append(values)
        if sum(map(len, values)) * len(held) > HELD:
            return {text: partial(_first_of, partial(read, [text])) for text in arguments}
    if not held:
        raise InvalidData(f"{relation.title} has no rows{'' if where == 'TRUE' else ' without gaps'}")
    whole = [np.concatenate(values) for values in zip(*held, strict=True)]
    return {text: partial(list, [values]) for text, values in zip(arguments, whole, strict=True)}


def _first_of(read: Callable[[], Iterator[list[Array]]]) -> Iterator[Array]:
    return (values[0] for values in read())


def _refuse_collisions(coding: Coding) -> None:
    """Refuse codings in which two columns of X have the same name, as by a level called (missing)."""
    known: set[str] = set()
    references = [f"{column.name}[T.{column.shown_levels()[0]}]" for column in coding.columns if column.is_category]
    for name in [*coding.names, *references]:
        if name in known:
            raise InvalidData(f"two columns would be called {name!r}: rename a column or a level of the table")
        known.add(name)


def rows_filter(relation: Relation, spec: TableSpec, targets: Sequence[str], features: Iterable[str]) -> str:
    """Return the SQL condition of the rows that are used: unless missing="error", those with target and weight, and
    for missing="drop" with all features.
    """
    if spec.missing == "error":
        return "TRUE"
    required = [name for text in targets for name in target_columns(relation, text)]
    required += [spec.weight] if spec.weight is not None else []
    required += spec.offset_columns(relation.schema)
    required += features if spec.missing == "drop" else []
    return relation.present(required)


def target_columns(relation: Relation, text: str) -> list[str]:
    """Return the raw columns of a target: itself, or those of its expression; of cbind(a, b) those of both."""
    if text in relation.schema:
        return [text]
    return [name for one in targets_of(text) for name in ([one] if one in relation.schema else names_in(one))]


def missing_message(relation: Relation, names: Iterable[str]) -> str:
    """Return a message that names the columns with missing values and their counts, and what to do."""
    return gaps_message(relation.title, count_gaps(relation, names))


def gaps_message(title: str, found: Mapping[str, int]) -> str:
    """Return a message that names the columns with missing values and their counts, and what to do."""
    worst = sorted((n for n in found if found[n]), key=lambda name: -found[name])
    shown = ", ".join(f"{name!r} ({found[name]:,})" for name in worst[:5]) + (", ..." if len(worst) > 5 else "")
    return (
        f"{title} has missing values in column {shown}. Choose missing='drop' to leave such rows out, 'mean' "
        "to fill them, or 'indicator' to fill them and say so in a column"
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


def _columns(
    relation: Relation,
    spec: TableSpec,
    targets: Sequence[str],
    features: list[str],
    kinds: dict[str, str],
    named: dict[str, tuple[Any, ...] | None],
) -> tuple[Column, ...]:
    """Return the features as columns of a coding; one pass where there are categories or values to fill."""
    fill = spec.missing in ("mean", "indicator")
    asked: dict[str, str] = {}
    for name in features:
        column = quoted(name)
        if kinds[name] == "category":
            asked[name] = f"histogram({relation.value(name)})"
        elif fill:
            numbers = f"epoch({column}) / 86400" if kinds[name] == "date" else f"CAST({column} AS DOUBLE)"
            asked[name] = f"avg({numbers}) FILTER (NOT {relation.absent(name)})"
    found: dict[str, Any] = {}
    gaps: dict[str, int] = dict.fromkeys(features, 0)
    if asked:
        counts = gap_counts(relation, asked)
        where = rows_filter(relation, spec, targets, features)
        values = relation.rows(f"SELECT {', '.join(asked.values())}, {counts} FROM {relation.sql} WHERE {where}")[0]
        if values[len(asked)] == 0:
            raise InvalidData(f"{relation.title} has no rows{'' if where == 'TRUE' else ' without gaps'}")
        found = dict(zip(asked, values, strict=False))
        gaps |= dict(zip(asked, gaps_of(values[len(asked) :]), strict=True))
    out = []
    for name in features:
        marked = spec.missing == "indicator" and gaps[name] > 0
        if kinds[name] != "category":
            mean = found.get(name)
            if fill and mean is None:
                raise MissingValues(f"column {name!r} has no values at all: there is no mean to fill in; leave it out")
            out.append(Column(name, kinds[name], mean=math.nan if mean is None else float(mean), gaps=marked))
            continue
        if gaps[name] and spec.missing == "error":
            of_targets = [column for target in targets for column in target_columns(relation, target)]
            raise MissingValues(missing_message(relation, [*of_targets, *features]))
        counts_of = dict(found[name] or {})
        if not counts_of:
            raise MissingValues(f"column {name!r} has no values at all; leave it out")
        out.append(replace(_category(relation, name, counts_of, named.get(name)), gaps=marked))
    return tuple(out)


def declared_order(relation: Relation, name: str) -> list[Any] | None:
    """Return the levels of a column in the order in which the table declares them; None where it does not."""
    if name in relation.declared:
        return list(relation.declared[name])
    if relation.kind(name) != "category":
        return None
    return list(relation.rows(f"SELECT enum_range(CAST(NULL AS {relation.schema[name]}))")[0][0])


def _category(relation: Relation, name: str, counts: dict[Any, int], levels: tuple[Any, ...] | None) -> Column:
    declared = declared_order(relation, name) if levels is None else None
    if declared is not None:
        levels = tuple(level for level in declared if level in counts)
    if levels is not None:
        known = {plain(level) for level in levels}
        unknown = [plain(value) for value in counts if not is_missing(value) and plain(value) not in known]
        if unknown:
            raise InvalidData(f"column {name!r} has the level {unknown[0]!r}, which categories= does not name")
    return learn_category(name, counts, None if levels is None else list(levels))


def _distinct(relation: Relation, names: list[str]) -> tuple[dict[str, int], int]:
    """Return the number of distinct values of text columns in the first rows, and the number of those rows."""
    asked = ", ".join(f"count(DISTINCT {relation.value(name)})" for name in names)
    rows, *counts = relation.rows(f"SELECT count(*), {asked} FROM (SELECT * FROM {relation.sql} LIMIT {SAMPLE})")[0]
    return dict(zip(names, counts, strict=True)), rows


def refuse_mistyped(relation: Relation, names: Iterable[str]) -> None:
    """Refuse text columns whose texts are numbers but for a few, which must be errors."""
    for name in names:
        column = relation.value(name)
        sample = f"(SELECT {column} AS t FROM {relation.sql} LIMIT {SAMPLE})"
        present, numeric = relation.rows(f"SELECT count(t), count(TRY_CAST(t AS DOUBLE)) FROM {sample}")[0]
        if NEARLY * present < numeric < present:
            raise InvalidData(_not_plain(relation, name, numeric, present))


def refuse_prose(relation: Relation, names: list[str], targets: list[str]) -> None:
    """Refuse text columns that are not categories: too many distinct texts, or numbers written as text.

    Labels of targets may be many, and whole numbers.
    """
    if not names and not targets:
        return
    columns = [*names, *targets]
    values = f"unnest(range({len(columns)})) AS i, unnest([{', '.join(map(relation.value, columns))}]) AS value"
    first = f"SELECT {values} FROM (SELECT * FROM {relation.sql} LIMIT {SAMPLE})"
    different = f"SELECT i, value, count(*) AS n FROM ({first}) GROUP BY ALL"  # each is looked at once
    numbers = "TRY_CAST(value AS DOUBLE)"
    bare = f"TRY_CAST(regexp_replace(value, {SIGNS}, '', 'g') AS DOUBLE)"
    asked = ["sum(n)", "count(value)", *(f"sum(n) FILTER ({one} IS NOT NULL)" for one in ("value", numbers, bare))]
    asked += [f"bool_and({numbers} = floor({numbers}))"]
    found = relation.rows(f"SELECT {', '.join(asked)} FROM ({different}) GROUP BY i ORDER BY i")
    for name, (rows, distinct, *counts, whole) in zip(columns, found, strict=False):  # nothing is found in no rows
        present, numeric, bare_numeric = (count or 0 for count in counts)
        if present and bare_numeric > MOSTLY * present and not (name in targets and numeric == present and whole):
            raise InvalidData(_not_plain(relation, name, numeric, present))
        if name in names and is_text(distinct, rows):
            raise InvalidData(refusal(name, "text", f"{distinct:,} different texts"))
        if name in targets and FEW_LEVELS < distinct and distinct > rows / 2:
            raise InvalidData(
                f"Unknown label type: the target {name!r} holds {distinct:,} different texts in {rows:,} rows, so "
                "it is no label; turn it into numbers, or choose another column"
            )


def _not_plain(relation: Relation, name: str, numeric: int, present: int) -> str:
    """Return a message that says why a text column of numbers is not read as numbers."""
    column = relation.value(name)
    plainly = f"regexp_full_match({column}, '-?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?')"
    not_plain = relation.rows(
        f"SELECT {column} FROM {relation.sql} WHERE {column} IS NOT NULL AND NOT {plainly} "
        f"ORDER BY TRY_CAST({column} AS DOUBLE) IS NOT NULL LIMIT 1"
    )
    advice = "mend the table, or name the column in categories= if its numbers are names"
    if not not_plain:
        return f"column {name!r} holds numbers as text: turn them into numbers, or name it in categories= to code them"
    value = shorten(str(not_plain[0][0]), 40)
    if numeric > MOSTLY * present:
        count = f" ({present - numeric:,} such value(s))" if numeric < present else ""
        return f"column {name!r} holds numbers, but also {value!r}{count}: {advice}"
    return (
        f"column {name!r} holds numbers written as {value!r}: write them plainly, as 1234.5, without signs for "
        "thousands, percent or money, and with a decimal point; or name it in categories= to code them"
    )
