"""ONNX: a fitted system or pipeline as a graph of standard operators, printed from its trees.

A number of a tree is a column (n, 1). Sums of columns times numbers are found in the trees and made one product of
matrices, which all sums over the same columns share. They are taken about centres m, known from the training data or
found in the tree,

    w'x + w0 = w'(x - m) + (w0 + w'm),

m rounded to the graph's type and the constant formed in float64: the large numbers cancel before they are multiplied,
so that float32 keeps its 7 digits of the spread of the outputs and not of the size of the columns.

Only standard operators of opset 13 are used, and LabelEncoder of ai.onnx.ml for categories that are text. This is the
one module that imports onnx.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adaline import __version__
from adaline.arrays import Array, host
from adaline.errors import AdalineError, InvalidData, InvalidType
from adaline.exporting.graph import by_dependence, shared_parts, uses
from adaline.exporting.prediction import OpenedModel, opened, predicted
from adaline.exporting.tree import Breaks, Label, Node, is_number
from adaline.fitted import AnyModel, AnySystem, has_certificate, has_classes
from adaline.parameters import one_of
from adaline.storage.container import replacing
from adaline.storage.pipelines import first_step, is_pipeline, last_step
from adaline.sums import ClassMoments, Moments
from adaline.systems import AdaptiveFilter, WienerFilter
from adaline.systems.families.filter import SignalSystem

GraphNumbers = Literal["float64", "float32"]
OPSETS, IR_VERSION = {"": 13, "ai.onnx.ml": 2}, 8
FOREVER = np.iinfo(np.int64).max
OUTPUTS = ("prediction", "label", "score", "probability", "projection", "transformed")
LACKING = ("erfc", "log2", "log10")
OPERATORS = {
    **{"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "pow": "Pow", "neg": "Neg", "abs": "Abs"},
    **{"min": "Min", "max": "Max", "sqrt": "Sqrt", "floor": "Floor", "exp": "Exp", "log": "Log", "sin": "Sin"},
    **{"cos": "Cos", "tanh": "Tanh", "less": "Less", "less_equal": "LessOrEqual", "greater": "Greater"},
    **{"greater_equal": "GreaterOrEqual", "equal": "Equal", "is_missing": "IsNaN", "where": "Where"},
}
FEW = 4  # terms of a sum that are added one by one, unless they are columns of the rows


def export_onnx(model: AnyModel, path: str | os.PathLike[str], dtype: GraphNumbers = "float64") -> None:
    """Write a fitted system or pipeline as an ONNX file: input `X` (n, D), and outputs by what the system does.

    Regressions and filters: `prediction`, (n,) or (n, K). Classifiers: `label` (n,), text or int64 (float64 where the
    classes are such); `score`, the decision function, (n,) or (n, K); `probability` (n, K) where the system has
    posteriors; `projection` (n, r) for FisherDiscriminant. Clusters and mixtures: `prediction`, the index. A pipeline
    that ends with a transformer has one output, `transformed`. The metadata hold the names of the columns, the classes
    and the certificate.

    In float64 outputs agree with `predict` to rounding. In float32 they agree, on the same float32 rows, to about 1e-6
    of the spread of the outputs however large the means of the columns are (and to what float32 can write of the output
    itself), posteriors to about 1e-6. Where no sums are kept (wide data) the means are not known, and large ones cost
    float32 digits. Rows at a boundary between classes may fall on its other side.

    Categories, dates, gaps, formulas and bases are part of the graph. Where a model takes categories or was fitted to a
    table, or a pipeline leaves columns unused, each column is an input (n, 1) of its own, under its name (with _ at the
    end where an output has it): text as strings, in which the empty one is missing, and dates as days since 1970. Texts
    are compared as they are, without removing blanks. The offset of an array is an input `offset`. Numbers of rows that
    `predict` refuses are NaN, and their labels the empty text or the smallest integer; an unknown category that
    `predict` refuses is an error of the runtime.

    Parameters
    ----------
    model : a fitted system of adaline, or a fitted Pipeline.
    path : name of the file to write; an existing one is replaced only when the new one is complete.
    dtype : "float64" or "float32"
        Type of the input and of all numbers in the graph.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from adaline import LinearRegression, export_onnx
    >>> model = LinearRegression().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_onnx(model, pathlib.Path(folder) / "line.onnx", dtype="float32")

    References
    ----------
    Lectures S0 to S4: a linear system is a product of matrices, which every runtime has.
    """
    found = opened(model)
    one_of(GraphNumbers).check("dtype", dtype)
    graph = Graph(_onnx(), np.dtype(dtype))
    if isinstance(found.system, SignalSystem):
        rows = _written(graph, found, {"X": found.rows.nodes}, model)
        filtered(graph, found.system, rows.matrix("X"))
    elif found.system is None:
        made = found.rows.nodes
        if not made:
            raise InvalidData("the last step is given no columns: such a graph has no form in ONNX")
        written = _written(graph, found, {"transformed": made}, model)
        graph.output("transformed", written.matrix("transformed"), len(made))
    else:
        _system(graph, found, model)
    content = graph.model(model).SerializeToString()
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(content)


def _system(graph: Graph, found: OpenedModel, model: AnyModel) -> None:
    """Add what a system predicts."""
    system = found.system
    trees = predicted(found)
    groups = {name: list(nodes.values()) for name, nodes in trees.outputs.items()}
    if hasattr(system, "directions_"):
        directions = host(system.directions_)
        shifts = -directions @ system._mean
        groups["projection"] = [found.rows.output(w, c) for w, c in zip(directions, shifts, strict=True)]
    wide = np.ndim(getattr(system, "coef_", 0.0)) == 2
    best: Node | None = None
    if trees.prediction[0].name == "where" and trees.prediction[0].arguments[1].name == "label":
        known, best, _ = trees.prediction[0].arguments
        groups["prediction"] = list(best.arguments)
        groups["known"] = [known]
    written = _written(graph, found, groups, model)
    for name, nodes in groups.items():
        if name == "known":
            continue
        if name == "prediction" and best is not None:
            labels, kind = written.labels(best)
            graph.output("label" if has_classes(system) else name, labels, None, kind)
            continue
        one = len(nodes) == 1 and (name == "score" or (name == "prediction" and not wide))
        value = written.matrix(name)
        graph.output(name, graph.flat(value) if one else value, None if one else len(nodes))


def _written(graph: Graph, found: OpenedModel, groups: dict[str, list[Node]], model: AnyModel) -> GraphWriter:
    nodes = {f"{name}/{k}": one for name, own in groups.items() for k, one in enumerate(own)}
    everything = by_dependence([*nodes.values(), *(found.rows.nodes if found.piped else ())])
    inputs = dict.fromkeys(one.value for one in everything if one.name == "input")
    names = {name: j for j, name in enumerate(found.names)}
    together = found.whole and bool(names) and all(one.kind == "number" for one in inputs)
    centre = _centre(found.system, len(names)) if together and not found.piped else np.zeros(len(names))
    return GraphWriter(graph, nodes, list(inputs), names if together else {}, centre)


class Affine(NamedTuple):
    """scale * atom + shift."""

    atom: Node
    scale: float
    shift: float


class WeightedSum(NamedTuple):
    """sum_k weights_k atoms_k + shift, about centres."""

    atoms: tuple[Node, ...]
    weights: Array
    shift: float
    centres: Array


class GraphWriter:
    """Trees as operators of a graph; `columns` are those of the input X, none where each column is an input."""

    def __init__(
        self, graph: Graph, outputs: dict[str, Node], inputs: Sequence[Any], columns: dict[str, int], centre: Array
    ) -> None:
        self.graph, self.columns, self.centre = graph, columns, centre
        self.nodes = shared_parts(outputs, LACKING)
        self.value: dict[int, str] = {}
        self.made: dict[object, str] = {}
        if columns:
            graph.take("X", len(columns))
        for one in inputs:
            if one.name not in columns:
                graph.take_column(one.name, one.is_text)
        self.first = next(iter(graph.inputs), None)
        order = by_dependence(self.nodes.values())
        self.affine = _affine_parts(order)
        self.sums = self._find_sums(order)
        self.groups: dict[object, list[Node]] = {}
        for one in order:
            if id(one) in self.sums:
                self.groups.setdefault(self._key(self.sums[id(one)]), []).append(one)
        of_bounds = [part for one in order if one.name in ("min", "max") for part in one.arguments]
        self.bounds = {id(one) for one in of_bounds if is_number(one)}
        for one in by_dependence(self.nodes.values(), self._parts):
            self.value[id(one)] = self._write(one)

    def matrix(self, group: str) -> str:
        """Return the outputs of a group as columns."""
        nodes = [one for name, one in self.nodes.items() if name.startswith(f"{group}/")]
        sums = [self.sums.get(id(one)) for one in nodes]
        if sums[0] is not None and all(one is not None and self._key(one) == self._key(sums[0]) for one in sums):
            whole = self.groups[self._key(sums[0])]
            if len(whole) == len(nodes) and all(a is b for a, b in zip(whole, nodes, strict=True)):
                return self._product(self._key(sums[0]))
        return self._joined([self._full(one) for one in nodes])

    def labels(self, best: Node) -> tuple[str, Any]:
        """Return the labels of the largest scores, and their type; those of rows that are refused are no class."""
        graph = self.graph
        labels = _labels([*best.value])
        refused: Any = "" if labels.dtype == object else np.nan if labels.dtype.kind == "f" else np.iinfo(np.int64).min
        table = np.append(labels, np.array([refused], dtype=labels.dtype))
        scores = self.matrix("prediction")
        if len(labels) > 1 and len(best.arguments) == 1:
            above = graph.op("Greater", graph.flat(scores), graph.real(0.0))
            index = graph.op("Cast", above, to=graph.int64)
        else:
            index = graph.op("ArgMax", scores, axis=1, keepdims=0)
        known = graph.flat(self.value[id(self.nodes["known/0"])])
        index = graph.op("Where", known, index, graph.put(np.array(len(labels))))
        return graph.op("Gather", graph.put(table), index, axis=0), labels.dtype

    # -- sums ---------------------------------------------------------------------------------------------------------

    def _parts(self, one: Node) -> Sequence[Node]:
        return self.sums[id(one)].atoms if id(one) in self.sums else one.arguments

    def _column(self, one: Node) -> int | None:
        """Return which column of X a node is, with what is not finite missing or not."""
        inner = one.arguments[0] if one.name == "finite" else one
        return self.columns.get(inner.value.name) if inner.name == "input" else None

    def _find_sums(self, order: Sequence[Node]) -> dict[int, WeightedSum]:
        counts = uses(self.nodes, lambda one, k: 1)
        inside: set[int] = set()
        found: dict[int, WeightedSum] = {}
        for one in reversed(order):
            if id(one) in inside or not _is_linear(one) or id(one) in self.affine:
                continue
            weights: dict[int, float] = {}
            atoms: dict[int, Node] = {}
            centres: dict[int, float] = {}
            shifts, swallowed = [0.0], list[int]()
            stack = [(one, 1.0)]
            while stack:
                part, weight = stack.pop()
                if is_number(part):
                    shifts.append(weight * part.value)
                elif id(part) in self.affine:
                    atom, scale, shift = self.affine[id(part)]
                    shifts.append(weight * shift)
                    atoms[id(atom)] = atom
                    weights[id(atom)] = weights.get(id(atom), 0.0) + weight * scale
                    centres.setdefault(id(atom), -shift / scale)
                elif _is_linear(part) and (part is one or counts[id(part)] == 1):
                    swallowed.append(id(part))
                    stack += [(inner, weight * times) for inner, times in reversed(_linear_parts(part))]
                else:
                    atoms[id(part)] = part
                    weights[id(part)] = weights.get(id(part), 0.0) + weight
            columns = [self._column(atom) for atom in atoms.values()]
            if len(atoms) < FEW and (len(atoms) < 2 or None in columns):
                continue
            inside.update(swallowed)
            at = [
                centres.get(key) or (0.0 if j is None else float(self.centre[j]))
                for key, j in zip(atoms, columns, strict=True)
            ]
            about = self.graph.rounded(np.nan_to_num(np.array(at), nan=0.0, posinf=0.0, neginf=0.0))
            every = np.array([weights[key] for key in atoms])
            shift = math.fsum([*shifts, *(every * about).tolist()])
            found[id(one)] = WeightedSum(tuple(atoms.values()), every, shift, about)
        return found

    def _key(self, one: WeightedSum) -> object:
        return tuple(map(id, one.atoms)), tuple(one.centres.tolist())

    def _product(self, key: object) -> str:
        """Return all sums over the same atoms, (n, k)."""
        if key not in self.made:
            graph, sums = self.graph, [self.sums[id(one)] for one in self.groups[key]]
            atoms, centres = sums[0].atoms, sums[0].centres
            rows = self._rows(atoms)
            rows = graph.op("Sub", rows, graph.real(centres)) if centres.any() else rows
            value = graph.op("MatMul", rows, graph.real(np.array([one.weights for one in sums]).T))
            self.made[key] = graph.op("Add", value, graph.real([one.shift for one in sums]))
        return self.made[key]

    def _rows(self, atoms: Sequence[Node]) -> str:
        """Return nodes as columns of a matrix: those of X where they are."""
        columns, kinds = [self._column(one) for one in atoms], {one.name for one in atoms}
        if None in columns or len(kinds) > 1:
            return self._joined([self._full(one) for one in atoms])
        value = self._finite("X") if kinds == {"finite"} else "X"
        if columns == list(range(len(self.columns))):
            return value
        return self.graph.op("Gather", value, self.graph.put(np.array(columns, dtype=np.int64)), axis=1)

    def _joined(self, values: list[str]) -> str:
        return values[0] if len(values) == 1 else self.graph.op("Concat", *values, axis=1)

    def _full(self, one: Node) -> str:
        """Return a node as a column of all rows: numbers are repeated."""
        if one.name not in ("number", "missing"):
            return self.value[id(one)]
        if self.first is None:
            raise InvalidType("a model that reads no columns has no ONNX form: use save")
        if "rows" not in self.made:
            shape = self.graph.op("Shape", self.first)
            count = self.graph.op("Gather", shape, self.graph.put(np.array([0])), axis=0)
            self.made["rows"] = self.graph.op("Concat", count, self.graph.put(np.array([1])), axis=0)
        return self.graph.op("Expand", self._write(one), self.made["rows"])

    # -- operators ----------------------------------------------------------------------------------------------------

    def _write(self, one: Node) -> str:
        """Return the value of a node whose parts are written."""
        graph, name = self.graph, one.name
        if id(one) in self.sums:
            key = self._key(self.sums[id(one)])
            product, whole = self._product(key), self.groups[key]
            return product if len(whole) == 1 else graph.column(product, [each is one for each in whole].index(True))
        given = [self.value[id(part)] for part in one.arguments]
        if name in ("number", "missing"):
            value = math.nan if name == "missing" else one.value
            return graph.bound(value) if id(one) in self.bounds else graph.scalar(value)
        if name == "input":
            column = self.columns.get(one.value.name)
            return graph.columns[one.value.name] if column is None else graph.column("X", column)
        if name == "finite":
            return self._finite(given[0])
        if name == "is_finite":
            known = given[0] if one.arguments[0].name == "finite" else graph.op("Sub", given[0], given[0])
            return graph.op("Not", graph.op("IsNaN", known))
        if name == "not_equal":
            return graph.op("Not", graph.op("Equal", *given))
        if name == "and":
            value = given[0]
            for other in given[1:]:
                value = graph.op("And", value, other)
            return value
        if name == "level":
            return self._level(one, given[0])
        if name == "interval":
            return self._interval(given[0], one.value)
        if name == "choose":
            return self._chosen(one, given)
        if name in ("log1p", "expm1"):
            return (_log1p if name == "log1p" else _expm1)(graph, given[0])
        about = self._about(one)
        return graph.op(OPERATORS[name], *given) if about is None else about

    def _about(self, one: Node) -> str | None:
        """Return scale (x - m) + rest of a node with one atom in float32, where the tree has scale x + shift."""
        if self.graph.dtype == np.float64 or id(one) not in self.affine:
            return None
        atom, scale, shift = self.affine[id(one)]
        centre = -shift / scale if math.isfinite(shift / scale) else 0.0
        near = float(self.graph.rounded(np.array(centre)))
        value = self.graph.op("Sub", self.value[id(atom)], self.graph.scalar(near))
        value = value if scale == 1.0 else self.graph.op("Mul", value, self.graph.scalar(scale))
        rest = shift + scale * near
        return value if rest == 0.0 else self.graph.op("Add", value, self.graph.scalar(rest))

    def _finite(self, value: str) -> str:
        """Return x + (x - x), which is x where it is finite, else missing."""
        if ("finite", value) not in self.made:
            self.made["finite", value] = self.graph.op("Add", value, self.graph.op("Sub", value, value))
        return self.made["finite", value]

    def _level(self, one: Node, value: str) -> str:
        """Return the index (n, 1) of a category among K levels, K where it is missing, K + 1 where it is unknown."""
        graph, levels, k = self.graph, one.value, len(one.value)
        if isinstance(levels[0], str):
            keys = {"": k, **{level: j for j, level in enumerate(levels)}}
            pairs = {"keys_strings": list(keys), "values_int64s": list(keys.values()), "default_int64": k + 1}
            return graph.op("LabelEncoder", value, domain="ai.onnx.ml", **pairs)
        exact = np.array(levels, dtype=np.float64)
        if (graph.rounded(exact) != exact).any():
            raise InvalidData(f"the categories {exact.tolist()} are not exact in float32: use dtype='float64'")
        same = graph.op("Cast", graph.op("Equal", value, graph.real(exact[None])), to=graph.number)
        away = graph.op("MatMul", same, graph.real(np.arange(k)[:, None] - (k + 1.0)))
        gap = graph.op("Cast", graph.op("IsNaN", value), to=graph.number)
        index = graph.op("Add", graph.op("Sub", away, gap), graph.real(k + 1.0))
        return graph.op("Cast", index, to=graph.int64)

    def _interval(self, value: str, breaks: Breaks) -> str:
        """Return the index (n, 1) of an interval, as that of a level."""
        graph, count = self.graph, len(breaks.numbers)
        above = graph.op("GreaterOrEqual" if breaks.closed_left else "Greater", value, graph.real([breaks.numbers]))
        passed = graph.op("ReduceSum", graph.op("Cast", above, to=graph.int64), graph.put(np.array([1])), keepdims=1)
        k = count - 1 if breaks.inside else count + 1
        if breaks.inside:
            passed = graph.op("Gather", graph.put(np.array([k + 1, *range(k), k + 1])), passed, axis=0)
        return graph.op("Where", graph.op("IsNaN", value), graph.put(np.array(k)), passed)

    def _chosen(self, one: Node, given: list[str]) -> str:
        graph, (index, *options) = self.graph, one.arguments
        *known, unknown, absent = options
        table, values = [*known, absent, unknown], [*given[1:-2], given[-1], given[-2]]
        empty = index.name == "level" and "" in index.value and absent.name != "missing"
        if empty and not (is_number(absent) and is_number(known[index.value.index("")], absent.value)):
            raise InvalidData(
                "the empty text is a category, and what is missing is another: in ONNX they are the same; make them "
                "one before the model is fitted"
            )
        refused = index.name == "level" and unknown.name == "missing"  # no row: the runtime ends in an error
        kept = len(table) - refused
        if all(part.name in ("number", "missing") for part in table):
            numbers = [part.value if part.name == "number" else np.nan for part in table[:kept]]
            found = graph.op("Gather", graph.real(numbers), given[0], axis=0)
            return found
        at = given[0]
        if refused:
            at = graph.op("Gather", graph.put(np.arange(kept)), at, axis=0)
        value = values[-1]
        for k in reversed(range(kept)):
            value = graph.op("Where", graph.op("Equal", at, graph.put(np.array(k))), values[k], value)
        return value


def _is_linear(one: Node) -> bool:
    """Whether a node is a sum of its arguments times numbers."""
    if one.name in ("add", "sub", "neg"):
        return True
    return (one.name == "mul" and any(map(is_number, one.arguments))) or (
        one.name == "div" and is_number(one.arguments[1])
    )


def _linear_parts(one: Node) -> list[tuple[Node, float]]:
    """Return what a linear node is the sum of, each with a number that it is times."""
    given = one.arguments
    if one.name == "neg":
        return [(given[0], -1.0)]
    if one.name in ("add", "sub"):
        return [(given[0], 1.0), (given[1], 1.0 if one.name == "add" else -1.0)]
    if one.name == "div":
        return [(given[0], 1.0 / given[1].value)]
    return [(given[1], given[0].value)] if is_number(given[0]) else [(given[0], given[1].value)]


def _affine_parts(order: Sequence[Node]) -> dict[int, Affine]:
    """Return the nodes that are linear in one other, by their ids."""
    found: dict[int, Affine] = {}
    for one in order:
        if not _is_linear(one):
            continue
        atom, scale, shift = None, 0.0, 0.0
        for part, times in _linear_parts(one):
            if is_number(part):
                shift += times * part.value
                continue
            inner = found.get(id(part), Affine(part, 1.0, 0.0))
            if (_is_linear(part) and id(part) not in found) or (atom is not None and inner.atom is not atom):
                break
            atom, scale, shift = inner.atom, scale + times * inner.scale, shift + times * inner.shift
        else:
            if atom is not None and scale != 0.0 and math.isfinite(scale):
                found[id(one)] = Affine(atom, scale, shift)
    return found


class Graph:
    """An ONNX graph under construction: nodes, constants and outputs of one type of numbers; values have names."""

    def __init__(self, onnx: Any, dtype: np.dtype[Any]) -> None:
        self.onnx = onnx
        self.dtype = dtype
        self.number = int(onnx.helper.np_dtype_to_tensor_dtype(dtype))
        self.int64 = int(onnx.TensorProto.INT64)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[Any] = []
        self.inputs: dict[str, Any] = {}
        self.columns: dict[str, str] = {}
        self.known: dict[object, str] = {}

    def take(self, name: str, columns: int, dtype: Any = None) -> None:
        """Declare an input (n, columns)."""
        self.inputs[name] = self._info(name, dtype or self.dtype, columns)

    def take_column(self, column: str, text: bool) -> None:
        """Declare a column as an input (n, 1), under a name that no output has."""
        name = column or "x"
        while name in OUTPUTS or name in self.inputs:
            name += "_"
        self.columns[column] = name
        self.take(name, 1, np.dtype(object) if text else None)

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node of one output and return its name."""
        name = self._name(f"{kind.lower()}_{len(self.nodes)}")
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, [name], **attributes))
        return name

    def put(self, values: ArrayLike) -> str:
        """Add a constant of its own type and return its name."""
        array = np.asarray(values, order="C")
        key = (array.dtype.str, array.shape, array.tobytes()) if array.dtype != object else object()
        if key not in self.known:
            self.known[key] = name = self._name(f"constant_{len(self.constants)}")
            self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return self.known[key]

    def real(self, values: ArrayLike) -> str:
        """Add a constant of the graph's type; refuse finite numbers that it cannot hold."""
        exact = np.asarray(values, dtype=np.float64)
        with np.errstate(over="ignore"):
            cast = exact.astype(self.dtype)
        if (np.isfinite(exact) & ~np.isfinite(cast)).any():
            raise InvalidData("the coefficients or the columns are too large for float32: use dtype='float64'")
        return self.put(cast)

    def scalar(self, value: float) -> str:
        """Add a number."""
        return self.real([[value]])

    def bound(self, value: float) -> str:
        """Add a number that bounds others; one beyond the graph's type is one of the largest or smallest of it."""
        limits = np.finfo(self.dtype)
        if math.isfinite(value) and value and self.dtype != np.float64:
            value = math.copysign(min(max(abs(value), float(limits.tiny)), float(limits.max) / 1e3), value)
        return self.scalar(value)

    def rounded(self, values: Array) -> Array:
        """Return numbers rounded to the graph's type, as float64."""
        with np.errstate(over="ignore"):
            return values.astype(self.dtype).astype(np.float64)

    def column(self, value: str, k: int) -> str:
        """Return a column (n, 1) of a matrix."""
        return self.op("Gather", value, self.put(np.array([k])), axis=1)

    def flat(self, value: str) -> str:
        """Return (n,) from (n, 1)."""
        return self.op("Squeeze", value, self.put(np.array([1])))

    def output(self, name: str, value: str, columns: int | None, dtype: Any = None) -> None:
        """Declare an output (n,) or (n, columns)."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        self.outputs.append(self._info(name, dtype or self.dtype, columns))

    def model(self, system: AnySystem) -> Any:
        """Return the ONNX model of a system or a pipeline, checked."""
        helper = self.onnx.helper
        inputs = list(self.inputs.values())
        graph = helper.make_graph(self._used(), type(system).__name__, inputs, self.outputs, self.constants)
        domains = sorted({node.domain for node in self.nodes} | {""})
        out = helper.make_model(
            graph,
            producer_name="adaline",
            producer_version=__version__,
            opset_imports=[helper.make_opsetid(domain, OPSETS[domain]) for domain in domains],
            ir_version=IR_VERSION,
        )
        first, last = (first_step(system), last_step(system)) if is_pipeline(system) else (system, system)
        notes = {"system": type(system).__name__}
        if has_certificate(last):
            notes["certificate"] = str(last.certificate_)
        names = getattr(getattr(first, "coding_", None), "names", getattr(first, "feature_names_in_", None))
        for key, values in (("columns", names), ("classes", getattr(last, "classes_", None))):
            if values is not None:
                notes[key] = json.dumps([str(value) for value in values])
        helper.set_model_props(out, notes)
        self.onnx.checker.check_model(out, full_check=True)
        return out

    def _used(self) -> list[Any]:
        """Return the nodes that outputs depend on."""
        wanted, kept = {one.name for one in self.outputs}, []
        for one in reversed(self.nodes):
            if wanted & {*one.output}:
                wanted |= {*one.input}
                kept.append(one)
        self.constants = [one for one in self.constants if one.name in wanted]
        return kept[::-1]

    def _name(self, name: str) -> str:
        """Return a name that is no input's."""
        return name if name not in self.inputs else self._name(f"{name}_")

    def _info(self, name: str, dtype: Any, columns: int | None) -> Any:
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        shape = ["n"] if columns is None else ["n", columns]
        return self.onnx.helper.make_tensor_value_info(name, kind, shape)


