"""The columns of an additive model: phi(x) = [linear columns | smooths | effects of groups], learned from the rows.

Knots are at the quantiles of the distinct values of a column, as in mgcv, and each smooth is in the coordinates in
which its penalties are diagonal, its values adding up to zero over the rows. One read of the rows finds the distinct
values of all columns; one more the sums of tensor products.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, as_dense, host
from adaline.basis.base import Basis
from adaline.block import Block
from adaline.coding.additive import LEAST_SIZE, AdditiveTerm, RandomTerm, SmoothBasis, SmoothTerm, without_backquotes
from adaline.coding.contrasts import INDEX, Contrast
from adaline.construction import configured
from adaline.errors import InvalidData, InvalidParameter
from adaline.fits.additive.penalties import BlockPenalty, CovariancePenalty, DiagonalPenalty
from adaline.forms import Count, Finite, FiniteNumber, Int64
from adaline.smooths import (
    CubicPieces,
    CubicSpline,
    CyclicSpline,
    PenalizedSpline,
    Smooth,
    TensorProduct,
    ThinPlate,
    as_pieces,
    diagonal_form,
    margin_directions,
)
from adaline.smooths.thin_plate import MOST_POINTS
from adaline.sources import Source
from adaline.state import FittedAttribute, FittedState
from adaline.sums.distinct import DistinctValues
from adaline.wording import counted

USUAL_SIZE, USUAL_MARGIN = 10, 5  # coefficients of s() and of each margin of te(), as in mgcv
# coefficients of a model whose normal equations are formed; doubling it takes eight times as long
MOST_COEFFICIENTS = 4000
# effects of a grouping beyond which they are eliminated group by group; doubling it takes up to eight times as long
# where they are not
APART = 500
# effects of another grouping beyond which it has no dense columns either; doubling it costs time per row
CROSSED = 100
# effects of all groupings that are not eliminated: their matrix is dense; doubling it takes eight times as long
MOST_CROSSED = 10_000
NOWHERE = -1  # the index of a column of ones, among those of X
# whole numbers up to which places of levels are looked up, for each row; doubled, the table takes as long as a search
GAPS = 16
PIECE_ROWS = 2**13  # rows whose sums of tensor products are taken at a time


@dataclass(frozen=True, eq=False)
class LearnedSmooth:
    """A smooth, as learned.

    Parameters
    ----------
    label : its name, "s(age)".
    columns : indices among the columns of X.
    curves : of each column; products of them where there are several, whose first column, a constant, is left out.
    centre : what is taken from the values, (W,), so that they add up to zero.
    weights : diagonals of the penalties, (penalties, W).
    first : the first of mgcv's coordinates in these, (W,).
    shift : what mgcv's restricted log-likelihood has beyond that of these coordinates, twice.
    by : the column that multiplies the smooth, or decides which curve a row has.
    levels : the values of `by` that have a curve each; None where it multiplies.
    """

    label: str
    columns: tuple[Count, ...]
    curves: tuple[CubicPieces, ...]
    centre: Annotated[Array, Finite("W")]
    weights: Annotated[Array, Finite(". W")]
    first: Annotated[Array, Finite("W")]
    shift: FiniteNumber = 0.0
    by: Count | None = None
    levels: tuple[FiniteNumber, ...] | None = None

    @property
    def copies(self) -> int:
        """Number of curves."""
        return 1 if self.levels is None else len(self.levels)

    @property
    def width(self) -> int:
        """Number of columns, of all curves."""
        return self.copies * len(self.centre)

    def fill(self, out: Array, x: Array) -> None:
        """Set out (n, width) to the columns at rows x (n, D)."""
        if self.by is None:
            return self._fill_values(out, x[:, self.columns])
        values, by = self.values(x[:, self.columns]), x[:, self.by]
        parts = [by] if self.levels is None else [(by == level).astype(np.float64) for level in self.levels]
        for k, part in enumerate(parts):
            np.multiply(values, part[:, None], out=out[:, k * values.shape[1] : (k + 1) * values.shape[1]])

    def values(self, x: Array) -> Array:
        """Return the columns of one curve at its arguments (n, arguments)."""
        out = np.empty((len(x), len(self.centre)))
        self._fill_values(out, x)
        return out

    def _fill_values(self, out: Array, x: Array) -> None:
        if len(self.curves) == 1:
            self.curves[0].fill(out, x[:, 0])
        else:
            out[:] = _row_products(self.curves, x)[:, 1:]
        if self.centre.any():
            out -= self.centre


@dataclass(frozen=True, eq=False)
class LearnedGroups:
    """Random effects of a grouping, as learned.

    Parameters
    ----------
    label, grouping : their names, "(1 + x | school)" and "school".
    columns : indices of the grouping's columns among those of X.
    levels : the combinations of values that occurred, (G, columns) in ascending order.
    slopes : indices of the columns whose coefficients vary, -1 for the intercept.
    names : of these coefficients.
    exponents : each is divided by 2 to this power.
    """

    label: str
    grouping: str
    columns: tuple[Count, ...]
    levels: Annotated[Array, Finite(". .")]
    slopes: tuple[Int64, ...]
    names: tuple[str, ...]
    exponents: tuple[Int64, ...]

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.levels) * len(self.slopes)

    def find(self, x: Array) -> NDArray[np.intp]:
        """Return the index of the group of each row x (n, D), -1 for one that did not occur."""
        known, rows = self.levels, x[:, self.columns]
        if known.shape[1] == 1:
            place = _nearest(known[:, 0], rows[:, 0])
            return np.where(known[place, 0] == rows[:, 0], place, -1)
        at, whole = np.zeros(len(known), dtype=np.intp), np.zeros(len(rows), dtype=np.intp)
        lost = np.zeros(len(rows), dtype=bool)
        for j in range(known.shape[1]):
            values, codes = np.unique(known[:, j], return_inverse=True)
            place = _nearest(values, rows[:, j])
            lost |= values[place] != rows[:, j]
            at, whole = at * len(values) + codes, whole * len(values) + place
        place = np.minimum(np.searchsorted(at, whole), len(at) - 1)
        return np.where(lost | (at[place] != whole), -1, place)

    def effects_of(self, x: Array) -> Array:
        """Return what the coefficients of a group multiply at rows x, (n, slopes)."""
        out = np.ones((len(x), len(self.slopes)))
        for k, (slope, exponent) in enumerate(zip(self.slopes, self.exponents, strict=True)):
            if slope != NOWHERE:
                out[:, k] = np.ldexp(x[:, slope], -exponent)
        return out

    def fill(self, out: Array, x: Array) -> None:
        """Set out (n, width) to the columns at rows x (n, D); zeros for a group that did not occur."""
        out[:] = 0
        found, size = self.find(x), len(self.slopes)
        known = np.flatnonzero(found >= 0)
        effects = self.effects_of(x[known])
        for k in range(size):
            out[known, found[known] * size + k] = effects[:, k]


def _nearest(known: Array, values: Array) -> NDArray[np.intp]:
    """Return the place of each value among known ones, ascending; that of another where it is not there."""
    span = known[-1] - known[0]
    if span > GAPS * len(values) or (known != np.floor(known)).any():
        return np.minimum(np.searchsorted(known, values), len(known) - 1)
    places = np.zeros(int(span) + 1, dtype=np.intp)
    places[(known - known[0]).astype(np.intp)] = np.arange(len(known))
    at = values - known[0]
    return np.asarray(places[np.where((at >= 0) & (at <= span), at, 0).astype(np.intp)])


@dataclass(frozen=True, kw_only=True, eq=False)
class DesignState(FittedState):
    """What the design of an additive model has learned: linear columns by index, smooths, groups.

    apart : groupings of so many levels that their effects have no columns, that which is eliminated last.
    """

    linear: tuple[Count, ...]
    smooths: tuple[LearnedSmooth, ...]
    groups: tuple[LearnedGroups, ...]
    apart: tuple[LearnedGroups, ...] = ()


@configured
@dataclass(eq=False, repr=False)
class AdditiveDesign(Basis):
    """The columns of an additive model, learned by `learn_design`."""

    learned_as = DesignState
    linear_ = FittedAttribute[tuple[int, ...]]()
    smooths_ = FittedAttribute[tuple[LearnedSmooth, ...]]()
    groups_ = FittedAttribute[tuple[LearnedGroups, ...]]()
    apart_ = FittedAttribute[tuple[LearnedGroups, ...]]()

    @property
    def parts(self) -> tuple[LearnedSmooth | LearnedGroups, ...]:
        """Smooths and groupings that have columns."""
        return (*self.smooths_, *self.groups_)

    @property
    def groupings(self) -> tuple[LearnedGroups, ...]:
        """All groupings, those without columns last."""
        return (*self.groups_, *self.apart_)

    @property
    def group_shapes(self) -> list[tuple[int, int]]:
        """For each grouping without columns the number of groups, and of effects of each."""
        return [(len(one.levels), len(one.slopes)) for one in self.apart_]

    def grouped(self, x: Array) -> list[tuple[NDArray[np.intp], Array]]:
        """Return for each grouping without columns the group of each row x, and what its effects multiply, (n, q)."""
        return [(one.find(x), one.effects_of(x)) for one in self.apart_]

    def of(self, x: Array) -> Array:
        """Return phi of rows x (n, D)."""
        x = np.asarray(x, dtype=np.float64)
        out, at = np.empty((len(x), self.size)), len(self.linear_)
        out[:, :at] = x[:, self.linear_]
        for one in self.parts:
            one.fill(out[:, at : at + one.width], x)
            at += one.width
        return out

    def names(self, given: list[str]) -> list[str]:
        """Return names such as s(age).1."""
        out = [given[j] for j in self.linear_]
        for one in self.parts:
            out += [f"{one.label}.{k + 1}" for k in range(one.width)]
        return out

    @property
    def size(self) -> int:
        """Number of columns of phi."""
        return len(self.linear_) + sum(one.width for one in self.parts)

    @property
    def learns(self) -> bool:
        """True, as knots and levels lie among the rows."""
        return True


class TermPlace(NamedTuple):
    """Where a curve, or the effects of a grouping, stand among the columns of phi."""

    part: LearnedSmooth | LearnedGroups
    start: int
    stop: int
    level: float | None = None


def places_of(design: AdditiveDesign) -> list[TermPlace]:
    """Return where each curve and each grouping stands."""
    out, at = [], len(design.linear_)
    for smooth in design.smooths_:
        for level in smooth.levels or (None,):
            out.append(TermPlace(smooth, at, at := at + len(smooth.centre), level))
    for groups in design.groups_:
        out.append(TermPlace(groups, at, at := at + groups.width))
    return out


def block_penalties(places: Sequence[TermPlace]) -> list[BlockPenalty]:
    """Return the penalty of each place."""
    return [
        DiagonalPenalty(at.start, at.part.weights)
        if isinstance(at.part, LearnedSmooth)
        else CovariancePenalty(at.start, len(at.part.levels), len(at.part.slopes))
        for at in places
    ]


def learn_design(
    source: Source,
    names: Sequence[str],
    linear: Sequence[int],
    terms: Sequence[AdditiveTerm] | None,
    frequencies: bool,
    curved: int,
    select: bool,
    apart: bool = True,
) -> AdditiveDesign:
    """Return the design of terms, learned from the rows of a source.

    Parameters
    ----------
    source, names : rows of X, and the names of its columns.
    linear : indices of the columns that enter as they are.
    terms : smooths and random effects; None for a curve of each column, linear where it has few distinct values.
    frequencies : whether weights count rows; otherwise a row counts once whatever its weight.
    curved : how many distinct values are not few.
    select : whether smooths have a penalty on their straight lines too, so that they can vanish.
    apart : whether the effects of a grouping of very many levels have no columns.
    """
    index = {name: j for j, name in enumerate(names)}
    every_column = terms is None
    terms = [SmoothTerm((name,), ("tp",), (None,)) for name in names] if terms is None else terms
    asked = [_columns_of(term, index) for term in terms]
    every = tuple(dict.fromkeys(one for own in asked for one in own.values()))
    groupings = {own["group"] for own in asked if "group" in own}
    config = {"columns": every, "whole": tuple(one in groupings for one in every), "counted": not frequencies}
    found = source.sum(DistinctValues, **config)
    known = dict(zip(every, zip(found.values, found.weights, strict=True), strict=True))
    for one, (values, _) in known.items():
        if not np.isfinite(values).all():
            source.refuse_nonfinite()
        if not len(values):
            raise InvalidData(f"no row has a weight, and {names[one[0]]!r} no value to learn from")
    if every_column:
        few = [len(known[own["x0"]][0]) < curved for own in asked]
        linear = [j for j in range(len(names)) if few[j]]
        terms = [term for term, one in zip(terms, few, strict=True) if not one]
        asked = [own for own, one in zip(asked, few, strict=True) if not one]
    smooths, groups = [], []
    for term, own in zip(terms, asked, strict=True):
        parts = {name: known[columns] for name, columns in own.items()}
        if isinstance(term, SmoothTerm):
            smooths.append(_learn_smooth(source, term, own, parts, index, not frequencies, select))
        else:
            groups.append(_learn_groups(term, own, parts, index))
    widest = max(groups, key=lambda one: one.width, default=None)
    eliminated = widest if apart and widest is not None and widest.width > APART else None
    groups = [one for one in groups if one is not eliminated]
    crossed = [one for one in groups if eliminated is not None and one.width > CROSSED]
    groups = [one for one in groups if one not in crossed]
    design = AdditiveDesign()
    design.n_features_in_ = len(names)
    design._state = DesignState(
        linear=tuple(map(int, linear)),
        smooths=tuple(smooths),
        groups=tuple(groups),
        apart=() if eliminated is None else (*crossed, eliminated),
    )
    _refuse_too_large(design)
    return design


def _refuse_too_large(design: AdditiveDesign) -> None:
    """Refuse more coefficients than are solved for."""
    for size, most, parts in (
        (design.size, MOST_COEFFICIENTS, design.parts),
        (sum(one.width for one in design.apart_[:-1]), MOST_CROSSED, design.apart_[:-1]),
    ):
        if size > most:
            largest = max(parts, key=lambda one: one.width)
            raise InvalidData(
                f"the model has {size:,} coefficients beside its largest grouping, and at most {most:,} are solved "
                f"for: {largest.width:,} are those of {largest.label}. Only one grouping may have more levels: absorb "
                "the effects of the others, '| group' at the end of a formula for LinearRegression, or fit to fewer "
                "groups"
            )


def _columns_of(term: AdditiveTerm, index: dict[str, int]) -> dict[str, tuple[int, ...]]:
    """Return the indices of the columns whose distinct values a term is learned from, by their part in it."""

    def at(text: str, level: bool = False) -> int:
        name = without_backquotes(text)
        found = index.get(_index_name(name)) if level else None
        found = index.get(name) if found is None else found
        if found is None:
            known = ", ".join([*index][:20])
            raise InvalidParameter(f"{term.text} names the column {name!r}, which is not in X; there are: {known}")
        return found

    if isinstance(term, SmoothTerm):
        out: dict[str, tuple[int, ...]] = {f"x{k}": (at(name),) for k, name in enumerate(term.columns)}
        return out | ({} if term.by is None else {"by": (at(term.by, True),)})
    slopes: dict[str, tuple[int, ...]] = {name: (at(name),) for name in term.slopes if name != "1"}
    return {"group": tuple(at(name, True) for name in term.group)} | slopes


def _index_name(name: str) -> str:
    """Return what the column of the indices of a category's levels is called."""
    return Contrast(name, INDEX).names("", [])[0]


