"""Files of sparse rows at the command line: every command that takes them, from files and from standard input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adaline.storage import read_header
from tests.cli.command_line import Shell

ONLINE = "OnlineLogistic"
KINDS = pytest.mark.parametrize("kind", ["libsvm", "vw"])


@pytest.fixture(autouse=True)
def files(shell: Shell) -> None:
    """Files of sparse rows in the folder of the command line."""
    for kind in ("libsvm", "vw"):
        Path(f"rows.{kind}").write_bytes(lines(kind))


def lines(kind: str, n: int = 200) -> bytes:
    """Return rows of three of twelve columns, whose first half speaks for a 1 and whose second half for a -1."""
    rng, out = np.random.default_rng(0), []
    for _ in range(n):
        columns = np.sort(rng.choice(12, 3, replace=False))
        label = 1 if (columns < 6).sum() + rng.normal() > 1.5 else -1
        if kind == "vw":
            out.append(f"{label} |a {' '.join(f'c{j}:{1 + j / 8}' for j in columns)}")
        else:
            out.append(f"{label} {' '.join(f'{1 + j}:{1 + j / 8}' for j in columns)}")
    return "\n".join(out).encode() + b"\n"


@KINDS
def test_every_command_takes_sparse_rows_from_files_and_standard_input(kind: str, shell: Shell) -> None:
    more = ["--hash", "2^6"] if kind == "vw" else []
    found = []
    for name in (f"rows.{kind}", "-"):
        said = []
        for words in (
            ["fit", name, "-s", ONLINE, *more, "-o", "m.adaline", "--json"],
            ["predict", "m.adaline", name, "--proba"],
            ["score", "m.adaline", name, "--json"],
            ["update", "m.adaline", name, "-o", "n.adaline", "--json"],
            ["predict", "n.adaline", name],
        ):
            said.append(shell.good(*words, stdin=lines(kind)))
        found.append(said)
    fits, predictions, scores, updates, again = zip(*found, strict=True)
    assert fits[0].json["coef"] == fits[1].json["coef"]
    assert fits[1].json["rows"] == 200
    assert predictions[0].out == predictions[1].out
    assert scores[0].json == scores[1].json
    assert 0.7 < scores[0].json["accuracy"] < 1
    right = [row["label"] == row["prediction"] for row in predictions[0].rows]
    assert scores[0].json["accuracy"] == pytest.approx(np.mean(right))
    assert [one.json["rows_after"] for one in updates] == [400, 400]
    assert again[0].out == again[1].out


@KINDS
def test_what_sparse_rows_do_not_have_is_refused(kind: str, shell: Shell) -> None:
    shell.good("fit", f"rows.{kind}", "-s", ONLINE, "-o", "m.adaline")
    for words in (["score"], ["update"]):
        assert "leave --target out" in shell.bad(*words, "m.adaline", f"rows.{kind}", "-t", "y")
    Path(f"new.{kind}").write_text("|a c1\n" if kind == "vw" else "1:0.5\n")
    for command in ("score", "update"):
        said = "has no label" if kind == "vw" else "the label '1:0.5' is not a finite number"
        assert said in shell.bad(command, "m.adaline", f"new.{kind}")
    for name in (f"rows.{kind}", "-"):
        said = shell.bad("compare", name, "-t", "y", stdin=lines(kind))
        assert "holds sparse rows, without names of columns" in said
        assert "adaline-pipe" not in said


@pytest.mark.parametrize("system", [ONLINE, "SigmoidPerceptron"])
def test_progressive_validation_is_printed_as_it_goes(system: str, shell: Shell) -> None:
    for name in ("rows.vw", "rows.libsvm"):
        said = shell.good("fit", name, "-s", system, "--passes", "1").err.splitlines()
        (first,) = (i for i, line in enumerate(said) if "average loss" in line)
        table = [line.split() for line in said[first + 1 :] if line[:1] == " "]
        assert [row[0] for row in table] == ["1", "2", "4", "8", "16", "32", "64", "128", "200"]
        counts, average, since = (np.array(column, dtype=float) for column in zip(*table, strict=True))
        np.testing.assert_allclose(np.cumsum(since * np.diff(counts, prepend=0)) / counts, average, atol=1e-5)
        assert average[-1] < average[0]


def test_the_former_name_of_online_logistic_is_fitted_warned_of_and_saved_by_the_present_one(shell: Shell) -> None:
    former = ("--system", "LogisticRegression", "--set", "solver=online", "-o", "former.adaline", "--json")
    done, present = shell.good("fit", "rows.libsvm", *former), shell.good("fit", "rows.libsvm", "-s", ONLINE, "--json")
    assert "use --system OnlineLogistic" in done.err
    assert "OnlineLogistic" not in present.err
    assert done.json["coef"] == present.json["coef"]
    assert read_header("former.adaline")["system"] == "OnlineLogistic"
    assert (
        shell.good("update", "former.adaline", "rows.libsvm", "-o", "more.adaline", "--json").json["rows_after"] == 400
    )
