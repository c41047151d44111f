"""Tests of terms against R (car, stats), and their laws. tests/data/terms/terms.R made the numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import (
    ElasticNet,
    GeneralizedLinear,
    KMeans,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RobustRegression,
    anova,
    basis,
    drop1,
    open_table,
    term_inflation,
)
from adaline.errors import InvalidData, InvalidParameter, NotFittedError
from adaline.sources import expanded
from tests.inference.against_terms import BIRDS, CASES, ROWS, THEIRS, fitted

LINEAR = ["two", "covariates", "weighted", "curved"]
FAMILIES = ["poisson", "binomial", "probit", "gamma", "quasipoisson", "logistic"]
TYPES = (1, 2, 3)


def column(table: Any, name: str) -> dict[str, float]:
    """Return a column of the rows of a table by their terms; of F the chi-squared where that is asked for."""
    rows = table.to_dict()["terms"]
    if name == "statistic":
        return {row["term"]: row.get("F", row.get("chi2")) for row in rows}
    if name == "chi2":
        return {row["term"]: row["chi2"] if "chi2" in row else row["F"] * row["df"] for row in rows}
    return {row["term"]: row[name] for row in rows if name in row}


def close(mine: dict[str, float], theirs: dict[str, float], rel: float = 1e-9) -> bool:
    return mine == pytest.approx(theirs, rel=rel, abs=1e-12)


@pytest.mark.parametrize("case", ["poisson", "logistic"])
def test_likelihood_ratios_do_not_hold_the_rows(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows too large for memory are read block by block, without the columns that are tested."""
    model, _, table = fitted(case)
    held = [anova(model, type=kind, X=table) for kind in TYPES]
    rows: list[int] = []
    phi = expanded.phi
    monkeypatch.setattr(expanded, "IN_MEMORY", 0)
    monkeypatch.setattr(expanded, "phi", lambda basis, x: rows.append(len(x)) or phi(basis, x))
    for kind, theirs in zip(TYPES, held, strict=True):
        assert close(column(anova(model, type=kind, X=table), "statistic"), column(theirs, "statistic"), rel=1e-7)
    assert len(rows) > 10 * len(TYPES)  # in each pass of each fit


@pytest.mark.parametrize("case", LINEAR)
def test_tables_of_least_squares_are_those_of_r(case: str) -> None:
    model, _, table = fitted(case)
    robust = model.with_errors("HC3", table)
    for kind in TYPES:
        found = anova(model, type=kind)
        for mine, name in {"df": "df", "statistic": "statistic", "p_value": "p", "sum_of_squares": "squares"}.items():
            assert close(column(found, mine), THEIRS[case, f"type{kind}.{name}"])
        if kind > 1:
            assert close(column(robust.anova(kind), "F"), THEIRS[case, f"HC3.type{kind}.statistic"])
            assert "sum_of_squares" not in robust.anova(kind).rows[0]
    kept = {row["term"]: row for row in robust.anova(2).rows}
    assert all(kept[row["term"]] == row for row in robust.drop1().rows)
    assert [row["term"] for row in robust.drop1().rows] == [row["term"] for row in drop1(model).rows[1:]]
    dropped = drop1(model)
    assert close(column(dropped, "sum_of_squares"), THEIRS[case, "drop1.squares"])
    aic = column(dropped, "aic")
    differences = {name: value - aic["(none)"] for name, value in aic.items()}
    assert close({"<none>": 0.0} | {k: v for k, v in differences.items() if v}, THEIRS[case, "drop1.aic"], 1e-8)


@pytest.mark.parametrize("case", FAMILIES)
def test_tables_of_likelihoods_are_those_of_r(case: str) -> None:
    model, _, table = fitted(case)
    rel = 1e-7 if case == "gamma" else 1e-9  # of R's last step
    for kind in TYPES:
        if kind > 1:
            assert close(column(anova(model, type=kind), "chi2"), THEIRS[case, f"wald{kind}.statistic"], rel)
        found = anova(model, type=kind, X=table)
        for mine, name in {"df": "df", "statistic": "statistic", "p_value": "p"}.items():
            assert close(column(found, mine), THEIRS[case, f"ratio{kind}.{name}"], rel)
    dropped = drop1(model, table)
    deviance, aic = column(dropped, "deviance"), column(dropped, "aic")
    assert close(deviance | {"<none>": deviance.pop("(none)")}, THEIRS[case, "drop1.deviance"])
    if case not in ("gamma", "quasipoisson"):  # R takes a deviance over a fixed dispersion
        differences = {("<none>" if name == "(none)" else name): v - aic["(none)"] for name, v in aic.items()}
        assert differences == pytest.approx(THEIRS[case, "drop1.aic"], rel=1e-8, abs=1e-9)


