"""What a service keeps, refuses and tells: journals of several models, full disks, wide and long rows."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from adaline import LMS, LinearRegression, LogisticRegression, storage
from adaline.basis import Polynomial
from adaline.errors import InvalidParameter, JournalError, JournalFull
from adaline.serve import Limits, Tokens, app
from adaline.serve.application import is_slow
from adaline.serve.requests import CSV, JSON, PredictRequest
from adaline.storage import container
from tests.serve.asgi import Client
from tests.storage.forge import grafts, originals

X = np.random.default_rng(0).normal(size=(20, 2))
ROW = {"x0": 1.0, "x1": 2.0}
FILE = "application/octet-stream"


def learning() -> Any:
    return LMS().fit(X, X[:, 0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "models").mkdir()
    storage.save(learning(), tmp_path / "models" / "a.adaline")
    return tmp_path


@pytest.fixture
def client(folder: Path) -> Any:
    out = Client(app(folder / "models", learn=True, limits=Limits(body=20_000, columns=20)))
    yield out
    out.close()


def seen(models: Any, journal: Path, rows: int = 0) -> int:
    client = Client(app(models, learn=True, journal=journal))
    for _ in range(rows):
        client.ask("POST", "/models/a/learn", {"rows": [{**ROW, "y": 1.0}]})
    out = int(client.ask("GET", "/models/a").json["rows_seen"])
    client.close()
    return out


def test_a_second_model_in_a_folder_leaves_the_journal_of_the_first(folder: Path) -> None:
    models, journal = folder / "models", folder / "j"
    assert seen(models, journal, 3) == 23
    storage.save(learning(), models / "b.adaline")
    assert seen(models, journal) == 23
    with pytest.raises(InvalidParameter, match="several"):
        app(models / "a.adaline", learn=True, journal=journal)
    assert seen([models / "a.adaline"], folder / "one", 1) == 21
    with pytest.raises(InvalidParameter, match="one model"):
        app(models, learn=True, journal=folder / "one")


def test_a_version_of_a_model_that_cannot_learn_is_kept(folder: Path) -> None:
    models = folder / "models"
    storage.save(LogisticRegression(penalty=1.0).fit(X, X[:, 0] > 0), models / "b.adaline")
    second = LinearRegression().fit(X, X[:, 1])
    storage.save(second, folder / "second")
    client = Client(app(models, learn=True))
    assert client.ask("PUT", "/models/b", (folder / "second").read_bytes(), FILE).status == 200
    client.close()
    again = Client(app(models, learn=True))
    assert (
        again.ask("POST", "/models/b/predict", {"rows": [ROW]}).json["predictions"] == second.predict([[1, 2]]).tolist()
    )
    served = again.app.state.service.models
    assert "b.versions" in served["b"].origin
    assert "a.journal" in served["a"].origin
    again.close()


def test_long_numbers_are_no_fault(client: Client) -> None:
    found = client.ask("POST", f"/models/a/predict?version={'1' * 5000}", {"rows": [ROW]})
    assert (found.status, len(found.body) < 300) == (404, True)
    assert client.ask("POST", "/models/a/predict", {}, headers={"content-length": "1" * 5000}).status == 413


def test_a_full_disk_is_507_and_no_path_is_told(client: Client, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = (folder / "models" / "a.adaline").read_bytes()
    learner = client.app.state.service.models["a"].learner
    with monkeypatch.context() as patched:
        patched.setattr("tempfile.TemporaryDirectory", _full)
        found = [client.ask("PUT", "/models/a", body, FILE), client.ask("GET", "/models/a/file")]
    with monkeypatch.context() as patched:
        patched.setattr("adaline.serve.snapshots.SnapshotFolder.prepare", _full)
        found += [client.ask("PUT", "/models/a", body, FILE), client.ask("POST", "/models/a/rollback", {"snapshot": 1})]
    monkeypatch.setattr(learner, "failed", JournalError(f"{folder}: broken"))
    found += [client.ask("GET", "/readyz"), client.ask("POST", "/models/a/learn", {"rows": [{**ROW, "y": 1.0}]})]
    assert [one.status for one in found] == [507, 507, 507, 507, 503, 503]
    assert not [one.body for one in found if str(folder).encode() in one.body]


@pytest.mark.parametrize(
    ("host", "donor", "part"),
    [("Pocket()", "Perceptron()", "_result of"), ("Ridge()", "RobustRegression()", "_fits of")],
)
def test_a_forged_version_is_refused(client: Client, tmp_path: Path, host: str, donor: str, part: str) -> None:
    files = originals()
    forged = next(make() for name, make in grafts(files[host](), files[donor]()) if part in name)
    container.write(tmp_path / "forged", forged.head, forged.tensors)
    found = client.ask("PUT", "/models/a", (tmp_path / "forged").read_bytes(), FILE)
    assert (found.status, "the body does not describe a fitted" in found.json["detail"]) == (422, True)


def test_a_version_of_any_system_is_taken_or_refused(tmp_path: Path) -> None:
    client = Client(app({"a": learning()}))
    for original in (make() for name, make in originals().items() if name.endswith("()")):
        container.write(tmp_path / "m", original.head, original.tensors)
        assert client.ask("PUT", "/models/a", (tmp_path / "m").read_bytes(), FILE).status in (200, 422), original.name
        assert client.ask("GET", "/models/a").status == 200, original.name
        assert client.ask("POST", "/models/a/predict", {"rows": [[1.0] * 4]}).status in (200, 422), original.name
    client.close()


@pytest.mark.parametrize("route", ["predict", "learn"])
def test_rows_of_json_are_counted_before_they_are_read(
    client: Client, route: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adaline.serve.requests.decoded_json", lambda *_: pytest.fail("was read"))
    monkeypatch.setattr(client.app.state.service, "limits", Limits(rows=100))
    for row in (b"{}", b"[]", b'{"x0": 1, "x1": 2}', b"[ 1, 2 ]"):
        body = b'{"rows": [%s]}' % b",".join([row] * 101)
        assert client.ask("POST", f"/models/a/{route}", body, JSON).status == 413
    monkeypatch.undo()
    monkeypatch.setattr(client.app.state.service, "limits", Limits(rows=2))
    for text in (b"[a],[b],{c}", rb"\"[a],[b],{c}", rb"[a],[b],{c}\\"):
        row = b'[1, 2, "%s"]' % text
        found = [
            client.ask("POST", f"/models/a/{route}", b'{"rows": [%s]}' % b",".join([row] * k), JSON) for k in (2, 3)
        ]
        assert [one.status == 413 for one in found] == [False, True]
        assert "3 rows are more than the 2" in found[1].json["detail"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"rows": [{"x0": 1, "x1": 2, "x0": 3}]}',
        b'{"rows": [{"x0": 1, "x1": 2, "x0" : 3}]}',
        b'{"rows": [], "rows": [{"x0": 1, "x1": 2}]}',
        b'{"rows": [{"x0": 1, "x1": 2}, {"x0": 1, "x\\u0031": 2, "x1": 2}], "level": 0.5}',
        b'{"rows": [[1, 2]], "level": 0.5, "level": 0.95}',
    ],
)
def test_a_name_that_is_there_twice_is_refused(client: Client, body: bytes) -> None:
    found = client.ask("POST", "/models/a/predict", body, JSON)
    assert (found.status, "twice" in found.json["detail"]) == (422, True)
    if b"level" not in body:
        assert client.ask("POST", "/models/a/learn", body, JSON).status == 422
    assert client.ask("POST", "/models/a/rollback", b'{"snapshot": 1, "snapshot": 2}', JSON).status == 422


def test_models_are_named_to_known_tokens_alone() -> None:
    client = Client(app({"secret": learning()}, tokens=Tokens({b"correct-horse-battery": "read"})))
    for path in ("/readyz", "/openapi.json", "/healthz", "/", "/docs"):
        found = client.ask("GET", path)
        assert (found.status, b"secret" in found.body) == (200, False)
    token = {"authorization": "Bearer correct-horse-battery"}
    assert client.ask("GET", "/readyz", headers=token).json == {"status": "ready", "models": ["secret"]}
    client.close()


def test_a_service_whose_disk_is_full_is_not_ready(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = client.app.state.service.models["a"].learner

    def full(*_: Any, **__: Any) -> None:
        raise JournalFull("there is no room")

    learn = partial(client.ask, "POST", "/models/a/learn", {"rows": [{**ROW, "y": 1.0}]})
    with monkeypatch.context() as patched:
        patched.setattr(learner._journal, "append", full)
        patched.setattr(learner._journal, "check_room", full)
        assert learn().status == 507
        for _ in range(3):
            assert client.ask("GET", "/readyz").status == 503
            learner.latest()  # after the disk was tried again
        assert client.ask("GET", "/readyz").json == {
            "status": "failed",
            "models": {"a": "there is no room on the disk for more rows: nothing was learned"},
        }
        learner.latest()
    client.ask("GET", "/readyz")
    learner.latest()
    assert client.ask("GET", "/readyz").status == 200
    assert learn().status == 200


def _full(*_: Any, **__: Any) -> None:
    raise OSError(28, "No space left on device", "/secret")


def test_predictions_go_on_while_many_wait_for_the_learner(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    service, go = client.app.state.service, Event()
    monkeypatch.setattr(service.models["a"].learner, "latest", lambda: go.wait(10))
    try:
        files = [service.after_learning(service.models["a"].file) for _ in range(8)]
        waiting = [client.loop.create_task(one) for one in files]
        assert client.ask("GET", "/models/a").json["rows_seen"] == 20
        assert not any(one.done() for one in waiting)
    finally:
        go.set()
    for one in waiting:
        one.cancel()


@pytest.mark.parametrize(
    "body", [b"x" * 5000 + b"," * 30, b"\n\n" + b"," * 30, b"\xef\xbb\xbf\r\n" + b"," * 30, b'a"b,"\n"' + b"," * 30]
)
def test_columns_of_csv_are_counted_before_they_are_read(
    client: Client, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adaline.serve.requests.csv.read_csv", lambda *_, **__: pytest.fail("was read"))
    assert client.ask("POST", "/models/a/predict", body + b"\n1\n", CSV).status == 422


def test_what_takes_long_is_no_work_of_the_event_loop() -> None:
    model = learning()
    assert not is_slow(model, PredictRequest([[1.0, 2.0]] * 1000, CSV))
    assert is_slow(model, PredictRequest([[1.0, 2.0]], CSV, interval="confidence"))
    assert is_slow(model, PredictRequest([[1.0, 2.0]] * 2**20, CSV))
    assert is_slow(LinearRegression(basis=Polynomial(degree=2)).fit(X, X[:, 0]), PredictRequest([[1.0, 2.0]], CSV))


def test_bodies_are_counted_as_they_come(client: Client) -> None:
    service = client.app.state.service
    service.held = 16 * 20_000 - 5_000
    found = client.ask("POST", "/models/a/predict", b" " * 10_000, chunks=10)
    assert (found.status, found.headers["retry-after"]) == (429, "1")
    assert service.held == 16 * 20_000 - 5_000


def test_options_of_json_are_in_the_body(client: Client) -> None:
    rows = {"rows": [{**ROW, "y": 1.0}]}
    assert client.ask("POST", "/models/a/learn?key=1", rows).status == 422
    assert client.ask("POST", "/models/a/predict?interval=confidence", {"rows": [ROW]}).status == 422


def test_a_repeated_batch_is_not_counted_again(client: Client) -> None:
    for _ in range(2):
        client.ask("POST", "/models/a/learn", {"rows": [{**ROW, "y": 1.0}], "key": "1"})
    assert 'adaline_rows_total{route="learn",model="a"} 1\n' in client.ask("GET", "/metrics").body.decode()
