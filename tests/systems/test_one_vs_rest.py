"""K classes from two-class machines: as scikit-learn has them, on any system, and where signs alone cannot say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

from adaline import (
    FisherDiscriminant,
    GaussianClassifier,
    KMeans,
    LeastSquaresClassifier,
    LinearRegression,
    OneVsOne,
    OneVsRest,
    Ridge,
    open_table,
)
from adaline import LogisticRegression as OwnLogistic
from adaline.errors import AdalineError, UnknownLabel
from adaline.results import Status

SYSTEMS = [GaussianClassifier(), GaussianClassifier(covariance="full"), FisherDiscriminant(), LeastSquaresClassifier()]
SCHEMES = [OneVsRest(), OneVsRest(machines="K-1"), OneVsOne()]
EACH = pytest.mark.parametrize("scheme", SCHEMES, ids=str)
WITH = pytest.mark.parametrize("system", SYSTEMS, ids=str)


def clouds(classes: int = 4, n: int = 240, seed: int = 0) -> tuple[Any, Any]:
    """Clouds around a circle."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, classes, n)
    angle = 2 * np.pi * k / classes
    X = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(n)]) * 3 + rng.normal(size=(n, 3))
    return X, np.array(["d", "a", "c", "b", "e"])[k]


@WITH
def test_they_are_scikit_learns(system: Any) -> None:
    X, y = clouds()
    pairs = ((OneVsRest(system), OneVsRestClassifier(system), 4), (OneVsOne(system), OneVsOneClassifier(system), 6))
    for mine, theirs, machines in pairs:
        np.testing.assert_array_equal(mine.fit(X, y).predict(X), theirs.fit(X, y).predict(X))
        np.testing.assert_allclose(mine.decision_function(X), theirs.decision_function(X), rtol=1e-9)
        assert len(mine.estimators_) == machines
        assert mine.score(X, y) > 0.8
    rest = pairs[0][0]
    np.testing.assert_array_equal(rest.ambiguous(X), (rest.decision_function(X) > 0).sum(axis=1) != 1)


@WITH
def test_one_machine_less(system: Any) -> None:
    X, y = clouds()
    model, all_of_them = OneVsRest(system, machines="K-1").fit(X, y), OneVsRest(system).fit(X, y)
    assert len(model.estimators_) == 3
    said = model.decisions(X)
    np.testing.assert_allclose(said, all_of_them.decisions(X)[:, :3])
    best = np.where((said > 0).any(axis=1), said.argmax(axis=1), 3)
    np.testing.assert_array_equal(model.predict(X), model.classes_[best])
    np.testing.assert_array_equal(model.ambiguous(X), (said > 0).sum(axis=1) > 1)
    assert (model.predict(X)[~(said > 0).any(axis=1)] == "d").all()


def test_the_triangle_in_the_middle_is_ambiguous() -> None:
    """Three clouds around the origin: nobody claims its middle, or the votes are tied there (S2's picture)."""
    angle = np.array([0.3, 2.4, 4.5])
    centres = 5 * np.column_stack([np.cos(angle), np.sin(angle)])
    k = np.repeat([0, 1, 2], 60)
    X = centres[k] + np.random.default_rng(0).normal(size=(180, 2))
    grid = np.stack(np.meshgrid(np.linspace(-6, 6, 61), np.linspace(-6, 6, 61)), axis=-1).reshape(-1, 2)
    rest, pairs = (scheme(LeastSquaresClassifier()).fit(X, k) for scheme in (OneVsRest, OneVsOne))
    for model, least, most in ((rest, 0.02, 0.9), (pairs, 0.0, 0.05)):
        assert not model.ambiguous(centres).any()
        assert (model.predict(centres) == [0, 1, 2]).all()
        assert least <= model.ambiguous(grid).mean() < most
    claims = (rest.decision_function(grid) > 0).sum(axis=1)
    np.testing.assert_array_equal(rest.ambiguous(grid), claims != 1)
    assert {0, 1, 2} == set(claims)


