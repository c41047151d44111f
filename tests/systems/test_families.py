"""GeneralizedLinear for every family and link against R (tests/data/glm), its offsets, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import sparse

from adaline import (
    ElasticNet,
    GeneralizedLinear,
    LinearRegression,
    anova,
    compare,
    effects,
    load,
    open_table,
    save,
    select,
)
from adaline.cli import main
from adaline.errors import AdalineError, AdalineWarning, ConvergenceWarning, InvalidData, InvalidParameter
from adaline.links import Power
from adaline.losses import Linked, NegativeBinomial, Tweedie, loss_of
from adaline.results import Status
from adaline.storage import export_onnx
from tests.storage.graphs import run

DATA = Path(__file__).parents[1] / "data" / "glm"
ROWS = pd.read_csv(DATA / "rows.csv")
R = pd.read_csv(DATA / "glm.csv", comment="#")
X, OFFSET, WEIGHT = ROWS[["x1", "x2"]].to_numpy(), ROWS["o"].to_numpy(), ROWS["w"].to_numpy()


def target(family: str) -> Any:
    columns = {"poisson": "count", "quasipoisson": "count", "negative_binomial": "count", "tweedie": "zero"}
    return ROWS[["yes", "no"] if family == "binomial" else columns.get(family, "amount")].to_numpy(dtype=float)


def machine(row: Any) -> GeneralizedLinear:
    family = {"tweedie": Tweedie(1.6), "negative_binomial": NegativeBinomial(2.5)}.get(row.family, row.family)
    link = Power(1 / 3) if row.link == "power" else row.link
    if row.family == "quasipoisson":
        return GeneralizedLinear(loss="poisson", link=link, dispersion="pearson")
    return GeneralizedLinear(loss=family, link=link)


@pytest.mark.parametrize("row", list(R.itertuples()), ids=lambda row: f"{row.family}-{row.link}-{row.offset:g}")
def test_every_family_and_link_is_that_of_r(row: Any) -> None:
    offset = OFFSET * row.offset if row.offset else None
    model = machine(row).fit(X, target(row.family), sample_weight=WEIGHT, offset=offset)
    found = model.summary().to_dict()
    assert model.certificate_.status is Status.SOLVED
    ours = [one[name] for name in ("estimate", "std_error") for one in found["coefficients"]]
    np.testing.assert_allclose(ours, [row.w0, row.w1, row.w2, row.e0, row.e1, row.e2], rtol=1e-8, atol=1e-9)
    numbers = {name: getattr(row, name) for name in ("deviance", "null_deviance", "dispersion")}
    if row.family != "negative_binomial" and not np.isnan(row.log_likelihood):  # MASS leaves out a constant there
        numbers |= {"aic": row.aic, "log_likelihood": row.log_likelihood}
    for name, theirs in numbers.items():
        np.testing.assert_allclose(found[name], theirs, rtol=1e-8, err_msg=name)
    assert model.deviance_ == found["deviance"]
    assert model.dispersion_ == found["dispersion"]


LIKELY = pd.read_csv(DATA / "likely.csv", comment="#", index_col="what")
AMOUNTS = pd.read_csv(DATA / "amounts.csv")


def check_likely(model: GeneralizedLinear, theirs: Any, numbers: dict[str, float]) -> None:
    """Compare a model with figures of R, which are those of derivatives by differences."""
    found = model.summary().to_dict()
    np.testing.assert_allclose([model.intercept_, *model.coef_], [theirs.w0, theirs.w1, theirs.w2], rtol=1e-6)
    assert found["log_likelihood"] == pytest.approx(theirs.log_likelihood, rel=1e-11)
    for name, value in numbers.items():
        assert found[name] == pytest.approx(value, rel=1e-6), name


def test_the_most_likely_dispersion_of_gamma_amounts_is_that_of_mass() -> None:
    theirs = LIKELY.loc["shape"]
    model = GeneralizedLinear("gamma", dispersion="ml").fit(X, target("gamma"), sample_weight=WEIGHT)
    shape, error = theirs.value, theirs.e0
    check_likely(model, theirs, {"dispersion": 1 / shape, "dispersion_error": error / shape**2})
    assert f"shape {shape:.6g}, standard error {error:.6g}" in str(model.summary())
    one, other = (
        GeneralizedLinear("gamma", dispersion="ml", weights="precision").fit(
            X, target("gamma"), sample_weight=WEIGHT * unit
        )
        for unit in (1.0, 8.0)
    )
    assert other.dispersion_ == pytest.approx(8 * one.dispersion_)
    assert other.summary().parts[0].log_likelihood == pytest.approx(one.summary().parts[0].log_likelihood)


def test_the_most_likely_dispersion_of_compound_amounts_is_that_of_mgcv() -> None:
    theirs = LIKELY.loc["dispersion"]
    model = GeneralizedLinear(Tweedie(1.6), dispersion="ml").fit(AMOUNTS[["x1", "x2"]], AMOUNTS["amount"])
    check_likely(model, theirs, {"dispersion": theirs.value, "dispersion_error": theirs.e0})


@pytest.mark.parametrize("family", ["gaussian", "inverse_gaussian"])
def test_the_most_likely_dispersion_is_the_mean_deviance_where_that_is_exact(family: str) -> None:
    model = GeneralizedLinear(family, link="log", dispersion="ml").fit(X, target(family), sample_weight=WEIGHT)
    assert model.dispersion_ == pytest.approx(model.deviance_ / WEIGHT.sum(), rel=1e-12)
    plain = GeneralizedLinear(family, link="log").fit(X, target(family), sample_weight=WEIGHT).summary().to_dict()
    assert model.summary().to_dict()["aic"] == pytest.approx(plain["aic"], rel=1e-12)


def test_a_dispersion_of_maximum_likelihood_at_the_edges() -> None:
    exact = GeneralizedLinear("gamma", dispersion="ml").fit(X, np.exp(X[:, 0])).summary()
    assert "shape" not in str(exact)
    assert "the fit is exact to rounding" in str(exact)
    for loss in ("poisson", "binomial", "negative_binomial", "huber", Tweedie(2.5)):
        with pytest.raises(InvalidParameter, match="dispersion='ml' is for gaussian, gamma"):
            GeneralizedLinear(loss, dispersion="ml").fit(X, np.ones(len(X)))


def test_the_most_likely_power_is_that_of_densities_of_mgcv(tmp_path: Path) -> None:
    """R's errors are those of all parameters together, whose observed information is not quite orthogonal."""
    theirs = LIKELY.loc["power"]
    model = GeneralizedLinear(Tweedie("auto")).fit(AMOUNTS[["x1", "x2"]], AMOUNTS["amount"])
    check_likely(model, theirs, {"dispersion": theirs.value, "power": theirs.power})
    found = model.summary()
    assert found.parts[0].aic == pytest.approx(2 * 5 - 2 * theirs.log_likelihood)
    np.testing.assert_allclose(
        [found.parts[0].dispersion_error, found.parts[0].power_error], theirs[["e0", "e1"]], 1e-3
    )
    assert f"power {model.power_:.6g}, standard error {found.parts[0].power_error:.6g}" in str(found)
    save(model, tmp_path / "model")
    robust = {"errors": "HC0", "X": AMOUNTS[["x1", "x2"]], "y": AMOUNTS["amount"]}
    assert str(load(tmp_path / "model").summary(**robust)) == str(model.summary(**robust))
    fixed = GeneralizedLinear(Tweedie(model.power_), dispersion="ml").fit(AMOUNTS[["x1", "x2"]], AMOUNTS["amount"])
    assert fixed.dispersion_ == pytest.approx(model.dispersion_, rel=1e-6)
    assert fixed.summary().parts[0].null_log_likelihood < found.parts[0].null_log_likelihood


