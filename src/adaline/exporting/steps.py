"""Steps of a scikit-learn Pipeline as nodes of the raw columns: scalers, imputers, encoders, columns given to each.

The columns that an encoder makes of a category are a table with a row for each level, read off the encoder's own
`transform`. The weights of all these columns make one number for each level, so that thousands of levels are one
lookup.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectFromModel, SelectKBest, SelectPercentile, VarianceThreshold
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.utils import get_tags

from adaline.arrays import Array
from adaline.basis.base import Basis
from adaline.coding.columns import Column
from adaline.errors import InvalidData, InvalidType
from adaline.exporting.columns import (
    DesignTree,
    basis_rows,
    level_of,
    polynomial_pieces,
    sum_of_products,
    within_period,
)
from adaline.exporting.tree import (
    MISSING,
    NAMES,
    Breaks,
    Input,
    Label,
    Node,
    Operand,
    apply,
    as_float,
    call,
    choose,
    combination,
    constant,
    finite,
    if_missing,
    interval,
    largest,
    level,
    total,
    where,
    whole_power,
)
from adaline.storage.pipelines import real_steps
from adaline.systems import FisherDiscriminant


@dataclass(frozen=True)
class RawColumn:
    """A raw column of which no step has said whether it holds numbers or categories.

    What is missing, or is `gap`, is read as `filled`.
    """

    name: str
    filled: Label | None = None
    gap: Label | None = None

    def read(self) -> Node:
        """Return the column as numbers, filled."""
        read = Node("input", value=Input(self.name, "number"))
        return read if self.filled is None else _filled(float(self.filled), self.gap, read)

    def number(self) -> Node:
        """Return the column as numbers, of which those that are not finite are missing."""
        return finite(self.read())


@dataclass(frozen=True)
class CodedColumn:
    """A number for each level of a category, then one for unknown levels and one for gaps; NaN where it is missing."""

    index: Node
    values: Array

    def number(self) -> Node:
        """Return the column as numbers."""
        known = np.where(np.isinf(self.values), np.nan, self.values)
        return choose(self.index, known[:-2], *known[-2:])


Given = Node | RawColumn | CodedColumn
"""A column of numbers, a raw one, or one of those that an encoder makes of a category."""
FittedStep = Any
"""A fitted step."""
REFUSED = math.inf
"""The code of a level that an encoder refuses; unlike NaN, no later step treats it as a missing value."""
NO_TEXTS: Mapping[int, str] = {}
NEAREST = {
    "PowerTransformer": "FunctionTransformer of np.log1p",
    "KNNImputer": "SimpleImputer",
    "IterativeImputer": "SimpleImputer",
    "FeatureHasher": "OneHotEncoder",
    "KernelCenterer": "StandardScaler",
    "Nystroem": "adaline.basis.Radial",
    "RBFSampler": "adaline.basis.Fourier",
}
"""The steps that have a form and come nearest to some that have none."""


class PipedDesign(DesignTree):
    """What steps make of raw columns."""

    def __init__(self, steps: Sequence[FittedStep], names: Sequence[str]) -> None:
        columns: list[Given] = [RawColumn(name) for name in names]
        for step in steps:
            columns = _through(step, columns)
        self.columns, self.width = columns, len(columns)

    @cached_property
    def nodes(self) -> list[Node]:
        """The columns, each as a node."""
        return _numbers(self.columns)

    def linear(self, weights: Array) -> Node:
        """Return sum_j weights_j x_j; the columns of one category are one lookup."""
        looked_up: dict[Node, Array] = {}
        parts: list[Node] = []
        for one, weight in zip(self.columns, weights.tolist(), strict=True):
            if isinstance(one, CodedColumn):
                with np.errstate(invalid="ignore"):  # refused levels, inf - inf
                    looked_up[one.index] = looked_up.get(one.index, 0.0) + weight * one.values
            elif weight:
                parts.append(weight * _number(one))
        return total([*parts, *(CodedColumn(index, values).number() for index, values in looked_up.items())])


def uses_all(step: FittedStep) -> bool:
    """Whether a first step uses all columns that it is given."""
    if not isinstance(step, ColumnTransformer):
        return True
    parts = [step._transformer_to_input_indices[name] for name, one, _ in step.transformers_ if one != "drop"]
    return {j for part in parts for j in part} == set(range(step.n_features_in_))


def _number(one: Given) -> Node:
    return one if isinstance(one, Node) else one.number()


def _numbers(columns: Sequence[Given]) -> list[Node]:
    return list(map(_number, columns))


def _through(step: FittedStep, columns: list[Given]) -> list[Given]:
    """Return what a step makes of columns; refuse, by name, one that has no form."""
    if type(step) is Pipeline:
        for one in real_steps(step):
            columns = _through(one, columns)
        return columns
    if isinstance(step, Basis):
        return [*basis_rows(step, list(map(finite, _numbers(columns)))).nodes]
    if type(step) in OF_COLUMNS:
        return OF_COLUMNS[type(step)](step, columns)
    if type(step) in OF_NUMBERS:
        return [*OF_NUMBERS[type(step)](step, _numbers(columns))]
    name = type(step).__name__
    instead = f"use {NEAREST[name]}, or " if name in NEAREST else ""
    raise InvalidType(
        f"the step {name} has no form outside Python: {instead}make its columns before, and export the pipeline of the "
        "steps after it"
    )


def _parts(step: FittedStep, columns: list[Given]) -> list[Given]:
    """Return the columns of a ColumnTransformer."""
    out: list[Given] = []
    for name, one, _ in step.transformers_:
        given = [columns[j] for j in step._transformer_to_input_indices[name]]
        if (isinstance(one, str) and one == "drop") or not given:
            continue
        made = given if isinstance(one, str) else _through(one, given)
        weight = (step.transformer_weights or {}).get(name)
        out += made if weight is None else _changed(made, [partial(_times, float(weight))] * len(made))
    return out


def _times(weight: float, x: Operand) -> Operand:
    return weight * x


def _standard(shift: float, scale: float, x: Operand) -> Operand:
    return (x - shift) / scale


def _changed(columns: Sequence[Given], functions: Sequence[Callable[[Any], Any]]) -> list[Given]:
    """Return a function of each column: of coded ones the values."""
    return [
        replace(one, values=change(one.values)) if isinstance(one, CodedColumn) else change(_number(one))
        for one, change in zip(columns, functions, strict=True)
    ]


def _imputed(step: FittedStep, columns: list[Given]) -> list[Given]:
    """Return the columns of a SimpleImputer, and its indicators."""
    gap = None if _is_gap(step.missing_values) else step.missing_values
    out: list[Given] = []
    for one, value in zip(columns, step.statistics_.tolist(), strict=True):
        if not _is_gap(value):
            if isinstance(one, RawColumn) and one.filled is None:
                out.append(replace(one, filled=value, gap=gap))
            else:
                out += _changed([one], [partial(_filled, float(value), gap)])
        elif step.keep_empty_features:
            out.append(constant(0.0))
    if step.indicator_ is None:
        return out
    texts = {j: one for j, one in enumerate(step.statistics_.tolist()) if isinstance(one, str)}
    return [*out, *_indicators(step.indicator_, columns, texts)]


def _filled(value: float, gap: Label | None, x: Operand) -> Operand:
    if isinstance(x, Node):
        return where(_is_absent(x, gap), value, x)
    return np.where(np.isnan(x) if gap is None else x == gap, value, x)


def _is_absent(x: Node, gap: Label | None) -> Node:
    """Return the condition that a number is what an imputer fills."""
    return if_missing(x) if gap is None else apply("equal", x, float(gap))


def _indicators(step: FittedStep, columns: list[Given], texts: Mapping[int, str] = NO_TEXTS) -> list[Given]:
    """Return the columns of a MissingIndicator; `texts` has a text of each column of texts."""
    gap = None if _is_gap(step.missing_values) else step.missing_values
    out: list[Given] = []
    for j in step.features_.tolist():
        one = columns[j]
        if isinstance(one, RawColumn) and j in texts:
            index = level(Node("input", value=Input(one.name, "verbatim")), [texts[j] if gap is None else gap])
            out.append(choose(index, [float(gap is not None)], 0.0, float(gap is None)))
        else:
            read = Node("input", value=Input(one.name, "number")) if isinstance(one, RawColumn) else _number(one)
            out.append(as_float(_is_absent(read, gap)))
    return out


def _encoded(step: FittedStep, columns: list[Given]) -> list[Given]:
    """Return the columns of an encoder: of each given column some, chosen by its category."""
    out: list[Given] = []
    left: list[Given] = []
    for j, one in enumerate(columns):
        levels = step.categories_[j].tolist()
        present = [level for level in levels if not _is_gap(level)]
        if not present:
            raise InvalidType(f"column {getattr(one, 'name', j)!r} is encoded and has no category: leave it out")
        made = _rows_of(step, j, levels)
        kept = out if made.shape[1] else left
        made = made if made.shape[1] else np.zeros((len(levels), 1))
        rows = {level: row for level, row in zip(levels, made, strict=True) if not _is_gap(level)}
        gaps = [row for level, row in zip(levels, made, strict=True) if _is_gap(level)]
        takes_all = getattr(step, "handle_unknown", "ignore") != "error"
        unknown = np.full(made.shape[1], 0.0 if takes_all else REFUSED)
        if takes_all and kept is out:
            unknown = _rows_of(step, j, [_unseen(present)])[0]
        absent = gaps[-1] if gaps else unknown
        if isinstance(one, CodedColumn):
            rows[REFUSED] = np.full(made.shape[1], REFUSED)
            known = [absent if value != value else rows.get(value, unknown) for value in one.values.tolist()]
            kept += [CodedColumn(one.index, values) for values in np.array(known).T]
            continue
        if isinstance(one, RawColumn) and one.filled is not None:
            filled = rows.get(one.filled, unknown)
            if one.gap is not None:
                rows[one.gap] = filled
            elif gaps:
                raise InvalidData(
                    f"None is a category of column {one.name!r}, in which NaN is filled in, which has no form outside "
                    "Python: make them NaN, or another text, before the pipeline is fitted"
                )
            else:
                absent = filled
        table = np.vstack([*rows.values(), unknown, absent])
        index = _level_of(one.name, list(rows)) if isinstance(one, RawColumn) else level(one, [*map(float, rows)])
        kept += [CodedColumn(index, values) for values in table.T]
    return _refusing(out, _numbers(left))


def _level_of(name: str, levels: list[Label]) -> Node:
    """Return the index of a category among its levels; texts are compared with the blanks around them."""
    if all(isinstance(one, str) for one in levels):
        return level(Node("input", value=Input(name, "verbatim")), levels)
    return level_of(Column(name, "category", tuple(levels)))


def _is_gap(level: Any) -> bool:
    return level is None or level != level


def _unseen(levels: list[Any]) -> Any:
    """Return a category that is none of those."""
    return "".join(levels) + "_" if isinstance(levels[0], str) else max(levels) + 1


def _rows_of(step: FittedStep, j: int, values: list[Any]) -> Array:
    """Return what an encoder makes of values of column j: rows of numbers, NaN for none."""
    rows = np.empty((len(values), len(step.categories_)), dtype=object)
    rows[:] = [next((one for one in own.tolist() if not _is_gap(one)), None) for own in step.categories_]
    rows[:, j] = values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names, and of unknown categories
        made = step.transform(rows)
    made = np.asarray(made.toarray() if hasattr(made, "toarray") else made, dtype=np.float64)
    outs = getattr(step, "_n_features_outs", None) or [made.shape[1] // rows.shape[1]] * rows.shape[1]
    return made[:, sum(outs[:j]) : sum(outs[: j + 1])]


def _scaled(shift: Any, scale: Any, columns: list[Given]) -> list[Given]:
    """Return (x - shift) / scale; None for no shift or no scale."""
    shifts = [0.0] * len(columns) if shift is None else shift.tolist()
    scales = [1.0] * len(columns) if scale is None else scale.tolist()
    return _changed(columns, [partial(_standard, m, s) for m, s in zip(shifts, scales, strict=True)])


def _within_one(step: FittedStep, columns: list[Given]) -> list[Given]:
    made = _scaled(None, step.scale_, columns)
    return [*_clipped(_numbers(made), -1.0, 1.0)] if getattr(step, "clip", False) else made


def _clipped(columns: list[Node], low: float, high: float) -> list[Node]:
    return [apply("min", apply("max", x, low), high) for x in columns]


def _into_range(step: FittedStep, columns: list[Node]) -> list[Node]:
    low, high = step.feature_range
    made = [x * float(s) + float(m) for x, s, m in zip(columns, step.scale_, step.min_, strict=True)]
    return _clipped(made, float(low), float(high)) if step.clip else made


def _normed(step: FittedStep, columns: list[Node]) -> list[Node]:
    sizes = [call("abs", x) for x in columns]
    norm = {
        "l1": lambda: total(sizes),
        "l2": lambda: call("sqrt", total(x * x for x in columns)),
        "max": lambda: largest(sizes),
    }[step.norm]()
    norm = where(apply("equal", norm, 0.0), 1.0, norm)
    return [x / norm for x in columns]


def _function(step: FittedStep, columns: list[Given]) -> list[Given]:
    """Return what numpy's function makes of columns, infinite ones too; those that are given where there is none."""
    if step.func is None:
        return columns
    if step.func not in NAMES or step.kw_args:
        raise InvalidType(
            "a FunctionTransformer of Python code of your own has no form outside Python: make its columns before, or "
            "use a function of numpy such as np.log1p"
        )
    return [apply(NAMES[step.func], one.read() if isinstance(one, RawColumn) else _number(one)) for one in columns]


