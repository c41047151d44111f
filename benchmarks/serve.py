"""Models in service beside MLflow's scoring server, FastAPI with scikit-learn, and River behind FastAPI.

`python -m benchmarks.serve NAME FOLDER` runs one of the servers.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import psutil

from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table

OURS, OURS_TWICE, FASTAPI, MLFLOW, RIVER = (
    "adaline",
    "adaline --workers 2",
    "FastAPI + scikit-learn",
    "MLflow",
    "River + FastAPI",
)
TWO = OURS, OURS_TWICE
NAMES = [f"x{k}" for k in range(10)]
JSON, ARROW = "application/json", "application/vnd.apache.arrow.stream"
PORT = 18_765
WRK = shutil.which("wrk")
SCRIPT = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "%s"
local bodies, last = {}, 0
for k = 0, %d do
  local file = io.open("%s/" .. k .. ".body", "rb")
  bodies[k] = file:read("*all")
  file:close()
end
request = function()
  last = (last + 1) %% (#bodies + 1)
  return wrk.format(nil, nil, nil, bodies[last])
end
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format("[%%d, %%.6f, %%.6f, %%.6f, %%d]\\n", summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1e6, latency:percentile(99) / 1e6, e.connect + e.read + e.write + e.status + e.timeout))
end
"""


@dataclass(frozen=True)
class Load:
    """Bodies to send, over and over, by so many clients; each has so many rows."""

    path: str
    kind: str
    bodies: Sequence[bytes]
    rows: int
    clients: int


@dataclass(frozen=True)
class Found:
    """Requests in a second, percentiles of the latency, and processor seconds of the server for a request."""

    rate: float
    median: float
    slowest: float
    processor: float


@dataclass(frozen=True)
class Client:
    """What a client counted: requests, seconds, and the median and the 99th percentile of the latency in seconds."""

    count: int
    seconds: float
    median: float
    slowest: float