def test_ratios_of_ordered_classes_are_those_of_r() -> None:
    model, _, table = fitted("ordered")
    found = anova(model, X=table)
    for mine, name in {"df": "df", "chi2": "statistic", "p_value": "p"}.items():
        assert close(column(found, mine), THEIRS["ordered", f"ratio2.{name}"], 1e-7)  # as far as polr goes
    dropped = {row["term"]: row["chi2"] for row in drop1(model, table).rows[1:]}
    assert dropped == pytest.approx(column(found, "chi2"))


@pytest.mark.parametrize("case", [*LINEAR, *FAMILIES])
def test_inflation_of_terms_is_that_of_r(case: str) -> None:
    found = term_inflation(fitted(case)[0])
    assert close(column(found, "gvif"), THEIRS[case, "gvif"])
    assert close(column(found, "gvif_root"), THEIRS[case, "gvif_root"])


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_test_of_a_term_is_that_of_its_columns(case: str) -> None:
    model, _, _ = fitted(case)
    names = list(model.feature_names_in_)
    for term in anova(model).to_dict()["terms"]:
        own = [name for name in names if re.sub(r"\[.*?\]|(?<=\))\d", "", name) == term["term"]]
        assert str(model.test(term["term"])) == str(model.test(own))
        assert model.test(term["term"]).p_value == model.test(own).p_value


def test_terms_are_named_by_formula_column_or_list() -> None:
    model, _, _ = fitted("curved")
    whole = model.test("bill_length_mm")  # the raw column of poly()
    assert whole.freedom[0] == 2
    assert whole.statistic == model.test("poly(bill_length_mm, 2)").statistic
    both = model.test(["species", "sex:flipper_length_mm"])
    assert both.freedom[0] == 3
    assert model.test("`species`").statistic == model.test("species").statistic
    assert model.test("flipper_length_mm").freedom[0] == 1  # a column before all that is made of it
    with pytest.raises(InvalidParameter, match="no column is called 'specie'"):
        model.test("specie")


@pytest.mark.parametrize("case", LINEAR)
def test_sums_of_squares_are_those_of_nested_models(case: str) -> None:
    model, _, _ = fitted(case)
    first = anova(model, type=1).to_dict()
    fit = model._fits[0]
    explained = float(fit.tss[0] - fit.rss[0])
    assert sum(row["sum_of_squares"] for row in first["terms"]) == pytest.approx(explained, rel=1e-12)
    assert first["residual"]["sum_of_squares"] == pytest.approx(float(fit.rss[0]), rel=1e-12)
    if case in ("two", "covariates"):
        kind, formula = CASES[case]
        last = formula.replace("species * sex", "species + sex").replace(" + bill_depth_mm", "")
        small = type(kind)().fit(open_table(BIRDS, formula=last))
        row = anova(model, type=2).rows[-1]
        table = anova(small, model)
        assert row["F"] == pytest.approx(table.f_statistic[1], rel=1e-9)
        assert row["p_value"] == pytest.approx(table.p_value[1], rel=1e-9)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("case", ["two", "curved", "poisson", "logistic"])
def test_tables_depend_on_neither_units_nor_orders_nor_codings(case: str, kind: Any) -> None:
    model, rows, _ = fitted(case)
    system, formula = CASES[case]
    before = column(anova(model, type=kind), "chi2")
    other = rows.sample(frac=1.0, random_state=1)
    number = "x1" if case == "poisson" else "bill_length_mm" if case == "logistic" else "flipper_length_mm"
    other[number] = other[number] * 254.0
    first = {"species": ["Gentoo", "Adelie", "Chinstrap"], "g": ["c", "a", "b"]}
    levels = {name: order for name, order in first.items() if f"~ {name}" in formula}
    again = type(system)(**system.get_params()).fit(open_table(other, formula=formula, categories=levels))
    assert column(anova(again, type=kind), "chi2") == pytest.approx(before, rel=1e-6, abs=1e-9)
    if kind > 1 and case == "two":
        for contrast in ("Sum", "Helmert", "Poly"):
            coded = LinearRegression().fit(open_table(rows, formula=f"body_mass_g ~ C(species, {contrast}) * sex"))
            mine = [row["F"] for row in anova(coded, type=kind).rows]
            assert mine == pytest.approx([row["F"] for row in anova(model, type=kind).rows], rel=1e-9)


def balanced() -> pd.DataFrame:
    cells = [{"a": a, "b": b, "c": c} for a in "xyz" for b in "uv" for c in "klm" for _ in range(2)]
    rows = pd.DataFrame(cells)
    return rows.assign(y=np.random.default_rng(3).normal(size=len(rows)) + (rows.a == "y") + (rows.b == "v") * 2)


