"""Laws of `with_errors`: what a view answers is what the short forms answer, from one reading of the rows."""

from __future__ import annotations

import pickle
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import special, stats
from sklearn.base import clone

from adaline import (
    GeneralizedLinear,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    Ridge,
    RobustRegression,
    anova,
    effects,
    open_table,
)
from adaline.errors import AdalineError, InvalidData, InvalidParameter, NotFittedError, SumsMissing
from adaline.sources.tables import source as table_module
from adaline.sources.tables.relation import Relation
from tests.inference.against import THEIRS, column
from tests.inference.test_likelihood_errors import AMOUNTS, COUNTS, GROUPS, MODELS, THREE, TWO, X, Z

EXPOSURE = np.exp(Z / 4)
CASES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    **{name: (*case, {}) for name, case in MODELS.items()},
    "ridge": (Ridge(penalty=2.0), AMOUNTS, {}),
    "two targets": (LinearRegression(), np.column_stack([AMOUNTS, AMOUNTS[::-1]]), {}),
    "precision": (LinearRegression(weights="precision"), AMOUNTS, {"sample_weight": EXPOSURE}),
    "exposure": (GeneralizedLinear(loss="poisson"), COUNTS, {"exposure": EXPOSURE}),
    "two gammas": (GeneralizedLinear(loss="gamma"), np.column_stack([AMOUNTS, AMOUNTS[::-1]]), {}),
}
KINDS: tuple[dict[str, Any], ...] = (
    *({"errors": name} for name in ("classical", "HC0", "HC1", "HC2", "HC3", "HC4", "HAC")),
    {"errors": "HAC", "lags": 2, "distribution": "t"},
    {"errors": "cluster", "groups": GROUPS},
    {"errors": "HC1", "distribution": "t"},
    {"errors": "cluster", "groups": np.column_stack([GROUPS, np.arange(len(X)) % 7]), "distribution": "normal"},
    {"errors": "classical", "distribution": "normal"},
)
ROBUST: dict[str, tuple[Any, tuple[str | None, ...]]] = {
    "huber": (RobustRegression(), (None, "H1")),
    "median": (RobustRegression(loss="absolute"), (None, "nid", "iid", "kernel")),
}
HYPOTHESES = ("x0 = 0", "x0 = x1", "x0 = 0, x1 = 0")


@cache
def fitted(name: str) -> tuple[Any, dict[str, Any]]:
    """Return a model and the rows of its fit."""
    kind, y, own = CASES[name]
    rows = {"X": X, "y": y, **own}
    return clone(kind).fit(**rows), rows


def answers(asked: Any, level: float, given: dict[str, Any]) -> list[str]:
    """Return the table and some tests of a model or a view, or why there are none."""
    out = []
    for ask in (
        lambda: asked.summary(level=level, **given).to_dict(),
        *(lambda h=h: asked.test(h, **given) for h in HYPOTHESES),
    ):
        try:
            out.append(repr(ask()))
        except AdalineError as error:
            out.append(str(error))
    return out


@pytest.mark.filterwarnings("ignore::adaline.AdalineWarning")
@pytest.mark.parametrize("name", CASES)
def test_a_view_answers_as_the_short_forms_do(name: str) -> None:
    model, rows = fitted(name)
    for options in KINDS:
        short = answers(model, 0.9, {**options, **rows})
        if name == "balanced" and options["errors"] == "HAC":  # weighted rows have no order
            with pytest.raises(InvalidParameter, match="each once"):
                model.with_errors(**options, **rows)
            continue
        assert answers(model.with_errors(**options, **rows), 0.9, {}) == short
        assert short[0].startswith("{")


@pytest.mark.parametrize("name", ROBUST)
def test_a_view_of_a_robust_fit_has_its_errors(name: str) -> None:
    kind, every = ROBUST[name]
    model = clone(kind).fit(X, AMOUNTS)
    for errors in every:
        for distribution in (None, "t", "normal"):
            found = model.with_errors(errors, distribution=distribution)
            given = {"errors": errors, "distribution": distribution}
            assert answers(found, 0.9, {}) == answers(model, 0.9, given)
            table = found.summary()
            assert [row["std_error"] for row in found.effects(X).rows] == pytest.approx(table.parts[0].std_error[1:])
            for row in found.effects(X).rows:  # as the slopes are judged
                own = next(one for one in table.to_dict()["coefficients"] if one["name"] == row["name"])
                assert [row[key] for key in ("p_value", "lower", "upper")] == pytest.approx(
                    [own[key] for key in ("p_value", "lower", "upper")]
                )
    assert effects(model, X).rows == model.with_errors(None).effects(X).rows


