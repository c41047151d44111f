"""Laws of the online systems: whatever the rule, chunks are one go, one row is a chunk, and bad input has an answer."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import adaline
from adaline import LMS, AdalineWarning, LeastSquaresClassifier, LinearRegression, Status
from adaline.arrays import Array
from adaline.errors import InvalidData, InvalidParameter, InvalidType
from adaline.kernels import native
from adaline.solvers.epochs.sweep import _settled
from adaline.state import attributes_of
from adaline.storage import save
from adaline.systems import SYSTEMS, OnlineSystem
from tests.cases import Case, cases

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ONLINE = {name: cls for name, cls in SYSTEMS.items() if issubclass(cls, OnlineSystem)}


def plain(case: Case) -> bool:
    """Whether a case is an online system that learns from its rows as they are."""
    return issubclass(case.system, OnlineSystem) and not {"basis", "standardize"} & {*case.settings}


SYSTEM = pytest.mark.parametrize("system", ONLINE.values(), ids=ONLINE)
RATED = {name: system for name, system in ONLINE.items() if "rate" in system().get_params()}
"""Those whose rate is a parameter; the others have step sizes that they learn."""
EVERY = cases(lambda case: plain(case) and case.settings.get("mode") != "batch")
SCANS = cases(lambda case: plain(case) and case.scans)
NAMES = list("abcd")


def data(system: type[Any], n: int = 120, d: int = 4, seed: int = 0) -> tuple[Array, Any]:
    """Return rows, and numbers or labels that a plane nearly separates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    t = X @ rng.normal(size=d) + 0.5 + 0.5 * rng.normal(size=n)
    return X, np.where(t > np.median(t), "yes", "no") if is_classifier(system()) else t


def told(y: Any) -> dict[str, Any]:
    """Return the classes, where the targets are labels."""
    return {"classes": np.unique(y)} if np.asarray(y).dtype.kind == "U" else {}


def theta(model: Any) -> Array:
    return np.column_stack([np.ravel(model.intercept_), np.atleast_2d(model.coef_)])


@pytest.mark.skipif(native is None, reason="the native core is not built")
@SCANS
@pytest.mark.parametrize("as_row", [np.asarray, lambda x: dict(zip(NAMES, x, strict=True))], ids=["array", "dict"])
def test_rows_after_the_first_are_taken_by_one_native_call(case: Case, as_row: Any) -> None:
    X, y = data(case.system)
    frame, model = pd.DataFrame(X, columns=NAMES), case.make()
    changes: list[Callable[[], Any]] = [
        lambda: model.learn_one(as_row(X[0]), y[0], **told(y)),
        lambda: pickle.loads(pickle.dumps(model)),
        lambda: model.partial_fit(frame, y),
        lambda: model.fit(frame, y),
    ]
    for change in changes:
        model = change()
        model.learn_one(as_row(X[1]), y[1])
        steps = model._scan.steps
        assert model._scan._native.take(as_row(X[2]), y[2])
        assert model._scan.steps == steps + 1


def test_a_label_that_is_equal_once_is_looked_up_once() -> None:
    class Fickle:
        def __init__(self) -> None:
            self.asked = 0

        def __hash__(self) -> int:
            return hash("yes")

        def __eq__(self, other: object) -> bool:
            self.asked += 1
            return self.asked == 1

    for make in (adaline.Pocket, adaline.Perceptron):
        model = make().learn_one([1.0, 2.0], "yes", classes=["no", "yes"]).learn_one([2.0, 1.0], "no")
        model.learn_one(np.array([1.0, 3.0]), Fickle())
        assert model.rows_seen_ == 3


