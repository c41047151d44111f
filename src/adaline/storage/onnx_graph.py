"""An ONNX graph under construction."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from adaline import __version__
from adaline.arrays import Array
from adaline.errors import InvalidData
from adaline.fitted import AnySystem, has_certificate
from adaline.storage.pipelines import first_step, last_step

OPSETS, IR_VERSION = {"": 13, "ai.onnx.ml": 2}, 8


class Graph:
    """An ONNX graph under construction: nodes, constants and outputs of one type of numbers; values have names."""

    def __init__(self, onnx: Any, dtype: np.dtype[Any]) -> None:
        self.onnx = onnx
        self.dtype = dtype
        self.number = onnx.helper.np_dtype_to_tensor_dtype(dtype)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[Any] = []
        self.inputs: dict[str, Any] = {}
        self.rows = "X"
        """The rows (n, D) that a system is given."""

    def take(self, name: str, columns: int, dtype: Any = None) -> str:
        """Declare an input (n, columns)."""
        self.inputs[name] = self._info(name, dtype or self.dtype, columns)
        return name

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node of one output and return its name."""
        name = self._name(f"{kind.lower()}_{len(self.nodes)}")
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, [name], **attributes))
        return name

    def put(self, values: Any) -> str:
        """Add a constant of its own type and return its name."""
        name = self._name(f"constant_{len(self.constants)}")
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(values, order="C"), name))
        return name

    def real(self, values: Any) -> str:
        """Add a constant of the graph's type; refuse finite numbers that it cannot hold."""
        exact = np.asarray(values, dtype=np.float64)
        with np.errstate(over="ignore"):
            cast = exact.astype(self.dtype)
        if (np.isfinite(exact) & ~np.isfinite(cast)).any():
            raise InvalidData("the coefficients or the columns are too large for float32: use dtype='float64'")
        return self.put(cast)

    def rounded(self, values: Array) -> Array:
        """Return numbers rounded to the graph's type, as float64."""
        with np.errstate(over="ignore"):
            return values.astype(self.dtype).astype(np.float64)

    def affine(self, x: str, w: Array, constant: Any, centre: Array) -> str:
        """Return (n, K) outputs w'x + constant of rows x (n, D), taken about a centre (D,)."""
        m = self.rounded(centre)
        product = self.op("MatMul", self.op("Sub", x, self.real(m)), self.real(w.T))
        return self.op("Add", product, self.real(np.broadcast_to(constant, (len(w),)) + w @ m))

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
        graph = helper.make_graph(self.nodes, type(system).__name__, inputs, self.outputs, self.constants)
        domains = sorted({node.domain for node in self.nodes} | {""})
        out = helper.make_model(
            graph,
            producer_name="adaline",
            producer_version=__version__,
            opset_imports=[helper.make_opsetid(domain, OPSETS[domain]) for domain in domains],
            ir_version=IR_VERSION,
        )
        first, last = first_step(system), last_step(system)
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

    def _name(self, name: str) -> str:
        """Return a name that is no input's."""
        return name if name not in self.inputs else self._name(f"{name}_")

    def _info(self, name: str, dtype: Any, columns: int | None) -> Any:
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        shape = ["n"] if columns is None else ["n", columns]
        return self.onnx.helper.make_tensor_value_info(name, kind, shape)
