"""What a model says in SQL, C, JavaScript and plain Python is what it says itself, row by row, in the real engines."""

from __future__ import annotations

import datetime
import re
import shutil
import sqlite3
import subprocess
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import (
    AdditiveModel,
    ElasticNet,
    GaussianMixture,
    GeneralizedLinear,
    KMeans,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    Ridge,
    basis,
    open_table,
)
from adaline.errors import InvalidParameter, InvalidType
from adaline.exporting import export
from tests.cases import Case, cases
from tests.exporting.agreement import Asked, asked, far
from tests.exporting.engines import ENGINES, is_there
from tests.exporting.servers import SERVERS, has_server, without_overflow

NO_FORM = ("WienerFilter", "AdaptiveFilter", "CustomMachine")
VARIABLE = "${x}"
EVIL = [
    '"; DROP TABLE t; --',
    "it's",
    "a\\",
    "*/ x",
    "</script>",
    VARIABLE,
    "two\nlines",
    "`",
    "\u00e4\u2028",
    "if",
    "A",
    "a",
]
"""Names of columns, and levels, that would end a literal or a comment, or collide."""


@cache
def fitted(name: str) -> Asked:
    """Return a case fitted to rows with names, rows to score, and what the model says of them."""
    from tests.cases import CASES

    given = CASES[name].rows()
    columns = ["x", "select", "\u00e4 b", "x'\""]
    model = CASES[name].fit(given.with_rows(lambda X: pd.DataFrame(X, columns=columns)))
    return asked(model, pd.DataFrame(given.X[:12], columns=columns))


@pytest.mark.parametrize("engine", ENGINES)
@cases()
def test_an_engine_says_what_the_model_says(case: Case, engine: str, tmp_path: Path) -> None:
    if not is_there(engine):
        pytest.skip(f"{engine} is not installed")
    if case.name.startswith(NO_FORM):
        with pytest.raises(InvalidType, match=r"signal|Python code"):
            export(case.fit(case.rows()), to="sql")
        return
    given = fitted(case.name)
    assert not far(ENGINES[engine](given.model, given.rows, tmp_path), given)


def table(n: int = 200) -> pd.DataFrame:
    """Return a table with every kind of column, gaps in some, and names and levels that need care."""
    rng = np.random.default_rng(0)
    day = np.array([datetime.date(2024, 1, 1) + datetime.timedelta(int(k)) for k in rng.integers(0, 400, n)])
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n).round(3),
            "it's; --": rng.gamma(2.0, size=n).round(3) + 0.1,
            "carrier": rng.choice(["AA", "UA", "o'x", '"', "a\\b"], n),
            'odd "name"': rng.choice(["left", " right", "x y"], n),
            "floor": rng.integers(1, 5, n),
            "late": rng.random(n) > 0.5,
            "day": pd.to_datetime(day),
        }
    )
    frame["y"] = frame["size"] + 0.1 * frame["floor"] + rng.normal(size=n).round(3)
    frame["count"] = rng.poisson(2.0, n)
    frame["grade"] = np.array(["low", "mid", "o'high"])[np.digitize(frame["y"], [0.0, 0.7])]
    return frame


def gappy() -> pd.DataFrame:
    frame = table()
    rng = np.random.default_rng(1)
    for name in ("size", "it's; --", "carrier"):
        frame.loc[rng.random(len(frame)) < 0.1, name] = None
    return frame


