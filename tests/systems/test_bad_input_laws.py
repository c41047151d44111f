"""Laws over every system and every bad input: finite numbers or an AdalineError; "solved" only with finite numbers."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier

from adaline import AdalineError, Status
from adaline.arrays import host, is_sparse
from adaline.errors import AdalineWarning
from adaline.losses import FAMILIES
from adaline.state import attributes_of
from adaline.systems import UNSUPERVISED
from tests.cases import CASES
from tests.systems.bad_inputs import BAD, TARGETS, WEIGHTS, Given, good

DEFAULTS = {name: case for name, case in CASES.items() if case.settings.keys() <= {"epochs"}}
"""Systems as they come."""
OTHERS = [name for name in CASES if name not in DEFAULTS]
"""Systems in other settings, on fewer inputs."""
FEW = [*list(BAD)[::12], *(f"y of {size}" for size in ("1e+300", "1e+200", "1e+155", "1e-308")), "y one of 1e308"]
"""Inputs for those: targets of such sizes beside one in twelve."""
GOOD_ROWS = {*TARGETS, *WEIGHTS}
READS = ("predict", "predict_proba", "decision_function", "transform", "score_samples", "mahalanobis", "log_likelihood")
"""Methods of rows alone, whose numbers have to be finite."""
LEARNS = ("partial_fit", "forget", "learn_one", "filter")
RECORDS = ("summary", "influence", "test")
"""Methods that give a table, in which NaN is a number that is not known."""
OTHERWISE = {"hypothesis": [[0.0, 1.0, 0.0]], "errors": "HC3"}
"""Arguments beside rows, targets and weights."""
LEARNED = ("coef_", "intercept_", "means_", "cluster_centers_", "weights_", "covariances_", "directions_")


UNFINISHED = (Status.OUT_OF_RANGE, Status.NOT_CONVERGED, Status.ONGOING, Status.DIVERGED)
"""Statuses that claim no solution, or not that all numbers are finite."""
NOT_FINITE: dict[str, tuple[tuple[float, ...], str]] = {
    "certificate_.gap": ((np.inf,), "no bound is known"),
    "certificate_.digits": ((np.nan,), "digits are not known, as after a scan"),
    "certificate_.condition": ((np.nan,), "not known, as after a scan"),
    "certificate_.gradient": ((np.nan,), "not known after a scan, and where no smooth function is minimised"),
    "AdditiveModel.certificate_.objective": ((-np.inf,), "nothing is left of the target, whose density is unbounded"),
    "AdditiveModel.log_likelihood_": ((np.inf,), "the same"),
    "AdditiveModel.terms_": ((np.nan,), "the same, or the variance underflows: nothing to test against"),
    "FisherDiscriminant.certificate_.objective": ((np.nan,), "the criterion is criterion_, and it is not minimised"),
    "FisherDiscriminant.criterion_": ((np.inf,), "classes without a spread along w"),
    "GeneralizedLinear.dispersion_": ((np.nan,), "no degrees of freedom are left to estimate it"),
    "RobustRegression.scale_": ((np.nan,), "a loss without a scale"),
    "AdaptiveFilter.rate_bound_": ((np.inf,), "2/Trace[Rxx] of rows of no power"),
    "LMS.rate_bound_": ((np.inf,), "2/Trace[Rxx] of rows of no power"),
    "Adaline.rate_bound_": ((np.inf,), "2/Trace[Rxx] of rows of no power"),
    "Perceptron.bound_": ((np.inf,), "the theorem says nothing of rows with weights"),
    "Perceptron.margin_": ((np.nan,), "no row has a weight"),
    "Perceptron.radius_": ((np.nan,), "the batch rule, of which the theorem says nothing"),
}
"""Numbers of a fit that says solved which need not be finite: which they may be, and why."""


@cache
def learned(name: str) -> Any:
    """A system fitted to the good rows, which is not to be changed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _fit(CASES[name].make(), good())


