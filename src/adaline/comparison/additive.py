"""`AdditiveModel` in a comparison: which columns get a curve, and whose levels are pooled.

A column of numbers gets a curve where the residuals r of least squares on all columns still depend on it. Let U be q
orthonormal directions of a natural cubic spline of x beside the constant and x itself, V what is left of U beside all
columns, so that V'r = U'r, and h_n the leverage of row n in that fit. The statistic

    F = (V'r)' [sum_n (r_n / (1 - h_n))^2 v_n v_n']^-1 (V'r) / q

is a score test whose variance (HC3) needs no equal spread of the errors: a table where all is linear is compared with a
curve with a chance of about LINEAR_OFFERED at most. Of 300 tables of 80 to 500 rows with 3 or 4 columns 0 to 1 % had a
curve, errors being normal, skew, or of a spread that grows with |x| or x^2, where the F of equal spread gave curves to
up to 58 %. The rows that are held out are among those that choose the columns, so that the errors of an additive model
with curves are optimistic.

Levels of a category are pooled where there are many: effects drawn from a normal distribution, (1 | category), instead
of a column for each level. Categories of too many levels to be coded are used by no other system.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy

from adaline.arrays import AnyArray, Array, as_dense
from adaline.coding.additive import RandomTerm, in_backquotes, read_additive, read_terms, without_backquotes
from adaline.comparison.table import Table
from adaline.errors import InvalidParameter
from adaline.smooths import CubicSpline

# chance that a table without curves is compared with some; doubling it fits curves to twice as many straight lines
LINEAR_OFFERED = 0.01
MOST_CURVES = 10  # curves that are compared; doubling it takes four times as long
MOST_TESTED_ROWS = 20_000  # rows that are tested for curves; doubling it takes twice as long
TESTED_PRODUCTS = 2**31  # products of the least-squares fit before the test, at most; doubling it takes twice as long
CURVE_SIZE = 10  # coefficients of a curve, as AdditiveModel has them
LEAST_VALUES = 8  # distinct values from which a column may have a curve; half of them are sure to be in every fold
TEST_KNOTS = 5  # of the spline that is tested: three curved directions (Harrell, Regression Modeling Strategies, 2.4)
LEAST_POOLED = 20  # levels from which a category is pooled; at half of them a variance between levels is a guess
LEAST_ROWS_A_LEVEL = 2  # rows per level below which levels cannot be told from errors
# effects in all beside those of the category with most levels; doubling it takes four times as long
MOST_EFFECTS = 1000
DEPENDENT = 1e-6  # singular value of columns of length 1 below which they depend on each other
EXACT = 1e-9  # share of the target, or of a row, below which what is left of it is rounding
NEW_LEVEL = -1.0  # the level of a row where it is not known; its effect is zero


class AdditiveColumns(NamedTuple):
    """The columns of an additive model, made from those of a table.

    Parameters
    ----------
    kept : columns of X that are taken as they are.
    coded : of each category that is pooled and coded in X, its columns of X; their order numbers the levels.
    many : names of the pooled categories that are not in X.
    names : of the columns made, in this order.
    curves : those of them that have a curve, and its number of coefficients, None for the usual one.
    width : coefficients of the model that are solved for together.
    """

    kept: tuple[int, ...]
    coded: tuple[tuple[int, ...], ...]
    many: tuple[str, ...]
    names: tuple[str, ...]
    curves: tuple[tuple[int, int | None], ...]
    width: int

    @property
    def pooled(self) -> tuple[str, ...]:
        """Names of the categories whose levels are pooled."""
        return self.names[len(self.kept) :]

    def terms(self, own: bool = False) -> list[str]:
        """Return the smooths and random effects by the names of the data, or by those that columns of arrays have."""
        names = [f"x{j}" for j in range(len(self.names))] if own else [in_backquotes(name) for name in self.names]
        given = [(names[j], "" if size is None else f", k={size}") for j, size in self.curves]
        curves = [f's({name}, bs="cr"{size})' for name, size in given]  # the basis that is learned fastest
        return curves + [f"(1 | {name})" for name in names[len(self.kept) :]]

    def shown(self) -> dict[str, str]:
        """Return what to call the terms and columns of a model of arrays."""
        own = (*(one.text for one in read_terms(self.terms(own=True))), *(f"x{j}" for j in range(len(self.names))))
        return dict(zip(own, (*(one.text for one in read_terms(self.terms())), *self.names), strict=True))

    def filled(self, columns: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the indices here of columns of X with gaps that were filled, and of their marks."""
        place = {j: k for k, j in enumerate(self.kept)}
        return [(place[j], place[mark]) for j, mark in columns if j in place and mark in place]

    def of(self, x: AnyArray, levels: Array | None = None) -> Array:
        """Return the columns at rows x of a table (n, D); `levels` are those of the categories that x lacks."""
        coded = [np.asarray(x[:, own] @ np.arange(1.0, 1 + len(own)))[:, None] for own in self.coded]
        many = np.full((x.shape[0], len(self.many)), NEW_LEVEL) if levels is None else levels
        return np.hstack([as_dense(x[:, list(self.kept)]), *coded, many])

    def rows_of(self, table: Table) -> Array:
        """Return the columns of all rows of a table."""
        known = {one.name: one.codes for one in table.levels}
        levels = [known[name] if table.indices is None else known[name][table.indices] for name in self.many]
        return self.of(table.X, np.array(levels, dtype=np.float64).reshape(len(levels), len(table.y)).T)