def test_powers_count_frequencies_and_not_the_unit_of_precisions() -> None:
    x, y = AMOUNTS[["x1", "x2"]].to_numpy(), AMOUNTS["amount"].to_numpy()
    weight = np.arange(len(y)) % 3.0
    auto = {"loss": Tweedie("auto"), "link": "log"}
    often = GeneralizedLinear(**auto).fit(np.repeat(x, weight.astype(int), axis=0), np.repeat(y, weight.astype(int)))
    counted = GeneralizedLinear(**auto).fit(x, y, sample_weight=weight)
    assert (counted.power_, counted.dispersion_) == pytest.approx((often.power_, often.dispersion_), rel=1e-6)
    one, other = (
        GeneralizedLinear(**auto, weights="precision").fit(x, y, sample_weight=unit * (1 + weight)) for unit in (1, 8)
    )
    assert (other.power_, other.dispersion_) == pytest.approx((one.power_, 8 * one.dispersion_), rel=1e-6)


def test_powers_at_the_edges() -> None:
    with pytest.warns(AdalineWarning, match="border of the powers, 1.02 to 1.98"):
        model = GeneralizedLinear(Tweedie("auto")).fit(X, target("gamma"))
    assert model.power_ == 1.98
    assert np.isnan(model.summary().parts[0].power_error)
    for power in ("all", True, 0.5, np.nan):
        with pytest.raises(InvalidParameter, match="power must be a number of 1 or more, 0 or 'auto'"):
            Tweedie(power)
    with pytest.raises(InvalidParameter, match="do not estimate the power"):
        GeneralizedLinear(Tweedie("auto"), solver="stochastic").fit(X, target("tweedie"))
    with pytest.raises(InvalidParameter, match="the power of tweedie is not estimated along a path"):
        ElasticNet(loss=Tweedie("auto")).fit(X, target("tweedie"))


