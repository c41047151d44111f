"""What bad input gets: one family of errors, each saying what is wrong, where, and what to do."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.exceptions
from scipy import sparse

import adaline
from adaline import (
    LMS,
    AdalineError,
    LinearRegression,
    LogisticRegression,
    OneVsRest,
    Perceptron,
    Ridge,
    Status,
    select,
)
from adaline.basis import BASES, Basis
from adaline.errors import InvalidData, InvalidParameter, InvalidType, NotFittedError
from adaline.systems import SYSTEMS, UNSUPERVISED
from tests.systems.cases import REGRESSIONS, data, theta

EACH = pytest.mark.parametrize("system", REGRESSIONS.values(), ids=REGRESSIONS)
BAD = pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])


@pytest.fixture(autouse=True)
def no_stray_warnings() -> Any:
    """Bad input is answered by an error, not by NumPy's complaints on the way."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


@EACH
@BAD
def test_a_number_that_is_not_finite_is_named_by_row_and_column(system: type[Any], value: float, word: str) -> None:
    X, y = data()
    X[17, 2], X[17, 3], X[30, 0] = value, np.nan, np.nan
    with pytest.raises(InvalidData, match=f"Input X contains {word}: first at row 17, column 'x2'. Drop or fill"):
        system().fit(X, y)
    with pytest.raises(InvalidData, match=f"{word}: first at row 17, column 'x2'"):
        system().fit(X.astype(np.float32), y)
    with pytest.raises(InvalidData, match=f"{word}: first at row 17, column 'x2'"):
        system().fit(np.asfortranarray(X), y)


@EACH
@BAD
def test_it_is_found_in_sparse_rows(system: type[Any], value: float, word: str) -> None:
    X, y = data()
    X[X < 0.5] = 0.0
    X[17, 2] = value
    with pytest.raises(InvalidData, match=f"Input X contains {word}: first at row 17, column 'x2'"):
        system().fit(sparse.csr_array(X), y)


@EACH
@BAD
def test_it_is_found_in_a_later_block(system: type[Any], value: float, word: str) -> None:
    X, y = data(n=150_000)
    X[140_001, 3] = value
    with pytest.raises(InvalidData, match=f"Input X contains {word}: first at row 140001, column 'x3'"):
        system().fit(X, y)


@EACH
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frames_name_the_column(system: type[Any], kind: str) -> None:
    X, y = data()
    X[17, 2] = np.nan
    names = ["a", "b", "mass", "d"]
    frame: Any = {
        "pandas": lambda: pd.DataFrame(X, columns=names),
        "polars": lambda: pl.DataFrame(X, schema=names),
        "pyarrow": lambda: pa.table({name: X[:, j] for j, name in enumerate(names)}),
    }[kind]()
    with pytest.raises(InvalidData, match="NaN: first at row 17, column 'mass'"):
        system().fit(frame, y)


@EACH
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_missing_values_of_frames_are_named(system: type[Any], kind: str) -> None:
    frame: Any = {
        "pandas": lambda: pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": pd.array([1, None, 3], dtype="Int64")}),
        "polars": lambda: pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1, None, 3]}),
        "pyarrow": lambda: pa.table({"a": [1.0, 2.0, 3.0], "b": pa.array([1, None, 3])}),
    }[kind]()
    with pytest.raises(InvalidData, match="NaN: first at row 1, column 'b'"):
        system().fit(frame, [1.0, 2.0, 3.0])


@EACH
@BAD
@pytest.mark.parametrize("targets", [0, 2])
def test_targets_that_are_not_finite_are_named(system: type[Any], value: float, word: str, targets: int) -> None:
    X, y = data(targets=targets)
    y[23] = value
    with pytest.raises(InvalidData, match=f"Input y contains {word}: first at row 23"):
        system().fit(X, y)
    with pytest.raises(InvalidData, match=f"Input y contains {word}: first at row 23"):
        system().fit(sparse.csr_array(X), y)


@EACH
@BAD
def test_weights_that_are_not_finite_are_named(system: type[Any], value: float, word: str) -> None:
    X, y = data()
    weight = np.ones(60)
    weight[41] = value
    with pytest.raises(InvalidData, match=f"Input sample_weight contains {word}: first at row 41"):
        system().fit(X, y, sample_weight=weight)


