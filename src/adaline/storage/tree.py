"""Objects as a tree of JSON and back: what a fitted model consists of, bit for bit, and nothing that could run.

None, booleans, whole numbers, finite floats, text and lists are JSON as they are. Everything else is an object of one
key that names its kind:

    {"tuple": [...]}, {"dict": [[key, value], ...]}, {"float": "nan"}, {"scalar": [dtype, value]}
    {"tensor": name}                         an array of numbers, stored beside the tree
    {"json": name}                           a long list of plain values, stored beside the tree as bytes of JSON
    {"array": {"dtype", "shape", "values"}}  text, labels, and numbers where there are no tensors
    {"Status": "SOLVED"}
    {"Shape": {"features": 4, "targets": 1}} one of the listed classes, by its fields
    {"same": n}                              the n-th of these objects again
    {"system": {"name", "parameters", "state"}}, {"basis": ...}   a system or a basis inside another
    {"step": ...}                            a step of scikit-learn (see `adaline.storage.steps`); its arguments may be
    {"slice": [start, stop, step]}, {"dtype": name}, {"type": name}, {"selector": ...} a make_column_selector
    {"criterion": {"name": "loss huber", "fields": {"delta": 2.0}}}   a loss or an activation

Classes are a closed list (`adaline.storage.fields`); an object is made only of its own fields, of which those with a
default may be left out. A user's own losses and activations are code, and never stored.

Arrays that are not C-contiguous are stored with the order and direction of their axes: the layout decides which routine
multiplies an array (BLAS as it is, BLAS transposed, or a plain loop where an axis runs backwards or has gaps), and so
the last bits of the product. A model gives the same bits after a round trip only if its arrays have the same layout.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
import math
import re
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.activations import ACTIVATIONS
from adaline.arrays import host_values, is_device
from adaline.attributes import give_attributes, own_attributes
from adaline.basis import Custom
from adaline.errors import InvalidType
from adaline.fitted import AnyModel
from adaline.input.system import SystemState
from adaline.links import LINKS
from adaline.locks import cached_property
from adaline.losses import LOSSES, Binomial, Composed, Linked, NegativeBinomial, Tweedie
from adaline.results import Status
from adaline.scans import Scan
from adaline.state import HELD, settings_at_fit
from adaline.storage.fields import (
    CLASSES,
    KNOWN,
    STORED_BASES,
    fields_of,
    given_fields,
    kept_fields,
    names_beside,
    state_class,
)
from adaline.storage.pipelines import of_scikit_learn
from adaline.systems import LogisticRegression
from adaline.systems.online_alias import with_present_name

Anything = NDArray[Any]

_WIDTHS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")
NUMBERS: dict[str, np.dtype[Any]] = {name: np.dtype(name) for name in ("bool", *_WIDTHS)}
TEXT = re.compile(r"<U(\d{1,7})")
DATE = re.compile(r"(datetime64|timedelta64)(\[\w{1,9}\])?")
LONG = 1000  # items from which a list is stored beside the tree
DEEPEST = 100  # values inside each other
MOST_TEXT, FREE_TEXT, PADDING = 2**28, 2**22, 64
"""Limits on arrays of text, whose texts are padded to the longest one: the most characters in all; and, beyond
FREE_TEXT characters, the ratio of padded to stored ones."""

NESTED: dict[str, dict[str, type[Any]]] = {
    "system": KNOWN,
    "basis": {cls.__name__: cls for cls in STORED_BASES},
}
"""What can be inside a system or a pipeline, beside scikit-learn's steps: stored by its constructor arguments and what
fit has set."""

TYPES: dict[str, type[Any]] = {
    **{cls.__name__: cls for cls in (object, bool, int, float, str)},
    **{f"numpy.{cls.__name__}": cls for cls in (np.number, np.integer, np.floating, np.object_)},
    **{f"numpy.{name}": dtype.type for name, dtype in NUMBERS.items()},
}
"""Types that are arguments of steps."""

CRITERIA: dict[type[Any], str] = {
    **{cls: f"loss {name}" for name, cls in LOSSES.items()},
    Composed: "loss composed",
    **{type(one): f"activation {name}" for name, one in ACTIVATIONS.items()},
    **{type(one): f"link {one.name}" for one in LINKS.values()},
    **{Tweedie: "family tweedie", NegativeBinomial: "family negative_binomial", Binomial: "family binomial"},
    Linked: "loss linked",
}
"""Losses, families, links and activations that can be stored, frozen and made of numbers and of each other, by name."""


def _steps() -> Any:
    """Return the module of the steps of scikit-learn, which is imported only for pipelines."""
    return import_module("adaline.storage.steps")


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


def decode(trees: Any, tensors: dict[str, Anything] | None = None, layout: FileLayout | None = None) -> dict[str, Any]:
    """Return the values of named trees, which use all tensors; raise ValueError, TypeError or OverflowError if not."""
    reader = _Reader(tensors or {}, layout or FileLayout())
    out = reader.named(trees)
    if tensors and len(reader.laid_out) != len(tensors):
        raise ValueError("there are tensors that nothing uses")
    return out


def parts_of(model: AnyModel) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the constructor arguments of a system, a basis or a step, and what fit learned; refuse other attributes.

    Requests for metadata (`set_fit_request`) are left out: they are objects of scikit-learn.
    """
    if of_scikit_learn(type(model)):
        return _steps().parts_of_step(model)  # type: ignore[no-any-return]
    parameters = model.get_params(deep=False)
    left_out = {*parameters, "_metadata_request"}
    own = own_attributes(copy.copy(model))  # of a copy, as single rows change a model in place
    beside = {name: value for name, value in own.items() if name not in left_out}
    state = beside.pop(HELD, None)
    if foreign := beside.keys() - names_beside(type(model)).keys():
        name, owner = min(foreign), type(model).__name__
        raise InvalidType(
            f"cannot store {name} of {owner}: it was set by other code than fit, and a model file holds only what fit "
            f"learns. Delete the attribute {name}, and keep it in a file of its own"
        )
    learned = {} if state is None else kept_fields(state)
    if isinstance(state, SystemState) and (changed := state.fitted_with.changed(model)):
        learned["fitted_with"] = changed  # the others are among the parameters
    return parameters, learned | beside


