"""What a file of a model has to keep, beside the cases of all laws: kinds of rows, targets and labels, to the bit."""

from __future__ import annotations

import copy
import dataclasses
import warnings
from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline.attributes import own_attributes
from adaline.basis import Basis, Fourier, Polynomial
from adaline.results import Certificate
from adaline.state import FittedState
from adaline.storage.fields import CLASSES, fields_of
from adaline.systems import (
    AdaptiveFilter,
    GeneralizedLinear,
    KeslerPerceptron,
    LeastSquaresClassifier,
    LinearRegression,
    OneVsRest,
    Perceptron,
    Pocket,
    SigmoidPerceptron,
    WienerFilter,
)
from tests.cases import CASES, EVERY, Case, Given

MORE = [
    Case(LinearRegression, {"rate": np.diag([0.001] * 5), "init": [0.0, 1.0, 2.0, 3.0, 4.0]}),
    Case(LinearRegression, {"solver": "gradient", "epochs": 50, "tol": 0.1, "stop_error": np.float32(0.5)}),
    Case(WienerFilter, {"taps": [2, 1, 1, 1], "delay": -3, "fit_intercept": True}),
    Case(WienerFilter, {"taps": 3, "delay": 2, "method": "autocorrelation"}),
    Case(WienerFilter, {"taps": 2, "delay": -7}),
    Case(AdaptiveFilter, {"taps": (2, 3, 1, 4), "delay": 2, "record": 10}),
    Case(AdaptiveFilter, {"taps": 2, "basis": Fourier(terms=1, period=[1.0, 2.0, 3.0, 4.0])}),
    Case(GeneralizedLinear, {"activation": "softplus", "solver": "newton"}),
    Case(Pocket, {"epochs": 5, "basis": Polynomial(degree=2, orthogonal=True) @ Fourier(terms=1)}),
    Case(KeslerPerceptron, {"epochs": 5, "standardize": True, "basis": Polynomial(degree=2)}),
    Case(SigmoidPerceptron, {"activation": "logistic", "epochs": 5}),
    Case(OneVsRest, {"system": Perceptron(epochs=5), "machines": "K-1"}),
    Case(OneVsRest, {"system": SigmoidPerceptron(epochs=5)}),
    Case(OneVsRest, {"system": LeastSquaresClassifier(basis=Fourier(terms=1)), "basis": Polynomial(degree=2)}),
]
"""Arguments that are arrays, lists, systems or bases inside each other, and signals of other lengths."""

UNSEEN = {f"{seen} of {known} classes seen": (seen, known) for seen, known in ((1, 2), (2, 2), (1, 3), (2, 4), (3, 5))}
TYPES = frozenset(EVERY.values())


def table(X: Any) -> pd.DataFrame:
    """Return a frame of numbers, a category and booleans."""
    kinds = np.array(["\u00e4", "b", "c d"])[np.arange(len(X)) % 3]
    return pd.DataFrame({"x": X[:, 0], "kind": kinds, "big": X[:, 1] > X[:, 1].mean(), "y": X[:, 2]})


def kinds(case: Case) -> dict[str, Given]:
    """Return rows of each kind that a case takes; of those with unseen classes, the rows of the classes seen."""
    given = case.rows(n=64)
    X, y, settings = given.X, given.y, case.make().get_params(deep=False)
    out = {
        "float32": given.with_rows(lambda X: X.astype(np.float32)),
        "frame": given.with_rows(lambda X: pd.DataFrame(X, columns=["a", "b (m)", "\u00e4", "d"])),
    }
    if case.keeps("dependent columns"):
        out["dependent"] = given.with_rows(lambda X: np.column_stack([X[:, :2], X[:, 0] - X[:, 1], np.ones(len(X))]))
    if settings.get("method") != "autocorrelation":
        out["weights"] = given.with_weight(np.random.default_rng(1).integers(1, 4, len(X)).astype(float))
    if "taps" not in settings and case.targets != "none":
        out["categories"] = given.with_rows(table)
    if case.classifies:
        third = np.unique(y, return_inverse=True)[1]
        labels = {
            "text": np.where(third > 1, "high", "low"),
            "objects": y.astype(object),
            "truth": third > 0,
            "floats": (third > 1).astype(float),
            "bytes": third.astype(np.int8),
            "negative": third * 10 - 10,
        }
        out |= {name: Given(X, one) for name, one in labels.items()}
        if hasattr(case.make(), "partial_fit") and settings.get("components", 1) == 1:
            out |= {name: Given(X, np.minimum(third, seen - 1)) for name, (seen, _) in UNSEEN.items()}
    elif case.targets != "none" and case.keeps("several targets") and np.ndim(settings.get("init", 0)) == 0:
        out["two targets"] = Given(X, np.column_stack([y, y[::-1]]))
    solved = settings.get("solver", "auto") == "auto" and settings.get("criterion") != "loo"
    solved = solved and case.keeps("dependent columns")
    if case.targets == "numbers" and solved and "taps" not in settings and settings.get("basis") is None:
        out["wide"] = Given(np.random.default_rng(2).normal(size=(20, 24)), y[:20])
    return out


