"""Several threads may learn into one model, and read it meanwhile: no row is lost, every reader sees a whole model."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from adaline import LMS, Perceptron, Ridge, load, save
from adaline.arrays import Array
from adaline.basis import Custom
from adaline.locks import _model_locks, lock_of
from adaline.results import Status
from adaline.systems import SYSTEMS

THREADS, CHUNKS, ROWS, COLUMNS = 4, 12, 10, 3

SETTINGS: dict[str, dict[str, Any]] = {"SigmoidPerceptron": {"rate": 0.01}, "Adaline": {"rate": 0.001}}
GOING_ON = [name for name, cls in SYSTEMS.items() if hasattr(cls(), "partial_fit")]
BY_ROWS = [name for name in GOING_ON if hasattr(SYSTEMS[name], "learn_one")]
BY_SUMS = [name for name in GOING_ON if hasattr(SYSTEMS[name], "forget")]


@pytest.fixture(autouse=True)
def _many_switches() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def make(name: str) -> Any:
    """Return a new system of the registry."""
    return SYSTEMS[name](**SETTINGS.get(name, {}))


def rows(name: str, chunks: int, seed: int = 0, columns: int = COLUMNS) -> list[tuple[Array, Any]]:
    """Return chunks of rows and targets, or labels of two classes, both of them in each chunk."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(chunks, ROWS, columns))
    y = X @ rng.normal(size=columns) + 0.3 * rng.normal(size=(chunks, ROWS))
    if is_classifier(make(name)):
        y = (y > np.median(y, axis=1, keepdims=True)).astype(int)
    return list(zip(X, y, strict=True))


def single(chunks: list[tuple[Array, Any]]) -> list[tuple[Array, Any]]:
    """Return the rows of chunks one by one."""
    return [(x, t) for chunk in chunks for x, t in zip(*chunk, strict=True)]


def each(method: Callable[..., Any], arguments: list[Any]) -> Callable[[], None]:
    """Return a function that calls a method with one tuple of arguments after the other."""

    def work() -> None:
        for given in arguments:
            method(*given)

    return work


def together(*works: Callable[[], None]) -> None:
    """Run functions in threads of their own, to their end; raise what any of them raised."""
    errors: list[BaseException] = []
    start = threading.Barrier(len(works))

    def run(work: Callable[[], None]) -> None:
        start.wait()
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def found_meanwhile(learn: Callable[[], None], *reads: Callable[[], Any], most: int = 10**9) -> list[Any]:
    """Return what the functions of other threads gave, again and again, while one learned."""
    found: list[Any] = []
    ended = threading.Event()

    def learning() -> None:
        try:
            learn()
        finally:
            ended.set()

    def reading(read: Callable[[], Any]) -> None:
        while not ended.is_set() and len(found) < most:
            found.append(read())

    together(learning, *(lambda read=read: reading(read) for read in reads))
    return found


def count(model: Any) -> float:
    """Return how many rows a model has learned from."""
    if hasattr(model, "rows_seen_"):
        return float(model.rows_seen_)
    sums = model._recording.total if hasattr(model, "_recording") else model._sums
    return float(sums.rows)


def state(model: Any, X: Array) -> bytes:
    """Return the predictions, bit by bit."""
    predict = getattr(model, "decision_function", model.predict)
    return np.asarray(predict(X)).tobytes()


@pytest.mark.parametrize("name", GOING_ON)
def test_chunks_of_several_threads_are_all_learned(name: str) -> None:
    first, *chunks = rows(name, 1 + THREADS * CHUNKS)
    model = make(name).partial_fit(*first)
    together(*(each(model.partial_fit, chunks[k::THREADS]) for k in range(THREADS)))
    assert count(model) == ROWS * (1 + len(chunks))
    if name in BY_SUMS:
        alone = make(name)
        each(alone.partial_fit, [first, *chunks])()
        np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", BY_SUMS)
