"""Each rule against the lecture's formula, written down again here in longer arithmetic, or against its meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_iris

from adaline.block import Block, Shape
from adaline.errors import InvalidParameter
from adaline.scans import (
    AdaptiveRule,
    KeslerRule,
    LMSRule,
    PerceptronRule,
    RLSRule,
    Scan,
    Schedule,
    SigmoidRule,
    SoftmaxRule,
    State,
)

Array = NDArray[Any]

ROWS, D = 1000, 6
LONG = np.longdouble


@pytest.fixture(scope="module")
def rows() -> tuple[Array, Array]:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(ROWS, D)) + 0.5
    return x, x @ rng.normal(size=D) + 1.0 + rng.normal(size=ROWS)


def weights_after_each(scan: Scan, x: Array, t: Array) -> Array:
    """Return theta after each row, (n, K, 1 + D)."""
    out = []
    for i in range(len(x)):
        scan.run(Block(x[i : i + 1], t[i : i + 1].reshape(1, -1)))
        out.append(scan.theta.copy())
    return np.array(out)


def ones_and(x: Array) -> Array:
    return np.concatenate([np.ones((len(x), 1)), x], axis=1).astype(LONG)


STEPS = {
    "lms": lambda w, e, x, eta: w + eta * e * x,
    "normalized": lambda w, e, x, eta: w + eta * e * x / (LONG(0.01) + (x**2).sum()),
    "leaky": lambda w, e, x, eta: w * (1 - eta * LONG(0.3) * (np.arange(len(w)) > 0)) + eta * e * x,
    "sign-error": lambda w, e, x, eta: w + eta * x if e > 0 else w - eta * x,
    "sign-data": lambda w, e, x, eta: w + eta * e * (1.0 * (x > 0) - 1.0 * (x < 0)),
    "sign-sign": lambda w, e, x, eta: w + (1 if e > 0 else -1) * eta * (1.0 * (x > 0) - 1.0 * (x < 0)),
}


@pytest.mark.parametrize("variant", STEPS)
def test_lms_after_every_row(variant: str, rows: tuple[Array, Array]) -> None:
    x, t = rows
    eta = 0.02
    found = weights_after_each(LMSRule.start(Shape(D, 1), rate=eta, variant=variant, eps=0.01, leak=0.3), x, t)
    w = np.zeros(1 + D, dtype=LONG)
    for n, row in enumerate(ones_and(x)):
        w = STEPS[variant](w, LONG(t[n]) - (w * row).sum(), row, LONG(eta))
        np.testing.assert_allclose(found[n, 0], w.astype(float), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("schedule", "rate"),
    [
        ("constant", lambda t: LONG(0.05)),
        ("1/t", lambda t: LONG(0.05) / t),
        ("power", lambda t: LONG(0.05) / (1 + LONG(t) / 50) ** LONG(0.6)),
        (lambda t: 1.0 / (t + 3) ** 2, lambda t: LONG(0.05) / (t + 3) ** 2),
    ],
    ids=["constant", "1_t", "power", "callable"],
)
def test_schedules(schedule: Any, rate: Any, rows: tuple[Array, Array]) -> None:
    x, t = rows
    found = weights_after_each(LMSRule.start(Shape(D, 1), rate=Schedule(0.05, schedule, tau=50.0, power=0.6)), x, t)
    w = np.zeros(1 + D, dtype=LONG)
    for n, row in enumerate(ones_and(x)):
        w = w + rate(n + 1) * (LONG(t[n]) - (w * row).sum()) * row
        np.testing.assert_allclose(found[n, 0], w.astype(float), rtol=1e-12, atol=1e-12)


def test_a_constant_that_is_not_there_does_not_keep_rls_from_forgetting() -> None:
    rng = np.random.default_rng(0)
    scan = RLSRule.start(Shape(3, 1), forget=0.5, intercept=False)
    for slope in (1.0, -1.0):
        x = rng.normal(size=(3000, 3))
        scan.run(Block(x, slope * x[:, :1]))
        np.testing.assert_allclose(scan.theta, [[0.0, slope, 0.0, 0.0]], atol=1e-9)
    assert np.abs(scan.root).max() < 1e3


@pytest.mark.parametrize("forget", [1.0, 0.98])
def test_rls_is_the_minimum_after_every_row(forget: float, rows: tuple[Array, Array]) -> None:
    x, t = rows
    found = weights_after_each(RLSRule.start(Shape(D, 1), forget=forget, delta=0.5), x, t)
    augmented = ones_and(x).astype(float)
    for n in (0, 1, 5, 30, 200, ROWS - 1):
        fade = np.sqrt(forget ** np.arange(n, -1, -1.0))[:, None]
        prior = np.sqrt(0.5 * forget ** (n + 1)) * np.eye(1 + D)
        design = np.concatenate([fade * augmented[: n + 1], prior])
        target = np.concatenate([fade[:, 0] * t[: n + 1], np.zeros(1 + D)])
        np.testing.assert_allclose(found[n, 0], np.linalg.lstsq(design, target, rcond=None)[0], rtol=1e-9, atol=1e-10)


def test_rls_stays_positive_definite_for_ever() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 1)) * [1.0, 1.0, 0.0] + [0.0, 1e-9, 0.0]
    scan = RLSRule.start(Shape(3, 1), forget=0.5)
    for _ in range(5):
        scan.run(Block(x, x[:, :1].copy()))
    assert scan.status is State.RUNNING
    assert np.isfinite(scan.root).all()
    assert np.isfinite(scan.theta).all()
    np.testing.assert_allclose(scan.theta[0, 1:3].sum(), 1.0, rtol=1e-6)


def test_perceptron_is_exact_on_whole_numbers() -> None:
    """The run of reference/adaptive.json: setosa against versicolor, millimetres."""
    x, t = load_iris(return_X_y=True)
    x, t = np.round(10 * x[:100]), np.where(t[:100] == 1, 1.0, -1.0)[:, None]
    scan, wrong = PerceptronRule.start(Shape(4, 1)), []
    while not wrong or wrong[-1]:
        scan.begin()
        scan.run(Block(x, t))
        wrong.append(int(scan.tally.mistakes))
    assert wrong == [2, 2, 1, 0]
    np.testing.assert_array_equal(np.abs(scan.theta), [[1, 13, 41, 52, 22]])
    np.testing.assert_array_equal(scan.theta, [[-1, -13, -41, 52, 22]])
    margins = t[:, 0] * (x @ scan.theta[0, 1:] + scan.theta[0, 0])
    assert scan.tally.margin == margins.min()


def test_adaline_on_iris() -> None:
    """The run of reference/adaptive.json, computed there in 80-bit arithmetic."""
    x, t = load_iris(return_X_y=True)
    z = (x[:100] - x[:100].mean(axis=0)) / x[:100].std(axis=0)
    scan, cost = LMSRule.start(Shape(4, 1), rate=0.01), []
    for _ in range(20):
        scan.begin()
        scan.run(Block(z, np.where(t[:100] == 1, 1.0, -1.0)[:, None]))
        cost.append(scan.tally.loss)
    expected = [
        0.021981424483531756,
        -0.021067293945004457,
        -0.20216496601054645,
        0.4475068676839162,
        0.4166442098088243,
    ]
    np.testing.assert_allclose(scan.theta[0], expected, rtol=1e-11)
    np.testing.assert_allclose(cost[:3], [10.61363521270437, 2.4508261949219117, 2.2413490718921016], rtol=1e-11)


def test_kesler_is_a_perceptron_in_the_constructed_space(rows: tuple[Array, Array]) -> None:
    """Each row becomes K - 1 rows of K (1 + D) columns: x in the place of its class, -x in the rival's."""
    x = np.round(8 * rows[0][:300])
    labels = np.digitize(rows[1][:300], [-0.5, 1.5])
    found = weights_after_each(KeslerRule.start(Shape(D, 1), classes=3, rate=0.5), x, labels.astype(float))
    w = np.zeros((3, 1 + D))
    for n, row in enumerate(ones_and(x).astype(float)):
        for rival in range(3):
            if rival == labels[n]:
                continue
            eta = np.zeros((3, 1 + D))
            eta[labels[n]], eta[rival] = row, -row
            if (w * eta).sum() <= 0:
                w += 0.5 * eta
        np.testing.assert_array_equal(found[n], w)


