"""One table of cases: every system in the settings that change how it learns, and rows that suit it.

A law is a test over `@cases(...)`, written once. Where cases break a law on purpose, EXCEPTIONS has them with the
reason, under the name that the law gives. A system that is registered and not listed in SETTINGS is a case with its
defaults.
`fitted` gives the model that a law only reads; nothing else may be done to it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier

from adaline.activations import ACTIVATIONS
from adaline.arrays import Array
from adaline.basis import Fourier, Polynomial, Radial
from adaline.losses import FAMILIES, Composed, Huber, NegativeBinomial, Tukey
from adaline.systems import (
    CUSTOM,
    SYSTEMS,
    UNSUPERVISED,
    LeastSquaresClassifier,
    LinearSystem,
    LogisticRegression,
    Perceptron,
)
from tests.systems.own_machines import Plane

EVERY: dict[str, type[Any]] = {**SYSTEMS, **UNSUPERVISED, **CUSTOM}
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "LinearRegression": [
        {"fit_intercept": False},
        {"solver": "qr"},
        {"solver": "svd"},
        {"solver": "normal"},
        {"solver": "gradient", "epochs": 5000},
        {"weights": "precision"},
        {"basis": Polynomial(degree=2)},
    ],
    "Ridge": [{"penalty": 0.5}, {"criterion": "evidence"}, {"criterion": "loo"}, {"fit_intercept": False}],
    "ElasticNet": [
        {"l1": 1.0, "loss": "poisson"},
        {"l1": 2.0, "mix": 0.5},
        {"l1": 1.0, "positive": True},
        {"weights": "precision", "l1": 1.0},
    ],
    "AdditiveModel": [
        {"criterion": "gcv"},
        {"criterion": "ml", "weights": "precision"},
        *({"loss": name} for name in ("poisson", "binomial", "gamma")),
        {"loss": NegativeBinomial(shape=2.0), "criterion": "ml"},
    ],
    "RobustRegression": [
        {"loss": "tukey", "scale": "huber"},
        {"loss": "absolute"},
        {"loss": "quantile", "quantile": 0.3, "fit_intercept": False},
        {"penalty": 0.5, "standardize": True},
    ],
    "WienerFilter": [
        {"taps": 3},
        {"taps": (2, 3, 1, 4), "delay": 2},
        {"taps": 2, "delay": -3, "fit_intercept": True},
        {"taps": 2, "method": "autocorrelation", "penalty": 0.1},
    ],
    "AdaptiveFilter": [
        {"taps": 3, "rate": 0.1},
        {"taps": 2, "rule": "rls", "forgetting": 0.99, "fit_intercept": True},
        {"rule": "lms", "rate": 1e-4, "leak": 0.1},
        {"rule": "sign", "rate": 1e-3},
    ],
    "LogisticRegression": [
        {"penalty": 1.0},
        {"penalty": "auto", "folds": 3},
        {"scheme": "one-vs-rest"},
        {"scheme": "one-vs-one", "penalty": 0.1},
        {"solver": "lbfgs", "class_weight": "balanced"},
        {"l1": 1.0},
        {"firth": True, "scheme": "one-vs-rest"},
        {"penalty": 1.0, "basis": Radial(centres=3) + Fourier(terms=2, random=True)},
    ],
    "OnlineLogistic": [{"scheme": "one-vs-rest", "epochs": 3}, {"penalty": 1.0, "l1": 0.5, "average": True}],
    "OrdinalRegression": [{"link": "probit"}, {"link": "cloglog", "penalty": 0.1, "standardize": True}],
    "GeneralizedLinear": [
        *({"loss": name} for name in FAMILIES if name != "gaussian"),
        {"loss": "binomial", "link": "probit"},
        {"loss": "gamma", "weights": "precision"},
        {"loss": Huber(delta=2.0), "penalty": 1.0, "solver": "newton"},
        {"loss": Composed(Tukey(c=100.0), ACTIVATIONS["exp"]), "solver": "lbfgs"},
        {"solver": "stochastic", "rate": 1e-4, "epochs": 3},
    ],
    "CustomMachine": [
        {"loss": "poisson", "penalty": 0.5, "tol": 1e-15},
        {"solver": "gradient", "epochs": 50},
        {"solver": "stochastic", "rate": 1e-4, "epochs": 3},
    ],
    "LMS": [{"rate": 1e-3, "epochs": 3, "fit_intercept": False}, {"rate": 0.1, "schedule": "1/t"}],
    "Adaline": [{"mode": "batch", "epochs": 50}, {"rate": 1e-3, "schedule": "power"}],
    "Perceptron": [
        {"epochs": 5, "fit_intercept": False},
        {"mode": "batch", "epochs": 5},
        {"init": "random", "epochs": 5},
        {"epochs": 5, "standardize": True},
    ],
    "Pocket": [{"epochs": 5, "basis": Polynomial(degree=2)}, {"epochs": 5, "standardize": True}],
    "KeslerPerceptron": [{"epochs": 5, "standardize": True}],
    "SigmoidPerceptron": [{"mode": "online"}, {"mode": "online", "activation": "logistic", "rate": 0.01}],
    "OneVsRest": [{"machines": "K-1"}, {"system": Perceptron(epochs=5)}, {"system": LogisticRegression(penalty=1.0)}],
    "OneVsOne": [{"system": LeastSquaresClassifier()}],
    "LeastSquaresClassifier": [{"coding": "signed"}, {"fit_intercept": False}],
    "FisherDiscriminant": [{"covariance": "identity"}, {"threshold": "prior"}, {"components": 1}],
    "GaussianClassifier": [
        *({"covariance": kind} for kind in ("full", "diag", "spherical", "identity")),
        {"covariance": "full", "shrinkage": 0.3},
        {"covariance": "full", "components": 2},
    ],
    "KMeans": [{"n_clusters": 2, "init": "random", "tol": 0.0}],
    "GaussianMixture": [
        {"n_components": 2, "covariance_type": kind, "tol": 1e-12, "max_iter": 500}
        for kind in ("full", "tied", "diag", "spherical")
    ],
}
"""Arguments besides the defaults."""
FEWER_EPOCHS = {name: {"epochs": 9} for name in ("Perceptron", "KeslerPerceptron", "Pocket")}
"""Arguments of systems that go over rows which no plane separates a thousand times."""
WITHOUT_DEFAULT: dict[str, dict[str, Any]] = {"CustomMachine": {"machine": Plane()}}
"""Arguments that a system needs."""

EXCEPTIONS: dict[str, dict[str, str]] = {
    "weights": {
        "AdditiveModel(criterion='ml', weights": "precisions count rows",
        "ElasticNet()": "rows are divided into folds",
        "ElasticNet(weights": "precisions count rows",
        "LogisticRegression(penalty='auto', folds=3)": "rows are divided into folds",
        "LogisticRegression(penalty=1.0, basis=": "centres are drawn from the rows",
        "OneVsRest(system=Perceptron": "rows are learned in their order",
    },
    "unit of weights": {
        "Ridge": "a penalty against the sum over rows",
        "AdditiveModel": "a ratio of variances by degrees of freedom",
        "ElasticNet(l1": "a penalty against the sum over rows",
        "RobustRegression(loss='tukey', scale='huber')": "a scale by degrees of freedom",
        "RobustRegression(penalty": "a penalty against the sum over rows",
        "WienerFilter(taps=2, method='autocorrelation'": "the method takes no weights",
        "GeneralizedLinear(loss=Huber": "a penalty against the sum over rows",
        "CustomMachine(loss='poisson', penalty": "a penalty against the sum over rows",
        "LogisticRegression(penalty=1.0": "a penalty against the sum over rows",
        "LogisticRegression(scheme='one-vs-one', penalty": "a penalty against the sum over rows",
        "LogisticRegression(l1": "a penalty against the sum over rows",
        "LogisticRegression(firth": "a penalty by Fisher's information",
        "OrdinalRegression(link='cloglog', penalty": "a penalty against the sum over rows",
        "Perceptron": "weights are counts of steps",
        "Pocket": "weights are counts of steps",
        "KeslerPerceptron": "weights are counts of steps",
        "OneVsRest(system=": "a penalty against the sum over rows, or steps",
    },
    "order": {
        "ElasticNet()": "rows are divided into folds",
        "LogisticRegression(penalty='auto', folds=3)": "rows are divided into folds",
        "OneVsRest(system=Perceptron": "rows are learned in their order",
        "GaussianClassifier(covariance='full', components=2)": "the start is drawn from the rows",
        "KMeans": "the start is drawn from the rows",
        "GaussianMixture": "the start is drawn from the rows",
    },
    "rows of weight zero": {
        "ElasticNet()": "rows are divided into folds",
        "WienerFilter(taps": "a signal of other samples is another signal",
        "AdaptiveFilter(taps": "a signal of other samples is another signal",
        "Pocket": "rows are drawn",
    },
    "sparse rows": {
        "WienerFilter": "signals are dense",
        "AdaptiveFilter": "signals are dense",
        "Perceptron(epochs=5, standardize": "standardised columns have no zeros to leave out",
        "Pocket(epochs=5, standardize": "standardised columns have no zeros to leave out",
        "KeslerPerceptron(epochs=5, standardize": "standardised columns have no zeros to leave out",
        "GaussianMixture": "densities have no zeros to leave out",
    },
    "tables": {
        "WienerFilter(taps=2, method='autocorrelation'": "the method takes no weights",
        "Pocket": "rows are drawn, and those of a stream in their order",
    },
    "going on": {
        "Ridge(criterion='loo')": "the criterion needs all rows",
        "GaussianClassifier(covariance='full', components=2)": "mixtures need all rows",
    },
    "chunks": {
        "Perceptron(epochs=5, standardize": "the first rows set the scales",
        "Pocket(epochs=5, standardize": "the first rows set the scales",
        "KeslerPerceptron(epochs=5, standardize": "the first rows set the scales",
    },
    "parts": {
        "AdditiveModel": "knots are learned from the first rows",
        "WienerFilter(taps": "a recording that is cut is another recording",
        "GaussianClassifier(covariance='full', components=2)": "mixtures need all rows",
    },
    "several targets": {
        "CustomMachine": "one machine has all outputs",
        "AdditiveModel": "one model has the ratios of variances of one target",
    },
    "dependent columns": {"AdditiveModel": "curves of columns that depend on each other are refused"},
    "a constant target": {"CustomMachine": "a machine need not have a constant"},
    "model files": {"CustomMachine": "a machine is Python code"},
    "one weight": {"WienerFilter(taps=2, method='autocorrelation'": "the method takes no weights"},
    "units of columns": {
        "Ridge(penalty=0.5)": "a penalty in the units of the columns",
        "ElasticNet(l1": "a penalty in the units of the columns",
        "ElasticNet(weights": "a penalty in the units of the columns",
        "WienerFilter(taps=2, method": "a penalty in the units of the columns",
        "GeneralizedLinear(loss=Huber": "a penalty in the units of the columns",
        "LogisticRegression(penalty=1.0": "a penalty in the units of the columns",
        "LogisticRegression(scheme='one-vs-one', penalty": "a penalty in the units of the columns",
        "LogisticRegression(l1": "a penalty in the units of the columns",
        "OnlineLogistic(penalty": "a penalty in the units of the columns",
        "OneVsRest(system=LogisticRegression": "a penalty in the units of the columns",
        "AdaptiveFilter": "a step in the units of the columns",
        "GeneralizedLinear(solver='stochastic'": "a step in the units of the columns",
        "CustomMachine": "the machine is given the columns in their units",
        "LMS(rate": "a step in the units of the columns",
        "Adaline(rate": "a step in the units of the columns",
        "Perceptron": "a step in the units of the columns",
        "Pocket": "a step in the units of the columns",
        "KeslerPerceptron": "a step in the units of the columns",
        "SigmoidPerceptron(mode='online', activation": "a step in the units of the columns",
        "OneVsRest(system=Perceptron": "a step in the units of the columns",
        "FisherDiscriminant(covariance='identity')": "distances in the units of the columns",
        "GaussianClassifier(covariance='spherical')": "distances in the units of the columns",
        "GaussianClassifier(covariance='identity')": "distances in the units of the columns",
        "GaussianClassifier(covariance='full', shrinkage": "distances in the units of the columns",
        "GaussianClassifier(covariance='full', components": "distances in the units of the columns",
        "KMeans": "distances in the units of the columns",
        "GaussianMixture": "the start is found by distances in the units of the columns",
    },
    "units of targets": {
        "ElasticNet(l1": "a penalty in the units of the targets",
        "ElasticNet(weights": "a penalty in the units of the targets",
        "AdaptiveFilter(rule='sign'": "a step in the units of the targets",
        "GeneralizedLinear(loss=Huber": "a threshold in the units of the targets",
        "GeneralizedLinear(loss=Composed": "a threshold in the units of the targets, and a mean that is an exponential",
    },
}
"""By the name of a law, which cases break it and why; a case is named by the beginning of its call, and
that of the defaults ends in ()."""


@dataclass(frozen=True)
class Case:
    """A system with its arguments."""

    system: type[Any]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The call that makes it."""
        return self.system.__name__ + (f"({self.shown})" if self.settings else "")

    @property
    def shown(self) -> str:
        """The arguments, as they are written."""
        return ", ".join(f"{key}={value!r}" for key, value in self.settings.items())

    def make(self, **settings: Any) -> Any:
        """Return a model that is not fitted."""
        return self.system(**{**WITHOUT_DEFAULT.get(self.system.__name__, {}), **self.settings, **settings})

    @cached_property
    def classifies(self) -> bool:
        """Whether the targets are labels."""
        return is_classifier(self.make())

    @property
    def linear(self) -> bool:
        """Whether it solves least squares, with what all such systems give: sums that add up, ranks and summaries."""
        return issubclass(self.system, LinearSystem)

    @property
    def in_order(self) -> bool:
        """Whether it learns from rows one after the other, in steps as long as their weights."""
        return self.scans or "Filter" in self.name or self.settings.get("solver") == "stochastic"

    def keeps(self, law: str) -> bool:
        """Whether it is no exception from a law."""
        return not f"{self.system.__name__}({self.shown})".startswith(tuple(EXCEPTIONS[law]))

    @cached_property
    def scans(self) -> bool:
        """Whether rows are learned in their order, one by one."""
        model = self.make()
        return hasattr(model, "learn_one") and getattr(model, "mode", "online") == "online"

    @property
    def adds(self) -> bool:
        """Whether models add up: parts are merged, and rows forgotten."""
        return hasattr(self.system, "forget") and self.settings.get("criterion") != "loo"

    def rows(self, n: int = 60, seed: int = 0, classes: int = 3) -> Given:
        """Return well-conditioned rows, and targets with noise that the system admits."""
        return _rows(self.targets, n, seed, classes)

    @property
    def targets(self) -> str:
        """The kind of targets that it admits: numbers, counts, shares, labels or none."""
        if self.system.__name__ in UNSUPERVISED:
            return "none"
        if self.classifies:
            return "labels"
        loss = self.settings.get("loss")
        if loss == "binomial":
            return "shares"
        return "counts" if getattr(loss, "name", loss) in FAMILIES and loss != "gaussian" else "numbers"

    def fit(self, given: Given, **settings: Any) -> Any:
        """Return a model of the rows, weighted where they have weights; warnings are not shown."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.make(**settings).fit(*given.arguments, **given.weighted)


@dataclass(frozen=True)
class Given:
    """Rows, their targets unless the system is unsupervised, and their weights unless all are one."""

    X: Any
    y: Any = None
    weight: Any = None

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The rows and the targets, as `fit` takes them."""
        return (self.X,) if self.y is None else (self.X, self.y)

    @property
    def weighted(self) -> dict[str, Any]:
        """The weights, as `fit` takes them."""
        return {} if self.weight is None else {"sample_weight": self.weight}

    def __getitem__(self, rows: Any) -> Given:
        return Given(*(part if part is None else part[rows] for part in (self.X, self.y, self.weight)))

    def with_rows(self, change: Callable[[Any], Any]) -> Given:
        """Return the same targets for other rows."""
        return Given(change(self.X), self.y, self.weight)

    def with_weight(self, weight: Any) -> Given:
        """Return the same rows with weights."""
        return Given(self.X, self.y, weight)


