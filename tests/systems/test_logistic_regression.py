"""LogisticRegression against statsmodels, scikit-learn, and itself in other units and places."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.multiclass import OneVsRestClassifier

import adaline
from adaline import AdalineWarning, LogisticRegression
from adaline.basis import Polynomial
from adaline.errors import AdalineError, InvalidData, InvalidParameter
from adaline.results import Status
from adaline.solvers.smooth import choose
from tests.peers import l1_logistic

sm = pytest.importorskip("statsmodels.api")


def made(n: int = 300, d: int = 4, classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    """Return rows of unlike columns, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    unit = 10.0 ** rng.uniform(-2, 2, d)
    x = rng.normal(size=(n, d)) * unit + 3 * unit
    w = rng.normal(size=(d, classes)) / unit[:, None]
    return x, (x @ w - (x @ w).mean(axis=0) + rng.gumbel(size=(n, classes))).argmax(axis=1)


def theta(model: LogisticRegression) -> Any:
    return np.column_stack([model.intercept_, model.coef_])


def test_two_classes_equal_statsmodels() -> None:
    """Weights and their errors, tests and nested models; successes of trials are two rows a group with weights."""
    x, y = made()
    model, small = LogisticRegression().fit(x, y), LogisticRegression().fit(x[:, :2], y)
    theirs = sm.Logit(y, sm.add_constant(x)).fit(disp=0, method="newton", tol=1e-14)
    np.testing.assert_allclose(theta(model)[0], theirs.params, rtol=1e-9)
    assert model.certificate_.status is Status.SOLVED
    assert -model.certificate_.objective == pytest.approx(theirs.llf, rel=1e-12)
    assert model.certificate_.digits > 9
    told = model.summary().to_dict()
    for name, values in (("std_error", theirs.bse), ("statistic", theirs.tvalues), ("p_value", theirs.pvalues)):
        np.testing.assert_allclose([row[name] for row in told["coefficients"]], values, rtol=1e-8)
    assert told["log_likelihood"] == pytest.approx(theirs.llf, rel=1e-12)
    assert told["null_log_likelihood"] == pytest.approx(theirs.llnull, rel=1e-10)
    restricted = sm.Logit(y, sm.add_constant(x[:, :2])).fit(disp=0)
    assert adaline.anova(small, model).chi2[-1] == pytest.approx(2 * (theirs.llf - restricted.llf), rel=1e-7)
    wald = float(theirs.wald_test("x3 = 0, x4 = 0", scalar=True).pvalue)
    assert model.test("x2 = 0, x3 = 0").p_value == pytest.approx(wald, rel=1e-7)
    with pytest.raises(InvalidParameter, match="one likelihood"):
        LogisticRegression(scheme="one-vs-rest").fit(x, np.arange(len(y)) % 3).summary()
    dose, trials, hits = np.arange(4.0), np.array([20, 25, 22, 30]), np.array([2, 8, 12, 26])
    counts = np.column_stack([hits, trials - hits])
    grouped = LogisticRegression().fit(np.tile(dose, 2)[:, None], np.repeat([1, 0], 4), counts.T.ravel())
    theirs = sm.GLM(counts, sm.add_constant(dose), family=sm.families.Binomial()).fit(tol=1e-14)
    np.testing.assert_allclose(theta(grouped)[0], theirs.params, rtol=1e-10)


