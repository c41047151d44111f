"""Losses: what one row costs, as a function of its output and target. LOSSES lists them by name."""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
