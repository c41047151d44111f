"""Forms of fields: what each accepts and refuses, and that every field of a state that is stored has one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any, TypeVar, get_args

import numpy as np
import pytest
from numpy.typing import NDArray
from typing_extensions import TypeAliasType

from adaline.basis import BASES
from adaline.forms import (
    Ascending,
    ClassesOf,
    Count,
    Finite,
    FiniteNumber,
    Floats,
    Form,
    Integers,
    LabelsOf,
    NotNegative,
    Positive,
    PositiveNumber,
    RowsOf,
    Shares,
    Size,
    Strings,
    Truths,
    one_of_words,
)
from adaline.storage.fields import CLASSES, KNOWN, fields_of, origin_of, state_class

NONE, MIXED = np.zeros(0), np.array(["a", 1, 0.5, True], dtype=object)
CASES: list[tuple[Form, list[Any], list[Any]]] = [
    (get_args(Count)[1], [0, 7], [-1, 2**63]),
    (get_args(FiniteNumber)[1], [0.0, -1e308], [math.inf, math.nan]),
    (get_args(PositiveNumber)[1], [5e-324], [0.0, -1.0, math.inf, math.nan]),
    (one_of_words("a", "b"), ["a"], ["c", ""]),
    (Floats("."), [NONE, np.array([math.nan])], [np.zeros(1, np.float32), np.zeros(1, int), [0.0], np.zeros((1, 1))]),
    (Finite("."), [NONE, np.ones(2)], [np.array([math.nan]), np.array([math.inf]), np.ones(1, bool)]),
    (Positive("."), [NONE, np.ones(2)], [np.array([0.0]), np.array([math.inf]), np.array([1.0, math.nan])]),
    (NotNegative("."), [np.array([0.0, math.nan, math.inf])], [np.array([-5e-324])]),
    (Ascending("."), [NONE, np.array([1.0, 1.0, 2.0])], [np.array([1.0, 0.5]), np.array([0.0, math.nan])]),
    (Shares("."), [np.array([0.25, 0.75]), np.ones(1)], [NONE, np.array([0.5, 0.4]), np.array([1.5, -0.5])]),
    (RowsOf("."), [np.ones(2, np.float32), np.ones(2)], [np.ones(2, int), np.array([math.nan])]),
    (Integers("."), [np.ones(2, np.int8), np.ones(2, np.uint64)], [np.ones(2), np.ones(2, bool)]),
    (Truths("."), [np.ones(2, bool)], [np.ones(2, np.int8)]),
    (Strings("."), [np.array(["a"]), np.array(["a"], object)], [np.array(["a", 1], object), np.ones(1)]),
    (LabelsOf("."), [MIXED, np.array(["2024-01-01"], "datetime64[D]")], [np.array([None]), np.ones(1, complex)]),
    (
        ClassesOf("."),
        [np.array(["a", "b"]), np.array([0.0, 2.0]), np.array([False, True])],
        [np.array(["b", "a"]), np.array(["a", "a"]), np.array([0.5]), np.array([2.0**53])],
    ),
]


@pytest.mark.every
@pytest.mark.parametrize(("form", "good", "bad"), CASES, ids=lambda one: str(one) if isinstance(one, Form) else "")
def test_what_a_form_accepts_and_refuses(form: Form, good: list[Any], bad: list[Any]) -> None:
    assert [form.holds(value, {}) for value in good] == [True] * len(good)
    assert [form.holds(value, {}) for value in bad] == [False] * len(bad)


def test_sizes_of_one_name_are_equal() -> None:
    sizes: dict[str, int] = {}
    form = Finite("D", "K 1+D", "2 .")
    assert form.holds(np.ones(3), sizes)
    assert form.holds(np.ones((2, 4)), sizes)
    assert sizes == {"D": 3, "K": 2}
    assert not form.holds(np.ones((3, 4)), sizes)
    assert form.holds(np.ones((2, 9)), sizes)  # the third shape
    assert not Finite("1+E").holds(np.ones(0), {})
    assert Size("D").holds(3, sizes)
    assert not Size("D").holds(4, sizes)
    assert not Size("E").holds(-1, sizes)
    assert Size("K", len).holds(["a", "b"], sizes)
    assert not Size("K", len).holds(["a"], sizes)
    assert sizes == {"D": 3, "K": 2}


def test_an_alias_is_one_of_what_it_stands_for() -> None:
    """As `NDArray` is with NumPy 2.5 on Python 3.12."""
    kind = TypeVar("kind", bound=np.generic)
    alias = TypeAliasType("alias", np.ndarray[tuple[int, ...], np.dtype[kind]], type_params=(kind,))
    assert origin_of(alias) is origin_of(alias[np.float64]) is origin_of(NDArray[np.float64]) is np.ndarray
    assert origin_of(list[int]) is list
    assert origin_of(int) is None


def unchecked(hint: Any) -> Iterator[Any]:
    """Yield the parts of an annotation that no form speaks of: anything at all, and arrays of any shape."""
    kind: object = origin_of(hint)
    if kind is Annotated:
        inner = get_args(hint)[0]
        yield from () if inner is Any or origin_of(inner) is np.ndarray else unchecked(inner)
    elif hint is Any or hint is object or kind is np.ndarray or hint is np.ndarray:
        yield hint
    else:
        for one in get_args(hint):
            yield from unchecked(one)


def test_every_field_that_is_stored_has_a_form() -> None:
    states = [state for cls in (*KNOWN.values(), *BASES.values()) if (state := state_class(cls)) is not None]
    assert len(CLASSES) > 40
    assert [
        f"{cls.__name__}.{name}"
        for cls in (*CLASSES.values(), *states)
        for name, field in fields_of(cls).items()
        if field.kept and list(unchecked(field.hint))
    ] == []
