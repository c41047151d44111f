"""Limits on the rows that a system learns from in a comparison, so that online systems and many epochs take seconds.

A budget is counted in numbers of X, not in time, so that a comparison gives the same results on every machine.

- `compared_visits` limits the numbers that a fit visits over all epochs, `compared_numbers` those that it learns from.
  Systems fitted from sums, or in a few passes, have neither.
- `compared_columns`: no budget up to so many columns, for systems that need more passes over more columns.
- `compared_products` limits rows x columns^2 of systems that form and factor the products of all columns in every pass.
  If that leaves too few rows for the columns, the system is left out.
- `compared_work` limits `newton_work` of likelihoods with more than two classes that are fitted along a path of
  penalties: they have a weight per class and column, and matrices of the square of that. Beyond it they are left out.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from adaline.fitted import AnySystem
from adaline.wording import counted

# rows per column whose products cost as much as the factor, and the fewest to learn from; doubling it leaves out more
# systems
ROWS_A_COLUMN = 4


@dataclass(frozen=True)
class FitBudget:
    """At most so many epochs, over at most so many rows; None where there is no limit. Prints as what was allowed."""

    epochs: int | None = None
    rows: int | None = None

    def __str__(self) -> str:
        epochs = "" if self.epochs is None else counted(self.epochs, "epoch")
        rows = "" if self.rows is None else counted(self.rows)
        return f"after {epochs} of {rows}" if epochs and rows else f"after {epochs}" if epochs else f"fitted to {rows}"


def budget_of(system: AnySystem, rows: int, columns: int) -> FitBudget | None:
    """Return the budget of a system for one fit to rows of so many columns; None where it may do what it asks for."""
    allowed = getattr(system, "compared_visits", None)
    numbers = getattr(system, "compared_numbers", None) if allowed is None else allowed
    if numbers is None or columns <= getattr(system, "compared_columns", 0):
        return None
    visits = max(numbers // (rows * columns), 1)
    epochs = None if allowed is None else system.epochs
    most = max(min(numbers // columns, _rows_multiplied(system, columns)), 1)
    limits = (visits if epochs is not None and visits < epochs else None, most if most < rows else None)
    return FitBudget(*limits) if any(limits) else None


def _rows_multiplied(system: AnySystem, columns: int) -> int:
    """Return the rows whose products of all columns a fit may form in each pass; a factor costs as much as some."""
    products = getattr(system, "compared_products", None)
    return sys.maxsize if products is None else products // columns**2 - ROWS_A_COLUMN * columns


def newton_work(rows: int, columns: int, classes: int) -> int:
    """Return the multiplications of a Newton step of a softmax likelihood: its second derivatives, and their factor.

    Examples
    --------
    >>> from adaline.comparison.budget import newton_work
    >>> newton_work(100, 4, 3)
    16128
    """
    weights = columns * classes
    return weights**2 * (rows + weights)


def takes_too_long(system: AnySystem, rows: int, columns: int, classes: int) -> bool:
    """Whether a system is beyond what it may cost in a comparison; `classes` is 0 for a regression."""
    if _rows_multiplied(system, columns) < min(rows, ROWS_A_COLUMN * columns):
        return True
    most = getattr(system, "compared_work", None)
    return most is not None and classes > 2 and newton_work(rows, columns, classes) > most
