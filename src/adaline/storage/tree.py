"""Objects as a tree of JSON and back: what a fitted model consists of, bit for bit, and nothing that could run.

None, booleans, whole numbers, finite floats, text and lists are JSON as they are. Everything else is an object of one
key that names its kind:

    {"tuple": [...]}, {"dict": [[key, value], ...]}, {"float": "nan"}, {"scalar": [dtype, value]}
    {"tensor": name}                         an array of numbers, stored beside the tree
    {"array": {"dtype", "shape", "values"}}  text, labels, and numbers where there are no tensors
    {"Status": "SOLVED"}
    {"Shape": {"features": 4, "targets": 1}} one of the listed classes, by its fields
    {"same": n}                              the n-th of these objects again
    {"system": {"name", "parameters", "state"}}, {"basis": ...}   a system or a basis inside another
    {"criterion": {"name": "loss huber", "fields": {"delta": 2.0}}}   a loss or an activation

Classes are a closed list (`FIELDS`); an object is made only if exactly its own fields are there. A user's own losses
and activations are code, and never stored.

Arrays that are not C-contiguous are stored with the order and direction of their axes: the layout decides which routine
multiplies an array (BLAS as it is, BLAS transposed, or a plain loop where an axis runs backwards or has gaps), and so
the last bits of the product. A model gives the same bits after a round trip only if its arrays have the same layout.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.activations import ACTIVATIONS
from adaline.arrays import host, is_device
from adaline.basis import BASES, Basis, Custom
from adaline.block import Shape
from adaline.coding import Coding, Column, Term, TermFactor
from adaline.errors import InvalidType
from adaline.fits.online import OnlineResult
from adaline.fits.separation import Separation
from adaline.inference.robust import RobustFit, StandardErrors
from adaline.inference.sample import Counted
from adaline.locks import cached_property
from adaline.losses import LOSSES, Composed
from adaline.penalties import RidgePenalty
from adaline.results import Certificate, Solution, Status
from adaline.scans import SCANS, Scan, Schedule
from adaline.solvers.epochs.pocket import BestWeights
from adaline.solvers.least_squares.dependence import Dependence
from adaline.solvers.least_squares.factor import CholeskyFactor, ColumnScaling, KeptFactor, SpectralFactor
from adaline.solvers.least_squares.fit import Fit
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.sources.standardized import Standard
from adaline.sums import ClassMoments, Components, Moments, View
from adaline.systems import SYSTEMS
from adaline.systems.families.adaptation import Adaptation
from adaline.systems.gaussian_classifier import ClassDensities
from adaline.systems.wiener_filter import Recording

Anything = NDArray[Any]

_WIDTHS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")
NUMBERS: dict[str, np.dtype[Any]] = {name: np.dtype(name) for name in ("bool", *_WIDTHS)}
TEXT = re.compile(r"<U(\d{1,7})")
DATE = re.compile(r"(datetime64|timedelta64)(\[\w{1,9}\])?")
MOST_TEXT = 2**28  # characters of an array of text, padding included

_FACTOR = ("scaling", "length", "alive", "condition", "rank", "contraction", "decided")

RECORDS: tuple[type[Any], ...] = (
    *(Adaptation, Certificate, Counted, Fit, ColumnScaling, Recording, RidgePenalty, Shape, Solution),
    *(RobustFit, StandardErrors),
    *(Coding, Column, TermFactor, Term),
    *(Schedule, BestWeights, Dependence, LikelihoodFit, OnlineResult, Separation, Standard),
    *(ClassDensities, Components, View),
)
"""Dataclasses and named tuples: stored by their fields, restored by their constructor."""

PARTS: dict[type[Any], tuple[str, ...]] = {
    Moments: ("shape", "buffer"),
    ClassMoments: ("parts",),
    CholeskyFactor: (*_FACTOR, "r"),
    KeptFactor: (*_FACTOR, "r", "whole"),
    SpectralFactor: (*_FACTOR, "v", "s", "raw", "reach", "null", "size"),
    **{cls: tuple(n for n in vars(cls.start(Shape(1, 1))) if n != "_native") for cls in SCANS.values()},
}
"""Other classes with the attributes that are stored; cached properties are computed again from these."""

FIELDS: dict[type[Any], tuple[str, ...]] = {
    **{cls: getattr(cls, "_fields", None) or tuple(f.name for f in dataclasses.fields(cls)) for cls in RECORDS},
    **PARTS,
}
"""All classes that can be stored, with the names of the attributes that are."""

NESTED: dict[str, dict[str, type[Any]]] = {
    "system": SYSTEMS,
    "basis": {name: cls for name, cls in BASES.items() if cls is not Custom},
}
"""What can be inside a system: stored by its constructor arguments and what fit has set."""

CLASSES: dict[str, type[Any]] = {cls.__name__: cls for cls in FIELDS}

CRITERIA: dict[type[Any], str] = {
    **{cls: f"loss {name}" for name, cls in LOSSES.items()},
    Composed: "loss composed",
    **{type(one): f"activation {name}" for name, one in ACTIVATIONS.items()},
}
"""The losses and activations that can be stored, frozen and made of numbers and of each other, by kind and name."""


def encode(values: dict[str, Any], tensors: dict[str, Anything] | None = None) -> dict[str, Any]:
    """Return the trees of named values; arrays of numbers go to `tensors`, under their path, or into the trees.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.storage.tree import decode, encode
    >>> encode({"rate": 0.5, "weights": (1.0, float("inf")), "priors": np.array([0.25, 0.75])})["weights"]
    {'tuple': [1.0, {'float': 'inf'}]}
    >>> tensors = {}
    >>> trees = encode({"coef_": np.array([1.0, 2.0])}, tensors)
    >>> trees, decode(trees, tensors)["coef_"]
    ({'coef_': {'tensor': 'coef_'}}, array([1., 2.]))
    """
    writer = _Writer(tensors)
    return {name: writer.write(value, name) for name, value in values.items()}


def decode(trees: Any, tensors: dict[str, Anything] | None = None) -> dict[str, Any]:
    """Return the values of named trees; raise ValueError, TypeError or OverflowError if they have none."""
    return _Reader(tensors or {}).named(trees)


def parts_of(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the constructor arguments of a system or a basis, and what fit has set."""
    parameters = model.get_params(deep=False)
    state = {name: value for name, value in model.__getstate__().items() if name not in parameters}
    if "_like" in state:
        state["_like"] = None  # a device array that says where results should go: they go to the host
    return parameters, state


