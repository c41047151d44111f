"""A model that learns in service: the same bits whatever the batches, and after a restart; keys, queue, versions."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.metrics import log_loss, mean_squared_error, zero_one_loss

from adaline import LMS, GeneralizedLinear, LinearRegression, LogisticRegression, Ridge, save
from adaline.errors import BadRows, Busy, InvalidParameter, JournalError, JournalFull, ModelFileError
from adaline.estimator import clone, is_regressor
from adaline.serve import Journal, Learner, Receipt
from adaline.serve import learner as module
from adaline.serve.rows import DecodedRows
from tests.serve.examples import FIRST, MODELS, bits, listed, rows_for


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a size that few rows fill several of."""
    monkeypatch.setattr(module, "SCANNED", 64)
    monkeypatch.setattr(module, "SUMMED", 64)


def begun(name: str) -> tuple[Any, Any, Any]:
    """Return a model that was fitted to some rows, and rows and targets that come after them."""
    model = clone(MODELS[name])
    x, y = rows_for(model)
    return model.fit(x[:FIRST], y[:FIRST]), x[FIRST:], y[FIRST:]


def sent(learner: Learner, x: Any, y: Any, sizes: list[int]) -> list[Receipt]:
    """Send rows in batches of these sizes, over and over, and return the receipts."""
    futures, first = [], 0
    while first < len(x):
        size = sizes[len(futures) % len(sizes)]
        futures.append(learner.submit(listed(x[first : first + size], y[first : first + size])))
        first += size
    return [future.result(10) for future in futures]


def stored_bits(model: Any, folder: Path) -> dict[str, bytes]:
    save(model, folder / "model.adaline")
    return bits(folder / "model.adaline")


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.usefixtures("small_blocks")
def test_batches_and_restarts_change_no_bit(name: str, tmp_path: Path) -> None:
    model, x, y = begun(name)
    x, y = x[:160], y[:160]
    before = stored_bits(model, tmp_path)
    found = []
    for k, sizes in enumerate(([160], [1, 7, 50])):
        with Learner(model, tmp_path / str(k), snapshot_rows=100) as learner:
            receipts = sent(learner, x, y, sizes)
            found.append(stored_bits(learner.latest(), tmp_path))
        assert sum(one.learned for one in receipts) == len(x)
        assert receipts[-1].rows_seen == FIRST + len(x)
        with Learner(model, tmp_path / str(k)) as learner:  # from the last snapshot and the journal
            assert learner.rows_seen == FIRST + len(x)
            found.append(stored_bits(learner.current, tmp_path))
    assert all(one == found[0] for one in found)
    assert stored_bits(model, tmp_path) == before  # the model given is as it was


@pytest.mark.parametrize("name", MODELS)
def test_what_is_learned_is_what_partial_fit_learns(name: str) -> None:
    model, x, y = begun(name)
    x, y = x[:100], y[:100]
    with Learner(model) as learner:
        sent(learner, x, y, [1, 20, 3])
        found = learner.latest()
    told = model.partial_fit(x, y)
    assert np.array_equal(found.predict(x), told.predict(x))
    for weights in ("coef_", "intercept_"):
        if hasattr(told, weights):
            assert np.array_equal(getattr(found, weights), getattr(told, weights))


@pytest.mark.usefixtures("small_blocks")
def test_scans_over_several_blocks_have_the_bits_of_one_call() -> None:
    for name in ("LMS", "Adaline", "Perceptron", "LogisticRegression", "KeslerPerceptron", "Pocket", "AdaptiveFilter"):
        model, x, y = begun(name)
        with Learner(model) as learner:
            sent(learner, x, y, [1, 20, 3])
            found = learner.latest()
        assert np.array_equal(found.coef_, model.partial_fit(x, y).coef_), name


