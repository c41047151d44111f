"""One word for one thing in every system: names, defaults, warnings, and what is said of arguments without meaning."""

from __future__ import annotations

import math
import pickle
import warnings
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

import numpy as np
import pytest
from sklearn import exceptions
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import adaline
from adaline import errors
from adaline.basis import BASES
from adaline.cli.open import read_settings, split_call
from adaline.construction import checks_of, configured
from adaline.errors import AdalineError, AdalineWarning, InvalidParameter
from adaline.peers import NOTES, OUR_NAMES, OUR_SYSTEMS
from adaline.state import attributes_of
from adaline.systems import SYSTEMS
from tests.cases import EVERY, Case
from tests.systems.own_machines import Plane

every_system = pytest.mark.parametrize("system", EVERY.values(), ids=EVERY)


def rows(system: type[Any]) -> tuple[Any, Any]:
    """Rows of two columns that suit a system: labels of two classes for classifiers, numbers for the others."""
    given = Case(system).rows(n=30, classes=2)
    return given.X[:, :2], np.zeros(30) if given.y is None else given.y


# -- one word, one default -------------------------------------------------------------------------------------------


@every_system
def test_online_or_batch_is_a_mode(system: type[Any]) -> None:
    given = Case(system).make().get_params(deep=False)
    assert not {"batch", "online", "sequential"} & {value for value in given.values() if isinstance(value, str)} - {
        given.get("mode")
    }
    if "mode" in given:
        X, y = rows(system)
        for mode in ("online", "batch"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                system(mode=mode, epochs=3).fit(X, y)
        with pytest.raises(InvalidParameter, match="mode must be one of online, batch, got 'sequential'"):
            system(mode="sequential").fit(X, y)


def test_modes_and_shuffles_have_one_default() -> None:
    given = {name: Case(cls).make().get_params() for name, cls in EVERY.items()}
    assert {name for name in given if "mode" in given[name]} == {"Adaline", "Perceptron", "SigmoidPerceptron"}
    assert {name for name in given if "shuffle" in given[name]} >= {
        "LMS",
        "Perceptron",
        "GeneralizedLinear",
        "CustomMachine",
    }
    assert {given[name].get("shuffle") for name in given} <= {None, False}


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_covariances_have_scikit_learns_names(kind: str) -> None:
    """A mixture of one component for each class, on its rows, has the covariance that the classifier has."""
    X, y = rows(adaline.GaussianClassifier)
    model = adaline.GaussianClassifier(covariance=kind).fit(X, y)
    parts = [X[y == label] for label in model.classes_]
    if kind == "tied":
        total = sum(len(part) * np.cov(part.T, ddof=0) for part in parts) / len(X)
        np.testing.assert_allclose(model.covariance_, total, rtol=1e-12)
        assert adaline.GaussianMixture(covariance_type=kind).fit(X).covariances_.shape == model.covariance_.shape
        shared = adaline.GaussianClassifier(covariance="shared").fit(X, y)
        np.testing.assert_array_equal(shared.coef_, model.coef_)
        np.testing.assert_array_equal(shared.covariance_, model.covariance_)
        return
    mixtures = [adaline.GaussianMixture(covariance_type=kind, reg_covar=0.0).fit(part) for part in parts]
    np.testing.assert_allclose(model.covariance_, [mixture.covariances_[0] for mixture in mixtures], rtol=1e-9)
    joint = np.column_stack([mixture.score_samples(X[:5]) for mixture in mixtures])
    np.testing.assert_allclose(model.log_likelihood(X[:5]), joint, rtol=1e-9)


# -- warnings --------------------------------------------------------------------------------------------------------

LINE = np.arange(12.0)[:, None]
MIXED = np.array([0, 1] * 6)
APART = np.repeat([0, 1], 6)
FEW = rows(adaline.LMS)
LONG = (np.tile(FEW[0], (10, 1)), np.tile(FEW[1], 10))
NOISE = np.random.default_rng(0).normal(size=(60, 2))

WARNING: dict[str, Callable[[], tuple[Any, tuple[Any, ...]]]] = {
    "LinearRegression": lambda: (adaline.LinearRegression(solver="gradient", epochs=2), FEW),
    "RobustRegression": lambda: (adaline.RobustRegression(epochs=1), FEW),
    "AdaptiveFilter": lambda: (
        adaline.AdaptiveFilter(rule="lms", rate=10.0),
        LONG,
    ),
    "GeneralizedLinear": lambda: (adaline.GeneralizedLinear(solver="gradient", epochs=1), FEW),
    "CustomMachine": lambda: (adaline.CustomMachine(Plane(), solver="gradient", epochs=1), FEW),
    "LogisticRegression": lambda: (adaline.LogisticRegression(), (LINE, APART)),
    "OrdinalRegression": lambda: (adaline.OrdinalRegression(), (LINE, APART)),
    "LMS": lambda: (adaline.LMS(rate=10.0), FEW),
    "Adaline": lambda: (adaline.Adaline(rate=10.0), (LINE, MIXED)),
    "Perceptron": lambda: (adaline.Perceptron(epochs=2), (LINE, MIXED)),
    "KeslerPerceptron": lambda: (adaline.KeslerPerceptron(epochs=2), (LINE, MIXED)),
    "SigmoidPerceptron": lambda: (adaline.SigmoidPerceptron(activation="logistic", rate=0.5, epochs=20), (LINE, APART)),
    "OneVsRest": lambda: (adaline.OneVsRest(adaline.Perceptron(epochs=2)), (LINE, MIXED)),
    "OneVsOne": lambda: (adaline.OneVsOne(adaline.Perceptron(epochs=2)), (LINE, MIXED)),
    "GaussianMixture": lambda: (adaline.GaussianMixture(n_components=3, max_iter=1, tol=0.0), (NOISE,)),
}
"""Systems, and rows of which they have something to say."""

QUIET = {
    "Ridge",
    "ElasticNet",
    "WienerFilter",
    "AdditiveModel",
    "InstrumentalVariables",
    "LeastSquaresClassifier",
    "FisherDiscriminant",
    "GaussianClassifier",
    "Pocket",
    "OnlineLogistic",
    "KMeans",
}
"""Systems that solve or count, or whose steps find their own size, and do not warn."""


def test_every_system_warns_or_is_quiet() -> None:
    assert EVERY.keys() == WARNING.keys() | QUIET


@pytest.mark.parametrize("name", WARNING)
def test_warnings_are_ours_and_point_at_the_line_that_fits(name: str) -> None:
    model, given = WARNING[name]()
    pipeline = make_pipeline(StandardScaler(with_std=False), WARNING[name]()[0])
    calls = [model.fit, getattr(WARNING[name]()[0], "partial_fit", model.fit), pipeline.fit]
    for place, call in enumerate(calls):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(*given)
        assert caught or place > 0
        if place == 0 and name not in ("LogisticRegression", "OrdinalRegression"):  # classes apart have no maximum
            assert any(issubclass(one.category, errors.ConvergenceWarning) for one in caught)
        for one in caught:
            ours, theirs = errors.ConvergenceWarning, exceptions.ConvergenceWarning
            assert issubclass(one.category, AdalineWarning)
            assert issubclass(one.category, ours) == issubclass(one.category, theirs)
            assert one.filename == __file__, f"{one.filename}:{one.lineno}"


@pytest.mark.parametrize("kind", [errors.ConvergenceWarning, errors.NotFittedError])
def test_what_is_raised_is_ours_and_scikit_learns(kind: type[Exception]) -> None:
    assert pickle.loads(pickle.dumps(kind)) is kind
    both = errors.of_both(kind)
    assert issubclass(both, (kind, getattr(exceptions, kind.__name__)))
    assert repr(both("why")) == repr(kind("why")) == f"{kind.__name__}('why')"
    again = pickle.loads(pickle.dumps(both("why")))
    assert type(again) is both
    assert again.args == ("why",)


def test_errors_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match="no attribute 'DivergenceWarning'"):
        _ = errors.DivergenceWarning  # type: ignore[attr-defined]


