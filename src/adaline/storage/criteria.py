"""Losses and activations in model files: a closed list, by kind and name. A user's own are code, and never stored."""

from __future__ import annotations

import dataclasses
from typing import Any

from adaline.activations import ACTIVATIONS
from adaline.losses import LOSSES, Composed
from adaline.storage.checks import fields_of

CRITERIA: dict[type[Any], str] = {
    **{cls: f"loss {name}" for name, cls in LOSSES.items()},
    Composed: "loss composed",
    **{type(one): f"activation {name}" for name, one in ACTIVATIONS.items()},
}
"""What can be stored: frozen, made of numbers and of each other."""


def parts_of_criterion(value: Any) -> dict[str, Any]:
    """Return the fields of a loss or an activation."""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def criterion_of(name: Any, values: dict[str, Any]) -> Any:
    """Return the loss or activation of this name; refuse other fields than it has."""
    found = next((cls for cls, known in CRITERIA.items() if known == name), None)
    if found is None:
        raise ValueError(f"unknown loss or activation {str(name)[:40]!r}")
    fields = fields_of(values, tuple(field.name for field in dataclasses.fields(found)))
    if not all(type(value) in (int, float, *CRITERIA) for value in fields.values()):
        raise ValueError("a loss has numbers")
    return found(**fields)
