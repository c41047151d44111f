"""Laws over the registry: whatever is a system fits, saves, predicts, continues and merges by the command line."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from adaline import LinearRegression, datasets, open_table
from adaline.comparison import open_data
from adaline.sources.tables import source
from adaline.sources.tables.relation import Relation
from adaline.storage import load, read_header
from adaline.systems import SYSTEMS, OnlineSystem
from tests.cases import FEWER_EPOCHS
from tests.cli.command_line import CLASSIFIERS, Shell, table, written

COLUMNS = ("--features", "a,b,color")


def target_of(system: str) -> str:
    return "kind" if system in CLASSIFIERS else "y"


# The curves of an additive model are terms of its formula.
@pytest.mark.parametrize("system", [system for system in SYSTEMS if system != "AdditiveModel"])
def test_a_system_takes_a_basis(system: str, shell: Shell, data: Path) -> None:
    asked = ("--target", target_of(system), "--system", system, "--features", "a,b", "--set", "basis=polynomial")
    few = ("--set", "epochs=9") if system in FEWER_EPOCHS else ()
    shell.good("fit", data, *asked, *few, "-o", "m.adaline")
    model = load("m.adaline")
    assert model.basis_.size == 5
    assert len(shell.good("predict", "m.adaline", data).rows) == 90
    assert "Polynomial()" in shell.good("summary", "m.adaline").out


@pytest.mark.parametrize("system", ["Ridge", "GaussianClassifier"])
def test_a_basis_is_set_by_its_name_and_parameters(system: str, shell: Shell, data: Path) -> None:
    asked = ("--target", target_of(system), "--system", system, "--features", "a,b", "--set", "basis=polynomial")
    values = shell.good("fit", data, *asked, "--set", "basis__degree=1", "--json").json
    assert values["features"] == ["a", "b"]
    assert values["parameters"]["basis"] == "Polynomial(degree=1)"
    assert "no basis 'spline'" in shell.bad("fit", data, *asked[:-1], "basis=spline")
    assert "no parameter 'terms'" in shell.bad("fit", data, *asked, "--set", "basis__terms=1")
    assert "--set basis=Polynomial" in shell.bad("fit", data, *asked[:-2], "--set", "basis__degree=1")


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_system_fits_is_shown_predicts_continues_and_merges(system: str, shell: Shell, data: Path) -> None:
    target, classifies, online = target_of(system), system in CLASSIFIERS, issubclass(SYSTEMS[system], OnlineSystem)
    more = table(data.parent / "more.csv", seed=1, n=60)
    both = data.parent / "both.csv"
    both.write_text(data.read_text() + more.read_text().split("\n", 1)[1])
    few = ("--set", "epochs=9") if system in FEWER_EPOCHS else ()
    asked = ("-t", target, "-s", system.lower(), *COLUMNS, *few, "--json")
    for name, rows in (("one", data), ("other", more), ("all", both)):
        done = shell.good("fit", rows, *asked, "-o", f"{name}.adaline")
    values = done.json
    assert (values["system"], values["rows"], values["columns"]) == (system, 150, ["a", "b", "color"])
    status = values["certificate"]["status"]
    assert status == "solved" or (status in ("not converged", "ongoing") and online)
    assert read_header("all.adaline")["system"] == system
    shown = shell.good("summary", "all.adaline").out
    assert f"certificate: {status}" in shown
    assert "color[T.red]" in shown
    assert re.search(r"^ *rows\W+150$", shown, re.MULTILINE)
    assert shell.good("summary", "all.adaline", "--json").json["features"] == values["features"]

    frame = pd.read_csv(both)
    shell.good("predict", "all.adaline", both, "-o", "out.parquet")
    expected = pd.read_parquet("out.parquet")
    assert list(expected.columns) == [*frame.columns, "prediction", "reason"]
    assert (expected["id"] == frame["id"]).all()
    compared(expected["prediction"], load("all.adaline").predict(frame), classifies, 1e-12)

    goes_on, merges = (hasattr(SYSTEMS[system](), name) for name in ("partial_fit", "merge"))
    if goes_on:
        values = shell.good("update", "one.adaline", more, "-o", "updated.adaline", "--json").json
        assert (values["rows_before"], values["rows_after"]) == (90, 150)
    else:
        assert "cannot continue" in shell.bad("update", "one.adaline", more, "-o", "updated.adaline")
    if merges:
        values = shell.good("merge", "one.adaline", "other.adaline", "-o", "merged.adaline", "--json").json
        assert (values["rows"], values["rows_before"]) == (150, [90, 60])
    else:
        assert "merge" in shell.bad("merge", "one.adaline", "other.adaline", "-o", "merged.adaline")
    if online:
        return  # to continue is not a fit of all rows
    for name in ("updated",) * goes_on + ("merged",) * merges:
        found = [row["prediction"] for row in shell.good("predict", f"{name}.adaline", both, "--keep", "none").rows]
        compared(found, expected["prediction"], classifies, 1e-8)


def compared(found: object, expected: object, classifies: bool, tolerance: float) -> None:
    one, other = np.asarray(found), np.asarray(expected)
    if classifies:
        np.testing.assert_array_equal(one, other)
    else:
        np.testing.assert_allclose(one.astype(float), other, rtol=tolerance, atol=tolerance)


def test_systems_and_bundled_data_sets_are_listed(shell: Shell) -> None:
    listed = shell.good("systems", "--json").json
    assert SYSTEMS.keys() <= {one["name"] for one in listed}
    assert all(one["about"] and one["reference"] for one in listed)
    plain, full = (shell.good("systems", *words).out for words in ([], ["--lectures"]))
    assert [name for name in SYSTEMS if name not in plain] == []
    assert max(map(len, plain.splitlines())) <= 100
    assert ("section 5" in plain, "section 5" in full) == (False, True)
    assert [one["name"] for one in shell.good("systems", "--data", "--json").json] == list(datasets.names())
    assert "penguins" in shell.good("systems", "--data").out


def test_defaults_of_fit_follow_the_target(shell: Shell, data: Path) -> None:
    assert shell.good("fit", data, "-t", "y", "--json").json["system"] == "LinearRegression"
    assert shell.good("fit", data, "-t", "kind", "--drop", "rank,id", "--json").json["system"] == "GaussianClassifier"
    values = shell.good("fit", data, "-t", "flag", "--features", "b,color", "--json").json
    assert values["classes"] == [False, True]
    done = shell.good("fit", data, "-t", "rank", "--features", "a,b", "--json")
    assert done.json["system"] == "LinearRegression"
    assert "note: rank has only 3 different whole numbers" in done.err
    done = shell.good("fit", "SELECT a, b, 5 AS one FROM 'data.csv'", "-t", "one")
    assert "the target has the same value in every row" in done.out
    assert done.err == ""
    two = "SELECT a, b, CAST(a > 1 AS INTEGER) + 4 AS two FROM 'data.csv'"
    done = shell.good("fit", two, "-t", "two", "--json")
    assert (done.json["system"], done.json["classes"], done.err) == ("GaussianClassifier", [4, 5], "")
    named = shell.good("fit", data, "-t", "rank", "--features", "a,b", "-s", "GaussianClassifier", "--json")
    assert (named.json["classes"], named.err) == ([0, 1, 2], "")
    amounts = shell.good("fit", data, "-t", "id", "--features", "a,b", "-s", "GaussianClassifier", "--json")
    assert "each is treated as a class; if they are quantities, choose a regression" in amounts.err
    assert "cut it into classes" in shell.bad("fit", data, "-t", "y", "-s", "LogisticRegression")
    names = "SELECT i AS x, 'name ' || i // 2 AS name FROM range(4000) AS t(i)"
    assert "no label; choose another target" in shell.bad("compare", names, "-t", "name")


def test_what_cannot_be_used_is_left_out_and_said(shell: Shell, data: Path) -> None:
    done = shell.good("fit", data, "-t", "y", "--json")
    assert set(done.json["left_out"]) == {"when", "prose"}
    assert "note: column 'when' is left out: it holds dates; name it in --dates" in done.err
    assert "note: column 'prose' is left out" in done.err
    done = shell.good("fit", data, "-t", "y", "--drop", "prose,rank,id", "--dates", "when", "--json")
    assert done.err == ""
    assert "when" in done.json["columns"]


def test_settings_formulas_and_sources(shell: Shell, data: Path) -> None:
    asked = ("--set", "penalty=0.5", "--set", "fit_intercept=false", "--json")
    values = shell.good("fit", data, "-t", "y", *COLUMNS, "-s", "ridge", *asked).json["parameters"]
    assert (values["penalty"], values["fit_intercept"]) == (0.5, False)
    values = shell.good("fit", data, "-t", "kind", *COLUMNS, "--set", "covariance=diag", "--json").json
    assert values["parameters"]["covariance"] == "diag"
    values = shell.good("fit", data, "--formula", "y ~ a * b + C(rank)", "--weight", "id", "-o", "m", "--json").json
    assert values["features"] == ["a", "b", "C(rank)[T.1]", "C(rank)[T.2]", "a:b"]
    assert len(shell.good("predict", "m", data, "--keep", "none").rows) == 90
    assert shell.good("update", "m", data, "--json").json["rows_after"] == 180
    assert shell.good("fit", "longley", "-t", "Employed", "--json").json["rows"] == 16
    query = f"SELECT a, b, y FROM '{data}' WHERE id < 50"
    assert shell.good("fit", query, "-t", "y", "--json").json["rows"] == 50
    with sqlite3.connect("data.sqlite") as base:
        base.execute("CREATE TABLE t (x REAL, y REAL)")
        base.execute("CREATE TABLE u (x REAL)")
        base.executemany("INSERT INTO t VALUES (?, ?)", [(i, 2.0 * i + i % 3) for i in range(20)])
    assert shell.good("fit", "data.sqlite", "--table", "t", "-t", "y", "--json").json["rows"] == 20
    assert "--table" in shell.bad("fit", "data.sqlite", "-t", "y")


def test_intervals_and_probabilities(shell: Shell, data: Path) -> None:
    shell.good("fit", data, "-t", "y", *COLUMNS, "-o", "y.adaline")
    rows = shell.good("predict", "y.adaline", data, "--interval", "prediction", "--level", "0.9", "--keep", "y").rows
    model, frame = load("y.adaline"), pd.read_csv(data)
    expected = model.predict(frame, interval="prediction", level=0.9)
    for name, values in zip(("prediction", "lower", "upper"), expected, strict=True):
        np.testing.assert_allclose([float(row[name]) for row in rows], values, rtol=1e-10)
    shell.good("fit", data, "-t", "kind", *COLUMNS, "-o", "kind.adaline")
    rows = shell.good("predict", "kind.adaline", data, "--proba", "--keep", "none").rows
    assert list(rows[0]) == ["prediction", "probability_x", "probability_y", "probability_z", "reason"]
    found = [[float(row[f"probability_{label}"]) for label in "xyz"] for row in rows]
    np.testing.assert_allclose(found, load("kind.adaline").predict_proba(frame), rtol=1e-10, atol=1e-300)
    assert "GaussianClassifier, LogisticRegression" in shell.bad("predict", "y.adaline", data, "--proba")
    asked = ("predict", "kind.adaline", data, "--interval", "confidence")
    assert "these systems have: LinearRegression" in shell.bad(*asked)


def test_intervals_of_probabilities_are_numbers(shell: Shell) -> None:
    asked = ("-t", "sex", "-s", "LogisticRegression", "--drop", "island,species,year")
    shell.good("fit", "penguins", *asked, "-o", "sex.adaline")
    rows = shell.good("predict", "sex.adaline", "penguins", "--interval", "confidence", "--keep", "sex").rows
    told = [row for row in rows if row["prediction"]]
    assert all(0 <= float(row["lower"]) <= float(row["prediction"]) <= float(row["upper"]) <= 1 for row in told)
    assert len(told) > 300


@pytest.mark.slow
def test_compare_recommends_reports_and_saves(shell: Shell) -> None:
    asked = ("-t", "species", "--folds", "3", "--systems", "GaussianClassifier,Perceptron")
    done = shell.good("compare", "penguins", *asked, "--save", "best.adaline")
    assert "> " in done.out
    assert "GaussianClassifier" in done.out
    assert "report: report.html" in done.out
    page = Path("report.html").read_text(encoding="utf-8")
    assert "adaline compare penguins -t species --folds 3" in page
    assert read_header("best.adaline")["classes"] == ["Adelie", "Chinstrap", "Gentoo"]
    assert len(shell.good("predict", "best.adaline", "penguins", "--keep", "none").rows) == 333
    asked = ("-t", "body_mass_g", "--systems", "ridge,linearregression", "--json")
    values = shell.good("compare", "penguins", *asked).json
    assert {one["system"] for one in values["results"]} == {"Ridge", "LinearRegression"}
    assert values["report"] is None
    marks = ("compare", "wine", "-t", "quality", "--task", "classification", "--folds", "2", "--json")
    as_classes = shell.good(*marks, "--systems", "GaussianClassifier,LeastSquaresClassifier")
    assert as_classes.json["task"] == "classification"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The passes over large tables, of which only the first rows are kept."""
    asked: list[str] = []
    for module in (open_data, source):
        monkeypatch.setattr(module, "KEPT", 0)
    ask, runs = Relation.rows, Relation.runs

    def rows(self: Relation, sql: str) -> object:
        if not sql.startswith("DESCRIBE") and "LIMIT" not in sql and "sniff_csv" not in sql:
            asked.append(sql)
        return ask(self, sql)

    monkeypatch.setattr(Relation, "rows", rows)
    monkeypatch.setattr(Relation, "runs", lambda self, *args: [asked.append("all rows"), runs(self, *args)][1])
    return asked


