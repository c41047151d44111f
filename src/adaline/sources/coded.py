"""A table coded as a fitted model has it, to be predicted, scored or learned from."""

from __future__ import annotations

from dataclasses import replace

from adaline.coding import Coding
from adaline.sources.learning import target_columns
from adaline.sources.table import TableSource
from adaline.sources.targets import no_targets
from adaline.sources.wish import Wish, check_column, check_needed


def coded_by(source: TableSource, coding: Coding, targets: bool = True, text_target: bool = False) -> TableSource:
    """Return a table coded as a fitted model has it; without targets only rows to predict.

    Where it was opened with a target, the rows that take part stay the same. Categories whose levels are texts, and
    with `text_target` the target, are read as texts even where this file shows only numbers.
    """
    check_needed(source.relation, coding)
    wanted = source.targets or (() if coding.target is None else (coding.target,))
    relation = source.relation.with_texts([*coding.texts, *(wanted if text_target else ())])
    wish = Wish(missing="error" if coding.missing == "drop" else coding.missing, unseen=coding.unseen)
    where = source.where if source.targets else None
    if not targets:
        return TableSource(
            relation,
            wish,
            coding=coding,
            read_targets=no_targets,
            n_targets=0,
            where=where,
            progress=source.progress,
        )
    target = source.wish.target if source.wish.formula is None else source.targets[0]
    wish = replace(wish, target=target, weight=source.wish.weight, missing=coding.missing)
    if not source.targets and coding.target is not None:
        for name in target_columns(source.relation, coding.target):
            check_column(source.relation, name, "target")
        wish = replace(wish, target=coding.target, weight=coding.weight)
    return TableSource(relation, wish, coding=coding, where=where, progress=source.progress).keep()
