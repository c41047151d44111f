"""From the columns of a table to columns of numbers: categories, dates, missing values, formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline.lazy import lazily

if TYPE_CHECKING:
    from adaline.coding.coding import MISSING, UNSEEN, Coding, Learned
    from adaline.coding.columns import Column
    from adaline.coding.terms import Term, TermFactor

__all__ = ["MISSING", "UNSEEN", "Coding", "Column", "Learned", "Term", "TermFactor"]

__getattr__ = lazily(
    __name__,
    {
        "coding": "MISSING UNSEEN Coding Learned",
        "columns": "Column",
        "terms": "Term TermFactor",
    },
)
