"""How much a system may learn from in a comparison, so that one that goes row by row, for epochs, takes seconds.

A budget is numbers of X that a fit may visit, not time: the same comparison gives the same numbers on every machine.
Systems that are sums, or minimise by passes over all rows, have none: `compared_visits` of a system is its budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adaline.wording import counted


@dataclass(frozen=True)
class Budget:
    """At most so many epochs, over at most so many rows; None where there is no limit. Prints as what was allowed."""

    epochs: int | None = None
    rows: int | None = None

    def __str__(self) -> str:
        epochs = "" if self.epochs is None else counted(self.epochs, "epoch")
        rows = "" if self.rows is None else counted(self.rows)
        return " of ".join(part for part in (epochs, rows) if part)


def budget_of(system: Any, rows: int, columns: int) -> Budget | None:
    """Return the budget of a system for one fit to rows of so many columns; None where it may do what it asks for."""
    allowed = getattr(system, "compared_visits", None)
    if allowed is None:
        return None
    visits = max(allowed // (rows * columns), 1)
    epochs = system.get_params().get("epochs")
    most = max(allowed // columns, 1)
    found = Budget(
        epochs=visits if epochs is not None and visits < epochs else None,
        rows=most if most < rows else None,
    )
    return found if str(found) else None
