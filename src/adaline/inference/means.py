"""Marginal means: what a model predicts for the levels of a column, other columns alike for all of them.

Over a grid, with numbers at their means and all levels of other categories equally likely, as in R's emmeans, or over
the rows as they are, each with the level in turn (standardisation):

    mean of level a   g^-1(c_a theta),   c_a = mean over the cells of the design with a      over a grid
                      mean over the rows of g^-1(x_a theta)                                  over the rows

Means over a grid, their intervals and their contrasts are linear in theta before they are brought to the scale of the
answer; errors there are by the delta method. Contrasts are then differences of outputs, or their exponentials, ratios
of odds, rates or means, where the link is the logit or the logarithm.

S. R. Searle, F. M. Speed and G. A. Milliken, American Statistician 34 (1980), 216-221; R. V. Lenth, emmeans: Estimated
Marginal Means (2022).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations, product
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, RowsLike, WeightsLike
from adaline.coding.columns import MISSING_LEVEL
from adaline.coding.reading import EPOCH
from adaline.errors import InvalidData, InvalidParameter
from adaline.fitted import AnyModel, check_is_fitted
from adaline.inference.classical import judged
from adaline.inference.covariance import lengths
from adaline.inference.effects import Designs, MeanModel
from adaline.inference.hypotheses import hint
from adaline.inference.simultaneous import Adjustment, adjusted_chances, joint_reach
from adaline.inference.summary import LOWER, UPPER, FrameBackend, IntervalTable, frame_of_columns
from adaline.inference.terms import dependence_of, terms_of
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
SAME_VALUE = 1e-9  # relative distance from the value of a constant column up to which a cell has that value
OFFSET = Number()
TITLES = {"tukey": "Tukey's method", "mvt": "the multivariate t distribution", "holm": "Holm's method"}
ADJUSTMENTS = {"bonferroni": "Bonferroni's method", "none": "no adjustment"} | TITLES
STATISTIC = {True: "t", False: "z"}


@dataclass(frozen=True, repr=False)
class MeansTable(IntervalTable):
    """Means or contrasts with intervals; `student`: whether their statistic is Student's t."""

    COLUMNS: ClassVar[dict[str, str]] = {
        "contrast": "",
        "level": "",
        "within": "within",
        "target": "target",
        "mean": "mean",
        "estimate": "estimate",
        "ratio": "ratio",
        "std_error": "std error",
        "lower": LOWER,
        "upper": UPPER,
        "statistic": "",
        "p_value": "p",
    }

    student: bool

    def _headings(self) -> dict[str, str]:
        found = super()._headings()
        return found | ({"statistic": STATISTIC[self.student]} if "statistic" in found else {})