def _onnx() -> Any:
    try:
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    except ImportError:
        raise AdalineError("export to ONNX needs the package onnx: pip install adaline-learn[onnx]") from None
    return onnx


def _log1p(graph: Graph, s: str) -> str:
    """Return ln(1 + s): ln(u) s / (u - 1) with u = 1 + s as rounded (Kahan), s where u is 1."""
    one = graph.scalar(1.0)
    u = graph.op("Add", s, one)
    near = graph.op("Div", graph.op("Mul", graph.op("Log", u), s), graph.op("Sub", u, one))
    return graph.op("Where", graph.op("Equal", u, one), s, near)


def _expm1(graph: Graph, x: str) -> str:
    """Return exp(x) - 1: (u - 1) x / ln(u) with u = exp(x) as rounded (Kahan), where neither is lost."""
    one, u = graph.scalar(1.0), graph.op("Exp", x)
    off = graph.op("Sub", u, one)
    inside = graph.op("Div", graph.op("Mul", off, x), graph.op("Log", u))
    far = graph.op("Where", graph.op("Greater", graph.op("Abs", x), one), off, inside)
    return graph.op("Where", graph.op("Equal", u, one), x, far)


def _labels(classes: Sequence[Label]) -> NDArray[Any]:
    """Return classes as ONNX has them: text, int64 or float64."""
    kinds = {type(value) for value in classes}
    for kind, dtype in ((str, object), (bool, np.int64), (int, np.int64), (float, np.float64)):
        if kinds == {kind}:
            try:
                return np.array(classes, dtype=dtype)
            except OverflowError:
                break
    raise InvalidData(f"classes such as {classes[0]!r} have no form in ONNX: use text or whole numbers as labels")


