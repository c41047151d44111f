"""How many rows a system may learn from in a comparison, so that online systems and many epochs take seconds.

A budget is counted in numbers of X, not in time: the same comparison gives the same results on every machine. A system
has one in `compared_visits`, numbers that a fit may visit over all epochs, or in `compared_numbers`, those that it may
learn from; systems that are sums, or minimise in a few passes, have none. Up to `compared_columns` columns there is no
budget, where a system that is a sum of few columns needs more passes over many. One that forms the products of all
columns in every pass, and factors them, has a bound on these in `compared_products`, rows times columns squared; where
that leaves too few rows for so many columns, it is left out.

Likelihoods of more than two classes have a weight for each class and column, and matrices of the square of that. Those
that are fitted again and again, along a path of penalties, have a bound on `newton_work` in `compared_work`, beyond
which they are left out.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from adaline.fitted import AnySystem
from adaline.wording import counted

ROWS_A_COLUMN = 4  # rows whose products cost as much as the factor, for each column, and the fewest to learn from


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
