"""Marginal means and their contrasts against R (emmeans, multcomp), and their laws.

tests/data/terms/terms.R made the numbers.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from adaline import (
    GeneralizedLinear,
    KMeans,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    Ridge,
    RobustRegression,
    effects,
    means,
    open_table,
)
from adaline.errors import InvalidData, InvalidParameter
from adaline.inference.simultaneous import adjusted_chances, joint_reach, largest_tail, range_tail
from tests.inference.against_terms import BIRDS, ROWS, THEIRS, fitted

CASES = [
    "two",
    "covariates",
    "weighted",
    "curved",
    "poisson",
    "binomial",
    "probit",
    "gamma",
    "quasipoisson",
    "logistic",
]
COLUMNS = {"estimate": ("mean", "estimate", "ratio"), "error": ("std_error",), "lower": ("lower",), "upper": ("upper",)}


def by_of(case: str) -> tuple[str, str | None]:
    """Return the column of the means of a case, and another one."""
    rows = fitted(case)[1]
    return ("species", None if case == "logistic" else "sex") if "species" in rows else ("g", "h")


def check(rows: list[dict[str, Any]], case: str, what: str, rel: float = 1e-8, **names: str) -> None:
    """Compare rows with R's, by level or contrast, and by what they are within."""
    mine = {
        row.get("contrast", row.get("level")) + (f", {row['within']}" if "within" in row else ""): row for row in rows
    }
    found = 0
    for part, columns in {**COLUMNS, "p": ("p_value",)}.items():
        for name, value in THEIRS.get((case, f"{what}.{part}"), {}).items():
            row = mine[names.get(name, name.replace("(", "").replace(")", ""))]
            own = next(row[column] for column in columns if column in row)
            assert own == pytest.approx(value, rel=max(rel, 2e-6 if part == "p" else 0), abs=1e-9), (what, part, name)
            found += 1
    assert found


@pytest.mark.parametrize("case", CASES)
def test_means_and_contrasts_are_those_of_r(case: str) -> None:
    model, rows, _ = fitted(case)
    by, other = by_of(case)
    rel = 1e-6 if case in ("gamma", "logistic") else 1e-8  # of R's last step
    data = rows.drop(columns="w")  # R's means of numbers are not weighted
    scales: tuple[Any, ...] = (
        ("link", "response") if case not in ("two", "covariates", "weighted", "curved") else ("link",)
    )
    for scale in scales:
        found = means(model, data, by, scale=scale)
        check(found.means.rows, case, f"means.{scale}", rel)
        check(found.contrasts.rows, case, f"tukey.{scale}", rel)
    for adjust in ("holm", "bonferroni", "none"):
        found = means(model, data, by, scale="link", adjust=adjust)
        check(found.contrasts.rows, case, adjust, rel)
    check(
        means(model, data, by, scale="link", contrasts="reference", adjust="none").contrasts.rows,
        case,
        "reference",
        rel,
    )
    check(means(model, data, by, scale="link", weights="proportional").means.rows, case, "means.proportional", rel)
    if other is not None:
        check(means(model, data, [by, other], scale="link").means.rows, case, "means.both", rel)
        check(means(model, data, by, within=other, scale="link").contrasts.rows, case, "within", rel)


def test_means_with_robust_errors_and_at_values_are_those_of_r() -> None:
    model, rows, table = fitted("two")
    robust = model.with_errors("HC3", table, distribution="t").means(rows, "species")
    check(robust.means.rows, "two", "means.HC3")
    check(robust.contrasts.rows, "two", "tukey.HC3")
    curved, rows, _ = fitted("curved")
    at = {"flipper_length_mm": 210, "species": ["Adelie", "Gentoo"]}
    check(means(curved, rows, "sex", at=at).means.rows, "curved", "means.at")


