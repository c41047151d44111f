"""A service under load for a while, whose memory stays flat: `python -m tests.serve.load --seconds 3600`.

Predictions and learning in every format, single rows and many, with keys and without, faulty ones too; what the service
tells of itself; now and then a new version and a rollback. The memory of the server is looked at all the time: that of
the last quarter may not exceed that of the second by more than a few per cent.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from adaline import LMS, storage
from adaline.serve.requests import ARROW, CSV, JSON
from tests.serve.examples import TABLE, WRITE, fitted

SAMPLES = 200
GROWTH, SPARE = 0.03, 4.0  # share and MiB by which the memory may differ


def resident(process: int) -> float:
    """Return the memory of a process, in MiB."""
    line = next(one for one in Path(f"/proc/{process}/status").read_text().splitlines() if one.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def requests(draw: random.Random, file: bytes) -> tuple[str, str, bytes, str]:
    """Return a request: method, path, body and kind."""
    act, kind = draw.choice(["predict", "learn"]), draw.choice([JSON, JSON, CSV, ARROW])
    columns = ["a", "b", "kind", *(["y"] if act == "learn" else [])]
    rows = TABLE.select(columns).slice(draw.randrange(100), draw.choice([1, 1, 1, 100]))
    query = f"?key={draw.randrange(10**12)}" if act == "learn" and kind != JSON and draw.random() < 0.5 else ""
    other = draw.random()
    if other < 0.02:
        return "GET", draw.choice(["", "/file", "/history", "/snapshots"]), b"", JSON
    if other < 0.0205:
        return "PUT", "", file, "application/octet-stream"
    if other < 0.05:
        return "POST", f"/{act}", WRITE[kind](rows)[: draw.randrange(40)], kind
    return "POST", f"/{act}{query}", WRITE[kind](rows), kind


def load(url: str, process: int, seconds: float, rate: float, file: bytes) -> tuple[list[float], Counter[int]]:
    """Send requests at a rate; return the memory at the samples, in MiB, and how often each status came."""
    draw, found, memory = random.Random(0), Counter[int](), []
    connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
    began = time.monotonic()
    sent = 0
    while (now := time.monotonic() - began) < seconds:
        if now >= len(memory) * seconds / SAMPLES:
            memory.append(resident(process))
        if now < sent / rate:
            time.sleep(sent / rate - now)
        method, path, body, kind = requests(draw, file)
        connection.request(method, f"/models/scan{path}", body or None, {"Content-Type": kind})
        answer = connection.getresponse()
        answer.read()
        found[answer.status] += 1
        sent += 1
    return memory, found


def main() -> int:
    """Serve a model that learns, send requests, and return whether its memory grew, or one was a fault of ours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=200.0, help="requests in a second, at most")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scan.adaline"
        storage.save(fitted(LMS()), file)
        command = [sys.executable, "-m", "adaline", "serve", "scan.adaline", "--learn", "--port", "0"]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                url = process.stdout.readline().split()[-1]
                memory, found = load(url, process.pid, given.seconds, given.rate, file.read_bytes())
            finally:
                process.terminate()
    quarters = [median(memory[k * len(memory) // 4 : (k + 1) * len(memory) // 4]) for k in range(4)]
    shown = ", ".join(f"{value:.1f}" for value in (memory[0], *quarters, memory[-1]))
    print(f"{sum(found.values()):,} requests, {dict(found)}; MiB at the start, in the quarters, at the end: {shown}")
    grew = quarters[3] > quarters[1] * (1 + GROWTH) + SPARE
    return int(grew or any(status >= 500 for status in found))


if __name__ == "__main__":
    sys.exit(main())
