"""OrdinalRegression: against R and statsmodels, in the order of its labels, and where there is no maximum."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from statsmodels.miscmodels.ordinal_model import OrderedModel

from adaline import LogisticRegression, OrdinalRegression, anova, datasets, load, open_table, save
from adaline.arrays import Array
from adaline.errors import AdalineWarning, InvalidData, InvalidParameter, UnknownLabel
from adaline.fits import ordinal
from adaline.fits.ordinal import OrdinalOptions, fit_ordinal
from adaline.losses.ordinal import CUMULATIVE_LINKS
from adaline.penalties import RidgePenalty
from adaline.results import Status
from adaline.solvers.smooth.ordinal import build_ordinal
from adaline.sources import ArraySource

ORDER = ["low", "mid", "high"]
LINKS = pytest.mark.parametrize("link", CUMULATIVE_LINKS)
R_FIGURES = pd.read_csv(Path(__file__).parents[1] / "data" / "ordinal" / "ordinal.csv", comment="#")


def rows(n: int = 200, d: int = 3, seed: int = 0) -> tuple[Array, Any]:
    """Return X, and labels in the order of ORDER, which is not that of the alphabet."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 3.0 ** np.arange(d) + 5.0
    z = (X - 5.0) / 3.0 ** np.arange(d) @ rng.normal(size=d) + rng.logistic(size=n)
    return X, np.array(ORDER)[np.digitize(z, [-1.0, 0.7])]


def numbers(model: OrdinalRegression) -> Array:
    return np.concatenate([model.thresholds_, model.coef_[0]])


