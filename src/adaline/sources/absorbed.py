"""Rows from which the effects of levels were absorbed: columns and targets less what dummies of the levels explain.

Least squares on them, with an intercept, is least squares on the columns beside a dummy for every level (R. Frisch and
F. V. Waugh, Econometrica 1 (1933), 387-401). Columns and targets keep their means, so that the intercept is that of
effects whose mean over the rows is zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.block import Shape
from adaline.coding import Coding, Effect
from adaline.forms import Count
from adaline.sources.array import ArraySource, rows_beside
from adaline.sources.base import IndexedSource, Source
from adaline.sources.targets import RowTargets
from adaline.wording import counted

if TYPE_CHECKING:  # tables are slow to import
    from adaline.sources.tables.effects import EffectRows, Levels


@dataclass(frozen=True)
class Absorption:
    """What was absorbed from the rows of a fit, for inference and for people.

    Parameters
    ----------
    names : of the columns whose effects were absorbed; levels : number of levels of each.
    freedom : degrees of freedom that they take beside the intercept: the rank of their dummies, less one.
    exact : whether that is the rank, or an upper bound on it.
    total : sum of squares of the target about its mean before effects were taken out of it; of counts the deviance.
    singletons, separated : rows that were left out: the only ones of their level, or those without a finite mean.
    """

    names: tuple[str, ...]
    levels: tuple[Count, ...]
    freedom: Count
    exact: bool
    total: float
    singletons: Count = 0
    separated: Count = 0

    def by_name(self) -> dict[str, int]:
        """Return the number of levels of each column."""
        return dict(zip(self.names, self.levels, strict=True))

    def describe(self) -> str:
        """Return a line on what was absorbed."""
        shown = ", ".join(f"{name} ({counted(size, 'level')})" for name, size in self.by_name().items())
        degrees = f"{self.freedom:,} degree{'' if self.freedom == 1 else 's'} of freedom"
        out = f"absorbed: {shown}, {'' if self.exact else 'at most '}{degrees}"
        if self.singletons:
            out += f"; {counted(self.singletons)} left out, the only ones of a level"
        if self.separated:
            out += f"; {counted(self.separated)} left out, whose mean is zero whatever the coefficients"
        return out


@dataclass(frozen=True)
class Removal:
    """What was taken out of columns and targets, (M, N), and how well.

    Parameters
    ----------
    effects : (M, L) of all levels, effect after effect, those of the rows' means excluded.
    mean : (M,) weighted means.
    left : (M,) bounds on the length of what dummies still explain of each: |rho| / sqrt(lambda), with rho what is left
        of the equations of the effects, in their norm, and lambda the smallest eigenvalue of these, estimated.
    rounding : (M,) bounds on the length of the rounding errors of each.
    length : (M,) lengths of what remains.
    collinear : (M,) whether nothing but rounding remains.
    iterations : most steps of conjugate gradients that one of them took; condition : of their equations.
    converged : whether all of them are as near as they were asked to be.
    """

    effects: Array
    mean: Array
    left: Array
    rounding: Array
    length: Array
    collinear: NDArray[np.bool_]
    iterations: int
    condition: float
    converged: bool


@dataclass(frozen=True)
class SeparatedLevels:
    """The levels of a column before rows of counts whose means are zero were left out.

    Parameters
    ----------
    name, values, gaps : as those of `Levels`.
    seen : (L,) whether rows that were not left out have a level.
    directions : (L,) as those of `Effect`.
    """

    name: str
    values: NDArray[Any]
    gaps: bool
    seen: NDArray[np.bool_]
    directions: Array


class AbsorbedSource(ArraySource):
    """Rows in memory from which effects were absorbed; `separated` : levels of all rows, where some were left out."""

    separated: tuple[SeparatedLevels, ...] = ()

    def __init__(
        self,
        rows: EffectRows,
        absorption: Absorption,
        removal: Removal,
        targets: RowTargets,
        separated: tuple[SeparatedLevels, ...] = (),
    ) -> None:
        features = rows.table.shape.features
        super().__init__(rows.columns[:features].T, targets.values, rows.weight, rows.table.names)
        self.targets, self.separated = replace(targets, weight=rows.weight, weighted=rows.weight is not None), separated
        self.shape = Shape(features, targets.count)
        self.rows, self.absorption, self.removal = rows, absorption, removal
        self.columns, self.reads = rows.table.columns, rows.table.reads

    @property
    def coding(self) -> Coding:
        """How the columns were made from those of the table."""
        return self.rows.table.coding

    def retargeted(self, targets: RowTargets) -> IndexedSource:
        """Return the same rows with other targets and weights, without a word on what was absorbed from them."""
        return rows_beside(self, self.x, self.columns.names).retargeted(targets)

    def take_rows(self, rows: NDArray[np.intp]) -> Source:
        """Return the source of the rows with these indices, copied, in the order given."""
        return rows_beside(self, self.x, self.columns.names).take_rows(rows)

    def chosen(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return those of values of all rows of the table, (N,), that belong to the rows here."""
        kept = self.rows.kept
        return values if kept is None or len(values) == self.n_rows else values[kept]

    def fitted_effects(self, theta: Array) -> tuple[Effect, ...]:
        """Return the effects of a model of one target, theta (1 + D), in the order in which they were named.

        Each has mean zero over the rows; where several levels of two columns meet only each other, what is taken from
        the one and given to the other is as conjugate gradients leave it.
        """
        slopes = theta[1:]
        values = self.removal.effects[self.shape.features] - slopes @ self.removal.effects[: self.shape.features]
        found: dict[str, Effect] = {}
        first = 0
        for one in self.rows.levels:
            own = values[first : first + len(one.values)]
            mass = np.bincount(one.codes, self.targets.weight, len(own))
            own = own - mass @ own / mass.sum()
            known = next((known for known in self.separated if known.name == one.name), None)
            found[one.name] = _effect(one, own) if known is None else _separated_effect(known, own)
            first += len(one.values)
        return tuple(found[name] for name in self.absorption.names)


def _separated_effect(levels: SeparatedLevels, values: Array) -> Effect:
    """Return the effect of a column from the values of the levels seen; that of others is minus infinity."""
    every = np.full(len(levels.values), -np.inf)
    every[levels.seen] = values
    if not levels.directions.any():
        return _effect(levels, every)
    return _effect(levels, every, levels.directions)


def _effect(levels: Levels | SeparatedLevels, values: Array, directions: Array | None = None) -> Effect:
    """Return the effect of a column from the values, and directions, of its levels (L,), sorted by level."""
    known = len(values) - levels.gaps
    found = levels.values[:known]
    order = np.argsort(found, kind="stable")
    whole = found.dtype == np.float64 and bool((found == np.floor(found)).all())
    missing = float(values[-1]) if levels.gaps else math.nan
    along = np.empty(0)
    if directions is not None:
        along = np.append(directions[:known][order], directions[-1] if levels.gaps else 0.0)
    sorted_levels = (found.astype(np.int64) if whole else found)[order]
    return Effect(levels.name, sorted_levels, values[:known][order], missing, along)
