"""Wide sparse rows held in memory: the same rows, sums and fits as those of the source they come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from adaline import LogisticRegression, open_table
from adaline.block import Block, UnitsApart
from adaline.errors import InvalidData
from adaline.losses import Logistic
from adaline.results import Status
from adaline.solvers.smooth import choose
from adaline.sources import held as held_module
from adaline.sources.array import SparseSource
from adaline.sources.held import CompactRows, hold_rows
from adaline.sources.sample import draw_rows, select_columns
from adaline.sources.tables import source as tables
from adaline.sums import CurvatureDiagonal, HessianProduct, Objective, Point, RowSample, Spread, Targets, View

D = 2**15


def rows_of(n: int = 400, seed: int = 0) -> Any:
    """Return CSR rows of units, of numbers that are sometimes one, and mostly empty columns."""
    rng = np.random.default_rng(seed)
    ids = np.minimum(rng.zipf(1.3, (n, 5)), 900) * 17 + np.arange(5)
    numbers = np.column_stack([rng.normal(size=n).round(1), np.full(n, 3.0), -np.ones(n)])
    out = sparse.lil_array((n, D))
    for i in range(n):
        out[i, ids[i]] = np.where(ids[i] % 3, 1.0, -1.0)
        out[i, [20, 21, D - 1]] = numbers[i]
    return out.tocsr()


def sources(weighted: bool = False) -> tuple[SparseSource, CompactRows]:
    x = rows_of()
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 3, x.shape[0]).astype(float) if weighted else None
    plain = SparseSource(x, rng.integers(0, 2, (x.shape[0], 1)).astype(float), weight)
    found = hold_rows(plain)
    assert found is not None
    return plain, found


def test_units_apart_are_the_same_rows() -> None:
    x = rows_of(50)
    apart = UnitsApart.of(x)
    assert apart.nnz == x.nnz
    assert apart.nbytes < 0.6 * (x.data.nbytes + x.indices.nbytes + x.indptr.nbytes)
    assert (apart.packed() != x).nnz == 0
    some = np.array([7, 3, 3, 49, 0])
    assert (apart.taken(some).packed() != x[some]).nnz == 0
    assert (apart.squared().packed() != x.power(2)).nnz == 0


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_the_rows(weighted: bool) -> None:
    plain, held = sources(weighted)
    rng = np.random.default_rng(2)
    theta, direction = rng.normal(size=(2, 1, 1 + D))
    point = Point(Logistic(), theta, View(np.ldexp(1.0, rng.integers(-2, 3, D)), rng.normal(size=D)), direction)
    entries = np.concatenate([[0], 1 + held.chosen])
    constant = point.theta[:, 1:] @ point.view.offset - point.theta[:, 1 + held.chosen] @ point.view.offset[held.chosen]
    turn = direction[:, 1:] @ point.view.offset - direction[:, 1 + held.chosen] @ point.view.offset[held.chosen]
    first = np.eye(1, len(entries))
    few = Point(
        *(Logistic(), theta[:, entries] + constant * first),
        *(View(*(part[held.chosen] for part in point.view)), direction[:, entries] + turn * first),
    )
    for kind in (Objective, HessianProduct, CurvatureDiagonal):
        wanted, own = (s.sum(kind, p, outputs=1).sums for s, p in ((plain, point), (held, few)))
        at = entries if kind is not Objective else np.concatenate([[0], 1 + entries])
        np.testing.assert_allclose(own.ravel(), wanted.ravel()[at], rtol=1e-10, atol=1e-10 * np.abs(wanted).max())
    spreads = plain.sum(Spread).of_columns(held.chosen), held.sum(Spread)
    for name in ("weight", "mean", "deviation", "largest"):
        np.testing.assert_allclose(*(getattr(one, name) for one in spreads), rtol=1e-12, atol=1e-12)
    assert (spreads[1].deviation[np.isin(held.chosen, [21, D - 1])] == 0).all()
    np.testing.assert_array_equal(*(one.sum(Targets, Logistic()).sums for one in (plain, held)))


def test_columns_are_those_with_entries_most_first() -> None:
    plain, held = sources()
    counts = np.bincount(plain.x.indices, minlength=D)
    np.testing.assert_array_equal(np.sort(held.chosen), np.flatnonzero(counts))
    assert (np.diff(counts[held.chosen]) <= 0).all()
    assert (held.packed().x != plain.x[:, held.chosen]).nnz == 0
    assert held.columns.names[0] == f"x{held.chosen[0]}"


def test_rows_and_columns_are_taken() -> None:
    plain, held = sources(True)
    rows = np.array([399, 5, 5, 0, 120])
    some = held.take_rows(rows)
    assert (next(some.blocks()).x != plain.x[rows][:, held.chosen]).nnz == 0
    np.testing.assert_array_equal(some.read_targets(), plain.targets.values[rows])
    np.testing.assert_array_equal(some.read_weights(), plain.targets.weight[rows])
    chosen = np.array([3, 0, 9])
    found = select_columns(held, chosen)
    assert isinstance(found, SparseSource)
    assert (found.x != plain.x[:, held.chosen[chosen]]).nnz == 0


def test_entries_of_one_column_are_one_number() -> None:
    x = sparse.csr_array((np.array([1.0, 1.0, 2.0]), np.array([9, 9, 5]), np.array([0, 2, 3])), shape=(2, D))
    held = hold_rows(SparseSource(x, np.zeros((2, 1))))
    assert held is not None
    np.testing.assert_array_equal(held.packed().x.toarray(), x.toarray()[:, held.chosen])
    np.testing.assert_allclose(held.sum(Spread).root, np.sqrt(2.0))


def test_rows_that_are_not_mostly_empty_or_too_many_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, _ = sources()
    assert hold_rows(SparseSource(plain.x[:, :4000], plain.targets.values)) is None
    monkeypatch.setattr(held_module, "HELD", 1000)
    assert hold_rows(plain) is None


def clicks(folder: Path, n: int = 600) -> Path:
    """Write a table of ids and a number in large units."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(3)
    ids = rng.zipf(1.4, (2, n)) % 300
    number = (1000 + 100 * rng.normal(size=n)).round(2)
    click = rng.random(n) < 1 / (1 + np.exp(np.sin(ids[0]) + np.cos(ids[1]) - (number - 1000) / 100))
    columns = {"user": [f"u{v}" for v in ids[0]], "item": [f"i{v}" for v in ids[1]], "n": number}
    parquet.write_table(pa.table({**columns, "click": click.astype(np.int8)}), folder / "clicks.parquet", 97)
    return folder / "clicks.parquet"


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("l1", [0.0, 0.5])
def test_fits_of_hashed_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: bool, l1: float) -> None:
    """Streamed or held, the fit is that of scikit-learn on the columns that have entries."""
    from sklearn.linear_model import LogisticRegression as Peer

    monkeypatch.setattr(tables, "KEPT", 0)
    if not held:
        monkeypatch.setattr(held_module, "HELD", 0)
    source = open_table(clicks(tmp_path), target="click", hashed={"user": 2**14, "item": 2**14}, progress=False)
    model = LogisticRegression(penalty=1.0, l1=l1, tol=1e-9).fit(source)
    proof = model.certificate_
    assert proof.status is Status.SOLVED
    assert proof.gap <= 1e-9 * 600
    x = sparse.vstack([block.x for block in source.blocks()]).tocsr()
    met = np.flatnonzero(np.bincount(x.indices, minlength=x.shape[1]))
    assert not np.delete(model.coef_[0], met).any()
    rows = x[:, met].toarray()
    w, t = model.coef_[0, met], source.read_targets()[:, 0]
    z = rows @ w + model.intercept_[0]
    cost = np.logaddexp(0, z).sum() - t @ z + 0.5 * w @ w + l1 * np.abs(w).sum()
    np.testing.assert_allclose(proof.objective, cost, rtol=1e-9)
    if not l1:
        peer = Peer(solver="newton-cholesky", tol=1e-12).fit(rows, t)
        np.testing.assert_allclose(w, peer.coef_[0], atol=2e-4)