def test_means_of_ordered_classes_are_those_of_r() -> None:
    model, rows, _ = fitted("ordered")
    latent = means(model, rows, "g", scale="link")
    check(latent.means.rows, "ordered", "means.link", 1e-4)  # of R's optim
    check(latent.contrasts.rows, "ordered", "tukey.link", 1e-4)
    shares = means(model, rows, "g").means.rows
    for part, column in {"estimate": "mean", "error": "std_error"}.items():
        mine = {f"{row['level']} {row['target']}": row[column] for row in shares}
        assert mine == pytest.approx(THEIRS["ordered", f"shares.{part}"], rel=1e-4)


@pytest.mark.parametrize("case", ["two", "covariates", "poisson"])
def test_simultaneous_contrasts_are_those_of_multcomp(case: str) -> None:
    model, rows, _ = fitted(case)
    found = means(model, rows.drop(columns="w"), by_of(case)[0], adjust="mvt", scale="link").contrasts.rows
    for row in found:
        assert row["p_value"] == pytest.approx(THEIRS[case, "mvt.p"][row["contrast"]], abs=2e-6)
    reach = [(row["upper"] - row["estimate"]) / row["std_error"] for row in found]
    assert reach == pytest.approx([THEIRS[case, "mvt.quantile"]["0.95"]] * 3, rel=1e-3)  # of a search


def test_the_studentized_range_is_that_of_r() -> None:
    for name, value in THEIRS["range", "p"].items():
        q, count, freedom = map(float, name.split())
        if freedom > 2:  # R's has four digits there
            assert range_tail(q, int(count), freedom) == pytest.approx(value, rel=2e-5 if freedom < 10 else 1e-6)
        if count == 2:
            two = 2 * (stats.norm.sf(q / 2**0.5) if np.isinf(freedom) else stats.t.sf(q / 2**0.5, freedom))
            assert range_tail(q, 2, freedom) == pytest.approx(two, rel=1e-9)


@pytest.mark.parametrize("freedom", [5.0, 40.0, np.inf])
@pytest.mark.parametrize("count", [2, 3, 4, 8])
def test_the_largest_statistic_of_equal_pairs_is_the_range(count: int, freedom: float) -> None:
    one = np.eye(count)
    pairs = np.array([one[i] - one[j] for i in range(count) for j in range(i)])
    size = np.array([1.0, 2.0, 3.5])
    theirs = [range_tail(2**0.5 * t, count, freedom) for t in size]
    assert largest_tail(pairs, freedom)(size) == pytest.approx(theirs, rel=1e-7 if count < 4 else 3e-3)
    reach = joint_reach(pairs, freedom, "mvt", count, 0.95)
    assert reach == pytest.approx(joint_reach(pairs, freedom, "tukey", count, 0.95), rel=1e-6 if count < 4 else 1e-3)


def test_adjusted_chances_are_in_order() -> None:
    rng = np.random.default_rng(0)
    root, t = rng.normal(size=(6, 4)), np.array([0.3, 2.5, -3.1, 1.0, 2.0, -2.4])
    p = {how: adjusted_chances(t, root, 20.0, how, 4) for how in ("none", "mvt", "holm", "bonferroni", "tukey")}
    assert (p["none"] <= p["mvt"] + 1e-12).all()
    assert (p["mvt"] <= p["bonferroni"] + 1e-3).all()
    assert (p["holm"] <= p["bonferroni"]).all()
    assert (np.argsort(p["holm"]) == np.argsort(p["none"])).all()
    independent = adjusted_chances(t[:2], np.eye(2), np.inf, "mvt", 2)
    assert independent == pytest.approx(1 - (1 - p_of(t[:2])) ** 2, rel=1e-6)  # Sidak's


def p_of(t: Any) -> Any:
    return 2 * stats.norm.sf(np.abs(t))


def column(found: Any, name: str, of: str = "means") -> list[float]:
    return [row[name] for row in found.to_dict()[of]]


