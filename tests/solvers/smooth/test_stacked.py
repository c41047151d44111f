"""Machines that step together have the values, derivatives and minima that each has alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adaline.arrays import Array
from adaline.losses import Logistic, Loss, Softmax
from adaline.penalties import RidgePenalty
from adaline.solvers.smooth.newton import newton
from adaline.solvers.smooth.problem import Problem, build_problem
from adaline.solvers.smooth.proximal_newton import proximal
from adaline.solvers.smooth.stacked import StackedMachines, StackedRows
from adaline.sources import ArraySource

N, D = 40, 3
LOSSES = [(Logistic(), 1), (Softmax(), 3)]


def problem_of(loss: Loss, outputs: int, kept: Array | None = None) -> Problem:
    """Return a problem without penalties over rows of which `kept` (N,) are given weight, in the view of all rows."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(N, D)) * [1.0, 100.0, 0.01] + [0.0, 50.0, 1.0]
    t = (rng.integers(0, max(outputs, 2), (N, 1)) * (x[:, :1] > -1)).astype(float)
    weight = rng.integers(1, 4, N).astype(float)
    whole = build_problem(ArraySource(x, t, weight), loss, outputs, True, RidgePenalty(0.0, np.ones(D)))
    if kept is None:
        return whole
    weight = weight * kept
    return replace(whole, source=ArraySource(x, t, weight), weight=float(weight.sum()))


def stacked(loss: Loss, outputs: int) -> tuple[StackedMachines, list[Problem]]:
    """Return a machine of all rows and one without a quarter of them, and the problem of each."""
    kept = np.array([np.ones(N), np.arange(N) % 4 > 0])
    rows = StackedRows.of(problem_of(loss, outputs), len(kept))
    assert rows is not None
    machines = StackedMachines(rows, kept * rows.weight, (1 - kept) * rows.weight)
    return machines, [problem_of(loss, outputs, one) for one in kept]


@pytest.mark.parametrize(("loss", "outputs"), LOSSES)
def test_values_and_derivatives_are_those_of_each_machine_alone(loss: Loss, outputs: int) -> None:
    machines, problems = stacked(loss, outputs)
    machines.put(np.random.default_rng(1).normal(size=machines.theta.shape))
    ridges = np.array([[1.0, 2.0, 3.0], [0.5, 0.0, 4.0]])
    second = machines.rows.hessians(machines.theta, machines.inside, ridges, regular=True)
    for m, problem in enumerate(problems):
        alone = problem.evaluate(machines.theta[m])
        np.testing.assert_allclose(machines.value[m], alone.value, rtol=1e-13)
        np.testing.assert_allclose(machines.gradient[m], alone.gradient, rtol=1e-11, atol=1e-11)
        whole = replace(problem, ridge=ridges[m]).evaluate(machines.theta[m], second=True).hessian
        np.testing.assert_allclose(second[m], whole, rtol=1e-11, atol=1e-11)
    held = problems[0].evaluate(machines.theta[1]).value - machines.value[1]
    np.testing.assert_allclose(machines.held_out, [0.0, held], rtol=1e-12)


@pytest.mark.parametrize("l1", [0.0, 2.0])
@pytest.mark.parametrize(("loss", "outputs"), LOSSES)
def test_minima_are_those_of_each_machine_alone(loss: Loss, outputs: int, l1: float) -> None:
    machines, problems = stacked(loss, outputs)
    ridges = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])
    assert machines.solve(ridges, np.full(2, 1e-12), np.full((2, D), l1) if l1 else None).all()
    for m, problem in enumerate(problems):
        one, start = replace(problem, ridge=ridges[m]), np.zeros_like(machines.theta[m])
        found = proximal(one, np.full(D, l1), start, 1e-12) if l1 else newton(one, start, 1e-12)
        apart = machines.theta[m] - found.theta
        apart[:, 0] -= apart[:, 0].mean() if outputs > 1 else 0.0  # what all classes gain decides nothing
        np.testing.assert_allclose(apart, 0.0, atol=1e-6)


def test_machines_are_not_judged_on_classes_that_they_have_not_seen() -> None:
    machines, _ = stacked(*LOSSES[1])
    rows, inside, outside = machines.rows, machines.inside.copy(), machines.outside.copy()
    third = rows.t[:, 0] == 2
    outside[1, third] += inside[1, third]
    inside[1, third] = 0.0
    alone = StackedMachines(rows, inside, outside)
    assert alone.solve(np.full((2, D), 1e-3), np.full(2, 1e-10)).all()
    assert not alone.outside[1, third].any()
    assert not alone.theta[1, 2, 1:].any()
    z = rows.rows[~third] @ alone.theta[1].T
    assert Softmax().mean(z)[:, 2].max() < 1e-6
    assert alone.held_out[1] < 10 * rows.weight.sum()
