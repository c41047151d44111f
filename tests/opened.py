"""Tables that are opened once for many tests."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from adaline.sources.tables.batches import DecodedGroups

COPIED = ("adaline", "builtins", "collections")


def as_opened(table: Any) -> Any:
    """Return a copy of a table as it was when it was opened, which shares its connection and its data alone."""
    relation = table.relation
    shared = [one for one in vars(relation).values() if type(one).__module__.partition(".")[0] not in COPIED]
    shared += [relation.database, relation.opened]  # neither of which changes
    return deepcopy(table, {id(one): one for one in shared} | {id(relation._decoded): DecodedGroups()})
