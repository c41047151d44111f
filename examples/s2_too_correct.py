r"""Least squares is pulled by points that are too correct, logistic regression is not.

S2, problems with least squares, number 1 (sensitivity to outliers), and logistic regression. The pull of a row on the
weights is its error times the row. For least squares that of a row far on its right side is large; for the logistic
function it is next to nothing, since its output is 0 or 1 there:

$$\nabla E = \sum_n (\mathbf{w}^t\mathbf{x}_n - t_n)\,\mathbf{x}_n \qquad\text{against}\qquad
\nabla E = \sum_n (\sigma(\mathbf{w}^t\mathbf{x}_n) - t_n)\,\mathbf{x}_n$$

The second panel adds a few rows that any of these lines already classifies correctly.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import LeastSquaresClassifier, LogisticRegression
from drawing import GREEN, PURPLE, VERMILION, finish, line, panels, points, show


def turn(one: np.ndarray, other: np.ndarray) -> float:
    """Degrees between two lines."""
    a, b = np.ravel(one), np.ravel(other)
    return float(np.degrees(np.arccos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1))))


def main(*, steady: type = LogisticRegression) -> Figure:
    rng = np.random.default_rng(1)
    near_y = np.arange(120) % 2
    near = rng.normal(scale=(1.0, 1.0), size=(120, 2)) + np.outer(2 * near_y - 1, [1.0, -1.0])
    far = rng.normal(scale=0.6, size=(16, 2)) + np.array([11.0, 0.0])
    X, y = np.vstack([near, far]), np.append(near_y, np.ones(16, dtype=int))

    squares = [LeastSquaresClassifier().fit(near, near_y), LeastSquaresClassifier().fit(X, y)]
    logistic = [steady().fit(near, near_y), steady().fit(X, y)]
    assert squares[0].score(far, np.ones(16)) == 1, "the added rows were right before"
    assert logistic[0].score(far, np.ones(16)) == 1, "under both"
    assert turn(squares[0].coef_, squares[1].coef_) > 15, "they turn the line of least squares"
    assert turn(logistic[0].coef_, logistic[1].coef_) < 3, "and hardly that of logistic regression"
    assert squares[1].score(near, near_y) < squares[0].score(near, near_y) - 0.02, "least squares pays with errors"
    assert logistic[1].score(near, near_y) > logistic[0].score(near, near_y) - 0.01, "logistic regression does not"

    figure, axes = panels(2)
    for i, ax in enumerate(axes):
        rows = (X, y) if i else (near, near_y)
        points(ax, *rows)
        ax.set_xlim(-5, 13.5)
        ax.set_ylim(-5, 6)
        for name, models, colour in (("least squares", squares, PURPLE), ("logistic", logistic, GREEN)):
            model, style = models[i], "--" if models is squares else "-"
            label = f"{name}: {np.sum(model.predict(near) != near_y)} wrong"
            line(ax, model.coef_, model.intercept_, color=colour, linestyle=style, label=label)
    axes[1].annotate("too correct", (11.0, -2.2), ha="center", color=VERMILION)
    finish(axes[0], "Without the far rows both draw one line", "$x_1$", "$x_2$")
    finish(axes[1], "Rows far on their right side turn least squares", "$x_1$", "$x_2$")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
