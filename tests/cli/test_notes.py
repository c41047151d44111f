"""What `fit` says of a table: what is left out, filled, coded or refused, and the option that changes it."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import pytest

from adaline.playground.table import board_of_table
from tests.cli.command_line import Shell, written


def lines(head: str, row: Callable[[int], str], n: int = 12) -> list[str]:
    return [head, *(row(i) for i in range(n))]


GAPS = ["x,z,void,c,y", "1,5,,p,2", "2,,,q,4", "3,1,,p,", "4,2,,,8", "5,4,,q,11", "6,3,,p,12", "7,9,,q,13"]
VOID = ["x,void,y", "1,,3", "2,,4", ",,4", "4,,2"]
REGIONS = lines("region,x,y", lambda i: f"{['NA', 'EU', 'NA', 'None'][i % 4]},{i if i else 'NA'},{i % 5}", 16)
FOUR = lines("zip,x,y", lambda i: f"0{1000 + i % 4},{i * i % 7},{i % 5}")
MANY = lines("zip,x,y", lambda i: f"0{1000 + i},{i * i % 7},{i % 5}", 30)
HALF = lines("a,b,y", lambda i: f"{i * i % 17},{'' if i < 24 else i % 7},{i % 5}", 40)
NONE = lines("a,b,c,y", lambda i: f"{i * i % 17},{'' if i < 24 else i % 7},{i if i < 24 else ''},{i % 5}", 40)
NEVER = lines("a,b,y", lambda i: f"{'' if i % 2 else i},{i * i % 7 if i % 2 else ''},{i}", 40)
SAME = "is left out: it holds the same value in every row"
NO_VOID = "note: column 'void' is left out: it holds no values"
NO_Y = "note: 1 of 7 rows is left out: no value of y"
AMOUNTS = "numbers as text: turn them into numbers if they are amounts"
ONE = ["x,y", "1,a", "2,a", "3,a"]
COMMAS = ["1,2,3", "2,5,4"] * 2 + [",5,4", "1,,2"] * 3
NOTES: list[tuple[list[str], str, list[str]]] = [
    (GAPS, "", ["for gaps in 'z' (1), 'c' (1)", NO_VOID, NO_Y, "4 rows (2 rows with gaps left out)"]),
    (GAPS, "--drop z,c", [NO_VOID, NO_Y, "6 rows"]),
    (GAPS, "--drop void --missing drop", ["note: 2 of 7 rows are left out for gaps in", "4 rows"]),
    (GAPS, "--features x,z --missing indicator", ["z[missing]", "6 rows", "not: for gaps"]),
    (VOID, "--missing drop", [NO_VOID, "3 rows"]),
    (VOID, "--missing mean", [NO_VOID, "4 rows"]),
    (VOID, "--missing indicator", [NO_VOID, "4 rows"]),
    (HALF, "", ["16 rows (24 rows with gaps left out)", "for gaps in 'b' (24), more than half: --missing indicator"]),
    (HALF, "", ["--drop b by leaving columns out"]),
    (NONE, "", ["column 'b' is left out: it has no value in 24 of 40 rows", "24 rows (16 rows with gaps left out)"]),
    (NEVER, "--features a,b", ["40 rows (gaps in 2 columns filled and marked)", "no row is complete"]),
    (lines("x,c,s,y", lambda i: f"{i},7,a,{2 * i}"), "", [f"column 'c' {SAME}", f"column 's' {SAME}"]),
    (lines("x,g,y", lambda i: f"{i},{'' if i == 7 else 'DE'},{2 * i + i % 2}", 20), "", ["not: yes or no"]),
    (FOUR, "", [f"note: column 'zip' is coded by levels: it holds {AMOUNTS}\n", "zip[T.01003]"]),
    (FOUR, "--features zip,x", [f"note: column 'zip' is coded by levels: it holds {AMOUNTS}\n", "zip[T.01003]"]),
    (MANY, "", [f"column 'zip' is left out: it holds {AMOUNTS}, or name it in --categories to code them"]),
    (REGIONS, "--missing mean", ["'NA' (8) and 'None' (4) in 'region' counted as missing, --na '' keeps such words"]),
    (REGIONS, "--na ''", ["15 rows (1 row with gaps left out)", "region[T.NA]", "region[T.None]"]),
    (['"a,b",c,y', *COMMAS], "", ["""--drop '"a,b",c'"""]),
    (["x y,c,y", *COMMAS], "", ["--drop 'x y,c'"]),
    (["x,y", "1,2", '"b,c",3', "4,5"], "--na '\"b,c\"'", ["2 rows (1 row with gaps left out)"]),
    (["x,y", "1,2", '"so ""what""",3', "4,5"], "--na 'so \"what\"'", ["2 rows (1 row with gaps left out)"]),
]  # fmt: skip
REFUSED: list[tuple[list[str], str, str]] = [
    (GAPS, "--drop void --missing error", "missing values"),
    (VOID, "--missing error", "'void' (4)"),
    (["x,y", "1,2", "2,", "3,4"], "--missing error", "missing values in column 'y' (1). Choose --missing drop"),
    (MANY, "--features zip,x", f"column 'zip' holds {AMOUNTS}, or name it in --categories to code them"),
    (['"a,b",c,y', *COMMAS], "--features a,b", 'There are: "a,b", c, y'),
    (["x,y", "1,2", "2,inf", "3,4"], "", "y contains infinity: first at line 3, column 'y' of t.csv."),
    (["x,y", "1,2", "2,inf", "3,4"], "-s LMS", "y contains infinity: first at line 3, column 'y' of t.csv."),
    (["x,y", "1,2", "inf,3", "3,4"], "-s LMS", "X contains infinity: first at line 3, column 'x' of t.csv."),
    (["x,y", "1,2", "2,", "3,inf", "4,2"], "-s Ridge", "first at line 4, column 'y' of t.csv."),
    (ONE, "-s GaussianClassifier", "one class, 'a'. Give rows of another class too"),
    (ONE, "-s OneVsRest", "OneVsRest needs rows of at least 2 classes; there is one class, 'a'."),
    (["x,y", "1,.25", "2,1"], "-s LogisticRegression", "the target 'y' has fractions, such as 0.25, so it is no label"),
    (REGIONS, "-t region", "one class"),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "options", "said"), NOTES)
