"""Fits that absorb effects are fits with a dummy for every level; figures of pyfixest beside those of our own."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy

import adaline
from adaline import ElasticNet, GeneralizedLinear, LinearRegression, Ridge, anova, load, open_table, save, select
from adaline.coding.columns import is_missing
from adaline.errors import AdalineWarning, ConvergenceWarning, InvalidData, InvalidParameter, MissingValues, SumsMissing
from adaline.results import Status
from adaline.solvers.absorb import projection
from adaline.solvers.absorb.projection import Projection, SortedRows
from adaline.sources.absorbed import AbsorbedSource
from adaline.sources.tables.effects import Levels
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
FIGURES = ("freedom", "log_likelihood", "aic", "bic")
OF_COUNTS = ("deviance", "null_deviance", "null_freedom", "null_log_likelihood", "pseudo_r_squared")
OF_COUNTS += ("deviance_explained", "pearson_chi2", "chi2", "chi2_freedom", "chi2_p_value")
ignore_warnings = pytest.mark.filterwarnings("ignore::adaline.errors.AdalineWarning")


def poisson() -> Any:
    return GeneralizedLinear(loss="poisson")


def random_rows(seed: int) -> dict[str, Any]:
    """Return 30 to 90 rows of two numbers and three columns of levels; c may be nested in a."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 90))
    a, b = rng.integers(0, rng.integers(2, 12), n), rng.integers(0, rng.integers(2, 8), n)
    c = a // 2 if seed % 3 == 0 else rng.integers(0, 3, n)
    x = rng.normal(size=n) + 0.5 * a
    z = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4) + b
    y = x - z + a + 0.3 * b + rng.normal(size=n)
    return {"y": y, "x": x, "z": z, "w": rng.integers(1, 4, n).astype(np.float64), "a": a, "b": b, "c": c}


def tables(case: str | int, target: str = "y", **options: Any) -> tuple[Any, Any]:
    """Return a design as a table that absorbs its levels, and with a column for every level."""
    if isinstance(case, str):
        data, numbers, levels, weighted = columns(case), ["a", "b"], list(DESIGNS[case].absorb), DESIGNS[case].weighted
    else:
        data, numbers, levels, weighted = random_rows(case), ["x", "z"], list("abc"[: 1 + case % 3]), case % 2 == 1
    given: dict[str, Any] = {"target": target, "weight": "w" if weighted else None}
    return (
        open_table(data, features=numbers, absorb=levels, **given, **options),
        open_table(data, features=[*numbers, *levels], categories=levels, unseen="other", **given),
    )


def slopes(summary: Any) -> np.ndarray[Any, Any]:
    """Return estimates, errors, p values and ends of the two numbers."""
    rows = summary.to_dict()["coefficients"][1:3]
    return np.array([[row[key] for key in ("estimate", "std_error", "p_value", "upper")] for row in rows])


def errors_of(model: Any, kind: str, table: Any) -> Any:
    """Return the standard errors of the slopes, of a kind that pyfixest knows."""
    options = {"errors": "CR1", "groups": CLUSTERS[kind]} if kind in CLUSTERS else {"errors": kind}
    return slopes(model.summary(**({} if kind == "iid" else {**options, "X": table})))[:, 1]


@ignore_warnings
@pytest.mark.parametrize("case", [*DESIGNS, *range(30)])
def test_absorbing_is_least_squares_with_a_dummy_for_every_level(case: str | int) -> None:
    table, whole = tables(case)
    model, oracle = LinearRegression().fit(table), LinearRegression().fit(whole)
    assert model.certificate_.status is Status.SOLVED
    assert model.certificate_.digits > (11 if isinstance(case, str) else 9)
    assert np.allclose(slopes(model.summary()), slopes(oracle.summary()), rtol=1e-8, atol=1e-12)
    found, expected = (one.summary(errors="HC1", X=rows) for one, rows in ((model, table), (oracle, whole)))
    assert np.allclose(slopes(found), slopes(expected), rtol=1e-8, atol=1e-12)
    mine, theirs = model.summary().to_dict(), oracle.summary().to_dict()
    for key in (*FIGURES, "sigma", "r_squared", "adjusted_r_squared"):
        assert mine[key] == pytest.approx(theirs[key], rel=1e-9), key
    assert np.allclose(model.predict(table), oracle.predict(whole), rtol=0, atol=1e-8)
    assert model.score(table) == pytest.approx(oracle.score(whole), rel=1e-9)


