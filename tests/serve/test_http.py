"""The service over HTTP: predictions in kind, learning, versions, roles, limits, and what bad requests get."""

from __future__ import annotations

import asyncio
import io
import json
import math
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
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
    Perceptron,
    Ridge,
    open_table,
    storage,
)
from adaline.basis import Polynomial
from adaline.errors import InvalidParameter, JournalFull, UnreadableTable
from adaline.estimator import clone
from adaline.serve import Limits, Tokens, app
from adaline.serve.answers import WRITERS
from adaline.serve.application import is_slow
from adaline.serve.requests import ARROW, CSV, JSON, PredictRequest
from adaline.serve.security import read_tokens
from tests.serve.asgi import Client, Response

ROWS = 200


def table() -> pa.Table:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, ROWS)) * [[1.0], [100.0]]
    kind = np.array(["low", "mid", "high"])[rng.integers(0, 3, ROWS)]
    y = 2.0 * a - 0.01 * b + (kind == "high") + rng.normal(size=ROWS)
    return pa.table({"a": a, "b": b, "kind": kind, "y": y, "sign": np.where(y > 0, "plus", "minus")})


TABLE = table()
NUMBERS = TABLE.select(["a", "b", "kind"])


FITTED: dict[str, Any] = {}


def fitted(system: Any, target: str = "y", **options: Any) -> Any:
    """Return a model of the table, which is fitted once."""
    key = f"{system!r} {target} {options}"
    if key not in FITTED:
        FITTED[key] = system.fit(open_table(TABLE, target=target, features=["a", "b", "kind"], **options))
    return deepcopy(FITTED[key])


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    return {
        "line": fitted(LinearRegression()),
        "scan": fitted(LMS()),
        "sign": fitted(LogisticRegression(penalty=1.0), "sign"),
        "filled": fitted(Ridge(penalty=1.0), missing="mean", unseen="other"),
        "bare": LinearRegression().fit(np.c_[TABLE["a"], TABLE["b"]], np.asarray(TABLE["y"])),
        "both": LinearRegression().fit(np.c_[TABLE["a"], TABLE["b"]], np.c_[TABLE["y"], TABLE["a"]]),
        "counts": fitted(GeneralizedLinear(loss="squared")),
    }


@pytest.fixture(scope="module")
def client(models: dict[str, Any]) -> Iterator[Client]:
    out = Client(app(models, limits=Limits(body=100_000, rows=1000, columns=20)))
    yield out
    out.close()


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Callable[..., Client]]:
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


def as_csv(rows: pa.Table) -> bytes:
    out = io.BytesIO()
    csv.write_csv(rows, out)
    return out.getvalue()


def as_arrow(rows: pa.Table, **options: Any) -> bytes:
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, rows.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(rows)
    return bytes(out.getvalue())


# -- predictions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["line", "scan", "sign", "filled", "counts"])
@pytest.mark.parametrize("count", [1, 3, ROWS])
def test_rows_of_every_kind_are_predicted_as_by_the_model(
    client: Client, models: dict[str, Any], name: str, count: int
) -> None:
    rows = NUMBERS.slice(0, count)
    expected = models[name].predict(rows).tolist()
    by_name = client.ask("POST", f"/models/{name}/predict", {"rows": rows.to_pylist()})
    assert by_name.status == 200
    assert by_name.json == {"predictions": expected}
    by_order = client.ask("POST", f"/models/{name}/predict", {"rows": [list(row.values()) for row in rows.to_pylist()]})
    assert by_order.json == {"predictions": expected}
    text = client.ask("POST", f"/models/{name}/predict", as_csv(rows), CSV)
    assert text.headers["content-type"] == CSV
    assert csv.read_csv(io.BytesIO(text.body))["prediction"].to_pylist() == expected
    stream = client.ask("POST", f"/models/{name}/predict", as_arrow(rows), ARROW)
    assert stream.headers["content-type"] == ARROW
    assert pa.ipc.open_stream(stream.body).read_all()["prediction"].to_pylist() == expected


