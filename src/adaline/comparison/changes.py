"""The effect of a step in a column on the prediction, in words: "10 mm more flipper_length_mm: +185 g (124 to 246)".

The change is the mean over rows of the answer after the step minus the answer before it, all other columns unchanged.
The answer is the prediction of a regression, the probability of a class, or, for a classifier without probabilities,
the share of rows with its label. Intervals are those of `summary()` where a prediction is a sum of columns, else those
of the jackknife over folds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.comparison.result import Result
from adaline.comparison.table import LOSSES, REGRESSION, Table
from adaline.fitted import AnyModel, gives_probabilities, has_summary, is_linear
from adaline.inference.jackknife import jackknife
from adaline.inference.strengths import strengths
from adaline.plots.style import short

MOST_ROWS = 2000  # rows over which a change is averaged; doubling it takes twice as long, for steadier changes
MOST_ANSWERS = 2**15  # rows x classes over which it is averaged; doubling it takes twice as long with many classes
MOST_PRODUCTS = 2**28  # multiplications for all steps; doubling it takes a second more
LEAST_ROWS = 64  # rows that are averaged even beyond these; doubling it makes wide tables take twice as long
LEAST_CHANGE = 1e-5  # change of a probability below which the report calls it none; 10x larger hides small changes
FIRST_VALUES = 1000  # values that are checked before all are; doubling it takes longer where the first ones decide
LEVEL = re.compile(r"\[T\.(.*)\]$", re.DOTALL)
UNIT = re.compile(
    r"(?:[_ ]|[\[(])(mm|cm|m|km|in|ft|mg|g|kg|lb|ms|s|min|hours|days|months|years|usd|eur|pct)[\])]?$", re.I
)


@dataclass(frozen=True)
class ColumnStep:
    """A step to take in one column of the data.

    Parameters
    ----------
    text : the step in words, "10 mm more flipper_length_mm".
    column : the one of X that the step is about.
    size : of the step.
    before : what the columns of X made of the same one are set to first; None: they stay, and the step is added.
    spread : steps in a standard deviation of the column.
    """

    text: str
    column: int
    size: float
    before: dict[int, float] | None
    spread: float


@dataclass(frozen=True)
class Change:
    """What a step does to one side of the answer: a class, or "" for the target of a regression."""

    step: ColumnStep
    side: str
    estimate: float
    lower: float
    upper: float

    @property
    def known(self) -> bool:
        """Whether the interval leaves the sign of the change in no doubt."""
        return self.lower > 0 or self.upper < 0


def steps(table: Table) -> list[ColumnStep]:
    """Return a step for each column of numbers and each level of a category; none for columns of other codings.

    Nor for columns that are constant, or whose standard deviation is 0 or infinite in float64.

    Examples
    --------
    >>> from adaline.comparison.changes import steps
    >>> from adaline.comparison.table import Table
    >>> table = Table.of([[181.0], [195.0], [210.0], [222.0]], [3.7, 3.9, 4.2, 5.0], names=["flipper_length_mm"])
    >>> [step.text for step in steps(table)]
    ['10 mm more flipper_length_mm']
    """
    out = []
    for name, members in table.groups().items():
        spread = table.spread[members]
        low, high = (float(end[members[0]]) for end in table.ends)
        levels = [LEVEL.search(table.names[j]) for j in members]
        if all(levels):
            base = base_level(table, name, [found[1] for found in levels if found])
            out += [
                ColumnStep(
                    f"{name} {short(found[1])} rather than {base}", j, 1.0, dict.fromkeys(members, 0.0), float(sd)
                )
                for j, found, sd in zip(members, levels, spread, strict=True)
                if found
            ]
        elif len(members) == 1 and low < high and 0 < spread[0] < math.inf:
            x = table.column(members[0])
            if _all_rows(partial(np.isin, test_elements=(low, high)), x):
                boolean = any(column["name"] == name and column["kind"] == "boolean" for column in table.columns)
                values = "true rather than false" if boolean else f"{high:g} rather than {low:g}"
                text, size = f"{table.names[members[0]]} {values}", high - low
                out.append(ColumnStep(text, members[0], size, {members[0]: low}, float(spread[0]) / size))
            else:
                size = _round_step(float(spread[0]))
                size = max(size, 1.0) if _all_rows(lambda part: part == np.floor(part), x) else size
                unit = unit_of(name)
                text = f"{size:g} {unit}{' ' if unit else ''}more {table.names[members[0]]}"
                out.append(ColumnStep(text, members[0], size, None, float(spread[0]) / size))
    return out


def _all_rows(condition: Callable[[Array], NDArray[np.bool_]], x: Array) -> bool:
    """Whether a condition holds for all values, a few of which are looked at first."""
    return bool(condition(x[:FIRST_VALUES]).all() and condition(x).all())


def products_of_step(result: Result, table: Table, task: str) -> int:
    """Return the multiplications that the answers to one step take for each row.

    A quadratic system, without `coef_`, forms a product for each pair of columns.
    """
    models, classes = 1 + len(result.fold_models), 1 if task == REGRESSION else len(np.unique(table.y))
    columns = len(table.names)
    return 2 * models * classes * columns * (1 if is_linear(result.model) else columns)


def steps_affordable(products: int, least: int, most: int) -> int:
    """Return how many steps to take where each takes so many multiplications a row."""
    return int(np.clip(MOST_PRODUCTS // (products * LEAST_ROWS), least, most))


def rows_averaged(products: int, table: Table, task: str) -> slice:
    """Return the rows that changes are means of, where all answers together take so many multiplications a row."""
    classes = 1 if task == REGRESSION else len(np.unique(table.y))
    affordable = max(MOST_PRODUCTS // products, LEAST_ROWS)
    most = max(min(MOST_ROWS, MOST_ANSWERS // classes, affordable), 1)
    return slice(None, None, max(len(table.y) // most, 1))


def changes(
    result: Result, table: Table, task: str, taken: Sequence[ColumnStep], averaged: slice | None = None
) -> list[list[Change]]:
    """Return what each step does by a system, side by side; the strongest side first.

    `averaged` are the rows that a change is the mean of, by default as many as this system can afford.
    """
    linear = _linear_effects(result, table, task)
    models = () if linear is not None else (result.model, *result.fold_models)
    labels = np.array([""]) if task == REGRESSION else np.unique(table.y)
    rows = table.dense(rows=averaged or rows_averaged(products_of_step(result, table, task) * len(taken), table, task))
    answers = [_answer(model, task, labels, table.offset, result.inputs) for model in models]
    start = [answer(rows) for answer in answers]
    sides = [str(label) for label in labels]
    out = []
    for step in taken:
        if linear is not None:
            effect = linear[table.names[step.column]]
            out.append([Change(step, "", *(step.size * v for v in (effect.estimate, effect.lower, effect.upper)))])
            continue
        before, after = _rows_of(step, rows)
        found = [
            (answer(after) - (first if step.before is None else answer(before))).mean(axis=0)
            for answer, first in zip(answers, start, strict=True)
        ]
        known = jackknife(found[0], found[1:])
        parts = np.array([found[0], known.lower, known.upper])
        if task != REGRESSION:
            parts[1:] = np.clip(parts[1:], -1.0, 1.0)
            parts[:, np.nanmax(np.abs(parts), axis=0) < LEAST_CHANGE] = 0.0
        own = [Change(step, side, *part) for side, part in zip(sides, parts.T.tolist(), strict=True)]
        out.append(sorted(own, key=lambda change: -abs(change.estimate)))
    return out


def factors(result: Result, table: Table, taken: Sequence[ColumnStep]) -> list[Change]:
    """Return what each step multiplies the prediction by, with the interval of `summary()`; none where it adds.

    Columns multiply the mean under a log link.
    """
    if result.settings.get("loss") not in LOSSES:
        return []
    known = {effect.name: effect for effect in strengths(result.model, table.X, table.names, spread=table.spread)}
    effects = [known[table.names[step.column]] for step in taken]
    with np.errstate(over="ignore"):
        return [
            Change(step, "", *np.exp([step.size * value for value in (own.estimate, own.lower, own.upper)]).tolist())
            for step, own in zip(taken, effects, strict=True)
        ]


def strongest_changes(found: Sequence[list[Change]], limit: int) -> list[list[Change]]:
    """Return the steps that matter most: by what a standard deviation of their column does."""
    return sorted(found, key=lambda own: -abs(own[0].estimate) * own[0].step.spread)[:limit]


def differences(ours: Sequence[list[Change]], theirs: Sequence[list[Change]]) -> list[tuple[Change, Change]]:
    """Return the changes of which two systems disagree: signs in no doubt that differ, or intervals that do not meet.

    The strongest side of each step of the first system is compared.
    """
    out = []
    for own, other in zip(ours, theirs, strict=True):
        mine = own[0]
        its = next(change for change in other if change.side == mine.side)
        apart = mine.lower > its.upper or its.lower > mine.upper
        unlike = mine.known and mine.estimate * its.estimate < 0
        if apart or unlike:
            out.append((mine, its))
    return out


def unit_of(name: str) -> str:
    """Return the unit that a name ends with, "" without one.

    Examples
    --------
    >>> from adaline.comparison.changes import unit_of
    >>> unit_of("flipper_length_mm"), unit_of("weight (kg)"), unit_of("rings")
    ('mm', 'kg', '')
    """
    found = UNIT.search(name)
    return found[1] if found else ""


def _linear_effects(result: Result, table: Table, task: str) -> dict[str, Any] | None:
    """Return the coefficients by name where a prediction is a sum of columns and `summary()` knows their intervals."""
    if task != REGRESSION or result.settings.get("loss") in LOSSES or not has_summary(result.model):
        return None
    if not is_linear(result.model):
        return None
    found = {effect.name: effect for effect in strengths(result.model, table.X, table.names, spread=table.spread)}
    return found if all(name in found for name in table.names) else None


def _answer(
    model: AnyModel, task: str, labels: NDArray[Any], offset: Array | None, inputs: Callable[[Array], Array]
) -> Callable[[Array], Array]:
    """Return the function from rows to answers: predictions (n, 1), or probabilities or labels as 0 and 1, (n, K).

    With an offset they are those of a mean one.
    A model that was fitted to a sample may know fewer than the K labels: the others are given to no row.
    """
    if task == REGRESSION:
        known = {} if offset is None else {"offset": float(np.mean(offset))}
        return lambda X: np.asarray(model.predict(inputs(X), **known), dtype=np.float64)[:, None]
    if not gives_probabilities(model):
        return lambda X: (model.predict(X)[:, None] == labels[None, :]).astype(np.float64)
    own = np.searchsorted(labels, model.classes_)

    def probabilities(X: Array) -> Array:
        out = np.zeros((len(X), len(labels)))
        out[:, own] = model.predict_proba(X)
        return out

    return probabilities


def _rows_of(step: ColumnStep, rows: Array) -> tuple[Array, Array]:
    """Return rows before and after a step."""
    before = rows.copy()
    for column, value in (step.before or {}).items():
        before[:, column] = value
    after = before.copy()
    after[:, step.column] += step.size
    return before, after


def _round_step(spread: float) -> float:
    """Return the largest of 1, 2, 5, 10, ... (and 0.5, 0.2, ...) that a standard deviation holds."""
    power = 10.0 ** math.floor(math.log10(spread))
    return float(f"{next(m for m in (5, 2, 1) if m * power <= spread * (1 + 1e-9)) * power:.0e}")


def base_level(table: Table, name: str, coded: Sequence[str]) -> str:
    """Return the level of a category that has no column of its own; "others" where that is not one known level."""
    described = [column["levels"] for column in table.columns if column["name"] == name]
    rest = [str(level) for level, _ in (described[0] if described else []) if str(level) not in coded]
    return short(rest[0]) if len(rest) == 1 else "others"
