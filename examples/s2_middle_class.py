r"""Three separable classes in a row: least squares misclassifies most of the middle one, logistic regression none.

S2, problems with least squares, number 2: "Linear activation function is not a good fit to binary data". The middle
class has its targets of one between two groups of zeros, to which the best plane is nearly level, so that its output
is hardly ever the largest. The softmax need not go through its targets:

$$y_k(\mathbf{x}) = \mathbf{w}_k^t\mathbf{x} \approx t_k \qquad\text{against}\qquad
p(C_k|\mathbf{x}) = \frac{\exp(\mathbf{w}_k^t\mathbf{x})}{\sum_j \exp(\mathbf{w}_j^t\mathbf{x})}$$

That Kesler's perceptron ends without a mistake is the proof that three linear discriminants can do it.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import KeslerPerceptron, LeastSquaresClassifier, LogisticRegression, Status
from drawing import finish, panels, points, regions, show

NAMES = ("class 0", "class 1, the middle", "class 2")


def main(*, bend: float = 0.0) -> Figure:
    """The middle class is moved off the line through the others by `bend`."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    centres = np.array([[-4.0, 4.0], [bend, bend], [4.0, -4.0]])
    X = centres[y] + rng.normal(size=(180, 2)) * 0.7
    squares = LeastSquaresClassifier().fit(X, y)
    logistic = LogisticRegression(penalty=0.01).fit(X, y)  # there is no maximum likelihood where classes are separable
    kesler = KeslerPerceptron().fit(X, y)
    middle = y == 1
    lost = 1 - squares.score(X[middle], y[middle])
    assert kesler.certificate_.status is Status.SOLVED, "three linear discriminants classify all rows"
    assert kesler.score(X, y) == 1, "without an error"
    assert lost > 0.5, "least squares loses most of the middle class"
    assert squares.score(X[~middle], y[~middle]) == 1, "and none of the others"
    assert logistic.score(X, y) == 1, "logistic regression loses none"

    figure, axes = panels(2)
    titles = (f"Least squares loses {100 * lost:.0f} % of the middle class", "Logistic regression loses none")
    for ax, model, title in zip(axes, (squares, logistic), titles, strict=True):
        points(ax, X, y, NAMES)
        regions(ax, model.predict)
        finish(ax, title, "$x_1$", "$x_2$")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
