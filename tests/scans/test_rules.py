"""Each rule against the lecture's formula, written down again here in longer arithmetic, or against its meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import least_squares
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

ROWS, D = 600, 6
SHAPE = Shape(D, 1)
LONG = np.longdouble
RNG = np.random.default_rng(7)
X = RNG.normal(size=(ROWS, D)) + 0.5
Y = X @ RNG.normal(size=D) + 1.0 + RNG.normal(size=ROWS)
X.flags.writeable = Y.flags.writeable = False
ONES_X = np.column_stack([np.ones(ROWS), X])
LABELS = np.digitize(Y, [-0.5, 1.5])
SIGNS, BITS = np.where(Y > 0, 1.0, -1.0), (Y > 0).astype(float)


def weights_after_each(scan: Scan, x: Array, t: Array) -> Array:
    """Return theta after each row, (n, K, 1 + D)."""
    out = []
    for i in range(len(x)):
        scan.run(Block(x[i : i + 1], t[i : i + 1].reshape(1, -1)))
        out.append(scan.theta.copy())
    return np.array(out)


def of(sign: Array) -> Array:
    return 1.0 * (sign > 0) - 1.0 * (sign < 0)


def sigmoid(activation: str) -> Callable[..., Array]:
    """Return the gradient step of half the squared error through an activation."""

    def step(w: Array, t: Any, x: Array, n: int) -> Array:
        z = w @ x
        phi = np.tanh(z) if activation == "tanh" else 1 / (1 + np.exp(-z))
        slope = 1 / np.cosh(z) ** 2 if activation == "tanh" else np.exp(-z) / (1 + np.exp(-z)) ** 2
        return w + LONG(0.1) * (t - phi) * slope * x

    return step


def softmax(w: Array, t: Any, x: Array, n: int) -> Array:
    odds = np.exp(w @ x)
    return w + LONG(0.1) * np.outer((np.arange(3) == t) - odds / odds.sum(), x)


def lms(rule: Callable[..., Array], rate: Callable[[int], Any] = lambda n: LONG(0.02)) -> Callable[..., Array]:
    """Return a step of the error before it."""
    return lambda w, t, x, n: rule(w, LONG(t) - w @ x, x, rate(n))


def plain(w: Array, e: Any, x: Array, eta: Any) -> Array:
    return w + eta * e * x


def variant(name: str) -> LMSRule:
    return LMSRule.start(SHAPE, rate=0.02, variant=name, eps=0.01, leak=0.3)


def schedule(kind: Any) -> LMSRule:
    return LMSRule.start(SHAPE, rate=Schedule(0.05, kind, tau=50.0, power=0.6))


FADE = np.arange(1 + D) > 0
RULES: dict[str, tuple[Scan, Array, Callable[..., Array]]] = {
    "lms": (variant("lms"), Y, lms(plain)),
    "normalized": (
        variant("normalized"),
        Y,
        lms(lambda w, e, x, eta: w + eta * e * x / (LONG(0.01) + (x**2).sum())),
    ),
    "leaky": (variant("leaky"), Y, lms(lambda w, e, x, eta: w * (1 - eta * LONG(0.3) * FADE) + eta * e * x)),
    "sign-error": (variant("sign-error"), Y, lms(lambda w, e, x, eta: w + eta * x if e > 0 else w - eta * x)),
    "sign-data": (variant("sign-data"), Y, lms(lambda w, e, x, eta: w + eta * e * of(x))),
    "sign-sign": (variant("sign-sign"), Y, lms(lambda w, e, x, eta: w + (1 if e > 0 else -1) * eta * of(x))),
    "1/t": (schedule("1/t"), Y, lms(plain, lambda n: LONG(0.05) / n)),
    "power": (schedule("power"), Y, lms(plain, lambda n: LONG(0.05) / (1 + LONG(n) / 50) ** LONG(0.6))),
    "callable": (schedule(lambda n: 1.0 / (n + 3) ** 2), Y, lms(plain, lambda n: LONG(0.05) / (n + 3) ** 2)),
    "tanh": (SigmoidRule.start(SHAPE, rate=0.1, activation="tanh"), SIGNS, sigmoid("tanh")),
    "logistic": (SigmoidRule.start(SHAPE, rate=0.1, activation="logistic"), BITS, sigmoid("logistic")),
    "softmax": (SoftmaxRule.start(SHAPE, classes=3, rate=0.1), LABELS.astype(float), softmax),
}


@pytest.mark.every
@pytest.mark.parametrize("name", RULES)
def test_weights_after_every_row_are_those_of_the_formula(name: str) -> None:
    scan, t, step = RULES[name]
    found = weights_after_each(scan.copy(), X, t)
    w = np.zeros((3, 1 + D) if name == "softmax" else 1 + D, dtype=LONG)
    for n, row in enumerate(ONES_X.astype(LONG)):
        w = step(w, t[n], row, n + 1)
        np.testing.assert_allclose(found[n].reshape(w.shape), w.astype(float), rtol=1e-12, atol=1e-12)


def test_a_constant_that_is_not_there_does_not_keep_rls_from_forgetting() -> None:
    rng = np.random.default_rng(0)
    scan = RLSRule.start(Shape(3, 1), forget=0.5, intercept=False)
    for slope in (1.0, -1.0):
        x = rng.normal(size=(3000, 3))
        scan.run(Block(x, slope * x[:, :1]))
        np.testing.assert_allclose(scan.theta, [[0.0, slope, 0.0, 0.0]], atol=1e-9)
    assert np.abs(scan.root).max() < 1e3


@pytest.mark.parametrize("forget", [1.0, 0.98])
def test_rls_is_the_minimum_after_every_row(forget: float) -> None:
    found = weights_after_each(RLSRule.start(SHAPE, forget=forget, delta=0.5), X, Y)
    for n in (0, 1, 5, 30, 200, ROWS - 1):
        fade = np.sqrt(forget ** np.arange(n, -1, -1.0))[:, None]
        prior = np.sqrt(0.5 * forget ** (n + 1)) * np.eye(1 + D)
        design = np.concatenate([fade * ONES_X[: n + 1], prior])
        target = np.concatenate([fade[:, 0] * Y[: n + 1], np.zeros(1 + D)])
        np.testing.assert_allclose(found[n, 0], np.linalg.lstsq(design, target, rcond=None)[0], rtol=1e-9, atol=1e-10)


def test_rls_stays_positive_definite_for_ever() -> None:
    x = np.random.default_rng(0).normal(size=(4000, 1)) * [1.0, 1.0, 0.0] + [0.0, 1e-9, 0.0]
    scan = RLSRule.start(Shape(3, 1), forget=0.5)
    for _ in range(5):
        scan.run(Block(x, x[:, :1].copy()))
    assert scan.status is State.RUNNING
    assert np.isfinite(scan.root).all()
    np.testing.assert_allclose(scan.theta[0, 1:3].sum(), 1.0, rtol=1e-6)


def iris() -> tuple[Array, Array]:
    x, t = load_iris(return_X_y=True)
    return x[:100], np.where(t[:100] == 1, 1.0, -1.0)[:, None]


def test_perceptron_is_exact_on_whole_numbers() -> None:
    """The run of reference/adaptive.json: setosa against versicolor, millimetres."""
    x, t = iris()
    x = np.round(10 * x)
    scan, wrong = PerceptronRule.start(Shape(4, 1)), []
    while not wrong or wrong[-1]:
        scan.begin()
        scan.run(Block(x, t))
        wrong.append(int(scan.tally.mistakes))
    assert wrong == [2, 2, 1, 0]
    np.testing.assert_array_equal(scan.theta, [[-1, -13, -41, 52, 22]])
    margins = t[:, 0] * (x @ scan.theta[0, 1:] + scan.theta[0, 0])
    assert scan.tally.margin == margins.min()


def test_adaline_on_iris() -> None:
    """The run of reference/adaptive.json, computed there in 80-bit arithmetic."""
    x, t = iris()
    scan, cost = LMSRule.start(Shape(4, 1), rate=0.01), []
    for _ in range(20):
        scan.begin()
        scan.run(Block((x - x.mean(axis=0)) / x.std(axis=0), t))
        cost.append(scan.tally.loss)
    slopes = [-0.021067293945004457, -0.20216496601054645, 0.4475068676839162, 0.4166442098088243]
    np.testing.assert_allclose(scan.theta[0], [0.021981424483531756, *slopes], rtol=1e-11)
    np.testing.assert_allclose(cost[:3], [10.61363521270437, 2.4508261949219117, 2.2413490718921016], rtol=1e-11)


def test_kesler_is_a_perceptron_in_the_constructed_space() -> None:
    """Each row becomes K - 1 rows of K (1 + D) columns: x in the place of its class, -x in the rival's."""
    x = np.round(8 * X[:300])
    found = weights_after_each(KeslerRule.start(SHAPE, classes=3, rate=0.5), x, LABELS[:300].astype(float))
    w = np.zeros((3, 1 + D))
    for n, row in enumerate(np.column_stack([np.ones(300), x])):
        for rival in {0, 1, 2} - {LABELS[n]}:
            eta = np.zeros((3, 1 + D))
            eta[LABELS[n]], eta[rival] = row, -row
            if (w * eta).sum() <= 0:
                w += 0.5 * eta
        np.testing.assert_array_equal(found[n], w)