def fitted_apart(x: Any, y: Any, **options: Any) -> tuple[Any, Any]:
    """Return a model of wide sparse rows, and one of the columns that have entries, dense."""
    met = np.flatnonzero(np.bincount(x.indices, minlength=x.shape[1]))
    weight = options.pop("sample_weight", None)
    models = [LogisticRegression(penalty=1.0, tol=1e-12, **options) for _ in range(2)]
    for model, rows in zip(models, (x, x[:, met].toarray()), strict=True):
        model.fit(rows, y, sample_weight=weight)
        assert model.certificate_.status is Status.SOLVED
    np.testing.assert_allclose(models[0].coef_[:, met], models[1].coef_, atol=1e-4)
    np.testing.assert_allclose(models[0].intercept_, models[1].intercept_, atol=1e-4)
    assert not np.delete(models[0].coef_, met, axis=1).any()
    np.testing.assert_allclose(models[0].certificate_.objective, models[1].certificate_.objective, rtol=1e-9)
    return models[0], models[1]


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize(
    "options",
    [{}, {"fit_intercept": False}, {"class_weight": "balanced"}, {"standardize": True}, {"solver": "newton-cg"}],
    ids=str,
)
def test_a_model_of_wide_rows_is_that_of_their_columns(
    options: dict[str, Any], many: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a matrix of second derivatives, and as if there were too many coefficients for one."""
    x, rng = rows_of(300), np.random.default_rng(4)
    if many:
        monkeypatch.setattr(choose, "LEAST_SPARSE_COLUMNS", 1)
        monkeypatch.setattr(choose, "_with_matrix", lambda *given: choose._without_matrix(*given[:3], "auto", given[3]))
    fitted_apart(x, rng.random(300) < 0.4, sample_weight=rng.integers(0, 3, 300).astype(float), **options)


def test_three_classes_and_weights_to_start_from() -> None:
    x, rng = rows_of(200), np.random.default_rng(5)
    fitted_apart(x, rng.integers(0, 3, 200))
    fitted_apart(x, rng.integers(0, 3, 200), scheme="one-vs-rest")
    y = rng.random(200) < 0.4
    model, _ = fitted_apart(x, y)
    again = LogisticRegression(penalty=1.0, tol=1e-10, init=np.insert(model.coef_, 0, model.intercept_, axis=1)).fit(
        x, y
    )
    assert again.n_iter_ <= 2
    np.testing.assert_allclose(again.coef_, model.coef_, atol=1e-6)


def test_rows_that_a_plane_separates_and_rows_that_are_refused() -> None:
    x = rows_of(200)
    y = x[:, [20]].toarray()[:, 0] > 0
    model, _ = fitted_apart(x, y)
    assert (model.predict(x) == y).mean() > 0.9
    assert model.separation_ is None
    with pytest.raises(InvalidData, match="at least 2 classes"):
        LogisticRegression(penalty=1.0).fit(x, np.ones(200))
    x[7, 20] = np.nan
    with pytest.raises(InvalidData, match="NaN"):
        LogisticRegression(penalty=1.0).fit(x, y)


def test_a_stream_is_read_once_and_samples_stay_sparse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "KEPT", 0)
    source = open_table(clicks(tmp_path), target="click", hashed={"user": 2**20, "item": 2**20}, progress=False)
    source.learn_coding()
    assert source.streamed
    some = draw_rows(source, 100)
    assert isinstance(some, SparseSource)
    before = source.reads[0]
    found = hold_rows(source)
    assert found is not None
    assert source.reads[0] == before + 1
    assert found.shape.features < 700


def test_a_sparse_sample_merges_in_any_order() -> None:
    plain, _ = sources()
    whole = RowSample.zero(plain.shape, most=30)
    whole.add(plain.block(0))
    parts = []
    for first in (0, 200):
        rows = slice(first, first + 200)
        parts.append(RowSample.zero(plain.shape, most=30))
        parts[-1].add(Block(plain.x[rows], plain.targets.values[rows], first_row=first))
    parts[1].merge(parts[0])
    assert (parts[1].x != whole.x).nnz == 0
    np.testing.assert_array_equal(parts[1].row, whole.row)
