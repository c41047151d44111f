"""What a field of a fitted state holds, beyond its type: the sizes of an array, the range of a number.

    coef: Annotated[Array, Finite("D", "K D")]
    rows: Count

A model file is checked by these annotations (`adaline.storage.checks`), so a field of a state is described where it is
defined, and nowhere else.

Shapes
------
"K 1+D" is a matrix of K rows and 1 + D columns; several shapes are alternatives. A letter stands for one size: D, the
number of columns that a model works on, is the same in the whole model; other letters have one value in an object and
the objects inside it (F columns as given, K outputs, C classes, S signals), but separate values in each item of a list,
tuple or dict. A number stands for that size, and "." for any size.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array

SHARE_ROUNDING = 1e-6  # of the sum of shares; doubling it lets twice as wrong shares pass
Sizes = dict[str, int]
FieldValue = Any
"""A value of a field."""


class Form(ABC):
    """A condition on values of an annotated type."""

    @abstractmethod
    def holds(self, value: FieldValue, sizes: Sizes) -> bool:
        """Whether a value, of the type, satisfies the condition; sizes that were not known are known then."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, repr=False)
class Range(Form):
    """A condition on a single value, with its name."""

    name: str
    condition: Callable[[Any], bool]

    def holds(self, value: FieldValue, sizes: Sizes) -> bool:
        return self.condition(value)

    def __str__(self) -> str:
        return self.name


Int64 = Annotated[int, Range("a whole number of 64 bits", lambda value: abs(value) < 2**63)]
Count = Annotated[int, Range("a whole number of zero or more", lambda value: 0 <= value < 2**63)]
FiniteNumber = Annotated[float, Range("a finite number", math.isfinite)]
PositiveNumber = Annotated[float, Range("a finite number above zero", lambda value: 0 < value < math.inf)]


def one_of_words(*words: str) -> Range:
    """Return the condition that a text is one of some words."""
    return Range(f"one of {', '.join(words)}", lambda value: value in words)


NOT_KEPT = Range("left out of model files", lambda _: True)
"""A field that has its default, or else None, in a model that was loaded."""


@dataclass(frozen=True, repr=False)
class Size(Form):
    """A whole number that is a size of arrays, or a sequence whose length is one."""

    name: str
    count: Callable[[Any], int] = int

    def holds(self, value: FieldValue, sizes: Sizes) -> bool:
        found = self.count(value)
        return 0 <= found < 2**63 and sizes.setdefault(self.name, found) == found

    def __str__(self) -> str:
        return f"of size {self.name}"


class Axes(Form):
    """An array of one of several shapes, and of one kind of items: dtypes by their name or kind, and a condition."""

    def __init__(self, what: str, kinds: Iterable[str], condition: Callable[[Any], Any], *shapes: str | int) -> None:
        self.what, self.kinds, self.condition = what, (*kinds,), condition
        self.shapes = tuple(str(shape).split() for shape in shapes)

    def holds(self, value: FieldValue, sizes: Sizes) -> bool:
        if type(value) is not np.ndarray or not {value.dtype.kind, value.dtype.name} & {*self.kinds}:
            return False
        if not np.all(self.condition(value)):
            return False
        for shape in self.shapes:
            tried = dict(sizes)
            if len(shape) == value.ndim and all(map(_is_size, value.shape, shape, [tried] * value.ndim)):
                sizes |= tried
                return True
        return False

    def __str__(self) -> str:
        return f"{self.what} ({' or '.join(', '.join(shape) for shape in self.shapes)})"


def _is_size(found: int, dim: str, sizes: Sizes) -> bool:
    more, _, name = dim.rpartition("+")
    extra = int(more or 0)
    expected = found if dim == "." else int(dim) if dim.isdigit() else sizes.setdefault(name, found - extra) + extra
    return found == expected >= extra


def _are(kinds: Any, array: NDArray[Any]) -> bool:
    return array.dtype.kind != "O" or all(isinstance(item, kinds) for item in array.flat)


def _are_classes(labels: NDArray[Any]) -> bool:
    whole = labels.dtype.kind != "f" or ((np.abs(labels) < 2**53) & (labels == np.floor(labels))).all()
    return bool(whole) and _are(str | int | float, labels) and np.array_equal(np.unique(labels), labels)


def _are_shares(array: NDArray[Any]) -> bool:
    return bool((array >= 0).all() and abs(array.sum() - 1) < SHARE_ROUNDING)


DOUBLE = ("float64",)
Floats = partial(Axes, "float64", DOUBLE, lambda _: True)
Finite = partial(Axes, "finite float64", DOUBLE, np.isfinite)
Positive = partial(Axes, "positive float64", DOUBLE, lambda a: (a > 0) & (a < np.inf))
NotNegative = partial(Axes, "float64 not below zero", DOUBLE, lambda a: ~(a < 0))
Ascending = partial(Axes, "ascending float64", DOUBLE, lambda a: a[1:] >= a[:-1])
Shares = partial(Axes, "shares that add up to 1", DOUBLE, _are_shares)
RowsOf = partial(Axes, "finite floats", "f", np.isfinite)
Integers = partial(Axes, "whole numbers", "iu", lambda _: True)
Truths = partial(Axes, "booleans", "b", lambda _: True)
Strings = partial(Axes, "texts", "UO", partial(_are, str))
LabelsOf = partial(Axes, "labels", "biufUOmM", partial(_are, str | int | float))
ClassesOf = partial(Axes, "whole numbers, texts or booleans that are sorted, each once", "biufUOmM", _are_classes)

Slopes = Annotated[Array, Finite("D", "K D")]
Intercepts = FiniteNumber | Annotated[Array, Finite("K")]
PerTarget = float | Annotated[Array, Floats("K")]
Curves = dict[str, Annotated[Array, Floats(".", ". .", ". . .")]]
"""Values along a path of penalties, by name."""