@SCANS
@pytest.mark.parametrize("kind", [dict, pd.Series])
def test_dicts_and_series_are_rows_by_their_names(case: Case, kind: type[Any]) -> None:
    X, y = data(case.system)
    by_array, named = case.make().partial_fit(pd.DataFrame(X, columns=NAMES), y), case.make()
    for i, (x, t) in enumerate(zip(X, y, strict=True)):
        row = dict(zip(NAMES, x, strict=True))
        named.learn_one(kind(dict(reversed(row.items())) if i else row), t, **told(y))
    np.testing.assert_array_equal(theta(named), theta(by_array))
    assert named.feature_names_in_.tolist() == NAMES
    assert named.certificate_.status is Status.ONGOING
    row = dict(zip(NAMES, X[3], strict=True))
    assert named.predict_one(kind(row)) == named.predict_one(X[3])
    assert [named.predict_one(x) for x in X[:9]] == pytest.approx(named.predict(X[:9]).tolist(), nan_ok=True)
    nameless = case.make().partial_fit(X, y)
    assert nameless.predict_one(kind(enumerate(X[5]) if kind is dict else X[5])) == nameless.predict_one(X[5])
    strict: list[tuple[Callable[[], Any], str]] = [
        (lambda: named.learn_one(kind({"a": 1.0, "b": 2.0, "d": 3.0}), y[0]), "no column 'c'"),
        (lambda: named.predict_one(kind(row | {"e": 0.0})), "does not know the column 'e'"),
    ]
    for call, words in (
        *(() if case.system is adaline.OnlineLogistic else strict),  # there columns may be missing, or new
        (lambda: named.learn_one(kind(row | {"b": "x"}), y[0]), "'b' of the row holds 'x', not a number"),
    ):
        with pytest.raises(InvalidData, match=words):
            call()


@pytest.mark.parametrize("make", [adaline.LMS, adaline.Perceptron], ids=lambda cls: cls.__name__)
def test_dicts_have_the_columns_of_the_last_fit(make: Any) -> None:
    first, then = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]}), pd.DataFrame({"c": [0.0, 1.0]})
    model = make().fit(first, [0, 1])
    model.predict_one({"a": 1.0, "b": 0.0})
    model.fit(then, [0, 1]).learn_one({"c": 1.0}, 1)
    assert model.predict_one({"c": 1.0}) == model.predict(then)[1]
    with pytest.raises(InvalidData, match="no column 'c'"):
        model.predict_one({"a": 1.0, "b": 0.0})


@pytest.mark.parametrize("name", ["Adaline", "Perceptron", "SigmoidPerceptron"])
def test_a_batch_step_on_more_rows_is_ongoing(name: str) -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = ONLINE[name](mode="batch").partial_fit(X, [0, 1, 0, 1])
    assert (model.certificate_.status, model.certificate_.advice) == (Status.ONGOING, Status.ONGOING.advice)
    assert model.n_iter_ == len(model.history_) == 1
    assert model.rows_seen_ == len(X)


@SCANS
def test_categories_in_dicts_are_coded(case: Case) -> None:
    X, y = data(case.system)
    frame = pd.DataFrame({"a": X[:, 0], "city": np.array(["Bern", "Oslo", "Rome"])[np.arange(len(y)) % 3]})
    model = case.make().partial_fit(frame, y)
    row = {"a": float(X[4, 0]), "city": str(frame["city"][4])}
    said = model.predict_one(row)
    assert said == model.predict(frame)[4] or said == pytest.approx(model.predict(frame)[4])
    model.learn_one(row, y[4])


