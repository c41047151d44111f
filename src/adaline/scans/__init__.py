"""Scans: rules that go over rows in their order, each with a native loop and a readable reference."""

from adaline.lazy import Registry, lazily

SCANS = Registry(
    __name__, "LMSRule RLSRule PerceptronRule KeslerRule SigmoidRule SoftmaxRule AdaptiveRule CoordinateRule", "Rule"
)

__getattr__, __dir__, __all__ = lazily(__name__)
