"""Fitted models to hold the laws of storage against: every system of the registry, in many settings and on many data.

A system that is registered later, and not listed in SETTINGS, is tested with its defaults.
"""

from __future__ import annotations

import copy
import dataclasses
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier

from adaline.activations import ACTIVATIONS
from adaline.basis import Basis, Fourier, Polynomial, Radial
from adaline.losses import Composed, Huber, Tukey
from adaline.results import Certificate
from adaline.storage.tree import FIELDS
from adaline.systems import (
    SYSTEMS,
    UNSUPERVISED,
    GaussianClassifier,
    LeastSquaresClassifier,
    Perceptron,
    SigmoidPerceptron,
)

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "LinearRegression": [
        {"fit_intercept": False},
        {"solver": "qr"},
        {"solver": "svd"},
        {"solver": "gradient", "epochs": 50, "tol": 0.1},
        {"rate": np.diag([0.001] * 5), "init": [0.0, 1.0, 2.0, 3.0, 4.0], "stop_error": np.float32(0.5)},
        {"weights": "precision"},
        {"basis": Polynomial(degree=2)},
    ],
    "Ridge": [{"penalty": 0.5}, {"criterion": "evidence"}, {"criterion": "loo"}, {"fit_intercept": False}],
    "RobustRegression": [
        {"loss": "tukey", "scale": "huber"},
        {"loss": "quantile", "quantile": 0.3, "fit_intercept": False},
        {"penalty": 0.5, "standardize": True},
    ],
    "WienerFilter": [
        {"taps": 3},
        {"taps": (2, 3, 1, 4), "delay": 2},
        {"taps": [2, 1, 1, 1], "delay": -3, "fit_intercept": True},
        {"taps": 2, "delay": -1, "method": "autocorrelation", "penalty": 0.1},
        {"taps": 3, "delay": 2, "method": "autocorrelation"},
        {"taps": 2, "delay": -7},
    ],
    "AdaptiveFilter": [
        {"taps": 3, "rate": 0.1},
        {"taps": (2, 3, 1, 4), "delay": 2, "record": 10},
        {"taps": 2, "rule": "rls", "forgetting": 0.99, "fit_intercept": True},
        {"rule": "lms", "rate": 1e-4, "leak": 0.1},
        {"rule": "sign", "rate": 1e-3},
        {"taps": 2, "basis": Fourier(terms=1, period=[1.0, 2.0, 3.0, 4.0])},
    ],
    "LogisticRegression": [
        {"penalty": 1.0},
        {"penalty": "auto", "folds": 3},
        {"penalty": 0.1, "scheme": "one-vs-rest"},
        {"penalty": 0.1, "scheme": "one-vs-one"},
        {"penalty": 2.0, "solver": "lbfgs", "class_weight": "balanced"},
        {"l1": 1.0},
        {"penalty": 1.0, "basis": Radial(centres=3) + Fourier(terms=2, random=True)},
    ],
    "OrdinalRegression": [
        {"penalty": 1.0},
        {"link": "cloglog", "penalty": 0.1, "standardize": True},
        {"link": "probit", "penalty": 0.1},
    ],
    "GeneralizedLinear": [
        {"loss": Huber(delta=2.0), "penalty": 1.0, "solver": "newton"},
        {"activation": "softplus", "solver": "newton"},
        {"loss": Composed(Tukey(c=100.0), ACTIVATIONS["exp"]), "solver": "lbfgs"},
        {"solver": "stochastic", "rate": 1e-4, "epochs": 3},
    ],
    "LMS": [{"rate": 1e-4, "epochs": 3, "fit_intercept": False}, {"rate": 1e-3, "schedule": "1/t", "shuffle": True}],
    "Adaline": [{"mode": "batch", "epochs": 50}, {"rate": 1e-3, "schedule": "power", "epochs": 3}],
    "Perceptron": [
        {"epochs": 5},
        {"mode": "batch", "epochs": 5},
        {"init": "random", "epochs": 5},
        {"epochs": 5, "standardize": True},
    ],
    "Pocket": [
        {"epochs": 5},
        {"epochs": 5, "basis": Polynomial(degree=2, orthogonal=True) @ Fourier(terms=1)},
        {"epochs": 5, "standardize": True},
    ],
    "KeslerPerceptron": [{"epochs": 5}, {"epochs": 5, "standardize": True, "basis": Polynomial(degree=2)}],
    "SigmoidPerceptron": [
        {"activation": "logistic", "epochs": 5},
        {"mode": "online", "epochs": 5},
        {"mode": "online", "activation": "logistic", "rate": 0.01, "epochs": 3},
    ],
    "OneVsRest": [
        {"machines": "K-1"},
        {"system": GaussianClassifier(covariance="full")},
        {"system": Perceptron(epochs=5), "machines": "K-1"},
        {"system": SigmoidPerceptron(epochs=5)},
        {"system": LeastSquaresClassifier(basis=Fourier(terms=1)), "basis": Polynomial(degree=2)},
    ],
    "OneVsOne": [{"system": GaussianClassifier(covariance="full")}, {"system": LeastSquaresClassifier()}],
    "LeastSquaresClassifier": [{"coding": "signed"}, {"fit_intercept": False}],
    "FisherDiscriminant": [{"covariance": "identity"}, {"threshold": "prior"}, {"components": 1}],
    "GaussianClassifier": [
        {"covariance": "full"},
        {"covariance": "diag"},
        {"covariance": "spherical"},
        {"covariance": "identity"},
        {"covariance": "full", "shrinkage": 0.3},
    ],
}
"""Arguments to be tested besides the defaults."""
TYPES = frozenset((SYSTEMS | UNSUPERVISED).values())


