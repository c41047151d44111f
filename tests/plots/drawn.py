"""The plots, each drawn once for the laws; and the data they are drawn from."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from adaline import (
    LMS,
    AdaptiveFilter,
    AdditiveModel,
    FisherDiscriminant,
    GaussianClassifier,
    GaussianMixture,
    KMeans,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    OneVsOne,
    OneVsRest,
    Ridge,
    bootstrap,
    datasets,
    learning_curve,
    means,
    plots,
    select,
)
from tests.comparison.examples import classification, compared, labels, numbers

X, Y = numbers()
XC, C = labels(classes=3, apart=4.0)
XC, NAMES = XC[:, :2], ("a", "b", "c", "d")
TWO, SIDE = XC[C != "c"], C[C != "c"]
MANY, KINDS = labels(classes=8, n=400, apart=3.0)
MANY = MANY[:, :2] + 4.0 * np.random.default_rng(1).normal(size=(8, 2))[np.arange(400) % 8]
LINE = np.random.default_rng(0).normal(size=(150, 1))
SLOPE = 1 + 2 * LINE[:, 0] + np.random.default_rng(1).normal(size=150)
WAVE = np.sin(0.3 * np.arange(900))
HEARD = 0.7 * np.roll(WAVE, 2) + 0.05 * np.random.default_rng(0).normal(size=900)
GAUSS, LINEAR = GaussianClassifier().fit(XC, C), LinearRegression().fit(X, Y)
LONGLEY = datasets.load("longley")
SIZES = np.array([10, 20, 50, 100, 400])
CURVE = SimpleNamespace(sizes=SIZES, training=0.5 - 1 / SIZES, validation=0.5 + 3 / SIZES, std_error=1 / SIZES)
STEPS = np.arange(5)
CHOSEN = SimpleNamespace(values=10.0 ** (STEPS - 3), training=STEPS, validation=STEPS[::-1], chosen=3)
FAILED = select(Ridge(), X, Y, penalty=[0.1, 1.0, -1.0, 10.0, 100.0], method="folds")
GROWN = learning_curve(LogisticRegression(penalty=1.0), TWO, np.arange(len(TWO)) % 9 == 0, sizes=[2, 5, 20, 40])
LOGISTIC, OTHERS = LogisticRegression(penalty=1.0).fit(TWO, SIDE), GaussianClassifier().fit(MANY, KINDS)
FAN = ([1.0, 9.0], np.linspace(1, 2, 40).reshape(2, 20))
CURVED = AdditiveModel(terms=["s(x0, k=6)", "te(x1, x2, k=4)", "(1 | x3)"]).fit(
    np.column_stack([X[:, :3], np.arange(len(X)) % 7]), Y
)
PATHS = {
    "descent": plots.trajectory(LinearRegression(solver="gradient", rate=0.002), LINE, SLOPE, steps=20),
    "LMS": plots.trajectory(LMS(rate=0.05), LINE, SLOPE),
}
FRAME = pd.DataFrame([{"a": a, "b": b, "c": c} for a in ("x", "why", "z") for b in "uv" for c in "klmklk"])
CELLS = LinearRegression().fit(FRAME[["a", "b"]], np.random.default_rng(2).normal(size=len(FRAME)))


DRAWN: dict[str, Callable[[Axes | None], Axes]] = {
    "comparison": lambda ax: plots.comparison(compared(classification), ax),
    "bootstrap": lambda ax: plots.bootstrap(bootstrap(LINEAR, X, Y, replicates=200), ax),
    "bootstrap of classes": lambda ax: plots.bootstrap(bootstrap(LOGISTIC, TWO, SIDE, replicates=200), ax),
    "coefficients": lambda ax: plots.coefficients(LINEAR, X, ax, names=NAMES),
    "coefficients of classes": lambda ax: plots.coefficients(GAUSS, XC, ax),
    "coefficient_path": lambda ax: plots.coefficient_path(
        Ridge().fit(LONGLEY.X, LONGLEY.y), LONGLEY.X, LONGLEY.y, ax, names=LONGLEY.feature_names
    ),
    "coefficient_path of numbers": lambda ax: plots.coefficient_path(
        ([0.1, 1.0, 10.0], [[2.0, -1.0, 1.99], [1.0, -0.5, 0.9], [0.1, 0.0, 0.1]]), ax=ax
    ),
    "coefficient_path of many": lambda ax: plots.coefficient_path(FAN, ax=ax),
    "means": lambda ax: plots.means(means(CELLS, by="a"), ax),
    "means within": lambda ax: plots.means(means(CELLS, by="a", within="b"), ax),
    "means of classes": lambda ax: plots.means(means(LogisticRegression().fit(FRAME[["a"]], FRAME.c), by="a"), ax),
    "smooth": lambda ax: plots.smooth(CURVED, "s(x0)", ax),
    "smooth of two columns": lambda ax: plots.smooth(CURVED, 1, ax),
    "random_effects": lambda ax: plots.random_effects(CURVED, ax=ax),
    "penalty_path": lambda ax: plots.penalty_path(Ridge().fit(X, Y), ax),
    "line": lambda ax: plots.line(LinearRegression().fit(X[:, :1], Y), X[:, 0], Y, ax),
    "residuals": lambda ax: plots.residuals(Y, Y + 0.1 * X[:, 0], ax),
    "quantiles": lambda ax: plots.quantiles(Y, ax),
    "leverage": lambda ax: plots.leverage(LinearRegression().fit(LONGLEY.X, LONGLEY.y), LONGLEY.X, LONGLEY.y, ax),
    "leverage without contours": lambda ax: plots.leverage(LINEAR, X, Y, ax),
    "confusion": lambda ax: plots.confusion(C, GAUSS.predict(XC), ax),
    "confusion of many": lambda ax: plots.confusion(KINDS, OTHERS.predict(MANY), ax),
    "calibration": lambda ax: plots.calibration(C, GAUSS.predict_proba(XC), ax),
    "calibration of two": lambda ax: plots.calibration(SIDE, LOGISTIC.predict_proba(TWO), ax),
    "roc": lambda ax: plots.roc(C, GAUSS.predict_proba(XC), ax),
    "precision_recall": lambda ax: plots.precision_recall(SIDE, LOGISTIC.predict_proba(TWO), ax),
    "fisher_projection": lambda ax: plots.fisher_projection(FisherDiscriminant().fit(TWO, SIDE), TWO, SIDE, ax),
    "fisher_projection of three": lambda ax: plots.fisher_projection(FisherDiscriminant().fit(XC, C), XC, C, ax),
    "decision_regions": lambda ax: plots.decision_regions(GAUSS, XC, C, ax),
    "decision_regions of many": lambda ax: plots.decision_regions(OTHERS, MANY, KINDS, ax),
    "decision_regions without posteriors": lambda ax: plots.decision_regions(
        LeastSquaresClassifier().fit(TWO, SIDE), TWO, SIDE, ax
    ),
    "hyperplane": lambda ax: plots.hyperplane(LOGISTIC, TWO, SIDE, ax),
    "hyperplane in unlike units": lambda ax: plots.hyperplane(
        LeastSquaresClassifier().fit(TWO * [1, 1e4], SIDE), TWO * [1, 1e4], SIDE, ax
    ),
    "ambiguous_regions": lambda ax: plots.ambiguous_regions(OneVsRest(LeastSquaresClassifier()).fit(XC, C), XC, C, ax),
    "ambiguous_regions of pairs": lambda ax: plots.ambiguous_regions(OneVsOne().fit(MANY, KINDS), MANY, KINDS, ax),
    "learning_curve": lambda ax: plots.learning_curve(CURVE, ax),
    "validation_curve": lambda ax: plots.validation_curve(CHOSEN, ax, name="penalty", measure="RMSE"),
    "learning_curve with failures": lambda ax: plots.learning_curve(GROWN, ax),
    "validation_curve with a failure": lambda ax: plots.validation_curve(FAILED, ax),
    "validation_curve by GCV": lambda ax: plots.validation_curve(
        select(Ridge(), X, Y, penalty=[0.1, 1.0, 10.0], method="gcv"), ax
    ),
    "validation_curve of a criterion": lambda ax: plots.validation_curve(
        select(GaussianMixture(), XC, n_components=[1, 2, 3], scoring="bic"), ax
    ),
    "history": lambda ax: plots.history(LMS(rate=0.01, epochs=12, tol=0).fit(LINE, SLOPE), ax),
    "history of several": lambda ax: plots.history({"small": [9.0, 3.0, 1.0], "large": [900.0, 1.0]}, ax),
    "error_surface": lambda ax: plots.error_surface(LINE, SLOPE, PATHS, ax),
    "error_surface of two columns": lambda ax: plots.error_surface(X[:, [0, 1]], Y, None, ax, names="uv"),
    "filter_signals": lambda ax: plots.filter_signals(WAVE, HEARD, AdaptiveFilter(taps=4).filter(WAVE, HEARD), ax),
    "mixture": lambda ax: plots.mixture(GaussianMixture(n_components=3).fit(XC), XC, ax),
    "clusters": lambda ax: plots.clusters(KMeans(n_clusters=3).fit(XC), XC, ax),
}
