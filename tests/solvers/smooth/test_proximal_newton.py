"""l1 penalties: laws of the minimum, its proof and its path, and scikit-learn's answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import ElasticNet

from adaline.arrays import Array
from adaline.losses import Gamma, Huber, Logistic, Poisson, Softmax, Squared, SquaredHinge
from adaline.penalties import RidgePenalty
from adaline.solvers.smooth import proximal_newton
from adaline.solvers.smooth.newton import newton
from adaline.solvers.smooth.problem import Problem, build_problem
from adaline.solvers.smooth.proximal_newton import l1_points, proximal
from adaline.sources.array import ArraySource, SparseSource
from adaline.sources.sample import select_columns
from tests.peers import l1_logistic

LOSSES = [Squared(), Logistic(), Softmax(), Poisson(), Gamma(), Huber(), SquaredHinge()]
NAMES = [loss.name for loss in LOSSES]


def largest_l1(problem: Problem, unit: Array) -> float:
    """Return the smallest l1 under which all penalised coefficients are zero: the first of a path."""
    return l1_points(problem, unit, np.zeros(problem.outputs), 1e-10, points=1)[0].l1


def _data(loss, rows=300, features=12, seed=0, spreads=1.0):
    """Columns in their own units and with means, a third of which matter; targets as the loss takes them."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-spreads, spreads, features)
    x = (rng.standard_normal((rows, features)) + rng.uniform(-1, 1, features)) * scale
    matters = rng.random((3, features)) < 0.33
    z = x @ (rng.standard_normal((3, features)) * matters / scale).T * 0.6
    t = {
        "softmax": lambda: np.argmax(z + rng.gumbel(size=z.shape), axis=1),
        "logistic": lambda: rng.random(rows) < 1 / (1 + np.exp(-z[:, 0] - 0.5)),
        "squared_hinge": lambda: np.where(z[:, 0] + rng.logistic(size=rows) > 0, 1, -1),
        "poisson": lambda: rng.poisson(np.exp(z[:, 0])),
        "gamma": lambda: rng.gamma(2.0, np.exp(z[:, 0]) / 2.0),
    }.get(loss.name, lambda: z[:, 0] + 3 + 0.3 * rng.standard_normal(rows))()
    return x, np.asarray(t, dtype=np.float64)[:, None]


def _pose(loss, x, t, ridge=0.0, intercept=True, weight=None) -> Problem:
    source = (SparseSource if sparse.issparse(x) else ArraySource)(x, t, weight)
    outputs = 3 if loss.coupled else 1
    return build_problem(source, loss, outputs, intercept, RidgePenalty(ridge, np.ones(x.shape[1])))


def _start(problem):
    return np.zeros((problem.outputs, 1 + problem.features))


def _fit(problem, l1, wanted=1e-11, **how):
    return proximal(problem, np.full(problem.features, l1) * problem.view.scale, _start(problem), wanted, **how)


def _told(problem, l1):
    """Return the weights in raw units, intercepts of coupled outputs about their mean: all may gain the same."""
    theta = problem.to_raw(_fit(problem, l1, wanted=0.0).theta)
    theta[:, 0] -= theta[:, 0].mean() * problem.loss.coupled
    return theta


def _l1(problem, share):
    return share * largest_l1(problem, problem.view.scale)


def _kkt(problem, theta, l1):
    """Return the largest violation of the conditions in raw units, relative to l1."""
    evaluation = problem.evaluate(theta)
    gradient, w = evaluation.gradient[:, 1:] / problem.view.scale, theta[:, 1:]
    wrong = np.where(w != 0, np.abs(gradient + l1 * np.sign(w)), np.maximum(np.abs(gradient) - l1, 0.0))
    return max(wrong.max() / l1, np.abs(evaluation.gradient[:, 0]).max() / problem.spread.weight)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.7])
@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_conditions_of_the_minimum_and_a_falling_objective(loss, ridge, intercept):
    problem = _pose(loss, *_data(loss), ridge=ridge, intercept=intercept)
    l1 = _l1(problem, 0.1)
    found = _fit(problem, l1, wanted=0.0)
    value = found.history[-1]
    assert found.gap <= 1e-9 * max(value, 1)
    assert _kkt(problem, found.theta, l1) <= 1e-8
    assert (found.theta[:, 1:] == 0).any()
    assert (found.theta[:, 1:] != 0).any()
    assert (np.diff(found.history) <= 1e-12 * abs(value)).all()
    assert found.evaluation.value == pytest.approx(value, rel=1e-14)
    if not intercept:
        assert not found.theta[:, 0].any()