def test_models_of_bare_arrays_have_numbered_columns(client: Client, models: dict[str, Any]) -> None:
    expected = models["bare"].predict([[1.0, 2.0]]).tolist()
    for rows in ([{"x0": 1, "x1": 2.0}], [[1, 2.0]]):
        assert client.ask("POST", "/models/bare/predict", {"rows": rows}).json == {"predictions": expected}
    pair = client.ask("POST", "/models/both/predict", {"rows": [[1.0, 2.0]]}).json["predictions"]
    assert pair == models["both"].predict([[1.0, 2.0]]).tolist()
    named = client.ask("POST", "/models/both/predict", b"x0,x1\n1,2\n", CSV).body.decode()
    assert named.splitlines()[0] == "prediction_0,prediction_1"


def test_intervals_and_probabilities_come_on_request(client: Client, models: dict[str, Any]) -> None:
    rows = NUMBERS.slice(0, 4)
    for kind in ("confidence", "prediction"):
        found = client.ask("POST", "/models/line/predict", {"rows": rows.to_pylist(), "interval": kind, "level": 0.9})
        expected = models["line"].predict(rows, interval=kind, level=0.9)
        assert [found.json[name] for name in ("predictions", "lower", "upper")] == [part.tolist() for part in expected]
    shares = models["sign"].predict_proba(rows)
    found = client.ask("POST", "/models/sign/predict", {"rows": rows.to_pylist(), "probabilities": True})
    assert found.json["probabilities"] == [dict(zip(("minus", "plus"), row, strict=True)) for row in shares.tolist()]
    path = "/models/sign/predict?probabilities=true"
    named = pa.ipc.open_stream(client.ask("POST", path, as_arrow(rows), ARROW).body).read_all()
    assert named["probability_plus"].to_pylist() == shares[:, 1].tolist()
    text = client.ask("POST", "/models/line/predict?interval=confidence&level=0.9", as_csv(rows), CSV).body.decode()
    assert text.splitlines()[0] == "prediction,lower,upper"
    assert client.ask("POST", "/models/line/predict", {"rows": rows.to_pylist(), "probabilities": True}).status == 422
    assert (
        client.ask("POST", "/models/scan/predict", {"rows": rows.to_pylist(), "interval": "prediction"}).status == 422
    )


def test_missing_values_and_unseen_levels_go_by_the_policy_of_the_model(client: Client, models: dict[str, Any]) -> None:
    odd = {"a": None, "b": 1.0, "kind": "other"}
    table = pa.table({"a": pa.array([None], pa.float64()), "b": [1.0], "kind": ["other"]})
    assert client.ask("POST", "/models/filled/predict", {"rows": [odd]}).json == {
        "predictions": models["filled"].predict(table).tolist()
    }
    refused = client.ask("POST", "/models/line/predict", {"rows": [{"a": 1.0, "b": 1.0, "kind": "low"}, odd]})
    assert (refused.status, refused.json["row"], refused.json["column"]) == (422, 1, "a")
    unseen = client.ask("POST", "/models/line/predict", {"rows": [{**odd, "a": 1.0}]})
    assert (unseen.status, unseen.json["row"], unseen.json["column"]) == (422, 0, "kind")


def test_a_long_request_is_worked_on_by_a_thread(models: dict[str, Any]) -> None:
    client = Client(app(models["line"]))
    rows = pa.concat_tables([NUMBERS] * 100)
    for body, kind in (
        ({"rows": rows.to_pylist()}, "application/json"),
        (as_arrow(pa.concat_tables([rows] * 8)), ARROW),
    ):
        assert client.ask("POST", "/models/model/predict", body, kind, chunks=7).status == 200
    client.close()


SENT: dict[str, Callable[[pa.Table], bytes]] = {
    JSON: lambda rows: json.dumps({"rows": rows.to_pylist()}).encode(),
    CSV: as_csv,
    ARROW: as_arrow,
}


@pytest.mark.parametrize("kind", WRITERS)
def test_columns_that_a_model_does_not_know_are_refused_in_every_format(
    client: Client, serving: Callable[..., Client], kind: str
) -> None:
    rows = TABLE.select(["a", "b", "kind", "y"]).slice(0, 2)
    assert client.ask("POST", "/models/line/predict", SENT[kind](rows), kind).status == 200  # with the target
    learning = serving(fitted(LMS()), learn=True)
    for one, path in ((client, "/models/line/predict"), (learning, "/models/m0/learn")):
        found = one.ask("POST", path, SENT[kind](rows.append_column("aa", [[1.0, 2.0]])), kind)
        assert (found.status, found.json["column"]) == (422, "aa")
        assert "does not know the column 'aa'" in found.json["detail"]