@EACH
@BAD
def test_rows_to_predict_must_be_finite(system: type[Any], value: float, word: str) -> None:
    X, y = data()
    model = system().fit(pd.DataFrame(X, columns=list("abcd")), y)
    X[3, 1] = value
    with pytest.raises(InvalidData, match=f"Input X contains {word}: first at row 3, column 'b'"):
        model.predict(pd.DataFrame(X, columns=list("abcd")))
    with pytest.raises(InvalidData, match=f"{word}: first at row 3, column 'b'"):
        model.predict(pd.DataFrame(X, columns=list("abcd")), interval="confidence")


@EACH
def test_a_row_of_weight_zero_must_be_finite_too(system: type[Any]) -> None:
    X, y = data()
    weight = np.ones(60)
    weight[5] = 0.0
    X[5, 1] = np.nan
    with pytest.raises(InvalidData, match="row 5, column 'x1'"):
        system().fit(X, y, sample_weight=weight)


@EACH
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-np.ones(60), "Negative values in sample_weight: first at row 0. Weights are frequencies"),
        (np.r_[np.ones(12), -0.5, np.ones(47)], "Negative values in sample_weight: first at row 12"),
        (-1.0, "Negative values in sample_weight"),
        (np.zeros(60), "All sample weights are zero"),
        (0.0, "All sample weights are zero"),
        (np.ones(59), r"sample_weight.shape == \(59,\), expected \(60,\)"),
        (np.ones((60, 1)), "Sample weights must be 1D array or scalar"),
        (["heavy"] * 60, "sample_weight must be numbers"),
        (object(), "sample_weight must be numbers"),
        (np.full(60, 1j), "sample_weight"),
    ],
    ids=lambda value: "" if isinstance(value, str) else None,
)
def test_weights_that_mean_nothing(system: type[Any], weight: Any, message: str) -> None:
    X, y = data()
    with pytest.raises(AdalineError, match=message):
        system().fit(X, y, sample_weight=weight)


@EACH
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.empty((3, 0)), r"0 feature\(s\)"),
        ([], "array|sample"),
        ([[]], "sample|feature"),
        (np.arange(3.0), "Expected 2D array, got 1D array instead"),
        ([1.0, 2.0, 3.0], "Expected 2D array, got 1D array instead"),
        (5.0, "Expected 2D array, got scalar array instead"),
        (np.ones((3, 2, 2)), "dim 3"),
        ([["a", "b"], ["c", "d"], ["e", "f"]], "could not convert string to float"),
        ([[1.0, 2.0], [3.0], [4.0, 5.0]], "inhomogeneous|sequence"),
        (np.ones((3, 2), dtype=complex), "Complex data not supported"),
        (None, "None|scalar|2D"),
        ("rows", "string|scalar|2D"),
        (np.array([["2020-01-01"], ["2020-01-02"], ["2020-01-03"]], dtype="datetime64[D]"), "datetime|DType|convert"),
        (sparse.csr_array(np.ones((3, 2), dtype=complex)), "Complex data not supported"),
        (sparse.csr_array((0, 3)), r"0 sample\(s\)"),
        ([{"a": 1}, {"a": 2}, {"a": 3}], "list of dicts"),
    ],
    ids=lambda value: "" if isinstance(value, str) and " " in value else None,
)
def test_rows_that_are_no_table_of_numbers(system: type[Any], X: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        system().fit(X, [1.0, 2.0, 3.0])
    assert isinstance(caught.value, AdalineError)


@EACH
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_text_column_is_named(system: type[Any], kind: str) -> None:
    columns = {"age": np.arange(60.0), "remark": [f"seen at {i}" for i in range(60)]}
    frame: Any = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[kind](columns)
    with pytest.raises(InvalidData, match="column 'remark' holds 60 different texts: text, not a category"):
        system().fit(frame, np.arange(60.0))


@EACH
def test_a_column_of_dates_is_named(system: type[Any]) -> None:
    frame = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"]), "age": [1.0, 2.0, 3.0]})
    with pytest.raises(InvalidData, match="column 'day'"):
        system().fit(frame, [1.0, 2.0, 3.0])


@EACH
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        (np.ones(59), "inconsistent numbers of samples: X has 60, y has 59"),
        (np.ones((60, 2, 2)), "y"),
        (np.empty((60, 0)), "y"),
        (["a", "b"] * 30, "could not convert string to float.*numbers as targets"),
        (np.ones(60, dtype=complex), "Complex data not supported"),
        (3.0, "at least 1 dimension|y"),
        ([], "y|sample"),
    ],
    ids=lambda value: "" if isinstance(value, str) else None,
)
def test_targets_that_are_none(system: type[Any], y: Any, message: str) -> None:
    X, _ = data()
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        system().fit(X, y)
    assert isinstance(caught.value, AdalineError)


