"""Steps of a pipeline as operators of ONNX: scalers, imputers, encoders, polynomials, and columns given to each.

Numbers go through a graph as matrices (n, k), text as single columns (n, 1). A category is looked up by its index: text
by LabelEncoder of ai.onnx.ml, numbers by comparison; the row of a table at that index is what the encoder makes of it.
Where an unknown category is an error, the table has no row for it, and a runtime ends in an error of its own.

A text that is missing is the empty text: ONNX has no other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from adaline.arrays import Array
from adaline.basis import Polynomial, Spline
from adaline.errors import InvalidData, InvalidType
from adaline.fitted import AnyModel
from adaline.storage.onnx_graph import Graph
from adaline.storage.pipelines import first_step, real_steps
from adaline.storage.steps import example, imputed, is_missing
from adaline.systems import FisherDiscriminant

OUTPUTS = ("prediction", "label", "score", "probability", "projection", "transformed")
INT64 = 7  # of TensorProto
NORMS = {"l1": "ReduceL1", "l2": "ReduceL2"}


@dataclass(frozen=True)
class Matrix:
    """Pieces of numbers, (n, width)."""

    value: str
    width: int


@dataclass(frozen=True)
class Text:
    """A column of text, (n, 1), in which some texts stand for others."""

    value: str
    replaced: dict[str, str] = field(default_factory=dict)
    width: int = 1


Pieces = list[Matrix | Text]


def pipeline_inputs(graph: Graph, pipeline: Pipeline) -> Pieces:
    """Declare what a pipeline takes: `X` (n, D), or where there is text or a column unused, a column an input."""
    row, used = example(pipeline)[0], _used(first_step(pipeline))
    if used == list(range(len(row))) and not any(isinstance(value, str) for value in row):
        return [Matrix(graph.take("X", len(row)), len(row))]
    names = getattr(first_step(pipeline), "feature_names_in_", [f"x{j}" for j in range(len(row))])
    out: Pieces = []
    for j, value in enumerate(row):
        name = str(names[j]) or f"x{j}"
        while name in OUTPUTS or (name != names[j] and name in names):
            name += "_"
        if j not in used:
            out.append(Matrix("", 1))
        elif isinstance(value, str):
            out.append(Text(graph.take(name, 1, object)))
        else:
            out.append(Matrix(graph.take(name, 1), 1))
    return out


def _used(step: AnyModel) -> list[int]:
    """Return the columns that a step uses."""
    if not isinstance(step, ColumnTransformer):
        return list(range(step.n_features_in_))
    return sorted({j for name, one, _ in step.transformers_ if one != "drop" for j in _inputs(step, name)})


def _inputs(step: ColumnTransformer, name: str) -> list[int]:
    return list(step._transformer_to_input_indices[name])


def transformed(graph: Graph, step: AnyModel, columns: Pieces) -> Pieces:
    """Return what a step makes of columns; refuse, by name, what ONNX cannot express."""
    if type(step) is Pipeline:
        for one in real_steps(step):
            columns = transformed(graph, one, columns)
        return columns
    if isinstance(step, FunctionTransformer):
        return columns
    for cls, make in (*BY_COLUMN.items(), *OF_NUMBERS.items()):
        if isinstance(step, cls):
            given: Any = columns if cls in BY_COLUMN else matrix(graph, columns, step)
            made = make(graph, step, given)
            return made if isinstance(made, list) else [made]
    raise InvalidType(
        f"{type(step).__name__} has no ONNX form yet: make its columns before the graph, and export the pipeline of "
        "the steps after it"
    )


def matrix(graph: Graph, columns: Pieces, step: AnyModel) -> Matrix:
    """Return columns as one matrix; refuse text, and none."""
    if not columns:
        raise InvalidData(f"{type(step).__name__} is given no columns: such a graph has no form in ONNX")
    if any(isinstance(one, Text) for one in columns):
        raise InvalidType(f"{type(step).__name__} is given a column of text: in ONNX it must be encoded before")
    if len(columns) == 1 and isinstance(columns[0], Matrix):
        return columns[0]
    value = graph.op("Concat", *(one.value for one in columns), axis=1)
    return Matrix(value, sum(one.width for one in columns))


def picked(graph: Graph, columns: Pieces, where: list[int]) -> Pieces:
    """Return the columns of these indices."""
    if len(columns) == 1 and isinstance(columns[0], Matrix):
        return [_gathered(graph, columns[0], where)]
    pieces = [(one, j) for one in columns for j in range(one.width)]
    return [one if isinstance(one, Text) else _gathered(graph, one, [j]) for one, j in (pieces[j] for j in where)]


def _gathered(graph: Graph, one: Matrix, where: list[int]) -> Matrix:
    if where == list(range(one.width)):
        return one
    return Matrix(graph.op("Gather", one.value, graph.put(np.array(where, dtype=np.int64)), axis=1), len(where))


def _parts(graph: Graph, step: ColumnTransformer, columns: Pieces) -> Pieces:
    out: Pieces = []
    for name, one, _ in step.transformers_:
        where = _inputs(step, name)
        if where and not isinstance(one, str):
            made = transformed(graph, one, picked(graph, columns, where))
            weight = (step.transformer_weights or {}).get(name)
            if weight is not None:
                whole = matrix(graph, made, step)
                made = [Matrix(graph.op("Mul", whole.value, graph.real(weight)), whole.width)]
            out += made
    return out


def _scaled(graph: Graph, x: Matrix, factor: Any, centre: Any, constant: Any = 0.0) -> Matrix:
    """Return (x - centre) factor + constant; the centre is rounded to the graph's type, and the rest made good."""
    m = graph.rounded(np.broadcast_to(np.asarray(centre, dtype=np.float64), (x.width,)))
    scale = np.broadcast_to(np.asarray(factor, dtype=np.float64), (x.width,))
    value = graph.op("Mul", graph.op("Sub", x.value, graph.real(m)), graph.real(scale))
    return Matrix(graph.op("Add", value, graph.real((m - centre) * scale + constant)), x.width)