@pytest.mark.every
def test_fit_says_what_becomes_of_a_table(rows: list[str], options: str, said: list[str], shell: Shell) -> None:
    """A text after "not: " is not said."""
    done = shell.good("fit", written(rows, "t.csv"), "-t", "y", *shlex.split(options))
    text = done.out + done.err
    for one in said:
        assert (one.removeprefix("not: ") in text) == (not one.startswith("not: ")), one


@pytest.mark.parametrize(("rows", "options", "said"), REFUSED)
@pytest.mark.every
def test_fit_refuses_a_table_with_what_to_do(rows: list[str], options: str, said: str, shell: Shell) -> None:
    target = [] if "-t " in options else ["-t", "y"]
    assert said in shell.bad("fit", written(rows, "t.csv"), *target, *shlex.split(options))


def test_one_row_is_one_row(shell: Shell) -> None:
    done = shell.fit(["x,y", "1,2"], "-s", "LinearRegression")
    assert "1 row" in done.out
    for text in (done.out, done.err, shell.good("summary", "m.adaline").out):
        assert "1 rows" not in text
        assert "inf" not in text


def test_the_playground_leaves_out_columns_without_values(shell: Shell) -> None:
    board = board_of_table(written(VOID, "t.csv"), "y")
    assert "column 'void' is left out: it holds no values" in board["notes"]
    assert [axis["name"] for axis in board["axes"]] == ["x"]


@pytest.mark.parametrize(("text", "word"), [("1e400", "inf"), ("-1e400", "-inf"), ("1E+999", "+inf")])
@pytest.mark.parametrize(("separator", "sign"), [",.", ";,"])
def test_numbers_that_overflow_are_infinite(text: str, word: str, separator: str, sign: str, shell: Shell) -> None:
    rows = (f"{text if i == 5 else f'{i}{sign}5'}{separator}{i}" for i in range(12))
    written([f"x{separator}y", *rows], "t.csv")
    assert "contains infinity: first at line 7, column 'x'" in shell.bad("fit", "t.csv", "-t", "y")
    assert "11 rows (1 row with gaps left out)" in shell.good("fit", "t.csv", "-t", "y", f"--na={word}").out