@pytest.mark.parametrize("ridge", [0.0, 3.0])
@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_the_gap_bounds_what_is_left(loss, ridge):
    problem = _pose(loss, *_data(loss, seed=1), ridge=ridge)
    l1 = _l1(problem, 0.05)
    best = _fit(problem, l1).evaluation.value
    seen = 0
    for steps in range(1, 6):
        found = _fit(problem, l1, wanted=0.0, max_steps=steps)
        left = found.evaluation.value - best
        assert found.gap >= left - 1e-12 * abs(best)
        seen += np.isfinite(found.gap) and left > 1e-9 * abs(best)
    assert seen >= 2 or loss.name == "squared"  # whose first step is the last


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Softmax(), Poisson()], ids=lambda loss: loss.name)
def test_no_penalty_is_newton(loss):
    problem = _pose(loss, *_data(loss))
    ours, theirs = _fit(problem, 0.0, wanted=0.0), newton(problem, _start(problem), 1e-12)
    a, b = (problem.to_raw(found.theta) for found in (ours, theirs))
    a, b = (part - part.mean(axis=0) * loss.coupled for part in (a, b))
    np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9 * np.abs(b).max())
    assert _fit(problem, 0.0, wanted=1e-8).converged


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Softmax()], ids=lambda loss: loss.name)
def test_units_do_not_matter_sparse_is_dense_and_weights_are_repetition(loss):
    x, t = _data(loss, 150)
    x[np.random.default_rng(2).random(x.shape) < 0.5] = 0.0
    weight = np.random.default_rng(3).integers(0, 3, len(x))
    dense = _pose(loss, np.repeat(x, weight, axis=0), np.repeat(t, weight, axis=0))
    l1, units = _l1(dense, 0.05), 10.0 ** np.arange(-6, 6)
    want = _told(dense, l1)
    for rows in (x, sparse.csr_array(x)):
        problem = _pose(loss, rows, t, weight=weight.astype(np.float64))
        np.testing.assert_allclose(_told(problem, l1), want, rtol=1e-7, atol=1e-10)
    other = _pose(loss, x * units, t, weight=weight.astype(np.float64))
    found = proximal(other, l1 * units * other.view.scale, _start(other), 1e-11)
    np.testing.assert_allclose(other.to_raw(found.theta)[:, 1:] * units, want[:, 1:], rtol=1e-7, atol=1e-9)


def test_columns_are_narrowed_as_they_are():
    x, t = _data(Squared())
    columns = np.array([1, 5, 7])
    for rows in (x, sparse.csr_array(x)):
        problem = _pose(Squared(), rows, t, ridge=0.3)
        few = problem.of_columns(columns)
        theta = np.arange(1.0, 5.0)[None]
        whole = _start(problem)
        whole[:, [0, *columns + 1]] = theta
        a, b = few.evaluate(theta), problem.evaluate(whole)
        assert a.value == pytest.approx(b.value, rel=1e-13)
        np.testing.assert_allclose(a.gradient, b.gradient[:, [0, *columns + 1]], rtol=1e-11, atol=1e-11)
        assert select_columns(problem.source, columns).reads is problem.source.reads


@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("loss", [Squared(), Logistic(), Softmax(), Poisson()], ids=lambda loss: loss.name)
def test_many_columns_are_met_by_few(loss, ridge):
    problem = _pose(loss, *_data(loss, 80, 400, spreads=0.3), ridge=ridge)
    l1 = _l1(problem, 0.3)
    rounding = 4e-15 * abs(_fit(problem, l1, wanted=1e-3).evaluation.value)
    found = _fit(problem, l1, wanted=max(1e-10, rounding))
    assert found.converged
    assert _kkt(problem, found.theta, l1) <= 1e-8
    assert 0 < (found.theta[:, 1:] != 0).any(axis=0).sum() < 200


@pytest.mark.parametrize(
    ("loss", "share", "name", "wanted"),
    [(Softmax(), 0.02, "TOGETHER", 1e-9), (Logistic(), 0.3, "MOST_MATRIX_NUMBERS", 1e-3)],
)
def test_outputs_apart_or_without_any_matrix_go_as_low(loss, share, name, wanted, monkeypatch):
    problem = _pose(loss, *_data(loss))
    l1 = _l1(problem, share)
    best = _fit(problem, l1, wanted=1e-9).evaluation.value
    monkeypatch.setattr(proximal_newton, name, 0)
    found = _fit(problem, l1, wanted=wanted, max_steps=1000)
    assert found.converged
    assert -2e-9 <= found.evaluation.value - best <= found.gap + 2e-9
    assert found.gap <= wanted


