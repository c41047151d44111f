"""Sources: where rows come from, cut into blocks of a fixed size that run in threads."""

from adaline.lazy import lazily
from adaline.sources.threads import set_threads as set_threads
from adaline.sources.threads import threads as threads  # a name of its module too: taken at once, it stays the function

__getattr__, __dir__, __all__ = lazily(__name__)