def _above(step: FittedStep, columns: list[Node]) -> list[Node]:
    return [where(if_missing(x), MISSING, as_float(x > float(step.threshold))) for x in columns]


def _powers(step: FittedStep, columns: list[Node]) -> list[Node]:
    out = []
    for powers in step.powers_.tolist():
        product = constant(1.0)
        for x, p in zip(columns, powers, strict=True):
            product = product * whole_power(x, p) if p else product
        out.append(product)
    return out


def _components(step: FittedStep, columns: list[Node]) -> list[Node]:
    mean = getattr(step, "mean_", None)
    centred = columns if mean is None else [x - m for x, m in zip(columns, mean.tolist(), strict=True)]
    roots = np.sqrt(step.explained_variance_) if getattr(step, "whiten", False) else np.ones(len(step.components_))
    return [combination(row / root, centred) for row, root in zip(step.components_, roots, strict=True)]


def _projected(step: FittedStep, columns: list[Node]) -> list[Node]:
    shifts = -step.directions_ @ step._mean
    return [combination(w, columns, float(c)) for w, c in zip(step.directions_, shifts, strict=True)]


def _binned(step: FittedStep, columns: list[Node]) -> list[Node]:
    out = []
    for x, edges in zip(columns, step.bin_edges_, strict=True):
        index, bins = interval(x, Breaks(tuple(edges[1:-1].tolist()), closed_left=True, inside=False)), len(edges) - 1
        table = np.arange(bins)[:, None] if step.encode == "ordinal" else np.eye(bins)
        out += [choose(index, column.tolist()) if bins > 1 else constant(column[0]) for column in table.T]
    return out


