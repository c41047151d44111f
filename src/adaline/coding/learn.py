"""Learns how a coding represents a column, from a summary of its values: one learner, wherever the rows lie.

Frames in memory, relations of DuckDB and parts of a table on a cluster summarise a column in the same way: by its
levels (`levels.py`) and the sum of its numbers (`amounts.py`). `learn_column` makes the column from this summary and
from the plan that options and types give; `check_coding` refuses codings that are not allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.coding.amounts import NumberSummary
from adaline.coding.coding import Coding
from adaline.coding.columns import (
    MISSING_LEVEL,
    Column,
    HashedColumn,
    WordColumn,
    WordOptions,
    is_text,
    plain_levels,
)
from adaline.coding.levels import LONGEST_KEPT, LevelSummary, RowCounts
from adaline.coding.names import NAMED
from adaline.coding.rows import check_columns
from adaline.coding.texts import TextIndex, Texts
from adaline.errors import InvalidData, MissingValues

TEXTS = ("text", "category")
# levels of a category that a summary keeps; beyond, it records only that there are too many; doubling it takes twice
# the memory
MOST_KEPT = 2**20
SHOWN = 2**16  # the most frequent levels of a hashed column that are kept, to name its buckets


@dataclass(frozen=True)
class ColumnPlan:
    """How a raw column is to be coded, before its values are known.

    Parameters
    ----------
    name : of the column.
    kind : "number", "boolean", "date", "text" (a category, if its texts are few), "category", "hashed" or "words".
    marked : whether missing values have a column, or a level, of their own.
    given : the levels of a category as the user names them; None where those that occur are its levels.
    declared : its levels in the order in which the table declares them, or None.
    width : of a hashed column, the number of columns that it is hashed to.
    words : how the words of a column are counted.
    """

    name: str
    kind: str
    marked: bool = False
    given: tuple[Any, ...] | None = None
    declared: Sequence[Any] | None = None
    width: int = 0
    words: WordOptions | None = None

    @property
    def ticked(self) -> bool:
        """Whether a missing value is one of the levels that are given."""
        return self.given is not None and MISSING_LEVEL in self.given


def learn_column(plan: ColumnPlan, levels: LevelSummary | None, numbers: NumberSummary | None, rows: int) -> Column:
    """Return the column of a coding: from its levels, or its words, or its numbers where gaps are filled.

    Summaries that the plan does not need are None.
    """
    if plan.kind == "hashed":
        return _hashed(plan, levels)
    if plan.kind == "words":
        return _words(plan, levels, rows)
    if plan.kind in TEXTS:
        assert levels is not None
        return _category(plan, levels)
    if numbers is None:
        return Column(plan.name, plan.kind)
    if not numbers.present:
        raise MissingValues(f"column {plan.name!r} has no values at all: there is no mean to fill in; leave it out")
    return Column(plan.name, plan.kind, mean=numbers.mean, gaps=plan.marked and numbers.missing > 0)


def _category(plan: ColumnPlan, summary: LevelSummary) -> Column:
    """Return a category: its levels are those given, or those declared that occur, or those that occur."""
    name, found, gaps = plan.name, summary.levels(), summary.missing
    if found is None:
        raise InvalidData(
            f"column {name!r} has more than {summary.most:,} different values, or {LONGEST_KEPT:,} bytes of them: "
            f"leave it out, or hash them: hashed={{{name!r}: 2**20}}"
        )
    levels, counts = found
    if not levels:
        raise MissingValues(f"column {name!r} has no values at all; leave it out")
    if plan.ticked:
        levels, counts, gaps = [*levels, MISSING_LEVEL], np.append(counts, gaps), 0
    wanted = plan.declared if plan.given is None else plan.given
    if wanted is None:
        levels, counts = _without_blanks(levels, counts)
    else:
        order = plain_levels(wanted)
        at = _places(levels, order)
        if plan.given is None:
            order, at = [level for level, i in zip(order, at.tolist(), strict=True) if i >= 0], at[at >= 0]
        elif unknown := [levels[i] for i in np.setdiff1d(np.arange(len(levels)), at)]:
            raise InvalidData(
                f"column {name!r} has the level {min(unknown, key=str)!r}, which categories= does not name"
            )
        levels, counts = order, np.where(at >= 0, counts[np.maximum(at, 0)], 0)
    shares = (counts / max(counts.sum(), 1)).tolist()
    return Column(name, "category", tuple(levels), tuple(shares), gaps=plan.marked and gaps > 0)


def _hashed(plan: ColumnPlan, summary: LevelSummary | None) -> Column:
    """Return a column that is hashed, with its most frequent levels where they were counted."""
    column = HashedColumn(plan.name, "hashed", width=plan.width)
    found = None if summary is None else summary.levels()
    if not found or not found[0] or any(type(level) is int and abs(level) >= 2**53 for level in found[0]):
        return column  # numbers beyond 2^53 were counted as floats
    levels, counts = found
    by_text = Texts.of(map(str, levels)).order()
    order = by_text[np.argsort(-counts[by_text], kind="stable")[:SHOWN]]
    shares = tuple((counts[order] / counts.sum()).tolist())
    return replace(column, levels=tuple(levels[i] for i in order.tolist()), share=shares, distinct=len(levels))


def _words(plan: ColumnPlan, summary: LevelSummary | None, rows: int) -> Column:
    """Return a column whose words are counted, with its vocabulary unless they are hashed."""
    name, options = plan.name, plan.words
    assert options is not None
    column = WordColumn(name, "words", weighting=options.weighting, ngrams=options.ngrams, width=options.width)
    if options.width:
        return column
    found = None if summary is None else summary.levels()
    used = np.flatnonzero(found[1] >= options.least) if found is not None else np.empty(0, dtype=np.intp)
    if found is None or len(used) > MOST_KEPT:
        raise InvalidData(
            f"column {name!r} has more than {MOST_KEPT:,} different words: set a larger least=, or hash them: "
            f"words={{{name!r}: {{'width': 2**18}}}}"
        )
    if not len(used):
        raise InvalidData(f"column {name!r} has no words that occur in {options.least:,} rows or more; leave it out")
    kept, shares = tuple(found[0][i] for i in used.tolist()), tuple((found[1][used] / rows).tolist())
    return replace(column, levels=kept, share=shares, rows=rows)


def _without_blanks(levels: list[Any], counts: RowCounts) -> tuple[list[Any], RowCounts]:
    """Return levels and their counts, texts without blanks around them, by which values are found too."""
    plain = [level.strip() or level if isinstance(level, str) else level for level in levels]
    if plain == levels:
        return levels, counts
    sums: dict[Any, int] = {}
    for level, count in zip(plain, counts.tolist(), strict=True):
        sums[level] = sums.get(level, 0) + count
    order = sorted(sums, key=lambda level: (isinstance(level, str), level))
    return order, np.array([sums[level] for level in order], dtype=np.int64)


def _places(levels: list[Any], wanted: list[Any]) -> NDArray[Any]:
    """Return the index of each value wanted among levels, below zero where it is none of them."""
    if all(type(level) is str for level in chain(levels, wanted)):
        return TextIndex.of(levels).find(Texts.of(wanted))
    index = {level: i for i, level in enumerate(levels)}
    return np.array([index.get(level, -1) for level in wanted], dtype=np.intp)


def refuse_prose(name: str, distinct: int, rows: int) -> None:
    """Refuse a column of texts that nobody named as a category, where they are too many to be levels."""
    if is_text(distinct, rows):
        raise InvalidData(refusal(name, "text", f"{distinct:,} different texts"))


def refusal(name: str, kind: str, what: str) -> str:
    """Return a message that says why a column cannot be used, and what to do."""
    if kind == "date":
        return (
            f"could not convert column {name!r} of type {what} to float: dates are not numbers. Name it in dates= "
            "(open_table) to use it as days since 1970, or leave it out"
        )
    if kind == "text":
        return (
            f"column {name!r} holds {what}: text, not a category. Leave it out, or name it in categories= (open_table) "
            "to code every text, in hashed= if they are ids, or in words= to count its words"
        )
    return (
        f"could not convert column {name!r} of type {what} to float: it is neither a column of numbers nor of "
        "categories. Leave it out or turn it into numbers"
    )


def check_coding(coding: Coding) -> None:
    """Refuse a coding of too many columns, or of two of one name, or whose levels are whole numbers beyond 2^53.

    Float64, as which such levels are read, merges neighbours. A level called (missing) may be a name's second use.
    """
    check_columns(coding.count)
    for column in (column for column in coding.columns if column.has_levels):
        if any(type(level) is int and abs(level) >= 2**53 for level in column.levels):
            raise InvalidData(
                f"column {column.name!r} has levels of 2^53 or more, where float64 merges neighbours: hash it, "
                f"hashed={{{column.name!r}: 2**20}}, or give it as texts, by a query such as SELECT "
                f'CAST("{column.name}" AS VARCHAR) AS ...'
            )
    known: set[str] = set()
    references = [f"{column.name}[T.{column.levels[0]}]" for column in coding.columns if column.has_levels]
    few = (term for term in coding._all_terms if coding.term_width(term) <= NAMED)  # the names of more are not kept
    terms = (coding.term_names(term) for term in few if not coding.hashed_width(term))
    for name in chain(*terms, references):
        if name in known:
            raise InvalidData(f"two columns would be called {name!r}: rename a column or a level of the table")
        known.add(name)