@EACH
def test_a_text_target_of_a_frame_is_refused(system: type[Any]) -> None:
    X, _ = data()
    with pytest.raises(InvalidData, match="numbers as targets"):
        system().fit(X, pd.Series(["a", "b"] * 30))


@EACH
def test_labels_that_are_floats_are_targets_like_any_other(system: type[Any]) -> None:
    X, y = data()
    labels = np.where(y > 0, 1.0, 2.0)
    assert np.isfinite(system().fit(X, labels).predict(X)).all()


@EACH
def test_a_constant_target_is_predicted(system: type[Any]) -> None:
    X, _ = data()
    model = system().fit(X, np.full(60, 3.5))
    np.testing.assert_allclose(model.predict(X), 3.5, rtol=1e-13)
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-14)
    model.summary()


@EACH
def test_a_target_of_zeros_is_predicted(system: type[Any]) -> None:
    X, _ = data()
    for fit_intercept in (True, False):
        model = system(fit_intercept=fit_intercept).fit(X, np.zeros(60))
        np.testing.assert_array_equal(model.predict(X), 0.0)
        model.summary()
        assert model.certificate_.digits > 10


@EACH
def test_a_constant_column_gets_no_weight(system: type[Any]) -> None:
    X, y = data()
    for value in (0.0, 7.0, 0.1, 1e9, 1e300):
        model = system().fit(np.column_stack([np.full(60, value), X]), y)
        assert model.coef_[0] == 0.0
        assert list(model.aliased_) == ["x0"] or isinstance(model, Ridge)
        np.testing.assert_allclose(model.coef_[1:], system().fit(X, y).coef_, rtol=1e-8)


@EACH
def test_repeated_columns_share_their_weight(system: type[Any]) -> None:
    X, y = data()
    model = system().fit(np.column_stack([X, X[:, 0]]), y)
    assert model.coef_[0] == pytest.approx(model.coef_[4], rel=1e-8)


@EACH
def test_one_row_is_predicted(system: type[Any]) -> None:
    model = system().fit([[1.0, 2.0, 3.0]], [4.0])
    assert model.predict([[1.0, 2.0, 3.0]]) == pytest.approx(4.0)
    assert np.isfinite(theta(model)).all()
    text = str(model.summary())
    assert "no standard errors" in text


@EACH
def test_two_rows_and_a_column_leave_no_degrees_of_freedom(system: type[Any]) -> None:
    model = system().fit([[1.0], [2.0]], [4.0, 5.0])
    assert np.isfinite(model.predict([[3.0]])).all()


@EACH
def test_numbers_whose_sums_overflow_are_refused_or_right(system: type[Any]) -> None:
    X, y = data()
    X = X / np.abs(X).max() * 1.7e308
    try:
        model = system().fit(X, y)
    except InvalidData as error:
        message = str(error)
        assert "overflow" in message
    else:
        plain = system().fit(X / 2.0**1000, y)
        np.testing.assert_allclose(model.coef_ * 2.0**1000, plain.coef_, rtol=1e-8)


@EACH
@pytest.mark.parametrize("verb", ["predict", "summary", "merge", "forget"])
def test_what_needs_a_fit_says_so(system: type[Any], verb: str) -> None:
    X, y = data()
    calls: dict[str, Callable[[Any], Any]] = {
        "predict": lambda model: model.predict(X),
        "summary": lambda model: model.summary(),
        "merge": lambda model: model.merge(system().fit(X, y)),
        "forget": lambda model: model.forget(X, y),
    }
    with pytest.raises(NotFittedError, match=f"This {system.__name__} instance is not fitted yet"):
        calls[verb](system())


@EACH
def test_merging_with_an_unfitted_model_says_so(system: type[Any]) -> None:
    X, y = data()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        system().fit(X, y).merge(system())


@EACH
def test_a_first_forget_does_not_count_as_a_fit(system: type[Any]) -> None:
    X, y = data()
    model = system()
    with pytest.raises(NotFittedError):
        model.forget(X, y)
    assert not hasattr(model, "coef_")