def _splined(step: FittedStep, columns: list[Given]) -> list[Given]:
    """Return the columns of a SplineTransformer, polynomials between knots."""
    out: list[Given] = []
    zeros, beyond = getattr(step, "handle_missing", "error") == "zeros", step.extrapolation
    if beyond == "linear" and step.degree <= 1 and len(columns) > 1:  # scikit-learn changes the degree on its way
        raise InvalidType(
            "SplineTransformer has no form outside Python with extrapolation='linear' and a degree below 2, where "
            "scikit-learn confuses the columns: use extrapolation='continue'"
        )
    for one, spline in zip(columns, step.bsplines_, strict=True):
        x = one.read() if zeros and isinstance(one, RawColumn) else _number(one)
        knots = np.unique(spline.t[spline.k : len(spline.t) - spline.k])
        ends = low, high = float(knots[0]), float(knots[-1])
        if beyond == "periodic":
            at = within_period(x, *ends)
        elif beyond == "error":
            at = where(x > high, MISSING, where(x < low, MISSING, x))
        else:
            at = x if beyond == "continue" else _clipped([x], *ends)[0]
        tables = np.stack([spline(knots[:-1], nu=p) / math.factorial(p) for p in range(spline.k + 1)])
        pieces = polynomial_pieces(at, knots[1:-1], knots[:-1], tables)
        slopes = spline(np.array(ends), nu=1) if beyond == "linear" else np.zeros((2, tables.shape[2]))
        for unit, below, above in zip(np.eye(tables.shape[2]), *slopes.tolist(), strict=True):
            found = sum_of_products([pieces], unit)
            if below or above:
                found = found + where(x < low, below * (x - low), where(x > high, above * (x - high), 0.0))
            out.append(where(if_missing(x), 0.0, found) if zeros else found)
        out = out if step.include_bias else out[:-1]
    return out


