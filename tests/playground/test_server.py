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
SYSTEMS = {"id": 1, "type": "systems"}


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


def connected(url: str, **options: Any) -> Any:
    return client.connect(url.replace("http", "ws") + "ws", max_size=None, **options)


def talk(url: str, *messages: Any, origin: str | None = None) -> list[dict[str, Any]]:
    with connected(url, origin=origin) as page:
        for one in messages:
            page.send(one if isinstance(one, str | bytes) else json.dumps(one))
        return [json.loads(page.recv(timeout=60)) for _ in messages]


def board_message(kind: str, count: int, noise: float = 1.0, seed: int = 1) -> dict[str, Any]:
    board = Recipe(kind, count, noise, seed).board()
    return {"id": 1, "type": "fit", "task": board.task, "points": board.points.tolist()}


def pocket(epochs: int) -> dict[str, Any]:
    return {**board_message("gaussians", 40), "model": {"system": "Pocket", "settings": {"epochs": epochs}}}


def test_the_page_and_its_files_are_served_from_here_alone(url: str) -> None:
    status, headers, body = read(url)
    assert (status, b"<title>adaline playground</title>" in body) == (200, True)
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    for path in PAGE.iterdir():
        assert read(f"{url}page/{path.name}")[::2] == (200, path.read_bytes())
        if path.suffix in (".js", ".html", ".css"):
            strange = re.search(rb"https?://(?!www\.w3\.org/(2000/svg|1998/Math))", path.read_bytes())
            assert not strange, f"{path.name} names another machine"
    scenes = json.loads(read(f"{url}scenes.json")[2])
    assert all({"id", "lecture", "title", "steps"} <= one.keys() for one in scenes)
    for nothing in ("page/nothing.js", "page/..%2fserver.py", "nothing", "page/"):
        assert read(url + nothing)[0] == 404


def test_other_hosts_and_pages_of_other_sites_are_refused(url: str) -> None:
    assert read(url, Host="evil.example")[0] == 400
    with pytest.raises(client.InvalidStatus if hasattr(client, "InvalidStatus") else Exception):
        talk(url, SYSTEMS, origin="http://evil.example")
    assert talk(url, SYSTEMS, origin=url.rstrip("/"))[0]["type"] == "systems"


def test_messages_are_answered_in_order_and_bad_ones_too(url: str) -> None:
    odd = (
        "nonsense",
        b"\xff\x00",
        '{"id": 1e999}',
        '{"id": 1e999, "refused": "x"}',
        '{"id": 1e999, "type": "fit"}',
        '{"id": -1e999, "slot": 1}',
    )
    answers = talk(url, SYSTEMS, *odd, {"id": 4, "type": "form", "system": "LMS"})
    assert [one["type"] for one in answers] == ["systems", *["error"] * 6, "form"]
    assert [one["id"] for one in answers] == [1, *[None] * 6, 4]


def test_of_requests_that_wait_the_newest_is_computed(url: str) -> None:
    """All are answered, most of them as skipped: of fits, of charts, and of frames that a slow page does not read."""
    model = {"system": "GaussianMixture", "settings": {"n_components": 4, "init_params": "random_from_data", "tol": 0}}
    window = {"left": -4, "right": 4, "low": -3, "high": 3, "columns": 160, "rows": 120}
    blobs = {**board_message("blobs", 200, 0.5), "model": model}
    chart = {**board_message("stretched", 120, 0.4, 4), "type": "instrument", "name": "projection"}
    for first, requests, kind, least in (
        ([], [{**pocket(25), "id": k} for k in range(6)], "fitted", 3),
        ([], [{**chart, "id": k, "settings": {"angle": k}} for k in range(12)], "instrument", 1),
        ([blobs], [{"id": k, "type": "frame", "moment": k, "window": window} for k in range(1, 41)], "frame", 20),
    ):
        answers = talk(url, *first, *requests)[len(first) :]
        types = [one["type"] for one in answers]
        assert set(types) == {kind, "skipped"}
        assert types.count("skipped") >= least
        assert (answers[-1]["type"], answers[-1]["id"]) == (kind, requests[-1]["id"])