@pytest.mark.parametrize("name", CASES)
def test_effects_and_intervals_of_classical_errors_are_those_of_the_model(name: str) -> None:
    model, rows = fitted(name)
    found, own = (
        model.with_errors("classical"),
        {key: rows[key] for key in ("sample_weight", "exposure") if key in rows},
    )
    assert found.effects(X, **own).rows == effects(model, X, **own).rows
    again = model.with_errors("classical", **rows)
    assert again.effects().rows == effects(model, X, **own).rows  # at the rows given again, with their weights
    new = X[:7] + 0.1
    shift = {"exposure": EXPOSURE[:7]} if name == "exposure" else {}
    for one, other in zip(found.predict(new, level=0.8, **shift), again.predict(new, level=0.8, **shift), strict=True):
        assert np.array_equal(one, other)
    theirs = model.predict(new, interval="confidence", level=0.8, **shift)
    for one, other in zip(found.predict(new, level=0.8, **shift), theirs, strict=True):
        assert np.array_equal(one, other)


def judged(level: float, freedom: float) -> float:
    return float(stats.t.ppf(0.5 + level / 2, freedom) if np.isfinite(freedom) else stats.norm.ppf(0.5 + level / 2))


@pytest.mark.filterwarnings("ignore::adaline.AdalineWarning")
@pytest.mark.parametrize(
    "name", ["least squares", "precision", "logistic", "no intercept", "poisson", "gamma", "trials"]
)
def test_an_interval_of_the_mean_reaches_as_far_as_the_test_of_its_output(name: str) -> None:
    """The error of z = w0 + w'x is |z| over the root of Wald's statistic of z = 0."""
    model, rows = fitted(name)
    new, y = X[:3] + np.array([0.3, -2.0]), rows["y"]
    for options in KINDS[1:]:
        found = model.with_errors(**options, **rows)
        table = found.summary(level=0.8)
        row = next(one for one in table.to_dict()["coefficients"] if one["name"] == "x0")
        reach = (row["upper"] - row["estimate"]) / row["std_error"]  # as coefficients are judged
        prediction, lower, upper = found.predict(new, level=0.8)
        intercept = name != "no intercept"
        for x, *band in zip(new, prediction, lower, upper, strict=True):
            matrix = np.concatenate([[1.0], x])[None] if intercept else np.concatenate([[0.0], x])[None]
            z = float(model.intercept_ if np.ndim(model.intercept_) == 0 else model.intercept_[0]) + float(
                np.ravel(model.coef_) @ x
            )
            wald = found.test(matrix).chi2
            ends = z + reach * abs(z) / np.sqrt(wald) * np.array([0.0, -1.0, 1.0])
            if name in ("logistic", "no intercept"):
                ends = special.expit(ends)
            elif name in ("poisson", "gamma"):
                ends = np.exp(ends)
            elif name == "trials":
                ends = -np.expm1(-np.exp(ends))
            assert band == pytest.approx(ends, rel=1e-7)
    assert len(y) == len(X)


@pytest.mark.parametrize("name", ["logistic", "balanced", "softmax", "ordered"])
def test_intervals_of_probabilities_are_of_log_odds_by_the_delta_method(name: str) -> None:
    model, rows = fitted(name)
    new = X[:6] + np.array([0.3, -2.0])
    for options in KINDS[1:6] + KINDS[8:-1]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = model.with_errors(**options, **rows)
        known = model._mean_model(found.judged)
        one = np.column_stack([np.ones(len(new)), new])
        p, jacobian, _ = known.mean(one @ known.theta.T, one @ known.theta.T)
        along = np.einsum("nck,nd,kdm->ncm", jacobian, one, known.root)
        half = judged(0.8, known.freedom) * np.linalg.norm(along, axis=2) / (p * (1 - p))
        prediction, lower, upper = found.predict(new, level=0.8)
        assert prediction.reshape(p.shape) == pytest.approx(p)
        assert lower.reshape(p.shape) == pytest.approx(special.expit(special.logit(p) - half), rel=1e-7)
        assert upper.reshape(p.shape) == pytest.approx(special.expit(special.logit(p) + half), rel=1e-7)