# -- names of others -------------------------------------------------------------------------------------------------


BY_POSITION = {
    **{"Ridge": "penalty", "KMeans": "n_clusters", "GaussianMixture": "n_components", "GeneralizedLinear": "loss"},
    **{"AdaptiveFilter": "taps", "WienerFilter": "taps", "OneVsRest": "system", "OneVsOne": "system"},
    "CustomMachine": "machine",
    **{"Polynomial": "degree", "Spline": "df", "Fourier": "terms", "Radial": "centres", "Custom": "function"},
    **{"Beside": "bases", "After": "outer inner"},
}


@pytest.mark.every
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: adaline.Ridge(alpha=1), "alpha is called penalty here"),
        (lambda: adaline.LogisticRegression(C=0.25, max_iter=1), r"C is 1/penalty here: penalty=4\.0; max_iter is not"),
        (lambda: adaline.LogisticRegression(C=True), "C is 1/penalty here$"),
        (lambda: adaline.LogisticRegression(C="big"), "C is 1/penalty here"),
        (lambda: adaline.Perceptron(max_iter=1, eta0=1.0), "max_iter is called epochs here; eta0 is called rate here"),
        (lambda: adaline.Perceptron(alpha=1.0), "alpha is the penalty of Ridge"),
        (lambda: adaline.ElasticNet(alpha=1.0, l1_ratio=0.5), r"l1 = alpha \* rows.*; l1_ratio is called mix here"),
        (lambda: adaline.ElasticNet(C=4.0, alphas=[1.0]), r"C is 1/l1 here: l1=0\.25; alphas is l1='auto' here"),
        (lambda: adaline.ElasticNet(n_alphas=9, eps=0.1), "n_alphas is called points here; eps is called ratio here"),
        (lambda: adaline.LogisticRegression(positive=True), r"ElasticNet\(loss='logistic', positive=True\)"),
        (lambda: adaline.Ridge(groups=[0, 0, 1]), r"ElasticNet\(groups=\.\.\.\)"),
        (lambda: adaline.KMeans(3, 9), r"takes its parameters by name: KMeans\(n_clusters=3, init=9\)"),
        (lambda: adaline.Perceptron(3), r"Perceptron takes its parameters by name: Perceptron\(mode=3\)"),
        (lambda: adaline.LinearRegression([1.0], [[2.0]]), r"rows are given to fit: LinearRegression\(\)\.fit\(X, y\)"),
        (lambda: adaline.RobustRegression(tau=0.9), "tau is called quantile here"),
        (lambda: adaline.GeneralizedLinear(family="poisson"), "family is called loss here"),
        (lambda: adaline.OneVsRest(estimator=None), "estimator is called system here"),
        (lambda: adaline.GaussianMixture(k=2), "k is called n_components here"),
        (lambda: adaline.GaussianClassifier(covariance_type="full"), "covariance_type is called covariance here"),
        (lambda: adaline.AdaptiveFilter(n=4, mu=0.1), "n is called taps here; mu is called rate here"),
        (lambda: adaline.LinearRegression(n_jobs=2), "set_threads"),
        (lambda: adaline.basis.Polynomial(3, False), r"Polynomial\(degree=3, interactions=False\)"),
        (lambda: adaline.Ridge(penalti=1), r"Did you mean penalty\? There are: penalty, criterion"),
        (lambda: adaline.Ridge(zzz=1), r"no parameter 'zzz'\. There are: penalty, criterion"),
        (lambda: adaline.Ridge().set_params(alpha=1), "alpha is called penalty here"),
    ],
)
def test_names_of_others_are_told_ours(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message) as caught:
        call()
    assert isinstance(caught.value, AdalineError)
    assert isinstance(caught.value, InvalidParameter)


