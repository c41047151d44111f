"""A model in service: it predicts, keeps learning, and never loses a row that it has acknowledged."""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