@pytest.mark.parametrize(("name", "scheme"), [("one-vs-rest", OneVsRest), ("one-vs-one", OneVsOne)])
def test_the_schemes_of_logistic_regression_are_those_of_any_system(name: str, scheme: Any) -> None:
    X, y = clouds()
    machine = OwnLogistic(penalty=0.1)
    mine, theirs = OwnLogistic(penalty=0.1, scheme=name).fit(X, y), scheme(machine).fit(X, y)
    coef = np.concatenate([one.coef_ for one in theirs.estimators_])
    np.testing.assert_allclose(mine.coef_, coef, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(mine.predict(X), theirs.predict(X))


def test_tied_votes_are_broken_by_the_sums() -> None:
    class Fixed(GaussianClassifier):
        def decision_function(self, X: Any) -> Any:
            return np.full(len(np.asarray(X)), {0: 2.0, 1: -1.0, 2: 0.5}[self.number])  # type: ignore[attr-defined]

    X, y = clouds(3)
    model = OneVsOne(Fixed()).fit(X, y)
    for number, machine in enumerate(model.estimators_):
        machine.number = number
    # (0, 1) votes 1 by 2, (0, 2) votes 0 by 1, (1, 2) votes 2 by 0.5: one vote each, sums -1, 1.5, -0.5
    assert model.ambiguous(X[:1]).tolist() == [True]
    np.testing.assert_allclose(model.decision_function(X[:1])[0], 1 + np.array([-1 / 6, 1.5 / 7.5, -0.5 / 4.5]))
    assert model.predict(X[:1])[0] == model.classes_[1]


@EACH
def test_two_classes_have_one_number(scheme: Any) -> None:
    X, y = clouds(2)
    model = clone(scheme).fit(X, y)
    scores = model.decision_function(X)
    assert scores.shape == (len(X),)
    np.testing.assert_array_equal(model.predict(X) == model.classes_[1], scores > 0)
    np.testing.assert_array_equal(model.predict(X), GaussianClassifier().fit(X, y).predict(X))


@EACH
def test_parameters_of_the_system_are_reached(scheme: Any) -> None:
    model = clone(scheme).set_params(system=GaussianClassifier())
    model.set_params(system__shrinkage=0.5)
    assert model.get_params()["system__shrinkage"] == 0.5
    X, y = clouds()
    given = model.system
    model.fit(X, y)
    assert model.system is given
    assert not hasattr(given, "classes_")
    assert all(machine.shrinkage == 0.5 for machine in model.estimators_)
    assert model.certificate_.digits == min(machine.certificate_.digits for machine in model.estimators_)


@EACH
def test_it_goes_on_with_more_rows(scheme: Any) -> None:
    X, y = clouds()
    order = np.argsort(y, kind="stable")  # a first piece without some classes
    X, y = X[order], y[order]
    whole, model = clone(scheme).fit(X, y), clone(scheme)
    for first in range(0, 240, 60):
        model.partial_fit(X[first : first + 60], y[first : first + 60], classes=list("abcd"))
    with pytest.raises(UnknownLabel, match="'q' is not among the classes"):
        model.partial_fit(X[:3], ["a", "b", "q"])
    np.testing.assert_allclose(model.decisions(X), whole.decisions(X), rtol=1e-7, atol=1e-9)


def test_systems_of_scikit_learn_take_part() -> None:
    X, y = clouds()
    for scheme in SCHEMES:
        model = clone(scheme).set_params(system=SGDClassifier(random_state=0))
        model.partial_fit(X, y, classes=list("abcd")).partial_fit(X, y)
        assert model.score(X, y) > 0.7
        tree = clone(scheme).set_params(system=DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, y)
        assert tree.score(X, y) > 0.7  # by predict_proba
        assert not hasattr(tree, "partial_fit")


@EACH
def test_tables_are_predicted_and_judged(scheme: Any) -> None:
    X, y = clouds()
    table = open_table(pd.DataFrame(X, columns=list("pqr")).assign(y=y), target="y")
    model, expected = clone(scheme).fit(table), clone(scheme).fit(X, y)
    np.testing.assert_allclose(model.decisions(table), expected.decisions(X), rtol=1e-7, atol=1e-8)
    for method in ("predict", "ambiguous"):
        np.testing.assert_array_equal(getattr(model, method)(table), getattr(expected, method)(X))
    assert model.score(table) == pytest.approx(expected.score(X, y))
    twice = clone(scheme).partial_fit(table).partial_fit(table)
    np.testing.assert_array_equal(twice.predict(table), expected.predict(X))


@pytest.mark.parametrize(
    ("model", "labels", "words"),
    [
        (OneVsRest(machines="2K"), None, "machines must be"),
        (OneVsOne(3), None, "classifier"),
        (OneVsOne(), ["a"] * 240, "at least 2 classes"),
        (OneVsRest(), ["a", "b"], "inconsistent"),
        (OneVsRest(KMeans()), None, r"system must be a classifier .* LogisticRegression\(\), or a regression"),
        (OneVsOne(KMeans()), None, r"system must be a classifier .* LogisticRegression\(\), or a regression"),
    ],
    ids=str,
)
def test_what_is_refused(model: Any, labels: Any, words: str) -> None:
    X, y = clouds()
    with pytest.raises(ValueError, match=words) as refusal:
        model.fit(X, y if labels is None else labels)
    assert isinstance(refusal.value, AdalineError)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("system", [OwnLogistic(penalty=1.0), DecisionTreeClassifier(max_depth=2)], ids=str)
def test_probabilities_of_machines_are_divided_by_their_sum(system: Any, classes: int) -> None:
    X, y = clouds(classes)
    model = OneVsRest(system).fit(X, y)
    p = model.predict_proba(X)
    each = np.column_stack([clone(system).fit(X, y == k).predict_proba(X)[:, 1] for k in np.unique(y)])
    np.testing.assert_allclose(p, each / each.sum(axis=1, keepdims=True), rtol=1e-12)
    if classes > 2:
        np.testing.assert_allclose(p, OneVsRestClassifier(system).fit(X, y).predict_proba(X), rtol=1e-12)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(X)).mean() > 0.95
    assert hasattr(OneVsRest(), "predict_proba")
    for other in (OneVsRest(LeastSquaresClassifier()), OneVsRest(system, machines="K-1"), OneVsOne(system)):
        assert not hasattr(other, "predict_proba")


@EACH
def test_a_regression_is_thresholded_as_in_scikit_learn(scheme: Any) -> None:
    X, y = clouds()
    model = clone(scheme).set_params(system=Ridge(penalty=1.0)).fit(X, y)
    assert model.score(X, y) > 0.8
    if scheme.get_params().get("machines") == "K":
        theirs = OneVsRestClassifier(Ridge(penalty=1.0)).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), theirs.predict(X))
    table = open_table(pd.DataFrame(X, columns=list("pqr")).assign(y=y), target="y")
    np.testing.assert_array_equal(clone(model).fit(table).predict(table), model.predict(X))
    assert model.certificate_.status is Status.SOLVED
    streamed = clone(model).set_params(system=LinearRegression())
    for part in (slice(0, 100), slice(100, 240)):
        streamed.partial_fit(X[part], y[part], classes=np.unique(y))
    whole = clone(streamed).fit(X, y)
    np.testing.assert_allclose(streamed.decisions(X), whole.decisions(X), rtol=1e-9, atol=1e-12)
