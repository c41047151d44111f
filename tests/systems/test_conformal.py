"""Conformal intervals and sets: equal to those of refits, and covering whatever the noise is."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from adaline import (
    LMS,
    ElasticNet,
    FisherDiscriminant,
    GaussianClassifier,
    GeneralizedLinear,
    KeslerPerceptron,
    LinearRegression,
    LogisticRegression,
    OneVsRest,
    OrdinalRegression,
    Ridge,
    RobustRegression,
    WienerFilter,
    basis,
    conformal,
    open_table,
)
from adaline.errors import InvalidData, InvalidParameter, SumsMissing
from adaline.estimator import clone
from adaline.inference import conformal as formulas
from adaline.inference.conformal import Scored, conformal_set, smallest
from adaline.input import fitted_rows

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(61, 3)), RNG.normal(size=(7, 3))
Y = X @ [1.0, 2.0, -1.0] + RNG.standard_t(3, size=61)
DRAWS = 20  # data sets for a coverage
LABELS = np.array(["a", "b", "c"])[(Y > -1).astype(int) + (Y > 1)]


def by_refits(model: Any, y: Any, weight: Any, level: float) -> tuple[Any, Any]:
    """Return the ends of jackknife+ by fits without a copy of each row, all copies written out."""
    rows = np.repeat(np.arange(len(y)), 1 if weight is None else weight)
    below, above = [], []
    for i in range(len(rows)):
        others = np.delete(rows, i)
        without = clone(model).fit(X[others], y[others])
        error = np.abs(y[rows[i]] - without.predict(X[rows[i]][None])[0])
        below.append(without.predict(Z) - error)
        above.append(without.predict(Z) + error)
    n = len(rows)
    lower, upper = np.sort(below, axis=0), np.sort(above, axis=0)
    return lower[int(np.floor((1 - level) * (n + 1) + 1e-9)) - 1], upper[int(np.ceil(level * (n + 1) - 1e-9)) - 1]


@pytest.mark.parametrize(
    ("model", "y", "weight"),
    [
        (LinearRegression(), Y, None),
        (LinearRegression(fit_intercept=False, solver="qr"), Y, None),
        (LinearRegression(basis=basis.Polynomial(degree=2)), Y, None),
        (Ridge(penalty=2.0), np.column_stack([Y, Y**2]), None),
        (Ridge(penalty=[0.5, 3.0]), np.column_stack([Y, Y**2]), None),
        (LinearRegression(), Y, RNG.integers(1, 3, 61)),
    ],
    ids=["plain", "no constant", "basis", "targets", "a penalty each", "frequencies"],
)
def test_jackknife_plus_is_that_of_refits(model: Any, y: Any, weight: Any) -> None:
    found = clone(model).fit(X, y, weight).predict(Z, interval="conformal", level=0.9)
    lower, upper = by_refits(model, y, weight, 0.9)
    np.testing.assert_allclose(found.lower, lower, rtol=1e-10)
    np.testing.assert_allclose(found.upper, upper, rtol=1e-10)
    np.testing.assert_array_equal(found.prediction, clone(model).fit(X, y, weight).predict(Z))


def test_a_precision_scales_the_error_of_its_row() -> None:
    weight = RNG.uniform(0.5, 4.0, 61)
    model = LinearRegression(weights="precision").fit(X, Y, weight)
    below = []
    for i in range(61):
        others = np.delete(np.arange(61), i)
        without = clone(model).fit(X[others], Y[others], weight[others])
        below.append(without.predict(Z) + np.sqrt(weight[i]) * abs(Y[i] - without.predict(X[i : i + 1])[0]))
    upper = np.sort(below, axis=0)[int(np.ceil(0.9 * 62)) - 1]
    np.testing.assert_allclose(model.predict(Z, interval="conformal", level=0.9).upper, upper, rtol=1e-10)


@pytest.mark.parametrize(
    "model",
    [
        Ridge(),
        ElasticNet(l1=1.0),
        RobustRegression(),
        LinearRegression(positive=True),
        LMS(epochs=5),
        GeneralizedLinear(loss="gaussian"),
    ],
    ids=repr,
)
def test_cv_plus_is_that_of_ten_refits(model: Any) -> None:
    asked = conformal(clone(model).fit(X, Y), X, Y)
    assert asked.method == "CV+"
    fold = asked.scored[0].model
    below, above = [], []
    for k in range(10):
        without = clone(model).fit(X[fold != k], Y[fold != k])
        for i in np.flatnonzero(fold == k):
            error = abs(Y[i] - without.predict(X[i : i + 1])[0])
            below.append(without.predict(Z) - error)
            above.append(without.predict(Z) + error)
    found = asked.predict(Z, level=0.9)
    np.testing.assert_allclose(found.lower, np.sort(below, axis=0)[5], rtol=1e-5)
    np.testing.assert_allclose(found.upper, np.sort(above, axis=0)[55], rtol=1e-5)


def draws(kind: str, n: int, rng: Any) -> tuple[Any, Any]:
    """Return rows of noise that is not normal, and grows with x."""
    x = rng.uniform(0, 3, (n, 2))
    noise = {"skew": rng.exponential(1.0, n) - 1.0, "heavy": rng.standard_t(2, n), "counts": rng.normal(size=n)}[kind]
    if kind == "counts":
        return x, rng.negative_binomial(2, 2 / (2 + np.exp(x @ [0.5, 0.7]))).astype(float)
    return x, x @ [1.0, -2.0] + np.sin(2 * x[:, 0]) + (0.2 + x[:, 1]) * noise


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (LinearRegression(), "skew"),
        (LinearRegression(), "heavy"),
        (Ridge(), "skew"),
        (ElasticNet(l1=0.5), "heavy"),
        (RobustRegression(), "skew"),
        (GeneralizedLinear(loss="poisson"), "counts"),
    ],
    ids=repr,
)
def test_intervals_cover_noise_that_is_neither_normal_nor_of_one_variance(model: Any, kind: str) -> None:
    rng, inside = np.random.default_rng(1), []
    for _ in range(DRAWS):
        x, y = draws(kind, 60, rng)
        new, t = draws(kind, 200, rng)
        found = clone(model).fit(x, y).predict(new, interval="conformal", level=0.9)
        inside.append(np.mean((found.lower <= t) & (t <= found.upper)))
    assert np.mean(inside) > 0.9 - 2.5 * np.std(inside) / np.sqrt(DRAWS)
    assert np.mean(inside) < 0.96


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(penalty=1.0), GaussianClassifier(), OrdinalRegression(classes=[*"abc"]), FisherDiscriminant()],
    ids=repr,
)
def test_sets_cover(model: Any) -> None:
    rng, inside = np.random.default_rng(2), []
    for _ in range(DRAWS):
        x = rng.normal(size=(280, 2))
        y = np.array(["a", "b", "c"])[np.digitize(x @ [1.0, 1.0] + rng.standard_t(2, 280), [-1.0, 1.0])]
        fitted = clone(model).fit(x[:80], y[:80])
        sets = fitted.predict_set(x[80:], level=0.85)
        assert sets.shape == (200, 3)
        inside.append(np.mean(sets[np.arange(200), np.searchsorted(fitted.classes_, y[80:])]))
    assert 0.85 - 2.5 * np.std(inside) / np.sqrt(DRAWS) < np.mean(inside) < 0.93


@pytest.mark.parametrize(
    "model",
    [KeslerPerceptron(), OneVsRest(LogisticRegression(penalty=1.0)), ElasticNet(loss="logistic", l1=0.1)],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::adaline.errors.ConvergenceWarning")
def test_every_classifier_has_sets_that_grow_with_the_level(model: Any) -> None:
    fitted = clone(model).fit(X, LABELS)
    small, large = (fitted.predict_set(Z, level=level) for level in (0.5, 0.95))
    assert (small <= large).all()
    assert large.any(axis=1).all()


def test_a_set_counts_the_scores_below_its_label() -> None:
    scored = Scored(np.array([0.1, 0.4, 0.2, 0.9]), np.array([0, 0, 1, 1]), np.ones(4))
    new = [np.array([[0.3, 0.95]]), np.array([[0.15, 0.5]])]
    below = np.array([[1, 3]])  # 0.1 < 0.3; 0.1 and 0.4 < 0.95, 0.2 < 0.5
    for level in (0.3, 0.5, 0.61, 0.9):
        np.testing.assert_array_equal(conformal_set(new, scored, level), below < level * 5)


def test_ranks_count_weights_as_rows() -> None:
    values, weight = RNG.normal(size=(5, 9)), RNG.integers(1, 4, 9)
    for level in (0.2, 0.5, 0.8, 0.93):
        copies = np.repeat(values, weight, axis=1)
        np.testing.assert_array_equal(
            smallest(values, weight.astype(float), level), smallest(copies, np.ones(copies.shape[1]), level)
        )


def test_few_rows_have_endless_intervals() -> None:
    found = LinearRegression().fit(X[:15], Y[:15]).predict(Z, interval="conformal")
    assert np.isneginf(found.lower).all()
    assert np.isposinf(found.upper).all()


def test_a_row_that_alone_determines_a_coefficient_is_never_scored_low() -> None:
    x = np.column_stack([X, np.arange(61) == 5])
    found = LinearRegression().fit(x, Y).predict(x[:5], interval="conformal", level=0.9)
    other = np.delete(np.arange(61), 5)
    without = LinearRegression().fit(X[other], Y[other]).predict(X[:5], interval="conformal", level=0.9)
    assert (found.upper >= without.upper - 1e-12).all()
    assert np.isfinite(found.upper).all()


def test_offsets_are_part_of_every_fit() -> None:
    exposure = RNG.uniform(1, 5, 61)
    counts = RNG.poisson(exposure * np.exp(X[:, 0])).astype(float)
    model = GeneralizedLinear(loss="poisson").fit(X, counts, exposure=exposure)
    few, many = (model.predict(Z, exposure=e, interval="conformal", level=0.9) for e in (1.0, 50.0))
    assert (many.upper - many.lower > few.upper - few.lower).all()
    again = conformal(model, X, counts, offset=np.log(exposure)).predict(Z, 0.9, exposure=1.0)
    np.testing.assert_allclose(again.upper, few.upper, rtol=1e-6)


def test_rows_of_files_and_arrays_and_frames(tmp_path: Any) -> None:
    import polars as pl

    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": np.where(X[:, 2] > 0, "u", "v"), "y": Y})
    frame.write_csv(tmp_path / "rows.csv")
    new = frame.select("a", "b", "kind").head(4)
    found = []
    for rows in ({"X": frame.drop("y"), "y": Y}, {"X": open_table(tmp_path / "rows.csv", target="y")}):
        found.append(LinearRegression().fit(**rows).predict(new, interval="conformal", level=0.9))
        assert Ridge().fit(**rows).predict(new, interval="conformal", level=0.9).lower.shape == (4,)
        assert GeneralizedLinear().fit(**rows).predict(new, interval="conformal", level=0.9).lower.shape == (4,)
    np.testing.assert_allclose(found[0].lower, found[1].lower, rtol=1e-9)
    table = open_table(tmp_path / "rows.csv", target="kind")
    assert LogisticRegression(penalty=1.0).fit(table).predict_set(table, level=0.8).shape == (61, 2)


def test_many_rows_are_scored_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    x = RNG.normal(size=(4000, 3))
    y = x @ [1.0, 2.0, 3.0] + RNG.normal(size=4000)
    monkeypatch.setattr(formulas, "MOST_SCORED", 400)
    model = LinearRegression().fit(x, y)
    asked = conformal(model)
    assert 300 < len(asked.scored[0].score) < 500
    found = asked.predict(Z)
    np.testing.assert_allclose(found.upper - found.lower, 2 * 1.96, rtol=0.12)
    assert 300 < len(conformal(Ridge().fit(x, y)).scored[0].score) < 500


def test_the_rows_of_fit_are_kept_while_they_are_few_or_held_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitted_rows, "HELD_NUMBERS", 10)
    x, y = X.copy(), Y.copy()
    model = LinearRegression().fit(x, y)
    expected = model.predict(Z, interval="conformal")
    del x, y
    with pytest.raises(SumsMissing, match="Give them again"):
        model.predict(Z, interval="conformal")
    found = conformal(model, X, Y).predict(Z)
    np.testing.assert_array_equal(found.upper, expected.upper)
    for other in (pickle.loads(pickle.dumps(model)), LinearRegression().fit(X, Y).partial_fit(X, Y)):
        with pytest.raises(SumsMissing, match="loaded, or rows came or went"):
            other.predict(Z, interval="conformal")


def test_other_rows_are_refused() -> None:
    x = X.copy()
    model = LinearRegression().fit(x, Y)
    x[3] = 9.0
    with pytest.raises(InvalidData, match="not the rows that were fitted"):
        model.predict(Z, interval="conformal")
    with pytest.raises(InvalidParameter, match="rows in any order"):
        conformal(WienerFilter(taps=2).fit(Y, Y))
    with pytest.raises(InvalidParameter, match="use LogisticRegression"):
        GeneralizedLinear(loss="binomial").fit(X, Y > 0).predict(Z, interval="conformal")
    with pytest.raises(InvalidParameter, match="use predict_set"):
        conformal(LogisticRegression(penalty=1.0).fit(X, LABELS)).predict(Z)
    with pytest.raises(InvalidParameter, match="use predict"):
        conformal(Ridge().fit(X, Y)).predict_set(Z)
    with pytest.raises(InvalidParameter, match="interval must be"):
        LMS().fit(X, Y).predict(Z, interval="confidence")
