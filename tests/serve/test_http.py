"""The service over HTTP: predictions in kind, learning, versions, roles, limits, and what bad requests get."""

from __future__ import annotations

import asyncio
import io
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

from adaline import (
    LMS,
    GeneralizedLinear,
    LinearRegression,
    LogisticRegression,
    OneVsRest,
    OnlineLogistic,
    Perceptron,
    Ridge,
    open_table,
    storage,
)
from adaline.basis import Polynomial
from adaline.errors import InvalidParameter, JournalError, JournalFull, UnreadableTable
from adaline.estimator import clone
from adaline.serve import Limits, Tokens, app
from adaline.serve.application import HEAVY, HEAVY_ARROW, MANY_JSON_ROWS, MANY_PRODUCTS, is_long, is_slow
from adaline.serve.metrics import DRIFT_ROWS, Drift, RequestMetrics, metric_line
from adaline.serve.requests import ARROW, CSV, JSON, PredictRequest
from adaline.serve.security import read_tokens
from adaline.storage import container
from tests.cases import Case, cases
from tests.cases import fitted as fitted_case
from tests.serve.asgi import Client, Response
from tests.serve.examples import GOOD, NUMBERS, ROWS, TABLE, WRITE, as_arrow, as_csv, fitted, learn_rows, raises
from tests.serve.mutations import attack

FILE = "application/octet-stream"
TOKEN = "correct-horse-battery"
READ: dict[str, Callable[[bytes], Any]] = {
    JSON: lambda body: pa.table({"prediction": json.loads(body)["predictions"]}),
    CSV: lambda body: csv.read_csv(io.BytesIO(body)),
    ARROW: lambda body: pa.ipc.open_stream(body).read_all(),
}


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    x, y = np.c_[TABLE["a"], TABLE["b"]], np.asarray(TABLE["y"])
    return {
        "line": fitted(LinearRegression()),
        "scan": fitted(LMS()),
        "sign": fitted(LogisticRegression(penalty=1.0), "sign"),
        "filled": fitted(Ridge(penalty=1.0), missing="mean", unseen="other"),
        "bare": LinearRegression().fit(x, y),
        "both": LinearRegression().fit(x, np.c_[y, x[:, 0]]),
        "counts": fitted(GeneralizedLinear(loss="squared")),
    }


@pytest.fixture(scope="module")
def client(models: dict[str, Any]) -> Iterator[Client]:
    with Client(app(models, limits=Limits(body=100_000, rows=1000, columns=20))) as out:
        yield out


Serve = Callable[..., Client]


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serve]:
    """Serve models of this test, each saved as a file, and end that with it."""
    made: list[Client] = []

    def serve(*systems: Any, token: str | None = None, **options: Any) -> Client:
        paths = [tmp_path / f"m{k}.adaline" for k in range(len(systems))]
        for system, path in zip(systems, paths, strict=True):
            if not path.exists():
                storage.save(system, path)
        made.append(Client(app(paths, **options), token))
        return made[-1]

    yield serve
    for one in made:
        one.close()


@pytest.fixture
def learning(serving: Serve) -> Client:
    """A service of a model that learns."""
    return serving(fitted(LMS()), learn=True, limits=Limits(body=20_000, columns=20))


def saved(model: Any, path: Path) -> bytes:
    storage.save(model, path)
    return path.read_bytes()


def loaded(client: Client, path: Path) -> Any:
    """Return the model that a service has."""
    path.write_bytes(client.get("/models/m0/file").body)
    return storage.load(path)


# -- predictions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["line", "scan", "sign", "filled", "counts"])
@pytest.mark.parametrize("count", [1, 3, ROWS])
def test_rows_of_every_kind_are_predicted_as_by_the_model(
    client: Client, models: dict[str, Any], name: str, count: int
) -> None:
    rows = NUMBERS.slice(0, count)
    expected = models[name].predict(rows).tolist()
    for kind, write in WRITE.items():
        found = client.post(f"{name}/predict", write(rows), kind)
        assert (found.headers["content-type"], READ[kind](found.body)["prediction"].to_pylist()) == (kind, expected)
    lists = {"rows": [list(row.values()) for row in rows.to_pylist()]}
    assert client.post(f"{name}/predict", lists).json == {"predictions": expected}


def test_models_of_bare_arrays_have_numbered_columns(client: Client, models: dict[str, Any]) -> None:
    for name in ("bare", "both"):
        for rows in ([{"x0": 1, "x1": 2.0}], [[1, 2.0]]):
            expected = models[name].predict([[1.0, 2.0]]).tolist()
            assert client.post(f"{name}/predict", {"rows": rows}).json == {"predictions": expected}
    assert client.post("both/predict", b"x0,x1\n1,2\n", CSV).body.startswith(b"prediction_0,prediction_1\n")


