"""Systems: the named learners of the lectures. Tests, command line, docs and benchmarks read SYSTEMS.

The laws of a family select from it by base class: `LinearSystem` (regression from moments), `ClosedFormClassifier`
(classification from class moments), `OnlineSystem` (scans and their batch rules). Systems without targets are in
UNSUPERVISED: model files know them, `compare` and the command line's fit do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline.errors import InvalidParameter
from adaline.lazy import Registry, lazily

if TYPE_CHECKING:
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

SYSTEMS = Registry(
    __name__,
    "LinearRegression Ridge ElasticNet RobustRegression WienerFilter AdaptiveFilter GeneralizedLinear "
    "LeastSquaresClassifier FisherDiscriminant GaussianClassifier LogisticRegression OrdinalRegression LMS "
    "Adaline Perceptron Pocket KeslerPerceptron SigmoidPerceptron OneVsRest OneVsOne",
)
UNSUPERVISED = Registry(__name__, "KMeans GaussianMixture")

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
    "system_name",
]

__getattr__ = lazily(
    __name__,
    {
        "adaline": "Adaline",
        "adaptive_filter": "AdaptiveFilter",
        "elastic_net": "ElasticNet",
        "families.closed_form": "ClosedFormClassifier",
        "families.linear_system": "LinearSystem",
        "families.online": "OnlineSystem",
        "fisher_discriminant": "FisherDiscriminant",
        "gaussian_classifier": "GaussianClassifier",
        "gaussian_mixture": "GaussianMixture",
        "generalized_linear": "GeneralizedLinear",
        "kesler_perceptron": "KeslerPerceptron",
        "kmeans": "KMeans",
        "least_squares_classifier": "LeastSquaresClassifier",
        "linear_regression": "LinearRegression",
        "lms": "LMS",
        "logistic_regression": "LogisticRegression",
        "one_vs_one": "OneVsOne",
        "one_vs_rest": "OneVsRest",
        "ordinal_regression": "OrdinalRegression",
        "perceptron": "Perceptron",
        "pocket": "Pocket",
        "ridge": "Ridge",
        "robust_regression": "RobustRegression",
        "sigmoid_perceptron": "SigmoidPerceptron",
        "wiener_filter": "WienerFilter",
    },
)


def system_name(named: str) -> str:
    """Return the name of a system as the registry has it, whatever its case."""
    if not isinstance(named, str):
        raise InvalidParameter(f"systems are given by name, as 'Ridge', got {named!r}")
    names = {name.lower(): name for name in SYSTEMS}
    if named.lower() in names:
        return names[named.lower()]
    import difflib

    near = difflib.get_close_matches(named.lower(), names, n=1, cutoff=0.5)
    meant = f" Did you mean {names[near[0]]}?" if near else ""
    raise InvalidParameter(f"there is no system {named!r}.{meant} There are: {', '.join(SYSTEMS)}")
