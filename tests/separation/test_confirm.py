"""Quasi-separation is proven from the weights of a logistic fit: a plane and an overlap, both checked exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adaline import LogisticRegression
from adaline.separation.confirm import confirm
from adaline.separation.contests import Contests
from adaline.separation.separability import quasi_separating_weights, separability
from adaline.separation.survey import Survey
from adaline.sources import ArraySource


def levels(seed: int) -> tuple[Any, Any]:
    """Rows of 12 levels, some with one class only, and two columns in which the others overlap."""
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 12, 80)
    x = np.column_stack([np.eye(12)[level][:, 1:], rng.normal(50.0, 1.0, (80, 2)).round(2)])
    return x, ((level % 4 == 0) | (x[:, -1] + rng.normal(size=80) > 50.0)).astype(float)


def far_out(x: Any, y: Any) -> Any:
    """Weights of a fit that a tiny penalty alone ends."""
    model = LogisticRegression(penalty=1e-4).fit(x, y)
    return np.concatenate([model.intercept_, model.coef_.ravel()])


@pytest.mark.parametrize("seed", range(3))
def test_a_fit_that_grows_is_confirmed_and_its_proof_holds(seed: int) -> None:
    x, y = levels(seed)
    source, slowly = ArraySource(x, y[:, None]), separability(x, y)
    assert slowly.kind == "quasi"
    scaling = Survey.of(source, 2).scaling([0, 1])
    contests = Contests(source, [0, 1], 2, scaling)
    found = confirm(contests, scaling.weights_inside(far_out(x, y)))
    assert found is not None
    assert found.theta is not None
    assert found.overlap is not None
    swept = contests.sweep(found.theta, 1, zeros=True)
    assert swept.worst == 0
    assert sorted(swept.zeros[:, 0].tolist()) == slowly.on_plane.tolist()  # the contests that no plane wins
    overlap = found.overlap
    assert sorted(overlap.chosen.row.tolist()) == slowly.on_plane.tolist()
    assert (overlap.share > 0).all()
    assert not (overlap.share @ contests.vectors(overlap.chosen)[0]).any()


def test_guesses_that_are_wrong_are_not_believed() -> None:
    x, y = levels(0)
    guess = np.random.default_rng(0).normal(size=1 + x.shape[1])
    grown = far_out(x, y)
    overlapping = y.copy()
    overlapping[:40] = 1 - y[:40]
    assert separability(x, overlapping).kind == "none"
    assert separability(x, x[:, -1] > 50.0).kind == "complete"
    for given in (guess, 0 * guess, 1e3 * guess, grown, -grown):
        for classes in (overlapping, x[:, -1] > 50.0):
            assert quasi_separating_weights(ArraySource(x, 1.0 * classes[:, None]), given) is None