def _ranked(step: FittedStep, columns: list[Node]) -> list[Node]:
    """Return the shares of a QuantileTransformer: straight between quantiles, the middle of a jump at one."""
    if step.output_distribution != "uniform":
        raise InvalidType(
            "QuantileTransformer has no form outside Python with output_distribution='normal': use 'uniform'"
        )
    out = []
    for x, quantiles in zip(columns, step.quantiles_.T, strict=True):
        places = {value: step.references_[quantiles == value] for value in np.unique(quantiles).tolist()}
        at, first = np.array([*places]), np.array([own[0] for own in places.values()])
        last = np.array([own[-1] for own in places.values()])
        slopes = (first[1:] - last[:-1]) / np.diff(at)
        index = interval(x, Breaks(tuple(at.tolist()), closed_left=True, inside=False))
        start, slope = choose(index, [0.0, *at[:-1], 0.0]), choose(index, [0.0, *slopes, 0.0])
        found = (x - start) * slope + choose(index, [0.0, *last[:-1], 1.0])
        jumps = {value: float(own[0] + own[-1]) / 2 for value, own in places.items() if len(own) > 1}
        jumps |= {float(at[-1]): 1.0} | {float(at[0]): 0.0}
        out.append(choose(level(x, [*jumps]), [*jumps.values()], found))
    return out