@pytest.mark.parametrize("case", ["curved", "poisson", "logistic"])
def test_means_depend_on_neither_units_nor_orders(case: str) -> None:
    model, rows, _ = fitted(case)
    by, number = ("g", "x1") if case == "poisson" else ("species", "bill_length_mm")
    formula = {
        "curved": "body_mass_g ~ sex * flipper_length_mm + poly(bill_length_mm, 2) + species",
        "poisson": "count ~ g * x1 + h + offset(o)",
        "logistic": "male ~ species * bill_length_mm + body_mass_g",
    }[case]
    other = rows.sample(frac=1.0, random_state=1)
    other[number] = other[number] * 254.0
    levels = {"g": ["b", "c", "a"]} if by == "g" else {"species": ["Gentoo", "Adelie", "Chinstrap"]}
    again = type(model)(**model.get_params()).fit(open_table(other, formula=formula, categories=levels))
    for scale in ("link", "response"):
        mine, theirs = means(model, rows, by, scale=scale), means(again, other, by, scale=scale)
        for name in ("mean", "std_error", "lower", "upper"):
            order = dict(zip(column(theirs, "level"), column(theirs, name), strict=True))
            assert [order[level] for level in column(mine, "level")] == pytest.approx(column(mine, name), rel=1e-6)
        assert sorted(column(mine, "p_value", "contrasts")) == pytest.approx(
            sorted(column(theirs, "p_value", "contrasts")), rel=1e-5, abs=1e-9
        )


@pytest.mark.parametrize("case", ["curved", "poisson", "binomial", "logistic", "ordered"])
def test_means_over_rows_differ_as_effects_do(case: str) -> None:
    model, rows, table = fitted(case)
    by = "species" if "species" in rows else "g"
    offset = np.zeros(len(rows)) if case in ("poisson", "binomial") else None
    found = means(model, rows, by, over="rows", adjust="none")
    theirs = effects(model, rows, columns=[by], offset=offset, pairwise=True)
    for mine, row in zip(found.contrasts.rows, theirs.rows[:3] if case != "ordered" else (), strict=False):
        assert mine["estimate"] == pytest.approx(-row["estimate"], rel=1e-9)
        assert mine["std_error"] == pytest.approx(row["std_error"], rel=1e-9)
        assert mine["p_value"] == pytest.approx(row["p_value"], rel=1e-8, abs=1e-300)
    if case == "ordered":
        assert sum(column(found, "mean")) == pytest.approx(3.0)
    assert column(means(model, table, by, over="rows"), "mean") == pytest.approx(column(found, "mean"))


def test_means_of_a_balanced_design_are_those_of_its_cells() -> None:
    cells = [{"a": a, "b": b} for a in "xyz" for b in "uv" for _ in range(4)]
    rows = pd.DataFrame(cells).assign(y=np.random.default_rng(5).normal(size=24))
    model = LinearRegression().fit(open_table(rows, formula="y ~ a * b"))
    assert column(means(model, rows, "a"), "mean") == pytest.approx(rows.groupby("a").y.mean().tolist())
    assert column(means(model, by="a"), "mean") == pytest.approx(rows.groupby("a").y.mean().tolist())
    both = means(model, by=["b", "a"])
    assert column(both, "level")[:2] == ["u, x", "u, y"]
    assert both.means.rows[0]["a"] == "x"
    assert column(both, "mean") == pytest.approx(rows.groupby(["b", "a"]).y.mean().tolist())
    assert column(means(model), "mean") == pytest.approx([rows.y.mean()])
    tukey = stats.tukey_hsd(*(part.y for _, part in rows.groupby("a")))
    one_way = means(LinearRegression().fit(rows[["a"]], rows.y), by="a")
    assert column(one_way, "p_value", "contrasts") == pytest.approx(
        [tukey.pvalue[0, 1], tukey.pvalue[0, 2], tukey.pvalue[1, 2]], rel=1e-6
    )


