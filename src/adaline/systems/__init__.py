"""Systems: the named learners of the lectures. Tests, command line, docs and benchmarks read SYSTEMS.

The laws of a family select from it by base class: `LinearSystem` (regression from moments), `ClassSystem`
(classification from class moments).
"""

from typing import Any

from adaline.systems.classes import ClassSystem
from adaline.systems.fisher import FisherDiscriminant
from adaline.systems.gaussian import GaussianClassifier
from adaline.systems.indicator import LeastSquaresClassifier
from adaline.systems.linear import LinearSystem
from adaline.systems.regression import LinearRegression
from adaline.systems.ridge import Ridge
from adaline.systems.wiener import WienerFilter

SYSTEMS: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        LinearRegression,
        Ridge,
        WienerFilter,
        LeastSquaresClassifier,
        FisherDiscriminant,
        GaussianClassifier,
    )
}

__all__ = [
    "SYSTEMS",
    "ClassSystem",
    "FisherDiscriminant",
    "GaussianClassifier",
    "LeastSquaresClassifier",
    "LinearRegression",
    "LinearSystem",
    "Ridge",
    "WienerFilter",
]
