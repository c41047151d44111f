r"""The fewest squares are not the fewest misclassifications.

S1, sum-of-squares criterion in classification: "E (sum-of-squares) is not equivalent to a minimum # of
misclassifications. Therefore it is not a good criterion for classification tasks, but still, it is widely used".

$$E = \frac{1}{P}\sum_p (t^p - \mathbf{w}^T\mathbf{x}^p)^2, \quad t^p = \pm 1 \qquad\text{against}\qquad
\#\{p : t^p\,\mathbf{w}^T\mathbf{x}^p < 0\}$$

These classes are separable, with a proof. Least squares nevertheless has rows on the wrong side, because a group of
one class lies far on its right side and its squares would grow. Right, on the way from the weights of least squares
to separating ones the squares rise while the errors fall to none.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import LeastSquaresClassifier, Pocket, separability
from drawing import BLUE, GREEN, VERMILION, finish, line, panels, points, show


def main(*, far: float = 12.0) -> Figure:
    rng = np.random.default_rng(3)
    middle = rng.normal(scale=(0.45, 1.6), size=(80, 2)) + np.repeat([[-1.5, 0.0], [1.5, 0.0]], 40, axis=0)
    X = np.vstack([middle, rng.normal(scale=0.8, size=(25, 2)) + np.array([far, -far])])
    y = np.repeat([0, 1, 1], [40, 40, 25])
    t = 2.0 * y - 1
    squares = LeastSquaresClassifier(coding="signed").fit(X, y)
    pocket = Pocket().fit(X, y)
    proof = separability(X, y)
    ones = np.column_stack([np.ones(len(X)), X])

    def measured(w: np.ndarray) -> tuple[float, int]:
        return float(np.mean((t - ones @ w) ** 2)), int(np.sum(t * (ones @ w) <= 0))

    first = np.append(squares.intercept_, squares.coef_)
    last = np.append(pocket.intercept_, pocket.coef_)
    last *= (t @ (ones @ last)) / np.sum((ones @ last) ** 2)  # the length with the fewest squares
    ways = np.linspace(0, 1, 101)
    error, wrong = np.transpose([measured((1 - way) * first + way * last) for way in ways])
    assert proof.separable, "a line without an error exists"
    assert proof.verify(), "and its proof holds"
    assert wrong[0] > 0, "least squares misclassifies rows that can be classified"
    assert wrong[-1] == 0, "the pocket algorithm classifies them all"
    assert np.all(error[1:] > error[0]), "but no other weights have fewer squares"

    figure, (left, right) = panels(2)
    points(left, X, y)
    line(
        left, squares.coef_, squares.intercept_, color=VERMILION, linestyle="--", label=f"squares: {wrong[0]:.0f} wrong"
    )
    line(left, pocket.coef_, pocket.intercept_, color=GREEN, label="pocket: none wrong")
    right.plot(ways, error, color=BLUE, label="mean square $E$ (left scale)")
    other = right.twinx()
    other.plot(ways, wrong, color=VERMILION, linestyle="--", drawstyle="steps-mid")
    other.set_ylabel("rows on the wrong side")
    other.spines["top"].set_visible(False)
    other.set_yticks(range(int(wrong.max()) + 1))
    right.plot([], [], color=VERMILION, linestyle="--", label="wrong rows (right scale)")
    finish(left, "Far rows on their right side turn the line", "$x_1$", "$x_2$")
    finish(right, "More squares, fewer errors", "from least squares (0) to the pocket's weights (1)", "$E$")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