def _standard(graph: Graph, step: StandardScaler, x: Matrix) -> Matrix:
    return _scaled(graph, x, _inverse(step.scale_), step.mean_ if step.with_mean else 0.0)


def _robust(graph: Graph, step: RobustScaler, x: Matrix) -> Matrix:
    return _scaled(graph, x, _inverse(step.scale_), 0.0 if step.center_ is None else step.center_)


def _inverse(scale: Any) -> Any:
    return 1.0 if scale is None else 1.0 / np.asarray(scale, dtype=np.float64)


def _least(graph: Graph, step: MinMaxScaler, x: Matrix) -> Matrix:
    scale, centre = np.asarray(step.scale_, dtype=np.float64), np.asarray(step.data_min_, dtype=np.float64)
    made = _scaled(graph, x, scale, centre, step.min_ + scale * centre)
    return _clipped(graph, step, made, *map(float, step.feature_range))


def _largest(graph: Graph, step: MaxAbsScaler, x: Matrix) -> Matrix:
    return _clipped(graph, step, _scaled(graph, x, _inverse(step.scale_), 0.0), -1.0, 1.0)


def _clipped(graph: Graph, step: AnyModel, x: Matrix, low: float, high: float) -> Matrix:
    if not getattr(step, "clip", False):
        return x
    return Matrix(graph.op("Clip", x.value, graph.real(low), graph.real(high)), x.width)


def _normalized(graph: Graph, step: Normalizer, x: Matrix) -> Matrix:
    if step.norm == "max":
        size = graph.op("ReduceMax", graph.op("Abs", x.value), axes=[1], keepdims=1)
    else:
        size = graph.op(NORMS[step.norm], x.value, axes=[1], keepdims=1)
    never = graph.op("Equal", size, graph.real(0.0))
    return Matrix(graph.op("Div", x.value, graph.op("Where", never, graph.real(1.0), size)), x.width)


def _binary(graph: Graph, step: Binarizer, x: Matrix) -> Matrix:
    above = graph.op("Greater", x.value, graph.real(step.threshold))
    return Matrix(graph.op("Cast", above, to=int(graph.number)), x.width)


def _powers(graph: Graph, step: PolynomialFeatures, x: Matrix) -> Matrix:
    return _products(graph, x, [np.repeat(np.arange(x.width), row).tolist() for row in step.powers_])


def _polynomial(graph: Graph, step: Polynomial, x: Matrix) -> Matrix:
    if step.orthogonal:
        raise InvalidType("Polynomial(orthogonal=True) has no ONNX form yet: use orthogonal=False")
    return _products(graph, x, [list(term) for term in step.terms_])


