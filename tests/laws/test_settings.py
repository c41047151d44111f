"""Settings are those of the next fit: what a fitted model says does not change with them, nor does its copy or file."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adaline import Perceptron, effects
from adaline.basis import Polynomial
from adaline.construction import checks_of
from adaline.errors import AdalineError, InvalidData
from adaline.estimator import is_classifier
from adaline.parameters import AnyOf, Check, Flag, Number, OneOf, WholeNumber
from adaline.storage import load, save
from tests.cases import SETTINGS, Case, Given, cases, fitted
from tests.systems.own_machines import Plane

LEARNING = frozenset(("fit", "fit_predict", "fit_transform", "partial_fit", "learn_one", "merge", "forget", "reset"))
OTHERS: dict[str, list[Any]] = {
    "basis": [Polynomial(degree=3)],
    "class_weight": ["balanced", {"a": 3.0, "b": 0.5}],
    "system": [Perceptron(epochs=3)],
    "machine": [type("Other", (Plane,), {"value": lambda self, W, X: 2.0 * Plane.value(self, W, X)})()],
}
"""Values of settings whose checks do not list any."""
DRAWS = ("sample", "random_state")  # rows are drawn anew each time, by the generator that there is now


def other_values(check: Check) -> Iterator[Any]:
    """Yield values that a check accepts."""
    match check:
        case AnyOf():
            for one in check.checks:
                yield from other_values(one)
        case OneOf():
            yield from check.words
        case Flag():
            yield from (True, False)
        case Number() | WholeNumber():
            yield from filter(check.accepts, (0.25, 2, 3, 5.0))


def changes(case: Case) -> Iterator[dict[str, Any]]:
    """Yield settings of which each is another than that of the case, until each has had all its values."""
    now, checks = case.make().get_params(deep=False), checks_of(case.system)
    values: dict[str, list[Any]] = {}
    for name, value in now.items():
        known = [settings[name] for settings in SETTINGS.get(case.system.__name__, ()) if name in settings]
        tried = [*(other_values(checks[name]) if name in checks else ()), *OTHERS.get(name, ()), *known]
        values[name] = [one for one in tried if repr(one) != repr(value)]
    for k in range(max(map(len, values.values()))):
        yield {name: own[k % len(own)] for name, own in values.items() if own and name not in DRAWS}


def said(value: Any) -> Any:
    """Return what a model says as what can be compared."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes() if value.dtype.kind != "O" else value.tolist()
    return tuple(map(said, value)) if isinstance(value, tuple | list) else str(value)


def answers(model: Any, given: Given) -> dict[str, Any]:
    """Return what all methods that learn nothing say of rows, or why they refuse, and what the attributes show."""
    methods = [
        name
        for name, one in inspect.getmembers_static(type(model))
        if not name.startswith(("_", "set_", "get_")) and not name.endswith("_") and callable(getattr(model, name, one))
    ]
    asked: dict[str, Any] = {name: given.arguments for name in methods if name not in (*LEARNING, *DRAWS, "filter")}
    asked |= dict.fromkeys(("predict", "predict_one", "coefficients"), (given.X[:1],))
    out: dict[str, Any] = {"is_classifier": is_classifier(model)}
    for name, arguments in asked.items():
        for rows in (arguments, arguments[:1], ()):
            out[f"{name} {len(rows)}"] = answer(lambda name=name, rows=rows: getattr(model, name)(*rows))
    rows = {"X": given.X, "y": given.y}
    out["interval"] = answer(lambda: model.predict(given.X, interval="confidence"))
    out["robust"] = answer(lambda: model.summary(errors="HC1", **rows))
    out["profile"] = answer(lambda: model.summary(interval="profile", **rows))
    out["test"] = answer(lambda: model.test("x0 = 0"))
    out["effects"] = answer(lambda: effects(model, given.X))
    shown = [name for name in dir(type(model)) if name.endswith("_") and not name.startswith("_")]
    return out | {name: answer(lambda name=name: getattr(model, name)) for name in shown}


def answer(ask: Any) -> Any:
    try:
        return said(ask())
    except Exception as error:  # a refusal is an answer too
        return type(error), str(error)


@pytest.mark.filterwarnings("ignore")
@cases()
def test_settings_set_after_a_fit_change_nothing_that_the_model_says(case: Case) -> None:
    given, model = case.rows(), copy.deepcopy(fitted(case.name))
    expected = answers(model, given)
    for settings in changes(case):
        model.set_params(**settings)
        found = answers(model, given)
        assert {name: found[name] for name in found if found[name] != expected[name]} == {}, settings


@pytest.mark.filterwarnings("ignore")
@cases(law="model files")
def test_files_and_copies_of_a_model_with_other_settings_say_the_same(case: Case, tmp_path: Path) -> None:
    given, model = case.rows(), copy.deepcopy(fitted(case.name))
    expected = answers(model, given)
    for settings in changes(case):
        model.set_params(**settings)
        try:
            save(model, tmp_path / "model")
        except InvalidData:  # settings that refuse each other
            continue
        for other in (load(tmp_path / "model"), copy.copy(model), pickle.loads(pickle.dumps(model))):
            assert other._fitted_with == model._fitted_with
            found = answers(other, given)
            assert {name: found[name] for name in found if found[name] != expected[name]} == {}, settings


@pytest.mark.filterwarnings("ignore")
@cases(lambda case: hasattr(case.make(), "partial_fit"))
def test_what_goes_on_with_other_settings_goes_on_with_them_or_not_at_all(case: Case) -> None:
    given, more = case.rows(), case.rows(seed=1)
    told = {"classes": np.unique(given.y)} if case.classifies else {}
    for settings in changes(case):
        for name, value in settings.items():
            model = case.fit(given).set_params(**{name: value})
            before = model._state
            try:
                model.partial_fit(*more.arguments, **told)
            except AdalineError:
                assert model._state is before
            else:
                assert model._fitted_with.changed(model) == {}
