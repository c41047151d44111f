"""scikit-learn's own checks: of one system of each family for a change, of all at night; and its tools."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
import sklearn
import sklearn.base
from sklearn import compose, ensemble, feature_selection, model_selection, multioutput, pipeline
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import adaline
from adaline.basis import Polynomial
from tests.cases import EVERY, Case, cases

FAMILIES = ["LinearRegression", "LogisticRegression", "Perceptron", "OneVsRest", "GaussianClassifier", "KMeans"]
"""One system of each family: by sums, by descent, by rows, of machines, of densities, without targets."""


class ClusterMixinKMeans(adaline.KMeans, sklearn.base.ClusterMixin, sklearn.base.BaseEstimator):
    """K-means that scikit-learn's checks take for a clustering: they look for its base class."""


def checks_of(names: Iterable[str], *others: Any) -> pytest.MarkDecorator:
    """Parametrize a test by scikit-learn's checks of systems."""
    failures: Any = lambda one: getattr(one, "expected_failures", {})  # noqa: E731
    systems = [*(Case(EVERY[name]).make() for name in names), *others]
    return parametrize_with_checks(systems, expected_failed_checks=failures)  # type: ignore[no-any-return]


def passes(estimator: Any, check: Any) -> None:
    """Run one check."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.mark.every
@checks_of(FAMILIES, ClusterMixinKMeans())
def test_scikit_learns_checks_of_families(estimator: Any, check: Any) -> None:
    passes(estimator, check)


@pytest.mark.night
@checks_of(name for name in EVERY if name not in FAMILIES)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    passes(estimator, check)


@cases(lambda case: case.linear)
def test_it_works_inside_scikit_learns_tools(case: Case) -> None:
    given = case.rows()
    scores = cross_val_score(make_pipeline(StandardScaler(), case.make()), given.X, given.y - given.y.mean(), cv=3)
    assert scores.min() > 0.2


class BaseRidge(adaline.Ridge, sklearn.base.RegressorMixin, sklearn.base.BaseEstimator):
    """A ridge regression that is an instance of scikit-learn's classes."""


class BaseLogistic(adaline.LogisticRegression, sklearn.base.ClassifierMixin, sklearn.base.BaseEstimator):
    """A logistic regression that is an instance of scikit-learn's classes."""


class BasePolynomial(Polynomial, sklearn.base.TransformerMixin, sklearn.base.BaseEstimator):
    """A basis that is an instance of scikit-learn's classes."""


RIDGE, LOGISTIC = adaline.Ridge(penalty=2.0), adaline.LogisticRegression(penalty=1.0)
PENALTIES = {"penalty": [0.1, 1.0, 10.0]}
TOOLS: dict[str, Callable[[Any, Any], Any]] = {
    "pipeline": lambda r, c: make_pipeline(StandardScaler(), c),
    "search": lambda r, c: model_selection.GridSearchCV(c, PENALTIES, cv=3),
    "search of regressions": lambda r, c: model_selection.GridSearchCV(r, PENALTIES, cv=3),
    "stacking": lambda r, c: ensemble.StackingClassifier([("one", c), ("two", clone_of(c, penalty=9.0))], c, cv=3),
    "stacking of regressions": lambda r, c: ensemble.StackingRegressor([("one", r)], r, cv=3),
    "voting": lambda r, c: ensemble.VotingClassifier([("one", c), ("two", clone_of(c, penalty=9.0))], voting="soft"),
    "voting of regressions": lambda r, c: ensemble.VotingRegressor([("one", r), ("two", clone_of(r, penalty=9.0))]),
    "calibration": lambda r, c: CalibratedClassifierCV(c, cv=3),
    "bagging": lambda r, c: ensemble.BaggingClassifier(c, n_estimators=3, random_state=0),
    "boosting": lambda r, c: ensemble.AdaBoostClassifier(c, n_estimators=3, random_state=0),
    "elimination": lambda r, c: feature_selection.RFE(c, n_features_to_select=2),
    "selection": lambda r, c: make_pipeline(feature_selection.SelectFromModel(r), c),
    "target": lambda r, c: compose.TransformedTargetRegressor(r, transformer=StandardScaler()),
    "chain": lambda r, c: multioutput.MultiOutputRegressor(r),
}


