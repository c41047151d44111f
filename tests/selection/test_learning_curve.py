"""`learning_curve`: against fits by hand, shares of classes, tables, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adaline import (
    GaussianClassifier,
    GaussianMixture,
    GeneralizedLinear,
    LinearRegression,
    LogisticRegression,
    Ridge,
    WienerFilter,
    datasets,
    learning_curve,
    open_table,
)
from adaline.errors import InvalidData, InvalidParameter
from adaline.selection.learning_curve import shuffled
from adaline.sources.views import assign_folds

PENGUINS = datasets.load("penguins", target="body_mass_g")
SPECIES = datasets.load("penguins", target="species")


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_what_fits_by_hand_give(weighted: bool) -> None:
    X, y = PENGUINS.X, PENGUINS.y
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    system = make_pipeline(StandardScaler(), Ridge(penalty=1.0))
    curve = learning_curve(system, X, y, sizes=[12, 0.5], folds=4, sample_weight=weight if weighted else None)
    fold = assign_folds(len(y), 4, 0, None)
    assert curve.sizes.tolist() == [12, int(0.5 * (len(y) - np.bincount(fold).max()))]
    errors = np.empty((2, 4, 2))
    for k in range(4):
        order = shuffled(np.flatnonzero(fold != k), None, 0)
        for i, size in enumerate(curve.sizes):
            some, held = order[:size], np.flatnonzero(fold == k)
            model = clone(system).fit(X[some], y[some], ridge__sample_weight=weight[some])
            for j, part in enumerate((some, held)):
                errors[i, k, j] = np.average((y[part] - model.predict(X[part])) ** 2, weights=weight[part])
    share = np.bincount(fold, weight) / weight.sum()
    np.testing.assert_allclose(curve.training, errors[:, :, 0] @ share, rtol=1e-10)
    np.testing.assert_allclose(curve.validation, errors[:, :, 1] @ share, rtol=1e-10)
    np.testing.assert_allclose(curve.std_error, errors[:, :, 1].std(axis=1, ddof=1) / 2, rtol=0.1)
    np.testing.assert_allclose(curve.training_std_error, errors[:, :, 0].std(axis=1, ddof=1) / 2, rtol=0.1)


@pytest.mark.parametrize("scoring", [None, "max_error"])
def test_an_offset_is_taken_off_the_targets_of_the_gaussian(scoring: str | None) -> None:
    X, y, offset = PENGUINS.X, PENGUINS.y, 100.0 * np.arange(len(PENGUINS.y))
    weight = np.arange(len(y)) % 3  # rows of weight 0 leave, and their offsets with them
    system = GeneralizedLinear(loss="gaussian")
    given: dict[str, Any] = {"sizes": [20, 60], "folds": 3, "sample_weight": weight, "scoring": scoring}
    curve = learning_curve(system, X, y + offset, offset=offset, **given)
    plain = learning_curve(system, X, y, **given)
    np.testing.assert_allclose(curve.validation, plain.validation, rtol=1e-8)
    np.testing.assert_allclose(curve.training, plain.training, rtol=1e-8)


def test_every_start_has_the_classes_by_their_shares() -> None:
    labels = np.repeat(["a", "b", "c"], [60, 30, 10])
    order = shuffled(np.arange(100), labels, 0)
    assert sorted(order.tolist()) == list(range(100))
    for size in range(5, 101):
        found = [np.count_nonzero(labels[order[:size]] == one) for one in "abc"]
        np.testing.assert_allclose(found, np.array([0.6, 0.3, 0.1]) * size, atol=1.01)


def test_sizes_too_small_to_fit_are_lines_of_the_table() -> None:
    X, y = SPECIES.X, SPECIES.y
    curve = learning_curve(GaussianClassifier(covariance="full"), X, y, sizes=[1, 100], folds=3)
    assert np.isnan(curve.validation[0])
    assert curve.validation[1] < 0.05
    assert "1 row: " in str(curve)
    assert curve.failures[0]
    told = curve.to_dict()
    assert (told["measure"], told["folds"], told["rows"][1]["rows"]) == ("error rate", 3, 100)
    assert curve._repr_html_().startswith("<table>")
    assert repr(curve) == str(curve.table)


def test_by_default_eight_sizes_up_to_all_rows() -> None:
    curve = learning_curve(LinearRegression(), PENGUINS.X, PENGUINS.y)
    assert len(curve.sizes) == 8
    assert (curve.sizes[0], curve.sizes[-1]) == (10, len(PENGUINS.y) - -(-len(PENGUINS.y) // 10))
    assert curve.training[0] < curve.training[-1] < curve.validation[-1] < curve.validation[0]


def test_scores_and_densities() -> None:
    curve = learning_curve(Ridge(penalty=1.0), PENGUINS.X, PENGUINS.y, sizes=[200], scoring="r2", folds=3)
    assert curve.measure == "minus r2"
    assert -1 < curve.validation[0] < -0.5
    curve = learning_curve(GaussianMixture(), SPECIES.X, sizes=[20, 200], folds=3)
    assert curve.validation[1] < curve.validation[0]
    told: list[Any] = []
    learning_curve(Ridge(penalty=1.0), PENGUINS.X, PENGUINS.y, sizes=[50], folds=2, progress=lambda *s: told.append(s))
    assert told == [(0, 2, "50 rows, fold 1 of 2"), (1, 2, "50 rows, fold 2 of 2"), (2, 2, "done")]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sizes": []}, "sizes is empty"),
        ({"sizes": 5}, "sizes must be a list"),
        ({"sizes": [0]}, "sizes must be whole numbers from 1 to"),
        ({"sizes": [10**6]}, "sizes must be whole numbers from 1 to"),
        ({"sizes": [1.5]}, "or shares of them"),
        ({"sizes": ["a"]}, "or shares of them"),
        ({"folds": 10**6}, "cannot be cut into 1000000 folds"),
        ({"scoring": "nothing"}, "there is no scoring"),
        ({"offset": 1.0}, "LinearRegression takes no offset: use GeneralizedLinear"),
    ],
)
def test_what_means_nothing_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidParameter, match=said):
        learning_curve(LinearRegression(), PENGUINS.X, PENGUINS.y, **given)


def test_rows_that_cannot_be_learned_from_are_refused() -> None:
    with pytest.raises(InvalidData, match="requires y"):
        learning_curve(LinearRegression(), PENGUINS.X)
    with pytest.raises(InvalidData, match=r"no size could be fitted; 20 rows: .*NaN"):
        learning_curve(LinearRegression(), np.full((40, 2), np.nan), np.ones(40), sizes=[20])
    with pytest.raises(InvalidData, match="in every row"):
        learning_curve(LogisticRegression(), SPECIES.X, ["a"] * len(SPECIES.X))
    with pytest.raises(InvalidParameter, match=r"needs rows in memory.* offset="):
        learning_curve(LinearRegression(), open_table("penguins", target="body_mass_g", missing="drop"))
    with pytest.raises(InvalidParameter, match="bic judges the fit to all rows"):
        learning_curve(GaussianMixture(), SPECIES.X, scoring="bic")
    with pytest.raises(InvalidParameter, match="learns from signals in their order"):
        learning_curve(WienerFilter(taps=2), np.ones(40), np.ones(40))
