"""LogisticRegression against statsmodels, scikit-learn, and itself in other units and places."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.multiclass import OneVsRestClassifier

import adaline
from adaline import AdalineWarning, LogisticRegression
from adaline.basis import Polynomial
from adaline.errors import InvalidData, InvalidParameter
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
    x, y = made()
    model = LogisticRegression().fit(x, y)
    theirs = sm.Logit(y, sm.add_constant(x)).fit(disp=0, method="newton", tol=1e-14)
    np.testing.assert_allclose(theta(model)[0], theirs.params, rtol=1e-9)
    assert model.certificate_.status is Status.SOLVED
    assert -model.certificate_.objective == pytest.approx(theirs.llf, rel=1e-12)
    assert model.certificate_.digits > 9


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
    each = LogisticRegression(scheme="one-vs-rest").fit(x, y)
    for k in range(4):
        alone = LogisticRegression().fit(x, y == k)
        np.testing.assert_allclose(theta(each)[k], theta(alone)[0], rtol=1e-9)
    theirs = OneVsRestClassifier(Theirs(C=np.inf, tol=1e-12, max_iter=10000)).fit(x / x.std(axis=0), y)
    assert (each.predict(x) == theirs.predict(x / x.std(axis=0))).mean() > 0.99
    pairs = LogisticRegression(scheme="one-vs-one").fit(x, y)
    two = (y == 0) | (y == 2)
    alone = LogisticRegression().fit(x[two], y[two])
    np.testing.assert_allclose(theta(pairs)[1], theta(alone)[0], rtol=1e-9)
    votes = np.floor(pairs.decision_function(x) + 1e-9)
    assert (votes.sum(axis=1) == 6).all()
    np.testing.assert_allclose(pairs.predict_proba(x).sum(axis=1), 1.0)


@pytest.mark.parametrize("classes", [2, 3])
def test_units_change_units_only(classes: int) -> None:
    x, y = made(classes=classes)
    model = LogisticRegression().fit(x, y)
    powers = np.array([1.0, 2.0**-40, 2.0**30, 2.0**7])
    np.testing.assert_array_equal(LogisticRegression().fit(x * powers, y).coef_ * powers, model.coef_)
    tens = np.array([1e6, 1e-6, 1e3, 1e-3])
    moved = LogisticRegression().fit(x * tens + 1e5 * tens * x.std(axis=0), y)
    np.testing.assert_allclose(moved.coef_ * tens, model.coef_, rtol=1e-7)


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_are_repetitions(classes: int) -> None:
    x, y = made(classes=classes)
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    one = LogisticRegression().fit(x, y, sample_weight=weight)
    other = LogisticRegression().fit(x[again], y[again])
    np.testing.assert_allclose(theta(one), theta(other), rtol=1e-9)
    assert one._fits[0].weight == other._fits[0].weight
    balanced = LogisticRegression(class_weight="balanced").fit(x, y)
    by_hand = len(y) / (classes * np.bincount(y))
    np.testing.assert_allclose(
        theta(balanced), theta(LogisticRegression().fit(x, y, sample_weight=by_hand[y])), rtol=1e-9
    )


def test_grouped_counts_are_weights() -> None:
    """Successes of trials: two rows a group, weighed by how often each was seen."""
    dose = np.array([0.0, 1.0, 2.0, 3.0])
    trials, hits = np.array([20, 25, 22, 30]), np.array([2, 8, 12, 26])
    model = LogisticRegression().fit(
        np.tile(dose, 2)[:, None], np.repeat([1, 0], 4), sample_weight=np.concatenate([hits, trials - hits])
    )
    theirs = sm.GLM(np.column_stack([hits, trials - hits]), sm.add_constant(dose), family=sm.families.Binomial()).fit(
        tol=1e-14
    )
    np.testing.assert_allclose(theta(model)[0], theirs.params, rtol=1e-10)


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
    monkeypatch.setattr(choose, "SMALL", 0.0)
    staged = LogisticRegression().fit(x, y)
    assert "sample" in staged.certificate_.solver
    assert staged.certificate_.gap <= 1e-10 * len(y)
    np.testing.assert_allclose(staged.coef_, whole.coef_, rtol=1e-6)
    assert staged.certificate_.passes < 14


@pytest.mark.parametrize("layout", ["float32", "csr", "fortran", "frame"])
@pytest.mark.parametrize("classes", [2, 3])
def test_every_container_gives_the_same(layout: str, classes: int) -> None:
    x, y = made(classes=classes)
    x = x.astype(np.float32).astype(float)
    same: Any = {
        "float32": lambda: x.astype(np.float32),
        "csr": lambda: sparse.csr_array(x),
        "fortran": lambda: np.asfortranarray(x),
        "frame": lambda: __import__("pandas").DataFrame(x, columns=list("abcd")),
    }[layout]()
    np.testing.assert_allclose(
        theta(LogisticRegression().fit(same, y)), theta(LogisticRegression().fit(x, y)), rtol=1e-8
    )


def test_the_gap_holds() -> None:
    x, y = made(500, 5)
    best = LogisticRegression(penalty=1.0, standardize=True, tol=0.0).fit(x, y).certificate_.objective
    for solver in ("newton", "lbfgs"):
        for tol in (1e-2, 1e-4, 1e-6):
            found = LogisticRegression(penalty=1.0, standardize=True, tol=tol, solver=solver).fit(x, y).certificate_
            assert found.objective - best <= found.gap + 1e-9


SEPARATED = {
    "complete": ([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]),
    "quasi": ([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]),
    "quasi column": ([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 0.0]], [1, 0, 0, 1, 0, 1]),
    "three": ([[0.0], [1.0], [3.0], [4.0], [8.0], [9.0]], [0, 0, 1, 1, 2, 2]),
}


@pytest.mark.parametrize("name", SEPARATED)
def test_separation_is_told(name: str) -> None:
    x, y = SEPARATED[name]
    with pytest.warns(AdalineWarning, match="separated by a plane"):
        model = LogisticRegression().fit(x, y)
    assert model.separation_ is not None
    assert model.separation_.kind == ("quasi" if name.startswith("quasi") else "complete")
    status = Status.QUASI_SEPARATED if name.startswith("quasi") else Status.SEPARATED
    assert model.certificate_.status is status
    assert np.isfinite(theta(model)).all()
    again = np.array(x) * 1000.0
    with pytest.warns(AdalineWarning):
        other = LogisticRegression().fit(again, y)
    np.testing.assert_allclose(other.coef_ * 1000.0, model.coef_, rtol=1e-6)
    direction = model.separation_.direction
    z = np.column_stack([np.ones(len(x)), np.array(x)]) @ direction.T
    if len(np.unique(y)) == 2:
        side = np.where(np.array(y) == 1, 1.0, -1.0) * z[:, 0]
        assert (side > -1e-12).all()
        assert (side > 1e-9).any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LogisticRegression(penalty=1.0).fit(x, y).separation_ is None


@pytest.mark.parametrize("seed", range(20))
def test_separation_on_generated_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 8))
    x = rng.normal(size=(60, d))
    y = (x @ rng.normal(size=d) > 0).astype(int)
    kind = ("complete", "quasi", "none")[seed % 3]
    if kind == "quasi":  # rows on the plane, of both classes
        x, y = np.concatenate([x, np.zeros((4, d))]), np.concatenate([y, [0, 1, 0, 1]])
    elif kind == "none":
        y = rng.integers(0, 2, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression().fit(x, y)
    found = "none" if model.separation_ is None else model.separation_.kind
    assert found == kind


def test_dependent_columns_take_the_shortest_weights() -> None:
    x, y = made()
    model = LogisticRegression().fit(np.column_stack([x, x[:, 0], np.ones(len(x))]), y)
    plain = LogisticRegression().fit(x, y)
    assert model.certificate_.status is Status.RANK_DEFICIENT
    assert model.certificate_.rank == 4
    np.testing.assert_allclose(model.coef_[0, [0, 4]], plain.coef_[0, 0] / 2, rtol=1e-7)
    np.testing.assert_allclose(model.coef_[0, 5], 0.0, atol=1e-9)
    np.testing.assert_allclose(
        model.predict_proba(np.column_stack([x, x[:, 0], np.ones(len(x))])), plain.predict_proba(x), atol=1e-9
    )


def test_the_penalty_is_found() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 30))
    y = (x[:, 0] + rng.normal(size=120) > 0).astype(int)
    fresh = rng.normal(size=(4000, 30))
    truth = (fresh[:, 0] + rng.normal(size=4000) > 0).astype(int)

    def loss(model: LogisticRegression) -> float:
        return -float(model.predict_log_proba(fresh)[np.arange(4000), truth].mean())

    model = LogisticRegression(penalty="auto").fit(x, y)
    assert loss(model) < loss(LogisticRegression().fit(x, y))
    assert model.penalty_ == model.path_["penalties"][model.path_["values"].argmin()]
    units = 10.0 ** rng.integers(-3, 4, 30)
    other = LogisticRegression(penalty="auto").fit(x * units, y)
    assert other.penalty_ == model.penalty_
    np.testing.assert_allclose(other.coef_ * units, model.coef_, rtol=1e-6)


def test_warm_starts_and_init() -> None:
    x, y = made()
    model = LogisticRegression(warm_start=True).fit(x, y)
    steps = model.n_iter_
    first = theta(model)
    assert model.fit(x, y).n_iter_ < steps
    np.testing.assert_allclose(theta(model), first, rtol=1e-9)
    for other in (Polynomial(degree=2), None):
        model.set_params(basis=other).fit(x, y)
        np.testing.assert_allclose(theta(model), theta(LogisticRegression(basis=other).fit(x, y)), rtol=1e-9)
    assert model.fit(x[:, :1], y).coef_.shape == (1, 1)
    assert LogisticRegression(init=first).fit(x, y).n_iter_ < steps
    with pytest.raises(InvalidParameter, match="init must be"):
        LogisticRegression(init=[1.0]).fit(x, y)


@pytest.mark.parametrize(
    "bad",
    [{"penalty": -1}, {"penalty": "some"}, {"scheme": "x"}, {"solver": "sag"}, {"tol": -1}, {"folds": 1}, {"l1": -1}],
)
def test_what_means_nothing_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(bad))):
        LogisticRegression(**bad).fit([[0.0], [1.0]], [0, 1])


def test_bad_rows_are_named() -> None:
    x, y = made()
    x[7, 2] = np.nan
    with pytest.raises(InvalidData, match="row 7"):
        LogisticRegression().fit(x, y)
    with pytest.raises(InvalidData, match="one class"):
        LogisticRegression().fit([[0.0], [1.0]], [1, 1])
    huge, labels = made()
    for factor in (1e300, 1e-300):
        model = LogisticRegression().fit(huge * factor, labels)
        np.testing.assert_allclose(model.coef_ * factor, LogisticRegression().fit(huge, labels).coef_, rtol=1e-6)


def test_the_summary_is_statsmodels() -> None:
    x, y = made()
    theirs = sm.Logit(y, sm.add_constant(x)).fit(disp=0, method="newton", tol=1e-14)
    model = LogisticRegression().fit(x, y)
    told = model.summary().to_dict()
    for name, values in (("std_error", theirs.bse), ("statistic", theirs.tvalues), ("p_value", theirs.pvalues)):
        np.testing.assert_allclose([row[name] for row in told["coefficients"]], values, rtol=1e-8)
    small = LogisticRegression().fit(x[:, :2], y)
    found = adaline.anova(small, model)
    restricted = sm.Logit(y, sm.add_constant(x[:, :2])).fit(disp=0)
    assert found.chi2[-1] == pytest.approx(2 * (theirs.llf - restricted.llf), rel=1e-7)
    assert model.test("x2 = 0, x3 = 0").p_value == pytest.approx(
        float(theirs.wald_test("x3 = 0, x4 = 0", scalar=True).pvalue), rel=1e-7
    )
    with pytest.raises(InvalidParameter, match="one likelihood"):
        LogisticRegression(scheme="one-vs-rest").fit(x, np.arange(len(y)) % 3).summary()


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
    with pytest.raises(InvalidParameter, match="penalty=0"):
        LogisticRegression(firth=True, penalty=1.0).fit(x, y)
    with pytest.raises(InvalidParameter, match="two classes"):
        LogisticRegression(firth=True).fit(x, np.arange(16) % 3)


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
    none = LogisticRegression(l1=1e4).fit(x, y)
    assert not none.coef_.any()
    units = 2.0 ** rng.integers(-20, 20, 12)
    standard = [LogisticRegression(l1=8.0, standardize=True).fit(x * u, y).coef_ * u for u in (1.0, units)]
    np.testing.assert_allclose(standard[0], standard[1], rtol=1e-12)


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "newton-cg"])
@pytest.mark.parametrize("name", SEPARATED)
def test_every_solver_tells_separation(solver: str, name: str) -> None:
    x, y = SEPARATED[name]
    with pytest.warns(AdalineWarning, match="separated by a plane"):
        model = LogisticRegression(solver=solver).fit(x, y)
    auto = LogisticRegression()
    with pytest.warns(AdalineWarning, match="separated by a plane"):
        auto.fit(x, y)
    assert model.separation_ is not None
    assert auto.separation_ is not None
    assert model.separation_.kind == auto.separation_.kind


def test_more_columns_than_rows_are_separated() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 3100))
    with pytest.warns(AdalineWarning, match="completely separated"):
        LogisticRegression().fit(x, rng.integers(0, 2, 40))


def test_quasi_separation_among_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = made(20000, 3)
    x[:, 2] = (np.arange(20000) % 7 == 0) & (y == 1)
    monkeypatch.setattr(choose, "SMALL", 0.0)
    with pytest.warns(AdalineWarning, match="quasi-completely separated"):
        LogisticRegression().fit(x, y)


def test_an_automatic_penalty_in_raw_units() -> None:
    x, y = made()
    model = LogisticRegression(penalty="auto", standardize=False).fit(x, y)
    values = model.path_["values"]
    assert model.penalty_ == model.path_["penalties"][values.argmin()]
    assert values.min() <= values[0]
    other = LogisticRegression(penalty=float(model.penalty_)).fit(x, y)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-7)


def test_a_constant_column_in_the_metric_of_each_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = made(9000, 4, 3)
    x = np.column_stack([x, np.zeros(9000)])
    expected = LogisticRegression(penalty=1.0, standardize=True).fit(x, y)
    monkeypatch.setattr(choose, "MATRIX", 0)
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


def test_weightless_rows_and_classes() -> None:
    x, y = made(classes=3)
    weight = np.ones(len(y))
    weight[y == 2] = 0.0
    model = LogisticRegression(class_weight="balanced").fit(x, y, sample_weight=weight)
    assert np.isfinite(model.coef_).all()
    x[:5] = np.nan
    with pytest.raises(InvalidData, match="NaN"):
        LogisticRegression().fit(x, y % 2, sample_weight=np.r_[np.zeros(5), np.ones(len(y) - 5)])


def test_a_far_start_is_not_an_end() -> None:
    x = np.repeat([[-1.0], [1.0]], 50, axis=0)
    y = np.r_[np.arange(50) < 10, np.arange(50) < 40].astype(int)
    model = LogisticRegression(init=[[0.0, -3000.0]]).fit(x, y)
    np.testing.assert_allclose(theta(model), theta(LogisticRegression().fit(x, y)), rtol=1e-8, atol=1e-9)
    assert model.certificate_.status is Status.SOLVED


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg"])
def test_the_gap_holds_for_rare_classes(solver: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(5000, 4)) + 2.0
    y = (rng.random(5000) < 0.004 * np.exp(0.5 * x[:, 0])).astype(int)
    best = LogisticRegression(penalty=1.0, tol=0.0).fit(x, y).certificate_.objective
    for tol in (1e-1, 1e-2, 1e-3, 1e-5):
        found = LogisticRegression(penalty=1.0, tol=tol, solver=solver).fit(x, y).certificate_
        assert found.objective - best <= found.gap + 1e-11 * best


def test_l1_on_columns_of_any_magnitude() -> None:
    x, y = made()
    x = x / x.std(axis=0)
    plain = LogisticRegression(l1=5.0, standardize=True).fit(x, y)
    for factor in (1e-160, 1e150):
        other = LogisticRegression(l1=5.0, standardize=True).fit(x * factor, y)
        np.testing.assert_allclose(other.coef_ * factor, plain.coef_, rtol=1e-6, atol=1e-12)


def test_several_machines_have_one_certificate() -> None:
    x, y = made(classes=3)
    model = LogisticRegression(scheme="one-vs-rest").fit(x, y)
    alone = [LogisticRegression().fit(x, y == k).certificate_.objective for k in range(3)]
    assert model.certificate_.objective == pytest.approx(sum(alone), rel=1e-12)
    with pytest.raises(InvalidParameter, match="init must be"):
        LogisticRegression(scheme="one-vs-rest", init=[[1.0]]).fit(x, y)


def test_classes_without_weight_are_refused_and_wild_starts_too() -> None:
    x, y = made()
    with pytest.raises(InvalidData, match="one class"):
        LogisticRegression(class_weight={0: 0, 1: 1}).fit(x, y)
    with pytest.raises(InvalidParameter, match="finite"):
        LogisticRegression(init=np.full((1, 5), np.nan)).fit(x, y)


def test_separation_that_is_too_large_to_be_decided_is_suspected() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 8))
    y = np.arange(120) % 40
    with pytest.warns(AdalineWarning, match="separated by a plane"):
        model = LogisticRegression().fit(x, y)
    assert model.separation_ is not None
    assert np.isfinite(model.coef_).all()


def test_a_proof_of_separation_is_given_up_beyond_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    x = sparse.random(60, 400, 0.05, format="csr", random_state=0)
    y = np.append(np.arange(60) % 2, [1, 0])
    x = sparse.vstack([x, x[:2]]).tocsr()
    with pytest.warns(AdalineWarning, match="are quasi-completely separated"):
        assert LogisticRegression().fit(x, y).separation_.kind == "quasi"
    monkeypatch.setattr("adaline.fits.separation.PROOF", 1e4)
    with pytest.warns(AdalineWarning, match=r"seem to be separated by a plane \(to prove it would take too long\)"):
        model = LogisticRegression().fit(x, y)
    assert model.separation_.kind == "suspected"
    assert model.certificate_.status is Status.QUASI_SEPARATED


@pytest.mark.parametrize("solver", ["auto", "lbfgs", "newton-cg"])
def test_coupled_machines_from_an_unbalanced_start(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = made(9000, 4, 5)
    expected = LogisticRegression(penalty=3.0).fit(x, y)
    monkeypatch.setattr(choose, "MATRIX", 0)
    start = theta(expected) + np.r_[0.0, np.linspace(0.5, 1.0, 4)]
    model = LogisticRegression(penalty=3.0, tol=1e-13, solver=solver, init=start).fit(x, y)
    np.testing.assert_allclose(theta(model), theta(expected), rtol=1e-5, atol=1e-6)
    assert model.certificate_.passes < 60


@pytest.mark.parametrize("settings", [{}, {"penalty": 0.5}, {"l1": 1}, {"scheme": "one-vs-rest"}, {"penalty": "auto"}])
@pytest.mark.parametrize("classes", [3, 4])
def test_a_class_without_weight_is_never_predicted(classes: int, settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(40 * classes) % classes
    X = rng.standard_normal((len(y), 2)) + 0.5 * y[:, None]
    heavy = y != 1
    with pytest.warns(AdalineWarning, match="no row of class 1 has a weight"):
        model = LogisticRegression(**settings).fit(X, y, sample_weight=heavy)
    with pytest.warns(AdalineWarning, match="no row of class 1 has a weight"):
        by_class = LogisticRegression(**settings, class_weight={1: 0.0}).fit(X, y)
    np.testing.assert_allclose(by_class.coef_, model.coef_, rtol=1e-9)
    assert model.certificate_.status is Status.SOLVED
    p = model.predict_proba(X)
    assert model.classes_.tolist() == list(range(classes))
    assert (p[:, 1] == 0).all()
    if classes == 3:
        if settings == {}:
            others = LogisticRegression().fit(X[heavy], y[heavy])
            np.testing.assert_allclose(p[:, [0, 2]], others.predict_proba(X), rtol=1e-9)
            assert model.summary().to_dict()["coefficients"]
    elif settings.get("penalty") != "auto":  # whose folds depend on the places of the rows
        others = LogisticRegression(**settings).fit(X[heavy], y[heavy])
        np.testing.assert_allclose(p[:, [0, 2, 3]], others.predict_proba(X), rtol=1e-6)
    model.set_params(warm_start=True)
    with pytest.warns(AdalineWarning, match="class 1"):
        np.testing.assert_allclose(model.fit(X, y, sample_weight=heavy).predict_proba(X), p, atol=1e-6)


def test_pairs_need_rows_of_every_class() -> None:
    X, y = np.random.default_rng(0).standard_normal((30, 2)), np.arange(30) % 3
    with pytest.raises(InvalidData, match="one-vs-one"):
        LogisticRegression(scheme="one-vs-one").fit(X, y, sample_weight=y != 1)
