"""`select`: exact leave-one-out against refitting, folds against scikit-learn, rules, tables, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import array_api_strict as strict
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Lasso
from sklearn.metrics import log_loss
from sklearn.model_selection import PredefinedSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import adaline
from adaline import (
    GaussianClassifier,
    GaussianMixture,
    GeneralizedLinear,
    KMeans,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    WienerFilter,
    basis,
    datasets,
    open_table,
    select,
)
from adaline.arrays import Array
from adaline.errors import AdalineError, InvalidData, InvalidParameter
from adaline.selection.select import Selection
from adaline.sources.views import assign_folds


def rows(n: int = 40, d: int = 4, seed: int = 0, targets: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** np.arange(d) + 5.0
    W = rng.normal(size=(d, max(targets, 1))) / 10.0 ** np.arange(d)[:, None]
    Y = X @ W + rng.normal(size=(n, max(targets, 1)))
    return X, Y if targets else Y[:, 0]


def labels(n: int = 60, classes: int = 2, seed: int = 0) -> tuple[Array, NDArray[Any]]:
    rng = np.random.default_rng(seed)
    place = np.arange(n) % classes
    return rng.normal(size=(n, 3)) + place[:, None] * [1.5, -1.0, 0.0], np.array(["a", "b", "c", "d"])[place]


def refitted(system: Any, X: Array, y: Any, weight: Array | None = None, absolute: bool = False) -> tuple[float, float]:
    """Mean and standard error of the leave-one-out losses, by a refit for every copy of every row."""
    copies = np.ones(len(X), dtype=int) if weight is None else weight.astype(int)
    losses = []
    for i in range(len(X)):
        if not copies[i]:
            continue
        left = copies - (np.arange(len(X)) == i)
        model = clone(system).fit(np.repeat(X, left, axis=0), np.repeat(y, left, axis=0))
        answer = model.predict(X[i : i + 1])[0]
        if isinstance(system, LeastSquaresClassifier):
            loss = float(answer != y[i])
        else:
            loss = float(np.mean(np.abs(y[i] - answer) if absolute else (y[i] - answer) ** 2))
        losses += [loss] * copies[i]
    return float(np.mean(losses)), float(np.std(losses, ddof=1) / np.sqrt(len(losses)))


REGRESSIONS = [
    *(LinearRegression(), LinearRegression(fit_intercept=False), LinearRegression(solver="qr"), Ridge(penalty=0.0)),
    *(Ridge(penalty=3.0), Ridge(penalty=3.0, fit_intercept=False)),
]


@pytest.mark.parametrize("system", REGRESSIONS, ids=str)
@pytest.mark.parametrize("targets", [0, 2])
def test_leave_one_out_equals_refitting(system: Any, targets: int) -> None:
    X, y = rows(targets=targets)
    found = select([system], X, y)
    assert found.method == "loo"
    error, std_error = refitted(system, X, y)
    np.testing.assert_allclose([found.tried[0].error, found.tried[0].std_error], [error, std_error], rtol=1e-9)
    np.testing.assert_allclose(found.tried[0].training, np.mean((y - found.best.predict(X)) ** 2), rtol=1e-9)


@pytest.mark.parametrize("system", [LinearRegression(), Ridge(penalty=2.0)], ids=str)
def test_a_weight_of_two_is_the_row_twice(system: Any) -> None:
    X, y = rows(25)
    weight = np.random.default_rng(1).integers(0, 4, 25).astype(float)
    tried = select([system], X, y, sample_weight=weight).tried[0]
    np.testing.assert_allclose([tried.error, tried.std_error], refitted(system, X, y, weight), rtol=1e-9)


def test_leave_one_out_of_precisions_leaves_out_the_whole_row() -> None:
    X, y = rows(20)
    weight = np.random.default_rng(2).uniform(0.5, 3.0, 20)
    system = Ridge(penalty=1.0, weights="precision")
    keep = ~np.eye(20, dtype=bool)
    losses = [
        (y[i] - clone(system).fit(X[k], y[k], weight[k]).predict(X[i : i + 1])[0]) ** 2 for i, k in enumerate(keep)
    ]
    found = select([system], X, y, sample_weight=weight)
    mean = np.average(losses, weights=weight)
    std_error = np.sqrt(np.average((losses - mean) ** 2, weights=weight) / 19)
    np.testing.assert_allclose(found.tried[0][1:3], [mean, std_error], rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_one_standard_error_knows_no_unit_of_precisions(scale: float) -> None:
    X, y = rows(30)
    weight = np.random.default_rng(2).uniform(0.5, 3.0, 30)
    weight[:4] = 0.0
    given: dict[str, Any] = {"tol": [1e-3, 1e-4], "rule": "one-standard-error"}
    one, other = (
        select(LinearRegression(weights="precision"), X, y, sample_weight=some, **given)
        for some in (weight, weight * scale)
    )
    assert one.method == other.method == "loo"
    np.testing.assert_allclose([t[:3] for t in one.tried], [t[:3] for t in other.tried], rtol=1e-9)


def test_leave_one_out_of_absolute_errors() -> None:
    X, y = rows()
    found = select([LinearRegression()], X, y, scoring="mean_absolute_error")
    assert (found.method, found.measure) == ("loo", "mean absolute error")
    np.testing.assert_allclose(found.tried[0].error, refitted(LinearRegression(), X, y, absolute=True)[0], rtol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("settings", [{}, {"coding": "signed"}, {"fit_intercept": False}, {"penalty": 200.0}], ids=str)
def test_leave_one_out_of_labels_equals_refitting(settings: dict[str, Any], classes: int) -> None:
    X, y = labels(classes=classes)
    system = LeastSquaresClassifier(**settings)
    found = select([system], X, y)
    assert found.method == "loo"
    assert 0 < found.tried[0].error < 0.7
    np.testing.assert_allclose(found.tried[0][1:3], refitted(system, X, y), rtol=1e-9)
    assert found.tried[0].training == pytest.approx(np.mean(found.best.predict(X) != y))


def test_leave_one_out_of_labels_about_a_threshold() -> None:
    X, y = labels()
    assert select([LeastSquaresClassifier(penalty="auto")], X, y).method == "folds"  # found anew in every fit
    for system in (LeastSquaresClassifier(threshold=0.3), LeastSquaresClassifier(threshold=0.3, coding="signed")):
        np.testing.assert_allclose(select([system], X, y).tried[0].error, refitted(system, X, y)[0], rtol=1e-9)


@pytest.mark.parametrize("kind", ["longley", "sparse", "frame", "table"])
def test_leave_one_out_of_rows_of_any_kind(kind: str, tmp_path: Any) -> None:
    X, y = (datasets.load("longley").X, datasets.load("longley").y) if kind == "longley" else rows()
    given: tuple[Any, ...] = (X, y)
    if kind == "sparse":
        given = sparse.csr_array(X), y
    elif kind == "frame":
        given = pl.DataFrame(X, schema=list("abcd")), pl.Series(y)
    elif kind == "table":
        path = tmp_path / "rows.parquet"
        pd.DataFrame(X, columns=list("abcd")).assign(y=y).to_parquet(path)
        given = (open_table(str(path), target="y", progress=False),)
    found = select(Ridge(), *given, penalty=[0.5, 2.0])
    for penalty, tried in zip([0.5, 2.0], found.tried, strict=True):
        np.testing.assert_allclose(tried.error, refitted(Ridge(penalty=penalty), X, y)[0], rtol=1e-9)


def test_gcv_is_that_of_the_hat_matrix() -> None:
    X, y = rows()
    found = select(Ridge(), X, y, penalty=[0.1, 10.0], method="gcv")
    Z = X - X.mean(axis=0)
    for penalty, tried in zip([0.1, 10.0], found.tried, strict=True):
        H = Z @ np.linalg.solve(Z.T @ Z + penalty * np.eye(4), Z.T) + 1 / len(y)
        rss = ((y - H @ y) ** 2).sum()
        assert tried.error == pytest.approx(len(y) * rss / (len(y) - np.trace(H)) ** 2, rel=1e-10)
        assert tried.freedom == pytest.approx(np.trace(H), rel=1e-10)
    assert np.isnan(found.curve.std_error).all()


def test_a_penalty_grid_agrees_with_the_criterion_of_ridge() -> None:
    data = datasets.load("longley")
    model = Ridge(criterion="loo").fit(data.X, data.y)
    grid = [float(model.penalty_) * factor for factor in (0.5, 0.9, 1.0, 1.1, 2.0)]
    found = select(Ridge(standardize=True), data.X, data.y, penalty=grid)
    assert found.index == 2
    np.testing.assert_allclose(found.tried[2].error, model.path_["values"].min(), rtol=1e-6)


@pytest.mark.parametrize(
    ("system", "scoring", "name"),
    [
        (LinearRegression(), None, "neg_mean_squared_error"),
        (make_pipeline(StandardScaler(), Ridge(penalty=1.0)), None, "neg_mean_squared_error"),
        (Ridge(penalty=1.0), "r2", "r2"),
        (Ridge(penalty=1.0), "max_error", "neg_max_error"),
        (Ridge(penalty=1.0), lambda model, X, y: model.score(X, y), "r2"),
    ],
    ids=["default", "pipeline", "r2", "max_error", "function"],
)
def test_folds_of_a_regression_are_those_of_scikit_learn(system: Any, scoring: Any, name: str) -> None:
    X, y = rows(53)
    found = select([system], X, y, method="folds", folds=5, scoring=scoring)
    fold = assign_folds(53, 5, 0, None)
    scores = cross_val_score(system, X, y, cv=PredefinedSplit(fold), scoring=name)
    share = np.bincount(fold) / 53
    assert found.tried[0].error == pytest.approx(-(scores @ share), rel=1e-9)
    assert found.tried[0].std_error == pytest.approx(scores.std(ddof=1) / np.sqrt(5), rel=0.1)


@pytest.mark.parametrize(
    "system", [GaussianClassifier(), LogisticRegression(penalty=1.0), DecisionTreeClassifier(random_state=0)], ids=str
)
def test_folds_of_classes_are_dealt_evenly(system: Any) -> None:
    X, y = labels(63, classes=3)
    fold = assign_folds(63, 7, 3, y)
    assert all(np.ptp(np.bincount(fold[y == one])) <= 1 for one in "abc")
    found = select([system], X, y, folds=7, random_state=3)
    scores = cross_val_score(system, X, y, cv=PredefinedSplit(fold))
    assert (found.method, found.measure) == ("folds", "error rate")
    assert found.tried[0].error == pytest.approx(1 - scores.mean())


def test_log_loss_knows_classes_that_a_fold_lacks() -> None:
    X, y = labels(40)
    y[:3] = "c"  # in three folds of ten
    found = select([GaussianClassifier()], X, y, scoring="log_loss")
    probability = np.empty((40, 3))
    fold = assign_folds(40, 10, 0, y)
    for k in range(10):
        model = GaussianClassifier().fit(X[fold != k], y[fold != k])
        probability[fold == k] = model.predict_proba(X[fold == k])
    assert found.tried[0].error == pytest.approx(log_loss(y, probability), rel=1e-9)


def test_weights_and_pipelines() -> None:
    X, y = rows(60)
    weight = np.random.default_rng(0).integers(0, 3, 60).astype(float)
    plain = select(Ridge(), X, y, penalty=[0.1, 1e4], sample_weight=weight, method="folds")
    piped = select(make_pipeline(Ridge()), X, y, penalty=[0.1, 1e4], sample_weight=weight)
    np.testing.assert_allclose([t[:3] for t in plain.tried], [t[:3] for t in piped.tried], rtol=1e-12)
    some = weight > 0
    kept = select(Ridge(), X[some], y[some], penalty=[0.1, 1e4], sample_weight=weight[some], method="folds")
    np.testing.assert_allclose([t[:3] for t in plain.tried], [t[:3] for t in kept.tried], rtol=1e-12)
    assert list(piped.parameters) == ["ridge__penalty"]


def test_folds_of_rows_of_any_kind_are_the_same() -> None:
    X, y = rows(50)
    kinds = [
        (X.tolist(), y.tolist()),
        (sparse.coo_array(X), y),
        (pd.DataFrame(X), pd.Series(y, index=np.arange(50)[::-1])),
        (pl.DataFrame(X), pl.Series(y)),
        (strict.asarray(X), strict.asarray(y)),
    ]
    expected = [t[:3] for t in select(Ridge(), X, y, penalty=[1.0, 100.0], method="folds").tried]
    for given in kinds:
        found = select(Ridge(), *given, penalty=[1.0, 100.0], method="folds")
        np.testing.assert_allclose([t[:3] for t in found.tried], expected, rtol=1e-8)


@pytest.mark.parametrize("system", [Ridge(penalty=1.0), LogisticRegression(penalty=1.0), GaussianMixture()], ids=str)
def test_a_table_is_cut_by_row_numbers(system: Any, tmp_path: Any) -> None:
    from adaline.sources.views import fold_of

    X, y = labels(200)
    frame = pd.DataFrame(X, columns=list("abc")).assign(label=y, number=X @ [1.0, 2.0, 3.0] + X[:, 0] ** 2)
    frame.loc[[3, 77], "c"] = np.nan
    frame.to_csv(tmp_path / "rows.csv", index=False)
    target = {"Ridge": "number", "LogisticRegression": "label"}.get(type(system).__name__)
    source = open_table(str(tmp_path / "rows.csv"), target=target, features=list("abc"), missing="drop", progress=False)
    found = select([system], source, method="folds", folds=4)
    whole = frame.dropna().reset_index(drop=True)
    fold = fold_of(0, len(whole), 4)
    errors = []
    for k in range(4):
        train, held = (whole[some] for some in (fold != k, fold == k))
        model = clone(system).fit(train[list("abc")], None if target is None else train[target])
        if isinstance(system, GaussianMixture):
            errors += (-model.score_samples(held[list("abc")])).tolist()
        elif target == "label":
            errors += (model.predict(held[list("abc")]) != held[target]).astype(float).tolist()
        else:
            errors += ((model.predict(held[list("abc")]) - held[target]) ** 2).tolist()
    assert found.tried[0].error == pytest.approx(np.mean(errors), rel=1e-6)
    assert len(found.best.feature_names_in_) == 3


@pytest.mark.parametrize("weighted", [False, True])
def test_signals_are_held_out_in_stretches_and_keep_the_samples_of_weight_zero(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    d = np.convolve(x, [1.0, 0.5, -0.3, 0.2])[:400] + 0.1 * rng.normal(size=400)
    weight = rng.permutation(np.repeat([0.0, 1.0], 200)) if weighted else np.ones(400)
    weight[:60] = 0.0 if weighted else 1.0  # no stretch is without samples
    found = select(WienerFilter(), x, d, sample_weight=weight if weighted else None, taps=[2, 4, 8, 64])
    assert found.parameters["taps"] in (4, 8)
    stretch = np.maximum(np.cumsum(weight > 0) - 1, 0) * 10 // np.count_nonzero(weight)
    errors = []
    for k in range(10):
        model = WienerFilter(taps=4).fit(x, d, sample_weight=weight * (stretch != k))
        errors += ((d - model.predict(x)) ** 2)[(stretch == k) & (weight > 0)].tolist()
    assert found.tried[1].error == pytest.approx(np.mean(errors), rel=1e-9)
    assert found.tried[1].error < 0.02


def test_targets_as_a_column_are_those_in_a_row() -> None:
    X, y = rows(40)
    flat, column = (select(Lasso(), X, given, alpha=[0.1, 1.0]) for given in (y, y[:, None]))
    np.testing.assert_array_equal([one[:3] for one in column.tried], [one[:3] for one in flat.tried])


@pytest.mark.slow
def test_densities_and_centres() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)) + centre for centre in ([0, 0], [6, 0], [0, 6])])
    mixture = select(GaussianMixture(n_init=3), X, n_components=[1, 2, 3, 4, 5], rule="one-standard-error")
    assert (mixture.parameters, mixture.measure) == ({"n_components": 3}, "minus log likelihood")
    criterion = select(GaussianMixture(n_init=3), X, n_components=[1, 2, 3, 4, 5], scoring="bic")
    assert (criterion.parameters, criterion.method) == ({"n_components": 3}, "bic")
    assert criterion.tried[2].error == pytest.approx(criterion.best.bic(X))
    centres = select(KMeans(n_init=3), X, n_clusters=[1, 2, 3]).curve
    assert centres.validation[1] > 2 * centres.validation[2] > centres.training[2]


def test_whole_systems_and_bases_are_candidates() -> None:
    X, y = labels(90, classes=3)
    found = select([LeastSquaresClassifier(), GaussianClassifier(), Perceptron(epochs=5)], X, y)
    assert found.method == "folds"
    assert type(found.best) is type(found.parameters["system"])
    assert list(found.curve.values)[1] == "GaussianClassifier()"
    pipeline = make_pipeline(basis.Polynomial(), LinearRegression())
    X, y = rows(50, d=1)
    found = select(pipeline, X, y, polynomial=[basis.Polynomial(degree=1), basis.Fourier(terms=2)])
    assert found.best[0] is not found.parameters["polynomial"]
    assert found.best.predict(X).shape == (50,)
    assert not hasattr(found.parameters["polynomial"], "n_features_in_")


def test_a_grid_has_a_curve_along_each_parameter() -> None:
    X, y = rows(50, d=2)
    pipeline = make_pipeline(basis.Polynomial(), Ridge())
    found = select(pipeline, X, y, {"degree": [1, 2, 3], "penalty": [0.01, 1.0]}, folds=5)
    assert [tuple(c.values()) for c in found.candidates] == [(d, p) for d in (1, 2, 3) for p in (0.01, 1.0)]
    curve = found.along("ridge__penalty")
    assert curve.values.tolist() == [0.01, 1.0]
    assert curve.validation[curve.chosen] == found.tried[found.index].error
    assert found.curve.parameter == "polynomial__degree"
    assert len(found.curve.values) == 3
    with pytest.raises(InvalidParameter, match=r"was not varied\. There are: polynomial__degree, ridge__penalty"):
        found.along("degree")


def noisy(penalties: list[float], rule: str, system: Any = None) -> Selection:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 8))
    y = X[:, 0] + 2 * rng.normal(size=30)
    return select(Ridge() if system is None else system, X, y, penalty=penalties, rule=rule)


@pytest.mark.parametrize("penalties", [[0.1, 3.0, 10.0, 30.0, 100.0, 1e5], [1e5, 100.0, 30.0, 10.0, 3.0, 0.1]])
@pytest.mark.parametrize("system", [Ridge(), make_pipeline(StandardScaler(), Ridge())], ids=["formula", "folds"])
def test_one_standard_error_takes_the_simplest_that_is_near_enough(system: Any, penalties: list[float]) -> None:
    best, simple = noisy(penalties, "best", system), noisy(penalties, "one-standard-error", system)
    limit = best.tried[best.index].error + best.tried[best.index].std_error
    near = [p for p, tried in zip(penalties, best.tried, strict=True) if tried.error <= limit]
    assert next(iter(simple.parameters.values())) == max(near) > next(iter(best.parameters.values()))
    assert simple.winner == best.index
    assert "the simplest within one standard error" in str(simple)


def test_one_standard_error_without_freedom_goes_by_the_order_given_but_large_penalties_first() -> None:
    X, y = labels(80)
    found = select(LogisticRegression(), X, y, penalty=[1e-3, 1e-2, 1e-1], rule="one-standard-error")
    assert found.parameters == {"penalty": 1e-1}
    found = select(LogisticRegression(), X, y, penalty=[1e-3], tol=[1e-6, 1e-7], rule="one-standard-error")
    assert found.parameters["tol"] == 1e-6


def test_ties_go_to_the_first() -> None:
    X, y = rows()
    assert select(LinearRegression(), X, y, tol=[1e-3, 1e-4]).index == 0


def test_the_table_shows_and_tells() -> None:
    X, y = rows(30)
    found = select(Ridge(), X, y, penalty=[-1.0, 1.0])
    text = str(found)
    assert text == str(found.table) == repr(found)
    assert "2 candidates, mean squared error by exact leave-one-out" in text
    assert "penalty=-1 failed: penalty must be 'auto' or a number" in text
    assert "chosen: penalty=1, the smallest error" in text
    assert found._repr_html_().startswith("<table><caption>2 candidates")
    told = found.to_dict()
    assert (told["parameters"], told["method"], told["index"]) == ({"penalty": "1"}, "loo", 1)
    assert told["rows"][1]["penalty"] == 1.0
    assert told["rows"][1]["chosen"]
    assert not told["rows"][0]["chosen"]
    assert len(found.table) == 2
    assert [row["best"] for row in found.table] == [False, True]
    assert found.table[1]["error"] == found.curve.validation[1]
    assert np.isnan(found.curve.validation[0])


def test_what_fits_warn_about_is_a_note(recwarn: pytest.WarningsRecorder) -> None:
    X, y = labels(30)
    found = select(Perceptron(epochs=5), X, y, rate=[1.0, 2.0])
    assert "rate=1; rate=2: Perceptron did not converge" in str(found)
    assert len(recwarn) == 1  # of the fit to all rows


def test_progress_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = rows(20)
    told: list[tuple[int, int, str]] = []
    select(Ridge(), X, y, penalty=[1.0, 2.0], method="folds", folds=2, progress=lambda *step: told.append(step))
    steps = ["penalty=1", "penalty=1", "penalty=2", "penalty=2", "all rows", "done"]
    assert told == [(i, 5, step) for i, step in enumerate(steps)]
    told.clear()  # where the formula fails for all, folds are fits more
    select(Ridge(), WIDE, WIDE[:, 0], penalty=[1.0, 2.0], folds=2, progress=lambda *step: told.append(step))
    assert told == [(i, 3 if i < 2 else 7, step) for i, step in enumerate(["penalty=1", "penalty=2", *steps])]
    select(Ridge(), X, y, penalty=[1.0, 2.0])
    assert capsys.readouterr().err == ""


def test_nothing_given_is_changed() -> None:
    X, y = rows(20)
    system, before = Ridge(), (X.copy(), y.copy())
    select(system, X, y, penalty=[1.0])
    assert system.penalty == "auto"
    assert not hasattr(system, "coef_")
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


def test_a_row_of_full_leverage_has_no_leave_one_out_error() -> None:
    X, y = rows(20, d=2)
    alone = np.column_stack([X, np.eye(20)[:, 4]])
    with pytest.raises(InvalidData, match="row 4 has leverage 1"):
        select(LinearRegression(), alone, y, tol=[1e-3], method="loo")
    found = select([LinearRegression()], alone, y)
    assert found.method == "folds"


WIDE = np.random.default_rng(0).normal(size=(20, 600))


def test_wide_rows_are_folded() -> None:
    found = select(Ridge(), WIDE, WIDE[:, 0], penalty=[1.0, 10.0])
    assert found.method == "folds"
    assert np.isfinite(found.curve.validation).all()


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    (Ridge(), {}, "nothing to choose from: name a parameter of Ridge"),
    ([], {}, "the list of systems is empty"),
    ([Ridge], {}, "select takes a system or a list of systems"),
    (3, {}, "select takes a system or a list of systems"),
    (Ridge(), {"penalty": []}, "penalty has no values to choose from"),
    (Ridge(), {"penalty": 1.0}, "penalty needs a list of values to choose from"),
    (Ridge(), {"criterion": "gcv"}, "criterion needs a list of values"),
    (Ridge(), {"penalti": [1.0]}, "Ridge has no parameter 'penalti'. Did you mean penalty\\? There are: basis, crit"),
    (make_pipeline(Ridge(), Ridge()), {"penalty": [1.0]}, "'penalty' may be ridge-1__penalty or ridge-2__penalty"),
    ([Ridge()], {"penalty": [1.0]}, "several systems are compared as they are"),
    (Ridge(), {"penalty": [1.0], "parameters": {"penalty": [1.0]}}, "a parameter is given twice"),
    (Ridge(), {"penalty": [1.0], "method": "bootstrap"}, "method must be one of auto, loo, gcv, folds"),
    (Ridge(), {"penalty": [1.0], "rule": "two"}, "rule must be one of best, one-standard-error"),
    (Ridge(), {"penalty": [1.0], "method": "folds", "folds": 1}, "folds must be a whole number of 2 or more"),
    (Ridge(), {"penalty": [1.0], "method": "folds", "folds": 31}, "30 rows cannot be cut into 31 folds"),
    (Ridge(), {"penalty": [1.0], "method": "gcv", "rule": "one-standard-error"}, "needs a standard error"),
    (Ridge(), {"penalty": ["auto", 1.0], "method": "loo"}, "penalty='auto' is found again .* Use method='folds'"),
    (LinearRegression(solver="gradient"), {"tol": [1.0], "method": "loo"}, "gradient descent stops"),
    (Ridge(), {"penalty": [1.0], "method": "loo", "scoring": "r2"}, "minus r2 is not a function of the residuals"),
    (Ridge(), {"penalty": [1.0], "scoring": "bic"}, "Ridge has no bic"),
    (Ridge(), {"penalty": [1.0], "scoring": "gini"}, "there is no scoring 'gini' for Ridge. There are: "),
    (Ridge(), {"penalty": [1.0], "scoring": 3}, "scoring must be a name, a function"),
    ([Ridge(), Perceptron()], {}, "judged by different errors"),
    (Ridge(), {"penalty": [-1.0, -2.0]}, "no candidate could be fitted; penalty=-1: penalty must be"),
]


@pytest.mark.every
@pytest.mark.parametrize(("system", "given", "said"), REFUSED, ids=[said[:40] for *_, said in REFUSED])
def test_what_means_nothing_is_refused(system: Any, given: dict[str, Any], said: str) -> None:
    X, y = rows(30)
    with pytest.raises(InvalidParameter if "fitted" not in said else InvalidData, match=said):
        select(system, X, y, **given)


class Half(Lasso):
    """Half of the predictions."""

    def predict(self, X: Any) -> Any:
        return np.asarray(super().predict(X))[::2]


TWO: dict[str, Any] = {"penalty": [1.0], "method": "folds", "folds": 2}
NAMED, GAP = labels(30), np.array([[1.0], [np.nan], [2.0], [3.0]])
BAD: list[tuple[Any, tuple[Any, ...], dict[str, Any], str]] = [
    (Half(), rows(40), {"alpha": [0.1]}, r"y has shape \(36, 1\) and the predictions of Half \(18, 1\)"),
    (
        Ridge(fit_intercept=False),
        ([[1.0]], [1.0]),
        {"penalty": [1.0, 2.0], "method": "loo", "rule": "one-standard-error"},
        "needs a standard error, and penalty=1 has none",
    ),
    (WienerFilter(), rows(40, d=1), {"taps": [1, 2], "scoring": "r2"}, "r2 of signals is not a mean over rows"),
    (GaussianMixture(), NAMED[:1], {"n_components": [1], "scoring": "bic", "method": "folds"}, "leave method out"),
    (
        LogisticRegression(),
        NAMED,
        {"penalty": [1.0], "method": "loo"},
        r"LogisticRegression is not linear in the targets\. Use method='folds'",
    ),
    (
        LeastSquaresClassifier(),
        NAMED,
        {"coding": ["fisher"], "method": "loo"},
        r"coding='fisher' depends on .* Use method='folds'",
    ),
    (Perceptron(), NAMED, {"rate": [1.0], "scoring": "log_loss"}, "needs probabilities, and Perceptron gives none"),
    (Ridge(), (np.eye(4), None), TWO, "requires y"),
    (Ridge(), (np.eye(4), [1.0, 2.0]), TWO, "inconsistent numbers of samples: X has 4, y has 2"),
    (Ridge(), (GAP, np.arange(4.0)), TWO, "NaN"),
    (Ridge(), (3.0, [1.0]), TWO, "Expected 2D array"),
    (Ridge(), (np.empty((0, 2)), np.empty(0)), TWO, "cannot be cut into 2 folds"),
]


@pytest.mark.every
@pytest.mark.parametrize(("system", "data", "given", "said"), BAD, ids=[said[:40] for *_, said in BAD])
def test_rows_that_cannot_be_judged_by_are_refused(system: Any, data: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(AdalineError, match=said):
        select(system, *data, **given)


def test_classes_too_rare_for_folds_are_refused() -> None:
    X, _ = labels(6)
    with pytest.raises(InvalidData, match="y is 'a' in every row"):
        select(GaussianClassifier(), X, ["a"] * 6, covariance=["shared"], folds=2)
    with pytest.raises(InvalidData, match="fewer than two of them twice"):
        select(GaussianClassifier(), X, ["a"] * 5 + ["b"], covariance=["shared"], folds=2)
    found = select(LogisticRegression(), X, ["a", "a", "a", "b", "b", "c"], penalty=[1.0], folds=2)
    assert found.tried[0].error >= 1 / 6  # 'c' cannot be predicted by what has not seen it


def test_a_source_brings_its_own_targets(tmp_path: Any) -> None:
    X, y = rows(12, d=1)
    pd.DataFrame({"x": X[:, 0], "y": y}).to_csv(tmp_path / "rows.csv", index=False)
    source = open_table(str(tmp_path / "rows.csv"), target="y", progress=False)
    with pytest.raises(InvalidParameter, match="give neither y nor sample_weight"):
        select(Ridge(), source, y, penalty=[1.0], method="folds", folds=2)
    with pytest.raises(InvalidParameter, match="use fewer folds"):
        select(Ridge(), source, penalty=[1.0], method="folds", folds=12)
    with pytest.raises(InvalidParameter, match="minus r2 of a source"):
        select(Ridge(), source, penalty=[1.0], scoring="r2", folds=2)


def test_an_offset_is_a_known_part_of_the_outputs() -> None:
    rng = np.random.default_rng(0)
    X, y, offset = rng.normal(size=(60, 3)), rng.normal(size=60), 10.0 * np.arange(60)
    given: dict[str, Any] = {"penalty": [0.1, 10.0, 100.0], "folds": 3}
    plain = select(GeneralizedLinear(), X, y, **given)
    found = select(GeneralizedLinear(), X, y + offset, offset=offset, **given)
    np.testing.assert_allclose([one[:3] for one in found.tried], [one[:3] for one in plain.tried], rtol=1e-9)
    assert found.parameters == plain.parameters
    np.testing.assert_allclose(found.best.coef_, plain.best.coef_, rtol=1e-9)
    with pytest.raises(InvalidParameter, match="Ridge takes no offset"):
        select(Ridge(), X, y, offset=offset, **given)


def test_the_summary_of_a_chosen_model_says_that_its_intervals_are_too_short(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 1))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=80)
    caution = "chosen from 3 candidates"
    for system, target in ((LinearRegression, y), (LogisticRegression, y > 0)):
        model = system(basis=basis.Polynomial(2))
        best = select(model, X, target, degree=[1, 2, 3]).best
        adaline.save(best, tmp_path / "m.adaline")
        assert all(caution in str(one.summary()) for one in (best, adaline.load(tmp_path / "m.adaline")))
        assert all(caution not in str(one.fit(X, target).summary()) for one in (clone(best), best))
        robust = select(model, X, target, degree=[1, 2, 3]).best.summary(errors="HC3", X=X, y=target)
        assert any(note.startswith(caution) for note in robust.to_dict()["notes"])
    assert "chosen" not in str(select(LinearRegression(), X, y, fit_intercept=[True]).best.summary())
