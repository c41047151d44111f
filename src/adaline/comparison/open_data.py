"""Opening data as the command line takes them: what cannot be used is left out and said, what is missing is counted."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adaline.coding.formula import read_formula
from adaline.comparison.request import DataRequest
from adaline.errors import InvalidData, InvalidParameter, MissingValues
from adaline.sources import TableSource
from adaline.sources.tables.coding import target_columns, usable_columns
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.spec import TableSpec, check_column, read_spec
from adaline.sources.tables.sql import quoted
from adaline.wording import counted

LABELS = ("text", "category", "boolean")
OPTION = re.compile(r"in (dates|categories)\b")
FEW = 10  # whole numbers with no more different values than this may be classes


@dataclass(frozen=True)
class Opened:
    """A table ready to be fitted, and what was done to get there.

    Parameters
    ----------
    source : the rows.
    target : column or expression to be predicted.
    labels : whether that is a column of labels, so that a classifier is meant.
    left_out : columns that are not used, and why.
    few : how many values a target of a few different whole numbers has, else 0.
    rows : of the data, those left out included.
    notes : what was left out, in sentences.
    """

    source: TableSource
    target: str
    labels: bool
    left_out: dict[str, str]
    few: int
    rows: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Gaps:
    """How much is missing: rows in all, rows without a target, and of the others, by column; and `few` of Opened."""

    rows: int
    untargeted: int
    features: dict[str, int]
    few: int


def opened_data(wanted: DataRequest) -> Opened:
    """Open a table with a target; its notes say what is left out.

    Where no features are named, columns that cannot be used as they are stay out. Where no policy for missing values
    is named, rows without a target stay out, and other missing values are refused with their counts.
    """
    if wanted.target is None and wanted.formula is None:
        column, formula = wanted.option("target", "COLUMN"), wanted.option("formula", "target ~ columns")
        raise InvalidParameter(f"say what to predict: {column}, or {formula}")
    relation = Relation(wanted.data, wanted.table)
    wish = read_spec(
        relation,
        TableSpec(
            target=wanted.target,
            features=wanted.features,
            weight=wanted.weight,
            categories=tuple((name, None) for name in wanted.categories),
            dates=wanted.dates,
            missing=wanted.missing or "drop",
            unseen=wanted.unseen,
            formula=wanted.formula,
        ),
    )
    left_out: dict[str, str] = {}
    if wanted.formula is None:
        wish, left_out = _chosen(relation, wish, wanted)
    elif wanted.drop:
        raise InvalidParameter(f"a formula names the columns to use: leave {wanted.option('drop')} out")
    target, columns = _columns(relation, wish)
    gaps = _count(relation, target_columns(relation, target), [*columns, *([wish.weight] if wish.weight else [])])
    if wanted.missing is None:
        wish, empty = _settled(relation, wish, gaps, wanted)
        left_out |= empty
    notes = []
    for name, reason in left_out.items():
        why = OPTION.sub(r"in --\1", reason) if wanted.shell else reason
        notes.append(f"column {name!r} is left out: it {why}")
    source = TableSource(relation, wish)
    source.keep()
    if wish.missing != "error" and (gone := gaps.rows - source.count_rows()):
        what = f"without {target}" if wanted.missing != "drop" else "with something missing"
        notes.append(f"{counted(gone)} of {gaps.rows:,} {'is' if gone == 1 else 'are'} left out: {what}")
    few = _distinct(relation, target) if gaps.few and target in relation.schema else 0
    labels = is_label(relation, target) or few == 2  # two whole numbers are two classes
    return Opened(source, target, labels, left_out, 0 if labels else few, gaps.rows, tuple(notes))


def is_label(relation: Relation, target: str) -> bool:
    """Whether a target is a label rather than a number; refuse what is neither."""
    if target not in relation.schema:
        return False
    kind = relation.kind(target)
    if kind in LABELS:
        return True
    if kind != "number":
        raise InvalidData(f"the target {target!r} holds {relation.schema[target]}: it is neither a number nor a label")
    return False


def known_as(data: Any) -> str:
    """Return what to call the data in a title; nothing where they are a frame."""
    if not isinstance(data, str):
        return ""
    return Path(data).name if "/" in data and "\n" not in data and len(data) < 300 else data


def _chosen(relation: Relation, wish: TableSpec, wanted: DataRequest) -> tuple[TableSpec, dict[str, str]]:
    """Return the wish with its features named, and why columns that nobody dropped are not among them."""
    drop = wanted.drop
    for name in drop:
        check_column(relation, name, wanted.option("drop"))
    if wish.features is not None:
        return replace(wish, features=tuple(name for name in wish.features if name not in drop)), {}
    features, reasons = usable_columns(relation, wish)
    reasons = {name: reason for name, reason in reasons.items() if name not in drop}
    features = [name for name in features if name not in drop]
    if not features:
        why = "".join(f"; {name!r} {reason}" for name, reason in reasons.items())
        raise InvalidData(f"{relation.title} has no column to learn from besides the target{why}")
    return replace(wish, features=tuple(features)), reasons


def _columns(relation: Relation, wish: TableSpec) -> tuple[str, list[str]]:
    """Return the target, a column or an expression, and the raw columns that X is made of."""
    if wish.formula is None:
        return str(wish.target), list(wish.features or ())
    texts = [name for name in relation.schema if relation.kind(name) in ("text", "category")]
    formula = read_formula(wish.formula, texts, list(relation.schema))
    return formula.target, formula.columns()


def _count(relation: Relation, targets: Sequence[str], columns: Sequence[str]) -> Gaps:
    """Count what is missing, in one scan."""
    untargeted = " OR ".join(map(relation.absent, targets))
    asked = [f"count(*) FILTER (NOT ({untargeted}) AND {relation.absent(name)})" for name in columns]
    first = ["count(*)", f"count(*) FILTER ({untargeted})", "0", "FALSE"]
    if len(targets) == 1 and relation.kind(targets[0]) == "number":
        column = quoted(targets[0])
        first[2:] = f"approx_count_distinct({column})", f"bool_and({column} = floor({column}))"
    rows, without, values, whole, *each = relation.rows(f"SELECT {', '.join([*first, *asked])} FROM {relation.sql}")[0]
    if rows == without:
        what = "no rows" if rows == 0 else f"no row with a value of {' and '.join(targets)}"
        raise InvalidData(f"{relation.title} has {what}")
    return Gaps(
        int(rows),
        int(without),
        dict(zip(columns, map(int, each), strict=True)),
        values if whole and values <= FEW else 0,
    )


def _settled(relation: Relation, wish: TableSpec, gaps: Gaps, wanted: DataRequest) -> tuple[TableSpec, dict[str, str]]:
    """Return the wish with the policy that a person means who names none; refuse gaps that need a decision."""
    droppable = wanted.features is None and wanted.formula is None
    with_target = gaps.rows - gaps.untargeted
    empty = [name for name, count in gaps.features.items() if count == with_target and name != wish.weight]
    if droppable and len(empty) < len(wish.features or ()):
        wish = replace(wish, features=tuple(name for name in wish.features or () if name not in empty))
    else:
        empty = []
    holes = {name: count for name, count in gaps.features.items() if count and name not in empty}
    if holes:
        worst = sorted(holes, key=lambda name: -holes[name])
        shown = ", ".join(f"{name!r} ({holes[name]:,})" for name in worst[:6]) + (", ..." if len(worst) > 6 else "")
        raise MissingValues(
            f"{relation.title} has missing values in {shown} of {with_target:,} rows. Say what to do: "
            f"{wanted.option('missing', 'drop')} leaves such rows out, mean fills them in, indicator fills them in and "
            f"marks them; or leave columns out by {_dropping(worst[:6], wanted)}"
        )
    policy = "drop" if gaps.untargeted else "error"
    return replace(wish, missing=policy), dict.fromkeys(empty, "holds no values")


def _distinct(relation: Relation, column: str) -> int:
    """Return how many different values a column has."""
    here = f"NOT {relation.absent(column)}"
    return int(relation.rows(f"SELECT count(DISTINCT {quoted(column)}) FROM {relation.sql} WHERE {here}")[0][0])


def _dropping(columns: Sequence[str], wanted: DataRequest) -> str:
    """Return the option that leaves columns out, as the user types it."""
    return f"--drop {shlex.quote(','.join(columns))}" if wanted.shell else f"drop={list(columns)!r}"
