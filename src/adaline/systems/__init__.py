"""Systems: the named learners of the lectures. Tests, command line, docs and benchmarks read SYSTEMS.

The laws of a family select from it by base class: `LinearSystem` (regression from moments), `ClassSystem`
(classification from class moments), `OnlineSystem` (scans and their batch rules).
"""

from typing import Any

from adaline.systems.adaline import Adaline
from adaline.systems.adaptive import AdaptiveFilter
from adaline.systems.classes import ClassSystem
from adaline.systems.fisher import FisherDiscriminant
from adaline.systems.gaussian import GaussianClassifier
from adaline.systems.generalized import GeneralizedLinear
from adaline.systems.indicator import LeastSquaresClassifier
from adaline.systems.kesler import KeslerPerceptron
from adaline.systems.linear import LinearSystem
from adaline.systems.lms import LMS
from adaline.systems.logistic import LogisticRegression
from adaline.systems.online import OnlineSystem
from adaline.systems.perceptron import Perceptron
from adaline.systems.pocket import Pocket
from adaline.systems.regression import LinearRegression
from adaline.systems.ridge import Ridge
from adaline.systems.schemes import OneVsOne, OneVsRest
from adaline.systems.sigmoid import SigmoidPerceptron
from adaline.systems.wiener import WienerFilter

SYSTEMS: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        LinearRegression,
        Ridge,
        WienerFilter,
        AdaptiveFilter,
        GeneralizedLinear,
        LeastSquaresClassifier,
        FisherDiscriminant,
        GaussianClassifier,
        LogisticRegression,
        LMS,
        Adaline,
        Perceptron,
        Pocket,
        KeslerPerceptron,
        SigmoidPerceptron,
        OneVsRest,
        OneVsOne,
    )
}

__all__ = [
    "LMS",
    "SYSTEMS",
    "Adaline",
    "AdaptiveFilter",
    "ClassSystem",
    "FisherDiscriminant",
    "GaussianClassifier",
    "GeneralizedLinear",
    "KeslerPerceptron",
    "LeastSquaresClassifier",
    "LinearRegression",
    "LinearSystem",
    "LogisticRegression",
    "OneVsOne",
    "OneVsRest",
    "OnlineSystem",
    "Perceptron",
    "Pocket",
    "Ridge",
    "SigmoidPerceptron",
    "WienerFilter",
]