@pytest.mark.parametrize("system", RATED.values(), ids=RATED)
def test_a_new_rate_holds_from_the_next_rows_on_and_what_else_changed_is_refused(system: type[Any]) -> None:
    X, y = data(system)
    mode = {"mode": "online"} if "mode" in system().get_params() else {}

    def make(schedule: Any = "constant") -> Any:
        return system(rate=2.0**-6, schedule=schedule, **mode)

    given = make(lambda step: 1.0 if step <= 50 else 2.0**-3).partial_fit(X, y)
    changed = make().partial_fit(X[:50], y[:50], **told(y)).set_params(rate=2.0**-9).partial_fit(X[50:], y[50:])
    assigned = make().partial_fit(X[:50], y[:50], **told(y))
    assigned.rate = 2.0**-9
    assigned.partial_fit(X[50:51], y[50:51])
    single = make()
    for i, (x, t) in enumerate(zip(X, y, strict=True)):
        if i == 50:
            single.set_params(rate=2.0**-9)
        single.learn_one(x, t, **told(y))
        if i > 50:
            assigned.learn_one(x, t)
    for model in (changed, single, assigned):
        np.testing.assert_array_equal(theta(model), theta(given))
    settings = {"fit_intercept": False, "rate": "auto", "activation": "logistic"}
    for name in settings.keys() & system().get_params().keys():
        if name == "rate" and system().rate != "auto":
            continue
        one = make().partial_fit(X, y).learn_one(X[0], y[0])
        for learn in (lambda model: model.partial_fit(X, y), lambda model: model.learn_one(X[1], y[1])):
            with pytest.raises(InvalidParameter, match=f"{name} changed since {system.__name__} began.*refit"):
                learn(pickle.loads(pickle.dumps(one)).set_params(**{name: settings[name]}))
        with pytest.raises(InvalidParameter, match="rate must be"):
            one.set_params(rate=-1.0).learn_one(X[1], y[1])


@pytest.mark.parametrize("column", ["varies", "late", "zero", "stored zeros", "full", "full but one"])
def test_constant_columns_of_sparse_rows_are_named_as_those_of_dense_ones(column: str) -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((300, 4)) < 0.3) * rng.normal(size=(300, 4))
    X[:, 2] = {"varies": X[:, 2], "full": 3.0, "full but one": 3.0}.get(column, 0.0)
    X[299, 2] = {"late": 1.0, "full but one": 4.0}.get(column, X[299, 2])
    rows = sparse.csr_array(X)
    if column == "stored zeros":
        rows = sparse.csr_array(
            (
                np.r_[rows.data, np.zeros(300)],
                (np.r_[rows.tocoo().row, np.arange(300)], np.r_[rows.indices, np.full(300, 2)]),
            ),
            shape=X.shape,
        )
    advice = [LMS(rate=0.01, epochs=1).fit(x, X[:, 0] + 1).certificate_.advice for x in (X, rows)]
    assert advice[0] == advice[1]
    assert ("x2 is constant" in advice[1]) == (column in ("zero", "stored zeros", "full"))


@EVERY
def test_a_warm_start_goes_on(case: Case) -> None:
    X, y = data(case.system)
    if getattr(case.make(), "draws_rows", None):
        pytest.skip("each fit draws its own rows")
    never = {"tol": 0.0} if "tol" in case.make().get_params() else {}
    twice = case.make(warm_start=True, epochs=2, **never).fit(X, y).fit(X, y)
    if getattr(twice, "mode", "online") == "batch":
        assert twice.history_[-1] <= twice.history_[0]
        return
    once = case.make(epochs=4, **never).fit(X, y)
    np.testing.assert_array_equal(theta(twice), theta(once))
    assert twice.n_iter_ == once.n_iter_ == len(once.history_)