@cache
def pickled(name: str) -> bytes:
    """The same, to be copied in half the time of a deep copy."""
    return pickle.dumps(learned(name))


def _fit(model: Any, given: Given) -> Any:
    return model.fit(*_arguments(model, given), **({} if given.weight is None else {"sample_weight": given.weight}))


def _arguments(model: Any, given: Given) -> tuple[Any, ...]:
    """Return rows and targets that suit a system: of a family amounts or shares, unless they are no numbers."""
    if type(model).__name__ in UNSUPERVISED:
        return (given.X,)
    if is_classifier(model):
        return given.X, given.labels
    y, loss = given.numbers, getattr(model, "loss", None)
    if loss in ({*FAMILIES} - {"gaussian"} if isinstance(loss, str) else ()) and getattr(y, "dtype", "") == np.float64:
        with np.errstate(all="ignore"):
            y = np.abs(y) / (1.0 + np.abs(y)) if loss == "binomial" else np.abs(y)
    return given.X, y


def _faults(where: str, call: Callable[[], Any]) -> Iterator[str]:
    """Yield what is wrong with the outcome of a call: a foreign exception, a leaking warning, numbers not finite."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", AdalineWarning)
        try:
            out = call()
        except AdalineError:
            return
        except Exception as error:
            yield f"{where}: {type(error).__name__}: {str(error)[:90]}"
        else:
            system, _, method = where.rpartition(".")
            classifies = CASES[system].classifies
            learns = method in ("fit", "partial_fit", "merge", "forget")
            if not (classifies and learns):  # a class without rows has no mean
                yield from _not_finite(where, out, infinite=classifies)


def _not_finite(where: str, out: Any, infinite: bool = False) -> Iterator[str]:
    """Yield where numbers are not finite; discriminants and intercepts of classes without rows may be `infinite`."""
    if isinstance(out, tuple):
        for part in out:
            yield from _not_finite(where, part, infinite)
    elif not isinstance(out, str) and out is not None:
        values = host(out.data if is_sparse(out) else out) if np.asarray(out).dtype.kind == "f" else np.zeros(0)
        if (np.isnan(values) if infinite else ~np.isfinite(values)).any():
            yield f"{where}: not finite"


def _learned(model: Any) -> tuple[Any, ...]:
    return tuple(getattr(model, name) for name in LEARNED if getattr(model, name, None) is not None)


def _falsely_solved(name: str, model: Any) -> Iterator[str]:
    """Yield where a certificate claims a solution beside a public number that is not finite, for no reason known."""
    proof = getattr(model, "certificate_", None)
    if proof is None or proof.status in UNFINISHED:
        return
    system = type(model).__name__
    without_rows = is_classifier(model) and proof.status is not Status.SOLVED
    for attribute, values in _public_numbers(model):
        may, _ = NOT_FINITE.get(attribute) or NOT_FINITE.get(f"{system}.{attribute}") or ((), "")
        wrong = values[~(np.isfinite(values) | np.isin(values, may) | (np.isnan(may).any() & np.isnan(values)))]
        if len(wrong) and not without_rows:
            yield f"{name}: {proof.status}, {attribute} {wrong[0]}"


def _public_numbers(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of all floats that a fit leaves, those of the certificate and of properties too."""
    names = [name for name in {*dir(type(model)), *attributes_of(model)} if name.endswith("_") and name[0] != "_"]
    found = {name: getattr(model, name, None) for name in sorted(names)}
    found |= {f"certificate_.{field}": value for field, value in vars(found["certificate_"]).items()}
    for name, value in found.items():
        flat = np.array([*_floats(value)])
        if flat.size and name != "certificate_.seconds":
            yield name, flat


