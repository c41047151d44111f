"""Systems: the named learners of the lectures. Tests, command line, docs and benchmarks read SYSTEMS."""

from adaline.systems.linear import LinearSystem
from adaline.systems.regression import LinearRegression
from adaline.systems.ridge import Ridge
from adaline.systems.wiener import WienerFilter

SYSTEMS: dict[str, type[LinearSystem]] = {cls.__name__: cls for cls in (LinearRegression, Ridge)}

__all__ = ["SYSTEMS", "LinearRegression", "LinearSystem", "Ridge", "WienerFilter"]
