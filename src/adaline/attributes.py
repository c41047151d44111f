"""The attributes of an object by name, where the names are not known when the code is written.

Copies, pickles, model files and tables of results need this; no other file reads or changes `__dict__`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeVar

T = TypeVar("T")


def own_attributes(made: object) -> dict[str, Any]:
    """Return the attributes that an object itself has, by name; a copy, as another thread may add to them."""
    return made.__dict__.copy()


def give_attributes(made: object, attributes: dict[str, Any]) -> None:
    """Set attributes of an object by name, as they are: no constructor runs, and no check of values."""
    vars(made).update(attributes)


def drop_attributes(made: object, *names: str) -> None:
    """Delete attributes of an object where it has them, such as values of cached properties."""
    for name in names:
        vars(made).pop(name, None)


def replaced(made: T, **changed: object) -> T:
    """Return a copy of an object with some attributes changed, and without its cached properties."""
    kind = type(made)
    out, own = kind.__new__(kind), own_attributes(made)
    kept = {name: own[name] for name in own if not isinstance(getattr(kind, name, None), cached_property)}
    give_attributes(out, kept | changed)
    return out