def _chosen(step: FittedStep, columns: list[Given]) -> list[Given]:
    """Return the columns that a step selects."""
    chosen, refused = step.get_support(), not get_tags(step).input_tags.allow_nan
    left = [one for one, kept in zip(columns, chosen, strict=True) if refused and not kept]
    return _refusing([one for one, kept in zip(columns, chosen, strict=True) if kept], _numbers(left))


def _refusing(columns: list[Given], left: Sequence[Node]) -> list[Given]:
    """Return columns, missing also where what is left out is: a step refuses such rows."""
    return [_number(columns[0]) + total(0.0 * one for one in left), *columns[1:]] if columns and left else columns


OF_COLUMNS: dict[type[Any], Callable[[FittedStep, list[Given]], list[Given]]] = {
    ColumnTransformer: _parts,
    SimpleImputer: _imputed,
    SplineTransformer: _splined,
    FunctionTransformer: _function,
    MissingIndicator: _indicators,
    OneHotEncoder: _encoded,
    OrdinalEncoder: _encoded,
    TargetEncoder: _encoded,
    StandardScaler: lambda step, columns: _scaled(step.mean_ if step.with_mean else None, step.scale_, columns),
    RobustScaler: lambda step, columns: _scaled(step.center_, step.scale_, columns),
    MaxAbsScaler: _within_one,
    **dict.fromkeys((VarianceThreshold, SelectKBest, SelectPercentile, SelectFromModel), _chosen),
}
OF_NUMBERS: dict[type[Any], Callable[[FittedStep, list[Node]], list[Node]]] = {
    MinMaxScaler: _into_range,
    Normalizer: _normed,
    Binarizer: _above,
    PolynomialFeatures: _powers,
    KBinsDiscretizer: _binned,
    QuantileTransformer: _ranked,
    FisherDiscriminant: _projected,
    PCA: _components,
    TruncatedSVD: _components,
}
