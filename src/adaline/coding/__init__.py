"""From the columns of a table to columns of numbers: categories, dates, missing values, formulas."""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
