"""The columns of additive models as nodes: curves are cubics chosen by intervals, effects numbers chosen by levels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.exporting.columns import DesignTree, FactorColumns, polynomial_pieces, sum_of_products, within_period
from adaline.exporting.tree import MISSING, Node, apply, choose, constant, level, total, where
from adaline.fits.additive.design import NOWHERE, AdditiveDesign, LearnedGroups, LearnedSmooth
from adaline.smooths import CubicPieces


class AdditiveTree(DesignTree):
    """The columns of phi: linear columns, smooths, effects of groups."""

    def __init__(self, design: AdditiveDesign, given: Sequence[Node]) -> None:
        self.design, self.given, self.width = design, given, design.size

    def linear(self, weights: Array) -> Node:
        """Return sum_j weights_j phi_j."""
        design = self.design
        parts: list[LearnedSmooth | LearnedGroups] = [*design.smooths_, *design.groups_]
        first, *own = np.split(weights, np.cumsum([len(design.linear_), *(one.width for one in parts)])[:-1])
        sums = [self.given[j] * float(w) for j, w in zip(design.linear_, first, strict=True)]
        for one, w in zip(parts, own, strict=True):
            sums.append(self._smooth(one, w) if isinstance(one, LearnedSmooth) else self.effects(one, w))
        return total(sums)

    def _unread(self, found: Node, weights: Array) -> list[Node]:
        """Return nothing: `linear` reads all columns."""
        return []

    def _smooth(self, one: LearnedSmooth, weights: Array) -> Node:
        curves: list[FactorColumns] = [
            _curve(self.given[j], pieces) for j, pieces in zip(one.columns, one.curves, strict=True)
        ]
        values = [self._values(one, curves, w) for w in weights.reshape(one.copies, -1)]
        if one.by is None:
            return values[0]
        by = self.given[one.by]
        return by * values[0] if one.levels is None else _by_value(by, one.levels, lambda k: values[k])

    @staticmethod
    def _values(one: LearnedSmooth, curves: list[FactorColumns], weights: Array) -> Node:
        """Return one curve; of several columns the first product, a constant, is left out."""
        whole = weights if len(curves) == 1 else np.append(0.0, weights)
        return sum_of_products(curves, whole.reshape([pieces.width for pieces in one.curves])) - float(
            one.centre @ weights
        )

    def effects(self, one: LearnedGroups, weights: Array) -> Node:
        """Return the effects of a row's group, zero where it did not occur."""
        effects = np.ldexp(weights.reshape(len(one.levels), -1), [-e for e in one.exponents])
        slopes = [constant(1.0) if j == NOWHERE else self.given[j] for j in one.slopes]
        sums = [
            self._chosen(one, np.arange(len(one.levels)), 0, effects[:, k]) * slope for k, slope in enumerate(slopes)
        ]
        return total(sums)

    def _chosen(self, one: LearnedGroups, among: NDArray[np.intp], column: int, effects: Array) -> Node:
        """Return the effect of a row's group, zero where it did not occur, by its columns from `column` on."""
        if column == len(one.columns):
            return constant(effects[among[0]])
        values = np.unique(one.levels[among, column])
        inside = [among[one.levels[among, column] == value] for value in values]
        return _by_value(
            self.given[one.columns[column]],
            values.tolist(),
            lambda k: self._chosen(one, inside[k], column + 1, effects),
        )


def _curve(x: Node, pieces: CubicPieces) -> FactorColumns:
    """Return the columns of a curve: cubics in the distance from the knot below, straight lines at both ends."""
    at, knots = x * math.ldexp(1.0, -pieces.exponent), pieces.knots
    if pieces.periodic:
        at = within_period(at, float(knots[0]), float(knots[-1]))
    values, bends, h = pieces.values, pieces.curvature, np.diff(knots)[:, None]
    slopes = np.diff(values, axis=0) / h - h / 6 * (2 * bends[:-1] + bends[1:])
    last = slopes[-1:] + h[-1] / 2 * (bends[-2:-1] + bends[-1:])
    tables = np.zeros((4, len(knots) + 1, values.shape[1]))
    tables[0] = [values[0], *values]
    tables[1] = [slopes[0], *slopes, *last]
    tables[2, 1:-1], tables[3, 1:-1] = bends[:-1] / 2, np.diff(bends, axis=0) / (6 * h)
    return polynomial_pieces(at, knots, np.append(knots[0], knots), tables)


def _by_value(x: Node, values: Sequence[float], of: Callable[[int], Node]) -> Node:
    """Return the node of the value that x has, zero where it has none of them; x may be the index of a level."""
    inner = x.arguments[0] if x.name == "finite" else x
    if inner.name == "choose" and inner.arguments[0].name == "level":
        index, *known = inner.arguments
        place = {value: k for k, value in enumerate(values)}
        made = [
            MISSING if one.name == "missing" else of(place[one.value]) if one.value in place else constant(0.0)
            for one in known
        ]
        return choose(index, made[:-2], *made[-2:])
    if inner.name == "input":
        return choose(level(inner, list(map(float, values))), [of(k) for k in range(len(values))], 0.0)
    out = constant(0.0)
    for k, value in enumerate(values):
        out = where(apply("equal", x, float(value)), of(k), out)
    return out