def _products(graph: Graph, x: Matrix, terms: list[list[int]]) -> Matrix:
    """Return a product of columns for each term: column after column, and 1 where a term has no more."""
    ones = graph.op("Pad", x.value, graph.put(np.array([0, 0, 0, 1])), graph.real(1.0))
    longest = max(max(map(len, terms)), 1)
    indices = np.array([term + [x.width] * (longest - len(term)) for term in terms], dtype=np.int64)
    value = graph.op("Gather", ones, graph.put(indices[:, 0]), axis=1)
    for one in indices.T[1:]:
        value = graph.op("Mul", value, graph.op("Gather", ones, graph.put(one), axis=1))
    return Matrix(value, len(terms))


def _spline(graph: Graph, step: Spline, x: Matrix) -> Matrix:
    """Return polynomials in pieces: those of a value's piece, about its lower knot, by Horner's rule."""
    made = []
    for j, knots in enumerate(step.knots_):
        breaks, centres, tables = step.pieces(knots)
        near = graph.rounded(centres)  # the same polynomials about centres that the graph's type can write
        for first in range(len(tables) - 1):
            for p in range(len(tables) - 2, first - 1, -1):
                tables[p] += tables[p + 1] * (near - centres)[:, None]
        column = graph.op("Gather", x.value, graph.put(np.array([j])), axis=1)
        below = graph.op("Cast", graph.op("Less", column, graph.real(breaks[None])), to=INT64)
        count = graph.op("ReduceSum", below, graph.put(np.array([1])), keepdims=0)
        piece = graph.op("Sub", graph.put(np.array(len(breaks))), count)
        away = graph.op("Sub", column, graph.op("Gather", graph.real(near[:, None]), piece, axis=0))
        value = graph.op("Gather", graph.real(tables[-1]), piece, axis=0)
        for table in tables[-2::-1]:
            own = graph.op("Gather", graph.real(table), piece, axis=0)
            value = graph.op("Add", graph.op("Mul", value, away), own)
        made.append(value)
    width = sum(step.width(knots) for knots in step.knots_)
    return Matrix(made[0] if len(made) == 1 else graph.op("Concat", *made, axis=1), width)


def _projected(graph: Graph, step: FisherDiscriminant, x: Matrix) -> Matrix:
    directions = np.asarray(step.directions_)
    value = graph.affine(x.value, directions, -directions @ step._mean, np.asarray(step._mean))
    return Matrix(value, len(directions))


def _imputed(graph: Graph, step: SimpleImputer, columns: Pieces) -> Pieces:
    """Return columns with what is missing filled in, and those that say what was."""
    kept, fills = set(imputed(step)), step.statistics_.tolist()
    wanted = [] if step.indicator_ is None else step.indicator_.features_.tolist()
    out: Pieces = []
    gaps: Pieces = []
    first = 0
    for one in columns:
        own = [j for j in range(one.width) if first + j in kept]
        seen = [j for j in range(one.width) if first + j in wanted]
        if isinstance(one, Text):
            key = "" if is_missing(step.missing_values) else str(step.missing_values)
            if own:
                new = {name: fills[first] if text == key else text for name, text in one.replaced.items()}
                out.append(Text(one.value, {key: fills[first], **new}))
            if seen:
                gaps.append(_looked_up(graph, one, [key], np.array([[1.0], [0.0]])))
        else:
            if is_missing(step.missing_values):
                missing = graph.op("IsNaN", one.value)
            else:
                missing = graph.op("Equal", one.value, graph.real(step.missing_values))
            if own:
                values = graph.real(
                    [[0.0 if is_missing(fills[first + j]) else fills[first + j] for j in range(one.width)]]
                )
                filled = Matrix(graph.op("Where", missing, values, one.value), one.width)
                out.append(_gathered(graph, filled, own))
            if seen:
                mask = Matrix(graph.op("Cast", missing, to=int(graph.number)), one.width)
                gaps.append(_gathered(graph, mask, seen))
        first += one.width
    return out + gaps


def _one_hot(graph: Graph, step: OneHotEncoder, columns: Pieces) -> Pieces:
    def table(j: int, levels: list[Any]) -> Array:
        rows = np.eye(len(levels) + (step.handle_unknown != "error"), len(levels))
        dropped = None if step.drop_idx_ is None else step.drop_idx_[j]
        return rows if dropped is None else np.delete(rows, int(dropped), axis=1)

    return _encoded(graph, step, columns, table)


