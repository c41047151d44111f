"""A model that learns in service: the same bits whatever the batches, and after a restart; keys, queue, versions."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.metrics import log_loss, mean_squared_error, zero_one_loss

from adaline import LMS, GeneralizedLinear, LinearRegression, LogisticRegression, Ridge, save
from adaline.errors import BadRows, Busy, InvalidParameter, JournalError, JournalFull, ModelFileError
from adaline.estimator import is_regressor
from adaline.serve import Journal, Learner, Receipt, learning_model, progressive_error
from tests.serve.examples import FIRST, MODELS, begun, bits, listed, raises, rows_for, send

X, Y = rows_for(LMS())


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a size that few rows fill several of."""
    monkeypatch.setattr(learning_model, "SCANNED", 64)
    monkeypatch.setattr(learning_model, "SUMMED", 64)


def sent(learner: Learner, x: Any, y: Any, sizes: list[int]) -> list[Receipt]:
    """Send rows in batches of these sizes, over and over, and return the receipts."""
    futures, first = [], 0
    while first < len(x):
        end = first + sizes[len(futures) % len(sizes)]
        futures.append(learner.submit(listed(x[first:end], y[first:end])))
        first = end
    return [future.result(10) for future in futures]


def stored_bits(model: Any, folder: Path) -> dict[str, bytes]:
    save(model, folder / "model.adaline")
    return bits(folder / "model.adaline")


def same(one: Any, two: Any) -> bool:
    """Whether two models have the same weights, to the bit."""
    return bool(np.array_equal(one.coef_, two.coef_) and np.array_equal(one.intercept_, two.intercept_))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.usefixtures("small_blocks")
def test_batches_and_restarts_change_no_bit_of_what_partial_fit_learns(name: str, tmp_path: Path) -> None:
    model, x, y = begun(name, 160)
    before, found = stored_bits(model, tmp_path), []
    for k, sizes in enumerate(([160], [1, 7, 50])):
        with Learner(model, tmp_path / str(k), snapshot_rows=100) as learner:
            receipts = sent(learner, x, y, sizes)
            found.append(stored_bits(learner.latest(), tmp_path))
        assert sum(one.learned for one in receipts) == len(x)
        assert receipts[-1].rows_seen == FIRST + len(x)
        with Learner(model, tmp_path / str(k)) as learner:  # from the last snapshot and the journal
            assert learner.rows_seen == FIRST + len(x)
            found.append(stored_bits(learner.current, tmp_path))
            last = learner.current
    assert all(one == found[0] for one in found)
    assert stored_bits(model, tmp_path) == before  # the model given is as it was
    for first in range(0, 160, 64):
        model.partial_fit(x[first : first + 64], y[first : first + 64])
    assert np.array_equal(last.predict(x), model.predict(x))
    assert not hasattr(model, "coef_") or same(last, model)


def test_rows_are_learned_once_under_a_key_that_stands_for_them(tmp_path: Path) -> None:
    model, x, y = begun()
    for folder in (tmp_path, None):
        with Learner(model, folder) as learner:
            both = [learner.submit(listed(x[:10], y[:10]), "one") for _ in range(2)]  # perhaps in one commit
            assert [(one.result(10).learned, one.result().repeated) for one in both] == [(10, False), (10, True)]
            assert send(learner, x[10:12], y[10:12], "two") == Receipt(2, FIRST + 12)
            with pytest.raises(BadRows, match="other rows"):
                send(learner, x[2:4], y[2:4], "one")
            named = [dict(zip(("x0", "x1", "x2", "y"), row, strict=True)) for row in listed(x[:10], y[:10])]
            for rows in (named, pa.Table.from_pylist(named)):
                assert learner.submit(rows, "one").result(10).repeated
            for wrong in (17, "\ud800"):
                with pytest.raises(InvalidParameter, match="a key is"):
                    learner.submit(named, wrong)  # type: ignore[arg-type]
            assert send(learner, x[:10], y[:10]).learned == 10
    with Learner(model, tmp_path) as learner:
        assert send(learner, x[:10], y[:10], "one") == Receipt(10, FIRST + 22, True)


