"""How commands end: exit codes, one line for what is wrong, and files that are whole or as they were."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import adaline
from adaline.cli import fit, main, predict, update
from adaline.cli.exit import one_line
from adaline.errors import AdalineWarning
from tests.cli.command_line import ENVIRONMENT, Shell, table, written

MISTAKES: list[tuple[str, str]] = [
    ("fit nowhere.csv -t y", "there is no file nowhere.csv"),
    ("fit date.csv -t y", "Did you mean data.csv?"),
    ("fit penguin -t y", "Did you mean penguins?"),
    ("fit adaline.datasets.load_penguins -t y", "Did you mean penguins?"),
    ("fit adaline.datasets.penguins -t y", "Did you mean penguins?"),
    ("fit nowhere/x.csv -t y", "There is no folder nowhere either."),
    ("fit https://x.org/data.csv -t y", "download it first"),
    ("fit penguins", "--target COLUMN, or --formula 'target ~ columns'. Columns of penguins: species, island"),
    ("fit penguins -t bodymass", "Did you mean 'body_mass_g'?"),
    ("fit penguins -t Year", "Did you mean 'year'?"),
    ("fit data.csv -t Y", "Did you mean 'y'?"),
    ("fit penguins -t year --features year,sex", "names 'year', which is the target: leave it out of the features"),
    ("fit penguins -t year --features sex,sex", "--features names 'sex' twice"),
    ("fit penguins -t species -s Gausian", "Did you mean GaussianClassifier?"),
    ("fit penguins -t year -s Lasso", "It is ElasticNet here."),
    ("fit penguins -t year -s linear", "It is LinearRegression here."),
    ("fit penguins -t year -s lmer", "It is AdditiveModel here."),
    ("fit penguins -t year -s gen", "Did you mean GeneralizedLinear?"),
    ("fit penguins --formula 'year ~ s(bill_depth_mm)'", "has s(bill_depth_mm): use --system AdditiveModel; or"),
    ("compare penguins --formula 'year ~ s(bill_depth_mm)'", "compare takes no s(bill_depth_mm) in a formula"),
    ("fit penguins -t year -s kmeans", "adaline.KMeans().fit(X)"),
    ("fit penguins -t species --set cov=1", "There are: covariance, priors, shrinkage"),
    ("fit penguins -t species --set covariance", "key=value"),
    ("fit penguins -t species -s Ridge", "use a classifier"),
    ("fit penguins -t year --drop isle", "--drop: penguins has no column 'isle'"),
    ("fit penguins -t year -o no/such/folder", "there is no folder"),
    ("fit penguins -t year -o .", "it is a folder"),
    ("compare penguins -t year -o report.pdf", "end it in .html or .htm"),
    ("fit penguins -t year --missing perhaps", "'perhaps' is not one of"),
    ("fit", "Missing argument 'DATA'. Try 'adaline fit --help'"),
    ("fit penguins -t year --drop sex island", "several names are one word, with commas: a,b."),
    ("exprt", "Did you mean 'export'? Try 'adaline --help'."),
    ("foo", "No such command 'foo'. Try"),
    ("datasets", "No such command 'datasets'. It is 'adaline systems --data' here."),
    ("train penguins -t year", "It is 'adaline fit' here."),
    ("penguins", "'penguins' is a table, not a command. To compare models on it: adaline compare penguins --target"),
    ("data.csv -t y", "'data.csv' is a table, not a command."),
    ("--foo", "No such option: --foo. Try"),
    ("fit penguins --model Ridge", "No such option: --model. Did you mean --system?"),
    ("fit penguins --systm Ridge", "No such option: --systm. Did you mean --system or --set?"),
    ("systems missing=\\'drop\\'", "Got unexpected extra argument(s) (missing='drop'). Try"),
    ("systems Ridge", "Got unexpected extra argument(s) (Ridge). Try"),
    ("predict nowhere.adaline penguins", "there is no such file"),
    ("summary data.csv", "not a model file"),
    ("merge a.adaline -o b.adaline", "two or more models"),
    ("compare penguins -t year --folds 1", "folds"),
    ("compare penguins -t year --systems Ridge,GaussianClassifier", "one kind at a time"),
    ("fit 'SELECT 1 AS' -t y", "Parser Error"),
    ("select longley -t Employed -s Ridge", "say what to choose: --parameter"),
    ("select longley -t Employed -s Ridge -p penalty", "--parameter takes key=value"),
    ("select longley -t Employed -s Ridge -p penalty=,", "--parameter takes key=value"),
    ("select longley -t Employed -s Ridge -p penalty=1 -p penalty=2", "--parameter names penalty twice"),
    ("select longley -t Employed -s Ridge -p penalti=1", "Ridge has no parameter 'penalti'"),
    ("select longley -t Employed -s Ridge -p penalty=-1", "no candidate could be fitted"),
    ("select longley -t Employed -s Ridge -p penalty=1 --method guess", "guess"),
    ("select norris -t y -s LinearRegression -p basis=wave", "no basis 'wave'"),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES)
@pytest.mark.every
def test_a_mistake_is_one_line_and_exit_code_2(words: str, said: str, shell: Shell, data: Path) -> None:
    assert said in shell.bad(*shlex.split(words))


def test_help_and_version_are_no_mistakes(shell: Shell) -> None:
    assert "Usage: adaline" in shell.good().out
    assert shell.good("--version").out == f"adaline {adaline.__version__}\n"
    for name in ("fit", "predict", "compare", "summary", "update", "merge", "export", "systems", "selftest"):
        assert f"  {name} " in shell.good("-h").out
        assert f"Usage: adaline {name}" in shell.good(name, "--help").out


@pytest.mark.parametrize(
    ("name", "option"),
    [("compare", "--absorb"), ("select", "--absorb"), ("separable", "--absorb"), ("separable", "--offset")],
)
def test_options_that_a_command_refuses_are_not_in_its_help(shell: Shell, name: str, option: str) -> None:
    assert option in shell.good("fit", "--help").out
    assert option not in shell.good(name, "--help").out
    given = ("-s", "Ridge", "-p", "penalty=1,2") if name == "select" else ()
    assert "No such option" not in shell.bad(name, "penguins", "-t", "island", option, "species", *given)


@pytest.mark.parametrize(
    ("missing", "words", "said"),
    [
        ("typer", ["fit", "penguins"], "the command line needs more packages: pip install 'adaline-learn[app]'"),
        ("starlette", ["serve", "."], "this command needs more packages: pip install 'adaline-learn[serve]'"),
    ],
)
def test_without_a_package_the_extra_is_named(missing: str, words: list[str], said: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; from adaline.cli import main; sys.exit(main({words}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 2
    assert done.stderr.rstrip().endswith(said)
    assert len(done.stderr.splitlines()) == 1


def test_help_imports_nothing_that_is_slow() -> None:
    code = (
        "import sys; from adaline.cli import main; main(['fit', '--help']); "
        "print([m for m in ('numpy', 'sklearn', 'duckdb', 'pyarrow', 'scipy', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=ENVIRONMENT)
    assert done.stdout.splitlines()[-1] == "[]"


def test_completion_knows_systems_and_data_sets() -> None:
    for words, found in (("adaline fit --system Gau", "GaussianClassifier"), ("adaline fit pen", "penguins")):
        asked = {"_ADALINE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        done = subprocess.run(
            [sys.executable, "-m", "adaline"], capture_output=True, text=True, check=False, env={**ENVIRONMENT, **asked}
        )
        assert done.stdout.split() == [found]


def test_missing_targets_are_not_to_be_filled(shell: Shell) -> None:
    written(["x,y", "1,2", "2,", "3,4", "4,2"], "t.csv")
    shell.fit(["x,y", "1,2", "2,5", "3,4", "4,2"])
    for more in ([], ["-t", "y"]):
        done = shell.good("update", "m.adaline", "t.csv", "-o", "n.adaline", "--json", *more)
        assert done.json["rows_after"] == 7
        assert "note: 1 of 4 rows is left out: missing values" in done.err
    assert "none.csv has no rows without gaps" in shell.bad(
        "update", "m.adaline", written(["x,y", "1,", ",2"], "none.csv")
    )


def test_names_with_commas_are_quoted_as_in_csv(shell: Shell) -> None:
    written(['"a,b",c,y', "1,2,3", "2,,4", "3,5,4", "4,1,2", ",1,2"], "t.csv")
    for words, features in (
        (("-t", "y", "--features", '"a,b", c'), ["a,b", "c"]),
        (("-t", '"a,b"', "--features", "c,y"), ["c", "y"]),
        (("-t", "a,b", "--features", "c,y"), ["c", "y"]),
        (("-t", "y", "--features", "c", "--weight", '"a,b"'), ["c"]),
        (("-t", "y", "--drop", '"a,b"'), ["c"]),
    ):
        assert shell.good("fit", "t.csv", *words, "--missing", "drop", "--json").json["features"] == features
    assert "quote a name that contains a comma, as in CSV" in " ".join(shell.good("fit", "--help").out.split())


def test_columns_are_written_as_they_were_read(shell: Shell) -> None:
    Path("odd.csv").write_text(
        'id,x,name,when,ok,prediction,y\n9007199254740993,1.5,"a, ""b""",2024-01-02 03:04:05,true,7,1\n'
        "9007199254740995,2.5, c,2024-01-03 00:00:00,false,8,2\n3,4,,2024-01-03 00:00:00,true,9,2\n"
    )
    shell.good("fit", "odd.csv", "-t", "y", "--features", "x", "-o", "m.adaline")
    shell.good("predict", "m.adaline", "odd.csv", "-o", "out.csv")
    lines = Path("out.csv").read_text().splitlines()
    assert lines[0] == "id,x,name,when,ok,prediction,y,prediction_2,reason"
    assert lines[1].startswith('9007199254740993,1.5,"a, ""b""",2024-01-02 03:04:05,true,7,1,')
    assert lines[3].startswith("3,4,,2024-01-03 00:00:00,true,9,2,")
    first = shell.good("predict", "m.adaline", "odd.csv", "--json").out.splitlines()[0]
    assert '"id": 9007199254740993' in first


