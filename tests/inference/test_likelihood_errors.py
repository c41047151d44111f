"""Laws of robust errors, profiles and influence, for every fit of a likelihood, and what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import optimize, special, stats
from sklearn.base import clone

from adaline import (
    GeneralizedLinear,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    RobustRegression,
    anova,
    open_table,
)
from adaline.errors import AdalineError, InvalidData, InvalidParameter, SumsMissing, UnknownLabel
from adaline.inference import likelihood, profile
from adaline.losses import NegativeBinomial
from adaline.solvers.smooth.problem import Evaluation
from tests.inference.against import column

N = 90
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, 2)) * [1.0, 8.0] + [0.0, 4.0]
Z = X @ [0.6, -0.1]
WEIGHT = np.arange(N) % 3
GROUPS = np.arange(N) // 6
TWO = (Z + RNG.logistic(size=N) > 0).astype(int)
THREE = np.digitize(Z + RNG.logistic(size=N), [-1.0, 1.0])
COUNTS = RNG.poisson(np.exp(1.0 + 0.3 * Z))
AMOUNTS = np.exp(0.4 * Z) * RNG.gamma(4.0, 0.25, N)
TRIALS = np.column_stack([RNG.binomial(7, special.expit(Z)), np.full(N, 7)])
TRIALS[:, 1] -= TRIALS[:, 0]

MODELS: dict[str, tuple[Any, Any]] = {
    "least squares": (LinearRegression(), AMOUNTS),
    "logistic": (LogisticRegression(), TWO),
    "no intercept": (LogisticRegression(fit_intercept=False), TWO),
    "balanced": (LogisticRegression(class_weight={0: 2.0, 1: 1.0}), TWO),
    "softmax": (LogisticRegression(), THREE),
    "ordered": (OrdinalRegression(link="probit"), THREE),
    "poisson": (GeneralizedLinear(loss="poisson"), COUNTS),
    "gamma": (GeneralizedLinear(loss="gamma", link="log"), AMOUNTS),
    "trials": (GeneralizedLinear(loss="binomial", link="cloglog"), TRIALS),
}
ERRORS = ("HC1", "HC3", "HC4", "CR1", "CR2", "cluster")


def errors_of(model: Any, kind: str, groups: Any = GROUPS, **rows: Any) -> Any:
    found = model.summary(errors=kind, **rows, **({"groups": groups} if kind[0].lower() == "c" else {})).to_dict()
    assert found["errors"] == kind
    return column(found, "std_error")


LINKS = sm.families.links
KNOWN: dict[str, tuple[Any, Any, Any]] = {
    "poisson": (GeneralizedLinear(loss="poisson"), COUNTS, sm.families.Poisson()),
    "probit": (GeneralizedLinear(loss="binomial", link="probit"), TWO, sm.families.Binomial(LINKS.Probit())),
    "logit": (GeneralizedLinear(loss="binomial"), TWO, sm.families.Binomial()),
    "negative binomial": (
        GeneralizedLinear(loss=NegativeBinomial(2.5)),
        COUNTS,
        sm.families.NegativeBinomial(LINKS.Log(), alpha=0.4),
    ),
    "gamma": (GeneralizedLinear(loss="gamma", link="log"), AMOUNTS, sm.families.Gamma(LINKS.Log())),
    "gaussian": (GeneralizedLinear(loss="gaussian"), AMOUNTS, sm.families.Gaussian()),
}


@pytest.mark.parametrize("name", KNOWN)
def test_how_well_a_family_fits_is_that_of_statsmodels(name: str) -> None:
    kind, y, family = KNOWN[name]
    found = clone(kind).fit(X, y).summary().to_dict()
    theirs = sm.GLM(y, sm.add_constant(X), family=family).fit(tol=1e-14, tol_criterion="params", maxiter=200)
    extra = int(name in ("gamma", "gaussian"))  # dispersions are deviances over N in likelihoods, as in R
    scales = [deviance / N if extra else 1.0 for deviance in (theirs.deviance, theirs.null_deviance)]
    means = (theirs.mu, np.full(N, y.mean()))
    likely, null = (float(family.loglike(y, mu, scale=s)) for mu, s in zip(means, scales, strict=True))
    expected = {
        "deviance": theirs.deviance,
        "null_deviance": theirs.null_deviance,
        "pearson_chi2": theirs.pearson_chi2,
        "dispersion": theirs.scale,
        "freedom": N - 3,
        "null_freedom": N - 1,
        "log_likelihood": likely,
        "null_log_likelihood": null,
        "aic": 2 * (3 + extra) - 2 * likely,
        "bic": np.log(N) * (3 + extra) - 2 * likely,
        "pseudo_r_squared": 1 - likely / null if null < 0 else np.nan,
        "deviance_explained": 1 - theirs.deviance / theirs.null_deviance,
    }
    chi2 = (theirs.null_deviance - theirs.deviance) / theirs.scale
    if extra:
        expected |= {"f_statistic": chi2 / 2, "f_p_value": stats.f.sf(chi2 / 2, 2, N - 3), "model_freedom": 2}
    else:
        expected |= {"chi2": chi2, "chi2_p_value": stats.chi2.sf(chi2, 2), "chi2_freedom": 2}
    for figure, value in expected.items():
        assert found[figure] == pytest.approx(value, rel=1e-8, nan_ok=True), figure


@pytest.mark.parametrize("name", MODELS)
def test_weights_are_repetitions_and_units_do_not_matter(name: str) -> None:
    kind, y = MODELS[name]
    rows = {"X": X, "y": y, "sample_weight": WEIGHT.astype(float)}
    again = {"X": np.repeat(X, WEIGHT, axis=0), "y": np.repeat(y, WEIGHT, axis=0)}
    scaled = {"X": X * [4.0, 0.125], "y": y}
    weighted, repeated, plain, other = (clone(kind).fit(**one) for one in (rows, again, {"X": X, "y": y}, scaled))
    for errors in ERRORS:
        mine = errors_of(weighted, errors, **rows)
        theirs = errors_of(repeated, errors, np.repeat(GROUPS, WEIGHT), **again)
        assert mine == pytest.approx(theirs, rel=1e-8), errors
        one, two = errors_of(plain, errors, X=X, y=y), errors_of(other, errors, **scaled)
        slopes = np.isin([row["name"] for row in plain.summary().to_dict()["coefficients"]], ["x0", "x1"])
        factor = np.ones(len(one))
        factor[slopes] = np.tile([4.0, 0.125], slopes.sum() // 2)
        assert two * factor == pytest.approx(one, rel=1e-9), errors


def test_rows_are_recognised_whatever_the_units_of_the_deviance() -> None:
    for unit in (1e-12, 1.0, 1e12):
        model = GeneralizedLinear(loss="inverse_gaussian").fit(X, unit * AMOUNTS)
        assert np.isfinite(errors_of(model, "HC0", X=X, y=unit * AMOUNTS)).all()
        with pytest.raises(InvalidData, match="not the rows that were fitted: they have another likelihood"):
            model.summary(errors="HC0", X=X[::-1], y=unit * AMOUNTS)


@pytest.mark.parametrize("name", MODELS)
def test_rows_are_recognised_in_any_order(name: str) -> None:
    kind, y = MODELS[name]
    model, turned = clone(kind).fit(X, y), np.arange(N)[::-1]
    found, expected = (errors_of(model, "HC3", X=X[order], y=y[order]) for order in (turned, slice(None)))
    assert found == pytest.approx(expected, rel=1e-9)
    with pytest.raises(InvalidData, match="not the rows that were fitted: their weight"):
        model.summary(errors="HC0", X=X[1:], y=y[1:])
    with pytest.raises(InvalidData, match="not the rows that were fitted"):
        model.summary(errors="HC3", X=X[turned], y=y)
    with pytest.raises(SumsMissing, match="give X and y again"):
        model.summary(errors="HC0")
    with pytest.raises(AdalineError):
        model.summary(errors="HC0", X=np.where(X == X[2, 1], np.nan, X), y=y)


@pytest.mark.parametrize("name", ["logistic", "poisson"])
def test_streamed_rows_are_those_of_memory(name: str, tmp_path: Path) -> None:
    kind, y = MODELS[name]
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}).to_csv(tmp_path / "t.csv", index=False)
    table = open_table(str(tmp_path / "t.csv"), target="y")
    streamed, plain = clone(kind).fit(table), clone(kind).fit(X, y)
    for errors in ("HC3", "cluster"):
        assert errors_of(streamed, errors, X=table) == pytest.approx(errors_of(plain, errors, X=X, y=y), rel=1e-8)
    mine, theirs = streamed.influence(table), plain.influence(X, y)
    assert mine.cooks_distance == pytest.approx(theirs.cooks_distance, rel=1e-6)


def test_softmax_is_that_of_statsmodels() -> None:
    exact = {"disp": 0, "method": "newton", "tol": 1e-14, "maxiter": 100}
    model, rows = LogisticRegression().fit(X, THREE), {"X": X, "y": THREE}
    theirs = sm.MNLogit(THREE, sm.add_constant(X)).fit(cov_type="HC0", **exact)
    assert errors_of(model, "HC0", **rows).reshape(2, -1).T == pytest.approx(theirs.bse, rel=1e-9)
    test, matrix = model.test("x0 = 0, x1 = 0", errors="HC0", **rows), np.eye(6)[[1, 2, 4, 5]]
    known = theirs.wald_test(matrix, scalar=True, use_f=False)
    assert test.chi2 == pytest.approx(float(known.statistic), rel=1e-8)
    assert "(HC0 errors)" in str(test)


@pytest.mark.parametrize("name", MODELS)
def test_student_judges_on_request(name: str) -> None:
    kind, y = MODELS[name]
    model, rows = clone(kind).fit(X, y), {"errors": "HC1", "X": X, "y": y}
    normal, student = (model.summary(**rows, distribution=how) for how in ("normal", "t"))
    weight = 2.0 * (TWO == 0).sum() + TWO.sum() if name == "balanced" else N
    freedom = weight - len(column(normal, "std_error"))
    assert (column(normal, "std_error") == column(student, "std_error")).all()
    size = np.abs(column(normal, "statistic"))
    assert column(normal, "p_value") == pytest.approx(2 * stats.norm.sf(size), rel=1e-9)
    assert column(student, "p_value") == pytest.approx(2 * stats.t.sf(size, freedom), rel=1e-9)
    test = model.test("x0 = 0", **rows, distribution="t")
    assert f"and {freedom:g} degrees" in str(test)
    if name != "softmax":
        names = [row["name"] for row in student.to_dict()["coefficients"]]
        assert test.p_value == pytest.approx(column(student, "p_value")[names.index("x0")], rel=1e-9)


def test_firth_profiles_end_at_the_lowest_of_several_minima() -> None:
    """With the slope held far out, the intercept of these separated classes has three minima."""
    rng = np.random.default_rng(25)
    rng.integers(8, 40), rng.integers(1, 4)
    x = rng.normal(size=(24, 1))
    t = (x[:, 0] > 0.3).astype(int)
    model = LogisticRegression(firth=True).fit(x, t)

    def cost(intercept: Any, slope: float) -> Any:
        z = intercept + slope * x  # (24, n)
        p = special.expit(z)
        w = p * (1 - p)
        determinant = w.sum(axis=0) * (w * x**2).sum(axis=0) - (w * x).sum(axis=0) ** 2
        return (np.logaddexp(0, z) - t[:, None] * z).sum(axis=0) - 0.5 * np.log(determinant)

    least = float(cost(model.intercept_, float(model.coef_[0, 0]))[0])
    end = model.summary(interval="profile", X=x, y=t).to_dict()["coefficients"][1]["upper"]
    lowest = cost(np.linspace(-30.0, 10.0, 400_001), end).min()
    assert 2 * (lowest - least) == pytest.approx(stats.chi2.ppf(0.95, 1), rel=1e-6)


def test_firth_profiles_end_where_the_penalised_likelihood_has_fallen() -> None:
    x, t = X[:30], TWO[:30]
    model = LogisticRegression(firth=True).fit(x, t)
    found = model.summary(interval="profile", X=x, y=t)
    design = sm.add_constant(x)

    def cost(theta: Any) -> float:
        z = design @ theta
        p = special.expit(z)
        information = (design * (p * (1 - p))[:, None]).T @ design
        return float(np.logaddexp(0, z).sum() - t @ z - 0.5 * np.linalg.slogdet(information)[1])

    best = np.concatenate([model.intercept_, model.coef_[0]])
    for j, row in enumerate(found.to_dict()["coefficients"]):
        others = np.arange(3) != j
        for end in ("lower", "upper"):

            def held(rest: Any, j: int = j, b: float = row[end], others: Any = others) -> float:
                theta = np.empty(3)
                theta[j], theta[others] = b, rest
                return cost(theta)

            least = optimize.minimize(held, best[others], method="BFGS", options={"gtol": 1e-9}).fun
            assert 2 * (least - cost(best)) == pytest.approx(stats.chi2.ppf(0.95, 1), rel=1e-7)


def test_an_end_that_no_refit_reaches_is_unknown_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, y in ((LogisticRegression(), TWO), (GeneralizedLinear(loss="poisson"), COUNTS)):
        model = clone(kind).fit(X, y)
        known = model.summary(interval="profile", X=X, y=y)
        with monkeypatch.context() as patch:
            patch.setattr(profile, "MOST_REFITS", 1)
            found = model.summary(interval="profile", X=X, y=y)
        assert np.isnan([column(found, "lower"), column(found, "upper")]).all()
        assert likelihood.NO_END in found.to_dict()["notes"]
        assert likelihood.NO_END not in known.to_dict()["notes"]
    assert profile._hold(lambda theta: Evaluation(theta @ theta, -theta, np.eye(2)), np.ones(2), np.eye(2)[0]) is None


def test_profiles_of_many_rows_end_within_rounding() -> None:
    model = LogisticRegression().fit(X, TWO, np.full(N, 1e9))
    found = model.summary(interval="profile", X=X, y=TWO, sample_weight=np.full(N, 1e9))
    for end, z in (("lower", -1.96), ("upper", 1.96)):
        wald = column(found, "estimate") + z * column(found, "std_error")
        np.testing.assert_allclose(column(found, end), wald, rtol=1e-6)


def test_robust_fits_are_tested_as_by_statsmodels() -> None:
    y = AMOUNTS + 5.0 * (np.arange(N) % 17 == 0)
    model = RobustRegression(tol=1e-14).fit(X, y)
    theirs = sm.RLM(y, sm.add_constant(X)).fit(tol=1e-14, maxiter=500, cov="H1")
    known = theirs.wald_test(np.eye(3)[1:], scalar=True, use_f=False)
    mine = model.test("x0 = 0, x1 = 0")
    assert mine.chi2 == pytest.approx(float(known.statistic), rel=1e-4)  # its scale stops early
    assert mine.p_value == pytest.approx(stats.chi2.sf(mine.chi2, 2), rel=1e-9)
    student = model.test("x0 = 0, x1 = 0", distribution="t")
    assert student.p_value == pytest.approx(stats.f.sf(mine.statistic, 2, N - 3), rel=1e-9)
    for loss in ("huber", "absolute"):
        model = RobustRegression(loss=loss).fit(X, np.column_stack([y, COUNTS]))
        rows = model.summary(distribution="t").to_dict()["coefficients"]
        test = model.test("x1 = 0", distribution="t")
        assert test.p_value == pytest.approx([row["p_value"] for row in rows if row["name"] == "x1"], rel=1e-8)
    with pytest.raises(InvalidParameter, match="no tests: no standard errors under a penalty"):
        RobustRegression(penalty=1.0).fit(X, y).test("x0 = 0")
    with pytest.raises(InvalidParameter, match="some follow from others"):
        model.test("x0 = 0, 2*x0 = 0")
    with pytest.raises(InvalidParameter, match="errors must be one of smoothed, nid"):
        model.test("x0 = 0", errors="HC0")


NEW: dict[str, tuple[Any, Any]] = {
    "poisson": (GeneralizedLinear(loss="poisson"), lambda model, m: stats.poisson(m)),
    "negative_binomial": (
        GeneralizedLinear(loss="negative_binomial"),
        lambda model, m: stats.nbinom(model.shape_, model.shape_ / (model.shape_ + m)),
    ),
    "gamma": (
        GeneralizedLinear(loss="gamma", link="log"),
        lambda model, m: stats.gamma(1 / model.dispersion_, scale=model.dispersion_ * m),
    ),
    "gaussian": (
        GeneralizedLinear(loss="gaussian", link="log"),
        lambda model, m: stats.norm(m, np.sqrt(model.dispersion_)),
    ),
}


@pytest.mark.parametrize("name", NEW)
def test_intervals_of_the_mean_and_of_new_observations(name: str) -> None:
    """Ends of the mean are those of the output; quantiles of observations are taken over the errors of the output."""
    kind, distribution = NEW[name]
    rng, x = np.random.default_rng(5), np.linspace(-1, 1, 50)[:, None]
    model = clone(kind).fit(
        x, rng.negative_binomial(2.0, 2.0 / (2.0 + np.exp(1.2 + 0.5 * x[:, 0]))) + 0.5 * (name == "gamma")
    )
    z, error = model._output_errors(x[:5])
    found = model.predict(x[:5], interval="confidence", level=0.9)
    freedom = 48 if name in ("gamma", "gaussian") else np.inf
    for end, reach in zip(found, (0.0, -stats.t.ppf(0.95, freedom), stats.t.ppf(0.95, freedom)), strict=True):
        assert end == pytest.approx(np.exp(z + reach * error)[:, 0], rel=1e-10)
    nodes, weight = np.polynomial.hermite_e.hermegauss(99)
    new = distribution(model, np.exp(z + error * nodes))
    found = model.predict(x[:5], interval="prediction", level=0.9)
    for end, share in ((found.lower, 0.05), (found.upper, 0.95)):
        below = new.cdf(end[:, None]) @ weight / weight.sum()
        if name in ("gamma", "gaussian"):
            assert below == pytest.approx(share, rel=1e-5)
        else:
            assert (below >= share).all()
            assert (new.cdf(end[:, None] - 1) @ weight / weight.sum() < share).all()


@pytest.mark.parametrize("interval", ["confidence", "prediction"])
def test_the_normal_family_has_the_intervals_of_least_squares(interval: Any) -> None:
    linear, line = (kind.fit(X, AMOUNTS) for kind in (LinearRegression(), GeneralizedLinear(loss="gaussian")))
    for a, b in zip(linear.predict(X, interval), line.predict(X, interval=interval), strict=True):
        assert a == pytest.approx(b, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "method", "options", "message"),
    [
        ("logistic", "summary", {"errors": "HC9"}, "errors must be one of classical, HC0"),
        ("logistic", "summary", {"errors": "cluster", "X": X, "y": TWO}, "needs groups"),
        ("logistic", "summary", {"errors": "HC0", "X": X, "y": TWO, "groups": GROUPS}, "groups are for"),
        ("logistic", "summary", {"errors": "HC0", "X": X, "y": TWO, "lags": 2}, "lags are for"),
        ("logistic", "summary", {"errors": "HAC", "X": X, "y": TWO, "lags": -1}, "lags must be"),
        ("logistic", "summary", {"distribution": "F"}, "distribution must be"),
        ("logistic", "summary", {"interval": "score"}, "interval must be one of"),
        ("logistic", "summary", {"interval": "profile"}, "needs the rows"),
        ("logistic", "summary", {"interval": "profile", "X": X, "y": 1 - TWO}, "not the rows"),
        ("logistic", "summary", {"interval": "profile", "errors": "HC0", "X": X, "y": TWO}, "rests on the likelihood"),
        ("logistic", "influence", {"X": X, "y": 1 - TWO}, "not the rows"),
        ("logistic", "predict", {"X": X, "interval": "prediction"}, "interval must be"),
        ("logistic", "predict", {"X": X, "interval": "confidence", "level": 1.5}, "level must be"),
        ("trials", "predict", {"X": X, "interval": "prediction"}, "use interval='confidence'"),
        ("poisson", "predict", {"X": X, "interval": "credible"}, "interval must be"),
        ("poisson", "summary", {"errors": "HC0", "X": X, "y": COUNTS, "offset": X[:, 0]}, "without an offset"),
        ("ordered", "summary", {"errors": "HC0", "X": X, "y": THREE + 5}, "not among the classes"),
    ],
)
def test_bad_arguments(name: str, method: str, options: dict[str, Any], message: str) -> None:
    kind, y = MODELS[name]
    model = clone(kind).fit(X, y)
    with pytest.raises((InvalidParameter, InvalidData, SumsMissing, UnknownLabel), match=message):
        getattr(model, method)(**options)


@pytest.mark.parametrize("options", [{"penalty": 1.0}, {"firth": True}])
def test_only_a_maximum_of_the_likelihood_has_robust_errors(options: dict[str, Any]) -> None:
    model = LogisticRegression(**options).fit(X, TWO)
    for ask in (lambda: model.summary(errors="HC0", X=X, y=TWO), lambda: model.influence(X, TWO)):
        with pytest.raises(InvalidParameter, match="maximum of the likelihood"):
            ask()


# Likelihoods that have no maximum: what is still finite is given, and what is not is said, not blamed on a penalty.

LEVEL = np.repeat([0, 1, 2], 20)
LEVELS = np.column_stack([np.cos(np.arange(60.0)), LEVEL == 1, LEVEL == 2]).astype(float)
UNBOUNDED: dict[str, tuple[Any, Any]] = {
    name: (kind, np.where(LEVEL == 2, 0, np.arange(60) % top))
    for name, kind, top in (
        ("poisson", GeneralizedLinear(loss="poisson"), 4),
        ("binomial", GeneralizedLinear(loss="binomial"), 2),
        ("logistic", LogisticRegression(), 2),
    )
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", UNBOUNDED)
def test_a_level_of_zeros_is_compared_by_its_likelihood_and_by_nothing_else(name: str) -> None:
    kind, y = UNBOUNDED[name]
    few, whole = (clone(kind).fit(x, y) for x in (LEVELS[:, :1], LEVELS))
    without = clone(kind).fit(LEVELS[LEVEL < 2, :2], y[LEVEL < 2])  # the same, the level left out
    likely = without.summary().to_dict()["log_likelihood"]
    table, found = anova(few, whole), whole.summary().to_dict()
    assert found["log_likelihood"] == pytest.approx(likely, abs=1e-4)
    assert found["aic"] == pytest.approx(8 - 2 * likely, abs=1e-4)
    assert table.chi2[1] == pytest.approx(2 * (likely - few.summary().to_dict()["log_likelihood"]), abs=1e-3)
    assert table.p_value[1] == pytest.approx(special.chdtrc(2, table.chi2[1]))
    assert likelihood.PENALISED not in str(whole.summary())
    assert "mean nothing" in str(whole.summary())
    for ask in (
        lambda: whole.test("x2 = 0"),
        lambda: whole.summary(interval="profile", X=LEVELS, y=y),
        lambda: whole.summary(errors="HC0", X=LEVELS, y=y),
        lambda: whole.influence(LEVELS, y),
    ):
        with pytest.raises(InvalidParameter, match=r"no finite estimate.*anova"):
            ask()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("link", ["log", "identity"])
def test_a_maximum_on_the_border_of_a_link_has_no_errors(link: str) -> None:
    x = np.linspace(0, 1, 40)
    y = ((x > 0.3) ^ np.isin(np.arange(40), [2, 20])).astype(float)
    model = GeneralizedLinear(loss="binomial", link=link).fit(x[:, None], y)
    assert "logit, probit or cloglog" in model.certificate_.advice
    assert "log or logit" not in model.certificate_.advice
    assert "border" in str(model.summary())
    assert np.isnan(column(model.summary(), "std_error")).all()
    with pytest.raises(InvalidParameter, match="border"):
        model.test("x0 = 0")


@pytest.mark.filterwarnings("ignore")
def test_counts_that_vary_no_more_than_poisson_are_said_to() -> None:
    for counts, told in ((2 + np.arange(60) % 2, True), (UNBOUNDED["poisson"][1] ** 2, False)):
        shown = str(GeneralizedLinear(loss="negative_binomial").fit(LEVELS[:, :1], counts).summary())
        assert ("no more than poisson counts" in shown) == ("poisson" in shown) == told
