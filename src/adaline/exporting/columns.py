"""The columns of X as nodes of the raw columns: codings, gaps, formulas and bases, by which z = w'x + w0 is a tree.

A term of a coding is a product of factors. A factor is a set of columns that are linear in some nodes, or such columns
chosen by a level or an interval: the weights of the term are then numbers looked up by level, without columns of zeros
and ones.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adaline.arrays import Array
from adaline.basis import Custom, Fourier, Polynomial, Radial, Spline
from adaline.basis.base import After, Basis, Beside
from adaline.basis.spline import spline_pieces
from adaline.coding.coding import Coding, is_index
from adaline.coding.columns import MISSING_LEVEL, Column
from adaline.coding.effects import Effect
from adaline.coding.expressions import LearnerCall, compiled, evaluate_parts
from adaline.coding.learned import BSpline, Cut, NaturalSpline, Poly
from adaline.coding.terms import TermFactor
from adaline.coding.texts import UNKNOWN
from adaline.errors import InvalidType
from adaline.exporting.graph import by_dependence
from adaline.exporting.tree import (
    MISSING,
    Breaks,
    Input,
    Node,
    as_float,
    call,
    choose,
    combination,
    constant,
    finite,
    if_missing,
    interval,
    level,
    node,
    total,
    where,
)

LARGEST_WHOLE = 2**53  # whole numbers up to this size are doubles too


@dataclass(frozen=True)
class LinearColumns:
    """Columns that are linear in some nodes: column j is sum_m nodes_m matrix_mj."""

    nodes: tuple[Node, ...]
    matrix: Array

    def times(self, weights: Array, rest: Callable[[Array], Node]) -> Node:
        """Return the sum of the columns, each times what `rest` makes of its weights."""
        mixed = np.tensordot(self.matrix, weights, 1)
        return total(one * rest(w) for one, w in zip(self.nodes, mixed, strict=True) if np.any(w))


@dataclass(frozen=True)
class Choice:
    """Columns chosen by the index of a level or an interval; the last two are for unknown and missing ones."""

    index: Node
    options: tuple[LinearColumns | None, ...]

    def times(self, weights: Array, rest: Callable[[Array], Node]) -> Node:
        """Return the sum of the columns, each times what `rest` makes of its weights."""
        made = [MISSING if one is None else one.times(weights, rest) for one in self.options]
        return choose(self.index, made[:-2], *made[-2:])


FactorColumns = LinearColumns | Choice


def as_columns(nodes: Sequence[Node]) -> LinearColumns:
    """Return nodes as columns."""
    return LinearColumns(tuple(nodes), np.eye(len(nodes)))


def constants(row: Array) -> LinearColumns:
    """Return a row of numbers as columns."""
    return LinearColumns((constant(1.0),), np.atleast_2d(row))


class DesignTree(ABC):
    """The columns of X."""

    width: int

    @abstractmethod
    def linear(self, weights: Array) -> Node:
        """Return sum_j weights_j x_j."""

    def output(self, weights: Array, constant: float) -> Node:
        """Return w'x + w0, missing where it is not finite; columns of weight zero are read, as `predict` does."""
        weights = np.asarray(weights, dtype=np.float64)
        found = self.linear(weights)
        return finite(total([found, *self._unread(found, weights)]) + float(constant))

    def _unread(self, found: Node, weights: Array) -> list[Node]:
        """Return zero times the columns that a sum leaves out and that read what it does not read."""
        out: list[Node] = []
        if not weights.all():
            known = _inputs([found])
            for one in (self.nodes[j] for j in np.flatnonzero(weights == 0.0)):
                if not (own := _inputs([one])) <= known:
                    out.append(0.0 * one)
                    known |= own
        return out

    @cached_property
    def nodes(self) -> list[Node]:
        """The columns, each as a node."""
        return [self.linear(unit) for unit in np.eye(self.width)]


def _inputs(nodes: Sequence[Node]) -> set[Input]:
    return {one.value for one in by_dependence(nodes) if one.name == "input"}