def test_several_threads_may_merge_and_forget(name: str) -> None:
    first, *chunks = rows(name, 1 + 4 * CHUNKS)
    kept, gone, merged, more = (chunks[k::4] for k in range(4))
    model, alone = make(name).partial_fit(*first), make(name)
    each(model.partial_fit, gone)()
    others = [(make(name).partial_fit(*chunk),) for chunk in merged]
    together(
        *(each(model.partial_fit, kept), each(model.forget, gone)),
        *(each(model.merge, others), each(model.partial_fit, more)),
    )
    each(alone.partial_fit, [first, *kept, *merged, *more])()
    assert count(model) == count(alone)
    np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", BY_ROWS)
def test_single_rows_of_several_threads_are_all_learned(name: str) -> None:
    first, *chunks = rows(name, 1 + THREADS * CHUNKS)
    model = make(name).partial_fit(*first)
    by_rows = (each(model.learn_one, single(chunks[k::THREADS])) for k in range(1, THREADS))
    together(each(model.partial_fit, chunks[::THREADS]), *by_rows)
    assert count(model) == ROWS * (1 + len(chunks))


@pytest.mark.parametrize("name", GOING_ON)
def test_predictions_are_those_of_some_whole_number_of_chunks(name: str) -> None:
    chunks, X = rows(name, 20), rows(name, 1, seed=1)[0][0]
    alone = make(name)
    expected = {state(alone.partial_fit(*chunk), X) for chunk in chunks}
    model = make(name).partial_fit(*chunks[0])
    found = {*found_meanwhile(each(model.partial_fit, chunks[1:]), *[lambda: state(model, X)] * 2)}
    assert found
    assert found <= expected
    assert state(model, X) == state(alone, X)


@pytest.mark.parametrize("name", BY_ROWS)
def test_predictions_and_copies_are_those_of_some_whole_number_of_rows(name: str) -> None:
    columns = 3 if name == "AdaptiveFilter" else 700
    first, *chunks = rows(name, 15, columns=columns)
    X = rows(name, 1, seed=1, columns=columns)[0][0]
    alone, model = make(name).partial_fit(*first), make(name).partial_fit(*first)
    expected = {state(alone, X), *(state(alone.learn_one(*row), X) for row in single(chunks))}
    copies: list[Callable[[], Any]] = [
        lambda: state(model, X), lambda: state(pickle.loads(pickle.dumps(model)), X),
        lambda: state(copy.deepcopy(model), X),
    ]  # fmt: skip
    found = found_meanwhile(each(model.learn_one, single(chunks)), lambda: {one() for one in copies})
    assert set().union(*found) <= expected
    assert state(model, X) == state(alone, X)


@pytest.mark.parametrize("name", BY_ROWS)
def test_a_copy_made_while_another_thread_learns_goes_on_as_the_model_did(name: str, tmp_path: Path) -> None:
    first, *chunks = rows(name, 20)
    model, stream = make(name).partial_fit(*first), single(chunks)

    def stored() -> Any:
        save(model, tmp_path / "model.adaline")
        return load(tmp_path / "model.adaline")

    reads = (lambda: (pickle.loads(pickle.dumps(model)), stored()),)
    for pair in found_meanwhile(each(model.learn_one, stream), *reads, most=15):
        for one in pair:
            each(one.learn_one, stream[int(one.rows_seen_) - ROWS :])()
            np.testing.assert_array_equal(one.coef_, model.coef_)


@pytest.mark.parametrize("name", [name for name in SYSTEMS if name not in ("WienerFilter", "AdaptiveFilter")])
def test_predictions_are_those_of_one_fit_or_the_other(name: str) -> None:
    data, X = rows(name, 2), rows(name, 1, seed=1)[0][0]
    expected = {state(make(name).fit(*one), X) for one in data}
    model = make(name).fit(*data[0])
    assert {*found_meanwhile(each(model.fit, data * 5), lambda: state(model, X))} <= expected


