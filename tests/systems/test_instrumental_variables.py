"""Instrumental variables: against R's AER and sandwich, and the laws of a model that sums give."""

from __future__ import annotations

from functools import partial
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import InstrumentalVariables, LinearRegression, load, open_table, save
from adaline.errors import AdalineWarning, InvalidData, InvalidParameter
from adaline.estimator import clone
from tests.cases import CASES as CASES_OF_LAWS
from tests.cases import Case
from tests.instruments import BIRDS, CASES, MODELS, THEIRS
from tests.laws import test_forms, test_models, test_parts, test_rows, test_settings, test_tables

IN_MEMORY = [case for case in CASES if case != "absorbed"]
NAMES = {"estimate": "estimate", "classical": "std_error"}


def given(case: str) -> tuple[pd.DataFrame, Any, InstrumentalVariables, dict[str, Any]]:
    """Return X, y, a model and the weights of a case."""
    own, inner, outer = MODELS[case.removeprefix("liml ")]
    model = InstrumentalVariables(
        method="liml" if case.startswith("liml") else "2sls",
        endogenous=inner,
        instruments=outer,
        fit_intercept=case != "origin",
        weights="precision" if case.endswith("weighted") else "frequency",
    )
    weight = {"sample_weight": BIRDS["w"].to_numpy()} if case.endswith("weighted") else {}
    return BIRDS[[*outer, *own, *inner]], BIRDS["body_mass_g"].to_numpy(float), model, weight


def column(summary: Any, name: str) -> list[float]:
    return [row[name] for row in summary.to_dict()["coefficients"]]


@pytest.mark.every
@pytest.mark.parametrize("case", IN_MEMORY)
def test_coefficients_and_errors_are_those_of_r(case: str) -> None:
    X, y, model, weight = given(case)
    model.fit(X, y, **weight)
    table = model.summary()
    assert column(table, "estimate") == pytest.approx(THEIRS[case, "estimate"], rel=1e-9)
    assert column(table, "std_error") == pytest.approx(THEIRS[case, "classical"], rel=1e-9)
    for errors in ("HC0", "HC1", "HC2", "HC3", "CR1", "CR2", "CR3"):
        if (case, errors) not in THEIRS:
            continue
        more = {"groups": BIRDS["place"].to_numpy()} if errors[0] == "C" else {}
        robust = model.summary(errors=errors, X=X, y=y, **weight, **more)
        assert column(robust, "std_error") == pytest.approx(THEIRS[case, errors], rel=1e-8), errors
    if (case, "fit") in THEIRS:
        found = table.to_dict()
        assert [found["sigma"], found["r_squared"], found["f_statistic"]] == pytest.approx(
            THEIRS[case, "fit"], rel=1e-9
        )
    if case.startswith("liml"):
        assert model.kappa_ == pytest.approx(THEIRS[case, "kappa"], rel=1e-9)


@pytest.mark.every
@pytest.mark.parametrize("case", [case for case in IN_MEMORY if (case, "diagnostics") in THEIRS])
def test_tests_of_instruments_are_those_of_r(case: str) -> None:
    X, y, model, weight = given(case)
    rows = model.fit(X, y, **weight).summary().to_dict()["tests"][:-1]
    theirs = THEIRS[case, "diagnostics"].reshape(-1, 4)  # df1, df2, statistic, p
    theirs = theirs[~np.isnan(theirs[:, 2])]
    assert len(rows) == len(theirs)
    for row, (df, rest, statistic, chance) in zip(rows, theirs, strict=True):
        assert (row["df"], row.get("df_residual", np.nan)) == pytest.approx((df, rest), nan_ok=True)
        assert row["F" if "F" in row else "chi2"] == pytest.approx(statistic, rel=1e-8)
        assert row["p_value"] == pytest.approx(chance, rel=1e-6)