def test_intervals_and_probabilities_come_on_request(client: Client, models: dict[str, Any]) -> None:
    rows = NUMBERS.slice(0, 4)
    given = {"rows": rows.to_pylist()}
    for kind in ("confidence", "prediction"):
        found = client.post("line/predict", {**given, "interval": kind, "level": 0.9}).json
        expected = models["line"].predict(rows, interval=kind, level=0.9)
        assert [found[name] for name in ("predictions", "lower", "upper")] == [part.tolist() for part in expected]
    shares = models["sign"].predict_proba(rows)
    found = client.post("sign/predict", {**given, "probabilities": True}).json
    assert found["probabilities"] == [dict(zip(("minus", "plus"), row, strict=True)) for row in shares.tolist()]
    named = READ[ARROW](client.post("sign/predict?probabilities=true", as_arrow(rows), ARROW).body)
    assert named["probability_plus"].to_pylist() == shares[:, 1].tolist()
    text = client.post("line/predict?interval=confidence&level=0.9", as_csv(rows), CSV).body
    assert text.startswith(b"prediction,lower,upper\n")
    assert client.post("line/predict", {**given, "probabilities": True}).status == 422
    assert client.post("scan/predict", {**given, "interval": "prediction"}).status == 422


def test_missing_values_and_unseen_levels_go_by_the_policy_of_the_model(client: Client, models: dict[str, Any]) -> None:
    odd = {"a": None, "b": 1.0, "kind": "other"}
    table = pa.table({"a": pa.array([None], pa.float64()), "b": [1.0], "kind": ["other"]})
    expected = {"predictions": models["filled"].predict(table).tolist()}
    assert client.post("filled/predict", {"rows": [odd]}).json == expected


@cases(law="model files")
def test_every_system_is_served(case: Case, tmp_path: Path) -> None:
    model, X = fitted_case(case.name), case.rows(5, seed=1).X
    with Client(app({"a": LMS().fit([[1.0], [2.0]], [1.0, 2.0])})) as client:
        answer = client.ask("PUT", "/models/a", saved(model, tmp_path / "m"), FILE)
        assert answer.json == {"name": "a", "system": type(model).__name__}
        assert client.get("/models/a").json["system"] == type(model).__name__
        expected = model.predict(np.asfortranarray(X)).tolist()
        assert client.post("a/predict", {"rows": X.tolist()}).json["predictions"] == expected