@EACH
@pytest.mark.parametrize("columns", [1, 3, 5])
def test_rows_to_predict_must_have_the_columns_fitted(system: type[Any], columns: int) -> None:
    X, y = data()
    rows = np.ones((2, columns))
    message = f"X has {columns} features, but {system.__name__} is expecting 4 features"
    for fitted in (system().fit(X, y), system().fit(sparse.csr_array(X), y)):
        for given in (rows, rows.astype(np.float32), sparse.csr_array(rows), rows.tolist()):
            with pytest.raises(ValueError, match=message):
                fitted.predict(given)


@EACH
def test_a_single_row_to_predict_must_be_a_table(system: type[Any]) -> None:
    X, y = data()
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array instead"):
        system().fit(X, y).predict(X[0])


@EACH
@pytest.mark.parametrize("interval", ["both", "", 1, True])
def test_unknown_intervals(system: type[Any], interval: Any) -> None:
    X, y = data()
    with pytest.raises(InvalidParameter, match="interval must be 'confidence', 'prediction' or None, got"):
        system().fit(X, y).predict(X, interval=interval)


@EACH
@pytest.mark.parametrize("level", [0.0, 1.0, 95, -0.5, np.nan])
def test_unknown_levels(system: type[Any], level: float) -> None:
    X, y = data()
    with pytest.raises(InvalidParameter, match="level must be between 0 and 1, got"):
        system().fit(X, y).predict(X, interval="confidence", level=level)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"solver": "cholesky"}, "solver must be one of auto, normal, qr, svd, gradient, got 'cholesky'"),
        ({"solver": None}, "solver must be one of"),
        ({"tol": -1e-3}, "tol must be a number of zero or more, got"),
        ({"tol": np.nan}, "tol must be a number of zero or more, got"),
        ({"tol": "small"}, "tol must be a number of zero or more, got"),
        ({"epochs": 0}, "epochs must be a whole number of 1 or more, got"),
        ({"epochs": "many"}, "epochs must be a whole number of 1 or more, got"),
    ],
    ids=str,
)
def test_arguments_of_linear_regression_that_mean_nothing(settings: dict[str, Any], message: str) -> None:
    X, y = data()
    for verb in ("fit", "partial_fit"):
        with pytest.raises(InvalidParameter, match=message):
            getattr(LinearRegression(**settings), verb)(X, y)


@pytest.mark.parametrize("settings", [{"criterion": "cv"}, {"penalty": "big"}, {"penalty": -1}], ids=str)
def test_arguments_of_ridge_that_mean_nothing(settings: dict[str, Any]) -> None:
    X, y = data()
    for verb in ("fit", "partial_fit"):
        with pytest.raises(InvalidParameter, match=next(iter(settings))):
            getattr(Ridge(**settings), verb)(X, y)


@pytest.mark.parametrize("n", [0, -1, 1.5, "two", True])
def test_numbers_of_threads_that_mean_nothing(n: Any) -> None:
    with pytest.raises(InvalidParameter, match="set_threads takes a positive whole number or None, got"):
        adaline.set_threads(n)


def test_a_thread_count_in_the_environment_that_means_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADALINE_THREADS", "lots")
    X, y = data(n=200_000, d=3)
    with pytest.raises(InvalidParameter, match="ADALINE_THREADS must be a positive whole number, got 'lots'"):
        LinearRegression().fit(X, y)


@EACH
def test_a_failed_fit_leaves_no_model(system: type[Any]) -> None:
    X, y = data()
    X[0, 0] = np.nan
    model = system()
    with pytest.raises(InvalidData):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(data()[0])


@EACH
def test_a_failed_first_partial_fit_leaves_no_model(system: type[Any]) -> None:
    X, y = data()
    bad = X.copy()
    bad[0, 0] = np.nan
    model = system()
    with pytest.raises(InvalidData):
        model.partial_fit(bad, y)
    model.partial_fit(X[:, :3], y)
    assert model.n_features_in_ == 3


def test_errors_are_what_scikit_learn_expects_them_to_be() -> None:
    assert issubclass(InvalidData, ValueError)
    assert issubclass(InvalidType, TypeError)
    assert issubclass(InvalidParameter, ValueError)


def test_every_status_gives_advice() -> None:
    for status in Status:
        assert status.advice
        assert str(status) == status.label


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
@pytest.mark.filterwarnings("error")
def test_labels_that_are_not_finite_are_refused_without_a_warning(value: float, word: str) -> None:
    with pytest.raises(InvalidData, match=f"y contains {word}"):
        LogisticRegression().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, value])