class TermDesign(DesignTree):
    """Columns made of terms, each a product of factors whose first varies slowest."""

    def __init__(self, terms: Sequence[tuple[Sequence[FactorColumns], Sequence[int]]]) -> None:
        self.terms = terms
        self.widths = [math.prod(shape) for _, shape in terms]
        self.width = sum(self.widths)

    def linear(self, weights: Array) -> Node:
        parts = np.split(weights, np.cumsum(self.widths)[:-1])
        used = zip(self.terms, parts, strict=True)
        return total(
            sum_of_products(list(factors), own.reshape(shape)) for (factors, shape), own in used if np.any(own)
        )

    @cached_property
    def nodes(self) -> list[Node]:
        """The columns, each as a node."""
        units = [(factors, shape, unit) for factors, shape in self.terms for unit in np.eye(math.prod(shape))]
        return [sum_of_products(list(factors), unit.reshape(shape)) for factors, shape, unit in units]


def sum_of_products(factors: list[FactorColumns], weights: Array) -> Node:
    """Return the sum of all products of the columns of factors, each times its weight."""
    if not factors:
        return constant(weights)
    return factors[0].times(weights, lambda rest: sum_of_products(factors[1:], rest))


def plain_rows(nodes: Sequence[Node]) -> DesignTree:
    """Return nodes as the columns of X."""
    return TermDesign([((as_columns([one]),), (1,)) for one in nodes])


class RawColumns:
    """The raw columns that a coding reads, as nodes."""

    def __init__(self, coding: Coding) -> None:
        self.coding = coding
        self.filled = coding.missing in ("mean", "indicator")

    def raw(self, name: str) -> Node:
        """Return a column of numbers, missing where it is."""
        known = self.coding._by_name.get((name, False))
        return Node("input", value=Input(name, "number" if known is None else known.kind))

    def numbers(self, name: str) -> Node:
        """Return a column of numbers, filled where the coding fills it."""
        raw = self.raw(name)
        return where(if_missing(raw), self.coding.column(name, False).mean, raw) if self.filled else raw

    def value(self, text: str) -> Node:
        """Return an expression of the raw columns that gives one number."""
        found = compiled(text)
        columns = {name: self.numbers(name) for name in found.names}
        columns |= {key: self._equals(name, one) for key, name, one in found.compared}
        return node(evaluate_parts(text, columns, self.coding.facts))

    def _equals(self, name: str, one: str) -> Node:
        column = self.coding.column(name, True)
        known = [str(each) for each in column.levels]
        own = known.index(one)
        absent = column.share[own] if self.filled else MISSING
        if column.takes_gaps:
            absent = float(MISSING_LEVEL == one)
        return choose(level_of(column), np.eye(len(known))[own], 0.0, absent)

    def offset(self) -> Node | None:
        """Return the offset that the coding names."""
        text = self.coding.offset
        if text is None:
            return None
        try:
            names = compiled(text).names
        except ValueError:
            names = ()
        if not names or (len(names) == 1 and names[0] == text):
            return self.raw(text)
        return node(evaluate_parts(text, {name: self.raw(name) for name in names}, {}))


def coded_rows(coding: Coding) -> DesignTree:
    """Return the columns of X of a coding."""
    for column in coding.columns:
        if column.is_category and not column.has_levels:
            raise InvalidType(
                f"column {column.name!r} of the model is {column.kind}, which has no form outside adaline: predict from"
                " the model file, or fit the model to levels instead"
            )
    raw = RawColumns(coding)
    terms = []
    for term in coding._all_terms:
        terms.append(([_factor(raw, factor) for factor in term], [coding.width(factor) for factor in term]))
    return TermDesign(terms)


def _factor(raw: RawColumns, factor: TermFactor) -> FactorColumns:
    coding = raw.coding
    if factor.column is None:
        found = compiled(factor.text)
        if found.kind == "columns":
            return _learned_columns(raw, found.calls[-1])
        if found.kind != "levels":
            value = raw.value(factor.text)
            return as_columns([1.0 - value, value] if factor.category and factor.full else [value])
        index = _interval_of(raw, found.calls[-1])
    elif factor.category:
        index = level_of(coding.column(factor.column, True))
    elif factor.full:
        return as_columns([as_float(if_missing(raw.raw(factor.column)))])
    else:
        return as_columns([raw.numbers(factor.column)])
    table, share = coding.contrast_columns(factor), np.asarray(coding.levels(factor)[1])
    average = constants(share @ table) if len(share) else None
    unknown = average if coding.unseen == "other" else None
    if is_index(factor):  # of a grouping, in which a new level is none of those known
        average = unknown = constants(np.array([float(UNKNOWN)]))
    if factor.column is None:
        return Choice(index, (*map(constants, table), unknown, None))
    column = coding.column(factor.column, True)
    if column.takes_gaps:
        absent: LinearColumns | None = constants(table[column.levels.index(MISSING_LEVEL)])
    elif column.gaps:
        absent = constants(table[-1])
    else:
        absent = average if raw.filled else None
    return Choice(index, (*map(constants, table[: len(column.levels)]), unknown, absent))


