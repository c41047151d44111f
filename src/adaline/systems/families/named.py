"""`named_system`: what makes a class one of the named learners."""

from __future__ import annotations

from typing import Any, TypeVar

from adaline.construction import configured
from adaline.input.snapshots import read_snapshots

C = TypeVar("C", bound=type[Any])


def named_system(cls: C) -> C:
    """Make a class explain parameters that it does not have, and its reading methods see a snapshot of a model."""
    read_snapshots(configured(cls))
    return cls
