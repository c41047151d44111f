"""Files of schema 6, which adaline 0.3.0 wrote: what fit has learned is a flat list of attributes by name.

Schema 7 holds the fields of states instead. An attribute is the field of its name without the underscores at its ends,
and the objects in them are the same, but for what is listed here.
"""

from __future__ import annotations

from typing import Any

from adaline.input.columns import InputColumns
from adaline.input.system import System
from adaline.storage.fields import fields_of, names_beside, state_class
from adaline.storage.pipelines import of_scikit_learn
from adaline.storage.tree import FileLayout, system_of
from adaline.systems import AdaptiveFilter, LogisticRegression, OnlineLogistic
from adaline.systems.online_alias import is_renamed, settings_of

COLUMNS = ("n_features_in_", "feature_names_in_", "coding_", "basis_", "_hashed", "_first_index")
"""Attributes that show the record of columns."""
ASSIGNED = ("coef_", "intercept_", "output_")
"""Attributes of an `AdaptiveFilter` that may have been assigned; its rule, which was called `_state`, has them."""
LEARNED_LATER = {"_standard": None, "_typical": None}
"""Attributes that a `LogisticRegression` that learned online did not have."""
LEFT_OUT = {"AdaptiveRule": ("classes",), "CoordinateRule": ("classes",)}
"""Fields of objects that follow from others."""
RENAMED = {"FamilyFit": {"in_trials": "precision"}}
"""Fields of objects by their former names."""


class Schema6(FileLayout):
    """The layout of schema 6."""

    def system(self, cls: type[Any], parameters: dict[str, Any], learned: dict[str, Any]) -> Any:
        """Return the system, basis or step of its arguments and attributes; refuse others than it has."""
        if of_scikit_learn(cls):
            return system_of(cls, parameters, learned)
        if cls is LogisticRegression and is_renamed(parameters, learned):
            cls, parameters = OnlineLogistic, settings_of(parameters)
            learned = learned and {**LEARNED_LATER, **learned}
        attributes, assigned = dict(learned), {}
        if cls is AdaptiveFilter and learned:
            assigned = {name: attributes.pop(name) for name in ASSIGNED if name in attributes}
            attributes["adaptation"] = attributes.pop("_state")
        beside = {name: attributes.pop(name) for name in names_beside(cls) if name in attributes}
        columns = _columns(attributes) if issubclass(cls, System) and attributes else {}
        kind = state_class(cls)
        left_out = () if kind is None else [name for name, field in fields_of(kind).items() if not field.kept]
        fields = {name.strip("_"): value for name, value in attributes.items() if name.strip("_") not in left_out}
        model = system_of(cls, parameters, {**fields, **columns, **beside})
        for name, value in assigned.items():
            setattr(model, name, value)
        return model

    def fields(self, cls: type[Any], values: dict[str, Any]) -> dict[str, Any]:
        """Return what makes an object of a class from the fields of a file; refuse others than it has."""
        left_out, renamed = LEFT_OUT.get(cls.__name__, ()), RENAMED.get(cls.__name__, {})
        known = {renamed.get(name, name): value for name, value in values.items() if name not in left_out}
        return super().fields(cls, known)


def _columns(attributes: dict[str, Any]) -> dict[str, InputColumns]:
    """Take the attributes that show the record of columns out of others, and return the record."""
    count, names, coding, basis, hashed, first = (attributes.pop(name, None) for name in COLUMNS)
    if count is None:
        raise ValueError("n_features_in_ is missing")
    kept = None if names is None else tuple(map(str, names))
    return {"columns": InputColumns(count, kept, coding, basis, bool(hashed), first)}