@pytest.mark.parametrize("ridge", [0.0, 0.7])
@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_steps_within_orthants_meet_those_with_a_matrix(loss, ridge, monkeypatch):
    x, t = _data(loss, 200, 60, spreads=0.2)
    x[np.random.default_rng(4).random(x.shape) < 0.7] = 0.0
    problem = _pose(loss, sparse.csr_array(x), t, ridge=ridge)
    l1 = _l1(problem, 0.1)
    best = _fit(problem, l1)
    taken = []
    steps = proximal_newton.orthant_newton
    monkeypatch.setattr(proximal_newton, "orthant_newton", lambda *given: taken.append(steps(*given)) or taken[-1])
    monkeypatch.setattr(proximal_newton, "MOST_MATRIX_NUMBERS", 0)
    found = _fit(problem, l1)
    if not ridge and loss.name in ("softmax", "huber", "squared_hinge"):
        assert not taken  # some direction has no curvature
        return
    assert len(taken) == 1
    assert found.gap <= 1e-8 * abs(best.evaluation.value)
    assert found.evaluation.value == pytest.approx(best.evaluation.value, rel=1e-8)
    assert (np.diff(found.history) <= 1e-12 * abs(best.evaluation.value)).all()
    told, wanted = (problem.to_raw(one.theta)[:, 1:] for one in (found, best))
    np.testing.assert_allclose(told, wanted, atol=1e-6 * np.abs(wanted).max())
    np.testing.assert_array_equal(told != 0, wanted != 0)


@pytest.mark.parametrize("features", [12, 300])
@pytest.mark.parametrize("loss", [Squared(), Logistic(), Softmax()], ids=lambda loss: loss.name)
def test_a_path_meets_each_penalty(loss, features):
    problem = _pose(loss, *_data(loss, 100, features, spreads=0.3))
    points = l1_points(problem, problem.view.scale, np.zeros(problem.outputs), 1e-9, points=6, ratio=0.05)
    largest = points[0].l1
    assert not points[0].found.theta[:, 1:].any()
    assert _fit(problem, 0.99 * largest).theta[:, 1:].any()
    for point in points:
        assert point.found.converged
        assert point.found.evaluation.value == pytest.approx(
            _fit(problem, point.l1, wanted=1e-9).evaluation.value, abs=2e-9
        )
    assert points[-1].l1 == pytest.approx(0.05 * largest, rel=1e-12)


def test_columns_without_a_penalty_are_free():
    problem = _pose(Logistic(), *_data(Logistic()))
    unit = problem.view.scale.copy()
    unit[:2] = 0.0
    largest = largest_l1(problem, unit)
    found = proximal(problem, largest * unit * (1 + 1e-9), _start(problem), 0.0)
    assert found.gap <= 1e-9
    assert found.theta[0, 1:3].all()
    assert not found.theta[0, 3:].any()
    assert np.abs(found.evaluation.gradient[0, :3]).max() <= 1e-6
    assert proximal(problem, 0.99 * largest * unit, _start(problem), 1e-9).theta[0, 3:].any()


@pytest.mark.parametrize("ridge", [0.0, 2.0])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", [Squared(), Logistic(), Softmax()], ids=lambda loss: loss.name)
def test_it_is_that_of_scikit_learn(loss, intercept, ridge):
    x, t = _data(loss, spreads=0.2)
    problem = _pose(loss, x, t, ridge=ridge, intercept=intercept)
    l1 = _l1(problem, 0.1)
    ours, alpha = problem.to_raw(_fit(problem, l1).theta), (l1 + ridge) / len(x)
    if loss.name == "squared":
        how = {"tol": 1e-14, "max_iter": 1_000_000, "fit_intercept": intercept}
        model = ElasticNet(alpha=alpha, l1_ratio=l1 / (l1 + ridge), **how)
    else:
        how = {"tol": 1e-8, "max_iter": 20_000, "fit_intercept": intercept}
        model = l1_logistic(l1, ridge, random_state=0, **how)
    coef = np.atleast_2d(model.fit(x, t[:, 0]).coef_)
    np.testing.assert_allclose(ours[:, 1:], coef, atol=(1e-8 if loss.name == "squared" else 1e-5) * np.abs(coef).max())


def test_the_proof_never_holds_all_targets(monkeypatch):
    problem = _pose(Logistic(), *_data(Logistic()))
    monkeypatch.setattr(type(problem.source), "read_targets", lambda self: pytest.fail("all targets at once"))
    assert _fit(problem, _l1(problem, 0.1)).gap <= 1e-11