# -- what bad requests get -------------------------------------------------------------------------------------------

GOOD = {"a": 1.0, "b": 2.0, "kind": "low"}


@pytest.mark.parametrize(
    ("body", "row", "column"),
    [
        ({"rows": [GOOD, {**GOOD, "a": "much"}]}, 1, "a"),
        ({"rows": [{**GOOD, "a": [1.0]}]}, 0, "a"),
        ({"rows": [GOOD, {"a": 1.0, "kind": "low"}]}, 1, "b"),
        ({"rows": [{**GOOD, "more": 1}]}, 0, "more"),
        ({"rows": [GOOD, [1.0, 2.0]]}, None, None),
        ({"rows": [[1.0]]}, 0, None),
        ({"rows": [{**GOOD, "a": 10**400}]}, None, None),
        ({"rows": [{**GOOD, "kind": 7}]}, 0, "kind"),
        ({"rows": []}, None, None),
        ({"rows": 3}, None, None),
        ({"rows": [GOOD], "more": True}, None, None),
        ({"rows": [GOOD], "interval": "wide"}, None, None),
        ({"rows": [GOOD], "interval": "confidence", "level": 1.5}, None, None),
        ([GOOD], None, None),
        (b"", None, None),
        (b"[" * 50_000, None, None),
        (b'{"rows":' + b"[" * 50_000, None, None),
        (b'{"rows": [{"a": NaN}]}', None, None),
        (b'{"rows": [{"a": 1e999}]}', 0, None),
        (b"\xff\xfe", None, None),
    ],
    ids=str,
)
def test_bad_json_is_refused_by_row_and_column(client: Client, body: Any, row: int | None, column: str | None) -> None:
    found = client.ask("POST", "/models/line/predict", body)
    assert found.status == 422
    assert found.headers["content-type"] == "application/problem+json"
    assert found.json["detail"]
    if row is not None:
        assert (found.json["row"], found.json.get("column")) == (row, column)


def test_bad_tables_are_refused(client: Client) -> None:
    found = client.ask("POST", "/models/line/predict", b"a,b,kind\n1,2,low\n1,x,low\n", CSV)
    assert (found.status, found.json["row"], found.json["column"]) == (422, 1, "b")
    for body in (
        b"",
        b"a,b\n1,2\n",
        b"a,b,kind\n1,2\n",
        b'a,b,kind\n"1,2,low',
        b"a,a,b,kind\n1,1,2,low\n",
        b"\x00\xff",
    ):
        assert client.ask("POST", "/models/line/predict", body, CSV).status == 422, body
    whole = as_arrow(NUMBERS)
    for body in (b"", whole[:100], whole[:-200], b"ARROW1" + whole, whole[8:], as_arrow(NUMBERS.select(["a"]))):
        assert client.ask("POST", "/models/line/predict", body, ARROW).status == 422
    packed = client.ask("POST", "/models/line/predict", as_arrow(NUMBERS, compression="zstd"), ARROW)
    assert packed.status == 422
    assert "compressed" in packed.json["detail"]
    endless = pa.Array.from_buffers(pa.null(), 2**30, [None])  # which takes no bytes
    body = as_arrow(pa.table([endless] * 3, names=["a", "b", "kind"]))
    assert client.ask("POST", "/models/line/predict", body, ARROW).status == 413
    nested = pa.table({"a": [[1.0]], "b": [1.0], "kind": ["low"]})
    assert client.ask("POST", "/models/line/predict", as_arrow(nested), ARROW).status == 422
    assert client.ask("POST", "/models/line/predict?what=1", b"a,b,kind\n1,2,low\n", CSV).status == 422
    assert client.ask("POST", "/models/line/predict?level=x", b"a,b,kind\n1,2,low\n", CSV).status == 422
    assert client.ask("POST", "/models/line/predict?probabilities=1", b"a,b,kind\n1,2,low\n", CSV).status == 422
    assert client.ask("POST", "/models/line/predict?interval=x", b"a,b,kind\n1,2,low\n", CSV).status == 422