def theirs_by(options: dict[str, Any]) -> dict[str, Any]:
    """Return how statsmodels is asked for the same errors."""
    known: dict[str, Any] = {"cov_type": THEIRS.get(options["errors"], options["errors"])}
    if options["errors"] == "CR1":
        known["cov_kwds"] = {"groups": GROUPS}
    elif options["errors"] == "HAC":
        known["cov_kwds"] = {"maxlags": options["lags"]}
    return known


@pytest.mark.parametrize(
    "options",
    [*KINDS[1:5], {"errors": "HAC", "lags": 2}, {"errors": "CR1", "groups": GROUPS}],
    ids=lambda options: options["errors"],
)
def test_intervals_of_least_squares_are_those_of_statsmodels(options: dict[str, Any]) -> None:
    design, new = sm.add_constant(X), X[:9] + X.std(axis=0)
    model = LinearRegression().fit(X, AMOUNTS)
    for distribution, use_t in (("normal", False), ("t", True)):
        known = sm.OLS(AMOUNTS, design).fit(use_t=use_t, **theirs_by(options))
        ends = known.get_prediction(sm.add_constant(new)).conf_int(alpha=0.2)
        if use_t and options["errors"] == "CR1":  # G - 1 degrees of freedom, which their predictions leave out
            ends = known.t_test(sm.add_constant(new)).conf_int(alpha=0.2)
        found = model.with_errors(X=X, y=AMOUNTS, distribution=distribution, **options).predict(new, level=0.8)
        assert np.column_stack(found[1:]) == pytest.approx(ends, rel=1e-9)


@pytest.mark.parametrize("options", [{"errors": "HC0"}, {"errors": "CR1", "groups": GROUPS}], ids=["HC0", "CR1"])
def test_intervals_of_families_are_those_of_statsmodels(options: dict[str, Any]) -> None:
    new, tight = X[:9] + X.std(axis=0), {"tol": 1e-13, "tol_criterion": "params", "maxiter": 200}
    families = sm.families
    cases = [
        (LogisticRegression(), TWO, families.Binomial()),
        (GeneralizedLinear(loss="poisson"), COUNTS, families.Poisson()),
        (GeneralizedLinear(loss="gaussian"), AMOUNTS, families.Gaussian()),
    ]
    for kind, y, family in cases:
        known = sm.GLM(y, sm.add_constant(X), family=family).fit(**tight, **theirs_by(options))
        ends = known.get_prediction(sm.add_constant(new)).conf_int(alpha=0.2)
        found = kind.fit(X, y).with_errors(X=X, y=y, distribution="normal", **options).predict(new, level=0.8)
        assert np.column_stack(found[1:]) == pytest.approx(ends, rel=1e-7)


@pytest.mark.parametrize("options", [{"errors": "HC0"}, {"errors": "CR1", "groups": GROUPS}], ids=["HC0", "CR1"])
def test_effects_are_those_of_statsmodels(options: dict[str, Any]) -> None:
    design, exact = sm.add_constant(X), {"disp": 0, "method": "newton", "tol": 1e-14, "maxiter": 100}
    cases = [
        (LogisticRegression(), TWO, sm.Logit),
        (LogisticRegression(), THREE, sm.MNLogit),
        (GeneralizedLinear(loss="poisson"), COUNTS, sm.Poisson),
    ]
    for kind, y, other in cases:
        if other is sm.MNLogit and options["errors"] == "CR1":
            continue  # whose small-sample factor counts the coefficients of one class
        known = other(y, design).fit(**exact, **theirs_by(options)).get_margeff()
        rows = kind.fit(X, y).with_errors(X=X, y=y, **options).effects().rows
        assert [row["estimate"] for row in rows] == pytest.approx(known.margeff.ravel(), rel=1e-8)
        assert [row["std_error"] for row in rows] == pytest.approx(known.margeff_se.ravel(), rel=1e-7)


