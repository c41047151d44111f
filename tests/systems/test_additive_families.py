"""AdditiveModel of counts, shares and amounts against mgcv and lme4's glmer, and what it says of rows without a fit."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import adaline
from adaline import AdditiveModel, GeneralizedLinear, open_table
from adaline.errors import AdalineError
from adaline.fits.additive import families
from adaline.fits.additive.criteria import Criterion
from adaline.fits.additive.ratios import RatioSums, SolvedRatios, solve_ratios
from adaline.inference.smooth_terms import tail_against_errors
from adaline.losses import NegativeBinomial

FILE = Path(__file__).parents[1] / "data" / "additive" / "families.json"
R = {one["case"]: one for one in json.loads(FILE.read_text("utf-8"))}
SEVERAL = ("quine",)
"""Cases of several groupings, which mgcv tests by another covariance."""


def settings_of(case: dict[str, Any]) -> dict[str, Any]:
    settings = dict(case["settings"])
    if "shape" in settings:
        settings["loss"] = NegativeBinomial(settings.pop("shape"))
    return settings


def fit(name: str) -> tuple[dict[str, Any], pd.DataFrame, AdditiveModel]:
    case = R[name]
    frame = pd.DataFrame(case["data"])
    table = open_table(frame, formula=case["formula"], weight="w" if "w" in frame else None)
    return case, frame, AdditiveModel(**settings_of(case)).fit(table)


@pytest.mark.every
@pytest.mark.parametrize("name", R)
def test_it_finds_what_r_finds(name: str) -> None:
    """Where glmer's optimiser ends, a hundred thousandth of an error away, the likelihood is no larger than here."""
    case, frame, model = fit(name)
    mixed = case["by"] == "lme4"
    assert model.certificate_.objective == pytest.approx(case["score"], rel=1e-8)
    assert model.certificate_.objective < case["score"] + 1e-8 * mixed + (not mixed)
    table, error = model.summary().to_dict()["coefficients"], np.array(case["error"])
    estimates = np.array([row["estimate"] for row in table])
    np.testing.assert_array_less(np.abs(estimates - case["coef"]), 1e-6 * np.abs(case["coef"]) + 2e-5 * error * mixed)
    np.testing.assert_allclose([row["std_error"] for row in table], error, rtol=1e-5)
    np.testing.assert_allclose(model.predict(frame)[case["row"]], case["fitted"], rtol=1e-5 if mixed else 1e-7)
    rows = [row for row in model.variance_components_ if row["group"] != "residual"]
    sizes = [row["correlation"] if row["sd"] is None else row["sd"] for row in rows]
    np.testing.assert_allclose(np.sort(sizes), np.sort(case["sd"]), rtol=1e-5)
    if mixed:
        effects = model.random_effects_[case["grouping"]]
        own = dict(zip(effects["level"].astype(str), effects.iloc[:, 1], strict=True))
        np.testing.assert_allclose([own[level] for level in case["level"]], case["effect"], rtol=1e-6, atol=5e-6)
        return
    assert model.dispersion_ == pytest.approx(case["dispersion"], rel=1e-8)
    assert model.deviance_ == pytest.approx(case["deviance"], rel=1e-8)
    terms = model.terms_
    for ours, theirs in (("edf", "edf"), ("reference_df", "reference")):
        np.testing.assert_allclose([row[ours] for row in terms], case[theirs], rtol=1e-6)
    assert model.edf_ == pytest.approx(case["total"], rel=1e-6)
    if name not in SEVERAL:
        np.testing.assert_allclose([row["statistic"] for row in terms], case["statistic"], rtol=1e-6)
        if case["p_value"] is not None:  # mgcv's are to 2e-5
            np.testing.assert_allclose([row["p_value"] for row in terms], case["p_value"], atol=2e-5)