@pytest.mark.parametrize("method", ["2sls", "liml"])
def test_sums_stream_merge_and_forget(method: str) -> None:
    X, y, model, _ = given("two")
    model = model.set_params(method=method)
    order = np.random.default_rng(1).permutation(len(y))
    X, y = X.iloc[order], y[order]
    whole = clone(model).fit(X, y)
    streamed = clone(model).partial_fit(X[:150], y[:150]).partial_fit(X[150:], y[150:])
    merged = clone(model).fit(X[:150], y[:150]).merge(clone(model).fit(X[150:], y[150:]))
    for one in (streamed, merged):
        assert one.coef_ == pytest.approx(whole.coef_, rel=1e-11)
        assert one.summary().to_dict()["tests"][0]["F"] == pytest.approx(
            whole.summary().to_dict()["tests"][0]["F"], rel=1e-11
        )
    left = merged.forget(X[150:], y[150:])
    assert left.coef_ == pytest.approx(clone(model).fit(X[:150], y[:150]).coef_, rel=1e-9)
    other = InstrumentalVariables(endogenous=["flipper_length_mm"], instruments=["gentoo", "chinstrap", "male"])
    with pytest.raises(InvalidData, match="not the same"):
        other.fit(X, y).merge(whole)


@pytest.mark.parametrize("method", ["2sls", "liml"])
def test_weights_are_repeated_rows_and_several_targets_are_fitted_one_by_one(method: str) -> None:
    X, y, model, _ = given("over")
    model, weight = model.set_params(method=method), np.arange(len(y)) % 3
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(X.loc[X.index.repeat(weight)], np.repeat(y, weight))
    for name in ("estimate", "std_error"):
        assert column(weighted.summary(), name) == pytest.approx(column(repeated.summary(), name), rel=1e-10)
    for one, other in zip(*(m.summary().to_dict()["tests"] for m in (weighted, repeated)), strict=True):
        assert {**one, "test": 0, "column": 0} == pytest.approx({**other, "test": 0, "column": 0}, rel=1e-9)
    both = clone(model).fit(X, np.column_stack([y, X["male"]]))
    alone = [clone(model).fit(X, target) for target in (y, X["male"])]
    assert both.coef_ == pytest.approx(np.stack([one.coef_ for one in alone]), rel=1e-10)
    assert [row["F"] for row in both.summary().to_dict()["tests"][1][-1:]] == pytest.approx(
        [row["F"] for row in alone[1].summary().to_dict()["tests"][-1:]], rel=1e-9
    )
    robust = both.summary(errors="HC1", X=X, y=np.column_stack([y, X["male"]])).to_dict()["coefficients"]
    single = alone[1].summary(errors="HC1", X=X, y=X["male"]).to_dict()["coefficients"]
    assert [r["std_error"] for r in robust[3:]] == pytest.approx([r["std_error"] for r in single], rel=1e-9)


def test_files_and_predictions_without_instruments(tmp_path: Any) -> None:
    X, y, model, _ = given("liml two")
    model.fit(X, y)
    save(model, tmp_path / "m.adaline")
    again = load(tmp_path / "m.adaline")
    inner = X[["bill_length_mm", "flipper_length_mm", "bill_depth_mm"]]
    for one in (model, again):
        assert (one.predict(X) == one.predict(inner)).all()
        assert one.feature_names_in_.tolist() == list(inner.columns)
        assert str(one.summary(errors="HC1", X=X, y=y)) == str(model.summary(errors="HC1", X=X, y=y))
    again.partial_fit(X, y)
    plain = InstrumentalVariables(endogenous=[4, 5], instruments=[0, 1, 2]).fit(X.to_numpy(), y)
    assert plain.coef_.shape == (3,)
    assert (plain.predict(X.to_numpy()) == plain.predict(inner.to_numpy())).all()
    assert [row["name"] for row in plain.summary().to_dict()["coefficients"]] == ["intercept", "x3", "x4", "x5"]