@pytest.mark.parametrize("cls", [*EVERY.values(), *BASES.values()], ids=[*EVERY, *BASES])
def test_unknown_names_are_refused_with_the_known_ones(cls: type[Any]) -> None:
    with pytest.raises(TypeError, match=rf"{cls.__name__} has no parameter 'qqq'\..*There are: ") as caught:
        cls(qqq=1)
    assert all(name in str(caught.value) for name in cls._get_param_names())
    with pytest.raises(TypeError, match=f"{cls.__name__} takes its parameters by name"):
        cls(*range(20))


@pytest.mark.parametrize("cls", [*EVERY.values(), *BASES.values()], ids=[*EVERY, *BASES])
def test_only_what_everybody_gives_by_position_may_be(cls: type[Any]) -> None:
    taken = signature(cls).parameters
    first = [name for name, one in taken.items() if one.kind is Parameter.POSITIONAL_OR_KEYWORD]
    assert first == BY_POSITION.get(cls.__name__, "").split()
    assert {one.kind for name, one in taken.items() if name not in first} <= {Parameter.KEYWORD_ONLY}
    values = [object() for _ in first]
    if first:
        assert [cls(*values).get_params(deep=False)[name] for name in first] == values


def test_names_and_systems_that_are_told_exist() -> None:
    ours = {name for cls in [*EVERY.values(), *BASES.values()] for name in cls._get_param_names()}
    assert {name for names in OUR_NAMES.values() for name in names} <= ours
    assert not [name for name, names in OUR_NAMES.items() if name in names and name not in NOTES]
    for call in OUR_SYSTEMS:
        name, settings = split_call(call)
        SYSTEMS[name](**read_settings(name, settings))
    elsewhere = [name for names in OUR_SYSTEMS.values() for name in names]
    assert len(elsewhere) == len(set(elsewhere))
    assert not {name.lower() for name in EVERY} & set(elsewhere)