def raises(error: BaseException) -> Callable[..., None]:
    """Return a function that fails with an error."""

    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def test_an_output_stays_as_it_was_when_a_command_fails_half_way(
    shell: Shell, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.good("fit", data, "-t", "y", "--features", "a,b", "-o", "m.adaline")
    before = Path("m.adaline").read_bytes()
    Path("out.csv").write_text("precious")
    monkeypatch.setattr(predict, "BATCH", 32)
    full = OSError(28, "No space left on device")
    answers = iter([predict._answers, raises(full)])
    with monkeypatch.context() as broken:
        broken.setattr(predict, "_answers", lambda *given: next(answers)(*given))
        assert "No space left on device" in shell.bad("predict", "m.adaline", data, "-o", "out.csv")
    assert Path("out.csv").read_text() == "precious"
    with monkeypatch.context() as broken:
        broken.setattr("adaline.storage.model_file.write", raises(full))
        assert "No space left" in shell.bad("update", "m.adaline", data)
    shell.bad("update", "m.adaline", written(["a,b,y", "1,2,three"], "bad.csv"))
    assert Path("m.adaline").read_bytes() == before
    assert sorted(os.listdir()) == ["bad.csv", "data.csv", "m.adaline", "out.csv"]


def test_a_report_that_nobody_named_replaces_only_a_report(shell: Shell) -> None:
    Path("report.html").write_text("my own pages")
    asked = ("longley", "-t", "Employed", "--systems", "Ridge", "--folds", "2")
    assert "choose another name with -o" in shell.bad("compare", *asked)
    assert Path("report.html").read_text() == "my own pages"


def test_interrupts_faults_and_warnings(shell: Shell, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "run_fit", raises(KeyboardInterrupt()))
    done = shell("fit", data, "-t", "y")
    assert (done.code, done.err) == (130, "adaline: interrupted; nothing was written\n")
    monkeypatch.setattr(update, "run_update", raises(KeyboardInterrupt()))
    assert shell("update", "m", data).err == "adaline: interrupted; the model is as it was\n"
    monkeypatch.setattr(fit, "run_fit", raises(ZeroDivisionError("oh\nno")))
    done = shell("fit", data, "-t", "y")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "--debug" in done.err
    assert "ZeroDivisionError: oh no" in done.err
    assert "Traceback" in shell("fit", data, "-t", "y", "--debug").err
    monkeypatch.setattr(fit, "run_fit", raises(BrokenPipeError()))
    assert shell("fit", data, "-t", "y").err == ""
    monkeypatch.setattr(fit, "run_fit", lambda *_, **__: warnings.warn("look\nhere", AdalineWarning, stacklevel=1))
    assert shell.good("fit", data, "-t", "y").err == "note: look here\n"


def test_a_comparison_without_its_report_is_shown(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adaline.comparison.report.render", raises(KeyboardInterrupt()))
    asked = ("-t", "Employed", "--systems", "Ridge", "--folds", "2", "-o", "none.html")
    done = shell.good("compare", "longley", *asked)
    assert "Ridge" in done.out
    assert "note: interrupted: the report was not written" in done.err
    assert not Path("none.html").exists()


def test_messages_speak_of_options() -> None:
    assert one_line("Use unseen='other' or\n name it in categories=") == "Use --unseen other or name it in --categories"
    assert one_line("x needs fit_intercept=False") == "x needs --set fit_intercept=False"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("fit longley -t Employed", 141),
        ("fit longley -t Employed --json", 141),
        ("compare longley -t Employed --systems Ridge --folds 2", 141),
        ("fit --help", 141),
        ("--version", 141),
        ("fit nowhere.csv -t y", 2),
        ("fot", 2),
    ],
)
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.every
def test_a_closed_pipe_ends_quietly(
    both: bool, words: str, code: int, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.captured.readouterr()
    reading, writing = os.pipe()
    os.close(reading)
    with monkeypatch.context() as here, os.fdopen(os.dup(writing), "w") as out, os.fdopen(writing, "w", 1) as err:
        here.setattr(sys, "stdout", out)
        if both:
            here.setattr(sys, "stderr", err)
        assert main(words.split()) == code
    said = shell.captured.readouterr()
    assert "Traceback" not in said.err
    assert said.out == ""


BOTH_CLOSED = "2>&1 | (exec 0<&-; sleep 1); exit ${PIPESTATUS[0]}"
BY_NIGHT = pytest.mark.night


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (f"fit longley -t Employed {BOTH_CLOSED}", 141, ""),
        pytest.param(f"fit longley -t Employd {BOTH_CLOSED}", 2, "", marks=BY_NIGHT),
        pytest.param(f"systems --data {BOTH_CLOSED}", 141, "", marks=BY_NIGHT),
        pytest.param(f"fit --help {BOTH_CLOSED}", 141, "", marks=BY_NIGHT),
        ("--version >&-", 0, ""),
        ("fot >&-", 2, "adaline: No such command 'fot'."),
        pytest.param("systems --data >&-", 0, "", marks=BY_NIGHT),
        ("systems --data 2>&- | (exec 0<&-; sleep 1); exit ${PIPESTATUS[0]}", 141, ""),
        ("systems --data >/dev/full", 2, "adaline: No space left on device"),
        pytest.param("--help >/dev/full", 2, "adaline: No space left on device", marks=BY_NIGHT),
    ],
)
@pytest.mark.every
def test_output_that_cannot_be_written_has_an_outcome(words: str, code: int, said: str) -> None:
    line = f"{sys.executable} -m adaline {words}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert done.stderr.startswith(said)
    assert len(done.stderr.splitlines()) == bool(said)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.night)]
)
def test_an_interrupt_in_compiled_text_keeps_the_code(tmp_path: Path, number: int, code: int) -> None:
    work = f"import os; os.kill(os.getpid(), {int(number)})\\nfor _ in range(10**6): pass"
    (tmp_path / "duckdb.py").write_text(f'exec("{work}")\n', encoding="utf-8")
    (tmp_path / "rows.csv").write_text("x,y\n1,2\n2,3\n3,5\n", encoding="utf-8")
    environment = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, "-m", "adaline", "fit", tmp_path / "rows.csv", "-t", "y"]
    heard = partial(signal.signal, number, signal.SIG_DFL)  # tests in the background of a shell ignore SIGINT
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, preexec_fn=heard)
    assert done.returncode == code, done.stderr


