r"""Each perceptron update lowers the error of the row that caused it.

S1, Perceptron learning rule ("error decreases at each step"), and S2, the perceptron algorithm. The perceptron
criterion of a misclassified row is $-\mathbf{w}^T\mathbf{x}^k t^k$, and its update takes $\alpha\|\mathbf{x}^k\|^2$
off it:

$$-\mathbf{w}(t+1)^T\mathbf{x}^k t^k = -\mathbf{w}(t)^T\mathbf{x}^k t^k - \alpha\,(\mathbf{x}^k t^k)^T\mathbf{x}^k t^k
< -\mathbf{w}(t)^T\mathbf{x}^k t^k$$

Each arrow is an update: from the row's own error before it to that after it, the dots. It always points down, though
not always below zero, where the row would be right. (The other rows may get worse: see the example on the pocket
algorithm.)
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import Perceptron
from drawing import BLUE, GREY, VERMILION, finish, panels, show


def weights(model: Perceptron) -> np.ndarray:
    return np.append(model.intercept_, model.coef_[0])


def main(*, rate: float = 0.5) -> Figure:
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + np.outer(2 * y - 1, [1.0, 0.7])
    ones, t = np.column_stack([np.ones(60), X]), 2 * y - 1
    model = Perceptron(rate=rate, init=np.array([0.3, -1.0, 0.5])).partial_fit(X[:1], y[:1], classes=[0, 1])
    before, after, expected = [], [], []
    for k in np.tile(np.arange(1, 60), 4):
        old = weights(model)
        new = weights(model.partial_fit(X[k : k + 1], y[k : k + 1]))
        if t[k] * (ones[k] @ old) <= 0:
            before.append(-t[k] * (ones[k] @ old))
            after.append(-t[k] * (ones[k] @ new))
            expected.append(rate * ones[k] @ ones[k])
        else:
            assert np.array_equal(old, new), "a row that is right changes nothing"
    assert len(before) > 20, "there were updates"
    assert np.all(np.array(after) < before), "each update lowers its own row's error"
    assert np.allclose(np.subtract(before, after), expected), "by alpha times the squared length of the row"

    figure, (ax,) = panels(1, width=7.0, height=4.4)
    count = np.arange(1, len(before) + 1)
    ax.vlines(count, after, before, color=GREY, linewidth=1.2)
    ax.plot(count, before, "o", color=VERMILION, ms=5, label="own error before the update")
    ax.plot(count, after, "v", color=BLUE, ms=6, label="after it")
    ax.axhline(0, color="black", linewidth=0.8, linestyle=":")
    finish(ax, f"All {len(before)} updates lower their own row's error", "update", r"$-\mathbf{w}^T\mathbf{x}^k t^k$")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