@pytest.mark.parametrize(
    ("status", "method", "path", "more"),
    [
        (404, "GET", "/nothing", {}),
        (404, "GET", "/models/", {}),
        (404, "GET", "/models/unknown", {}),
        (404, "POST", "/models/unknown/predict", {"body": {"rows": [GOOD]}}),
        (404, "POST", "/models/..%2F..%2Fetc/predict", {"body": {"rows": [GOOD]}}),
        (404, "POST", "/models/line/predict?version=9", {"body": {"rows": [GOOD]}}),
        (404, "POST", "/models/line/predict?version=x", {"body": {"rows": [GOOD]}}),
        (404, "POST", "/models/line/rollback", {"body": {"snapshot": 7}}),
        (404, "POST", "/models/line/promote", {"body": {"challenger": "x"}}),
        (422, "POST", "/models/line/rollback", {"body": {"snapshot": "x"}}),
        (405, "GET", "/models/line/predict", {}),
        (405, "DELETE", "/models/line", {}),
        (405, "OPTIONS", "/models/line/predict", {}),
        (405, "POST", "/", {}),
        (413, "POST", "/models/line/predict", {"body": b" " * 100_001}),
        (413, "POST", "/models/line/predict", {"body": b" " * 100_001, "chunks": 10}),
        (413, "POST", "/models/line/predict", {"body": b"{}", "headers": {"content-length": "1" * 30}}),
        (413, "POST", "/models/line/predict", {"body": {"rows": [[]] * 1001}}),
        (415, "POST", "/models/line/predict", {"body": {"rows": [GOOD]}, "kind": None}),
        (415, "POST", "/models/line/predict", {"body": {"rows": [GOOD]}, "kind": "text/plain"}),
        (415, "POST", "/models/line/predict", {"body": {"rows": [GOOD]}, "headers": {"content-encoding": "gzip"}}),
        (415, "POST", "/models/line/rollback", {"body": b"a\n1\n", "kind": CSV}),
        (422, "POST", "/models/line/predict", {"body": {"rows": [{str(k): 1.0 for k in range(30)}]}}),
        (422, "PUT", "/models/line", {"body": b"not a model", "kind": "application/octet-stream"}),
        (403, "POST", "/models/line/learn", {"body": {"rows": [GOOD]}}),
    ],
    ids=str,
)
def test_what_is_wrong_with_a_request_has_a_status(
    client: Client, status: int, method: str, path: str, more: dict[str, Any]
) -> None:
    found = client.ask(method, path, **more)
    assert found.status == status, found.body
    assert found.json["status"] == status
    if status == 405:
        assert "allow" in found.headers


def test_a_slow_request_ends() -> None:
    service = app(fitted(LinearRegression()), limits=Limits(seconds=0.05))

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        async def never() -> Any:
            await asyncio.sleep(10)

        async with service.router.lifespan_context(service):
            await service(scope, never, send)

    client = Client(slow)
    assert client.ask("POST", "/models/model/predict", {"rows": [GOOD]}).status == 408
    client.loop.close()