def hostile(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows as they should not be: gaps, infinities, levels that are new or between blanks."""
    rows = frame.iloc[:30].reset_index(drop=True).copy()
    rows["size"] = rows["size"].astype(float)
    for i, value in enumerate([np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-300, 0.0, -0.0]):
        rows.loc[i, "size"] = value
    for i, value in enumerate([None, "new", " AA", "AA\t", "aa", "", "AA\u2003", "'", "o''x", "\\", '""']):
        rows.loc[8 + i, "carrier"] = value
    for i, value in enumerate(["right", " right", "  right ", "left ", "x  y"]):
        rows.loc[19 + i, 'odd "name"'] = value
    return rows


def evil() -> tuple[Any, pd.DataFrame]:
    rng = np.random.default_rng(2)
    names = [one for one in EVIL if one not in ("A", VARIABLE)]  # databases take "A" for "a"
    frame = pd.DataFrame({name: rng.normal(size=80) for name in names})
    frame["kind"] = [EVIL[k % len(EVIL)] for k in range(80)]
    label = [EVIL[k % 5] for k in range(80)]
    return LogisticRegression(penalty=1.0).fit(frame, label), frame.iloc[:20]


NAMED = ["size", "it's; --", "carrier", 'odd "name"', "floor", "late", "day"]


def of_table(make: Callable[[], Any], target: str, **options: Any) -> Callable[[], tuple[Any, pd.DataFrame]]:
    """Return what makes a model of the table, and the rows that it is asked about."""

    def made() -> tuple[Any, pd.DataFrame]:
        frame = gappy() if "missing" in options else table()
        given: Any = options if "formula" in options else {**options, "target": target, "dates": ["day"]}
        kept = frame if "formula" in options else frame[[*NAMED, target]]
        model = make().fit(open_table(kept, **given))
        return model, hostile(frame[NAMED])

    return made


TABLES: dict[str, Callable[[], tuple[Any, pd.DataFrame]]] = {
    "numbers of all kinds": of_table(LinearRegression, "y"),
    "filled": of_table(LinearRegression, "y", missing="mean", unseen="other"),
    "indicated": of_table(LinearRegression, "y", missing="indicator"),
    "labels": of_table(lambda: LogisticRegression(penalty=1.0), "grade", unseen="other"),
    "levels are numbers": of_table(Ridge, "y", categories=["floor"]),
    "formula": of_table(
        LinearRegression,
        "y",
        formula="y ~ log(`it's; --`) * carrier + poly(size, 3) + I(floor > 2) + C(floor, Sum) + exp(-abs(size))"
        " + pmin(size, 0)",
    ),
    "splines": of_table(
        LinearRegression,
        "y",
        formula="y ~ bs(size, df=5) + ns(`it's; --`, df=3) + scale(floor) + cut(size, 4)",
        unseen="other",
    ),
    "products of categories": of_table(
        LinearRegression, "y", formula="y ~ carrier * C(floor, Poly) + carrier:size - 1"
    ),
    "counts": of_table(
        lambda: GeneralizedLinear(loss="poisson"), "count", formula="count ~ size + carrier + offset(log(`it's; --`))"
    ),
    "absorbed": of_table(LinearRegression, "y", formula="y ~ size + floor | carrier", unseen="other"),
    "net": of_table(lambda: ElasticNet(l1=0.5), "y", formula="y ~ size + carrier + offset(floor)"),
    "ordered": of_table(
        OrdinalRegression, "grade", offset="log(`it's; --`)", categories={"grade": ["low", "mid", "o'high"]}
    ),
    "curves and groups": of_table(
        AdditiveModel,
        "y",
        formula="y ~ late + s(size, by=carrier, k=4) + s(floor, bs='cc', k=4) + (1 + size | carrier)"
        " + (1 | carrier:floor)",
        unseen="other",
    ),
    "counts of groups": of_table(
        lambda: AdditiveModel(loss="poisson"),
        "count",
        formula="count ~ s(size, bs='cr', k=4) + (1 | carrier) + offset(log(`it's; --`))",
        unseen="other",
    ),
    "surface": of_table(AdditiveModel, "y", formula="y ~ te(size, floor, k=3) + (1 | late)"),
    "very many groups": lambda: (
        AdditiveModel(terms=["(1 | x0)"]).fit(
            np.column_stack([np.arange(1300) % 650, np.sin(np.arange(1300))]), np.cos(np.arange(1300))
        ),
        pd.DataFrame({"x0": [0.0, 3.0, 649.0, 650.0, 1.5], "x1": [1.0, 2.0, 0.5, 0.0, np.nan]}),
    ),
    "spline basis": lambda: (
        LinearRegression(basis=basis.Spline(df=5) + basis.Spline(df=4, natural=True)).fit(
            table()[["size"]], table()["y"]
        ),
        hostile(table()[NAMED])[["size"]],
    ),
    "bases": lambda: (
        Ridge(basis=basis.Polynomial(degree=3, orthogonal=True) @ basis.Fourier(terms=2) + basis.Radial(centres=4)).fit(
            table()[["size", "it's; --"]], table()["y"]
        ),
        hostile(table()[NAMED])[["size", "it's; --"]],
    ),
    "clusters": lambda: (KMeans(3).fit(table()[["size", "floor"]]), hostile(table()[NAMED])[["size", "floor"]]),
    "mixture": lambda: (GaussianMixture(2).fit(table()[["size", "floor"]]), table()[["size", "floor"]].iloc[:30]),
    "evil names": evil,
}


@cache
def of_a_table(name: str) -> Asked:
    """Return a model of a table, rows, and what it says of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return asked(*TABLES[name]())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", TABLES)
def test_tables_are_coded_as_the_model_codes_them(name: str, engine: str, tmp_path: Path) -> None:
    if not is_there(engine):
        pytest.skip(f"{engine} is not installed")
    given = of_a_table(name)
    assert not far(ENGINES[engine](given.model, given.rows, tmp_path), given)


def test_another_label_is_accepted_where_two_tie_alone() -> None:
    X = pd.DataFrame({"x": [0.0, 2.0, 9.0]})
    of_two = LogisticRegression(penalty=1.0).fit(X, [0, 1, 1])
    for model, tied in ((KMeans(3).fit(X), 1.0), (of_two, -of_two.intercept_[0] / of_two.coef_[0, 0])):
        given = asked(model, pd.DataFrame({"x": [tied * (1 + 1e-15), tied * 1.001, np.nan]}))
        one, other = model.predict(pd.DataFrame({"x": [0.0, 2.0]})).tolist()
        first, second, refused = given.wanted["prediction"]
        assert refused is None
        tie = other if first == one else one
        assert not far(given.wanted | {"prediction": [tie, second, None]}, given)
        for wrong in ([3 - one - other, second, None], [None, second, None], [first, one, None], [first, second, 0]):
            assert far(given.wanted | {"prediction": wrong}, given)


def test_a_tree_is_a_text_to_read() -> None:
    frame = pd.DataFrame({"a b": np.arange(40.0), "kind": [f"level {k % 10}" for k in range(40)], "y": np.arange(40.0)})
    model = LinearRegression().fit(open_table(frame, formula="y ~ cut(`a b`, 3) + kind + pmax(`a b`, 2)"))
    text = str(model.expression())
    assert re.fullmatch(
        r"prediction = finite\(choose\(`a b`; <= [\d.]+: 0, <= [\d.]+: \S+, .*, unknown: missing, missing: missing\) "
        r"\+ choose\(kind; 'level 0': 0, .*'level 7': \S+, \.\.\. 2 more, unknown: missing, missing: missing\).*\)",
        text,
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_a_name_that_spark_would_replace_is_refused_there_alone(engine: str, tmp_path: Path) -> None:
    if not is_there(engine):
        pytest.skip(f"{engine} is not installed")
    rows = pd.DataFrame({VARIABLE: [1.0, 2.0, 4.0]})
    given = asked(LinearRegression().fit(rows, [1.0, 2.0, 3.0]), rows)
    assert not far(ENGINES[engine](given.model, given.rows, tmp_path), given)
    with pytest.raises(InvalidParameter, match="rename the column"):
        export(given.model, to="sql", dialect="spark")


@pytest.mark.parametrize("kind", ["TEXT", ""])
def test_sqlite_reads_numbers_that_are_stored_as_texts(kind: str, tmp_path: Path) -> None:
    values = ["3.5", " 3.5 ", "-1e3", ".5", "9007199254740993", 9007199254740993, 2, "", "3.5a", "0x10", "NA", "inf"]
    rows = pd.DataFrame({"x": values})
    given = asked(LinearRegression().fit(pd.DataFrame({"x": [1.0, 2.0, 3.0]}), [2.0, 3.0, 5.0]), rows)
    assert given.wanted["prediction"][:7].count(None) == 0
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute(f"CREATE TABLE t (x {kind})")
        connection.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
        found = connection.execute(export(given.model, to="sql", dialect="sqlite", table="t")).fetchall()
    assert not far({"prediction": [one for (one,) in found]}, given)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"path": "m.txt"}, "names no language: give to= as one of sql, c, javascript, python, onnx"),
        ({}, "give a path, or to="),
        ({"to": "cobol"}, "to must be"),
        ({"to": "onnx"}, "ONNX is a binary format"),
        ({"to": "sql", "dialect": "oracle"}, "dialect must be"),
        ({"to": "sql", "outputs": ["probability"]}, "LinearRegression has no probability; there are: prediction"),
        ({"to": "sql", "outputs": []}, "outputs is empty"),
        ({"to": "sql", "outputs": ["answer"]}, "outputs must be"),
        ({"to": "sql", "keep": ["Prediction"]}, "two columns of the result are called 'prediction'"),
        ({"to": "sql", "keep": [3]}, "keep is a list of names"),
        ({"to": "sql", "keep": ["a\0"]}, "cannot be written in SQL"),
    ],
)
def test_what_cannot_be_written_is_said(asked: dict[str, Any], said: str, tmp_path: Path) -> None:
    model = LinearRegression().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0])
    if "path" in asked:
        asked["path"] = tmp_path / asked["path"]
    with pytest.raises(InvalidParameter, match=re.escape(said)):
        export(model, **asked)
    assert not any(tmp_path.iterdir())