def system_of(cls: type[Any], parameters: dict[str, Any], learned: dict[str, Any]) -> Any:
    """Return the system, basis or step of these parts; refuse parameters or a state that it does not have."""
    if of_scikit_learn(cls):
        return _steps().step_of(cls, parameters, learned)
    if not parameters.keys() <= inspect.signature(cls).parameters.keys():
        raise ValueError("unknown parameters")
    model, kind = cls(**parameters), state_class(cls)
    names = names_beside(cls)
    beside = {name: value for name, value in learned.items() if name in names}
    fields = {name: value for name, value in learned.items() if name not in names}
    if kind is not None and fields:
        changed = typed(fields.pop("fitted_with", {}), dict)
        fitted_with = {"fitted_with": settings_at_fit(model, changed)} if issubclass(kind, SystemState) else {}
        beside[HELD] = kind(**given_fields(kind, fields) | fitted_with)
    elif fields:
        raise ValueError(f"{cls.__name__} has no {min(fields)!r:.40}")
    give_attributes(model, beside)
    return model


class FileLayout:
    """How files hold systems and objects: `adaline.storage.old_schemas` has the layouts of older files."""

    def system(self, cls: type[Any], parameters: dict[str, Any], learned: dict[str, Any]) -> Any:
        """Return the system, basis or step of its parts."""
        return system_of(cls, parameters, learned)

    def fields(self, cls: type[Any], values: dict[str, Any]) -> dict[str, Any]:
        """Return what makes an object of a class from the fields of a file; refuse others than it has."""
        return given_fields(cls, values)


class _Text:
    """The room that arrays of text take, each text padded to the longest of its array: bounded for a whole file."""

    def __init__(self) -> None:
        self.stored, self.padded = 0, 0

    def takes(self, name: str, values: list[str]) -> bool:
        """Whether there is room for an array of type <U...; it is then taken."""
        self.stored += len(values) + sum(map(len, values))
        self.padded += int(name[2:]) * max(len(values), 1)
        return self.padded <= min(FREE_TEXT + PADDING * self.stored, MOST_TEXT)


