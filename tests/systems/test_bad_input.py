"""What bad input gets: one family of errors, each saying what is wrong, where, and what to do.

That every system answers every bad input by such an error, or by finite numbers, is in test_bad_input_laws.py; here are
the words, which all systems share.
"""

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
    AdaptiveFilter,
    GaussianClassifier,
    KMeans,
    LinearRegression,
    LogisticRegression,
    OneVsOne,
    OneVsRest,
    Perceptron,
    Ridge,
    SigmoidPerceptron,
    Status,
    WienerFilter,
    select,
)
from adaline.basis import BASES
from adaline.errors import InvalidData, InvalidParameter, InvalidType, NotFittedError, TooLarge
from adaline.systems.families import linear_system, online_classifier
from tests.systems.bad_inputs import BAD, N, good

EACH = pytest.mark.parametrize("system", [LinearRegression, Ridge, LogisticRegression])
VALUES = pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
X, Y, C, _ = good()


@pytest.fixture(autouse=True)
def no_stray_warnings() -> Any:
    """Bad input is answered by an error, not by NumPy's complaints on the way."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def put(array: Any, place: Any, value: Any) -> Any:
    """Return a copy with another value at a place."""
    out = np.array(array, dtype=float)
    out[place] = value
    return out


FORMS: dict[str, Callable[[Any], Any]] = {
    "array": np.asarray,
    "float32": lambda rows: rows.astype(np.float32),
    "columns": np.asfortranarray,
    "CSR": sparse.csr_array,
    "pandas": lambda rows: pd.DataFrame(rows, columns=["x0", "x1", "x2"]),
    "polars": lambda rows: pl.DataFrame(rows, schema=["x0", "x1", "x2"]),
    "Arrow": lambda rows: pa.table({f"x{j}": rows[:, j] for j in range(3)}),
}


@EACH
@VALUES
@pytest.mark.parametrize("form", FORMS)
def test_a_number_that_is_not_finite_is_named_by_row_and_column(
    system: type[Any], value: float, word: str, form: str
) -> None:
    bad = put(put(X, (7, 1), value), ([7, 9], [2, 0]), np.nan)
    message = rf"Input X contains {word}: first at row 7, column 'x1'\. Drop or fill"
    y = C if system is LogisticRegression else Y
    with pytest.raises(InvalidData, match=message):
        system().fit(FORMS[form](bad), y)
    with pytest.raises(InvalidData, match=message):
        system().fit(FORMS[form](bad), y, sample_weight=put(np.ones(N), 7, 0.0))
    model = system(penalty=1.0) if "penalty" in system().get_params() else system()
    model.fit(FORMS[form](X), y)
    with pytest.raises(InvalidData, match=message):
        model.predict(FORMS[form](bad))
    if system is not LogisticRegression:
        with pytest.raises(InvalidData, match=message):
            model.predict(FORMS[form](bad), interval="confidence")


@VALUES
def test_targets_and_weights_that_are_not_finite_are_named(value: float, word: str) -> None:
    for rows in (X, sparse.csr_array(X)):
        for y in (Y, np.column_stack([Y, Y])):
            with pytest.raises(InvalidData, match=f"Input y contains {word}: first at row 9"):
                LinearRegression().fit(rows, put(y, 9, value))
    with pytest.raises(InvalidData, match=f"Input y contains {word}: first at row 9"):
        LogisticRegression().fit(X, put(C, 9, value))
    with pytest.raises(InvalidData, match=f"Input sample_weight contains {word}: first at row 9"):
        LinearRegression().fit(X, Y, sample_weight=put(np.ones(N), 9, value))


def test_rows_of_later_blocks_are_numbered_from_the_first() -> None:
    rows = put(np.arange(600_000.0).reshape(150_000, 4), (140_001, 3), np.nan)
    with pytest.raises(InvalidData, match="Input X contains NaN: first at row 140001, column 'x3'"):
        LinearRegression().fit(rows, rows[:, 0])


MESSAGES = {
    "no rows": r"0 sample\(s\)",
    "CSR no rows": r"0 sample\(s\)",
    "no columns": r"0 feature\(s\)",
    "empty list": "array|sample",
    "list of empty lists": "sample|feature",
    "1-D": "Expected 2D array, got 1D array instead",
    "a number": "Expected 2D array, got scalar array instead",
    "3-D": "dim 3",
    "texts": "could not convert string to float",
    "ragged lists": "inhomogeneous|sequence|different lengths",
    "complex": "Complex data not supported",
    "None": r"X is None.*Expected 2D array",
    "one text": r"'rows'.*open_table\('rows'",
    "dates": "datetime|DType|convert",
    "list of dicts": "list of dicts",
    "pandas dates": "column 'b'",
    "pandas NA": "NaN: first at row 1, column 'b'",
    "polars nulls": "NaN: first at row 1, column 'b'",
    "Arrow nulls": "NaN: first at row 1, column 'b'",
    "pandas duplicate names": "two columns called 'a'",
    "y None": "requires y to be passed, but the target y is None",
    "y too short": "inconsistent numbers of samples: X has 12, y has 11",
    "y 3-D": "y",
    "y 2-D of no columns": "y",
    "y texts": "could not convert string to float.*numbers as targets",
    "y complex": "Complex data not supported",
    "y one number": "at least 1 dimension|y",
    "y empty": "y|sample",
    "weights negative": "Negative values in sample_weight: first at row 0. Weights are frequencies",
    "one negative weight": "Negative values in sample_weight: first at row 3",
    "weights zero": "All sample weights are zero",
    "weights too short": r"sample_weight.shape == \(11,\), expected \(12,\)",
    "weights 2-D": "Sample weights must be 1D array or scalar",
    "weights texts": "sample_weight must be numbers",
    "weights dict": "sample_weight must be numbers",
    "weights complex": "sample_weight",
}
"""By the name of a bad input, what is said of it."""


@pytest.mark.every
@pytest.mark.parametrize("bad", MESSAGES)
def test_bad_input_is_described(bad: str) -> None:
    rows, y, _, weight = BAD[bad]()
    with pytest.raises((ValueError, TypeError), match=MESSAGES[bad]) as caught:
        LinearRegression().fit(rows, y, sample_weight=weight)
    assert isinstance(caught.value, AdalineError)


ROWS, TARGETS = np.arange(12.0).reshape(6, 2) ** 2, np.array([1.0, 3.0, 2.0, 5.0, 4.0, 7.0])
WHEN = [date(2020, 1, day + 1) for day in range(6)]
THREE = ([[0.0], [1.0], [2.0]], [0, 1, 0])
NAMED = pd.DataFrame(ROWS, columns=["a", "b"])
LEARNERS = [LogisticRegression(), Perceptron(), GaussianClassifier(), KMeans(n_clusters=2)]
REMARKS = {"age": np.arange(60.0), "remark": [f"seen at {i}" for i in range(60)]}
NUMBERED = pd.DataFrame({0: [1.0, 2.0, 3.0], "g": pd.Categorical(["a", "b", "a"])})


def model() -> LinearRegression:
    return LinearRegression().fit(ROWS, TARGETS)


@pytest.mark.every
@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: LinearRegression().fit("penguins"), r"'penguins'.*open_table\('penguins', target=\.\.\.\)"),
        (lambda: model().predict("new.csv"), r"open_table\('new.csv'"),
        (lambda: model().predict(ROWS[0]), "Expected 2D array, got 1D array instead"),
        (lambda: LinearRegression().fit({"a": [1.0, 2.0]}, [1.0, 2.0]), r"X is a dict.*pandas.DataFrame\(X\)"),
        (lambda: LinearRegression().fit([{"a": 1.0}, {"a": 2.0}], [1.0, 2.0]), "list of dicts.*learn_one"),
        (lambda: LinearRegression().fit(ROWS), r"requires y.*fit\(X, y\)"),
        (lambda: LogisticRegression().fit(ROWS), r"requires y.*fit\(X, y\)"),
        (lambda: LinearRegression().fit([["a"], ["b"]], [1, 2]), r"string to float: 'a'\. .*frame.*categories"),
        (lambda: LinearRegression().fit([[1, 2], [3]], [1, 2]), "rows have different lengths"),
        (lambda: LinearRegression().fit(ROWS, "mass"), "y is the text 'mass': .*name their column"),
        (lambda: LogisticRegression().fit(ROWS, "y ~ x"), "y is the text 'y ~ x'"),
        (lambda: LinearRegression().fit(ROWS, list("abcdef")), r"'a'\. A regression needs numbers as targets"),
        (lambda: LinearRegression().fit(ROWS, pd.Series(list("abcdef"))), "numbers as targets"),
        (lambda: LinearRegression().fit(ROWS, TARGETS, -1.0), "Negative values in sample_weight"),
        (lambda: LinearRegression().fit(ROWS, TARGETS, 0.0), "All sample weights are zero"),
        (lambda: LinearRegression().fit(ROWS, TARGETS, object()), "sample_weight must be numbers"),
        (lambda: LinearRegression().fit(sparse.csr_array(ROWS + 1j), TARGETS), "Complex data not supported"),
        (lambda: LogisticRegression().fit(ROWS, np.zeros((6, 2))), r"shape \(6, 2\) instead.*one column"),
        (lambda: LogisticRegression().fit(ROWS, ["a", None, "b", "a", "b", "a"]), "missing label.* row 1"),
        (lambda: LogisticRegression().fit(ROWS, ["a", "b", np.nan, "a", "b", "a"]), "missing label.* row 2"),
        (lambda: LogisticRegression().fit(ROWS, pl.Series(["a", "b", None, "a", "b", "a"])), "missing label.* row 2"),
        (lambda: LogisticRegression().fit(ROWS, [None] * 6), "missing label.* row 0"),
        (lambda: LogisticRegression(init="a").fit(*THREE), "init must be None or weights"),
        (lambda: LogisticRegression(init=[[1.0], [1.0, 2.0]]).fit(*THREE), "init must be None or weights"),
        (lambda: LinearRegression().fit(pd.DataFrame({"a": WHEN, "b": range(6)}), TARGETS), r"column 'a'.*dates="),
        (lambda: LinearRegression().fit(NUMBERED, [1.0, 2.0, 3.0]), "column 0: names must be texts"),
        (lambda: LinearRegression().set_params(estimator__foo=1), "LinearRegression has no parameter 'estimator'"),
        (lambda: OneVsRest(system=Perceptron()).set_params(system__foo=1), "Perceptron has no parameter 'foo'"),
        (lambda: adaline.save(model(), ""), "the name of the file is empty"),
        (lambda: adaline.load(""), "the name of the file is empty"),
        (lambda: LMS().learn_one([], 1), "at least one column"),
        (lambda: LinearRegression.fit(ROWS, TARGETS), r"call fit on a model.*: LinearRegression\(\)\.fit\(X, y\)"),
        (lambda: Ridge(penalty=None).fit(ROWS, TARGETS), "penalty=0"),
        (lambda: LinearRegression().fit(ROWS, pd.DataFrame(ROWS, columns=["u", "u"])), "two columns called 'u'"),
        (lambda: LinearRegression().fit(NAMED, TARGETS).predict(NAMED[["a", "a"]]), "two columns called 'a'"),
        *(
            (lambda one=one: one.fit(NAMED[["a", "b", "a"]], ROWS[:, 0] > 5), "two columns called 'a'")
            for one in (*LEARNERS, LinearRegression(), WienerFilter(), OneVsRest(), BASES["Polynomial"]())
        ),
        *(
            (lambda one=one, scheme=scheme: scheme(one).fit(ROWS, ROWS[:, 0] > 5), "filter")
            for one in (WienerFilter(taps=2), AdaptiveFilter())
            for scheme in (OneVsRest, OneVsOne)
        ),
        *(
            (lambda one=one: LogisticRegression(penalty=one).fit(ROWS, ROWS[:, 0] > 5), hint)
            for one, hint in {"l2": "=1/C", "l1": "l1=", "elasticnet": "l1=", None: "penalty=0", "none": "=0"}.items()
        ),
        *(
            (lambda kind=kind: LinearRegression().fit(kind(REMARKS), np.arange(60.0)), "column 'remark' holds 60 diff")
            for kind in (pd.DataFrame, pl.DataFrame, pa.table)
        ),
        *(
            (lambda one=one: model().predict(ROWS, interval=one), "interval must be 'confidence', 'prediction', 'conf")
            for one in ("both", "", 1, True)
        ),
        *(
            (lambda one=one: model().predict(ROWS, interval="confidence", level=one), "level must be between 0 and 1")
            for one in (0.0, 1.0, 95, -0.5, np.nan)
        ),
        *(
            (lambda one=one: adaline.set_threads(one), "set_threads takes a positive whole number or None, got")
            for one in (0, -1, 1.5, "two", True)
        ),
        *(
            (lambda one=one: select(one, *THREE, penalty=[1.0]), "a system or a list of systems")
            for one in (LinearRegression, "ridge", 3)
        ),
        *(
            (lambda one=one: select(model(), *THREE, fit_intercept=[True], folds=one, method="folds"), "of 2 or more")
            for one in ("a", 2.5, 1)
        ),
    ],
)
def test_first_mistakes_are_explained(use: Callable[[], Any], message: str) -> None:
    with pytest.raises(AdalineError, match=f"(?s){message}"):
        use()


@pytest.mark.every
@pytest.mark.parametrize(
    ("made", "message"),
    [
        (LinearRegression(solver="cholesky"), "solver must be one of auto, normal, qr, svd, gradient, got 'cholesky'"),
        (LinearRegression(solver=None), "solver must be one of"),
        *((LinearRegression(tol=tol), "tol must be a number of zero or more, got") for tol in (-1e-3, np.nan, "small")),
        *((LinearRegression(epochs=n), "epochs must be a whole number of 1 or more, got") for n in (0, "many")),
        (Ridge(criterion="cv"), "criterion"),
        *((Ridge(penalty=penalty), "penalty") for penalty in ("big", -1)),
    ],
    ids=str,
)
@pytest.mark.parametrize("verb", ["fit", "partial_fit"])
def test_arguments_that_mean_nothing(made: Any, message: str, verb: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        getattr(made, verb)(ROWS, TARGETS)


def test_a_thread_count_in_the_environment_that_means_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADALINE_THREADS", "lots")
    with pytest.raises(InvalidParameter, match="ADALINE_THREADS must be a positive whole number, got 'lots'"):
        LinearRegression().fit(np.arange(600_000.0).reshape(200_000, 3), np.arange(200_000.0))


@pytest.mark.parametrize("columns", [1, 2, 4])
def test_rows_to_predict_must_have_the_columns_fitted(columns: int) -> None:
    rows = np.ones((2, columns))
    for fitted in (LinearRegression().fit(X, Y), LinearRegression().fit(sparse.csr_array(X), Y)):
        for given in (rows, rows.astype(np.float32), sparse.csr_array(rows), rows.tolist()):
            message = f"X has {columns} features, but LinearRegression is expecting 3 features"
            with pytest.raises(ValueError, match=message):
                fitted.predict(given)


def test_a_failed_first_partial_fit_leaves_no_model() -> None:
    model = LinearRegression()
    with pytest.raises(InvalidData):
        model.partial_fit(put(X, (0, 0), np.nan), Y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.partial_fit(X[:, :2], Y).n_features_in_ == 2


@pytest.mark.parametrize("system", [LinearRegression, Ridge])
def test_odd_input_is_fitted(system: type[Any]) -> None:
    """One row, two rows, labels that are floats, repeated columns, sums that overflow."""
    one = system().fit([[1.0, 2.0, 3.0]], [4.0])
    assert one.predict([[1.0, 2.0, 3.0]]) == pytest.approx(4.0)
    assert "no standard errors" in str(one.summary())
    assert np.isfinite(system().fit([[1.0], [2.0]], [4.0, 5.0]).predict([[3.0]])).all()
    assert np.isfinite(system().fit(X, np.where(Y > 0, 1.0, 2.0)).predict(X)).all()
    repeated = system().fit(np.column_stack([X, X[:, 0]]), Y)
    assert repeated.coef_[0] == pytest.approx(repeated.coef_[3], rel=1e-8)
    huge = X / np.abs(X).max() * 1.7e308
    try:
        found = system().fit(huge, Y)
    except InvalidData as error:
        assert "overflow" in str(error)  # noqa: PT017
    else:
        np.testing.assert_allclose(found.coef_ * 2.0**1000, system().fit(huge / 2.0**1000, Y).coef_, rtol=1e-8)


def test_errors_are_what_scikit_learn_expects_them_to_be() -> None:
    assert issubclass(InvalidData, ValueError)
    assert issubclass(InvalidType, TypeError)
    assert issubclass(InvalidParameter, ValueError)
    for call in (
        LinearRegression().predict,
        *(BASES[name]().transform for name in ("Polynomial", "Radial", "Fourier")),
    ):
        with pytest.raises(NotFittedError, match="not fitted yet") as caught:
            call([[1.0]])
        assert isinstance(caught.value, AdalineError)
        assert isinstance(caught.value, sklearn.exceptions.NotFittedError)
        assert isinstance(pickle.loads(pickle.dumps(caught.value)), NotFittedError)


def test_every_status_gives_advice() -> None:
    for status in Status:
        assert status.advice
        assert str(status) == status.label


def test_an_error_of_a_subclass_is_its_own_when_it_is_scored() -> None:
    class Own(Ridge):
        def predict(self, X: Any, *args: Any, **kwargs: Any) -> Any:
            raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$") as caught:
        Own().fit(*THREE).score([[0.0]], [1.0])
    assert not isinstance(caught.value, AdalineError)


def test_decimals_of_frames_are_numbers() -> None:
    decimals = [Decimal(f"{number / 4:.2f}") for number in (3, 1, 4, 1, 5, 9)]
    plain = pd.DataFrame({"a": [float(number) for number in decimals], "k": list("aababb")})
    wanted = LinearRegression().fit(plain, TARGETS)
    for frame in (plain.assign(a=decimals), pl.DataFrame({"a": decimals, "k": list("aababb")})):
        np.testing.assert_array_equal(LinearRegression().fit(frame, TARGETS).coef_, wanted.coef_)
        np.testing.assert_array_equal(wanted.predict(frame), wanted.predict(plain))


def test_a_column_called_intercept_is_not_taken_for_the_constant() -> None:
    model = LinearRegression().fit(pd.DataFrame({"intercept": ROWS[:, 0], "b": TARGETS % 3}), TARGETS)
    assert [row["name"] for row in model.summary().to_dict()["coefficients"]] == ["(intercept)", "intercept", "b"]
    assert model.test("intercept = 0").p_value == pytest.approx(model.summary().parts[0].p_value[1])


def test_a_table_with_names_alone_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("a,b,y\n")
    with pytest.raises(InvalidData, match=r"names\.csv has no rows"):
        adaline.open_table(tmp_path / "names.csv", target="y")


@pytest.mark.parametrize("system", [Perceptron, SigmoidPerceptron])
def test_the_bytes_of_many_classes_are_named(system: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(online_classifier, "physical_memory", lambda: 2**34)
    with pytest.raises(TooLarge, match=r"100,000 classes need 80,000,000,000 bytes .* has 17,179,869,184\. Join rare"):
        system().fit(np.ones((100_000, 1)), np.arange(100_000))


def test_memory_that_is_not_there_is_an_error_of_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear_system, "open_rows", lambda *_, **__: np.empty((2**40, 2**15)))
    with pytest.raises(AdalineError, match=r"LinearRegression: Unable to allocate .*PiB.*fewer columns") as found:
        LinearRegression().fit(np.ones((3, 1)), np.ones(3))
    assert isinstance(found.value, MemoryError)


def test_offsets_and_exposures_are_called_by_their_names() -> None:
    table = {"n": np.abs(Y).round(), "a": np.where(np.arange(N) == 1, -1.0, 2.0), "x": X[:, 0]}
    with pytest.raises(InvalidData, match="numbers of column 'x0' are too small to be squared"):
        LogisticRegression(penalty=1.0).fit(X * 1e-310, C)
    with pytest.raises(InvalidData, match=r"offset log\(a\) is nan at row 1: give finite numbers"):
        adaline.open_table(table, target="n", offset="log(a)")
    with pytest.raises(InvalidParameter, match=r"offset is a column or an expression of columns, such as 'log\(t\)'"):
        adaline.compare(table, target="n", offset=Y)
    for loss, t in (("gaussian", Y), ("binomial", C.astype(float))):
        with pytest.raises(InvalidParameter, match="exposure is the logarithm's offset: it needs link='log'; give off"):
            adaline.GeneralizedLinear(loss=loss).fit(X, t, exposure=1.0)
    model = adaline.GeneralizedLinear(loss="poisson").fit(X, table["n"], exposure=2.0)
    with pytest.raises(InvalidParameter, match="with an offset: give that of these rows too"):
        model.score(X, Y)