def test_a_model_can_be_read_while_it_learns_for_long() -> None:
    begun, read = threading.Event(), threading.Event()
    X, y = rows("LMS", 1)[0]

    class Slow(LMS):
        def _run(self, *args: Any) -> Any:
            begun.set()
            assert read.wait(30)
            return super()._run(*args)

    model = Slow(rate=0.01)
    each(model.learn_one, single([(X, y)]))()
    before = model.predict(X)
    learner = threading.Thread(target=model.partial_fit, args=(X, y))
    learner.start()
    assert begun.wait(30)
    np.testing.assert_array_equal(model.predict(X), before)
    assert model.predict_one(X[0]) == pytest.approx(before[0], rel=1e-12)
    assert (model.rows_seen_, model.certificate_.status) == (ROWS, Status.ONGOING)
    read.set()
    learner.join()
    assert model.rows_seen_ == 2 * ROWS


def test_attributes_set_while_a_model_learns_stay() -> None:
    X, y = rows("Ridge", 1)[0]

    def columns(x: Array) -> Array:
        model.note, model.penalty, model.coef_ = "x", 2.0, np.zeros_like(model.coef_)
        return x

    model = Ridge(penalty=1.0).fit(X, y)
    model.basis = Custom(columns)
    model.fit(X, y)
    assert (model.note, model.penalty) == ("x", 2.0)
    np.testing.assert_array_equal(model.coef_, Ridge(penalty=1.0).fit(X, y).coef_)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_lock_belongs_to_one_model_only(name: str) -> None:
    model = make(name).fit(*rows(name, 1)[0])
    copies = [clone(model), copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    assert lock_of(model) is lock_of(model)
    assert len({id(lock_of(one)) for one in (model, *copies)}) == 1 + len(copies)


def test_the_lock_of_a_model_ends_with_it() -> None:
    model = LMS()
    before, key = len(_model_locks), id(model)
    lock_of(model)
    assert len(_model_locks) == before + 1
    del model
    gc.collect()
    assert key not in _model_locks


def test_a_label_is_of_the_model_that_found_it() -> None:
    """Fits to two and to three classes take turns while another thread predicts."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    three, two = np.arange(60) % 3, np.where(X[:, 0] > 0, 10, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Perceptron(epochs=2).fit(X, three)
        found = found_meanwhile(each(model.fit, [(X, two), (X, three)] * 40), lambda: model.predict_one(X[0]))
    assert {*found} <= {0, 1, 2, 10, 20}


@pytest.mark.parametrize("name", ["LMS", "Perceptron"])
def test_a_fit_that_is_interrupted_at_any_line_leaves_a_model_that_learns(name: str) -> None:
    """Old or new, a model interrupted by Ctrl-C while it learns takes the rows that come after."""
    X, y = rows(name, 1)[0]
    watched = ("learning", "_learn", "_keep", "continued", "copy", "_refuse_overflow")
    for stop in range(1, 200):
        model, left = make(name).fit(X, y), stop

        def trace(frame: Any, event: str, argument: Any) -> Any:
            nonlocal left
            if frame.f_code.co_name not in watched or "adaline" not in frame.f_code.co_filename:
                return None
            left -= event == "line"
            if left == 0:
                raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            model.partial_fit(X, y)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        assert model.rows_seen_ in (ROWS, 2 * ROWS)
        for go_on in (lambda: model.learn_one(X[0], y[0]), lambda: model.partial_fit(X[:1], y[:1])):  # noqa: B023
            before, steps = model.rows_seen_, model._scan.steps
            go_on()
            assert (model.rows_seen_, model._scan.steps) == (before + 1, steps + 1), f"line {stop}"
        again = pickle.loads(pickle.dumps(model))
        assert again.learn_one(X[0], y[0]).rows_seen_ == model.rows_seen_ + 1
        if left > 0:
            break
    assert 10 < stop < 199
