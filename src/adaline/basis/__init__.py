"""Bases: functions phi(x) of the columns, in which every system can be linear. BASES lists them by name."""

from adaline.lazy import Registry, lazily

BASES = Registry(__name__, "Polynomial Spline Fourier Radial Custom Beside After")

__getattr__, __dir__, __all__ = lazily(__name__)
