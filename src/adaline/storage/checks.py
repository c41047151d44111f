"""Checks of a model that was read: the forms of its fields, how they fit together, and one row predicted.

A file may come from a stranger, with valid checksums. So nothing is returned before it is checked: each field against
its annotation (`adaline.forms`), and each object against the relations that its methods rely on (`relations.py`).
"""

from __future__ import annotations

import copy
import inspect
from dataclasses import replace
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args

import numpy as np

from adaline.attributes import own_attributes
from adaline.basis import Basis
from adaline.construction import check_values, checks_of
from adaline.fitted import AnyModel
from adaline.forms import FieldValue, Sizes
from adaline.input.system import System, columns_on
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.state import HELD, as_fitted, change_state
from adaline.storage.fields import CLASSES, OUTPUT, fields_of, names_beside, origin_of, state_class
from adaline.storage.relations import RELATIONS, Misfit, basis_size, refuse_unequal, refuse_unless
from adaline.systems import SYSTEMS
from adaline.systems.families.online_classifier import OnlineClassifier
from adaline.systems.generalized_linear import GeneralizedLinear
from adaline.systems.lms import LMS

ALWAYS: dict[type[Any], tuple[str, ...]] = {
    OnlineClassifier: ("classes", "targets"),
    LMS: ("flat",),
}
"""Fields that are optional in a state that several systems share, and that these systems always learn."""


def check_model(model: AnyModel) -> None:
    """Refuse a system that is not whole: forms, relations, constructor arguments, and one row predicted on trial."""
    sizes: Sizes = {}
    check_fitted(model, sizes)
    if not sizes["F"]:  # a constant alone, which no array can be given to
        return
    trial = copy.copy(model)
    known = model._state.by_name()
    blank: dict[str, Any] = dict.fromkeys({"names", "with_offset"} & known.keys())  # the row has none, and no levels
    if known.get("fits") and isinstance(known["fits"][0], LikelihoodFit):
        blank["fits"] = [replace(fit, offset=False) for fit in known["fits"]]
    change_state(trial, columns=columns_on(model)._replace(names=None, coding=None), **blank)
    bounded = isinstance(trial, GeneralizedLinear) and trial._fitted_with.of_row().linked is not None
    with np.errstate(all="ignore"):  # where means are bounded, the row may have none
        (trial._outputs if bounded else trial.predict)(np.zeros((1, sizes["F"])))


def check_fitted(model: AnyModel, sizes: Sizes) -> None:
    """Refuse a system or a basis whose arguments or state are not as fit leaves them; `sizes` are then known."""
    cls = type(model)
    arguments = _check_arguments(model)
    beside = {name: value for name, value in own_attributes(model).items() if name not in (*arguments, HELD)}
    forms = names_beside(cls)
    if more := beside.keys() - forms.keys():
        raise Misfit(f"{cls.__name__} has no {min(more)}")
    for name, value in beside.items():
        require(value, forms[name], sizes, f"{name} of {cls.__name__}")
    state, wanted = model._state, state_class(cls)
    if (state is None) != (wanted is None) or (isinstance(model, Basis) and "n_features_in_" not in beside):
        raise Misfit(f"{cls.__name__} is not fitted")
    if isinstance(model, System):
        _check_columns(model, sizes)
    if state is not None:
        _check_fields(state, sizes, cls.__name__, but="columns")
    if isinstance(model, System):
        kind: Any = cls
        checks = checks_of(kind)
        for name, value in own_attributes(model._fitted_with).items():
            checks[name].check(name, value)
        model = as_fitted(model)
    for base in cls.__mro__:
        for name in ALWAYS.get(base, ()):
            refuse_unless(getattr(state, name) is not None, f"{cls.__name__} lacks {name}")
        if base in RELATIONS:
            RELATIONS[base](model, sizes)


def _check_columns(model: AnyModel, sizes: Sizes) -> None:
    """Refuse columns that do not fit together; D is then known, and of a filter S."""
    columns = model._state.columns
    check_object(columns, sizes)
    width = columns.count
    if columns.basis is not None:
        refuse_unequal(columns.basis.n_features_in_, width, "columns of the basis")
        width = basis_size(columns.basis)
    refuse_unequal(sizes.setdefault("S" if hasattr(model, "taps") else "D", width), width, "columns")


