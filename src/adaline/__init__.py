"""adaline: every linear learning system of the lectures, exact, fast, and with a proof of its answer.

>>> from adaline import LinearRegression
>>> model = LinearRegression().fit([[1.0], [2.0], [3.0]], [2.0, 4.0, 6.0])
>>> [round(float(w), 12) for w in model.coef_]
[2.0]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adaline import datasets, plots
    from adaline.comparison.compare import compare
    from adaline.errors import AdalineError, AdalineWarning
    from adaline.inference import anova, regression_table
    from adaline.inference.effects import effects
    from adaline.results import Certificate, Status
    from adaline.selection.learning_curve import learning_curve
    from adaline.selection.select import select
    from adaline.separation.separability import separability
    from adaline.sources import open_table, set_threads
    from adaline.storage import export_onnx, load, read_header, save
    from adaline.systems import (
        LMS,
        Adaline,
        AdaptiveFilter,
        ElasticNet,
        FisherDiscriminant,
        GaussianClassifier,
        GaussianMixture,
        GeneralizedLinear,
        KeslerPerceptron,
        KMeans,
        LeastSquaresClassifier,
        LinearRegression,
        LogisticRegression,
        OneVsOne,
        OneVsRest,
        OrdinalRegression,
        Perceptron,
        Pocket,
        Ridge,
        RobustRegression,
        SigmoidPerceptron,
        WienerFilter,
    )

__version__ = "0.2.0"

_HOMES = {
    "Adaline": "adaline.systems",
    "AdalineError": "adaline.errors",
    "AdalineWarning": "adaline.errors",
    "AdaptiveFilter": "adaline.systems",
    "Certificate": "adaline.results",
    "ElasticNet": "adaline.systems",
    "FisherDiscriminant": "adaline.systems",
    "GaussianClassifier": "adaline.systems",
    "GaussianMixture": "adaline.systems.gaussian_mixture",
    "KMeans": "adaline.systems.kmeans",
    "GeneralizedLinear": "adaline.systems",
    "KeslerPerceptron": "adaline.systems",
    "LMS": "adaline.systems",
    "LeastSquaresClassifier": "adaline.systems",
    "LinearRegression": "adaline.systems",
    "LogisticRegression": "adaline.systems",
    "OneVsOne": "adaline.systems",
    "OneVsRest": "adaline.systems",
    "OrdinalRegression": "adaline.systems",
    "Perceptron": "adaline.systems",
    "Pocket": "adaline.systems",
    "Ridge": "adaline.systems",
    "RobustRegression": "adaline.systems",
    "SigmoidPerceptron": "adaline.systems",
    "Status": "adaline.results",
    "WienerFilter": "adaline.systems",
    "anova": "adaline.inference",
    "compare": "adaline.comparison.compare",
    "effects": "adaline.inference.effects",
    "export_onnx": "adaline.storage",
    "l1_path": "adaline.fits.l1_path",
    "learning_curve": "adaline.selection.learning_curve",
    "load": "adaline.storage",
    "open_table": "adaline.sources",
    "read_header": "adaline.storage",
    "regression_table": "adaline.inference",
    "save": "adaline.storage",
    "select": "adaline.selection.select",
    "separability": "adaline.separation.separability",
    "set_threads": "adaline.sources",
}

__all__ = [
    "LMS",
    "Adaline",
    "AdalineError",
    "AdalineWarning",
    "AdaptiveFilter",
    "Certificate",
    "ElasticNet",
    "FisherDiscriminant",
    "GaussianClassifier",
    "GaussianMixture",
    "GeneralizedLinear",
    "KMeans",
    "KeslerPerceptron",
    "LeastSquaresClassifier",
    "LinearRegression",
    "LogisticRegression",
    "OneVsOne",
    "OneVsRest",
    "OrdinalRegression",
    "Perceptron",
    "Pocket",
    "Ridge",
    "RobustRegression",
    "SigmoidPerceptron",
    "Status",
    "WienerFilter",
    "anova",
    "basis",
    "compare",
    "datasets",
    "effects",
    "export_onnx",
    "l1_path",
    "learning_curve",
    "load",
    "open_table",
    "plots",
    "read_header",
    "regression_table",
    "save",
    "select",
    "separability",
    "set_threads",
]


def __getattr__(name: str) -> Any:
    if name in ("basis", "datasets", "plots"):
        return import_module(f"adaline.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'adaline' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
