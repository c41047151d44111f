"""`penalty="auto"`: the losses along the path are those of refits without each fold, in a few passes a penalty."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import LogisticRegression
from adaline.arrays import Array
from adaline.fits import penalty_path
from adaline.sources.views import fold_of


def rows(n: int, classes: int) -> tuple[Array, Array, Array]:
    """Return columns of unit deviation, labels, and weights of mean one."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(n, 12)) @ rng.normal(size=(12, 12))
    weight = rng.integers(1, 4, n).astype(float)
    weight /= weight.mean()
    x = (x - np.average(x, axis=0, weights=weight)) / np.sqrt(np.cov(x.T, aweights=weight, ddof=0).diagonal())
    z = x @ rng.normal(size=12) * 0.3 + 1.5 * rng.normal(size=n)
    return x, np.digitize(z, np.quantile(z, np.arange(1, classes) / classes)), weight


def loss(model: LogisticRegression, x: Array, y: Array, weight: Array) -> float:
    """Return minus the log-likelihood of rows."""
    return float(-(weight * model.predict_log_proba(x)[np.arange(len(y)), y]).sum())


@pytest.mark.parametrize("classes", [2, 3])
def test_losses_of_the_path_are_those_of_refits(classes: int) -> None:
    x, y, weight = rows(1200, classes)
    model = LogisticRegression(penalty="auto", folds=4).fit(x, y, weight)
    assert model.path_["penalties"][0] == pytest.approx(10 * weight.sum())
    fold = fold_of(0, len(y), 4)
    for i in (0, 3, 6, len(model.path_["values"]) - 1):
        total = 0.0
        for k in range(4):
            own, others = fold == k, fold != k
            one = LogisticRegression(penalty=float(model.path_["penalties"][i])).fit(
                x[others], y[others], weight[others]
            )
            total += loss(one, x[own], y[own], weight[own])
        assert model.path_["values"][i] == pytest.approx(total / weight.sum(), rel=1e-6)


def test_a_path_over_many_rows_takes_a_few_passes_a_penalty() -> None:
    x, y, weight = rows(20_000, 2)
    model = LogisticRegression(penalty="auto").fit(x, y, weight)
    assert model.certificate_.passes <= 4 * len(model.path_["values"]) + 10


@pytest.mark.parametrize("classes", [2, 3])
def test_folds_choose_their_penalty_without_their_rows(classes: int) -> None:
    x, y, weight = rows(400, classes)
    x = x * np.logspace(-3, 3, 12)
    fold = np.random.default_rng(1).integers(0, 4, len(y))
    system = LogisticRegression(penalty="auto")
    _, models = system._fit_folds(x, y, weight, fold, {})
    for k, model in enumerate(models):
        kept = fold != k
        by_hand, _ = system._fit_folds(
            x[kept], y[kept], weight[kept], np.unique(fold[kept], return_inverse=True)[1], {}
        )
        assert model.penalty_ == pytest.approx(by_hand.penalty_)
        np.testing.assert_allclose(model.path_["values"], by_hand.path_["values"], rtol=1e-6)
        np.testing.assert_allclose(model.predict_proba(x), by_hand.predict_proba(x), atol=1e-5)


@pytest.mark.night
def test_paths_without_two_folds_come_from_the_passes_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y, weight = rows(20_000, 2)
    fold = np.random.default_rng(1).integers(0, 5, len(y))
    exact = LogisticRegression(penalty="auto")._fit_folds(x, y, weight, fold, {})[1]
    monkeypatch.setattr(penalty_path, "MOST_PAIRED_WORK", 0.0)
    model, models = LogisticRegression(penalty="auto")._fit_folds(x, y, weight, fold, {})
    assert model.path_["values"].min() == pytest.approx(
        np.mean([one.path_["values"].min() for one in models]), rel=1e-2
    )
    for one, other in zip(models, exact, strict=True):
        assert one.penalty_ == pytest.approx(other.penalty_)
        np.testing.assert_allclose(one.path_["values"], other.path_["values"], rtol=1e-4)
        np.testing.assert_allclose(one.predict_proba(x), other.predict_proba(x), atol=1e-5)


@pytest.mark.parametrize(("classes", "paired"), [(2, 0.0), (3, np.inf)])
def test_categories_of_few_rows_do_not_mislead_the_choice(
    classes: int, paired: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        penalty_path, "MOST_PAIRED_WORK", paired
    )  # without two folds: one step, where that is enough, or fitted
    x, y, weight = rows(400, classes)
    rng = np.random.default_rng(5)
    rare = rng.integers(0, 60, len(y))[:, None] == np.arange(12)
    y = np.where(rare[:, :8].any(axis=1), y.max(), y)  # some categories have rows of one class only
    x, fold = np.column_stack([x[:, :4], rare]), rng.integers(0, 4, len(y))
    model, models = LogisticRegression(penalty="auto")._fit_folds(x, y, weight, fold, {})
    unit = np.sqrt(np.cov(x.T, aweights=weight, ddof=0).diagonal())
    for i in (4, int(np.argmin(model.path_["values"])), -1):
        total = 0.0
        for k in range(4):
            own, others = fold == k, fold != k
            one = LogisticRegression(penalty=float(model.path_["penalties"][i]))
            one.fit(x[others] / unit, y[others], weight[others])
            total += loss(one, x[own] / unit, y[own], weight[own])
        assert model.path_["values"][i] == pytest.approx(total / weight.sum(), rel=1e-6)
    kept = fold > 0
    by_hand, _ = LogisticRegression(penalty="auto")._fit_folds(x[kept], y[kept], weight[kept], fold[kept] - 1, {})
    assert models[0].penalty_ == pytest.approx(by_hand.penalty_)
    np.testing.assert_allclose(models[0].path_["values"], by_hand.path_["values"], rtol=1e-6)


def test_two_folds_leave_no_other_to_choose_a_penalty_by() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3))
    y = x[:, 0] + rng.normal(size=300) > 0
    fold = np.arange(300) % 2
    _, models = LogisticRegression(penalty="auto")._fit_folds(x, y, None, fold, {})
    for k, model in enumerate(models):
        alone = LogisticRegression(penalty="auto").fit(x[fold != k], y[fold != k])
        np.testing.assert_allclose(model.coef_, alone.coef_, atol=0.1)
