r"""A perceptron's total error is not monotone; the pocket's is, and it reaches the optimum.

S2, the perceptron algorithm ("not guaranteed to reduce the total error monotonically at each stage") and the pocket
algorithm (Gallant 1990): keep the weights $\mathbf{w}^*$ with the fewest errors so far. With rows drawn at random,
$\mathbf{w}^*$ "will converge to an optimal solution with probability 1".

$$\mathbf{w}^* = \operatorname{arg}\min_{\tau}\ \#\{n : t_n\,\mathbf{w}^{(\tau)t}\mathbf{x}_n \leq 0\}$$

These classes overlap. The fewest errors any line can make are found by trying all lines: one through two of the rows,
turned a little, does as well as any. The perceptron comes by good weights and leaves them again; the pocket keeps
them.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import Perceptron, Pocket
from drawing import BLUE, GREY, VERMILION, finish, line, panels, points, show

EPOCHS = 1000


def fewest_errors(X: np.ndarray, t: np.ndarray) -> int:
    """The fewest rows that any line has on the wrong side, by trying those through all pairs of rows."""
    i, j = np.triu_indices(len(X), 1)
    normal = (X[j] - X[i]) @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    side = normal @ X.T - np.sum(normal * X[i], axis=1)[:, None]
    rows = np.arange(len(i))
    side[rows, i] = side[rows, j] = np.nan  # the two rows on the line: a little turn puts them on either side
    return int(min(np.sum(t * side < 0, axis=1).min(), np.sum(t * side > 0, axis=1).min()))


def main(*, kept: type = Pocket) -> Figure:
    rng = np.random.default_rng(5)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 2)) + np.outer(2 * y - 1, [0.9, 0.5])
    optimum = fewest_errors(X, 2 * y - 1)

    perceptron, errors = Perceptron(), []
    for _ in range(EPOCHS):
        order = rng.permutation(40)
        perceptron.partial_fit(X[order], y[order], classes=[0, 1])
        errors.append(int(np.sum(perceptron.predict(X) != y)))
    pocket = kept(epochs=EPOCHS).fit(X, y)
    assert np.any(np.diff(errors) > 0), "the perceptron's total error rises at times"
    assert np.all(np.diff(pocket.history_) <= 0), "the pocket's never does"
    assert pocket.history_[-1] == np.sum(pocket.predict(X) != y), "it is the number of rows on the wrong side"
    assert pocket.history_[-1] == optimum, "and it reaches the fewest errors that any line can make"

    figure, (left, right) = panels(2)
    points(left, X, y)
    for model, name, style in ((perceptron, "perceptron, last", "--"), (pocket, "pocket", "-")):
        colour = BLUE if model is pocket else VERMILION
        label = f"{name}: {np.sum(model.predict(X) != y)} wrong"
        line(left, model.coef_, model.intercept_, color=colour, linestyle=style, label=label)
    epochs = np.arange(1, EPOCHS + 1)
    right.semilogx(epochs, errors, color=VERMILION, linewidth=0.7, label="perceptron")
    right.semilogx(epochs, pocket.history_, color=BLUE, linewidth=2, label="pocket")
    right.axhline(optimum, color=GREY, linestyle=":", label=f"optimum: {optimum}")
    finish(left, "The pocket holds the best line there is", "$x_1$", "$x_2$")
    finish(right, "The perceptron's error wanders, the pocket's falls", "epoch", "rows on the wrong side")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