@pytest.mark.parametrize("options", [KINDS[1], KINDS[9], KINDS[11]], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_effects_are_judged_as_coefficients_are(name: str, options: dict[str, Any]) -> None:
    model, rows = fitted(name)
    found = model.with_errors(**options, **rows)
    slope = next(row for row in found.summary(level=0.8).to_dict()["coefficients"] if row["name"] == "x1")
    reach = (slope["upper"] - slope["lower"]) / slope["std_error"]
    for row in found.effects(level=0.8).rows:
        assert (row["upper"] - row["lower"]) / row["std_error"] == pytest.approx(reach, rel=1e-9)


@pytest.mark.filterwarnings("error::adaline.AdalineWarning")  # of variances that are negative
@pytest.mark.parametrize("name", ["softmax", "ordered"])
def test_errors_of_groups_of_two_kinds_add_up_for_every_machine(name: str) -> None:
    """V = c (V_1/c_1 + V_2/c_2 - V_12/c_12), c of the smaller number of groups."""
    model, rows = fitted(name)
    pair = np.column_stack([GROUPS, np.arange(len(X)) % 45])
    kinds = [*pair.T, np.unique(pair, axis=0, return_inverse=True)[1].ravel()]
    count = [len(np.unique(kind)) for kind in kinds]
    scale = [own / (own - 1) for own in count]

    def variances(groups: Any) -> Any:
        return column(model.summary(errors="CR1", groups=groups, **rows).to_dict(), "std_error") ** 2

    each = [variances(kind) / own for kind, own in zip(kinds, scale, strict=True)]
    assert variances(pair) == pytest.approx(max(scale) * (each[0] + each[1] - each[2]), rel=1e-6)


@pytest.mark.parametrize("options", KINDS[1:], ids=str)
def test_slopes_of_a_line_are_its_effects_and_say_their_errors(options: dict[str, Any]) -> None:
    found = LinearRegression().fit(X, AMOUNTS).with_errors(X=X, y=AMOUNTS, **options)
    table, effect = found.summary().to_dict(), found.effects()
    for statistic in ("estimate", "std_error", "p_value", "lower", "upper"):
        mine = [row[statistic] for row in effect.rows]
        assert mine == pytest.approx(column(table, statistic)[1:], rel=1e-9, abs=1e-300)
    assert ("standard errors" in str(effect)) == (options["errors"] != "classical")


@pytest.mark.filterwarnings("ignore::adaline.AdalineWarning")
@pytest.mark.parametrize("name", ["least squares", "logistic", "softmax", "poisson", "ordered"])
@pytest.mark.parametrize("options", [KINDS[1], KINDS[3], KINDS[8]], ids=str)
def test_a_dependent_column_changes_no_answer_that_the_rows_determine(name: str, options: dict[str, Any]) -> None:
    kind, y, _ = CASES[name]
    wide, new = np.column_stack([X, X[:, 0] - 2 * X[:, 1] + 1]), X[:5] + 0.5
    more = np.column_stack([new, new[:, 0] - 2 * new[:, 1] + 1])
    plain, other = clone(kind).fit(X, y), clone(kind).fit(wide, y)
    mine, theirs = (one.with_errors(X=x, y=y, **options) for one, x in ((other, wide), (plain, X)))
    for a, b in zip(mine.predict(more), theirs.predict(new), strict=True):
        assert a == pytest.approx(b, rel=1e-6)
    known = [row["std_error"] for row in theirs.effects().rows]
    assert [row["std_error"] for row in mine.effects().rows if not row.get("left_out")][: len(known)] == pytest.approx(
        known, rel=1e-6
    )
    if name == "least squares":
        assert mine.test([[0, 1, 0, 1.0]]).chi2 == pytest.approx(theirs.test("x0 = 0").chi2, rel=1e-6)
        with pytest.raises(InvalidData, match="cannot tell whether"):
            mine.test("x2 = 0")
        with pytest.raises(InvalidData, match="cannot tell whether"):
            mine.test("x0 = 0")  # which has a value beside x1 alone
    off = more + np.array([0.0, 0.0, 1.0])  # which the rows fitted say nothing of
    lower, upper = mine.predict(off)[1:]
    assert not np.isfinite(lower).any()
    assert not np.isfinite(upper).any()


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record every read of a table, none of which is held in memory."""
    found: list[str] = []

    def recording(name: str) -> Any:
        own = getattr(Relation, name)

        def read(self: Relation, *args: Any) -> Any:
            if not str(args[0]).startswith("DESCRIBE"):
                found.append(name)
            return own(self, *args)

        return read

    for name in ("runs", "rows"):
        monkeypatch.setattr(Relation, name, recording(name))
    monkeypatch.setattr(table_module, "KEPT", 0)
    return found


@pytest.mark.filterwarnings("ignore::adaline.AdalineWarning")
@pytest.mark.parametrize("options", [KINDS[1], KINDS[4], {"errors": "cluster", "groups": "firm"}, KINDS[6]], ids=str)
@pytest.mark.parametrize("name", ["least squares", "two targets", "logistic", "softmax", "poisson", "ordered"])
def test_many_questions_read_the_rows_as_often_as_one(
    name: str, options: dict[str, Any], tmp_path: Path, reads: list[str]
) -> None:
    kind, y, _ = CASES[name]
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(firm=GROUPS)
    targets = [f"t{k}" for k in range(np.atleast_2d(y.T).shape[0])]
    frame[targets] = y.reshape(len(X), -1)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    source = open_table(str(tmp_path / "rows.csv"), features=["a", "b"], target=targets if len(targets) > 1 else "t0")
    model = clone(kind).fit(source)
    assert source.streamed
    reads.clear()
    model.summary(**options, X=source)
    once = len(reads)
    reads.clear()
    found = model.with_errors(X=source, **options)
    for level in (0.9, 0.95):
        found.summary(level=level)
        found.predict(X[:5], level=level)
    for hypothesis in ("a = 0", "a = b"):
        found.test(hypothesis)
    assert len(reads) == once > 0
    reads.clear()
    model.predict(source, interval="confidence")
    once = len(reads)
    reads.clear()
    ends = found.predict(source)
    assert len(reads) == once > 0
    for one, other in zip(ends, found.predict(X), strict=True):
        assert one == pytest.approx(other)


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("name", ["least squares", "logistic", "poisson", "ordered", "median"])
def test_a_view_is_of_the_model_that_it_was_made_of(name: str, refit: bool) -> None:
    kind, y = (ROBUST[name][0], AMOUNTS) if name in ROBUST else CASES[name][:2]
    model = clone(kind).fit(X, y)
    errors = "iid" if name in ROBUST else "HC3"
    found = model.with_errors(errors, X, y)

    def everything() -> list[str]:
        return [str(found.summary()), str(found.test("x0 = 0")), str(found.effects()), *map(str, found.predict(X[:2]))]

    before = everything()
    if refit:
        model.fit(X[::-1], y)
    else:
        found = pickle.loads(pickle.dumps(found))
    assert before == everything()
    assert repr(found) == f"<{type(model).__name__} with errors={errors!r}>"


FIT = {"X": X, "y": AMOUNTS}


@pytest.mark.parametrize(
    ("kind", "y", "options", "error", "message"),
    [
        (LinearRegression(), AMOUNTS, {"errors": "HC9"}, InvalidParameter, "errors must be one of classical, HC0"),
        (LinearRegression(), AMOUNTS, {"errors": "HC3"}, SumsMissing, "give X and y again"),
        (LinearRegression(), AMOUNTS, {"errors": "HC3", "X": X, "y": Z}, InvalidData, "not the rows"),
        (LinearRegression(), AMOUNTS, {"errors": "HC3", **FIT, "groups": GROUPS}, InvalidParameter, "groups are for"),
        (LinearRegression(), AMOUNTS, {"errors": "cluster", **FIT}, InvalidParameter, "needs groups"),
        (LinearRegression(), AMOUNTS, {"errors": "HC3", **FIT, "lags": 1}, InvalidParameter, "lags are for"),
        (LinearRegression(), AMOUNTS, {"errors": "classical", "distribution": "F"}, InvalidParameter, "distribution"),
        (LinearRegression(), AMOUNTS, {"errors": "HC3", **FIT, "offset": Z}, InvalidParameter, "takes no offset"),
        (LogisticRegression(), TWO, {"errors": "HC0", "X": X, "y": 1 - TWO}, InvalidData, "not the rows"),
        (LogisticRegression(penalty=1.0), TWO, {"errors": "HC0", "X": X, "y": TWO}, InvalidParameter, "maximum of the"),
        (LogisticRegression(scheme="one-vs-rest"), THREE, {"errors": "classical"}, InvalidParameter, "one likelihood"),
        (
            OrdinalRegression(),
            THREE,
            {"errors": "HC0", "X": X, "y": THREE, "exposure": Z},
            InvalidParameter,
            "no offset",
        ),
        (
            GeneralizedLinear(loss="poisson"),
            COUNTS,
            {"errors": "HC0", "X": X, "y": COUNTS, "offset": Z},
            InvalidParameter,
            "without an offset",
        ),
        (RobustRegression(), AMOUNTS, {"errors": "nid"}, InvalidParameter, "errors must be one of H1"),
        (RobustRegression(), AMOUNTS, {"errors": "H1", "lags": 2}, InvalidParameter, "no errors by groups or lags"),
    ],
)
def test_errors_that_are_refused_at_once(
    kind: Any, y: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        clone(kind).fit(X, y).with_errors(**options)
    with pytest.raises(NotFittedError):
        clone(kind).with_errors(**options)


@pytest.mark.parametrize(
    ("name", "errors", "method", "arguments", "error", "message"),
    [
        ("least squares", "HC3", "summary", {"level": 1.5}, InvalidParameter, "level must be"),
        ("least squares", "HC3", "summary", {"reference": 1}, InvalidParameter, "summary of LinearRegression takes no"),
        ("least squares", "HC3", "summary", {"interval": "profile"}, InvalidParameter, "takes no interval"),
        ("ordered", "HC0", "test", {"hypothesis": "x0 = 0", "target": 1}, InvalidParameter, "takes no target"),
        ("poisson", "HC0", "summary", {"interval": "profile"}, InvalidParameter, "rests on the likelihood"),
        ("logistic", "HC0", "summary", {"interval": "score"}, InvalidParameter, "interval must be one of"),
        ("logistic", "HC0", "summary", {"reference": 7}, InvalidParameter, "must be one of the classes"),
        ("least squares", "HC3", "predict", {"X": X, "interval": "prediction"}, InvalidParameter, "a single row open"),
        ("poisson", "HC0", "predict", {"X": X, "interval": "prediction"}, InvalidParameter, "a single row open"),
        ("logistic", "HC0", "predict", {"X": X, "interval": "prediction"}, InvalidParameter, "interval must be"),
        ("least squares", "HC3", "predict", {"X": X, "interval": None}, InvalidParameter, "interval must be"),
        ("softmax", "HC0", "predict", {"X": X, "level": 0}, InvalidParameter, "level must be"),
        ("logistic", "HC0", "predict", {"X": X, "offset": Z}, InvalidParameter, "takes no offset"),
        ("least squares", "HC3", "effects", {"at": "median"}, InvalidParameter, "at must be"),
        ("ridge", "HC3", "test", {"hypothesis": "x0 = 0"}, InvalidParameter, "no tests for a penalised fit"),
    ],
)
def test_questions_that_are_refused(
    name: str, errors: str, method: str, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    model, rows = fitted(name)
    with pytest.raises(error, match=message):
        getattr(model.with_errors(errors, **rows), method)(**arguments)


def test_rows_of_a_table_bring_levels_weights_and_groups() -> None:
    rows = pd.DataFrame(X, columns=["a", "b"]).assign(
        kind=np.array(["low", "mid", "top"])[THREE], firm=GROUPS, times=1.0 + GROUPS % 3, y=AMOUNTS
    )
    table = open_table(rows, formula="y ~ a + b + kind", weight="times")
    found = LinearRegression().fit(table).with_errors("cluster", table, groups="firm")
    effect, summary = found.effects(), found.summary().to_dict()
    assert [row["contrast"] for row in effect.rows] == ["slope", "slope", "mid - low", "top - low"]
    assert [row["std_error"] for row in effect.rows] == pytest.approx(column(summary, "std_error")[1:])
    assert "weighted by times" in effect.title
    new = {"a": [0.0, 1.0], "b": [2.0, 3.0], "kind": ["mid", "top"]}
    ends = found.predict(open_table(new))
    matrix = np.array([[1.0, 0.0, 2.0, 1.0, 0.0], [1.0, 1.0, 3.0, 0.0, 1.0]])
    for row, z, upper in zip(matrix, ends.prediction, ends.upper, strict=True):
        error = abs(z) / np.sqrt(found.test(row[None]).chi2)
        assert upper == pytest.approx(z + judged(0.95, len(np.unique(GROUPS)) - 1.0) * error)


@pytest.mark.parametrize("kept", [2**23, 0], ids=["held", "streamed"])
def test_a_column_of_a_table_groups_the_rows_of_weighted_classes(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_module, "KEPT", kept)
    rows = pd.DataFrame(X, columns=["a", "b"]).assign(firm=GROUPS, y=TWO)
    table = open_table(rows, target="y", features=["a", "b"])
    model = LogisticRegression(class_weight={1: 2.0}).fit(table)
    found = model.summary(errors="cluster", X=table, groups="firm").to_dict()
    known = model.summary(errors="cluster", X=rows[["a", "b"]], y=TWO, groups=GROUPS).to_dict()
    assert column(found, "std_error") == pytest.approx(column(known, "std_error"), rel=1e-9)


def test_effects_that_were_absorbed_leave_tables_and_tests() -> None:
    rows = pd.DataFrame(X, columns=["a", "b"]).assign(firm=GROUPS, y=AMOUNTS)
    table = open_table(rows, target="y", features=["a", "b"], absorb="firm")
    model = LinearRegression().fit(table)
    found = model.with_errors("cluster", table, groups="firm")
    given = {"errors": "cluster", "X": table, "groups": "firm"}
    assert str(found.summary()) == str(model.summary(**given))
    assert str(found.test("a = 0")) == str(model.test("a = 0", **given))
    for ask in (found.effects, lambda: found.predict(table)):
        with pytest.raises(InvalidParameter, match="absorbed"):
            ask()
    with pytest.raises(InvalidParameter, match="no HC3 errors where effects are absorbed"):
        model.with_errors("HC3", table)


def test_effects_need_rows_from_somewhere() -> None:
    with pytest.raises(SumsMissing, match="give X, to effects or to with_errors"):
        LinearRegression().fit(X, AMOUNTS).with_errors("classical").effects()


def test_losses_without_a_likelihood_have_no_view() -> None:
    model = GeneralizedLinear(loss="huber").fit(X, AMOUNTS)
    assert not hasattr(model, "with_errors")


def test_rows_that_cannot_judge_a_fit_are_refused() -> None:
    four = np.eye(4)[:, :3]
    saturated = GeneralizedLinear(loss="poisson").fit(four, [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(InvalidData, match="4 observations leave nothing to 4 parameters"):
        saturated.with_errors("HC0", four, [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(InvalidData, match="not the rows that were fitted: they have another likelihood"):
        LogisticRegression().fit(X, TWO).summary(interval="profile", X=X, y=TWO[::-1])
    for errors in ("classical", "HC0"):
        with pytest.raises(InvalidParameter, match="LinearRegression takes no offset or exposure"):
            LinearRegression().fit(X, AMOUNTS).with_errors(errors, X, AMOUNTS, offset=np.ones(len(X)))


def test_the_largest_of_three_models_is_the_one_that_judges() -> None:
    wide = np.column_stack([X, X[:, 0] ** 2])
    models = [LinearRegression().fit(wide[:, :k], 1.0 + wide @ [1.0, 2.0, -1.0]) for k in (1, 2, 3)]
    with pytest.raises(InvalidData, match="the fit of the largest model is exact"):
        anova(*models)
