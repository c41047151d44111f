"""Bodies that went wrong on their way, none of which gets a 500: `python -m tests.serve.mutations --count 10000`."""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

from adaline import LMS, OnlineLogistic
from adaline.serve import Limits, app
from adaline.serve.requests import ARROW, CSV, JSON
from tests.serve.asgi import Client
from tests.serve.examples import TABLE, WRITE, fitted

TOKENS = [b"null", b"1e308", b"-1e-320", b"NaN", b"Infinity", b"\xff", b"\x00", b"{", b"]", b'"', b"\\u0000"]
TOKENS += [b"true", b"9" * 400, b"[" * 3000, b'{"rows":', b"2024-13-45", b",", b"\n", b"\r", b"'", b";", b"\\ud800"]
VALUES: list[Any] = [None, True, 0, -1, 10**30, 10**400, 1e308, 5e-324, "", "low", "x" * 5000, "\x00", "\ud800", []]
VALUES += [{}, [[1]], {"a": 1}, "1.5", "nan", 2**63, -(2**63) - 1]
QUERIES = [*[""] * 30, "?key=1", "?interval=confidence", "?level=%00", "?version=1", "?" + "a=1&" * 50]
ANSWERS = {200, 404, 405, 413, 415, 422}


def mutated(body: bytes, rng: random.Random) -> bytes:
    """Return a body with some bytes changed, cut out, doubled or put in."""
    out = bytearray(body)
    for _ in range(rng.choice([1, 1, 1, 2, 5, 20])):
        at = rng.randrange(len(out) + 1)
        how = rng.randrange(5)
        if how == 0 and out:
            out[min(at, len(out) - 1)] = rng.randrange(256)
        elif how == 1:
            del out[at : at + rng.choice([1, 2, 8, 64])]
        elif how == 2:
            out[at:at] = out[at : at + rng.choice([1, 8, 64])]
        elif how == 3:
            out[at:at] = rng.choice(TOKENS)
        else:
            del out[at : None if rng.random() < 0.1 else at + 1]
    return bytes(out)


def odd_json(rows: list[dict[str, Any]], rng: random.Random) -> bytes:
    """Return JSON that can be read, with values and keys that are not as they should be."""
    rows = [dict(row) for row in rows]
    for _ in range(rng.choice([1, 2, 4])):
        row = rng.choice(rows)
        row[rng.choice([*row, "more", ""])] = rng.choice(VALUES)
        if rng.random() < 0.2 and row:
            row.pop(rng.choice(list(row)))
    body: dict[str, Any] = {"rows": rows if rng.random() < 0.8 else [list(row.values()) for row in rows]}
    for name in ("probabilities", "interval", "level", "key", "other"):
        if rng.random() < 0.15:
            body[name] = rng.choice([*VALUES, "confidence", 0.5])
    return json.dumps(body).encode()


def requests(seed: int, count: int) -> Iterator[tuple[str, str, bytes, str]]:
    """Yield methods, paths, bodies and kinds of bodies."""
    rng = random.Random(seed)
    for _ in range(count):
        name, target = rng.choice([("scan", "y"), ("sign", "sign")])
        act = rng.choice(["predict", "learn"])
        columns = ["a", "b", "kind", *([target] if act == "learn" or rng.random() < 0.1 else [])]
        table = TABLE.select(columns).slice(rng.randrange(150), rng.choice([1, 2, 9]))
        kind = rng.choice([JSON, JSON, CSV, ARROW])
        odd = kind == JSON and rng.random() < 0.5
        body = odd_json(table.to_pylist(), rng) if odd else mutated(WRITE[kind](table), rng)
        yield "POST", f"/models/{name}/{act}{rng.choice(QUERIES)}", body, kind


def attack(seed: int, count: int) -> Counter[int]:
    """Send so many bodies, and return how often each status came; one that is none of an answer ends it.

    What is answered at once has the answer of ASGI.
    """
    models = {"scan": fitted(LMS()), "sign": fitted(OnlineLogistic(), "sign")}
    service = app(models, learn=True, limits=Limits(body=200_000))
    client = Client(service)
    found: Counter[int] = Counter()
    for request in requests(seed, count):
        _, path, body, kind = request
        at_once = service.at_once.get(path.encode(), lambda *_: None)([(b"content-type", kind.encode())], body, 0.0)
        answer = client.ask(*request)
        assert answer.status in ANSWERS, (request, answer)
        if at_once is not None:
            assert answer.status == 200, (request, at_once, answer)
            assert at_once.endswith(b"\r\n\r\n" + answer.body), (request, at_once, answer)
        found[answer.status] += 1
    assert client.ask("GET", "/readyz").status == 200
    client.close()
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(dict(attack(given.seed, given.count)))