def test_types_agree_where_terms_are_orthogonal() -> None:
    model = LinearRegression().fit(open_table(balanced(), formula="y ~ a * b * c"))
    tables = [column(anova(model, type=kind), "sum_of_squares") for kind in TYPES]
    assert len(tables[0]) == 7
    assert tables[1] == pytest.approx(tables[0], rel=1e-9)
    assert tables[2] == pytest.approx(tables[0], rel=1e-9)
    additive = LinearRegression().fit(balanced()[["a", "b"]], balanced().y)
    assert column(term_inflation(additive), "gvif") == pytest.approx({"a": 1.0, "b": 1.0})


def test_terms_of_three_categories_without_main_effects_and_without_a_constant() -> None:
    rows = balanced().sample(30, random_state=2)
    for formula in ("y ~ a:b", "y ~ 0 + a + a:b", "y ~ a * b * c - a:b:c"):
        constant = "0 +" not in formula
        model = LinearRegression(fit_intercept=constant).fit(open_table(rows, formula=formula))
        found = anova(model, type=3).rows
        assert sum(row["df"] for row in found) == len(model.coef_)
        assert all(0 <= row["p_value"] <= 1 for row in found)


def test_effects_of_type_3_are_the_same_within_products_of_all_levels() -> None:
    rows = balanced().sample(30, random_state=2)
    crossed, nested = (LinearRegression().fit(open_table(rows, formula=f"y ~ {f}")) for f in ("a * b", "a + a:b"))
    found = [column(anova(model, type=3), "F")["a"] for model in (crossed, nested)]
    assert found[1] == pytest.approx(found[0], rel=1e-9)
    assert column(anova(nested, type=2), "df") == {"a": 2, "a:b": 3}


def test_terms_of_a_basis_are_those_of_its_columns() -> None:
    X, y = BIRDS[["bill_length_mm", "bill_depth_mm"]], BIRDS.body_mass_g
    model = LinearRegression(basis=basis.Polynomial(2)).fit(X, y)
    assert column(anova(model), "df") == {"bill_length_mm": 2, "bill_depth_mm": 2, "bill_length_mm:bill_depth_mm": 1}
    assert model.test("bill_depth_mm").freedom[0] == 1  # a column of phi before the term of its name
    assert model.test("bill_length_mm:bill_depth_mm").freedom[0] == 1
    curve = LinearRegression(basis=basis.Spline(4)).fit(X.to_numpy(), y)
    assert column(anova(curve), "df") == {"x0": 4, "x1": 4}
    assert curve.test("x1").freedom[0] == 4
    around = LinearRegression(basis=basis.Radial(3, random_state=0)).fit(X, y)
    assert sum(column(anova(around), "df").values()) == 3


def test_models_of_several_classes_and_robust_ones_have_tables_of_terms() -> None:
    X = BIRDS[["bill_length_mm", "bill_depth_mm", "sex"]]
    softmax = LogisticRegression().fit(X, BIRDS.island)
    assert column(anova(softmax), "df") == {"bill_length_mm": 2, "bill_depth_mm": 2, "sex": 2}
    assert anova(softmax).rows[2]["chi2"] == pytest.approx(softmax.test("sex").chi2)
    ratios = anova(softmax, X=X, y=BIRDS.island)
    small = LogisticRegression().fit(X[["bill_length_mm", "bill_depth_mm"]], BIRDS.island)
    assert ratios.rows[2]["chi2"] == pytest.approx(anova(small, softmax).chi2[1], rel=1e-9)
    huber = RobustRegression().fit(X, BIRDS.body_mass_g)
    assert anova(huber).rows[2]["p_value"] == pytest.approx(huber.test("sex").p_value)
    clustered = softmax.with_errors("HC0", X, BIRDS.island)
    assert clustered.anova().rows[0]["chi2"] == pytest.approx(clustered.test("bill_length_mm").chi2)


def test_a_term_that_few_groups_cannot_test_is_said_beside_the_others() -> None:
    rows = BIRDS[["sex", "bill_length_mm"]].assign(month=np.array(list("abcdefgh"))[np.arange(len(BIRDS)) % 8])
    model = LinearRegression().fit(rows, BIRDS.body_mass_g)
    view = model.with_errors("cluster", rows, BIRDS.body_mass_g, groups=BIRDS.island)
    found = view.anova().to_dict()["terms"]
    assert [set(row) >= {"F", "p_value"} for row in found] == [True, True, False]
    assert found[0]["p_value"] == pytest.approx(view.test("sex").p_value)
    assert "month is not tested: these 7 hypotheses cannot be tested together" in str(view.anova())