@pytest.mark.parametrize("name", ["cbpp", "epil_slopes", "trees", "ozone_sqrt", "insects", "pima"])
def test_derivatives_are_those_of_differences(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[RatioSums, np.ndarray]] = []

    def recorded(sums: RatioSums, criterion: Criterion, start: np.ndarray | None = None) -> SolvedRatios:
        assert start is not None
        seen.append((sums, start))
        return solve_ratios(sums, criterion, start)

    monkeypatch.setattr(families, "solve_ratios", recorded)
    case, _, _ = fit(name)
    (sums, theta) = seen[0]
    criterion: Criterion = case["settings"].get("criterion", "reml")
    theta = theta + 0.1 * np.cos(np.arange(len(theta)))
    gradient, hessian = sums.at(theta).derivatives(criterion)
    step = 1e-4
    for i, unit in enumerate(step * np.eye(len(theta))):
        low, high = sums.at(theta - unit), sums.at(theta + unit)
        slope = (high.score(criterion) - low.score(criterion)) / (2 * step)
        assert gradient[i] == pytest.approx(slope, rel=1e-5, abs=1e-5)
        bend = (high.derivatives(criterion)[0] - low.derivatives(criterion)[0]) / (2 * step)
        np.testing.assert_allclose(hessian[i], bend, rtol=1e-5, atol=1e-5)


def rows(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x, group = rng.uniform(-2, 2, n), rng.integers(0, 12, n)
    return np.column_stack([x, group]), np.sin(x) + 0.5 * rng.normal(size=12)[group], rng.uniform(0.5, 3, n)


TERMS = ["s(x0, bs='cr', k=6)", "(1 | x1)"]


def test_an_exposure_is_an_offset_and_predictions_need_it() -> None:
    X, z, exposure = rows()
    y = np.random.default_rng(1).poisson(exposure * np.exp(z))
    model = AdditiveModel(loss="poisson", terms=TERMS).fit(X, y, exposure=exposure)
    same = AdditiveModel(loss="poisson", terms=TERMS).fit(X, y, offset=np.log(exposure))
    np.testing.assert_allclose(model.predict(X, exposure=exposure), same.predict(X, offset=np.log(exposure)), rtol=1e-9)
    np.testing.assert_allclose(model.predict(X, exposure=exposure), exposure * model.predict(X, offset=0.0), rtol=1e-12)
    with pytest.raises(AdalineError, match="fitted with an offset"):
        model.predict(X)
    with pytest.raises(AdalineError, match="needs link='log'"):
        AdditiveModel(loss="binomial", terms=TERMS).fit(X, y > 1, exposure=exposure)
    shifted = AdditiveModel(terms=TERMS).fit(X, z + exposure, offset=exposure)
    plain = AdditiveModel(terms=TERMS).fit(X, z)
    np.testing.assert_allclose(shifted.predict(X, offset=0.0), plain.predict(X), rtol=1e-6, atol=1e-8)
    assert shifted.log_likelihood_ == pytest.approx(plain.log_likelihood_, rel=1e-7)
    assert shifted.variance_components_[-1]["sd"] == pytest.approx(plain.variance_components_[-1]["sd"], rel=1e-6)


def test_successes_and_failures_are_shares_of_trials(tmp_path: Path) -> None:
    X, z, _ = rows()
    rng = np.random.default_rng(2)
    trials = rng.integers(1, 9, len(z))
    yes = rng.binomial(trials, 1 / (1 + np.exp(-z)))
    model = AdditiveModel(loss="binomial", terms=["(1 | x1)"]).fit(X, np.column_stack([yes, trials - yes]))
    shares = AdditiveModel(loss="binomial", terms=["(1 | x1)"]).fit(X, yes / trials, sample_weight=trials)
    np.testing.assert_allclose(model.predict(X), shares.predict(X), rtol=1e-8)
    assert model.log_likelihood_ == pytest.approx(shares.log_likelihood_, rel=1e-9)
    assert 0 < model.score(X, np.column_stack([yes, trials - yes])) < 1
    adaline.save(model, tmp_path / "model.adaline")
    loaded = adaline.load(tmp_path / "model.adaline")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert str(loaded.summary()) == str(model.summary())
    assert "chi²" in str(model.summary())


@pytest.mark.parametrize("loss", ["poisson", "gamma", NegativeBinomial(shape=3.0)])
def test_intervals_hold_of_means_and_of_new_rows(loss: Any) -> None:
    X, z, _ = rows(600)
    rng = np.random.default_rng(3)
    mean = 4 * np.exp(z)
    drawn = {"poisson": rng.poisson(mean), "gamma": rng.gamma(5.0, mean / 5.0)}
    y = drawn[loss] if isinstance(loss, str) else rng.poisson(rng.gamma(3.0, mean / 3.0))
    model = AdditiveModel(loss=loss, terms=TERMS).fit(X, y)
    band, new = (model.predict(X, interval=kind) for kind in ("confidence", "prediction"))
    np.testing.assert_allclose(band.prediction, model.predict(X))
    assert np.mean((band.lower < mean) & (mean < band.upper)) > 0.9
    assert 0.92 < np.mean((new.lower <= y) & (y <= new.upper)) < 0.995
    unknown = model.predict(np.column_stack([X[:, 0], np.full(len(X), 99)]), interval="confidence")
    assert ((unknown.upper / unknown.lower) > (band.upper / band.lower)).all()
    np.testing.assert_allclose(model.decision_function(X), np.log(model.predict(X)))


def test_without_terms_it_is_a_generalized_linear_model() -> None:
    X, z, _ = rows()
    y = np.random.default_rng(4).poisson(np.exp(z))
    model = AdditiveModel(loss="poisson", criterion="ml", terms=[]).fit(X, y)
    plain = GeneralizedLinear(loss="poisson").fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-8)
    assert model.deviance_ == pytest.approx(plain.deviance_, rel=1e-9)
    assert model.log_likelihood_ == pytest.approx(plain.summary().parts[0].log_likelihood, rel=1e-9)