DistinctParts = dict[str, tuple[Array, Array]]
"""Distinct values and their weights, by the part that a column has in a term."""


def _learn_smooth(
    source: Source,
    term: SmoothTerm,
    columns: dict[str, tuple[int, ...]],
    known: DistinctParts,
    index: dict[str, int],
    counted: bool,
    select: bool,
) -> LearnedSmooth:
    margins, exponents, points = [], [], []
    for k, (name, kind, size) in enumerate(
        zip(map(without_backquotes, term.columns), term.bases, term.sizes, strict=True)
    ):
        values, weights = known[f"x{k}"][0][:, 0], known[f"x{k}"][1]
        usual = USUAL_SIZE if len(term.columns) == 1 else USUAL_MARGIN
        exponent = int(np.frexp(values[-1] - values[0])[1])
        values = np.ldexp(values, -exponent)
        thinned = _thinned(values, weights)
        margins.append(_smooth_of(kind, values, thinned, _size(term, name, kind, size, usual, len(values))))
        exponents.append(exponent)
        points.append(thinned[0])
    own = tuple(columns[f"x{k}"][0] for k in range(len(term.columns)))
    by = None if term.by is None else columns["by"][0]
    levels = (
        tuple(level for level in known["by"][0][:, 0].tolist() if level >= 0)
        if term.by is not None and _index_name(without_backquotes(term.by)) in index
        else None
    )
    free = by is not None and levels is None  # a column that multiplies needs no constraint
    if len(margins) == 1:
        smooth, (values, weights) = margins[0], known["x0"]
        sums = weights @ as_pieces(smooth, np.eye(smooth.width), exponents[0], points[0]).columns(values[:, 0])
        form = diagonal_form(smooth, None if free else sums, select)
        curves: tuple[CubicPieces, ...] = (as_pieces(smooth, form.transform, exponents[0], points[0]),)
        centre = np.zeros(form.transform.shape[1])
    else:
        tensor = TensorProduct(tuple(margins))
        given = zip(margins, exponents, points, strict=True)
        raw = tuple(as_pieces(one, np.eye(one.width), e, p) for one, e, p in given)
        sums, weight = _sums_of_products(source, raw, own, counted)
        form = diagonal_form(tensor, None if free else sums, select)
        given = zip(margins, exponents, points, strict=True)
        curves = tuple(as_pieces(one, margin_directions(one)[0], e, p) for one, e, p in given)
        centre = np.zeros(form.transform.shape[1]) if free else sums @ form.transform / weight
        if free:
            raise InvalidParameter(f"{term.text} has by={term.by!r}, a column of numbers: give te() a category")
    return LearnedSmooth(term.text, own, curves, centre, form.weights, form.first, form.shift, by, levels)