@pytest.mark.parametrize("name", [name for name, design in DESIGNS.items() if design.peer])
def test_errors_are_those_of_pyfixest(name: str) -> None:
    table, known = tables(name)[0], PEER[name]
    model = LinearRegression(weights="precision" if DESIGNS[name].weighted else "frequency").fit(table)
    assert np.allclose(model.coef_, known["least_squares"]["coef"], rtol=1e-8)
    for kind, errors in known["least_squares"]["errors"].items():
        assert np.allclose(errors_of(model, kind, table), errors, rtol=1e-7), kind
    summary = model.summary().to_dict()
    found = (summary["r_squared"], summary["within_r_squared"])
    assert found == pytest.approx((known["r2"], known["within"]), rel=1e-8)


@ignore_warnings
@pytest.mark.parametrize("name", ["one", "two", "singletons"])
def test_poisson_with_effects(name: str) -> None:
    table, known = tables(name, "count")[0], PEER[name]["poisson"]
    model = poisson().fit(table)
    assert np.allclose(model.coef_, known["coef"], rtol=1e-7)
    n, p = known["rows"], 2 + model.absorbed_.freedom + 1
    assert model.rows_seen_ == n == len(columns(name)["y"]) - model.absorbed_.separated
    for kind, errors in known["errors"].items():
        share = np.sqrt((n - p) / (n - 1)) if kind == "iid" else 1.0  # pyfixest corrects the inverse information too
        assert np.allclose(errors_of(model, kind, table), share * np.asarray(errors), rtol=1e-6), kind


@pytest.mark.parametrize("case", ["one", "two weighted", "three weighted", 0, 3, 5])
def test_poisson_with_effects_is_that_with_a_dummy_for_every_level(case: str | int) -> None:
    data = random_rows(case) if isinstance(case, int) else columns(case)
    levels = list(DESIGNS[case].absorb) if isinstance(case, str) else ["a", "b"]
    numbers, weight = (["a", "b"], "w") if isinstance(case, str) else (["x", "z"], None)
    data["k"] = np.random.default_rng(0).poisson(3.0 + 0.5 * data[numbers[0]].clip(-2, 2)) + 1.0  # nothing is separated
    given: dict[str, Any] = {"target": "k", "weight": weight}
    table = open_table(data, features=numbers, absorb=levels, **given)
    whole = open_table(data, features=[*numbers, *levels], categories=levels, unseen="other", **given)
    model, oracle = poisson().fit(table), poisson().fit(whole)
    assert np.allclose(slopes(model.summary()), slopes(oracle.summary()), rtol=1e-7, atol=1e-10)
    assert np.allclose(model.predict(table), oracle.predict(whole), rtol=1e-7)
    mine, theirs = model.summary().to_dict(), oracle.summary().to_dict()
    for key in (*FIGURES, *OF_COUNTS):
        assert mine[key] == pytest.approx(theirs[key], rel=1e-8), key


@pytest.mark.parametrize("seed", range(6))
def test_penalties_leave_the_effects_alone(seed: int) -> None:
    data = random_rows(seed)
    few = np.stack([data["x"], data["z"]]).T
    levels = np.hstack([(data[name][:, None] == np.unique(data[name])).astype(float) for name in "ab"])
    within = np.eye(len(few)) - levels @ np.linalg.pinv(levels)
    design, target, table = within @ few, within @ data["y"], open_table(data, formula="y ~ x + z | a + b")
    ridge, net = Ridge(penalty=3.0).fit(table), ElasticNet(l1=2.0).fit(table)
    assert np.allclose(ridge.coef_, np.linalg.solve(design.T @ design + 3.0 * np.eye(2), design.T @ target), rtol=1e-9)
    assert ridge.certificate_.digits > 9
    assert "absorbed: a" in str(ridge.summary())
    slope = design.T @ (target - design @ net.coef_)
    assert np.allclose(slope[net.coef_ != 0], 2.0 * np.sign(net.coef_[net.coef_ != 0]), atol=1e-6)
    assert (np.abs(slope) <= 2.0 + 1e-6).all()
    for model in (ridge, net):
        assert np.allclose(levels.T @ (data["y"] - model.predict(table)), 0.0, atol=1e-8)
        assert len(model.effects_["a"]) == len(np.unique(data["a"]))