def test_ten_pages_at_once(url: str) -> None:
    found: list[str] = []
    fit = {**board_message("separable", 30, 0.3), "model": {"system": "Perceptron"}}
    threads = [threading.Thread(target=lambda: found.append(talk(url, fit)[0]["type"])) for _ in range(10)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == ["fitted"] * 10


def test_no_page_harms_another(url: str) -> None:
    """One sends too much, one asks much and reads nothing, one goes while it is answered, one breaks off midway."""
    with pytest.raises(Exception, match=r"1009|too big|closed"):
        talk(url, "x" * (LONGEST_MESSAGE + 10))
    large = {"type": "generate", "recipe": {"kind": "gaussians", "count": 20_000, "noise": 0.5, "seed": 1}}
    with connected(url) as page:
        for k in range(20):
            page.send(json.dumps({"id": k, **large}))
        assert talk(url, SYSTEMS)[0]["type"] == "systems"
    with connected(url) as page:
        page.send(json.dumps(pocket(40)))
    assert talk(url, SYSTEMS)[0]["type"] == "systems"
    host, port = url.removeprefix("http://").strip("/").split(":")
    with socket.create_connection((host, int(port))) as raw:
        raw.sendall(
            f"GET /ws HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        assert raw.recv(4096).startswith(b"HTTP/1.1 101")
        raw.sendall(b"\x81\xfe\x00\x40abcd{")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")  # a reset, and no farewell
    assert talk(url, SYSTEMS)[0]["type"] == "systems"


def test_what_a_page_is_sent_is_shown_as_text(tmp_path: Path) -> None:
    """No module of the page makes markup or code of a text, scripts of others do not run, and names stay names."""
    unsafe = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc"
    for path in PAGE.glob("*.js"):
        assert not re.search(unsafe, path.read_text(encoding="utf-8"))
    policy = dict(one.split(" ", 1) for one in HEADERS["Content-Security-Policy"].split("; "))
    assert (policy["default-src"], "script-src" in policy) == ("'self'", False)
    pytest.importorskip("duckdb")
    name, table = "<img src=x onerror=alert(1)>", tmp_path / "table.csv"
    table.write_text(f"{name},b,kind\n1,2,<b>\n2,1,<i>\n3,5,<b>\n4,3,<i>\n", encoding="utf-8")
    playground = adaline.play(str(table), "kind")
    _, headers, body = read(f"{playground.url}board.json")
    playground.close()
    assert (headers["Content-Type"], headers["X-Content-Type-Options"]) == ("application/json", "nosniff")
    board = json.loads(body)
    assert board["classes"] == ["<b>", "<i>"]
    assert name in [axis["name"] for axis in board["axes"]]


def test_the_end_of_a_program_waits_for_the_threads_that_compute(url: str) -> None:
    """A thread that ends with the interpreter inside a kernel aborts the program: these are joined before that."""
    talk(url, SYSTEMS)
    computing = [one for one in threading.enumerate() if one.name.startswith("adaline-play_")]
    assert computing
    assert set(computing) <= set(executors._threads_queues)  # which concurrent.futures joins at the end


def test_the_command_prints_its_address_and_ends_by_an_interrupt() -> None:
    pytest.importorskip("typer")
    command = [sys.executable, "-m", "adaline", "play", "--port", "0", "--no-browser"]
    source = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(adaline.__file__).parents[1]), *sys.path])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=source) as process:
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


def test_a_playground_that_cannot_be_opened_is_said_and_one_that_can_is_shown_in_a_frame(url: str) -> None:
    port = int(url.rsplit(":", 1)[1].strip("/"))
    for given, told in (
        ({"port": port}, f"port {port} cannot be listened on"),
        *(({"port": wrong}, "from 0 to 65535") for wrong in (-1, 65_536)),
        ({"scene": "nothing"}, "there is no scene 'nothing': regression, ridge"),
    ):
        with pytest.raises(AdalineError, match=told):
            adaline.play(**given)
    playground = adaline.play(scene="perceptron")
    assert playground.url.endswith("/#scene=perceptron")
    assert f'src="{playground.url}"' in playground._repr_html_()
    playground.close()


# -- boards of tables ------------------------------------------------------------------------------------------------


def test_a_table_is_put_on_the_board_by_its_most_telling_directions() -> None:
    pytest.importorskip("duckdb")
    board = board_of_table("penguins", "species")
    assert len(board["labels"]) == len(board["axes"][0]["values"]) == 333
    assert max(map(abs, board["axes"][0]["values"])) == 2.5
    numbers = board_of_table("longley", "Employed")
    assert (numbers["task"], len(numbers["values"])) == ("numbers", 16)
    assert max(map(abs, numbers["axes"][0]["values"])) == 3.4
    assert (max(numbers["values"]), min(numbers["values"])) == (2.5, -2.5)
    with pytest.raises(AdalineError, match="target"):
        board_of_table("penguins", None)


@pytest.mark.parametrize(
    ("first", "count", "task"),
    [(0, 3, "classes"), (1, 3, "classes"), (3, 3, "numbers"), (0, 5, "classes"), (0, 6, "numbers")],
)
def test_codes_of_classes_are_classes(first: int, count: int, task: str) -> None:
    pytest.importorskip("duckdb")
    a = np.arange(12.0)
    board = board_of_table({"a": a, "b": a * a % 7, "t": first + a.astype(int) % count}, "t")
    assert board["task"] == task
    assert board["classes"] == (None if task == "numbers" else [str(first + k) for k in range(count)])


def test_a_large_table_is_thinned_and_says_so() -> None:
    pytest.importorskip("duckdb")
    t = np.repeat(list("abcdefg"), [700, 600, 500, 400, 300, 2, 1])
    rows = np.arange(len(t))
    board = board_of_table({"a": rows % 17.0, "b": rows % 11.0, "c": np.zeros(len(t)), "t": t}, "t")
    assert (board["classes"], len(board["labels"])) == (list("abcde"), 2000)
    assert board["notes"][-2:] == [
        "the board has the 5 largest of 7 classes",
        "the board has 2,000 of 2,500 rows, evenly spaced",
    ]
    assert [axis["name"] for axis in board["axes"][-2:]] == ["a", "b"]  # c does not vary
    t = rows / 1000.0
    t[[0, -1]] = -1e3, 1e3
    values = board_of_table({"a": rows % 17.0, "t": t}, "t")["values"]
    assert (len(values), values[0], values[-1]) == (2000, -2.5, 2.5), "the first and the last row stay"
    assert np.abs(values[1:-1]).max() < 0.1
