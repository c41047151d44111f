"""Steps of each coordinate: averages and penalties against what they are defined by, with nothing put off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.sparse import csr_array

from adaline import LMS, SigmoidPerceptron
from adaline.arrays import Array
from adaline.block import Block, Shape
from adaline.scans import CoordinateRule
from tests.layouts import lay
from tests.scans.examples import EXAMPLES, Example
from tests.scans.test_laws import part
from tests.turns import in_turn

OF_COORDINATES = [e for e in EXAMPLES if e.kind is CoordinateRule and "average" not in e.config]


@in_turn("way", ["dense", "csr", "reference"])
@pytest.mark.parametrize("example", OF_COORDINATES, ids=str)
def test_the_average_is_the_plain_mean_of_the_weights_after_each_row(example: Example, way: str) -> None:
    block = example.rows(60)
    plain, whole = example.start(), CoordinateRule.start(example.shape, **example.config, average=True)
    after = []
    for i in range(60):
        plain.run(part(block, slice(i, i + 1)))
        if block.weight[i] > 0:
            after.append(plain.theta.copy())
    rows = replace(block, x=lay(block.x, "csr" if way == "csr" else "float64"))
    (whole.run_reference if way == "reference" else whole.run)(rows)
    assert whole.steps == len(after)
    expected = np.mean(after, axis=0)
    np.testing.assert_allclose(whole.weights(slice(None)), expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(whole.theta, plain.theta, rtol=1e-12, atol=1e-14)
    if way == "dense":
        np.testing.assert_array_equal(whole.theta, plain.theta)


def documents(share: float) -> tuple[Any, Array]:
    """Return counts of words in 400 documents of two classes; one has other words in a share of the cases."""
    with np.errstate(over="ignore"):  # splitmix64, as the streams of NumPy may change
        z = np.arange(1, 400 * 42 + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    u = ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).reshape(400, 42) * 2.0**-53
    t, drawn = (u[:, 0] < 0.5).astype(float), u[:, 2:]
    words = np.floor(2000.0**drawn).astype(int)
    words += (t[:, None] > 0) & (words % 3 == 0) & (np.roll(drawn, 1, axis=1) < share)
    x = csr_array((np.ones(words.size), (np.repeat(np.arange(400), 40), words.ravel() % 2000)), shape=(400, 2000))
    x.sum_duplicates()
    return x, t


VOWPAL_WABBIT = {0.2: (0.266181, 0.266762), 0.5: (0.192298, 0.193720), 1.0: (0.059148, 0.067175)}
"""The average loss that vw 9.11 prints for `documents`, and with --min_prediction -1e9 --max_prediction 1e9 beside."""


@in_turn("share", VOWPAL_WABBIT)
def test_squared_steps_are_those_of_vowpal_wabbit_where_it_bounds_no_output(share: float) -> None:
    x, t = documents(share)
    loss = 2 * LMS(epochs=1).fit(x, t).history_[0]
    assert loss == pytest.approx(VOWPAL_WABBIT[share][1], rel=1e-5)


@in_turn("share", [0.2, 0.5])
@in_turn("activation", ["tanh", "logistic"])
def test_one_pass_of_a_sigmoid_is_no_worse_than_vowpal_wabbit(activation: str, share: float) -> None:
    x, t = documents(share)
    model = SigmoidPerceptron(mode="online", epochs=1, activation=activation).fit(x, t)
    loss = 2 * model.history_[0] / (4 if activation == "tanh" else 1)  # of targets -1 and 1
    assert loss <= 1.005 * VOWPAL_WABBIT[share][0]


class PlainProximal:
    """Two classes of rows of -1, 0 and 1, no intercept: all gradients and quadratics so far are kept, and minimised.

    After a row, the weights of every column minimise  -sum_i p_i w + 1/2 sum_i (H_i - H_(i-1)) (w - w_(i-1))^2
    + e (l1 |w| + penalty / 2 w^2)  over all rows i so far, whether they have the column or not.
    """

    def __init__(self, columns: int, penalty: float, l1: float) -> None:
        self.penalty, self.l1, self.w = penalty, l1, np.zeros(columns)
        self.squares, self.weight, self.length = np.zeros(columns), 0.0, 0.0
        self.gradients: list[Array] = []
        self.quadratics: list[Array] = []
        self.centres: list[Array] = []
        self.curvature = np.zeros(columns)

    def learn(self, x: Array, t: float, times: int) -> None:
        y, z = 2 * t - 1, float(self.w @ x)
        g = -y / (1 + np.exp(y * z))
        self.squares += g * g * x * x
        self.weight, self.length = self.weight + 1, self.length + float(x @ x)
        m = np.sqrt(self.weight / self.length)
        at = x != 0
        q = m * float((1 / np.sqrt(self.squares[at])).sum())
        grown = lambda d: d + np.exp(y * z) * np.expm1(d) - q / 2  # noqa: E731
        u = y * brentq(grown, 0, q / 2, xtol=1e-15, rtol=1e-15) / q
        curvature = np.where(at, np.sqrt(self.squares) * 2 / m, self.curvature)
        self.gradients.append(2 * u * x)
        self.quadratics.append(curvature - self.curvature)
        self.centres.append(self.w.copy())
        self.curvature = curvature
        a = np.sum(self.gradients, axis=0) + np.sum(np.multiply(self.quadratics, self.centres), axis=0)
        size = np.maximum(np.abs(a) - times * self.l1, 0.0)
        least = np.copysign(size, a) / np.where(size > 0, self.curvature + times * self.penalty, 1.0)
        self.w = np.where(at, least, self.w)


@pytest.mark.parametrize("options", [{"l1": 1.5}, {"penalty": 2.0}, {"penalty": 1.0, "l1": 0.5}], ids=str)
def test_penalties_are_those_of_all_gradients_and_quadratics_so_far(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    x = rng.choice([-1.0, 0.0, 1.0], (200, 6), p=[0.2, 0.6, 0.2])
    x[~x.any(axis=1), 0] = 1.0
    t = (x @ [2.0, -1.0, 0.5, 0.0, 0.0, 0.0] + rng.logistic(size=200) > 0).astype(float)
    scan = CoordinateRule.start(Shape(6, 1), intercept=False, **options)
    plain = PlainProximal(6, options.get("penalty", 0.0), options.get("l1", 0.0))
    zeros = 0
    for epoch in range(2):
        scan.begin(again=epoch > 0)
        for row, label in zip(x, t, strict=True):
            scan.run(Block(row[None], np.array([[label]])))
            plain.learn(row, label, 1 + epoch)
            np.testing.assert_allclose(scan.theta[0, 1:], plain.w, rtol=1e-9, atol=1e-9)
            zeros += int((plain.w[plain.squares > 0] == 0).sum())
            assert ((scan.theta[0, 1:] == 0) == (plain.w == 0)).all()
    assert (zeros > 0) == ("l1" in options)