def system_of(cls: type[Any], parameters: dict[str, Any], state: dict[str, Any]) -> Any:
    """Return the system or basis of these parts; refuse parameters or state that it does not have."""
    if not parameters.keys() <= inspect.signature(cls).parameters.keys():
        raise ValueError("unknown parameters")
    if not all(name.isidentifier() and not hasattr(cls, name) for name in state):
        raise ValueError("its state names what fit does not set")
    if not isinstance(state.get("basis_"), Basis | None):
        raise ValueError("its basis is none")
    model = cls(**parameters)
    vars(model).update(state)
    return model


class _Writer:
    """Objects to trees."""

    def __init__(self, tensors: dict[str, Anything] | None) -> None:
        self.tensors = tensors
        self.objects: dict[int, int] = {}  # by identity, the index of each object
        self.arrays: dict[int, Any] = {}  # by identity, the tree of each array
        self.alive: list[Any] = []  # what has been stored, kept alive so that no identity is used twice

    def write(self, value: Any, path: str) -> Any:
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is list:
            return self._each(value, path)
        if kind is tuple:
            return {"tuple": self._each(value, path)}
        if kind is dict:
            return {"dict": [[self.write(k, f"{path}.key"), self.write(v, f"{path}.{k}")] for k, v in value.items()]}
        if isinstance(value, np.generic):
            return self._scalar(value, path)
        if kind in (np.ndarray, np.memmap):
            return self._array(np.asarray(value), path)
        if is_device(value):
            array = host(value)
            return self._array(array, path) if array.ndim else self.write(float(array), path)
        if kind is Status:
            return {"Status": value.name}
        if kind in CRITERIA:
            return {"criterion": {"name": CRITERIA[kind], "fields": self._named(parts_of_criterion(value), path)}}
        for tag, known in NESTED.items():
            if known.get(kind.__name__) is kind:
                parts = zip(("parameters", "state"), parts_of(value), strict=True)
                trees = {part: self._named(values, f"{path}.{part}") for part, values in parts}
                return {tag: {"name": kind.__name__, **trees}}
        if kind is Custom:
            raise InvalidType(
                f"cannot store {path}: basis.Custom holds a function of yours, which is code, and a model file holds "
                "none. Pickle the model, or give its columns to a system without a basis"
            )
        return self._object(value, path)

    def _named(self, values: dict[str, Any], path: str) -> dict[str, Any]:
        return {name: self.write(value, f"{path}.{name}") for name, value in values.items()}

    def _each(self, values: Any, path: str) -> list[Any]:
        return [self.write(value, f"{path}.{i}") for i, value in enumerate(values)]

    def _object(self, value: Any, path: str) -> Any:
        kind = type(value)
        fields = FIELDS.get(kind)
        if fields is None:
            raise InvalidType(
                f"cannot store {path}: a model file holds numbers, text, arrays and adaline's own objects, "
                f"never code or other objects, and this is of type {kind.__qualname__}"
            )
        if id(value) in self.objects:
            return {"same": self.objects[id(value)]}
        if kind in PARTS:
            unknown = [
                n
                for n in vars(value)
                if n not in (*fields, "_native") and not isinstance(getattr(kind, n, 0), cached_property)
            ]
            if unknown:
                raise InvalidType(
                    f"cannot store {path}: {', '.join(unknown)} of {kind.__name__} is not in storage.tree"
                )
        tree = {kind.__name__: {name: self.write(getattr(value, name), f"{path}.{name}") for name in fields}}
        self.objects[id(value)] = len(self.objects)
        self.alive.append(value)
        return tree

    def _scalar(self, value: np.generic, path: str) -> Any:
        if isinstance(value, np.str_):
            return {"scalar": ["str", str(value)]}
        if value.dtype.name not in NUMBERS:
            raise InvalidType(f"cannot store {path}: numbers of type {value.dtype}")
        return {"scalar": [value.dtype.name, self.write(value.item(), path)]}

    def _array(self, array: Anything, path: str) -> Any:
        if id(array) not in self.arrays:
            numbers = self.tensors is not None and array.dtype.name in NUMBERS
            self.arrays[id(array)] = self._tensor(array, path) if numbers else self._values(array, path)
            self.alive.append(array)
        return self.arrays[id(array)]

    def _tensor(self, array: Anything, path: str) -> Any:
        assert self.tensors is not None
        while path in self.tensors:
            path += "'"
        self.tensors[path] = np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")
        axes, gaps = layout(array)
        if axes == list(range(1, array.ndim + 1)) and not gaps:
            return {"tensor": path}
        return {"tensor": {"name": path, "axes": axes, "gaps": gaps}}

    def _values(self, array: Anything, path: str) -> Any:
        name, values = array.dtype.name, array
        if array.dtype.kind == "U":
            name = f"<U{array.dtype.itemsize // 4}"
            if not _fits(name, array.size):
                raise InvalidType(f"cannot store {path}: {array.size} texts of type {name} take too much room")
        elif array.dtype.kind in "mM":
            values = array.astype(np.int64)
        elif name not in NUMBERS and name != "object":
            raise InvalidType(f"cannot store {path}: an array of type {array.dtype}")
        items = [self.write(item, f"{path}[{i}]") for i, item in enumerate(values.ravel().tolist())]
        return {"array": {"dtype": name, "shape": list(array.shape), "values": items}}