def test_rows_without_names_and_repeated_keys_learn_once(tmp_path: Path) -> None:
    model, x, y = begun("LMS")
    rows = listed(x[:10], y[:10])
    with Learner(model, tmp_path) as learner:
        both = [learner.submit(rows, key="one"), learner.submit(rows, key="one")]  # perhaps in one commit
        assert [one.result().repeated for one in both] == [False, True]
        assert both[1].result().learned == 10
        assert learner.submit(listed(x[10:12], y[10:12]), key="two").result() == Receipt(2, FIRST + 12)
    with Learner(model, tmp_path) as learner:
        assert learner.submit(rows, key="one").result() == Receipt(10, FIRST + 12, True)
        assert learner.rows_seen == FIRST + 12
    with Learner(model) as learner:  # nothing on disk
        assert [learner.submit(rows, key="one").result().repeated for _ in range(2)] == [False, True]


def test_what_cannot_be_learned_is_refused_whole_and_never_journalled(tmp_path: Path) -> None:
    model, x, y = begun("LogisticRegression")
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
    model, x, y = begun("LMS")
    go_on = threading.Event()

    with Learner(model, queue_rows=50) as learner:
        learn = learner._learn

        def slowly(*given: Any) -> None:
            go_on.wait(10)
            learn(*given)

        monkeypatch.setattr(learner, "_learn", slowly)
        futures = [learner.submit(listed(x[k : k + 20], y[k : k + 20])) for k in (0, 20)]
        futures.append(learner.submit(listed(x[40:45], y[40:45])))
        with pytest.raises(Busy) as caught:
            learner.submit(listed(x[45:], y[45:]))
        assert caught.value.retry_after > 0
        go_on.set()
        assert [one.result(10).learned for one in futures] == [20, 20, 5]
        assert learner.waiting == 0


def test_a_full_disk_refuses_rows_and_predictions_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, x, y = begun("LMS")
    with Learner(model, tmp_path) as learner:
        learner.submit(listed(x[:5], y[:5])).result()

        def refuse(*_: Any) -> None:
            raise JournalFull("there is no room")

        with monkeypatch.context() as patched:
            patched.setattr(learner._journal, "append", refuse)
            with pytest.raises(JournalFull):
                learner.submit(listed(x[5:9], y[5:9]), key="k").result()
            assert learner.full
            assert learner.current.predict(x[:2]).shape == (2,)
        assert learner.submit(listed(x[5:9], y[5:9]), key="k").result() == Receipt(4, FIRST + 9)
        assert not learner.full


def test_a_full_disk_has_room_again_once_the_refused_rows_fit(tmp_path: Path) -> None:
    model, x, y = begun("LMS")
    with Learner(model, tmp_path) as learner:
        learner.submit(listed(x[:1], y[:1])).result()
        base = learner._journal._base  # type: ignore[union-attr]
        base.execute(f"PRAGMA max_page_count = {base.execute('PRAGMA page_count').fetchone()[0] + 5}")
        many = listed(x[:1], y[:1]) * 10_000
        for _ in range(2):
            with pytest.raises(JournalFull):
                learner.submit(many).result()
            learner.trouble()
            learner.latest()  # after the disk was tried
            assert isinstance(learner.trouble(), JournalFull)
        learner.submit(listed(x[:1], y[:1])).result()
        with pytest.raises(JournalFull):
            learner.submit(many).result()
        base.execute("PRAGMA max_page_count = 100000")
        learner.trouble()
        learner.latest()
        assert learner.trouble() is None
        assert learner.submit(many).result().learned == 10_000


def test_models_for_predictions_are_never_changed_in_place() -> None:
    model, x, y = begun("LMS")
    with Learner(model) as learner:
        seen = []
        for k in range(0, 100, 10):
            learner.submit(listed(x[k : k + 10], y[k : k + 10])).result()
            seen.append((now := learner.latest(), now.coef_))
        assert all(np.array_equal(one.coef_, coef) for one, coef in seen)
        assert len({coef.tobytes() for _, coef in seen}) == 10


def test_systems_in_closed_form_are_solved_at_most_so_often() -> None:
    model, x, y = begun("Ridge")
    with Learner(model, solve_seconds=3600.0) as learner:
        first = learner.submit(listed(x[:10], y[:10])).result
        assert first().learned == 10
        found = learner.latest()
        learner.submit(listed(x[10:20], y[10:20])).result()
        assert learner.current is found
        assert learner.latest() is not found
    assert np.array_equal(learner.current.coef_, learner.latest().coef_)  # after the end


