"""One run of the zoo: `adaline compare` on a file, as a user starts it, and what came of it."""

from __future__ import annotations

import importlib
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.zoo.awkward import AwkwardFile, csv, rows
from tests.zoo.records import miscounted
from tests.zoo.tables import PublicTable, choose_targets, is_unnamed, read_columns

OK, REFUSED, FAILED = "ok", "refused", "failed"
TIME_LIMIT = 120.0  # seconds
MEMORY_LIMIT = 3 << 30  # bytes
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
WARM = False
STEPS = 3  # refusals that are followed one after the other
LEAKED = re.compile(r"Traceback|Error: |RuntimeWarning|note: (overflow|underflow|invalid value|divide by zero)")
FAULTS = re.compile(r"(LinAlg|ZeroDivision|Value|Type|Index|Key|Attribute|Assertion|FloatingPoint)Error")
OPTION = re.compile(r"""--([a-z][a-z-]*)(?:[ =]('[^']*'|"[^"]*"|[^\s;:()]+))?""")
NAMED_IN = re.compile(r"""'([^']+)'[^']*?(?:name it|name the column) in --(categories|dates|features)""")
ANOTHER_TARGET = re.compile(r"(?i)(choose|another|different) (another |a different )?(column|target)")
NO_REMEDY = ("debug", "help", "target", "formula")
WORDS = ("to", "if", "or", "by", "and", "if", "leaves")  # which follow an option in a sentence and are not its value


@dataclass(frozen=True)
class Outcome:
    """What came of a run.

    Parameters
    ----------
    table, target : what was compared.
    outcome : "ok"; "refused", with a remedy that works; or "failed".
    text : the recommended system, the remedy that was followed, or why the run failed.
    measure, value : "R²" or "error rate" of the recommended system on held-out rows; None where there is none.
    seconds, processor, memory : of the first attempt: what a user waits, start-up included, the processor time of all
        threads, and the peak in bytes.
    command : which repeats the run.
    """

    table: str
    target: str
    outcome: str
    text: str
    measure: str = ""
    value: float | None = None
    seconds: float = 0.0
    processor: float = 0.0
    memory: int = 0
    command: str = ""


@dataclass(frozen=True)
class Attempt:
    """A process that has ended: its exit code, what it printed, and what it took."""

    code: int
    out: str
    err: str
    seconds: float
    processor: float
    memory: int
    command: str
    report: bool

    @property
    def refusal(self) -> str:
        """The line that says why it was refused."""
        lines = [line for line in self.err.splitlines() if line.startswith("adaline: ")]
        return lines[-1].removeprefix("adaline: ") if lines else self.err.strip()[-300:]

    def fault(self) -> str:
        """Why the run failed, where it neither worked nor was refused; else ""."""
        if (self.processor if WARM else self.seconds) >= TIME_LIMIT:
            return f"no result within {TIME_LIMIT:.0f} s"
        if self.memory > MEMORY_LIMIT:
            return f"{self.memory / 2**30:.1f} GiB of memory"
        if self.code not in (0, 2) or "Traceback" in self.err:
            return f"exit code {self.code}: {self.refusal}"
        if self.code == 2 and not self.err.startswith("adaline: ") and "\nadaline: " not in self.err:
            return f"refused without a message: {self.refusal}"
        if self.code == 0 and (leaked := LEAKED.search(self.err)):
            return f"a warning of a library: {self.err[leaked.start() :].splitlines()[0][:200]}"
        return ""


def run_public(table: PublicTable) -> Iterable[Outcome]:
    """Compare on a table, for two targets."""
    path = table.file()
    frame = read_columns(path)
    targets = choose_targets(table.title, frame)
    columns = [str(name) for name in frame.columns if not is_unnamed(name)]
    for target in dict.fromkeys(targets):
        others = [name for name in reversed([*targets, *columns]) if name != target]
        yield _run(table.title, path, target, columns, others)


def run_awkward(file: AwkwardFile) -> Outcome:
    """Compare on an awkward file, and check what is known of it."""
    with tempfile.TemporaryDirectory(prefix="zoo-") as folder:
        path = file.write(Path(folder))
        columns = [*file.features, *file.left_out, file.target]
        others = [name for name in (*file.features, "y") if name != file.target]
        return _run(f"awkward/{file.name}", path, file.target, columns, others, file)