def _check_arguments(model: AnyModel) -> list[str]:
    """Refuse constructor arguments that are not valid; return their names."""
    check_values(model)
    names = list(inspect.signature(type(model)).parameters)
    for name in names:
        value = getattr(model, name)
        for one in value if isinstance(value, list | tuple) else [value]:
            if isinstance(one, Basis) or type(one) in SYSTEMS.values():
                _check_inner(one)
    return names


def _check_inner(model: AnyModel) -> None:
    """Refuse a system or a basis inside another that is neither as its constructor nor as fit leaves it."""
    more = own_attributes(model).keys() - {*inspect.signature(type(model)).parameters, OUTPUT}
    if more:
        check_fitted(model, {})
    else:
        _check_arguments(model)


def _check_fields(made: Any, sizes: Sizes, owner: str, but: str = "") -> None:
    """Refuse an object of which a field, but for one, is not of its annotation."""
    for name, field in fields_of(type(made)).items():
        value = getattr(made, name)
        if field.kept and value is not field.default and name != but:
            require(value, field.hint, sizes, f"{name} of {owner}")


def check_object(made: Any, sizes: Sizes) -> None:
    """Refuse an object whose fields are not of their annotations, or do not fit together."""
    cls = type(made)
    _check_fields(made, sizes, cls.__name__)
    for base in cls.__mro__:
        if base in RELATIONS:
            RELATIONS[base](made, sizes)


def require(value: FieldValue, hint: FieldValue, sizes: Sizes, where: str) -> None:
    """Refuse a value that is not of an annotation, and say where it is."""
    if not _fits(value, hint, sizes):
        raise Misfit(f"{where} is not {_in_words(hint)}")


def _fits(value: Any, hint: Any, sizes: Sizes) -> bool:
    """Whether a value is of an annotation; sizes that were not known are then."""
    inner = get_args(hint)
    match origin_of(hint):
        case None:
            return _is_one(value, hint, sizes)
        case origin if origin is Annotated:
            return _fits(value, inner[0], sizes) and all(form.holds(value, sizes) for form in inner[1:])
        case origin if origin is Union or origin is UnionType:
            for one in inner:
                tried = dict(sizes)
                if _fits(value, one, tried):
                    sizes |= tried
                    return True
            return False
        case origin if origin is Literal:
            return any(type(value) is type(one) and value == one for one in inner)
        case origin if origin is np.ndarray:
            return type(value) is np.ndarray
        case origin if origin is list or origin is tuple:
            return type(value) is origin and _each(value, inner[0], sizes)
        case origin if origin is dict:
            return type(value) is dict and _each(value, inner[0], sizes) and _each(value.values(), inner[1], sizes)
    return False  # a function


def _each(values: Any, hint: Any, sizes: Sizes) -> bool:
    """Whether all items are of an annotation, in sizes of their own but for D."""
    for value in values:
        own = {"D": sizes["D"]} if "D" in sizes else {}
        if not _fits(value, hint, own):
            return False
        if "D" in own:
            sizes["D"] = own["D"]
    return True


def _is_one(value: Any, kind: Any, sizes: Sizes) -> bool:
    """Whether a value is of a class; objects, systems and bases are checked."""
    if kind is Any:
        return True
    if kind in (str, float) or issubclass(kind, Enum | np.generic):  # texts and floats may be those of NumPy
        return isinstance(value, kind)
    if kind is int:
        return type(value) is int and abs(value) < 2**63
    if kind in (bool, NoneType):
        return type(value) is kind
    if issubclass(kind, Basis | System):
        if not isinstance(value, Basis) if issubclass(kind, Basis) else type(value) not in SYSTEMS.values():
            return False
        check_fitted(value, {}) if issubclass(kind, Basis) else _check_inner(value)  # a machine may have had no rows
        return True
    if not isinstance(value, kind) or type(value) not in CLASSES.values():
        return False
    check_object(value, sizes)
    return True


def _in_words(hint: Any) -> str:
    """Return an annotation in words."""
    inner = get_args(hint)
    match origin_of(hint):
        case None:
            return "None" if hint is NoneType else str(getattr(hint, "__name__", hint))
        case origin if origin is Annotated:
            return " and ".join(map(str, inner[1:]))
        case origin if origin is Union or origin is UnionType:
            return " or ".join(map(_in_words, inner))
        case origin if origin is Literal:
            return " or ".join(map(repr, inner))
        case origin if origin is np.ndarray:
            return "an array"
        case origin if origin is dict:
            return f"a dict of {_in_words(inner[0])} to {_in_words(inner[1])}"
    return f"a {origin_of(hint).__name__} of {_in_words(inner[0])}" if inner else str(hint)