def _row_products(curves: Sequence[CubicPieces], x: Array) -> Array:
    out = np.ones((len(x), 1))
    for j, one in enumerate(curves):
        out = (out[:, :, None] * one.columns(x[:, j])[:, None, :]).reshape(len(x), -1)
    return out


def _sums_of_products(
    source: Source, curves: tuple[CubicPieces, ...], columns: tuple[int, ...], counted: bool
) -> tuple[Array, float]:
    """Return the sums of all products over the rows, and the weight of these."""
    parts = source.map(partial(_product_sums, curves, columns, counted)).sum(axis=0)
    return parts[:-1], float(parts[-1])


def _product_sums(curves: tuple[CubicPieces, ...], columns: tuple[int, ...], counted: bool, block: Block) -> Array:
    block = block.heavy()
    x = np.asarray(host(as_dense(block.x)), dtype=np.float64)[:, columns]
    weight = np.ones(len(x)) if counted else block.weights()
    out = np.zeros(1 + int(np.prod([one.width for one in curves])))
    for first in range(0, len(x), PIECE_ROWS):
        rows = slice(first, first + PIECE_ROWS)
        out[:-1] += weight[rows] @ _row_products(curves, x[rows])
    out[-1] = weight.sum()
    return out[None]


def _size(term: SmoothTerm, name: str, kind: SmoothBasis, wanted: int | None, usual: int, distinct: int) -> int:
    """Return the number of coefficients of a curve; refuse more than there are distinct values."""
    most = distinct if kind != "ps" else max(distinct, LEAST_SIZE[kind])
    if distinct == 1:
        raise InvalidData(f"column {name!r} of {term.text} is constant: leave the term out")
    if distinct < LEAST_SIZE[kind]:
        raise InvalidData(
            f"column {name!r} of {term.text} has {counted(distinct, 'distinct value')}, too few for a curve: use it as "
            "a number or as a category"
        )
    if wanted is not None and wanted > most:
        raise InvalidData(
            f"{term.text} has k={wanted}, and column {name!r} has {counted(distinct, 'distinct value')}: set k to at "
            f"most {distinct}"
        )
    return min(usual, most) if wanted is None else wanted