def test_the_shape_of_a_negative_binomial_is_that_of_mass() -> None:
    theta, error, *rest = np.loadtxt(DATA / "glm_nb.csv").tolist()
    model = GeneralizedLinear(loss=NegativeBinomial("auto")).fit(X, ROWS["count"], WEIGHT, OFFSET)
    found = model.summary().to_dict()
    ours = [one[name] for name in ("estimate", "std_error") for one in found["coefficients"]]
    ours += [found["deviance"], found["aic"], found["log_likelihood"]]
    np.testing.assert_allclose([model.shape_, found["shape_error"], *ours], [theta, error, *rest], rtol=1e-8)


def test_the_likelihood_of_tweedie_amounts_is_that_of_statsmodels() -> None:
    """At the dispersion deviance / N, as R's AICtweedie; statsmodels takes Wright's function of scipy."""
    y = target("tweedie")
    model = GeneralizedLinear(loss=Tweedie(1.6)).fit(X, y, WEIGHT, OFFSET)
    found, n = model.summary().to_dict(), WEIGHT.sum()
    family = sm.families.Tweedie(var_power=1.6, link=sm.families.links.Log())
    mean = model.predict(X, offset=OFFSET)
    likely = family.loglike(y, mean, freq_weights=WEIGHT, scale=model.deviance_ / n)
    np.testing.assert_allclose(found["log_likelihood"], likely, rtol=1e-9)
    np.testing.assert_allclose([found["aic"], found["bic"]], [8 - 2 * likely, 4 * np.log(n) - 2 * likely], rtol=1e-9)
    alone = np.exp(OFFSET) * (WEIGHT @ (y * np.exp(-0.6 * OFFSET))) / (WEIGHT @ np.exp(0.4 * OFFSET))
    null = family.loglike(y, alone, freq_weights=WEIGHT, scale=found["null_deviance"] / n)
    np.testing.assert_allclose(found["null_log_likelihood"], null, rtol=1e-9)
    assert np.isnan(GeneralizedLinear(loss=Tweedie(2.5)).fit(X, target("gamma")).summary().to_dict()["aic"])


OFFSETS = {
    "gaussian": "identity",
    "poisson": "log",
    "gamma": "inverse",
    "inverse_gaussian": "log",
    "negative_binomial": "sqrt",
    "binomial": "probit",
    "tweedie": "log",
}