WITH_INSTRUMENTS = [
    Case(InstrumentalVariables, {"endogenous": 0, "instruments": -1}),
    Case(InstrumentalVariables, {"endogenous": 0, "instruments": [-2, -1], "method": "liml"}),
]
LAWS: list[Any] = [  # of all systems; those that need a coefficient for each column of X do not hold
    test_forms.test_dense_rows,
    test_forms.test_sparse_rows,
    partial(test_forms.test_values_of_rows_lie_where_the_rows_do, device="device1"),
    test_forms.test_a_fit_leaves_its_input_alone,
    test_models.test_a_second_fit_forgets_the_first,
    test_models.test_what_is_learned_cannot_be_changed_in_place,
    test_models.test_weights_that_mean_nothing_are_refused,
    test_parts.test_pieces_equal_the_whole,
    test_parts.test_merging_in_any_grouping_and_order,
    test_parts.test_rows_that_are_forgotten_were_never_there,
    test_rows.test_a_row_of_weight_zero_is_not_there,
    test_rows.test_weights_times_a_power_of_two_change_nothing,
    test_rows.test_the_order_of_rows_does_not_matter,
    test_rows.test_powers_of_two_as_units_change_no_prediction,
    test_rows.test_the_unit_of_the_target_is_that_of_the_predictions,
    test_settings.test_settings_set_after_a_fit_change_nothing_that_the_model_says,
]
LAWS_WITH: list[Any] = [  # with a folder, or settings of the test
    test_models.test_a_copy_and_a_file_are_the_model,
    test_models.test_a_loaded_model_goes_on_as_the_model_would,
    test_tables.test_a_model_goes_on_with_another_table,
    test_rows.test_the_number_of_threads_changes_no_bit,
]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("law", [*LAWS, *LAWS_WITH], ids=lambda law: getattr(law, "func", law).__name__)
@pytest.mark.parametrize("case", WITH_INSTRUMENTS, ids=lambda case: case.name)
def test_laws_of_all_systems_hold_with_instruments(
    case: Case, law: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CASES_OF_LAWS, case.name, case)
    wanted = signature(law).parameters
    law(case, **{k: v for k, v in {"tmp_path": tmp_path, "monkeypatch": monkeypatch}.items() if k in wanted})


def test_without_endogenous_columns_it_is_least_squares() -> None:
    X, y, _, _ = given("over")
    mine, theirs = InstrumentalVariables().fit(X, y), LinearRegression().fit(X, y)
    assert (mine.coef_ == theirs.coef_).all()
    assert mine.summary().to_dict()["aic"] == theirs.summary().to_dict()["aic"]


