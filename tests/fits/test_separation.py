"""A perceptron that did not end says why: no plane there, or more epochs needed, with the theorem's bound."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from adaline import KeslerPerceptron, Perceptron, Pocket, Status, open_table
from adaline.fits import separation
from adaline.sources import ArraySource

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
LATER = re.compile(r"at most (\S+) corrections, (\d+) are made: set standardize=True, or raise epochs")


def narrow(classes: int, seed: int = 0) -> tuple[Any, Any]:
    """Rows of classes along the edges of a small polygon far from zero: many epochs part each from the rest."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, 120)
    angle = 2 * np.pi * y / classes
    along = 0.3 * rng.uniform(-1.0, 1.0, 120)
    X = np.column_stack([np.cos(angle) - along * np.sin(angle), np.sin(angle) + along * np.cos(angle)])
    return X + np.array([9.0, 0.0]), y


@pytest.mark.parametrize("system", [Perceptron, KeslerPerceptron])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_separable_rows_need_more_epochs_and_no_more_corrections_than_it_says(
    system: Any, classes: int, as_given: Any
) -> None:
    X, y = narrow(classes)
    model = system(epochs=2).fit(as_given(X), y)
    found = LATER.search(model.certificate_.advice)
    assert found
    assert int(found[2]) == model.mistakes_
    ended = system(epochs=1_000_000).fit(X, y)
    assert ended.certificate_.status is Status.SOLVED
    assert model.mistakes_ < ended.mistakes_ <= float(found[1])


@pytest.mark.parametrize(
    "change", [{"init": "random"}, {"schedule": "power"}, {"mode": "batch"}, {"class_weight": {0: 2}}]
)
def test_no_bound_is_named_where_the_theorem_does_not_apply(change: dict[str, Any]) -> None:
    model = Perceptron(epochs=2, **change).fit(*narrow(2))
    assert model.certificate_.advice.endswith(
        "so that there can be a clean epoch: set standardize=True, or raise epochs"
    )


@pytest.mark.parametrize("system", [Perceptron, KeslerPerceptron, Pocket])
def test_inseparable_rows_have_no_hope(system: Any) -> None:
    model = system(epochs=5).fit(*XOR)
    assert model.certificate_.advice.startswith("no plane separates the classes")
    assert "Pocket" in model.certificate_.advice or system is Pocket


def test_a_class_between_others_is_named_and_kesler_needs_no_plane_around_it() -> None:
    X, y = np.array([[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]]), list("aabbcc")
    assert "no plane separates class 'b' from the rest" in Perceptron(epochs=9).fit(X, y).certificate_.advice
    assert "no plane separates class 'b' from the rest" in Pocket(epochs=9).fit(X, y).certificate_.advice
    assert "clean epoch will come" in KeslerPerceptron(epochs=2).fit(X, y).certificate_.advice
    mixed = KeslerPerceptron(epochs=9).fit(X, list("aabcba")).certificate_.advice
    assert mixed.startswith("no linear functions, one for each class")


def test_the_pocket_says_whether_there_must_be_errors() -> None:
    assert "there must be errors" in Pocket(epochs=2).fit(*XOR).certificate_.advice
    assert "without an error" in Pocket(epochs=1).fit(*narrow(4)).certificate_.advice


def test_planes_through_the_origin_are_not_promised() -> None:
    X, y = narrow(2)
    for system in (Perceptron, Pocket):
        assert "perhaps none through the origin" in system(epochs=2, fit_intercept=False).fit(X, y).certificate_.advice
        assert "no plane" in system(epochs=2, fit_intercept=False).fit(*XOR).certificate_.advice


def test_tables_are_told_the_same(tmp_path: Path) -> None:
    for name, (X, y) in {"apart": narrow(2), "xor": XOR}.items():
        pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": y}).to_csv(tmp_path / f"{name}.csv", index=False)
        for system in (Perceptron, Pocket, KeslerPerceptron):
            told = system(epochs=2).fit(open_table(tmp_path / f"{name}.csv", target="kind"))
            assert told.certificate_.advice == system(epochs=2).fit(X, y).certificate_.advice


def test_a_question_that_costs_too_much_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("MOST_EXPLAINED_NUMBERS", "MOST_EXPLAINED_COORDINATES"):
        with monkeypatch.context() as patch:
            patch.setattr(separation, limit, 2)
            advice = Perceptron(epochs=2).fit(*XOR).certificate_.advice
            assert "perhaps no plane separates the classes (adaline.separability decides that)" in advice


@pytest.mark.parametrize("machines", [1, 3])
def test_leads_are_those_of_each_row_over_its_rivals(machines: int) -> None:
    rng = np.random.default_rng(machines)
    X, own, weight = rng.normal(size=(30, 2)), rng.integers(0, max(machines, 2), 30), np.arange(30) % 5 / 4
    theta = rng.normal(size=(machines, 3))
    z = np.column_stack([np.ones(30), X]) @ theta.T
    z = np.column_stack([-z / 2, z / 2]) if machines == 1 else z
    rivals = [z[i, own[i]] - z[i, j] for i in range(30) if weight[i] for j in range(z.shape[1]) if j != own[i]]
    found = separation._leads(ArraySource(X, own[:, None].astype(float), weight), theta)
    np.testing.assert_allclose(found, (min(rivals), max(rivals)), rtol=1e-12)