def test_progressive_errors_are_of_rows_before_they_are_learned(tmp_path: Path) -> None:
    x, y = rows_for(LMS(), 60)
    model = LMS().fit(x[:FIRST], y[:FIRST])
    errors, told = [], LMS().fit(x[:FIRST], y[:FIRST])
    with Learner(model, tmp_path) as learner:
        for row, target in zip(x[FIRST:], y[FIRST:], strict=True):
            learner.submit(listed(row[None], target[None])).result()
            learner.latest()  # no row is learned later than the next is predicted
            errors.append((told.predict_one(row) - target) ** 2)
            told.learn_one(row, target)
        assert learner.progressive.rows == 60
        assert learner.progressive.mean == pytest.approx(np.mean(errors), rel=1e-12)
        weights = np.exp(np.arange(60) / module.RECENT)
        assert learner.progressive.recent == pytest.approx(np.average(errors, weights=weights), rel=1e-12)
    with Learner(model, tmp_path) as learner:
        assert learner.progressive.mean == pytest.approx(np.mean(errors), rel=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_progressive_losses_are_those_of_the_system_itself(name: str, tmp_path: Path) -> None:
    model, x, y = begun(name)
    with Learner(model, tmp_path) as learner:
        learner.submit(listed(x[:60], y[:60])).result(10)  # all of them are predicted by the model as it was given
        found = learner.progressive
    predicted = model.predict(x[:60])
    if is_regressor(model):
        assert found.mean == found.loss == pytest.approx(mean_squared_error(y[:60], predicted), rel=1e-12)
        assert found.recent_loss == pytest.approx(found.loss, rel=1e-12)
    else:
        assert found.mean == pytest.approx(zero_one_loss(y[:60], predicted), rel=1e-12)
        if hasattr(model, "predict_proba"):
            expected = log_loss(y[:60], model.predict_proba(x[:60]), labels=model.classes_)
            assert found.loss == pytest.approx(expected, rel=1e-9)
        else:
            assert np.isnan([found.loss, found.recent_loss]).all()
    with Learner(model, tmp_path) as learner:
        assert str(learner.progressive) == str(found)


def test_challengers_learn_the_same_rows_and_can_be_promoted(tmp_path: Path) -> None:
    model, x, y = begun("LMS")
    other = Ridge(penalty=1e6).fit(x[:20], y[:20])
    with Learner(model, tmp_path, challengers={"flat": other}) as learner:
        sent(learner, x[:200], y[:200], [13])
        scores = learner.scores()
        assert {name: score.rows for name, score in scores.items()} == {"champion": 200, "flat": 200}
        assert scores["champion"].mean < scores["flat"].mean
        learner.promote("flat")
        assert isinstance(learner.current, Ridge)
        assert isinstance(learner.challenger("flat"), LMS)
        assert learner.scores()["flat"] == scores["champion"]
        sent(learner, x[200:], y[200:], [13])
        last = learner.latest()
        with pytest.raises(InvalidParameter, match="there are: flat"):
            learner.promote("steep")
    with Learner(model, tmp_path, challengers={"flat": other}) as learner:
        assert np.array_equal(learner.current.coef_, last.coef_)
        assert np.array_equal(learner.challenger("flat").coef_, model.partial_fit(x, y).coef_)
    assert np.allclose(last.coef_, other.partial_fit(x, y).coef_, rtol=1e-12)


def test_a_new_version_and_a_rollback_outlive_a_restart(tmp_path: Path) -> None:
    model, x, y = begun("LMS")
    other = LMS(rate=0.001).fit(x[:20], y[:20])
    with Learner(model, tmp_path) as learner:
        sent(learner, x[:100], y[:100], [10])
        first = learner.snapshots()[0]
        assert learner.replace(other) is not None
        sent(learner, x[100:200], y[100:200], [10])
        told = learner.latest()
    with Learner(model, tmp_path) as learner:
        assert np.array_equal(learner.current.coef_, told.coef_)
        assert np.array_equal(told.coef_, other.partial_fit(x[100:200], y[100:200]).coef_)
        learner.rollback(first)
        assert np.array_equal(learner.current.coef_, model.coef_)
        sent(learner, x[200:], y[200:], [10])
        with pytest.raises(InvalidParameter, match="no snapshot 99"):
            learner.rollback(99)
    with Learner(other, tmp_path) as learner:
        assert np.array_equal(learner.current.coef_, model.partial_fit(x[200:], y[200:]).coef_)


def test_a_damaged_snapshot_falls_back_to_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SCANNED", 32)
    model, x, y = begun("LMS")
    with Learner(model, tmp_path, snapshot_rows=50) as learner:
        for k in range(0, 300, 25):
            learner.submit(listed(x[k : k + 25], y[k : k + 25])).result()
        told, there = learner.latest(), learner.snapshots()
    assert len(there) > 2
    files = sorted((tmp_path / "snapshots" / "champion").iterdir())
    files[-1].write_bytes(files[-1].read_bytes()[:-10])
    files[-2].write_bytes(b"")
    with Learner(model, tmp_path) as learner:
        assert np.array_equal(learner.current.coef_, told.coef_)
        assert learner.rows_seen == FIRST + len(x)
        assert "2 snapshots of champion cannot be read" in learner.notes[0]
        assert learner.snapshots()[-1].number > there[-1].number  # another one is there at once
        assert np.array_equal(learner.snapshots()[-1].load().coef_, model.partial_fit(x[:288], y[:288]).coef_)
    for file in (tmp_path / "snapshots" / "champion").iterdir():
        file.write_bytes(b"")
    with pytest.raises(JournalError, match="no snapshot of the model can be read"):
        Learner(model, tmp_path)


def test_two_writers_are_refused_and_a_closed_learner_takes_no_rows(tmp_path: Path) -> None:
    model, x, y = begun("LMS")
    with Learner(model, tmp_path) as learner:
        with pytest.raises(JournalError, match="another process"):
            Learner(model, tmp_path)
        future: Future[Receipt] = learner.submit(listed(x, y))
    assert future.result(0).learned == len(x)  # closing learns what waits
    with pytest.raises(JournalError, match="closed"):
        learner.submit(listed(x, y))


def test_models_that_cannot_go_on_are_refused_before_the_first_row() -> None:
    x, y = rows_for(LMS())
    for model in (GeneralizedLinear().fit(x, y), LogisticRegression(penalty=1.0).fit(x, y > 0)):
        with pytest.raises(InvalidParameter, match="cannot continue"):
            Learner(model)
    wide = LinearRegression().fit(np.random.default_rng(0).normal(size=(20, 600)), y[:20])
    with pytest.raises(ValueError, match="wide data"):
        Learner(wide)
    with pytest.raises(InvalidParameter, match="one target"):
        Learner(LMS().fit(x, y), challengers={"two": LMS().fit(x, np.column_stack([y, y]))})


@pytest.mark.usefixtures("small_blocks")
def test_a_model_that_fails_ends_learning_until_another_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    other, x, y = begun("LMS")
    model = Ridge(penalty=1.0).fit(x, y)
    learned = module.learned

    def refuse(model: Any, rows: DecodedRows) -> Any:
        if isinstance(model, Ridge):
            raise InvalidParameter("no")
        return learned(model, rows)

    with Learner(model) as learner:
        monkeypatch.setattr(module, "learned", refuse)
        assert learner.submit(listed(x[:10], y[:10])).result(10).learned == 10  # only `current` cannot be made
        assert learner.latest() is model
        assert "no" in learner.notes
        for _ in range(2):
            with pytest.raises(InvalidParameter, match="no"):
                learner.submit(listed(x, y)).result(10)
        assert isinstance(learner.failed, InvalidParameter)
        assert np.array_equal(learner.latest().coef_, model.coef_)
        assert learner.waiting == 0
        learner.replace(other)
        assert learner.submit(listed(x, y)).result(10).learned == len(x)
        assert np.allclose(learner.latest().coef_, other.partial_fit(x, y).coef_, rtol=1e-12)
    monkeypatch.setattr(module, "learned", learned)
    with Learner(other, challengers={"sums": model}) as learner:
        monkeypatch.setattr(module, "learned", refuse)
        assert learner.submit(listed(x, y)).result(10).learned == len(x)
        assert list(learner.scores()) == ["champion"]  # a challenger that fails is left out
        assert "'sums' was left out: no" in learner.notes[0]


def test_a_fault_of_ours_answers_those_who_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    model, x, y = begun("LMS")

    def fail(*_: Any) -> None:
        raise RuntimeError("a fault")

    with Learner(model) as learner:
        monkeypatch.setattr(learner, "_learn", fail)
        with pytest.raises(JournalError, match="a fault"):
            learner.submit(listed(x, y)).result(10)
        with pytest.raises(JournalError):
            learner.submit(listed(x, y)).result(10)
        assert learner.latest() is learner.current


def test_many_threads_send_at_once_and_order_is_that_of_the_journal(tmp_path: Path) -> None:
    model, x, y = begun("LMS")
    seen: list[int] = []

    def send(first: int) -> None:
        for k in range(first, first + 60):
            seen.append(learner.submit(listed(x[k : k + 1], y[k : k + 1])).result().rows_seen)

    with Learner(model, tmp_path) as learner:
        threads = [threading.Thread(target=send, args=(first,)) for first in range(0, 300, 60)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = learner.latest()
        assert learner.rows_seen == max(seen) == FIRST + 300
        assert learner._journal is not None
        rows = [row for batch in learner._journal.since(0) for row in batch.rows.to_pylist()]
    order = np.array([[row["x0"], row["x1"], row["x2"], row["y"]] for row in rows])
    assert len({row.tobytes() for row in order}) == 300
    assert np.array_equal(found.coef_, model.partial_fit(order[:, :3], order[:, 3]).coef_)


def test_a_row_that_a_model_would_diverge_by_is_refused_and_others_are_learned(tmp_path: Path) -> None:
    _, x, y = begun("LMS")
    model = LMS(rate=0.01).fit(x[:50], y[:50])
    with Learner(model, tmp_path) as learner:
        futures = [learner.submit(listed(x[50:60], y[50:60])), learner.submit([[1e6, 1e6, 1e6, 1.0]], key="far")]
        futures.append(learner.submit(listed(x[60:], y[60:])))
        with pytest.raises(BadRows, match="diverges"):
            futures[1].result(10)
        assert [futures[k].result(10).learned for k in (0, 2)] == [10, len(x) - 60]
        assert np.array_equal(
            learner.latest().coef_, LMS(rate=0.01).fit(x[:50], y[:50]).partial_fit(x[50:], y[50:]).coef_
        )
        assert learner.submit(listed(x[:1], y[:1]), key="far").result(10).learned == 1


def test_a_restart_leaves_out_what_a_challenger_cannot_learn_and_serves_a_champion_that_fails(tmp_path: Path) -> None:
    _, x, y = begun("LMS")
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1]})
    one, two = LMS().fit(frame[["a"]], y), LMS().fit(frame, y)
    with Learner(one, tmp_path, challengers={"two": two}) as learner:
        learner.submit([{"a": 1.0, "b": 2.0, "y": 3.0}]).result(10)
    with Learner(one, tmp_path) as learner:
        learner.submit([{"a": 1.0, "y": 3.0}]).result(10)
    with Learner(one, tmp_path, challengers={"two": two}) as learner:
        assert "'two' starts again" in learner.notes[-1]
        assert learner.submit([{"a": 1.0, "b": 2.0, "y": 3.0}]).result(10).learned == 1
        told = learner.challenger("two"), learner.latest()
    with Learner(one, tmp_path, challengers={"two": two}) as learner:
        assert np.array_equal(
            learner.challenger("two").coef_, two.partial_fit(frame[:0].assign(a=[1.0], b=[2.0]), [3.0]).coef_
        )
        assert np.array_equal(learner.current.coef_, told[1].coef_)
    with Journal(tmp_path, writes=True) as journal:
        journal.append([(None, pa.record_batch({"c": [1.0]}))])
    with Learner(one, tmp_path) as learner:
        assert np.array_equal(learner.current.coef_, told[1].coef_)
        with pytest.raises(JournalError, match="cannot be learned"):
            learner.submit([{"a": 1.0, "y": 3.0}])
        learner.replace(one)
        learner.submit([{"a": 1.0, "y": 3.0}]).result(10)
        last = learner.latest().coef_
    with Learner(one, tmp_path) as learner:
        assert np.array_equal(learner.current.coef_, last)