@EVERY
def test_bad_input(case: Case) -> None:
    X, y = data(case.system)
    wild, make = np.where(X == X[7, 2], 1e300, X), case.make
    for verb in ("fit", "partial_fit"):
        with pytest.raises(InvalidData, match="inconsistent numbers of samples"):
            getattr(make(), verb)(X, y[:-1])
        try:  # too large to be squared: refused, or right
            huge = getattr(make(), verb)(wild, y)
        except InvalidData as error:
            refused = str(error)
            assert "infinity" in refused
        else:
            assert np.isfinite(theta(huge)).all()
    model = make().fit(X, y)
    before = theta(model)
    refusals: list[tuple[Callable[[], Any], str]] = [
        (lambda: model.learn_one(np.r_[X[7, :2], np.nan, 1.0], y[7]), "NaN: column 'x2'"),
        (lambda: model.learn_one(X[0, :3], y[0]), "4 numbers"),
        (lambda: model.partial_fit(X[:, :3], y), "is expecting 4"),
    ]
    if case.classifies:
        refusals += [
            (lambda: make().fit(X, ["a"] * len(y)), "one class"),
            (lambda: make().fit(X, X[:, 0]), "continuous"),
            (lambda: model.partial_fit(X[:2], ["other", "yes"]), "not among the classes"),
            (lambda: model.learn_one(X[0], "other"), "not among the classes"),
            (lambda: make().learn_one(X[0], "yes"), "must know its classes"),
        ]
        assert make().learn_one(X[0], True).classes_.tolist() == [False, True]
    for call, words in refusals:
        with pytest.raises(ValueError, match=words):
            call()
    np.testing.assert_array_equal(theta(model), before)
    wide = np.random.default_rng(0).normal(size=(12, 40))
    for rows in (X * 1e-150, np.column_stack([X, X[:, 0], np.ones(len(y))]), wide):
        assert np.isfinite(theta(make().fit(rows, y[: len(rows)]))).all()


def test_batch_steps_on_rows_too_large_to_be_squared_are_right() -> None:
    X, y = data(adaline.Adaline)
    X[0, 0] = 1e300
    assert np.isfinite(adaline.Adaline(mode="batch").fit(X, y).coef_).all()


@SYSTEM
@pytest.mark.parametrize(
    "settings",
    [
        {"epochs": 0},
        {"rate": "fast"},
        {"schedule": "soon", "rate": 1.0},
        {"init": [1.0]},
        {"random_state": "x", "init": "random"},
        {"class_weight": {"nobody": 1.0}},
    ],
    ids=str,
)
def test_arguments_that_mean_nothing(system: type[Any], settings: dict[str, Any]) -> None:
    if settings.keys() <= system().get_params().keys():
        with pytest.raises(InvalidParameter):
            system(**settings).fit(*data(system))


@cases(lambda case: plain(case) and case.system in RATED.values() and case.settings.get("mode") != "batch")
def test_a_schedule_may_be_a_function_but_is_not_stored(case: Case, tmp_path: Path) -> None:
    X, y = data(case.system)
    rate = 1e-3 if case.make().rate == "auto" else case.make().rate
    falling = case.make(rate=rate, schedule=lambda t: 1 / t, epochs=2).fit(X, y)
    known = case.make(rate=rate, schedule="1/t", epochs=2).fit(X, y)
    np.testing.assert_allclose(theta(falling), theta(known), rtol=1e-12)
    with pytest.raises(InvalidType, match="cannot store schedule"):
        save(falling, tmp_path / "m")


@cases(lambda case: plain(case) and case.classifies)
def test_class_weights_pull_the_boundary(case: Case) -> None:
    X, y = data(case.system, n=400)
    heavy = case.make(class_weight={"yes": 100.0, "no": 0.01}).fit(X, y)
    assert (heavy.predict(X) == "yes").mean() > (case.make().fit(X, y).predict(X) == "yes").mean()
    assert np.isfinite(theta(case.make(class_weight="balanced").fit(X, y))).all()
    with pytest.raises(InvalidParameter, match="balanced"):
        case.make(class_weight="balanced").partial_fit(X, y)
    stepwise = case.make(class_weight={"yes": 2.0})
    for x, t in zip(X[:20], y[:20], strict=True):
        stepwise.learn_one(x, t, classes=["no", "yes"])
    whole = case.make(class_weight={"yes": 2.0}).partial_fit(X[:20], y[:20], classes=["no", "yes"])
    if getattr(whole, "mode", "online") == "online":
        np.testing.assert_array_equal(theta(stepwise), theta(whole))