def pairs() -> pytest.MarkDecorator:
    """Parametrize a law by every case, and every kind of rows of every system, in as few pairs as have all of them."""
    found = []
    stored = [case for case in CASES.values() if case.keeps("model files")]
    every = sorted([*stored, *MORE], key=lambda case: case.system.__name__)
    for _, group in groupby(every, key=lambda case: case.system):
        own, seen = list(group), set[str]()
        for i, case in enumerate(own):
            names = list(kinds(case))
            fresh = [name for name in names if name not in seen]
            share = fresh[: -(-len(fresh) // (len(own) - i))] or [names[i % len(names)]]
            seen |= {*share}
            found += [pytest.param(case, kind, id=f"{case.name}-{kind}") for kind in share]
    return pytest.mark.parametrize(("case", "kind"), found)


def fitted(case: Case, kind: str) -> tuple[Any, Given, Given]:
    """Return a model of the first rows of a kind, these rows, and the others."""
    given = kinds(case)[kind]
    cut = len(given.X) * 3 // 4
    first, more = given[:cut], given[cut:]
    if kind in UNSEEN:
        return case.make().partial_fit(*first.arguments, classes=list(range(UNSEEN[kind][1]))), first, more
    return case.fit(first), first, more


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
    elif type(a) in CLASSES.values() or isinstance(a, FittedState):
        for name in fields_of(type(a)).keys() - {"rows"}:  # those of a fit stay with the model that was fitted
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
        assert_equal(*(dict(sorted(own_attributes(one).items())) for one in (a, b)), where, timed, laid)
    else:
        assert a == b, where


def _lies(array: Any) -> list[Any]:
    """Return which axes run backwards, and which steps are larger than which."""
    steps = [step for step, size in zip(array.strides, array.shape, strict=True) if size > 1 and array.size > 1]
    return [[step < 0 for step in steps], [[abs(a) > abs(b) for a in steps] for b in steps]]


def behaviours(model: Any, first: Given, more: Given) -> dict[str, Any]:
    """Return what a model says, and what becomes of copies of it in other ways; an error counts as what it says."""
    X, weighted, early = first.X, first.weighted, first[:9]
    ways: dict[str, Callable[[Any], Any]] = {
        **{
            name: lambda model, name=name: getattr(model, name)(X)
            for name in ("predict", "decision_function", "predict_proba", "transform", "mahalanobis")
        },
        "summary": lambda model: model.summary().to_dict(),
        "robust": lambda model: model.summary(errors="HC3", X=X, y=first.y, **weighted).to_dict(),
        "interval": lambda model: tuple(model.predict(X, interval="prediction")),
        "inflation": lambda model: model.variance_inflation(),
        "continued": lambda model: model.partial_fit(*more.arguments, **more.weighted),
        "forgetful": lambda model: model.forget(*early.arguments, **early.weighted),
        "merged": lambda model: model.merge(copy.deepcopy(model)),
    }
    return {name: _outcome(way, copy.deepcopy(model)) for name, way in ways.items()}


def _outcome(way: Callable[[Any], Any], model: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return way(model)
        except Exception as error:  # the same for both is what counts
            return f"{type(error).__name__}: {error}"