def test_what_takes_long_is_no_work_of_the_event_loop(models: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, most in ((JSON, HEAVY), (CSV, HEAVY), (ARROW, HEAVY_ARROW)):
        assert [is_long(kind, bytes(size)) for size in (most, most + 1)] == [False, True]
    bodies = [b'{"rows":[%s]}' % b",".join([b"{}"] * rows) for rows in (MANY_JSON_ROWS, MANY_JSON_ROWS + 1)]
    assert [is_long(JSON, body) for body in bodies] == [False, True]
    for name, width in (("bare", 2), ("sign", 8)):
        rows = [PredictRequest(range(MANY_PRODUCTS // width + more), CSV) for more in (0, 1)]
        assert [is_slow(models[name], one) for one in rows] == [False, True]
    assert is_slow(models["bare"], PredictRequest([[1.0, 2.0]], CSV, interval="confidence"))
    curved = LinearRegression(basis=Polynomial(degree=2)).fit(np.c_[TABLE["a"]], TABLE["y"])
    assert is_slow(curved, PredictRequest([[1.0]], CSV))
    monkeypatch.setattr("adaline.serve.application.is_long", lambda *_: True)
    with Client(app({"scan": models["scan"]}, learn=True)) as client:
        done: list[Any] = []
        apart = client.service.apart
        monkeypatch.setattr(client.service, "apart", lambda work: done.append(work) or apart(work))
        for route, rows in (("predict", NUMBERS), ("learn", TABLE.drop(["sign"]))):
            for kind, write in WRITE.items():
                assert client.post(f"scan/{route}", write(rows), kind, chunks=7).status == 200
        assert len(done) == 3 * 2 + 3


# -- what bad requests get -------------------------------------------------------------------------------------------

ENDLESS = pa.table([pa.Array.from_buffers(pa.null(), 2**30, [None])] * 3, names=["a", "b", "kind"])  # of no bytes
WHOLE = as_arrow(NUMBERS)
LINE = b"a,b,kind\n1,2,low\n"


def rows(*given: Any, **more: Any) -> dict[str, Any]:
    return {"rows": [*given], **more}


REFUSED: list[tuple[str, str, Any, str | None, tuple[Any, ...]]] = [
    *(
        ("POST", "line/predict", body, JSON, expected)
        for body, *expected in (
            (rows(GOOD, {**GOOD, "a": "much"}), 422, 1, "a"),
            (rows({**GOOD, "a": [1.0]}), 422, 0, "a"),
            (rows(GOOD, {"a": 1.0, "kind": "low"}), 422, 1, "b"),
            (rows({**GOOD, "more": 1}), 422, 0, "more"),
            (rows(GOOD, {**GOOD, "a": None}), 422, 1, "a"),
            (rows({**GOOD, "kind": "other"}), 422, 0, "kind"),
            (rows({**GOOD, "kind": 7}), 422, 0, "kind"),
            (rows([1.0]), 422, 0, None),
            (b'{"rows": [{"a": 1e999}]}', 422, 0, None),
            (rows({str(k): 1.0 for k in range(30)}), 422, 0, None),
            (rows(GOOD, [1.0, 2.0]), 422),
            (rows({**GOOD, "a": 10**400}), 422),
            (rows(), 422),
            ({"rows": 3}, 422),
            ([GOOD], 422),
            (rows(GOOD, more=True), 422),
            (rows(GOOD, interval="wide"), 422),
            *((rows(GOOD, interval="confidence", level=level), 422) for level in (0.0, 1.0, 1.5)),
            (b"", 422),
            (b"[" * 50_000, 422),
            (b'{"rows":' + b"[" * 50_000, 422),
            (b'{"rows": [{"a": NaN}]}', 422),
            (b"\xff\xfe", 422),
            (b" " * 100_001, 413),
            (rows(*[[]] * 1001), 413),
        )
    ),
    *(
        ("POST", "bare/predict", body, JSON, (422, None, None, "twice"))
        for body in (
            b'{"rows": [{"x0": 1, "x1": 2, "x0": 3}]}',
            b'{"rows": [{"x0": 1, "x1": 2, "x0" : 3}]}',
            b'{"rows": [], "rows": [{"x0": 1, "x1": 2}]}',
            b'{"rows": [{"x0": 1, "x1": 2}, {"x0": 1, "x\\u0031": 2, "x1": 2}], "level": 0.5}',
            b'{"rows": [[1, 2]], "level": 0.5, "level": 0.95}',
        )
    ),
    *(
        ("POST", "line/predict", body, CSV, expected)
        for body, *expected in (
            (b"a,b,kind\n1,2,low\n1,x,low\n", 422, 1, "b"),
            (b"", 422),
            (b"a,b\n1,2\n", 422),
            (b"a,b,kind\n1,2\n", 422),
            (b'a,b,kind\n"1,2,low', 422),
            (b"a,a,b,kind\n1,1,2,low\n", 422),
            (b"\x00\xff", 422),
        )
    ),
    *(("POST", f"line/predict?{query}", LINE, CSV, (422,)) for query in ("what=1", "level=x", "probabilities=1")),
    *(("POST", f"line/predict?{query}", LINE, CSV, (422,)) for query in ("interval=x", "level=1", "level=0")),
    *(
        ("POST", "line/predict", body, ARROW, expected)
        for body, *expected in (
            *((body, 422) for body in (b"", WHOLE[:100], WHOLE[:-200], b"ARROW1" + WHOLE, WHOLE[8:])),
            (as_arrow(NUMBERS.select(["a"])), 422),
            (as_arrow(NUMBERS, compression="zstd"), 422, None, None, "compressed"),
            (as_arrow(ENDLESS), 413),
            (as_arrow(pa.table({"a": [[1.0]], "b": [1.0], "kind": ["low"]})), 422),
        )
    ),
    *(("GET", path, b"", JSON, (404,)) for path in ("/nothing", "", "unknown")),
    *(("POST", f"{path}/predict", rows(GOOD), JSON, (404,)) for path in ("unknown", "..%2F..%2Fetc")),
    *(("POST", f"line/predict?version={one}", rows(GOOD), JSON, (404,)) for one in ("9", "x", "1" * 5000)),
    ("POST", "line/predict?interval=confidence", rows(GOOD), JSON, (422, None, None, "options of JSON")),
    ("POST", "line/rollback", {"snapshot": 7}, JSON, (404,)),
    ("POST", "line/rollback", {"snapshot": "x"}, JSON, (422,)),
    ("POST", "line/rollback", b'{"snapshot": 1, "snapshot": 2}', JSON, (422,)),
    ("POST", "line/rollback", b"a\n1\n", CSV, (415,)),
    ("POST", "line/promote", {"challenger": "x"}, JSON, (404,)),
    ("POST", "line/learn", rows(GOOD), JSON, (403,)),
    *(("POST", "line/predict", rows(GOOD), kind, (415,)) for kind in (None, "text/plain")),
    ("PUT", "line", b"not a model", FILE, (422,)),
    ("GET", "line/predict", b"", JSON, (405,)),
    ("DELETE", "line", b"", JSON, (405,)),
    ("OPTIONS", "line/predict", b"", JSON, (405,)),
    ("POST", "/", b"", JSON, (405,)),
]
"""Method, path (of the models, unless it begins with a slash), body, kind; status, row, column, part of the detail."""


@pytest.mark.every
@pytest.mark.parametrize(("method", "path", "body", "kind", "expected"), REFUSED, ids=range(len(REFUSED)))
def test_a_bad_request_is_refused_by_row_and_column(
    client: Client, method: str, path: str, body: Any, kind: str | None, expected: tuple[Any, ...]
) -> None:
    status, row, column, said = (*expected, *(None, None, "")[len(expected) - 1 :])
    found = client.ask(method, path if path.startswith("/") else f"/models/{path}", body, kind)
    assert (found.status, found.json["status"]) == (status, status), found.body
    assert found.headers["content-type"] == "application/problem+json"
    assert 0 < len(found.json["detail"]) < 300
    assert said in found.json["detail"]
    if row is not None:
        assert (found.json["row"], found.json.get("column")) == (row, column)
    assert ("allow" in found.headers) == (status == 405)


@pytest.mark.parametrize(
    ("status", "body", "more"),
    [
        (413, b" " * 100_001, {"chunks": 10}),
        *((413, b"{}", {"headers": {"content-length": text}}) for text in ("1" * 5000, "100001", "-1")),
        (415, rows(GOOD), {"headers": {"content-encoding": "gzip"}}),
    ],
)
def test_what_a_head_says_is_refused(client: Client, status: int, body: Any, more: dict[str, Any]) -> None:
    assert client.post("line/predict", body, **more).status == status


@pytest.mark.parametrize("route", ["predict", "learn"])
@pytest.mark.parametrize("kind", WRITE)
def test_columns_that_a_model_does_not_know_are_refused_in_every_format(
    learning: Client, kind: str, route: str
) -> None:
    given = TABLE.select(["a", "b", "kind", "y"]).slice(0, 2)
    assert learning.post(f"m0/{route}", WRITE[kind](given), kind).status == 200  # the target is known to both
    found = learning.post(f"m0/{route}", WRITE[kind](given.append_column("aa", [[1.0, 2.0]])), kind)
    where = 0 if kind == JSON else None
    assert (found.status, found.json.get("row"), found.json["column"]) == (422, where, "aa")
    assert "does not know the column 'aa'" in found.json["detail"]


@pytest.mark.parametrize("route", ["predict", "learn"])
def test_rows_of_json_are_counted_before_they_are_read(
    learning: Client, route: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adaline.serve.requests.decoded_json", lambda *_: pytest.fail("was read"))
    monkeypatch.setattr(learning.service, "limits", Limits(rows=100))
    for row in (b"{}", b"[]", b'{"a": 1, "b": 2}', b"[ 1, 2 ]"):
        assert learning.post(f"m0/{route}", b'{"rows": [%s]}' % b",".join([row] * 101)).status == 413
    monkeypatch.undo()
    monkeypatch.setattr(learning.service, "limits", Limits(rows=2))
    for text in (b"[a],[b],{c}", rb"\"[a],[b],{c}", rb"[a],[b],{c}\\"):
        found = [learning.post(f"m0/{route}", b'{"rows": [%s]}' % b",".join([b'[1, "%s"]' % text] * k)) for k in (2, 3)]
        assert [one.status == 413 for one in found] == [False, True]
        assert "3 rows are more than the 2" in found[1].json["detail"]


@pytest.mark.parametrize("head", [b"x" * 5000, b"\n\n", b"\xef\xbb\xbf\r\n", b'a"b,"\n"'])
def test_columns_of_csv_are_counted_before_they_are_read(
    client: Client, head: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adaline.serve.requests.csv.read_csv", lambda *_, **__: pytest.fail("was read"))
    assert client.post("line/predict", head + b"," * 30 + b"\n1\n", CSV).status == 422


def test_bodies_are_counted_as_they_come(client: Client) -> None:
    service = client.service
    for free, status in ((5_000, 429), (10_000, 422)):
        service.held = before = 16 * 100_000 - free
        found = client.post("line/predict", b" " * 10_000, chunks=10)
        assert (found.status, found.headers.get("retry-after")) == (status, "1" if status == 429 else None)
        assert service.held == before
    service.held = 0


def test_a_slow_request_ends() -> None:
    service = app(fitted(LinearRegression()), limits=Limits(seconds=0.05))

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        async with service.router.lifespan_context(service):
            await service(scope, lambda: asyncio.sleep(10), send)

    with Client(slow) as client:
        assert client.post("model/predict", rows(GOOD)).status == 408


def test_a_fault_is_logged_and_not_told(client: Client, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    monkeypatch.setattr("adaline.serve.application.answer", raises(RuntimeError("a secret")))
    found = client.post("line/predict", rows(GOOD))
    assert (found.status, b"secret" in found.body) == (500, False)
    assert "a secret" in caplog.text


def test_no_mutated_body_is_a_fault_of_ours() -> None:
    """A body that went wrong on its way is refused, and nothing else happens; make test-service sends thousands."""
    found = attack(1, 300)
    assert found[422] > 100
    assert found[200] > 10


# -- learning --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", [LMS(), LinearRegression()], ids=str)
def test_rows_learned_are_those_of_partial_fit_and_survive_a_restart(
    serving: Serve, tmp_path: Path, system: Any
) -> None:
    start = fitted(system)
    client = serving(start, learn=True, journal=tmp_path / "j")
    for k, (kind, write) in enumerate(WRITE.items()):
        found = client.post("m0/learn", write(pa.Table.from_pylist(learn_rows(10, 10 * k))), kind)
        assert found.json == {"learned": 10, "rows_seen": ROWS + 10 * k + 10}
    now = loaded(client, tmp_path / "now.adaline")
    start.partial_fit(open_table(TABLE.slice(0, 30), target="y", features=["a", "b", "kind"]))
    assert now.coef_.tolist() == start.coef_.tolist()
    about = client.get("/models/m0").json
    assert (about["rows_seen"], about["system"]) == (ROWS + 30, type(system).__name__)
    assert about["progressive_error"]["rows"] == 30
    client.close()
    again = serving(start, learn=True, journal=tmp_path / "j")
    assert loaded(again, tmp_path / "again.adaline").coef_.tolist() == now.coef_.tolist()


def test_a_key_is_learned_once_and_a_bad_batch_not_at_all(learning: Client, tmp_path: Path) -> None:
    for repeated in (False, True, True):
        found = learning.post("m0/learn", rows(*learn_rows(5), key="order 17")).json
        assert (found["rows_seen"], found.get("repeated", False)) == (ROWS + 5, repeated)
    table = as_csv(pa.Table.from_pylist(learn_rows(5)))
    assert learning.post("m0/learn?key=order%2017", table, CSV).json["repeated"] is True
    assert 'adaline_rows_total{route="learn",model="m0"} 5\n' in learning.get("/metrics").body.decode()
    for length, status in ((0, 422), (1, 200), (256, 200), (257, 422)):
        assert learning.post("m0/learn", rows(*learn_rows(1), key="k" * length)).status == status
    assert learning.post("m0/learn?key=1", rows(*learn_rows(1))).status == 422
    bad = learning.post("m0/learn", rows(*learn_rows(5), {**GOOD, "y": "x"}))
    assert (bad.status, bad.json["row"], bad.json["column"]) == (422, 5, "y")
    assert learning.post("m0/learn", rows(GOOD)).json["column"] == "y"
    assert learning.post("m0/learn", b'{"rows": [{"a": 1, "a": 2}]}').status == 422
    assert learning.get("/models/m0").json["rows_seen"] == ROWS + 7
    assert (tmp_path / "m0.journal" / "journal.sqlite").exists()  # beside the model unless told


SCHEMES = {
    "of the scheme": OneVsRest(LMS(), basis=Polynomial(degree=2)),
    "of the machines": OneVsRest(LMS(basis=Polynomial(degree=2))),
    "of probabilities": OneVsRest(OnlineLogistic(basis=Polynomial(degree=2))),
}


@pytest.mark.parametrize("name", SCHEMES)
def test_a_basis_within_a_scheme_is_in_service_what_it_is_apart(serving: Serve, name: str) -> None:
    x = np.random.default_rng(1).normal(size=(60, 2))
    label = np.array(["low", "mid", "top"])[np.digitize((x**2).sum(axis=1), [0.7, 2.0])]
    model = clone(SCHEMES[name]).fit(x[:40], label[:40])
    assert is_slow(model, PredictRequest(x[:1].tolist(), JSON))
    client = serving(model, learn=True)
    asked = [{"x0": a, "x1": b} for a, b in x.tolist()]
    assert client.post("m0/predict", rows(*asked)).json["predictions"] == model.predict(x).tolist()
    named = [{**row, "y": one} for row, one in zip(asked[40:], label[40:].tolist(), strict=True)]
    huge = client.post("m0/learn", rows(*named, {"x0": 1e90, "x1": 1.0, "y": "low"}))
    assert (huge.status, huge.json["row"]) == (422, 20)  # its square is too large
    assert client.post("m0/learn", rows(*named)).json == {"learned": 20, "rows_seen": 60}
    client.get("/models/m0/file")  # after which predictions are by the model as it is then
    model.partial_fit(x[40:], label[40:])
    given = name == "of probabilities"
    found = client.post("m0/predict", rows(*asked, probabilities=given)).json
    assert found["predictions"] == model.predict(x).tolist()
    if given:
        assert [list(one.values()) for one in found["probabilities"]] == model.predict_proba(x).tolist()


def test_no_client_adds_a_column_to_a_model_that_grows_by_keys(serving: Serve) -> None:
    model = OnlineLogistic()
    for k in range(6):
        model.learn_one({"a": k % 3, "b": k % 2}, "xy"[k % 2], **({} if k else {"classes": ["x", "y"]}))
    client = serving(model, learn=True)
    found = client.post("m0/learn", rows({"a": 1.0, "b": 1.0, "key": 1.0, "y": "x"}))
    assert (found.status, found.json["column"]) == (422, "key")
    assert client.post("m0/learn", rows({"a": 1.0, "b": 1.0, "y": "x"})).status == 200
    about = client.get("/models/m0").json
    assert ([one["name"] for one in about["columns"]], about["rows_seen"]) == (["a", "b"], 7)


def test_a_long_queue_and_a_full_disk_refuse_rows_and_predictions_go_on(
    serving: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = serving(fitted(LMS()), learn=True, limits=Limits(waiting=10))
    learner = client.service.models["m0"].learner
    with monkeypatch.context() as patched:
        patched.setattr(learner._queue, "waiting", 9)
        busy = client.post("m0/learn", rows(*learn_rows(5)))
    assert (busy.status, int(busy.headers["retry-after"]) >= 1) == (429, True)
    with monkeypatch.context() as patched:
        for name in ("append", "check_room"):
            patched.setattr(learner._journal, name, raises(JournalFull("there is no room")))
        assert client.post("m0/learn", rows(*learn_rows(5))).status == 507
        assert client.post("m0/predict", rows(GOOD)).status == 200
        assert 'adaline_journal_full{model="m0"} 1' in client.get("/metrics").body.decode()
        for _ in range(3):
            found = client.get("/readyz")
            assert found.status == 503
            learner.latest()  # after the disk was tried again
        told = "there is no room on the disk for more rows: nothing was learned"
        assert found.json == {"status": "failed", "models": {"m0": told}}
        learner.latest()
    client.get("/readyz")
    learner.latest()
    assert client.get("/readyz").json == {"status": "ready", "models": ["m0"]}
    assert client.post("m0/learn", rows(*learn_rows(5))).status == 200


def test_a_disk_that_is_full_for_models_is_507_and_no_path_is_told(
    learning: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (tmp_path / "m0.adaline").read_bytes()
    full = raises(OSError(28, "No space left on device", str(tmp_path)))
    found = []
    for name in ("tempfile.TemporaryDirectory", "adaline.serve.snapshots.SnapshotFolder.prepare"):
        with monkeypatch.context() as patched:
            patched.setattr(name, full)
            found += [learning.ask("PUT", "/models/m0", body, FILE)]
            found += [
                learning.get("/models/m0/file") if "temp" in name else learning.post("m0/rollback", {"snapshot": 1})
            ]
    monkeypatch.setattr(learning.service.models["m0"].learner._queue, "failed", JournalError(f"{tmp_path}: broken"))
    found += [learning.get("/readyz"), learning.post("m0/learn", rows(*learn_rows(1)))]
    assert [one.status for one in found] == [507, 507, 507, 507, 503, 503]
    assert not [one.body for one in found if str(tmp_path).encode() in one.body]


def test_predictions_go_on_while_many_wait_for_the_learner(learning: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    service, go = learning.service, Event()
    monkeypatch.setattr(service.models["m0"].learner, "latest", lambda: go.wait(10))
    try:
        waiting = [learning.loop.create_task(service.after_learning(service.models["m0"].file)) for _ in range(8)]
        assert learning.get("/models/m0").json["rows_seen"] == ROWS
        assert not any(one.done() for one in waiting)
    finally:
        go.set()
    for one in waiting:
        one.cancel()


# -- versions --------------------------------------------------------------------------------------------------------


def test_challengers_learn_the_same_rows_and_can_be_promoted(serving: Serve) -> None:
    client = serving(fitted(LMS()), learn=True, challengers={"line": fitted(LinearRegression())})
    client.post("m0/learn", rows(*learn_rows(50)))
    scores = client.get("/models/m0").json["scores"]
    assert {name: one["rows"] for name, one in scores.items()} == {"champion": 50, "line": 50}
    assert client.post("m0/promote", {"challenger": "line"}).status == 200
    assert client.get("/models/m0").json["system"] == "LinearRegression"
    assert client.post("m0/promote", {"challenger": "champion"}).status == 404


@pytest.mark.parametrize("learn", [False, True])
def test_a_new_version_takes_the_place_of_a_model_and_can_be_taken_back(
    serving: Serve, tmp_path: Path, learn: bool
) -> None:
    first, second = fitted(LinearRegression()), fitted(Ridge(penalty=100.0))
    client = serving(first, learn=learn)

    def predicted(by: Client, model: Any) -> bool:
        found = by.post("m0/predict", rows(GOOD)).json["predictions"]
        return bool(found == model.predict(pa.Table.from_pylist([GOOD])).tolist())

    body = saved(second, tmp_path / "second")
    assert client.ask("PUT", "/models/m0", body, FILE).json == {"name": "m0", "system": "Ridge"}
    assert predicted(client, second)
    assert client.ask("PUT", "/models/m0", body[:-5], FILE).status == 422
    head, tensors = container.read(tmp_path / "second")
    container.write(tmp_path / "forged", {**head, "state": {**head["state"], "n_features_in_": "x"}}, tensors)
    forged = client.ask("PUT", "/models/m0", (tmp_path / "forged").read_bytes(), FILE)
    assert (forged.status, "the body does not describe a fitted" in forged.json["detail"]) == (422, True)
    other = client.ask("PUT", "/models/m0", saved(fitted(Perceptron(), "sign"), tmp_path / "other"), FILE)
    assert other.status == (422 if learn else 200)
    snapshots = client.get("/models/m0/snapshots").json["snapshots"]
    assert client.post("m0/rollback", {"snapshot": snapshots[0]["snapshot"]}).status == 200
    assert predicted(client, first)
    client.close()
    assert predicted(serving(first, learn=learn), first)


def test_a_folder_holds_models_and_their_versions(tmp_path: Path) -> None:
    first, second = fitted(LinearRegression()), fitted(Ridge(penalty=100.0))
    (tmp_path / "mass").mkdir()
    for number, model in ((2, first), (10, second)):
        storage.save(model, tmp_path / "mass" / f"{number}.adaline")
    storage.save(first, tmp_path / "plain.adaline")
    row = pa.Table.from_pylist([GOOD])
    with Client(app(tmp_path)) as client:
        assert client.get("/models").json == {"models": ["plain", "mass"]}
        for path, model in (("mass/predict", second), ("mass/predict?version=2", first), ("plain/predict", first)):
            assert client.post(path, rows(GOOD)).json["predictions"] == model.predict(row).tolist()
    with pytest.raises(InvalidParameter, match="no model"):
        app([])
    with pytest.raises(InvalidParameter, match="name of a model"):
        app({"../x": first})


def test_several_models_of_a_folder_have_journals_and_versions_apart(tmp_path: Path) -> None:
    models, journal = tmp_path / "models", tmp_path / "j"
    models.mkdir()
    storage.save(fitted(LMS()), models / "a.adaline")

    def seen(given: Any, journal: Path, count: int = 0) -> int:
        with Client(app(given, learn=True, journal=journal)) as client:
            for row in learn_rows(count):
                client.post("a/learn", rows(row))
            return int(client.get("/models/a").json["rows_seen"])

    assert seen(models, journal, 3) == ROWS + 3
    storage.save(fitted(LogisticRegression(penalty=1.0), "sign"), models / "b.adaline")  # which cannot learn
    assert seen(models, journal) == ROWS + 3
    with pytest.raises(InvalidParameter, match="several"):
        app(models / "a.adaline", learn=True, journal=journal)
    assert seen([models / "a.adaline"], tmp_path / "one", 1) == ROWS + 1
    with pytest.raises(InvalidParameter, match="one model"):
        app(models, learn=True, journal=tmp_path / "one")
    second = fitted(LinearRegression())
    with Client(app(models, learn=True)) as client:
        assert client.ask("PUT", "/models/b", saved(second, tmp_path / "second"), FILE).status == 200
    with Client(app(models, learn=True)) as client:
        found = client.post("b/predict", rows(GOOD)).json["predictions"]
        assert found == second.predict(pa.Table.from_pylist([GOOD])).tolist()
        origins = [client.service.models[name].origin for name in "ab"]
        assert ["a.journal" in origins[0], "b.versions" in origins[1]] == [True, True]


# -- who may do what -------------------------------------------------------------------------------------------------


def test_tokens_have_roles(serving: Serve, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("# ours\nread  r-0123456789abcdef\nlearn l-0123456789abcdef\nadmin a-0123456789abcdef\n")
    client = serving(fitted(LMS()), learn=True, tokens=read_tokens(file))
    asked = {"predict": rows(GOOD), "learn": rows(*learn_rows(1)), "rollback": {"snapshot": 1}}
    for k, role in enumerate("rla"):
        client.token = f"{role}-0123456789abcdef"
        assert [client.post(f"m0/{path}", body).status for path, body in asked.items()] == [200] * (k + 1) + [403] * (
            2 - k
        )
    assert client.get("/readyz").json == {"status": "ready", "models": ["m0"]}
    for token in ("", "guess", "r-0123456789abcde", "r-0123456789abcdef ä"):
        client.token = token
        unknown = client.get("/models")
        assert (unknown.status, unknown.headers["www-authenticate"]) == (401, 'Bearer error="invalid_token"'), token
        assert "not known" in unknown.json["detail"]
    client.token = None
    missing = client.get("/metrics")
    assert (missing.status, missing.headers["www-authenticate"]) == (401, "Bearer")
    for path in ("/healthz", "/readyz", "/", "/docs", "/openapi.json"):  # which name no model
        found = client.get(path)
        assert (found.status, b"m0" in found.body) == (200, False)
    assert "security" in client.get("/openapi.json").json
    assert repr(read_tokens(file)) == "Tokens()"
    assert Tokens({b"0123456789abcdef": "read"}).allow("Basic 0123456789abcdef", "read") is False


@pytest.mark.parametrize(
    "text",
    ["", "read\n", "write abcdefghijklmnopq\n", "read 0123456789abcde\n", "read a b\n", 2 * f"read {TOKEN}\n"],
)
def test_bad_files_of_tokens_are_refused_without_quoting_them(tmp_path: Path, text: str) -> None:
    (tmp_path / "tokens").write_text(text)
    with pytest.raises(InvalidParameter) as caught:
        read_tokens(tmp_path / "tokens")
    assert not [word for word in text.split() if len(word) > 5 and word in str(caught.value)]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
def test_a_device_is_no_file_of_tokens(tmp_path: Path) -> None:
    (tmp_path / "tokens").symlink_to("/dev/zero")
    with pytest.raises(UnreadableTable, match="more than 1,048,576 bytes"):
        read_tokens(tmp_path / "tokens")


def test_without_tokens_only_this_machine_is_answered() -> None:
    hosts = {"localhost:8000": 200, "127.0.0.1": 200, "[::1]:80": 200, "evil.example": 421, "": 421}
    with Client(app(fitted(LMS()), local=True)) as client:
        assert {host: client.get("/models", headers={"host": host}).status for host in hosts} == hosts
        found = client.get("/models", headers={"origin": "https://evil.example"})
        assert not [name for name in found.headers if name.startswith("access-control")]


# -- what the service says of itself ---------------------------------------------------------------------------------


def metric(found: Response, name: str) -> float:
    (value,) = re.findall(rf"^{re.escape(name)} (\S+)$", found.body.decode(), re.MULTILINE)
    return float(value)


def test_metrics_count_requests_rows_and_drift() -> None:
    model, a = fitted(LinearRegression()), np.asarray(NUMBERS["a"])
    shifted = NUMBERS.set_column(0, "a", pa.array(a + 3.0 * a.std()))
    with Client(app({"line": model})) as client:
        for body in ({"rows": shifted.to_pylist()}, {"rows": 3}):
            client.post("line/predict", body)
        found = client.get("/metrics")
    assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
    for name, value in {
        'requests_total{route="predict",model="line",status="200"}': 1,
        'requests_total{route="predict",model="line",status="422"}': 1,
        'rows_total{route="predict",model="line"}': ROWS,
        'request_seconds_bucket{route="predict",model="line",le="+Inf"}': 2,
        'request_seconds_count{route="predict",model="line"}': 2,
        'input_drift{model="line",column="a"}': pytest.approx(3.0, abs=1e-9),
        'input_drift{model="line",column="b"}': pytest.approx(0.0, abs=1e-9),
        'rows_seen{model="line"}': ROWS,
        'certificate_digits{model="line"}': pytest.approx(model.certificate_.digits),
    }.items():
        assert metric(found, f"adaline_{name}") == value
    for text in found.body.decode().splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) .+|[a-z_]+(\{[^{}]*\})? \S+", text), text


def test_counts_of_several_processes_are_joined() -> None:
    one = RequestMetrics()
    for seconds in (0.0005, 0.0006, 20.0):
        one.observe("predict", "m", 200, seconds)
    one.add_rows("predict", "m", 5)
    found = "\n".join(one.joined([one.plain(), one.plain()]).lines())
    for told in (
        'requests_total{route="predict",model="m",status="200"} 9',
        'rows_total{route="predict",model="m"} 15',
        'seconds_sum{route="predict",model="m"} 60.0033',
        *(f'bucket{{route="predict",model="m",le="{le}"}} {k}' for le, k in (("0.0005", 3), ("0.001", 6), ("+Inf", 9))),
    ):
        assert told in found
    assert metric_line("x", math.nan, a='"\\\n') == 'x{a="\\"\\\\\\n"} NaN'
    assert metric_line("x", -math.inf).endswith(" -Inf")


def test_drift_is_of_late_rows_of_all_processes() -> None:
    def drift() -> Drift:
        return Drift(["a", "b"], np.array([1.0, 2.0]), np.array([2.0, 0.0]))

    one, two = drift(), drift()
    assert one.values() == {}
    for x in ([[3.0, 2.0]], [[5.0, 2.0], [7.0, 2.0]]):
        one.observe(np.array(x))
    one.observe(np.zeros((3, 5)))  # of another version
    assert one.values() == {"a": pytest.approx((5.0 - 1.0) / 2.0)}  # b does not vary
    two.observe(np.full((9, 2), 1.0))
    joined = one.joined([(two.rows, two.recent.tolist()), (0, [9.0, 9.0]), (5, [1.0])])
    assert (joined.rows, joined.recent[0]) == (12, pytest.approx((3 * 5.0 + 9 * 1.0) / 12))
    late = drift()
    late.observe(np.full((int(DRIFT_ROWS), 2), 1.0))
    late.observe(np.full((100, 2), 2.0))
    assert late.recent[0] == pytest.approx(2.0 - math.exp(-100 / DRIFT_ROWS))


def test_a_model_is_described(client: Client, models: dict[str, Any]) -> None:
    about = client.get("/models/line").json
    proof = models["line"].certificate_
    assert (about["system"], about["rows_seen"], about["target"]) == ("LinearRegression", ROWS, ["y"])
    assert about["certificate"]["digits"] == proof.digits
    assert [column["name"] for column in about["columns"]] == ["a", "b", "kind"]
    assert about["columns"][2]["levels"] == ["high", "low", "mid"]
    assert math.isclose(about["columns"][0]["mean"], np.mean(TABLE["a"]))
    assert client.ask("HEAD", "/models/line").status == 200


def test_pages_need_nothing_from_elsewhere(client: Client) -> None:
    for path in ("/", "/docs", "/static/page.js", "/static/docs.js", "/static/page.css"):
        found = client.get(path, kind=None)
        assert found.status == 200
        assert "default-src 'none'" in found.headers["content-security-policy"]
        text = found.body.decode().replace("http://www.w3.org/2000/svg", "")
        assert not re.search("https?:", text)
        for name in re.findall(r'(?:src|href)="(/[^"]+)"', text):
            assert client.get(name, kind=None).status == 200, name


def test_the_description_names_every_path(client: Client) -> None:
    routes = {route.path for route in client.app.routes}
    described = {path for path in routes if not path.startswith(("/static", "/docs", "/openapi"))} - {"/"}
    assert set(client.get("/openapi.json").json["paths"]) == described
    assert client.get("/healthz").json == {"status": "ok"}


def test_the_progressive_error_is_kept_for_the_page(learning: Client) -> None:
    served = learning.service.models["m0"]
    for k in range(3):
        learning.post("m0/learn", rows(*learn_rows(5, 5 * k)))
        served.remember()
        served.remember()
    error = learning.get("/models/m0").json["progressive_error"]
    assert (error["rows"], error["loss"]) == (15, error["mean"])
    told = f'adaline_progressive_loss{{model="m0",version="champion"}} {error["loss"]!r}\n'
    assert told in learning.get("/metrics").body.decode()
    history = learning.get("/models/m0/history").json
    assert history["rows_seen"] == [ROWS + 5, ROWS + 10, ROWS + 15]
    assert all(value > 0 for value in [*history["mean"], *history["recent"]])