def test_what_cannot_be_learned_is_refused_whole_and_never_journalled(tmp_path: Path) -> None:
    model, x, y = begun("OnlineLogistic")
    rows = listed(x[:4], y[:4])
    with Learner(model, tmp_path) as learner:
        for wrong in ([0.0, 1.0, 2.0, "none"], [0.0, None, 2.0, "low"], [0.0, 1e200, 2.0, "low"], [1.0, "low"]):
            with pytest.raises(BadRows) as caught:
                learner.submit([*rows, wrong])
            assert caught.value.row == 4
        assert learner.submit(rows).result().rows_seen == FIRST + 4
    with Learner(model, tmp_path) as learner:
        assert learner.rows_seen == FIRST + 4


def test_a_full_queue_is_busy_and_says_when_to_try_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model, x, y = begun()
    go_on = threading.Event()
    with Learner(model, queue_rows=50) as learner:
        learn = learner._learn
        monkeypatch.setattr(learner, "_learn", lambda *given: go_on.wait(10) and learn(*given))
        futures = [learner.submit(listed(x[k:end], y[k:end])) for k, end in ((0, 20), (20, 40), (40, 50))]
        with pytest.raises(Busy) as caught:
            learner.submit(listed(x[:1], y[:1]))
        assert (0.05 <= caught.value.retry_after <= 60.0, learner.waiting) == (True, 50)
        go_on.set()
        assert [one.result(10).learned for one in futures] == [20, 20, 10]
        assert learner.waiting == 0
        assert send(learner, x, y).learned == 300  # more than the queue, where nothing waits


def test_a_full_disk_refuses_rows_until_those_that_were_refused_fit(tmp_path: Path) -> None:
    model, x, y = begun()
    many = np.tile(x[:1], (10_000, 1)), np.tile(y[:1], 10_000)
    with Learner(model, tmp_path) as learner:
        send(learner, x[:1], y[:1])
        base = learner._journal._base  # type: ignore[union-attr]
        base.execute(f"PRAGMA max_page_count = {base.execute('PRAGMA page_count').fetchone()[0] + 5}")
        for _ in range(2):
            with pytest.raises(JournalFull):
                send(learner, *many, key="k")
            assert learner.full
            assert learner.current.predict(x[:2]).shape == (2,)
            learner.trouble()
            learner.latest()  # after the disk was tried
            assert isinstance(learner.trouble(), JournalFull)
        send(learner, x[:1], y[:1])
        assert not learner.full
        with pytest.raises(JournalFull):
            send(learner, *many, key="k")
        base.execute("PRAGMA max_page_count = 100000")
        learner.trouble()
        learner.latest()
        assert learner.trouble() is None
        assert send(learner, *many, key="k") == Receipt(10_000, FIRST + 10_002)


def test_models_for_predictions_have_every_row_and_are_never_changed_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning_model, "SCANNED", 32)
    model, x, y = begun()
    with Learner(model) as learner:
        seen = []
        for k in range(200):
            send(learner, x[k : k + 1], y[k : k + 1])
            if k % 40 == 7:
                seen.append((learner.current, learner.current.coef_.copy()))
                assert same(learner.current, begun()[0].partial_fit(x[: k + 1], y[: k + 1]))
        assert all(np.array_equal(one.coef_, coef) for one, coef in seen)
        assert len({coef.tobytes() for _, coef in seen}) == len(seen)
        assert len(learner.current.history_) < len(model.history_) + 32 + 200 / 32  # histories stay short


def test_systems_in_closed_form_are_solved_at_most_so_often() -> None:
    model, x, y = begun("Ridge")
    with Learner(model, solve_seconds=3600.0) as learner:
        send(learner, x[:10], y[:10])
        found = learner.latest()
        send(learner, x[10:20], y[10:20])
        assert learner.current is found
        assert learner.latest() is not found
    assert same(learner.current, learner.latest())  # after the end