def _smooth_of(kind: SmoothBasis, values: Array, points: tuple[Array, Array], size: int) -> Smooth:
    if kind == "ps":
        return PenalizedSpline(float(values[0]), float(values[-1]), size)
    if kind == "tp":
        return ThinPlate(points[0][:, None], points[1], size)
    knots = tuple(np.quantile(values, np.linspace(0, 1, size)).tolist())
    return CyclicSpline(knots) if kind == "cc" else CubicSpline(knots)


def _thinned(values: Array, weights: Array) -> tuple[Array, Array]:
    """Return values and their weights; where they are very many as many as a thin plate spline takes, evenly among
    them.
    """
    if len(values) <= MOST_POINTS:
        return values, weights
    kept = np.unique(np.linspace(0, len(values) - 1, MOST_POINTS).round().astype(np.intp))
    return values[kept], np.add.reduceat(weights, kept)


def _learn_groups(
    term: RandomTerm, columns: dict[str, tuple[int, ...]], known: DistinctParts, index: dict[str, int]
) -> LearnedGroups:
    levels, _ = known["group"]
    coded = [_index_name(without_backquotes(name)) in index for name in term.group]
    levels = levels[(levels[:, coded] >= 0).all(axis=1)]  # a row without a level has no effect
    slopes, exponents = [], []
    for name in term.slopes:
        slopes.append(NOWHERE if name == "1" else columns[name][0])
        largest = 1.0 if name == "1" else float(np.abs(known[name][0]).max())
        exponents.append(0 if name == "1" or not largest else int(np.frexp(largest)[1]))
        if name != "1" and len(known[name][0]) == 1:
            raise InvalidData(f"column {name!r} of {term.text} is constant: leave it out")
    if len(levels) < 2:
        raise InvalidData(f"{term.grouping!r} of {term.text} has one level: there is no variance between groups")
    shown = tuple("intercept" if name == "1" else without_backquotes(name) for name in term.slopes)
    return LearnedGroups(term.text, term.grouping, columns["group"], levels, tuple(slopes), shown, tuple(exponents))