def _centre(model: AnyModel, features: int) -> Array:
    """Return the mean of the training columns, zero where the model does not know it."""
    for machine in (model, *getattr(model, "estimators_", ())):
        typical = getattr(machine, "_typical", None)  # a row of the training data, where the mean is not known
        if typical is not None and len(typical) == features:
            return np.asarray(typical, dtype=np.float64)
        sums = getattr(machine, "_sums", None)
        total = sums.total() if isinstance(sums, ClassMoments) else sums
        if isinstance(total, Moments) and total.weight > 0 and len(total.about_mean().first_hi) >= features:
            return total.about_mean().first_hi[:features].copy()
    return np.zeros(features)


def filtered(graph: Graph, model: SignalSystem, rows: str) -> None:
    """Add the outputs of a filter, (n,) or (n, K).

    y_n = w0 + sum_(c, j) w_cj x_c(n - delay - j), signals zero outside the record.
    """
    taps, delay = model._line
    w, longest = np.atleast_2d(model.coef_), max(taps)
    kernel = np.zeros((len(w), len(taps), longest))  # oldest sample first
    for c, part in enumerate(np.split(w, np.cumsum(taps)[:-1], axis=1)):
        kernel[:, c, longest - taps[c] :] = part[:, ::-1]
    first = delay + longest - 1  # how far before the record the first row reaches
    padded = graph.op("Pad", rows, graph.put(np.array([max(first, 0), 0, max(-delay, 0), 0])))
    bounds = [np.array([value]) for value in (max(-first, 0), -delay if delay > 0 else FOREVER, 0)]
    m = graph.rounded(_level(model))
    samples = graph.op("Sub", graph.op("Slice", padded, *map(graph.put, bounds)), graph.real(m))
    constant = np.broadcast_to(model.intercept_, (len(w),)) + kernel.sum(axis=2) @ m
    if graph.dtype == np.float32:
        lines = graph.op("Unsqueeze", graph.op("Transpose", samples, perm=[1, 0]), graph.put(np.array([0])))
        found = graph.op("Squeeze", graph.op("Conv", lines, graph.real(kernel)), graph.put(np.array([0])))
        value = graph.op("Transpose", found, perm=[1, 0])
    else:  # onnxruntime has no Conv for double: rows of samples times the kernel
        count = graph.op("Gather", graph.op("Shape", rows), graph.put(np.array(0)))
        start = graph.op("Range", graph.put(np.array(0)), count, graph.put(np.array(1)))
        indices = graph.op("Add", graph.op("Unsqueeze", start, graph.put(np.array([1]))), graph.put(np.arange(longest)))
        windows = graph.op("Gather", samples, indices, axis=0)  # (n, longest, C)
        flat = graph.op("Reshape", windows, graph.put(np.array([-1, longest * len(taps)])))
        value = graph.op("MatMul", flat, graph.real(kernel.transpose(2, 1, 0).reshape(-1, len(w))))
    value, one = graph.op("Add", value, graph.real(constant)), np.ndim(model.coef_) == 1
    graph.output("prediction", graph.flat(value) if one else value, None if one else len(w))


def _level(model: SignalSystem) -> Array:
    """Return an estimate of the mean of each signal, zero where the model does not know it."""
    if isinstance(model, AdaptiveFilter):
        return np.asarray(model._adaptation.past.mean(axis=1))
    total = model._recording.total if isinstance(model, WienerFilter) else None
    newest = np.cumsum([0, *model._line[0][:-1]])
    return np.zeros(len(newest)) if total is None else total.about_mean().first_hi[newest]
