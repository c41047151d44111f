"""adaline: every linear learning system of the lectures, exact, fast, and with a proof of its answer.

>>> from adaline import LinearRegression
>>> model = LinearRegression().fit([[1.0], [2.0], [3.0]], [2.0, 4.0, 6.0])
>>> [round(float(w), 12) for w in model.coef_]
[2.0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adaline.lazy import lazily

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


__getattr__ = lazily(
    __name__,
    {
        "comparison.compare": "compare",
        "errors": "AdalineError AdalineWarning",
        "fits.l1_path": "l1_path",
        "inference": "anova regression_table",
        "inference.effects": "effects",
        "results": "Certificate Status",
        "selection.learning_curve": "learning_curve",
        "selection.select": "select",
        "separation.separability": "separability",
        "sources": "open_table set_threads",
        "storage": "export_onnx load read_header save",
        "systems": (
            "LMS Adaline AdaptiveFilter ElasticNet FisherDiscriminant GaussianClassifier GaussianMixture "
            "GeneralizedLinear KMeans KeslerPerceptron LeastSquaresClassifier LinearRegression "
            "LogisticRegression OneVsOne OneVsRest OrdinalRegression Perceptron Pocket Ridge "
            "RobustRegression SigmoidPerceptron WienerFilter"
        ),
        "": "basis datasets plots",
    },
)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