@pytest.mark.usefixtures("blas_threads")
def test_bits_depend_neither_on_threads_nor_on_where_the_rows_are(tmp_path: Path) -> None:
    data, path = pa.table(columns("three", 3000)), str(tmp_path / "rows.parquet")
    pq.write_table(data, path, row_group_size=300)
    found = []
    for rows, threads in ((data, 3), (path, 1), (path, 3)):
        adaline.set_threads(threads)
        found.append(LinearRegression().fit(open_table(rows, formula="y ~ a + b | firm + year + town")))
    for other in found[1:]:
        assert np.array_equal(found[0].coef_, other.coef_)
        assert all(found[0].effects_[name].equals(other.effects_[name]) for name in ("firm", "year", "town"))


def test_a_formula_absorbs_what_stands_after_its_bar() -> None:
    data = columns("two")
    by_formula = LinearRegression().fit(open_table(data, formula="y ~ a + b | firm + year"))
    assert np.array_equal(by_formula.coef_, LinearRegression().fit(tables("two")[0]).coef_)
    all_others = {key: data[key] for key in ("y", "a", "b", "firm", "year")}
    assert LinearRegression().fit(open_table(all_others, formula="y ~ . | firm + year")).n_features_in_ == 2
    for wrong in ("y ~ a | firm | year", "y ~ a |", "y ~ a | firm:year", "y | firm ~ a"):
        with pytest.raises(InvalidParameter, match="sets apart columns whose effects"):
            open_table(data, formula=wrong)
    with pytest.raises(InvalidParameter, match="there is no such column"):
        open_table(data, formula="y ~ a | firms")


def test_singletons_are_dropped_on_request_and_told() -> None:
    tables_of = [tables("singletons", singletons=policy)[0] for policy in ("keep", "drop")]
    kept, dropped = (LinearRegression().fit(table) for table in tables_of)
    assert dropped.absorbed_.singletons > 5
    assert np.allclose(kept.coef_, dropped.coef_, rtol=1e-11)
    assert kept.summary().to_dict()["freedom"] == dropped.summary().to_dict()["freedom"]
    assert "rows left out, the only ones of a level" in str(dropped.summary())
    by_name, by_labels = (
        dropped.summary(errors="cluster", X=tables_of[1], groups=groups)
        for groups in ("town", columns("singletons")["town"])
    )
    assert np.array_equal(slopes(by_name), slopes(by_labels))
    alone = {"y": [1.0, 2.0, 3.0], "a": [1.0, 0.0, 2.0], "f": [1, 2, 3]}
    with pytest.raises(InvalidData, match="every row is the only one of a level"):
        LinearRegression().fit(open_table(alone, formula="y ~ a | f", singletons="drop"))


def test_effects_of_levels_are_kept_and_predict(tmp_path: Path) -> None:
    model, average = (
        LinearRegression().fit(open_table(TINY, target="y", absorb="firm", **more))
        for more in ({}, {"unseen": "other"})
    )
    frame, new = model.effects_["firm"], pa.table({"x": [3.0], "firm": ["b"]})
    assert list(frame["level"]) == ["a", "b"]
    assert abs(np.array([2, 3]) @ np.asarray(frame["value"])) < 1e-12
    mean = model.intercept_ + 3 * model.coef_[0]
    assert model.predict(new) == pytest.approx(mean + frame["value"].to_list()[1])
    save(model, tmp_path / "m.adaline")
    again = load(tmp_path / "m.adaline")
    assert np.array_equal(again.predict(new), model.predict(new))
    assert str(again.summary()) == str(model.summary())
    assert average.predict(pa.table({"x": [3.0], "firm": ["c"]})) == pytest.approx(mean)
    for rows, error, message in (
        (pa.table({"x": [3.0], "firm": ["c"]}), InvalidData, "has the level 'c' at row 0, which did not occur in the"),
        (np.array([[3.0]]), InvalidData, "give a frame or a table with these columns"),
        (pa.table({"x": [3.0], "firm": pa.array([None], pa.string())}), MissingValues, "'firm' is missing at row 0"),
    ):
        with pytest.raises(error, match=message):
            model.predict(rows)