class _Writer:
    """Objects to trees."""

    def __init__(self, tensors: dict[str, Anything] | None) -> None:
        self.tensors = tensors
        self.objects: dict[int, int] = {}  # by identity, the index of each object
        self.arrays: dict[int, Any] = {}  # by identity, the tree of each array
        self.alive: list[Any] = []  # what has been stored, kept alive so that no identity is used twice
        self.text = _Text()

    def write(self, value: Any, path: str) -> Any:
        if type(value) is LogisticRegression:
            value = with_present_name(value)
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
        if isinstance(value, np.dtype) and value.name in (*NUMBERS, "object"):
            return {"dtype": value.name}
        if isinstance(value, type):
            return self._type(value, path)
        if is_device(value):
            array = host_values(value)
            return self._array(array, path) if array.ndim else self.write(float(array), path)
        if kind is Status:
            return {"Status": value.name}
        if kind in CRITERIA:
            return {"criterion": {"name": CRITERIA[kind], "fields": self._named(parts_of_criterion(value), path)}}
        if kind is slice:
            return {"slice": self._each((value.start, value.stop, value.step), path)}
        if of_scikit_learn(kind) and kind is _steps().make_column_selector:
            return {"selector": self._named(own_attributes(value), path)}
        for tag, known in (*NESTED.items(), *([("step", _steps().STEPS)] if of_scikit_learn(kind) else ())):
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

    def _each(self, values: Any, path: str) -> Any:
        if self.tensors is not None and len(values) > LONG and all(map(_is_plain, values)):
            name = self._name(path)
            self.tensors[name] = np.frombuffer(json.dumps(list(values)).encode(), dtype=np.uint8)
            return {"json": name}
        return [self.write(value, f"{path}.{i}") for i, value in enumerate(values)]

    def _name(self, path: str) -> str:
        """Return a name that no tensor has."""
        assert self.tensors is not None
        while path in self.tensors:
            path += "'"
        return path

    def _object(self, value: Any, path: str) -> Any:
        kind = type(value)
        if CLASSES.get(kind.__name__) is not kind:
            raise InvalidType(
                f"cannot store {path}: a model file holds numbers, text, arrays and adaline's own objects, "
                f"never code or other objects, and this is of type {kind.__qualname__}"
            )
        if id(value) in self.objects:
            return {"same": self.objects[id(value)]}
        if not isinstance(value, tuple):
            known = {*fields_of(kind), "_native"}
            own = (name for name in own_attributes(value) if name not in known)
            if unknown := [name for name in own if not isinstance(getattr(kind, name, 0), cached_property)]:
                raise InvalidType(f"cannot store {path}: {kind.__name__} has no field {', '.join(unknown)}")
        tree = {kind.__name__: self._named(kept_fields(value), path)}
        self.objects[id(value)] = len(self.objects)
        self.alive.append(value)
        return tree

    def _type(self, value: type[Any], path: str) -> Any:
        for name, known in TYPES.items():
            if known is value:
                return {"type": name}
        raise InvalidType(f"cannot store {path}: the type {value.__qualname__} is none of {', '.join(TYPES)}")

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
        path = self._name(path)
        self.tensors[path] = np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")
        axes, gaps = layout(array)
        if axes == list(range(1, array.ndim + 1)) and not gaps:
            return {"tensor": path}
        return {"tensor": {"name": path, "axes": axes, "gaps": gaps}}

    def _values(self, array: Anything, path: str) -> Any:
        name, values = array.dtype.name, array
        if array.dtype.kind == "U":
            name = f"<U{array.dtype.itemsize // 4}"
            if not self.text.takes(name, array.ravel().tolist()):
                raise InvalidType(f"cannot store {path}: {array.size} texts of type {name} take too much room")
        elif array.dtype.kind in "mM":
            values = array.astype(np.int64)
        elif name not in NUMBERS and name != "object":
            raise InvalidType(f"cannot store {path}: an array of type {array.dtype}")
        items = self._each(values.ravel().tolist(), path)
        return {"array": {"dtype": name, "shape": list(array.shape), "values": items}}


