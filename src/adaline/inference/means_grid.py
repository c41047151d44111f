"""The cells of a table of marginal means: levels of columns crossed, and the rows of the design that each averages.

A grid has numbers at their means and all levels of other categories; over rows, each row takes the level in turn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np

from adaline.arrays import Array, RowsLike, WeightsLike
from adaline.coding.columns import MISSING_LEVEL
from adaline.coding.reading import EPOCH
from adaline.errors import InvalidData, InvalidParameter
from adaline.fitted import AnyModel
from adaline.inference.effects import Designs, grouping_columns
from adaline.inference.hypotheses import hint
from adaline.inference.simultaneous import Adjustment
from adaline.inference.summary import frame_of_columns
from adaline.input.basis import given_columns
from adaline.input.system import coding_on, columns_on
from adaline.lazy import nw
from adaline.parameters import LEVEL, NONE, AnyOf, Number, one_of
from adaline.sources.array import read_weights
from adaline.wording import counted, number

MeanScale = Literal["response", "link"]
Averaging = Literal["grid", "rows"]
LevelWeights = Literal["equal", "proportional"]
ContrastKind = Literal["pairwise", "reference"]
MOST_VALUES = 12  # different numbers of a column that means are by, unless they are named
MOST_CELLS = 2**18  # of the grid
OFFSET = Number()


def name_list(names: str | Sequence[str] | None) -> list[str]:
    """Return the names that `by` or `within` gives, as a list."""
    return [] if names is None else [names] if isinstance(names, str) else list(names)


class MeansAsked(NamedTuple):
    """The arguments of `means`."""

    by: str | Sequence[str] | None = None
    within: str | Sequence[str] | None = None
    at: Mapping[str, Any] | None = None
    scale: MeanScale = "response"
    over: Averaging = "grid"
    weights: LevelWeights = "equal"
    contrasts: ContrastKind | Mapping[str, Sequence[float]] | None = "pairwise"
    adjust: Adjustment | None = None
    level: float = 0.95
    offset: float = 0.0

    def check(self) -> None:
        """Refuse words and numbers that mean nothing."""
        one_of(MeanScale).check("scale", self.scale)
        one_of(Averaging).check("over", self.over)
        one_of(LevelWeights).check("weights", self.weights)
        AnyOf(NONE, one_of(Adjustment)).check("adjust", self.adjust)
        if isinstance(self.contrasts, str):
            one_of(ContrastKind).check("contrasts", self.contrasts)
        elif self.contrasts is not None and not isinstance(self.contrasts, Mapping):
            raise InvalidParameter(
                f"contrasts must be 'pairwise', 'reference', a dict of names and coefficients, or None, got "
                f"{self.contrasts!r:.60}"
            )
        LEVEL.check("level", self.level)
        OFFSET.check("offset", self.offset)
        if self.adjust == "tukey" and self.contrasts != "pairwise":
            raise InvalidParameter("adjust='tukey' is for all pairs: use adjust='mvt', or contrasts='pairwise'")

    @property
    def adjustment(self) -> Adjustment:
        """How contrasts are adjusted."""
        if self.adjust is not None:
            return self.adjust
        return "tukey" if self.contrasts == "pairwise" else "mvt" if self.contrasts == "reference" else "holm"


class GridCells(NamedTuple):
    """The cells of the table, and the rows of the design that each one averages.

    Parameters
    ----------
    values : of each cell the values of the columns of `by` and `within`.
    designs : of each cell (n, D).
    shares : (n,) weights of these rows, which add up to one.
    notes : what was averaged over, and at which values.
    """

    values: list[dict[str, Any]]
    designs: list[Array]
    shares: Array
    notes: list[str]


class InputSpace:
    """The raw columns of a model, their levels, and rows of data.

    Parameters
    ----------
    model : fitted.
    data : rows, or None.
    sample_weight : (n,) weights of the rows, or None.
    """

    def __init__(self, model: AnyModel, data: RowsLike, sample_weight: WeightsLike) -> None:
        self.model = model
        self.coding = coding_on(model)
        frame = nw.from_native(data, pass_through=True, eager_only=True)
        names = columns_on(model).names
        if self.coding is None and names is not None and isinstance(frame, nw.DataFrame):
            there = [name for name in names if name in frame.columns]  # others, such as the target, are not used
            data = frame.select(there).to_native()
        self.rows = None if data is None else Designs(model, data)
        self.every = list(self.coding.needed) if self.coding is not None else given_columns(model)
        self.aside = grouping_columns(model)
        self.names = [name for name in self.every if name not in self.aside]
        self.weight = None
        if self.rows is not None:
            given = self.rows.weights(data)[0] if sample_weight is None else sample_weight
            self.weight = np.ones(self.rows.count) if given is None else read_weights(given, self.rows.count)

    def levels(self, name: str) -> list[Any] | None:
        """Return the levels of a category, None where the column is a number."""
        found = [] if self.coding is None else [c for c in self.coding.columns if c.name == name]
        for column in found:
            if column.is_category and not column.has_levels:
                raise InvalidParameter(
                    f"column {name!r} is {column.kind}: it has no levels to average over. Give it a value by at=, or "
                    "average over rows (over='rows')"
                )
            if column.is_category:
                return [*column.levels, *([None] if column.gaps else [])]
            if column.kind == "boolean":
                return [False, True]
        return None

    def numbers(self, name: str) -> Array:
        """Return the values of a number in the rows, (n,), those of dates as days."""
        rows = self.rows
        if rows is None:
            raise InvalidParameter(f"the mean of {name!r} is that of rows: give data, or a value, at={{{name!r}: ...}}")
        if rows.raw is not None:
            return np.asarray(rows.raw[:, self.every.index(name)])
        assert self.coding is not None
        assert rows.frame is not None
        return next(c for c in self.coding.columns if c.name == name).numbers(rows.frame)

    def _mean(self, name: str) -> Any:
        """Return the mean of a number in the rows; of dates a date."""
        values, weight = self.numbers(name), self.weight
        assert weight is not None
        there = ~np.isnan(values) & (weight > 0)
        if not there.any():
            raise InvalidData(f"column {name!r} has no value in the rows of data")
        found = float(np.average(values[there], weights=weight[there]))
        if self.coding is not None and any(c.name == name and c.kind == "date" for c in self.coding.columns):
            return EPOCH + timedelta(days=found)
        return found

    def _named_values(self, name: str, given: Any) -> list[Any]:
        """Return the values of a column that `at` names; refuse levels that there are not."""
        listed = list(given) if isinstance(given, list | tuple | np.ndarray) else [given]
        levels = self.levels(name)
        if levels is None:
            return listed
        by_text = {str(level): level for level in levels}
        for one in listed:
            if str(one) not in by_text:
                raise InvalidParameter(f"at: column {name!r} has no level {one!r}{hint(str(one), list(by_text))}")
        return [by_text[str(one)] for one in listed]

    def cells(self, asked: MeansAsked) -> GridCells:
        """Return the cells of the table."""
        at, own = dict(asked.at or {}), [*name_list(asked.by), *name_list(asked.within)]
        for name in [*own, *at]:
            if name not in self.names:
                raise InvalidParameter(f"the model has no column {name!r}{hint(name, self.names)}")
        if len(set(own)) < len(own):
            raise InvalidParameter(f"by and within name a column twice: {', '.join(own)}")
        named = {name: self._named_values(name, given) for name, given in at.items()}
        shown = {name: named[name] if name in named else self._each(name) for name in own}
        values = [dict(zip(shown, one, strict=True)) for one in product(*shown.values())]
        if asked.over == "rows":
            return self._over_rows(values, {name: each for name, each in named.items() if name not in own})
        rest: dict[str, list[Any]] = {}
        for name in (name for name in self.names if name not in own):
            rest[name] = named.get(name) or self.levels(name) or [self._mean(name)]
        return self._over_grid(values, rest, asked.weights)

    def _each(self, name: str) -> list[Any]:
        """Return the levels of a column that means are by, or the different numbers where they are few."""
        levels = self.levels(name)
        if levels is not None:
            return levels
        found = np.unique(self.numbers(name))
        found = found[~np.isnan(found)]
        if len(found) > MOST_VALUES:
            raise InvalidParameter(
                f"column {name!r} is a number with {len(found)} different values: name some, at={{{name!r}: [...]}}"
            )
        return [float(one) for one in found]

    def _over_rows(self, values: list[dict[str, Any]], fixed: dict[str, list[Any]]) -> GridCells:
        if self.rows is None or self.weight is None:
            raise InvalidParameter("over='rows' averages over the rows of data: give data")
        rest = [dict(zip(fixed, one, strict=True)) for one in product(*fixed.values())]
        designs = [np.concatenate([self.rows.at(cell | one) for one in rest]) for cell in values]
        shares = np.tile(self.weight / self.weight.sum(), len(rest)) / len(rest)
        notes = [f"averaged over {counted(self.rows.count)}", *_fixed(fixed)]
        return GridCells(values, designs, shares, ["; ".join(notes)])

    def _over_grid(self, values: list[dict[str, Any]], rest: dict[str, list[Any]], weights: LevelWeights) -> GridCells:
        size = math.prod(map(len, rest.values()))
        if size * len(values) > MOST_CELLS:
            raise InvalidParameter(
                f"the grid of all levels has {size * len(values):,} cells: give some columns a value by at=, or "
                "average over rows (over='rows')"
            )
        among = [dict(zip(rest, one, strict=True)) for one in product(*rest.values())]
        grid = [cell | one for cell in values for one in among]
        if self.coding is None:
            design = Designs(self.model, np.array([[row.get(name, 0.0) for name in self.every] for row in grid])).design
        else:
            anywhere = {name: (self.levels(name) or [0.0])[0] for name in self.aside}
            frame = frame_of_columns({name: [(anywhere | row)[name] for row in grid] for name in self.every})
            design = Designs(self.model, frame).design
        shares = np.full(size, 1.0 / size)
        averaged = {name: each for name, each in rest.items() if len(each) > 1}
        if weights == "proportional" and averaged:
            shares = self._frequencies(among, averaged)
        how = "by frequency" if weights == "proportional" else "equally weighted"
        notes = [f"averaged over {name} ({counted(len(each), 'level')}, {how})" for name, each in averaged.items()]
        notes += _fixed({name: each for name, each in rest.items() if len(each) == 1})
        return GridCells(values, np.split(design, len(values)), shares, ["; ".join(notes)] if notes else [])

    def _frequencies(self, among: list[dict[str, Any]], averaged: dict[str, list[Any]]) -> Array:
        """Return the shares of combinations of levels, (m,), by their weight in the rows."""
        rows = self.rows
        if rows is None or rows.frame is None or self.weight is None:
            raise InvalidParameter("weights='proportional' are frequencies of levels in the rows: give data")
        counted_levels = [name for name in averaged if self.levels(name) is not None]
        counts: dict[tuple[str, ...], float] = {}
        texts = [[str(value) for value in rows.frame[name].to_list()] for name in counted_levels]
        for *key, weight in zip(*texts, self.weight, strict=True):
            counts[tuple(key)] = counts.get(tuple(key), 0.0) + weight
        found = np.array([counts.get(tuple(str(one[name]) for name in counted_levels), 0.0) for one in among])
        if not found.sum() > 0:
            raise InvalidData("weights='proportional': no row of data has one of the levels that are averaged over")
        return np.asarray(found / found.sum())


def _fixed(values: dict[str, list[Any]]) -> list[str]:
    shown = [f"{name} = {', '.join(map(_shown, each))}" for name, each in values.items()]
    return [f"at {', '.join(shown)}"] if shown else []


def _shown(value: Any) -> str:
    """Return a level or a number as text."""
    if value is None:
        return MISSING_LEVEL
    return number(value, 6) if isinstance(value, float) else str(value)


def cell_name(cell: dict[str, Any], names: Sequence[str]) -> str:
    """Return the values of some columns of a cell as text."""
    return ", ".join(_shown(cell[name]) for name in names)