def test_columns_of_all_kinds() -> None:
    rows = BIRDS.assign(
        big=BIRDS.body_mass_g > 4000,
        day=pd.to_datetime("2020-01-01") + pd.to_timedelta(np.arange(len(BIRDS)) % 50, unit="D"),
    )
    model = LinearRegression().fit(open_table(rows, formula="flipper_length_mm ~ species + big + year"))
    assert column(means(model, rows, "big"), "level") == ["False", "True"]
    years = means(model, rows, "year")
    assert column(years, "level") == ["2007", "2008", "2009"]
    assert column(means(model, rows, "year", at={"year": [2007, 2011]}), "level") == ["2007", "2011"]
    dated = LinearRegression().fit(open_table(rows, formula="body_mass_g ~ day + species", dates=["day"]))
    assert "2020-01-2" in str(means(dated, rows, "species"))
    plain = LinearRegression().fit(BIRDS[["bill_length_mm", "year"]].to_numpy(), BIRDS.body_mass_g)
    X = BIRDS[["bill_length_mm", "year"]].to_numpy()
    assert column(means(plain, X, "x1"), "level") == ["2007", "2008", "2009"]
    mid = X.mean(axis=0)
    assert column(means(plain, X), "mean") == pytest.approx([float(plain.predict(mid[None])[0])])
    _, lower, upper = plain.predict(mid[None], interval="confidence")
    ends = [*column(means(plain, X), "lower"), *column(means(plain, X), "upper")]
    assert ends == pytest.approx([float(lower[0]), float(upper[0])])
    weighted = means(plain, X, sample_weight=np.arange(len(X)) % 3)
    assert column(weighted, "mean") == pytest.approx(
        [plain.predict(np.average(X, axis=0, weights=np.arange(len(X)) % 3)[None])[0]]
    )
    numbers = LinearRegression().fit(BIRDS[["bill_length_mm", "year"]], BIRDS.body_mass_g)
    assert column(means(numbers, BIRDS, "year"), "level") == ["2007", "2008", "2009"]  # with columns that it has not
    gaps = rows.assign(sex=rows.sex.where(rows.index % 9 > 0, None))
    filled = LinearRegression().fit(open_table(gaps, formula="body_mass_g ~ sex + species", missing="indicator"))
    assert column(means(filled, gaps, "sex"), "level") == ["female", "male", "(missing)"]


def test_contrasts_of_choice() -> None:
    model, rows, _ = fitted("two")
    found = means(model, rows, "species", contrasts={"Gentoo against others": [-0.5, -0.5, 1.0]})
    value = column(found, "mean")
    assert column(found, "estimate", "contrasts") == pytest.approx([value[2] - (value[0] + value[1]) / 2])
    assert found.adjust == "holm"
    assert means(model, rows, "species", contrasts=None).contrasts.rows == []
    against = means(model, rows, "species", contrasts="reference")
    assert column(against, "contrast", "contrasts") == ["Chinstrap - Adelie", "Gentoo - Adelie"]
    assert against.adjust == "mvt"


@pytest.mark.parametrize("kind", [LinearRegression(), GeneralizedLinear("gamma", link="log")])
@pytest.mark.parametrize("formula", ["C(species, Sum) * C(sex, Sum)", "species * sex"])
@pytest.mark.filterwarnings("ignore::adaline.AdalineWarning")
def test_cells_that_the_rows_do_not_identify_have_no_mean(kind: Any, formula: str) -> None:
    some = BIRDS[~((BIRDS.species == "Gentoo") & (BIRDS.sex == "male"))]
    model = kind.fit(open_table(some, formula=f"body_mass_g ~ {formula}"))
    found = means(model, some, "species", within="sex")
    assert np.isnan(column(found, "mean")[-1])
    assert not np.isnan(column(found, "mean")[:-1]).any()
    assert "not identified" in str(found)
    p = {(*re.split(" [-/] ", row["contrast"]), row["within"]): row["p_value"] for row in found.contrasts.rows}
    assert np.isnan(p["Adelie", "Gentoo", "male"])
    assert not np.isnan(p["Adelie", "Chinstrap", "male"])