def test_rows_without_a_fit_are_named_with_a_remedy() -> None:
    X, z, _ = rows()
    counts = np.random.default_rng(5).poisson(np.exp(z))
    with pytest.raises(AdalineError, match=r"-1 at row 3: .* takes counts, zero or more"):
        AdditiveModel(loss="poisson", terms=TERMS).fit(X, np.where(np.arange(300) == 3, -1, counts))
    with pytest.raises(AdalineError, match=r"s\(x0\) grow without bound.*rows of one outcome"):
        AdditiveModel(loss="binomial", terms=["s(x0, bs='cr')"]).fit(X[:, :1], X[:, 0] > 0.3)
    empty = np.column_stack([X[:, 0], X[:, 1] == 4])
    with pytest.raises(AdalineError, match=r"x1 grow without bound.*targets are all zero.*\(1 \| group\)"):
        AdditiveModel(loss="poisson", terms=["s(x0, bs='cr')"]).fit(empty, np.where(empty[:, 1] == 1, 0, counts))
    kept = AdditiveModel(loss="poisson", terms=TERMS).fit(X, np.where(X[:, 1] == 4, 0, counts))
    assert np.isfinite(kept.random_effects_["x1"]["intercept"]).all()
    with pytest.raises(AdalineError, match="has one level"):
        AdditiveModel(loss="poisson", terms=["(1 | x1)"]).fit(np.column_stack([X[:, 0], np.ones(300)]), counts)
    for settings, message in (
        ({"loss": "huber"}, "is no likelihood"),
        ({"loss": "negative_binomial"}, r"losses.NegativeBinomial\(shape=2.0\)"),
        ({"loss": "poisson", "dispersion": 2.0}, "dispersion of poisson is 1"),
        ({"loss": "poisson", "criterion": "gcv"}, "criterion='gcv' is for"),
        ({"loss": "poisson", "link": "logit"}, "is not for poisson"),
    ):
        with pytest.raises(AdalineError, match=message):
            AdditiveModel(**settings, terms=TERMS).fit(X, counts)


@pytest.mark.parametrize(("weights", "statistic"), [([1.0], 0.3), ([2.0] * 3, 9.0), ([1.0] * 20, 50.0)])
def test_tails_of_quadratic_forms_are_those_of_chi_squared(weights: list[float], statistic: float) -> None:
    from scipy.stats import chi2

    expected = chi2.sf(statistic / weights[0], len(weights))
    assert tail_against_errors(np.array(weights), statistic, math.inf) == pytest.approx(expected, rel=1e-9)