@pytest.mark.parametrize(("family", "link"), OFFSETS.items())
def test_an_offset_that_is_a_column_times_a_number_moves_its_coefficient(family: str, link: str) -> None:
    """In memory and sparse, with weights; a constant offset moves the intercept."""
    y, known = target(family), {"offset": 0.02 * X[:, 0] + 0.01}
    plain, moved = (
        GeneralizedLinear(loss=family, link=link).fit(X, y, WEIGHT),
        GeneralizedLinear(loss=family, link=link),
    )
    for rows in (X, sparse.csr_array(X)):
        moved.fit(rows, y, WEIGHT, **known)
        np.testing.assert_allclose(moved.coef_, plain.coef_ - [0.02, 0.0], rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(moved.intercept_, plain.intercept_ - 0.01, rtol=1e-8, atol=1e-10)
        assert moved.deviance_ == pytest.approx(plain.deviance_, rel=1e-10)
        np.testing.assert_allclose(moved.predict(rows, **known), plain.predict(X), rtol=1e-9)
        assert moved.score(rows, y, WEIGHT, **known) == pytest.approx(plain.score(X, y, WEIGHT))


def test_an_estimated_dispersion_is_judged_by_f_under_its_own_name() -> None:
    found = GeneralizedLinear(loss="squared").fit(X, target("gamma")).summary().to_dict()
    linear = LinearRegression().fit(X, target("gamma")).summary().to_dict()
    assert not {"chi2", "chi2_p_value"} & ({*found} | {*found["targets"][0]})
    for name in ("f_statistic", "f_p_value", "f_freedom", "model_freedom"):
        assert found[name] == pytest.approx(linear[name], rel=1e-8), name
    known = GeneralizedLinear(loss="poisson").fit(X, target("poisson")).summary().to_dict()
    assert "f_p_value" not in known
    assert known["chi2_p_value"] < 1


@pytest.mark.parametrize("streamed", [False, True])
def test_tables_bring_their_offset(streamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if streamed:
        monkeypatch.setattr("adaline.sources.tables.source.KEPT", 10)
    frame = ROWS.assign(days=np.exp(ROWS["o"]), kind=np.where(ROWS["x2"] > 0, "b", "a"))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    coded = np.column_stack([ROWS["x1"], frame["kind"] == "b"]).astype(float)
    plain = GeneralizedLinear(loss="poisson").fit(coded, frame["count"], WEIGHT, exposure=frame["days"])
    wanted = plain.predict(coded, exposure=frame["days"])
    read = partial(open_table, tmp_path / "rows.csv", target="count")
    for offset in ("o", "log(days)"):
        table = read(features=["x1", "kind"], weight="w", offset=offset)
        assert table.streamed is streamed
        model = GeneralizedLinear(loss="poisson").fit(table)
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-10)
        save(model, tmp_path / "model")
        for one in (model, load(tmp_path / "model")):
            for rows in (table, frame):
                np.testing.assert_allclose(one.predict(rows), wanted, rtol=1e-10)
            assert one.score(table) == pytest.approx(plain.score(coded, frame["count"], WEIGHT, OFFSET))
            np.testing.assert_allclose(one.predict(frame, offset=0.0), plain.predict(coded, offset=0), rtol=1e-10)
    trials = open_table(tmp_path / "rows.csv", target=["yes", "no"], features=["x1", "x2"], offset="o")
    binomial = GeneralizedLinear(loss="binomial", link="cloglog").fit(trials)
    same = GeneralizedLinear(loss="binomial", link="cloglog").fit(X, target("binomial"), offset=OFFSET)
    np.testing.assert_allclose(binomial.coef_, same.coef_, rtol=1e-9)
    assert binomial.predict(trials).shape == (len(X),)
    refusals: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: model.predict(frame[["x1", "kind"]]), InvalidData, "the offset of the model needs it"),
        (lambda: LinearRegression().fit(table), InvalidParameter, "LinearRegression takes no offset"),
        (lambda: model.fit(table, offset=OFFSET), InvalidParameter, "brings its own offset"),
        (lambda: read(offset="p"), InvalidParameter, r"offset: .* has no column 'p'"),
        (lambda: read(offset="kind"), InvalidData, "the offset needs numbers, and column 'kind'"),
    ]
    for call, error, words in refusals:
        with pytest.raises(error, match=words):
            call()


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog"])
@pytest.mark.parametrize("shape", ["shares", "counts", "offset"])
def test_separated_classes_have_no_maximum(link: str, shape: str) -> None:
    y = (X[:, 0] > 0.5).astype(float)
    targets = np.column_stack([2 * y, 3 * (1 - y)]) if shape == "counts" else y
    with pytest.warns(AdalineWarning, match="weights under a tiny penalty"):
        model = GeneralizedLinear(loss="binomial", link=link).fit(X, targets, offset=0.1 if shape == "offset" else None)
    assert model.certificate_.status in (Status.SEPARATED, Status.NO_MINIMUM)
    assert model.summary().to_dict()["aic"] == pytest.approx(6, abs=0.1)  # of three coefficients, and no deviance


@pytest.mark.parametrize(("family", "link"), [*OFFSETS.items(), ("poisson", "identity"), ("gamma", "log")])
def test_l1_holds_the_optimality_conditions(family: str, link: str) -> None:
    """|dF/dw_j| <= l1 where w_j is zero, and = l1 elsewhere."""
    noise = np.column_stack([X, np.random.default_rng(0).normal(size=(len(X), 2))])
    y = target(family)
    own = NegativeBinomial(2.0) if family == "negative_binomial" else family
    model = GeneralizedLinear(loss=own, link=link, l1=10.0).fit(noise, y)
    loss = loss_of(own, link=link)
    t = y if y.ndim == 2 else y[:, None]
    slope = loss.slope(noise @ model.coef_[:, None] + model.intercept_, t)[:, 0]
    pull = -slope @ noise
    np.testing.assert_allclose(slope.sum(), 0, atol=1e-4)
    np.testing.assert_allclose(pull[model.coef_ != 0], 10.0 * np.sign(model.coef_[model.coef_ != 0]), rtol=1e-4)
    assert (np.abs(pull) <= 10.0 + 1e-4).all()
    assert (model.coef_ == 0).any()
    assert np.isinf(model.certificate_.gap) is not loss.convex


def test_dispersion_and_tests() -> None:
    y = target("poisson")
    models = {name: GeneralizedLinear(loss="poisson", dispersion=name).fit(X, y) for name in (None, "deviance", 2.0)}
    errors = {name: model.summary().to_dict()["coefficients"][1]["std_error"] for name, model in models.items()}
    assert errors[2.0] == pytest.approx(errors[None] * np.sqrt(2))
    assert models["deviance"].dispersion_ == pytest.approx(models[None].deviance_ / 37)
    known, estimated = models[None].test("x0 = 0"), models["deviance"].test("x0 = 0, x1 = 0")
    z = models[None].summary().to_dict()["coefficients"][1]
    assert known.statistic == pytest.approx(z["statistic"] ** 2)
    assert known.p_value == pytest.approx(z["p_value"])
    assert "chi²" in str(known)
    assert "F " in str(estimated)
    assert estimated.freedom == (2, 37.0)
    assert np.isnan(models["deviance"].summary().to_dict()["aic"])
    assert "quasi-likelihood" in str(models["deviance"].summary())


