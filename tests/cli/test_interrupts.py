"""Ctrl-C and SIGTERM end every command, whatever it is doing, with what there is and without anything left behind.

`make test-interrupts` interrupts every command at ten random moments; here it is one, the same in every run.
"""

from __future__ import annotations

import fcntl
import math
import os
import random
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

import pytest

from adaline import LMS, LinearRegression, open_table, save
from adaline.cli.app import app
from adaline.serve import Learner
from tests.cli.command_line import ENVIRONMENT

STATUS = Path("/proc/self/status")
pytestmark = pytest.mark.skipif(not STATUS.exists(), reason="the handlers of another process are read from /proc")

MOMENTS = int(os.environ.get("ADALINE_INTERRUPTS", "0"))
LONGEST = 3.0  # seconds of processor time after which a command is interrupted, at most
PATIENCE = 60  # seconds that a busy machine may take for what takes two, and far fewer than the work
ROWS = "SELECT range AS x, range % 7 AS z, sin(range) AS y, range % 2 = 0 AS c FROM range(1000000000)"
COMMANDS: dict[str, list[str]] = {
    "fit": [ROWS, "-t", "y", "-o", "out.adaline"],
    "predict": ["m.adaline", ROWS, "-o", "out.csv"],
    "compare": [ROWS, "-t", "y", "-o", "out.html", "--save", "out.adaline"],
    "separable": [ROWS, "-t", "c"],
    "select": [ROWS, "-t", "y", "-s", "Ridge", "-p", "penalty=1,2", "-o", "out.adaline"],
    "score": ["m.adaline", ROWS],
    "effects": ["m.adaline", ROWS],
    "summary": ["m.adaline"],
    "table": ["m.adaline", "m.adaline", "-o", "out.tex"],
    "update": ["m.adaline", ROWS],
    "serve": ["m.adaline", "--port", "0"],
    "merge": ["m.adaline", "m.adaline", "-o", "out.adaline"],
    "learn": ["lms.adaline", "-", "-o", "learned.adaline"],
    "journal": ["replay", "lms.journal", "-o", "out.adaline"],
    "export": ["m.adaline", "out.onnx"],
    "card": ["m.adaline", "-o", "out.html"],
    "verify-proof": ["m.proof", "rows.csv"],
    "systems": ["--json"],
    "play": ["--no-browser"],
    "selftest": [],
}
"""The commands, where they take DATA on more rows than any of them gets through."""
ENDS_WELL = {"serve"}  # commands that a signal ends with exit code 0, once they serve
QUICK = {
    "summary",
    "table",
    "merge",
    "journal",
    "export",
    "card",
    "verify-proof",
    "systems",
    "selftest",
}  # they may be done before the signal
NIGHT = pytest.mark.night


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with models, a journal and a folder for temporary files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "temporary").mkdir()
    rows = "SELECT range AS x, range % 7 AS z, sin(range) AS y FROM range(50)"
    model = LinearRegression().fit(open_table(rows, target="y"))
    save(model, "m.adaline")
    model.enclose(open_table(rows, target="y")).save("m.proof")
    lines = [f"{i},{i % 7},{math.sin(i)!r}" for i in range(50)]
    (tmp_path / "rows.csv").write_text("\n".join(["x,z,y", *lines]))
    save(LMS().fit(open_table(rows, target="y")), "lms.adaline")
    with Learner(LMS().fit(open_table(rows, target="y")), "lms.journal"):
        pass
    return tmp_path


@contextmanager
def running(*words: str, code: str = "") -> Iterator[subprocess.Popen[str]]:
    """Give a command that runs in a process, once signals are its own; code is run before it."""
    start = ["-c", f"import sys\n{code}\nfrom adaline.__main__ import run\nsys.exit(run())"]
    environment = {**ENVIRONMENT, "TMPDIR": "temporary", "PYTHONUNBUFFERED": "", "OPENBLAS_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    command = [sys.executable, *(start if code else ["-m", "adaline"]), *words]
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment)
    try:
        status = Path(f"/proc/{process.pid}/status")
        while process.poll() is None and not _catches(status.read_text(), signal.SIGTERM):
            time.sleep(0.005)
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _catches(status: str, number: int) -> bool:
    """Whether the process of this status has a handler for a signal."""
    caught = re.search(r"SigCgt:\s*(\w+)", status)
    return caught is not None and bool(int(caught[1], 16) >> (number - 1) & 1)