def test_progressive_errors_are_of_rows_before_they_are_learned(tmp_path: Path) -> None:
    model, x, y = begun(count=60)
    errors, told = [], begun(count=60)[0]
    with Learner(model, tmp_path) as learner:
        for row, target in zip(x, y, strict=True):
            send(learner, row[None], target[None])
            learner.latest()  # no row is learned later than the next is predicted
            errors.append((told.predict_one(row) - target) ** 2)
            told.learn_one(row, target)
        found = learner.progressive
    assert (found.measure, found.rows) == ("mean squared error", 60)
    weights = np.exp(np.arange(60) / progressive_error.RECENT_ROWS)
    expected = [np.mean(errors), np.average(errors, weights=weights)]
    np.testing.assert_allclose([found.mean, found.recent], expected, rtol=1e-12)
    with Learner(model, tmp_path) as learner:
        assert learner.progressive == found


@pytest.mark.parametrize("name", MODELS)
def test_progressive_losses_are_those_of_the_system_itself(name: str, tmp_path: Path) -> None:
    model, x, y = begun(name, 60)
    with Learner(model, tmp_path) as learner:
        send(learner, x, y)  # all of them are predicted by the model as it was given
        found = learner.progressive
    predicted = model.predict(x)
    if is_regressor(model):
        error = loss = mean_squared_error(y, predicted)
    else:
        error, proba = zero_one_loss(y, predicted), getattr(model, "predict_proba", None)
        loss = np.nan if proba is None else log_loss(y, proba(x), labels=model.classes_)
    np.testing.assert_allclose([found.mean, found.recent], error, rtol=1e-12)
    np.testing.assert_allclose([found.loss, found.recent_loss], loss, rtol=1e-9)
    with Learner(model, tmp_path) as learner:
        assert str(learner.progressive) == str(found)


def test_errors_that_overflow_leave_means_finite_and_learning_goes_on(tmp_path: Path) -> None:
    with Learner(Ridge(penalty=1.0).fit(X, Y * 1e90), tmp_path) as learner:
        learner.submit([[1e99, 1e99, 1e99, 1.0]]).result(10)
        assert np.isfinite([learner.progressive.mean, learner.progressive.recent]).all()
        assert [send(learner, X[k : k + 1], Y[k : k + 1]).learned for k in range(3)] == [1, 1, 1]


def test_challengers_learn_the_same_rows_and_can_be_promoted(tmp_path: Path) -> None:
    model, x, y = begun()
    other = Ridge(penalty=1e6).fit(x[:20], y[:20])
    with Learner(model, tmp_path, challengers={"flat": other}) as learner:
        sent(learner, x[:200], y[:200], [13])
        scores = learner.scores()
        assert {name: score.rows for name, score in scores.items()} == {"champion": 200, "flat": 200}
        assert scores["champion"].mean < scores["flat"].mean
        learner.promote("flat")
        assert isinstance(learner.current, Ridge)
        assert isinstance(learner.challenger("flat"), LMS)
        assert learner.scores() == {"champion": scores["flat"], "flat": scores["champion"]}
        sent(learner, x[200:], y[200:], [13])
        last = learner.latest()
        with pytest.raises(InvalidParameter, match="there are: flat"):
            learner.promote("steep")
    with Learner(model, tmp_path, challengers={"flat": other}) as learner:
        assert same(learner.current, last)
        assert same(learner.challenger("flat"), model.partial_fit(x, y))
    assert np.allclose(last.coef_, other.partial_fit(x, y).coef_, rtol=1e-12)


def test_models_change_places_both_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, x, y = begun()
    other = Ridge(penalty=1.0).fit(x[:20], y[:20])
    with Learner(model, tmp_path, challengers={"sums": other}) as learner:
        send(learner, x[:10], y[:10])
        refuse = raises(ModelFileError("there is no room"))
        monkeypatch.setattr(learner._models["sums"].folder, "prepare", refuse)
        with pytest.raises(ModelFileError):
            learner.promote("sums")
        assert isinstance(learner.current, LMS)
    with Learner(model, tmp_path, challengers={"sums": other}) as learner:
        assert isinstance(learner.current, LMS)
        assert isinstance(learner.challenger("sums"), Ridge)


