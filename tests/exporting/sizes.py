"""How large the terms of a prediction are: what rounding in one order or another may change, row by row."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from adaline.arrays import Array
from adaline.exporting import Prediction
from adaline.exporting.graph import by_dependence
from adaline.exporting.tree import COMPARISONS, FUNCTIONS, Node

Sized = tuple[Array, Array]
"""Values, and their sizes: the largest that they could be if no terms cancelled, times what functions amplify."""


def sizes(prediction: Prediction, frame: pd.DataFrame) -> dict[str, Array]:
    """Return the size of each output for each row; the value itself where nothing cancels."""
    nodes = {name: one for found in prediction.outputs.values() for name, one in found.items()}
    known: dict[int, Sized] = {}
    with np.errstate(all="ignore"):
        for one in by_dependence(nodes.values()):
            known[id(one)] = _sized(one, [known[id(part)] for part in one.arguments], frame)
    return {name: known[id(one)][1] for name, one in nodes.items()}


def _sized(one: Node, given: list[Sized], frame: pd.DataFrame) -> Sized:
    n, name = len(frame), one.name
    if name in ("number", "missing"):
        value = np.full(n, one.value if name == "number" else np.nan)
        return value, np.abs(value)
    if name == "input":
        if one.value.is_text:
            return frame[one.value.name].to_numpy(dtype=object), np.zeros(n)
        value = _numbers(frame[one.value.name])
        return value, np.abs(value)
    if name == "level":
        return _indices(given[0][0], one.value, one.arguments[0]), np.zeros(n)
    if name == "interval":
        x, breaks = given[0][0], np.array(one.value.numbers)
        index = np.searchsorted(breaks, x, side="right" if one.value.closed_left else "left")
        if one.value.inside:
            index = np.where((index > 0) & (index < len(breaks)), index - 1, len(breaks) - 1)
        return np.where(np.isnan(x), -1.0, index), np.zeros(n)
    if name == "choose":
        (index, _), *options = given
        at = np.where(index < 0, len(options) + index, index).astype(int)
        return tuple(
            np.choose(at, [one[k] for one in options])
            if len(options) < 32
            else np.array([one[k] for one in options])[at, np.arange(n)]
            for k in (0, 1)
        )  # type: ignore[return-value]
    if name == "where":
        (yes, _), *both = given
        return tuple(np.where(yes.astype(bool), *(part[k] for part in both)) for k in (0, 1))  # type: ignore[return-value]
    if name in ("and", "is_finite", "is_missing", "label", *COMPARISONS):
        return CONDITIONS.get(name, COMPARISONS.get(name, lambda *_: np.zeros(n)))(*(v for v, _ in given)), np.zeros(n)
    if name == "finite":
        value, size = given[0]
        return np.where(np.isfinite(value), value, np.nan), size
    values = [value for value, _ in given]
    value = special.erfc(values[0]) if name == "erfc" else FUNCTIONS[name](*values)
    return value, np.fmax(np.abs(value), AMPLIFIED.get(name, _largest)(value, given))


def _largest(value: Array, given: list[Sized]) -> Array:
    return np.fmax.reduce([size for _, size in given])


def _product(value: Array, given: list[Sized]) -> Array:
    return given[0][1] * given[1][1]


def _quotient(value: Array, given: list[Sized]) -> Array:
    (_, top), (y, bottom) = given
    return top / np.abs(y) * (bottom / np.abs(y))


AMPLIFIED: dict[str, Callable[[Array, list[Sized]], Array]] = {
    "add": lambda value, given: given[0][1] + given[1][1],
    "sub": lambda value, given: given[0][1] + given[1][1],
    "mul": _product,
    "div": _quotient,
    "exp": lambda value, given: np.abs(value) * (1 + given[0][1]),
    "expm1": lambda value, given: np.abs(value) + np.exp(given[0][0]) * given[0][1],
    "erfc": lambda value, given: np.abs(value) * (1 + given[0][1] * (1 + np.abs(given[0][0]))),
    "log": lambda value, given: np.abs(value) + given[0][1] / np.abs(given[0][0]),
    "log1p": lambda value, given: np.abs(value) + given[0][1] / np.abs(1 + given[0][0]),
    "sqrt": lambda value, given: given[0][1] / np.abs(value),
    "pow": lambda value, given: np.abs(value) * (1 + np.abs(given[1][0]) * given[0][1] / np.abs(given[0][0])),
}
CONDITIONS: dict[str, Callable[..., Array]] = {
    "and": lambda *given: np.logical_and.reduce([one.astype(bool) for one in given]),
    "is_finite": lambda x: np.isfinite(x),
    "is_missing": lambda x: np.isnan(x),
}


def _numbers(column: Any) -> Array:
    if column.dtype.kind == "M":
        return np.asarray((column - pd.Timestamp(0)) / pd.Timedelta(days=1), dtype=np.float64)
    return np.asarray(pd.to_numeric(column, errors="coerce"), dtype=np.float64)


def _indices(values: Any, levels: tuple[Any, ...], of: Node) -> Array:
    """Return indices of levels, -2 for unknown and -1 for missing ones, as places from the end of the options."""
    places = {level: k for k, level in enumerate(levels)}

    def place(value: Any) -> int:
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return -1
        text = str(value) if isinstance(levels[0], str) else value
        trimmed = of.name == "input" and of.value.kind == "text"
        return places.get(text, places.get(text.strip(), -2) if trimmed else -2)

    return np.array([place(one) for one in values])
