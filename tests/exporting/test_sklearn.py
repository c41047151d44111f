"""Systems from scikit-learn's estimators and estimators from systems: they predict the same, and claim nothing new."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import linear_model as lm
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.cluster import MiniBatchKMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestRegressor
from sklearn.mixture import GaussianMixture as SklearnMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

from adaline import (
    GaussianClassifier,
    GeneralizedLinear,
    LinearRegression,
    LogisticRegression,
    OneVsRest,
    OrdinalRegression,
    Perceptron,
    Ridge,
    Status,
    basis,
    datasets,
    effects,
    export,
    from_sklearn,
    load,
    open_table,
    save,
    to_sklearn,
)
from adaline.errors import InvalidParameter, InvalidType, SumsMissing
from tests.cases import Case, cases

RNG = np.random.default_rng(5)
X = RNG.normal(size=(120, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, 0.0]
NUMBER = X @ [1.0, 0.2, -3.0] + RNG.normal(size=120)
TWO = np.where(NUMBER > 1.0, "yes", "no")
THREE = np.digitize(NUMBER, [0.0, 2.0])
COUNT = THREE + 1

REGRESSIONS: list[Any] = [
    lm.LinearRegression(),
    lm.LinearRegression(fit_intercept=False, positive=True),
    lm.Ridge(alpha=2.0),
    lm.RidgeCV(),
    lm.Lasso(alpha=0.1),
    lm.ElasticNetCV(),
    lm.SGDRegressor(max_iter=5, tol=None),
    lm.BayesianRidge(),
    lm.HuberRegressor(max_iter=1000),
    lm.LassoLarsCV(),
    LinearSVR(max_iter=5, tol=1.0),
]
COUNTS: list[Any] = [lm.PoissonRegressor(), lm.GammaRegressor(), lm.TweedieRegressor(power=1.5), lm.TweedieRegressor()]
CLASSIFIERS: list[Any] = [
    lm.LogisticRegression(max_iter=1000),
    lm.LogisticRegressionCV(max_iter=1000, use_legacy_attributes=False, l1_ratios=(0.0,), Cs=[0.1, 1.0]),
    lm.SGDClassifier(loss="log_loss", max_iter=5, tol=None),
    lm.SGDClassifier(max_iter=5, tol=None),
    lm.RidgeClassifier(),
    lm.Perceptron(max_iter=5, tol=None),
    LinearSVC(max_iter=5, tol=1.0),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2, priors=None),
    QuadraticDiscriminantAnalysis(reg_param=0.1),
    GaussianNB(),
]
UNSUPERVISED: list[Any] = [
    SklearnKMeans(3, n_init=1),
    MiniBatchKMeans(2, n_init=1),
    *(SklearnMixture(2, covariance_type=kind) for kind in ("full", "tied", "diag", "spherical")),
]
METHODS = ("predict", "decision_function", "predict_proba", "transform")


def agree(model: Any, other: Any, rows: Any, rtol: float = 1e-10) -> None:
    """Assert that both models say the same of rows, by every method that both have."""
    for method in METHODS:
        if hasattr(other, method) and hasattr(model, method):
            if method == "transform" and type(other).__name__ not in ("KMeans", "MiniBatchKMeans"):
                continue  # of discriminants it is another projection, in other units
            if method == "decision_function" and type(model).__name__ == "SigmoidPerceptron":
                continue  # its units are tanh, whose outputs are half those of the logistic function
            found, wanted = np.asarray(getattr(model, method)(rows)), np.asarray(getattr(other, method)(rows))
            assert found.shape == wanted.shape, method
            if found.ndim == 2 and method == "decision_function":  # up to a constant of each row
                found, wanted = found - found[:, :1], wanted - wanted[:, :1]
            if wanted.dtype.kind in "OUb" or (method == "predict" and hasattr(other, "classes_")):
                assert found.tolist() == wanted.tolist()
            else:
                np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol, err_msg=method)


def both_ways(estimator: Any, rows: Any, folder: Path) -> Any:
    """Assert what holds of every estimator; return the system."""
    model = from_sklearn(estimator)
    assert model.certificate_.status is Status.GIVEN
    agree(model, estimator, rows)
    save(model, folder / "m.adaline")
    agree(load(folder / "m.adaline"), estimator, rows)
    agree(to_sklearn(model), estimator, rows)
    program: dict[str, Any] = {}
    exec(export(model, to="python"), program)
    first = {f"x{j}": float(value) for j, value in enumerate(rows[0])}
    wanted = estimator.predict(rows[:1])[0]
    found = program["predict"](first)["prediction"]
    assert found == (pytest.approx(wanted, rel=1e-10) if isinstance(wanted, float) else wanted)
    if hasattr(model, "partial_fit"):
        with pytest.raises(InvalidParameter, match="learned by another library"):
            model.partial_fit(rows, np.resize(getattr(model, "classes_", np.arange(1.0, 4.0)), len(rows)))
    return model


@pytest.mark.parametrize("estimator", REGRESSIONS, ids=lambda one: type(one).__name__)
def test_regressions(estimator: Any, tmp_path: Path) -> None:
    both_ways(estimator.fit(X, NUMBER), X, tmp_path)


@pytest.mark.parametrize("estimator", COUNTS, ids=lambda one: type(one).__name__)
def test_families(estimator: Any, tmp_path: Path) -> None:
    assert isinstance(both_ways(estimator.fit(X[:, :1], np.exp(X[:, 0])), X[:, :1], tmp_path), GeneralizedLinear)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda one: type(one).__name__)
def test_classifiers(estimator: Any, y: Any, tmp_path: Path) -> None:
    both_ways(estimator.fit(X, y), X, tmp_path)


@pytest.mark.parametrize("estimator", UNSUPERVISED, ids=lambda one: type(one).__name__)
def test_clusters_and_mixtures(estimator: Any, tmp_path: Path) -> None:
    both_ways(estimator.fit(X), X, tmp_path)


def test_several_targets_and_names(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    estimator = lm.Ridge().fit(frame, np.column_stack([NUMBER, -NUMBER]))
    model = from_sklearn(estimator)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    agree(model, estimator, frame)
    back = to_sklearn(model)
    assert back.feature_names_in_.tolist() == ["a", "b", "c"]
    agree(back, estimator, frame)


def test_a_pipeline_keeps_its_steps(tmp_path: Path) -> None:
    estimator = make_pipeline(StandardScaler(), lm.LogisticRegression()).fit(X, TWO)
    model = from_sklearn(estimator)
    assert isinstance(model[-1], LogisticRegression)
    agree(model, estimator, X)
    agree(to_sklearn(model), estimator, X)
    save(model, tmp_path / "m")
    agree(load(tmp_path / "m"), estimator, X)
    assert "CLASSES" in export(model, to="python")


def test_what_was_given_has_no_standard_errors() -> None:
    model = from_sklearn(lm.LinearRegression().fit(X, NUMBER))
    text = str(model.summary())
    assert text.startswith("LinearRegression, of weights that were given\n")
    assert "the weights are those of another library" in text
    assert "nan" not in text
    with pytest.raises(SumsMissing, match="another library"):
        model.predict(X, interval="prediction")
    for call in (lambda: model.test("x0"), lambda: model.summary(errors="HC3", X=X, y=NUMBER)):
        with pytest.raises(SumsMissing, match="another library"):
            call()
    for estimator, y in ((lm.LogisticRegression(), TWO), (lm.PoissonRegressor(), COUNT), (lm.GammaRegressor(), COUNT)):
        likelihood = from_sklearn(estimator.fit(X, y))
        table = likelihood.summary()
        assert [row["estimate"] for row in table.to_dict()["coefficients"]] == [
            *np.atleast_1d(likelihood.intercept_),
            *likelihood.coef_.flat,
        ]
        assert "another library" in str(table)
        assert "nan" not in str(table) + table._repr_html_()
        for call in (
            lambda one=likelihood: one.test("x0"),
            lambda one=likelihood: effects(one, X),
            lambda one=likelihood: one.predict(X, interval="confidence"),
            lambda one=likelihood, y=y: one.summary(errors="HC3", X=X, y=y),
        ):
            with pytest.raises(SumsMissing, match="another library"):
                call()
    assert model.fit(X, NUMBER).certificate_.status is Status.SOLVED


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        (RandomForestRegressor(2).fit(X, NUMBER), InvalidType, "RandomForestRegressor cannot be converted"),
        (lm.Ridge(), InvalidParameter, "this Ridge is not fitted: call its fit before from_sklearn"),
        (lm.LinearRegression(), InvalidParameter, "this LinearRegression is not fitted: call its fit"),
        (make_pipeline(lm.SGDRegressor()), InvalidParameter, "this SGDRegressor is not fitted: call its fit"),
        (lm.Ridge, InvalidType, "a fitted estimator of scikit-learn"),
        ([1.0], InvalidType, "a fitted estimator of scikit-learn, not list"),
        (StandardScaler().fit(X), InvalidType, "StandardScaler cannot be converted"),
    ],
)
def test_what_is_no_linear_system_is_refused(given: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=re.escape(said)):
        from_sklearn(given)


NO_ESTIMATOR = re.compile(
    r"^(Additive|Ordinal|Wiener|Adaptive|Custom|OneVs)|one-vs-one|GaussianClassifier.*components|"
    r"loss='(binomial|inverse_gaussian)"
)


@cases()
def test_an_estimator_predicts_what_its_system_predicts(case: Case) -> None:
    given = case.rows()
    model = case.fit(given)
    if NO_ESTIMATOR.search(case.name):
        with pytest.raises(InvalidType, match=r"in scikit-learn|Python code"):
            to_sklearn(model)
        return
    agree(model, to_sklearn(model), given.X, rtol=1e-9)


def table(n: int = 80) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"size": rng.normal(size=n), "late": rng.random(n) > 0.4})
    frame["carrier"] = rng.choice(["UA", "AA", "o'x"], n)
    frame["floor"] = rng.integers(1, 4, n)
    frame["y"] = frame["size"] + frame["late"] + (frame["carrier"] == "UA") + rng.normal(size=n)
    return frame


@pytest.mark.parametrize(
    "options",
    [
        {"target": "y"},
        {"formula": "y ~ size + C(carrier, Sum) + C(floor)"},
        {"formula": "y ~ carrier + late - 1"},
        {"target": "y", "missing": "mean"},
        {"target": "y", "unseen": "other"},
    ],
)
def test_a_table_is_coded_by_an_encoder(options: dict[str, Any]) -> None:
    frame = table()
    for model in (LinearRegression(), Ridge(3.0)):
        model.fit(open_table(frame, **options))
        estimator = to_sklearn(model)
        np.testing.assert_allclose(estimator.predict(frame), model.predict(frame), rtol=1e-11)
    if options.get("missing"):
        frame.loc[2, "size"], frame.loc[3, "carrier"] = np.nan, None
        np.testing.assert_allclose(estimator.predict(frame), model.predict(frame), rtol=1e-11)
    if options.get("unseen"):
        frame.loc[2, "carrier"] = "new"
        np.testing.assert_allclose(estimator.predict(frame), model.predict(frame), rtol=1e-11)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda f: LinearRegression().fit(open_table(f, formula="y ~ size:carrier")), "the term size:carrier"),
        (lambda f: LinearRegression().fit(open_table(f, formula="y ~ log(size + 9)")), "the term log(size + 9)"),
        (lambda f: Ridge(1.0).fit(open_table(f, formula="y ~ size | carrier")), "with absorbed effects"),
        (lambda f: OrdinalRegression().fit(f[["size"]], f["floor"]), "OrdinalRegression has no"),
        (lambda f: OneVsRest(Perceptron()).fit(f[["size"]], f["carrier"]), "OneVsRest has no"),
        (lambda f: GeneralizedLinear("poisson").fit(f[["size"]], f["floor"], offset=f["y"]), "with an offset"),
        (
            lambda f: GaussianClassifier().fit(
                open_table(f[["size", "floor", "carrier"]], target="carrier", categories=["floor"])
            ),
            "",
        ),
    ],
)
def test_what_has_no_estimator_is_said(make: Callable[[pd.DataFrame], Any], said: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(table())
    with pytest.raises(InvalidType, match=re.escape(said)):
        to_sklearn(model)


def test_a_basis_is_a_step() -> None:
    data = datasets.load("penguins", target="body_mass_g")
    model = LinearRegression(basis=basis.Polynomial(2)).fit(data.X, data.y)
    np.testing.assert_allclose(to_sklearn(model).predict(data.X), model.predict(data.X), rtol=1e-12)