class Case(NamedTuple):
    """A fitted model, the rows it was fitted to (X, y, weights), rows to go on with, and what `fit` made of the rows.

    The last is None where the model was not made by `fit`.
    """

    model: Any
    rows: tuple[Any, Any, Any]
    more: tuple[Any, Any, Any]
    fresh: Any = None


def _numbers(n: int = 64, d: int = 4, targets: int = 0, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.arange(1.0, d + 1) + 10 * rng.normal(size=d)
    slopes, noise = rng.normal(size=(d, targets or 1)), 0.3 * rng.normal(size=(n, targets or 1))
    y = X @ slopes + 1.5 + noise
    return X, y if targets else y[:, 0], rng.integers(1, 4, n).astype(float)


def _categories(X: Any) -> pd.DataFrame:
    kinds = np.array(["\u00e4", "b", "c d"])[np.arange(len(X)) % 3]
    return pd.DataFrame({"x": X[:, 0], "kind": kinds, "big": X[:, 1] > X[:, 1].mean(), "y": X[:, 2]})


def _wide(make: Callable[[], Any]) -> Case:
    X, y, w = _numbers(20, 24)
    return _fitted(make, X, y, w)


def _fitted(make: Callable[[], Any], X: Any, y: Any, w: Any, weighted: bool = False, first: int | None = None) -> Case:
    first = first or (len(X) * 3) // 4
    parts = [tuple(part[rows] for part in (X, y, w)) for rows in (slice(0, first), slice(first, None))]
    if isinstance(X, pd.DataFrame):
        parts = [(X.iloc[:first], y[:first], w[:first]), (X.iloc[first:], y[first:], w[first:])]
    rows, more = ((x, t, v if weighted else None) for x, t, v in parts)
    model = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows[0], rows[1], **({"sample_weight": rows[2]} if weighted else {}))
    return Case(model, rows, more, model)