def test_missing_levels() -> None:
    data = {**TINY, "firm": ["a", "a", "b", None, "b"]}
    with pytest.raises(MissingValues, match="firm"):
        LinearRegression().fit(open_table(data, target="y", absorb="firm"))
    assert LinearRegression().fit(open_table(data, target="y", absorb="firm", missing="drop")).absorbed_.levels == (2,)
    own = LinearRegression().fit(open_table(data, target="y", absorb="firm", missing="indicator"))
    assert is_missing(own.effects_["firm"]["level"].to_list()[-1])
    assert own.absorbed_.levels == (3,)


def test_tests_and_anova_count_the_effects() -> None:
    large, whole = (LinearRegression().fit(table) for table in tables("two"))
    small = LinearRegression().fit(open_table(columns("two"), formula="y ~ a | firm + year"))
    found, expected = large.test("b = 0"), whole.test("b = 0")
    assert (found.statistic, *found.freedom, found.p_value) == pytest.approx(
        (expected.statistic, *expected.freedom, expected.p_value), rel=1e-9
    )
    assert anova(small, large).f_statistic[1] == pytest.approx(expected.statistic, rel=1e-9)


def test_the_command_line_absorbs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, model, run = str(tmp_path / "rows.parquet"), str(tmp_path / "m.adaline"), Shell(capsys)
    pq.write_table(pa.table(columns("two")), rows)
    options = ["-t", "y", "--features", "a,b", "--absorb", "firm,year", "--cluster-errors", "firm,year"]
    options += ["--errors", "CR1", "-o"]
    fitted, table = run("fit", rows, *options, model), tables("two")[0]
    assert fitted.code == 0
    assert f"{PEER['two']['least_squares']['errors']['firm+year'][0]:.6g}" in fitted.out
    found = [float(row["prediction"]) for row in run("predict", model, rows).rows]
    assert np.allclose(found, LinearRegression().fit(table).predict(table), rtol=0, atol=1e-9)


# Graphs of levels that are hard.


def chain(levels: int) -> dict[str, Any]:
    """Return rows, each twice, whose levels meet like the links of a chain: conjugate gradients need many steps."""
    left, right = np.repeat(np.arange(levels), 2), np.repeat(np.arange(levels + 1), 2)[1:-1]
    x, noise = np.random.default_rng(0).normal(size=(2, 4 * levels))
    y = 0.5 * x + noise + np.tile(np.linspace(0, 5, 2 * levels), 2)
    return {"y": y, "x": x, "left": np.tile(left, 2), "right": np.tile(right, 2)}