def test_an_automatic_rate_reaches_least_squares() -> None:
    X, t = data(LMS, n=300)
    best = ((t - LinearRegression().fit(X, t).predict(X)) ** 2).mean()
    for scale in (1.0, 1000.0, 10.0 ** np.array([-6, 0, 3, 6])):
        model = LMS().fit(X * scale, t)
        assert ((t - model.predict(X * scale)) ** 2).mean() < 1.05 * best
        assert model.certificate_.status is Status.SOLVED
        assert len(model.history_) <= 20
    both = LMS().fit(X, np.column_stack([t, -2 * t])).learn_one(X[0], [t[0], -2 * t[0]])
    np.testing.assert_allclose(both.coef_[1], -2 * both.coef_[0], rtol=1e-9)
    assert both.predict_one(X[0]).shape == (2,)


def test_a_rate_above_the_bound_is_named_and_divergence_is_no_nan() -> None:
    X, t = data(adaline.LMS, n=600)
    with pytest.warns(AdalineWarning, match=r"above about [0-9.]+, the bound 2/Trace\[Rxx\] of \(5.20\)"):
        model = adaline.LMS(rate=5.0).fit(X, t)
    assert model.certificate_.status is Status.DIVERGED
    assert "lower it" in model.certificate_.advice
    assert np.isfinite(theta(model)).all()
    assert np.isfinite(model.predict(X)).all()
    with pytest.warns((ConvergenceWarning, AdalineWarning), match="diverged"):
        adaline.LMS(rate=5.0).fit(X, t)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        adaline.LMS(rate=0.5 * model.rate_bound_).fit(X, t)