class _Reader:
    """Trees to objects."""

    def __init__(self, tensors: dict[str, Anything], layout: FileLayout) -> None:
        self.tensors, self.layout = tensors, layout
        self.laid_out: dict[str, Anything] = {}
        self.made: list[Any] = []
        self.unpacked: set[str] = set()
        self.text = _Text()
        self.depth = 0

    def named(self, trees: Any) -> dict[str, Any]:
        return {name: self.read(tree) for name, tree in typed(trees, dict).items()}

    def read(self, tree: Any) -> Any:
        if not isinstance(tree, dict | list):
            return tree
        if self.depth >= DEEPEST:
            raise ValueError(f"more than {DEEPEST} values inside each other")
        self.depth += 1
        out = [self.read(item) for item in tree] if isinstance(tree, list) else self._tagged(tree)
        self.depth -= 1
        return out

    def _tagged(self, tree: dict[str, Any]) -> Any:
        if len(tree) != 1:
            raise ValueError("an object of the tree must have one key")
        ((tag, inner),) = tree.items()
        if tag in CLASSES:
            return self._object(CLASSES[tag], inner)
        match tag:
            case "tuple":
                return tuple(typed(self.read(inner), list))
            case "dict":
                return {self.read(key): self.read(value) for key, value in typed(inner, list)}
            case "float" if inner in ("nan", "inf", "-inf"):
                return float(inner)
            case "scalar":
                name, value = typed(inner, list)
                return np.str_(typed(value, str)) if name == "str" else _number(name).type(self.read(value))
            case "tensor":
                return self._tensor(inner)
            case "json":
                if inner in self.unpacked:
                    raise ValueError(f"the list {inner!r} is used twice")
                self.unpacked.add(typed(inner, str))
                values = typed(json.loads(self._tensor(inner).tobytes()), list)
                if all(map(_is_plain, values)):
                    return values
            case "array":
                return self._values(exactly(inner, ("dtype", "shape", "values")))
            case "same":
                if type(inner) is int and 0 <= inner < len(self.made):
                    return self.made[inner]
            case "slice":
                return slice(*(one if type(one) is str else typed_index(one) for one in typed(inner, list)))
            case "selector":
                names = ("pattern", "dtype_include", "dtype_exclude")
                pattern, *kinds = (self.read(one) for one in exactly(inner, names).values())
                if type(pattern) in (str, type(None)) and all(map(_are_types, kinds)):
                    return _steps().make_column_selector(pattern, dtype_include=kinds[0], dtype_exclude=kinds[1])
            case "dtype" if type(inner) is str and (inner in NUMBERS or inner == "object"):
                return np.dtype(inner)
            case "type" if type(inner) is str and inner in TYPES:
                return TYPES[inner]
            case "system" | "basis" | "step":
                parts = exactly(inner, ("name", "parameters", "state"))
                known = _steps().STEPS if tag == "step" else NESTED[tag]
                if parts["name"] not in known:
                    raise ValueError(f"unknown {tag} {str(parts['name'])[:40]!r}")
                arguments, state = (self.named(parts[key]) for key in ("parameters", "state"))
                return self.layout.system(known[parts["name"]], arguments, state)
            case "criterion":
                parts = exactly(inner, ("name", "fields"))
                return criterion_of(parts["name"], self.named(parts["fields"]))
            case "Status" if inner in Status.__members__:
                return Status[inner]
        raise ValueError(f"unknown: {str(tag)[:40]!r}")

    def _object(self, cls: type[Any], inner: Any) -> Any:
        fields = self.layout.fields(cls, self.named(inner))
        if issubclass(cls, Scan):
            made = object.__new__(cls)
            give_attributes(made, {**fields, "_native": None})
        else:
            made = cls(**fields)
        self.made.append(made)
        return made

    def _tensor(self, inner: Any) -> Anything:
        plain = isinstance(inner, str)
        name, axes, gaps = (inner, [], False) if plain else exactly(inner, ("name", "axes", "gaps")).values()
        if name not in self.tensors:
            raise ValueError(f"no tensor {str(name)[:40]!r}")
        if name not in self.laid_out:
            array = self.tensors[name]
            self.laid_out[name] = array if plain else laid_out(array, typed(axes, list), typed(gaps, bool))
        return self.laid_out[name]

    def _values(self, parts: dict[str, Any]) -> Anything:
        name, shape = typed(parts["dtype"], str), typed(parts["shape"], list)
        values = typed(self.read(parts["values"]), list)
        if not all(type(n) is int and n >= 0 for n in shape) or math.prod(shape) != len(values):
            raise ValueError("an array's shape and values differ")
        if name == "object":
            out = np.empty(len(values), dtype=object)
            for i, value in enumerate(values):
                out[i] = value
        elif TEXT.fullmatch(name):
            if not self.text.takes(name, [typed(value, str) for value in values]):
                raise ValueError(f"{len(values)} texts of type {name} take too much room")
            out = np.array(values, dtype=name)
        elif DATE.fullmatch(name):
            out = np.array(values, dtype=np.int64).view(name)
        else:
            out = np.array(values, dtype=_number(name))
        return out.reshape(shape)


def _is_plain(value: Any) -> bool:
    """Whether a value is JSON as it is."""
    return value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))


def typed(value: Any, kind: type[Any]) -> Any:
    """Return a value of exactly this type; refuse others."""
    if type(value) is not kind:
        raise ValueError(f"expected {kind.__name__}, found {type(value).__name__}")
    return value


def typed_index(value: Any) -> int | None:
    """Return an index of a slice, or None; refuse others."""
    return None if value is None else int(typed(value, int))


def _are_types(kinds: Any) -> bool:
    """Whether a value names types of columns: one, a list of them, or none."""
    each = kinds if isinstance(kinds, list) else [kinds]
    return all(one is None or type(one) is str or (isinstance(one, type) and one in TYPES.values()) for one in each)


def exactly(inner: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return an object with exactly these fields; refuse others."""
    if set(typed(inner, dict)) != set(names):
        raise ValueError(f"expected the fields {', '.join(names)}")
    return {name: inner[name] for name in names}


def parts_of_criterion(value: Any) -> dict[str, Any]:
    """Return the fields of a loss or an activation."""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def criterion_of(name: Any, values: dict[str, Any]) -> Any:
    """Return the loss or activation of this name; refuse other fields than it has."""
    found = next((cls for cls, known in CRITERIA.items() if known == name), None)
    if found is None:
        raise ValueError(f"unknown loss or activation {str(name)[:40]!r}")
    fields = exactly(values, tuple(field.name for field in dataclasses.fields(found)))
    if not all(type(value) in (int, float, *CRITERIA) or value == "auto" for value in fields.values()):
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
