"""Fits that absorb effects are fits with a dummy for every level; figures of pyfixest beside those of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import adaline
from adaline import GeneralizedLinear, LinearRegression, anova, load, open_table, save
from adaline.coding.columns import is_missing
from adaline.errors import AdalineWarning, ConvergenceWarning, InvalidData, InvalidParameter, MissingValues, SumsMissing
from adaline.results import Status
from tests.cli.command_line import Shell
from tests.solvers.absorb.designs import DESIGNS, columns

PEER: dict[str, Any] = json.loads((Path(__file__).parents[2] / "data" / "effects" / "pyfixest.json").read_text())
CLUSTERS: dict[str, Any] = {
    "firm": "firm",
    "town": "town",
    "firm+town": ("firm", "town"),
    "firm+year": ("firm", "year"),
}
TINY = {"y": [1.0, 2.0, 4.0, 6.0, 3.0], "x": [0.0, 1.0, 0.0, 2.0, 1.0], "firm": ["a", "a", "b", "b", "b"]}


def absorbed(name: str, target: str = "y", **options: Any) -> Any:
    """Return a design as a table that absorbs its levels."""
    design = DESIGNS[name]
    weight = "w" if design.weighted else None
    return open_table(
        columns(name), target=target, features=["a", "b"], weight=weight, absorb=list(design.absorb), **options
    )


def with_dummies(name: str, target: str = "y") -> Any:
    """Return the same with a column for every level."""
    design = DESIGNS[name]
    weight, levels = "w" if design.weighted else None, list(design.absorb)
    return open_table(
        columns(name), target=target, features=["a", "b", *levels], weight=weight, categories=levels, unseen="other"
    )


def coefficients(summary: Any) -> np.ndarray[Any, Any]:
    """Return estimates, errors, p values and ends of a and b."""
    rows = {row["name"]: row for row in summary.to_dict()["coefficients"]}
    return np.array([[rows[name][key] for key in ("estimate", "std_error", "p_value", "upper")] for name in "ab"])


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.filterwarnings("ignore::adaline.errors.AdalineWarning")
def test_absorbing_is_least_squares_with_a_dummy_for_every_level(name: str) -> None:
    table, whole = absorbed(name), with_dummies(name)
    model, oracle = LinearRegression().fit(table), LinearRegression().fit(whole)
    assert model.certificate_.status is Status.SOLVED
    assert model.certificate_.digits > 11
    for options in ({}, {"errors": "HC1"}):
        rows = [{"X": one} if options else {} for one in (table, whole)]
        found, expected = (m.summary(**options, **r) for m, r in zip((model, oracle), rows, strict=True))
        assert np.allclose(coefficients(found), coefficients(expected), rtol=1e-9, atol=1e-14)
    mine, theirs = model.summary().to_dict(), oracle.summary().to_dict()
    for key in ("freedom", "sigma", "r_squared", "adjusted_r_squared", "log_likelihood", "aic", "bic"):
        assert mine[key] == pytest.approx(theirs[key], rel=1e-9), key
    assert np.allclose(model.predict(table), oracle.predict(whole), rtol=0, atol=1e-8)
    assert model.score(table) == pytest.approx(oracle.score(whole), rel=1e-9)


@pytest.mark.parametrize("name", [name for name, design in DESIGNS.items() if design.peer])
def test_errors_are_those_of_pyfixest(name: str) -> None:
    table, known = absorbed(name), PEER[name]
    model = LinearRegression(weights="precision" if DESIGNS[name].weighted else "frequency").fit(table)
    assert np.allclose(model.coef_, known["least_squares"]["coef"], rtol=1e-8)
    for kind, errors in known["least_squares"]["errors"].items():
        options = {"errors": "cluster", "groups": CLUSTERS[kind]} if kind in CLUSTERS else {"errors": kind}
        options = {} if kind == "iid" else {**options, "X": table}
        assert np.allclose(coefficients(model.summary(**options))[:, 1], errors, rtol=1e-7), kind
    summary = model.summary().to_dict()
    assert (summary["r_squared"], summary["within_r_squared"]) == pytest.approx(
        (known["r2"], known["within"]), rel=1e-8
    )


@pytest.mark.parametrize("name", ["one", "two", "singletons"])
@pytest.mark.filterwarnings("ignore::adaline.errors.AdalineWarning")
def test_poisson_with_effects(name: str) -> None:
    table, whole, known = absorbed(name, "count"), with_dummies(name, "count"), PEER[name]["poisson"]
    model = GeneralizedLinear(loss="poisson").fit(table)
    assert np.allclose(model.coef_, known["coef"], rtol=1e-7)
    assert model.rows_seen_ == known["rows"] == len(columns(name)["y"]) - model.absorbed_.separated
    for kind, errors in known["errors"].items():
        options = {"errors": "cluster", "groups": CLUSTERS[kind]} if kind in CLUSTERS else {"errors": kind}
        options = {} if kind == "iid" else {**options, "X": table}
        n, p = known["rows"], 2 + model.absorbed_.freedom + 1
        share = np.sqrt((n - p) / (n - 1)) if kind == "iid" else 1.0  # pyfixest corrects the inverse information too
        found = coefficients(model.summary(**options))[:, 1]
        assert np.allclose(found, share * np.asarray(errors), rtol=1e-6), kind
    if not model.absorbed_.separated:
        oracle = GeneralizedLinear(loss="poisson").fit(whole)
        assert np.allclose(model.coef_, oracle.coef_[:2], rtol=1e-9)
        assert np.allclose(coefficients(model.summary()), coefficients(oracle.summary()), rtol=1e-8, atol=1e-12)
        assert np.allclose(model.predict(table), oracle.predict(whole), rtol=1e-8)
        mine, theirs = model.summary().to_dict(), oracle.summary().to_dict()
        for key in ("deviance", "null_deviance", "freedom", "log_likelihood", "aic"):
            assert mine[key] == pytest.approx(theirs[key], rel=1e-9), key


def test_counts_that_are_all_zero_in_a_level_are_left_out_and_told() -> None:
    data = columns("two")
    data["count"] = np.where(data["firm"] == "f03", 0.0, data["count"])
    gone = int((data["firm"] == "f03").sum())
    table = open_table(data, target="count", features=["a", "b"], absorb=["firm", "year"])
    model = GeneralizedLinear(loss="poisson").fit(table)
    assert model.absorbed_.separated >= gone
    rest = {key: values[data["firm"] != "f03"] for key, values in data.items()}
    other = open_table(rest, target="count", features=["a", "b"], absorb=["firm", "year"])
    assert np.allclose(model.coef_, GeneralizedLinear(loss="poisson").fit(other).coef_, rtol=1e-9)


def test_bits_depend_neither_on_threads_nor_on_where_the_rows_are(tmp_path: Path) -> None:
    data = pa.table(columns("three", 3000))
    pq.write_table(data, tmp_path / "rows.parquet", row_group_size=300)
    options: dict[str, Any] = {"target": "y", "features": ["a", "b"], "absorb": ["firm", "year", "town"]}
    found = []
    for rows in (data, str(tmp_path / "rows.parquet"), str(tmp_path / "rows.parquet")):
        adaline.set_threads(1 if len(found) == 1 else 3)
        found.append(LinearRegression().fit(open_table(rows, **options)))
    adaline.set_threads(None)
    for other in found[1:]:
        assert np.array_equal(found[0].coef_, other.coef_)
        for name in options["absorb"]:
            assert found[0].effects_[name].equals(other.effects_[name])


def test_a_formula_absorbs_what_stands_after_its_bar() -> None:
    data = columns("two")
    by_formula = open_table(data, formula="y ~ a + b | firm + year")
    assert np.array_equal(LinearRegression().fit(by_formula).coef_, LinearRegression().fit(absorbed("two")).coef_)
    all_others = {key: data[key] for key in ("y", "a", "b", "firm", "year")}
    assert LinearRegression().fit(open_table(all_others, formula="y ~ . | firm + year")).n_features_in_ == 2
    for wrong in ("y ~ a | firm | year", "y ~ a |", "y ~ a | firm:year", "y | firm ~ a"):
        with pytest.raises(InvalidParameter, match="sets apart columns whose effects"):
            open_table(data, formula=wrong)
    with pytest.raises(InvalidParameter, match="there is no such column"):
        open_table(data, formula="y ~ a | firms")


def test_singletons_are_dropped_on_request_and_told() -> None:
    kept, dropped = (LinearRegression().fit(absorbed("singletons", singletons=policy)) for policy in ("keep", "drop"))
    assert dropped.absorbed_.singletons > 5
    assert np.allclose(kept.coef_, dropped.coef_, rtol=1e-11)
    freedom = [one.summary().to_dict()["freedom"] for one in (kept, dropped)]
    assert freedom[0] == freedom[1]
    assert "rows left out, the only ones of a level" in str(dropped.summary())
    table = absorbed("singletons", singletons="drop")
    by_name = dropped.summary(errors="cluster", X=table, groups="town")
    by_labels = dropped.summary(errors="cluster", X=table, groups=columns("singletons")["town"])
    assert np.array_equal(coefficients(by_name), coefficients(by_labels))


def test_effects_of_levels_are_kept_and_predict(tmp_path: Path) -> None:
    model = LinearRegression().fit(open_table(TINY, target="y", absorb="firm"))
    frame = model.effects_["firm"]
    assert list(frame["level"]) == ["a", "b"]
    sizes = np.array([2, 3])
    assert abs(sizes @ np.asarray(frame["value"])) < 1e-12
    new = pa.table({"x": [3.0], "firm": ["b"]})
    expected = model.intercept_ + 3 * model.coef_[0] + frame["value"].to_list()[1]
    assert model.predict(new) == pytest.approx(expected)
    save(model, tmp_path / "m.adaline")
    again = load(tmp_path / "m.adaline")
    assert np.array_equal(again.predict(new), model.predict(new))
    assert str(again.summary()) == str(model.summary())
    with pytest.raises(InvalidData, match="has the level 'c' at row 0, which did not occur in the fit"):
        model.predict(pa.table({"x": [3.0], "firm": ["c"]}))
    average = LinearRegression().fit(open_table(TINY, target="y", absorb="firm", unseen="other"))
    assert average.predict(pa.table({"x": [3.0], "firm": ["c"]})) == pytest.approx(
        average.intercept_ + 3 * average.coef_[0]
    )
    with pytest.raises(InvalidData, match="give a frame or a table with these columns"):
        model.predict(np.array([[3.0]]))
    with pytest.raises(MissingValues, match="'firm' is missing at row 0"):
        model.predict(pa.table({"x": [3.0], "firm": pa.array([None], pa.string())}))


def test_missing_levels() -> None:
    data = {**TINY, "firm": ["a", "a", "b", None, "b"]}
    with pytest.raises(MissingValues, match="firm"):
        LinearRegression().fit(open_table(data, target="y", absorb="firm"))
    assert LinearRegression().fit(open_table(data, target="y", absorb="firm", missing="drop")).absorbed_.levels == (2,)
    own = LinearRegression().fit(open_table(data, target="y", absorb="firm", missing="indicator"))
    assert is_missing(own.effects_["firm"]["level"].to_list()[-1])
    assert own.absorbed_.levels == (3,)


def test_a_column_that_the_effects_explain_is_left_out() -> None:
    data = columns("two")
    data["size"] = np.asarray(data["town"]) * 0.1 + 1e3
    table = open_table(data, target="y", features=["a", "size", "b"], absorb=["firm", "year"])
    model = LinearRegression().fit(table)
    assert list(model.aliased_) == ["size"]
    assert model.coef_[1] == 0.0
    assert np.allclose(model.coef_[[0, 2]], LinearRegression().fit(absorbed("two")).coef_, rtol=1e-11)
    twice = {**data, "c": np.asarray(data["a"]) + np.asarray(data["town"])}
    with pytest.warns(AdalineWarning, match="combinations"):
        other = LinearRegression().fit(open_table(twice, target="y", features=["a", "b", "c"], absorb=["firm", "year"]))
    assert other.certificate_.status is Status.RANK_DEFICIENT


def test_tests_and_anova_count_the_effects() -> None:
    large, whole = LinearRegression().fit(absorbed("two")), LinearRegression().fit(with_dummies("two"))
    small = LinearRegression().fit(open_table(columns("two"), formula="y ~ a | firm + year"))
    expected = whole.test("b = 0")
    found = large.test("b = 0")
    assert (found.statistic, *found.freedom, found.p_value) == pytest.approx(
        (expected.statistic, *expected.freedom, expected.p_value), rel=1e-9
    )
    assert anova(small, large).f_statistic[1] == pytest.approx(expected.statistic, rel=1e-9)


def chain(levels: int) -> dict[str, Any]:
    """Return rows, each twice, whose levels meet like the links of a chain: conjugate gradients need many steps."""
    left, right = np.repeat(np.arange(levels), 2), np.repeat(np.arange(levels + 1), 2)[1:-1]
    x, noise = np.random.default_rng(0).normal(size=(2, 4 * levels))
    y = 0.5 * x + noise + np.tile(np.linspace(0, 5, 2 * levels), 2)
    return {"y": y, "x": x, "left": np.tile(left, 2), "right": np.tile(right, 2)}


def test_a_chain_of_levels_is_solved_or_said_not_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    data = chain(400)
    model = LinearRegression().fit(open_table(data, target="y", absorb=["left", "right"]))
    whole = LinearRegression().fit(
        open_table(data, target="y", features=["x", "left", "right"], categories=["left", "right"])
    )
    assert model.certificate_.digits > 8
    assert model.coef_[0] == pytest.approx(whole.coef_[0], rel=1e-9)
    monkeypatch.setattr("adaline.solvers.absorb.projection.STEPS", 20)
    with pytest.warns(ConvergenceWarning, match="not separated"):
        few = LinearRegression().fit(open_table(data, target="y", absorb=["left", "right"]))
    assert few.certificate_.status is Status.NOT_CONVERGED
    assert abs(few.coef_[0] / model.coef_[0] - 1) <= 10.0**-few.certificate_.digits


def test_what_absorbed_effects_do_not_go_with() -> None:
    table = absorbed("two")
    model = LinearRegression().fit(table)
    with pytest.raises(InvalidParameter, match="no HC3 errors where effects are absorbed"):
        model.summary(errors="HC3", X=table)
    with pytest.raises(InvalidParameter, match="no influence"):
        model.influence(table)
    with pytest.raises(InvalidParameter, match="no intervals of predictions"):
        model.predict(table, interval="confidence")
    with pytest.raises(SumsMissing, match="fit all rows at once"):
        model.partial_fit(table)
    with pytest.raises(InvalidParameter, match="give that again"):
        model.summary(errors="HC1", X=pa.table(columns("two")), y=columns("two")["y"])
    with pytest.raises(InvalidParameter, match="RobustRegression does not absorb effects"):
        adaline.RobustRegression().fit(table)
    with pytest.raises(InvalidParameter, match="leave fit_intercept=True"):
        LinearRegression(fit_intercept=False).fit(table)
    with pytest.raises(InvalidParameter, match="under loss='poisson'"):
        GeneralizedLinear(loss="gamma").fit(table)


def test_the_command_line_absorbs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, model = str(tmp_path / "rows.parquet"), str(tmp_path / "m.adaline")
    pq.write_table(pa.table(columns("two")), rows)
    run = Shell(capsys)
    fitted = run(
        "fit",
        rows,
        "-t",
        "y",
        "--features",
        "a,b",
        "--absorb",
        "firm,year",
        "--cluster-errors",
        "firm,year",
        "-o",
        model,
    )
    assert fitted.code == 0
    assert f"{PEER['two']['least_squares']['errors']['firm+year'][0]:.6g}" in fitted.out
    table = absorbed("two")
    expected = LinearRegression().fit(table).predict(table)
    found = [float(row["prediction"]) for row in run("predict", model, rows).rows]
    assert np.allclose(found, expected, rtol=0, atol=1e-9)
