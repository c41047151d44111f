"""The prediction of a model as a tree: columns, numbers, arithmetic, choices by levels and intervals.

A node is missing where `predict` refuses a row: NULL in SQL, NaN in C and JavaScript, None in Python. Arithmetic with a
missing number is missing; a comparison with one is false. Nodes take Python's operators and numpy's functions, so that
an expression of a formula becomes a tree by being called with nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from adaline.arrays import Array

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "neg": np.negative,
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
}
"""The functions of numbers, by the names of their nodes."""
COMPARISONS: dict[str, Callable[..., Any]] = {
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "equal": np.equal,
    "not_equal": np.not_equal,
}
NAMES = {function: name for name, function in (*FUNCTIONS.items(), *COMPARISONS.items())}

SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
COMPARED = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!="}
STRENGTH = {"add": 1, "sub": 1, "mul": 2, "div": 2}
"""How arithmetic and comparisons are written, and how strongly arithmetic binds."""
Label = str | int | float | bool
Operand = Any
"""A node, or a number."""


@dataclass(frozen=True)
class Input:
    """A raw column that a prediction reads.

    Parameters
    ----------
    name : of the column.
    kind : "number", "boolean", "date" (days since 1970), "text", compared without the blanks around it where no level
        has them, or "verbatim", a text compared with them.
    """

    name: str
    kind: str

    @property
    def is_text(self) -> bool:
        """Whether the column holds texts."""
        return self.kind in ("text", "verbatim")


@dataclass(frozen=True)
class Breaks:
    """Rising numbers between intervals.

    Parameters
    ----------
    numbers : the breaks.
    closed_left : whether a number that equals a break belongs to the interval above it; else to that below.
    inside : whether what lies beyond the outermost breaks is unknown; else it has intervals of its own.
    """

    numbers: tuple[float, ...]
    closed_left: bool
    inside: bool


@dataclass(frozen=True, eq=False)
class Node:
    """An operation on other nodes; compared by identity.

    Parameters
    ----------
    name : of the operation: a function or comparison of this module, or
        "number", `value`; "missing"; "input", the `Input`; "finite", its argument where it is finite, else missing;
        "is_finite";
        "is_missing"; "erfc"; "where", of a condition; "and", of conditions;
        "level", the index of an input among the levels in `value`; "interval", that of a number among the intervals of
        the `Breaks` in `value`; "choose", of the node of a level or interval, a node for each index, one for
        unknown levels and one where it is missing; "label", that of the largest argument among those in `value`, or
        of two by whether the only argument is above zero.
    arguments : the nodes it is of.
    value : a constant of it.
    """

    name: str
    arguments: tuple[Node, ...] = ()
    value: Any = None
    __array_priority__: ClassVar[float] = 1e6

    def __array_ufunc__(
        self, function: Callable[..., object], method: str, *given: Operand, **options: object
    ) -> Operand:
        if method != "__call__" or options:
            return NotImplemented
        if function is np.isnan:
            return Node("is_missing", (node(given[0]),))
        if function is np.positive:
            return given[0]
        return NotImplemented if function not in NAMES else apply(NAMES[function], *given)

    def __array_function__(
        self, function: Callable[..., object], types: object, given: tuple[Operand, ...], options: object
    ) -> Operand:
        if function is not np.where:
            return NotImplemented
        condition, yes, no = given
        return where(condition, yes, as_float(no) if isinstance(no, Node) and no.name in COMPARISONS else no)

    def __add__(self, other: Operand) -> Node:
        return apply("add", self, other)

    def __radd__(self, other: Operand) -> Node:
        return apply("add", other, self)

    def __sub__(self, other: Operand) -> Node:
        return apply("sub", self, other)

    def __rsub__(self, other: Operand) -> Node:
        return apply("sub", other, self)

    def __mul__(self, other: Operand) -> Node:
        return apply("mul", self, other)

    def __rmul__(self, other: Operand) -> Node:
        return apply("mul", other, self)

    def __truediv__(self, other: Operand) -> Node:
        return apply("div", self, other)

    def __rtruediv__(self, other: Operand) -> Node:
        return apply("div", other, self)

    def __pow__(self, other: Operand) -> Node:
        return apply("pow", self, other)

    def __rpow__(self, other: Operand) -> Node:
        return apply("pow", other, self)

    def __neg__(self) -> Node:
        return apply("neg", self)

    def __lt__(self, other: Operand) -> Node:
        return apply("less", self, other)

    def __gt__(self, other: Operand) -> Node:
        return apply("greater", self, other)


MISSING = Node("missing")


def constant(value: float | Array) -> Node:
    """Return the node of a number."""
    return Node("number", value=float(value))


def node(value: Operand) -> Node:
    """Return a node, or that of a number."""
    return value if isinstance(value, Node) else MISSING if math.isnan(value) else constant(value)


def is_number(one: Node, value: float | None = None) -> bool:
    """Whether a node is a number, or that number."""
    return one.name == "number" and (value is None or one.value == value)


def apply(name: str, *given: Operand) -> Node:
    """Return a function or comparison of nodes and numbers; of numbers alone its value."""
    arguments = tuple(map(node, given))
    if MISSING in arguments and name in FUNCTIONS:
        return MISSING
    if name in FUNCTIONS and all(map(is_number, arguments)):
        with np.errstate(all="ignore"):
            return node(float(FUNCTIONS[name](*(np.float64(one.value) for one in arguments))))
    first, last = arguments[0], arguments[-1]
    if (name == "add" and is_number(first, 0.0)) or (name == "mul" and is_number(first, 1.0)):
        return last
    if (name in ("add", "sub") and is_number(last, 0.0)) or (name in ("mul", "div", "pow") and is_number(last, 1.0)):
        return first
    if name == "pow" and is_number(last) and last.value.is_integer() and 2 <= last.value <= 8:
        return whole_power(first, int(last.value))
    found = Node(name, arguments)
    if name in ("min", "max"):  # databases and C leave out what is missing
        for one in arguments:
            found = found if is_number(one) else where(if_missing(one), MISSING, found)
    return found


def whole_power(x: Node, exponent: int) -> Node:
    """Return a whole power, by products of halves."""
    if exponent == 1:
        return x
    half = whole_power(x, exponent // 2)
    return half * half if exponent % 2 == 0 else half * half * x


def where(condition: Node, yes: Operand, no: Operand) -> Node:
    """Return one of two nodes by a condition, the second where it compares with a missing number."""
    return Node("where", (condition, node(yes), node(no)))


def as_float(condition: Node) -> Node:
    """Return 1 where a condition holds, else 0."""
    return where(condition, 1.0, 0.0)


def both(conditions: Sequence[Node]) -> Node:
    """Return the condition that all of some hold."""
    return conditions[0] if len(conditions) == 1 else Node("and", tuple(conditions))


def if_missing(x: Node) -> Node:
    """Return the condition that a node is missing."""
    return Node("is_missing", (x,))


def finite(x: Node) -> Node:
    """Return a number where it is finite, and missing elsewhere: `predict` refuses such rows."""
    return x if x.name == "finite" else Node("finite", (x,))


def choose(index: Node, options: Iterable[Operand], unknown: Operand = MISSING, absent: Operand = MISSING) -> Node:
    """Return a node by the index of a level or of an interval."""
    return Node("choose", (index, *map(node, options), node(unknown), node(absent)))


def level(of: Node, levels: Sequence[Label]) -> Node:
    """Return the index of an input among levels: texts, or numbers."""
    return Node("level", (of,), tuple(levels))


def interval(x: Node, breaks: Breaks) -> Node:
    """Return the index of the interval that a number is in."""
    return Node("interval", (x,), breaks)


def call(name: str, x: Node) -> Node:
    """Return a function of one node, such as call("exp", x)."""
    return apply(name, x)


def erfc(x: Node) -> Node:
    """Return 1 - erf(x)."""
    return Node("erfc", (x,))


def total(parts: Iterable[Operand]) -> Node:
    """Return a sum, from the first to the last."""
    return reduce(lambda left, right: left + right, parts, constant(0.0))


def combination(weights: Array, nodes: Sequence[Node], start: float = 0.0) -> Node:
    """Return start + sum_k weights_k nodes_k, from the first to the last; nodes of weight zero are left out."""
    return total([constant(start), *(float(w) * one for w, one in zip(weights, nodes, strict=True) if w != 0)])


def largest(nodes: Sequence[Node]) -> Node:
    """Return the largest of some numbers that are not missing."""
    return reduce(lambda left, right: Node("max", (left, right)), nodes)