@pytest.mark.parametrize("activation", ["tanh", "logistic"])
def test_sigmoid_follows_the_gradient_of_its_loss(activation: str, rows: tuple[Array, Array]) -> None:
    x, t = rows[0], np.where(rows[1] > 0, 1.0, -1.0 if activation == "tanh" else 0.0)
    found = weights_after_each(SigmoidRule.start(Shape(D, 1), rate=0.1, activation=activation), x, t)
    w = np.zeros(1 + D, dtype=LONG)
    for n, row in enumerate(ones_and(x)):
        z = (w * row).sum()
        phi = np.tanh(z) if activation == "tanh" else 1 / (1 + np.exp(-z))
        slope = 1 / np.cosh(z) ** 2 if activation == "tanh" else np.exp(-z) / (1 + np.exp(-z)) ** 2
        w = w + LONG(0.1) * (t[n] - phi) * slope * row
        np.testing.assert_allclose(found[n, 0], w.astype(float), rtol=1e-12, atol=1e-12)


def test_softmax_follows_the_gradient_of_its_loss(rows: tuple[Array, Array]) -> None:
    x, labels = rows[0], np.digitize(rows[1], [-0.5, 1.5])
    found = weights_after_each(SoftmaxRule.start(Shape(D, 1), classes=3, rate=0.1), x, labels.astype(float))
    w = np.zeros((3, 1 + D), dtype=LONG)
    for n, row in enumerate(ones_and(x)):
        odds = np.exp(w @ row)
        w = w + LONG(0.1) * np.outer((np.arange(3) == labels[n]) - odds / odds.sum(), row)
        np.testing.assert_allclose(found[n], w.astype(float), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("variant", ["lms", "leaky", "sign-data"])
@pytest.mark.parametrize("factor", [4.0, 1e3, 1e12, 1e200])
def test_divergence_ends_within_the_epoch(variant: str, factor: float, rows: tuple[Array, Array]) -> None:
    x, t = rows
    good = LMSRule.start(Shape(D, 1), rate=0.01, variant=variant)
    good.run(Block(x, t[:, None]))
    scan = good.copy()
    scan.schedule, scan._native = Schedule(factor * good.tally.bound), None
    scan.run(Block(x, t[:, None]))
    assert scan.status is State.DIVERGED
    assert 0 <= scan.stopped < ROWS
    assert np.abs(scan.theta).max() < 100
    before = scan.theta.copy()
    scan.run(Block(x, t[:, None]))
    np.testing.assert_array_equal(scan.theta, before)


def test_below_the_bound_nothing_diverges(rows: tuple[Array, Array]) -> None:
    x = rows[0] / np.linalg.norm(rows[0], axis=1, keepdims=True)
    scan = LMSRule.start(Shape(D, 1), rate=1.9, intercept=False)
    for _ in range(20):
        scan.run(Block(x, rows[1][:, None]))
    assert scan.tally.bound == pytest.approx(2.0)
    assert scan.status is State.RUNNING


def test_adaptive_identity_is_least_squares_after_one_epoch(rows: tuple[Array, Array]) -> None:
    x, t = rows
    scan = AdaptiveRule.start(Shape(D, 1))
    scan.run(Block(x, t[:, None]))
    np.testing.assert_allclose(scan.theta[0], np.linalg.lstsq(ones_and(x).astype(float), t, rcond=None)[0], rtol=1e-8)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("activation", ["identity", "tanh", "logistic", "softmax"])
def test_adaptive_does_not_see_units(activation: str, wide: bool, rows: tuple[Array, Array]) -> None:
    x = rows[0]
    t = rows[1] if activation == "identity" else np.where(rows[1] > 0, 1.0, -1.0 if activation == "tanh" else 0.0)

    def theta(scale: Array) -> Array:
        scan = AdaptiveRule.start(Shape(D, 1), activation=activation, classes=2, wide=wide)
        for _ in range(3):
            scan.run(Block(x * scale, t[:, None]))
        return scan.theta * np.concatenate([[1.0], scale])

    plain = theta(np.ones(D))
    np.testing.assert_array_equal(theta(2.0 ** np.linspace(-20, 20, D).round()), plain)
    np.testing.assert_allclose(theta(10.0 ** np.linspace(-6, 6, D)), plain, rtol=1e-3 if wide else 1e-5, atol=1e-3)


def test_adaptive_sigmoid_ends_near_the_best_error(rows: tuple[Array, Array]) -> None:
    from scipy.optimize import least_squares

    x, t = rows[0] * 10.0 ** np.linspace(-6, 6, D), np.where(rows[1] > 0, 1.0, -1.0)
    best = least_squares(lambda w: t - np.tanh(w[0] + rows[0] @ w[1:]), np.zeros(1 + D)).cost
    scan, rng = AdaptiveRule.start(Shape(D, 1), activation="tanh"), np.random.default_rng(0)
    for _ in range(20):
        scan.run(Block(x, t[:, None]), rng.permutation(ROWS))
    e = t - np.tanh(scan.theta[0, 0] + x @ scan.theta[0, 1:])
    assert e @ e / 2 < 1.05 * best


def test_meaningless_parameters_are_refused() -> None:
    shape = Shape(2, 1)
    for wrong in (
        lambda: LMSRule.start(shape, rate=-1.0),
        lambda: LMSRule.start(shape, rate=np.nan),
        lambda: LMSRule.start(shape, variant="best"),
        lambda: LMSRule.start(shape, leak=-1.0),
        lambda: LMSRule.start(shape, init=[1.0]),
        lambda: LMSRule.start(shape, rate=Schedule(1.0, "slow")),
        lambda: Schedule(1.0, "power", tau=0.0),
        lambda: RLSRule.start(shape, forget=0.0),
        lambda: RLSRule.start(shape, delta=0.0),
        lambda: SigmoidRule.start(shape, activation="relu"),
        lambda: AdaptiveRule.start(shape, activation="relu"),
        lambda: LMSRule.start(shape, rate=Schedule(1.0, lambda t: -1.0)).run(Block(np.ones((1, 2)), np.ones((1, 1)))),
    ):
        with pytest.raises(InvalidParameter):
            wrong()