def test_many_classes_equal_statsmodels() -> None:
    x, y = made(400, 3, 4)
    model = LogisticRegression().fit(x, y)
    theirs = sm.MNLogit(y, sm.add_constant(x)).fit(disp=0, method="newton", maxiter=100)
    np.testing.assert_allclose((theta(model)[1:] - theta(model)[:1]).T, theirs.params, rtol=1e-7)
    np.testing.assert_allclose(theta(model).sum(axis=0), 0.0, atol=1e-10 * np.abs(theta(model)).max())
    np.testing.assert_allclose(model.predict_proba(x), theirs.predict(), atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_penalty_is_one_over_c(classes: int, intercept: bool) -> None:
    x, y = made(classes=classes)
    x = x / x.std(axis=0)
    model = LogisticRegression(penalty=2.5, fit_intercept=intercept).fit(x, y)
    theirs = Theirs(C=1 / 2.5, tol=1e-12, max_iter=10000, fit_intercept=intercept, solver="newton-cg").fit(x, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(model.predict_proba(x), theirs.predict_proba(x), atol=1e-6)


def test_one_against_the_rest_and_pairs() -> None:
    x, y = made(classes=4)
    each, pairs = (LogisticRegression(scheme=scheme).fit(x, y) for scheme in ("one-vs-rest", "one-vs-one"))
    alone = [LogisticRegression().fit(x, y == k) for k in range(4)]
    np.testing.assert_allclose(theta(each), np.concatenate([theta(one) for one in alone]), rtol=1e-9)
    cost = sum(one.certificate_.objective for one in alone)
    assert each.certificate_.objective == pytest.approx(cost, rel=1e-12)
    theirs = OneVsRestClassifier(Theirs(C=np.inf, tol=1e-12, max_iter=10000)).fit(x / x.std(axis=0), y)
    assert (each.predict(x) == theirs.predict(x / x.std(axis=0))).mean() > 0.99
    two = (y == 0) | (y == 2)
    np.testing.assert_allclose(theta(pairs)[1], theta(LogisticRegression().fit(x[two], y[two]))[0], rtol=1e-9)
    votes = np.floor(pairs.decision_function(x) + 1e-9)
    assert (votes.sum(axis=1) == 6).all()
    np.testing.assert_allclose(pairs.predict_proba(x).sum(axis=1), 1.0)
    level = LogisticRegression(scheme="one-vs-one", fit_intercept=False, penalty=1.0).fit(x, y)
    assert np.floor(level.decision_function(np.zeros((1, 4)))).tolist() == [[3, 2, 1, 0]], "a tie is the first class's"


@pytest.mark.parametrize("classes", [2, 3])
def test_units_change_units_only(classes: int) -> None:
    x, y = made(classes=classes)
    model = LogisticRegression().fit(x, y)
    powers = np.array([1.0, 2.0**-40, 2.0**30, 2.0**7])
    np.testing.assert_array_equal(LogisticRegression().fit(x * powers, y).coef_ * powers, model.coef_)
    tens = np.array([1e6, 1e-6, 1e3, 1e-3])
    moved = LogisticRegression().fit(x * tens + 1e5 * tens * x.std(axis=0), y)
    np.testing.assert_allclose(moved.coef_ * tens, model.coef_, rtol=1e-7)
    lasso = LogisticRegression(l1=8.0, standardize=True)
    sparse_coef = lasso.fit(x, y).coef_.copy()
    for factor in (1e300, 1e-300):
        np.testing.assert_allclose(LogisticRegression().fit(x * factor, y).coef_ * factor, model.coef_, rtol=1e-6)
    for factor in (1e-160, 1e150, powers):
        np.testing.assert_allclose(lasso.fit(x * factor, y).coef_ * factor, sparse_coef, rtol=1e-6, atol=1e-12)
    balanced = LogisticRegression(class_weight="balanced").fit(x, y)
    by_hand = LogisticRegression().fit(x, y, sample_weight=(len(y) / (classes * np.bincount(y)))[y])
    np.testing.assert_allclose(theta(balanced), theta(by_hand), rtol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("solver", ["newton", "lbfgs", "newton-cg"])
def test_solvers_agree(classes: int, solver: str) -> None:
    x, y = made(classes=classes)
    model = LogisticRegression(penalty=1.0, standardize=True, tol=1e-14).fit(x, y)
    other = LogisticRegression(penalty=1.0, standardize=True, tol=1e-14, solver=solver).fit(x, y)
    np.testing.assert_allclose(theta(other), theta(model), rtol=1e-5)
    assert other.certificate_.objective == pytest.approx(model.certificate_.objective, rel=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_many_rows_take_a_sample_first(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = made(30000, 4, classes)
    whole = LogisticRegression(solver="newton").fit(x, y)
    monkeypatch.setattr(choose, "CHEAP_MATRIX_WORK", 0.0)
    staged = LogisticRegression().fit(x, y)
    assert "sample" in staged.certificate_.solver
    assert staged.certificate_.gap <= 1e-10 * len(y)
    np.testing.assert_allclose(staged.coef_, whole.coef_, rtol=1e-6)
    assert staged.certificate_.passes < 14


SEPARATED = {
    "complete": ([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]),
    "quasi": ([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]),
    "quasi column": ([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 0.0]], [1, 0, 0, 1, 0, 1]),
    "three": ([[0.0], [1.0], [3.0], [4.0], [8.0], [9.0]], [0, 0, 1, 1, 2, 2]),
}


@pytest.mark.parametrize("name", SEPARATED)
@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs", "newton-cg"])
def test_separation_is_told(solver: str, name: str) -> None:
    x, y = (np.array(part) for part in SEPARATED[name])
    with pytest.warns(AdalineWarning, match="separated by a plane"):
        model = LogisticRegression(solver=solver).fit(x, y)
    assert model.separation_ is not None
    assert model.separation_.kind == ("quasi" if name.startswith("quasi") else "complete")
    status = Status.QUASI_SEPARATED if name.startswith("quasi") else Status.SEPARATED
    assert model.certificate_.status is status
    assert np.isfinite(theta(model)).all()
    with pytest.warns(AdalineWarning):
        other = LogisticRegression(solver=solver).fit(x * 1000.0, y)
    np.testing.assert_allclose(other.coef_ * 1000.0, model.coef_, rtol=1e-6 if solver == "auto" else 1e-4)
    if len(np.unique(y)) == 2:
        side = (2 * y - 1) * (np.column_stack([np.ones(len(x)), x]) @ model.separation_.direction.T)[:, 0]
        assert (side > -1e-12).all()
        assert (side > 1e-9).any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LogisticRegression(penalty=1.0, solver=solver).fit(x, y).separation_ is None


@pytest.mark.parametrize("seed", range(20))
def test_separation_on_generated_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kind, x = ("complete", "quasi", "none")[seed % 3], rng.normal(size=(60, int(rng.integers(1, 8))))
    y = (x @ rng.normal(size=x.shape[1]) > 0).astype(int)
    if kind == "quasi":  # rows on the plane, of both classes
        x, y = np.concatenate([x, np.zeros((4, x.shape[1]))]), np.concatenate([y, [0, 1, 0, 1]])
    elif kind == "none":
        y = rng.integers(0, 2, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression().fit(x, y)
    assert ("none" if model.separation_ is None else model.separation_.kind) == kind


def test_dependent_columns_take_the_shortest_weights() -> None:
    x, y = made()
    more = np.column_stack([x, x[:, 0], np.ones(len(x))])
    plain, model = (LogisticRegression().fit(rows, y) for rows in (x, more))
    assert model.certificate_.status is Status.RANK_DEFICIENT
    assert model.certificate_.rank == 4
    np.testing.assert_allclose(model.coef_[0, [0, 4]], plain.coef_[0, 0] / 2, rtol=1e-7)
    np.testing.assert_allclose(model.coef_[0, 5], 0.0, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(more), plain.predict_proba(x), atol=1e-9)


AUTO = {"penalty": "auto"}


def test_the_penalty_is_found() -> None:
    rng = np.random.default_rng(0)
    x, fresh = rng.normal(size=(120, 30)), rng.normal(size=(4000, 30))
    y, truth = ((rows[:, 0] + rng.normal(size=len(rows)) > 0).astype(int) for rows in (x, fresh))
    model, raw, none = (LogisticRegression(**s).fit(x, y) for s in (AUTO, AUTO | {"standardize": False}, {}))
    loss = [-one.predict_log_proba(fresh)[np.arange(4000), truth].mean() for one in (model, none)]
    assert loss[0] < loss[1]
    for one, standardize in ((model, True), (raw, False)):
        assert one.penalty_ == one.path_["penalties"][one.path_["values"].argmin()]
        given = LogisticRegression(penalty=float(one.penalty_), standardize=standardize).fit(x, y)
        np.testing.assert_allclose(one.coef_, given.coef_, rtol=1e-7)
    units = 10.0 ** rng.integers(-3, 4, 30)
    other = LogisticRegression(penalty="auto").fit(x * units, y)
    assert other.penalty_ == model.penalty_
    np.testing.assert_allclose(other.coef_ * units, model.coef_, rtol=1e-6)


def test_penalties_of_several_machines_and_of_rows_are_not_searched_over_folds_together() -> None:
    x, y = made(classes=3)
    fold, two, gone = np.arange(300) % 5, (y == 0).astype(int), np.where(np.arange(300) % 5 == 0, 2, y % 2)
    for settings, labels, found in (
        ({}, two, True),
        ({"class_weight": {0: 2.0}}, two, True),
        ({"class_weight": "balanced"}, two, False),
        ({}, y, True),
        ({"scheme": "one-vs-rest"}, y, False),
        ({}, gone, False),
    ):
        paths = LogisticRegression(**AUTO, **settings)._paths(x, labels, None, fold)
        assert (paths is not None) is found


def test_warm_starts_and_init() -> None:
    x, y = made()
    model = LogisticRegression(warm_start=True).fit(x, y)
    steps, first = model.n_iter_, theta(model)
    assert model.fit(x, y).n_iter_ < steps
    np.testing.assert_allclose(theta(model), first, rtol=1e-9)
    for other in (Polynomial(degree=2), None):
        model.set_params(basis=other).fit(x, y)
        np.testing.assert_allclose(theta(model), theta(LogisticRegression(basis=other).fit(x, y)), rtol=1e-9)
    assert model.fit(x[:, :1], y).coef_.shape == (1, 1)
    assert LogisticRegression(init=first).fit(x, y).n_iter_ < steps


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"folds": 1}, "folds"),
        ({"init": [1.0]}, "init must be"),
        ({"init": np.full((1, 5), np.nan)}, "finite"),
        ({"scheme": "one-vs-rest", "init": [[1.0]]}, "init must be"),
        ({"firth": True, "penalty": 1.0}, "penalty=0"),
        ({"firth": True, "classes": 3}, "two classes"),
        ({"classes": 1}, "one class"),
        ({"class_weight": {0: 0, 1: 1}}, "one class"),
        ({"scheme": "one-vs-one", "classes": 3, "class_weight": {1: 0.0}}, "one-vs-one"),
    ],
    ids=str,
)
def test_what_means_nothing_is_refused(settings: dict[str, Any], words: str) -> None:
    x, y = made(classes=settings.get("classes", 2))
    with pytest.raises(ValueError, match=words) as refusal:
        LogisticRegression(**{name: value for name, value in settings.items() if name != "classes"}).fit(x, y)
    assert isinstance(refusal.value, AdalineError)
    x[:5] = np.nan  # also in rows of weight zero
    with pytest.raises(InvalidData, match="NaN"):
        LogisticRegression().fit(x, np.arange(len(x)) % 2, sample_weight=np.r_[np.zeros(5), np.ones(len(x) - 5)])


def test_firth_is_finite_on_separated_rows() -> None:
    """A 2 x 2 table with an empty cell: half a case is added to each cell."""
    x, y = np.repeat([[0.0], [1.0]], [10, 6], axis=0), np.array([0] * 7 + [1] * 3 + [1] * 6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(firth=True).fit(x, y)
    assert model.intercept_[0] == pytest.approx(np.log(3.5 / 7.5), abs=1e-8)
    assert model.coef_[0, 0] == pytest.approx(np.log(6.5 / 0.5) - np.log(3.5 / 7.5), abs=1e-8)
    assert model.certificate_.status is Status.SOLVED
    assert model.separation_ is None


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_l1_sets_coefficients_to_zero(classes: int, penalty: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 12))
    y = (x[:, :classes] + rng.gumbel(size=(200, classes))).argmax(axis=1)
    model = LogisticRegression(l1=8.0, penalty=penalty).fit(x, y)
    theirs = l1_logistic(8.0, penalty, tol=1e-9, max_iter=100000).fit(x, y)
    assert 0 < (model.coef_ == 0).sum() < model.coef_.size
    np.testing.assert_array_equal(model.coef_ == 0, theirs.coef_ == 0)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-5)
    assert model.certificate_.status is Status.SOLVED
    assert model.certificate_.gap <= 1e-10 * len(y) * np.log(classes)
    assert not LogisticRegression(l1=1e4).fit(x, y).coef_.any()