def test_a_fault_is_logged_and_not_told(client: Client, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr("adaline.serve.application.answer", broken)
    found = client.ask("POST", "/models/line/predict", {"rows": [GOOD]})
    assert found.status == 500
    assert "secret" not in found.body.decode()
    assert "a secret" in caplog.text


# -- learning --------------------------------------------------------------------------------------------------------


def learn_rows(count: int, first: int = 0) -> list[dict[str, Any]]:
    return list(TABLE.select(["a", "b", "kind", "y"]).slice(first, count).to_pylist())


@pytest.mark.parametrize("system", [LMS(), LinearRegression(), Ridge(penalty=1.0)], ids=lambda one: type(one).__name__)
def test_rows_learned_are_those_of_partial_fit_and_survive_a_restart(
    serving: Callable[..., Client], tmp_path: Path, system: Any
) -> None:
    start = fitted(system)
    client = serving(start, learn=True, journal=tmp_path / "j")
    bodies: list[tuple[Any, str]] = [
        ({"rows": learn_rows(10)}, "application/json"),
        (as_csv(pa.Table.from_pylist(learn_rows(10, 10))), CSV),
        (as_arrow(pa.Table.from_pylist(learn_rows(10, 20))), ARROW),
    ]
    for k, (body, kind) in enumerate(bodies, 1):
        found = client.ask("POST", "/models/m0/learn", body, kind)
        assert found.json == {"learned": 10, "rows_seen": ROWS + 10 * k}
    content = client.ask("GET", "/models/m0/file")
    (tmp_path / "now.adaline").write_bytes(content.body)
    now = storage.load(tmp_path / "now.adaline")
    start.partial_fit(open_table(TABLE.slice(0, 30), target="y", features=["a", "b", "kind"]))
    assert now.coef_.tolist() == start.coef_.tolist()
    about = client.ask("GET", "/models/m0").json
    assert (about["rows_seen"], about["system"]) == (ROWS + 30, type(system).__name__)
    assert about["progressive_error"]["rows"] == 30
    client.close()
    again = serving(start, learn=True, journal=tmp_path / "j")
    (tmp_path / "again.adaline").write_bytes(again.ask("GET", "/models/m0/file").body)
    assert storage.load(tmp_path / "again.adaline").coef_.tolist() == now.coef_.tolist()


def test_a_key_is_learned_once(serving: Callable[..., Client]) -> None:
    client = serving(fitted(LMS()), learn=True)
    for repeated in (False, True, True):
        found = client.ask("POST", "/models/m0/learn", {"rows": learn_rows(5), "key": "order 17"})
        assert found.json["rows_seen"] == ROWS + 5
        assert found.json.get("repeated", False) is repeated
    found = client.ask("POST", "/models/m0/learn?key=order%2017", as_csv(pa.Table.from_pylist(learn_rows(5))), CSV)
    assert found.json["repeated"] is True
    assert client.ask("POST", "/models/m0/learn", {"rows": learn_rows(5), "key": ""}).status == 422
    assert client.ask("POST", "/models/m0/learn", {"rows": learn_rows(5), "key": "k" * 300}).status == 422


def test_the_journal_is_beside_the_model_unless_told(serving: Callable[..., Client], tmp_path: Path) -> None:
    client = serving(fitted(LMS()), learn=True)
    client.ask("POST", "/models/m0/learn", {"rows": learn_rows(5)})
    assert (tmp_path / "m0.journal" / "journal.sqlite").exists()


SCHEMES = {
    "of the scheme": OneVsRest(LMS(), basis=Polynomial(degree=2)),
    "of the machines": OneVsRest(LMS(basis=Polynomial(degree=2))),
    "of probabilities": OneVsRest(LogisticRegression(solver="online", basis=Polynomial(degree=2))),
}


@pytest.mark.parametrize("name", SCHEMES)
def test_a_basis_within_a_scheme_is_in_service_what_it_is_apart(serving: Callable[..., Client], name: str) -> None:
    x = np.random.default_rng(1).normal(size=(60, 2))
    label = np.array(["low", "mid", "top"])[np.digitize((x**2).sum(axis=1), [0.7, 2.0])]
    model = clone(SCHEMES[name]).fit(x[:40], label[:40])
    assert is_slow(model, PredictRequest(x[:1].tolist(), JSON))
    client = serving(model, learn=True)
    rows = [{"x0": a, "x1": b} for a, b in x.tolist()]
    found = client.ask("POST", "/models/m0/predict", {"rows": rows})
    assert found.json["predictions"] == model.predict(x).tolist()
    named = [{**row, "y": one} for row, one in zip(rows[40:], label[40:].tolist(), strict=True)]
    huge = client.ask("POST", "/models/m0/learn", {"rows": [*named, {"x0": 1e90, "x1": 1.0, "y": "low"}]})
    assert (huge.status, huge.json["row"]) == (422, 20)  # its square is too large
    assert client.ask("POST", "/models/m0/learn", {"rows": named}).json == {"learned": 20, "rows_seen": 60}
    client.ask("GET", "/models/m0/file")  # after which predictions are by the model as it is then
    model.partial_fit(x[40:], label[40:])
    found = client.ask("POST", "/models/m0/predict", {"rows": rows, "probabilities": name == "of probabilities"})
    assert found.json["predictions"] == model.predict(x).tolist()
    if name == "of probabilities":
        assert [list(one.values()) for one in found.json["probabilities"]] == model.predict_proba(x).tolist()


def test_no_client_adds_a_column_to_a_model_that_grows_by_keys(serving: Callable[..., Client]) -> None:
    model = LogisticRegression(solver="online")
    for k in range(6):
        model.learn_one({"a": k % 3, "b": k % 2}, "xy"[k % 2], **({} if k else {"classes": ["x", "y"]}))
    client = serving(model, learn=True)
    for k in range(20):
        found = client.ask("POST", "/models/m0/learn", {"rows": [{"a": 1.0, "b": 1.0, f"key {k}": 1.0, "y": "x"}]})
        assert (found.status, found.json["column"]) == (422, f"key {k}")
    assert client.ask("POST", "/models/m0/learn", {"rows": [{"a": 1.0, "b": 1.0, "y": "x"}]}).status == 200
    about = client.ask("GET", "/models/m0").json
    assert ([one["name"] for one in about["columns"]], about["rows_seen"]) == (["a", "b"], 7)


def test_nothing_of_a_bad_batch_is_learned(serving: Callable[..., Client]) -> None:
    client = serving(fitted(LMS()), learn=True)
    bad = client.ask("POST", "/models/m0/learn", {"rows": [*learn_rows(5), {**GOOD, "y": "x"}]})
    assert (bad.status, bad.json["row"], bad.json["column"]) == (422, 5, "y")
    assert client.ask("POST", "/models/m0/learn", {"rows": [GOOD]}).json["column"] == "y"
    assert client.ask("GET", "/models/m0").json["rows_seen"] == ROWS


def test_too_many_rows_wait_and_a_full_disk(serving: Callable[..., Client], monkeypatch: pytest.MonkeyPatch) -> None:
    client = serving(fitted(LMS()), learn=True, limits=Limits(waiting=10))
    learner = client.app.state.service.models["m0"].learner
    monkeypatch.setattr(learner, "_waiting", 9)
    busy = client.ask("POST", "/models/m0/learn", {"rows": learn_rows(5)})
    assert busy.status == 429
    assert int(busy.headers["retry-after"]) >= 1
    monkeypatch.setattr(learner, "_waiting", 0)

    def full(*_: Any, **__: Any) -> None:
        raise JournalFull("there is no room on the disk")

    monkeypatch.setattr(learner._journal, "append", full)
    assert client.ask("POST", "/models/m0/learn", {"rows": learn_rows(5)}).status == 507
    assert client.ask("POST", "/models/m0/predict", {"rows": [GOOD]}).status == 200
    assert 'adaline_journal_full{model="m0"} 1' in client.ask("GET", "/metrics").body.decode()


def test_challengers_learn_the_same_rows_and_can_be_promoted(serving: Callable[..., Client]) -> None:
    client = serving(fitted(LMS()), learn=True, challengers={"line": fitted(LinearRegression())})
    client.ask("POST", "/models/m0/learn", {"rows": learn_rows(50)})
    about = client.ask("GET", "/models/m0").json
    assert {name: one["rows"] for name, one in about["scores"].items()} == {"champion": 50, "line": 50}
    assert client.ask("POST", "/models/m0/promote", {"challenger": "line"}).status == 200
    assert client.ask("GET", "/models/m0").json["system"] == "LinearRegression"
    assert client.ask("POST", "/models/m0/promote", {"challenger": "champion"}).status == 404


# -- versions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learn", [False, True])
def test_a_new_version_takes_the_place_of_a_model_and_can_be_taken_back(
    serving: Callable[..., Client], tmp_path: Path, learn: bool
) -> None:
    first, second = fitted(LinearRegression()), fitted(Ridge(penalty=100.0))
    client = serving(first, learn=learn)
    storage.save(second, tmp_path / "second")
    body = (tmp_path / "second").read_bytes()
    kind = "application/octet-stream"
    assert client.ask("PUT", "/models/m0", body, kind).json == {"name": "m0", "system": "Ridge"}
    predicted = client.ask("POST", "/models/m0/predict", {"rows": [GOOD]}).json["predictions"]
    assert predicted == second.predict(pa.Table.from_pylist([GOOD])).tolist()
    assert client.ask("PUT", "/models/m0", body[:-5], kind).status == 422
    storage.save(fitted(Perceptron(), "sign"), tmp_path / "other")
    other = client.ask("PUT", "/models/m0", (tmp_path / "other").read_bytes(), kind)
    assert other.status == (422 if learn else 200)
    snapshots = client.ask("GET", "/models/m0/snapshots").json["snapshots"]
    assert client.ask("POST", "/models/m0/rollback", {"snapshot": snapshots[0]["snapshot"]}).status == 200
    client.close()
    again = serving(first, learn=learn)
    predicted = again.ask("POST", "/models/m0/predict", {"rows": [GOOD]}).json["predictions"]
    assert predicted == first.predict(pa.Table.from_pylist([GOOD])).tolist()


def test_a_folder_holds_models_and_their_versions(tmp_path: Path) -> None:
    first, second = fitted(LinearRegression()), fitted(Ridge(penalty=100.0))
    (tmp_path / "mass").mkdir()
    for number, model in ((2, first), (10, second)):
        storage.save(model, tmp_path / "mass" / f"{number}.adaline")
    storage.save(first, tmp_path / "plain.adaline")
    client = Client(app(tmp_path))
    assert client.ask("GET", "/models").json == {"models": ["plain", "mass"]}
    row = pa.Table.from_pylist([GOOD])
    for path, model in (("mass/predict", second), ("mass/predict?version=2", first), ("plain/predict", first)):
        found = client.ask("POST", f"/models/{path}", {"rows": [GOOD]})
        assert found.json["predictions"] == model.predict(row).tolist()
    client.close()
    with pytest.raises(InvalidParameter, match="no model"):
        app([])
    with pytest.raises(InvalidParameter, match="name of a model"):
        app({"../x": first})


# -- who may do what -------------------------------------------------------------------------------------------------


def test_tokens_have_roles(serving: Callable[..., Client], tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("# ours\nread  r-0123456789abcdef\nlearn l-0123456789abcdef\nadmin a-0123456789abcdef\n")
    client = serving(fitted(LMS()), learn=True, tokens=read_tokens(file))
    asked = {
        "read": ("POST", "/models/m0/predict", {"rows": [GOOD]}),
        "learn": ("POST", "/models/m0/learn", {"rows": learn_rows(1)}),
        "admin": ("POST", "/models/m0/rollback", {"snapshot": 1}),
    }
    for k, role in enumerate(asked):
        client.token = f"{role[0]}-0123456789abcdef"
        assert [client.ask(*one).status for one in asked.values()] == [200] * (k + 1) + [403] * (2 - k)
    for token in ("", "guess", "r-0123456789abcde", "r-0123456789abcdef ä"):
        client.token = token
        unknown = client.ask("GET", "/models")
        assert (unknown.status, unknown.headers["www-authenticate"]) == (401, 'Bearer error="invalid_token"'), token
        assert "not known" in unknown.json["detail"]
    client.token = None
    missing = client.ask("GET", "/metrics")
    assert (missing.status, missing.headers["www-authenticate"]) == (401, "Bearer")
    assert [client.ask("GET", path).status for path in ("/healthz", "/readyz", "/", "/docs", "/openapi.json")] == [
        200
    ] * 5
    assert "security" in client.ask("GET", "/openapi.json").json
    assert repr(read_tokens(file)) == "Tokens()"


@pytest.mark.parametrize("text", ["", "read\n", "write abcdefghijklmnopq\n", "read short\n", "read a b\n"])
def test_bad_files_of_tokens_are_refused_without_quoting_them(tmp_path: Path, text: str) -> None:
    (tmp_path / "tokens").write_text(text)
    with pytest.raises(InvalidParameter) as caught:
        read_tokens(tmp_path / "tokens")
    assert "abcdefghijklmnopq" not in str(caught.value)
    assert "short" not in str(caught.value)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
def test_a_device_is_no_file_of_tokens(tmp_path: Path) -> None:
    (tmp_path / "tokens").symlink_to("/dev/zero")
    with pytest.raises(UnreadableTable, match="more than 1,048,576 bytes"):
        read_tokens(tmp_path / "tokens")


def test_without_tokens_only_this_machine_is_answered() -> None:
    client = Client(app(fitted(LMS()), local=True))
    for host, status in (
        ("localhost:8000", 200),
        ("127.0.0.1", 200),
        ("[::1]:80", 200),
        ("evil.example", 421),
        ("", 421),
    ):
        assert client.ask("GET", "/models", headers={"host": host}).status == status
    client.close()


def test_no_answer_is_for_other_origins(client: Client) -> None:
    found = client.ask("POST", "/models/line/predict", {"rows": [GOOD]}, headers={"origin": "https://evil.example"})
    assert not [name for name in found.headers if name.startswith("access-control")]
    assert Tokens({b"0123456789abcdef": "read"}).allow("Basic 0123456789abcdef", "read") is False


# -- what the service says of itself ---------------------------------------------------------------------------------


def metric(found: Response, name: str) -> float:
    (value,) = re.findall(rf"^{re.escape(name)} (\S+)$", found.body.decode(), re.MULTILINE)
    return float(value)


def test_metrics_count_requests_rows_and_drift() -> None:
    model = fitted(LinearRegression())
    client = Client(app({"line": model}))
    shifted = NUMBERS.set_column(0, "a", pa.array(np.asarray(NUMBERS["a"]) + 3.0 * np.asarray(NUMBERS["a"]).std()))
    client.ask("POST", "/models/line/predict", {"rows": shifted.to_pylist()})
    client.ask("POST", "/models/line/predict", {"rows": 3})
    found = client.ask("GET", "/metrics")
    assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert metric(found, 'adaline_requests_total{route="predict",model="line",status="200"}') == 1
    assert metric(found, 'adaline_requests_total{route="predict",model="line",status="422"}') == 1
    assert metric(found, 'adaline_rows_total{route="predict",model="line"}') == ROWS
    assert metric(found, 'adaline_request_seconds_bucket{route="predict",model="line",le="+Inf"}') == 2
    assert metric(found, 'adaline_input_drift{model="line",column="a"}') == pytest.approx(3.0, abs=1e-9)
    assert metric(found, 'adaline_input_drift{model="line",column="b"}') == pytest.approx(0.0, abs=1e-9)
    assert metric(found, 'adaline_rows_seen{model="line"}') == ROWS
    assert metric(found, 'adaline_certificate_digits{model="line"}') == pytest.approx(model.certificate_.digits)
    for line in found.body.decode().splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) .+|[a-z_]+(\{[^{}]*\})? \S+", line), line
    client.close()


def test_a_model_is_described(client: Client, models: dict[str, Any]) -> None:
    about = client.ask("GET", "/models/line").json
    proof = models["line"].certificate_
    assert (about["system"], about["rows_seen"], about["target"]) == ("LinearRegression", ROWS, ["y"])
    assert about["certificate"]["digits"] == proof.digits
    assert [column["name"] for column in about["columns"]] == ["a", "b", "kind"]
    assert about["columns"][2]["levels"] == ["high", "low", "mid"]
    assert math.isclose(about["columns"][0]["mean"], np.mean(TABLE["a"]))
    assert client.ask("HEAD", "/models/line").status == 200


def test_pages_need_nothing_from_elsewhere(client: Client) -> None:
    for path in ("/", "/docs", "/static/page.js", "/static/docs.js", "/static/page.css"):
        found = client.ask("GET", path, kind=None)
        assert found.status == 200
        assert "default-src 'none'" in found.headers["content-security-policy"]
        text = found.body.decode().replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text
        assert "https:" not in text
        for name in re.findall(r'(?:src|href)="(/[^"]+)"', text):
            assert client.ask("GET", name, kind=None).status == 200, name


def test_the_description_names_every_path(client: Client) -> None:
    described = client.ask("GET", "/openapi.json").json
    routes = {route.path for route in client.app.routes}
    assert set(described["paths"]) == {
        path for path in routes if not path.startswith(("/static", "/docs", "/openapi"))
    } - {"/"}
    assert client.ask("GET", "/healthz").json == {"status": "ok"}
    assert client.ask("GET", "/readyz").json["status"] == "ready"


def test_the_progressive_error_is_kept_for_the_page(serving: Callable[..., Client]) -> None:
    client = serving(fitted(LMS()), learn=True)
    served = client.app.state.service.models["m0"]
    for k in range(3):
        client.ask("POST", "/models/m0/learn", {"rows": learn_rows(5, 5 * k)})
        served.remember()
        served.remember()
    error = client.ask("GET", "/models/m0").json["progressive_error"]
    assert (error["rows"], error["loss"]) == (15, error["mean"])
    assert (
        f'adaline_progressive_loss{{model="m0",version="champion"}} {error["loss"]!r}\n'
        in client.ask("GET", "/metrics").body.decode()
    )
    history = client.ask("GET", "/models/m0/history").json
    assert history["rows_seen"] == [ROWS + 5, ROWS + 10, ROWS + 15]
    assert all(value > 0 for value in [*history["mean"], *history["recent"]])
