"""Fits that start from a fit of nearly the same rows: equal to those from nothing, in fewer passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from adaline import GeneralizedLinear, LogisticRegression, OrdinalRegression, RobustRegression
from adaline.arrays import Array
from adaline.fits import separation
from adaline.separation.budget import Undecided
from adaline.systems.families.weights import theta_of

Target = Callable[[Array, Array, np.random.Generator], Array]
ROWS, COLUMNS = 2000, 20


def cut(*ends: float, noise: float = 1.0) -> Target:
    """Return labels by where an output with noise lies among thresholds."""
    return lambda z, e, rng: np.digitize(z + noise * e, ends)


def spoiled(z: Array, e: Array, rng: np.random.Generator) -> Array:
    """Return numbers with outliers."""
    return z + e * np.where(e > 1.5, 20.0, 1.0)


CASES: dict[str, tuple[Any, Target]] = {
    "two classes": (LogisticRegression(), cut(0.3, noise=1.5)),
    "penalty": (LogisticRegression(penalty=30.0, class_weight="balanced"), cut(1.0)),
    "no intercept": (LogisticRegression(fit_intercept=False, standardize=True, penalty=1.0), cut(0.0)),
    "l1": (LogisticRegression(l1=20.0), cut(0.0)),
    "three classes": (LogisticRegression(), cut(-1.0, 1.0)),
    "one-vs-rest": (LogisticRegression(scheme="one-vs-rest"), cut(-1.0, 1.0)),
    "ordered": (OrdinalRegression(), cut(-1.0, 0.3, 1.0)),
    "ordered probit": (OrdinalRegression(link="probit", penalty=3.0), cut(-1.0, 0.3, 1.0)),
    "poisson": (GeneralizedLinear(loss="poisson"), lambda z, e, rng: rng.poisson(np.exp(0.5 * z))),
    "gamma": (
        GeneralizedLinear(loss="gamma", penalty=3.0),
        lambda z, e, rng: np.exp(0.3 * z) * rng.gamma(2.0, size=ROWS),
    ),
    "smooth huber": (GeneralizedLinear(loss="huber"), spoiled),
    "huber": (RobustRegression(), spoiled),
    "tukey": (RobustRegression(loss="tukey", penalty=2.0), spoiled),
    "median": (RobustRegression(loss="absolute"), spoiled),
}


def _rows(case: str) -> tuple[Array, Array, Array]:
    """Return X, a target that suits the case, and weights, a fifth of them zero."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(ROWS, COLUMNS)) * np.logspace(-2, 2, COLUMNS) + 3.0
    z = (x - 3.0) / np.logspace(-2, 2, COLUMNS) @ rng.normal(size=COLUMNS) * 0.3
    y = CASES[case][1](z, rng.normal(size=ROWS), rng)
    return x, np.asarray(y), rng.integers(1, 4, ROWS) * (rng.random(ROWS) < 0.8)


@pytest.mark.every
@pytest.mark.parametrize("case", CASES)
def test_near_fits_are_cold_fits_in_fewer_passes(case: str) -> None:
    x, y, weight = _rows(case)
    model = clone(CASES[case][0]).fit(x, y, np.maximum(weight, 1))
    cold = clone(CASES[case][0]).fit(x, y, weight)
    near = clone(CASES[case][0])._fit_near(x, y, weight, model)
    outputs = [np.column_stack([np.ones(ROWS), x]) @ theta_of(one).T for one in (cold, near)]
    np.testing.assert_allclose(*outputs, atol=1e-7 * np.std(outputs[0]))
    assert near.certificate_.passes <= cold.certificate_.passes + (case == "one-vs-rest")
    assert near.certificate_.status is cold.certificate_.status


def test_models_that_cannot_help_are_left_aside() -> None:
    x, y, weight = _rows("two classes")
    separated = LogisticRegression()
    with pytest.warns(match="separate"):
        separated.fit(x, x[:, 0] > 3.0)
    of_other_classes = LogisticRegression().fit(x, np.where(y, "yes", "no"))
    narrow = LogisticRegression().fit(x[:, :3], y)
    cold = LogisticRegression().fit(x, y, weight)
    for model in (separated, of_other_classes, narrow):
        near = LogisticRegression()._fit_near(x, y, weight, model)
        np.testing.assert_array_equal(near.coef_, cold.coef_)