def test_what_does_not_identify_coefficients_is_named() -> None:
    rng = np.random.default_rng(2)
    x, z, w, error = rng.normal(size=(4, 200))
    rows = pd.DataFrame({"x": x, "d": z + error, "e": 2 * z - error, "z": z, "w": w, "zz": 3 * z + 1, "x2": 2 * x})
    y = rows.d - rows.e + x + error
    fit = lambda d, z: InstrumentalVariables(endogenous=d, instruments=z).fit(rows[["x", *d, *z]], y)  # noqa: E731
    with pytest.raises(InvalidData, match=r"2 endogenous columns \(d, e\) need at least as many instruments.* is 1"):
        fit(["d", "e"], ["z"])
    with pytest.raises(InvalidData, match=r"do not tell the columns apart.* e = .*add nothing: zz = 3 z \+ 1"):
        fit(["d", "e"], ["z", "zz"])
    with pytest.raises(InvalidData, match=r"columns apart.* d = .* x2 = 2 x"):
        fit(["d"], ["x2"])
    weak = fit(["d"], ["w"]).summary()
    assert any("weak instruments for d" in note for note in weak.notes)
    with pytest.warns(AdalineWarning, match="add nothing: zz"):
        model = fit(["d"], ["z", "zz"])
    assert model.coef_ == pytest.approx(fit(["d"], ["z"]).coef_)
    assert "Sargan" not in [row["test"] for row in model.summary().to_dict()["tests"]]
    for d, z, message in (
        (["d"], ["no"], "no column 'no'"),
        ([], ["z"], "without an endogenous column"),
        (["d"], ["d", "z"], "is endogenous, and an instrument"),
        (object(), ["z"], "names or indices of columns"),
        (["d", "d"], ["z"], "each once"),
        (7.5, ["z"], "names or indices of columns"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            InstrumentalVariables(endogenous=d, instruments=z).fit(rows, y)
    with pytest.raises(InvalidParameter, match="influence"):
        model.influence(rows[["x", "d", "z", "zz"]], y)


FORMULAS = {
    "exact": "body_mass_g ~ bill_length_mm | 0 | flipper_length_mm ~ bill_depth_mm",
    "over": "body_mass_g ~ bill_length_mm | flipper_length_mm ~ species + sex",
    "two": "body_mass_g ~ bill_length_mm | 0 | flipper_length_mm + bill_depth_mm ~ species + sex",
    "origin": "body_mass_g ~ bill_length_mm - 1 | 0 | flipper_length_mm ~ bill_depth_mm + year",
    "absorbed": "body_mass_g ~ bill_length_mm | island + year | flipper_length_mm ~ bill_depth_mm + sex",
}


@pytest.mark.every
@pytest.mark.parametrize("case", FORMULAS)
def test_formulas_name_endogenous_columns_and_instruments(case: str, tmp_path: Any) -> None:
    table = open_table(BIRDS, formula=FORMULAS[case])
    model = InstrumentalVariables().fit(table)
    skip = 1 if case == "absorbed" else 0  # whose constant is that of effects of mean zero
    for errors, theirs in ({"classical": "classical"} | {e: e for e in ("HC1", "CR1") if not skip}).items():
        more = {"groups": "place"} if errors == "CR1" else {}
        more |= {"X": open_table(BIRDS, formula=FORMULAS[case])} if errors != "classical" else {}
        found = model.summary(errors=errors, **more)
        assert column(found, "estimate")[skip:] == pytest.approx(THEIRS[case, "estimate"], rel=1e-9)
        assert column(found, "std_error")[skip:] == pytest.approx(THEIRS[case, theirs], rel=1e-8)
    rows = {row["test"]: row for row in model.summary().to_dict()["tests"]}
    theirs = THEIRS[case, "diagnostics"].reshape(-1, 4)
    assert rows["weak instruments"]["F"] == pytest.approx(theirs[int(case == "two"), 2], rel=1e-8)
    assert rows["Wu-Hausman"]["F"] == pytest.approx(theirs[-2, 2], rel=1e-8)
    inner = ["bill_length_mm", "flipper_length_mm", "bill_depth_mm", "island", "year"]
    save(model, tmp_path / "m.adaline")
    assert (load(tmp_path / "m.adaline").predict(BIRDS[inner]) == model.predict(BIRDS)).all()


def test_absorbed_effects_have_robust_errors_and_are_those_of_dummies() -> None:
    table = open_table(BIRDS, formula=FORMULAS["absorbed"])
    model = InstrumentalVariables().fit(table)
    for errors in ("HC0", "HC1"):
        found = model.summary(errors=errors, X=open_table(BIRDS, formula=FORMULAS["absorbed"]))
        assert column(found, "std_error")[1:] == pytest.approx(THEIRS["absorbed", errors], rel=1e-8)
    dummies = FORMULAS["absorbed"].replace(" | island + year", " + island + C(year) | 0")
    whole = InstrumentalVariables().fit(open_table(BIRDS, formula=dummies))
    assert model.predict(BIRDS) == pytest.approx(whole.predict(BIRDS), rel=1e-9)
    assert model.certificate_.digits > 6


@pytest.mark.every
@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ x | 0 | d", "'y ~ x | firm | d ~ z'"),
        ("y ~ x | 0 | d ~ z | w", "'y ~ x | firm | d ~ z'"),
        ("y ~ x | 0 | d ~ ", "'y ~ x | firm | d ~ z'"),
        ("y ~ x + d | 0 | d ~ z", "'d' in the formula .* is endogenous, and exogenous too"),
        ("y ~ x | 0 | d ~ d + z", "'d' in the formula .* is endogenous, and an instrument too"),
        ("y ~ x | 0 | d ~ x", r"1 endogenous column \(d\) needs at least as many instruments, and there are 0"),
        ("y ~ x | 0 | d + x:d ~ z", "2 endogenous columns"),
        ("y ~ x | 0 | e ~ z", "there is no such column"),
        ("y ~ x | z", r"z after the bar .* is absorbed, and no column is endogenous: .* 'y ~ x \| z \| d ~ z'"),
    ],
)
def test_formulas_that_cannot_be_fitted_say_why(formula: str, message: str) -> None:
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 5)), columns=["y", "x", "d", "z", "w"])
    with pytest.raises((InvalidParameter, InvalidData), match=message):
        InstrumentalVariables().fit(open_table(rows, formula=formula))
    good = open_table(rows, formula="y ~ . | 0 | d ~ z")
    assert InstrumentalVariables().fit(good).feature_names_in_.tolist() == ["x", "w", "d"]
    with pytest.raises(InvalidParameter, match="takes no instruments"):
        LinearRegression().fit(good)
    with pytest.raises(InvalidParameter, match="leave out endogenous="):
        InstrumentalVariables(endogenous="d", instruments="z").fit(good)