@pytest.mark.filterwarnings("ignore:rate=3 is above")
@pytest.mark.parametrize("by_row", [False, True])
def test_a_model_that_diverged_goes_on_from_its_last_good_weights_at_a_lower_rate(by_row: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = X @ [1.0, 2.0, 3.0] + 1.0
    model, steady = (LMS(rate=0.05).partial_fit(X[:300], y[:300]) for _ in range(2))

    def learn() -> None:
        if not by_row:
            model.partial_fit(X, y)
        else:
            for x, t in zip(X, y, strict=True):
                model.learn_one(x, t)

    model.set_params(rate=3.0)
    with pytest.warns(ConvergenceWarning, match="with another number as rate, then partial_fit, continues"):
        learn()
    np.testing.assert_array_equal(theta(model), theta(steady))
    with pytest.warns(ConvergenceWarning, match="diverged"):  # the rate is the same
        learn()
    np.testing.assert_array_equal(theta(model), theta(steady))
    assert model.certificate_.status is Status.DIVERGED
    model.set_params(rate=0.05)
    learn()
    assert model.certificate_.status is Status.ONGOING
    np.testing.assert_array_equal(theta(model), theta(steady.partial_fit(X, y)))


def test_lms_converges_below_its_bound_and_diverges_above_it_on_inputs_of_constant_norm() -> None:
    """S0 (5.20): exact for constant-norm inputs, where each step multiplies the error along x by 1 - eta ||x||^2."""
    X = np.random.default_rng(0).normal(size=(400, 3))
    X *= 2.0 / np.linalg.norm(X, axis=1, keepdims=True)
    t, bound = X @ [1.0, -2.0, 0.5], 2.0 / 4.0
    below = LMS(rate=0.98 * bound, fit_intercept=False, epochs=300, tol=0.0).fit(X, t)
    assert below.rate_bound_ == pytest.approx(bound)
    np.testing.assert_allclose(below.coef_, [1.0, -2.0, 0.5], rtol=1e-6)
    with pytest.warns(AdalineWarning, match="above about"):
        above = LMS(rate=1.05 * bound, fit_intercept=False, epochs=300, tol=0.0).fit(X, t)
    assert above.certificate_.status is Status.DIVERGED


def test_a_rate_that_falls_as_one_over_t_reaches_least_squares() -> None:
    """S4: sum eta diverges, sum eta^2 converges."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 3))
    t = X @ [1.0, -2.0, 0.5] + 0.3 + rng.normal(size=2000)
    exact = theta(LinearRegression().fit(X, t))
    falling, constant = (
        np.abs(theta(LMS(**rate, epochs=100, tol=0.0).fit(X, t)) - exact).max()
        for rate in ({"rate": 1.0, "schedule": lambda n: 1 / (n + 10)}, {"rate": 0.05})
    )
    assert falling < 1e-3
    assert constant > 10 * falling


def test_adaline_is_lms_on_signs_and_its_batch_rule_is_least_squares() -> None:
    """S0 section 5.5; S1: stochastic or not."""
    X, y = data(adaline.Adaline)
    t = np.where(y == "yes", 1.0, -1.0)
    online = adaline.Adaline(rate=0.01, epochs=3).fit(X, y)
    np.testing.assert_array_equal(theta(online), theta(adaline.LMS(rate=0.01, epochs=3).fit(X, t)))
    batch = adaline.Adaline(mode="batch", epochs=10_000, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(theta(batch), theta(LeastSquaresClassifier(coding="signed").fit(X, y)), rtol=1e-6)
    assert batch.certificate_.status is Status.SOLVED
    assert batch.certificate_.gap < 1e-6
    assert batch.history_ == sorted(batch.history_, reverse=True)
    order = np.random.default_rng(0).permutation(len(y))
    again = adaline.Adaline(mode="batch", epochs=10_000, tol=1e-10).fit(X[order], y[order])
    np.testing.assert_allclose(theta(again), theta(batch), rtol=1e-6)
    other = adaline.Adaline(rate=0.01, epochs=3).fit(X[order], y[order])
    assert np.abs(theta(other) - theta(online)).max() > 1e-3


@pytest.mark.parametrize("activation", ["tanh", "logistic"])
def test_the_sigmoidal_perceptron_has_the_exact_gradient_and_never_climbs(activation: str) -> None:
    X, y = data(adaline.SigmoidPerceptron)
    low = -1.0 if activation == "tanh" else 0.0
    t = np.where(y == "yes", 1.0, low)

    def error(w: Array) -> float:
        z = w[0] + X @ w[1:]
        phi = np.tanh(z) if activation == "tanh" else 1 / (1 + np.exp(-z))
        return float(0.5 * ((t - phi) ** 2).sum())

    start = np.array([0.1, -0.2, 0.3, 0.05, -0.1])
    step = adaline.SigmoidPerceptron(activation=activation, rate=1e-3, init=start, epochs=1).fit(X, y)
    slope = [(error(start + h) - error(start - h)) / 2e-6 for h in 1e-6 * np.eye(5)]
    np.testing.assert_allclose((theta(step)[0] - start) / 1e-3, -np.array(slope), rtol=1e-5, atol=1e-6)
    model = adaline.SigmoidPerceptron(activation=activation, tol=1e-9).fit(X, y)
    assert model.history_ == sorted(model.history_, reverse=True)
    assert model.certificate_.objective == pytest.approx(error(theta(model)[0]), rel=1e-9)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert ((model.predict_proba(X)[:, 1] > 0.5) == (model.predict(X) == "yes")).all()


@SCANS
def test_a_first_row_that_is_refused_leaves_nothing_behind(case: Case) -> None:
    model = case.make()
    before, more = set(attributes_of(model)), {"classes": ["a", "b"]} if case.classifies else {}
    for bad in ([np.nan, 1.0], {"a": 1.0, "b": np.nan}):
        with pytest.raises(InvalidData, match="column"):
            model.learn_one(bad, "a" if more else 1.0, **more)
        assert set(attributes_of(model)) == before


@SYSTEM
def test_a_row_to_predict_is_checked_as_rows_are(system: type[Any]) -> None:
    X, y = data(system, d=3)
    for ask in ("coef_", "certificate_", "history_", "n_iter_", "rows_seen_"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(system(), ask)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        system().predict_one(X[0])
    model = system().fit(X, y)
    assert model.predict_one(X[0]) == model.predict(X[:1])[0]
    for bad in (np.array([np.nan, 1, 2]), np.array([1, 2, None], dtype=object), X[0][:, None], X[:3], np.array(1.0)):
        with pytest.raises(InvalidData):
            model.predict_one(bad)


def test_subnormal_numbers_before_others_do_not_end_it() -> None:
    x, t = np.array([[5e-324], [1.0], [2.0], [3.0]]), np.array([0.0, 1.0, 2.0, 3.0])
    model = LMS().fit(x, t)
    assert model.certificate_.status is Status.SOLVED
    np.testing.assert_allclose(model.coef_, 1.0, rtol=1e-9)
    assert np.isfinite(LMS().fit(x * 1e-310, t).predict(x)).all()


def test_a_model_that_goes_on_for_ever_keeps_the_last_of_its_history(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adaline.systems.families.online_state.LONGEST_HISTORY", 5)
    monkeypatch.setattr("adaline.systems.adaptive_filter.LONGEST_HISTORY", 5)
    x = np.random.default_rng(0).normal(size=(8, 2))
    for model in (LMS(), adaline.AdaptiveFilter()):
        whole = [model.partial_fit(row[None], row[:1]).history_[-1] for row in x]
        assert model.history_ == whole[-5:]
    online = adaline.OnlineLogistic()
    whole = [online.partial_fit(row[None], row[:1] > 0, classes=[False, True]).history_[-1] for row in x]
    assert online.history_ == whole[-5:]
    assert len(LMS(epochs=7, tol=0.0).fit(x, x[:, 0] + x[:, 1] ** 2).history_) == 7


def test_a_rate_for_many_columns_is_called_a_rate() -> None:
    x, y = np.eye(2, 2**14 + 1), np.array([0.0, 1.0])
    for before, after in (("auto", 0.01), (0.01, "auto")):
        model = LMS(rate=before).partial_fit(x, y).set_params(rate=after)
        with pytest.raises(InvalidParameter, match=r"^rate changed since LMS began"):
            model.partial_fit(x, y)


def test_batch_steps_of_single_rows_say_that_no_column_varies() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X @ [1.0, 2.0] > 0
    model = SYSTEMS["SigmoidPerceptron"](mode="batch")
    for i in range(5):
        with pytest.warns(AdalineWarning, match="no column varies in these rows.*mode='online'"):
            model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[False, True])
    np.testing.assert_array_equal(model.coef_, 0.0)
    for x, t in zip(X, y, strict=True):
        model.learn_one(x, t)
    assert model.score(X, y) > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X, y)


def test_epochs_settle_where_their_loss_changes_by_the_share_asked_for() -> None:
    four, two, none = (SimpleNamespace(loss=loss, energy=8.0) for loss in (4.0, 2.0, 0.0))
    for tallies, tol, expected in (
        ([two], 1.0, False),
        ([two, two], 0.0, True),
        ([two, two], -1.0, False),
        ([four, two], 0.5, True),
        ([four, two], 0.49, False),
        ([two, four], 1.0, True),
        ([none], 0.0, True),
        ([none], -1.0, False),
    ):
        assert _settled(tallies, tol) is expected


@pytest.mark.parametrize("name", [name for name, cls in SYSTEMS.items() if hasattr(cls(), "learn_one")])
def test_a_row_that_says_other_things_than_the_model_knows_is_refused(name: str) -> None:
    model = SYSTEMS[name]()
    with pytest.raises(NotFittedError):
        model.coefficients() if hasattr(model, "coefficients") else model.predict(np.eye(2))
    more = {"classes": [False, True]} if is_classifier(model) else {}
    with pytest.raises(InvalidData):
        model.learn_one({}, True, **more) if name != "OnlineLogistic" else model.learn_one({"a": 10**400}, True)
    model.learn_one([1.0, 2.0], True, **more).learn_one([2.0, 1.0], False, **more)
    if more:
        before = model.rows_seen_
        with pytest.raises(InvalidData, match="are not the classes of the model"):
            model.learn_one([1.0, 2.0], True, classes=[False, True, 2])
        assert model.rows_seen_ == before
