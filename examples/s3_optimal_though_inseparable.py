r"""On inseparable data a linear boundary can still be the best of all.

Lecture S3, linear separability. Two normal classes with the same covariance $\Sigma$ overlap: no hyperplane separates
them, and `separability` proves it. Yet no boundary of any shape errs less often than

$$P(\text{error}) = \Phi\left(-\tfrac12 \sqrt{(\mu_1 - \mu_2)' \Sigma^{-1} (\mu_1 - \mu_2)}\right),$$

and the line of `GaussianClassifier` gets there. Curved boundaries, quadratic or of forty bumps, gain nothing on new
rows.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import norm

from adaline import GaussianClassifier, LogisticRegression, basis, separability
from drawing import BLUE, GREY, finish, line, panels, points, show

MEANS = np.array([[-0.7, -0.4], [0.7, 0.4]])
SIGMA = np.array([[1.0, -0.5], [-0.5, 0.8]])
BUMPS = basis.Radial(centres=40)


def drawn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, 2, n)
    return MEANS[y] + rng.normal(size=(n, 2)) @ np.linalg.cholesky(SIGMA).T, y


def main() -> Figure:
    rng = np.random.default_rng(1)
    X, y = drawn(rng, 500)
    X_new, y_new = drawn(rng, 200_000)
    apart = MEANS[1] - MEANS[0]
    least = norm.cdf(-np.sqrt(apart @ np.linalg.solve(SIGMA, apart)) / 2)
    noise = np.sqrt(least * (1 - least) / len(y_new))

    models = {
        "line": GaussianClassifier().fit(X, y),
        "quadratic": GaussianClassifier(covariance="full").fit(X, y),
        "40 bumps": LogisticRegression(penalty=1e-3, basis=BUMPS).fit(X, y),
    }
    train = {name: 1 - model.score(X, y) for name, model in models.items()}
    new = {name: 1 - model.score(X_new, y_new) for name, model in models.items()}
    assert not separability(X, y).separable, "no hyperplane separates the classes"
    assert abs(new["line"] - least) < 0.01, "the line is within 1 % of the least error there is"
    assert all(error > least - 4 * noise for error in new.values()), "no boundary does better than Bayes"
    assert train["40 bumps"] < train["line"], "on the rows at hand a richer boundary looks better"
    assert new["40 bumps"] > new["line"], "on new rows it is worse"

    figure, (left, right) = panels(2)
    points(left, X, y)
    line(left, models["line"].coef_, models["line"].intercept_)
    finish(left, "Not separable: the classes overlap", "$x_1$", "$x_2$")
    position = np.arange(3)
    right.bar(position - 0.2, [100 * e for e in train.values()], 0.38, color=GREY, label="rows at hand")
    right.bar(position + 0.2, [100 * e for e in new.values()], 0.38, color=BLUE, label="200 000 new rows")
    right.axhline(100 * least, color="black", linestyle="--", label="least possible")
    right.set_xticks(position, list(new))
    finish(right, "The line reaches the least error possible", "boundary", "errors (%)")
    return figure


if __name__ == "__main__":
    show(main, __doc__, __file__)
