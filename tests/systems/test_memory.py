"""Of streamed rows nothing is held: what a fit takes of memory does not grow with their number."""

from __future__ import annotations

import tracemalloc
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pytest

import adaline
from adaline import KMeans, LinearRegression, LogisticRegression, RobustRegression, open_table
from adaline.errors import InvalidData, InvalidParameter, MissingValues
from adaline.estimator import RegressorMixin
from adaline.input import first_pass
from adaline.solvers.clusters import starts
from adaline.solvers.smooth import choose, problem
from adaline.sources import totals
from adaline.sources.tables import batches, coded_table
from adaline.sources.tables import source as table_module
from adaline.state import attributes_of
from adaline.sums import ranks
from adaline.systems import SYSTEMS, UNSUPERVISED, OnlineSystem

FEWER, MORE, BLOCK = 20_000, 60_000, 2048
GROWTH = 2.0  # bytes a row: a quarter of one number

HOLDS = {
    "WienerFilter": "a recording is a signal in memory",
    "AdaptiveFilter": "a recording is a signal in memory",
}
"""Systems that hold something of each row, with the reason."""

SETTINGS: list[Any] = [
    *(
        pytest.param(name, {}, marks=() if name in ("LinearRegression", "LogisticRegression") else pytest.mark.night)
        for name in SYSTEMS | UNSUPERVISED
        if name not in HOLDS
    ),
    *(
        pytest.param(name, settings, marks=pytest.mark.night)
        for name, settings in (
            ("LinearRegression", {"weights": "precision"}),
            ("RobustRegression", {"loss": "tukey"}),
            ("RobustRegression", {"scale": "huber"}),
            ("LogisticRegression", {"class_weight": "balanced"}),
            ("KMeans", {"init": "random", "n_init": 1}),
            ("GaussianMixture", {"n_components": 2}),
        )
    ),
]


@pytest.fixture(autouse=True)
def streaming(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let no table be held in memory, not even decoded, blocks and samples be small, and one thread read them."""
    monkeypatch.setattr(batches, "free_memory", lambda: 0.0)
    monkeypatch.setattr(table_module, "KEPT", 0)
    monkeypatch.setattr(coded_table, "block_rows", lambda features: BLOCK)
    for module, name in (
        (choose, "LEAST_SAMPLE_ROWS"),
        (problem, "TYPICAL_ROWS"),
        (starts, "SAMPLE"),
        (ranks, "MOST_CELLS"),
    ):
        monkeypatch.setattr(module, name, 128)
    adaline.set_threads(1)
    yield
    adaline.set_threads(None)


def table(folder: Path, rows: int) -> pd.DataFrame:
    """Return rows of numbers, labels, weights and groups, also written to t.parquet."""
    frame, content = drawn(rows)
    (folder / "t.parquet").write_bytes(content)
    return frame.copy()


@cache
def drawn(rows: int) -> tuple[pd.DataFrame, bytes]:
    """Return a table, and its file."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 3)) + 6.0 * rng.integers(0, 2, rows)[:, None]
    noise = rng.standard_t(2, size=rows)
    frame = pd.DataFrame(x, columns=["a", "b", "c"]).assign(amount=x @ [1.0, -2.0, 0.5] + noise)
    frame["label"] = np.where(x[:, 0] + noise > 3.0, "yes", "no")
    frame["times"] = rng.integers(1, 3, rows).astype(float)
    frame["group"], frame["place"] = rng.integers(0, 9, rows), rng.choice(["here", "there", "far"], rows)
    return frame, frame.to_parquet(row_group_size=BLOCK)


def opened(folder: Path, **options: Any) -> Any:
    """Open t.parquet with the amount as target and two columns, unless told."""
    return open_table(folder / "t.parquet", **{"target": "amount", "features": ["a", "b"], **options})


def peak_of(cls: type[Any], settings: dict[str, Any], folder: Path) -> int:
    """Return the most bytes in use while a system is fitted to a stream and scored on it."""
    target = None if cls.__name__ in UNSUPERVISED else "amount" if issubclass(cls, RegressorMixin) else "label"
    source = opened(folder, target=target, features=["a", "b", "c"], weight="times", progress=False)
    model = cls(**({"epochs": 2} if issubclass(cls, OnlineSystem) else {}), **settings)
    before = pyarrow.total_allocated_bytes()
    tracemalloc.start()
    try:
        model.fit(source).score(source)
        assert source.streamed
        held = pyarrow.total_allocated_bytes() - before  # of Arrow's own pool, which is not traced
        return tracemalloc.get_traced_memory()[1] + held
    finally:
        tracemalloc.stop()


@pytest.mark.every
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "settings"), SETTINGS)
def test_memory_does_not_grow_with_streamed_rows(name: str, settings: dict[str, Any], tmp_path: Path) -> None:
    peaks = []
    for rows in (1000, FEWER, MORE):  # the first for what is imported and cached
        table(tmp_path, rows)
        peaks.append(peak_of((SYSTEMS | UNSUPERVISED)[name], settings, tmp_path))
    assert peaks[2] - peaks[1] < GROWTH * (MORE - FEWER), f"{name}({settings}): {peaks}"


