"""Marginal means: what a model predicts for the levels of a column, other columns alike for all of them.

Over a grid, with numbers at their means and all levels of other categories equally likely, as in R's emmeans, or over
the rows as they are, each with the level in turn (standardisation). The cells are made in `means_grid.py`, contrasts
in `mean_contrasts.py`.

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
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, RowsLike, WeightsLike
from adaline.errors import InvalidParameter
from adaline.fitted import AnyModel, has_classes, is_ordinal
from adaline.inference.classical import judged
from adaline.inference.covariance import lengths
from adaline.inference.effects import MeanModel, mean_model_of
from adaline.inference.mean_contrasts import Averages, contrast_rows
from adaline.inference.means_grid import (
    Averaging,
    ContrastKind,
    GridCells,
    InputSpace,
    LevelWeights,
    MeansAsked,
    MeanScale,
    cell_name,
    name_list,
)
from adaline.inference.simultaneous import Adjustment
from adaline.inference.summary import LOWER, UPPER, FrameBackend, IntervalTable
from adaline.inference.terms import dependence_of, terms_of

SAME_VALUE = 1e-9  # relative distance from the value of a constant column up to which a cell has that value
TITLES = {"tukey": "Tukey's method", "mvt": "the multivariate t distribution", "holm": "Holm's method"}
ADJUSTMENTS = {"bonferroni": "Bonferroni's method", "none": "no adjustment"} | TITLES
STATISTIC = {True: "t", False: "z"}


@dataclass(frozen=True, repr=False)
class MeansTable(IntervalTable):
    """Means or contrasts with intervals; `student`: whether their statistic is t; `within`: columns that head it."""

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
    within: tuple[str, ...] = ()

    def _headings(self) -> dict[str, str]:
        found = super()._headings()
        found |= {"within": ", ".join(self.within)} if "within" in found else {}
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
    known = mean_model_of(model, "means")
    asked = MeansAsked(by, within, at, scale, over, weights, contrasts, adjust, level, offset)
    return means_with(known, model, data, sample_weight, asked)


def means_with(
    known: MeanModel, model: AnyModel, data: RowsLike, sample_weight: WeightsLike, asked: MeansAsked
) -> Means:
    """Return the marginal means of a model whose mean and errors are `known`."""
    asked.check()
    targets = 1 if has_classes(model) else len(known.theta)
    if targets > 1:
        raise InvalidParameter("means: the model has several targets; fit one model for each")
    cells = InputSpace(model, data, sample_weight).cells(asked)
    ordered = is_ordinal(model)
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
        compared += [row | own for row in contrast_rows(known, cells, averages, asked, curved)]
    student, by = math.isfinite(known.freedom), name_list(asked.by)
    title = f"{type(model).__name__}: marginal means" + (f" of {' and '.join(by)}" if by else "")
    below = [f"p and intervals by {ADJUSTMENTS[asked.adjustment]}"]
    if curved and compared and "estimate" in compared[0]:
        below.append("differences are those of the outputs")
    within = tuple(name_list(asked.within))
    return Means(
        MeansTable(title, rows, asked.level, student, within, notes=(*notes, *known.notes)),
        MeansTable("contrasts", compared, asked.level, student, within, notes=tuple(below)),
        asked.adjustment,
        asked.scale,
        tuple(by),
    )


def _involved(model: AnyModel, asked: MeansAsked) -> list[str]:
    """Return the note about products of the columns of the table with others."""
    own = {*name_list(asked.by), *name_list(asked.within)}
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
    by, within = name_list(asked.by), name_list(asked.within)
    rows = []
    for k, cell in enumerate(cells.values):
        row: dict[str, Any] = {"level": cell_name(cell, by)} if by else {"level": "all"}
        row |= {"within": cell_name(cell, within)} if within else {}
        row |= {name: one for name, one in cell.items() if name not in row}
        numbers = zip(("mean", "std_error", "lower", "upper"), (value, error, lower, upper), strict=True)
        rows.append(row | {name: float(each[k]) for name, each in numbers})
    return rows


def _response(known: MeanModel, outputs: Array) -> Array:
    """Return the means of outputs (m,); beyond the border of the link those at the border."""
    z = np.clip(outputs, *known.border)[:, None]
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(known.mean(z, z)[0][:, 0])