def clone_of(system: Any, **changed: Any) -> Any:
    """Return a clone with other parameters."""
    return sklearn.base.clone(system).set_params(**changed)


@pytest.mark.parametrize("name", TOOLS)
def test_tools_give_what_they_give_with_subclasses_of_scikit_learns(name: str) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 4))
    y = (X @ [1.0, -2.0, 0.0, 0.5] + rng.normal(size=90) > 0).astype(float)
    t = y[:, None] if name == "chain" else y
    ours, theirs = TOOLS[name](RIDGE, LOGISTIC), TOOLS[name](BaseRidge(penalty=2.0), BaseLogistic(penalty=1.0))
    ours.fit(X, t), theirs.fit(X, t)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.score(X, t) == theirs.score(X, t) > 0.3
    assert ours.__sklearn_tags__() == theirs.__sklearn_tags__()
    assert "penalty" in ours._repr_html_()


@pytest.mark.parametrize("frames", ["pandas", "polars"])
def test_pipelines_unions_and_columns_give_the_frames_of_subclasses_of_scikit_learns(frames: Any) -> None:
    pytest.importorskip(frames)
    X = np.arange(12.0).reshape(6, 2)
    shown = []
    for basis in (Polynomial(degree=2), BasePolynomial(degree=2)):
        tools: list[Any] = [
            make_pipeline(StandardScaler(), basis, adaline.KMeans(n_clusters=2, random_state=0)),
            pipeline.FeatureUnion([("one", basis), ("two", adaline.KMeans(n_clusters=2, random_state=0))]),
            compose.ColumnTransformer([("one", basis, [0]), ("two", "passthrough", [1])]),
            basis,
        ]
        found = [sklearn.base.clone(tool).set_output(transform=frames).fit_transform(X) for tool in tools]
        with sklearn.config_context(transform_output=frames):
            found += [sklearn.base.clone(tool).fit(X).transform(X) for tool in tools]
        assert {type(one).__module__.split(".")[0] for one in found} == {frames}
        shown.append([(list(one.columns), one.to_numpy().tolist()) for one in found])
    assert shown[0] == shown[1]


def test_weights_are_routed_as_to_subclasses_of_scikit_learns() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 3))
    y, weight = X @ [1.0, 2.0, 3.0] + rng.normal(size=60), rng.integers(1, 9, 60)
    with sklearn.config_context(enable_metadata_routing=True):
        scores = list[Any]()
        for system in (RIDGE, BaseRidge(penalty=2.0)):
            one = sklearn.base.clone(system)
            with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match=r"Ridge\.fit"):
                cross_validated(one, X, y, weight)
            asked = one.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
            assert asked is one
            copied = sklearn.base.clone(asked)
            assert copied.get_metadata_routing().fit.requests == {"sample_weight": True}
            assert system.get_metadata_routing().fit.requests == {"sample_weight": None}
            scores.append(cross_validated(copied, X, y, weight))
            scores.append(make_pipeline(Polynomial(), copied).fit(X, y, sample_weight=weight)[-1].coef_)
            with pytest.raises(TypeError, match="Unexpected args"):
                one.set_fit_request(groups=True)
            assert not hasattr(one, "set_transform_request")
        np.testing.assert_array_equal(scores[0], scores[2])
        np.testing.assert_array_equal(scores[1], scores[3])
    with pytest.raises(RuntimeError, match="enable_metadata_routing=True"):
        one.set_fit_request(sample_weight=True)


def cross_validated(system: Any, X: Any, y: Any, weight: Any) -> list[float]:
    """Return the scores of folds, whose fits are weighted."""
    found = model_selection.cross_validate(system, X, y, params={"sample_weight": weight}, cv=3, error_score="raise")
    return list(found["test_score"])