def _floats(value: Any) -> Iterator[float]:
    """Yield the floats of a number, an array, or lists and dictionaries of them."""
    if isinstance(value, list | tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _floats(part)
    elif isinstance(value, float | np.ndarray) and np.asarray(value).dtype.kind == "f":
        yield from np.ravel(value).tolist()


@pytest.mark.parametrize("bad", BAD)
def test_a_fit_ends_in_finite_numbers_or_an_error(bad: str) -> None:
    assert [fault for name in DEFAULTS for fault in faults_of_a_fit(name, bad)] == []


@pytest.mark.parametrize("bad", FEW)
def test_so_does_a_fit_in_other_settings(bad: str) -> None:
    assert [fault for name in OTHERS for fault in faults_of_a_fit(name, bad)] == []


def faults_of_a_fit(name: str, bad: str) -> Iterator[str]:
    """Yield the faults of a fit to bad rows, and of what is read off the model."""
    model, given = CASES[name].make(), BAD[bad]()
    found = list(_faults(f"{name}.fit", lambda: _learned(_fit(model, given))))
    yield from found
    if found or not hasattr(model, "n_features_in_"):
        return
    yield from _falsely_solved(name, model)
    for rows in (BAD[bad]().X, good().X):
        for method in (one for one in READS if hasattr(model, one)):
            yield from _faults(f"{name}.{method}", lambda: getattr(model, method)(rows))  # noqa: B023
    if hasattr(model, "summary"):
        yield from _faults(f"{name}.summary", lambda: str(model.summary()))


@pytest.mark.parametrize("bad", BAD)
def test_a_fitted_system_takes_bad_rows_in_finite_numbers_or_an_error(bad: str) -> None:
    """By all methods of rows, and as rows of another model that it merges."""
    found: list[str] = []
    for name in DEFAULTS:
        model = learned(name)
        for method in _methods_of_rows(name):
            if method == "score" and bad == "one row":  # R^2 is not defined, and NaN
                continue
            if bad in GOOD_ROWS and not {"y", "d", "sample_weight"} & _arguments_of(type(model), method):
                continue
            found += _faults(f"{name}.{method}", lambda: _use(name, method, BAD[bad]()))  # noqa: B023
        if hasattr(model, "merge"):
            other = CASES[name].make()
            merged = lambda: _learned(pickle.loads(pickled(name)).merge(_fit(other, BAD[bad]())))  # noqa: B023, E731
            found += _faults(f"{name}.merge", merged)
    assert found == []


@cache
def _methods_of_rows(name: str) -> tuple[str, ...]:
    """Return the public methods of a system, but fits, to which rows can be given."""
    model = learned(name)
    methods = [one for one in dir(model) if not one.startswith(("_", "fit", "set_"))]
    methods = [one for one in methods if callable(getattr(model, one, None))]  # some have only some settings
    return tuple(one for one in methods if {"X", "x"} & _arguments_of(type(model), one))


@cache
def _arguments_of(system: type[Any], method: str) -> frozenset[str]:
    """Return the names of the arguments of a method."""
    return frozenset(signature(getattr(system, method)).parameters)


def _use(name: str, method: str, given: Given) -> Any:
    """Return what a method gives for rows, or row after row; of one that learns, what was learned."""
    model = pickle.loads(pickled(name)) if method in LEARNS else learned(name)
    call = getattr(model, method)
    names = _arguments_of(type(model), method)
    y = given.labels if is_classifier(model) else given.numbers
    if method in ("learn_one", "predict_one"):
        if not (isinstance(given.X, list | tuple | np.ndarray) and isinstance(y, list | np.ndarray)):
            return None
        rows = () if isinstance(given.X, np.ndarray) and given.X.ndim == 0 else zip(given.X, y, strict=False)
        out = tuple(call(x, target) if method == "learn_one" else call(x) for x, target in rows)
    else:
        arguments = {"X": given.X, "x": given.X, "y": y, "d": y, "sample_weight": given.weight, **OTHERWISE}
        out = call(**{key: value for key, value in arguments.items() if key in names})
    if method == "enclose" and out.reason:  # nothing is proved: the bounds are infinite, and it says why
        return None
    if method == "filter":
        return *_learned(model), *out
    return _learned(model) if method in LEARNS else out if method not in RECORDS else None
