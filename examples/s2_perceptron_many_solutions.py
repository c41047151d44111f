r"""Where a perceptron ends depends on its start, on the order of the rows and on the rate.

S2, practical limitations: "The solution is in general not unique, and will depend upon initialization, scheduling of
input vectors, and the learning rate". A run stops at the first weights without an error, any one of a cone of them:

$$\mathbf{w}^{\tau+1} = \mathbf{w}^\tau + \eta\,\mathbf{x}_n t_n \quad\text{until}\quad
\mathbf{w}^t\mathbf{x}_n t_n > 0 \ \ \forall n$$

All lines separate the classes. From zero weights the rate alone changes nothing: it multiplies all weights, as the
last assertion checks; so the third panel starts elsewhere.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import Perceptron
from drawing import BLUE, GREEN, ORANGE, PURPLE, VERMILION, finish, line, panels, points, show

START = np.array([1.0, -2.0, 2.0])  # intercept first


def direction(model: Perceptron) -> np.ndarray:
    w = np.append(model.intercept_, model.coef_[0])
    return w / np.linalg.norm(w)


def main(*, seeds: tuple[int, ...] = (1, 2, 3, 4, 5)) -> Figure:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(scale=0.8, size=(60, 2)) + np.outer(2 * y - 1, [1.8, 1.2])
    orders = [np.random.default_rng(seed).permutation(60) for seed in seeds]
    runs = {
        "start": [Perceptron(init="random", random_state=seed).fit(X, y) for seed in seeds],
        "order of rows": [Perceptron().fit(X[order], y[order]) for order in orders],
        "rate": [Perceptron(init=START, rate=rate).fit(X, y) for rate in (0.1, 0.3, 1.0, 3.0, 10.0)],
    }
    figure, axes = panels(3, width=4.2)
    for ax, (what, models) in zip(axes, runs.items(), strict=True):
        points(ax, X, y)
        for model, colour in zip(models, (BLUE, VERMILION, GREEN, ORANGE, PURPLE), strict=True):
            assert model.score(X, y) == 1, "every run separates the classes"
            line(ax, model.coef_, model.intercept_, color=colour, linewidth=1.3)
        found = np.array([direction(model) for model in models])
        angles = np.degrees(np.arccos(np.clip(found @ found.T, -1, 1)))
        assert angles.max() > 5, f"but where it ends depends on the {what}"
        finish(ax, f"Another {what}, another line", "$x_1$", "$x_2$")
    same = [direction(Perceptron(rate=rate).fit(X, y)) for rate in (0.25, 1.0, 8.0)]
    assert np.allclose(same, same[0], rtol=1e-12), "from zero the rate changes nothing but the length of w"
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