@pytest.mark.night
def test_more_columns_than_rows_are_separated() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 3100))
    with pytest.warns(AdalineWarning, match="completely separated"):
        LogisticRegression().fit(x, rng.integers(0, 2, 40))


def test_quasi_separation_among_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = made(20000, 3)
    x[:, 2] = (np.arange(20000) % 7 == 0) & (y == 1)
    monkeypatch.setattr(choose, "CHEAP_MATRIX_WORK", 0.0)
    with pytest.warns(AdalineWarning, match="quasi-completely separated"):
        LogisticRegression().fit(x, y)


def test_a_constant_column_in_the_metric_of_each_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = made(9000, 4, 3)
    x = np.column_stack([x, np.zeros(9000)])
    expected = LogisticRegression(penalty=1.0, standardize=True).fit(x, y)
    monkeypatch.setattr(choose, "MOST_MATRIX_SIDE", 0)
    model = LogisticRegression(penalty=1.0, standardize=True, tol=1e-13).fit(x, y)
    assert "each machine" in model.certificate_.solver
    np.testing.assert_allclose(model.predict_proba(x), expected.predict_proba(x), atol=1e-5)


def test_rounding_is_an_end() -> None:
    x, y = made()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(tol=0.0).fit(x, y)
    assert model.certificate_.status is Status.SOLVED
    assert model.certificate_.gradient < 1e-10 * len(y)