@pytest.mark.every
@pytest.mark.parametrize("case", [case for case in CASES if case != "tukey"])
def test_folds_are_refits_without_their_rows(case: str) -> None:
    fold = np.random.default_rng(5).integers(0, 3, ROWS)
    x, y, weight = _rows(case)
    weight = np.maximum(weight, 1)
    fits = CASES[case][0]._fit_folds(x, y, weight, fold, {})
    assert fits is not None
    np.testing.assert_array_equal(theta_of(fits.whole), theta_of(clone(CASES[case][0]).fit(x, y, weight)))
    for k, one in enumerate(fits.without):
        kept = fold != k
        alone = clone(CASES[case][0]).fit(x[kept], y[kept], weight[kept])
        np.testing.assert_allclose(one.predict(x), alone.predict(x), rtol=1e-6, atol=1e-6 * np.std(y))


@pytest.mark.parametrize("system", [LogisticRegression(penalty=20.0), LogisticRegression(scheme="one-vs-one")])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_fold_that_holds_all_rows_of_a_class_is_left_to_a_refit(system: Any, intercept: bool) -> None:
    x, y, weight = _rows("three classes")
    fold = np.where(y == 2, 0, 1 + np.arange(ROWS) % 2)
    system = clone(system).set_params(fit_intercept=intercept)
    fits = system._fit_folds(x, y, np.maximum(weight, 1), fold, {})
    assert fits is not None
    assert [one is None for one in fits.without] == [True, False, False]


def test_losses_with_several_minima_start_anew_in_every_fold() -> None:
    x, y, weight = _rows("tukey")
    assert CASES["tukey"][0]._fit_folds(x, y, weight, np.arange(ROWS) % 3, {}) is None


@pytest.mark.parametrize(("classes", "only"), [(2, [1]), (3, [1]), (3, [0, 1])])
@pytest.mark.filterwarnings("ignore:the classes are")
def test_folds_of_separated_rows_are_separated_by_the_same_plane(
    classes: int, only: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 3))
    y = np.digitize(x[:, 0] + 0.5 * rng.normal(size=60), [-0.5, 0.5][: classes - 1])
    x[:, 2] = np.isin(y, only) & (rng.random(60) < 0.5)  # quasi-separation: no row with a 1 is of another class
    fold = np.arange(60) % 3
    asked: list[int] = []
    decide = separation.decide_jointly

    def counting(*given: Any) -> Any:
        asked.append(1)
        return decide(*given)

    monkeypatch.setattr(separation, "decide_jointly", counting)
    fits = LogisticRegression()._fit_folds(x, y, None, fold, {})
    assert fits is not None
    assert len(asked) <= 1
    for k, model in enumerate(fits.without):
        alone = LogisticRegression().fit(x[fold != k], y[fold != k])
        assert model.certificate_.status is alone.certificate_.status
        np.testing.assert_allclose(model.predict_proba(x), alone.predict_proba(x), atol=1e-6)


@pytest.mark.filterwarnings("ignore:the classes are")
def test_a_guess_and_the_decision_share_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    budgets: list[Any] = []
    decide = separation.decide_jointly

    def fail_to_guess(source: Any, guess: Any, budget: Any) -> None:
        budgets.append(budget)

    def decide_by(source: Any, labels: Any, budget: Any) -> Any:
        budgets.append(budget)
        return decide(source, labels, budget)

    monkeypatch.setattr(separation, "quasi_separating_weights", fail_to_guess)
    monkeypatch.setattr(separation, "decide_jointly", decide_by)
    LogisticRegression().fit([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])
    assert len(budgets) == 2
    assert budgets[0] is budgets[1]


@pytest.mark.filterwarnings("ignore:the classes seem")
def test_a_proof_of_separation_that_was_given_up_is_not_tried_again_in_the_folds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = np.random.default_rng(1).normal(size=(60, 3))
    y = x[:, 0] + 0.5 * np.cos(np.arange(60)) > 0
    x[:, 2] = y & (np.arange(60) % 2 == 0)
    asked: list[int] = []

    def give_up(*given: Any) -> Any:
        asked.append(1)
        raise Undecided

    monkeypatch.setattr(separation, "quasi_separating_weights", lambda *given: None)
    monkeypatch.setattr(separation, "decide_jointly", give_up)
    fits = LogisticRegression()._fit_folds(x, y, None, np.arange(60) % 3, {})
    assert fits is not None
    assert len(asked) == 1
    assert {one.certificate_.status for one in fits.without} == {fits.whole.certificate_.status}