@pytest.mark.parametrize("gap", [None, "y", "x"])
def test_fit_reads_a_large_text_once(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, reads: list[str], gap: str | None
) -> None:
    """No pass counts gaps before the fit; where there is one after the first rows, all is as if it had been counted."""
    monkeypatch.setattr(open_data, "SEARCHED_ROWS", 50)
    rows = [[str(i % 7), str((3.1 * i) % 11)] for i in range(100)]
    if gap is not None:
        rows[80]["xy".index(gap)] = ""
    done = shell("fit", written(["x,y", *map(",".join, rows)], "rows.csv"), "-t", "y", "--system", "LMS")
    if gap is None:
        assert done.code == 0
        assert set(reads) <= {"all rows"}
    elif gap == "y":
        assert "1 of 100 rows is left out: no value of y" in done.err
        assert "99 rows" in done.out
    else:
        assert "1 of 100 rows is left out for gaps in 'x' (1)" in done.err
        assert "99 rows (1 row with gaps left out)" in done.out


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_system_that_is_named_reads_a_large_table_of_two_classes_once(
    shell: Shell, reads: list[str], kind: str
) -> None:
    i = np.arange(100)
    frame = pd.DataFrame({"x": i % 7.0, "user": [f"u{one % 13}" for one in i], "y": i % 2})
    frame.to_csv("rows.csv", index=False) if kind == "csv" else frame.to_parquet("rows.parquet", row_group_size=30)
    words = ("--hash", "user", "--system", "OnlineLogistic", "--passes", "1")
    done = shell.good("fit", f"rows.{kind}", "-t", "y", *words)
    assert reads == ["all rows"]
    told = [line.split()[0] for line in done.err.splitlines() if line.strip()[:1].isdigit()]
    assert told == [*("1", "2", "4", "8", "16", "32", "64"), "100"]
    assert "average loss" in done.err
    assert "progressive loss" in done.out