def test_other_models_have_means() -> None:
    X, y = BIRDS[["species", "sex", "bill_length_mm"]], BIRDS.body_mass_g
    assert "read as a prior" not in str(means(RobustRegression().fit(X, y), X, "species"))
    assert len(means(Ridge(1.0).fit(X, y), X, "species").means.rows) == 3
    softmax = LogisticRegression().fit(X, BIRDS.island)
    shares = means(softmax, X, "sex").means.rows
    assert sum(row["mean"] for row in shares if row["level"] == "male") == pytest.approx(1.0)
    inverse = GeneralizedLinear("gamma", link="inverse").fit(ROWS[["g", "x1"]], ROWS.amount)
    rows = means(inverse, ROWS, "g").means.rows
    assert all(row["lower"] < row["mean"] < row["upper"] for row in rows)
    poisson = GeneralizedLinear("poisson").fit(ROWS[["g", "x1"]], ROWS["count"], exposure=np.exp(ROWS.o))
    assert "the offset is zero" in str(means(poisson, ROWS, "g"))
    twice = column(means(poisson, ROWS, "g", offset=np.log(2.0)), "mean")
    assert twice == pytest.approx([2 * one for one in column(means(poisson, ROWS, "g"), "mean")])


def test_bad_input_is_refused_with_a_remedy() -> None:
    model, rows, _ = fitted("curved")
    y = BIRDS.body_mass_g
    absorbed = LinearRegression().fit(open_table(BIRDS, formula="body_mass_g ~ sex | island"))
    refused: list[tuple[Any, str]] = [
        (lambda: means(KMeans(2).fit(BIRDS[["bill_length_mm"]]), BIRDS, "sex"), "needs a model whose mean"),
        (lambda: means(model, rows, "island"), "the model has no column 'island'"),
        (lambda: means(model, rows, "specie"), "did you mean 'species'"),
        (lambda: means(model, rows, "species", within="species"), "name a column twice"),
        (lambda: means(model, rows, "flipper_length_mm"), r"different values: name some, at=\{'flipper_length_mm'"),
        (lambda: means(model, by="species"), "give data, or a value"),
        (lambda: means(model, rows, "species", at={"sex": "other"}), "has no level 'other'"),
        (lambda: means(model, by="species", over="rows"), "give data"),
        (lambda: means(model, rows, "species", contrasts="all"), "contrasts must be"),
        (lambda: means(model, rows, "species", contrasts={"a": [1, 2]}), "for each of 3 means"),
        (lambda: means(model, rows, "species", contrasts="reference", adjust="tukey"), "use adjust='mvt'"),
        (lambda: means(model, rows, "species", adjust="fdr"), "adjust must be"),
        (lambda: means(model, rows, "species", scale="log"), "scale must be"),
        (lambda: means(absorbed, BIRDS, "sex"), "effects were absorbed"),
        (
            lambda: means(LinearRegression().fit(BIRDS[["sex"]], np.column_stack([y, y])), BIRDS, "sex"),
            "several targets",
        ),
        (
            lambda: means(LogisticRegression().fit(BIRDS[["sex"]], BIRDS.island), BIRDS, "sex", scale="link"),
            "one output",
        ),
    ]
    for ask, why in refused:
        with pytest.raises((InvalidParameter, InvalidData), match=why):
            ask()


def test_means_are_shown() -> None:
    model, rows, _ = fitted("poisson")
    found = means(model, rows, "g", adjust="mvt")
    text = str(found)
    assert "a / b" in text
    assert "ratio" in text
    assert "the multivariate t distribution" in text
    assert found._repr_html_().count("<table>") == 2
    assert list(found.to_frame().columns) == ["level", "g", "mean", "std_error", "lower", "upper"]
    assert "ratio" in found.contrasts.to_frame().columns
    assert found.to_dict()["adjust"] == "mvt"
    ordinal = means(OrdinalRegression().fit(ROWS[["g"]], ROWS.level), ROWS, "g")
    assert "target" in str(ordinal)
