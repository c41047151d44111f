"""What a fit has learned is one frozen value, its state; the attributes of a fitted model read that value.

A model is its parameters and one state. So a fit that succeeds is one assignment, a copy is another reference to the
same state, and a model file holds the fields of the state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import cache
from inspect import getattr_static
from types import MappingProxyType
from typing import Any, Final, Generic, Self, TypeVar, overload

import numpy as np

from adaline.attributes import give_attributes, own_attributes
from adaline.errors import InvalidData
from adaline.fitted import AnyModel
from adaline.locks import lock_of

T = TypeVar("T")
M = TypeVar("M")
S = TypeVar("S", bound="FittedState")
F = TypeVar("F", bound="FitSettings")


class Missing(Enum):
    """Marks a value that does not exist; unlike None it can be told from one, also after pickling."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING
EMPTY: Mapping[str, Any] = MappingProxyType({})
HELD = "_state"
"""Where a model keeps what its attributes show."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedState:
    """What a fit of a family of systems has learned.

    Every fit learns the fields without a default. Only some fits learn the others, whose default is None, or MISSING
    where None is a value that a fit may learn; while such a field has its default, the model has no attribute of its
    name.
    """

    def by_name(self) -> dict[str, Any]:
        """Return the fields by name, the values themselves and not copies."""
        return {name: getattr(self, name) for name in _names_in(self)}


@dataclass(frozen=True)
class FitSettings:
    """The settings of a model that its state is read with, as they were at the fit; a family of systems names its own.

    Settings that change afterwards are those of the next fit: they do not change what the model says until then.
    """

    @classmethod
    def of(cls, model: AnyModel, known: Mapping[str, Any] = EMPTY) -> Self:
        """Return the settings that a model has now, but for those that are known."""
        kind: Any = cls
        return cls(**{name: known[name] if name in known else getattr(model, name) for name in _field_names(kind)})

    def changed(self, model: AnyModel) -> dict[str, Any]:
        """Return those that the model had at the fit, and has no longer."""
        then = {name: getattr(self, name) for name in _names_in(self)}
        return {name: value for name, value in then.items() if not _are_same(value, getattr(model, name))}


NO_SETTINGS: Final = FitSettings()
"""The settings of a state that needs none: its fields alone say how to read it."""


def _are_same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and bool(one == other))


def read_only(value: T) -> T:
    """Return a value that cannot be changed through what is returned: arrays are locked, lists and dicts are copies."""
    if isinstance(value, np.ndarray):
        if value.flags.writeable:
            value.flags.writeable = False
        return value
    made: Any = value
    if type(made) is dict:
        made = {name: read_only(one) for name, one in made.items()}
    if type(made) is list:
        made = [*map(read_only, made)] if made and isinstance(made[0], np.ndarray | list | dict) else made.copy()
    return made  # type: ignore[no-any-return]


class FittedAttribute(Generic[T]):
    """An attribute of a model that reads its state: `coef_` and `_coef` both read the field `coef`.

    It does not exist where the fit did not learn that field. What a public one shows cannot be changed in place. It can
    be assigned as a whole, which replaces the state by one with a copy of the new value.
    """

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name, self.field, self.public = name, name.strip("_"), name[0] != "_"

    @overload
    def __get__(self, model: None, cls: Any = None) -> Self: ...
    @overload
    def __get__(self, model: object, cls: Any = None) -> T: ...
    def __get__(self, model: Any, cls: Any = None) -> Any:
        if model is None:
            return self
        if (state := model._state) is not None:  # nearly always: no further call
            value = getattr(state, self.field, None)
            if value is not None and value is not MISSING:
                return read_only(value) if self.public else value
        value = self.read(model)
        return self.absent(model) if value is MISSING else value

    def read(self, model: Any) -> Any:
        """Return the value of the field, MISSING before a fit and where the fit did not learn it."""
        state = model._state
        if state is None:
            return MISSING
        value = getattr(state, self.field, MISSING)
        kind: Any = type(state)
        absent = value is None and self.field in _optional_fields(kind)
        return MISSING if absent else value

    def absent(self, model: AnyModel) -> T:
        """Return the value where the model keeps none; raise where it has none."""
        raise AttributeError(f"{type(model).__name__!r} object has no attribute {self.name!r}")

    def __set__(self, model: Any, value: T) -> None:
        now = self.read(model) if self.public else MISSING
        change_state(model, **{self.field: alike(now, value, self.name)})


def alike(now: object, value: object, name: str) -> object:
    """Return what is assigned: in place of an array an array; refuse another shape, and text for numbers."""
    if not isinstance(now, np.ndarray):
        return value
    try:
        given = np.array(value, dtype=now.dtype if now.dtype.kind == "f" else None)
    except (TypeError, ValueError):
        given = np.array(None)
    if given.shape != now.shape:
        raise InvalidData(f"{name} is an array of shape {now.shape}: assign all of it at once, got {value!r}")
    return given


class FittedWith(FittedAttribute[F]):
    """The settings that a state is read with; of a model that is not fitted, those that it has."""

    def __init__(self, kind: type[F]) -> None:
        self.kind = kind

    def absent(self, model: AnyModel) -> F:
        """Return the settings of a model that is not fitted."""
        return self.kind.of(model)


def as_fitted(model: M) -> M:
    """Return a copy of a fitted model that has the settings which its state is read with."""
    made, settings = object.__new__(type(model)), model._fitted_with  # type: ignore[attr-defined]
    give_attributes(made, own_attributes(model) | {name: getattr(settings, name) for name in _names_in(settings)})
    return made


def change_state(model: AnyModel, **changed: object) -> None:
    """Replace the state of a fitted model by one that has other values in these fields."""
    with lock_of(model):
        if model._state is None:
            raise AttributeError(f"this {type(model).__name__} is not fitted: only what fit has learned can be changed")
        model._state = replace(model._state, **changed)


@cache
def _field_names(kind: type[FittedState | FitSettings]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _names_in(values: FittedState | FitSettings) -> tuple[str, ...]:
    kind: Any = type(values)
    return _field_names(kind)


@cache
def _optional_fields(state: type[FittedState]) -> frozenset[str]:
    """Return the names of the fields that some fits learn and others do not."""
    return frozenset(field.name for field in fields(state) if field.default is None)


@cache
def fitted_attributes(cls: type[Any]) -> dict[str, FittedAttribute[Any]]:
    """Return the attributes of a class of models that read what a fit has learned, by name."""
    found = {name: getattr_static(cls, name) for name in dir(cls)}
    return {name: one for name, one in found.items() if isinstance(one, FittedAttribute)}


def settings_at_fit(model: AnyModel, changed: dict[str, Any]) -> FitSettings:
    """Return the settings that a model was fitted with: those that were changed since, and the others as they are."""
    kind: Any = type(model)._fitted_with.kind
    if strange := changed.keys() - {*_field_names(kind)}:
        raise ValueError(f"{type(model).__name__} is not read with {min(strange)}")
    found: FitSettings = kind.of(model, changed)
    return found


def attributes_of(model: object) -> dict[str, Any]:
    """Return the attributes of an object by name: of a model its parameters, and what it shows of its state.

    A copy of the dictionary is read, as another thread may add to the model.
    """
    own = own_attributes(model)
    if own.pop(HELD, None) is not None:
        kind: Any = type(model)
        shown = ((name, one.read(model)) for name, one in fitted_attributes(kind).items())
        own.update((name, value) for name, value in shown if value is not MISSING)
    return own