@pytest.mark.parametrize("init", ["a", [[1.0], [1.0, 2.0]]])
def test_a_start_that_is_none(init: Any) -> None:
    with pytest.raises(InvalidParameter, match="init must be None or weights"):
        LogisticRegression(init=init).fit([[0.0], [1.0], [2.0]], [0, 1, 0])


def test_names_that_are_no_texts_beside_categories() -> None:
    frame = pd.DataFrame({0: [1.0, 2.0, 3.0], "g": pd.Categorical(["a", "b", "a"])})
    with pytest.raises(InvalidType, match="column 0: names must be texts"):
        LinearRegression().fit(frame, [1.0, 2.0, 3.0])
    frame.columns = frame.columns.astype(str)
    assert LinearRegression().fit(frame, [1.0, 2.0, 3.0]).rank_ <= 3


@pytest.mark.parametrize("system", [LinearRegression, "ridge", 3])
def test_what_is_no_system_is_not_selected(system: Any) -> None:
    with pytest.raises(InvalidParameter, match="a system or a list of systems"):
        select(system, [[0.0], [1.0]], [0.0, 1.0], penalty=[1.0])


@pytest.mark.parametrize("folds", ["a", 2.5, 1])
def test_folds_are_a_whole_number(folds: Any) -> None:
    with pytest.raises(InvalidParameter, match="whole number of 2 or more"):
        select(LinearRegression(), [[0.0], [1.0]], [0.0, 1.0], fit_intercept=[True], folds=folds, method="folds")


@pytest.mark.parametrize("name", [*SYSTEMS, *UNSUPERVISED, "Polynomial", "Radial", "Fourier"])
def test_a_model_that_is_not_fitted_says_so(name: str) -> None:
    """By one error that is both adaline's and scikit-learn's."""
    model: Any = {**SYSTEMS, **UNSUPERVISED, **BASES}[name]()
    with pytest.raises(NotFittedError, match="not fitted yet") as caught:
        (model.transform if isinstance(model, Basis) else model.predict)([[1.0]])
    assert isinstance(caught.value, AdalineError)
    assert isinstance(caught.value, sklearn.exceptions.NotFittedError)
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), NotFittedError)


def test_an_error_of_a_subclass_is_its_own_when_it_is_scored() -> None:
    class Own(Ridge):
        def predict(self, X: Any, *args: Any, **kwargs: Any) -> Any:
            raise ValueError("mine")

    model = Own().fit([[0.0], [1.0], [3.0]], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"^mine$") as caught:
        model.score([[0.0]], [1.0])
    assert not isinstance(caught.value, AdalineError)


ROWS, TARGETS = np.arange(12.0).reshape(6, 2) ** 2, np.array([1.0, 3.0, 2.0, 5.0, 4.0, 7.0])
WHEN = [date(2020, 1, day + 1) for day in range(6)]


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: LinearRegression().fit("penguins"), r"'penguins'.*open_table\('penguins', target=\.\.\.\)"),
        (lambda: LinearRegression().fit(ROWS, TARGETS).predict("new.csv"), r"open_table\('new.csv'"),
        (lambda: LinearRegression().fit(None), r"X is None.*Expected 2D array"),
        (lambda: LinearRegression().fit({"a": [1.0, 2.0]}, [1.0, 2.0]), r"X is a dict.*pandas.DataFrame\(X\)"),
        (lambda: LinearRegression().fit([{"a": 1.0}, {"a": 2.0}], [1.0, 2.0]), "list of dicts.*learn_one"),
        (lambda: LinearRegression().fit(ROWS), r"requires y.*fit\(X, y\)"),
        (lambda: LogisticRegression().fit(ROWS), r"requires y.*fit\(X, y\)"),
        (lambda: LinearRegression().fit([["a"], ["b"]], [1, 2]), r"string to float: 'a'\. .*frame.*categories"),
        (lambda: LinearRegression().fit([[1, 2], [3]], [1, 2]), "rows have different lengths"),
        (lambda: LinearRegression().fit(ROWS, list("abcdef")), r"'a'\. A regression needs numbers as targets"),
        (lambda: LogisticRegression().fit(ROWS, np.zeros((6, 2))), r"shape \(6, 2\) instead.*one column"),
        (lambda: LogisticRegression().fit(ROWS, ["a", None, "b", "a", "b", "a"]), "missing label.* row 1"),
        (lambda: LogisticRegression().fit(ROWS, ["a", "b", np.nan, "a", "b", "a"]), "missing label.* row 2"),
        (lambda: LogisticRegression().fit(ROWS, pl.Series(["a", "b", None, "a", "b", "a"])), "missing label.* row 2"),
        (lambda: LogisticRegression().fit(ROWS, [None] * 6), "missing label.* row 0"),
        (lambda: LinearRegression().fit(pd.DataFrame({"a": WHEN, "b": range(6)}), TARGETS), r"column 'a'.*dates="),
        (lambda: LinearRegression().set_params(estimator__foo=1), "LinearRegression has no parameter 'estimator'"),
        (lambda: OneVsRest(system=Perceptron()).set_params(system__foo=1), "Perceptron has no parameter 'foo'"),
        (lambda: adaline.save(LinearRegression().fit(ROWS, TARGETS), ""), "the name of the file is empty"),
        (lambda: adaline.load(""), "the name of the file is empty"),
        (lambda: LMS().learn_one([], 1), "at least one column"),
        (lambda: LinearRegression.fit(ROWS, TARGETS), r"call fit on a model.*: LinearRegression\(\)\.fit\(X, y\)"),
    ],
)
def test_first_mistakes_are_explained(use: Callable[[], Any], message: str) -> None:
    with pytest.raises(AdalineError, match=f"(?s){message}"):
        use()