def test_a_new_version_and_a_rollback_outlive_a_restart(tmp_path: Path) -> None:
    model, x, y = begun()
    other = LMS(rate=0.001).fit(x[:20], y[:20])
    with Learner(model, tmp_path) as learner:
        sent(learner, x[:100], y[:100], [10])
        first = learner.snapshots()[0]
        assert learner.replace(other) is not None
        sent(learner, x[100:200], y[100:200], [10])
        told = learner.latest()
    with Learner(model, tmp_path) as learner:
        assert same(learner.current, told)
        assert same(told, other.partial_fit(x[100:200], y[100:200]))
        learner.rollback(first)
        assert same(learner.current, model)
        sent(learner, x[200:], y[200:], [10])
        with pytest.raises(InvalidParameter, match="no snapshot 99"):
            learner.rollback(99)
    with Learner(other, tmp_path) as learner:
        assert same(learner.current, model.partial_fit(x[200:], y[200:]))
        made = learner.replace(LMS().fit(x[:20], y[:20] + 100.0))
    assert made is not None
    made.path.write_bytes(b"")
    with pytest.raises(JournalError, match="no snapshot of the model can be read"):  # not one before the new version
        Learner(model, tmp_path)


def test_a_damaged_snapshot_falls_back_to_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning_model, "SCANNED", 32)
    model, x, y = begun()
    with Learner(model, tmp_path, snapshot_rows=50) as learner:
        for k in range(0, 300, 25):
            send(learner, x[k : k + 25], y[k : k + 25])
        told, there = learner.latest(), learner.snapshots()
    assert len(there) > 2
    files = sorted((tmp_path / "snapshots" / "champion").iterdir())
    files[-1].write_bytes(files[-1].read_bytes()[:-10])
    files[-2].write_bytes(b"")
    with Learner(model, tmp_path) as learner:
        assert same(learner.current, told)
        assert learner.rows_seen == FIRST + len(x)
        assert "2 snapshots of champion cannot be read" in learner.notes[0]
        assert learner.snapshots()[-1].number > there[-1].number  # another one is there at once
        assert same(learner.snapshots()[-1].load(), model.partial_fit(x[:288], y[:288]))


def test_two_writers_are_refused_and_a_closed_learner_takes_no_rows(tmp_path: Path) -> None:
    model, x, y = begun()
    with Learner(model, tmp_path) as learner:
        with pytest.raises(JournalError, match="another process"):
            Learner(model, tmp_path)
        future = learner.submit(listed(x, y))
    assert future.result(0).learned == len(x)  # closing learns what waits
    with pytest.raises(JournalError, match="closed"):
        learner.submit(listed(x, y))


WIDE = np.random.default_rng(0).normal(size=(20, 600))