def _regressions(make: Callable[[], Any]) -> Iterator[tuple[str, Callable[[], Case]]]:
    X, y, w = _numbers()
    windowed = getattr(make(), "method", "") == "autocorrelation"
    deficient = np.column_stack([X[:, :2], X[:, 0] - X[:, 1], np.ones(len(X))])
    yield "numbers", lambda: _fitted(make, X, y, w)
    yield "weights", lambda: _fitted(make, X, y, w, weighted=not windowed)
    yield "float32", lambda: _fitted(make, X.astype(np.float32), y, w)
    yield "frame", lambda: _fitted(make, pd.DataFrame(X, columns=["a", "b (m)", "ä", "d"]), y, w)
    yield "dependent", lambda: _fitted(make, deficient, y, w)
    if not hasattr(make(), "taps"):
        yield "categories", lambda: _fitted(make, _categories(X), y, w)
    if np.ndim(getattr(make(), "init", 0)) == 0:
        yield "two targets", lambda: _fitted(make, *_numbers(targets=2))
    if (
        getattr(make(), "solver", "auto") == "auto"
        and not getattr(make(), "taps", None)
        and make().basis is None
        and make().get_params().get("criterion") != "loo"
    ):
        yield "wide", lambda: _wide(make)


def _classifiers(make: Callable[[], Any]) -> Iterator[tuple[str, Callable[[], Case]]]:
    X, y, w = _numbers()
    third = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    for name, labels in (
        ("text", np.where(y > np.median(y), "high", "low")),
        ("three", third * 10 - 10),
        ("truth", y > np.median(y)),
        ("objects", np.array(["a", "b", "c"], dtype=object)[third]),
        ("floats", (third > 1).astype(float)),
        ("small", third.astype(np.int8)),
    ):
        yield name, lambda labels=labels: _fitted(make, X, labels, w)
    yield "weights", lambda: _fitted(make, X, third, w, weighted=True)
    yield "frame", lambda: _fitted(make, pd.DataFrame(X, columns=["a", "b", "c", "d"]), third, w)
    yield "dependent", lambda: _fitted(make, np.column_stack([X, X[:, 0] - X[:, 1]]), third, w)
    yield "categories", lambda: _fitted(make, _categories(X), third, w)
    if not hasattr(make(), "partial_fit"):
        return
    for classes in ([0, 1], [0, 1, 2, 3], [0, 1, 2, 3, 4]):
        for seen in (1, 2, 3):
            if seen <= len(classes):
                yield (
                    f"{seen} of {len(classes)} classes seen",
                    (lambda classes=classes, seen=seen: _unseen(make, X, np.minimum(third, seen - 1), classes)),
                )


def _unseen(make: Callable[[], Any], X: Any, y: Any, classes: list[int]) -> Case:
    return Case(make().partial_fit(X[:48], y[:48], classes=classes), (X[:48], y[:48], None), (X[48:], y[48:], None))


def makes() -> dict[str, Callable[[], Any]]:
    """Return functions that make every system of the registry, in every setting."""
    out: dict[str, Callable[[], Any]] = {}
    for name, cls in SYSTEMS.items():
        for settings in ({}, *SETTINGS.get(name, [])):
            shown = ", ".join(f"{key}={value}" for key, value in settings.items() if np.ndim(value) < 2)
            out[f"{name}({shown})"] = lambda cls=cls, settings=settings: cls(**settings)
    return out


def cases() -> list[Any]:
    """Parameters for pytest: functions that give a fitted model with rows."""
    out = []
    for name, make in makes().items():
        kinds = _classifiers if is_classifier(make()) else _regressions
        out += [pytest.param(fitted, id=f"{name} {kind}") for kind, fitted in kinds(make)]
    return out


