"""The server of the playground: its pages, sockets, limits, and how it is started."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from concurrent.futures import thread as executors
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adaline
from adaline.errors import AdalineError
from adaline.playground.boards import Recipe
from adaline.playground.messages import LONGEST_MESSAGE
from adaline.playground.server import HEADERS
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
    with client.connect(url.replace("http", "ws") + "ws", origin=origin, max_size=None) as page:
        for one in messages:
            page.send(one if isinstance(one, str | bytes) else json.dumps(one))
        return [json.loads(page.recv(timeout=60)) for _ in messages]


def test_the_page_and_its_files_are_served_from_here_alone(url: str) -> None:
    status, headers, body = read(url)
    assert status == 200
    assert b"<title>adaline playground</title>" in body
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    for path in PAGE.iterdir():
        status, headers, body = read(f"{url}page/{path.name}")
        assert (status, body) == (200, path.read_bytes())
        if path.suffix in (".js", ".html", ".css"):
            assert not re.search(rb"https?://(?!www\.w3\.org/(2000/svg|1998/Math))", body), (
                f"{path.name} names another machine"
            )


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


def test_no_message_silences_the_page(url: str) -> None:
    odd = (
        '{"id": 1e999}',
        '{"id": 1e999, "refused": "x"}',
        '{"id": 1e999, "type": "fit"}',
        '{"id": -1e999, "slot": 1}',
    )
    answers = talk(url, *odd, {"id": 5, "type": "systems"})
    assert [one["type"] for one in answers] == ["error"] * 4 + ["systems"]
    assert [one["id"] for one in answers] == [None] * 4 + [5]


def test_a_message_that_is_too_long_closes_its_socket_and_no_other(url: str) -> None:
    with pytest.raises(Exception, match=r"1009|too big|closed"):
        talk(url, "x" * (LONGEST_MESSAGE + 10))
    assert talk(url, {"id": 1, "type": "systems"})[0]["type"] == "systems"


def test_of_fits_that_wait_the_newest_is_computed(url: str) -> None:
    points = Recipe("gaussians", 40, 1.0, 1).board().points.tolist()
    fit = {
        "type": "fit",
        "task": "classes",
        "points": points,
        "model": {"system": "Pocket", "settings": {"epochs": 25}},
    }
    types = [one["type"] for one in talk(url, *({"id": k, **fit} for k in range(6)))]
    assert types[-1] == "fitted"
    assert types.count("skipped") >= 3


def test_ten_pages_at_once(url: str) -> None:
    found: list[str] = []

    def one_page(k: int) -> None:
        points = Recipe("separable", 30, 0.3, k).board().points.tolist()
        fit = {
            "id": 1,
            "type": "fit",
            "task": "classes",
            "points": points,
            "model": {"system": "Perceptron"},
        }
        found.append(talk(url, fit)[0]["type"])

    threads = [threading.Thread(target=one_page, args=(k,)) for k in range(10)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == ["fitted"] * 10


def test_a_slow_page_skips_frames(url: str) -> None:
    """Of frames that it asks for and does not read, all are answered, most as skipped, and the last is drawn."""
    board = Recipe("blobs", 200, 0.5, 1).board()
    fit = {"id": 0, "type": "fit", "task": "clusters", "points": board.points.tolist()}
    window = {"left": -4, "right": 4, "low": -3, "high": 3, "columns": 160, "rows": 120}
    model = {"system": "GaussianMixture", "settings": {"n_components": 4, "init_params": "random_from_data", "tol": 0}}
    frames = [{"id": k, "type": "frame", "moment": k, "window": window} for k in range(1, 41)]
    first, *answers = talk(url, {**fit, "model": model}, *frames)
    assert first["type"] == "fitted"
    types = [one["type"] for one in answers]
    assert set(types) <= {"frame", "skipped"}
    assert types.count("skipped") >= 20
    assert (answers[-1]["type"], answers[-1]["id"]) == ("frame", 40)


def test_of_charts_that_wait_the_newest_is_computed(url: str) -> None:
    board = Recipe("stretched", 120, 0.4, 4).board()
    chart = {"type": "instrument", "name": "projection", "task": "classes", "points": board.points.tolist()}
    turned = [{"id": k, **chart, "settings": {"angle": k}} for k in range(12)]
    types = [one["type"] for one in talk(url, *turned)]
    assert types[-1] == "instrument"
    assert "skipped" in types


def test_a_page_that_asks_much_and_reads_nothing_keeps_nobody_waiting(url: str) -> None:
    large = {"type": "generate", "recipe": {"kind": "gaussians", "count": 20_000, "noise": 0.5, "seed": 1}}
    with client.connect(url.replace("http", "ws") + "ws", max_size=None) as page:
        for k in range(20):
            page.send(json.dumps({"id": k, **large}))
        assert talk(url, {"id": 1, "type": "systems"})[0]["type"] == "systems"


def test_a_page_that_breaks_off_harms_nothing(url: str) -> None:
    """Its connection ends without a word, in the middle of a message."""
    host, port = url.removeprefix("http://").strip("/").split(":")
    with socket.create_connection((host, int(port))) as raw:
        raw.sendall(
            f"GET /ws HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        assert raw.recv(4096).startswith(b"HTTP/1.1 101")
        raw.sendall(b"\x81\xfe\x00\x40abcd{")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")  # a reset, and no farewell
    assert talk(url, {"id": 1, "type": "systems"})[0]["type"] == "systems"


def test_what_a_page_is_sent_is_shown_as_text(tmp_path: Path) -> None:
    """No module of the page makes markup or code of a text, scripts of others do not run, and names stay names."""
    for path in PAGE.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc", text
        )
    policy = dict(one.split(" ", 1) for one in HEADERS["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert "script-src" not in policy
    pytest.importorskip("duckdb")
    name = "<img src=x onerror=alert(1)>"
    table = tmp_path / "table.csv"
    table.write_text(f"{name},b,kind\n1,2,<b>\n2,1,<i>\n3,5,<b>\n4,3,<i>\n", encoding="utf-8")
    playground = adaline.play(str(table), "kind")
    _, headers, body = read(f"{playground.url}board.json")
    playground.close()
    assert headers["Content-Type"] == "application/json"
    assert headers["X-Content-Type-Options"] == "nosniff"
    board = json.loads(body)
    assert board["classes"] == ["<b>", "<i>"]
    assert name in [axis["name"] for axis in board["axes"]]


def test_a_page_that_goes_away_while_it_is_answered_harms_nothing(url: str) -> None:
    points = Recipe("gaussians", 60, 1.0, 1).board().points.tolist()
    fit = {
        "id": 1,
        "type": "fit",
        "task": "classes",
        "points": points,
        "model": {"system": "Pocket", "settings": {"epochs": 40}},
    }
    with client.connect(url.replace("http", "ws") + "ws") as page:
        page.send(json.dumps(fit))
    assert talk(url, {"id": 1, "type": "systems"})[0]["type"] == "systems"


def test_the_end_of_a_program_waits_for_the_threads_that_compute(url: str) -> None:
    """A thread that ends with the interpreter inside a kernel aborts the program: these are joined before that."""
    talk(url, {"id": 1, "type": "systems"})
    computing = [one for one in threading.enumerate() if one.name.startswith("adaline-play_")]
    assert computing
    assert set(computing) <= set(executors._threads_queues)  # which concurrent.futures joins at the end


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


def test_a_scene_that_there_is_not_is_said() -> None:
    with pytest.raises(AdalineError, match="there is no scene 'nothing': regression, ridge"):
        adaline.play(scene="nothing")


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


@pytest.mark.parametrize(("first", "task"), [(0, "classes"), (1, "classes"), (3, "numbers")])
def test_codes_of_classes_are_classes(first: int, task: str) -> None:
    pytest.importorskip("duckdb")
    a = np.arange(12.0)
    board = board_of_table({"a": a, "b": a * a % 7, "t": first + a.astype(int) % 3}, "t")
    assert board["task"] == task
    assert board["classes"] == (None if task == "numbers" else [str(first + k) for k in range(3)])