class _Reader:
    """Trees to objects."""

    def __init__(self, tensors: dict[str, Anything]) -> None:
        self.tensors = tensors
        self.laid_out: dict[str, Anything] = {}
        self.made: list[Any] = []

    def named(self, trees: Any) -> dict[str, Any]:
        return {name: self.read(tree) for name, tree in typed(trees, dict).items()}

    def read(self, tree: Any) -> Any:
        if isinstance(tree, list):
            return [self.read(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        if len(tree) != 1:
            raise ValueError("an object of the tree must have one key")
        ((tag, inner),) = tree.items()
        if tag in CLASSES:
            return self._object(CLASSES[tag], inner)
        match tag:
            case "tuple":
                return tuple(self.read(typed(inner, list)))
            case "dict":
                return {self.read(key): self.read(value) for key, value in typed(inner, list)}
            case "float" if inner in ("nan", "inf", "-inf"):
                return float(inner)
            case "scalar":
                name, value = typed(inner, list)
                return np.str_(typed(value, str)) if name == "str" else _number(name).type(self.read(value))
            case "tensor":
                return self._tensor(inner)
            case "array":
                return self._values(fields_of(inner, ("dtype", "shape", "values")))
            case "same":
                if type(inner) is int and 0 <= inner < len(self.made):
                    return self.made[inner]
            case "system" | "basis":
                parts = fields_of(inner, ("name", "parameters", "state"))
                if parts["name"] not in NESTED[tag]:
                    raise ValueError(f"unknown {tag} {str(parts['name'])[:40]!r}")
                arguments, state = (self.named(parts[key]) for key in ("parameters", "state"))
                return system_of(NESTED[tag][parts["name"]], arguments, state)
            case "criterion":
                parts = fields_of(inner, ("name", "fields"))
                return criterion_of(parts["name"], self.named(parts["fields"]))
            case "Status" if inner in Status.__members__:
                return Status[inner]
        raise ValueError(f"unknown: {str(tag)[:40]!r}")

    def _object(self, cls: type[Any], inner: Any) -> Any:
        fields = {name: self.read(value) for name, value in fields_of(inner, FIELDS[cls]).items()}
        if cls in PARTS:
            made = object.__new__(cls)
            vars(made).update(fields)
            if isinstance(made, Scan):
                made._native = None
        else:
            made = cls(**fields)
        check(made)
        self.made.append(made)
        return made

    def _tensor(self, inner: Any) -> Anything:
        plain = isinstance(inner, str)
        name, axes, gaps = (inner, [], False) if plain else fields_of(inner, ("name", "axes", "gaps")).values()
        if name not in self.tensors:
            raise ValueError(f"no tensor {str(name)[:40]!r}")
        if name not in self.laid_out:
            array = self.tensors[name]
            self.laid_out[name] = array if plain else laid_out(array, typed(axes, list), typed(gaps, bool))
        return self.laid_out[name]

    def _values(self, parts: dict[str, Any]) -> Anything:
        name, shape = typed(parts["dtype"], str), typed(parts["shape"], list)
        values = self.read(typed(parts["values"], list))
        if not all(type(n) is int and n >= 0 for n in shape) or math.prod(shape) != len(values):
            raise ValueError("an array's shape and values differ")
        if name == "object":
            out = np.empty(len(values), dtype=object)
            for i, value in enumerate(values):
                out[i] = value
        elif TEXT.fullmatch(name) and _fits(name, len(values)):
            out = np.array([typed(value, str) for value in values], dtype=name)
        elif DATE.fullmatch(name):
            out = np.array(values, dtype=np.int64).view(name)
        else:
            out = np.array(values, dtype=_number(name))
        return out.reshape(shape)


def typed(value: Any, kind: type[Any]) -> Any:
    """Return a value of exactly this type; refuse others."""
    if type(value) is not kind:
        raise ValueError(f"expected {kind.__name__}, found {type(value).__name__}")
    return value


def fields_of(inner: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return an object with exactly these fields; refuse others."""
    if set(typed(inner, dict)) != set(names):
        raise ValueError(f"expected the fields {', '.join(names)}")
    return {name: inner[name] for name in names}


def check(made: Any) -> None:
    """Refuse objects whose sizes do not fit together: native code reads their buffers."""
    if isinstance(made, Moments):
        q = typed(made.shape, Shape).features + made.shape.targets
        buffer = typed(made.buffer, np.ndarray)
        if buffer.dtype != np.float64 or buffer.shape != (3 + 4 * q + q * q,) or not buffer.flags.c_contiguous:
            raise ValueError("moments of the wrong size")
    elif isinstance(made, ClassMoments):
        shapes = {typed(part, Moments).shape for part in typed(made.parts, list)}
        if len(shapes) != 1:
            raise ValueError("classes of different shape")
    elif isinstance(made, Scan):
        _check_scan(made)
    elif isinstance(made, Shape) and not all(type(n) is int and 0 <= n < 2**31 for n in made):
        raise ValueError("a shape has whole numbers")


def _check_scan(made: Scan) -> None:
    """Refuse a scan whose arrays do not fit together, or whose rule is not that of its class."""
    theta = typed(made.theta, np.ndarray)
    if theta.ndim != 2 or theta.shape[1] < 1:
        raise ValueError("weights must be (K, 1 + D)")
    shape = Shape(theta.shape[1] - 1, len(theta))
    options: dict[str, Any] = {"classes": len(theta)} if made.classes else {}
    options |= {name: typed(value, str) for name, value in vars(made).items() if name in ("variant", "activation")}
    plain = type(made).start(shape, **options)
    for name, expected in vars(plain).items():
        value = getattr(made, name)
        if isinstance(expected, np.ndarray):
            array = typed(value, np.ndarray)
            if array.dtype != np.float64 or array.shape != expected.shape or not array.flags.c_contiguous:
                raise ValueError(f"{name} of a scan has the wrong size")
    typed(made.schedule, Schedule)
    known = {cls.__name__: cls for cls in SCANS.values()}
    if known[type(made).__name__] is not type(made) or made.rule != plain.rule or type(made.intercept) is not bool:
        raise ValueError("a scan that no rule starts")


def parts_of_criterion(value: Any) -> dict[str, Any]:
    """Return the fields of a loss or an activation."""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def criterion_of(name: Any, values: dict[str, Any]) -> Any:
    """Return the loss or activation of this name; refuse other fields than it has."""
    found = next((cls for cls, known in CRITERIA.items() if known == name), None)
    if found is None:
        raise ValueError(f"unknown loss or activation {str(name)[:40]!r}")
    fields = fields_of(values, tuple(field.name for field in dataclasses.fields(found)))
    if not all(type(value) in (int, float, *CRITERIA) for value in fields.values()):
        raise ValueError("a loss has numbers")
    return found(**fields)


def layout(array: Anything) -> tuple[list[int], bool]:
    """Return the axes by falling stride, from 1, negative where they run backwards, and whether there are gaps."""
    if array.flags.c_contiguous or 0 in array.strides:
        return list(range(1, array.ndim + 1)), False
    steps = array.strides
    order = sorted(range(array.ndim), key=lambda axis: -abs(steps[axis]))
    return [-axis - 1 if steps[axis] < 0 else axis + 1 for axis in order], abs(steps[order[-1]]) > array.itemsize


def laid_out(array: Anything, axes: list[Any], gaps: bool) -> Anything:
    """Return the same numbers in a layout as `layout` returns it."""
    if not all(type(axis) is int for axis in axes) or sorted(map(abs, axes)) != list(range(1, array.ndim + 1)):
        raise ValueError("not the axes of a tensor")
    order = [abs(axis) - 1 for axis in axes]
    sizes = [array.shape[axis] for axis in order]
    memory = np.empty([*sizes[:-1], sizes[-1] * (2 if gaps else 1)], dtype=array.dtype)
    view = memory[..., ::2] if gaps else memory
    view = view[tuple(slice(None, None, -1 if axis < 0 else 1) for axis in axes)]
    out = view.transpose(np.argsort(order))
    out[...] = array
    return out


def _number(name: Any) -> np.dtype[Any]:
    if name not in NUMBERS:
        raise ValueError(f"unknown type of numbers {str(name)[:40]!r}")
    return NUMBERS[name]


def _fits(name: str, size: int) -> bool:
    """Return whether `size` texts of type <U... take no more memory than a model file may ask for."""
    return int(name[2:]) * size <= MOST_TEXT