@pytest.mark.parametrize("name", ["lms", "leaky", "sign-data"])
@pytest.mark.parametrize("factor", [4.0, 1e3, 1e12, 1e200])
def test_divergence_ends_within_the_epoch(name: str, factor: float) -> None:
    block = Block(X, Y[:, None])
    good = LMSRule.start(SHAPE, rate=0.01, variant=name)
    good.run(block)
    scan = good.copy()
    scan.schedule, scan._native = Schedule(factor * good.tally.bound), None
    scan.run(block)
    assert scan.status is State.DIVERGED
    assert 0 <= scan.stopped < ROWS
    assert np.abs(scan.theta).max() < 100
    before = scan.theta.copy()
    scan.run(block)
    np.testing.assert_array_equal(scan.theta, before)


def test_below_the_bound_nothing_diverges() -> None:
    x = X / np.linalg.norm(X, axis=1, keepdims=True)
    scan = LMSRule.start(SHAPE, rate=1.9, intercept=False)
    for _ in range(20):
        scan.run(Block(x, Y[:, None]))
    assert scan.tally.bound == pytest.approx(2.0)
    assert scan.status is State.RUNNING


def test_adaptive_identity_is_least_squares_after_one_epoch() -> None:
    scan = AdaptiveRule.start(SHAPE)
    scan.run(Block(X, Y[:, None]))
    np.testing.assert_allclose(scan.theta[0], np.linalg.lstsq(ONES_X, Y, rcond=None)[0], rtol=1e-8)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("activation", ["identity", "tanh", "logistic", "softmax"])