def test_no_restart_goes_back_behind_a_new_version(tmp_path: Path) -> None:
    model, x, y = begun("LMS")
    with Learner(model, tmp_path) as learner:
        learner.submit(listed(x[:10], y[:10])).result(10)
        made = learner.replace(LMS().fit(x[:20], y[:20] + 100.0))
        assert made is not None
    made.path.write_bytes(b"")
    with pytest.raises(JournalError, match="no snapshot of the model can be read"):
        Learner(model, tmp_path)


def test_models_change_places_both_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, x, y = begun("LMS")
    other = Ridge(penalty=1.0).fit(x[:20], y[:20])
    with Learner(model, tmp_path, challengers={"sums": other}) as learner:
        learner.submit(listed(x[:10], y[:10])).result(10)

        def refuse(*_: Any) -> None:
            raise ModelFileError("there is no room")

        monkeypatch.setattr(learner._models["sums"].folder, "prepare", refuse)
        with pytest.raises(ModelFileError):
            learner.promote("sums")
        assert isinstance(learner.current, LMS)
    with Learner(model, tmp_path, challengers={"sums": other}) as learner:
        assert isinstance(learner.current, LMS)
        assert isinstance(learner.challenger("sums"), Ridge)


def test_errors_that_overflow_leave_means_finite_and_learning_goes_on(tmp_path: Path) -> None:
    _, x, y = begun("LMS")
    model = Ridge(penalty=1.0).fit(x, y * 1e90)
    with Learner(model, tmp_path) as learner:
        learner.submit([[1e99, 1e99, 1e99, 1.0]]).result(10)
        assert np.isfinite([learner.progressive.mean, learner.progressive.recent]).all()
        for k in range(3):
            assert learner.submit(listed(x[k : k + 1], y[k : k + 1])).result(10).learned == 1