def test_hashed_columns_have_no_form() -> None:
    frame = table(60)
    model = Ridge(1.0).fit(open_table(frame[["carrier", "size", "y"]], target="y", hashed={"carrier": 64}))
    with pytest.raises(InvalidType, match=r"carrier.*no form outside adaline"):
        export(model, to="c")


@pytest.mark.parametrize(
    ("language", "name", "tool", "command"),
    [
        ("c", "main.c", "gcc", "gcc -std=c99 -Wall -Wextra -Werror main.c -o main -lm && ./main"),
        ("javascript", "main.mjs", "node", "node main.mjs"),
    ],
)
def test_programs_of_the_guide_print_what_it_says(
    language: str, name: str, tool: str, command: str, tmp_path: Path
) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    page = (Path(__file__).parents[2] / "docs" / "guide" / "export.md").read_text(encoding="utf-8")
    (program,) = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
    (tmp_path / name).write_text(program, encoding="utf-8")
    penguins = open_table("penguins", formula="body_mass_g ~ sex + flipper_length_mm")
    model = LinearRegression().fit(penguins)
    export(model, tmp_path / "mass.h", name="mass")
    export(model, tmp_path / "mass.mjs")
    printed = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert printed.split() == re.findall(r"(?://|/\*) ([\d.]+)", program)


@pytest.mark.night
@pytest.mark.parametrize("engine", SERVERS)
@pytest.mark.parametrize("name", TABLES)
def test_servers_code_tables_as_the_model_codes_them(name: str, engine: str, tmp_path: Path) -> None:
    if not has_server(engine):
        pytest.skip(f"{engine} is not installed")
    given = of_a_table(name)
    if engine == "postgres":
        given = given.of(without_overflow(given.rows))
    assert not far(SERVERS[engine](given.model, given.rows, tmp_path), given)


@pytest.mark.night
@pytest.mark.parametrize("engine", SERVERS)
@cases()
def test_a_server_says_what_the_model_says(case: Case, engine: str, tmp_path: Path) -> None:
    if case.name.startswith(NO_FORM) or not has_server(engine):
        pytest.skip(f"{engine} is not installed, or the model has no form")
    given = fitted(case.name)
    assert not far(SERVERS[engine](given.model, given.rows, tmp_path), given)