@pytest.mark.parametrize(
    "settings", [{}, {"loss": "tukey"}, {"scale": "huber"}, {"scale": 1.5, "penalty": 2.0}], ids=str
)
@pytest.mark.parametrize("weight", [None, "times"])
def test_m_estimates_of_streams_are_those_of_memory(
    settings: dict[str, Any], weight: str | None, tmp_path: Path
) -> None:
    frame = table(tmp_path, 3000)
    source = opened(tmp_path, features=["a", "b", "c"], weight=weight)
    found = RobustRegression(**settings).fit(source)
    held = RobustRegression(**settings).fit(
        frame[["a", "b", "c"]], frame["amount"], None if weight is None else frame[weight]
    )
    assert source.streamed
    np.testing.assert_allclose([*found.coef_, found.intercept_], [*held.coef_, held.intercept_], rtol=1e-9)
    assert found.scale_ == pytest.approx(held.scale_, rel=1e-9)
    mine, theirs = found.summary().to_dict(), held.summary().to_dict()
    assert mine["beyond"] == theirs["beyond"]
    assert mine["rows"] == theirs["rows"]
    for one, other in zip(mine["coefficients"], theirs["coefficients"], strict=True):
        assert one["std_error"] == pytest.approx(other["std_error"], rel=1e-8, nan_ok=True)


def test_learned_functions_of_streams_are_those_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table(tmp_path, 9000)
    found = []
    for kept in (0, 2**23):
        monkeypatch.setattr(table_module, "KEPT", kept)
        source = open_table(tmp_path / "t.parquet", formula="amount ~ poly(b, 2) + ns(a, df=3)")
        found.append(LinearRegression().fit(source).coef_)
        assert source.streamed == (kept == 0)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


def test_huber_scales_leave_out_the_farthest_outliers(tmp_path: Path) -> None:
    frame = table(tmp_path, 3000)
    expected = RobustRegression(scale="huber").fit(frame[["a", "b"]], frame["amount"].where(frame.index > 1, 1e9))
    frame.loc[[0, 1], "amount"] = 1e165, 1e170
    frame.to_parquet(tmp_path / "t.parquet")
    source = opened(tmp_path)
    for given in ((source,), (frame[["a", "b"]], frame["amount"])):
        found = RobustRegression(scale="huber").fit(*given)
        assert found.scale_ == pytest.approx(expected.scale_, rel=1e-6)
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6)


def test_what_is_held_of_a_stream_is_a_share_of_the_memory_also_of_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = table(tmp_path, 9000).assign(place="a long name of a place that takes 50 bytes or more " * 2)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=1000)
    monkeypatch.setattr(batches, "free_memory", lambda: 4.0 * 250_000)
    relation = open_table(tmp_path / "t.parquet").relation
    for _ in range(3):
        rows = [n for n, run in relation.runs(["place"], "TRUE", 512) for _ in run()]
        assert sum(rows) == 9000
    held = relation._decoded._held
    assert 0 < sum(one.nbytes for one in held.tables.values()) <= 250_000


def test_an_outlier_beyond_the_sample_and_one_that_is_not_finite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = table(tmp_path, 5000)
    frame.loc[4321, "amount"] = 1e300
    frame.to_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(first_pass, "SAMPLE", 1000)
    for loss in ("huber", "tukey"):
        found = RobustRegression(loss=loss).fit(opened(tmp_path))
        held = RobustRegression(loss=loss).fit(frame[["a", "b"]], frame["amount"])
        np.testing.assert_allclose(found.coef_, held.coef_, rtol=1e-6)
    frame.loc[4321, "amount"] = np.inf
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InvalidData, match="infinity: first at row 4321"):
        RobustRegression().fit(opened(tmp_path))