def additive_columns(table: Table, every: bool = False) -> AdditiveColumns | None:
    """Return the columns of the additive model to compare; None where there is neither a curve nor a pooled category.

    `every` : whether all columns of numbers have a curve, however straight it may be.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.comparison.additive import additive_columns
    >>> from adaline.comparison.table import Table
    >>> x = np.random.default_rng(0).normal(size=(500, 2))
    >>> additive_columns(Table.of(x, x[:, 0] ** 2 + x[:, 1], names=["a", "b"])).terms()
    ['s(a, bs="cr")']
    """
    n = len(table.y)
    if not table.plain or table.offset is not None:
        return None
    pooled = _pooled(table)
    coded = {name: members for name, members in table.groups().items() if name in pooled}
    many = tuple(name for name in pooled if name not in coded)
    gone = {j for members in coded.values() for j in members}
    kept = tuple(j for j in range(table.X.shape[1]) if j not in gone)
    curves = _curves(table, kept, every)
    if not (curves or pooled or every):
        return None
    apart = max(pooled.values(), default=0)
    width = len(kept) + CURVE_SIZE * len(curves) + sum(pooled.values()) - apart
    if len(kept) + sum(pooled.values()) - apart >= n:
        return None
    names = (*(table.names[j] for j in kept), *coded, *many)
    known = tuple((kept.index(j), size) for j, size in curves)
    return AdditiveColumns(kept, tuple(map(tuple, coded.values())), many, names, known, width)


def _pooled(table: Table) -> dict[str, int]:
    """Return the categories that are pooled, with their numbers of levels."""
    levels = {one.name: len(one.values) for one in table.levels}
    for name, members in table.groups().items():
        if all(table.names[j].startswith(f"{name}[T.") for j in members):
            levels[name] = 1 + len(members)
    most = len(table.y) // LEAST_ROWS_A_LEVEL
    able = {
        k: v for k, v in levels.items() if LEAST_POOLED <= v <= most and _can_be_read(f"(1 | {in_backquotes(k)})", k)
    }
    largest = max(able, key=lambda name: able[name], default=None)
    out, total = {}, 0
    for name, count in sorted(able.items(), key=lambda item: item[1]):
        if name == largest or total + count <= MOST_EFFECTS:
            out[name] = count
            total += count
    return out