@benchmark("serve")
def serve(settings: Settings) -> Section:
    """Predictions and learning over HTTP, on the loopback."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("fastapi", "mlflow-skinny", "river", "uvicorn"))
    text = (
        f"Client and server share the machine: the client is {'wrk' if WRK else 'one of asyncio'}, with connections "
        "that are kept, at most 64 of them. One process a server, unless told otherwise, 10 columns; latencies are the "
        "median and the 99th percentile. Processor time is that of the server, which a busy machine changes less. A "
        "row that adaline has acknowledged is on the disk (SQLite, "
        f"synchronous=FULL) and learned; River's is in memory. {versions}."
    )
    tables = [_predict(settings), _learn(settings)]
    return Section("Models in service", text, tables)


def _predict(settings: Settings) -> Table:
    one, many = _rows(1, 50), _rows(1000, 5)
    cases: list[tuple[str, str, Load]] = []
    for clients, rows, sent in ((8, 1, one), (3, 1000, many)):
        what = "1 row" if rows == 1 else "1,000 rows"
        ours = [_json({"rows": [dict(zip(NAMES, row, strict=True)) for row in part]}) for part in sent]
        frames = [_json({"dataframe_split": {"columns": NAMES, "data": part}}) for part in sent]
        cases += [(f"{what}, JSON", name, Load("/models/ten/predict", JSON, ours, rows, clients)) for name in TWO]
        cases.append((f"{what}, JSON", FASTAPI, Load("/predict", JSON, ours, rows, clients)))
        cases.append((f"{what}, JSON", MLFLOW, Load("/invocations", JSON, frames, rows, clients)))
    arrow = [_arrow(dict(zip(NAMES, np.array(part).T, strict=True))) for part in many]
    cases += [("1,000 rows, Arrow", name, Load("/models/ten/predict", ARROW, arrow, 1000, 3)) for name in TWO]
    return _table("predictions", cases, settings)


def _learn(settings: Settings) -> Table:
    cases: list[tuple[str, str, Load]] = []
    for clients, rows in ((8, 100), (64, 1)):
        sent = _rows(rows, 50 if rows == 1 else 20, targets=True)
        bodies = [_json({"rows": [dict(zip([*NAMES, "y"], row, strict=True)) for row in part]}) for part in sent]
        what = "1 row" if rows == 1 else f"{rows} rows"
        cases.append((what, OURS, Load("/models/ten/learn", JSON, bodies, rows, clients)))
        cases.append((what, RIVER, Load("/learn", JSON, bodies, rows, clients)))
    return _table("learning, a request answered once its rows are learned", cases, settings)


def _table(caption: str, cases: list[tuple[str, str, Load]], settings: Settings) -> Table:
    duration = 0.5 if settings.quick else 4.0
    found: dict[int, list[str]] = {}
    for name in dict.fromkeys(name for _, name, _ in cases):
        with _served(name) as process:
            for k, (what, its_name, load) in enumerate(cases):
                if its_name == name:
                    _sent(process, load, min(duration, 1.0))  # until it is warm
                    one = _sent(process, load, duration)
                    times = [f"{1000 * seconds:.2f} ms" for seconds in (one.median, one.slowest)]
                    rates = [f"{one.rate:,.0f}", f"{one.rate * load.rows:,.0f}"]
                    found[k] = [f"{what}: {name}", *rates, *times, f"{1e6 * one.processor:,.0f} us"]
    columns = ["", "requests/s", "rows/s", "median", "99 %", "processor"]
    return Table(caption, columns, [found[k] for k in range(len(cases))])


def _sent(process: subprocess.Popen[bytes], load: Load, duration: float) -> Found:
    """Send what there is for some seconds, and return how that went."""
    before = _processor_time(process)
    client = _by_wrk(load, duration) if WRK else asyncio.run(_by_asyncio(load, duration))
    used = _processor_time(process) - before
    return Found(client.count / client.seconds, client.median, client.slowest, used / client.count)


def _processor_time(process: subprocess.Popen[bytes]) -> float:
    """Return the seconds that a server has used, all of its processes together."""
    server = psutil.Process(process.pid)
    return sum(sum(one.cpu_times()[:2]) for one in (server, *server.children(recursive=True)))


def _by_wrk(load: Load, duration: float) -> Client:
    """Let wrk send the bodies in turn, by a script that reads them from files and prints what it found as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        for k, body in enumerate(load.bodies):
            Path(folder, f"{k}.body").write_bytes(body)
        script = Path(folder, "script.lua")
        script.write_text(SCRIPT % (load.kind, len(load.bodies) - 1, folder))
        command = [str(WRK), "-t1", f"-c{load.clients}", f"-d{max(duration, 1.0):.0f}s", "--timeout", "10s"]
        command += ["-s", str(script), f"http://127.0.0.1:{PORT}{load.path}"]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    count, seconds, median, slowest, errors = json.loads(told.splitlines()[-1])
    if errors or not count:
        raise RuntimeError(f"{load.path}: {count} requests were answered, and {errors} failed")
    return Client(count, seconds, median, slowest)


async def _by_asyncio(load: Load, duration: float) -> Client:
    """Send the bodies from this process, where there is no wrk."""
    latencies: list[float] = []
    began = time.perf_counter()
    await asyncio.gather(*(_client(load, k, began + duration, latencies) for k in range(load.clients)))
    passed = time.perf_counter() - began
    return Client(len(latencies), passed, *np.quantile(latencies, [0.5, 0.99]).tolist())


