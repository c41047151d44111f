"""Rows and levels that may be wrong or repeated, and what the comparison concludes without them.

A wrong value may decide whether any system is useful, and copies of a row in two folds make errors look too small. So
the recommended system, or without one all systems fitted from sums, are cross-validated again without such rows, on the
same folds.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.comparison.additive import AdditiveColumns, additive_columns
from adaline.comparison.budget import FitBudget, budget_of
from adaline.comparison.recommendation import Recommendation, recommend
from adaline.comparison.result import Result, SystemTrial
from adaline.comparison.spellings import SameLevel
from adaline.comparison.table import REGRESSION, Table
from adaline.errors import AdalineError, AdalineWarning
from adaline.estimator import clone
from adaline.fitted import sums_folds
from adaline.input.taken import take_rows
from adaline.selection.cross_validation import ArrayRows, StreamedFolds
from adaline.systems import LinearRegression
from adaline.wording import counted

if TYPE_CHECKING:
    from adaline.inference.influence import CoefficientInfluence, Influence

Indices = NDArray[np.intp]

OUTLIER = 0.01  # probability of a finding among clean rows; doubling it reports twice as many false ones
LARGE_COOK = 1.0  # Cook and Weisberg (1982): a row that moves all coefficients to the edge of their joint interval
FAR_RANGES = 10.0  # interquartile ranges beyond the quartiles; a normal column has values up to about 3 beyond
EXTREME_RESIDUAL = 10.0  # studentised residual from which a row is left out on trial; smaller makes errors optimistic
MOST_QUANTILE_ROWS = 10**5  # rows from which the quartiles of a column are computed; doubling it takes twice as long
HANDFUL = 5  # suspicious rows up to which they are left out on trial; doubling it judges small tables on fewer rows
HANDFUL_SHARE = 0.01  # the same, as a share of the rows of large tables
MOST_LEFT_OUT = 0.2  # share of the rows that may be left out; doubling it judges small tables on fewer rows
CODE_SHARE = 0.1  # the same, of rows with one and the same far value, as a code for missing
MOST_NAMED = 3  # rows that a headline names; doubling it makes headlines hard to read
LEAST_DISTINCT = 30  # distinct values from which a column distinguishes rows; doubling it reports fewer repeated rows
# rows x columns up to which nearly repeated rows are counted; doubling it takes twice as long
MOST_HASHED_NUMBERS = 2**24
# difference from the mean, relative to the size of a column, up to which a value was filled in; 10x larger ignores
# more rows
SAME_MEAN = 1e-12
# numbers of X up to which a system without sums is cross-validated again; doubling it takes twice as long
MOST_REFITTED_NUMBERS = 2**20
# change of R^2, or of the share of errors avoided, that changes a conclusion; doubling it reports fewer outliers
CHANGED_SKILL = 0.1
# ratio of the errors with and without outliers: leaving out the largest errors always lowers the mean
LEAST_RATIO = 1.5


class FarValues(NamedTuple):
    """Values of one column far outside the bulk of it: the rows that hold them."""

    name: str
    column: int
    rows: Indices


def far_values(table: Table) -> list[FarValues]:
    """Return the rows more than FAR_RANGES interquartile ranges beyond the quartiles of a column of numbers."""
    out = []
    for name, members in table.groups().items():
        numbers = [j for j in members if table.names[j] == name]  # without the column that marks its gaps
        if len(numbers) != 1:
            continue
        j = numbers[0]
        x = table.column(j)
        if len(np.unique(x[:1000])) <= 2:
            continue
        present = x[:: 1 + len(x) // MOST_QUANTILE_ROWS]
        if table.gaps:  # values that were filled with the mean have no spread
            present = present[np.abs(present - x.mean()) > SAME_MEAN * (x.std() + abs(x.mean()))]
        low, high = np.quantile(present if len(present) else x, [0.25, 0.75])
        reach = FAR_RANGES * (high - low)
        if reach > 0 and not low - reach <= table.ends[0][j] <= table.ends[1][j] <= high + reach:
            rows = np.flatnonzero((x < low - reach) | (x > high + reach))
            out.append(FarValues(name, j, rows[np.argsort(-np.abs(x[rows] - (low + high) / 2), kind="stable")]))
    return out


class Outliers(NamedTuple):
    """Rows far from the least-squares surface, and rows that decide it, worst first; `limit` of studentised residuals.

    influence : of all rows.
    exact : whether the surface passes through all rows, up to rounding; then none is far from it.
    """

    influence: Influence | CoefficientInfluence
    limit: float
    far: Indices
    decisive: Indices
    exact: bool = False


def outlying_rows(table: Table) -> Outliers | None:
    """Return the outlying and the influential rows of a regression; None where there is no telling."""
    n, d = table.X.shape
    if n - d - 2 < 1:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AdalineWarning)  # dependent columns are a finding of their own
            model = LinearRegression().fit(table.X, table.y, table.weight)
        rows = model.influence(table.X, table.y, table.weight)
    except (AdalineError, np.linalg.LinAlgError, FloatingPointError):  # leverage of wide or degenerate rows
        return None
    freedom = n - model.rank_ - 2
    limit = float(scipy.special.stdtrit(freedom, 1 - OUTLIER / (2 * n))) if freedom >= 1 else np.inf
    far, decisive = _largest(np.abs(rows.studentized), limit), _largest(rows.cooks_distance, LARGE_COOK)
    return Outliers(rows, limit, far, decisive, bool(model._fits[0].exact[0]))


def _largest(values: Array, limit: float) -> Indices:
    """Return the indices of values beyond a limit, largest first."""
    beyond = np.flatnonzero(np.nan_to_num(values) > limit)
    return beyond[np.argsort(-values[beyond])]


def repeated_rows(table: Table, task: str) -> Indices:
    """Return the rows that repeat another one in every column and in the target, beyond what chance makes likely.

    Rows of few categories repeat naturally. They also often differ in one column alone, which copies of rows of
    continuous values do not: there are repeated rows if leaving out any one column makes fewer rows coincide than
    coincide already.
    """
    target = table.y if task == REGRESSION else table.classes[1]
    salt = np.random.default_rng(0).integers(2**63, size=table.X.shape[1] + 1, dtype=np.uint64)
    own = _mixed(np.asarray(target, dtype=np.float64), salt[-1])
    whole = own + np.concatenate(table.by_blocks(lambda x: _mixed(x, salt[:-1]).sum(axis=1, dtype=np.uint64)))
    _, first = np.unique(whole, return_index=True)
    repeated = len(whole) - len(first)
    if not repeated:
        return np.zeros(0, dtype=np.intp)
    varied = len(np.unique(target)) >= LEAST_DISTINCT
    parts = [own[first]]
    for members in list(table.groups().values())[: max(MOST_HASHED_NUMBERS // len(whole), 1)]:
        part = _mixed(table.dense(members, first), salt[members]).sum(axis=1, dtype=np.uint64)
        varied |= len(np.unique(part)) >= LEAST_DISTINCT
        parts.append(part)
    near = max(len(first) - len(np.unique(whole[first] - part)) for part in parts)
    return np.setdiff1d(np.arange(len(whole)), first) if varied and near < repeated else np.zeros(0, dtype=np.intp)


def _mixed(values: Array, salt: Any) -> NDArray[np.uint64]:
    """Return a hash of each number, different for each salt (splitmix64)."""
    z = (values + 0.0).view(np.uint64) ^ salt  # -0 is 0
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


class Suspects(NamedTuple):
    """Rows to leave out on trial, and what to call them: "line 39 (area = 9999)"."""

    rows: Indices
    name: str


def suspicious(table: Table, far: Sequence[FarValues], found: Outliers | None) -> Suspects | None:
    """Return the few rows that may be wrong; None where there are none, or too many to be accidents."""
    n = len(table.y)
    reasons: dict[int, str] = {}
    for one in far:
        value = table.column(one.column)[one.rows]
        if len(one.rows) > HANDFUL and (value == value[0]).all() and len(one.rows) <= CODE_SHARE * n:
            return Suspects(one.rows, f"the {counted(len(one.rows))} where {one.name} is {value[0]:g}")
        reasons |= {int(i): f"{one.name} = {v:g}" for i, v in zip(one.rows, value, strict=True)}
    if found is not None:
        extreme = [i for i in found.far if abs(found.influence.studentized[i]) > EXTREME_RESIDUAL]
        for i in map(int, (*found.decisive, *extreme)):
            reasons.setdefault(i, f"{table.target} = {table.y[i]:g}")
    if not reasons or len(reasons) > min(max(HANDFUL, HANDFUL_SHARE * n), MOST_LEFT_OUT * n):
        return None
    if len(reasons) > MOST_NAMED:
        return Suspects(np.array(list(reasons)), f"{len(reasons)} outlying rows")
    return Suspects(np.array(list(reasons)), " and ".join(f"{table.row_name(i)} ({why})" for i, why in reasons.items()))


def merge_spellings(table: Table, task: str) -> Table | None:
    """Return the table with one column, or one label, for all spellings of a level; None where nothing is merged."""
    y, kept, into = table.y, np.ones(len(table.names), dtype=bool), np.arange(len(table.names))
    place = {name: j for j, name in enumerate(table.names)}
    for column in table.columns:
        groups = _spelling_groups(column.get("same", ()))
        if groups and column["role"] == "target" and task != REGRESSION:
            main = {other: own[0] for own in groups for other in own}
            y = np.array([main.get(label, label) for label in map(str, table.classes[0])])[table.classes[1]]
            continue
        for own in groups:
            coded = [place[name] for level in own if (name := f"{column['name']}[T.{level}]") in place]
            if len(coded) == len(own):
                into[coded] = coded[0]
                kept[coded[1:]] = False
            elif len(coded) == len(own) - 1:  # one of them is the reference level
                kept[coded] = False
    if (np.array_equal(y, table.y) and kept.all()) or not kept.any() or len(np.unique(y)) < 2:
        return None
    names, origin = (
        tuple(name for name, stays in zip(own, kept, strict=True) if stays) for own in (table.names, table.origin)
    )
    adding = scipy.sparse.csr_array((np.ones(len(into)), (np.arange(len(into)), into)))[:, np.flatnonzero(kept)]
    return replace(table, X=table.X @ adding, y=y, names=names, origin=origin, coded=None)


def _spelling_groups(same: Sequence[SameLevel]) -> list[list[str]]:
    """Return the spellings of each level, where a typing error of one spelling belongs to all of them."""
    out: list[list[str]] = []
    for one in same:
        near = [own for own in out if set(own) & set(one.spellings)]
        out = [own for own in out if own not in near]
        out.append(list(dict.fromkeys([*one.spellings[:1], *(text for own in near for text in own), *one.spellings])))
    return out


@dataclass(frozen=True, eq=False)
class Alternative:
    """What a comparison recommends on the data as they are, and on data without or with something.

    Parameters
    ----------
    given, other : the two recommendations.
    condition : of the other: "without line 39 (area = 9999)".
    rows : left out for it.
    factor : by which the errors must differ at least to change the conclusion.
    """

    given: Recommendation
    other: Recommendation
    condition: str
    rows: int = 0
    factor: float = 1.0

    @property
    def changes(self) -> bool:
        """Whether another conclusion follows: a system is useful or not, or its error is clearly different."""
        both = (self.given, self.other)
        before, after = (one.skill if one.useful else 0.0 for one in both)
        if abs(before - after) <= CHANGED_SKILL:
            return False
        low, high = sorted(0.0 if one.result is None else one.result.error for one in both)
        return self.given.useful != self.other.useful or high > self.factor * low


class Inspection(NamedTuple):
    """Values far from others, outliers, and what is concluded without or with something; None where that is absent.

    wrong, repeated : without rows that may be wrong, and without copies of rows.
    spelled : with all spellings of a level merged.
    """

    far: list[FarValues]
    outliers: Outliers | None
    wrong: Alternative | None
    repeated: Alternative | None
    spelled: Alternative | None

    def amend(self, given: Recommendation) -> Recommendation:
        """Return a recommendation whose headline has both conclusions where they differ."""
        for one in (self.wrong, self.repeated, self.spelled):
            if one is not None and one.changes:
                return given.amended(one.condition, one.other)
        return given


def inspect_rows(table: Table, task: str, given: Recommendation, systems: Sequence[ComparedSystem]) -> Inspection:
    """Look for rows and levels that may be wrong or repeated, and compare again without them.

    `systems` are those compared. Only the recommended one is compared again; where none is useful, or it would take
    long, those that are sums.
    """
    far = far_values(table)
    found = outlying_rows(table) if task == REGRESSION else None
    sums = [one for one in systems if sums_folds(one.system)]
    recommended = [one for one in systems if given.result is not None and one.made(given.result)]
    quick = [one for one in recommended if one in sums or table.X.size <= MOST_REFITTED_NUMBERS]
    again = (quick or sums) if given.useful else (sums or quick)

    def without(suspects: Suspects | None, factor: float) -> Alternative | None:
        if suspects is None or not again:
            return None
        stays = np.ones(len(table.y), dtype=bool)
        stays[suspects.rows] = False
        kept = np.flatnonzero(stays)
        assert table.fold is not None
        some = np.bincount(table.fold[kept]) > 0  # a fold may have lost all its rows
        fold = (np.cumsum(some) - 1)[table.fold[kept]]
        other = _recommended(table.in_folds(kept, take_rows(table.X, kept), fold), task, again, given.measure)
        return Alternative(given, other, f"without {suspects.name}", len(suspects.rows), factor)

    copies = repeated_rows(table, task)
    repeated = Suspects(copies, "the repeated rows" if len(copies) > 1 else "the repeated row") if len(copies) else None
    merged = merge_spellings(table, task) if again else None
    spelled = None
    if merged is not None:
        systems = [posed for one in again if (posed := one.with_terms(merged, every=True)) is not None]
        spelled = Alternative(given, _recommended(merged, task, systems, given.measure), "with spellings merged")
    return Inspection(far, found, without(suspicious(table, far, found), LEAST_RATIO), without(repeated, 1.0), spelled)


class ComparedSystem(NamedTuple):
    """A system to compare: its name, its settings, and itself, not fitted; `columns` that it takes instead of X."""

    name: str
    settings: dict[str, Any]
    system: Any
    columns: AdditiveColumns | None = None

    def with_terms(self, table: Table, every: bool = False) -> ComparedSystem | None:
        """Return an additive model with the terms that a table suggests, None where it suggests none; others as is."""
        if not getattr(self.system, "takes_additive", False):
            return self
        found = additive_columns(table, every)
        if found is None:
            return None
        system = clone(self.system).set_params(terms=found.terms(own=True))
        return ComparedSystem(self.name, {**self.settings, "terms": found.terms()}, system, found)

    def width(self, table: Table) -> int:
        """Return how many columns a fit solves for."""
        return int(table.X.shape[1]) if self.columns is None else self.columns.width

    def trial(
        self,
        table: Table,
        rows: ArrayRows,
        classes: NDArray[Any] | None,
        budget: FitBudget | None,
        stream: StreamedFolds | None = None,
    ) -> SystemTrial:
        """Return the trial of the system on the rows of a table."""
        if self.columns is not None:
            rows = rows.with_columns(self.columns.rows_of(table), self.columns.filled(rows.filled))
        return SystemTrial(self.name, self.settings, self.system, rows, classes, budget, stream, self.columns)

    def made(self, result: Result) -> bool:
        """Whether a result is that of this system."""
        return result.system == self.name and result.settings == self.settings


def _recommended(table: Table, task: str, systems: Sequence[ComparedSystem], measure: str) -> Recommendation:
    """Return what is recommended of some systems for a table that is cut into folds."""
    classes, y = (None, table.y) if task == REGRESSION else table.classes
    rows = ArrayRows(table.X, y, table.weight, task != REGRESSION, table.offset, table.filled_columns)
    assert table.fold is not None
    rows.fold = table.fold
    baseline = SystemTrial.of_constant(rows, classes).run(None, _ignored)
    results = [
        one.trial(table, rows, classes, budget_of(one.system, len(rows.y), one.width(table))).run(
            baseline.predicted, _ignored
        )
        for one in systems
    ]
    return recommend(results, baseline, measure)


def _ignored(text: str) -> None:
    pass
