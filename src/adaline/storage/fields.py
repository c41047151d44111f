"""The classes that a model file may hold, and their fields, as the annotations of fitted states say.

The list is closed: it is what can be reached from the state of a system or a basis by the types of fields. A field that
is annotated `NOT_KEPT` is left out. A field with a default is written where it differs from it, and files may lack it:
so a state can get such a field without a new schema.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from enum import Enum
from functools import cache
from inspect import isclass
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from adaline.basis import BASES, Basis, Custom
from adaline.coding import Column, HashedColumn, WordColumn
from adaline.fits.additive.design import AdditiveDesign
from adaline.forms import NOT_KEPT, FieldValue, Size, Strings
from adaline.input.system import System
from adaline.scans import SCANS, Scan
from adaline.solvers.least_squares.factor import CholeskyFactor, Factor, KeptFactor, SpectralFactor
from adaline.state import FitSettings, FittedState
from adaline.systems import SYSTEMS, UNSUPERVISED

KNOWN: dict[str, type[Any]] = {**SYSTEMS, **UNSUPERVISED}
"""The systems that can be stored."""
STORED_BASES = (*(cls for cls in BASES.values() if cls is not Custom), AdditiveDesign)
"""The bases that can be stored; a user's function is code."""
FINAL: dict[type[Any], tuple[type[Any], ...]] = {
    Scan: tuple(SCANS.values()),
    Factor: (CholeskyFactor, KeptFactor, SpectralFactor),
    Column: (Column, HashedColumn, WordColumn),
}
"""The classes that an annotation allows where it names one that others are derived from."""
REQUIRED: Final = dataclasses.MISSING
"""The default of a field that every file has."""

OUTPUT = "_sklearn_output_config"  # what `set_output` of scikit-learn leaves
BESIDE: dict[str, FieldValue] = {
    OUTPUT: dict[Literal["transform"], Literal["default", "pandas", "polars"] | None],
}
"""The attributes that a fitted system has beside its parameters and its state, with their forms."""
BESIDE_BASIS: dict[str, FieldValue] = {
    "n_features_in_": Annotated[int, Size("F")],
    "feature_names_in_": Annotated[NDArray[np.object_], Strings("F")],
    **BESIDE,
}
"""The same of a basis, whose state has no columns."""


class StoredField(NamedTuple):
    """A field of a class: its annotation, whether it is kept in files, and its default, `REQUIRED` if it has none."""

    hint: FieldValue
    kept: bool
    default: FieldValue

    def is_default(self, value: FieldValue) -> bool:
        """Whether a value need not be written, as it is the default to the bit."""
        plain = type(value) in (bool, int, str) or (type(value) is tuple and not value)
        return value is self.default or (plain and type(value) is type(self.default) and value == self.default)


def fields_of(cls: type[Any]) -> dict[str, StoredField]:
    """Return the fields of a class whose objects are stored: of a dataclass, a named tuple, or the annotated ones."""
    kind: Any = cls
    return _fields_of(kind)


@cache
def _fields_of(cls: type[Any]) -> dict[str, StoredField]:
    hints = get_type_hints(cls, include_extras=True)
    if dataclasses.is_dataclass(cls):
        defaults = {field.name: field.default for field in dataclasses.fields(cls)}
    elif issubclass(cls, tuple):
        defaults = {name: cls._field_defaults.get(name, REQUIRED) for name in cls._fields}  # type: ignore[attr-defined]
    else:
        own = (name for name, hint in hints.items() if get_origin(hint) is not ClassVar)
        defaults = {name: REQUIRED for name in own if not isinstance(getattr(cls, name, None), property)}
    return {
        name: StoredField(hint, NOT_KEPT not in get_args(hint) and not _is_settings(hint), default)
        for (name, default), hint in zip(defaults.items(), map(hints.get, defaults), strict=True)
    }


def _is_settings(hint: FieldValue) -> bool:
    """Whether a field holds settings of a model, which are stored as such."""
    return isclass(hint) and issubclass(hint, FitSettings)


def kept_fields(made: FieldValue) -> dict[str, FieldValue]:
    """Return the fields of an object that are written, by name."""
    values = ((name, field, getattr(made, name)) for name, field in fields_of(type(made)).items() if field.kept)
    return {name: value for name, field, value in values if not field.is_default(value)}


def given_fields(cls: type[Any], values: dict[str, FieldValue]) -> dict[str, FieldValue]:
    """Return what makes an object of a class from the fields that were read; refuse others than it has."""
    fields = fields_of(cls)
    kept = {name for name, field in fields.items() if field.kept}
    lacking = [name for name in kept - values.keys() if fields[name].default is REQUIRED]
    if lacking or not values.keys() <= kept:
        wrong = f"lacks {min(lacking)}" if lacking else f"has no {min(values.keys() - kept)!r:.40}"
        raise ValueError(f"{cls.__name__} {wrong}")
    absent = {name: None for name, field in fields.items() if not field.kept and field.default is REQUIRED}
    return {**absent, **values}


def origin_of(hint: FieldValue) -> FieldValue:
    """Return what an annotation is one of, as `list` of `list[int]`; of an alias, that of what it stands for.

    `NDArray` is an alias with NumPy 2.5 on Python 3.12.
    """
    origin = get_origin(hint)
    meant = getattr(hint if origin is None else origin, "__value__", None)
    return origin if meant is None else get_origin(meant)


def state_class(cls: type[Any]) -> type[FittedState] | None:
    """Return the class of the state that a system or a basis learns; None for one that learns only its columns."""
    found: type[FittedState] | None = cls.learned_as if issubclass(cls, Basis) else cls.learns
    return found


def names_beside(cls: type[Any]) -> dict[str, FieldValue]:
    """Return the names, and the forms, of the attributes that a fitted model has beside its parameters and state."""
    return BESIDE_BASIS if issubclass(cls, Basis) else BESIDE


def _reachable() -> Iterator[type[Any]]:
    """Yield the classes of the objects in states."""
    known = (state_class(cls) for cls in (*KNOWN.values(), *STORED_BASES))
    waiting = [cls for cls in dict.fromkeys(known) if cls is not None]
    seen = {*waiting}
    while waiting:
        for field in fields_of(waiting.pop()).values():
            for cls in _named_in(field.hint) if field.kept else ():
                for one in FINAL.get(cls, (cls,)):
                    if one not in seen:
                        seen.add(one)
                        waiting.append(one)
                        yield one


def _named_in(hint: FieldValue) -> Iterator[type[Any]]:
    """Yield the classes of ours whose objects an annotation names, but systems and bases, which are stored as such."""
    if isclass(hint):
        ours = hint.__module__.startswith("adaline.") and not issubclass(hint, Enum | Basis | System)
        yield from (hint,) if ours else ()
    origin: object = get_origin(hint)
    for one in get_args(hint)[: 1 if origin is Annotated else None]:
        yield from _named_in(one)


CLASSES: dict[str, type[Any]] = {cls.__name__: cls for cls in sorted(_reachable(), key=lambda cls: cls.__name__)}
"""All classes that can be stored, beside systems, bases and their states, by name."""