def _ordinal(graph: Graph, step: OrdinalEncoder, columns: Pieces) -> Pieces:
    def table(j: int, levels: list[Any]) -> Array:
        codes = np.arange(len(levels), dtype=np.float64)
        if j in step._missing_indices:
            codes[step._missing_indices[j]] = step.encoded_missing_value
        return (codes if step.handle_unknown == "error" else np.append(codes, float(step.unknown_value)))[:, None]

    return _encoded(graph, step, columns, table)


def _encoded(graph: Graph, step: AnyModel, columns: Pieces, table: Callable[[int, list[Any]], Array]) -> Pieces:
    out: Pieces = []
    for j, levels in enumerate(step.categories_):
        (one,) = picked(graph, columns, [j])
        made = _looked_up(graph, one, levels.tolist(), table(j, levels.tolist()))
        if made.width:
            out.append(made)
    return out


def _looked_up(graph: Graph, one: Matrix | Text, levels: list[Any], table: Array) -> Matrix:
    """Return the row of a table (K, width) for the category of each row; the last of K + 1 for an unknown one."""
    index = (_index_of_text if isinstance(one, Text) else _index_of_number)(graph, one, levels)
    return Matrix(graph.op("Gather", graph.real(table), graph.flat(index), axis=0), table.shape[1])


def _index_of_text(graph: Graph, one: Any, levels: list[Any]) -> str:
    found: dict[str, int] = {}
    for k, level in enumerate(levels):
        if not is_missing(level) and not isinstance(level, str):
            raise InvalidData("categories that are partly text and partly numbers have no form in ONNX")
        key = "" if is_missing(level) else level
        if key in found:
            raise InvalidData("a category that is the empty text, and one that is missing, are the same in ONNX")
        found[key] = k
    if "" in found and one.replaced.get(""):
        raise InvalidData(
            "None or the empty text is a category of a column in which NaN is filled in: in ONNX they are the same; "
            "make them NaN, or another text, before the pipeline is fitted"
        )
    others = {key: found[text] for key, text in one.replaced.items() if text in found}
    found = {key: k for key, k in found.items() if key not in one.replaced} | others
    keys = {"keys_strings": list(found), "values_int64s": list(found.values()), "default_int64": len(levels)}
    return graph.op("LabelEncoder", one.value, domain="ai.onnx.ml", **keys)


def _index_of_number(graph: Graph, one: Any, levels: list[Any]) -> str:
    """Return the index of a number among categories, K where it is none of them: K + sum_k (x == c_k) (k - K)."""
    if any(isinstance(level, str) for level in levels):
        raise InvalidData("categories that are partly text and partly numbers have no form in ONNX")
    present = np.array([0.0 if is_missing(level) else float(level) for level in levels])
    if (graph.rounded(present) != present).any():
        raise InvalidData(f"the categories {present.tolist()} are not exact in float32: use dtype='float64'")
    away = np.arange(len(levels), dtype=np.float64) - len(levels)
    there = [k for k, level in enumerate(levels) if not is_missing(level)]
    same = graph.op("Cast", graph.op("Equal", one.value, graph.real(present[None, there])), to=int(graph.number))
    index = graph.op("Add", graph.op("MatMul", same, graph.real(away[there, None])), graph.real(float(len(levels))))
    for k in sorted(set(range(len(levels))) - set(there))[-1:]:
        gap = graph.op("Cast", graph.op("IsNaN", one.value), to=int(graph.number))
        index = graph.op("Add", index, graph.op("Mul", gap, graph.real(away[k])))
    return graph.op("Cast", index, to=int(graph.onnx.TensorProto.INT64))


BY_COLUMN: dict[type[Any], Callable[..., Any]] = {
    **{ColumnTransformer: _parts, SimpleImputer: _imputed, OneHotEncoder: _one_hot, OrdinalEncoder: _ordinal},
}
OF_NUMBERS: dict[type[Any], Callable[..., Any]] = {
    **{StandardScaler: _standard, RobustScaler: _robust, MinMaxScaler: _least, MaxAbsScaler: _largest},
    **{
        Normalizer: _normalized,
        Binarizer: _binary,
        PolynomialFeatures: _powers,
        Polynomial: _polynomial,
        Spline: _spline,
    },
    FisherDiscriminant: _projected,
}
"""Steps that have a form in ONNX: those that may be given text, and those of numbers."""