async def _client(load: Load, first: int, until: float, latencies: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    while time.perf_counter() < until:
        body = load.bodies[first % len(load.bodies)]
        first += 1
        head = [f"POST {load.path} HTTP/1.1", "host: localhost", f"content-type: {load.kind}"]
        head += [f"content-length: {len(body)}", "", ""]
        began = time.perf_counter()
        writer.write("\r\n".join(head).encode() + body)
        answer = (await reader.readuntil(b"\r\n\r\n")).lower()
        await reader.readexactly(int(answer.split(b"content-length: ")[1].split(b"\r\n")[0]))
        if b" 200 " not in answer[:20]:
            raise RuntimeError(f"{load.path} was answered by {answer[:60]!r}")
        latencies.append(time.perf_counter() - began)
    writer.close()


# The servers: each runs in a process of its own.


@contextmanager
def _served(name: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.serve", name, folder]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            _wait(process)
            yield process
        finally:
            process.terminate()
            process.wait()


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Wait until a server answers at all."""
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        try:
            urlopen(f"http://127.0.0.1:{PORT}/openapi.json").close()
            return
        except URLError:
            time.sleep(0.1)
    raise RuntimeError("the server did not start")


def _data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10_000, len(NAMES)))
    return X, X @ np.arange(len(NAMES)) + rng.standard_normal(len(X))


def _ours(folder: Path, *options: str) -> None:
    import pyarrow as pa

    import adaline
    from adaline.cli import main

    X, y = _data()
    rows = pa.table({**dict(zip(NAMES, X.T, strict=True)), "y": y})
    adaline.save(adaline.LMS().fit(adaline.open_table(rows, target="y")), folder / "ten.adaline")
    main(["serve", str(folder / "ten.adaline"), "--learn", "--port", str(PORT), *options])


def _fastapi(folder: Path) -> None:
    from fastapi import FastAPI
    from sklearn.linear_model import SGDRegressor

    model, app = SGDRegressor().fit(*_data()), FastAPI()

    @app.post("/predict")
    def predict(body: dict[str, list[dict[str, float]]]) -> dict[str, list[float]]:
        rows = [[row[name] for name in NAMES] for row in body["rows"]]
        return {"predictions": model.predict(rows).tolist()}

    _run(app)


def _mlflow(folder: Path) -> None:
    import mlflow.pyfunc
    import mlflow.sklearn
    import pandas as pd
    from mlflow.pyfunc import scoring_server
    from sklearn.linear_model import SGDRegressor

    os.environ["MLFLOW_ALLOW_PICKLE_DESERIALIZATION"] = "true"  # of a file that is written here
    X, y = _data()
    model = SGDRegressor().fit(pd.DataFrame(X, columns=NAMES), y)
    where = str(folder / "model")
    mlflow.sklearn.save_model(model, where, pip_requirements=[], serialization_format="cloudpickle")
    _run(scoring_server.init(mlflow.pyfunc.load_model(where)))


def _river(folder: Path) -> None:
    from fastapi import FastAPI
    from river import linear_model, preprocessing

    model, app = preprocessing.StandardScaler() | linear_model.LinearRegression(), FastAPI()
    seen = 0

    @app.post("/learn")
    async def learn(body: dict[str, list[dict[str, float]]]) -> dict[str, int]:
        nonlocal seen
        for row in body["rows"]:
            target = row.pop("y")
            model.learn_one(row, target)
            seen += 1
        return {"learned": len(body["rows"]), "rows_seen": seen}

    _run(app)


def _run(app: Any) -> None:
    import uvicorn

    uvicorn.run(app, port=PORT, log_level="warning", access_log=False)


def _ours_twice(folder: Path) -> None:
    _ours(folder, "--workers", "2")


SERVERS: dict[str, Callable[[Path], None]] = {
    OURS: _ours,
    OURS_TWICE: _ours_twice,
    FASTAPI: _fastapi,
    MLFLOW: _mlflow,
    RIVER: _river,
}


# What is sent.


def _rows(count: int, parts: int, targets: bool = False) -> list[list[list[float]]]:
    rng = np.random.default_rng(1)
    out = []
    for _ in range(parts):
        X = rng.standard_normal((count, len(NAMES)))
        y = X @ np.arange(len(NAMES)) + rng.standard_normal(count)
        out.append((np.column_stack([X, y]) if targets else X).tolist())
    return out


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _arrow(columns: dict[str, Any]) -> bytes:
    import pyarrow as pa

    table, out = pa.table(columns), pa.BufferOutputStream()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return bytes(out.getvalue())


if __name__ == "__main__":
    SERVERS[sys.argv[1]](Path(sys.argv[2]))
