"""What a model is: its settings and its fit, whether copied, stored, taught row by row or given something bad."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import exceptions
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from adaline import LinearRegression, Ridge
from adaline.errors import AdalineError, InvalidData, NotFittedError
from adaline.fitted import check_is_fitted as checked
from adaline.input.system import ColumnAttribute
from adaline.state import attributes_of
from adaline.storage import load, save
from tests.cases import Case, Given, cases, fitted, reading
from tests.storage.cases import assert_equal


def assert_same_state(a: Any, b: Any) -> None:
    """Assert that two models hold the same to the bit, in whatever order it was set."""
    assert_equal(*(dict(sorted(attributes_of(one).items())) for one in (a, b)), timed=False, laid=False)
    assert a._state.by_name().keys() == b._state.by_name().keys()  # also where a state was made without its constructor


@cases()
def test_a_second_fit_forgets_the_first(case: Case) -> None:
    """Also of other columns, labels and numbers of targets."""
    given, before = case.rows(), case.rows(seed=7, classes=2)
    names = ["a", "b", "c"] if np.ndim(case.settings.get("taps", 0)) == 0 else ["a", "b", "c", "d"]
    several = case.targets == "numbers" and case.keeps("several targets")
    y = np.column_stack([before.y, before.y[::-1]]) if several else before.y
    model = case.fit(Given(pd.DataFrame(before.X[::-1, : len(names)] + 1.0, columns=names), y))
    settings = model.get_params()
    fresh = clone(model)
    assert not [name for name in attributes_of(fresh) if name.endswith("_")]
    assert model.fit(*given.arguments) is model
    assert all(model.get_params()[key] is value for key, value in settings.items())
    assert_same_state(model, fresh.fit(*given.arguments))
    assert_same_state(model, fitted(case.name))


@cases(law="model files")
def test_a_copy_and_a_file_are_the_model(case: Case, tmp_path: Path) -> None:
    model, X = fitted(case.name), case.rows().X
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert_equal(loaded, model)
    for other in (loaded, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert_equal(other, model, laid=False)
        np.testing.assert_array_equal(reading(other, X), reading(model, X))


@cases(lambda case: hasattr(case.make(), "partial_fit"), law="going on")
def test_a_loaded_model_goes_on_as_the_model_would(case: Case, tmp_path: Path) -> None:
    given, more = case.rows(), case.rows(seed=1)
    model = case.fit(given)
    save(model, tmp_path / "model")
    assert_same_state(load(tmp_path / "model").partial_fit(*more.arguments), model.partial_fit(*more.arguments))


@cases(lambda case: case.scans, law="chunks")
def test_chunks_and_single_rows_are_one_scan(case: Case) -> None:
    given = case.rows()
    told = {"classes": np.unique(given.y)} if case.classifies else {}
    whole, chunks, single = case.make(), case.make(), case.make()
    whole.partial_fit(*given.arguments, **told)
    for rows in np.split(np.arange(60), [1, 20, 21, 50]):
        assert chunks.partial_fit(*given[rows].arguments, **told) is chunks
    for x, t in zip(*given.arguments, strict=True):
        assert single.learn_one(x, t, **told) is single
    for other in (chunks, single):
        np.testing.assert_array_equal(reading(other, given.X), reading(whole, given.X))
        assert other.rows_seen_ == 60


@cases()
def test_a_certificate_says_what_was_done(case: Case) -> None:
    proof = fitted(case.name).certificate_
    assert proof.status.advice
    assert proof.solver
    assert proof.solver in str(proof)
    assert proof.passes >= 1
    assert proof.seconds > 0
    assert np.isnan(proof.digits) or 0 <= proof.digits <= 16
    assert not proof.gap < 0
    assert proof.condition >= 1 or np.isnan(proof.condition)
    if case.linear and not {"basis", "epochs"} & {*case.settings}:
        model, given = fitted(case.name), case.rows()
        residual = given.y - model.predict(given.X)
        assert proof.rank == model.rank_ == 4
        assert list(model.aliased_) == []
        assert proof.digits > 12
        assert 0 <= proof.gap < 1e-9 * proof.objective
        assert proof.gradient < 1e-6
        assert "weights" in case.settings or proof.objective >= 0.5 * residual @ residual * (1 - 1e-9)


def test_passes_over_the_rows_are_counted() -> None:
    X = np.random.default_rng(0).normal(size=(200, 4))
    y = X[:, 0] + np.sin(np.arange(200))
    assert LinearRegression().fit(X, y).certificate_.passes == 2
    assert LinearRegression(solver="qr").fit(X, y).certificate_.passes == 3
    assert Ridge(criterion="loo").fit(X, y).certificate_.passes == 4
    assert Ridge().fit(X, np.column_stack([y, -y, 2 * y])).certificate_.passes == 4
    assert LinearRegression().partial_fit(X, y).certificate_.passes == 1


@cases(lambda case: case.linear and "basis" not in case.settings)
def test_edits_of_the_coefficients_are_honoured(case: Case) -> None:
    given = case.rows()
    model = case.fit(given)
    model.coef_, model.intercept_ = np.array([1.0, 0.0, 0.0, 0.0]), 2.0
    np.testing.assert_allclose(model.predict(given.X), given.X[:, 0] + 2.0)


@cases()
def test_what_is_learned_cannot_be_changed_in_place(case: Case) -> None:
    """Not through what an attribute returns, and so not through a copy of the model either."""
    model = case.fit(case.rows())
    twin = copy.copy(model)
    shown = {
        name: getattr(model, name) for name in dir(model) if re.fullmatch(r"[a-z]\w*_", name) and hasattr(model, name)
    }
    arrays = [one for value in shown.values() for one in parts_of(value) if isinstance(one, np.ndarray)]
    assert arrays
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = array
    for value in shown.values():
        if isinstance(value, list | dict):
            value.clear()
    assert_same_state(model, twin)
    assert_same_state(model, fitted(case.name))


def parts_of(value: Any) -> list[Any]:
    """Return a value, or what lists and dictionaries in it hold."""
    inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else None
    return [value] if inside is None else [one for part in inside for one in parts_of(part)]


@cases(lambda case: hasattr(case.fit(case.rows()), "coef_") and hasattr(type(case.make()), "coef_"))
def test_another_shape_cannot_be_assigned(case: Case) -> None:
    model = case.fit(case.rows())
    before = model._state
    for value in (np.append(model.coef_, 1.0), "text", None):
        with pytest.raises((InvalidData, AttributeError), match=r"coef_|has no setter"):
            model.coef_ = value
    assert model._state is before


@cases(lambda case: any(name.startswith("fit_") for name in dir(case.system)))
def test_whatever_is_called_fit_leaves_a_fitted_model(case: Case) -> None:
    given = case.rows()
    for name in dir(case.system):
        if name.startswith("fit_") and callable(getattr(case.system, name)):
            model = case.make()
            getattr(model, name)(*given.arguments)
            np.testing.assert_array_equal(model.predict(given.X), fitted(case.name).predict(given.X))


@cases()
def test_every_fitted_attribute_is_in_the_docstring(case: Case) -> None:
    two = case.rows(classes=2)
    models = [copy.deepcopy(fitted(case.name)), *([case.fit(two)] if case.classifies else [])]
    if hasattr(models[-1], "learn_one"):
        models[-1].learn_one(two.X[0], two.y[0])
    own = {name: inspect.getattr_static(case.system, name) for name in dir(case.system)}
    every = {name for name, value in own.items() if not isinstance(value, ColumnAttribute)}
    names = {name for model in models for name in (*attributes_of(model), *every)}
    fits = {name for name in names if re.fullmatch(r"[a-zA-Z]\w*[a-z]_", name)} - {
        "n_features_in_",
        "feature_names_in_",
    }
    assert {name for name in fits if not re.search(rf"\b{name}(?!\w)", case.system.__doc__)} == set()


@cases()
def test_a_new_model_says_that_it_is_not_fitted(case: Case) -> None:
    with pytest.raises(NotFittedError, match=f"This {case.system.__name__} instance is not fitted yet"):
        case.make().predict(case.rows().X)


@cases()
def test_a_model_tells_scikit_learn_whether_it_is_fitted(case: Case) -> None:
    model = fitted(case.name)
    assert model.__sklearn_is_fitted__()
    check_is_fitted(model)
    for other in (case.make(), clone(model)):
        assert not other.__sklearn_is_fitted__()
        with pytest.raises(NotFittedError):
            checked(other)
        with pytest.raises(exceptions.NotFittedError):
            check_is_fitted(other)


@cases()
def test_bad_rows_are_named_and_leave_a_model_as_it_was(case: Case) -> None:
    given = case.rows()
    bad = given.X.copy()
    bad[7, 2] = np.nan
    model = case.make()
    with pytest.raises(InvalidData, match=r"NaN: first at row 7, column 'x2'"):
        model.fit(*given.with_rows(lambda X: bad).arguments)
    assert not [name for name in attributes_of(model) if name.endswith("_")]
    model = case.fit(given)
    before = pickle.dumps(model)
    for method in ("fit", "partial_fit", "forget"):
        if hasattr(model, method):
            with pytest.raises(InvalidData, match="row 7"):
                getattr(model, method)(*given.with_rows(lambda X: bad).arguments)
    with pytest.raises(InvalidData, match="row 7"):
        model.predict(bad)
    with pytest.raises(ValueError, match=r"3 features, but .* expecting 4 features"):
        model.predict(given.X[:, :3])
    assert_same_state(model, pickle.loads(before))


@cases()
def test_weights_that_mean_nothing_are_refused(case: Case) -> None:
    given = case.rows()
    for weight in (-np.ones(60), np.full(60, np.nan), np.zeros(60), np.ones(59)):
        with pytest.raises(AdalineError):
            case.fit(given.with_weight(weight))