def test_a_far_start_is_not_an_end() -> None:
    x = np.repeat([[-1.0], [1.0]], 50, axis=0)
    y = np.r_[np.arange(50) < 10, np.arange(50) < 40].astype(int)
    model = LogisticRegression(init=[[0.0, -3000.0]]).fit(x, y)
    np.testing.assert_allclose(theta(model), theta(LogisticRegression().fit(x, y)), rtol=1e-8, atol=1e-9)
    assert model.certificate_.status is Status.SOLVED


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "newton-cg"])
@pytest.mark.parametrize("standardize", [False, True])
def test_the_gap_holds_for_rare_classes(solver: str, standardize: bool) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(5000, 4)) + 2.0
    y = (rng.random(5000) < 0.004 * np.exp(0.5 * x[:, 0])).astype(int)
    make = partial(LogisticRegression, penalty=1.0, standardize=standardize)
    best = make(tol=0.0).fit(x, y).certificate_.objective
    for tol in (1e-1, 1e-2, 1e-3, 1e-5):
        found = make(tol=tol, solver=solver).fit(x, y).certificate_
        assert found.objective - best <= found.gap + 1e-11 * best


def test_separation_of_many_classes_is_suspected() -> None:
    x = np.random.default_rng(0).normal(size=(120, 8))
    with pytest.warns(AdalineWarning, match="separated by a plane"):
        model = LogisticRegression().fit(x, np.arange(120) % 40)
    assert model.separation_ is not None
    assert np.isfinite(model.coef_).all()


