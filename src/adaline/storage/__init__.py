"""Storage: fitted systems as files. Model files keep every bit and run no code; ONNX is for other runtimes."""

from adaline.lazy import lazily

__getattr__, __dir__, __all__ = lazily(__name__)