@pytest.mark.parametrize(("link", "weights"), [(k, w) for k in CUMULATIVE_LINKS for w in ("none", "times")])
def test_thresholds_slopes_and_errors_are_those_of_r(link: str, weights: str) -> None:
    data = pd.read_csv(Path(datasets.__file__).parent / "abalone.csv")
    age = pd.cut(data["rings"], [0, 7, 9, 11, 30], labels=["young", "grown", "old", "oldest"])
    times = np.arange(1, len(data) + 1) % 3 + 1 if weights == "times" else None
    model = OrdinalRegression(link=link).fit(data[["length", "height", "sex"]], age, times)
    table = model.summary().to_dict()
    found = {row["name"].replace(" ", "").replace("[T.", "").replace("]", ""): row for row in table["coefficients"]}
    for bound, by in ((5e-9, "clm"), (1e-5, "polr")):  # their own accuracy
        part = R_FIGURES.query(f"by == {by!r} and link == {link!r} and weights == {weights!r}").set_index("coefficient")
        likelihood = part.loc["log-likelihood", "estimate"]
        np.testing.assert_allclose(table["log_likelihood"], likelihood, rtol=1e-11)
        part = part.drop("log-likelihood")
        assert set(part.index) == set(found)
        for name in ("estimate", "std_error"):
            np.testing.assert_allclose([found[one][name] for one in part.index], part[name], rtol=bound)
    assert model.certificate_.status is Status.SOLVED
    assert model.certificate_.gap < 1e-9


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_it_is_the_model_of_statsmodels(link: str) -> None:
    """Also in the reverse order, and for rows far from zero in unlike units."""
    X, y = rows()
    model, down = (OrdinalRegression(link=link, classes=order).fit(X, y) for order in (ORDER, ORDER[::-1]))
    theirs = OrderedModel(pd.Categorical(y, ORDER).codes, X, distr=link).fit(method="bfgs", gtol=1e-8, disp=0)
    table = model.summary().to_dict()
    np.testing.assert_allclose(model.coef_[0], theirs.params[:3], rtol=1e-6)
    np.testing.assert_allclose(model.thresholds_, theirs.model.transform_threshold_params(theirs.params)[1:-1], 1e-6)
    np.testing.assert_allclose([row["std_error"] for row in table["coefficients"][:3]], theirs.bse[:3], rtol=1e-5)
    np.testing.assert_allclose([table["log_likelihood"], table["aic"]], [theirs.llf, theirs.aic], rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict(X), atol=1e-7)
    assert model.predict(X[:5]).tolist() == [ORDER[k] for k in model.predict_proba(X[:5]).argmax(axis=1)]
    np.testing.assert_allclose(numbers(model), -np.r_[down.thresholds_[::-1], down.coef_[0]], rtol=1e-9)
    moved = X * [2.0**40, 2.0**-30, 2.0**7] + [2.0**50, 0.0, 2.0**20]
    other = OrdinalRegression(link=link, classes=ORDER).fit(moved, y)
    np.testing.assert_allclose(other.predict_proba(moved), model.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("penalty", [0.0, 2.0])
def test_two_classes_are_logistic_regression(penalty: float) -> None:
    X, y = rows()
    plain, model = (cls(penalty=penalty).fit(X, y == "high") for cls in (LogisticRegression, OrdinalRegression))
    for name in ("coef_", "intercept_"):
        np.testing.assert_allclose(getattr(model, name), getattr(plain, name), rtol=1e-12)
    for name in ("decision_function", "predict_proba"):
        np.testing.assert_allclose(getattr(model, name)(X), getattr(plain, name)(X), atol=1e-11)
    mine, theirs = (one.summary().to_dict() for one in (model, plain))
    assert np.isclose(mine["log_likelihood"], theirs["log_likelihood"], rtol=1e-13)
    assert np.isclose(mine["coefficients"][0]["std_error"], theirs["coefficients"][1]["std_error"], rtol=1e-10)


def test_labels_have_the_order_of_their_categories_or_the_one_given(tmp_path: Path) -> None:
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    declared, enum = frame.assign(y=pd.Categorical(y, ORDER)), pl.Series(y).cast(pl.Enum(ORDER))
    expected = OrdinalRegression(classes=ORDER).fit(X, y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    file = partial(open_table, tmp_path / "t.csv", target="y")
    plain = (file(),)
    for given in (
        (X, declared["y"]),
        (X, declared["y"].array),
        (X, enum),
        (open_table(declared, target="y"),),
        (open_table(pl.DataFrame(frame.drop(columns="y")).with_columns(y=enum), target="y"),),
        (file(categories={"y": ORDER}),),
        plain,
    ):
        model = OrdinalRegression(classes=ORDER if given is plain else None).fit(*given)
        assert model.classes_.tolist() == ORDER
        np.testing.assert_allclose(numbers(model), numbers(expected), rtol=1e-10)
    assert OrdinalRegression().fit(X, y).classes_.tolist() == sorted(ORDER)
    with pytest.raises(UnknownLabel, match="label 'high' is not among the classes"):
        OrdinalRegression(classes=["low", "mid"]).fit(X, y)
    for wrong in (["low", "low"], "low", ["low"], {"low", "mid", "high"}):
        with pytest.raises(InvalidParameter, match="two or more different labels"):
            OrdinalRegression(classes=wrong).fit(X, y)


def test_a_class_without_rows_has_no_room(tmp_path: Path) -> None:
    X, y = rows()
    plain = OrdinalRegression(classes=ORDER, link="probit").fit(X, y)
    with pytest.warns(AdalineWarning, match="no row of class none has a weight"):
        model = OrdinalRegression(classes=["none", "low", "between", "mid", "high", "top"], link="probit").fit(X, y)
    low, high = plain.thresholds_
    save(model, tmp_path / "m.adaline")
    for one in (model, load(tmp_path / "m.adaline")):
        np.testing.assert_array_equal(one.thresholds_, [-np.inf, low, low, high, np.inf])
        np.testing.assert_array_equal(one.predict_proba(X)[:, [1, 3, 4]], plain.predict_proba(X))
        np.testing.assert_array_equal(one.predict_proba(X)[:, [0, 2, 5]], 0.0)
        assert one.predict(X).tolist() == plain.predict(X).tolist()
    assert model.certificate_.status is Status.SOLVED
    names = [row["name"] for row in model.summary().to_dict()["coefficients"]]
    assert names == ["x0", "x1", "x2", "low | mid", "mid | high"]


@LINKS
def test_separated_classes_are_said_and_have_weights(link: str) -> None:
    x, y = np.arange(12.0)[:, None], np.repeat([0, 1, 2], 4)
    with pytest.warns(AdalineWarning, match="completely separated by a plane, .* give a number as penalty"):
        model = OrdinalRegression(link=link).fit(x, y)
    assert model.certificate_.status is Status.SEPARATED
    assert model.separation_ is not None
    direction = model.separation_.direction
    assert direction.shape == (2, 2)
    above = direction[:, 0] + x * direction[:, 1]  # positive above the threshold
    assert ((above > 0) == (y[:, None] > [0, 1])).all()
    assert model.predict(x).tolist() == y.tolist()
    mixed = np.array([0, 0, 1, 1, 1, 1, 0, 2, 2, 2, 2, 2])
    last = np.column_stack([x[:, 0], x[:, 0] > 8])  # the second column alone pushes rows to the top
    with pytest.warns(AdalineWarning, match="quasi-completely"):
        quasi = OrdinalRegression(link=link).fit(last, mixed)
    assert quasi.certificate_.status is Status.QUASI_SEPARATED
    with pytest.raises(InvalidParameter, match="penalised"):
        quasi.test("x0 = 0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held = OrdinalRegression(link=link, penalty=1.0).fit(x, y)
    assert held.certificate_.status is Status.SOLVED


def test_dependent_columns_are_named_and_change_no_prediction() -> None:
    X, y = rows()
    plain = OrdinalRegression(classes=ORDER).fit(X, y)
    more = np.column_stack([X, X[:, 0] - X[:, 1] + 2, np.ones(len(X))])
    for form in (np.asarray, sparse.csr_array):
        with pytest.warns(AdalineWarning, match="x3 = x0 - x1"):
            model = OrdinalRegression(classes=ORDER).fit(form(more), y)
        assert model.aliased_.tolist() == ["x3", "x4"]
        assert model.certificate_.status is Status.RANK_DEFICIENT
        np.testing.assert_allclose(model.predict_proba(form(more)), plain.predict_proba(X), atol=1e-10)
        table, expected = (one.summary().to_dict()["coefficients"] for one in (model, plain))
        np.testing.assert_allclose(table[0]["std_error"], expected[0]["std_error"], rtol=1e-8)
        np.testing.assert_allclose(table[-1]["estimate"], expected[-1]["estimate"], rtol=1e-8)


@LINKS
def test_many_sparse_columns_are_solved_without_a_matrix(link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows(400, 6)
    thin = sparse.csr_array(np.where(X > 5.0, X, 0.0))
    whole = OrdinalRegression(link=link, classes=ORDER, penalty=0.5).fit(thin, y)
    monkeypatch.setattr("adaline.fits.ordinal.MOST_MATRIX_SIDE", 1)
    model = OrdinalRegression(link=link, classes=ORDER, penalty=0.5, tol=1e-13).fit(thin, y)
    assert model.certificate_.solver.startswith("truncated Newton")
    np.testing.assert_allclose(numbers(model), numbers(whole), rtol=1e-5, atol=1e-6)
    assert "no standard errors" in str(model.summary())


def test_the_gap_is_a_bound() -> None:
    X, y = rows(400, 4)
    codes = np.array([ORDER.index(label) for label in y], dtype=float)
    counts = np.bincount(codes.astype(int)).astype(float)
    source, none = ArraySource(X, codes[:, None]), RidgePenalty(0.0, np.ones(4))
    problem = build_ordinal(source, CUMULATIVE_LINKS["logit"], 2, counts[1], none)
    best = fit_ordinal(problem, counts, OrdinalOptions(none, 1e-14)).fit.solution.certificate.objective
    for tol in (1e-1, 1e-2, 1e-4):
        proof = fit_ordinal(replace(problem), counts, OrdinalOptions(none, tol)).fit.solution.certificate
        assert proof.objective - best <= proof.gap + 1e-12 * best


@pytest.mark.parametrize("seed", [44, 53, 95, 121, 176])
def test_light_rows_far_off_neither_stop_the_fit_nor_look_dependent(seed: int) -> None:
    """Weights over eight decades: the end of a light row is pushed into a tail, where it has a slope, no curvature."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, 4))
    y = np.digitize(5 * X[:, 0] + rng.logistic(size=15), np.linspace(-6, 6, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = OrdinalRegression().fit(X, y, 10.0 ** rng.uniform(-5, 3, 15))
    assert model.certificate_.status not in (Status.NOT_CONVERGED, Status.RANK_DEFICIENT)


def test_summary_tests_and_nested_models() -> None:
    X, y = rows()
    small, model = (OrdinalRegression(classes=ORDER).fit(X[:, :k], y) for k in (1, 3))
    table = model.summary(level=0.9)
    shown, plain = str(table), table.to_dict()
    assert all(words in shown for words in ("odds ratio", "low | mid", "thresholds alone"))
    assert "odds ratio" in table._repr_html_()
    first = plain["coefficients"][0]
    assert first["odds_ratio"] == pytest.approx(np.exp(first["estimate"]))
    assert "odds_ratio" not in plain["coefficients"][-1]
    assert model.test("x0 = 0").chi2 == pytest.approx(first["statistic"] ** 2)
    assert str(model.test("x0 = x1")).startswith("hypothesis: x0 - x1 = 0\nchi² ")
    compared = anova(small, model)
    ratio = 2 * (plain["log_likelihood"] - small.summary().to_dict()["log_likelihood"])
    assert compared.chi2[1] == pytest.approx(ratio)
    assert compared.parameters == (3, 5)
    probit = OrdinalRegression(classes=ORDER, link="probit").fit(X, y)
    assert "odds" not in str(probit.summary())
    with pytest.raises(InvalidData, match="links differ"):
        anova(small, probit)
    assert "prior" in str(OrdinalRegression(classes=ORDER, penalty=1.0).fit(X, y).summary())


@LINKS
def test_intervals_keep_their_digits_in_the_tails(link: str) -> None:
    X, y = rows(d=1)
    model = OrdinalRegression(link=link, classes=ORDER).fit(X, y)
    far = np.array([[-40.0], [-15.0], [0.0], [15.0], [40.0]])
    found = model.predict(far, interval="confidence")
    np.testing.assert_allclose(found.prediction, model.predict_proba(far), rtol=1e-12)
    assert not np.isnan(np.stack(found)).any()
    assert ((found.lower <= found.prediction) & (found.prediction <= found.upper)).all()


def test_rows_that_the_fit_does_not_determine_have_no_interval() -> None:
    X, y = rows(d=2)
    with pytest.warns(AdalineWarning):
        model = OrdinalRegression(classes=ORDER).fit(np.column_stack([X, X[:, 0]]), y)
    alone = OrdinalRegression(classes=ORDER).fit(X, y)
    known, unknown = model.predict([[1.0, 2.0, 1.0], [1.0, 2.0, 3.0]], interval="confidence").lower
    np.testing.assert_allclose(known, alone.predict([[1, 2]], "confidence").lower[0], rtol=1e-6)
    assert np.isnan(unknown).all()


def test_nothing_is_claimed_about_digits_that_are_not_proven() -> None:
    """Powers far from zero: 13.4 digits were claimed, and none was right."""
    rng = np.random.default_rng(3)
    x = rng.uniform(66, 67, (15, 1)) ** np.array([3, 2, 1])
    y = np.digitize(x[:, 2] - 66.5 + 0.5 * rng.normal(size=15), [-0.3, 0.3])
    proof = OrdinalRegression().fit(x, y).certificate_
    assert np.isnan(proof.digits)
    assert proof.status is Status.ILL_CONDITIONED


def test_the_farthest_threshold_counts_for_rounding() -> None:
    spread = SimpleNamespace(weight=9.0, root=np.array([2.0]))
    problem = SimpleNamespace(thresholds=2, spread=spread)
    found = SimpleNamespace(evaluation=SimpleNamespace(value=0.0))
    near, *far = (ordinal._rounding(problem, found, np.array(raw)) for raw in ([1, 1, 3], [1, -1e6, 3], [1e6, 1, 3]))
    np.testing.assert_allclose(far, near * ((1e6 + 6) / 7) ** 2, rtol=1e-12)
