"""Sources: where rows come from, cut into blocks of a fixed size that run in threads."""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