def level_of(column: Column) -> Node:
    """Return the index of a category among its levels; refuse levels of several types."""
    kept = column.levels
    if column.of_texts:
        return level(Node("input", value=Input(column.name, "text")), kept)
    if column.takes_gaps and all(isinstance(one, int | float) for one in kept if one != MISSING_LEVEL):
        raise InvalidType(
            f"column {column.name!r} has levels that are numbers, and one for gaps, which has no form outside adaline: "
            "fit the model to texts, or open the table with missing='indicator'"
        )
    if all(type(one) is bool for one in kept):
        return level(Node("input", value=Input(column.name, "boolean")), [float(one) for one in kept])
    if all(type(one) in (int, float) and float(one) == one and abs(one) <= LARGEST_WHOLE for one in kept):
        return level(Node("input", value=Input(column.name, "number")), [float(one) for one in kept])
    raise InvalidType(
        f"column {column.name!r} has levels of several types ({', '.join(map(repr, kept[:4]))}), which have no form "
        "outside adaline: fit the model to texts"
    )


def _interval_of(raw: RawColumns, one: LearnerCall) -> Node:
    """Return the index of the interval of cut(), unknown where the value is in none."""
    cut, facts = one.learner, raw.coding.facts[one.text]
    assert isinstance(cut, Cut)
    breaks, x = facts[: cut.size(facts) + 1], raw.value(one.argument)
    if cut.include_lowest:  # the outermost interval is closed on both sides
        outer, beyond = (breaks[0], -math.inf) if cut.right else (breaks[-1], math.inf)
        moved = float(np.nextafter(outer, beyond))
        breaks = (moved, *breaks[1:]) if cut.right else (*breaks[:-1], moved)
    return interval(x, Breaks(tuple(breaks), not cut.right, inside=True))


def _learned_columns(raw: RawColumns, one: LearnerCall) -> FactorColumns:
    """Return the columns of poly(), bs() or ns()."""
    learner, facts, x = one.learner, raw.coding.facts[one.text], raw.value(one.argument)
    if isinstance(learner, Poly):
        if learner.raw:
            return as_columns([x**p for p in range(1, learner.degree + 1)])
        steps = np.reshape(facts[1:], (learner.degree, 3))
        return as_columns([part / facts[0] for part in _recurrence(x, steps)[1:]])
    if isinstance(learner, BSpline):
        return _spline(x, facts, learner.degree, learner.intercept, natural=False)
    if isinstance(learner, NaturalSpline):
        return _spline(x, facts, 3, learner.intercept, natural=True)
    raise InvalidType(f"{one.text} of the formula has no form outside adaline: make it a column of the table")


def _recurrence(x: Node, steps: Array) -> list[Node]:
    """Return orthogonal polynomials of degree 0 to p, by their recurrence (p, 3)."""
    out = [constant(0.0), constant(1.0)]
    for shift, before, norm in steps.tolist():
        ahead = (x - shift) * out[-1]
        out.append((ahead - before * out[-2] if before else ahead) / norm if math.isfinite(norm) else constant(0.0))
    return out[1:]


def _spline(x: Node, knots: Sequence[float], degree: int, intercept: bool, natural: bool) -> FactorColumns:
    return polynomial_pieces(x, *spline_pieces(tuple(knots), degree, natural, intercept))


def polynomial_pieces(x: Node, breaks: Array, centres: Array, tables: Array) -> FactorColumns:
    """Return columns that are polynomials between breaks: of coefficients (1 + degree, pieces, columns) of powers of
    x - centre.
    """
    options = []
    for k, centre in enumerate(centres.tolist()):
        away = x - centre
        powers = [constant(1.0)]
        for _ in range(len(tables) - 1):
            powers.append(powers[-1] * away)
        used = [p for p in range(len(tables)) if np.any(tables[p, k])]
        options.append(LinearColumns(tuple(powers[p] for p in used), tables[used, k]))
    if not len(breaks):
        return options[0]
    return Choice(interval(x, Breaks(tuple(breaks.tolist()), closed_left=True, inside=False)), (*options, None, None))


