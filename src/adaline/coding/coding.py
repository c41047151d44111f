"""A coding: the recipe from the raw columns of a table to the columns of X, learned once and stored with the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.block import Columns
from adaline.coding.columns import ABSENT, UNKNOWN, Codes, Column
from adaline.coding.contrasts import Contrast, contrast_of
from adaline.coding.effects import Effect
from adaline.coding.expressions import compiled, evaluate, lag_of, names_in
from adaline.coding.learned import Cut, Facts
from adaline.coding.terms import Term, TermFactor
from adaline.errors import InvalidData, MissingValues
from adaline.lazy import nw
from adaline.locks import cached_property
from adaline.parameters import OneOf

MISSING = ("error", "drop", "mean", "indicator")
UNSEEN = ("error", "other")


@dataclass(frozen=True)
class Learned:
    """What a function of a formula has learned from the rows: the text of its call, as "scale(x)", and numbers."""

    text: str
    facts: Facts


@dataclass(frozen=True)
class Coding:
    """How raw columns become the columns of X.

    A number stays what it is, a boolean is 0 or 1, a date the days since 1970, a category of L levels the L - 1 columns
    of its levels but the first (reference coding). A formula adds products and expressions.

    Parameters
    ----------
    columns : the raw columns.
    terms : products of factors that make up X; a column that is in no term is not used.
    target, weight : the target's column or expression, and the column of weights, where the table had them.
    missing : what is done about missing values: "error", "drop" (an error here; tables leave out the rows), "mean"
        (numbers by their mean, categories by the frequencies of their levels) or "indicator" (numbers by their mean,
        with an indicator column, categories by a level of their own).
    unseen : what is done about levels that were not there when levels were learned: "error", or "other", coded by the
        frequencies of the levels, that is as an average one.
    intercept : whether the design has a constant; False for formulas that say so.
    offset : the column or expression of a known part of the output of each row, where the table had one.
    learned : what functions in the terms have learned: means, knots, breaks.
    effects : the columns whose effects are absorbed, with those effects once they are fitted.
    """

    columns: tuple[Column, ...]
    terms: tuple[Term, ...]
    target: str | None = None
    weight: str | None = None
    missing: str = "error"
    unseen: str = "error"
    intercept: bool = True
    offset: str | None = None
    learned: tuple[Learned, ...] = ()
    effects: tuple[Effect, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of X, as in "distance", "carrier[T.UA]", "log(x):C(y)[T.b]"."""
        return tuple(":".join(parts) for term in self._all_terms for parts in _product([self._labels(f) for f in term]))

    @cached_property
    def origin(self) -> tuple[str, ...]:
        """The raw column (columns, for products) that each column of X comes from."""
        out: list[str] = []
        for term in self._all_terms:
            width = int(np.prod([self.width(factor) for factor in term]))
            raw = dict.fromkeys(name for factor in term for name in (*factor.numbers(), *factor.categories()))
            out += [":".join(raw)] * width
        return tuple(out)

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """The raw columns that X, and the effects of rows, are computed from."""
        return tuple(dict.fromkeys(one.name for one in (*self.columns, *self.effects)))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The categories and effects whose levels are texts."""
        columns = (column for column in self.columns if column.is_category)
        found = [c.name for c in columns if all(isinstance(level, str) for level in c.levels)]
        return (*found, *(effect.name for effect in self.effects if effect.texts))

    def code(self, frame: nw.DataFrame[Any], first_row: int = 0) -> Array:
        """Return X, (n, D), column-major, for the rows of a frame; error messages count rows from `first_row`."""
        columns = self.columns_of(frame, first_row)
        return columns.packed() if isinstance(columns, Columns) else columns

    def columns_of(self, frame: nw.DataFrame[Any], first_row: int = 0) -> Columns | Array:
        """Return the columns of X; numbers of the frame are not copied.

        A missing number that is not filled stays NaN, which sums and predictions show.
        """
        read = self._rows(frame, first_row)
        if not self.terms:
            return np.empty((len(frame), 0))
        with np.errstate(all="ignore"):  # sums refuse what is not finite
            return Columns(np.ascontiguousarray(column) for term in self._all_terms for column in read.term(term))

    def value(self, text: str, frame: nw.DataFrame[Any], first_row: int = 0) -> Array:
        """Return an expression of the raw columns, such as the offset, for the rows of a frame, (n,)."""
        return np.broadcast_to(self._rows(frame, first_row).value(text), (len(frame),))

    def with_lags(self, frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
        """Return a frame with the columns that are called as in "lag(x, 2)"; refuse one without those of the model."""
        present = set(frame.columns)
        for name in (name for name in self.needed if name not in present):
            lag = lag_of(name)
            if lag is None or lag[0] not in present:
                raise InvalidData(
                    f"column {name!r} is missing from the table; the model needs: {', '.join(self.needed)}"
                )
            frame = frame.with_columns(nw.col(lag[0]).shift(lag[1]).alias(name))
        return frame

    def _rows(self, frame: nw.DataFrame[Any], first_row: int) -> _Rows:
        return _Rows(self, self.with_lags(frame), first_row)

    def complete(self, frame: nw.DataFrame[Any]) -> NDArray[np.bool_]:
        """Return which rows can be coded, (n,): all where missing values are filled, else those without any.

        Rows without an offset cannot, where there is one.
        """
        out = np.ones(len(frame), dtype=bool) if self.offset is None else np.isfinite(self._read_expression(frame))
        for effect in self.effects:
            out &= (effect.codes(frame) != ABSENT) | ~np.isnan(effect.missing)
        if self.missing in ("mean", "indicator"):
            return out
        for column in self.columns:
            out &= (column.codes(frame) != ABSENT) if column.is_category else ~np.isnan(column.numbers(frame))
        return out

    @cached_property
    def facts(self) -> dict[str, Facts]:
        """What functions have learned, by the text of their calls."""
        return {one.text: one.facts for one in self.learned}

    def width(self, factor: TermFactor) -> int:
        """Return the number of columns of a factor."""
        if factor.column is None:
            found = compiled(factor.text)
            size = 2 if found.kind == "boolean" else 1
            if found.kind in ("levels", "columns"):
                size = found.calls[-1].learner.size(self.facts[found.calls[-1].text])
            return size - (factor.category and not factor.full)
        if not factor.category:
            return 1
        column = self.column(factor.column, True)
        return len(column.levels) + column.gaps - (not factor.full)

    @property
    def known_part(self) -> bool:
        """Whether a part of the output of each row is known: an offset, or effects that were fitted."""
        return self.offset is not None or any(effect.fitted for effect in self.effects)

    def read_offset(self, frame: nw.DataFrame[Any], first_row: int = 0) -> Array | None:
        """Return the known part of the output of each row of a frame, (n,): its offset and fitted effects.

        It is NaN where the offset is missing, and None where the coding has neither.
        """
        effects = [one.of(frame, self.unseen, first_row) for one in self.effects if one.fitted]
        if self.offset is None:
            return sum(effects[1:], effects[0]) if effects else None
        return sum(effects, self._read_expression(frame))

    def _read_expression(self, frame: nw.DataFrame[Any]) -> Array:
        """Return the offset of each row of a frame, (n,), NaN where it is missing."""
        assert self.offset is not None
        names = [self.offset] if self.offset in frame.columns else names_in(self.offset)
        for name in names:
            if name not in frame.columns:
                raise InvalidData(f"column {name!r} is missing from the table; the offset of the model needs it")
        columns = {name: Column(name, "number").numbers(frame) for name in names}
        value = columns[self.offset] if self.offset in columns else evaluate(self.offset, columns)
        return np.broadcast_to(value, (len(frame),))

    def column(self, name: str, category: bool) -> Column:
        """Return a raw column by its name, as a number or as a category."""
        return next(c for c in self.columns if c.name == name and c.is_category == category)

    @cached_property
    def _all_terms(self) -> list[tuple[TermFactor, ...]]:
        """The terms; the first that reads a number with gaps is followed by its indicator, a factor "x[missing]"."""
        out: list[tuple[TermFactor, ...]] = []
        indicated: set[str] = set()
        for term in self.terms:
            out.append(term.factors)
            for name in dict.fromkeys(n for f in term.factors for n in f.numbers()):
                if self.column(name, False).gaps and name not in indicated:
                    indicated.add(name)
                    out.append((TermFactor(f"{name}[missing]", name, full=True),))
        return out

    def _labels(self, factor: TermFactor) -> list[str]:
        if factor.category:
            levels, _ = self.levels(factor)
            return (
                [f"{factor.text}[{level}]" for level in levels]
                if factor.full
                else _contrast(factor).names(factor.text, levels)
            )
        if factor.column is None and compiled(factor.text).kind == "columns":
            return [f"{factor.text}{k + 1}" for k in range(self.width(factor))]
        return [factor.text]

    def levels(self, factor: TermFactor) -> tuple[list[str], Facts]:
        """Return the levels of a category, or of an expression that has some, and the share of each among the rows."""
        if factor.column is not None:
            column = self.column(factor.column, True)
            return column.shown_levels(), (*column.share, *([0.0] if column.gaps else []))
        found = compiled(factor.text)
        if found.kind == "boolean":
            return ["False", "True"], ()
        learner, facts = found.calls[-1].learner, self.facts[found.calls[-1].text]
        assert isinstance(learner, Cut)
        return learner.labels(facts), learner.share(facts)


class _Rows:
    """The rows of one frame, each raw column of which is read once."""

    def __init__(self, coding: Coding, frame: nw.DataFrame[Any], first_row: int) -> None:
        self.coding = coding
        self.frame = frame
        self.first_row = first_row
        self.read: dict[tuple[str, bool], Any] = {}

    def term(self, factors: tuple[TermFactor, ...]) -> Iterator[Array]:
        """Yield the columns of a term."""
        for parts in _product([list(self._factor(factor)) for factor in factors]):
            out = parts[0]
            for part in parts[1:]:
                out = out * part
            yield out

    def value(self, text: str) -> Array:
        """Return an expression of the columns: (n,), (n, M), or one number."""
        columns = {name: self._numbers(name)[0] for name in names_in(text)}
        columns |= {key: self._equals(name, level) for key, name, level in compiled(text).compared}
        return evaluate(text, columns, self.coding.facts)

    def _equals(self, name: str, level: str) -> Array:
        """Return 1 where a category has a level, else 0; where it is missing and filled, the share of the level."""
        column = self.coding.column(name, True)
        levels = [str(one) for one in column.levels]
        if level not in levels:
            raise InvalidData(
                f"column {name!r} has no level {level!r} to be compared with; there are: {_some(column.levels)}"
            )
        codes = column.codes(self.frame)
        out: Array = (codes == levels.index(level)).astype(np.float64)
        absent = codes == ABSENT
        if absent.any():
            if self.coding.missing not in ("mean", "indicator"):
                self._refuse_missing(name, absent)
            out[absent] = column.share[levels.index(level)]
        return out

    def _factor(self, factor: TermFactor) -> Iterator[Array]:
        if factor.column is None and compiled(factor.text).kind != "levels":
            value = self.value(factor.text)
            columns = value.T if value.ndim == 2 else [np.broadcast_to(value, (len(self.frame),))]
            yield from [1.0 - columns[0], *columns] if factor.category and factor.full else columns
        elif factor.category:
            yield from self._contrasts(factor)
        else:
            values, gaps = self._numbers(factor.column or "")
            yield gaps.astype(np.float64) if factor.full else values

    def _contrasts(self, factor: TermFactor) -> Iterator[Array]:
        levels, share = self.coding.levels(factor)
        codes = self._codes(factor)
        without_level = codes < 0
        unknown = bool(without_level.any())
        if factor.full or _contrast(factor).kind == "Treatment":
            base = -1 if factor.full else _contrast(factor).base(levels)
            for level in range(len(levels)):
                if level != base:
                    dummy = (codes == level).astype(np.float64)
                    if unknown:
                        dummy[without_level] = share[level]
                    yield dummy
            return
        for column in _contrast(factor).columns(len(levels)):
            values = column[codes]
            if unknown:
                values[without_level] = column @ np.array(share)
            yield values

    def _numbers(self, name: str) -> tuple[Array, Any]:
        if (name, False) not in self.read:
            column = self.coding.column(name, False)
            values = column.numbers(self.frame)
            if self.coding.missing in ("mean", "indicator"):
                gaps = np.isnan(values)
                self.read[name, False] = (np.where(gaps, column.mean, values) if gaps.any() else values), gaps
            else:
                self.read[name, False] = values, None
        found: tuple[Array, Any] = self.read[name, False]
        return found

    def _codes(self, factor: TermFactor) -> Codes:
        key = (factor.text if factor.column is None else factor.column, True)
        if key not in self.read:
            self.read[key] = self._computed_codes(factor) if factor.column is None else self._level_codes(factor.column)
        found: Codes = self.read[key]
        return found

    def _level_codes(self, name: str) -> Codes:
        column = self.coding.column(name, True)
        codes = column.codes(self.frame)
        absent = codes == ABSENT
        if absent.any():
            if self.coding.missing not in ("mean", "indicator"):
                self._refuse_missing(column.name, absent)
            if column.gaps:
                codes[absent] = len(column.levels)
        if self.coding.unseen == "error" and (codes == UNKNOWN).any():
            row = int(np.flatnonzero(codes == UNKNOWN)[0])
            level = self.frame[column.name].to_list()[row]
            raise InvalidData(
                f"column {column.name!r} has the level {level!r} at row {self.first_row + row}, which was not "
                f"there when the levels were learned ({_some(column.levels)}). Fit the model with "
                "unseen='other' to take such a level for an average one, or name all levels by categories="
            )
        return codes

    def _computed_codes(self, factor: TermFactor) -> Codes:
        """Return the indices of levels that an expression computes, UNKNOWN where a number is in no interval."""
        values = np.broadcast_to(self.value(factor.text), (len(self.frame),))
        for name in names_in(factor.text):
            gaps = np.isnan(self._numbers(name)[0])
            if gaps.any():
                self._refuse_missing(name, gaps)
        nowhere = np.isnan(values)
        if nowhere.any() and self.coding.unseen == "error":
            row = self.first_row + int(nowhere.argmax())
            raise InvalidData(
                f"{factor.text} has no level for row {row}: its value is outside of all intervals. Give breaks that "
                "reach as far, or fit the model with unseen='other' to take it for an average one"
            )
        return np.where(nowhere, UNKNOWN, values).astype(np.intp)

    def _refuse_missing(self, name: str, gaps: NDArray[np.bool_]) -> None:
        row = self.first_row + int(np.flatnonzero(gaps)[0])
        raise MissingValues(
            f"column {name!r} has {int(gaps.sum()):,} missing value(s) (NaN or none), first at row {row}. Fill them, "
            "leave such rows out, or open the table with missing='drop', 'mean' or 'indicator'"
        )


def _contrast(factor: TermFactor) -> Contrast:
    """Return the contrasts of a category: those that the formula names, else the reference coding."""
    return (contrast_of(factor.text) if factor.text != factor.column else None) or Contrast(
        factor.column or factor.text
    )


def check_policies(missing: str, unseen: str) -> None:
    """Refuse unknown policies."""
    OneOf(*MISSING).check("missing", missing)
    OneOf(*UNSEEN).check("unseen", unseen)


def _product(lists: list[list[Any]]) -> list[list[Any]]:
    """Return the Cartesian product of lists; the first list varies slowest."""
    out: list[list[Any]] = [[]]
    for items in lists:
        out = [[*before, item] for before in out for item in items]
    return out


def _some(levels: tuple[Any, ...]) -> str:
    shown = ", ".join(map(str, levels[:8]))
    return shown + (", ..." if len(levels) > 8 else "")