def test_terms_that_the_rows_do_not_tell_apart() -> None:
    rows = BIRDS.assign(twice=2 * BIRDS.bill_length_mm)
    model = LinearRegression().fit(rows[["species", "bill_length_mm", "twice"]], rows.body_mass_g)
    assert column(anova(model, type=1), "df") == {"species": 2, "bill_length_mm": 1, "twice": 0}
    for kind in (2, 3):
        with pytest.raises(InvalidData, match=r"twice = 2 bill_length_mm: leave out a column of it, or use type=1"):
            anova(model, type=kind)
    with pytest.raises(InvalidData, match="the rows cannot tell whether bill_length_mm"):
        model.test("bill_length_mm")
    assert term_inflation(model).rows[1]["gvif"] == np.inf
    assert term_inflation(model).rows[0]["gvif"] < np.inf
    cells = BIRDS[~((BIRDS.species == "Gentoo") & (BIRDS.sex == "male"))]
    empty = LinearRegression().fit(open_table(cells, formula="body_mass_g ~ species * sex"))
    assert column(anova(empty), "df") == {"species": 2, "sex": 1, "species:sex": 1}
    assert empty.test("species:sex").freedom[0] == 1
    with pytest.raises(InvalidData, match=r"'species\[T.Gentoo\]:sex\[T.male\]' of the term 'species:sex' is constant"):
        anova(empty, type=3)
    nothing = LinearRegression().fit(rows.assign(one=1.0)[["one", "bill_length_mm", "species"]], rows.body_mass_g)
    constant = LinearRegression().fit(open_table(rows.assign(one=1.0), formula="body_mass_g ~ I(one * 2) + species"))
    with pytest.raises(InvalidParameter, match="'one' has no coefficient to test"):
        constant.test("one")
    assert column(anova(nothing), "df")["one"] == 0


def test_bad_input_is_refused_with_a_remedy() -> None:
    X, y = BIRDS[["species", "bill_length_mm"]], BIRDS.body_mass_g
    model = LinearRegression().fit(X, y)
    refused: list[tuple[Any, str]] = [
        (lambda: anova(model, type=4), "type must be 1, 2 or 3, got 4"),
        (lambda: anova(model, model, type=3), "takes no type or X"),
        (
            lambda: anova(KMeans(2).fit(BIRDS[["bill_length_mm"]])),
            "anova needs a model with standard errors; got KMeans",
        ),
        (lambda: anova(ElasticNet(l1=0.1).fit(X, y)), "anova needs a model with standard errors"),
        (lambda: anova(Ridge(1.0).fit(X, y)), "no tests for a penalised fit"),
        (lambda: term_inflation(RobustRegression().fit(X, y)), "use LinearRegression"),
        (lambda: anova(LinearRegression().fit(X, np.column_stack([y, y]))), "several targets; fit one model for each"),
        (lambda: anova(GeneralizedLinear("gamma", link="log", penalty=1.0).fit(X, y), X=X, y=y), "penalised fit"),
        (lambda: drop1(LogisticRegression(penalty=1.0).fit(X, BIRDS.sex)), "no tests for a penalised fit"),
    ]
    for ask, why in refused:
        with pytest.raises((InvalidParameter, InvalidData), match=why):
            ask()
    with pytest.raises(NotFittedError):
        anova(LinearRegression())
    absorbed = LinearRegression().fit(open_table(BIRDS, formula="body_mass_g ~ bill_length_mm + sex | island"))
    with pytest.raises(InvalidParameter, match=r"effects of 'island' were absorbed.*Fit with C\(island\)"):
        absorbed.test("island")
    assert column(anova(absorbed), "df") == {"bill_length_mm": 1, "sex": 1}
    poisson = GeneralizedLinear("poisson").fit(ROWS[["g", "x1"]], ROWS["count"])
    with pytest.raises(InvalidData, match="not the rows that were fitted"):
        anova(poisson, X=ROWS[["g", "x1"]][1:], y=ROWS["count"][1:])


def test_tables_are_shown() -> None:
    model, _, table = fitted("two")
    text = str(anova(model))
    title = "LinearRegression: tests of terms, each given all other terms that do not contain it (type 2)"
    assert text.splitlines()[0] == title
    assert text.splitlines()[2].split() == ["df", "SS", "F", "p"]
    assert text.splitlines()[-1] == "residuals: SS 3.13026e+07 on 327 degrees of freedom"
    assert "<table>" in anova(model)._repr_html_()
    assert list(anova(model).to_frame().columns) == ["term", "df", "sum_of_squares", "F", "p_value"]
    assert "HC3 standard errors" in str(model.with_errors("HC3", table).anova())
    assert str(drop1(model)).splitlines()[4].split()[0] == "(none)"
    assert "GVIF^(1/(2 df))" in str(term_inflation(model))