def test_labels_of_streamed_rows_are_found_when_asked_for(tmp_path: Path) -> None:
    import pickle

    frame = table(tmp_path, 3000)
    source = opened(tmp_path, target=None, features=["a", "b", "c"])
    start = np.array([[0.0] * 3, [3.0] * 3, [6.0] * 3])
    model = KMeans(n_clusters=3, init=start).fit(source)
    assert "labels_" not in attributes_of(model)
    again = pickle.loads(pickle.dumps(model))
    with pytest.raises(AttributeError, match=r"predict\(X\) gives them"):
        _ = again.labels_
    held = KMeans(n_clusters=3, init=start).fit(frame[["a", "b", "c"]])
    np.testing.assert_array_equal(model.labels_, held.labels_)
    np.testing.assert_array_equal(again.predict(source), held.labels_)
    assert model.inertia_ == pytest.approx(held.inertia_, rel=1e-12)
    assert model.score(source) == pytest.approx(-held.inertia_, rel=1e-12)
    assert not hasattr(KMeans(), "labels_")
    states: list[Any] = [model._state, model.fit(frame[["a", "b", "c"]])._state]
    assert [state.streamed is None for state in states] == [False, True]  # of rows in memory none are kept


@pytest.mark.parametrize("group", ["group", "place"])
def test_groups_may_be_a_column_of_the_table(group: str, tmp_path: Path) -> None:
    frame = table(tmp_path, 5000)
    for system, target in ((LinearRegression(), "amount"), (LogisticRegression(), "label")):
        for basis in (None, adaline.basis.Polynomial(degree=2)):
            source = opened(tmp_path, target=target)
            model = adaline.estimator.clone(system).set_params(basis=basis).fit(source)
            by_name, by_label = (
                model.summary(errors="cluster", X=source, groups=groups).to_dict()["coefficients"]
                for groups in (group, frame[group].to_numpy())
            )
            for mine, theirs in zip(by_name, by_label, strict=True):
                assert mine["std_error"] == pytest.approx(theirs["std_error"], rel=1e-10)


def test_groups_that_are_no_column_or_have_gaps_are_refused(tmp_path: Path) -> None:
    frame = table(tmp_path, 300)
    frame["id"] = 2**53 + frame["group"]
    frame["gaps"], frame["holes"] = frame["place"].where(frame.index != 7), frame["a"].where(frame.index != 7)
    frame.to_parquet(tmp_path / "t.parquet")
    source = opened(tmp_path)
    model = LinearRegression().fit(source)
    for gaps in ("gaps", "holes"):
        with pytest.raises(MissingValues, match=f"column '{gaps}'"):
            model.summary(errors="cluster", X=source, groups=gaps)
    with pytest.raises(InvalidData, match=r"column 'id' has groups of 2\^53 or more"):
        model.summary(errors="cluster", X=source, groups="id")
    with pytest.raises(InvalidParameter, match=r"groups: .* has no column 'plce'. Did you mean 'place'"):
        model.summary(errors="cluster", X=source, groups="plce")
    with pytest.raises(InvalidParameter, match="names a column, and X is no table"):
        model.summary(errors="cluster", X=frame[["a", "b"]], y=frame["amount"], groups="place")


def test_what_holds_numbers_of_each_row_is_refused_beyond_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(tmp_path, 300)
    monkeypatch.setattr(totals, "MOST_ROWS", 200)
    source = opened(tmp_path)
    for loss in ("absolute", "quantile"):
        with pytest.raises(
            InvalidData, match=rf"300 streamed rows: loss='{loss}' .* limited to 200 rows. Draw a sample"
        ):
            RobustRegression(loss=loss).fit(source)
    model = LinearRegression().fit(source)
    with pytest.raises(InvalidData, match=r"300 streamed rows: errors='HAC' .* limited to 200 rows. Use errors='HC3'"):
        model.summary(errors="HAC", X=source)


def test_scores_of_two_streamed_targets_are_those_of_memory(tmp_path: Path) -> None:
    frame, source = table(tmp_path, 3000), opened(tmp_path, target=["amount", "b"], features=["a", "c"], weight="times")
    model = LinearRegression().fit(source)
    expected = model.score(frame[["a", "c"]], frame[["amount", "b"]].to_numpy(), frame["times"].to_numpy())
    assert model.score(source) == pytest.approx(expected, rel=1e-12)