def _rows(targets: str, n: int, seed: int, classes: int) -> Given:
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, 4)) + rng.normal(size=4)).round(3).astype(np.float32).astype(np.float64)
    value = X @ np.array([0.6, -0.4, 0.3, 0.2]) + 0.5
    noise = 0.5 * rng.normal(size=n)
    match targets:
        case "none":
            return Given(X + 6.0 * (np.arange(n) % 2)[:, None])
        case "labels":
            t = value + 2 * noise
            return Given(X, np.array(["a", "b", "c"])[np.digitize(t, np.quantile(t, np.arange(1, classes) / classes))])
        case "shares":
            return Given(X, (value + noise > np.median(value)).astype(float))
        case "counts":
            return Given(X, 1.0 + rng.poisson(np.exp(value)))
    return Given(X, value + noise)


CASES: dict[str, Case] = {
    case.name: case
    for name, system in EVERY.items()
    for case in (
        Case(system, FEWER_EPOCHS.get(name, {})),
        *(Case(system, settings) for settings in SETTINGS.get(name, ())),
    )
}


def cases(only: Callable[[Case], bool] = lambda case: True, law: str = "") -> pytest.MarkDecorator:
    """Parametrize a law by all cases of which it speaks, but the exceptions from it."""
    names = [name for name, case in CASES.items() if only(case) and (not law or case.keeps(law))]
    return pytest.mark.parametrize("case", [CASES[name] for name in names], ids=names)


@cache
def fitted(name: str) -> Any:
    """Return a case fitted to its rows, once a process: to be read and not changed."""
    case = CASES[name]
    return case.fit(case.rows())


def reading(model: Any, X: Any) -> Array:
    """Return the numbers that a model gives for rows: discriminants, distances, densities or predictions."""
    if hasattr(model, "log_likelihood"):  # densities have units, their ratios have none
        return np.asarray(model.predict_proba(X))
    for method in ("decision_function", "score_samples", "transform"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(X))
    return np.asarray(model.predict(X))


def assert_same(ours: Any, theirs: Any, X: Any, rtol: float | None = None) -> None:
    """Assert that two models say the same of rows: to a relative tolerance, or to two digits fewer than both claim.

    A claim excuses no difference beyond 1e-6, and asks for none below 1e-8.
    """
    if rtol is None:
        claimed = min(np.nan_to_num(one.certificate_.digits) for one in (ours, theirs))
        rtol = 10.0 ** -(np.clip(claimed, 8.0, 10.0) - 2.0)
    found, expected = reading(ours, X), reading(theirs, X)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * np.abs(expected[np.isfinite(expected)]).max())
