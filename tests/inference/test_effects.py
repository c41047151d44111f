"""Effects against statsmodels, and as a law: they are what the predictions of every system do."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
from sklearn.base import clone

from adaline import (
    GeneralizedLinear,
    KMeans,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    Ridge,
    RobustRegression,
    basis,
    datasets,
    effects,
    open_table,
)
from adaline.errors import InvalidData, InvalidParameter
from adaline.inference.effects import EXACT_EFFECTS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3)) * [1.0, 10.0, 0.1] + [1.0, 5.0, 0.0]
Z = (X - X.mean(axis=0)) / X.std(axis=0) @ [0.5, -0.8, 0.3]
TWO = (Z + RNG.logistic(size=150) > 0).astype(int)
THREE = np.digitize(Z + RNG.logistic(size=150), [-1.0, 1.0])
COUNTS = RNG.poisson(np.exp(0.5 + 0.3 * Z))
AMOUNTS = np.exp(1.0 + 0.2 * Z) * RNG.gamma(5.0, 0.2, 150)
BIRDS = pd.read_csv(datasets.path("penguins")).dropna()


def column(found: Any, name: str) -> Any:
    return np.array([row[name] for row in found.rows])


@pytest.mark.parametrize(("at", "theirs"), [("average", "overall"), ("mean", "mean")])
def test_effects_are_those_of_statsmodels(at: str, theirs: str) -> None:
    design, exact = sm.add_constant(X), {"disp": 0, "method": "newton", "tol": 1e-14, "maxiter": 100}
    cases = [
        (LogisticRegression().fit(X, TWO), sm.Logit(TWO, design)),
        (LogisticRegression().fit(X, THREE), sm.MNLogit(THREE, design)),
        (GeneralizedLinear(loss="poisson").fit(X, COUNTS), sm.Poisson(COUNTS, design)),
        (GeneralizedLinear(loss="binomial", link="probit").fit(X, TWO), sm.Probit(TWO, design)),
    ]
    for model, other in cases:
        mine, known = effects(model, X, at=at), other.fit(**exact).get_margeff(at=theirs)
        assert column(mine, "estimate") == pytest.approx(known.margeff.ravel(), rel=1e-9)
        if other is not cases[-1][1]:  # statsmodels' errors of probit are of the observed information
            assert column(mine, "std_error") == pytest.approx(known.margeff_se.ravel(), rel=1e-9)


MODELS = {
    "linear": (LinearRegression(), AMOUNTS),
    "polynomial": (LinearRegression(basis=basis.Polynomial(degree=2)), AMOUNTS),
    "two targets": (LinearRegression(), np.column_stack([AMOUNTS, Z])),
    "ridge": (Ridge(penalty=2.0), AMOUNTS),
    "robust": (RobustRegression(), AMOUNTS),
    "median": (RobustRegression(loss="absolute"), AMOUNTS),
    "two classes": (LogisticRegression(), TWO),
    "three classes": (LogisticRegression(), THREE),
    "penalised": (LogisticRegression(penalty=1.0), TWO),
    "poisson": (GeneralizedLinear(loss="poisson"), COUNTS),
    "gamma": (GeneralizedLinear(loss="gamma", link="inverse"), AMOUNTS),
    "cloglog": (GeneralizedLinear(loss="binomial", link="cloglog"), TWO),
    "gamma far": (GeneralizedLinear(loss="gamma", link="inverse"), 1000 * AMOUNTS),
    "inverse gaussian": (GeneralizedLinear(loss="inverse_gaussian"), 1000 * AMOUNTS),
    "normal order": (OrdinalRegression(link="probit"), THREE),
    "ordered": (OrdinalRegression(link="cloglog"), THREE),
    "proportional odds": (OrdinalRegression(), THREE),
}


def mean(model: Any, rows: Any) -> Any:
    """Return the means that effects are about, (n, C)."""
    if isinstance(model, LogisticRegression | OrdinalRegression):
        p = model.predict_proba(rows)
        return p[:, 1:] if p.shape[1] == 2 else p
    return np.asarray(model.predict(rows)).reshape(len(rows), -1)


def figures(model: Any, rows: Any = X, **options: Any) -> Any:
    """Return effects and their errors, (2, effects)."""
    found = effects(model, rows, **options)
    return np.array([column(found, "estimate"), column(found, "std_error")])


@cache
def fitted(name: str) -> Any:
    kind, y = MODELS[name]
    return clone(kind).fit(X, y)


@pytest.mark.every
@pytest.mark.parametrize("name", MODELS)
def test_slopes_are_those_of_the_predictions_and_errors_of_the_delta_method(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, weight, slopes = fitted(name), np.arange(len(X)) % 3, []
    for j in range(3):
        step = 1e-4 * X[:, j].std() * (np.arange(3) == j)
        slopes.append(weight @ (mean(model, X + step) - mean(model, X - step)) / (2 * step[j] * weight.sum()))
    mine, plain = figures(model, sample_weight=weight), figures(model)
    assert mine[0] == pytest.approx(np.ravel(slopes), rel=1e-6, abs=1e-7)
    assert mine == pytest.approx(figures(model, np.repeat(X, weight, axis=0)), rel=1e-9)  # weights are repetitions
    if name not in ("ridge", "penalised"):  # a penalty acts in the columns' own units
        units, (kind, y) = np.array([8.0, 0.25, 1024.0]), MODELS[name]
        other = figures(clone(kind).fit(X * units, y), X * units)
        assert other * np.repeat(units, other.shape[1] // 3) == pytest.approx(plain, rel=1e-7)
    known, squares, step = model._mean_model(), np.zeros(plain.shape[1]), 1e-4
    for m in range(known.root.shape[2]):
        ends = []
        for sign in (-1, 1):
            moved = replace(known, theta=known.theta + sign * step * known.root[:, :, m])
            monkeypatch.setattr(type(model), "_mean_model", lambda self, moved=moved: moved)
            ends.append(figures(model)[0])
        squares += ((ends[1] - ends[0]) / (2 * step)) ** 2
    assert plain[1] == pytest.approx(np.sqrt(squares), rel=1e-6)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_levels_are_compared_with_the_first(library: Any) -> None:
    rows = library({name: BIRDS[name].to_list() for name in ("body_mass_g", "species")})
    model = LogisticRegression().fit(rows, BIRDS.sex)
    found = effects(model, rows)
    assert [row["contrast"] for row in found.rows] == ["slope", "Chinstrap - Adelie", "Gentoo - Adelie"]
    table = pd.DataFrame({name: BIRDS[name] for name in ("body_mass_g", "species")})
    each = [
        model.predict_proba(table.assign(species=level))[:, 1].mean() for level in ("Adelie", "Chinstrap", "Gentoo")
    ]
    assert column(found, "estimate")[1:] == pytest.approx(np.array(each[1:]) - each[0], rel=1e-12)
    told = model.summary().to_dict()["coefficients"][1:]
    for name in ("odds_ratio", "odds_lower", "odds_upper"):
        assert column(found, name) == pytest.approx([row[name] for row in told], rel=1e-9)
    pairs = effects(model, rows, columns=["species"], pairwise=True)
    assert [row["contrast"] for row in pairs.rows][2] == "Gentoo - Chinstrap"
    assert pairs.rows[2]["estimate"] == pytest.approx(each[2] - each[1], rel=1e-12)
    some = effects(model, rows, columns=["species"])
    assert some.rows == found.rows[1:]
    assert len(found.to_frame()) == 3
    assert all("Gentoo - Adelie" in shown for shown in (str(found), found._repr_html_()))
    assert found.to_dict()["effects"] == found.rows


def test_interactions_and_offsets_are_followed() -> None:
    table = open_table(BIRDS, formula="body_mass_g ~ species * flipper_length_mm")
    model = LinearRegression().fit(table)
    found = effects(model, BIRDS)
    moved = BIRDS.assign(flipper_length_mm=BIRDS.flipper_length_mm + 1.0)
    assert effects(model, table).rows == found.rows
    slope = next(row for row in found.rows if row["name"] == "flipper_length_mm")
    assert slope["estimate"] == pytest.approx((model.predict(moved) - model.predict(BIRDS)).mean(), rel=1e-8)
    time = np.linspace(1.0, 3.0, len(X))
    rates = GeneralizedLinear(loss="poisson").fit(X, COUNTS, exposure=time)
    expected = (rates.predict(X, exposure=time)).mean() * rates.coef_
    assert column(effects(rates, X, exposure=time), "estimate") == pytest.approx(expected, rel=1e-12)
    with pytest.raises(InvalidParameter, match="fitted with an offset"):
        effects(rates, X)


@pytest.mark.filterwarnings("ignore::adaline.AdalineWarning")
@pytest.mark.parametrize("name", ["linear", "three classes", "poisson", "ordered"])
def test_columns_left_out_are_said_to_be(name: str) -> None:
    more, (kind, y) = np.column_stack([X, X[:, 0] - X[:, 1], np.ones(len(X))]), MODELS[name]
    found, plain = effects(clone(kind).fit(more, y), more), figures(fitted(name))
    count = plain.shape[1]
    assert [column(found, "estimate")[:count], column(found, "std_error")[:count]] == pytest.approx(plain, rel=1e-7)
    assert all(row["left_out"] and np.isnan(row["std_error"]) for row in found.rows[count:])
    assert "left out" in str(found)


@pytest.mark.parametrize("name", ["linear", "two targets", "gamma", "poisson"])
def test_as_many_rows_as_parameters_leave_errors_unknown(name: str) -> None:
    kind, y = MODELS[name]
    estimate, errors = figures(clone(kind).fit(X[:4], y[:4]), X[:4])
    assert (errors > 0).all() if name == "poisson" else np.isnan(errors).all()  # poisson's variance is known
    assert np.isfinite(estimate).all()


HUBER = GeneralizedLinear(loss="huber")
OTHER = open_table(BIRDS[["year", "body_mass_g"]], target="year")


@pytest.mark.parametrize(
    ("system", "options", "error", "message"),
    [
        (LinearRegression(), {"at": "median"}, InvalidParameter, "at must be one of"),
        (LinearRegression(), {"columns": ["age"]}, InvalidParameter, "no column is called 'age'"),
        (LinearRegression(), {"level": 2.0}, InvalidParameter, "level must be"),
        (LinearRegression(), {"X": np.where(X == X[3, 1], np.nan, X)}, InvalidData, "NaN"),
        (LinearRegression(), {"X": OTHER}, InvalidData, "expecting 3 features"),
        (KMeans(n_clusters=2), {}, InvalidParameter, "got KMeans"),
        (RobustRegression(penalty=1.0), {}, InvalidParameter, "there are none"),
        (HUBER, {}, InvalidParameter, "needs a likelihood"),
    ],
    ids=str,
)
def test_bad_arguments(system: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    model = clone(system).fit(X, AMOUNTS)
    with pytest.raises(error, match=message):
        effects(model, **{"X": X, **options})
    if system is HUBER:
        with pytest.raises(error, match=message):
            model.predict(X, interval="confidence")


def test_a_model_of_a_frame_needs_a_frame() -> None:
    with pytest.raises(InvalidData, match="as a frame with species"):
        effects(LinearRegression().fit(BIRDS[["species"]], BIRDS.body_mass_g), X)
    with pytest.raises(ValueError, match="not fitted"):
        effects(LinearRegression(), X)


def test_a_frame_brings_the_weights_of_the_model() -> None:
    rows = pd.DataFrame({"x": np.sin(np.arange(30.0)), "w": 1 + np.arange(30) % 3, "y": np.arange(30) % 4})
    table = open_table(rows, formula="y ~ x", weight="w")
    model = GeneralizedLinear(loss="poisson").fit(table)
    expected = effects(model, rows[["x"]], sample_weight=rows["w"]).rows
    for given in (rows, pl.from_pandas(rows), table):
        found = effects(model, given)
        assert found.rows == expected
        assert found.title.endswith("weighted by w")
    assert "weighted" not in effects(model, rows[["x"]]).title


def test_a_factor_that_is_also_a_number_has_contrasts() -> None:
    rows = pd.DataFrame({"x": np.sin(np.arange(30.0)), "w": 1 + np.arange(30) % 3, "y": np.cos(np.arange(30.0))})
    model = LinearRegression().fit(open_table(rows, formula="y ~ C(w) + w:x"))
    found = [row for row in effects(model, rows).rows if row["name"] == "w"]
    assert [row["contrast"] for row in found] == ["2 - 1", "3 - 1"]
    first, last = (model.predict(rows.assign(w=w)).mean() for w in (1, 3))
    assert found[1]["estimate"] == pytest.approx(last - first)


@pytest.mark.parametrize("steps", ["cut(x, 3)", "I(x > 0)"])
def test_what_enters_by_steps_has_no_slope(steps: str) -> None:
    x = np.sin(np.arange(30.0))
    rows = pd.DataFrame({"x": np.round(x, 2), "z": np.cos(np.arange(30.0)), "y": x + np.arange(30) % 3})
    found = effects(LinearRegression().fit(open_table(rows, formula=f"y ~ {steps} + z")), rows)
    assert [row["name"] for row in found.rows] == ["z"]
    assert "x has no slope: it enters by steps" in str(found)
    both = LinearRegression().fit(open_table(rows, formula=f"y ~ {steps} + x"))
    assert effects(both, rows).rows[0]["estimate"] == pytest.approx(both.coef_[-1])
    alone = LinearRegression().fit(open_table(rows, formula=f"y ~ {steps}"))
    with pytest.raises(InvalidData, match="enters by steps"):
        effects(alone, rows)


@pytest.mark.parametrize("missing", ["mean", "indicator"])
def test_columns_whose_gaps_were_filled_have_slopes(missing: str) -> None:
    rng = np.random.default_rng(3)
    days = pd.Series(pd.date_range("2024-01-01", periods=40)).sample(frac=1, random_state=0, ignore_index=True)
    frame = pd.DataFrame({"x": rng.normal(size=40), "c": [*"ab"] * 20, "day": days, "y": rng.normal(size=40)})
    frame.loc[[1, 8], "x"], frame.loc[5, "day"], frame.loc[9, "c"] = np.nan, pd.NaT, None
    model = LinearRegression().fit(open_table(frame, target="y", dates="day", missing=missing))
    found = effects(model, frame)
    coefficients = dict(zip(model.feature_names_in_, model.coef_, strict=True))
    slopes = dict(zip(column(found, "name"), column(found, "estimate"), strict=True))
    for name, own in (("x", "x"), ("day", "day"), ("c", "c[T.b]")):
        np.testing.assert_allclose(slopes[name], coefficients[own])
    assert np.isfinite(column(found, "std_error")).all()


def test_effects_of_an_exact_fit_have_no_errors() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2)).round(2)
    found = effects(LinearRegression().fit(X, X @ [2.0, -3.0]), X)
    np.testing.assert_allclose(column(found, "estimate"), [2.0, -3.0])
    assert np.isnan(column(found, "p_value")).all()
    assert found.notes == (EXACT_EFFECTS,)
