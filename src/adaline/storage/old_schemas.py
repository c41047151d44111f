"""Files of schema 6, which adaline 0.3.0 wrote: what fit has learned is a flat list of attributes by name.

Schema 7 holds the fields of states instead. The objects in them are the same in both, but for what is listed here.
"""

from __future__ import annotations

from typing import Any

from adaline.basis import Basis
from adaline.state import shown_by
from adaline.storage.pipelines import of_scikit_learn
from adaline.storage.tree import FileLayout, system_of
from adaline.systems import AdaptiveFilter, LogisticRegression, OnlineLogistic
from adaline.systems.online_alias import is_renamed, settings_of

STORED_AS = {"_state": "_adaptation"}
"""Names of attributes in these files that are others now."""
ASSIGNED = ("coef_", "intercept_", "output_")
"""Attributes of an `AdaptiveFilter` that may have been assigned; its rule has them otherwise."""
LEFT_OUT = {"AdaptiveRule": ("classes",), "CoordinateRule": ("classes",)}
"""Fields of objects that follow from others."""
LEARNED_LATER = {"_standard": None, "_typical": None}
"""Attributes that a `LogisticRegression` that learned online did not have."""


class Schema6(FileLayout):
    """The layout of schema 6."""

    def system(self, cls: type[Any], parameters: dict[str, Any], learned: dict[str, Any]) -> Any:
        """Return the system, basis or step of its arguments and attributes; refuse others than it has."""
        if of_scikit_learn(cls):
            return system_of(cls, parameters, learned)
        if cls is LogisticRegression and is_renamed(parameters, learned):
            cls, parameters = OnlineLogistic, settings_of(parameters)
            learned = learned and {**LEARNED_LATER, **learned}
        attributes = {STORED_AS.get(name, name): value for name, value in learned.items()}
        kind: Any = cls
        shown = shown_by(kind)
        if not all(name.isidentifier() and (name in shown or not hasattr(cls, name)) for name in attributes):
            raise ValueError("its state names what fit does not set")
        if not isinstance(attributes.get("basis_"), Basis | None):
            raise ValueError("its basis is none")
        model = system_of(cls, parameters, {})
        assigned = ASSIGNED if cls is AdaptiveFilter else ()
        model.__setstate__({name: value for name, value in attributes.items() if name not in assigned})
        for name in attributes.keys() & set(assigned):
            setattr(model, name, attributes[name])
        return model

    def fields(self, cls: type[Any], values: dict[str, Any]) -> dict[str, Any]:
        """Return what makes an object of a class from the fields of a file; refuse others than it has."""
        known = {name: value for name, value in values.items() if name not in LEFT_OUT.get(cls.__name__, ())}
        return super().fields(cls, known)
