"""A model in service: predictions over HTTP, and learning that survives a crash (`adaline serve`, extra `serve`)."""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
