r"""Where no plane separates the classes, the perceptron never settles.

Lecture S4: "the perceptron learning procedure can learn a linear decision surface, if such a surface exists that
separates the two classes. If no perfect solution exists, the perceptron procedure will keep wobbling around." Its rule,

$$w_i(t + 1) = w_i(t) + (y^p - f(W'X^p))\, x_i^p,$$

stops only where no row is wrong. The figure follows the rows that are wrong after each epoch, for classes with a gap
and for the same classes moved into each other: the first ends at zero, the second never settles. `separability` knows
which case it is before the first epoch; `Pocket` keeps the best weights met.
"""

from __future__ import annotations

import warnings

import numpy as np
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning

from adaline import Perceptron, Pocket, separability
from drawing import BLUE, GREEN, VERMILION, finish, line, panels, points, show

EPOCHS = 200


def wrong_after_each_epoch(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Wrong rows after each epoch, and the weights of each, of length 1."""
    model, wrong, weights = Perceptron(), [], []
    for _ in range(EPOCHS):
        model.partial_fit(X, y, classes=[0, 1])
        wrong.append(int((model.predict(X) != y).sum()))
        theta = np.array([model.intercept_[0], *model.coef_[0]])
        weights.append(theta / np.linalg.norm(theta))
    return np.array(wrong), np.array(weights)


def main() -> Figure:
    rng = np.random.default_rng(12)
    y = np.tile([0, 1], 100)
    X = rng.uniform(-1, 1, size=(200, 2))
    apart, overlapping = (X + np.where(y == 1, reach, -reach)[:, None] * [1.0, 0.6] for reach in (1.0, 0.6))
    calm, still = wrong_after_each_epoch(apart, y)
    wobbling, moving = wrong_after_each_epoch(overlapping, y)
    assert separability(apart, y).separable, "the first pair of classes has a gap"
    assert not separability(overlapping, y).separable, "the second has none"
    assert calm[-1] == 0, "separable: no errors in the end"
    assert np.all(still[-EPOCHS // 2 :] == still[-1]), "and no more moves"
    late = wobbling[-EPOCHS // 2 :]
    assert late.min() > 0, "inseparable: never without errors"
    assert late.std() > 1, "which go up and down without end"
    moves = np.linalg.norm(np.diff(moving[-EPOCHS // 2 :], axis=0), axis=1)
    assert np.all(moves > 0), "and the plane moves every epoch"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        pocket = Pocket(epochs=EPOCHS).fit(overlapping, y)
    assert pocket.errors_[0] <= wobbling.min(), "the pocket has weights as good as any met"

    figure, (left, right) = panels(2)
    epochs = np.arange(1, EPOCHS + 1)
    left.plot(epochs, wobbling, color=VERMILION, linewidth=1, label="perceptron, overlapping classes")
    left.plot(epochs, calm, "--", color=BLUE, label="perceptron, separable classes")
    left.axhline(pocket.errors_[0], color=GREEN, linestyle="-.", label="pocket, overlapping classes")
    finish(left, "Wrong rows after each epoch", "epoch", "wrong rows of 200")
    points(right, overlapping, y)
    for w0, *w in moving[-20:]:
        line(right, w, w0, color=VERMILION, alpha=0.4, linewidth=1)
    line(right, pocket.coef_, pocket.intercept_, color=GREEN, linestyle="-.", label="pocket")
    right.plot([], [], color=VERMILION, alpha=0.6, label="perceptron, last 20 epochs")
    finish(right, "Its plane keeps moving", "$x_1$", "$x_2$")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
