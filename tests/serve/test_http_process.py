"""`adaline serve` as a process: a port that is free, an end that drains, workers; server_faults.py kills them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import pytest

from adaline import LMS, storage
from adaline.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="signals and sockets of Unix")]
ROWS = np.random.default_rng(0).normal(size=(40, 3))


class Service:
    """A process, and requests to it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"serving \S+ on (http://127\.0\.0\.1:\d+)\n", line)
        assert found is not None, line
        self.process, self.url = process, found[1]

    def ask(self, path: str, body: Any = None, method: str | None = None) -> Any:
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        with urlopen(request, timeout=30) as answer:
            content = answer.read()
        return content if path.endswith("/file") else json.loads(content)

    def learn(self, first: int, last: int) -> Any:
        rows = [dict(zip(("x0", "x1", "y"), row, strict=True)) for row in ROWS[first:last].tolist()]
        return self.ask("/models/mass/learn", {"rows": rows})


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Service]:
    command = [sys.executable, "-m", "adaline", "serve", "mass.adaline", "--port", "0", *options]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Service(process)
        finally:
            process.kill()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    storage.save(LMS().fit(ROWS[:10, :2], ROWS[:10, 2]), tmp_path / "mass.adaline")
    return tmp_path


def test_a_signal_right_after_the_line_ends_the_service(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began = []

    def run(server: Any, sockets: Any) -> None:
        signal.raise_signal(signal.SIGTERM)  # before uvicorn takes signals
        began.append(server.should_exit)

    monkeypatch.setattr("uvicorn.Server.run", run)
    assert main(["serve", str(folder / "mass.adaline"), "--port", "0"]) == 0
    assert began == [True]


def test_workers_predict_by_what_one_process_learns_and_the_end_drains(folder: Path) -> None:
    with serving(folder, "--learn", "--journal", "rows", "--workers", "2") as service:
        assert service.learn(10, 20) == {"learned": 10, "rows_seen": 20}
        assert service.learn(20, 40)["rows_seen"] == 40
        (folder / "now.adaline").write_bytes(service.ask("/models/mass/file"))
        expected = storage.load(folder / "now.adaline").predict([[1.0, 2.0]]).tolist()
        until = time.monotonic() + 20
        while service.ask("/models/mass/predict", {"rows": [[1.0, 2.0]]})["predictions"] != expected:
            assert time.monotonic() < until, "workers do not see what was learned"
            time.sleep(0.05)
        assert service.ask("/models/mass")["rows_seen"] == 40
        with pytest.raises(HTTPError, match="404"):
            service.ask("/models/other/file")
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(timeout=30) == 0
    assert has_offline_bits(folder)


def has_offline_bits(folder: Path) -> bool:
    offline = storage.load(folder / "mass.adaline").partial_fit(ROWS[10:, :2], ROWS[10:, 2])
    return bool((storage.load(folder / "now.adaline").coef_ == offline.coef_).all())


def test_what_cannot_be_served_is_one_line_and_exit_code_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(folder / "mass.adaline")
    for arguments, message in (
        ([str(folder / "nowhere.adaline")], "no such file"),
        ([model, "--token-file", str(folder / "nowhere")], "cannot be read"),
        ([model, "--port", "1", "--host", "203.0.113.1"], "cannot listen"),
        ([model, "--challenger", model, "--challenger", model], "two challengers"),
    ):
        assert main(["serve", *arguments]) == 2
        assert message in capsys.readouterr().err
