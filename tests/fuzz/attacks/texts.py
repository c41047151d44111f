"""Formulas and queries: texts that strangers write."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from adaline import LinearRegression, open_table
from adaline.errors import AdalineError
from tests.fuzz.targets import Random, flipped, one_of, target

NAMES = (
    "a",
    "b",
    "c",
    "y",
    "ok",
    "`two words`",
    "missing",
    "1",
    "0",
    ".",
    "2.5",
    "'a'",
    "__class__",
    "\u00e9",
    "lambda",
)
OPERATORS = (" + ", " - ", " * ", ":", "/", "**", "^", " %in% ", " | ", " ~ ", " ", ",", "==", "=", "(", ".")
FUNCTIONS = ("log", "exp", "sqrt", "I", "C", "poly", "bs", "ns", "center", "eval", "__import__", "print", "")
CALLS = (
    *(
        "poly({}, 2)",
        "poly({}, {})",
        "bs({}, df=5)",
        "ns({}, knots=c(1.2, 1.7))",
        "scale({})",
        "cut({}, 3)",
        "factor({})",
    ),
    *("I({} > {})", "pmin({}, {})", "C({}, Sum)", "C({}, Treatment('v'))", "C({}, Poly)", "offset({})", "lag({}, 1)"),
    *("bs({}, df={})", "cut({}, c({}, 2))", "Q('{}')", "cbind({}, {})", "bs({}, Boundary.knots=c(0, 9))"),
)


def frame() -> pd.DataFrame:
    """Return a frame with numbers, a category and booleans."""
    rng = np.random.default_rng(0)
    out = pd.DataFrame(rng.uniform(1, 2, size=(40, 3)), columns=["a", "b", "two words"])
    out["c"], out["ok"] = rng.choice(["u", "v", "w"], size=40), rng.random(40) < 0.5
    out["y"] = out.a + rng.normal(size=40)
    return out


def expression(rng: Random, depth: int) -> str:
    """Return an expression, most of the time one that a formula may hold."""
    if depth == 0 or rng.random() < 0.2:
        return str(one_of(rng, NAMES[:6] if rng.random() < 0.8 else NAMES))
    left = expression(rng, depth - 1)
    match int(rng.integers(5)):
        case 0:
            return f"({left})" + one_of(rng, ("", "", "**2", "**20", "^3", "**-1", "**0", "**1e9", "**a"))
        case 1:
            return f"{one_of(rng, FUNCTIONS[:6] if rng.random() < 0.8 else FUNCTIONS)}({left})"
        case _:
            operator = one_of(rng, OPERATORS[:5] if rng.random() < 0.8 else OPERATORS)
            return f"{left}{operator}{expression(rng, depth - 1)}"


@target
def formula(rng: Random, folder: Path) -> None:
    """A formula made by its grammar, sometimes with characters changed."""
    fit_formula(
        rng, f"{one_of(rng, ('y', 'y', 'y', 'log(y)', 'y + a', '', 'c'))} ~ {expression(rng, int(rng.integers(1, 6)))}"
    )


@target
def functions(rng: Random, folder: Path) -> None:
    """A formula of functions with options, which learn from the rows."""
    terms = [
        str(one_of(rng, CALLS))
        .replace("{}", expression(rng, int(rng.integers(2))), 1)
        .replace("{}", expression(rng, 1))
        for _ in range(int(rng.integers(1, 4)))
    ]
    fit_formula(rng, f"{one_of(rng, ('y', 'y', 'log(y)', 'cbind(y, a)'))} ~ {' + '.join(terms)}")


def fit_formula(rng: Random, text: str) -> None:
    """Fit a machine to a formula, sometimes with characters changed; its predictions are finite."""
    if rng.random() < 0.3:
        text = flipped(rng, text.encode()).decode("utf-8", errors="replace")
    data = frame()
    model = LinearRegression().fit(open_table(data, formula=text, missing="drop", progress=False))
    assert np.isfinite(model.predict(data)).all()


SECRET = "the-contents-of-another-file"
PIECES = (
    *("SELECT a, y FROM '{given}'", "SELECT * FROM read_csv('{given}')", "SELECT 1 AS y, 2 AS a", "FROM '{given}'"),
    *("SELECT * FROM read_text('{other}')", "SELECT content AS y, 1 AS a FROM read_blob('{other}')"),
    *("SELECT * FROM read_csv('{other}')", "SELECT * FROM glob('{folder}/*')", "SELECT getenv('HOME') AS y, 1 AS a"),
    *("COPY (SELECT 42) TO '{written}'", "ATTACH '{written}' AS w", "CREATE TABLE w AS SELECT 1", "INSTALL httpfs"),
    *("LOAD httpfs", "SET enable_external_access=true", "PRAGMA database_list", "EXPORT DATABASE '{written}'"),
    *("CALL pragma_version()", "RESET lock_configuration", "DROP TABLE w", "SELECT * FROM duckdb_settings()"),
    *("SELECT * FROM sniff_csv('{other}')", "SELECT * FROM read_json('{other}')", "SELECT * FROM '{other}'"),
    *("SELECT * FROM parquet_metadata('{other}')", "WITH t AS (SELECT * FROM '{given}') SELECT * FROM t"),
    *("VALUES (1, 2)", "DESCRIBE SELECT 1", "SELECT 1 AS y, 'x' AS a", "SELECT * FROM range(3)"),
    *("SELECT repeat('x', 100) AS a, 1 AS y", "SELECT NULL AS y, 1 AS a", "SELECT 1/0 AS y, 1 AS a"),
)
JOINTS = ("; ", ") ; ", " UNION ALL ", "); {piece}; SELECT * FROM (", " -- ", " /* ", "\n", "\0", "' ", ")")


@target
def query(rng: Random, folder: Path) -> None:
    """Statements in one text: nothing is written, and no other file is read."""
    for name in ("given", "other"):
        (folder / name).mkdir()
    given, other, written = folder / "given" / "t.csv", folder / "other" / "o.csv", folder / "written"
    given.write_text("a,y\n" + "".join(f"{i},{i * i % 7}\n" for i in range(20)))
    other.write_text(f"a,y\n1,{SECRET}\n2,{SECRET}\n")
    text = str(one_of(rng, PIECES))
    for _ in range(int(rng.integers(0, 3))):
        joint = str(one_of(rng, JOINTS)).replace("{piece}", str(one_of(rng, PIECES)))
        text += joint + str(one_of(rng, PIECES))
    text = text.format(given=given, other=other, folder=folder, written=written)
    if rng.random() < 0.2:
        text = flipped(rng, text.encode()).decode("utf-8", errors="replace")
    before = sorted(folder.rglob("*"))
    shown = ""
    try:
        LinearRegression().fit(open_table(text, target="y", progress=False))
    except AdalineError as error:
        shown = str(error)
        raise
    finally:
        assert sorted(folder.rglob("*")) == before, f"a query has written a file: {text!r}"
        assert SECRET not in shown, f"a query has shown another file: {text!r}"
