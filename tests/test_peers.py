"""Arguments of other packages: every system answers them with what to write here."""

from __future__ import annotations

import re
from typing import Any

import pytest

from adaline.errors import UnknownParameter
from adaline.systems import SYSTEMS
from tests.turns import in_turn

TRIED: dict[str, Any] = {
    **{"C": 2.0, "Cs": 10, "alpha": 0.1, "alphas": [0.1, 1.0], "l1_ratio": 0.5, "n_alphas": 100, "penalty": "l2"},
    **{"random_state": 0, "seed": 0, "shuffle": True, "n_jobs": -1, "verbose": 1, "disp": 0, "copy_X": True},
    **{"max_iter": 100, "n_iter": 5, "tol": 1e-4, "solver": "lbfgs", "dual": False, "precompute": False, "max_fun": 9},
    **{"selection": "cyclic", "fit_intercept": True, "intercept_scaling": 1, "normalize": True, "warm_start": True},
    **{"class_weight": "balanced", "multi_class": "ovr", "loss": "hinge", "family": "poisson", "link": "log"},
    **{"eta0": 0.1, "learning_rate": 0.1, "power_t": 0.5, "average": True, "early_stopping": True, "momentum": 0.9},
    **{"validation_fraction": 0.1, "n_iter_no_change": 5, "cv": 5, "scoring": "r2", "refit": True, "positive": True},
    **{"quantile": 0.5, "power": 1.5, "priors": None, "shrinkage": None, "degree": 2, "kernel": "rbf", "gamma": 1.0},
    **{"probability": True, "missing": "drop", "hasconst": True, "cov_type": "HC3", "sample_weight": None, "X": None},
    **{"init": None, "batch_size": 32, "formula": "y ~ x", "exog": None, "store_cv_results": True, "weights": None},
}
"""Arguments of scikit-learn and statsmodels, with a value each."""


@in_turn("name", TRIED)
def test_an_argument_of_another_package_is_explained(name: str) -> None:
    for owner, system in SYSTEMS.items():
        if name in system._get_param_names():
            continue
        with pytest.raises(UnknownParameter) as caught:
            system(**{name: TRIED[name]})
        said = str(caught.value)
        assert "There are:" not in said, f"{owner}: {said}"
        assert "Did you mean" not in said, f"{owner}: {said}"
        called = re.search(rf"{name} is called (\w+) here", said)
        assert called is None or called[1] in system._get_param_names()


@pytest.mark.every
@pytest.mark.parametrize(
    ("system", "given", "answer"),
    [
        ("LogisticRegression", {"random_state": 0}, "the fit is deterministic"),
        ("LogisticRegression", {"C": 4.0}, "C is 1/penalty here: penalty=0.25"),
        ("LogisticRegression", {"l1_ratio": 0.5}, "penalty=(1 - l1_ratio)/C and l1=l1_ratio/C"),
        ("LogisticRegression", {"max_iter": 100}, "runs until it has converged"),
        ("LogisticRegression", {"multi_class": "ovr"}, "multi_class is called scheme here"),
        ("LogisticRegression", {"n_jobs": -1}, "adaline.set_threads"),
        ("LogisticRegression", {"dual": True}, "the solver is chosen by the shape of the data"),
        ("LogisticRegression", {"intercept_scaling": 1}, "the intercept is never penalised"),
        ("LinearRegression", {"max_iter": 100}, "epochs is for solver='gradient'"),
        ("LinearRegression", {"copy_X": True}, "rows are never changed"),
        ("LinearRegression", {"penalty": "l2"}, "penalty is a parameter of Ridge"),
        ("LinearRegression", {"class_weight": "balanced"}, "weight the rows"),
        ("Ridge", {"alpha": 1.0}, "alpha is called penalty here"),
        ("Ridge", {"normalize": True}, "normalize is called standardize here"),
        ("Ridge", {"solver": "svd"}, "the solver is chosen"),
        ("GeneralizedLinear", {"alpha": 1.0}, "penalty = alpha * rows"),
        ("ElasticNet", {"l1_ratio": 0.5}, "l1_ratio is called mix here"),
        ("Perceptron", {"eta0": 0.1}, "eta0 is called rate here"),
        ("Perceptron", {"learning_rate": "constant"}, "is a schedule here"),
        ("Perceptron", {"seed": 1}, "seed is called random_state here"),
        ("OneVsRest", {"C": 1.0}, "C is a parameter of the machines: OneVsRest(system=LogisticRegression(...))"),
    ],
)
def test_the_answer_fits_the_system(system: str, given: dict[str, Any], answer: str) -> None:
    with pytest.raises(UnknownParameter, match=re.escape(answer)):
        SYSTEMS[system](**given)


def test_a_misspelt_name_is_suggested_and_a_distant_one_is_not() -> None:
    with pytest.raises(UnknownParameter, match="Did you mean penalty"):
        SYSTEMS["Ridge"](penality=1)
    with pytest.raises(UnknownParameter, match=r"no parameter 'metric'\. There are:"):
        SYSTEMS["Ridge"](metric="l2")