def _run(
    table: str, path: Path, target: str, columns: Sequence[str], others: Sequence[str], file: AwkwardFile | None = None
) -> Outcome:
    """Compare on a file; a refusal is followed as far as its messages say how."""
    first = attempt = compare(path, target)
    known = Outcome(table, target, FAILED, "", "", None, first.seconds, first.processor, first.memory, first.command)
    options: list[str] = []
    followed: list[str] = []
    refused = {target}
    while not (why := attempt.fault()) and attempt.code == 2:
        if file is not None and (wrong := _wrong_refusal(file, attempt)):
            return replace(known, text=wrong)
        if file is not None and file.final:
            return replace(known, outcome=REFUSED, text=_shortened(attempt.refusal))
        steps = _remedies(attempt.refusal, [name for name in others if name not in refused])
        if len(followed) == STEPS or not steps:
            why = "a refusal without a remedy to follow" if not steps else f"still refused after {', '.join(followed)}"
            return replace(known, text=f"{why}: {attempt.refusal}")
        refused |= {step[1] for step in steps if step[0] == "--target"}
        tried = [(step, compare(path, *_with_step(target, options, step))) for step in steps]
        step, attempt = next((one for one in tried if one[1].code == 0), tried[0])
        target, *options = _with_step(target, options, step)
        followed.append(shlex.join(step))
    if why:
        return replace(known, text=why, command=attempt.command)
    return _judged(replace(known, command=attempt.command), attempt, path, columns, followed, file)


def _judged(
    known: Outcome,
    attempt: Attempt,
    path: Path,
    columns: Sequence[str],
    followed: Sequence[str],
    file: AwkwardFile | None,
) -> Outcome:
    """Return the outcome of a comparison that worked, or failed if what it says is not right."""
    try:
        found = json.loads(attempt.out)
    except ValueError:
        return replace(known, text=f"what it printed is not JSON: {attempt.out[:100]!r}")
    best = next((one for one in found["results"] if one["label"] == found["recommended"]), found["baseline"])
    regression = found["task"] == "regression"
    value = best["second"] if regression else best["error"]
    known = replace(known, measure="R²" if regression else "error rate", value=value)
    faults = [one["failure"] for one in found["results"] if FAULTS.search(one["failure"])]
    lost = _lost_columns(found, columns, attempt.err)
    if not attempt.report:
        return replace(known, text="no report was written")
    if faults:
        return replace(known, text=f"a system failed: {faults[0]}")
    if best["error"] is None:
        return replace(known, text=f"no error is known of {best['label']}")
    if lost:
        return replace(known, text=f"columns neither used nor named: {', '.join(lost[:5])}")
    if wrong := miscounted(path, found):
        return replace(known, text=wrong)
    if file is not None and (wrong := _wrong_result(file, found, value, attempt.err, bool(followed))):
        return replace(known, text=wrong)
    label = best["label"] if found["useful"] else f"nothing beats {found['baseline']['label']}"
    if followed:
        return replace(known, outcome=REFUSED, text=f"{', then '.join(followed)}: {label}")
    return replace(known, outcome=OK, text=label)


def _lost_columns(found: dict[str, Any], columns: Sequence[str], notes: str) -> list[str]:
    """Return the columns of the file that are not used, not the target, and not mentioned."""
    used = {_plain(name) for name in (*found["features"], *found["left_out"], found["target"])}
    if all(re.fullmatch(r"column_\d+", name) for name in used):  # a file without names, whose first row pandas takes
        return []
    notes = _plain(" ".join([notes, *found["notes"], *(one["text"] for one in found["findings"])]))
    doubled = re.compile(r"(.+)\.\d+")  # how pandas calls the second column of a name

    def is_known(name: str) -> bool:
        own = _plain(name)
        twin = doubled.fullmatch(name)
        return own in used or own in notes or (twin is not None and twin[1] in columns)

    return [name for name in columns if not is_known(name)]


def _plain(name: str) -> str:
    return re.sub(r"[\s'\"\\]+", " ", name).strip()


def _wrong_refusal(file: AwkwardFile, attempt: Attempt) -> str:
    if file.outcome == OK:
        return f"refused: {attempt.refusal}"
    if file.says and not re.search(file.says, attempt.refusal, re.IGNORECASE):
        return f"the refusal does not say {file.says!r}: {attempt.refusal}"
    return ""


def _wrong_result(file: AwkwardFile, found: dict[str, Any], value: float | None, err: str, followed: bool) -> str:
    """Return what is not as expected of an awkward file, or ""."""
    if file.outcome == REFUSED and not followed:
        return "not refused"
    if followed:
        return ""
    said = " ".join([err, *found["notes"], *(f"{one['title']}. {one['text']}" for one in found["findings"])])
    unused = [name for name in file.features if name not in found["features"]]
    used = [name for name in file.left_out if name in found["features"]]
    rows = max(found["rows"], found["total_rows"])
    if unused:
        return f"not used: {', '.join(unused)}"
    if used:
        return f"used: {', '.join(used)}"
    if file.rows is not None and rows != file.rows:
        return f"{rows} rows instead of {file.rows}"
    if file.error is not None and not (value is not None and value <= file.error):
        return f"error rate {value}, above {file.error}"
    if file.error is None and file.r2 is not None and not (value is not None and value >= file.r2):
        return f"R² {value}, below {file.r2}"
    if file.says and not re.search(file.says, said, re.IGNORECASE):
        return f"neither note nor finding says {file.says!r}"
    return ""


