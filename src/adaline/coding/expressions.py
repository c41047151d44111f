"""Expressions of formulas: columns, numbers, + - * / **, and a few functions. Nothing is executed as code.

An expression is parsed by Python's own parser, and everything but the operators and functions below is refused, so that
a formula, or a model file with one, cannot run code.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidParameter

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "I": np.asarray,
    "abs": np.abs,
    "cos": np.cos,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
}
OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


MOST_PARTS = 200  # of an expression: names, numbers, operators, calls

Function = Callable[[Mapping[str, Array]], Any]


def names_in(text: str) -> list[str]:
    """Return the columns that an expression reads, in order, each once; refuse texts that are no expression."""
    return list(dict.fromkeys(_compiled(text)[0]))


def evaluate(text: str, columns: Mapping[str, Array]) -> Array:
    """Return the value of an expression for all rows, (n,)."""
    with np.errstate(all="ignore"):  # sums refuse what is not finite
        return np.asarray(_compiled(text)[1](columns), dtype=np.float64)


@cache
def _compiled(text: str) -> tuple[tuple[str, ...], Function]:
    """Return the columns of an expression, and a function from columns to its value."""
    tree, quoted = _parsed(text)
    names: list[str] = []
    parts = 0

    def build(node: ast.expr) -> Function:
        nonlocal parts
        parts += 1
        if parts > MOST_PARTS:
            raise InvalidParameter(f"an expression of the formula has more than {MOST_PARTS} parts: make it a column")
        match node:
            case ast.Name(id=word):
                name = quoted.get(word, word)
                names.append(name)
                return lambda columns: columns[name]
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                number = np.float64(value) if abs(value) < 1e300 else np.float64("inf")
                return lambda columns: number
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                one, other, apply = build(left), build(right), OPERATORS[type(op)]
                return lambda columns: apply(one(columns), other(columns))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                plus = build(operand)
                return lambda columns: -plus(columns)
            case ast.Call(func=ast.Name(id=name), args=[only], keywords=[]) if name in FUNCTIONS:
                inner, function = build(only), FUNCTIONS[name]
                return lambda columns: function(inner(columns))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name), args=args, keywords=[]):
                return build(ast.Call(func=ast.Name(id=name), args=args, keywords=[]))
        raise InvalidParameter(
            f"cannot read {ast.unparse(node)!r} in the formula's {text!r}: there are columns, numbers, + - * / **, "
            f"C(column) and {', '.join(FUNCTIONS)}"
        )

    function = build(tree)
    return tuple(names), function


def _parsed(text: str) -> tuple[ast.expr, dict[str, str]]:
    """Return the syntax tree, and the backquoted names by the identifiers that replaced them."""
    quoted: dict[str, str] = {}
    parts = text.split("`")
    for i in range(1, len(parts), 2):
        word = f"_quoted_{i}"
        quoted[word], parts[i] = parts[i], word
    try:
        if len(parts) % 2 == 0:
            raise SyntaxError
        return ast.parse("".join(parts), mode="eval").body, quoted
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidParameter(f"cannot read {text!r} in the formula") from None