def wait_until_used(process: subprocess.Popen[str], seconds: float) -> None:
    """Wait until a process has used so much processor time, or has waited for something four times as long."""
    end = time.monotonic() + 4 * seconds
    while process.poll() is None and time.monotonic() < end:
        *_, user, system = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[:13]
        if (int(user) + int(system)) / os.sysconf("SC_CLK_TCK") >= seconds:
            return
        time.sleep(0.01)


def wait_for_busy(process: subprocess.Popen[str]) -> None:
    """Wait until a process says on stderr that it is busy."""
    assert process.stderr is not None
    while (line := process.stderr.readline()) and "busy" not in line:
        pass
    time.sleep(0.2)


def ended(process: subprocess.Popen[str], number: int) -> tuple[str, str]:
    """Interrupt a process, and return what it printed; check how it ended, and that no temporary file is left."""
    process.send_signal(number)
    assert process.stdout is not None
    assert process.stderr is not None
    process.wait(PATIENCE)
    out, err = process.stdout.read(), process.stderr.read()
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    assert list(Path("temporary").iterdir()) == []
    assert [one for one in os.listdir() if one.endswith(".tmp")] == []
    return out, err


def last_line(process: subprocess.Popen[str], number: int) -> str:
    """Interrupt a process, and return its one line that says why it ended."""
    _, err = ended(process, number)
    assert process.returncode == 128 + number, err
    lines = [line for line in err.splitlines() if line.startswith("adaline: ")]
    assert len(lines) == 1, err
    assert lines[0].startswith("adaline: terminated" if number == signal.SIGTERM else "adaline: interrupted")
    return lines[0]


def stuck(function: str, calls: int = 0) -> str:
    """Return code by which a function is, after so many calls, busy with a call of LAPACK that takes minutes."""
    return f"""
import numpy as np, pydoc
big = np.ones((4000, 4000))
owner, _, name = "{function}".rpartition(".")
owner, done = pydoc.locate(owner), []
whole = getattr(owner, name)
def busy(*given, **more):
    done.append(1)
    if len(done) <= {calls}:
        return whole(*given, **more)
    print("busy", file=sys.stderr, flush=True)
    np.linalg.svd(big)
setattr(owner, name, busy)"""


def test_every_command_is_interrupted_here() -> None:
    assert set(COMMANDS) == {one.name for one in app.registered_commands}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.night
def test_a_command_ends_at_a_random_moment(name: str, folder: Path) -> None:
    draw = random.Random(None if MOMENTS else crc32(name.encode()))
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    for _ in range(MOMENTS or 1):
        number, moment = draw.choice([signal.SIGINT, signal.SIGTERM]), draw.uniform(0, LONGEST)
        with running(name, *COMMANDS[name]) as process:
            wait_until_used(process, moment)
            if name in QUICK and process.poll() is not None:
                assert process.returncode == 0
            else:
                _, err = ended(process, number)
                good = (128 + number, 0) if name in QUICK | ENDS_WELL else (128 + number,)
                assert process.returncode in good, (moment, number, err)
                lines = [line for line in err.splitlines() if line.startswith("adaline: ")]
                assert len(lines) <= 1
                assert lines or process.returncode == 0 or "note: interrupted before" in err, (moment, err)
        for path in folder.glob("out.*"):
            assert name in QUICK or name == "compare", path  # of a comparison, the report of what there is
            path.unlink()
        assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("name", "number"),
    [
        pytest.param("fit", signal.SIGINT, marks=NIGHT),
        pytest.param("predict", signal.SIGTERM, marks=NIGHT),
        pytest.param("compare", signal.SIGINT, marks=NIGHT),
        ("learn", signal.SIGTERM),
    ],
)
def test_a_pipe_that_never_ends(name: str, number: int, folder: Path) -> None:
    words = ["lms.adaline", "-"] if name == "learn" else ["-" if word == ROWS else word for word in COMMANDS[name]]
    with running(name, *words) as process:
        assert process.stdin is not None
        process.stdin.write("x,z,y\n" + 100 * "1,2,3\n")
        process.stdin.flush()
        while process.poll() is None and _unread(process.stdin.fileno()):
            time.sleep(0.01)
        line = last_line(process, number)
    assert name != "learn" or line.endswith("what was learned until then is saved")
    assert list(folder.glob("out.*")) == []


