"""Inference from the sums of a fit, and from its rows where they are given again."""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