def test_decimals_of_frames_are_numbers() -> None:
    decimals = [Decimal(f"{number / 4:.2f}") for number in (3, 1, 4, 1, 5, 9)]
    plain = pd.DataFrame({"a": [float(number) for number in decimals], "k": list("aababb")})
    wanted = LinearRegression().fit(plain, TARGETS)
    for frame in (plain.assign(a=decimals), pl.DataFrame({"a": decimals, "k": list("aababb")})):
        np.testing.assert_array_equal(LinearRegression().fit(frame, TARGETS).coef_, wanted.coef_)
        np.testing.assert_array_equal(wanted.predict(frame), wanted.predict(plain))


def test_a_column_called_intercept_is_not_taken_for_the_constant() -> None:
    model = LinearRegression().fit(pd.DataFrame({"intercept": ROWS[:, 0], "b": TARGETS % 3}), TARGETS)
    names = [row["name"] for row in model.summary().to_dict()["coefficients"]]
    assert names == ["(intercept)", "intercept", "b"]
    assert model.test("intercept = 0").p_value == pytest.approx(model.summary().parts[0].p_value[1])


def test_a_table_with_names_alone_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("a,b,y\n")
    with pytest.raises(InvalidData, match=r"names\.csv has no rows"):
        adaline.open_table(tmp_path / "names.csv", target="y")


def test_what_is_not_finite_is_called_by_its_name() -> None:
    """Labels by their row, offsets by theirs, numbers too small for squares as such, and rows to predict as these."""
    X, y = data()
    c, table = (y > 0).astype(float), {"n": np.abs(y).round(), "a": np.where(np.arange(len(y)) == 1, -1.0, 2.0)}
    with pytest.raises(InvalidData, match="numbers of column 'x0' are too small to be squared"):
        LogisticRegression(penalty=1.0).fit(X * 1e-310, c)
    model = LogisticRegression(penalty=1.0).fit(X, c)
    with pytest.raises(InvalidData, match=r"first at row 0, column 'x0'\. Drop or fill such rows\.$"):
        model.predict(X * np.nan)
    c[3] = np.nan
    with pytest.raises(InvalidData, match="Input y contains NaN: first at row 3"):
        model.fit(X, c)
    with pytest.raises(InvalidData, match=r"offset log\(a\) is nan at row 1: give finite numbers"):
        adaline.open_table(table | {"x": X[:, 0]}, target="n", offset="log(a)")
    with pytest.raises(InvalidParameter, match=r"offset is a column or an expression of columns, such as 'log\(t\)'"):
        adaline.compare(table, target="n", offset=y)


def test_an_exposure_needs_the_logarithm_as_link() -> None:
    X, y = data()
    for loss, t in (("gaussian", y), ("binomial", (y > 0).astype(float))):
        with pytest.raises(InvalidParameter, match="exposure is the logarithm's offset: it needs link='log'; give off"):
            adaline.GeneralizedLinear(loss=loss).fit(X, t, exposure=1.0)
    model = adaline.GeneralizedLinear(loss="poisson").fit(X, np.abs(y).round(), exposure=2.0)
    with pytest.raises(InvalidParameter, match="with an offset: give that of these rows too"):
        model.score(X, y)