def test_a_proof_of_separation_is_given_up_beyond_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    x = sparse.random(60, 400, 0.05, format="csr", random_state=0)
    y = np.append(np.arange(60) % 2, [1, 0])
    x = sparse.vstack([x, x[:2]]).tocsr()
    with pytest.warns(AdalineWarning, match="are quasi-completely separated"):
        assert LogisticRegression().fit(x, y).separation_.kind == "quasi"
    monkeypatch.setattr("adaline.fits.separation.PROOF_WORK", 1e4)
    with pytest.warns(AdalineWarning, match=r"seem to be separated by a plane \(to prove it would take too long\)"):
        model = LogisticRegression().fit(x, y)
    assert model.separation_.kind == "suspected"
    assert model.certificate_.status is Status.QUASI_SEPARATED


@pytest.mark.parametrize("solver", ["auto", "lbfgs", "newton-cg"])
def test_coupled_machines_from_an_unbalanced_start(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = made(9000, 4, 5)
    expected = LogisticRegression(penalty=3.0).fit(x, y)
    monkeypatch.setattr(choose, "MOST_MATRIX_SIDE", 0)
    start = theta(expected) + np.r_[0.0, np.linspace(0.5, 1.0, 4)]
    model = LogisticRegression(penalty=3.0, tol=1e-13, solver=solver, init=start).fit(x, y)
    np.testing.assert_allclose(theta(model), theta(expected), rtol=1e-5, atol=1e-6)
    assert model.certificate_.passes < 60


@pytest.mark.parametrize("settings", [{}, {"penalty": 0.5}, {"l1": 1}, {"scheme": "one-vs-rest"}, {"penalty": "auto"}])
@pytest.mark.parametrize("classes", [3, 4])
def test_a_class_without_weight_is_never_predicted(classes: int, settings: dict[str, Any]) -> None:
    y = np.arange(40 * classes) % classes
    X = np.random.default_rng(0).standard_normal((len(y), 2)) + 0.5 * y[:, None]
    heavy, warm = y != 1, LogisticRegression(**settings, warm_start=True)
    fits = (
        lambda: LogisticRegression(**settings).fit(X, y, sample_weight=heavy),
        lambda: LogisticRegression(**settings, class_weight={1: 0.0}).fit(X, y),
        lambda: warm.fit(X, y, sample_weight=heavy),
        lambda: warm.fit(X, y, sample_weight=heavy),
    )
    models = []
    for fit in fits:
        with pytest.warns(AdalineWarning, match="no row of class 1 has a weight"):
            models.append(fit())
    model, p = models[0], models[0].predict_proba(X)
    np.testing.assert_allclose(models[1].coef_, model.coef_, rtol=1e-9)
    np.testing.assert_allclose(warm.predict_proba(X), p, atol=1e-6)
    assert model.certificate_.status is Status.SOLVED
    assert model.classes_.tolist() == list(range(classes))
    assert (p[:, 1] == 0).all()
    if settings == {} or (classes == 4 and settings.get("penalty") != "auto"):  # whose folds depend on places of rows
        others = LogisticRegression(**settings).fit(X[heavy], y[heavy])
        np.testing.assert_allclose(np.delete(p, 1, axis=1), others.predict_proba(X), rtol=1e-6)
    if settings == {}:
        assert model.summary().to_dict()["coefficients"]


@pytest.mark.every
@pytest.mark.parametrize(
    ("x", "y", "status"),
    [
        ([1e-5, 1, 2, 3], [0, 1, 1, 1], Status.SOLVED),  # a plane separates them, but none through the origin
        ([-1, -2, 3, 4], [0, 0, 1, 1], Status.SEPARATED),
        ([-1, 0, 0, 4], [0, 0, 1, 1], Status.QUASI_SEPARATED),
        ([1, -1, 1, 2, 4, -5, 3], [0, 0, 1, 1, 2, 2, 0], Status.SOLVED),
        ([-2, -1, 0, 0, 4, 5], [0, 0, 0, 1, 2, 2], Status.QUASI_SEPARATED),
    ],
)
@pytest.mark.filterwarnings("ignore::adaline.errors.AdalineWarning")
def test_without_an_intercept_planes_go_through_the_origin(x: list[float], y: list[int], status: Status) -> None:
    rows = np.array(x, dtype=float)[:, None]
    model = LogisticRegression(fit_intercept=False).fit(rows, y)
    assert model.certificate_.status is status
    if model.separation_ is not None:
        assert (model.separation_.direction[:, 0] == 0).all()
        return
    p, own = model.predict_proba(rows), np.array(y)[:, None] == model.classes_
    np.testing.assert_allclose((p - own).T @ rows, 0.0, atol=1e-9)