def _curves(table: Table, kept: Sequence[int], every: bool) -> list[tuple[int, int | None]]:
    """Return the columns of X that have a curve, the most curved first, and the number of its coefficients."""
    n, groups = len(table.y), table.groups()
    marks = {mark for _, mark in table.filled_columns}
    able: dict[int, int | None] = {}
    for j in kept:
        name = table.names[j]
        if [k for k in groups.get(name, ()) if k not in marks] == [j] and _can_be_read(
            f"s({in_backquotes(name)})", name
        ):
            values = len(np.unique(table.column(j)))
            if values >= LEAST_VALUES:
                able[j] = values // 2 if values < 2 * CURVE_SIZE else None
    if every:
        return list(able.items())[:MOST_CURVES]
    d = table.X.shape[1]
    tested = min(n, MOST_TESTED_ROWS, TESTED_PRODUCTS // d**2)
    if not able or tested < 2 * d + TEST_KNOTS:
        return []
    found = _curvatures(table, list(able), slice(None, None, max(n // tested, 1)))
    curved = [j for j, (_, p) in found.items() if p * len(able) < LINEAR_OFFERED]
    return [(j, able[j]) for j in sorted(curved, key=lambda j: -found[j][0])[:MOST_CURVES]]


def _curvatures(table: Table, columns: Sequence[int], rows: slice) -> dict[int, tuple[float, float]]:
    """Return F and its p value for each of some columns of X: whether residuals bend along it."""
    x, y = table.dense(rows=rows), np.asarray(table.y[rows], dtype=np.float64)
    root = np.ones(len(y)) if table.weight is None else np.sqrt(table.weight[rows])
    y = root * y / (np.abs(y).max() or 1.0)
    lines = _orthonormal(root[:, None] * np.column_stack([np.ones(len(x)), x]))
    residual = y - lines @ (lines.T @ y)
    freedom = len(y) - lines.shape[1]
    if freedom < 1 or not np.isfinite(residual).all() or np.linalg.norm(residual) <= EXACT * np.linalg.norm(y):
        return {}
    left = 1 - np.square(lines).sum(axis=1)  # 1 - h
    spread = np.where(left > EXACT, residual / np.maximum(left, EXACT), 0.0)
    out = {}
    for j in columns:
        curved = _curved_directions(x[:, j], root)
        curved = _orthonormal(curved - lines @ (lines.T @ curved))
        if q := curved.shape[1]:
            slope, parts = curved.T @ residual, spread[:, None] * curved
            f = float(slope @ np.linalg.lstsq(parts.T @ parts, slope)[0]) / q
            out[j] = f, float(scipy.special.fdtrc(q, freedom, f))
    return out


def _orthonormal(columns: Array) -> Array:
    """Return orthonormal directions of columns, without those that are combinations of others."""
    size = np.linalg.norm(columns, axis=0)
    there = size > 0
    found, sizes, _ = np.linalg.svd(columns[:, there] / size[there], full_matrices=False)
    return np.asarray(found[:, sizes > DEPENDENT])


def _curved_directions(x: Array, root: Array) -> Array:
    """Return orthonormal directions of a natural cubic spline of x beside the constant and x, (n, 3 at most)."""
    values = np.unique(x)
    low, reach = values[0], values[-1] - values[0]
    if not (reach > 0 and np.isfinite(reach)) or len(values) < TEST_KNOTS:
        return np.empty((len(x), 0))
    unit = (x - low) / reach
    knots = np.unique(np.quantile((values - low) / reach, np.linspace(0, 1, TEST_KNOTS)))
    spline = root[:, None] * CubicSpline(tuple(knots.tolist())).columns(unit[:, None])
    straight, _ = np.linalg.qr(root[:, None] * np.column_stack([np.ones(len(x)), unit]))
    curved, sizes, _ = np.linalg.svd(spline - straight @ (straight.T @ spline), full_matrices=False)
    return np.asarray(curved[:, sizes > 1e-6 * np.linalg.norm(spline)])  # others are rounding


def _can_be_read(text: str, name: str) -> bool:
    """Whether a term is read as one of this column: names may hold what a formula means otherwise."""
    try:
        (found,) = read_additive(text)
    except (InvalidParameter, ValueError):
        return False
    return (found.group if isinstance(found, RandomTerm) else tuple(map(without_backquotes, found.columns))) == (name,)