def test_adaptive_does_not_see_units(activation: str, wide: bool) -> None:
    t = {"identity": Y, "tanh": SIGNS}.get(activation, BITS)

    def theta(scale: Array) -> Array:
        scan = AdaptiveRule.start(SHAPE, activation=activation, classes=2, wide=wide)
        for _ in range(3):
            scan.run(Block(X * scale, t[:, None]))
        return scan.theta * np.concatenate([[1.0], scale])

    unscaled = theta(np.ones(D))
    np.testing.assert_array_equal(theta(2.0 ** np.linspace(-20, 20, D).round()), unscaled)
    np.testing.assert_allclose(theta(10.0 ** np.linspace(-6, 6, D)), unscaled, rtol=1e-3 if wide else 1e-5, atol=1e-3)


def test_adaptive_sigmoid_ends_near_the_best_error() -> None:
    x = X * 10.0 ** np.linspace(-6, 6, D)
    best = least_squares(lambda w: SIGNS - np.tanh(ONES_X @ w), np.zeros(1 + D)).cost
    scan, rng = AdaptiveRule.start(SHAPE, activation="tanh"), np.random.default_rng(0)
    for _ in range(20):
        scan.run(Block(x, SIGNS[:, None]), rng.permutation(ROWS))
    e = SIGNS - np.tanh(scan.theta[0, 0] + x @ scan.theta[0, 1:])
    assert e @ e / 2 < 1.05 * best


@pytest.mark.every
@pytest.mark.parametrize(
    "wrong",
    [
        *({"rate": -1.0}, {"rate": np.nan}, {"variant": "best"}, {"leak": -1.0}, {"init": [1.0]}),
        *({"kind": "slow"}, {"kind": "power", "tau": 0.0}, {"forget": 0.0}, {"delta": 0.0}, {"kind": lambda t: -1.0}),
        *({"rule": SigmoidRule, "activation": "relu"}, {"rule": AdaptiveRule, "activation": "relu"}),
    ],
)
def test_meaningless_parameters_are_refused(wrong: dict[str, Any]) -> None:
    rule = wrong.get("rule", RLSRule if wrong.keys() & {"forget", "delta"} else LMSRule)
    given = {name: value for name, value in wrong.items() if name != "rule"}
    with pytest.raises(InvalidParameter):
        rule.start(SHAPE, **({"rate": Schedule(1.0, **given)} if "kind" in given else given)).run(Block(X, Y[:, None]))