@pytest.mark.parametrize("levels", [400, 20_000])
def test_a_chain_of_levels_is_solved_or_said_not_to_be(levels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = chain(levels)
    model = LinearRegression().fit(open_table(data, target="y", absorb=["left", "right"]))
    assert model.certificate_.status is Status.SOLVED
    assert model.certificate_.digits > 8
    pairs = data["x"].reshape(2, -1)  # every pair of levels has an effect of its own
    within = pairs - pairs.mean(axis=0)
    expected = (within.ravel() @ data["y"]) / (within**2).sum()
    assert model.coef_[0] == pytest.approx(expected, rel=1e-9 if levels < 1000 else 1e-3)
    monkeypatch.setattr(projection, "MOST_STEPS", 20)
    with pytest.warns(ConvergenceWarning, match="not separated"):
        few = LinearRegression().fit(open_table(data, target="y", absorb=["left", "right"]))
    assert few.certificate_.status is Status.NOT_CONVERGED
    assert abs(few.coef_[0] / model.coef_[0] - 1) <= 10.0**-few.certificate_.digits


def movers(workers: int, firms: int, share: float) -> list[Levels]:
    """Return levels of workers, of five rows each, and of firms on a ring: few workers move, and these to the next."""
    rng = np.random.default_rng(0)
    worker = np.repeat(np.arange(workers), 5)
    home = rng.integers(0, firms, workers)
    moved = (rng.random(workers) < share)[worker] & (np.arange(5 * workers) % 5 > 2)
    found = {"worker": worker, "firm": (home[worker] + moved) % firms}
    each = {name: np.unique(column, return_inverse=True) for name, column in found.items()}
    return [Levels(name, codes.astype(np.int32), values) for name, (values, codes) in each.items()]


@pytest.mark.parametrize("weighted", [False, True])
def test_levels_that_hang_together_by_few_rows(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "STEPS_BEFORE_FACTOR", 30)  # so that a small graph is a hard one
    levels, rng = movers(1000, 400, 0.3), np.random.default_rng(1)
    n = len(levels[0].codes)
    weight = rng.uniform(0.1, 3.0, n) if weighted else None
    x = rng.normal(size=(2, n)) + np.linspace(0, 5, 400)[levels[1].codes]
    w, rows = np.ones(n) if weight is None else weight, np.arange(n)
    first, second = (
        scipy.sparse.csr_array((np.ones(n), (rows, one.codes)), shape=(n, len(one.values))).toarray() for one in levels
    )
    means = (first * (w / (w @ first)[levels[0].codes])[:, None]).T
    within = second - (means @ second)[levels[0].codes]
    inverse = np.linalg.pinv(second.T @ (w[:, None] * within), rcond=1e-12, hermitian=True)
    removal = Projection(SortedRows.of(tuple(levels)), weight)
    expected = []
    for u in x:
        left = u - (means @ u)[levels[0].codes]
        expected.append(left - within @ (inverse @ (second.T @ (w * left))))
    found = removal.remove_from(x, centre=False)
    assert found.converged
    assert projection.STEPS_BEFORE_FACTOR < found.iterations < projection.STEPS_BEFORE_FACTOR + 100
    for own, wanted, left in zip(x, expected, found.left, strict=True):
        assert np.linalg.norm(np.sqrt(w) * (own - wanted)) <= left + 1e-9 * np.linalg.norm(wanted)


# Columns that depend on each other, weights of zero, levels of one row, huge effects.

RNG = np.random.default_rng(3)
N = 200
F, H = RNG.integers(0, 12, N), RNG.integers(0, 5, N)
A, B = RNG.normal(size=N) + 0.3 * F, RNG.normal(size=N)
Y = A - 0.5 * B + 0.3 * F + RNG.normal(size=N)
COUNTS = RNG.poisson(np.exp(0.4 * A - 1.0)).astype(np.float64)
ROWS: dict[str, Any] = {"y": Y, "k": COUNTS, "a": A, "b": B, "e": 2 * A + F, "size": F * 1.5, "f": F, "h": H}
both = pytest.mark.parametrize(("system", "target"), [(LinearRegression, "y"), (poisson, "k")])


def of_rows(formula: str, **more: Any) -> Any:
    return open_table({**ROWS, **more}, formula=formula)


@ignore_warnings
@pytest.mark.parametrize("effects", ["f", "f + h"])
def test_counts_add_up_beside_columns_that_depend_on_each_other(effects: str) -> None:
    table = of_rows(f"k ~ a + e | {effects}")
    model, fewer, alone = (poisson().fit(of_rows(f"k ~ {x} | {effects}")) for x in ("a + e", "a", "1"))
    for one, rows in ((model, table), (alone, of_rows(f"k ~ 1 | {effects}"))):
        assert np.isclose(one.predict(rows).sum(), COUNTS.sum(), rtol=1e-8)
    assert np.isclose(model.summary().to_dict()["coefficients"][0]["estimate"], fewer.intercept_)
    assert np.isfinite(errors_of(model, "HC1", table)[0])
    assert "absorbed: f (12 levels)" in str(model.summary())


def test_effects_that_dwarf_the_residuals() -> None:
    model, plain = (LinearRegression().fit(of_rows("y ~ a + b | f + h", y=y)) for y in (Y + 1e10 * F, Y))
    assert np.allclose(slopes(model.summary())[:, :2], slopes(plain.summary())[:, :2], rtol=1e-4)
    assert np.abs(model.coef_ / plain.coef_ - 1).max() <= 10.0**-model.certificate_.digits
    nothing = LinearRegression().fit(of_rows("y ~ a + b | f + h", y=1e3 + F + 0.1 * H))
    assert not nothing.coef_.any()
    assert np.isnan(slopes(nothing.summary())[:, 1]).all()
    assert "the absorbed effects explain the target" in str(nothing.summary())


@both
def test_columns_that_the_effects_explain_are_left_out_and_called_so(system: Any, target: str) -> None:
    model, plain = (system().fit(of_rows(f"{target} ~ {right} | f")) for right in ("a + size + b", "a + b"))
    assert list(model.aliased_) == ["size"]
    assert model.coef_[1] == 0.0
    assert np.allclose(model.coef_[[0, 2]], plain.coef_, rtol=1e-9)
    for told in (model.certificate_.advice, str(model.summary())):
        assert "size is explained by the absorbed effects" in told
    assert "constant" not in str(model.summary())
    with pytest.warns(AdalineWarning, match="e = 2 a \\+ effects"):
        depends = system().fit(of_rows(f"{target} ~ a + e | f"))
    assert depends.certificate_.status is Status.RANK_DEFICIENT
    assert "e = 2 a + effects" in str(depends.summary())


@both
def test_groups_of_two_kinds(system: Any, target: str) -> None:
    table = of_rows(f"{target} ~ a + b | f + h")
    model = system().fit(table)
    expected, *found = (
        slopes(model.summary(errors="cluster", X=table, groups=groups))
        for groups in (("f", "h"), (F, H), ("f", H), np.column_stack([F, H]))
    )
    assert all(np.array_equal(one, expected) for one in found)
    with pytest.warns(AdalineWarning, match="which count as zero"):  # negative variances
        model.summary(errors="CR1", X=table, groups=np.random.default_rng(1).integers(0, 2, (N, 2)))


@both
@pytest.mark.parametrize("singletons", ["keep", "drop"])
def test_frequencies_are_rows_repeated(system: Any, target: str, singletons: str) -> None:
    weight = np.append([0, 1, 2] * 3, np.random.default_rng(5).integers(0, 4, N - 9))
    rows = {**ROWS, "f": np.where(np.arange(N) < 9, 100 + np.arange(N), F)}
    how: dict[str, Any] = {"formula": f"{target} ~ a + b | f + h", "singletons": singletons}
    one = system().fit(open_table({**rows, "w": weight}, weight="w", **how))
    many = system().fit(open_table({name: np.repeat(column, weight) for name, column in rows.items()}, **how))
    assert one.absorbed_.levels == many.absorbed_.levels
    assert one.absorbed_.singletons == many.absorbed_.singletons
    assert one.effects_["f"]["level"].to_list() == many.effects_["f"]["level"].to_list()
    assert np.allclose(slopes(one.summary()), slopes(many.summary()), rtol=1e-7)


@pytest.mark.parametrize("kind", [pa.float64(), pa.string()])
def test_a_column_of_gaps_alone_predicts(kind: Any) -> None:
    rows = pa.table({"y": Y, "a": A, "f": pa.array([None] * N, kind)})
    table = open_table(rows, formula="y ~ a | f", missing="indicator")
    assert np.isclose(LinearRegression().fit(table).predict(table).mean(), Y.mean())


def test_a_table_of_models_has_a_line_for_each_effect() -> None:
    plain, one, two = (LinearRegression().fit(of_rows(f"y ~ a + b{bar}")) for bar in ("", "| f", "| f + h"))
    table = adaline.regression_table(plain, one, two, names=["none", "f", "both"])
    lines = [line.split("  ") for line in table.to_text().splitlines()]
    cells = {line[0]: [cell.strip() for cell in line[1:] if cell.strip()] for line in lines}
    assert cells["absorbed f"] == ["no", "yes, 12 levels", "yes, 12 levels"]
    assert cells["absorbed h"] == ["no", "no", "yes, 5 levels"]
    assert len(cells["within R²"]) == 2
    assert table.to_dict()["absorbed"] == [{}, {"f": 12}, {"f": 12, "h": 5}]
    assert "absorbed f & no & yes, 12 levels" in table.to_latex()
    assert two.summary().to_dict()["absorbed"] == {"f": 12, "h": 5}


@both
def test_what_absorbed_effects_do_not_go_with(system: Any, target: str) -> None:
    table = of_rows(f"{target} ~ a + b | f + h")
    model, rows = system().fit(table), pa.table(ROWS)
    calls: dict[str, Any] = {
        **{f"no {e} errors where": lambda e=e: model.summary(errors=e, X=table) for e in ("HC2", "HC3", "HC4")},
        "no influence where effects are absorbed": lambda: model.influence(table),
        "no intervals of predictions where": lambda: model.predict(table, interval="confidence"),
        "give (that|it) again": lambda: model.summary(errors="HC1", X=rows, y=ROWS[target]),
        "leave fit_intercept=True|and with an intercept": lambda: system().set_params(fit_intercept=False).fit(table),
        "effects on the mean (are not computed )?where effects (a|we)re absorbed": lambda: adaline.effects(
            model, table
        ),
        "whose levels differ: leave out absorb=": lambda: select(system(), table, fit_intercept=[True, False]),
    }
    if target == "k":
        calls["no profile intervals where"] = lambda: model.summary(interval="profile", X=table)
        calls["under loss='poisson'"] = lambda: GeneralizedLinear(loss="gamma").fit(table)
    else:
        for method in ("auto", "loo", "folds"):
            with pytest.raises(InvalidParameter, match="whose levels differ: leave out absorb="):
                select(system(), table, rank=["keep", "drop"], method=method)
    for message, call in calls.items():
        with pytest.raises(InvalidParameter, match=message):
            call()
    smaller = system().fit(of_rows(f"{target} ~ a | f + h"))
    assert anova(smaller, model).freedom_more[1] == 1
    assert model.test("b = 0").p_value == pytest.approx(slopes(model.summary())[1, 2])


OTHERS: dict[str, Any] = {
    **{
        kind: getattr(adaline, kind)()
        for kind in ("RobustRegression", "LogisticRegression", "OrdinalRegression", "LMS")
    },
    **{kind: getattr(adaline, kind)() for kind in ("Perceptron", "KMeans", "LeastSquaresClassifier")},
    "quantile": adaline.RobustRegression(loss="quantile"),
    "an automatic penalty": Ridge(),
    **{f"{net}": net for net in (ElasticNet(), ElasticNet(l1=1.0, loss="huber"), ElasticNet(l1=1.0, loss="logistic"))},
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_systems_absorb_no_effects(name: str) -> None:
    table, system = of_rows("y ~ a + b | f", y=(Y > 0).astype(int)), OTHERS[name]
    message = f"{type(system).__name__} does not absorb effects: use LinearRegression"
    message = {Ridge: "give a number as penalty", ElasticNet: "ElasticNet absorbs effects under the squared loss"}.get(
        type(system), message
    )
    with pytest.raises(InvalidParameter, match=message):
        system.fit(table)


def test_all_rows_are_needed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = of_rows("y ~ a + b | f + h")
    for system in (LinearRegression(), LinearRegression().fit(of_rows("y ~ a + b")), LinearRegression().fit(table)):
        with pytest.raises(SumsMissing, match="all rows at once"):
            system.partial_fit(table)
    monkeypatch.setattr(projection, "MOST_ROWS", N - 1)
    with pytest.raises(InvalidData, match="at most 199 rows"):
        LinearRegression().fit(table)


def test_values_of_the_rows_that_are_left_are_chosen_once() -> None:
    left = np.array([0, 2, 3])
    for kept, values in ((None, [5, 7, 8]), (left, [5, 6, 7, 8]), (left, [5, 7, 8])):
        source: Any = SimpleNamespace(rows=SimpleNamespace(kept=kept), n_rows=3)
        assert AbsorbedSource.chosen(source, np.array(values)).tolist() == [5, 7, 8]
