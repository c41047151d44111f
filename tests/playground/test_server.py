"""The server of the playground: its pages, sockets, limits, and how it is started."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import adaline
from adaline.errors import AdalineError
from adaline.playground.boards import Recipe
from adaline.playground.messages import LONGEST_MESSAGE
from adaline.playground.table import board_of_table

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
client = pytest.importorskip("websockets.sync.client")
PAGE = Path(adaline.__file__).parent / "playground" / "page"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    playground = adaline.play()
    yield playground.url
    playground.close()


def read(url: str, **headers: str) -> tuple[int, Any, bytes]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def talk(url: str, *messages: Any, origin: str | None = None) -> list[dict[str, Any]]:
    with client.connect(url.replace("http", "ws") + "ws", origin=origin, max_size=None) as socket:
        for one in messages:
            socket.send(one if isinstance(one, str | bytes) else json.dumps(one))
        return [json.loads(socket.recv(timeout=60)) for _ in messages]


def test_the_page_and_its_files_are_served_from_here_alone(url: str) -> None:
    status, headers, body = read(url)
    assert status == 200
    assert b"<title>adaline playground</title>" in body
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    for path in PAGE.iterdir():
        status, headers, body = read(f"{url}page/{path.name}")
        assert (status, body) == (200, path.read_bytes())
        if path.suffix in (".js", ".html", ".css"):
            assert not re.search(rb"https?://(?!www\.w3\.org/2000/svg)", body), f"{path.name} names another machine"


def test_scenes_are_listed(url: str) -> None:
    found = json.loads(read(f"{url}scenes.json")[2])
    assert all({"id", "lecture", "title", "steps"} <= one.keys() for one in found)


@pytest.mark.parametrize("path", ["page/nothing.js", "page/..%2fserver.py", "nothing", "page/"])
def test_there_is_nothing_else(url: str, path: str) -> None:
    assert read(url + path)[0] == 404


def test_other_hosts_and_pages_of_other_sites_are_refused(url: str) -> None:
    assert read(url, Host="evil.example")[0] == 400
    with pytest.raises(client.InvalidStatus if hasattr(client, "InvalidStatus") else Exception):
        talk(url, {"type": "systems"}, origin="http://evil.example")
    assert talk(url, {"id": 1, "type": "systems"}, origin=url.rstrip("/"))[0]["type"] == "systems"


def test_messages_are_answered_in_order_and_bad_ones_too(url: str) -> None:
    answers = talk(
        url, {"id": 1, "type": "systems"}, "nonsense", b"\xff\x00", {"id": 4, "type": "form", "system": "LMS"}
    )
    assert [one["type"] for one in answers] == ["systems", "error", "error", "form"]
    assert answers[3]["id"] == 4


def test_a_message_that_is_too_long_closes_its_socket_and_no_other(url: str) -> None:
    with pytest.raises(Exception, match=r"1009|too big|closed"):
        talk(url, "x" * (LONGEST_MESSAGE + 10))
    assert talk(url, {"id": 1, "type": "systems"})[0]["type"] == "systems"


def test_of_fits_that_wait_the_newest_is_computed(url: str) -> None:
    points = Recipe("gaussians", 60, 1.0, 1).board().points.tolist()
    fit = {
        "type": "fit",
        "task": "classes",
        "points": points,
        "model": {"system": "Pocket", "settings": {"epochs": 40}},
    }
    types = [one["type"] for one in talk(url, *({"id": k, **fit} for k in range(6)))]
    assert types[-1] == "fitted"
    assert types.count("skipped") >= 3


def test_ten_pages_at_once(url: str) -> None:
    found: list[str] = []

    def one_page(k: int) -> None:
        points = Recipe("separable", 30, 0.3, k).board().points.tolist()
        fit = {"id": 1, "type": "fit", "task": "classes", "points": points, "model": {"system": "Perceptron"}}
        found.append(talk(url, fit)[0]["type"])

    threads = [threading.Thread(target=one_page, args=(k,)) for k in range(10)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == ["fitted"] * 10


def test_a_page_that_goes_away_while_it_is_answered_harms_nothing(url: str) -> None:
    points = Recipe("gaussians", 60, 1.0, 1).board().points.tolist()
    fit = {
        "id": 1,
        "type": "fit",
        "task": "classes",
        "points": points,
        "model": {"system": "Pocket", "settings": {"epochs": 40}},
    }
    with client.connect(url.replace("http", "ws") + "ws") as socket:
        socket.send(json.dumps(fit))
    assert talk(url, {"id": 1, "type": "systems"})[0]["type"] == "systems"


def test_the_command_prints_its_address_and_ends_by_an_interrupt() -> None:
    pytest.importorskip("typer")
    source = str(Path(adaline.__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-m", "adaline", "play", "--port", "0", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        assert read(address)[0] == 200
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode in (0, 130)
    finally:
        process.kill()


def test_a_port_that_is_taken_is_said(url: str) -> None:
    port = int(url.rsplit(":", 1)[1].strip("/"))
    with pytest.raises(AdalineError, match=f"port {port} cannot be listened on"):
        adaline.play(port=port)
    with pytest.raises(AdalineError, match="from 0 to 65535"):
        adaline.play(port=70_000)


def test_a_notebook_shows_a_frame() -> None:
    playground = adaline.play(scene="perceptron")
    assert playground.url.endswith("/#scene=perceptron")
    assert f'src="{playground.url}"' in playground._repr_html_()
    playground.close()


def test_a_table_is_put_on_the_board_by_its_most_telling_directions() -> None:
    pytest.importorskip("duckdb")
    board = board_of_table("penguins", "species")
    assert len(board["labels"]) == len(board["axes"][0]["values"]) == 333
    assert max(map(abs, board["axes"][0]["values"])) < 4
    numbers = board_of_table("longley", "Employed")
    assert numbers["task"] == "numbers"
    assert len(numbers["values"]) == 16
    with pytest.raises(AdalineError, match="target"):
        board_of_table("penguins", None)
