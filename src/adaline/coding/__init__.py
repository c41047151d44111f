"""From the columns of a table to columns of numbers: categories, dates, missing values, formulas."""

from adaline.coding.coding import MISSING, UNSEEN, Coding, Learned
from adaline.coding.columns import Column
from adaline.coding.terms import Term, TermFactor

__all__ = ["MISSING", "UNSEEN", "Coding", "Column", "Learned", "Term", "TermFactor"]
