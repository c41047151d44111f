"""Systems: the named learners of the lectures. Tests, command line, docs and benchmarks read SYSTEMS.

The laws of a family select from it by base class: `LinearSystem` (regression from moments), `ClassSystem`
(classification from class moments), `OnlineSystem` (scans and their batch rules). Systems without targets are in
UNSUPERVISED: model files know them, `compare` and the command line's fit do not.
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
from adaline.systems.kmeans import KMeans
from adaline.systems.linear import LinearSystem
from adaline.systems.lms import LMS
from adaline.systems.logistic import LogisticRegression
from adaline.systems.mixture import GaussianMixture
from adaline.systems.online import OnlineSystem
from adaline.systems.perceptron import Perceptron
from adaline.systems.pocket import Pocket
from adaline.systems.regression import LinearRegression
from adaline.systems.ridge import Ridge
from adaline.systems.robust import RobustRegression
from adaline.systems.schemes import OneVsOne, OneVsRest
from adaline.systems.sigmoid import SigmoidPerceptron
from adaline.systems.wiener import WienerFilter

SYSTEMS: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        LinearRegression,
        Ridge,
        RobustRegression,
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

UNSUPERVISED: dict[str, type[Any]] = {cls.__name__: cls for cls in (KMeans, GaussianMixture)}

__all__ = [
    "LMS",
    "SYSTEMS",
    "UNSUPERVISED",
    "Adaline",
    "AdaptiveFilter",
    "ClassSystem",
    "FisherDiscriminant",
    "GaussianClassifier",
    "GaussianMixture",
    "GeneralizedLinear",
    "KMeans",
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
    "RobustRegression",
    "SigmoidPerceptron",
    "WienerFilter",
]