def test_own_errors_of_a_constructor_stay_as_they_are() -> None:
    @configured
    class Own(adaline.Ridge):
        def __init__(self, *, strength: float = 1.0) -> None:
            super().__init__(penalty=strength + "")  # type: ignore[operator]

    with pytest.raises(TypeError, match="unsupported operand"):
        Own()
    with pytest.raises(TypeError, match=r"Own has no parameter 'force'\. There are: strength"):
        Own(force=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="function"):
        adaline.basis.Custom()  # type: ignore[call-arg]


# -- checks of parameters --------------------------------------------------------------------------------------------

NONSENSE: dict[str, Any] = {
    "object": object(),
    "NaN": math.nan,
    "infinity": math.inf,
    "-1": -1,
    "text": "nonsense",
    "list": ["nonsense"],
    "class": dict,
}

MEANT = {
    ("LinearRegression", "stop_error", "-1"),
    ("GeneralizedLinear", "stop_error", "-1"),
    ("CustomMachine", "stop_error", "-1"),
    ("SigmoidPerceptron", "stop_error", "-1"),
    ("LeastSquaresClassifier", "threshold", "-1"),
    ("FisherDiscriminant", "threshold", "-1"),
    ("WienerFilter", "delay", "-1"),
    ("InstrumentalVariables", "endogenous", "-1"),
    ("InstrumentalVariables", "instruments", "-1"),
    ("Custom", "names_out", "list"),
}
"""Values of NONSENSE that mean something.

An error below zero is never reached, a filter may look ahead, and columns have indices from the end.
"""


@pytest.mark.parametrize("cls", [*EVERY.values(), *BASES.values()], ids=[*EVERY, *BASES])
def test_every_parameter_has_a_check(cls: type[Any]) -> None:
    assert set(cls._get_param_names()) <= checks_of(cls).keys()


@pytest.mark.every
@pytest.mark.parametrize(
    ("system", "name"), [(system, name) for system, cls in EVERY.items() for name in cls._get_param_names()]
)
def test_a_value_that_means_nothing_is_refused_by_name(system: str, name: str) -> None:
    case = Case(EVERY[system])
    X, y = rows(case.system)
    for kind, value in NONSENSE.items():
        if (system, name, kind) in MEANT or (callable(value) and name == "schedule"):
            continue
        for method in ("fit", "partial_fit"):
            model = case.make(**{name: value})
            if not hasattr(model, method):
                continue
            with pytest.raises(InvalidParameter, match=rf"^{name} must be .*, got "):
                getattr(model, method)(X, y)
            assert not [key for key in attributes_of(model) if key.endswith("_")], (
                "a fit that fails leaves nothing behind"
            )


@pytest.mark.every
@pytest.mark.parametrize(
    ("basis", "name"), [(name, parameter) for name, cls in BASES.items() for parameter in cls._get_param_names()]
)
def test_a_basis_refuses_values_by_name(basis: str, name: str) -> None:
    needed: dict[str, dict[str, Any]] = {
        "Custom": {"function": np.abs},
        "Beside": {"bases": [adaline.basis.Fourier()]},
        "After": {"outer": adaline.basis.Fourier(), "inner": adaline.basis.Fourier()},
    }
    for kind, value in NONSENSE.items():
        if (basis, name, kind) in MEANT or (callable(value) and name == "function"):
            continue
        with pytest.raises(InvalidParameter, match=rf"^{name} must be .*, got "):
            BASES[basis](**needed.get(basis, {}) | {name: value}).fit(np.ones((3, 1)))


@every_system
def test_a_parameter_changed_after_a_fit_is_checked_again(system: type[Any]) -> None:
    X, y = rows(system)
    model = Case(system).make().fit(X, y)
    name = "basis" if "basis" in model.get_params(deep=False) else "criterion"
    model.set_params(**{name: "nonsense"})
    with pytest.raises(InvalidParameter, match=rf"^{name} must be "):
        model.fit(X, y)
    if hasattr(model, "partial_fit"):
        with pytest.raises(InvalidParameter, match=rf"^{name} must be "):
            model.partial_fit(X, y)
