"""Input: what `fit` accepts, made into a source of rows: arrays, frames, tables, labels, bases, class weights."""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
