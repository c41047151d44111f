r"""A richer family always lowers the training error, and at some point raises the error on new data.

Lecture S4, a richer class of functions: "if the family of functions is too rich, we run the risk of overfitting the
data. If the family is too restrictive we run the risk of not being able to approximate the training data very well."
Polynomials of degree $0 < p < 16$,

$$y(x) = w_0 + \sum_{k=1}^{p} w_k x^k,$$

are fitted to 20 noisy rows of a sine. The families are nested, so that the training error can only fall; the error on
new rows falls, and rises again. Orthogonal polynomials span the same families, without rounding errors that would blur
this.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from adaline import LinearRegression, basis
from drawing import BLUE, GREEN, GREY, VERMILION, finish, panels, show

DEGREES = np.arange(1, 16)


def main() -> Figure:
    rng = np.random.default_rng(14)
    x, x_new = np.linspace(0, 1, 20)[:, None], rng.uniform(0, 1, size=(5000, 1))
    y, y_new = (np.sin(2 * np.pi * rows[:, 0]) + 0.3 * rng.normal(size=len(rows)) for rows in (x, x_new))
    models = {p: LinearRegression(basis=basis.Polynomial(degree=p, orthogonal=True)).fit(x, y) for p in DEGREES}
    train = np.array([np.mean((y - model.predict(x)) ** 2) for model in models.values()])
    new = np.array([np.mean((y_new - model.predict(x_new)) ** 2) for model in models.values()])
    best = int(DEGREES[new.argmin()])
    assert np.all(np.diff(train) <= 1e-12), "a richer family never raises the training error"
    assert DEGREES[0] < best < DEGREES[-1], "the error on new rows is least in between"
    assert new[0] > 2 * new.min(), "too poor a family errs"
    assert new[-1] > 2 * new.min(), "and so does too rich a one"
    assert train.argmin() == len(DEGREES) - 1, "and the training error alone would choose the richest"

    figure, (left, right) = panels(2)
    curve = np.linspace(x.min(), x.max(), 300)[:, None]
    left.plot(x, y, "o", color=GREY, markersize=4, label="20 rows")
    for p, colour, style in ((1, GREEN, "-."), (best, BLUE, "-"), (15, VERMILION, "--")):
        left.plot(curve, models[p].predict(curve), style, color=colour, label=f"degree {p}")
    left.set_ylim(-2, 2)
    finish(left, "Too poor, about right, too rich", "$x$", "$y$")
    right.semilogy(DEGREES, train, "s--", color=GREY, label="rows at hand")
    right.semilogy(DEGREES, new, "o-", color=BLUE, label="new rows")
    finish(right, f"Error on new rows is least at degree {best}", "degree", "mean squared error")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