def assert_equal(a: Any, b: Any, where: str = "model", timed: bool = True, laid: bool = True) -> None:
    """Assert that two things are equal to the bit, in type, dtype and layout.

    Without `timed` but for the seconds of certificates, without `laid` but for the layout of arrays: NumPy pickles
    arrays that are not contiguous row by row.
    """
    assert type(a) is type(b), where
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), where
        assert not laid or _lies(a) == _lies(b), where
        if a.dtype == object:
            assert_equal(a.tolist(), b.tolist(), where, timed, laid)
        else:
            assert a.tobytes() == b.tobytes(), where
    elif isinstance(a, float | np.floating):
        assert repr(a) == repr(b), where
    elif isinstance(a, Certificate) and not timed:
        assert repr(dataclasses.replace(a, seconds=0.0)) == repr(dataclasses.replace(b, seconds=0.0)), where
    elif type(a) in FIELDS:
        for name in FIELDS[type(a)]:
            assert_equal(getattr(a, name), getattr(b, name), f"{where}.{name}", timed, laid)
    elif isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a:
            assert_equal(a[key], b[key], f"{where}.{key}", timed, laid)
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), where
        for i, (one, other) in enumerate(zip(a, b, strict=True)):
            assert_equal(one, other, f"{where}.{i}", timed, laid)
    elif type(a) in TYPES or isinstance(a, Basis):
        assert_equal(vars(a), vars(b), where, timed, laid)
    else:
        assert a == b, where


def _lies(array: Any) -> list[Any]:
    """Return which axes run backwards, and which steps are larger than which."""
    steps = [step for step, size in zip(array.strides, array.shape, strict=True) if size > 1 and array.size > 1]
    return [[step < 0 for step in steps], [[abs(a) > abs(b) for a in steps] for b in steps]]


def sayings(case: Case) -> dict[str, Any]:
    """Return what a model says, all by one copy of it; an error counts as what it says."""
    X, y, w = case.rows
    weighted = {} if w is None else {"sample_weight": w}
    ways: dict[str, Callable[[Any], Any]] = {
        **{
            name: lambda model, name=name: getattr(model, name)(X)
            for name in ("predict", "decision_function", "predict_proba", "transform", "mahalanobis")
        },
        "summary": lambda model: model.summary().to_dict(),
        "robust": lambda model: model.summary(errors="HC3", X=X, y=y, **weighted).to_dict(),
        "interval": lambda model: tuple(model.predict(X, interval="prediction")),
        "inflation": lambda model: model.variance_inflation(),
    }
    reader = copy.deepcopy(case.model)
    return {name: _outcome(way, reader) for name, way in ways.items()}


def behaviours(case: Case) -> dict[str, Any]:
    """Return what a model says, and what becomes of copies of it, each taught in another way.

    A model that `fit` has just made of the rows is what it would become if it was fitted to them again.
    """
    (X, y, w), (more, z, v) = case.rows, case.more
    weighted = {} if w is None else {"sample_weight": w}
    heavier = {} if v is None else {"sample_weight": v}
    continued = _outcome(lambda model: model.partial_fit(more, z, **heavier), copy.deepcopy(case.model))
    return sayings(case) | {
        "continued": continued,
        "forgetful": _outcome(
            lambda model: model.forget(X[:9], y[:9], **_first(weighted, 9)),
            copy.deepcopy(case.model if isinstance(continued, str) else continued),
        ),
        "merged": _outcome(lambda model: model.merge(copy.deepcopy(model)), copy.deepcopy(case.model)),
        "again": _attributes(case.model)
        if case.model is case.fresh
        else _outcome(lambda model: _attributes(model.fit(X, y, **weighted)), copy.deepcopy(case.model)),
    }


def _attributes(model: Any) -> tuple[Any, dict[str, Any]]:
    """Return the type and the attributes of a model, by name: a second fit leaves them in another order."""
    return type(model), dict(sorted(vars(model).items()))


def _outcome(way: Callable[[Any], Any], model: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return way(model)
        except Exception as error:  # the same for both is what counts
            return f"{type(error).__name__}: {error}"


def _first(weighted: dict[str, Any], n: int) -> dict[str, Any]:
    return {name: value[:n] for name, value in weighted.items()}