def _unread(pipe: int) -> int:
    """Return the bytes in a pipe that have not been read."""
    return int(struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0])


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=NIGHT), signal.SIGTERM])
def test_a_call_of_lapack_that_takes_minutes(number: int, folder: Path) -> None:
    with running("summary", "m.adaline", code=stuck("adaline.cli.summary.run_summary")) as process:
        wait_for_busy(process)
        assert last_line(process, number).endswith("nothing was written")


@pytest.mark.night
def test_a_second_signal_ends_a_command_at_once(folder: Path) -> None:
    late = f"from adaline import interrupts\ninterrupts.ENDED = 10 * {PATIENCE}"
    with running("summary", "m.adaline", code=stuck("adaline.cli.summary.run_summary") + "\n" + late) as process:
        wait_for_busy(process)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert last_line(process, signal.SIGINT) == "adaline: interrupted; nothing was written"


@pytest.mark.night
def test_a_query_that_takes_minutes_before_its_first_row(folder: Path) -> None:
    sorted_rows = f"SELECT * FROM ({ROWS.replace('1000000000', '20000000')}) ORDER BY hash(x)"
    with running("fit", sorted_rows, "-t", "y", "-o", "out.adaline") as process:
        maps = Path(f"/proc/{process.pid}/maps")
        while process.poll() is None and "_duckdb" not in maps.read_text():
            time.sleep(0.05)
        time.sleep(1)
        last_line(process, signal.SIGTERM)
    assert not Path("out.adaline").exists()


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=NIGHT), signal.SIGTERM])
def test_a_comparison_shows_the_systems_that_are_done(number: int, folder: Path) -> None:
    """In its fourth fit, that of the baseline counted."""
    words = ["compare", "longley", "-t", "Employed", "-o", "out.html"]
    with running(*words, code=stuck("adaline.comparison.result.SystemTrial.run", 3)) as process:
        wait_for_busy(process)
        out, err = ended(process, number)
    assert process.returncode == 128 + number
    assert "note: interrupted before" in err
    assert re.findall(r"^[> ]  (\w+) .* digits$", out, re.MULTILINE) == ["LinearRegression", "Ridge"]
    assert "Use LinearRegression" in out
    assert Path("out.html").exists() == ("report: out.html" in out) != ("no report was written" in err)


@pytest.mark.night
def test_a_comparison_without_its_report_is_shown(folder: Path) -> None:
    words = ["compare", "longley", "-t", "Employed", "--systems", "Ridge", "--folds", "2", "-o", "out.html"]
    with running(*words, code=stuck("adaline.comparison.report.render")) as process:
        wait_for_busy(process)
        out, err = ended(process, signal.SIGINT)
    assert (process.returncode, "Ridge" in out, "no report was written" in err) == (130, True, True)
    assert not Path("out.html").exists()


def test_an_output_half_written_is_removed(folder: Path) -> None:
    Path("out.csv").write_text("kept")
    words = [word.replace("1000000000", "200000") for word in COMMANDS["predict"]]
    with running("predict", *words, code=stuck("adaline.cli.predict._answers", 2)) as process:
        wait_for_busy(process)
        assert any(one.name.endswith(".tmp") for one in folder.iterdir())
        last_line(process, signal.SIGTERM)
    assert Path("out.csv").read_text() == "kept"


def test_a_forked_child_does_not_end_its_parent(folder: Path) -> None:
    code = """
import os, signal, time
from adaline.cli import summary
def fork(*_):
    child = os.fork()
    if not child:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    time.sleep(0.2)
from adaline import interrupts
interrupts.ENDED = 0.1
summary.run_summary = fork"""
    with running("summary", "m.adaline", code=code) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, f"{-signal.SIGTERM}\n", "")