def within_period(x: Node, low: float, high: float) -> Node:
    """Return x less whole periods, between two ends."""
    return x - (high - low) * call("floor", (x - low) / (high - low))


def basis_rows(basis: Basis, given: Sequence[Node]) -> DesignTree:
    """Return the columns of a basis of some nodes."""
    if isinstance(basis, Beside):
        return JoinedDesign([basis_rows(one, given) for one in basis.bases_])
    if isinstance(basis, After):
        return basis_rows(basis.outer_, basis_rows(basis.inner_, given).nodes)
    if isinstance(basis, Custom) or basis.foreign:
        raise InvalidType(
            "a basis that is Python code of your own has no form outside adaline: make its columns before"
        )
    if isinstance(basis, Spline):
        degree = int(basis.degree)
        parts = [_spline(x, k, degree, False, basis.natural) for x, k in zip(given, basis.knots_, strict=True)]
        return TermDesign([((one,), (basis.width(k),)) for one, k in zip(parts, basis.knots_, strict=True)])
    if isinstance(basis, Polynomial):
        return plain_rows(_products(basis, given))
    if isinstance(basis, Fourier):
        return plain_rows(_waves(basis, given))
    if isinstance(basis, Radial):
        return plain_rows(_bumps(basis, given))
    raise InvalidType(f"the basis {type(basis).__name__} has no form outside adaline yet: make its columns before")


class JoinedDesign(DesignTree):
    """Columns side by side."""

    def __init__(self, parts: Sequence[DesignTree]) -> None:
        self.parts = parts
        self.width = sum(one.width for one in parts)

    def linear(self, weights: Array) -> Node:
        own = np.split(weights, np.cumsum([one.width for one in self.parts])[:-1])
        return total(one.linear(w) for one, w in zip(self.parts, own, strict=True))


def _products(basis: Polynomial, given: Sequence[Node]) -> list[Node]:
    degree = basis.degrees[1]
    if basis.orthogonal:
        powers = [_recurrence(x, steps) for x, steps in zip(given, basis.recurrence_, strict=True)]
    else:
        powers = []
        for x in given:
            own = [constant(1.0)]
            for _ in range(degree):
                own.append(own[-1] * x)
            powers.append(own)
    out = []
    for term in basis.terms_:
        product = constant(1.0)
        for j in sorted(set(term)):
            product = product * powers[j][term.count(j)]
        out.append(product)
    return out


def _waves(basis: Fourier, given: Sequence[Node]) -> list[Node]:
    if basis.random:
        angles = [combination(v, given, b) for v, b in zip(basis.directions_.T, basis.phases_, strict=True)]
        return [math.sqrt(2.0 / int(basis.terms)) * call("cos", one) for one in angles]
    angles = [float(w) * x for w, x in zip(basis.frequency_, given, strict=True)]
    terms = range(1, int(basis.terms) + 1)
    return [call(name, float(k) * one) for k in terms for name in ("sin", "cos") for one in angles]


def _bumps(basis: Radial, given: Sequence[Node]) -> list[Node]:
    rows = [(x - float(m)) / float(u) for x, m, u in zip(given, basis.middle_, basis.unit_, strict=True)]
    return [
        call(
            "exp",
            total((v - float(c)) * (v - float(c)) for v, c in zip(rows, centre, strict=True)) / -(2 * basis.width_**2),
        )
        for centre in basis.centres_
    ]


def effects_of(coding: Coding) -> Node | None:
    """Return the sum of the effects that a fit has absorbed; None where it has absorbed none."""
    fitted = [effect for effect in coding.effects if effect.fitted]
    if not fitted:
        return None
    values = total(_effect(coding, one, one.values, one.missing) for one in fitted)
    along = [_effect(coding, one, one.directions[:-1], one.directions[-1]) for one in fitted if len(one.directions)]
    if not along:
        return values
    direction = total(along)
    sunk = where(direction < -0.5, -math.inf, values)
    return where(direction > 0.5, where(values > -math.inf, MISSING, values), sunk)


def _effect(coding: Coding, effect: Effect, values: Array, missing: float) -> Node:
    index = level_of(Column(effect.name, "category", tuple(effect.levels.tolist())))
    absent = MISSING if math.isnan(effect.missing) else float(missing)
    return choose(index, values.tolist(), 0.0 if coding.unseen == "other" else MISSING, absent)