@dataclass(frozen=True, repr=False)
class Means:
    """What `means` returns; prints as text, shows as HTML in a notebook.

    Parameters
    ----------
    means : rows with `level`, as text, and the value of each column of it by name; `target` where there are classes;
        `mean`, `std_error`, `lower` and `upper`.
    contrasts : rows with `contrast`, as text; `estimate`, or `ratio` on the scale of the answer under a logit or log
        link; `std_error`, `lower`, `upper`, `statistic` and adjusted `p_value`.
    adjust, scale, by : as they were chosen.
    """

    means: MeansTable
    contrasts: MeansTable
    adjust: str
    scale: str
    by: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values."""
        return {
            "title": self.means.title,
            "level": self.means.level,
            "scale": self.scale,
            "adjust": self.adjust,
            "means": [dict(row) for row in self.means.rows],
            "contrasts": [dict(row) for row in self.contrasts.rows],
        }

    def to_frame(self, backend: FrameBackend | None = None) -> Any:
        """Return a frame with one row a mean: of pandas where it is installed, else of polars or Arrow.

        `contrasts.to_frame()` is that of the contrasts.
        """
        return self.means.to_frame(backend)

    def _tables(self) -> list[MeansTable]:
        return [self.means, *([self.contrasts] if self.contrasts.rows else [])]

    def __str__(self) -> str:
        return "\n\n".join(map(str, self._tables()))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self._tables())


def means(
    model: AnyModel,
    data: RowsLike = None,
    by: str | Sequence[str] | None = None,
    *,
    within: str | Sequence[str] | None = None,
    at: Mapping[str, Any] | None = None,
    scale: MeanScale = "response",
    over: Averaging = "grid",
    weights: LevelWeights = "equal",
    contrasts: ContrastKind | Mapping[str, Sequence[float]] | None = "pairwise",
    adjust: Adjustment | None = None,
    level: float = 0.95,
    sample_weight: WeightsLike = None,
    offset: float = 0.0,
) -> Means:
    """Return the marginal means of the levels of a column, as emmeans of R, and their contrasts, adjusted together.

    Parameters
    ----------
    model : fitted LinearRegression, Ridge, RobustRegression, LogisticRegression, GeneralizedLinear or
        OrdinalRegression. `with_errors(...).means(...)` takes other standard errors.
    data : frame, array (n, D) or table
        Rows with the columns that the model was fitted to, for the means of numbers and the frequencies of levels. None
        where all columns are categories, or are in `at`.
    by : name, or several
        Categories whose levels, or combinations of them, have a mean each; or numbers of few different values, or whose
        values `at` names. None for one mean of all.
    within : name, or several
        Further categories: each combination of their levels has means and contrasts of its own.
    at : dict of names and values
        Values of columns, one or a list, instead of their means or all of their levels.
    scale : "response" or "link"
        The scale of the answer (rates, probabilities), or that of the link. Of ordered classes "response" are the
        probabilities of the classes, "link" w'x less the mean of the thresholds.
    over : "grid" or "rows"
        Averages over a grid, of all levels of the other categories at the means of numbers, on the scale of the link;
        or over the rows of `data`, each with the level in turn, on the scale asked for.
    weights : "equal" or "proportional"
        Of the levels averaged over in a grid: the same for all, or their frequencies in `data`.
    contrasts : "pairwise", "reference", a dict of names and coefficients of the means, or None
        All pairs, each level against the first, linear combinations, or none.
    adjust : "tukey", "mvt", "holm", "bonferroni", "none" or None
        How p and intervals of contrasts hold for all of them together; "mvt" is exact for any contrasts, "tukey" for
        pairs of means with the same variance. Intervals of "holm" are Bonferroni's. None: "tukey" for pairs, "mvt"
        against the reference, otherwise "holm".
    level : float
        Coverage of the intervals.
    sample_weight : (n,) or None
        Weights of the rows; None for the model's column of weights, where `data` has it.
    offset : float
        Of all means, where the model was fitted with one: zero is an exposure of one.

    Returns
    -------
    Means : `to_dict()["means"]` are rows with `level`, `mean`, `std_error`, `lower`, `upper`; `["contrasts"]` rows with
        `contrast`, `estimate` or `ratio`, `std_error`, `lower`, `upper`, `statistic`, `p_value`.

    Examples
    --------
    >>> import pandas as pd
    >>> from adaline import LinearRegression, datasets, means
    >>> birds = pd.read_csv(datasets.path("penguins")).dropna()
    >>> X = birds[["species", "sex", "flipper_length_mm"]]
    >>> print(means(LinearRegression().fit(X, birds.body_mass_g), X, by="species"))
    LinearRegression: marginal means of species
    <BLANKLINE>
                  mean  std error     2.5%    97.5%
    -----------------------------------------------
    Adelie     3923.72    39.4235  3846.16  4001.27
    Chinstrap  3836.09     38.716  3759.92  3912.25
    Gentoo     4759.98    53.4311  4654.87  4865.09
    <BLANKLINE>
    averaged over sex (2 levels, equally weighted); at flipper_length_mm = 200.967
    <BLANKLINE>
    contrasts
    <BLANKLINE>
                        estimate  std error      2.5%     97.5%       t        p
    ----------------------------------------------------------------------------
    Adelie - Chinstrap   87.6345    46.3473  -21.4856   196.755   1.891   0.1429
    Adelie - Gentoo      -836.26    85.1854  -1036.82  -635.699  -9.817  <0.0001
    Chinstrap - Gentoo  -923.894    75.5108  -1101.68  -746.112  -12.24  <0.0001
    <BLANKLINE>
    p and intervals by Tukey's method

    References
    ----------
    S. R. Searle, F. M. Speed and G. A. Milliken, American Statistician 34 (1980), 216-221; R. V. Lenth, emmeans (2022);
    J. C. Hsu, Multiple Comparisons (1996).
    """
    if not hasattr(model, "_mean_model"):
        raise InvalidParameter(
            f"means needs a model whose mean and standard errors are known; got {type(model).__name__}: use "
            "LinearRegression, RobustRegression, LogisticRegression, GeneralizedLinear or OrdinalRegression"
        )
    check_is_fitted(model)
    asked = MeansAsked(by, within, at, scale, over, weights, contrasts, adjust, level, offset)
    return means_with(model._mean_model(), model, data, sample_weight, asked)


def _listed(names: str | Sequence[str] | None) -> list[str]:
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


class Averages(NamedTuple):
    """Means of cells (L,), outputs where they are linear in the coefficients, and roots (L, M) of their covariance."""

    value: Array
    root: Array


def means_with(
    known: MeanModel, model: AnyModel, data: RowsLike, sample_weight: WeightsLike, asked: MeansAsked
) -> Means:
    """Return the marginal means of a model whose mean and errors are `known`."""
    asked.check()
    targets = 1 if hasattr(model, "classes_") else len(known.theta)
    if targets > 1:
        raise InvalidParameter("means: the model has several targets; fit one model for each")
    cells = InputSpace(model, data, sample_weight).cells(asked)
    ordered = hasattr(model, "thresholds_")
    if asked.scale == "link" and not known.link and not ordered:
        raise InvalidParameter("scale='link' is for one output: of several classes use scale='response'")
    notes = [*cells.notes, *_involved(model, asked)]
    linear = bool(known.link) or (ordered and asked.scale == "link")
    if linear and (asked.over == "grid" or asked.scale == "link" or known.link == "identity"):
        found = [outputs_of(known, model, cells, asked.offset)]
    else:
        found, linear = responses_of(known, model, cells, asked.offset), False
    curved = linear and asked.scale == "response" and known.link not in ("identity", "")
    if getattr(model, "_with_offset", None) and not asked.offset:
        notes.append("the offset is zero, an exposure of one")
    if any(np.isnan(one.value).any() for one in found):
        notes.append("means without a number are not identified: the rows fitted have no such cell")
    if curved:
        notes.append(f"intervals and tests are made on the scale of the link, {known.link}")
    names = known.targets if len(found) > 1 else ("",)
    rows, compared = [], []
    for target, averages in zip(names, found, strict=True):
        own = {"target": target} if target else {}
        rows += [row | own for row in _mean_rows(known, cells, averages, asked, curved)]
        compared += [row | own for row in _contrast_rows(known, cells, averages, asked, curved)]
    student, by = math.isfinite(known.freedom), _listed(asked.by)
    title = f"{type(model).__name__}: marginal means" + (f" of {' and '.join(by)}" if by else "")
    below = [f"p and intervals by {ADJUSTMENTS[asked.adjustment]}"]
    if curved and compared and "estimate" in compared[0]:
        below.append("differences are those of the outputs")
    return Means(
        MeansTable(title, rows, asked.level, student, notes=(*notes, *known.notes)),
        MeansTable("contrasts", compared, asked.level, student, notes=tuple(below)),
        asked.adjustment,
        asked.scale,
        tuple(by),
    )


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
        self.names = list(self.coding.needed) if self.coding is not None else given_columns(model)
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
            return np.asarray(rows.raw[:, self.names.index(name)])
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
        at, own = dict(asked.at or {}), [*_listed(asked.by), *_listed(asked.within)]
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
            design = Designs(self.model, np.array([[row[name] for name in self.names] for row in grid])).design
        else:
            frame = frame_of_columns({name: [row[name] for row in grid] for name in self.names})
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


def _involved(model: AnyModel, asked: MeansAsked) -> list[str]:
    """Return the note about products of the columns of the table with others."""
    own = {*_listed(asked.by), *_listed(asked.within)}
    mixed = [term.name for term in terms_of(model) if len(term.raw) > 1 and term.raw & own and term.raw - own]
    if not mixed:
        return []
    return [f"effects of {', '.join(sorted(own))} differ with other columns ({', '.join(mixed)}): these are averages"]


def outputs_of(known: MeanModel, model: AnyModel, cells: GridCells, offset: float) -> Averages:
    """Return the average outputs of the cells, and their root; NaN of cells that the fitted rows do not identify.

    Of ordered classes the constant is that of the thresholds on average.
    """
    averages = np.array([cells.shares @ design for design in cells.designs])
    contrasts = np.column_stack([np.ones(len(averages)), averages])
    theta, root = known.theta.mean(axis=0), known.root.mean(axis=0)
    value, along = contrasts @ theta + offset, contrasts @ root
    lost = ~_identified(model, contrasts)
    value[lost], along[lost] = np.nan, np.nan
    return Averages(value, along)


def responses_of(known: MeanModel, model: AnyModel, cells: GridCells, offset: float) -> list[Averages]:
    """Return the averages of the means of the rows in the cells, and their roots, for each of the C targets."""
    values, roots = [], []
    for design in cells.designs:
        rows = np.column_stack([np.ones(len(design)), design])
        z = rows @ known.theta.T + offset
        mean, jacobian, _ = known.mean(z, z)
        gradient = np.einsum("n,nck,nd->ckd", cells.shares, jacobian, rows)
        value, along = cells.shares @ mean, np.einsum("ckd,kdm->cm", gradient, known.root)
        lost = not _identified(model, rows[cells.shares > 0]).all()
        values.append(value * np.nan if lost else value)
        roots.append(along * np.nan if lost else along)
    return [
        Averages(value, root) for value, root in zip(np.stack(values, axis=1), np.stack(roots, axis=1), strict=True)
    ]


def _identified(model: AnyModel, contrasts: Array) -> NDArray[np.bool_]:
    """Return which combinations C theta, (q,), the fitted rows identify: constant columns have their value there."""
    dependence, factor = dependence_of(model), getattr(model._fits[0], "factor", None)
    held = np.flatnonzero(dependence.constant)
    typical = getattr(model, "_typical", None) if factor is None else factor.scaling.mean_hi
    known = np.zeros(len(held)) if typical is None else typical[held]
    off = contrasts[:, 1 + held] - contrasts[:, :1] * known
    varying = contrasts.copy()
    varying[:, 1 + held] = np.where(np.abs(off) <= SAME_VALUE * np.abs(known), 0.0, off)
    return dependence.determines(varying)


def _mean_rows(
    known: MeanModel, cells: GridCells, found: Averages, asked: MeansAsked, curved: bool
) -> list[dict[str, Any]]:
    """Return the rows of the means of one target, on the scale of the answer where they are `curved`."""
    table = judged(found.value, lengths(found.root), asked.level, known.freedom)
    value, error, lower, upper = (table[name] for name in ("estimate", "std_error", "lower", "upper"))
    if curved:
        mean, jacobian, _ = known.mean(value[:, None], value[:, None])
        ends = np.sort([_response(known, lower), _response(known, upper)], axis=0)
        value, error, (lower, upper) = mean[:, 0], np.abs(jacobian[:, 0, 0]) * error, ends
    by, within = _listed(asked.by), _listed(asked.within)
    rows = []
    for k, cell in enumerate(cells.values):
        row: dict[str, Any] = {"level": _text(cell, by)} if by else {"level": "all"}
        row |= {"within": _text(cell, within)} if within else {}
        row |= {name: one for name, one in cell.items() if name not in row}
        numbers = zip(("mean", "std_error", "lower", "upper"), (value, error, lower, upper), strict=True)
        rows.append(row | {name: float(each[k]) for name, each in numbers})
    return rows


def _response(known: MeanModel, outputs: Array) -> Array:
    """Return the means of outputs (m,); beyond the border of the link those at the border."""
    z = np.clip(outputs, *known.border)[:, None]
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(known.mean(z, z)[0][:, 0])


def _text(cell: dict[str, Any], names: Sequence[str]) -> str:
    return ", ".join(_shown(cell[name]) for name in names)


def _contrast_rows(
    known: MeanModel, cells: GridCells, found: Averages, asked: MeansAsked, curved: bool
) -> list[dict[str, Any]]:
    """Return the rows of the contrasts of one target, for each group of cells alone."""
    within, by = _listed(asked.within), _listed(asked.by)
    groups: dict[str, list[int]] = {}
    for k, cell in enumerate(cells.values):
        groups.setdefault(_text(cell, within), []).append(k)
    ratio = known.ratio if curved else ""
    rows = []
    for group, members in groups.items():
        texts = [_text(cells.values[k], by) for k in members]
        names, matrix = _contrasts(asked.contrasts, texts, " / " if ratio else " - ")
        own = {"within": group} | {name: cells.values[members[0]][name] for name in within} if within else {}
        averages = Averages(_combined(matrix, found.value[members]), _combined(matrix, found.root[members]))
        rows += [own | row for row in _adjusted(known, names, averages, asked, len(members), ratio)]
    return rows


def _combined(matrix: Array, parts: Array) -> Array:
    """Return combinations of means, or of their roots; NaN where one has a part that is NaN."""
    lost = np.isnan(parts.reshape(len(parts), -1)).any(axis=1)
    out = matrix @ np.nan_to_num(parts)
    out[matrix[:, lost].any(axis=1)] = np.nan
    return np.asarray(out)


def _contrasts(wanted: Any, texts: Sequence[str], sign: str) -> tuple[list[str], Array]:
    """Return the names and coefficients (q, L) of contrasts of means with these texts."""
    count = len(texts)
    if wanted is None or not count or (count == 1 and isinstance(wanted, str)):
        return [], np.empty((0, count))
    one = np.eye(count)
    if isinstance(wanted, str):
        pairs = list(combinations(range(count), 2)) if wanted == "pairwise" else [(k, 0) for k in range(1, count)]
        names = [f"{_bracketed(texts[i], sign)}{sign}{_bracketed(texts[j], sign)}" for i, j in pairs]
        return names, np.array([one[i] - one[j] for i, j in pairs])
    for name, given in wanted.items():
        if np.shape(given) != (count,) or not np.isfinite(np.asarray(given, dtype=np.float64)).all():
            raise InvalidParameter(
                f"contrast {name!r} must have a finite number for each of {count} means ({', '.join(texts)}), got "
                f"{given!r:.60}"
            )
    return list(map(str, wanted)), np.array(list(wanted.values()), dtype=np.float64)


def _bracketed(text: str, sign: str) -> str:
    """Return a level that stands beside a sign, in brackets where it holds that sign."""
    return f"({text})" if sign in text else text


def _adjusted(
    known: MeanModel, names: Sequence[str], found: Averages, asked: MeansAsked, count: int, ratio: str
) -> list[dict[str, Any]]:
    """Return the rows of contrasts of `count` means; those that are not identified have no chance."""
    if not names:
        return []
    error = lengths(found.root)
    there = np.isfinite(error) & (error > 0)
    table = judged(found.value, error, asked.level, known.freedom)
    chance, reach = np.full(len(names), np.nan), np.nan
    if there.any():
        own = found.root[there], known.freedom, asked.adjustment, count
        chance[there] = adjusted_chances(table["statistic"][there], *own)
        reach = joint_reach(*own, asked.level)
    estimate, lower, upper = found.value, found.value - reach * error, found.value + reach * error
    if ratio:
        with np.errstate(over="ignore"):
            estimate, lower, upper = np.exp(estimate), np.exp(lower), np.exp(upper)
        error = estimate * error
    columns = {"ratio" if ratio else "estimate": estimate, "std_error": error, "lower": lower, "upper": upper}
    columns |= {"statistic": table["statistic"], "p_value": chance}
    return [
        {"contrast": name} | {column: float(values[k]) for column, values in columns.items()}
        for k, name in enumerate(names)
    ]