def test_a_table_in_a_file_is_not_cut(shell: Shell) -> None:
    name = "a_very_long_name_of_a_column_" * 8
    Path("wide.csv").write_text(f"{name},y\n" + "".join(f"{i},{i * i}\n" for i in range(9)))
    shown = shell.good("fit", "wide.csv", "-t", "y").out
    assert name in shown
    assert "\x1b" not in shown
    assert not any(line.endswith(" ") for line in shown.splitlines())


def test_no_command_writes_over_a_table(shell: Shell) -> None:
    before = table(Path("t.csv"), n=30).read_bytes()
    shell.good("fit", "t.csv", "--target", "y", "-o", "m.adaline")
    compare = "compare t.csv --target y --systems LinearRegression"
    for command in (
        "fit t.csv --target y -o t.csv",
        "select t.csv --target y --system Ridge -p penalty=1,2 -o t.csv",
        f"{compare} -o t.csv",
        f"{compare} --save t.csv",
        f"{compare} -o r.html --save r.html",
        "update m.adaline t.csv -o t.csv",
        "predict m.adaline t.csv -o t.csv",
        "predict m.adaline t*.csv -o t.csv",
        "predict m.adaline \"SELECT * FROM 't.csv'\" -o t.csv",
    ):
        shell.bad(*shlex.split(command))
        assert Path("t.csv").read_bytes() == before, command
    shell.good("fit", "t.csv", "--target", "y", "-o", "m.adaline")
