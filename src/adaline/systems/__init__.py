"""Systems: the named learners of the lectures. Tests, command line, docs and benchmarks read SYSTEMS.

The laws of a family select from it by base class: `LinearSystem` (regression from moments), `ClosedFormClassifier`
(classification from class moments), `OnlineSystem` (scans and their batch rules). Systems without targets are in
UNSUPERVISED: model files know them, `compare` and the command line's fit do not.
"""

from typing import Any

from adaline.input.drafts import read_snapshots
from adaline.systems.adaline import Adaline
from adaline.systems.adaptive_filter import AdaptiveFilter
from adaline.systems.elastic_net import ElasticNet
from adaline.systems.families.closed_form import ClosedFormClassifier
from adaline.systems.families.linear_system import LinearSystem
from adaline.systems.families.online import OnlineSystem
from adaline.systems.fisher_discriminant import FisherDiscriminant
from adaline.systems.gaussian_classifier import GaussianClassifier
from adaline.systems.gaussian_mixture import GaussianMixture
from adaline.systems.generalized_linear import GeneralizedLinear
from adaline.systems.kesler_perceptron import KeslerPerceptron
from adaline.systems.kmeans import KMeans
from adaline.systems.least_squares_classifier import LeastSquaresClassifier
from adaline.systems.linear_regression import LinearRegression
from adaline.systems.lms import LMS
from adaline.systems.logistic_regression import LogisticRegression
from adaline.systems.one_vs_one import OneVsOne
from adaline.systems.one_vs_rest import OneVsRest
from adaline.systems.ordinal_regression import OrdinalRegression
from adaline.systems.perceptron import Perceptron
from adaline.systems.pocket import Pocket
from adaline.systems.ridge import Ridge
from adaline.systems.robust_regression import RobustRegression
from adaline.systems.sigmoid_perceptron import SigmoidPerceptron
from adaline.systems.wiener_filter import WienerFilter

SYSTEMS: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        LinearRegression,
        Ridge,
        ElasticNet,
        RobustRegression,
        WienerFilter,
        AdaptiveFilter,
        GeneralizedLinear,
        LeastSquaresClassifier,
        FisherDiscriminant,
        GaussianClassifier,
        LogisticRegression,
        OrdinalRegression,
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

for _system in (*SYSTEMS.values(), *UNSUPERVISED.values()):
    read_snapshots(_system)

__all__ = [
    "LMS",
    "SYSTEMS",
    "UNSUPERVISED",
    "Adaline",
    "AdaptiveFilter",
    "ClosedFormClassifier",
    "ElasticNet",
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
    "OrdinalRegression",
    "Perceptron",
    "Pocket",
    "Ridge",
    "RobustRegression",
    "SigmoidPerceptron",
    "WienerFilter",
]
