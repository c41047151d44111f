"""Writes model files in the present schema: every system, bases, codings and a pipeline, with what they say.

Run it from the root of the repository before the layout of model files changes: python -m tests.data.models.make
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from adaline import basis, open_table
from adaline.storage import save
from adaline.storage.container import SCHEMA
from adaline.systems import SYSTEMS, UNSUPERVISED, Perceptron
from tests.cases import CASES, Case

ROWS, SHOWN = 24, 3
FOLDER = Path(__file__).parent / f"schema{SCHEMA}"
READ = ("predict", "decision_function", "predict_proba", "transform", "score_samples")
"""What a model is asked for, of its first rows."""

Rows = tuple[Any, Any]


def numbers(case: Case) -> Rows:
    """Return rows of numbers, and their targets."""
    given = case.rows(n=ROWS)
    return given.X, given.y


def frame(case: Case) -> Rows:
    """Return rows with numbers, a category and truth values."""
    X, y = numbers(case)
    kinds = np.array(["x", "y \u00e4", "z"])[np.arange(len(X)) % 3]
    return pd.DataFrame({"a": X[:, 0], "kind": kinds, "big": X[:, 1] > X[:, 1].mean()}), y


def fitted(name: str, rows: Callable[[Case], Rows] = numbers, **settings: Any) -> tuple[Any, Any]:
    """Return a fitted system, and its rows."""
    case = Case({**SYSTEMS, **UNSUPERVISED}[name], settings)
    X, y = rows(case)
    return case.make().fit(*((X,) if y is None else (X, y))), X


def of_dicts(name: str) -> tuple[Any, Any]:
    """Return a system that has learned from dicts."""
    case = Case(SYSTEMS[name])
    X, y = numbers(case)
    model = case.make()
    known = {"classes": ["a", "b", "c"]} if is_classifier(model) else {}
    for row, target in zip(X.tolist(), y.tolist(), strict=True):
        model.learn_one(dict(zip("abcd", row, strict=True)), target, **known)
    return model, X


def of_unseen_classes(name: str) -> tuple[Any, Any]:
    """Return a classifier with a class that has no rows yet."""
    X, y = numbers(Case(SYSTEMS[name]))
    return SYSTEMS[name]().partial_fit(X, y, classes=["a", "b", "c", "d"]), X


def of_table(**options: Any) -> tuple[Any, Any]:
    """Return least squares on a table."""
    X, y = frame(Case(SYSTEMS["LinearRegression"]))
    X = X.assign(text=["red fox", "fox and hen", "hen"] * (ROWS // 3), firm=np.arange(ROWS) % 4, y=y)
    return SYSTEMS["LinearRegression"]().fit(open_table(X, **{"target": "y", **options})), X


def pipeline() -> tuple[Any, Any]:
    """Return a pipeline of steps of scikit-learn."""
    X, y = frame(Case(SYSTEMS["Ridge"]))
    scaled = make_pipeline(SimpleImputer(), StandardScaler())
    columns = make_column_transformer((scaled, ["a", "big"]), (OneHotEncoder(), ["kind"]))
    return make_pipeline(columns, SYSTEMS["Ridge"](basis=basis.Polynomial(degree=2))).fit(X, y), X


MODELS: dict[str, Callable[[], tuple[Any, Any]]] = {
    **{case.system.__name__: partial(fitted, case.system.__name__, **case.settings)
       for case in reversed(CASES.values()) if case.keeps("model files") and not {*case.settings} - {"epochs"}},
    **{f"{name}_frame": partial(fitted, name, frame)
       for name in ("LinearRegression", "LogisticRegression", "OneVsRest", "LMS", "GaussianClassifier", "ElasticNet")},
    "gradient": partial(fitted, "LinearRegression", solver="gradient", epochs=9),
    "precision": partial(fitted, "LinearRegression", weights="precision"),
    "svd": partial(fitted, "LinearRegression", solver="svd", basis=basis.Fourier(terms=2, random=True)),
    "evidence": partial(fitted, "Ridge", criterion="evidence", basis=basis.Polynomial(degree=2, orthogonal=True)),
    "spline": partial(fitted, "Ridge", penalty=0.5, basis=basis.Spline(df=4) + basis.Radial(centres=3)),
    "after": partial(fitted, "LinearRegression", basis=basis.Polynomial(interactions=False) @ basis.Fourier(terms=1)),
    "poisson_net": partial(fitted, "ElasticNet", l1=1.0, loss="poisson"),
    "tukey": partial(fitted, "RobustRegression", loss="tukey", scale="huber"),
    "quantile": partial(fitted, "RobustRegression", loss="quantile", quantile=0.3),
    "wiener": partial(fitted, "WienerFilter", taps=(2, 3, 1, 4), delay=-2),
    "autocorrelation": partial(fitted, "WienerFilter", taps=2, method="autocorrelation"),
    "rls": partial(fitted, "AdaptiveFilter", taps=2, rule="rls", record=10, fit_intercept=True),
    "poisson": partial(fitted, "GeneralizedLinear", loss="poisson"),
    "negative_binomial": partial(fitted, "GeneralizedLinear", loss="negative_binomial"),
    "one_vs_one": partial(fitted, "LogisticRegression", scheme="one-vs-one", penalty=0.1),
    "firth": partial(fitted, "LogisticRegression", firth=True, scheme="one-vs-rest"),
    "path": partial(fitted, "LogisticRegression", penalty="auto", folds=3),
    "mixtures": partial(fitted, "GaussianClassifier", covariance="full", components=2),
    "batch": partial(fitted, "Adaline", mode="batch", epochs=9),
    "standardized": partial(fitted, "Pocket", epochs=5, standardize=True),
    "online_sigmoid": partial(fitted, "SigmoidPerceptron", mode="online", activation="logistic"),
    "averaged": partial(fitted, "OnlineLogistic", penalty=1.0, l1=0.5, average=True),
    "of_perceptrons": partial(fitted, "OneVsRest", system=Perceptron(epochs=5), machines="K-1"),
    "LMS_dicts": partial(of_dicts, "LMS"),
    "OnlineLogistic_dicts": partial(of_dicts, "OnlineLogistic"),
    **{f"{name}_unseen": partial(of_unseen_classes, name) for name in ("LeastSquaresClassifier", "Perceptron")},
    "diagonal": partial(fitted, "GaussianMixture", n_components=2, covariance_type="diag"),
    "formula": partial(of_table, target=None, formula="y ~ poly(a, 2) + C(kind):big", unseen="other"),
    "sparse": partial(of_table, hashed={"kind": 4}, words=["text"], features=["kind", "text", "a"]),
    "absorbed": partial(of_table, absorb=["firm"], features=["a", "big"]),
    "pipeline": pipeline,
}  # fmt: skip


def shown(X: Any) -> Any:
    """Return the first rows, as JSON."""
    first = X[:SHOWN]
    return first.to_dict("list") if hasattr(first, "to_dict") else first.tolist()


def said(model: Any, X: Any) -> dict[str, Any]:
    """Return what a model says of the first rows."""
    return {name: np.asarray(getattr(model, name)(X[:SHOWN])).tolist() for name in READ if hasattr(model, name)}


def main() -> None:
    """Write the files, and what their models say."""
    FOLDER.mkdir(exist_ok=True)
    expected = {}
    warnings.simplefilter("ignore")
    for name, make in MODELS.items():
        model, X = make()
        save(model, FOLDER / f"{name}.adaline")
        expected[name] = {"rows": shown(X), **said(model, X)}
    (FOLDER / "expected.json").write_text(json.dumps(expected, indent=None).replace('}, "', '},\n"') + "\n")


if __name__ == "__main__":
    main()
