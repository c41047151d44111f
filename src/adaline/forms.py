"""What a field of a fitted state holds, beyond its type: the sizes of an array, the range of a number.

    coef: Annotated[Array, Finite("D", "K D")]
    rows: Count

A model file is checked by these annotations (`adaline.storage.checks`), so a field of a state is described where it is
defined, and nowhere else.

Shapes
------
"K 1+D" is a matrix of K rows and 1 + D columns; several shapes are alternatives. D is the number of columns that a
model works on, and the same in all of it. Other letters have one value in an object and the objects in it: F columns
as given, K outputs, C classes, S signals. Items of lists, tuples and dicts have their own. A number is that size, and
"." any.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from adaline.arrays import Array

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


class Word(Form):
    """A text that is one of some words."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def holds(self, value: FieldValue, sizes: Sizes) -> bool:
        return value in self.words

    def __str__(self) -> str:
        return f"one of {', '.join(self.words)}"


@dataclass(frozen=True, repr=False)
class Size(Form):
    """A whole number that is a size of arrays."""

    name: str

    def holds(self, value: FieldValue, sizes: Sizes) -> bool:
        return bool(0 <= value < 2**63 and sizes.setdefault(self.name, value) == value)

    def __str__(self) -> str:
        return f"the number {self.name}"


@dataclass(frozen=True, repr=False)
class Length(Form):
    """A sequence with as many items as a size says."""

    name: str

    def holds(self, value: FieldValue, sizes: Sizes) -> bool:
        return sizes.setdefault(self.name, len(value)) == len(value)

    def __str__(self) -> str:
        return f"{self.name} long"


class Axes(Form):
    """An array of one of several shapes, and of one kind of numbers: `what`, with these kinds of dtypes."""

    what: ClassVar[str]
    kinds: ClassVar[str] = "f"

    def __init__(self, *shapes: str | int) -> None:
        self.shapes = tuple(str(shape).split() for shape in shapes)

    def holds(self, value: FieldValue, sizes: Sizes) -> bool:
        if type(value) is not np.ndarray or value.dtype.kind not in self.kinds or not self.has(value):
            return False
        for shape in self.shapes:
            tried = dict(sizes)
            if len(shape) == value.ndim and all(map(_is_size, value.shape, shape, [tried] * value.ndim)):
                sizes |= tried
                return True
        return False

    def has(self, value: FieldValue) -> bool:
        """Whether the items of an array of these kinds are right."""
        return True

    def __str__(self) -> str:
        return f"{self.what} ({' or '.join(', '.join(shape) for shape in self.shapes)})"


def _is_size(found: int, dim: str, sizes: Sizes) -> bool:
    more, _, name = dim.rpartition("+")
    extra = int(more or 0)
    expected = found if dim == "." else int(dim) if dim.isdigit() else sizes.setdefault(name, found - extra) + extra
    return found == expected >= extra


class Floats(Axes):
    """Numbers of float64, which may be infinite or not a number."""

    what = "float64"

    def has(self, value: FieldValue) -> bool:
        return bool(value.dtype == np.float64)


class Finite(Floats):
    """Finite numbers of float64."""

    what = "finite float64"

    def has(self, value: FieldValue) -> bool:
        return super().has(value) and bool(np.isfinite(value).all())


class Positive(Finite):
    """Finite numbers of float64 above zero."""

    what = "positive float64"

    def has(self, value: FieldValue) -> bool:
        return super().has(value) and bool((value > 0).all())


class RowsOf(Axes):
    """Finite numbers of rows of data, of any float dtype."""

    what = "finite numbers"

    def has(self, value: FieldValue) -> bool:
        return bool(np.isfinite(value).all())


class Integers(Axes):
    """Whole numbers."""

    what, kinds = "whole numbers", "iu"


class Truths(Axes):
    """Booleans."""

    what, kinds = "booleans", "b"


class Strings(Axes):
    """Texts, of a dtype for texts or objects."""

    what, kinds = "texts", "UO"

    def has(self, value: FieldValue) -> bool:
        return value.dtype.kind != "O" or all(type(item) is str for item in value.flat)


class LabelsOf(Axes):
    """Labels of classes, or levels: numbers, booleans, texts or dates."""

    what, kinds = "labels", "biufUOmM"

    def has(self, value: FieldValue) -> bool:
        return value.dtype.kind != "O" or all(isinstance(item, str | int | float) for item in value.flat)


class NotKept(Form):
    """A part of a state that model files leave out: it has its default, or else None, in a model that was loaded."""

    def holds(self, value: FieldValue, sizes: Sizes) -> bool:
        return value is None


NOT_KEPT = NotKept()

Slopes = Annotated[Array, Finite("D", "K D")]
Intercepts = FiniteNumber | Annotated[Array, Floats("K")]
PerTarget = float | Annotated[Array, Floats("K")]
Curves = dict[str, Annotated[Array, Floats(".", ". .", ". . .")]]
"""Values along a path of penalties, by name."""
