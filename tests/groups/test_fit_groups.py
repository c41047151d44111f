"""Every group's regression is what one fit to its rows gives; groups that cannot be fitted say why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from adaline import (
    AdditiveModel,
    ElasticNet,
    GeneralizedLinear,
    InstrumentalVariables,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    Ridge,
    RobustRegression,
    datasets,
    fit_groups,
    kernels,
    open_table,
)
from adaline.basis import Polynomial
from adaline.errors import AdalineError, AdalineWarning, InvalidParameter, kept_warnings
from adaline.estimator import clone
from adaline.groups import partitions, regressions
from adaline.groups.keys import Grouping, group_rows
from adaline.lazy import nw
from adaline.results import Status
from tests.turns import needs_native

STATISTICS = ["estimate", "std_error", "statistic", "p_value"]
COLUMNS = ["a", "b", "c"]
R = pd.read_csv(Path(__file__).parents[1] / "data" / "groups" / "groups.csv", comment="#", keep_default_na=False)


def table(groups: int = 12, seed: int = 0) -> pd.DataFrame:
    """Groups of 5 to 30 rows, in no order, of columns in different units and far from zero."""
    rng = np.random.default_rng(seed)
    key = np.repeat(np.arange(groups), rng.integers(5, 31, groups))
    x = rng.normal(size=(len(key), 3)) * [1.0, 1e-3, 50.0] + [0.0, 1.0, 1e4]
    y = x @ [1.0, -20.0, 0.1] + key + rng.normal(size=len(key))
    frame = pd.DataFrame(x, columns=COLUMNS).assign(y=y, key=key, n=rng.integers(1, 4, len(key)).astype(float))
    return frame.sample(frac=1, random_state=seed, ignore_index=True)


def with_labels(frame: pd.DataFrame) -> pd.DataFrame:
    """Labels and counts whose mean depends on the columns."""
    rng = np.random.default_rng(5)
    z = 0.7 * frame["a"] + 0.01 * (frame["c"] - 1e4)
    return frame.assign(
        up=(rng.random(len(z)) < 1 / (1 + np.exp(-z))).astype(float), count=1.0 * rng.poisson(np.exp(z))
    )


LIKELIHOODS = [
    (LogisticRegression(), "up"),
    (LogisticRegression(penalty=0.5), "up"),
    (GeneralizedLinear("poisson"), "count"),
    (GeneralizedLinear("poisson", penalty=2.0), "count"),
    (GeneralizedLinear("poisson", fit_intercept=False), "count"),
]


@pytest.mark.parametrize(("system", "target"), LIKELIHOODS)
@pytest.mark.parametrize("weight", [None, "n"])
def test_likelihoods_of_groups_are_those_of_one_fit(system: Any, target: str, weight: str | None) -> None:
    frame = with_labels(table(12, 4))
    frame["c"] -= 0.0 if system.fit_intercept else 1e4
    found = fit_groups(system, frame, target=target, by="key", features=COLUMNS, weight=weight)
    for key, rows in frame.groupby("key"):
        own = found[found["key"] == key].set_index("name")
        with kept_warnings():
            fit = {} if weight is None else {"sample_weight": rows[weight]}
            wanted = one_fit(system, rows, target, **fit)
        assert str(system.certificate_.status) == own["status"].iloc[0]
        if system.certificate_.status is Status.SOLVED:
            np.testing.assert_allclose(own[STATISTICS], wanted.loc[own.index], rtol=1e-9, atol=1e-300)
            assert (own["digits"] > 9).all()
        else:
            assert own[STATISTICS].isna().all(axis=None)
    assert (found["status"] == "solved").any()


def test_likelihoods_without_a_maximum_are_named() -> None:
    frame = with_labels(table(5))
    frame.loc[frame["key"] == 1, ["up", "count"]] = 0.0
    frame.loc[frame["key"] == 2, "up"] = 1.0 * (frame["a"] > 0)
    third = frame["key"] == 3
    frame.loc[third, "a"] = np.arange(third.sum()) % 2  # only one of its levels has labels of both kinds
    frame.loc[third & (frame["a"] > 0), ["up", "count"]] = 0.0
    labels, counts = (
        fit_groups(system, frame, target=target, by="key", features=["a"]).set_index("key")
        for system, target in ((LogisticRegression(), "up"), (GeneralizedLinear("poisson"), "count"))
    )
    assert labels["status"][::2].tolist() == ["solved", "one class", "separated", "quasi-separated", "solved"]
    assert counts["status"][::2].tolist() == ["solved", "no minimum", "solved", "no minimum", "solved"]
    assert labels.loc[[1, 2, 3], STATISTICS].isna().all(axis=None)
    assert counts.loc[[1, 3], STATISTICS].isna().all(axis=None)


def one_fit(system: Any, rows: pd.DataFrame, target: str = "y", **fit: Any) -> pd.DataFrame:
    model = system.fit(rows[COLUMNS], rows[target], **fit)
    return pd.DataFrame(model.summary().to_dict()["coefficients"]).set_index("name")[STATISTICS]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weight", [None, "n"])
def test_every_group_is_what_one_fit_to_its_rows_gives(intercept: bool, weight: str | None) -> None:
    frame = table()
    system = LinearRegression(fit_intercept=intercept)
    close = (
        1e-12 if intercept else 1e-9
    )  # without one, b and c are nearly dependent: one fit has errors from the Gram matrix
    found = fit_groups(system, frame, target="y", by="key", features=COLUMNS, weight=weight)
    assert list(found["key"].unique()) == sorted(frame["key"].unique())
    for key, rows in frame.groupby("key"):
        own = found[found["key"] == key].set_index("name")
        wanted = one_fit(system, rows, **({} if weight is None else {"sample_weight": rows["n"]}))
        np.testing.assert_allclose(own[STATISTICS], wanted.loc[own.index], rtol=close)
        assert (own["rows"] == len(rows)).all()
        assert (own["status"] == "solved").all()
        assert (own["digits"] > 12).all()


def test_coefficients_and_errors_are_those_of_r() -> None:
    frame = pd.read_csv(datasets.path("abalone"))
    frame["long"], frame["old"] = frame["length"] > 0.6, frame["rings"] > 9
    for case, system, target, features, weight in (  # R's errors of likelihoods are those of the step before the last
        ("lm", LinearRegression(), "rings", ["diameter", "height", "whole_weight"], None),
        ("weighted", LinearRegression(), "whole_weight", ["diameter", "height"], "rings"),
        ("logistic", LogisticRegression(), "old", ["diameter", "whole_weight"], None),
        ("poisson", GeneralizedLinear("poisson"), "rings", ["diameter", "whole_weight"], None),
    ):
        found = fit_groups(system, frame, target=target, by=["sex", "long"], features=features, weight=weight)
        found["group"] = found["sex"].astype(str) + " " + found["long"].map({True: "TRUE", False: "FALSE"})
        wanted = R[R["case"] == case].set_index(["group", "name"])
        own = found.set_index(["group", "name"]).loc[wanted.index, STATISTICS]
        close = 1e-9 if isinstance(system, LinearRegression) else 1e-8
        np.testing.assert_allclose(own, wanted[STATISTICS].astype(float), rtol=close)


def test_the_digits_are_proven() -> None:
    from fractions import Fraction

    frame = table(6, 1)
    found = fit_groups(LinearRegression(), frame, target="y", by="key", features=["a", "c"])
    for key, rows in frame.groupby("key"):
        x = [[Fraction(1), Fraction(a), Fraction(c)] for a, c in zip(rows["a"], rows["c"], strict=True)]
        t = [Fraction(one) for one in rows["y"]]
        matrix = [[sum(r[i] * r[j] for r in x) for j in range(3)] for i in range(3)]
        right = [sum(r[i] * one for r, one in zip(x, t, strict=True)) for i in range(3)]
        for i in range(3):  # elimination without rounding
            for k in range(3):
                if k != i:
                    share = matrix[k][i] / matrix[i][i]
                    matrix[k] = [a - share * b for a, b in zip(matrix[k], matrix[i], strict=True)]
                    right[k] -= share * right[i]
        exact = [right[i] / matrix[i][i] for i in range(3)]
        own = found[found["key"] == key]
        error = max(abs(Fraction(w) / one - 1) for w, one in zip(own["estimate"], exact, strict=True))
        assert float(error) <= 10 ** -own["digits"].iloc[0]


def test_groups_that_cannot_be_fitted_say_why() -> None:
    frame = table(9).sort_values("key", ignore_index=True)
    place = {key: rows.index for key, rows in frame.groupby("key")}
    frame.loc[place[1][2], "b"] = np.nan
    frame.loc[place[2], "c"] = 7.0
    frame.loc[place[3], "c"] = 2 * frame.loc[place[3], "a"] - 4
    frame.loc[place[4], "y"] = frame.loc[place[4], "a"] * 3
    frame.loc[place[5][0], "y"] = np.inf
    frame.loc[place[6], "c"] = frame.loc[place[6], "a"] * (1 + 1e-9 * np.arange(len(place[6])))
    frame = frame.drop([*place[7][3:], *place[8][4:]])
    with pytest.warns(AdalineWarning, match=r"^2 of 9 groups have no coefficients, for missing .*missing='drop'"):
        found = fit_groups(LinearRegression(), frame, target="y", by="key", features=COLUMNS)
    status = found.groupby("key")["status"].first()
    assert status.to_dict() == {
        0: "solved",
        1: "missing or infinite values in b",
        2: "rank-deficient: c is constant and left out",
        3: "rank-deficient: c depends on columns before it and is left out",
        4: "exact fit: no tests",
        5: "missing or infinite values in y",
        6: "ill-conditioned",  # decided by a single fit
        7: "fewer rows than coefficients",
        8: "no standard errors: as many rows as coefficients",
    }
    numbers = found.set_index(["key", "name"])[STATISTICS]
    for key in (1, 5, 7):
        assert numbers.loc[key].isna().all(axis=None)
    for key in (2, 3):
        assert numbers.loc[(key, "c")].isna().all()
        with kept_warnings():
            wanted = one_fit(LinearRegression(), frame[frame["key"] == key]).drop("c")
        np.testing.assert_allclose(numbers.loc[key].drop("c"), wanted, rtol=1e-12)
    with kept_warnings():
        np.testing.assert_allclose(numbers.loc[6], one_fit(LinearRegression(), frame[frame["key"] == 6]), rtol=1e-12)
    np.testing.assert_allclose(numbers.loc[4, "estimate"].to_numpy()[1], 3.0, rtol=1e-15)
    assert numbers.loc[4, ["statistic", "p_value"]].isna().all(axis=None)
    assert numbers.loc[8, "estimate"].notna().all()
    assert numbers.loc[8, "std_error"].isna().all()


def test_the_frame_is_of_the_kind_given_and_keys_may_be_anything() -> None:
    frame = table(6)
    frame["shop"] = frame["key"].map({0: "ö", 1: "a", 2: None, 3: "b", 4: "zz", 5: "a"})
    frame["day"] = pd.to_datetime("2024-01-01") + pd.to_timedelta(frame["key"] % 2, "D")
    kept = [*COLUMNS, "y", "shop", "day"]
    by = ["shop", "day"]
    wanted = fit_groups(LinearRegression(), frame[kept], target="y", by=by)
    assert list(wanted.columns) == [*by, "name", *STATISTICS, "rows", "status", "digits"]
    assert len(wanted) == 4 * frame.groupby(by, dropna=False).ngroups
    assert wanted["shop"].iloc[-1] is None or pd.isna(wanted["shop"].iloc[-1])
    polars = fit_groups(LinearRegression(), pl.from_pandas(frame[kept]), target="y", by=by)
    arrow = fit_groups(LinearRegression(), pa.Table.from_pandas(frame[kept]), target="y", by=by)
    assert isinstance(polars, pl.DataFrame)
    assert isinstance(arrow, pa.Table)
    frame["shop"] = frame["shop"].astype("category")
    frame["day"] = frame["day"].dt.tz_localize("Europe/Brussels")
    typed = fit_groups(LinearRegression(), frame[kept], target="y", by=by)
    assert typed.dtypes[by].tolist() == frame.dtypes[by].tolist()
    for other in (polars.to_pandas(), arrow.to_pandas()):
        assert other["name"].tolist() == wanted["name"].tolist()
        np.testing.assert_array_equal(other[STATISTICS], wanted[STATISTICS])


def test_texts_are_coded_alike_in_all_groups() -> None:
    frame = table(4).assign(kind=lambda f: np.where(f["a"] > 0, "up", "down"))
    found = fit_groups(LinearRegression(), frame, target="y", by="key", features=["kind", "b"])
    numbers = frame.assign(kind=(frame["kind"] == "up").astype(float))
    wanted = fit_groups(LinearRegression(), numbers, target="y", by="key", features=["kind", "b"])
    assert found["name"].tolist()[:3] == ["intercept", "kind[T.up]", "b"]
    np.testing.assert_array_equal(found[STATISTICS], wanted[STATISTICS])


@pytest.mark.parametrize(
    "system",
    [Ridge(penalty=2.0), Ridge(), LogisticRegression(), GeneralizedLinear("poisson"), RobustRegression()],
)
def test_any_system_with_a_summary_fits_groups(system: Any) -> None:
    frame = table(3)
    target = {LogisticRegression: "up", GeneralizedLinear: "n"}.get(type(system), "y")
    frame["up"] = np.where(frame["n"] > 1, "many", "few")
    found = fit_groups(system, frame, target=target, by="key", features=COLUMNS).set_index(["key", "name"])
    for key, rows in frame.groupby("key"):
        with kept_warnings():
            wanted = one_fit(system, rows, target)
        np.testing.assert_allclose(found.loc[key].loc[wanted.index, STATISTICS], wanted, rtol=1e-9)


def test_estimates_without_errors_are_those_of_one_fit() -> None:
    frame, system = table(3), LinearRegression(positive=True)
    found = fit_groups(system, frame, target="y", by="key", features=COLUMNS)
    for key, rows in frame.groupby("key"):
        own, model = found[found["key"] == key], system.fit(rows[COLUMNS], rows["y"])
        np.testing.assert_allclose(own["estimate"], [model.intercept_, *model.coef_], rtol=1e-9)
        assert own[STATISTICS[1:]].isna().all(axis=None)
        assert own["status"].str.startswith("there are no standard errors").all()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"target": "x"}, "target: the table has no column 'x'"),
        ({"by": []}, "by must name a column"),
        ({"window": 0}, "window"),
        ({"window": 500}, "the largest group has .* rows of 500"),
        ({"order": "a"}, "order is of windows"),
        ({"window": 5, "order": "x"}, "order: the table has no column 'x'"),
        ({"by": ["key", "key"]}, "'key' is named twice"),
        ({"features": ["y", "a"]}, "leave out target, keys and weight"),
        ({"weight": "a"}, "weights must be finite and not negative"),
        ({"data": "penguins", "target": "mass", "by": "species"}, "no column 'mass'"),
        ({"data": open_table("penguins", target="bill_length_mm", missing="drop")}, "the table is open"),
        ({"data": "penguins", "target": None, "by": "species", "formula": "body_mass_g ~ 1"}, "no columns to learn"),
        ({"data": table().iloc[:0]}, "no rows"),
    ],
)
def test_what_is_wrong_is_named(given: dict[str, Any], says: str) -> None:
    given = {"data": table(), "target": "y", "by": "key", **given}
    with pytest.raises(AdalineError, match=says):
        fit_groups(LinearRegression(), given.pop("data"), **given)


@pytest.mark.parametrize(
    ("system", "formula", "says"),
    [
        (LinearRegression(), "y ~ a + offset(b)", "do not take an offset"),
        (LinearRegression(), "y ~ a | c", "do not take absorbed effects"),
        (LinearRegression(), "y ~ a | 0 | b ~ c", "do not take instruments"),
        (LinearRegression(), "y ~ s(a)", "do not take curves"),
        (LinearRegression(), "y ~ lag(a)", "cross from one group into the next"),
        (AdditiveModel(), "y ~ a + (1 | c)", "AdditiveModel has others"),
        (InstrumentalVariables(), "y ~ 1 | 0 | b ~ c", "InstrumentalVariables has others"),
        (OrdinalRegression(), "n ~ a", "OrdinalRegression has others"),
        (ElasticNet(), "y ~ a", "ElasticNet has none"),
        (LinearRegression, "y ~ a", r"write LinearRegression\(\)"),
        (LinearRegression(basis=Polynomial(2)), "y ~ a", "takes no basis"),
    ],
)
def test_only_an_intercept_and_a_coefficient_a_column_are_fitted(system: Any, formula: str, says: str) -> None:
    with pytest.raises(InvalidParameter, match=says):
        fit_groups(system, table(), formula=formula, by="key")


@pytest.mark.parametrize("system", [LinearRegression(), Ridge(penalty=1.0), RobustRegression()])
def test_a_formula_decides_whether_there_is_a_constant(system: Any) -> None:
    frame = table(3).assign(y=lambda f: np.exp(f["y"] / 9))
    found = fit_groups(system, frame, formula="y ~ a + b - 1", by="key").set_index(["key", "name"])
    for key, rows in frame.groupby("key"):
        wanted = clone(system).set_params(fit_intercept=False).fit(rows[["a", "b"]], rows["y"])
        np.testing.assert_allclose(found.loc[key].loc[["a", "b"], "estimate"], wanted.coef_, rtol=1e-9)


def test_the_column_of_the_order_may_be_learned_from() -> None:
    frame = table(3)
    found = fit_groups(LinearRegression(), frame, target="y", by="key", features=["a"], order="a", window=9)
    assert found["name"].unique().tolist() == ["intercept", "a"]


@needs_native
@pytest.mark.parametrize("window", [None, 14])
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("pull", [None, np.array([0.0, 1e-4, 3.0])])
def test_the_kernel_is_its_reference(pull: Any, intercept: bool, loss: Any, window: int | None) -> None:
    frame = with_labels(table(9, 2))
    frame.loc[frame["key"] == 3, "a"] = 1.0
    frame.loc[frame["key"] == 4, "b"] = frame["a"]
    frame.loc[frame["key"] == 5, ["up", "count"]] = 0.0
    frame.loc[frame["key"] == 6, "up"] = (frame["b"] > 1.0).astype(float)
    t = frame[{"squared": "y", "logistic": "up", "poisson": "count"}[loss]].to_numpy()
    columns = [np.ascontiguousarray(frame[name]) for name in COLUMNS]
    grouping = group_rows(nw.from_native(frame), ["key"])
    grouping = grouping if window is None else grouping.windows(window, 0)
    found = []
    for function in (kernels.native.group_regressions, regressions.group_regressions_reference):
        numbers = (
            np.empty((3, grouping.groups, 4)),
            np.empty((2, grouping.groups)),
            np.empty((2, grouping.groups), np.int32),
        )
        given = (columns, t, frame["n"].to_numpy(), grouping.order, grouping.begins, grouping.ends, pull, intercept)
        kind = kernels.native.Loss[loss] if len(found) == 0 else loss
        function(*numbers[0], numbers[1], *numbers[2], *given, kind, 0, grouping.groups)
        found.append(numbers)
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-12 if intercept else 1e-9, atol=1e-20)
    np.testing.assert_allclose(found[0][1][0], found[1][1][0], rtol=1e-12)
    np.testing.assert_allclose(found[0][1][1], found[1][1][1], atol=1.0 if window is None else 6.0)  # of sums
    np.testing.assert_array_equal(found[0][2], found[1][2])


def test_rows_are_the_same_whether_they_are_sorted() -> None:
    frame = pd.DataFrame({"g": [3.0, 1.0, np.nan, 1.0], "k": [10**12, 5, 5, 5]})
    mixed, by_key = (group_rows(nw.from_native(one), ["g", "k"]) for one in (frame, frame.sort_values(["g", "k"])))
    assert by_key.order is None
    assert isinstance(mixed, Grouping)
    assert mixed.begins.tolist() == by_key.begins.tolist() == [0, 2, 3]
    assert mixed.ends.tolist() == by_key.ends.tolist() == [2, 3, 4]
    assert [mixed.rows(g).tolist() for g in range(3)] == [[1, 3], [0], [2]]


def test_files_and_formulas_are_read_as_frames_are(tmp_path: Path) -> None:
    frame = table(5).assign(shop=lambda f: "s" + f["key"].astype(str))
    frame.loc[3, "b"] = np.nan
    with kept_warnings():
        wanted = fit_groups(LinearRegression(), frame, target="y", by=["shop", "key"], features=COLUMNS)
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    for name in ("t.parquet", "t.csv"):
        for given in ({"target": "y", "features": COLUMNS}, {"formula": "y ~ a + b + c"}):
            with kept_warnings():
                found = fit_groups(LinearRegression(), tmp_path / name, by=["shop", "key"], **given)
            pd.testing.assert_frame_equal(found, wanted)
    formula = "log(y + 100) ~ C(n) + poly(a, 2)"
    with kept_warnings():
        one = LinearRegression().fit(open_table(frame, formula=formula))
    found = fit_groups(LinearRegression(), frame.assign(all=1), by="all", formula=formula)
    np.testing.assert_allclose(found["estimate"][1:], one.coef_, rtol=1e-10)
    assert found["name"].tolist()[1:] == one.feature_names_in_.tolist()
    source = open_table(frame, target="y", features=["a", "b"], missing="drop")
    dropped = fit_groups(LinearRegression(), source, by="key")
    pd.testing.assert_frame_equal(
        dropped, fit_groups(LinearRegression(), frame.dropna(), target="y", by="key", features=["a", "b"])
    )


def windowed(frame: pd.DataFrame, window: Any, **given: Any) -> pd.DataFrame:
    return fit_groups(LinearRegression(), frame, target="y", by="key", features=COLUMNS, window=window, **given)


def long_groups(rows: int = 150) -> pd.DataFrame:
    return table(40, 3).head(3 * rows).assign(key=lambda f: np.arange(len(f)) % 3, day=lambda f: np.arange(len(f)))


@pytest.mark.parametrize("weight", [None, "n"])
@pytest.mark.parametrize("window", [40, "expanding"])
def test_windows_are_what_refits_give(window: Any, weight: str | None) -> None:
    frame = long_groups()
    found = windowed(frame.sample(frac=1, random_state=0), window, order="day", weight=weight)
    assert list(found.columns[:3]) == ["key", "day", "name"]
    first = 40 if window == 40 else 5
    assert len(found) == 4 * 3 * (150 - first + 1)
    assert (found["digits"] > 10).all()
    for place in range(0, len(found) // 4, 29):
        own = found.iloc[4 * place : 4 * place + 4].set_index("name")
        key, day = own[["key", "day"]].iloc[0]
        rows = frame[(frame["key"] == key) & (frame["day"] <= day)].tail(40 if window == 40 else len(frame))
        wanted = one_fit(LinearRegression(), rows, **({} if weight is None else {"sample_weight": rows[weight]}))
        np.testing.assert_allclose(own[STATISTICS], wanted.loc[own.index], rtol=1e-9)
        assert (own["rows"] == len(rows)).all()


def test_windows_notice_that_their_sums_have_drifted() -> None:
    frame = long_groups()
    frame.loc[3 * 50, ["y", "a"]] = 1e18, -1e17  # in the windows of rows 50 to 89 of the first group
    frame.loc[3 * 120 + 1, "b"] = np.nan
    with pytest.warns(AdalineWarning, match="^30 of 333 windows"):
        found = windowed(frame.drop(columns="day"), 40)
    last = found["row"] // 3
    outside = (found["key"] != 0) | ~last.between(50, 89)
    gap = (found["key"] == 1) & (last >= 120)
    assert (found.loc[gap, "status"] == "missing or infinite values in b").all()
    assert (found.loc[outside & ~gap, "digits"] > 11).all()
    for row in (3 * 90, 3 * 91, 3 * 149):
        own = found[found["row"] == row].set_index("name")
        rows = frame[(frame["key"] == 0) & (frame.index <= row)].tail(40)
        np.testing.assert_allclose(own[STATISTICS], one_fit(LinearRegression(), rows).loc[own.index], rtol=1e-9)


def test_windows_of_other_systems_and_of_all_rows() -> None:
    frame = with_labels(long_groups(60)).drop(columns=["day", "key"])
    for system, target in ((GeneralizedLinear("poisson"), "count"), (RobustRegression(), "y")):
        found = fit_groups(system, frame, target=target, features=["a", "b"], window=170)
        own = found.tail(3)
        with kept_warnings():
            model = system.fit(frame[["a", "b"]].tail(170), frame[target].tail(170))
        np.testing.assert_allclose(own["estimate"], [model.intercept_, *model.coef_], rtol=1e-9)
        assert found["row"].iloc[0] == 169


def check_cluster(frame: pd.DataFrame, there: Any) -> None:
    """Hold what workers find in groups to what one process finds in them."""
    given: dict[str, Any] = {"target": "y", "by": ["shop", "key"], "features": COLUMNS, "weight": "n"}
    found = fit_groups(LinearRegression(), there, **given)
    wanted = fit_groups(LinearRegression(), frame, **given)
    assert found["name"].tolist() == wanted["name"].tolist()
    assert found["shop"].tolist() == wanted["shop"].tolist()
    assert found["status"].tolist() == wanted["status"].tolist()
    np.testing.assert_allclose(found[STATISTICS], wanted[STATISTICS], rtol=1e-9)


def grouped_rows() -> pd.DataFrame:
    frame = table(9).assign(shop=lambda f: "s" + (f["key"] % 2).astype(str))
    frame.loc[frame["key"] == 4, "c"] = 1.0
    return frame


def test_groups_of_a_dask_frame_are_fitted_by_its_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    frames, calls, on_dask = pytest.importorskip("dask.dataframe"), list[int](), partitions._on_dask
    monkeypatch.setattr(partitions, "_on_dask", lambda *given: calls.append(1) or on_dask(*given))
    there = frames.from_pandas(grouped_rows(), npartitions=3)
    check_cluster(grouped_rows(), there)
    texts = fit_groups(LinearRegression(), there, target="y", by="key", features=["shop", "a"])
    assert texts["name"].iloc[1] == "shop[T.s1]"
    assert calls == [1]  # a coding is learned from all rows
