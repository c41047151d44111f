"""`AdditiveModel` in a comparison: which columns get a curve, and whose levels are pooled.

A column of numbers gets a curve where the residuals r of least squares on all columns still depend on it. Let U be q
orthonormal directions of a natural cubic spline of x beside the constant and x itself. The residuals are orthogonal to
all columns, so that the variance of U'r is at most sigma^2 in each direction, and

    F = |U'r|^2 / (q s^2)

has a numerator that is at most that of a test of these directions beside all columns, at a cost that is linear in the
number of columns. If all effects are linear and errors are normal with equal variance, a table is compared with a curve
with probability at most LINEAR_OFFERED. Errors whose spread grows with |x| raise this probability, to 30 % for 500 rows
of 3 columns; there the errors of the comparison decide. The held-out rows are among those that choose the columns, so
the errors of an additive model are optimistic.

Levels of a category are pooled where there are many: effects drawn from a normal distribution, (1 | category), instead
of a column for each level. Categories of too many levels to be coded are used by no other system.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy

from adaline.arrays import AnyArray, Array, as_dense
from adaline.coding.additive import RandomTerm, in_backquotes, read_additive, read_terms, without_backquotes
from adaline.comparison.table import Table
from adaline.errors import AdalineError, AdalineWarning, InvalidParameter
from adaline.smooths import CubicSpline
from adaline.systems import LinearRegression

# chance that a table without curves, of equal normal errors, is compared with some; doubling it fits curves to twice as
# many straight lines
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
    weight = None if table.weight is None else table.weight[rows]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", AdalineWarning)  # dependent columns are a finding of their own
            model = LinearRegression().fit(x, y, weight)
            left = y - model.predict(x)
    except AdalineError:
        return {}
    root = np.ones(len(y)) if weight is None else np.sqrt(weight)
    freedom = len(y) - model.rank_ - 1
    residual = root * left / (np.abs(left).max() or 1.0)
    noise = float(residual @ residual) / max(freedom, 1)
    if freedom < 1 or not noise > 0:
        return {}
    out = {}
    for j in columns:
        curved = _curved_directions(x[:, j], root)
        if len(curved.T):
            f = float(np.square(residual @ curved).sum()) / len(curved.T) / noise
            out[j] = f, float(scipy.special.fdtrc(len(curved.T), freedom, f))
    return out


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