def test_compare_takes_a_sample_of_what_is_too_much(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adaline.comparison.table.MOST_NUMBERS", 9 * 100)
    asked = ("-t", "body_mass_g", "--systems", "LinearRegression", "--json", "--save", "m.adaline")
    values = shell.good("compare", "penguins", *asked).json
    assert (values["rows"], values["total_rows"]) == (100, 333)
    assert shell.good("summary", "m.adaline", "--json").json["rows"] == 333


def test_onnx(shell: Shell, data: Path) -> None:
    pytest.importorskip("onnx")
    shell.good("fit", data, "-t", "y", *COLUMNS, "-o", "m.adaline")
    shell.good("export", "m.adaline", "m.onnx", "--dtype", "float32")
    assert Path("m.onnx").stat().st_size > 100
    assert ".onnx" in shell.bad("export", "m.adaline", "m.txt")


def test_export_writes_a_model_in_other_languages(shell: Shell) -> None:
    duckdb = pytest.importorskip("duckdb")
    shell.good("fit", "penguins", "-t", "body_mass_g", "-o", "m.adaline")
    shell.good("predict", "m.adaline", "penguins", "-o", "p.csv")
    kept = '"a ""key""",given'
    printed = shell.good("export", "m.adaline", "--to", "sql", "--table", "p", "--keep", kept).out
    connection = duckdb.connect()
    connection.sql('CREATE TABLE p AS SELECT *, prediction AS given, 1 AS "a ""key""" FROM \'p.csv\'')
    rows = connection.sql(printed).fetchall()
    np.testing.assert_allclose([row[-1] for row in rows], [row[1] for row in rows], rtol=1e-13)
    shell.good("export", "m.adaline", "m.sql", "--dialect", "postgres")
    assert 'CAST("flipper_length_mm" AS double precision)' in Path("m.sql").read_text()
    shell.good("export", "m.adaline", "m.h", "--name", "mass", "--outputs", "prediction")
    assert "mass_" in Path("m.h").read_text()
    shell.good("export", "m.adaline", "m.txt", "--to", "javascript")
    assert "export function" in Path("m.txt").read_text()
    shell.good("export", "m.adaline", "m.onnx", "--to", "sql")  # what is asked for, and not what the name ends in
    assert "SELECT" in Path("m.onnx").read_text()
    shell.good("card", "m.adaline", "-o", "card.html")
    assert shell.good("card", "m.adaline").out.startswith("# LinearRegression of body_mass_g")
    assert ".html" in shell.bad("card", "m.adaline", "-o", "card.pdf")
    assert "--to" in shell.bad("export", "m.adaline")
    assert "give a path" in shell.bad("export", "m.adaline", "--to", "onnx")
    assert "probability" in shell.bad("export", "m.adaline", "m.sql", "--outputs", "probability")


def test_separable_proves_its_answer(shell: Shell) -> None:
    found = shell.good("separable", "breast_cancer", "-t", "diagnosis", "--json").json
    assert (found["separable"], found["verified"], len(found["coefficients"])) == (True, True, 30)
    text = shell.good("separable", "penguins", "--target", "species", "--features", "bill_length_mm,year").out
    assert "none" in text
    assert "The proof was checked in exact arithmetic." in text
    assert "label" in shell.bad("separable", "norris", "-t", "y")


def test_a_machine_is_set_by_its_name(shell: Shell, data: Path) -> None:
    shell.good("fit", data, "-t", "kind", "-s", "OneVsOne", "--set", "system=pocket", *COLUMNS, "-o", "m.adaline")
    assert [type(one).__name__ for one in load("m.adaline").estimators_] == ["Pocket"] * 3
    assert "settings" in shell.good("summary", "m.adaline").out
    assert shell.good("summary", "m.adaline", "--json").json["parameters"]["system"].startswith("Pocket(")
    assert "there is no system" in shell.bad("fit", data, "-t", "kind", "-s", "OneVsOne", "--set", "system=tree")


@pytest.mark.parametrize("system", ["Perceptron", "KeslerPerceptron", "Pocket"])
def test_the_perceptron_family_sees_standardised_columns_unless_told_otherwise(system: str, shell: Shell) -> None:
    asked = "fit", "penguins", "-t", "species", "-s", system, "--set", "epochs=5", "--json"
    done = shell.good(*asked)
    assert "note: " + system + " is fitted to standardised columns" in done.err
    assert done.json["parameters"]["standardize"] is True
    raw = shell.good(*asked, "--set", "standardize=False")
    assert raw.json["parameters"]["standardize"] is False
    assert "standardised" not in raw.err


def test_standard_errors_of_a_kind_are_those_of_the_summary(shell: Shell) -> None:
    words = ("fit", "penguins", "-t", "body_mass_g", "--features", "bill_length_mm,sex", "--json")
    rows = open_table(datasets.path("penguins"), target="body_mass_g", features=["bill_length_mm", "sex"])
    model = LinearRegression().fit(rows)
    year = open_table(datasets.path("penguins"), target="year", features=["bill_length_mm"]).target_values()
    for more, expected in (
        (("--errors", "HC3"), model.summary(errors="HC3", X=rows)),
        (("--cluster-errors", "year"), model.summary(errors="cluster", X=rows, groups=year)),
    ):
        found = shell.good(*words, *more).json["summary"]["coefficients"]
        assert found == json.loads(json.dumps(expected.to_dict()["coefficients"]))
    clustered = ("-t", "body_mass_g", "--cluster-errors", "year", "--json")
    assert "year" not in shell.good("fit", "penguins", *clustered).json["features"]
    robust = ("-s", "RobustRegression", "--errors")
    assert shell.good(*words, *robust, "H1", "--json").json["summary"]["errors"] == "H1"
    told = shell.good(*words[:-1], "--errors", "HC3", "-o", "m.adaline").out
    assert "HC3 errors are not saved with the model: adaline summary shows classical errors" in " ".join(told.split())
    for more, said in (
        ((*robust, "HC3"), "errors"),
        (("--errors", "cluster"), "--cluster-errors COLUMN"),
        (("--errors", "HC3", "--cluster-errors", "year"), "leave out --errors HC3"),
        (("--cluster", "year"), "write --cluster-errors year"),
        (("--cluster-errors", "nowhere"), "--cluster-errors: penguins has no column 'nowhere'"),
        (("--cluster-errors", "year,island,sex"), "one or two columns, not 3"),
        (("-s", "LMS", "--errors", "HC3"), "LMS has no choice of standard errors"),
    ):
        assert said in shell.bad(*words, *more)


def test_prove_prints_bounds_that_contain_the_exact_coefficients(shell: Shell) -> None:
    words = ("fit", "penguins", "-t", "body_mass_g", "--features", "flipper_length_mm,sex", "--prove")
    printed = shell.good(*words, "-s", "LinearRegression").out
    assert "proved: exactly one solution, within these bounds (2 passes)" in printed
    rows = open_table(datasets.path("penguins"), target="body_mass_g", features=["flipper_length_mm", "sex"])
    model = LinearRegression().fit(rows)
    found = shell.good(*words, "-s", "LinearRegression", "--json").json["enclosure"]["coefficients"]
    for row, value in zip(found, [model.intercept_, *model.coef_], strict=True):
        assert row["lower"] <= value <= row["upper"]
    assert "--prove: LMS proves no bounds" in shell.bad(*words, "-s", "LMS")


def test_proofs_are_checked_of_tables_as_fit_reads_them(shell: Shell) -> None:
    rows = [(i, (i * 37 % 11) / 4, 2.5 * i - i * i % 7) for i in range(20)]
    Path("c.csv").write_text("a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in rows))
    Path("s.csv").write_text("a;b;y\n" + "".join(f"{a};{b};{y}\n".replace(".", ",") for a, b, y in rows))
    shell.good("fit", "s.csv", "-t", "y", "-s", "LinearRegression", "--prove", "-o", "m.adaline")
    assert "as fit reads it" not in shell.good("verify-proof", "m.proof", "c.csv").err
    done = shell.good("verify-proof", "m.proof", "s.csv")
    assert "verified: 3 coefficients" in done.out
    assert "s.csv was read as fit reads it" in done.err
    assert "penguins has no column 'a'" in shell.bad("verify-proof", "m.proof", "penguins")
    Path("c.csv").write_text(Path("c.csv").read_text().replace("0.75", "0.5"))
    assert "not verified" in shell.bad("verify-proof", "m.proof", "c.csv")


def test_formulas_with_offsets_and_lags_predict(shell: Shell, data: Path) -> None:
    fit = ("--formula", "rank ~ ns(a, df=2) + lag(b, 1) + offset(b)", "-s", "GeneralizedLinear", "--missing", "drop")
    shell.good("fit", data, *fit, "--set", "loss=poisson", "-o", "m.adaline")
    found = [row["prediction"] for row in shell.good("predict", "m.adaline", data).rows]
    assert found[0] == ""  # there is no row before
    rows = open_table(data, formula=fit[1], missing="drop")
    np.testing.assert_allclose(np.array(found[1:], dtype=float), load("m.adaline").predict(rows), rtol=1e-9)


def test_columns_that_depend_on_others_are_told_of_once(shell: Shell) -> None:
    done = shell.fit(["a,b,c,y", *(f"{i},{i * i % 7},{i + i * i % 7},{i * i % 5}" for i in range(12))])
    for shown in (done.out, shell.good("summary", "m.adaline").out):
        assert "note: left out as combinations of columns before them, as in R: c = a + b." in shown
        assert "coef_ is the solution of minimum norm" in shown
        assert "advice" not in shown