@pytest.mark.parametrize(
    ("model", "challengers", "match"),
    [
        (GeneralizedLinear().fit(X, Y), {}, "cannot continue"),
        (LogisticRegression(penalty=1.0).fit(X, Y > 0), {}, "cannot continue"),
        (LinearRegression().fit(WIDE, Y[:20]), {}, "wide data"),
        (LMS().fit(X, Y), {"two": LMS().fit(X, np.column_stack([Y, Y]))}, "one target"),
        (LMS().fit(X, Y), {"../x": LMS().fit(X, Y)}, "no name of a challenger"),
    ],
)
def test_models_that_cannot_learn_are_refused_before_the_first_row(model: Any, challengers: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        Learner(model, challengers=challengers)


@pytest.mark.usefixtures("small_blocks")
def test_a_model_that_fails_ends_learning_until_another_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    other, x, y = begun()
    model, learned = Ridge(penalty=1.0).fit(x, y), learning_model.learned_model

    def refuse(model: Any, rows: Any) -> Any:
        if isinstance(model, Ridge):
            raise InvalidParameter("no")
        return learned(model, rows)

    with Learner(model) as learner:
        monkeypatch.setattr(learning_model, "learned_model", refuse)
        assert send(learner, x[:10], y[:10]).learned == 10  # only `current` cannot be made
        assert learner.latest() is model
        assert "no" in learner.notes
        for _ in range(2):
            with pytest.raises(InvalidParameter, match="no"):
                send(learner, x, y)
        assert isinstance(learner.failed, InvalidParameter)
        assert same(learner.latest(), model)
        assert learner.waiting == 0
        learner.replace(other)
        assert send(learner, x, y).learned == len(x)
        assert np.allclose(learner.latest().coef_, other.partial_fit(x, y).coef_, rtol=1e-12)
    monkeypatch.setattr(learning_model, "learned_model", learned)
    with Learner(other, challengers={"sums": model}) as learner:
        monkeypatch.setattr(learning_model, "learned_model", refuse)
        assert send(learner, x, y).learned == len(x)
        assert list(learner.scores()) == ["champion"]  # a challenger that fails is left out
        assert "'sums' was left out: no" in learner.notes[0]


def test_a_fault_of_ours_answers_those_who_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    model, x, y = begun()
    with Learner(model) as learner:
        monkeypatch.setattr(learner, "_learn", raises(RuntimeError("a fault")))
        for _ in range(2):
            with pytest.raises(JournalError, match="a fault"):
                send(learner, x, y)
        assert learner.latest() is learner.current


def test_many_threads_send_at_once_and_the_order_is_that_of_the_journal(tmp_path: Path) -> None:
    model, x, y = begun()
    rows = listed(x, y)
    with Learner(model, tmp_path) as learner:

        def send_each(first: int) -> list[int]:
            return [learner.submit([row]).result(60).rows_seen for row in rows[first::10]]

        with ThreadPoolExecutor(10) as threads:
            seen = list(threads.map(send_each, range(10)))
        assert all(one == sorted(set(one)) for one in seen)  # each sees its own rows before the next
        assert learner.rows_seen == max(map(max, seen)) == FIRST + 300
        found = learner.latest()
    with Journal(tmp_path) as journal:
        order = [list(row.values()) for batch in journal.since(0) for row in batch.rows.to_pylist()]
    assert sorted(order) == sorted(rows)
    assert [[one for one in order if one in rows[k::10]] for k in range(10)] == [rows[k::10] for k in range(10)]
    assert same(found, model.partial_fit(np.array(order)[:, :-1], np.array(order)[:, -1]))


def test_a_row_that_a_model_would_diverge_by_is_refused_and_others_are_learned(tmp_path: Path) -> None:
    model = LMS(rate=0.01).fit(X[:50], Y[:50])
    with Learner(model, tmp_path) as learner:
        futures = [learner.submit(listed(X[50:60], Y[50:60])), learner.submit([[1e6, 1e6, 1e6, 1.0]], key="far")]
        futures.append(learner.submit(listed(X[60:], Y[60:])))
        with pytest.raises(BadRows, match="diverges"):
            futures[1].result(10)
        assert [futures[k].result(10).learned for k in (0, 2)] == [10, len(X) - 60]
        assert same(learner.latest(), model.partial_fit(X[50:], Y[50:]))
        assert send(learner, X[:1], Y[:1], "far").learned == 1


def test_a_restart_leaves_out_what_a_challenger_cannot_learn_and_serves_a_champion_that_fails(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    one, two = LMS().fit(frame[["a"]], Y), LMS().fit(frame, Y)
    short, long = [{"a": 1.0, "y": 3.0}], [{"a": 1.0, "b": 2.0, "y": 3.0}]
    with Learner(one, tmp_path, challengers={"two": two}) as learner:
        learner.submit(long).result(10)
    with Learner(one, tmp_path) as learner:
        learner.submit(short).result(10)
    with Learner(one, tmp_path, challengers={"two": two}) as learner:
        assert "'two' starts again" in learner.notes[-1]
        assert learner.submit(long).result(10).learned == 1
        told = learner.latest()
    with Learner(one, tmp_path, challengers={"two": two}) as learner:
        assert same(learner.challenger("two"), two.partial_fit(frame[:0].assign(a=[1.0], b=[2.0]), [3.0]))
        assert same(learner.current, told)
    with Journal(tmp_path, writes=True) as journal:
        journal.append([(None, pa.record_batch({"c": [1.0]}))])
    with Learner(one, tmp_path) as learner:
        assert same(learner.current, told)
        with pytest.raises(JournalError, match="cannot be learned"):
            learner.submit(short)
        learner.replace(one)
        learner.submit(short).result(10)
        last = learner.latest()
    with Learner(one, tmp_path) as learner:
        assert same(learner.current, last)