def test_starts_are_feasible_or_asked_for() -> None:
    up = np.abs(X) + 0.1
    model = GeneralizedLinear(loss="poisson", link="identity", fit_intercept=False).fit(up, target("poisson"))
    assert model.certificate_.status is Status.SOLVED
    both = np.concatenate([up, -up])
    y = np.concatenate([target("poisson")] * 2)
    with pytest.raises(InvalidData, match="give such weights as init, or use link='log'"):
        GeneralizedLinear(loss="poisson", link="identity", fit_intercept=False).fit(both, y)
    with pytest.raises(InvalidData, match="gives means above zero"):
        GeneralizedLinear(loss="gaussian", link="inverse").fit(X, -target("gamma"))
    with pytest.warns(AdalineWarning, match="means go to the end of the range that link='identity' allows"):
        GeneralizedLinear(loss="poisson", link="identity").fit(np.arange(6.0)[:, None], [0, 0, 0, 1, 2, 9])
    with pytest.warns(AdalineWarning, match="use loss='poisson'"):
        GeneralizedLinear(loss=NegativeBinomial("auto")).fit(X, 3.0 + np.arange(len(X)) % 2)


TWO = np.column_stack([OFFSET, OFFSET])


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        ({"loss": "poisson", "activation": "identity"}, {}, "link of its own.*choose its link by link="),
        ({"loss": "poisson", "activation": "exp", "link": "log"}, {}, "Give one of them"),
        ({"loss": "huber", "link": "log"}, {}, "link= is for likelihoods"),
        ({"loss": "poisson", "link": "logg"}, {}, "link must be None, 'log'"),
        ({"loss": "poisson", "link": "probit"}, {}, "not for poisson: use log"),
        ({"loss": "binomial", "link": "sqrt"}, {}, "not for binomial: use logit"),
        ({"loss": "poisson", "dispersion": "chi2"}, {}, "dispersion must be None, 'pearson'"),
        ({"loss": "poisson", "dispersion": 0.0}, {}, "dispersion must be"),
        ({"loss": "poisson", "l1": 1.0, "solver": "gradient"}, {}, "l1 is not for solver='gradient'"),
        ({"loss": "poisson"}, {"offset": [0.0, 1.0]}, "offset has shape"),
        ({"loss": "poisson"}, {"offset": ["a"] * 40}, "offset must be numbers"),
        ({"loss": "poisson"}, {"offset": [np.nan] + [0.0] * 39}, "offset is nan at row 0"),
        ({"loss": "poisson"}, {"exposure": [1.0] + [0.0] * 39}, "exposure is 0 at row 1: give positive"),
        ({"loss": "softmax"}, {"offset": 1.0}, "softmax has several"),
        ({"loss": "negative_binomial", "solver": "stochastic"}, {}, "do not estimate the shape"),
        ({"loss": "poisson"}, {"offset": TWO}, r"must be a number or \(40,\), one for each row"),
        ({}, {"offset": TWO, "y": ROWS[["count", "amount", "zero"]]}, r"or \(40, 3\), one for each target"),
        ({"loss": "binomial"}, {"offset": TWO, "y": target("binomial")}, "successes and failures are one target"),
        ({"loss": "softmax"}, {"offset": OFFSET, "y": ROWS["w"] - 1}, "softmax has several"),
    ],
)
def test_what_means_nothing_is_refused(settings: dict[str, Any], given: dict[str, Any], message: str) -> None:
    with pytest.raises(AdalineError, match=message):
        GeneralizedLinear(**settings).fit(X, **{"y": target("poisson"), **given})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Tweedie(0.5), "power must be a number of 1 or more, 0 or 'auto'"),
        (lambda: NegativeBinomial(-1.0), "shape must be a positive number or 'auto'"),
        (lambda: Power(0.0), "any number but zero"),
        (lambda: Linked(Tweedie(1), "log"), "takes a family and a link"),
    ],
)
def test_families_and_links_refuse_numbers_that_mean_nothing(make: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        make()


def test_a_model_with_an_offset_predicts_with_one_and_others_have_no_summary(tmp_path: Path) -> None:
    model = GeneralizedLinear(loss="poisson").fit(X, target("poisson"), offset=OFFSET)
    with pytest.raises(InvalidParameter, match=r"was fitted with an offset.*offset=0"):
        model.predict(X)
    pytest.importorskip("onnx")
    export_onnx(model, tmp_path / "model.onnx")
    found = run(tmp_path / "model.onnx", X, "float64", OFFSET)["prediction"]
    np.testing.assert_allclose(found, model.predict(X, offset=OFFSET), rtol=1e-12)
    other = GeneralizedLinear(loss="huber").fit(X, target("gamma"))
    assert not hasattr(other, "summary")
    with pytest.raises(AttributeError, match="has no attribute 'summary'") as refusal:
        other.summary()
    assert "needs a likelihood" in str(refusal.value.__cause__)
    for loss in (NegativeBinomial("auto"), Linked(Tweedie(1.5), Power(0.5)), Tweedie(1.2)):
        fitted = GeneralizedLinear(loss=loss).fit(X, target("poisson"))
        save(fitted, tmp_path / "model")
        again = load(tmp_path / "model")
        assert again.loss == loss
        assert str(again.summary()) == str(fitted.summary())


def test_cross_validation_holds_out_rows_with_their_offset() -> None:
    frame = ROWS[["x1", "x2", "count"]].assign(part=0.5 * ROWS["x1"])
    settings: dict[str, Any] = {"parameters": {"fit_intercept": [True, False]}, "folds": 3}
    tables = (open_table(frame, target="count", features=["x1", "x2"], **kind) for kind in ({}, {"offset": "part"}))
    plain, moved = (select(GeneralizedLinear(loss="poisson"), table, **settings) for table in tables)
    assert moved.table[0]["error"] == pytest.approx(plain.table[0]["error"], rel=1e-8)
    assert moved.best._with_offset


@pytest.mark.parametrize("weighted", [False, True])
def test_systems_that_take_an_offset_are_compared_with_it(weighted: bool, tmp_path: Path) -> None:
    """An offset that is a column times a number moves its coefficient and nothing else; the others are named."""
    frame = ROWS[["x1", "x2", "count", "w"]].assign(part=0.5 * ROWS["x1"])
    frame["count"] += 30 * (frame["count"] > 9)  # more different numbers than labels would have
    given = {"target": "count", "folds": 4, "task": "regression", **({"weight": "w"} if weighted else {})}
    kept = [name for name in ("x1", "x2", "count", "w") if weighted or name != "w"]
    plain = compare(frame[kept], systems=["GeneralizedLinear"], **given)
    moved = compare(frame[[*kept, "part"]], offset="part", **given)
    found = {result.system: result for result in moved.results}
    assert set(found) == {"GeneralizedLinear", "ElasticNet"}
    one, other = plain.results[0], found["GeneralizedLinear"]
    np.testing.assert_allclose(other.fold_errors, one.fold_errors, rtol=1e-7)
    np.testing.assert_allclose(other.predicted, one.predicted, rtol=1e-7)
    np.testing.assert_allclose(other.model.coef_, one.model.coef_ - [0.5, 0.0], rtol=1e-6, atol=1e-8)
    assert any("take no offset: " in note and "Ridge" in note for note in moved.notes)
    assert {column["name"]: column["role"] for column in moved.data.columns}["part"] == "offset"
    assert moved.fit()._with_offset
    assert moved.report(tmp_path / "report.html").stat().st_size > 10_000
    with pytest.raises(InvalidParameter, match="for labels takes an offset"):
        compare(frame.assign(kind=np.where(ROWS["x1"] > 0.5, "a", "b")), target="kind", offset="part")
    with pytest.raises(InvalidParameter, match="takes an offset: ElasticNet is compared on numbers, and Generalized"):
        compare(frame.assign(level=ROWS["x2"]), target="level", offset="part", systems=["Ridge"])


def test_the_command_line_fits_and_predicts_with_an_offset(tmp_path: Path) -> None:
    rows, model = tmp_path / "rows.csv", tmp_path / "model"
    ROWS[["x1", "count"]].assign(days=np.exp(ROWS["o"])).to_csv(rows, index=False)
    options = ["-t", "count", "--offset", "log(days)", "-s", "GeneralizedLinear", "--set", "loss=poisson"]
    assert main(["fit", str(rows), *options, "--output", str(model)]) == 0
    assert main(["predict", str(model), str(rows), "--output", str(tmp_path / "found.csv")]) == 0
    plain = GeneralizedLinear(loss="poisson").fit(X[:, :1], ROWS["count"], offset=OFFSET)
    found = pd.read_csv(tmp_path / "found.csv")["prediction"]
    np.testing.assert_allclose(found, plain.predict(X[:, :1], offset=OFFSET), rtol=1e-9)


@pytest.mark.parametrize("loss", ["gaussian", "poisson", "negative_binomial", "gamma"])
def test_a_constant_alone_is_no_penalised_fit(loss: str) -> None:
    small, large = (
        GeneralizedLinear(loss=loss).fit(open_table(ROWS.assign(y=ROWS.index % 5 + 1.0, x=ROWS.index % 7), formula=f))
        for f in ("y ~ 1", "y ~ x")
    )
    assert np.isfinite(small.summary().to_dict()["aic"])
    found = anova(small, large)
    assert found.p_value[1] > 0
    assert small.deviance_ == pytest.approx(small.summary().to_dict()["null_deviance"], rel=1e-9)


@pytest.mark.parametrize(
    ("family", "link", "y"),
    [("gamma", "inverse", [1.0, 0.5, 1 / 3 + 0.02, 0.26]), ("poisson", "sqrt", [1, 4, 9, 16.5])],
)
def test_an_output_outside_the_link_has_no_mean(family: str, link: str, y: Any) -> None:
    """It is refused, and an interval that reaches it ends at the border, where the mean is 0 or infinite."""
    model = GeneralizedLinear(loss=family, link=link).fit([[0.0], [1.0], [2.0], [3.0]], y)
    for options in ({}, {"interval": "confidence"}, {"interval": "prediction"}):
        with pytest.raises(InvalidData, match=f"row 1 has no mean: .* link='{link}' takes outputs from 0 to inf.* log"):
            model.predict([[1.0], [-5.0]], **options)
    with pytest.raises(InvalidData, match="effects: row 1 has no mean"):
        effects(model, [[1.0], [-5.0]])
    near = [[-0.9 if family == "gamma" else -0.7]]
    found = model.predict(near, interval="confidence", level=0.999)
    lower, upper = found.lower[0], found.upper[0]
    assert upper == np.inf if family == "gamma" else lower == 0.0
    assert lower < found.prediction[0] < upper
    wide = model.predict(near, interval="prediction", level=0.999)
    assert wide.lower[0] <= found.prediction[0] <= wide.upper[0]


@pytest.mark.parametrize("loss", ["gamma", "negative_binomial", NegativeBinomial(2.0), Tweedie(1.4)], ids=str)
@pytest.mark.parametrize("columns", [0, 1, 2])
def test_several_targets_are_one_fit_each(loss: Any, columns: int) -> None:
    """With no offset, one in common or one each; a shape is found for each, and a given one is one."""
    count, amount = ROWS["count"].to_numpy(), ROWS["amount"].to_numpy()
    y = np.column_stack([count + 1.0, 2.0 * amount] if loss == "gamma" else [count, count[::-1] // 2])
    offset = (None, OFFSET, np.column_stack([OFFSET, 0.5 - OFFSET]))[columns]
    known = {} if offset is None else {"offset": offset}
    both = GeneralizedLinear(loss=loss).fit(X, y, WEIGHT, **known)
    rows = {"X": X, "y": y, "sample_weight": WEIGHT, **known}
    tables = [both.summary(), both.summary(errors="HC3", **rows), both.summary(interval="profile", **rows)]
    mean, interval = both.predict(X, **known), both.predict(X, interval="confidence", **known)
    marginal = effects(both, X, **known).to_dict()["effects"]
    for k in range(2):
        own = {} if offset is None else {"offset": offset if columns == 1 else offset[:, k]}
        one = GeneralizedLinear(loss=loss).fit(X, y[:, k], WEIGHT, **own)
        rows = {"X": X, "y": y[:, k], "sample_weight": WEIGHT, **own}
        alone = [one.summary(), one.summary(errors="HC3", **rows), one.summary(interval="profile", **rows)]
        for ours, theirs in zip(tables, alone, strict=True):
            for name in ("estimate", "std_error", "lower", "upper", "deviance", "aic", "dispersion", "shape"):
                a, b = getattr(ours.parts[k], name), getattr(theirs.parts[0], name)
                np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-10, err_msg=name)
        np.testing.assert_allclose(mean[:, k], one.predict(X, **own), rtol=1e-8)
        np.testing.assert_allclose(interval.upper[:, k], one.predict(X, interval="confidence", **own).upper, rtol=1e-8)
        if loss == "negative_binomial":
            assert both.shape_[k] == pytest.approx(one.shape_, rel=1e-8)
        expected = [row["estimate"] for row in effects(one, X, **own).to_dict()["effects"]]
        assert [row["estimate"] for row in marginal if row["target"] == f"y{k}"] == pytest.approx(expected, rel=1e-8)
    if loss == "negative_binomial":  # also of targets that are alike
        assert np.shape(GeneralizedLinear(loss=loss).fit(X, y[:, [0, 0]]).shape_) == (2,)
    elif isinstance(loss, NegativeBinomial):
        assert isinstance(both.shape_, float)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_weights_of_classes_are_repeated_rows_and_those_of_shares_trials(link: str) -> None:
    two, again = (ROWS["count"] > ROWS["count"].median()).to_numpy(float), np.repeat(np.arange(len(X)), WEIGHT)
    model = GeneralizedLinear(loss="binomial", link=link)
    one = model.fit(X, two, WEIGHT).summary(errors="HC1", X=X, y=two, sample_weight=WEIGHT).to_dict()
    other = model.fit(X[again], two[again]).summary(errors="HC1", X=X[again], y=two[again]).to_dict()
    for name in ("bic", "freedom", "null_freedom", "log_likelihood"):
        assert one[name] == pytest.approx(other[name], rel=1e-10), name
    for mine, theirs in zip(one["coefficients"], other["coefficients"], strict=True):
        assert mine["std_error"] == pytest.approx(theirs["std_error"], rel=1e-8)
    trials, counts = (ROWS["yes"] + ROWS["no"]).to_numpy(), target("binomial")
    names = ["deviance", "null_deviance", "dispersion", "freedom", "bic", "aic", "log_likelihood"]
    for dispersion, equal in ((None, names), ("pearson", names[:4])):
        model.set_params(dispersion=dispersion)
        of_shares = model.fit(X, counts[:, 0] / trials, trials).summary().to_dict()
        score = model.score(X, counts[:, 0] / trials, trials)
        of_counts = model.fit(X, counts).summary().to_dict()
        assert model.score(X, counts) == pytest.approx(score)
        for name in equal:
            assert of_shares[name] == pytest.approx(of_counts[name], rel=1e-9), name


def test_without_an_intercept_a_link_may_have_no_null_model() -> None:
    rows, y = np.column_stack([np.ones(len(X)), X[:, 0]]), target("gamma")
    full = GeneralizedLinear(loss="gamma", link="inverse", fit_intercept=False).fit(rows, y)
    small = GeneralizedLinear(loss="gamma", link="inverse", fit_intercept=False).fit(rows[:, :1], y)
    found = full.summary().to_dict()
    assert all(np.isnan(found[name]) for name in ("null_deviance", "f_statistic", "deviance_explained"))
    robust = full.with_errors("HC0", rows, y)
    assert np.isnan(robust.summary().to_dict()["null_deviance"])
    assert robust.summary().to_dict()["chi2"] == pytest.approx(robust.test("x0 = 0, x1 = 0").chi2)
    other = GeneralizedLinear(loss="gamma", link="inverse").fit(rows[:, 1:], y)
    assert full.deviance_ == pytest.approx(other.deviance_)
    assert "nan" not in str(anova(small, full)).splitlines()[-1]


def test_a_large_shape_is_found_in_few_passes_or_said_to_be_open(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 2))
    y = rng.poisson(np.exp(4 + rows @ [0.3, -0.2]) * rng.gamma(1000.0, 1e-3, 2000))
    model = GeneralizedLinear(loss="negative_binomial").fit(rows, y)
    assert model.certificate_.status is Status.SOLVED
    assert 100 < model.shape_ < 1e5
    assert model.certificate_.passes < 100
    near = [
        GeneralizedLinear(loss=NegativeBinomial(model.shape_ * (1 + step))).fit(rows, y).summary().to_dict()
        for step in (-1e-3, 0.0, 1e-3)
    ]
    likely = [one["log_likelihood"] for one in near]
    assert likely[1] > max(likely[0], likely[2])
    monkeypatch.setattr("adaline.fits.family_parameter.MOST_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match="the shape of the family has not settled"):
        model.fit(rows, y)
    assert model.certificate_.status is Status.NOT_CONVERGED


WAYS: list[dict[str, Any]] = [
    {"solver": "lbfgs"},
    {"solver": "newton-cg"},
    {"l1": 0.5},
    {"penalty": 2.0},
    {"solver": "gradient", "epochs": 3},
    {"solver": "stochastic", "epochs": 3, "rate": 0.01},
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_offset_is_part_of_every_way_to_fit() -> None:
    """Steps of every solver are those to targets without it; stochastic steps of counts are those written by hand."""
    y = ROWS["amount"].to_numpy()
    for way in WAYS:
        moved, plain = (GeneralizedLinear(**way).fit(X, t, WEIGHT, o) for t, o in ((y, OFFSET), (y - OFFSET, None)))
        np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-9, atol=1e-12)
    w = np.zeros(3)
    for row, t, o in zip(np.column_stack([np.ones(len(X)), X]), ROWS["count"], OFFSET, strict=True):
        w -= 0.01 * (np.exp(w @ row + o) - t) * row
    one = GeneralizedLinear(loss="poisson", solver="stochastic", rate=0.01, epochs=1, init=np.zeros(3))
    one.fit(X, ROWS["count"], offset=OFFSET)
    np.testing.assert_allclose([one.intercept_, *one.coef_], w, rtol=1e-12)


def test_a_power_is_estimated_on_arrays_of_other_packages() -> None:
    xp = pytest.importorskip("array_api_strict")
    family, counts = Tweedie(power="auto"), ROWS["count"].to_numpy(float)
    theirs = GeneralizedLinear(family).fit(xp.asarray(X), xp.asarray(counts))
    ours = GeneralizedLinear(family).fit(X, counts)
    np.testing.assert_allclose(np.asarray(theirs.coef_), ours.coef_, rtol=1e-6)
