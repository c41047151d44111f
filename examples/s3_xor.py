r"""XOR cannot be learned by a linear machine, and can with a basis.

Lecture S3, linear separability ("classical counterexample: XOR") and generalized linear discriminants,

$$y(x) = \sum_j w_j \phi_j(x) + w_0.$$

The middles of both classes coincide, which is the proof that `separability` gives: no perceptron ever stops. The single
product $x_1 x_2$ of `basis.Polynomial(degree=2)` makes the classes separable, and the perceptron converges within its
bound.
"""

from __future__ import annotations

import warnings

import numpy as np
from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning

from adaline import Perceptron, Pocket, basis, separability
from drawing import finish, line, panels, points, regions, show

PRODUCTS = basis.Polynomial(degree=2)


def main() -> Figure:
    rng = np.random.default_rng(5)
    corners = np.repeat([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]], 30, axis=0)
    X = corners + rng.uniform(-0.7, 0.7, size=corners.shape)
    y = np.where(X[:, 0] * X[:, 1] > 0, "same sign", "other sign")

    verdict = separability(X, y)
    assert not verdict.separable, "no line separates the classes of XOR"
    assert verdict.verify(), "the combination of rows proves it in exact arithmetic"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        linear = Perceptron().fit(X, y)
        best = Pocket().fit(X, y)
    assert linear.history_[-1] > 0, "the perceptron has no clean epoch"
    assert best.score(X, y) < 0.8, "even the best line met gets about a quarter wrong"

    model = Perceptron(basis=PRODUCTS).fit(X, y)
    assert separability(PRODUCTS.fit_transform(X), y).separable, "with the product of the columns they are separable"
    assert model.score(X, y) == 1.0, "the perceptron in the basis gets every row right"
    assert model.mistakes_ <= model.bound_, "within its bound"

    figure, (left, right) = panels(2)
    for ax in (left, right):
        points(ax, X, y, names=["$x_1 x_2 < 0$", "$x_1 x_2 > 0$"])
    line(left, best.coef_, best.intercept_)
    finish(left, f"The pocket's best line gets {best.errors_[0]:.0f} of 120 rows wrong", "$x_1$", "$x_2$")
    regions(right, model.predict)
    finish(right, f"With $x_1 x_2$ as a basis function: none, after {model.mistakes_} corrections", "$x_1$", "$x_2$")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