def test_a_key_stands_for_its_rows(tmp_path: Path) -> None:
    model, x, y = begun("LMS")
    for folder in (tmp_path, None):
        with Learner(model, folder) as learner:
            learner.submit(listed(x[:2], y[:2]), key="one").result(10)
            with pytest.raises(BadRows, match="other rows"):
                learner.submit(listed(x[2:4], y[2:4]), key="one").result(10)
            named = [{"x0": a, "x1": b, "x2": c, "y": t} for a, b, c, t in listed(x[:2], y[:2])]
            for same in (named, pa.Table.from_pylist(named)):
                assert learner.submit(same, key="one").result(10).repeated
            for wrong in (17, "\ud800"):
                with pytest.raises(InvalidParameter, match="a key is"):
                    learner.submit(listed(x[:2], y[:2]), key=wrong)  # type: ignore[arg-type]
            assert learner.submit(listed(x[:2], y[:2])).result(10).learned == 2


def test_predictions_have_every_row_that_was_acknowledged_and_histories_stay_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "SCANNED", 32)
    model, x, y = begun("LMS")
    with Learner(model) as learner:
        for k in range(200):
            learner.submit(listed(x[k : k + 1], y[k : k + 1])).result(10)
            if k % 40 == 7:
                told = clone(MODELS["LMS"]).fit(*(part[:FIRST] for part in rows_for(model)))
                assert np.array_equal(learner.current.coef_, told.partial_fit(x[: k + 1], y[: k + 1]).coef_)
        assert len(learner.current.history_) < len(model.history_) + 32 + 200 / 32
