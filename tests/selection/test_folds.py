"""Closed forms cross-validated in one read: the fits from the sums of other folds are those of the rows themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone, is_classifier

from adaline import (
    FisherDiscriminant,
    GaussianClassifier,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    open_table,
    select,
)
from adaline.input.taken import take_rows
from adaline.selection.cross_validation import ArrayRows, SourceRows, StreamedFolds
from adaline.sums import all_but_one, running
from adaline.systems import SYSTEMS

SYSTEMS_OF_SUMS: dict[str, Any] = {
    "LinearRegression": LinearRegression(),
    "LinearRegression without intercept": LinearRegression(fit_intercept=False),
    "InstrumentalVariables": SYSTEMS["InstrumentalVariables"](),
    "Ridge": Ridge(),
    "Ridge by evidence": Ridge(criterion="evidence", standardize=False),
    **{f"Ridge({penalty})": Ridge(penalty=penalty) for penalty in (0.0, 1e-3, 5.0, 1e4)},
    "LeastSquaresClassifier": LeastSquaresClassifier(),
    "FisherDiscriminant": FisherDiscriminant(),
    **{f"GaussianClassifier({name})": GaussianClassifier(covariance=name) for name in ("shared", "full", "diag")},
    "GaussianClassifier(shrinkage)": GaussianClassifier(shrinkage=0.3),
}
FOLDS = 4


def rows(classes: int, weighted: bool) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """Return rows of unlike columns far from zero, numbers and labels as targets, and weights."""
    rng = np.random.default_rng(classes)
    x = rng.normal(size=(240, 4)) * [1.0, 1e3, 1e-3, 5.0] + [0.0, 1e5, 3.0, 1.0]
    y = x @ [1.0, 1e-3, 300.0, 0.2] + rng.normal(size=240)
    labels = np.array(["a", "b", "c"])[np.digitize(y, np.quantile(y, [0.4, 0.8][: classes - 1]))]
    return x, y, labels, rng.integers(1, 4, 240).astype(float) if weighted else None


def outputs(model: Any, x: Any) -> NDArray[Any]:
    return np.asarray(model.decision_function(x) if is_classifier(model) else model.predict(x))


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", SYSTEMS_OF_SUMS)
def test_fits_from_the_sums_of_other_folds_equal_refits(name: str, classes: int, weighted: bool, layout: str) -> None:
    system = SYSTEMS_OF_SUMS[name]
    x, y, labels, weight = rows(classes, weighted)
    if layout == "sparse":
        x = np.where(np.abs(x - x.mean(axis=0)) < 0.3 * x.std(axis=0), 0.0, x - x.mean(axis=0))
    given: Any = sparse.csr_array(x) if layout == "sparse" else x
    cut = ArrayRows(given, labels if is_classifier(system) else y, weight, is_classifier(system)).split(FOLDS, 0)
    fits = cut.fit_folds(system)
    assert fits is not None
    whole = clone(system).fit(given, cut.y, sample_weight=weight)
    assert_close(outputs(fits.whole, given), outputs(whole, given))
    assert fits.whole.certificate_.status is whole.certificate_.status
    for k, model in enumerate(fits.without):
        if model is None:  # sums about zero may leave too few digits
            assert layout == "sparse"
            continue
        assert_close(outputs(model, given), outputs(cut.fitted(system, k), given))


@pytest.mark.parametrize("name", ["LinearRegression", "Ridge", "LeastSquaresClassifier", "GaussianClassifier(full)"])
def test_folds_of_a_table_are_fitted_in_one_read(name: str, tmp_path: Path) -> None:
    system = SYSTEMS_OF_SUMS[name]
    x, y, labels, _ = rows(3, False)
    frame = pd.DataFrame(x, columns=list("pqrs")).assign(t=labels if is_classifier(system) else y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    source = open_table(tmp_path / "t.csv", target="t", progress=False)
    cut = SourceRows(source, FOLDS)
    before = source.reads[0]
    fits = cut.fit_folds(system)
    assert fits is not None
    cut.fit_folds(clone(system))
    assert source.reads[0] - before <= 3  # with what says which labels there are
    for k, model in enumerate(fits.without):
        assert_close(outputs(model, x), outputs(cut.fitted(system, k), x))


def test_penalties_share_the_sums() -> None:
    x, y, _, _ = rows(2, False)
    cut = ArrayRows(x, y, None, False).split(FOLDS, 0)
    for penalty in (0.0, 1.0, 10.0):
        cut.fit_folds(Ridge(penalty=penalty))
    cut.fit_folds(LinearRegression())
    assert len(cut.shared) == 1
    found = select(Ridge(), x, y, penalty=[0.1, 10.0, 1000.0], method="folds", folds=FOLDS)
    by_hand = [
        np.mean([np.mean((y[k] - Ridge(penalty=p).fit(x[~k], y[~k]).predict(x[k])) ** 2) for k in masks(cut.fold)])
        for p in (0.1, 10.0, 1000.0)
    ]
    np.testing.assert_allclose([one.error for one in found.tried], by_hand, rtol=1e-9)


def test_what_sums_do_not_determine_is_fitted_to_the_rows() -> None:
    x, y, labels, _ = rows(2, False)
    cut = ArrayRows(x, y, None, False).split(FOLDS, 0)
    for system in (Ridge(criterion="loo"), LinearRegression(solver="qr"), LinearRegression(weights="precision")):
        assert cut.fit_folds(system) is None
    assert ArrayRows(x, labels, None, True).split(FOLDS, 0).fit_folds(GaussianClassifier(components=2)) is None
    twice = ArrayRows(np.column_stack([x, x[:, 0]]), y, None, False).split(FOLDS, 0).fit_folds(LinearRegression())
    assert twice is not None
    assert twice.without == [None] * FOLDS  # columns that depend on others are decided on the rows


def test_a_fit_of_ones_own_is_used() -> None:
    class Own(LinearRegression):
        def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
            return super().fit(X, 0 * y, sample_weight)

    x, y, _, _ = rows(2, False)
    assert ArrayRows(x, y, None, False).split(FOLDS, 0).fit_folds(Own()) is None


def test_every_system_that_sums_is_here() -> None:
    known = {type(system) for system in SYSTEMS_OF_SUMS.values()} | {SYSTEMS["WienerFilter"]}
    known.add(SYSTEMS["AdditiveModel"])  # of a fold other knots are learned
    assert {cls for cls in SYSTEMS.values() if hasattr(cls, "merge")} == known
    assert hasattr(LogisticRegression, "_fit_folds")


@pytest.mark.parametrize("count", [2, 3, 6])
def test_all_but_one_and_running_sums(count: int) -> None:
    class Bag:
        def __init__(self, *items: int) -> None:
            self.items = list(items)

        def merge(self, other: Bag) -> None:
            self.items += other.items

    parts: Any = [Bag(i) for i in range(count)]
    assert [sorted(one.items) for one in all_but_one(parts)] == [
        [j for j in range(count) if j != i] for i in range(count)
    ]
    assert [one.items for one in running(parts)] == [list(range(i + 1)) for i in range(count)]
    assert [one.items for one in parts] == [[i] for i in range(count)]


def test_many_rows_are_copied_in_the_order_asked_for() -> None:
    x = np.arange(80_000.0).reshape(40_000, 2)
    order = np.random.default_rng(0).permutation(40_000)[:33_333]
    for laid in (x, np.asfortranarray(x)):  # each is copied as it lies in memory
        taken = take_rows(laid, order)
        np.testing.assert_array_equal(taken, x[order])
        assert taken.flags.c_contiguous == laid.flags.c_contiguous


def masks(fold: NDArray[Any]) -> list[NDArray[Any]]:
    return [fold == k for k in range(FOLDS)]


def assert_close(mine: NDArray[Any], theirs: NDArray[Any]) -> None:
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())


def test_what_is_no_sum_is_not_fitted_to_the_folds_of_a_stream() -> None:
    class Own(LinearRegression):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            return super().fit(X, y, sample_weight)

    source = open_table({"x": np.arange(40.0), "y": np.arange(40.0) % 7}, target="y")
    folds = StreamedFolds(source, (np.arange(40) % 4).astype(np.int8), None)
    assert folds.fit_folds(LinearRegression()) is not None
    assert folds.fit_folds(Own()) is folds.fit_folds(Perceptron()) is None