def compare(path: Path, target: str, *options: str) -> Attempt:
    """Run `adaline compare` in a process of its own, with limits of time and memory."""
    with tempfile.TemporaryDirectory(prefix="zoo-") as folder:
        report = Path(folder) / "report.html"
        words = ["compare", str(path), "--target", target, *options]
        arguments = [sys.executable, "-m", "adaline", *words, "--json", "-o", str(report)]
        start = time.perf_counter()
        if WARM:
            process = _forked([*words, "--json", "-o", str(report)], folder)
        else:
            with open(f"{folder}/out", "wb") as out, open(f"{folder}/err", "wb") as err:
                process = subprocess.Popen(
                    arguments, stdout=out, stderr=err, cwd=folder, env=ENVIRONMENT, preexec_fn=_limit_memory
                ).pid
        code, used = _wait(process, start + TIME_LIMIT * (5 if WARM else 1))
        return Attempt(
            code,
            Path(folder, "out").read_text(errors="replace"),
            Path(folder, "err").read_text(errors="replace"),
            time.perf_counter() - start,
            used.ru_utime + used.ru_stime,
            used.ru_maxrss * 1024,
            f"adaline {shlex.join(words)}",
            report.exists() and report.stat().st_size > 1000,
        )


def warm_up() -> None:
    """Import what a comparison imports, so that a run is a fork of this process, without its start-up."""
    global WARM
    WARM = True
    importlib.import_module("matplotlib")  # the pictures are then drawn by the run itself
    with tempfile.TemporaryDirectory(prefix="zoo-") as folder:
        path = Path(folder, "imported.txt")
        for target in ("y", "kind"):
            table = Path(folder, f"{target}.csv")
            table.write_text(csv(rows()))
            _wait(_forked(["compare", str(table), "-t", target], folder, path), time.perf_counter() + TIME_LIMIT)
            for name in path.read_text().split():
                with suppress(Exception):
                    importlib.import_module(name)


def _forked(words: list[str], folder: str, imported: Path | None = None) -> int:
    """Start the command in a copy of this process, and return its id; what it has `imported` goes into a file."""
    process = os.fork()
    if process:
        return process
    try:
        os.chdir(folder)
        for name, stream in (("out", 1), ("err", 2)):
            os.dup2(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT), stream)
        _limit_memory()
        from adaline.cli import main

        sys.argv = ["adaline", *words]
        try:
            code = main()
        except SystemExit as ended:
            code = ended.code
        sys.stdout.flush()
        sys.stderr.flush()
        if imported is not None:
            imported.write_text("\n".join(sys.modules))
        os._exit(code if isinstance(code, int) else int(code is not None))
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (2 * MEMORY_LIMIT, 2 * MEMORY_LIMIT))


def _wait(process: int, deadline: float) -> tuple[int, resource.struct_rusage]:
    """Wait for a process and return its exit code and what it used; it is killed at the deadline."""
    while True:
        ended, status, used = os.wait4(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), used
        if time.perf_counter() > deadline:
            os.kill(process, signal.SIGKILL)
            _, status, used = os.wait4(process, 0)
            return os.waitstatus_to_exitcode(status), used
        time.sleep(0.01)


def _remedies(message: str, others: Sequence[str]) -> list[list[str]]:
    """Return the options that a refusal names, each as words of the command line; another target is ["", its name].

    Examples
    --------
    >>> from tests.zoo.run import _remedies
    >>> _remedies("'x' has gaps: leave such rows out by --missing drop, or the column by --drop 'x y'.", [])
    [['--missing', 'drop'], ['--drop', 'x y']]
    >>> _remedies("the target holds dates. Choose another column", ["y"])
    [['--target', 'y']]
    """
    found = [
        [f"--{name}", *([] if not value else shlex.split(value.rstrip(".,") if value[0] not in "'\"" else value))]
        for name, value in OPTION.findall(message)
        if name not in NO_REMEDY and not value.rstrip(".,").isupper()
    ]
    named = NAMED_IN.findall(message)
    found += [[f"--{option}", name] for name, option in named[:1]]
    if listed := re.search(r"has no column .* There are: ([^.]+)", message):
        found.append(["--target", listed[1].split(", ")[-1]])
    if ANOTHER_TARGET.search(message):
        found += [["--target", name] for name in others[:2]]
    return [step for step in found if len(step) == 2 and step[1] not in WORDS]


def _with_step(target: str, options: Sequence[str], step: Sequence[str]) -> list[str]:
    """Return target and options after one more step."""
    return [step[1], *options] if step[0] == "--target" else [target, *options, *step]


def _shortened(text: str, most: int = 100) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
