"""Effects where they are hard: columns that depend on each other, weights of zero, levels of one row, huge effects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import adaline
from adaline import GeneralizedLinear, LinearRegression, open_table
from adaline.errors import AdalineWarning, InvalidData, InvalidParameter, SumsMissing
from adaline.solvers.absorb import projection

RNG = np.random.default_rng(3)
N = 200
F, H = RNG.integers(0, 12, N), RNG.integers(0, 5, N)
A, B = RNG.normal(size=N) + 0.3 * F, RNG.normal(size=N)
Y = A - 0.5 * B + 0.3 * F + RNG.normal(size=N)
COUNTS = RNG.poisson(np.exp(0.4 * A - 1.0)).astype(np.float64)
ROWS: dict[str, Any] = {"y": Y, "k": COUNTS, "a": A, "b": B, "e": 2 * A + F, "size": F * 1.5, "f": F, "h": H}


def poisson() -> Any:
    return GeneralizedLinear(loss="poisson")


def errors_of(model: Any, **options: Any) -> list[float]:
    """Return the standard errors of the slopes."""
    return [row["std_error"] for row in model.summary(**options).to_dict()["coefficients"][1:]]


def repeated(rows: dict[str, Any], weight: Any) -> dict[str, Any]:
    """Return each row as often as its weight says."""
    return {name: np.repeat(column, weight) for name, column in rows.items()}


def test_all_rows_are_needed_at_once() -> None:
    table = open_table(ROWS, formula="y ~ a + b | f")
    for system in (LinearRegression(), LinearRegression().fit(open_table(ROWS, formula="y ~ a + b"))):
        with pytest.raises(SumsMissing, match="effects are absorbed from all rows at once: use fit"):
            system.partial_fit(table)
    for method in ("auto", "loo", "folds"):
        with pytest.raises(InvalidParameter, match="whose levels differ: leave out absorb="):
            adaline.select(LinearRegression(), table, rank=["keep", "drop"], method=method)
    with pytest.raises(InvalidParameter, match="whose levels differ: leave out absorb="):
        adaline.select(poisson(), open_table(ROWS, formula="k ~ a | f"), penalty=[0.0, 1.0])


@pytest.mark.filterwarnings("ignore::adaline.errors.AdalineWarning")
@pytest.mark.parametrize("effects", ["f", "f + h"])
def test_counts_add_up_beside_columns_that_depend_on_each_other(effects: str) -> None:
    table = open_table(ROWS, formula=f"k ~ a + e | {effects}")
    model = poisson().fit(table)
    assert np.isclose(model.predict(table).sum(), COUNTS.sum(), rtol=1e-8)
    fewer = poisson().fit(open_table(ROWS, formula=f"k ~ a | {effects}"))
    assert np.isclose(model.summary().to_dict()["coefficients"][0]["estimate"], fewer.intercept_)
    assert np.isfinite(errors_of(model, errors="HC1", X=table)[0])
    assert "absorbed: f (12 levels)" in str(model.summary())


def test_effects_that_dwarf_the_residuals() -> None:
    wild = {**ROWS, "y": Y + 1e10 * F}
    model, plain = (LinearRegression().fit(open_table(rows, formula="y ~ a + b | f + h")) for rows in (wild, ROWS))
    assert np.allclose(model.coef_, plain.coef_, rtol=1e-4)
    assert np.allclose(errors_of(model), errors_of(plain), rtol=1e-4)
    assert np.abs(model.coef_ / plain.coef_ - 1).max() <= 10.0**-model.certificate_.digits
    nothing = LinearRegression().fit(open_table({**ROWS, "y": 1e3 + F + 0.1 * H}, formula="y ~ a + b | f + h"))
    assert not nothing.coef_.any()
    assert np.isnan(errors_of(nothing)).all()
    assert "the absorbed effects explain the target" in str(nothing.summary())


def test_effects_alone() -> None:
    model = poisson().fit(open_table(ROWS, formula="k ~ 1 | f + h"))
    assert np.isclose(model.predict(open_table(ROWS, formula="k ~ 1 | f + h")).sum(), COUNTS.sum())
    alone = {"y": [1.0, 2.0, 3.0], "a": [1.0, 0.0, 2.0], "f": [1, 2, 3]}
    with pytest.raises(InvalidData, match="every row is the only one of a level"):
        LinearRegression().fit(open_table(alone, formula="y ~ a | f", singletons="drop"))


@pytest.mark.parametrize("system", [LinearRegression, poisson])
def test_columns_that_the_effects_explain_are_called_so(system: Any) -> None:
    model = system().fit(open_table(ROWS, formula="k ~ a + size | f"))
    assert "size is explained by the absorbed effects" in model.certificate_.advice
    assert "size is explained by the absorbed effects" in str(model.summary())
    assert "constant" not in str(model.summary())


def test_groups_are_given_as_two_arrays() -> None:
    table = open_table(ROWS, formula="y ~ a + b | f")
    model = LinearRegression().fit(table)
    wanted = errors_of(model, errors="cluster", X=table, groups=("f", "h"))
    for groups in ((F, H), ("f", H), np.column_stack([F, H])):
        assert errors_of(model, errors="cluster", X=table, groups=groups) == wanted


@pytest.mark.parametrize(("system", "target"), [(LinearRegression, "y"), (poisson, "k")])
@pytest.mark.parametrize("singletons", ["keep", "drop"])
def test_frequencies_are_rows_repeated(system: Any, target: str, singletons: str) -> None:
    weight = RNG.integers(0, 4, N)
    rows = {**ROWS, "f": np.where(np.arange(N) < 9, 100 + np.arange(N), F)}
    weight[:9] = [0, 1, 2, 0, 1, 2, 0, 1, 2]
    how: dict[str, Any] = {"formula": f"{target} ~ a + b | f + h", "singletons": singletons}
    one = system().fit(open_table({**rows, "w": weight}, weight="w", **how))
    many = system().fit(open_table(repeated(rows, weight), **how))
    assert one.absorbed_.levels == many.absorbed_.levels
    assert one.absorbed_.singletons == many.absorbed_.singletons
    assert one.effects_["f"]["level"].to_list() == many.effects_["f"]["level"].to_list()
    assert np.allclose(one.coef_, many.coef_, rtol=1e-7)
    assert np.allclose(errors_of(one), errors_of(many), rtol=1e-7)


def test_too_many_rows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "MOST_ROWS", N - 1)
    with pytest.raises(InvalidData, match="at most 199 rows"):
        LinearRegression().fit(open_table(ROWS, formula="y ~ a | f + h"))


@pytest.mark.parametrize("kind", [pa.float64(), pa.string()])
def test_a_column_of_gaps_alone_predicts(kind: Any) -> None:
    rows = pa.table({"y": Y, "a": A, "f": pa.array([None] * N, kind)})
    model = LinearRegression().fit(open_table(rows, formula="y ~ a | f", missing="indicator"))
    assert np.isclose(model.predict(open_table(rows, formula="y ~ a | f", missing="indicator")).mean(), Y.mean())


@pytest.mark.parametrize("system", [LinearRegression, poisson])
def test_a_dependency_names_the_effects(system: Any) -> None:
    with pytest.warns(AdalineWarning, match="e = 2 a \\+ effects"):
        model = system().fit(open_table(ROWS, formula="k ~ a + e | f"))
    assert "e = 2 a + effects" in str(model.summary())


@pytest.mark.parametrize(("system", "target"), [(LinearRegression, "y"), (poisson, "k")])
def test_negative_variances_of_two_kinds_of_groups_are_told(system: Any, target: str) -> None:
    table = open_table(ROWS, formula=f"{target} ~ a + b | f + h")
    groups = np.random.default_rng(1).integers(0, 2, (N, 2))
    with pytest.warns(AdalineWarning, match="which count as zero"):
        system().fit(table).summary(errors="cluster", X=table, groups=groups)


@pytest.mark.parametrize(
    "system",
    [
        adaline.RobustRegression(loss="quantile"),
        adaline.RobustRegression(),
        adaline.LogisticRegression(),
        adaline.OrdinalRegression(),
        adaline.LMS(),
        adaline.Perceptron(),
        adaline.KMeans(),
        adaline.LeastSquaresClassifier(),
    ],
    ids=lambda system: type(system).__name__,
)
def test_other_systems_absorb_no_effects(system: Any) -> None:
    table = open_table({**ROWS, "y": (Y > 0).astype(int)}, formula="y ~ a + b | f")
    with pytest.raises(
        InvalidParameter, match=f"{type(system).__name__} does not absorb effects: use LinearRegression"
    ):
        system.fit(table)


def test_counts_have_no_leverages_either() -> None:
    table = open_table(ROWS, formula="k ~ a + b | f + h")
    model = poisson().fit(table)
    for errors in ("HC2", "HC3", "HC4"):
        with pytest.raises(InvalidParameter, match=f"no {errors} errors where effects are absorbed"):
            model.summary(errors=errors, X=table)
    with pytest.raises(InvalidParameter, match="no influence where effects are absorbed"):
        model.influence(table)
    with pytest.raises(InvalidParameter, match="no intervals of predictions where effects are absorbed"):
        model.predict(table, interval="confidence")
    with pytest.raises(InvalidParameter, match="no profile intervals where effects are absorbed"):
        model.summary(interval="profile", X=table)
    with pytest.raises(InvalidParameter, match="no effects on the mean where effects are absorbed"):
        adaline.effects(model, table)
    smaller = poisson().fit(open_table(ROWS, formula="k ~ a | f + h"))
    found = adaline.anova(smaller, model)
    assert found.freedom_more[1] == 1
    assert model.test("b = 0").p_value == pytest.approx(model.summary().to_dict()["coefficients"][2]["p_value"])


def test_a_table_of_models_has_a_line_for_each_effect() -> None:
    plain = LinearRegression().fit(open_table(ROWS, formula="y ~ a + b"))
    one, two = (LinearRegression().fit(open_table(ROWS, formula=f"y ~ a + b | {bar}")) for bar in ("f", "f + h"))
    table = adaline.regression_table(plain, one, two, names=["none", "f", "both"])
    lines = [line.split("  ") for line in table.to_text().splitlines()]
    cells = {line[0]: [cell.strip() for cell in line[1:] if cell.strip()] for line in lines}
    assert cells["absorbed f"] == ["no", "yes, 12 levels", "yes, 12 levels"]
    assert cells["absorbed h"] == ["no", "no", "yes, 5 levels"]
    assert len(cells["within R²"]) == 2
    assert table.to_dict()["absorbed"] == [{}, {"f": 12}, {"f": 12, "h": 5}]
    assert "absorbed f & no & yes, 12 levels" in table.to_latex()
    assert two.summary().to_dict()["absorbed"] == {"f": 12, "h": 5}
